//! The lines that tell which jobs work in place of I/O: `a (noop): ioengine=cpuio, cpuload=50, cpucycle=50000` (fio 3.42,
//! `engines/cpu.c`).

use std::fmt::Write as _;

use fathom_workload::WorkKind;

use crate::fio::input::FioInput;

/// The lines of all jobs in their order.
pub fn lines(input: &FioInput) -> String {
    let mut out = String::new();
    for ((_, job), meta) in input.workload.jobs().zip(&input.jobs) {
        let Some(work) = job.features.processor_work else {
            continue;
        };
        let mode = match work.kind {
            WorkKind::Spin => "noop",
            WorkKind::Sort => "qsort",
        };
        let (load, cycle) = (work.share.basis_points() / 100, work.burst.get() / 1000);
        let (name, engine) = (&meta.name, &meta.engine);
        let _ = writeln!(
            out,
            "{name} ({mode}): ioengine={engine}, cpuload={load}, cpucycle={cycle}"
        );
    }
    out
}
