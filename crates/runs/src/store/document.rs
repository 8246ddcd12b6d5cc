//! Reading a record: from a run's folder, a document, or the standard input.

use std::io;
use std::path::Path;

use fathom_record::{Record, SCHEMA};

use super::StoreError;
use crate::files;
use crate::recover::recover;

/// Most bytes of a record that comes through a pipe, which does not say how many it has. A second of a stage takes some 500, of
/// one with 144 jobs 12 KiB: three weeks, or a day.
pub(super) const PIPED_MOST: u64 = 1 << 30;

/// The record at `name`, where that is a path: of a run's folder or of a document, `-` for the standard input.
pub(super) fn record_at(name: &str) -> Option<Result<Record, StoreError>> {
    let path = Path::new(name);
    is_path(name).then(|| {
        if path.is_dir() {
            load_folder(path)
        } else {
            read_record(path)
        }
    })
}

/// What some programs put before a text in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();
/// A file of fewer blanks holds nothing; of longer ones no more is looked at.
const WHITE_MOST: usize = 4096;

/// What stands for the standard input in a path's place.
const STDIN: &str = "-";

/// Whether `name` is a path and no id: ids hold no separator and are no dots.
fn is_path(name: &str) -> bool {
    let is_document = Path::new(name).extension().is_some_and(|ext| ext == "json");
    name.contains('/') || is_document || [".", "..", STDIN].contains(&name)
}

/// The record of the run in `folder`; where there is none, or none that can be read, what its event log holds.
pub(super) fn load_folder(folder: &Path) -> Result<Record, StoreError> {
    let path = folder.join(files::RECORD);
    if !path.exists() {
        return recover(folder, None).ok_or_else(|| StoreError::NoRun {
            folder: folder.to_owned(),
        });
    }
    read_record(&path).or_else(|error| {
        let reason = match &error {
            StoreError::BadRecord { reason, .. } => reason.clone(),
            StoreError::Nothing { .. } => "it is empty".to_owned(),
            StoreError::CutOff { line, column, .. } => {
                format!("it ends in line {line}, column {column}, before it is over")
            }
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
    serde_json::from_slice(&bytes).map_err(|error| {
        let path = path.to_owned();
        if error.is_eof() {
            let (line, column) = (error.line(), error.column());
            return StoreError::CutOff { path, line, column };
        }
        let reason = error.to_string();
        StoreError::BadRecord { path, reason }
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
    if document.fill_buf().map_err(failed)?.starts_with(MARK) {
        document.consume(MARK.len());
    }
    let start = document.fill_buf().map_err(failed)?;
    let reason = match start.trim_ascii_start() {
        [b'{', ..] => None,
        [] if start.len() < WHITE_MOST => {
            let path = path.to_owned();
            return Err(StoreError::Nothing { path });
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("it is in UTF-16, and records are in UTF-8"),
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

    #[test]
    fn what_goes_on_without_end_is_not_read_to_its_end() {
        use io::Read as _;
        let endless = || io::repeat(b'{');
        assert_eq!(no_more_than(1 << 20, endless()).unwrap(), None);
        let whole = no_more_than(8, endless().take(8)).unwrap();
        assert_eq!(whole.as_deref(), Some(&b"{{{{{{{{"[..]));
        assert_eq!(no_more_than(8, endless().take(9)).unwrap(), None);
    }

    #[test]
    fn a_path_is_told_from_an_id() {
        assert!(
            [".", "..", "./x", "/x", "record.json"]
                .into_iter()
                .all(is_path)
        );
        assert!(!["last", "2026", ".x"].into_iter().any(is_path));
    }
}
