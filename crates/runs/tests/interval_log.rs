//! The interval log of a run folder, read by another's reader.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fathom_record::{Event, EventSink, IntervalStats, OpStats, Phase};
use fathom_runs::{Limits, RunStart, Store};
use fathom_units::Nanos;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

/// One second of a stage in which `reads` I/Os took from 1 µs on, each 1 µs longer; and one write.
fn second(at: u64, reads: u64) -> IntervalStats {
    let mut read = OpStats::new(false, false);
    (1..=reads).for_each(|micros| read.latency.record(micros * 1_000));
    let mut write = OpStats::new(false, false);
    write.latency.record(5_000_000);
    IntervalStats {
        at: Nanos::from_secs(at),
        length: Nanos::from_secs(1),
        directions: [Some(read), Some(write), None],
        set: fathom_record::SetStats::default(),
    }
}

#[test]
fn another_reader_finds_every_second() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().to_owned(), Limits::default());
    let environment = serde_json::json!({});
    let start = RunStart {
        kind: "run",
        what: "test",
        started_unix_ns: 1_767_323_045_250_000_000,
        workload: "# none\n",
        design: None,
        environment: &environment,
    };
    let mut writer = store.begin(&start).unwrap();
    for (index, name) in ["warm, then\nmeasured", "later"].into_iter().enumerate() {
        let (count, expected) = (2, None);
        writer.event(&Event::StageStarted {
            index,
            count,
            name,
            words: name,
            expected,
        });
        for (at, phase) in [(1, Phase::Warmup), (2, Phase::Measure), (3, Phase::Measure)] {
            let interval = &second(at, 1_000 * at);
            writer.event(&Event::Interval {
                index,
                phase,
                interval,
            });
        }
    }
    // Read while the run still goes: nothing waits for its end.
    let log = std::fs::read(writer.folder().join("histograms.hlog")).unwrap();
    let mut found = Vec::new();
    let mut started = None;
    for entry in IntervalLogIterator::new(&log) {
        match entry.unwrap() {
            LogEntry::StartTime(time) => started = Some(time),
            LogEntry::BaseTime(time) => panic!("no base time was written, but {time:?} read"),
            LogEntry::Interval(interval) => {
                let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let histogram: Histogram<u64> = Deserializer::new()
                    .deserialize(&mut bytes.as_slice())
                    .unwrap();
                let p99 = histogram.value_at_quantile(0.99);
                let tag = interval.tag().unwrap().as_str().to_owned();
                assert_eq!(interval.duration(), Duration::from_secs(1));
                if tag == "read" {
                    let expected = histogram.len() * 990;
                    assert!(p99.abs_diff(expected) * 100 <= expected, "p99 {p99}");
                    // The log gives the largest value in ms.
                    assert!((interval.max() - histogram.len() as f64 / 1_000.0).abs() < 0.001);
                }
                found.push((tag, interval.start_timestamp().as_secs(), histogram.len()));
            }
        }
    }
    assert_eq!(started, Some(Duration::from_millis(1_767_323_045_250)));
    // The second stage comes after the three seconds of the first; warm-up is in neither.
    let row = |tag: &str, start, count| (tag.to_owned(), start, count);
    let expected = [(1, 2_000), (2, 3_000), (4, 2_000), (5, 3_000)];
    let expected =
        expected.map(|(start, reads)| [row("read", start, reads), row("write", start, 1)]);
    assert_eq!(found, expected.concat());
}
