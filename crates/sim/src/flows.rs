//! Shares of a flow in virtual time: workers of one flow are held to their weights.
//!
//! A worker may begin an I/O while its part of the flow's I/Os so far is no larger than its part of the weight. One that is
//! ahead is held, in the order of how far, and let go when the others have come as far. A worker that ends takes its weight
//! and its I/Os with it, so that the rest is shared anew. That is what the engine does, but without its threads' races.
//!
//! Invariant: of the workers of a flow at least one may always begin, since not all are ahead of their mean.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fathom_workload::Job;

/// The flows of a stage, and each worker's part in them.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    groups: Vec<Group>,
    /// By worker; empty where no job of the stage belongs to a flow.
    shares: Vec<Option<Share>>,
}

#[derive(Debug, Default)]
struct Group {
    weight: u64,
    issued: u64,
    /// Workers that are ahead, the least far first.
    held: BTreeSet<Held>,
}

#[derive(Debug, Clone, Copy)]
struct Share {
    group: usize,
    weight: u64,
    issued: u64,
}

impl Share {
    fn is_ahead(self, group: &Group) -> bool {
        u128::from(self.issued) * u128::from(group.weight)
            > u128::from(self.weight) * u128::from(group.issued)
    }
}

/// A worker that is held: ordered by I/Os for its weight.
#[derive(Debug, Clone, Copy)]
struct Held {
    issued: u64,
    weight: u64,
    worker: u32,
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        let own = u128::from(self.issued) * u128::from(other.weight);
        let others = u128::from(other.issued) * u128::from(self.weight);
        own.cmp(&others).then(self.worker.cmp(&other.worker))
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Held {}

impl Flows {
    /// The flows of workers that stand in the order of these jobs, one for each worker.
    pub fn of<'a>(jobs: impl Iterator<Item = &'a Job>) -> Self {
        let mut groups: BTreeMap<u32, usize> = BTreeMap::new();
        let mut flows = Self::default();
        for job in jobs {
            let share = job.features.flow.map(|flow| {
                let next = groups.len();
                let group = *groups.entry(flow.id).or_insert(next);
                if group == flows.groups.len() {
                    flows.groups.push(Group::default());
                }
                let weight = u64::from(flow.weight.max(1));
                flows.groups[group].weight += weight;
                Share {
                    group,
                    weight,
                    issued: 0,
                }
            });
            flows.shares.push(share);
        }
        if flows.groups.is_empty() {
            flows.shares = Vec::new();
        }
        flows
    }

    /// Whether there is none, so that nothing need be asked or told.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    fn share(&self, worker: u32) -> Option<Share> {
        *self.shares.get(worker as usize)?
    }

    /// Whether a worker is ahead. It is remembered, and is among those that [`Self::released`] gives when it no longer is.
    pub fn holds(&mut self, worker: u32) -> bool {
        let Some(share) = self.share(worker) else {
            return false;
        };
        let group = &mut self.groups[share.group];
        let ahead = share.is_ahead(group);
        if ahead {
            group.held.insert(Held {
                issued: share.issued,
                weight: share.weight,
                worker,
            });
        }
        ahead
    }

    /// A worker began an I/O.
    pub fn issued(&mut self, worker: u32) {
        if let Some(Some(share)) = self.shares.get_mut(worker as usize) {
            share.issued += 1;
            self.groups[share.group].issued += 1;
        }
    }

    /// A worker ended.
    pub fn leave(&mut self, worker: u32) {
        let Some(share) = self.shares.get_mut(worker as usize).and_then(Option::take) else {
            return;
        };
        let group = &mut self.groups[share.group];
        group.weight -= share.weight;
        group.issued -= share.issued;
        group.held.remove(&Held {
            issued: share.issued,
            weight: share.weight,
            worker,
        });
    }

    /// The next worker of `beside`'s flow that was held and is ahead no longer.
    pub fn released(&mut self, group: usize) -> Option<u32> {
        let group = self.groups.get_mut(group)?;
        let first = *group.held.first()?;
        let share = Share {
            group: 0,
            weight: first.weight,
            issued: first.issued,
        };
        if share.is_ahead(group) {
            return None;
        }
        group.held.pop_first();
        Some(first.worker)
    }

    /// The flow of a worker.
    pub fn group_of(&self, worker: u32) -> Option<usize> {
        Some(self.share(worker)?.group)
    }
}

#[cfg(test)]
mod tests {
    use fathom_units::Nanos;
    use fathom_workload::{Flow, Job, preset};

    use super::Flows;

    fn jobs(weights: &[u32]) -> Vec<Job> {
        let job = |weight: &u32| {
            let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
            job.features.flow = Some(Flow {
                id: 3,
                weight: *weight,
                pause: Nanos::ZERO,
            });
            job
        };
        weights.iter().map(job).collect()
    }

    /// I/Os of workers that would go on without end, each until it is held.
    fn issue(flows: &mut Flows, workers: u32, count: usize) -> Vec<u64> {
        let mut ready: Vec<u32> = (0..workers).collect();
        for _ in 0..count {
            let worker = ready.pop().expect("one may always begin");
            assert!(!flows.holds(worker));
            flows.issued(worker);
            let group = flows.group_of(worker).unwrap();
            if !flows.holds(worker) {
                ready.insert(0, worker);
            }
            while let Some(other) = flows.released(group) {
                ready.insert(0, other);
            }
        }
        (0..workers)
            .map(|worker| flows.share(worker).map_or(0, |share| share.issued))
            .collect()
    }

    #[test]
    fn shares_follow_weights_and_are_dealt_anew() {
        let jobs = jobs(&[1, 2, 3]);
        let mut flows = Flows::of(jobs.iter());
        let first = issue(&mut flows, 3, 6000);
        for (worker, expected) in [1000u64, 2000, 3000].into_iter().enumerate() {
            assert!(first[worker].abs_diff(expected) <= 2, "{first:?}");
        }
        flows.leave(2);
        let second = issue(&mut flows, 2, 3000);
        assert!((second[0] - first[0]).abs_diff(1000) <= 2, "{second:?}");
        assert!((second[1] - first[1]).abs_diff(2000) <= 2, "{second:?}");
    }

    #[test]
    fn without_a_flow_there_is_nothing_to_ask() {
        let job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        assert!(Flows::of([&job].into_iter()).is_empty());
    }
}
