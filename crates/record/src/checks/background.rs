//! Whether other programs had the devices while a run measured them.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, per_second};
use fathom_workload::{Backend, Caching, Direction, Job, Stage};

use super::{Evidence, check};
use crate::{Check, OtherIo, StageResult};

/// As much of the run's own I/O as repeats may differ by: so much more or less of it the devices could have done.
const MOST_SHARE: f64 = 0.1;

/// What a machine at rest does to its disk (logs, a journal, a program that is started) stays below all of these.
const LEAST_BYTES_PER_SEC: f64 = 1024.0 * 1024.0;
const LEAST_BYTES: u64 = 4 << 20;
const LEAST_IOPS: f64 = 50.0;
const LEAST_IOS: u64 = 100;

pub(super) fn background_io(evidence: &Evidence<'_>) -> Check {
    let results = evidence.results.iter();
    let judged = results.filter_map(|result| {
        let stage = evidence.workload.stages.get(result.stage)?;
        Some((result, judged(stage, result)))
    });
    let judged: Vec<_> = judged.collect();
    let finding = judged.iter().find_map(|(result, found)| {
        let found = found.as_ref().ok()?.as_ref()?;
        Some(format!("{}: {found}", result.name))
    });
    let of_judged = judged.iter().filter(|(_, found)| found.is_ok());
    let mut others = of_judged.clone().filter_map(|(it, _)| it.others.as_ref());
    let why_not = judged.iter().find_map(|(_, found)| found.as_ref().err());
    let silent = match why_not.filter(|_| of_judged.count() == 0) {
        Some(why) => format!("not judged: {why}"),
        None if others.any(|others| !others.writes_known) => {
            "other programs read little from the devices; not judged: their writes, to which a file system adds the run's own"
                .to_owned()
        }
        None => "other programs left the devices to the run".to_owned(),
    };
    check(
        "background-io",
        finding,
        &silent,
        "`fathom observe` and `iotop` show who it is; stop it, or measure when the device is quiet: these are figures of a device \
         that others use too",
    )
}

/// What others did in a stage, where it is too much.
///
/// # Errors
/// Why that is not judged.
fn judged(stage: &Stage, result: &StageResult) -> Result<Option<String>, &'static str> {
    if let Some(why) = stage.jobs.iter().find_map(why_unclear) {
        return Err(why);
    }
    if result.devices.is_empty() {
        return Err("no block device under the targets is known");
    }
    let others = result.others.as_ref().ok_or(
        "what of the devices' I/O was the run's own cannot be told (devices that are made of each other, a start together with \
         other runs, or a kernel without an account of it)",
    )?;
    if others.own == [0; 2] {
        return Err("none of the run's own I/O reached a device");
    }
    let ways = [(Direction::Read, "read"), (Direction::Write, "wrote")];
    let found = ways.into_iter().filter_map(|(way, did)| {
        let is_used = stage.jobs.iter().any(|job| may_move(job, way));
        let of_way = OfWay { way, did, is_used };
        of_way.finding(others)
    });
    let found: Vec<String> = found.collect();
    let own = others.own.iter().sum();
    Ok((!found.is_empty()).then(|| {
        format!(
            "other programs {} on {}, beside {} of the run itself",
            found.join(" and "),
            others.devices.join(", "),
            rate_of(own, others.over),
        )
    }))
}

/// Whether I/O of this direction is in what the job does. Traces may hold any, and some trims are followed by a write.
fn may_move(job: &Job, way: Direction) -> bool {
    let writes = way == Direction::Write && job.mix.changes_data();
    job.moves(way) || writes || job.features.replay.is_some()
}

/// Why a job's I/O does not tell what reaches the devices meanwhile.
fn why_unclear(job: &Job) -> Option<&'static str> {
    let features = &job.features;
    if job.backend == Backend::Null {
        return Some("the null engine reaches no device");
    }
    if features.operation.is_some() || features.file_work.is_some() {
        return Some("operations on files bring I/O of the file system, which is nobody's");
    }
    if job.caching == Caching::Buffered || job.backend == Backend::Mmap {
        return Some("what goes through the page cache reaches devices at other times");
    }
    let process = &features.process;
    let has_command = process.command_before.is_some() || process.command_after.is_some();
    has_command.then_some("a job runs commands, whose I/O is not told from that of others")
}

