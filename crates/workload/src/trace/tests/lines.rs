//! Tests of traces of one line for each I/O.

use std::fmt::Write as _;

use super::{durable, entries, entry, io, reader};
use crate::trace::{LOOK_AHEAD, ServedOp, TraceAction, TraceReader, TraceSummary};
use crate::{Direction, Replay};

const SERVED: &str = "arrival_ns,volume,op,offset,length,due_ns,done_ns,limit\n";

fn served(lines: &str) -> Result<TraceReader, super::super::TraceError> {
    reader(format!("{SERVED}{lines}"))
}

#[test]
fn entries_come_in_the_order_of_their_arrivals() {
    let lines = "30,b,read,0,512,40,41,disk-iops\n10,a,write+fua,4096,4096,50,51,\n\n20,a,flush,0,0,60,61,\n\
                 20,b,zeroes,1,2,70,71,\n25,a,trim,3,4294967295,80,81";
    let mut trace = served(lines).unwrap();
    let mut found = Vec::new();
    while let Some(entry) = trace.next_arrival().unwrap() {
        found.push((
            entry.arrival.get(),
            entry.volume,
            entry.op,
            entry.fua,
            entry.length,
        ));
    }
    let expected = [
        (10, 1, ServedOp::Write, true, 4096),
        (20, 1, ServedOp::Flush, false, 0),
        (20, 0, ServedOp::Zeroes, false, 2),
        (25, 1, ServedOp::Trim, false, u32::MAX),
        (30, 0, ServedOp::Read, false, 512),
    ];
    assert_eq!(found, expected);
    assert_eq!(trace.files(), ["b", "a"]);
}

/// As the server quotes them.
#[test]
fn names_in_quotes_are_read() {
    let lines =
        "1,\"a,b\",read,0,512,1,1,\n2,\"c\"\"d\",read,0,512,1,1,\n3,\"e\",read,0,512,1,1,\n";
    let mut trace = served(lines).unwrap();
    assert_eq!(entries_of(&mut trace), 3);
    assert_eq!(trace.files(), ["a,b", "c\"d", "e"]);
    check("1,\"a,read,0,512,1,1,\n", "line 2: it has fewer columns");
}

fn entries_of(trace: &mut TraceReader) -> usize {
    let next = || trace.next_arrival().unwrap();
    std::iter::from_fn(next).count()
}

/// Real storage gets a durable write as one, and zeroes as data, in pieces.
#[test]
fn a_served_trace_is_what_is_to_be_done() {
    let lines = "5000,a,write+fua,4096,512,1,1,\n5000,b,write,0,512,1,1,\n6000,b,zeroes+fua,0,1048580,1,1,\n7000,a,flush,0,0,1,1,\n\
                 8000,a,trim,0,4096,1,1,\n";
    let found = entries(served(lines).unwrap());
    let expected = [
        entry(Some(0), 0, durable(4096, 512)),
        entry(Some(0), 1, io(Direction::Write, 0, 512)),
        entry(Some(1), 1, durable(0, 1 << 20)),
        entry(Some(1), 1, durable(1 << 20, 4)),
        entry(Some(2), 0, TraceAction::Sync { data_only: false }),
        entry(Some(3), 0, io(Direction::Trim, 0, 4096)),
    ];
    assert_eq!(found, expected);
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let error = match served(text) {
        Err(error) => error.to_string(),
        Ok(mut trace) => trace.next_arrival().unwrap_err().to_string(),
    };
    assert!(error.contains(expected), "{error}");
}

#[test]
fn errors_name_their_line() {
    check("1,a,read,0\n", "line 2: it has fewer columns");
    check("1,a,re", "cut short");
    check(
        "x,a,read,0,1\n",
        "line 2: the arrival `x` is no whole number",
    );
    check("1,a,read,-5,1\n", "line 2: the offset `-5`");
    check("\n1,a,read,0,0\n", "line 3: the length is 0");
    check(
        "1,a,read,0,4294967296\n",
        "line 2: the length is 0, or 4 GiB",
    );
    check("1,a,read,18446744073709551615,2\n", "past 2^64");
    check("1,a,read+fua,0,1\n", "`read+fua` is no operation");
    check("1,a,sync,0,1\n", "`sync` is no operation");
    check(&"x".repeat(9000), "longer than 8 KiB");
    for what in ["flush", "trim"] {
        check(
            &format!("1,a,{what}+fua,0,1\n"),
            &format!("`{what}+fua` is no operation"),
        );
    }
    // What follows within a line that is too long is no line.
    let mut trace = served(&format!("{}\n1,a,read,0,512\n", "x".repeat(8192))).unwrap();
    assert!(trace.next_arrival().is_err());
    assert!(matches!(trace.next_arrival(), Ok(None)));
}

