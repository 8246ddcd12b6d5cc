//! The model in real time: when it must be looked at again, and what is due.
//!
//! **Two clocks.** The client's moments are the model's: a request arrives in the model when the client sent it, and is due
//! when the client should have the answer. The server sees requests later than that and its answers are seen later still; it
//! therefore lets the model run ahead of the clock by what an answer takes on its way, and dates arrivals back by what a
//! request takes ([`crate::path`]): nothing, where it was looked for.
//!
//! **The start.** The model's own clock begins with serving, as that of a prediction begins with its workload: when host caches
//! are written out, and what credits there are, does not follow from how long this machine has been up.
//!
//! **Lateness.** A wake-up that comes late makes an answer late, and a client that waits for it sends its next request late.
//! An I/O that waited for a limit hands its lateness on to the next request of its connection, which is dated back by as
//! much (at most [`CARRY_MAX`]): so a limit keeps its rate whatever wake-ups do. Where nothing but limits takes time, the client's
//! own wake-up is made good too: the next request is dated back to the moment for which the answer was due, as far as that.
//! I/Os that waited for no limit hand nothing on: their latency would be cut short.
//!
//! **Order.** What came together comes into the model a nanosecond apart, in its order. So the arrivals of a trace tell the order
//! in which the model had them, and a prediction of that trace has the same one; by what stands first in the trace, those of
//! one moment would be in the order in which they were done, the quick ones first.
//!
//! Invariants: an arrival is never dated before what the model has already let happen, and no two at one time; nothing is
//! answered before it is due.

use fathom_model::{Change, ChangeError, ClientId, Completed, Crash, Lost, Request, Storage};
use fathom_rawio::Clock;
use fathom_units::Nanos;

use crate::path::{Was, Ways};

/// Most lateness that is made good: some of a scheduler's slices one after another. After a longer stall the limit loses its
/// allowance, as that of a device does which nobody uses.
const CARRY_MAX: Nanos = Nanos::from_millis(25);
/// Longest time by which a wake-up is brought forward, and so the longest spin.
const LEAD_MAX: u64 = 80_000;
/// How fast the lead follows: a microsecond a wake-up.
const LEAD_STEP: u64 = 1_000;
/// The share of wake-ups that are to come in time, in percent. More of them take a longer spin, and a thread that uses up its
/// slice is put aside for milliseconds. 98 of 100 gave a larger 99th percentile of the error in the one run that was made of it.
const LEAD_PERCENT: u64 = 90;

/// What an answer hands on to the request that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandedOn {
    /// Nothing.
    Nothing,
    /// It was late by this.
    Late(Nanos),
    /// It was due then, and nothing but limits takes time there.
    Due(Nanos),
}

/// The model and its two clocks.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The model itself.
    pub storage: Storage,
    /// When serving began, which is nought to the model.
    start: Nanos,
    /// What messages take.
    ways: Ways,
    /// The time of the last that happened in the model.
    floor: Nanos,
    /// The earliest time of the next request: later than the last one's.
    next: Nanos,
    /// What wake-ups are brought forward by.
    lead: u64,
}

impl Pace {
    /// A model that is served from `start` on and whose clients are `ways` away; `can_spin`: a processor can be kept busy for
    /// some microseconds before something is due.
    pub fn new(storage: Storage, start: Nanos, ways: Ways, can_spin: Spin) -> Self {
        Self {
            storage,
            start,
            ways,
            floor: start,
            next: start,
            lead: match can_spin {
                Spin::Yes => LEAD_MAX / 2,
                Spin::No => 0,
            },
        }
    }

    /// What messages take.
    pub fn ways(&self) -> Ways {
        self.ways
    }

    /// Messages take this long now.
    pub fn set_ways(&mut self, ways: Ways) {
        self.ways = ways;
    }

    /// Whether a processor can be kept busy for some microseconds.
    pub fn spin(&self) -> Spin {
        if self.lead > 0 { Spin::Yes } else { Spin::No }
    }

