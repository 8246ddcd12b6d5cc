//! Runs on file systems: FWDs on the file sets that FSDs are.
//!
//! A run is a stage as any other. A job is one FWD on one FSD from one host; its workers are Vdbench's threads. The format
//! that comes before a run is a run of its own, as in Vdbench: `format_for_RD`.

use std::collections::BTreeSet;

use fathom_units::{Bytes, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, FileHandling, FileSet, FileSizes, FileSpread, FileTask, FileWork, Flow,
    Job, Limits, Mix, OpenSync, Place, Poisson, ReportGroup, SequentialScope, SetChoice, SetFormat,
    SetRate, Stage, StopAfter, SyncPolicy, Target, WeightedSize,
};

use super::expand::{Expander, JOBS_MAX, RUNS_MAX};
use super::run::{LoopSetting, Run, RunFacts, RunJob, RunKind, RunRate};
use super::sections::{
    self, FileIo, FileSelect, Fsd, Fwd, Gaps, LoopKey, LoopValue, Name, OpenFlags, Rate, Rd,
    Xfersize, matches,
};

/// The flow that holds jobs to their shares where no rate does.
const FLOW: u32 = 1;
/// The weight of all jobs of a flow together.
const FLOW_WEIGHT: f64 = 1_000_000.0;
/// Most sizes that a range of transfer sizes may have.
const RANGE_SIZES_MAX: u64 = 1024;

/// What an RD does with what is there before its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Format {
    /// What is made; `None`: nothing.
    what: Option<SetFormat>,
    /// Nothing but this is done.
    only: bool,
    /// Before the first of several runs alone.
    once: bool,
    /// It ends when `elapsed=` is over.
    limited: bool,
}

/// An FWD on an FSD from a host.
#[derive(Debug, Clone)]
struct Part {
    fwd: Fwd,
    fwd_index: usize,
    fsd: Fsd,
    fsd_index: usize,
    host: usize,
    threads: u32,
    /// Its share of the rate, of 1.
    share: f64,
    /// Whether its FWD has other parts, which its name then tells it from.
    siblings: bool,
}

/// The parts of one combination of an RD's loops.
struct Combination {
    parts: Vec<Part>,
    loops: Vec<LoopSetting>,
}

