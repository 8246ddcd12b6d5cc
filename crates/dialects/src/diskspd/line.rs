//! From words to settings: one option a word, its value right behind its letter.

use std::ops::Range;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location};

use super::pattern;
use super::settings::{Cache, Contents, Settings, Throttle};
use super::sizes;

/// Most targets of one line.
const TARGETS_MAX: usize = 4096;

/// A line as far as it was read.
#[derive(Debug)]
pub struct Line {
    /// Options.
    pub settings: Settings,
    /// Targets with the index of their word.
    pub targets: Vec<(usize, String)>,
    /// Complaints.
    pub diagnostics: Diagnostics,
    /// `-?`.
    pub help: bool,
    /// Word of each option, for complaints.
    pub places: Vec<(String, usize)>,
    text: String,
    spans: Vec<Range<usize>>,
    entropy: u64,
}

/// What an option's value did: nothing to tell, or what is wrong and what to do.
pub type Taken = Result<(), (String, String)>;

/// An error with its remedy.
pub fn wrong<T>(
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Result<T, (String, String)> {
    Err((message.into(), hint.into()))
}

/// Reads `arguments`.
pub fn read(arguments: &[String], entropy: u64) -> Line {
    let mut text = "diskspd".to_owned();
    let mut spans = Vec::new();
    for word in arguments {
        text.push(' ');
        spans.push(text.len()..text.len() + word.len());
        text.push_str(word);
    }
    let mut line = Line {
        settings: Settings::default(),
        targets: Vec::new(),
        diagnostics: Diagnostics::default(),
        help: false,
        places: Vec::new(),
        text,
        spans,
        entropy,
    };
    // `b` counts blocks in every size, wherever `-b` stands.
    for (index, word) in arguments.iter().enumerate() {
        if let Some(value) = word.strip_prefix("-b").filter(|it| !it.starts_with('s')) {
            let taken = line.block(value);
            line.tell(index, taken);
        }
    }
    for (index, word) in arguments.iter().enumerate() {
        line.word(index, word);
    }
    line
}

impl Line {
    /// Complains about the word `index`.
    pub fn error(&mut self, index: usize, message: impl Into<String>, hint: impl Into<String>) {
        if self.diagnostics.is_full() {
            return self.diagnostics.push(Diagnostic::error(message));
        }
        let place = self.place(index);
        let error = Diagnostic::error(message).at(place).hint(hint);
        self.diagnostics.push(error);
    }

    fn warn(&mut self, index: usize, message: impl Into<String>, hint: &str) {
        if self.diagnostics.0.len() >= Diagnostics::MOST {
            return;
        }
        let place = self.place(index);
        let warning = Diagnostic::warning(message).at(place).hint(hint);
        self.diagnostics.push(warning);
    }

    fn place(&self, index: usize) -> Location {
        let span = self.spans.get(index).cloned().unwrap_or(0..0);
        Location::in_text("command line", &self.text, span)
    }

    fn tell(&mut self, index: usize, taken: Taken) {
        if let Err((message, hint)) = taken {
            self.error(index, message, hint);
        }
    }

    fn word(&mut self, index: usize, word: &str) {
        if word.starts_with(['–', '—', '−']) {
            let message = "this begins with a dash that no keyboard has, as web pages and word processors put it";
            self.error(index, message, "write `-` in its place");
            return;
        }
        let Some(option) = word.strip_prefix('-') else {
            if self.targets.len() < TARGETS_MAX {
                self.targets.push((index, word.to_owned()));
            } else if self.targets.len() == TARGETS_MAX {
                self.targets.push((index, word.to_owned()));
                self.error(
                    index,
                    format!("more than {TARGETS_MAX} targets"),
                    "name fewer",
                );
            }
            return;
        };
        if !self.targets.is_empty() {
            let message = "options come before the targets";
            self.error(
                index,
                message,
                format!("write `{word}` before the first target"),
            );
        }
        let mut rest = option.chars();
        let Some(letter) = rest.next() else {
            self.error(index, "`-` alone is no option", "name one, such as `-b4K`");
            return;
        };
        let value = rest.as_str();
        let taken = self.option(index, letter, value);
        self.tell(index, taken);
    }

    /// Remembers that `name` was given by the word `index`.
    fn given(&mut self, name: impl Into<String>, index: usize) {
        let name = name.into();
        self.places.push((name.clone(), index));
        self.settings.given.insert(name);
    }

    fn option(&mut self, index: usize, letter: char, value: &str) -> Taken {
        let twice = self.settings.has(&letter.to_string());
        if matches!(letter, 'B' | 'r' | 's') && twice {
            let message = format!("`-{letter}` is given twice");
            return wrong(message, "leave one of them out");
        }
        self.given(letter, index);
        match letter {
            'b' if value.starts_with('s') => {
                self.ignored(index, "buffers are aligned to pages here");
                Ok(())
            }
            'b' => Ok(()),
            'B' | 'c' | 'f' | 'T' => self.extent(letter, value),
            'C' | 'd' | 'W' | 'D' => self.time(index, letter, value),
            'F' | 't' | 'o' | 'O' | 'i' | 'j' | 'I' | 'w' => self.count(index, letter, value),
            'g' => self.throttle(index, value),
            'r' | 's' => pattern::read(self, index, letter, value),
            'h' | 'S' | 'N' => self.caching(index, letter, value),
            'z' | 'Z' => self.contents(letter, value),
            'a' | 'n' => self.affinity(index, letter, value),
            _ => self.other(index, letter, value),
        }
    }

    fn ignored(&mut self, index: usize, why: &str) {
        self.warn(
            index,
            format!("this option has no effect: {why}"),
            "leave it out",
        );
    }

    /// Bytes of a size.
    pub fn size(&self, text: &str) -> Result<u64, (String, String)> {
        let hint = "write a whole number with K, M, G, T or b (blocks), such as `64K`";
        sizes::parse(text, self.settings.block).map_err(|message| (message, hint.to_owned()))
    }

    /// The number that a value begins with. DISKSPD takes no notice of what follows; a person may have meant it.
    pub fn number(&mut self, index: usize, text: &str) -> Result<u64, (String, String)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at(digits);
        let Some(value) = number.parse::<u32>().ok() else {
            let message = format!("`{text}` is no number below 2^32");
            return wrong(message, "write the number right behind the option's letter");
        };
        if !rest.is_empty() {
            let message = format!("`{text}` is read as {value}; `{rest}` means nothing here");
            self.warn(index, message, "write the number alone");
        }
        Ok(value.into())
    }

    fn block(&mut self, value: &str) -> Taken {
        let block = self.size(value)?;
        if block == 0 || block > u64::from(u32::MAX) {
            return wrong(
                format!("blocks of {block} bytes"),
                "give 1 byte to 4 GiB - 1",
            );
        }
        self.settings.block = block;
        Ok(())
    }

    fn extent(&mut self, letter: char, value: &str) -> Taken {
        match letter {
            'B' => {
                let (base, length) = value.split_once(':').unwrap_or((value, ""));
                self.settings.base = self.size(base)?;
                if !length.is_empty() {
                    let end = self.settings.base.checked_add(self.size(length)?);
                    let end = end.filter(|end| i64::try_from(*end).is_ok());
                    let past = ("it ends past 2^63 bytes".into(), "use smaller sizes".into());
                    self.settings.end = Some(end.ok_or(past)?);
                }
            }
            'c' => self.settings.create = Some(self.size(value)?),
            'T' => self.settings.thread_stride = Some(self.size(value)?),
            _ if value.starts_with(|first: char| first.is_ascii_digit()) => {
                self.settings.end = Some(self.size(value)?);
                self.settings.given.insert("fSIZE".to_owned());
            }
            _ if !value.is_empty() && value.chars().all(|hint| "rst".contains(hint)) => {
                self.settings.hints.extend(value.chars());
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

    fn time(&mut self, index: usize, letter: char, value: &str) -> Taken {
        if letter == 'D' && value.is_empty() {
            self.settings.bucket_ms = Some(1000);
            return Ok(());
        }
        let number = self.number(index, value)?;
        match letter {
            'C' => self.settings.cooldown = number,
            'W' => self.settings.warmup = number,
            _ if number == 0 => return wrong("it takes no time", "give at least 1"),
            'd' => self.settings.duration = number,
            _ => self.settings.bucket_ms = Some(number),
        }
        Ok(())
    }

    fn count(&mut self, index: usize, letter: char, value: &str) -> Taken {
        if letter == 'o' && value.starts_with('c') {
            self.ignored(index, "completions are taken as they come");
            return Ok(());
        }
        if letter == 'w' && value.is_empty() {
            return wrong(
                "`-w` needs the percentage of writes",
                "write `-w0` for reads alone",
            );
        }
        let number = self.number(index, value)?;
        let count = u32::try_from(number).unwrap_or(u32::MAX);
        match letter {
            'j' => self.settings.think_ms = Some(number),
            'w' if count <= 100 => self.settings.writes = count,
            'w' => return wrong(format!("{count} % of writes"), "give 0 to 100"),
            'I' if (1..=3).contains(&count) => self.settings.priority = count as u8,
            'I' => {
                return wrong(
                    format!("{count} is no priority"),
                    "give 1 (very low), 2 (low) or 3",
                );
            }
            _ if count == 0 => return wrong("it is 0", "give at least 1"),
            'F' => self.settings.pool = Some(count),
            't' => self.settings.threads = count,
            'o' => self.settings.outstanding = count,
            'O' => self.settings.requests = Some(count),
            _ => self.settings.burst = Some(count),
        }
        Ok(())
    }

    fn throttle(&mut self, index: usize, value: &str) -> Taken {
        let throttle = match value.strip_suffix('i') {
            Some(iops) => Throttle::Iops(self.number(index, iops)?),
            None => Throttle::BytesPerMs(self.number(index, value)?),
        };
        if matches!(throttle, Throttle::Iops(0) | Throttle::BytesPerMs(0)) {
            return wrong(
                "the rate is 0",
                "give at least 1, or leave it out for no limit",
            );
        }
        self.settings.throttle = Some(throttle);
        Ok(())
    }

    fn caching(&mut self, index: usize, letter: char, value: &str) -> Taken {
        match (letter, value) {
            ('N', "v" | "n" | "i") => {
                self.settings.flush = value.chars().next();
                return Ok(());
            }
            ('N', _) => {
                return wrong(
                    format!("`-N{value}` is no way to flush"),
                    "write -Nv, -Nn or -Ni",
                );
            }
            _ => {}
        }
        let letters = match (letter, value) {
            ('h', "") => "h",
            (_, "") => "u",
            (_, letters) => letters,
        };
        let mut caches = 0;
        for one in letters.chars() {
            match one {
                'b' => caches += 1,
                'u' | 'h' => {
                    caches += 1;
                    self.settings.cache = Cache::Uncached;
                    self.settings.write_through |= one == 'h';
                }
                'r' => {
                    caches += 1;
                    self.settings.cache = Cache::LocalOff;
                    self.warn(
                        index,
                        "`-Sr` passes by the whole page cache here",
                        "write -Su",
                    );
                }
                'w' => self.settings.write_through = true,
                'm' => self.settings.mapped = true,
                'y' | 'Y' => self.ignored(index, "BypassIO is a path within Windows"),
                _ => {
                    return wrong(
                        format!("`{one}` is no cache setting"),
                        "use b, u, h, w, r and m",
                    );
                }
            }
        }
        let both = self.settings.mapped && self.settings.cache == Cache::Uncached;
        if caches > 1 || both {
            return wrong(
                "these cache settings contradict each other",
                "keep one of b, u, h, r and m",
            );
        }
        Ok(())
    }

    fn contents(&mut self, letter: char, value: &str) -> Taken {
        if letter == 'z' {
            self.settings.seed = match value {
                "" => self.entropy & u64::from(u32::MAX),
                seed => match seed.parse::<u32>() {
                    Ok(seed) => seed.into(),
                    Err(_) => {
                        return wrong(format!("`{seed}` is no seed"), "give a number below 2^32");
                    }
                },
            };
            return Ok(());
        }
        self.settings.contents = match value {
            "" => Contents::Zeroes,
            "r" => Contents::Fresh,
            file if file.contains(',') => {
                let message = "data from a file is not built yet";
                return wrong(message, "write `-Z` with the size alone for random data");
            }
            size => Contents::Source(self.size(size)?),
        };
        Ok(())
    }

    fn affinity(&mut self, index: usize, letter: char, value: &str) -> Taken {
        if letter == 'n' {
            self.settings.no_affinity = true;
            return Ok(());
        }
        let list = value.strip_prefix('g').unwrap_or(value);
        if list.is_empty() || list.starts_with(|first: char| first.is_ascii_alphabetic()) {
            self.ignored(
                index,
                "without a list of processors, the kernel places threads",
            );
            return Ok(());
        }
        // Of `-ag0,0,1` the first number is the group; there is one group here.
        let numbers = list.split(',').skip(usize::from(value.starts_with('g')));
        for part in numbers {
            let range = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (range.0.parse::<u32>(), range.1.parse::<u32>()) else {
                let message = format!("`{part}` is no processor of group 0");
                return wrong(
                    message,
                    "write numbers and ranges with commas, such as `-a0,1,4-7`",
                );
            };
            if first > last || last > 1023 {
                return wrong(
                    format!("`{part}` is no range of processors"),
                    "use 0 to 1023",
                );
            }
            self.settings.processors.extend(first..=last);
        }
        Ok(())
    }

    fn other(&mut self, index: usize, letter: char, value: &str) -> Taken {
        match (letter, value) {
            ('?', "") => self.help = true,
            ('l', "") => {
                self.settings.large_pages = true;
                self.ignored(index, "buffers are of plain pages here");
                return Ok(());
            }
            ('L', "") => self.settings.latency = true,
            ('x', "") => self.settings.completion_routines = true,
            ('v', "" | "s") => self.settings.verbose = true,
            ('R', "" | "text") | ('u', _) => {}
            ('P', _) => self.ignored(index, "no dots are printed"),
            ('e', _) => self.ignored(index, "event tracing belongs to Windows"),
            (':', _) => self.ignored(index, "it names an experiment of DISKSPD's own"),
            ('p', "") => {
                let message =
                    "`-p` (each outstanding I/O with a position of its own) is not built yet";
                return wrong(message, "use more threads with `-o1`");
            }
            ('y', _) => {
                let message = "events of Windows do not exist here";
                return wrong(message, "start programs together from a script");
            }
            ('X', _) => {
                let message = "XML profiles are not read yet";
                return wrong(message, "write the profile's options on the command line");
            }
            ('R', _) => {
                let message = "XML output and profiles are not written yet";
                let hint =
                    "leave `-R` out for text; `fathom run --json diskspd …` prints the record";
                return wrong(message, hint);
            }
            _ => {
                return wrong(
                    format!("`-{letter}{value}` is no option of DISKSPD"),
                    "`fathom diskspd -?` lists them; each option and its value are one word",
                );
            }
        }
        Ok(())
    }
}
