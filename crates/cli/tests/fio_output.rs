//! What `fathom fio` prints and writes beside its results: terse lines, logs, results in between, debug lines.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs `fathom fio` in `folder` and returns what it prints; nothing may go to stderr.
#[track_caller]
fn ours(folder: &Path, arguments: &[&str]) -> String {
    let mut words = vec!["fio"];
    words.extend(arguments);
    let (stdout, stderr) = support::expect_code(folder, &words, 0);
    assert!(stderr.is_empty(), "{arguments:?}: {stderr}");
    stdout
}

const NULL: [&str; 5] = [
    "--name=x",
    "--ioengine=null",
    "--rw=randrw",
    "--size=64m",
    "--iodepth=4",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    NULL.iter().chain(more).copied().collect()
}

#[test]
fn terse_lines_have_as_many_fields_as_fios() {
    let folder = support::disk_folder();
    for version in 2..=5 {
        let version = format!("--terse-version={version}");
        for option in [
            "--unified_rw_reporting=none",
            "--unified_rw_reporting=mixed",
            "--unified_rw_reporting=both",
            "--continue_on_error=all",
        ] {
            let arguments = with(&["--output-format=terse", &version, option, "--description=d"]);
            let mine = ours(folder.path(), &arguments);
            let theirs = support::system("fio", &arguments);
            let fields = |text: &str| -> Vec<String> {
                let lines = text.trim().split(';');
                // Numbers alone are compared by kind: a share, a fraction, a whole number, a percentile.
                let kind = |field: &str| match field.split_once("%=") {
                    Some((percent, _)) => percent.to_owned(),
                    None if field.ends_with('%') => "%".to_owned(),
                    None if field.contains('.') && field.parse::<f64>().is_ok() => ".".to_owned(),
                    None if field.parse::<f64>().is_ok() => "number".to_owned(),
                    None => "text".to_owned(),
                };
                lines.map(kind).collect()
            };
            assert_eq!(fields(&mine), fields(&theirs), "{version} {option}");
        }
    }
}

/// A group that is reported as one bears the name of its first job and the options of its last.
#[test]
fn options_of_a_group_are_fios() {
    let folder = support::disk_folder();
    let arguments = [
        "--output-format=json",
        "--group_reporting",
        "--ioengine=null",
        "--size=1m",
        "--name=one",
        "--rw=write",
        "--name=two",
        "--rw=read",
        "--bs=8k",
    ];
    let told = |text: &str| {
        let start = text.find('{').unwrap();
        let document: Value = serde_json::from_str(&text[start..]).unwrap();
        let job = &document["jobs"][0];
        (job["jobname"].clone(), job["job options"].clone())
    };
    let mine = told(&ours(folder.path(), &arguments));
    assert_eq!(mine, told(&support::system("fio", &arguments)));
    assert_eq!(mine.1["bs"], "8k");
}

#[test]
fn layouts_stand_one_behind_the_other() {
    let folder = support::disk_folder();
    let text = ours(
        folder.path(),
        &with(&["--output-format=normal,json+,terse", "--append-terse"]),
    );
    let (terse, rest) = text.split_once('\n').unwrap();
    // What stands before a run comes first, since it is printed then.
    assert!(terse.starts_with("x: (g=0): rw=randrw"), "{terse}");
    let lines: Vec<&str> = rest.lines().collect();
    let line = |start: &str| {
        lines
            .iter()
            .position(|line| line.starts_with(start))
            .unwrap()
    };
    assert!(line("3;fio-3.") < line("{"), "{text}");
    assert!(line("{") < line("x: (groupid=0"), "{text}");
    let json = &lines[line("{")..=line("}")].join("\n");
    let document: Value = serde_json::from_str(json).unwrap();
    let clat = &document["jobs"][0]["read"]["clat_ns"];
    let bins = clat["bins"].as_object().unwrap();
    let counted: u64 = bins.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counted, clat["N"].as_u64().unwrap());
}

