//! Readings of options of processes, files, errors, engines and traces.

use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Access, Backend, EndsOthers, FileOperation, Growth, Place, ProcessorSharing, ReplayPace,
    Reserve, StatCall, SyncRange, ThreadPriority,
};

use super::*;

#[test]
fn threads_are_placed() {
    check(
        "cpus_allowed=0,2-4",
        |job| job.features.process.processors.clone(),
        vec![0, 2, 3, 4],
    );
    check(
        "cpumask=0x5",
        |job| job.features.process.processors.clone(),
        vec![0, 2],
    );
    check(
        "cpus_allowed=1\ncpus_allowed_policy=split",
        |job| job.features.process.sharing,
        ProcessorSharing::Split,
    );
    check("nice=-7", |job| job.features.process.nice, -7);
    let expected = ThreadPriority {
        class: 2,
        level: 5,
        hint: 0,
    };
    check(
        "prioclass=2\nprio=5",
        |job| job.features.process.io_priority,
        Some(expected),
    );
    check("nice=0", |job| job.features.process.io_priority, None);
    check_error(
        "[j]\nsize=1m\nnice=20\n",
        &["`nice=20` is out of range: -20 to 19"],
    );
    check_error(
        "[j]\nsize=1m\nprio=8\n",
        &["`prio=8` is out of range: 0 to 7"],
    );
}

#[test]
fn jobs_end_and_await_each_other() {
    let ends = |job: &Job| job.features.process.ends;
    check("exit_what=all", ends, EndsOthers::Nothing);
    check("exitall", ends, EndsOthers::Group);
    check("exitall=1\nexit_what=stonewall", ends, EndsOthers::Stage);
    check("exitall=1\nexit_what=all", ends, EndsOthers::Run);
    let text =
        "[global]\nioengine=null\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\nstonewall\nwait_for=a\n";
    let input = read_text(text).unwrap();
    let after: Vec<_> = input
        .workload
        .jobs()
        .map(|(_, job)| job.features.process.after.clone())
        .collect();
    // What ran in an earlier stage has ended.
    assert_eq!(after, [None, Some("a".to_owned()), None]);
    check_error(
        "[a]\nsize=1m\nwait_for=b\n[b]\nsize=1m\n",
        &["job `a` waits for `b`, which no job before it is called"],
    );
    check(
        "exec_prerun=echo a; rm b",
        |job| job.features.process.command_before.clone(),
        Some("echo a".to_owned()),
    );
}

#[test]
fn a_start_is_drawn_between_two_times() {
    let text = "[j]\nsize=1m\nioengine=null\nstartdelay=2-5\nnumjobs=50\n";
    let input = read_text(text).unwrap();
    let delays: Vec<_> = input
        .workload
        .jobs()
        .map(|(_, job)| job.limits.start_delay)
        .collect();
    let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!(*least >= Nanos::from_secs(2) && *most <= Nanos::from_secs(5));
    assert!(
        *least < Nanos::from_secs(3) && *most > Nanos::from_secs(4),
        "{delays:?}"
    );
    check(
        "startdelay=3",
        |job| job.limits.start_delay,
        Nanos::from_secs(3),
    );
}

#[test]
fn what_only_writes_grows() {
    let grows = |job: &Job| job.features.files.grows;
    let reserved = Growth::Reserved;
    for (options, expected) in [
        ("rw=write", reserved(Reserve::Allocate)),
        (
            "rw=randwrite\nfallocate=native",
            reserved(Reserve::Allocate),
        ),
        ("rw=write\nfallocate=posix", reserved(Reserve::Allocate)),
        ("rw=write\nfallocate=1", reserved(Reserve::Allocate)),
        ("rw=write\nfallocate=none", reserved(Reserve::Nothing)),
        ("rw=write\nfallocate=0", reserved(Reserve::Nothing)),
        ("rw=write\nfallocate=keep", reserved(Reserve::KeepSize)),
        ("rw=write\nfallocate=truncate", reserved(Reserve::Truncate)),
        ("rw=write\nverify=crc32c", reserved(Reserve::Allocate)),
        ("rw=write\nverify=crc32c\nverify_only", Growth::No),
        ("rw=trimwrite", reserved(Reserve::Allocate)),
        ("rw=write\nfill_device=1", reserved(Reserve::Nothing)),
        ("rw=write\ncreate_on_open=1", reserved(Reserve::Nothing)),
        (
            "rw=write\ncreate_on_open=1\noverwrite=1",
            reserved(Reserve::Nothing),
        ),
        ("rw=write\noverwrite=1", Growth::No),
        (
            "rw=write\noverwrite=1\nfile_append=1",
            reserved(Reserve::Allocate),
        ),
        ("rw=write\nioengine=mmap", Growth::No),
        ("rw=write\nioengine=null", Growth::No),
        ("rw=write\nioengine=falloc", Growth::No),
        ("rw=read", Growth::No),
        ("rw=randrw\ncreate_on_open=1", Growth::No),
    ] {
        check(options, grows, expected);
    }
    check_error(
        "[j]\nsize=1m\nfallocate=all\n",
        &["`all` is no value of `fallocate`"],
    );
}

