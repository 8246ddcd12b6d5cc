//! Each built option and the setting it changes.

use fathom_workload::OpenSync;

use super::reader::{Counts, ValueReader};
use super::{Amount, PATTERNS, Settings};
use crate::fio::file_names::split_list;
use crate::fio::file_sizes::FileSizes;
use crate::fio::input::Unified;
use crate::fio::table::{self, Carried};
use crate::fio::values::BareTime;

/// Largest block: the engine holds reads and writes to 1 GiB, trims alone may be as long as 32 bits say.
pub(super) const MAX_BLOCK: u64 = u32::MAX as u64;
/// Most files of a job.
const MAX_FILES: u64 = 65_536;
const MAX_DEPTH: u64 = 1 << 20;

pub(super) fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

pub(super) fn set_some<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

pub(super) fn set_parts(slots: &mut [u64; 3], values: Option<[Option<u64>; 3]>) {
    for (slot, value) in slots.iter_mut().zip(values.into_iter().flatten()) {
        set(slot, value);
    }
}

impl Settings {
    /// Applies one option whose row says that it is built.
    pub(super) fn apply(&mut self, reader: &mut ValueReader<'_>) {
        let known = self.apply_file(reader)
            || self.apply_pattern(reader)
            || self.apply_placement(reader)
            || self.apply_contents(reader)
            || self.apply_flow(reader)
            || self.apply_data(reader)
            || self.apply_report(reader)
            || self.apply_verify(reader)
            || self.apply_process(reader)
            || self.apply_numa(reader)
            || self.apply_handling(reader)
            || self.apply_replay(reader)
            || self.apply_pacing(reader)
            || self.apply_log(reader)
            || self.apply_priority(reader)
            || self.apply_calls(reader)
            || self.apply_processor(reader);
        assert!(
            known,
            "the table calls `{}` built, but nothing reads it",
            reader.name()
        );
    }

