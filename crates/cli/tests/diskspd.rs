//! DISKSPD's command lines and profiles, run and predicted, and its output read back.
//!
//! Where `FATHOM_DISKSPD_XSD` names the schema of DISKSPD's profiles, `xmllint` validates ours against it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use serde_json::Value;
use support::{disk_folder, example, expect_code};

/// Figures of a row of a table of I/O.
struct Figures {
    bytes: u64,
    ios: u64,
    mib_per_sec: f64,
    iops: f64,
}

/// The rows of the table `title`, and its last line.
fn table(text: &str, title: &str) -> (Vec<Figures>, Figures) {
    let section = text
        .split("\n\n")
        .find(|section| section.starts_with(title));
    let section = section.unwrap_or_else(|| panic!("no `{title}` in\n{text}"));
    let figures = |line: &str| {
        let columns: Vec<&str> = line.split(['|', ':']).map(str::trim).collect();
        Figures {
            bytes: columns[1].parse().unwrap(),
            ios: columns[2].parse().unwrap(),
            mib_per_sec: columns[3].parse().unwrap(),
            iops: columns[4].parse().unwrap(),
        }
    };
    let mut lines: Vec<&str> = section.lines().skip(3).collect();
    let total = figures(lines.pop().unwrap());
    assert!(lines.pop().unwrap().starts_with("----"), "{section}");
    (lines.into_iter().map(figures).collect(), total)
}

/// Runs `line` and reads its tables back: rows must add up to the totals, reads and writes to all.
#[track_caller]
fn run(home: &Path, line: &str, maps: &[&str], rows: usize) -> String {
    let mut arguments = vec!["diskspd"];
    for map in maps {
        arguments.extend(["--map", map]);
    }
    arguments.extend(line.split_whitespace());
    let (text, _) = expect_code(home, &arguments, 0);
    let time = text
        .lines()
        .find_map(|line| line.strip_prefix("actual test time:\t"));
    let seconds: f64 = time.unwrap().trim_end_matches('s').parse().unwrap();
    assert!((0.9..2.0).contains(&seconds), "{text}");
    let mut moved = Vec::new();
    for title in ["Total IO", "Read IO", "Write IO"] {
        let (parts, total) = table(&text, title);
        assert_eq!(parts.len(), rows, "{text}");
        assert_eq!(
            parts.iter().map(|part| part.bytes).sum::<u64>(),
            total.bytes
        );
        assert_eq!(parts.iter().map(|part| part.ios).sum::<u64>(), total.ios);
        let mib = total.bytes as f64 / f64::from(1 << 20);
        assert!(
            (total.mib_per_sec * seconds - mib).abs() < 0.02 * mib + 0.02,
            "{text}"
        );
        let ios = total.ios as f64;
        assert!(
            (total.iops * seconds - ios).abs() < 0.02 * ios + 0.02,
            "{text}"
        );
        moved.push(total.bytes);
    }
    assert!(moved[0] > 0 && moved[0] == moved[1] + moved[2], "{text}");
    text
}

/// Blocks of 4 KiB of a file that hold anything but zeroes.
fn written_blocks(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap();
    let blocks = bytes.chunks(4096);
    blocks
        .filter(|block| block.iter().any(|byte| *byte != 0))
        .count()
}

/// I/O goes on during the cool-down, and no figure holds it; missing directories of files that are made are made.
#[test]
fn a_cool_down_issues_what_is_not_measured() {
    let home = disk_folder();
    let path = home.path().join("zeroes.dat");
    std::fs::write(&path, vec![0u8; 64 << 20]).unwrap();
    let line = format!(
        "-d1 -W0 -C3 -c64M -r -w100 -b4K -o1 -t1 -g200i -L {}",
        path.display()
    );
    let text = run(home.path(), &line, &[], 1);
    let (_, total) = table(&text, "Total IO");
    assert!((100..300).contains(&total.ios), "{text}");
    assert!(text.contains("cool down time: 3s"), "{text}");
    assert!(written_blocks(&path) > 450, "{text}");
    let missing = home.path().join("missing/sub/new.dat");
    let line = format!("-d1 -W0 -c1M -b4K {}", missing.display());
    run(home.path(), &line, &[], 1);
    assert_eq!(missing.metadata().unwrap().len(), 1 << 20);
}

