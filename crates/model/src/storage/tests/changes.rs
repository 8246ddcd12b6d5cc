//! Changes while I/Os wait, against arithmetic.

use fathom_units::{BytesPerSec, Iops, Percent};

use super::*;
use crate::change::{Action, Change, ChangeError, NewLimit};
use crate::request::IoError;

/// A device of 1,000 IOPS.
const THOUSAND: &str =
    "[[device]]\nname = 'd'\nmount = '/d'\nsize = '2GiB'\niops = 1000\nlatency = 'none'\n";

/// A disk of 500 IOPS on a machine of 12,800 uncached.
const DISK: &str = "[[vm]]\nname = 'vm'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
    [[vm.volume]]\nname = 'v'\nmount = '/v'\ndisks = { type = 'P10' }\ncaching = 'none'\nburst = 'off'\nlatency = 'none'\n";

fn change(storage: &mut Storage, micros: u64, part: &str, action: Action) -> Vec<Completed> {
    let mut completed = Vec::new();
    let change = Change {
        part: part.to_owned(),
        action,
    };
    let now = Nanos::from_micros(micros);
    let lost = storage.change(now, &change, &mut completed);
    assert_eq!(lost, Ok(Vec::new()), "{change:?}");
    completed
}

fn iops(rate: u64) -> Action {
    Action::Limits {
        iops: NewLimit::Set(Iops::new(rate)),
        bandwidth: NewLimit::Keep,
    }
}

/// Submits `count` reads at once; times in µs at which they complete, with the tags, up to `end`; at each of the given
/// times a part is changed.
fn with_changes(
    text: &str,
    count: u64,
    changes: &[(u64, &str, Action)],
    end: u64,
) -> (Storage, Vec<(u64, u64)>) {
    let mut storage = of(text, "/d/f");
    let mut completed = Vec::new();
    for tag in 0..count {
        storage.submit(Nanos::ZERO, read(tag, 4096), &mut completed);
    }
    let mut found: Vec<_> = completed.iter().map(|one| (0, one.tag)).collect();
    for (at, part, action) in changes {
        found.extend(until(&mut storage, Nanos::from_micros(*at)));
        change(&mut storage, *at, part, *action);
    }
    found.extend(until(&mut storage, Nanos::from_micros(end)));
    (storage, found)
}

#[track_caller]
fn check(count: u64, changes: &[(u64, &str, Action)], expected: &[u64]) {
    let (storage, found) = with_changes(THOUSAND, count, changes, 1_000_000);
    let expected: Vec<_> = expected.iter().copied().zip(0..).collect();
    assert_eq!(found, expected, "{changes:?}");
    assert!(!storage.has_requests(), "{changes:?}");
}

#[test]
fn a_limit_holds_for_those_that_wait() {
    check(4, &[], &[0, 1000, 2000, 3000]);
    // Half of an I/O is owed at 1,500 µs: 500 µs at the old rate, 5 ms at the new.
    check(4, &[(1500, "d", iops(100))], &[0, 1000, 6500, 16_500]);
    // The other way it comes sooner than it was due.
    let back = [(1500, "d", iops(100)), (2500, "d", iops(10_000))];
    check(4, &back, &[0, 1000, 2540, 2640]);
    let lift = Action::Limits {
        iops: NewLimit::Lift,
        bandwidth: NewLimit::Keep,
    };
    check(4, &[(1500, "d", lift)], &[0, 1000, 1500, 1500]);
}

#[test]
fn bytes_get_a_limit_that_were_free() {
    let bytes = Action::Limits {
        iops: NewLimit::Lift,
        bandwidth: NewLimit::Set(BytesPerSec::new(409_600)),
    };
    // 4,096 bytes take 10 ms each; what waits goes first.
    check(4, &[(500, "d", bytes)], &[0, 500, 10_500, 20_500]);
}

#[test]
fn slow_storage_takes_so_many_times_as_long() {
    let slow = |text: &str| Action::Slow(text.parse().unwrap());
    check(3, &[(0, "d", slow("4"))], &[0, 4000, 8000]);
    // Factors are those of the design, not of each other.
    let twice = [(0, "d", slow("4")), (0, "d", slow("2"))];
    check(3, &twice, &[0, 2000, 4000]);
    check(
        3,
        &[(0, "d", slow("4")), (0, "d", Action::Restore)],
        &[0, 1000, 2000],
    );
    let both = [(0, "d", iops(500)), (0, "d", slow("2"))];
    check(3, &both, &[0, 4000, 8000]);
}

