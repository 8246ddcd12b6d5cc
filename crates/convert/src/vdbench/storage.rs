//! Runs on files and devices: which SDs, WDs and RDs a stage becomes, and what they are called.
//!
//! What stands with each of them is written in `sd`, `wd` and `rd`.

use std::fmt::Write as _;

use fathom_units::{Bytes, Nanos};
use fathom_workload::{Arrival, Job, Stage, Target};

use super::curve::{name_of, of_rates, points_behind, rate_of_last};
use super::joined::is_joined;
use super::priorities::Priorities;
use super::rd::of_run;
use super::sd::{first_used, of_storage, open_flags, path_of, threads};
use super::sections::Kind;
use super::steps::Steps;
use super::wd::{bytes_lost, of_work, rate};
use super::{Writer, is_name, list, quoted};

impl Writer {
    /// The run of jobs that read and write files or devices of their own, with the points of its curve.
    pub(super) fn storage_run(&mut self, stages: &[Stage], index: usize, jobs: &[(usize, &Job)]) {
        let stage = &stages[index];
        let points = points_behind(stages, index);
        // A rate that stands with the run is none of its workloads.
        self.steps = Steps::of(jobs);
        let share = rate_of_last(stages, index);
        self.is_paced_apart = share.is_none() && self.steps.is_none();
        self.weights = all_weights(jobs);
        // Vdbench has streams in runs at full speed alone.
        let is_at_full_speed = share.is_none() && self.steps.is_none() && points.is_empty();
        let groups = groups_of(jobs, is_at_full_speed);
        self.priorities = self
            .is_paced_apart
            .then(|| Priorities::of(&groups))
            .flatten();
        let names = self.units_of(jobs, &groups);
        let compress = self.general.of_run(jobs);
        let rates = match (share, &self.steps) {
            (Some(share), _) => format!("{share}%"),
            (None, Some(steps)) => steps.rates.clone(),
            (None, None) => of_rates(points),
        };
        let varies = self.steps.take().map(|steps| steps.word);
        self.skew = None;
        let name = self.run_name(name_of(stage, share), index);
        let _ = writeln!(
            self.runs,
            "rd={name},{}{compress}",
            of_run((stage, &rates, varies), jobs, &names, points)
        );
        self.draft.stages[index].push(self.made);
        self.made += 1;
    }

    /// The WDs of a run, of each group of jobs one for all or one for each target; their names.
    fn units_of(&mut self, jobs: &[(usize, &Job)], groups: &[&[(usize, &Job)]]) -> Vec<String> {
        let mut names = Vec::new();
        let (mut at, mut place) = (0, 0);
        for group in groups {
            let [(number, job), ..] = group else {
                continue;
            };
            let streams = group.len();
            if streams > 1 {
                names.push(self.unit(jobs.len() > streams, (*number, job), 0, group));
                for (number, _) in *group {
                    self.draft.jobs[*number].push((self.made, place));
                    place += 1;
                }
            } else {
                self.tell(*number, job);
                self.skew = self.steps.as_ref().and_then(|steps| steps.skew(at));
                if self.steps.is_some() {
                    // The rates of the steps count in its place.
                    self.draft.same(*number, "arrival.rate");
                }
                for part in 0..parts_of(job) {
                    names.push(self.unit(jobs.len() > 1, (*number, job), part, group));
                    self.draft.jobs[*number].push((self.made, place));
                    place += 1;
                }
            }
            at += streams;
        }
        names
    }

    /// What becomes of a job as a whole.
    pub(super) fn tell(&mut self, number: usize, job: &Job) {
        if self.merged.contains(&number) {
            self.draft.same(number, "workers");
            self.draft.same(number, "depth");
        } else if job.workers > 1 {
            let message = format!(
                "{} workers become one queue of as many I/Os outstanding",
                job.workers
            );
            self.draft.lost(number, "workers", message);
            self.draft.same(number, "depth");
            // One queue has the rate of all workers.
            match bytes_lost(job) {
                Some(message) => self.draft.lost(number, "arrival.rate", message),
                None => self.draft.same(number, "arrival.rate"),
            }
        }
        if job.targets.len() > 1 && !is_joined(job) {
            let message = "Vdbench keeps its threads on each SD, not on all together";
            self.draft.lost(number, "target", message);
        }
        if self.general.joined && self.general.is_only_read(job) {
            let message = "Vdbench refuses SDs of `concatenatesds=yes` that no workload writes to";
            self.draft.lost(number, "placement.joined", message);
        }
    }

