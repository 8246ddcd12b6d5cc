//! Fitting what was read to where it is run: hosts that are this machine, sizes of what exists, files that are short.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fathom_units::{Bytes, Nanos, counted};
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, Features, FileHandling, Growth, Job, Limits, Mix,
    SequentialScope, Stage, Target,
};

use super::VdbenchInput;
use super::options::Here;
use super::run::{Run, RunFacts, RunJob, RunKind, RunRate};
use super::sections::{FormatSds, Host, Seek, Xfersize, matches};
use crate::fio::{FileStatus, Files};

/// Name of the run that writes files before all others.
pub(super) const FORMAT_NAME: &str = "SD_format";
/// Its transfer size.
const FORMAT_SIZE: u64 = 128 << 10;
/// I/Os outstanding on each SD while it is written.
const FORMAT_THREADS: u32 = 2;
/// A short file is written on from the last whole one of these.
const RESUME_UNIT: u64 = 1 << 20;

/// Hosts of the file that are other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherHosts {
    /// Their labels with their systems.
    pub hosts: Vec<(String, String)>,
}

impl fmt::Display for OtherHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.hosts.iter().take(3);
        let named: Vec<String> = named
            .map(|(label, system)| format!("`{label}` (`{system}`)"))
            .collect();
        write!(f, "{}", named.join(", "))?;
        if self.hosts.len() > named.len() {
            write!(f, " and {} more", self.hosts.len() - named.len())?;
        }
        let (verb, noun) = if self.hosts.len() == 1 {
            ("is", "host")
        } else {
            ("are", "hosts")
        };
        write!(
            f,
            " {verb} other {noun} than this one, and a run does the work of this one alone"
        )
    }
}

impl OtherHosts {
    /// What to do.
    pub fn hint(&self) -> String {
        let first = self.hosts.first().map_or("", |(label, _)| label.as_str());
        format!(
            "start it on each host at one time with that host's label, `fathom run --start-at TIME vdbench --here={first} …`, \
             and make one record of their runs with `fathom merge`; or have `mpirun … fathom-mpi run vdbench …` share the work out \
             among them (docs/hosts.md); or let this machine do the work of all with `--here=all`"
        )
    }
}

impl std::error::Error for OtherHosts {}

/// Which hosts of a file a machine does the work of, by their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostShare {
    /// Those.
    pub own: Vec<String>,
    /// All that have any work.
    pub all: Vec<String>,
}

impl VdbenchInput {
    /// Fits the workload to this machine, whose files `files` sees: jobs of its hosts run here, those of others are left
    /// out where `--here=` says so; ranges end where files and devices end; files that are shorter than their `size=`
    /// are written by a run before all others; and what journals tell of is read by one before that. `seed` counts from now on. Gives what a reader of the results should know.
    ///
    /// Paths are those of the workload: they may have been mapped since it was read.
    ///
    /// # Errors
    /// Hosts that are neither this machine nor stood in for.
    pub fn settle(&mut self, files: &dyn Files, seed: u64) -> Result<Vec<String>, OtherHosts> {
        let mut notes = Vec::new();
        let here = self.hosts_here(files)?;
        notes.extend(self.leave_out_others(&here));
        self.workload.seed = seed;
        self.fit_to_files(files);
        // Vdbench makes no files for SDs that are joined; what is short is laid out before the run.
        if self.general.formatsds != FormatSds::Never && !self.general.concatenatesds {
            let always = self.general.formatsds == FormatSds::Always;
            self.add_format(&|path| match files.status(path) {
                FileStatus::Regular(size) if !always => Some(size.get()),
                FileStatus::Regular(_) | FileStatus::Missing => Some(0),
                FileStatus::Directory | FileStatus::Special(_) => None,
            });
        }
        self.add_recovery();
        Ok(notes)
    }