#[test]
fn results_in_between_are_documents_of_their_own() {
    let folder = support::disk_folder();
    ours(
        folder.path(),
        &[
            "--name=x",
            "--ioengine=null",
            "--rw=randread",
            "--size=1g",
            "--rate_iops=1000",
            "--time_based",
            "--runtime=3",
            "--status-interval=1",
            "--output-format=json",
            "--output=results.json",
        ],
    );
    let text = std::fs::read_to_string(folder.path().join("results.json")).unwrap();
    let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let ios: Vec<u64> = documents
        .map(|document| {
            document.unwrap()["jobs"][0]["read"]["total_ios"]
                .as_u64()
                .unwrap()
        })
        .collect();
    // One for each second, that which the job ends with too, and the last.
    assert!(ios.len() >= 4, "{ios:?}");
    assert!(ios.is_sorted(), "{ios:?}");
    let last = *ios.last().unwrap();
    // 3,000 are due; what a stall at the end holds back is left out.
    assert!((2500..=3010).contains(&last), "{ios:?}");
    assert!(ios[0] < last, "{ios:?}");
}

/// Each has what the disks did by then.
#[test]
fn results_in_between_have_disks() {
    let folder = support::disk_folder();
    let job = "--name=x --ioengine=psync --direct=1 --rw=randread --size=1m --rate_iops=200 --time_based --runtime=2 \
               --status-interval=1 --output-format=json --output=results.json";
    let job: Vec<&str> = job.split_whitespace().collect();
    ours(folder.path(), &job);
    let text = std::fs::read_to_string(folder.path().join("results.json")).unwrap();
    let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let reads = documents.map(|document| {
        let document = document.unwrap();
        let disks = document["disk_util"].as_array();
        let disks = disks.unwrap_or_else(|| panic!("{document}"));
        disks
            .iter()
            .map(|disk| disk["read_ios"].as_u64().unwrap())
            .sum()
    });
    let reads: Vec<u64> = reads.collect();
    assert!(reads.len() >= 2 && reads.is_sorted(), "{reads:?}");
    // 200 and 400 are due; others may read too.
    assert!(
        reads[0] >= 150 && reads[reads.len() - 1] >= 350,
        "{reads:?}"
    );
}

