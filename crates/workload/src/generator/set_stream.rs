//! What a worker on a file set does next.
//!
//! A stream gives one [`SetAct`] after another. Whoever does them, on real storage or in virtual time, says of each how it
//! went before it asks for the next. Several acts may belong to one request: a block that is read from another file than
//! the last one begins with closing that and opening this. A job's rate counts requests.
//!
//! Invariant: with one worker the sequence depends on the key, the job and what there is at the start alone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_units::{Bytes, Percent};

use super::StreamKey;
use super::permutation::Permutation;
use super::rng::{Purpose, Xoshiro256};
use super::set_state::{Change, Claim, SetShare, SetState, Wanted, changes};
use crate::{
    Access, BlockSizes, Coverage, Direction, FileTask, FileWork, Job, Mix, SetChoice, SetFormat,
    SetOperation, StopAfter,
};

/// Random choices that are tried before all files are gone through from one of them on.
const TRIES: u32 = 64;
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
    pub fn next(&mut self) -> SetNext {
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

    /// Says how an act went that [`Self::next`] gave.
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
                } else if !self.sets[file.set as usize].reserve(self.parent(file)) {
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
                self.sets[file.set as usize].leave(parent);
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
                    self.sets[1].leave(self.parent(files[1]));
                }
                files.into_iter().for_each(|file| self.release(file));
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
                self.sets[1].leave(self.parent(to));
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

    fn parent(&self, file: SetFile) -> Option<u32> {
        let set = self.sets[file.set as usize].set();
        Some(set.directory_of(file.number))
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

    fn plan(&mut self) -> Plan {
        match self.work.task {
            FileTask::MakeDirectory => self.plan_directory(
                SetState::claim_missing_directory,
                Change::RemovesDirectories,
                SetAct::MakeDirectory,
            ),
            FileTask::RemoveDirectory => self.plan_directory(
                SetState::claim_empty_directory,
                Change::MakesDirectories,
                SetAct::RemoveDirectory,
            ),
            FileTask::Create => self.plan_file(Wanted::Missing, |file| {
                [SetAct::Create(file), SetAct::Close(file)].into()
            }),
            FileTask::Delete => self.plan_file(Wanted::There, |file| vec![SetAct::Delete(file)]),
            FileTask::Open => self.plan_file(Wanted::There, |file| {
                [SetAct::Open(file, Direction::Read), SetAct::Close(file)].into()
            }),
            FileTask::Close => self.plan_file(Wanted::There, |file| {
                [SetAct::Open(file, Direction::Write), SetAct::Close(file)].into()
            }),
            FileTask::Access => self.plan_file(Wanted::There, |file| vec![SetAct::Access(file)]),
            FileTask::GetAttributes => {
                self.plan_file(Wanted::There, |file| vec![SetAct::GetAttributes(file)])
            }
            FileTask::SetAttributes => {
                self.plan_file(Wanted::There, |file| vec![SetAct::SetAttributes(file)])
            }
            FileTask::Read | FileTask::Write | FileTask::ReadWrite => self.plan_block(),
            FileTask::Copy | FileTask::Move => self.plan_second(),
            FileTask::Format(format) => self.plan_format(format),
        }
    }

    /// Chooses a file that is as wanted and takes it.
    fn choose(&mut self, wanted: Wanted) -> Result<u32, Plan> {
        let formats = self.formats();
        let state = Arc::clone(&self.sets[0]);
        let length = state.list_length(formats);
        if self.once {
            return self.choose_once(&state, length, wanted);
        }
        if length == 0 {
            return Err(Plan::None);
        }
        let mut busy = false;
        let mut start = 0;
        if self.work.choice == SetChoice::Sequential {
            start = state.next_file.fetch_add(1, Ordering::Relaxed) % length;
        } else {
            for _ in 0..TRIES {
                start = self.random_place(length);
                match self.claim(&state, state.listed(start, formats), wanted) {
                    Claim::Granted => return Ok(state.listed(start, formats)),
                    Claim::Busy => busy = true,
                    Claim::Unfit => {}
                }
            }
        }
        for step in 0..length {
            let file = state.listed((start + step) % length, formats);
            match self.claim(&state, file, wanted) {
                Claim::Granted => {
                    if self.work.choice == SetChoice::Sequential && step > 0 {
                        // Those who come next need not look at what does not fit again.
                        state.next_file.fetch_add(step, Ordering::Relaxed);
                    }
                    return Ok(file);
                }
                Claim::Busy => busy = true,
                Claim::Unfit => {}
            }
        }
        let awaited = match wanted {
            Wanted::Missing => {
                state.is_changed(Change::RemovesFiles) || state.is_changed(Change::MakesDirectories)
            }
            Wanted::There | Wanted::Whole => state.is_changed(Change::MakesFiles),
            Wanted::Any | Wanted::Unfinished => state.is_changed(Change::MakesDirectories),
        };
        Err(if busy || awaited {
            Plan::Busy
        } else {
            Plan::None
        })
    }

    /// Each place of the list once, over all workers of the job.
    fn choose_once(&mut self, state: &SetState, length: u64, wanted: Wanted) -> Result<u32, Plan> {
        loop {
            let place = match self.kept.take() {
                Some(place) => place,
                None => {
                    let index = self.share.taken.fetch_add(1, Ordering::SeqCst);
                    if index >= length {
                        return Err(Plan::None);
                    }
                    match self.work.choice {
                        SetChoice::Sequential => index,
                        _ if self.formats() => index,
                        _ => self.once_order.at(index),
                    }
                }
            };
            let file = state.listed(place, self.formats());
            match self.claim(state, file, wanted) {
                Claim::Granted => return Ok(file),
                Claim::Busy => {
                    self.kept = Some(place);
                    return Err(Plan::Busy);
                }
                Claim::Unfit => {}
            }
        }
    }

    fn random_place(&mut self, length: u64) -> u64 {
        if self.bands.is_empty() {
            return self.files.below(length);
        }
        let draw = self.files.next() >> 32;
        let band = self.bands.partition_point(|below| *below <= draw) as u64;
        let bands = self.bands.len() as u64;
        let (from, to) = (length * band / bands, length * (band + 1) / bands);
        (from + self.files.below((to - from).max(1))).min(length - 1)
    }

    /// Takes a file; where it is to be made, its place in its directory too.
    fn claim(&self, state: &SetState, file: u32, wanted: Wanted) -> Claim {
        let claim = state.claim_file(file, wanted, self.work.shared);
        if claim != Claim::Granted || state.has_file(file) {
            return claim;
        }
        if state.reserve(Some(state.set().directory_of(file))) {
            return Claim::Granted;
        }
        if !self.work.shared {
            state.release_file(file);
        }
        Claim::Unfit
    }

    fn plan_file(&mut self, wanted: Wanted, acts: impl FnOnce(SetFile) -> Vec<SetAct>) -> Plan {
        match self.choose(wanted) {
            Ok(file) => {
                self.queue.extend(acts(own(file)));
                Plan::Ready
            }
            Err(none) => none,
        }
    }

    fn plan_directory(
        &mut self,
        claim: fn(&SetState, u32) -> Claim,
        awaited: Change,
        act: fn(u32) -> SetAct,
    ) -> Plan {
        let state = Arc::clone(&self.sets[0]);
        let total = state.directory_total();
        let removes = awaited == Change::MakesDirectories;
        let mut busy = false;
        let random = self.work.choice != SetChoice::Sequential && !self.once;
        let start = if random {
            self.files.below(total)
        } else {
            state.next_directory.fetch_add(1, Ordering::Relaxed) % total
        };
        for step in 0..total {
            let place = (start + step) % total;
            // Directories go from the last level up.
            let directory = if removes && !random {
                total - 1 - place
            } else {
                place
            } as u32;
            match claim(&state, directory) {
                Claim::Granted => {
                    self.queue.push_back(act(directory));
                    return Plan::Ready;
                }
                Claim::Busy => busy = true,
                Claim::Unfit => {}
            }
        }
        let files_go = removes && state.is_changed(Change::RemovesFiles);
        if busy || files_go || state.is_changed(awaited) {
            Plan::Busy
        } else {
            Plan::None
        }
    }

    /// The next block, of the file that is open or of another.
    fn plan_block(&mut self) -> Plan {
        let sequential = self.is_sequential();
        let direction = self.direction();
        let over = (self.current.as_ref()).is_none_or(|file| file.is_over(sequential));
        if over {
            let wanted = match self.work.task {
                FileTask::Write if sequential => Wanted::Any,
                FileTask::Write => Wanted::There,
                _ => Wanted::Whole,
            };
            let closing = self.current.take();
            let file = match self.choose(wanted) {
                Ok(file) => file,
                Err(none) => {
                    // What is open stays so until there is another, or the job ends.
                    self.current = closing;
                    return none;
                }
            };
            if let Some(closing) = closing {
                self.queue.push_back(SetAct::Close(own(closing.file)));
            }
            self.open(file);
        }
        if let Some(act) = self.block(direction) {
            self.queue.push_back(act);
        }
        Plan::Ready
    }

    fn direction(&mut self) -> Direction {
        match self.work.task {
            FileTask::Read => Direction::Read,
            FileTask::ReadWrite => {
                let all = u64::from(Percent::ALL.basis_points());
                let reads = u64::from(self.mix.read.basis_points());
                if self.directions.below(all) < reads {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
            _ => Direction::Write,
        }
    }

    /// Plans that a file is opened, or made, and begins with it.
    fn open(&mut self, file: u32) {
        let state = &self.sets[0];
        let there = state.has_file(file);
        let own_file = own(file);
        let anew =
            self.work.delete_first && self.is_sequential() && self.work.task == FileTask::Write;
        if there && anew {
            self.queue.push_back(SetAct::Delete(own_file));
        }
        self.queue.push_back(match self.work.task {
            _ if !there || anew => SetAct::Create(own_file),
            FileTask::Read => SetAct::Open(own_file, Direction::Read),
            _ => SetAct::Open(own_file, Direction::Write),
        });
        self.current = Some(self.in_file(file));
    }

    fn in_file(&mut self, file: u32) -> InFile {
        let size = self.sets[0].set().size(file).get();
        let (bytes_most, ios_most) = match self.work.stop_after {
            _ if self.formats() => (size, u64::MAX),
            None => (size, u64::MAX),
            Some(StopAfter::Ios(ios)) => (u64::MAX, ios),
            Some(StopAfter::Share(share)) => {
                let part = u128::from(size) * u128::from(share.basis_points()) / 10_000;
                (u64::try_from(part).unwrap_or(u64::MAX).max(1), u64::MAX)
            }
        };
        let each_once = matches!(
            self.access,
            Access::Random {
                coverage: Coverage::EachBlockOnce,
                ..
            }
        );
        let block = self.block.single_size(self.mix).map_or(0, Bytes::get);
        let order = (each_once && block > 0 && !self.formats())
            .then(|| Permutation::new(size.div_ceil(block), self.offsets.next()));
        InFile {
            file,
            size,
            position: 0,
            bytes: 0,
            ios: 0,
            order,
            bytes_most,
            ios_most,
        }
    }

    /// The next block of the file that is open; `None` where it has no bytes.
    fn block(&mut self, direction: Direction) -> Option<SetAct> {
        let block = self.block_size(direction);
        let sequential = self.is_sequential();
        let file = self.current.as_mut()?;
        let blocks = file.size.div_ceil(block).max(1);
        let offset = if sequential {
            file.position
        } else if let Some(order) = &file.order {
            order.at(file.ios % blocks) * block
        } else {
            // Only whole blocks, where there is one.
            self.offsets.below((file.size / block).max(1)) * block
        };
        let length = block.min(file.size.saturating_sub(offset));
        file.position = offset + length;
        file.bytes += length;
        file.ios += 1;
        (length > 0).then_some(SetAct::Transfer {
            file: own(file.file),
            direction,
            offset,
            length: length as u32,
        })
    }

    fn block_size(&mut self, direction: Direction) -> u64 {
        let list = self.block.of(direction);
        let total = list.iter().map(|entry| u64::from(entry.weight)).sum();
        let mut left = self.sizes.below(total);
        for entry in list {
            match left.checked_sub(u64::from(entry.weight)) {
                Some(rest) => left = rest,
                None => return entry.size.get().max(1),
            }
        }
        list.first().map_or(1, |entry| entry.size.get().max(1))
    }

    /// A copy or a move to the file of the same number in the second set.
    fn plan_second(&mut self) -> Plan {
        let number = match self.choose(Wanted::Whole) {
            Ok(number) => number,
            Err(none) => return none,
        };
        let to = SetFile { set: 1, number };
        let second = Arc::clone(&self.sets[1]);
        match self.claim(&second, number, Wanted::Any) {
            Claim::Granted => {}
            Claim::Busy => {
                self.release(own(number));
                return Plan::Busy;
            }
            Claim::Unfit => {
                self.release(own(number));
                // Its directory is missing there.
                return Plan::None;
            }
        }
        if second.has_file(number) {
            self.queue.push_back(SetAct::Delete(to));
        }
        if self.work.task == FileTask::Move {
            self.queue.push_back(SetAct::Move(number));
        } else {
            self.queue
                .push_back(SetAct::Open(own(number), Direction::Read));
            self.queue.push_back(SetAct::Create(to));
            let mut file = self.in_file(number);
            (file.bytes_most, file.ios_most) = (file.size, u64::MAX);
            self.copying = Some(file);
        }
        Plan::Ready
    }

    /// The next block of a copy, or its end.
    fn copy_on(&mut self) -> Option<Vec<SetAct>> {
        let file = self.copying.as_ref()?;
        let (number, position, size) = (file.file, file.position, file.size);
        let to = SetFile { set: 1, number };
        if position >= size {
            self.copying = None;
            self.pending_whole = Some(SetOperation::Copy);
            return Some(vec![SetAct::Close(own(number)), SetAct::Close(to)]);
        }
        let length = self.block_size(Direction::Read).min(size - position);
        if let Some(file) = &mut self.copying {
            file.position += length;
        }
        let transfer = |file, direction| SetAct::Transfer {
            file,
            direction,
            offset: position,
            length: length as u32,
        };
        Some(vec![
            transfer(own(number), Direction::Read),
            transfer(to, Direction::Write),
        ])
    }

    /// First what is to go, then directories, then files; each when all of the one before is done.
    fn plan_format(&mut self, format: SetFormat) -> Plan {
        if self.share.failed.load(Ordering::SeqCst) {
            return Plan::None;
        }
        if matches!(format, SetFormat::Anew | SetFormat::Clean) {
            let cleaned = &self.share.cleaned;
            match cleaned.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    self.queue.push_back(SetAct::CleanUp);
                    return Plan::Ready;
                }
                Err(1) => return Plan::Busy,
                Err(_) if format == SetFormat::Clean => return Plan::None,
                Err(_) => {}
            }
        }
        // A block is written to the end of its file before anything else is done.
        if self
            .current
            .as_ref()
            .is_some_and(|file| !file.is_over(true))
        {
            return self.plan_format_block();
        }
        match self.plan_format_directory() {
            Some(plan) => plan,
            None if format == SetFormat::Directories => Plan::None,
            None => self.plan_format_block(),
        }
    }

    /// The next directory that is missing; `None` where all are there.
    fn plan_format_directory(&mut self) -> Option<Plan> {
        let state = Arc::clone(&self.sets[0]);
        loop {
            let directory = match self.directory.take() {
                Some(directory) => directory,
                None => {
                    let taken = &self.share.directories_taken;
                    let next = taken.fetch_add(1, Ordering::SeqCst);
                    if next >= state.directory_total() {
                        let all = state.existing_directories() == state.directory_total();
                        return (!all).then_some(Plan::Busy);
                    }
                    next as u32
                }
            };
            if state.has_directory(directory) {
                continue;
            }
            if state.claim_missing_directory(directory) == Claim::Granted {
                self.queue.push_back(SetAct::MakeDirectory(directory));
                return Some(Plan::Ready);
            }
            // Its parent is being made by another worker.
            self.directory = Some(directory);
            return Some(Plan::Busy);
        }
    }

    fn plan_format_block(&mut self) -> Plan {
        if self.current.as_ref().is_none_or(|file| file.is_over(true)) {
            let closing = self.current.take();
            let file = match self.choose_once_of_all() {
                Ok(file) => file,
                Err(none) => {
                    self.current = closing;
                    return none;
                }
            };
            if let Some(closing) = closing {
                self.queue.push_back(SetAct::Close(own(closing.file)));
            }
            self.open(file);
        }
        if let Some(act) = self.block(Direction::Write) {
            self.queue.push_back(act);
        }
        Plan::Ready
    }

    fn choose_once_of_all(&mut self) -> Result<u32, Plan> {
        let state = Arc::clone(&self.sets[0]);
        let length = state.list_length(true);
        self.choose_once(&state, length, Wanted::Unfinished)
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
