//! The section `ACCESS SPECIFICATIONS`, in the format of today and in that of before 21 May 1998.

use std::collections::HashMap;

use super::config::{ASSIGNMENTS, Assigned, Config, SECTOR, Spec, SpecLine, Version};
use super::read::{begins_section, unknown};
use super::source::{Line, Source, shortened};

/// The first version of files whose specifications have names.
const NAMED_FROM: Version = Version(19_980_521);

/// Most lines of a specification.
const LINES_MAX: usize = fathom_workload::LINES_MAX;

/// What files of before had no word for: offsets were aligned to this.
const OLD_ALIGN: u32 = 2048;

/// Reads the section. A later specification of a name takes the place of an earlier one, as in Iometer.
pub(super) fn section(source: &mut Source<'_>, config: &mut Config<'_>) {
    let specs = &mut config.specs;
    // What stands there counts before what the version says: files are edited by hand.
    let first = source.take_filled();
    if first.is_some() {
        source.back();
    }
    let is_old = match first {
        Some(line) if line.is_key("Access specification name") => false,
        Some(line) if line.is_key("size") => true,
        _ => config.version < NAMED_FROM,
    };
    if is_old {
        old(source, specs);
        return;
    }
    let known = specs.iter().map(|spec| spec.name.to_lowercase());
    let mut known: HashMap<String, usize> = known.zip(0..).collect();
    while let Some(key) = source.take_filled() {
        if key.is_key("END access specifications") {
            return;
        }
        if begins_section(key) {
            source.back();
            return;
        }
        if !key.is_key("Access specification name") {
            unknown(source, key);
            continue;
        }
        let Some(line) = source.filled_value(key) else {
            continue;
        };
        let Some(spec) = named(source, line) else {
            let text = line.text();
            let name = text.rsplit_once(',').map_or(text, |(name, _)| name);
            config.wrong_specs.insert(name.trim().to_lowercase());
            continue;
        };
        let name = spec.name.to_lowercase();
        if let Some(index) = known.get(&name) {
            let message = format!("`{}` is specified twice", shortened(&spec.name));
            source.warn(line, message, "the later one counts, as in Iometer");
            specs[*index] = spec;
        } else {
            known.insert(name, specs.len());
            specs.push(spec);
        }
    }
}

/// A specification from the line with its name on; `None` where it is wrong.
fn named<'t>(source: &mut Source<'t>, line: Line<'t>) -> Option<Spec> {
    let text = line.text();
    // A name has no commas; what follows the last is its default assignment.
    let (name, word) = text.rsplit_once(',').unwrap_or((text, "NONE"));
    let (name, word) = (name.trim(), word.trim());
    let index = ASSIGNMENTS
        .iter()
        .position(|(known, _)| known.eq_ignore_ascii_case(word))
        .or_else(|| word.parse().ok().filter(|index| *index < ASSIGNMENTS.len()));
    if index.is_none() {
        let message = format!("`{}` is no default assignment", shortened(word));
        source.error(line, word, message, "known are NONE, ALL, DISK, NET");
    }
    let mut lines = Vec::new();
    let mut whole = index.is_some();
    let mut share = 0u32;
    let mut count = 0;
    while let Some(line) = source.take() {
        if line.text().is_empty() {
            continue;
        }
        if line.text().starts_with('\'') {
            if line.is_key("size") {
                continue;
            }
            source.back();
            break;
        }
        count += 1;
        if count > LINES_MAX {
            continue;
        }
        match spec_line(source, line) {
            Some(found) => {
                share += found.share;
                lines.push(found);
            }
            None => whole = false,
        }
    }
    let shown = shortened(name);
    if count > LINES_MAX {
        let message = format!("`{shown}` has {count} lines");
        source.error(
            line,
            name,
            message,
            format!("at most {LINES_MAX} are possible"),
        );
        return None;
    }
    if whole && share != 100 {
        let message = format!("the shares of `{shown}` add up to {share} %, not 100 %");
        let hint = "change the second value of its lines";
        source.error(line, name, message, hint);
        return None;
    }
    lines.retain(|line| line.share > 0);
    if lines.iter().all(|line| line.size == 0) {
        lines.clear();
    }
    let assigned = ASSIGNMENTS[index?].1;
    whole.then(|| Spec {
        name: name.to_owned(),
        assigned,
        lines,
    })
}

/// `size,% of size,% reads,% random,delay,burst,align,reply`.
fn spec_line<'t>(source: &mut Source<'t>, line: Line<'t>) -> Option<SpecLine> {
    let mut fields = line.fields();
    let mut number = |what: &str, most: u32| {
        let field = fields.next();
        let found = source.number(line, field, (what, 0, most.into()));
        found.and_then(|number| u32::try_from(number).ok())
    };
    let size = number("size in bytes", 1 << 30);
    let share = number("share of a size in percent", 100);
    let reads = number("share of reads in percent", 100);
    let random = number("share of random offsets in percent", 100);
    let delay_ms = number("delay in milliseconds", 86_400_000);
    let burst = number("number of I/Os of a burst", 1 << 30);
    let align = number("alignment in bytes", 1 << 30);
    let reply = number("size of a reply in bytes", 1 << 30);
    let found = SpecLine {
        size: size?,
        share: share?,
        reads: reads?,
        random: random?,
        delay_ms: delay_ms?,
        burst: burst?.max(1),
        align: align?,
        reply: reply?,
    };
    if burst == Some(0) {
        warn_of_burst(source, line);
    }
    check_sectors(source, line, &found).then_some(found)
}

