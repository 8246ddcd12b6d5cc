//! From the words after a verb to a workload.

use std::path::Path;

use fathom_diagnostics::{Diagnostics, nearest};
use fathom_dialects::diskspd::{self, DiskspdInput};
use fathom_dialects::fio::{
    self, Action, FioInput, Origin, OutputOptions, ReadContext, SystemFiles,
};
use fathom_workload::{
    IoLog, Sweep, SweepError, SweepPoint, Workload, native, preset, preset_names, validate,
};

use crate::{Code, Console, Failure};

/// Dialects that are spoken.
const DIALECTS: [&str; 2] = ["fio", "diskspd"];
/// Dialects that have a name here but are not spoken yet.
const DIALECTS_TO_COME: [&str; 4] = ["vdbench", "iometer", "sqlio", "diskperformance"];

/// Whether `word` is the name of a dialect, spoken or not yet.
pub fn is_dialect(word: &str) -> bool {
    DIALECTS.contains(&word) || DIALECTS_TO_COME.contains(&word)
}

/// A workload, and what its reader knows beyond it.
#[derive(Debug)]
pub struct Input {
    /// Short name, for lists.
    pub name: String,
    /// What to run.
    pub workload: Workload,
    /// Where it was read from fio's input.
    pub fio: Option<FioInput>,
    /// Where it was read from a DISKSPD command line.
    pub diskspd: Option<DiskspdInput>,
    /// The file it was read from, where it is a native one: its name and text.
    pub source: Option<(String, String)>,
    /// What its stages sweep; empty without a sweep.
    pub sweep: Vec<SweepPoint>,
}

/// The part of a command line that names a workload.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// A file, a preset, or a dialect's name and that tool's own arguments.
    pub workload: &'a [String],
    /// Replacements of paths, each `FROM=TO`.
    pub maps: &'a [String],
    /// The dialect to read a file in.
    pub dialect: Option<&'a str>,
    /// Directory of a preset's file.
    pub target: Option<&'a Path>,
}

impl Input {
    /// A workload from elsewhere than a file.
    pub fn new(name: impl Into<String>, workload: Workload) -> Self {
        Self {
            name: name.into(),
            workload,
            fio: None,
            diskspd: None,
            source: None,
            sweep: Vec::new(),
        }
    }

    /// Lays the sweep of `words` (each the value of a `--sweep`) over the workload; none leaves it as it is.
    ///
    /// # Errors
    /// What is wrong with the words, or why the workload cannot follow them.
    pub fn with_sweep(mut self, words: &[String]) -> Result<Self, Failure> {
        if words.is_empty() {
            return Ok(self);
        }
        let refused = |error: SweepError| Failure::new(Code::Usage, &error).hint(&error.hint);
        let sweep: Sweep = words.join(",").parse().map_err(refused)?;
        let swept = sweep.apply(&self.workload).map_err(refused)?;
        validate(&swept.workload)?;
        self.workload = swept.workload;
        self.sweep = swept.points;
        Ok(self)
    }

    /// Fits a DISKSPD line to the files of this machine: ranges end where files end, and every path must be one of here.
    ///
    /// # Errors
    /// A path that means something to Windows alone, with the `--map` that it needs.
    pub fn on_this_machine(mut self) -> Result<Self, Failure> {
        if self.diskspd.is_some() {
            settle_diskspd(&mut self.workload)?;
        }
        Ok(self)
    }

    /// Leaves the peer's logs out, which its own verb writes and no other, and says so.
    #[must_use]
    pub fn without_logs(mut self, console: &dyn Console) -> Self {
        let jobs = self.workload.stages.iter_mut();
        let jobs = jobs.flat_map(|stage| &mut stage.jobs);
        let mut logged = jobs.filter(|job| job.features.io_log.is_on()).peekable();
        if logged.peek().is_some() {
            console.tell("note: logs of I/O are written by a peer's own verb alone (`fathom fio …`); this run stores its intervals");
        }
        logged.for_each(|job| job.features.io_log = IoLog::default());
        self
    }
}

/// Reads the workload that `words` name. Warnings are told.
///
/// # Errors
/// What is wrong with the words, or with what they name.
pub fn load(words: &Words<'_>, console: &dyn Console) -> Result<Input, Failure> {
    let Words {
        workload,
        maps,
        dialect,
        target,
    } = *words;
    let (first, rest) = workload
        .split_first()
        .ok_or_else(|| Failure::new(Code::Usage, "no workload"))?;
    let mut input = if first == "fio" && dialect.is_none() {
        from_fio(fio::read(rest, &read_context()), "fio", console)?
    } else if first == "diskspd" && dialect.is_none() {
        from_diskspd(rest, console)?
    } else if DIALECTS_TO_COME.contains(&first.as_str()) {
        let message = format!(
            "`{first}` is a dialect that is not spoken yet; spoken: {}",
            DIALECTS.join(", ")
        );
        return Err(Failure::new(Code::Unsupported, message));
    } else if is_path(first) || dialect.is_some() {
        from_file(first, dialect, console)?
    } else {
        from_preset(first, target)?
    };
    if target.is_some() && input.name != *first {
        let message = "`--target` is for presets; a workload file names its own targets";
        return Err(
            Failure::new(Code::Usage, message).hint("use `--map FROM=TO` to replace a path")
        );
    }
    map_paths(maps, &mut input.workload)?;
    Ok(input)
}

