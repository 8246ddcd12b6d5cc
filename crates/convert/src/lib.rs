//! A workload in a dialect's own text, and what that text cannot say.
//!
//! Every dialect is read into one workload model, so that each can be written in the words of another. A writer says what it
//! can; what it wrote is then read back by that dialect's own reader and laid beside the workload, so that every difference is
//! found, whoever forgot it: nothing is dropped in silence.
//!
//! Invariants: writers take apart every structure of the model by name, so that a new field does not compile before each of
//! them has decided about it; the text is read back on a machine without files, so that it depends on the workload alone.
//!
//! ```
//! use fathom_convert::{Dialect, convert};
//! let workload = fathom_workload::preset("quick", "/mnt/data").unwrap();
//! let converted = convert(&workload, Dialect::Fio, "quick");
//! assert!(converted.text.contains("ioengine=io_uring"));
//! ```

mod back;
mod clones;
mod diskspd;
mod draft;
mod exports;
mod fio;
mod hosts;
mod iometer;
mod loss;
mod native;
mod normal;
mod vdbench;
mod zones;

use fathom_dialects::vdbench::Host;
use fathom_workload::Workload;

pub use loss::{Loss, Weight};
pub use normal::normal_form;

/// A dialect that workloads are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// fio's job files.
    Fio,
    /// DISKSPD's command lines, one for each stage.
    Diskspd,
    /// Vdbench's parameter files.
    Vdbench,
    /// Iometer's configurations (.icf).
    Iometer,
    /// Fathom's own files.
    Native,
}

impl Dialect {
    /// All, in the order in which they are listed.
    pub const ALL: [Self; 5] = [
        Self::Fio,
        Self::Diskspd,
        Self::Vdbench,
        Self::Iometer,
        Self::Native,
    ];

    /// Its word on our command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Diskspd => "diskspd",
            Self::Vdbench => "vdbench",
            Self::Iometer => "iometer",
            Self::Native => "native",
        }
    }

    /// The dialect of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

/// What a text says of where it comes from: `Written by VERB SOURCE.`
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The verb that writes it, and what the source is to it.
    pub verb: &'a str,
    /// What it was made of.
    pub source: &'a str,
    /// What the source said that a workload cannot say, so that no text of it can.
    pub beyond: &'a [Loss],
}

/// A workload in a dialect's text.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The whole text, with what it cannot say as comments where the dialect has comments.
    pub text: String,
    /// What it cannot say, in the order of the workload.
    pub losses: Vec<Loss>,
}

impl Converted {
    /// Whether the text asks for other I/O than the workload.
    pub fn is_lossy(&self) -> bool {
        self.losses.iter().any(|loss| loss.weight == Weight::Lost)
    }
}

/// Writes `workload` in the words of `to`. `source` names where it came from, for a comment.
pub fn convert(workload: &Workload, to: Dialect, source: &str) -> Converted {
    convert_for(workload, to, source, &[])
}

/// The same, where the source was a file of Vdbench with these hosts.
pub fn convert_for(workload: &Workload, to: Dialect, source: &str, hosts: &[Host]) -> Converted {
    let origin = Origin {
        verb: "`fathom convert` from",
        source,
        beyond: &hosts::untold(hosts, to),
    };
    write(workload, to, origin)
}

/// The same for another verb, which the text names.
pub fn write(workload: &Workload, to: Dialect, origin: Origin<'_>) -> Converted {
    let mut beyond = origin.beyond.to_vec();
    beyond.extend(exports::lost(workload, to));
    let origin = Origin {
        beyond: &beyond,
        ..origin
    };
    let at_rates = match to {
        Dialect::Fio | Dialect::Native => None,
        Dialect::Diskspd | Dialect::Vdbench | Dialect::Iometer => Some(at_rates(workload)),
    };
    let workload = at_rates.as_ref().unwrap_or(workload);
    let converted = match to {
        Dialect::Fio => fio::convert(workload, origin),
        Dialect::Diskspd => diskspd::convert(workload, origin),
        Dialect::Vdbench => vdbench::convert(workload, origin),
        Dialect::Iometer => iometer::convert(workload, origin),
        Dialect::Native => native::convert(workload, origin),
    };
    Converted {
        losses: loss::with(origin.beyond, &converted.losses),
        ..converted
    }
}

/// For dialects that have one rate a job: its directions mixed as their own rates have them.
fn at_rates(workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    for job in workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs) {
        job.mix = job.mix_at_rates();
    }
    workload
}

#[cfg(test)]
mod tests;
