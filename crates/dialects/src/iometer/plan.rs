//! From a file and a line's options to stages of jobs.
//!
//! Each test is a stage: the workers' next access specification, and a step of the test's cycle. Each worker is a job for
//! each of its targets, with its own place on it, since that is how Iometer keeps its queues.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use fathom_diagnostics::{Diagnostic, nearest};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Job, Limits, Place, STAGES_MAX, Stage, Target, Workload};

use super::config::{Assigned, Config, Cycle, Manager, SECTOR, Settings, Spec, Worker};
use super::cycle::{self, Member, Step};
use super::line::Options;
use super::source::{Line, Source, shortened};
use super::{Row, SpecText, Test, jobs, library, names};

/// Most jobs of all tests together.
const JOBS_MAX: usize = 8_192;

/// Seed of every run: two runs of a file do the same.
const SEED: u64 = 1;

/// A worker with all that it needs.
struct Hand {
    manager: usize,
    name: String,
    settings: Settings,
    targets: Vec<String>,
    /// Indices of its specifications.
    specs: Rc<[usize]>,
}

/// What comes of a file.
pub(super) struct Plan {
    pub(super) workload: Workload,
    pub(super) tests: Vec<Test>,
    pub(super) managers: Vec<String>,
}

/// Everything being planned.
struct Planner<'s, 't> {
    source: &'s mut Source<'t>,
    specs: Vec<Spec>,
    by_name: HashMap<String, usize>,
    /// Names of specifications that were complained of already.
    wrong: &'s HashSet<String>,
    /// What workers have that name none themselves; known once it was asked for.
    defaults: Option<Rc<[usize]>>,
}

/// What every job of a plan has.
struct Frame<'f, 't> {
    config: &'f Config<'t>,
    managers: &'f [String],
    hands: &'f [Hand],
    times: &'f Limits,
}

/// Plans the tests; complaints go to `source`, and there are errors among them where `None` is returned.
pub(super) fn build<'t>(
    source: &mut Source<'t>,
    config: &Config<'t>,
    options: &Options,
    processors: u32,
) -> Option<Plan> {
    let by_name = config.specs.iter().map(|spec| spec.name.to_lowercase());
    let mut planner = Planner {
        by_name: by_name.zip(0..).collect(),
        specs: config.specs.clone(),
        defaults: None,
        wrong: &config.wrong_specs,
        source,
    };
    let (managers, hands) = planner.hands(config, options, processors)?;
    let times = planner.times(config, options)?;
    let steps = planner.tests(config, &hands)?;
    let frame = Frame {
        config,
        managers: &managers,
        hands: &hands,
        times: &times,
    };
    Some(planner.plan(&frame, &steps))
}

fn selected<'c, 't>(config: &'c Config<'t>, options: &Options) -> Vec<&'c Manager<'t>> {
    let wanted = |manager: &&Manager<'_>| {
        let name = options.manager.as_ref();
        name.is_none_or(|name| name.eq_ignore_ascii_case(&manager.name))
    };
    config.managers.iter().filter(wanted).collect()
}

