//! Replays against arithmetic, and against what the same arrivals do to the model directly.

use std::fmt::Write;
use std::io::Cursor;

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_record::{Event, EventSink, Ignore, OpStats, StageResult};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use fathom_workload::trace::TraceReader;
use fathom_workload::{Arrival, Direction, Job, Pacing};

use super::Replay;
use crate::Prediction;

const HEADER: &str = "arrival_ns,volume,op,offset,length,due_ns,done_ns,limit\n";

fn design(text: &str) -> Design {
    Design::read(text, "d", Catalog::builtin()).unwrap().0
}

fn device(name: &str, iops: u64) -> String {
    format!(
        "[[device]]\nname = '{name}'\nmount = '/{name}'\nsize = '1GiB'\niops = {iops}\nlatency = 'none'\n"
    )
}

fn open(lines: &str) -> TraceReader {
    let headed = ["fio", "arrival_ns", "  8,0"]
        .iter()
        .any(|start| lines.starts_with(start));
    let header = if headed { "" } else { HEADER };
    TraceReader::new(Box::new(Cursor::new(format!("{header}{lines}"))) as Box<_>).unwrap()
}

fn same(name: &str) -> String {
    name.to_owned()
}

fn replayed(lines: &str, design: &Design) -> Result<(Replay, Prediction), String> {
    let replay = Replay::new("t.csv", open(lines), design, &same);
    let mut replay = replay.map_err(|complaints| complaints.to_string())?;
    let prediction = replay.predict(open(lines), design, &mut Ignore, &|| false);
    let prediction = prediction.map_err(|error| error.to_string())?;
    Ok((replay, prediction))
}

fn latencies(result: &StageResult, job: usize, way: Direction) -> (u64, u64, u64) {
    let stats = result.workers[job].directions[way as usize]
        .as_ref()
        .unwrap();
    let latency = &stats.latency;
    (latency.count(), latency.sum() as u64, stats.bytes)
}

#[test]
fn arrivals_are_those_of_the_trace_whatever_storage_does() {
    let design = design(&(device("a", 1000) + &device("b", 100)));
    // Ten at once at a, which lets one go each millisecond; two at b, which needs ten.
    let mut lines = String::new();
    for number in 0..10 {
        let _ = writeln!(lines, "5000000,a,read,{},4096,1,1,x", number * 4096);
    }
    lines.push_str("5000000,b,write,0,8192,1,1,\n6000000,b,zeroes+fua,8192,8192,1,1,\n");
    lines.push_str("7000000,b,flush,0,0,1,1,\n");
    let (replay, prediction) = replayed(&lines, &design).unwrap();
    let result = &prediction.results[0];
    // 0 + 1 + … + 9 ms, and 0 and 9 ms of the writes.
    assert_eq!(
        latencies(result, 0, Direction::Read),
        (10, 45_000_000, 40_960)
    );
    assert_eq!(
        latencies(result, 1, Direction::Write),
        (2, 9_000_000, 16_384)
    );
    let flushes = result.workers[1].sync.as_ref().unwrap();
    assert_eq!((flushes.ios(), flushes.latency.max()), (1, 0));
    assert_eq!(result.measured, Nanos::from_millis(10));
    let waited = &result.workers[0].waited_ns[Direction::Read as usize];
    assert_eq!(waited["device-iops"], 45_000_000);
    let jobs = &replay.workload().stages[0].jobs;
    let jobs: Vec<_> = jobs.iter().map(|job| (&*job.name, job.depth)).collect();
    // The first read takes no time: it is over before the next one comes.
    assert_eq!(jobs, [("a", 9), ("b", 2)]);
    assert_eq!(result.workers[0].outstanding_ns, 45_000_000);
}

#[test]
fn a_volume_of_two_names_is_one_job() {
    let text = "[[vm]]\nname = 'vm'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
        [[vm.volume]]\nname = 'w'\nmount = '/w'\ndisks = { type = 'P4' }\ncaching = 'none'\n";
    // Each name reaches beyond the half of the disk's 32 GiB.
    let lines = "0,w,read,20000000000,4096,1,1,\n1000000,vm/w,read,20000000000,8192,1,1,\n";
    let (replay, prediction) = replayed(lines, &design(text)).unwrap();
    let jobs = &replay.workload().stages[0].jobs;
    let names: Vec<_> = jobs.iter().map(|job| &*job.name).collect();
    assert_eq!(names, ["vm/w"]);
    let (count, _, bytes) = latencies(&prediction.results[0], 0, Direction::Read);
    assert_eq!((count, bytes), (2, 12_288));
}

/// What is flushed and not used besides asks for no rate.
#[test]
fn flushes_alone_are_no_rate() {
    let design = design(&(device("a", 1000) + &device("b", 100)));
    let lines = "0,a,read,0,4096,1,1,\n5,b,flush,0,0,1,1,\n9,a,read,0,4096,1,1,\n";
    let (replay, _) = replayed(lines, &design).unwrap();
    let jobs = &replay.workload().stages[0].jobs;
    let asks = |job: &Job| matches!(job.arrival, Arrival::Open { .. });
    assert_eq!((asks(&jobs[0]), asks(&jobs[1])), (true, false));
}

