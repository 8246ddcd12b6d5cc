//! How many I/Os jobs do whose numbers follow from their options alone: as many as fio 3.42 did.

use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};

use super::*;

/// I/Os of the only job of `options`, drawn to their end.
fn ios(options: &str) -> u64 {
    let lines = format!("ioengine=null\n{}", options.replace(' ', "\n"));
    let job = job(&lines);
    let ranges: Vec<TargetRange> = job
        .targets
        .iter()
        .map(|target| TargetRange {
            offset: target.offset.get(),
            length: target.length.unwrap_or_default().get(),
        })
        .collect();
    let stream = WorkerStream::new(&job, StreamKey::default(), &ranges, &SharedCursor::new());
    let mut stream = stream.unwrap_or_else(|error| panic!("{options}: {error}"));
    let mut done = 0;
    while done < 10_000 && stream.next_io().is_some() {
        done += 1;
    }
    done
}

#[track_caller]
fn check(table: &[(&str, u64)]) {
    for (options, expected) in table {
        assert_eq!(ios(options), *expected, "{options}");
    }
}

#[test]
fn passes_end_where_those_of_fio_do() {
    check(&[
        ("size=30k", 7),
        ("size=30k loops=2", 14),
        ("size=64k io_size=100k", 25),
        ("size=64k io_size=20k loops=2", 10),
        ("size=64k io_size=50%", 8),
        ("size=64k io_size=100%", 16),
        ("size=64k io_size=0", 16),
        ("size=30k io_size=100k", 25),
        ("size=30k io_size=30k loops=2", 14),
        ("filesize=64k size=20k", 5),
        ("filesize=64k size=20k loops=2", 10),
        ("filesize=64k size=64k loops=2", 32),
        ("filesize=30k size=30k", 7),
        ("nrfiles=2 filesize=30k", 15),
        ("nrfiles=2 filesize=30k size=60k", 14),
        ("size=30k number_ios=5 loops=2", 10),
        ("size=64k number_ios=5 time_based", 5),
        ("size=64k create_only=1", 0),
        ("rw=rw size=30k io_size=61k", 16),
        ("rw=trim size=30k io_size=61k", 16),
        ("size=30k nrfiles=2 io_size=61k", 16),
    ]);
}

#[test]
fn random_passes_end_where_those_of_fio_do() {
    let zipf = "rw=randread size=64k file_service_type=zipf";
    check(&[
        ("rw=randread size=30k io_size=100k", 25),
        ("rw=randtrim size=30k io_size=61k loops=2", 21),
        ("rw=randread norandommap size=30k io_size=100k", 25),
        (
            "rw=randread norandommap size=30k io_size=100k iodepth=4",
            25,
        ),
        (
            "rw=randread norandommap size=64k iodepth=4 loops=3 io_size=10k",
            8,
        ),
        (
            "rw=randwrite norandommap size=64k loops=2 iodepth=4 io_size=20k",
            10,
        ),
        (
            "rw=randwrite norandommap size=64k loops=2 iodepth=4 io_size=150k",
            75,
        ),
        (
            "rw=randwrite norandommap size=30k io_size=100k iodepth=4",
            25,
        ),
        (
            &format!("{zipf} nrfiles=2 io_size=20k loops=2 iodepth=4"),
            10,
        ),
        (&format!("{zipf} nrfiles=2 io_size=100k"), 25),
        (&format!("{zipf} io_size=100k iodepth=4"), 25),
    ]);
}

#[test]
fn pairs_are_as_many_as_those_of_fio() {
    let random = "rw=randtrimwrite size=64k norandommap";
    check(&[
        ("rw=trimwrite size=64k", 32),
        ("rw=trimwrite size=66k", 32),
        ("rw=trimwrite size=64k loops=2", 64),
        ("rw=trimwrite size=66k loops=3", 96),
        ("rw=trimwrite size=64k io_size=128k", 32),
        ("rw=trimwrite size=64k io_size=132k loops=2", 64),
        ("rw=trimwrite size=64k io_size=20k", 10),
        ("rw=trimwrite size=64k io_size=300k", 96),
        ("rw=trimwrite size=66k io_size=30k loops=3", 46),
        ("rw=trimwrite size=64k number_ios=5", 10),
        ("rw=trimwrite size=64k number_ios=5 io_size=300k", 10),
        ("rw=trimwrite size=64k io_size=128k iodepth=4", 32),
        ("rw=trimwrite size=64k iodepth=4 loops=3 io_size=65k", 96),
        ("rw=trimwrite size=64k nrfiles=2 io_size=100k", 32),
        ("rw=trimwrite size=64k nrfiles=2 io_size=200k loops=2", 64),
        ("rw=randtrimwrite size=64k io_size=128k", 32),
        (random, 32),
        (&format!("{random} loops=2"), 64),
        (&format!("{random} iodepth=4"), 32),
        (&format!("{random} iodepth=4 loops=3"), 96),
        (&format!("{random} iodepth=4 loops=2 io_size=130k"), 130),
        (&format!("{random} number_ios=9"), 18),
    ]);
}

/// Bytes of a pass, and the passes, of jobs whose checks this machine need not do.
#[test]
fn passes_that_are_verified_are_as_long_as_those_of_fio() {
    for (options, bytes, loops) in [
        ("rw=write size=64k io_size=100k do_verify=0", None, 1),
        (
            "rw=write size=64k io_size=20k do_verify=0 loops=2",
            Some(20),
            2,
        ),
        (
            "rw=write size=64k io_size=64k do_verify=0 loops=2",
            Some(64),
            2,
        ),
        ("rw=write size=64k io_size=30k do_verify=0", Some(32), 1),
        ("rw=read size=64k io_size=200k do_verify=0", None, 1),
        ("rw=write size=64k io_size=100k", Some(100), 1),
        (
            "rw=write size=64k io_size=100k do_verify=0 loops=2",
            Some(100),
            2,
        ),
    ] {
        let lines = format!("verify=md5\n{}", options.replace(' ', "\n"));
        let limits = job(&lines).limits;
        let expected = (bytes.map(Bytes::kib), loops);
        assert_eq!((limits.bytes, limits.loops), expected, "{options}");
    }
}
