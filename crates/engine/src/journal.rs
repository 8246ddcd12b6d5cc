//! The journals of storage whose blocks are checked, as files ([`fathom_verify::recover`] has their format).
//!
//! A change is one write to the file, so that it outlives the program; before a write of the workload is submitted, its record is
//! flushed, so that it outlives the machine, too. That a write has ended is flushed with what comes next: until then its blocks
//! may hold either, which is less than is known, and true.
//!
//! A journal is made anew, with the keys of all blocks and without the changes that led to them, where it begins, where it has
//! grown too long and where it ends. The new one takes the old one's place in one step.
//!
//! Invariant: whatever moment the end comes at, there is one whole journal under its name.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fathom_diagnostics::Diagnostic;
use fathom_units::Bytes;
use fathom_verify::{
    BlockRange, Change, JournalHead, JournalProblem, JournalWriter, KeyMap, Recovered, recover,
};
use fathom_workload::Journal as Asked;

use crate::EngineError;

/// Changes that a journal holds before it is made anew, in bytes beside what it began with.
const CHANGES_MAX: u64 = 64 << 20;

/// A journal that is written.
#[derive(Debug)]
pub(crate) struct Journal {
    path: String,
    head: JournalHead,
    flushes: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Arc<File>,
    writer: JournalWriter,
    /// Blocks whose writes have begun, with the keys from before.
    open: HashMap<u64, u8>,
    /// Bytes of changes, and how many are too many.
    changes: u64,
    changes_max: u64,
}

impl Journal {
    /// Begins a journal of what is known in `map`, in the place of one that was there.
    pub(crate) fn begin(
        asked: &Asked,
        head: JournalHead,
        map: &KeyMap,
    ) -> Result<Self, EngineError> {
        let state = make(&asked.path, head, map, HashMap::new());
        let state = state.map_err(|error| failed(&asked.path, error))?;
        Ok(Self {
            path: asked.path.clone(),
            head,
            flushes: asked.flushes,
            state: Mutex::new(state),
        })
    }

    /// Reserved blocks are about to be written. On an error they must not be.
    pub(crate) fn begins(&self, map: &KeyMap, blocks: BlockRange) -> Result<(), EngineError> {
        let told = self.tell_begin(map, blocks);
        told.map_err(|error| failed(&self.path, error))
    }

    fn tell_begin(&self, map: &KeyMap, blocks: BlockRange) -> io::Result<()> {
        let mut state = self.state();
        if state.changes > state.changes_max {
            let open = std::mem::take(&mut state.open);
            *state = make(&self.path, self.head, map, open)?;
        }
        for number in blocks.numbers() {
            state.open.insert(number, map.key(number));
        }
        state.append(Change::Begins(blocks))?;
        let file = Arc::clone(&state.file);
        drop(state);
        if self.flushes {
            file.sync_data()?;
        }
        Ok(())
    }

    /// Their write has succeeded. Of one that failed nothing is told: it may have changed them, or a part of them.
    pub(crate) fn ended(&self, blocks: BlockRange) -> Result<(), EngineError> {
        let mut state = self.state();
        for number in blocks.numbers() {
            state.open.remove(&number);
        }
        let told = state.append(Change::Ended(blocks));
        told.map_err(|error| failed(&self.path, error))
    }

    /// Their write was never submitted: they hold what they held.
    pub(crate) fn withdrawn(&self, blocks: BlockRange) {
        let mut state = self.state();
        for number in blocks.numbers() {
            state.open.remove(&number);
        }
    }

    /// A block whose write was not known to have ended holds the data of this key; 0: sectors of both.
    pub(crate) fn found(&self, number: u64, key: u8) -> Result<(), EngineError> {
        let told = self.state().append(Change::Found(number, key));
        told.map_err(|error| failed(&self.path, error))
    }

