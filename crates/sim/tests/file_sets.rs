//! Work on file sets on modelled storage.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_record::{Ignore, OpStats, StageRecord, stage_record};
use fathom_sim::{Prediction, predict};
use fathom_stats::Histogram;
use fathom_workload::{Direction, SetOperation, Workload, native};

/// A share with a limit of 12,000 operations on names a second, and a device of 1,000 I/Os a second.
const DESIGN: &str = r#"
[[vm]]
name = "vm1"
size = "Standard_D32s_v5"
[[smb]]
name = "share"
mount = "/mnt/share"
model = "ssd-v1"
size = "10TiB"
on = ["vm1"]
[[device]]
name = "san"
mount = "/mnt/san"
size = "1TiB"
iops = 1000
latency = "none"
"#;

const SMALL: &str = "depth = 2, width = 4, files = 25, sizes = \"64KiB\" }";

#[track_caller]
fn predicted(text: &str) -> (Workload, Prediction) {
    let (workload, _) = native::read(text, "t").unwrap_or_else(|found| panic!("{found}"));
    let (design, _) = Design::read(DESIGN, "d", Catalog::builtin()).unwrap();
    let prediction = predict(&workload, &design, &mut Ignore, &|| false);
    let prediction = prediction.unwrap_or_else(|found| panic!("{found}"));
    (workload, prediction)
}

#[track_caller]
fn stages(text: &str) -> (Vec<StageRecord>, Vec<String>) {
    let (workload, prediction) = predicted(text);
    assert_eq!(prediction, predicted(text).1, "predictions repeat");
    let stages = prediction.results.iter();
    let stages = stages.map(|result| stage_record(&workload.stages[result.stage], result));
    (stages.collect(), prediction.notes)
}

/// One stage with this job on a set at `anchor`.
fn stage(anchor: &str, job: &str) -> (StageRecord, Vec<String>) {
    let text =
        format!("target = {{ tree = \"{anchor}\", {SMALL}\n[[stage]]\n[[stage.job]]\n{job}\n");
    let (mut stages, notes) = stages(&text);
    (stages.remove(0), notes)
}

#[test]
fn operations_on_names_reach_the_shares_limit() {
    let job = "file_work = \"getattr\"\nworkers = 200\nmeasure = \"10s\"";
    let (stage, notes) = stage("/mnt/share/set", job);
    let rate = stage.total.meta["getattr"].iops;
    assert!((11_900.0..12_100.0).contains(&rate), "{rate}");
    assert!(
        !notes.iter().any(|note| note.contains("take no time")),
        "{notes:?}"
    );
    // A second of the measurement shows as many.
    let second = &stage.intervals[4].meta["getattr"];
    assert!(second.ios.abs_diff(12_000) < 120, "{second:?}");
}

#[test]
fn a_format_does_in_a_prediction_what_it_does_on_storage() {
    for anchor in ["/mnt/share/set", "/mnt/san/set"] {
        let job = "file_work = \"format\"\nworkers = 8\nmix = \"write\"\nblock = \"128KiB\"";
        let (stage, _) = stage(anchor, job);
        let meta = &stage.jobs[0].meta;
        let counts = ["mkdir", "create", "close"].map(|name| meta[name].ios);
        assert_eq!(counts, [20, 400, 400], "{anchor}");
        let write = stage.jobs[0].write.as_ref().unwrap();
        assert_eq!((write.ios, write.bytes), (400, 400 * (64 << 10)));
        // One worker by itself has the same books as eight.
        assert!(stage.jobs[0].errors.is_empty());
    }
}

#[test]
fn reads_inside_files_reach_the_devices_limit_and_names_cost_nothing_there() {
    let job = "file_work = \"read\"\nworkers = 16\nblock = \"4KiB\"\nmeasure = \"20s\"";
    let (stage, notes) = stage("/mnt/san/set", job);
    let read = stage.jobs[0].read.as_ref().unwrap();
    assert!((995.0..1005.0).contains(&read.iops), "{}", read.iops);
    assert_eq!(read.bound_by.keys().collect::<Vec<_>>(), ["device-iops"]);
    // 16 blocks of a file between its opening and its closing.
    let opened = stage.jobs[0].meta["open"].ios;
    assert!(
        opened.abs_diff(read.ios / 16) <= 16,
        "{opened} {}",
        read.ios
    );
    assert_eq!(stage.jobs[0].meta["open"].latency_ns.max, 0);
    assert!(
        notes
            .iter()
            .any(|note| note.contains("take no time on disks")),
        "{notes:?}"
    );
}

