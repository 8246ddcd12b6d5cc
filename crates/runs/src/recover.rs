//! Reading a run that never reached its end, or whose record cannot be read.
//!
//! Stages that finished stand whole in the event log; of the stage that was cut off, the seconds until then are known, and
//! their histograms from the interval log.

use std::path::Path;

use fathom_record::{
    IntervalDirection, IntervalRecord, OpStats, Record, RunKind, SCHEMA, SetStats, StageRecord,
    ToolRecord, TotalRecord, Verdict, total_of_seconds,
};
use fathom_stats::from_hdr_base64;
use fathom_units::{Nanos, counted_ios};
use fathom_workload::{Direction, SetOperation, native};
use serde_json::Value;

use crate::files;
use crate::writer::{FAILED, LATE, STAGE_LINE};

/// The record of a run from its event log; `None` where not even that can be read. `unreadable`: what is wrong with the
/// `record.json` that is there; without it the run was cut short.
pub(crate) fn recover(folder: &Path, unreadable: Option<&str>) -> Option<Record> {
    // The last line may be torn, in mid-character even; lines before it are whole.
    let log = std::fs::read(folder.join(files::EVENTS)).ok()?;
    let log = String::from_utf8_lossy(&log);
    let events: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let first = events.first()?;
    let kind = match first["kind"].as_str() {
        Some("predict") => RunKind::Predict,
        Some("serve") => RunKind::Serve,
        _ => RunKind::Run,
    };
    let (note, interrupted) = cause(unreadable, &events);
    let mut record = Record {
        schema: SCHEMA.to_owned(),
        tool: ToolRecord {
            name: "fathom".to_owned(),
            version: String::new(),
            git: String::new(),
        },
        kind,
        title: first["what"].as_str().unwrap_or_default().to_owned(),
        stored: true,
        started_unix_ns: first["started_unix_ns"].as_u64()?,
        workload: workload_of(folder),
        design: Value::Null,
        environment: std::fs::read(folder.join(files::ENVIRONMENT))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default(),
        stages: Vec::new(),
        sweep: None,
        checks: Vec::new(),
        verdict: Verdict::Questionable,
        notes: vec![note],
        interrupted,
    };
    fill(&mut record, &events, folder);
    Some(record)
}

/// Why the record is made from events, and whether the run was cut short.
fn cause(unreadable: Option<&str>, events: &[Value]) -> (String, bool) {
    let last = events.last().filter(|last| last["event"] == "run-finished");
    let interrupted = match (unreadable, last) {
        (Some(_), Some(last)) => last["interrupted"] == true,
        _ => true,
    };
    let note = match unreadable {
        Some(reason) => format!(
            "`record.json` cannot be read ({reason}): these figures are those of `events.jsonl`, without checks"
        ),
        None => {
            "the run was cut short; a stage without jobs is known by its seconds alone".to_owned()
        }
    };
    (note, interrupted)
}

/// Puts what the events tell into the record.
fn fill(record: &mut Record, events: &[Value], folder: &Path) {
    let mut open: Option<Open> = None;
    let mut failed = 0;
    for event in events {
        match event["event"].as_str() {
            Some("stage-started") => {
                open = Some(Open {
                    index: event["index"].clone(),
                    stage: StageRecord::empty(event["name"].as_str().unwrap_or_default()),
                    ends: Vec::new(),
                    failed_before: failed,
                });
            }
            Some("interval") if event["measured"] == true => {
                if let Some(open) = &mut open {
                    open.push(event);
                }
            }
            Some(LATE) => {
                if let Some(open) = &mut open {
                    open.add_late(event);
                }
            }
            Some("stage-finished") => {
                open = None;
                record
                    .stages
                    .extend(serde_json::from_value(event["record"].clone()).ok());
            }
            Some(FAILED) => failed = event["count"].as_u64().unwrap_or(failed),
            Some("note") => record
                .notes
                .extend(event["text"].as_str().map(str::to_owned)),
            _ => {}
        }
    }
    let of_open = open
        .as_ref()
        .map_or(0, |open| failed.saturating_sub(open.failed_before));
    if of_open > 0 {
        let ios = counted_ios(of_open);
        record
            .notes
            .push(format!("{ios} had failed in the stage that was cut off"));
    }
    let cut_off = open.filter(|open| !open.stage.intervals.is_empty());
    record.stages.extend(cut_off.map(|open| {
        let mut stage = open.stage;
        stage.total = total_so_far(folder, &open.index, &stage);
        stage
    }));
}

/// A stage whose end was not read yet.
struct Open {
    index: Value,
    stage: StageRecord,
    /// Ends of its intervals, as the events tell them: from the start of the stage, with its warm-up.
    ends: Vec<Option<u64>>,
    /// I/Os of the stages before it that have failed.
    failed_before: u64,
}

impl Open {
    fn push(&mut self, event: &Value) {
        let stage = &mut self.stage;
        stage.measured_ns += event["length_ns"].as_u64().unwrap_or(0);
        stage.intervals.push(second_of(event, stage.measured_ns));
        self.ends.push(event["at_ns"].as_u64());
    }

