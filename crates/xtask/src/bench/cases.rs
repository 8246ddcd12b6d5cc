//! The table of comparisons: what is run, what is compared, and what is to be reached.

/// A comparison: its name, the arguments both programs get, and what is to be reached.
pub struct Case {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
    pub data: Data,
    /// Keys of our own job, where Fathom's defaults take part and not fio's: ours is a native workload then.
    pub native: Option<&'static str>,
    /// Arguments of fio's speed demo where it can do the same; where which are its best depends on the processor, all that may
    /// be. It is judged by those that it was fastest with.
    pub demo: &'static [&'static [&'static str]],
    pub goals: &'static [Goal],
}

impl Case {
    /// How many rounds of how many seconds. A shared disk answers by a tenth faster or slower from second to second, and so does
    /// shared memory: many rounds of one second tell more of them than few long ones, and one I/O at a time, which waits for the
    /// disk alone, takes twice as many.
    pub fn rounds(&self, rounds: usize, seconds: usize) -> (usize, usize) {
        match self.data {
            Data::Direct if self.has(|goal| matches!(goal, Goal::Median(_))) => {
                (2 * rounds * seconds, 1)
            }
            Data::Direct | Data::Hot => (rounds * seconds, 1),
            Data::None => (rounds, seconds),
        }
    }

    /// The processor both programs of a round keep to, where each I/O is waited for: on the one that takes the disk's
    /// interrupts an I/O is answered sooner by a third, and where the kernel places a thread would decide the ratio.
    pub fn processor(&self, round: usize) -> Option<usize> {
        let waits = self.has(|goal| matches!(goal, Goal::Median(_) | Goal::UserSampled(_)));
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // Two rounds each, one in either order.
        waits.then_some(round / 2 % processors)
    }

    /// Whether user time is to be sampled.
    pub fn samples_user_time(&self) -> bool {
        self.has(|goal| matches!(goal, Goal::UserSampled(_)))
    }

    fn has(&self, goal: impl Fn(&Goal) -> bool) -> bool {
        self.goals.iter().any(goal)
    }
}

/// What the I/O goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    None,
    /// A file whose pages are all in the page cache.
    Hot,
    /// A file, past the page cache.
    Direct,
}

/// A figure with its bound.
#[derive(Clone, Copy)]
pub enum Goal {
    /// IOPS, at least this many times fio's.
    Iops(f64),
    /// IOPS, at least this many.
    IopsAlone(f64),
    /// IOPS, at least this many times those of the speed demo.
    IopsOfDemo(f64),
    /// User time of an I/O, at most this many times fio's.
    User(f64),
    /// User time of an I/O, at most this many times fio's; sampled, since ticks cannot tell it where each I/O is slept for.
    UserSampled(f64),
    /// Time of an I/O outside system calls in ns, at most this; by the clock, read around each call.
    OutsideCalls(f64),
    /// The same, at most this many times fio's user time: how long either takes goes by the processor.
    OutsideOfFio(f64),
    /// User and system time of an I/O, at most this many times fio's.
    Processor(f64),
    /// Median latency from submission to completion, at most this many times fio's.
    Median(f64),
}

/// What is wanted of user time, beside what fio took where that was set: 60 ns an I/O and 484.
const USER_OF_FIO: f64 = 60.0 / 484.0;

const RANDOM_READ: &str = "--rw=randread";
const DIRECT: &str = "--direct=1";
const URING: &str = "--ioengine=io_uring";
const DEPTH_64: &str = "--iodepth=64";

