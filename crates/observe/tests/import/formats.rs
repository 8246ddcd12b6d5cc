//! Each format as its tool wrote it, under one load: 420 reads and 180 writes of 8 KiB a second.

use std::fmt::Write as _;

use fathom_observe::import::Options;
use fathom_observe::{About, Checklist, Observation, Ops};
use fathom_units::{Bytes, Nanos};
use jiff::tz::TimeZone;

use crate::{device, in_order, near, only, read, read_text, sample, says, total};

const END: i64 = 1_795_330_996_000_000_000;

fn unknown(observation: &Observation, figure: &str) -> bool {
    observation
        .unknown
        .iter()
        .any(|one| one.figure.contains(figure))
}

/// The load's own rates, but for the second in which it began.
#[track_caller]
fn steady(reads: Ops, writes: Ops, seconds: f64) {
    near(reads.count / seconds, 420.0, 0.01);
    near(writes.count / seconds, 180.0, 0.01);
    near(reads.bytes.unwrap() / reads.count, 8_192.0, 0.01);
    near(writes.bytes.unwrap() / writes.count, 8_192.0, 0.01);
}

#[test]
fn text_of_iostat() {
    let observation = read(&["iostat.txt"], &only(&["loop0"]));
    in_order(&observation);
    says(&observation, "first report");
    says(&observation, "do not say their zone");
    assert_eq!(observation.machine.name.as_deref(), Some("vm"));
    assert_eq!(observation.machine.samples.len(), 5);
    let disk = device(&observation, "loop0");
    assert_eq!(disk.samples.last().unwrap().at_unix_ns, END);
    let sample = disk.samples[1];
    let reads = sample.reads.unwrap();
    near(reads.count, 420.0, 1e-9);
    near(reads.bytes.unwrap(), 3360.0 * 1024.0, 1e-9);
    assert_eq!(reads.time, Some(Nanos::from_micros(420 * 640)));
    assert_eq!(sample.queue, Some(0.4));
    assert_eq!(sample.busy.unwrap().basis_points(), 2_280);
    assert!(sample.all.is_none());
    assert_eq!(
        observation.machine.samples[1]
            .processors
            .unwrap()
            .basis_points(),
        9_950
    );
    assert_eq!(observation.machine.processors, Some(2));
    assert!(unknown(&observation, "percentiles") && unknown(&observation, "memory"));
    assert!(unknown(&observation, "random") && !unknown(&observation, "CPU"));
}

/// A report that stands twice is no second interval; two of one second that differ are two.
#[test]
fn a_report_of_iostat_that_stands_twice_counts_once() {
    let text = std::fs::read_to_string(sample("iostat.txt")).unwrap();
    let first = text.find("11/22/26 07:03:13").unwrap();
    let end = text.find("11/22/26 07:03:14").unwrap();
    let (before, report, behind) = (&text[..first], &text[first..end], &text[end..]);
    let once = read_text(&text, &only(&["loop0"]));
    let twice = read_text(
        &format!("{before}{report}{report}{behind}"),
        &only(&["loop0"]),
    );
    says(
        &twice,
        "the report that begins in line 29 is the one before it once more, and left out",
    );
    let samples = |observation: &Observation| format!("{:?}", device(observation, "loop0").samples);
    assert_eq!(samples(&twice), samples(&once));
    let other = report.replace("420.00", "421.00");
    let both = read_text(
        &format!("{before}{report}{other}{behind}"),
        &only(&["loop0"]),
    );
    assert!(!both.doubts.iter().any(|doubt| doubt.contains("once more")));
}

/// A log that ends within its last figure: `4.00` cut to `4.` or `4` is another number.
#[test]
fn a_figure_of_iostat_that_is_cut_is_left_out() {
    let text = std::fs::read_to_string(sample("iostat.txt")).unwrap();
    let text = text.trim_end();
    let is_told = |text: &str| {
        let observation = read_text(text, &only(&["loop0"]));
        let mut doubts = observation.doubts.iter();
        doubts.any(|doubt| doubt.contains("is cut short and left out"))
    };
    assert!(!is_told(text));
    for cut in 1..=3 {
        assert!(is_told(&text[..text.len() - cut]), "{cut}");
    }
}

