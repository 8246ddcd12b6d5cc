//! The first host's part: hears all hosts, says when each stage begins, and knows what came of each.
//!
//! A stage begins when all that have a part in it are armed, at one moment, which each is told by its own clock. From then on
//! nobody waits for a host that may be gone: one that is not heard of for a while is lost, and what the others measured is kept.

use std::sync::mpsc::{Receiver, Sender};

use fathom_rawio::Clock;
use fathom_units::Nanos;

use crate::link::Link;
use crate::message::{Ended, Message, Ready, Refused};
use crate::offset::Offset;
use crate::order::{Together, together};
use crate::pace::{Asked, Gone, Pace, next};

/// How long before a stage begins its hosts are told at least: enough for a message, a nap and the threads' waking up.
const BEGINS_AFTER: Nanos = Nanos::from_millis(50);
/// The same as a multiple of the longest way there and back.
const BEGINS_AFTER_WAYS: u64 = 20;
/// How long hosts are waited for that end since the launcher has told them to; it kills them a second later.
const HURRIED: Nanos = Nanos::from_millis(500);

/// A host that was heard of so lately is there: each says so more often. What is sent to one that has died can hold up the sender
/// within MPI, which looks for it, so that to others nothing is sent before they are heard again.
const THERE: Nanos = Nanos::from_millis(400);

/// Why all hosts were told to end; with the rank of the host that it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Somebody asked for it.
    Asked,
    /// That host's run failed.
    Failed(usize),
    /// It ended before it had measured all its stages.
    EndedEarly(usize),
    /// Nothing is heard of it.
    Lost(usize),
}

/// What is known of a host.
#[derive(Debug, Default)]
pub struct Known {
    /// What it would do.
    pub ready: Option<Box<Ready>>,
    /// Why it cannot.
    pub refused: Option<Refused>,
    /// Index of its own stage that is armed last.
    pub armed: Option<usize>,
    /// What it came to.
    pub ended: Option<Box<Ended>>,
    /// Its clock, as of the last time that it was looked at.
    pub clock: Option<Offset>,
    /// The same as each stage began that it had a part in, by the stage's name.
    pub clocks: Vec<(String, Offset)>,
    /// When something was heard of it last.
    pub heard: Nanos,
    /// What it is to be told when it is heard again.
    pub owed: Vec<Message>,
}

impl Known {
    /// Whether it has said if it can run.
    pub fn has_answered(&self) -> bool {
        self.ready.is_some() || self.refused.is_some()
    }
}

/// The first host's view of all.
pub struct Lead<'a> {
    /// To the others.
    pub link: &'a mut Link,
    /// To the run on this host.
    pub to_run: &'a Sender<Message>,
    /// From it.
    pub from_run: &'a Receiver<Message>,
    /// What signals ask.
    pub asked: &'a Asked,
    /// When a host is lost that is not heard of.
    pub lost_after: Nanos,
    hosts: Vec<Known>,
    order: Vec<Together>,
    begun: usize,
    pace: Pace,
    /// Why all were told to end.
    stopped: Option<Why>,
    hurried: Option<Nanos>,
}

impl<'a> Lead<'a> {
    /// Knows nothing yet.
    pub fn new(
        link: &'a mut Link,
        (from_run, to_run): (&'a Receiver<Message>, &'a Sender<Message>),
        asked: &'a Asked,
        lost_after: Nanos,
    ) -> Self {
        let now = Clock::now();
        let known = || Known {
            heard: now,
            ..Known::default()
        };
        let hosts = (0..link.size()).map(|_| known()).collect();
        Self {
            link,
            to_run,
            from_run,
            asked,
            lost_after,
            hosts,
            order: Vec::new(),
            begun: 0,
            pace: Pace::new(),
            stopped: None,
            hurried: None,
        }
    }

    /// What is known of all hosts, by rank.
    pub fn hosts(&self) -> &[Known] {
        &self.hosts
    }

    /// The stages of all, in order.
    pub fn order(&self) -> &[Together] {
        &self.order
    }

