//! The storage model: a design file, and the limits, stripes, caches and latencies that it describes.
//!
//! One model serves every clock. It never asks what time it is: a driver submits I/O, asks when something is due next, and
//! says when that time has come. The simulator jumps from one due time to the next; an emulator waits for it.
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
//! use fathom_model::{ClientId, Design, IoKind, Layout, Request, Storage};
//! use fathom_units::{Bytes, Nanos};
//! let text = "[[device]]\nname = 'san'\nmount = '/san'\nsize = '1GiB'\niops = 1000\n";
//! let (design, _) = Design::read(text, "san.design.toml", Catalog::builtin()).unwrap();
//! let volume = design.locate(None, "/san/file").unwrap();
//! let files = [(volume, "/san/file".to_owned(), Bytes::mib(1))];
//! let layout = Layout::new(&design, files).unwrap();
//! let file = layout.file_id(volume, "/san/file").unwrap();
//! let mut storage = Storage::new(&design, &layout, 1).unwrap();
//! let mut completed = Vec::new();
//! for index in 0..2 {
//!     let request = Request {
//!         volume,
//!         client: ClientId::NONE,
//!         file,
//!         kind: IoKind::Read,
//!         fua: false,
//!         offset: index * 4096,
//!         length: 4096,
//!         stream: 0,
//!         index,
//!         tag: index,
//!     };
//!     storage.submit(Nanos::ZERO, request, &mut completed);
//! }
//! // The first passed at once; the second may leave after a millisecond.
//! assert_eq!(completed.len(), 1);
//! assert_eq!(storage.next_due(), Some(Nanos::from_millis(1)));
//! storage.advance(&mut completed);
//! assert_eq!(completed[1].tag, 1);
//! ```

mod cache;
mod change;
mod design;
mod factor;
mod latency;
mod layout;
mod limit;
mod limiter;
mod network;
mod pace;
mod queue;
mod random;
mod request;
mod stage;
mod statistics;
mod storage;
mod stripe;
mod window;

pub use cache::{FLUSH_DEPTH, FLUSH_PERIOD};
pub use change::{
    Action, Change, ChangeError, Crash, Durability, InFlight, Lost, NewLimit, VolumeRange,
};
pub use design::figures;
pub use design::{
    AnyVolume, Burst, CacheStart, CachedDisk, Client, ClientId, Credits, Design, Device, DiskSpec,
    FigureOrigin, HostCaching, LatencyChoice, LatencyOrigin, LocateError, Media, Mount, NfsVersion,
    NfsVolume, Obstacle, Raid5, Role, SmbShare, Vm, Volume, VolumeId, caching_obstacle,
};
pub use factor::{Factor, FactorError};
pub use latency::LatencyTable;
pub use layout::{Layout, OverfullVolume};
pub use limit::{Limit, Wait, Waits};
pub use limiter::{
    CreditBucket, CreditRate, Levels, Limiter, Limits, Rate, SecondOfUse, on_demand_transactions,
};
pub use network::smb::{channel_reads, channel_writes};
pub use request::{Completed, FileId, IoError, IoKind, MetadataOp, Request};
pub use statistics::{Gauge, PartStatistics};
pub use storage::{ClosedLoops, ModelError, Storage, Turn};
