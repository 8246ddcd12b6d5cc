//! Inputs that cannot be read say what, where, and what to do; those that nearly can say what is doubtful.

use std::path::PathBuf;

use fathom_observe::import::{self, Format, Options};
use fathom_units::{Bytes, Nanos};

use crate::{device, in_order, only, read_text, refused, sample, says};

#[track_caller]
fn check(bytes: &[u8], name: &str, expected: &[&str]) {
    let error = refused(bytes, name, &Options::default());
    for part in expected {
        assert!(error.contains(part), "`{part}` is not in {error}");
    }
}

#[test]
fn what_is_not_read_is_told_how_to_convert() {
    check(b"", "a", &["it is empty"]);
    check(
        b"\x00\x00\x01\x00\x00",
        "perf.blg",
        &["relog in.blg -f CSV -o out.csv"],
    );
    check(b"\x1f\x8b\x08", "a.gz", &["gunzip"]);
    check(
        &std::fs::read(sample("sa.bin")).unwrap(),
        "sa22",
        &["sadf -j FILE"],
    );
    check(
        &std::fs::read(sample("sar.txt")).unwrap(),
        "sar.txt",
        &["sadf -j FILE"],
    );
    check(
        b"hello, world\n",
        "a",
        &["none of those that are read", "--format"],
    );
    check(b"disk- ----reads----\n", "a", &["vmstat's table of disks"]);
    for (text, what, hint) in [
        (
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sysstat\nxmlns=\"x\">\n",
            "XML of sadf",
            "sadf -j FILE",
        ),
        (
            "<?xml version=\"1.0\"?>\n<svg width=\"1060\">\n",
            "a picture of sadf",
            "sadf -j FILE",
        ),
        (
            "db1\t1\t2026-11-30 06:28:17 UTC\tall\t%user\t85.57\n",
            "sadf's text of a figure a line",
            "sadf -j FILE",
        ),
        (
            "  8,0    1        1     0.000000000  1234  Q   R 2048 + 8 [fio]\n",
            "blkparse's text",
            "sda.blktrace.*",
        ),
    ] {
        check(text.as_bytes(), "a", &[what, hint]);
    }
    check(b"\xff\x00\xfe", "a", &["--encoding"]);
    let missing = import::read_files(&[PathBuf::from("/nowhere/log")], &Options::default());
    assert!(missing.unwrap_err().to_string().contains("/nowhere/log"));
    let folder = import::read_files(&[PathBuf::from("/tmp")], &Options::default());
    assert!(folder.unwrap_err().to_string().contains("` is a folder"));
    assert!(import::read_files(&[], &Options::default()).is_err());
    assert!(
        "iostatt"
            .parse::<Format>()
            .unwrap_err()
            .contains("sysstat-json")
    );
}

#[test]
fn what_is_neither_read_nor_converted_is_named() {
    for (text, what) in [
        (
            "# Device      rrqm/s wrqm/s   r/s\nsda 0 0 1\n",
            "text of PCP",
        ),
        (
            "Time,\"disk.dev.read-sda\"\n2026-11-30 06:00:00,1.0\n",
            "text of PCP",
        ),
        (
            "          d.d.read  d.d.write\n               vda        vda\n           count/s    count/s\n\
             10:04:02       N/A        N/A\n",
            "text of PCP",
        ),
        ("\0\0\0\u{7f}\u{50}\u{5}\u{26}\u{2}", "an archive of PCP"),
        (
            "\"Dstat 0.8.0 CSV output\"\n\"Author:\",\"Dag Wieers <dag@wieers.com>\"\n",
            "dstat's or dool's",
        ),
        (
            "----system---- -dsk/total-\n     time     | read  writ\n",
            "dstat's or dool's",
        ),
        (
            "waiting for 1 second sample...\n#Date Time [DSK:vda]Name [DSK:vda]Reads\n20261130 10:01:53 vda 3\n",
            "collectl's",
        ),
        (
            "####\n# Collectl:   V4.3.1-1  HiRes: 1\n#Date,Time,[DSK:vda]Name\n20261130,10:02:04,vda,28\n",
            "collectl's",
        ),
        ("AAA,progname,nmon\nAAA,command,nmon -f -s1 -c4\n", "nmon's"),
    ] {
        check(text.as_bytes(), "a", &[what, "iostat -x -t"]);
    }
}

