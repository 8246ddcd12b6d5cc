//! From what was read to what the output needs to know.

use std::collections::BTreeMap;

use fathom_units::Nanos;
use fathom_workload::{FileTask, Job, SetFormat, SetOperation, Workload};
use jiff::tz::TimeZone;

use super::histogram::LIMITS;
use super::{Asked, Asks, Detail, JobPlace, Layout, Rate, RunLayout, Without};
use crate::vdbench::{Run, RunKind, RunRate, Seek, VdbenchInput, Xfersize};

/// The name that formats are reported by.
const FORMAT: &str = "format";
/// The rate that a simulation takes for the maximum of a curve.
const SIMULATED_MAX: f64 = 10_000.0;

/// The names that something defined is used by: what no run uses has no file.
struct Used {
    /// How many of the first kind there are: storage before file systems.
    first: usize,
    /// New index by old one.
    places: Vec<Option<usize>>,
    names: Vec<String>,
}

impl Used {
    /// Names of two kinds one after the other (SDs and FSDs, WDs and FWDs), of which those `used` count.
    fn new(first: Vec<&str>, second: Vec<&str>, used: &[usize]) -> Self {
        let mut names = Vec::new();
        let mut places = Vec::new();
        let count = first.len();
        for (index, name) in first.into_iter().chain(second).enumerate() {
            let is_used = used.binary_search(&index).is_ok();
            places.push(is_used.then_some(names.len()));
            if is_used {
                names.push(name.to_owned());
            }
        }
        Self {
            first: count,
            places,
            names,
        }
    }

    fn place(&self, index: usize) -> Option<usize> {
        self.places.get(index).copied().flatten()
    }

    /// Index of the first used one of the second kind.
    fn first_of_second(&self) -> usize {
        let first = self.places.iter().take(self.first);
        first.flatten().count()
    }

    /// The same for something of a run's kind.
    fn of_kind(&self, kind: RunKind, index: usize) -> Option<usize> {
        self.place(index + offset(kind, self.first))
    }
}

/// Where the names of a kind begin.
fn offset(kind: RunKind, first: usize) -> usize {
    match kind {
        RunKind::FileSystem => first,
        RunKind::SdFormat | RunKind::Recovery | RunKind::Storage => 0,
    }
}

