//! Which jobs one line does, and how its threads go about them.
//!
//! A line has one set of options. Jobs that are alike but for their target stand in one, jobs that begin after each other on one
//! target are its threads (`-T`), and a job of several targets is a pool (`-F`, `-O`).

use fathom_dialects::diskspd;
use fathom_dialects::fio::SystemFiles;
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Access, Arrival, FileChoice, Job, SequentialScope};

use super::job::{self, Threads};
use crate::draft::Draft;

/// How many of the first jobs one line does, at least one, and how.
pub fn of(jobs: &[Job], seed: u64, cooldown: Nanos) -> (Threads, usize) {
    let Some(first) = jobs.first() else {
        return (Threads::Alike, 0);
    };
    let options =
        |job: &Job, threads| job::options((job, threads), seed, cooldown, 0, &mut Draft::default());
    if let Some((count, stride)) = apart(jobs) {
        let threads = Threads::Apart(count, stride);
        let count = count as usize;
        // Targets whose threads begin in the same places stand in one line.
        let along = jobs
            .chunks_exact(count)
            .enumerate()
            .take_while(|(at, of_target)| {
                let before = at * count;
                let alike =
                    |job: &Job| options(&turned(job, before), threads) == options(first, threads);
                *at == 0
                    || apart(of_target).is_some_and(|own| own == (count as u32, stride))
                        && apart(&jobs[before..]).is_some_and(|own| own.0 as usize == count)
                        && of_target.first().is_some_and(alike)
            });
        return (threads, along.count() * count);
    }
    if is_pool(first) {
        let mut words = options(first, Threads::Pool);
        let targets = job::targets((first, Threads::Pool), 0, &mut Draft::default());
        words.extend(targets);
        // A pool that DISKSPD or its reader does not take is written target by target.
        let read = diskspd::read(&words, 0, &SystemFiles);
        if read.is_ok_and(|input| input.workload.jobs().count() == 1) {
            return (Threads::Pool, 1);
        }
    }
    let mut threads = 0;
    let along = jobs.iter().take_while(|job| {
        let before = threads;
        threads += job.workers as usize * job.targets.len();
        options(&turned(job, before), Threads::Alike) == options(first, Threads::Alike)
    });
    (Threads::Alike, along.count().max(1))
}

/// A job whose processors are those that a line gives it behind `threads` others: in turn, target after target.
fn turned(job: &Job, threads: usize) -> Job {
    let mut job = job.clone();
    let processors = &mut job.features.process.processors;
    if !processors.is_empty() {
        let turned = threads % processors.len();
        processors.rotate_right(turned);
    }
    job
}

/// Whether a job draws a target for each I/O, as threads of a pool do, and nothing is asked of it that a pool does not know.
fn is_pool(job: &Job) -> bool {
    let in_one_way = !matches!(job.access, Access::Mixed { random: _ });
    let draws = job.file_choice == FileChoice::Random;
    let goes_on = job.arrival == Arrival::Closed && job.features.think.is_none();
    job.targets.len() > 1 && draws && in_one_way && goes_on
}

/// How many of the first jobs go to the end of one target in order, each from so many bytes behind the one before; at least two.
fn apart(jobs: &[Job]) -> Option<(u32, u64)> {
    let (first, second) = (jobs.first()?, jobs.get(1)?);
    let goes_in_order = matches!(
        first.access,
        Access::Sequential {
            gap: _,
            scope: SequentialScope::PerWorker,
        }
    );
    let [target] = first.targets.as_slice() else {
        return None;
    };
    // Without an end, each goes on to that of what exists.
    let end = match target.length {
        Some(length) => Some(target.offset.get().checked_add(length.get())?),
        None => None,
    };
    let stride = second.targets.first()?.offset.get();
    let stride = stride.checked_sub(target.offset.get())?;
    if stride == 0 || !goes_in_order || first.workers != 1 {
        return None;
    }
    let follows = |(at, job): (u64, &Job)| {
        let start = target.offset.get().checked_add(stride.checked_mul(at)?)?;
        let mut own = turned(job, usize::try_from(at).ok()?);
        own.targets.clone_from(&first.targets);
        own.salt = first.salt;
        let [place] = job.targets.as_slice() else {
            return None;
        };
        let stands = place.offset.get() == start
            && place.length.map(Bytes::get) == end.and_then(|end| end.checked_sub(start))
            && place.length.is_some() == end.is_some()
            && place.place == target.place;
        (stands && own == *first).then_some(())
    };
    let count = (0..).zip(jobs).map_while(follows).count();
    (count > 1).then_some((u32::try_from(count).ok()?, stride))
}
