//! `fathom fio` beside Debian's fio on the same file.

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn json(command: &mut Command) -> Value {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{stderr}"))
}

fn both(folder: &Path, arguments: &[&str]) -> (Value, Value) {
    let ours = json(support::fathom(folder).arg("fio").args(arguments));
    (ours, fio(folder, arguments))
}

/// Debian's fio. One that hangs is ended and begun again.
fn fio(folder: &Path, arguments: &[&str]) -> Value {
    let run = || {
        let mut timeout = Command::new("timeout");
        let limit = ["--signal=KILL", "60", "fio"];
        timeout.args(limit).args(arguments).current_dir(folder);
        timeout
            .output()
            .unwrap_or_else(|error| panic!("{timeout:?}: {error}"))
    };
    let hangs = |output: &std::process::Output| output.status.code().is_none_or(|code| code == 137);
    let mut output = run();
    for _ in 0..2 {
        if !hangs(&output) {
            break;
        }
        output = run();
    }
    assert!(output.status.success(), "fio {arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("fio {arguments:?}: {error}"))
}

fn laid_out(folder: &Path) -> String {
    let file = folder.join("file.dat");
    let filename = format!("--filename={}", file.display());
    let layout = [
        "--name=layout",
        &filename,
        "--size=256m",
        "--rw=write",
        "--bs=1m",
        "--direct=1",
        "--end_fsync=1",
    ];
    support::system("fio", &layout);
    filename
}

#[test]
fn a_size_bound_job_does_as_many_ios() {
    let folder = support::disk_folder();
    let file = laid_out(folder.path());
    // With a synchronous engine and a depth above 1, fio prints a note among its JSON.
    for (engine, mode, depth) in [
        ("io_uring", "randread", 16),
        ("libaio", "randwrite", 16),
        ("psync", "read", 1),
        ("io_uring", "randrw", 16),
    ] {
        let (engine, mode) = (format!("--ioengine={engine}"), format!("--rw={mode}"));
        let depth = format!("--iodepth={depth}");
        let arguments = [
            "--name=x",
            &file,
            &engine,
            &mode,
            "--direct=1",
            &depth,
            "--bs=16k",
            "--size=64m",
            "--output-format=json",
        ];
        let (ours, theirs) = both(folder.path(), &arguments);
        let count = |document: &Value| {
            let of = |way: &str| document["jobs"][0][way]["total_ios"].as_u64().unwrap();
            of("read") + of("write")
        };
        assert_eq!(count(&ours), count(&theirs), "{engine} {mode}");
        assert_eq!(count(&ours), 4096, "{engine} {mode}");
    }
}

/// The keys of an object, those of its objects within.
fn shape(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                shape(inner, &format!("{path}/{key}"), into);
            }
        }
        Value::Array(items) => items
            .iter()
            .take(1)
            .for_each(|item| shape(item, &format!("{path}/0"), into)),
        _ => into.push(path.to_owned()),
    }
}

#[test]
fn the_json_has_fios_keys() {
    let folder = support::disk_folder();
    let file = laid_out(folder.path());
    let arguments = [
        "--name=x",
        &file,
        "--ioengine=libaio",
        "--rw=randrw",
        "--direct=1",
        "--iodepth=8",
        "--bs=4k",
        "--size=256m",
        "--runtime=2",
        "--time_based",
        "--output-format=json",
    ];
    let (ours, theirs) = both(folder.path(), &arguments);
    let keys = |document: &Value| {
        let mut keys = Vec::new();
        shape(document, "", &mut keys);
        keys.retain(|key| !key.starts_with("/disk_util"));
        keys
    };
    let (ours, theirs) = (keys(&ours), keys(&theirs));
    let missing: Vec<_> = theirs.iter().filter(|key| !ours.contains(key)).collect();
    assert!(missing.is_empty(), "fio prints, we do not: {missing:?}");
}

#[test]
fn a_steady_state_has_as_many_values_as_fios() {
    let folder = support::disk_folder();
    let of_time = |time: &'static str| {
        [
            "--name=x",
            "--ioengine=null",
            "--rw=read",
            "--size=1g",
            "--time_based",
            time,
            "--steadystate=iops:100%",
            "--ss_dur=3",
            "--ss_ramp=1",
            "--output-format=json",
        ]
    };
    // Before the window is full, and once it is.
    for (time, attained) in [("--runtime=3", 0), ("--runtime=20", 1)] {
        let (ours, theirs) = both(folder.path(), &of_time(time));
        for document in [&ours, &theirs] {
            let steady = &document["jobs"][0]["steadystate"];
            assert_eq!(steady["attained"], attained, "{time} {steady}");
            for values in ["iops", "bw"] {
                let values = steady["data"][values].as_array().unwrap();
                assert_eq!(values.len(), 3, "{time} {steady}");
                assert_eq!(values[2] == 0, attained == 0, "{time} {steady}");
            }
        }
    }
}

