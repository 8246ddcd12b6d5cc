//! Output of synthetic runs.

mod figures;

use fathom_record::{HalfSecond, IoErrors, OpStats, StageResult, WorkerStats};
use fathom_units::Nanos;
use fathom_workload::{Direction, Workload};

use super::*;
use crate::fio::{ReadContext, SystemFiles, read};

fn input(arguments: &[&str]) -> FioInput {
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    read(&arguments, &ReadContext::of_system(&SystemFiles)).unwrap_or_else(|it| panic!("{it}"))
}

/// Two seconds, in which each job does 2,000 I/Os of 4 KiB, in 100 to 2,099 µs, in each direction it has.
fn results(workload: &Workload) -> Vec<StageResult> {
    let stages = workload.stages.iter().enumerate();
    stages
        .map(|(index, stage)| StageResult {
            started_unix_ns: 1_795_201_044_000_000_000,
            measured: Nanos::from_secs(2),
            workers: stage
                .jobs
                .iter()
                .enumerate()
                .map(|(job, it)| worker(job, it))
                .collect(),
            ..StageResult::new(&stage.name, index)
        })
        .collect()
}

fn worker(index: usize, job: &fathom_workload::Job) -> WorkerStats {
    let mut worker = WorkerStats::new(index, 0);
    worker.measured = Nanos::from_secs(2);
    worker.depth_levels[2] = 2000;
    worker.submit_batches[1] = 2000;
    worker.complete_batches[1] = 2000;
    let used: Vec<_> = Direction::ALL
        .into_iter()
        .filter(|way| job.mix.share(*way) > fathom_units::Percent::ZERO)
        .collect();
    for way in &used {
        let mut stats = OpStats::new(false, job.split_latency);
        for io in 0..2000u64 {
            let complete = 100_000 + io * 1000;
            stats.latency.record(complete + 5_000);
            if let (Some(submits), Some(completes)) = (&mut stats.submit, &mut stats.complete) {
                submits.record(5_000);
                completes.record(complete);
            }
            stats.bytes += 4096;
        }
        worker.directions[*way as usize] = Some(stats);
    }
    worker.samples = (1..=4)
        .map(|half| {
            let mut sample = HalfSecond {
                at: Nanos::from_millis(half * 500),
                ..HalfSecond::default()
            };
            for way in &used {
                sample.ios[*way as usize] = 500;
                sample.bytes[*way as usize] = 500 * 4096;
            }
            sample
        })
        .collect();
    worker
}

fn run(results: &[StageResult]) -> FioRun<'_> {
    FioRun {
        results,
        finished_unix_ms: 1_795_201_046_095,
        elapsed: Nanos::from_millis(2100),
        priorities: None,
        idle: &[],
        pid: 4711,
    }
}

#[test]
fn json_of_one_job() {
    let input = input(&[
        "--name=a",
        "--ioengine=null",
        "--size=8m",
        "--iodepth=4",
        "--description=\"x\"",
    ]);
    let results = results(&input.workload);
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
    let job = &document["jobs"][0];
    assert_eq!(document["fio version"], "fio-3.42");
    assert_eq!(document["time"], "Fri Nov 20 18:57:26 2026");
    assert_eq!(job["read"]["total_ios"], 2000);
    assert_eq!(job["read"]["bw_bytes"], 4_096_000);
    assert_eq!(job["read"]["bw"], 4000);
    assert_eq!(job["read"]["runtime"], 2000);
    assert_eq!(job["read"]["iops"], 1000.0);
    assert_eq!(job["read"]["iops_samples"], 4);
    assert_eq!(job["read"]["bw_mean"], 4000.0);
    assert_eq!(job["read"]["bw_agg"], 100.0);
    assert_eq!(job["read"]["slat_ns"]["max"], 5000);
    let median = job["read"]["clat_ns"]["percentile"]["50.000000"]
        .as_u64()
        .unwrap();
    assert!(median.abs_diff(1_099_000) < 11_000, "{median}");
    assert!(job["read"]["slat_ns"].get("percentile").is_none());
    assert_eq!(job["iodepth_level"]["4"], 100.0);
    assert_eq!(
        job["latency_us"]["250"], 7.5,
        "150 of 2,000 completions lie from 100 to 249 µs"
    );
    assert_eq!(job["write"]["total_ios"], 0);
    assert_eq!(job["desc"], "\"x\"");
    assert_eq!(job["elapsed"], 3);
}

