//! What was counted outside the program while a stage was measured: by devices, by the kernel of its own I/O, and of what held
//! it back.
//!
//! Devices count the I/O of all programs. What of it was not the run's own follows from the kernel's account of this process
//! (`/proc/self/io`, `proc_pid_io(5)`): bytes are noted there when they are handed to a device, whichever thread does it, warm-up
//! and what is in no figure included. Work that the kernel does later (pages written back, a journal) is in nobody's account.

use std::fs;

use fathom_record::{DeviceCounters, OtherIo, StageResult};
use fathom_units::Nanos;
use fathom_workload::{Backend, Caching, Job, Workload};

use crate::counters;
use crate::held_back::{self, HeldBack};
use crate::preflight::layout_range;
use crate::targets::{Kind, Targets};
use crate::timing::Times;

/// Bytes of a sector in the kernel's counters, whatever the device's own.
const SECTOR: u64 = 512;

/// Counters of a moment.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Bytes that this process had read and written by devices.
    own: Option<[u64; 2]>,
    devices: Vec<DeviceCounters>,
    held_back: HeldBack,
}

impl Outside {
    /// Those of now, of the named devices.
    pub(crate) fn now(names: &[String]) -> Self {
        Self {
            // Read first: of I/O that is handed over meanwhile too much is then the run's own, and never too little.
            own: (fs::read_to_string("/proc/self/io").ok()).and_then(|text| own_in(&text)),
            devices: counters::read(names),
            held_back: HeldBack::now(),
        }
    }
}

/// What is counted of a stage while it runs.
#[derive(Debug)]
pub(crate) struct Counting<'a> {
    names: &'a [String],
    start: Outside,
    measured: Option<Outside>,
    /// When what is measured began, as far as that is known.
    from: Nanos,
    /// When a warm-up is over.
    origin: Nanos,
}

impl<'a> Counting<'a> {
    /// From now on, of the named devices.
    pub(crate) fn begin(names: &'a [String], times: &Times) -> Self {
        Self {
            names,
            start: Outside::now(names),
            measured: None,
            from: times.start,
            origin: times.origin,
        }
    }

    /// Counts anew once the warm-up is over.
    pub(crate) fn look(&mut self, now: Nanos) {
        if self.from < self.origin && now >= self.origin {
            self.measured = Some(Outside::now(self.names));
            self.from = now;
        }
    }

    /// What the devices did by `now`.
    pub(crate) fn devices(&self, now: Nanos) -> Vec<DeviceCounters> {
        let before = &self.measured.as_ref().unwrap_or(&self.start).devices;
        let over = now.saturating_sub(self.from);
        counters::between(before, &counters::read(self.names), over)
    }

    /// All of it, and for how long it was measured where it ended at `ended`.
    pub(crate) fn end(self, ended: Nanos) -> (Span, Nanos) {
        let over = ended.saturating_sub(self.from);
        (Span::to_now(self.start, self.measured, self.names), over)
    }
}

/// A stage from its start to its end, and the part of it that was measured.
#[derive(Debug)]
pub(crate) struct Span {
    /// Right before the first I/O.
    start: Outside,
    /// As measurement began after a warm-up, with I/O in flight.
    measured: Option<Outside>,
    /// Once the last I/O was complete.
    end: Outside,
}

impl Span {
    /// From `start` to now, and from `measured` on where there was a warm-up.
    fn to_now(start: Outside, measured: Option<Outside>, names: &[String]) -> Self {
        Self {
            start,
            measured,
            end: Outside::now(names),
        }
    }

    /// Tells what happened while it was measured, which was for `over`.
    pub(crate) fn tell(&self, result: &mut StageResult, over: Nanos) {
        let (before, after) = (self.measured(), &self.end);
        result.devices = counters::between(&before.devices, &after.devices, over);
        let (held, since) = (&after.held_back, &before.held_back);
        result.limited_share = held.limited_share_since(since, over, result.workers.len());
        result.notes.extend(held.notes_since(since, over));
        result.notes.extend(held_back::waits(&result.workers));
    }

    fn measured(&self) -> &Outside {
        self.measured.as_ref().unwrap_or(&self.start)
    }

