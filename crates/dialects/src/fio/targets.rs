//! The files of a job, and the part of each that is used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fathom_diagnostics::{Diagnostic, Location};
use fathom_units::Bytes;
use fathom_workload::{FileOperation, Place, Target};

use super::blocks::{block_range, smallest_block};
use super::context::{FileStatus, Files};
use super::engine::operation;
use super::errno::{EINVAL, EIO, EISDIR, ENOENT, EOPNOTSUPP};
use super::exports;
use super::file_names::split_list;
use super::file_sizes::FileSizes;
use super::late::Complaints;
use super::passes::forgets_files;
use super::placement::zones;
use super::settings::{Amount, Settings};
use super::short_files::long_enough;

/// Length of a file that has no end of its own: more than any file system has (1 PiB), and still a length that all can count
/// with.
const ENDLESS: Bytes = Bytes::new(1 << 50);

/// A clone of a job whose files are asked for.
pub struct Clone<'a> {
    /// Its settings.
    pub settings: &'a Settings,
    /// Name of the job.
    pub name: &'a str,
    /// What files without a name are called after: its section, which a `name=` within it leaves as it is.
    pub called: &'a str,
    /// Number of the clone, from 0.
    pub number: u64,
    /// What sizes of files are drawn with.
    pub seed: u64,
    /// Where earlier jobs leave the ends of their files, if that makes a difference.
    pub ends: &'a BTreeMap<String, u64>,
    /// Whether its engine opens no file.
    pub diskless: bool,
    /// Where complaints point.
    pub location: Option<Location>,
}

