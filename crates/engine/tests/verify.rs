//! Checks of what was written, on real files: what is right passes, and every damage is found.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{LoopDevice, Told, job, stage};
use fathom_engine::{Overwrite, RunOptions, RunOutcome, StopFlag, run};
use fathom_record::{EndReason, Event, EventSink, OpStats};
use fathom_units::{Bytes, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Backend, Backlog, Caching, Checksum, Coverage, Direction, DirectionRates,
    ExistingFiles, HeaderCheck, Job, Mix, OnMismatch, Pacing, Poisson, SyncPolicy, TrimmedData,
    Verify, VerifyPhase, VerifyTrims, Workload,
};

const SIZE: Bytes = Bytes::kib(256);
const BLOCKS: u64 = 64;
/// Linux's number of "illegal byte sequence".
const EILSEQ: i32 = 84;

/// A job that writes each block of a file once.
fn writer(path: &Path, backend: Backend, caching: Caching, verify: Verify) -> Job {
    let mut job = job(path, SIZE);
    job.mix = Mix::WRITE;
    (job.backend, job.caching) = (backend, caching);
    job.existing = ExistingFiles::AsPeer;
    job.features.verify = Some(Box::new(verify));
    job
}

fn phase(checksum: Checksum, phase: VerifyPhase) -> Verify {
    let mut verify = Verify::new(checksum);
    verify.phase = phase;
    if phase == VerifyPhase::Only {
        (verify.sequence, verify.seed) = (HeaderCheck::Compared, HeaderCheck::Compared);
    }
    verify
}

/// Runs stages of one job each; what was told comes with the outcome.
fn run_all(jobs: &[Job], destroy: &[&str]) -> (RunOutcome, Vec<String>) {
    let stages = jobs.iter().enumerate();
    let stages = stages.map(|(index, job)| stage(&format!("s{index}"), vec![job.clone()]));
    let workload = Workload {
        stages: stages.collect(),
        seed: 1,
    };
    let options = RunOptions {
        destroy_data: destroy.iter().map(|name| (*name).to_owned()).collect(),
        overwrite: Overwrite::Allowed,
        ..RunOptions::default()
    };
    let mut told = Told::default();
    let outcome = run(&workload, &options, &StopFlag::new(), &mut told).unwrap();
    // Wrong data counts among what has failed while the run goes, as in its results.
    let workers = outcome.results.iter().flat_map(|stage| &stage.workers);
    let errors = workers.flat_map(|worker| &worker.errors);
    assert_eq!(told.failed, errors.map(|error| error.count).sum::<u64>());
    (outcome, told.notes)
}

/// Reads, writes and trims of a stage.
fn counts(outcome: &RunOutcome, stage: usize) -> [u64; 3] {
    let worker = &outcome.results[stage].workers[0];
    Direction::ALL.map(|way| {
        let stats = worker.directions[way as usize].as_ref();
        stats.map_or(0, OpStats::ios)
    })
}

fn lines(told: &[String]) -> Vec<&String> {
    told.iter()
        .filter(|line| line.starts_with("verify:"))
        .collect()
}

#[test]
fn checks_read_the_device_unless_the_page_cache_is_left_alone() {
    let size = Bytes::mib(4);
    for drops in [true, false] {
        let device = LoopDevice::new(size);
        let verify = Verify::new(Checksum::Crc32c);
        let mut job = writer(
            Path::new(&device.path),
            Backend::Sync,
            Caching::Buffered,
            verify,
        );
        job.targets[0].length = Some(size);
        job.drop_cache = drops;
        let sectors = || {
            let path = format!("/sys/block/{}/stat", device.name());
            let text = std::fs::read_to_string(path).unwrap();
            text.split_whitespace().nth(2).unwrap().parse::<u64>()
        };
        let before = sectors().unwrap();
        let (outcome, _) = run_all(&[job], &[device.name()]);
        let blocks = size.get() / Bytes::kib(4).get();
        assert_eq!(counts(&outcome, 0), [blocks, blocks, 0]);
        let read = (sectors().unwrap() - before) * 512;
        assert_eq!(read >= size.get(), drops, "{read} bytes");
    }
}

