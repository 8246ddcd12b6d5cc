//! Options of how files are treated beside the I/O, and of which errors a job survives.

use fathom_units::Nanos;
use fathom_workload::{Reserve, StatCall, SyncRange};

use super::reader::{Counts, ValueReader};
use super::{Settings, set, set_some};
use crate::errno;

/// The whole number that `text` begins with, which is all that fio reads of it; 0 where there is none.
fn whole_at_start(text: &str) -> u32 {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().unwrap_or(0)
}

/// Buffers always start at a page.
const PAGE: u64 = 4096;

/// Linux's numbers of the errors that fio survives where none are named: an I/O error, and wrong data.
const SURVIVED: [i32; 2] = [5, 84];

/// Which errors a job survives: of reads, of writes (and trims), and of checks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SurvivedErrors {
    /// The kinds of which some are survived. `continue_on_error` sets all three, and `ignore_error` adds those it names errors
    /// of, in the order in which they are given.
    kinds: [bool; 3],
    /// The errors that `ignore_error` names; `None`: fio's own.
    named: [Option<Vec<i32>>; 3],
}

impl SurvivedErrors {
    /// Those of reads.
    pub fn reads(&self) -> Vec<i32> {
        self.of_kind(0)
    }

    /// Those of writes and trims.
    pub fn writes(&self) -> Vec<i32> {
        self.of_kind(1)
    }

    /// Those of checks.
    pub fn checks(&self) -> Vec<i32> {
        self.of_kind(2)
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.kinds != [false; 3]
    }

    fn of_kind(&self, kind: usize) -> Vec<i32> {
        match &self.named[kind] {
            _ if !self.kinds[kind] => Vec::new(),
            Some(named) => named.clone(),
            None => SURVIVED.to_vec(),
        }
    }

    fn name(&mut self, lists: [Vec<i32>; 3]) {
        let kinds = self.kinds.iter_mut().zip(&mut self.named);
        for ((kind, named), list) in kinds.zip(lists).filter(|(_, list)| !list.is_empty()) {
            *kind = true;
            *named = Some(list);
        }
    }
}

/// What is done to files that are missing or short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MakingSettings {
    /// `overwrite`.
    pub overwrite: bool,
    /// `create_on_open`.
    pub on_open: bool,
    /// `fallocate`.
    pub reserve: Reserve,
}

impl Default for MakingSettings {
    fn default() -> Self {
        Self {
            overwrite: false,
            on_open: false,
            reserve: Reserve::Allocate,
        }
    }
}

