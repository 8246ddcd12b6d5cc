//! The folder that holds all run folders.

mod digest;
mod document;
mod error;
mod name;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use fathom_record::{Record, SCHEMA, Verdict};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::limits::{Writer, prune, writer_of};
use crate::{Limits, RunStart, RunWriter, files};
pub use digest::{Digest, StageDigest, Stamp};
use document::{load_folder, record_at};
pub use error::StoreError;
use name::{before_last, from_last, natural};

/// Where runs are in the folder of the user's data.
const PLACE: &str = "fathom/runs";

/// The schema of lists of runs that are documents.
pub const LIST_SCHEMA: &str = "fathom.runs/1";

/// One stored run, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// Name of its folder.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// When it began, since 1970.
    pub started_unix_ns: u64,
    /// `run`, `predict` or `serve`.
    pub kind: String,
    /// Short name of what was run.
    pub what: String,
    /// How it ended.
    pub state: RunState,
}

/// How a stored run ended, as far as its folder tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// With a record.
    Ended(Verdict),
    /// It has not ended yet.
    UnderWay,
    /// It never reached its end.
    CutShort,
    /// There is a record, which cannot be read.
    Unreadable,
}

impl RunState {
    /// In one or two words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ended(Verdict::Trustworthy) => "trustworthy",
            Self::Ended(Verdict::Questionable) => "questionable",
            Self::Ended(Verdict::Empty) => "empty",
            Self::UnderWay => "under way",
            Self::CutShort => "cut short",
            Self::Unreadable => "unreadable",
        }
    }
}

impl RunEntry {
    /// Its record; where there is none, or none that can be read, what its event log holds.
    pub fn record(&self) -> Result<Record, StoreError> {
        load_folder(&self.folder)
    }

    /// Whether it has not ended yet.
    pub fn is_under_way(&self) -> bool {
        !self.folder.join(files::RECORD).exists() && writer_of(&self.folder) == Writer::AtWork
    }
}

/// All stored runs.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    limits: Limits,
}

impl Store {
    /// A store in `folder`, which need not exist yet.
    pub fn new(folder: PathBuf, limits: Limits) -> Self {
        Self { folder, limits }
    }

    /// The user's store: `$XDG_DATA_HOME/fathom/runs`, or `~/.local/share/fathom/runs`, with the limits that are set.
    pub fn of_user(environment: impl Fn(&str) -> Option<String>) -> Result<Self, StoreError> {
        let set = |name: &str| environment(name).filter(|value| Path::new(value).is_absolute());
        let base = set("XDG_DATA_HOME").map(PathBuf::from);
        let base = base.or_else(|| set("HOME").map(|home| Path::new(&home).join(".local/share")));
        let folder = base.ok_or(StoreError::NoHome)?.join(PLACE);
        Ok(Self::new(folder, Limits::of_environment(&environment)?))
    }

