//! What each option of a command line sets.

use super::line::{Line, Taken, wrong};
use super::pattern;
use super::settings::{Cache, Contents, Throttle};

/// Names of event tracing on the command line, and those of XML.
const TRACING: &[(&str, &str)] = &[
    ("PROCESS", "Process"),
    ("THREAD", "Thread"),
    ("IMAGE_LOAD", "ImageLoad"),
    ("DISK_IO", "DiskIO"),
    ("MEMORY_PAGE_FAULTS", "MemoryPageFaults"),
    ("MEMORY_HARD_FAULTS", "MemoryHardFaults"),
    ("NETWORK", "Network"),
    ("REGISTRY", "Registry"),
    ("p", "UsePagedMemory"),
    ("q", "UsePerfTimer"),
    ("s", "UseSystemTimer"),
    ("c", "UseCyclesCounter"),
];

/// Reads the option `letter` with `value`, which is the word `index`.
pub fn read(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    match letter {
        'b' if value.starts_with('s') => {
            line.ignored(index, "buffers are aligned to pages here");
            Ok(())
        }
        'b' => Ok(()),
        'B' | 'c' | 'f' | 'T' => extent(line, index, letter, value),
        'C' | 'd' | 'W' | 'D' => time(line, index, letter, value),
        'F' | 't' | 'o' | 'O' | 'i' | 'j' | 'I' | 'w' => count(line, index, letter, value),
        'g' => throttle(line, index, value),
        'r' | 's' => pattern::read(line, index, letter, value),
        'h' | 'S' | 'N' => caching(line, index, letter, value),
        'z' | 'Z' => contents(line, index, letter, value),
        'a' | 'n' => affinity(line, index, letter, value),
        'v' | 'R' | ':' | 'P' | 'e' | 'X' => profile(line, index, letter, value),
        _ => other(line, index, letter, value),
    }
}

fn extent(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    let once = |line: &Line, option, what: &str| {
        if line.target.given.contains_key(option) {
            return wrong(format!("{what} is given twice"), "leave one of them out");
        }
        Ok(())
    };
    match letter {
        'B' => {
            once(line, "B", "the base offset")?;
            let (base, length) = match value.split_once(':') {
                Some((base, length)) => (base, Some(length)),
                None => (value, None),
            };
            line.target.base = line.size(base)?;
            line.given("B", index);
            if let Some(length) = length {
                once(line, "f", "the end of the range")?;
                let end = line.target.base.checked_add(line.size(length)?);
                let end = end.filter(|end| i64::try_from(*end).is_ok());
                let Some(end) = end else {
                    return wrong("the range ends past 2^63 bytes", "give a smaller length");
                };
                line.target.end = Some(end);
                line.given("f", index);
            }
        }
        'c' => {
            line.target.create = Some(line.size(value)?);
            line.given("c", index);
        }
        'T' => match line.size(value)? {
            0 => return wrong("the stride between threads is 0", "leave it out"),
            stride => {
                line.target.thread_stride = Some(stride);
                line.given("T", index);
            }
        },
        _ if value.starts_with(|first: char| first.is_ascii_digit()) => {
            once(line, "f", "the end of the range")?;
            line.target.end = Some(line.size(value)?);
            line.given("f", index);
        }
        _ if !value.is_empty() && value.chars().all(|hint| "rst".contains(hint)) => {
            line.target.hints.extend(value.chars());
        }
        _ => {
            return wrong(
                format!("`-f{value}` is neither a size nor a hint"),
                "write a size, or any of r, s and t",
            );
        }
    }
    Ok(())
}

fn time(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    if letter == 'D' {
        line.span.deviation = true;
        line.given("D", index);
        if value.is_empty() {
            return Ok(());
        }
    }
    let number = line.number(index, value)?;
    match letter {
        'C' => line.span.cooldown = number,
        'W' => line.span.warmup = number,
        // As DISKSPD has it, the usual interval.
        'D' if number == 0 => {}
        _ if number == 0 => return wrong("it takes no time", "give at least 1"),
        'd' => line.span.duration = number,
        _ => line.span.bucket_ms = number,
    }
    line.given(name_of(letter), index);
    Ok(())
}

/// The letter as the key of what was given.
fn name_of(letter: char) -> &'static str {
    const LETTERS: &str = "abBcCdDefFghiIjlLnNoOpPrRsStTuvwWxXyzZ:?";
    let at = LETTERS.find(letter);
    at.map_or("?", |at| &LETTERS[at..at + letter.len_utf8()])
}