/// A burst has one I/O at least.
fn warn_of_burst<'t>(source: &mut Source<'t>, line: Line<'t>) {
    let message = "a burst of 0 I/Os is taken as one of 1";
    source.warn(line, message, "write 1 as the sixth value");
}

/// Disks are used past every cache, which takes whole sectors alone.
fn check_sectors<'t>(source: &mut Source<'t>, line: Line<'t>, found: &SpecLine) -> bool {
    let sectors = |bytes: u32| u64::from(bytes).is_multiple_of(SECTOR);
    let parts = [(found.size, 0), (found.align, 6), (found.reply, 7)];
    let odd = parts.into_iter().filter(|(bytes, _)| !sectors(*bytes));
    let mut good = true;
    for (bytes, field) in odd {
        good = false;
        let part = line.fields().nth(field).unwrap_or("");
        let message = format!("{bytes} bytes are no whole number of sectors of {SECTOR}");
        source.error(
            line,
            part,
            message,
            "give a multiple: disks are used without a cache",
        );
    }
    good
}

/// Lines of six numbers; those that make up 100 % together are a specification, which all workers have.
fn old(source: &mut Source<'_>, specs: &mut Vec<Spec>) {
    let mut lines: Vec<SpecLine> = Vec::new();
    let mut share = 0;
    let mut last = None;
    while let Some(line) = source.take_filled() {
        if line.text().starts_with('\'') {
            if line.is_key("size") {
                continue;
            }
            if !line.is_key("END access specifications") {
                source.back();
            }
            break;
        }
        last = Some(line);
        let Some(found) = old_line(source, line) else {
            return;
        };
        share += found.share;
        if found.share == 0 {
            source.warn(
                line,
                "a line that is 0 % of the I/O is left out",
                "remove it",
            );
            continue;
        }
        lines.push(found);
        if share < 100 {
            continue;
        }
        if share > 100 || lines.len() > LINES_MAX {
            break;
        }
        let lines = std::mem::take(&mut lines);
        let name = old_name(&lines, specs);
        let assigned = Assigned::Everywhere;
        specs.push(Spec {
            name,
            assigned,
            lines,
        });
        share = 0;
    }
    if let Some(line) = last.filter(|_| share != 0) {
        let message = format!("the shares of these lines add up to {share} %, not 100 %");
        source.error(
            line,
            line.text(),
            message,
            "change the second value of a line",
        );
    }
}

/// `size share reads random delay burst`.
fn old_line<'t>(source: &mut Source<'t>, line: Line<'t>) -> Option<SpecLine> {
    let mut words = line.words();
    let mut number = |what: &str, most: u32| {
        let word = words.next();
        let found = source.number(line, word, (what, 0, most.into()));
        found.and_then(|number| u32::try_from(number).ok())
    };
    let mut found = SpecLine {
        size: number("size in bytes", 1 << 30)?,
        share: number("share of a size in percent", 100)?,
        reads: number("share of reads in percent", 100)?,
        random: number("share of random offsets in percent", 100)?,
        delay_ms: number("delay in milliseconds", 86_400_000)?,
        burst: number("number of I/Os of a burst", 1 << 30)?,
        align: OLD_ALIGN,
        reply: 0,
    };
    if found.burst == 0 {
        warn_of_burst(source, line);
        found.burst = 1;
    }
    check_sectors(source, line, &found).then_some(found)
}

/// The name that Iometer gives a specification without one: by what it is, or by its number.
fn old_name(lines: &[SpecLine], specs: &[Spec]) -> String {
    let share = |percent: u32, none: &str, all: &str, some: &str| match percent {
        0 => none.to_owned(),
        100 => all.to_owned(),
        _ => format!("{percent}% {some}"),
    };
    let base = match lines {
        [line] => {
            let size = match line.size {
                512 => "512 B".to_owned(),
                1_048_576 => "1 MiB".to_owned(),
                size => format!("{} KiB", size / 1024),
            };
            let order = share(line.random, "sequential", "random", "random");
            let way = share(line.reads, "writes", "reads", "reads");
            format!("{size} {order} {way}")
        }
        _ => "Untitled 1".to_owned(),
    };
    let taken = specs.iter().filter(|spec| {
        let rest = spec.name.strip_prefix(base.trim_end_matches(" 1"));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    match (taken.count(), lines.len()) {
        (0, _) => base,
        (count, 1) => format!("{base} {}", count + 1),
        (count, _) => format!("Untitled {}", count + 1),
    }
}
