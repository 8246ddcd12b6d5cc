//! How the offsets of a stream follow each other, as its job has it.

use crate::generator::regions::Region;
use crate::generator::rng::{Purpose, Xoshiro256};
use crate::generator::shared::{SharedEnd, SharedOrder};
use crate::generator::sizes::Sizes;
use crate::generator::{SharedCursor, StreamKey};
use crate::{Access, Coverage, Job, SequentialScope};

/// How offsets follow each other.
#[derive(Debug)]
pub(super) enum Order {
    Sequential {
        gap: u64,
    },
    Shared(SharedOrder),
    EachBlockOnce {
        run: u64,
        block: u64,
    },
    Independent {
        run: u64,
    },
    Mixed {
        random_below: u64,
        coins: Xoshiro256,
    },
}

pub(super) fn order(
    job: &Job,
    key: StreamKey,
    sizes: &Sizes,
    regions: &[Region],
    shared: &SharedCursor,
) -> Order {
    match job.access {
        Access::Sequential { gap, scope } => match scope {
            SequentialScope::PerWorker => Order::Sequential { gap: gap.get() },
            SequentialScope::Shared => {
                let end = if job.limits.bytes.is_some() || job.limits.time_based {
                    SharedEnd::Open
                } else {
                    SharedEnd::Sweeps(u64::from(job.limits.loops.max(1)))
                };
                let spacing = (sizes.uniform(), gap.get());
                let choice = job.file_choice;
                Order::Shared(SharedOrder::new(shared, regions, choice, spacing, end))
            }
        },
        Access::Random { coverage, run } => {
            let run = u64::from(run.max(1));
            match (coverage, sizes.uniform()) {
                (Coverage::EachBlockOnce, Some(block)) => Order::EachBlockOnce { run, block },
                _ => Order::Independent { run },
            }
        }
        Access::Mixed { random } => Order::Mixed {
            random_below: u64::from(random.basis_points()),
            coins: Xoshiro256::keyed(key, Purpose::Jump),
        },
    }
}