fn count(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    if letter == 'o' && value.starts_with('c') {
        line.ignored(index, "completions are taken as they come");
        return Ok(());
    }
    if letter == 'w' && value.is_empty() {
        return wrong(
            "`-w` needs the percentage of writes",
            "write `-w0` for reads alone",
        );
    }
    let number = line.number(index, value)?;
    let count = u32::try_from(number).unwrap_or(u32::MAX);
    match letter {
        'w' if count <= 100 => line.target.writes = count,
        'w' => return wrong(format!("{count} % of writes"), "give 0 to 100"),
        'I' if (1..=3).contains(&count) => line.target.priority = count as u8,
        'I' => {
            return wrong(
                format!("{count} is no priority"),
                "give 1 (very low), 2 (low) or 3",
            );
        }
        _ if count == 0 => return wrong("it is 0", "give at least 1"),
        'F' => line.span.pool = Some(count),
        't' => line.target.threads = count,
        'o' => line.target.outstanding = count,
        'O' => line.span.requests = Some(count),
        'j' => line.target.think_ms = Some(number),
        _ => line.target.burst = Some(count),
    }
    line.given(name_of(letter), index);
    Ok(())
}

fn throttle(line: &mut Line, index: usize, value: &str) -> Taken {
    let (number, is_iops) = match value.strip_suffix('i') {
        Some(number) => (number, true),
        None => (value, false),
    };
    if number.is_empty() || !number.bytes().all(|one| one.is_ascii_digit()) {
        let message = format!("`{value}` is no rate");
        return wrong(
            message,
            "write bytes a millisecond, or IOPS with `i` behind",
        );
    }
    let rate = match line.number(index, number)? {
        0 => {
            let hint = "give at least 1, or leave it out for no limit";
            return wrong("the rate is 0", hint);
        }
        rate if is_iops => Throttle::Iops(rate),
        rate => Throttle::BytesPerMs(rate),
    };
    line.target.throttle = Some(rate);
    line.given("g", index);
    Ok(())
}

fn caching(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    if letter == 'N' {
        let flush = value.to_ascii_lowercase();
        if !matches!(flush.as_str(), "v" | "n" | "i") {
            let message = format!("`-N{value}` is no way to flush");
            return wrong(message, "write -Nv, -Nn or -Ni");
        }
        line.target.flush = flush.chars().next();
        line.given("N", index);
        return Ok(());
    }
    let letters = match (letter, value) {
        ('h', "") => "h",
        ('h', _) => {
            return wrong(
                format!("`-h{value}` is no option of DISKSPD"),
                "write `-Sh`",
            );
        }
        (_, "") => "u",
        (_, letters) => letters,
    };
    for one in letters.chars() {
        let seen = &mut line.seen_caching;
        let twice = match one {
            'b' | 'r' => std::mem::replace(&mut seen.0, true),
            'u' => std::mem::replace(&mut seen.0, true) || line.target.mapped,
            'h' => {
                let both = seen.0 || seen.1;
                *seen = (true, true);
                both || line.target.mapped
            }
            'w' => std::mem::replace(&mut seen.1, true),
            'm' => line.target.mapped || line.target.cache == Cache::Uncached,
            'y' | 'Y' => false,
            _ => {
                return wrong(
                    format!("`{one}` is no cache setting"),
                    "use b, u, h, w, r and m",
                );
            }
        };
        if twice {
            return wrong(
                "these cache settings contradict each other",
                "keep one of b, u, h, r and m, and one w",
            );
        }
        cache(line, index, one);
    }
    line.given("S", index);
    Ok(())
}

/// One letter of `-S`.
fn cache(line: &mut Line, index: usize, letter: char) {
    match letter {
        'u' => line.target.cache = Cache::Uncached,
        'h' => {
            line.target.cache = Cache::Uncached;
            line.target.write_through = true;
        }
        'r' => line.target.cache = Cache::LocalOff,
        'w' => line.target.write_through = true,
        'm' => line.target.mapped = true,
        'y' | 'Y' => line.ignored(index, "BypassIO is a path within Windows"),
        _ => {}
    }
}

fn contents(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    line.given(name_of(letter), index);
    if letter == 'z' {
        line.span.seed = match value {
            "" => line.entropy & u64::from(u32::MAX),
            seed => match seed.parse::<u32>() {
                Ok(seed) => seed.into(),
                Err(_) => {
                    return wrong(format!("`{seed}` is no seed"), "give a number below 2^32");
                }
            },
        };
        return Ok(());
    }
    match value {
        "" => line.target.contents = Contents::Zeroes,
        "r" => line.span.fresh_data = true,
        _ => {
            let (size, file) = match value.split_once(',') {
                Some((_, "")) => return wrong("no file is named", "leave the comma out"),
                Some((size, file)) => (size, Some(file.to_owned())),
                None => (value, None),
            };
            let size = line.size(size)?;
            if size == 0 {
                return wrong("the source has no bytes", "give at least the block's size");
            }
            line.target.contents = Contents::Source { size, file };
        }
    }
    Ok(())
}

