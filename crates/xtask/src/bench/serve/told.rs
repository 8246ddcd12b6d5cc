//! What a row came to: each party's figures, what was wanted, the verdict, and which rounds are in doubt.

use serde_json::{Value, json};

use super::super::ratios::Spread;
use super::job::Sample;
use super::rows::{Bound, Figure, Goal, Row};
use super::witness::Disturbance;

/// One line of the table at the end.
pub struct Line {
    row: &'static str,
    what: String,
    found: String,
    wanted: String,
    verdict: String,
}

impl Figure {
    fn of(self, sample: &Sample) -> f64 {
        let stream = |index: usize| sample.streams.get(index).copied().unwrap_or_default();
        let [p1, p50, p99] = stream(0).percentiles_ns;
        match self {
            Self::Iops(index) => stream(index).iops,
            Self::Bandwidth => stream(0).bytes_per_sec,
            Self::Mean => stream(0).mean_ns,
            Self::P1 => p1,
            Self::P50 => p50,
            Self::P99 => p99,
            Self::Processor => sample.processor_ns,
        }
    }

    fn name(self, row: &Row) -> String {
        let plain = match self {
            Self::Iops(index) => match row.job.streams.get(index) {
                Some(stream) if !stream.export.is_empty() => {
                    return format!("IOPS of {}", stream.export);
                }
                _ => "IOPS",
            },
            Self::Bandwidth => "MiB/s",
            Self::Mean => "mean, µs",
            Self::P1 => "p1, µs",
            Self::P50 => "p50, µs",
            Self::P99 => "p99, µs",
            Self::Processor => "server CPU an I/O, µs",
        };
        plain.to_owned()
    }

    /// What a printed figure is divided by.
    fn unit(self) -> f64 {
        match self {
            Self::Iops(_) => 1.0,
            Self::Bandwidth => f64::from(1 << 20),
            _ => 1e3,
        }
    }

    fn shown(self, value: f64) -> String {
        let value = value / self.unit();
        if value >= 10_000.0 {
            grouped(value)
        } else if value >= 1000.0 {
            format!("{value:.1}")
        } else {
            format!("{value:.2}")
        }
    }
}

/// A whole number with commas.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// A goal's values in all rounds, the median held against the bound.
struct Judged {
    what: String,
    values: Vec<f64>,
    spread: Spread,
    /// How a value is printed.
    shown: Box<dyn Fn(f64) -> String>,
    wanted: String,
    met: bool,
}

fn judge(row: &Row, goal: &Goal, rounds: &[Vec<Sample>]) -> Judged {
    let Goal {
        party,
        figure,
        bound,
    } = *goal;
    let own = |samples: &Vec<Sample>| figure.of(&samples[party]);
    let ratio = |samples: &Vec<Sample>| own(samples) / figure.of(&samples[1]).max(1e-9);
    let values: Vec<f64> = match bound {
        Bound::TimesAtLeast(_) | Bound::TimesAtMost(_) => rounds.iter().map(ratio).collect(),
        Bound::AtLeast(_) | Bound::Within(..) => rounds.iter().map(own).collect(),
    };
    let spread = Spread::of(values.clone());
    let name = figure.name(row);
    let times = || {
        let name = name.split(',').next().unwrap_or_default();
        format!("{name}, × {}", row.parties[1].name)
    };
    let (what, wanted, met) = match bound {
        Bound::TimesAtLeast(bound) => (times(), format!("≥ {bound:.2}"), spread.median >= bound),
        Bound::TimesAtMost(bound) => (times(), format!("≤ {bound:.2}"), spread.median <= bound),
        Bound::AtLeast(bound) => (
            name,
            format!("≥ {}", figure.shown(bound)),
            spread.median >= bound,
        ),
        Bound::Within(ideal, margin) => (
            name,
            format!("{} ± {}", figure.shown(ideal), figure.shown(margin)),
            (spread.median - ideal).abs() <= margin,
        ),
    };
    let what = match party {
        0 => what,
        other => format!("{what} {}", row.parties[other].name),
    };
    let ratio = matches!(bound, Bound::TimesAtLeast(_) | Bound::TimesAtMost(_));
    Judged {
        what,
        values,
        spread,
        shown: Box::new(move |value| {
            if ratio {
                format!("{value:.3}")
            } else {
                figure.shown(value)
            }
        }),
        wanted,
        met,
    }
}

