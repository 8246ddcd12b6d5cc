//! From a run's workloads and storage to the jobs of its stage.
//!
//! A job is one workload on one piece of storage from one host: one worker with as many I/Os outstanding as it has
//! threads, since Vdbench's threads take their blocks from one position. `threads=` counts for a piece of storage, whoever
//! uses it.

use std::collections::BTreeMap;

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, Distribution,
    ExistingFiles, Features, FileChoice, FileHandling, Filling, Flow, Job, Limits, Mix, OpenSync,
    Pacing, Place, Placement, Poisson, ReportGroup, SequentialScope, Stage, SyncPolicy, Target,
    WeightedSize, WhenFull, Zone,
};

use super::expand::{Expander, JOBS_MAX, Made};
use super::run::{RunFacts, RunJob, RunRate};
use super::sections::{Gaps, LoopKey, LoopValue, OpenFlags, Range, Rd, Sd, Seek, Wd, Xfersize};

/// Most sizes that a range of transfer sizes may have.
const RANGE_SIZES_MAX: u64 = 1024;
/// Rates of a job below this many I/Os a second are given in bytes, which divide more finely.
const FINE_BELOW: f64 = 1000.0;

/// A workload that takes part in a run, and its storage.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// Index of the WD; `None` for the defaults.
    pub(super) wd: Option<usize>,
    pub(super) spec: Wd,
    /// Indices of SDs.
    pub(super) sds: Vec<usize>,
}

/// What loops put in place of the workloads' own values.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    threads: Option<u32>,
    xfersize: Option<Xfersize>,
    rdpct: Option<f64>,
    rhpct: Option<f64>,
    whpct: Option<f64>,
    seek: Option<Seek>,
    hitarea: Option<u64>,
    compratio: Option<f64>,
}

impl Settings {
    pub(super) fn of(chosen: &[(LoopKey, &LoopValue)]) -> Self {
        let mut settings = Self::default();
        for (key, value) in chosen {
            match (key, value) {
                (LoopKey::Threads, LoopValue::Number(number)) => {
                    settings.threads = Some((*number as u32).max(1))
                }
                (LoopKey::Xfersize, LoopValue::Xfersize(size)) => {
                    settings.xfersize = Some(size.clone())
                }
                (LoopKey::Rdpct, LoopValue::Number(number)) => settings.rdpct = Some(*number),
                (LoopKey::Rhpct, LoopValue::Number(number)) => settings.rhpct = Some(*number),
                (LoopKey::Whpct, LoopValue::Number(number)) => settings.whpct = Some(*number),
                (LoopKey::Seekpct, LoopValue::Seek(seek)) => settings.seek = Some(*seek),
                (LoopKey::Hitarea, LoopValue::Number(number)) => {
                    settings.hitarea = Some(*number as u64)
                }
                (LoopKey::Compratio, LoopValue::Number(number)) => {
                    settings.compratio = Some(*number)
                }
                _ => {}
            }
        }
        settings
    }

    fn apply(&self, wd: &Wd) -> Wd {
        Wd {
            xfersize: self.xfersize.clone().unwrap_or_else(|| wd.xfersize.clone()),
            rdpct: self.rdpct.unwrap_or(wd.rdpct),
            rhpct: self.rhpct.unwrap_or(wd.rhpct),
            whpct: self.whpct.unwrap_or(wd.whpct),
            seek: self.seek.unwrap_or(wd.seek),
            ..wd.clone()
        }
    }
}

/// What jobs are made with beside their sections.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    /// For each SD the hosts that have it.
    pub(super) hosts: Vec<Vec<usize>>,
    /// What written data is like, as general parameters say.
    pub(super) filling: Option<Filling>,
}

/// One job to be: who, on what, from where.
#[derive(Debug, Clone, Copy)]
struct Slot {
    member: usize,
    sd: usize,
    host: usize,
    /// Number of its stream, and how many there are.
    stream: (u32, u32),
    threads: u32,
    /// Its share of the workload's rate.
    share: f64,
}

