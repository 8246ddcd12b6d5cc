//! Readings of jobs that replay a trace.

use fathom_units::Bytes;
use fathom_workload::trace::MergePass;
use fathom_workload::{Direction, Place, ReplayPace};

use super::*;

#[test]
fn a_trace_is_not_verified() {
    let text = "[j]\nsize=1m\nverify=md5\nread_iolog=x\n";
    check_error(
        text,
        &["job `j`: `read_iolog` in a verified job is not built yet"],
    );
}

const TRACE: &str = "fio version 3 iolog\n5 /a add\n9 b add\n10 /a write 1048576 8192\n\
                     20 b read 0 4096\n30 b sync 0 0\n40 /a trim 0 1000000\n";

fn replayed(options: &str) -> Result<Job, Diagnostics> {
    let mut files = Memory::default();
    files.texts.insert("trace".to_owned(), TRACE.to_owned());
    let text = format!("[j]\nread_iolog=trace\nioengine=null\n{options}");
    files.texts.insert("job.fio".to_owned(), text);
    read_in(&files, &["job.fio"]).map(|input| input.workload.stages[0].jobs[0].clone())
}

#[test]
fn a_trace_makes_the_job() {
    let job = replayed("iodepth=16\nreplay_time_scale=200\nrate_iops=5\n").unwrap();
    let targets: Vec<_> = job
        .targets
        .iter()
        .map(|target| (target.place.path(), target.length.unwrap().get()))
        .collect();
    assert_eq!(targets, [("/a", 1_048_576 + 8192), ("b", 8192)]);
    let replay = job.features.replay.as_ref().unwrap();
    assert_eq!(
        (replay.path.as_str(), replay.pace),
        ("trace", ReplayPace::Timed(200))
    );
    assert_eq!((job.depth, job.arrival), (16, Arrival::Closed));
    // Trims take no buffer.
    assert_eq!(job.block.largest(job.mix), Bytes::kib(8));
    let shares = [job.mix.read, job.mix.write, job.mix.trim].map(Percent::basis_points);
    assert_eq!(shares, [3333, 3333, 3334]);
}

#[test]
fn a_trace_is_changed_on_its_way() {
    let job = replayed(
        "replay_redirect=/dev/x\nreplay_no_stall=1\nreplay_scale=16\nreplay_align=4k\n\
         replay_skip=read,trim\nwrite_iolog=again\n",
    )
    .unwrap();
    assert_eq!(job.targets.len(), 1);
    assert_eq!(job.targets[0].place, Place::Path("/dev/x".to_owned()));
    let replay = job.features.replay.as_ref().unwrap();
    assert_eq!(replay.pace, ReplayPace::AtOnce);
    assert_eq!(
        (replay.scale, replay.align, replay.redirected),
        (16, 4096, true)
    );
    assert_eq!(replay.skip, [true, false, true, false]);
    assert_eq!(job.mix, Mix::WRITE);
    // What is read overrides what is to be written.
    assert_eq!(job.features.trace_to, None);
}

/// What an earlier stage is to write is taken for the most that it may hold, and not looked for.
#[test]
fn a_trace_of_an_earlier_stage_makes_the_job() {
    let first = "[w]\nfilename=f:g\nsize=1m\nrw=randwrite\nbs=4k,16k\nwrite_iolog=t\n";
    let second = "[r]\nstonewall\nread_iolog=t\n";
    let mut files = Memory::default();
    // One of an earlier run says nothing of what will be there.
    files.texts.insert("t".to_owned(), TRACE.to_owned());
    let mut read = |text: String| {
        files.texts.insert("job.fio".to_owned(), text);
        read_in(&files, &["job.fio"])
    };
    let input = read(format!("{first}{second}")).unwrap();
    let job = &input.workload.stages[1].jobs[0];
    let targets: Vec<_> = job
        .targets
        .iter()
        .map(|target| (target.place.path(), target.length.unwrap().get()))
        .collect();
    assert_eq!(targets, [("f", 512 << 10), ("g", 512 << 10)]);
    assert_eq!(job.mix, Mix::WRITE);
    assert_eq!(job.block.largest(job.mix), Bytes::kib(16));
    assert_eq!(job.features.replay.as_ref().unwrap().path, "t");
    // What is written is read again where it is checked.
    let checked = read(format!("{first}verify=md5\n{second}")).unwrap();
    let job = &checked.workload.stages[1].jobs[0];
    assert!(job.moves(Direction::Read) && job.moves(Direction::Write));
    let skipped = read(format!("{first}{second}replay_skip=write\n")).unwrap_err();
    assert!(skipped.to_string().contains("holds no I/O to replay"));
    // A job beside it writes it too late.
    let beside = read(format!("{first}{}", second.replace("stonewall\n", ""))).unwrap();
    let job = &beside.workload.stages[0].jobs[1];
    assert_eq!(job.targets[0].place.path(), "/a");
}

