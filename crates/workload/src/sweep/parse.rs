//! The words of `--sweep`.

use std::num::{IntErrorKind, ParseIntError};

use fathom_diagnostics::nearest;
use fathom_units::{Bytes, group_digits};

use super::{POINTS_MAX, Sweep, SweepError};
use crate::{DEPTH_MAX, WORKERS_MAX};

const AXES: [&str; 3] = ["depth", "block", "threads"];
/// Peers' names of the axes, for hints.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("iodepth", "depth"),
    ("qd", "depth"),
    ("bs", "block"),
    ("blocksize", "block"),
    ("numjobs", "threads"),
    ("workers", "threads"),
];
/// All there is to sweep, with fio's names of it.
const ALL_AXES: &str = "axes are `depth` (fio's `iodepth`), `block` (`bs`) and `threads` (`numjobs`); what else differs is a run of its own";
const EXAMPLE: &str = "write it like `depth=1..64x2,block=4k,8k,64k`";
/// No block is larger than a request can be.
const BLOCK_MAX: u64 = u32::MAX as u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Depth,
    Block,
    Threads,
}

impl std::str::FromStr for Sweep {
    type Err = SweepError;

    /// Reads `AXIS=VALUES[,AXIS=VALUES…]`.
    fn from_str(text: &str) -> Result<Self, SweepError> {
        let mut sweep = Self::default();
        let mut present: Option<Axis> = None;
        for word in text.split(',').map(str::trim) {
            let value = match word.split_once('=') {
                Some((name, value)) => {
                    let axis = axis_of(name.trim())?;
                    if !sweep.is_empty(axis) || present == Some(axis) {
                        let message = format!("the sweep names `{}` twice", name.trim());
                        let hint = "join the values: `depth=1,2,16..64x2`";
                        return Err(SweepError::new(message, hint));
                    }
                    present = Some(axis);
                    value.trim()
                }
                None => word,
            };
            let Some(axis) = present else {
                let message = format!("the sweep begins with `{word}`, which names no axis");
                return Err(SweepError::new(message, EXAMPLE));
            };
            sweep.add(axis, value)?;
        }
        if sweep.point_count() > POINTS_MAX {
            let count = group_digits(sweep.point_count() as u64);
            let message = format!(
                "the sweep has {count} points; at most {} are possible",
                group_digits(POINTS_MAX as u64)
            );
            let hint = "take larger steps (`1..1024x4`), or sweep fewer axes at once";
            return Err(SweepError::new(message, hint));
        }
        Ok(sweep)
    }
}

impl Sweep {
    fn is_empty(&self, axis: Axis) -> bool {
        match axis {
            Axis::Depth => self.depths.is_empty(),
            Axis::Block => self.blocks.is_empty(),
            Axis::Threads => self.threads.is_empty(),
        }
    }

    fn add(&mut self, axis: Axis, word: &str) -> Result<(), SweepError> {
        for value in axis.values(word)? {
            let known = match axis {
                Axis::Depth => push(&mut self.depths, value as u32),
                Axis::Block => push(&mut self.blocks, Bytes::new(value)),
                Axis::Threads => push(&mut self.threads, value as u32),
            };
            if known {
                let message = format!("the sweep has {} {} twice", axis.name(), axis.text(value));
                return Err(SweepError::new(message, "name each value once"));
            }
        }
        Ok(())
    }
}

/// Adds `value` and says whether it was there already.
fn push<T: PartialEq>(list: &mut Vec<T>, value: T) -> bool {
    let known = list.contains(&value);
    list.push(value);
    known
}

fn axis_of(name: &str) -> Result<Axis, SweepError> {
    match name {
        "depth" => return Ok(Axis::Depth),
        "block" => return Ok(Axis::Block),
        "threads" => return Ok(Axis::Threads),
        _ => {}
    }
    let message = format!("a sweep has no axis `{name}`");
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    // `read` is near to `threads`, and not meant.
    let begins_alike = |axis: &&str| axis.chars().next() == name.chars().next();
    let near = || nearest(name, AXES).filter(begins_alike);
    let hint = match other.map(|(_, axis)| *axis).or_else(near) {
        Some(near) => format!("did you mean `{near}`?"),
        None => ALL_AXES.to_owned(),
    };
    Err(SweepError::new(message, hint))
}

/// How a range goes on.
#[derive(Debug, Clone, Copy)]
enum Step {
    Times(u64),
    Plus(u64),
}

