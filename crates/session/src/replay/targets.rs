//! Which target the I/O of each name of a trace goes to.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fathom_diagnostics::nearest;
use fathom_units::Bytes;
use fathom_workload::Place;
use fathom_workload::trace::TraceSummary;

use crate::{Code, Failure};

/// Most names that are told.
const MOST_TOLD: usize = 20;

/// A target, and what of the trace goes there.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Names of the trace.
    pub names: Vec<String>,
    /// Where their I/O goes.
    pub place: Place,
    /// End of the farthest byte.
    pub end: u64,
}

/// Every target, in the order in which the trace first names what goes there.
#[derive(Debug)]
pub(super) struct Targets(pub Vec<Mapped>);

impl Targets {
    /// What the values `to` of `--to` and `left_out` of `--leave-out` make of the names of a trace.
    ///
    /// # Errors
    /// A name that the trace has not, one without a target, and targets that are too small.
    pub fn of(summary: &TraceSummary, to: &[String], left_out: &[String]) -> Result<Self, Failure> {
        let all = || summary.files.iter().zip(&summary.ends);
        let has = |name: &str| summary.files.iter().any(|known| known == name);
        for name in left_out {
            if !has(name) {
                return Err(unknown(name, summary, "--leave-out"));
            }
        }
        let wanted = |name: &String, end: u64| end > 0 && !left_out.contains(name);
        let names = all().filter(|(name, end)| wanted(name, **end));
        let names: Vec<(&String, u64)> = names.map(|(name, end)| (name, *end)).collect();
        let mut rules: Vec<(Option<&str>, &str)> = Vec::new();
        for word in to {
            rules.push(rule(word, summary)?);
        }
        let of_all = rules.iter().filter(|(name, _)| name.is_none());
        let of_all: Vec<&str> = of_all.map(|(_, target)| *target).collect();
        if of_all.len() > 1 || (of_all.len() == 1 && (names.len() > 1 || rules.len() > 1)) {
            return Err(whose(of_all[0], &names));
        }
        let mut mapped: Vec<Mapped> = Vec::new();
        let mut missing = Vec::new();
        for (name, end) in &names {
            let rule = rules
                .iter()
                .find(|(of, _)| of.is_none_or(|of| of == name.as_str()));
            match rule {
                Some((_, target)) => add(&mut mapped, name, target, *end),
                None => missing.push(name.as_str()),
            }
        }
        if !missing.is_empty() {
            return Err(without_target(&missing));
        }
        if mapped.is_empty() {
            let failure = Failure::new(Code::Usage, "all of the trace's I/O is left out");
            return Err(failure.hint("leave less of it out"));
        }
        for target in &mapped {
            target.check_size()?;
        }
        Ok(Self(mapped))
    }
}

impl Mapped {
    /// Whether it is an export of an NBD server.
    pub fn is_export(&self) -> bool {
        self.place.is_export()
    }

    /// Whether what is there holds all that the trace uses. What is no file and no block device is the engine's to judge.
    fn check_size(&self) -> Result<(), Failure> {
        let Place::Path(path) = &self.place else {
            return Ok(());
        };
        let Some(size) = size_of(path).filter(|size| *size < self.end) else {
            return Ok(());
        };
        let message = format!(
            "`{path}` has {} ({size} bytes), and the trace reaches byte {} of {}",
            Bytes::new(size),
            self.end,
            quoted(self.names.iter().map(String::as_str))
        );
        let hint = if fs::metadata(path).is_ok_and(|found| found.is_file()) {
            "name a larger file, or one that is not there, which is made as large as the trace needs"
        } else {
            "name a larger device"
        };
        Err(Failure::new(Code::Input, message).hint(hint))
    }
}

/// Bytes of a file or a block device; `None` where that is neither, is not there, or does not tell.
fn size_of(path: &str) -> Option<u64> {
    let found = fs::metadata(path).ok()?;
    if found.is_file() {
        return Some(found.len());
    }
    let is_device = found.file_type().is_block_device();
    let mut device = is_device.then(|| File::open(path).ok()).flatten()?;
    device.seek(SeekFrom::End(0)).ok()
}

/// A value of `--to`: the name that it is for, where it says one, and the target.
fn rule<'a>(word: &'a str, summary: &TraceSummary) -> Result<(Option<&'a str>, &'a str), Failure> {
    let named = summary.files.iter().find_map(|name| {
        let target = word.strip_prefix(name.as_str())?.strip_prefix('=')?;
        Some((&word[..name.len()], target))
    });
    if let Some((name, target)) = named {
        if target.is_empty() {
            let failure = Failure::new(Code::Usage, format!("`--to {word}` names no target"));
            return Err(failure.hint(format!("write a path behind it, or `--leave-out {name}`")));
        }
        return Ok((Some(name), target));
    }
    let place = Place::Path(word.to_owned());
    match word.split_once('=') {
        Some((name, _)) if !place.is_export() && !Path::new(word).exists() => {
            Err(unknown(name, summary, "--to"))
        }
        _ if word.is_empty() => Err(Failure::new(Code::Usage, "`--to` names no target")
            .hint("write a path: a device, a file or an export of NBD")),
        _ => Ok((None, word)),
    }
}

