//! How the serving thread waits: asleep until something comes or is due, or for some microseconds looking.
//!
//! Waking up takes most of the time that a message is under way. A client that has one request at a time sends the next as
//! soon as it has its answer; that one is looked for, for as long as a client may need, where it is likely to come and a
//! processor is spare for it.
//!
//! Invariant: nobody else waits for that look but for as long as it may take, and nothing due does.

use std::io;

use fathom_rawio::Clock;
use fathom_units::Nanos;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event};

use super::{Files, Server, files, inbound};
use crate::pace::Spin;
use crate::path::Was;

/// The longest look for a next request.
const LOOK_MOST: Nanos = Nanos::from_micros(50);
/// Looks at one socket between two at all of them.
const LOOKS: u32 = 8;
/// Requests found in a row, after which all sockets are looked at.
const FOUND_MOST: u32 = 8;
/// One answer in so many is waited after in the way that seems to be worse.
const TRY_OTHER: u32 = 32;
/// No next request counts as later than this after its answer: the client had other things to do.
const LATEST: i64 = 200_000;
/// The weight of the last one in the average is one in so many.
const WEIGHT: i64 = 16;

/// Whether it is worth while to look for a request.
///
/// Looking keeps a processor busy. Where there is one to spare, a request is seen sooner; where the client waits for that
/// very processor, it is sent later. Which of the two it is shows in how long after an answer the next request is there.
#[derive(Debug)]
pub(super) struct Outlook {
    pub spin: Spin,
    /// Whether what is taken in now was slept for.
    pub was: Was,
    /// The client that alone was answered, while nothing else is under way.
    pub expected: Option<u32>,
    /// When it was answered, and whether its next request is looked for.
    answered: Option<(Nanos, bool)>,
    /// How long after its answer a next request was there, in ns: slept for, and looked for.
    after: [i64; 2],
    waits: u32,
    found: u32,
}

impl Outlook {
    pub fn new(spin: Spin) -> Self {
        Self {
            spin,
            was: Was::Asleep,
            expected: None,
            answered: None,
            after: [LATEST, LATEST / 2],
            waits: 0,
            found: 0,
        }
    }

    /// The client whose next request should be looked for.
    #[inline]
    fn worth(&mut self, now: Nanos) -> Option<u32> {
        let client = self.expected.take()?;
        if self.spin == Spin::No {
            return None;
        }
        self.waits = self.waits.wrapping_add(1);
        // A tenth is not worth a processor.
        let looks = self.after[1] < self.after[0] - self.after[0] / 10;
        let looks = looks != self.waits.is_multiple_of(TRY_OTHER);
        self.answered = Some((now, looks));
        looks.then_some(client)
    }

    /// Something has come.
    #[inline]
    fn came(&mut self) {
        if let Some((answered, looked)) = self.answered.take() {
            let after = Clock::now().saturating_sub(answered).get();
            let after = i64::try_from(after).map_or(LATEST, |after| after.min(LATEST));
            let average = &mut self.after[usize::from(looked)];
            *average += (after - *average) / WEIGHT;
        }
    }
}

/// What came of a look.
enum Look {
    /// A request has been taken in, or other things have happened.
    Found,
    /// Nothing, until now.
    Missed(Nanos),
}

impl Server<'_> {
    /// Waits for the next thing to do.
    pub(super) fn wait(
        &mut self,
        now: Nanos,
        end: Option<Nanos>,
        events: &mut Vec<Event>,
    ) -> io::Result<()> {
        let due = self.pace.wake_at();
        let tick = self.meter.next().min(self.echo.next());
        let other = end.map_or(tick, |end| end.min(tick));
        let wake = due.map_or(other, |due| due.min(other));
        let more = self.files.as_ref().is_some_and(Files::has_more);
        let mut sleep = if self.resume.is_empty() && self.zeroings.is_idle() && !more {
            wake.saturating_sub(now)
        } else {
            Nanos::ZERO
        };
        if sleep > Nanos::ZERO
            && let Some(client) = self.outlook.worth(now)
        {
            match self.look_for(client, wake.min(now + LOOK_MOST), events)? {
                Look::Found => return Ok(()),
                Look::Missed(now) => sleep = wake.saturating_sub(now),
            }
        }
        self.outlook.found = 0;
        if sleep > Nanos::ZERO && self.rest(now, wake) {
            sleep = Nanos::ZERO;
        }
        if self.take_events(sleep, events)? == 0 && sleep > Nanos::ZERO && due == Some(wake) {
            self.pace.woke(wake);
        }
        Ok(())
    }

    /// What has happened, or what happens within `sleep`; gives how much.
    fn take_events(&mut self, sleep: Nanos, events: &mut Vec<Event>) -> io::Result<usize> {
        let timeout = Timespec {
            tv_sec: (sleep.get() / 1_000_000_000).cast_signed(),
            tv_nsec: (sleep.get() % 1_000_000_000).cast_signed(),
        };
        let spare = rustix::buffer::spare_capacity(events);
        self.outlook.was = if sleep > Nanos::ZERO {
            Was::Asleep
        } else {
            Was::Awake
        };
        match epoll::wait(&self.epoll, spare, Some(&timeout)) {
            Ok(count) => {
                if count > 0 {
                    self.outlook.came();
                }
                Ok(count)
            }
            Err(rustix::io::Errno::INTR) => Ok(1),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks for a client's next request, and for all others, until `until`.
    fn look_for(&mut self, client: u32, until: Nanos, events: &mut Vec<Event>) -> io::Result<Look> {
        // A look at all sockets finds the right one too, but then it takes another call to receive.
        let alone =
            self.crowd.alive() == 1 && client != files::KERNEL.0 && self.outlook.found < FOUND_MOST;
        self.outlook.was = Was::Awake;
        let mut looks: u32 = 0;
        loop {
            looks += 1;
            if alone && !looks.is_multiple_of(LOOKS) {
                if self.inbound(client, inbound::More::Yes) {
                    self.outlook.found += 1;
                    self.outlook.came();
                    return Ok(Look::Found);
                }
            } else if self.take_events(Nanos::ZERO, events)? > 0 {
                self.outlook.found = 0;
                return Ok(Look::Found);
            }
            let now = Clock::now();
            if now >= until {
                return Ok(Look::Missed(now));
            }
        }
    }
}
