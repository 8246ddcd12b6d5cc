//! Whether storage made less of what was written than it would of real data.
//!
//! What a job writes is known from the workload; how well it compresses is tried on a few of its buffers. Whether the storage
//! below makes use of that is known of some, and of none behind a network.

use std::io::Write as _;

use fathom_workload::generator::{BufferFill, Io, StreamKey};
use fathom_workload::{Backend, BufferContents, Direction, Filling, Job};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::{Evidence, check, jobs};
use crate::{Check, RunKind, total_of};

/// Storage that makes less of what is written, or may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reducing {
    /// In words: `zfs, which …`.
    pub how: String,
    /// What it makes less of.
    pub what: Reduced,
    /// Whether it did, or was set up to. Otherwise it does unless it was set up not to, and which of both cannot be seen.
    pub is_seen: bool,
}

/// What storage makes less of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduced {
    /// What compresses.
    Compressible,
    /// What compresses, and blocks that are there already.
    CompressibleAndRepeated,
}

/// Where less than this share of the bytes is saved, the storage did nearly all of the work.
const MOST_SAVED: f64 = 0.1;

/// Shares (0 to 1) of what a job writes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shares {
    /// Saved by a compressor.
    compressible: f64,
    /// Saved by whoever keeps equal blocks once.
    repeated: f64,
    /// Whether that much was asked for, as a model of real data.
    asked: bool,
}

impl Shares {
    /// What storage of this kind saves of it.
    fn saved_by(self, what: Reduced) -> f64 {
        match what {
            Reduced::Compressible => self.compressible,
            Reduced::CompressibleAndRepeated => self.compressible.max(self.repeated),
        }
    }
}

/// A job that wrote.
struct Written<'a> {
    job: &'a Job,
    bytes: u64,
    shares: Shares,
}

/// Shares that were asked for as such (`compress`, `dedupe`) are how such storage is rightly measured: they pass.
pub(super) fn data_compressibility(evidence: &Evidence<'_>) -> Check {
    let all = written(evidence);
    let told_of = |seen: bool| {
        let mut targets = evidence.targets.iter();
        targets.find_map(|target| {
            let reducing = target.reducing.as_ref().filter(|it| it.is_seen == seen)?;
            reduced_words(&target.path, reducing, &all)
        })
    };
    let finding = told_of(true);
    let share = share_of_all(&all);
    let silent = if all.is_empty() {
        "nothing was written".to_owned()
    } else if share <= MOST_SAVED {
        "what was written neither compresses nor repeats".to_owned()
    } else if let Some(told) = told_of(false) {
        format!("not judged: {told}")
    } else if all.iter().all(|it| it.shares.asked) {
        format!(
            "{:.0} % of what was written compresses or repeats, as asked for",
            share * 100.0
        )
    } else {
        let percent = share * 100.0;
        format!(
            "{percent:.0} % of what was written compresses or repeats; nothing under it is known to make less of that"
        )
    };
    check(
        "data-compressibility",
        finding,
        &silent,
        "write data that does not compress (`contents = \"random-each-write\"`; fio: without `zero_buffers` and `buffer_pattern`; DISKSPD: \
         `-Zr`), as much as your data does (`filling`, `buffer_compress_percentage`, `compratio`), or turn compression off",
    )
}

/// How much of what was written to `path` is less to what it is on, where that is much.
fn reduced_words(path: &str, reducing: &Reducing, all: &[Written<'_>]) -> Option<String> {
    let Reducing { how, what, .. } = reducing;
    let here = all.iter().filter(|it| {
        let mut places = it.job.targets.iter().map(|target| target.place.path());
        places.any(|place| place == path)
    });
    let saved = |it: &Written<'_>| {
        if it.shares.asked {
            0.0
        } else {
            it.shares.saved_by(*what)
        }
    };
    let share = share_of(here, saved);
    let does = match what {
        Reduced::Compressible => "compresses",
        Reduced::CompressibleAndRepeated => "compresses or repeats",
    };
    let percent = share * 100.0;
    (share > MOST_SAVED)
        .then(|| format!("{percent:.0} % of what was written to {path} {does}, and it is on {how}"))
}

/// The note that what a real run wrote is less to storage that compresses or removes duplicates; none where the check tells it.
pub fn compressible_note(evidence: &Evidence<'_>, checks: &[Check]) -> Option<String> {
    let is_told = |check: &Check| check.id == "data-compressibility" && !check.passed;
    if evidence.kind != RunKind::Run || checks.iter().any(is_told) {
        return None;
    }
    let share = share_of_all(&written(evidence));
    (share > MOST_SAVED).then(|| {
        format!(
            "{:.0} % of what was written compresses or repeats: storage that compresses or removes duplicates (many arrays and \
             services do) is faster with it than with other data",
            share * 100.0
        )
    })
}

