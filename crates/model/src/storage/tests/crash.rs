//! What is durable when, and what a failing host loses.

use std::collections::BTreeMap;

use super::*;
use crate::change::{Action, Change, Durability, InFlight, Lost, VolumeRange};
use crate::random::mix;

const HOST: Option<ClientId> = Some(ClientId::new(0));

fn range(offset: u64, length: u64) -> VolumeRange {
    VolumeRange {
        volume: VolumeId::new(0),
        offset,
        length,
    }
}

fn lost(offset: u64, length: u64, under_way: bool) -> Lost {
    Lost {
        volume: VolumeId::new(0),
        offset,
        length,
        under_way,
    }
}

#[test]
fn a_crash_loses_what_no_disk_has() {
    let mut storage = of(WRITE_BACK, "/w/f");
    let mut completed = Vec::new();
    storage.submit(MILLISECOND, write(0, 0, 8192), &mut completed);
    let durable = Request {
        fua: true,
        ..write(1, 1 << 20, 8192)
    };
    storage.submit(MILLISECOND, durable, &mut completed);
    let now = Nanos::from_millis(100);
    until(&mut storage, now);
    let crash = storage.crash(now, HOST, &mut completed);
    assert_eq!(crash.lost, [lost(0, 8192, false)]);
    assert_eq!((crash.lost_bytes(), crash.in_flight.len()), (8192, 0));
    let again = storage.crash(now, HOST, &mut completed);
    assert_eq!(again.lost, []);
    // The cache is cold: what went through to the disk is no hit any more.
    let again = Request {
        kind: IoKind::Read,
        ..durable
    };
    let now = Nanos::from_millis(200);
    storage.submit(now, again, &mut completed);
    let hits = storage
        .gauges(now)
        .next()
        .map(|gauge| (gauge.reads, gauge.hits));
    assert_eq!(hits, Some((1, 0)));
}

/// A flush makes durable what it covers, and a crash in the midst of it loses the rest.
#[test]
fn a_crash_during_a_flush_loses_what_is_not_written_yet() {
    let mut storage = of(WRITE_BACK, "/w/f");
    storage.watch_durability();
    let mut completed = Vec::new();
    for tag in 0..30 {
        let request = write(tag, tag << 20, 4096);
        storage.submit(Nanos::ZERO, request, &mut completed);
    }
    let flush = Request {
        kind: IoKind::Flush,
        ..read(99, 0)
    };
    storage.submit(Nanos::ZERO, flush, &mut completed);
    assert_eq!(completed.len(), 30);
    let mut told = Vec::new();
    storage.take_durability(&mut told);
    let cached = (0..30).map(|tag| Durability::Cached {
        tag,
        range: range(tag << 20, 4096),
    });
    assert_eq!(told[..30], cached.collect::<Vec<_>>());
    // 16 writes to a disk are begun; the first passes at once, so that another may begin.
    let first: Vec<_> = told[30..].iter().filter(|one| is_durable(one)).collect();
    assert_eq!(first.len(), 1, "{told:?}");
    assert_eq!(told.len(), 30 + 17 + 1);
    // 500 IOPS: five more within 10 ms.
    let now = Nanos::from_millis(11);
    assert_eq!(until(&mut storage, now), []);
    told.clear();
    storage.take_durability(&mut told);
    assert_eq!(told.iter().filter(|one| is_durable(one)).count(), 5);
    let crash = storage.crash(now, HOST, &mut completed);
    // The write that the first made room for was second in the disk's queue.
    let left = (5..30).filter(|tag| *tag != 16);
    let expected = left.map(|tag| lost(tag << 20, 4096, tag < 22));
    assert_eq!(crash.lost, expected.collect::<Vec<_>>());
    let flush = InFlight {
        tag: 99,
        volume: VolumeId::new(0),
        at_media: false,
    };
    assert_eq!(crash.in_flight, [flush]);
    assert!(!storage.has_requests());
    // Nothing of it is left to come but the cache's own clock.
    assert_eq!(until(&mut storage, Nanos::from_secs(60)), []);
    told.clear();
    storage.take_durability(&mut told);
    assert_eq!(told, []);
}

fn is_durable(one: &Durability) -> bool {
    matches!(one, Durability::Durable { .. })
}

