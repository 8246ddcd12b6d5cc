//! Jobs that are refused where fio finds why only as it runs them: they stand in its results, with their errors.

use super::super::features;
use super::super::job;
use super::super::late::Complaints;
use super::super::lexer::Section;
use super::super::settings::Settings;
use super::Planner;

impl Planner<'_> {
    /// Has clones `numbers` of a section's job stand among the jobs, without files, where fio would find all of its errors as it
    /// runs.
    pub(super) fn refused(
        &mut self,
        (section, settings, name): (&Section, &Settings, &str),
        numbers: impl Iterator<Item = u64>,
        complaints: &Complaints<'_>,
    ) {
        let Some(errno) = complaints.errno_of_job() else {
            return;
        };
        for number in numbers {
            self.errnos.insert(self.jobs.len(), errno);
            let (group, salt) = (self.report_group(settings), self.salt(settings));
            let features = features::of(settings, number);
            let job = job::build(settings, name, Vec::new(), group, salt, features);
            self.add(section, settings, job, number);
        }
    }
}

/// The clones of a job: the others follow the first, the last one first, as in fio.
pub(super) fn clone_numbers(clones: u64) -> impl Iterator<Item = u64> {
    std::iter::once(0).chain((1..clones).rev())
}
