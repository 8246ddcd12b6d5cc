//! The I/O of a trace, replayed in virtual time: the same arrivals, on whatever design.
//!
//! An open loop: each I/O comes when it came, whatever has completed by then. The trace is read twice, piece by piece: once
//! for its volumes and for all that is wrong with it, and once for its I/Os.
//!
//! The first I/O comes as far into a period of the host caches as it came while they were served, since times of a served
//! trace count from the start of serving: what had been written out before an I/O there has been here too.
//!
//! Invariants: nothing of the trace is held but what is read ahead and what is under way, and of the latter there is a
//! bound ([`MOST_OUTSTANDING`]); the clock only goes forward.

mod place;
mod volume;

#[cfg(test)]
mod tests;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_model::{
    ClientId, Completed, Design, FLUSH_PERIOD, FileId, IoKind, Layout, Request, Storage, VolumeId,
};
use fathom_record::{Event, EventSink, StageResult, stage_record};
use fathom_units::{Bytes, Nanos};
use fathom_workload::Workload;
use fathom_workload::trace::{ServedEntry, ServedOp, TraceError, TraceReader};

use crate::gauges::Gauges;
use crate::intervals::Intervals;
use crate::plan::PredictError;
use crate::predict::Prediction;
use crate::stage::storage_rows;
use place::{Found, Place, Places};
use volume::{Counts, VolumeRun};

/// Most I/Os under way: where more come than storage carries, they would become ever more.
const MOST_OUTSTANDING: u64 = 4 << 20;

/// How many events pass between two looks at the stop signal.
const EVENTS_PER_LOOK: u32 = 1 << 14;

/// Name of the only stage.
const STAGE: &str = "replay";

/// A trace that was looked through.
#[derive(Debug)]
pub struct Replay {
    name: String,
    volumes: Vec<Replayed>,
    /// By each name of the trace, where its I/O goes.
    places: Vec<Place>,
    /// Arrival of its first I/O.
    first: Nanos,
    /// From the first arrival to the last.
    length: Nanos,
    workload: Workload,
}

/// A volume of a trace.
#[derive(Debug)]
struct Replayed {
    volume: VolumeId,
    client: ClientId,
    name: String,
    counts: Counts,
}

/// What to do where a trace asks for what a design does not have.
const OTHER_DESIGN: &str = "replay on the design that was served, or on one with volumes of the same names, as large as those; \
     `--map NAME=VOLUME` gives a name of the trace another volume";

impl Replay {
    /// Looks a whole trace through; `name` is that of its file, and `renamed` makes of each of its names the one to look for in
    /// the design.
    ///
    /// # Errors
    /// Everything that is wrong with it, as far as it fits a screen.
    pub fn new(
        name: &str,
        mut trace: TraceReader,
        design: &Design,
        renamed: &dyn Fn(&str) -> String,
    ) -> Result<Self, Diagnostics> {
        let mut complaints = Diagnostics::default();
        if !trace.has_times() {
            let message = format!(
                "{name} has no times (version 2 of fio's traces), so that it is not known when its I/O comes"
            );
            let hint = "record it anew by a fio that writes version 3, or run it: `fathom replay --to TARGET`";
            complaints.push(Diagnostic::error(message).hint(hint));
            return Err(complaints);
        }
        let counts = trace.counts();
        let mut found = Places::new(design);
        let mut span: Option<(Nanos, Nanos)> = None;
        while !complaints.is_full() {
            let entry = match trace.next_arrival() {
                Ok(None) => break,
                Ok(Some(entry)) => entry,
                Err(error) => {
                    complaints.push(unreadable(name, &error));
                    // A binary trace cannot be read on.
                    if matches!(error, TraceError::Io { .. }) || counts == "record" {
                        break;
                    }
                    continue;
                }
            };
            let (first, _) = span.unwrap_or((entry.arrival, entry.arrival));
            span = Some((first, entry.arrival));
            let at = || format!("{name}, {counts} {}", entry.line);
            while found.count() <= entry.volume as usize {
                let of_trace = renamed(&trace.files()[found.count()]);
                if let Err(message) = found.look_for(&of_trace) {
                    let message = format!("{}: {message}", at());
                    complaints.push(Diagnostic::error(message).hint(OTHER_DESIGN));
                }
            }
            if let Err(message) = found.add(&entry) {
                let message = format!("{}: {message}", at());
                complaints.push(Diagnostic::error(message).hint(OTHER_DESIGN));
            }
        }
        let Some((first, last)) = span.filter(|_| !complaints.has_errors()) else {
            if !complaints.has_errors() {
                let none = Diagnostic::error(format!("{name} holds no I/O"));
                complaints.push(none.hint("trace while I/O is done"));
            }
            return Err(complaints);
        };
        let Found { volumes, places } = found.placed().map_err(|message| {
            let error = Diagnostic::error(format!("{name}: {message}"));
            Diagnostics(vec![error.hint(OTHER_DESIGN)])
        })?;
        let length = last - first;
        let jobs = volumes.iter().map(|one| one.counts.job(&one.name, length));
        let workload = volume::workload(STAGE, jobs.collect());
        Ok(Self {
            name: name.to_owned(),
            volumes,
            places,
            first,
            length,
            workload,
        })
    }

