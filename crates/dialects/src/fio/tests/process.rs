//! Readings of options of processes, files and errors.

use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Advice, Calls, EndsOthers, Growth, MemoryPolicy, NodeSet, ProcessorSharing, Reserve, Submitter,
    SyncRange, ThreadPriority,
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
    let locked = |job: &Job| job.features.process.locked_memory;
    check("lockmem=16m", locked, Bytes::mib(16));
    let anew = |job: &Job| job.features.files.made_anew;
    let trace = |job: &Job| job.features.trace_to.clone();
    check("write_iolog=again", trace, Some("again".to_owned()));
    check("rw=write\nunlink_each_loop=1\nloops=2", anew, true);
    check("rw=write\nunlink_each_loop=1", anew, false);
    check("rw=write\nloops=2", anew, false);
    check("rw=randwrite\nunlink_each_loop=1\nio_size=2m", anew, true);
    check("rw=write\nunlink_each_loop=1\nio_size=2m", anew, true);
    check("rw=write\nunlink_each_loop=1\nio_size=1m", anew, false);
    let scheduler = |job: &Job| job.features.process.scheduler.clone();
    check("ioscheduler=none", scheduler, Some("none".to_owned()));
    check("size=2m", scheduler, None);
    check("lockmem=0", locked, Bytes::ZERO);
    let user = |job: &Job| (job.features.process.user, job.features.process.user_group);
    check("uid=1234\ngid=0", user, (Some(1234), Some(0)));
    check("size=1m", user, (None, None));
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
    for options in ["prio=5", "prioclass=0\nprio=5"] {
        check(
            options,
            |job| job.features.process.io_priority,
            Some(expected),
        );
    }
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
fn the_kernel_is_told_what_fio_tells_it() {
    let calls = |job: &Job| job.features.calls;
    let none = Calls::default();
    let advised = Calls {
        advice: Advice::ByPattern,
        ..none
    };
    // fio advises by itself, but that is for the page cache alone.
    check("rw=read", calls, advised);
    check("direct=1", calls, none);
    check("ioengine=null", calls, none);
    check("ioengine=mmap\ndirect=1", calls, advised);
    check("fadvise_hint=0", calls, none);
    let random = Calls {
        advice: Advice::Random,
        ..none
    };
    check("fadvise_hint=random", calls, random);
    let flagged = |engine: &str, options: &str, expected: Calls| {
        check(
            &format!("ioengine={engine}\ndirect=1\n{options}"),
            calls,
            expected,
        );
    };
    let polled = |polled| Calls { polled, ..none };
    flagged("io_uring", "hipri", polled(100));
    flagged("io_uring", "hipri=0", none);
    flagged("pvsync2", "hipri=1\nhipri_percentage=30", polled(30));
    flagged("pvsync2", "hipri_percentage=30", none);
    let no_wait = Calls {
        no_wait: true,
        ..none
    };
    flagged("libaio", "nowait=1", no_wait);
    flagged("io_uring", "uncached=1", none);
    let uncached = Calls {
        uncached: true,
        ..advised
    };
    check("ioengine=io_uring\nuncached=1", calls, uncached);
    let every = Calls {
        async_every: 4,
        ..none
    };
    flagged("io_uring", "force_async=4", every);
    let thread = |processor| Calls {
        submitter: Some(Submitter { processor }),
        ..none
    };
    flagged("io_uring", "sqthread_poll", thread(None));
    flagged(
        "io_uring",
        "sqthread_poll=1\nsqthread_poll_cpu=3",
        thread(Some(3)),
    );
    flagged("io_uring", "sqthread_poll_cpu=3", none);
    check_error(
        "[j]\nsize=1m\nioengine=libaio\nhipri\n",
        &["engine `libaio` has no option `hipri`"],
    );
}

#[test]
fn atomic_writes_are_of_some_engines() {
    let is_atomic = |text: &str| {
        let text = format!("[j]\nsize=1m\ndirect=1\n{text}");
        let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        input.workload.stages[0].jobs[0].features.calls.atomic
    };
    for engine in ["pvsync2", "libaio", "linuxaio", "io_uring"] {
        for (options, expected) in [
            ("atomic=1\nrw=randrw", true),
            // As in fio, it is for those that write.
            ("atomic=1\nrw=read", false),
            ("atomic=0\nrw=write", false),
        ] {
            let text = format!("ioengine={engine}\n{options}\n");
            assert_eq!(is_atomic(&text), expected, "{text}");
        }
    }
    for engine in ["psync", "vsync", "pvsync", "posixaio", "mmap", "null"] {
        let text = format!("[j]\nsize=1m\natomic=1\nioengine={engine}\n");
        let expected = format!("job `j`: engine `{engine}` has no atomic writes");
        check_error(&text, &[&expected]);
    }
}

