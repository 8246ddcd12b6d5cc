//! Tests of trace formats.

use std::io::{BufRead, BufReader, Cursor, Read as _};

use fathom_units::Nanos;

use super::{
    MergeError, MergedTrace, ServedOp, TraceAction, TraceEntry, TraceReader, TraceSummary,
    merge_blktraces,
};

mod lines;

use crate::{Direction, Replay, TracePart};

fn reader(bytes: impl AsRef<[u8]> + Send + 'static) -> Result<TraceReader, super::TraceError> {
    TraceReader::new(Box::new(Cursor::new(bytes)))
}

fn entries(mut reader: TraceReader) -> Vec<TraceEntry> {
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        entries.push(entry);
    }
    entries
}

fn io(direction: Direction, offset: u64, length: u32) -> TraceAction {
    TraceAction::Io {
        direction,
        offset,
        length,
        durable: false,
    }
}

/// A write that was durable when it completed.
fn durable(offset: u64, length: u32) -> TraceAction {
    TraceAction::Io {
        direction: Direction::Write,
        offset,
        length,
        durable: true,
    }
}

fn entry(micros: Option<u64>, file: u32, action: TraceAction) -> TraceEntry {
    let at = micros.map(Nanos::from_micros);
    TraceEntry { at, file, action }
}

#[test]
fn version_three_keeps_times_and_files_in_order() {
    let text = "fio version 3 iolog\n30 /a add\n40 /b add\n1030 /a write 4096 512\n\
                900 /b read 0 4096\n1400 /b datasync 0 0\n1500 /b wait 100 0\n1500 /a close\n";
    let found = entries(reader(text).unwrap());
    let expected = [
        entry(Some(0), 0, TraceAction::File),
        entry(Some(10), 1, TraceAction::File),
        entry(Some(1000), 0, io(Direction::Write, 4096, 512)),
        // Times that run backwards do not move what comes later.
        entry(Some(1000), 1, io(Direction::Read, 0, 4096)),
        entry(Some(1500), 1, TraceAction::Sync { data_only: true }),
        entry(Some(1600), 0, TraceAction::File),
    ];
    assert_eq!(found, expected);
}

#[test]
fn version_two_has_waits() {
    let text = "fio version 2 iolog\n/a add\n/a open\n/a trim 0 1024\n/a wait 250 0\n/a sync 0 0\n";
    let found = entries(reader(text).unwrap());
    let expected = [
        entry(None, 0, TraceAction::File),
        entry(None, 0, TraceAction::File),
        entry(None, 0, io(Direction::Trim, 0, 1024)),
        entry(None, 0, TraceAction::Wait(Nanos::from_micros(250))),
        entry(None, 0, TraceAction::Sync { data_only: false }),
    ];
    assert_eq!(found, expected);
}

/// As fio leaves a trace that a second run, or a clone of the job, appends to: it has the first line once more.
#[test]
fn a_part_that_was_appended_begins_where_the_one_before_ends() {
    let text = "fio version 3 iolog\n100 /a add\n150 /a read 0 512\nfio version 3 iolog\n90 /a add\n\
                95 /a read 512 512\nfio version 3 iolog\n200 /a read 1024 512\n\
                230 /a sync_file_range 0 0\n";
    let times = |text: &'static str| {
        let found = entries(reader(text).unwrap());
        let times = found.iter().map(|entry| entry.at.map(Nanos::get));
        times.collect::<Vec<_>>()
    };
    let expected = [0, 50_000, 50_000, 55_000, 160_000].map(Some);
    assert_eq!(times(text), expected);
    let without_times = "fio version 2 iolog\n/a add\nfio version 2 iolog\n/a read 0 512\n";
    assert_eq!(times(without_times), [None, None]);
}

#[track_caller]
fn check_refused(text: &'static str, expected: &str) {
    let found = reader(text).and_then(|reader| TraceSummary::of(reader, &Replay::default()));
    assert_eq!(found.unwrap_err().to_string(), expected);
}