/// A counter that went back makes a rate below 0. Nothing is known of that interval: it is no interval without I/O.
#[test]
fn a_rate_below_zero_is_left_out() {
    for (name, rate, wrong) in [
        ("iostat.txt", "420.00", "-420.00"),
        ("iostat.json", "420.00", "-420.00"),
        ("sadf.json", "600.00", "-600.00"),
        ("sadf-all.csv", "600.00", "-600.00"),
    ] {
        let text = std::fs::read_to_string(sample(name)).unwrap();
        let whole = read_text(&text, &only(&["loop0"]));
        let part = read_text(&text.replacen(rate, wrong, 1), &only(&["loop0"]));
        says(
            &part,
            "1 row of a disk has a figure below 0, of a counter that went back: it is left out",
        );
        let count = |observation: &Observation| device(observation, "loop0").samples.len();
        assert_eq!(count(&part), count(&whole) - 1, "{name}");
        let doubted = whole.doubts.iter().any(|it| it.contains("below 0"));
        assert!(!doubted, "{name}");
    }
}

#[test]
fn all_texts_and_the_json_of_iostat_tell_the_same() {
    let json = read(&["iostat.json"], &only(&["loop0"]));
    let text = read(&["iostat.txt"], &only(&["loop0"]));
    let mega = read(&["iostat-iso-m.txt"], &only(&["loop0"]));
    in_order(&json);
    let json = &device(&json, "loop0").samples;
    assert_eq!(json.len(), 11);
    // Three runs beside each other, which looked at the counters some I/Os apart.
    for log in [text, mega] {
        for (one, other) in device(&log, "loop0").samples.iter().zip(json) {
            assert_eq!(
                (one.at_unix_ns, one.length),
                (other.at_unix_ns, other.length)
            );
            let apart = (one.queue.unwrap() - other.queue.unwrap()).abs();
            assert!(apart <= 0.02 + 0.05 * other.queue.unwrap(), "{apart}");
            let (one, other) = (one.reads.unwrap(), other.reads.unwrap());
            assert!((one.count - other.count).abs() <= 8.0, "{one:?} {other:?}");
            let latency = |ops: Ops| ops.time.unwrap().get() as f64 / ops.count;
            // iostat writes hundredths of a millisecond.
            let apart = (latency(one) - latency(other)).abs();
            assert!(apart <= 10_000.0 + 0.05 * latency(other), "{apart}");
            // Hundredths of a MiB a second.
            let apart = (one.bytes.unwrap() - other.bytes.unwrap()).abs();
            assert!(apart <= 8.0 * 8192.0 + 0.005 * 1_048_576.0, "{apart}");
        }
    }
}

#[test]
fn iostat_without_columns_of_latency() {
    let observation = read(&["iostat-plain.txt"], &only(&["loop0"]));
    let sample = device(&observation, "loop0").samples[1];
    assert!(sample.reads.is_none());
    near(sample.all.unwrap().count, 602.0, 1e-9);
    near(sample.all.unwrap().bytes.unwrap(), 4816.0 * 1024.0, 1e-9);
    for figure in ["% read", "latency", "queue depth", "CPU"] {
        assert!(unknown(&observation, figure), "{figure}");
    }
}

#[test]
fn iostat_without_times_needs_the_interval() {
    let options = Options {
        interval: Some(Nanos::from_secs(2)),
        ..only(&["loop0"])
    };
    let observation = read(&["iostat-y.txt"], &options);
    let disk = device(&observation, "loop0");
    assert_eq!(disk.samples.len(), 2);
    let (reads, writes, seconds) = total(disk);
    near(seconds, 4.0, 1e-9);
    steady(reads, writes, seconds);
}

#[test]
fn without_a_device_named_the_disks_count() {
    let observation = read(&["iostat.txt"], &Options::default());
    assert_eq!(observation.devices.len(), 1);
    assert_eq!(observation.devices[0].name, "vda");
    says(&observation, "left out are `loop0`");
}