/// Interleaved rounds on one file; noise of a shared machine is met by more rounds, never by a lower bar.
#[test]
fn it_is_as_fast_as_fio() {
    let folder = support::disk_folder();
    let file = laid_out(folder.path());
    for (engine, depth) in [("io_uring", "32"), ("libaio", "32")] {
        let (engine, depth) = (format!("--ioengine={engine}"), format!("--iodepth={depth}"));
        let arguments = [
            "--name=x",
            &file,
            &engine,
            &depth,
            "--rw=randread",
            "--direct=1",
            "--bs=4k",
            "--size=256m",
            "--runtime=2",
            "--time_based",
            "--output-format=json",
        ];
        let mut ratios: Vec<f64> = Vec::new();
        loop {
            let (ours, theirs) = both(folder.path(), &arguments);
            let iops = |document: &Value| document["jobs"][0]["read"]["iops"].as_f64().unwrap();
            ratios.push(iops(&ours) / iops(&theirs));
            ratios.sort_by(f64::total_cmp);
            let median = ratios[ratios.len() / 2];
            if ratios.len() >= 3 && median >= 0.95 {
                break;
            }
            assert!(
                ratios.len() < 15,
                "{engine}: IOPS against fio's, sorted: {ratios:.2?}"
            );
        }
    }
}

/// Both do as many syncs between writes, and count none of those at the end.
#[test]
fn it_syncs_as_often_as_fio() {
    let folder = support::disk_folder();
    let file = format!("--filename={}", folder.path().join("synced").display());
    for sync in [
        "--fsync=15",
        "--fsync=16",
        "--fdatasync=17",
        "--fsync_on_close=1",
        // A size that blocks do not fill has fio look for one more, and sync before.
        "--fsync=1 --size=97000",
        "--fsync=5 --size=103000",
        "--fsync=1 --size=97000 --number_ios=23",
        "--fsync=1 --size=97000 --rw=randwrite",
        "--fsync=1 --size=97000 --rw=randwrite --norandommap",
        "--fdatasync=1 --size=97000 --nrfiles=3",
        "--fsync=1 --size=64k --rw=write:8k",
        "--fsync=1 --size=97000 --rate_iops=2000",
        "--sync_file_range=write:8",
        "--sync_file_range=wait_before,write,wait_after:5 --ioengine=pvsync2",
        "--sync_file_range=write:4 --size=97000 --fsync=8",
        "--sync_file_range=write:8 --nrfiles=3",
        "--sync_file_range=write:1 --size=128k --rw=randwrite",
    ] {
        let mut arguments = vec![
            "--name=x",
            &file,
            "--end_fsync=1",
            "--rw=write",
            "--bs=4k",
            "--size=1m",
            "--output-format=json",
        ];
        arguments.extend(sync.split_whitespace());
        // A file that is longer than the job gives its last block whole.
        let _ = std::fs::remove_file(folder.path().join("synced"));
        let (ours, theirs) = both(folder.path(), &arguments);
        // fio leaves `fdatasync` and `sync_file_range` out of `total_ios`, but not out of its latencies.
        let syncs = |document: &Value| {
            let latency = &document["jobs"][0]["sync"]["lat_ns"];
            let percentiles = latency["percentile"].as_object();
            (
                latency["N"].as_u64().unwrap_or(0),
                percentiles.map_or(0, serde_json::Map::len),
            )
        };
        assert_eq!(syncs(&ours), syncs(&theirs), "{sync}");
    }
}

