//! Our reading and our output beside those of the real fio, which must be installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fathom_dialects::fio::{
    self, FioInput, FioRun, ReadContext, SystemFiles, write_json, write_normal, write_start,
};
use fathom_record::{DeviceCounters, HalfSecond, OpStats, StageResult, WorkerStats};
use fathom_units::{Nanos, Percent};
use fathom_workload::{Direction, Job};

/// A fresh directory of a test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    fn fio(&self, arguments: &[&str]) -> Output {
        let run = Command::new("fio")
            .args(arguments)
            .current_dir(&self.0)
            .output();
        run.expect("these tests need fio: install the package `fio`")
    }

    /// Writes a job file and returns its path.
    fn job_file(&self, text: &str) -> String {
        let path = self.0.join("job.fio");
        std::fs::write(&path, text).expect("the temporary directory is writable");
        path.to_str().expect("the path is UTF-8").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(arguments: &[&str]) -> Result<FioInput, fathom_diagnostics::Diagnostics> {
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    fio::read(&arguments, &ReadContext::of_system(&SystemFiles))
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Half a second and more of every job, so that there are samples.
fn results(input: &FioInput, devices: &[DeviceCounters]) -> Vec<StageResult> {
    let worker = |index: usize, job: &Job| {
        let mut worker = WorkerStats::new(index, 0);
        worker.measured = Nanos::from_millis(1200);
        worker.depth_levels[0] = 1000;
        worker.submit_batches[1] = 1000;
        worker.complete_batches[1] = 1000;
        let mut sample = HalfSecond {
            at: Nanos::from_millis(500),
            ..HalfSecond::default()
        };
        for way in Direction::ALL {
            if job.mix.share(way) == Percent::ZERO {
                continue;
            }
            let mut stats = OpStats::new(false, job.split_latency);
            for io in 1..=1000u64 {
                stats.latency.record(100 + io);
                stats.bytes += 4096;
                if let (Some(submit), Some(complete)) = (&mut stats.submit, &mut stats.complete) {
                    submit.record(100);
                    complete.record(io);
                }
            }
            sample.ios[way as usize] = 500;
            sample.bytes[way as usize] = 500 * 4096;
            worker.directions[way as usize] = Some(stats);
        }
        if job.sync.fsync_every > 0 {
            let mut syncs = OpStats::new(false, false);
            syncs.latency.record(1000);
            worker.sync = Some(syncs);
        }
        worker.samples.push(sample);
        worker
    };
    let stages = input.workload.stages.iter().enumerate();
    let stage = |(index, stage): (usize, &fathom_workload::Stage)| StageResult {
        started_unix_ns: 1,
        measured: Nanos::from_millis(1200),
        workers: stage
            .jobs
            .iter()
            .enumerate()
            .map(|(index, job)| worker(index, job))
            .collect(),
        devices: devices.to_vec(),
        ..StageResult::new(&stage.name, index)
    };
    stages.map(stage).collect()
}

/// Counters of the disk of this name, if there is one.
fn disks(name: Option<&str>) -> Vec<DeviceCounters> {
    let disk = |name: &str| DeviceCounters {
        name: name.to_owned(),
        over: Nanos::from_secs(1),
        ..DeviceCounters::default()
    };
    name.map(disk).into_iter().collect()
}

fn run(results: &[StageResult]) -> FioRun<'_> {
    FioRun {
        results,
        finished_unix_ms: 1,
        elapsed: Nanos::from_secs(2),
        priorities: None,
        idle: &[],
        pid: 1,
    }
}

/// Keys that fio 3.42 has, and Debian's 3.33 has not.
const NEWER: [&str; 5] = [
    "job_start",
    "latency_target_ns",
    "latency_window_us",
    "read_sectors",
    "write_sectors",
];

/// Every line of a document with its value replaced by its type: keys, their order, their nesting and the number
/// formats remain.
fn shape_of_json(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| {
        let line = line.trim_end_matches(',');
        let Some((key, value)) = line.split_once(" : ") else {
            return line.to_owned();
        };
        let kind = match value {
            "{" | "[" => value,
            text if text.starts_with('"') => "text",
            number if number.contains('.') => "fraction",
            _ => "whole",
        };
        // fio prints six decimals, no more, no less.
        let decimals = value
            .split_once('.')
            .map_or(6, |(_, decimals)| decimals.len());
        assert!(kind != "fraction" || decimals == 6, "{line}");
        format!("{key} : {kind}")
    });
    lines
        .filter(|line| !NEWER.iter().any(|key| line.contains(&format!("\"{key}\""))))
        .collect()
}

