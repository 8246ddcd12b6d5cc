//! What is shown on standard error while a run goes.

use fathom_rawio::Clock;
use fathom_record::{Event, EventSink};
use fathom_report::{Panel, Progress, columns_of};
use fathom_units::Nanos;

use crate::Console;
use crate::live::{FRAME, Live};

/// How much is shown while a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// A line that is overwritten on a terminal; a line a second in a pipe.
    Progress,
    /// The same on a terminal. In a pipe notes alone: seconds of virtual time pass by the hundred.
    VirtualProgress,
    /// Notes alone: what makes a figure doubtful is said wherever standard error goes.
    Notes,
    /// Nothing.
    Nothing,
}

/// The progress line, or the panel.
pub struct Screen<'a> {
    progress: Progress,
    show: Show,
    console: &'a dyn Console,
    terminal: bool,
    open_line: usize,
    /// When the line may be drawn over for a second of virtual time.
    next: Nanos,
    live: Option<Live>,
}

impl<'a> Screen<'a> {
    /// A screen on standard error, of the progress line.
    pub fn new(show: Show, console: &'a dyn Console) -> Self {
        Self {
            progress: Progress::new(),
            show,
            console,
            terminal: console.is_terminal(),
            open_line: 0,
            next: Nanos::ZERO,
            live: None,
        }
    }

    /// The same with `panel` in place of the line, on a terminal that has room for it.
    #[must_use]
    pub fn with_panel(mut self, panel: Panel) -> Self {
        // What takes no longer than a look is not worth a panel.
        let first = match self.show {
            Show::Progress => Nanos::ZERO,
            Show::VirtualProgress => FRAME,
            Show::Notes | Show::Nothing => return self,
        };
        if self.terminal {
            self.live = Some(Live::new(panel, Clock::now() + first, self.console));
        }
        self
    }

    /// Ends an open line, or takes the panel away, so that what follows starts a new line.
    pub fn close(&mut self) {
        if let Some(live) = &mut self.live {
            live.close(self.console);
        }
        self.close_line();
    }

    /// Whether a second of virtual time is shown: as often as a panel is drawn, and in a pipe never.
    fn is_due(&mut self) -> bool {
        let now = Clock::now();
        let is_due = self.terminal && now >= self.next;
        if is_due {
            self.next = now + FRAME;
        }
        is_due
    }

    fn close_line(&mut self) {
        if self.open_line > 0 {
            let blank = " ".repeat(self.open_line);
            self.console.draw(&format!("\r{blank}\r"));
            self.open_line = 0;
        }
    }

    /// Shows `event` in the panel; false where there is none, or no room for it.
    fn show_panel(&mut self, event: &Event<'_>) -> bool {
        let Some(mut live) = self.live.take() else {
            return false;
        };
        let now = Clock::now();
        let waits = live.take(event, now);
        let place = (!waits).then(|| live.place(self.console)).flatten();
        // What is told of a stage is known to both.
        let line = match event {
            Event::Interval { .. } | Event::Layout { .. } => None,
            _ if waits || place.is_some() => self.progress.line(event, usize::MAX),
            _ => None,
        };
        if let Some(place) = place {
            self.close_line();
            match line {
                Some(line) => live.tell(&line, now, place, self.console),
                None => live.show(now, place, self.console),
            }
        }
        self.live = Some(live);
        waits || place.is_some()
    }
}

