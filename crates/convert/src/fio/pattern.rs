//! `rw` and what belongs to it: directions, order, sizes and rates.

use fathom_units::{BytesPerSec, Iops, Percent};
use fathom_workload::{
    Access, Arrival, BlockSizes, Coverage, Direction, DirectionRates, Distribution, FileOperation,
    Job, Mix, Pacing, Placement, Poisson, SequentialScope, SizeDraw, WeightedSize, WhenFull,
};

use super::section::Section;
use super::{placement, size, triple};
use crate::draft::Draft;
use crate::zones;

/// Adds the options of a job's pattern.
pub fn put(job: &Job, number: usize, section: &mut Section, draft: &mut Draft) {
    let rules = job.features.placement.as_deref();
    let pairs = rules.is_some_and(|rules| rules.trim_then_write);
    let (word, share) = directions(job, pairs, number, draft);
    if job
        .features
        .operation
        .is_some_and(FileOperation::is_of_names)
    {
        // Each file gets one operation, whatever its blocks.
        section.put("rw", word);
        return sizes(&job.block, None, false, section);
    }
    let random = !matches!(job.access, Access::Sequential { .. });
    let word = if random {
        format!("rand{word}")
    } else {
        word.to_owned()
    };
    match order(job, rules, number, draft) {
        Some(postfix) => section.put("rw", format!("{word}:{postfix}")),
        None => section.put("rw", word),
    }
    if let Some(share) = share {
        section.put("rwmixread", share.to_string());
    }
    match job.access {
        Access::Random { coverage, run: _ } => {
            let length = zones::length(job);
            let drawn = rules.is_some_and(|rules| {
                placement::distributions(&rules.distribution, length).is_some()
            });
            let is_uniform =
                rules.is_none_or(|rules| rules.distribution.iter().all(Distribution::is_uniform));
            if !drawn && !is_uniform {
                let message =
                    "fio ends where zones exceed the file: give the target a size that they fit";
                draft.lost(number, "placement", message);
            }
            section.put_if(
                coverage == Coverage::Independent && !drawn,
                "norandommap",
                "1",
            );
        }
        Access::Mixed { random } => {
            section.put("norandommap", "1");
            section.put("percentage_random", whole(random).to_string());
            let message = "`percentage_random` draws for each direction by itself";
            draft.differs(number, "access", message);
            draft.same(number, "placement");
        }
        Access::Sequential { gap: _, scope } => {
            if scope == SequentialScope::Shared {
                let message = "jobs of fio share no position: each goes through the whole file";
                draft.lost(number, "access", message);
            }
        }
    }
    sizes(&job.block, rules, random, section);
    if let Some(rules) = rules {
        placement::put(rules, random, zones::length(job), section);
    }
    rates(job, section, number, draft);
}

/// The word of `rw` without `rand`, and the share of reads.
fn directions(
    job: &Job,
    pairs: bool,
    number: usize,
    draft: &mut Draft,
) -> (&'static str, Option<u32>) {
    let Mix { read, write, trim } = job.mix;
    let used = [read, write, trim].map(|share| share > Percent::ZERO);
    match used {
        _ if pairs => ("trimwrite", None),
        [_, false, false] => ("read", None),
        [false, true, false] => ("write", None),
        [false, false, true] => ("trim", None),
        [false, true, true] => {
            draft.lost(
                number,
                "mix",
                "fio trims and writes in pairs: half and half, each block once",
            );
            draft.lost(
                number,
                "placement",
                "fio trims each block, and then writes it",
            );
            ("trimwrite", None)
        }
        [true, false, true] => {
            draft.lost(
                number,
                "mix",
                "fio mixes no trims with reads; they are left out",
            );
            ("read", None)
        }
        [true, true, has_trims] => {
            if has_trims {
                draft.lost(
                    number,
                    "mix",
                    "fio mixes no trims with reads and writes; they are left out",
                );
            }
            ("rw", Some(whole(read)))
        }
    }
}

/// A share in whole percent, as fio has them.
fn whole(share: Percent) -> u32 {
    (share.basis_points() + 50) / 100
}

