//! Whose I/O counts.

use std::sync::atomic::AtomicBool;

use fathom_observe::live::{Options, watch};

use super::agreement::{near, number, sum};
use super::alone;
use super::bench::Bench;

#[test]
fn only_the_named_process_counts() {
    let _alone = alone();
    let bench = Bench::new();
    let options = Options {
        processes: vec![std::process::id()],
        ..bench.options()
    };
    // fio is a descendant of this process; dd through the page cache is written back by the kernel, which is not.
    let job = "[a]\nioengine=psync\nbs=4k\nrw=randread\nrate_iops=500\nruntime=3\ntime_based=1\n";
    let (seen, said) = bench.watch(&options, job);
    let device = &seen.observation.devices[0];
    let counted = sum(device, |it| it.reads);
    near(
        "reads",
        counted.0,
        number(&said[0]["read"]["total_ios"]),
        0.01,
        0.0,
    );
    // fio's reads are those of a descendant, and its counters are read with this process's own.
    let family = format!("process {} and ", std::process::id());
    let told = seen.notes.iter().find(|note| note.starts_with(&family));
    assert!(
        told.is_some_and(|note| !note.contains("caused 0 B to be read")),
        "{:?}",
        seen.notes
    );
    let workers = "what the kernel's own workers issue later";
    assert!(
        seen.notes.iter().any(|note| note.starts_with(workers)),
        "{:?}",
        seen.notes
    );
    let stranger = Options {
        processes: vec![1],
        ..bench.options()
    };
    let init = watch(&stranger, &AtomicBool::new(true), &mut |_| ()).unwrap();
    assert!(init.interrupted);
    let gone = Options {
        processes: vec![u32::MAX - 1],
        ..bench.options()
    };
    let error = watch(&gone, &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("there is no process"), "{error}");
}