impl EventSink for Screen<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let is_told = match event {
            Event::WrongData { .. } | Event::JobFailed { .. } => true,
            Event::Note { .. } => self.show != Show::Nothing,
            _ => !matches!(self.show, Show::Nothing | Show::Notes),
        };
        if !is_told || self.show_panel(event) {
            return;
        }
        let is_second = matches!(event, Event::Interval { .. });
        if self.show == Show::VirtualProgress && is_second && !self.is_due() {
            return;
        }
        // A window may be resized while the run goes. Its last column stays free: some terminals wrap there.
        let columns = || self.console.columns();
        let width = self.terminal.then(columns).flatten();
        let Some(line) = self.progress.line(event, width.unwrap_or(usize::MAX)) else {
            return;
        };
        let stays = matches!(
            event,
            Event::Note { .. } | Event::WrongData { .. } | Event::JobFailed { .. }
        );
        if self.terminal && !stays {
            let width = columns_of(&line);
            let padding = " ".repeat(self.open_line.saturating_sub(width));
            self.console.draw(&format!("\r{line}{padding}"));
            self.open_line = width;
        } else {
            self.close_line();
            self.console.tell(&line);
        }
    }
}

/// Several consumers of one stream of events.
pub struct Fan<'a>(pub Vec<&'a mut dyn EventSink>);

impl EventSink for Fan<'_> {
    fn event(&mut self, event: &Event<'_>) {
        for sink in &mut self.0 {
            sink.event(event);
        }
    }

    fn wants_jobs(&self) -> bool {
        self.0.iter().any(|sink| sink.wants_jobs())
    }

    fn ends_stage(&mut self) -> bool {
        // All are asked: a sink may count how often it was.
        let asked = self.0.iter_mut().map(|sink| sink.ends_stage());
        asked.fold(false, |ends, own| ends | own)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use fathom_record::{IntervalStats, Phase, SetStats};

    use super::*;

    /// A terminal that has no room for a panel; how often something was drawn on it.
    #[derive(Debug, Default)]
    struct Small {
        drawn: AtomicU64,
    }

    impl Console for Small {
        fn print(&self, _: &str) {}

        fn tell(&self, _: &str) {}

        fn draw(&self, _: &str) {
            self.drawn.fetch_add(1, Ordering::Relaxed);
        }

        fn is_terminal(&self) -> bool {
            true
        }

        fn columns(&self) -> Option<usize> {
            Some(39)
        }

        fn size(&self) -> Option<(usize, usize)> {
            Some((40, 5))
        }

        fn is_in_foreground(&self) -> bool {
            true
        }
    }

    #[test]
    fn seconds_of_virtual_time_are_drawn_ten_times_a_second_at_most() {
        const SECONDS: u64 = 10_000;
        let drawn = |show| {
            let console = Small::default();
            let mut screen = Screen::new(show, &console);
            let began = Clock::now();
            for second in 1..=SECONDS {
                let interval = IntervalStats {
                    at: Nanos::from_secs(second),
                    length: Nanos::from_secs(1),
                    directions: [None, None, None],
                    set: SetStats::default(),
                };
                screen.event(&Event::Interval {
                    index: 0,
                    phase: Phase::Measure,
                    interval: &interval,
                });
            }
            let passed = Clock::now().saturating_sub(began);
            let frames = passed.get() / FRAME.get() + 1;
            (console.drawn.load(Ordering::Relaxed), frames)
        };
        let (count, frames) = drawn(Show::VirtualProgress);
        assert!((1..=frames).contains(&count), "{count} of {frames}");
        assert_eq!(drawn(Show::Progress).0, SECONDS);
    }

    /// Ends the stage when it has been asked so many times.
    struct Counting {
        asked: u32,
        ends_at: u32,
    }

    impl EventSink for Counting {
        fn event(&mut self, _: &Event<'_>) {}

        fn ends_stage(&mut self) -> bool {
            self.asked += 1;
            self.asked >= self.ends_at
        }
    }

    #[test]
    fn every_sink_is_asked_whether_a_stage_ends() {
        let counting = |ends_at| Counting { asked: 0, ends_at };
        let (mut first, mut second) = (counting(2), counting(3));
        let mut fan = Fan(vec![&mut first, &mut second]);
        let answers = [(); 3].map(|()| fan.ends_stage());
        assert_eq!(answers, [false, true, true]);
        assert_eq!((first.asked, second.asked), (3, 3));
    }
}
