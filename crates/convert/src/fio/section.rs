//! One job as a section.

use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Backend, BufferContents, Caching, Distribution, Features, FileChoice, FileOperation, Job,
    Limits, OpenSync, Place, ProcessorWork, StatCall, SyncPolicy, Target, WorkKind,
};

use super::{names, pattern, size, time};
use crate::draft::Draft;

/// A section: its name and options, in the order they are written.
#[derive(Debug)]
pub struct Section {
    /// The job's name, as fio can have it.
    pub name: String,
    /// Options with their values; one without has none.
    pub options: Vec<(&'static str, String)>,
}

impl Section {
    /// Options that never stand in `[global]`.
    pub const OWN: [&'static str; 3] = ["stonewall", "new_group", "wait_for"];

    /// The section of `job`, which is one of stage `stage` and the `number`th of all.
    pub fn of(job: &Job, (stage, number): (usize, usize), draft: &mut Draft) -> Self {
        let Job {
            name,
            group,
            // No other machine is named in a job file.
            host: _,
            targets,
            file_choice,
            // Clones are counted where sections are made.
            workers: _,
            depth,
            // Directions, order and sizes are one matter: see `pattern`.
            mix: _,
            access: _,
            block: _,
            arrival: _,
            limits,
            sync,
            contents,
            backend,
            caching,
            // fio has no such rule.
            existing: _,
            // fio measures as its engine does.
            split_latency: _,
            drop_cache,
            unlink,
            // fio draws by the place of a job.
            salt: _,
            features,
        } = job;
        let mut section = Self {
            name: names::section(name),
            options: Vec::new(),
        };
        section.engine(*backend, features);
        if let Some(work) = &features.processor_work {
            section.work(work, job, number, draft);
            return section;
        }
        section.targets(job, targets, (stage, number), draft);
        if features.replay.is_none() {
            pattern::put(job, number, &mut section, draft);
            section.length(job, limits);
        }
        section.times(limits, features);
        if job.effective_depth() > 1 {
            section.put("iodepth", depth.to_string());
        }
        let of_names = features.operation.is_some_and(FileOperation::is_of_names);
        if !of_names && (targets.len() > 1 || features.placement.is_some()) {
            section.file_choice(*file_choice, job);
        }
        section.put_if(*caching == Caching::Direct, "direct", "1");
        section.sync(*sync);
        match contents {
            _ if !job.mix.changes_data() && features.verify.is_none() => {}
            BufferContents::RandomEachWrite => section.put("refill_buffers", "1"),
            BufferContents::RandomStamped => {}
            BufferContents::RandomOnce => section.put("scramble_buffers", "0"),
            BufferContents::Zeroes => section.put("zero_buffers", "1"),
        }
        section.put_if(!drop_cache, "invalidate", "0");
        let fresh = targets
            .iter()
            .any(|target| matches!(target.place, Place::FreshFileIn(_)));
        if fresh && !unlink {
            draft.differs(number, "unlink", "the fresh file is removed after the job");
        }
        section.put_if(*unlink || fresh, "unlink", "1");
        section.put_if(group.together, "group_reporting", "1");
        super::features::put(features, job, number, &mut section, draft);
        section
    }

    /// Adds an option.
    pub fn put(&mut self, key: &'static str, value: impl Into<String>) {
        self.options.push((key, value.into()));
    }

    /// Adds an option where `given`.
    pub fn put_if(&mut self, given: bool, key: &'static str, value: impl Into<String>) {
        if given {
            self.put(key, value);
        }
    }

    /// What an option was given.
    pub fn value(&self, key: &str) -> Option<&str> {
        let mut options = self.options.iter();
        let given = options.find(|(name, _)| *name == key);
        given.map(|(_, value)| value.as_str())
    }

    /// Makes as many clones.
    pub fn clones(&mut self, count: u32) {
        self.put_if(count > 1, "numjobs", count.to_string());
    }

    /// What is done in place of I/O; all that is said of I/O means nothing to such an engine.
    fn work(&mut self, work: &ProcessorWork, job: &Job, number: usize, draft: &mut Draft) {
        // Whole percents are all that fio takes.
        let percent = work.share.basis_points().div_ceil(100);
        self.put("cpuload", percent.to_string());
        let micros = work.burst.get().div_ceil(1000);
        self.put("cpuchunks", micros.to_string());
        self.put_if(work.kind == WorkKind::Sort, "cpumode", "qsort");
        self.put_if(work.ends_with_io, "exit_on_io_done", "1");
        self.times(&job.limits, &job.features);
        if let Some(ios) = job.limits.ios.filter(|_| !job.limits.time_based) {
            self.put("number_ios", ios.to_string());
        }
        self.put_if(job.group.together, "group_reporting", "1");
        super::features::put(&job.features, job, number, self, draft);
    }

    fn engine(&mut self, backend: Backend, features: &Features) {
        let operation = features.operation;
        let stat = |section: &mut Self, call: StatCall| match call {
            StatCall::Stat => {}
            StatCall::Lstat => section.put("stat_type", "lstat"),
            StatCall::Statx => section.put("stat_type", "statx"),
        };
        let name = match operation {
            Some(FileOperation::Create) => "filecreate",
            Some(FileOperation::Stat(_)) => "filestat",
            Some(FileOperation::Delete) => "filedelete",
            Some(FileOperation::CreateDirectory) => "dircreate",
            Some(FileOperation::StatDirectory(_)) => "dirstat",
            Some(FileOperation::DeleteDirectory) => "dirdelete",
            Some(FileOperation::Allocate) => "falloc",
            Some(FileOperation::Truncate) => "ftruncate",
            None if features.processor_work.is_some() => "cpuio",
            None => match backend {
                Backend::IoUring => "io_uring",
                Backend::Libaio => "libaio",
                // Its calls take flags.
                Backend::Sync if features.calls.has_flags() => "pvsync2",
                Backend::Sync => "psync",
                Backend::Mmap => "mmap",
                Backend::Nbd => "nbd",
                Backend::Null => "null",
            },
        };
        self.put("ioengine", name);
        if let Some(FileOperation::Stat(call) | FileOperation::StatDirectory(call)) = operation {
            stat(self, call);
        }
    }

    fn targets(
        &mut self,
        job: &Job,
        targets: &[Target],
        (stage, number): (usize, usize),
        draft: &mut Draft,
    ) {
        if job.features.replay.is_some() {
            // Its files are those of the trace.
            return;
        }
        if job.backend == Backend::Nbd {
            self.export(targets, number, draft);
            return self.offset(targets);
        }
        let mut fresh = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let Target {
                place,
                offset: _,
                length: _,
            } = target;
            fresh.push(match place {
                Place::Path(path) => path.clone(),
                // That its work is lost is told with the job's features.
                Place::FileSet(set) => format!("{}/fathom-{number}-{index}.dat", set.anchor),
                Place::FreshFileIn(folder) => {
                    let path = format!("{folder}/fathom-{}-{number}-{index}.dat", stage + 1);
                    draft.differs(
                        number,
                        "target",
                        format!("a fresh file in `{folder}` is `{path}`"),
                    );
                    path
                }
            });
        }
        match names::paths(fresh.iter().map(String::as_str)) {
            Ok(list) => self.put("filename", list),
            Err(path) => draft.lost(
                number,
                "target",
                format!("fio cannot name `{path}`, and makes a name up"),
            ),
        }
        self.offset(targets);
    }

