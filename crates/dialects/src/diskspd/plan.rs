//! From a profile to stages of jobs.
//!
//! Each target is a job of its own whose workers are the threads on it, since DISKSPD keeps its outstanding I/Os on every
//! target; with a stride between threads, each thread is a job, since it begins elsewhere. Where each outstanding I/O has
//! a position of its own (`-p`), each is a worker. Threads that share their I/Os out among targets (`-O`) are jobs with
//! several targets. The cool-down is a stage of its own that is not reported: the same jobs once more, so that nothing of it
//! can stand in what was measured.

use std::collections::BTreeMap;

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    Access, AccessLine, Advice, Arrival, Backend, BlockSizes, BufferContents, Caching, Calls,
    Coverage, Distribution, ExistingFiles, Features, FileChoice, FileHandling, Filling, IoLog, Job,
    Limits, Mix, OpenSync, Pacing, Pattern, Place, Placement, Poisson, Process, ProcessorSharing,
    ReportGroup, SequentialScope, Stage, SyncPolicy, Target as Used, ThinkCounts, ThinkTime,
    ThreadPriority, WhenFull, Workload, Zone,
};

use super::WorkerPlace;
use super::check::overlaps;
use super::fit::is_device;
use super::settings::{Cache, Contents, Format, Profile, Span, SpreadUnit, Target, Throttle};

/// Bytes of the files that fill what is written, by their names.
pub type Sources = BTreeMap<String, Vec<u8>>;

/// The rest of a target past absolute ranges: more than any target has.
const REST: u64 = 1 << 62;
/// What each target counts for in a distribution over the targets of a job.
const TARGET_UNITS: u64 = 1024;

/// The workload, and for each stage where each of its workers belongs, job by job.
pub fn build(profile: &Profile, sources: &Sources) -> (Workload, Vec<Vec<WorkerPlace>>) {
    let seed = profile.spans.first().map_or(0, |span| span.seed);
    let mut places = Vec::new();
    let mut stages = Vec::new();
    for (index, span) in profile.spans.iter().enumerate() {
        let plan = Plan {
            span,
            sources,
            log: log(profile, span),
            salt: span.seed ^ seed,
        };
        let (jobs, of_span) = if span.shares_requests() && span.targets.len() > 1 {
            plan.shared()
        } else {
            plan.apart()
        };
        places.push(of_span);
        let name = format!("timespan {}", index + 1);
        let cooling = cooling(&jobs, span.cooldown);
        let cooling = cooling.map(|jobs| stage(format!("{name}, cool-down"), jobs));
        stages.push(stage(name, jobs));
        if let Some(cooling) = cooling {
            places.push(Vec::new());
            stages.push(Stage {
                discard: true,
                ..cooling
            });
        }
    }
    (Workload { stages, seed }, places)
}

fn stage(name: String, jobs: Vec<Job>) -> Stage {
    Stage {
        name,
        jobs,
        cooldown: Nanos::ZERO,
        repeats: 1,
        discard: false,
        rate_from: None,
    }
}

/// What goes on for so many seconds after `jobs` were measured, if any: the same, of which nothing is told.
pub fn cooling(jobs: &[Job], seconds: u64) -> Option<Vec<Job>> {
    let goes_on = |job: &Job| {
        let mut job = job.clone();
        job.limits.warmup = Nanos::ZERO;
        job.limits.runtime = Some(Nanos::from_secs(seconds));
        job.features.io_log = IoLog::default();
        job
    };
    (seconds > 0).then(|| jobs.iter().map(goes_on).collect())
}

/// What is told of I/O while it runs: each I/O where a thread's share of each target is to be known, buckets for `-D`.
fn log(profile: &Profile, span: &Span) -> IoLog {
    let bucket = span.deviation.then(|| Nanos::from_millis(span.bucket_ms));
    if span.shares_requests() && span.targets.len() > 1 {
        return IoLog {
            each: true,
            ..IoLog::default()
        };
    }
    match profile.format {
        Format::Text => IoLog {
            window: bucket,
            ..IoLog::default()
        },
        Format::Xml => IoLog {
            histogram: bucket,
            ..IoLog::default()
        },
    }
}

