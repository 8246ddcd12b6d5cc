//! Command lines that are taken, and what of them; lines that are refused.

use fathom_units::{Bytes, Nanos};
use fathom_workload::{Access, Arrival, Backend, Caching, Job, OpenSync, Pacing, SequentialScope};

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn accepted(line: &str) -> DiskspdInput {
    read(&words(line), 7).unwrap_or_else(|errors| panic!("{line}\n{errors}"))
}

fn jobs(line: &str) -> Vec<Job> {
    accepted(line).workload.stages.remove(0).jobs
}

#[track_caller]
fn refused(line: &str, part: &str) {
    let errors = match read(&words(line), 7) {
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
    assert_eq!(input.rows.len(), 16);
    assert_eq!(
        input.rows[8],
        Row {
            thread: 8,
            target: 1
        }
    );
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
    assert_eq!(accepted("-c1M /tmp/x").targets, ["/tmp/x"]);
    assert_eq!(jobs("-f1G #1")[0].targets[0].length, Some(Bytes::gib(1)));
    assert!(jobs("-c1G -f1G E:")[0].features.files.must_exist);
}

#[test]
fn bad_lines_are_refused_with_a_remedy() {
    for (line, part) in [
        ("–b8K f", "no keyboard has"),
        ("-b4K f -r", "before the targets"),
        ("-b4K", "no target"),
        ("-b4.5K f", "no size"),
        ("-b99999999999T f", "past 2^63"),
        ("-b4G f", "4294967296 bytes"),
        ("-w f", "percentage of writes"),
        ("-w101 f", "101 %"),
        ("-F2 -t2 f", "how many threads"),
        ("-O4 f", "pool of threads"),
        ("-i5 f", "think time"),
        ("-r -s f", "exclude each other"),
        ("-r -r f", "given twice"),
        ("-r0 f", "it is 0"),
        ("-rs0 f", "0 %"),
        ("-rs5 -s f", "leave `-s` out"),
        ("-T4K f", "several threads"),
        ("-t2 -T4K -si f", "share a position"),
        ("-t2 -T4K -r f", "sequential"),
        ("-s4K f", "overlap"),
        ("-x -g5 f", "`-x`"),
        ("-Nv f", "mapped"),
        ("-Suh f", "contradict"),
        ("-Smu f", "contradict"),
        ("-n -a0 f", "contradict"),
        ("-g0 f", "rate is 0"),
        ("-d0 f", "no time"),
        ("-Z1K f", "smaller than a block"),
        ("-B1G -f1M f", "nothing is left"),
        ("-c4K f", "not one block"),
        ("-rdpct50/50 f", "random offsets"),
        ("-Xprofile.xml f", "XML profiles"),
        ("-Rxml f", "XML output"),
        ("-p f", "not built yet"),
        ("-ysgo f", "Windows"),
        ("-q f", "no option of DISKSPD"),
        ("- f", "alone"),
        ("-c1G -Su -b1000 f", "512"),
        ("-t4000000000 f", "65536 threads"),
        ("-F40000 f g", "65536 threads"),
        ("-F2 -O4 a b", "not built yet"),
    ] {
        refused(line, part);
    }
}

#[test]
fn an_error_points_at_its_word() {
    let error = read(&words("-b4K -w101 f"), 0).unwrap_err().to_string();
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
            let _ = read(&[format!("-{letter}{value}"), "f".into()], 0);
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
