//! Filling of blocks before they are written, and checking of blocks that were read.

use fathom_units::Percent;
use fathom_workload::{
    Checksum, Direction, Job, OnMismatch, Pattern, TrimmedData, Verify, VerifyPhase,
};

use crate::{
    Digest, Fault, FioHeader, Header, HeaderProblem, Intervals, LayoutProblem, Mismatch, contents,
    digest,
};

/// What a block that was read must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Data with headers.
    Data {
        /// Number of the write, where it is compared.
        number: Option<u64>,
        /// Seed of the write, where it is compared.
        seed: Option<u64>,
    },
    /// What a discarded block reads as.
    Trimmed,
}

/// Fills and checks the blocks of one worker.
#[derive(Debug)]
pub struct Blocks {
    kind: Checksum,
    intervals: Intervals,
    pattern: Option<Pattern>,
    pattern_interval: Option<u32>,
    trimmed: TrimmedData,
    all_faults: bool,
    /// Whether fio may have written what is read: this job writes nothing.
    may_be_of_fio: bool,
    worker: u16,
    /// What the pattern gives for the block that is being checked, and for the next where it bears no offsets.
    scratch: Vec<u8>,
}

impl Blocks {
    /// For the worker of `job` whose number ends in `worker`.
    ///
    /// # Errors
    /// Where a header does not fit, or a pattern is missing.
    pub fn new(verify: &Verify, job: &Job, worker: u16) -> Result<Self, LayoutProblem> {
        let step = verify.pattern_interval;
        let step = step.and_then(|step| u32::try_from(step.get()).ok());
        Ok(Self {
            kind: verify.checksum,
            intervals: Intervals::new(verify, job)?,
            pattern: verify.pattern.clone(),
            pattern_interval: step.filter(|step| *step > 0),
            trimmed: verify
                .trims
                .map_or_else(TrimmedData::default, |trims| trims.zero),
            all_faults: verify.on_mismatch != OnMismatch::EndAtOnce,
            may_be_of_fio: verify.header_offset == 0 && writes_nothing(verify, job),
            worker,
            scratch: Vec::new(),
        })
    }

    /// Gives `block`, which will be written at `offset`, its contents and headers.
    pub fn fill(&self, offset: u64, number: u64, seed: u64, time_ns: u64, block: &mut [u8]) {
        self.fill_contents(offset, seed, block);
        let seed = if self.pattern.is_some() { 0 } else { seed };
        for (start, length) in self.intervals.of(block.len() as u32) {
            let interval = &mut block[start as usize..(start + length) as usize];
            let Some(place) = self.intervals.header(length) else {
                continue;
            };
            let sum = digest(self.kind, around(interval, &place));
            let header = Header {
                kind: self.kind,
                worker: self.worker,
                length,
                offset: offset + u64::from(start),
                number,
                seed,
                time_ns,
            };
            header.write(sum.bytes(), &mut interval[place]);
        }
    }

    /// The bytes between the headers.
    fn fill_contents(&self, offset: u64, seed: u64, block: &mut [u8]) {
        match &self.pattern {
            Some(pattern) => contents::pattern(pattern, self.pattern_interval, offset, block),
            None => contents::random(seed, block),
        }
    }

    /// What is wrong with `block`, which was read at `offset`; nothing where it is as expected.
    pub fn check(&mut self, offset: u64, block: &[u8], expected: Expected) -> Vec<Mismatch> {
        let mut found = Vec::new();
        let (number, seed) = match expected {
            Expected::Data { number, seed } => (number, seed),
            Expected::Trimmed => {
                found.extend(self.check_trimmed(offset, block));
                return found;
            }
        };
        if self.kind == Checksum::Null {
            return found;
        }
        let compares = matches!(
            self.kind,
            Checksum::Pattern | Checksum::PatternHeader | Checksum::Meta
        );
        let compared = compares && self.pattern.is_some();
        if compared {
            self.prepare(offset, block.len());
        }
        let seed = seed.map(|seed| if self.pattern.is_some() { 0 } else { seed });
        for (start, length) in self.intervals.of(block.len() as u32) {
            let range = start as usize..(start + length) as usize;
            let interval = &block[range.clone()];
            let offset = offset + u64::from(start);
            let fault = self.check_interval(offset, interval, number, seed);
            let fault = fault.or_else(|| {
                let wanted = compared.then(|| &self.scratch[range])?;
                self.compare(interval, wanted)
            });
            let Some(fault) = fault else {
                continue;
            };
            found.push(Mismatch {
                offset,
                length,
                fault,
            });
            if !self.all_faults {
                break;
            }
        }
        found
    }

