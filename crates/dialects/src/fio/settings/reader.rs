//! One option's value on its way into a type, with what to say where it does not fit.

mod lists;

use fathom_diagnostics::{Diagnostic, Diagnostics, nearest};
use fathom_units::{Nanos, group_digits};

use super::Amount;
use crate::fio::lexer::RawOption;
use crate::fio::table::{self, Kind, OptionRow};
use crate::fio::values::{self, BareTime, Number, Trap, Triple};

/// A size beyond that of every file.
const ENDLESS: u64 = 1 << 62;

/// What a number counts, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Things without a unit.
    Things,
    /// Microseconds.
    Time,
}

/// Reads the value of one option.
pub struct ValueReader<'a> {
    option: &'a RawOption,
    row: &'static OptionRow,
    kb_base: u64,
    diagnostics: &'a mut Diagnostics,
    at_run: Option<Diagnostic>,
}

impl<'a> ValueReader<'a> {
    pub fn new(
        option: &'a RawOption,
        row: &'static OptionRow,
        kb_base: u64,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self {
            option,
            row,
            kb_base,
            diagnostics,
            at_run: None,
        }
    }

    /// Why a job with this value is not run, where it is taken as fio takes it.
    pub fn refused_at_run(self) -> Option<Diagnostic> {
        self.at_run
    }

