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
//!
//! ```
//! use fathom_catalog::Catalog;
//! use fathom_model::{Design, IoKind, Layout, Outcome, Request, Storage};
//! use fathom_units::{Bytes, Nanos};
//! let text = "[[device]]\nname = 'san'\nmount = '/san'\nsize = '1GiB'\niops = 1000\n";
//! let (design, _) = Design::read(text, "san.design.toml", Catalog::builtin()).unwrap();
//! let volume = design.locate(None, "/san/file").unwrap();
//! let files = [(volume, "/san/file".to_owned(), Bytes::mib(1))];
//! let layout = Layout::new(&design, files).unwrap();
//! let mut storage = Storage::new(&design, &layout, 1).unwrap();
//! let mut outcome = Outcome::default();
//! for index in 0..2 {
//!     let (kind, offset, length) = (IoKind::Read, index * 4096, 4096);
//!     let request = Request { volume, kind, offset, length, stream: 0, index, tag: index };
//!     storage.submit(Nanos::ZERO, request, &mut outcome);
//! }
//! // The first passed at once; the second may leave after a millisecond.
//! assert_eq!(outcome.completed.len(), 1);
//! let due = outcome.scheduled.remove(0);
//! assert_eq!(due.at, Nanos::from_millis(1));
//! storage.advance(due, &mut outcome);
//! assert_eq!(outcome.completed[1].tag, 1);
//! ```

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
    AnyVolume, Burst, CacheStart, Client, ClientId, Credits, Design, Device, DiskSpec,
    FigureOrigin, HostCaching, LatencyChoice, LatencyOrigin, LocateError, Media, Mount, NfsVersion,
    NfsVolume, Raid5, Role, SmbShare, Vm, Volume, VolumeId,
};
pub use latency::LatencyTable;
pub use layout::{Layout, OverfullVolume};
pub use limiter::{
    CreditBucket, CreditRate, Levels, Limiter, Limits, Rate, SecondOfUse, on_demand_transactions,
};
pub use stage::{Limit, Wait, Waits};
pub use statistics::PartStatistics;
pub use storage::{Completed, IoKind, ModelError, Outcome, Request, Scheduled, Storage, Wake};