#[test]
fn in_flight_ios_end_with_their_host_and_others_go_on() {
    let text = "[[vm]]\nname = 'one'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
        [[vm]]\nname = 'two'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
        [[nfs]]\nname = 'n'\nmount = '/n'\nlevel = 'premium'\nquota = '4TiB'\niops = 1000\nrtt = '1ms'\nlatency = 'none'\non = ['*']\n";
    let mut storage = of(text, "/n/f");
    let mut completed = Vec::new();
    for tag in 0..10 {
        let request = Request {
            client: ClientId::new((tag % 2) as u32),
            ..write(tag, tag << 16, 4096)
        };
        storage.submit(Nanos::ZERO, request, &mut completed);
    }
    let now = Nanos::from_micros(3500);
    let found = until(&mut storage, now);
    // The volume lets one go each millisecond, and the round trip takes another.
    assert_eq!(found, [(1000, 0), (2000, 1), (3000, 2)]);
    let crash = storage.crash(now, HOST, &mut completed);
    let tags = crash.in_flight.iter().map(|one| (one.tag, one.at_media));
    let tags: Vec<_> = tags.collect();
    assert_eq!(tags, [(4, false), (6, false), (8, false)]);
    let found = until(&mut storage, Nanos::from_secs(1));
    assert_eq!(found, [(4000, 3), (5000, 5), (6000, 7), (7000, 9)]);
    assert!(!storage.has_requests());
}

#[test]
fn a_failure_of_everything_leaves_nothing_under_way() {
    let text = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '2GiB'\niops = 1000\nlatency = { median = '5ms', p99 = '5ms' }\n";
    let mut storage = of(text, "/d/f");
    let mut completed = Vec::new();
    for tag in 0..10 {
        storage.submit(Nanos::ZERO, write(tag, 0, 4096), &mut completed);
    }
    let now = Nanos::from_micros(2500);
    until(&mut storage, now);
    let crash = storage.crash(now, None, &mut completed);
    let media: Vec<_> = crash.in_flight.iter().map(|one| one.at_media).collect();
    assert_eq!(media, (0..10).map(|tag| tag < 3).collect::<Vec<_>>());
    assert!(crash.lost.is_empty() && !storage.has_requests());
    assert_eq!(until(&mut storage, Nanos::from_secs(1)), []);
    storage.submit(Nanos::from_secs(1), write(77, 0, 4096), &mut completed);
    let found = until(&mut storage, Nanos::from_secs(2));
    assert_eq!(found, [(1_005_000, 77)]);
}

#[test]
fn a_detached_volume_loses_its_dirty_blocks_and_no_other_does() {
    let other = "[[vm.volume]]\nname = 'o'\nmount = '/o'\ndisks = { type = 'P10' }\ncaching = 'read-write'\nburst = 'off'\nlatency = 'none'\n";
    let text = format!("{WRITE_BACK}{other}");
    let (design, _) = Design::read(&text, "d", Catalog::builtin()).unwrap();
    let files = [(0, "/w/f"), (1, "/o/f")];
    let files = files.map(|(volume, name)| (VolumeId::new(volume), name.to_owned(), Bytes::gib(1)));
    let layout = Layout::new(&design, files).unwrap();
    let mut storage = Storage::new(&design, &layout, 1).unwrap();
    let mut completed = Vec::new();
    for volume in 0..2 {
        let request = Request {
            volume: VolumeId::new(volume),
            ..write(volume as u64, 65_536 * volume as u64, 12_288)
        };
        storage.submit(Nanos::ZERO, request, &mut completed);
    }
    let detach = Change {
        part: "vm/w".to_owned(),
        action: Action::Detach,
    };
    let gone = storage.change(MILLISECOND, &detach, &mut completed);
    assert_eq!(gone, Ok(vec![lost(0, 12_288, false)]));
    let crash = storage.crash(MILLISECOND, HOST, &mut completed);
    let other = Lost {
        volume: VolumeId::new(1),
        ..lost(65_536, 12_288, false)
    };
    assert_eq!(crash.lost, [other]);
}