/// Prints medians of one party, and the spread of its rate.
fn print_party(row: &Row, index: usize, rounds: &[Vec<Sample>]) {
    let spread = |figure: Figure| {
        Spread::of(
            rounds
                .iter()
                .map(|round| figure.of(&round[index]))
                .collect(),
        )
    };
    let median = |figure: Figure| figure.shown(spread(figure).median);
    let rates = (0..row.job.streams.len()).map(Figure::Iops).map(|figure| {
        let Spread { least, most, .. } = spread(figure);
        let [least, most] = [least, most].map(|value| figure.shown(value));
        format!(
            "{} {} ({least} to {most})",
            figure.name(row),
            median(figure)
        )
    });
    let mut shown: Vec<String> = rates.collect();
    // Latencies of several streams at once belong to none.
    if spread(Figure::Processor).most > 0.0 {
        if row.job.streams.len() == 1 {
            shown.push(format!("{} MiB/s", median(Figure::Bandwidth)));
            let latencies = [Figure::Mean, Figure::P1, Figure::P50, Figure::P99].map(median);
            let latencies = latencies.join(" / ");
            shown.push(format!("mean / p1 / p50 / p99 {latencies} µs"));
        }
        let processor = median(Figure::Processor);
        shown.push(format!("server CPU {processor} µs an I/O"));
    }
    println!("    {:20} {}", row.parties[index].name, shown.join("; "));
}

/// Prints which runs are in doubt; how many rounds that are.
fn print_doubts(row: &Row, rounds: &[Vec<Sample>]) -> usize {
    let mut doubtful = 0;
    for (number, round) in rounds.iter().enumerate() {
        let runs = round.iter().zip(row.parties);
        let runs = runs.filter_map(|(sample, party)| Some((sample.machine?, party.name)));
        let doubts: Vec<_> = runs.filter(|(machine, _)| machine.doubtful()).collect();
        doubtful += usize::from(!doubts.is_empty());
        for (machine, name) in doubts {
            println!(
                "    doubtful: round {}, {name}: {}",
                number + 1,
                machine.shown()
            );
        }
    }
    let of_all = |share: fn(&Disturbance) -> f64| {
        let machines = rounds.iter().flatten().filter_map(|it| it.machine.as_ref());
        Spread::of(machines.map(|machine| share(machine) * 100.0).collect())
    };
    let missed = of_all(|it| it.missed);
    let others = of_all(|it| it.others);
    println!(
        "    machine away {:.2} % of the time (at most {:.2} %), others used {:.2} % (at most {:.2} %); \
         {doubtful} of {} rounds doubtful",
        missed.median,
        missed.most,
        others.median,
        others.most,
        rounds.len()
    );
    doubtful
}