#[test]
fn published_lines_run_on_small_files() {
    let home = disk_folder();
    let folder = home.path().display().to_string();
    let map = format!("E:={folder}");
    let line = "-c8M -d1 -W0 -r -w40 -t2 -o4 -b64K -Sh -L E:\\diskpsdtmp.dat";
    let text = run(home.path(), line, &[&map], 2);
    assert!(text.contains("\nTotal latency distribution:\n"), "{text}");
    assert!(text.contains("diskpsdtmp.dat (8MiB)"), "{text}");
    assert!(home.path().join("diskpsdtmp.dat").exists());
    let map = format!("testfile.dat={folder}/mapped.dat");
    let line = "-c8M -w100 -b8K -F2 -r -o8 -W0 -d1 -Sh testfile.dat";
    let text = run(home.path(), line, &[&map], 2);
    assert!(text.contains("thread pool with 2 threads"), "{text}");
    assert!(!text.contains("AvgLat"), "{text}");
    assert_eq!(
        home.path().join("mapped.dat").metadata().unwrap().len(),
        8 << 20
    );
    let map = format!("z:={folder}");
    let line = "-W0 -r -w100 -b4k -t2 -o2 -Sh -d1 -L -D100 -c4M -Z1M z:\\write0.dat z:\\write1.dat";
    let text = run(home.path(), line, &[&map], 4);
    assert!(
        text.contains("\nLatency distribution: z:\\write1.dat\n"),
        "{text}"
    );
    assert!(text.contains("| IopsStdDev |"), "{text}");
}

#[test]
fn a_rate_holds_each_thread_back() {
    let home = disk_folder();
    let text = run(
        home.path(),
        "-c1M -b4K -W0 -d1 -t2 -g200i -r file.dat",
        &[],
        2,
    );
    let (_, total) = table(&text, "Total IO");
    assert!((300..=440).contains(&total.ios), "{text}");
}

#[test]
fn exit_codes_are_diskspds() {
    let home = disk_folder();
    let check = |arguments: &[&str], code, part: &str| {
        let mut all = vec!["diskspd"];
        all.extend(arguments);
        let (stdout, stderr) = expect_code(home.path(), &all, code);
        assert!(
            stdout.contains(part) || stderr.contains(part),
            "{stdout}\n{stderr}"
        );
    };
    check(&[], 3, "Usage:");
    for word in ["-?", "--help", "/?"] {
        check(&[word], 0, "Usage:");
    }
    check(&["-w101", "x"], 3, "hint: give 0 to 100");
    check(&["-c1M", "E:\\x.dat"], 3, "--map 'E:=/PATH'");
    check(&["-c1M", "#1"], 3, "--map '#1=/PATH'");
    check(&["-d1", "-W0", "missing.dat"], 1, "missing.dat");
    assert!(!home.path().join("missing.dat").exists());
    let run = ["run", "diskspd", "-c1M", "E:\\x.dat"];
    let (_, stderr) = expect_code(home.path(), &run, 3);
    assert!(stderr.contains("--map 'E:=/PATH'"), "{stderr}");
}

#[test]
fn a_file_that_must_be_there_is_not_made_longer() {
    let home = disk_folder();
    let file = home.path().join("file.dat");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    run(home.path(), "-f1G -b4K -r -W0 -d1 file.dat", &[], 1);
    assert_eq!(file.metadata().unwrap().len(), 1 << 20);
}

/// The whole text of each element `name`.
fn elements<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let parts = xml.split(start.as_str()).skip(1);
    parts
        .filter_map(|part| part.split_once(&end))
        .map(|(inner, _)| inner)
        .collect()
}

fn number(xml: &str, name: &str) -> f64 {
    let found = elements(xml, name);
    let text = found
        .first()
        .unwrap_or_else(|| panic!("no {name} in\n{xml}"));
    text.parse().unwrap_or_else(|_| panic!("{name} is {text}"))
}