pub const CASES: [Case; 11] = [
    Case {
        name: "null engine, depth 64",
        arguments: &["--ioengine=null", DEPTH_64, RANDOM_READ, "--bs=4k"],
        data: Data::None,
        native: None,
        demo: &[],
        goals: &[Goal::Iops(6.0), Goal::IopsAlone(35e6)],
    },
    Case {
        name: "hot page cache, 4 KiB, depth 64",
        arguments: &[URING, DEPTH_64, RANDOM_READ, "--bs=4k", "--invalidate=0"],
        data: Data::Hot,
        native: None,
        demo: &[
            &["-b4096", "-O0", "-s32", "-c32", "-B0"],
            &["-b4096", "-O0", "-s32", "-c32", "-B1"],
        ],
        goals: &[Goal::Iops(2.0), Goal::IopsOfDemo(1.05)],
    },
    Case {
        name: "hot page cache, 512 B, depth 64",
        arguments: &[URING, DEPTH_64, RANDOM_READ, "--bs=512", "--invalidate=0"],
        data: Data::Hot,
        native: None,
        demo: &[
            &["-b512", "-O0", "-s32", "-c32", "-B0"],
            &["-b512", "-O0", "-s32", "-c32", "-B1"],
        ],
        goals: &[Goal::Iops(2.0), Goal::IopsOfDemo(1.05)],
    },
    Case {
        name: "direct, depth 64, Fathom's defaults",
        arguments: &[URING, DIRECT, DEPTH_64, RANDOM_READ, "--bs=4k"],
        data: Data::Direct,
        native: Some("depth = 64"),
        demo: &[],
        goals: &[
            Goal::Iops(0.99),
            Goal::OutsideCalls(60.0),
            Goal::OutsideOfFio(USER_OF_FIO),
            Goal::Processor(0.80),
        ],
    },
    Case {
        name: "direct, depth 64, as `fathom fio`",
        arguments: &[URING, DIRECT, DEPTH_64, RANDOM_READ, "--bs=4k"],
        data: Data::Direct,
        native: None,
        demo: &[],
        goals: &[Goal::Iops(0.99), Goal::Processor(0.80)],
    },
    Case {
        name: "direct, depth 64, reaping waits for 8",
        arguments: &[URING, DIRECT, DEPTH_64, RANDOM_READ, "--bs=4k"],
        data: Data::Direct,
        native: Some("depth = 64\nbatches = { submit = 8, complete_min = 8, complete_max = 16 }"),
        demo: &[],
        goals: &[
            Goal::OutsideCalls(60.0),
            Goal::OutsideOfFio(USER_OF_FIO),
            Goal::Processor(0.65),
        ],
    },
    Case {
        name: "direct, depth 1",
        // From submission on: from its end on, whoever submits faster would have the longer latency.
        arguments: &[
            URING,
            DIRECT,
            "--iodepth=1",
            RANDOM_READ,
            "--bs=4k",
            "--lat_percentiles=1",
            "--clat_percentiles=0",
        ],
        data: Data::Direct,
        native: None,
        demo: &[],
        goals: &[Goal::Median(1.0)],
    },
    Case {
        name: "direct random write, depth 32",
        arguments: &[URING, DIRECT, "--iodepth=32", "--rw=randwrite", "--bs=4k"],
        data: Data::Direct,
        native: None,
        demo: &[],
        goals: &[Goal::Iops(0.95), Goal::Processor(1.0)],
    },
    Case {
        name: "libaio, direct, depth 32",
        arguments: &[
            "--ioengine=libaio",
            DIRECT,
            "--iodepth=32",
            RANDOM_READ,
            "--bs=4k",
        ],
        data: Data::Direct,
        native: None,
        demo: &[],
        goals: &[Goal::Iops(0.95), Goal::User(1.0 / 3.0)],
    },
    Case {
        name: "psync, direct",
        arguments: &["--ioengine=psync", DIRECT, RANDOM_READ, "--bs=4k"],
        data: Data::Direct,
        native: None,
        demo: &[],
        goals: &[Goal::Iops(0.95), Goal::UserSampled(1.0 / 3.0)],
    },
    Case {
        name: "psync, hot page cache",
        arguments: &["--ioengine=psync", RANDOM_READ, "--bs=4k", "--invalidate=0"],
        data: Data::Hot,
        native: None,
        demo: &[],
        goals: &[Goal::Iops(1.0), Goal::User(1.0 / 3.0)],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::CASES;

    #[test]
    fn rows_that_wait_for_each_io_give_every_processor_both_orders() {
        let processors = std::thread::available_parallelism().unwrap().get();
        for case in CASES {
            let waits = ["direct, depth 1", "psync, direct"].contains(&case.name);
            assert_eq!(case.processor(0).is_some(), waits, "{}", case.name);
            if waits {
                // Ours goes first in even rounds.
                let orders = (0..2 * processors).map(|round| (case.processor(round), round % 2));
                let orders: BTreeSet<_> = orders.collect();
                assert_eq!(orders.len(), 2 * processors, "{}", case.name);
            }
        }
    }

    #[test]
    fn what_waits_for_a_disk_or_for_memory_is_measured_in_rounds_of_one_second() {
        for case in CASES {
            let (rounds, seconds) = case.rounds(3, 2);
            let expected = match case.name {
                "direct, depth 1" => (12, 1),
                "null engine, depth 64" => (3, 2),
                _ => (6, 1),
            };
            assert_eq!((rounds, seconds), expected, "{}", case.name);
        }
    }
}
