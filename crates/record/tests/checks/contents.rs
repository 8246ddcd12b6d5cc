//! The check `data-compressibility`, and the note that stands in its place where nothing is known of the storage.

use fathom_record::{Reduced, Reducing, compressible_note};
use fathom_workload::{BufferContents, Dedupe, DedupeFrom, Filling, Mix, Pattern, Verify};

use super::*;

/// What became of it: whether it passed, its words, and the note.
type Told = (bool, String, Option<String>);

/// 40,000 writes of 4 KiB in place of the reads, of what `change` says.
fn told(reduced: Option<Reduced>, change: impl FnOnce(&mut Run)) -> Told {
    told_of(RunKind::Run, reduced, change)
}

fn writes(run: &mut Run, reduced: Option<Reduced>) {
    let worker = &mut run.results[0].workers[0];
    worker.directions.swap(0, 1);
    run.workload.stages[0].jobs[0].mix = Mix::WRITE;
    run.targets[0].reducing = reduced.map(|what| Reducing {
        how: "a file system that does".to_owned(),
        what,
        is_seen: true,
    });
}

fn told_of(kind: RunKind, reduced: Option<Reduced>, change: impl FnOnce(&mut Run)) -> Told {
    let mut run = run();
    writes(&mut run, reduced);
    change(&mut run);
    let evidence = run.evidence(kind);
    let checks = run_checks(&evidence);
    let note = compressible_note(&evidence, &checks);
    let check = checks
        .into_iter()
        .find(|check| check.id == "data-compressibility");
    check.map_or((true, String::new(), note.clone()), |check| {
        (check.passed, check.evidence, note)
    })
}

fn contents(contents: BufferContents) -> impl FnOnce(&mut Run) {
    move |run| run.workload.stages[0].jobs[0].contents = contents
}

fn filling(filling: Filling) -> impl FnOnce(&mut Run) {
    move |run| run.workload.stages[0].jobs[0].features.filling = Some(Box::new(filling))
}

/// The bytes that DISKSPD writes where nothing is said of them.
fn counting() -> Filling {
    Filling {
        pattern: Pattern::new((0..=u8::MAX).collect(), Vec::new()),
        ..Filling::default()
    }
}

const COMPRESSES: Option<Reduced> = Some(Reduced::Compressible);
const BOTH: Option<Reduced> = Some(Reduced::CompressibleAndRepeated);

#[test]
fn what_the_storage_is_known_to_make_less_of_is_told() {
    check(Some("data-compressibility"), |run| {
        writes(run, COMPRESSES);
        contents(BufferContents::Zeroes)(run);
    });
    let (passed, evidence, note) = told(COMPRESSES, contents(BufferContents::Zeroes));
    assert!(!passed);
    assert_eq!(
        evidence,
        "100 % of what was written to /tmp/a compresses, and it is on a file system that does"
    );
    // Said once.
    assert_eq!(note, None);
    let (passed, evidence, _) = told(COMPRESSES, filling(counting()));
    assert!(!passed && evidence.starts_with('9'), "{evidence}");
    // One buffer over and over is nothing to a compressor, and all the same to what keeps equal blocks once.
    assert!(told(COMPRESSES, contents(BufferContents::RandomOnce)).0);
    assert!(!told(BOTH, contents(BufferContents::RandomOnce)).0);
}

#[test]
fn random_data_is_nothing_to_tell() {
    for kind in [
        BufferContents::RandomEachWrite,
        BufferContents::RandomStamped,
    ] {
        let (passed, evidence, note) = told(BOTH, contents(kind));
        assert!(passed);
        assert_eq!(evidence, "what was written neither compresses nor repeats");
        assert_eq!(note, None);
    }
    let other_place = told(BOTH, |run| {
        contents(BufferContents::Zeroes)(run);
        run.targets[0].path = "/tmp/b".to_owned();
    });
    assert!(other_place.0);
}

/// Storage of which nothing is known changes no verdict.
#[test]
fn elsewhere_a_note_says_what_the_data_is() {
    let (passed, evidence, note) = told(None, contents(BufferContents::Zeroes));
    assert!(passed);
    assert!(
        evidence.ends_with("nothing under it is known to make less of that"),
        "{evidence}"
    );
    let note = note.unwrap();
    assert!(
        note.starts_with("100 % of what was written compresses or repeats: storage that "),
        "{note}"
    );
    assert!(told(None, filling(counting())).2.is_some());
    assert_eq!(told(None, |_| {}).2, None);
    // Nothing was written, or nowhere.
    for (backend, ways) in [(Backend::IoUring, 0), (Backend::Null, 1)] {
        let (passed, evidence, note) = told(BOTH, |run| {
            contents(BufferContents::Zeroes)(run);
            run.workload.stages[0].jobs[0].backend = backend;
            run.results[0].workers[0].directions.swap(ways, 1);
        });
        assert_eq!(
            (passed, evidence.as_str(), note),
            (true, "nothing was written", None)
        );
    }
    let predicted = told_of(RunKind::Predict, BOTH, contents(BufferContents::Zeroes));
    assert_eq!(predicted, (true, String::new(), None));
}

