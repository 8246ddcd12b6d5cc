//! The record: the document that every run leaves (schema `fathom.record/1`).
//!
//! Keys end in their unit and keep their meaning within a schema version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Name and version of the schema.
pub const SCHEMA: &str = "fathom.record/1";

/// What kind of run a record tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// On real storage.
    Run,
    /// On modelled storage in virtual time.
    Predict,
    /// On modelled storage in real time.
    Serve,
}

/// Everything known of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program that made it.
    pub tool: ToolRecord,
    /// What kind of run it was.
    pub kind: RunKind,
    /// What was run on what, in one line.
    pub title: String,
    /// Whether the run has a folder of its own.
    pub stored: bool,
    /// Wall-clock start, ns since the epoch.
    pub started_unix_ns: u64,
    /// The resolved workload, in the shape of the native file.
    pub workload: serde_json::Value,
    /// The design predicted on; `null` for real runs.
    pub design: serde_json::Value,
    /// Where it ran.
    pub environment: serde_json::Value,
    /// Measured stages, in order.
    pub stages: Vec<StageRecord>,
    /// What a sweep found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<crate::SweepRecord>,
    /// Named checks of the whole run.
    pub checks: Vec<Check>,
    /// What the checks add up to.
    pub verdict: Verdict,
    /// What a reader should know about the figures.
    pub notes: Vec<String>,
    /// Whether the user stopped the run before its end.
    pub interrupted: bool,
}

/// The program that made a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// `fathom`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Commit it was built from; empty where unknown.
    pub git: String,
}

/// One measured stage (or one repeat of it).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Name of the stage.
    pub name: String,
    /// Wall-clock start of its first worker's measurement, ns since the epoch; of real runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ns: Option<u64>,
    /// The same by the machine's monotonic clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ns: Option<u64>,
    /// First measured I/O to last completion.
    pub measured_ns: u64,
    /// Jobs in order.
    pub jobs: Vec<JobRecord>,
    /// Over all jobs.
    pub total: TotalRecord,
    /// Seconds of the stage.
    pub intervals: Vec<IntervalRecord>,
    /// By name: disks, volumes and VMs of a design, or block devices of a real run.
    pub storage: BTreeMap<String, StorageRecord>,
    /// Of served storage: how far it was from the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulation: Option<EmulationRecord>,
    /// What a reader should know about this stage's figures.
    pub notes: Vec<String>,
    /// In a record of several hosts' runs: each host by itself, and how they lay beside each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsRecord>,
}

impl StageRecord {
    /// A stage of that name in which nothing was done.
    pub fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            started_unix_ns: None,
            started_ns: None,
            measured_ns: 0,
            jobs: Vec::new(),
            total: TotalRecord {
                read: None,
                write: None,
                trim: None,
                sync: None,
                meta: BTreeMap::new(),
                all: None,
            },
            intervals: Vec::new(),
            storage: BTreeMap::new(),
            emulation: None,
            notes: Vec::new(),
            hosts: None,
        }
    }
}

/// Several hosts in one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostsRecord {
    /// First start of a measurement to last start; `null` where fewer than two are known.
    pub start_skew_ns: Option<u64>,
    /// Within how much starts of hosts can be compared; `null`: as well as their wall clocks agree.
    pub clock_bound_ns: Option<u64>,
    /// Time in which all hosts of `each` were measuring.
    pub together_ns: u64,
    /// Hosts by name.
    pub each: Vec<HostRecord>,
}

/// One host in one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Its name.
    pub host: String,
    /// Start of its measurement, after the first host's; `null` where that is not known.
    pub after_ns: Option<u64>,
    /// As a stage's, of this host.
    pub measured_ns: u64,
    /// Whether it was cut off in this stage, of which its seconds alone are known then.
    pub cut_off: bool,
    /// Over all its jobs.
    pub total: TotalRecord,
}

/// How far served storage was from the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmulationRecord {
    /// Time from when the model was done with an I/O to when its answer was seen; nothing is answered earlier.
    pub error_ns: LatencyRecord,
    /// The 99th percentile of it that was to be kept.
    pub error_bound_ns: Option<u64>,
    /// What messages took on their way there and back at the end; it is taken off every latency that the model adds.
    pub path_ns: u64,
    /// Processor time of the thread that serves.
    pub cpu: CpuRecord,
}