/// Of a rate that is no whole number no more is asked for than came.
#[test]
fn a_rate_is_not_rounded_up() {
    let design = design(&device("a", 1000));
    let mut lines = String::new();
    for second in [0_u64, 0, 1, 1, 2] {
        let _ = writeln!(lines, "{},a,read,0,4096,1,1,", second * 900_000_000);
    }
    let (replay, _) = replayed(&lines, &design).unwrap();
    let asked = replay.workload().stages[0].jobs[0].arrival;
    // 5 in 1.8 s.
    let two = Pacing::Iops(Iops::new(2));
    assert!(
        matches!(asked, Arrival::Open { rate, .. } if rate == two),
        "{asked:?}"
    );
}

/// One I/O in a while: as many bytes a second, since rates of I/Os are whole ones.
#[test]
fn a_rate_below_one_is_told_in_bytes() {
    let design = design(&device("a", 1000));
    let mut lines = String::new();
    for second in 0_u64..5 {
        let _ = writeln!(lines, "{},a,read,0,8192,1,1,", second * 5_000_000_000);
    }
    let (replay, prediction) = replayed(&lines, &design).unwrap();
    let asked = replay.workload().stages[0].jobs[0].arrival;
    // Five of 8 KiB in 20 s.
    let bytes = Pacing::Bytes(BytesPerSec::new(2048));
    assert!(
        matches!(asked, Arrival::Open { rate, .. } if rate == bytes),
        "{asked:?}"
    );
    assert_eq!(latencies(&prediction.results[0], 0, Direction::Read).0, 5);
}

/// Files of fio's trace lie one behind the other on the volume of their mount; devices are volumes.
#[test]
fn traces_of_files_are_replayed_on_the_volumes_of_their_mounts() {
    let design = design(&(device("a", 1000) + &device("b", 100)));
    let lines = "fio version 3 iolog\n0 /a/x add\n0 /a/x open\n0 /a/x read 0 4096\n0 /a/y write 1000000 4096\n\
                 1000 /a/y sync 0 0\n2000 /b read 0 512\n";
    let (replay, prediction) = replayed(lines, &design).unwrap();
    let result = &prediction.results[0];
    assert_eq!(latencies(result, 0, Direction::Read), (1, 0, 4096));
    assert_eq!(latencies(result, 0, Direction::Write), (1, 1_000_000, 4096));
    assert_eq!(latencies(result, 1, Direction::Read), (1, 0, 512));
    let jobs = &replay.workload().stages[0].jobs;
    let ends: Vec<_> = jobs.iter().map(|job| job.targets[0].length).collect();
    // One page of `x`, and `y` behind it.
    let y = 4096 + 1_000_000 + 4096;
    assert_eq!(ends, [Some(Bytes::new(y)), Some(Bytes::new(512))]);
    let large = "fio version 3 iolog\n0 /a/x read 600000000 4096\n0 /a/y read 600000000 4096\n";
    let error = replayed(large, &design).unwrap_err();
    assert!(error.contains("its files on `a` have 1.1"), "{error}");
    let error = replayed("fio version 2 iolog\n/a read 0 512\n", &design).unwrap_err();
    assert!(error.contains("has no times"), "{error}");
}

/// Whatever a trace calls its only device, the only volume is meant; of two names neither is known.
#[test]
fn the_only_name_is_the_only_volume() {
    let design = design(&device("a", 1000));
    let line = "  8,0    3        1     0.000000000   697  Q   W 8 + 8 [x]\n";
    let (_, prediction) = replayed(line, &design).unwrap();
    assert_eq!(
        latencies(&prediction.results[0], 0, Direction::Write),
        (1, 0, 4096)
    );
    let other = line.replace("8,0 ", "8,16");
    let error = replayed(&format!("{line}{other}"), &design).unwrap_err();
    assert!(error.contains("has no volume `8:0`"), "{error}");
    let renamed = |name: &str| name.replace("8:0", "a");
    assert!(Replay::new("t", open(line), &design, &renamed).is_ok());
}

#[test]
fn trims_are_charged_without_their_bytes() {
    let text = device("a", 1000).replace("iops = 1000", "iops = 1000\nbandwidth = '1MB/s'");
    let lines = "0,a,trim,0,1000000000,1,1,\n0,a,trim,0,1000000000,1,1,\n";
    let (_, prediction) = replayed(lines, &design(&text)).unwrap();
    let result = &prediction.results[0];
    assert_eq!(latencies(result, 0, Direction::Trim).1, 1_000_000);
    assert!(prediction.notes.iter().any(|note| note.contains("trims")));
}

/// How many syncs were told second by second.
#[derive(Default)]
struct Syncs(u64);

impl EventSink for Syncs {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Syncs { stats, .. } = event {
            self.0 += stats.ios();
        }
    }
}

