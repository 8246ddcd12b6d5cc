//! What is known of a file set while jobs work on it: which directories and files there are, and who uses them.
//!
//! Workers of all jobs on one set share it. It says what may be done, not what is on storage: whoever does it says
//! afterwards how it went.
//!
//! Invariants: a file is used by one worker at a time (but by those who share); a directory is removed only while nothing
//! is in it, and nothing is made in one that is being removed: who makes counts itself in before it looks, who removes
//! locks before it counts.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::ArrivalSchedule;
use crate::{FileSet, FileTask, SetFormat};

/// It is there.
const EXISTS: u8 = 1;
/// Of a file: it has all its bytes.
const COMPLETE: u8 = 2;
/// A worker uses it.
const BUSY: u8 = 4;

/// Directories and files of one set, shared by all who work on it.
#[derive(Debug)]
pub struct SetState {
    set: FileSet,
    files: Box<[AtomicU8]>,
    directories: Box<[AtomicU8]>,
    /// Of each directory: what is in it, or is about to be.
    entries: Box<[AtomicU32]>,
    existing_files: AtomicU64,
    existing_directories: AtomicU64,
    used: Option<Vec<u32>>,
    worked_on: Option<Vec<u32>>,
    /// Where those who choose one after another are.
    pub(super) next_file: AtomicU64,
    pub(super) next_directory: AtomicU64,
    /// Workers that change what there is, by [`Change`].
    active: [AtomicU32; 4],
}

/// What a worker may do for others that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    MakesFiles,
    RemovesFiles,
    MakesDirectories,
    RemovesDirectories,
}

/// What was found when something was to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It may be used, and is to be released.
    Granted,
    /// Another worker uses it.
    Busy,
    /// It is not as it should be.
    Unfit,
}

/// What a file has to be for a worker to use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    There,
    Whole,
    Missing,
    Any,
    /// Missing, or not complete.
    Unfinished,
}

/// What is on storage of a file when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundFile {
    /// It has at least the bytes that it should have.
    Whole,
    /// It has fewer.
    Short,
}

impl SetState {
    /// Of a set of which nothing exists. Its sizes must have been found good ([`crate::validate`]).
    pub fn new(set: &FileSet) -> Self {
        let files = set.file_count() as usize;
        let directories = set.directory_count() as usize;
        Self {
            set: set.clone(),
            files: (0..files).map(|_| AtomicU8::new(0)).collect(),
            directories: (0..directories).map(|_| AtomicU8::new(0)).collect(),
            entries: (0..directories).map(|_| AtomicU32::new(0)).collect(),
            existing_files: AtomicU64::new(0),
            existing_directories: AtomicU64::new(0),
            used: set.used(),
            worked_on: set.worked_on(),
            next_file: AtomicU64::new(0),
            next_directory: AtomicU64::new(0),
            active: Default::default(),
        }
    }

    /// The set.
    pub fn set(&self) -> &FileSet {
        &self.set
    }

    /// Files that are there.
    pub fn existing_files(&self) -> u64 {
        self.existing_files.load(Ordering::SeqCst)
    }

    /// Directories that are there.
    pub fn existing_directories(&self) -> u64 {
        self.existing_directories.load(Ordering::SeqCst)
    }

    /// Whether a file is there.
    pub fn has_file(&self, file: u32) -> bool {
        self.files[file as usize].load(Ordering::SeqCst) & EXISTS != 0
    }

    /// Whether a directory is there.
    pub fn has_directory(&self, directory: u32) -> bool {
        self.directories[directory as usize].load(Ordering::SeqCst) & EXISTS != 0
    }

    /// Notes a directory that was found; its parent was noted before.
    pub fn found_directory(&self, directory: u32) {
        self.enter(self.set.parent(directory));
        self.directory_made(directory);
    }

    /// Notes a file that was found; its directory was noted before.
    pub fn found_file(&self, file: u32, found: FoundFile) {
        self.enter(Some(self.set.directory_of(file)));
        self.file_made(file);
        if found == FoundFile::Whole {
            self.file_complete(file);
        }
    }

    /// Everything is there, complete: what a prediction begins with, where nothing is formatted before.
    pub fn fill(&self) {
        for directory in 0..self.directories.len() as u32 {
            self.found_directory(directory);
        }
        let all = 0..self.files.len() as u32;
        match &self.used {
            Some(used) => used
                .iter()
                .for_each(|file| self.found_file(*file, FoundFile::Whole)),
            None => all.for_each(|file| self.found_file(file, FoundFile::Whole)),
        }
    }

