//! What `fathom iometer` takes from the events of a run: each test's results, and what the machine did meanwhile.

use fathom_dialects::iometer::{self, IometerInput};
use fathom_record::{Event, EventSink, Phase, StageResult};
use fathom_session::{Console, Screen, Show};

use super::Output;
use super::machine::Counters;

/// The consumer of a run's events.
pub(super) struct Watcher<'a> {
    input: &'a IometerInput,
    screen: Screen<'a>,
    console: &'a dyn Console,
    results: Output,
    percentiles: Option<Output>,
    before: Counters,
    after: Option<Counters>,
}

impl<'a> Watcher<'a> {
    /// For a run of `input`; progress goes to a terminal alone.
    pub(super) fn new(
        input: &'a IometerInput,
        results: Output,
        percentiles: Option<Output>,
        console: &'a dyn Console,
    ) -> Self {
        let show = if console.is_terminal() {
            Show::Progress
        } else {
            Show::Notes
        };
        Self {
            input,
            screen: Screen::new(show, console),
            console,
            results,
            percentiles,
            before: Counters::now(),
            after: None,
        }
    }

    /// The head of the results.
    pub(super) fn begin(&mut self, now_unix_ns: u64) {
        let text = iometer::write_setup(self.input, now_unix_ns);
        self.results.add(&text, self.console);
    }

    /// The end of the results; whether any of them were lost.
    pub(super) fn finish(mut self, interrupted: bool) -> bool {
        self.screen.close();
        self.results
            .add(iometer::write_end(interrupted), self.console);
        self.results.lost || self.percentiles.is_some_and(|file| file.lost)
    }

    fn test_is_over(&mut self, result: &StageResult) {
        let Some(test) = self.input.tests.get(result.stage) else {
            return;
        };
        let after = self.after.take().unwrap_or_else(Counters::now);
        let machine = after.since(&self.before);
        let now = fathom_rawio::wall_clock();
        let mut text = iometer::write_specs(test);
        text += &iometer::write_results(self.input, test, result, &machine, now);
        self.results.add(&text, self.console);
        if let Some(file) = &mut self.percentiles {
            let text = iometer::write_percentiles(self.input, test, result);
            file.add(&text, self.console);
        }
    }
}

impl EventSink for Watcher<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.screen.event(event);
        match event {
            Event::StageStarted { .. } => {
                self.before = Counters::now();
                self.after = None;
            }
            Event::Interval { phase, .. } if *phase != Phase::Measure => {
                self.before = Counters::now();
            }
            Event::Interval { .. } => self.after = Some(Counters::now()),
            Event::Snapshot {
                over: true, result, ..
            } => self.test_is_over(result),
            _ => {}
        }
    }
}
