//! Agreement of the two implementations on a thousand random cases.

use fathom_record::Ignore;
use fathom_sim::predict;

use super::random_cases::{Case, case};
use super::run::run;
use super::{compare, windows};

/// Differences of one case, and breaches of its limits; empty where both agree and keep them.
pub fn differences(case: &Case) -> Vec<String> {
    let predicted = predict(&case.workload, &case.design, &mut Ignore, &|| false);
    let predicted = predicted.unwrap_or_else(|error| panic!("{error}\n{case}"));
    let (expected, storage) = run(&case.workload, &case.design);
    let mut differences = compare::differences(&predicted.results, &expected);
    differences.extend(windows::breaches(&storage));
    differences
}

/// A quarter of the thousand cases, so that they run side by side.
fn check(seeds: std::ops::Range<u64>) {
    let mut failed = Vec::new();
    for seed in seeds {
        let case = case(seed);
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
