//! Runs on file systems: FWDs on the file sets that FSDs are.
//!
//! A run is a stage as any other. A job is one FWD on one FSD from one host; its workers are Vdbench's threads. The format
//! that comes before a run is a run of its own, as in Vdbench: `format_for_RD`.
//!
//! Here an RD becomes runs; `parts` says who does what on which set, `jobs` makes the jobs.

mod jobs;
mod parts;

use std::collections::BTreeSet;
use std::rc::Rc;

use fathom_units::{Iops, Nanos};
use fathom_workload::{
    FileTask, FileWork, Flow, Job, Limits, Poisson, RateFrom, RateRounding, RateShares, SetChoice,
    SetFormat, SetRate, Stage,
};

use self::parts::{Combination, Part, is_of_storage_alone};
use super::budget::RUNS_MAX;
use super::expand::Expander;
use super::run::{LoopSetting, Run, RunFacts, RunJob, RunKind, RunRate};
use super::sections::{
    FileIo, Fwd, Gaps, LoopKey, LoopValue, MaxData, Name, Rate, Rd, Varies, Xfersize, matches,
};
use super::shares::whole;

/// The flow that holds jobs to their shares where no rate does.
const FLOW: u32 = 1;
/// The weight of all jobs of a flow together.
const FLOW_WEIGHT: f64 = 1_000_000.0;

/// What stands for all of a rate that is not known yet, in jobs' shares of it.
const SHARES_IN_ALL: u64 = 1_000_000_000;

/// Below this `maxdata=` is a multiple of the size of all SDs.
const MULTIPLE: f64 = 100.0;

/// Loops with their values, outermost first.
type Loops = Vec<(LoopKey, Vec<LoopValue>)>;

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

