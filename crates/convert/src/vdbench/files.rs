//! Runs on file sets: FSDs, FWDs and their RDs.
//!
//! A stage that formats is written with the run that follows it where that is what it was read from: `format=` of that run.

use std::fmt::Write as _;

use fathom_units::{Iops, Nanos, Percent};
use fathom_workload::{
    Access, FileSet, FileSizes, FileSpread, FileTask, FileWork, Flow, Job, Limits, Mix, Place,
    Poisson, SetChoice, SetFormat, SetRate, Stage, StopAfter,
};

use super::curve::{bare_name, name_of, of_rates, points_behind, rate_of_last};
use super::sd::open_flags;
use super::sections::Kind;
use super::wd::sizes;
use super::{Writer, is_name, list, percent, quoted, size, whole};

/// What a run that formats is called before the name of its RD.
const FORMAT_FOR: &str = "format_for_";

/// From here on parts of a number that differ by one are the same share, to the digits that shares are written with.
const SHARES_LEAST: u64 = 10_000_000;

/// Longest time that a run takes where no job has one, in seconds.
const ELAPSED: u64 = 30;

/// What a stage has formatted for the one after it.
#[derive(Debug)]
pub(super) struct Formatted {
    what: SetFormat,
    /// Whether it ends with `elapsed=`.
    limited: bool,
}

impl Writer {
    /// The run of jobs on file sets of one stage.
    pub(super) fn file_run(
        &mut self,
        stages: &[Stage],
        index: usize,
        jobs: &[(usize, &Job)],
        formatted: &mut Option<Formatted>,
    ) {
        let stage = &stages[index];
        let format = self.formats(jobs);
        for (place, (number, _)) in jobs.iter().enumerate() {
            self.draft.jobs[*number].push((self.made, place));
        }
        self.draft.stages[index].push(self.made);
        self.made += 1;
        if let Some(format) = format {
            self.format_work(jobs);
            let next = stages.get(index + 1);
            if next.is_some_and(|next| goes_with(stage, next, jobs, &format)) {
                // It is called by its trees, which get their names here.
                for (number, job) in jobs {
                    self.fsd(*number, job, 0);
                }
                *formatted = Some(format);
                return;
            }
            let name = stage.name.strip_prefix(FORMAT_FOR).unwrap_or(&stage.name);
            let names: Vec<String> = jobs
                .iter()
                .map(|(number, job)| self.formatter(*number, job))
                .collect();
            let word = words(&format, true);
            let name = self.run_name(name, index);
            self.rd(&name, (stage, jobs), &names, &word, "max", &[]);
            return;
        }
        let points = points_behind(stages, index);
        let rates = rates(jobs);
        // The points of a curve say how their jobs share its rates.
        let shares = points.first().map(|point| point.jobs.iter().map(rate_of));
        let shares: Option<Vec<u64>> = shares.and_then(Iterator::collect);
        let skews = skews(jobs, shares.as_deref().or(rates.as_deref()));
        let names: Vec<String> = jobs
            .iter()
            .enumerate()
            .map(|(place, (number, job))| {
                let skew = skews.as_ref().and_then(|skews| skews.get(place).copied());
                self.fwd((*number, job), jobs.len() > 1, skew)
            })
            .collect();
        let share = rate_of_last(stages, index);
        let rate = match (share, rates) {
            (Some(share), _) => {
                // The only job has all of the rate, whatever stands for it.
                self.draft.same(jobs[0].0, "file_work.rate");
                format!("{share}%")
            }
            (None, Some(rates)) => rates.iter().sum::<u64>().to_string(),
            (None, None) => of_rates(points),
        };
        let word = formatted
            .take()
            .map_or(String::new(), |format| words(&format, false));
        let name = self.run_name(name_of(stage, share), index);
        self.rd(&name, (stage, jobs), &names, &word, &rate, points);
    }

    fn rd(
        &mut self,
        name: &str,
        (stage, jobs): (&Stage, &[(usize, &Job)]),
        names: &[String],
        format: &str,
        rate: &str,
        points: &[Stage],
    ) {
        let longest = |of: fn(&Limits) -> u64| jobs.iter().map(|(_, job)| of(&job.limits)).max();
        let elapsed = longest(|limits| limits.runtime.map_or(ELAPSED, whole));
        let warmup = longest(|limits| whole(limits.warmup)).unwrap_or_default();
        let mut text = format!(
            "rd={name},fwd={},fwdrate={rate}{format},interval=1,elapsed={}",
            list(names),
            elapsed.unwrap_or(ELAPSED).max(2)
        );
        if warmup > 0 {
            let _ = write!(text, ",warmup={warmup}");
        }
        if stage.cooldown > Nanos::ZERO {
            let _ = write!(text, ",pause={}", whole(stage.cooldown));
        }
        let is_even = |job: &Job| {
            let work = job.features.file_work.as_deref();
            work.and_then(|work| work.rate)
                .is_some_and(|rate| rate.process == Poisson::Fixed)
        };
        let of_points = points.iter().flat_map(|point| &point.jobs);
        if jobs.iter().any(|(_, job)| is_even(job)) || of_points.into_iter().any(is_even) {
            text.push_str(",distribution=deterministic");
        }
        let _ = writeln!(self.runs, "{text}");
    }