    /// Has the scratch hold what the pattern gives for a block of this length at `offset`.
    fn prepare(&mut self, offset: u64, length: usize) {
        let Some(pattern) = &self.pattern else { return };
        // A shorter block is the beginning of a longer one, wherever it stands.
        if self.scratch.len() >= length && !pattern.has_offsets() {
            return;
        }
        self.scratch.resize(length, 0);
        contents::pattern(pattern, self.pattern_interval, offset, &mut self.scratch);
    }

    fn check_trimmed(&self, offset: u64, block: &[u8]) -> Option<Mismatch> {
        if self.trimmed == TrimmedData::Anything || self.kind == Checksum::Null {
            return None;
        }
        let at = block.iter().position(|byte| *byte != 0)?;
        Some(Mismatch {
            offset,
            length: block.len() as u32,
            fault: Fault::NotZero { at: at as u32 },
        })
    }

    /// The header and the checksum.
    fn check_interval(
        &self,
        offset: u64,
        interval: &[u8],
        number: Option<u64>,
        seed: Option<u64>,
    ) -> Option<Fault> {
        let length = interval.len() as u32;
        let place = self.intervals.header(length)?;
        let of_fio = self.may_be_of_fio.then(|| FioHeader::read(interval));
        if let Some(header) = of_fio.flatten() {
            return self.check_of_fio(offset, interval, header);
        }
        let header = match Header::read(self.kind, &interval[place.clone()]) {
            Ok(header) => header,
            Err(problem) => return Some(Fault::Header(problem)),
        };
        if header.kind != self.kind {
            return Some(Fault::Kind {
                received: header.kind,
                expected: self.kind,
            });
        }
        let fields = [
            ("length", u64::from(header.length), Some(u64::from(length))),
            ("offset", header.offset, Some(offset)),
            ("number", header.number, number),
            ("seed", header.seed, seed),
        ];
        for (name, received, expected) in fields {
            if let Some(expected) = expected.filter(|expected| *expected != received) {
                return Some(Fault::Field {
                    name,
                    received,
                    expected,
                });
            }
        }
        let sum_at = place.end - self.kind.digest_bytes() as usize;
        let expected = Digest::new(&interval[sum_at..place.end]);
        let received = digest(self.kind, around(interval, &place));
        (expected != received).then_some(Fault::Checksum {
            kind: self.kind,
            expected,
            received,
        })
    }

    /// The header and the checksum of an interval that fio wrote; number and seed of the write are not compared.
    fn check_of_fio(&self, offset: u64, interval: &[u8], header: FioHeader) -> Option<Fault> {
        let length = interval.len() as u64;
        let fields = [
            ("length", u64::from(header.length), length),
            ("offset", header.offset, offset),
        ];
        for (name, received, expected) in fields {
            if received != expected {
                return Some(Fault::Field {
                    name,
                    received,
                    expected,
                });
            }
        }
        let (received, computed) = header.sum;
        if received != computed {
            return Some(Fault::Header(HeaderProblem::Sum(received, computed)));
        }
        let kind = self.kind;
        let Some([expected, received]) = header.sums(kind, interval) else {
            return Some(Fault::Header(HeaderProblem::Uncheckable(kind)));
        };
        (expected != received).then_some(Fault::Checksum {
            kind,
            expected,
            received,
        })
    }

    /// The bytes that are not the header's with those of the pattern.
    fn compare(&self, interval: &[u8], wanted: &[u8]) -> Option<Fault> {
        let header = self.intervals.header(interval.len() as u32);
        let header = header.unwrap_or(0..0);
        let differs = |range: std::ops::Range<usize>| {
            let (received, expected) = (&interval[range.clone()], &wanted[range.clone()]);
            if received == expected {
                return None;
            }
            let mut pairs = received.iter().zip(expected);
            let at = pairs.position(|(one, other)| one != other)?;
            Some(range.start + at)
        };
        let at = differs(0..header.start).or_else(|| differs(header.end..interval.len()))?;
        Some(Fault::Pattern {
            at: at as u32,
            received: interval[at],
            expected: wanted[at],
        })
    }