/// Adds a name of the trace to its target's.
fn add(mapped: &mut Vec<Mapped>, name: &str, target: &str, end: u64) {
    let path = Path::new(target);
    let place = if target.ends_with('/') || path.is_dir() {
        let folder = target.trim_end_matches('/');
        Place::FreshFileIn(if folder.is_empty() { "/" } else { folder }.to_owned())
    } else if path.is_relative() && !Place::Path(target.to_owned()).is_export() {
        // A record says where its run was, not where it was called from.
        let whole = std::path::absolute(path).ok();
        let whole = whole.and_then(|whole| whole.to_str().map(str::to_owned));
        Place::Path(whole.unwrap_or_else(|| target.to_owned()))
    } else {
        Place::Path(target.to_owned())
    };
    let fresh = matches!(place, Place::FreshFileIn(_));
    let same = mapped
        .iter_mut()
        .find(|known| !fresh && known.place == place);
    if let Some(known) = same {
        known.names.push(name.to_owned());
        known.end = known.end.max(end);
        return;
    }
    mapped.push(Mapped {
        names: vec![name.to_owned()],
        place,
        end,
    });
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let told: Vec<String> = names
        .iter()
        .take(MOST_TOLD)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.len() - told.len() {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

fn unknown(name: &str, summary: &TraceSummary, option: &str) -> Failure {
    let known = summary.files.iter().map(String::as_str);
    let message = format!(
        "`{option} {name}…`: the trace has no `{name}`; it names {}",
        quoted(known.clone())
    );
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write a name as the trace has it".to_owned(),
    };
    Failure::new(Code::Usage, message).hint(hint)
}

/// One target for several names.
fn whose(target: &str, names: &[(&String, u64)]) -> Failure {
    let told = quoted(names.iter().map(|(name, _)| name.as_str()));
    let message =
        format!("`--to {target}` does not say what of the trace goes there: it names {told}");
    let first = names.first().map_or("NAME", |(name, _)| name.as_str());
    let hint = format!("write `--to {first}={target}`, and so for each, or `--leave-out NAME`");
    Failure::new(Code::Usage, message).hint(hint)
}

fn without_target(missing: &[&str]) -> Failure {
    let told = quoted(missing.iter().copied());
    let message = format!("nothing says where the trace's I/O on {told} goes");
    let hint = match missing {
        [_] => "name it with `--to TARGET`: a device, a file, a folder or an export of NBD; or leave it out (`--leave-out`)".to_owned(),
        several => format!("write `--to {}=TARGET`, and so for each, or `--leave-out NAME`", several[0]),
    };
    Failure::new(Code::Usage, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `to` makes of a trace of two names with I/O and one without.
    #[track_caller]
    fn check(to: &[&str], left_out: &[&str], expected: Result<&[(&str, &str)], &str>) {
        let summary = TraceSummary {
            files: ["vm/data", "vm/log", "vm/idle"].map(str::to_owned).to_vec(),
            ends: vec![4096, 8192, 0],
            ..TraceSummary::default()
        };
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let (to, left_out): (Vec<String>, Vec<String>) = (owned(to), owned(left_out));
        let found = Targets::of(&summary, &to, &left_out);
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                let found = found.0.iter();
                let found: Vec<_> = found
                    .map(|it| (it.names.join("+"), it.place.path().to_owned()))
                    .collect();
                let expected = expected.iter();
                let expected: Vec<_> = expected
                    .map(|(names, path)| ((*names).to_owned(), (*path).to_owned()))
                    .collect();
                assert_eq!(found, expected, "{to:?}");
            }
            (Err(found), Err(expected)) => {
                assert!(found.message.contains(expected), "{}", found.message);
                assert!(found.message.contains("hint: "), "{}", found.message);
            }
            (found, _) => panic!("{to:?}: {found:?}"),
        }
    }

    #[test]
    fn names_go_to_the_targets_that_are_named() {
        let (data, log) = ("vm/data=/none/a", "vm/log=/none/b");
        check(
            &[data, log],
            &[],
            Ok(&[("vm/data", "/none/a"), ("vm/log", "/none/b")]),
        );
        check(&["/none/x"], &["vm/log"], Ok(&[("vm/data", "/none/x")]));
        check(
            &["nbd+unix:///x?socket=/s"],
            &["vm/data"],
            Ok(&[("vm/log", "nbd+unix:///x?socket=/s")]),
        );
        let same = "vm/log=/none/a";
        check(&[data, same], &[], Ok(&[("vm/data+vm/log", "/none/a")]));
    }

    #[test]
    fn what_is_not_said_is_told() {
        check(&[], &[], Err("I/O on `vm/data`, `vm/log` goes"));
        check(&["vm/data=/none/a"], &[], Err("I/O on `vm/log` goes"));
        check(&["/none/a"], &[], Err("write `--to vm/data=/none/a`"));
        check(&["vm/dta=/none/a"], &[], Err("did you mean `vm/data`?"));
        check(&["vm/data="], &[], Err("names no target"));
        check(&["/none/a"], &["vm/lg"], Err("did you mean `vm/log`?"));
        check(&["/none/a"], &["vm/log", "vm/data"], Err("left out"));
        check(&[""], &[], Err("names no target"));
    }

    #[test]
    fn targets_that_are_too_small_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small");
        fs::write(&path, [0; 4096]).unwrap();
        let path = path.to_str().unwrap();
        let fits = format!("vm/data={path}");
        check(&[&fits], &["vm/log"], Ok(&[("vm/data", path)]));
        check(
            &[path],
            &["vm/data"],
            Err("has 4 KiB (4096 bytes), and the trace reaches byte 8192 of `vm/log`"),
        );
    }
}
