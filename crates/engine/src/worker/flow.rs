//! Shares of a flow: workers of one flow are held to their weights.
//!
//! Every worker counts its own I/Os and, in one atomic, those of the flow; one that is ahead of its share of the weight
//! waits until the others have caught up. A worker that ends takes its weight and its I/Os with it, so that the rest is
//! shared anew.
//!
//! Invariant: no I/O is issued by a worker whose share of the I/Os so far is above its share of the weight.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_units::Nanos;
use fathom_workload::{Flow, Job};

use super::source::Next;

/// How long a worker that is ahead looks for the others' progress awake, where its job has no pause for that.
const AWAKE: Nanos = Nanos::from_micros(20);
/// Then it sleeps so long between two looks.
const NAP: Nanos = Nanos::from_micros(100);

/// What the workers of one flow share, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Group {
    issued: AtomicU64,
    weight: AtomicU64,
}

/// The flows of a stage.
#[derive(Debug, Default)]
pub(crate) struct Flows(BTreeMap<u32, Arc<Group>>);

impl Flows {
    /// The share of one more worker of `job`, where it belongs to a flow.
    pub(crate) fn join(&mut self, job: &Job) -> Option<Share> {
        let flow = job.features.flow?;
        let group = Arc::clone(self.0.entry(flow.id).or_default());
        group
            .weight
            .fetch_add(u64::from(flow.weight), Ordering::Relaxed);
        Some(Share {
            group,
            flow,
            issued: 0,
            sleeps_until: Nanos::ZERO,
            ahead_since: None,
        })
    }
}

/// One worker's part in a flow.
#[derive(Debug)]
pub(crate) struct Share {
    group: Arc<Group>,
    flow: Flow,
    issued: u64,
    sleeps_until: Nanos,
    /// Since when it has been ahead.
    ahead_since: Option<Nanos>,
}

impl Share {
    /// What the worker must wait for, where it is ahead.
    pub(super) fn wait(&mut self, now: Nanos, in_flight: u32) -> Option<Next> {
        if now < self.sleeps_until {
            return Some(Next::NotBefore(self.sleeps_until));
        }
        let all = self.group.issued.load(Ordering::Relaxed);
        let weight = self.group.weight.load(Ordering::Relaxed);
        let ahead = u128::from(self.issued) * u128::from(weight)
            > u128::from(self.flow.weight) * u128::from(all);
        if !ahead {
            self.ahead_since = None;
            return None;
        }
        if self.flow.pause > Nanos::ZERO {
            if in_flight > 0 {
                return Some(Next::AfterCompletion);
            }
            self.sleeps_until = now + self.flow.pause;
            return Some(Next::NotBefore(self.sleeps_until));
        }
        let ahead_since = *self.ahead_since.get_or_insert(now);
        if now < ahead_since + AWAKE {
            std::hint::spin_loop();
            return Some(Next::NotBefore(now));
        }
        // Others of the flow may share this processor. Whoever yields it comes last among all that want it; who sleeps, first.
        Some(Next::NotBefore(now + NAP))
    }

    pub(super) fn issued(&mut self) {
        self.issued += 1;
        self.group.issued.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let weight = u64::from(self.flow.weight);
        self.group.weight.fetch_sub(weight, Ordering::Relaxed);
        self.group.issued.fetch_sub(self.issued, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::preset;

    fn job(weight: u32) -> Job {
        let mut job = preset("quick", "/unused").unwrap().stages[0].jobs[0].clone();
        job.features.flow = Some(Flow {
            id: 7,
            weight,
            pause: Nanos::ZERO,
        });
        job
    }

    /// Issues of each of three workers that all would go on without end, taken in turns.
    fn issue(shares: &mut [Share], rounds: usize) -> Vec<u64> {
        for _ in 0..rounds {
            for share in shares.iter_mut() {
                if share.wait(Nanos::ZERO, 0).is_none() {
                    share.issued();
                }
            }
        }
        shares.iter().map(|share| share.issued).collect()
    }

    #[test]
    fn shares_follow_weights_and_are_dealt_anew() {
        let mut flows = Flows::default();
        let mut shares: Vec<_> = [1, 2, 3]
            .iter()
            .filter_map(|it| flows.join(&job(*it)))
            .collect();
        let first = issue(&mut shares, 6000);
        assert!(first[1].abs_diff(first[0] * 2) < 5, "{first:?}");
        assert!(first[2].abs_diff(first[0] * 3) < 5, "{first:?}");
        drop(shares.pop());
        let second = issue(&mut shares, 6000);
        let gained = [second[0] - first[0], second[1] - first[1]];
        assert!(gained[1].abs_diff(gained[0] * 2) < 5, "{gained:?}");
    }
}
