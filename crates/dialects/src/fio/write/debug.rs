//! What `--debug` tells, in fio's lines: area, process id, text.

use std::fmt::Write as _;

use fathom_record::LogChunk;
use fathom_workload::Job;
use fathom_workload::generator::{StreamKey, stream_seeds};

use crate::fio::input::FioInput;

/// The start of each job's random numbers.
pub fn seeds(input: &FioInput, pid: u32) -> String {
    let mut out = String::new();
    for (index, (_, job)) in input.workload.jobs().enumerate() {
        let seeds = stream_seeds(StreamKey {
            seed: input.workload.seed,
            job: u32::try_from(index).unwrap_or(u32::MAX),
            worker: 0,
            salt: job.salt,
        });
        let _ = writeln!(out, "random   {pid:<5} FIO_RAND_NR_OFFS={}", seeds.len());
        for (number, seed) in seeds.iter().enumerate() {
            let _ = writeln!(out, "random   {pid:<5} rand_seeds[{number}]={seed}");
        }
    }
    out
}

/// The I/Os of `chunk`, which `job` did.
pub fn ios(job: &Job, chunk: &LogChunk, pid: u32) -> String {
    let mut out = String::new();
    for io in &chunk.ios {
        let target = job.targets.get(io.target as usize);
        let path = target.map_or("", |target| target.place.path());
        let _ = writeln!(
            out,
            "io       {pid:<5} complete: io_u: off=0x{:x},len=0x{:x},ddir={},file={path}",
            io.offset, io.bytes, io.direction as usize
        );
    }
    out
}
