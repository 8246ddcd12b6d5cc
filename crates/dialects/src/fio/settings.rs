//! The options of one job, each in its type.
//!
//! Options are applied in the order they were written, so that the last one wins; a `[global]` section changes the
//! template that later jobs start from.
//!
//! Invariant: a value that cannot be read leaves the setting as it was and adds an error that points at it.

mod apply;
mod calls;
mod contents;
mod handling;
mod log;
mod numa;
mod pacing;
mod placement;
mod priority;
mod process;
mod processor;
mod reader;
mod replay;
mod verify;

use std::collections::BTreeMap;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, nearest};
use fathom_units::Nanos;
use fathom_workload::{FileChoice, OpenSync};

use super::file_sizes::FileSizes;
use super::input::{Origin, Percentiles, Unified};
use super::lexer::RawOption;
use super::table::{self, OptionRow, Support};
pub use calls::{CallSettings, calls, calls_of_operation, problem as call_problem};
pub use contents::ContentSettings;
pub use pacing::{PacingSettings, pace, problems as pacing_problems};
pub use placement::{PlacementSettings, ZoneMode};
pub use process::ControlSettings;
pub use processor::ProcessorSettings;
use reader::ValueReader;
pub use verify::VerifySettings;

pub use log::{LogSettings, io_log};
pub use priority::PrioritySettings;

/// fio's default list of percentiles.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// A number of bytes, or a share of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Amount {
    /// Not given.
    #[default]
    Unset,
    /// Bytes.
    Bytes(u64),
    /// Percent of the file, 0 to 100.
    Percent(u64),
}

/// What `rw` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// fio's own name of it.
    pub name: &'static str,
    /// Whether there are reads, writes, trims.
    pub directions: [bool; 3],
    /// Whether offsets are random.
    pub random: bool,
    /// Whether each block is trimmed, then written.
    pub pairs: bool,
}

/// The values of `rw`.
#[rustfmt::skip]
pub const PATTERNS: [Pattern; 11] = [
    Pattern { name: "read", directions: [true, false, false], random: false, pairs: false },
    Pattern { name: "write", directions: [false, true, false], random: false, pairs: false },
    Pattern { name: "trim", directions: [false, false, true], random: false, pairs: false },
    Pattern { name: "randread", directions: [true, false, false], random: true, pairs: false },
    Pattern { name: "randwrite", directions: [false, true, false], random: true, pairs: false },
    Pattern { name: "randtrim", directions: [false, false, true], random: true, pairs: false },
    Pattern { name: "rw", directions: [true, true, false], random: false, pairs: false },
    Pattern { name: "readwrite", directions: [true, true, false], random: false, pairs: false },
    Pattern { name: "randrw", directions: [true, true, false], random: true, pairs: false },
    Pattern { name: "trimwrite", directions: [false, true, true], random: false, pairs: true },
    Pattern { name: "randtrimwrite", directions: [false, true, true], random: true, pairs: true },
];

