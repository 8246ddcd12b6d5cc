//! Runs on files and devices: SDs, WDs and their RDs.

use std::fmt::Write as _;

use fathom_dialects::vdbench::{Crowd, crowd_of};
use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, BlockSizes, Caching, Direction, Distribution, Job, Limits, OpenSync, Pacing,
    Place, Poisson, SequentialScope, Stage, SyncPolicy, Target, WeightedSize, Zone,
};

use super::curve::{name_of, of_rates, points_behind, rate_of_last};
use super::general::General;
use super::joined::{is_joined, length_of};
use super::priorities::Priorities;
use super::sections::Kind;
use super::steps::Steps;
use super::{Writer, is_name, list, percent, quoted, size, whole};
use crate::draft::Draft;

impl Writer {
    /// The run of jobs that read and write files or devices of their own, with the points of its curve.
    pub(super) fn storage_run(&mut self, stages: &[Stage], index: usize, jobs: &[(usize, &Job)]) {
        let stage = &stages[index];
        let points = points_behind(stages, index);
        // A rate that stands with the run is none of its workloads.
        self.steps = Steps::of(jobs);
        let share = rate_of_last(stages, index);
        self.is_paced_apart = share.is_none() && self.steps.is_none();
        self.weights = all_weights(jobs);
        // Vdbench has streams in runs at full speed alone.
        let is_at_full_speed = share.is_none() && self.steps.is_none() && points.is_empty();
        let groups = groups_of(jobs, is_at_full_speed);
        self.priorities = self
            .is_paced_apart
            .then(|| Priorities::of(&groups))
            .flatten();
        let names = self.units_of(jobs, &groups);
        let compress = self.general.of_run(jobs);
        let rates = match (share, &self.steps) {
            (Some(share), _) => format!("{share}%"),
            (None, Some(steps)) => steps.rates.clone(),
            (None, None) => of_rates(points),
        };
        let varies = self.steps.take().map(|steps| steps.word);
        self.skew = None;
        let name = self.run_name(name_of(stage, share), index);
        let _ = writeln!(
            self.runs,
            "rd={name},{}{compress}",
            of_run((stage, &rates, varies), jobs, &names, points)
        );
        self.draft.stages[index].push(self.made);
        self.made += 1;
    }

    /// The WDs of a run, of each group of jobs one for all or one for each target; their names.
    fn units_of(&mut self, jobs: &[(usize, &Job)], groups: &[&[(usize, &Job)]]) -> Vec<String> {
        let mut names = Vec::new();
        let (mut at, mut place) = (0, 0);
        for group in groups {
            let [(number, job), ..] = group else {
                continue;
            };
            let streams = group.len();
            if streams > 1 {
                names.push(self.unit(jobs.len() > streams, (*number, job), 0, group));
                for (number, _) in *group {
                    self.draft.jobs[*number].push((self.made, place));
                    place += 1;
                }
            } else {
                self.tell(*number, job);
                self.skew = self.steps.as_ref().and_then(|steps| steps.skew(at));
                if self.steps.is_some() {
                    // The rates of the steps count in its place.
                    self.draft.same(*number, "arrival.rate");
                }
                for part in 0..parts_of(job) {
                    names.push(self.unit(jobs.len() > 1, (*number, job), part, group));
                    self.draft.jobs[*number].push((self.made, place));
                    place += 1;
                }
            }
            at += streams;
        }
        names
    }

    /// What becomes of a job as a whole.
    pub(super) fn tell(&mut self, number: usize, job: &Job) {
        if self.merged.contains(&number) {
            self.draft.same(number, "workers");
            self.draft.same(number, "depth");
        } else if job.workers > 1 {
            let message = format!(
                "{} workers become one queue of as many I/Os outstanding",
                job.workers
            );
            self.draft.lost(number, "workers", message);
            self.draft.same(number, "depth");
            // One queue has the rate of all workers.
            match bytes_lost(job) {
                Some(message) => self.draft.lost(number, "arrival.rate", message),
                None => self.draft.same(number, "arrival.rate"),
            }
        }
        if job.targets.len() > 1 && !is_joined(job) {
            let message = "Vdbench keeps its threads on each SD, not on all together";
            self.draft.lost(number, "target", message);
        }
        if self.general.joined && self.general.is_only_read(job) {
            let message = "Vdbench refuses SDs of `concatenatesds=yes` that no workload writes to";
            self.draft.lost(number, "placement.joined", message);
        }
    }