#[track_caller]
fn check_json(arguments: &[&str]) {
    let folder = Folder::new(&format!("json{}", arguments.len()));
    let mut arguments = arguments.to_vec();
    arguments.insert(0, "--output-format=json");
    let output = folder.fio(&arguments);
    let theirs = text_of(&output);
    let input = read(&arguments).unwrap_or_else(|it| panic!("{it}"));
    let results = results(
        &input,
        &disks(theirs.contains("disk_util").then_some("vda")),
    );
    let ours = write_json(&input, &run(&results));
    assert_eq!(
        shape_of_json(&ours),
        shape_of_json(&theirs),
        "fio {}",
        arguments.join(" ")
    );
}

#[test]
fn json_has_the_keys_of_fio_in_their_order() {
    let null = ["--ioengine=null", "--size=8m"];
    let with = |more: &[&'static str]| [&null[..], more].concat();
    check_json(&with(&["--name=a", "--iodepth=4"]));
    check_json(&with(&[
        "--name=a",
        "--rw=randrw",
        "--name=b",
        "--rw=write",
        "--stonewall=1",
    ]));
    check_json(&with(&[
        "--name=a",
        "--rw=write",
        "--fsync=16",
        "--description=text",
        "--loops=2",
    ]));
    check_json(&with(&[
        "--group_reporting=1",
        "--name=a",
        "--rw=randwrite",
        "--numjobs=3",
        "--bs=8k",
    ]));
    check_json(&with(&[
        "--name=a",
        "--lat_percentiles=1",
        "--slat_percentiles=1",
        "--clat_percentiles=0",
        "--percentile_list=50:99.9",
        "--bs=8k",
    ]));
    check_json(&[
        "--name=a",
        "--size=64k",
        "--rw=read",
        "--direct=0",
        "--bs=4k",
        "--unlink=1",
        "--loops=1",
    ]);
}

/// A line of text with figures, their prefixes and blanks levelled.
fn shape_of_line(line: &str) -> String {
    let mut shape = String::new();
    let mut characters = line.trim_end().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '0'..='9' => {
                while characters
                    .peek()
                    .is_some_and(|next| next.is_ascii_digit() || *next == '.')
                {
                    characters.next();
                }
                while characters
                    .peek()
                    .is_some_and(|next| "kKMGTi".contains(*next))
                {
                    characters.next();
                }
                shape.push('#');
            }
            ' ' if shape.ends_with(['=', '[', '(']) => {}
            other => shape.push(other),
        }
    }
    for unit in ["nsec", "usec"] {
        shape = shape.replace(unit, "msec");
    }
    for unit in ["MiB/s)", "KiB/s)"] {
        shape = shape.replace(unit, "?iB/s)");
    }
    shape.replace("; # zone resets", "")
}

/// Lines whose number depends on the latencies met, not on the job.
fn depends_on_latency(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("lat (") || line.starts_with('|')
}

fn shape_of_text(text: &str) -> Vec<String> {
    let is_shown = |line: &&str| {
        // These lines of 3.42 differ from those of 3.33 in words: checked by the writer's own tests.
        let differs = ["latency   : target", "sync_file_range", "Laying out"];
        !depends_on_latency(line) && !differs.iter().any(|word| line.contains(word))
    };
    text.lines()
        .filter(is_shown)
        .map(|line| match line.split_once(": pid=") {
            Some((before, _)) => shape_of_line(before),
            None => shape_of_line(line),
        })
        .collect()
}

