//! Fault scripts: orders at times, so that what goes wrong goes wrong again the same way.
//!
//! TOML, one `[[fault]]` each: `at` is a time from the start of serving, or two of them (`"5s..20s"`), between which one
//! is drawn; `do` is an order as `fathom ctl` takes it.

use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use fathom_diagnostics::Diagnostics;
use fathom_model::Storage;
use fathom_rawio::Clock;
use fathom_session::{Console, Failure, read_text};
use fathom_tables::{Complaints, Entry, document};
use fathom_units::{Bytes, Nanos};

use crate::control::Orders;
use crate::exports::ExportTable;
use crate::order::Order;

/// Most faults of a script.
const FAULTS_MOST: usize = 10_000;
/// Most bytes of a script.
const SCRIPT_MOST: Bytes = Bytes::new(1 << 20);
/// How the two keys of a fault are written.
const AT: &str = "at = \"10s\"";
const DO: &str = "do = \"stall data\"";

/// An order and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    at: Nanos,
    /// As it was written.
    words: String,
    order: Order,
}

/// The faults of a file, in order of time; times between two are drawn by `seed`. The storage must have every part that they
/// are for, and it must be one that can be changed so.
pub(crate) fn read(
    path: &Path,
    seed: u64,
    exports: &ExportTable,
    storage: &Storage,
) -> Result<Vec<Fault>, Failure> {
    let text = read_text("the fault script ", path)?;
    let can_be = |order: &Order| check(order, exports, storage);
    Ok(parse(&text, &path.display().to_string(), seed, can_be)?)
}

fn parse(
    text: &str,
    file: &str,
    seed: u64,
    can_be: impl Fn(&Order) -> Result<(), String>,
) -> Result<Vec<Fault>, Diagnostics> {
    let script = document(text, file, ("fault script", SCRIPT_MOST))?;
    let mut complaints = Complaints::new(file, text);
    let whole = Entry::new("a fault script", script.get_ref(), &(0..text.len()));
    whole.check_keys(&["fault"], &mut complaints);
    let lines = whole.tables("fault", "a fault", &mut complaints);
    if !whole.has("fault") {
        let hint = format!("write a `[[fault]]` for each order, with `{AT}` and `{DO}`");
        complaints.error(&whole.span(), "the fault script has no fault", &hint);
    }
    if lines.len() > FAULTS_MOST {
        let message = format!("the fault script has more than {FAULTS_MOST} faults");
        complaints.error(&whole.span_of("fault"), message, "leave some out");
    }
    let mut faults = Vec::new();
    for (line, number) in lines.iter().take(FAULTS_MOST).zip(1..) {
        line.check_keys(&["at", "do"], &mut complaints);
        let at = at(line, seed, number, &mut complaints);
        let order = order(line, &can_be, &mut complaints);
        if let (Some(at), Some((words, order))) = (at, order) {
            faults.push(Fault { at, words, order });
        }
    }
    if complaints.found.has_errors() {
        return Err(complaints.in_order());
    }
    faults.sort_by_key(|fault| fault.at);
    Ok(faults)
}

/// When a fault comes.
fn at(line: &Entry<'_>, seed: u64, number: u64, complaints: &mut Complaints<'_>) -> Option<Nanos> {
    let text = line.required_text("at", AT, complaints)?;
    let drawn = time(text.value, seed, number);
    let hint = "write a time from the start of serving, or two between which one is drawn: \
                `at = \"10s\"`, `at = \"12s..15s\"`";
    let complain = |why| complaints.error(&text.span, format!("`at`: {why}"), hint);
    drawn.map_err(complain).ok()
}

/// What a fault does, and the words for it.
fn order(
    line: &Entry<'_>,
    can_be: impl Fn(&Order) -> Result<(), String>,
    complaints: &mut Complaints<'_>,
) -> Option<(String, Order)> {
    let text = line.required_text("do", DO, complaints)?;
    let words: Vec<String> = text.value.split_whitespace().map(str::to_owned).collect();
    let parsed = match Order::parse(&words) {
        Ok(order) => can_be(&order).map(|()| order),
        Err(error) => Err(error.to_string()),
    };
    match parsed {
        Ok(order) => Some((text.value.to_owned(), order)),
        Err(why) => {
            refuse(&text.span, &why, complaints);
            None
        }
    }
}

/// Complains of an order; its own hint is kept.
fn refuse(span: &Range<usize>, why: &str, complaints: &mut Complaints<'_>) {
    let usual = "write an order as `fathom ctl` takes it, for a part that the design has, such as \
                 `do = \"stall data\"`";
    let (why, hint) = why.split_once("\n  hint: ").unwrap_or((why, usual));
    complaints.error(span, format!("`do`: {why}"), hint);
}

/// A time, or one between two.
fn time(text: &str, seed: u64, number: u64) -> Result<Nanos, String> {
    let one = |text: &str| {
        let parsed = text.trim().parse::<Nanos>();
        parsed.map_err(|error| error.to_string())
    };
    let Some((from, to)) = text.split_once("..") else {
        return one(text);
    };
    let (from, to) = (one(from)?, one(to)?);
    if to < from {
        return Err(format!("`{text}` ends before it begins"));
    }
    let span = (to - from).get();
    // The finaliser of splitmix64; of a span of hours its bias is nothing.
    let mut drawn = seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    drawn ^= drawn >> 31;
    Ok(from + Nanos::new(drawn % span.saturating_add(1)))
}