#[test]
fn media_of_slow_storage_take_so_many_times_as_long() {
    let text = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '2GiB'\nlatency = { median = '2ms', p99 = '9ms' }\n";
    let run = |factor: Option<&str>| {
        let mut storage = of(text, "/d/f");
        if let Some(factor) = factor {
            change(&mut storage, 0, "d", Action::Slow(factor.parse().unwrap()));
        }
        let mut completed = Vec::new();
        for tag in 0..200 {
            storage.submit(Nanos::ZERO, read(tag, 4096), &mut completed);
        }
        let mut times = vec![0; 200];
        while let Some(at) = storage.next_due() {
            completed.clear();
            storage.advance(&mut completed);
            for one in &completed {
                times[one.tag as usize] = at.get();
            }
        }
        times
    };
    let (plain, slow) = (run(None), run(Some("3")));
    assert!(plain.iter().all(|time| *time > 0));
    for (plain, slow) in plain.iter().zip(slow) {
        // Interpolation between two rounded quantiles rounds anew.
        assert!((plain * 3).abs_diff(slow) <= 3, "{plain} and {slow}");
    }
    assert_eq!(run(Some("1")), plain);
}

#[test]
fn a_stall_holds_everything_until_it_ends() {
    let stalled = [(1500, "d", Action::Stall), (9000, "d", Action::Resume)];
    check(4, &stalled, &[0, 1000, 9000, 10_000]);
    let twice = [(1500, "d", Action::Stall), (9000, "d", Action::Stall)];
    let (mut storage, found) = with_changes(THOUSAND, 4, &twice, 1_000_000);
    assert_eq!(found, [(0, 0), (1000, 1)]);
    assert!(storage.has_requests());
    assert_eq!(storage.next_due(), None);
    let row = &storage.statistics(Nanos::from_secs(1))["d"];
    assert_eq!(row.limits, ["1,000 IOPS", "stalled"]);
    // What comes meanwhile waits behind the others, and all of it has waited for the stall.
    let now = Nanos::from_secs(1);
    let mut completed = Vec::new();
    storage.submit(now, read(4, 4096), &mut completed);
    assert!(completed.is_empty());
    change(&mut storage, 1_000_000, "d", Action::Restore);
    storage.advance(&mut completed);
    assert_eq!(completed[0].tag, 2);
    let waits: Vec<_> = completed[0].waits.iter().collect();
    assert_eq!((waits[0].limit, waits[0].time), (Limit::Stall, now));
    let rest = until(&mut storage, Nanos::from_secs(2));
    assert_eq!(rest, [(1_001_000, 3), (1_002_000, 4)]);
    assert_eq!(storage.statistics(now)["d"].limits, ["1,000 IOPS"]);
}

/// In a machine of 12,800 IOPS the disk's 500 bind, until they are raised; then the machine's do.
#[test]
fn the_next_limit_binds_when_one_is_lifted() {
    let run = |changes: &[(u64, &str, Action)]| {
        let (_, found) = with_changes(DISK, 2000, changes, 100_000);
        found.len()
    };
    // The first at once, then one each 2 ms.
    assert_eq!(run(&[]), 51);
    assert_eq!(run(&[(0, "vm/v/disk1", iops(1000))]), 101);
    assert_eq!(run(&[(0, "v", iops(1000))]), 101);
    // The budget lets 2 ms of its rate go ahead.
    assert_eq!(run(&[(0, "vm/v", iops(100_000))]), 1306);
    assert_eq!(run(&[(0, "vm/uncached", iops(250))]), 26);
    // The first was through before.
    assert_eq!(run(&[(0, "vm", Action::Stall)]), 1);
    // 25 ms pass until the stall, and 50 ms after it.
    let stall = [(25_000, "v", Action::Stall), (50_000, "v", Action::Resume)];
    assert_eq!(run(&stall), 13 + 26);
}

#[test]
fn limits_of_a_volume_are_divided_among_its_disks() {
    let text = DISK.replace("{ type = 'P10' }", "{ type = 'P10', count = 3 }");
    let mut storage = of(&text, "/v/f");
    change(&mut storage, 0, "vm/v", iops(1000));
    let rows = storage.statistics(Nanos::ZERO);
    let limits = (1..=3).map(|disk| rows[&format!("vm/v/disk{disk}")].limits[0].clone());
    let limits: Vec<_> = limits.collect();
    assert_eq!(limits, ["334 IOPS", "333 IOPS", "333 IOPS"]);
}