    /// Makes this one of several machines that run the file together: it does the work of the hosts that it is, and of those
    /// that `--here=` names. `None` where the file names no hosts: then every machine does all of it.
    pub fn among_others(&mut self, files: &dyn Files) -> Option<HostShare> {
        if !self.hosts.iter().any(|host| host.given) {
            return None;
        }
        if self.options.here == Here::ThisMachine {
            let machine = ThisMachine::look(files);
            let own = self.hosts.iter().filter(|host| machine.is_host(host));
            self.options.here = Here::Labels(own.map(|host| host.label.clone()).collect());
        }
        let jobs = self.runs.iter().flat_map(|run| &run.jobs);
        let used: BTreeSet<usize> = jobs.map(|job| job.host).collect();
        let used: Vec<&Host> = used.iter().filter_map(|at| self.hosts.get(*at)).collect();
        let is_own = |host: &&&Host| match &self.options.here {
            Here::Labels(labels) => labels.iter().any(|label| matches(label, &host.label)),
            _ => true,
        };
        let labels = |hosts: Vec<&&Host>| hosts.iter().map(|host| host.label.clone()).collect();
        Some(HostShare {
            own: labels(used.iter().filter(is_own).collect()),
            all: labels(used.iter().collect()),
        })
    }

    /// Adds the run that writes all files, as if none were there: for predictions with their layout.
    pub fn with_layout(&mut self) {
        self.add_format(&|_| Some(0));
    }

    /// For each host whether it is this machine.
    fn hosts_here(&self, files: &dyn Files) -> Result<Vec<bool>, OtherHosts> {
        let machine = ThisMachine::look(files);
        let is_here = |host: &Host| match &self.options.here {
            Here::All => true,
            Here::ThisMachine => machine.is_host(host),
            Here::Labels(labels) => labels.iter().any(|label| matches(label, &host.label)),
        };
        let here: Vec<bool> = self.hosts.iter().map(is_here).collect();
        let used: BTreeSet<usize> = self
            .runs
            .iter()
            .flat_map(|run| &run.jobs)
            .map(|job| job.host)
            .collect();
        let others = || {
            used.iter()
                .filter(|host| !here.get(**host).is_some_and(|here| *here))
        };
        let refused = match self.options.here {
            Here::Labels(_) => {
                used.iter()
                    .all(|host| !here.get(*host).is_some_and(|here| *here))
                    && !used.is_empty()
            }
            _ => others().next().is_some(),
        };
        if refused {
            let named = others().filter_map(|host| self.hosts.get(*host));
            return Err(OtherHosts {
                hosts: named
                    .map(|host| (host.label.clone(), host.system.clone()))
                    .collect(),
            });
        }
        Ok(here)
    }

    /// Takes the jobs of other hosts out, and runs that have no others.
    fn leave_out_others(&mut self, here: &[bool]) -> Option<String> {
        let is_here = |job: &RunJob| here.get(job.host).is_some_and(|here| *here);
        let mut left_out = 0;
        for run in &mut self.runs {
            let Some(stage) = self.workload.stages.get_mut(run.stage) else {
                continue;
            };
            let kept: Vec<bool> = run.jobs.iter().map(is_here).collect();
            left_out += kept.iter().filter(|kept| !**kept).count();
            let mut index = 0;
            stage.jobs.retain(|_| {
                index += 1;
                kept.get(index - 1).is_none_or(|kept| *kept)
            });
            run.jobs.retain(is_here);
            for job in &mut stage.jobs {
                job.host = None;
            }
        }
        if left_out == 0 {
            return None;
        }
        self.drop_empty_runs();
        let labels = self.hosts.iter().zip(here).filter(|(_, here)| **here);
        let labels: Vec<&str> = labels.map(|(host, _)| host.label.as_str()).collect();
        let jobs = counted(
            left_out as u64,
            ("job of another host is", "jobs of other hosts are"),
        );
        Some(format!(
            "this is the part of {} alone: {jobs} left out, and rates are this part's share",
            labels.join(", ")
        ))
    }

