//! The dialects a workload can be spoken in.
//!
//! One row of [`DIALECTS`] and one file here for each: how its command line and its files become an [`Input`], and what
//! its reader knows beyond the workload model ([`Spoken`]).

mod diskperformance;
mod diskspd;
mod fio;
mod held;
mod iometer;
mod native;
mod patient;
mod sqlio;
pub(crate) mod vdbench;

use std::path::Path;

use fathom_diagnostics::{Diagnostics, nearest};
use fathom_dialects::diskperformance::DiskPerformanceInput;
use fathom_dialects::diskspd::DiskspdInput;
use fathom_dialects::fio::FioInput;
use fathom_dialects::iometer::{IometerInput, decode};
use fathom_dialects::sqlio::SqlioInput;
use fathom_dialects::vdbench::VdbenchInput;

use crate::files::{STDIN, no_text, read_bytes};
use crate::{Code, Console, Failure, Input, tell_warnings};

pub use self::diskperformance::{make_folder, missing_folder, prepare as prepare_diskperformance};
pub use self::diskspd::settle as settle_paths;
pub use self::fio::read_context;
pub use self::iometer::{processors, settle as settle_iometer};
pub use self::patient::PatientFiles;
pub use self::vdbench::{refuse_windows, settle as settle_vdbench};

/// What the reader of an input knows beyond its workload.
#[derive(Debug)]
pub enum Spoken {
    /// A preset.
    Preset,
    /// A native file.
    Native {
        /// Its name.
        path: String,
        /// What it holds.
        text: String,
    },
    /// fio's job files and options.
    Fio(Box<FioInput>),
    /// DISKSPD's command line or profile.
    Diskspd(Box<DiskspdInput>),
    /// Vdbench's parameter files.
    Vdbench(Box<VdbenchInput>),
    /// Iometer's configuration.
    Iometer(Box<IometerInput>),
    /// SQLIO's command line.
    Sqlio(Box<SqlioInput>),
    /// The arguments of DiskPerformance.ps1.
    DiskPerformance(Box<DiskPerformanceInput>),
}

impl Spoken {
    /// The dialect's word on our command line; `native` for a native file, nothing for a preset.
    pub(crate) fn dialect(&self) -> &'static str {
        match self {
            Self::Preset => "",
            Self::Native { .. } => "native",
            Self::Fio(_) => "fio",
            Self::Diskspd(_) => "diskspd",
            Self::Vdbench(_) => "vdbench",
            Self::Iometer(_) => "iometer",
            Self::Sqlio(_) => "sqlio",
            Self::DiskPerformance(_) => "diskperformance",
        }
    }
}

/// A file that may hold a workload.
pub(crate) struct File<'a> {
    /// As the user gave it.
    path: &'a str,
    /// Without its folder.
    name: String,
    /// What it holds.
    text: String,
    /// Its bytes, where they are no UTF-8.
    raw: Option<Vec<u8>>,
}

impl File<'_> {
    fn has_extension(&self, extension: &str) -> bool {
        let found = Path::new(self.path).extension();
        found.is_some_and(|found| found.eq_ignore_ascii_case(extension))
    }
}

