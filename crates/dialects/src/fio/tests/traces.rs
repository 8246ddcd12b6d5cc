//! Readings of jobs that replay a trace.

use fathom_units::Bytes;
use fathom_workload::{Direction, Place, ReplayPace, TracePart, VerifyPhase};

use super::*;

#[test]
fn a_trace_is_verified_once_it_was_replayed() {
    let job = replayed("verify=md5\n").unwrap();
    let verify = job.features.verify.as_deref().unwrap();
    assert!(job.features.replay.is_some() && verify.phase == VerifyPhase::AfterPass);
    // It is the trace that writes, and the state of a job that writes is saved.
    for (rest, saves) in [
        ("", true),
        ("rw=randwrite\n", true),
        ("replay_skip=write\nrw=write\n", false),
        ("verify_state_save=0\n", false),
    ] {
        let job = replayed(&format!("verify=md5\n{rest}")).unwrap();
        let verify = job.features.verify.as_deref().unwrap();
        assert_eq!(verify.save_state.is_some(), saves, "{rest}");
    }
    let error = replayed("verify=md5\nverify_only\n").unwrap_err();
    let expected = "job `j`: `verify_only` checks no trace that an earlier run replayed";
    assert_eq!(error.0[0].message, expected);
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

/// As in fio, which adds none to a trace's own but at the end.
#[test]
fn a_trace_is_replayed_with_its_own_syncs() {
    for every in ["fsync=2\n", "fdatasync=2\n", "sync_file_range=write:2\n"] {
        let job = replayed(&format!("{every}end_fsync=1\n")).unwrap();
        let sync = job.sync;
        assert_eq!((sync.fsync_every, sync.fdatasync_every), (0, 0), "{every}");
        assert_eq!(job.features.files.sync_range, None, "{every}");
        assert!(sync.at_end);
    }
    let mut files = Memory::default();
    files.texts.insert("trace".to_owned(), TRACE.to_owned());
    let text = "[j]\nread_iolog=trace\nioengine=null\nfsync=2\n".to_owned();
    files.texts.insert("job.fio".to_owned(), text);
    let warnings = read_in(&files, &["job.fio"]).unwrap().warnings.0;
    let expected = "job `j`: `fsync` has no effect with `read_iolog`";
    assert!(warnings.iter().any(|warning| warning.message == expected));
}

/// Words of a trace end at blanks, so that a name with one is read back as another.
#[test]
fn a_trace_that_nobody_can_read_is_told() {
    let told = "job `j`: nobody can read its trace: names in it end at a blank, and `a b` has one";
    check_warning("filename=c:a b\nwrite_iolog=t\nnumjobs=2", &[told]);
    check_warning("filename=ab\nwrite_iolog=t", &[]);
    check_warning("filename=a b", &[]);
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
    let merge = |passes: [(u32, u32); 2]| TraceMerge {
        parts: parts(passes),
        into: "m".to_owned(),
    };
    assert_eq!(merges(both), Ok(vec![merge([(100, 1); 2])]));
    let scaled = format!("{both}merge_blktrace_scalars=50:120.7\nmerge_blktrace_iters=2:1\n");
    assert_eq!(merges(&scaled), Ok(vec![merge([(50, 2), (120, 1)])]));
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
    // A merge that several jobs want is one.
    let twice = format!("{both}[k]\n{both}");
    assert_eq!(merges(&twice), Ok(vec![merge([(100, 1); 2])]));
    assert_eq!(
        merges(&twice.replace("[k]\nread_iolog=a", "[k]\nread_iolog=c")),
        Err("job `k`: a job before it merges other traces into `m`".to_owned())
    );
}

/// `a` and `b`, by scale and passes.
fn parts(passes: [(u32, u32); 2]) -> Vec<TracePart> {
    let paths = ["a", "b"].into_iter().zip(passes);
    let part = |(path, (scale, passes)): (&str, _)| TracePart {
        path: path.to_owned(),
        scale,
        passes,
    };
    paths.map(part).collect()
}

/// A binary trace of one read. Its bytes are all of ASCII, so that it is a text, too.
fn one_read(sector: u8, blocks: u8) -> String {
    let mut record = Vec::new();
    record.extend((0x6561_7400u32 | 7).to_ne_bytes());
    record.extend([0; 12]);
    record.extend(u64::from(sector).to_ne_bytes());
    for number in [u32::from(blocks) << 9, 1 | 1 << 16, 0, 1 << 20, 0, 0] {
        record.extend(number.to_ne_bytes());
    }
    String::from_utf8(record).unwrap()
}

/// A job replays what its traces become, and so does one that names the merged one; none of it is there when they are read.
#[test]
fn merged_traces_make_the_job() {
    let read = |options: &str| {
        let mut files = Memory::default();
        files.texts.insert("a".to_owned(), one_read(0, 8));
        files.texts.insert("b".to_owned(), one_read(16, 32));
        files
            .texts
            .insert("cut".to_owned(), one_read(16, 32) + "ea");
        let job = "read_iolog=a:b\nmerge_blktrace_file=m\nmerge_blktrace_iters=1:3\nnumjobs=2\n";
        let text = format!("[global]\nioengine=null\nreplay_redirect=x\n[j]\n{job}{options}");
        files.texts.insert("job.fio".to_owned(), text);
        read_in(&files, &["job.fio"]).map_err(|errors| errors.0[0].message.clone())
    };
    let input = read("[k]\nread_iolog=m\nreplay_no_stall=1\n").unwrap();
    let jobs = &input.workload.stages[0].jobs;
    assert_eq!(jobs.len(), 3);
    for job in jobs {
        let replay = job.features.replay.as_ref().unwrap();
        assert_eq!(replay.path, "m");
        assert_eq!(replay.merged, parts([(100, 1), (100, 3)]));
        assert_eq!(job.targets[0].length, Some(Bytes::new((16 + 32) << 9)));
        assert_eq!(job.block.largest(job.mix), Bytes::kib(16));
    }
    let refused = [
        (
            "read_iolog=a:job.fio\nmerge_blktrace_iters=1:1\n",
            "trace `job.fio`, to be merged into `m`: it is no binary trace of blktrace",
        ),
        (
            "read_iolog=a:gone\n",
            "trace `gone`, to be merged into `m`: entity not found",
        ),
        (
            "read_iolog=a:cut\n",
            "job `j`: trace `cut`, to be merged into `m`: record 2: the trace ends within it",
        ),
        ("replay_skip=read\n", "trace `m` holds no I/O to replay"),
    ];
    for (options, expected) in refused {
        let error = read(options).unwrap_err();
        assert!(error.ends_with(expected), "{options}: {error}");
    }
}