struct Plan<'a> {
    span: &'a Span,
    sources: &'a Sources,
    log: IoLog,
    salt: u64,
}

impl Plan<'_> {
    /// Jobs of one target each.
    fn apart(&self) -> (Vec<Job>, Vec<WorkerPlace>) {
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        let mut first = 0u32;
        for (index, target) in self.span.targets.iter().enumerate() {
            let threads = self.span.threads_on(target);
            let slots = if target.parallel {
                self.span.depth(target)
            } else {
                1
            };
            let one = |thread: u32| WorkerPlace {
                thread: first.saturating_add(thread),
                targets: vec![index],
            };
            let of_target =
                (0..threads).flat_map(|thread| std::iter::repeat_n(thread, slots as usize));
            places.extend(of_target.map(one));
            let depth = if target.parallel {
                1
            } else {
                self.span.depth(target)
            };
            let used = |start: u64| vec![used(target, start)];
            match target.thread_stride {
                None => {
                    let workers = threads.saturating_mul(slots);
                    jobs.push(self.job(target, used(0), (workers, depth), (first, slots)));
                }
                Some(stride) => jobs.extend((0..threads).map(|thread| {
                    let start = stride.saturating_mul(u64::from(thread));
                    let of_thread = (first.saturating_add(thread), slots);
                    self.job(target, used(start), (slots, depth), of_thread)
                })),
            }
            if self.span.pool.is_none() {
                first = first.saturating_add(threads);
            }
        }
        (jobs, places)
    }

    /// Jobs whose threads share their I/Os out among targets, by weight: all threads alike, or each by itself where
    /// targets name their threads.
    fn shared(&self) -> (Vec<Job>, Vec<WorkerPlace>) {
        let threads = self.span.pool.unwrap_or(1);
        let depth = self.span.requests.unwrap_or(1);
        let all_alike = self
            .span
            .targets
            .iter()
            .all(|it| it.pool_threads.is_empty());
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        let groups = if all_alike { 1 } else { threads };
        for group in 0..groups {
            let weights = self.weights(group);
            let chosen: Vec<usize> = weights.iter().map(|(index, _)| *index).collect();
            let Some(target) = chosen.first().map(|first| &self.span.targets[*first]) else {
                continue;
            };
            let workers = threads / groups;
            places.extend((0..workers).map(|worker| WorkerPlace {
                thread: group + worker,
                targets: chosen.clone(),
            }));
            let targets = chosen
                .iter()
                .map(|index| used(&self.span.targets[*index], 0));
            let mut job = self.job(target, targets.collect(), (workers, depth), (group, 1));
            let files = chosen.iter().map(|index| &self.span.targets[*index]);
            job.features.files.must_exist = files.clone().all(|it| created(it).is_none());
            job.file_choice = FileChoice::Random;
            let several = chosen.len() > 1;
            if several && overlaps(target) {
                job.features.placement = Some(Box::new(Placement {
                    skip: skip(target),
                    ..Placement::default()
                }));
            }
            if several && let Some(share) = target.random.filter(|share| *share < 100) {
                // Each target keeps its own position.
                job.features.placement = Some(Box::new(at_random(target, share)));
                job.access = independent();
            }
            let lines = lines(&weights, &self.span.targets);
            if !lines.is_empty() {
                job.features.placement = None;
                job.file_choice = FileChoice::RoundRobin;
                job.set_lines(lines);
            } else if let Some(choice) = choice(&weights, target) {
                let rules = match target.random {
                    Some(share) => {
                        job.access = independent();
                        at_random(target, share)
                    }
                    None => Placement {
                        skip: skip(target),
                        ..Placement::default()
                    },
                };
                job.features.placement = Some(Box::new(Placement {
                    target_distribution: choice,
                    ..rules
                }));
            }
            jobs.push(job);
        }
        (jobs, places)
    }

    /// Targets of the thread `thread` with their weights.
    fn weights(&self, thread: u32) -> Vec<(usize, u32)> {
        let targets = self.span.targets.iter().enumerate();
        let weights = targets.filter_map(|(index, target)| {
            let own = target.pool_threads.iter().find(|(one, _)| *one == thread);
            match own {
                Some((_, weight)) => Some((index, weight.unwrap_or(target.weight))),
                None if target.pool_threads.is_empty() => Some((index, target.weight)),
                None => None,
            }
        });
        weights.collect()
    }

    fn job(
        &self,
        target: &Target,
        targets: Vec<Used>,
        (workers, depth): (u32, u32),
        threads: (u32, u32),
    ) -> Job {
        Job {
            name: target.path.clone(),
            group: ReportGroup::default(),
            host: None,
            targets,
            file_choice: FileChoice::RoundRobin,
            workers,
            depth,
            mix: Mix::reads(Percent::whole(100 - target.writes).unwrap_or(Percent::ALL)),
            access: access(target),
            block: BlockSizes {
                alignment: target.random.map(|_| Bytes::new(target.step())),
                ..BlockSizes::uniform(Bytes::new(target.block))
            },
            arrival: arrival(target, threads.1),
            limits: Limits {
                warmup: Nanos::from_secs(self.span.warmup),
                runtime: Some(Nanos::from_secs(self.span.duration)),
                time_based: true,
                ..Limits::default()
            },
            sync: SyncPolicy {
                open: if target.write_through {
                    OpenSync::Dsync
                } else {
                    OpenSync::None
                },
                fdatasync_every: u32::from(target.flush.is_some()),
                ..SyncPolicy::default()
            },
            contents: match &target.contents {
                Contents::Zeroes => BufferContents::Zeroes,
                Contents::Counting if self.span.fresh_data => BufferContents::RandomEachWrite,
                Contents::Counting | Contents::Source { .. } => BufferContents::RandomStamped,
            },
            backend: match (target.mapped, depth) {
                (true, _) => Backend::Mmap,
                (false, 1) => Backend::Sync,
                (false, _) => Backend::IoUring,
            },
            caching: caching(target),
            existing: ExistingFiles::AsPeer,
            split_latency: false,
            drop_cache: false,
            unlink: false,
            salt: self.salt,
            features: self.features(target, threads),
        }
    }

    /// `threads`: the first thread's number, and workers of each thread.
    fn features(&self, target: &Target, threads: (u32, u32)) -> Features {
        Features {
            think: think(self.span, target, threads.1),
            placement: placement(target).map(Box::new),
            filling: self.filling(target).map(Box::new),
            io_log: self.log,
            process: Process {
                processors: self.processors(threads),
                sharing: if self.span.processors.is_empty() {
                    ProcessorSharing::Shared
                } else {
                    ProcessorSharing::Split
                },
                io_priority: match target.priority {
                    1 => Some((3, 0)),
                    2 => Some((2, 7)),
                    _ => None,
                }
                .map(|(class, level)| ThreadPriority {
                    class,
                    level,
                    hint: 0,
                }),
                ..Process::default()
            },
            calls: Calls {
                advice: advice(target),
                ..Calls::default()
            },
            files: FileHandling {
                must_exist: created(target).is_none(),
                ..FileHandling::default()
            },
            ..Features::default()
        }
    }

    /// The processors of a job's workers: the list in turn, from the job's first thread on.
    fn processors(&self, (first, slots): (u32, u32)) -> Vec<u32> {
        let mut list: Vec<u32> = self.span.processors.iter().map(|(_, cpu)| *cpu).collect();
        if !list.is_empty() {
            let turn = first as usize % list.len();
            list.rotate_left(turn);
        }
        let list = list.into_iter();
        list.flat_map(|cpu| std::iter::repeat_n(cpu, slots as usize))
            .collect()
    }

    fn filling(&self, target: &Target) -> Option<Filling> {
        if target.writes == 0 {
            return None;
        }
        match &target.contents {
            Contents::Counting if !self.span.fresh_data => {
                let pattern = Pattern::new((0..=u8::MAX).collect(), Vec::new())?;
                Some(Filling {
                    pattern: Some(pattern),
                    ..Filling::default()
                })
            }
            Contents::Source {
                file: Some(file), ..
            } => {
                let pattern = Pattern::new(self.sources.get(file)?.clone(), Vec::new())?;
                Some(Filling {
                    pattern: Some(pattern),
                    anywhere: true,
                    ..Filling::default()
                })
            }
            _ => None,
        }
    }
}

