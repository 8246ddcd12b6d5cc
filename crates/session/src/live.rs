//! The panel on a terminal: when it is drawn, and what becomes of it meanwhile.
//!
//! Invariants: it is drawn ten times a second at most, besides once at the end of each stage and above which a message came,
//! however fast virtual time goes. Each frame is made for the terminal as it is then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_record::Event;
use fathom_report::{Panel, Room};
use fathom_units::Nanos;
use signal_hook::consts::SIGCONT;

use crate::Console;
use crate::frame::Frame;

/// Between two frames.
pub(crate) const FRAME: Nanos = Nanos::from_millis(100);

/// A panel and what stands of it.
#[derive(Debug)]
pub(crate) struct Live {
    panel: Panel,
    frame: Frame,
    /// Whether what stands is older than what is known.
    is_old: bool,
    /// Whether there was room when that was last asked.
    fits: bool,
    /// When the next frame may be drawn.
    next: Nanos,
    /// Whether the program was stopped and goes on: then a shell has written below the panel.
    resumed: Arc<AtomicBool>,
}

/// Where a panel has room.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    room: Room,
    columns: usize,
}

impl Live {
    /// That of `panel`, first drawn at `first` or later.
    pub(crate) fn new(panel: Panel, first: Nanos, console: &dyn Console) -> Self {
        let resumed = Arc::new(AtomicBool::new(false));
        // Without it, `fg` draws over what the shell wrote, and nothing worse.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&resumed));
        let mut live = Self {
            panel,
            frame: Frame::default(),
            is_old: false,
            fits: false,
            next: first,
            resumed,
        };
        live.place(console);
        live
    }

    /// Takes what happened at `now`; says whether nothing is to be shown of it yet.
    pub(crate) fn take(&mut self, event: &Event<'_>, now: Nanos) -> bool {
        self.panel.event(event);
        let is_due = match event {
            Event::Layout { .. } | Event::StageStarted { .. } | Event::Interval { .. } => {
                self.is_old = true;
                now >= self.next
            }
            // The last frame of what was seen before.
            Event::Snapshot { over: true, .. } => self.is_old && self.frame.stands(),
            Event::Note { .. } | Event::WrongData { .. } | Event::JobFailed { .. } => true,
            _ => false,
        };
        self.fits && !is_due
    }

    /// Where it has room for now; where it has none, what stood is gone.
    pub(crate) fn place(&mut self, console: &dyn Console) -> Option<Place> {
        let is_own = console.is_in_foreground();
        if self.resumed.swap(false, Ordering::Relaxed) || !is_own {
            // What others have written since is not erased.
            self.frame.forget();
        }
        let place = console
            .size()
            .filter(|_| is_own)
            .and_then(|(columns, rows)| {
                let room = Room::of_terminal(columns, rows);
                if room.is_none() {
                    draw(&self.frame.erase(columns), console);
                }
                Some(Place {
                    room: room?,
                    columns,
                })
            });
        self.fits = place.is_some();
        place
    }

    /// Draws it as things stand.
    pub(crate) fn show(
        &mut self,
        now: Nanos,
        Place { room, columns }: Place,
        console: &dyn Console,
    ) {
        self.next = now + FRAME;
        self.is_old = false;
        let lines = self.panel.lines(room);
        draw(&self.frame.draw(&lines, columns), console);
    }

    /// Tells a line, or several, that stay above the panel.
    pub(crate) fn tell(&mut self, line: &str, now: Nanos, place: Place, console: &dyn Console) {
        let stood = self.frame.stands();
        draw(&self.frame.erase(place.columns), console);
        console.tell(line);
        if stood {
            self.show(now, place, console);
        }
    }

    /// Takes it away.
    pub(crate) fn close(&mut self, console: &dyn Console) {
        if let Some(Place { columns, .. }) = self.place(console) {
            draw(&self.frame.erase(columns), console);
        }
        self.frame.forget();
    }
}

