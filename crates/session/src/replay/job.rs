//! The job that replays what goes to one target.

use fathom_units::Bytes;
use fathom_workload::trace::TraceSummary;
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, ExistingFiles, Features,
    FileChoice, Job, Limits, Replay, ReplayPace, ReportGroup, SequentialScope, SyncPolicy, Target,
};

use super::targets::Mapped;

/// Most bytes of all buffers, unless a depth is asked for.
pub(super) const BUFFERS_MOST: u64 = 256 << 20;
/// Most I/Os outstanding where times are heeded: as many as servers of NBD take in.
const DEPTH_MOST: u32 = 1024;
/// I/Os outstanding where they are not, and the trace does not tell.
const DEPTH: u32 = 32;

/// What a job is made of.
pub(super) struct JobOf<'a> {
    /// Where its I/O goes.
    pub target: &'a Mapped,
    /// What the trace has for it.
    pub summary: &'a TraceSummary,
    /// The depth that was asked for.
    pub depth: Option<u32>,
    /// Whether the page cache takes part.
    pub caching: Caching,
    /// Most bytes of its buffers.
    pub budget: u64,
}

impl JobOf<'_> {
    /// The job that does what `replay` says.
    pub fn job(&self, replay: Replay) -> Job {
        let Self {
            target, summary, ..
        } = self;
        let block = BlockSizes {
            alignment: Some(Bytes::new(summary.unit)),
            ..summary.block_sizes()
        };
        let names = target.names.join(", ");
        Job {
            name: names,
            group: ReportGroup::default(),
            host: None,
            targets: vec![Target {
                place: target.place.clone(),
                offset: Bytes::ZERO,
                length: Some(Bytes::new(target.end.max(summary.largest_buffer()))),
            }],
            file_choice: FileChoice::RoundRobin,
            workers: 1,
            depth: self.depth.unwrap_or_else(|| self.own_depth(replay.pace)),
            mix: summary.mix(),
            access: Access::Sequential {
                gap: Bytes::ZERO,
                scope: SequentialScope::PerWorker,
            },
            block,
            arrival: Arrival::Closed,
            limits: Limits {
                loops: 1,
                ..Limits::default()
            },
            sync: SyncPolicy::default(),
            contents: BufferContents::default(),
            backend: if target.is_export() {
                Backend::Nbd
            } else {
                Backend::IoUring
            },
            caching: self.caching,
            existing: ExistingFiles::OnlyOurs,
            split_latency: false,
            drop_cache: false,
            unlink: false,
            salt: 0,
            features: Features {
                replay: Some(replay),
                ..Features::default()
            },
        }
    }

    fn own_depth(&self, pace: ReplayPace) -> u32 {
        let fit = self.budget / self.summary.largest_buffer();
        let fit = u32::try_from(fit).unwrap_or(u32::MAX).max(1);
        let wanted = match pace {
            ReplayPace::Timed(_) => DEPTH_MOST,
            ReplayPace::AtOnce => self.summary.depth.unwrap_or(DEPTH).min(DEPTH_MOST),
        };
        wanted.min(fit)
    }
}