/// Versions of each block of 4 KiB as somebody has them who keeps the bytes.
#[derive(Default)]
struct Bytekeeper {
    latest: BTreeMap<u64, u64>,
    durable: BTreeMap<u64, u64>,
    /// Of each background write: what it took.
    taken: BTreeMap<u32, Vec<(u64, u64)>>,
    /// Blocks that the cache alone has the latest version of.
    cached: BTreeMap<u64, u64>,
}

impl Bytekeeper {
    fn hear(&mut self, told: &[Durability], version: &dyn Fn(u64) -> u64) {
        for one in told {
            let blocks = |range: &VolumeRange| {
                range.offset / 4096..(range.offset + range.length).div_ceil(4096)
            };
            match one {
                Durability::Cached { tag, range } => {
                    for block in blocks(range) {
                        self.cached.insert(block, version(*tag));
                        self.latest.insert(block, version(*tag));
                    }
                }
                Durability::Taken { run, range } => {
                    let taken = self.taken.entry(*run).or_default();
                    taken.extend(blocks(range).map(|block| (block, self.latest[&block])));
                }
                Durability::Durable { run, .. } => {
                    // The first range of a write speaks for all of them.
                    for (block, version) in self.taken.remove(run).unwrap_or_default() {
                        let durable = self.durable.entry(block).or_default();
                        *durable = version.max(*durable);
                        if self.cached.get(&block) == Some(&version) {
                            self.cached.remove(&block);
                        }
                    }
                }
            }
        }
    }
}

/// Random writes and flushes over a stripe, told step by step: at every crash the blocks lost are those of which the latest
/// version is on no disk, and what a completed flush covers is never among them.
#[test]
fn what_is_told_adds_up_to_what_is_lost() {
    for seed in 0..60 {
        let text = WRITE_BACK.replace("'P10'", "'P10', count = 3");
        let text = text.replace(
            "latency = 'none'",
            "latency = { median = '3ms', p99 = '20ms' }",
        );
        let mut storage = of(&text, "/w/f");
        storage.watch_durability();
        let mut keeper = Bytekeeper::default();
        let (mut now, mut completed, mut told) = (Nanos::ZERO, Vec::new(), Vec::new());
        // What must be durable when each flush completes.
        let mut flushes: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
        let mut completed_flushes = 0;
        for step in 0..400_u64 {
            let number = mix(seed << 32 | step);
            now = now.saturating_add(Nanos::from_micros(number >> 20 & 0x3fff));
            while storage.next_due().is_some_and(|at| at <= now) {
                storage.advance(&mut completed);
                storage.take_durability(&mut told);
                keeper.hear(&std::mem::take(&mut told), &|tag| tag);
                for one in completed.drain(..) {
                    if let Some(covered) = flushes.remove(&one.tag) {
                        completed_flushes += 1;
                        for (block, version) in covered {
                            assert!(keeper.durable.get(&block) >= Some(&version), "seed {seed}");
                        }
                    }
                }
            }
            if number.is_multiple_of(9) {
                let flush = Request {
                    kind: IoKind::Flush,
                    ..read(step, 0)
                };
                flushes.insert(step, keeper.latest.clone());
                storage.submit(now, flush, &mut completed);
            } else {
                let offset = (number >> 8) % 300 * 4096;
                let length = 4096 * (1 + (number >> 40) % 40) as u32;
                storage.submit(now, write(step, offset, length), &mut completed);
            }
            storage.take_durability(&mut told);
            keeper.hear(&std::mem::take(&mut told), &|tag| tag);
            // A flush of nothing completes at once.
            for one in completed.drain(..) {
                flushes.remove(&one.tag);
            }
        }
        let crash = storage.crash(now, HOST, &mut completed);
        let blocks = crash.lost.iter();
        let blocks = blocks.flat_map(|lost| lost.offset / 4096..(lost.offset + lost.length) / 4096);
        let mut lost: Vec<_> = blocks.collect();
        lost.sort_unstable();
        // What a background write is about to make durable counts as lost, though an equal version is nowhere else.
        let expected: Vec<u64> = keeper.cached.keys().copied().collect();
        assert_eq!(lost, expected, "seed {seed}");
        assert!(completed_flushes > 5, "seed {seed}: {completed_flushes}");
        assert!(!expected.is_empty() || seed > 0);
    }
}