impl Expander<'_> {
    /// The jobs of one run; complaints where they cannot be.
    pub(super) fn jobs(
        &mut self,
        rd: &Rd,
        members: &[Member],
        settings: &Settings,
        rate: RunRate,
    ) -> Option<Made> {
        let specs: Vec<Wd> = members
            .iter()
            .map(|member| settings.apply(&member.spec))
            .collect();
        let mut slots = self.slots(rd, members, &specs)?;
        if slots.is_empty() {
            let message = format!("rd={}: no host has any of its storage", rd.name);
            self.values.error(
                rd.at,
                message,
                "compare `host=` of its workloads with those of the SDs",
            );
            return None;
        }
        share_threads(&mut slots, |sd| {
            settings
                .threads
                .unwrap_or_else(|| self.built.sds.get(sd).map_or(1, |sd| sd.threads))
        });
        let ends = self.ends(&slots, &specs);
        let weights = rates_of(&slots, &specs);
        let several_wds = members.len() > 1;
        let mut jobs = Vec::with_capacity(slots.len());
        for (slot, weight) in slots.iter().zip(&weights) {
            let spec = &specs[slot.member];
            let context = Context {
                rd,
                settings,
                several_wds,
                ends: &ends,
            };
            let mut job = self.job(slot, spec, &context)?;
            job.arrival = arrival(rd, spec, rate, *weight);
            jobs.push(job);
        }
        let jobs = paced(jobs, &slots, &specs, &weights, rate);
        let jobs = self.commands(rd, jobs);
        let until_eof = slots
            .iter()
            .any(|slot| specs[slot.member].seek == Seek::Eof);
        let all_eof = slots
            .iter()
            .all(|slot| specs[slot.member].seek == Seek::Eof);
        if until_eof && !all_eof {
            let message = format!(
                "rd={}: its other workloads go on to the end of `elapsed=` when those with `seekpct=eof` are done",
                rd.name
            );
            self.values
                .warning(rd.at, message, "give them an RD of their own");
        }
        let facts = self.facts(&slots, &specs);
        let run_jobs = slots.iter().map(|slot| RunJob {
            sd: slot.sd,
            wd: members[slot.member].wd,
            host: slot.host,
            stream: slot.stream.0,
            threads: slot.threads,
        });
        Some(Made {
            run_jobs: run_jobs.collect(),
            jobs,
            facts,
            until_eof,
        })
    }

    /// Which host does which workload on which storage.
    fn slots(&mut self, rd: &Rd, members: &[Member], specs: &[Wd]) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        let built = self.built;
        let allowed = |names: &[super::Name], host: usize| {
            let label = built.hosts.get(host).map_or("", |host| host.label.as_str());
            names.is_empty() || names.iter().any(|name| super::matches(&name.text, label))
        };
        for (index, (member, spec)) in members.iter().zip(specs).enumerate() {
            let names = spec.hosts.len() + rd.hosts.len();
            let allowed = |host: &usize| allowed(&spec.hosts, *host) && allowed(&rd.hosts, *host);
            for sd in &member.sds {
                let count = self.storage.hosts.get(*sd).map_or(0, Vec::len);
                if !self.may_look_at(names.saturating_mul(count), rd) {
                    return None;
                }
                let hosts = self.storage.hosts.get(*sd).map_or(&[][..], Vec::as_slice);
                let hosts: Vec<usize> = hosts.iter().copied().filter(allowed).collect();
                let in_order = matches!(spec.seek, Seek::Eof | Seek::SequentialNonZero)
                    || spec.seek == Seek::Percent(0.0);
                let count = hosts.len();
                let mut add = |host: usize, stream: (u32, u32), parts: u32| {
                    slots.push(Slot {
                        member: index,
                        sd: *sd,
                        host,
                        stream,
                        threads: 1,
                        share: 1.0 / member.sds.len() as f64 / f64::from(parts),
                    });
                };
                if spec.streams > 1 && count > 0 {
                    (0..spec.streams).for_each(|stream| {
                        add(
                            hosts[stream as usize % count],
                            (stream, spec.streams),
                            spec.streams,
                        )
                    });
                } else if in_order {
                    // One position goes through the SD, so one host does it.
                    hosts
                        .first()
                        .into_iter()
                        .for_each(|host| add(*host, (0, 1), 1));
                } else {
                    hosts
                        .iter()
                        .for_each(|host| add(*host, (0, 1), count as u32));
                }
                if self.jobs + slots.len() > JOBS_MAX {
                    let message = format!("rd={}: over {JOBS_MAX} jobs in all runs", rd.name);
                    self.values
                        .error(rd.at, message, "use fewer SDs, hosts or runs");
                    self.jobs = JOBS_MAX;
                    return None;
                }
            }
        }
        Some(slots)
    }

    /// For each SD the largest transfer size that is used on it.
    fn ends(&self, slots: &[Slot], specs: &[Wd]) -> BTreeMap<usize, u64> {
        let mut largest = BTreeMap::new();
        for slot in slots {
            let size = specs[slot.member].xfersize.largest();
            let entry = largest.entry(slot.sd).or_insert(size);
            *entry = size.max(*entry);
        }
        largest
    }

    fn job(&mut self, slot: &Slot, spec: &Wd, context: &Context<'_>) -> Option<Job> {
        let built = self.built;
        let sd = built.sds.get(slot.sd)?;
        let host = built.hosts.get(slot.host)?;
        let flags = context
            .rd
            .openflags
            .or(spec.openflags)
            .unwrap_or(sd.openflags);
        let lun = sd.lun_of(&host.label)?;
        if sd.is_device() && flags == OpenFlags::default() && !self.options.simulate {
            let message = format!(
                "sd={}: `{lun}` is a device and has no `openflags=`, which Vdbench refuses on Linux",
                sd.name
            );
            self.values
                .error(sd.at, message, "add `openflags=o_direct`");
        }
        let largest = context.ends.get(&slot.sd).copied().unwrap_or(4096);
        let targets = self.targets(slot, sd, lun, spec, largest)?;
        let length = targets.first().and_then(|target| target.length);
        let features = self.features(sd, spec, context.settings, length)?;
        let mix = Mix::reads(percent(spec.rdpct));
        let block = self.block(sd, spec)?;
        let limits = limits(
            context.rd,
            spec,
            &block,
            mix,
            self.maxdata_share(context.rd, spec, slot),
        );
        Some(Job {
            name: self.job_name(slot, sd, spec, context.several_wds),
            group: ReportGroup::default(),
            host: host.given.then(|| host.label.clone()),
            file_choice: if targets.len() > 1 {
                FileChoice::Sequential
            } else {
                FileChoice::RoundRobin
            },
            targets,
            workers: 1,
            depth: slot.threads,
            mix,
            access: access(spec),
            block,
            arrival: Arrival::Closed,
            limits,
            sync: SyncPolicy {
                open: if flags.dsync {
                    OpenSync::Dsync
                } else {
                    OpenSync::None
                },
                on_close: flags.fsync,
                ..SyncPolicy::default()
            },
            contents: BufferContents::RandomStamped,
            backend: if slot.threads == 1 {
                Backend::Sync
            } else {
                Backend::IoUring
            },
            caching: if flags.direct {
                Caching::Direct
            } else {
                Caching::Buffered
            },
            existing: ExistingFiles::AsPeer,
            split_latency: false,
            drop_cache: false,
            unlink: false,
            salt: 0,
            features,
        })
    }

    fn job_name(&self, slot: &Slot, sd: &Sd, spec: &Wd, several_wds: bool) -> String {
        let mut name = sd.name.clone();
        if several_wds {
            name = format!("{}/{name}", spec.name);
        }
        let shared = self
            .storage
            .hosts
            .get(slot.sd)
            .is_some_and(|hosts| hosts.len() > 1);
        if shared && let Some(host) = self.built.hosts.get(slot.host) {
            name = format!("{name}@{}", host.label);
        }
        if slot.stream.1 > 1 {
            name = format!("{name}#{}", slot.stream.0);
        }
        name
    }

    /// The part of the SD that is used: its range, from the first usable byte to the last whole transfer.
    fn targets(
        &mut self,
        slot: &Slot,
        sd: &Sd,
        lun: &str,
        spec: &Wd,
        largest: u64,
    ) -> Option<Vec<Target>> {
        let place = Place::Path(lun.to_owned());
        // The first block of a device, where labels are, is left alone.
        let first = if sd.is_device() { largest } else { 0 };
        let range = spec.range.or(sd.range);
        let Some(size) = sd.size else {
            if range.is_some() || slot.stream.1 > 1 || spec.seek == Seek::SequentialNonZero {
                let message = format!(
                    "sd={}: a part of it is asked for, and its size is not known",
                    sd.name
                );
                self.values
                    .error(sd.at, message, "add `size=` to the `sd=`");
                return None;
            }
            return Some(vec![Target {
                place,
                offset: Bytes::new(sd.offset + first),
                length: None,
            }]);
        };
        let end = size - size % largest.max(1);
        let parts = parts(range, (first, end), largest);
        let random = matches!(spec.seek, Seek::Percent(percent) if percent > 0.0);
        if parts.is_empty() || (parts.len() > 1 && random) {
            let (message, hint) = if parts.is_empty() {
                (
                    "no transfer fits into the part that is used",
                    "use a larger `size=` or `range=`, or a smaller `xfersize=`",
                )
            } else {
                (
                    "a random workload on a range that wraps past 100 % is not done here",
                    "use a range within 0 to 100",
                )
            };
            self.values
                .error(sd.at, format!("sd={}: {message}", sd.name), hint);
            return None;
        }
        let mut parts = match parts.as_slice() {
            [(from, length)] if slot.stream.1 > 1 => {
                let piece = length / u64::from(slot.stream.1);
                let piece = piece - piece % largest;
                if piece == 0 {
                    let message = format!(
                        "sd={}: {} streams leave no whole transfer for each",
                        sd.name, slot.stream.1
                    );
                    self.values
                        .error(sd.at, message, "use fewer streams, or a larger `size=`");
                    return None;
                }
                vec![(from + piece * u64::from(slot.stream.0), piece)]
            }
            _ => parts,
        };
        if let (Seek::SequentialNonZero, [(from, length)]) = (spec.seek, parts.as_slice()) {
            // From a block somewhere to the end, then from the start to it.
            let blocks = length / largest;
            let before = scattered(slot.sd as u64 + 1) % blocks * largest;
            if before > 0 {
                parts = vec![(from + before, length - before), (*from, before)];
            }
        }
        let target = |(from, length): (u64, u64)| Target {
            place: place.clone(),
            offset: Bytes::new(sd.offset + from),
            length: Some(Bytes::new(length)),
        };
        Some(parts.into_iter().map(target).collect())
    }

    fn block(&mut self, sd: &Sd, spec: &Wd) -> Option<BlockSizes> {
        let sizes: Vec<WeightedSize> = match &spec.xfersize {
            Xfersize::One(size) => vec![WeightedSize {
                size: Bytes::new(*size),
                weight: 1,
            }],
            Xfersize::Mix(sizes) => {
                let weight = |share: f64| (share * 100.0).round() as u32;
                let sizes = sizes.iter().filter(|(_, share)| *share > 0.0);
                sizes
                    .map(|(size, share)| WeightedSize {
                        size: Bytes::new(*size),
                        weight: weight(*share),
                    })
                    .collect()
            }
            Xfersize::Range { least, most, align } => {
                let count = (most - least) / align + 1;
                if count > RANGE_SIZES_MAX {
                    let message = format!(
                        "`xfersize={}` has {count} sizes; at most {RANGE_SIZES_MAX} are possible",
                        spec.xfersize
                    );
                    self.values.error(spec.at, message, "use a larger step");
                    return None;
                }
                let sizes = (0..count).map(|number| least + number * align);
                sizes
                    .map(|size| WeightedSize {
                        size: Bytes::new(size),
                        weight: 1,
                    })
                    .collect()
            }
        };
        let aligned = match (&spec.xfersize, sd.align) {
            (Xfersize::Range { align, .. }, 0) => Some(Bytes::new(*align)),
            (_, 0) => None,
            (_, align) => Some(Bytes::new(align)),
        };
        Some(BlockSizes {
            read: sizes.clone(),
            write: sizes.clone(),
            trim: sizes,
            alignment: aligned,
        })
    }

    /// Hits on a part of the SD, and what written data is like.
    fn features(
        &mut self,
        sd: &Sd,
        spec: &Wd,
        settings: &Settings,
        length: Option<Bytes>,
    ) -> Option<Features> {
        let mut features = Features {
            files: FileHandling {
                must_exist: sd.size.is_none(),
                ..FileHandling::default()
            },
            ..Features::default()
        };
        if spec.rdpct < 100.0 {
            let mut filling = self.storage.filling.clone();
            if let Some(ratio) = settings.compratio {
                let mut own = filling.unwrap_or_default();
                own.compress = super::contents::compressible(ratio);
                filling = Some(own);
            }
            features.filling = filling.map(Box::new);
        }
        let hits = spec.rhpct > 0.0 || spec.whpct > 0.0;
        if hits {
            if spec.seek != Seek::Percent(100.0) {
                let message = format!(
                    "wd={}: hits (`rhpct=`, `whpct=`) are done for random workloads alone",
                    spec.name
                );
                self.values.error(spec.at, message, "use `seekpct=100`");
                return None;
            }
            let area = settings.hitarea.unwrap_or(sd.hitarea);
            let Some(length) = length
                .map(Bytes::get)
                .filter(|length| *length > area && area > 0)
            else {
                let message = format!(
                    "sd={}: hits need `size=`, and a hit area smaller than it",
                    sd.name
                );
                self.values
                    .error(sd.at, message, "add `size=`, or give a smaller `hitarea=`");
                return None;
            };
            let zones = |percent: f64| {
                let hits = (percent.round() as u32).min(100);
                Distribution::ZonedAbsolute(vec![
                    Zone {
                        access: hits,
                        size: Bytes::new(area),
                    },
                    Zone {
                        access: 100 - hits,
                        size: Bytes::new(length - area),
                    },
                ])
            };
            features.placement = Some(Box::new(Placement {
                distribution: [zones(spec.rhpct), zones(spec.whpct), Distribution::Uniform],
                ..Placement::default()
            }));
        }
        Some(features)
    }

    /// Bytes that a job may move before its share of `maxdata=` is done.
    fn maxdata_share(&self, rd: &Rd, spec: &Wd, slot: &Slot) -> Option<f64> {
        let total: u64 = self.built.sds.iter().filter_map(|sd| sd.size).sum();
        let bytes = |amount: f64| {
            if amount < 100.0 {
                amount * total as f64
            } else {
                amount
            }
        };
        let by_reads = rd.maxdata.read.filter(|_| spec.rdpct > 0.0);
        let by_writes = rd.maxdata.written.filter(|_| spec.rdpct < 100.0);
        let all = [
            rd.maxdata.both.map(bytes),
            by_reads.map(|amount| bytes(amount) / (spec.rdpct / 100.0)),
            by_writes.map(|amount| bytes(amount) / (1.0 - spec.rdpct / 100.0)),
        ];
        let least = all.into_iter().flatten().reduce(f64::min)?;
        Some(least * slot.share)
    }

    /// The commands of an RD go with its first job.
    fn commands(&mut self, rd: &Rd, mut jobs: Vec<Job>) -> Vec<Job> {
        let joined = |commands: &[String]| {
            let is_command = |word: &&String| {
                !["cons", "console", "sum", "summary", "log"].contains(&word.as_str())
            };
            let words: Vec<&str> = commands
                .iter()
                .filter(is_command)
                .map(String::as_str)
                .collect();
            (!words.is_empty()).then(|| words.join("; "))
        };
        if rd.startcmd.is_empty() && rd.endcmd.is_empty() {
            return jobs;
        }
        if !self.options.run_commands && !self.options.simulate {
            let message = format!(
                "rd={}: `startcmd=` and `endcmd=` are run where `--run-commands` allows it",
                rd.name
            );
            self.values.error(
                rd.at,
                message,
                "look at them, then add `--run-commands`, or remove them",
            );
            return jobs;
        }
        if let Some(first) = jobs.first_mut() {
            first.features.process.command_before = joined(&rd.startcmd);
            first.features.process.command_after = joined(&rd.endcmd);
        }
        jobs
    }

    fn facts(&self, slots: &[Slot], specs: &[Wd]) -> RunFacts {
        let sds: BTreeMap<usize, u32> = slots.iter().fold(BTreeMap::new(), |mut sds, slot| {
            *sds.entry(slot.sd).or_insert(0) += slot.threads;
            sds
        });
        let used: Vec<&Wd> = specs.iter().collect();
        RunFacts {
            xfersize: same(used.iter().map(|wd| wd.xfersize.clone())),
            threads: same(sds.values().copied()),
            rdpct: same(used.iter().map(|wd| wd.rdpct)),
            rhpct: same(used.iter().map(|wd| wd.rhpct)),
            whpct: same(used.iter().map(|wd| wd.whpct)),
            seek: same(used.iter().map(|wd| wd.seek)),
            lun_bytes: sds
                .keys()
                .filter_map(|sd| self.built.sds.get(*sd)?.size)
                .sum(),
        }
    }
}

