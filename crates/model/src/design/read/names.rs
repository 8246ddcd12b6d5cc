//! Ranges in names: `vdb{1..6}` stands for six entries.

use std::ops::Range;

use fathom_tables::{At, Complaints};

/// Most entries that one range stands for.
const MOST: u64 = 1000;

/// A text with at most one range in it.
struct Pattern<'a> {
    before: &'a str,
    range: Option<(u64, u64)>,
    after: &'a str,
}

/// The texts of one entry, repeated for each number of their ranges.
///
/// Ranges of one entry must be equally long; they count together. Texts without a range repeat as they are.
pub(super) fn expand<const N: usize>(
    texts: [&At<&str>; N],
    complaints: &mut Complaints<'_>,
) -> Vec<[String; N]> {
    let mut count = None;
    let mut broken = false;
    let patterns = texts.map(|text| {
        let pattern = pattern_of(text.value).unwrap_or_else(|reason| {
            complaints.error(&text.span, reason, "a range is written `{1..6}`");
            broken = true;
            Pattern {
                before: text.value,
                range: None,
                after: "",
            }
        });
        if let Some((low, high)) = pattern.range {
            let length = high - low + 1;
            if count.is_some_and(|count| count != length) {
                let message = "the ranges of one entry have different lengths";
                complaints.error(&text.span, message, "give both the same number of steps");
                broken = true;
            }
            count = Some(length);
        }
        pattern
    });
    let steps: Range<u64> = if broken { 0..0 } else { 0..count.unwrap_or(1) };
    steps
        .map(|step| {
            patterns.each_ref().map(|pattern| match pattern.range {
                Some((low, _)) => format!("{}{}{}", pattern.before, low + step, pattern.after),
                None => pattern.before.to_owned(),
            })
        })
        .collect()
}

fn pattern_of(text: &str) -> Result<Pattern<'_>, String> {
    let Some((before, rest)) = text.split_once('{') else {
        return Ok(Pattern {
            before: text,
            range: None,
            after: "",
        });
    };
    let broken = || format!("`{text}` has a broken range");
    let (inside, after) = rest.split_once('}').ok_or_else(broken)?;
    let (low, high) = inside.split_once("..").ok_or_else(broken)?;
    let number = |digits: &str| {
        digits
            .trim()
            .parse::<u32>()
            .map(u64::from)
            .map_err(|_| broken())
    };
    let (low, high) = (number(low)?, number(high)?);
    if after.contains('{') {
        return Err(format!("`{text}` has more than one range"));
    }
    if high < low || high - low >= MOST {
        return Err(format!(
            "the range of `{text}` must count up, by at most {MOST} steps"
        ));
    }
    Ok(Pattern {
        before,
        range: Some((low, high)),
        after,
    })
}