impl Expander<'_> {
    /// Adds the runs of an RD on file systems.
    pub(super) fn file_system_rd(&mut self, index: usize, rd: &Rd) {
        let Some(format) = self.format_of(rd) else {
            return;
        };
        let fwds = self.fwds_of(rd);
        if fwds.is_empty() {
            let message = format!("rd={}: no `fwd=` is named", rd.name);
            let hint = "name the workloads on files that it runs";
            return self.values.error(rd.at, message, hint);
        }
        if rd.maxdata != sections::MaxData::default() {
            let message = format!("rd={}: `maxdata=` ends no run on files here", rd.name);
            let hint = "give the time that it takes as `elapsed=`";
            self.values.warning(rd.at, message, hint);
        }
        let Some(combinations) = self.combinations_of(rd, &fwds) else {
            return;
        };
        for (number, combination) in combinations.iter().enumerate() {
            if let Some(what) = format.what.filter(|_| !format.once || number == 0) {
                self.format_run(index, rd, combination, (what, format));
            }
            if !format.only {
                self.file_rates(index, rd, combination);
            }
            if self.runs.len() >= RUNS_MAX || self.jobs >= JOBS_MAX {
                let message = format!("over {RUNS_MAX} runs or {JOBS_MAX} jobs");
                return self.values.error(rd.at, message, "define fewer");
            }
        }
    }

    /// What `format=` asks for.
    fn format_of(&mut self, rd: &Rd) -> Option<Format> {
        let mut format = Format::default();
        let says_no = |word: &String| !word.is_empty() && "no".starts_with(word.as_str());
        if rd.format.iter().any(says_no) {
            return Some(format);
        }
        let mut what = None;
        for word in &rd.format {
            match word.as_str() {
                "restart" => what = Some(SetFormat::Complete),
                "clean" => (what, format.only) = (Some(SetFormat::Clean), true),
                "only" => format.only = true,
                "once" => format.once = true,
                "limited" => format.limited = true,
                // What is there is taken for complete: Fathom looks.
                "complete" => {}
                word if "yes".starts_with(word) => {}
                word if "directories".starts_with(word) || word == "dirs" => {
                    what = Some(SetFormat::Directories);
                }
                other => {
                    let message = format!("rd={}: `format={other}` is not known", rd.name);
                    let hint = "write yes, no, only, restart, clean, once, directories or limited";
                    self.values.error(rd.at, message, hint);
                    return None;
                }
            }
        }
        if !rd.format.is_empty() {
            format.what = Some(what.unwrap_or(SetFormat::Anew));
        }
        Some(format)
    }

    /// The workloads of an RD, each once, in the order in which they are named.
    fn fwds_of(&mut self, rd: &Rd) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for name in &rd.fwds {
            let all = self.built.fwds.iter().enumerate();
            let meant: Vec<usize> = all
                .filter(|(_, fwd)| matches(&name.text, &fwd.name))
                .map(|(index, _)| index)
                .collect();
            if meant.is_empty() {
                let message = format!("Could not find fwd={} for rd={}", name.text, rd.name);
                let hint = "define it with `fwd=` before all `rd=`";
                self.values.error(name.at, message, hint);
            }
            found.extend(meant.into_iter().filter(|index| seen.insert(*index)));
        }
        found
    }

    /// Every combination of the values of the RD's loops.
    fn combinations_of(&mut self, rd: &Rd, fwds: &[usize]) -> Option<Vec<Combination>> {
        let mut loops: Vec<(LoopKey, Vec<LoopValue>)> = Vec::new();
        for one in &rd.loops {
            loops.push((one.key, one.values.clone()));
        }
        let looped = loops.iter().any(|(key, _)| *key == LoopKey::Operations);
        if !rd.operations.is_empty() && !looped {
            let words = rd.operations.iter().cloned().map(LoopValue::Word);
            loops.push((LoopKey::Operations, words.collect()));
        }
        let counts = loops.iter().map(|(_, values)| values.len());
        let total = counts.fold(1usize, usize::saturating_mul);
        if self.runs.len().saturating_add(total) > RUNS_MAX {
            let message = format!(
                "rd={}: its loops make {total} runs; at most {RUNS_MAX} are possible in all",
                rd.name
            );
            self.values.error(rd.at, message, "loop over fewer values");
            return None;
        }
        let mut combinations = Vec::new();
        for number in 0..total {
            let mut rest = number;
            let mut chosen = Vec::new();
            for (key, values) in loops.iter().rev() {
                chosen.push((*key, &values[rest % values.len()]));
                rest /= values.len();
            }
            chosen.reverse();
            let parts = self.parts(rd, fwds, &chosen)?;
            let looped = rd.loops.len() < loops.len() && rd.operations.len() < 2;
            let shown = chosen.iter().take(chosen.len() - usize::from(looped));
            let loops = shown
                .map(|(key, value)| LoopSetting::of(*key, value))
                .collect();
            combinations.push(Combination { parts, loops });
        }
        Some(combinations)
    }

    /// Who does what on which set, with these values of the loops.
    fn parts(
        &mut self,
        rd: &Rd,
        fwds: &[usize],
        chosen: &[(LoopKey, &LoopValue)],
    ) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut shares = Vec::new();
        for fwd_index in fwds {
            let mut fwd = self.built.fwds.get(*fwd_index)?.clone();
            for (key, value) in chosen {
                if !change_fwd(&mut fwd, *key, value) && !is_of_fsd(*key) {
                    let message = format!(
                        "rd={}: `{}` is for SDs, and the RD is on files",
                        rd.name,
                        key.name()
                    );
                    self.values.error(rd.at, message, "remove it");
                    return None;
                }
            }
            let fsds = self.fsds_of(rd, &fwd)?;
            let hosts = self.hosts_of(rd, &fwd);
            let count = fsds.len() * hosts.len();
            shares.push((fwd.skew, count));
            let threads = split(fwd.threads, count);
            for (number, threads) in (0..count).zip(threads) {
                let fsd_index = fsds[number / hosts.len()];
                let mut fsd = self.built.fsds.get(fsd_index)?.clone();
                for (key, value) in chosen {
                    change_fsd(&mut fsd, *key, value);
                }
                if hosts.len() > 1 {
                    let message = format!(
                        "fwd={}: several hosts work on fsd={}, and each would have to know what the others make",
                        fwd.name, fsd.name
                    );
                    let hint =
                        "give each host an FSD of its own, and name it with `host=` in the `fwd=`";
                    self.values.error(fwd.at, message, hint);
                    return None;
                }
                parts.push(Part {
                    fwd: fwd.clone(),
                    fwd_index: *fwd_index,
                    fsd,
                    fsd_index,
                    host: hosts[number % hosts.len()],
                    threads,
                    share: 0.0,
                    siblings: count > 1,
                });
            }
        }
        let shares = self.shares(rd, &shares)?;
        for (part, share) in parts.iter_mut().zip(shares) {
            part.share = share;
        }
        Some(parts)
    }

    /// Of each part of each workload its share of the rate; workloads that name none share what the others leave.
    fn shares(&mut self, rd: &Rd, workloads: &[(Option<f64>, usize)]) -> Option<Vec<f64>> {
        let given: f64 = workloads.iter().filter_map(|(skew, _)| *skew).sum();
        let open = workloads.iter().filter(|(skew, _)| skew.is_none()).count();
        let wrong = given > 100.01 || (open == 0 && (given - 100.0).abs() > 0.01);
        if wrong || (open > 0 && given >= 100.0) {
            let message = format!(
                "rd={}: Total skew must add up to 100: {given}; its workloads have shares of it",
                rd.name
            );
            self.values
                .error(rd.at, message, "change `skew=` of its `fwd=`");
            return None;
        }
        let rest = (100.0 - given) / open.max(1) as f64;
        let shares = workloads.iter().flat_map(|(skew, parts)| {
            let share = skew.unwrap_or(rest) / 100.0 / (*parts).max(1) as f64;
            std::iter::repeat_n(share, *parts)
        });
        Some(shares.collect())
    }

    fn fsds_of(&mut self, rd: &Rd, fwd: &Fwd) -> Option<Vec<usize>> {
        let names: &[Name] = if rd.fsds.is_empty() {
            &fwd.fsds
        } else {
            &rd.fsds
        };
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for name in names {
            let all = self.built.fsds.iter().enumerate();
            let meant = all.filter(|(_, fsd)| matches(&name.text, &fsd.name));
            let meant: Vec<usize> = meant.map(|(index, _)| index).collect();
            if meant.is_empty() {
                let message = format!("Could not find fsd={} for fwd={}", name.text, fwd.name);
                let hint = "define it with `fsd=` before all `fwd=`";
                self.values.error(name.at, message, hint);
            }
            found.extend(meant.into_iter().filter(|index| seen.insert(*index)));
        }
        if names.is_empty() {
            let message = format!("fwd={} parameter requires at least one 'fsd='", fwd.name);
            self.values.error(fwd.at, message, "name its FSD");
        }
        (!found.is_empty()).then_some(found)
    }

    /// The hosts of a workload; the first where it names none.
    fn hosts_of(&self, rd: &Rd, fwd: &Fwd) -> Vec<usize> {
        let names = if fwd.hosts.is_empty() {
            &rd.hosts
        } else {
            &fwd.hosts
        };
        let all = self.built.hosts.iter().enumerate();
        let meant =
            all.filter(|(_, host)| names.iter().any(|name| matches(&name.text, &host.label)));
        let meant: Vec<usize> = meant.map(|(index, _)| index).collect();
        if meant.is_empty() { vec![0] } else { meant }
    }

    /// The run that makes what another needs.
    fn format_run(
        &mut self,
        index: usize,
        rd: &Rd,
        combination: &Combination,
        (what, format): (SetFormat, Format),
    ) {
        let work = self.built.format_work;
        let mut seen = BTreeSet::new();
        let parts = combination.parts.iter();
        let parts: Vec<Part> = parts
            .filter(|part| seen.insert(part.fsd_index))
            .map(|part| Part {
                fwd: Fwd {
                    name: "format".to_owned(),
                    xfersize: Xfersize::One(work.xfersize),
                    fileio: FileIo::Sequential,
                    openflags: work.openflags,
                    ..part.fwd.clone()
                },
                threads: work.threads.max(1),
                siblings: true,
                ..part.clone()
            })
            .collect();
        let limits = Limits {
            runtime: format.limited.then(|| Nanos::from_secs(rd.elapsed)),
            ..Limits::default()
        };
        let jobs: Option<Vec<Job>> = parts
            .iter()
            .map(|part| {
                let work = FileWork {
                    choice: SetChoice::Sequential,
                    ..FileWork::new(FileTask::Format(what))
                };
                self.file_job(rd, part, work, limits)
            })
            .collect();
        let Some(jobs) = jobs else { return };
        let run = Run {
            elapsed: format.limited.then_some(rd.elapsed),
            warmup: 0,
            ..self.file_run(index, rd, &parts, &combination.loops, RunRate::Controlled)
        };
        let name = format!("format_for_{}", rd.name);
        self.add_file_run(rd, Run { name, ..run }, jobs);
    }

    /// A run for each rate.
    fn file_rates(&mut self, index: usize, rd: &Rd, combination: &Combination) {
        let rates = if rd.fwd_rates.is_empty() {
            &rd.rates
        } else {
            &rd.fwd_rates
        };
        if rates.is_empty() {
            let message = format!("rd={}: no rate is given", rd.name);
            let hint = "add `fwdrate=max` or a number";
            return self.values.error(rd.at, message, hint);
        }
        for rate in rates {
            let (run_rate, number) = match *rate {
                Rate::Max => (RunRate::Controlled, None),
                Rate::Number(number) => (RunRate::Number(number), Some(number)),
                Rate::Curve | Rate::OfLast(_) => {
                    let message = format!(
                        "rd={}: a rate that follows from another run is not done on files",
                        rd.name
                    );
                    return self.values.error(rd.at, message, "give numbers, or `max`");
                }
            };
            let mut loops = combination.loops.clone();
            if rates.len() > 1 {
                loops.push(LoopSetting {
                    name: "fwdrate",
                    value: number.map_or("max".to_owned(), |number| number.to_string()),
                });
            }
            let Some(jobs) = self.file_jobs(rd, &combination.parts, number) else {
                return;
            };
            let run = self.file_run(index, rd, &combination.parts, &loops, run_rate);
            self.add_file_run(rd, run, jobs);
        }
    }

    fn file_jobs(&mut self, rd: &Rd, parts: &[Part], rate: Option<u64>) -> Option<Vec<Job>> {
        if rd.gaps == Gaps::Uniform && rate.is_some() {
            let message = format!("rd={}: gaps are exponential instead of even", rd.name);
            self.values.warning(
                rd.at,
                message,
                "`distribution=` may be exponential or deterministic",
            );
        }
        let limits = Limits {
            warmup: Nanos::from_secs(rd.warmup),
            runtime: Some(Nanos::from_secs(rd.elapsed)),
            time_based: true,
            ..Limits::default()
        };
        let rates = rate.map(|rate| whole_parts(rate, parts));
        let mut jobs = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let mut work = self.work(part)?;
            work.rate = rates.as_ref().map(|rates| SetRate {
                rate: Iops::new(rates[number]),
                process: match rd.gaps {
                    Gaps::Deterministic => Poisson::Fixed,
                    Gaps::Exponential | Gaps::Uniform => Poisson::Exponential,
                },
            });
            let mut job = self.file_job(rd, part, work, limits)?;
            if rates.is_none() && parts.len() > 1 {
                let weight = part.share * FLOW_WEIGHT / f64::from(part.threads);
                job.features.flow = Some(Flow {
                    id: FLOW,
                    weight: (weight.round() as u32).max(1),
                    pause: Nanos::ZERO,
                });
            }
            jobs.push(job);
        }
        Some(jobs)
    }

    /// What an FWD does.
    fn work(&mut self, part: &Part) -> Option<FileWork> {
        let fwd = &part.fwd;
        let task = match (fwd.operation.as_str(), fwd.rdpct) {
            ("read" | "write", Some(_)) => FileTask::ReadWrite,
            ("read", None) => FileTask::Read,
            ("write", None) => FileTask::Write,
            ("mkdir", _) => FileTask::MakeDirectory,
            ("rmdir", _) => FileTask::RemoveDirectory,
            ("create", _) => FileTask::Create,
            ("delete", _) => FileTask::Delete,
            ("open", _) => FileTask::Open,
            ("close", _) => FileTask::Close,
            ("access", _) => FileTask::Access,
            ("getattr", _) => FileTask::GetAttributes,
            ("setattr", _) => FileTask::SetAttributes,
            ("copy", _) => FileTask::Copy,
            ("move", _) => FileTask::Move,
            (other, _) => {
                let message = format!("fwd={}: `operation={other}` is not known", fwd.name);
                self.values.error(
                    fwd.at,
                    message,
                    "write an operation of Vdbench, such as `read`",
                );
                return None;
            }
        };
        let mean = |midpoint: f64| (midpoint.round() as u32).clamp(1, 100);
        let choice = match fwd.fileselect {
            FileSelect::Sequential | FileSelect::SequentialNonZero | FileSelect::SequentialOnce => {
                SetChoice::Sequential
            }
            FileSelect::Random | FileSelect::RandomOnce => SetChoice::Random,
            FileSelect::Poisson(midpoint) => SetChoice::Poisson(mean(midpoint)),
        };
        if fwd.fileselect == FileSelect::SequentialNonZero
            || fwd.fileio == FileIo::SequentialNonZero
        {
            let message = format!("fwd={}: `seqnz` begins at the start here", fwd.name);
            self.values
                .warning(fwd.at, message, "write `seq`, or choose at random");
        }
        let moves = matches!(task, FileTask::Read | FileTask::Write | FileTask::ReadWrite);
        Some(FileWork {
            choice,
            once: matches!(
                fwd.fileselect,
                FileSelect::RandomOnce | FileSelect::SequentialOnce
            ),
            stop_after: fwd.stopafter.map(|stop| match stop {
                sections::StopAfter::Ios(ios) => StopAfter::Ios(ios.max(1)),
                sections::StopAfter::Percent(part) => StopAfter::Share(percent(part)),
            }),
            delete_first: fwd.fileio == FileIo::SequentialDelete && task == FileTask::Write,
            shared: fwd.fileio == FileIo::RandomShared && moves,
            ..FileWork::new(task)
        })
    }

    fn file_job(&mut self, rd: &Rd, part: &Part, work: FileWork, limits: Limits) -> Option<Job> {
        let Part { fwd, fsd, .. } = part;
        let host = self.built.hosts.get(part.host)?;
        let flags = rd.openflags.or(fwd.openflags).unwrap_or(fsd.openflags);
        let set = self.file_set(fsd)?;
        let mut targets = vec![target(set)];
        if work.task.has_second() {
            targets.push(target(self.second_set(part)?));
        }
        let mix = match work.task {
            FileTask::ReadWrite => Mix::reads(percent(fwd.rdpct.unwrap_or(100.0))),
            task if task.changes() => Mix::WRITE,
            _ => Mix::READ,
        };
        let name = if part.siblings {
            format!("{}/{}", fwd.name, fsd.name)
        } else {
            fwd.name.clone()
        };
        Some(Job {
            name,
            group: ReportGroup::default(),
            host: host.given.then(|| host.label.clone()),
            targets,
            file_choice: FileChoice::RoundRobin,
            workers: part.threads,
            depth: 1,
            mix,
            access: access(fwd.fileio),
            block: self.file_block(fwd)?,
            arrival: Arrival::Closed,
            limits,
            sync: sync(flags),
            contents: BufferContents::RandomStamped,
            backend: Backend::Sync,
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
            features: Features {
                filling: self.storage.filling.clone().map(Box::new),
                files: FileHandling {
                    must_exist: !self.built.general.create_anchors,
                    ..FileHandling::default()
                },
                file_work: Some(Box::new(work)),
                ..Features::default()
            },
        })
    }

    fn second_set(&mut self, part: &Part) -> Option<FileSet> {
        let fwd = &part.fwd;
        let second = fwd.target.as_ref().and_then(|name| {
            let mut all = self.built.fsds.iter();
            all.find(|fsd| fsd.name == name.text).cloned()
        });
        let Some(second) = second else {
            let message = format!(
                "fwd={}: 'target=' must name the FSD that files go to",
                fwd.name
            );
            self.values.error(
                fwd.at,
                message,
                "add `target=` with an FSD of the same shape",
            );
            return None;
        };
        self.file_set(&second)
    }

    /// The file set that an FSD is.
    fn file_set(&mut self, fsd: &Fsd) -> Option<FileSet> {
        let files = u32::try_from(fsd.files).ok();
        let Some(files) = files else {
            let message = format!("fsd={}: {} files are too many", fsd.name, fsd.files);
            self.values
                .error(fsd.at, message, "use at most ten million in all");
            return None;
        };
        Some(FileSet {
            anchor: fsd.anchor.clone(),
            depth: fsd.depth,
            width: fsd.width,
            files,
            spread: if fsd.files_everywhere {
                FileSpread::EveryDirectory
            } else {
                FileSpread::Leaves
            },
            sizes: match &fsd.sizes {
                sections::FileSizes::Around(mean) => FileSizes::Around(Bytes::new(*mean)),
                sections::FileSizes::Mix(sizes) => FileSizes::Weighted(weighted(sizes)),
            },
            total: fsd.totalsize.map(Bytes::new),
            working_set: fsd.working_set.map(Bytes::new),
        })
    }

    fn file_block(&mut self, fwd: &Fwd) -> Option<BlockSizes> {
        let sizes = match &fwd.xfersize {
            Xfersize::One(size) => return Some(BlockSizes::uniform(Bytes::new(*size))),
            Xfersize::Mix(sizes) => weighted(sizes),
            Xfersize::Range { least, most, align } => {
                let count = (most - least) / align.max(&1) + 1;
                if count > RANGE_SIZES_MAX {
                    let message = format!("fwd={}: `xfersize=` has {count} sizes", fwd.name);
                    self.values.error(fwd.at, message, "use a larger step");
                    return None;
                }
                let sizes = (0..count).map(|number| WeightedSize {
                    size: Bytes::new(least + number * align),
                    weight: 1,
                });
                sizes.collect()
            }
        };
        Some(BlockSizes {
            read: sizes.clone(),
            write: sizes.clone(),
            trim: sizes,
            alignment: None,
        })
    }

    fn file_run(
        &self,
        index: usize,
        rd: &Rd,
        parts: &[Part],
        loops: &[LoopSetting],
        rate: RunRate,
    ) -> Run {
        let jobs = parts.iter().map(|part| RunJob {
            sd: part.fsd_index,
            wd: (part.fwd.name != "format").then_some(part.fwd_index),
            host: part.host,
            stream: 0,
            threads: part.threads,
        });
        let first = parts.first();
        let same = |of: fn(&Part) -> &Xfersize| {
            let size = first.map(of)?;
            parts
                .iter()
                .all(|part| of(part) == size)
                .then(|| size.clone())
        };
        Run {
            name: rd.name.clone(),
            rd: Some(index),
            kind: RunKind::FileSystem,
            stage: self.stages.len(),
            rate,
            loops: loops.to_vec(),
            elapsed: Some(rd.elapsed),
            warmup: rd.warmup,
            interval: rd.interval.max(1),
            pause: rd.pause,
            maxdata: sections::MaxData::default(),
            stopcurve: None,
            until_eof: false,
            jobs: jobs.collect(),
            facts: RunFacts {
                xfersize: same(|part| &part.fwd.xfersize),
                ..RunFacts::default()
            },
        }
    }

    fn add_file_run(&mut self, rd: &Rd, run: Run, jobs: Vec<Job>) {
        let name = self.stage_name(rd, &run.name, &run.loops);
        self.jobs += jobs.len();
        let jobs = self.commands(rd, jobs);
        self.stages.push(Stage {
            name,
            jobs,
            cooldown: Nanos::from_secs(run.pause),
            repeats: 1,
            discard: false,
            rate_from: None,
        });
        self.runs.push(run);
    }
}

