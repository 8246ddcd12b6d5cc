//! `--start-at`: a run whose first stage begins at a time of day, so that several machines begin together.

use std::str::FromStr;

use fathom_engine::{Gate, StopFlag, Upcoming};
use fathom_rawio::{Clock, sleep_until, wall_clock};
use fathom_units::Nanos;
use jiff::Timestamp;

use crate::{Code, Console, Failure, Show};

/// A time further ahead is more likely a slip than a plan.
const AHEAD_MOST: Nanos = Nanos::from_secs(24 * 3600);
/// When the wall clock is read for the last time: it may be set, or run faster or slower, while a run waits.
const LAST_LOOK: Nanos = Nanos::from_millis(50);
/// How soon a request to stop is seen.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);
const HOW: &str =
    "write one such as `2026-11-29T09:00:00Z` or, in seconds since 1970, `@1764403200`";
const CHOOSE: &str =
    "choose a time that comes after all hosts are ready, such as `@$(( $(date +%s) + 20 ))`";

/// When the first stage of a run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartAt {
    unix: Nanos,
    text: String,
}

impl FromStr for StartAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unix = match text.strip_prefix('@') {
            Some(seconds) => since_1970(seconds),
            None => (text.parse::<Timestamp>().ok())
                .and_then(|time| u64::try_from(time.as_nanosecond()).ok()),
        };
        let unix = unix.ok_or_else(|| format!("`{text}` is no time with its zone: {HOW}"))?;
        Ok(Self {
            unix: Nanos::new(unix),
            text: text.to_owned(),
        })
    }
}

/// Nanoseconds of `seconds`, which may have a fraction, as `date +%s.%N` prints them.
fn since_1970(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanos: u64 = format!("{fraction:0<9}").parse().ok()?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?;
    whole.checked_add(nanos)
}

impl StartAt {
    /// Refuses a time that has passed or is too far ahead, and says on `console` how long it is until then, unless `show`
    /// leaves that out.
    ///
    /// # Errors
    /// [`Code::Usage`].
    pub fn check(&self, show: Show, console: &dyn Console) -> Result<(), Failure> {
        let (now, text) = (Nanos::new(wall_clock()), &self.text);
        let refuse = |what: String| {
            let message = format!("--start-at: {what}");
            Err(Failure::new(Code::Usage, message).hint(CHOOSE))
        };
        if self.unix < now {
            let late = now.saturating_sub(self.unix);
            return refuse(format!("`{text}` was {late} ago"));
        }
        let ahead = self.unix.saturating_sub(now);
        if ahead > AHEAD_MOST {
            return refuse(format!("`{text}` is more than a day ahead ({ahead})"));
        }
        if show != Show::Nothing {
            console.tell(&format!("the first stage begins at {text}, in {ahead}"));
        }
        Ok(())
    }

    /// The same moment by the run's clock, as things stand.
    fn moment(&self) -> Nanos {
        let (now, wall) = (Clock::now(), Nanos::new(wall_clock()));
        (now + self.unix.saturating_sub(wall)).saturating_sub(wall.saturating_sub(self.unix))
    }
}

impl Gate for StartAt {
    fn begin(&self, stage: &Upcoming<'_>, stop: &StopFlag) -> Option<Nanos> {
        if stage.index > 0 {
            return Some(Clock::now());
        }
        while self.moment() > Clock::now() + LAST_LOOK && !stop.is_requested() {
            sleep_until(Clock::now() + LOOK_EVERY);
        }
        (!stop.is_requested()).then(|| self.moment())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, unix: Option<u64>) {
        let read = text.parse::<StartAt>();
        assert_eq!(read.as_ref().ok().map(|it| it.unix.get()), unix, "{read:?}");
        if let Err(why) = read {
            assert!(why.contains(HOW), "{why}");
        }
    }

    #[test]
    fn times_are_time_stamps_or_seconds() {
        let unix = 1_764_406_800_000_000_000;
        check("2025-11-29T09:00:00Z", Some(unix));
        check("2025-11-29T10:00:00+01:00", Some(unix));
        check("2025-11-29T09:00:00.25Z", Some(unix + 250_000_000));
        check("@1764406800", Some(unix));
        check("@1764406800.25", Some(unix + 250_000_000));
        check("@1764406800.000000001", Some(unix + 1));
    }

    #[test]
    fn what_is_no_time_says_how_to_write_one() {
        let zoneless = ["2025-11-29T09:00:00", "2025-11-29", "09:00"];
        let wrong = ["", "@", "@-1", "@1.0000000001", "@x", "@1e9", "1764406800"];
        for text in zoneless.into_iter().chain(wrong) {
            check(text, None);
        }
        check("@99999999999999", None);
        check("1969-12-31T00:00:00Z", None);
    }
}
