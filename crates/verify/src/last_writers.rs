//! The last write to each block of a pass, in the order of offsets, in bounded memory.
//!
//! The range of all targets is cut into windows. For each window the writes of the pass are drawn once more, and those
//! that fall into it are kept: a later write replaces every earlier one that it overlaps, so what is left when the walk
//! ends are the writes that nothing overwrote. (What an overwritten write still holds beside a later one is not checked:
//! its checksum cannot be right any more.) A window has at most [`PIECES_MAX`] blocks, about 50 MB; a walk draws some
//! hundred million writes in a few seconds.
//!
//! Later means a higher number in the stream. Where several I/Os are outstanding, the device may finish two overlapping
//! writes the other way round; then the number in the header is not that of the last write, and must not be compared.

use std::collections::BTreeMap;
use std::collections::btree_map::IntoIter;

use fathom_workload::generator::{Io, TargetRange};

use crate::{Replay, WalkProblem};

/// Most blocks of a window.
const PIECES_MAX: u64 = 1 << 20;
/// Writes drawn before whoever asked is given a chance to look at something else.
const WRITES_AT_A_TIME: u32 = 1 << 16;

/// Targets one behind the other on one line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Where each target's first byte stands.
    starts: Vec<u64>,
    end: u64,
}

impl Line {
    /// Of targets with these ranges; targets of equal `names` are one.
    pub(crate) fn new(ranges: &[TargetRange], names: &[String]) -> Self {
        let mut known = BTreeMap::new();
        let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
        for (range, name) in ranges.iter().zip(names) {
            let end = range.offset.saturating_add(range.length);
            let longest = ends.entry(name).or_default();
            *longest = end.max(*longest);
        }
        let mut starts = Vec::with_capacity(ranges.len());
        let mut next = 0u64;
        for name in names {
            let start = *known.entry(name.as_str()).or_insert_with(|| {
                let start = next;
                next = next.saturating_add(ends.get(name.as_str()).copied().unwrap_or_default());
                start
            });
            starts.push(start);
        }
        Self { starts, end: next }
    }

    /// Where an I/O begins.
    pub(crate) fn position(&self, io: &Io) -> u64 {
        let start = self.starts.get(io.target as usize).copied();
        start.unwrap_or_default().saturating_add(io.offset)
    }

    /// Whether two of the targets are one.
    pub(crate) fn has_doubles(&self) -> bool {
        let mut starts = self.starts.clone();
        starts.sort_unstable();
        starts.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// Makes the walk through the writes of the pass.
pub(crate) type Walks = Box<dyn FnMut() -> Result<Replay, WalkProblem> + Send>;

/// The last writes, one after another.
pub struct LastWriters {
    walks: Walks,
    line: Line,
    window: u64,
    largest: u64,
    from: u64,
    walk: Option<Replay>,
    pieces: BTreeMap<u64, (u64, Io)>,
    found: Option<IntoIter<u64, (u64, Io)>>,
}

impl std::fmt::Debug for LastWriters {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pieces = self.pieces.len();
        write!(formatter, "LastWriters(from {}, {pieces} kept)", self.from)
    }
}

/// What the search comes to.
#[derive(Debug)]
pub(crate) enum Search {
    /// A write that nothing overwrote, with its number.
    Found(u64, Io),
    /// It goes on.
    Busy,
    /// There are no more.
    Over,
    /// There may be more, which are not to be known: nothing is told of a window whose walk did not come to its end, since
    /// what seems to be a last write may have been overwritten.
    Broken(WalkProblem),
}

impl LastWriters {
    /// Among the `writes` writes that each of `walks` yields, of blocks between `smallest` and `largest` bytes.
    pub(crate) fn new(
        walks: Walks,
        line: Line,
        writes: u64,
        (smallest, largest): (u64, u64),
    ) -> Self {
        let window = if writes <= PIECES_MAX {
            u64::MAX
        } else {
            PIECES_MAX * smallest.max(1)
        };
        Self {
            walks,
            line,
            window,
            largest,
            from: 0,
            walk: None,
            pieces: BTreeMap::new(),
            found: None,
        }
    }

