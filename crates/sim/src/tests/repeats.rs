//! Repeats of a stage: the same I/O, and other chances.

use super::*;

/// Mean latency of each repeat, in ns.
fn means(seed: u64, repeats: u32, lines: &str) -> Vec<f64> {
    let results = repeated(seed, repeats, lines);
    results.iter().map(mean_latency).collect()
}

fn repeated(seed: u64, repeats: u32, lines: &str) -> Vec<StageResult> {
    let limits = Limits {
        runtime: Some(Nanos::from_secs(1)),
        ..Limits::default()
    };
    let one = Job {
        limits,
        workers: 2,
        targets: vec![target("/d/f", Bytes::gib(1))],
        ..job("x", "/d", Mix::READ, Bytes::kib(4), 4)
    };
    let mut work = workload(vec![one]);
    work.seed = seed;
    work.stages[0].repeats = repeats;
    let device = format!("[[device]]\nname = \"d\"\nmount = \"/d\"\nsize = \"1TiB\"\n{lines}\n");
    run(&work, &design(&device)).results
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
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
