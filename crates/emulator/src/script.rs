//! Fault scripts: orders at times, so that what goes wrong goes wrong again the same way.
//!
//! TOML, one `[[fault]]` each: `at` is a time from the start of serving, or two of them (`"5s..20s"`), between which one
//! is drawn; `do` is an order as `fathom ctl` takes it.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_session::{Code, Console, Failure, read_text};
use fathom_units::Nanos;
use serde::Deserialize;

use crate::control::Orders;
use crate::exports::ExportTable;
use crate::order::Order;
use fathom_model::Storage;

/// Most faults of a script.
const FAULTS_MOST: usize = 10_000;
/// Most bytes of a script.
const SCRIPT_MOST: usize = 1 << 20;

/// An order and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Its number in the script, from 1.
    number: u64,
    at: Nanos,
    /// As it was written.
    words: String,
    order: Order,
}

/// Why a script cannot be followed; every reason of it on a line of its own.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the fault script `{path}` cannot be followed:\n{}", reasons.join("\n"))]
pub struct ScriptError {
    path: String,
    reasons: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    fault: Vec<Line>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at: String,
    #[serde(rename = "do")]
    order: String,
}

/// The faults of a file, in order of time; times between two are drawn by `seed`.
pub(crate) fn read(path: &Path, seed: u64) -> Result<Vec<Fault>, Failure> {
    let what = "the fault script ";
    let failed = |reasons: Vec<String>| {
        let path = path.display().to_string();
        let hint = "a script has a `[[fault]]` for each order, with `at = \"10s\"` and `do = \"stall data\"`";
        Failure::new(Code::Input, ScriptError { path, reasons }).hint(hint)
    };
    let text = read_text(what, path)?;
    if text.len() > SCRIPT_MOST {
        return Err(failed(vec!["  it has more than 1 MiB".to_owned()]));
    }
    parse(&text, seed).map_err(failed)
}

fn parse(text: &str, seed: u64) -> Result<Vec<Fault>, Vec<String>> {
    let script: Script = toml::from_str(text).map_err(|error| {
        let shown = error.to_string();
        vec![format!("  {}", shown.trim_end().replace('\n', "\n  "))]
    })?;
    if script.fault.is_empty() {
        return Err(vec!["  it has no fault".to_owned()]);
    }
    if script.fault.len() > FAULTS_MOST {
        return Err(vec![format!("  it has more than {FAULTS_MOST} faults")]);
    }
    let (mut faults, mut reasons) = (Vec::new(), Vec::new());
    for (index, line) in script.fault.iter().enumerate() {
        let number = index as u64 + 1;
        let words: Vec<String> = line.order.split_whitespace().map(str::to_owned).collect();
        let order = Order::parse(&words).map_err(|error| error.to_string());
        match (time(&line.at, seed, number), order) {
            (Ok(at), Ok(order)) => faults.push(Fault {
                number,
                at,
                words: line.order.clone(),
                order,
            }),
            (at, order) => {
                let wrong = [at.err(), order.err()].into_iter().flatten();
                reasons.extend(wrong.map(|why| format!("  fault {number}: {why}")));
            }
        }
    }
    faults.sort_by_key(|fault| fault.at);
    if reasons.is_empty() {
        Ok(faults)
    } else {
        Err(reasons)
    }
}

/// A time, or one between two.
fn time(text: &str, seed: u64, number: u64) -> Result<Nanos, String> {
    let one = |text: &str| {
        let parsed = text.trim().parse::<Nanos>();
        parsed.map_err(|error| format!("`at` is {error}"))
    };
    let Some((from, to)) = text.split_once("..") else {
        return one(text);
    };
    let (from, to) = (one(from)?, one(to)?);
    if to < from {
        return Err(format!("`at` ends before it begins: `{text}`"));
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

/// Whether the storage has every part that the faults are for, and they can be changed so.
pub(crate) fn check(
    path: &Path,
    faults: &[Fault],
    exports: &ExportTable,
    storage: &Storage,
) -> Result<(), ScriptError> {
    let reason = |fault: &Fault| {
        let went = match &fault.order {
            Order::Crash { vm: Some(vm), .. } => exports.machine(vm).map(drop),
            Order::Change(change) => {
                let checked = storage.check_change(change);
                checked.map_err(|error| error.to_string())
            }
            Order::Warm(volume) => exports.cached(volume, storage).map(drop),
            Order::Crash { vm: None, .. } | Order::Stats => Ok(()),
        };
        let why = went.err()?;
        Some((
            fault.number,
            format!("  fault {}: `{}`: {why}", fault.number, fault.words),
        ))
    };
    let mut reasons: Vec<(u64, String)> = faults.iter().filter_map(reason).collect();
    reasons.sort_unstable();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(ScriptError {
        path: path.display().to_string(),
        reasons: reasons.into_iter().map(|(_, reason)| reason).collect(),
    })
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
    fn everything_that_is_wrong_is_told() {
        let text =
            "[[fault]]\nat = 'soon'\ndo = 'explode'\n[[fault]]\nat = '9s..2s'\ndo = 'crash'\n";
        let reasons = parse(text, 1).unwrap_err();
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        assert!(reasons[0].starts_with("  fault 1: `at`") && reasons[1].contains("explode"));
        assert!(reasons[2].starts_with("  fault 2: `at` ends before"));
        assert!(parse("[[fault]]\nwhen = '1s'\n", 1).unwrap_err()[0].contains("when"));
        assert_eq!(parse("", 1).unwrap_err(), ["  it has no fault"]);
    }
}
