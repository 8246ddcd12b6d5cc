//! The order of offsets: `-r`, `-rs`, `-rd`, `-s` and `-si`.

use super::line::{Line, Taken, wrong};
use super::settings::{Spread, SpreadUnit};

/// Most ranges of a distribution.
pub const RANGES_MAX: usize = fathom_workload::ZONES_MAX - 1;

/// Reads an option of `-r` or `-s`.
pub fn read(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    match (letter, value.as_bytes().first()) {
        ('r', Some(b's')) => share(line, index, &value[1..]),
        ('r', Some(b'd')) => {
            line.target.spread = distribution(line, &value[1..])?;
            line.given("rd", index);
            Ok(())
        }
        ('r', _) => random(line, index, value),
        (_, Some(b'i')) => {
            line.target.interlocked = true;
            stride(line, index, &value[1..])
        }
        _ => stride(line, index, value),
    }
}

fn has(line: &Line, option: &str) -> bool {
    line.target.given.contains_key(option)
}

fn random(line: &mut Line, index: usize, value: &str) -> Taken {
    if has(line, "s") {
        let message = "random and sequential access exclude each other";
        return wrong(message, "leave `-r` or `-s` out");
    }
    if has(line, "r") {
        return wrong("`-r` is given twice", "leave one of them out");
    }
    let align = match value {
        "" => line.target.block,
        size => line.size(size)?,
    };
    if align == 0 {
        return wrong("it is 0", "give at least 1 byte");
    }
    line.target.align = Some(align);
    line.target.random.get_or_insert(100);
    line.given("r", index);
    Ok(())
}

fn share(line: &mut Line, index: usize, value: &str) -> Taken {
    if has(line, "s") {
        let message = "`-rs` says how much is sequential";
        return wrong(message, "leave `-s` out; `-r` gives the alignment");
    }
    if has(line, "rs") {
        return wrong("`-rs` is given twice", "leave one of them out");
    }
    match line.number(index, value)? {
        percent @ 1..=100 => {
            line.target.random = u32::try_from(percent).ok();
            line.given("rs", index);
            Ok(())
        }
        other => wrong(format!("{other} % of random I/Os"), "give 1 to 100"),
    }
}

fn stride(line: &mut Line, index: usize, value: &str) -> Taken {
    if has(line, "rs") {
        let message = "`-rs` says how much is sequential";
        return wrong(message, "leave `-s` out; `-r` gives the alignment");
    }
    if has(line, "r") {
        let message = "random and sequential access exclude each other";
        return wrong(message, "leave `-r` or `-s` out");
    }
    if has(line, "s") {
        return wrong("`-s` is given twice", "leave one of them out");
    }
    line.target.align = Some(match value {
        "" => line.target.block,
        size => line.size(size)?,
    });
    line.given("s", index);
    Ok(())
}

/// `pct10/10:90/90` or `abs10/1G:90/10G`.
fn distribution(line: &Line, text: &str) -> Result<Spread, (String, String)> {
    let hint = "write -rdpctIO/TARGET:… in percent, or -rdabsIO/SIZE:…";
    let (kind, ranges) = text.split_at_checked(3).unwrap_or(("", ""));
    let unit = match kind {
        "pct" => SpreadUnit::Percent,
        "abs" => SpreadUnit::Absolute,
        _ => return wrong(format!("`-rd{text}` is no distribution"), hint),
    };
    let mut spread = Spread {
        unit,
        ranges: Vec::new(),
    };
    for range in ranges.split(':') {
        let parts = range.split_once('/');
        let Some((Ok(ios), length)) = parts.map(|(ios, length)| (ios.parse::<u32>(), length))
        else {
            return wrong(format!("`{range}` is no range"), hint);
        };
        let length = match unit {
            SpreadUnit::Absolute => line.size(length)?,
            SpreadUnit::Percent => match length.parse::<u64>() {
                Ok(percent) => percent,
                Err(_) => return wrong(format!("`{length}` is no percentage"), hint),
            },
        };
        if length == 0 {
            return wrong(format!("`{range}` has no length"), hint);
        }
        if spread.ranges.len() == RANGES_MAX {
            return wrong(format!("over {RANGES_MAX} ranges"), "use fewer");
        }
        spread.ranges.push((ios, length));
    }
    spread.complete();
    Ok(spread)
}