    pub(crate) fn search(&mut self) -> Search {
        if let Some(found) = &mut self.found {
            if let Some((_, (number, io))) = found.next() {
                return Search::Found(number, io);
            }
            self.found = None;
            self.from = self.from.saturating_add(self.window);
        }
        if self.from >= self.line.end {
            return Search::Over;
        }
        let mut walk = match self.walk.take().map_or_else(&mut self.walks, Ok) {
            Ok(walk) => walk,
            Err(problem) => return Search::Broken(problem),
        };
        for _ in 0..WRITES_AT_A_TIME {
            let Some((number, io)) = walk.next() else {
                if let Some(problem) = walk.take_problem() {
                    return Search::Broken(problem);
                }
                self.found = Some(std::mem::take(&mut self.pieces).into_iter());
                return Search::Busy;
            };
            self.take(number, io);
        }
        self.walk = Some(walk);
        Search::Busy
    }

    fn take(&mut self, number: u64, io: Io) {
        let start = self.line.position(&io);
        let end = start.saturating_add(u64::from(io.length));
        let window_end = self.from.saturating_add(self.window);
        // A write behind the window may still overwrite one that begins inside.
        if end <= self.from || start >= window_end.saturating_add(self.largest) {
            return;
        }
        let before = self.pieces.range(..start).next_back();
        let reaches = |(at, (_, piece)): (&u64, &(u64, Io))| {
            (*at + u64::from(piece.length) > start).then_some(*at)
        };
        if let Some(at) = before.and_then(reaches) {
            self.pieces.remove(&at);
        }
        while let Some((at, _)) = self.pieces.range(start..end).next() {
            let at = *at;
            self.pieces.remove(&at);
        }
        if start >= self.from && start < window_end {
            self.pieces.insert(start, (number, io));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Bytes;
    use fathom_workload::generator::{SharedCursor, StreamKey, WorkerStream};
    use fathom_workload::{Access, Coverage, Job, WeightedSize, preset};

    const RANGES: [TargetRange; 2] = [
        TargetRange {
            offset: 0,
            length: 1 << 20,
        },
        TargetRange {
            offset: 8192,
            length: 1 << 19,
        },
    ];

    fn job(sizes: &[u64]) -> Job {
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.access = Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        };
        job.mix = fathom_workload::Mix::WRITE;
        let sized = |size: &u64| WeightedSize {
            size: Bytes::new(*size),
            weight: 1,
        };
        job.block.write = sizes.iter().map(sized).collect();
        job.block.alignment = Some(Bytes::new(512));
        job.targets.push(job.targets[0].clone());
        job.limits = fathom_workload::Limits::default();
        job
    }

    fn walk(job: &Job) -> Replay {
        let key = StreamKey {
            seed: 5,
            ..StreamKey::default()
        };
        let stream = || WorkerStream::new(job, key, &RANGES, &SharedCursor::new()).unwrap();
        let mut all = stream();
        let ios = std::iter::from_fn(|| all.next_io()).count();
        Replay::new(stream(), ios as u64, 0)
    }

    /// Every byte of the line with the number of its last writer: whose bytes are all still theirs is left.
    fn by_hand(job: &Job, line: &Line) -> Vec<(u64, u64)> {
        let mut owner = vec![u64::MAX; line.end as usize / 512];
        let sectors = |io: &Io| {
            let start = line.position(io) as usize / 512;
            start..start + io.length as usize / 512
        };
        let all: Vec<_> = walk(job).collect();
        for (number, io) in &all {
            owner[sectors(io)].fill(*number);
        }
        let mut left: Vec<_> = all
            .iter()
            .filter(|(number, io)| owner[sectors(io)].iter().all(|it| it == number))
            .map(|(number, io)| (line.position(io), *number))
            .collect();
        left.sort_unstable();
        left
    }

    #[test]
    fn any_window_gives_the_writes_that_nothing_overwrote() {
        for sizes in [&[4096][..], &[512, 4096, 16384]] {
            let job = job(sizes);
            for names in [["a", "b"], ["a", "a"]] {
                let names = names.map(str::to_owned);
                let line = Line::new(&RANGES, &names);
                let expected = by_hand(&job, &line);
                assert!(expected.len() > 20);
                for window in [u64::MAX, 100_000, 4096, 700] {
                    let source = job.clone();
                    let walks: Walks = Box::new(move || Ok(walk(&source)));
                    let mut writers = LastWriters::new(walks, line.clone(), 1, (512, 16384));
                    writers.window = window;
                    let mut found = Vec::new();
                    loop {
                        match writers.search() {
                            Search::Found(number, io) => found.push((line.position(&io), number)),
                            Search::Busy => {}
                            Search::Over => break,
                            Search::Broken(problem) => panic!("{problem}"),
                        }
                    }
                    assert_eq!(found, expected, "{sizes:?} {names:?} window {window}");
                }
            }
        }
    }
}
