//! The profile's own I/O as a workload: what proves a design in prediction, and the real thing once it is built.

use std::fmt::Write as _;

use fathom_units::{Bytes, Percent};

use crate::candidate::Candidate;
use crate::design::{mount, quoted, size};
use crate::need::{Load, Need};

/// Largest file of a workload; what is not known to fit half a volume is smaller.
const FILE: Bytes = Bytes::gib(16);

/// Headroom below which a design is driven for longer.
const TIGHT: f64 = 1.02;
/// Most I/Os outstanding of one volume.
const MOST_OUTSTANDING: u64 = 8192;

/// One stage for each period; in it one open loop for each volume, so that a design that is too slow cannot slow the
/// application's demand down.
///
/// `headroom` is the least of the design's limits, as a multiple of the need. A stripe whose disks are wholly used fills
/// them unevenly: I/Os gather at one disk while another waits. How far the rate falls short shrinks with the square root
/// of time, so that a design with next to no headroom is driven for longer and deeper.
pub fn text(need: &Need, candidate: &Candidate, headroom: f64) -> String {
    let tight = headroom < TIGHT;
    let seconds = if tight { 60 } else { 4 };
    let mut text = String::new();
    for period in need.periods() {
        let _ = write!(
            text,
            "[[stage]]\nname = \"{}\"\nwarmup = \"1s\"\nmeasure = \"{seconds}s\"\n\n",
            period.name()
        );
        for (volume, disks) in need.volumes.iter().zip(&candidate.volumes) {
            let Some(load) = volume.load(period) else {
                continue;
            };
            let count = u64::from(disks.count);
            let space = disks.kind.size().get().saturating_mul(count) / 2;
            let block = load.size.get();
            let file = FILE.get().min(space) / block * block;
            let path = format!("{}/fathom.dat", mount(&volume.name));
            let _ = write!(
                text,
                "[[stage.job]]\nname = {}\ntarget = {{ path = {}, size = {} }}\n{}\
                 block = {}\narrival = {{ rate = \"{}/s\" }}\ndepth = {}\n\n",
                quoted(&volume.name),
                quoted(&path),
                size(Bytes::new(file.max(block))),
                shares(load),
                size(load.size),
                load.iops.get(),
                if tight { MOST_OUTSTANDING } else { depth(load) },
            );
        }
    }
    text
}

/// Shares of reads and of random I/O.
fn shares(load: &Load) -> String {
    let reads = load.reads.unwrap_or_default();
    let percent = |share: Percent| {
        let points = share.basis_points();
        format!("{}.{:02}%", points / 100, points % 100)
    };
    let mix = format!(
        "mix = {{ read = \"{}\", write = \"{}\" }}\n",
        percent(reads),
        percent(reads.rest())
    );
    let access = match load.random {
        Percent::ALL => "access = \"random\"\n".to_owned(),
        Percent::ZERO => "access = \"sequential\"\n".to_owned(),
        share => format!(
            "access = {{ kind = \"mixed\", random = \"{}\" }}\n",
            percent(share)
        ),
    };
    mix + &access
}

/// I/Os that may be outstanding: those of 50 ms, by Little's law; more would mean a latency that nothing is planned for.
fn depth(load: &Load) -> u64 {
    (load.iops.get() / 20).clamp(64, MOST_OUTSTANDING)
}
