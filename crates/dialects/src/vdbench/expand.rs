//! From run definitions to runs: who takes part, in which combination of loops, at which rate.
//!
//! Loops nest in the order of their keywords; the rates are the innermost, wherever they stand. A curve is one run at full
//! speed and one for each point.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use fathom_diagnostics::{Diagnostic, nearest};
use fathom_units::Nanos;
use fathom_workload::{RateFrom, RateRounding, RateShares, Stage, Workload};

use super::budget::{self, Budget, RUNS_MAX};
use super::build::Built;
use super::jobs::{Member, Settings, Storage};
use super::options::Options;
use super::run::{LoopSetting, Run, RunFacts, RunKind, RunRate};
use super::sections::{
    Loop, LoopKey, LoopValue, MaxData, Name, Rate, Rd, Repeat, Varies, Wd, matches,
};
use super::values::Values;

/// Longest list of rates that follow one another, s.
const VARIES_MAX: u64 = 3600;
/// Most names that wildcards are held against.
const LOOKUPS_MAX: usize = 5_000_000;

const TOO_MANY_NAMES: &str = "the names and wildcards of all RDs are held against too many names";

/// Runs under way.
pub(super) struct Expander<'a> {
    pub(super) built: &'a Built,
    pub(super) options: &'a Options,
    pub(super) values: Values<'a>,
    pub(super) storage: Storage,
    pub(super) runs: Vec<Run>,
    pub(super) stages: Vec<Stage>,
    pub(super) budget: Budget,
    sds: HashMap<&'a str, usize>,
    wds: HashMap<&'a str, usize>,
    names: BTreeSet<String>,
    /// The number that the next stage of a name that is taken gets.
    next_number: HashMap<String, u32>,
    lookups: usize,
    /// Workloads without storage of which it was told.
    bare: BTreeSet<usize>,
}

/// The runs of all RDs, with their stages in the same order.
pub fn expand(
    built: &Built,
    options: &Options,
    storage: Storage,
    values: Values<'_>,
) -> (Vec<Run>, Workload) {
    let mut expander = Expander {
        built,
        options,
        values,
        storage,
        runs: Vec::new(),
        stages: Vec::new(),
        budget: Budget::default(),
        sds: index(built.sds.iter().map(|sd| sd.name.as_str())),
        wds: index(built.wds.iter().map(|wd| wd.name.as_str())),
        names: BTreeSet::new(),
        next_number: HashMap::new(),
        lookups: 0,
        bare: BTreeSet::new(),
    };
    let restart = options.restart.as_deref();
    let known = |name: &str| built.rds.iter().position(|rd| rd.name == name);
    let first = restart.map_or(Some(0), known);
    if first.is_none() {
        let message = format!("`-r {}` names no RD", restart.unwrap_or_default());
        let complaint = Diagnostic::error(message);
        expander
            .values
            .complaints
            .plain(complaint.hint("name the RD to begin with"));
    }
    for (index, rd) in built.rds.iter().enumerate().skip(first.unwrap_or(0)) {
        expander.rd(index, rd);
        if expander.budget.is_spent() || expander.lookups > LOOKUPS_MAX {
            break;
        }
    }
    expander.repeat();
    let workload = Workload {
        stages: expander.stages,
        seed: 1,
    };
    (expander.runs, workload)
}

fn index<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, usize> {
    names
        .enumerate()
        .map(|(index, name)| (name, index))
        .collect()
}