/// Puts a loop's value in place of the workload's own; false where it is none of a workload on files.
fn change_fwd(fwd: &mut Fwd, key: LoopKey, value: &LoopValue) -> bool {
    match (key, value) {
        (LoopKey::Threads, LoopValue::Number(number)) => fwd.threads = (*number as u32).max(1),
        (LoopKey::Xfersize, LoopValue::Xfersize(size)) => fwd.xfersize = size.clone(),
        (LoopKey::Rdpct, LoopValue::Number(number)) => fwd.rdpct = Some(*number),
        (LoopKey::Operations, LoopValue::Word(word)) => fwd.operation.clone_from(word),
        _ => return false,
    }
    true
}

const fn is_of_fsd(key: LoopKey) -> bool {
    matches!(
        key,
        LoopKey::Depth
            | LoopKey::Width
            | LoopKey::Files
            | LoopKey::Sizes
            | LoopKey::Totalsize
            | LoopKey::Wss
    )
}

fn change_fsd(fsd: &mut Fsd, key: LoopKey, value: &LoopValue) {
    let LoopValue::Number(number) = value else {
        return;
    };
    match key {
        LoopKey::Depth => fsd.depth = *number as u32,
        LoopKey::Width => fsd.width = *number as u32,
        LoopKey::Files => fsd.files = *number as u64,
        LoopKey::Sizes => fsd.sizes = sections::FileSizes::Mix(vec![(*number as u64, 100.0)]),
        LoopKey::Totalsize => fsd.totalsize = Some(*number as u64),
        LoopKey::Wss => fsd.working_set = Some(*number as u64),
        _ => {}
    }
}

