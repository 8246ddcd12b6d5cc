//! The order of offsets: `-r`, `-rs`, `-rd`, `-s` and `-si`.

use fathom_units::Bytes;
use fathom_workload::{Distribution, Zone};

use super::line::{Line, Taken, wrong};

/// Reads an option of `-r` or `-s`.
pub fn read(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    match (letter, value.as_bytes().first()) {
        ('r', Some(b's')) => share(line, index, &value[1..]),
        ('r', Some(b'd')) => {
            line.settings.given.remove("r");
            line.settings.given.insert("rd".to_owned());
            line.settings.distribution = distribution(line, &value[1..])?;
            Ok(())
        }
        ('r', _) => {
            line.settings.random = Some(positive(line, value)?);
            Ok(())
        }
        (_, Some(b'i')) => {
            line.settings.interlocked = true;
            line.settings.stride = Some(positive(line, &value[1..])?);
            Ok(())
        }
        _ => {
            line.settings.stride = Some(positive(line, value)?);
            Ok(())
        }
    }
}

/// A size above zero; nothing stands for the block's.
fn positive(line: &Line, text: &str) -> Result<u64, (String, String)> {
    if text.is_empty() {
        return Ok(line.settings.block);
    }
    match line.size(text)? {
        0 => wrong("it is 0", "give at least 1 byte"),
        size => Ok(size),
    }
}

fn share(line: &mut Line, index: usize, value: &str) -> Taken {
    // `-rs` may stand beside the `-r` that gives the alignment.
    line.settings.given.remove("r");
    if !line.settings.given.insert("rs".to_owned()) {
        return wrong("`-rs` is given twice", "leave one of them out");
    }
    match line.number(index, value)? {
        percent @ 1..=100 => {
            line.settings.random_percent = u32::try_from(percent).ok();
            Ok(())
        }
        other => wrong(format!("{other} % of random I/Os"), "give 1 to 100"),
    }
}

/// `pct10/10:90/90` or `abs10/1G:90/10G`.
fn distribution(line: &Line, text: &str) -> Result<Distribution, (String, String)> {
    let hint = "write -rdpctIO/TARGET:… in percent, or -rdabsIO/SIZE:…";
    let (kind, ranges) = text.split_at_checked(3).unwrap_or(("", ""));
    let mut shares = Vec::new();
    for range in ranges.split(':') {
        let parts = range.split_once('/');
        let Some((Ok(io), size)) = parts.map(|(io, size)| (io.parse::<u32>(), size)) else {
            return wrong(format!("`{range}` is no range"), hint);
        };
        shares.push((io, size));
    }
    let used: u32 = shares
        .iter()
        .fold(0, |sum, (io, _)| sum.saturating_add(*io));
    let rest = 100u32.checked_sub(used);
    let Some(rest) = rest else {
        return wrong(
            format!("the ranges take {used} % of the I/Os"),
            "give 100 at most",
        );
    };
    match kind {
        "pct" => percent(&shares, rest, hint),
        "abs" if rest > 0 => {
            let message =
                "the I/Os that the ranges leave to the rest of a target are not built yet";
            wrong(message, "give ranges that take 100 % of the I/Os")
        }
        "abs" => {
            let zone = |(access, size): &(u32, &str)| {
                let size = Bytes::new(line.size(size)?);
                Ok(Zone {
                    access: *access,
                    size,
                })
            };
            let zones: Result<Vec<_>, (String, String)> = shares.iter().map(zone).collect();
            Ok(Distribution::ZonedAbsolute(zones?))
        }
        _ => wrong(format!("`-rd{text}` is no distribution"), hint),
    }
}

fn percent(
    shares: &[(u32, &str)],
    rest: u32,
    hint: &str,
) -> Result<Distribution, (String, String)> {
    let mut zones = Vec::new();
    for (access, size) in shares {
        let Ok(size) = size.parse::<u32>() else {
            return wrong(format!("`{size}` is no percentage"), hint);
        };
        zones.push(Zone {
            access: *access,
            size,
        });
    }
    let used = zones
        .iter()
        .fold(0u32, |sum, zone| sum.saturating_add(zone.size));
    match 100u32.checked_sub(used) {
        Some(0) if rest == 0 => {}
        Some(size) if size > 0 => zones.push(Zone { access: rest, size }),
        _ => {
            return wrong(
                format!("the ranges take {used} % of the target"),
                "give 100 with what is left",
            );
        }
    }
    Ok(Distribution::Zoned(zones))
}