/// What a job is made with.
struct Context<'c> {
    rd: &'c Rd,
    settings: &'c Settings,
    several_wds: bool,
    ends: &'c BTreeMap<usize, u64>,
}

fn same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// A percentage of a file, in hundredths.
fn percent(percent: f64) -> Percent {
    Percent::from_basis_points((percent * 100.0).round() as u32).unwrap_or(Percent::ALL)
}

/// Threads of each SD over its hosts in turn, those of a host over its workloads; each gets one at least.
fn share_threads(slots: &mut [Slot], threads_of: impl Fn(usize) -> u32) {
    let mut by_sd: BTreeMap<usize, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        by_sd
            .entry(slot.sd)
            .or_default()
            .entry(slot.host)
            .or_default()
            .push(index);
    }
    for (sd, hosts) in by_sd {
        let of_hosts = split(threads_of(sd), hosts.len());
        for (indices, threads) in hosts.values().zip(of_hosts) {
            for (index, threads) in indices.iter().zip(split(threads, indices.len())) {
                slots[*index].threads = threads.max(1);
            }
        }
    }
}

/// Whole parts of a number, the first ones one larger where it does not divide.
fn split(total: u32, parts: usize) -> impl Iterator<Item = u32> {
    let parts = (parts as u32).max(1);
    (0..parts).map(move |part| total / parts + u32::from(part < total % parts))
}

