//! The script's arguments and its table.

use fathom_record::{OpStats, WorkerStats};
use fathom_units::Bytes;
use fathom_workload::{Access, Caching, OpenSync};

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn accepted(line: &str) -> DiskPerformanceInput {
    read(&words(line)).unwrap_or_else(|errors| panic!("{line}\n{errors}"))
}

#[test]
fn the_guides_line_is_read() {
    let line = "-TestFileName test.dat –TestFileSizeInGB 1 -TestFilepath C:\\temp -TestMode Get-LargeIO -FastMode True -RemoveTestFile True -OutputFormat Out-GridView";
    let input = accepted(line);
    assert_eq!(input.settings.path(), "C:\\temp\\test.dat");
    assert_eq!(input.settings.existing, Existing::Remove);
    assert_eq!(input.settings.output, Output::GridView);
    let stages = &input.workload.stages;
    assert_eq!(stages.len(), 32);
    for (stage, depth) in stages.iter().zip(1..) {
        let job = &stage.jobs[0];
        assert_eq!((job.workers, job.depth), (1, depth));
        assert_eq!(job.block.read[0].size, Bytes::kib(512));
        assert!(matches!(
            job.access,
            Access::Sequential {
                gap: Bytes::ZERO,
                ..
            }
        ));
        assert_eq!(job.limits.runtime, Some(Nanos::from_secs(10)));
        assert_eq!(stage.cooldown, Nanos::from_secs(5));
        assert_eq!(
            (job.caching, job.sync.open),
            (Caching::Direct, OpenSync::Dsync)
        );
        assert_eq!(job.targets[0].length, Some(Bytes::gib(1)));
        // The last point leaves no file behind.
        assert_eq!(job.unlink, depth == 32);
    }
}

#[test]
fn small_ios_are_random_from_8_to_64_outstanding() {
    let input = accepted("-testmode:get-smallio -fast False -TestFileS 5");
    let stages = &input.workload.stages;
    let depths: Vec<u32> = stages.iter().map(|stage| stage.jobs[0].depth).collect();
    assert_eq!(depths, (8..=64).collect::<Vec<u32>>());
    let job = &stages[0].jobs[0];
    assert_eq!((job.workers, job.block.read[0].size), (4, Bytes::kib(8)));
    assert!(matches!(job.access, Access::Random { .. }));
    assert_eq!(job.limits.runtime, Some(Nanos::from_secs(60)));
    assert_eq!(job.targets[0].place.path(), "C:\\Test\\test.dat");
    assert_eq!(input.settings.existing, Existing::Keep);
}

#[test]
fn arguments_are_bound_as_powershell_binds_them() {
    // Words without a name go to the parameters that have none yet, in order.
    let input = accepted("-TestMode Get-SmallIO a.dat 10 /srv/test");
    assert_eq!(input.settings.path(), "/srv/test/a.dat");
    assert_eq!(input.settings.size_gib, 10);
    assert_eq!(
        accepted("-Out Format-Table -TestM Get-LargeIO")
            .settings
            .output,
        Output::Table
    );
    assert_eq!(
        accepted("-FastMode $False -TestM Get-LargeIO")
            .settings
            .seconds,
        60
    );
    assert_eq!(
        accepted("—TestMode Get-LargeIO -TestFilepath D:\\")
            .settings
            .path(),
        "D:\\test.dat"
    );
    for (folder, path) in [
        ("ro2", "ro2/test.dat"),
        ("./ro2/", "./ro2/test.dat"),
        ("/mnt/ro2", "/mnt/ro2/test.dat"),
        ("D:temp", "D:temp\\test.dat"),
        ("\\\\server\\share", "\\\\server\\share\\test.dat"),
    ] {
        let line = format!("-TestMode Get-LargeIO -TestFilepath {folder}");
        assert_eq!(accepted(&line).settings.path(), path);
    }
}

#[test]
fn bad_lines_are_refused_with_a_remedy() {
    for (line, part) in [
        ("", "`-TestMode` is needed"),
        ("-TestMode Get-MediumIO", "no value of `-TestMode`"),
        ("-TestMode", "has no value"),
        (
            "-FastMode -TestMode Get-SmallIO",
            "`-FastMode` has no value",
        ),
        (
            "-TestFile x.dat -TestMode Get-SmallIO",
            "may be TestFileName or",
        ),
        ("-TestModus Get-SmallIO", "no parameter"),
        ("-TestMode Get-SmallIO -TestMode Get-LargeIO", "given twice"),
        ("-TestMode Get-SmallIO -TestFileSizeInGB 2", "no value of"),
        ("-TestMode Get-SmallIO -TestFileName x", "has one character"),
        ("-TestMode Get-SmallIO -TestFilepath C:", "2 characters"),
        ("-TestMode Get-SmallIO -FastMode yes", "True, False"),
        (
            "a.dat 1 C:\\x Get-SmallIO True True Format-Table more",
            "too many",
        ),
    ] {
        let errors = match read(&words(line)) {
            Ok(_) => panic!("`{line}` is taken"),
            Err(errors) => errors.to_string(),
        };
        assert!(
            errors.contains(part) && errors.contains("hint:"),
            "{line}\n{errors}"
        );
    }
    for word in ["x", "-TestMode", "–", "-", ":"] {
        let _ = read(&vec![word.to_owned(); (1 << 20) / (word.len() + 1)]);
        let _ = read(&[word.repeat((1 << 20) / word.len())]);
    }
}

#[test]
fn the_table_has_the_scripts_columns() {
    let settings = accepted("-TestMode Get-SmallIO").settings;
    let mut stats = OpStats::new(false, false);
    stats.latency.record_many(2_500_000, 1000);
    stats.bytes = 1000 * 8192;
    let result = StageResult {
        measured: Nanos::from_secs(10),
        workers: vec![WorkerStats {
            directions: [Some(stats), None, None],
            ..WorkerStats::new(0, 0)
        }],
        ..StageResult::new("outstanding 9", 1)
    };
    let text = write_table(&settings, &[result]);
    let expected = "
MBSec            IOPS             SizeIOKBytes     LatencyMS        OutStandingIOs   Type             Target
-----            ----             ------------     ---------        --------------   ----             ------
0.78             100.00           8                2                9                random           C:\\Test\\test.dat


";
    assert!(text == expected, "{text}");
}

#[test]
fn arguments_are_explained() {
    let text = origins(&accepted("-TestMode Get-SmallIO"));
    assert!(text.contains("sqlio -s10 -kR -frandom -b8 -o8 to 64 -t4 -LS -BN C:\\Test\\test.dat"));
    let has = |option: &str, origin: &str| {
        text.lines()
            .any(|line| line.contains(option) && line.ends_with(origin))
    };
    assert!(has("-TestMode Get-SmallIO", "command line"), "{text}");
    assert!(has("-TestFileSizeInGB 1", "the script's default"), "{text}");
}