    /// The model's time at a moment of the clock.
    #[inline]
    pub fn at(&self, moment: Nanos) -> Nanos {
        moment.saturating_add(self.ways.out)
    }

    /// What the model's own clock shows at a time that is counted as everywhere here.
    #[inline]
    pub fn since_start(&self, time: Nanos) -> Nanos {
        time.saturating_sub(self.start)
    }

    /// The moment at which a request was sent that is here at `moment`.
    #[inline]
    pub fn left_at(&self, moment: Nanos, was: Was) -> Nanos {
        match was {
            Was::Asleep => moment.saturating_sub(self.ways.back),
            Was::Awake => moment,
        }
    }

    /// The model's time of a request that was sent at a moment, after an answer that handed something on.
    #[inline]
    pub fn sent_at(&self, left: Nanos, handed_on: HandedOn) -> Nanos {
        let earliest = left.saturating_sub(CARRY_MAX);
        let sent = match handed_on {
            HandedOn::Nothing => left,
            HandedOn::Late(late) => left.saturating_sub(late),
            HandedOn::Due(due) => due.min(left),
        };
        sent.max(earliest).max(self.floor).max(self.next)
    }

    /// Lets happen what is due at `time`, until I/Os complete; gives when they did. `None`: nothing more is due.
    #[inline]
    pub fn advance(&mut self, time: Nanos, completed: &mut Vec<Completed>) -> Option<Nanos> {
        let time = self.since_start(time);
        let happened = self.storage.advance_until(time, completed)?;
        let happened = self.start.saturating_add(happened);
        self.floor = self.floor.max(happened);
        Some(happened)
    }

    /// A request enters at `time`, before which everything due has happened.
    #[inline]
    pub fn submit(&mut self, time: Nanos, request: Request, completed: &mut Vec<Completed>) {
        self.floor = self.floor.max(time);
        self.next = self.floor.saturating_add(Nanos::new(1));
        self.storage
            .submit(self.since_start(self.floor), request, completed);
    }

    /// Hosts fail at `time`, before which everything due has happened.
    pub fn crash(
        &mut self,
        time: Nanos,
        machine: Option<ClientId>,
        completed: &mut Vec<Completed>,
    ) -> Crash {
        self.floor = self.floor.max(time);
        self.storage
            .crash(self.since_start(self.floor), machine, completed)
    }

    /// A part of the storage changes at `time`, before which everything due has happened.
    pub fn change(
        &mut self,
        time: Nanos,
        change: &Change,
        completed: &mut Vec<Completed>,
    ) -> Result<Vec<Lost>, ChangeError> {
        self.floor = self.floor.max(time);
        self.storage
            .change(self.since_start(self.floor), change, completed)
    }

    /// When to wake up for what is due next; `None`: nothing is.
    pub fn wake_at(&mut self) -> Option<Nanos> {
        let due = self.start.saturating_add(self.storage.next_due()?);
        let answer = due.saturating_sub(self.ways.out);
        Some(answer.saturating_sub(Nanos::new(self.lead)))
    }

    /// A sleep that was to end at `wake` has ended, by itself: the lead follows what it was late by.
    pub fn woke(&mut self, wake: Nanos) {
        if self.lead == 0 {
            return;
        }
        let late = Clock::now().saturating_sub(wake).get();
        self.lead = if late > self.lead {
            (self.lead + LEAD_STEP * LEAD_PERCENT / 100).min(LEAD_MAX)
        } else {
            (self.lead - LEAD_STEP * (100 - LEAD_PERCENT) / 100).max(LEAD_STEP)
        };
    }
}