#[test]
fn what_is_no_trace_is_refused_with_its_place() {
    let neither = "line 1: it is no trace: it begins as none of `fathom serve --trace`, of fio's `write_iolog` (version 2 \
                   or 3), of blktrace or blkparse, and is no CSV as the traces of MSR Cambridge are";
    check_refused("", "line 1: it is no trace: it is empty");
    let neither = format!("{neither}; its first line is \"fio version 1 iolog\"");
    check_refused("fio version 1 iolog\n", &neither);
    let header = "fio version 3 iolog\n";
    assert!(reader(header).is_ok());
    check_refused(
        "fio version 3 iolog\n/a write 0 4096\n",
        "line 2: the time in microseconds is missing or no whole number",
    );
    check_refused(
        "fio version 3 iolog\n\n5 /a write 0 0\n",
        "line 3: the length is 0 or exceeds 4 GiB",
    );
    check_refused(
        "fio version 2 iolog\n/a erase 0 1\n",
        "line 2: `erase` is no action of a trace",
    );
    check_refused(
        "fio version 3 iolog\n5 /a write 0",
        "line 2: the length is missing or no whole number (it is the last line and has no end: the trace was cut short)",
    );
}

/// Bytes that are no text, at the beginning and later.
#[test]
fn what_is_no_text_is_told() {
    for (bytes, expected) in [
        (
            &b"\xfe\xed\xfa\xce\0\0\0\x01\x02"[..],
            "line 1: it is no trace: it is no text, and no binary trace of blktrace: it begins with the bytes \
             fe ed fa ce 00 00 00 01",
        ),
        (b"abc\0", "it begins with the bytes 61 62 63 00"),
        (
            b"\xff\xfet\0",
            "line 1: it is no trace: it is text in UTF-16",
        ),
        (
            b"\xef\xbb\xbffio version 3 iolog\n",
            "take that away (`tail -c +4 FILE`)",
        ),
        (
            b"fio version 3 iolog\n0 /a read 0 512\n1 /\xff read 0 512\n",
            "line 3: it holds bytes that are no text in UTF-8",
        ),
        (
            b"arrival_ns,volume,op,offset,length\n1,\xff,read,0,512\n",
            "line 2: it holds bytes that are no text in UTF-8",
        ),
        ("größe\n".as_bytes(), "its first line is \"größe\""),
        (
            // A character stands across the end of what is looked at.
            concat!(
                "xöööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö",
                "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö",
                "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö",
                "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö\n"
            )
            .as_bytes(),
            "its first line is \"xööö",
        ),
    ] {
        let found = reader(bytes).and_then(|reader| TraceSummary::of(reader, &Replay::default()));
        let error = found.unwrap_err();
        assert!(
            matches!(error, crate::trace::TraceError::Malformed { .. }),
            "{error:?}"
        );
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// What people take for traces.
#[test]
fn what_another_tool_wrote_is_told() {
    for (text, expected) in [
        ("\u{1f}\u{8b}", "begins as none"),
        ("BZh9", "unpack it (`bunzip2 FILE`)"),
        ("PERFILE2....", "a recording of perf"),
        ("[global]\nrw=read\n", "a fio job file"),
        ("{ \"a\": 1 }", "looks like JSON"),
        ("write(3, \"x\", 1) = 1\n", "output of strace"),
        (
            "812 12:00:01.5 pread64(3, \"x\", 1, 0) = 1\n",
            "output of strace",
        ),
        ("0,20941264,8192,W,0.551706\n", "SPC's format"),
        ("1, 512, 0, 4096, 0, 0\n", "a log of fio"),
        ("1, 512, 7, 4096, 0, 0\n", "begins as none"),
        ("hello\n", "begins as none"),
    ] {
        let error = reader(text).unwrap_err().to_string();
        assert!(error.starts_with("line 1: it is no trace: "), "{error}");
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// A record as `blktrace` writes it; the time is in nanoseconds.
fn record(time: u64, sector: u64, bytes: u32, action: u32, payload: u16) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend((0x6561_7400u32 | 7).to_ne_bytes());
    out.extend(1u32.to_ne_bytes());
    out.extend(time.to_ne_bytes());
    out.extend(sector.to_ne_bytes());
    out.extend(bytes.to_ne_bytes());
    out.extend(action.to_ne_bytes());
    out.extend(77u32.to_ne_bytes());
    out.extend(((8u32 << 20) | 16).to_ne_bytes());
    out.extend(0u32.to_ne_bytes());
    out.extend(0u16.to_ne_bytes());
    out.extend(payload.to_ne_bytes());
    out.resize(out.len() + usize::from(payload), 0xee);
    out
}

const QUEUE: u32 = 1 | 1 << 20;

#[test]
fn queued_requests_of_blktrace_are_taken() {
    let records = [
        record(5_000, 0, 0, 1 << 26, 9),
        // A time of day, whose number among the notes is that of what is queued.
        record(500, 0, 8, 1 << 26 | 1, 8),
        record(1_000, 8, 4096, QUEUE | 1 << 16, 0),
        record(2_000, 8, 4096, 7 | 1 << 16, 0),
        record(3_500, 16, 8192, QUEUE | 1 << 17, 3),
        record(4_000, 64, 65536, QUEUE | 1 << 29 | 1 << 17, 0),
        record(6_000, 0, 0, QUEUE | 1 << 18 | 1 << 17, 0),
    ];
    let reader = reader(records.concat()).unwrap();
    assert!(reader.names_devices_by_number());
    let at = |nanos| Some(Nanos::new(nanos));
    let expected = [
        (at(0), io(Direction::Read, 4096, 4096)),
        (at(2_500), io(Direction::Write, 8192, 8192)),
        (at(3_000), io(Direction::Trim, 32768, 65536)),
        (at(5_000), TraceAction::Sync { data_only: false }),
    ];
    let found: Vec<_> = entries(reader)
        .iter()
        .map(|it| (it.at, it.action))
        .collect();
    assert_eq!(found, expected);
}

/// A journal's commit: a flush before it, and durable when it is done. fio, which heeds neither, is followed where asked.
#[test]
fn barriers_of_blktrace_are_told() {
    let write = QUEUE | 1 << 17;
    let (flush, fua) = (1 << 18, 1 << 31);
    let records = [
        record(1_000, 8, 4096, write | flush | fua, 0),
        record(2_000, 16, 4096, write | flush, 0),
        record(3_000, 24, 4096, write | fua, 0),
        record(4_000, 0, 0, write | flush, 0),
        // No write, whatever it says.
        record(5_000, 32, 4096, QUEUE | 1 << 16 | fua, 0),
    ]
    .concat();
    let flushed = TraceAction::Sync { data_only: false };
    let plain = |sector: u64| io(Direction::Write, sector * 512, 4096);
    let read = io(Direction::Read, 32 * 512, 4096);
    let told = [
        (0, flushed),
        (0, durable(4096, 4096)),
        (1, flushed),
        (1, plain(16)),
        (2, durable(24 * 512, 4096)),
        (3, flushed),
        (4, read),
    ];
    let as_in_fio = [
        (0, plain(8)),
        (1, plain(16)),
        (2, plain(24)),
        (3, flushed),
        (4, read),
    ];
    for (plain_writes, expected) in [(false, &told[..]), (true, &as_in_fio)] {
        let replay = Replay {
            plain_writes,
            ..Replay::default()
        };
        let trace = reader(records.clone()).unwrap().replayed_by(&replay);
        let found = entries(trace);
        let expected: Vec<_> = expected
            .iter()
            .map(|(micros, action)| entry(Some(*micros), 0, *action))
            .collect();
        assert_eq!(found, expected, "{plain_writes}");
        let trace = reader(records.clone()).unwrap();
        let summary = TraceSummary::of(trace, &replay).unwrap();
        let syncs = if plain_writes { 1 } else { 3 };
        assert_eq!((summary.ios, summary.syncs), ([1, 3, 0], syncs));
    }
    let mut trace = reader(records).unwrap();
    let mut came = Vec::new();
    while let Some(entry) = trace.next_arrival().unwrap() {
        came.push((entry.line, entry.op, entry.fua));
    }
    let (write, flush) = (ServedOp::Write, ServedOp::Flush);
    let expected = [
        (1, flush, false),
        (1, write, true),
        (2, flush, false),
        (2, write, false),
        (3, write, true),
        (4, flush, false),
        (5, ServedOp::Read, false),
    ];
    assert_eq!(came, expected);
}

#[test]
fn the_other_byte_order_is_read_alike() {
    let mut bytes = record(1_000, 8, 4096, QUEUE | 1 << 16, 0);
    for (at, length) in [
        (0, 4),
        (4, 4),
        (8, 8),
        (16, 8),
        (24, 4),
        (28, 4),
        (36, 4),
        (46, 2),
    ] {
        bytes[at..at + length].reverse();
    }
    let mut reader = reader(bytes).unwrap();
    let entry = reader.next_entry().unwrap().unwrap();
    assert_eq!(entry.action, io(Direction::Read, 4096, 4096));
    assert_eq!(reader.files(), ["8:16"]);
}

#[test]
fn records_that_are_none_are_refused() {
    let good = || record(1_000, 8, 4096, READ, 0);
    let changed = |at: usize, to: u8| {
        let mut bytes = good();
        bytes[at] = to;
        bytes
    };
    let magic = if cfg!(target_endian = "little") { 3 } else { 0 };
    let mut cut = record(2_000, 8, 4096, READ, 9);
    cut.truncate(50);
    for (second, expected) in [
        (
            changed(3 - magic, 6),
            "record 2: it is of a version of blktrace other than 7",
        ),
        (
            changed(magic, 0),
            "record 2: it does not begin as a record of blktrace does",
        ),
        (cut, "record 2: the trace ends within its payload"),
    ] {
        let bytes = [good(), second].concat();
        let found = TraceSummary::of(reader(bytes).unwrap(), &Replay::default());
        assert_eq!(found.unwrap_err().to_string(), expected);
    }
    // What no offset can name is left out.
    let far = record(2_000, (u64::MAX >> 9) - 1, 4096, READ, 0);
    let summary = TraceSummary::of(reader([good(), far].concat()).unwrap(), &Replay::default());
    assert_eq!(summary.unwrap().ios, [1, 0, 0]);
}

#[test]
fn devices_have_twenty_bits_of_minor_number() {
    let mut bytes = record(1_000, 8, 4096, READ, 0);
    bytes[36..40].copy_from_slice(&(259_u32 << 20 | 0x1_1170).to_ne_bytes());
    let mut reader = reader(bytes).unwrap();
    assert!(reader.next_entry().unwrap().is_some());
    assert_eq!(reader.files(), ["259:70000"]);
}

#[test]
fn waits_of_a_trace_without_times_are_its_length() {
    let text = "fio version 2 iolog\n/a add\n/a read 0 512\n/a wait 250 0\n/a wait 50 0\n/a read 512 512\n\
                /b add\n/b wait 1000 0\n";
    let summary = TraceSummary::of(reader(text).unwrap(), &Replay::default()).unwrap();
    assert_eq!(summary.length, Nanos::from_micros(1300));
    let of_a = summary.of_files(&["/a".to_owned()]);
    assert_eq!(of_a.length, Nanos::from_micros(300));
    let mut reader = reader(text).unwrap();
    let mut times = Vec::new();
    while let Some(entry) = reader.next_arrival().unwrap() {
        times.push(entry.arrival);
    }
    assert_eq!(times, [Nanos::ZERO, Nanos::from_micros(300)]);
}

#[test]
fn names_have_a_bound() {
    let names = (0..=super::TRACE_FILES_MAX).map(|number| format!("0 /{number} add\n"));
    let text = format!("fio version 3 iolog\n{}", names.collect::<String>());
    let found = TraceSummary::of(reader(text).unwrap(), &Replay::default());
    let error = found.unwrap_err().to_string();
    assert!(error.contains("names more than 65,536 files"), "{error}");
}

#[test]
fn a_line_of_fio_has_an_end() {
    let text = format!("fio version 3 iolog\n5 /{} read 0 512\n", "a".repeat(9000));
    let found = reader(text).and_then(|trace| TraceSummary::of(trace, &Replay::default()));
    let error = found.unwrap_err().to_string();
    assert!(
        error.starts_with("line 2: the line is longer than 8 KiB"),
        "{error}"
    );
}

#[test]
fn a_record_cut_short_is_an_error() {
    let mut bytes = record(1_000, 8, 4096, QUEUE, 0);
    bytes.truncate(40);
    let error = reader(bytes).unwrap().next_entry().unwrap_err();
    assert!(error.to_string().starts_with("record 1: "), "{error}");
}

#[test]
fn a_summary_is_of_what_is_replayed() {
    let text = "fio version 3 iolog\n0 /a add\n10 /a write 4096 512\n20 /a read 8192 100\n\
                30 /b trim 0 2147483648\n2000 /a sync 0 0\n";
    let replay = Replay {
        scale: 2,
        align: 512,
        skip: [false, false, true, true],
        ..Replay::default()
    };
    let summary = TraceSummary::of(reader(text).unwrap(), &replay).unwrap();
    assert_eq!(summary.files, ["/a", "/b"]);
    assert_eq!(summary.ends, [4096 + 100, 0]);
    assert_eq!((summary.ios, summary.syncs), ([1, 1, 0], 0));
    assert_eq!(summary.largest, [100, 512, 0]);
    assert_eq!(summary.unit, 4);
    assert_eq!(summary.length, Nanos::from_micros(2000));
}

#[test]
fn lengths_of_blktrace_are_aligned_too() {
    let records = [record(1, 8, 512, QUEUE | 1 << 16, 0)];
    let align = Replay {
        align: 4096,
        ..Replay::default()
    };
    let summary = TraceSummary::of(reader(records.concat()).unwrap(), &align).unwrap();
    assert_eq!((summary.largest, summary.ends), ([4096, 0, 0], vec![8192]));
}

#[test]
fn a_summary_tells_the_depth_of_blktrace() {
    let complete = 8 | 1 << 23;
    let records = [
        record(1, 8, 4096, QUEUE | 1 << 16, 0),
        record(2, 16, 4096, QUEUE | 1 << 16, 0),
        record(3, 24, 4096, QUEUE | 1 << 16, 0),
        // Merged into others: behind one, and before one.
        record(4, 24, 4096, 2 | 1 << 16, 0),
        record(4, 32, 4096, QUEUE | 1 << 16, 0),
        record(4, 32, 4096, 3 | 1 << 16, 0),
        // Without bytes it is never told to be complete.
        record(4, 0, 0, QUEUE | 1 << 18 | 1 << 17, 0),
        record(5, 8, 4096, complete | 1 << 16, 0),
        record(6, 32, 4096, QUEUE | 1 << 16, 0),
        record(7, 40, 4096, QUEUE | 1 << 16, 0),
    ];
    let reader = reader(records.concat()).unwrap();
    let summary = TraceSummary::of(reader, &Replay::default()).unwrap();
    assert_eq!((summary.depth, summary.ios), (Some(3), [6, 0, 0]));
}

fn merged(traces: &[(Vec<u8>, u32, u32)]) -> Result<Vec<u8>, MergeError> {
    let numbered = traces.iter().enumerate();
    let parts: Vec<_> = numbered
        .map(|(number, (_, scale, passes))| TracePart {
            path: number.to_string(),
            scale: *scale,
            passes: *passes,
        })
        .collect();
    let open = |path: &str| -> std::io::Result<Box<dyn BufRead + Send>> {
        let number: usize = path.parse().unwrap();
        Ok(Box::new(Cursor::new(traces[number].0.clone())))
    };
    let mut out = Vec::new();
    merge_blktraces(&open, &parts, &mut out)?;
    let mut read = Vec::new();
    // Whatever is asked for at a time.
    let mut merged = BufReader::with_capacity(7, MergedTrace::new(&open, &parts)?);
    merged.read_to_end(&mut read).unwrap();
    assert!(read == out);
    Ok(out)
}

const READ: u32 = QUEUE | 1 << 16;
const COMPLETED: u32 = 8 | 1 << 16;

/// As fio's manual has it: only what was queued, by time, without payloads; scaled, and repeated.
#[test]
fn traces_are_merged_by_their_times() {
    let one = [
        record(0, 0, 0, 1 << 26, 4),
        record(1_000, 0, 4096, READ, 7),
        record(1_500, 0, 4096, COMPLETED, 0),
        record(3_000, 8, 4096, READ, 0),
    ]
    .concat();
    let two = [
        record(1_000, 800, 512, READ, 0),
        record(2_000, 808, 512, READ, 0),
        record(4_000, 808, 512, COMPLETED, 0),
    ]
    .concat();
    let check = |[first, second]: [(u32, u32); 2], expected: &[(u64, u64, u32)]| {
        let traces = [
            (one.clone(), first.0, first.1),
            (two.clone(), second.0, second.1),
        ];
        let expected = expected
            .iter()
            .map(|(time, sector, bytes)| record(*time, *sector, *bytes, READ, 0));
        let expected: Vec<_> = expected.collect();
        assert!(
            merged(&traces).unwrap() == expected.concat(),
            "{first:?} {second:?}"
        );
    };
    let once = [
        (1_000, 0, 4096),
        (1_000, 800, 512),
        (2_000, 808, 512),
        (3_000, 8, 4096),
    ];
    check([(100, 1), (100, 1)], &once);
    let halved = [
        (500, 0, 4096),
        (1_000, 800, 512),
        (1_500, 8, 4096),
        (2_000, 808, 512),
    ];
    check([(50, 1), (100, 1)], &halved);
    // A pass of the first takes 3,000 ns, one of the second 4,000, at half of which it comes twice.
    let repeated = [
        (500, 800, 512),
        (1_000, 0, 4096),
        (1_000, 808, 512),
        (2_500, 800, 512),
        (3_000, 8, 4096),
        (3_000, 808, 512),
        (4_000, 0, 4096),
        (6_000, 8, 4096),
    ];
    check([(100, 2), (50, 2)], &repeated);
}

#[test]
fn merged_traces_have_this_machines_byte_order() {
    let native = record(1_000, 8, 4096, READ, 0);
    let mut swapped = native.clone();
    for (at, length) in [
        (0, 4),
        (4, 4),
        (8, 8),
        (16, 8),
        (24, 4),
        (28, 4),
        (32, 4),
        (36, 4),
    ] {
        swapped[at..at + length].reverse();
    }
    assert!(merged(&[(swapped, 100, 1)]).unwrap() == native);
}

#[test]
fn what_cannot_be_merged_is_told_with_its_number() {
    let good = record(u64::MAX / 2, 8, 4096, READ, 0);
    let check = |bad: Vec<u8>, expected: &str| {
        let error = merged(&[(good.clone(), 100, 1), (bad, 100, 3)]).unwrap_err();
        assert_eq!(error.to_string(), format!("trace `1`: {expected}"));
    };
    check(
        b"fio version 3 iolog\n".to_vec(),
        "it is no binary trace of blktrace",
    );
    check(good.clone(), "its times exceed 584 years");
    let short = [good.clone(), good[..20].to_vec()].concat();
    check(short, "record 2: the trace ends within it");
}
