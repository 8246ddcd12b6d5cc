//! Whether the program was held back from outside while it measured: by the processor limit of its container, by other threads
//! that had the processors, or by a hypervisor that gave them to others. Latencies hold that time too, and no counter of the I/O shows it.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use fathom_record::WorkerStats;
use fathom_units::Nanos;

/// Share of the time measured, of one processor, that is told of where a limit held the program back.
const LIMITED_TOLD: f64 = 0.01;

/// Share of all processors' time that is told of where a hypervisor took it.
const STOLEN_TOLD: f64 = 0.05;

/// Share of the workers' time that is told of where other threads had the processors meanwhile.
const WAITED_TOLD: f64 = 0.05;

/// Ticks of all processors, a hundredth of a second each, that a share of them needs to mean something.
const FEWEST_TICKS: u64 = 100;

/// Counters of a moment.
#[derive(Debug, Default)]
pub(crate) struct HeldBack {
    /// Time for which each control group that the program is in was held back, all processors together, outermost last.
    limited: Vec<Nanos>,
    /// Ticks that a hypervisor took, and all ticks there were, of all processors.
    stolen: Option<(u64, u64)>,
}

impl HeldBack {
    /// Those of now. What the kernel does not tell is left out.
    pub(crate) fn now() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let groups = groups(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"));
        let limited = groups.iter().map(|group| {
            let stat = fs::read_to_string(group.join("cpu.stat")).unwrap_or_default();
            limited_in(&stat)
        });
        Self {
            limited: limited.collect(),
            stolen: stolen_in(&text("/proc/stat")),
        }
    }

    /// Time since `before` for which the limit that held back longest did so, all processors together.
    fn limited_since(&self, before: &Self) -> Nanos {
        let pairs = self.limited.iter().zip(&before.limited);
        let each = pairs.map(|(now, before)| now.saturating_sub(*before));
        each.max().unwrap_or(Nanos::ZERO)
    }

    /// Share of the time since `before`, which was that long, for which a limit held so many `workers` back. The kernel adds
    /// up the processors on which something waited: at most as many as there are, or as there are workers.
    pub(crate) fn limited_share_since(&self, before: &Self, over: Nanos, workers: usize) -> f64 {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        self.limited_share(before, over, workers.clamp(1, processors))
    }

    /// The same where something of this program waited on so many processors.
    fn limited_share(&self, before: &Self, over: Nanos, processors: usize) -> f64 {
        let used = processors as f64;
        let limited = self.limited_since(before).get() as f64;
        (limited / (over.get().max(1) as f64 * used)).min(1.0)
    }

    /// What should be said of the time since `before`, which was that long.
    pub(crate) fn notes_since(&self, before: &Self, over: Nanos) -> Vec<String> {
        let mut notes = Vec::new();
        let limited = self.limited_since(before);
        if limited.get() as f64 > over.get() as f64 * LIMITED_TOLD {
            notes.push(format!(
                "the processor limit of this container (control group) held what runs in it back for {limited} of {over}, all \
                 processors together: latencies hold that too"
            ));
        }
        if let (Some(now), Some(before)) = (self.stolen, before.stolen) {
            let (stolen, all) = (
                now.0.saturating_sub(before.0),
                now.1.saturating_sub(before.1),
            );
            let share = stolen as f64 / all.max(1) as f64;
            if share > STOLEN_TOLD && all >= FEWEST_TICKS {
                notes.push(format!(
                    "the hypervisor gave {:.0} % of the processors' time to others (steal): latencies hold that too",
                    share * 100.0
                ));
            }
        }
        notes
    }
}

/// What should be said of `workers` that could have run and had no processor.
pub(crate) fn waits(workers: &[WorkerStats]) -> Option<String> {
    let share = WorkerStats::waited_share(workers).filter(|share| *share > WAITED_TOLD)?;
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let who = if workers.len() > processors {
        format!(
            "the {} workers shared {processors} processors and waited",
            workers.len()
        )
    } else {
        "other threads had the processors, for which workers waited".to_owned()
    };
    Some(format!(
        "{who} {:.0} % of their time: latencies hold that too",
        share * 100.0
    ))
}

/// Time held back, of a group's `cpu.stat`: of all programs in it, for the kernel does not say which of them waited. Formats: `Documentation/admin-guide/cgroup-v2.rst` (`throttled_usec`) and
/// `Documentation/scheduler/sched-bwc.rst` (`throttled_time`, in ns, of version 1) of the kernel.
fn limited_in(stat: &str) -> Nanos {
    let value = |key: &str| {
        let mut lines = stat.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        found.and_then(|number| number.trim().parse::<u64>().ok())
    };
    let micros = value("throttled_usec").map(|micros| micros.saturating_mul(1000));
    Nanos::new(micros.or_else(|| value("throttled_time")).unwrap_or(0))
}

/// Ticks stolen, and all of them, of `/proc/stat` (`proc_stat(5)`); those of guests are counted in user time already.
fn stolen_in(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .map_while(|number| number.parse().ok())
        .take(8)
        .collect();
    Some((*ticks.get(7)?, ticks.iter().sum()))
}

