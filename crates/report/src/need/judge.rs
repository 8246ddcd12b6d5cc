//! What passes: the rules, a line for each figure.

use fathom_profile::{Level, Period, Profile, Volume};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use super::found::{Found, Way};
use super::{Line, Outcome};
use crate::format::{mebibytes, rate, short_time};

/// Share of a rate that must come: a limit that is just enough lets the last I/Os of a stage wait a little.
const ENOUGH: f64 = 0.99;
/// What stands for no slower than seen: percentiles on both sides are those of histograms.
const SAME_TIME: f64 = 1.01;
/// How far sizes may be from those of the need, as a share of them.
const SAME_SIZE: f64 = 0.01;
/// How far the share of reads may be from the need's, in hundredths of the whole.
const SAME_MIX: f64 = 0.02;
/// The same in standard deviations of a share that is drawn I/O by I/O: of a few hundred I/Os chance makes more than two in a
/// hundred.
const DRAWN_MIX: f64 = 3.0;

/// The figures of one volume and period.
pub(super) fn lines(
    profile: &Profile,
    (volume, period): (&Volume, &Period),
    level: Level,
    found: &Found<'_>,
) -> Vec<Line> {
    let grown = |figure: u64| profile.growth.of(figure) as f64;
    let iops = period.iops.at(level).map(Iops::get).map(grown);
    let bytes = period.throughput.at(level).map(BytesPerSec::get).map(grown);
    let asked = found.asked();
    let asked_bytes = asked.zip(found.size()).map(|(ios, size)| ios * size);
    let nothing_needed = iops.is_none() && bytes.is_none();
    let mut lines = vec![
        of_rate("I/Os a second", iops, found.iops(), asked, rate),
        of_rate("MiB/s", bytes, found.bandwidth(), asked_bytes, mebibytes),
        of_reads(period, level, found),
        of_size(period, level, found),
    ];
    if nothing_needed {
        lines[0].outcome = Outcome::Open("neither rate is in the profile".to_owned());
    }
    for at in Level::ALL {
        lines.extend(of_latency(volume, period, at, found));
    }
    lines.push(of_depth(period, level, found));
    lines.extend(of_failures(found));
    lines
}

fn unsaid() -> Outcome {
    Outcome::Unknown("not in the profile".to_owned())
}

fn or_dash(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "-".to_owned())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn of_rate(
    figure: &str,
    need: Option<f64>,
    found: f64,
    asked: Option<f64>,
    words: fn(f64) -> String,
) -> Line {
    let outcome = match (need, asked) {
        (None, _) => unsaid(),
        (Some(need), _) if found >= need * ENOUGH => Outcome::Pass,
        // What was asked for came; of more nothing is known.
        (Some(need), Some(asked)) if asked < need * ENOUGH && found >= asked * ENOUGH => {
            Outcome::Open(format!("the load asked for {} alone", words(asked)))
        }
        (Some(need), _) => Outcome::Fail(format!("{} of the need", percent(found / need))),
    };
    Line {
        figure: figure.to_owned(),
        need: or_dash(need.map(words)),
        found: words(found),
        outcome,
    }
}

fn of_reads(period: &Period, level: Level, found: &Found<'_>) -> Line {
    let need = period.reads.at(level);
    let need = need.map(|share| f64::from(share.basis_points()) / 10_000.0);
    let share = found.reads();
    let outcome = match need.zip(share) {
        Some((need, share)) if (need - share).abs() <= same_mix(need, found.ios()) => Outcome::Pass,
        Some(_) => Outcome::Open("the load was of another mix".to_owned()),
        None if need.is_none() => unsaid(),
        None => Outcome::Open("there was no I/O".to_owned()),
    };
    Line {
        figure: "reads".to_owned(),
        need: or_dash(need.map(percent)),
        found: or_dash(share.map(percent)),
        outcome,
    }
}

/// How far the share of reads of so many I/Os may be from the need's.
fn same_mix(need: f64, ios: u64) -> f64 {
    let deviation = (need * (1.0 - need) / ios.max(1) as f64).sqrt();
    SAME_MIX.max(DRAWN_MIX * deviation)
}