/// Reads an input from the words after the dialect's name.
type FromWords = fn(&[String], &dyn Console) -> Result<Input, Failure>;
/// Reads an input from a file.
type FromFile = fn(&File<'_>, &dyn Console) -> Result<Input, Failure>;
/// Whether a file looks like one of the dialect.
type Recognises = fn(&File<'_>) -> bool;

/// How one dialect's words and files are read.
pub(crate) struct Dialect {
    /// Its word on our command line.
    name: &'static str,
    /// Reads that tool's own arguments.
    pub(crate) from_words: FromWords,
    /// Reads a file that is named alone, where the tool has files of workloads.
    from_file: Option<(FromFile, Recognises)>,
}

/// Every dialect with a command line, in the order in which a file is tried.
const DIALECTS: &[Dialect] = &[
    Dialect {
        name: "fio",
        from_words: fio::from_words,
        from_file: Some((fio::from_file, fio::recognises)),
    },
    Dialect {
        name: "diskspd",
        from_words: diskspd::from_words,
        from_file: Some((diskspd::from_file, diskspd::recognises)),
    },
    Dialect {
        name: "sqlio",
        from_words: sqlio::from_words,
        from_file: None,
    },
    Dialect {
        name: "diskperformance",
        from_words: diskperformance::from_words,
        from_file: None,
    },
    Dialect {
        name: "vdbench",
        from_words: vdbench::from_words,
        from_file: Some((vdbench::from_file, vdbench::recognises)),
    },
    Dialect {
        name: "iometer",
        from_words: iometer::from_words,
        from_file: Some((iometer::from_file, iometer::recognises)),
    },
];

/// Whether `word` is the name of a dialect with a command line.
pub fn is_dialect(word: &str) -> bool {
    dialect(word).is_some()
}

/// The names of all dialects with a command line.
pub fn dialects() -> impl Iterator<Item = &'static str> {
    names()
}

/// The dialect of that name.
pub(crate) fn dialect(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// Names of all dialects with a command line.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name)
}

/// Reads a file, in the dialect of that name or in the one it looks like.
pub(crate) fn from_file(
    path: &str,
    dialect: Option<&str>,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let file = open(path, console)?;
    let of_files = || {
        let dialects = DIALECTS.iter();
        dialects.filter_map(|it| Some((it.name, it.from_file?)))
    };
    let known = || {
        let names = of_files().map(|(name, _)| name);
        names.chain([native::NAME]).collect::<Vec<_>>()
    };
    if let Some(name) = dialect {
        if name == native::NAME {
            return native::from_file(&file, console);
        }
        let found = of_files().find(|(known, _)| *known == name);
        let (_, (read, _)) = found.ok_or_else(|| no_dialect(name, &known()))?;
        if let Some(program) = commanded(&file.text) {
            return Err(no_script(path, program));
        }
        return read(&file, console);
    }
    if file.text.trim().is_empty() {
        let message = format!("`{path}` is empty");
        return Err(Failure::new(Code::Input, message).hint("name a file with a workload in it"));
    }
    if native::recognises(&file) {
        return native::from_file(&file, console);
    }
    let found = of_files().find(|(_, (_, recognises))| recognises(&file));
    let (_, (read, _)) = found.ok_or_else(|| {
        if let Some(program) = commanded(&file.text) {
            return no_script(path, program);
        }
        let message = format!("`{path}` is in no dialect that is known here");
        let hint = format!("name it with `--dialect`: {}", known().join(", "));
        Failure::new(Code::Input, message).hint(hint)
    })?;
    read(&file, console)
}

/// The dialect whose command line is the first line of a text that is no comment, as in what `convert --to diskspd` writes.
fn commanded(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let (program, options) = line.split_once(' ')?;
    if options.trim_start().starts_with('=') {
        return None;
    }
    let program = program.rsplit(['/', '\\']).next()?;
    let program = program.strip_suffix(".exe").unwrap_or(program);
    names().find(|name| program.eq_ignore_ascii_case(name))
}

fn no_script(path: &str, program: &str) -> Failure {
    let message = format!("`{path}` holds command lines of `{program}`, and no script is read");
    let hint = format!("give one line's own words: `fathom run {program} …`");
    Failure::new(Code::Input, message).hint(hint)
}

fn no_dialect(name: &str, known: &[&str]) -> Failure {
    let message = format!(
        "`{name}` is no dialect of files; known: {}",
        known.join(", ")
    );
    let failure = Failure::new(Code::Usage, message);
    match nearest(name, known.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    }
}

fn open<'p>(path: &'p str, console: &dyn Console) -> Result<File<'p>, Failure> {
    let name = match Path::new(path).file_name() {
        Some(_) if path == STDIN => "stdin".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.to_owned(),
    };
    let bytes = patient::told(path, console, || read_bytes("", Path::new(path)))?;
    let mut file = File {
        path,
        name,
        text: String::new(),
        raw: None,
    };
    match String::from_utf8(bytes) {
        Ok(text) => file.text = text,
        Err(error) => {
            // These two come from Windows, in what it writes.
            let (text, guessed) = decode(path, error.as_bytes());
            file.text = text;
            if iometer::recognises(&file) {
                tell_warnings(&Diagnostics(guessed.into_iter().collect()), console);
            } else if !diskspd::recognises(&file) {
                return Err(no_text("", Path::new(path), error.as_bytes()));
            }
            file.raw = Some(error.into_bytes());
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_told_by_the_program_of_their_first_command() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(commanded(text), expected, "{text}");
        };
        check("fio --name=a", Some("fio"));
        check("# by hand\n\n  /opt/bin/fio --name=a", Some("fio"));
        check("C:\\tools\\DiskSpd.exe -b4K x", Some("diskspd"));
        check("vdbench -f parm", Some("vdbench"));
        // No command line of a dialect: another program, a name that is set, a word alone.
        check("dd if=/dev/zero of=x", None);
        check("fio = 5", None);
        check("fio", None);
        check("# fio --name=a", None);
        check("", None);
    }
}