#[test]
fn threads_and_memory_are_placed_on_numa_nodes() {
    let only = |numbers: &[u32]| NodeSet::Only(numbers.iter().copied().collect());
    let but = |numbers: &[u32]| NodeSet::AllBut(numbers.iter().copied().collect());
    let nodes = |job: &Job| job.features.process.nodes.clone();
    for (list, expected) in [
        ("0", only(&[0])),
        ("0,2-4", only(&[0, 2, 3, 4])),
        ("0, 1", only(&[0, 1])),
        ("all", NodeSet::ALL),
        ("0,all", NodeSet::ALL),
        ("!0-1,3", but(&[0, 1, 3])),
    ] {
        check(&format!("numa_cpu_nodes={list}"), nodes, Some(expected));
    }
    let memory = |job: &Job| job.features.process.memory.clone();
    for (policy, expected) in [
        ("default", MemoryPolicy::Default),
        ("bind:0\nnuma_mem_policy=default", MemoryPolicy::Default),
        ("local", MemoryPolicy::Local),
        ("prefer:2", MemoryPolicy::Prefer(2)),
        ("bind:0-1", MemoryPolicy::Bind(only(&[0, 1]))),
        ("interleave", MemoryPolicy::Interleave(NodeSet::ALL)),
        ("interleave:!1", MemoryPolicy::Interleave(but(&[1]))),
    ] {
        check(&format!("numa_mem_policy={policy}"), memory, expected);
    }
    // What is right in the end is not held against the job.
    check(
        "numa_cpu_nodes=x\nnuma_cpu_nodes=1",
        nodes,
        Some(only(&[1])),
    );
}

#[test]
fn wrong_numa_nodes_are_refused_where_the_job_is_to_run() {
    for option in [
        "numa_cpu_nodes=",
        "numa_cpu_nodes=some",
        "numa_cpu_nodes=same",
        "numa_cpu_nodes=+0",
        "numa_cpu_nodes=!all",
        "numa_cpu_nodes=all,0",
        "numa_cpu_nodes=0,",
        "numa_cpu_nodes=0-",
        "numa_cpu_nodes=3-1",
        "numa_cpu_nodes=-1",
        "numa_cpu_nodes=010",
        "numa_cpu_nodes=1024",
        "numa_cpu_nodes=0,!1",
        "numa_mem_policy=",
        "numa_mem_policy=nonsense:0",
        "numa_mem_policy=bind",
        "numa_mem_policy=bind:",
        "numa_mem_policy=bind:0:0",
        "numa_mem_policy=prefer",
        "numa_mem_policy=prefer:",
        "numa_mem_policy=prefer:0,1",
        "numa_mem_policy=prefer: 0",
        "numa_mem_policy=local:0",
        "numa_mem_policy=default:",
    ] {
        let text = format!("[j]\nsize=1m\nioengine=null\n{option}\n");
        let mut files = Memory::default();
        files.texts.insert("job.fio".to_owned(), text.clone());
        assert!(
            read_in(&files, &["--parse-only", "job.fio"]).is_ok(),
            "{option}"
        );
        let (name, value) = option.split_once('=').unwrap();
        let expected = match value {
            "" => format!("option `{name}` has an empty value"),
            _ => format!("`{value}` is no value of `{name}`"),
        };
        check_error(&text, &[&expected]);
    }
}