    /// A WD on its SD, for one target of a job or for all `streams` of a workload; its name.
    fn unit(
        &mut self,
        several: bool,
        (number, job): (usize, &Job),
        part: usize,
        streams: &[(usize, &Job)],
    ) -> String {
        let (wd, sd) = names_of(job, several, part);
        let fallback = if job.targets.len() > 1 {
            format!("{}_{part}", number + 1)
        } else {
            (number + 1).to_string()
        };
        let mut sds = vec![self.sd((number, job), part, streams, (sd, &format!("sd{fallback}")))];
        if is_joined(job) {
            let others = 1..job.targets.len();
            sds.extend(others.map(|part| {
                let fallback = format!("sd{}_{part}", number + 1);
                self.sd((number, job), part, streams, (None, &fallback))
            }));
        }
        let sd = list(&sds);
        let mut body = format!(",sd={sd}{}", of_work(job, number, &mut self.draft));
        if self.general.joined {
            let _ = write!(body, ",threads={}", threads(job, streams));
        }
        body.push_str(&self.host(job));
        if streams.len() > 1 {
            let _ = write!(body, ",streams={}", streams.len());
        }
        if let Some(rate) = rate(job, streams.len()).filter(|_| self.is_paced_apart) {
            let _ = write!(body, ",iorate={rate}");
        }
        if let Some(priorities) = &mut self.priorities {
            let _ = write!(body, ",priority={}", priorities.next(job));
        }
        if let (Some(all), Some(flow)) = (self.weights, job.features.flow) {
            let points = f64::from(flow.weight) * 1e6 / all as f64;
            let _ = write!(body, ",skew={}", points.round() / 1e4);
        }
        if let Some(skew) = self.skew {
            let _ = write!(body, ",skew={skew}");
        }
        self.sections
            .place(Kind::Wd, wd, &format!("wd{fallback}"), body, self.made)
    }

    /// The SD of one target of a job; its name, which is the wished one or the other.
    fn sd(
        &mut self,
        (number, job): (usize, &Job),
        part: usize,
        streams: &[(usize, &Job)],
        (wish, fallback): (Option<&str>, &str),
    ) -> String {
        let path = path_of(&job.targets[part].place, number, part, &mut self.draft);
        let mut body = format!(
            ",lun={}{}",
            quoted(&path),
            of_storage(&self.general, job, &path, (part, streams))
        );
        // The threads of SDs that are joined are their workload's.
        if !self.general.joined {
            let _ = write!(body, ",threads={}", threads(job, streams));
        }
        body.push_str(&open_flags(job));
        self.sections
            .place(Kind::Sd, wish, fallback, body, self.made)
    }
}

/// How many WDs a job is.
pub(super) fn parts_of(job: &Job) -> usize {
    if is_joined(job) { 1 } else { job.targets.len() }
}

/// The jobs of a run: all together where they are the streams of its only workload, else each alone.
fn groups_of<'j>(
    jobs: &'j [(usize, &'j Job)],
    is_at_full_speed: bool,
) -> Vec<&'j [(usize, &'j Job)]> {
    if is_at_full_speed && are_streams(jobs) {
        vec![jobs]
    } else {
        jobs.chunks(1).collect()
    }
}

/// The weights of all jobs of a run together, where they are as fast as they can be and held to shares of one flow.
fn all_weights(jobs: &[(usize, &Job)]) -> Option<u64> {
    let (_, first) = jobs.first()?;
    let id = first.features.flow?.id;
    let weight = |job: &Job| {
        let flow = job.features.flow?;
        let is_shared = flow.id == id && flow.pause == Nanos::ZERO;
        let is_one = job.workers == 1 && job.targets.len() == 1 && !job.name.contains('#');
        let is_closed = job.arrival == Arrival::Closed;
        (is_shared && is_one && is_closed).then_some(u64::from(flow.weight))
    };
    jobs.iter().map(|(_, job)| weight(job)).sum()
}