/// `-a`, `-a0,1`, `-ag0,0,1,g1,0`, and of 2.3 ranges, whole groups (`-ag1`) and orders of processors (`-acs`).
fn affinity(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    if letter == 'n' {
        line.span.no_affinity = true;
        line.given("n", index);
        return Ok(());
    }
    if value.is_empty() || value == "g" {
        line.ignored(
            index,
            "without a list of processors, the kernel places threads",
        );
        return Ok(());
    }
    if matches!(value, "up") || value.bytes().all(|one| b"cspPeE".contains(&one)) {
        let classes = value.bytes().filter(|one| b"pPeE".contains(one)).count();
        if classes > 1 {
            return wrong("several orders of processors", "keep one of p, P, e and E");
        }
        line.ignored(index, "the kernel knows classes of processors by itself");
        return Ok(());
    }
    line.given("a", index);
    let mut group = 0;
    let mut parts = value.split(',').peekable();
    while let Some(part) = parts.next() {
        if let Some(number) = part.strip_prefix('g') {
            let is_last = parts.peek().is_none();
            match number.parse::<u16>() {
                Ok(number) if !is_last => group = u32::from(number),
                Ok(_) if value == part => {
                    let message = "a whole group of processors is not what Linux has";
                    return wrong(message, "list the processors, such as `-a0-63`");
                }
                Ok(_) => {
                    let message = format!("no processor of the group `{part}` is named");
                    return wrong(message, "write the group, then its processors: `-ag0,0,1`");
                }
                Err(_) => {
                    return wrong(
                        format!("`{part}` is no group of processors"),
                        "write `g` and a number below 65536",
                    );
                }
            }
            continue;
        }
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<u8>(), last.parse::<u8>()) else {
            return wrong(
                format!("`{part}` is no processor"),
                "write numbers of 0 to 255 and ranges with commas, such as `-a0,1,4-7`",
            );
        };
        if first > last {
            return wrong(
                format!("`{part}` runs backwards"),
                "write the smaller one first",
            );
        }
        if line.span.processors.len() > 1 << 16 {
            return wrong("over 65536 processors", "list each once");
        }
        line.span
            .processors
            .extend((first..=last).map(|one| (group, u32::from(one))));
    }
    Ok(())
}

/// Options of the whole profile.
fn profile(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    match (letter, value) {
        ('v', "") => line.profile.verbose = true,
        ('v', "s") => {
            line.profile.verbose_stats = true;
            line.ignored(index, "waiting is not counted here");
        }
        ('v', _) => return wrong(format!("`-v{value}` is no option"), "write -v or -vs"),
        ('R', _) => return super::line::format(line, value),
        (':', _) => {
            let number = line.number(index, value)?;
            line.profile.experiments = u32::try_from(number).unwrap_or(0);
            line.ignored(index, "it names an experiment of DISKSPD's own");
        }
        ('P', _) => {
            let digits = value.bytes().take_while(u8::is_ascii_digit).count();
            let progress = value[..digits].parse().unwrap_or(0);
            line.profile.progress = if progress > 0 { progress } else { 65_536 };
            line.ignored(index, "no dots are printed");
        }
        ('X', "") => return wrong("no profile is named", "write `-Xprofile.xml`"),
        ('X', _) if line.file.is_some() => {
            return wrong("a second profile", "leave one of them out");
        }
        ('X', _) => line.file = Some((index, value.to_owned())),
        _ => {
            let found = TRACING.iter().find(|(name, _)| *name == value);
            let Some((_, name)) = found else {
                return wrong(format!("`-e{value}` is no event"), "leave it out");
            };
            line.profile.tracing.insert(name);
            line.ignored(index, "event tracing belongs to Windows");
        }
    }
    Ok(())
}

fn other(line: &mut Line, index: usize, letter: char, value: &str) -> Taken {
    match (letter, value) {
        ('?', "") => line.help = true,
        ('l', "") => {
            line.target.large_pages = true;
            line.ignored(index, "buffers are of plain pages here");
        }
        ('L', "") => line.span.latency = true,
        ('x', "") => {
            line.span.completion_routines = true;
            line.given("x", index);
        }
        ('u', _) => {}
        ('p', "") => {
            line.target.parallel = true;
            line.given("p", index);
        }
        ('y', _) => {
            let message = "events of Windows do not exist here";
            return wrong(message, "start programs together from a script");
        }
        _ => {
            return wrong(
                format!("`-{letter}{value}` is no option of DISKSPD"),
                "`fathom diskspd -?` lists them; each option and its value are one word",
            );
        }
    }
    if letter == 'L' {
        line.given("L", index);
    }
    Ok(())
}