/// Replaces paths of a workload, as each `FROM=TO` says.
///
/// # Errors
/// Where one is not of that form.
pub fn map_paths(maps: &[String], workload: &mut Workload) -> Result<(), Failure> {
    let maps = maps.iter().map(|map| parse_map(map));
    let maps = maps.collect::<Result<Vec<_>, _>>()?;
    apply(&maps, workload);
    Ok(())
}

/// What the fio reader may know of this machine, with fresh entropy for `randrepeat=0`.
pub fn read_context() -> ReadContext<'static> {
    ReadContext {
        entropy: fathom_rawio::wall_clock(),
        ..ReadContext::of_system(&SystemFiles)
    }
}

fn from_fio(
    read: Result<FioInput, Diagnostics>,
    name: &str,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let input = read?;
    if input.action != Action::Run {
        let message = "this option makes fio print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom fio …`"));
    }
    let eta = OutputOptions {
        eta: input.output.eta,
        eta_newline: input.output.eta_newline,
        ..Default::default()
    };
    if input.output != eta {
        let message = "fio's output options have no place here: this verb prints its own summary";
        return Err(Failure::new(Code::Usage, message)
            .hint("use `fathom fio …` for fio's output, `--json` for the record"));
    }
    tell_warnings(&input.warnings, console);
    Ok(Input {
        fio: Some(input.clone()),
        ..Input::new(
            job_file(&input).unwrap_or_else(|| name.to_owned()),
            input.workload,
        )
    })
}

fn from_diskspd(arguments: &[String], console: &dyn Console) -> Result<Input, Failure> {
    let input = diskspd::read(arguments, fathom_rawio::wall_clock())?;
    if input.action != diskspd::Action::Run {
        let message = "this option makes DISKSPD print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("say it to `fathom diskspd …`"));
    }
    tell_warnings(&input.warnings, console);
    Ok(Input {
        diskspd: Some(input.clone()),
        ..Input::new("diskspd", input.workload)
    })
}

/// Fits the workload of a DISKSPD line to the files of this machine.
///
/// # Errors
/// A path that means something to Windows alone, with the `--map` that it needs.
pub fn settle_diskspd(workload: &mut Workload) -> Result<(), Failure> {
    let jobs = workload.stages.iter().flat_map(|stage| &stage.jobs);
    let mut paths = jobs
        .flat_map(|job| &job.targets)
        .map(|target| target.place.path());
    if let Some(path) = paths.find(|path| diskspd::is_windows_path(path)) {
        let from = match path.split_once(':') {
            Some((drive, _)) if drive.len() == 1 => format!("{drive}:"),
            _ => path.to_owned(),
        };
        let message = format!("`{path}` is a path of Windows, and nothing serves it here");
        let hint = format!("say where it is with `--map '{from}=/PATH'`");
        return Err(Failure::new(Code::Input, message).hint(hint));
    }
    diskspd::fit_to_files(workload, &SystemFiles);
    Ok(())
}

/// Name of the first job file that an option came from.
fn job_file(input: &FioInput) -> Option<String> {
    input
        .provenance
        .iter()
        .find_map(|entry| match &entry.origin {
            Origin::File { path, .. } if path == "-" => Some("stdin".to_owned()),
            Origin::File { path, .. } => Path::new(path)
                .file_name()
                .map(|name| name.to_string_lossy().into_owned()),
            _ => None,
        })
}

fn from_file(path: &str, dialect: Option<&str>, console: &dyn Console) -> Result<Input, Failure> {
    let name = Path::new(path)
        .file_name()
        .map_or(path.to_owned(), |name| name.to_string_lossy().into_owned());
    let unreadable = |error: std::io::Error| {
        Failure::new(Code::Input, format!("`{path}` cannot be read: {error}"))
    };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(Failure::new(
            Code::Input,
            format!("`{path}` is no text: it holds bytes that are not UTF-8"),
        ));
    };
    let has_extension = |extension: &str| {
        Path::new(path)
            .extension()
            .is_some_and(|ext| ext == extension)
    };
    match dialect {
        Some("fio") => from_fio(fio::read_file(path, &read_context()), &name, console),
        Some("native") => from_native(&text, path, name, console),
        Some(other) => Err(Failure::new(
            Code::Usage,
            format!("`{other}` is no dialect; known: fio, native"),
        )),
        None if has_extension("toml") => from_native(&text, path, name, console),
        None if has_extension("fio") || fio::looks_like_job_file(&text) => {
            from_fio(fio::read_file(path, &read_context()), &name, console)
        }
        None => {
            let message = format!("`{path}` is in no dialect that is known here");
            Err(Failure::new(Code::Input, message)
                .hint("name it with `--dialect fio` or `--dialect native`"))
        }
    }
}