impl<'a> Expander<'a> {
    fn rd(&mut self, index: usize, rd: &'a Rd) {
        let rd = &self.overridden(rd);
        self.check_times(rd);
        if is_of_files(rd) {
            self.file_system_rd(index, rd);
            return;
        }
        if !rd.fwd_rates.is_empty() {
            let message = format!(
                "rd={}: Specifying 'fwdrate=' for a raw workload. Use 'iorate=' instead.",
                rd.name
            );
            let hint = "write `iorate=` here; from `rd=default` it counts in every `rd=` behind it";
            return self.values.error(rd.at, message, hint);
        }
        self.warn_of_maxdata(rd);
        self.warn_of_idle_words(rd);
        let Some(members) = self.members(rd) else {
            return;
        };
        if rd.rates.is_empty() {
            let message = format!("rd={}: no I/O rate is given", rd.name);
            let hint = "add `iorate=max`, `iorate=curve` or a number";
            self.values.lacking(rd.at, message, hint);
            return;
        }
        let special = rd.sds.iter().find_map(|name| special_set(&name.text));
        let Some(special) = special else {
            self.check_skew(rd, &members);
            return self.combinations(index, rd, &members);
        };
        let all: BTreeSet<usize> = members
            .iter()
            .flat_map(|member| member.sds.iter().copied())
            .collect();
        let all: Vec<usize> = all.into_iter().collect();
        // Told before the sets are gone through, which may be far more than there is room for.
        let least = members
            .iter()
            .map(|member| special.jobs_of(member.sds.len()));
        let least = least.fold(0, usize::saturating_add);
        if !self.budget.has_room_for_jobs(least, rd, &mut self.values) {
            return;
        }
        let held: Vec<BTreeSet<usize>> = members
            .iter()
            .map(|member| member.sds.iter().copied().collect())
            .collect();
        for set in special.sets(&all) {
            let of_set = members.iter().zip(&held).map(|(member, held)| Member {
                sds: set.iter().copied().filter(|sd| held.contains(sd)).collect(),
                ..*member
            });
            let of_set: Vec<Member<'_>> = of_set.filter(|member| !member.sds.is_empty()).collect();
            // As Vdbench calls the run on each set.
            let name = |sd: &usize| self.built.sds[*sd].name.as_str();
            let suffix = match (special, set) {
                (SdSet::Growing, [first, ..]) => {
                    format!("{}-{}", name(first), name(set.last().unwrap_or(first)))
                }
                _ => set.iter().map(name).collect::<Vec<_>>().join("_"),
            };
            let named = Rd {
                name: format!("{}_{suffix}", rd.name),
                ..rd.clone()
            };
            if !self.may_look_at(members.len(), rd) || !self.set(index, &named, &of_set) {
                return;
            }
        }
    }

    fn warn_of_idle_words(&mut self, rd: &Rd) {
        for (name, is_given) in [
            ("format", !rd.format.is_empty()),
            ("operations", !rd.operations.is_empty()),
        ] {
            if is_given {
                let message = format!("rd={}: `{name}=` changes nothing on SDs", rd.name);
                let hint = "remove it: it is for file systems";
                self.values.warning(rd.at, message, hint);
            }
        }
    }

    /// Tells where the end of a run by `maxdata=` is known to its file alone: what it is converted to has each job's share, which
    /// counts a warm-up, and which jobs on files do not have.
    pub(super) fn warn_of_maxdata(&mut self, rd: &Rd) {
        let (what, hint) = match () {
            () if rd.maxdata == MaxData::default() => return,
            () if is_of_files(rd) => (
                "on files",
                "to convert it, give the time that it takes as `elapsed=`",
            ),
            () if rd.warmup > 0 => (
                "behind a warm-up",
                "leave `warmup=` out, or give the time that it takes as `elapsed=`",
            ),
            () => return,
        };
        let message = format!(
            "rd={}: `maxdata=` {what} ends runs and predictions of this file alone; what it is converted to goes to the end of `elapsed=`",
            rd.name
        );
        self.values.warning(rd.at, message, hint);
    }

    /// `-e`, `-i` and `-w` count instead of what the file says.
    fn overridden(&self, rd: &Rd) -> Rd {
        let elapsed = self.options.elapsed.unwrap_or(rd.elapsed);
        let interval = match self.options.interval.unwrap_or(rd.interval) {
            0 => (elapsed / 2).clamp(1, 60),
            interval => interval,
        };
        Rd {
            elapsed,
            interval,
            warmup: self.options.warmup.unwrap_or(rd.warmup),
            ..rd.clone()
        }
    }

