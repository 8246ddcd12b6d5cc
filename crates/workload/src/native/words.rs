//! The words of the native file, for reading and writing alike.

use crate::{
    Advice, Backend, Between, BufferContents, Caching, EndsOthers, ExistingFiles, FileChoice,
    FileOperation, FileSpread, FileTask, Growth, Lifetime, OpenSync, Poisson, Reserve,
    SequentialScope, SetFormat, StatCall, WhenFull,
};

/// Words with what they stand for.
pub(super) type Words<T> = &'static [(&'static str, T)];

pub(super) const FILE_CHOICES: Words<FileChoice> = &[
    ("round-robin", FileChoice::RoundRobin),
    ("random", FileChoice::Random),
    ("sequential", FileChoice::Sequential),
];

pub(super) const SCOPES: Words<SequentialScope> = &[
    ("per-worker", SequentialScope::PerWorker),
    ("shared", SequentialScope::Shared),
];

pub(super) const PROCESSES: Words<Poisson> = &[
    ("fixed", Poisson::Fixed),
    ("poisson", Poisson::Exponential),
    ("uniform", Poisson::Uniform),
];

pub(super) const WHEN_FULL: Words<WhenFull> = &[("queue", WhenFull::Queue)];

pub(super) const OPEN_SYNCS: Words<OpenSync> = &[
    ("none", OpenSync::None),
    ("sync", OpenSync::Sync),
    ("dsync", OpenSync::Dsync),
];

pub(super) const CONTENTS: Words<BufferContents> = &[
    ("random-each-write", BufferContents::RandomEachWrite),
    ("random-stamped", BufferContents::RandomStamped),
    ("random-once", BufferContents::RandomOnce),
    ("zeroes", BufferContents::Zeroes),
];

pub(super) const BETWEEN: Words<Between> = &[
    ("sequential", Between::Sequential),
    ("identical", Between::Identical),
];

pub(super) const BACKENDS: Words<Backend> = &[
    ("io_uring", Backend::IoUring),
    ("libaio", Backend::Libaio),
    ("sync", Backend::Sync),
    ("mmap", Backend::Mmap),
    ("nbd", Backend::Nbd),
    ("null", Backend::Null),
];

pub(super) const CACHINGS: Words<Caching> =
    &[("direct", Caching::Direct), ("buffered", Caching::Buffered)];

pub(super) const EXISTING: Words<ExistingFiles> = &[
    ("only-ours", ExistingFiles::OnlyOurs),
    ("as-peer", ExistingFiles::AsPeer),
];

pub(super) const ADVICE: Words<Advice> = &[
    ("none", Advice::None),
    ("by-pattern", Advice::ByPattern),
    ("random", Advice::Random),
    ("sequential", Advice::Sequential),
    ("once", Advice::Once),
];

pub(super) const LIFETIMES: Words<Lifetime> = &[
    ("unknown", Lifetime::Unknown),
    ("short", Lifetime::Short),
    ("medium", Lifetime::Medium),
    ("long", Lifetime::Long),
    ("extreme", Lifetime::Extreme),
];

pub(super) const GROWTHS: Words<Growth> = &[
    ("nothing", Growth::Reserved(Reserve::Nothing)),
    ("allocate", Growth::Reserved(Reserve::Allocate)),
    ("keep-size", Growth::Reserved(Reserve::KeepSize)),
    ("truncate", Growth::Reserved(Reserve::Truncate)),
];

pub(super) const ENDS: Words<EndsOthers> = &[
    ("nothing", EndsOthers::Nothing),
    ("group", EndsOthers::Group),
    ("stage", EndsOthers::Stage),
    ("run", EndsOthers::Run),
];

pub(super) const OPERATIONS: Words<FileOperation> = &[
    ("create", FileOperation::Create),
    ("stat", FileOperation::Stat(StatCall::Stat)),
    ("lstat", FileOperation::Stat(StatCall::Lstat)),
    ("statx", FileOperation::Stat(StatCall::Statx)),
    ("delete", FileOperation::Delete),
    ("mkdir", FileOperation::CreateDirectory),
    (
        "stat-directory",
        FileOperation::StatDirectory(StatCall::Stat),
    ),
    (
        "lstat-directory",
        FileOperation::StatDirectory(StatCall::Lstat),
    ),
    (
        "statx-directory",
        FileOperation::StatDirectory(StatCall::Statx),
    ),
    ("rmdir", FileOperation::DeleteDirectory),
    ("fallocate", FileOperation::Allocate),
    ("ftruncate", FileOperation::Truncate),
];

pub(super) const SPREADS: Words<FileSpread> = &[
    ("leaves", FileSpread::Leaves),
    ("every-directory", FileSpread::EveryDirectory),
];

pub(super) const TASKS: Words<FileTask> = &[
    ("mkdir", FileTask::MakeDirectory),
    ("rmdir", FileTask::RemoveDirectory),
    ("create", FileTask::Create),
    ("delete", FileTask::Delete),
    ("open", FileTask::Open),
    ("close", FileTask::Close),
    ("read", FileTask::Read),
    ("write", FileTask::Write),
    ("read-write", FileTask::ReadWrite),
    ("access", FileTask::Access),
    ("getattr", FileTask::GetAttributes),
    ("setattr", FileTask::SetAttributes),
    ("copy", FileTask::Copy),
    ("move", FileTask::Move),
    ("format", FileTask::Format(SetFormat::Anew)),
    ("format-missing", FileTask::Format(SetFormat::Complete)),
    (
        "format-directories",
        FileTask::Format(SetFormat::Directories),
    ),
    ("clean", FileTask::Format(SetFormat::Clean)),
];

/// Kinds of I/O by their places in lists of a trace's; the first three are directions.
pub(super) const KINDS: Words<usize> = &[("read", 0), ("write", 1), ("trim", 2), ("sync", 3)];

/// Kinds of access. `random` visits each block once, like `each-block-once`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessKind {
    EachBlockOnce,
    Independent,
    Sequential,
    Mixed,
}

/// The first word of a kind is the one written.
pub(super) const ACCESS_KINDS: Words<AccessKind> = &[
    ("each-block-once", AccessKind::EachBlockOnce),
    ("random", AccessKind::EachBlockOnce),
    ("independent", AccessKind::Independent),
    ("sequential", AccessKind::Sequential),
    ("mixed", AccessKind::Mixed),
];

/// The (first) word of a value.
pub(super) fn word<T: PartialEq>(words: Words<T>, value: &T) -> &'static str {
    let found = words.iter().find(|(_, meant)| meant == value);
    found.map_or("", |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A backend's word must be the name that reports show.
    #[test]
    fn backends_have_one_name() {
        for (word, backend) in BACKENDS {
            assert_eq!(*word, backend.name());
        }
    }
}
