//! Values of parameters: numbers with units, ranges and lists.

use std::ops::RangeInclusive;

use super::lexer::{Parameter, Word};
use super::sections::{Name, OpenFlags};
use super::source::{At, Complaints, Sources};

/// Most values of a list after its ranges are written out.
const VALUES_MAX: usize = 10_000;

/// Largest whole number: those up to 2^53 are exact.
const MOST: f64 = 9e15;

/// What a letter behind a number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `k`, `m`, `g`, `t`: multiples of 1024.
    Size,
    /// `m`: minutes, `h`: hours.
    Time,
}

/// Where complaints go while values are read.
#[derive(Debug)]
pub struct Values<'a> {
    /// The files.
    pub sources: &'a Sources,
    /// What was found.
    pub complaints: &'a mut Complaints,
}

impl Values<'_> {
    /// An error at a place.
    pub fn error(&mut self, at: At, message: impl Into<String>, hint: impl Into<String>) {
        self.complaints.error(self.sources, at, message, hint);
    }

    /// An error about something that is not given, which may stand behind a blank of its line.
    pub fn lacking(&mut self, at: At, message: String, hint: &str) {
        self.complaints.lacking(self.sources, at, message, hint);
    }

    /// A warning at a place.
    pub fn warning(&mut self, at: At, message: impl Into<String>, hint: impl Into<String>) {
        self.complaints.warning(self.sources, at, message, hint);
    }

    /// The only value.
    pub fn one<'p>(&mut self, parameter: &'p Parameter) -> Option<&'p Word> {
        match parameter.values.as_slice() {
            [word] if !word.text.is_empty() => Some(word),
            [] | [_] => {
                let message = format!("`{}=` has no value", parameter.key);
                self.error(parameter.at, message, "write its value behind the `=`");
                None
            }
            _ => {
                let message = format!("`{}=` has several values; one is possible", parameter.key);
                self.error(parameter.at, message, "leave one of them");
                None
            }
        }
    }

    /// The only value, as text.
    pub fn text(&mut self, parameter: &Parameter) -> Option<String> {
        self.one(parameter).map(|word| word.text.clone())
    }

    /// A single number; percentages are negative.
    pub fn number(&mut self, parameter: &Parameter, unit: Unit) -> Option<f64> {
        let word = self.one(parameter)?;
        self.number_of(word, unit, &parameter.key)
    }

    /// A whole number of at least `least`.
    pub fn count(&mut self, parameter: &Parameter, unit: Unit, least: u64) -> Option<u64> {
        let number = self.number(parameter, unit)?;
        self.whole(parameter, number, least)
    }

    /// What is before the point of a number that is whole: Vdbench drops what is behind it. Fractions of 1 stay, since nothing
    /// would be left, and so do numbers below 0.
    pub fn whole_part(&mut self, parameter: &Parameter, number: f64) -> f64 {
        if number < 1.0 || number.fract() == 0.0 {
            return number;
        }
        // Of a size such as `0.7g` it is less than a byte.
        if number < 1024.0 {
            let whole = number.floor();
            let message = format!(
                "`{}={}`: {number} is taken as {whole}",
                parameter.key,
                shown(parameter)
            );
            self.warning(parameter.at, message, "give a whole number");
        }
        number.floor()
    }

    fn whole(&mut self, parameter: &Parameter, number: f64, least: u64) -> Option<u64> {
        let number = self.whole_part(parameter, number);
        if number.fract() == 0.0 && number >= least as f64 && number <= MOST {
            return Some(number as u64);
        }
        let at = parameter
            .values
            .first()
            .map_or(parameter.at, |word| word.at);
        let message = format!("`{}={}`: not possible", parameter.key, shown(parameter));
        let hint = if number > MOST {
            "give less: 9,000,000,000,000,000 at most".to_owned()
        } else {
            format!("give a whole number of at least {least}")
        };
        self.error(at, message, hint);
        None
    }

    /// A percentage from 0 to 100, with or without its sign.
    pub fn percent(&mut self, parameter: &Parameter) -> Option<f64> {
        // With `%`, a number is read as one below 0.
        let is_below = parameter
            .values
            .first()
            .is_some_and(|word| word.text.starts_with('-'));
        let number = self.number(parameter, Unit::Size)?.abs();
        if number <= 100.0 && !is_below {
            return Some(number);
        }
        let at = parameter
            .values
            .first()
            .map_or(parameter.at, |word| word.at);
        let message = format!("`{}={}` is no percentage", parameter.key, shown(parameter));
        self.error(at, message, "give 0 to 100");
        None
    }

    /// `yes` or `no`.
    pub fn truth(&mut self, parameter: &Parameter) -> Option<bool> {
        let word = self.one(parameter)?;
        match word.text.as_bytes().first()?.to_ascii_lowercase() {
            b'y' => Some(true),
            b'n' => Some(false),
            _ => {
                let message = format!(
                    "`{}={}` is neither `yes` nor `no`",
                    parameter.key, word.text
                );
                self.error(word.at, message, "write `yes` or `no`");
                None
            }
        }
    }

    /// A list of numbers with its ranges written out; percentages are negative.
    pub fn numbers(&mut self, parameter: &Parameter, unit: Unit) -> Option<Vec<f64>> {
        let mut numbers = Vec::new();
        let words = &parameter.values;
        let alphas = words
            .iter()
            .filter(|word| !looks_numeric(&word.text))
            .count();
        if alphas > 0 && words.iter().filter(|word| word.text != "d").count() > alphas {
            let steps = words
                .iter()
                .all(|word| looks_numeric(&word.text) || word.text == "d");
            if !steps {
                let message = format!(
                    "`{}`: Mix of alpha and numeric values not allowed",
                    parameter.key
                );
                self.error(parameter.at, message, "give numbers alone, or words alone");
                return None;
            }
        }
        let mut index = 0;
        while let Some(word) = words.get(index) {
            index += 1;
            let range = word
                .text
                .char_indices()
                .skip(1)
                .find(|(_, letter)| *letter == '-');
            match range {
                Some((at, _)) if !word.quoted => {
                    let from = Word {
                        text: word.text[..at].to_owned(),
                        ..word.clone()
                    };
                    let to = Word {
                        text: word.text[at + 1..].to_owned(),
                        ..word.clone()
                    };
                    let from = self.number_of(&from, unit, &parameter.key)?;
                    let to = self.number_of(&to, unit, &parameter.key)?;
                    let step = words.get(index);
                    index += 1;
                    self.range(parameter, (from, to), step, unit, &mut numbers)?;
                }
                _ => numbers.push(self.number_of(word, unit, &parameter.key)?),
            }
            if numbers.len() > VALUES_MAX {
                let message = format!("`{}=` has more than {VALUES_MAX} values", parameter.key);
                self.error(parameter.at, message, "give fewer");
                return None;
            }
        }
        if !self.complaints.has_room_for(numbers.len()) {
            return None;
        }
        if numbers.is_empty() {
            let message = format!(
                "For_loop(): `{}=`: the list of NUMERIC values is empty.",
                parameter.key
            );
            self.error(parameter.at, message, "write its values behind the `=`");
            return None;
        }
        Some(numbers)
    }

    /// `from-to` with its step: a number that is added, or `d` that doubles and, downwards, halves.
    fn range(
        &mut self,
        parameter: &Parameter,
        (from, to): (f64, f64),
        step: Option<&Word>,
        unit: Unit,
        numbers: &mut Vec<f64>,
    ) -> Option<()> {
        let doubles = step.is_some_and(|word| word.text == "d");
        let step = match step {
            Some(word) if !doubles => self.number_of(word, unit, &parameter.key)?.abs(),
            _ => 1.0,
        };
        let stuck = if doubles {
            from <= 0.0 || to <= 0.0
        } else {
            step <= 0.0
        };
        if stuck {
            let message = format!(
                "`{}={}`: the range never ends",
                parameter.key,
                shown(parameter)
            );
            self.error(
                parameter.at,
                message,
                "give a step above 0, and to `d` numbers above 0",
            );
            return None;
        }
        let up = to >= from;
        if !up && !doubles {
            let message = format!(
                "`{}={}` goes down from {from} to {to}; 5.04.07 takes {from} alone",
                parameter.key,
                shown(parameter)
            );
            let hint = "write the values out, and both do the same";
            self.warning(parameter.at, message, hint);
        }
        let mut value = from;
        while (up && value <= to || !up && value >= to) && numbers.len() <= VALUES_MAX {
            numbers.push(value);
            value = match (doubles, up) {
                (true, true) => value * 2.0,
                (true, false) => value / 2.0,
                (false, true) => value + step,
                (false, false) => value - step,
            };
        }
        Some(())
    }

    fn number_of(&mut self, word: &Word, unit: Unit, key: &str) -> Option<f64> {
        if let Some(number) = parse_number(&word.text, unit) {
            return Some(number);
        }
        // What nothing replaces was told where it stands.
        let unknown = format!("parameter file: `{}`", word.text);
        if word.text.starts_with(['$', '!']) && self.complaints.has_told(&unknown) {
            return None;
        }
        let digits = word.text.trim_end_matches(['s', 'S']);
        let is_seconds = unit == Unit::Time
            && digits.len() < word.text.len()
            && parse_number(digits, unit).is_some();
        let hint = match (is_seconds, unit) {
            (true, _) => format!(
                "times are seconds without a letter: `{key}={digits}`; `m` and `h` are minutes and hours"
            ),
            (_, Unit::Time) => {
                "write seconds as digits, or minutes with `m`, hours with `h`".to_owned()
            }
            (_, Unit::Size) => {
                "write digits, with `k`, `m`, `g` or `t` for multiples of 1024".to_owned()
            }
        };
        let message = format!(
            "Exception during reading of input parameter file(s). `{}` is no number of `{key}=`",
            word.text
        );
        self.error(word.at, message, hint);
        None
    }

    /// A list of names; within parentheses, ranges of numbered names are written out.
    pub fn names(&mut self, parameter: &Parameter) -> Vec<Name> {
        let mut names = Vec::new();
        for word in &parameter.values {
            let range = word
                .text
                .split_once('-')
                .filter(|_| parameter.is_list && !word.quoted);
            let Some((from, to)) = range else {
                let name = Name {
                    text: word.text.clone(),
                    at: word.at,
                };
                names.push(name);
                continue;
            };
            if let Some((letters, numbers)) = numbered_range(from, to) {
                let count = numbers.end() - numbers.start() + 1;
                if self.complaints.has_room_for(count as usize) {
                    names.extend(numbers.map(|number| Name {
                        text: format!("{letters}{number}"),
                        at: word.at,
                    }));
                }
            } else {
                let message = format!(
                    "within parentheses `-` makes a range: `{}` is read as `{from}` to `{to}`",
                    word.text
                );
                let hint = format!("put the name in double quotes: (\"{}\")", word.text);
                self.warning(word.at, message, hint);
                names.push(Name {
                    text: from.to_owned(),
                    at: word.at,
                });
            }
        }
        if names.iter().all(|name| name.text.is_empty()) {
            let message = format!("`{}=` names nothing", parameter.key);
            self.error(parameter.at, message, "write a name behind the `=`");
        }
        names
    }

    /// `openflags=`.
    pub fn openflags(&mut self, parameter: &Parameter) -> OpenFlags {
        let mut flags = OpenFlags::default();
        for word in &parameter.values {
            match word.text.to_ascii_lowercase().as_str() {
                "o_direct" | "directio" => flags.direct = true,
                "o_sync" | "o_dsync" | "o_rsync" => flags.dsync = true,
                "fsync" => flags.fsync = true,
                "none" => {}
                other => {
                    if let Some(bits) = other
                        .strip_prefix("0x")
                        .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                    {
                        self.raw_flags(bits, word, &mut flags);
                    } else {
                        let message = format!("`{}` is no open flag that is known here", word.text);
                        self.error(
                            word.at,
                            message,
                            "known are o_direct, o_sync, o_dsync, o_rsync, fsync and directio",
                        );
                    }
                }
            }
        }
        flags
    }

    /// Flags as Linux numbers them on x86: `O_DIRECT`, `O_DSYNC`, and `O_SYNC`, which holds the last.
    fn raw_flags(&mut self, bits: u32, word: &Word, flags: &mut OpenFlags) {
        const DIRECT: u32 = 0x4000;
        const DSYNC: u32 = 0x1000;
        const SYNC: u32 = 0x10_0000;
        flags.direct |= bits & DIRECT != 0;
        flags.dsync |= bits & (DSYNC | SYNC) != 0;
        if bits & !(DIRECT | DSYNC | SYNC) != 0 {
            let message = format!(
                "`{}` holds flags that are not known here; they are left out",
                word.text
            );
            self.warning(word.at, message, "0x4000 is O_DIRECT, 0x1000 is O_DSYNC");
        }
    }
}

