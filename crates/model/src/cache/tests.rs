//! Tests of what the cache holds, gives up, keeps dirty and loses.

use super::*;
use crate::random::mix;

const GIB: u64 = 1 << 30;

#[test]
fn blocks_are_hits_once_filled() {
    let mut cache = HostCache::new(4 * LINE, 100 * LINE);
    assert!(!cache.holds(0, 8192));
    cache.fill(0, 4096);
    assert!(!cache.holds(0, 8192));
    cache.fill(4096, 4096);
    assert!(cache.holds(0, 8192));
}

#[test]
fn the_capacity_is_kept_and_used_lines_stay() {
    let mut cache = HostCache::new(4 * LINE, 100 * LINE);
    for line in 0..4 {
        cache.fill(line * LINE, LINE);
    }
    // All four were used when they were filled: the hand clears the marks and takes the first.
    cache.fill(50 * LINE, LINE);
    assert!(!cache.holds(0, LINE));
    assert!(cache.holds(2 * LINE, LINE));
    cache.fill(51 * LINE, LINE);
    assert!(!cache.holds(LINE, LINE), "the next that was not used");
    cache.fill(52 * LINE, LINE);
    assert!(cache.holds(2 * LINE, LINE), "the line in use was given up");
    assert!(!cache.holds(3 * LINE, LINE));
    for line in 60..90 {
        cache.fill(line * LINE, 4096);
        assert!(cache.resident_bytes() <= 4 * LINE);
    }
}

#[test]
fn capacity_is_counted_in_blocks() {
    let mut cache = HostCache::new(4 * LINE, 1000 * LINE);
    for line in 0..64 {
        cache.fill(line * LINE, 4096);
    }
    assert!((0..64).all(|line| cache.holds(line * LINE, 4096)));
    assert_eq!(cache.resident_bytes(), 4 * LINE);
}

#[test]
fn warming_stops_at_the_capacity() {
    let mut cache = HostCache::new(4 * LINE, 100 * LINE);
    assert_eq!(cache.warm(0, 4 * LINE), Warmed::All);
    assert_eq!(cache.warm(4 * LINE, 1), Warmed::Full);
    assert_eq!(cache.resident_bytes(), 4 * LINE);
    assert!(cache.holds(3 * LINE, LINE) && !cache.holds(4 * LINE, 1));
    cache.cold();
    assert!(!cache.holds(3 * LINE, 1) && cache.resident_bytes() == 0);
    assert_eq!(cache.warm(0, 4 * LINE), Warmed::All);
}

/// Whole lines are taken in by their bits alone: that must be told from nothing but the time it takes.
#[test]
fn whole_lines_are_as_if_taken_in_one_by_one() {
    for seed in 0..50 {
        let mut quick = HostCache::new(300 * LINE, 300 * LINE);
        let mut plain = quick.clone();
        for step in 0..40 {
            let number = mix(seed << 32 | step);
            let offset = number % (200 * LINE) / 4096 * 4096;
            let length = 1 + (number >> 32) % (100 * LINE);
            match number >> 61 {
                0..=4 => {
                    assert_eq!(quick.warm(offset, length), Warmed::All);
                    assert_eq!(plain.warm_lines(offset..offset + length), Warmed::All);
                }
                5 => {
                    quick.forget(offset, length);
                    plain.forget(offset, length);
                }
                _ => {
                    quick.fill(offset, length % 9000);
                    plain.fill(offset, length % 9000);
                }
            }
            let valid = |cache: &HostCache| (0..300).map(|line| cache.valid(line)).collect();
            let (found, expected): (Vec<u16>, Vec<u16>) = (valid(&quick), valid(&plain));
            assert_eq!(found, expected, "seed {seed}, step {step}");
            assert_eq!(quick.resident, plain.resident);
            assert_eq!(quick.wholes, plain.wholes);
            for offset in (0..300 * LINE - 4096).step_by(50_000) {
                assert_eq!(quick.holds(offset, 4096), plain.holds(offset, 4096));
            }
        }
    }
}

#[test]
fn a_cache_without_room_holds_nothing() {
    let mut cache = HostCache::new(100, 10 * LINE);
    cache.fill(0, LINE);
    assert!(!cache.holds(0, 1));
}

