//! Storage that is no cloud's: kinds of disk known by approximate figures.

use fathom_units::Iops;

use crate::Source;

/// A kind of disk and how many I/Os a second it does. Key: `name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenericDevice {
    /// Name in design files, such as `10k`.
    pub name: &'static str,
    /// Name in sentences.
    pub title: &'static str,
    /// The printed range of random I/Os a second: its lower end.
    pub iops_low: Iops,
    /// Its upper end.
    pub iops_high: Iops,
    /// Where the row was read.
    pub source: Source,
}

/// An array of disks with a figure of its own, as printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenericArray {
    /// Name of the kind of disk.
    pub disk: &'static str,
    /// How many.
    pub disks: u32,
    /// RAID level.
    pub raid: u32,
    /// I/Os a second as printed.
    pub iops: Iops,
    /// Where the row was read.
    pub source: Source,
}

/// What a RAID-5 array costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raid5Rules {
    /// I/Os of disks for one write that is smaller than a stripe.
    pub small_write_ios: u32,
    /// Fewest disks.
    pub min_disks: u32,
    /// Where the rule was read.
    pub source: Source,
}
