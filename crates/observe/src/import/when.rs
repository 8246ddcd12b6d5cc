//! Dates and times as tools write them in all locales, one order of day and month through a whole file.

use fathom_units::Nanos;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::Zone;

/// How a file's dates are written, once it has shown.
#[derive(Debug, Default, Clone)]
pub(super) struct Dates {
    /// Seconds east of Greenwich of times that do not say so.
    pub offset: Option<i64>,
    order: Option<Order>,
    /// A date that could be read in two ways was met.
    pub ambiguous: bool,
    /// A time was met that does not say its zone.
    pub local: bool,
    /// Seconds east of Greenwich that the first time with a distance of its own told.
    east: Option<i64>,
    /// A later time told another one.
    moved: bool,
    step: Step,
}

/// The smallest step of times, the coarsest last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    #[default]
    Seconds,
    Parts,
    Minutes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    MonthFirst,
    DayFirst,
}

/// A date is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotADate {
    /// It does not look like one.
    Other,
    /// Its day and month stand the other way round than before.
    Mixed,
    /// There is no such day or time.
    None,
}

impl NotADate {
    /// What is wrong with `text`, for an error.
    pub fn message(&self, text: &str) -> String {
        match self {
            Self::Other => format!("`{text}` is no date with a time"),
            Self::Mixed => format!(
                "`{text}` has its day and month the other way round than dates before it: two locales are mixed"
            ),
            Self::None => format!("there is no such moment as `{text}`"),
        }
    }
}

/// A run of digits and what stands before it.
struct Run<'a> {
    before: &'a str,
    digits: &'a str,
}

/// Words for the second half of the day, in the languages that write twelve hours.
const AFTERNOON: &[&str] = &["PM", "P.M.", "pm", "p.m.", "下午", "오후", "午後", "μμ"];
const MORNING: &[&str] = &["AM", "A.M.", "am", "a.m.", "上午", "오전", "午前", "πμ"];

fn runs(text: &str) -> (Vec<Run<'_>>, &str) {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|one: char| one.is_ascii_digit()) {
        let end = rest[start..]
            .find(|one: char| !one.is_ascii_digit())
            .map_or(rest.len(), |length| start + length);
        found.push(Run {
            before: &rest[..start],
            digits: &rest[start..end],
        });
        rest = &rest[end..];
        if found.len() > 12 {
            break;
        }
    }
    (found, rest)
}

impl Dates {
    /// The month stands first where both ways are possible and none has been shown: the format says so.
    pub fn month_first(&mut self) {
        self.order.get_or_insert(Order::MonthFirst);
    }

    /// Whether it is known which of day and month stands first.
    pub fn is_ordered(&self) -> bool {
        self.order.is_some()
    }

    /// The smallest step of the times met.
    pub fn resolution(&self) -> Nanos {
        match self.step {
            Step::Seconds => Nanos::from_secs(1),
            Step::Parts => Nanos::from_millis(1),
            Step::Minutes => Nanos::from_secs(60),
        }
    }

    /// A time was met with parts of a second.
    pub fn parts_of_a_second(&mut self) {
        self.step = self.step.max(Step::Parts);
    }

