//! What the kernel tells of the machine's processors.

use fathom_dialects::diskspd::{CpuUse, System};

use crate::processors::{CpuTicks, shares, ticks};

/// Use of each processor between two moments.
pub fn uses(before: &[CpuTicks], after: &[CpuTicks]) -> Vec<CpuUse> {
    let uses = shares(before, after).into_iter();
    uses.map(|(cpu, [user, kernel, idle])| CpuUse {
        cpu,
        core: topology(cpu, "core_id"),
        node: node(cpu),
        socket: topology(cpu, "physical_package_id"),
        user,
        kernel,
        idle,
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