/// zfs and VDO may have been told not to, and nobody can see it from outside.
#[test]
fn storage_that_may_make_less_of_it_is_not_judged() {
    let unseen = |what: Option<Reduced>, kind: BufferContents| {
        told(what, |run| {
            contents(kind)(run);
            run.targets[0].reducing.as_mut().unwrap().is_seen = false;
        })
    };
    let (passed, evidence, note) = unseen(COMPRESSES, BufferContents::Zeroes);
    assert!(passed);
    assert_eq!(
        evidence,
        "not judged: 100 % of what was written to /tmp/a compresses, and it is on a file system that does"
    );
    assert!(note.is_some());
    let (_, evidence, _) = unseen(COMPRESSES, BufferContents::RandomOnce);
    assert!(
        evidence.ends_with("is known to make less of that"),
        "{evidence}"
    );
    let (_, evidence, _) = unseen(BOTH, BufferContents::RandomEachWrite);
    assert_eq!(evidence, "what was written neither compresses nor repeats");
    // What one target is on is seen.
    let (passed, evidence, _) = told(COMPRESSES, |run| {
        contents(BufferContents::Zeroes)(run);
        let job = &mut run.workload.stages[0].jobs[0];
        job.targets.push(job.targets[0].clone());
        job.targets[1].place = fathom_workload::Place::Path("/tmp/b".to_owned());
        let mut other = run.targets[0].clone();
        other.path = "/tmp/b".to_owned();
        run.targets[0].reducing.as_mut().unwrap().is_seen = false;
        run.targets.push(other);
    });
    assert!(!passed && evidence.contains(" /tmp/b "), "{evidence}");
}

/// That is how such storage is rightly measured.
#[test]
fn shares_that_were_asked_for_pass() {
    let half = Filling {
        compress: 50,
        ..Filling::default()
    };
    let (passed, evidence, note) = told(COMPRESSES, filling(half.clone()));
    assert!(passed);
    let share: f64 = evidence.split(' ').next().unwrap().parse().unwrap();
    assert!((45.0..=50.0).contains(&share), "{evidence}");
    assert!(
        evidence.ends_with("as asked for") && note.is_some(),
        "{evidence}"
    );
    let third = Filling {
        dedupe: Some(Dedupe {
            percent: 33,
            from: DedupeFrom::Last,
        }),
        ..Filling::default()
    };
    assert!(told(BOTH, filling(third.clone())).0);
    // All of it is no model of anything.
    assert!(
        !told(
            BOTH,
            filling(Filling {
                compress: 100,
                ..half
            })
        )
        .0
    );
    let all = DedupeFrom::Last;
    let all = Filling {
        dedupe: Some(Dedupe {
            percent: 100,
            from: all,
        }),
        ..third
    };
    assert!(!told(BOTH, filling(all)).0);
}

/// A pattern from a file may be as random as any data, and still repeats.
#[test]
fn a_long_random_pattern_repeats_alone() {
    let mut state = 1u32;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let long = Filling {
        pattern: Pattern::new(random.take(1 << 16).collect(), Vec::new()),
        anywhere: true,
        ..Filling::default()
    };
    assert!(told(COMPRESSES, filling(long.clone())).0);
    assert!(!told(BOTH, filling(long)).0);
}

#[test]
fn a_pattern_that_is_checked_compresses_too() {
    let (passed, ..) = told(COMPRESSES, |run| {
        let mut verify = Verify::new(fathom_workload::Checksum::Crc32c);
        verify.pattern = counting().pattern;
        run.workload.stages[0].jobs[0].features.verify = Some(Box::new(verify));
    });
    assert!(!passed);
}

