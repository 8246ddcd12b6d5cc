//! A candidate as a design file.

use std::fmt::Write as _;

use fathom_model::HostCaching;
use fathom_profile::Role;
use fathom_units::{Bytes, BytesPerSec, Percent};

use crate::Request;
use crate::burst;
use crate::candidate::{Candidate, Choice, Disks, Storage};
use crate::limits::Terms;
use crate::need::{Need, VolumeNeed};
use crate::network::{NfsVolumes, SmbShares};

/// Whether credits of machines, disks and shares are there to be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spend {
    /// As the provider has it: buckets are full.
    Credits,
    /// None: what holds at any time.
    Nothing,
    /// Buckets that hold this share of what they can.
    Share(Percent),
}

impl Spend {
    /// The keys for something that has credits, or has none.
    fn keys(self, has_credits: bool) -> String {
        match self {
            Self::Credits => String::new(),
            Self::Share(share) if has_credits => {
                let points = share.basis_points();
                let (whole, part) = (points / 100, points % 100);
                format!("burst = \"credits\"\ncredits = \"{whole}.{part:02}%\"\n")
            }
            Self::Nothing | Self::Share(_) => "burst = \"off\"\n".to_owned(),
        }
    }
}

/// Name of the machine in designs, or of the first of several.
pub fn host(machines: u32, number: u32) -> String {
    if machines == 1 {
        "app".to_owned()
    } else {
        format!("app{number}")
    }
}

/// Where the parts of a volume are mounted: one, or one for each volume or share that it is spread over.
pub fn mounts(volume: &VolumeNeed, storage: &Storage) -> Vec<String> {
    let path = format!("/mnt/{}", volume.slug);
    match storage {
        Storage::Disks(_) => vec![path],
        _ if storage.count() == 1 => vec![path],
        _ => (1..=storage.count())
            .map(|number| format!("{path}-{number}"))
            .collect(),
    }
}

/// The design file of `candidate`.
pub fn text(
    need: &Need,
    candidate: &Candidate,
    spend: Spend,
    (request, terms): (&Request, &Terms<'_>),
) -> String {
    let vm = candidate.vm;
    let name = match candidate.machines {
        1 => host(1, 1),
        several => format!("app{{1..{several}}}"),
    };
    let mut text = format!(
        "[[vm]]\nname = {}\nsize = {}\nera = {}\n{}",
        quoted(&name),
        quoted(vm.name),
        quoted(vm.era.name()),
        spend.keys(machine_bursts(vm))
    );
    let volumes = || need.volumes.iter().zip(&candidate.volumes);
    for (volume, storage) in volumes() {
        if let Storage::Disks(disks) = storage {
            of_disks(&mut text, volume, disks, &spend.keys(spends(disks, vm)));
        }
    }
    for (volume, storage) in volumes() {
        let name = match storage.count() {
            1 => volume.slug.clone(),
            several => format!("{}-{{1..{several}}}", volume.slug),
        };
        match storage {
            Storage::Disks(_) => {}
            Storage::Nfs(volumes) => of_nfs(&mut text, &name, volumes, (request, terms)),
            Storage::Smb(shares) => of_smb(&mut text, &name, shares, (request, spend)),
        }
    }
    text
}

/// Whether a candidate has credits to spend: its machines, disks or shares.
pub fn has_credits(candidate: &Candidate) -> bool {
    let vm = candidate.vm;
    let mut volumes = candidate.volumes.iter();
    machine_bursts(vm)
        || volumes.any(|storage| match storage {
            Storage::Disks(disks) => !disks.on_demand && spends(disks, vm),
            Storage::Nfs(_) => false,
            Storage::Smb(shares) => share_bursts(shares),
        })
}

fn machine_bursts(vm: &fathom_catalog::VmSize) -> bool {
    !vm.burst_cached.is_empty() || !vm.burst_uncached.is_empty()
}

fn share_bursts(shares: &SmbShares) -> bool {
    let burst = fathom_model::figures::share_burst(shares.model, shares.size, shares.iops);
    burst.is_some_and(|burst| burst > shares.iops)
}

/// Whether disks have credits on this machine.
fn spends(disks: &Disks, vm: &fathom_catalog::VmSize) -> bool {
    burst::of_disk(disks, vm)
        .iter()
        .any(|given| given.seconds > 0)
}

fn of_disks(text: &mut String, volume: &VolumeNeed, disks: &Disks, spend: &str) {
    let role = match volume.role {
        Role::Data => "data",
        Role::Log => "log",
    };
    let _ = write!(
        text,
        "\n[[vm.volume]]\nname = {}\nmount = {}\nrole = \"{role}\"\ndisks = {{ {} }}\n",
        quoted(&volume.slug),
        quoted(&format!("/mnt/{}", volume.slug)),
        bought(&disks.kind, disks.count),
    );
    if disks.count > 1 {
        let _ = writeln!(text, "columns = {}", disks.count);
        let _ = writeln!(text, "stripe_unit = {}", size(disks.stripe_unit));
    }
    let spend = if disks.on_demand {
        "burst = \"on-demand\"\n"
    } else {
        spend
    };
    let _ = write!(text, "caching = \"{}\"\n{spend}", caching(disks.caching));
}

/// The word for a caching mode.
pub const fn caching(mode: HostCaching) -> &'static str {
    match mode {
        HostCaching::None => "none",
        HostCaching::ReadOnly => "read-only",
        HostCaching::ReadWrite => "read-write",
    }
}

fn bought(kind: &Choice, count: u32) -> String {
    match kind {
        Choice::Named(disk) => format!("type = {}, count = {count}", quoted(disk.name)),
        Choice::Plus(disk) => format!(
            "type = {}, count = {count}, performance_plus = true",
            quoted(disk.name)
        ),
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

fn of_nfs(
    text: &mut String,
    name: &str,
    volumes: &NfsVolumes,
    (request, terms): (&Request, &Terms<'_>),
) {
    let _ = write!(
        text,
        "\n[[nfs]]\nname = {}\nmount = {}\nlevel = {}\nquota = {}\n",
        quoted(name),
        quoted(&format!("/mnt/{name}")),
        quoted(volumes.level.name),
        size(volumes.quota),
    );
    if volumes.large {
        text.push_str("large = true\n");
    }
    if volumes.is_assigned() {
        let _ = writeln!(text, "bandwidth = {}", mib(volumes.bandwidth));
    }
    let io = size(terms.catalog.nfs().recommended_io);
    let _ = write!(
        text,
        "connections = {}\nrsize = {io}\nwsize = {io}\nrtt = {}\n",
        volumes.connections,
        quoted(&request.distance)
    );
}

fn of_smb(text: &mut String, name: &str, shares: &SmbShares, (request, spend): (&Request, Spend)) {
    let _ = write!(
        text,
        "\n[[smb]]\nname = {}\nmount = {}\nmodel = {}\nsize = {}\n",
        quoted(name),
        quoted(&format!("/mnt/{name}")),
        quoted(shares.model.name),
        size(shares.size),
    );
    if shares.is_set() {
        let _ = write!(
            text,
            "iops = {}\nbandwidth = {}\n",
            shares.iops.get(),
            mib(shares.bandwidth)
        );
    }
    let _ = write!(
        text,
        "channels = {}\nrtt = {}\n{}",
        shares.channels,
        quoted(&request.distance),
        spend.keys(share_bursts(shares))
    );
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

fn mib(rate: BytesPerSec) -> String {
    format!("\"{}MiB/s\"", rate.get() >> 20)
}

pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
