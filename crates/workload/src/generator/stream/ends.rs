//! What ends the rounds and passes of a stream, and the stream itself: known before its first I/O, and counted down since.

use fathom_units::Bytes;

use super::order::Order;
use crate::Job;
use crate::generator::regions::{Region, Stride};
use crate::generator::sizes::Sizes;
use crate::generator::{Rejection, StreamError};

/// What ends passes and the stream.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) ios_left: u64,
    pub(super) passes_left: u64,
    pub(super) pass_bytes: u64,
    pub(super) pass_left: u64,
    pub(super) round: RoundEnd,
    /// Whether a pass is over because its targets are; draws that may repeat go on for as long as there is time.
    pub(super) begins_anew: bool,
    /// Whether each target starts over by itself, for as long as there is time.
    pub(super) starts_over: bool,
    pub(super) ios_bound: Option<u64>,
    /// Bytes of a pass that are no whole block.
    pub(super) rest: u64,
    /// Whether the stream has ended with bytes left that no I/O fits into.
    pub(super) fell_short: bool,
}

/// What the end of a round is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundEnd {
    EndsPass,
    StartsAgain,
}

pub(super) fn ends(
    job: &Job,
    sizes: &Sizes,
    regions: &[Region],
    order: &Order,
    stride: Stride,
) -> Result<Ends, StreamError> {
    let limits = &job.limits;
    let whole = |bytes: u64| sizes.uniform().map_or(bytes, |size| bytes - bytes % size);
    let sum = |bytes: &dyn Fn(&Region) -> u64| {
        let sizes = regions.iter().map(bytes);
        sizes.fold(0u64, u64::saturating_add)
    };
    let asked = limits
        .bytes
        .map_or_else(|| sum(&|region| region.length), Bytes::get);
    let pass_bytes = match (limits.bytes, order) {
        (Some(bytes), _) => {
            let block = job.block.largest(job.mix);
            if bytes < block {
                return Err(StreamError::new(
                    job,
                    Rejection::LimitBelowBlock { bytes, block },
                ));
            }
            whole(bytes.get())
        }
        // A target is done when each of its blocks was visited, or as many bytes as it has.
        (None, Order::EachBlockOnce { block, .. }) => sum(&|region| {
            let steps = stride.steps(region.length, *block);
            whole(region.length).min(steps.saturating_mul(*block))
        }),
        (None, Order::Shared(order)) => {
            let positions = order.sweep();
            positions.saturating_mul(sizes.uniform().unwrap_or(1))
        }
        (None, _) => sum(&|region| whole(region.length)),
    };
    let round = match (limits.bytes, order) {
        (None, Order::Sequential { .. } | Order::EachBlockOnce { .. }) => RoundEnd::EndsPass,
        _ => RoundEnd::StartsAgain,
    };
    let loops = u64::from(limits.loops.max(1));
    let by_bytes = sizes
        .uniform()
        .map(|size| (pass_bytes / size).saturating_mul(loops));
    let by_ios = limits.ios.unwrap_or(u64::MAX);
    let endless = limits.time_based;
    // The shared position itself ends the walk, over all workers.
    let together = matches!(order, Order::Shared(_)) && limits.bytes.is_none();
    let has_gaps = matches!(order, Order::Sequential { gap } if *gap > 0);
    let starts_over = has_gaps && endless && limits.bytes.is_none();
    Ok(Ends {
        ios_left: if endless { u64::MAX } else { by_ios },
        passes_left: if endless { u64::MAX } else { loops - 1 },
        pass_bytes,
        pass_left: if together || starts_over {
            u64::MAX
        } else {
            pass_bytes
        },
        round,
        begins_anew: !(endless && matches!(order, Order::Independent { .. } | Order::Mixed { .. })),
        starts_over,
        ios_bound: by_bytes.map(|ios| ios.min(by_ios)).filter(|_| !endless),
        rest: asked.saturating_sub(pass_bytes),
        fell_short: false,
    })
}