/// The place of the block stands in each, so that none is like another.
#[test]
fn a_long_random_pattern_with_offsets_neither_compresses_nor_repeats() {
    let mut state = 1u32;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let offsets = vec![fathom_workload::FormatAt(0)];
    let long = Filling {
        pattern: Pattern::new(random.take(4096).collect(), offsets),
        ..Filling::default()
    };
    let (passed, evidence, _) = told(BOTH, filling(long));
    assert!(passed, "{evidence}");
    assert_eq!(evidence, "what was written neither compresses nor repeats");
}

/// Operations stand in place of writes, and write nothing.
#[test]
fn operations_on_files_write_nothing() {
    let (_, evidence, note) = told(BOTH, |run| {
        contents(BufferContents::Zeroes)(run);
        run.workload.stages[0].jobs[0].features.operation = Some(FileOperation::Delete);
    });
    assert_eq!((evidence.as_str(), note), ("nothing was written", None));
}

/// Jobs that write alike are tried once; those that differ in a filling or a checked pattern alone are not alike.
#[test]
fn each_kind_of_data_is_tried() {
    let beside = |change: fn(&mut fathom_workload::Job)| {
        let (_, evidence, _) = told(BOTH, |run| {
            let stage = &mut run.workload.stages[0];
            let mut other = stage.jobs[0].clone();
            other.name = "other".to_owned();
            change(&mut other);
            stage.jobs.push(other);
            let mut worker = run.results[0].workers[0].clone();
            worker.job = 1;
            run.results[0].workers.push(worker);
        });
        evidence.split(' ').next().unwrap().to_owned()
    };
    assert_eq!(beside(|_| {}), "what");
    assert_eq!(beside(|job| job.contents = BufferContents::Zeroes), "50");
    let near_half = |share: &str| share.parse().is_ok_and(|it: u32| (40..=50).contains(&it));
    let filled = beside(|job| job.features.filling = Some(Box::new(counting())));
    assert!(near_half(&filled), "{filled}");
    let checked = beside(|job| {
        let mut verify = Verify::new(fathom_workload::Checksum::Crc32c);
        verify.pattern = counting().pattern;
        job.features.verify = Some(Box::new(verify));
    });
    assert!(near_half(&checked), "{checked}");
}

/// A tenth of the bytes, where one job of several writes little.
#[test]
fn little_of_much_is_let_go() {
    let beside = |random: u64| {
        told(COMPRESSES, |run| {
            let stage = &mut run.workload.stages[0];
            let mut plain = stage.jobs[0].clone();
            plain.name = "plain".to_owned();
            stage.jobs.push(plain);
            stage.jobs[0].contents = BufferContents::Zeroes;
            let mut other = run.results[0].workers[0].clone();
            other.job = 1;
            let writes = other.directions[1].as_mut().unwrap();
            writes.bytes *= random;
            run.results[0].workers.push(other);
        })
        .0
    };
    assert!(!beside(8));
    assert!(beside(10));
}

/// What is said of two jobs of which the one writes what `change` says, and the other so many times as much at random.
fn beside_random(times: u64, change: impl FnOnce(&mut Run)) -> String {
    let (_, evidence, _) = told(None, |run| {
        let stage = &mut run.workload.stages[0];
        let mut plain = stage.jobs[0].clone();
        "plain".clone_into(&mut plain.name);
        stage.jobs.push(plain);
        change(run);
        let mut other = run.results[0].workers[0].clone();
        other.job = 1;
        let writes = other.directions[1].as_mut().expect("it writes");
        writes.bytes *= times;
        run.results[0].workers.push(other);
    });
    evidence
}

#[test]
fn a_tenth_of_all_is_nothing_to_tell() {
    let zeroes = |times| beside_random(times, contents(BufferContents::Zeroes));
    assert_eq!(zeroes(9), "what was written neither compresses nor repeats");
    let fifth = zeroes(4);
    assert!(
        fifth.starts_with("20 % of what was written compresses or repeats; "),
        "{fifth}"
    );
    // What one job asked for, the other did not.
    let half = Filling {
        compress: 50,
        ..Filling::default()
    };
    let evidence = beside_random(1, |run| {
        filling(half)(run);
        run.workload.stages[0].jobs[1].contents = BufferContents::Zeroes;
    });
    assert!(!evidence.ends_with("as asked for"), "{evidence}");
}

/// Half a buffer of the pattern, and half of it at random: no two are equal.
#[test]
fn a_pattern_that_fills_a_part_repeats_in_none() {
    let half = Filling {
        compress: 50,
        ..counting()
    };
    let (_, evidence, _) = told(None, filling(half));
    let share: f64 = evidence.split(' ').next().unwrap().parse().unwrap();
    assert!((40.0..=55.0).contains(&share), "{evidence}");
}