#[track_caller]
fn check_text(arguments: &[&str]) {
    let folder = Folder::new(&format!("text{}", arguments.len()));
    let theirs = text_of(&folder.fio(arguments));
    let input = read(arguments).unwrap_or_else(|it| panic!("{it}"));
    let results = results(
        &input,
        &disks(theirs.contains("Disk stats").then_some("vda")),
    );
    let ours = write_start(&input) + &write_normal(&input, &run(&results));
    assert_eq!(
        shape_of_text(&ours),
        shape_of_text(&theirs),
        "fio {}",
        arguments.join(" ")
    );
}

#[test]
fn text_has_the_lines_of_fio() {
    // A second each, so that there are samples of bandwidth.
    let timed = [
        "--ioengine=null",
        "--size=8m",
        "--time_based=1",
        "--runtime=1200ms",
    ];
    let with = |more: &[&'static str]| [&timed[..], more].concat();
    check_text(&with(&["--name=a", "--iodepth=4"]));
    check_text(&with(&["--name=a", "--unit_base=1"]));
    check_text(&with(&[
        "--name=a",
        "--rw=randrw",
        "--description=text",
        "--bs=4k,64k",
    ]));
    check_text(&with(&[
        "--group_reporting",
        "--name=a",
        "--numjobs=3",
        "--rw=randwrite",
        "--thread",
    ]));
}

#[track_caller]
fn check_start(text: &str) {
    let folder = Folder::new("start");
    let path = folder.job_file(&format!("[global]\nioengine=null\nsize=4m\n{text}"));
    let theirs = text_of(&folder.fio(&[&path]));
    let input = read(&[&path]).unwrap_or_else(|it| panic!("{text}\n{it}"));
    let theirs: Vec<_> = theirs
        .lines()
        .take_while(|line| !line.starts_with("fio-"))
        .collect();
    let ours = write_start(&input);
    let ours: Vec<_> = ours
        .lines()
        .take_while(|line| !line.starts_with("fio-"))
        .collect();
    assert_eq!(ours, theirs, "{text}");
}

/// fio says how it understood direction, sizes, depth and groups before it starts: so do we, word for word.
#[test]
fn jobs_are_understood_as_fio_understands_them() {
    for text in [
        "[a]\nbs=4k\n",
        "[a]\nbs=4KiB\n",
        "[a]\nbs=4ki\n",
        "[a]\nbs= 8k\nrw=randread\n",
        "[a]\nbs=0x1000\n",
        "[a]\nbs=4x\n",
        "[a]\nbs=8k,\nrw=randrw\n",
        "[a]\nbs=,8k\nrw=randrw\n",
        "[a]\nbs=1k,2k,4k\nrw=readwrite\n",
        "[a]\nbs=2k-8k\nrw=rw\n",
        "[a]\nkb_base=1000\nbs=4k\n",
        "[a]\nkb_base=1000\nbs=4KiB\n",
        "[a]\nbs=1.5k\n",
        "[a]\nblocksize=64k ; comment\n",
        "[a]\nbssplit=4k/60:8k/40\nrw=randread\n",
        "[a]\nbs=1m\nbs=2m\n",
        "[a]\nnumjobs=3\niodepth=7\n[b]\nnumjobs=1\n[c]\nstonewall\n[d]\nnew_group\n",
        "[a]\nrw=read:4k\n[b]\nrw=randwrite:8\n[globalx]\nbs=2k\n[c]\n",
        "[a]x]\nname=other\n",
        "[a]\nrwmixread=30\nreadwrite=randrw\n[a]\nrw=write,4k\n",
        "[j\nrw=write\n",
        "[a]\nnumjobs=2\nsignificant_figures=6\nbs=1000000\n",
        "[a]\nbsrange=1k-16k\nrw=randread\n",
        "[a]\nbsrange=1k-2k,4k-8k\nrw=randtrimwrite\n",
        "[a]\nbs_is_seq_rand=1\nbs=4k,16k\nrw=randread\n",
    ] {
        check_start(text);
    }
}

/// How our verdict on an option differs from fio's, if it does.
fn verdict_that_differs(folder: &Folder, options: &str) -> Option<String> {
    let path = folder.job_file(&format!("[j]\nioengine=null\nsize=1m\n{options}\n"));
    let theirs = folder.fio(&["--parse-only", &path]).status.success();
    let ours = read(&["--parse-only", &path]);
    let complaint = ours.as_ref().err().map(ToString::to_string);
    (ours.is_ok() != theirs).then(|| {
        format!(
            "{options}: fio {theirs}, ours {}",
            complaint.unwrap_or_default()
        )
    })
}

/// Options whose values fio takes or refuses by itself, without a look at the rest of the job.
#[rustfmt::skip]
const DOUBTFUL: &[&str] = &[
    "iodepth=many", "iodepth=0", "iodepth=4x", "iodepth= 4", "iodepth", "iodepth=",
    "rw=randreed", "rw=read,write", "rw = read", "rw=READ", "bs=0", "bs=k", "runtime=1sec",
    "runtime=soon", "runtime=1.5h", "direct=1x", "direct=2", "direct=yes", "direct", "time_based",
    "time_based=0", "refill_buffers=maybe", "refill_buffers=5", "percentile_list=101",
    "percentile_list=1:x", "percentile_list=50", "rwmixread=101", "rwmixread=100", "sync=dsync",
    "sync=2", "sync=none", "RW=read", "frobnicate=1", "numjobs=2k", "bssplit=4k/60:8k/60",
    "bssplit=4k", "bssplit=4k/x", "rate=1m,", "rate_iops=,5", "rate_process=poisson", "rate_process=often",
    "size=10%", "offset=50%", "kb_base=1000", "kb_base=7", "norandommap", "random_generator=lfsr",
    "random_generator=dice", "fsync=1k", "loops=0", "file_service_type=random", "nrfiles=3",
    "startdelay=5", "ramp_time=5s", "description=a b c", "gtod_reduce=1", "clocksource=cpu",
    "thread", "fadvise_hint=0", "log_avg_msec=1000", "fallocate=none", "overwrite=1", "create_on_open=1",
    "invalidate=0", "thread=0", "exitall=0", "threads=1", "bssplit=4k/x", "dir=/x",
    "bsrange=4k", "bsrange=4k:8k", "bsrange=4k-8k,1k-2k", "bsrange=8k-4k", "percentage_sequential=50",
    "rwmixcycle=5", "buffer_pattern=%o", "buffer_pattern=0xdeadbeef", "buffer_pattern=\"ab\"-12",
    "buffer_pattern=abc", "random_distribution=zipf", "random_distribution=zipf:1",
    "random_distribution=zipf:0", "random_distribution=zipf:x", "random_distribution=zipf:1.2:0.5",
    "random_distribution=zipf:1.2:2", "random_distribution=pareto:1", "random_distribution=normal:100",
    "random_distribution=zoned:60/10:30/20", "random_distribution=zoned:60/10:40/90",
    "random_distribution=zoned:60/10:50/90", "random_distribution=zoned_abs:60/10k:40/90m",
    "file_service_type=zipf:1.2", "file_service_type=random:x", "rw=read:-8k", "rw=read:0",
    "rw=trimwrite", "rw=randtrimwrite", "rw_sequencer=identical", "rw_sequencer=other", "bs_unaligned",
    "bs_is_seq_rand=1", "dedupe_percentage=101", "dedupe_percentage=50", "dedupe_mode=foo",
    "dedupe_mode=working_set", "buffer_compress_percentage=30", "buffer_compress_chunk=4k",
    "zonemode=strided", "zonemode=other", "zoneskip=1m", "file_append=1", "openfiles=3",
    "nice=5", "nice=20", "nice=-21", "prio=7", "prio=8", "prioclass=3", "prioclass=4", "cpus_allowed=0",
    "cpus_allowed_policy=split", "cpus_allowed_policy=none", "cpumask=1", "wait_for=x", "exitall", "exit_what=all",
    "exit_what=none", "exec_prerun=true", "exec_postrun=a b", "pre_read=1", "pre_read=2", "allow_file_create=0",
    "create_only=1", "sync_file_range=write:8", "sync_file_range=foo", "sync_file_range=wait_before,write:3",
    "continue_on_error=io", "continue_on_error=maybe", "continue_on_error=1", "ignore_error=EIO",
    "ignore_error=,ENOSPC:5", "max_latency=10ms", "max_latency=5", "max_latency=soon",
    "rate_min=1m", "rate_min=1m,2m", "ratemin=x", "rate_iops_min=5", "rate_min=1m\nrate_iops_min=5",
    "rate=1m\nrate_min=2m", "rate=1m\nrate_min=1m", "rate=1m\nrate_min=,2m", "rate_iops=5,5\nrate_iops_min=,,6",
    "rate=1m\nrate_iops_min=5", "rate_cycle=0", "ratecycle=100", "rate_cycle=x",
    "write_hint=none", "write_hint=short", "write_hint=extreme", "write_hint=tiny", "write_hint=2", "mem=mmap", "mem=mmap:/x",
    "mem=gpu", "iomem_align=512", "openfiles=4", "opendir=/x", "write_iolog=x", "read_iolog=x",
    "read_iolog_chunked=1", "replay_no_stall=1", "replay_no_stall=2", "replay_time_scale=0",
    "replay_time_scale=50", "replay_scale=2", "replay_align=512", "replay_skip=read", "replay_redirect=/x",
    "startdelay=1-5", "fallocate=maybe", "fallocate=keep", "write_barrier=8", "ioengine=mmap",
    "ioengine=filecreate", "ioengine=posixaio", "ioengine=falloc", "ioengine=ftruncate", "ioengine=filedelete",
    "ioengine=filestat\nstat_type=lstat", "stat_type=stat", "ioscheduler=noop", "uid=0", "exitall_on_error",
    "hugepage-size=2m", "create_fsync=2", "unlink_each_loop=0",
    "fadvise_hint=1", "fadvise_hint=random", "fadvise_hint=2", "fadvise_hint=none", "hipri",
    "ioengine=io_uring\nhipri", "ioengine=io_uring\nhipri=0", "ioengine=io_uring\nhipri=x",
    "ioengine=pvsync2\nhipri\nhipri_percentage=30", "ioengine=pvsync2\nhipri_percentage=101",
    "ioengine=io_uring\nhipri_percentage=30", "ioengine=libaio\nnowait=1", "ioengine=libaio\nnowait=2",
    "ioengine=io_uring\nnowait=1", "ioengine=io_uring\nuncached=1", "ioengine=pvsync2\nuncached=2",
    "ioengine=io_uring\nforce_async=8", "ioengine=psync\nforce_async=8",
    "ioengine=io_uring\nsqthread_poll", "ioengine=io_uring\nsqthread_poll=1\nsqthread_poll_cpu=0",
    "ioengine=io_uring\nsqthread_poll_cpu=x",
    "numa_cpu_nodes=0", "numa_cpu_nodes=0,900-901",
    "numa_cpu_nodes=all", "numa_cpu_nodes=!0", "numa_cpu_nodes=+0", "numa_cpu_nodes=some", "numa_cpu_nodes=",
    "numa_cpu_nodes", "numa_mem_policy=bind:0", "numa_mem_policy=bind", "numa_mem_policy=prefer:0,1",
    "numa_mem_policy=local", "numa_mem_policy=local:0", "numa_mem_policy=interleave",
    "numa_mem_policy=nonsense:0", "numa_mem_policy=",
];

#[test]
fn what_fio_takes_is_taken_and_what_it_refuses_is_refused() {
    let folder = Folder::new("accepted");
    let different: Vec<_> = DOUBTFUL
        .iter()
        .filter_map(|options| verdict_that_differs(&folder, options))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The values that an option's help lists.
fn listed_values(help: &str) -> BTreeSet<String> {
    let lines = help
        .lines()
        .skip_while(|line| !line.contains("valid values:"))
        .take_while(|line| !line.trim_start().starts_with("support:"));
    let words = lines.filter_map(|line| line.split_once(": ")?.1.split_whitespace().next());
    words.map(str::to_owned).collect()
}

/// All that fio lists stand in ours, and are taken where fio takes them; but zoned block devices are not carried.
#[test]
fn help_lists_the_values_that_fio_lists_and_takes_them_as_fio_does() {
    let folder = Folder::new("values");
    let all = text_of(&folder.fio(&["--cmdhelp=all"]));
    let names = all.lines().filter_map(|line| line.split_once(':'));
    let mut seen = 0;
    for name in names.map(|(name, _)| name.trim()) {
        let ours = fio::command_help(Some(name)).unwrap_or_else(|text| panic!("{text}"));
        let ours = listed_values(&ours);
        // Not all engines are carried.
        if ours.is_empty() || name == "ioengine" {
            continue;
        }
        let theirs = listed_values(&text_of(&folder.fio(&[&format!("--cmdhelp={name}")])));
        let missing: Vec<_> = theirs.difference(&ours).collect();
        assert!(missing.is_empty(), "{name}: {missing:?} are not listed");
        // A job each, so that fio is started once.
        let jobs = theirs.iter().map(|value| format!("{name}={value}"));
        let jobs: Vec<String> = jobs.collect();
        let together = jobs.join("\n[next]\nioengine=null\nsize=1m\n");
        let path = folder.job_file(&format!("[j]\nioengine=null\nsize=1m\n{together}\n"));
        // Where one is refused, as a value that lacks its parts, that says nothing of the others.
        let each = match read(&["--parse-only", &path]) {
            Ok(_) => vec![together],
            Err(_) => jobs,
        };
        for options in each {
            assert_eq!(verdict_that_differs(&folder, &options), None);
        }
        seen += theirs.len();
    }
    assert!(seen > 90, "fio lists more than {seen} values");
}

/// Names and sizes under a directory.
fn files_in(path: &Path) -> BTreeSet<(String, u64)> {
    let entries = std::fs::read_dir(path).expect("the directory is readable");
    let file = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("the directory is readable");
        let size = entry.metadata().expect("the file is there").len();
        (
            entry.path().to_str().expect("the path is UTF-8").to_owned(),
            size,
        )
    };
    entries.map(file).collect()
}

#[track_caller]
fn check_layout(options: &str) {
    let folder = Folder::new("layout");
    let data = folder.0.join("data");
    std::fs::create_dir(&data).expect("the temporary directory is writable");
    let text = format!("[j]\ndirectory={}\n{options}\n", data.display());
    let input = read(&[&folder.job_file(&text)]).unwrap_or_else(|it| panic!("{options}\n{it}"));
    let made = folder.fio(&[&folder.job_file(&format!("{text}create_only=1\n"))]);
    assert!(made.status.success(), "{options}: {}", text_of(&made));
    let targets = input.workload.jobs().flat_map(|(_, job)| &job.targets);
    let ours: BTreeSet<_> = targets
        .map(|target| {
            let length = target.length.expect("every size is given").get();
            (target.place.path().to_owned(), target.offset.get() + length)
        })
        .collect();
    assert_eq!(ours, files_in(&data), "{options}");
}

#[test]
fn files_have_the_names_and_sizes_that_fio_gives_them() {
    for options in [
        "size=64k",
        "size=64k\nnumjobs=3",
        "size=64k\nnrfiles=4",
        "size=70k\nnrfiles=4",
        "size=30k\nnrfiles=4\nnumjobs=2",
        "size=64k\nfilename=a:b",
        "size=60k\nfilename=a:b:c\nnrfiles=2",
        "size=60k\nfilename=a\nnrfiles=2\nfilename=b:c",
        "filesize=16k\nnrfiles=3",
        "filesize=16k\nnrfiles=2\nsize=20k",
        "size=64k\noffset=8k",
        "size=64k\noffset_increment=16k\nnumjobs=3",
        "size=64k\nfilename=shared\nnumjobs=2",
        "size=64k\nfilename_format=$jobname.$filenum.$jobnum\nnrfiles=2",
        "size=64KiB",
        "size=40k\nnrfiles=3\nbs=8k",
        "size=40k\nnrfiles=3\nbs=8k,2k",
        "size=50k\nnrfiles=3\nbssplit=4k/50:16k/50",
    ] {
        check_layout(options);
    }
}