impl Settings {
    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_handling(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "pre_read" => set(&mut self.control.handling.pre_read, reader.switch()),
            // `file_kinds` has what it asks for.
            "filetype" => reader.check_kind(),
            "allow_file_create" => {
                let must_exist = reader.switch().map(|allowed| !allowed);
                set(&mut self.control.handling.must_exist, must_exist);
            }
            "overwrite" => set(&mut self.control.making.overwrite, reader.switch()),
            "create_on_open" => set(&mut self.control.making.on_open, reader.switch()),
            "fallocate" => {
                let words = ["none", "0", "native", "posix", "1", "keep", "truncate"];
                let reserve = reader.word(&words).map(|word| match word {
                    0 | 1 => Reserve::Nothing,
                    2..=4 => Reserve::Allocate,
                    5 => Reserve::KeepSize,
                    _ => Reserve::Truncate,
                });
                set(&mut self.control.making.reserve, reserve);
            }
            "create_only" => set(&mut self.control.create_only, reader.switch()),
            "end_syncfs" => set(&mut self.control.handling.end_syncfs, reader.switch()),
            "sync_file_range" => self.apply_sync_range(reader),
            "opendir" => {
                let directory = reader.text().map(str::to_owned);
                set_some(&mut self.control.open_directory, directory);
                // As behind `filename`, a count that comes later is how many of the files are used.
                self.listed_files = None;
            }
            "uri" => {
                let uri = reader.text().map(str::to_owned);
                set_some(&mut self.control.uri, uri);
            }
            "stat_type" => match reader.word(&["stat", "lstat", "statx"]) {
                Some(0) => self.control.stat_call = StatCall::Stat,
                Some(1) => self.control.stat_call = StatCall::Lstat,
                Some(_) => self.control.stat_call = StatCall::Statx,
                None => {}
            },
            // Storage is shown in bytes unless bits are asked for.
            "unit_base" => {
                if let Some(base) = reader.word(&["0", "8", "1"]) {
                    self.shows_bits = base == 2;
                }
            }
            "iomem_align" => {
                let align = reader.number(Counts::Bytes, 0, u64::from(u32::MAX));
                if align.is_some_and(|align| align > PAGE) {
                    let message = "buffers are aligned to pages of 4,096 bytes, and no further";
                    reader.say(
                        message,
                        "leave it out: devices and the kernel ask for no more",
                    );
                }
            }
            "continue_on_error" => self.apply_continue(reader),
            "ignore_error" => self.apply_ignored(reader),
            "max_latency" => {
                for (slot, limit) in self
                    .control
                    .errors
                    .latency_max
                    .iter_mut()
                    .zip(reader.times())
                {
                    if let Some(limit) = limit {
                        *slot = (limit > Nanos::ZERO).then_some(limit);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// `wait_before`, `write` and `wait_after`, separated by commas, and the number of writes behind a colon.
    fn apply_sync_range(&mut self, reader: &mut ValueReader<'_>) {
        let Some(text) = reader.text() else { return };
        let (words, count) = text.split_once(':').unwrap_or((text, "1"));
        let mut range = SyncRange {
            every: whole_at_start(count),
            wait_before: false,
            write: false,
            wait_after: false,
        };
        for word in words.split(',') {
            match word.trim_end() {
                "wait_before" => range.wait_before = true,
                "write" => range.write = true,
                "wait_after" => range.wait_after = true,
                other => {
                    let hint = match other.trim() {
                        "wait_before" | "write" | "wait_after" => {
                            "fio takes no blank here; leave it out"
                        }
                        _ => "write wait_before, write or wait_after, such as `write:32`",
                    };
                    let message = format!("`{other}` is no value of `sync_file_range`");
                    return reader.refuse(&message, Some(hint.to_owned()));
                }
            }
        }
        // After every 0 writes is never, as in fio; what is no number is no 0.
        if range.every == 0 && count.parse() != Ok(0u32) {
            return reader.refuse(&format!("`{count}` is no number"), None);
        }
        self.control.handling.sync_range = Some(range).filter(|range| range.every > 0);
    }

    fn apply_continue(&mut self, reader: &mut ValueReader<'_>) {
        let words = ["none", "read", "write", "io", "verify", "all", "0", "1"];
        let survived = &mut self.control.survived;
        match reader.word(&words) {
            Some(0 | 6) => survived.kinds = [false; 3],
            Some(1) => survived.kinds = [true, false, false],
            Some(2) => survived.kinds = [false, true, false],
            Some(3) => survived.kinds = [true, true, false],
            Some(4) => survived.kinds = [false, false, true],
            Some(_) => survived.kinds = [true; 3],
            None => {}
        }
    }

    /// Error names or numbers, separated by colons, for reads, writes and checks in turn.
    fn apply_ignored(&mut self, reader: &mut ValueReader<'_>) {
        let Some(text) = reader.text() else { return };
        let mut lists: [Vec<i32>; 3] = Default::default();
        let kinds = text.trim().split(',');
        if kinds.clone().count() > lists.len() {
            return reader.refuse("there are three kinds of errors: read, write, verify", None);
        }
        for (list, entries) in lists.iter_mut().zip(kinds) {
            for entry in entries.split(':').take_while(|entry| !entry.is_empty()) {
                let Some(number) = errno::number(entry) else {
                    let hint = "write a name such as EIO, or a number".to_owned();
                    return reader.refuse(&format!("`{entry}` is no known error"), Some(hint));
                };
                list.push(number);
            }
        }
        self.control.survived.name(lists);
    }
}
