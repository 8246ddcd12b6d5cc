//! The table of comparisons: who takes part, what fio does, and what is to be reached.

use super::job::{Job, Stream};
use super::servers::Server;

/// A comparison. Its first party is Fathom.
pub struct Row {
    pub name: &'static str,
    pub parties: &'static [Party],
    pub job: Job,
    pub goals: &'static [Goal],
}

/// Who takes part: a name without blanks, and what it is.
pub struct Party {
    pub name: &'static str,
    pub kind: Kind,
}

/// What a party is.
pub enum Kind {
    Served(Server),
    /// The prediction of the job on a design, over so many seconds of virtual time.
    Predicted {
        design: &'static str,
        seconds: u64,
    },
}

/// A figure of a party with its bound.
pub struct Goal {
    /// Its place among the row's parties.
    pub party: usize,
    pub figure: Figure,
    pub bound: Bound,
}

/// What is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// IOPS of a stream, by its place.
    Iops(usize),
    Bandwidth,
    Mean,
    P1,
    P50,
    P99,
    /// Processor time of the server for an I/O.
    Processor,
}

/// What a figure is held to.
#[derive(Clone, Copy)]
pub enum Bound {
    /// At least so many times what the second party has in the same round.
    TimesAtLeast(f64),
    /// At most so many times that.
    TimesAtMost(f64),
    AtLeast(f64),
    /// No further from a value than this, either way.
    Within(f64, f64),
}

const RAM: &str =
    "[[device]]\nname = \"ram\"\nmount = \"/ram\"\nsize = \"1GiB\"\nlatency = \"none\"\n";
const CAPPED: &str = "[[device]]\nname = \"capped\"\nmount = \"/capped\"\nsize = \"1GiB\"\n\
                      iops = 5000\nlatency = \"none\"\n";
const FIXED: &str = "[[device]]\nname = \"fixed\"\nmount = \"/fixed\"\nsize = \"1GiB\"\n\
                     latency = { median = \"2ms\", p99 = \"2ms\" }\n";

/// Two disks of a machine, `a` and `b`, without a cache, bursts or media latency.
macro_rules! machine {
    ($size:literal, $a:literal, $b:literal) => {
        concat!(
            "[[vm]]\nname = \"vm\"\nsize = \"Standard_",
            $size,
            "\"\n",
            machine!(disk "a", $a),
            machine!(disk "b", $b)
        )
    };
    (disk $name:literal, $kind:literal) => {
        concat!(
            "[[vm.volume]]\nname = \"",
            $name,
            "\"\nmount = \"/",
            $name,
            "\"\ndisks = { type = \"",
            $kind,
            "\" }\ncaching = \"none\"\nburst = \"off\"\nlatency = \"none\"\n"
        )
    };
}

const FATHOM: Party = Party {
    name: "fathom",
    kind: Kind::Served(Server::Fathom {
        design: RAM,
        fill: true,
    }),
};
const NBDKIT: Party = Party {
    name: "nbdkit",
    kind: Kind::Served(Server::NbdkitMemory),
};
const QEMU: Party = Party {
    name: "qemu-nbd",
    kind: Kind::Served(Server::QemuNbd),
};

const fn goal(figure: Figure, bound: Bound) -> Goal {
    Goal {
        party: 0,
        figure,
        bound,
    }
}

const fn unlimited(
    name: &'static str,
    (way, block): (&'static str, &'static str),
    streams: &'static [Stream],
    goals: &'static [Goal],
) -> Row {
    Row {
        name,
        parties: &[FATHOM, NBDKIT, QEMU],
        job: Job {
            way,
            block,
            streams,
            exact: false,
        },
        goals,
    }
}

/// 5,000 IOPS: qemu by a throttle group, nbdkit by the bits of as many reads of 4 KiB (it counts no I/Os).
const fn capped(name: &'static str, streams: &'static [Stream], goals: &'static [Goal]) -> Row {
    Row {
        name,
        parties: &[
            Party {
                name: "fathom",
                kind: Kind::Served(Server::Fathom {
                    design: CAPPED,
                    fill: true,
                }),
            },
            Party {
                name: "qemu-storage-daemon",
                kind: Kind::Served(Server::QemuThrottled { iops: 5000 }),
            },
            Party {
                name: "nbdkit-rate",
                kind: Kind::Served(Server::NbdkitFilter {
                    filter: "rate",
                    value: "rate=163840000",
                }),
            },
        ],
        job: Job {
            way: "randread",
            block: "4k",
            streams,
            exact: true,
        },
        goals,
    }
}