/// Reads XML as PerfKitBenchmarker does (`windows_packages/diskspd.py`): the time, the processors' use, the latency of each
/// percentile, and the totals as sums over all targets of all threads.
fn as_perfkit(xml: &str) -> [f64; 3] {
    let span = elements(xml, "TimeSpan").pop().unwrap();
    let seconds = number(span, "TestTimeSeconds");
    let average = elements(elements(span, "CpuUtilization")[0], "Average")[0];
    let usage = number(average, "UsagePercent");
    let rest = 100.0 - number(average, "IdlePercent");
    assert!((usage - rest).abs() < 0.02, "{average}");
    let buckets = elements(span, "Bucket");
    let latencies: Vec<f64> = buckets
        .iter()
        .map(|it| number(it, "TotalMilliseconds"))
        .collect();
    let percentiles: Vec<f64> = buckets.iter().map(|it| number(it, "Percentile")).collect();
    assert_eq!(percentiles.len(), 108);
    assert!(
        latencies.is_sorted() && percentiles.is_sorted(),
        "{latencies:?}"
    );
    assert!(number(span, "AverageTotalMilliseconds") > 0.0);
    let mut sums = [seconds, 0.0, 0.0];
    for target in elements(span, "Target") {
        sums[1] += number(target, "BytesCount");
        sums[2] += number(target, "IOCount");
        let ways = number(target, "ReadBytes") + number(target, "WriteBytes");
        assert!(
            (ways - number(target, "BytesCount")).abs() < 0.5,
            "{target}"
        );
        assert!(number(target, "AverageLatencyMilliseconds") > 0.0);
    }
    sums
}

/// Reads text as VirtualClient does (`DiskSpdMetricsParser`): sections by blank lines, rows by bars; the fifth figure of a
/// total is the mean latency.
fn as_virtual_client(text: &str) -> Vec<(String, f64)> {
    let mut metrics = Vec::new();
    let sections: Vec<&str> = text.split("\n\n").map(str::trim).collect();
    let section = |start: &str| {
        let found = sections.iter().find(|section| section.starts_with(start));
        found
            .copied()
            .unwrap_or_else(|| panic!("no {start} in\n{text}"))
    };
    let cells = |line: &str| -> Vec<f64> {
        let cells = line.split(['|', ':']).skip(1);
        let figures = cells.map(|cell| cell.trim().trim_end_matches('%').parse());
        figures.map(|figure| figure.unwrap_or(f64::NAN)).collect()
    };
    let cpu = section("CPU |");
    let average = cpu
        .lines()
        .find(|line| line.trim_start().starts_with("avg."))
        .unwrap();
    metrics.push(("cpu".to_owned(), cells(average)[0]));
    for title in ["Total IO", "Read IO", "Write IO"] {
        let total = section(title)
            .lines()
            .find(|line| line.starts_with("total:"));
        let figures = cells(total.unwrap());
        for (name, at) in [
            ("bytes", 0),
            ("ios", 1),
            ("mib", 2),
            ("iops", 3),
            ("avg latency", 4),
        ] {
            metrics.push((format!("{title} {name}"), figures[at]));
        }
    }
    for line in section("Total latency distribution:").lines().skip(3) {
        let (name, _) = line.split_once('|').unwrap();
        metrics.push((format!("{} total", name.trim()), cells(line)[2]));
    }
    metrics
}

#[test]
fn xml_is_read_as_its_consumers_read_it() {
    let home = disk_folder();
    let line = "diskspd -c4M -b8K -r -w30 -t2 -o4 -d1 -W0 -L -Rxml a.dat b.dat";
    let words: Vec<&str> = line.split(' ').collect();
    let (xml, _) = expect_code(home.path(), &words, 0);
    assert!(
        xml.starts_with("<Results>\n  <System>\n    <ComputerName>"),
        "{xml}"
    );
    assert!(xml.ends_with("</Results>"), "{xml}");
    let [seconds, bytes, ios] = as_perfkit(&xml);
    assert!((0.9..2.0).contains(&seconds));
    assert!(ios > 0.0 && (bytes - ios * 8192.0).abs() < 0.5);
    assert_eq!(elements(&xml, "Thread").len(), 4);
    // A profile within the results reads as the line did.
    let profile = elements(&xml, "Profile")[0];
    std::fs::write(
        home.path().join("again.xml"),
        format!("<Profile>{profile}</Profile>"),
    )
    .unwrap();
    let (again, _) = expect_code(home.path(), &["diskspd", "-Xagain.xml", "-Rpxml"], 0);
    assert!(again.contains("<WriteRatio>30</WriteRatio>"), "{again}");
}