    /// What all jobs format, where that is all that they do.
    fn formats(&mut self, jobs: &[(usize, &Job)]) -> Option<Formatted> {
        let what = |job: &Job| match job.features.file_work.as_deref()?.task {
            FileTask::Format(what) => Some(what),
            _ => None,
        };
        let all: Vec<Option<SetFormat>> = jobs.iter().map(|(_, job)| what(job)).collect();
        let first = all.first().copied().flatten();
        if all.iter().any(|one| *one != first) || first.is_none() {
            for ((number, _), _) in jobs.iter().zip(&all).filter(|(_, one)| one.is_some()) {
                let message = "Vdbench formats before a run, not within it";
                self.draft.lost(*number, "file_work", message);
            }
            return None;
        }
        let limited = jobs.iter().any(|(_, job)| job.limits.runtime.is_some());
        first.map(|what| Formatted { what, limited })
    }

    /// How formats write: one way for all runs.
    fn format_work(&mut self, jobs: &[(usize, &Job)]) {
        let Some((_, job)) = jobs.first() else {
            return;
        };
        let body = format!(
            ",threads={},xfersize={}{}",
            job.workers,
            size(job.block.largest(job.mix).get()),
            open_flags(job)
        );
        self.sections.format_work(body);
    }

    /// The FWD that a format alone is given: what it would do is not done.
    fn formatter(&mut self, number: usize, job: &Job) -> String {
        let fsd = self.fsd(number, job, 0);
        let mut body = format!(",fsd={fsd}");
        body.push_str(&self.host(job));
        self.sections.place(
            Kind::Fwd,
            None,
            &format!("fwd{}", number + 1),
            body,
            self.made,
        )
    }

    /// The FSD of a job's file set.
    fn fsd(&mut self, number: usize, job: &Job, part: usize) -> String {
        let wish = job.name.split_once('/').map(|(_, fsd)| fsd);
        let work = job.features.file_work.as_deref();
        // A run of several operations calls its jobs by these, not by their FSD.
        let operation = work.map(|work| operation_of(work.task));
        let wish = wish.filter(|name| part == 0 && is_name(name) && operation != Some(name));
        let fallback = format!("fsd{}_{part}", number + 1);
        let Some(Place::FileSet(set)) = job.targets.get(part).map(|target| &target.place) else {
            self.draft
                .lost(number, "target", "Vdbench works on file sets alone here");
            return fallback;
        };
        self.sections
            .place(Kind::Fsd, wish, &fallback, of_set(set), self.made)
    }

    /// The FWD of a job.
    fn fwd(&mut self, (number, job): (usize, &Job), several: bool, skew: Option<f64>) -> String {
        let fsd = self.fsd(number, job, 0);
        let wish = job
            .name
            .split_once('/')
            .map_or(job.name.as_str(), |(fwd, _)| fwd);
        let wish = Some(wish).filter(|name| is_name(name));
        let mut body = format!(",fsd={fsd}");
        if let Some(work) = job.features.file_work.as_deref() {
            body.push_str(&of_file_work(work, job));
            if work.task.has_second() {
                let _ = write!(body, ",target={}", self.fsd(number, job, 1));
            }
        }
        let _ = write!(body, ",{},threads={}", sizes(&job.block, job), job.workers);
        body.push_str(&open_flags(job));
        body.push_str(&self.host(job));
        if let Some(skew) = skew.filter(|_| several) {
            let _ = write!(body, ",skew={skew}");
        }
        self.sections.place(
            Kind::Fwd,
            wish,
            &format!("fwd{}", number + 1),
            body,
            self.made,
        )
    }
}

/// Whether a stage that formats is what the next one has before it.
fn goes_with(stage: &Stage, next: &Stage, jobs: &[(usize, &Job)], format: &Formatted) -> bool {
    let works = |job: &&Job| {
        let work = job.features.file_work.as_deref();
        work.is_some_and(|work| !matches!(work.task, FileTask::Format(_)))
    };
    let mut sets: Vec<&Place> = Vec::new();
    for target in next.jobs.iter().filter_map(|job| job.targets.first()) {
        if !sets.contains(&&target.place) {
            sets.push(&target.place);
        }
    }
    let own = jobs.iter().filter_map(|(_, job)| job.targets.first());
    // Vdbench limits no format but one that stands alone.
    format.what != SetFormat::Clean
        && !format.limited
        && stage.name.strip_prefix(FORMAT_FOR) == Some(bare_name(next))
        && stage.cooldown == next.cooldown
        && next.jobs.iter().filter(works).count() == next.jobs.len()
        && own.map(|target| &target.place).eq(sets)
}

/// `format=` for what is formatted, and whether nothing but that is done.
fn words(format: &Formatted, only: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: &str| words.push(word.to_owned());
    match format.what {
        SetFormat::Anew if only => {}
        SetFormat::Anew => add("yes"),
        SetFormat::Complete => add("restart"),
        SetFormat::Directories => add("directories"),
        SetFormat::Clean => add("clean"),
    }
    if only && format.what != SetFormat::Clean {
        add("only");
    }
    if format.limited {
        add("limited");
    }
    format!(",format={}", list(&words))
}

