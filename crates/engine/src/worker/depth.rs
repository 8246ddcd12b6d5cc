//! Limits of the depth below the number of slots: a queue that drains before it is filled again, and the search for the
//! largest depth that keeps a latency.

use fathom_units::Nanos;
use fathom_workload::{AfterFound, LatencyTarget};

/// A queue that, once full, is filled again only when it has drained to a low mark.
#[derive(Debug)]
pub(super) struct Drain {
    full: u32,
    low: u32,
    draining: bool,
}

impl Drain {
    pub(super) fn new(full: u32, low: u32) -> Self {
        Self {
            full,
            low,
            draining: false,
        }
    }

    /// Whether nothing may be issued with `in_flight` outstanding.
    pub(super) fn holds_back(&mut self, in_flight: u32) -> bool {
        if in_flight >= self.full {
            self.draining = true;
        } else if in_flight <= self.low {
            self.draining = false;
        }
        self.draining
    }

    /// An I/O is issued, with which `in_flight` are outstanding. A worker whose queue is full has no room and asks for
    /// nothing, so that this is where it is met.
    pub(super) fn issued(&mut self, in_flight: u32) {
        self.draining |= in_flight >= self.full;
    }
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Searches,
    /// Even one I/O at a time is too slow, where none may be.
    TooSlow,
    /// Found, and nobody was told: what was measured by then is of other depths.
    JustFound,
    Found,
    /// Found, and run for a last window.
    Over,
}

/// The search of a depth: doubled while the target is met, then halved between the last that met it and the first that
/// did not. Each depth is tried for a window.
#[derive(Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    most: u32,
    depth: u32,
    /// Largest depth that met the target.
    good: u32,
    /// Smallest depth that did not.
    bad: u32,
    progress: Progress,
    window_end: Option<Nanos>,
    /// When the present depth began to be tried: what was issued before tells of another.
    since: Nanos,
    below: u64,
    all: u64,
}

impl DepthSearch {
    /// A search among 1 to `most`.
    pub(super) fn new(target: LatencyTarget, most: u32) -> Self {
        Self {
            target,
            most,
            depth: 1,
            good: 0,
            bad: most.saturating_add(1),
            progress: Progress::Searches,
            window_end: None,
            since: Nanos::ZERO,
            below: 0,
            all: 0,
        }
    }

    /// The depth that is tried, or was found.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    /// The depth that was found, or else the one that was tried last.
    pub(super) fn found(&self) -> u32 {
        if self.has_found() {
            self.good
        } else {
            self.depth
        }
    }

    fn has_found(&self) -> bool {
        !matches!(self.progress, Progress::Searches | Progress::TooSlow)
    }

    /// Whether even one I/O at a time is too slow, where none may be.
    pub(super) fn has_failed(&self) -> bool {
        self.progress == Progress::TooSlow
    }

    /// Whether the last window begins, once: the job's figures are to be of the depth that was found.
    pub(super) fn take_found(&mut self) -> bool {
        let just_found = self.progress == Progress::JustFound;
        if just_found {
            self.progress = Progress::Found;
        }
        just_found
    }

    /// Whether the job is over: the depth is found, and it was run for a last window.
    pub(super) fn is_over(&self) -> bool {
        self.progress == Progress::Over
    }

    /// An I/O took `latency`.
    pub(super) fn completed(&mut self, latency: Nanos, now: Nanos) {
        let end = *self.window_end.get_or_insert(now + self.target.window);
        let is_late = latency > self.target.most;
        if now.saturating_sub(latency) >= self.since {
            self.all += 1;
            self.below += u64::from(!is_late);
            // Where none may be late, one that is tells all, as in fio; the last window is for figures alone.
            let tells_all = is_late && self.target.percentile >= 100.0 && !self.has_found();
            if tells_all || now >= end {
                self.judge(now);
            }
        } else if now >= end && self.all > 0 {
            self.judge(now);
        }
    }

    fn judge(&mut self, now: Nanos) {
        let met = self.below as f64 * 100.0 >= self.all as f64 * self.target.percentile;
        (self.below, self.all) = (0, 0);
        self.window_end = Some(now + self.target.window);
        self.since = now;
        if self.has_found() {
            match self.target.then {
                AfterFound::Ends => self.progress = Progress::Over,
                AfterFound::GoesOn => self.follow(met),
            }
            return;
        }
        if met {
            self.good = self.depth;
        } else if self.depth == 1 {
            // There is none smaller to be tried: it goes on with this one until its time is over.
            if self.target.percentile >= 100.0 {
                self.progress = Progress::TooSlow;
            }
            return;
        } else {
            self.bad = self.depth;
        }
        if self.bad - self.good <= 1 {
            self.progress = match self.target.then {
                AfterFound::Ends => Progress::JustFound,
                AfterFound::GoesOn => Progress::Found,
            };
            self.depth = self.good.max(1);
        } else if self.bad > self.most {
            self.depth = (self.good * 2).min(self.most);
        } else {
            self.depth = u32::midpoint(self.good, self.bad);
        }
    }