    pub(super) fn check_times(&mut self, rd: &Rd) {
        let Rd {
            elapsed,
            interval,
            warmup,
            ..
        } = *rd;
        let name = &rd.name;
        let interval = interval.max(1);
        let mut complain = |message: String, hint: &str| {
            self.values
                .error(rd.at, format!("rd={name}: {message}"), hint);
        };
        if !elapsed.is_multiple_of(interval) {
            let message = format!("'elapsed={elapsed}' must be multiple of 'interval={interval}'.");
            complain(message, "change one of them, or give `-e` or `-i`");
        }
        if !warmup.is_multiple_of(interval) {
            let message = format!("'warmup={warmup}' must be multiple of 'interval={interval}'.");
            complain(message, "change one of them, or give `-w` or `-i`");
        }
        if elapsed < 2 * interval {
            let message =
                format!("'elapsed={elapsed}' must be at least twice 'interval={interval}'.");
            complain(message, "run longer, or with a shorter interval");
        }
    }

    /// The workloads of an RD; the defaults where it names none.
    fn workloads(&mut self, rd: &Rd) -> Vec<(Option<usize>, &'a Wd)> {
        let mut wds: Vec<(Option<usize>, &'a Wd)> = Vec::new();
        let built = self.built;
        for name in &rd.wds {
            let found = self.lookup(name, |built| &built.wds, |wd| &wd.name, true);
            if found.is_empty() {
                let message = format!("Could not find wd={} for rd={}", name.text, rd.name);
                self.values
                    .error(name.at, message, "define it with `wd=` before all `rd=`");
            }
            wds.extend(
                found
                    .into_iter()
                    .filter_map(|index| Some((Some(index), built.wds.get(index)?))),
            );
        }
        if rd.wds.is_empty() {
            wds.extend(built.default_wd.as_ref().map(|wd| (None, wd)));
        }
        let mut seen = BTreeSet::new();
        wds.retain(|(index, _)| seen.insert(*index));
        wds
    }

    /// The storage that names and wildcards of a workload mean.
    fn storage_of(&mut self, workload: &str, names: &[Name]) -> Vec<usize> {
        let mut sds = Vec::new();
        for name in names {
            let found = self.lookup(name, |built| &built.sds, |sd| &sd.name, false);
            if found.is_empty() && self.lookups <= LOOKUPS_MAX {
                self.storage_missing(workload, name);
            }
            sds.extend(found);
        }
        if names.len() > 1 {
            let mut seen = BTreeSet::new();
            sds.retain(|sd| seen.insert(*sd));
        }
        sds
    }

    fn storage_missing(&mut self, workload: &str, name: &Name) {
        let hosts = &self.built.hosts;
        let host = hosts
            .first()
            .map_or("localhost", |host| host.label.as_str());
        let message = format!(
            "Could not find sd={} for wd={workload},host={host}",
            name.text
        );
        let full = self.values.complaints.is_full();
        let known = self.built.sds.iter().take(if full { 0 } else { 1000 });
        let near = nearest(&name.text, known.map(|sd| sd.name.as_str()));
        let hint = near.map_or("define it with `sd=` before all `wd=`".to_owned(), |near| {
            format!("did you mean `{near}`?")
        });
        self.values.error(name.at, message, hint);
    }

    /// The workloads of an RD and the storage of each.
    fn members(&mut self, rd: &Rd) -> Option<Vec<Member<'a>>> {
        let wds = self.workloads(rd);
        self.check_priorities(rd, wds.iter().map(|(_, wd)| *wd));
        let special = rd.sds.iter().any(|name| special_set(&name.text).is_some());
        let every = [Name {
            text: "*".to_owned(),
            at: rd.at,
        }];
        let mut members = Vec::new();
        for (index, wd) in wds {
            // Sets are made of all SDs, whichever the workload names.
            let names = match (rd.sds.is_empty(), special) {
                (_, true) => &every[..],
                (true, false) => &wd.sds,
                (false, false) => &rd.sds,
            };
            let called = if wd.name.is_empty() {
                "default"
            } else {
                wd.name.as_str()
            };
            if names.is_empty() {
                // Of a workload it is told once, where that stands.
                let at = index.map_or(rd.at, |_| wd.at);
                if index.is_none_or(|index| self.bare.insert(index)) {
                    let message = format!("No sd= specified for wd={called} in rd={}", rd.name);
                    let hint = "name its storage in the `wd=` or in the `rd=`";
                    self.values.lacking(at, message, hint);
                }
                continue;
            }
            let sds = self.storage_of(called, names);
            members.push(Member {
                wd: index,
                spec: wd,
                sds,
            });
        }
        let good = !members.is_empty() && members.iter().all(|member| !member.sds.is_empty());
        good.then_some(members)
    }

