//! The parts of a design, as they are once read: every default filled in, every name resolved to figures.

mod device;
mod machine;
mod network;

use fathom_units::{Nanos, Percent};

pub use device::{Device, Raid5};
pub use machine::{
    CacheStart, DiskSpec, HostCacheTiers, HostCaching, Media, MemoryTier, Role, Vm, Volume,
};
pub use network::{Client, NfsVersion, NfsVolume, SmbShare};

/// How paths find a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// A directory (or a device file): serves it and everything under it.
    Path(String),
    /// A drive letter such as `E:`.
    Drive(char),
}

/// Whether and how something goes above its own limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Burst {
    /// It does not.
    #[default]
    Off,
    /// From credits saved while below its limits.
    Credits,
    /// As long as it likes, since it is enabled and paid for.
    OnDemand,
}

/// How full credit buckets are when a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credits(Percent);

impl Credits {
    /// Full, as the provider gives them to something new.
    pub const FULL: Self = Self(Percent::ALL);
    /// Empty.
    pub const EMPTY: Self = Self(Percent::ZERO);

    /// So much of a full bucket.
    pub const fn new(share: Percent) -> Self {
        Self(share)
    }

    /// The share of a full bucket.
    pub const fn percent(self) -> Percent {
        self.0
    }

    /// The share of a full bucket, 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0.basis_points()) / 10_000.0
    }
}

impl Default for Credits {
    fn default() -> Self {
        Self::FULL
    }
}

/// Latency that media add by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LatencyChoice {
    /// None at all.
    None,
    /// Log-normal through two quantiles.
    LogNormal {
        /// Half of the I/Os take no longer.
        median: Nanos,
        /// 99 % of the I/Os take no longer.
        p99: Nanos,
        /// Where the figures come from.
        origin: LatencyOrigin,
    },
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureOrigin {
    /// The design says it.
    Design,
    /// The catalogue assumes it from hints.
    Assumed,
    /// The catalogue has it as published.
    Published,
}

/// Where latency figures come from.
pub type LatencyOrigin = FigureOrigin;

/// A volume, device, NFS volume or share of a design: volumes of machines in order, then devices, NFS volumes, shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeId(usize);

impl VolumeId {
    pub(crate) const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Its index among all of the design.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// The machine that an I/O comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(u32);

impl ClientId {
    /// No machine of the design: I/O on a device, or on a volume of a design without machines.
    pub const NONE: Self = Self(u32::MAX);

    /// The machine at this index of [`super::Design::vms`].
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Its index among the machines of the design; `None` for [`ClientId::NONE`].
    pub const fn index(self) -> Option<usize> {
        if self.0 == u32::MAX {
            None
        } else {
            Some(self.0 as usize)
        }
    }
}

impl Mount {
    /// Length of the mount where it is a prefix of `path` at a component's end; `None` where it is not.
    pub(super) fn serves(&self, path: &str) -> Option<usize> {
        match self {
            Self::Path(mount) => {
                let rest = path.strip_prefix(mount.trim_end_matches('/'))?;
                (rest.is_empty() || rest.starts_with('/')).then_some(mount.len())
            }
            Self::Drive(letter) => {
                let mut characters = path.chars();
                let first = characters.next()?;
                let colon = characters.next()? == ':';
                (colon && first.eq_ignore_ascii_case(letter)).then_some(2)
            }
        }
    }
}

impl std::fmt::Display for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::Drive(letter) => write!(f, "{letter}:"),
        }
    }
}