impl Expander<'_> {
    /// Adds the runs of an RD on file systems.
    pub(super) fn file_system_rd(&mut self, index: usize, rd: &Rd) {
        let Some(format) = self.format_of(rd) else {
            return;
        };
        let fwds = self.fwds_of(rd);
        if fwds.is_empty() {
            // Of one that is not there it was told already.
            if !rd.fwds.is_empty() {
                return;
            }
            let message = format!("rd={}: no `fwd=` is named", rd.name);
            let hint = "name the workloads on files that it runs";
            return self.values.lacking(rd.at, message, hint);
        }
        if !self.keywords_agree(rd) || !self.maxdata_is_bytes(rd) {
            return;
        }
        self.warn_of_maxdata(rd);
        self.warn_of_idle_loops(rd);
        let Some((loops, total)) = self.loops_of(rd) else {
            return;
        };
        for number in 0..total {
            let Some(combination) = self.combination(rd, &fwds, &loops, number) else {
                return;
            };
            if let Some(what) = format.what.filter(|_| !format.once || number == 0) {
                self.format_run(index, rd, &combination, (what, format));
            }
            if !format.only {
                self.file_rates(index, rd, &combination, format);
            }
            if self.budget.is_spent() {
                return;
            }
        }
    }

    /// Whether the RD says its rate and its operations in the keywords of files, and each once.
    fn keywords_agree(&mut self, rd: &Rd) -> bool {
        let name = &rd.name;
        if !rd.rates.is_empty() {
            let message = format!(
                "rd={name}: Specifying 'iorate=' for a File System workload. Use 'fwdrate=' instead."
            );
            let hint =
                "write `fwdrate=` here; from `rd=default` it counts in every `rd=` behind it";
            self.values.error(rd.at, message, hint);
            return false;
        }
        let each = rd.loops.iter().find(|one| one.key == LoopKey::Operations);
        let Some(each) = each.filter(|_| !rd.operations.is_empty()) else {
            return true;
        };
        let message = format!(
            "rd={name}: 'operations' and 'foroperations' parameters are mutually exclusive"
        );
        let hint = "leave `operations=` to do them at once, or `foroperations=` for a run of each";
        self.values.error(each.at, message, hint);
        false
    }

    /// Whether `maxdata=` and its kin are bytes: a multiple is one of the size of SDs, of which there are none.
    fn maxdata_is_bytes(&mut self, rd: &Rd) -> bool {
        let MaxData {
            both,
            read,
            written,
        } = rd.maxdata;
        let amounts = [both, read, written].into_iter().flatten();
        let Some(multiple) = amounts.into_iter().find(|amount| *amount < MULTIPLE) else {
            return true;
        };
        let message = format!(
            "rd={}: `maxdata={multiple}` is a multiple of the size of all SDs, and a run on files has none",
            rd.name
        );
        self.values
            .error(rd.at, message, "give bytes, such as `maxdata=10g`");
        false
    }

    fn warn_of_idle_loops(&mut self, rd: &Rd) {
        for one in rd.loops.iter().filter(|one| is_of_storage_alone(one.key)) {
            let name = one.key.name();
            let message = format!("rd={}: `{name}=` changes nothing on files", rd.name);
            let hint = match one.values.len() {
                0 | 1 => "remove it: it is for SDs".to_owned(),
                several => format!("remove it: the run is done {several} times, as Vdbench does"),
            };
            self.values.warning(one.at, message, hint);
        }
    }

    /// What `format=` asks for.
    fn format_of(&mut self, rd: &Rd) -> Option<Format> {
        let mut format = Format::default();
        let says_no = |word: &Name| !word.text.is_empty() && "no".starts_with(word.text.as_str());
        if rd.format.iter().any(says_no) {
            return Some(format);
        }
        let mut what = None;
        let (mut complete, mut limited) = (false, false);
        for word in &rd.format {
            match word.text.as_str() {
                "restart" => what = Some(SetFormat::Complete),
                "clean" => (what, format.only) = (Some(SetFormat::Clean), true),
                "only" => format.only = true,
                "once" => format.once = true,
                "limited" => limited = true,
                "complete" => complete = true,
                text if "yes".starts_with(text) => {}
                text if "directories".starts_with(text) || text == "dirs" => {
                    what = Some(SetFormat::Directories);
                }
                other => {
                    let message = format!("rd={}: `format={other}` is not known", rd.name);
                    let hint = "write yes, no, only, restart, clean, once, directories or limited";
                    self.values.error(word.at, message, hint);
                    return None;
                }
            }
        }
        // Neither may end in a format that removes what was to stay.
        let (message, hint) = match () {
            () if complete => (
                "'format=yes' and 'format=complete' are mutually exclusive.",
                "write `format=(no,complete)`, or `format=no`: what is there is looked at",
            ),
            () if limited && !format.only => (
                "The use of 'format=limited' requires the use of 'format=(only,limited)'",
                "add `only`, or leave `limited` out",
            ),
            () => {
                format.limited = limited;
                if !rd.format.is_empty() {
                    format.what = Some(what.unwrap_or(SetFormat::Anew));
                }
                return Some(format);
            }
        };
        let message = format!("rd={}: {message}", rd.name);
        let at = rd.format.first().map_or(rd.at, |word| word.at);
        self.values.error(at, message, hint);
        None
    }

    /// The workloads of an RD, each once, in the order in which they are named.
    fn fwds_of(&mut self, rd: &Rd) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for name in &rd.fwds {
            if !self.may_look_at(self.built.fwds.len(), rd) {
                return Vec::new();
            }
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

    /// The RD's loops with their values, and how many combinations these have.
    fn loops_of(&mut self, rd: &Rd) -> Option<(Loops, usize)> {
        let loops = rd.loops.iter();
        let loops: Loops = loops.map(|one| (one.key, one.values.clone())).collect();
        let counts = loops.iter().map(|(_, values)| values.len());
        let total = counts.fold(1usize, usize::saturating_mul);
        if self.budget.has_room_for_runs(total) {
            return Some((loops, total));
        }
        let message = format!(
            "rd={}: its loops make {total} runs; at most {RUNS_MAX} are possible in all",
            rd.name
        );
        self.values.error(rd.at, message, "loop over fewer values");
        None
    }

    /// One combination of the loops' values.
    fn combination(
        &mut self,
        rd: &Rd,
        fwds: &[usize],
        loops: &Loops,
        number: usize,
    ) -> Option<Combination> {
        let mut rest = number;
        let mut chosen = Vec::new();
        for (key, values) in loops.iter().rev() {
            chosen.push((*key, &values[rest % values.len()]));
            rest /= values.len();
        }
        chosen.reverse();
        let parts = self.parts(rd, fwds, &chosen)?;
        let loops = chosen.iter();
        let loops = loops.map(|(key, value)| LoopSetting::of(*key, value));
        Some(Combination {
            parts,
            loops: loops.collect(),
        })
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
                fwd: Rc::new(Fwd {
                    name: "format".to_owned(),
                    fsds: Vec::new(),
                    hosts: Vec::new(),
                    operation: String::new(),
                    xfersize: Xfersize::One(work.xfersize),
                    fileio: FileIo::Sequential,
                    openflags: work.openflags,
                    target: None,
                    ..*part.fwd
                }),
                threads: work.threads.max(1),
                siblings: true,
                one_of_several: false,
                ..part.clone()
            })
            .collect();
        let limits = Limits {
            runtime: format.limited.then(|| Nanos::from_secs(rd.elapsed)),
            ..Limits::default()
        };
        let work = FileWork {
            choice: SetChoice::Sequential,
            ..FileWork::new(FileTask::Format(what))
        };
        let mut jobs = Vec::with_capacity(parts.len());
        for part in &parts {
            let Some(job) = self.file_job(rd, part, work.clone(), limits) else {
                return;
            };
            jobs.push(job);
        }
        let run = Run {
            elapsed: format.limited.then_some(rd.elapsed),
            warmup: 0,
            ..self.file_run(index, rd, &parts, &combination.loops, RunRate::Controlled)
        };
        let name = format!("format_for_{}", rd.name);
        self.add_file_run(rd, Run { name, ..run }, jobs);
    }

    /// A run for each rate, behind the second and later ones' own format.
    fn file_rates(&mut self, index: usize, rd: &Rd, combination: &Combination, format: Format) {
        if rd.varies != Varies::No {
            let message = format!(
                "rd={}: `distribution=variable` and `spike` are not done on files",
                rd.name
            );
            let hint = "use an RD for each rate, or `fwdrate=` with a list of rates";
            return self.values.error(rd.at, message, hint);
        }
        let rates = &rd.fwd_rates;
        if rates.is_empty() {
            let message = format!("No fwdrate= specified for rd={}", rd.name);
            let hint = "add `fwdrate=max` or a number";
            return self.values.lacking(rd.at, message, hint);
        }
        for (position, rate) in rates.iter().enumerate() {
            let Some((run_rate, label)) = self.file_run_rate(rd, *rate) else {
                return;
            };
            if let Some(what) = format.what.filter(|_| position > 0 && !format.once) {
                self.format_run(index, rd, combination, (what, format));
            }
            let mut loops = combination.loops.clone();
            if rates.len() > 1 {
                loops.push(LoopSetting {
                    name: "fwdrate",
                    value: label,
                });
            }
            let measured = self.runs.len();
            let parts = &combination.parts;
            let suffix = match *rate {
                Rate::OfLast(percent) => format!("_({percent}%)"),
                _ => String::new(),
            };
            if !self.file_rate(index, rd, parts, (run_rate, &loops, &suffix)) {
                return;
            }
            if *rate == Rate::Curve && !self.file_curve(index, rd, parts, (measured, &loops)) {
                return;
            }
        }
    }

    /// What a rate of an RD makes of its run, and the label of the run among those of a list.
    fn file_run_rate(&mut self, rd: &Rd, rate: Rate) -> Option<(RunRate, String)> {
        let number = match rate {
            Rate::Max => return Some((RunRate::Controlled, "max".to_owned())),
            Rate::Curve => return Some((RunRate::ControlledCurve, "max".to_owned())),
            Rate::OfLast(percent) => {
                let run = self.last_measured(rd, "fwdrate", percent)?;
                return Some((RunRate::Of { run, percent }, format!("{percent}%")));
            }
            Rate::Number(number) => number,
        };
        if number <= 0.0 {
            let message = format!("rd={}: a rate of 0 is not done on files", rd.name);
            let hint = "give a number above 0, `max` or `curve`";
            self.values.error(rd.at, message, hint);
            return None;
        }
        let whole = number.round().max(1.0);
        if whole.to_bits() != number.to_bits() {
            let message = format!(
                "rd={}: `fwdrate={number}` is done as {whole}: rates of requests are whole numbers here",
                rd.name
            );
            self.values.warning(rd.at, message, "give a whole number");
        }
        Some((RunRate::Number(whole), whole.to_string()))
    }

    /// The points of a curve behind the run that is measured; whether there may be more runs.
    fn file_curve(
        &mut self,
        index: usize,
        rd: &Rd,
        parts: &[Part],
        (measured, loops): (usize, &[LoopSetting]),
    ) -> bool {
        rd.curve.iter().all(|percent| {
            let rate = RunRate::Of {
                run: measured,
                percent: *percent,
            };
            let suffix = format!("_({percent}%)");
            self.file_rate(index, rd, parts, (rate, loops, &suffix))
        })
    }

    /// One run; whether there may be more.
    fn file_rate(
        &mut self,
        index: usize,
        rd: &Rd,
        parts: &[Part],
        (rate, loops, suffix): (RunRate, &[LoopSetting], &str),
    ) -> bool {
        let (number, rate_from) = match rate {
            RunRate::Number(number) => (Some(number as u64), None),
            RunRate::Of { run, percent } => {
                let from = RateFrom {
                    stage: run,
                    percent,
                    rounding: RateRounding::UpToHundreds,
                    shares: RateShares::AsGiven,
                };
                (Some(SHARES_IN_ALL), Some(from))
            }
            _ => (None, None),
        };
        let Some(jobs) = self.file_jobs(rd, parts, number) else {
            return false;
        };
        let run = self.file_run(index, rd, parts, loops, rate);
        let is_of_curve = rd.fwd_rates.contains(&Rate::Curve);
        let run = Run {
            name: format!("{}{suffix}", run.name),
            maxdata: rd.maxdata,
            stopcurve: rd.stopcurve.filter(|_| is_of_curve),
            ..run
        };
        self.add_file_run(rd, run, jobs);
        if let Some(stage) = self.stages.last_mut().filter(|_| rate_from.is_some()) {
            stage.rate_from = rate_from;
        }
        !self.budget.is_spent()
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
        let shares: Vec<f64> = parts.iter().map(|part| part.share).collect();
        let rates = rate.map(|rate| whole(rate, &shares));
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
            maxdata: MaxData::default(),
            stopcurve: None,
            until_eof: false,
            jobs: jobs.collect(),
            facts: RunFacts {
                xfersize: same(|part| &part.fwd.xfersize),
                // Vdbench names the threads of an RD alone, not those of its FWDs.
                threads: loops
                    .iter()
                    .find(|setting| setting.name == LoopKey::Threads.name())
                    .and_then(|setting| setting.value.parse().ok()),
                ..RunFacts::default()
            },
        }
    }

    fn add_file_run(&mut self, rd: &Rd, run: Run, jobs: Vec<Job>) {
        if !self.budget.run(&run, rd, &mut self.values) {
            return;
        }
        let name = self.stage_name(rd, &run.name, &run.loops);
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