/// Prints a row, and gives everything that was measured and its lines for the table.
pub fn report(row: &Row, rounds: &[Vec<Sample>]) -> (Value, Vec<Line>) {
    println!("{}", row.name);
    for index in 0..row.parties.len() {
        print_party(row, index, rounds);
    }
    let doubtful = print_doubts(row, rounds);
    let (mut lines, mut goals) = (Vec::new(), Vec::new());
    for judged in row.goals.iter().map(|goal| judge(row, goal, rounds)) {
        let Spread {
            least,
            median,
            most,
        } = judged.spread;
        let [least, middle, most] = [least, median, most].map(|value| (judged.shown)(value));
        let verdict = if judged.met { "met" } else { "MISSED" };
        let verdict = match doubtful {
            0 => verdict.to_owned(),
            _ => format!("{verdict} ({doubtful} of {} rounds doubtful)", rounds.len()),
        };
        let found = format!("{middle} ({least} to {most})");
        println!(
            "    {:34} {found:32} wanted {:20} {verdict}",
            judged.what, judged.wanted
        );
        goals.push(json!({
            "what": judged.what,
            "median": median,
            "rounds": judged.values,
            "wanted": judged.wanted,
            "met": judged.met,
        }));
        lines.push(Line {
            row: row.name,
            what: judged.what,
            found,
            wanted: judged.wanted,
            verdict,
        });
    }
    let parties = row.parties.iter().enumerate().map(|(index, party)| {
        let rounds: Vec<Value> = rounds.iter().map(|round| round[index].json()).collect();
        json!({"name": party.name, "rounds": rounds})
    });
    let document = json!({
        "case": row.name,
        "doubtful_rounds": doubtful,
        "goals": goals,
        "parties": parties.collect::<Vec<_>>(),
    });
    (document, lines)
}

/// Prints all verdicts as a table of Markdown.
pub fn table(lines: &[Line]) {
    println!("\n| work | figure | median (least to most) | wanted | verdict |");
    println!("|---|---|---|---|---|");
    for line in lines {
        println!(
            "| {} | {} | {} | {} | {} |",
            line.row, line.what, line.found, line.wanted, line.verdict
        );
    }
    println!();
}

#[cfg(test)]
mod tests {
    use super::super::job::Reached;
    use super::super::rows::ROWS;
    use super::*;

    /// A sample of one stream.
    fn sample(iops: f64, processor_ns: f64) -> Sample {
        let reached = Reached {
            iops,
            ..Reached::default()
        };
        Sample {
            streams: vec![reached],
            processor_ns,
            machine: None,
        }
    }

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!(grouped(123_456.4), "123,456");
        assert_eq!(grouped(12_345_678.0), "12,345,678");
        assert_eq!(grouped(100.0), "100");
    }

    #[test]
    fn a_ratio_is_the_median_of_those_of_neighbours() {
        let row = &ROWS[0];
        // The second round was slow for both; a ratio of medians would be 1.2.
        let rounds = [(120.0, 100.0), (22.0, 20.0), (150.0, 150.0)];
        let rounds = rounds.map(|(ours, theirs)| vec![sample(ours, 67.0), sample(theirs, 100.0)]);
        let judged = judge(row, &row.goals[0], &rounds);
        assert_eq!(judged.what, "IOPS, × nbdkit");
        assert!((judged.spread.median - 1.1).abs() < 1e-12);
        assert!(judged.met);
        assert!(judge(row, &row.goals[1], &rounds).met);
        let slower = [vec![sample(109.0, 68.0), sample(100.0, 100.0)]];
        assert!(!judge(row, &row.goals[0], &slower).met);
        assert!(!judge(row, &row.goals[1], &slower).met);
    }

    #[test]
    fn a_rate_is_missed_on_either_side() {
        let capped = ROWS.iter().find(|row| row.name.contains("5,000 IOPS"));
        let capped = capped.expect("the table has a capped device");
        let met = |iops| judge(capped, &capped.goals[0], &[vec![sample(iops, 1.0)]]).met;
        assert_eq!(
            [4989.0, 4991.0, 5009.0, 5011.0].map(met),
            [false, true, true, false]
        );
    }

    #[test]
    fn the_table_names_what_it_has() {
        for row in &ROWS {
            assert!(row.goals.iter().all(|goal| goal.party < row.parties.len()));
            // Files bear the names of parties.
            assert!(row.parties.iter().all(|party| !party.name.contains(' ')));
            assert_eq!(
                ROWS.iter().filter(|other| other.name == row.name).count(),
                1
            );
        }
    }
}