/// What stands behind the word of `rw`.
fn order(job: &Job, rules: Option<&Placement>, number: usize, draft: &mut Draft) -> Option<String> {
    match job.access {
        Access::Random { coverage: _, run } => (run > 1).then(|| run.to_string()),
        Access::Mixed { random: _ } => None,
        Access::Sequential { gap, scope: _ } => {
            let gap = i64::try_from(gap.get()).unwrap_or(i64::MAX);
            let step = rules.map_or(gap, |rules| rules.skip);
            if step < 0 && gap == 0 {
                return Some(step.to_string());
            }
            if step < 0 {
                draft.differs(
                    number,
                    "access",
                    "the step back of the placement is in force",
                );
            }
            (step != 0).then(|| size_with_sign(step))
        }
    }
}

fn size_with_sign(step: i64) -> String {
    let text = size(step.unsigned_abs());
    if step < 0 { format!("-{text}") } else { text }
}

/// How the sizes of one direction are said.
enum Sizes {
    One(u64),
    Split(Vec<(u64, u32)>),
    Range(u64, u64),
}

impl Sizes {
    fn of_list(list: &[WeightedSize]) -> Self {
        let drawn: Vec<_> = list.iter().filter(|entry| entry.weight > 0).collect();
        match drawn.as_slice() {
            [] => Self::One(4096),
            [only] => Self::One(only.size.get()),
            several => Self::Split(in_percent(several)),
        }
    }

    fn of_draw(draw: &SizeDraw) -> Self {
        match draw {
            SizeDraw::List(list) => Self::of_list(list),
            SizeDraw::Range(range) => Self::Range(range.least.get(), range.most.get()),
        }
    }
}

/// Weights in whole percent; what rounding leaves over goes to the last.
fn in_percent(list: &[&WeightedSize]) -> Vec<(u64, u32)> {
    let total: u64 = list.iter().map(|entry| u64::from(entry.weight)).sum();
    let mut left = 100;
    let mut shares = Vec::new();
    for (place, entry) in list.iter().enumerate() {
        let share = (u64::from(entry.weight) * 100 / total.max(1)) as u32;
        let share = if place + 1 == list.len() {
            left
        } else {
            share.min(left)
        };
        left -= share;
        shares.push((entry.size.get(), share.max(1)));
    }
    shares
}

/// `bs`, `bssplit` and `bsrange`, and `ba`.
fn sizes(block: &BlockSizes, rules: Option<&Placement>, random: bool, section: &mut Section) {
    let BlockSizes {
        read,
        write,
        trim,
        alignment,
    } = block;
    let by_order = rules.and_then(|rules| rules.by_order.as_ref());
    let lists = [read, write, trim];
    let sizes: [Sizes; 3] =
        std::array::from_fn(
            |way| match (by_order, rules.and_then(|rules| rules.ranges[way])) {
                (Some(draws), _) => Sizes::of_draw(&draws[way.min(1)]),
                (None, Some(range)) => Sizes::Range(range.least.get(), range.most.get()),
                (None, None) => Sizes::of_list(lists[way]),
            },
        );
    let one = |way: &Sizes| match way {
        Sizes::One(bytes) | Sizes::Range(_, bytes) => size(*bytes),
        Sizes::Split(list) => list
            .first()
            .map_or_else(String::new, |(bytes, _)| size(*bytes)),
    };
    let range = |way: &Sizes| match way {
        Sizes::One(bytes) => format!("{0}-{0}", size(*bytes)),
        Sizes::Range(least, most) => format!("{}-{}", size(*least), size(*most)),
        Sizes::Split(list) => {
            let all = list.iter().map(|(bytes, _)| *bytes);
            format!(
                "{}-{}",
                size(all.clone().min().unwrap_or(1)),
                size(all.max().unwrap_or(1))
            )
        }
    };
    let split = |way: &Sizes| match way {
        Sizes::One(bytes) | Sizes::Range(bytes, _) => format!("{}/100", size(*bytes)),
        Sizes::Split(list) => {
            let entries = list
                .iter()
                .map(|(bytes, share)| format!("{}/{share}", size(*bytes)));
            entries.collect::<Vec<_>>().join(":")
        }
    };
    let any = |test: fn(&Sizes) -> bool| sizes.iter().any(test);
    if any(|way| matches!(way, Sizes::Range(..))) {
        section.put("bsrange", triple(sizes.each_ref().map(range)));
    } else if any(|way| matches!(way, Sizes::Split(_))) {
        section.put("bssplit", triple(sizes.each_ref().map(split)));
    } else {
        section.put("bs", triple(sizes.each_ref().map(one)));
    }
    if let Some(alignment) = alignment.filter(|_| random) {
        let own = rules.map_or([None; 3], |rules| rules.alignment);
        section.put(
            "ba",
            triple(own.map(|own| size(own.unwrap_or(alignment).get()))),
        );
    }
}

