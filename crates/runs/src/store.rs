//! The folder that holds all run folders.

use std::io;
use std::path::{Path, PathBuf};

use fathom_record::{Record, SCHEMA, Verdict};
use jiff::Timestamp;

use crate::limits::{Writer, prune, writer_of};
use crate::recover::recover;
use crate::{Limits, RunStart, RunWriter, files};

/// A run could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No folder for user data is known.
    #[error("no folder for runs is known: neither XDG_DATA_HOME nor HOME is set")]
    NoHome,
    /// A file of the store could not be read or written, or the record at a path could not be read.
    #[error("`{path}`: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No run has that name.
    #[error("no run is called `{name}`")]
    NotFound {
        /// The id or prefix asked for.
        name: String,
    },
    /// A folder that was named is none of a run.
    #[error(
        "the folder `{folder}` holds no run: neither `{}` nor `{}` of one is in it",
        files::RECORD,
        files::EVENTS
    )]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no newest run.
    #[error("no runs are stored yet")]
    Empty,
    /// There are not so many runs before the newest.
    #[error("there is no `{name}`: {stored} {} stored", if *stored == 1 { "run is" } else { "runs are" })]
    TooFew {
        /// What was asked for.
        name: String,
        /// How many runs are stored.
        stored: usize,
    },
    /// What stands behind `last~` is no number.
    #[error("`{name}` is no run: how many runs before the last stands behind `last~`")]
    NoCount {
        /// What was asked for.
        name: String,
    },
    /// Several runs begin with that prefix.
    #[error("`{name}` may be any of {}", some_of(candidates))]
    Ambiguous {
        /// The prefix asked for.
        name: String,
        /// The ids it fits.
        candidates: Vec<String>,
    },
    /// A record is of another version.
    #[error(
        "`{path}` is not a record of this version: its schema is `{schema}`, expected `{SCHEMA}`"
    )]
    OtherSchema {
        /// The record.
        path: PathBuf,
        /// Its schema.
        schema: String,
    },
    /// A record is torn, or is none.
    #[error("`{path}` is not a record of this version: {reason}")]
    BadRecord {
        /// The record.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// A pipe holds more than a record does.
    #[error("`{path}` holds no record: it goes on past {} MiB", PIPED_MOST >> 20)]
    TooLarge {
        /// The pipe.
        path: PathBuf,
    },
    /// A variable of the environment sets no limit.
    #[error("`{name}` is `{value}`: {wanted} is wanted")]
    BadLimit {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
}

impl StoreError {
    /// What to do where the store's folder is the trouble, and not what was asked of it.
    pub fn place_hint(&self) -> Option<&'static str> {
        let is_store = match self {
            Self::NoHome => true,
            Self::Io { path, .. } => path.ancestors().any(|above| above.ends_with(PLACE)),
            _ => false,
        };
        is_store.then_some("set XDG_DATA_HOME to a folder that can be read and written")
    }

    /// What to do.
    pub fn hint(&self) -> String {
        const LIST: &str = "`fathom runs` lists the stored runs";
        if let Some(hint) = self.place_hint() {
            return hint.to_owned();
        }
        match self {
            Self::Empty => "`fathom run quick` makes one".to_owned(),
            Self::BadLimit { .. } => format!("without it, the limit is {}", Limits::default()),
            Self::NotFound { name } if Path::new(name).exists() => {
                format!("write `./{name}` for what is called so in this folder; {LIST}")
            }
            Self::NoRun { .. } => format!("name a run's folder or its `{}`; {LIST}", files::RECORD),
            Self::TooFew { stored: 1, .. } => format!("`last` is the only one; {LIST}"),
            Self::TooFew { stored, .. } => format!("`last~{}` is the oldest; {LIST}", stored - 1),
            Self::TooLarge { .. } => {
                "pipe one record into it, as `fathom report RUN --json` prints it".to_owned()
            }
            Self::NoCount { .. } => format!("`last~1` is the run before the last; {LIST}"),
            _ => LIST.to_owned(),
        }
    }
}

/// Most bytes of a record that comes through a pipe, which does not say how many it has. A second of a stage takes some 500, of
/// one with 144 jobs 12 KiB: three weeks, or a day.
const PIPED_MOST: u64 = 1 << 30;

/// Where runs are in the folder of the user's data.
const PLACE: &str = "fathom/runs";

/// The newest few of many ids.
fn some_of(ids: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = ids[ids.len().saturating_sub(SHOWN)..].join(", ");
    match ids.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} older ones"),
    }
}

