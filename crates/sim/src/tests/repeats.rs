//! Repeats of a stage: the same I/O, at times of its own, and other chances.

use fathom_record::{Event, EventSink, WorkerStats};
use fathom_workload::generator::{ArrivalSchedule, StreamKey};

use super::*;

/// Mean latency of each repeat, in ns.
fn means(seed: u64, repeats: u32, lines: &str) -> Vec<f64> {
    let results = repeated(seed, repeats, lines);
    results.iter().map(mean_latency).collect()
}

fn repeated(seed: u64, repeats: u32, lines: &str) -> Vec<StageResult> {
    let work = read_by_two(seed, repeats, Arrival::Closed);
    run(&work, &device(lines)).results
}

fn device(lines: &str) -> Design {
    design(&format!(
        "[[device]]\nname = \"d\"\nmount = \"/d\"\nsize = \"1TiB\"\n{lines}\n"
    ))
}

/// Two workers that read for a second.
fn read_by_two(seed: u64, repeats: u32, arrival: Arrival) -> Workload {
    let limits = Limits {
        runtime: Some(Nanos::from_secs(1)),
        ..Limits::default()
    };
    let one = Job {
        limits,
        workers: 2,
        targets: vec![target("/d/f", Bytes::gib(1))],
        arrival,
        ..job("x", "/d", Mix::READ, Bytes::kib(4), 4)
    };
    let mut work = workload(vec![one]);
    work.seed = seed;
    work.stages[0].repeats = repeats;
    work
}