fn share_of_all(all: &[Written<'_>]) -> f64 {
    share_of(all.iter(), |it| {
        it.shares.saved_by(Reduced::CompressibleAndRepeated)
    })
}

/// The mean of `share` over the bytes.
fn share_of<'w, 'a: 'w>(
    all: impl Iterator<Item = &'w Written<'a>>,
    share: impl Fn(&Written<'_>) -> f64,
) -> f64 {
    let (mut saved, mut bytes) = (0.0, 0.0);
    for it in all {
        saved += share(it) * it.bytes as f64;
        bytes += it.bytes as f64;
    }
    if bytes > 0.0 { saved / bytes } else { 0.0 }
}

/// Jobs that wrote data, with what it was. Clones write alike, and are tried once.
fn written<'a>(evidence: &Evidence<'a>) -> Vec<Written<'a>> {
    let mut all: Vec<Written<'a>> = Vec::new();
    for (_, job, workers) in jobs(evidence) {
        // Operations stand in place of writes, and the null engine has no storage.
        if job.features.operation.is_some() || job.backend == Backend::Null {
            continue;
        }
        let bytes = total_of(&workers, Direction::Write).map_or(0, |stats| stats.bytes);
        if bytes == 0 {
            continue;
        }
        let known = all.iter().find(|it| writes_alike(it.job, job));
        let shares = known.map_or_else(|| shares_of(job), |it| it.shares);
        all.push(Written { job, bytes, shares });
    }
    all
}

fn writes_alike(one: &Job, other: &Job) -> bool {
    let of = |job: &Job| {
        (
            job.contents,
            job.features.filling.clone(),
            job.block.clone(),
        )
    };
    let pattern = |job: &Job| {
        job.features
            .verify
            .as_ref()
            .and_then(|it| it.pattern.clone())
    };
    of(one) == of(other) && pattern(one) == pattern(other)
}

fn shares_of(job: &Job) -> Shares {
    let pattern = job
        .features
        .verify
        .as_ref()
        .and_then(|it| it.pattern.clone());
    let plain = |compressible, repeated| Shares {
        compressible,
        repeated,
        asked: false,
    };
    match (&job.features.filling, pattern, job.contents) {
        // A pattern that is to be found again stands in place of everything else; headers between keep blocks apart.
        (_, Some(pattern), _) => {
            let filling = Filling {
                pattern: Some(pattern),
                ..Filling::default()
            };
            let mut job = job.clone();
            job.features.filling = Some(Box::new(filling));
            plain(compressed(&job), 0.0)
        }
        (Some(rules), None, _) => Shares {
            compressible: compressed(job),
            repeated: repeated(rules),
            asked: is_asked(rules),
        },
        (None, None, BufferContents::Zeroes) => plain(1.0, 1.0),
        (None, None, BufferContents::RandomOnce) => plain(0.0, 1.0),
        (None, None, BufferContents::RandomEachWrite | BufferContents::RandomStamped) => {
            plain(0.0, 0.0)
        }
    }
}

fn is_asked(rules: &Filling) -> bool {
    let dedupe = rules.dedupe.map_or(0, |dedupe| dedupe.percent);
    (1..100).contains(&rules.compress) || (1..100).contains(&dedupe)
}

fn repeated(rules: &Filling) -> f64 {
    if let Some(dedupe) = rules.dedupe {
        return f64::from(dedupe.percent) / 100.0;
    }
    let has_offsets = |pattern: &fathom_workload::Pattern| pattern.has_offsets();
    let alone = rules.pattern.is_some() && rules.compress == 0 || rules.compress >= 100;
    let is_fixed = !rules.pattern.as_ref().is_some_and(has_offsets);
    if alone && is_fixed { 1.0 } else { 0.0 }
}

/// The share that a compressor saves of a few of the job's writes, each by itself. At most 512 KiB are tried, which takes some
/// milliseconds; storage compresses pieces of 4 to 128 KiB.
fn compressed(job: &Job) -> f64 {
    const WRITES: u64 = 16;
    const LONGEST: u64 = 32 << 10;
    let key = StreamKey {
        seed: 1,
        job: 0,
        worker: 0,
        salt: 0,
    };
    let sizes = job.block.of(Direction::Write).iter();
    let sizes = sizes.filter(|entry| entry.weight > 0);
    let longest = sizes.map(|entry| entry.size.get()).max().unwrap_or(4096);
    let length = longest.clamp(512, LONGEST) as u32;
    let mut fill = BufferFill::for_job(job, key);
    let mut buffer = vec![0; length as usize];
    fill.prepare(&mut buffer);
    let mut left = 0;
    for index in 0..WRITES {
        let io = Io {
            index,
            direction: Direction::Write,
            target: 0,
            offset: index * u64::from(length),
            length,
        };
        fill.refill(&io, &mut buffer);
        left += compressed_length(&buffer);
    }
    1.0 - (left as f64 / (WRITES * u64::from(length)) as f64).min(1.0)
}

/// Bytes that `buffer` is compressed to.
fn compressed_length(buffer: &[u8]) -> u64 {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail; what could not be compressed counts as it is.
    let written = encoder.write_all(buffer).and_then(|()| encoder.finish());
    written.map_or(buffer.len(), |bytes| bytes.len()) as u64
}
