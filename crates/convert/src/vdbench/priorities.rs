//! `priority=` of workloads, without which Vdbench takes no rate of a workload.

use fathom_workload::{Arrival, Job};

use super::storage::parts_of;

/// The next priorities of a run: its workloads with a rate come first, the others behind them.
pub(super) struct Priorities {
    paced: usize,
    others: usize,
}

impl Priorities {
    /// Those of a run with these workloads; none where no workload has a rate.
    pub(super) fn of(groups: &[&[(usize, &Job)]]) -> Option<Self> {
        let firsts = groups.iter().filter_map(|group| group.first());
        let paced = firsts.filter(|(_, job)| is_paced(job));
        let count: usize = paced.map(|(_, job)| parts_of(job)).sum();
        (count > 0).then_some(Self {
            paced: 1,
            others: count + 1,
        })
    }

    /// The priority of the next WD, which is of this job.
    pub(super) fn next(&mut self, job: &Job) -> usize {
        let next = if is_paced(job) {
            &mut self.paced
        } else {
            &mut self.others
        };
        *next += 1;
        *next - 1
    }
}

fn is_paced(job: &Job) -> bool {
    job.arrival != Arrival::Closed
}
