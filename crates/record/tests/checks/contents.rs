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