/// Whether jobs are the streams of one workload: pieces of one range one after another, each with as many threads.
fn are_streams(jobs: &[(usize, &Job)]) -> bool {
    let [(_, first), others @ ..] = jobs else {
        return false;
    };
    let (Some(base), [target]) = (first.name.strip_suffix("#0"), first.targets.as_slice()) else {
        return false;
    };
    let Some(length) = target.length else {
        return false;
    };
    let is_stream = |at: usize, job: &Job| {
        let own = Job {
            name: first.name.clone(),
            targets: first.targets.clone(),
            ..job.clone()
        };
        let from = length.get().saturating_mul(at as u64);
        let place = Target {
            offset: Bytes::new(target.offset.get().saturating_add(from)),
            ..target.clone()
        };
        job.name == format!("{base}#{at}") && job.targets == [place] && own == **first
    };
    let are_pieces = (1..).zip(others).all(|(at, (_, job))| is_stream(at, job));
    // Vdbench's streams know no offset.
    let begins = target.offset == first_used(target.place.path(), first);
    first.workers == 1 && !others.is_empty() && begins && are_pieces
}

/// Where a target is for Vdbench, which makes no fresh files.
fn path_of(place: &Place, number: usize, part: usize, draft: &mut Draft) -> String {
    match place {
        Place::Path(path) => path.clone(),
        Place::FileSet(set) => format!("{}/fathom-{number}-{part}.dat", set.anchor),
        Place::FreshFileIn(folder) => {
            let path = format!("{folder}/fathom-{number}-{part}.dat");
            let message =
                format!("a fresh file in `{folder}` is `{path}`, which Vdbench leaves there");
            draft.lost(number, "target", message);
            path
        }
    }
}

/// Names of a job's WD and SD: those that it is called by where it came from such a file, else its own name for what alone
/// tells it from others.
fn names_of(job: &Job, several: bool, part: usize) -> (Option<&str>, Option<&str>) {
    if part > 0 {
        return (None, None);
    }
    // A reader adds how many more SDs are joined, the host where several have the SD, and the number of a stream.
    let name = job.name.split(['+', '@', '#']).next().unwrap_or_default();
    let (wd, sd) = match name.split_once('/').filter(|_| several) {
        Some((wd, sd)) => (Some(wd), Some(sd)),
        None if several => (Some(name), None),
        None => (None, Some(name)),
    };
    (
        wd.filter(|name| is_name(name)),
        sd.filter(|name| is_name(name)),
    )
}

/// Vdbench leaves the first block of a device alone.
fn first_used(path: &str, job: &Job) -> Bytes {
    if path.starts_with("/dev/") {
        job.block.largest(job.mix)
    } else {
        Bytes::ZERO
    }
}

fn of_storage(
    general: &General,
    job: &Job,
    path: &str,
    (part, streams): (usize, &[(usize, &Job)]),
) -> String {
    let target = &job.targets[part];
    let largest = job.block.largest(job.mix);
    let first = first_used(path, job);
    let mut text = String::new();
    let offset = target.offset.saturating_sub(first);
    if let Some(length) = target.length {
        let all = length.get().saturating_mul(streams.len() as u64);
        let end = all.saturating_add(first.get());
        // Vdbench counts it from the start of the file, and uses whole transfers of it; it joins no SDs with offsets.
        let end = if offset > Bytes::ZERO && !general.joined {
            let end = end.saturating_add(offset.get());
            end.checked_next_multiple_of(largest.get()).unwrap_or(end)
        } else {
            end
        };
        let _ = write!(text, ",size={}", size(end));
    }
    if offset > Bytes::ZERO {
        let _ = write!(text, ",offset={}", size(offset.get()));
    }
    if let Some(alignment) = job.block.alignment {
        let _ = write!(text, ",align={}", size(alignment.get()));
    }
    if let Some(hits) = hits(job) {
        let _ = write!(text, ",hitarea={}", size(hits.area.get()));
    }
    text
}

/// I/Os outstanding of a job, or of all `streams` of a workload.
fn threads(job: &Job, streams: &[(usize, &Job)]) -> u32 {
    let depth: u32 = if streams.len() > 1 {
        streams.iter().map(|(_, job)| job.depth).sum()
    } else {
        job.depth
    };
    depth.saturating_mul(job.workers)
}

/// How files are opened.
pub(super) fn open_flags(job: &Job) -> String {
    let SyncPolicy {
        open,
        // Vdbench flushes when it closes, or never.
        fsync_every: _,
        fdatasync_every: _,
        at_end: _,
        on_close,
    } = job.sync;
    let flags = [
        (job.caching == Caching::Direct, "o_direct"),
        (open != OpenSync::None, "o_dsync"),
        (on_close, "fsync"),
    ];
    let flags: Vec<String> = flags
        .into_iter()
        .filter(|(used, _)| *used)
        .map(|(_, flag)| flag.to_owned())
        .collect();
    if flags.is_empty() {
        return String::new();
    }
    format!(",openflags={}", list(&flags))
}

