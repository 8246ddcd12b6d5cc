//! From a run's workloads and storage to the jobs of its stage.
//!
//! A job is one workload on one piece of storage from one host: one worker with as many I/Os outstanding as it has
//! threads, since Vdbench's threads take their blocks from one position. `threads=` counts for a piece of storage, whoever
//! uses it. Where on the storage it works is in `extent`, how fast in `pace`, what it does beyond plain I/O in `features`.

mod crowds;
mod enough;
mod extent;
mod features;
mod joined;
mod pace;

use std::collections::BTreeMap;

use fathom_units::Bytes;
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, Filling, Job, Mix, OpenSync, ReportGroup, SequentialScope, SyncPolicy,
    Target,
};

use super::blocks::{self, percent};
use super::expand::{Expander, Made};
use super::run::{RunFacts, RunJob, RunRate};
use super::sections::{LoopKey, LoopValue, OpenFlags, Rd, Sd, Seek, Wd, Xfersize};
use super::shares::split;

pub use crowds::{Crowd, crowd_of};

/// A workload that takes part in a run, and its storage.
#[derive(Debug, Clone)]
pub(super) struct Member<'a> {
    /// Index of the WD; `None` for the defaults.
    pub(super) wd: Option<usize>,
    pub(super) spec: &'a Wd,
    /// Indices of SDs.
    pub(super) sds: Vec<usize>,
}

/// What loops put in place of the workloads' own values.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings<'l> {
    threads: Option<u32>,
    xfersize: Option<&'l Xfersize>,
    rdpct: Option<f64>,
    rhpct: Option<f64>,
    whpct: Option<f64>,
    seek: Option<Seek>,
    hitarea: Option<u64>,
    compratio: Option<f64>,
}

impl<'l> Settings<'l> {
    pub(super) fn of(chosen: &[(LoopKey, &'l LoopValue)]) -> Self {
        let mut settings = Self::default();
        for (key, value) in chosen {
            match (key, value) {
                (LoopKey::Threads, LoopValue::Number(number)) => {
                    settings.threads = Some((*number as u32).max(1));
                }
                (LoopKey::Xfersize, LoopValue::Xfersize(size)) => {
                    settings.xfersize = Some(size);
                }
                (LoopKey::Rdpct, LoopValue::Number(number)) => settings.rdpct = Some(*number),
                (LoopKey::Rhpct, LoopValue::Number(number)) => settings.rhpct = Some(*number),
                (LoopKey::Whpct, LoopValue::Number(number)) => settings.whpct = Some(*number),
                (LoopKey::Seekpct, LoopValue::Seek(seek)) => settings.seek = Some(*seek),
                (LoopKey::Hitarea, LoopValue::Number(number)) => {
                    settings.hitarea = Some(*number as u64);
                }
                (LoopKey::Compratio, LoopValue::Number(number)) => {
                    settings.compratio = Some(*number);
                }
                _ => {}
            }
        }
        settings
    }

    fn apply<'s>(&'s self, wd: &'s Wd) -> Spec<'s> {
        Spec {
            wd,
            xfersize: self.xfersize.unwrap_or(&wd.xfersize),
            rdpct: self.rdpct.unwrap_or(wd.rdpct),
            rhpct: self.rhpct.unwrap_or(wd.rhpct),
            whpct: self.whpct.unwrap_or(wd.whpct),
            seek: self.seek.unwrap_or(wd.seek),
        }
    }
}

/// A workload with what loops put in place of its own values. Files may have a hundred thousand: nothing is copied.
#[derive(Debug, Clone, Copy)]
struct Spec<'s> {
    wd: &'s Wd,
    xfersize: &'s Xfersize,
    rdpct: f64,
    rhpct: f64,
    whpct: f64,
    seek: Seek,
}

/// What jobs are made with beside their sections.
#[derive(Debug, Clone, Default)]
pub(super) struct Storage {
    /// For each SD the hosts that have it, each with the number of its path there.
    pub(super) hosts: Vec<Vec<(usize, usize)>>,
    /// Whether each SD is a device.
    pub(super) devices: Vec<bool>,
    /// What written data is like, as general parameters say.
    pub(super) filling: Option<Filling>,
    /// Bytes of all SDs whose size is known.
    pub(super) total: u64,
}

/// One job to be: who, on what, from where.
#[derive(Debug, Clone, Copy)]
struct Slot {
    member: usize,
    sd: usize,
    host: usize,
    /// Number of the host's path to the SD.
    path: usize,
    /// Number of its stream, and how many there are.
    stream: (u32, u32),
    threads: u32,
    /// Its share of the workload's rate.
    share: f64,
    /// Bytes that it moves until the run has moved enough.
    maxdata: Option<f64>,
}

/// What a job is made with.
struct Context<'c> {
    rd: &'c Rd,
    members: &'c [Member<'c>],
    settings: &'c Settings<'c>,
    several_wds: bool,
    until_eof: bool,
    ends: &'c BTreeMap<usize, u64>,
}