/// The sums of iostat's option `-g` stand below their disks, further to the right.
#[test]
fn groups_of_iostat_are_not_counted_beside_their_disks() {
    let with_groups = |name: &str| {
        let text = std::fs::read_to_string(sample(name)).unwrap();
        let mut out = String::new();
        for line in text.lines() {
            out.push_str(line);
            out.push('\n');
            if let Some(figures) = line.strip_prefix("vda") {
                let _ = writeln!(out, " all{figures}");
            }
        }
        out
    };
    let text = with_groups("iostat.txt");
    let plain = read(&["iostat.txt"], &Options::default());
    let grouped = read_text(&text, &Options::default());
    let told = |observation: &Observation| format!("{:?}", observation.devices[0].samples);
    assert_eq!(grouped.devices.len(), 1);
    assert_eq!(told(&grouped), told(&plain));
    says(&grouped, "left out are `all`: groups");
    let group = read_text(&text, &only(&["all"]));
    assert_eq!(group.devices[0].name, "all");
    assert_eq!(told(&group), told(&plain));
    let json = std::fs::read_to_string(sample("iostat.json")).unwrap();
    let json = json.replace("\"loop0\"", "\" all\"");
    let grouped = read_text(&json, &Options::default());
    assert_eq!(grouped.devices.len(), 1);
    assert_eq!(grouped.devices[0].name, "vda");
    says(&grouped, "left out are `all`: groups");
    // Without the disks, the group is what there is.
    let text: String = (text.lines())
        .filter(|line| !line.starts_with("vda") && !line.starts_with("loop"))
        .fold(String::new(), |text, line| text + line + "\n");
    let alone = read_text(&text, &Options::default());
    assert_eq!(alone.devices[0].name, "all");
    assert_eq!(told(&alone), told(&plain));
}

/// Names of `iostat -N`, which do not tell that a volume lies on the disks beside it.
#[test]
fn volumes_under_names_of_their_own_are_not_counted_beside_disks() {
    let text = std::fs::read_to_string(sample("iostat.txt")).unwrap();
    let text = text.replace("loop0", "vg0-root");
    let observation = read_text(&text, &Options::default());
    assert_eq!(observation.devices.len(), 1);
    assert_eq!(observation.devices[0].name, "vda");
    says(&observation, "left out are `vg0-root`");
}

#[test]
fn sadf_in_all_its_forms() {
    let json = read(&["sadf.json"], &only(&["loop0"]));
    in_order(&json);
    let expected = &device(&json, "loop0").samples;
    assert_eq!(expected.len(), 6);
    near(expected[1].all.unwrap().count, 600.0, 1e-9);
    near(
        expected[1].all.unwrap().bytes.unwrap(),
        4800.0 * 1024.0,
        1e-9,
    );
    assert_eq!(json.machine.samples.len(), 6);
    assert_eq!(json.machine.samples[0].memory, Some(Bytes::kib(726_492)));
    assert!(unknown(&json, "% read") && !unknown(&json, "CPU") && !unknown(&json, "memory"));
    for name in ["sadf-all.csv", "sadf-U.csv", "sadf-T.csv"] {
        let lines = read(&[name], &only(&["loop0"]));
        in_order(&lines);
        let found = &device(&lines, "loop0").samples;
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name}");
    }
    let all = read(&["sadf-all.csv"], &only(&["loop0"]));
    let machine = |observation: &Observation| format!("{:?}", observation.machine.samples);
    assert_eq!(machine(&all), machine(&json));
}

#[test]
fn dumps_of_diskstats() {
    let observation = read(&["diskstats.txt"], &only(&["loop0"]));
    in_order(&observation);
    let disk = device(&observation, "loop0");
    assert_eq!(disk.samples.len(), 5);
    let (mut reads, mut writes, mut seconds) = total(disk);
    let first = disk.samples[0];
    reads.count -= first.reads.unwrap().count;
    reads.bytes = reads
        .bytes
        .map(|bytes| bytes - first.reads.unwrap().bytes.unwrap());
    writes.count -= first.writes.unwrap().count;
    writes.bytes = writes
        .bytes
        .map(|bytes| bytes - first.writes.unwrap().bytes.unwrap());
    seconds -= first.length.as_secs_f64();
    steady(reads, writes, seconds);
    assert_eq!(observation.machine.samples.len(), 5);
    assert!(observation.machine.memory.unwrap() > Bytes::gib(20));
    assert!(!unknown(&observation, "CPU") && !unknown(&observation, "memory"));
}