/// Each job's share of the run's rate; 0 where its workload has a rate of its own.
fn rates_of(slots: &[Slot], specs: &[Wd]) -> Vec<f64> {
    let open: Vec<&Wd> = specs.iter().filter(|wd| wd.iorate.is_none()).collect();
    let given: f64 = open.iter().filter_map(|wd| wd.skew).sum();
    let without = open.iter().filter(|wd| wd.skew.is_none()).count();
    let rest = (100.0 - given).max(0.0) / without.max(1) as f64;
    let weight = |slot: &Slot| {
        let wd = &specs[slot.member];
        match (wd.iorate, wd.skew) {
            (Some(_), _) => 0.0,
            (None, Some(skew)) => slot.share * skew / 100.0,
            (None, None) => slot.share * rest / 100.0,
        }
    };
    slots.iter().map(weight).collect()
}

/// When a job's I/Os start; its rate is settled with those of all others.
fn arrival(rd: &Rd, spec: &Wd, rate: RunRate, weight: f64) -> Arrival {
    let is_paced = spec.iorate.is_some() || matches!(rate, RunRate::Number(_) | RunRate::Of { .. });
    if !is_paced {
        return Arrival::Closed;
    }
    // Shares of a rate that is not known yet stand in its place, finely enough.
    let placeholder = (weight * 1e9).round().max(1.0) as u64;
    Arrival::Open {
        rate: Pacing::Iops(Iops::new(placeholder)),
        poisson: match rd.gaps {
            Gaps::Exponential => Poisson::Exponential,
            Gaps::Uniform => Poisson::Uniform,
            Gaps::Deterministic => Poisson::Fixed,
        },
        when_full: WhenFull::Queue,
    }
}