    fn offset(&mut self, targets: &[Target]) {
        let first = targets.first().map(|target| target.offset.get());
        if let Some(offset) = first.filter(|offset| *offset > 0) {
            self.put("offset", size(offset));
        }
    }

    /// An export of an NBD server, of which a job of fio has one.
    fn export(&mut self, targets: &[Target], number: usize, draft: &mut Draft) {
        if let Some(first) = targets.first() {
            self.put("uri", first.place.path());
        }
        if targets.len() > 1 {
            let message = "fio's engine nbd has one export a job, and the others are left out";
            draft.lost(number, "target", message.to_owned());
        }
    }

    /// How much of its files a job covers, and how many bytes it moves. A pass of fewer bytes than its files hold is said
    /// by `size` beside `filesize`, one of several by `io_size`.
    fn length(&mut self, job: &Job, limits: &Limits) {
        if job
            .features
            .operation
            .is_some_and(FileOperation::is_of_names)
        {
            // Each name counts as one block.
            self.put(
                "size",
                size(job.targets.len() as u64 * job.block.smallest(job.mix).get()),
            );
            self.put_if(limits.loops > 1, "loops", limits.loops.to_string());
            return;
        }
        let lengths: Option<Vec<u64>> = job
            .targets
            .iter()
            .map(|target| Some(target.length?.get()))
            .collect();
        let total = lengths.as_ref().map(|lengths| {
            lengths
                .iter()
                .fold(0u64, |sum, length| sum.saturating_add(*length))
        });
        let passes = limits.loops.max(1);
        match (total, limits.bytes) {
            (Some(total), Some(bytes)) if passes > 1 && bytes.get() < total => {
                let first = job.targets.first();
                let end = first.map_or(0, |first| {
                    first
                        .offset
                        .get()
                        .saturating_add(first.length.map_or(0, Bytes::get))
                });
                self.put("filesize", size(end));
                self.put("size", size(bytes.get()));
            }
            (total, bytes) => {
                // All of what is there.
                self.put("size", total.map_or("100%".to_owned(), size));
                if let Some(bytes) = bytes {
                    self.put("io_size", size(bytes.get()));
                }
            }
        }
        self.put_if(passes > 1, "loops", passes.to_string());
        let each = if job
            .features
            .placement
            .as_ref()
            .is_some_and(|rules| rules.trim_then_write)
        {
            2
        } else {
            1
        };
        if let Some(ios) = limits.ios.filter(|_| !limits.time_based) {
            self.put(
                "number_ios",
                // What is more than all passes have is no limit.
                (ios.div_ceil(u64::from(passes)).div_ceil(each).max(1)).to_string(),
            );
        }
    }

