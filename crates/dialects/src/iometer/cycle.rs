//! From a test type to its steps: which workers run on how many of their targets, and how deep.
//!
//! Every access specification goes through all steps before the next begins. Cycles of workers, and of targets of workers,
//! go by manager; they end with the step that would add no target.

use super::config::{Cycle, Setup, TestType};

/// A worker that has something to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Its manager's index.
    pub(super) manager: usize,
    /// Its index among all workers.
    pub(super) worker: usize,
    /// How many targets it has; at least 1.
    pub(super) targets: usize,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// Workers with how many of their targets are used; those without any are left out.
    pub(super) active: Vec<(usize, usize)>,
    /// I/Os outstanding in place of the workers' own.
    pub(super) depth: Option<u32>,
    /// What tells it from the others, in a few words.
    pub(super) label: String,
}

/// The steps of a test, as long as no more than `jobs_left` jobs come of them; `None` where more would.
pub(super) fn steps(setup: &Setup<'_>, members: &[Member], jobs_left: usize) -> Option<Vec<Step>> {
    let mut steps = Steps {
        list: Vec::new(),
        jobs_left,
    };
    let everything = || active(members, |_, member| member.targets);
    let (targets, workers) = (setup.target_cycle, setup.worker_cycle);
    match setup.test_type {
        TestType::Normal => steps.add(everything(), None, String::new())?,
        TestType::Targets => {
            for (used, count) in growing(targets, |count| by_targets(members, count)) {
                steps.add(used, None, counted(count, "target"))?;
            }
        }
        TestType::Workers => {
            for (used, count) in growing(workers, |count| by_workers(members, count, usize::MAX)) {
                steps.add(used, None, counted(count, "worker"))?;
            }
        }
        TestType::IncreaseInParallel => {
            for (used, count) in growing(targets, |count| in_turn(members, count, true)) {
                steps.add(used, None, counted(count, "target"))?;
            }
        }
        TestType::IncreaseInTurn => {
            for (used, count) in growing(targets, |count| in_turn(members, count, false)) {
                steps.add(used, None, counted(count, "target"))?;
            }
        }
        TestType::WorkersAndTargets => {
            for (_, count) in growing(workers, |count| by_workers(members, count, usize::MAX)) {
                for (used, each) in growing(targets, |each| by_workers(members, count, each)) {
                    let label =
                        format!("{}, {}", counted(count, "worker"), counted(each, "target"));
                    steps.add(used, None, label)?;
                }
            }
        }
        TestType::Depths => {
            for depth in setup.depth_cycle.values() {
                steps.add(everything(), Some(depth), format!("qd {depth}"))?;
            }
        }
        TestType::DepthsAndTargets => {
            for (used, count) in growing(targets, |count| by_targets(members, count)) {
                for depth in setup.depth_cycle.values() {
                    let label = format!("{}, qd {depth}", counted(count, "target"));
                    steps.add(used.clone(), Some(depth), label)?;
                }
            }
        }
    }
    Some(steps.list)
}

struct Steps {
    list: Vec<Step>,
    jobs_left: usize,
}

