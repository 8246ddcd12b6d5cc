//! Readers of what other tools wrote, each into an [`Observation`].
//!
//! [`read_files`] recognises each file by what is in it, and reads it as a stream: memory is bounded by what is kept of it,
//! however long it is. What a source cannot know is said in [`Observation::unknown`]; what makes its figures doubtful (gaps,
//! clocks that jump, devices that come and go, rows cut short) in [`Observation::doubts`]; what cannot be read is refused with
//! its line.

mod arguments;
mod azure_monitor;
mod blktrace;
mod coarse;
mod collect;
mod detect;
mod devices;
mod diskstats;
mod doubled;
mod encoding;
mod fio_log;
mod input;
mod iostat;
mod json;
mod merge;
mod number;
mod pace;
mod perfmon;
mod sadf;
mod spans;
mod sysstat;
mod sysstat_json;
mod trace;
mod unknown;
mod vmstat;
mod when;

use std::path::PathBuf;
use std::str::FromStr;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::{Bytes, Nanos};

pub use arguments::ImportArgs;
pub use detect::Format;
pub use perfmon::Meaning;

use crate::Observation;

/// What a reader may be told that a file does not say.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The format, where it shall not be recognised.
    pub format: Option<Format>,
    /// What counters mean whose names are not known.
    pub counters: Vec<NamedCounter>,
    /// The text's encoding by its name on the web (`windows-1252`, `shift_jis`, …) or `cp850`.
    pub encoding: Option<String>,
    /// Time between reports, where they bear no times.
    pub interval: Option<Nanos>,
    /// The machine's memory in all, where the source knows only what is free.
    pub memory: Option<Bytes>,
    /// The devices that count; none named: the disks, the lowest layer once.
    pub devices: Vec<String>,
    /// Which of PerfMon's two disk objects counts.
    pub disks: Disks,
}

impl Options {
    /// The memory in use where this much is free; `None` where nothing says how much there is.
    ///
    /// # Errors
    /// More is free than there is: what was said is of another machine. In one sentence; [`Self::MEMORY_HINT`] goes with it.
    fn memory_in_use(&self, free: Bytes) -> Result<Option<Bytes>, String> {
        let Some(total) = self.memory else {
            return Ok(None);
        };
        if free > total {
            return Err(format!(
                "{free} of memory are free here, and `--memory` says that the machine has {total}"
            ));
        }
        Ok(Some(Bytes::new(total.get() - free.get())))
    }

    const MEMORY_HINT: &str = "give `--memory` all of the machine's memory, or leave it out: memory in use is unknown then";
}

/// Which of PerfMon's two disk objects counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Disks {
    /// Physical disks where each holds one volume, volumes otherwise.
    #[default]
    Suited,
    /// `PhysicalDisk`.
    Physical,
    /// `LogicalDisk`.
    Logical,
}

impl FromStr for Disks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "suited" => Ok(Self::Suited),
            "physical" => Ok(Self::Physical),
            "logical" => Ok(Self::Logical),
            other => Err(format!(
                "`{other}` is none of `suited`, `physical`, `logical`"
            )),
        }
    }
}

/// What a counter of that name means: `Odczyty/s=reads`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCounter {
    /// As it stands after the last `\` of its column's name; the `Object\Counter` of it where that is not enough.
    pub name: String,
    /// What it means.
    pub meaning: Meaning,
}

impl FromStr for NamedCounter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, meaning)) = text.rsplit_once('=') else {
            return Err(format!("`{text}` is not of the form `NAME=MEANING`"));
        };
        Ok(Self {
            name: name.trim().to_owned(),
            meaning: meaning.trim().parse()?,
        })
    }
}

/// What is seen in the bytes of one file. `name` is what messages call it.
///
/// # Errors
/// All that is wrong with the input.
pub fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Observation, Diagnostics> {
    merge::read(vec![input::File::held(name, bytes)], options)
}

/// What is seen in files together: parts of one trace, or sources that complete each other.
///
/// # Errors
/// All that is wrong with the inputs.
pub fn read_files(paths: &[PathBuf], options: &Options) -> Result<Observation, Diagnostics> {
    let mut complaints = Diagnostics::default();
    let mut files = Vec::new();
    if paths.is_empty() {
        let message = "no file is named that another tool wrote";
        complaints.push(Diagnostic::error(message).hint("name one with `--from FILE`"));
    }
    let stdin = std::path::Path::new(input::STDIN);
    if paths.iter().filter(|path| *path == stdin).count() > 1 {
        let message = "`-` is named twice, and the standard input gives its bytes once";
        let hint = "name a file in one of the places";
        complaints.push(Diagnostic::error(message).hint(hint));
        return Err(complaints);
    }
    let mut held = 0;
    for path in paths {
        match input::File::open(path, &mut held) {
            Ok(file) => files.push(file),
            Err(complaint) => complaints.push(*complaint),
        }
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    merge::read(files, options)
}