    fn drop_empty_runs(&mut self) {
        let is_empty: BTreeSet<usize> = self
            .runs
            .iter()
            .filter(|run| run.jobs.is_empty())
            .map(|run| run.stage)
            .collect();
        if is_empty.is_empty() {
            return;
        }
        let renumbered = |index: usize| index - is_empty.range(..index).count();
        self.runs.retain(|run| !run.jobs.is_empty());
        for run in &mut self.runs {
            run.stage = renumbered(run.stage);
            if let RunRate::Of { run: measured, .. } = &mut run.rate {
                *measured = renumbered(*measured);
            }
        }
        let mut index = 0;
        self.workload.stages.retain(|_| {
            index += 1;
            !is_empty.contains(&(index - 1))
        });
        for stage in &mut self.workload.stages {
            if let Some(from) = &mut stage.rate_from {
                from.stage = renumbered(from.stage);
            }
        }
    }

    /// Ends the ranges of SDs without a `size=` at the last whole transfer of what exists.
    fn fit_to_files(&mut self, files: &dyn Files) {
        let mut sizes: BTreeMap<String, Option<u64>> = BTreeMap::new();
        for run in &self.runs {
            let Some(stage) = self.workload.stages.get_mut(run.stage) else {
                continue;
            };
            let mut largest: BTreeMap<String, u64> = BTreeMap::new();
            for job in &stage.jobs {
                let block = job.block.largest(job.mix).get().max(1);
                for target in &job.targets {
                    let entry = largest
                        .entry(target.place.path().to_owned())
                        .or_insert(block);
                    *entry = block.max(*entry);
                }
            }
            for target in stage.jobs.iter_mut().flat_map(|job| &mut job.targets) {
                if target.length.is_some() {
                    continue;
                }
                let path = target.place.path();
                let size =
                    *sizes
                        .entry(path.to_owned())
                        .or_insert_with(|| match files.status(path) {
                            FileStatus::Regular(size) | FileStatus::Special(Some(size)) => {
                                Some(size.get())
                            }
                            _ => None,
                        });
                let block = largest.get(path).copied().unwrap_or(1);
                let whole =
                    size.map(|size| (size - size % block).saturating_sub(target.offset.get()));
                target.length = whole.filter(|length| *length > 0).map(Bytes::new);
            }
        }
    }

    /// Puts the run before all others that writes files to their `size=`, where any is shorter; `size_of` says how large
    /// a file is, `None` for what is never written so.
    fn add_format(&mut self, size_of: &dyn Fn(&str) -> Option<u64>) {
        let mut seen = BTreeSet::new();
        let mut jobs = Vec::new();
        let mut run_jobs = Vec::new();
        for run in self.runs.iter().filter(|run| run.kind == RunKind::Storage) {
            let Some(stage) = self.workload.stages.get(run.stage) else {
                continue;
            };
            for (job, run_job) in stage.jobs.iter().zip(&run.jobs) {
                let Some(sd) = self.sds.get(run_job.sd) else {
                    continue;
                };
                let (Some(size), Some(target)) = (sd.size, job.targets.first()) else {
                    continue;
                };
                let path = target.place.path();
                if !seen.insert(path.to_owned()) {
                    continue;
                }
                let has = size_of(path).filter(|has| *has < size && !sd.is_device());
                let Some(has) = has else {
                    continue;
                };
                let from = has - has % RESUME_UNIT;
                jobs.push(format_job(
                    job,
                    target,
                    (from, size),
                    self.general.formatxfersize,
                ));
                run_jobs.push(RunJob {
                    wd: None,
                    stream: 0,
                    threads: FORMAT_THREADS,
                    ..*run_job
                });
            }
        }
        if jobs.is_empty() {
            return;
        }
        let bytes = run_jobs
            .iter()
            .filter_map(|job| self.sds.get(job.sd)?.size)
            .sum();
        self.shift_runs();
        self.runs
            .insert(0, format_run(run_jobs, self.general.formatxfersize, bytes));
        let stage = Stage {
            name: FORMAT_NAME.to_owned(),
            jobs,
            cooldown: Nanos::ZERO,
            repeats: 1,
            discard: false,
            rate_from: None,
        };
        self.workload.stages.insert(0, stage);
    }