/// Hits on the first part of an SD, in percent.
struct Hits {
    area: Bytes,
    reads: u32,
    writes: u32,
}

/// The hits that a job's zones are: two zones that are the whole target, of the same sizes for reads and writes.
fn hits(job: &Job) -> Option<Hits> {
    let rules = job.features.placement.as_deref()?;
    let length = length_of(job)?;
    let zones = |distribution: &Distribution| match distribution {
        Distribution::ZonedAbsolute(zones) => match zones.as_slice() {
            [
                Zone { access, size },
                Zone {
                    access: rest,
                    size: others,
                },
            ] if access + rest == 100 && size.get().saturating_add(others.get()) == length => {
                Some((*size, *access))
            }
            _ => None,
        },
        _ => None,
    };
    let [reads, writes, _] = &rules.distribution;
    let ((area, reads), (other, writes)) = (zones(reads)?, zones(writes)?);
    (area == other).then_some(Hits {
        area,
        reads,
        writes,
    })
}

fn of_work(job: &Job, number: usize, draft: &mut Draft) -> String {
    let mut text = format!(
        ",{},rdpct={}",
        sizes(&job.block, job),
        percent(job.mix.read)
    );
    if job.mix.trim > Percent::ZERO {
        draft.lost(
            number,
            "mix",
            "Vdbench does not trim; the trims are written as writes",
        );
    }
    match job.access {
        Access::Random {
            coverage: _,
            run: _,
        } => match crowd(job) {
            Some(Crowd::Poisson(midpoint)) => {
                let _ = write!(text, ",seekpct=(poisson,{midpoint})");
            }
            Some(Crowd::HotBand) => text.push_str(",seekpct=100,hotband=(0,100)"),
            None => text.push_str(",seekpct=100"),
        },
        Access::Mixed { random } => {
            let _ = write!(text, ",seekpct={}", percent(random));
        }
        Access::Sequential {
            gap,
            scope: SequentialScope::PerWorker | SequentialScope::Shared,
        } => match (gap, ends_at_eof(job)) {
            (Bytes::ZERO, true) => text.push_str(",seekpct=eof"),
            (Bytes::ZERO, false) => text.push_str(",seekpct=0"),
            (gap, _) => {
                let gap = size(gap.get());
                let _ = write!(text, ",seekpct=100,stride=({gap},{gap})");
            }
        },
    }
    if let Some(Hits { reads, writes, .. }) = hits(job) {
        let _ = write!(text, ",rhpct={reads},whpct={writes}");
    }
    text
}

/// How a job's addresses crowd, where that is not by hits.
fn crowd(job: &Job) -> Option<Crowd> {
    let rules = job.features.placement.as_deref()?;
    if hits(job).is_some() {
        return None;
    }
    let of = |way: Direction| job.moves(way).then(|| rules.distribution_of(way));
    let block = job.block.largest(job.mix).get();
    crowd_of(
        [of(Direction::Read), of(Direction::Write)],
        (length_of(job)?, block),
    )
}

/// Whether a job goes through its target once.
fn ends_at_eof(job: &Job) -> bool {
    matches!(job.access, Access::Sequential { .. })
        && !job.limits.time_based
        && job.limits.bytes.is_none()
}

/// What becomes of a rate of bytes that is no whole number of I/Os of all workers: Vdbench's rates are such numbers.
fn bytes_lost(job: &Job) -> Option<String> {
    let Arrival::Open {
        rate: Pacing::Bytes(each),
        ..
    } = job.arrival
    else {
        return None;
    };
    let written = rate(job, 1)?;
    let all = u128::from(each.get()) * u128::from(job.workers);
    let largest = job.block.largest(job.mix);
    let became = u128::from(written) * u128::from(largest.get());
    (became != all || !is_of_one_size(job)).then(|| {
        format!(
            "{each} of each of {} workers become {written} I/Os a second of all: Vdbench's `iorate` counts whole I/Os",
            job.workers
        )
    })
}

/// Whether all I/Os of a job have one size.
fn is_of_one_size(job: &Job) -> bool {
    let largest = job.block.largest(job.mix);
    let used = Direction::ALL.iter().filter(|way| job.moves(**way));
    used.flat_map(|way| job.block.of(*way))
        .all(|sized| sized.size == largest)
}