/// At 500 a second by each worker.
fn drawn(poisson: Poisson) -> Arrival {
    Arrival::Open {
        rate: Pacing::Iops(Iops::new(500)),
        poisson,
        when_full: WhenFull::Queue,
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// The I/Os of each stage and worker: when each was issued, in ns from the start, and where it went.
#[derive(Default)]
struct Issued(Vec<Vec<Vec<(u64, u64)>>>);

impl EventSink for Issued {
    fn event(&mut self, event: &Event<'_>) {
        let Event::IoLog {
            index,
            worker,
            chunk,
            ..
        } = event
        else {
            return;
        };
        let stages = (*index + 1).max(self.0.len());
        self.0.resize(stages, vec![Vec::new(); 2]);
        let ios = chunk.ios.iter();
        self.0[*index][*worker as usize].extend(ios.map(|io| (io.issued.get(), io.offset)));
    }
}

fn issued(repeats: u32, arrival: Arrival) -> Vec<Vec<Vec<(u64, u64)>>> {
    let mut work = read_by_two(5, repeats, arrival);
    work.stages[0].jobs[0].depth = 64;
    work.stages[0].jobs[0].features.io_log.each = true;
    let mut sink = Issued::default();
    predict(
        &work,
        &device("latency = { median = \"100us\", p99 = \"100us\" }"),
        &mut sink,
        &|| false,
    )
    .unwrap();
    sink.0
}

/// What people are told that stages are called.
#[derive(Default)]
struct Words(Vec<String>);

impl EventSink for Words {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::StageStarted { words, .. } = event {
            self.0.push((*words).to_owned());
        }
    }
}

/// A stage of fio's files has its first job's name, and people are told of the others too.
#[test]
fn a_stage_is_told_by_all_of_its_jobs() {
    let mut work = read_by_two(1, 2, Arrival::Closed);
    let other = Job {
        name: "y".to_owned(),
        ..work.stages[0].jobs[0].clone()
    };
    work.stages[0].jobs.push(other);
    "x".clone_into(&mut work.stages[0].name);
    let mut told = Words::default();
    predict(&work, &device(BY_CHANCE), &mut told, &|| false).unwrap();
    assert_eq!(told.0, ["x and y", "x and y #2"]);
}

const BY_CHANCE: &str = "latency = { median = \"1ms\", p99 = \"4ms\" }";

#[test]
fn the_first_repeat_is_the_stage_without_repeats_and_all_are_the_same_again() {
    let once = repeated(7, 1, BY_CHANCE);
    let thrice = repeated(7, 3, BY_CHANCE);
    assert_eq!(once[0].workers, thrice[0].workers);
    assert_eq!(thrice, repeated(7, 3, BY_CHANCE));
}

/// A repeat tells as much of chance as another seed does; copies would have no spread.
#[test]
fn repeats_spread_as_seeds_do() {
    let repeats = means(1, 40, BY_CHANCE);
    let seeds: Vec<f64> = (1..=40).map(|seed| means(seed, 1, BY_CHANCE)[0]).collect();
    let (own, wanted) = (deviation(&repeats), deviation(&seeds));
    // Estimates of a deviation from 40 samples each are within a factor of 1.6 of each other in 99 of 100 cases.
    assert!(
        (wanted / 1.6..wanted * 1.6).contains(&own),
        "{own} of repeats, {wanted} of seeds"
    );
    let off = (mean(&repeats) - mean(&seeds)).abs();
    assert!(off < wanted, "repeats are off by {off}, seeds by {wanted}");
}

/// Where nothing is left to chance, repeats are alike.
#[test]
fn repeats_without_chance_are_alike() {
    let results = repeated(1, 3, "latency = { median = \"1ms\", p99 = \"1ms\" }");
    let ios: Vec<u64> = results.iter().map(|it| it.workers[0].ios()).collect();
    assert!(ios.iter().all(|own| *own == ios[0]), "{ios:?}");
}

/// Each repeat has the schedule that the generator gives it, which is what a run on real storage has, too.
#[test]
fn arrivals_of_repeats_are_the_generators() {
    for poisson in [Poisson::Exponential, Poisson::Uniform] {
        let found = issued(3, drawn(poisson));
        let work = read_by_two(5, 3, drawn(poisson));
        let job = &work.stages[0].jobs[0];
        for (repeat, workers) in (0..).zip(&found) {
            for (worker, ios) in (0..).zip(workers) {
                let key = StreamKey {
                    seed: work.seed,
                    job: 0,
                    worker,
                    salt: job.salt,
                };
                let mut schedule = ArrivalSchedule::of(job, key.of_repeat(repeat)).unwrap();
                let starts = std::iter::from_fn(|| Some(schedule.next_start(4096)));
                let due: Vec<u64> = starts.take_while(|start| *start < 1_000_000_000).collect();
                let issued: Vec<u64> = ios.iter().map(|(at, _)| *at).collect();
                assert_eq!(issued, due, "{poisson:?}, repeat {repeat} of {worker}");
            }
        }
    }
}

/// What comes at other times is the same I/O all the same.
#[test]
fn offsets_of_repeats_are_the_same() {
    let found = issued(2, drawn(Poisson::Exponential));
    for (first, second) in found[0].iter().zip(&found[1]) {
        assert!(first.len().min(second.len()) > 300, "{}", second.len());
        let offsets = first.iter().zip(second).all(|(one, two)| one.1 == two.1);
        assert!(offsets, "other offsets");
        let together = first.iter().zip(second).filter(|(one, two)| one.0 == two.0);
        assert_eq!(together.count(), 1, "the first alone comes at the start");
    }
}

/// What arrives in a repeat tells as much of chance as what arrives with another seed: counts of a Poisson process at 1,000 a
/// second, whose deviation over a second is the root of that.
#[test]
fn counts_of_repeats_spread_as_those_of_a_poisson_process() {
    let work = read_by_two(3, 200, drawn(Poisson::Exponential));
    let results = run(
        &work,
        &device("latency = { median = \"1ms\", p99 = \"1ms\" }"),
    )
    .results;
    let ios = |result: &StageResult| result.workers.iter().map(WorkerStats::ios).sum::<u64>();
    let counts: Vec<f64> = results.iter().map(|result| ios(result) as f64).collect();
    let (mean, deviation) = (mean(&counts), deviation(&counts));
    // The mean's standard error is 2.2, and the deviation's relative one 5 %.
    assert!((990.0..1_012.0).contains(&mean), "{mean}");
    assert!((26.0..38.0).contains(&deviation), "{deviation}");
}

/// Equal gaps are the same in all repeats.
#[test]
fn equal_gaps_repeat() {
    let found = issued(3, drawn(Poisson::Fixed));
    assert_eq!(found[0][0].len(), 500);
    assert!(found.iter().all(|repeat| *repeat == found[0]));
}