    /// Makes room for a run before all others.
    pub(super) fn shift_runs(&mut self) {
        for run in &mut self.runs {
            run.stage += 1;
            if let RunRate::Of { run: measured, .. } = &mut run.rate {
                *measured += 1;
            }
        }
        for stage in &mut self.workload.stages {
            if let Some(from) = &mut stage.rate_from {
                from.stage += 1;
            }
        }
    }
}

fn format_run(jobs: Vec<RunJob>, xfersize: Option<u64>, bytes: u64) -> Run {
    let facts = RunFacts {
        xfersize: Some(Xfersize::One(xfersize.unwrap_or(FORMAT_SIZE))),
        threads: Some(FORMAT_THREADS),
        rdpct: Some(0.0),
        rhpct: Some(0.0),
        whpct: Some(0.0),
        seek: Some(Seek::Eof),
        lun_bytes: bytes,
    };
    Run::before_all((FORMAT_NAME, RunKind::SdFormat), jobs, facts)
}

/// Writes a file from where it ends to its size, as `like` opens it.
fn format_job(like: &Job, target: &Target, (from, size): (u64, u64), xfersize: Option<u64>) -> Job {
    let length = size - from;
    // The last transfer must end where the file does.
    let mut block = xfersize.unwrap_or(FORMAT_SIZE).min(length);
    while block > 512 && !length.is_multiple_of(block) {
        block = if block.is_power_of_two() {
            block / 2
        } else {
            block.next_power_of_two() / 2
        };
    }
    let place = target.place.clone();
    Job {
        targets: vec![Target {
            place,
            offset: Bytes::new(from),
            length: Some(Bytes::new(length)),
        }],
        workers: 1,
        depth: FORMAT_THREADS,
        mix: Mix::WRITE,
        access: Access::Sequential {
            gap: Bytes::ZERO,
            scope: SequentialScope::PerWorker,
        },
        block: BlockSizes::uniform(Bytes::new(block.max(1))),
        arrival: Arrival::Closed,
        limits: Limits::default(),
        backend: Backend::IoUring,
        features: Features {
            files: FileHandling {
                grows: Growth::Whole,
                ..FileHandling::default()
            },
            // What it writes is known to the runs behind it.
            validate: like.features.validate.clone(),
            ..Features::default()
        },
        ..like.clone()
    }
}

/// What this machine is called.
struct ThisMachine {
    names: BTreeSet<String>,
}

impl ThisMachine {
    /// Its host name, and its addresses as the kernel's table of routes has them; nothing is asked of the network.
    fn look(files: &dyn Files) -> Self {
        let mut names: BTreeSet<String> = ["localhost", "::1"].map(str::to_owned).into();
        let read = |path: &str| files.read_text(path).unwrap_or_default();
        for path in ["/proc/sys/kernel/hostname", "/etc/hostname"] {
            let name = read(path).trim().to_ascii_lowercase();
            if let Some((short, _)) = name.split_once('.') {
                names.insert(short.to_owned());
            }
            names.insert(name);
        }
        let routes = read("/proc/net/fib_trie");
        let mut address = "";
        for line in routes.lines().map(str::trim) {
            match line.strip_prefix("|-- ") {
                Some(found) => address = found,
                None if line.starts_with("/32 host LOCAL") => {
                    names.insert(address.to_owned());
                }
                None => {}
            }
        }
        names.remove("");
        Self { names }
    }

    fn is_host(&self, host: &Host) -> bool {
        self.is(&host.label) || self.is(&host.system)
    }

    fn is(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        name.starts_with("127.")
            && name
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
            || self.names.contains(&name)
    }
}
