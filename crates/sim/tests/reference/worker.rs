//! One worker: what it issues and what it measures.

use std::collections::BTreeMap;

use fathom_workload::generator::{
    ArrivalSchedule, Io, SharedCursor, StreamKey, TargetRange, WorkerStream,
};
use fathom_workload::{Direction, Job, OpenSync};

use super::layout::Placed;

/// An I/O that was issued.
#[derive(Debug, Clone, Copy)]
struct Issued {
    at: u64,
    intended: u64,
    length: u64,
    way: usize,
}

/// What one worker measured, by direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    pub bytes: u64,
    /// Issue to completion of each I/O, in ns.
    pub latencies: Vec<u64>,
    /// Intended start to completion.
    pub responses: Vec<u64>,
    /// Time waited by limit.
    pub waited: BTreeMap<&'static str, u128>,
}

/// A worker under way.
pub struct Worker {
    pub job: usize,
    pub number: u32,
    pub targets: Vec<Placed>,
    /// Its writes must be durable when they complete.
    pub durable: bool,
    pub stream_name: u64,
    stream: WorkerStream,
    schedule: Option<ArrivalSchedule>,
    depth: usize,
    /// First I/O, start of measurement, and the end of issuing, in ns of the run.
    pub first: u64,
    pub measure: u64,
    deadline: Option<u64>,
    /// How far its schedule was moved.
    moved: u64,
    /// Drawn, but not issued yet, with its intended start.
    ahead: Option<(Io, u64)>,
    /// When it will be looked at because of `ahead`.
    alarm: Option<u64>,
    course: Course,
    issued: Vec<Issued>,
    outstanding: usize,
    pub last_completion: u64,
    pub measured: [Measured; 3],
}

/// How far a worker has come.
#[derive(PartialEq)]
enum Course {
    Runs,
    /// Its time is over, and what was due by then still goes.
    WorksOff,
    TimedOut,
    /// Nothing was left to draw.
    Done,
}

/// What a worker does next.
pub enum Next {
    /// Issue this I/O, which is number so-and-so of its issued ones.
    Issue(Io, usize),
    /// Look again at this time.
    Alarm(u64),
    /// Nothing for now.
    Nothing,
}

impl Worker {
    /// Worker `number` of the job with index `index` in its stage, `key.job` in its workload; the stage starts at `start`.
    pub fn new(
        job: &Job,
        index: usize,
        (key, repeat): (StreamKey, u32),
        targets: &[Placed],
        shared: &SharedCursor,
        start: u64,
    ) -> Self {
        let ranges: Vec<TargetRange> = targets.iter().map(|target| target.range).collect();
        let stream = WorkerStream::new(job, key, &ranges, shared).expect("the job has a stream");
        // The salt of a repeat's arrivals, counted from 0, lies 2^32 behind that of the one before.
        let salt = job.salt.wrapping_add(u64::from(repeat) * 4_294_967_296);
        let schedule = ArrivalSchedule::of(job, StreamKey { salt, ..key });
        let first = start + job.limits.start_delay.get();
        let measure = first + job.limits.warmup.get();
        Self {
            job: index,
            number: key.worker,
            targets: targets.to_vec(),
            durable: job.sync.open != OpenSync::None,
            stream_name: u64::from(key.job) << 32 | u64::from(key.worker),
            stream,
            schedule,
            depth: job.effective_depth().max(1) as usize,
            first,
            measure,
            deadline: job.limits.runtime.map(|runtime| measure + runtime.get()),
            moved: 0,
            ahead: None,
            alarm: None,
            course: Course::Runs,
            issued: Vec::new(),
            outstanding: 0,
            last_completion: 0,
            measured: Default::default(),
        }
    }

    /// The alarm of this time rings.
    pub fn ring(&mut self, now: u64) {
        if self.alarm == Some(now) {
            self.alarm = None;
        }
    }

    /// What to do now; asked again until there is nothing.
    pub fn next(&mut self, now: u64) -> Next {
        if matches!(self.course, Course::TimedOut | Course::Done) || self.outstanding == self.depth
        {
            return Next::Nothing;
        }
        if let Some(deadline) = self.deadline.filter(|deadline| now >= *deadline) {
            self.ahead = if self.schedule.is_some() {
                self.draw(now)
            } else {
                None
            };
            // Of an open loop, what was due still goes where it is late by a hundredth of the measured time at most.
            let hundredth = (deadline - self.measure) / 100;
            let goes = |intended: u64| {
                intended < deadline
                    && (self.course == Course::WorksOff || deadline - intended <= hundredth)
            };
            let works_off = self.ahead.as_ref().is_some_and(|(_, at)| goes(*at));
            self.course = if works_off {
                Course::WorksOff
            } else {
                Course::TimedOut
            };
            if !works_off {
                return Next::Nothing;
            }
        }
        let Some((io, intended)) = self.draw(now) else {
            self.course = Course::Done;
            return Next::Nothing;
        };
        if intended <= now {
            self.outstanding += 1;
            self.issued.push(Issued {
                at: now,
                intended,
                length: u64::from(io.length),
                way: io.direction as usize,
            });
            return Next::Issue(io, self.issued.len() - 1);
        }
        if self.deadline.is_some_and(|deadline| intended >= deadline) {
            self.course = Course::TimedOut;
            return Next::Nothing;
        }
        self.ahead = Some((io, intended));
        if self.alarm == Some(intended) {
            return Next::Nothing;
        }
        self.alarm = Some(intended);
        Next::Alarm(intended)
    }

    /// The next I/O and its intended start.
    fn draw(&mut self, now: u64) -> Option<(Io, u64)> {
        let (io, mut intended) = if let Some(ahead) = self.ahead.take() {
            ahead
        } else {
            let io = self.stream.next_io()?;
            let schedule = self.schedule.as_mut();
            let moved = self.first + self.moved;
            let intended = schedule.map_or(now, |schedule| moved + schedule.next_start(io.length));
            (io, intended)
        };
        // The measurement begins without what is late.
        if now >= self.measure && intended < self.measure {
            self.moved += self.measure - intended;
            intended = self.measure;
        }
        Some((io, intended))
    }

    /// Until when it has measured: where its time ended it, to the end of that at least.
    pub fn end(&self) -> u64 {
        let end = self.last_completion.max(self.measure);
        let deadline = self.deadline.filter(|_| self.course != Course::Done);
        deadline.map_or(end, |deadline| end.max(deadline))
    }

    /// An issued I/O is finished.
    pub fn finish(&mut self, now: u64, number: usize, waits: &[(&'static str, u64)]) {
        self.outstanding -= 1;
        if now < self.measure {
            return;
        }
        self.last_completion = now;
        let issued = self.issued[number];
        let measured = &mut self.measured[issued.way];
        measured.bytes += issued.length;
        measured.latencies.push(now - issued.at);
        measured.responses.push(now - issued.intended);
        for (limit, time) in waits.iter().filter(|(_, time)| *time > 0) {
            *measured.waited.entry(limit).or_default() += u128::from(*time);
        }
    }

    /// Whether it writes to storage with this I/O.
    pub fn writes(io: &Io) -> bool {
        io.direction != Direction::Read
    }
}
