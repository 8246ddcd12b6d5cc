//! The kernel's counters of block devices.

use std::fs;

use fathom_record::DeviceCounters;
use fathom_units::Nanos;

/// A moment's counters of the named devices, in the order of the names; devices that are gone are left out.
///
/// Format: `Documentation/admin-guide/iostats.rst` of the kernel.
pub(crate) fn read(names: &[String]) -> Vec<DeviceCounters> {
    let counters = names.iter().filter_map(|name| {
        let text = fs::read_to_string(format!("/sys/class/block/{name}/stat")).ok()?;
        parse(name, &text)
    });
    counters.collect()
}

fn parse(name: &str, text: &str) -> Option<DeviceCounters> {
    let numbers: Vec<u64> = text
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let [
        read_ios,
        read_merges,
        read_sectors,
        read_ticks,
        write_ios,
        write_merges,
        write_sectors,
        write_ticks,
        _in_flight,
        busy_ms,
        in_queue_ms,
        ..,
    ] = numbers[..]
    else {
        return None;
    };
    Some(DeviceCounters {
        name: name.to_owned(),
        ios: [read_ios, write_ios],
        sectors: [read_sectors, write_sectors],
        merges: [read_merges, write_merges],
        ticks_ms: [read_ticks, write_ticks],
        in_queue_ms,
        busy_ms,
        over: Nanos::ZERO,
    })
}

/// What happened between two readings, `over` apart.
pub(crate) fn between(
    before: &[DeviceCounters],
    after: &[DeviceCounters],
    over: Nanos,
) -> Vec<DeviceCounters> {
    let minus = |after: [u64; 2], before: [u64; 2]| {
        std::array::from_fn(|way| after[way].saturating_sub(before[way]))
    };
    let differences = after.iter().filter_map(|after| {
        let before = before.iter().find(|before| before.name == after.name)?;
        Some(DeviceCounters {
            name: after.name.clone(),
            ios: minus(after.ios, before.ios),
            sectors: minus(after.sectors, before.sectors),
            merges: minus(after.merges, before.merges),
            ticks_ms: minus(after.ticks_ms, before.ticks_ms),
            in_queue_ms: after.in_queue_ms.saturating_sub(before.in_queue_ms),
            busy_ms: after.busy_ms.saturating_sub(before.busy_ms),
            over,
        })
    });
    differences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_and_subtracted() {
        let before = parse("sda", "1 2 3 4 5 6 7 8 0 9 10 0 0 0 0 0 0").unwrap();
        let after = parse("sda", "  11 2 83 14 6 6 15 9 1 109 60").unwrap();
        let over = Nanos::from_secs(1);
        let found = between(&[before], &[after], over);
        let expected = DeviceCounters {
            name: "sda".to_owned(),
            ios: [10, 1],
            sectors: [80, 8],
            merges: [0, 0],
            ticks_ms: [10, 1],
            in_queue_ms: 50,
            busy_ms: 100,
            over,
        };
        assert_eq!(found, [expected]);
        assert_eq!(parse("sda", "1 2 3"), None);
    }
}
