//! Random volumes over the network.

use std::fmt::Write;

use super::super::dice::Dice;
use super::{Reached, latency};

/// A volume over NFS that some of `vms` machines mount.
pub fn nfs(dice: &mut Dice, number: u64, vms: u64, text: &mut String) -> Reached {
    let level = dice.one_of(&["standard", "premium", "ultra"]);
    let _ = write!(
        text,
        "[[nfs]]\nname = \"n{number}\"\nmount = \"/n{number}\"\nlevel = \"{level}\"\nquota = \"{}GiB\"\n",
        dice.magnitude(100, 10_000)
    );
    if dice.chance(40) {
        let _ = writeln!(text, "iops = {}", dice.magnitude(500, 50_000));
    }
    let _ = writeln!(text, "connections = {}", dice.magnitude(1, 8));
    if dice.chance(40) {
        text.push_str("version = \"4.1\"\n");
    }
    if dice.chance(60) {
        let _ = writeln!(text, "slots = {}", dice.magnitude(1, 64));
    }
    if dice.chance(40) {
        let _ = writeln!(text, "window = \"{}KiB\"", dice.magnitude(16, 2048));
    }
    if dice.chance(50) {
        let (rsize, wsize) = (dice.magnitude(4, 1024), dice.magnitude(4, 1024));
        let _ = writeln!(text, "rsize = \"{rsize}KiB\"\nwsize = \"{wsize}KiB\"");
    }
    clients(dice, vms, text)
}

/// A share that some of `vms` machines mount.
pub fn smb(dice: &mut Dice, number: u64, vms: u64, text: &mut String) -> Reached {
    let model = dice.one_of(&["ssd-v1", "ssd-v1", "ssd-v2", "hdd-v2", "hdd-payg"]);
    let _ = write!(
        text,
        "[[smb]]\nname = \"s{number}\"\nmount = \"/s{number}\"\nmodel = \"{model}\"\n"
    );
    if model != "hdd-payg" {
        let _ = writeln!(text, "size = \"{}GiB\"", dice.magnitude(100, 20_000));
        if dice.chance(60) {
            let credits = dice.one_of(&["empty", "0.01%", "full"]);
            let _ = writeln!(text, "credits = \"{credits}\"");
        }
    }
    if model.starts_with("ssd") {
        let _ = writeln!(text, "channels = {}", dice.number(1, 4));
    }
    clients(dice, vms, text)
}

/// Latency, round trip, and who mounts it.
fn clients(dice: &mut Dice, vms: u64, text: &mut String) -> Reached {
    latency(dice, true, text);
    let rtt = dice.magnitude(20, 2_000);
    let _ = writeln!(text, "rtt = \"{rtt}us\"");
    if vms == 0 {
        return Reached::ByAll;
    }
    if vms > 1 && dice.chance(30) {
        let _ = writeln!(text, "on = [\"vm1\"]");
        return Reached::OverNetwork(vec!["vm1".to_owned()]);
    }
    Reached::OverNetwork((0..vms).map(|vm| format!("vm{vm}")).collect())
}