#[test]
fn files_are_handled_as_asked() {
    let expected = SyncRange {
        every: 32,
        wait_before: true,
        write: true,
        wait_after: false,
    };
    check(
        "sync_file_range=wait_before,write:32",
        |job| job.features.files.sync_range,
        Some(expected),
    );
    check("pre_read=1", |job| job.features.files.pre_read, true);
    check(
        "allow_file_create=0",
        |job| job.features.files.must_exist,
        true,
    );
    check("end_syncfs=1", |job| job.features.files.end_syncfs, true);
    check("create_only=1", |job| job.limits.ios, Some(0));
    check("iomem_align=512", |job| job.depth, 1);
    check_error(
        "[j]\nsize=1m\nsync_file_range=all\n",
        &["`all` is no value of `sync_file_range`"],
    );
    check_error(
        "[j]\nsize=1m\niomem_align=8k\n",
        &["no buffer is aligned beyond a page"],
    );
}

#[test]
fn errors_are_survived_as_asked() {
    let ignored = |job: &Job| job.features.errors.ignored.clone();
    let both = vec![5, 84];
    check("continue_on_error=none", ignored, Default::default());
    check(
        "continue_on_error=read",
        ignored,
        [both.clone(), vec![], vec![]],
    );
    check(
        "continue_on_error=write",
        ignored,
        [vec![], both.clone(), both.clone()],
    );
    check(
        "continue_on_error=all",
        ignored,
        [both.clone(), both.clone(), both],
    );
    check(
        "ignore_error=,ENOSPC:5",
        ignored,
        [vec![], vec![28, 5], vec![28, 5]],
    );
    check(
        "max_latency=10ms,5",
        |job| job.features.errors.latency_max,
        [
            Some(Nanos::from_millis(10)),
            Some(Nanos::from_micros(5)),
            Some(Nanos::from_micros(5)),
        ],
    );
    check_error(
        "[j]\nsize=1m\nignore_error=EWHAT\n",
        &["`EWHAT` is no known error"],
    );
}

#[test]
fn engines_become_operations() {
    let operation = |job: &Job| job.features.operation;
    for (engine, expected) in [
        ("filecreate", FileOperation::Create),
        ("filestat", FileOperation::Stat(StatCall::Stat)),
        (
            "filestat\nstat_type=statx",
            FileOperation::Stat(StatCall::Statx),
        ),
        ("filedelete", FileOperation::Delete),
        ("dircreate", FileOperation::CreateDirectory),
        (
            "dirstat\nstat_type=lstat",
            FileOperation::StatDirectory(StatCall::Lstat),
        ),
        ("dirdelete", FileOperation::DeleteDirectory),
        ("falloc", FileOperation::Allocate),
        ("ftruncate", FileOperation::Truncate),
    ] {
        check(&format!("ioengine={engine}"), operation, Some(expected));
    }
    check(
        "ioengine=mmap",
        |job| (job.backend, job.depth),
        (Backend::Mmap, 1),
    );
    check(
        "ioengine=posixaio\niodepth=9",
        |job| (job.backend, job.depth),
        (Backend::IoUring, 9),
    );
    let create = job("ioengine=filecreate\nnrfiles=3\nrw=randread\nbs=8k\nfilesize=1m");
    let lengths: Vec<_> = create.targets.iter().map(|target| target.length).collect();
    assert_eq!(lengths, [Some(Bytes::kib(8)); 3]);
    assert!(matches!(create.access, Access::Sequential { .. }));
}

#[test]
fn engines_that_are_not_carried_are_refused_by_name_once() {
    let text = "[j]\nioengine=rbd\nclientname=admin\npool=rbd\nrbdname=x\nsize=1m\n";
    let why = "engine `rbd` is not carried: it needs the Ceph client library; map the image with \
               `rbd map` and name the device";
    check_error(text, &[why]);
    let mut files = Memory::default();
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    assert!(read_in(&files, &["--parse-only", "job.fio"]).is_err());
}

#[test]
fn built_in_workloads_are_refused_by_name() {
    let expected = ["fio's built-in workload `tiobench` is not carried"];
    check_error("[j]\nsize=1m\nprofile=tiobench\n", &expected);
}

#[test]
fn what_only_a_run_refuses_is_parsed() {
    let mut files = Memory::default();
    let text = "[j]\nsize=1m\nioengine=libaio\nunlink_each_loop=1\natomic=1\n";
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    assert!(read_in(&files, &["--parse-only", "job.fio"]).is_ok());
    check_error(
        text,
        &[
            "`atomic=1` is known to fio, but not built yet",
            "`unlink_each_loop=1` is known to fio, but not built yet",
        ],
    );
}

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
    assert_eq!(job.features.trace_to.as_deref(), Some("again"));
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
    check_trace_error(
        "replay_align=1000\n",
        "`replay_align` must be a power of two",
    );
    check_trace_error(
        "read_iolog=-\n",
        "a trace is read twice, so it must be a file",
    );
}

#[test]
fn a_command_line_shows_options_in_the_order_fio_reads_them() {
    let mut files = Memory::default();
    let text = "[j]\nfilename=/f\nsize=1m\nkb_base=1000\ndescription=two words\n";
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    let input = read_in(&files, &["--showcmd", "job.fio"]).unwrap();
    let expected =
        "fio --name=j --kb_base=1000 --size=1m --description=\"two words\" --filename=/f \n";
    assert_eq!(input.action, Action::ShowCommand(expected.to_owned()));
}