impl Expander<'_> {
    /// The jobs of one run; complaints where they cannot be.
    pub(super) fn jobs(
        &mut self,
        rd: &Rd,
        members: &[Member<'_>],
        settings: &Settings<'_>,
        rate: RunRate,
    ) -> Option<Made> {
        let specs: Vec<Spec<'_>> = members
            .iter()
            .map(|member| settings.apply(member.spec))
            .collect();
        let joined = self.built.general.concatenatesds;
        let mut slots = self.slots((rd, joined), members, (&specs, settings))?;
        if !self.budget.begin(slots.len(), rd, &mut self.values) {
            return None;
        }
        if slots.is_empty() {
            self.no_slots(rd, members);
            return None;
        }
        if !joined {
            share_threads(&mut slots, |sd| {
                settings
                    .threads
                    .unwrap_or_else(|| self.built.sds.get(sd).map_or(1, |sd| sd.threads))
            });
        }
        let ends = if joined {
            extent::ends_of_all(members, &specs)
        } else {
            extent::ends(&slots, &specs)
        };
        let pace = pace::Pace::of(rd, &slots, &specs, rate);
        let rates = pace.rates(&slots, &specs);
        enough::share_out(&mut slots, (rd, self.storage.total), &specs, &rates);
        let context = Context {
            rd,
            members,
            settings,
            several_wds: members.len() > 1,
            until_eof: self.is_until_eof(rd, &slots, &specs),
            ends: &ends,
        };
        let mut jobs = Vec::with_capacity(slots.len());
        for (number, slot) in slots.iter().enumerate() {
            let spec = specs[slot.member];
            let mut job = self.job(slot, spec, &context)?;
            pace.set(&mut job, number, slot, spec);
            if !self.budget.job(&job, rd, &mut self.values) {
                return None;
            }
            jobs.push(job);
        }
        let jobs = self.commands(rd, jobs);
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
            until_eof: context.until_eof,
        })
    }

    /// Whether the run ends when its workloads reach their end.
    fn is_until_eof(&mut self, rd: &Rd, slots: &[Slot], specs: &[Spec<'_>]) -> bool {
        let mut seeks = slots.iter().map(|slot| specs[slot.member].seek);
        let until_eof = seeks.clone().any(|seek| seek == Seek::Eof);
        if until_eof && !seeks.all(|seek| seek == Seek::Eof) {
            let message = format!(
                "rd={}: its other workloads go on to the end of `elapsed=` when those with `seekpct=eof` are done",
                rd.name
            );
            self.values
                .warning(rd.at, message, "give them an RD of their own");
        }
        until_eof
    }

    /// Tells that nobody has the storage of a run; of SDs without a path it was told already.
    fn no_slots(&mut self, rd: &Rd, members: &[Member<'_>]) {
        let mut sds = members.iter().flat_map(|member| &member.sds);
        let sd = |sd: &usize| self.built.sds.get(*sd);
        if sds.any(|number| sd(number).is_some_and(|sd| !sd.paths.is_empty())) {
            let message = format!("rd={}: no host has any of its storage", rd.name);
            let hint = "compare `host=` of its workloads with those of the SDs";
            self.values.error(rd.at, message, hint);
        }
    }

    /// Which host does which workload on which storage.
    fn slots(
        &mut self,
        (rd, joined): (&Rd, bool),
        members: &[Member<'_>],
        (specs, settings): (&[Spec<'_>], &Settings<'_>),
    ) -> Option<Vec<Slot>> {
        if joined {
            return self.joined_slots(rd, members, (specs, settings));
        }
        let mut slots = Vec::new();
        for (index, (member, spec)) in members.iter().zip(specs).enumerate() {
            let names = spec.wd.hosts.len() + rd.hosts.len();
            for sd in &member.sds {
                let count = self.storage.hosts.get(*sd).map_or(0, Vec::len);
                if !self.may_look_at(names.saturating_mul(count), rd) {
                    return None;
                }
                let hosts = self.storage.hosts.get(*sd).map_or(&[][..], Vec::as_slice);
                let allowed = |(host, _): &(usize, usize)| self.is_allowed(rd, *spec, *host);
                let hosts: Vec<(usize, usize)> = hosts.iter().copied().filter(allowed).collect();
                let in_order = spec.seek.is_in_order();
                let count = hosts.len();
                let mut add = |(host, path): (usize, usize), stream: (u32, u32), parts: u32| {
                    slots.push(Slot {
                        member: index,
                        sd: *sd,
                        host,
                        path,
                        stream,
                        threads: 1,
                        share: 1.0 / member.sds.len() as f64 / f64::from(parts),
                        maxdata: None,
                    });
                };
                if spec.wd.streams > 1 && count > 0 {
                    (0..spec.wd.streams).for_each(|stream| {
                        add(
                            hosts[stream as usize % count],
                            (stream, spec.wd.streams),
                            spec.wd.streams,
                        );
                    });
                } else if in_order {
                    // One position goes through the SD, so one host does it.
                    if let Some(host) = hosts.first() {
                        add(*host, (0, 1), 1);
                    }
                } else {
                    for host in &hosts {
                        add(*host, (0, 1), count as u32);
                    }
                }
                let room = (&mut self.budget, &mut self.values);
                if !room.0.has_room_for_jobs(slots.len(), rd, room.1) {
                    return None;
                }
            }
        }
        Some(slots)
    }

    fn job(&mut self, slot: &Slot, spec: Spec<'_>, context: &Context<'_>) -> Option<Job> {
        let built = self.built;
        let sd = built.sds.get(slot.sd)?;
        let host = built.hosts.get(slot.host)?;
        let flags = context
            .rd
            .openflags
            .or(spec.wd.openflags)
            .unwrap_or(sd.openflags);
        let lun = sd.paths.get(slot.path)?.lun.as_str();
        self.check_flags(slot, sd, lun, flags);
        let largest = context.ends.get(&slot.sd).copied().unwrap_or(4096);
        let (targets, features) = self.places(slot, (sd, lun), spec, (context, largest))?;
        let mix = Mix::reads(percent(spec.rdpct));
        let block = self.block(sd, spec)?;
        let limits = pace::limits(
            (context.rd, context.until_eof),
            spec,
            &block,
            mix,
            slot.maxdata,
        );
        Some(Job {
            name: self.job_name(slot, sd, spec, context),
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

    /// What a job uses of its storage, and what it does beyond plain I/O.
    fn places(
        &mut self,
        slot: &Slot,
        (sd, lun): (&Sd, &str),
        spec: Spec<'_>,
        (context, largest): (&Context<'_>, u64),
    ) -> Option<(Vec<Target>, Features)> {
        if !self.built.general.concatenatesds {
            let targets = self.targets(slot, sd, lun, spec, largest)?;
            let length = targets.first().and_then(|target| target.length);
            let features = self.features(sd, spec, context.settings, (length, largest))?;
            return Some((targets, features));
        }
        let sds = &context.members.get(slot.member)?.sds;
        let targets = self.joined_targets(slot, sds, spec, context.ends)?;
        let length = length_of(&targets);
        let mut features = self.features(sd, spec, context.settings, (length, largest))?;
        if targets.len() > 1 {
            if spec.wd.stride.is_some() {
                let what = "`stride=` is not done on SDs that are joined";
                let hint = "leave out `stride=` or `concatenatesds=`";
                return self.refuse_placement(spec, what, hint);
            }
            features.placement.get_or_insert_default().joined = true;
        }
        Some((targets, features))
    }

    /// Whether a host may do a workload.
    fn is_allowed(&self, rd: &Rd, spec: Spec<'_>, host: usize) -> bool {
        let hosts = &self.built.hosts;
        let label = hosts.get(host).map_or("", |host| host.label.as_str());
        let means = |names: &[super::Name]| {
            names.is_empty() || names.iter().any(|name| super::matches(&name.text, label))
        };
        means(&spec.wd.hosts) && means(&rd.hosts)
    }

    fn is_device(&self, sd: usize) -> bool {
        self.storage.devices.get(sd).is_some_and(|device| *device)
    }

    /// Devices are opened with flags alone.
    fn check_flags(&mut self, slot: &Slot, sd: &Sd, lun: &str, flags: OpenFlags) {
        if self.is_device(slot.sd) && flags == OpenFlags::default() && !self.options.simulate {
            let message = format!(
                "sd={}: `{lun}` is a device and has no `openflags=`, which Vdbench refuses on Linux",
                sd.name
            );
            self.values
                .error(sd.at, message, "add `openflags=o_direct`");
        }
    }

    fn job_name(&self, slot: &Slot, sd: &Sd, spec: Spec<'_>, context: &Context<'_>) -> String {
        let mut name = sd.name.clone();
        let sds = context
            .members
            .get(slot.member)
            .map_or(0, |it| it.sds.len());
        if self.built.general.concatenatesds && sds > 1 {
            name = format!("{name}+{}", sds - 1);
        }
        if context.several_wds {
            name = format!("{}/{name}", spec.wd.name);
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

    fn block(&mut self, sd: &Sd, spec: Spec<'_>) -> Option<BlockSizes> {
        let sizes = match blocks::sizes(spec.xfersize) {
            Ok(sizes) => sizes,
            Err(message) => {
                self.values.error(spec.wd.at, message, "use a larger step");
                return None;
            }
        };
        let alignment = match (spec.xfersize, sd.align) {
            (Xfersize::Range { align, .. }, 0) => Some(Bytes::new(*align)),
            (_, 0) => None,
            (_, align) => Some(Bytes::new(align)),
        };
        Some(blocks::every_way(sizes, alignment))
    }

    /// The commands of an RD go with its first job.
    pub(super) fn commands(&mut self, rd: &Rd, mut jobs: Vec<Job>) -> Vec<Job> {
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
    fn facts(&self, slots: &[Slot], specs: &[Spec<'_>]) -> RunFacts {
        let sds: BTreeMap<usize, u32> = slots.iter().fold(BTreeMap::new(), |mut sds, slot| {
            *sds.entry(slot.sd).or_insert(0) += slot.threads;
            sds
        });
        RunFacts {
            xfersize: same(specs.iter().map(|spec| spec.xfersize)).cloned(),
            threads: same(sds.values().copied()),
            rdpct: same(specs.iter().map(|spec| spec.rdpct)),
            rhpct: same(specs.iter().map(|spec| spec.rhpct)),
            whpct: same(specs.iter().map(|spec| spec.whpct)),
            seek: same(specs.iter().map(|spec| spec.seek)),
            lun_bytes: super::sum(sds.keys().filter_map(|sd| self.built.sds.get(*sd)?.size)),
        }
    }
}

/// Bytes of targets, where all are known.
fn length_of(targets: &[Target]) -> Option<Bytes> {
    let lengths = targets.iter().map(|target| target.length.map(Bytes::get));
    let lengths = lengths.collect::<Option<Vec<u64>>>()?;
    Some(Bytes::new(super::sum(lengths.into_iter())))
}

fn same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
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
fn access(spec: Spec<'_>) -> Access {
    // A stride is in the place of each seek: from the end of the last I/O.
    if let Some((stride, _)) = spec.wd.stride {
        return Access::Sequential {
            gap: Bytes::new(stride),
            scope: SequentialScope::PerWorker,
        };
    }
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
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        },
    }
}
