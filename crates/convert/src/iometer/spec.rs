//! An access specification from what a job issues.

use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Access, AccessLine, Coverage, Direction, Job, LINE_ALIGNMENT, LINES_MAX, SequentialScope,
    ThinkCounts, ThinkTime, WeightedSize,
};

use crate::draft::Draft;

/// Lines of a specification: size, % of size, % reads, % random, delay, burst, align, reply.
pub(super) type Lines = Vec<[u64; 8]>;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Largest number of a line.
const NUMBER_MAX: u64 = 1 << 30;

/// Longest delay, in milliseconds.
const DELAY_MAX: u64 = 86_400_000;

/// The specification of a job in its normal form.
pub(super) fn lines(job: &Job, number: usize, draft: &mut Draft) -> Lines {
    if !job.features.lines.is_empty() {
        return of_lines(job, number, draft);
    }
    if job.mix.trim > Percent::ZERO {
        let message = "Iometer does not trim; the trims are written as writes";
        draft.lost(number, "mix", message);
    }
    let (delay, burst) = pause(job, number, draft);
    let parts = parts(job);
    let (shares, exact) = shares(&parts.iter().map(|part| part.weight).collect::<Vec<_>>());
    let several = parts.len() > 1;
    let lines: Lines = parts
        .iter()
        .zip(shares)
        .filter(|(_, share)| *share > 0)
        .map(|(part, share)| {
            [
                sectors(part.size.get()),
                share,
                percent(part.read),
                percent(random(job.access)),
                delay,
                burst,
                alignment(job, part.size, several),
                0,
            ]
        })
        .collect();
    if several && exact {
        let message = "its sizes are lines of a specification, drawn I/O by I/O";
        draft.differs(number, "block", message);
    } else if several {
        let message = format!(
            "its {} sizes are lines of a specification, each of whole percents",
            parts.len()
        );
        draft.lost(number, "block", message);
    }
    if several || delay > 0 || burst > 1 {
        draft.same(number, "lines");
    }
    if kept_apart(job, &lines) {
        draft.differs(
            number,
            "lines",
            "its alignment is that of a specification's line",
        );
        draft.same(number, "block");
    }
    lines
}

/// One size of I/Os that share it.
struct Part {
    weight: u64,
    size: Bytes,
    read: Percent,
}

/// The sizes of a job, each with its share of reads: those of all directions together where they are the same, otherwise
/// of each direction by itself.
fn parts(job: &Job) -> Vec<Part> {
    let used: Vec<Direction> = Direction::ALL
        .into_iter()
        .filter(|way| job.mix.share(*way) > Percent::ZERO)
        .collect();
    let lists: Vec<&[WeightedSize]> = used.iter().map(|way| job.block.of(*way)).collect();
    if let [first, rest @ ..] = lists.as_slice()
        && rest.iter().all(|list| list == first)
    {
        let part = |entry: &WeightedSize| Part {
            weight: entry.weight.into(),
            size: entry.size,
            read: job.mix.read,
        };
        return first.iter().map(part).collect();
    }
    let total = |list: &[WeightedSize]| -> u64 {
        let weights = list.iter().map(|entry| u64::from(entry.weight));
        weights.sum::<u64>().max(1)
    };
    let product: u64 = lists.iter().map(|list| total(list)).product();
    let of_way = |(way, list): (&Direction, &&[WeightedSize])| {
        let share = u64::from(job.mix.share(*way).basis_points());
        let scale = share.saturating_mul(product / total(list));
        let read = if *way == Direction::Read {
            Percent::ALL
        } else {
            Percent::ZERO
        };
        let part = move |entry: &WeightedSize| Part {
            weight: u64::from(entry.weight).saturating_mul(scale),
            size: entry.size,
            read,
        };
        list.iter().map(part).collect::<Vec<_>>()
    };
    used.iter().zip(&lists).flat_map(of_way).collect()
}

/// Shares in whole percent that add up to 100, and whether they are exactly those of the weights: what is left over goes to
/// those that lost most.
fn shares(weights: &[u64]) -> (Vec<u64>, bool) {
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let total = total.max(1);
    let of = |weight: &u64| u128::from(*weight) * 100;
    let mut shares: Vec<u64> = weights
        .iter()
        .map(|weight| (of(weight) / total) as u64)
        .collect();
    let mut by_rest: Vec<usize> = (0..weights.len()).collect();
    by_rest.sort_by_key(|at| std::cmp::Reverse(of(&weights[*at]) % total));
    let left = 100 - shares.iter().sum::<u64>().min(100);
    for at in by_rest.iter().cycle().take(left as usize) {
        shares[*at] += 1;
    }
    (shares, left == 0)
}

fn percent(share: Percent) -> u64 {
    u64::from(share.basis_points() + 50) / 100
}