fn draw(text: &str, console: &dyn Console) {
    if !text.is_empty() {
        console.draw(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Mutex;

    use fathom_record::{IntervalStats, Phase, RunKind, SetStats, StageResult};

    /// A terminal of that size, what was written to it, and whether it is this program's.
    #[derive(Debug)]
    struct Fake {
        size: Mutex<(usize, usize)>,
        is_own: AtomicBool,
        written: Mutex<String>,
    }

    impl Fake {
        fn new() -> Self {
            Self {
                size: Mutex::new((80, 24)),
                is_own: AtomicBool::new(true),
                written: Mutex::default(),
            }
        }

        /// What was written since this was last asked.
        fn take(&self) -> String {
            std::mem::take(&mut *self.written.lock().unwrap())
        }
    }

    impl Console for Fake {
        fn print(&self, _: &str) {}

        fn tell(&self, line: &str) {
            self.draw(&format!("{line}\n"));
        }

        fn draw(&self, text: &str) {
            self.written.lock().unwrap().push_str(text);
        }

        fn is_terminal(&self) -> bool {
            true
        }

        fn columns(&self) -> Option<usize> {
            Some(79)
        }

        fn size(&self) -> Option<(usize, usize)> {
            Some(*self.size.lock().unwrap())
        }

        fn is_in_foreground(&self) -> bool {
            self.is_own.load(Ordering::Relaxed)
        }
    }

    const BEGUN: Event<'static> = Event::StageStarted {
        index: 0,
        count: 1,
        name: "reads",
        words: "reads",
        expected: None,
    };

    fn live(console: &Fake, first: Nanos) -> Live {
        let panel = Panel::new(RunKind::Run, "reads on /mnt", vec![1]);
        Live::new(panel, first, console)
    }

    /// Whether `event` at so many ms draws anything.
    fn draws(live: &mut Live, event: &Event<'_>, ms: u64, console: &Fake) -> bool {
        let now = Nanos::from_millis(ms);
        if !live.take(event, now) {
            let place = live.place(console).unwrap();
            live.show(now, place, console);
        }
        !console.take().is_empty()
    }

    fn second(live: &mut Live, ms: u64, console: &Fake) -> bool {
        let interval = IntervalStats {
            at: Nanos::from_secs(1),
            length: Nanos::from_secs(1),
            directions: [None, None, None],
            set: SetStats::default(),
        };
        let event = Event::Interval {
            index: 0,
            phase: Phase::Measure,
            interval: &interval,
        };
        draws(live, &event, ms, console)
    }

    #[test]
    fn ten_frames_a_second_are_drawn_and_the_last_of_each_stage() {
        let console = Fake::new();
        let mut live = live(&console, Nanos::from_millis(100));
        // What is over at once has no panel.
        assert!(!draws(&mut live, &BEGUN, 50, &console));
        let result = StageResult::new("reads", 0);
        let over = Event::Snapshot {
            index: 0,
            over: true,
            result: &result,
        };
        assert!(!draws(&mut live, &over, 60, &console));
        let drawn = (0..10_000).filter(|tenth| second(&mut live, 100 + tenth / 10, &console));
        assert_eq!(drawn.count(), 10);
        assert!(draws(&mut live, &over, 1100, &console));
        // Once, where nothing is new.
        assert!(!draws(&mut live, &over, 1101, &console));
        assert!(!second(&mut live, 1199, &console));
        assert!(second(&mut live, 1200, &console));
        // What shows nothing new is no reason.
        assert!(!draws(
            &mut live,
            &Event::MoreFailed { count: 3 },
            5000,
            &console
        ));
    }

    #[test]
    fn messages_stand_above_and_nothing_is_left_in_the_end() {
        let console = Fake::new();
        let mut live = live(&console, Nanos::ZERO);
        let tell = |live: &mut Live| {
            let place = live.place(&console).unwrap();
            live.tell("note: a", Nanos::ZERO, place, &console);
            console.take()
        };
        assert_eq!(tell(&mut live), "note: a\n");
        assert!(draws(&mut live, &BEGUN, 0, &console));
        let told = tell(&mut live);
        let rows = told.matches("\r\n").count();
        let (erased, rest) = told.split_once("\u{1b}[J").unwrap();
        assert_eq!(erased, format!("\r\u{1b}[{rows}A"));
        assert!(rest.starts_with("note: a\n\rrun: reads on /mnt"), "{rest}");
        live.close(&console);
        assert_eq!(console.take(), format!("\r\u{1b}[{rows}A\u{1b}[J"));
        live.close(&console);
        assert_eq!(console.take(), "");
    }

    #[test]
    fn what_has_no_room_is_erased_and_what_is_behind_a_prompt_is_not() {
        let console = Fake::new();
        let mut live = live(&console, Nanos::ZERO);
        assert!(draws(&mut live, &BEGUN, 0, &console));
        *console.size.lock().unwrap() = (40, 24);
        assert!(live.place(&console).is_none());
        assert!(console.take().ends_with("A\u{1b}[J"));
        // Then it is the line's turn, at each event.
        assert!(!live.take(&BEGUN, Nanos::ZERO));
        *console.size.lock().unwrap() = (80, 24);
        assert!(draws(&mut live, &BEGUN, 200, &console));
        console.is_own.store(false, Ordering::Relaxed);
        assert!(live.place(&console).is_none());
        live.close(&console);
        assert_eq!(console.take(), "");
    }

    /// A shell wrote below the panel while the program was stopped.
    #[test]
    fn what_goes_on_is_drawn_anew() {
        let console = Fake::new();
        let mut live = live(&console, Nanos::ZERO);
        assert!(draws(&mut live, &BEGUN, 0, &console));
        live.resumed.store(true, Ordering::Relaxed);
        let place = live.place(&console).unwrap();
        live.show(Nanos::ZERO, place, &console);
        assert!(console.take().starts_with("\rrun: reads on /mnt"));
    }
}