/// Hints on the order of access, which only mean something to the page cache.
fn advice(target: &Target) -> Advice {
    let hinted = |letter| target.hints.contains(&letter);
    let cached = target.mapped || target.cache == Cache::Cached;
    match (cached, hinted('s'), hinted('r')) {
        (true, true, _) => Advice::Sequential,
        (true, false, true) => Advice::Random,
        _ => Advice::None,
    }
}

/// Bytes that a target is made with; devices are never made.
fn created(target: &Target) -> Option<u64> {
    target.create.filter(|_| !is_device(&target.path))
}

/// The part of a target that a thread begins `start` bytes into.
fn used(target: &Target, start: u64) -> Used {
    let end = match (created(target), target.end) {
        (Some(size), Some(end)) => Some(size.min(end)),
        (size, end) => size.or(end),
    };
    let offset = target.base.saturating_add(start);
    Used {
        place: Place::Path(target.path.clone()),
        offset: Bytes::new(offset),
        length: end.map(|end| Bytes::new(end.saturating_sub(offset))),
    }
}

fn independent() -> Access {
    Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    }
}

fn access(target: &Target) -> Access {
    match target.random {
        Some(share) if share < 100 => Access::Mixed {
            random: Percent::whole(share).unwrap_or(Percent::ALL),
        },
        Some(_) => independent(),
        None => Access::Sequential {
            gap: Bytes::new(target.step().saturating_sub(target.block)),
            scope: if target.interlocked {
                SequentialScope::Shared
            } else {
                SequentialScope::PerWorker
            },
        },
    }
}

