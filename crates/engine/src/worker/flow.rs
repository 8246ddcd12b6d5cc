//! Shares of a flow: workers of one flow are held to their weights.
//!
//! Every worker counts its own I/Os and, in one atomic, those of the flow; one that is ahead of its share of the weight
//! waits until the others have caught up. A worker that ends takes its weight and its I/Os with it, so that the rest is
//! shared anew.
//!
//! Workers that took turns I/O by I/O would spend their time with handing over. So a worker may be ahead by its share of
//! [`leeway`] and counts in the flow what it has issued only after a part of that, or as it waits.
//!
//! Invariant: no I/O is issued by a worker whose share of the I/Os that the flow has counted is above its share of the weight
//! by more than its share of [`leeway`].

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

/// One I/O in so many of the flow so far is the most that its workers may be ahead by, together.
const LEEWAY_PART: u64 = 128;
/// And no more than what the flow has done in so long, on average: no interval of a report shows that.
const LEEWAY_TIME: Nanos = Nanos::from_millis(10);
/// A worker looks again after this part of what it may issue.
const LOOKS: u64 = 4;
/// And after so long.
const LOOK_EVERY: Nanos = Nanos::from_millis(1);

/// How many I/Os the workers of a flow may be ahead by, together, after `all` I/Os in `elapsed`.
fn leeway(all: u64, elapsed: Nanos) -> u64 {
    let part = elapsed.get() / LEEWAY_TIME.get();
    all / part.max(LEEWAY_PART)
}

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
            uncounted: 0,
            granted: 0,
            looked: None,
            began: None,
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
    /// Those of them that the flow has not counted yet.
    uncounted: u64,
    /// How many more it may issue before it looks again.
    granted: u64,
    /// When it last did.
    looked: Option<Nanos>,
    /// When it first did.
    began: Option<Nanos>,
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
        if self.granted == 0 || self.looked.is_none_or(|looked| now >= looked + LOOK_EVERY) {
            self.granted = self.grant(now);
        }
        if self.granted > 0 {
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

    /// Counts its I/Os in the flow, and says how many it may issue before the next look.
    fn grant(&mut self, now: Nanos) -> u64 {
        self.looked = Some(now);
        let elapsed = now.saturating_sub(*self.began.get_or_insert(now));
        let all = match std::mem::take(&mut self.uncounted) {
            // Who waits only reads, and takes the line of the cache from nobody.
            0 => self.group.issued.load(Ordering::Relaxed),
            count => self.group.issued.fetch_add(count, Ordering::Relaxed) + count,
        };
        let weight = self.group.weight.load(Ordering::Relaxed).max(1);
        // Of the flow's I/Os it may have issued its share, the one it stands at included.
        let reached = u128::from(all + leeway(all, elapsed)) * u128::from(self.flow.weight);
        let allowed = u64::try_from(reached / u128::from(weight)).unwrap_or(u64::MAX);
        let left = allowed.saturating_add(1).saturating_sub(self.issued);
        left.div_ceil(LOOKS)
    }

    pub(super) fn issued(&mut self) {
        self.issued += 1;
        self.uncounted += 1;
        self.granted = self.granted.saturating_sub(1);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let weight = u64::from(self.flow.weight);
        self.group.weight.fetch_sub(weight, Ordering::Relaxed);
        let counted = self.issued - self.uncounted;
        self.group.issued.fetch_sub(counted, Ordering::Relaxed);
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
        let near = |of: u64, ios: u64, times: u64| ios.abs_diff(of * times) <= of * times / 50;
        assert!(near(first[0], first[1], 2), "{first:?}");
        assert!(near(first[0], first[2], 3), "{first:?}");
        drop(shares.pop());
        let second = issue(&mut shares, 6000);
        let gained = [second[0] - first[0], second[1] - first[1]];
        assert!(near(gained[0], gained[1], 2), "{gained:?}");
    }

    #[test]
    fn the_first_ios_go_in_turn_and_the_later_ones_in_runs() {
        let mut flows = Flows::default();
        let mut shares: Vec<_> = [1, 1]
            .iter()
            .filter_map(|it| flows.join(&job(*it)))
            .collect();
        let run = |share: &mut Share| {
            let before = share.issued;
            while share.wait(Nanos::ZERO, 0).is_none() {
                share.issued();
            }
            share.issued - before
        };
        assert_eq!(run(&mut shares[0]), 1);
        let runs: Vec<u64> = (0..400)
            .map(|turn| run(&mut shares[1 - turn % 2]))
            .collect();
        assert!(runs[..20].iter().all(|ios| *ios <= 2), "{:?}", &runs[..20]);
        assert!(runs[399] > 20, "{}", runs[399]);
        // However long it goes on, no more than 10 ms of the flow's I/Os; at 100 a second that is one.
        assert_eq!(leeway(360_000, Nanos::from_secs(3600)), 1);
        assert_eq!(leeway(1_000_000, Nanos::from_secs(1)), 7812);
        assert_eq!(leeway(100_000_000, Nanos::from_secs(100)), 10_000);
    }
}
