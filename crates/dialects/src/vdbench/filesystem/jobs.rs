//! The job of a part: its task, its file set, its sizes.

use fathom_units::Bytes;
use fathom_workload::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, FileHandling, FileSet, FileSizes, FileSpread, FileTask, FileWork, Job,
    Limits, Mix, OpenSync, Place, ReportGroup, SequentialScope, SetChoice, StopAfter, SyncPolicy,
    Target,
};

use super::super::blocks::{self, percent, weighted};
use super::super::expand::Expander;
use super::super::sections::{self, FileIo, FileSelect, Fsd, Fwd, OpenFlags, Rd};
use super::parts::Part;

impl Expander<'_> {
    /// What an FWD does.
    pub(super) fn work(&mut self, part: &Part) -> Option<FileWork> {
        let fwd = &part.fwd;
        let task = match (fwd.operation.as_str(), fwd.rdpct) {
            ("read" | "write", Some(_)) => FileTask::ReadWrite,
            ("read", None) => FileTask::Read,
            ("write", None) => FileTask::Write,
            ("mkdir", _) => FileTask::MakeDirectory,
            ("rmdir", _) => FileTask::RemoveDirectory,
            ("create", _) => FileTask::Create,
            ("delete", _) => FileTask::Delete,
            ("open", _) => FileTask::Open,
            ("close", _) => FileTask::Close,
            ("access", _) => FileTask::Access,
            ("getattr", _) => FileTask::GetAttributes,
            ("setattr", _) => FileTask::SetAttributes,
            ("copy", _) => FileTask::Copy,
            ("move", _) => FileTask::Move,
            (other, _) => {
                // Where it is written it was told already.
                if !self.values.complaints.has_errors() {
                    let message = format!("fwd={}: `operation={other}` is not known", fwd.name);
                    let hint = "write an operation of Vdbench, such as `read`";
                    self.values.error(fwd.at, message, hint);
                }
                return None;
            }
        };
        let mean = |midpoint: f64| (midpoint.round() as u32).clamp(1, 100);
        let choice = match fwd.fileselect {
            FileSelect::Sequential | FileSelect::SequentialNonZero | FileSelect::SequentialOnce => {
                SetChoice::Sequential
            }
            FileSelect::Random | FileSelect::RandomOnce => SetChoice::Random,
            FileSelect::Poisson(midpoint) => SetChoice::Poisson(mean(midpoint)),
        };
        if fwd.fileselect == FileSelect::SequentialNonZero
            || fwd.fileio == FileIo::SequentialNonZero
        {
            let message = format!("fwd={}: `seqnz` begins at the start here", fwd.name);
            self.values
                .warning(fwd.at, message, "write `seq`, or choose at random");
        }
        let moves = matches!(task, FileTask::Read | FileTask::Write | FileTask::ReadWrite);
        Some(FileWork {
            choice,
            once: matches!(
                fwd.fileselect,
                FileSelect::RandomOnce | FileSelect::SequentialOnce
            ),
            stop_after: fwd.stopafter.map(|stop| match stop {
                sections::StopAfter::Ios(ios) => StopAfter::Ios(ios.max(1)),
                sections::StopAfter::Percent(part) => StopAfter::Share(percent(part)),
            }),
            delete_first: fwd.fileio == FileIo::SequentialDelete && task == FileTask::Write,
            shared: fwd.fileio == FileIo::RandomShared && moves,
            ..FileWork::new(task)
        })
    }

    pub(super) fn file_job(
        &mut self,
        rd: &Rd,
        part: &Part,
        work: FileWork,
        limits: Limits,
    ) -> Option<Job> {
        let Part { fwd, fsd, .. } = part;
        let host = self.built.hosts.get(part.host)?;
        let flags = rd.openflags.or(fwd.openflags).unwrap_or(fsd.openflags);
        let set = self.file_set(fsd)?;
        let mut targets = vec![target(set)];
        if work.task.has_second() {
            targets.push(target(self.second_set(part)?));
        }
        let mix = match work.task {
            FileTask::ReadWrite => Mix::reads(percent(fwd.rdpct.unwrap_or(100.0))),
            task if task.changes() => Mix::WRITE,
            _ => Mix::READ,
        };
        let mut name = fwd.name.clone();
        for (tells, by) in [
            (part.siblings, &fsd.name),
            (part.one_of_several, &fwd.operation),
        ] {
            if tells {
                name = format!("{name}/{by}");
            }
        }
        let job = Job {
            name,
            group: ReportGroup::default(),
            host: host.given.then(|| host.label.clone()),
            targets,
            file_choice: FileChoice::RoundRobin,
            workers: part.threads,
            depth: 1,
            mix,
            access: access(fwd.fileio),
            block: self.file_block(fwd)?,
            arrival: Arrival::Closed,
            limits,
            sync: sync(flags),
            contents: BufferContents::RandomStamped,
            backend: Backend::Sync,
            caching: if flags.direct {
                Caching::Direct
            } else {
                Caching::Buffered
            },
            existing: ExistingFiles::AsPeer,
            split_latency: false,
            drop_cache: false,
            unlink: false,
            salt: 0,
            features: Features {
                filling: self.filling_of(part.compratio).map(Box::new),
                files: FileHandling {
                    // The directory of a set is always made, those above it where that is asked for.
                    make_parents: self.built.general.create_anchors,
                    ..FileHandling::default()
                },
                file_work: Some(Box::new(work)),
                ..Features::default()
            },
        };
        let has_room = self.budget.job(&job, rd, &mut self.values);
        has_room.then_some(job)
    }

    fn second_set(&mut self, part: &Part) -> Option<FileSet> {
        let fwd = &part.fwd;
        let second = fwd.target.as_ref().and_then(|name| {
            let mut all = self.built.fsds.iter();
            all.find(|fsd| fsd.name == name.text).cloned()
        });
        let Some(second) = second else {
            let message = format!(
                "fwd={}: 'target=' must name the FSD that files go to",
                fwd.name
            );
            self.values.error(
                fwd.at,
                message,
                "add `target=` with an FSD of the same shape",
            );
            return None;
        };
        self.file_set(&second)
    }

    /// The file set that an FSD is.
    pub(super) fn file_set(&mut self, fsd: &Fsd) -> Option<FileSet> {
        let files = u32::try_from(fsd.files).ok();
        let Some(files) = files else {
            let message = format!("fsd={}: {} files are too many", fsd.name, fsd.files);
            self.values
                .error(fsd.at, message, "use at most ten million in all");
            return None;
        };
        Some(FileSet {
            anchor: fsd.anchor.clone(),
            depth: fsd.depth,
            width: fsd.width,
            files,
            spread: if fsd.files_everywhere {
                FileSpread::EveryDirectory
            } else {
                FileSpread::Leaves
            },
            sizes: match &fsd.sizes {
                sections::FileSizes::Around(mean) => FileSizes::Around(Bytes::new(*mean)),
                sections::FileSizes::Mix(sizes) => FileSizes::Weighted(weighted(sizes)),
            },
            total: fsd.totalsize.map(Bytes::new),
            working_set: fsd.working_set.map(Bytes::new),
        })
    }

    fn file_block(&mut self, fwd: &Fwd) -> Option<BlockSizes> {
        match blocks::sizes(&fwd.xfersize) {
            Ok(sizes) => Some(blocks::every_way(sizes, None)),
            Err(message) => {
                let message = format!("fwd={}: {message}", fwd.name);
                self.values.error(fwd.at, message, "use a larger step");
                None
            }
        }
    }
}

fn target(set: FileSet) -> Target {
    Target {
        place: Place::FileSet(Box::new(set)),
        offset: Bytes::ZERO,
        length: None,
    }
}

fn access(fileio: FileIo) -> Access {
    match fileio {
        FileIo::Sequential | FileIo::SequentialNonZero | FileIo::SequentialDelete => {
            Access::Sequential {
                gap: Bytes::ZERO,
                scope: SequentialScope::PerWorker,
            }
        }
        FileIo::Random | FileIo::RandomShared => Access::Random {
            coverage: Coverage::Independent,
            run: 1,
        },
    }
}

fn sync(flags: OpenFlags) -> SyncPolicy {
    SyncPolicy {
        open: if flags.dsync {
            OpenSync::Dsync
        } else {
            OpenSync::None
        },
        on_close: flags.fsync,
        ..SyncPolicy::default()
    }
}