#[test]
fn groups_are_merged() {
    let arguments = [
        "--ioengine=null",
        "--size=8m",
        "--group_reporting",
        "--name=a",
        "--numjobs=3",
    ];
    let input = input(&arguments);
    let results = results(&input.workload);
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0]["read"]["total_ios"], 6000);
    assert_eq!(jobs[0]["read"]["iops"], 3000.0);
    assert_eq!(jobs[0]["read"]["clat_ns"]["N"], 6000);
    assert_eq!(jobs[0]["read"]["bw_min"], 12_000);
    assert_eq!(jobs[0]["job_runtime"], 6000);
    assert_eq!(document["global options"]["size"], "8m");
    assert_eq!(jobs[0]["job options"]["numjobs"], "3");
}

#[test]
fn json_plus_lists_every_bucket() {
    let input = input(&[
        "--output-format=json+",
        "--name=a",
        "--ioengine=null",
        "--size=8m",
    ]);
    let results = results(&input.workload);
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
    let bins = document["jobs"][0]["read"]["clat_ns"]["bins"]
        .as_object()
        .unwrap();
    let total: u64 = bins.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total, 2000);
}

/// Percentiles, deviations and classes come from buckets that are up to 1/128 of their value wide: the exact figures
/// would be 1,100, 2,080 and 2,097 µs, 577.49 µs, and 50.00 and 5.25 %.
#[test]
fn text_of_one_job() {
    let arguments = [
        "--name=a",
        "--ioengine=null",
        "--size=8m",
        "--iodepth=4",
        "--percentile_list=50:99:99.9",
    ];
    let input = input(&arguments);
    let results = results(&input.workload);
    let expected = "
a: (groupid=0, jobs=1): err= 0: pid=4711: Fri Nov 20 18:57:26 2026
  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(8000KiB/2000msec)
    slat (nsec): min=5000, max=5000, avg=5000.00, stdev= 0.00
    clat (usec): min=100, max=2099, avg=1099.50, stdev=577.50
     lat (usec): min=105, max=2104, avg=1104.50, stdev=577.51
    clat percentiles (usec):
     | 50.0th=[ 1102], 99.0th=[ 2077], 99.9th=[ 2094]
   bw (  KiB/s): min= 4000, max= 4000, per=100.00%, avg=4000.00, stdev= 0.00, samples=4
   iops        : min= 1000, max= 1000, avg=1000.00, stdev= 0.00, samples=4
  lat (usec)   : 250=7.50%, 500=12.50%, 750=12.50%, 1000=12.50%
  lat (msec)   : 2=49.95%, 4=5.05%
  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=0
  IO depths    : 1=0.0%, 2=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=2000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=4

Run status group 0 (all jobs):
   READ: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=8000KiB (8192kB), \
run=2000-2000msec
";
    assert_eq!(write_normal(&input, &run(&results)), expected);
}

/// In JSON the directions of such a job are one key; the line of counts has three places.
#[test]
fn what_is_told_as_one_is_issued_as_reads() {
    let counts = |unified: &str| {
        let unified = format!("--unified_rw_reporting={unified}");
        let input = input(&[
            "--name=a",
            "--size=8m",
            "--rw=write",
            "--ioengine=null",
            &unified,
        ]);
        let results = results(&input.workload);
        let text = write_normal(&input, &run(&results));
        let line = text.lines().find(|line| line.contains("issued rwts"));
        line.and_then(|line| Some(line.split("total=").nth(1)?.split(' ').next()?.to_owned()))
    };
    assert_eq!(counts("none").as_deref(), Some("0,2000,0,0"));
    assert_eq!(counts("both").as_deref(), Some("0,2000,0,0"));
    assert_eq!(counts("mixed").as_deref(), Some("2000,0,0,0"));
}