    /// What of the dates had to be assumed.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.ambiguous && self.order.is_none() {
            let doubt =
                "its dates can be read in two ways (`03/04/26`): taken with the month first";
            doubts.push(doubt.to_owned());
        }
        if self.local {
            let doubt =
                "its times do not say their zone: the hours are those of the machine's own clock";
            doubts.push(doubt.to_owned());
        }
        if self.moved {
            let doubt = "its clock's distance from Greenwich changes: hours are told at the first";
            doubts.push(doubt.to_owned());
        }
        doubts
    }

    /// Whose hours of the day the times are told in.
    pub fn zone(&self) -> Zone {
        match self.east.and_then(|east| i32::try_from(east).ok()) {
            _ if self.local => Zone::Written,
            Some(east) => Zone::East(east),
            None => Zone::Own,
        }
    }

    /// Keeps how far from Greenwich a time was told.
    fn told(&mut self, east: i64) -> i64 {
        self.moved |= *self.east.get_or_insert(east) != east;
        east
    }

    /// Looks at a date to learn the file's order of day and month.
    pub fn learn(&mut self, text: &str) {
        let (found, _) = runs(text);
        let Some([first, second, third]) = found.first_chunk() else {
            return;
        };
        if first.digits.len() > 2 || second.before.trim() != "/" || third.before.trim() != "/" {
            return;
        }
        let order = match (first.digits.parse::<u8>(), second.digits.parse::<u8>()) {
            (Ok(13..), Ok(..=12)) => Order::DayFirst,
            (Ok(..=12), Ok(13..)) => Order::MonthFirst,
            _ => return,
        };
        self.order.get_or_insert(order);
    }

    /// Nanoseconds of the Unix epoch.
    pub fn read(&mut self, text: &str) -> Result<i64, NotADate> {
        let text = text.trim();
        let (found, rest) = runs(text);
        if found.len() < 5 || text.len() > 80 {
            return Err(NotADate::Other);
        }
        let (year, month, day) = self.date(&found[..3])?;
        let part = |run: &Run<'_>| run.digits.parse::<i64>().map_err(|_| NotADate::Other);
        // `11.58.00`, as in Danish or Finnish; with two numbers alone it might be anything.
        let is_dotted = found[4].before == "." && found.get(5).is_some_and(|run| run.before == ".");
        let is_known = found[4].before == ":" || found[4].before.contains(['時', '시', '时']);
        if !is_known && !is_dotted {
            return Err(NotADate::Other);
        }
        let mut hour = part(&found[3])?;
        let minute = part(&found[4])?;
        let mut next = 5;
        let mut second = 0;
        let minutes = [":", "分", "분"];
        if let Some(run) = found.get(5)
            && (is_dotted || minutes.contains(&run.before.trim()))
        {
            second = part(run)?;
            next = 6;
        }
        if next == 5 {
            self.step = Step::Minutes;
        }
        let mut nanos = 0;
        if let Some(run) = found
            .get(next)
            .filter(|run| next == 6 && [".", ","].contains(&run.before))
        {
            let digits = &run.digits[..run.digits.len().min(9)];
            nanos = digits.parse::<i64>().map_err(|_| NotADate::Other)?
                * 10_i64.pow(9 - digits.len() as u32);
            self.parts_of_a_second();
            next += 1;
        }
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(AFTERNOON) && hour < 12 {
            hour += 12;
        } else if says(MORNING) && hour == 12 {
            hour = 0;
        }
        let offset = self.offset_of(&found[next..], rest)?;
        let civil = civil(year, [month, day, hour, minute, second]).ok_or(NotADate::None)?;
        let stamp = civil
            .to_zoned(TimeZone::UTC)
            .map_err(|_| NotADate::None)?
            .timestamp();
        (stamp.as_second() - offset)
            .checked_mul(1_000_000_000)
            .and_then(|seconds| seconds.checked_add(nanos))
            .ok_or(NotADate::None)
    }

    fn date(&mut self, found: &[Run<'_>]) -> Result<(i64, i64, i64), NotADate> {
        let part = |run: &Run<'_>| run.digits.parse::<i64>().map_err(|_| NotADate::Other);
        let (first, second, third) = (part(&found[0])?, part(&found[1])?, part(&found[2])?);
        if found[0].digits.len() == 4 {
            return Ok((first, second, third));
        }
        let year = match found[2].digits.len() {
            2 => 2000 + third,
            4 => third,
            _ => return Err(NotADate::Other),
        };
        let between = found[1].before.trim();
        if between != "/" {
            // `22.11.2026` and `22-11-2026`: nobody writes these with the month first.
            let known = matches!(between, "." | "-");
            return if known {
                Ok((year, second, first))
            } else {
                Err(NotADate::Other)
            };
        }
        let shown = match (first > 12, second > 12) {
            (true, false) => Some(Order::DayFirst),
            (false, true) => Some(Order::MonthFirst),
            (true, true) => return Err(NotADate::None),
            (false, false) => None,
        };
        let order = match (shown, self.order) {
            (Some(shown), Some(known)) if shown != known => return Err(NotADate::Mixed),
            (Some(order), _) | (None, Some(order)) => {
                self.order = Some(order);
                order
            }
            (None, None) => {
                self.ambiguous |= first != second;
                Order::MonthFirst
            }
        };
        Ok(match order {
            Order::MonthFirst => (year, first, second),
            Order::DayFirst => (year, second, first),
        })
    }

    fn offset_of(&mut self, left: &[Run<'_>], rest: &str) -> Result<i64, NotADate> {
        let word = rest.trim();
        if left.is_empty() {
            if word == "Z" || word.ends_with("UTC") || word.ends_with("GMT") {
                return Ok(0);
            }
            let Some(offset) = self.offset else {
                self.local = true;
                return Ok(0);
            };
            return Ok(self.told(offset));
        }
        let sign = match left[0].before.trim() {
            "+" => 1,
            "-" | "\u{2212}" => -1,
            _ => return Err(NotADate::Other),
        };
        let digits: String = left.iter().map(|run| run.digits).collect();
        let number: i64 = digits.parse().map_err(|_| NotADate::Other)?;
        let east = match digits.len() {
            2 => number * 3600,
            4 => number / 100 * 3600 + number % 100 * 60,
            _ => return Err(NotADate::Other),
        };
        if east > FARTHEST {
            return Err(NotADate::None);
        }
        Ok(self.told(sign * east))
    }
}

/// No clock is farther from Greenwich than fourteen hours.
const FARTHEST: i64 = 14 * 3600;
/// Years outside of which no log of disks is from: it also keeps nanoseconds within their type.
const YEARS: std::ops::Range<i64> = 1990..2100;

fn civil(year: i64, parts: [i64; 5]) -> Option<DateTime> {
    if !YEARS.contains(&year) {
        return None;
    }
    let mut small = [0_i8; 5];
    for (place, part) in small.iter_mut().zip(parts) {
        *place = i8::try_from(part).ok()?;
    }
    let [month, day, hour, minute, second] = small;
    // A leap second is taken as the last one before it.
    let second = if second == 60 { 59 } else { second };
    DateTime::new(
        i16::try_from(year).ok()?,
        month,
        day,
        hour,
        minute,
        second,
        0,
    )
    .ok()
}

/// A moment as a person reads it, for messages.
pub(super) fn show(at: i64) -> String {
    jiff::Timestamp::from_second(at.div_euclid(1_000_000_000))
        .map_or_else(|_| format!("{at} ns"), |stamp| stamp.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut dates = Dates::default();
        dates.learn(text);
        let read = dates.read(text).map(|at| {
            jiff::Timestamp::from_nanosecond(i128::from(at))
                .unwrap()
                .to_string()
        });
        assert_eq!(read.as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn dates_of_many_locales() {
        check("11/22/2026 07:03:11.250", "2026-11-22T07:03:11.25Z");
        check("11/22/26 07:03:11", "2026-11-22T07:03:11Z");
        check("22/11/26 07:03:11", "2026-11-22T07:03:11Z");
        check("22.11.2026 07:03:11,500", "2026-11-22T07:03:11.5Z");
        check("22.11.2026 07:03", "2026-11-22T07:03:00Z");
        check("22.11.2026 07.03.11", "2026-11-22T07:03:11Z");
        check("22.11.2026 07.03.11,5", "2026-11-22T07:03:11.5Z");
        check("2026-11-22T07:03:11+0100", "2026-11-22T06:03:11Z");
        check(
            "2026-11-22T07:03:11.123456789+05:30",
            "2026-11-22T01:33:11.123456789Z",
        );
        check("2026-11-22 07:03:12 UTC", "2026-11-22T07:03:12Z");
        check("11/22/2026 07:03:11 PM", "2026-11-22T19:03:11Z");
        check("11/22/2026 12:03:11 AM", "2026-11-22T00:03:11Z");
        check("2026年11月22日 07時03分11秒", "2026-11-22T07:03:11Z");
        check("2026년 11월 22일 07시 03분 11초", "2026-11-22T07:03:11Z");
        check("2026/11/22 7:03:11", "2026-11-22T07:03:11Z");
    }

    #[track_caller]
    fn refused(texts: &[&str], expected: &NotADate) {
        let mut dates = Dates::default();
        let last = texts.iter().map(|text| dates.read(text)).last().unwrap();
        assert_eq!(last.as_ref(), Err(expected));
    }

    #[test]
    fn what_is_no_date_is_none() {
        refused(&["vda 1 2 3"], &NotADate::Other);
        refused(&["22.11.2026 07.03"], &NotADate::Other);
        refused(&["02/30/2026 00:00:00"], &NotADate::None);
        refused(
            &["11/22/2026 00:00:00", "22/11/2026 00:00:00"],
            &NotADate::Mixed,
        );
        refused(&["0.00 10.24 6.90 0.12 34.87"], &NotADate::Other);
    }
}
