//! What the kernel tells of the machine's processors.

use fathom_dialects::diskspd::{CpuUse, System};

/// Clock ticks of a processor since the machine started (proc(5), `/proc/stat`), by its number: user, kernel, idle.
pub type CpuTicks = (u32, [u64; 3]);

/// As it is now; empty where the kernel does not tell.
pub fn ticks() -> Vec<CpuTicks> {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<CpuTicks> {
    let mut words = line.strip_prefix("cpu")?.split_whitespace();
    if line.starts_with("cpu ") {
        return None;
    }
    let cpu = words.next()?.parse().ok()?;
    let all: Vec<u64> = words.map(|word| word.parse().unwrap_or(0)).collect();
    let tick = |index: usize| all.get(index).copied().unwrap_or(0);
    // user nice system idle iowait irq softirq steal
    let user = tick(0) + tick(1);
    let kernel = tick(2) + tick(5) + tick(6) + tick(7);
    Some((cpu, [user, kernel, tick(3) + tick(4)]))
}

/// Use of each processor between two moments.
pub fn uses(before: &[CpuTicks], after: &[CpuTicks]) -> Vec<CpuUse> {
    let both = before.iter().zip(after).filter(|(a, b)| a.0 == b.0);
    both.map(|((cpu, before), (_, after))| {
        let [user, kernel, idle] = [0, 1, 2].map(|at| after[at].saturating_sub(before[at]) as f64);
        let total = user + kernel + idle;
        let share = |part: f64| {
            if total > 0.0 {
                100.0 * part / total
            } else {
                0.0
            }
        };
        CpuUse {
            cpu: *cpu,
            core: topology(*cpu, "core_id"),
            node: node(*cpu),
            socket: topology(*cpu, "physical_package_id"),
            user: share(user),
            kernel: share(kernel),
            idle: if total > 0.0 { share(idle) } else { 100.0 },
        }
    })
    .collect()
}

fn topology(cpu: u32, name: &str) -> u32 {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

fn node(cpu: u32) -> u32 {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers = names.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix("node")?.parse().ok()
    });
    numbers.next().unwrap_or(0)
}

/// Name, governor and processors of the machine.
pub fn system() -> System {
    let read = |path: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned())
    };
    System {
        computer: read("/proc/sys/kernel/hostname").unwrap_or_default(),
        power: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
            .unwrap_or_else(|| "none".to_owned()),
        cpus: {
            let now = ticks();
            uses(&now, &now)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_shares() {
        assert_eq!(parse("cpu  1 2 3 4 5 6 7 8 9 10"), None);
        let line = "cpu3 10 5 20 100 50 1 2 3 0 0";
        assert_eq!(parse(line), Some((3, [15, 26, 150])));
        let uses = uses(&[(0, [0, 0, 0])], &[(0, [1, 1, 2])]);
        assert!((uses[0].user - 25.0).abs() < 1e-9 && (uses[0].idle - 50.0).abs() < 1e-9);
    }
}