#[test]
fn iops_over_time_stand_in_xml() {
    let home = disk_folder();
    let line = "diskspd -c4M -b8K -r -t2 -o2 -d1 -W0 -D250 -Rxml a.dat";
    let words: Vec<&str> = line.split(' ').collect();
    let (xml, _) = expect_code(home.path(), &words, 0);
    let all = elements(&xml, "Iops");
    assert_eq!(all.len(), 3, "{xml}");
    assert!(number(all[0], "IopsStdDev") >= 0.0 && !all[0].contains("WriteIopsStdDev"));
    let attribute = |line: &str, name: &str| -> f64 {
        let value = line.split(&format!(" {name}=\"")).nth(1).unwrap();
        value.split('"').next().unwrap().parse().unwrap()
    };
    let buckets: Vec<&str> = all[0]
        .lines()
        .filter(|line| line.contains("<Bucket"))
        .collect();
    let ends: Vec<f64> = buckets
        .iter()
        .map(|it| attribute(it, "SampleMillisecond"))
        .collect();
    assert_eq!(ends, [250.0, 500.0, 750.0, 1000.0]);
    for bucket in buckets {
        let least = attribute(bucket, "ReadMinLatencyMilliseconds");
        let mean = attribute(bucket, "ReadAvgLatencyMilliseconds");
        let most = attribute(bucket, "ReadMaxLatencyMilliseconds");
        assert!(least <= mean && mean <= most && most > 0.0, "{bucket}");
        assert!(attribute(bucket, "Total") > 0.0);
    }
}

#[test]
fn text_is_read_as_its_consumers_read_it() {
    let home = disk_folder();
    let line = "diskspd -c4M -b8K -r -w30 -t2 -o4 -d1 -W0 -L a.dat";
    let words: Vec<&str> = line.split(' ').collect();
    let (text, _) = expect_code(home.path(), &words, 0);
    let metrics = as_virtual_client(&text);
    assert_eq!(metrics.len(), 1 + 15 + 15);
    for (name, value) in metrics {
        assert!(
            value.is_finite() && value >= 0.0,
            "{name} is {value} in\n{text}"
        );
    }
}

#[test]
fn profiles_are_valid_against_the_schema() {
    let home = disk_folder();
    let schema = std::env::var("FATHOM_DISKSPD_XSD").ok();
    for (at, line) in [
        "-c1G -b4K -r -o8 -t3 -Sh -w30 -L -D100 -z7 -a0,1 f g",
        "-b8K -s16K -t2 -T1M -i5 -j7 -g300i -fr -fs -ft -l -I1 -v -P f",
        "-rdpct90/10:5/20 -rs40 -r8K -Sm -Nv -Z2M,x.bin -w100 f",
        "-rdabs90/1G:10/1G -r4K -Swr -Zr -B1M:5G -n -x -F4 -O9 f",
        "-p -o3 -g500 -Z -C3 -W4 -d5 -ePROCESS <&>.dat",
        "-vs -:1 -si64K -t2 -d1 -Su f",
    ]
    .into_iter()
    .enumerate()
    {
        let words: Vec<&str> = ["diskspd", "-Rpxml"]
            .into_iter()
            .chain(line.split(' '))
            .collect();
        let (profile, _) = expect_code(home.path(), &words, 0);
        assert!(profile.starts_with("<Profile>\n  <Progress>"), "{profile}");
        let name = format!("{at}.xml");
        std::fs::write(home.path().join(&name), &profile).unwrap();
        let again = format!("-X{name}");
        let (again, _) = expect_code(home.path(), &["diskspd", &again, "-Rpxml"], 0);
        assert_eq!(again, profile);
        if let Some(schema) = &schema {
            let path = home.path().join(&name).display().to_string();
            support::system("xmllint", &["--noout", "--schema", schema, &path]);
        }
    }
}