/// What the marks and counts say is what the masks say, after any history.
#[test]
fn counts_agree_with_masks_after_any_history() {
    for seed in 0..20 {
        let disks = [0..40 * LINE, 40 * LINE..100 * LINE];
        let capacity = [30, 100][seed as usize % 2];
        let mut cache = HostCache::new(capacity * LINE, 100 * LINE).with_write_back(&disks);
        let mut runs = Vec::new();
        for step in 0..3000 {
            let number = mix(seed << 32 | step);
            let (offset, length) = (number % (99 * LINE), 1 + (number >> 32) % 9000);
            let disk = usize::from(offset >= 40 * LINE);
            let inside = length.min(disks[disk].end - offset);
            match number >> 61 {
                0..=3 => cache.fill(offset, length),
                4 if cache.takes_writes() => cache.write(disk, offset, inside),
                5 => {
                    cache.flush(disk);
                    cache.start_writes(disk, &mut runs);
                    for run in runs.drain(..) {
                        cache.written(disk, run);
                    }
                }
                6 if number.is_multiple_of(100) => {
                    cache.crash();
                }
                _ => {
                    cache.holds(offset, length);
                }
            }
            let valid = (0..cache.lines.len()).map(|line| cache.valid(line));
            let blocks: u32 = valid.map(u16::count_ones).sum();
            assert_eq!(u64::from(blocks), cache.resident);
            assert!(cache.resident <= cache.capacity);
        }
        let bit = |bits: &[u64], line: usize| bits.get(line / 64).map(|it| it >> (line % 64) & 1);
        let mut wholes = 0;
        for line in 0..cache.lines.len() {
            let valid = cache.valid(line);
            let occupied = bit(&cache.occupied, line);
            assert!(
                occupied.is_none_or(|bit| bit == u64::from(valid != 0)),
                "seed {seed}, line {line}"
            );
            let whole = bit(&cache.whole, line);
            assert!(
                whole.is_none_or(|bit| bit == u64::from(valid == u16::MAX)),
                "seed {seed}, line {line}"
            );
            assert_ne!(occupied.is_some(), whole.is_some());
            wholes += whole.unwrap_or_default();
        }
        assert_eq!(cache.wholes as u64, wholes, "seed {seed}");
    }
}

/// A write-back cache of `lines` lines over one disk of 1,000.
fn write_back(lines: u64) -> HostCache {
    let disk = 0..1000 * LINE;
    HostCache::new(lines * LINE, 1000 * LINE).with_write_back(std::slice::from_ref(&disk))
}

fn started(cache: &mut HostCache) -> Vec<Run> {
    let mut runs = Vec::new();
    cache.start_writes(0, &mut runs);
    runs
}

fn ranges(runs: &[Run]) -> Vec<(u64, u64)> {
    runs.iter().map(|run| (run.offset, run.length)).collect()
}

#[test]
fn dirty_blocks_are_written_when_due_oldest_first() {
    let mut cache = write_back(100);
    cache.write(0, 7 * LINE, 4096);
    cache.write(0, 3 * LINE + 8192, 8192);
    cache.write(0, 7 * LINE + 32768, 4096);
    assert!(cache.holds(7 * LINE, 4096));
    assert_eq!(cache.dirty_bytes(), 16384);
    assert!(started(&mut cache).is_empty(), "nothing is due yet");
    let number = cache.flush(0);
    let runs = started(&mut cache);
    let expected = [
        (7 * LINE, 4096),
        (7 * LINE + 32768, 4096),
        (3 * LINE + 8192, 8192),
    ];
    assert_eq!(ranges(&runs), expected);
    assert_eq!(cache.dirty_bytes(), 16384, "under way is not yet written");
    for (index, run) in runs.iter().rev().enumerate() {
        assert!(!cache.is_durable(0, number), "{index} written");
        cache.written(0, *run);
    }
    assert!(cache.is_durable(0, number));
    assert_eq!(cache.dirty_bytes(), 0);
    assert!(cache.holds(7 * LINE, 4096), "written blocks stay");
}

#[test]
fn a_flush_waits_for_earlier_writes_alone() {
    let mut cache = write_back(100);
    cache.write(0, 0, 4096);
    let number = cache.flush(0);
    let first = started(&mut cache);
    // The line becomes dirty again while its first write is under way, and another after it.
    cache.write(0, 0, 4096);
    cache.write(0, 9 * LINE, 4096);
    cache.written(0, first[0]);
    assert!(cache.is_durable(0, number));
    let number = cache.flush(0);
    assert!(!cache.is_durable(0, number));
    let second = started(&mut cache);
    assert_eq!(ranges(&second), [(0, 4096), (9 * LINE, 4096)]);
}