/// Whether a processor can be kept busy for some microseconds before something is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spin {
    /// There is another one for the client.
    Yes,
    /// There is only one.
    No,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_catalog::Catalog;
    use fathom_model::{ClientId, Design, FileId, IoKind, Layout};
    use fathom_units::Bytes;

    /// What a message takes in either direction.
    const WAY: Nanos = Nanos::from_micros(20);
    /// When serving began.
    const START: Nanos = Nanos::from_millis(900);

    fn pace(limits: &str) -> Pace {
        let text = format!("[[device]]\nname = 'd'\nmount = '/d'\nsize = '1GiB'\n{limits}\n");
        let (design, _) = Design::read(&text, "d", Catalog::builtin()).unwrap();
        let storage = Storage::new(&design, &Layout::new(&design, []).unwrap(), 1).unwrap();
        let ways = Ways {
            out: WAY,
            back: WAY,
        };
        Pace::new(storage, START, ways, Spin::Yes)
    }

    fn read(tag: u64) -> Request {
        let text = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1GiB'\n";
        let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
        Request {
            volume: design.volume_ids().next().unwrap(),
            client: ClientId::NONE,
            file: FileId::NONE,
            kind: IoKind::Read,
            fua: false,
            offset: 0,
            length: 4096,
            stream: 0,
            index: tag,
            tag,
        }
    }

    /// One I/O at a time. Answers are late by what `late` says, and the client needs as long as `thinks` says before its next
    /// request; gives the model's time of the last answer.
    fn closed_loop(
        pace: &mut Pace,
        count: u64,
        late: impl Fn(u64) -> Nanos,
        thinks: impl Fn(u64) -> Nanos,
        hand_on: impl Fn(Nanos, Nanos) -> HandedOn,
    ) -> Nanos {
        let mut completed = Vec::new();
        // The client's own time.
        let (mut client, mut due) = (Nanos::from_secs(1), Nanos::ZERO);
        let mut handed_on = HandedOn::Nothing;
        for tag in 0..count {
            let left = pace.left_at(client + WAY, Was::Asleep);
            let sent = pace.sent_at(left, handed_on);
            while pace.advance(sent, &mut completed).is_some() {}
            pace.submit(sent, read(tag), &mut completed);
            due = sent;
            if completed.is_empty() {
                due = pace.advance(Nanos::MAX, &mut completed).unwrap();
            }
            let waited = completed.pop().unwrap().waits.iter().next().is_some();
            let answered = due.max(client) + late(tag);
            handed_on = if waited {
                hand_on(answered.saturating_sub(due), due)
            } else {
                HandedOn::Nothing
            };
            client = answered + thinks(tag);
        }
        due
    }

    /// What 10,000 I/Os of a client at a limit of 5,000 a second come to.
    #[track_caller]
    fn check_rate(
        late: impl Fn(u64) -> Nanos,
        thinks: impl Fn(u64) -> Nanos,
        hand_on: impl Fn(Nanos, Nanos) -> HandedOn,
    ) {
        let mut pace = pace("iops = 5000\nlatency = 'none'");
        let last = closed_loop(&mut pace, 10_000, late, thinks, hand_on);
        let taken = last.saturating_sub(Nanos::from_secs(1));
        let rate = 10_000.0 / taken.as_secs_f64();
        assert!((rate - 5000.0).abs() < 2.0, "{rate}");
    }

    /// Every hundredth is 3 ms, all others 50 µs.
    fn now_and_then(tag: u64) -> Nanos {
        match tag % 100 {
            99 => Nanos::from_millis(3),
            _ => Nanos::from_micros(50),
        }
    }

    #[test]
    fn a_limit_keeps_its_rate_though_answers_are_late() {
        check_rate(
            now_and_then,
            |_| Nanos::ZERO,
            |late, _| HandedOn::Late(late),
        );
        check_rate(now_and_then, |_| Nanos::ZERO, |_, due| HandedOn::Due(due));
    }

    #[test]
    fn a_limit_keeps_its_rate_though_its_client_is_put_aside() {
        check_rate(|_| Nanos::ZERO, now_and_then, |_, due| HandedOn::Due(due));
        check_rate(now_and_then, now_and_then, |_, due| HandedOn::Due(due));
    }

    #[test]
    fn a_delay_is_not_cut_short_by_lateness() {
        let limits = "latency = { median = '2ms', p99 = '2ms' }";
        let mut pace = pace(limits);
        let late = |_| Nanos::from_micros(100);
        let hand_on = |late, _| HandedOn::Late(late);
        let last = closed_loop(&mut pace, 100, late, |_| Nanos::ZERO, hand_on);
        let taken = last.saturating_sub(Nanos::from_secs(1));
        // 100 delays and 99 times the lateness before the next request.
        assert_eq!(taken, Nanos::from_micros(100 * 2000 + 99 * 100));
    }

    /// A disk whose credits take hours to be earned, behind a host cache that is written out now and then: both go by the time
    /// that it is served, and not by the time that the machine is up.
    #[test]
    fn the_models_clock_begins_with_serving() {
        let text = "[[vm]]\nname = 'vm'\nsize = 'Standard_D8s_v3'\nburst = 'off'\n\
            [[vm.volume]]\nname = 'w'\nmount = '/w'\ndisks = { type = 'P10' }\ncaching = 'read-write'\n\
            latency = 'none'\ncredits = 'empty'\n";
        let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
        let volume = design.volume_ids().next().unwrap();
        for start in [Nanos::ZERO, Nanos::from_millis(12_345_678)] {
            let end = (volume, "w".to_owned(), Bytes::mib(1));
            let layout = Layout::new(&design, [end]).unwrap();
            let storage = Storage::new(&design, &layout, 1).unwrap();
            let ways = Ways {
                out: Nanos::ZERO,
                back: Nanos::ZERO,
            };
            let mut pace = Pace::new(storage, start, ways, Spin::No);
            let (second, mut completed) = (Nanos::from_secs(1), Vec::new());
            let write = Request {
                volume,
                client: design.client_of(None, volume).unwrap(),
                kind: IoKind::Write,
                ..read(0)
            };
            pace.submit(start + second, write, &mut completed);
            while completed.is_empty() {
                assert!(pace.advance(start + second * 2, &mut completed).is_some());
            }
            assert_eq!(pace.wake_at(), Some(start + second * 5));
            let gauges = pace.storage.gauges(pace.since_start(start + second));
            let credits: Vec<_> = gauges.filter_map(|gauge| gauge.iops_credits).collect();
            assert!(credits.iter().any(|left| *left < 0.001), "{credits:?}");
        }
    }

    #[test]
    fn arrivals_are_dated_back_but_never_before_what_has_happened() {
        let mut pace = pace("latency = 'none'");
        let moment = Nanos::from_secs(1);
        assert_eq!(pace.left_at(moment, Was::Asleep), moment - WAY);
        assert_eq!(pace.left_at(moment, Was::Awake), moment);
        let late = Nanos::from_millis(1);
        for (handed_on, back) in [
            (HandedOn::Nothing, Nanos::ZERO),
            (HandedOn::Late(late), late),
            (HandedOn::Late(Nanos::from_secs(1)), CARRY_MAX),
            (HandedOn::Due(moment - late), late),
            (HandedOn::Due(moment + late), Nanos::ZERO),
            (HandedOn::Due(Nanos::ZERO), CARRY_MAX),
        ] {
            assert_eq!(pace.sent_at(moment, handed_on), moment - back);
        }
        let mut completed = Vec::new();
        pace.submit(moment, read(0), &mut completed);
        let after = moment + Nanos::new(1);
        assert_eq!(pace.sent_at(moment, HandedOn::Late(late)), after);
    }

    /// Requests of one moment, and those that are dated back before others.
    #[test]
    fn what_comes_together_keeps_its_order() {
        let mut pace = pace("iops = 1000");
        let mut completed = Vec::new();
        let moment = Nanos::from_secs(1);
        for (tag, left) in [(0, 5), (1, 5), (2, 3), (3, 0), (4, 8), (5, 8)] {
            let sent = pace.sent_at(moment + Nanos::new(left), HandedOn::Nothing);
            let expected = [5, 6, 7, 8, 9, 10][tag as usize];
            assert_eq!(sent, moment + Nanos::new(expected), "{tag}");
            pace.submit(sent, read(tag), &mut completed);
        }
    }
}
