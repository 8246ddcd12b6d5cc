//! Random machines with volumes of catalogue disks.

use std::fmt::Write;

use fathom_catalog::{BurstMode, Catalog, Disk, VmSize};

use super::super::dice::Dice;
use super::{Mount, Reached, latency};

/// A machine with its volumes.
pub fn vm(dice: &mut Dice, number: u64, text: &mut String, mounts: &mut Vec<Mount>) {
    let name = format!("vm{number}");
    let size = size(dice);
    let _ = write!(
        text,
        "[[vm]]\nname = \"{name}\"\nsize = \"{}\"\nera = \"{}\"\n",
        size.name, size.era
    );
    if !(size.burst_cached.is_empty() && size.burst_uncached.is_empty()) {
        burst(dice, "credits", text);
    }
    if caches(size) && dice.chance(70) {
        tiers(dice, text);
    }
    let mut place = |path: &str| {
        mounts.push(Mount {
            path: path.to_owned(),
            reached: Reached::By(name.clone()),
        });
    };
    let mut left = u64::from(size.max_data_disks).min(40);
    for volume in 0..dice.number(1, 4) {
        if left == 0 {
            break;
        }
        let count = dice.magnitude(1, left).min(left);
        left -= count;
        let path = format!("/{name}/v{volume}");
        let _ = write!(
            text,
            "[[vm.volume]]\nname = \"v{volume}\"\nmount = \"{path}\"\n"
        );
        disks(dice, size, count, text);
        stripes(dice, count, text);
        latency(dice, true, text);
        place(&path);
    }
    if size.temporary_disk.is_some() && dice.chance(30) {
        let path = format!("/{name}/temp");
        let _ = writeln!(text, "[[vm.temp]]\nmount = \"{path}\"");
        latency(dice, true, text);
        place(&path);
    }
}

/// Whether disks can be cached.
fn caches(size: &VmSize) -> bool {
    size.premium_caching && !size.cached.is_empty() && size.cache.is_some()
}

/// Memory before the cache's SSD, often so little that blocks are given up.
fn tiers(dice: &mut Dice, text: &mut String) {
    let memory = dice.one_of(&["64KiB", "512KiB", "4MiB", "64MiB", "1GiB"]);
    let latency = dice.one_of(&[
        "\"none\"",
        "{ median = \"20us\", p99 = \"60us\" }",
        "{ median = \"1ms\", p99 = \"1ms\" }",
    ]);
    let _ = writeln!(
        text,
        "host_cache = {{ memory = \"{memory}\", memory_latency = {latency} }}"
    );
}

/// The smaller of two: small machines are those that hold their disks back.
fn size(dice: &mut Dice) -> &'static VmSize {
    let limited = |vm: &&VmSize| !vm.uncached.is_empty();
    let sizes: Vec<_> = Catalog::builtin().vms().iter().filter(limited).collect();
    let two = [dice.one_of(&sizes), dice.one_of(&sizes)];
    two[usize::from(two[1].uncached.iops < two[0].uncached.iops)]
}

/// Whether it bursts, and how full its buckets are: often so little that a short run empties them.
fn burst(dice: &mut Dice, mode: &str, text: &mut String) {
    match dice.number(1, 4) {
        1 => text.push_str("burst = \"off\"\n"),
        2 => {}
        _ if mode == "on-demand" => text.push_str("burst = \"on-demand\"\n"),
        _ => {
            let credits = dice.one_of(&["empty", "0.01%", "0.02%", "0.1%", "full"]);
            let _ = writeln!(text, "credits = \"{credits}\"");
        }
    }
}

/// `disks`, `caching` and `burst` of a volume.
fn disks(dice: &mut Dice, size: &VmSize, count: u64, text: &mut String) {
    if size.premium && dice.chance(15) {
        let (gib, iops) = (dice.number(16, 200), dice.number(3_000, 8_000));
        let kind = dice.one_of(&["premium-v2", "ultra"]);
        let _ = writeln!(
            text,
            "disks = {{ type = \"{kind}\", size = \"{gib}GiB\", iops = {iops}, bandwidth = \"{}MB/s\", \
             count = {count} }}\ncaching = \"none\"",
            dice.number(125, iops / 4)
        );
        return;
    }
    let disk = dice.one_of(&disks_for(size));
    let _ = writeln!(
        text,
        "disks = {{ type = \"{}\", count = {count} }}",
        disk.name
    );
    if let Some(offer) = &disk.burst {
        let mode = match offer.mode {
            BurstMode::Credits => "credits",
            BurstMode::OnDemand => "on-demand",
        };
        burst(dice, mode, text);
    }
    if caches(size) && disk.host_cacheable && dice.chance(90) {
        let mode = dice.one_of(&["read-only", "read-write", "read-write", "read-write"]);
        let start = dice.one_of(&["cold", "warm"]);
        let _ = writeln!(text, "caching = \"{mode}\"\ncache = \"{start}\"");
    } else {
        text.push_str("caching = \"none\"\n");
    }
}

/// Disks that a machine takes.
fn disks_for(size: &VmSize) -> Vec<&'static Disk> {
    let catalog = Catalog::builtin();
    let fits = |disk: &&Disk| {
        let newest = catalog.disk(size.era, disk.name);
        newest == Ok(*disk) && (size.premium || !disk.kind.is_premium())
    };
    catalog.disks().iter().filter(fits).collect()
}

fn stripes(dice: &mut Dice, count: u64, text: &mut String) {
    if dice.chance(50) {
        let divisors: Vec<_> = (1..=count).filter(|n| count.is_multiple_of(*n)).collect();
        let _ = writeln!(text, "columns = {}", dice.one_of(&divisors));
    }
    if dice.chance(60) {
        let _ = writeln!(text, "stripe_unit = \"{}KiB\"", 4 << dice.number(0, 8));
    }
}