#[test]
fn a_rate_is_that_of_all_workers() {
    let work = "{ task = \"getattr\", rate = \"500/s\", process = \"poisson\" }";
    let job = format!("file_work = {work}\nworkers = 7\nmeasure = \"20s\"");
    let (stage, _) = stage("/mnt/san/set", &job);
    let done = stage.total.meta["getattr"].ios;
    // Standard deviation 100.
    assert!(done.abs_diff(10_000) < 500, "{done}");
    assert_eq!(stage.jobs[0].iops_wanted, Some(500.0));
}

/// Seconds are counted from the start of their own stage, and each worker always has one operation under way, those that had
/// begun in the warm-up included.
#[test]
fn a_later_stage_has_seconds_and_a_depth_of_its_own() {
    let job = "[[stage]]\n[[stage.job]]\nfile_work = \"getattr\"\nworkers = 48\n";
    let text = format!(
        "target = {{ tree = \"/mnt/share/set\", {SMALL}\n{job}measure = \"3s\"\n\
         {job}warmup = \"450ms\"\nmeasure = \"2s\"\n"
    );
    let (stages, _) = stages(&text);
    let ends = stages[1].intervals.iter().map(|it| it.at_ns / 1_000_000);
    // What was under way as time was up is in a third.
    assert_eq!(ends.collect::<Vec<_>>(), [1_000, 2_000, 2_004]);
    // Each takes 4 ms.
    let depth = stages[1].jobs[0].depth_achieved;
    assert!((0.99..1.01).contains(&depth), "{depth}");
}

/// Each repeat draws arrivals of its own: 20 of them have the spread of a Poisson count.
#[test]
fn repeats_have_arrivals_of_their_own() {
    let work = "{ task = \"getattr\", rate = \"500/s\", process = \"poisson\" }";
    let text = format!(
        "target = {{ tree = \"/mnt/san/set\", {SMALL}\n[[stage]]\nrepeats = 20\n[[stage.job]]\n\
         file_work = {work}\nworkers = 7\nmeasure = \"2s\"\n"
    );
    let (stages, _) = stages(&text);
    let counts = stages.iter().map(|stage| stage.total.meta["getattr"].ios);
    let counts: Vec<f64> = counts.map(|count| count as f64).collect();
    let mean = counts.iter().sum::<f64>() / 20.0;
    let squares = counts.iter().map(|count| (count - mean).powi(2));
    let deviation = (squares.sum::<f64>() / 19.0).sqrt();
    // The root of 1,000 is 32, and the estimate's relative deviation 16 %.
    assert!((950.0..1_050.0).contains(&mean), "{mean}");
    assert!((16.0..48.0).contains(&deviation), "{counts:?}");
}

/// One worker has requests waiting as the time ends, and many have none: what was due is done all the same.
#[test]
fn what_was_due_by_the_end_is_done() {
    let work = "{ task = \"read\", rate = \"800/s\", process = \"poisson\", stop_after = 1 }";
    for seconds in 5..12 {
        let done = [1, 60].map(|workers| {
            let job = format!(
                "file_work = {work}\nworkers = {workers}\nblock = \"4KiB\"\nmeasure = \"{seconds}s\""
            );
            let (stage, _) = stage("/mnt/san/set", &job);
            stage.jobs[0].read.as_ref().unwrap().ios
        });
        assert_eq!(done[0], done[1], "{seconds} s");
    }
}

#[test]
fn stages_find_what_the_one_before_left() {
    let text = format!(
        "target = {{ tree = \"/mnt/share/set\", {SMALL}\n\
         [[stage]]\nname = \"a\"\n[[stage.job]]\nfile_work = \"format-directories\"\n\
         [[stage]]\nname = \"b\"\n[[stage.job]]\nfile_work = \"create\"\nworkers = 3\n\
         [[stage]]\nname = \"c\"\n[[stage.job]]\nfile_work = \"delete\"\nworkers = 3\n\
         [[stage]]\nname = \"d\"\n[[stage.job]]\nfile_work = \"rmdir\"\n\
         [[stage]]\nname = \"e\"\n[[stage.job]]\nfile_work = \"format\"\nmix = \"write\"\n\
         [[stage]]\nname = \"f\"\n[[stage.job]]\nfile_work = \"clean\"\n"
    );
    let (stages, _) = stages(&text);
    let count = |stage: usize, name: &str| {
        let done = stages[stage].total.meta.get(name);
        done.map_or(0, |done| done.ios)
    };
    let found = [
        count(0, "mkdir"),
        count(1, "create"),
        count(2, "delete"),
        count(3, "rmdir"),
    ];
    assert_eq!(found, [20, 400, 400, 20]);
    assert_eq!([count(4, "create"), count(4, "delete")], [400, 0]);
    assert_eq!([count(5, "delete"), count(5, "rmdir")], [400, 20]);
}

