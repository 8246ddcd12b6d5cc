//! Random designs: machines with volumes, devices of any figures, and volumes over the network.

mod machine;
mod network;

use std::fmt::Write;

use super::dice::Dice;

/// A place for files.
#[derive(Debug, Clone)]
pub struct Mount {
    pub path: String,
    pub reached: Reached,
}

/// Who reaches a mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// Every machine, or a design without any.
    ByAll,
    /// The machine that has it.
    By(String),
    /// Machines that mount it over the network; a job must say which it is.
    OverNetwork(Vec<String>),
}

/// A design and its mounts, which are places for files.
pub fn design(dice: &mut Dice) -> (String, Vec<Mount>) {
    let mut text = String::new();
    let mut mounts = Vec::new();
    let vms = dice.one_of(&[0, 1, 1, 1, 2]);
    for number in 0..vms {
        machine::vm(dice, number, &mut text, &mut mounts);
    }
    let least = u64::from(vms == 0);
    for number in 0..least.max(dice.one_of(&[0, 0, 1, 2])) {
        let mount = format!("/d{number}");
        device(dice, number, &mut text);
        mounts.push(Mount {
            path: mount,
            reached: Reached::ByAll,
        });
    }
    for number in 0..dice.one_of(&[0, 0, 0, 1, 2]) {
        let reached = network::nfs(dice, number, vms, &mut text);
        let path = format!("/n{number}");
        mounts.push(Mount { path, reached });
    }
    for number in 0..dice.one_of(&[0, 0, 0, 1]) {
        let reached = network::smb(dice, number, vms, &mut text);
        let path = format!("/s{number}");
        mounts.push(Mount { path, reached });
    }
    (text, mounts)
}

/// Media latency; `may_lack`: none at all is possible.
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

fn device(dice: &mut Dice, number: u64, text: &mut String) {
    let _ = write!(
        text,
        "[[device]]\nname = \"d{number}\"\nmount = \"/d{number}\"\nsize = \"1TiB\"\n"
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
    let of_disks = dice.chance(40);
    if of_disks {
        let kind = dice.one_of(&["ssd-slc", "ssd-mlc", "15k", "10k", "7.2k"]);
        let _ = writeln!(text, "type = \"{kind}\"\ndisks = {}", dice.number(3, 8));
        if dice.chance(50) {
            text.push_str("raid = \"5\"\n");
        }
        if dice.chance(50) {
            let _ = writeln!(text, "stripe_unit = \"{}KiB\"", 4 << dice.number(0, 8));
        }
    }
    latency(dice, iops.is_some() || bytes.is_some() || of_disks, text);
}