/// What is said of a whole group is the first job's for some things, and the last one's for others.
#[test]
fn a_group_is_shown_as_its_last_job_has_it() {
    let folder = support::disk_folder();
    let common = [
        "--ioengine=null",
        "--iodepth=4",
        "--size=1m",
        "--group_reporting",
        "--output-format=json",
    ];
    let survives = "--continue_on_error=all";
    for (first, last) in [
        (
            ["--name=a", "--percentile_list=50", survives],
            [
                "--name=b",
                "--percentile_list=99:99.9",
                "--slat_percentiles=1",
            ],
        ),
        (
            ["--name=a", "--slat_percentiles=1", "--percentile_list=50"],
            ["--name=b", "--clat_percentiles=0", survives],
        ),
    ] {
        let arguments = [&common[..], &first, &last].concat();
        let (ours, theirs) = both(folder.path(), &arguments);
        let of = |document: &Value| {
            let job = &document["jobs"][0];
            let percentiles = ["slat_ns", "clat_ns"].map(|kind| {
                let percentiles = job["read"][kind]["percentile"].as_object();
                percentiles.map(|them| them.keys().cloned().collect::<Vec<_>>())
            });
            let survived = job["total_err"].as_u64();
            (job["jobname"].clone(), percentiles, survived)
        };
        assert_eq!(of(&ours), of(&theirs), "{arguments:?}");
    }
}

/// The pause after a job's last I/O is part of its runtime.
#[test]
fn the_last_pause_counts() {
    let folder = support::disk_folder();
    for (pauses, options) in [
        (5, "--thinktime=100ms"),
        // Debian's sleeps for ages where it has spun for longer than the whole pause, as on a busy machine.
        (5, "--thinktime=100ms --thinktime_spin=50ms"),
        (2, "--thinktime=100ms --thinktime_blocks=2"),
        (3, "--thinktime=100ms --number_ios=3"),
    ] {
        let mut arguments = vec!["--name=x", "--size=20k", "--output-format=json"];
        arguments.extend(options.split_whitespace());
        check_pauses(pauses, options, || {
            json(support::fathom(folder.path()).arg("fio").args(&arguments))
        });
        check_pauses(pauses, options, || fio(folder.path(), &arguments));
    }
    let options = "--thinktime=100ms --thinktime_spin=100ms";
    check_pauses(5, options, || {
        let mut ours = support::fathom(folder.path());
        ours.args(["fio", "--name=x", "--size=20k", "--output-format=json"]);
        json(ours.args(options.split(' ')))
    });
}

/// The only job of `run` takes so many pauses of 100 ms, and no other one. A busy machine makes pauses longer in some rounds,
/// and shorter in none.
#[track_caller]
fn check_pauses(pauses: u64, options: &str, run: impl Fn() -> Value) {
    let least = pauses * 100;
    let mut seen = Vec::new();
    while seen.last().is_none_or(|runtime| *runtime >= least + 90) {
        assert!(seen.len() < 8, "{options}: {seen:?} ms");
        let runtime = run()["jobs"][0]["read"]["runtime"].as_u64().unwrap_or(0);
        assert!(runtime >= least, "{options}: {runtime} ms");
        seen.push(runtime);
    }
}

/// A queue that was full is filled again only once it has drained to its low mark: half of the writes, or more, find it at
/// most three quarters full, where all find it full without that.
#[test]
fn a_full_queue_drains_to_its_low_mark() {
    let folder = support::disk_folder();
    let words = "--name=x --rw=randwrite --bs=4k --size=8m --direct=1 --ioengine=libaio --iodepth=16 \
                 --iodepth_batch=4 --iodepth_batch_complete_min=4 --iodepth_batch_complete_max=4 \
                 --output-format=json";
    for (least, most, low) in [
        (25.0, 90.0, "--iodepth_low=8"),
        (0.0, 10.0, "--iodepth_low=16"),
    ] {
        let arguments: Vec<&str> = words.split_whitespace().chain([low]).collect();
        let (ours, theirs) = both(folder.path(), &arguments);
        for document in [ours, theirs] {
            let below = document["jobs"][0]["iodepth_level"]["8"].as_f64().unwrap();
            assert!((least..=most).contains(&below), "{low}: {below} %");
        }
    }
}

/// Samples of bandwidth and IOPS are as long as they are asked for, to the millisecond.
#[test]
fn samples_are_as_long_as_asked() {
    let folder = support::disk_folder();
    for (bandwidth, iops, options) in [
        (4, 4, ""),
        (2, 4, "--bwavgtime=1000"),
        (4, 2, "--iopsavgtime=1000"),
        (2, 4, "--write_bw_log=x --log_avg_msec=1000"),
        (7, 7, "--bwavgtime=300 --iopsavgtime=300"),
        (3, 3, "--bwavgtime=700 --iopsavgtime=700"),
    ] {
        // 45 reads, the last of which is due after 2.2 s: a stall adds no half second to the four that are whole.
        let words = "--name=x --size=180k --rate_iops=20 --output-format=json";
        let mut arguments: Vec<&str> = words.split_whitespace().collect();
        arguments.extend(options.split_whitespace());
        let counts = || {
            let (ours, theirs) = both(folder.path(), &arguments);
            [ours, theirs].map(|document| {
                let read = &document["jobs"][0]["read"];
                ["bw_samples", "iops_samples"].map(|key| read[key].as_u64().unwrap_or(0))
            })
        };
        // A stall of a fifth of a second is met by another round.
        let wanted = [[bandwidth, iops]; 2];
        let first = counts();
        if first != wanted {
            assert_eq!(counts(), wanted, "{options}; before: {first:?}");
        }
    }
}