/// More memory is free than the machine is said to have.
#[test]
fn memory_of_another_machine_is_told() {
    let memory = |gib| Options {
        memory: Some(Bytes::gib(gib)),
        ..Options::default()
    };
    let error = refused(text("vmstat.txt").as_bytes(), "v", &memory(8));
    for part in [
        "v:3",
        "22.8 GiB of memory are free here, and `--memory` says that the machine has 8 GiB",
        "give `--memory` all of the machine's memory, or leave it out",
    ] {
        assert!(error.contains(part), "`{part}` is not in {error}");
    }
    assert!(import::read(text("vmstat.txt").as_bytes(), "v", &memory(23)).is_ok());
}

fn text(name: &str) -> String {
    std::fs::read_to_string(sample(name)).unwrap()
}

#[test]
fn iostat_texts_that_are_damaged() {
    check(
        text("iostat-y.txt").as_bytes(),
        "y",
        &["y:4:", "bear no times", "--interval"],
    );
    let good = text("iostat.txt");
    let mixed = good.replacen("420.00", "420,00", 1);
    check(mixed.as_bytes(), "f", &["two locales are mixed"]);
    let short = good.replacen(" 420.00 ", " ", 1);
    check(
        short.as_bytes(),
        "f",
        &["21 figures for 22 columns", "f:25:"],
    );
    let human = good.replacen("420.00", "420.0k", 1);
    check(
        human.as_bytes(),
        "f",
        &["`420.0k` is no number", "without `-h`"],
    );
    let one = good.split("\n\n\n").next().unwrap();
    check(one.as_bytes(), "f", &["holds 1 report,"]);
    let error = refused(good.as_bytes(), "f", &only(&["loop9"]));
    assert!(
        error.contains("no device `loop9`") && error.contains("did you mean `loop0`"),
        "{error}"
    );
}

#[test]
fn iostat_texts_of_other_locales_and_times() {
    let options = only(&["loop0"]);
    let expected = read_text(&text("iostat.txt"), &options);
    let expected = format!("{:?}", expected.devices);
    let commas = text("iostat.txt")
        .lines()
        .map(|line| {
            if line.starts_with("Linux") {
                line.to_owned()
            } else {
                line.replace('.', ",")
            }
        })
        .collect::<Vec<_>>()
        .join("\n");
    let german = commas.replace("11/22/26", "22.11.2026");
    assert_eq!(
        format!("{:?}", read_text(&german, &options).devices),
        expected
    );
    let french = commas.replace("11/22/26", "22/11/2026");
    assert_eq!(
        format!("{:?}", read_text(&french, &options).devices),
        expected
    );
    let old = text("iostat.txt").replace("\n11/22/26 ", "\nTime: ");
    assert_eq!(format!("{:?}", read_text(&old, &options).devices), expected);
    let unclear = text("iostat.txt").replace("11/22/26", "11/02/26");
    says(&read_text(&unclear, &options), "read in two ways");
}

#[test]
fn the_columns_of_old_sysstat() {
    let old = "Linux 3.10.0 (old) \t01/15/2016 \t_x86_64_\t(2 CPU)\n\n\
01/15/2016 10:00:00 AM\nDevice:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n\
sda               0.00     1.00   10.00   30.00   160.00   480.00    16.00     0.40   10.00   1.00   4.00\n\n\
01/15/2016 10:00:05 AM\nDevice:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n\
sda               0.00     1.00   10.00   30.00   160.00   480.00    16.00     0.40   10.00   1.00   4.00\n";
    let observation = read_text(old, &Options::default());
    let found = device(&observation, "sda").samples[0];
    assert_eq!(found.length, Nanos::from_secs(5));
    assert_eq!(found.reads.unwrap().bytes, Some(160.0 * 512.0 * 5.0));
    assert_eq!(found.writes.unwrap().merged, Some(5.0));
    assert!(found.reads.unwrap().time.is_none());
    assert_eq!(found.all.unwrap().time, Some(Nanos::from_secs(2)));
    let lacking = |figure| observation.unknown.iter().any(|one| one.figure == figure);
    assert!(lacking("latency of reads and of writes") && !lacking("latency"));
}