    /// Adds what was told of a second after it. A second that the events do not have was torn.
    fn add_late(&mut self, event: &Value) {
        let end = event["at_ns"].as_u64();
        let place = self.ends.iter().rposition(|other| *other == end);
        let found = place.and_then(|place| self.stage.intervals.get_mut(place));
        if let (Some(second), Some(_)) = (found, end) {
            let late = second_of(event, second.at_ns);
            add_figures(&mut second.read, late.read);
            add_figures(&mut second.write, late.write);
            add_figures(&mut second.trim, late.trim);
            for (name, figures) in late.meta {
                let mut known = second.meta.remove(&name);
                add_figures(&mut known, Some(figures));
                second.meta.extend(known.map(|known| (name, known)));
            }
        }
    }
}

/// Two parts of one second: its percentiles are those of neither.
fn add_figures(mine: &mut Option<IntervalDirection>, late: Option<IntervalDirection>) {
    match (mine, late) {
        (Some(mine), Some(late)) if late.ios > 0 => {
            if mine.ios == 0 {
                *mine = late;
                return;
            }
            mine.ios += late.ios;
            mine.bytes += late.bytes;
            (mine.p50_ns, mine.p99_ns) = (None, None);
            mine.max_ns = mine.max_ns.max(late.max_ns);
        }
        (mine @ None, late) => *mine = late,
        (Some(_), _) => {}
    }
}

/// The workload as it was stored; `null` where there was none, or where it is no workload of this version.
fn workload_of(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join(files::WORKLOAD)).unwrap_or_default();
    let read = native::read_written(&text, files::WORKLOAD);
    read.map_or(Value::Null, |(workload, _)| native::to_json(&workload))
}

/// What a stage had done up to its last second: counts and bytes of its intervals, latency of the interval log.
fn total_so_far(folder: &Path, index: &Value, stage: &StageRecord) -> TotalRecord {
    let log = std::fs::read(folder.join(files::HISTOGRAMS)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let mut directions: [Option<OpStats>; 3] = [None, None, None];
    let mut operations = SetStats::new(&SetOperation::ALL, false);
    let heading = format!("{STAGE_LINE}{index}: ");
    let own = log
        .split_inclusive('\n')
        .skip_while(|line| !line.starts_with(&heading));
    // A line without its end is torn.
    for line in own.filter(|line| line.ends_with('\n')) {
        let Some((what, histogram)) = histogram_line(line.trim_end()) else {
            continue;
        };
        let way = Direction::ALL.into_iter().find(|way| way.name() == what);
        let operation = SetOperation::ALL.into_iter().find(|it| it.name() == what);
        if let Some(way) = way {
            let stats = directions[way as usize].get_or_insert_with(|| OpStats::new(false, false));
            stats.latency.merge(&histogram);
        } else if let Some(stats) = operation.and_then(|it| operations.of_mut(it)) {
            stats.latency.merge(&histogram);
        }
    }
    let seconds = |way: usize| {
        let seconds = stage.intervals.iter();
        seconds.filter_map(move |second| [second.read, second.write, second.trim][way])
    };
    for (way, stats) in directions.iter_mut().enumerate() {
        if let Some(stats) = stats {
            stats.bytes = seconds(way).map(|figures| figures.bytes).sum();
        }
    }
    let mut total = total_of_seconds(&directions, &operations, Nanos::new(stage.measured_ns));
    for (name, figures) in &mut total.meta {
        let largest = stage
            .intervals
            .iter()
            .filter_map(|second| second.meta.get(name));
        figures.latency_ns.max =
            (largest.map(|figures| figures.max_ns).max()).unwrap_or(figures.latency_ns.max);
    }
    // The interval log knows the largest value by its bucket alone, the seconds know it exactly.
    let largest = [0, 1, 2].map(|way| seconds(way).map(|figures| figures.max_ns).max());
    let ways = [&mut total.read, &mut total.write, &mut total.trim];
    for (figures, largest) in ways.into_iter().zip(largest) {
        if let (Some(figures), Some(largest)) = (figures, largest) {
            figures.latency_ns.max = largest;
        }
    }
    if let (Some(all), Some(largest)) = (&mut total.all, largest.into_iter().flatten().max()) {
        all.latency_ns.max = largest;
    }
    total
}

/// `Tag=read,START,LENGTH,MAX,HISTOGRAM`: the tag is a direction's name, or that of an operation on a file set.
fn histogram_line(line: &str) -> Option<(&str, fathom_stats::Histogram)> {
    let mut fields = line.strip_prefix("Tag=")?.split(',');
    let tag = fields.next()?;
    let histogram = from_hdr_base64(fields.nth(3)?).ok()?;
    Some((tag, histogram))
}

/// The second that an `interval` of the event log tells of, which ends at `at_ns`.
pub(crate) fn second_of(event: &Value, at_ns: u64) -> IntervalRecord {
    let figures = |figures: &Value| {
        let figure = |key: &str| figures[key].as_u64();
        Some(IntervalDirection {
            ios: figure("ios")?,
            bytes: figure("bytes")?,
            p50_ns: Some(figure("p50_ns")?),
            p99_ns: Some(figure("p99_ns")?),
            max_ns: figure("max_ns")?,
        })
    };
    let direction = |name: &str| figures(event.get(name)?);
    let meta = event["meta"].as_object().into_iter().flatten();
    IntervalRecord {
        at_ns,
        read: direction("read"),
        write: direction("write"),
        trim: direction("trim"),
        meta: meta
            .filter_map(|(name, value)| Some((name.clone(), figures(value)?)))
            .collect(),
    }
}
