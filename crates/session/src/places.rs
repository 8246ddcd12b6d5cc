//! Where in its input a job says what is complained of.
//!
//! The engine and the simulator know jobs and paths, not files and lines; the input's own reader finds those again.

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, Subject};
use fathom_dialects::fio::{FioInput, Origin};

use fathom_engine::{
    EngineError, MAKE_ANCHOR, MAKE_DIRECTORY, MAKE_FIRST, MAP_THE_FILE, NAME_A_FILE, NAME_A_VOLUME,
};

use crate::{Failure, Input, Replaced, Spoken, engine_failure};

impl Input {
    /// The same complaints, pointing at the line of the input that each is about, where that can be told. What is to be done
    /// about a path that a `--map` put there is told of that one.
    #[must_use]
    pub fn located(&self, mut complaints: Diagnostics) -> Diagnostics {
        for complaint in &mut complaints.0 {
            let of = complaint.subject.as_deref();
            let replaced = of.and_then(|of| self.replaced.iter().find(|it| it.path == of.value));
            let hint = complaint.hint.as_deref();
            let anew = replaced
                .zip(hint)
                .and_then(|(it, hint)| of_mapped(it, hint));
            complaint.hint = anew.or_else(|| complaint.hint.take());
        }
        located(complaints, |subject| self.place_of(subject))
    }

    /// The engine's error, pointing at lines of the input likewise.
    pub fn engine_failure(&self, error: &EngineError) -> Failure {
        match error {
            EngineError::Invalid(complaints) => {
                let located = self.located(complaints.clone());
                in_words_of(self.spoken.dialect(), located).into()
            }
            _ => engine_failure(error),
        }
    }

    fn place_of(&self, subject: &Subject) -> Option<Location> {
        match &self.spoken {
            Spoken::Native { path, text } => place_in_native(path, text, subject),
            Spoken::Fio(input) => place_in_fio(input, subject),
            Spoken::Vdbench(input) => input.place_of(subject),
            Spoken::Iometer(input) => input.place_of(subject),
            Spoken::Preset | Spoken::Diskspd(_) | Spoken::Sqlio(_) | Spoken::DiskPerformance(_) => {
                None
            }
        }
    }
}

/// What is said in place of `hint` of a path that a `--map` put there, where that is something else.
fn of_mapped(replaced: &Replaced, hint: &str) -> Option<String> {
    if hint == MAP_THE_FILE {
        return replaced.file_hint(None);
    }
    if let Some(volume) = hint.strip_prefix(NAME_A_VOLUME) {
        return replaced.file_hint(Some(volume.trim_matches('`')));
    }
    hint.contains("--map ").then(|| replaced.hint())
}

/// What serves a path that another machine has.
const MAP: &str = "say where it is here with `--map FROM=TO`";

/// The same complaints; what to do about a file that is missing, or a directory in its place, is said in the words of the dialect
/// of that name.
#[must_use]
pub fn in_words_of(dialect: &str, mut complaints: Diagnostics) -> Diagnostics {
    let makes = match dialect {
        "" => return complaints,
        "fio" => Some("leave out `allow_file_create=0`"),
        "diskspd" => Some("have it made by `-c` and its size"),
        "vdbench" => Some("give the SD a `size=`"),
        "sqlio" => Some("give its size in a parameter file (`-F`)"),
        "native" => Some("leave out `must_exist`"),
        _ => None,
    };
    let names = match dialect {
        "fio" => Some("say where files are by `directory=`"),
        "vdbench" => Some("make it the `anchor=` of an `fsd=`"),
        _ => None,
    };
    let alone = (dialect == "fio").then_some("say `filename=` in place of `directory=`");
    // fio's own command line has no such word, and files of its own have `directory=`.
    let mapped = (dialect != "fio").then_some(MAP);
    for complaint in &mut complaints.0 {
        let more = match complaint.hint.as_deref() {
            Some(MAKE_DIRECTORY) => (MAKE_DIRECTORY, mapped),
            Some(MAKE_ANCHOR) => (MAKE_ANCHOR, mapped),
            Some(MAKE_FIRST) => (MAKE_FIRST, makes),
            Some(NAME_A_FILE) => (NAME_A_FILE, names),
            Some(MAP_THE_FILE) => (MAP_THE_FILE, alone),
            _ => continue,
        };
        if let (hint, Some(more)) = more {
            complaint.hint = Some(format!("{hint}, or {more}"));
        }
    }
    complaints
}

/// The engine's error about a workload of the dialect of that name.
pub fn failure_of(dialect: &str, error: &EngineError) -> Failure {
    match error {
        EngineError::Invalid(complaints) => in_words_of(dialect, complaints.clone()).into(),
        _ => engine_failure(error),
    }
}

/// The same complaints, each at the place that `place_of` knows.
pub fn located(
    complaints: Diagnostics,
    place_of: impl Fn(&Subject) -> Option<Location>,
) -> Diagnostics {
    let located = complaints.0.into_iter().map(|complaint| {
        let place = complaint.subject.as_ref();
        match place.and_then(|subject| place_of(subject)) {
            Some(place) if complaint.location.is_none() => complaint.at(place),
            _ => complaint,
        }
    });
    Diagnostics(located.collect::<Vec<Diagnostic>>())
}

