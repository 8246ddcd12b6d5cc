//! What sweeps read, refuse and make of a workload.

use fathom_units::Bytes;

use super::{POINTS_MAX, Sweep, short_size};
use crate::{Growth, Workload, native, validate};

fn parsed(text: &str) -> Sweep {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn workload(text: &str) -> Workload {
    let top = "target = { path = \"/d/f\", size = \"1GiB\" }\n";
    let read = native::read(&format!("{top}{text}"), "sweep.workload.toml");
    read.unwrap_or_else(|errors| panic!("{errors}")).0
}

#[test]
fn lists_and_ranges_are_read() {
    let sweep = parsed("depth=1..64x2,block=4k,8k,64KiB,threads=1..9+4");
    assert_eq!(sweep.depths, [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(sweep.blocks, [4, 8, 64].map(Bytes::kib));
    assert_eq!(sweep.threads, [1, 5, 9]);
    assert_eq!(sweep.point_count(), 63);
    // A range stops before it would pass its end, and may stand in a list.
    assert_eq!(parsed("depth=1, 3..50x3, 100").depths, [1, 3, 9, 27, 100]);
    let sizes = parsed("block=4k..12k+4k").blocks;
    assert_eq!(sizes, [4, 8, 12].map(Bytes::kib));
    assert_eq!(parsed("block=512..1mx2").blocks.len(), 12);
}

#[test]
fn what_is_wrong_is_said_with_a_remedy() {
    #[track_caller]
    fn check(text: &str, what: &str, remedy: &str) {
        let error = text.parse::<Sweep>().expect_err(text);
        assert!(error.message.contains(what), "{text}: {error}");
        assert!(error.hint.contains(remedy), "{text}: {}", error.hint);
    }
    check("1,2", "names no axis", "depth=1..64x2");
    check("", "names no axis", "depth=1..64x2");
    check("iodepth=1", "no axis `iodepth`", "`depth`");
    check("detph=1", "no axis `detph`", "`depth`");
    let all = "`depth` (fio's `iodepth`), `block` (`bs`) and `threads` (`numjobs`)";
    for name in ["colour", "read", "size", "rwmixread"] {
        check(&format!("{name}=1"), &format!("no axis `{name}`"), all);
    }
    check("blocks=4k", "no axis `blocks`", "`block`");
    check("depth=", "missing", "depth=1..64x2");
    check("depth=1,,2", "missing", "depth=1..64x2");
    check("depth=four", "`four` is not a whole number", "write it");
    check("depth=0", "out of range", "another value");
    check("depth=2000000", "1 to 1048576", "another value");
    check("block=4x", "unknown unit", "write it");
    check("block=8g", "out of range", "another value");
    check("depth=1..64", "its step", "1..64x2");
    check("depth=1..64x1", "no factor", "1..64x2");
    check("depth=1..64+0", "no step of a range", "write `1..64+1`");
    check("block=4k..64k+0k", "no step of a range", "write `4k..64k+4");
    check("depth=1..64+y", "`y` is not a whole number", "write it");
    check(
        "depth=64..1",
        "`64..1` does not say its step",
        "write `1..64x2`",
    );
    check("depth=1..64*2", "`64*2` is not a whole number", "write it");
    check("block=4k..64k", "its step", "to double, or `4k..64k+16");
    check(
        "depth=99999999999999999999",
        "out of range",
        "another value",
    );
    check("depth=64..1x2", "counts down", "1..64x2");
    check("depth=4,1..8x2", "depth 4 twice", "once");
    check("depth=1,depth=2", "`depth` twice", "join");
    check("depth=1..1000000+1", "over 1000 values", "larger steps");
    check(
        "depth=1..100+1,threads=1..11+1",
        "1,100 points",
        "larger steps",
    );
}

#[test]
fn the_most_points_are_possible() {
    assert_eq!(parsed("depth=1..1000+1").point_count(), POINTS_MAX);
}

#[test]
fn every_point_becomes_a_stage() {
    let plain =
        workload("[[stage]]\nname = \"mix\"\nmeasure = \"5s\"\n[[stage.job]]\nworkers = 3\n");
    let swept = parsed("depth=1,8,block=4k,64k").apply(&plain).unwrap();
    let names: Vec<&str> = swept.points.iter().map(|p| p.stage.as_str()).collect();
    assert_eq!(
        names,
        [
            "depth=1 block=4k",
            "depth=8 block=4k",
            "depth=1 block=64k",
            "depth=8 block=64k"
        ]
    );
    assert_eq!(swept.points[1].outstanding, 24);
    let job = &swept.workload.stages[3].jobs[0];
    assert_eq!((job.depth, job.workers), (8, 3));
    assert_eq!(job.block.single_size(job.mix), Some(Bytes::kib(64)));
    assert!(validate(&swept.workload).is_ok());
}

#[test]
fn several_stages_keep_their_names_and_preparation_stays() {
    let plain = workload(
        "[[stage]]\nname = \"fill\"\ndiscard = true\nmeasure = \"5s\"\n[[stage.job]]\nname = \"f\"\n\
         [[stage]]\nname = \"a\"\nmeasure = \"5s\"\n[[stage.job]]\nname = \"a\"\n\
         [[stage]]\nname = \"b\"\nmeasure = \"5s\"\n[[stage.job]]\nname = \"b\"\n",
    );
    let swept = parsed("threads=1,2").apply(&plain).unwrap();
    let names = swept
        .workload
        .stages
        .iter()
        .map(|stage| stage.name.as_str());
    let names: Vec<&str> = names.collect();
    let expected = [
        "fill",
        "a threads=1",
        "a threads=2",
        "b threads=1",
        "b threads=2",
    ];
    assert_eq!(names, expected);
    assert_eq!(swept.points[3].base.as_deref(), Some("b"));
}

#[test]
fn jobs_that_cannot_follow_are_refused() {
    #[track_caller]
    fn check(text: &str, sweep: &str, what: &str) {
        let error = parsed(sweep).apply(&workload(text)).expect_err(what);
        assert!(error.message.contains(what), "{error}");
        assert!(!error.hint.is_empty());
    }
    let sync = "[[stage]]\nname = \"s\"\nmeasure = \"5s\"\n[[stage.job]]\nname = \"j\"\nbackend = \"sync\"\n";
    check(sync, "depth=1,2", "one I/O at a time");
    assert!(parsed("threads=1,2").apply(&workload(sync)).is_ok());
    let clones = "[[stage]]\nname = \"s\"\nmeasure = \"5s\"\n[[stage.job]]\nname = \"j\"\n[[stage.job]]\nname = \"j\"\n";
    check(clones, "threads=1,2", "2 clones");
    assert!(parsed("depth=1,2").apply(&workload(clones)).is_ok());
}

#[test]
fn sizes_are_named_exactly() {
    for (bytes, name) in [
        (4096, "4k"),
        (1 << 20, "1m"),
        (1 << 30, "1g"),
        (4000, "4000"),
        (1536, "1536"),
    ] {
        assert_eq!(short_size(Bytes::new(bytes)), name);
    }
}

#[test]
fn every_point_finds_its_file_laid_out() {
    let text = "[[stage]]\nname = \"a\"\nmeasure = \"1s\"\n[[stage.job]]\nmix = \"write\"\n";
    for (grows, expected) in [("\"allocate\"", Growth::No), ("true", Growth::Whole)] {
        let grown = workload(&format!("{text}files = {{ grows = {grows} }}\n"));
        let swept = parsed("depth=1,2").apply(&grown).unwrap();
        let mut jobs = swept.workload.jobs().map(|(_, job)| job);
        assert!(jobs.all(|job| job.features.files.grows == expected));
    }
}
