//! What a worker does on one target: an access specification as a job.

use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Access, AccessLine, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage,
    ExistingFiles, Features, FileChoice, Filling, Job, Limits, Mix, Pattern, ReportGroup,
    SequentialScope, SyncPolicy,
};

use super::config::{SECTOR, Settings, SpecLine, Version};

/// The byte that stands for the one that Iometer draws for each write and repeats.
const REPEATED: u8 = 0xa5;

/// The job of one worker, who uses `targets` targets, on one of them.
pub(super) fn job(lines: &[SpecLine], settings: Settings, targets: usize, version: Version) -> Job {
    let mut job = plain_job(settings, version);
    if let [line] = lines
        && is_plain(line)
    {
        job.mix = Mix::reads(percent(line.reads));
        job.access = access(line);
        job.block = BlockSizes {
            alignment: Some(Bytes::new(alignment(line))),
            ..BlockSizes::uniform(Bytes::new(line.size.into()))
        };
    } else {
        job.set_lines(
            lines
                .iter()
                .map(|line| access_line(line, targets))
                .collect(),
        );
    }
    if !job.mix.changes_data() {
        job.features.filling = None;
    }
    job
}

/// Replies to a hundred thousand requests, over many bursts.
pub(super) fn replies(lines: &[SpecLine]) -> u64 {
    let weight = |line: &SpecLine| u64::from(line.share) * u64::from(line.burst);
    let all: u64 = lines.iter().map(weight).sum();
    let answered: u64 = lines.iter().filter(|line| line.reply > 0).map(weight).sum();
    answered.saturating_mul(100_000) / all.max(1)
}

/// Whether nothing of a line needs bursts: then its I/Os are those of any other job.
fn is_plain(line: &SpecLine) -> bool {
    let follows = line.random == 0 || line.random == 100;
    let kept = u64::from(line.size).is_multiple_of(alignment(line));
    line.burst == 1 && line.delay_ms == 0 && line.reply == 0 && (follows || kept)
}

fn alignment(line: &SpecLine) -> u64 {
    match line.align {
        0 => SECTOR,
        bytes => bytes.into(),
    }
}

fn access(line: &SpecLine) -> Access {
    match line.random {
        0 => Access::Sequential {
            gap: Bytes::new({
                let size = u64::from(line.size);
                size.next_multiple_of(alignment(line)) - size
            }),
            scope: SequentialScope::PerWorker,
        },
        100 => Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
        random => Access::Mixed {
            random: percent(random),
        },
    }
}

/// A line as the workload has it. The delay is one of the whole worker, whose burst is shared out among its targets: with
/// several, each waits as many times as long, so that the worker's rate is the same.
fn access_line(line: &SpecLine, targets: usize) -> AccessLine {
    let delay = u64::from(line.delay_ms).saturating_mul(targets as u64);
    AccessLine {
        weight: line.share,
        size: Bytes::new(line.size.into()),
        read: percent(line.reads),
        random: percent(line.random),
        delay: Nanos::from_millis(delay),
        burst: line.burst,
        alignment: Some(Bytes::new(alignment(line))),
        reply: (line.reply > 0).then(|| Bytes::new(line.reply.into())),
        target: None,
    }
}

fn percent(share: u32) -> Percent {
    Percent::whole(share).unwrap_or(Percent::ALL)
}

fn plain_job(settings: Settings, version: Version) -> Job {
    // Before 1.1.0, which asks for the pattern, there was one buffer.
    let by_version = u8::from(version < Version::NUMBERED);
    let (contents, repeated) = match settings.pattern.unwrap_or(by_version) {
        0 => (
            BufferContents::RandomOnce,
            Pattern::new(vec![REPEATED], Vec::new()),
        ),
        1 => (BufferContents::RandomOnce, None),
        _ => (BufferContents::RandomEachWrite, None),
    };
    Job {
        name: String::new(),
        group: ReportGroup::default(),
        host: None,
        targets: Vec::new(),
        file_choice: FileChoice::RoundRobin,
        workers: 1,
        depth: settings.depth,
        mix: Mix::READ,
        access: Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
        block: BlockSizes::uniform(Bytes::new(SECTOR)),
        arrival: Arrival::Closed,
        limits: Limits::default(),
        sync: SyncPolicy::default(),
        contents,
        backend: Backend::IoUring,
        caching: Caching::Direct,
        existing: ExistingFiles::AsPeer,
        split_latency: false,
        drop_cache: false,
        unlink: false,
        salt: settings.seed.unwrap_or(0),
        features: Features {
            filling: repeated.map(|pattern| {
                Box::new(Filling {
                    pattern: Some(pattern),
                    ..Filling::default()
                })
            }),
            ..Features::default()
        },
    }
}