impl Fault {
    /// Whether it tears what is under way.
    pub fn tears(&self) -> bool {
        matches!(self.order, Order::Crash { torn: true, .. })
    }
}

/// Whether the storage has the part that an order is for, and it can be changed so.
fn check(order: &Order, exports: &ExportTable, storage: &Storage) -> Result<(), String> {
    match order {
        Order::Crash { vm: Some(vm), .. } => exports.machine(vm).map(drop),
        Order::Change(change) => {
            let checked = storage.check_change(change);
            checked.map_err(|error| error.to_string())
        }
        Order::Warm(volume) => exports.cached(volume, storage).map(drop),
        Order::Crash { vm: None, .. } | Order::Stats => Ok(()),
    }
}

/// Gives each order at its time, and says what came of it, until the server has `ended`.
pub(crate) fn follow(
    faults: &[Fault],
    orders: &Orders,
    start: Nanos,
    ended: &Receiver<()>,
    console: &dyn Console,
) {
    for fault in faults {
        let left = (start + fault.at).saturating_sub(Clock::now());
        match ended.recv_timeout(Duration::from_nanos(left.get())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
        let told = match orders.give(fault.order.clone()) {
            Ok(told) => told,
            Err(why) => format!("refused: {why}"),
        };
        console.tell(&format!("at {}: {}: {told}", fault.at, fault.words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, seed: u64) -> Result<Vec<Fault>, Diagnostics> {
        super::parse(text, "x.faults.toml", seed, |order| match order {
            Order::Warm(volume) => Err(format!("no volume is called `{volume}`")),
            _ => Ok(()),
        })
    }

    #[test]
    fn faults_come_in_order_of_time() {
        let text =
            "[[fault]]\nat = '20s'\ndo = 'resume data'\n[[fault]]\nat = '10s'\ndo = 'stall data'\n";
        let faults = parse(text, 1).unwrap();
        let told: Vec<_> = faults
            .iter()
            .map(|fault| (fault.at, fault.words.as_str()))
            .collect();
        let seconds = Nanos::from_secs;
        assert_eq!(
            told,
            [(seconds(10), "stall data"), (seconds(20), "resume data")]
        );
    }

    #[test]
    fn a_drawn_time_lies_between_its_two_and_comes_again() {
        let text = "[[fault]]\nat = '5s..20s'\ndo = 'crash'\n";
        let times: Vec<Nanos> = (0..100)
            .map(|seed| parse(text, seed).unwrap()[0].at)
            .collect();
        let range = Nanos::from_secs(5)..=Nanos::from_secs(20);
        assert!(times.iter().all(|at| range.contains(at)), "{times:?}");
        assert!(times.iter().any(|at| *at != times[0]));
        assert_eq!(parse(text, 7), parse(text, 7));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_to_do() {
        let fault = "[[fault]]\n";
        for (lines, place, parts) in [
            (
                "at = '-1s'\ndo = 'crash'",
                "2:6",
                ["`at`: `-1s` is below 0; expected a time", "10s"],
            ),
            (
                "at = 5\ndo = 'crash'",
                "2:6",
                ["`at` must be a text", "between quotes"],
            ),
            (
                "at = '9s..2s'\ndo = 'crash'",
                "2:6",
                ["`at`: `9s..2s` ends before", "12s..15s"],
            ),
            (
                "at = '1s'\ndoo = 'crash'",
                "3:1",
                ["unknown key `doo`", "did you mean `do`?"],
            ),
            (
                "at = '1s'",
                "1:1",
                ["a fault needs `do`", "add `do = \"stall data\"`"],
            ),
            (
                "at = '1s'\ndo = 'crsh'",
                "3:6",
                ["`crsh` is no order", "did you mean `crash`?"],
            ),
            (
                "at = '1s'\ndo = 'slow data'",
                "3:6",
                ["`slow` takes", "`slow data 10`"],
            ),
            (
                "at = '1s'\ndo = 'warm log'",
                "3:6",
                ["no volume is called", "the design has"],
            ),
            (
                "at = ",
                "2:6",
                ["string values must be", "is written in TOML"],
            ),
        ] {
            let told = parse(&format!("{fault}{lines}\n"), 1)
                .unwrap_err()
                .to_string();
            let place = format!("--> x.faults.toml:{place}\n");
            assert!(told.contains(&place), "{lines}: {told}");
            for part in parts {
                assert!(told.contains(part), "{lines}: {told}");
            }
        }
        let two = "[[fault]]\nat = 'soon'\ndo = 'explode'\n[[fault]]\nat = '1s'\ndo = 'no'\n";
        assert_eq!(parse(two, 1).unwrap_err().0.len(), 3);
        let told = |text: &str| parse(text, 1).unwrap_err().to_string();
        assert!(told("").contains("`x.faults.toml` is empty"));
        assert!(told("x = 1").contains("has no fault\n"));
        assert!(told("fault = []").contains("`[[fault]]`"));
    }
}