    /// Nothing is there any more.
    pub fn forget_all(&self) {
        let bits = self.files.iter().chain(&self.directories);
        bits.for_each(|bits| bits.store(0, Ordering::SeqCst));
        let entries = self.entries.iter();
        entries.for_each(|count| count.store(0, Ordering::SeqCst));
        self.existing_files.store(0, Ordering::SeqCst);
        self.existing_directories.store(0, Ordering::SeqCst);
    }

    /// A stage begins: those who choose one after another begin at the first.
    pub fn begin_stage(&self) {
        self.next_file.store(0, Ordering::SeqCst);
        self.next_directory.store(0, Ordering::SeqCst);
    }

    /// How many files may be chosen; formatting has all that are in use.
    pub(super) fn list_length(&self, formats: bool) -> u64 {
        let list = if formats { &self.used } else { &self.worked_on };
        list.as_ref().map_or(self.files.len(), Vec::len) as u64
    }

    /// The file at a place of the list.
    pub(super) fn listed(&self, place: u64, formats: bool) -> u32 {
        let list = if formats { &self.used } else { &self.worked_on };
        list.as_ref()
            .map_or(place as u32, |list| list[place as usize])
    }

    pub(super) fn directory_total(&self) -> u64 {
        self.directories.len() as u64
    }

    /// Takes a file, if it is as wanted. Those who share leave no mark.
    pub(super) fn claim_file(&self, file: u32, wanted: Wanted, shared: bool) -> Claim {
        let bits = &self.files[file as usize];
        let now = bits.load(Ordering::SeqCst);
        let fits = match wanted {
            Wanted::There => now & EXISTS != 0,
            Wanted::Whole => now & COMPLETE != 0,
            Wanted::Missing => now & EXISTS == 0,
            Wanted::Any => true,
            Wanted::Unfinished => now & COMPLETE == 0,
        };
        match (now & BUSY != 0, fits) {
            (true, _) => Claim::Busy,
            (false, false) => Claim::Unfit,
            (false, true) if shared => Claim::Granted,
            (false, true) => {
                let taken =
                    bits.compare_exchange(now, now | BUSY, Ordering::SeqCst, Ordering::SeqCst);
                taken.map_or(Claim::Busy, |_| Claim::Granted)
            }
        }
    }

    pub(super) fn release_file(&self, file: u32) {
        self.files[file as usize].fetch_and(!BUSY, Ordering::SeqCst);
    }

    /// Counts something in that is about to be made in a directory (`None`: the anchor); false where that is not there, or
    /// is being removed.
    pub(super) fn reserve(&self, parent: Option<u32>) -> bool {
        let Some(parent) = parent else { return true };
        self.enter(Some(parent));
        let bits = self.directories[parent as usize].load(Ordering::SeqCst);
        let stays = bits & EXISTS != 0 && bits & BUSY == 0;
        if !stays {
            self.leave(Some(parent));
        }
        stays
    }