/// One direction of the devices' I/O.
struct OfWay {
    way: Direction,
    did: &'static str,
    /// Whether the run has such I/O itself.
    is_used: bool,
}

impl OfWay {
    fn finding(&self, others: &OtherIo) -> Option<String> {
        let way = self.way as usize;
        if self.way == Direction::Write && !others.writes_known {
            return None;
        }
        let (bytes, over) = (others.bytes[way], others.over);
        let own: u64 = others.own.iter().sum();
        let is_much = bytes as f64 > own as f64 * MOST_SHARE
            && bytes >= LEAST_BYTES
            && per_second(bytes, over) >= LEAST_BYTES_PER_SEC;
        // How many I/Os were others' is known where all of a direction are; a file system's own reads are the run's.
        let ios = others.ios[way];
        let of_run = others.ios[1 - way];
        let are_many = bytes >= others.own[way]
            && ios as f64 > of_run as f64 * MOST_SHARE
            && ios >= LEAST_IOS
            && per_second(ios, over) >= LEAST_IOPS;
        let did = self.did;
        let moved = Bytes::new(bytes);
        let rate = rate_of(bytes, over);
        if self.is_used {
            return is_much.then(|| format!("{did} {rate} ({moved})"));
        }
        (is_much || are_many).then(|| {
            let iops = Iops::new(per_second(ios, over).round() as u64);
            format!("{did} {rate} ({moved}) in {iops}")
        })
    }
}

fn rate_of(bytes: u64, over: Nanos) -> BytesPerSec {
    BytesPerSec::new(per_second(bytes, over).round() as u64)
}

#[cfg(test)]
mod tests {
    use fathom_workload::native;

    use super::*;
    use crate::DeviceCounters;

    /// Ten seconds of direct reads, of which a device saw 1,000 MiB in 10,000 I/Os.
    fn reads() -> (Stage, StageResult) {
        let text = "[[stage]]\n[[stage.job]]\nname = \"a\"\ntarget = { path = \"/dev/vdb\", size = \"1GiB\" }\n";
        let read = native::read(text, "a.workload.toml");
        let stage = read.ok().map(|(mut workload, _)| workload.stages.remove(0));
        let result = StageResult {
            measured: Nanos::from_secs(10),
            others: Some(OtherIo {
                devices: vec!["vdb".to_owned()],
                own: [1000 << 20, 0],
                bytes: [0, 0],
                ios: [10_000, 0],
                writes_known: true,
                over: Nanos::from_secs(10),
            }),
            devices: vec![DeviceCounters::default()],
            ..StageResult::new("a", 0)
        };
        (stage.expect("the workload is sound"), result)
    }

