//! Readings of engines, what each can do, and what only a run refuses.

use fathom_units::Bytes;
use fathom_workload::{
    Access, Backend, BlockSizes, Caching, Coverage, FileOperation, Growth, StatCall,
};

use super::*;

#[test]
fn a_job_has_one_engine() {
    for engine in ["libaio,io_uring", "psync,", "sync,userspace_reap"] {
        check_error(
            &format!("[j]\nsize=1m\nioengine={engine}\n"),
            &[&format!("`{engine}` is no value of `ioengine`")],
        );
    }
}

#[test]
fn exports_are_named_by_their_uris() {
    let uri = "nbd+unix:///a:b?socket=/run/s";
    let of = |job: &Job| {
        let target = &job.targets[0];
        let place = target.place.path().to_owned();
        (place, target.offset, target.length)
    };
    let given = format!("ioengine=nbd\nuri={uri}\nrw=randwrite\nfilename=x\n");
    check(
        &given,
        of,
        (uri.to_owned(), Bytes::ZERO, Some(Bytes::mib(1))),
    );
    let whole = read_text(&format!("[j]\n{given}iodepth=16\noffset=4k\n")).unwrap();
    let job = &whole.workload.stages[0].jobs[0];
    assert_eq!(of(job), (uri.to_owned(), Bytes::kib(4), None));
    let how = (job.backend, job.caching, job.depth);
    assert_eq!(how, (Backend::Nbd, Caching::Direct, 16));
    assert_eq!(job.features.files.grows, Growth::No);
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
    // Each name once, in one direction or another.
    let mixed = job("ioengine=filecreate\nnrfiles=3\nrw=rw");
    let each_once = Coverage::EachBlockOnce;
    assert!(matches!(mixed.access, Access::Random { coverage, .. } if coverage == each_once));
    check(
        "ioengine=filecreate\nrw=trimwrite",
        |job| job.mix,
        Mix::WRITE,
    );
    let of_sizes = "ioengine=filecreate\nnrfiles=3\nfile_service_type=random";
    for sizes in ["bsrange=1k-8k", "bssplit=1k/50:8k/50", "bs=1k,8k\nrw=write"] {
        let create = job(&format!("{of_sizes}\n{sizes}"));
        assert_eq!(create.block, BlockSizes::uniform(Bytes::kib(1)), "{sizes}");
        assert_eq!(create.targets[0].length, Some(Bytes::kib(1)), "{sizes}");
        assert_eq!(create.features.placement, None, "{sizes}");
    }
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
fn what_a_map_cannot_do_is_refused() {
    let appends = ["job `j`: the engine `mmap` cannot append to files"];
    check_error(
        "[j]\nsize=1m\nrw=write\nioengine=mmap\nfile_append=1\n",
        &appends,
    );
    let mut files = Memory::default();
    let taken = "[j]\nsize=1m\nrw=write\nioengine=mmap\nbs=1k\nend_fsync=1\n";
    files.texts.insert("job.fio".to_owned(), taken.to_owned());
    assert!(read_in(&files, &["job.fio"]).is_ok());
}

/// fio's threads each make one call at a time then: as many are outstanding as there are threads.
#[test]
fn offloaded_calls_have_the_depth_that_was_asked_for() {
    let found = |job: &Job| (job.backend, job.depth);
    let offload = "io_submit_mode=offload\niodepth=8\nioengine=";
    for engine in ["sync", "psync", "vsync", "pvsync", "pvsync2"] {
        let expected = (Backend::IoUring, 8);
        check(&format!("{offload}{engine}"), found, expected);
    }
    let polled = |job: &Job| job.features.calls.polled;
    check(&format!("{offload}pvsync2\nhipri=1"), polled, 0);
    check("ioengine=pvsync2\nhipri=1", polled, 100);
    check_warning(&format!("{offload}psync"), &[]);
    check(&format!("{offload}libaio"), found, (Backend::Libaio, 8));
    check(&format!("{offload}mmap"), found, (Backend::Mmap, 1));
    let alone = "io_submit_mode=offload\nioengine=psync";
    check(alone, found, (Backend::Sync, 1));
    check("ioengine=psync\niodepth=8", found, (Backend::Sync, 1));
}

#[test]
fn what_an_engine_cannot_do_is_refused() {
    for (engine, option, refused) in [
        ("mmap", "end_syncfs=1", true),
        ("null", "end_syncfs=1", true),
        ("filestat", "end_syncfs=1", true),
        ("filedelete", "end_syncfs=1", false),
        ("io_uring", "end_syncfs=1", false),
        ("psync", "end_syncfs=1", false),
        ("io_uring", "io_submit_mode=offload", true),
        ("libaio", "io_submit_mode=offload", false),
        ("io_uring", "io_submit_mode=inline", false),
    ] {
        let text = format!("[j]\nsize=1m\nioengine={engine}\n{option}\n");
        assert_eq!(read_text(&text).is_err(), refused, "{text}");
        let mut files = Memory::default();
        files.texts.insert("job.fio".to_owned(), text.clone());
        assert!(
            read_in(&files, &["--parse-only", "job.fio"]).is_ok(),
            "{text}"
        );
    }
}

/// An option that is not built is no reason to refuse a job that it says nothing to.
#[test]
fn options_without_anything_to_act_on_are_taken() {
    for text in [
        "unlink_each_loop=1",
        "unlink_each_loop=1\nio_size=2m",
        "unlink_each_loop=1\ntime_based\nruntime=1\nloops=3",
        "unlink_each_loop=1\nrw=randread\nio_size=512k",
        "unlink_each_loop=1\nrw=rw\nio_size=2m",
        "lockfile=exclusive",
        "lockfile=readwrite\nfilename=f",
        "lockfile=exclusive\nnumjobs=2",
        "lockfile=exclusive\nnumjobs=2\nfilename=f\nioengine=libaio",
        "lockfile=readwrite\nnumjobs=2\nfilename=f\nrw=read",
        "num_range=4",
        "rw=trim\nnum_range=0",
        "rw=trimwrite\nnum_range=1",
        "block_error_percentiles=1",
    ] {
        let mut files = Memory::default();
        let whole = format!("[j]\nsize=1m\nrw=write\n{text}\n");
        files.texts.insert("job.fio".to_owned(), whole);
        assert!(read_in(&files, &["job.fio"]).is_ok(), "{text}");
    }
    let again = "`unlink_each_loop=1` is known to fio, but refused in a run: only a job that writes, in as many passes as it is \
                 told and without checks, can begin each with new files";
    for (text, expected) in [
        ("unlink_each_loop=1\nloops=2\nrw=rw", again),
        ("unlink_each_loop=1\nloops=2\nrw=trim", again),
        ("unlink_each_loop=1\nio_size=2m\nrw=read", again),
        ("unlink_each_loop=1\nio_size=2m\nrw=randrw", again),
        ("unlink_each_loop=1\nloops=2\nverify=md5", again),
        ("unlink_each_loop=1\nloops=2\nioengine=mmap", again),
        (
            "unlink_each_loop=1\ntime_based\nruntime=1\nnrfiles=2",
            again,
        ),
        (
            "lockfile=exclusive\nnumjobs=2\nfilename=f\nrw=read",
            "`lockfile=exclusive` is known to fio, but refused in a run: a lock around each I/O would be measured instead of the \
             storage",
        ),
        (
            "lockfile=readwrite\nnumjobs=2\nfilename=f\nrw=randrw",
            "`lockfile=readwrite` is known to fio, but refused in a run: a lock around each I/O would be measured instead of the \
             storage",
        ),
        (
            "rw=trim\nnum_range=4",
            "`num_range=4` is known to fio, but refused in a run: no engine here trims several ranges at a time; in fio \
             `io_uring_cmd` alone does",
        ),
    ] {
        check_error(&format!("[j]\nsize=1m\nrw=write\n{text}\n"), &[expected]);
    }
}

#[test]
fn what_only_a_run_refuses_is_parsed() {
    let mut files = Memory::default();
    let text = "[j]\nsize=1m\nioengine=libaio\nunlink_each_loop=1\nloops=2\nnum_range=4\nrw=trim\n";
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    assert!(read_in(&files, &["--parse-only", "job.fio"]).is_ok());
    check_error(
        text,
        &[
            "`num_range=4` is known to fio, but refused in a run: no engine here trims several ranges at a time; in fio \
             `io_uring_cmd` alone does",
            "`unlink_each_loop=1` is known to fio, but refused in a run: only a job that writes, in as many passes as it is told \
             and without checks, can begin each with new files",
        ],
    );
}

#[test]
fn disks_are_those_of_jobs_that_do_io_on_some() {
    let shown = |text: &str| {
        let input = read_text(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        input
            .jobs
            .iter()
            .map(|job| job.disk_util)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shown("[j]\nsize=1m\n[k]\nsize=1m\ndisk_util=0\n"),
        [true, false]
    );
    assert_eq!(shown("[j]\nsize=1m\nioengine=null\n"), [false]);
    for (engine, expected) in [
        ("filecreate", false),
        ("filestat", true),
        ("filedelete", true),
        ("dircreate", false),
        ("dirstat", false),
        ("dirdelete", false),
        ("falloc", true),
    ] {
        let text = format!("[j]\nsize=1m\nrw=write\nioengine={engine}\n");
        assert_eq!(shown(&text), [expected], "{engine}");
    }
}