#[track_caller]
fn check_trace_error(options: &str, expected: &str) {
    let errors = replayed(options).unwrap_err();
    assert!(errors.0[0].message.contains(expected), "{errors}");
}

#[test]
fn a_trace_that_cannot_be_replayed_is_told() {
    check_trace_error("read_iolog=gone\n", "trace `gone`: entity not found");
    check_trace_error("read_iolog=job.fio\n", "line 1: it is no trace");
    check_trace_error(
        "replay_skip=read,write,trim\n",
        "trace `trace` holds no I/O to replay",
    );
    check_trace_error("replay_skip=reads\n", "`reads` is no kind of I/O");
    for align in ["1000", "0"] {
        check_trace_error(
            &format!("replay_align={align}\n"),
            "`replay_align` must be a power of two",
        );
    }
    check_trace_error(
        "read_iolog=-\n",
        "a trace is read twice, so it must be a file",
    );
}

/// What `--merge-blktrace-only` is to do, or the first complaint.
fn merges(options: &str) -> Result<Vec<TraceMerge>, String> {
    let mut files = Memory::default();
    let text = format!("[j]\n{options}[other]\nrw=read\n");
    files.texts.insert("job.fio".to_owned(), text);
    let read = read_in(&files, &["--merge-blktrace-only", "job.fio"]);
    match read.map(|input| input.action) {
        Ok(Action::MergeTraces(merges)) => Ok(merges),
        Ok(other) => panic!("{other:?}"),
        Err(errors) => Err(errors.0[0].message.clone()),
    }
}

#[test]
fn traces_to_merge_are_read() {
    let both = "read_iolog=a:b\nmerge_blktrace_file=m\n";
    let pass = |scale, passes| MergePass { scale, passes };
    let merge = |passes: [MergePass; 2]| TraceMerge {
        traces: vec!["a".to_owned(), "b".to_owned()],
        passes: passes.to_vec(),
        into: "m".to_owned(),
    };
    assert_eq!(merges(both), Ok(vec![merge([pass(100, 1); 2])]));
    let scaled = format!("{both}merge_blktrace_scalars=50:120.7\nmerge_blktrace_iters=2:1\n");
    assert_eq!(
        merges(&scaled),
        Ok(vec![merge([pass(50, 2), pass(120, 1)])])
    );
    assert_eq!(merges("read_iolog=a\n"), Ok(vec![]));
    for (options, expected) in [
        (
            format!("{both}merge_blktrace_iters=2\n"),
            "job `j`: `merge_blktrace_iters` has 1 for the 2 of `read_iolog`",
        ),
        (
            format!("{both}merge_blktrace_scalars=0:1\n"),
            "`0` is no such number",
        ),
        (
            "merge_blktrace_file=m\n".to_owned(),
            "job `j`: `merge_blktrace_file` without `read_iolog` has nothing to merge",
        ),
        (
            "read_iolog=a:m\nmerge_blktrace_file=m\n".to_owned(),
            "job `j`: `m` is one of the traces that are merged",
        ),
    ] {
        assert_eq!(merges(&options), Err(expected.to_owned()), "{options}");
    }
    check_trace_error(
        "merge_blktrace_file=m\n",
        "traces are merged before a run, not in it",
    );
}
