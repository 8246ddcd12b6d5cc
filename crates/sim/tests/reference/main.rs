//! A second implementation of the storage model, slow and obvious, and its agreement with the one that is shipped.
//!
//! It shares with it what says what is asked (design, workload, generator, and the tables of media latency), and nothing of
//! what answers: limits are exact fractions, queues and caches plain lists, events lie in one sorted list.
//! Both must give every worker the same I/Os with the same latencies, to the nanosecond. Ties are part of that: what is due at
//! one time happens in the order in which it came about.
//!
//! So what is found of the departures here (no window serves more than its allowance, a queue that never empties loses
//! nothing) holds for the shipped one too.

#[path = "../random_cases/mod.rs"]
mod random_cases;

mod allowance;
mod build;
mod cache;
mod compare;
mod coverage;
mod draw;
mod layout;
mod run;
mod storage;
mod stripe;
mod windows;
mod worker;

use fathom_record::Ignore;
use fathom_sim::predict;

/// Differences of one case, and breaches of its limits; empty where both agree and keep them.
fn differences(case: &random_cases::Case) -> Vec<String> {
    let predicted = predict(&case.workload, &case.design, &mut Ignore, &|| false);
    let predicted = predicted.unwrap_or_else(|error| panic!("{error}\n{case}"));
    let (expected, storage) = run::run(&case.workload, &case.design);
    let mut differences = compare::differences(&predicted.results, &expected);
    differences.extend(windows::breaches(&storage));
    differences
}

/// A quarter of the thousand cases, so that they run side by side.
fn check(seeds: std::ops::Range<u64>) {
    let mut failed = Vec::new();
    for seed in seeds {
        let case = random_cases::case(seed);
        let differences = differences(&case);
        if !differences.is_empty() {
            failed.push((
                seed,
                format!("{case}\n--- differences\n{}", differences.join("\n")),
            ));
        }
    }
    let Some((_, first)) = failed.first() else {
        return;
    };
    let seeds: Vec<_> = failed.iter().map(|(seed, _)| seed).collect();
    panic!(
        "{} cases differ: {seeds:?}; the first:\n{first}",
        failed.len()
    );
}

#[test]
fn both_agree_on_cases_0_to_249() {
    check(0..250);
}

#[test]
fn both_agree_on_cases_250_to_499() {
    check(250..500);
}

#[test]
fn both_agree_on_cases_500_to_749() {
    check(500..750);
}

#[test]
fn both_agree_on_cases_750_to_999() {
    check(750..1000);
}