fn from_native(
    text: &str,
    path: &str,
    name: String,
    console: &dyn Console,
) -> Result<Input, Failure> {
    let (workload, warnings) = native::read(text, path)?;
    tell_warnings(&warnings, console);
    Ok(Input {
        source: Some((path.to_owned(), text.to_owned())),
        ..Input::new(name, workload)
    })
}

fn from_preset(name: &str, target: Option<&Path>) -> Result<Input, Failure> {
    let directory = target.unwrap_or_else(|| Path::new("."));
    // A record says where its run was, not where it was called from.
    let directory = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let workload = directory
        .to_str()
        .and_then(|directory| preset(name, directory));
    let workload = workload.ok_or_else(|| {
        let known: Vec<&str> = preset_names().chain(DIALECTS).collect();
        let guess = nearest(name, known.iter().copied())
            .map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let message = format!(
            "`{name}` is no preset and no dialect; known: {}",
            known.join(", ")
        );
        Failure::new(Code::Usage, message)
            .hint(format!("{guess}a file's name needs a `/` or an extension"))
    })?;
    Ok(Input::new(name, workload))
}

/// A name is a path if it has a `/` or an extension.
fn is_path(word: &str) -> bool {
    word.contains('/') || Path::new(word).extension().is_some()
}

/// Tells what a reader warned of.
pub fn tell_warnings(warnings: &Diagnostics, console: &dyn Console) {
    if !warnings.0.is_empty() {
        console.tell(&warnings.to_string());
    }
}

fn parse_map(map: &str) -> Result<(String, String), Failure> {
    match map.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Ok((from.to_owned(), to.to_owned()))
        }
        _ => Err(Failure::new(
            Code::Usage,
            format!("`--map {map}` is not of the form FROM=TO"),
        )
        .hint("for example `--map E:=/mnt/e` or `--map /mnt/a=/mnt/b`")),
    }
}

fn apply(maps: &[(String, String)], workload: &mut Workload) {
    let jobs = workload.stages.iter_mut().flat_map(|stage| &mut stage.jobs);
    for target in jobs.flat_map(|job| &mut job.targets) {
        let path = target.place.path_mut();
        if let Some(mapped) = maps.iter().find_map(|(from, to)| mapped(path, from, to)) {
            *path = mapped;
        }
    }
}

/// `path` with `from` replaced by `to`, where `from` is the whole path, a drive, or whole leading components of it.
fn mapped(path: &str, from: &str, to: &str) -> Option<String> {
    // Windows does not tell drives apart by case.
    let is_drive = from.len() == 2 && from.ends_with(':');
    let rest = match path.get(..from.len()) {
        Some(start) if is_drive && start.eq_ignore_ascii_case(from) => &path[from.len()..],
        _ => path.strip_prefix(from)?,
    };
    if rest.is_empty() || from.ends_with('/') || rest.starts_with('/') {
        return Some(format!("{to}{rest}"));
    }
    if from.ends_with('\\') || (!is_drive && rest.starts_with('\\')) {
        let (to, rest) = (to.trim_end_matches('/'), rest.trim_start_matches('\\'));
        return Some(format!("{to}/{}", rest.replace('\\', "/")));
    }
    from.ends_with(':')
        .then(|| format!("{to}/{}", rest.trim_start_matches('\\').replace('\\', "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, from: &str, to: &str, expected: Option<&str>) {
        assert_eq!(
            mapped(path, from, to).as_deref(),
            expected,
            "{path} {from}={to}"
        );
    }

    #[test]
    fn paths_are_mapped_by_whole_components() {
        check("/mnt/a/x", "/mnt/a", "/srv", Some("/srv/x"));
        check("/mnt/a", "/mnt/a", "/srv/file", Some("/srv/file"));
        check("/mnt/ab/x", "/mnt/a", "/srv", None);
        check("/mnt/a/x", "/mnt/", "/srv/", Some("/srv/a/x"));
        check("E:\\dir\\x.dat", "E:", "/mnt/e", Some("/mnt/e/dir/x.dat"));
        check("E:x.dat", "E:", "/mnt/e", Some("/mnt/e/x.dat"));
        check("e:\\x.dat", "E:", "/mnt/e", Some("/mnt/e/x.dat"));
        check("E:\\dir\\x.dat", "E:\\dir", "/d", Some("/d/x.dat"));
        check("E:\\dir\\x.dat", "E:\\dir\\", "/d/", Some("/d/x.dat"));
        check("E:\\x.dat", "E:\\", "/mnt/e", Some("/mnt/e/x.dat"));
        check("E:\\dirs\\x.dat", "E:\\dir", "/d", None);
        check("#1", "#1", "/dev/sdb", Some("/dev/sdb"));
        check("#12", "#1", "/dev/sdb", None);
        check("E:", "E:", "/dev/sdb", Some("/dev/sdb"));
    }

    #[test]
    fn a_name_with_a_slash_or_an_extension_is_a_path() {
        assert!(is_path("./quick") && is_path("job.fio"));
        assert!(!is_path("quick"));
    }
}
