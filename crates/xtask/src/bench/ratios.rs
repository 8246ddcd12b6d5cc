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
            let each = rounds.iter();
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
        Goal::UserAlone(bound) => (
            "user time, ns an I/O",
            own(Sample::finest_user_ns),
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
        Goal::UserAlone(_) => user_of_all(
            rounds
                .iter()
                .map(|it| (it.ours.iops, it.ours.finest_user_ns())),
        ),
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

/// User time an I/O over all rounds, of their IOPS and user times. Where it is not sampled, the kernel tells user from system
/// time by what its ticks happen upon, 250 a second: a round has a handful in user mode, and none alone says much.
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
    if let Some(demo) = &demo
        && judges_user_time(case)
    {
        demo.print_user_time();
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
            rounds.iter().map(|it| figure(&it.demos[set])).collect()
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

    fn print_user_time(&self) {
        let spread = Spread::of(self.user_ns.clone());
        let each = self.iops.iter().copied().zip(self.user_ns.iter().copied());
        println!(
            "    {:24} {:8.2} ({:.2} to {:.2})   for comparison; it keeps no latencies",
            "that of t/io_uring",
            user_of_all(each),
            spread.least,
            spread.most,
        );
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
        let iops = rounds.iter().filter_map(|it| Some(it.demos.get(set)?.iops));
        Spread::of(iops.collect()).median
    };
    let sets = (0..case.demo.len()).filter(|_| rounds.iter().all(|it| !it.demos.is_empty()));
    sets.max_by(|one, other| median(*one).total_cmp(&median(*other)))
}

/// Whether a case is held to a user time of its own.
fn judges_user_time(case: &Case) -> bool {
    let of_user = |goal: &Goal| matches!(goal, Goal::UserAlone(_));
    case.goals.iter().any(of_user)
}
