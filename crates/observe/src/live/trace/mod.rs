//! Every I/O of the watched devices, from the kernel's block tracepoints.
//!
//! A buffer of our own is read ten times a second, its events brought into the order of time over all processors, and each
//! issue matched with its completion. Where that would cost more than its share of a processor, only parts of the time are
//! traced: every I/O that begins within such a part is followed to its end, so that slow ones are not left out.

mod format;
mod instance;
mod matching;
mod phase;
mod ring;
mod streams;
mod tally;

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use fathom_rawio::Clock;
use fathom_units::Nanos;

use self::format::{Direction, Layout, direction, kind};
use self::instance::{EVENTS, Instance, lost};
use self::matching::{Completed, Key, Outstanding};
use self::phase::{Phase, Sampling};
use self::ring::Page;
use self::streams::{Begin, Place, Streams};
use self::tally::Tally;
use super::devices::{SECTOR, Watched};
use crate::samples::Traced;

pub use self::instance::tracefs;
pub use self::streams::Wanted;
pub use self::tally::Interval;

/// Most bytes read in one go, so that a flood of events cannot hold the program.
const READ_MOST: usize = 64 << 20;

/// What an event is, in the order of [`EVENTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Issue,
    Complete,
    Requeue,
    Split,
    Lost,
}

const KINDS: [Kind; 4] = [Kind::Issue, Kind::Complete, Kind::Requeue, Kind::Split];

#[derive(Debug, Clone, Copy)]
struct Event {
    at: u64,
    kind: Kind,
    direction: Direction,
    device: u32,
    thread: u32,
    sector: u64,
    bytes: u64,
    command: [u8; 16],
}

/// What the tracing came to, besides the I/Os.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events that were read.
    pub events: u64,
    /// Events that the kernel's buffers lost.
    pub lost: u64,
    /// I/Os that had not ended when their part of the time was given up.
    pub cut: u64,
    /// Time that was traced.
    pub traced: Nanos,
}

/// The tracing of some devices; dropped, it leaves nothing behind in the kernel.
#[derive(Debug)]
pub struct Tracer {
    // Before the instance, so that they are closed when it is removed.
    buffers: Vec<(File, PathBuf)>,
    instance: Instance,
    layouts: [Layout; 4],
    devices: Vec<Watched>,
    tallies: Vec<Tally>,
    outstanding: Outstanding,
    /// Of those, the ones that count.
    pending: usize,
    streams: Streams,
    page: Vec<u8>,
    held: Vec<Event>,
    sampling: Sampling,
    totals: Totals,
    /// What recording one event costs.
    pub cost_of_event: Nanos,
}

impl Tracer {
    /// Begins to trace.
    ///
    /// # Errors
    /// Why that cannot be, in one sentence; nothing is left behind.
    pub fn new(
        tracefs: &Path,
        devices: &[Watched],
        wanted: Wanted,
        use_most: f64,
    ) -> Result<Self, String> {
        let instance = Instance::new(tracefs)?;
        let cost_of_event = instance.cost_of_event()?;
        let mut layouts = Vec::new();
        for event in EVENTS {
            let text = instance.text(&format!("events/block/{event}/format"))?;
            let layout = Layout::read(&text);
            layouts.push(layout.ok_or_else(|| {
                format!("the event `{event}` of this kernel has other fields than are known")
            })?);
        }
        let layouts = layouts
            .try_into()
            .map_err(|_| "events are missing".to_owned())?;
        instance.enable(devices)?;
        let page = vec![0; instance.page_size()];
        let mut tracer = Self {
            buffers: instance.buffers()?,
            instance,
            layouts,
            devices: devices.to_vec(),
            tallies: devices.iter().map(|_| Tally::default()).collect(),
            outstanding: Outstanding::default(),
            pending: 0,
            streams: Streams::new(wanted, PathBuf::from("/proc")),
            page,
            held: Vec::new(),
            sampling: Sampling::new(use_most),
            totals: Totals::default(),
            cost_of_event,
        };
        tracer.switch_on()?;
        Ok(tracer)
    }

