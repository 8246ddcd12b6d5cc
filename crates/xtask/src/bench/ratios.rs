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

fn judge(goal: Goal, rounds: &[Round], best: Option<usize>) -> Option<Judged> {
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
            let best = best?;
            let each = rounds.iter().filter_map(|it| it.beside_demo.as_ref());
            let ratios = each.map(|it| it.ours.iops / it.demos[best].iops).collect();
            ("IOPS, × t/io_uring", Spread::of(ratios), bound, false, 1.0)
        }
        Goal::User(bound) => ("user time, × fio", ratio(|it| it.user_ns), bound, true, 1.0),
        Goal::UserSampled(bound) => (
            "user time, × fio",
            ratio(Sample::finest_user_ns),
            bound,
            true,
            1.0,
        ),
        Goal::OutsideCalls(bound) => ("outside calls, ns an I/O", own(outside), bound, true, 1.0),
        Goal::OutsideOfFio(bound) => {
            let each = rounds.iter();
            let ratios = each.map(|it| outside(&it.ours) / it.theirs.user_ns.max(1e-9));
            let what = "outside, × fio's user";
            (what, Spread::of(ratios.collect()), bound, true, 1.0)
        }
        Goal::Processor(bound) => {
            let all = ratio(|it| it.user_ns + it.system_ns);
            ("processor time, × fio", all, bound, true, 1.0)
        }
        Goal::Median(bound) => ("p50, × fio", ratio(|it| it.median_ns), bound, true, 1.0),
    };
    let figure = match goal {
        Goal::OutsideCalls(_) => outside_of_all(rounds),
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

/// Time of an I/O outside system calls; one that was not told reaches no bound.
fn outside(sample: &Sample) -> f64 {
    sample.outside_ns.unwrap_or(f64::INFINITY)
}

/// The same over all rounds together.
fn outside_of_all(rounds: &[Round]) -> f64 {
    let all = rounds.iter().map(|it| it.ours);
    let (ios, time) = all.fold((0.0, 0.0), |(ios, time), ours| {
        (ios + ours.iops, time + ours.iops * outside(&ours))
    });
    time / f64::max(ios, 1.0)
}

/// Prints a line a goal, and gives everything that was measured.
pub fn report(case: &Case, rounds: &[Round]) -> Value {
    println!("{}", case.name);
    let mut goals = Vec::new();
    let best = best_of_demo(case, rounds);
    let all = case.goals.iter();
    for judged in all.filter_map(|goal| judge(*goal, rounds, best)) {
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
    let demo = best.map(|set| OfDemo::new(case, rounds, set));
    let program = |samples: &dyn Fn(&Round) -> Option<Sample>| -> Value {
        let all: Vec<Sample> = rounds.iter().filter_map(samples).collect();
        let list = |figure: fn(&Sample) -> f64| all.iter().map(figure).collect::<Vec<f64>>();
        json!({
            "iops": list(|it| it.iops),
            "user_ns": list(|it| it.user_ns),
            "sampled_user_ns": all.iter().map(|it| it.sampled_user_ns).collect::<Vec<_>>(),
            "outside_ns": all.iter().map(|it| it.outside_ns).collect::<Vec<_>>(),
            "system_ns": list(|it| it.system_ns),
            "p50_ns": list(|it| it.median_ns),
        })
    };
    json!({
        "case": case.name,
        "arguments": case.arguments,
        "goals": goals,
        "fathom": program(&|round| Some(round.ours)),
        "fio": program(&|round| Some(round.theirs)),
        "fathom_norandommap": best.map(|_| program(&|round| Some(round.beside_demo.as_ref()?.ours))),
        "t_io_uring": demo.map(OfDemo::all),
    })
}

/// What fio's speed demo reached, by the arguments that it was fastest with.
struct OfDemo<'a> {
    arguments: &'a [&'a str],
    iops: Vec<f64>,
    user_ns: Vec<f64>,
    /// IOPS by others.
    otherwise: Vec<Value>,
}

impl<'a> OfDemo<'a> {
    fn new(case: &'a Case, rounds: &[Round], best: usize) -> Self {
        let each = |set: usize, figure: fn(&Demo) -> f64| -> Vec<f64> {
            let demos = rounds.iter().filter_map(|it| it.beside_demo.as_ref());
            demos.map(|it| figure(&it.demos[set])).collect()
        };
        let others = (0..case.demo.len()).filter(|set| *set != best);
        let iops = |set: usize| each(set, |it| it.iops);
        Self {
            arguments: case.demo[best],
            iops: iops(best),
            user_ns: each(best, |it| it.user_ns),
            otherwise: others
                .map(|set| json!({ "arguments": case.demo[set], "iops": iops(set) }))
                .collect(),
        }
    }

    fn all(self) -> Value {
        json!({
            "arguments": self.arguments,
            "iops": self.iops,
            "user_ns": self.user_ns,
            "otherwise": self.otherwise,
        })
    }
}

/// The arguments that the demo was fastest with; none where it took no part.
fn best_of_demo(case: &Case, rounds: &[Round]) -> Option<usize> {
    let median = |set: usize| {
        let demos = rounds.iter().filter_map(|it| it.beside_demo.as_ref());
        Spread::of(demos.map(|it| it.demos[set].iops).collect()).median
    };
    let sets = (0..case.demo.len()).filter(|_| rounds.iter().all(|it| it.beside_demo.is_some()));
    sets.max_by(|one, other| median(*one).total_cmp(&median(*other)))
}
