//! The machine and the use of its processors.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What is told of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct System {
    /// Its name.
    pub computer: String,
    /// The processors' frequency governor, in place of a power scheme.
    pub power: String,
    /// Its processors; their use says nothing.
    pub cpus: Vec<CpuUse>,
}

/// One processor, and what of the measured time it was used for, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuUse {
    /// Number of the processor.
    pub cpu: u32,
    /// Number of its core.
    pub core: u32,
    /// Number of its node of memory.
    pub node: u32,
    /// Number of its socket.
    pub socket: u32,
    /// Share spent in programs.
    pub user: f64,
    /// Share spent in the kernel.
    pub kernel: f64,
    /// Share spent idle.
    pub idle: f64,
}

/// Name, start, and how many of everything there are.
pub fn write_system(text: &mut String, system: &System, started_unix_ns: u64) {
    let computer = &system.computer;
    let _ = writeln!(text, "System information:\n\n\tcomputer name: {computer}");
    let _ = writeln!(text, "\tstart time: {}\n", date(started_unix_ns));
    let cpus = &system.cpus;
    let counts = [
        ("cpu count:\t\t", cpus.len()),
        ("core count:\t\t", distinct(cpus, |it| (it.socket, it.core))),
        ("group count:\t\t", 1),
        ("node count:\t\t", distinct(cpus, |it| (0, it.node))),
        ("socket count:\t\t", distinct(cpus, |it| (0, it.socket))),
    ];
    for (name, count) in counts {
        let _ = writeln!(text, "\t{name}{count}");
    }
    let _ = writeln!(
        text,
        "\theterogeneous cores:\tn\n\n\tactive power scheme:\t{}",
        system.power
    );
}

fn distinct(cpus: &[CpuUse], key: impl Fn(&CpuUse) -> (u32, u32)) -> usize {
    cpus.iter().map(key).collect::<BTreeSet<_>>().len()
}

/// The table of processors; columns of sockets, nodes and cores stand where there is something to tell apart.
pub fn write_table(text: &mut String, cpus: &[CpuUse]) {
    type Column = (&'static str, usize, fn(&CpuUse) -> u32);
    let columns: [(bool, Column); 3] = [
        (
            distinct(cpus, |it| (0, it.socket)) > 1,
            ("Socket", 7, |it| it.socket),
        ),
        (
            distinct(cpus, |it| (0, it.node)) > 1,
            ("Node", 5, |it| it.node),
        ),
        (
            distinct(cpus, |it| (it.socket, it.core)) < cpus.len(),
            ("Core", 5, |it| it.core),
        ),
    ];
    let shown = || {
        columns
            .iter()
            .filter(|(shown, _)| *shown)
            .map(|(_, column)| column)
    };
    let indent: usize = shown().map(|(_, width, _)| width + 2).sum();
    for (name, width, _) in shown() {
        let title = format!("{name} ");
        let _ = write!(text, "{title:>width$}| ");
    }
    text.push_str("CPU |  Usage |  User  | Kernel |  Idle\n");
    let rule = "-".repeat(40 + indent);
    let _ = writeln!(text, "{rule}");
    for one in cpus {
        for (_, width, value) in shown() {
            let _ = write!(text, "{:>width$}| ", value(one));
        }
        let _ = write!(text, "{:>4}", one.cpu);
        shares(text, one);
    }
    let _ = write!(text, "{rule}\n{}avg.", " ".repeat(indent));
    match average(cpus) {
        Some(average) => shares(text, &average),
        None => {
            let _ = writeln!(text, "{}", "|     N/A".repeat(4));
        }
    }
}

/// Mean use of all processors; `None` where that of none is known.
pub fn average(cpus: &[CpuUse]) -> Option<CpuUse> {
    if cpus.is_empty() {
        return None;
    }
    let count = cpus.len() as f64;
    let mean = |share: fn(&CpuUse) -> f64| cpus.iter().map(share).sum::<f64>() / count;
    Some(CpuUse {
        user: mean(|it| it.user),
        kernel: mean(|it| it.kernel),
        idle: mean(|it| it.idle),
        ..CpuUse::default()
    })
}

fn shares(text: &mut String, one: &CpuUse) {
    for share in [100.0 - one.idle, one.user, one.kernel] {
        let _ = write!(text, "| {share:6.2}%");
    }
    let _ = writeln!(text, "| {:6.2}%", one.idle);
}

/// Nanoseconds since the epoch as `2026/09/03 10:00:00 UTC`; days to a date after Howard Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms", 2021, `civil_from_days`.
pub fn date(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (day, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year + era * 400 + later;
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!(
        "{year}/{month:02}/{of_month:02} {hour:02}:{minute:02}:{:02} UTC",
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_dates() {
        assert_eq!(date(0), "1970/01/01 00:00:00 UTC");
        assert_eq!(date(951_782_400_000_000_000), "2000/02/29 00:00:00 UTC");
        assert_eq!(date(1_788_429_599_000_000_000), "2026/09/03 09:59:59 UTC");
    }
}