    /// One step towards the target.
    fn follow(&mut self, met: bool) {
        self.depth = if met {
            (self.depth + 1).min(self.most)
        } else {
            (self.depth - 1).max(1)
        };
        self.good = self.depth;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fio's own default: none may be late, and the first that is ends a depth, at a depth of 1 the job.
    #[test]
    fn where_none_may_be_late_the_first_tells() {
        let target = LatencyTarget {
            most: Nanos::from_micros(1000),
            window: Nanos::from_millis(100),
            percentile: 100.0,
            then: AfterFound::Ends,
        };
        let (late, soon) = (Nanos::from_micros(1001), Nanos::from_micros(10));
        let mut search = DepthSearch::new(target, 64);
        search.completed(late, Nanos::from_millis(2));
        assert!(search.has_failed());
        let mut search = DepthSearch::new(target, 64);
        for tick in 1..=201 {
            search.completed(soon, Nanos::from_millis(tick));
        }
        assert_eq!(search.depth(), 4);
        search.completed(late, Nanos::from_millis(210));
        assert_eq!(search.depth(), 3);
        // What was issued at the depth before is late as well, and tells nothing of this one.
        search.completed(late, Nanos::from_millis(210));
        assert_eq!(search.depth(), 3);
        search.completed(soon, Nanos::from_millis(310));
        assert!(search.take_found() && !search.take_found());
        search.completed(late, Nanos::from_millis(320));
        assert!(!search.is_over());
        search.completed(soon, Nanos::from_millis(410));
        assert_eq!((search.is_over(), search.found()), (true, 3));
    }

    /// Searches on storage whose latency is `per_io` times the depth; completions come in batches, as they do.
    #[track_caller]
    fn check(per_io: u64, most: u32, expected: u32) {
        let target = LatencyTarget {
            most: Nanos::from_micros(1000),
            window: Nanos::from_millis(10),
            percentile: 90.0,
            then: AfterFound::Ends,
        };
        let mut search = DepthSearch::new(target, most);
        let mut now = Nanos::ZERO;
        for _ in 0..1_000_000 {
            if search.is_over() {
                break;
            }
            now += Nanos::from_micros(per_io);
            let latency = Nanos::from_micros(per_io * u64::from(search.depth()));
            for _ in 0..8 {
                search.completed(latency, now);
            }
        }
        assert!(search.is_over());
        assert_eq!(search.found(), expected);
    }

    /// As a worker does it: it asks as long as there is room, and takes completions only when there is none or it is told to
    /// wait.
    #[test]
    fn a_full_queue_drains_before_it_is_filled_again() {
        let mut drain = Drain::new(16, 8);
        let (mut in_flight, mut most, mut least) = (0, Vec::new(), Vec::new());
        for _ in 0..4 {
            while in_flight < 16 && !drain.holds_back(in_flight) {
                in_flight += 1;
                drain.issued(in_flight);
            }
            most.push(in_flight);
            while in_flight == 16 || drain.holds_back(in_flight) {
                in_flight -= 2;
            }
            least.push(in_flight);
        }
        assert_eq!((most, least), (vec![16; 4], vec![8; 4]));
    }

    #[test]
    fn the_largest_depth_that_keeps_the_target_is_found() {
        check(100, 64, 10);
        check(10, 64, 64);
        check(150, 128, 6);
        check(999, 64, 1);
    }

    /// A target that is missed at depth 1: some may be late, then it goes on; none may be, then that is the end.
    #[test]
    fn where_even_one_is_too_slow_there_is_nothing_to_find() {
        for (percentile, fails) in [(90.0, false), (100.0, true)] {
            let target = LatencyTarget {
                most: Nanos::from_micros(1000),
                window: Nanos::from_millis(10),
                percentile,
                then: AfterFound::Ends,
            };
            let mut search = DepthSearch::new(target, 64);
            for tick in 0..100 {
                search.completed(Nanos::from_micros(1001), Nanos::from_millis(tick));
            }
            assert!(!search.is_over());
            assert_eq!((search.found(), search.has_failed()), (1, fails));
        }
    }

    #[test]
    fn a_queue_drains_before_it_is_filled() {
        let mut drain = Drain::new(8, 3);
        let held: Vec<bool> = [7, 8, 7, 4, 3, 5, 8, 6]
            .map(|it| drain.holds_back(it))
            .into();
        assert_eq!(held, [false, true, true, true, false, false, true, true]);
    }
}