/// A mapped file is in the page cache, whatever else is said.
fn caching(target: &Target) -> Caching {
    match target.cache {
        _ if target.mapped => Caching::Buffered,
        Cache::Cached => Caching::Buffered,
        Cache::Uncached | Cache::LocalOff => Caching::Direct,
    }
}

/// A thread that is held back goes by the time since its start, so that it makes up for what it missed. Where its I/Os go
/// on side by side, each of the `slots` has its part of the rate.
fn arrival(target: &Target, slots: u32) -> Arrival {
    let slots = u64::from(slots.max(1));
    let bytes = |all: u64| Pacing::Bytes(BytesPerSec::new((all / slots).max(1)));
    let rate = match target.throttle {
        None => return Arrival::Closed,
        Some(Throttle::Iops(iops)) if iops.is_multiple_of(slots) => {
            Pacing::Iops(Iops::new(iops / slots))
        }
        Some(Throttle::Iops(iops)) => bytes(iops.saturating_mul(target.block)),
        Some(Throttle::BytesPerMs(rate)) => bytes(rate.saturating_mul(1000)),
    };
    Arrival::Open {
        rate,
        poisson: Poisson::Fixed,
        when_full: WhenFull::Queue,
    }
}

/// Bytes from the end of a sequential I/O to the start of the next, where a pool's targets each keep positions.
fn skip(target: &Target) -> i64 {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    signed(target.step()).saturating_sub(signed(target.block))
}

/// Where I/Os fall on a target of its own, where access alone does not say it. What follows a random I/O lies as far apart
/// as random offsets do.
fn placement(target: &Target) -> Option<Placement> {
    let one = spread(target);
    let mixed = target.random.is_some_and(|share| share < 100);
    if overlaps(target) || mixed && (one.is_some() || target.step() != target.block) {
        let one = one.unwrap_or_default();
        return Some(Placement {
            stride: Some(Bytes::new(target.step())),
            distribution: [one.clone(), one.clone(), one],
            ..Placement::default()
        });
    }
    one?;
    Some(at_random(target, 100))
}

