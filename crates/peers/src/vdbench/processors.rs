//! Use of the machine's processors, as the kernel counts it.

use fathom_dialects::vdbench::output::Processors;

use crate::processors::kinds;

/// Ticks since the machine started (proc(5), `/proc/stat`); `None` where the kernel does not tell.
pub fn now() -> Option<Processors> {
    parse(&std::fs::read_to_string("/proc/stat").ok()?)
}

fn parse(text: &str) -> Option<Processors> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let [user, nice, system, idle, iowait, irq, softirq, steal] = kinds(line.split_whitespace());
    Some(Processors {
        user: user + nice,
        system: system + irq + softirq + steal,
        wait: iowait,
        idle,
    })
}

/// What was used between two moments.
pub fn between(before: Processors, after: Processors) -> Processors {
    Processors {
        user: after.user.saturating_sub(before.user),
        system: after.system.saturating_sub(before.system),
        wait: after.wait.saturating_sub(before.wait),
        idle: after.idle.saturating_sub(before.idle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_all_processors_counts() {
        let text = "cpu  10 5 20 100 50 1 2 3 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        let expected = Processors {
            user: 15,
            system: 26,
            wait: 50,
            idle: 100,
        };
        assert_eq!(parse(text), Some(expected));
        assert_eq!(between(expected, expected), Processors::default());
    }
}
