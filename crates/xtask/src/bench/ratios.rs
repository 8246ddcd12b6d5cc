//! Medians with their spread, held against what is to be reached.

use serde_json::{Value, json};

use super::Round;
use super::cases::{Case, Goal};
use super::sample::{Demo, Sample};

/// Smallest, median, largest.
#[derive(Clone, Copy)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub most: f64,
}

impl Spread {
    /// Of some values; zeroes without any.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
        let last = values.len().saturating_sub(1);
        Self {
            least: at(0),
            median: f64::midpoint(at(last / 2), at(last.div_ceil(2))),
            most: at(last),
        }
    }
}

/// What a goal looks at: what is printed of it, the values, the bound, and whether less is better.
struct Judged {
    what: &'static str,
    spread: Spread,
    /// What is held to the bound.
    figure: f64,
    bound: f64,
    less_is_better: bool,
    /// Divides the printed figures.
    unit: f64,
}

fn judge(goal: Goal, rounds: &[Round]) -> Option<Judged> {
    let ratio = |figure: fn(&Sample) -> f64| {
        let each = rounds.iter();
        Spread::of(
            each.map(|it| figure(&it.ours) / figure(&it.theirs).max(1e-9))
                .collect(),
        )
    };
    let own =
        |figure: fn(&Sample) -> f64| Spread::of(rounds.iter().map(|it| figure(&it.ours)).collect());
    let (what, spread, bound, less_is_better, unit) = match goal {
        Goal::Iops(bound) => ("IOPS, × fio", ratio(|it| it.iops), bound, false, 1.0),
        Goal::IopsAlone(bound) => ("IOPS, millions", own(|it| it.iops), bound, false, 1e6),
        Goal::IopsOfDemo(bound) => {
            let each = rounds
                .iter()
                .filter_map(|it| Some(it.ours.iops / it.demo?.iops));
            let ratios: Vec<f64> = each.collect();
            if ratios.is_empty() {
                return None;
            }
            ("IOPS, × t/io_uring", Spread::of(ratios), bound, false, 1.0)
        }
        Goal::User(bound) => ("user time, × fio", ratio(|it| it.user_ns), bound, true, 1.0),
        Goal::UserSampled(bound) => {
            let all = ratio(|it| it.sampled_user_ns.unwrap_or(it.user_ns));
            ("user time, × fio", all, bound, true, 1.0)
        }
        Goal::UserAlone(bound) => (
            "user time, ns an I/O",
            own(|it| it.user_ns),
            bound,
            true,
            1.0,
        ),
        Goal::Processor(bound) => {
            let all = ratio(|it| it.user_ns + it.system_ns);
            ("processor time, × fio", all, bound, true, 1.0)
        }
        Goal::Median(bound) => ("p50, × fio", ratio(|it| it.median_ns), bound, true, 1.0),
    };
    let figure = match goal {
        Goal::UserAlone(_) => user_of_all(rounds.iter().map(|it| (it.ours.iops, it.ours.user_ns))),
        _ => spread.median,
    };
    Some(Judged {
        what,
        spread,
        figure,
        bound,
        less_is_better,
        unit,
    })
}

/// User time an I/O over all rounds, of their IOPS and user times. The kernel tells user from system time by what its ticks
/// happen upon, 250 a second: a round of some seconds has a handful in user mode, and no round alone says much.
fn user_of_all(rounds: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (ios, time) = rounds.fold((0.0, 0.0), |(ios, time), (iops, user)| {
        (ios + iops, time + iops * user)
    });
    time / f64::max(ios, 1.0)
}

/// Prints a line a goal, and gives everything that was measured.
pub fn report(case: &Case, rounds: &[Round]) -> Value {
    println!("{}", case.name);
    let mut goals = Vec::new();
    for judged in case.goals.iter().filter_map(|goal| judge(*goal, rounds)) {
        let Spread {
            least,
            median,
            most,
        } = judged.spread;
        let figure = judged.figure;
        let reached = if judged.less_is_better {
            figure <= judged.bound
        } else {
            figure >= judged.bound
        };
        println!(
            "    {:24} {:8.2} ({:.2} to {:.2})   wanted {} {:.2}   {}",
            judged.what,
            figure / judged.unit,
            least / judged.unit,
            most / judged.unit,
            if judged.less_is_better { "≤" } else { "≥" },
            judged.bound / judged.unit,
            if reached { "reached" } else { "MISSED" },
        );
        goals.push(json!({
            "what": judged.what,
            "figure": figure, "median": median, "least": least, "most": most,
            "wanted": judged.bound,
            "reached": reached,
        }));
    }
    let demo_user: Vec<f64> = of_demo(rounds, |demo| demo.user_ns);
    let demo_iops = of_demo(rounds, |demo| demo.iops);
    if judges_user_time(case) && !demo_user.is_empty() {
        let spread = Spread::of(demo_user.clone());
        let figure = user_of_all(demo_iops.iter().copied().zip(demo_user.iter().copied()));
        println!(
            "    {:24} {:8.2} ({:.2} to {:.2})   for comparison; it keeps no latencies",
            "that of t/io_uring", figure, spread.least, spread.most,
        );
    }
    let program = |samples: &dyn Fn(&Round) -> Sample| -> Value {
        let all: Vec<Sample> = rounds.iter().map(samples).collect();
        let list = |figure: fn(&Sample) -> f64| all.iter().map(figure).collect::<Vec<f64>>();
        json!({
            "iops": list(|it| it.iops),
            "user_ns": list(|it| it.user_ns),
            "sampled_user_ns": all.iter().map(|it| it.sampled_user_ns).collect::<Vec<_>>(),
            "system_ns": list(|it| it.system_ns),
            "p50_ns": list(|it| it.median_ns),
        })
    };
    json!({
        "case": case.name,
        "arguments": case.arguments,
        "goals": goals,
        "fathom": program(&|round| round.ours),
        "fio": program(&|round| round.theirs),
        "t_io_uring_iops": demo_iops,
        "t_io_uring_user_ns": demo_user,
    })
}

fn of_demo(rounds: &[Round], figure: fn(&Demo) -> f64) -> Vec<f64> {
    let demos = rounds.iter().filter_map(|round| round.demo);
    demos.map(|demo| figure(&demo)).collect()
}

/// Whether a case is held to a user time of its own.
fn judges_user_time(case: &Case) -> bool {
    let of_user = |goal: &Goal| matches!(goal, Goal::UserAlone(_));
    case.goals.iter().any(of_user)
}