    /// Indices of what a name or wildcard means.
    fn lookup<T>(
        &mut self,
        name: &Name,
        all: impl Fn(&'a Built) -> &'a Vec<T>,
        name_of: impl Fn(&T) -> &str,
        of_wds: bool,
    ) -> Vec<usize>
    where
        T: 'a,
    {
        self.lookups += 1;
        if !name.text.ends_with('*') && self.lookups <= LOOKUPS_MAX {
            let exact = if of_wds { &self.wds } else { &self.sds };
            return exact.get(name.text.as_str()).copied().into_iter().collect();
        }
        let all = all(self.built);
        self.lookups = self.lookups.saturating_add(all.len());
        if self.lookups > LOOKUPS_MAX {
            self.values.error(name.at, TOO_MANY_NAMES, "name fewer");
            return Vec::new();
        }
        let found = all
            .iter()
            .enumerate()
            .filter(|(_, one)| matches(&name.text, name_of(one)));
        found.map(|(index, _)| index).collect()
    }

    /// Counts names that are held against each other; whether that may go on.
    pub(super) fn may_look_at(&mut self, names: usize, rd: &Rd) -> bool {
        self.lookups = self.lookups.saturating_add(names);
        if self.lookups > LOOKUPS_MAX {
            self.values.error(rd.at, TOO_MANY_NAMES, "name fewer");
        }
        self.lookups <= LOOKUPS_MAX
    }

    /// The runs on one set of SDs, of which the workloads have their part; whether there may be more.
    fn set(&mut self, index: usize, rd: &Rd, members: &[Member<'a>]) -> bool {
        self.check_skew(rd, members);
        self.combinations(index, rd, members);
        !self.budget.is_spent() && self.budget.has_room_for_runs(1)
    }

    /// Skews of all workloads make 100 %, or leave room for those that have none.
    fn check_skew(&mut self, rd: &Rd, members: &[Member<'_>]) {
        let skews = members.iter().filter_map(|member| member.spec.skew);
        let total: f64 = skews.clone().sum();
        let count = skews.count();
        let open = members
            .iter()
            .filter(|member| member.spec.iorate.is_none())
            .count();
        let is_good = count == 0 || (total < 99.99 && count < open) || (total - 100.0).abs() < 0.01;
        if !is_good {
            let message = format!("rd={}: Total skew must add up to 100: {total}", rd.name);
            self.values
                .error(rd.at, message, "change `skew=` of its workloads");
        }
    }

    /// Every combination of the loops' values.
    fn combinations(&mut self, index: usize, rd: &Rd, members: &[Member<'_>]) {
        let storage_loops: Vec<&Loop> = rd.loops.iter().collect();
        let of_files = |key: LoopKey| {
            matches!(
                key,
                LoopKey::Depth
                    | LoopKey::Width
                    | LoopKey::Files
                    | LoopKey::Sizes
                    | LoopKey::Totalsize
                    | LoopKey::Wss
                    | LoopKey::Operations
            )
        };
        for wrong in storage_loops.iter().filter(|one| of_files(one.key)) {
            let message = format!(
                "rd={}: `{}` is for files, and the RD is on SDs",
                rd.name,
                wrong.key.name()
            );
            self.values
                .error(wrong.at, message, "remove it, or use `fwd=`");
        }
        let counts = storage_loops.iter().map(|one| one.values.len());
        let total = counts.fold(1usize, usize::saturating_mul);
        if !self.budget.has_room_for_runs(total) {
            let message = format!(
                "rd={}: its loops make {total} runs; at most {RUNS_MAX} are possible in all",
                rd.name
            );
            self.values.error(rd.at, message, "loop over fewer values");
            return;
        }
        for number in 0..total {
            let mut rest = number;
            let mut chosen: Vec<(LoopKey, &LoopValue)> = Vec::new();
            for one in storage_loops.iter().rev() {
                let value = &one.values[rest % one.values.len()];
                rest /= one.values.len();
                chosen.push((one.key, value));
            }
            chosen.reverse();
            let settings = Settings::of(&chosen);
            let loops = chosen
                .iter()
                .map(|(key, value)| LoopSetting::of(*key, value));
            let loops: Vec<LoopSetting> = loops.collect();
            self.rates(index, rd, members, &settings, &loops);
            if self.budget.is_spent() {
                return;
            }
        }
    }

    /// One run for each rate, or those of the curve.
    fn rates(
        &mut self,
        index: usize,
        rd: &Rd,
        members: &[Member<'_>],
        settings: &Settings<'_>,
        loops: &[LoopSetting],
    ) {
        let skewed = members
            .iter()
            .any(|member| member.spec.skew.is_some() || member.spec.priority.is_some());
        if rd.varies != Varies::No {
            let Some(most) = self.check_steps(rd) else {
                return;
            };
            let rate = RunRate::Varying(most);
            return self.run(index, rd, members, settings, (rate, loops, ""));
        }
        if rd.rates.contains(&Rate::Number(0.0)) {
            let message = format!("rd={}: `iorate=` has a rate of 0", rd.name);
            let hint = "leave it out; a rate that changes needs `distribution=variable`";
            return self.values.error(rd.at, message, hint);
        }
        let several = rd.rates.len() > 1;
        for rate in &rd.rates {
            let (label, first) = match *rate {
                Rate::Max if skewed => (Some("max".to_owned()), RunRate::Controlled),
                Rate::Max => (Some("max".to_owned()), RunRate::Uncontrolled),
                Rate::Curve if skewed => (None, RunRate::ControlledCurve),
                Rate::Curve => (None, RunRate::UncontrolledCurve),
                // Labels of lists drop what is behind the point.
                Rate::Number(number) => (Some(number.floor().to_string()), RunRate::Number(number)),
                Rate::OfLast(percent) => {
                    let Some(run) = self.last_measured(rd, "iorate", percent) else {
                        return;
                    };
                    (Some(format!("{percent}%")), RunRate::Of { run, percent })
                }
            };
            let suffix = match *rate {
                Rate::OfLast(percent) => format!("_({percent}%)"),
                _ => String::new(),
            };
            let mut loops = loops.to_vec();
            loops.extend(label.filter(|_| several).map(|value| LoopSetting {
                name: "iorate",
                value,
            }));
            let measured = self.runs.len();
            self.run(index, rd, members, settings, (first, &loops, &suffix));
            if *rate == Rate::Curve {
                for percent in &rd.curve {
                    let point = RunRate::Of {
                        run: measured,
                        percent: *percent,
                    };
                    let suffix = format!("_({percent}%)");
                    self.run(index, rd, members, settings, (point, &loops, &suffix));
                }
            }
            if self.budget.is_spent() {
                return;
            }
        }
    }

    /// The run whose rate `percent` is a share of: the last that is no format.
    pub(super) fn last_measured(&mut self, rd: &Rd, keyword: &str, percent: f64) -> Option<usize> {
        let found = self.runs.iter().rposition(|run| !run.is_format());
        if found.is_none() {
            let message = format!(
                "rd={}: `{keyword}={percent}%` has no run before it",
                rd.name
            );
            let hint = "run something first, or give a number";
            self.values.error(rd.at, message, hint);
        }
        found
    }

    /// The highest of the rates of `distribution=variable`, which are pairs of a rate and its seconds.
    fn check_steps(&mut self, rd: &Rd) -> Option<u64> {
        let mut complain = |message: String, hint: &str| {
            let message = format!("rd={}: {message}", rd.name);
            self.values.error(rd.at, message, hint);
        };
        let Some(steps) = steps_of(rd) else {
            let message = "'dist=variable' requested without a proper iorate= distribution list";
            let hint = "write pairs of a rate and its seconds: `iorate=(100,10,1000,5)`";
            complain(message.to_owned(), hint);
            return None;
        };
        let seconds = steps.iter().map(|(_, seconds)| *seconds);
        let seconds = seconds.fold(0, u64::saturating_add);
        if seconds > VARIES_MAX {
            let message = format!(
                "Variable i/o rate distribution list may contain no more than {VARIES_MAX} seconds worth of i/o rates: {seconds}"
            );
            complain(
                message,
                "give shorter times; the list is gone through over and over",
            );
            return None;
        }
        if seconds > rd.elapsed {
            let message = format!(
                "The amount of time covered by 'dist=variable' iorate ({seconds}) must be shorter than elapsed time ({})",
                rd.elapsed
            );
            complain(message, "run longer, or give shorter times");
            return None;
        }
        let most = steps.iter().map(|(rate, _)| *rate).max().unwrap_or(0);
        if most == 0 {
            complain("no rate is above 0".to_owned(), "give one of its rates");
            return None;
        }
        Some(most)
    }

    /// Adds one run and its stage.
    fn run(
        &mut self,
        index: usize,
        rd: &Rd,
        members: &[Member<'_>],
        settings: &Settings<'_>,
        (rate, loops, suffix): (RunRate, &[LoopSetting], &str),
    ) {
        let made = self.jobs(rd, members, settings, rate);
        let Some(made) = made else {
            return;
        };
        let name = format!("{}{suffix}", rd.name);
        let stage_name = self.stage_name(rd, &name, loops);
        let rate_from = match rate {
            RunRate::Of { run, percent } => Some(RateFrom {
                stage: run,
                percent,
                rounding: RateRounding::UpToHundreds,
                shares: if members.len() > 1 && rd.rates.contains(&Rate::Curve) {
                    RateShares::AsMeasured
                } else {
                    RateShares::AsGiven
                },
            }),
            _ => None,
        };
        let run = Run {
            name,
            rd: Some(index),
            kind: RunKind::Storage,
            stage: self.stages.len(),
            rate,
            loops: loops.to_vec(),
            elapsed: Some(rd.elapsed),
            warmup: rd.warmup,
            interval: rd.interval.max(1),
            pause: rd.pause,
            maxdata: rd.maxdata,
            stopcurve: rd.stopcurve.filter(|_| rd.rates.contains(&Rate::Curve)),
            until_eof: made.until_eof,
            jobs: made.run_jobs,
            facts: made.facts,
        };
        if !self.budget.run(&run, rd, &mut self.values) {
            return;
        }
        self.runs.push(run);
        self.stages.push(Stage {
            name: stage_name,
            jobs: made.jobs,
            cooldown: Nanos::from_secs(rd.pause),
            repeats: 1,
            discard: false,
            rate_from,
        });
    }

    /// A name that no other stage has: the run's, with its loops where the RD has several runs.
    pub(super) fn stage_name(&mut self, rd: &Rd, name: &str, loops: &[LoopSetting]) -> String {
        let is_looped = rd.loops.iter().any(|one| one.values.len() > 1) || rd.rates.len() > 1;
        let mut full = name.to_owned();
        if is_looped {
            for setting in loops {
                let _ = write!(full, " {}={}", setting.name, setting.value);
            }
        }
        if self.names.insert(full.clone()) {
            return full;
        }
        let number = self.next_number.entry(full.clone()).or_insert(2);
        loop {
            let unique = format!("{full} ({number})");
            *number += 1;
            if self.names.insert(unique.clone()) {
                return unique;
            }
        }
    }

    /// `loop=` and `-l`: all runs again.
    fn repeat(&mut self) {
        let repeat = self.options.repeat.or(self.built.general.repeat);
        let once: u64 = self
            .runs
            .iter()
            .map(|run| run.warmup + run.elapsed.unwrap_or(0) + run.pause)
            .sum();
        let times = match repeat {
            // What is only shown is shown once.
            _ if self.options.simulate => return,
            None => return,
            Some(Repeat::Times(times)) => times,
            Some(Repeat::Seconds(seconds)) => seconds.div_ceil(once.max(1)),
        };
        if !self.budget.repeats(times) {
            let (runs, jobs) = (self.runs.len(), self.budget.jobs());
            let message = format!(
                "{runs} runs with {jobs} jobs, {times} times, are over {}",
                budget::limits()
            );
            let complaint = Diagnostic::error(message);
            self.values
                .complaints
                .plain(complaint.hint("repeat less often"));
            return;
        }
        let runs = self.runs.clone();
        let stages = self.stages.clone();
        for time in 2..=times {
            let shift = self.stages.len();
            self.runs.extend(runs.iter().cloned().map(|mut run| {
                run.stage += shift;
                if let RunRate::Of { run: measured, .. } = &mut run.rate {
                    *measured += shift;
                }
                run
            }));
            self.stages.extend(stages.iter().cloned().map(|mut stage| {
                stage.name = format!("{} loop={time}", stage.name);
                if let Some(from) = &mut stage.rate_from {
                    from.stage += shift;
                }
                stage
            }));
        }
    }
}

/// Whether an RD is of file systems: what one on SDs says of files is read over, or is a mistake.
fn is_of_files(rd: &Rd) -> bool {
    let is_of_storage = !rd.wds.is_empty() || !rd.sds.is_empty();
    let speaks_of_files =
        !rd.operations.is_empty() || !rd.format.is_empty() || !rd.fwd_rates.is_empty();
    !rd.fwds.is_empty() || speaks_of_files && !is_of_storage
}

/// Facts of a run's jobs.
pub(super) struct Made {
    pub(super) jobs: Vec<fathom_workload::Job>,
    pub(super) run_jobs: Vec<super::run::RunJob>,
    pub(super) facts: RunFacts,
    pub(super) until_eof: bool,
}

/// Sets of SDs that an RD goes through.
#[derive(Debug, Clone, Copy)]
enum SdSet {
    /// So many at a time.
    Chunks(usize),
    /// One, two, three and so on.
    Growing,
}

impl SdSet {
    /// Jobs of a workload with so many SDs over all sets, at least.
    fn jobs_of(self, sds: usize) -> usize {
        match self {
            Self::Chunks(_) => sds,
            Self::Growing => sds.saturating_mul(sds.saturating_add(1)) / 2,
        }
    }

    /// The sets of all SDs.
    fn sets(self, all: &[usize]) -> Box<dyn Iterator<Item = &[usize]> + '_> {
        match self {
            Self::Chunks(size) => Box::new(all.chunks(size)),
            Self::Growing => Box::new((1..=all.len()).map(|count| &all[..count])),
        }
    }
}

/// The rates of `distribution=variable` with their seconds; `None` where they are no such pairs.
pub(super) fn steps_of(rd: &Rd) -> Option<Vec<(u64, u64)>> {
    let numbers: Option<Vec<u64>> = rd
        .rates
        .iter()
        .map(|rate| match rate {
            Rate::Number(number) => Some(number.ceil() as u64),
            Rate::Max | Rate::Curve | Rate::OfLast(_) => None,
        })
        .collect();
    let numbers =
        numbers.filter(|numbers| !numbers.is_empty() && numbers.len().is_multiple_of(2))?;
    let pairs = numbers.chunks(2).map(|pair| (pair[0], pair[1]));
    let pairs: Vec<(u64, u64)> = pairs.collect();
    pairs
        .iter()
        .all(|(_, seconds)| *seconds > 0)
        .then_some(pairs)
}

fn special_set(name: &str) -> Option<SdSet> {
    match name {
        "single" => Some(SdSet::Chunks(1)),
        "range" => Some(SdSet::Growing),
        _ => {
            let size = name.strip_prefix("setsof")?.parse().ok()?;
            (size > 0).then_some(SdSet::Chunks(size))
        }
    }
}