/// One stored run, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// Name of its folder.
    pub id: String,
    /// Its folder.
    pub folder: PathBuf,
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

    /// What a run that is called `name` is called later too: the id for which `last` or `last~1` stands now, or `name`.
    pub fn name_of(&self, name: &str) -> Result<String, StoreError> {
        match before_last(name)? {
            Some(count) => Ok(from_last(self.runs()?, name, count)?.id),
            None => Ok(name.to_owned()),
        }
    }

    /// Every run without its state, for which its whole record would have to be read.
    fn runs(&self) -> Result<Vec<RunEntry>, StoreError> {
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
        runs.sort_by_key(|run| natural(&run.id));
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
        // Every id begins with nothing, which names none.
        let fits = |run: &&RunEntry| !name.is_empty() && run.id.starts_with(name);
        let exact = runs.iter().find(|run| run.id == name);
        let fitting: Vec<&RunEntry> = runs.iter().filter(fits).collect();
        match (exact, fitting.as_slice()) {
            (Some(run), _) => load_folder(&run.folder),
            (None, [run]) => load_folder(&run.folder),
            (None, []) => Err(StoreError::NotFound {
                name: name.to_owned(),
            }),
            (None, several) => Err(StoreError::Ambiguous {
                name: name.to_owned(),
                candidates: several.iter().map(|run| run.id.clone()).collect(),
            }),
        }
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

/// The record at `name`, where that is a path: of a run's folder or of a document, `-` for the standard input.
fn record_at(name: &str) -> Option<Result<Record, StoreError>> {
    let path = Path::new(name);
    is_path(name).then(|| {
        if path.is_dir() {
            load_folder(path)
        } else {
            read_record(path)
        }
    })
}

/// What stands for the standard input in a path's place.
const STDIN: &str = "-";

/// Whether `name` is a path and no id: ids hold no separator and are no dots.
fn is_path(name: &str) -> bool {
    let is_document = Path::new(name).extension().is_some_and(|ext| ext == "json");
    name.contains('/') || is_document || [".", "..", STDIN].contains(&name)
}

/// How many runs before the newest `name` stands for: none for `last`, 2 for `last~2`; `None` for names of other kinds.
fn before_last(name: &str) -> Result<Option<usize>, StoreError> {
    match name.strip_prefix("last") {
        Some("") => Ok(Some(0)),
        Some(count) if count.starts_with('~') => {
            let digits = &count[1..];
            let is_number =
                !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
            // What is more than can be counted is more than there is.
            let count = is_number.then(|| digits.parse().unwrap_or(usize::MAX));
            count.map(Some).ok_or_else(|| StoreError::NoCount {
                name: name.to_owned(),
            })
        }
        _ => Ok(None),
    }
}

/// The run that stands `count` before the last of `runs`, which is called `name`.
fn from_last(mut runs: Vec<RunEntry>, name: &str, count: usize) -> Result<RunEntry, StoreError> {
    let stored = runs.len();
    match stored
        .checked_sub(count)
        .and_then(|left| left.checked_sub(1))
    {
        Some(index) => Ok(runs.swap_remove(index)),
        None if stored == 0 => Err(StoreError::Empty),
        None => Err(StoreError::TooFew {
            name: name.to_owned(),
            stored,
        }),
    }
}

/// Orders `…-run-2` before `…-run-10`.
fn natural(id: &str) -> (String, u32) {
    let split = id
        .rsplit_once('-')
        .and_then(|(base, last)| Some((base, last.parse::<u32>().ok()?)));
    // A date's own digits are part of the name: only a counter after the kind counts.
    match split {
        Some((base, counter)) if base.ends_with(|c: char| c.is_ascii_alphabetic()) => {
            (base.to_owned(), counter)
        }
        _ => (id.to_owned(), 1),
    }
}

/// Only folders that hold an event log are runs; anything else in the store is left alone.
fn entry_of(folder: &Path) -> Option<RunEntry> {
    let log = std::fs::File::open(folder.join(files::EVENTS)).ok()?;
    let mut first = String::new();
    io::BufRead::read_line(&mut io::BufReader::new(log), &mut first).ok()?;
    let first: serde_json::Value = serde_json::from_str(&first).ok()?;
    let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
    Some(RunEntry {
        id: folder.file_name()?.to_str()?.to_owned(),
        folder: folder.to_owned(),
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

/// The record of the run in `folder`; where there is none, or none that can be read, what its event log holds.
fn load_folder(folder: &Path) -> Result<Record, StoreError> {
    let path = folder.join(files::RECORD);
    if !path.exists() {
        return recover(folder, None).ok_or_else(|| StoreError::NoRun {
            folder: folder.to_owned(),
        });
    }
    read_record(&path).or_else(|error| {
        let reason = match &error {
            StoreError::BadRecord { reason, .. } => reason.clone(),
            StoreError::Io { source, .. } => source.to_string(),
            // What another version means is not to be guessed.
            _ => return Err(error),
        };
        recover(folder, Some(&reason)).ok_or(error)
    })
}

fn read_record(path: &Path) -> Result<Record, StoreError> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        schema: String,
    }
    let bytes = read_document(path)?;
    let versioned = serde_json::from_slice::<Versioned>(&bytes);
    if let Some(other) = versioned.ok().filter(|it| it.schema != SCHEMA) {
        return Err(StoreError::OtherSchema {
            path: path.to_owned(),
            schema: other.schema,
        });
    }
    serde_json::from_slice(&bytes).map_err(|error| StoreError::BadRecord {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// The bytes of a JSON document. Of a file that holds something else no more is read than shows that.
fn read_document(path: &Path) -> Result<Vec<u8>, StoreError> {
    let failed = |source| StoreError::Io {
        path: path.to_owned(),
        source,
    };
    let mut most = u64::MAX;
    let mut document: Box<dyn io::BufRead> = if path == Path::new(STDIN) {
        most = PIPED_MOST;
        Box::new(io::stdin().lock())
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            most = PIPED_MOST;
        }
        Box::new(io::BufReader::new(file))
    };
    let start = document.fill_buf().map_err(failed)?;
    let reason = match start.trim_ascii_start().first() {
        Some(b'{') => None,
        _ if start.is_empty() => Some("it is empty"),
        _ => Some("it holds no JSON document"),
    };
    if let Some(reason) = reason {
        return Err(StoreError::BadRecord {
            path: path.to_owned(),
            reason: reason.to_owned(),
        });
    }
    let bytes = no_more_than(most, document).map_err(failed)?;
    bytes.ok_or_else(|| StoreError::TooLarge {
        path: path.to_owned(),
    })
}

/// All bytes of `document`; `None` where there are more than `most`.
fn no_more_than(most: u64, document: impl io::Read) -> io::Result<Option<Vec<u8>>> {
    use io::Read as _;
    let mut bytes = Vec::new();
    document
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::{Event, EventSink, IntervalStats, OpStats, Phase, RunKind, ToolRecord};
    use fathom_units::Nanos;

    fn start(environment: &serde_json::Value) -> RunStart<'_> {
        RunStart {
            kind: "run",
            what: "test",
            started_unix_ns: 1_767_323_045_000_000_000,
            workload: "# none\n",
            design: None,
            environment,
        }
    }

    fn store(limits: Limits) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("runs"), limits);
        (folder, store)
    }

    #[test]
    fn what_goes_on_without_end_is_not_read_to_its_end() {
        use io::Read as _;
        let endless = || io::repeat(b'{');
        assert_eq!(no_more_than(1 << 20, endless()).unwrap(), None);
        let whole = no_more_than(8, endless().take(8)).unwrap();
        assert_eq!(whole.as_deref(), Some(&b"{{{{{{{{"[..]));
        assert_eq!(no_more_than(8, endless().take(9)).unwrap(), None);
    }

    fn record() -> Record {
        Record {
            schema: SCHEMA.to_owned(),
            tool: ToolRecord {
                name: "fathom".into(),
                version: "0".into(),
                git: String::new(),
            },
            kind: RunKind::Run,
            title: "test".into(),
            stored: true,
            started_unix_ns: 1,
            workload: serde_json::Value::Null,
            design: serde_json::Value::Null,
            environment: serde_json::Value::Null,
            stages: vec![],
            sweep: None,
            checks: vec![],
            verdict: Verdict::Trustworthy,
            notes: vec![],
            interrupted: false,
        }
    }

    #[test]
    fn a_run_is_stored_and_found() {
        let (_keep, store) = store(Limits::default());
        let environment = serde_json::json!({});
        for _ in 0..2 {
            let writer = store.begin(&start(&environment)).unwrap();
            assert_eq!(writer.finish(&record()), None);
        }
        let ids: Vec<_> = store
            .list()
            .unwrap()
            .into_iter()
            .map(|run| run.id)
            .collect();
        assert_eq!(ids, ["20260102-030405-run", "20260102-030405-run-2"]);
        assert_eq!(store.load("last").unwrap(), record());
        assert_eq!(store.name_of("last").unwrap(), ids[1]);
        assert_eq!(store.name_of("last~1").unwrap(), ids[0]);
        assert_eq!(store.name_of("2026").unwrap(), "2026");
        assert_eq!(store.load("20260102-030405-run").unwrap(), record());
        assert!(matches!(
            store.load("2026"),
            Err(StoreError::Ambiguous { .. })
        ));
        assert!(matches!(
            store.load("nothing"),
            Err(StoreError::NotFound { .. })
        ));
    }

    #[test]
    fn a_run_cut_short_is_known_up_to_its_last_second() {
        let (_keep, store) = store(Limits::default());
        let environment = serde_json::json!({});
        let mut writer = store.begin(&start(&environment)).unwrap();
        writer.event(&Event::StageStarted {
            index: 0,
            count: 1,
            name: "reads",
            expected: None,
        });
        let mut reads = OpStats::new(false, false);
        reads.latency.record(1000);
        reads.bytes = 4096;
        let second = Nanos::from_secs(1);
        let interval = IntervalStats {
            at: second,
            length: second,
            directions: [Some(reads), None, None],
            set: fathom_record::SetStats::default(),
        };
        writer.event(&Event::Interval {
            index: 0,
            phase: Phase::Measure,
            interval: &interval,
        });
        let folder = writer.folder().to_owned();
        drop(writer);
        // Torn last lines, as a kill in mid-write leaves them: one in the middle of a character.
        let tear = |file: &str, tail: &[u8]| {
            let mut bytes = std::fs::read(folder.join(file)).unwrap();
            bytes.extend_from_slice(tail);
            std::fs::write(folder.join(file), bytes).unwrap();
        };
        tear(files::EVENTS, b"{\"event\":\"note\",\"text\":\"50 \xc2");
        tear(files::HISTOGRAMS, b"Tag=read,1.000,1.000,0.001,HISTF");
        let record = store.load("last").unwrap();
        assert!(record.interrupted);
        assert_eq!(record.stages[0].intervals[0].read.unwrap().ios, 1);
        let total = &record.stages[0].total;
        let read = total.read.as_ref().unwrap();
        assert_eq!(
            (read.ios, read.bytes, total.all.as_ref().unwrap().ios),
            (1, 4096, 1)
        );
        assert!(read.latency_ns.p50.abs_diff(1000) <= 4 && total.write.is_none());
        assert_eq!(read.latency_ns.max, 1000);
        assert_eq!(store.list().unwrap()[0].state, RunState::CutShort);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_made_from_the_events() {
        let (_keep, store) = store(Limits::default());
        let environment = serde_json::json!({});
        let mut start = start(&environment);
        start.workload = "[[stage]]\nname = \"mix\"\nrepeats = 2\nmeasure = \"1s\"\n\
            [[stage.job]]\ntarget = { path = \"f\", size = \"1MiB\" }\nblock = \"4KiB\"\n";
        let writer = store.begin(&start).unwrap();
        let path = writer.folder().join(files::RECORD);
        assert_eq!(writer.finish(&record()), None);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(store.list().unwrap()[0].state, RunState::Unreadable);
        let from_events = store.load("last").unwrap();
        assert!(!from_events.interrupted);
        assert_eq!(from_events.started_unix_ns, 1_767_323_045_000_000_000);
        assert!(
            from_events.notes[0].contains("`record.json` cannot be read"),
            "{:?}",
            from_events.notes
        );
        assert_eq!(from_events.workload["stage"][0]["repeats"], 2);
        // The file itself was asked for.
        assert!(matches!(
            store.load(path.to_str().unwrap()),
            Err(StoreError::BadRecord { .. })
        ));
        let later = String::from_utf8(whole).unwrap();
        let later = later.replace(SCHEMA, "fathom.record/9");
        std::fs::write(&path, later).unwrap();
        assert_eq!(store.list().unwrap()[0].state, RunState::Unreadable);
        let error = store.load("last").unwrap_err().to_string();
        assert!(error.contains("fathom.record/9"), "{error}");
    }

    #[test]
    fn an_empty_store_has_no_newest_run() {
        let (_keep, store) = store(Limits::default());
        let error = store.load("last").unwrap_err();
        assert_eq!(error.to_string(), "no runs are stored yet");
    }

    /// A clock that was set back gives a run an older name than that of the run before it.
    #[test]
    fn a_run_knows_whether_it_is_the_last() {
        let (_keep, store) = store(Limits::default());
        let environment = serde_json::json!({});
        let first = store.begin(&start(&environment)).unwrap();
        assert_eq!(first.name(), "last");
        let earlier = RunStart {
            started_unix_ns: start(&environment).started_unix_ns - 3_600_000_000_000,
            ..start(&environment)
        };
        let second = store.begin(&earlier).unwrap();
        let name = second.name();
        assert_eq!(second.finish(&record()), None);
        assert_eq!(store.load(&name).unwrap().title, "test");
        assert!(name.starts_with("2026"), "{name}");
        assert_eq!(first.name(), "last");
        let third = store.begin(&start(&environment)).unwrap();
        assert_eq!(
            (third.name().as_str(), first.name().ends_with("-run")),
            ("last", true)
        );
    }

    #[test]
    fn runs_are_counted_from_the_last() {
        let (_keep, store) = store(Limits::default());
        let environment = serde_json::json!({});
        for title in ["first", "second", "third"] {
            let writer = store.begin(&start(&environment)).unwrap();
            let titled = Record {
                title: title.to_owned(),
                ..record()
            };
            assert_eq!(writer.finish(&titled), None);
        }
        for (name, expected) in [
            ("last", Ok("third")),
            ("last~0", Ok("third")),
            ("last~1", Ok("second")),
            ("last~2", Ok("first")),
            ("last~3", Err("there is no `last~3`: 3 runs are stored")),
            (
                "last~99999999999999999999999",
                Err("there is no `last~99999999999999999999999`: 3 runs are stored"),
            ),
            (
                "last~x",
                Err("`last~x` is no run: how many runs before the last stands behind `last~`"),
            ),
            (
                "last~",
                Err("`last~` is no run: how many runs before the last stands behind `last~`"),
            ),
            (
                "last~-1",
                Err("`last~-1` is no run: how many runs before the last stands behind `last~`"),
            ),
            ("last1", Err("no run is called `last1`")),
        ] {
            let loaded = store.load(name).map(|record| record.title);
            let loaded = loaded.map_err(|error| error.to_string());
            assert_eq!(
                loaded.as_deref().map_err(String::as_str),
                expected,
                "{name}"
            );
        }
    }

    #[test]
    fn a_folder_is_named_by_its_path() {
        assert!(
            [".", "..", "./x", "/x", "record.json"]
                .into_iter()
                .all(is_path)
        );
        assert!(!["last", "2026", ".x"].into_iter().any(is_path));
        let (_keep, store) = store(Limits::default());
        let environment = serde_json::json!({});
        let writer = store.begin(&start(&environment)).unwrap();
        let folder = writer.folder().to_owned();
        assert_eq!(writer.finish(&record()), None);
        assert_eq!(store.load(folder.to_str().unwrap()).unwrap(), record());
        let none = store.folder.to_str().unwrap();
        let error = store.load(none).unwrap_err().to_string();
        assert!(error.contains(&format!("`{none}` holds no run")), "{error}");
        let nothing = store.load("").unwrap_err().to_string();
        assert_eq!(nothing, "no run is called ``");
    }

    #[test]
    fn the_oldest_runs_go_first_and_strangers_stay() {
        let (_keep, store) = store(Limits {
            runs: 2,
            bytes: u64::MAX,
        });
        let environment = serde_json::json!({});
        std::fs::create_dir_all(store.folder.join("mine")).unwrap();
        for _ in 0..4 {
            let mut writer = store.begin(&start(&environment)).unwrap();
            writer.take_note();
            assert_eq!(writer.finish(&record()), None);
        }
        assert_eq!(store.list().unwrap().len(), 2);
        assert!(store.folder.join("mine").exists());
    }

    #[test]
    fn what_goes_is_told_and_a_run_under_way_stays() {
        let (_keep, store) = store(Limits {
            runs: 1,
            bytes: u64::MAX,
        });
        let environment = serde_json::json!({});
        let mut served = store.begin(&start(&environment)).unwrap();
        assert_eq!(served.take_note(), None);
        assert_eq!(store.list().unwrap()[0].state, RunState::UnderWay);
        // The older run is under way, so that nothing goes for the next, which goes for the one after it.
        let mut second = store.begin(&start(&environment)).unwrap();
        assert_eq!(second.take_note(), None);
        assert_eq!(second.finish(&record()), None);
        let mut third = store.begin(&start(&environment)).unwrap();
        let note = third.take_note().unwrap();
        assert!(note.contains("`20260102-030405-run-2`"), "{note}");
        assert!(note.contains(Limits::KEEP), "{note}");
        assert!(!note.contains('\n'), "{note}");
        let ids: Vec<_> = store.list().unwrap().into_iter().collect();
        assert_eq!(ids.len(), 2, "{ids:?}");
        // What nobody asked for is told at the end.
        drop(third);
        let fourth = store.begin(&start(&environment)).unwrap();
        let told = fourth.finish(&record()).unwrap();
        assert!(told.contains("removed"), "{told}");
        assert_eq!(served.finish(&record()), None);
        let first = store.load("20260102-030405-run").unwrap();
        assert_eq!(first, record());
    }
}