    /// Why all were told to end before they would have; `None` where they were not.
    pub fn stopped(&self) -> Option<Why> {
        self.stopped
    }

    /// Waits until every host has said whether it can run, or is lost.
    ///
    /// # Errors
    /// The own run's thread has died.
    pub fn hear_all(&mut self) -> Result<(), Gone> {
        while self
            .ranks()
            .any(|rank| !self.hosts[rank].has_answered() && !self.is_lost(rank))
            && !self.asked.stop.is_requested()
        {
            self.listen()?;
        }
        Ok(())
    }

    /// The order of all stages, once all are ready; `false` where hosts do not agree.
    pub fn put_in_order(&mut self) -> bool {
        let stages = |host: &Known| host.ready.as_ref().map(|ready| ready.stages.clone());
        let stages: Vec<_> = self.hosts.iter().filter_map(stages).collect();
        let order = together(&stages);
        let is_there = order.is_some();
        self.order = order.unwrap_or_default();
        is_there
    }

    /// Lets all hosts go, and leads them until every one has ended or is lost.
    ///
    /// # Errors
    /// The own run's thread has died.
    pub fn run(&mut self) -> Result<(), Gone> {
        self.tell_all(&Message::Go);
        while !self.is_over() {
            self.listen()?;
            if self.stopped.is_none() {
                match self.reason_to_stop() {
                    Some(why) => self.stop_all(why),
                    None => self.begin_next(),
                }
            }
        }
        Ok(())
    }

    /// Tells all that they may leave; where `all_there`, waits until each has been told.
    pub fn let_leave(&mut self, all_there: bool) {
        self.tell_all(&Message::Leave);
        let waits =
            |lead: &Self, rank: usize| !lead.hosts[rank].owed.is_empty() && !lead.is_lost(rank);
        while all_there && self.others().any(|rank| waits(self, rank)) {
            if self.listen().is_err() {
                return;
            }
        }
    }

    fn ranks(&self) -> std::ops::Range<usize> {
        0..self.hosts.len()
    }

    fn others(&self) -> std::ops::Range<usize> {
        1..self.hosts.len()
    }

    /// Whether a host that is to say something was not heard of for long.
    pub fn is_lost(&self, rank: usize) -> bool {
        Clock::now().saturating_sub(self.hosts[rank].heard) > self.lost_after
    }

    fn tell(&mut self, rank: usize, message: &Message) {
        if rank == 0 {
            // A run that is over needs no more.
            let _ = self.to_run.send(message.clone());
        } else if self.is_there(rank) {
            self.link.send(rank, message);
        } else {
            self.hosts[rank].owed.push(message.clone());
        }
    }

    /// Whether it was heard of so lately that it may be told something.
    fn is_there(&self, rank: usize) -> bool {
        rank == 0 || Clock::now().saturating_sub(self.hosts[rank].heard) < THERE
    }

    fn tell_all(&mut self, message: &Message) {
        for rank in self.ranks() {
            self.tell(rank, message);
        }
    }

    /// Takes what has come, or naps.
    fn listen(&mut self) -> Result<(), Gone> {
        while let Some((from, message)) = self.link.poll() {
            self.take(from, message);
        }
        let own = &self.hosts[0];
        let is_over = own.ended.is_some() || own.refused.is_some();
        if let Some(message) = next(self.from_run, self.pace.nap(), is_over)? {
            self.take(0, message);
        }
        self.hosts[0].heard = Clock::now();
        self.asked.heed();
        if self.asked.is_hurried() && self.hurried.is_none() {
            self.hurried = Some(Clock::now());
            self.pace.watch();
        }
        Ok(())
    }