/// A row of two disks behind a machine's limit: what each is to have, in virtual time within 0.1 %, served within 1 %.
macro_rules! tandem {
    ($name:literal, $design:expr, $depths:expr, $a:expr, $b:expr) => {
        Row {
            name: $name,
            parties: &[
                Party {
                    name: "fathom",
                    kind: Kind::Served(Server::Fathom {
                        design: $design,
                        fill: false,
                    }),
                },
                Party {
                    name: "predicted",
                    kind: Kind::Predicted {
                        design: $design,
                        seconds: 20,
                    },
                },
            ],
            job: Job {
                way: "randread",
                block: "4k",
                streams: &[
                    Stream {
                        export: "a",
                        depth: $depths[0],
                    },
                    Stream {
                        export: "b",
                        depth: $depths[1],
                    },
                ],
                exact: false,
            },
            goals: &[
                goal(Figure::Iops(0), Bound::Within($a, $a / 100.0)),
                goal(Figure::Iops(1), Bound::Within($b, $b / 100.0)),
                Goal {
                    party: 1,
                    figure: Figure::Iops(0),
                    bound: Bound::Within($a, $a / 1000.0),
                },
                Goal {
                    party: 1,
                    figure: Figure::Iops(1),
                    bound: Bound::Within($b, $b / 1000.0),
                },
            ],
        }
    };
}

const fn depth(depth: u32) -> Stream {
    Stream { export: "", depth }
}

/// 0.2 %.
const RATE: Goal = goal(Figure::Iops(0), Bound::Within(5000.0, 10.0));
const US: f64 = 1e3;

pub const ROWS: [Row; 13] = [
    unlimited(
        "NBD, unlimited, 4 KiB depth 64 read",
        ("randread", "4k"),
        &[depth(64)],
        &[
            goal(Figure::Iops(0), Bound::TimesAtLeast(1.1)),
            goal(Figure::Processor, Bound::TimesAtMost(0.67)),
        ],
    ),
    unlimited(
        "NBD, unlimited, 4 KiB depth 64 write",
        ("randwrite", "4k"),
        &[depth(64)],
        &[
            goal(Figure::Iops(0), Bound::TimesAtLeast(1.1)),
            goal(Figure::Processor, Bound::TimesAtMost(0.67)),
        ],
    ),
    Row {
        name: "NBD, unlimited, 4 KiB depth 1 read",
        parties: &[FATHOM, NBDKIT],
        job: Job {
            way: "randread",
            block: "4k",
            streams: &[depth(1)],
            exact: true,
        },
        goals: &[
            goal(Figure::P50, Bound::TimesAtMost(1.0)),
            goal(Figure::Mean, Bound::TimesAtMost(1.0)),
        ],
    },
    unlimited(
        "NBD, unlimited, 64 KiB depth 16 read",
        ("randread", "64k"),
        &[depth(16)],
        &[goal(Figure::Bandwidth, Bound::TimesAtLeast(1.3))],
    ),
    capped(
        "NBD, 5,000 IOPS, depth 32 read",
        &[depth(32)],
        &[
            RATE,
            goal(Figure::P1, Bound::Within(6400.0 * US, 100.0 * US)),
            goal(Figure::P50, Bound::Within(6400.0 * US, 100.0 * US)),
            goal(Figure::P99, Bound::Within(6400.0 * US, 100.0 * US)),
        ],
    ),
    capped("NBD, 5,000 IOPS, depth 4 read", &[depth(4)], &[RATE]),
    capped("NBD, 5,000 IOPS, depth 1 read", &[depth(1)], &[RATE]),
    Row {
        name: "NBD, fixed 2 ms, depth 1 read",
        parties: &[
            Party {
                name: "fathom",
                kind: Kind::Served(Server::Fathom {
                    design: FIXED,
                    fill: true,
                }),
            },
            Party {
                name: "nbdkit-delay",
                kind: Kind::Served(Server::NbdkitFilter {
                    filter: "delay",
                    value: "rdelay=2ms",
                }),
            },
        ],
        job: Job {
            way: "randread",
            block: "4k",
            streams: &[depth(1)],
            exact: true,
        },
        goals: &[goal(Figure::P50, Bound::Within(2000.0 * US, 30.0 * US))],
    },
    Row {
        name: "FUSE + loop, unlimited, 4 KiB depth 32 read",
        parties: &[
            Party {
                name: "fathom",
                kind: Kind::Served(Server::FathomDevice { design: RAM }),
            },
            Party {
                name: "qemu-storage-daemon",
                kind: Kind::Served(Server::QemuDevice),
            },
        ],
        job: Job {
            way: "randread",
            block: "4k",
            streams: &[depth(32)],
            exact: false,
        },
        // Twice, since machines differ: where 100,000 was set, qemu reached 46,000.
        goals: &[
            goal(Figure::Iops(0), Bound::AtLeast(100_000.0)),
            goal(Figure::Iops(0), Bound::TimesAtLeast(2.17)),
        ],
    },
    tandem!(
        "tandem, disks 500 and 5,000 at depths 64 and 16, machine 6,400",
        machine!("DS2", "P10", "P30"),
        [64, 16],
        500.0,
        5000.0
    ),
    tandem!(
        "tandem, disks 5,000 and 5,000 at depths 16 and 16, machine 6,400",
        machine!("DS2", "P30", "P30"),
        [16, 16],
        3200.0,
        3200.0
    ),
    tandem!(
        "tandem, disks 5,000 and 5,000 at depths 16 and 2, machine 6,400",
        machine!("DS2", "P30", "P30"),
        [16, 2],
        5000.0,
        1400.0
    ),
    tandem!(
        "tandem, disks 120 and 7,500 at depths 128 and 8, machine 3,200",
        machine!("DS1", "P4", "P40"),
        [128, 8],
        120.0,
        3080.0
    ),
];