#[test]
fn a_text_may_end_anywhere_in_its_last_rows() {
    for name in [
        "iostat.txt",
        "sadf-all.csv",
        "sadf-T.csv",
        "sadf-U.csv",
        "vmstat.txt",
        "diskstats.txt",
    ] {
        let whole = text(name);
        for end in whole.len() - 150..whole.len() {
            let read = import::read(&whole.as_bytes()[..end], "log", &Options::default());
            assert!(read.is_ok(), "{name} to {end}: {}", read.unwrap_err());
        }
    }
    let dump = text("diskstats.txt");
    let total = dump.rfind("MemTotal:").unwrap();
    let cut = &dump[..total + "MemTotal:      2468".len()];
    let observation = read_text(cut, &Options::default());
    says(&observation, "may be cut short and is left out");
    assert!(observation.machine.memory.unwrap() > Bytes::gib(20));
}

#[test]
fn json_that_ends_early_or_is_none() {
    let good = text("iostat.json");
    let cut = &good[..good.len() - 400];
    let observation = read_text(cut, &only(&["loop0"]));
    says(&observation, "ends in the middle");
    in_order(&observation);
    assert_eq!(device(&observation, "loop0").samples.len(), 10);
    check(
        &good.as_bytes()[..300],
        "f",
        &["not JSON as sysstat writes it", "f:"],
    );
    let commas = good.replacen("0.09", "0,09", 1);
    check(commas.as_bytes(), "f", &["f:22:", "LC_ALL=C"]);
    check(
        b"{\"a\": 1}",
        "f",
        &["JSON of a kind that is not read", "Azure Monitor"],
    );
    let untimed = good.replace("\"timestamp\"", "\"stamp\"");
    check(untimed.as_bytes(), "f", &["report 1", "--interval"]);
    let huge = good.replacen("235.00", "1e300", 1);
    check(huge.as_bytes(), "f", &["more than can be"]);
}

#[test]
fn counters_that_wrap_or_go_back() {
    let dump = |second: u32, reads: u64, ms: u64| {
        format!(
            "179533099{second}.5\n 8 0 sda {reads} 0 {} {ms} 0 0 0 0 0 0 0\n",
            reads * 16
        )
    };
    let wrap = [
        dump(1, 100, 4_294_967_290),
        dump(2, 110, 4),
        dump(3, 120, 14),
    ]
    .concat();
    let observation = read_text(&wrap, &Options::default());
    says(&observation, "passed 2^32");
    let samples = &device(&observation, "sda").samples;
    assert_eq!(samples[0].reads.unwrap().time, Some(Nanos::from_millis(10)));
    // Counts of machines of 32 bits, of which only that of sectors passes it.
    let sectors = |second: u32, reads: u64| {
        let sectors = reads * 16 % (1 << 32);
        format!("179533099{second}.5\n 8 0 sda {reads} 0 {sectors} {reads} 0 0 0 0 0 0 0\n")
    };
    let full = (1 << 28) - 5;
    let wrap = [
        sectors(1, full),
        sectors(2, full + 10),
        sectors(3, full + 20),
    ]
    .concat();
    let observation = read_text(&wrap, &Options::default());
    says(&observation, "passed 2^32");
    let reads = device(&observation, "sda").samples[0].reads.unwrap();
    assert_eq!((reads.count, reads.bytes), (10.0, Some(81_920.0)));
    // A device that began anew is none of them.
    let anew = [sectors(1, full), sectors(2, 10), sectors(3, 20)].concat();
    let observation = read_text(&anew, &Options::default());
    says(&observation, "counters of `sda` went back");
    let back = [dump(1, 100, 100), dump(2, 5, 5), dump(3, 15, 15)].concat();
    let observation = read_text(&back, &Options::default());
    says(&observation, "counters of `sda` went back");
    assert_eq!(device(&observation, "sda").samples.len(), 1);
    check(
        b"1795330991\n8 0 sda 1 2 3\n8 0 sda 1 0 0 0 0 0 0 0 0 0 0\n",
        "f",
        &["fewer than 11 counters", "f:2:", "date +%s.%N"],
    );
    let early = " 8 0 sda 1 0 16 1 0 0 0 0 0 0 0\n";
    check(early.as_bytes(), "f", &["no moment stands before it"]);
}

