//! Command lines and profiles that are taken, and what of them; those that are refused.

mod limits;
mod lines;
mod profiles;

use std::collections::BTreeMap;
use std::io;

use fathom_units::{Bytes, Nanos};
use fathom_workload::{
    Access, Arrival, Backend, Caching, IoLog, Job, Limits, OpenSync, Pacing, SequentialScope, Stage,
};

use super::*;
use crate::fio::FileStatus;

/// Files by their names.
#[derive(Default)]
struct Named(BTreeMap<String, Vec<u8>>);

impl Named {
    fn with(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self(BTreeMap::from([(name.to_owned(), bytes.into())]))
    }
}

impl Files for Named {
    fn read_text(&self, path: &str) -> io::Result<String> {
        let bytes = self.read_bytes(path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn read_bytes(&self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.0.get(path).cloned();
        found.ok_or_else(|| io::Error::other("not there"))
    }

    fn status(&self, path: &str) -> FileStatus {
        match self.0.get(path) {
            Some(bytes) => FileStatus::Regular(Bytes::new(bytes.len() as u64)),
            None => FileStatus::Missing,
        }
    }
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn accepted(line: &str) -> DiskspdInput {
    read(&words(line), 7, &Named::default()).unwrap_or_else(|errors| panic!("{line}\n{errors}"))
}

fn jobs(line: &str) -> Vec<Job> {
    accepted(line).workload.stages.remove(0).jobs
}

/// A line that is refused with `part` and a remedy.
#[track_caller]
fn refused(line: &str, part: &str) {
    let errors = match read(&words(line), 7, &Named::default()) {
        Ok(_) => panic!("`{line}` is taken"),
        Err(errors) => errors.to_string(),
    };
    assert!(errors.contains(part), "{line}\n{errors}");
    assert!(errors.contains("hint:"), "{line}\n{errors}");
}

#[test]
fn defaults_are_diskspds() {
    let input = accepted("-c1G x.dat");
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!(input.workload.seed, 0);
    assert_eq!((job.workers, job.depth), (1, 2));
    assert_eq!(job.block.read[0].size, Bytes::kib(64));
    assert_eq!(job.caching, Caching::Buffered);
    assert_eq!(job.limits.warmup, Nanos::from_secs(5));
    assert_eq!(job.limits.runtime, Some(Nanos::from_secs(10)));
    let gap = Bytes::ZERO;
    let scope = SequentialScope::PerWorker;
    assert_eq!(job.access, Access::Sequential { gap, scope });
}

#[test]
fn published_lines_are_read() {
    let smb = "-W300 -C5 -r -w100 -b4k -t8 -o8 -Sh -d60 -L -c2G -Z1G z:\\write0.dat z:\\write1.dat";
    let input = accepted(smb);
    assert_eq!(input.workload.stages[0].jobs.len(), 2);
    assert_eq!(input.places[0].len(), 16);
    let place = WorkerPlace {
        thread: 8,
        targets: vec![1],
    };
    assert_eq!(input.places[0][8], place);
    let job = &input.workload.stages[0].jobs[1];
    assert_eq!(
        (job.workers, job.depth, job.caching),
        (8, 8, Caching::Direct)
    );
    assert_eq!(job.sync.open, OpenSync::Dsync);
    let job = &jobs("-c200G -b4K -F4 -r -o128 -W7200 -d30 -Sh testfile.dat")[0];
    assert_eq!((job.workers, job.depth), (4, 128));
    assert_eq!(job.targets[0].length, Some(Bytes::gib(200)));
    accepted("-c50G -d300 -r -w40 -t8 -o32 -b64K -Sh -L E:\\diskpsdtmp.dat");
    accepted("-c2G -b4K -F8 -r -o32 -W60 -d60 -Sh testfile.dat");
    accepted("-b8K -d30 -o4 -t8 -h -r -w25 -L -Z1G -c20G f");
}

#[test]
fn threads_may_begin_apart() {
    let jobs = jobs("-c2G -b4K -F8 -T1b -s8b -o32 -W60 -d60 -Sh f");
    assert_eq!(jobs.len(), 8);
    assert_eq!(jobs[3].targets[0].offset, Bytes::kib(12));
    let gap = Bytes::kib(28);
    let scope = SequentialScope::PerWorker;
    assert_eq!(jobs[3].access, Access::Sequential { gap, scope });
}

#[test]
fn options_mean_what_they_mean_to_diskspd() {
    let job = &jobs("-c1M -b4K -g100i -o1 f")[0];
    assert_eq!(job.backend, Backend::Sync);
    let Arrival::Open {
        rate: Pacing::Iops(rate),
        ..
    } = job.arrival
    else {
        panic!("{:?}", job.arrival)
    };
    assert_eq!(rate.get(), 100);
    let job = &jobs("-c1G -g100 -z f")[0];
    let Arrival::Open {
        rate: Pacing::Bytes(rate),
        ..
    } = job.arrival
    else {
        panic!("{:?}", job.arrival)
    };
    assert_eq!(rate.get(), 100_000);
    assert_eq!(accepted("-z f").workload.seed, 7);
    // Blocks are counted by the `-b` that stands behind.
    assert_eq!(
        jobs("-c100b -b8K f")[0].targets[0].length,
        Some(Bytes::kib(800))
    );
    let think = jobs("-c1M -i8 -j5 -t4 f")[0].features.think.unwrap();
    assert_eq!((think.every, think.pause), (2, Nanos::from_millis(5)));
    assert!(matches!(
        jobs("-c1G -rs30 -r8K f")[0].access,
        Access::Mixed { .. }
    ));
    assert!(matches!(
        jobs("-c1G -rs100 f")[0].access,
        Access::Random { .. }
    ));
    assert!(
        jobs("-c1G -rdpct90/10:10/90 -r f")[0]
            .features
            .placement
            .is_some()
    );
    let job = &jobs("-B1G:512M -r f")[0];
    assert_eq!(job.targets[0].offset, Bytes::gib(1));
    assert_eq!(job.targets[0].length, Some(Bytes::mib(512)));
    assert!(job.features.files.must_exist);
    // What follows a number means nothing to DISKSPD; a person is told.
    assert!(
        accepted("-c1G -W10s f")
            .warnings
            .to_string()
            .contains("`10s`")
    );
    // `/` begins a path here.
    assert_eq!(accepted("-c1M /tmp/x").targets(0), ["/tmp/x"]);
    assert_eq!(jobs("-f1G #1")[0].targets[0].length, Some(Bytes::gib(1)));
    assert!(jobs("-c1G -f1G E:")[0].features.files.must_exist);
}

#[test]
fn an_error_points_at_its_word() {
    let error = read(&words("-b4K -w101 f"), 0, &Named::default())
        .unwrap_err()
        .to_string();
    let expected = " 1 | diskspd -b4K -w101 f\n   |              ^^^^^\n";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn sizes_are_shown_as_diskspd_shows_them() {
    for (bytes, shown) in [
        (512, "512"),
        (4096, "4KiB"),
        (1536, "1.50KiB"),
        (10 << 20, "10MiB"),
        (200 << 30, "200GiB"),
    ] {
        assert_eq!(sizes::show(bytes), shown);
    }
}

#[test]
fn any_word_is_answered() {
    let letters = "abBcCdDefFghiIjlLnNoOpPrRsStTuvwxXyzZ:?/-";
    let values = [
        "",
        "0",
        "1",
        "9999999999999999999999",
        "é",
        "d",
        "dpct",
        "s",
        "i-1",
        "g,",
        "1-",
        ",",
    ];
    for letter in letters.chars() {
        for value in values {
            let _ = read(
                &[format!("-{letter}{value}"), "f".into()],
                0,
                &Named::default(),
            );
        }
    }
}

#[test]
fn windows_paths_are_known() {
    for path in ["E:", "E:\\x", "z:x", "#1", "a\\b", "\\\\server\\share"] {
        assert!(is_windows_path(path), "{path}");
    }
    for path in ["x.dat", "/mnt/a", "#a", "dir/x:y", "é:"] {
        assert!(!is_windows_path(path), "{path}");
    }
}
