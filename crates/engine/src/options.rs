//! What the user allows a run to do beyond its workload, and asks to be told of it.

use std::num::NonZeroU64;

use fathom_units::Nanos;

/// Whether existing regular files that Fathom did not make may be written by jobs that ask for Fathom's own files only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overwrite {
    /// No: such a job is refused.
    #[default]
    Refuse,
    /// Yes (`--overwrite`).
    Allowed,
}

/// What a failed I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorPolicy {
    /// It ends the run; what was measured is kept.
    #[default]
    Stop,
    /// It ends its worker; other jobs and the stages after go on.
    EndWorker,
    /// It is counted, and the run goes on.
    Continue,
    /// It is counted, and the run goes on until so many failed, all jobs and stages together: that one ends it.
    StopAt(NonZeroU64),
}

/// What the user allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// Names of block devices whose data may be destroyed (`--destroy-data=NAME`): a serial, the end of a
    /// `/dev/disk/by-id` name, or the kernel name of a device that has neither.
    pub destroy_data: Vec<String>,
    /// Whether others' regular files may be written.
    pub overwrite: Overwrite,
    /// What a failed I/O does.
    pub on_error: ErrorPolicy,
    /// Failed I/Os of the run that are told one by one, as they happen; those that a job ignores are not.
    pub tell_failures: u64,
    /// Measure how long workers are outside the system calls that carry their I/O; those that wait for moments of their own
    /// (rates, pauses, schedules) are not, since they wait there.
    pub outside_calls: bool,
    /// Number of this host among those that do the workload together, from 0: arrivals that come by chance are each host's
    /// own, and all else is the same.
    pub host: u32,
    /// Tell all that was measured so far after each such time (whole seconds, rounded up). It is told at each stage's end
    /// and at SIGUSR1 whatever stands here.
    pub snapshot_every: Option<Nanos>,
}