    /// The trace as a workload: a job for each volume, with what came to it on the whole.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Replays `trace`, which must be the one that was looked through. Afterwards the depth of each job of
    /// [`Replay::workload`] is the most that it had outstanding.
    ///
    /// # Errors
    /// Where the trace has changed, or storage cannot keep up with it.
    pub fn predict(
        &mut self,
        trace: TraceReader,
        design: &Design,
        sink: &mut dyn EventSink,
        stop: &dyn Fn() -> bool,
    ) -> Result<Prediction, PredictError> {
        let mut notes = design.notes.clone();
        let ends = self.volumes.iter().map(|one| {
            let end = Bytes::new(one.counts.end);
            (one.volume, one.name.clone(), end)
        });
        let layout = Layout::new(design, ends);
        let layout =
            layout.map_err(|_| refused("a volume is smaller than the trace", OTHER_DESIGN))?;
        let mut storage = Storage::new(design, &layout, self.workload.seed)?;
        for one in &self.volumes {
            if design.starts_warm(one.volume) {
                storage.warm(one.volume, 0, one.counts.end);
            }
        }
        if self.volumes.iter().any(|one| one.counts.trims()) {
            notes
                .push("trims are charged as one I/O of no bytes each, which is assumed".to_owned());
        }
        for text in &notes {
            sink.event(&Event::Note { text });
        }
        sink.event(&Event::StageStarted {
            index: 0,
            count: 1,
            name: STAGE,
            words: STAGE,
            expected: Some(self.length),
        });
        let mut run = Run::new(self, &mut storage, sink);
        let interrupted = run.run(trace, stop)?;
        let (result, depths) = run.finish(interrupted);
        let stage = &mut self.workload.stages[0];
        for (job, depth) in stage.jobs.iter_mut().zip(depths) {
            job.depth = depth.max(1);
        }
        sink.event(&Event::Snapshot {
            index: 0,
            over: true,
            result: &result,
        });
        sink.event(&Event::StageFinished {
            index: 0,
            record: &stage_record(stage, &result),
        });
        Ok(Prediction {
            results: vec![result],
            notes,
        })
    }
}

/// A line that is none, or that the file does not give.
fn unreadable(name: &str, error: &TraceError) -> Diagnostic {
    let hint = match error {
        TraceError::Io { .. } => "see that the file can be read to its end",
        TraceError::Malformed { .. } => {
            "mend the line, or name a trace as `fathom serve --trace`, fio or blktrace writes it"
        }
    };
    Diagnostic::error(format!("{name}, {error}")).hint(hint)
}

fn refused(message: impl Into<String>, hint: &str) -> PredictError {
    PredictError::Input(Diagnostics(vec![Diagnostic::error(message).hint(hint)]))
}

/// A replay under way.
struct Run<'a> {
    replay: &'a Replay,
    storage: &'a mut Storage,
    sink: &'a mut dyn EventSink,
    volumes: Vec<VolumeRun>,
    intervals: Intervals,
    gauges: Gauges,
    completed: Vec<Completed>,
    outstanding: u64,
    /// When the first I/O comes, by the storage's clock, and its present time.
    start: Nanos,
    now: Nanos,
}

impl<'a> Run<'a> {
    fn new(replay: &'a Replay, storage: &'a mut Storage, sink: &'a mut dyn EventSink) -> Self {
        let used = |replayed: &Replayed| replayed.counts.used();
        let all = replay
            .volumes
            .iter()
            .map(used)
            .fold([false; 3], |all, one| {
                [0, 1, 2].map(|way| all[way] || one[way])
            });
        let mut intervals = Intervals::new(0, all);
        if sink.wants_jobs() {
            intervals = intervals.with_jobs(replay.volumes.iter().map(used));
        }
        let volumes = replay.volumes.iter().enumerate();
        let volumes = volumes.map(|(index, one)| VolumeRun::new(index, one.counts.used()));
        let start = Nanos::new(replay.first.get() % FLUSH_PERIOD.get());
        let mut run = Self {
            replay,
            storage,
            volumes: volumes.collect(),
            intervals,
            gauges: Gauges::default(),
            completed: Vec::new(),
            outstanding: 0,
            start,
            now: start,
            sink,
        };
        run.storage.restart_statistics(start);
        run.gauges.begin(start, run.storage);
        run.intervals.measure(Nanos::ZERO, run.sink);
        run
    }

