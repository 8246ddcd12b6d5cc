//! From words to settings: one option a word, its value behind its letters, with or without a blank between.

use std::ops::Range;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, why_unread};

use super::settings::{Buffering, Order, Settings, Target};
use crate::fio::Files;
use crate::marked::marked;

/// Most threads, and most files.
const MANY_MAX: u32 = 256;
/// Largest parameter file.
const FILE_MAX: usize = 1 << 20;
/// Longest line.
const LINE_MAX: usize = 1 << 20;
/// Most complaints that are shown.
const COMPLAINTS_MAX: usize = 16;
/// The file that is used where none is named.
const FILE: &str = "testfile.dat";

/// A line that was read.
#[derive(Debug)]
pub struct Read {
    /// What it says.
    pub settings: Settings,
    /// What was read otherwise than meant.
    pub warnings: Diagnostics,
    /// `-?`.
    pub help: bool,
}

struct Line {
    settings: Settings,
    complaints: Diagnostics,
    text: String,
    spans: Vec<Range<usize>>,
    help: bool,
    drives: Vec<char>,
    files: Vec<String>,
    parameters: Option<(usize, String)>,
    sub_blocks: Option<usize>,
}

/// What is wrong and what to do.
type Wrong = (String, String);

fn wrong<T>(message: impl Into<String>, hint: impl Into<String>) -> Result<T, Wrong> {
    Err((message.into(), hint.into()))
}

/// Reads `arguments`.
pub fn read(arguments: &[String], files: &dyn Files) -> Result<Read, Diagnostics> {
    let mut text = "sqlio".to_owned();
    let mut spans = Vec::new();
    for word in arguments.iter().filter(|word| !word.is_empty()) {
        if text.len() + word.len() > LINE_MAX {
            break;
        }
        text.push(' ');
        spans.push(text.len()..text.len() + word.len());
        text.push_str(word);
    }
    let mut line = Line {
        settings: Settings::default(),
        complaints: Diagnostics::default(),
        text,
        help: false,
        drives: Vec::new(),
        files: Vec::new(),
        parameters: None,
        sub_blocks: None,
        spans,
    };
    let words = arguments.iter().filter(|word| !word.is_empty());
    if words.clone().count() > line.spans.len() {
        let hint = "use fewer words";
        line.error(0, "the line is longer than 1 MiB", hint);
    }
    for (index, word) in words.take(line.spans.len()).enumerate() {
        if let Err((message, hint)) = line.word(index, word) {
            line.error(index, message, hint);
        }
        if line.complaints.0.len() >= COMPLAINTS_MAX && line.complaints.has_errors() {
            break;
        }
    }
    line.contradictions();
    line.targets(files);
    if line.help {
        line.complaints.0.clear();
    }
    if line.complaints.has_errors() {
        return Err(line.complaints);
    }
    Ok(Read {
        settings: line.settings,
        warnings: line.complaints,
        help: line.help,
    })
}

impl Line {
    fn place(&self, index: usize) -> Location {
        let span = self.spans.get(index).cloned().unwrap_or(0..0);
        Location::in_text("command line", &self.text, span)
    }

    fn error(&mut self, index: usize, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.place(index);
        let error = Diagnostic::error(message).at(place).hint(hint);
        self.complaints.push(error);
    }

    fn ignored(&mut self, index: usize, why: &str) {
        if self.complaints.0.len() < COMPLAINTS_MAX {
            let place = self.place(index);
            let message = format!("this option has no effect: {why}");
            let warning = Diagnostic::warning(message).at(place);
            self.complaints.push(warning.hint("leave it out"));
        }
    }

    fn word(&mut self, index: usize, word: &str) -> Result<(), Wrong> {
        if word.starts_with(['–', '—', '−']) {
            let message = "this begins with a dash that no keyboard has, as web pages and word processors put it";
            return wrong(message, "write `-` in its place");
        }
        let Some(option) = word.strip_prefix('-') else {
            if self.files.len() as u32 >= MANY_MAX {
                return wrong(format!("more than {MANY_MAX} files"), "name fewer");
            }
            self.files.push(word.to_owned());
            return Ok(());
        };
        let mut rest = option.chars();
        let Some(letter) = rest.next() else {
            return wrong("`-` alone is no option", "name one, such as `-b8`");
        };
        self.option(index, letter, rest.as_str().trim())?;
        let origin = "command line".to_owned();
        self.settings.origins.insert(letter, origin);
        Ok(())
    }