    /// A WD on its SD, for one target of a job or for all `streams` of a workload; its name.
    fn unit(
        &mut self,
        several: bool,
        (number, job): (usize, &Job),
        part: usize,
        streams: &[(usize, &Job)],
    ) -> String {
        let (wd, sd) = names_of(job, several, part);
        let fallback = if job.targets.len() > 1 {
            format!("{}_{part}", number + 1)
        } else {
            (number + 1).to_string()
        };
        let mut sds = vec![self.sd((number, job), part, streams, (sd, &format!("sd{fallback}")))];
        if is_joined(job) {
            let others = 1..job.targets.len();
            sds.extend(others.map(|part| {
                let fallback = format!("sd{}_{part}", number + 1);
                self.sd((number, job), part, streams, (None, &fallback))
            }));
        }
        let sd = list(&sds);
        let mut body = format!(",sd={sd}{}", of_work(job, number, &mut self.draft));
        if self.general.joined {
            let _ = write!(body, ",threads={}", threads(job, streams));
        }
        body.push_str(&self.host(job));
        if streams.len() > 1 {
            let _ = write!(body, ",streams={}", streams.len());
        }
        if let Some(rate) = rate(job, streams.len()).filter(|_| self.is_paced_apart) {
            let _ = write!(body, ",iorate={rate}");
        }
        if let Some(priorities) = &mut self.priorities {
            let _ = write!(body, ",priority={}", priorities.next(job));
        }
        if let (Some(all), Some(flow)) = (self.weights, job.features.flow) {
            let points = f64::from(flow.weight) * 1e6 / all as f64;
            let _ = write!(body, ",skew={}", points.round() / 1e4);
        }
        if let Some(skew) = self.skew {
            let _ = write!(body, ",skew={skew}");
        }
        self.sections
            .place(Kind::Wd, wd, &format!("wd{fallback}"), body, self.made)
    }

    /// The SD of one target of a job; its name, which is the wished one or the other.
    fn sd(
        &mut self,
        (number, job): (usize, &Job),
        part: usize,
        streams: &[(usize, &Job)],
        (wish, fallback): (Option<&str>, &str),
    ) -> String {
        let path = path_of(&job.targets[part].place, number, part, &mut self.draft);
        let mut body = format!(
            ",lun={}{}",
            quoted(&path),
            of_storage(&self.general, job, &path, (part, streams))
        );
        // The threads of SDs that are joined are their workload's.
        if !self.general.joined {
            let _ = write!(body, ",threads={}", threads(job, streams));
        }
        body.push_str(&open_flags(job));
        self.sections
            .place(Kind::Sd, wish, fallback, body, self.made)
    }
}

/// How many WDs a job is.
pub(super) fn parts_of(job: &Job) -> usize {
    if is_joined(job) { 1 } else { job.targets.len() }
}

/// The jobs of a run: all together where they are the streams of its only workload, else each alone.
fn groups_of<'j>(
    jobs: &'j [(usize, &'j Job)],
    is_at_full_speed: bool,
) -> Vec<&'j [(usize, &'j Job)]> {
    if is_at_full_speed && are_streams(jobs) {
        vec![jobs]
    } else {
        jobs.chunks(1).collect()
    }
}

/// The weights of all jobs of a run together, where they are as fast as they can be and held to shares of one flow.
fn all_weights(jobs: &[(usize, &Job)]) -> Option<u64> {
    let (_, first) = jobs.first()?;
    let id = first.features.flow?.id;
    let weight = |job: &Job| {
        let flow = job.features.flow?;
        let is_shared = flow.id == id && flow.pause == Nanos::ZERO;
        let is_one = job.workers == 1 && job.targets.len() == 1 && !job.name.contains('#');
        let is_closed = job.arrival == Arrival::Closed;
        (is_shared && is_one && is_closed).then_some(u64::from(flow.weight))
    };
    jobs.iter().map(|(_, job)| weight(job)).sum()
}

/// Whether jobs are the streams of one workload: pieces of one range one after another, each with as many threads.
fn are_streams(jobs: &[(usize, &Job)]) -> bool {
    let [(_, first), others @ ..] = jobs else {
        return false;
    };
    let (Some(base), [target]) = (first.name.strip_suffix("#0"), first.targets.as_slice()) else {
        return false;
    };
    let Some(length) = target.length else {
        return false;
    };
    let is_stream = |at: usize, job: &Job| {
        let own = Job {
            name: first.name.clone(),
            targets: first.targets.clone(),
            ..job.clone()
        };
        let from = length.get().saturating_mul(at as u64);
        let place = Target {
            offset: Bytes::new(target.offset.get().saturating_add(from)),
            ..target.clone()
        };
        job.name == format!("{base}#{at}") && job.targets == [place] && own == **first
    };
    let are_pieces = (1..).zip(others).all(|(at, (_, job))| is_stream(at, job));
    // Vdbench's streams know no offset.
    let begins = target.offset == first_used(target.place.path(), first);
    first.workers == 1 && !others.is_empty() && begins && are_pieces
}

/// Names of a job's WD and SD: those that it is called by where it came from such a file, else its own name for what alone
/// tells it from others.
fn names_of(job: &Job, several: bool, part: usize) -> (Option<&str>, Option<&str>) {
    if part > 0 {
        return (None, None);
    }
    // A reader adds how many more SDs are joined, the host where several have the SD, and the number of a stream.
    let name = job.name.split(['+', '@', '#']).next().unwrap_or_default();
    let (wd, sd) = match name.split_once('/').filter(|_| several) {
        Some((wd, sd)) => (Some(wd), Some(sd)),
        None if several => (Some(name), None),
        None => (None, Some(name)),
    };
    (
        wd.filter(|name| is_name(name)),
        sd.filter(|name| is_name(name)),
    )
}