#[test]
fn the_time_of_writes_and_that_of_checks_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut job = writer(
        &path,
        Backend::Sync,
        Caching::Buffered,
        phase(Checksum::Md5, VerifyPhase::AfterPass),
    );
    let (outcome, _) = run_all(&[job.clone()], &[]);
    let worker = &outcome.results[0].workers[0];
    let times = worker.checks.unwrap();
    assert!(!times.reads_in_passes);
    let [reads, writes, _] = Direction::ALL.map(|way| worker.time_of(way));
    assert_eq!(reads, times.checks);
    assert_eq!(reads + writes + times.settling, worker.measured);
    let read = worker.directions[0].as_ref().unwrap();
    let write = worker.directions[1].as_ref().unwrap();
    // One at a time, I/Os take no longer together than there was time for them.
    for (stats, time) in [(read, reads), (write, writes)] {
        let mean = stats.latency.mean();
        assert!(mean * BLOCKS as f64 <= time.get() as f64 * 1.01, "{time}");
    }
    job.features.verify = None;
    let (outcome, _) = run_all(&[job], &[]);
    let worker = &outcome.results[0].workers[0];
    assert_eq!(worker.checks, None);
    assert_eq!(worker.time_of(Direction::Write), worker.measured);
}

#[test]
fn every_backend_writes_and_reads_back() {
    let directory = tempfile::tempdir().unwrap();
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        for caching in [Caching::Direct, Caching::Buffered] {
            let path = directory.path().join("file");
            let mut verify = Verify::new(Checksum::Crc32c);
            verify.interval = Some(Bytes::new(512));
            let plain = writer(&path, backend, caching, verify.clone());
            verify.backlog = Some(Backlog {
                writes: 16,
                batch: 8,
            });
            let backlog = writer(&path, backend, caching, verify);
            let mut synced = plain.clone();
            synced.sync = SyncPolicy {
                fsync_every: 4,
                ..SyncPolicy::default()
            };
            let (outcome, told) = run_all(&[plain, backlog, synced], &[]);
            assert_eq!(lines(&told), [""; 0], "{backend:?} {caching:?}");
            for index in 0..3 {
                let case = format!("{backend:?} {caching:?} stage {index}");
                assert_eq!(counts(&outcome, index), [BLOCKS, BLOCKS, 0], "{case}");
                assert_eq!(outcome.results[index].workers[0].ended, EndReason::Done);
            }
            // A sync stands between two writes, not between the last write and the first check.
            let sync = outcome.results[2].workers[0].sync.as_ref();
            assert_eq!(sync.map(OpStats::ios), Some(BLOCKS / 4 - 1));
        }
    }
}

/// Writes, damages the file, and checks it with two later jobs: one that repeats the writer without writing, one that
/// reads. Both must find it.
#[track_caller]
fn damaged(checksum: Checksum, damage: impl Fn(&std::fs::File), expected_line: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let job = |verify| writer(&path, Backend::IoUring, Caching::Direct, verify);
    let write = job(phase(checksum, VerifyPhase::Never));
    let (outcome, told) = run_all(std::slice::from_ref(&write), &[]);
    assert_eq!((counts(&outcome, 0), told.len()), ([0, BLOCKS, 0], 0));
    let file = std::fs::File::options().read(true).write(true).open(&path);
    damage(&file.unwrap());
    let only = job(phase(checksum, VerifyPhase::Only));
    let mut read = job(phase(checksum, VerifyPhase::AfterPass));
    read.mix = Mix::READ;
    let verify = read.features.verify.as_mut().unwrap();
    (verify.sequence, verify.seed) = (HeaderCheck::Ignored, HeaderCheck::Ignored);
    for job in [only, read] {
        let (outcome, told) = run_all(&[job], &[]);
        let worker = &outcome.results[0].workers[0];
        assert_eq!(worker.ended, EndReason::Failed);
        assert_eq!(worker.errors.len(), 1);
        let error = &worker.errors[0];
        assert_eq!((error.direction, error.errno), (Direction::Read, EILSEQ));
        let found = lines(&told);
        assert!(
            found.iter().any(|line| line.contains(expected_line)),
            "{expected_line} is not in {found:?}"
        );
        assert!(found[0].contains("file offset"), "{found:?}");
        assert!(outcome.failure.is_none(), "a peer's other jobs go on");
    }
}

