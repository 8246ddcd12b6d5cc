//! What `fathom diskspd` takes from the events of a run: processor use, and what each worker tells of its I/O.

use fathom_dialects::diskspd::{CpuUse, DiskspdInput, Tally};
use fathom_record::{Event, EventSink, LogChunk, Phase};
use fathom_session::{Console, Screen};

use crate::measure::{View, progress};

use super::processors::uses;
use crate::processors::{CpuTicks, ticks};

/// The consumer of a run's events.
pub struct Watcher<'a> {
    screen: Screen<'a>,
    spans: Vec<Span>,
}

/// What was seen of a stage: a timespan, or its cool-down.
#[derive(Default)]
pub struct Span {
    before: Vec<CpuTicks>,
    after: Vec<CpuTicks>,
    /// Index of the first worker of each job.
    first_workers: Vec<usize>,
    /// What each worker told.
    pub tallies: Vec<Tally>,
}

impl Span {
    /// Use of the processors while it was measured.
    pub fn cpus(&self) -> Vec<CpuUse> {
        if self.after.is_empty() {
            return uses(&self.before, &ticks());
        }
        uses(&self.before, &self.after)
    }

    /// One for each stage of `input`.
    pub fn all(input: &DiskspdInput) -> Vec<Self> {
        let stages = input.workload.stages.iter().enumerate();
        let spans = stages.map(|(index, stage)| {
            let mut first_workers = Vec::new();
            let mut workers = 0;
            for job in &stage.jobs {
                first_workers.push(workers);
                workers += job.workers as usize;
            }
            Self {
                first_workers,
                tallies: Tally::of_stage(input, index),
                ..Self::default()
            }
        });
        spans.collect()
    }

    /// Counts what a worker of a job tells.
    pub fn tell(&mut self, (job, worker): (usize, u32), chunk: &LogChunk) {
        let first = self.first_workers.get(job).copied().unwrap_or(0);
        if let Some(tally) = self.tallies.get_mut(first + worker as usize) {
            tally.add(chunk);
        }
    }
}

impl<'a> Watcher<'a> {
    /// For a run of `input`; progress goes to a terminal alone.
    pub fn new(input: &DiskspdInput, console: &'a dyn Console) -> Self {
        Self {
            spans: Span::all(input),
            screen: progress(console),
        }
    }

    /// What was seen of the stage of this index.
    pub fn span(&self, stage: usize) -> Option<&Span> {
        self.spans.get(stage)
    }
}

impl View for Watcher<'_> {
    fn close(&mut self) {
        self.screen.close();
    }
}

impl EventSink for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.screen.event(event);
        let (Event::StageStarted { index, .. }
        | Event::Interval { index, .. }
        | Event::IoLog { index, .. }) = event
        else {
            return;
        };
        let Some(span) = self.spans.get_mut(*index) else {
            return;
        };
        match event {
            Event::Interval { phase, .. } if *phase == Phase::Measure => span.after = ticks(),
            Event::StageStarted { .. } | Event::Interval { .. } => span.before = ticks(),
            Event::IoLog {
                job, worker, chunk, ..
            } => span.tell((*job, *worker), chunk),
            _ => {}
        }
    }
}