/// The value as it stands in quotes, behind the owner's name if it is there, anywhere otherwise; or the owner's name.
fn place_in_native(file: &str, text: &str, subject: &Subject) -> Option<Location> {
    let quoted = |word: &str| format!("\"{word}\"");
    let (owner, value) = (quoted(&subject.owner), quoted(&subject.value));
    let owner_at = text.find(&owner);
    let behind = owner_at.and_then(|at| Some(at + text[at..].find(&value)?));
    let (at, length) = match (behind.or_else(|| text.find(&value)), owner_at) {
        (Some(at), _) => (at, value.len()),
        (None, Some(at)) => (at, owner.len()),
        (None, None) => return None,
    };
    Some(Location::in_text(file, text, at..at + length))
}

/// The option that made the job's paths, or its first option that a file holds.
fn place_in_fio(input: &FioInput, subject: &Subject) -> Option<Location> {
    let of_job = || {
        let entries = input.provenance.iter();
        entries.filter(|entry| entry.job == subject.owner)
    };
    let line_of = |key: Option<&str>| {
        let mut entries = of_job().filter(|entry| key.is_none_or(|key| entry.key == key));
        entries.find_map(|entry| match &entry.origin {
            Origin::File { path, line } | Origin::Environment { path, line } => Some((path, *line)),
            Origin::CommandLine | Origin::Default => None,
        })
    };
    let (path, line) = line_of(Some("filename"))
        .or_else(|| line_of(Some("directory")))
        .or_else(|| line_of(None))?;
    let text = std::fs::read_to_string(path).ok()?;
    let before: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let length = text[before..].lines().next()?.trim_end().len();
    Some(Location::in_text(path, &text, before..before + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_not_there_can_be_mapped() {
        #[track_caller]
        fn check(dialect: &str, hint: &str, is_mapped: bool) {
            let complaint = Diagnostic::error("there is no directory `/mnt/d`").hint(hint);
            let told = in_words_of(dialect, Diagnostics(vec![complaint]));
            let told = told.0[0].hint.clone().unwrap_or_default();
            assert!(told.starts_with(hint), "{told}");
            assert_eq!(
                told.contains("`--map FROM=TO`"),
                is_mapped,
                "{dialect}: {told}"
            );
        }
        for dialect in ["vdbench", "diskspd", "sqlio", "iometer", "native"] {
            check(dialect, MAKE_DIRECTORY, true);
            check(dialect, MAKE_ANCHOR, true);
        }
        check("fio", MAKE_DIRECTORY, false);
        // `--target` says it anew.
        check("", MAKE_DIRECTORY, false);
        check("vdbench", "name a directory", false);
    }

    #[test]
    fn a_file_of_a_mapped_folder_is_to_be_mapped_itself() {
        #[track_caller]
        fn check(to: &str, hint: &str, expected: &str) {
            let replaced = Replaced {
                path: format!("{to}/a.0.0"),
                map: format!("/data/x={to}"),
            };
            let told = of_mapped(&replaced, hint);
            let expected = format!("map the file, and not its folder: `--map '{expected}'`");
            assert_eq!(told.as_deref(), Some(expected.as_str()));
        }
        let uri = "nbd+unix:///disk?socket=/run/s";
        check(uri, MAP_THE_FILE, &format!("/data/x/a.0.0={uri}"));
        check("/mnt/f", MAP_THE_FILE, "/data/x/a.0.0=/mnt/f");
        let volume = format!("{NAME_A_VOLUME}`/mnt/disk`");
        check("/mnt", &volume, "/data/x/a.0.0=/mnt/disk");
        let other = Replaced {
            path: "/mnt/f".to_owned(),
            map: "/data=/mnt".to_owned(),
        };
        assert_eq!(of_mapped(&other, MAKE_FIRST), None);
        // What was not mapped has its dialect's word.
        let complaint = Diagnostic::error("it is a file").hint(MAP_THE_FILE);
        let told = in_words_of("fio", Diagnostics(vec![complaint]));
        assert!(
            told.0[0]
                .hint
                .as_deref()
                .unwrap()
                .ends_with("`filename=` in place of `directory=`")
        );
    }

    #[test]
    fn a_path_is_found_in_the_job_that_names_it() {
        let text = "[[stage.job]]\nname = \"a\"\ntarget = \"/d/x\"\n[[stage.job]]\nname = \"b\"\ntarget = \"/d/x\"\n";
        let subject = |owner: &str, value: &str| Subject {
            owner: owner.to_owned(),
            value: value.to_owned(),
        };
        let line = |owner, value| {
            place_in_native("w.toml", text, &subject(owner, value)).map(|place| place.line)
        };
        assert_eq!(line("a", "/d/x"), Some(3));
        assert_eq!(line("b", "/d/x"), Some(6));
        // A path that was mapped stands nowhere; the job does.
        assert_eq!(line("b", "/mnt/x"), Some(5));
        assert_eq!(line("c", "/mnt/x"), None);
    }
}