    fn apply_file(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "filename" => self.apply_filename(reader),
            "directory" => set_some(&mut self.directory, reader.text().map(str::to_owned)),
            "filename_format" => set(&mut self.filename_format, reader.text().map(str::to_owned)),
            "size" => self.apply_size(reader),
            "io_size" => set(&mut self.io_size, reader.amount()),
            "filesize" => self.apply_file_size(reader),
            "offset" => apply_offset(reader, &mut self.offset),
            "offset_increment" => apply_offset(reader, &mut self.offset_increment),
            "number_ios" => {
                set(
                    &mut self.number_ios,
                    reader.number(Counts::Things, 0, u64::MAX >> 2),
                );
            }
            "nrfiles" => {
                let count = reader.number(Counts::Things, 1, MAX_FILES);
                set(&mut self.file_count, count);
                set_some(&mut self.listed_files, count);
            }
            "unlink" => set(&mut self.unlink, reader.switch()),
            "invalidate" => set(&mut self.invalidate, reader.switch()),
            _ => return false,
        }
        true
    }

    /// fio adds files to those that were named before, such as in `[global]`, each in the directory that is known by then.
    fn apply_filename(&mut self, reader: &mut ValueReader<'_>) {
        let text = reader.text().map(str::trim).filter(|it| !it.is_empty());
        let Some(text) = text else {
            return;
        };
        let names = split_list(text);
        self.listed_files = match self.named_files.as_slice() {
            [] => None,
            before => {
                reader.say(
                    &format!(
                        "`filename` adds to the files that were named before it, as in fio: `{}` is used too",
                        before.join(":")
                    ),
                    "name files in `[global]`, or in its jobs",
                );
                self.listed_files.map(|count| count + names.len() as u64)
            }
        };
        let folder = self.directory.as_deref().map(split_list);
        let folder = folder.and_then(|list| list.into_iter().next());
        self.named_files
            .extend(names.into_iter().map(|name| match &folder {
                Some(folder) => format!("{folder}/{name}"),
                None => name,
            }));
    }

    /// fio keeps a percentage that was given before, such as in `[global]`, and takes it of the bytes that are given now.
    fn apply_size(&mut self, reader: &mut ValueReader<'_>) {
        let Some(amount) = reader.amount() else {
            return;
        };
        match amount {
            Amount::Percent(percent) => self.size_share = percent,
            Amount::Bytes(_) if self.size_share != 100 => reader.say(
                &format!(
                    "`size` is {}% of that, as in fio, since it was given in percent before",
                    self.size_share
                ),
                "write `size=100%` before it for all of it",
            ),
            Amount::Bytes(_) | Amount::Unset => {}
        }
        self.size = amount;
    }

    fn apply_file_size(&mut self, reader: &mut ValueReader<'_>) {
        let Some([low, high, _]) = reader.triple(Counts::Bytes, 1, 1 << 62) else {
            return;
        };
        // fio starts from 0, and leaves out what is left out; a range without an end is one size.
        let low = low.unwrap_or(0);
        let high = high.unwrap_or(low);
        match low {
            0 => {}
            _ if low <= high => self.file_size = Some(FileSizes { low, high }),
            _ => reader.refuse(
                "`filesize` ends below its beginning",
                Some("write the smaller size first, such as `filesize=64k-1m`".to_owned()),
            ),
        }
    }

    fn apply_pattern(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "rw" => {
                let names = PATTERNS.map(|pattern| pattern.name);
                let Some(index) = reader.word(&names) else {
                    return true;
                };
                self.pattern = PATTERNS[index];
                self.placement.backwards = 0;
                self.pattern_number = None;
                if self.pattern.random {
                    self.pattern_number = reader.postfix();
                } else if let Some(step) = reader.signed_postfix() {
                    self.placement.backwards = step.min(0);
                    self.pattern_number = u64::try_from(step).ok().filter(|step| *step > 0);
                }
            }
            "rwmixread" => set(&mut self.read_share, percent(reader)),
            "rwmixwrite" => {
                set(
                    &mut self.read_share,
                    percent(reader).map(|percent| 100 - percent),
                );
            }
            "percentage_random" => {
                if let Some(parts) = reader.triple(Counts::Things, 0, 100) {
                    for (slot, part) in self.percentage_random.iter_mut().zip(parts) {
                        set(slot, part.map(|percent| percent as u32));
                    }
                }
            }
            // Shares of sizes hold, also those of a section before.
            "bs" => set_parts(&mut self.blocks, reader.triple(Counts::Bytes, 1, MAX_BLOCK)),
            "ba" => set_parts(&mut self.align, reader.triple(Counts::Bytes, 1, 1 << 62)),
            "bssplit" => set(&mut self.splits, reader.splits()),
            "randrepeat" => set(&mut self.repeatable, reader.switch()),
            "randseed" => set_some(&mut self.seed, reader.number(Counts::Things, 0, u64::MAX)),
            "norandommap" => set(&mut self.independent, reader.switch()),
            _ => return false,
        }
        true
    }

    fn apply_flow(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let count = |reader: &mut ValueReader<'_>, least, most| {
            reader
                .number(Counts::Things, least, most)
                .map(|value| value as u32)
        };
        match reader.name() {
            "ioengine" => self.apply_engine(reader),
            "iodepth" => set(&mut self.depth, count(reader, 1, MAX_DEPTH)),
            // fio reads 0 and then clones without end.
            "numjobs" => {
                let clones = reader.number(Counts::Things, 1, u64::from(u32::MAX));
                set(&mut self.clones, clones);
            }
            "loops" => set(&mut self.loops, count(reader, 0, u64::from(u32::MAX))),
            "startdelay" => set(&mut self.start_delay, reader.time_range(BareTime::Seconds)),
            "runtime" => set(&mut self.runtime, reader.time(BareTime::Seconds)),
            "ramp_time" => set(&mut self.ramp, reader.time(BareTime::Seconds)),
            "time_based" => set(&mut self.time_based, reader.switch()),
            "stonewall" => set(&mut self.stonewall, reader.switch()),
            "new_group" => set(&mut self.new_group, reader.switch()),
            "group_reporting" => set(&mut self.group_reporting, reader.switch()),
            "thread" => set(&mut self.thread, reader.switch()),
            "rate" => {
                let most = 1 << 50;
                set_parts(
                    &mut self.rate,
                    reader.triple(Counts::BytesPerSecond, 0, most),
                );
            }
            "rate_iops" => {
                let most = u64::from(u32::MAX);
                set_parts(&mut self.rate_iops, reader.triple(Counts::Things, 0, most));
            }
            "rate_process" => {
                let process = reader.word(&["linear", "poisson"]);
                set(&mut self.poisson, process.map(|index| index == 1));
            }
            _ => return false,
        }
        true
    }

    fn apply_engine(&mut self, reader: &mut ValueReader<'_>) {
        // A comma ends other words; fio looks for an engine of the whole name.
        if let Some(text) = reader.text().filter(|text| text.contains(',')) {
            let message = format!("`{text}` is no value of `ioengine`");
            let hint = "name one engine; a section of its own tries another";
            return reader.refuse(&message, Some(hint.to_owned()));
        }
        let engines = table::ENGINES.iter().map(|engine| engine.name);
        let names: Vec<_> = engines.chain(table::NAMES_OF_LIBAIO).collect();
        let Some(index) = reader.word(&names) else {
            return;
        };
        let Some(engine) = table::find_engine(names[index]) else {
            return;
        };
        let refusal = |why: &str| format!("engine `{}` is not carried: {why}", engine.name);
        match engine.carried {
            Carried::No(why) => reader.refuse(&refusal(why), None),
            Carried::NotRun(why) => reader.refuse_at_run(&refusal(why), None),
            Carried::By(_) | Carried::Operation(_) | Carried::Work => {}
        }
        engine.name.clone_into(&mut self.engine);
    }

    fn apply_data(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let count = |reader: &mut ValueReader<'_>| {
            let most = u64::from(u32::MAX);
            reader
                .number(Counts::Things, 0, most)
                .map(|value| value as u32)
        };
        match reader.name() {
            "direct" => set(&mut self.direct, reader.switch()),
            "buffered" => set(&mut self.direct, reader.switch().map(|buffered| !buffered)),
            "sync" => match reader.word(&["none", "0", "sync", "1", "dsync"]) {
                Some(0 | 1) => self.open_sync = OpenSync::None,
                Some(2 | 3) => self.open_sync = OpenSync::Sync,
                Some(_) => self.open_sync = OpenSync::Dsync,
                None => {}
            },
            "fsync" => set(&mut self.fsync, count(reader)),
            "fdatasync" => set(&mut self.fdatasync, count(reader)),
            "end_fsync" => set(&mut self.end_fsync, reader.switch()),
            "fsync_on_close" => set(&mut self.fsync_on_close, reader.switch()),
            "zero_buffers" => set(&mut self.zero_buffers, reader.switch()),
            "refill_buffers" => set(&mut self.refill_buffers, reader.switch()),
            "scramble_buffers" => set(&mut self.scramble_buffers, reader.switch()),
            _ => return false,
        }
        true
    }

    fn apply_report(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "name" => set_some(&mut self.name, reader.text().map(str::to_owned)),
            "description" => set(&mut self.description, reader.text().map(str::to_owned)),
            "clat_percentiles" => set(&mut self.percentiles.complete, reader.switch()),
            "lat_percentiles" => set(&mut self.percentiles.total, reader.switch()),
            "slat_percentiles" => set(&mut self.percentiles.submit, reader.switch()),
            "percentile_list" => {
                if let Some((list, precision)) = reader.decimals(20) {
                    self.percentiles.list = list;
                    self.percentiles.precision = precision;
                }
            }
            "significant_figures" => {
                let digits = reader.number(Counts::Things, 1, 10);
                set(
                    &mut self.significant_figures,
                    digits.map(|digits| digits as usize),
                );
            }
            "kb_base" => match reader.word(&["1024", "1000"]) {
                Some(0) => self.kb_base = 1024,
                Some(_) => self.kb_base = 1000,
                None => {}
            },
            "disk_util" => set(&mut self.disk_util, reader.switch()),
            "unified_rw_reporting" => {
                match reader.word(&["none", "0", "mixed", "1", "both", "2"]) {
                    Some(0 | 1) => self.unified = Unified::Apart,
                    Some(2 | 3) => self.unified = Unified::Mixed,
                    Some(_) => self.unified = Unified::Both,
                    None => {}
                }
            }
            "stats" => set(&mut self.stats, reader.switch()),
            _ => return false,
        }
        true
    }
}

/// fio goes by a percentage that was given before, whatever bytes come after it.
fn apply_offset(reader: &mut ValueReader<'_>, slot: &mut Amount) {
    match (reader.amount(), *slot) {
        (Some(Amount::Bytes(_)), Amount::Percent(before)) if before > 0 => {
            let name = reader.name();
            reader.say(
                &format!(
                    "`{name}` stays {before}%, as in fio, since it was given in percent before"
                ),
                &format!("write `{name}=0%` before it"),
            );
        }
        (Some(amount), _) => *slot = amount,
        (None, _) => {}
    }
}

fn percent(reader: &mut ValueReader<'_>) -> Option<u32> {
    reader
        .number(Counts::Things, 0, 100)
        .map(|percent| percent as u32)
}