/// Directories of the groups that limit this process's processor time, from the innermost out, as far as this view of the
/// system shows them. Formats: `cgroups(7)` and `proc_pid_mountinfo(5)`.
fn groups(of_process: &str, mounts: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in of_process.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let is_first_version = controllers.split(',').any(|controller| controller == "cpu");
        if !controllers.is_empty() && !is_first_version {
            continue;
        }
        let kind = if is_first_version {
            "cgroup"
        } else {
            "cgroup2"
        };
        let mounted = mounts.lines().find_map(|line| mount_of(line, kind));
        if let Some((root, place)) = mounted {
            // A container sees its own group as the root of the mount.
            let within = Path::new(path).strip_prefix(&root).unwrap_or(Path::new(""));
            let innermost = place.join(within.strip_prefix("/").unwrap_or(within));
            let outwards = innermost
                .ancestors()
                .take_while(|group| group.starts_with(&place));
            found.extend(outwards.map(Path::to_owned));
        }
    }
    found
}

/// Root and place of a mount of control groups of this kind that count processor time.
fn mount_of(line: &str, kind: &str) -> Option<(PathBuf, PathBuf)> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    let counts = |options: &str| options.split(',').any(|option| option == "cpu");
    let is_kind = after.next()? == kind;
    let options = after.nth(1)?;
    if !is_kind || (kind == "cgroup" && !counts(options)) {
        return None;
    }
    let mut fields = before.split(' ').skip(3);
    Some((PathBuf::from(fields.next()?), PathBuf::from(fields.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_both_versions_are_read() {
        let second = "usage_usec 5\nnr_throttled 3\nthrottled_usec 1500\nnr_bursts 0\n";
        assert_eq!(limited_in(second), Nanos::from_micros(1500));
        let first = "nr_periods 10\nnr_throttled 3\nthrottled_time 2500\n";
        assert_eq!(limited_in(first), Nanos::new(2500));
        assert_eq!(limited_in("usage_usec 5\n"), Nanos::ZERO);
        let stat = "cpu  10 20 30 40 50 60 70 80 10 20\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(stolen_in(stat), Some((80, 360)));
        assert_eq!(stolen_in("cpu  10 20\n"), None);
    }

    #[track_caller]
    fn check(of_process: &str, mounts: &str, expected: &[&str]) {
        let found = groups(of_process, mounts);
        assert_eq!(
            found,
            expected.iter().map(PathBuf::from).collect::<Vec<_>>()
        );
    }

    #[test]
    fn groups_are_found_from_the_innermost_out() {
        let second = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        check(
            "0::/user.slice/run.scope\n",
            second,
            &[
                "/sys/fs/cgroup/user.slice/run.scope",
                "/sys/fs/cgroup/user.slice",
                "/sys/fs/cgroup",
            ],
        );
        check("0::/\n", second, &["/sys/fs/cgroup"]);
        // Not all of the path is to be seen in a container.
        let first = "31 23 0:27 /docker/ab /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                     32 23 0:28 /docker/ab /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
        check(
            "4:cpu,cpuacct:/docker/ab/x\n3:cpuset:/docker/ab\n0::/\n",
            first,
            &["/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/cpu"],
        );
        check("0::/\n", "", &[]);
        check("nonsense", second, &[]);
    }

    #[test]
    fn waits_for_a_processor_are_told() {
        let worker = |waited| {
            let mut worker = WorkerStats::new(0, 0);
            worker.measured = Nanos::from_secs(2);
            worker.usage.waited = Nanos::from_millis(waited);
            worker
        };
        assert_eq!(waits(&[worker(100)]), None);
        assert_eq!(waits(&[]), None);
        let told = waits(&[worker(500)]).unwrap();
        assert!(
            told.contains("other threads had the processors") && told.contains(" 25 % "),
            "{told}"
        );
        let told = waits(&vec![worker(1000); 2000]).unwrap();
        assert!(
            told.contains("the 2000 workers shared") && told.contains(" 50 % "),
            "{told}"
        );
        let mut short = worker(100);
        short.measured = Nanos::from_millis(200);
        assert_eq!(waits(&[short]), None);
    }

    #[test]
    fn what_took_much_is_told() {
        let over = Nanos::from_secs(10);
        let before = HeldBack {
            limited: vec![Nanos::from_secs(7), Nanos::from_secs(1)],
            stolen: Some((100, 10_000)),
        };
        let little = HeldBack {
            limited: vec![Nanos::from_secs(7), Nanos::from_millis(1_050)],
            stolen: Some((140, 11_000)),
        };
        assert_eq!(little.notes_since(&before, over), Vec::<String>::new());
        let much = HeldBack {
            limited: vec![Nanos::from_secs(7), Nanos::from_secs(3)],
            stolen: Some((180, 11_000)),
        };
        let notes = much.notes_since(&before, over);
        assert!(
            notes[0].contains("held what runs in it back for 2 s of 10 s"),
            "{notes:?}"
        );
        assert!(
            notes[1].contains("gave 8 % of the processors' time"),
            "{notes:?}"
        );
        assert_eq!(
            HeldBack::default().notes_since(&before, over),
            Vec::<String>::new()
        );
        // The kernel adds up what waited on each processor; more than all of the time is none.
        let share = |now: &HeldBack, over, processors| now.limited_share(&before, over, processors);
        assert!((share(&much, over, 1) - 0.2).abs() < 1e-9);
        assert!((share(&much, over, 2) - 0.1).abs() < 1e-9);
        assert!((share(&much, Nanos::from_secs(1), 1) - 1.0).abs() < 1e-9);
        assert!(share(&HeldBack::default(), over, 1).abs() < 1e-9);
        // One worker waits on one processor, and many on no more than there are.
        let of_workers = |workers| much.limited_share_since(&before, over, workers);
        assert!((of_workers(1) - 0.2).abs() < 1e-9);
        let processors = std::thread::available_parallelism().unwrap().get();
        assert!((of_workers(1000) - 0.2 / processors as f64).abs() < 1e-9);
    }
}
