//! The inputs of one reader that are worth keeping.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::mutate::is_word;

/// Most bytes of one reader's folder, so that all stay below 1 MB together.
const FOLDER_MAX: usize = 48 << 10;
/// Longest input that is written into the folder.
const KEPT_MAX: usize = 1 << 10;
/// Most inputs that the folder is filled up to.
const FILES_MAX: usize = 120;
/// Name of the file that is no input, but holds words to make inputs of.
const WORDS: &str = "words";
/// How the names of inputs begin that ended a process.
const ENDED: &str = "ended-";
/// Most inputs held in memory.
const HELD_MAX: usize = 4_000;
/// Most words held.
const WORDS_MAX: usize = 4_000;

/// The folder of a reader's inputs.
pub fn folder(parser: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpora")
        .join(parser)
}

/// Inputs, their words, and what readings of them had in common.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Inputs with their names in the folder.
    pub inputs: Vec<Vec<u8>>,
    /// Every word and number of the inputs as they were read.
    pub words: Vec<Vec<u8>>,
    seen: HashSet<u64>,
    new: Vec<Vec<u8>>,
    bytes: usize,
    files: usize,
}

impl Corpus {
    /// Reads the files of a folder, in the order of their names, but for those that ended a process.
    ///
    /// # Errors
    /// The folder or file that cannot be read.
    pub fn read(folder: &Path) -> Result<Self, String> {
        Self::of_files(folder, false)
    }

    /// The same, with the inputs that ended a process.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_all(folder: &Path) -> Result<Self, String> {
        Self::of_files(folder, true)
    }

    fn of_files(folder: &Path, with_ended: bool) -> Result<Self, String> {
        let tell = |error: std::io::Error| format!("{}: {error}", folder.display());
        let entries = std::fs::read_dir(folder).map_err(tell)?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        let mut corpus = Self::default();
        let mut words = BTreeSet::new();
        for path in paths {
            let input = std::fs::read(&path).map_err(tell)?;
            let tokens = input.split(|byte| !is_word(*byte));
            words.extend(
                tokens
                    .filter(|word| (1..40).contains(&word.len()))
                    .map(<[u8]>::to_vec),
            );
            let name = path.file_name().and_then(|name| name.to_str());
            // What ended a process would end the next one too.
            if name.is_some_and(|name| name == WORDS || (name.starts_with(ENDED) && !with_ended)) {
                continue;
            }
            corpus.bytes += input.len();
            corpus.files += 1;
            corpus.inputs.push(input);
        }
        corpus.words = words.into_iter().take(WORDS_MAX).collect();
        Ok(corpus)
    }

    /// Remembers what a reading of `input` showed; whether any of it was new.
    pub fn learn(&mut self, input: &[u8], features: &[u64]) -> bool {
        let mut new = false;
        for feature in features {
            new |= self.seen.insert(*feature);
        }
        if new && input.len() <= 1 << 14 && self.inputs.len() < HELD_MAX {
            self.inputs.push(input.to_vec());
            if input.len() <= KEPT_MAX {
                self.new.push(input.to_vec());
            }
        }
        new
    }

    /// Remembers what a reading of an input of the folder showed.
    pub fn know(&mut self, features: &[u64]) {
        self.seen.extend(features);
    }

    /// Ways through the reader that were met.
    pub fn feature_count(&self) -> usize {
        self.seen.len()
    }

    /// Writes the new inputs as far as the folder has room, short and long ones alike; how many.
    ///
    /// # Errors
    /// The file that cannot be written.
    pub fn save(&mut self, folder: &Path) -> Result<usize, String> {
        let mut new = std::mem::take(&mut self.new);
        new.sort_by_key(Vec::len);
        let step = new
            .len()
            .div_ceil(FILES_MAX.saturating_sub(self.files).max(1))
            .max(1);
        let new: Vec<_> = new.into_iter().step_by(step).collect();
        let mut count = 0;
        for input in new {
            if self.bytes + input.len() > FOLDER_MAX || self.files >= FILES_MAX {
                break;
            }
            self.bytes += input.len();
            self.files += 1;
            count += 1;
            write(folder, "found", &input)?;
        }
        Ok(count)
    }
}

/// Writes an input under a name made of its contents (FNV-1a); the name.
///
/// # Errors
/// The file that cannot be written.
pub fn write(folder: &Path, kind: &str, input: &[u8]) -> Result<PathBuf, String> {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("{kind}-{:08x}", hash as u32));
    std::fs::write(&path, input).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