    fn enter(&self, parent: Option<u32>) {
        if let Some(parent) = parent {
            self.entries[parent as usize].fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Takes back what [`Self::reserve`] counted, or what was removed.
    pub(super) fn leave(&self, parent: Option<u32>) {
        if let Some(parent) = parent {
            self.entries[parent as usize].fetch_sub(1, Ordering::SeqCst);
        }
    }

    pub(super) fn file_made(&self, file: u32) {
        let before = self.files[file as usize].fetch_or(EXISTS, Ordering::SeqCst);
        if before & EXISTS == 0 {
            self.existing_files.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(super) fn file_complete(&self, file: u32) {
        self.files[file as usize].fetch_or(COMPLETE, Ordering::SeqCst);
    }

    pub(super) fn file_removed(&self, file: u32) {
        let before = self.files[file as usize].fetch_and(BUSY, Ordering::SeqCst);
        if before & EXISTS != 0 {
            self.existing_files.fetch_sub(1, Ordering::SeqCst);
            self.leave(Some(self.set.directory_of(file)));
        }
    }

    pub(super) fn directory_made(&self, directory: u32) {
        self.directories[directory as usize].store(EXISTS, Ordering::SeqCst);
        self.existing_directories.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn directory_removed(&self, directory: u32) {
        self.directories[directory as usize].store(0, Ordering::SeqCst);
        self.existing_directories.fetch_sub(1, Ordering::SeqCst);
        self.leave(self.set.parent(directory));
    }

    /// Takes a directory to make it; its place in its parent is reserved.
    pub(super) fn claim_missing_directory(&self, directory: u32) -> Claim {
        let bits = &self.directories[directory as usize];
        match bits.compare_exchange(0, BUSY, Ordering::SeqCst, Ordering::SeqCst) {
            Err(now) if now & BUSY != 0 => Claim::Busy,
            Err(_) => Claim::Unfit,
            Ok(_) if self.reserve(self.set.parent(directory)) => Claim::Granted,
            Ok(_) => {
                bits.store(0, Ordering::SeqCst);
                Claim::Unfit
            }
        }
    }

    /// Takes an empty directory to remove it.
    pub(super) fn claim_empty_directory(&self, directory: u32) -> Claim {
        let bits = &self.directories[directory as usize];
        match bits.compare_exchange(EXISTS, EXISTS | BUSY, Ordering::SeqCst, Ordering::SeqCst) {
            Err(now) if now & BUSY != 0 => Claim::Busy,
            Err(_) => Claim::Unfit,
            Ok(_) if self.entries[directory as usize].load(Ordering::SeqCst) == 0 => Claim::Granted,
            Ok(_) => {
                bits.store(EXISTS, Ordering::SeqCst);
                Claim::Unfit
            }
        }
    }

    /// Gives a directory back as it was before it was taken to be made (`false`) or removed (`true`).
    pub(super) fn release_directory(&self, directory: u32, exists: bool) {
        let bits = if exists { EXISTS } else { 0 };
        self.directories[directory as usize].store(bits, Ordering::SeqCst);
        if !exists {
            self.leave(self.set.parent(directory));
        }
    }

    pub(super) fn begin_change(&self, change: Change) {
        self.active[change as usize].fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn end_change(&self, change: Change) {
        self.active[change as usize].fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn is_changed(&self, change: Change) -> bool {
        self.active[change as usize].load(Ordering::SeqCst) > 0
    }
}

/// What a task does for others that wait.
pub(super) fn changes(task: FileTask, delete_first: bool) -> Vec<Change> {
    let mut changes = match task {
        FileTask::MakeDirectory | FileTask::Format(SetFormat::Directories) => {
            vec![Change::MakesDirectories]
        }
        FileTask::RemoveDirectory => vec![Change::RemovesDirectories],
        FileTask::Create | FileTask::Write => vec![Change::MakesFiles],
        FileTask::Delete | FileTask::Move => vec![Change::RemovesFiles],
        FileTask::Format(_) => vec![Change::MakesDirectories, Change::MakesFiles],
        _ => Vec::new(),
    };
    if delete_first {
        changes.push(Change::RemovesFiles);
    }
    changes
}

/// What the workers of one job share beside the set.
#[derive(Debug, Default)]
pub struct SetShare {
    /// Files that were chosen, where each is chosen once.
    pub(super) taken: AtomicU64,
    /// The same of directories.
    pub(super) directories_taken: AtomicU64,
    /// 0: nobody has cleaned up; 1: a worker does; 2: it is done.
    pub(super) cleaned: AtomicU8,
    /// What a format needs could not be made.
    pub(super) failed: AtomicBool,
    /// Where the job has a rate: when its next request is to start.
    schedule: Option<Mutex<SetSchedule>>,
}

/// When the requests of a job with a rate are to start.
#[derive(Debug)]
struct SetSchedule {
    arrivals: ArrivalSchedule,
    /// How far all that is to come has been moved.
    moved: u64,
}

impl SetShare {
    /// Of a job, with its schedule where it has a rate.
    pub fn new(schedule: Option<ArrivalSchedule>) -> Self {
        Self {
            schedule: schedule.map(|arrivals| Mutex::new(SetSchedule { arrivals, moved: 0 })),
            ..Self::default()
        }
    }

    /// Whether the job has a rate.
    pub fn has_rate(&self) -> bool {
        self.schedule.is_some()
    }

    /// Intended start of the next request of all workers, in ns from the first; `None` where the job has no rate.
    ///
    /// It is no earlier than `earliest`: the start of the measurement, once that has begun, since what was late before is
    /// not owed to it. What follows is moved as far.
    pub fn next_start(&self, earliest: u64) -> Option<u64> {
        let mut schedule = self.schedule()?;
        let start = schedule
            .arrivals
            .next_start(1)
            .saturating_add(schedule.moved);
        schedule.moved = schedule
            .moved
            .saturating_add(earliest.saturating_sub(start));
        Some(start.max(earliest))
    }

    /// What [`Self::next_start`] will give next, whoever asks for it.
    pub fn peek_start(&self, earliest: u64) -> Option<u64> {
        let schedule = self.schedule()?;
        let start = schedule.arrivals.peek().saturating_add(schedule.moved);
        Some(start.max(earliest))
    }

    fn schedule(&self) -> Option<MutexGuard<'_, SetSchedule>> {
        let schedule = self.schedule.as_ref()?.lock();
        // A schedule is whole after each of its steps.
        Some(schedule.unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