/// Requests a second of each job, where every one has a rate.
fn rates(jobs: &[(usize, &Job)]) -> Option<Vec<u64>> {
    jobs.iter().map(|(_, job)| rate_of(job)).collect()
}

fn rate_of(job: &Job) -> Option<u64> {
    let SetRate { rate, process: _ } = job.features.file_work.as_deref()?.rate?;
    Some(Iops::get(rate))
}

/// Shares of the run, in percent, where jobs have any: by rate, or by what holds them to each other.
fn skews(jobs: &[(usize, &Job)], rates: Option<&[u64]>) -> Option<Vec<f64>> {
    let weight = |job: &Job| {
        let Flow {
            id: _,
            weight,
            pause: _,
        } = job.features.flow?;
        Some(u64::from(weight) * u64::from(job.workers))
    };
    let weights: Vec<u64> = match rates {
        Some(rates) => rates.to_vec(),
        None => jobs
            .iter()
            .map(|(_, job)| weight(job))
            .collect::<Option<_>>()?,
    };
    let total: u64 = weights.iter().sum();
    // Even shares of a whole number differ by one.
    let (least, most) = (weights.iter().min()?, weights.iter().max()?);
    if most - least <= u64::from(*least >= SHARES_LEAST) {
        // Workloads without a share have the same one.
        return None;
    }
    let share = |weight: &u64| {
        let exact = *weight as f64 * 100.0 / total.max(1) as f64;
        ((exact * 1e7).round() / 1e7).max(1e-7)
    };
    Some(weights.iter().map(share).collect())
}

fn of_set(set: &FileSet) -> String {
    let FileSet {
        anchor,
        depth,
        width,
        files,
        spread,
        sizes,
        total,
        working_set,
    } = set;
    let anchor = quoted(anchor);
    let mut text = format!(",anchor={anchor},depth={depth},width={width},files={files}");
    match sizes {
        FileSizes::Weighted(list) => match list.as_slice() {
            [only] => {
                let _ = write!(text, ",sizes={}", size(only.size.get()));
            }
            several => {
                let _ = write!(text, ",sizes=({})", super::wd::shares(several));
            }
        },
        FileSizes::Around(mean) => {
            let _ = write!(text, ",sizes=({},0)", size(mean.get()));
        }
    }
    if *spread == FileSpread::EveryDirectory {
        text.push_str(",distribution=all");
    }
    if let Some(total) = total {
        let _ = write!(text, ",totalsize={}", size(total.get()));
    }
    if let Some(part) = working_set {
        let _ = write!(text, ",workingsetsize={}", size(part.get()));
    }
    text
}

/// The word of what a job does.
fn operation_of(task: FileTask) -> &'static str {
    match task {
        FileTask::MakeDirectory => "mkdir",
        FileTask::RemoveDirectory => "rmdir",
        FileTask::Create => "create",
        FileTask::Delete => "delete",
        FileTask::Open => "open",
        FileTask::Close => "close",
        // What a format is in place of is told.
        FileTask::Read | FileTask::ReadWrite | FileTask::Format(_) => "read",
        FileTask::Write => "write",
        FileTask::Access => "access",
        FileTask::GetAttributes => "getattr",
        FileTask::SetAttributes => "setattr",
        FileTask::Copy => "copy",
        FileTask::Move => "move",
    }
}

fn of_file_work(work: &FileWork, job: &Job) -> String {
    let FileWork {
        task,
        choice,
        once,
        stop_after,
        delete_first,
        shared,
        // Stands with the RD.
        rate: _,
    } = work;
    let operation = operation_of(*task);
    let mut text = format!(",operation={operation}");
    if *task == FileTask::ReadWrite {
        let Mix {
            read,
            write: _,
            trim: _,
        } = job.mix;
        let _ = write!(text, ",rdpct={}", percent(read));
    }
    let random = !matches!(job.access, Access::Sequential { .. });
    text.push_str(match (random, shared, delete_first) {
        (true, true, _) => ",fileio=(random,shared)",
        (true, false, _) => ",fileio=random",
        (false, _, true) => ",fileio=(sequential,delete)",
        (false, _, false) => ",fileio=sequential",
    });
    let choice = match choice {
        SetChoice::Random => "random".to_owned(),
        SetChoice::Sequential => "sequential".to_owned(),
        SetChoice::Poisson(mean) => format!("(poisson,{mean})"),
    };
    if *once && !choice.starts_with('(') {
        let _ = write!(text, ",fileselect=({choice},once)");
    } else {
        let _ = write!(text, ",fileselect={choice}");
    }
    match stop_after {
        Some(StopAfter::Ios(ios)) => {
            let _ = write!(text, ",stopafter={ios}");
        }
        Some(StopAfter::Share(share)) => {
            let share: &Percent = share;
            let _ = write!(text, ",stopafter={}%", percent(*share));
        }
        None => {}
    }
    text
}
