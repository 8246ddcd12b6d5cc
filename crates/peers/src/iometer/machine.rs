//! What the kernel counts of processors, interrupts and networks (proc(5)).

use std::collections::BTreeMap;

use fathom_dialects::iometer::{CpuTimes, Machine};
use fathom_units::Nanos;

use crate::processors::counts;

/// Counters at one moment; empty where the kernel does not tell.
#[derive(Debug, Default)]
pub(super) struct Counters {
    at: Nanos,
    cpus: BTreeMap<u32, [u64; 6]>,
    interrupts: Vec<u64>,
    packets: u64,
    packet_errors: u64,
    retransmitted: u64,
}

impl Counters {
    /// As they are.
    pub(super) fn now() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let (packets, packet_errors) = packets(&read("/proc/net/dev"));
        Self {
            at: fathom_rawio::Clock::now(),
            cpus: read("/proc/stat").lines().filter_map(cpu).collect(),
            interrupts: interrupts(&read("/proc/interrupts")),
            packets,
            packet_errors,
            retransmitted: retransmitted(&read("/proc/net/snmp")),
        }
    }

    /// What happened since `before`.
    pub(super) fn since(&self, before: &Self) -> Machine {
        let seconds = self.at.saturating_sub(before.at).as_secs_f64();
        let rate = |now: u64, then: u64| {
            let more = now.saturating_sub(then) as f64;
            if seconds > 0.0 { more / seconds } else { 0.0 }
        };
        let cpus = self
            .cpus
            .iter()
            .zip(0usize..)
            .filter_map(|((cpu, now), place)| {
                let then = before.cpus.get(cpu)?;
                let count = |of: &Self| of.interrupts.get(place).copied().unwrap_or(0);
                Some(CpuTimes {
                    cpu: *cpu,
                    shares: shares(now, then),
                    interrupts: rate(count(self), count(before)),
                })
            });
        Machine {
            cpus: cpus.collect(),
            packets: rate(self.packets, before.packets),
            packet_errors: self.packet_errors.saturating_sub(before.packet_errors) as f64,
            retransmitted: rate(self.retransmitted, before.retransmitted),
        }
    }
}

/// A processor's line of `/proc/stat` as user, kernel, idle, interrupts, deferred calls, other.
fn cpu(line: &str) -> Option<(u32, [u64; 6])> {
    let (cpu, [user, nice, system, idle, iowait, irq, softirq, steal]) = counts(line)?;
    let parts = [user + nice, system, idle + iowait, irq, softirq, steal];
    Some((cpu, parts))
}

/// All that is not idle, programs, the kernel with its interrupts, deferred calls, interrupts, in percent.
fn shares(now: &[u64; 6], then: &[u64; 6]) -> [f64; 5] {
    let spent: [f64; 6] = std::array::from_fn(|at| now[at].saturating_sub(then[at]) as f64);
    let [user, kernel, idle, irq, softirq, other] = spent;
    let total: f64 = spent.iter().sum();
    let share = |part: f64| {
        if total > 0.0 {
            100.0 * part / total
        } else {
            0.0
        }
    };
    [
        share(total - idle),
        share(user),
        share(kernel + irq + softirq + other),
        share(softirq),
        share(irq),
    ]
}

/// Interrupts of each processor: a column a processor, a row a source.
fn interrupts(text: &str) -> Vec<u64> {
    let mut lines = text.lines();
    let count = lines
        .next()
        .map_or(0, |line| line.split_whitespace().count());
    let mut sums = vec![0u64; count];
    for line in lines {
        let numbers = line
            .split_whitespace()
            .skip(1)
            .map_while(|word| word.parse::<u64>().ok());
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum = sum.saturating_add(number);
        }
    }
    sums
}

/// Packets received and sent, and those that were wrong.
fn packets(text: &str) -> (u64, u64) {
    let of_line = |line: &str| -> Option<(u64, u64)> {
        let (_, numbers) = line.split_once(':')?;
        let numbers = numbers.split_whitespace();
        let numbers: Vec<u64> = numbers.map(|word| word.parse().unwrap_or(0)).collect();
        let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
        Some((number(1) + number(9), number(2) + number(10)))
    };
    let all = text.lines().filter_map(of_line);
    all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Of the two lines of TCP, the second has the values of the names in the first.
fn retransmitted(text: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with("Tcp:"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return 0;
    };
    let mut both = names.split_whitespace().zip(values.split_whitespace());
    let found = both.find(|(name, _)| *name == "RetransSegs");
    found.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read() {
        assert_eq!(cpu("cpu  1 2 3 4 5 6 7 8"), None);
        assert_eq!(
            cpu("cpu3 10 5 20 100 50 1 2 3 0 0"),
            Some((3, [15, 20, 150, 1, 2, 3]))
        );
        let found = shares(&[10, 20, 50, 5, 10, 5], &[0; 6]);
        let expected = [50.0, 10.0, 40.0, 10.0, 5.0];
        let mut both = found.iter().zip(expected);
        assert!(
            both.all(|(found, expected)| (found - expected).abs() < 1e-9),
            "{found:?}"
        );
        let text = "           CPU0       CPU1\n  0:  5  6   IO-APIC timer\nLOC: 100 200 Local timer\nERR: 1\n";
        assert_eq!(interrupts(text), [106, 206]);
        let text =
            "Inter-| Receive\n face |bytes packets errs\n eth0: 1 2 3 4 5 6 7 8 9 10 11 12\n";
        assert_eq!(packets(text), (12, 14));
        let text = "Tcp: A RetransSegs B\nTcp: 1 7 2\n";
        assert_eq!(retransmitted(text), 7);
    }
}