/// Its columns have the names of the machine's language; memory in use is the same in each.
#[test]
fn vmstat_of_other_languages_tells_the_same() {
    let rows = "\n 1  0      0 16777216 1048576 2097152    0    0   613  3353  347  471 20  5 70  5  0 2026-11-22 07:03:1";
    let log = |head: &str| format!("{head}{rows}1{rows}2{rows}3\n");
    let options = Options {
        memory: Some(Bytes::gib(32)),
        ..Options::default()
    };
    for (head, used) in [
        (
            "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC",
            13,
        ),
        (
            "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- ----Zeitstempel----\n r  b   swpd   frei   buff  Cache   si   so    bi    bo   in   cs us sy id wa st                 UTC",
            13,
        ),
        (
            "procs ----------mémoire---------- -échange- -----io---- -système- ------cpu----- -----horodatage----\n r  b   swpd  libre tampon  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC",
            13,
        ),
        (
            "procs -----------minne----------- -växling- -----io---- -system-- ------cpu----- ----tidsstämpel----\n k  b  växl  fritt   buff  cache   vi   vu    bi    bu  avb ktxb an sy ia vä st                  UTC",
            13,
        ),
        (
            "proc. -----------pamięć---------- ---swap-- ---we/wy--- -system-- ------cpu-------------czas--------\ndz bl   swap  wolna  bufor  cache   si   so    bi    bo   in   cs uż sy be io sk                 UTC",
            13,
        ),
        // `-a`: what is inactive is in use.
        (
            "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- ----Zeitstempel----\n r  b   swpd   frei  inakt  aktiv   si   so    bi    bo   in   cs us sy id wa st                 UTC",
            16,
        ),
    ] {
        let seen = read_text(&log(head), &options);
        let sample = seen.machine.samples[1];
        assert_eq!(sample.memory, Some(Bytes::gib(used)), "{head}");
        assert_eq!(sample.processors.unwrap().basis_points(), 2_500, "{head}");
    }
}

#[test]
fn vmstat_completes_another_source() {
    let alone = read(&["vmstat.txt"], &Options::default());
    assert!(alone.devices.is_empty() && unknown(&alone, "I/Os a second"));
    assert_eq!(alone.machine.samples.len(), 5);
    let about = About {
        logs: vec!["sda".to_owned()],
        ..About::default()
    };
    let told = Checklist::of(&alone, &about, TimeZone::UTC).unwrap_err();
    assert!(
        told.contains("tells of the I/O of a device\n  hint: "),
        "{told}"
    );
    assert!(
        alone.doubts.iter().all(|doubt| !doubt.contains("zone")),
        "{:?}",
        alone.doubts
    );
    let options = Options {
        memory: Some(Bytes::gib(23)),
        ..only(&["loop0"])
    };
    let both = read(&["iostat-plain.txt", "vmstat.txt"], &options);
    assert!(!unknown(&both, "I/Os a second") && !unknown(&both, "CPU"));
    assert!(!unknown(&both, "memory"));
    let used = both.machine.samples[0].memory.unwrap();
    assert!(used > Bytes::mib(100) && used < Bytes::gib(4), "{used}");
    let wide = Options {
        interval: Some(Nanos::from_secs(1)),
        ..Options::default()
    };
    assert_eq!(read(&["vmstat-w.txt"], &wide).machine.samples.len(), 5);
}

#[test]
fn a_trace_knows_every_i_o() {
    let observation = read(&["loop0.blktrace.0"], &Options::default());
    in_order(&observation);
    let disk = device(&observation, "loop0");
    let traced = disk.traced.as_ref().unwrap();
    // What fio said of the load that was traced: 84 reads and 36 writes of 8 KiB.
    assert_eq!(
        (traced.read_latency.count(), traced.write_latency.count()),
        (84, 36)
    );
    assert_eq!(
        (traced.read_size.min(), traced.read_size.max()),
        (8_192, 8_192)
    );
    assert_eq!(traced.write_size.sum(), 294_912);
    // fio's latencies hold the kernel's way to the device and back too: 4,109 us, of which 1,538 us before the end.
    let mean = traced.read_latency.mean();
    assert!(mean < 4_109_275.2 && mean > 0.9 * 2_571_774.8, "{mean}");
    assert!(traced.read_latency.max() <= 29_559_019);
    assert_eq!((traced.lost, traced.judged), (0, 118));
    assert!(traced.random > 110, "{}", traced.random);
    let span: u64 = traced.depth.iter().sum();
    let weighted: f64 = traced
        .depth
        .iter()
        .enumerate()
        .map(|(depth, ns)| depth as f64 * *ns as f64)
        .sum();
    let busy = (traced.read_latency.sum() + traced.write_latency.sum()) as f64;
    near(weighted, busy, 1e-6);
    let (reads, writes, seconds) = total(disk);
    near(reads.count, 84.0, 1e-9);
    near(writes.count, 36.0, 1e-9);
    near(seconds, span as f64 / 1e9, 1e-6);
    says(&observation, "does not tell when");
    assert!(unknown(&observation, "CPU") && !unknown(&observation, "percentiles"));
}