    fn switch_on(&mut self) -> Result<(), String> {
        self.read_all();
        self.held.clear();
        self.instance.set("tracing_on", "1")?;
        let now = Clock::now();
        for tally in &mut self.tallies {
            tally.pass(now.get());
        }
        self.streams.forget_ends();
        self.sampling.begin(now);
        Ok(())
    }

    /// When [`Self::advance`] should be called next.
    pub fn wake_at(&self, now: Nanos) -> Nanos {
        self.sampling.wake_at(now)
    }

    /// Takes in what happened up to `moment`, which has passed.
    ///
    /// # Errors
    /// The kernel refused what it took before.
    pub fn advance(&mut self, moment: Nanos) -> Result<(), String> {
        if self.sampling.phase() == Phase::Off {
            if self.sampling.is_over(moment) {
                self.switch_on()?;
            }
            return Ok(());
        }
        // What was recorded before this moment is in the buffers by now, whatever the processor.
        self.read_all();
        let mut held = std::mem::take(&mut self.held);
        // The processors' events are each in order already, so that this merges runs.
        held.sort_by_key(|event| event.at);
        let passed = held.partition_point(|event| event.at <= moment.get());
        for event in &held[..passed] {
            self.freeze_by(event.at);
            self.take(event);
        }
        held.drain(..passed);
        self.held = held;
        self.freeze_by(moment.get());
        if self.sampling.phase() == Phase::On {
            for tally in &mut self.tallies {
                tally.pass(moment.get());
            }
        }
        if self.sampling.phase() == Phase::Tail
            && (self.pending == 0 || self.sampling.is_over(moment))
        {
            self.instance.set("tracing_on", "0")?;
            self.totals.cut += self.pending as u64;
            self.begin_anew();
            self.held.clear();
            self.sampling.rest(moment);
        }
        Ok(())
    }

    /// The traced part of the time ends at or before `moment`.
    fn freeze_by(&mut self, moment: u64) {
        if let Some(end) = self.sampling.ends_by(moment) {
            for tally in &mut self.tallies {
                tally.freeze(end);
            }
        }
    }

    fn begin_anew(&mut self) {
        self.outstanding.clear();
        self.pending = 0;
        for tally in &mut self.tallies {
            tally.pause();
        }
    }