#[test]
fn a_profile_of_two_timespans_runs() {
    let home = disk_folder();
    let profile = "<Profile><TimeSpans>
<TimeSpan><Duration>1</Duration><Warmup>0</Warmup><MeasureLatency>true</MeasureLatency><Targets>
<Target><Path>*1</Path><FileSize>4194304</FileSize><BlockSize>4096</BlockSize><Random>4096</Random><WriteRatio>100</WriteRatio></Target>
<Target><Path>b.dat</Path><FileSize>4194304</FileSize><StrideSize>65536</StrideSize><ThreadsPerFile>2</ThreadsPerFile></Target>
</Targets></TimeSpan>
<TimeSpan><Duration>1</Duration><Warmup>0</Warmup><ThreadCount>2</ThreadCount><RequestCount>4</RequestCount><Targets>
<Target><Path>*1</Path><FileSize>4194304</FileSize><BlockSize>4096</BlockSize><Random>4096</Random><Weight>3</Weight></Target>
<Target><Path>b.dat</Path><FileSize>4194304</FileSize><BlockSize>4096</BlockSize><Random>4096</Random></Target>
</Targets></TimeSpan></TimeSpans></Profile>";
    std::fs::write(home.path().join("p.xml"), profile).unwrap();
    let (text, _) = expect_code(home.path(), &["diskspd", "-Xp.xml", "a.dat"], 0);
    let (first, second) = text.split_once("\nResults for timespan 2:\n").unwrap();
    let (rows, total) = table(first, "Total IO");
    assert_eq!(rows.len(), 3, "{text}");
    assert!(total.ios > 0 && first.contains("\nLatency distribution: b.dat\n"));
    // Two threads on two targets, three quarters of the I/Os on the first.
    let (rows, total) = table(second, "Total IO");
    assert_eq!(rows.len(), 4, "{text}");
    let share = (rows[0].ios + rows[2].ios) as f64 / total.ios as f64;
    assert!((0.7..0.8).contains(&share), "{share} in\n{text}");
    assert!(second.contains("request count:\t\t4\n"), "{second}");
    let totals = text.split("\nTotals:\n").nth(1).unwrap();
    let sum = |row: &str| -> u64 {
        let line = totals.lines().find(|line| line.starts_with(row)).unwrap();
        line.split('|').nth(2).unwrap().trim().parse().unwrap()
    };
    assert_eq!(sum("write") + sum("read"), sum("total"));
    assert!(totals.contains("total test time:\t2."), "{totals}");
    // The same profile is a workload of `fathom run` and of `fathom predict`.
    let (json, _) = expect_code(
        home.path(),
        &["run", "--json", "diskspd", "-Xp.xml", "a.dat"],
        0,
    );
    let record: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(record["stages"].as_array().unwrap().len(), 2);
}

#[test]
fn odd_orders_run() {
    let home = disk_folder();
    for (line, rows) in [
        ("-c4M -b4K -p -o4 -t2 -d1 -W0 a.dat", 2),
        ("-c1M -b64K -s4K -d1 -W0 a.dat", 1),
        ("-c4M -b4K -r -rdabs50/1M -rs60 -d1 -W0 -w50 a.dat", 1),
        ("-c4M -b4K -r -F2 -O6 -w50 -d1 -W0 a.dat b.dat", 4),
        ("-c4M -b4K -w100 -Z64K,source.bin -d1 -W0 a.dat", 1),
    ] {
        std::fs::write(home.path().join("source.bin"), "never zero".repeat(1000)).unwrap();
        run(home.path(), line, &[], rows);
    }
    let written = std::fs::read(home.path().join("a.dat")).unwrap();
    assert!(
        written[..4096]
            .windows(10)
            .any(|part| part == b"never zero")
    );
}