    /// Makes the journal anew, with all that is known, and flushes it.
    pub(crate) fn close(&self, map: &KeyMap) -> Result<(), EngineError> {
        let mut state = self.state();
        let open = std::mem::take(&mut state.open);
        let made = make(&self.path, self.head, map, open);
        *state = made.map_err(|error| failed(&self.path, error))?;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn append(&mut self, change: Change) -> io::Result<()> {
        let bytes = self.writer.change(change);
        self.changes += bytes.len() as u64;
        (&*self.file).write_all(bytes)
    }
}

/// Writes a whole journal beside the one of this name, and puts it in its place.
fn make(path: &str, head: JournalHead, map: &KeyMap, open: HashMap<u64, u8>) -> io::Result<State> {
    let new = PathBuf::from(format!("{path}.new"));
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true).mode(0o600);
    let mut file = BufWriter::new(options.open(&new)?);
    let writer = JournalWriter::begin(head, map, &open, &mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    let folder = Path::new(path)
        .parent()
        .filter(|folder| *folder != Path::new(""));
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    let length = file.metadata()?.len();
    Ok(State {
        file: Arc::new(file),
        writer,
        open,
        changes: 0,
        changes_max: CHANGES_MAX + length,
    })
}

/// Puts into `map` what the journal tells; a line about that.
pub(crate) fn go_on(asked: &Asked, head: JournalHead, map: &KeyMap) -> Result<String, EngineError> {
    let path = &asked.path;
    let recovered = File::open(path).map_err(JournalProblem::from);
    let recovered = recovered.and_then(|file| recover(&mut BufReader::new(file), head, map));
    let Recovered {
        known,
        pending,
        bad,
        torn,
    } = recovered
        .map_err(|problem| EngineError::target(path, "reading it", io::Error::other(problem)))?;
    let mut line = vec![format!("journal `{path}`: {} known", counted_blocks(known))];
    if pending > 0 {
        let blocks = counted_blocks(pending);
        line.push(format!(
            "the last write of {blocks} is not known to have ended"
        ));
    }
    if pending > 0 && asked.ignores_pending {
        line.push("of which nothing is said".to_owned());
        for number in map.pending() {
            map.settle(number, 0);
        }
    }
    if bad > 0 {
        line.push(format!("{} were found wrong before", counted_blocks(bad)));
    }
    if torn > 0 {
        let torn = Bytes::new(torn);
        line.push(format!("{torn} at its end are no whole record"));
    }
    Ok(line.join(", "))
}

/// The head of the journal that is there; none where it cannot be gone on with.
pub(crate) fn head(asked: &Asked) -> Option<JournalHead> {
    let file = File::open(&asked.path).ok()?;
    JournalHead::read(&mut BufReader::new(file)).ok()
}

/// What speaks against this journal, before anything is written.
pub(crate) fn problem(asked: &Asked, head: JournalHead) -> Option<Diagnostic> {
    let path = &asked.path;
    let found = File::open(path);
    let missing = matches!(&found, Err(error) if error.kind() == io::ErrorKind::NotFound);
    if !asked.recovers {
        return not_replaced(path, missing, found);
    }
    if missing {
        let message = format!("there is no journal `{path}` to go on with");
        let hint = "begin one (`-j`, `journal=yes`) before the run that is to be recovered, and start this one in the same folder";
        return Some(Diagnostic::error(message).hint(hint));
    }
    let read = found.map_err(JournalProblem::from);
    let read = read.and_then(|file| JournalHead::read(&mut BufReader::new(file)));
    match read {
        Ok(found) if found.fits(head) => None,
        Ok(found) => {
            let message = format!(
                "the journal `{path}` is of {}, and this run has {}",
                found.describe(),
                head.describe()
            );
            let hint = "give storage, sizes and transfers as in the run that wrote it; `-jro` alone needs no other workload";
            Some(Diagnostic::error(message).hint(hint))
        }
        Err(problem) => {
            let message = format!("the journal `{path}` cannot be gone on with: {problem}");
            Some(
                Diagnostic::error(message)
                    .hint("name the journal of the run that is to be recovered"),
            )
        }
    }
}

/// Why a file is not to be replaced by a journal.
fn not_replaced(path: &str, missing: bool, found: io::Result<File>) -> Option<Diagnostic> {
    if missing {
        return None;
    }
    let length = |file: &File| file.metadata().map(|facts| facts.len());
    let problem = match found {
        Ok(file) if length(&file).is_ok_and(|length| length == 0) => return None,
        Ok(file) => JournalHead::read(&mut BufReader::new(file)).err()?,
        Err(error) => JournalProblem::Io(error),
    };
    let message = format!("`{path}` is not replaced by a journal: {problem}");
    Some(
        Diagnostic::error(message)
            .hint("remove it, or name another folder with `journal=` of the SD"),
    )
}

fn failed(path: &str, error: io::Error) -> EngineError {
    EngineError::target(path, "writing its journal", error)
}

fn counted_blocks(blocks: u64) -> String {
    fathom_units::counted(blocks, ("key block", "key blocks"))
}

#[cfg(test)]
mod tests {
    use fathom_verify::Stamp;