fn random(access: Access) -> Percent {
    match access {
        Access::Random {
            coverage: Coverage::Independent | Coverage::EachBlockOnce,
            run: _,
        } => Percent::ALL,
        Access::Mixed { random } => random,
        Access::Sequential {
            gap: _,
            scope: SequentialScope::PerWorker | SequentialScope::Shared,
        } => Percent::ZERO,
    }
}

/// A size of disks, which have whole sectors.
fn sectors(bytes: u64) -> u64 {
    bytes.clamp(1, NUMBER_MAX).next_multiple_of(SECTOR)
}

/// Iometer has no gap between sequential I/Os, but moves each up to its alignment.
fn alignment(job: &Job, size: Bytes, several: bool) -> u64 {
    let found = match job.access {
        Access::Sequential { gap, .. } if gap > Bytes::ZERO && !several => {
            sectors(size.get().saturating_add(gap.get()))
        }
        Access::Sequential { .. } => SECTOR,
        Access::Random { .. } | Access::Mixed { .. } => {
            let smallest = job.block.smallest(job.mix);
            sectors(job.block.alignment.unwrap_or(smallest).get())
        }
    };
    // Sectors are what Iometer aligns to by itself.
    if found == SECTOR { 0 } else { found }
}

/// Whether one line is read as a line, since its size is no multiple of what it is aligned to.
fn kept_apart(job: &Job, lines: &Lines) -> bool {
    match (lines.as_slice(), job.access) {
        ([[size, _, _, random, _, _, align, _]], Access::Mixed { .. }) => {
            !matches!(random, 0 | 100) && !size.is_multiple_of((*align).max(SECTOR))
        }
        _ => false,
    }
}

/// Delay in milliseconds and I/Os of a burst: Iometer waits before each burst while what is in flight goes on.
fn pause(job: &Job, number: usize, draft: &mut Draft) -> (u64, u64) {
    let Some(ThinkTime {
        pause,
        spin,
        every,
        counts,
        after,
        // Iometer knows no rates.
        stops_rate: _,
    }) = job.features.think
    else {
        return (0, 1);
    };
    let delay = delay(pause);
    let is_said = Nanos::from_millis(delay) == pause
        && spin == Nanos::ZERO
        && after == Nanos::ZERO
        && counts == ThinkCounts::Issued;
    if is_said {
        let message = "its pauses are delays before bursts";
        draft.differs(number, "think", message);
    } else {
        let message =
            "delays before bursts are whole milliseconds, and what is in flight goes on meanwhile";
        draft.lost(number, "think", message);
    }
    (delay, every.clamp(1, NUMBER_MAX as u32).into())
}

fn delay(time: Nanos) -> u64 {
    time.get().div_ceil(1_000_000).min(DELAY_MAX)
}

/// Lines of a workload are those of a specification, but for weights and shares that are no whole percents.
fn of_lines(job: &Job, number: usize, draft: &mut Draft) -> Lines {
    let own = &job.features.lines;
    let weights: Vec<u64> = own.iter().map(|line| line.weight.into()).collect();
    let (shares, exact) = shares(&weights);
    if !exact || own.len() > LINES_MAX {
        let message = "the shares of its lines become whole percents";
        draft.lost(number, "lines", message);
    }
    let lines: Lines = own
        .iter()
        .zip(shares)
        .filter(|(_, share)| *share > 0)
        .map(|(line, share)| of_line(line, share))
        .collect();
    if let [[size, _, _, random, 0, 1, align, 0]] = lines.as_slice()
        && (matches!(random, 0 | 100) || size.is_multiple_of((*align).max(SECTOR)))
    {
        one_line(&own[0], number, draft);
    }
    lines
}

/// One line without delays, bursts and replies is read as any other job is.
fn one_line(line: &AccessLine, number: usize, draft: &mut Draft) {
    let whole = |share: Percent| share.basis_points().is_multiple_of(100);
    let is_exact = whole(line.read)
        && whole(line.random)
        && line.burst == 1
        && sectors(line.size.get()) == line.size.get();
    if is_exact {
        draft.differs(number, "lines", "its one line is plain I/O");
        for key in ["block", "access"] {
            draft.same(number, key);
        }
    } else {
        draft.lost(
            number,
            "lines",
            "its line becomes whole sectors and percents",
        );
    }
}

fn of_line(line: &AccessLine, share: u64) -> [u64; 8] {
    let AccessLine {
        weight: _,
        size,
        read,
        random,
        delay: wait,
        burst,
        alignment,
        reply,
        target: _,
    } = line;
    let align = sectors(alignment.unwrap_or(LINE_ALIGNMENT).get());
    [
        sectors(size.get()),
        share,
        percent(*read),
        percent(*random),
        delay(*wait),
        u64::from(*burst).clamp(1, NUMBER_MAX),
        if align == SECTOR { 0 } else { align },
        reply.map_or(0, |reply| sectors(reply.get())),
    ]
}
