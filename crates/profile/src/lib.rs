//! What an application needs of its storage.
//!
//! The requirements checklist of the provider's guide on premium storage (2016): for each volume and each period of the
//! day, I/Os a second, shares of reads and of random I/O, sizes, throughput, latency and queue depth, each at the 50th,
//! 90th and 99th percentile. A figure that nobody knows is absent, and stays so: who needs one assumes it by a rule with
//! a name, and says that it did.
//!
//! ```
//! use fathom_profile::{Profile, Template};
//! let profile = Template::by_name("sql-server").unwrap().profile(3500).unwrap();
//! let text = profile.to_toml();
//! assert_eq!(Profile::read(&text, "sql.profile.toml").unwrap().0, profile);
//! assert_eq!(profile.volumes[0].periods[0].iops.p99.unwrap().get(), 28_000);
//! ```

mod growth;
mod levels;
mod names;
mod read;
mod template;
mod write;

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};

pub use growth::{Growth, GrowthError};
pub use levels::{Level, Levels};
pub use names::slug;
pub use template::{Template, TemplateError};

/// What one application needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// Name of the application.
    pub name: String,
    /// Where the figures come from, one sentence.
    pub origin: Option<String>,
    /// Transactions a second as the user counts them; no storage counter can see them.
    pub transactions_per_sec: Option<u64>,
    /// What every rate and size is to be multiplied by.
    pub growth: Growth,
    /// Logical processors of the machine that the shares in use are of.
    pub logical_processors: Option<u64>,
    /// Share of the processors in use, on average over a stretch of time.
    pub processors: Levels<Percent>,
    /// The most of the processors in use within a stretch of time.
    pub peak_processors: Levels<Percent>,
    /// Memory in use, on average over a stretch of time.
    pub memory: Levels<Bytes>,
    /// The most memory in use within a stretch of time.
    pub peak_memory: Levels<Bytes>,
    /// At least one.
    pub volumes: Vec<Volume>,
}

/// What it needs of one volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Unique within the profile.
    pub name: String,
    /// What lies on it.
    pub role: Role,
    /// Space for its data.
    pub capacity: Option<Bytes>,
    /// Latency that I/Os must keep below, where there is such a goal.
    pub latency_goal: Levels<Nanos>,
    /// At least one; no kind twice.
    pub periods: Vec<Period>,
}

/// What lies on a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Data files.
    #[default]
    Data,
    /// Logs: written one after another.
    Log,
}

impl Role {
    /// Its word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Log => "log",
        }
    }
}

/// When figures hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeriodKind {
    /// Most of the time.
    Normal,
    /// When it matters most.
    Peak,
    /// At night and at weekends: backups, maintenance.
    OffHours,
}

impl PeriodKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Peak, Self::OffHours];

    /// Its word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Peak => "peak",
            Self::OffHours => "off-hours",
        }
    }
}

/// Bytes of a sector, of which every I/O to a device has a whole number.
pub const SECTOR: u64 = 512;
/// The part of a rate that figures of one hour differ by at most: percentiles of the three are each taken by themselves.
const APART: u128 = 10;

/// Figures of one volume in one period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// When they hold.
    pub kind: PeriodKind,
    /// I/Os a second.
    pub iops: Levels<Iops>,
    /// Share of I/Os that read; the others write.
    pub reads: Levels<Percent>,
    /// Share of I/Os at random places; the others are sequential.
    pub random: Levels<Percent>,
    /// Size of an I/O.
    pub size: Levels<Bytes>,
    /// Bytes a second.
    pub throughput: Levels<BytesPerSec>,
    /// Bytes a second on average over a stretch of time; shown.
    pub average_throughput: Levels<BytesPerSec>,
    /// The most bytes a second within a stretch of time; shown.
    pub peak_throughput: Levels<BytesPerSec>,
    /// Latency of single I/Os that was seen.
    pub latency: Levels<Nanos>,
    /// Mean latency of an interval's I/Os.
    pub average_latency: Levels<Nanos>,
    /// The least latency of any I/O within a stretch of time.
    pub minimum_latency: Levels<Nanos>,
    /// I/Os outstanding.
    pub queue_depth: Levels<u64>,
}

impl Period {
    /// Nothing is known yet of this period.
    pub fn unknown(kind: PeriodKind) -> Self {
        Self {
            kind,
            iops: Levels::default(),
            reads: Levels::default(),
            random: Levels::default(),
            size: Levels::default(),
            throughput: Levels::default(),
            average_throughput: Levels::default(),
            peak_throughput: Levels::default(),
            latency: Levels::default(),
            average_latency: Levels::default(),
            minimum_latency: Levels::default(),
            queue_depth: Levels::default(),
        }
    }

    /// The mean size of I/Os where I/Os a second and bytes a second at `level` are of different hours: where both and `size`
    /// are known, and the bytes that so many I/Os of that size are differ by more than a tenth from those known. It is the
    /// known bytes by the known I/Os, in whole sectors, so that one load of this size has both rates. `None` where the three
    /// agree, or one of them is unknown.
    pub fn mean_size(&self, level: Level) -> Option<Bytes> {
        let iops = self.iops.at(level)?.get();
        let bandwidth = self.throughput.at(level)?.get();
        let size = self.size.at(level)?.get();
        let product = u128::from(iops) * u128::from(size);
        let apart = product.abs_diff(u128::from(bandwidth)) * APART;
        if iops == 0 || bandwidth == 0 || apart <= product.max(u128::from(bandwidth)) {
            return None;
        }
        let mean = bandwidth.div_ceil(iops);
        Some(Bytes::new(
            mean.checked_next_multiple_of(SECTOR).unwrap_or(mean),
        ))
    }
}