    fn told(change: impl FnOnce(&mut Job, &mut OtherIo)) -> Result<Option<String>, &'static str> {
        let (mut stage, mut result) = reads();
        let others = result.others.as_mut().expect("it is told");
        change(&mut stage.jobs[0], others);
        judged(&stage, &result)
    }

    #[track_caller]
    fn check(expected: Option<&str>, change: impl FnOnce(&mut OtherIo)) {
        let found = told(|_, others| change(others));
        assert_eq!(found.as_ref().map(Option::as_deref), Ok(expected));
    }

    #[test]
    fn much_io_of_others_is_told() {
        check(None, |_| {});
        check(
            Some(
                "other programs read 20 MiB/s (200 MiB) on vdb, beside 100 MiB/s of the run itself",
            ),
            |others| others.bytes[0] = 200 << 20,
        );
        check(
            Some(
                "other programs wrote 20 MiB/s (200 MiB) in 20 IOPS on vdb, beside 100 MiB/s of the run itself",
            ),
            |others| (others.bytes[1], others.ios[1]) = (200 << 20, 200),
        );
        check(
            Some(
                "other programs read 20 MiB/s (200 MiB) and wrote 410 KiB/s (4 MiB) in 150 IOPS on vdb, vdc, beside 100 MiB/s of the run itself",
            ),
            |others| {
                others.devices.push("vdc".to_owned());
                (others.bytes, others.ios[1]) = ([200 << 20, 4 << 20], 1500);
            },
        );
    }

    #[test]
    fn what_goes_on_on_any_machine_is_not_told() {
        // A tenth of the run's own, few bytes in all, or few a second.
        check(None, |others| others.bytes[0] = 100 << 20);
        let slow = |bytes, seconds| {
            move |others: &mut OtherIo| {
                (others.own[0], others.bytes[0]) = (1 << 20, bytes);
                others.over = Nanos::from_secs(seconds);
            }
        };
        check(None, slow(3 << 20, 1));
        check(None, slow(9 << 20, 10));
        check(
            Some("other programs read 1 MiB/s (10 MiB) on vdb, beside 102 KiB/s of the run itself"),
            slow(10 << 20, 10),
        );
        // I/Os are counted in directions alone that the run has not.
        check(None, |others| {
            (others.bytes[1], others.ios[1]) = (4 << 20, 400);
        });
        check(None, |others| {
            (others.bytes[1], others.ios[1]) = (4 << 20, 1000);
        });
        check(None, |others| {
            // Enough in all and of the run's own, and 40 a second.
            (others.ios, others.bytes[1]) = ([2000, 400], 1 << 20);
        });
        check(None, |others| {
            // 80 of them in a second.
            (others.ios, others.bytes[1]) = ([500, 80], 1 << 20);
            others.over = Nanos::from_secs(1);
        });
        // What the run wrote counts beside what others read.
        check(None, |others| {
            others.own = [200 << 20, 1000 << 20];
            others.bytes[0] = 100 << 20;
        });
        let own = told(|job, others| {
            job.mix = fathom_workload::Mix::WRITE;
            // A file system's own reads, for writes to a file.
            (others.own, others.ios) = ([9 << 20, 1000 << 20], [5000, 10_000]);
        });
        assert_eq!(own, Ok(None));
        // A file system adds to what is written.
        check(None, |others| {
            (others.bytes[1], others.writes_known) = (900 << 20, false);
        });
    }

    /// So many I/Os of a direction are others' where the job has none of that direction.
    #[test]
    fn directions_that_a_job_may_have_are_its_own() {
        let told_beside = |change: fn(&mut Job)| {
            let found = told(|job, others| {
                change(job);
                (others.ios[1], others.bytes[1]) = (4000, 4 << 20);
            });
            found.expect("it is judged").is_some()
        };
        assert!(told_beside(|_| {}));
        assert!(!told_beside(|job| job.mix = fathom_workload::Mix::WRITE));
        assert!(!told_beside(|job| job.mix = fathom_workload::Mix::TRIM));
        assert!(!told_beside(
            |job| job.features.replay = Some(fathom_workload::Replay::default())
        ));
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        let not = |change: fn(&mut Job, &mut OtherIo)| {
            let found = told(|job, others| {
                others.bytes[0] = 900 << 20;
                change(job, others);
            });
            found.expect_err("it is not judged")
        };
        assert!(not(|job, _| job.caching = Caching::Buffered).contains("page cache"));
        assert!(not(|job, _| job.backend = Backend::Mmap).contains("page cache"));
        assert!(not(|job, _| job.backend = Backend::Null).contains("null engine"));
        let operation = |job: &mut Job, _: &mut OtherIo| {
            job.features.operation = Some(fathom_workload::FileOperation::Delete);
        };
        assert!(not(operation).contains("operations on files"));
        let command = |job: &mut Job, _: &mut OtherIo| {
            job.features.process.command_before = Some("sync".to_owned());
        };
        assert!(not(command).contains("runs commands"));
        let command = |job: &mut Job, _: &mut OtherIo| {
            job.features.process.command_after = Some("sync".to_owned());
        };
        assert!(not(command).contains("runs commands"));
        let on_files = |job: &mut Job, _: &mut OtherIo| {
            let work = fathom_workload::FileWork::new(fathom_workload::FileTask::Create);
            job.features.file_work = Some(Box::new(work));
        };
        assert!(not(on_files).contains("operations on files"));
        assert!(not(|_, others| others.own = [0; 2]).contains("reached a device"));
        let (stage, mut result) = reads();
        result.others = None;
        assert!(judged(&stage, &result).is_err_and(|why| why.contains("cannot be told")));
        result.devices.clear();
        assert!(judged(&stage, &result).is_err_and(|why| why.contains("no block device")));
    }
}
