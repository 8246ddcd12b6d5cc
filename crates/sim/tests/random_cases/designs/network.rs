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