/// One job of a stage, over all its workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its name.
    pub name: String,
    /// The machine that ran it; `null`: this one.
    pub host: Option<String>,
    /// Paths of its targets.
    pub targets: Vec<String>,
    /// Number of workers.
    pub workers: u32,
    /// Outstanding I/Os asked for, per worker.
    pub depth_wanted: f64,
    /// Time-weighted mean of outstanding I/Os, per worker.
    pub depth_achieved: f64,
    /// Target rate over all workers, where the job is an open loop paced by I/Os.
    pub iops_wanted: Option<f64>,
    /// First measured I/O to last completion.
    pub measured_ns: u64,
    /// Reads.
    pub read: Option<DirectionRecord>,
    /// Writes.
    pub write: Option<DirectionRecord>,
    /// Trims.
    pub trim: Option<DirectionRecord>,
    /// Synchronisations.
    pub sync: Option<DirectionRecord>,
    /// Operations on names, by what they are.
    pub meta: BTreeMap<String, DirectionRecord>,
    /// Processor time over all workers.
    pub cpu: CpuRecord,
    /// Failed I/Os.
    pub errors: Vec<ErrorRecord>,
    /// Each worker by itself.
    pub detail: Vec<DetailRecord>,
}

/// Operations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DirectionRecord {
    /// Successful operations.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Failed operations.
    pub errors: u64,
    /// Operations a second of measured time.
    pub iops: f64,
    /// Bytes a second of measured time.
    pub bandwidth_bytes_per_sec: f64,
    /// Submission to completion.
    pub latency_ns: LatencyRecord,
    /// Intended start to completion; `null` in closed loops.
    pub response_ns: Option<LatencyRecord>,
    /// Of modelled storage: by limit, its share (0 to 1) of the time I/Os waited for limits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bound_by: BTreeMap<String, f64>,
    /// Of modelled storage: share (0 to 1) of all latency that was waiting for limits; absent where none waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_share: Option<f64>,
}

/// A distribution of durations; all values in ns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyRecord {
    /// Smallest.
    pub min: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// Largest.
    pub max: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// 99.99th percentile.
    pub p99_99: u64,
    /// Base64 of the HdrHistogram V2 encoding.
    pub histogram: String,
}

/// Processor time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuRecord {
    /// In user space.
    pub user_ns: u64,
    /// In the kernel, for the worker's own thread.
    pub system_ns: u64,
    /// Outside the system calls that carry I/O, by the clock (`--outside-calls`): what the program itself took, with the
    /// interrupts that came meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_calls_ns: Option<u64>,
    /// Those calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_calls: Option<u64>,
}

/// Failed I/Os of one direction and error number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// `read`, `write`, `trim`, `sync`, or the operation on a file set.
    pub direction: String,
    /// The operating system's error number; 0: short transfers.
    pub errno: i32,
    /// How many.
    pub count: u64,
    /// Target index and byte offset of the first few.
    pub first_offsets: Vec<(u32, u64)>,
}

/// One worker by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DetailRecord {
    /// Index within the job.
    pub worker: u32,
    /// I/Os by direction: read, write, trim.
    pub ios: [u64; 3],
    /// Bytes by direction: read, write, trim.
    pub bytes: [u64; 3],
    /// Transfers shorter than asked for, by direction.
    pub short_ios: [u64; 3],
    /// First measured I/O to last completion.
    pub measured_ns: u64,
    /// Submission latency by direction; `null` where not taken apart.
    pub submit_ns: [Option<LatencyRecord>; 3],
    /// Completion latency by direction; `null` where not taken apart.
    pub complete_ns: [Option<LatencyRecord>; 3],
    /// Depth at submission, in classes from 1, 2, 4, 8, 16, 32, 64.
    pub depth_levels: [u64; 7],
    /// I/Os per submitting call, in classes up to 0, 4, 8, 16, 32, 64, more.
    pub submit_batches: [u64; 7],
    /// I/Os per reaping call, in the same classes.
    pub complete_batches: [u64; 7],
    /// Half-second samples: end from the start of measurement in ns, I/Os and bytes by direction.
    pub samples: Vec<(u64, [u64; 3], [u64; 3])>,
    /// Processor time.
    pub cpu: CpuRecord,
    /// Context switches.
    pub context_switches: u64,
    /// Minor page faults.
    pub minor_faults: u64,
    /// Major page faults.
    pub major_faults: u64,
}

