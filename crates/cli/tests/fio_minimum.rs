//! `fathom fio` beside Debian's fio: rates that jobs must keep up, work between I/Os, and what the kernel is told of files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use fathom_rawio::lifetime_number;
use serde_json::Value;

/// Jobs on no storage: only our own doing shows.
const BASE: &str = "--output-format=json --ioengine=null --size=1g --bs=4k --rw=read --time_based";

/// What a run says: whether it succeeded, and error and length in ms of each job.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    success: bool,
    jobs: Vec<(u64, u64)>,
}

fn said(folder: &Path, theirs: bool, words: &str) -> Said {
    let mut command = support::fio(folder, theirs);
    command.args(words.split_whitespace());
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let document = stdout.find('{').map(|from| &stdout[from..]);
    let document: Value = serde_json::from_str(document.unwrap_or_default())
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{stdout}"));
    let jobs = document["jobs"].as_array().unwrap();
    let number = |job: &Value, key: &str| job[key].as_u64().unwrap();
    Said {
        success: output.status.success(),
        jobs: jobs
            .iter()
            .map(|job| (number(job, "error"), number(job, "job_runtime")))
            .collect(),
    }
}

/// Rounds in which a busy machine may keep either program from its rate.
const MOST_ROUNDS: usize = 8;

/// Both end with these errors, after times that differ by little.
#[track_caller]
fn alike(words: &str, errors: &[u64]) {
    let folder = support::disk_folder();
    let words = format!("{BASE} {words}");
    let mut told = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let [ours, theirs] = std::thread::scope(|scope| {
            let runs = [false, true].map(|theirs| {
                let (folder, words) = (folder.path(), &words);
                scope.spawn(move || said(folder, theirs, words))
            });
            runs.map(|run| run.join().unwrap())
        });
        if ends_with(&ours, errors) && ends_with(&theirs, errors) && are_close(&ours, &theirs) {
            return;
        }
        told.push(format!("{ours:?}, fio: {theirs:?}"));
    }
    panic!("{words}: {told:#?}");
}

/// Whether jobs have these errors, and the run has failed where one of them has.
fn ends_with(said: &Said, errors: &[u64]) -> bool {
    let found = said.jobs.iter().map(|(error, _)| error);
    let failed = errors.iter().any(|error| *error > 0);
    found.eq(errors) && said.success != failed
}

/// Whether each job took about as long as its peer.
fn are_close(ours: &Said, theirs: &Said) -> bool {
    let mut pairs = ours.jobs.iter().zip(&theirs.jobs);
    pairs.all(|((_, ours), (_, theirs))| ours.abs_diff(*theirs) < 400)
}

#[test]
fn a_job_fails_where_fios_does() {
    // `EIO`, by which fio tells it.
    const SLOW: u64 = 5;
    let slow = "--rate_iops=200 --rate_min=900k --rate_cycle=200";
    // Two seconds are left out, and then a cycle.
    alike(&format!("--name=a --runtime=6 {slow}"), &[SLOW]);
    alike(&format!("--name=a --runtime=2 {slow}"), &[0]);
    alike(
        "--name=a --runtime=4 --rate_iops=200 --rate_iops_min=170",
        &[0],
    );
    // So are what comes before the measurement, and a delay.
    alike(
        &format!("--name=a --runtime=6 {slow} --ramp_time=1"),
        &[SLOW],
    );
    alike(
        &format!("--name=a --runtime=6 {slow} --startdelay=1"),
        &[SLOW],
    );
    // The other job goes on.
    let other = "--name=b --runtime=4 --rate_iops=200 --rate_min=0";
    alike(&format!("--name=a --runtime=6 {slow} {other}"), &[SLOW, 0]);
}

#[test]
fn pauses_and_directions_are_judged_as_fios_are() {
    const SLOW: u64 = 5;
    let bursts = "--name=a --runtime=6 --thinktime=1500ms --thinktime_blocks=30 --iodepth=1";
    alike(&format!("{bursts} --rate_iops_min=18"), &[0]);
    alike(&format!("{bursts} --rate_iops_min=22"), &[SLOW]);
    let mixed = "--name=a --runtime=5 --rw=randrw --rate_iops=400,100";
    alike(&format!("{mixed} --rate_min=1m,300k"), &[0]);
    alike(&format!("{mixed} --rate_min=,900k"), &[SLOW]);
    alike(&format!("{mixed} --rate_min=1700k,300k"), &[SLOW]);
}

/// fio has it since 3.34, so there is none to compare with where an older one is installed.
#[test]
fn work_between_ios_takes_its_time() {
    let folder = support::disk_folder();
    let spent = |cycles: u32| {
        let words = format!(
            "--output-format=json --ioengine=null --name=x --size=1m --bs=4k --number_ios=200 --thinkcycles={cycles}"
        );
        said(folder.path(), false, &words).jobs[0].1
    };
    // A busy machine makes it longer now and then.
    let without = (0..3).map(|_| spent(0)).min().unwrap();
    let with = spent(200_000);
    assert!(
        with > 10 * without.max(10),
        "{with} ms, and {without} ms without"
    );
}

#[test]
fn the_kernel_knows_as_much_of_a_file_as_from_fio() {
    for hint in ["none", "short", "medium", "long", "extreme"] {
        let [ours, theirs] = [false, true].map(|theirs| {
            let folder = support::disk_folder();
            let path = folder.path().join("file.dat");
            // As long as the file is open, the kernel keeps what it was told of it.
            std::fs::write(&path, vec![7; 64 << 10]).unwrap();
            let file = std::fs::File::open(&path).unwrap();
            let words = format!(
                "--output-format=json --name=x --filename=file.dat --size=64k --bs=4k --rw=write --write_hint={hint}"
            );
            assert!(said(folder.path(), theirs, &words).success);
            lifetime_number(&file).unwrap()
        });
        assert_eq!(ours, theirs, "{hint}");
        assert!(ours > 0, "{hint}");
    }
}

#[test]
fn a_prediction_says_what_it_cannot_know() {
    let folder = support::disk_folder();
    let design = support::example("guide-2016/ds14.design.toml");
    for (option, told) in [
        ("--rate_iops_min=5", "rates that it must keep up"),
        ("--thinkcycles=5", "work between I/Os"),
    ] {
        let words =
            format!("predict --on {design} fio --name=x --size=1m --filename=/mnt/x {option}");
        let output = support::run(folder.path(), &words.split_whitespace().collect::<Vec<_>>());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(told), "{stderr}");
    }
}