/// `share` percent of random offsets by the target's distribution, among targets that each keep positions.
fn at_random(target: &Target, share: u32) -> Placement {
    let one = spread(target).unwrap_or_default();
    Placement {
        distribution: [one.clone(), one.clone(), one],
        random: [Percent::whole(share).unwrap_or(Percent::ALL); 3],
        alignment: [Some(Bytes::new(target.step())); 3],
        skip: skip(target),
        ..Placement::default()
    }
}

/// The distribution of random offsets, where they are not uniform.
fn spread(target: &Target) -> Option<Distribution> {
    let ranges = &target.spread.ranges;
    if ranges.is_empty() {
        return None;
    }
    if target.spread.unit == SpreadUnit::Percent {
        let zones = ranges.iter().map(|(access, size)| Zone {
            access: *access,
            size: u32::try_from(*size).unwrap_or(100),
        });
        return Some(Distribution::Zoned(zones.collect()));
    }
    let zones = ranges.iter().map(|(access, size)| Zone {
        access: *access,
        size: Bytes::new(if *size == 0 {
            REST
        } else {
            (*size).min(REST >> 9)
        }),
    });
    Some(Distribution::ZonedAbsolute(zones.collect()))
}

/// A line for each target with its weight, where they differ in blocks, order or share of writes; none where they do not.
fn lines(weights: &[(usize, u32)], targets: &[Target]) -> Vec<AccessLine> {
    let used = || weights.iter().filter_map(|(index, _)| targets.get(*index));
    let Some(first) = used()
        .next()
        .filter(|first| used().any(|it| !it.is_used_like(first)))
    else {
        return Vec::new();
    };
    let unit = match caching(first) {
        Caching::Buffered => 1,
        Caching::Direct => 512,
    };
    let line = |(number, (target, weight)): (usize, (&Target, u32))| AccessLine {
        weight,
        read: Percent::whole(100 - target.writes).unwrap_or(Percent::ALL),
        random: Percent::whole(target.random.unwrap_or(0)).unwrap_or(Percent::ALL),
        alignment: Some(Bytes::new(target.random.map_or(unit, |_| target.step()))),
        target: u32::try_from(number).ok(),
        ..AccessLine::of_size(Bytes::new(target.block))
    };
    let weights = weights.iter().map(|(_, weight)| *weight);
    used().zip(weights).enumerate().map(line).collect()
}

/// How a thread picks among targets by their weights, in whole percent. `None` where all weigh alike and it is random where
/// in each of them: walks of different lengths must be picked by weight, lest those that are over wait for the others.
fn choice(weights: &[(usize, u32)], target: &Target) -> Option<Distribution> {
    let first = weights.first()?.1;
    let is_walk = target.random.is_none() && weights.len() > 1;
    if !is_walk && weights.iter().all(|(_, weight)| *weight == first) {
        return None;
    }
    let total: u64 = weights.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let mut past = 0u64;
    let mut told = 0;
    let zones = weights.iter().map(|(_, weight)| {
        past += u64::from(*weight);
        let upto = (past * 100 / total.max(1)) as u32;
        let access = upto - told;
        told = upto;
        Zone {
            access,
            size: Bytes::new(TARGET_UNITS),
        }
    });
    Some(Distribution::ZonedAbsolute(zones.collect()))
}

/// A burst is shared out among the threads of a target, and the `slots` of each. A rate leaves no room for thinking.
fn think(span: &Span, target: &Target, slots: u32) -> Option<ThinkTime> {
    let (burst, pause) = target.burst.zip(target.think_ms)?;
    let thinks = pause > 0 && target.throttle.is_none();
    thinks.then(|| ThinkTime {
        pause: Nanos::from_millis(pause),
        spin: Nanos::ZERO,
        every: (burst / span.threads_on(target).saturating_mul(slots.max(1))).max(1),
        counts: ThinkCounts::Issued,
        after: Nanos::ZERO,
        stops_rate: false,
    })
}