/// The rate that fio holds each direction to.
pub fn held(job: &Job) -> [Option<Pacing>; 3] {
    if let Some(rates) = &job.features.rates {
        return rates.rates;
    }
    match job.arrival {
        Arrival::Open {
            rate: Pacing::Iops(iops),
            ..
        } => parts(job, iops.get()).map(|part| Some(Pacing::Iops(Iops::new(part)))),
        Arrival::Open {
            rate: Pacing::Bytes(bytes),
            ..
        } => parts(job, bytes.get()).map(|part| Some(Pacing::Bytes(BytesPerSec::new(part)))),
        Arrival::Closed => [None; 3],
    }
}

/// How many directions a job goes.
fn ways(job: &Job) -> usize {
    let shares = Direction::ALL.map(|way| job.mix.share(way));
    shares
        .iter()
        .filter(|share| **share > Percent::ZERO)
        .count()
}

/// A rate of the whole job by direction.
fn parts(job: &Job, total: u64) -> [u64; 3] {
    let share = |way: Direction| {
        let points = u128::from(job.mix.share(way).basis_points());
        (u128::from(total) * points / 10_000) as u64
    };
    if ways(job) > 1 {
        Direction::ALL.map(share)
    } else {
        [total; 3]
    }
}

fn rates(job: &Job, section: &mut Section, number: usize, draft: &mut Draft) {
    let mixed = [job.mix.read, job.mix.write]
        .iter()
        .all(|share| *share > Percent::ZERO);
    let halves = |rates: &DirectionRates| rates.rates[0].is_some() != rates.rates[1].is_some();
    if job.features.verify.is_some() && mixed && job.features.rates.as_ref().is_some_and(halves) {
        let message = "fio checks no job with a rate for one direction alone";
        draft.lost(number, "rates", message);
        return draft.lost(number, "arrival", message);
    }
    if let Some(DirectionRates { rates, poisson }) = job.features.rates {
        let kind = |by_ios: bool| {
            rates.map(|rate| match rate {
                Some(Pacing::Iops(iops)) if by_ios => iops.get(),
                Some(Pacing::Bytes(bytes)) if !by_ios => bytes.get(),
                _ => 0,
            })
        };
        let (ios, bytes) = (kind(true), kind(false));
        if ios != [0; 3] {
            section.put("rate_iops", triple(ios.map(|rate| rate.to_string())));
        } else if bytes != [0; 3] {
            section.put("rate", triple(bytes.map(size)));
        }
        section.put_if(poisson == Poisson::Exponential, "rate_process", "poisson");
        return;
    }
    let Arrival::Open {
        rate,
        poisson,
        // The only rule there is.
        when_full: WhenFull::Queue,
    } = job.arrival
    else {
        return;
    };
    match rate {
        Pacing::Iops(iops) => section.put(
            "rate_iops",
            triple(parts(job, iops.get()).map(|rate| rate.to_string())),
        ),
        Pacing::Bytes(bytes) => section.put("rate", triple(parts(job, bytes.get()).map(size))),
    }
    if ways(job) > 1 {
        let message = "fio holds each direction to its share of the rate by itself";
        draft.differs(number, "rates", message);
    }
    section.put_if(poisson == Poisson::Exponential, "rate_process", "poisson");
}