#[test]
fn a_flipped_byte_is_found() {
    let flip = |at: u64| {
        move |file: &std::fs::File| {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        }
    };
    damaged(Checksum::Crc32c, flip(8192 + 2000), "bad checksum");
    damaged(Checksum::Sha3_256, flip(8192 + 4095), "bad checksum");
    damaged(Checksum::Md5, flip(8192 + 20), "bad header");
    damaged(Checksum::Meta, flip(8192), "bad header: magic");
}

#[test]
fn swapped_and_lost_blocks_are_found() {
    let swap = |file: &std::fs::File| {
        let (mut one, mut other) = ([0; 4096], [0; 4096]);
        file.read_exact_at(&mut one, 0).unwrap();
        file.read_exact_at(&mut other, 40960).unwrap();
        file.write_all_at(&other, 0).unwrap();
        file.write_all_at(&one, 40960).unwrap();
    };
    damaged(Checksum::XxHash, swap, "bad header offset");
    // A hole where data was, up to the old end: what a lost extent looks like.
    let lose = |file: &std::fs::File| {
        file.set_len(SIZE.get() / 2).unwrap();
        file.set_len(SIZE.get()).unwrap();
    };
    damaged(Checksum::Crc64, lose, "bad header: magic 00000000");
}

/// Stops the run once wrong data is told.
struct StopsAtWrongData<'a>(&'a StopFlag);

impl EventSink for StopsAtWrongData<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if matches!(event, Event::WrongData { .. }) {
            self.0.request();
        }
    }
}

/// What a job has found is told when it has ended, however long others of its stage go on.
#[test]
fn wrong_data_is_told_while_other_jobs_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let job = |verify| writer(&path, Backend::Sync, Caching::Buffered, verify);
    run_all(&[job(phase(Checksum::Crc32c, VerifyPhase::Never))], &[]);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"damage", 5000).unwrap();
    let checks = job(phase(Checksum::Crc32c, VerifyPhase::Only));
    let other = directory.path().join("other");
    std::fs::write(&other, vec![1; SIZE.get() as usize]).unwrap();
    let mut reads = common::job(&other, SIZE);
    reads.backend = Backend::Sync;
    reads.caching = Caching::Buffered;
    reads.existing = ExistingFiles::AsPeer;
    reads.limits = common::for_time(Nanos::from_secs(60));
    reads.features.rates = Some(DirectionRates {
        rates: [Some(Pacing::Iops(Iops::new(100))), None, None],
        poisson: Poisson::Fixed,
    });
    let workload = Workload {
        stages: vec![stage("both", vec![checks, reads])],
        seed: 1,
    };
    let stop = StopFlag::new();
    let mut sink = StopsAtWrongData(&stop);
    let outcome = run(&workload, &RunOptions::default(), &stop, &mut sink).unwrap();
    let ended = outcome.results[0].workers.iter().map(|it| it.ended);
    let ended: Vec<_> = ended.collect();
    assert_eq!(ended, [EndReason::Failed, EndReason::Interrupted]);
}