/// `SIGUSR1` prints results in between; a run that is killed leaves its logs but for their last second.
#[test]
fn a_signal_shows_results_and_a_kill_leaves_the_logs() {
    let folder = support::disk_folder();
    let mut run = support::fathom(folder.path());
    run.args([
        "fio",
        "--name=x",
        "--ioengine=null",
        "--rw=randread",
        "--size=1g",
    ]);
    run.args([
        "--rate_iops=1000",
        "--time_based",
        "--runtime=600",
        "--output-format=json",
    ]);
    run.args([
        "--output=results.json",
        "--write_iops_log=x",
        "--log_avg_msec=100",
    ]);
    let mut run = run.spawn().unwrap();
    let pid = run.id().to_string();
    let log = folder.path().join("x_iops.1.log");
    let lines = || std::fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    let results =
        || std::fs::read_to_string(folder.path().join("results.json")).unwrap_or_default();
    for _ in 0..1000 {
        if lines() >= 20 {
            let _ = Command::new("kill").args(["-USR1", &pid]).status();
        }
        if results().trim_end().ends_with('}') {
            break;
        }
        let _ = Command::new("sleep").arg("0.05").status();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let text = results();
    let mut documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let first = documents.next().unwrap().unwrap();
    let ios = first["jobs"][0]["read"]["total_ios"].as_u64().unwrap();
    assert!(ios > 1000, "{ios}");
    assert!(lines() >= 20);
    let text = std::fs::read_to_string(&log).unwrap();
    let whole = text.lines().all(|line| line.split(", ").count() == 5);
    assert!(whole && text.ends_with('\n'), "{text}");
}

#[test]
fn a_log_of_every_io_has_a_line_for_each() {
    let folder = support::disk_folder();
    let (mode, compressed) = (["--per_job_logs=0"], "--log_store_compressed=1");
    let common = [
        "--name=x",
        "--ioengine=null",
        "--rw=write",
        "--bs=64k",
        "--size=64m",
        "--write_bw_log=all",
        "--write_lat_log=all",
        "--log_offset=1",
        "--output=/dev/null",
    ];
    let arguments: Vec<&str> = common.iter().chain(&mode).copied().collect();
    ours(folder.path(), &arguments);
    let plain = std::fs::read_to_string(folder.path().join("all_bw.log")).unwrap();
    let offsets = |text: &str| -> Vec<u64> {
        let field = |line: &str| line.split(", ").nth(4).unwrap().parse().unwrap();
        text.lines().map(field).collect()
    };
    let expected: Vec<u64> = (0..1024).map(|io| io * 65_536).collect();
    assert_eq!(offsets(&plain), expected);
    // Sync engines have no submission latency; the log is there and empty, as fio's is.
    let submits = std::fs::metadata(folder.path().join("all_slat.log")).unwrap();
    assert_eq!(submits.len(), 0);
    let arguments: Vec<&str> = arguments.iter().copied().chain([compressed]).collect();
    ours(folder.path(), &arguments);
    let inflated = ours(folder.path(), &["--inflate-log=all_bw.log.fz"]);
    assert_eq!(offsets(&inflated), expected);
}

#[test]
fn the_bandwidth_of_all_jobs_has_a_line_a_second() {
    for (option, name) in [("--bandwidth-log", "agg"), ("--bandwidth-log=all", "all")] {
        let folder = support::disk_folder();
        let words = [
            option,
            "--name=x",
            "--ioengine=null",
            "--size=1g",
            "--rw=write",
            "--rate=8m",
            "--time_based",
            "--runtime=2",
        ];
        ours(folder.path(), &words);
        let of = |way: &str| {
            let path = folder.path().join(format!("{name}-{way}_bw.log"));
            std::fs::read_to_string(path).unwrap()
        };
        // As in fio, a direction in which nothing was done has its lines too.
        let trims = of("trim");
        assert!(
            trims.lines().all(|line| line.ends_with(", 0, 2, 0, 0")),
            "{trims}"
        );
        let reads = of("read");
        assert!(
            reads.lines().all(|line| line.ends_with(", 0, 0, 0, 0")),
            "{reads}"
        );
        let writes = of("write");
        for text in [trims, reads, writes.clone()] {
            let times = text.lines().map(|line| line.split(',').next().unwrap());
            let times: Vec<u64> = times.map(|time| time.parse().unwrap()).collect();
            // What is done at the end of a second may be some milliseconds later on a busy machine.
            let late = |second: usize| times[second].wrapping_sub(1_000 * (second as u64 + 1));
            assert!(times.len() == 2 && late(0) < 500 && late(1) < 500, "{text}");
        }
        assert!(
            writes.lines().all(|line| !line.contains(", 0, 1, ")),
            "{writes}"
        );
    }
}

/// Submitting to nothing takes less than the clock can tell.
#[test]
fn every_submission_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..10 {
        let text = ours(
            folder.path(),
            &[
                "--name=a",
                "--ioengine=null",
                "--size=1m",
                "--iodepth=16",
                "--output-format=json",
            ],
        );
        let document: Value = serde_json::from_str(&text).unwrap();
        let read = &document["jobs"][0]["read"];
        assert_eq!(read["slat_ns"]["N"], 256);
        assert_eq!(read["clat_ns"]["N"], 256);
    }
}

