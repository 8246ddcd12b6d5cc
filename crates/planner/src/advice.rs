//! What to do with each volume of a design, and why.

use fathom_catalog::{ShareMedia, VmSize};
use fathom_model::{CachedDisk, caching_obstacle};
use fathom_units::{counted_ios, group_digits};

use crate::candidate::{Candidate, Disks, Storage};
use crate::choices;
use crate::design::caching;
use crate::limits::{Terms, depth_for, parts};
use crate::machine::hundredths;
use crate::need::{Load, Need, VolumeNeed};
use crate::network::NfsVolumes;
use crate::unloaded::Unloaded;

/// What a buyer of performance plus must know.
const PLUS: &str = "performance plus can be had only as a disk is created, and no page prints how such disks burst: none is counted on";

/// Sentences, each beginning with the volume's name.
pub fn of(need: &Need, candidate: &Candidate, terms: &Terms<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    for (volume, storage) in need.volumes.iter().zip(&candidate.volumes) {
        let own: Vec<String> = match storage {
            Storage::Disks(disks) => {
                let paid = on_demand(volume, disks, candidate, terms);
                let own = [of_disks(volume, disks, candidate.vm, terms)];
                let plus = disks.kind.has_plus().then(|| PLUS.to_owned());
                let own = own.into_iter().chain(bound(disks));
                own.chain(plus).chain(paid).collect()
            }
            Storage::Nfs(_) | Storage::Smb(_) => over_network(volume, storage, candidate, terms),
        };
        let depth = depth(volume, storage, candidate, terms);
        let all = own.into_iter().chain(depth).chain(goals(volume));
        sentences.extend(all.map(|sentence| volume.told(&sentence)));
    }
    sentences
}

/// Stripe and caching.
fn of_disks(volume: &VolumeNeed, disks: &Disks, vm: &VmSize, terms: &Terms<'_>) -> String {
    let (recommended, why) = choices::recommended_caching(volume);
    let why = if recommended == disks.caching {
        why.to_owned()
    } else {
        let cached = CachedDisk {
            name: disks.kind.name(),
            kind: disks.kind.kind(),
            size: disks.kind.size(),
        };
        let obstacle = caching_obstacle(vm, &cached, terms.catalog);
        obstacle.map_or_else(
            || "the cached limits of the machine are too low for it".to_owned(),
            |obstacle| obstacle.message,
        )
    };
    let largest = volume.loads.iter().map(|load| load.size).max();
    let stripe = if disks.count > 1 {
        let size = largest.unwrap_or_default();
        // What the limits above count, where it is more than the I/Os that were asked for.
        let counted = parts(10_000, size, disks.count, disks.stripe_unit);
        let crossing = match (counted / 10_000, counted % 10_000) {
            (1, 0) => String::new(),
            (all, 0) => {
                format!(" (such an I/O counts as {all}, for the stripe units that it touches)")
            }
            (some, part) => format!(
                " (such an I/O counts as {} on average: some touch {some} stripe unit{}, others {})",
                hundredths(some * 100 + part.div_ceil(100)),
                if some == 1 { "" } else { "s" },
                some + 1
            ),
        };
        format!(
            "{} columns of {} for I/Os of up to {size}{crossing}, ",
            disks.count, disks.stripe_unit,
        )
    } else {
        String::new()
    };
    format!("{stripe}caching {}: {why}", caching(disks.caching))
}

/// That the limits of a disk are no promise, where they are none.
fn bound(disks: &Disks) -> Option<String> {
    (!disks.kind.is_guaranteed()).then(|| {
        format!(
            "the figures of {} are an upper bound by its page (\"up to\"), which is not provisioned: measure before you rely on them",
            disks.kind.name()
        )
    })
}

/// What bursting on demand is billed for: in each second the larger of the I/Os above the base and the bytes above it.
fn on_demand(
    volume: &VolumeNeed,
    disks: &Disks,
    candidate: &Candidate,
    terms: &Terms<'_>,
) -> Vec<String> {
    if !disks.on_demand {
        return Vec::new();
    }
    let count = u64::from(disks.count);
    let machines = u64::from(candidate.machines);
    let rules = terms.catalog.on_demand();
    let billed = volume.loads.iter().map(|load| {
        let each = |rate: u64| rate.div_ceil(count * machines);
        let iops = each(parts(
            load.iops.get(),
            load.size,
            disks.count,
            disks.stripe_unit,
        ));
        let bytes = each(load.bandwidth.get());
        let over = iops.saturating_sub(disks.kind.iops(candidate.vm));
        let over_bytes = bytes.saturating_sub(disks.kind.bandwidth());
        over.max(over_bytes.div_ceil(rules.unit.get().max(1)))
    });
    let billed = billed.max().unwrap_or(0).saturating_mul(count * machines);
    vec![format!(
        "bursting on demand is paid for each disk, for {} h at least once it is on, and by use: {} transactions above the base in an \
         hour of the highest load, billed in units of {}; no price here holds what is paid by use",
        rules.min_hours,
        group_digits(billed.saturating_mul(3600)),
        group_digits(rules.billed_transactions)
    )]
}