/// IOPS and mean latency in ms of `line` on `design`.
#[track_caller]
fn predicted(design: &str, maps: &[&str], line: &str) -> (f64, f64) {
    let home = disk_folder();
    let design = example(design);
    let mut arguments = vec!["predict", "--on", &design, "--json", "--no-record"];
    for map in maps {
        arguments.extend(["--map", map]);
    }
    arguments.push("diskspd");
    arguments.extend(line.split_whitespace());
    let (stdout, _) = expect_code(home.path(), &arguments, 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    let total = &record["stages"][0]["total"];
    let iops = total["all"]["iops"].as_f64().unwrap();
    // Mean over reads and writes by their numbers.
    let ways = ["read", "write"].map(|way| {
        let rate = total[way]["iops"].as_f64().unwrap_or(0.0);
        rate * total[way]["latency_ns"]["mean"].as_f64().unwrap_or(0.0)
    });
    (iops, (ways[0] + ways[1]) / iops / 1e6)
}

#[test]
fn published_lines_are_predicted_on_their_systems() {
    let near = |what: &str, value: f64, expected: f64, percent: f64| {
        let off = (value / expected - 1.0) * 100.0;
        assert!(
            off.abs() <= percent,
            "{what}: {value}, {off:.2} % off {expected}"
        );
    };
    // 13,052 IOPS were measured; the limits are 12,800.
    let machine = "guide-2021/d8ds_v4.design.toml";
    let uncached = ["testfile.dat=/mnt/nocache/testfile.dat"];
    let line = "-c200G -w100 -b8K -F4 -r -o128 -W5 -d5 -Sh testfile.dat";
    let (iops, mean) = predicted(machine, &uncached, line);
    near("writes by the limits", iops, 12_800.0, 0.5);
    near("writes as measured", iops, 13_052.0, 2.5);
    near("latency of writes", mean, 40.0, 1.0);
    // 78,521 were measured; the limit is 77,000. The design's cache is warm: two hours of warm-up change nothing.
    let cached = ["testfile.dat=/mnt/readcache/testfile.dat"];
    let line = "-c200G -b4K -F4 -r -o128 -W1 -d3 -Sh testfile.dat";
    let (iops, mean) = predicted(machine, &cached, line);
    near("reads by the limit", iops, 77_000.0, 0.5);
    near("reads as measured", iops, 78_521.0, 2.5);
    near("latency of reads", mean, 6.65, 1.0);
    // 3,866 IOPS and 66.206 ms were measured with 256 outstanding. The drive is the design's own.
    let line = "-c50G -d30 -r -w40 -t8 -o32 -b64K -Sh -L E:\\diskpsdtmp.dat";
    let (iops, mean) = predicted("windows-guide/san.design.toml", &[], line);
    near("the array", iops, 3_866.0, 0.5);
    near("its latency", mean, 66.206, 1.0);
    // The same as a profile in a file that is named alone.
    let home = disk_folder();
    let design = example("windows-guide/san.design.toml");
    let profile = example("windows-guide/diskspd.xml");
    let words = [
        "predict",
        "--on",
        &design,
        "--json",
        "--no-record",
        &profile,
    ];
    let (stdout, _) = expect_code(home.path(), &words, 0);
    let record: Value = serde_json::from_str(&stdout).unwrap();
    let iops = record["stages"][0]["total"]["all"]["iops"]
        .as_f64()
        .unwrap();
    near("the array by a profile", iops, 3_866.0, 0.5);
}

#[test]
fn channels_of_a_share_multiply_its_writes() {
    let files = (0..10).map(|at| format!("z:\\write{at}.dat"));
    let files = files.collect::<Vec<_>>().join(" ");
    let line = format!("-W1 -C5 -r -w100 -b4k -t8 -o8 -Sh -d2 -L -c2G -Z1G {files}");
    let iops = |design| predicted(design, &[], &line).0;
    let one = iops("smb-files/share-1-channel.design.toml");
    let four = iops("smb-files/share-4-channels.design.toml");
    assert!((14_850.0..15_150.0).contains(&one), "{one}");
    assert!((59_400.0..60_600.0).contains(&four), "{four}");
}

#[test]
fn every_option_in_force_is_explained() {
    let home = disk_folder();
    let arguments = ["explain", "diskspd", "-b8K", "-c1G", "-r", "x.dat"];
    let (stdout, _) = expect_code(home.path(), &arguments, 0);
    let origin = |option: &str| {
        let line = stdout.lines().find(|line| line.contains(option));
        line.unwrap_or_else(|| panic!("no {option} in\n{stdout}"))
            .to_owned()
    };
    assert!(origin("-b 8KiB").ends_with("command line"));
    assert!(origin("-W 5 s").ends_with("DISKSPD's default"));
    assert!(stdout.contains("[[stage]]"), "{stdout}");
}