fn sorted(indices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut indices: Vec<usize> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// What the output of `input` in `directory` needs to know; `program` and `process` are ours. `workload` is what runs,
/// which may have been taken out of the input.
pub fn layout(
    (input, workload): (&VdbenchInput, &Workload),
    directory: String,
    zone: TimeZone,
    (program, process): (String, u32),
) -> Layout {
    let jobs = || {
        let runs = input.runs.iter();
        runs.flat_map(|run| run.jobs.iter().map(|job| (run.kind, job)))
    };
    let hosts = input.hosts.iter().map(|host| host.label.as_str());
    let used = sorted(jobs().map(|(_, job)| job.host));
    let hosts = Used::new(hosts.collect(), Vec::new(), &used);
    let storage = input.sds.iter().map(|sd| sd.name.as_str());
    let trees = input.fsds.iter().map(|fsd| fsd.name.as_str());
    // FSDs and FWDs that no run uses have files too, as in 5.04.07.
    let on_files = input.runs.iter().any(|run| run.kind == RunKind::FileSystem);
    let all = |first: usize, count: usize| first..first + if on_files { count } else { 0 };
    let all_fsds = all(input.sds.len(), input.fsds.len());
    let all_fwds = all(input.wds.len(), input.fwds.len());
    let used = jobs().map(|(kind, job)| job.sd + offset(kind, input.sds.len()));
    let used = sorted(used.chain(all_fsds));
    let sds = Used::new(storage.collect(), trees.collect(), &used);
    let on_storage = input.wds.iter().map(|wd| wd.name.as_str());
    let on_trees = input.fwds.iter().map(|fwd| fwd.name.as_str());
    let wds = jobs().filter_map(|(kind, job)| Some(job.wd? + offset(kind, input.wds.len())));
    let used = sorted(wds.chain(all_fwds));
    let mut wds = Used::new(on_storage.collect(), on_trees.collect(), &used);
    let formats = input.runs.iter().any(Run::is_format);
    let format = wds.names.len();
    wds.names.extend(formats.then(|| FORMAT.to_owned()));
    let runs = input.runs.iter().map(|run| RunLayout {
        name: run.name.clone(),
        loops: Some(run.loops_label()).filter(|_| !run.loops.is_empty()),
        rate: rate(run.rate),
        elapsed: run.elapsed.map(Nanos::from_secs),
        warmup: Nanos::from_secs(run.warmup),
        interval: Nanos::from_secs(run.interval.max(1)),
        jobs: run
            .jobs
            .iter()
            .zip(asks_of(workload, run))
            .map(|(job, asks)| JobPlace {
                host: hosts.place(job.host).unwrap_or(0),
                sd: sds.of_kind(run.kind, job.sd).unwrap_or(0),
                wd: match job.wd {
                    None if run.is_format() => Some(format),
                    wd => wd.and_then(|wd| wds.of_kind(run.kind, wd)),
                },
                asks,
            })
            .collect(),
        on_files: run.kind == RunKind::FileSystem,
        is_format: run.is_format(),
        asked: asked(input, run),
        skews: skews(input, run, &wds),
    });
    let runs: Vec<RunLayout> = runs.collect();
    Layout {
        directory,
        zone,
        program,
        process,
        operations: operations(input, &runs),
        runs,
        hosts: hosts.names,
        first_fsd: sds.first_of_second(),
        sds: sds.names,
        first_fwd: wds.first_of_second(),
        wds: wds.names,
        detail: detail(&input.general.report),
        response_limits: match &input.general.histogram {
            given if given.is_empty() => LIMITS.to_vec(),
            given => given.clone(),
        },
        decimal_megabytes: input.options.decimal_megabytes,
    }
}

/// What the words of `report=` ask for.
fn detail(report: &[String]) -> Detail {
    let asks_for = |word: &str| report.iter().any(|other| other == word);
    Detail {
        by_host: asks_for("host_detail"),
        by_slave: asks_for("slave_detail"),
        without: Without {
            sds: asks_for("no_sd_detail"),
            fsds: asks_for("no_fsd_detail"),
        },
    }
}

/// What each job of a run is asked to do.
fn asks_of<'i>(workload: &'i Workload, run: &'i Run) -> impl Iterator<Item = Asks> + 'i {
    let stage = workload.stages.get(run.stage);
    let jobs = stage.map_or(&[][..], |stage| &stage.jobs);
    (0..run.jobs.len()).map(|index| jobs.get(index).map_or(Asks::Storage, asks))
}

fn asks(job: &Job) -> Asks {
    use SetOperation as Op;
    let Some(work) = &job.features.file_work else {
        return Asks::Storage;
    };
    match work.task {
        FileTask::Read
        | FileTask::Write
        | FileTask::ReadWrite
        | FileTask::Format(SetFormat::Anew | SetFormat::Complete) => Asks::Moves,
        FileTask::MakeDirectory | FileTask::Format(SetFormat::Directories) => {
            Asks::Does(Op::MakeDirectory)
        }
        FileTask::RemoveDirectory => Asks::Does(Op::RemoveDirectory),
        FileTask::Create => Asks::Does(Op::Create),
        FileTask::Delete | FileTask::Format(SetFormat::Clean) => Asks::Does(Op::Delete),
        FileTask::Open => Asks::Does(Op::Open),
        FileTask::Close => Asks::Does(Op::Close),
        FileTask::Access => Asks::Does(Op::Access),
        FileTask::GetAttributes => Asks::Does(Op::GetAttributes),
        FileTask::SetAttributes => Asks::Does(Op::SetAttributes),
        FileTask::Copy => Asks::Does(Op::Copy),
        FileTask::Move => Asks::Does(Op::Move),
    }
}

/// The operations that have columns: what any FWD or run asks for, and what formats do.
fn operations(input: &VdbenchInput, runs: &[RunLayout]) -> Vec<SetOperation> {
    let formats = runs.iter().any(|run| run.is_format);
    super::set_row::columns(formats, |operation| {
        let mut jobs = runs.iter().flat_map(|run| &run.jobs);
        let mut fwds = input.fwds.iter();
        fwds.any(|fwd| fwd.operation == operation.name())
            || jobs.any(|job| job.asks == Asks::Does(operation))
    })
}

fn rate(rate: RunRate) -> Rate {
    match rate {
        RunRate::Uncontrolled => Rate::Max,
        RunRate::Controlled => Rate::ControlledMax,
        RunRate::UncontrolledCurve => Rate::Curve,
        RunRate::ControlledCurve => Rate::ControlledCurve,
        RunRate::Number(rate) => Rate::Number(rate),
        RunRate::Varying(most) => Rate::Varying(most as f64),
        RunRate::Of { percent, .. } => Rate::Number(SIMULATED_MAX * percent / 100.0),
    }
}

fn asked(input: &VdbenchInput, run: &Run) -> Asked {
    let facts = &run.facts;
    Asked {
        xfersize: facts.xfersize.as_ref().and_then(|size| match size {
            Xfersize::One(size) => Some(*size),
            Xfersize::Mix(_) | Xfersize::Range { .. } => None,
        }),
        threads: facts.threads.map(u64::from),
        rdpct: facts.rdpct,
        rhpct: facts.rhpct,
        whpct: facts.whpct,
        seekpct: facts.seek.and_then(|seek| match seek {
            Seek::Percent(percent) => Some(percent),
            Seek::SequentialNonZero => Some(0.0),
            Seek::Eof | Seek::Poisson(_) => None,
        }),
        size: facts.lun_bytes,
        compratio: input.general.compratio,
        dedupratio: input.general.dedupratio,
    }
}

/// Shares of the WDs of a run; what those with a share leave goes to the others in equal parts. A WD with a rate of its own
/// (`iorate=`) has it of the run's, and the others share what it leaves; of a run as fast as it can be that is no share.
fn skews(input: &VdbenchInput, run: &Run, used: &Used) -> Vec<(usize, f64)> {
    let wds = sorted(run.jobs.iter().filter_map(|job| job.wd));
    let asked: Vec<_> = wds
        .iter()
        .map(|wd| {
            let skew = match run.kind {
                RunKind::FileSystem => {
                    let skew = input.fwds.get(*wd).and_then(|fwd| fwd.skew);
                    skew.map(|skew| skew * operations_at_once(run, *wd))
                }
                RunKind::SdFormat | RunKind::Recovery | RunKind::Storage => {
                    input.wds.get(*wd).and_then(|wd| wd.skew)
                }
            };
            (*wd, skew)
        })
        .collect();
    // FWDs share equally where none says otherwise, and 5.04.07 holds nothing against that.
    if run.kind == RunKind::FileSystem && asked.iter().all(|(_, skew)| skew.is_none()) {
        return Vec::new();
    }
    let own = own_rates(input, run, &wds);
    let sharing = || asked.iter().filter(|(wd, _)| !own.contains_key(wd));
    let given: f64 = sharing().filter_map(|(_, skew)| *skew).sum();
    let without = sharing().filter(|(_, skew)| skew.is_none()).count();
    let rest = (100.0 - given).max(0.0) / without.max(1) as f64;
    let paced: f64 = own.values().sum();
    let shared = match run.rate {
        RunRate::Number(rate) if sharing().count() > 0 => Some((rate - paced).max(0.0)),
        RunRate::Number(_) => Some(0.0),
        _ => None,
    };
    let percent = |wd: &usize, skew: &Option<f64>| match (own.get(wd), shared) {
        (Some(rate), Some(shared)) => rate * 100.0 / (shared + paced),
        (Some(_), None) => 0.0,
        (None, Some(shared)) if paced > 0.0 => skew.unwrap_or(rest) * shared / (shared + paced),
        (None, _) => skew.unwrap_or(rest),
    };
    let shares = asked.iter();
    let shares =
        shares.filter_map(|(wd, skew)| Some((used.of_kind(run.kind, *wd)?, percent(wd, skew))));
    shares.collect()
}

/// How many operations an FWD does at once on each of its FSDs, of which each has its share.
fn operations_at_once(run: &Run, fwd: usize) -> f64 {
    let own = || run.jobs.iter().filter(|job| job.wd == Some(fwd));
    let trees = sorted(own().map(|job| job.sd));
    own().count() as f64 / trees.len().max(1) as f64
}

/// The WDs with a rate of their own.
fn own_rates(input: &VdbenchInput, run: &Run, wds: &[usize]) -> BTreeMap<usize, f64> {
    if run.kind != RunKind::Storage {
        return BTreeMap::new();
    }
    let own = wds.iter();
    let own = own.filter_map(|wd| Some((*wd, input.wds.get(*wd)?.iorate? as f64)));
    own.collect()
}
