//! Random workloads on given mounts.

use std::fmt::Write;

use super::designs::{Mount, Reached};
use super::dice::Dice;

/// A workload as a native file. Files lie on `mounts`.
pub fn workload(dice: &mut Dice, mounts: &[Mount]) -> String {
    let mut text = format!("seed = {}\n", dice.number(0, 1 << 40));
    for stage in 0..dice.one_of(&[1, 1, 2]) {
        let time_us = dice.magnitude(20_000, 300_000);
        let _ = write!(
            text,
            "[[stage]]\nname = \"s{stage}\"\nrepeats = {}\ncooldown = \"{}us\"\n",
            dice.one_of(&[1, 1, 1, 2]),
            dice.one_of(&[0, 1, 7_321, 5_000_000, 5_000_000]),
        );
        for number in 0..dice.magnitude(1, 5) {
            job(dice, &format!("j{number}"), mounts, time_us, &mut text);
        }
    }
    text
}

fn job(dice: &mut Dice, name: &str, mounts: &[Mount], time_us: u64, text: &mut String) {
    let workers = dice.magnitude(1, 4);
    let _ = write!(
        text,
        "[[stage.job]]\nname = \"{name}\"\nworkers = {workers}\ndepth = {}\n",
        dice.magnitude(1, 64)
    );
    let largest = blocks(dice, text);
    targets(dice, name, mounts, largest, text);
    let read = dice.one_of(&[0, 20, 50, 70, 100, 100]);
    let write = 100 - read;
    let _ = writeln!(text, "mix = {{ read = \"{read}%\", write = \"{write}%\" }}");
    access(dice, text);
    arrival(dice, text);
    if dice.chance(10) {
        text.push_str("backend = \"sync\"\n");
    }
    if dice.chance(10) {
        text.push_str("sync = { open = \"dsync\" }\n");
    }
    if dice.chance(30) {
        let _ = writeln!(text, "start_delay = \"{}ns\"", dice.number(1, 20_000_000));
    }
    if dice.chance(30) {
        let _ = writeln!(text, "warmup = \"{}us\"", dice.number(1, 30_000));
    }
    let ios = dice.number(50, 1_500) / workers;
    let _ = match dice.number(1, 4) {
        1 => writeln!(text, "measure = {{ ios = {} }}", ios / 4 + 1),
        _ => writeln!(text, "measure = {{ time = \"{time_us}us\", ios = {ios} }}"),
    };
}

/// Sizes of I/Os; gives the largest in KiB.
fn blocks(dice: &mut Dice, text: &mut String) -> u64 {
    let mut size = || 1 << dice.one_of(&[2_u64, 2, 3, 4, 6, 8, 9]);
    let (one, other) = (size(), size());
    if dice.chance(60) {
        let _ = writeln!(text, "block = \"{one}KiB\"");
        one
    } else if dice.chance(50) {
        let _ = writeln!(
            text,
            "block = [{{ size = \"{one}KiB\", weight = 3 }}, {{ size = \"{other}KiB\", weight = 2 }}]"
        );
        one.max(other)
    } else {
        let _ = writeln!(
            text,
            "block = {{ read = \"{one}KiB\", write = \"{other}KiB\" }}"
        );
        one.max(other)
    }
}

fn targets(dice: &mut Dice, name: &str, mounts: &[Mount], largest: u64, text: &mut String) {
    let first = &mounts[dice.number(0, mounts.len() as u64 - 1) as usize];
    let host = match &first.reached {
        Reached::OverNetwork(hosts) => {
            let host = &hosts[dice.number(0, hosts.len() as u64 - 1) as usize];
            let _ = writeln!(text, "host = \"{host}\"");
            Some(host)
        }
        Reached::By(_) | Reached::ByAll => None,
    };
    let reached = |mount: &&Mount| match (&mount.reached, host) {
        (Reached::ByAll, _) | (Reached::By(_), None) => true,
        (Reached::By(machine), Some(host)) => machine == host,
        (Reached::OverNetwork(hosts), Some(host)) => hosts.contains(host),
        (Reached::OverNetwork(_), None) => false,
    };
    let others: Vec<_> = mounts.iter().filter(reached).collect();
    let mut list = Vec::new();
    for number in 0..dice.one_of(&[1, 1, 2, 3]) {
        let mount = if number == 0 {
            first
        } else {
            dice.one_of(&others)
        };
        let size = largest * dice.magnitude(1, 200) + dice.one_of(&[0, 0, 4]);
        let file = if dice.chance(20) {
            "shared".to_owned()
        } else {
            format!("{name}.{number}")
        };
        let offset = dice.one_of(&[0, 0, 0, 4, 100]);
        list.push(format!(
            "{{ path = \"{}/{file}\", size = \"{size}KiB\", offset = \"{offset}KiB\" }}",
            mount.path
        ));
    }
    let _ = writeln!(text, "targets = [{}]", list.join(", "));
    let choice = dice.one_of(&["round-robin", "random", "sequential"]);
    let _ = writeln!(text, "file_choice = \"{choice}\"");
}

fn access(dice: &mut Dice, text: &mut String) {
    let kind = match dice.number(1, 7) {
        1 => "\"sequential\"".to_owned(),
        2 => "{ kind = \"sequential\", scope = \"shared\" }".to_owned(),
        3 => "{ kind = \"mixed\", random = \"30%\" }".to_owned(),
        4 => "\"each-block-once\"".to_owned(),
        _ => "\"independent\"".to_owned(),
    };
    let _ = writeln!(text, "access = {kind}");
}

fn arrival(dice: &mut Dice, text: &mut String) {
    let process = dice.one_of(&["fixed", "poisson"]);
    match dice.number(1, 6) {
        1 => {
            let rate = dice.magnitude(50, 20_000);
            let _ = writeln!(
                text,
                "arrival = {{ rate = \"{rate}/s\", process = \"{process}\" }}"
            );
        }
        2 => {
            let rate = dice.magnitude(1_000_000, 400_000_000);
            let _ = writeln!(
                text,
                "arrival = {{ rate = \"{rate}B/s\", process = \"{process}\" }}"
            );
        }
        _ => {}
    }
}
