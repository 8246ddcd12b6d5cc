//! Access specifications that are known everywhere, by their names.
//!
//! The mixes of the storage benchmarks of the late 1990s that came with Iometer or went from site to site as one file
//! (`iometer.icf`). A file's own specification of a name counts before these.

use super::config::{Assigned, Spec, SpecLine};

/// Name, and lines of (size, share, reads, random); offsets are aligned to sectors.
type Known = (&'static str, &'static [(u32, u32, u32, u32)]);

const KIB: u32 = 1024;

const KNOWN: &[Known] = &[
    ("Idle", &[]),
    ("Default", &[(2 * KIB, 100, 67, 100)]),
    ("Database", &[(8 * KIB, 100, 67, 100)]),
    ("Workstation", &[(8 * KIB, 100, 80, 80)]),
    ("DSS", &[(1024 * KIB, 100, 100, 100)]),
    ("Media streaming", &[(64 * KIB, 100, 98, 0)]),
    (
        "Fileserver",
        &[
            (512, 10, 80, 100),
            (KIB, 5, 80, 100),
            (2 * KIB, 5, 80, 100),
            (4 * KIB, 60, 80, 100),
            (8 * KIB, 2, 80, 100),
            (16 * KIB, 4, 80, 100),
            (32 * KIB, 4, 80, 100),
            (64 * KIB, 10, 80, 100),
        ],
    ),
    (
        "Webserver",
        &[
            (512, 22, 100, 100),
            (KIB, 15, 100, 100),
            (2 * KIB, 8, 100, 100),
            (4 * KIB, 23, 100, 100),
            (8 * KIB, 15, 100, 100),
            (16 * KIB, 2, 100, 100),
            (32 * KIB, 6, 100, 100),
            (65 * KIB, 7, 100, 100),
            (128 * KIB, 1, 100, 100),
            (512 * KIB, 1, 100, 100),
        ],
    ),
];

/// Names of all of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name).chain(["All in one"])
}

/// The specification of that name.
pub(super) fn find(name: &str) -> Option<Spec> {
    let name = name.trim();
    let own = names().find(|known| known.eq_ignore_ascii_case(name))?;
    let known = KNOWN.iter().find(|(known, _)| *known == own);
    let lines = known.map_or_else(all_in_one, |(_, lines)| {
        lines.iter().copied().map(line).collect()
    });
    Some(Spec {
        name: own.to_owned(),
        assigned: Assigned::Nowhere,
        lines,
    })
}

fn line((size, share, reads, random): (u32, u32, u32, u32)) -> SpecLine {
    // The default specification of Iometer aligns to its own size; the others to sectors.
    let align = if size == 2 * KIB && share == 100 {
        size
    } else {
        0
    };
    SpecLine {
        size,
        share,
        reads,
        random,
        delay_ms: 0,
        burst: 1,
        align,
        reply: 0,
    }
}

/// Four sizes, five shares of reads each, sequential.
fn all_in_one() -> Vec<SpecLine> {
    let sizes = [512, 4 * KIB, 16 * KIB, 32 * KIB];
    let reads = [100, 75, 50, 25, 0];
    let each = |size| reads.map(|reads| line((size, 5, reads, 0)));
    sizes.into_iter().flat_map(each).collect()
}
