//! What a reader must know of figures of Azure Monitor: what an average hides, what was not told, what a limit cut off.

use std::collections::BTreeSet;

use fathom_units::{Nanos, group_digits};

use super::super::coarse::EVENED_OUT;
use super::super::devices::list;
use super::ask::{Ask, moment};
use super::gather::{Gathered, HELD_BACK};
use super::metrics::{Figure, Of};

/// Where there is more than is kept.
pub(super) const LESS: &str =
    "ask for a part of the time, for longer intervals (`--interval PT5M`), or for fewer disks";
/// How many series are answered where the command says nothing else.
const ANSWERED: usize = 10;
/// A highest value that is so much above the highest average is told.
const ABOVE: f64 = 1.25;

/// Adds all of them. `begins` are those of the intervals with figures.
pub(super) fn tell(
    gathered: &Gathered,
    interval: Nanos,
    begins: &BTreeSet<i64>,
    span: Option<(i64, i64)>,
    doubts: &mut Vec<String>,
) {
    if gathered.devices.is_empty() {
        return;
    }
    doubts.push(averages(gathered, interval, span));
    doubts.extend(highest(gathered));
    doubts.extend(limits(gathered));
    doubts.extend(ten(gathered));
    doubts.extend(gaps(begins, interval));
    doubts.extend(values(gathered));
    if gathered.devices.keys().any(|key| key.of == Of::Disks) {
        let doubt = "`disks` are all disks of the machine together, of which no disk is told apart";
        doubts.push(doubt.to_owned());
    }
    for (name, aggregation) in &gathered.lacking {
        doubts.push(format!(
            "`{name}` is told without its {aggregation}, and left out: `--aggregation {aggregation}` asks for it"
        ));
    }
    for failed in &gathered.failed {
        doubts.push(format!("Azure has no figures of {failed}"));
    }
    if !gathered.unused.is_empty() {
        let names: Vec<String> = gathered.unused.iter().cloned().collect();
        doubts.push(format!(
            "left out are metrics that tell nothing here: {}",
            list(&names)
        ));
    }
}

/// What an interval's average hides, and how to ask for less.
fn averages(gathered: &Gathered, interval: Nanos, span: Option<(i64, i64)>) -> String {
    let total = if gathered.by_total {
        ", bytes the `Total` of it"
    } else {
        ""
    };
    let told =
        format!("each figure is the `Average` of an interval of {interval}{total}: {EVENED_OUT}");
    let of = gathered
        .devices
        .keys()
        .next()
        .map_or(Of::DataDisk, |key| key.of);
    let finest = Nanos::from_secs(if of == Of::Volume { 300 } else { 60 });
    if interval <= finest {
        return format!(
            "{told}; Azure has none that are finer, and a log of the machine has (`iostat -x -t 1`, PerfMon)"
        );
    }
    let ask = Ask {
        resource: gathered
            .devices
            .values()
            .find_map(|rows| rows.resource.as_ref()),
        of,
        span,
    };
    format!("{told}; {finest} is told by {}", ask.command())
}

/// Where the highest value within an interval is known, and is well above what the averages tell.
fn highest(gathered: &Gathered) -> Option<String> {
    let mut told = Vec::new();
    for (key, rows) in &gathered.devices {
        for ((average, maximum), what) in rows.highest.iter().zip(["reads", "writes"]) {
            if *maximum > average * ABOVE && *maximum >= 1.0 {
                let [maximum, average] =
                    [maximum, average].map(|it| group_digits(it.round() as u64));
                told.push(format!(
                    "`{}` up to {maximum} {what} a second ({average})",
                    key.name
                ));
            }
        }
    }
    if told.is_empty() {
        return None;
    }
    Some(format!(
        "within an interval more was done than the highest average, which stands in brackets, by the `Maximum` of what was sampled in it: {}; the profile holds the averages",
        told.join(", ")
    ))
}

/// Where a limit was reached, demand is more than what is told.
fn limits(gathered: &Gathered) -> Vec<String> {
    let over = gathered
        .limits
        .iter()
        .filter(|(_, (_, used))| used.over > 0);
    let told = over.map(|((device, metric), (figure, used))| {
        let whose = if device.is_empty() {
            "the machine".to_owned()
        } else {
            format!("`{device}`")
        };
        let often = format!(
            "in {} of {} intervals, first at {} (`{metric}`)",
            group_digits(used.over as u64),
            group_digits(used.all as u64),
            moment(used.first)
        );
        match figure {
            Figure::Credits(what) => format!(
                "{whose} had {HELD_BACK} % or more of its {what} used up {often}: then it does what it does without them, and more may have been wanted than is told"
            ),
            Figure::Limit(what) => format!(
                "{whose} was at {HELD_BACK} % or more of its limit of {what} {often}: what was wanted beyond it is in no figure, so that the need is higher than the profile says"
            ),
            _ => String::new(),
        }
    });
    told.collect()
}

/// Ten series are answered where `--top` does not say more.
fn ten(gathered: &Gathered) -> Option<String> {
    let split = |of: Of| {
        gathered
            .devices
            .keys()
            .filter(|key| key.of == of && !key.is_mean)
            .count()
    };
    (split(Of::DataDisk) == ANSWERED).then(|| {
        format!(
            "{ANSWERED} data disks are told, and no more are answered unless `--top 64` stands beside `--filter`: the machine may have others"
        )
    })
}

/// Intervals between the first and the last of which nothing is told.
fn gaps(begins: &BTreeSet<i64>, interval: Nanos) -> Option<String> {
    let length = i64::try_from(interval.get()).ok().filter(|it| *it > 0)?;
    let (mut missing, mut first) = (0_u64, None);
    for (one, next) in begins.iter().zip(begins.iter().skip(1)) {
        let between = next.saturating_sub(*one) / length - 1;
        if between > 0 {
            missing += between.unsigned_abs();
            first.get_or_insert(one.saturating_add(length));
        }
    }
    let first = moment(first?);
    Some(match missing {
        1 => format!(
            "there is no value of the interval at {first}: nothing is known of it, which is not zero"
        ),
        _ => format!(
            "there is no value of {} intervals, the first at {first}: nothing is known of them, which is not zero",
            group_digits(missing)
        ),
    })
}

/// Values that are none, or odd.
fn values(gathered: &Gathered) -> Vec<String> {
    let count = |many: usize, one: &str, more: &str| match many {
        0 => None,
        1 => Some(format!("1 value {one}")),
        _ => Some(format!("{} values {more}", group_digits(many as u64))),
    };
    let found = [
        count(
            gathered.nulls,
            "is `null` or empty: it is left out, and is not zero",
            "are `null` or empty: they are left out, and are not zero",
        ),
        count(
            gathered.negative,
            "is below 0: it is left out",
            "are below 0: they are left out",
        ),
        count(
            gathered.twice,
            "is told twice: it counts once",
            "are told twice: they count once",
        ),
        count(
            gathered.changed,
            "is told twice and differs: the last counts",
            "are told twice and differ: the last counts",
        ),
    ];
    found.into_iter().flatten().collect()
}