#[test]
fn devices_that_come_and_go() {
    let good = text("iostat.txt");
    let line = good
        .lines()
        .find(|line| line.starts_with("loop0") && line.contains("420.00"))
        .unwrap();
    let gone = good.replacen(&format!("{line}\n"), "", 1);
    let observation = read_text(&gone, &only(&["loop0"]));
    says(&observation, "`loop0` is in 4 of 6 reports");
    let twice = good.replacen(line, &format!("{line}\n{line}"), 1);
    let observation = read_text(&twice, &only(&["loop0"]));
    says(&observation, "`loop0` is told twice in 1 report:");
    in_order(&observation);
}

#[test]
fn a_file_of_two_machines() {
    let columns = ["Disk Reads/sec", "Disk Writes/sec"];
    let perfmon = |hosts: [&str; 2]| {
        let of = |host: &str| {
            let named = columns.map(|it| format!(",\"\\\\{host}\\PhysicalDisk(0 C:)\\{it}\""));
            named.concat()
        };
        let row = |second: u8| {
            let values = ",\"5\"".repeat(4);
            format!("\"11/22/2026 09:00:0{second}.000\"{values}\n")
        };
        let names = hosts.map(of).concat();
        format!("\"(PDH-CSV 4.0)\"{names}\n{}{}", row(1), row(2))
    };
    let both = ["`SQL1` and `SQL2` are two machines", "relog LOG -c"];
    check(perfmon(["SQL1", "SQL2"]).as_bytes(), "log", &both);
    // One after another, or with names in other letters.
    let one = perfmon(["SQL1", "SQL1"]);
    check(
        format!("{one}{}", one.replace("SQL1", "SQL2")).as_bytes(),
        "log",
        &both,
    );
    read_text(&perfmon(["SQL1", "sql1"]), &Options::default());
    // What is not read may be of another machine.
    let beside = one.replacen(
        "\\\\SQL1\\PhysicalDisk(0 C:)\\Disk Reads",
        "\\\\X\\Web(a)\\Hits",
        1,
    );
    read_text(&beside, &Options::default());

    let sadf = |host: &str| {
        let row = |time| format!("{host};5;2026-11-22 {time} UTC;sda;5.00;40.00;0.00\n");
        let names = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\n";
        format!("{names}{}{}", row("09:00:00"), row("09:00:05"))
    };
    let both = ["`db1` and `web1` are two machines", "a file of their own"];
    let log = format!("{}{}", sadf("db1"), sadf("web1"));
    check(log.as_bytes(), "log", &both);

    let good = text("iostat.txt");
    let host = good.split(['(', ')']).nth(1).unwrap();
    let other = good.replace(&format!("({host})"), "(elsewhere)");
    let expected = format!("`{host}` and `elsewhere` are two machines");
    check(format!("{good}{other}").as_bytes(), "log", &[&expected]);
    // Runs of one machine may follow one another.
    read_text(&format!("{good}{good}"), &only(&["loop0"]));
}

/// The first mark alone, as where blktrace was stopped at once.
#[test]
fn a_trace_without_events_is_named() {
    let good = std::fs::read(sample("loop0.blktrace.0")).unwrap();
    let told = refused(&good[..4], "sda.blktrace.0", &Options::default());
    assert!(
        told.contains("`sda.blktrace.0`: the trace holds no event"),
        "{told}"
    );
}

#[test]
fn traces_that_are_damaged() {
    let good = std::fs::read(sample("loop0.blktrace.0")).unwrap();
    let cut = import::read(
        &good[..good.len() - 20],
        "sda.blktrace.0",
        &Options::default(),
    )
    .unwrap();
    says(&cut, "ends within an event");
    assert_eq!(cut.devices[0].name, "sda");
    let mut odd = good.clone();
    odd[48 * 3] = 9;
    check(&odd, "f", &["at byte 144", "version 9"]);
    odd[48 * 3 + 3] = 0;
    check(&odd, "f", &["at byte 144 no event begins"]);
}

