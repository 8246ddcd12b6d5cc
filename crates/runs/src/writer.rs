//! Writing a run folder while the run goes.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fathom_record::{Event, EventSink, IntervalStats, IoFailure, OpStats, Phase, Record};
use fathom_stats::to_hdr_log_base64;
use fathom_units::Nanos;
use fathom_workload::Direction;
use serde_json::json;

use crate::{Limits, Store, files};

/// What the newest run is called.
const LAST: &str = "last";

/// How a line of the interval log begins that names the stage of the lines after it; a comment to other readers.
pub(crate) const STAGE_LINE: &str = "#[Stage ";

/// The event of what belongs to a second that was written before.
pub(crate) const LATE: &str = "interval-late";

/// The event of how many I/Os of the run have failed so far.
pub(crate) const FAILED: &str = "failed";

/// What is known of a run before its first I/O.
#[derive(Debug, Clone, Copy)]
pub struct RunStart<'a> {
    /// `run`, `predict` or `serve`.
    pub kind: &'a str,
    /// Short name of what is run, for lists.
    pub what: &'a str,
    /// Wall-clock start, ns since the epoch.
    pub started_unix_ns: u64,
    /// The resolved workload as a native file.
    pub workload: &'a str,
    /// The design file as it was read.
    pub design: Option<&'a str>,
    /// As [`crate::environment`] gives it.
    pub environment: &'a serde_json::Value,
}

/// Writes one run folder; consumes the run's events.
#[derive(Debug)]
pub struct RunWriter {
    folder: PathBuf,
    /// Locked as long as the run goes, also where it can be written no more.
    events: File,
    events_torn: bool,
    histograms: Option<File>,
    /// Where the present stage begins in the interval log, and how far the log has come. Stages count their own time, so
    /// that the log puts one after another, without the pauses between them.
    stage_begins: Nanos,
    log_ends: Nanos,
    /// How many I/Os of the run have failed, until that is written: with the next second, however often it was told.
    failed: Option<u64>,
    failure: Option<String>,
    /// What was removed to make room, until it is told.
    note: Option<String>,
}

impl RunWriter {
    /// Fills the empty folder `folder` with what is known at the start. `note`: what was removed to make room.
    pub(crate) fn create(
        folder: PathBuf,
        start: &RunStart<'_>,
        note: Option<String>,
    ) -> io::Result<Self> {
        std::fs::write(folder.join(files::WORKLOAD), start.workload)?;
        if let Some(design) = start.design {
            std::fs::write(folder.join(files::DESIGN), design)?;
        }
        std::fs::write(
            folder.join(files::ENVIRONMENT),
            start.environment.to_string(),
        )?;
        let append = |name: &str| {
            OpenOptions::new()
                .create_new(true)
                .append(true)
                .open(folder.join(name))
        };
        let mut histograms = append(files::HISTOGRAMS)?;
        let seconds = start.started_unix_ns as f64 / 1e9;
        writeln!(histograms, "#[Histogram log format version 1.3]")?;
        writeln!(
            histograms,
            "#[StartTime: {seconds:.3} (seconds since epoch)]"
        )?;
        writeln!(
            histograms,
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
        )?;
        let events = append(files::EVENTS)?;
        // Until its first line is written nobody takes the folder for a run, so that nobody else holds the lock. Where a file
        // system has no locks, a run without its record is not removed.
        let _ = events.try_lock();
        let mut writer = Self {
            folder,
            events,
            events_torn: false,
            histograms: Some(histograms),
            stage_begins: Nanos::ZERO,
            log_ends: Nanos::ZERO,
            failed: None,
            failure: None,
            note,
        };
        writer.begin_with(&json!({
            "event": "run-started",
            "kind": start.kind,
            "what": start.what,
            "started_unix_ns": start.started_unix_ns,
        }))?;
        Ok(writer)
    }

    /// The first line, without which nobody takes the folder for a run.
    fn begin_with(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.events.write_all(format!("{value}\n").as_bytes())
    }