impl Steps {
    fn add(
        &mut self,
        active: Vec<(usize, usize)>,
        depth: Option<u64>,
        label: String,
    ) -> Option<()> {
        self.jobs_left = self.jobs_left.checked_sub(total(&active))?;
        self.list.push(Step {
            active,
            depth: depth.and_then(|depth| u32::try_from(depth).ok()),
            label,
        });
        Some(())
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// All targets of a step.
fn total(active: &[(usize, usize)]) -> usize {
    active.iter().map(|(_, targets)| targets).sum()
}

/// The steps of a cycle, each with its number, as long as each adds a target.
fn growing(
    cycle: Cycle,
    step: impl Fn(usize) -> Vec<(usize, usize)>,
) -> impl Iterator<Item = (Vec<(usize, usize)>, usize)> {
    let mut before = 0;
    let counts = cycle
        .values()
        .map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    counts
        .map(move |count| (step(count), count))
        .take_while(move |(active, _)| {
            let now = total(active);
            std::mem::replace(&mut before, now) < now
        })
}

fn active(
    members: &[Member],
    mut targets: impl FnMut(usize, &Member) -> usize,
) -> Vec<(usize, usize)> {
    let used = members.iter().enumerate().map(|(index, member)| {
        let used = targets(index, member).min(member.targets);
        (member.worker, used)
    });
    used.filter(|(_, used)| *used > 0).collect()
}

/// Each worker on its first `count` targets.
fn by_targets(members: &[Member], count: usize) -> Vec<(usize, usize)> {
    active(members, |_, _| count)
}

/// The first `count` workers of each manager, on `each` of their targets.
fn by_workers(members: &[Member], count: usize, each: usize) -> Vec<(usize, usize)> {
    let (mut manager, mut seen) = (None, 0);
    active(members, |_, member| {
        if manager.replace(member.manager) != Some(member.manager) {
            seen = 0;
        }
        seen += 1;
        if seen <= count { each } else { 0 }
    })
}

/// `count` targets in all, or of each manager, to the first workers first.
fn in_turn(members: &[Member], count: usize, by_manager: bool) -> Vec<(usize, usize)> {
    let (mut manager, mut left) = (None, count);
    active(members, |_, member| {
        if manager.replace(member.manager) != Some(member.manager) && by_manager {
            left = count;
        }
        let used = left.min(member.targets);
        left -= used;
        used
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two managers: workers with 2 and 3 targets, and one with 4.
    fn members() -> Vec<Member> {
        [(0, 2), (0, 3), (1, 4)]
            .into_iter()
            .enumerate()
            .map(|(worker, (manager, targets))| Member {
                manager,
                worker,
                targets,
            })
            .collect()
    }

    #[track_caller]
    fn check(test_type: TestType, cycle: (u64, u64, bool), expected: &[&[usize]]) {
        let (start, step, exponential) = cycle;
        let cycle = Cycle {
            start,
            end: 8,
            step,
            exponential,
        };
        let setup = Setup {
            test_type,
            worker_cycle: Cycle {
                end: u64::MAX,
                ..cycle
            },
            target_cycle: Cycle {
                end: u64::MAX,
                ..cycle
            },
            depth_cycle: cycle,
            ..Setup::default()
        };
        let steps = steps(&setup, &members(), 1000).unwrap();
        let shape = |step: &Step| -> Vec<usize> {
            let of = |worker| step.active.iter().find(|(index, _)| *index == worker);
            let counts = (0..3).map(|worker| of(worker).map_or(0, |(_, used)| *used));
            let depth = step.depth.map(|depth| depth as usize);
            counts.chain(depth).collect()
        };
        let found: Vec<Vec<usize>> = steps.iter().map(shape).collect();
        assert_eq!(found, expected, "{test_type:?}");
    }

    #[test]
    fn test_types_have_their_steps() {
        let ones = (1, 1, false);
        check(TestType::Normal, ones, &[&[2, 3, 4]]);
        let by_one: [&[usize]; 4] = [&[1, 1, 1], &[2, 2, 2], &[2, 3, 3], &[2, 3, 4]];
        check(TestType::Targets, ones, &by_one);
        check(TestType::Targets, (1, 1, true), &by_one);
        check(TestType::Targets, (2, 3, false), &[&[2, 2, 2], &[2, 3, 4]]);
        check(
            TestType::Targets,
            (1, 2, true),
            &[&[1, 1, 1], &[2, 2, 2], &[2, 3, 4]],
        );
        check(TestType::Workers, ones, &[&[2, 0, 4], &[2, 3, 4]]);
        let parallel: [&[usize]; 3] = [&[2, 0, 2], &[2, 2, 4], &[2, 3, 4]];
        check(TestType::IncreaseInParallel, (2, 2, false), &parallel);
        let serial: [&[usize]; 3] = [&[2, 2, 0], &[2, 3, 3], &[2, 3, 4]];
        check(TestType::IncreaseInTurn, (4, 4, false), &serial);
        check(
            TestType::WorkersAndTargets,
            (1, 1, false),
            &[
                &[1, 0, 1],
                &[2, 0, 2],
                &[2, 0, 3],
                &[2, 0, 4],
                &[1, 1, 1],
                &[2, 2, 2],
                &[2, 3, 3],
                &[2, 3, 4],
            ],
        );
        check(
            TestType::Depths,
            (1, 2, true),
            &[&[2, 3, 4, 1], &[2, 3, 4, 2], &[2, 3, 4, 4], &[2, 3, 4, 8]],
        );
        check(
            TestType::DepthsAndTargets,
            (4, 4, false),
            &[&[2, 3, 4, 4], &[2, 3, 4, 8]],
        );
    }

    #[test]
    fn a_cycle_past_all_bounds_is_refused() {
        let depth_cycle = Cycle {
            start: 1,
            end: 1 << 20,
            step: 1,
            exponential: false,
        };
        let setup = Setup {
            test_type: TestType::Depths,
            depth_cycle,
            ..Setup::default()
        };
        assert!(steps(&setup, &members(), 1000).is_none());
    }
}
