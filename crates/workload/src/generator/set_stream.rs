//! What a worker on a file set does next.
//!
//! A stream gives one [`SetAct`] after another. Whoever does them, on real storage or in virtual time, says of each how it
//! went before it asks for the next. Several acts may belong to one request: a block that is read from another file than
//! the last one begins with closing that and opening this. A job's rate counts requests.
//!
//! Invariant: with one worker the sequence depends on the key, the job and what there is at the start alone.

mod plan;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_units::Bytes;

use super::StreamKey;
use super::permutation::Permutation;
use super::rng::{Purpose, Xoshiro256};
use super::set_state::{SetShare, SetState, changes};
use crate::{Access, BlockSizes, Direction, FileTask, FileWork, Job, Mix, SetChoice, SetOperation};

/// Bands that a list is divided into for a Poisson choice, for each unit of the mean, and at least.
const BANDS_PER_MEAN: u32 = 4;
const BANDS_LEAST: u32 = 12;

/// A file of one of a job's sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetFile {
    /// 0: of the job's first set, 1: of its second.
    pub set: u8,
    /// Its number within the set.
    pub number: u32,
}

/// One thing that is done to a file set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetAct {
    /// Make this directory.
    MakeDirectory(u32),
    /// Remove this directory.
    RemoveDirectory(u32),
    /// Make this file and leave it open for writing.
    Create(SetFile),
    /// Open this file.
    Open(SetFile, Direction),
    /// Move data of a file that is open.
    Transfer {
        /// The file.
        file: SetFile,
        /// To or from it.
        direction: Direction,
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// Close this file.
    Close(SetFile),
    /// Remove this file.
    Delete(SetFile),
    /// Ask whether this file may be read.
    Access(SetFile),
    /// Ask for this file's attributes.
    GetAttributes(SetFile),
    /// Change this file's time of modification.
    SetAttributes(SetFile),
    /// Rename this file of the first set to the one of the same number in the second.
    Move(u32),
    /// Remove everything of the first set, and whatever of an earlier set of other shape is there.
    CleanUp,
}

impl SetAct {
    /// What it is counted as; reads, writes and the parts of a clean-up are not counted as operations.
    pub const fn operation(self) -> Option<SetOperation> {
        Some(match self {
            Self::MakeDirectory(_) => SetOperation::MakeDirectory,
            Self::RemoveDirectory(_) => SetOperation::RemoveDirectory,
            Self::Create(_) => SetOperation::Create,
            Self::Open(..) => SetOperation::Open,
            Self::Close(_) => SetOperation::Close,
            Self::Delete(_) => SetOperation::Delete,
            Self::Access(_) => SetOperation::Access,
            Self::GetAttributes(_) => SetOperation::GetAttributes,
            Self::SetAttributes(_) => SetOperation::SetAttributes,
            Self::Move(_) => SetOperation::Move,
            Self::Transfer { .. } | Self::CleanUp => return None,
        })
    }
}

/// What a stream has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetNext {
    /// To be done now, or, where it begins a request, when that is due.
    Act(SetAct, RequestPart),
    /// A request of several acts is over; it is counted from its start.
    Whole(SetOperation),
    /// Everything that fits is used by others: ask again later.
    Busy,
    /// Nothing any more.
    End,
}

/// Where in its request an act stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// It is the first.
    First,
    /// It follows another.
    Later,
}

/// How an act went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActEnd {
    /// It was done.
    Done,
    /// It failed.
    Failed,
}

/// A file that is read or written.
#[derive(Debug, Clone)]
struct InFile {
    file: u32,
    size: u64,
    position: u64,
    bytes: u64,
    ios: u64,
    order: Option<Permutation>,
    /// Bytes and I/Os after which it is left.
    bytes_most: u64,
    ios_most: u64,
}

impl InFile {
    fn is_over(&self, sequential: bool) -> bool {
        self.bytes >= self.bytes_most
            || self.ios >= self.ios_most
            || (sequential && self.position >= self.size)
    }
}

/// Draws what one worker of a job does.
#[derive(Debug)]
pub struct SetStream {
    work: FileWork,
    mix: Mix,
    block: BlockSizes,
    access: Access,
    sets: Vec<Arc<SetState>>,
    share: Arc<SetShare>,
    /// Whether each file or directory is chosen once.
    once: bool,
    once_order: Permutation,
    bands: Vec<u64>,
    files: Xoshiro256,
    offsets: Xoshiro256,
    sizes: Xoshiro256,
    directions: Xoshiro256,
    requests_left: u64,
    queue: VecDeque<SetAct>,
    next_is_first: bool,
    current: Option<InFile>,
    /// Place in the list that could not be had yet.
    kept: Option<u64>,
    copying: Option<InFile>,
    pending_whole: Option<SetOperation>,
    /// The directory of a format that waits for its parent, or the next phase.
    directory: Option<u32>,
    over: bool,
}

