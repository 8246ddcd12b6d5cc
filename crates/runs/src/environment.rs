//! The machine a run was made on, as far as the kernel tells.

use serde_json::{Value, json};

/// Kernel, processors and memory of this machine. What cannot be read is `null`.
pub fn environment() -> Value {
    let read = |path: &str| {
        std::fs::read_to_string(path)
            .ok()
            .map(|text| text.trim().to_owned())
    };
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        line.split_once(':')
            .map(|(_, value)| value.trim().to_owned())
    };
    let memory_kib = read("/proc/meminfo").and_then(|text| {
        let line = text
            .lines()
            .find(|line| line.starts_with("MemTotal:"))?
            .to_owned();
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "kernel": read("/proc/sys/kernel/osrelease"),
        "hostname": read("/proc/sys/kernel/hostname"),
        "cpu_model": field("model name"),
        "cpu_count": std::thread::available_parallelism().ok().map(std::num::NonZero::get),
        "memory_bytes": memory_kib.map(|kib| kib * 1024),
        "clock_source": read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernel_is_named() {
        let environment = super::environment();
        assert!(
            environment["kernel"]
                .as_str()
                .is_some_and(|kernel| !kernel.is_empty())
        );
        assert!(
            environment["memory_bytes"]
                .as_u64()
                .is_some_and(|bytes| bytes > 1 << 20)
        );
    }
}