    /// A new run folder, after the oldest runs over the limits are removed; the writer has a note of those.
    pub fn begin(&self, start: &RunStart<'_>) -> Result<RunWriter, StoreError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Io { path, source }
        };
        std::fs::create_dir_all(&self.folder).map_err(io(&self.folder))?;
        let removed = prune(&self.runs()?, self.limits);
        let stamp =
            Timestamp::from_nanosecond(i128::from(start.started_unix_ns)).unwrap_or_default();
        let base = format!("{}-{}", stamp.strftime("%Y%m%d-%H%M%S"), start.kind);
        for attempt in 1..1000 {
            let id = if attempt == 1 {
                base.clone()
            } else {
                format!("{base}-{attempt}")
            };
            let folder = self.folder.join(id);
            match std::fs::create_dir(&folder) {
                Ok(()) => {
                    let writer = RunWriter::create(folder.clone(), start, removed);
                    return writer.map_err(|error| {
                        // Nothing of the run is in it yet.
                        let _ = std::fs::remove_dir_all(&folder);
                        io(&folder)(error)
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(io(&folder)(error)),
            }
        }
        Err(io(&self.folder)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Every run, the oldest first.
    pub fn list(&self) -> Result<Vec<RunEntry>, StoreError> {
        let mut runs = self.runs()?;
        for run in &mut runs {
            run.state = state_of(&run.folder);
        }
        Ok(runs)
    }

    /// The list as a document (schema [`LIST_SCHEMA`]): `runs` as of [`Self::list`], with the words of their states.
    pub fn list_json(&self, runs: &[RunEntry]) -> Value {
        let entries = runs.iter().map(|run| run.listed(run.state));
        json!({
            "schema": LIST_SCHEMA,
            "folder": self.folder.display().to_string(),
            "count": runs.len(),
            "runs": entries.collect::<Vec<_>>(),
        })
    }

    /// What a run that is called `name` is called later too: its id in full, or `name` where no one run is called so.
    pub fn name_of(&self, name: &str) -> Result<String, StoreError> {
        if let Some(count) = before_last(name)? {
            return Ok(from_last(self.runs()?, name, count)?.id);
        }
        let runs = self.runs()?;
        let found = one_called(&runs, name).map(|run| run.id.clone());
        Ok(found.unwrap_or_else(|_| name.to_owned()))
    }

    /// The folder that holds them, which need not exist yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The run of that id in full, without its state.
    pub fn run(&self, id: &str) -> Option<RunEntry> {
        // Nothing else than a folder of the store is looked into.
        let is_name = !id.is_empty() && !id.contains(['/', '\0']) && ![".", ".."].contains(&id);
        entry_of(&self.folder.join(is_name.then_some(id)?))
    }

    /// Every run without its state, for which its whole record would have to be read; the oldest first.
    pub fn runs(&self) -> Result<Vec<RunEntry>, StoreError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                return Err(StoreError::Io {
                    path: self.folder.clone(),
                    source,
                });
            }
        };
        let folders = entries.filter_map(Result::ok).map(|entry| entry.path());
        let mut runs: Vec<RunEntry> = folders.filter_map(|folder| entry_of(&folder)).collect();
        // A name tells the second alone, and that of a run which was removed may be another's within it.
        runs.sort_by_cached_key(|run| (run.started_unix_ns, natural(&run.id)));
        Ok(runs)
    }

    /// The record of a run: an id, a unique beginning of one, a path (folder or `record.json`; `-`: the standard input), `last`, or `last~1` and so on
    /// for the runs before that.
    pub fn load(&self, name: &str) -> Result<Record, StoreError> {
        if let Some(record) = record_at(name) {
            return record;
        }
        let runs = self.runs()?;
        if let Some(count) = before_last(name)? {
            return load_folder(&from_last(runs, name, count)?.folder);
        }
        load_folder(&one_called(&runs, name)?.folder)
    }
}

/// The record that `name` stands for, as of [`Store::load`] of the user's store, and what it is called later too. One at a
/// path needs no store, and there may be none.
///
/// # Errors
/// There is no such record, or no store.
pub fn find(
    name: &str,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<(String, Record), StoreError> {
    if let Some(record) = record_at(name) {
        return Ok((name.to_owned(), record?));
    }
    let store = Store::of_user(environment)?;
    let name = store.name_of(name)?;
    let record = store.load(&name)?;
    Ok((name, record))
}

/// The run of that id, or the only one whose id begins so.
fn one_called<'r>(runs: &'r [RunEntry], name: &str) -> Result<&'r RunEntry, StoreError> {
    // Every id begins with nothing, which names none.
    let fits = |run: &&RunEntry| !name.is_empty() && run.id.starts_with(name);
    let exact = runs.iter().find(|run| run.id == name);
    let fitting: Vec<&RunEntry> = runs.iter().filter(fits).collect();
    match (exact, fitting.as_slice()) {
        (Some(run), _) => Ok(run),
        (None, [run]) => Ok(*run),
        (None, []) => Err(StoreError::NotFound {
            name: name.to_owned(),
        }),
        (None, several) => Err(StoreError::Ambiguous {
            name: name.to_owned(),
            candidates: several.iter().map(|run| run.id.clone()).collect(),
        }),
    }
}

/// Only folders that hold an event log are runs; anything else in the store is left alone.
fn entry_of(folder: &Path) -> Option<RunEntry> {
    let log = std::fs::File::open(folder.join(files::EVENTS)).ok()?;
    let mut first = String::new();
    io::BufRead::read_line(&mut io::BufReader::new(log), &mut first).ok()?;
    let first: Value = serde_json::from_str(&first).ok()?;
    let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
    Some(RunEntry {
        id: folder.file_name()?.to_str()?.to_owned(),
        folder: folder.to_owned(),
        started_unix_ns: first["started_unix_ns"].as_u64().unwrap_or_default(),
        kind: text("kind"),
        what: text("what"),
        state: RunState::CutShort,
    })
}

fn state_of(folder: &Path) -> RunState {
    #[derive(serde::Deserialize)]
    struct Judged {
        schema: String,
        verdict: Verdict,
    }
    let record = match std::fs::read(folder.join(files::RECORD)) {
        Ok(record) => record,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match writer_of(folder) {
                Writer::AtWork => RunState::UnderWay,
                Writer::Gone | Writer::Unknown => RunState::CutShort,
            };
        }
        Err(_) => return RunState::Unreadable,
    };
    match serde_json::from_slice::<Judged>(&record) {
        Ok(judged) if judged.schema == SCHEMA => RunState::Ended(judged.verdict),
        _ => RunState::Unreadable,
    }
}