    /// The block that should have been read at `offset` in the place of `received`: number, seed and time are those of the
    /// first header in it that can be read, where they are not `expected`. Nothing where it is not known what was written:
    /// no header tells the seed, or fio wrote the block, whose random numbers are its own.
    pub fn expected_block(
        &self,
        offset: u64,
        received: &[u8],
        expected: Expected,
    ) -> Option<Vec<u8>> {
        let mut block = vec![0; received.len()];
        let Expected::Data { number, seed } = expected else {
            return Some(block);
        };
        let intervals = self.intervals.of(received.len() as u32);
        let mut header = None;
        for (start, length) in intervals {
            let Some(place) = self.intervals.header(length) else {
                continue;
            };
            let interval = &received[start as usize..(start + length) as usize];
            if self.may_be_of_fio && FioHeader::read(interval).is_some() {
                return None;
            }
            header = header.or_else(|| Header::read(self.kind, &interval[place]).ok());
        }
        let seed = seed.or(header.map(|header| header.seed));
        // A pattern is the same whatever the seed.
        let seed = seed.or(self.pattern.as_ref().map(|_| 0))?;
        let number = number.or(header.map(|header| header.number));
        let time = header.map_or(0, |header| header.time_ns);
        self.fill(offset, number.unwrap_or_default(), seed, time, &mut block);
        Some(block)
    }
}

/// Whether a job leaves what it checks as it is. Whatever its mix says, a trace may write.
fn writes_nothing(verify: &Verify, job: &Job) -> bool {
    let reads_alone = job.mix.share(Direction::Write) == Percent::ZERO;
    verify.phase == VerifyPhase::Only || reads_alone && job.features.replay.is_none()
}

/// The bytes before and behind the header.
fn around<'b>(interval: &'b [u8], header: &std::ops::Range<usize>) -> [&'b [u8]; 2] {
    [&interval[..header.start], &interval[header.end..]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Bytes;
    use fathom_workload::{BlockSizes, Mix, Replay, preset};

    /// A block of 4 KiB that nothing but its header tells from zeroes, as fio 3.42 writes it.
    fn block_of_fio(offset: u64) -> Vec<u8> {
        let mut block = vec![0; 4096];
        block[..4].copy_from_slice(&[0xca, 0xac, 0x81, 0x01]);
        block[4..8].copy_from_slice(&4096_u32.to_le_bytes());
        block[16..24].copy_from_slice(&offset.to_le_bytes());
        let sum = !crc32c::crc32c(&block[..44]);
        block[44..48].copy_from_slice(&sum.to_le_bytes());
        block
    }

    /// In a job that writes, what fio wrote before is what a lost write leaves.
    #[test]
    fn blocks_of_fio_are_right_where_nothing_is_written() {
        let expected = Expected::Data {
            number: None,
            seed: None,
        };
        let job = |mix: Mix| {
            let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
            job.block = BlockSizes::uniform(Bytes::new(4096));
            job.mix = mix;
            job
        };
        let found = |mix: Mix, kind: Checksum, phase: VerifyPhase, block: &[u8]| {
            let job = job(mix);
            let mut verify = Verify::new(kind);
            verify.phase = phase;
            let mut blocks = Blocks::new(&verify, &job, 0).unwrap();
            let mut found = blocks.check(8192, block, expected);
            found.pop().map(|mismatch| mismatch.fault)
        };
        let (block, after) = (block_of_fio(8192), VerifyPhase::AfterPass);
        let meta = Checksum::Meta;
        assert_eq!(found(Mix::READ, meta, after, &block), None);
        assert_eq!(found(Mix::WRITE, meta, VerifyPhase::Only, &block), None);
        let magic = HeaderProblem::Magic([0xca, 0xac, 0x81, 0x01]);
        let lost = Some(Fault::Header(magic));
        assert_eq!(found(Mix::WRITE, meta, after, &block), lost);
        let mut of_trace = job(Mix::READ);
        of_trace.features.replay = Some(Replay::default());
        assert!(!writes_nothing(&Verify::new(meta), &of_trace));
        let elsewhere = Some(Fault::Field {
            name: "offset",
            received: 4096,
            expected: 8192,
        });
        assert_eq!(
            found(Mix::READ, meta, after, &block_of_fio(4096)),
            elsewhere
        );
        let uncheckable = HeaderProblem::Uncheckable(Checksum::Sha256);
        let uncheckable = Some(Fault::Header(uncheckable));
        assert_eq!(
            found(Mix::READ, Checksum::Sha256, after, &block),
            uncheckable
        );
        let mut harmed = block.clone();
        harmed[30] ^= 1;
        assert!(matches!(
            found(Mix::READ, meta, after, &harmed),
            Some(Fault::Header(HeaderProblem::Sum(..)))
        ));
        // What fio's random numbers were cannot be told, so what the block should be is not made up.
        let job = job(Mix::READ);
        let blocks = Blocks::new(&Verify::new(Checksum::Crc32c), &job, 0).unwrap();
        assert_eq!(blocks.expected_block(8192, &harmed, expected), None);
    }
}
