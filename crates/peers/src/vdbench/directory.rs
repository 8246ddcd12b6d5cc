//! The output directory: where it is, and what of an earlier output in it gives way.
//!
//! Invariant: nothing is removed or written over but files of an earlier output, which their first line tells.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use fathom_dialects::vdbench::output::Pages;
use fathom_rawio::{Begin, open_results};
use fathom_session::{Code, Console, Failure, refuse_device};
use jiff::Zoned;

/// What the first line of a file of an output begins with.
const TITLE: &[u8] = b"<title>Vdbench ";
/// Files of ours beside those of Vdbench.
pub const OURS: [&str; 2] = ["percentiles.csv", "fathom.json"];
/// Highest number that `dir+` tries.
const NUMBERS: u32 = 999;

/// The directory that `-o` names: as it stands, the next free number for `dir+`, the time for `dir.tod`.
///
/// # Errors
/// Where all numbers are taken.
pub fn named(output: &str, now: &Zoned) -> Result<PathBuf, Failure> {
    if let Some(stem) = output.strip_suffix('+') {
        let numbered = (1..=NUMBERS).map(|number| PathBuf::from(format!("{stem}{number:03}")));
        let mut free = numbered.filter(|path| path.symlink_metadata().is_err());
        return free.next().ok_or_else(|| {
            let message = format!("`{stem}001` to `{stem}{NUMBERS}` are all there");
            Failure::new(Code::Input, message).hint("remove old ones, or give another name to `-o`")
        });
    }
    if let Some(stem) = output.strip_suffix(".tod") {
        let time = now.strftime("%y%m%d.%H%M%S");
        return Ok(PathBuf::from(format!("{stem}.{time}")));
    }
    Ok(PathBuf::from(output))
}

/// Makes the directory, one level, or clears an earlier output out of it.
///
/// # Errors
/// Where it is a block device, and where it cannot be made or cleared.
pub fn prepare(path: &Path) -> Result<(), Failure> {
    refuse_device(path)?;
    let cannot = |what: &str, error: std::io::Error| {
        let message = format!("{what} the output directory `{}`: {error}", path.display());
        Failure::new(Code::Input, message).hint("give another directory to `-o`")
    };
    match std::fs::create_dir(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot("making", error)),
    }
    let entries = std::fs::read_dir(path).map_err(|error| cannot("reading", error))?;
    let holds_output = is_of_output(&path.join("summary.html"));
    for entry in entries {
        let entry = entry.map_err(|error| cannot("reading", error))?.path();
        let name = entry.file_name().and_then(|name| name.to_str());
        let is_extra = name.is_some_and(|name| OURS.contains(&name)) && holds_output;
        let is_regular = || {
            entry
                .symlink_metadata()
                .is_ok_and(|metadata| metadata.is_file())
        };
        let is_page = || {
            entry
                .extension()
                .is_some_and(|extension| extension == "html")
                && is_of_output(&entry)
        };
        if is_regular() && (is_extra || is_page()) {
            std::fs::remove_file(&entry).map_err(|error| cannot("clearing", error))?;
        }
    }
    Ok(())
}

/// Whether a file is one of an output, as its first bytes tell.
fn is_of_output(path: &Path) -> bool {
    let mut start = [0; TITLE.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == TITLE
}

/// The files of an output. Text is kept until [`Files::flush`], so that an interval costs each file one write.
pub struct Files<'a> {
    directory: Option<PathBuf>,
    pending: BTreeMap<String, String>,
    begun: std::collections::BTreeSet<String>,
    console: &'a dyn Console,
    /// Why something is missing on disk.
    problem: Option<String>,
}

impl<'a> Files<'a> {
    /// In a directory that was prepared; without one, text is shown and nothing is written.
    pub fn new(directory: Option<PathBuf>, console: &'a dyn Console) -> Self {
        Self {
            directory,
            pending: BTreeMap::new(),
            begun: std::collections::BTreeSet::new(),
            console,
            problem: None,
        }
    }

    /// Writes what is kept. A file that cannot be written is told once, and ends nothing.
    pub fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let Some(directory) = &self.directory else {
            return;
        };
        for (page, text) in pending {
            if text.is_empty() {
                continue;
            }
            let path = directory.join(&page);
            let is_new = self.begun.insert(page);
            // What is there already is somebody else's: earlier outputs are gone.
            let opened = if is_new {
                File::create_new(&path)
            } else {
                open_results(&path, Begin::AtEndOfExisting)
            };
            let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
            if let (Err(error), None) = (written, &self.problem) {
                let hint = match error.kind() {
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                        "free space, or give a directory elsewhere to `-o`"
                    }
                    _ => {
                        "give another directory to `-o`; what is no output of Vdbench is never written over"
                    }
                };
                let path = path.display();
                self.problem = Some(format!(
                    "`{path}` cannot be written: {error}\n  hint: {hint}"
                ));
            }
        }
    }

    /// Writes a file as a whole.
    pub fn whole(&mut self, page: &str, text: String) {
        self.pending.insert(page.to_owned(), text);
    }

    /// The first thing that could not be written.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}

impl Pages for Files<'_> {
    fn append(&mut self, page: &str, text: &str) {
        // A name may hold a separator; a file never leaves its directory.
        let page = page.replace(['/', '\\'], "_");
        self.pending.entry(page).or_default().push_str(text);
    }

    fn show(&mut self, text: &str) {
        self.console.print(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silent::Silent;

    #[test]
    fn directories_are_numbered_or_dated_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().display().to_string();
        let now: Zoned = "2026-11-22T03:04:05[UTC]".parse().unwrap();
        let check = |output: &str, expected: &str| {
            let found = named(&format!("{base}/{output}"), &now).unwrap();
            assert_eq!(found, folder.path().join(expected), "{output}");
        };
        check("out", "out");
        check("out.tod", "out.261122.030405");
        check("out+", "out001");
        std::fs::create_dir(folder.path().join("out001")).unwrap();
        check("out+", "out002");
    }

    #[test]
    fn only_an_earlier_output_gives_way() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        prepare(&out).unwrap();
        let mine = "<title>Vdbench out/x.html</title><pre>\n";
        for (name, text) in [
            ("summary.html", mine),
            ("sd1.html", mine),
            ("percentiles.csv", "run\n"),
            ("page.html", "<title>My page</title>"),
            ("notes.txt", mine),
        ] {
            std::fs::write(out.join(name), text).unwrap();
        }
        prepare(&out).unwrap();
        let mut left: Vec<_> = std::fs::read_dir(&out)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["notes.txt", "page.html"]);
        // A file that is no output is not written over, and that is told.
        let mut files = Files::new(Some(out.clone()), &Silent);
        files.append("page.html", "x");
        files.append("sd1.html", "y");
        files.flush();
        files.append("sd1.html", "z");
        files.flush();
        assert!(files.problem().unwrap().contains("page.html"));
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        assert_eq!(read("page.html"), "<title>My page</title>");
        assert_eq!(read("sd1.html"), "yz");
        assert!(prepare(&folder.path().join("no/such")).is_err());
    }
}
