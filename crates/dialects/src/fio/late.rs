//! What fio finds as it runs a job, where it is refused here as it is read.
//!
//! fio refuses as it reads what is no value of an option, and options that contradict each other; then it prints no results.
//! All else it finds as it runs: it prints its results, in which the job has its error, and others go on. Programs that read
//! these results are to find them here too, whenever it is that we look.
//!
//! The numbers are those that fio reports, where it reports any: a job that it ends without one has `EINVAL` here, and what fio
//! would do and is not carried has `EOPNOTSUPP`.

use std::ops::{Deref, DerefMut};

use fathom_diagnostics::{Diagnostic, Diagnostics, Severity};

use super::errno::{EILSEQ, EINVAL, EIO, ENOENT, EOPNOTSUPP, ESRCH};
use super::input::FioInput;
use super::settings::Settings;

/// Why the jobs of an input are not run.
#[derive(Debug, Clone, PartialEq)]
pub struct Unready {
    /// Every complaint. At least one of them is an error.
    pub complaints: Diagnostics,
    /// The jobs, where fio would find every error as it ran them, and so print results.
    pub refused: Option<Refused>,
}

/// Jobs that are refused, in an input that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The input. It is good for results that tell of errors, and for nothing else: a job that is refused has no files.
    pub input: FioInput,
    /// Linux's number of each job's error, one for each job of the workload, in their order. Jobs that nothing is wrong with were
    /// cancelled.
    pub errnos: Vec<i32>,
}

/// Complaints about jobs, some of which are of what fio finds as it runs.
#[derive(Debug)]
pub struct Complaints<'a> {
    all: &'a mut Diagnostics,
    late: usize,
    /// How many errors there were, and late ones among them, when the job's first could have come.
    before_job: (usize, usize),
    errno: Option<i32>,
}

impl<'a> Complaints<'a> {
    /// None yet about any job, and `all` about what stands before them.
    pub fn new(all: &'a mut Diagnostics) -> Self {
        Self {
            all,
            late: 0,
            before_job: (0, 0),
            errno: None,
        }
    }

    /// What follows is about the next job.
    pub fn begin_job(&mut self) {
        self.before_job = (error_count(self.all), self.late);
        self.errno = None;
    }

    /// Adds an error that fio finds as it runs, and then reports as `errno`.
    pub fn late(&mut self, errno: i32, error: Diagnostic) {
        self.errno.get_or_insert(errno);
        self.late += 1;
        self.all.push(error);
    }

    /// Adds an error, which fio finds as it runs where there is a number that it then reports.
    pub fn refuse(&mut self, errno: Option<i32>, error: Diagnostic) {
        match errno {
            Some(errno) => self.late(errno, error),
            None => self.all.push(error),
        }
    }

    /// Whether there is an error of the job.
    pub fn job_has_errors(&self) -> bool {
        error_count(self.all) > self.before_job.0
    }

    /// The number of the job's first error, where fio finds all of them as it runs; `None` where there is none, too.
    pub fn errno_of_job(&self) -> Option<i32> {
        let (errors, late) = self.before_job;
        let all_are_late = error_count(self.all) - errors == self.late - late;
        self.errno.filter(|_| all_are_late)
    }

    /// Whether fio finds every error there is as it runs.
    pub fn are_late(&self) -> bool {
        error_count(self.all) == self.late
    }
}

impl Deref for Complaints<'_> {
    type Target = Diagnostics;

    fn deref(&self) -> &Diagnostics {
        self.all
    }
}

impl DerefMut for Complaints<'_> {
    fn deref_mut(&mut self) -> &mut Diagnostics {
        self.all
    }
}

/// How many of `diagnostics` are errors.
fn error_count(diagnostics: &Diagnostics) -> usize {
    let errors = diagnostics.0.iter();
    errors.filter(|it| it.severity == Severity::Error).count()
}

/// The number that fio reports of an option that a run refuses; `None` where it refuses its value as it reads it.
pub fn of_option(settings: &Settings, option: &str) -> Option<i32> {
    match option {
        "numa_cpu_nodes" | "numa_mem_policy" | "num_range" => None,
        "cpumask" | "fdp" | "dataplacement" => Some(EINVAL),
        "unlink_each_loop" => Some(of_files_anew(settings)),
        _ => Some(EOPNOTSUPP),
    }
}

/// How fio's next pass ends after its files were unlinked: where it opens none anew it finds none, and else nothing in them.
fn of_files_anew(settings: &Settings) -> i32 {
    let [reads, writes, _] = settings.pattern.directions;
    match (reads, writes) {
        (true, false) if !settings.control.making.on_open => ENOENT,
        (true, _) => EIO,
        (false, _) => EOPNOTSUPP,
    }
}

/// The number that fio reports of what its engine cannot do; `None` where it refuses that as it reads it.
pub fn of_engine(option: &str) -> Option<i32> {
    match option {
        "io_submit_mode" => Some(ESRCH),
        "end_syncfs" => Some(EINVAL),
        _ => None,
    }
}

/// The number that fio reports of a check that cannot be done.
pub fn of_check(option: &str) -> i32 {
    match option {
        "verify_offset" => EILSEQ,
        "verify" => EINVAL,
        _ => EOPNOTSUPP,
    }
}

/// The same of flash that is to be brought to its steady state.
pub fn of_conditioning(option: &str) -> Option<i32> {
    match option {
        "rw" | "random_generator" | "norandommap" => None,
        "bs" | "nrfiles" => Some(EINVAL),
        _ => Some(EOPNOTSUPP),
    }
}

/// The same of an export.
pub fn of_export(option: &str) -> i32 {
    match option {
        "ioengine" => EINVAL,
        _ => EOPNOTSUPP,
    }
}

/// The same of zones.
pub fn of_zones(option: &str) -> Option<i32> {
    (option == "zoneskip").then_some(EOPNOTSUPP)
}
