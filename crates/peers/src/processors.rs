//! How the machine's processors shared their time, as the kernel counts it.

/// Clock ticks of a processor since the machine started (proc(5), `/proc/stat`), by its number: user, kernel, idle.
pub type CpuTicks = (u32, [u64; 3]);

/// As it is now; empty where the kernel does not tell.
pub fn ticks() -> Vec<CpuTicks> {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<CpuTicks> {
    let (cpu, [user, nice, system, idle, iowait, irq, softirq, steal]) = counts(line)?;
    let kernel = system + irq + softirq + steal;
    Some((cpu, [user + nice, kernel, idle + iowait]))
}

/// `cpu3 user nice system idle iowait irq softirq steal …` of `/proc/stat`; `None` of other lines, that of all processors too.
pub fn counts(line: &str) -> Option<(u32, [u64; 8])> {
    let mut words = line.strip_prefix("cpu")?.split_whitespace();
    if line.starts_with("cpu ") {
        return None;
    }
    let cpu = words.next()?.parse().ok()?;
    Some((cpu, kinds(words)))
}

/// Ticks as such a line has them behind its name: user, nice, system, idle, iowait, irq, softirq, steal. Older kernels count
/// fewer.
pub fn kinds<'w>(mut words: impl Iterator<Item = &'w str>) -> [u64; 8] {
    std::array::from_fn(|_| {
        let word = words.next();
        word.and_then(|word| word.parse().ok()).unwrap_or(0)
    })
}

/// Percent of each processor's time between two moments, by its number: user, kernel, idle. One that did not tick was idle.
pub fn shares(before: &[CpuTicks], after: &[CpuTicks]) -> Vec<(u32, [f64; 3])> {
    let both = before.iter().zip(after).filter(|(a, b)| a.0 == b.0);
    both.map(|((cpu, before), (_, after))| {
        let parts = [0, 1, 2].map(|at| after[at].saturating_sub(before[at]) as f64);
        let total: f64 = parts.iter().sum();
        if total > 0.0 {
            (*cpu, parts.map(|part| 100.0 * part / total))
        } else {
            (*cpu, [0.0, 0.0, 100.0])
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_shares() {
        assert_eq!(parse("cpu  1 2 3 4 5 6 7 8 9 10"), None);
        let line = "cpu3 10 5 20 100 50 1 2 3 0 0";
        assert_eq!(parse(line), Some((3, [15, 26, 150])));
        let found = shares(&[(0, [0, 0, 0])], &[(0, [1, 1, 2])]);
        assert_eq!(found, [(0, [25.0, 25.0, 50.0])]);
        let found = shares(&[(7, [5, 5, 5])], &[(7, [5, 5, 5])]);
        assert_eq!(found, [(7, [0.0, 0.0, 100.0])]);
    }
}
