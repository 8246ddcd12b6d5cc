//! Storage known by its figures alone: a SAN, a local disk, a RAID array.

use fathom_catalog::{GenericDevice, Limits};
use fathom_diagnostics::Location;
use fathom_units::Bytes;

use super::{LatencyChoice, Mount};

/// Anything known by its figures alone.
///
/// It has limits as a whole, and, where it says of what disks it is made, limits of each disk. An I/O passes both.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Unique within the design.
    pub name: String,
    /// How paths find it.
    pub mount: Mount,
    /// Capacity that can be used.
    pub size: Bytes,
    /// Its limits as a whole; an absent one is no limit.
    pub limits: Limits,
    /// The catalogue's row for its disks, where the file names one.
    pub kind: Option<&'static GenericDevice>,
    /// How many disks it is made of; 1 where the file says nothing.
    pub disk_count: u32,
    /// Limits of each disk; empty where the file names no kind of disk.
    pub disk_limits: Limits,
    /// Bytes that go to one disk before the next.
    pub stripe_unit: Bytes,
    /// Whether parity protects the disks; without it they are striped.
    pub raid: Option<Raid5>,
    /// Latency of its media.
    pub latency: LatencyChoice,
    /// Where the design file describes it.
    pub place: Location,
}

/// A stripe with one disk's worth of parity, spread over all disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raid5 {
    /// I/Os of disks for one write that is smaller than a stripe: read data, read parity, write data, write parity. Each
    /// of the two disks does a read and a write.
    pub small_write_ios: u32,
}

impl Device {
    /// Disks that hold data rather than parity.
    pub fn data_disks(&self) -> u32 {
        self.disk_count - u32::from(self.raid.is_some())
    }
}
