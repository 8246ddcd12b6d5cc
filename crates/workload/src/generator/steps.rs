//! Intended start times at rates that change step by step, over and over.
//!
//! Between two starts lies what the rates of the steps add up to: one I/O, or one drawn from the distribution of gaps. A
//! step without a rate is passed over. Where the starts of a second stand together, each whole second has as many as its
//! rate says; what is left of an I/O counts in the next.

use fathom_units::Nanos;

use crate::{Pacing, RateSteps};

const NANOS_PER_SEC: u64 = 1_000_000_000;
/// The least that an I/O takes of a second: it is one, or has a byte.
const LEAST_UNIT: f64 = 1.0;

/// The steps under way.
#[derive(Debug)]
pub(super) struct Steps {
    /// Of each: I/Os or bytes a second, and the end of the step, ns from the first step's start.
    rates: Box<[(u64, u64)]>,
    paces_bytes: bool,
    together: bool,
    /// Index of the step that `next` is in, and the start of the present round.
    at: usize,
    round: u64,
    /// The next start, ns from the first, and a fraction of a nanosecond beside it.
    next: u64,
    fraction: f64,
    /// I/Os or bytes that this second has left, where they stand together.
    left: f64,
}

impl Steps {
    pub(super) fn new(steps: &RateSteps) -> Self {
        let mut end = 0u64;
        let mut paces_bytes = false;
        let list = steps.steps.iter().map(|step| {
            end = end.saturating_add(step.length.get());
            let rate = match step.rate {
                None => 0,
                Some(Pacing::Iops(iops)) => iops.get(),
                Some(Pacing::Bytes(bytes)) => {
                    paces_bytes = true;
                    bytes.get()
                }
            };
            (rate, end)
        });
        let mut steps = Self {
            rates: list.collect(),
            paces_bytes,
            together: steps.together,
            at: 0,
            round: 0,
            next: 0,
            fraction: 0.0,
            left: 0.0,
        };
        steps.begin();
        steps
    }

    /// The first start: behind the steps without a rate that stand first.
    fn begin(&mut self) {
        if self.is_idle() {
            return;
        }
        if self.together {
            self.left = self.of_second();
            self.pass_seconds(LEAST_UNIT);
        } else {
            self.pass(0.0);
        }
    }

    /// Whether any I/O will ever start.
    fn is_idle(&self) -> bool {
        self.rates.iter().all(|(rate, end)| *rate == 0 || *end == 0)
    }

    /// Intended start of the next I/O, of `length` bytes; `gap` is what lies behind it, in mean gaps.
    ///
    /// Invariant: where the starts of a second do not stand together, `next` is in a step with a rate.
    pub(super) fn next_start(&mut self, length: u32, gap: f64) -> u64 {
        let units = if self.paces_bytes {
            f64::from(length)
        } else {
            1.0
        };
        if self.is_idle() {
            return u64::MAX;
        }
        if self.together {
            return self.next_of_second(units);
        }
        let start = self.next;
        self.pass(units * gap);
        start
    }

    /// Intended start of the next I/O; where bytes stand together in their second, of one that has room in it.
    pub(super) fn peek(&self) -> u64 {
        if self.is_idle() { u64::MAX } else { self.next }
    }

    /// Goes on until the rates have added up to `units`, and at least to a step with a rate.
    fn pass(&mut self, mut units: f64) {
        loop {
            let (rate, end) = self.rates[self.at];
            let end = self.round.saturating_add(end);
            if end == u64::MAX {
                self.next = u64::MAX;
                return;
            }
            let left = (end - self.next.min(end)) as f64 - self.fraction;
            let holds = left * rate as f64 / NANOS_PER_SEC as f64;
            if rate > 0 && units < holds {
                let exact = self.fraction + units * NANOS_PER_SEC as f64 / rate as f64;
                let whole = exact as u64;
                self.fraction = exact - whole as f64;
                self.next = self.next.saturating_add(whole);
                return;
            }
            units -= holds.max(0.0);
            (self.next, self.fraction) = (end, 0.0);
            self.turn();
        }
    }

    /// To the next step.
    fn turn(&mut self) {
        self.at += 1;
        if self.at == self.rates.len() {
            self.at = 0;
            let whole = self.rates.last().map_or(0, |(_, end)| *end);
            self.round = self.round.saturating_add(whole);
        }
    }

    /// The start of the second that has room for this I/O; `next` is then that of the next.
    fn next_of_second(&mut self, units: f64) -> u64 {
        self.pass_seconds(units);
        if self.next == u64::MAX {
            return self.next;
        }
        let start = self.next;
        self.left -= units;
        self.pass_seconds(LEAST_UNIT);
        start
    }

    /// Goes on to the second that has room for so much.
    fn pass_seconds(&mut self, units: f64) {
        while self.left < units - 1e-6 {
            self.next = self.next.saturating_add(NANOS_PER_SEC);
            if self.next == u64::MAX {
                return;
            }
            self.left += self.of_second();
        }
    }

    /// I/Os or bytes of the second that begins now: of the step that it begins in.
    fn of_second(&mut self) -> f64 {
        while self.round.saturating_add(self.rates[self.at].1) <= self.next {
            self.turn();
        }
        self.rates[self.at].0 as f64
    }
}

impl RateSteps {
    /// How long all steps take together.
    pub fn length(&self) -> Nanos {
        let lengths = self.steps.iter().map(|step| step.length);
        lengths.fold(Nanos::ZERO, Nanos::saturating_add)
    }
}