#[test]
fn the_sum_beside_the_directions_has_rates_without_units() {
    let line = |unified: &str| {
        let unified = format!("--unified_rw_reporting={unified}");
        let input = input(&["--name=a", "--size=8m", "--ioengine=null", &unified]);
        let results = results(&input.workload);
        let text = write_normal(&input, &run(&results));
        let line = text.lines().find(|line| line.contains("  mixed: "));
        line.and_then(|line| Some(line.split_once("BW=")?.1.to_owned()))
    };
    assert_eq!(
        line("both").as_deref(),
        Some("4000Ki (4096k)(8000KiB/2000msec)")
    );
    assert_eq!(
        line("mixed").as_deref(),
        Some("4000KiB/s (4096kB/s)(8000KiB/2000msec)")
    );
}

#[test]
fn text_before_a_run() {
    let arguments = [
        "--ioengine=null",
        "--size=8m",
        "--name=a",
        "--numjobs=3",
        "--bs=64k",
        "--name=b",
        "--rw=readwrite",
        "--stonewall",
    ];
    let expected = "\
a: (g=0): rw=read, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=null, iodepth=1
...
b: (g=1): rw=rw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=null, iodepth=1
fio-3.42
Starting 4 processes
";
    assert_eq!(write_start(&input(&arguments)), expected);
}

#[test]
fn threads_and_processes_are_told_apart() {
    for (words, expected) in [
        ("--name=a", "1 process"),
        ("--name=a --thread", "1 thread"),
        ("--name=a --thread --numjobs=2", "2 threads"),
        ("--name=a --thread --name=b", "1 thread and 1 process"),
        (
            "--name=a --thread --name=b --numjobs=3",
            "1 thread and 3 processes",
        ),
    ] {
        let words: Vec<&str> = ["--size=8m"].into_iter().chain(words.split(' ')).collect();
        let text = write_start(&input(&words));
        let line = format!("\nStarting {expected}\n");
        assert!(text.ends_with(&line), "{text}");
    }
}

#[test]
fn errors_and_stages_that_were_not_reached() {
    let arguments = [
        "--ioengine=null",
        "--size=8m",
        "--name=a",
        "--name=b",
        "--stonewall",
    ];
    let input = input(&arguments);
    let mut results = results(&input.workload);
    results.truncate(1);
    assert_eq!(failed_jobs(&input, &run(&results)), 0);
    let failed = IoErrors {
        direction: Direction::Read,
        operation: None,
        errno: 28,
        count: 1,
        first_offsets: Vec::new(),
    };
    results[0].workers[0].errors.push(failed);
    assert_eq!(failed_jobs(&input, &run(&results)), 1);
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
    assert_eq!(document["jobs"][0]["error"], 28);
    assert_eq!(document["jobs"][1]["read"]["total_ios"], 0);
    assert!(document["jobs"][0].get("latency_depth").is_some());
    assert!(document["jobs"][1].get("latency_depth").is_none());
    let text = write_normal(&input, &run(&results));
    assert!(
        text.contains("err=28 (No space left on device): pid=4711"),
        "{text}"
    );
    assert!(
        !text.contains("\nb: "),
        "fio leaves out jobs without I/O: {text}"
    );
}

/// What ends a job is among them with a synchronous engine alone, and where others of its kind are survived.
#[test]
fn errors_that_end_a_job_are_counted_as_by_fio() {
    for (engine, option, expected) in [
        ("psync", "--continue_on_error=all", [1, 28]),
        ("libaio", "--continue_on_error=all", [0, 0]),
        ("psync", "--continue_on_error=read", [0, 0]),
        ("libaio", "--ignore_error=,ENOSPC", [1, 28]),
    ] {
        let engine = format!("--ioengine={engine}");
        let input = input(&["--name=a", "--rw=write", "--size=8m", &engine, option]);
        let mut results = results(&input.workload);
        results[0].workers[0].errors.push(IoErrors {
            direction: Direction::Write,
            operation: None,
            errno: 28,
            count: 1,
            first_offsets: Vec::new(),
        });
        let document: serde_json::Value =
            serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
        let job = &document["jobs"][0];
        let found = ["total_err", "first_error"].map(|key| job[key].as_u64().unwrap());
        assert_eq!(found, expected, "{engine} {option}");
        assert_eq!(job["error"], 28);
    }
}