#[test]
fn a_job_that_goes_on_counts_every_wrong_block() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let dump = directory.path().join("dump");
    std::fs::create_dir(&dump).unwrap();
    let job = |verify| writer(&path, Backend::Sync, Caching::Buffered, verify);
    run_all(&[job(phase(Checksum::Sha1, VerifyPhase::Never))], &[]);
    let right = std::fs::read(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for block in [3, 5, 60] {
        file.write_all_at(b"damage", block * 4096 + 1000).unwrap();
    }
    let mut verify = phase(Checksum::Sha1, VerifyPhase::Only);
    verify.on_mismatch = OnMismatch::GoOn;
    verify.dump = Some(dump.display().to_string());
    let (outcome, told) = run_all(&[job(verify)], &[]);
    assert_eq!(counts(&outcome, 0), [BLOCKS, 0, 0]);
    let worker = &outcome.results[0].workers[0];
    assert_eq!((worker.ended, worker.errors[0].count), (EndReason::Done, 3));
    assert_eq!(
        worker.unissued[Direction::Write as usize],
        (BLOCKS, SIZE.get())
    );
    let bad = lines(&told);
    assert_eq!(
        bad.iter()
            .filter(|line| line.contains("bad checksum"))
            .count(),
        3
    );
    let saved = |kind: &str| std::fs::read(dump.join(format!("file.12288.{kind}"))).unwrap();
    let (received, expected) = (saved("received"), saved("expected"));
    assert_eq!(received[1000..1006], *b"damage");
    assert_eq!(received[..1000], expected[..1000]);
    assert_eq!(received[1006..], expected[1006..]);
    assert!(expected == right[12_288..16_384]);
}

/// Without a header that can be read a reader does not know what stood there, and makes nothing up.
#[test]
fn what_is_not_known_is_not_saved_as_expected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let job = |verify| writer(&path, Backend::Sync, Caching::Buffered, verify);
    run_all(&[job(phase(Checksum::Sha1, VerifyPhase::Never))], &[]);
    let right = std::fs::read(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for at in [3 * 4096, 5 * 4096 + 1000] {
        file.write_all_at(b"damage", at).unwrap();
    }
    let mut verify = phase(Checksum::Sha1, VerifyPhase::AfterPass);
    verify.seed = HeaderCheck::Ignored;
    verify.on_mismatch = OnMismatch::GoOn;
    verify.dump = Some(directory.path().display().to_string());
    let mut read = job(verify);
    read.mix = Mix::READ;
    let (_, told) = run_all(&[read], &[]);
    let is_there = |name: &str| directory.path().join(name).exists();
    assert!(is_there("file.12288.received") && !is_there("file.12288.expected"));
    assert!(is_there("file.20480.received"));
    let expected = std::fs::read(directory.path().join("file.20480.expected")).unwrap();
    assert!(expected == right[20_480..24_576]);
    let told = lines(&told);
    let unknown = told
        .iter()
        .filter(|line| line.contains("at 12288 is not known"));
    assert_eq!(unknown.count(), 1);
}

#[test]
fn a_native_job_with_wrong_data_fails_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    std::fs::write(&path, vec![1; SIZE.get() as usize]).unwrap();
    let verify = phase(Checksum::Crc32, VerifyPhase::AfterPass);
    let mut read = writer(&path, Backend::Sync, Caching::Buffered, verify);
    read.mix = Mix::READ;
    read.existing = ExistingFiles::OnlyOurs;
    let (outcome, told) = run_all(&[read], &[]);
    assert!(outcome.failure.is_some());
    assert_eq!(lines(&told).len(), 1);
}

