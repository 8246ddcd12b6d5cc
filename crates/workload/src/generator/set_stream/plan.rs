//! Planning of a worker's next request on a file set.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_units::{Bytes, Percent};

use super::{InFile, Permutation, Plan, SetAct, SetFile, SetStream, own};
use crate::generator::set_state::{Change, Claim, SetState, Wanted};
use crate::{Access, Coverage, Direction, FileTask, SetChoice, SetFormat, SetOperation, StopAfter};

/// Random choices that are tried before all files are gone through from one of them on.
const TRIES: u32 = 64;

impl SetStream {
    pub(super) fn plan(&mut self) -> Plan {
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
            let place = if let Some(place) = self.kept.take() {
                place
            } else {
                let index = self.share.taken.fetch_add(1, Ordering::SeqCst);
                if index >= length {
                    return Err(Plan::None);
                }
                match self.work.choice {
                    SetChoice::Sequential => index,
                    _ if self.formats() => index,
                    _ => self.once_order.at(index),
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
            if let Err(none) = self.turn_to(|stream| stream.choose(wanted)) {
                return none;
            }
        }
        if let Some(act) = self.block(direction) {
            self.queue.push_back(act);
        }
        Plan::Ready
    }

    /// Opens the file that `choose` gives, and closes the one that was open. Where it gives none, that one stays open until there
    /// is another, or the job ends.
    fn turn_to(&mut self, choose: impl FnOnce(&mut Self) -> Result<u32, Plan>) -> Result<(), Plan> {
        let closing = self.current.take();
        let file = match choose(self) {
            Ok(file) => file,
            Err(none) => {
                self.current = closing;
                return Err(none);
            }
        };
        if let Some(closing) = closing {
            self.queue.push_back(SetAct::Close(own(closing.file)));
        }
        self.open(file);
        Ok(())
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

    pub(super) fn block_size(&mut self, direction: Direction) -> u64 {
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
    pub(super) fn copy_on(&mut self) -> Option<Vec<SetAct>> {
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
            let directory = if let Some(directory) = self.directory.take() {
                directory
            } else {
                let taken = &self.share.directories_taken;
                let next = taken.fetch_add(1, Ordering::SeqCst);
                if next >= state.directory_total() {
                    let all = state.existing_directories() == state.directory_total();
                    return (!all).then_some(Plan::Busy);
                }
                next as u32
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
        let over = (self.current.as_ref()).is_none_or(|file| file.is_over(true));
        if over && let Err(none) = self.turn_to(Self::choose_once_of_all) {
            return none;
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
