//! Facts about storage that is sold: machine sizes, disks, rules that are figures, media latencies, prices.
//!
//! A design names what it is built from; the figures come from here, so that no limit hides in code. Each row keeps the
//! page and date it was read from, because pages change: the key is (era, name), and eras stand side by side.
//!
//! Invariants: facts alone, no rule that acts; every row has a source; rows are checked when the program is built, and
//! looking them up reads constants.
//!
//! ```
//! use fathom_catalog::{Catalog, Era};
//! use fathom_units::Iops;
//! let catalog = Catalog::builtin();
//! let ds14 = catalog.vm(Era::new("2016"), "Standard_DS14").unwrap();
//! assert_eq!(ds14.cached.iops, Some(Iops::new(64_000)));
//! let disk = catalog.disk(ds14.era, "P30").unwrap();
//! assert_eq!(disk.limits.iops, Some(Iops::new(5_000)));
//! ```

mod device;
mod disk;
mod era;
mod json;
mod lookup;
mod lookup_network;
mod network;
mod rules;
#[cfg(test)]
#[path = "../build/shapes.rs"]
mod shapes;
mod show;
mod show_services;
mod tables;
#[cfg(test)]
#[path = "../build/validate.rs"]
mod validate;
mod vm;

pub use device::{GenericArray, GenericDevice, Raid5Rules};
pub use disk::{
    AdjustableDisk, Burst, BurstBucket, BurstMode, BurstScope, Disk, DiskKind, IoUnit,
    LatencyTarget, OnDemandRules,
};
pub use era::Era;
pub use lookup::{Catalog, CatalogError};
pub use network::{
    BurstOf, ChannelLimits, HandleLimits, MetadataLimits, NfsRules, Qos, RoundTrip, ServiceLevel,
    ShareBurst, ShareFile, ShareMedia, ShareModel, Sold, VolumeRules,
};
pub use rules::{
    Accounting, AccountingMode, Budget, CacheAccess, HostCacheRules, MediaLatency, Price, Source,
};
pub use show::{ShownRow, SummaryRow};
pub use vm::{Limits, VmSize};