    /// What the devices did for others while it was measured, which was for `over`; `None` where no device is known, or not
    /// what was the run's own.
    ///
    /// What was in flight as measurement began is in the devices' counters of that time alone, and in both of the whole stage;
    /// what others did during warm-up is in the whole stage alone. So the smaller is told.
    pub(crate) fn others(&self, over: Nanos) -> Option<OtherIo> {
        let moved = moved_between(self.measured(), &self.end)?;
        let beyond = moved.beyond();
        let of_all = moved_between(&self.start, &self.end)?.beyond();
        let bytes = [0, 1].map(|way| beyond[way].min(of_all[way]));
        Some(OtherIo {
            own: [0, 1].map(|way| moved.by_devices[way] - bytes[way]),
            bytes,
            devices: moved.devices,
            ios: moved.ios,
            writes_known: false,
            over,
        })
    }
}

/// What devices moved between two moments, and what this process had moved by any.
struct Moved {
    devices: Vec<String>,
    by_devices: [u64; 2],
    by_process: [u64; 2],
    ios: [u64; 2],
}

impl Moved {
    fn beyond(&self) -> [u64; 2] {
        [0, 1].map(|way| self.by_devices[way].saturating_sub(self.by_process[way]))
    }
}

fn moved_between(before: &Outside, after: &Outside) -> Option<Moved> {
    let (own_before, own_after) = (before.own?, after.own?);
    let devices = counters::between(&before.devices, &after.devices, Nanos::ZERO);
    let sum = |of: &dyn Fn(&DeviceCounters) -> u64| devices.iter().map(of).sum::<u64>();
    (!devices.is_empty()).then(|| Moved {
        by_devices: [0, 1].map(|way| sum(&|device| device.sectors[way]) * SECTOR),
        by_process: [0, 1].map(|way| own_after[way].saturating_sub(own_before[way])),
        ios: [0, 1].map(|way| sum(&|device| device.ios[way])),
        devices: devices.iter().map(|device| device.name.clone()).collect(),
    })
}

/// Bytes that a process had read from and written to devices, by the text of its `/proc/PID/io`.
fn own_in(text: &str) -> Option<[u64; 2]> {
    let value = |key: &str| {
        let mut lines = text.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found?.trim().parse().ok()
    };
    Some([value("read_bytes")?, value("write_bytes")?])
}

/// Whether all that a run of `workload` has written by the end of its stage `last` goes straight to block devices, so that
/// nothing is added to it and nothing of it is written later. Files laid out are durable before the first stage, but for a file
/// system's own tables, which some write half a minute later.
pub(crate) fn writes_go_to_devices(workload: &Workload, last: usize, targets: &Targets) -> bool {
    if (targets.objects.iter()).any(|object| layout_range(object).is_some()) {
        return false;
    }
    let of_jobs = workload.jobs().zip(&targets.jobs);
    let mut until = of_jobs.filter(|((stage, _), _)| *stage <= last);
    until.all(|((_, job), of_job)| {
        let mut kinds = (of_job.objects.iter()).map(|object| &targets.objects[*object].kind);
        let goes_to_devices = job.caching == Caching::Direct
            && job.backend != Backend::Mmap
            && kinds.all(|kind| matches!(kind, Kind::Device { .. }));
        let leaves_nothing = job.backend == Backend::Null || !may_write(job) || goes_to_devices;
        leaves_nothing && keeps_no_files(job)
    })
}

fn may_write(job: &Job) -> bool {
    let features = &job.features;
    job.mix.changes_data() || features.operation.is_some() || features.file_work.is_some()
}

/// Whether nothing is written beside the job's targets while it runs.
fn keeps_no_files(job: &Job) -> bool {
    let features = &job.features;
    !features.io_log.is_on() && features.trace_to.is_none()
}

#[cfg(test)]
mod tests {
    use fathom_units::Bytes;
    use fathom_workload::{Mix, preset};

    use super::*;
    use crate::growth::Making;
    use crate::guard::DeviceNumber;
    use crate::targets::{Existing, JobTargets, Object};

