//! Random designs: machines with volumes of catalogue disks, and devices of any figures.

use std::fmt::Write;

use fathom_catalog::{Catalog, Disk, VmSize};

use super::dice::Dice;

/// A design and its mounts, which are places for files.
pub fn design(dice: &mut Dice) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut mounts = Vec::new();
    let vms = dice.one_of(&[0, 1, 1, 1, 2]);
    for number in 0..vms {
        vm(dice, number, &mut text, &mut mounts);
    }
    let devices = if vms == 0 {
        dice.number(1, 3)
    } else {
        dice.one_of(&[0, 0, 1])
    };
    for number in 0..devices {
        device(dice, number, &mut text, &mut mounts);
    }
    (text, mounts)
}

fn vm(dice: &mut Dice, number: u64, text: &mut String, mounts: &mut Vec<String>) {
    let limited = |vm: &&VmSize| !vm.uncached.is_empty();
    let sizes: Vec<_> = Catalog::builtin().vms().iter().filter(limited).collect();
    // The smaller of two: small machines are those that hold their disks back.
    let two = [dice.one_of(&sizes), dice.one_of(&sizes)];
    let size = two[usize::from(two[1].uncached.iops < two[0].uncached.iops)];
    let _ = write!(
        text,
        "[[vm]]\nname = \"vm{number}\"\nsize = \"{}\"\nera = \"{}\"\n",
        size.name, size.era
    );
    let mut left = u64::from(size.max_data_disks).min(40);
    for volume in 0..dice.number(1, 4) {
        if left == 0 {
            break;
        }
        let disk = dice.one_of(&disks_for(size));
        let count = dice.magnitude(1, left).min(left);
        left -= count;
        let path = format!("/vm{number}/v{volume}");
        let _ = write!(
            text,
            "[[vm.volume]]\nname = \"v{volume}\"\nmount = \"{path}\"\n\
             disks = {{ type = \"{}\", count = {count} }}\n",
            disk.name
        );
        stripes(dice, count, text);
        caching(dice, size, disk, text);
        latency(dice, true, text);
        mounts.push(path);
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

fn caching(dice: &mut Dice, size: &VmSize, disk: &Disk, text: &mut String) {
    let cache = size.premium_caching && !size.cached.is_empty() && size.cache.is_some();
    if cache && disk.host_cacheable && dice.chance(60) {
        let start = dice.one_of(&["cold", "warm"]);
        let _ = writeln!(text, "caching = \"read-only\"\ncache = \"{start}\"");
    } else {
        text.push_str("caching = \"none\"\n");
    }
}

fn latency(dice: &mut Dice, may_lack: bool, text: &mut String) {
    match dice.number(1, 3) {
        1 if may_lack => text.push_str("latency = \"none\"\n"),
        2 if may_lack => {}
        _ => {
            let median = dice.magnitude(20, 10_000);
            let p99 = median * dice.number(10, 60) / 10;
            let _ = writeln!(
                text,
                "latency = {{ median = \"{median}us\", p99 = \"{p99}us\" }}"
            );
        }
    }
}

fn device(dice: &mut Dice, number: u64, text: &mut String, mounts: &mut Vec<String>) {
    let path = format!("/d{number}");
    let _ = write!(
        text,
        "[[device]]\nname = \"d{number}\"\nmount = \"{path}\"\nsize = \"1TiB\"\n"
    );
    let iops = dice.chance(70).then(|| dice.magnitude(50, 100_000));
    if let Some(iops) = iops {
        let _ = writeln!(text, "iops = {iops}");
    }
    let bytes = dice
        .chance(60)
        .then(|| dice.magnitude(1_000_000, 1_000_000_000));
    if let Some(bytes) = bytes {
        let _ = writeln!(text, "bandwidth = \"{bytes}B/s\"");
    }
    latency(dice, iops.is_some() || bytes.is_some(), text);
    mounts.push(path);
}