/// The values of a parameter as they were written.
pub fn shown(parameter: &Parameter) -> String {
    let words: Vec<&str> = parameter
        .values
        .iter()
        .map(|word| word.text.as_str())
        .collect();
    let text = words.join(",");
    if parameter.is_list {
        format!("({text})")
    } else {
        text
    }
}

/// Whether a word begins like a number.
pub fn looks_numeric(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    text.bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `4k`, `4kb`, `1.5g`, `5m`, `2h`, `50%` (which is -50).
pub fn parse_number(text: &str, unit: Unit) -> Option<f64> {
    let lower = text.trim().to_ascii_lowercase();
    let end = lower.rfind(|letter: char| letter.is_ascii_digit() || letter == '.')? + 1;
    let (digits, suffix) = lower.split_at(end);
    let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(is_plain) {
        return None;
    }
    let number: f64 = digits.parse().ok()?;
    let suffix = match suffix {
        "b" => return None,
        other => other.strip_suffix('b').unwrap_or(other),
    };
    let factor = match (suffix, unit) {
        ("", _) => 1.0,
        ("%", _) => -1.0,
        ("h", _) => 3600.0,
        ("m", Unit::Time) => 60.0,
        ("k", _) => 1024.0,
        ("m", Unit::Size) => 1_048_576.0,
        ("g", _) => 1_073_741_824.0,
        ("t", _) => 1_099_511_627_776.0,
        _ => return None,
    };
    let number = number * factor;
    number.is_finite().then_some(number)
}

/// `sd1` to `sd99`: the same letters, then numbers without leading zeros.
fn numbered_range(from: &str, to: &str) -> Option<(String, RangeInclusive<u64>)> {
    let split = |name: &str| {
        let digits = name.len()
            - name
                .trim_end_matches(|letter: char| letter.is_ascii_digit())
                .len();
        let (letters, digits) = name.split_at(name.len() - digits);
        Some((letters.to_owned(), digits.parse::<u64>().ok()?))
    };
    let ((letters, first), (same, last)) = (split(from)?, split(to)?);
    let count = last.checked_sub(first)?;
    if letters.is_empty() || letters != same || count >= VALUES_MAX as u64 {
        return None;
    }
    Some((letters, first..=last))
}