impl SetStream {
    /// The stream of the worker that `key` names, of a job that does `work` on `sets`: one, or two for copies and moves.
    pub fn new(
        job: &Job,
        work: &FileWork,
        key: StreamKey,
        sets: Vec<Arc<SetState>>,
        share: Arc<SetShare>,
    ) -> Self {
        for change in changes(work.task, work.delete_first) {
            sets[0].begin_change(change);
        }
        let limits = &job.limits;
        let formats = matches!(work.task, FileTask::Format(_));
        let length = sets[0].list_length(formats);
        // All workers of a job go through one order.
        let order = StreamKey { worker: 0, ..key };
        let draws = |purpose| Xoshiro256::keyed(key, purpose);
        Self {
            mix: job.mix,
            block: job.block.clone(),
            access: job.access,
            once: work.once || (limits.runtime.is_none() && limits.ios.is_none()),
            once_order: Permutation::new(length, Xoshiro256::keyed(order, Purpose::Jump).next()),
            bands: match work.choice {
                SetChoice::Poisson(mean) => poisson_bands(mean),
                _ => Vec::new(),
            },
            work: work.clone(),
            sets,
            share,
            files: draws(Purpose::Target),
            offsets: draws(Purpose::Offset),
            sizes: draws(Purpose::Size),
            directions: draws(Purpose::Direction),
            requests_left: limits.ios.unwrap_or(u64::MAX),
            queue: VecDeque::with_capacity(8),
            next_is_first: true,
            current: None,
            kept: None,
            copying: None,
            pending_whole: None,
            directory: None,
            over: false,
        }
    }

    /// What is to be done next.
    pub fn next_act(&mut self) -> SetNext {
        if let Some(act) = self.queue.pop_front() {
            return self.give(act);
        }
        if let Some(act) = self.copy_on() {
            self.queue.extend(act);
            if let Some(act) = self.queue.pop_front() {
                return self.give(act);
            }
        }
        if let Some(whole) = self.pending_whole.take() {
            return SetNext::Whole(whole);
        }
        if self.over {
            return SetNext::End;
        }
        self.next_is_first = true;
        let planned = if self.requests_left == 0 {
            Plan::None
        } else {
            self.plan()
        };
        match planned {
            Plan::Ready => {
                self.requests_left -= 1;
                let act = self.queue.pop_front();
                act.map_or(SetNext::Busy, |act| self.give(act))
            }
            Plan::Busy => SetNext::Busy,
            Plan::None => {
                self.over = true;
                // What is open is closed as part of the job.
                match self.current.take() {
                    Some(file) => self.give(SetAct::Close(own(file.file))),
                    None => SetNext::End,
                }
            }
        }
    }

    fn give(&mut self, act: SetAct) -> SetNext {
        let part = if std::mem::take(&mut self.next_is_first) {
            RequestPart::First
        } else {
            RequestPart::Later
        };
        SetNext::Act(act, part)
    }