/// `exitall` ends a job in its delay: fio tells of no start and no latency target.
#[test]
fn a_job_that_ended_in_its_delay_never_began() {
    let input = input(&["--size=8m", "--name=a", "--name=b", "--startdelay=3"]);
    let mut results = results(&input.workload);
    let mut ended = WorkerStats::new(1, 0);
    for (started, began) in [(Nanos::from_millis(5), false), (Nanos::from_secs(3), true)] {
        ended.started = started;
        results[0].workers[1] = ended.clone();
        let document: serde_json::Value =
            serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
        let job = &document["jobs"][1];
        assert_eq!(job.get("latency_depth").is_some(), began);
        assert_eq!(job["job_start"] != 0, began);
        assert_ne!(document["jobs"][0]["job_start"], 0);
        // It is the end of the delay, and by the clock that the job names.
        let mut other = input.clone();
        other.jobs[1].start_ahead_ms = -1_795_201_000_000;
        let document: serde_json::Value =
            serde_json::from_str(&write_json(&other, &run(&results))).unwrap();
        assert_eq!(
            document["jobs"][1]["job_start"],
            if began { 47_000 } else { 0 }
        );
    }
}

/// As fio 3.42 tells it: a job starts at the end of its own delay, and its `ramp_time` comes after that.
#[test]
fn a_job_starts_when_its_own_delay_is_over() {
    let check = |options: &[&str], expected: [u64; 2]| {
        let both = ["--size=8m", "--runtime=2", "--time_based"];
        let [one, two] = ["--name=a", "--name=b"];
        let (first, second) = options.split_at(1);
        let line = [&both[..], &[one], first, &[two], second].concat();
        let line: Vec<&str> = line.into_iter().filter(|word| !word.is_empty()).collect();
        let input = input(&line);
        let mut results = results(&input.workload);
        let begun = results[0].started_unix_ns;
        results[0].started_unix_ns += input.workload.stages[0].lead().get();
        let document: serde_json::Value =
            serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
        let starts = [0, 1].map(|job: usize| document["jobs"][job]["job_start"].as_u64().unwrap());
        let after = starts.map(|start| start - begun / 1_000_000);
        assert_eq!(after, expected, "{options:?}");
    };
    check(&["", ""], [0, 0]);
    check(&["", "--startdelay=2"], [0, 2_000]);
    check(&["--startdelay=1", "--startdelay=2"], [1_000, 2_000]);
    check(&["--ramp_time=1", "--ramp_time=1"], [0, 0]);
    check(
        &["--startdelay=1", "--startdelay=2", "--ramp_time=3"],
        [1_000, 2_000],
    );
}

/// As fio 3.42 tells it: a job that waits for another starts when that is over.
#[test]
fn a_job_that_waits_starts_after_the_other() {
    for (warm_up, begins) in [("--ramp_time=0", 2_300), ("--ramp_time=1", 1_300)] {
        let both = ["--size=8m", "--runtime=2", "--time_based"];
        let waits = ["--name=a", "--name=b", "--wait_for=a", warm_up];
        let input = input(&[&both[..], &waits].concat());
        let mut results = results(&input.workload);
        let begun = results[0].started_unix_ns;
        results[0].started_unix_ns += input.workload.stages[0].lead().get();
        let mut late = WorkerStats::new(1, 0);
        (late.started, late.measured) = (Nanos::from_millis(2_300), Nanos::from_secs(2));
        results[0].workers[1] = late;
        let document: serde_json::Value =
            serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
        let start = document["jobs"][1]["job_start"].as_u64().unwrap();
        assert_eq!(start - begun / 1_000_000, begins, "{warm_up}");
    }
}