/// All jobs of a stage together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TotalRecord {
    /// Reads.
    pub read: Option<DirectionRecord>,
    /// Writes.
    pub write: Option<DirectionRecord>,
    /// Trims.
    pub trim: Option<DirectionRecord>,
    /// Synchronisations.
    pub sync: Option<DirectionRecord>,
    /// Operations on file sets, by what they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, DirectionRecord>,
    /// Reads, writes and trims together.
    pub all: Option<DirectionRecord>,
}

/// One second of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// End of the interval, from the start of measurement.
    pub at_ns: u64,
    /// Reads.
    pub read: Option<IntervalDirection>,
    /// Writes.
    pub write: Option<IntervalDirection>,
    /// Trims.
    pub trim: Option<IntervalDirection>,
    /// Operations on file sets, by what they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, IntervalDirection>,
}

/// One direction within one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalDirection {
    /// Successful I/Os completed in it.
    pub ios: u64,
    /// Bytes moved in it.
    pub bytes: u64,
    /// Median latency; `null` where several hosts did I/O, of whose seconds there are no histograms.
    pub p50_ns: Option<u64>,
    /// 99th percentile of latency; `null` likewise.
    pub p99_ns: Option<u64>,
    /// Largest latency.
    pub max_ns: u64,
}

/// A modelled part or a real device over a stage. Absent figures do not apply.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StorageRecord {
    /// `disk`, `volume`, `vm`, `device` (modelled) or `block-device` (real).
    pub kind: String,
    /// I/Os that reached it.
    pub ios: u64,
    /// Bytes that passed it.
    pub bytes: u64,
    /// Time-weighted mean of I/Os in it (queued and in service).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
    /// Share (0 to 1) of the stage's time in which its limits left nothing over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// Cacheable reads; absent in records of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_reads: Option<u64>,
    /// Share (0 to 1) of cacheable reads that the cache served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_share: Option<f64>,
    /// Share (0 to 1) of cacheable reads that the cache served from the host's memory; absent where that is no tier of its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_share: Option<f64>,
    /// Predictions: how its cache and its credits went on; absent where it has neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTimeRecord>,
    /// The limits it enforces, in words with units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// Counters of a real device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<DeviceCountersRecord>,
}

/// Figures of a modelled part at times of its stage: lists of equal length, of which those that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OverTimeRecord {
    /// Times from the start of measurement.
    pub at_ns: Vec<u64>,
    /// Share (0 to 1) of the reads since the time before that the host cache served; `null` where none came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hit_share: Vec<Option<f64>>,
    /// Share (0 to 1) of the credits of its IOPS that is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iops_credit_share: Vec<f64>,
    /// Share (0 to 1) of the credits of its bytes that is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes_credit_share: Vec<f64>,
    /// Bytes in the host cache that are not on a disk yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirty_bytes: Vec<u64>,
}

/// What the kernel counted of a block device while a stage ran, from all programs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceCountersRecord {
    /// Completed reads.
    pub read_ios: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads merged with one before.
    pub read_merges: u64,
    /// Writes merged with one before.
    pub write_merges: u64,
    /// Time spent by reads, added up.
    pub read_ns: u64,
    /// Time spent by writes, added up.
    pub write_ns: u64,
    /// Time spent by all I/Os in the queue, added up.
    pub in_queue_ns: u64,
    /// Time with any I/O in flight.
    pub busy_ns: u64,
    /// Length of the observation.
    pub over_ns: u64,
}

/// One named check of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Name of the check.
    pub id: String,
    /// Whether nothing was found.
    pub passed: bool,
    /// What was seen, with figures.
    pub evidence: String,
    /// What to do about it; empty where it passed.
    pub remedy: String,
}

/// What the checks add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every check passed.
    Trustworthy,
    /// At least one failed.
    Questionable,
    /// Nothing was measured.
    Empty,
}
