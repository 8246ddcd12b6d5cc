//! Where I/Os fall and how large they are, beyond what [`crate::Access`] and [`crate::BlockSizes`] say.
//!
//! A job with a placement keeps a position for each direction in each target, counts whole passes by bytes issued, and
//! ends a target where its next I/O would leave it: the way peers walk their files. All of it together is one walk
//! (`generator::walk`), since these rules act on each other; a job without it keeps its plain, faster stream.

use fathom_units::{Bytes, Percent};

use super::Distribution;
use crate::{Direction, WeightedSize};

/// Rules of one walk. [`Placement::default`] has the counts and positions of a walk, and nothing else.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether one rule of peers' walks holds, and any may"
)]
pub struct Placement {
    /// Where random offsets fall, by direction. Any but the uniform one draws independently.
    pub distribution: [Distribution; 3],
    /// Share of random I/Os among those of a random access, by direction; the others follow the direction's last I/O.
    pub random: [Percent; 3],
    /// Sequential access: bytes from the end of an I/O to the start of the next; negative ones walk backwards. Counts in
    /// place of the access's gap.
    pub skip: i64,
    /// What the I/Os between two random ones do, where the access has runs.
    pub between: Between,
    /// Each block is trimmed, then written: the I/Os of a pair have one place and size. The mix is half and half. In order,
    /// with other sizes for writes than for trims, each goes on from its own last I/O, and writes follow a trim until one
    /// begins where it did.
    pub trim_then_write: bool,
    /// Sizes drawn evenly between two bounds, by direction; they count in place of the block's list.
    pub ranges: [Option<SizeRange>; 3],
    /// Sizes of ranges may be any number of bytes, not only multiples of the smallest.
    pub unaligned: bool,
    /// Sizes of sequential I/Os and of random ones, in place of those of each direction. The block's lists must hold their
    /// bounds, since buffers are made by these.
    pub by_order: Option<[SizeDraw; 2]>,
    /// Random offsets are multiples of this, by direction; `None`: of the direction's smallest block.
    pub alignment: [Option<Bytes>; 3],
    /// I/O stays in one zone after another.
    pub zones: Option<ZoneStride>,
    /// How random targets are drawn where the job's file choice is random; uniform ones leave finished targets out, others
    /// start a finished target over.
    pub target_distribution: Distribution,
    /// I/Os that a picked target gets before the next is picked; at least 1.
    pub ios_per_target: u32,
    /// Targets that are begun and not finished at the same time, at least 1: the next is begun when one of them has nothing
    /// left in this round. `None`: all of them. It counts for uniform choices of targets alone.
    pub targets_at_once: Option<u32>,
    /// The targets go on past the ranges that are used, so that an I/O that begins within a range may end past it.
    pub past_end: bool,
    /// The targets are one, one after another: random offsets fall anywhere in all of them, and a sequence goes on into the
    /// next. Of the other rules, the distribution alone counts then.
    pub joined: bool,
    /// Access that is sequential, wholly or in part: bytes from the start of an I/O to the start of the next, whatever their
    /// directions; they may be fewer than it has. From where the next does not fit it goes on at the range's start. Of the
    /// other rules, the distribution of what is random alone counts then.
    pub stride: Option<Bytes>,
    /// The job writes what brings flash to its steady state, once, and nothing else: it writes alone, at random and independently,
    /// in blocks of one size to one target. No other rule counts then, nor do passes and limits of bytes.
    pub conditioning: Option<Conditioning>,
}

impl Default for Placement {
    fn default() -> Self {
        Self {
            distribution: [const { Distribution::Uniform }; 3],
            random: [Percent::ALL; 3],
            skip: 0,
            between: Between::default(),
            trim_then_write: false,
            ranges: [None; 3],
            unaligned: false,
            by_order: None,
            alignment: [None; 3],
            zones: None,
            target_distribution: Distribution::Uniform,
            ios_per_target: 1,
            targets_at_once: None,
            past_end: false,
            joined: false,
            stride: None,
            conditioning: None,
        }
    }
}

impl Placement {
    /// The distribution of one direction.
    pub fn distribution_of(&self, direction: Direction) -> &Distribution {
        &self.distribution[direction as usize]
    }
}

/// One pass of writes after which flash is as after long random writing: its whole capacity is written, region after region, and
/// of each region's blocks as many a second time as do not count any more in the steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditioning {
    /// What the flash holds beyond what can be addressed, as a share of that.
    pub over_provisioning: Percent,
    /// Regions that the capacity is written in; at least 1.
    pub regions: u32,
    /// Size of the device's cache: where there is one, blocks are written again at the end of the next region, not at its start.
    pub cache: Bytes,
}

impl Conditioning {
    /// Most regions that a capacity may be written in.
    pub const REGIONS_MAX: u32 = 1 << 20;
}

/// What the I/Os between two random ones do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Between {
    /// Each follows the one before.
    #[default]
    Sequential,
    /// They repeat the offset.
    Identical,
}

/// Sizes from `least` to `most` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeRange {
    /// Smallest size.
    pub least: Bytes,
    /// Largest size.
    pub most: Bytes,
}

/// How sizes are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SizeDraw {
    /// From a weighted list.
    List(Vec<WeightedSize>),
    /// Evenly between two bounds.
    Range(SizeRange),
}

/// I/O in one zone after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneStride {
    /// Bytes moved in a zone before the next one; at least 1.
    pub size: Bytes,
    /// Bytes that a zone spans; at least 1.
    pub range: Bytes,
    /// Bytes left out after a zone.
    pub skip: Bytes,
}