fn target(set: FileSet) -> Target {
    Target {
        place: Place::FileSet(Box::new(set)),
        offset: Bytes::ZERO,
        length: None,
    }
}

fn access(fileio: FileIo) -> Access {
    match fileio {
        FileIo::Sequential | FileIo::SequentialNonZero | FileIo::SequentialDelete => {
            Access::Sequential {
                gap: Bytes::ZERO,
                scope: SequentialScope::PerWorker,
            }
        }
        FileIo::Random | FileIo::RandomShared => Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
    }
}

fn sync(flags: OpenFlags) -> SyncPolicy {
    SyncPolicy {
        open: if flags.dsync {
            OpenSync::Dsync
        } else {
            OpenSync::None
        },
        on_close: flags.fsync,
        ..SyncPolicy::default()
    }
}

/// Sizes with their shares in percent, as weights of a hundredth of a percent.
fn weighted(sizes: &[(u64, f64)]) -> Vec<WeightedSize> {
    let entry = |(size, share): &(u64, f64)| WeightedSize {
        size: Bytes::new(*size),
        weight: (share * 100.0).round() as u32,
    };
    sizes.iter().map(entry).collect()
}

fn percent(percent: f64) -> Percent {
    let points = (percent.clamp(0.0, 100.0) * 100.0).round() as u32;
    Percent::from_basis_points(points).unwrap_or(Percent::ALL)
}

/// Threads over parts, at least one each; what is left over goes to the first.
fn split(threads: u32, parts: usize) -> Vec<u32> {
    let count = parts.max(1) as u32;
    let part = |number| (threads / count + u32::from(number < threads % count)).max(1);
    (0..parts as u32).map(part).collect()
}

/// A rate over parts by their shares: whole numbers that add up to it, each at least 1.
fn whole_parts(rate: u64, parts: &[Part]) -> Vec<u64> {
    let mut given = 0;
    let mut exact = 0.0;
    let part = |part: &Part| {
        exact += part.share * rate as f64;
        let upto = exact.round() as u64;
        let own = upto.saturating_sub(given);
        given = upto;
        own.max(1)
    };
    parts.iter().map(part).collect()
}