/// Where the profile's size contradicts its rates, the size is that of a load with both, as plans take it.
fn of_size(period: &Period, level: Level, found: &Found<'_>) -> Line {
    let mean = period.mean_size(level);
    let need = mean.or(period.size.at(level)).map(Bytes::get);
    let size = found.size();
    let outcome = match need.zip(size) {
        Some((need, size)) if (need as f64 - size).abs() <= need as f64 * SAME_SIZE => {
            Outcome::Pass
        }
        Some(_) => Outcome::Open("the load had other sizes".to_owned()),
        None if need.is_none() => unsaid(),
        None => Outcome::Open("there was no I/O".to_owned()),
    };
    let words = |bytes: f64| Bytes::new(bytes.round() as u64).to_string();
    Line {
        figure: "I/O size, mean".to_owned(),
        need: or_dash(need.map(|bytes| words(bytes as f64))),
        found: or_dash(size.map(words)),
        outcome,
    }
}

/// Where there is a goal, each way must keep below it; otherwise all I/Os stand beside what was seen.
fn of_latency(volume: &Volume, period: &Period, at: Level, found: &Found<'_>) -> Vec<Line> {
    let seen = period.latency.at(at).map(Nanos::get);
    let Some(goal) = volume.latency_goal.at(at).map(Nanos::get) else {
        let time = found.time(None, at);
        let outcome = match seen.zip(time) {
            Some((seen, time)) if time as f64 <= seen as f64 * SAME_TIME => Outcome::Pass,
            Some((seen, time)) => Outcome::Unknown(format!(
                "no goal is set; {:.1} times what was seen",
                time as f64 / seen.max(1) as f64
            )),
            None if seen.is_none() => unsaid(),
            None => Outcome::Unknown("there was no I/O".to_owned()),
        };
        return vec![Line {
            figure: format!("latency {at}"),
            need: or_dash(seen.map(|seen| format!("seen {}", short_time(seen)))),
            found: or_dash(time.map(short_time)),
            outcome,
        }];
    };
    let ways = Way::ALL.into_iter().filter(|way| found.has(*way));
    let mut lines: Vec<Line> = ways.map(|way| of_goal(goal, at, way, found)).collect();
    if lines.is_empty() {
        lines.push(Line {
            figure: format!("latency {at}"),
            need: format!("to {}", short_time(goal)),
            found: or_dash(None),
            outcome: Outcome::Open("there was no I/O".to_owned()),
        });
    }
    lines
}

fn of_goal(goal: u64, at: Level, way: Way, found: &Found<'_>) -> Line {
    let time = found.time(Some(way), at);
    Line {
        figure: format!("latency {at}, {}", way.name()),
        need: format!("to {}", short_time(goal)),
        found: or_dash(time.map(short_time)),
        outcome: match time {
            Some(time) if time <= goal => Outcome::Pass,
            Some(time) => Outcome::Fail(format!(
                "{:.2} times the goal",
                time as f64 / goal.max(1) as f64
            )),
            None => Outcome::Open("its histogram cannot be read".to_owned()),
        },
    }
}

/// An application that was seen to keep as many I/Os outstanding as the rate takes here can drive it as it is.
fn of_depth(period: &Period, level: Level, found: &Found<'_>) -> Line {
    let seen = period.queue_depth.at(level);
    let depth = found.depth();
    let outcome = match seen {
        None => unsaid(),
        Some(seen) if depth <= seen as f64 => Outcome::Pass,
        Some(_) => {
            Outcome::Unknown("the application must keep more outstanding than seen".to_owned())
        }
    };
    Line {
        figure: "I/Os outstanding".to_owned(),
        need: or_dash(seen.map(|seen| format!("seen {seen}"))),
        found: format!("{depth:.1}"),
        outcome,
    }
}

fn of_failures(found: &Found<'_>) -> Option<Line> {
    let errors = found.errors();
    (errors > 0).then(|| Line {
        figure: "failed I/Os".to_owned(),
        need: "0".to_owned(),
        found: rate(errors as f64),
        outcome: Outcome::Fail("I/Os failed".to_owned()),
    })
}