    fn read_all(&mut self) {
        let mut left = READ_MOST;
        let mut page = std::mem::take(&mut self.page);
        for place in 0..self.buffers.len() {
            while left > 0 {
                match self.buffers[place].0.read(&mut page) {
                    Ok(0) => break,
                    Ok(length) => {
                        left = left.saturating_sub(length);
                        self.read_page(&page[..length]);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        self.page = page;
    }

    fn read_page(&mut self, bytes: &[u8]) {
        let Some(page) = Page::new(bytes) else {
            return;
        };
        let mut was_lost = page.lost > 0;
        for (at, event) in page {
            if was_lost {
                was_lost = false;
                self.held.push(Event::lost(at));
            }
            let id = kind(event);
            let Some(place) = self.layouts.iter().position(|layout| layout.id == id) else {
                continue;
            };
            self.totals.events += 1;
            let Some(words) = self.layouts[place].words(event) else {
                continue;
            };
            let Some(direction) = direction(words.operation) else {
                continue;
            };
            let is_of = |it: &Watched| it.number == words.dev && it.sectors.contains(&words.sector);
            let Some(device) = self.devices.iter().position(is_of) else {
                continue;
            };
            let mut command = [0; 16];
            let length = words.command.len().min(16);
            command[..length].copy_from_slice(&words.command[..length]);
            self.held.push(Event {
                at,
                kind: KINDS[place],
                direction,
                device: device as u32,
                thread: words.thread,
                sector: words.sector,
                bytes: words.bytes,
                command,
            });
        }
    }

    #[inline]
    fn take(&mut self, event: &Event) {
        let place = event.device as usize;
        let key = Key {
            dev: event.device,
            sector: event.sector,
            direction: event.direction,
        };
        match event.kind {
            Kind::Issue => self.issue(event, key),
            // The end of a flush is told as that of a write of nothing, of which there was no beginning.
            Kind::Complete if event.bytes == 0 => self.tallies[place].flush(),
            Kind::Complete => match self.outstanding.complete(key, event.bytes) {
                Completed::All(issued) if issued.counts => {
                    self.pending -= 1;
                    let latency = event.at.saturating_sub(issued.at);
                    self.tallies[place].complete(event.at, event.direction, issued.bytes, latency);
                }
                // One that began when I/Os did not count any more.
                Completed::All(_) | Completed::Part => {}
                Completed::Unknown if self.streams.is_narrowed() => {}
                Completed::Unknown => self.tallies[place].complete_unknown(event.at),
            },
            Kind::Requeue => {
                if self.outstanding.take(key).is_some_and(|it| it.counts) {
                    self.pending -= 1;
                    self.tallies[place].requeue(event.at);
                }
            }
            Kind::Split if self.sampling.phase() == Phase::On => self.tallies[place].split(),
            Kind::Split => {}
            Kind::Lost => self.begin_anew(),
        }
    }

    #[inline]
    fn issue(&mut self, event: &Event, key: Key) {
        if event.bytes == 0 {
            return;
        }
        if self.sampling.phase() != Phase::On {
            // Its completion must not be taken for that of an I/O from before.
            self.outstanding.issue(key, event.at, event.bytes, false);
            return;
        }
        let name = event
            .command
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(16);
        let begun = self.streams.begin(Begin {
            device: event.device,
            thread: event.thread,
            command: &event.command[..name],
            direction: event.direction,
            sectors: (event.sector, event.sector + event.bytes / SECTOR),
        });
        let tally = &mut self.tallies[event.device as usize];
        tally.place(match begun {
            Place::Other => return,
            Place::First => None,
            Place::Sequential => Some(false),
            Place::Random => Some(true),
        });
        if self.outstanding.issue(key, event.at, event.bytes, true) {
            self.pending += 1;
            tally.issue(event.at);
        } else {
            self.totals.cut += 1;
        }
    }

    /// The interval ends, for each device in their order; `length` long. `used` is the program's own share of a processor
    /// in it: where that is too much, tracing goes on in parts of the time.
    pub fn end_interval(&mut self, length: Nanos, used: f64) -> Vec<Interval> {
        let ended: Vec<_> = self.tallies.iter_mut().map(Tally::end_interval).collect();
        let traced = ended.iter().map(|it| it.traced).max().unwrap_or(0);
        self.totals.traced = self.totals.traced.saturating_add(Nanos::new(traced));
        for tally in &mut self.tallies {
            tally.lengthen(length);
        }
        self.sampling.adapt(used, length, Clock::now());
        self.streams.forget_threads();
        self.totals.lost = self.buffers.iter().map(|(_, stats)| lost(stats)).sum();
        ended
    }

    /// The tallies, to end their stretches.
    pub fn tallies(&mut self) -> &mut [Tally] {
        &mut self.tallies
    }

    /// Whether only parts of the time are traced.
    pub fn is_sampling(&self) -> bool {
        self.sampling.is_sampling()
    }

    /// The parts of the time up to `now` in which I/Os that began were followed.
    pub fn parts(&self, now: Nanos) -> Vec<(Nanos, Nanos)> {
        self.sampling.parts(now)
    }

    /// What it came to so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// I/Os that the kernel's own workers issued while only some processes counted.
    pub fn by_kernel(&self) -> u64 {
        self.streams.by_kernel()
    }

    /// Ends the tracing: each device's I/Os.
    pub fn finish(self) -> Vec<Traced> {
        let lost_ios = self.totals.lost / 2;
        let streams = self.streams;
        let devices = self.tallies.into_iter().enumerate();
        let traced = devices.map(|(place, tally)| Traced {
            processes: streams.processes(place as u32),
            lost: lost_ios,
            ..tally.into_total()
        });
        traced.collect()
    }
}

impl Event {
    fn lost(at: u64) -> Self {
        Self {
            at,
            kind: Kind::Lost,
            direction: Direction::Read,
            device: 0,
            thread: 0,
            sector: 0,
            bytes: 0,
            command: [0; 16],
        }
    }
}