#[test]
fn credits_that_were_spent_stay_spent() {
    let text = DISK.replace("burst = 'off'\nlatency", "burst = 'credits'\nlatency");
    let mut storage = of(&text, "/v/f");
    let mut completed = Vec::new();
    for tag in 0..10_000 {
        storage.submit(Nanos::ZERO, read(tag, 4096), &mut completed);
    }
    let level = |storage: &Storage, now| {
        let mut gauges = storage.gauges(now);
        gauges.find_map(|gauge| gauge.iops_credits).unwrap()
    };
    until(&mut storage, Nanos::from_secs(2));
    let before = level(&storage, Nanos::from_secs(2));
    assert!((0.99..1.0).contains(&before), "{before}");
    // At half the rates the bucket holds as many I/Os as before.
    let half = Action::Slow("2".parse().unwrap());
    change(&mut storage, 2_000_000, "v", half);
    let after = level(&storage, Nanos::from_secs(2));
    assert!((before - after).abs() < 1e-6, "{before} and {after}");
    let found = until(&mut storage, Nanos::from_secs(3)).len() as f64;
    assert!((found - 1750.0).abs() < 3.0, "{found} at half of 3,500");
    let row = &storage.statistics(Nanos::from_secs(3))["vm/v/disk1"];
    assert_eq!(row.limits[0], "250 IOPS, bursts to 1,750 IOPS");
}

/// I/Os of every size and depth go through random changes and each completes once; limits hold throughout.
#[test]
fn random_changes_lose_nothing() {
    use crate::random::mix;
    for seed in 0..40 {
        let text = DISK.replace("{ type = 'P10' }", "{ type = 'P10', count = 4 }");
        let text = text.replace(
            "latency = 'none'",
            "latency = { median = '1ms', p99 = '9ms' }",
        );
        let mut storage = of(&text, "/v/f");
        let mut done = std::collections::BTreeSet::new();
        let (mut now, mut submitted) = (Nanos::ZERO, 0);
        let mut completed = Vec::new();
        let mut note = |completed: &mut Vec<Completed>| {
            for one in completed.drain(..) {
                assert!(done.insert(one.tag), "{} completes twice", one.tag);
            }
        };
        for step in 0..300 {
            let number = mix(seed * 1000 + step);
            now = now.saturating_add(Nanos::from_micros(number >> 16 & 0xfff));
            while storage.next_due().is_some_and(|at| at <= now) {
                storage.advance(&mut completed);
            }
            let parts = ["v", "vm", "vm/v/disk2", "vm/uncached", "vm/v/disk4"];
            let part = parts[(number >> 40) as usize % parts.len()].to_owned();
            let action = match number % 12 {
                0 => Action::Stall,
                1 => Action::Resume,
                2 => Action::Slow("7.5".parse().unwrap()),
                3 => Action::Restore,
                4 if part != "vm" => iops(number >> 8 & 0xfff | 1),
                5 if !part.contains('/') => Action::Detach,
                6 if !part.contains('/') => Action::Attach,
                7 if !part.contains('/') => Action::Fail(Percent::whole(30).unwrap()),
                _ => {
                    let mut request = read(submitted, 4096 << (number >> 30 & 7));
                    request.offset = number % (1 << 18) * 1024;
                    if number & 64 == 0 {
                        request.kind = IoKind::Write;
                    }
                    storage.submit(now, request, &mut completed);
                    submitted += 1;
                    note(&mut completed);
                    continue;
                }
            };
            let change = Change { part, action };
            storage.change(now, &change, &mut completed).unwrap();
            note(&mut completed);
        }
        for part in ["vm", "vm/v", "vm/uncached"] {
            let restore = Change {
                part: part.to_owned(),
                action: Action::Restore,
            };
            storage.change(now, &restore, &mut completed).unwrap();
        }
        while storage.next_due().is_some() {
            storage.advance(&mut completed);
        }
        note(&mut completed);
        assert!(!storage.has_requests(), "seed {seed}");
        assert_eq!(done.len() as u64, submitted, "seed {seed}");
        let rows = storage.statistics(now);
        assert!(rows.values().all(|row| row.depth >= 0.0), "{rows:?}");
    }
}