/// A machine that withholds the processor for a moment is met by another round, never by a lower bar.
#[test]
fn it_keeps_the_depth_it_was_asked_for() {
    let folder = support::disk_folder();
    let file = laid_out(folder.path());
    for rw in ["--rw=randread", "--rw=randwrite"] {
        let mut depths: Vec<f64> = Vec::new();
        while depths.last().is_none_or(|depth| *depth < 0.97 * 32.0) {
            assert!(
                depths.len() < 10,
                "{rw}: depths achieved of 32: {depths:.2?}"
            );
            let mut arguments = vec!["run", "--json", "--no-record", "fio", "--name=x", &file, rw];
            arguments.extend([
                "--ioengine=io_uring",
                "--iodepth=32",
                "--direct=1",
                "--bs=4k",
            ]);
            arguments.extend(["--size=256m", "--runtime=2", "--time_based"]);
            let (stdout, _) = support::expect_code(folder.path(), &arguments, 0);
            let record: Value = serde_json::from_str(&stdout).unwrap();
            let job = &record["stages"][0]["jobs"][0];
            depths.push(job["depth_achieved"].as_f64().unwrap());
        }
    }
}

#[test]
fn exit_codes_are_fios() {
    let folder = support::disk_folder();
    support::expect_code(folder.path(), &["fio", "--name=x", "--nonsense=1"], 1);
    support::expect_code(folder.path(), &["fio", "--version"], 0);
    let (stdout, stderr) = support::expect_code(
        folder.path(),
        &[
            "fio",
            "--name=x",
            "--ioengine=null",
            "--rw=randread",
            "--size=16m",
            "--bs=4k",
        ],
        0,
    );
    assert!(stdout.contains("read: IOPS="), "{stdout}");
    assert!(stderr.is_empty(), "{stderr}");
}

/// A file that comes into the page cache as it is read: once it is there, submissions complete what they submit, and go in
/// halves of the depth.
#[test]
fn batches_grow_when_a_file_has_come_into_the_cache() {
    let folder = support::disk_folder();
    let filename = laid_out(folder.path());
    let job = |options: &[&str]| {
        let mut command = support::fathom(folder.path());
        command.args(["fio", "--name=x", &filename, "--rw=randread", "--bs=4k"]);
        command.args(["--iodepth=64", "--ioengine=io_uring", "--size=64m"]);
        command.args(options).arg("--output-format=json");
        json(&mut command)
    };
    // This one leaves a single block of it in the cache; the passes of the other drop nothing.
    job(&["--number_ios=1"]);
    let document = job(&["--invalidate=0", "--loops=50"]);
    let submits = &document["jobs"][0]["iodepth_submit"];
    let halves = submits["32"].as_f64().unwrap();
    assert!(halves > 80.0, "percent of submissions by size: {submits}");
}

/// Rates that pauses leave behind hold nothing back: the mix is then the one that was asked for, whatever the rates' own is.
#[test]
fn the_mix_holds_where_rates_are_behind() {
    let folder = support::disk_folder();
    let fixed = "--name=x --ioengine=null --size=8m --bs=1k --time_based --runtime=1 --rw=randrw --rwmixread=70 \
                 --thinktime=100ms --thinktime_blocks=50 --output-format=json";
    for rates in ["--rate=512k", "--rate_iops=512,2000"] {
        let mut arguments: Vec<&str> = fixed.split_whitespace().collect();
        arguments.push(rates);
        let (ours, theirs) = both(folder.path(), &arguments);
        let share_of_reads = [ours, theirs].map(|document| {
            let ios = |way: &str| {
                document["jobs"][0][way]["total_ios"]
                    .as_f64()
                    .unwrap_or(0.0)
            };
            ios("read") / (ios("read") + ios("write"))
        });
        // Some 450 of these 500 I/Os are drawn.
        let is_near = |share: &f64| (0.55..0.8).contains(share);
        assert!(
            share_of_reads.iter().all(is_near),
            "{rates}: {share_of_reads:?}"
        );
    }
}
