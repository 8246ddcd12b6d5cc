//! One reader, fed for a while.

use std::collections::BTreeSet;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::corpus::{self, Corpus};
use crate::mutate::mutate;
use crate::outcome::Outcome;
use crate::parsers::Parser;
use crate::random::Random;
use crate::watch::{on_processor, watched};
use crate::{INPUT_MAX, TIME_MAX};

/// What a reader did that it must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It panicked: the place and the message.
    Panic(String),
    /// It took this long.
    Slow(Duration),
}

/// A finding and the file that holds its input.
#[derive(Debug)]
pub struct Found {
    /// What happened.
    pub finding: Finding,
    /// The input.
    pub path: PathBuf,
}

/// How a campaign goes.
#[derive(Debug)]
pub struct Campaign {
    /// How long.
    pub length: Duration,
    /// Seed of all that is random.
    pub seed: u64,
    /// The reader's inputs.
    pub folder: PathBuf,
    /// File that holds the input being read behind its length (8 bytes, lowest first), so that it is known if the process
    /// ends.
    pub current: PathBuf,
}

/// What came of a campaign.
#[derive(Debug, Default)]
pub struct Summary {
    /// Inputs read.
    pub inputs: u64,
    /// Ways through the reader that were met.
    pub features: usize,
    /// Inputs added to the folder.
    pub added: usize,
    /// What must not be.
    pub found: Vec<Found>,
}

/// Feeds one input; what it must not do comes back.
fn feed(parser: &Parser, input: &[u8], outcome: &mut Outcome) -> Option<Finding> {
    let read = |outcome: &mut Outcome| watched(|| (parser.read)(input, outcome));
    let (result, taken) = read(outcome);
    match result {
        Err(panic) => Some(Finding::Panic(panic)),
        // Another process may have had the processor: a second try counts this thread's own time on it.
        Ok(()) if taken > TIME_MAX => {
            let before = on_processor();
            let (_, again) = read(&mut Outcome::default());
            let own = match (before, on_processor()) {
                (Some(before), Some(after)) => after.saturating_sub(before),
                _ => again,
            };
            let least = taken.min(again).min(own);
            (least > TIME_MAX).then_some(Finding::Slow(least))
        }
        Ok(()) => None,
    }
}

/// Feeds one input: the panic it brought about, if any, and how long it took.
pub fn read_once(parser: &Parser, input: &[u8]) -> (Result<(), String>, Duration) {
    watched(|| (parser.read)(input, &mut Outcome::default()))
}

/// Feeds every input of a folder once.
///
/// # Errors
/// The folder that cannot be read, or everything that its inputs brought about.
pub fn replay(parser: &Parser) -> Result<usize, String> {
    let corpus = Corpus::read_all(&corpus::folder(parser.name))?;
    let mut found = Vec::new();
    for input in &corpus.inputs {
        if let Some(finding) = feed(parser, input, &mut Outcome::default()) {
            let start = String::from_utf8_lossy(&input[..input.len().min(200)]).into_owned();
            found.push(format!("{}: {finding:?} by {start:?}", parser.name));
        }
    }
    if found.is_empty() {
        Ok(corpus.inputs.len())
    } else {
        Err(found.join("\n"))
    }
}

impl Campaign {
    /// Runs it.
    ///
    /// # Errors
    /// A folder or file that cannot be read or written.
    #[expect(
        clippy::disallowed_methods,
        reason = "no workload is timed here, but a reader; `rawio` has no part in it"
    )]
    pub fn run(&self, parser: &Parser) -> Result<Summary, String> {
        let mut corpus = Corpus::read(&self.folder)?;
        for input in &corpus.inputs.clone() {
            let mut outcome = Outcome::default();
            feed(parser, input, &mut outcome);
            corpus.know(&outcome.0);
        }
        let mut current = std::fs::File::create(&self.current)
            .map_err(|error| format!("{}: {error}", self.current.display()))?;
        let mut random = Random(self.seed);
        let mut summary = Summary::default();
        let mut told = BTreeSet::new();
        let start = Instant::now();
        while start.elapsed() < self.length {
            let input = next_input(&mut random, &corpus);
            remember(&mut current, &input)
                .map_err(|error| format!("{}: {error}", self.current.display()))?;
            let mut outcome = Outcome::default();
            let finding = feed(parser, &input, &mut outcome);
            summary.inputs += 1;
            corpus.learn(&input, &outcome.0);
            let Some(finding) = finding else { continue };
            let (kind, place) = match &finding {
                Finding::Panic(message) => ("panic", place_of(message)),
                Finding::Slow(_) => ("slow", "slow".to_owned()),
            };
            // One input for each place is enough.
            if told.insert(place) {
                let path = corpus::write(&self.folder, kind, &input)?;
                summary.found.push(Found { finding, path });
            }
        }
        summary.added = corpus.save(&self.folder)?;
        summary.features = corpus.feature_count();
        Ok(summary)
    }
}

/// Writes an input behind its length, in place: a file made anew for each would take longer than most readings.
fn remember(current: &mut std::fs::File, input: &[u8]) -> std::io::Result<()> {
    let length = (input.len() as u64).to_le_bytes();
    current.seek(SeekFrom::Start(0))?;
    current.write_all(&[&length[..], input].concat())
}

fn next_input(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let empty = Vec::new();
    let input = random.pick(&corpus.inputs).unwrap_or(&empty).clone();
    let other = random.pick(&corpus.inputs).unwrap_or(&empty);
    let input = mutate(random, &input, other, &corpus.words);
    debug_assert!(input.len() <= INPUT_MAX);
    input
}

/// The file and line that panicked.
fn place_of(message: &str) -> String {
    let place = message
        .split_whitespace()
        .find(|word| word.contains(".rs:"));
    place.unwrap_or(message).to_owned()
}