    /// fio's name of the option.
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// The value as typed; an error where there is none.
    pub fn text(&mut self) -> Option<&'a str> {
        match self.option.value.as_deref() {
            None => {
                self.refuse(
                    &format!("option `{}` requires a value", self.row.name),
                    None,
                );
                None
            }
            Some("") => {
                let message = format!("option `{}` has an empty value", self.row.name);
                self.refuse(
                    &message,
                    Some("an environment variable may not be set".to_owned()),
                );
                None
            }
            Some(text) => Some(text),
        }
    }

    /// The value as typed, of an option that is a number or a time. fio counts zones with `z`, and of those it takes none here.
    fn numeral(&mut self) -> Option<&'a str> {
        let text = self.text()?;
        if text.ends_with('z') {
            let message = format!(
                "`{}={text}`: `z` counts zones, which this option has none of",
                self.row.name
            );
            self.refuse(
                &message,
                Some("write k, m, g, t or p, or no suffix".to_owned()),
            );
            return None;
        }
        Some(text)
    }

    /// The value as typed, where there is one.
    pub fn optional_text(&mut self) -> Option<String> {
        let text = self.option.value.as_deref();
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Whether it is given by its name alone, without `=`.
    pub fn is_bare(&self) -> bool {
        self.option.value.is_none()
    }

    pub fn refuse(&mut self, message: &str, hint: Option<String>) {
        let error = self.error(message);
        self.diagnostics.push(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }

    /// Takes the value, as fio does, and has jobs that are to be run refused.
    pub fn refuse_at_run(&mut self, message: &str, hint: Option<String>) {
        let error = self.error(message);
        self.at_run = Some(match hint {
            Some(hint) => error.hint(hint),
            None => error,
        });
    }

    /// Something that is worth knowing of a value that is taken.
    pub fn say(&mut self, message: &str, hint: &str) {
        let warning = Diagnostic::warning(message).at(self.option.value_location());
        self.diagnostics.push(warning.hint(hint));
    }

    pub fn not_yet(&mut self) {
        let message = format!(
            "option `{}` is known to fio, but not built yet",
            self.row.name
        );
        self.refuse(
            &message,
            Some("remove it, or leave it at fio's default".to_owned()),
        );
    }

    /// Warns that fio takes the option and does nothing with it.
    pub fn profile_only(&mut self) {
        let message = format!("`{}` has no effect in a job, in fio too", self.row.name);
        let hint =
            "it belongs to fio's built-in workloads; did you mean `bs`, `numjobs` or `thread`?";
        let warning = Diagnostic::warning(message).at(self.option.location.clone());
        self.diagnostics.push(warning.hint(hint));
    }

    fn not_parsed(&mut self, text: &str, what: &str) {
        let hint = match what {
            "number" | "size" => {
                Some("write digits, such as `8`; sizes may end in k, m, g, t or p, such as `64k`")
            }
            "time" => Some("write digits and d, h, m, s, ms or us behind them, such as `90s`"),
            _ => None,
        };
        self.refuse(
            &format!("`{text}` is no {what} for `{}`", self.row.name),
            hint.map(str::to_owned),
        );
    }

    /// Warns of a trap, saying what the value is read as.
    fn warn(&mut self, number: &Number, counts: Counts) {
        let Some(trap) = number.trap else { return };
        let text = self.option.value.as_deref().unwrap_or_default();
        let digits = group_digits(u64::try_from(number.value).unwrap_or(0));
        let read = match counts {
            Counts::Bytes => format!("{digits} bytes"),
            Counts::BytesPerSecond => format!("{digits} bytes a second"),
            Counts::Things => digits,
            Counts::Time => values::span(number.value).unwrap_or(Nanos::MAX).to_string(),
        };
        let message = format!("`{}={text}` is read as {read}, as fio does", self.row.name);
        let warning = Diagnostic::warning(message).at(self.option.value_location());
        self.diagnostics.push(warning.hint(trap.hint()));
    }

    /// A number within bounds.
    pub fn number(&mut self, counts: Counts, least: u64, most: u64) -> Option<u64> {
        let triple = self.triple(counts, least, most)?;
        triple[0]
    }

    /// A number that is part of the value, with its suffix.
    pub fn part(&mut self, text: &str, counts: Counts) -> Option<u64> {
        let number = match counts {
            Counts::Time => values::time(text, BareTime::Micros),
            _ => values::number(text, self.kb_base),
        };
        let number = number.filter(|number| !number.percent)?;
        self.warn(&number, counts);
        u64::try_from(number.value).ok()
    }

    /// A number within bounds that may be below zero.
    pub fn signed(&mut self, least: i32, most: i32) -> Option<i32> {
        let text = self.numeral()?;
        let Some(number) = values::number(text, self.kb_base) else {
            self.not_parsed(text, "number");
            return None;
        };
        let value = i32::try_from(number.value).ok();
        let value = value.filter(|value| (least..=most).contains(value));
        if value.is_none() {
            let message = format!(
                "`{}={text}` is out of range: {least} to {most}",
                self.row.name
            );
            self.refuse(&message, None);
        }
        value
    }

    /// Up to three numbers within bounds: reads, writes, trims. As in fio, parts outside of its own bounds are left out where
    /// others are within.
    pub fn triple(&mut self, counts: Counts, least: u64, most: u64) -> Option<Triple<u64>> {
        let text = self.numeral()?;
        let kb_base = self.kb_base;
        let bounds = table::bounds(self.row.name);
        let mut outside = None;
        let read = |part: &str| {
            let number = values::number(part, kb_base)?;
            let within = u64::try_from(number.value)
                .map_or(true, |value| (bounds.0..=bounds.1).contains(&value));
            if !within && !number.percent {
                outside = Some(part.to_owned());
                return None;
            }
            Some(number)
        };
        let Some(numbers) = values::triple(text, read) else {
            match outside {
                Some(_) => self.out_of_range(text, least.max(bounds.0), most.min(bounds.1)),
                None => self.not_parsed(text, "number"),
            }
            return None;
        };
        let mut kept: Triple<u64> = [None; 3];
        let mut warned: Vec<Trap> = Vec::new();
        for (slot, number) in kept.iter_mut().zip(numbers) {
            let Some(number) = number.map(|number| unsigned(number, most)) else {
                continue;
            };
            match u64::try_from(number.value) {
                Ok(value) if (least..=most).contains(&value) && !number.percent => {
                    *slot = Some(value);
                }
                _ => {
                    self.out_of_range(text, least, most);
                    return None;
                }
            }
            if let Some(trap) = number.trap
                && !warned.contains(&trap)
            {
                warned.push(trap);
                self.warn(&number, counts);
            }
        }
        if let Some(part) = outside {
            self.warn_left_out(&part, bounds);
        }
        Some(kept)
    }

    fn warn_left_out(&mut self, part: &str, (least, most): (u64, u64)) {
        let name = self.row.name;
        let message = format!("`{part}` is out of range for `{name}` and left out, as in fio");
        let hint = if most == u64::MAX {
            format!("write {least} or more")
        } else {
            format!("write {least} to {}", group_digits(most))
        };
        let warning = Diagnostic::warning(message).at(self.option.value_location());
        self.diagnostics.push(warning.hint(hint));
    }

    /// How long something is that ends where its file does: what fio keeps as a number beyond every size (one below zero, a
    /// percentage) is [`ENDLESS`].
    pub fn extent(&mut self) -> Option<u64> {
        let (text, number) = self.first_size()?;
        if let Some(bytes) = values::bytes(number.value).filter(|_| !number.percent) {
            self.warn(&number, Counts::Bytes);
            return Some(bytes.get());
        }
        let name = self.row.name;
        let message = format!("`{name}={text}` is read as without an end, as fio does");
        let warning = Diagnostic::warning(message).at(self.option.value_location());
        self.diagnostics
            .push(warning.hint("write a number of bytes, such as `64m`"));
        Some(ENDLESS)
    }

    /// How many bytes lie between two things; below zero it leads backwards, as a percentage does in fio.
    pub fn step(&mut self) -> Option<i64> {
        let (text, number) = self.first_size()?;
        self.warn(&number, Counts::Bytes);
        if number.percent {
            return Some(-1);
        }
        let bytes = i64::try_from(number.value).ok();
        let bytes = bytes.filter(|bytes| *bytes <= ENDLESS.cast_signed());
        if bytes.is_none() {
            self.out_of_range(text, 0, ENDLESS);
        }
        bytes
    }

    /// The value's text, and the first of its parts as a size.
    fn first_size(&mut self) -> Option<(&'a str, Number)> {
        let text = self.numeral()?;
        let first = values::parts(text).first().copied().unwrap_or_default();
        let number = values::number(first, self.kb_base);
        if number.is_none() {
            self.not_parsed(text, "size");
        }
        Some((text, number?))
    }

    fn out_of_range(&mut self, text: &str, least: u64, most: u64) {
        let message = format!(
            "`{}={text}` is out of range: {least} to {}",
            self.row.name,
            group_digits(most)
        );
        let hint = text.ends_with('%').then(|| {
            "write it without `%`: only sizes and offsets take one, and fio reads a very large number here"
                .to_owned()
        });
        self.refuse(&message, hint);
    }

    /// Refuses a value in zones, of an option that fio takes them for; whether it was one. A share of zones is no value to fio
    /// either.
    pub fn counts_zones(&mut self) -> bool {
        let text = self.option.value.as_deref().unwrap_or_default();
        let first = values::parts(text).first().copied().unwrap_or_default();
        let zones = first.len() > 1 && first.ends_with('z');
        if zones {
            let message = format!("`{}={text}` counts zones", self.row.name);
            let hint = "zoned devices (`zonemode=zbd`) are not carried; give bytes".to_owned();
            if first.contains('%') {
                self.refuse(&message, Some(hint));
            } else {
                self.refuse_at_run(&message, Some(hint));
            }
        }
        zones
    }

    /// Bytes or a percentage.
    pub fn amount(&mut self) -> Option<Amount> {
        let text = self.text()?;
        let first = values::parts(text).first().copied().unwrap_or_default();
        if self.counts_zones() {
            return None;
        }
        let Some(number) = values::number(first, self.kb_base) else {
            self.not_parsed(text, "size");
            return None;
        };
        if number.percent {
            // `size=0%` is the size of no job; the others ask for nothing.
            let least = u64::from(self.row.name == "size");
            if let Ok(percent) = u64::try_from(number.value)
                && (least..=100).contains(&percent)
            {
                return Some(Amount::Percent(percent));
            }
            self.refuse(&format!("`{text}` is not between {least}% and 100%"), None);
            return None;
        }
        let Some(bytes) = values::bytes(number.value) else {
            self.out_of_range(text, 0, 1 << 62);
            return None;
        };
        self.warn(&number, Counts::Bytes);
        Some(Amount::Bytes(bytes.get()))
    }

    /// A time.
    pub fn time(&mut self, bare: BareTime) -> Option<Nanos> {
        let text = self.numeral()?;
        let parts = values::parts(text);
        let first = parts.first().copied().unwrap_or_default();
        let Some(mut time) = values::time(first, bare) else {
            self.not_parsed(text, "time");
            return None;
        };
        if parts.get(1).is_some_and(|second| *second != first) {
            time.trap = Some(Trap::SeveralTimes);
        }
        let Some(span) = values::span(time.value) else {
            self.refuse(
                &format!("`{text}` is no time between 0 and 100 years"),
                None,
            );
            return None;
        };
        self.warn(&time, Counts::Time);
        Some(span)
    }

    /// Times of reads, writes and trims; a bare number means microseconds.
    pub fn times(&mut self) -> Triple<Nanos> {
        let Some(text) = self.numeral() else {
            return [None; 3];
        };
        let read = |part: &str| values::time(part, BareTime::Micros);
        let Some(times) = values::triple(text, read) else {
            self.not_parsed(text, "time");
            return [None; 3];
        };
        let spans = times.map(|time| time.map(|time| values::span(time.value)));
        if spans.contains(&Some(None)) {
            let message = format!("`{text}` is no time between 0 and 100 years");
            self.refuse(&message, None);
            return [None; 3];
        }
        spans.map(Option::flatten)
    }

    /// Two times, the second as the first where it is not given.
    pub fn time_range(&mut self, bare: BareTime) -> Option<(Nanos, Nanos)> {
        let text = self.numeral()?;
        let mut ends = Vec::new();
        for part in values::parts(text).into_iter().take(2) {
            let Some(time) = values::time(part, bare) else {
                self.not_parsed(text, "time");
                return None;
            };
            let Some(span) = values::span(time.value) else {
                let message = format!("`{text}` is no time between 0 and 100 years");
                self.refuse(&message, None);
                return None;
            };
            self.warn(&time, Counts::Time);
            ends.push(span);
        }
        let (first, last) = (*ends.first()?, *ends.last()?);
        Some((first.min(last), first.max(last)))
    }

    /// `0` or `1`; a flag without a value is 1.
    pub fn switch(&mut self) -> Option<bool> {
        if self.row.kind == Kind::Flag && self.option.value.is_none() {
            return Some(true);
        }
        let text = self.text()?;
        match values::switch(text) {
            Some(0) => Some(false),
            // Switches have no lower bound in fio.
            Some(..=-1 | 1) => Some(true),
            // Flags have no upper bound in fio.
            Some(_) if self.row.kind == Kind::Flag => Some(true),
            Some(_) => {
                self.refuse(
                    &format!("`{}={text}` is out of range: 0 or 1", self.row.name),
                    None,
                );
                None
            }
            None => {
                self.not_parsed(text, "0 or 1");
                None
            }
        }
    }

    /// One of some words, up to the first `:` or `,`; its index.
    pub fn word(&mut self, words: &[&'static str]) -> Option<usize> {
        let text = self.text()?;
        let word = text.split([':', ',']).next().unwrap_or_default();
        let found = words.iter().position(|candidate| *candidate == word);
        if found.is_none() {
            let hint = match nearest(word.trim(), words.iter().copied()) {
                Some(near) if word.trim() == near => {
                    "fio takes no blank here; write none after `=`".to_owned()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of {}", words.join(", ")),
            };
            self.refuse(
                &format!("`{word}` is no value of `{}`", self.row.name),
                Some(hint),
            );
        }
        found
    }

    /// What follows the first `:`, as a number above 0.
    pub fn postfix(&mut self) -> Option<u64> {
        let (_, postfix) = self.option.value.as_deref()?.split_once(':')?;
        let number = values::number(postfix, self.kb_base);
        match number.map(|number| (u64::try_from(number.value), number)) {
            Some((Ok(value), number)) if value > 0 && value <= 1 << 62 => {
                self.warn(&number, Counts::Things);
                Some(value)
            }
            _ => {
                self.refuse(&format!("`{postfix}` is no number above 0"), None);
                None
            }
        }
    }

    /// What follows the first `:`, as a number of bytes that may be below 0.
    pub fn signed_postfix(&mut self) -> Option<i64> {
        let (_, postfix) = self.option.value.as_deref()?.split_once(':')?;
        let number = values::number(postfix, self.kb_base);
        let within = |value: i128| i64::try_from(value).ok().filter(|it| it.abs() <= 1 << 62);
        let read = number.and_then(|number| Some((within(number.value)?, number)));
        let Some((value, number)) = read else {
            self.refuse(&format!("`{postfix}` is no number of bytes"), None);
            return None;
        };
        self.warn(&number, Counts::Things);
        Some(value)
    }

    /// What follows the first `:`, as it is.
    pub fn after_colon(&self) -> Option<&'a str> {
        let (_, rest) = self.option.value.as_deref()?.split_once(':')?;
        Some(rest)
    }

    /// What `k` means.
    pub fn kb_base(&self) -> u64 {
        self.kb_base
    }

    /// Refuses an option that fio has withdrawn and refuses too.
    pub fn withdrawn(&mut self) {
        let message = format!("option `{}` was withdrawn from fio", self.row.name);
        self.refuse(&message, Some(self.row.help.to_owned()));
    }

    /// Checks the value, and says why a job with it cannot be run; nothing where it is the default.
    pub fn unlike(&mut self, default: &str) -> Option<Diagnostic> {
        self.check_kind();
        let typed = self.option.value.as_deref().unwrap_or("1").trim();
        if typed == default {
            return None;
        }
        let name = self.row.name;
        let (why, hint) = match table::refusal(name) {
            Some((why, hint)) => (format!("refused in a run: {why}"), hint),
            None => (
                "not built yet".to_owned(),
                "remove it, or leave it at fio's default",
            ),
        };
        let message = format!("`{name}={typed}` is known to fio, but {why}");
        let error = Diagnostic::error(message).at(self.option.value_location());
        Some(error.hint(hint))
    }

    /// An error that points at the value, for later.
    pub fn error(&self, message: &str) -> Diagnostic {
        Diagnostic::error(message).at(self.option.value_location())
    }

    /// Checks that a value without effect is one that fio would take.
    pub fn check_kind(&mut self) {
        match self.row.kind {
            Kind::Switch | Kind::Flag => drop(self.switch()),
            Kind::Seconds => drop(self.time(BareTime::Seconds)),
            Kind::Micros => drop(self.time(BareTime::Micros)),
            Kind::Number => {
                self.check_number();
            }
            Kind::Decimals => self.check_decimal(),
            Kind::OptionalText => {}
            Kind::Word => match table::valid_values(self.row.name) {
                [] => drop(self.text()),
                values => {
                    let words: Vec<&str> = values.iter().map(|(word, _)| *word).collect();
                    let _ = self.word(&words);
                }
            },
            Kind::Text | Kind::Range => drop(self.text()),
        }
    }

    /// Warns of memory that is asked for and not taken, where that shows in figures.
    pub fn tell_of_buffers(&mut self) {
        let kind = self.option.value.as_deref().unwrap_or_default();
        let kind = kind.split(':').next().unwrap_or_default();
        let asked = match (self.row.name, kind) {
            ("mem", "mmaphuge" | "shmhuge") => "huge pages",
            ("mem", "mmapshared") => "a shared mapping",
            _ => return,
        };
        let message = format!("`mem={kind}` has no effect: buffers are not in {asked} here");
        self.say(&message, "leave `mem` out, and compare nothing by it");
    }

    /// Checks that fio takes a part of a number. Below zero it looks at lower bounds alone.
    fn check_number(&mut self) {
        let (least, most) = table::bounds(self.row.name);
        let below = |part: &str| {
            let number = values::number(part, self.kb_base);
            least == 0 && number.is_some_and(|it| it.value < 0 && i32::try_from(it.value).is_ok())
        };
        let text = self.option.value.as_deref().unwrap_or_default();
        if !values::parts(text).iter().any(|part| below(part)) {
            let _ = self.triple(Counts::Things, least, most);
        }
    }
}

/// A number as fio keeps it in an option that holds any number of its width (32 or 64 bits, up to `most`): one below zero
/// without its sign, so that -1 is the largest, and a larger one without the bits that do not fit. Options with narrower bounds
/// refuse it.
fn unsigned(number: Number, most: u64) -> Number {
    let any = most == u64::from(u32::MAX) || most == u64::MAX;
    let most = i128::from(most);
    let fits = (0..=most).contains(&number.value);
    if !any || number.percent || fits || i64::try_from(number.value).is_err() {
        return number;
    }
    let trap = if number.value < 0 {
        Trap::BelowZero
    } else {
        Trap::TooWide
    };
    Number {
        value: number.value.rem_euclid(most + 1),
        trap: Some(trap),
        ..number
    }
}