/// The jobs with the rates that the run and their workloads ask for, or with the shares that are to be kept.
fn paced(jobs: Vec<Job>, slots: &[Slot], specs: &[Wd], weights: &[f64], rate: RunRate) -> Vec<Job> {
    let mut jobs = match rate {
        RunRate::Number(total) => {
            let stage = Stage {
                name: String::new(),
                jobs,
                cooldown: Nanos::ZERO,
                repeats: 1,
                discard: false,
                rate_from: None,
            };
            let mut jobs = stage.at_rate(total, weights).jobs;
            let sum: f64 = weights.iter().sum();
            for (job, weight) in jobs.iter_mut().zip(weights) {
                refine(job, total as f64 * weight / sum.max(f64::MIN_POSITIVE));
            }
            jobs
        }
        RunRate::Controlled | RunRate::ControlledCurve => {
            let mut jobs = jobs;
            for (job, weight) in jobs
                .iter_mut()
                .zip(weights)
                .filter(|(_, weight)| **weight > 0.0)
            {
                let weight = (weight * 1e6).round().max(1.0) as u32;
                job.features.flow = Some(Flow {
                    id: 1,
                    weight,
                    pause: Nanos::ZERO,
                });
            }
            jobs
        }
        _ => jobs,
    };
    for (job, slot) in jobs.iter_mut().zip(slots) {
        if let Some(own) = specs[slot.member].iorate {
            let exact = own as f64 * slot.share;
            if let Arrival::Open { rate, .. } = &mut job.arrival {
                *rate = Pacing::Iops(Iops::new((exact.round() as u64).max(1)));
            }
            refine(job, exact);
        }
    }
    jobs
}