impl Axis {
    const fn name(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::Block => "block",
            Self::Threads => "threads",
        }
    }

    const fn most(self) -> u64 {
        match self {
            Self::Depth => DEPTH_MAX as u64,
            Self::Block => BLOCK_MAX,
            Self::Threads => WORKERS_MAX as u64,
        }
    }

    fn text(self, value: u64) -> String {
        match self {
            Self::Block => super::short_size(Bytes::new(value)),
            Self::Depth | Self::Threads => value.to_string(),
        }
    }

    /// One value, or all of a range.
    fn values(self, word: &str) -> Result<Vec<u64>, SweepError> {
        let Some((low, rest)) = word.split_once("..") else {
            return Ok(vec![self.value(word)?]);
        };
        let (high, step) = self.split_step(word, rest)?;
        let (low, high) = (self.value(low)?, self.value(high)?);
        if low > high {
            let message = format!("the range `{word}` counts down");
            let hint = format!("write `{}`", swapped(word));
            return Err(SweepError::new(message, hint));
        }
        let mut values = vec![low];
        loop {
            let last = values.last().copied().unwrap_or(low);
            let next = match step {
                Step::Times(factor) => last.saturating_mul(factor),
                Step::Plus(step) => last.saturating_add(step),
            };
            if next > high {
                return Ok(values);
            }
            if values.len() >= POINTS_MAX {
                let message = format!("the range `{word}` has over {POINTS_MAX} values");
                return Err(SweepError::new(message, "take larger steps"));
            }
            values.push(next);
        }
    }

    /// `64x2` or `16+4`, after the two dots of `word`.
    fn split_step<'a>(self, word: &str, rest: &'a str) -> Result<(&'a str, Step), SweepError> {
        if let Some((high, factor)) = rest.split_once('x') {
            return match factor.trim().parse() {
                Ok(factor) if factor >= 2 => Ok((high, Step::Times(factor))),
                _ => {
                    let message = format!(
                        "`{}` in `{word}` is no factor of a range; it is a whole number from 2",
                        factor.trim()
                    );
                    Err(SweepError::new(message, "write `1..64x2`"))
                }
            };
        }
        if let Some((high, step)) = rest.split_once('+') {
            return Ok((high, Step::Plus(self.added(word, step.trim())?)));
        }
        let low = word.split_once("..").map_or("", |(low, _)| low);
        let message = format!("the range `{word}` does not say its step");
        // What is no range at all would stay none with a step.
        let word = if self.value(low)? > self.value(rest)? {
            swapped(word)
        } else {
            word.to_owned()
        };
        let example = self.text(4 * self.unit());
        let hint = format!("write `{word}x2` to double, or `{word}+{example}` to add {example}");
        Err(SweepError::new(message, hint))
    }

    /// What a range of `word` adds at each step.
    fn added(self, word: &str, step: &str) -> Result<u64, SweepError> {
        if self.number(step) == Ok(0) {
            let message = format!("`{step}` in `{word}` is no step of a range: it leads nowhere");
            let low = word.split('+').next().unwrap_or_default();
            let hint = format!("write `{low}+{}`", self.text(self.unit()));
            return Err(SweepError::new(message, hint));
        }
        self.value(step)
    }

    fn value(self, word: &str) -> Result<u64, SweepError> {
        let word = word.trim();
        if word.is_empty() {
            let message = format!("a value of `{}` is missing", self.name());
            return Err(SweepError::new(message, EXAMPLE));
        }
        let value = self.number(word);
        let value = value
            .map_err(|reason| SweepError::new(format!("{}: {reason}", self.name()), EXAMPLE))?;
        if value == 0 || value > self.most() {
            let message = format!(
                "{}: `{word}` is out of range; 1 to {} are possible",
                self.name(),
                self.text(self.most())
            );
            return Err(SweepError::new(message, "choose another value"));
        }
        Ok(value)
    }

    /// A number as it is written; one past what can be counted is as large as can be.
    fn number(self, word: &str) -> Result<u64, String> {
        match self {
            Self::Block => match word.parse::<Bytes>() {
                Err(error) if error.is_too_large() => Ok(u64::MAX),
                read => read.map(Bytes::get).map_err(|error| error.to_string()),
            },
            Self::Depth | Self::Threads => word.parse().or_else(|error: ParseIntError| {
                let too_large = *error.kind() == IntErrorKind::PosOverflow;
                too_large
                    .then_some(u64::MAX)
                    .ok_or_else(|| format!("`{word}` is not a whole number"))
            }),
        }
    }

    /// What a range adds in an example.
    const fn unit(self) -> u64 {
        match self {
            Self::Block => 4096,
            Self::Depth | Self::Threads => 1,
        }
    }
}

/// The range with its ends exchanged, for a hint.
fn swapped(word: &str) -> String {
    let (low, rest) = word.split_once("..").unwrap_or((word, ""));
    let end = rest.find(['x', '+']).unwrap_or(rest.len());
    let (high, step) = rest.split_at(end);
    format!("{high}..{low}{step}")
}