/// Every setting of a job, in fio's terms and with fio's defaults.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct Settings {
    pub name: Option<String>,
    pub description: String,
    pub pattern: Pattern,
    /// The number behind `rw=…:`.
    pub pattern_number: Option<u64>,
    pub read_share: u32,
    pub percentage_random: [u32; 3],
    pub blocks: [u64; 3],
    pub splits: [Vec<(u64, u32)>; 3],
    pub align: [u64; 3],
    pub size: Amount,
    /// The percentage that `size` was last given in, which stays when bytes follow.
    pub size_share: u64,
    pub io_size: Amount,
    pub file_size: Option<FileSizes>,
    pub offset: Amount,
    pub offset_increment: Amount,
    pub number_ios: u64,
    pub file_count: u64,
    /// How many of the files of `filename` are used: `nrfiles` where that is given after them; `None`: all.
    pub listed_files: Option<u64>,
    /// The files of every `filename` so far, within their directory.
    pub named_files: Vec<String>,
    pub directory: Option<String>,
    pub filename_format: String,
    pub file_choice: FileChoice,
    pub engine: String,
    pub depth: u32,
    pub clones: u64,
    pub loops: u32,
    pub runtime: Nanos,
    pub time_based: bool,
    pub ramp: Nanos,
    /// Shortest and longest wait before the first I/O; each clone draws its own.
    pub start_delay: (Nanos, Nanos),
    pub stonewall: bool,
    pub new_group: bool,
    pub group_reporting: bool,
    pub thread: bool,
    pub direct: bool,
    pub open_sync: OpenSync,
    pub fsync: u32,
    pub fdatasync: u32,
    pub end_fsync: bool,
    pub fsync_on_close: bool,
    pub invalidate: bool,
    pub unlink: bool,
    pub zero_buffers: bool,
    pub refill_buffers: bool,
    pub scramble_buffers: bool,
    pub repeatable: bool,
    pub seed: Option<u64>,
    pub independent: bool,
    pub rate: [u64; 3],
    pub rate_iops: [u64; 3],
    pub poisson: bool,
    pub percentiles: Percentiles,
    pub significant_figures: usize,
    pub kb_base: u64,
    /// `unit_base=1`: text shows rates in bits.
    pub shows_bits: bool,
    pub disk_util: bool,
    /// Processes, files, errors and traces.
    pub control: ControlSettings,
    /// Where I/Os fall, beyond the plain pattern.
    pub placement: PlacementSettings,
    /// What buffers hold, beyond the switches above.
    pub contents: ContentSettings,
    pub verify: VerifySettings,
    pub unified: Unified,
    pub stats: bool,
    pub log: LogSettings,
    pub priority: PrioritySettings,
    /// What the kernel is told with or before the I/O.
    pub calls: CallSettings,
    /// What holds I/O back.
    pub pacing: PacingSettings,
    /// By fio's name: the value as typed, where it came from, and where it stands.
    pub sources: BTreeMap<&'static str, (String, Origin, Location)>,
    /// Options that only one of these engines knows, in the order they were written.
    pub engine_options: Vec<(&'static OptionRow, Location)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: None,
            description: String::new(),
            pattern: PATTERNS[0],
            pattern_number: None,
            read_share: 50,
            percentage_random: [100; 3],
            blocks: [4096; 3],
            splits: [Vec::new(), Vec::new(), Vec::new()],
            align: [0; 3],
            size: Amount::Unset,
            size_share: 100,
            io_size: Amount::Unset,
            file_size: None,
            offset: Amount::Unset,
            offset_increment: Amount::Unset,
            number_ios: 0,
            file_count: 1,
            listed_files: None,
            named_files: Vec::new(),
            directory: None,
            filename_format: "$jobname.$jobnum.$filenum".to_owned(),
            file_choice: FileChoice::RoundRobin,
            engine: "psync".to_owned(),
            depth: 1,
            clones: 1,
            loops: 1,
            runtime: Nanos::ZERO,
            time_based: false,
            ramp: Nanos::ZERO,
            start_delay: (Nanos::ZERO, Nanos::ZERO),
            stonewall: false,
            new_group: false,
            group_reporting: false,
            thread: false,
            direct: false,
            open_sync: OpenSync::None,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            fsync_on_close: false,
            invalidate: true,
            unlink: false,
            zero_buffers: false,
            refill_buffers: false,
            scramble_buffers: true,
            repeatable: true,
            seed: None,
            independent: false,
            rate: [0; 3],
            rate_iops: [0; 3],
            poisson: false,
            percentiles: default_percentiles(),
            significant_figures: 4,
            kb_base: 1024,
            shows_bits: false,
            disk_util: true,
            control: ControlSettings::default(),
            placement: PlacementSettings::default(),
            contents: ContentSettings::default(),
            verify: VerifySettings::default(),
            unified: Unified::Apart,
            stats: true,
            log: LogSettings::default(),
            priority: PrioritySettings::default(),
            calls: CallSettings::default(),
            pacing: PacingSettings::default(),
            sources: BTreeMap::new(),
            engine_options: Vec::new(),
        }
    }
}