    #[test]
    fn the_account_of_a_process_is_read() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 8192\nwrite_bytes: 512\n\
                    cancelled_write_bytes: 7\n";
        assert_eq!(own_in(text), Some([8192, 512]));
        assert_eq!(own_in("rchar: 1\nwrite_bytes: 512\n"), None);
        assert_eq!(own_in("read_bytes: much\nwrite_bytes: 512\n"), None);
    }

    /// At a moment this process had read so many KiB, and a device so many.
    fn moment(own: u64, device: u64) -> Outside {
        Outside {
            own: Some([own << 10, 0]),
            devices: vec![DeviceCounters {
                name: "vdb".to_owned(),
                sectors: [device * 2, 0],
                ios: [device / 4, 0],
                ..DeviceCounters::default()
            }],
            held_back: HeldBack::default(),
        }
    }

    /// KiB that others read in a stage that is measured from its second moment on, and the run's own.
    #[track_caller]
    fn check(moments: [(u64, u64); 3], expected: (u64, u64)) {
        let [start, measured, end] = moments.map(|(own, device)| moment(own, device));
        let span = Span {
            start,
            measured: Some(measured),
            end,
        };
        let found = span.others(Nanos::from_secs(1)).unwrap();
        assert_eq!((found.bytes[0] >> 10, found.own[0] >> 10), expected);
    }

    #[test]
    fn what_is_not_the_runs_own_is_that_of_others() {
        check([(4, 8), (104, 108), (1104, 1108)], (0, 1000));
        check([(0, 0), (100, 150), (1100, 1650)], (500, 1000));
        // In flight as measurement began.
        check([(0, 0), (100, 36), (1100, 1100)], (0, 1064));
        // During warm-up alone.
        check([(0, 0), (100, 900), (1100, 1900)], (0, 1000));
        // From elsewhere, or from what stands between.
        check([(0, 0), (100, 0), (1100, 0)], (0, 0));
    }

    /// At a moment this process had read and written so many bytes, and a device so many sectors in so many I/Os.
    fn both_ways(own: [u64; 2], sectors: [u64; 2], ios: [u64; 2]) -> Outside {
        Outside {
            own: Some(own),
            devices: vec![DeviceCounters {
                name: "vdb".to_owned(),
                sectors,
                ios,
                ..DeviceCounters::default()
            }],
            held_back: HeldBack::default(),
        }
    }

    #[test]
    fn reads_and_writes_are_told_each_by_itself() {
        let span = Span {
            start: both_ways([7, 9], [100, 200], [10, 20]),
            measured: None,
            end: both_ways([7 + 4096, 9 + 8192], [116, 240], [13, 25]),
        };
        let over = Nanos::from_secs(3);
        let expected = OtherIo {
            devices: vec!["vdb".to_owned()],
            own: [4096, 8192],
            bytes: [4096, 12_288],
            ios: [3, 5],
            writes_known: false,
            over,
        };
        assert_eq!(span.others(over), Some(expected));
    }

    #[test]
    fn counters_are_those_of_the_time_that_was_measured() {
        let span = Span {
            start: both_ways([0, 0], [0, 0], [0, 0]),
            measured: Some(both_ways([0, 0], [100, 200], [10, 20])),
            end: both_ways([0, 0], [116, 240], [13, 25]),
        };
        let mut result = StageResult {
            ..StageResult::new("", 0)
        };
        let over = Nanos::from_secs(3);
        span.tell(&mut result, over);
        let expected = DeviceCounters {
            name: "vdb".to_owned(),
            sectors: [16, 40],
            ios: [3, 5],
            over,
            ..DeviceCounters::default()
        };
        assert_eq!(result.devices, [expected]);
    }

    #[test]
    fn without_an_account_or_a_device_nothing_is_told() {
        let span = |change: fn(&mut Outside)| {
            let [mut start, mut end] = [moment(0, 0), moment(1, 2)];
            change(&mut start);
            change(&mut end);
            Span {
                start,
                measured: None,
                end,
            }
        };
        let told = |change| span(change).others(Nanos::from_secs(1)).is_some();
        assert!(told(|_| {}));
        assert!(!told(|outside| outside.own = None));
        assert!(!told(|outside| outside.devices.clear()));
    }

    /// A device, or a file that is there, which this job needs up to here.
    fn object(is_device: bool, job: &Job, needed: u64) -> Object {
        let existing = Some(Existing {
            size: 8,
            ours: true,
        });
        let kind = if is_device {
            Kind::Device {
                number: DeviceNumber::from_packed(0x0700),
                size: 8,
                sector: 8,
            }
        } else {
            Kind::File {
                full: "/unused".into(),
                existing,
            }
        };
        let mut making = Making::new(&kind);
        making.need(job, needed);
        Object {
            path: "/unused".to_owned(),
            kind,
            needed,
            written: true,
            afterwards: crate::targets::Afterwards::Stays,
            only_ours: true,
            direct: true,
            making,
        }
    }

    /// Whether writes of others are known beside a job that is changed so, on a device or on a file that is there.
    #[track_caller]
    fn check_writes(on_device: bool, expected: bool, change: fn(&mut Job)) {
        let mut workload = preset("quick", "/unused").unwrap();
        workload.stages.truncate(1);
        workload.stages[0].jobs.truncate(1);
        let job = &mut workload.stages[0].jobs[0];
        (job.mix, job.caching) = (Mix::WRITE, Caching::Direct);
        change(job);
        let needed = job.limits.bytes.map_or(8, Bytes::get);
        let object = object(on_device, job, needed);
        let of_job = JobTargets {
            objects: vec![0],
            ranges: Vec::new(),
        };
        // What a later stage does is no matter before it begins.
        let mut later = workload.stages[0].clone();
        (later.jobs[0].mix, later.jobs[0].caching) = (Mix::WRITE, Caching::Buffered);
        later.jobs[0].backend = Backend::Sync;
        workload.stages.push(later);
        let of_later = JobTargets {
            objects: vec![0],
            ranges: Vec::new(),
        };
        let targets = Targets {
            objects: vec![object],
            jobs: vec![of_job, of_later],
        };
        assert_eq!(writes_go_to_devices(&workload, 0, &targets), expected);
        assert!(!writes_go_to_devices(&workload, 1, &targets));
    }

    #[test]
    fn writes_of_others_are_known_where_the_runs_own_go_to_devices() {
        check_writes(true, true, |_| {});
        check_writes(true, false, |job| job.caching = Caching::Buffered);
        check_writes(true, false, |job| job.backend = Backend::Mmap);
        check_writes(true, false, |job| {
            job.features.trace_to = Some("trace".to_owned());
        });
        // What a job keeps beside is written to files, whatever the job does itself.
        check_writes(true, false, |job| job.features.io_log.each = true);
        check_writes(true, false, |job| {
            job.mix = Mix::READ;
            job.features.io_log.each = true;
        });
        check_writes(true, false, |job| {
            job.mix = Mix::READ;
            job.features.trace_to = Some("trace".to_owned());
        });
        check_writes(true, false, |job| {
            (job.mix, job.backend) = (Mix::READ, Backend::Null);
            job.features.trace_to = Some("trace".to_owned());
        });
        check_writes(true, true, |job| job.mix = Mix::TRIM);
        check_writes(false, false, |job| job.mix = Mix::TRIM);
        check_writes(false, false, |_| {});
        check_writes(false, true, |job| job.mix = Mix::READ);
        check_writes(false, false, |job| {
            job.mix = Mix::READ;
            job.features.operation = Some(fathom_workload::FileOperation::Delete);
        });
        check_writes(false, false, |job| {
            job.mix = Mix::READ;
            let work = fathom_workload::FileWork::new(fathom_workload::FileTask::Create);
            job.features.file_work = Some(Box::new(work));
        });
        check_writes(false, true, |job| job.backend = Backend::Null);
        // Laid out before.
        check_writes(false, false, |job| {
            (job.mix, job.limits.bytes) = (Mix::READ, Some(Bytes::new(16)));
        });
    }

    /// Direct writes to two targets, and to a file before direct reads.
    #[test]
    fn one_file_among_devices_and_earlier_stages_is_enough() {
        let mut workload = preset("quick", "/unused").unwrap();
        workload.stages.truncate(1);
        workload.stages[0].jobs.truncate(1);
        let job = &mut workload.stages[0].jobs[0];
        (job.mix, job.caching) = (Mix::WRITE, Caching::Direct);
        let of = |objects: Vec<usize>| JobTargets {
            objects,
            ranges: Vec::new(),
        };
        let known = |workload: &Workload, last: usize, are_devices: [bool; 2], jobs| {
            let job = &workload.stages[0].jobs[0];
            let objects = are_devices.map(|is_device| object(is_device, job, 8));
            let targets = Targets {
                objects: objects.into(),
                jobs,
            };
            writes_go_to_devices(workload, last, &targets)
        };
        assert!(known(&workload, 0, [true, true], vec![of(vec![0, 1])]));
        assert!(!known(&workload, 0, [true, false], vec![of(vec![0, 1])]));
        assert!(!known(&workload, 0, [false, true], vec![of(vec![0, 1])]));
        let mut later = workload.stages[0].clone();
        later.jobs[0].mix = Mix::READ;
        workload.stages.push(later);
        let jobs = || vec![of(vec![0]), of(vec![1])];
        assert!(!known(&workload, 1, [false, true], jobs()));
        assert!(known(&workload, 1, [true, false], jobs()));
    }
}