impl<'t> Planner<'_, 't> {
    fn fail(
        &mut self,
        line: Option<Line<'t>>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        match line {
            Some(line) => self.source.error(line, line.text(), message, hint),
            None => self
                .source
                .push(Diagnostic::error(message).hint(hint), None),
        }
    }

    /// All workers of the managers that run, with the managers' names.
    fn hands(
        &mut self,
        config: &Config<'t>,
        options: &Options,
        processors: u32,
    ) -> Option<(Vec<String>, Vec<Hand>)> {
        let managers = selected(config, options);
        if let (Some(name), true) = (&options.manager, managers.is_empty()) {
            let known = config.managers.iter().map(|manager| manager.name.as_str());
            let known: Vec<&str> = known.take(20).collect();
            let message = format!("the file has no manager `{name}`");
            let hint = if known.is_empty() {
                "it has no manager at all: leave `--manager` out".to_owned()
            } else {
                format!("it has {}", known.join(", "))
            };
            self.fail(None, message, hint);
            return None;
        }
        let mut hands = Vec::new();
        let mut named = Vec::new();
        for manager in &managers {
            let index = named.len();
            named.push(manager.name.clone());
            for worker in &manager.workers {
                if hands.len() > JOBS_MAX {
                    let message = format!("the file has over {JOBS_MAX} workers");
                    self.fail(Some(worker.line), message, "use fewer");
                    return None;
                }
                hands.extend(self.hand(index, worker, config, options));
            }
        }
        if options.workers.is_some() && !hands.is_empty() {
            let message = "`--workers` is for files without workers, and this one has some";
            self.fail(
                None,
                message,
                "leave it out, or change the file's MANAGER LIST",
            );
            return None;
        }
        if hands.is_empty() && managers.iter().all(|manager| manager.workers.is_empty()) {
            self.implicit(
                config,
                options,
                processors,
                &mut hands,
                managers.first().copied(),
            );
            if named.is_empty() {
                named.push(String::new());
            }
        }
        if hands.is_empty() {
            let message = "no worker has a target, so there is nothing to do";
            let hint = "name what to use with `--target PATH`, and `--qd N` I/Os outstanding";
            self.fail(None, message, hint);
            return None;
        }
        Some((named, hands))
    }

    /// A worker of the file; `None` where it has nothing to do.
    fn hand(
        &mut self,
        manager: usize,
        worker: &Worker<'t>,
        config: &Config<'t>,
        options: &Options,
    ) -> Option<Hand> {
        let targets = if options.targets.is_empty() {
            worker
                .targets
                .iter()
                .map(|line| line.text().to_owned())
                .collect()
        } else {
            options.targets.clone()
        };
        if targets.is_empty() {
            let message = format!(
                "`{}` has no targets and does nothing",
                shortened(&worker.name)
            );
            self.source
                .warn(worker.line, message, "name some with `--target PATH`");
            return None;
        }
        let specs = match &worker.specs {
            Some(names) if options.specs.is_empty() && !names.is_empty() => {
                let found = names.iter().map(|line| self.spec(line.text(), Some(*line)));
                found
                    .collect::<Vec<_>>()
                    .into_iter()
                    .flatten()
                    .collect::<Rc<[usize]>>()
            }
            _ => self.given_or_default(config, options, &worker.name, Some(worker.line)),
        };
        Some(Hand {
            manager,
            name: worker.name.clone(),
            settings: overridden(worker.settings, options),
            targets,
            specs,
        })
    }

    /// Workers that the file does not name.
    fn implicit(
        &mut self,
        config: &Config<'t>,
        options: &Options,
        processors: u32,
        hands: &mut Vec<Hand>,
        manager: Option<&Manager<'t>>,
    ) {
        if options.targets.is_empty() {
            return;
        }
        let line = manager.map(|manager| manager.line);
        let specs = self.given_or_default(config, options, "Worker 1", line);
        let own = options.workers.map(u64::from).or(config.setup.workers);
        let count = own.unwrap_or(processors.into()).clamp(1, 4096);
        hands.extend((1..=count).map(|number| Hand {
            manager: 0,
            name: format!("Worker {number}"),
            settings: overridden(Settings::default(), options),
            targets: options.targets.clone(),
            specs: Rc::clone(&specs),
        }));
    }

    /// The specifications of the line, those that every worker has, or the only one that there is.
    fn given_or_default(
        &mut self,
        config: &Config<'t>,
        options: &Options,
        worker: &str,
        line: Option<Line<'t>>,
    ) -> Rc<[usize]> {
        if let Some(known) = &self.defaults {
            return Rc::clone(known);
        }
        let found: Rc<[usize]> = self.find_defaults(config, options, worker, line).into();
        self.defaults = Some(Rc::clone(&found));
        found
    }

    fn find_defaults(
        &mut self,
        config: &Config<'t>,
        options: &Options,
        worker: &str,
        line: Option<Line<'t>>,
    ) -> Vec<usize> {
        if !options.specs.is_empty() {
            let found = options.specs.iter().map(|name| self.spec(name, None));
            return found.collect::<Vec<_>>().into_iter().flatten().collect();
        }
        let is_default =
            |spec: &Spec| matches!(spec.assigned, Assigned::Everywhere | Assigned::Disks);
        let own = config.specs.iter().enumerate();
        let defaults: Vec<usize> = own
            .filter(|(_, spec)| is_default(spec))
            .map(|(index, _)| index)
            .collect();
        if !defaults.is_empty() {
            return defaults;
        }
        if config.specs.len() == 1 {
            return vec![0];
        }
        let known = config
            .specs
            .iter()
            .map(|spec| format!("`{}`", shortened(&spec.name)));
        let known: Vec<String> = known.take(20).collect();
        let message = format!("`{}` has no access specification", shortened(worker));
        let hint = if known.is_empty() {
            let library: Vec<&str> = library::names().collect();
            format!("name one with `--spec NAME`: {}", library.join(", "))
        } else {
            format!(
                "name one with `--spec NAME`; the file has {}",
                known.join(", ")
            )
        };
        self.fail(line, message, hint);
        Vec::new()
    }

    /// Index of a specification of the file, or of those that are known everywhere.
    fn spec(&mut self, name: &str, line: Option<Line<'t>>) -> Option<usize> {
        let key = name.to_lowercase();
        if let Some(index) = self.by_name.get(&key) {
            return Some(*index);
        }
        if let Some(spec) = library::find(name) {
            let index = self.specs.len();
            self.specs.push(spec);
            self.by_name.insert(key, index);
            return Some(index);
        }
        if self.wrong.contains(&key) {
            return None;
        }
        if self.source.is_full() {
            self.fail(line, "there is no such access specification", "");
            return None;
        }
        let own = self.specs.iter().take(200);
        let mut known: Vec<&str> = own.map(|spec| spec.name.as_str()).collect();
        for name in library::names() {
            known.push(name);
        }
        let shown = known[..known.len().min(20)].join(", ");
        let near = nearest(&shortened(name), known);
        let hint = near.map_or_else(
            || format!("specify it under ACCESS SPECIFICATIONS, or use one of {shown}"),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("there is no access specification `{}`", shortened(name));
        self.fail(line, message, hint);
        None
    }

    /// Ramp-up and run time.
    fn times(&mut self, config: &Config<'t>, options: &Options) -> Option<Limits> {
        let runtime = options
            .time
            .unwrap_or(Nanos::from_secs(config.setup.run_time));
        if runtime == Nanos::ZERO {
            let message = "the run time is 0: the test would go on until it is stopped";
            let line = config
                .setup
                .run_time_line
                .filter(|_| options.time.is_none());
            self.fail(line, message, "give `--time`, such as `--time 60s`");
            return None;
        }
        Some(Limits {
            warmup: options
                .ramp_up
                .unwrap_or(Nanos::from_secs(config.setup.ramp_up)),
            runtime: Some(runtime),
            time_based: true,
            ..Limits::default()
        })
    }

    /// Which specification runs in which step, in order: index within the workers' lists, and the step.
    fn tests(&mut self, config: &Config<'t>, hands: &[Hand]) -> Option<Vec<(usize, Step)>> {
        let rounds = hands.iter().map(|hand| hand.specs.len()).max().unwrap_or(0);
        let mut tests = Vec::new();
        let mut left = JOBS_MAX;
        let mut works = false;
        for round in 0..rounds {
            let busy = |hand: &&(usize, &Hand)| {
                let spec = hand.1.specs.get(round);
                spec.is_some_and(|spec| !self.specs[*spec].lines.is_empty())
            };
            let hands = hands.iter().enumerate().collect::<Vec<_>>();
            let members = hands.iter().filter(busy).map(|(worker, hand)| Member {
                manager: hand.manager,
                worker: *worker,
                targets: hand.targets.len(),
            });
            let members: Vec<Member> = members.collect();
            if members.is_empty() {
                continue;
            }
            works = true;
            let steps = cycle::steps(&config.setup, &members, left);
            let count = |steps: &[Step]| -> usize {
                let active = steps.iter().flat_map(|step| &step.active);
                active.map(|(_, targets)| targets).sum()
            };
            match steps {
                Some(steps) if tests.len() + steps.len() <= STAGES_MAX => {
                    left -= count(&steps);
                    tests.extend(steps.into_iter().map(|step| (round, step)));
                }
                _ => {
                    let message = format!(
                        "the tests have over {JOBS_MAX} workers and targets, or {STAGES_MAX} steps, in all"
                    );
                    self.fail(
                        None,
                        message,
                        "use fewer workers, targets, specifications or steps",
                    );
                    return None;
                }
            }
        }
        if tests.is_empty() && works {
            // Other cycles do their start at least.
            let Cycle { start, end, .. } = config.setup.depth_cycle;
            let message = format!(
                "the cycle of queue depths has no step: it starts at {start}, above its end, {end}"
            );
            let line = config.setup.depth_cycle_line;
            self.fail(line, message, "exchange them, or choose another test type");
        } else if tests.is_empty() && rounds > 0 {
            let message = "every assigned access specification is idle";
            self.fail(None, message, "assign one that does I/O");
        }
        (!tests.is_empty()).then_some(tests)
    }

    fn plan(&self, frame: &Frame<'_, 't>, steps: &[(usize, Step)]) -> Plan {
        let mut stages = Vec::new();
        let mut tests: Vec<Test> = Vec::new();
        let mut used = BTreeMap::new();
        let mut last_round = None;
        for (round, step) in steps {
            let mut rows = Vec::new();
            let mut jobs = Vec::new();
            let mut in_use: Vec<usize> = Vec::new();
            for (worker, count) in &step.active {
                let hand = &frame.hands[*worker];
                let index = hand.specs[*round];
                let spec = &self.specs[index];
                in_use.push(index);
                let settings = Settings {
                    depth: step.depth.unwrap_or(hand.settings.depth),
                    ..hand.settings
                };
                for target in &hand.targets[..*count] {
                    let row = Row {
                        manager: hand.manager,
                        worker: *worker,
                        worker_name: hand.name.clone(),
                        target: target.clone(),
                        spec: spec.name.clone(),
                        job: jobs.len(),
                        start: settings.start,
                        max_size: settings.max_size,
                        depth: settings.depth,
                        replies: jobs::replies(&spec.lines),
                    };
                    jobs.push(job(frame, hand, settings, spec, target, *count));
                    rows.push(row);
                }
            }
            let mut seen = HashSet::new();
            in_use.retain(|spec| seen.insert(*spec));
            stages.push(Stage {
                rate_from: None,
                name: self.stage_name(&in_use, &step.label, &mut used),
                jobs,
                cooldown: Nanos::ZERO,
                repeats: 1,
                discard: false,
            });
            in_use.sort_unstable();
            let begins = last_round.replace(*round) != Some(*round);
            let specs = if begins {
                self.texts(&in_use)
            } else {
                Vec::new()
            };
            tests.push(Test { specs, rows });
        }
        Plan {
            workload: Workload { stages, seed: SEED },
            tests,
            managers: frame.managers.to_vec(),
        }
    }

    /// The names of the specifications, in the order in which workers use them, and what tells the step from others; no
    /// two stages have one name.
    fn stage_name(&self, specs: &[usize], label: &str, used: &mut BTreeMap<String, u32>) -> String {
        let base = match specs {
            [one] => self.specs[*one].name.clone(),
            few if few.len() <= 3 => {
                let names = few.iter().map(|index| self.specs[*index].name.as_str());
                names.collect::<Vec<_>>().join(" + ")
            }
            _ => "several specifications".to_owned(),
        };
        let base = match (base.is_empty(), label) {
            (true, "") => "unnamed".to_owned(),
            (false, "") => base,
            (_, label) => format!("{base}, {label}"),
        };
        let count = used.entry(base.clone()).or_default();
        *count += 1;
        let mut name = base.clone();
        let mut number = *count;
        while number > 1 {
            name = format!("{base} ({number})");
            if !used.contains_key(&name) {
                used.insert(name.clone(), 1);
                break;
            }
            number += 1;
        }
        name
    }

    fn texts(&self, specs: &[usize]) -> Vec<SpecText> {
        let text = |index: &usize| {
            let spec = &self.specs[*index];
            let lines = spec.lines.iter().map(|line| {
                [
                    line.size,
                    line.share,
                    line.reads,
                    line.random,
                    line.delay_ms,
                    line.burst,
                    line.align,
                    line.reply,
                ]
            });
            SpecText {
                name: spec.name.clone(),
                assigned: spec.assigned as u32,
                lines: lines.collect(),
            }
        };
        specs.iter().map(text).collect()
    }
}

fn overridden(settings: Settings, options: &Options) -> Settings {
    Settings {
        depth: options.depth.unwrap_or(settings.depth),
        max_size: options
            .size
            .map_or(settings.max_size, |size| size.get() / SECTOR),
        ..settings
    }
}

/// A worker's job on one of the `targets` that it uses.
fn job(
    frame: &Frame<'_, '_>,
    hand: &Hand,
    settings: Settings,
    spec: &Spec,
    target: &str,
    targets: usize,
) -> Job {
    let managers = frame.managers;
    let mut name = hand.name.clone();
    if managers.len() > 1 {
        name = format!("{}/{name}", managers[hand.manager]);
    }
    if targets > 1 {
        name = format!("{name} {target}");
    }
    let mut job = jobs::job(&spec.lines, settings, targets, frame.config.version);
    job.name = name;
    job.host = managers
        .get(hand.manager)
        .filter(|name| !name.is_empty())
        .cloned();
    job.limits = *frame.times;
    job.targets = vec![Target {
        place: Place::Path(names::path(target)),
        offset: Bytes::new(settings.start.saturating_mul(SECTOR)),
        length: (settings.max_size > 0).then(|| Bytes::new(settings.max_size * SECTOR)),
    }];
    job
}
