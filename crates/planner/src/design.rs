//! A candidate as a design file.

use std::fmt::Write as _;

use fathom_model::HostCaching;
use fathom_profile::Role;
use fathom_units::{Bytes, BytesPerSec};

use crate::candidate::{Candidate, Choice};
use crate::need::Need;

/// Whether credits of machines and disks are there to be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spend {
    /// As the provider has it.
    Credits,
    /// None: what holds at any time.
    Nothing,
}

/// Where a volume is mounted.
pub fn mount(volume: &str) -> String {
    format!("/mnt/{volume}")
}

/// The design file of `candidate`.
pub fn text(need: &Need, candidate: &Candidate, spend: Spend) -> String {
    let vm = candidate.vm;
    let off = match spend {
        Spend::Credits => "",
        Spend::Nothing => "burst = \"off\"\n",
    };
    let mut text = format!(
        "[[vm]]\nname = \"app\"\nsize = {}\nera = {}\n{off}",
        quoted(vm.name),
        quoted(vm.era.name())
    );
    for (volume, disks) in need.volumes.iter().zip(&candidate.volumes) {
        let caching = match disks.caching {
            HostCaching::None => "none",
            HostCaching::ReadOnly => "read-only",
            HostCaching::ReadWrite => "read-write",
        };
        let role = match volume.role {
            Role::Data => "data",
            Role::Log => "log",
        };
        let _ = write!(
            text,
            "\n[[vm.volume]]\nname = {}\nmount = {}\nrole = \"{role}\"\ndisks = {{ {} }}\n",
            quoted(&volume.name),
            quoted(&mount(&volume.name)),
            bought(&disks.kind, disks.count),
        );
        if disks.count > 1 {
            let _ = writeln!(text, "columns = {}", disks.count);
            let _ = writeln!(text, "stripe_unit = {}", size(disks.stripe_unit));
        }
        let _ = write!(text, "caching = \"{caching}\"\n{off}");
    }
    text
}

fn bought(kind: &Choice, count: u32) -> String {
    match kind {
        Choice::Named(disk) => format!("type = {}, count = {count}", quoted(disk.name)),
        Choice::Set {
            name,
            size: bytes,
            iops,
            bandwidth,
            ..
        } => format!(
            "type = {}, count = {count}, size = {}, iops = {}, bandwidth = {}",
            quoted(name),
            size(*bytes),
            iops.get(),
            rate(*bandwidth)
        ),
    }
}

/// Exactly, in GiB or KiB.
pub(crate) fn size(bytes: Bytes) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let found = units
        .iter()
        .find(|(_, shift)| bytes.get() > 0 && bytes.get().trailing_zeros() >= *shift);
    found.map_or_else(
        || format!("\"{}B\"", bytes.get()),
        |(unit, shift)| format!("\"{}{unit}\"", bytes.get() >> shift),
    )
}

fn rate(rate: BytesPerSec) -> String {
    let bytes = rate.get();
    if bytes.is_multiple_of(1_000_000) {
        format!("\"{}MB/s\"", bytes / 1_000_000)
    } else {
        format!("\"{bytes}B/s\"")
    }
}

pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