    use super::*;

    const BLOCK: u32 = 4096;
    const LENGTH: u64 = 1 << 20;

    fn asked(folder: &Path) -> Asked {
        Asked {
            path: folder.join("sd1.jnl").display().to_string(),
            recovers: false,
            flushes: true,
            ignores_pending: false,
        }
    }

    fn head() -> JournalHead {
        JournalHead::new(LENGTH, BLOCK, &Stamp::new("sd1", BLOCK))
    }

    #[test]
    fn one_that_has_grown_is_made_anew_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let asked = asked(folder.path());
        let map = KeyMap::new(LENGTH, BLOCK);
        let journal = Journal::begin(&asked, head(), &map).unwrap();
        let ranges = [0, 1, 2, 3].map(|number| map.range(number * 4096, BLOCK).unwrap());
        for range in ranges {
            map.reserve(range);
            journal.begins(&map, range).unwrap();
        }
        map.written(ranges[0]);
        journal.ended(ranges[0]).unwrap();
        // Written, and not told yet; never submitted; under way.
        map.written(ranges[1]);
        journal.withdrawn(ranges[2]);
        let length = || fs::metadata(&asked.path).unwrap().len();
        let grown = length();
        journal.state().changes_max = 0;
        let other = map.range(10 * 4096, BLOCK).unwrap();
        map.reserve(other);
        journal.begins(&map, other).unwrap();
        // 256 keys, what is under way, and what begins.
        assert_eq!(grown, 48 + 24 + 5 * 24);
        assert_eq!(length(), 48 + (24 + 256) + (2 + 1 + 1) * 24);
        journal.ended(ranges[1]).unwrap();
        let again = KeyMap::new(LENGTH, BLOCK);
        let line = go_on(&asked, head(), &again).unwrap();
        assert_eq!(
            [0, 1, 2, 3, 10].map(|number| again.key(number)),
            [1, 1, 0, 0, 0]
        );
        assert_eq!(again.pending(), [3, 10], "{line}");
        assert!(
            line.ends_with(
                "2 key blocks known, the last write of 2 key blocks is not known to have ended"
            ),
            "{line}"
        );
        let ignoring = Asked {
            ignores_pending: true,
            ..asked.clone()
        };
        let again = KeyMap::new(LENGTH, BLOCK);
        let line = go_on(&ignoring, head(), &again).unwrap();
        assert!(
            again.pending().is_empty() && line.ends_with("of which nothing is said"),
            "{line}"
        );
        // What has failed may hold either, whatever this run made of it.
        map.mark_bad(3);
        journal.close(&map).unwrap();
        let again = KeyMap::new(LENGTH, BLOCK);
        go_on(&asked, head(), &again).unwrap();
        assert_eq!(again.pending(), [3, 10]);
        assert_eq!([1, 3].map(|number| again.key(number)), [1, 0]);
    }

    #[test]
    fn a_journal_that_cannot_be_written_stops_what_it_should_tell() {
        let folder = tempfile::tempdir().unwrap();
        let asked = asked(folder.path());
        let map = KeyMap::new(LENGTH, BLOCK);
        let journal = Journal::begin(&asked, head(), &map).unwrap();
        // A file that is open to be read alone stands for a disk that is full.
        journal.state().file = Arc::new(File::open(&asked.path).unwrap());
        let range = map.range(0, BLOCK).unwrap();
        let problem = journal.begins(&map, range).unwrap_err().to_string();
        assert!(
            problem.contains("sd1.jnl`: writing its journal: "),
            "{problem}"
        );
        let missing = Asked {
            path: folder.path().join("none/sd1.jnl").display().to_string(),
            ..asked
        };
        Journal::begin(&missing, head(), &map).unwrap_err();
    }
}