#[test]
fn a_line_too_far_from_its_place_is_an_error() {
    let mut many = String::new();
    for line in 0..=LOOK_AHEAD {
        let _ = writeln!(many, "{},a,read,0,1", line + 10);
    }
    let mut trace = served(&(many + "5,a,read,0,1\n")).unwrap();
    let error = loop {
        match trace.next_arrival() {
            Ok(entry) => assert!(entry.is_some()),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("sort the lines"), "{error}");
}

/// As blkparse prints it, with the tables at its end.
const BLKPARSE: &str = "  8,16   1        1     0.000000100   697  Q   W 223490 + 8 [kjournald]
  8,16   1        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,16   1        3     0.000004000   697  P   N [kjournald]
  8,16   0        1     0.500000100     0  Q  FN [kworker/0:1H]
  8,16   0        2     1.000000100    12  Q  RA 8 + 256 [cat]
  8,16   0        3     1.500000100    12  Q FWFS 16 + 1 [jbd2]
  8,16   0        3     1.500000150    12  Q WFS 24 + 1 [jbd2]
  8,16   0        3     1.500000160    12  Q FWS 25 + 1 [jbd2]
  8,16   0        4     1.500000200    12  Q  DS 64 + 64 [fstrim]
  8,16   0        6     1.550000100    12  Q   R 36 (12 00 00 00 24 00 ..) [hald]
  8,16   0        7     1.560000100    12  Q  RF 8 + 8 [x]
  8,16   0        5     1.600000100    12  C  RA 8 + 256 [0]
CPU0 (sdb):
 Reads Queued:           1,      128KiB\t Writes Queued:           0,        0KiB
Total (sdb):
";

#[test]
fn what_was_queued_in_text_of_blkparse_is_taken() {
    let trace = reader(BLKPARSE).unwrap();
    assert!(trace.names_devices_by_number());
    let found = entries(trace);
    let found: Vec<_> = found
        .iter()
        .map(|entry| (entry.at.unwrap().get(), entry.action))
        .collect();
    let expected = [
        (0, io(Direction::Write, 223_490 * 512, 4096)),
        (500_000_000, TraceAction::Sync { data_only: false }),
        (1_000_000_000, io(Direction::Read, 4096, 131_072)),
        (1_500_000_000, TraceAction::Sync { data_only: false }),
        (1_500_000_000, durable(8192, 512)),
        (1_500_000_050, durable(24 * 512, 512)),
        (1_500_000_060, TraceAction::Sync { data_only: false }),
        (1_500_000_060, io(Direction::Write, 25 * 512, 512)),
        (1_500_000_100, io(Direction::Trim, 32_768, 32_768)),
        // What moves commands is none of it, and no read is durable.
        (1_560_000_000, io(Direction::Read, 4096, 4096)),
    ];
    assert_eq!(found, expected);
    let summary = TraceSummary::of(reader(BLKPARSE).unwrap(), &Replay::default()).unwrap();
    assert_eq!(
        (summary.files, summary.unit),
        (vec!["8:16".to_owned()], 512)
    );
}

#[test]
fn traces_of_msr_cambridge_are_read() {
    let lines = "128166372003061629,hm,0,Read,9056768,4096,41286\n\
                 128166372016382155,hm,1,Write,2515206144,16384,703255\n\
                 128166372010000000,hm,0,read,0,512,1\n";
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    for text in [lines.to_owned(), format!("{header}{lines}")] {
        let mut trace = reader(text).unwrap();
        let mut found = Vec::new();
        while let Some(entry) = trace.next_entry().unwrap() {
            found.push((entry.at.unwrap().get(), entry.file, entry.action));
        }
        let expected = [
            (0, 0, io(Direction::Read, 9_056_768, 4096)),
            (693_837_100, 0, io(Direction::Read, 0, 512)),
            (
                1_332_052_600,
                1,
                io(Direction::Write, 2_515_206_144, 16_384),
            ),
        ];
        assert_eq!(found, expected);
        assert_eq!(trace.files(), ["hm.0", "hm.1"]);
    }
}

/// Parts of a trace keep the times of the whole.
#[test]
fn files_of_a_trace_are_replayed_apart() {
    let lines = "0,a,read,0,512,1,1,\n1000,b,write,4096,4096,1,1,\n2000,c,read,0,1024,1,1,\n";
    let replay = Replay {
        files: vec!["c".to_owned(), "b".to_owned()],
        ..Replay::default()
    };
    let summary = TraceSummary::of(served(lines).unwrap(), &replay).unwrap();
    assert_eq!(summary.files, ["c", "b"]);
    assert_eq!(summary.ends, [1024, 8192]);
    assert_eq!((summary.ios, summary.bytes), ([1, 1, 0], [1024, 4096, 0]));
    assert_eq!(summary.length.get(), 2000);
    // As of the whole that was looked through once.
    let whole = TraceSummary::of(served(lines).unwrap(), &Replay::default()).unwrap();
    assert_eq!(whole.of_files(&replay.files), summary);
    assert_eq!(whole.of_files(&whole.files), whole);
    assert_eq!((whole.ios, whole.unit), ([2, 1, 0], 512));
}

#[test]
fn zeroes_are_counted() {
    let lines = "0,a,zeroes,0,3145728,1,1,\n1000,b,write,4096,4096,1,1,\n2000,b,zeroes+fua,0,1024,1,1,\n\
                 3000,b,zeroes,0,1024,1,1,\n";
    let zeroes = |replay: &Replay| {
        let summary = TraceSummary::of(served(lines).unwrap(), replay).unwrap();
        (summary.zeroes, summary.ios[1])
    };
    assert_eq!(zeroes(&Replay::default()), (3, 6));
    let of_b = Replay {
        files: vec!["b".to_owned()],
        ..Replay::default()
    };
    assert_eq!(zeroes(&of_b), (2, 3));
    let none = Replay {
        skip: [false, true, false, false],
        ..Replay::default()
    };
    assert_eq!(zeroes(&none), (0, 0));
}

/// Of whatever format: what came, with the line or the record that says so.
#[test]
fn every_format_tells_what_came() {
    let text = "fio version 2 iolog\n/a add\n/a read 0 512\n/a wait 5 0\n/a sync 0 0\n";
    let mut trace = reader(text).unwrap();
    assert!(!trace.has_times());
    let mut next = || {
        let entry = trace.next_arrival().unwrap()?;
        Some((entry.line, entry.arrival.get(), entry.op, entry.length))
    };
    assert_eq!(next(), Some((3, 0, ServedOp::Read, 512)));
    assert_eq!(next(), Some((5, 5000, ServedOp::Flush, 0)));
    assert_eq!(next(), None);
    assert!(reader(BLKPARSE).unwrap().has_times());
}

#[test]
fn names_are_without_blanks_around_them_and_flushes_without_length() {
    let mut trace = served("1, a ,read,0,512\n2,a,flush,8192,4096\n").unwrap();
    let lengths = [512, 0].map(|length| {
        let entry = trace.next_arrival().unwrap().unwrap();
        assert_eq!(entry.length, length);
        entry.volume
    });
    assert_eq!((lengths, trace.files()), ([0, 0], &["a".to_owned()][..]));
}

/// What `text` is refused with, at its beginning or in it.
#[track_caller]
fn check_whole(text: &str, expected: &str) {
    let found =
        reader(text.to_owned()).and_then(|trace| TraceSummary::of(trace, &Replay::default()));
    let error = found.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn lines_of_other_forms_are_refused() {
    let line = "8,0 1 1 0.000000000 697 Q R 8 + 8 [x]\n";
    let no_time = "no number of seconds with nine digits";
    check_whole(&format!("{line}8,0 1 2 0.5 697 Q R 8 + 8 [x]\n"), no_time);
    check_whole(
        &format!("{line}8,0 1 2 1.000000000\n"),
        "line 2: it ends before the kind of the request",
    );
    let line = "128166372003061629,hm,0,Read,9056768,4096,41286\n";
    check_whole(
        &format!("{line}128166372003061629,hm,x,Read,0,512,1\n"),
        "line 2: the disk's number `x` is no whole number",
    );
    let neither = "begins as none";
    check_whole("128166372003061629,hm,0,Read,9056768,4096\n", neither);
    check_whole(
        "arrival_ns,volume,op,offset,lengthy\n1,a,read,0,1\n",
        neither,
    );
}
