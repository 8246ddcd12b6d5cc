//! What `fathom diskspd` takes from the events of a run: processor use and I/Os over time.

use fathom_dialects::diskspd::{Buckets, CpuUse, DiskspdInput};
use fathom_record::{Event, EventSink, Phase};
use fathom_session::{Console, Screen, Show};
use fathom_units::Nanos;

use super::processors::{CpuTicks, ticks, uses};

/// The consumer of a run's events.
pub struct Watcher<'a> {
    screen: Screen<'a>,
    before: Vec<CpuTicks>,
    after: Vec<CpuTicks>,
    /// Index of the first worker of each job.
    first_workers: Vec<usize>,
    buckets: Vec<Buckets>,
}

impl<'a> Watcher<'a> {
    /// For a run of `input`; progress goes to a terminal alone.
    pub fn new(input: &DiskspdInput, console: &'a dyn Console) -> Self {
        let mut first_workers = Vec::new();
        let mut workers = 0;
        for (_, job) in input.workload.jobs() {
            first_workers.push(workers);
            workers += job.workers as usize;
        }
        let settings = &input.settings;
        let buckets = settings.bucket_ms.map(|length| {
            let duration = Nanos::from_secs(settings.duration);
            vec![Buckets::new(Nanos::from_millis(length), duration); workers]
        });
        let show = if console.is_terminal() {
            Show::Progress
        } else {
            Show::Nothing
        };
        Self {
            screen: Screen::new(show, console),
            before: ticks(),
            after: Vec::new(),
            first_workers,
            buckets: buckets.unwrap_or_default(),
        }
    }

    /// Ends the showing: use of the processors, and I/Os of each worker over time.
    pub fn finish(mut self) -> (Vec<CpuUse>, Vec<Buckets>) {
        self.screen.close();
        if self.after.is_empty() {
            self.after = ticks();
        }
        (uses(&self.before, &self.after), self.buckets)
    }
}

impl EventSink for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.screen.event(event);
        match event {
            Event::StageStarted { .. } => self.before = ticks(),
            Event::Interval { phase, .. } if *phase != Phase::Measure => self.before = ticks(),
            Event::Interval { .. } => self.after = ticks(),
            Event::IoLog {
                job, worker, chunk, ..
            } => {
                let first = self.first_workers.get(*job).copied().unwrap_or(0);
                if let Some(buckets) = self.buckets.get_mut(first + *worker as usize) {
                    buckets.add(chunk);
                }
            }
            _ => {}
        }
    }
}