/// Gives a low rate that is no whole number of I/Os a second in bytes, where all I/Os are of one size.
fn refine(job: &mut Job, exact: f64) {
    let Some(size) = job.block.single_size(job.mix) else {
        return;
    };
    if let Arrival::Open { rate, .. } = &mut job.arrival
        && exact < FINE_BELOW
        && exact.fract() > 1e-9
    {
        let bytes = (exact * size.get() as f64).round() as u64;
        *rate = Pacing::Bytes(BytesPerSec::new(bytes.max(1)));
    }
}

fn access(spec: &Wd) -> Access {
    match spec.seek {
        Seek::Percent(share) if share >= 100.0 => Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
        Seek::Percent(share) if share > 0.0 => Access::Mixed {
            random: percent(share),
        },
        Seek::Poisson(_) => Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
        Seek::Percent(_) | Seek::Eof | Seek::SequentialNonZero => Access::Sequential {
            gap: Bytes::new(spec.stride.map_or(0, |(stride, _)| {
                stride.saturating_sub(spec.xfersize.largest())
            })),
            scope: SequentialScope::PerWorker,
        },
    }
}

/// Without a warm-up, Vdbench leaves the first interval of `elapsed=` out of its averages; here that is the warm-up.
fn limits(rd: &Rd, spec: &Wd, block: &BlockSizes, mix: Mix, maxdata: Option<f64>) -> Limits {
    let interval = rd.interval.max(1);
    let eof = spec.seek == Seek::Eof;
    let (warmup, runtime) = match rd.warmup {
        0 if eof || rd.elapsed <= interval => (0, rd.elapsed),
        0 => (interval, rd.elapsed - interval),
        warmup => (warmup, rd.elapsed),
    };
    let bytes = maxdata.map(|bytes| Bytes::new((bytes as u64).max(block.largest(mix).get())));
    Limits {
        warmup: Nanos::from_secs(warmup),
        runtime: Some(Nanos::from_secs(runtime)),
        time_based: !eof && bytes.is_none(),
        bytes: bytes.filter(|_| !eof),
        ..Limits::default()
    }
}

/// First byte and length of the parts of a range, the second one where it wraps past the end.
fn parts(range: Option<Range>, (first, end): (u64, u64), unit: u64) -> Vec<(u64, u64)> {
    let unit = unit.max(1);
    let down = |byte: f64| (byte.max(0.0) as u64) / unit * unit;
    let all = match range {
        None => vec![(first, end)],
        Some(Range::Bytes(low, high)) => {
            vec![(down(low as f64).max(first), down(high as f64).min(end))]
        }
        Some(Range::Percent(low, high)) => {
            let at = |percent: f64| down(end as f64 * percent / 100.0);
            if high <= 100.0 {
                vec![(at(low).max(first), at(high).min(end))]
            } else {
                vec![
                    (at(low.min(100.0)).max(first), end),
                    (first, at(high - 100.0).min(end)),
                ]
            }
        }
    };
    let whole = all
        .into_iter()
        .filter(|(from, to)| to > from && to - from >= unit);
    whole
        .map(|(from, to)| (from, (to - from) / unit * unit))
        .collect()
}

/// A number that looks drawn, the same in every reading.
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 31;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}