#[test]
fn a_saved_state_is_loaded_by_the_next_job() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let state = directory.path().join("state").display().to_string();
    let job = |verify| writer(&path, Backend::IoUring, Caching::Direct, verify);
    let mut write = phase(Checksum::Md5, VerifyPhase::Never);
    write.save_state = Some(state.clone());
    let mut first = job(write);
    first.limits.ios = Some(20);
    run_all(&[first], &[]);
    let mut check = phase(Checksum::Md5, VerifyPhase::Only);
    check.load_state = Some(state.clone());
    let (outcome, told) = run_all(&[job(check.clone())], &[]);
    assert_eq!((counts(&outcome, 0), lines(&told).len()), ([20, 0, 0], 0));
    std::fs::write(&state, "something else").unwrap();
    let workload = common::workload(vec![job(check)]);
    let options = RunOptions::default();
    let error = run(&workload, &options, &StopFlag::new(), &mut Told::default()).unwrap_err();
    assert!(error.to_string().contains("no state"), "{error}");
    // Nothing is laid out for a job that cannot begin.
    std::fs::remove_file(&state).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = run(&workload, &options, &StopFlag::new(), &mut Told::default()).unwrap_err();
    assert!(error.to_string().contains("reading the state"), "{error}");
    assert!(!path.exists());
}

#[test]
fn blocks_written_twice_are_read_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let mut verify = Verify::new(Checksum::Crc64);
    (verify.sequence, verify.seed) = (HeaderCheck::Ignored, HeaderCheck::Ignored);
    let mut job = writer(&path, Backend::Libaio, Caching::Direct, verify);
    job.access = Access::Random {
        coverage: Coverage::Independent,
        run: 1,
    };
    job.limits.bytes = Some(Bytes::mib(1));
    let (outcome, told) = run_all(&[job], &[]);
    let [reads, writes, _] = counts(&outcome, 0);
    assert_eq!((writes, lines(&told).len()), (256, 0));
    assert!((40..=BLOCKS).contains(&reads), "{reads}");
}

#[test]
fn discarded_blocks_of_a_device_read_as_zeroes() {
    let device = LoopDevice::new(SIZE);
    for caching in [Caching::Direct, Caching::Buffered] {
        let mut verify = Verify::new(Checksum::Md5);
        verify.trims = Some(VerifyTrims {
            share: Percent::ALL,
            writes: 4,
            batch: 4,
            zero: TrimmedData::Zeroes,
        });
        let mut job = writer(device.path.as_ref(), Backend::Sync, caching, verify);
        job.targets[0].length = None;
        let (outcome, told) = run_all(&[job], &[device.name()]);
        assert_eq!(lines(&told), [""; 0]);
        assert_eq!(counts(&outcome, 0), [BLOCKS, BLOCKS, BLOCKS]);
    }
    let image = std::fs::read(device.image.path()).unwrap();
    assert!(image.iter().all(|byte| *byte == 0));
}

/// A job whose order of I/O no memory holds is refused before a stage ahead of it has written anything.
#[test]
fn an_order_that_cannot_be_kept_is_refused_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let [first, large] = ["first", "large"].map(|name| directory.path().join(name));
    let block = Bytes::new(512);
    let length = Bytes::new((block.get() << 29) + block.get());
    std::fs::File::create(&large)
        .unwrap()
        .set_len(length.get())
        .unwrap();
    let mut job = writer(
        &large,
        Backend::Sync,
        Caching::Buffered,
        Verify::new(Checksum::Crc32c),
    );
    job.mix = Mix::reads(Percent::whole(50).unwrap());
    job.block = fathom_workload::BlockSizes::uniform(block);
    job.targets[0].length = Some(length);
    job.features.rates = Some(DirectionRates {
        rates: [Some(Pacing::Iops(Iops::new(1000))), None, None],
        poisson: Poisson::Fixed,
    });
    let before = writer(
        &first,
        Backend::Sync,
        Caching::Buffered,
        Verify::new(Checksum::Crc32c),
    );
    let stages = [("before", before), ("large", job)].map(|(name, job)| stage(name, vec![job]));
    let workload = Workload {
        stages: stages.to_vec(),
        seed: 1,
    };
    let options = RunOptions {
        overwrite: Overwrite::Allowed,
        ..RunOptions::default()
    };
    let error = run(&workload, &options, &StopFlag::new(), &mut Told::default()).unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("536870913") && told.contains("larger blocks"),
        "{told}"
    );
    assert!(!first.exists());
}