impl Clone<'_> {
    /// Its targets; `None` after an error, which is said.
    fn targets(&self, files: &dyn Files, diagnostics: &mut Complaints<'_>) -> Option<Vec<Target>> {
        let (settings, diskless) = (self.settings, self.diskless);
        if let Some(operation) = operation(settings)
            && operation.is_of_names()
        {
            let paths = match &settings.control.open_directory {
                Some(directory) if !operation.is_of_directories() => {
                    self.listed(directory, files, diagnostics)?
                }
                _ => self.paths(files),
            };
            return Some(self.names(paths));
        }
        let paths = match &settings.control.open_directory {
            None => self.paths(files),
            Some(directory) => self.listed(directory, files, diagnostics)?,
        };
        // Nothing is looked up where the job says it all: a million files cost a million system calls.
        let look_up = !diskless && self.depends_on_files();
        let status = |path: &String| {
            if look_up {
                files.status(path)
            } else {
                FileStatus::Missing
            }
        };
        let statuses: Vec<FileStatus> = paths.iter().map(status).collect();
        if settings.size == Amount::Unset && settings.file_size.is_none() {
            // A device that this machine lacks may be one of a design, and a server knows its export.
            let has_size =
                |path: &str| path.starts_with("/dev/") || exports::uri(settings).is_some();
            let unknown = |(path, status): (&String, &FileStatus)| match status {
                _ if !diskless && self.ends.contains_key(path) => false,
                FileStatus::Regular(size) => *size == Bytes::ZERO,
                // A character device has none.
                FileStatus::Special(size) => size.is_none(),
                FileStatus::Missing => diskless || !has_size(path),
                FileStatus::Directory => true,
            };
            // Such a file is written until the file system is full.
            let grows = |(path, status): (&String, &FileStatus)| {
                !matches!(status, FileStatus::Special(_)) && !has_size(path)
            };
            if settings.placement.fill && paths.iter().zip(&statuses).any(grows) {
                return self.endless(paths, diagnostics);
            }
            if paths.iter().zip(&statuses).all(unknown) {
                self.refuse_without_size(&statuses, diagnostics);
                return None;
            }
        }
        let count = paths.len() as u64;
        let lengths = self.lengths(count);
        let mut targets = Vec::with_capacity(paths.len());
        let held: Vec<_> = (paths.iter().zip(&statuses))
            .map(|(path, status)| self.held(path, *status))
            .collect();
        let files = paths.into_iter().zip(statuses);
        for (number, (file, length)) in files.zip(lengths).enumerate() {
            let size = self.file_size(number as u64, file.1);
            let taken = self.taken_for(count);
            targets.push(self.target(file, (size, taken), length, diagnostics)?);
        }
        if !diskless && settings.control.handling.must_exist {
            self.check_is_long_enough(&targets, &held, diagnostics)?;
        }
        let name = self.name;
        Some(long_enough(settings, name, targets, &held, diagnostics))
    }

    /// Complains of files that tell no size. fio begins to read from a directory, which has one.
    fn refuse_without_size(&self, statuses: &[FileStatus], diagnostics: &mut Complaints<'_>) {
        let errno = if statuses.contains(&FileStatus::Directory) {
            EISDIR
        } else {
            EINVAL
        };
        let hint = "no file exists to tell it";
        self.refuse(diagnostics, errno, "you need to specify size=", hint);
    }

    /// Complains of a file that the job would have to make longer and may not, as fio does; `None` after an error.
    fn check_is_long_enough(
        &self,
        targets: &[Target],
        held: &[Option<u64>],
        diagnostics: &mut Complaints<'_>,
    ) -> Option<()> {
        let end = |target: &Target| target.offset.get() + target.length.map_or(0, Bytes::get);
        let mut short = (targets.iter().zip(held))
            .filter_map(|(target, held)| held.map(|held| (target, held)))
            .filter(|(target, held)| *held < end(target));
        let Some((target, held)) = short.next() else {
            return Some(());
        };
        let (path, held) = (target.place.path(), Bytes::new(held));
        let message = format!("`{path}` ends at {held}, and the job may not make it longer");
        let hint = "name a file of that size, lower size=, or leave out `allow_file_create=0`";
        self.refuse(diagnostics, EINVAL, &message, hint);
        None
    }

    /// How much a regular file holds that is there, or will by when earlier jobs are done.
    fn held(&self, path: &str, status: FileStatus) -> Option<u64> {
        let made = self.ends.get(path).copied().unwrap_or(0);
        match status {
            FileStatus::Regular(size) => Some(size.get().max(made)),
            _ => None,
        }
    }

    /// Files that are written from their start until the file system is full.
    fn endless(&self, paths: Vec<String>, diagnostics: &mut Complaints<'_>) -> Option<Vec<Target>> {
        let pattern = &self.settings.pattern;
        if pattern.directions != [false, true, false] || pattern.random {
            self.refuse(
                diagnostics,
                EOPNOTSUPP,
                "`fill_device` of a file without `size` takes writes in order alone",
                "give size=, rw=write, or a device",
            );
            return None;
        }
        let target = |path| Target {
            place: Place::Path(path),
            offset: Bytes::ZERO,
            length: Some(ENDLESS),
        };
        Some(paths.into_iter().map(target).collect())
    }

    /// Files or directories whose names alone matter: one operation on each, counted as one block.
    fn names(&self, paths: Vec<String>) -> Vec<Target> {
        let block = Bytes::new(smallest_block(self.settings));
        let target = |path| Target {
            place: Place::Path(path),
            offset: Bytes::ZERO,
            length: Some(block),
        };
        paths.into_iter().map(target).collect()
    }

    fn depends_on_files(&self) -> bool {
        let settings = self.settings;
        if exports::uri(settings).is_some() {
            // A server is asked for nothing that it need not tell.
            return self.takes_shares();
        }
        (settings.size == Amount::Unset && settings.file_size.is_none())
            || settings.control.handling.must_exist
            || settings.file_size.is_some_and(FileSizes::is_range)
            || settings.placement.append
            || self.takes_shares()
    }

    /// Whether any of its amounts is a percentage.
    fn takes_shares(&self) -> bool {
        let settings = self.settings;
        let amounts = [
            settings.size,
            settings.io_size,
            settings.offset,
            settings.offset_increment,
        ];
        amounts.iter().any(|it| matches!(it, Amount::Percent(_)))
    }

    /// Its targets with room for their last blocks, and whether they go on past the parts in use; `None` after an error,
    /// which is said.
    pub fn whole_targets(
        &self,
        files: &dyn Files,
        diagnostics: &mut Complaints<'_>,
    ) -> Option<(Vec<Target>, bool)> {
        let mut targets = self.targets(files, diagnostics)?;
        if !self.heeds_past_end(&targets) || self.diskless && !self.is_without_end(&targets) {
            return Some((targets, false));
        }
        let longer = if self.diskless {
            vec![true; targets.len()]
        } else {
            self.longer(files, &targets)
        };
        self.round_up(&mut targets, &longer);
        Some((targets, longer.iter().all(|longer| *longer)))
    }

    /// Whether files that are not opened go on past the parts in use: those that have their size from `filesize`, unless `size`
    /// ends the job first.
    fn is_without_end(&self, targets: &[Target]) -> bool {
        let whole: u64 = (targets.iter())
            .map(|target| target.length.map_or(0, Bytes::get))
            .sum();
        let ends_first = match self.settings.size {
            Amount::Bytes(size) => size <= whole,
            Amount::Percent(percent) => percent < 100,
            Amount::Unset => false,
        };
        self.settings.file_size.is_some() && !ends_first
    }

    /// Which targets go on past the parts in use, as files and devices do that are larger than the job.
    fn longer(&self, files: &dyn Files, targets: &[Target]) -> Vec<bool> {
        let longer = |target: &Target| {
            let (offset, Some(length)) = (target.offset.get(), target.length) else {
                return false;
            };
            // The last block of a walk with steps may begin anywhere in the part in use.
            let whole = if self.has_steps() && !self.settings.pattern.random {
                length.get().checked_add(self.block() - 1)
            } else {
                length.get().checked_next_multiple_of(self.block())
            };
            let whole = whole.and_then(|whole| whole.checked_add(offset));
            let size = match files.status(target.place.path()) {
                FileStatus::Regular(size) | FileStatus::Special(Some(size)) => size.get(),
                _ => 0,
            };
            whole.is_some_and(|end| size >= end) && size > offset + length.get()
        };
        targets.iter().map(longer).collect()
    }

    /// Whether it makes a difference: a million files cost a million system calls.
    fn heeds_past_end(&self, targets: &[Target]) -> bool {
        // A walk by zones that does not know where its files end would go on behind that, and lengthen them or find nothing.
        if !self.diskless && zones(self.settings).is_some() {
            return false;
        }
        let block = self.block();
        let odd = |target: &Target| {
            target
                .length
                .is_some_and(|length| !length.get().is_multiple_of(block))
        };
        self.has_steps() || targets.iter().any(odd)
    }

    /// Whether I/Os in order leave something out or go back over some, or random ones come in runs.
    fn has_steps(&self) -> bool {
        let settings = self.settings;
        settings.pattern_number.is_some() || settings.placement.backwards != 0
    }

    /// Largest block of the directions in use.
    fn block(&self) -> u64 {
        let used = (0..3).filter(|way| self.settings.pattern.directions[*way]);
        let ranges = block_range(self.settings);
        used.map(|way| ranges[way].1).max().unwrap_or(1).max(1)
    }

    /// Makes room for the last block of a walk in order, which begins within the part in use and ends past it, in targets that
    /// are `longer`.
    fn round_up(&self, targets: &mut [Target], longer: &[bool]) {
        let block = self.block();
        let one_size = smallest_block(self.settings) == block;
        // What is left out behind a block decides where the last one begins.
        let begins_anywhere = self.has_steps() && longer.iter().all(|longer| *longer);
        if self.settings.pattern.random || !one_size || begins_anywhere {
            return;
        }
        let longer = targets
            .iter_mut()
            .zip(longer)
            .filter(|(_, longer)| **longer);
        for (target, _) in longer {
            let length = target
                .length
                .map(|length| length.get().next_multiple_of(block));
            target.length = length.map(Bytes::new);
        }
    }

    /// Whether directories of its files are missing that fio makes: those within names, not those of `directory`, and none for
    /// engines that open no file, or make theirs themselves. A trace's files have to have theirs.
    pub fn makes_parents(&self, targets: &[Target], files: &dyn Files) -> bool {
        let settings = self.settings;
        let operation = operation(settings);
        let makes_itself =
            operation.is_some_and(|it| it == FileOperation::Create || it.is_of_directories());
        if self.diskless || makes_itself || settings.control.trace.read.is_some() {
            return false;
        }
        let folders = settings.directory.as_deref().map(split_list);
        let is_there = |folder: &String| files.status(folder) == FileStatus::Directory;
        if !folders.unwrap_or_default().iter().all(is_there) {
            return false;
        }
        let paths = targets.iter().map(|target| Path::new(target.place.path()));
        let parents: BTreeSet<_> = paths.filter_map(Path::parent).collect();
        let parents = parents.into_iter().filter_map(Path::to_str);
        let mut named = parents.filter(|parent| !parent.is_empty());
        named.any(|parent| files.status(parent) == FileStatus::Missing)
    }

    /// Complains of files that would have to be made or extended before they can be read.
    pub fn check_all_is_there(
        &self,
        targets: &[Target],
        files: &dyn Files,
        diagnostics: &mut Complaints<'_>,
    ) {
        let opens = !self.diskless && operation(self.settings).is_none();
        for target in targets.iter().filter(|_| opens) {
            let path = target.place.path();
            let end = target.offset.get() + target.length.map_or(0, Bytes::get);
            let (errno, problem) = match files.status(path) {
                FileStatus::Regular(size) if size.get() < end => {
                    let problem =
                        format!("`{path}` ends at {size}, and --readonly extends no file");
                    (EIO, problem)
                }
                FileStatus::Missing => {
                    let problem = format!("`{path}` does not exist, and --readonly makes no file");
                    (ENOENT, problem)
                }
                _ => continue,
            };
            let hint = "name a file of that size, lower size=, or take --readonly away";
            return self.refuse(diagnostics, errno, &problem, hint);
        }
    }

    /// Complains of what fio finds as it runs, and then reports as `errno`.
    pub(super) fn refuse(
        &self,
        diagnostics: &mut Complaints<'_>,
        errno: i32,
        message: &str,
        hint: &str,
    ) {
        diagnostics.late(errno, self.error(message, hint));
    }

    pub(super) fn error(&self, message: &str, hint: &str) -> Diagnostic {
        let error = Diagnostic::error(format!("job `{}`: {message}", self.name)).hint(hint);
        match &self.location {
            Some(location) => error.at(location.clone()),
            None => error,
        }
    }

    /// Length of each file: `filesize`, or `size` divided among them, the first few one block longer where that leaves
    /// a rest. `None`: what exists.
    fn lengths(&self, count: u64) -> Vec<Option<u64>> {
        let settings = self.settings;
        let (Amount::Bytes(size), None) = (settings.size, settings.file_size) else {
            return vec![None; count as usize];
        };
        let each = size / count;
        let block = smallest_block(settings);
        let longer = (size - each * count) / block;
        (0..count)
            .map(|index| Some(each + if index < longer { block } else { 0 }))
            .collect()
    }

    /// Size of a file by `filesize`. One whose size is in the range keeps it.
    fn file_size(&self, file: u64, status: FileStatus) -> Option<u64> {
        let sizes = self.settings.file_size?;
        match status {
            FileStatus::Regular(size) | FileStatus::Special(Some(size))
                if sizes.contains(size.get()) =>
            {
                Some(size.get())
            }
            _ => {
                let block = smallest_block(self.settings);
                Some(sizes.of_file(self.seed, self.number, file, block))
            }
        }
    }

    /// Size that fio takes one of `count` files for that it does not open: its share of `size`.
    fn taken_for(&self, count: u64) -> Option<u64> {
        match self.settings.size {
            Amount::Bytes(size) if self.diskless => Some(size / count),
            _ => None,
        }
    }

    /// A file of `file_size`, where that is given, and `taken` for so long where nobody looks.
    fn target(
        &self,
        (path, status): (String, FileStatus),
        (file_size, taken): (Option<u64>, Option<u64>),
        length: Option<u64>,
        diagnostics: &mut Complaints<'_>,
    ) -> Option<Target> {
        let settings = self.settings;
        let made = self.ends.get(&path).copied();
        // What a file that is yet to be made has is nothing.
        let (known, there) = match status {
            FileStatus::Regular(_) => {
                let held = self.held(&path, status);
                (held, held)
            }
            FileStatus::Special(size) => (size.map(Bytes::get), size.map(Bytes::get)),
            FileStatus::Missing | FileStatus::Directory => {
                (file_size.or(made), Some(taken.or(made).unwrap_or(0)))
            }
        };
        // A file that no engine opens has no more than the job's own `size` says.
        let may_be_there = !self.diskless || taken.or(made).is_some() || file_size.is_none();
        let may_be_there = may_be_there || settings.size != Amount::Unset;
        let mut share_of_unknown = false;
        let mut bytes_of = |amount, all| match (amount, all) {
            (Amount::Unset, _) => 0,
            (Amount::Bytes(bytes), _) => bytes,
            (Amount::Percent(percent), Some(size)) => share(size, percent),
            (Amount::Percent(_), None) => {
                share_of_unknown = true;
                0
            }
        };
        let step = bytes_of(settings.offset_increment, there);
        let offset = step.checked_mul(self.number).zip(Some(bytes_of(
            settings.offset,
            there.filter(|_| may_be_there),
        )));
        let offset = offset.and_then(|(more, offset)| more.checked_add(offset));
        let offset = self.first_byte(&path, status, offset);
        let length = match (settings.size, file_size) {
            (Amount::Unset | Amount::Percent(100), None) => self.made_length(&path, status, offset),
            (Amount::Percent(percent), None) => Some(bytes_of(Amount::Percent(percent), known)),
            (amount, Some(size)) => {
                let rest = size.saturating_sub(offset.unwrap_or(0));
                Some(match amount {
                    // A share of the whole file, of which there is only what lies behind the offset.
                    Amount::Percent(percent) => share(size, percent).min(rest),
                    _ => rest,
                })
            }
            _ => length.filter(|length| *length > 0),
        };
        let length = self.shared(length, offset);
        if share_of_unknown {
            let message = format!("a percentage of `{path}`, whose size is not known");
            let hint = "give sizes and offsets in bytes";
            self.refuse(diagnostics, EINVAL, &message, hint);
            return None;
        }
        let Some(offset) = offset.filter(|offset| *offset <= 1 << 62) else {
            let (message, hint) = ("the offset is past 2^62 bytes", "lower offset_increment");
            self.refuse(diagnostics, EINVAL, message, hint);
            return None;
        };
        if file_size.is_some_and(|size| self.leaves_nothing(size, offset)) {
            self.refuse_whole_file(diagnostics);
            return None;
        }
        let length = self.fitted(length, known.max(file_size), offset);
        Some(Target {
            place: Place::Path(path),
            offset: Bytes::new(offset),
            length: length.map(Bytes::new),
        })
    }

    /// Whether a file of `size` ends where its part in use would begin. One that no engine opens has no end to append at, which is
    /// as far away as can be.
    fn leaves_nothing(&self, size: u64, offset: u64) -> bool {
        self.diskless && self.settings.placement.append || offset >= size
    }

    /// Complains of a file that ends where its part in use would begin.
    fn refuse_whole_file(&self, diagnostics: &mut Complaints<'_>) {
        let (message, hint) = if self.settings.placement.append && self.diskless {
            let message = "no file is opened, and so there is no end to append at";
            (
                message,
                "give size= in place of filesize=, or leave out `file_append`",
            )
        } else if self.settings.placement.append {
            let message = "the file is as long as `filesize` says: nothing is left to append";
            (message, "raise filesize=, or leave it out and give size=")
        } else {
            let message = "you need to specify valid offset=";
            (message, "it lies past the end of the file")
        };
        self.refuse(diagnostics, EINVAL, message, hint);
    }

    /// What is used of a file that earlier jobs make, or make longer; `None`: what exists.
    fn made_length(&self, path: &str, status: FileStatus, offset: Option<u64>) -> Option<u64> {
        let made = self.ends.get(path).filter(|_| !self.diskless)?;
        let there = match status {
            FileStatus::Regular(size) => size.get(),
            FileStatus::Missing => 0,
            FileStatus::Directory | FileStatus::Special(_) => return None,
        };
        (there < *made).then(|| made.saturating_sub(offset.unwrap_or(0)))
    }

    /// Where the part in use begins: `offset`, which is moved up to the next block where it is a percentage, or the end of the
    /// file, where it is appended to.
    fn first_byte(&self, path: &str, status: FileStatus, offset: Option<u64>) -> Option<u64> {
        let settings = self.settings;
        let in_percent = [settings.offset, settings.offset_increment]
            .iter()
            .any(|it| matches!(it, Amount::Percent(_)));
        let align = settings.placement.offset_align;
        let align = align.unwrap_or_else(|| smallest_block(settings));
        let made = self.ends.get(path).copied().unwrap_or(0);
        match (offset, status) {
            // What is there already, or will be, is left as it is.
            (_, FileStatus::Regular(size)) if settings.placement.append => {
                Some(size.get().max(made))
            }
            (_, FileStatus::Missing) if settings.placement.append => Some(made),
            (Some(offset), _) if in_percent => offset.checked_next_multiple_of(align),
            (other, _) => other,
        }
    }

    /// What is left of a length in bytes by a percentage that `size` was given in before, in whole blocks.
    fn shared(&self, length: Option<u64>, offset: Option<u64>) -> Option<u64> {
        let percent = self.settings.size_share;
        match (length, self.settings.size) {
            (Some(length), Amount::Bytes(_)) if percent != 100 => {
                let end = length.saturating_add(offset.unwrap_or(0));
                let block = smallest_block(self.settings);
                Some(share(end, percent).min(length) / block * block)
            }
            _ => length,
        }
    }

    /// The length of the part in use, where it depends on what there is: `known` bytes from the start of the file.
    fn fitted(&self, length: Option<u64>, known: Option<u64>, offset: u64) -> Option<u64> {
        let settings = self.settings;
        match length {
            // A part of a file that exists ends where the file does.
            Some(length) if matches!(settings.size, Amount::Percent(percent) if percent != 100) => {
                let rest = known.unwrap_or(length).saturating_sub(offset);
                let block = smallest_block(settings);
                Some(length.min(rest) / block * block)
            }
            // A share of all there is needs to know how much that is, and so do passes that follow for as long as there is more.
            None if matches!(settings.io_size, Amount::Percent(1..=99))
                || forgets_files(settings) =>
            {
                known.map(|size| size.saturating_sub(offset))
            }
            other => other,
        }
    }
}

/// `percent` of `size`, rounded down.
pub fn share(size: u64, percent: u64) -> u64 {
    (u128::from(size) * u128::from(percent) / 100) as u64
}