fn default_percentiles() -> Percentiles {
    Percentiles {
        submit: false,
        complete: true,
        total: false,
        list: PERCENTILES.to_vec(),
        precision: 2,
    }
}

impl Settings {
    /// Applies the options of one section, in fio's order ([`place_in_section`]).
    pub fn apply_all(&mut self, options: &[RawOption], diagnostics: &mut Diagnostics) {
        let mut options: Vec<&RawOption> = options.iter().collect();
        options.sort_by_key(|option| place_in_section(option));
        for option in options {
            let Some(row) = table::find(&option.name) else {
                // The nearest name is looked for among all options.
                if !diagnostics.is_full() {
                    diagnostics.push(unknown(option));
                }
                continue;
            };
            let typed = option.value.clone().unwrap_or_default();
            let location = option.value_location();
            let source = (typed, option.origin.clone(), location.clone());
            self.sources.insert(row.name, source);
            if !row.engines.is_empty() {
                self.engine_options.push((row, location));
            }
            let mut reader = ValueReader::new(option, row, self.kb_base, diagnostics);
            match row.support {
                Support::Built => {
                    self.apply(&mut reader);
                    self.refuse_at_run(row.name, reader.refused_at_run());
                }
                Support::NoEffect | Support::WithEngine => {
                    reader.check_kind();
                    reader.tell_of_buffers();
                }
                Support::NotYet => reader.not_yet(),
                Support::AtRun(default) => {
                    let refusal = reader.unlike(default);
                    self.refuse_at_run(row.name, refusal);
                }
                Support::Withdrawn => reader.withdrawn(),
                Support::ProfileOnly => reader.profile_only(),
            }
        }
        self.check_engine(diagnostics);
    }

    /// Keeps why the value of an option that is in force now is not run; `None`: it is.
    fn refuse_at_run(&mut self, option: &'static str, refusal: Option<Diagnostic>) {
        match refusal {
            Some(refusal) => drop(self.control.refused_at_run.insert(option, refusal)),
            None => drop(self.control.refused_at_run.remove(option)),
        }
    }

    /// Whether the latency of single I/Os can end the job or change its depth: fio judges none that it does not count.
    pub fn judges_latency(&self) -> bool {
        self.stats && self.log.has_latency()
    }

    /// The value of an option in force as it was typed, if it was given.
    pub fn typed(&self, name: &str) -> Option<&str> {
        self.sources.get(name).map(|(typed, _, _)| typed.as_str())
    }

    /// Where the value of an option in force stands, if it was given.
    pub fn location(&self, name: &str) -> Option<Location> {
        self.sources
            .get(name)
            .map(|(_, _, location)| location.clone())
    }

    fn check_engine(&mut self, diagnostics: &mut Diagnostics) {
        for (row, location) in std::mem::take(&mut self.engine_options) {
            if !row.engines.contains(&self.engine.as_str()) {
                let message = format!("engine `{}` has no option `{}`", self.engine, row.name);
                let hint = format!("it belongs to {}", row.engines.join(", "));
                diagnostics.push(Diagnostic::error(message).at(location).hint(hint));
            }
        }
    }
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

fn set_some<T>(slot: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *slot = value;
    }
}

/// fio takes some options of a job file's section before all others, since they say what others mean, and those that name files
/// behind the others; those of engines are the last. On the command line each holds for what follows it.
pub fn place_in_section(option: &RawOption) -> i32 {
    let row = table::find(&option.name);
    let name = row.map_or(option.name.as_str(), |row| row.name);
    match (&option.origin, name) {
        (Origin::CommandLine, _) => 0,
        _ if row.is_some_and(|row| !row.engines.is_empty()) => 2,
        (_, "kb_base" | "unit_base" | "cpus_allowed_policy" | "lockfile") => -1,
        (_, "filename" | "filename_format") => 1,
        _ => 0,
    }
}

fn unknown(option: &RawOption) -> Diagnostic {
    let error = Diagnostic::error(format!("fio has no option `{}`", option.name))
        .at(option.location.clone());
    match nearest(&option.name, table::names()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`fio --cmdhelp=all` lists every option"),
    }
}