    fn option(&mut self, index: usize, letter: char, value: &str) -> Result<(), Wrong> {
        let it = &mut self.settings;
        match letter {
            '?' => self.help = true,
            'k' => {
                it.writes = match value {
                    "R" | "r" => false,
                    "W" | "w" => true,
                    _ => return wrong(format!("`-k{value}` is no kind"), "write -kR or -kW"),
                }
            }
            't' => it.threads = number(value, 1, MANY_MAX)?,
            's' => it.seconds = number(value, 1, u32::MAX)?.into(),
            'b' => it.block_kib = kib(value)?,
            'i' => it.run = number(value, 1, u32::MAX)?,
            'S' => it.first_block = number(value, 0, u32::MAX)?.into(),
            'o' => {
                let depth = number(value, 0, 1 << 16)?;
                it.outstanding = (depth > 0).then_some(depth);
            }
            'f' => it.order = order(value)?,
            'B' => {
                it.buffering = match value {
                    "N" => Buffering::None,
                    "Y" => Buffering::All,
                    "H" => Buffering::Hardware,
                    "S" => Buffering::Software,
                    _ => {
                        let message = format!("`-B{value}` is no way of buffering");
                        return wrong(message, "write -BN, -BY, -BH or -BS");
                    }
                }
            }
            'L' => match value {
                "S" | "Si" | "P" | "Pi" => it.latency = true,
                _ => return wrong(format!("`-L{value}` is no clock"), "write -LS"),
            },
            'a' | 'p' => self.processors(letter, value)?,
            'd' => {
                let letters = value.chars().filter(|one| *one != ',');
                for drive in letters {
                    if !drive.is_ascii_alphabetic() {
                        let message = format!("`{drive}` is no drive");
                        return wrong(message, "write letters alone, such as `-dEF`");
                    }
                    self.drives.push(drive);
                }
            }
            'R' => self.raw(value)?,
            'F' if value.is_empty() => {
                return wrong("no parameter file is named", "write -Fparam.txt");
            }
            'F' => self.parameters = Some((index, value.to_owned())),
            'm' => self.sub_blocks = Some(index),
            'U' => self.ignored(index, "use of the system is not printed"),
            'v' | 'D' => self.ignored(index, "there is one form of output"),
            '6' if value == "4" => {}
            _ => {
                let message = format!("`-{letter}{value}` is no option of SQLIO");
                return wrong(message, "`fathom sqlio -?` lists them");
            }
        }
        Ok(())
    }

    /// `-p[I]NUMBER` and `-a[R[I]]MASK`.
    fn processors(&mut self, letter: char, value: &str) -> Result<(), Wrong> {
        if letter == 'p' {
            let one = value.trim_start_matches('I');
            self.settings.mask = 1 << number(one, 0, 63)?;
            return Ok(());
        }
        let digits = value.trim_start_matches(['R', 'I']);
        let Some(mask) = mask(digits) else {
            let message = format!("`{digits}` is no mask of processors");
            return wrong(message, "write it in hexadecimal, such as `-a0x3`");
        };
        self.settings.in_turn = value.starts_with('R');
        self.settings.mask = mask;
        Ok(())
    }

    /// Disks and volumes without a file system: numbers and letters.
    fn raw(&mut self, list: &str) -> Result<(), Wrong> {
        for one in list.split(',') {
            let is_number = !one.is_empty() && one.bytes().all(|byte| byte.is_ascii_digit());
            if self.files.len() as u32 >= MANY_MAX {
                return wrong(format!("more than {MANY_MAX} files"), "name fewer");
            }
            match one.bytes().next() {
                Some(_) if is_number => self.files.push(format!("#{one}")),
                Some(letter) if one.len() == 1 && letter.is_ascii_alphabetic() => {
                    self.files.push(format!("{one}:"));
                }
                _ => {
                    let message = format!("`{one}` is no disk");
                    return wrong(message, "write numbers and letters with commas: `-R1,E`");
                }
            }
        }
        Ok(())
    }

    fn contradictions(&mut self) {
        let (Some(index), outstanding) = (self.sub_blocks, self.settings.outstanding) else {
            return;
        };
        if outstanding.is_some() {
            let message = "I/Os in several parts (`-m`) have no queue (`-o`)";
            self.error(index, message, "leave one of them out");
        } else {
            let message = "I/Os in several parts (`-m`) are not built yet";
            self.error(
                index,
                message,
                "leave it out; `-b` gives the size of an I/O",
            );
        }
    }

    /// Files, from the line or from the parameter file.
    fn targets(&mut self, files: &dyn Files) {
        if let Some((index, path)) = self.parameters.take() {
            if !self.files.is_empty() {
                let message = "files are named on the line and in a parameter file";
                self.error(index, message, "leave one of them out");
            }
            self.settings.parameters = Some(path.clone());
            match files.read_bytes(&path) {
                Ok(bytes) if bytes.len() <= FILE_MAX => {
                    // What is in a code page differs in names alone.
                    let text = marked(&bytes);
                    let text = text.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
                    if text.contains('\0') {
                        let message = format!("`{path}` is no text: it holds zero bytes");
                        self.error(index, message, "name a parameter file, saved as UTF-8");
                        return;
                    }
                    self.parameter_file(index, &path, &text);
                }
                Ok(_) => self.error(index, format!("`{path}` is larger than 1 MiB"), "use less"),
                Err(error) => {
                    let message = format!("`{path}` cannot be read: {}", why_unread(&error));
                    self.error(index, message, "name a parameter file");
                }
            }
            return;
        }
        if self.files.is_empty() {
            self.files.push(FILE.to_owned());
        }
        let (threads, mask) = (self.settings.threads, self.settings.mask);
        let target = |path: String| Target {
            path,
            threads,
            mask,
            size_mib: None,
        };
        for file in std::mem::take(&mut self.files) {
            if self.drives.is_empty() {
                self.settings.targets.push(target(file));
                continue;
            }
            for drive in &self.drives {
                let path = format!("{drive}:{file}");
                self.settings.targets.push(target(path));
            }
        }
        if self.settings.targets.len() > MANY_MAX as usize {
            self.error(0, format!("more than {MANY_MAX} files"), "name fewer");
        }
    }

