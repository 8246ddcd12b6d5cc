//! The storage model: a design file, and the limits, stripes, caches and latencies that it describes.
//!
//! One model serves every clock. It never asks what time it is: a driver tells it, submits I/O, and keeps the due times
//! that the model hands back. The simulator jumps from one due time to the next; an emulator waits for them.
//!
//! - [`Design`] is the file, read and checked against the catalogue.
//! - [`Layout`] says where the workload's files lie on the volumes.
//! - [`Storage`] is the model built from both.
//!
//! Invariants: nothing here reads a clock, uses a thread, or draws randomness but from its seed; a limit never serves
//! more than its allowance; a later stage is never reserved at a future time.

mod cache;
mod design;
mod latency;
mod layout;
mod limiter;
mod random;
mod stage;
mod statistics;
mod storage;
mod stripe;

pub use design::{
    CacheStart, Design, Device, HostCaching, LatencyChoice, LatencyOrigin, LocateError, Mount,
    Role, Vm, Volume, VolumeId,
};
pub use latency::LatencyTable;
pub use layout::{Layout, OverfullVolume};
pub use limiter::{Limiter, Limits};
pub use stage::{Limit, Wait, Waits};
pub use statistics::PartStatistics;
pub use storage::{Completed, IoKind, ModelError, Outcome, Request, Scheduled, Storage, Wake};