/// I/Os a second of all workers and streams.
fn rate(job: &Job, streams: usize) -> Option<u64> {
    let Arrival::Open {
        rate,
        poisson: _,
        when_full: _,
    } = job.arrival
    else {
        return None;
    };
    let of_all = |rate: u64| {
        let workers = rate.saturating_mul(job.workers.into());
        workers.saturating_mul(streams as u64).max(1)
    };
    Some(match rate {
        Pacing::Iops(iops) => of_all(iops.get()),
        Pacing::Bytes(bytes) => of_all(bytes.get()) / job.block.largest(job.mix).get().max(1),
    })
    .map(|rate| rate.max(1))
}

/// Sizes of transfers, with their shares.
pub(super) fn sizes(block: &BlockSizes, job: &Job) -> String {
    let BlockSizes {
        read,
        write,
        trim: _,
        // Stands with the SD.
        alignment: _,
    } = block;
    let list = if job.mix.read > Percent::ZERO {
        read
    } else {
        write
    };
    if let [only] = list.as_slice() {
        return format!("xfersize={}", size(only.size.get()));
    }
    format!("xfersize=({})", shares(list))
}

/// Sizes with their shares in percent, which add up to 100.
pub(super) fn shares(list: &[WeightedSize]) -> String {
    let total: u64 = list.iter().map(|entry| u64::from(entry.weight)).sum();
    let mut left = 10_000;
    let mut parts = Vec::new();
    for (place, entry) in list.iter().enumerate() {
        let points = u64::from(entry.weight) * 10_000 / total.max(1);
        let points = if place + 1 == list.len() {
            left
        } else {
            points.min(left)
        };
        left -= points;
        parts.push(format!(
            "{},{}",
            size(entry.size.get()),
            points as f64 / 100.0
        ));
    }
    parts.join(",")
}

/// The times of a run are those of its longest job.
fn of_run(
    (stage, rates, varies): (&Stage, &str, Option<&str>),
    jobs: &[(usize, &Job)],
    names: &[String],
    points: &[Stage],
) -> String {
    let limits = |of: fn(&Limits) -> u64| {
        jobs.iter()
            .map(|(_, job)| of(&job.limits))
            .max()
            .unwrap_or(0)
    };
    let warmup = limits(|limits| limits.warmup.get().div_ceil(1_000_000_000));
    let elapsed = limits(|limits| {
        limits
            .runtime
            .map_or(30, |time| time.get().div_ceil(1_000_000_000))
    });
    let work = list(names);
    let mut text = format!("wd={work},iorate={rates},interval=1");
    // Shared out over the streams of a workload. What a warm-up moves would not count.
    let bytes = match (names.len(), jobs) {
        (1, [(_, job), ..]) if warmup == 0 => job.limits.bytes,
        _ => None,
    };
    let maxdata = bytes.map(|bytes| bytes.get().saturating_mul(jobs.len() as u64));
    let ends_early = maxdata.is_some() || jobs.iter().any(|(_, job)| ends_at_eof(job));
    // A run has two intervals at least. Without a warm-up, the first is left out of what is measured.
    let elapsed = match (warmup, elapsed) {
        (0, elapsed) if ends_early => elapsed.max(2),
        (0, elapsed) => elapsed.max(1) + 1,
        (1, 0 | 1) if !ends_early => 2,
        (warmup, elapsed) => {
            let _ = write!(text, ",warmup={warmup}");
            elapsed.max(2)
        }
    };
    let _ = write!(text, ",elapsed={elapsed}");
    if stage.cooldown > Nanos::ZERO {
        let _ = write!(text, ",pause={}", whole(stage.cooldown));
    }
    let of_points = points.first().map_or(&[][..], |point| &point.jobs);
    let all = jobs.iter().map(|(_, job)| *job).chain(of_points);
    let paced = { all }.find_map(|job| match job.arrival {
        Arrival::Open {
            rate: _,
            poisson,
            when_full: _,
        } => Some(poisson),
        Arrival::Closed => None,
    });
    let gaps = paced.map(|gaps| match gaps {
        Poisson::Fixed => "deterministic",
        Poisson::Uniform => "uniform",
        Poisson::Exponential => "exponential",
    });
    let words = gaps.into_iter().chain(varies).map(str::to_owned);
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let _ = write!(text, ",distribution={}", list(&words));
    }
    if let Some(all) = maxdata {
        let _ = write!(text, ",maxdata={}", size(all));
    }
    text
}
