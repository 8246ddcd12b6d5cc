//! The agenda beside a plain heap of the same events.

use super::*;
use crate::random::mix;

const STAGES: u32 = 5;

/// An agenda, and a plain heap of the same events.
struct Both {
    agenda: Agenda,
    heap: BinaryHeap<Entry>,
    pending: [bool; STAGES as usize],
    now: u64,
    entries: u64,
    going_on: u64,
}

impl Both {
    fn new() -> Self {
        Self {
            agenda: Agenda::new(STAGES as usize, 1),
            heap: BinaryHeap::new(),
            pending: [false; STAGES as usize],
            now: 0,
            entries: 0,
            going_on: NO_STAGE,
        }
    }

    /// Something will happen: a departure, where `kind` is a stage from which none is pending.
    fn add(&mut self, ahead: u64, kind: u32) {
        let at = self.now + ahead;
        let due = Nanos::new(at);
        let waits = self.pending.get_mut(kind as usize);
        if let Some(waits) = waits.filter(|waits| !**waits) {
            *waits = true;
            self.agenda.departs(Some(due), kind);
            self.heap.push(Entry {
                at,
                began: 0,
                order: rank_of(kind),
                id: kind,
            });
            return;
        }
        self.entries += 1;
        let token = self.entries as u32;
        // Other stages than those that have departures.
        let other = STAGES + kind % 3;
        let (began, rank) = match kind {
            0..15 => (self.now + 1, self.going_on),
            15..18 => (0, rank_of(other)),
            _ => (self.now + ahead / 2 + 1, rank_of(other)),
        };
        let agenda = &mut self.agenda;
        match kind {
            0..15 => agenda.ends(Nanos::new(self.now), due, token),
            15..18 => agenda.leaves(due, other, token),
            _ => agenda.leaves_and_ends((Nanos::new(began - 1), other), due, token),
        }
        self.heap.push(Entry {
            at,
            began,
            order: rank | self.entries,
            id: STAGES + 1 + token,
        });
    }

    /// The next event of both, where it is due at `latest` or before; `look`: after a look at its time.
    fn next(&mut self, latest: u64, look: bool, what: &str) {
        let due = self.heap.peek().is_none_or(|entry| entry.at <= latest);
        if !due {
            assert_eq!(self.agenda.pop(latest), None, "{what}");
            self.going_on = NO_STAGE;
            return;
        }
        let expected = self.heap.pop().map(|entry| {
            self.now = entry.at;
            self.going_on = if entry.began == 0 {
                entry.order & NO_STAGE
            } else {
                NO_STAGE
            };
            let event = match entry.id.checked_sub(STAGES + 1) {
                Some(token) => Event::Token(token),
                None => Event::Departure(entry.id),
            };
            (Nanos::new(entry.at), event)
        });
        if look {
            assert_eq!(self.agenda.next_due(), Some(Nanos::new(self.now)));
        }
        assert_eq!(self.agenda.pop(latest), expected, "{what}");
        if let Some((_, Event::Departure(stage))) = expected {
            self.pending[stage as usize] = false;
            self.agenda.departs(None, stage);
        }
    }
}

/// Drives both with the same events, each `spread` ns at most ahead of the last one.
fn check(seed: u64, spread: u64, most: usize, steps: u64) {
    let mut both = Both::new();
    for step in 0..steps {
        let draw = mix(seed ^ mix(step));
        let grow = both.heap.len() < most && draw % 5 < 3;
        if grow || both.heap.is_empty() {
            // Mostly near, sometimes at the very time, sometimes far.
            let ahead = match draw >> 8 & 7 {
                0 => 0,
                1..=5 => (draw >> 16) % spread,
                _ => (draw >> 16) % (spread * 50),
            };
            both.add(ahead, (draw >> 12) as u32 % (4 * STAGES));
        } else {
            let latest = if (draw >> 33).is_multiple_of(4) {
                both.now
            } else {
                u64::MAX
            };
            let what = format!("seed {seed}, step {step}");
            both.next(latest, draw >> 11 & 1 == 0, &what);
        }
    }
}

#[test]
fn it_gives_what_a_heap_of_all_events_gives() {
    for seed in 0..20 {
        check(seed, 50, 100, 3_000);
        check(seed, 3_000, 10, 3_000);
        check(seed, 2_000_000, 50, 3_000);
        check(seed, 30_000_000, 50, 3_000);
        check(seed, 5_000_000_000, 20, 3_000);
        check(seed, 300_000_000_000, 5, 3_000);
    }
}

/// Looking for the next event moves the wheel on to it; what is pushed for earlier must still come first.
#[test]
fn events_before_the_next_one_are_not_lost_after_a_look() {
    let mut agenda = Agenda::new(0, 0);
    for seconds in [100, 50, 2] {
        agenda.ends(Nanos::ZERO, Nanos::from_secs(seconds), seconds as u32);
        assert_eq!(agenda.next_due(), Some(Nanos::from_secs(seconds)));
    }
    agenda.ends(Nanos::ZERO, Nanos::new(5), 0);
    let order: Vec<_> = std::iter::from_fn(|| agenda.pop(u64::MAX))
        .map(|(at, _)| at)
        .collect();
    let seconds = [2, 50, 100].map(Nanos::from_secs);
    assert_eq!(order[0], Nanos::new(5));
    assert_eq!(order[1..], seconds);
}

#[test]
fn of_one_time_departures_come_first_and_then_entries_in_order() {
    let mut agenda = Agenda::new(2, 1);
    let at = Nanos::from_millis(3);
    agenda.ends(Nanos::ZERO, at, 7);
    agenda.flushes(Nanos::ZERO, at, 0);
    agenda.departs(Some(at), 1);
    agenda.ends(Nanos::ZERO, at, 4);
    agenda.departs(Some(at), 0);
    agenda.ends(Nanos::ZERO, Nanos::MAX, 1);
    let next = || {
        let (at, event) = agenda.pop(u64::MAX)?;
        if let Event::Departure(stage) = event {
            agenda.departs(None, stage);
        }
        Some((at, event))
    };
    let order: Vec<_> = std::iter::from_fn(next).collect();
    let expected = [
        Event::Departure(0),
        Event::Departure(1),
        Event::Token(7),
        Event::Flush(0),
        Event::Token(4),
    ];
    assert_eq!(order, expected.map(|event| (at, event)));
}