#[test]
fn latencies_are_told_by_priority() {
    let folder = support::disk_folder();
    let job = [
        "--name=x",
        "--ioengine=libaio",
        "--rw=randread",
        "--size=8m",
        "--cmdprio_percentage=50",
        "--cmdprio=2",
        "--cmdprio_class=2",
    ];
    let with = |more: &[&'static str]| ours(folder.path(), &[&job, more].concat());
    let text = with(&[]);
    for (line, count) in [(" clat prio 0/0/0 (", 2), (" clat prio 2/2/0 (", 2)] {
        assert_eq!(text.matches(line).count(), count, "{text}");
    }
    let text = with(&["--write_lat_log=x", "--log_prio=1", "--output-format=json+"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let read = &document["jobs"][0]["read"];
    let prios = read["prios"].as_array().unwrap();
    let kinds: Vec<_> = prios
        .iter()
        .map(|prio| ["prioclass", "prio", "priohint"].map(|key| prio[key].as_u64().unwrap()))
        .collect();
    assert_eq!(kinds, [[0, 0, 0], [2, 2, 0]]);
    let count = |prio: &Value| prio["clat_ns"]["N"].as_u64().unwrap();
    let counts: Vec<u64> = prios.iter().map(count).collect();
    assert_eq!(counts.iter().sum::<u64>(), 2048);
    // Half of 2,048, with more than six standard deviations to each side.
    assert!((880..=1170).contains(&counts[1]), "{counts:?}");
    let log = std::fs::read_to_string(folder.path().join("x_clat.1.log")).unwrap();
    let marked = log
        .lines()
        .filter(|line| line.ends_with(", 0x4002"))
        .count();
    assert_eq!(marked as u64, counts[1]);
}

/// I/Os that are given no priority have that of their job: in logs, and where the jobs of a group differ.
#[test]
fn a_jobs_own_priority_is_that_of_its_ios() {
    let folder = support::disk_folder();
    let jobs = "--name=global --group_reporting --ioengine=libaio --rw=randread --size=1m --prioclass=2 --write_lat_log=x \
                --log_prio=1 --name=a --prio=6 \
                --name=b --prio=1 --cmdprio_percentage=50 --cmdprio_class=2 --cmdprio=3";
    let jobs: Vec<&'static str> = jobs.split(' ').filter(|word| !word.is_empty()).collect();
    let with = |more: &[&'static str]| ours(folder.path(), &[&jobs, more].concat());
    let text = with(&[]);
    let of_a = text.matches(" clat prio 2/6/0 (50.00% of IOs) ").count();
    assert_eq!(of_a, 1, "{text}");
    let text = with(&["--output-format=json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let prios = document["jobs"][0]["read"]["prios"].as_array().unwrap();
    let levels: Vec<u64> = prios
        .iter()
        .map(|prio| prio["prio"].as_u64().unwrap())
        .collect();
    assert_eq!(levels, [6, 1, 3], "{document}");
    let count = |prio: &Value| prio["clat_ns"]["N"].as_u64().unwrap();
    let counts: Vec<u64> = prios.iter().map(count).collect();
    assert_eq!((counts[0], counts[1] + counts[2]), (256, 256));
    let marked = |job: u32, mark: &str| {
        let log = std::fs::read_to_string(folder.path().join(format!("x_clat.{job}.log"))).unwrap();
        log.lines().filter(|line| line.ends_with(mark)).count() as u64
    };
    let logged = [
        marked(1, ", 0x4006"),
        marked(2, ", 0x4001"),
        marked(2, ", 0x4003"),
    ];
    assert_eq!(logged.as_slice(), counts);
}

#[test]
fn text_tells_where_the_output_of_commands_is_saved() {
    let folder = support::disk_folder();
    let job = [
        "--name=x",
        "--size=64k",
        "--exec_prerun=echo hi",
        "--exec_postrun=true",
    ];
    let lines = [
        "x : Saving output of prerun in x.prerun.txt\n",
        "x : Saving output of postrun in x.postrun.txt\n",
    ];
    let text = ours(folder.path(), &job);
    assert!(text.contains(&lines.concat()), "{text}");
    let saved = std::fs::read_to_string(folder.path().join("x.prerun.txt")).unwrap();
    assert_eq!(saved, "hi\n");
    let document = ours(
        folder.path(),
        &[&job[..], &["--output-format=json"]].concat(),
    );
    assert!(
        serde_json::from_str::<Value>(&document).is_ok(),
        "{document}"
    );
}

#[test]
fn debug_lines_tell_seeds_and_ios() {
    let folder = support::disk_folder();
    let run = |seed: &str| {
        let arguments = [
            "--name=x",
            "--ioengine=null",
            "--rw=read",
            "--size=16k",
            "--debug=random,io",
            seed,
        ];
        ours(folder.path(), &arguments)
    };
    let seeds = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("rand_seeds["));
        lines
            .map(|line| line.rsplit('=').next().unwrap().to_owned())
            .collect()
    };
    let (first, again, other) = (
        run("--randseed=7"),
        run("--randseed=7"),
        run("--randseed=8"),
    );
    assert!(!seeds(&first).is_empty());
    assert_eq!(seeds(&first), seeds(&again));
    assert_ne!(seeds(&first), seeds(&other));
    let offsets: Vec<&str> = first
        .lines()
        .filter(|line| line.contains("complete:"))
        .map(|line| line.split(['=', ',']).nth(1).unwrap())
        .collect();
    assert_eq!(offsets, ["0x0", "0x1000", "0x2000", "0x3000"]);
}

/// A job that keeps the first processor busy.
#[test]
fn idle_processors_are_told_as_by_fio() {
    let folder = support::disk_folder();
    let busy = with(&[
        "--time_based",
        "--runtime=1",
        "--cpus_allowed=0",
        "--output-format=json",
        "--idle-prof=percpu",
    ]);
    let idleness = |text: &str| {
        let document: Value = serde_json::from_str(text).unwrap();
        document["cpu_idleness"].as_object().unwrap().clone()
    };
    let mine = idleness(&ours(folder.path(), &busy));
    let theirs = idleness(&support::system("fio", &busy));
    let names = |found: &serde_json::Map<String, Value>| {
        let names: Vec<_> = found.keys().cloned().collect();
        names
    };
    assert_eq!(names(&mine), names(&theirs));
    let figure = |name: &str| mine[name].as_f64().unwrap();
    let each: Vec<f64> = mine
        .keys()
        .filter(|name| name.starts_with("cpu-"))
        .map(|name| figure(name))
        .collect();
    assert!(
        each.iter().all(|idle| (0.0..=100.0).contains(idle)),
        "{mine:?}"
    );
    let mean = each.iter().sum::<f64>() / each.len() as f64;
    assert!((figure("system") - mean).abs() < 1e-3, "{mine:?}");
    assert!(figure("cpu-0") < 30.0, "{mine:?}");

    let text = ours(folder.path(), &with(&["--idle-prof=system"]));
    let lines: Vec<_> = text.lines().rev().take(2).collect();
    assert_eq!(lines[1], "CPU idleness:");
    assert!(
        lines[0].starts_with("  system: ") && lines[0].ends_with('%'),
        "{text}"
    );
    assert!(!ours(folder.path(), &NULL).contains("idleness"));
    for wrong in ["calibrate", "all"] {
        let option = format!("--idle-prof={wrong}");
        let arguments = [&["fio"][..], &with(&[&option])].concat();
        let (_, stderr) = support::expect_code(folder.path(), &arguments, 1);
        assert!(stderr.contains("`--idle-prof"), "{stderr}");
    }
}

#[test]
fn an_eta_asked_for_is_fios_line() {
    let folder = support::disk_folder();
    let arguments = [
        "--name=x",
        "--ioengine=null",
        "--rw=randread",
        "--size=1g",
        "--rate_iops=500",
        "--time_based",
        "--runtime=2500ms",
        "--eta=always",
        "--eta-newline=1",
    ];
    let text = ours(folder.path(), &arguments);
    let line = text
        .split(['\r', '\n'])
        .find(|line| line.starts_with("Jobs: 1 (f=1), 0-500 IOPS: [r(1)]["))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(
        line.contains("][r=") && line.contains(" IOPS][eta 00m:0"),
        "{line}"
    );
    // Lines as often as each second, and as seldom as asked for.
    let lines = |more: &[&str]| {
        let words: Vec<&str> = arguments
            .iter()
            .copied()
            .chain(more.iter().copied())
            .collect();
        let text = ours(folder.path(), &words);
        let lines = text.split(['\r', '\n']);
        lines
            .filter(|line| line.starts_with("Jobs: 1 (f=1)"))
            .count()
    };
    let (each, seldom) = (
        lines(&["--eta-interval=250ms"]),
        lines(&["--eta-interval=2s"]),
    );
    assert!((2..=3).contains(&each) && seldom == 1, "{each} {seldom}");
    let with_json: Vec<&str> = arguments
        .iter()
        .copied()
        .chain(["--output-format=json"])
        .collect();
    let document = ours(folder.path(), &with_json);
    serde_json::from_str::<Value>(&document).unwrap();
}

/// A folder of 256 KiB, until dropped.
struct Small(String);

impl Small {
    fn new(folder: &Path) -> Self {
        let place = folder.join("small");
        std::fs::create_dir(&place).unwrap();
        let place = place.display().to_string();
        support::system(
            "mount",
            &["-t", "tmpfs", "-o", "size=256k", "tmpfs", &place],
        );
        Self(place)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_file_fills_its_file_system() {
    let folder = support::disk_folder();
    let _small = Small::new(folder.path());
    let words = |more: &[&str]| {
        let mut words = vec![
            "--name=x",
            "--filename=small/x",
            "--fill_device=1",
            "--output-format=json",
        ];
        words.extend(more);
        let text = ours(folder.path(), &words);
        let document: Value = serde_json::from_str(&text).unwrap();
        let job = &document["jobs"][0];
        std::fs::remove_file(folder.path().join("small/x")).unwrap();
        (job["error"].clone(), job["write"]["io_kbytes"].clone())
    };
    for more in [
        &["--rw=write"][..],
        &["--rw=write", "--size=1m"],
        &["--rw=write", "--size=1m", "--verify=crc32c"],
        &["--rw=write", "--time_based", "--runtime=600"],
        &["--rw=write", "--ioengine=libaio", "--iodepth=8"],
    ] {
        let full = (Value::from(0), Value::from(256));
        assert_eq!(words(more), full, "{more:?}");
    }
}

/// As with fio the file of `--output` is there whatever becomes of the jobs, and has what would be on standard output.
#[test]
fn output_has_its_file_where_nothing_runs() {
    let folder = support::disk_folder();
    let path = folder.path().join("o");
    let check = |words: &[&str], code: i32, expected: &str| {
        std::fs::write(&path, "of an earlier run").unwrap();
        let mut all = vec!["fio", "--output=o"];
        all.extend(words);
        let (stdout, _) = support::expect_code(folder.path(), &all, code);
        assert_eq!(stdout, "", "{words:?}");
        let text = std::fs::read_to_string(&path).unwrap();
        if expected.is_empty() {
            assert_eq!(text, "", "{words:?}");
        }
        assert!(text.starts_with(expected), "{words:?}: {text}");
    };
    check(&["--name=a", "--size=4k", "--parse-only"], 0, "");
    check(&["--version"], 0, "fio-3.42\n");
    check(&["--cmdhelp=rw"], 0, "                  rw: Direction");
    // What is said of a name that is none is no output.
    check(&["--cmdhelp=qqqqqqqqqq"], 0, "");
    check(&["--cmdhelp=iodeptt"], 0, "             iodepth: ");
    check(
        &["--name=a", "--rw=foo"],
        1,
        "error: `foo` is no value of `rw`",
    );
    check(&["--foo=1"], 1, "error: unrecognized option `--foo`");
    check(&["missing.fio"], 1, "error: ");
    check(
        &["--name=a", "--rw=read"],
        1,
        "error: job `a`: you need to specify size=",
    );
    check(
        &["--name=a", "--directory=missing", "--size=4k"],
        1,
        "error: ",
    );
}

/// The jobs end, also those that are yet to begin, and the states of those that verify are saved before the command is run.
#[test]
fn a_trigger_ends_the_jobs() {
    let folder = support::disk_folder();
    let place = |name: &str| folder.path().join(name);
    let job = [
        "--name=a",
        "--rw=write",
        "--size=1m",
        "--verify=crc32c",
        "--time_based",
        "--runtime=600",
        "--name=b",
        "--rw=write",
        "--size=4k",
        "--stonewall",
        "--output-format=json",
    ];
    let check = |text: &str| {
        let document: Value = serde_json::from_str(text).unwrap();
        let counts: Vec<u64> = (document["jobs"].as_array().unwrap().iter())
            .map(|job| job["write"]["total_ios"].as_u64().unwrap())
            .collect();
        assert!(counts[0] > 0, "{text}");
        assert!(counts[1..].iter().all(|count| *count == 0), "{text}");
        assert_eq!(document["jobs"][0]["error"], 0, "{text}");
        let there = std::fs::read_to_string(place("there")).unwrap();
        assert!(there.contains("local-a-0-verify.state"), "{there}");
        std::fs::remove_file(place("there")).unwrap();
        std::fs::remove_file(place("local-a-0-verify.state")).unwrap();
    };
    let mut words = vec!["--trigger-timeout=2", "--trigger=ls > there"];
    words.extend(job);
    check(&ours(folder.path(), &words));

    let mut words = vec![
        "fio",
        "--trigger-file=pull",
        "--trigger=ls > there",
        "--status-interval=1",
    ];
    words.extend(job);
    words.push("--output=o");
    let mut child = support::fathom(folder.path()).args(&words).spawn().unwrap();
    // The first results in between come when the job has run for a second.
    let begun = || std::fs::read_to_string(place("o")).is_ok_and(|text| text.contains("\"jobs\""));
    while !begun() {
        let _ = Command::new("sleep").arg("0.02").status();
    }
    std::fs::write(place("pull"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!place("pull").exists(), "what pulled it is removed");
    let text = std::fs::read_to_string(place("o")).unwrap();
    let last = text.rfind("\n{\n").unwrap();
    check(&text[last..]);
}