#[test]
fn a_share_of_ios_fails_after_the_time_they_take() {
    let share = |percent| Action::Fail(Percent::whole(percent).unwrap());
    let run = |percent| {
        let mut storage = of(THOUSAND, "/d/f");
        change(&mut storage, 0, "d", share(percent));
        let mut completed = Vec::new();
        for tag in 0..1000 {
            storage.submit(Nanos::ZERO, read(tag, 4096), &mut completed);
        }
        let mut last = Nanos::ZERO;
        while let Some(at) = storage.next_due() {
            last = at;
            storage.advance(&mut completed);
        }
        assert_eq!((completed.len(), last), (1000, Nanos::from_millis(999)));
        let failed = completed.iter().filter(|one| one.error.is_some());
        assert!(failed.clone().all(|one| one.error == Some(IoError::Io)));
        failed.count()
    };
    assert_eq!((run(0), run(100)), (0, 1000));
    let half = run(50);
    assert!((450..550).contains(&half), "{half}");
}

#[test]
fn what_is_detached_fails_at_once_and_comes_back() {
    let mut storage = of(&DISK.replace("'P10'", "'P10', count = 2"), "/v/f");
    let mut completed = Vec::new();
    for tag in 0..10 {
        // Two stripe units each: two parts on two disks.
        storage.submit(Nanos::ZERO, read(tag, 131_072), &mut completed);
    }
    let found = until(&mut storage, Nanos::from_millis(5));
    assert_eq!(found.len(), 2, "{found:?} beside {}", completed.len());
    let failed = change(&mut storage, 5000, "vm/v", Action::Detach);
    let tags: Vec<_> = failed.iter().map(|one| one.tag).collect();
    assert_eq!(tags, (3..10).collect::<Vec<_>>());
    assert!(failed.iter().all(|one| one.error == Some(IoError::Gone)));
    assert!(!storage.has_requests());
    assert_eq!(storage.next_due(), None, "nothing is left in the queues");
    let now = Nanos::from_millis(6);
    for kind in [
        IoKind::Read,
        IoKind::Write,
        IoKind::Trim,
        IoKind::Flush,
        IoKind::Metadata(MetadataOp::Open),
    ] {
        let request = Request {
            kind,
            ..read(20, 4096)
        };
        completed.clear();
        storage.submit(now, request, &mut completed);
        assert_eq!(completed[0].error, Some(IoError::Gone), "{kind:?}");
    }
    change(&mut storage, 6000, "vm/v", Action::Attach);
    completed.clear();
    storage.submit(Nanos::from_millis(100), read(21, 4096), &mut completed);
    assert_eq!(completed[0].error, None);
}

#[test]
fn names_that_mean_nothing_or_too_much_are_refused() {
    let two = DISK.replace("'vm'", "'one'") + &DISK.replace("'vm'", "'two'");
    let mut storage = of(&two, "/v/f");
    let mut refused = |part: &str, action| {
        let change = Change {
            part: part.to_owned(),
            action,
        };
        let error = storage.change(Nanos::ZERO, &change, &mut Vec::new());
        error.unwrap_err().to_string()
    };
    let unknown = refused("three", Action::Stall);
    for part in [
        "`three`",
        "`one`",
        "`two/v`",
        "`one/v/disk1`",
        "`two/cached`",
    ] {
        assert!(unknown.contains(part), "{unknown}");
    }
    for (misspelt, near) in [
        ("on/v", "one/v"),
        ("ONE", "one"),
        ("two/cachd", "two/cached"),
        // With its machine it would be one.
        ("v/disk1", "one/v/disk1"),
    ] {
        assert_eq!(
            refused(misspelt, Action::Stall),
            format!("the storage has no part `{misspelt}`\n  hint: did you mean `{near}`?")
        );
    }
    assert_eq!(
        refused("v", Action::Stall),
        "`v` may be `one/v` or `two/v`\n  hint: name one of them"
    );
    assert_eq!(
        refused("one", iops(5)),
        "the machine `one` has no limits of its own\n  hint: set those of `one/cached`, `one/uncached`"
    );
    assert!(refused("one/v", iops(0)).contains("stall it instead"));
    let disk = refused("one/v/disk1", Action::Detach);
    assert!(disk.contains("name the volume"), "{disk}");
    let error = ChangeError::Zero {
        part: "x".to_owned(),
    };
    assert!(error.to_string().contains("`x`"));
}