    fn times(&mut self, limits: &Limits, features: &Features) {
        let Limits {
            start_delay,
            warmup,
            runtime,
            time_based,
            bytes: _,
            ios: _,
            loops: _,
        } = limits;
        self.put_if(*start_delay > Nanos::ZERO, "startdelay", time(*start_delay));
        let bytes = features.warmup_bytes;
        let by_bytes = bytes > Bytes::ZERO;
        self.put_if(by_bytes, "ramp_size", size(bytes.get()));
        self.put_if(
            *warmup > Nanos::ZERO && !by_bytes,
            "ramp_time",
            time(*warmup),
        );
        if let Some(runtime) = runtime {
            self.put("runtime", time(*runtime));
        }
        self.put_if(*time_based, "time_based", "1");
    }

    fn file_choice(&mut self, choice: FileChoice, job: &Job) {
        let rules = job.features.placement.as_ref();
        let times = rules.map_or(1, |rules| rules.ios_per_target);
        let word = match choice {
            FileChoice::RoundRobin => "roundrobin",
            FileChoice::Random => match rules.map(|rules| &rules.target_distribution) {
                Some(
                    drawn @ (Distribution::Zipf { .. }
                    | Distribution::Pareto { .. }
                    | Distribution::Normal { .. }),
                ) => return self.put("file_service_type", drawn.to_string()),
                // fio has no weights of one's own: what is lost by that shows when the text is read back.
                _ => "random",
            },
            FileChoice::Sequential => "sequential",
        };
        match (word, times) {
            ("roundrobin", 1) => {}
            (_, 1) => self.put("file_service_type", word),
            _ => self.put("file_service_type", format!("{word}:{times}")),
        }
    }

    fn sync(&mut self, sync: SyncPolicy) {
        let SyncPolicy {
            open,
            fsync_every,
            fdatasync_every,
            at_end,
            on_close,
        } = sync;
        match open {
            OpenSync::None => {}
            OpenSync::Sync => self.put("sync", "sync"),
            OpenSync::Dsync => self.put("sync", "dsync"),
        }
        self.put_if(fsync_every > 0, "fsync", fsync_every.to_string());
        self.put_if(
            fdatasync_every > 0,
            "fdatasync",
            fdatasync_every.to_string(),
        );
        self.put_if(at_end, "end_fsync", "1");
        self.put_if(on_close, "fsync_on_close", "1");
    }
}
