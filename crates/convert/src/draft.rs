//! A text that a writer has made, before it is read back.

use crate::loss::Weight;

/// What a writer wrote, and what it knows it cannot say.
#[derive(Debug, Default)]
pub struct Draft {
    /// For each job of the workload, in order, the jobs that it became: stage and job, as they are read back.
    pub jobs: Vec<Vec<(usize, usize)>>,
    /// For each stage of the workload, in order, the stages that it became.
    pub stages: Vec<Vec<usize>>,
    /// What the writer tells of by itself: the job's number, the key, and what becomes of it.
    pub told: Vec<Told>,
    /// The job's number and a key that is read back otherwise, and yet means the same.
    pub same: Vec<(usize, &'static str)>,
}

/// A difference that a writer knows of.
#[derive(Debug)]
pub struct Told {
    /// Number of the job over all stages.
    pub job: usize,
    /// The key of the native file, or one within it with a dot before it; differences of it need no further word.
    pub key: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// What becomes of it.
    pub message: String,
}

impl Draft {
    /// Tells that a job's key is lost.
    pub fn lost(&mut self, job: usize, key: &'static str, message: impl Into<String>) {
        self.tell(job, key, Weight::Lost, message.into());
    }

    /// Tells that a job's key is said in another way.
    pub fn differs(&mut self, job: usize, key: &'static str, message: impl Into<String>) {
        self.tell(job, key, Weight::Differs, message.into());
    }

    /// Says that a job's key is read back otherwise, and yet means the same or was told under another key.
    pub fn same(&mut self, job: usize, key: &'static str) {
        self.same.push((job, key));
    }

    fn tell(&mut self, job: usize, key: &'static str, weight: Weight, message: String) {
        self.told.push(Told {
            job,
            key,
            weight,
            message,
        });
    }
}