#[test]
fn lines_written_one_after_another_go_together_up_to_256_kib() {
    let mut cache = write_back(1000);
    for line in 10..16 {
        cache.write(0, line * LINE, LINE);
    }
    cache.flush(0);
    let runs = started(&mut cache);
    assert_eq!(
        ranges(&runs),
        [(10 * LINE, 4 * LINE), (14 * LINE, 2 * LINE)]
    );
}

#[test]
fn background_writes_are_bounded_and_a_share_of_dirty_lines_too() {
    let mut cache = write_back(500);
    // A tenth of 500 lines may be dirty before all are due at once; lines far apart do not go together.
    for line in 0..50 {
        cache.write(0, line * 2 * LINE, 4096);
    }
    assert!(started(&mut cache).is_empty());
    cache.write(0, 200 * LINE, 4096);
    let runs = started(&mut cache);
    assert_eq!(runs.len(), FLUSH_DEPTH);
    assert!(started(&mut cache).is_empty(), "the disk is given no more");
    cache.written(0, runs[3]);
    assert_eq!(started(&mut cache).len(), 1);
    // A fifth: writes go through.
    for line in 300..400 {
        if !cache.takes_writes() {
            break;
        }
        cache.write(0, line * 2 * LINE, 4096);
    }
    assert!(!cache.takes_writes());
    assert_eq!(cache.dirty_bytes(), (100 + FLUSH_DEPTH as u64) * 4096);
    assert!(!HostCache::new(500 * LINE, LINE).takes_writes());
}

#[test]
fn dirty_lines_are_not_given_up() {
    let mut cache = write_back(20);
    cache.write(0, 0, 4096);
    cache.write(0, LINE, 4096);
    for line in 100..400 {
        cache.fill(line * LINE, LINE);
    }
    assert!(cache.holds(0, 4096) && cache.holds(LINE, 4096));
    cache.flush(0);
    for run in started(&mut cache) {
        cache.written(0, run);
    }
    for line in 400..900 {
        cache.fill(line * LINE, LINE);
    }
    assert!(!cache.holds(0, 4096), "a clean line can be given up");
}

/// Bytes that a crash loses.
fn lost(cache: &mut HostCache) -> u64 {
    let disks = cache.crash().into_iter();
    let ranges = disks.flat_map(|(_, ranges)| ranges);
    ranges.map(|range| range.length).sum()
}

#[test]
fn a_crash_loses_what_no_disk_has_and_nothing_else() {
    let mut cache = write_back(100);
    cache.fill(50 * LINE, LINE);
    cache.write(0, 0, 4096);
    cache.write(0, 10 * LINE, 8192);
    cache.flush(0);
    let runs = started(&mut cache);
    cache.written(0, runs[0]);
    // 8 KiB under way, of which 4 KiB are dirty again, and 4 KiB dirty.
    cache.write(0, 10 * LINE, 4096);
    cache.write(0, 50 * LINE, 4096);
    assert_eq!(lost(&mut cache), 12288);
    assert!(cache.holds(0, 4096), "what was written is there");
    assert!(!cache.holds(10 * LINE, 4096) && !cache.holds(10 * LINE + 4096, 4096));
    assert!(!cache.holds(50 * LINE, 4096) && cache.holds(50 * LINE + 4096, 4096));
    assert_eq!(cache.dirty_bytes(), 0);
    assert_eq!(lost(&mut cache), 0);
    cache.written(0, runs[1]);
    cache.write(0, 0, 4096);
    cache.flush(0);
    assert_eq!(ranges(&started(&mut cache)), [(0, 4096)]);
}

#[track_caller]
fn check_state(capacity: u64, space: u64, write_back: bool, megabytes: u64) {
    let bytes = HostCache::state_bytes(capacity, space, write_back, false);
    assert_eq!(bytes.div_ceil(1_000_000), megabytes, "{space}");
    assert!(bytes <= MOST_STATE_BYTES);
}

/// The largest machine's cache over files of its own size, and over the most files that fit.
#[test]
fn state_is_bounded() {
    let largest = 4224 * GIB;
    check_state(largest, largest, false, 286);
    check_state(largest, largest, true, 535);
    check_state(largest, 9 << 40, true, 1036);
    check_state(largest, 15 << 40, false, 1039);
    // The figure is what the vectors take.
    for space in [GIB, 2 * GIB] {
        let cache = HostCache::new(GIB, space);
        let bits = cache.occupied.len() + cache.whole.len();
        let figure = HostCache::state_bytes(GIB, space, false, false);
        assert_eq!((cache.lines.len() * 4 + bits * 8) as u64, figure);
    }
}
