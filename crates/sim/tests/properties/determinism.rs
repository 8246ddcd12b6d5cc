//! The same input gives the same `stages` of a record, byte for byte, however often and in however many threads.

use fathom_model::Design;
use fathom_record::{Ignore, StageRecord, stage_record};
use fathom_sim::predict;
use fathom_workload::Workload;

use super::examples::examples;
use super::random_cases::case;

fn stages(workload: &Workload, design: &Design) -> String {
    let prediction =
        predict(workload, design, &mut Ignore, &|| false).expect("it can be predicted");
    let results = prediction.results.iter();
    let records: Vec<StageRecord> = results
        .map(|result| stage_record(&workload.stages[result.stage], result))
        .collect();
    serde_json::to_string(&records).expect("a record is JSON")
}

/// Predicts in 1, 2 and 4 threads at once and compares all seven.
#[track_caller]
fn check(name: &str, workload: &Workload, design: &Design) {
    let first = stages(workload, design);
    for threads in [2, 4] {
        let repeated: Vec<String> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|_| scope.spawn(|| stages(workload, design)))
                .collect();
            let joined = handles
                .into_iter()
                .map(|handle| handle.join().expect("no thread panics"));
            joined.collect()
        });
        for (number, text) in repeated.iter().enumerate() {
            assert!(
                *text == first,
                "{name}: thread {number} of {threads} differs"
            );
        }
    }
}

#[test]
fn random_cases_give_the_same_bytes() {
    for seed in 1000..1060 {
        let case = case(seed);
        check(&case.to_string(), &case.workload, &case.design);
    }
}

#[test]
fn examples_give_the_same_bytes() {
    for example in examples() {
        check(&example.name, &example.workload, &example.design);
    }
}

#[test]
fn another_seed_gives_other_bytes() {
    let case = case(1000);
    let mut other = case.workload.clone();
    other.seed += 1;
    assert!(stages(&case.workload, &case.design) != stages(&other, &case.design));
}