    /// Removes the folder of a run that came to nothing.
    pub fn discard(self) {
        // What cannot be removed shows as a run that was cut short, which it is.
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the run can be asked for as: `last`, or its id where another is the last, since its clock was set back or others
    /// run at the same time.
    pub fn name(&self) -> String {
        let id = self.folder.file_name().map(|id| id.to_string_lossy());
        let id = id.unwrap_or_default().into_owned();
        let store = self.folder.parent().map(Path::to_owned);
        let store = store.map(|folder| Store::new(folder, Limits::default()));
        match store.and_then(|store| store.name_of(LAST).ok()) {
            Some(last) if last == id => LAST.to_owned(),
            _ => id,
        }
    }

    /// What was removed to make room for this run, if anything; told once.
    pub fn take_note(&mut self) -> Option<String> {
        self.note.take()
    }

    /// Stores the record; returns what the user should know: what could not be stored, and what was removed if that was not
    /// taken before.
    pub fn finish(mut self, record: &Record) -> Option<String> {
        self.failed_line();
        self.line(&json!({ "event": "run-finished", "interrupted": record.interrupted }));
        let temporary = self.folder.join("record.json.part");
        let stored = serde_json::to_vec(record)
            .map_err(io::Error::from)
            .and_then(|document| {
                let mut file = File::create(&temporary)?;
                file.write_all(&document)?;
                file.sync_all()?;
                std::fs::rename(&temporary, self.folder.join(files::RECORD))
            });
        if let Err(error) = stored {
            // A torn one would only take room.
            let _ = std::fs::remove_file(&temporary);
            self.fail(&error);
        }
        let told: Vec<String> = self.note.into_iter().chain(self.failure).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// The same of a record that is shown afterwards: one that found no room is told as not stored, so that nobody is sent
    /// to look for it.
    pub fn finish_shown(self, record: &mut Record) -> Option<String> {
        let place = self.folder.join(files::RECORD);
        let told = self.finish(record);
        record.stored = place.is_file();
        told
    }

    fn line(&mut self, value: &serde_json::Value) {
        // One write a line, so that a run killed at any moment leaves whole lines.
        let text = format!("{value}\n");
        if self.events_torn {
            return;
        }
        if let Err(error) = self.events.write_all(text.as_bytes()) {
            self.events_torn = true;
            self.fail(&error);
        }
    }

    fn failed_line(&mut self) {
        if let Some(count) = self.failed.take() {
            self.line(&json!({"event": FAILED, "count": count}));
        }
    }

    fn histogram_lines(&mut self, interval: &IntervalStats) {
        let mut text = String::new();
        let start = self.stage_begins + interval.at.saturating_sub(interval.length);
        let (start, length) = (start.as_secs_f64(), interval.length.as_secs_f64());
        let ways = Direction::ALL.into_iter().filter_map(|way| {
            let stats = interval.directions[way as usize].as_ref();
            Some((way.name(), stats?))
        });
        let operations = interval.set.0.iter();
        let operations = operations.map(|(operation, stats)| (operation.name(), stats));
        for (name, stats) in ways.chain(operations).filter(|(_, stats)| stats.ios() > 0) {
            let max = stats.latency.max() as f64 / 1e6;
            match to_hdr_log_base64(&stats.latency) {
                Ok(encoded) => {
                    let _ = writeln!(text, "Tag={name},{start:.3},{length:.3},{max:.3},{encoded}");
                }
                Err(error) => self.fail(&error),
            }
        }
        self.histogram_text(&text);
    }

    /// A comment in the interval log: what follows belongs to this stage.
    fn stage_line(&mut self, index: usize, name: &str) {
        let name: String = name
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        self.histogram_text(&format!("{STAGE_LINE}{index}: {name}]\n"));
    }

    fn histogram_text(&mut self, text: &str) {
        let written = self
            .histograms
            .as_mut()
            .map_or(Ok(()), |file| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            self.histograms = None;
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &dyn std::error::Error) {
        let folder = self.folder.display();
        self.failure
            .get_or_insert_with(|| format!("the run was not stored whole in {folder}: {error}"));
    }
}

impl EventSink for RunWriter {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Layout { path, done, total } => {
                self.line(&json!({"event": "layout", "path": path, "done_bytes": done.get(), "total_bytes": total.get()}));
            }
            Event::StageStarted {
                index,
                count,
                name,
                words,
                expected,
            } => {
                // What the stage itself adds is told from there.
                self.failed_line();
                self.stage_begins = self.log_ends;
                self.stage_line(*index, name);
                let expected = expected.map(Nanos::get);
                self.line(&json!({"event": "stage-started", "index": index, "count": count, "name": name, "words": words, "expected_ns": expected}));
            }
            Event::Interval {
                index,
                phase,
                interval,
            } => {
                let measured = *phase == Phase::Measure;
                self.failed_line();
                self.log_ends = self.stage_begins + interval.at;
                self.line(&interval_json(*index, measured, interval));
                if measured {
                    self.histogram_lines(interval);
                }
            }
            Event::IntervalLate { index, interval } => {
                let mut line = interval_json(*index, true, interval);
                line["event"] = json!(LATE);
                self.line(&line);
                self.histogram_lines(interval);
            }
            Event::Note { text } => self.line(&json!({"event": "note", "text": text})),
            Event::WrongData { text } => {
                self.line(&json!({"event": "wrong-data", "text": text}));
            }
            Event::IoFailed { index, failure } => self.line(&io_failed_json(*index, failure)),
            Event::JobFailed { text } => {
                self.line(&json!({"event": "job-failed", "text": text}));
            }
            Event::MoreFailed { count } => self.failed = Some(*count),
            // Logs are written where the job asked for them; a snapshot is what the intervals add up to. Syncs are in what a
            // stage comes to.
            Event::IoLog { .. }
            | Event::JobInterval { .. }
            | Event::Syncs { .. }
            | Event::Snapshot { .. } => {}
            Event::StageFinished { index, record } => {
                self.failed_line();
                let whole = serde_json::to_value(record).unwrap_or_default();
                self.line(&json!({"event": "stage-finished", "index": index, "record": whole}));
            }
        }
    }
}

fn io_failed_json(index: usize, failure: &IoFailure) -> serde_json::Value {
    let mut line = json!({
        "event": "io-failed",
        "index": index,
        "job": failure.job,
        "at_unix_ns": failure.at_unix_ns,
        "operation": failure.operation,
        "path": failure.path,
        "offset_bytes": failure.offset,
        "length_bytes": failure.length,
        "errno": failure.errno,
    });
    if !failure.wrong.is_empty() {
        line["wrong"] = json!(failure.wrong);
    }
    line
}

fn interval_json(index: usize, measured: bool, interval: &IntervalStats) -> serde_json::Value {
    let figures = |stats: &OpStats| {
        json!({
            "ios": stats.ios(),
            "bytes": stats.bytes,
            "p50_ns": stats.latency.percentile(50.0),
            "p99_ns": stats.latency.percentile(99.0),
            "max_ns": stats.latency.max(),
        })
    };
    let direction = |way: Direction| interval.directions[way as usize].as_ref().map(figures);
    let done = interval.set.0.iter().filter(|(_, stats)| stats.ios() > 0);
    let meta: serde_json::Map<_, _> = done
        .map(|(operation, stats)| (operation.name().to_owned(), figures(stats)))
        .collect();
    json!({
        "event": "interval",
        "index": index,
        "measured": measured,
        "at_ns": interval.at.get(),
        "length_ns": interval.length.get(),
        "read": direction(Direction::Read),
        "write": direction(Direction::Write),
        "trim": direction(Direction::Trim),
        "meta": meta,
    })
}