/// Connections, channels and files.
fn over_network(
    volume: &VolumeNeed,
    storage: &Storage,
    candidate: &Candidate,
    terms: &Terms<'_>,
) -> Vec<String> {
    let machines = candidate.machines;
    let mut sentences = Vec::new();
    let several = |what: &str, count: u32| {
        format!("one {what} is not enough: files are spread evenly over {count}")
    };
    match storage {
        Storage::Disks(_) => {}
        Storage::Nfs(volumes) => {
            if volumes.count > 1 {
                sentences.push(several("volume", volumes.count));
            }
            sentences.push(format!(
                "nconnect={}, no host cache is in the way; the capacity pool is {}, the least that is sold for it",
                volumes.connections,
                volumes.pool()
            ));
            sentences.extend(files_of(volume, volumes, terms));
        }
        Storage::Smb(shares) => {
            if shares.count > 1 {
                let own = "each in a storage account of its own";
                sentences.push(format!("{}, {own}", several("share", shares.count)));
            }
            let threads = if shares.channels > 1 {
                ", and at least two threads: a single thread loses a tenth by several channels"
            } else {
                ""
            };
            let channels = match (shares.model.media, shares.channels) {
                (ShareMedia::Hdd, _) => "one SMB channel, since HDD shares have no more".to_owned(),
                (ShareMedia::Ssd, 1) => "one SMB channel is enough".to_owned(),
                (ShareMedia::Ssd, several) => format!("SMB multichannel with {several} channels"),
            };
            let files = match shares.files {
                1 => String::new(),
                several => format!("; the I/O spread over {several} files of each share at least"),
            };
            sentences.push(format!("{channels}{files}{threads}"));
        }
    }
    if machines > 1 {
        sentences.push(format!("mounted by all {machines} machines"));
    }
    sentences
}

/// That space over NFS takes several files, since one is limited.
fn files_of(volume: &VolumeNeed, volumes: &NfsVolumes, terms: &Terms<'_>) -> Option<String> {
    let largest = terms.catalog.netapp_volume().max_file;
    let each = volume.capacity.get().div_ceil(u64::from(volumes.count));
    let files = each.div_ceil(largest.get().max(1));
    let of_each = if volumes.count > 1 {
        " of each volume"
    } else {
        ""
    };
    (files > 1).then(|| {
        format!("a file holds {largest} at most: the space takes {files} files{of_each} at least")
    })
}

/// The load with most I/Os a second.
fn busiest(volume: &VolumeNeed) -> Option<&Load> {
    volume.loads.iter().max_by_key(|load| load.iops)
}

/// Queue depth and threads, by Little's law.
fn depth(
    volume: &VolumeNeed,
    storage: &Storage,
    candidate: &Candidate,
    terms: &Terms<'_>,
) -> Option<String> {
    let machines = candidate.machines;
    let load = busiest(volume)?;
    let unloaded = Unloaded::of(load, storage, candidate.vm, terms)?;
    let latency = unloaded.mean;
    let in_parts = match (unloaded.parts, storage) {
        (1, _) => String::new(),
        (parts, Storage::Disks(_)) => {
            format!(", in up to {parts} parts, the slowest of which is waited for")
        }
        (calls, _) => format!(", in {calls} calls, the last of which waits for those before it"),
    };
    let iops = load.iops.get().div_ceil(u64::from(machines));
    let depth = depth_for(iops, latency).max(1);
    let each = match storage {
        Storage::Disks(disks) if disks.count > 1 => {
            // Of an I/O in parts each keeps its own column busy.
            let in_parts = iops as f64 * unloaded.together.get() as f64 / 1e9;
            let all = match unloaded.parts {
                1 => depth as f64,
                _ => in_parts,
            };
            let column = all / f64::from(disks.count);
            format!(" ({column:.1} a column)")
        }
        _ => String::new(),
    };
    let of = if machines > 1 { " of each machine" } else { "" };
    let (drive, threads) = if depth == 1 {
        ("drives it at a mean of", "or one thread that waits")
    } else {
        ("drive it at a mean of", "or as many threads that wait")
    };
    Some(format!(
        "{} outstanding{of}{each} {drive} {latency} (media latency: assumed{in_parts}), {threads} for each I/O",
        counted_ios(depth)
    ))
}

/// The most I/Os outstanding that a goal leaves.
fn goals(volume: &VolumeNeed) -> Option<String> {
    let load = busiest(volume)?;
    let (level, goal) = volume.goal.iter().min_by_key(|(_, goal)| *goal)?;
    Some(format!(
        "{} at {goal} ({level}) are {} outstanding: more only wait",
        load.iops,
        counted_ios(depth_for(load.iops.get(), *goal))
    ))
}