#[test]
fn jobs_end_and_await_each_other() {
    let ends = |job: &Job| job.features.process.ends;
    check("exit_what=all", ends, EndsOthers::Nothing);
    check("exitall", ends, EndsOthers::Group);
    check("exitall=1\nexit_what=stonewall", ends, EndsOthers::Stage);
    check("exitall=1\nexit_what=all", ends, EndsOthers::Run);
    let on_error = |job: &Job| job.features.process.ends_on_error;
    check("exitall=1\nexit_what=all", on_error, EndsOthers::Nothing);
    check("exitall_on_error", on_error, EndsOthers::Group);
    check("exitall_on_error\nexit_what=all", on_error, EndsOthers::Run);
    check("exitall_on_error\nexit_what=all", ends, EndsOthers::Nothing);
    // One section's `exitall` counts for all jobs, each with its own `exit_what`.
    let text =
        "[global]\nioengine=null\nsize=1m\n[a]\nexit_what=all\n[b]\nexitall\n[c]\nstonewall\n";
    let input = read_text(text).unwrap();
    let all: Vec<_> = input.workload.jobs().map(|(_, job)| ends(job)).collect();
    assert_eq!(all, [EndsOthers::Run, EndsOthers::Group, EndsOthers::Group]);
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

/// The second clock of this test is five seconds behind the wall clock.
#[test]
fn times_are_told_by_another_clock() {
    for (options, of_logs, of_start) in [
        ("", None, 0),
        ("log_unix_epoch=1\n", Some(0), 0),
        ("log_alternate_epoch_clock_id=1\n", None, 0),
        (
            "log_alternate_epoch=1\nlog_alternate_epoch_clock_id=1\n",
            Some(-5_000),
            0,
        ),
        (
            "log_alternate_epoch=1\njob_start_clock_id=1\n",
            Some(0),
            -5_000,
        ),
    ] {
        let text = format!("[j]\nsize=1m\nioengine=null\n{options}");
        let job = read_text(&text).unwrap().jobs.remove(0);
        assert_eq!(
            (job.logs.ahead_ms, job.start_ahead_ms),
            (of_logs, of_start),
            "{options}"
        );
    }
    // That of a process's time, and none at all.
    for number in [2, 99] {
        let text = format!("[j]\nsize=1m\njob_start_clock_id={number}\n");
        let expected = format!("clock {number} does not tell when a job began");
        check_error(&text, &[&expected]);
    }
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
    check(
        "sync_file_range=wait_before,write:32k",
        |job| job.features.files.sync_range,
        Some(expected),
    );
    let range = |job: &Job| job.features.files.sync_range;
    check("sync_file_range=write:0", range, None);
    check(
        "sync_file_range=write:2\nsync_file_range=write:0",
        range,
        None,
    );
    check_error(
        "[j]\nsize=1m\nsync_file_range=write:x\n",
        &["`x` is no number"],
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
    for (value, word) in [
        ("all", "all"),
        (" write:3", " write"),
        ("wait_before, write", " write"),
    ] {
        check_error(
            &format!("[j]\nsize=1m\nsync_file_range={value}\n"),
            &[&format!("`{word}` is no value of `sync_file_range`")],
        );
    }
    for line in ["mem=mmaphuge", "iomem=mmaphuge:/a"] {
        check_warning(
            line,
            &["`mem=mmaphuge` has no effect: buffers are not in huge pages here"],
        );
    }
    check("mem=mmap", |job| job.depth, 1);
    check_warning(
        "iomem_align=8k",
        &["buffers are aligned to pages of 4,096 bytes, and no further"],
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
        [both.clone(), both.clone(), both.clone()],
    );
    check(
        "ignore_error=,ENOSPC:5",
        ignored,
        [vec![], vec![28, 5], vec![28, 5]],
    );
    // What is named takes the place of fio's own, and the later option holds.
    check(
        "ignore_error=ENOSPC\ncontinue_on_error=io",
        ignored,
        [vec![28], both.clone(), both.clone()],
    );
    check(
        "ignore_error=ENOSPC\ncontinue_on_error=none",
        ignored,
        Default::default(),
    );
    check(
        "continue_on_error=none\nignore_error=ENOSPC",
        ignored,
        [vec![28], vec![], vec![]],
    );
    check(
        "continue_on_error=write\nignore_error=EIO",
        ignored,
        [vec![5], both.clone(), both],
    );
    check(
        "rw=write\nfill_device=1",
        |job| job.features.errors.full_ends,
        true,
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
fn a_group_has_percentiles_of_total_latency_or_none() {
    let differs = ["job `k`: `lat_percentiles` differs within its group"];
    let two = |options: &str| format!("[j]\nsize=1m\nlat_percentiles=1\n[k]\nsize=1m\n{options}\n");
    check_error(&two("group_reporting"), &differs);
    for taken in [
        "",
        "group_reporting\nnew_group",
        "group_reporting\nlat_percentiles=1",
    ] {
        let mut files = Memory::default();
        files.texts.insert("job.fio".to_owned(), two(taken));
        assert!(read_in(&files, &["job.fio"]).is_ok(), "{taken}");
    }
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

/// What fio 3.42 prints for the same file.
#[test]
fn a_command_line_shows_a_further_global_section_with_those_before_it() {
    let mut files = Memory::default();
    let text = "[global]\nsize=64k\n[a]\nrw=write\n[global]\nbs=8k\n[b]\nrw=read\n";
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    let shown = |arguments: &[&str]| read_in(&files, arguments).unwrap().action;
    let expected = "fio --size=64k --name=a --rw=write --size=64k --bs=8k --name=b --rw=read \n";
    assert_eq!(
        shown(&["--showcmd", "job.fio"]),
        Action::ShowCommand(expected.to_owned())
    );
    let alone = "fio --size=64k --name=a --rw=write --size=64k --bs=8k \n";
    assert_eq!(
        shown(&["--section=a", "--showcmd", "job.fio"]),
        Action::ShowCommand(alone.to_owned())
    );
}

#[test]
fn debug_areas_are_those_of_fio() {
    let files = Memory::default();
    let read = |areas: &str| {
        let areas = format!("--debug={areas}");
        read_in(&files, &[&areas, "--name=a", "--size=1m"])
    };
    assert!(read("zbd,sprandom,helperthread").is_ok());
    let among = read("help,io").unwrap();
    assert!(among.action == Action::Run && among.output.debug.io);
    let listed = read("help").unwrap().action;
    assert!(matches!(&listed, Action::DebugHelp(areas) if areas.ends_with("zbd,sprandom,all")));
}

/// As in fio, whose outputs have them wherever any kind of error is survived.
#[test]
fn survived_errors_are_told_wherever_there_can_be_any() {
    for (option, told) in [
        ("continue_on_error=none", false),
        ("continue_on_error=0", false),
        ("continue_on_error=verify", true),
        ("continue_on_error=read", true),
        ("continue_on_error=1", true),
        ("ignore_error=EIO", true),
        ("ignore_error=,,EIO", true),
        ("ignore_error=EIO\ncontinue_on_error=none", false),
        ("continue_on_error=none\nignore_error=EIO", true),
        ("bs=4k", false),
    ] {
        let input = read_text(&format!("[a]\nsize=1m\n{option}\n")).unwrap();
        assert_eq!(input.jobs[0].tells_errors, told, "{option}");
    }
}

#[test]
fn options_are_told_in_the_order_in_which_fio_takes_them() {
    let input =
        read_text("[j]\nfilename=f\nlockfile=none\nsize=1m\nbs=8k\nkb_base=1024\n").unwrap();
    let names: Vec<_> = input.jobs[0]
        .options
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["lockfile", "kb_base", "size", "bs", "filename"]);
}

/// `nrfiles` counts the files of `opendir` where it comes later, as it does those of `filename`.
#[test]
fn a_count_of_files_holds_for_those_of_a_directory() {
    let used = |options: &[&str]| {
        let mut files = Memory::default();
        for path in ["/d/a", "/d/b", "/d/c", "/other"] {
            let status = FileStatus::Regular(Bytes::kib(32));
            files.statuses.insert(path.to_owned(), status);
        }
        let input = read_in(&files, &[&["--name=j", "--rw=read"], options].concat()).unwrap();
        let targets = input.workload.jobs().map(|(_, job)| job.targets.len());
        targets.collect::<Vec<_>>()
    };
    assert_eq!(used(&["--opendir=/d"]), [3]);
    assert_eq!(used(&["--opendir=/d", "--nrfiles=2"]), [2]);
    assert_eq!(used(&["--opendir=/d", "--nrfiles=7"]), [3]);
    assert_eq!(used(&["--nrfiles=1", "--opendir=/d"]), [3]);
    assert_eq!(used(&["--opendir=/d", "--ioengine=filedelete"]), [3]);
    assert_eq!(
        used(&["--opendir=/d", "--ioengine=filestat", "--nrfiles=2"]),
        [2]
    );
    let directories = ["--opendir=/d", "--ioengine=dirdelete", "--size=4k"];
    assert_eq!(used(&directories), [1]);
    // Files that are named besides stand behind them.
    assert_eq!(used(&["--opendir=/d", "--filename=/other"]), [4]);
    let cut = ["--opendir=/d", "--filename=/other:/d/a", "--nrfiles=4"];
    assert_eq!(used(&cut), [4]);
}