    /// Whether it was stopped.
    fn run(
        &mut self,
        mut trace: TraceReader,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, PredictError> {
        let name = &self.replay.name;
        let mut events = 0;
        loop {
            let entry = trace.next_arrival();
            let entry = entry.map_err(|error| {
                PredictError::Input(Diagnostics(vec![unreadable(name, &error)]))
            })?;
            let arrival = entry.map(|entry| {
                let since_first = entry.arrival.saturating_sub(self.replay.first);
                self.start.saturating_add(since_first)
            });
            while self.outstanding > 0 || arrival.is_some() {
                let due = self.storage.next_due();
                // The model's go first.
                let Some(at) = due.filter(|at| arrival.is_none_or(|arrival| *at <= arrival)) else {
                    break;
                };
                self.go_to(at);
                self.storage.advance(&mut self.completed);
                self.settle();
                events += 1;
                if events % EVENTS_PER_LOOK == 0 && stop() {
                    return Ok(true);
                }
            }
            let (Some(entry), Some(arrival)) = (entry, arrival) else {
                return Ok(false);
            };
            self.go_to(arrival);
            self.submit(&entry)?;
            if self.outstanding > MOST_OUTSTANDING {
                let message = format!(
                    "{name}, line {}: {MOST_OUTSTANDING} I/Os are waiting {:.1} s after the first came; the design \
                     does not carry this trace",
                    entry.line,
                    self.elapsed().as_secs_f64()
                );
                return Err(refused(message, "replay it on a design with higher limits"));
            }
        }
    }

    fn go_to(&mut self, at: Nanos) {
        assert!(at >= self.now, "the clock only goes forward");
        if at >= self.gauges.due() {
            self.gauges.read_until(at, self.storage);
        }
        self.now = at;
    }

    /// How long ago the first I/O came.
    fn elapsed(&self) -> Nanos {
        self.now.saturating_sub(self.start)
    }

    fn submit(&mut self, entry: &ServedEntry) -> Result<(), PredictError> {
        let place = self.replay.places.get(entry.volume as usize);
        let end = entry.offset + u64::from(entry.length);
        let place = place.filter(|place| end <= place.end);
        let known = place.and_then(|place| Some((place, self.replay.volumes.get(place.volume)?)));
        let Some((
            &Place {
                volume: index,
                start,
                ..
            },
            replayed,
        )) = known
        else {
            let name = &self.replay.name;
            let message = format!("{name}, line {}: it changed while it was read", entry.line);
            return Err(refused(message, "replay a copy that nobody writes to"));
        };
        let elapsed = self.elapsed();
        let (slot, number) = self.volumes[index].begin(elapsed, entry);
        let kind = match entry.op {
            ServedOp::Read => IoKind::Read,
            ServedOp::Write | ServedOp::Zeroes => IoKind::Write,
            ServedOp::Flush => IoKind::Flush,
            ServedOp::Trim => IoKind::Trim,
        };
        let request = Request {
            volume: replayed.volume,
            client: replayed.client,
            // What is known of single files does not apply to a volume of blocks.
            file: FileId::NONE,
            kind,
            fua: entry.fua,
            offset: start + entry.offset,
            length: entry.length,
            stream: index as u64,
            index: number,
            tag: (index as u64) << 32 | u64::from(slot),
        };
        self.outstanding += 1;
        self.storage.submit(self.now, request, &mut self.completed);
        self.settle();
        Ok(())
    }

    fn settle(&mut self) {
        let elapsed = self.elapsed();
        for one in std::mem::take(&mut self.completed) {
            self.outstanding -= 1;
            let index = (one.tag >> 32) as usize;
            let done = self.volumes[index].complete(elapsed, one.tag as u32, &one.waits);
            if let Some((direction, bytes, latency)) = done {
                let io = (bytes, latency);
                self.intervals.record(elapsed, direction, io, self.sink);
                // Each has arrived at the time that the trace gives it.
                self.intervals.record_response(direction, latency);
                self.intervals.record_job(index, direction, io);
            } else if let Some(latency) = self.volumes[index].take_flushed() {
                self.intervals.record_sync(elapsed, latency, self.sink);
            }
        }
    }

    /// What was measured, and the most that each volume had outstanding.
    fn finish(self, interrupted: bool) -> (StageResult, Vec<u32>) {
        let ends = self.volumes.iter().map(VolumeRun::end);
        let end = ends.max().unwrap_or_default();
        let depths = self.volumes.iter().map(|volume| volume.most).collect();
        let intervals = self.intervals.finish(end, self.sink);
        let mut storage = storage_rows(self.storage, self.now);
        self.gauges.finish(self.now, self.storage, &mut storage);
        let workers = self.volumes.into_iter();
        let result = StageResult {
            measured: end,
            workers: workers.map(|volume| volume.finish(interrupted)).collect(),
            intervals,
            storage,
            ..StageResult::new(STAGE, 0)
        };
        (result, depths)
    }
}
