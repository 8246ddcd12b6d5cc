//! The stored runs as they are asked for again and again: what lists show of a run is read anew only where its files have
//! changed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use fathom_runs::{Digest, RunEntry, RunState, Stamp, Store, StoreError};

/// Runs on a page of the list.
pub(crate) const ON_A_PAGE: usize = 50;
/// Digests that are kept.
const KEPT_MOST: usize = 10_000;

/// The stored runs.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) store: Store,
    known: Mutex<HashMap<String, (Stamp, Digest)>>,
}

/// A part of the list, the newest run first.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) runs: Vec<(RunEntry, Digest)>,
    /// Which part this is, from 1 on.
    pub(crate) page: usize,
    /// How many there are; one where nothing is stored.
    pub(crate) pages: usize,
    /// Runs of all of them.
    pub(crate) count: usize,
}

impl Shelf {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            known: Mutex::default(),
        }
    }

    /// The part of the list that is asked for, or the last where there are not so many.
    pub(crate) fn sheet(&self, page: usize) -> Result<Sheet, StoreError> {
        let mut runs = self.store.runs()?;
        runs.reverse();
        let count = runs.len();
        let pages = count.div_ceil(ON_A_PAGE).max(1);
        let page = page.clamp(1, pages);
        let first = (page - 1) * ON_A_PAGE;
        let own = runs.into_iter().skip(first).take(ON_A_PAGE);
        let runs = own.map(|run| {
            let digest = self.digest(&run);
            (run, digest)
        });
        Ok(Sheet {
            runs: runs.collect(),
            page,
            pages,
            count,
        })
    }

    /// What lists show of `run`.
    pub(crate) fn digest(&self, run: &RunEntry) -> Digest {
        let stamp = run.stamp();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((kept, digest)) = known().get(&run.id)
            && *kept == stamp
        {
            return digest.clone();
        }
        let digest = run.digest();
        if digest.state == RunState::UnderWay {
            // It may be cut short without a change of its files.
            return digest;
        }
        let mut known = known();
        if known.len() >= KEPT_MOST {
            known.clear();
        }
        known.insert(run.id.clone(), (stamp, digest.clone()));
        digest
    }

    /// The newest of the runs before `run` that ran the same.
    pub(crate) fn before(&self, run: &RunEntry) -> Option<RunEntry> {
        let runs = self.store.runs().ok()?;
        let older = runs.into_iter().take_while(|other| other.id != run.id);
        older.filter(|other| other.what == run.what).last()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, read, write};

    use fathom_record::Verdict;
    use fathom_runs::Limits;

    use super::*;

    const RECORD: &str = r#"{"schema": "fathom.record/1", "verdict": "trustworthy", "interrupted": false, "stages": []}"#;

    /// So many runs, the first of which ran something else.
    fn shelf(runs: usize) -> (tempfile::TempDir, Shelf) {
        let folder = tempfile::tempdir().unwrap();
        for nth in 0..runs {
            let run = folder.path().join(format!("{nth}"));
            std::fs::create_dir(&run).unwrap();
            let what = if nth == 0 { "other" } else { "same" };
            let event = format!(
                r#"{{"event": "run-started", "what": "{what}", "started_unix_ns": {nth}}}"#
            );
            write(run.join("events.jsonl"), event + "\n").unwrap();
            write(run.join("record.json"), RECORD).unwrap();
        }
        let store = Store::new(folder.path().to_owned(), Limits::default());
        (folder, Shelf::new(store))
    }

    #[test]
    fn a_list_is_taken_in_parts() {
        let (_folder, shelf) = shelf(2 * ON_A_PAGE + 1);
        for (asked, page, first, count) in [
            (0, 1, "100", ON_A_PAGE),
            (1, 1, "100", ON_A_PAGE),
            (3, 3, "0", 1),
            (9, 3, "0", 1),
        ] {
            let sheet = shelf.sheet(asked).unwrap();
            assert_eq!((sheet.page, sheet.pages), (page, 3));
            assert_eq!(
                (sheet.runs[0].0.id.as_str(), sheet.runs.len()),
                (first, count)
            );
        }
    }

    #[test]
    fn a_list_of_nothing_has_one_part() {
        let (_folder, shelf) = shelf(0);
        let sheet = shelf.sheet(7).unwrap();
        assert_eq!((sheet.page, sheet.pages, sheet.count), (1, 1, 0));
    }

    #[test]
    fn a_record_is_read_again_where_it_has_changed_alone() {
        let (folder, shelf) = shelf(1);
        let state = || shelf.sheet(1).unwrap().runs[0].1.state;
        assert_eq!(state(), RunState::Ended(Verdict::Trustworthy));
        let path = folder.path().join("0/record.json");
        let time = path.metadata().unwrap().modified().unwrap();
        let record = read(&path).unwrap();
        write(&path, vec![b' '; record.len()]).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
        assert_eq!(state(), RunState::Ended(Verdict::Trustworthy));
        write(&path, "{").unwrap();
        assert_eq!(state(), RunState::Unreadable);
        write(&path, record).unwrap();
        assert_eq!(state(), RunState::Ended(Verdict::Trustworthy));
    }

    #[test]
    fn the_run_before_ran_the_same() {
        let (_folder, shelf) = shelf(4);
        let before = |id: &str| {
            let run = shelf.store.run(id).unwrap();
            shelf.before(&run).map(|run| run.id)
        };
        assert_eq!(before("3").as_deref(), Some("2"));
        assert_eq!(before("1"), None);
        assert_eq!(before("0"), None);
    }
}