/// Each I/O has arrived when the trace says, so that it took as long to whoever waited for it; flushes have no rate.
#[test]
fn seconds_have_response_times() {
    let mut lines = String::new();
    for number in 0..2_000_u64 {
        let op = ["read", "write", "flush"][number as usize % 3];
        let _ = writeln!(lines, "{},a,{op},0,4096,1,1,", number * 1_000_000);
    }
    let design = design(&device("a", 400));
    let mut replay = Replay::new("t.csv", open(&lines), &design, &same).unwrap();
    let mut told = Syncs::default();
    let prediction = replay.predict(open(&lines), &design, &mut told, &|| false);
    let result = &prediction.unwrap().results[0];
    let flushes = result.workers[0].sync.as_ref().unwrap().ios();
    assert_eq!((told.0, flushes), (666, 666));
    let seconds = &result.intervals;
    assert!(seconds.len() > 2, "{}", seconds.len());
    for second in seconds {
        for way in [Direction::Read, Direction::Write] {
            let stats = second.directions[way as usize].as_ref().unwrap();
            assert_eq!(
                stats.response.as_ref(),
                Some(&stats.latency),
                "{way:?} {:?}",
                second.at
            );
        }
    }
}

/// A design scaled by a half takes twice as long where it binds.
#[test]
fn a_scaled_design_is_replayed_as_scaled() {
    let design = design(&device("a", 1000)).scaled("0.5".parse().unwrap());
    let lines = "0,a,read,0,4096,1,1,\n".repeat(5);
    let (_, prediction) = replayed(&lines, &design).unwrap();
    let result = &prediction.results[0];
    assert_eq!(latencies(result, 0, Direction::Read).1, 20_000_000);
    assert!(prediction.notes.iter().any(|note| note.contains("0.5")));
}

#[test]
fn equal_replays_are_equal() {
    let text = device("a", 900).replace("'none'", "{ median = '2ms', p99 = '9ms' }");
    let mut lines = String::new();
    for number in 0..5_000_u64 {
        let arrival = number * 1_100_000 + number % 7 * 400_000;
        let op = ["read", "write", "read"][number as usize % 3];
        let _ = writeln!(lines, "{arrival},a,{op},{},4096,1,1,", number % 1000 * 4096);
    }
    let design = design(&text);
    let (_, one) = replayed(&lines, &design).unwrap();
    let (_, other) = replayed(&lines, &design).unwrap();
    assert_eq!(one, other);
    let seconds = one.results[0].intervals.iter();
    let ios = seconds.flat_map(|second| second.directions.iter().flatten());
    assert_eq!(ios.map(OpStats::ios).sum::<u64>(), 5_000);
}

#[test]
fn everything_that_is_wrong_comes_at_once_with_its_line() {
    let design = design(&(device("a", 1000) + &device("b", 1)));
    let lines = "0,a,read,1073741824,4096,1,1,\n1,c,read,0,1,1,1,\nx,a,read,0,1,1,1,\n";
    let error = replayed(lines, &design).unwrap_err();
    for part in [
        "t.csv, line 2: it ends at byte 1073745920",
        "t.csv, line 3: the design has no volume `c`; it has `a`, `b`",
        "t.csv, line 4: the arrival `x`",
        "hint: replay on the design that was served",
        "hint: mend the line, or name a trace",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let none = replayed("", &design).unwrap_err();
    assert!(
        none.contains("holds no I/O\n  hint: trace while I/O is done"),
        "{none}"
    );
    let mut replay = Replay::new("t.csv", open("0,a,read,0,1,1,1,\n"), &design, &same).unwrap();
    let other = open("0,a,read,0,2,1,1,\n");
    let error = replay.predict(other, &design, &mut Ignore, &|| false);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("line 2: it changed while it was read"),
        "{error}"
    );
}

/// What is written just before the host cache is written out is on its disk soon after, and a flush then finds nothing to do: at
/// the same moments of the trace's clock, wherever its first I/O stands.
#[test]
fn host_caches_are_written_out_when_they_were_while_served() {
    let text = "[[vm]]\nname = 'vm'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
        [[vm.volume]]\nname = 'w'\nmount = '/w'\ndisks = { type = 'P10' }\ncaching = 'read-write'\n\
        burst = 'off'\nlatency = 'none'\n";
    let design = design(text);
    for (first, flush, found_dirty) in [
        (0, 4_900, true),
        (0, 5_100, false),
        (4_000, 4_900, true),
        (4_000, 5_100, false),
        (4_000, 9_100, false),
        (1_004_000, 1_004_900, true),
        (1_004_000, 1_005_100, false),
    ] {
        let million = 1_000_000_u64;
        let lines = format!(
            "{},w,write,0,1048576,1,1,\n{},w,flush,0,0,1,1,\n",
            first * million,
            flush * million
        );
        let (_, prediction) = replayed(&lines, &design).unwrap();
        let result = &prediction.results[0];
        let flushes = result.workers[0].sync.as_ref().unwrap();
        let took = flushes.latency.max();
        assert_eq!(took > 0, found_dirty, "{first} {flush} {took}");
        let measured = Nanos::new((flush - first) * million + took);
        assert_eq!(result.measured, measured);
    }
}