#[test]
fn fio_logs_of_averages() {
    let names = ["job2_iops.1.log", "job2_bw.1.log", "job2_lat.1.log"];
    let observation = read(&names, &Options::default());
    in_order(&observation);
    let disk = device(&observation, "job2.1");
    let (reads, writes, seconds) = total(disk);
    // What fio said of this job: 2,100 reads of mean latency 2,782 us, 900 writes, in 5 s.
    near(seconds, 5.0, 0.01);
    near(reads.count, 2_100.0, 0.01);
    near(writes.count, 900.0, 0.01);
    near(reads.bytes.unwrap(), 17_203_200.0, 0.01);
    near(
        reads.time.unwrap().get() as f64 / reads.count,
        2_782_045.0,
        0.02,
    );
    assert!(unknown(&observation, "percentiles"));
}

#[test]
fn fio_logs_of_each_i_o() {
    let observation = read(&["job3_lat.1.log", "job3_bw.1.log"], &Options::default());
    let disk = device(&observation, "job3.1");
    let traced = disk.traced.as_ref().unwrap();
    assert_eq!(
        (traced.read_latency.count(), traced.write_latency.count()),
        (84, 36)
    );
    near(traced.read_latency.mean(), 377_891.14, 1e-4);
    assert_eq!(
        (traced.read_latency.min(), traced.read_latency.max()),
        (31_437, 4_415_002)
    );
    assert_eq!(traced.read_size.sum(), 688_128);
    assert!(unknown(&observation, "random") && unknown(&observation, "devices"));
}

#[test]
fn what_a_disk_did_while_dumps_did_not_hold_it_is_none_of_the_next_interval() {
    // 100 reads a second of 4 KiB; the second disk is away for one moment.
    let mut dump = String::new();
    for second in 0..5 {
        writeln!(dump, "{}.000000000", 1_795_330_991 + second).unwrap();
        for name in ["sda", "sdb"] {
            if name == "sda" || second != 2 {
                let (reads, sectors) = (100 * second, 800 * second);
                writeln!(dump, " 8 0 {name} {reads} 0 {sectors} 50 0 0 0 0 0 50 50").unwrap();
            }
        }
    }
    let observation = read_text(&dump, &Options::default());
    let (first, second) = (device(&observation, "sda"), device(&observation, "sdb"));
    let (reads, _, seconds) = total(first);
    near(reads.count, 400.0, 1e-9);
    near(seconds, 4.0, 1e-9);
    let (reads, _, seconds) = total(second);
    near(reads.count, 200.0, 1e-9);
    near(seconds, 2.0, 1e-9);
    let away: Vec<_> = observation
        .doubts
        .iter()
        .filter(|doubt| doubt.contains("came or went"))
        .collect();
    assert_eq!(away.len(), 1, "{away:?}");
    assert!(away[0].contains("`sdb` is in 2 of 4 reports"), "{away:?}");
}

/// Shares of processors are of so many, where a source tells it.
#[test]
fn processors_are_counted_where_they_are_told() {
    for (name, expected) in [
        ("iostat.json", Some(2)),
        ("sadf.json", Some(2)),
        ("diskstats.txt", None),
        ("vmstat.txt", None),
    ] {
        assert_eq!(
            read(&[name], &only(&[])).machine.processors,
            expected,
            "{name}"
        );
    }
    let text = std::fs::read_to_string(sample("diskstats.txt")).unwrap();
    let each = text.replace("cpu  69292", "cpu0 1 2 3 4\ncpu3 1 2 3 4\ncpu  69292");
    assert_eq!(read_text(&each, &only(&[])).machine.processors, Some(4));
}