#[test]
fn what_cannot_be_predicted_is_told() {
    let refused = |text: &str| {
        let (workload, _) = native::read(text, "t").unwrap_or_else(|found| panic!("{found}"));
        let (design, _) = Design::read(DESIGN, "d", Catalog::builtin()).unwrap();
        predict(&workload, &design, &mut Ignore, &|| false)
            .unwrap_err()
            .to_string()
    };
    let on = |anchor: &str, job: &str| {
        format!("target = {{ tree = \"{anchor}\", {SMALL}\n[[stage]]\n[[stage.job]]\n{job}\n")
    };
    let free = refused(&on(
        "/mnt/san/set",
        "file_work = \"getattr\"\nmeasure = \"1s\"",
    ));
    assert!(free.contains("its I/O takes none"), "{free}");
    let nowhere = refused(&on(
        "/elsewhere/set",
        "file_work = \"getattr\"\nmeasure = \"1s\"",
    ));
    assert!(nowhere.contains("/elsewhere/set"), "{nowhere}");
    let mixed = on(
        "/mnt/share/set",
        "file_work = \"getattr\"\nmeasure = \"1s\"",
    ) + "[[stage.job]]\ntarget = { path = \"/mnt/san/f\", size = \"1GiB\" }\n";
    assert!(refused(&mixed).contains("cannot be predicted together yet"));
}

/// Response times of several parts together, where each I/O has one.
#[track_caller]
fn responses<'a>(parts: impl Iterator<Item = &'a OpStats>) -> Histogram {
    let mut all = Histogram::new();
    for part in parts.filter(|part| part.ios() > 0) {
        let responses = part.response.as_ref().expect("a rate has response times");
        assert_eq!(responses.count(), part.ios());
        all.merge(responses);
    }
    all
}

/// Both of what moves bytes and of operations on names; those of the warm-up are in neither.
#[test]
fn seconds_have_the_response_times_of_the_whole() {
    let text = |task: &str| {
        format!(
            "target = {{ tree = \"/mnt/san/set\", {SMALL}\n[[stage]]\n[[stage.job]]\nfile_work = {task}\n\
             workers = 8\nblock = \"4KiB\"\nwarmup = \"2s\"\nmeasure = \"3s\"\n"
        )
    };
    let open = "{ task = \"read\", rate = \"1200/s\", stop_after = 1 }";
    let (_, prediction) = predicted(&text(open));
    let result = &prediction.results[0];
    let read = Direction::Read as usize;
    let seconds = result.intervals.iter();
    let seconds = responses(seconds.filter_map(|it| it.directions[read].as_ref()));
    let workers = result.workers.iter();
    let whole = responses(workers.filter_map(|it| it.directions[read].as_ref()));
    assert_eq!(seconds, whole);
    assert!(whole.count() > 2_900, "{}", whole.count());
    let of = SetOperation::Open;
    let seconds = responses(result.intervals.iter().filter_map(|it| it.set.of(of)));
    let whole = responses(result.workers.iter().filter_map(|it| it.set.of(of)));
    assert_eq!(seconds, whole);
    assert!(whole.count() > 2_900, "{}", whole.count());
    let (_, closed) = predicted(&text("\"read\""));
    let mut seconds = closed.results[0].intervals.iter();
    assert!(seconds.all(|it| it.directions[read].as_ref().unwrap().response.is_none()));
}

/// 1,200 requests a second of a device that does 1,000: each second of a warm-up leaves 200 undone.
#[test]
fn what_a_warm_up_left_undone_is_not_owed() {
    let median = |warmup: u64| {
        let work = "{ task = \"read\", rate = \"1200/s\", stop_after = 1 }";
        let job = format!(
            "file_work = {work}\nworkers = 8\nblock = \"4KiB\"\nwarmup = \"{warmup}s\"\nmeasure = \"5s\""
        );
        let (stage, _) = stage("/mnt/san/set", &job);
        let read = stage.jobs[0].read.as_ref().unwrap();
        read.response_ns.as_ref().unwrap().p50 as f64 / 1e9
    };
    // Five seconds leave one second undone, of which half was when half was done.
    assert!((median(0) - 0.42).abs() < 0.1, "{}", median(0));
    assert!((median(30) - median(0)).abs() < 0.02, "{}", median(30));
}
