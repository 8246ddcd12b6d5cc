//! One limit of a design as it is shown.

use crate::burst::Credits;
use crate::machine::hundredths;
use fathom_profile::PeriodKind;
use fathom_units::{Bytes, BytesPerSec, Iops, group_digits};

/// One limit of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whose limit it is.
    pub owner: String,
    /// What is limited.
    pub unit: Unit,
    /// What is asked of it, in the period that leaves least headroom.
    pub need: u64,
    /// What it gives then; `u64::MAX` where no page prints a limit.
    pub have: u64,
    /// What it gives without credits.
    pub steady: u64,
    /// That period; `None` for what does not change over the day.
    pub period: Option<PeriodKind>,
    /// Credits of the peak, where it spends any.
    pub credits: Option<Credits>,
    /// What raises it.
    pub raise: String,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// I/Os a second.
    Iops,
    /// Bytes a second, as disks and machines are sold.
    Bandwidth,
    /// Bytes a second, as volumes and shares over the network are sold.
    BinaryBandwidth,
    /// Bytes written a second, of shares that limit them apart.
    BinaryBandwidthWritten,
    /// Bytes.
    Capacity,
    /// Data disks.
    Disks,
    /// Virtual processors, in hundredths of one.
    Processors,
    /// Bytes of memory, as machines are sold: of 2^30 bytes.
    Memory,
    /// I/Os outstanding.
    Outstanding,
}

impl Unit {
    /// Whether it is used up by I/O, and not by what lies there.
    pub const fn is_rate(self) -> bool {
        !matches!(
            self,
            Self::Capacity | Self::Disks | Self::Processors | Self::Memory
        )
    }

    /// A figure of this unit.
    pub fn figure(self, value: u64) -> String {
        match (self, value) {
            (_, u64::MAX) => "not printed".to_owned(),
            (Self::Iops, value) => Iops::new(value).to_string(),
            (Self::Bandwidth, value) => rate(value),
            (Self::BinaryBandwidth, value) => binary_rate(value),
            (Self::BinaryBandwidthWritten, value) => format!("{} written", binary_rate(value)),
            (Self::Capacity, value) => Bytes::new(value).to_string(),
            (Self::Processors, value) => format!("{} vCPU", hundredths(value)),
            (Self::Memory, value) => gibibytes(value),
            (Self::Disks, 1) => "1 disk".to_owned(),
            (Self::Disks, value) => format!("{value} disks"),
            (Self::Outstanding, value) => format!("{} in flight", group_digits(value)),
        }
    }
}

/// Memory in GiB, to the next hundredth: what is needed never looks like less than it is, and machines have whole hundredths.
fn gibibytes(bytes: u64) -> String {
    let parts = (u128::from(bytes) * 100).div_ceil(1 << 30);
    format!(
        "{} GiB",
        hundredths(u64::try_from(parts).unwrap_or(u64::MAX))
    )
}

/// A rate in the clouds' unit, to a tenth.
fn rate(bytes_per_sec: u64) -> String {
    if bytes_per_sec.is_multiple_of(1_000_000) {
        BytesPerSec::new(bytes_per_sec).to_string()
    } else {
        format!("{} MB/s", to_a_tenth(bytes_per_sec as f64 / 1e6))
    }
}

/// A rate in the unit of volumes and shares over the network, to a tenth.
fn binary_rate(bytes_per_sec: u64) -> String {
    let mib = 1 << 20;
    if bytes_per_sec.is_multiple_of(mib) {
        format!("{} MiB/s", group_digits(bytes_per_sec / mib))
    } else {
        format!("{} MiB/s", to_a_tenth(bytes_per_sec as f64 / mib as f64))
    }
}

fn to_a_tenth(value: f64) -> String {
    let text = format!("{value:.1}");
    let (whole, tenth) = text.split_once('.').unwrap_or((&text, "0"));
    let whole = whole
        .parse()
        .map_or_else(|_| whole.to_owned(), group_digits);
    format!("{whole}.{tenth}")
}

impl Line {
    /// Whether the limit is enough.
    pub const fn carries(&self) -> bool {
        self.need <= self.have
    }

    /// Whether it is enough in the peak only while credits last.
    pub const fn spends_credits(&self) -> bool {
        self.credits.is_some()
    }

    /// How many times what it gives is asked of it.
    pub fn missing(&self) -> f64 {
        self.need as f64 / self.have.max(1) as f64
    }

    /// How many times the need the limit gives; `None` where it has no limit, or nothing is asked of it.
    pub fn headroom(&self) -> Option<f64> {
        (self.need > 0 && self.have != u64::MAX).then(|| self.have as f64 / self.need as f64)
    }
}
