//! Storage that looks ahead does what it does without.

use std::cell::Cell;

use super::*;
use crate::limit::Waits;
use crate::random::mix;

/// Latencies that are all alike, so that many events fall on one time.
const ALIKE: &str = "latency = { median = '1ms', p99 = '1ms' }";
const MEDIA: &str = "latency = { median = '1ms', p99 = '7ms' }";

/// Everything that happened: time, tag, waits.
type Happened = Vec<(u64, u64, Vec<(Limit, Nanos)>)>;

/// What is done with storage.
#[derive(Clone, Copy)]
struct Load {
    volumes: usize,
    /// I/Os that are always under way.
    depth: u64,
    count: u64,
    seed: u64,
}

/// The request with this tag.
fn request(load: Load, tag: u64) -> Request {
    let draw = mix(load.seed ^ mix(tag));
    let kind = if draw.is_multiple_of(4) {
        IoKind::Write
    } else {
        IoKind::Read
    };
    Request {
        volume: VolumeId::new((draw >> 8) as usize % load.volumes),
        kind,
        offset: (draw >> 20) % 100_000 * 4096,
        ..read(tag, [4096, 4096, 65_536, 200_000][(draw >> 4) as usize & 3])
    }
}

/// How storage is asked to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Step,
    /// With what follows said as I/Os end.
    Turns,
}

/// The closed loop of a load: the tag of its next I/O, and what has happened.
struct Loop<'h> {
    load: Load,
    tag: &'h Cell<u64>,
    found: &'h mut Happened,
}

impl ClosedLoops for Loop<'_> {
    fn next(&mut self, now: Nanos, tag: u64, waits: &Waits) -> Turn {
        let next = self.tag.get();
        // Now and then it leaves to the driver what could be known.
        if next >= self.load.count || next.is_multiple_of(11) {
            return Turn::Unknown;
        }
        let waits = waits.iter().map(|wait| (wait.limit, wait.time));
        self.found.push((now.get(), tag, waits.collect()));
        self.tag.set(next + 1);
        Turn::Next(request(self.load, next))
    }
}

/// A closed loop, beside which an I/O comes every millisecond by the clock; statistics begin anew after a while.
fn happened(mut storage: Storage, load: Load, way: Way) -> (Happened, String) {
    let restart = Nanos::from_millis(20);
    storage.unwatched_until(restart);
    let mut completed = Vec::new();
    let (mut found, mut now, tag) = (Vec::new(), Nanos::ZERO, Cell::new(0));
    let (mut clock, mut restarted) = (Nanos::ZERO, false);
    let submit = |storage: &mut Storage, now, completed: &mut Vec<Completed>| {
        if tag.get() < load.count {
            storage.submit(now, request(load, tag.get()), completed);
            tag.set(tag.get() + 1);
        }
        tag.get() < load.count
    };
    for _ in 0..load.depth {
        submit(&mut storage, now, &mut completed);
    }
    loop {
        while let Some(one) = completed.pop() {
            let waits = one.waits.iter().map(|wait| (wait.limit, wait.time));
            found.push((now.get(), one.tag, waits.collect()));
            submit(&mut storage, now, &mut completed);
        }
        let due = storage.next_due().filter(|_| storage.has_requests());
        let Some(at) = due.filter(|at| *at <= clock || clock == Nanos::MAX) else {
            if clock == Nanos::MAX {
                break;
            }
            now = clock;
            if now >= restart && !restarted {
                restarted = true;
                storage.restart_statistics(now);
                storage.unwatched_until(Nanos::MAX);
            }
            clock = if submit(&mut storage, now, &mut completed) {
                now + MILLISECOND
            } else {
                Nanos::MAX
            };
            continue;
        };
        now = at;
        match way {
            Way::Step => storage.advance(&mut completed),
            Way::Turns => {
                let (tag, found) = (&tag, &mut found);
                let mut turns = Loop { load, tag, found };
                let last = storage.advance_turning(clock, &mut completed, &mut turns);
                now = last.unwrap_or(now);
            }
        }
    }
    assert!(storage.known_until() <= now);
    (found, format!("{:?}", storage.statistics(now)))
}

#[track_caller]
fn check(text: &str, files: &[&str]) {
    let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
    let places = (0..).map(VolumeId::new).zip(files);
    let layout = places.map(|(volume, file)| (volume, (*file).to_owned(), Bytes::mib(400)));
    let layout = Layout::new(&design, layout).unwrap();
    for (seed, depth) in (0..).zip([1, 7, 60, 300]) {
        let load = Load {
            volumes: files.len(),
            depth,
            count: 3_000,
            seed,
        };
        let of = || Storage::new(&design, &layout, seed).unwrap();
        let (plain, figures) = happened(of(), load, Way::Step);
        assert_eq!(plain.len(), 3_000);
        for (storage, way) in [
            (of().unchanging(), Way::Step),
            (of().unchanging(), Way::Turns),
            (of(), Way::Turns),
        ] {
            let (other, other_figures) = happened(storage, load, way);
            let mut pairs = plain.iter().zip(&other);
            let differs = pairs.position(|(one, other)| one != other);
            assert_eq!(differs, None, "{way:?} at depth {depth} of {text}");
            assert_eq!(figures, other_figures, "{way:?} at depth {depth} of {text}");
        }
    }
}

/// Striped disks, a disk behind the cache and one that is written lazily, on a machine whose budgets may burst.
fn machine(latency: &str, burst: &str, caching: &str) -> String {
    format!(
        "[[vm]]\nname = 'vm'\nsize = 'Standard_D8s_v3'\nburst = '{burst}'\n\
         [[vm.volume]]\nname = 's'\nmount = '/s'\ndisks = {{ type = 'P30', count = 3 }}\n\
         stripe_unit = '64KiB'\ncaching = 'none'\n{latency}\n\
         [[vm.volume]]\nname = 'c'\nmount = '/c'\ndisks = {{ type = 'P10' }}\n\
         caching = 'read-only'\n{latency}\n\
         [[vm.volume]]\nname = 'w'\nmount = '/w'\ndisks = {{ type = 'P20' }}\n\
         caching = '{caching}'\nburst = 'off'\n{latency}\n"
    )
}

#[test]
fn machines_do_the_same_ahead() {
    for latency in [ALIKE, MEDIA, "latency = 'none'"] {
        for caching in ["none", "read-only", "read-write"] {
            for burst in ["off", "credits"] {
                check(&machine(latency, burst, caching), &["/s/f", "/c/f", "/w/f"]);
            }
        }
    }
}

#[test]
fn devices_do_the_same_ahead() {
    for latency in [ALIKE, MEDIA, "latency = 'none'"] {
        let device = |name: &str| {
            format!(
                "[[device]]\nname = '{name}'\nmount = '/{name}'\nsize = '1GiB'\niops = 1000\n\
                 bandwidth = '100MB/s'\n{latency}\n"
            )
        };
        check(&(device("a") + &device("b")), &["/a/f", "/b/f"]);
    }
}

#[test]
#[should_panic(expected = "unchanging storage does not crash")]
fn what_is_known_ahead_cannot_crash() {
    let mut storage = of(WRITE_BACK, "/w/f").unchanging();
    storage.crash(Nanos::ZERO, None, &mut Vec::new());
}