    /// Whether the request that was begun has acts left that are to be done before the worker may stop.
    pub fn is_within_request(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Says how an act went that [`Self::next_act`] gave.
    pub fn ended(&mut self, act: SetAct, end: ActEnd) {
        let done = end == ActEnd::Done;
        if !done {
            self.give_up(act);
            return;
        }
        match act {
            SetAct::MakeDirectory(directory) => self.sets[0].directory_made(directory),
            SetAct::RemoveDirectory(directory) => self.sets[0].directory_removed(directory),
            SetAct::Create(file) => {
                let state = &self.sets[file.set as usize];
                state.file_made(file.number);
                if state.set().size(file.number) == Bytes::ZERO {
                    state.file_complete(file.number);
                }
            }
            SetAct::Delete(file) => {
                self.sets[file.set as usize].file_removed(file.number);
                if self.work.task == FileTask::Delete {
                    self.release(file);
                } else if !self.sets[file.set as usize].reserve(Some(self.parent(file))) {
                    // Its directory went at the same moment: what was to follow cannot be.
                    self.give_up(act);
                }
            }
            SetAct::Access(file) | SetAct::GetAttributes(file) | SetAct::SetAttributes(file) => {
                self.release(file);
            }
            SetAct::Close(file) => self.release(file),
            SetAct::Move(number) => {
                let to = SetFile { set: 1, number };
                self.sets[0].file_removed(number);
                self.sets[1].file_made(number);
                self.sets[1].file_complete(number);
                self.release(own(number));
                self.release(to);
            }
            SetAct::CleanUp => {
                self.sets[0].forget_all();
                self.share.cleaned.store(2, Ordering::SeqCst);
            }
            SetAct::Transfer {
                file,
                direction,
                offset,
                length,
            } => self.transferred(file, direction, offset + u64::from(length)),
            SetAct::Open(..) => {}
        }
    }

    /// A sequential write that has reached the end of its file has completed it.
    fn transferred(&self, file: SetFile, direction: Direction, end: u64) {
        let state = &self.sets[file.set as usize];
        let sequential = self.is_sequential() || file.set == 1;
        if direction == Direction::Write && sequential && end >= state.set().size(file.number).get()
        {
            state.file_complete(file.number);
        }
    }

    /// An act failed: what belongs to its request is left, and what was taken is given back.
    fn give_up(&mut self, act: SetAct) {
        if matches!(self.work.task, FileTask::Format(_)) {
            self.share.failed.store(true, Ordering::SeqCst);
        }
        let later: Vec<SetAct> = self.queue.drain(..).collect();
        match act {
            SetAct::MakeDirectory(directory) => {
                return self.sets[0].release_directory(directory, false);
            }
            SetAct::RemoveDirectory(directory) => {
                return self.sets[0].release_directory(directory, true);
            }
            // The file stays open, and the next block may go.
            SetAct::Transfer { .. } if self.copying.is_none() => return self.queue.extend(later),
            SetAct::CleanUp => return,
            SetAct::Create(file) => {
                let parent = self.parent(file);
                self.sets[file.set as usize].leave(Some(parent));
            }
            _ => {}
        }
        if let Some(copied) = self.copying.take() {
            self.pending_whole = None;
            let files = [0, 1].map(|set| SetFile {
                set,
                number: copied.file,
            });
            // Closing what was never opened does nothing.
            if matches!(act, SetAct::Transfer { .. } | SetAct::Create(_)) {
                self.queue.extend(files.map(SetAct::Close));
            } else {
                if matches!(act, SetAct::Open(..)) {
                    self.sets[1].leave(Some(self.parent(files[1])));
                }
                for file in files {
                    self.release(file);
                }
            }
            return;
        }
        // A block's request may close one file before it opens another.
        if let (SetAct::Close(closed), Some(current)) = (act, &self.current)
            && closed.number != current.file
        {
            self.release(closed);
            return self.queue.extend(later);
        }
        self.current = None;
        match act {
            SetAct::Move(number) => {
                let to = SetFile { set: 1, number };
                self.sets[1].leave(Some(self.parent(to)));
                self.release(own(number));
                self.release(to);
            }
            SetAct::Create(file)
            | SetAct::Open(file, _)
            | SetAct::Close(file)
            | SetAct::Delete(file)
            | SetAct::Access(file)
            | SetAct::GetAttributes(file)
            | SetAct::SetAttributes(file) => {
                self.release(file);
                if self.work.task == FileTask::Move {
                    self.release(own(file.number));
                }
            }
            _ => {}
        }
    }

    fn parent(&self, file: SetFile) -> u32 {
        let set = self.sets[file.set as usize].set();
        set.directory_of(file.number)
    }

    fn release(&self, file: SetFile) {
        if !self.work.shared {
            self.sets[file.set as usize].release_file(file.number);
        }
    }

    fn is_sequential(&self) -> bool {
        matches!(self.access, Access::Sequential { .. }) || self.formats()
    }

    fn formats(&self) -> bool {
        matches!(self.work.task, FileTask::Format(_))
    }
}

impl Drop for SetStream {
    fn drop(&mut self) {
        for change in changes(self.work.task, self.work.delete_first) {
            self.sets[0].end_change(change);
        }
        // A worker that is stopped within a request leaves nothing taken for the stage after it.
        if let Some(file) = self.current.as_ref().or(self.copying.as_ref()) {
            let number = file.file;
            self.release(own(number));
            if self.sets.len() > 1 {
                self.release(SetFile { set: 1, number });
            }
        }
    }
}

/// What came of planning a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Its acts are in the queue.
    Ready,
    /// What fits is used by others.
    Busy,
    /// There is nothing to do, and nobody will change that.
    None,
}

const fn own(number: u32) -> SetFile {
    SetFile { set: 0, number }
}

/// Upper ends of the bands of a Poisson choice, as parts of 2^32.
fn poisson_bands(mean: u32) -> Vec<u64> {
    let mean = mean.clamp(1, 100);
    let bands = (mean * BANDS_PER_MEAN).max(BANDS_LEAST);
    let mut weight = libm::exp(-f64::from(mean));
    let mut weights = Vec::new();
    for band in 0..bands {
        weights.push(weight);
        weight *= f64::from(mean) / f64::from(band + 1);
    }
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let ends = weights.iter().map(|weight| {
        sum += weight;
        (sum / total * 4_294_967_296.0) as u64
    });
    let mut ends: Vec<u64> = ends.collect();
    if let Some(last) = ends.last_mut() {
        *last = 1 << 32;
    }
    ends
}