    /// Lines of a file, its threads, the mask of their processors and its size in MB; `#` begins a comment.
    fn parameter_file(&mut self, index: usize, name: &str, text: &str) {
        let mut start = 0;
        for row in text.split_inclusive('\n') {
            let span = start..start + row.trim_end().len();
            start += row.len();
            let words = row.split('#').next().unwrap_or("").split_whitespace();
            let words: Vec<&str> = words.take(5).collect();
            if words.is_empty() {
                continue;
            }
            match parameters(&words) {
                Ok(target) => self.settings.targets.push(target),
                Err((message, hint)) => {
                    let place = Location::in_text(name, text, span);
                    let error = Diagnostic::error(message).at(place).hint(hint);
                    self.complaints.push(error);
                }
            }
            if self.complaints.0.len() >= COMPLAINTS_MAX {
                return;
            }
            let threads = self.settings.targets.iter().map(|it| it.threads);
            if threads.sum::<u32>() > MANY_MAX || self.settings.targets.len() > MANY_MAX as usize {
                let message = format!("`{name}` has over {MANY_MAX} files or threads");
                self.error(index, message, "use fewer");
                return;
            }
        }
        if self.settings.targets.is_empty() && !self.complaints.has_errors() {
            let hint = "write lines of a file, its threads, a mask and MB: `x.dat 2 0x0 100`";
            self.error(index, format!("`{name}` names no file"), hint);
        }
    }
}

/// What a line of a parameter file is made of.
const OF_LINES: &str = "write a file, its threads, a mask and MB: `x.dat 2 0x0 100`";

fn parameters(words: &[&str]) -> Result<Target, Wrong> {
    let (path, rest) = match words {
        [path, rest @ ..] if !rest.is_empty() && rest.len() <= 3 => (path, rest),
        _ => {
            let message = "this line does not have two to four words";
            return wrong(message, OF_LINES);
        }
    };
    // What stands in a file has no letter before it.
    let number = |text: &str, most: u32| {
        number(text, 1, most).map_err(|(message, _)| (message, OF_LINES.to_owned()))
    };
    let threads = number(rest[0], MANY_MAX)?;
    let mask_of = |text: &&str| {
        let message = format!("`{text}` is no mask of processors");
        mask(text).ok_or((message, "write it in hexadecimal, such as `0x0`".to_owned()))
    };
    let mask = rest.get(1).map_or(Ok(0), mask_of)?;
    let size = rest.get(2).map(|size| number(size, 1 << 30));
    let size_mib = size.transpose()?.map(u64::from);
    Ok(Target {
        path: (*path).to_owned(),
        threads,
        mask,
        size_mib,
    })
}

fn order(value: &str) -> Result<Order, Wrong> {
    Ok(match value.to_ascii_lowercase().as_str() {
        "random" => Order::Random,
        "sequential" => Order::Sequential,
        blocks => {
            let hint = "write -frandom, -fsequential, or how many blocks on the next I/O is, such as `-f64`";
            Order::Stripes(hinted(number(blocks, 1, u32::MAX), blocks, hint)?)
        }
    })
}

fn kib(value: &str) -> Result<u32, Wrong> {
    let found = number(value, 1, (1 << 22) - 1);
    hinted(found, value, "write KiB in digits alone, such as `-b8`")
}

fn number(text: &str, least: u32, most: u32) -> Result<u32, Wrong> {
    if text.is_empty() {
        let message = format!("no number stands behind it; it takes one from {least} to {most}");
        return wrong(
            message,
            "write it in the same word as the option, such as `-o8`: the next word is one of its own",
        );
    }
    let found = text.parse::<u32>().ok();
    found
        .filter(|it| (least..=most).contains(it))
        .ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            let message = format!("`{shown}` is no number from {least} to {most}");
            let hint = if text.bytes().all(|one| one.is_ascii_digit()) {
                format!("give {least} to {most}")
            } else {
                "write digits behind the option's letter".to_owned()
            };
            (message, hint)
        })
}

/// The same with `hint` where `value` is something else than digits.
fn hinted(found: Result<u32, Wrong>, value: &str, hint: &str) -> Result<u32, Wrong> {
    let is_word = value.bytes().any(|one| !one.is_ascii_digit());
    found.map_err(|(message, own)| (message, if is_word { hint.to_owned() } else { own }))
}

/// A mask in hexadecimal, with or without `0x`.
fn mask(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    u64::from_str_radix(digits.unwrap_or(text), 16).ok()
}