    fn take(&mut self, from: usize, message: Message) {
        let Some(host) = self.hosts.get_mut(from) else {
            return;
        };
        host.heard = Clock::now();
        let owed = std::mem::take(&mut host.owed);
        let answer = matches!(message, Message::Alive).then_some(Message::Alive);
        match message {
            Message::Ready(ready) => host.ready = Some(ready),
            Message::Refused(refused) => host.refused = Some(refused),
            Message::Armed(stage) => host.armed = Some(stage),
            Message::Ended(ended) => host.ended = Some(ended),
            _ => {}
        }
        if answer.is_none() {
            self.pace.watch();
        }
        for message in owed.into_iter().chain(answer) {
            self.tell(from, &message);
        }
    }

    fn is_over(&self) -> bool {
        let over = |rank: usize| self.hosts[rank].ended.is_some() || self.is_lost(rank);
        let since = |moment: Nanos| Clock::now().saturating_sub(moment);
        let hurried = self.hurried.is_some_and(|moment| since(moment) > HURRIED);
        hurried || self.ranks().all(over)
    }

    /// Whether a host does nothing for the first so many stages any more.
    fn is_done_with(&self, rank: usize, stages: usize) -> bool {
        let host = &self.hosts[rank];
        let last = self.order[..stages]
            .iter()
            .filter_map(|stage| stage.own[rank])
            .next_back();
        match (last, host.armed) {
            (None, _) => true,
            (Some(_), _) if host.ended.is_some() => true,
            (Some(last), Some(armed)) => armed > last,
            (Some(_), None) => false,
        }
    }

    fn reason_to_stop(&self) -> Option<Why> {
        if self.asked.stop.is_requested() {
            return Some(Why::Asked);
        }
        let to_come = &self.order[self.begun..];
        let has_more = |rank: usize| to_come.iter().any(|stage| stage.own[rank].is_some());
        self.ranks().find_map(|rank| match &self.hosts[rank].ended {
            Some(ended) if ended.failed.is_some() => Some(Why::Failed(rank)),
            Some(_) if has_more(rank) => Some(Why::EndedEarly(rank)),
            None if self.is_lost(rank) => Some(Why::Lost(rank)),
            _ => None,
        })
    }

    fn stop_all(&mut self, why: Why) {
        self.stopped = Some(why);
        self.asked.stop.request();
        for rank in self.others() {
            self.tell(rank, &Message::Stop);
        }
    }

    /// Begins the next stage where all are armed that have a part in it, and nobody is busy with one before.
    fn begin_next(&mut self) {
        let Some(stage) = self.order.get(self.begun) else {
            return;
        };
        let Together { name, own } = stage.clone();
        let is_armed =
            |(rank, own): (usize, &Option<usize>)| own.is_none() || self.hosts[rank].armed == *own;
        let all_armed = own.iter().enumerate().all(is_armed);
        if !all_armed || !self.ranks().all(|rank| self.is_done_with(rank, self.begun)) {
            return;
        }
        let taking: Vec<usize> = self.ranks().filter(|rank| own[*rank].is_some()).collect();
        if !taking.iter().all(|rank| self.is_there(*rank)) {
            return;
        }
        for rank in taking.iter().copied().filter(|rank| *rank > 0) {
            if !self.look_at_clock(rank) {
                // It is lost, or will be.
                return;
            }
        }
        self.hosts[0].clock = Some(Offset::default());
        let ways = taking.iter().filter_map(|rank| self.hosts[*rank].clock);
        let longest = ways.map(|clock| clock.bound * 2).max().unwrap_or_default();
        let moment = Clock::now() + BEGINS_AFTER.max(longest * BEGINS_AFTER_WAYS);
        for rank in taking {
            let clock = self.hosts[rank].clock.unwrap_or_default();
            self.tell(rank, &Message::Begin(clock.theirs(moment).get()));
            self.hosts[rank].clocks.push((name.clone(), clock));
        }
        self.begun += 1;
        self.pace.rest();
    }

    fn look_at_clock(&mut self, rank: usize) -> bool {
        let Some(clock) = self.link.offset_of(rank) else {
            return false;
        };
        self.hosts[rank].heard = Clock::now();
        self.hosts[rank].clock = Some(clock);
        true
    }
}