/// The same trace as a machine of the other byte order, and one with the wider events, would have written it.
#[test]
fn traces_of_other_machines_tell_the_same() {
    let good = std::fs::read(sample("loop0.blktrace.0")).unwrap();
    let expected = import::read(&good, "loop0.blktrace.0", &Options::default()).unwrap();
    let widths = [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2];
    let (mut swapped, mut wide) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at + 48 <= good.len() {
        let event = &good[at..at + 48];
        let payload = usize::from(u16::from_le_bytes([event[46], event[47]]));
        let mut field = 0;
        for width in widths {
            swapped.extend(event[field..field + width].iter().rev());
            field += width;
        }
        wide.extend([8]);
        wide.extend(&event[1..28]);
        wide.extend(&event[32..36]);
        wide.extend(&event[28..32]);
        wide.extend([0; 4]);
        wide.extend(&event[36..48]);
        wide.extend([0; 12]);
        for copy in [&mut swapped, &mut wide] {
            copy.extend(&good[at + 48..at + 48 + payload]);
        }
        at += 48 + payload;
    }
    for bytes in [swapped, wide] {
        let found = import::read(&bytes, "loop0.blktrace.0", &Options::default()).unwrap();
        assert_eq!(
            format!("{:?}", found.devices),
            format!("{:?}", expected.devices)
        );
    }
}

/// Halves of a trace, as two processors would have written them.
#[test]
fn the_files_of_a_trace_belong_together() {
    let good = std::fs::read(sample("loop0.blktrace.0")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let paths = [0, 1].map(|cpu| folder.path().join(format!("loop0.blktrace.{cpu}")));
    let mut halves = [Vec::new(), Vec::new()];
    let mut at = 0;
    let mut turn = 0;
    while at + 48 <= good.len() {
        let payload = usize::from(u16::from_le_bytes([good[at + 46], good[at + 47]]));
        halves[turn % 2].extend(&good[at..at + 48 + payload]);
        at += 48 + payload;
        turn += 1;
    }
    for (path, half) in paths.iter().zip(&halves) {
        std::fs::write(path, half).unwrap();
    }
    let apart = import::read_files(&paths, &Options::default()).unwrap();
    let expected = import::read(&good, "loop0.blktrace.0", &Options::default()).unwrap();
    // As `blktrace -o -` writes them: the second half is as late as can be.
    let one = import::read(&halves.concat(), "loop0.blktrace.0", &Options::default()).unwrap();
    for found in [apart, one] {
        assert_eq!(
            format!("{:?}", found.devices),
            format!("{:?}", expected.devices)
        );
    }
}

#[test]
fn fio_logs_that_do_not_tell() {
    check(
        b"0, 1, 0, 4096, 0\n",
        "log.txt",
        &["stands only in its name", "JOB_lat.1.log"],
    );
    check(
        b"0, 1, 0, 0, 0\n",
        "a_lat.1.log",
        &["do not tell how many I/Os"],
    );
    check(
        b"0, 1, 0, 4096, 0\n0, x, 0, 4096, 0\n",
        "a_lat.1.log",
        &["`x` is no whole number", "a_lat.1.log:2:"],
    );
}

#[test]
fn two_sources_of_one_device_are_not_added_up() {
    let paths = ["iostat.txt", "iostat.json"].map(sample);
    let error = import::read_files(&paths, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("two of the files tell of `vda` at the same time"),
        "{error}"
    );
}

#[test]
fn what_is_asked_for_is_in_the_log() {
    let log = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\A\\PhysicalDisk(0 C:)\\Disk Reads/sec\",\"\\\\A\\PhysicalDisk(0 C:)\\Disk Writes/sec\",\"\\\\A\\Memory\\Available MBytes\"\r\n\
               \"11/22/2026 07:03:11.250\",\"1\",\"1\",\"1000\"\r\n";
    let logical = Options {
        disks: import::Disks::Logical,
        ..Options::default()
    };
    let little = Options {
        memory: Some(Bytes::mib(500)),
        ..Options::default()
    };
    for (options, parts) in [
        (logical, ["none of LogicalDisk", "--disks physical"]),
        (
            little,
            [
                "1000 MiB of memory are free here",
                "the machine has 500 MiB",
            ],
        ),
    ] {
        let error = refused(log.as_bytes(), "pm.csv", &options);
        for part in parts {
            assert!(error.contains(part), "`{part}` is not in {error}");
        }
    }
}