/// fio's shares of its classes are of reads, writes and trims; syncs are counted in them, so that there is more than all.
#[test]
fn calls_are_counted_as_by_fio() {
    let all = serde_json::json!(100.0);
    for (rest, classes, expected) in [
        ("--sync_file_range=write:4", "iodepth_level", ("1", 24.95)),
        ("--sync_file_range=write:2000", "iodepth_level", ("1", 0.0)),
        (
            "--sync_file_range=write:2 --ioengine=libaio --iodepth=9",
            "iodepth_level",
            ("8", 49.95),
        ),
        ("--ioengine=null", "iodepth_submit", ("4", 0.0)),
        (
            "--ioengine=null --iodepth=2",
            "iodepth_submit",
            ("4", 100.0),
        ),
        ("--ioengine=null", "iodepth_complete", ("4", 0.0)),
    ] {
        let arguments = format!("--name=j --size=8m --rw=write {rest}");
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let input = input(&arguments);
        let results = results(&input.workload);
        let document: serde_json::Value =
            serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
        let job = &document["jobs"][0];
        let (class, share) = expected;
        assert_eq!(job[classes][class], share, "{rest}: {}", job[classes]);
        assert_eq!(job["iodepth_level"]["4"], all);
    }
}

#[test]
fn latency_targets_are_told_as_typed() {
    let input = input(&[
        "--name=j",
        "--size=1m",
        "--latency_window=5ms",
        "--latency_percentile=99",
    ]);
    let results = results(&input.workload);
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
    let job = &document["jobs"][0];
    assert_eq!(job["latency_target"], 0);
    assert_eq!(job["latency_window"], 5000);
    assert_eq!(job["latency_percentile"], 99.0);
}

#[test]
fn writes_of_a_dry_run_have_a_depth_of_one() {
    let input = input(&["--name=a", "--size=8m", "--rw=write", "--iodepth=4"]);
    let mut results = results(&input.workload);
    results[0].workers[0].unissued[Direction::Write as usize] = (6000, 0);
    let document: serde_json::Value =
        serde_json::from_str(&write_json(&input, &run(&results))).unwrap();
    let levels = &document["jobs"][0]["iodepth_level"];
    assert_eq!((&levels["1"], &levels["4"]), (&75.0.into(), &25.0.into()));
}

#[test]
fn jobs_without_io_of_their_own_have_no_latency_target() {
    for (option, told) in [
        ("--create_only=0", true),
        ("--create_only=1", false),
        ("--verify_only", false),
        ("--verify_only --rw=read", true),
    ] {
        let arguments = "--name=j --size=1m --rw=write --verify=md5 --output-format=json,normal";
        let arguments: Vec<&str> = arguments.split(' ').chain(option.split(' ')).collect();
        let input = input(&arguments);
        let results = results(&input.workload);
        let document = write_json(&input, &run(&results));
        assert_eq!(document.contains("\"latency_depth\""), told, "{document}");
        let text = write_normal(&input, &run(&results));
        assert_eq!(text.contains("     latency   : target="), told, "{text}");
    }
}

/// The units and bounds of fio's `scale_down_ns`: 1,500 microseconds stay so, and a second is 1,000 ms.
#[test]
fn times_of_a_latency_target_have_the_units_of_fio() {
    for (time, expected) in [
        ("15us", "15.00us"),
        ("1500us", "1500.00us"),
        ("2ms", "2.00ms"),
        ("1s", "1000.00ms"),
        ("2s", "2.00s"),
    ] {
        let target = format!("--latency_target={time} --latency_window={time}");
        let arguments: Vec<&str> = "--name=j --size=1m"
            .split(' ')
            .chain(target.split(' '))
            .collect();
        let input = input(&arguments);
        let text = write_normal(&input, &run(&results(&input.workload)));
        let line = format!("latency   : target={expected}, window={expected}, percentile=100.00%");
        assert!(text.contains(&line), "{text}");
    }
}
