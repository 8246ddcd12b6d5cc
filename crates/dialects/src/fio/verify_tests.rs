//! Verification options and what they become.

use fathom_diagnostics::Diagnostics;
use fathom_units::{Bytes, Percent};
use fathom_workload::{
    Backlog, Checksum, HeaderCheck, OnMismatch, TrimmedData, Verify, VerifyPhase, VerifyRepeats,
    VerifyTrims, VerifyTrust,
};

use super::*;

/// A machine without files.
struct NoFiles;

impl Files for NoFiles {
    fn read_text(&self, _path: &str) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn status(&self, _path: &str) -> FileStatus {
        FileStatus::Missing
    }
}

fn read_line(line: &str) -> Result<FioInput, Diagnostics> {
    let context = ReadContext::of_system(&NoFiles);
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    read(&words, &context)
}

/// What the last job of a command line checks; jobs are of 1 MiB.
#[track_caller]
fn verify(line: &str) -> Option<Verify> {
    let input = read_line(&format!("--name=a --size=1m {line}"));
    let input = input.unwrap_or_else(|errors| panic!("{line}\n{errors}"));
    let (_, job) = input.workload.jobs().last().unwrap();
    job.features.verify.as_deref().cloned()
}

#[track_caller]
fn refuse(line: &str, message: &str) {
    let errors = read_line(&format!("--name=a --size=1m {line}")).unwrap_err();
    assert!(errors.to_string().contains(message), "{errors}");
}

#[test]
fn a_plain_check_has_the_defaults_of_fio() {
    assert_eq!(verify("--rw=write --verify=0"), None);
    assert_eq!(verify("--rw=randrw --rwmixread=100 --verify=md5"), None);
    assert!(verify("--rw=randread --verify=md5").is_some());
    assert_eq!(verify("--rw=write"), None);
    let dry_run = Verify {
        phase: VerifyPhase::Nothing,
        ..Verify::new(Checksum::Null)
    };
    assert_eq!(verify("--rw=write --verify_only"), Some(dry_run));
    assert_eq!(verify("--rw=read --verify_only"), None);
    // Names hold no data.
    assert_eq!(
        verify("--rw=write --verify=md5 --ioengine=filecreate"),
        None
    );
    assert!(verify("--rw=write --verify=md5 --ioengine=falloc").is_some());
    let expected = Verify {
        save_state: Some("local-a-0-verify.state".to_owned()),
        ..Verify::new(Checksum::Md5)
    };
    assert_eq!(verify("--rw=write --verify=md5"), Some(expected));
    let kind = |line| verify(line).unwrap().checksum;
    assert_eq!(kind("--rw=write --verify=crc32c-intel"), Checksum::Crc32c);
    assert_eq!(
        kind("--rw=write --verify_pattern=0xff"),
        Checksum::PatternHeader
    );
    assert_eq!(verify("--rw=write --verify=0 --verify_pattern=0xff"), None);
    // The second job's state bears its own number; a job that only reads saves none.
    let second = verify(
        "--rw=write --verify=md5 --aux-path=/tmp/x/ --name=b/c --size=1m --rw=write --verify=md5",
    );
    let state = second.unwrap().save_state;
    assert_eq!(state.as_deref(), Some("/tmp/x/local-b.c-1-verify.state"));
    let reader = verify("--rw=read --verify=md5 --verify_state_load=1").unwrap();
    assert_eq!(reader.save_state, None);
    assert_eq!(reader.load_state.as_deref(), Some("local-a-0-verify.state"));
}

/// Where nothing is compared, no pattern is missing, as in fio.
#[test]
fn a_pattern_is_wanted_where_data_are_compared() {
    for line in [
        "--rw=write --do_verify=0",
        "--rw=write --do_verify=0 --verify_backlog=4",
        "--rw=randrw --do_verify=0",
        "--rw=read --ioengine=null",
        "--rw=randwrite --ioengine=null",
        "--rw=randtrim",
        "--rw=read --create_only=1",
    ] {
        for kind in ["pattern", "pattern_hdr"] {
            let found = verify(&format!("--verify={kind} {line}")).unwrap();
            assert_eq!(found.checksum, Checksum::Null, "{kind} {line}");
        }
    }
    assert_eq!(
        verify("--rw=write --verify=pattern --ioengine=filecreate"),
        None
    );
    for line in [
        "--rw=read",
        "--rw=read --do_verify=0",
        "--rw=rw",
        "--rw=write",
    ] {
        let line = format!("--verify=pattern {line}");
        refuse(&line, "no pattern to compare with");
    }
}

#[test]
fn every_option_has_its_place() {
    let found = verify(
        "--rw=randwrite --verify=sha256 --verify_interval=512 --verify_offset=100 --verify_pattern=0xab \
         --verify_pattern_interval=64 --verify_fatal=1 --verify_dump=1 --verify_backlog=16 \
         --verify_backlog_batch=4 --experimental_verify=1 --verify_policy=fsynced --verify_state_save=0 \
         --trim_percentage=50 --trim_backlog=8 --trim_verify_zero=0 --verify_async=2",
    );
    let expected = Verify {
        interval: Some(Bytes::new(512)),
        header_offset: 100,
        pattern: fathom_workload::Pattern::new(vec![0xab], Vec::new()),
        pattern_interval: Some(Bytes::new(64)),
        on_mismatch: OnMismatch::EndAtOnce,
        dump: Some(".".to_owned()),
        backlog: Some(Backlog {
            writes: 16,
            batch: 4,
        }),
        repeats: VerifyRepeats::EachWrite,
        trust: VerifyTrust::Synced,
        seed: HeaderCheck::Ignored,
        trims: Some(VerifyTrims {
            share: Percent::whole(50).unwrap(),
            writes: 8,
            batch: 8,
            zero: TrimmedData::Anything,
        }),
        ..Verify::new(Checksum::Sha256)
    };
    assert_eq!(found, Some(expected));
    let phase = |line| verify(&format!("--verify=md5 {line}")).unwrap().phase;
    assert_eq!(phase("--rw=write --do_verify=0"), VerifyPhase::Never);
    assert_eq!(phase("--rw=write --verify_only"), VerifyPhase::Only);
    assert_eq!(
        phase("--rw=write --verify_only --do_verify=0"),
        VerifyPhase::Nothing
    );
    assert_eq!(phase("--rw=read --verify_only"), VerifyPhase::AfterPass);
}

/// Which fields are compared, as fio decides it: number, seed.
#[test]
fn what_is_uncertain_is_not_compared() {
    let check = |line: &str, number: bool, seed: bool| {
        let found = verify(&format!("--verify=md5 {line}")).unwrap();
        let compared = |it| it == HeaderCheck::Compared;
        let both = (compared(found.sequence), compared(found.seed));
        assert_eq!(both, (number, seed), "{line}");
    };
    check("--rw=write", true, true);
    check("--rw=randwrite --ioengine=libaio --iodepth=8", true, true);
    check("--rw=randwrite --norandommap", true, false);
    check(
        "--rw=randwrite --norandommap --ioengine=libaio --iodepth=8",
        false,
        false,
    );
    check("--rw=write --io_size=2m", true, false);
    check("--rw=write:4k", true, false);
    check("--rw=write --verify_backlog=4", true, false);
    check("--rw=write --verify_only", false, false);
    check(
        "--rw=write --verify_only --verify_write_sequence=1",
        true,
        false,
    );
    check("--rw=read", true, false);
    check("--rw=write --bssplit=4k/50:8k/50", false, true);
    check("--rw=write --time_based --runtime=1", false, true);
    check("--rw=write --verify_header_seed=0", true, false);
    // Each pass has seeds of its own: those of the last are known to the run that wrote it alone.
    let asked = "--verify_header_seed=1";
    check(&format!("--rw=write {asked} --loops=2"), true, true);
    check(&format!("--rw=read {asked}"), true, true);
    check(&format!("--rw=read {asked} --loops=2"), true, false);
    check(&format!("--rw=read {asked} --io_size=2m"), true, false);
    check(&format!("--rw=write --verify_only {asked}"), false, true);
    check(
        &format!("--rw=write --verify_only {asked} --loops=2"),
        false,
        false,
    );
}

#[test]
fn what_cannot_be_checked_is_refused() {
    refuse(
        "--rw=write --verify=bogus",
        "`bogus` is no value of `verify`",
    );
    refuse("--rw=write --verify=pattern", "no pattern to compare with");
    refuse(
        "--rw=write --verify=md5 --verify_interval=512 --verify_offset=500",
        "does not fit into 512 bytes",
    );
    refuse(
        "--rw=write --verify_policy=maybe",
        "`maybe` is no value of `verify_policy`",
    );
    refuse("--rw=write --verify_pattern=abc", "is no part of a pattern");
    refuse("--rw=write --verify_pattern='gone'", "gone");
    refuse(
        "--rw=read --verify=md5 --trim_percentage=50 --trim_backlog=1 --readonly",
        "under --readonly",
    );
}
