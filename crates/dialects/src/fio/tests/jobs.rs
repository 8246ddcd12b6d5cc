//! Readings of options of a job's I/O: its pattern, sizes, depth, limits and seeds.

use super::*;

#[test]
fn defaults_are_those_of_fio() {
    let job = job("");
    assert_eq!(
        (job.mix, job.depth, job.backend),
        (Mix::READ, 1, Backend::Sync)
    );
    assert_eq!(job.block.single_size(job.mix), Some(Bytes::kib(4)));
    assert_eq!(job.caching, Caching::Buffered);
    assert_eq!(job.contents, BufferContents::RandomStamped);
    assert_eq!(job.targets[0].place.path(), "j.0.0");
    assert_eq!(job.targets[0].length, Some(Bytes::mib(1)));
    assert!(job.drop_cache && !job.split_latency);
}

#[test]
fn options_reach_the_job() {
    check("rw=randwrite", |job| job.mix, Mix::WRITE);
    check(
        "rw=randrw\nrwmixread=70",
        |job| job.mix.read,
        Percent::whole(70).unwrap(),
    );
    check(
        "rw=rw\nrwmixwrite=70",
        |job| job.mix.read,
        Percent::whole(30).unwrap(),
    );
    for name in ["libaio", "aio", "linuxaio"] {
        check(
            &format!("ioengine={name}\niodepth=32"),
            |job| (job.backend, job.depth),
            (Backend::Libaio, 32),
        );
    }
    check("iodepth=32", |job| job.depth, 1);
    check("direct=1\nbuffered=1", |job| job.caching, Caching::Buffered);
    check("buffered=0", |job| job.caching, Caching::Direct);
    check("sync=dsync", |job| job.sync.open, OpenSync::Dsync);
    check("sync=1", |job| job.sync.open, OpenSync::Sync);
    check(
        "refill_buffers",
        |job| job.contents,
        BufferContents::RandomEachWrite,
    );
    check(
        "refill_buffers=0",
        |job| job.contents,
        BufferContents::RandomStamped,
    );
    check(
        "scramble_buffers=0",
        |job| job.contents,
        BufferContents::RandomOnce,
    );
    check("zero_buffers=1", |job| job.contents, BufferContents::Zeroes);
}

/// What all passes of a mix move together ends it where nothing is checked; where it is, their checks would count too.
#[test]
fn passes_of_an_unchecked_mix_end_together() {
    for (options, ios) in [
        ("rw=rw\nverify=md5\nloops=3", None),
        (
            "rw=rw\nverify=md5\ndo_verify=0\nloops=3\nnrfiles=3",
            Some(188),
        ),
        ("rw=rw\nverify=md5\nloops=3\nnumber_ios=9", Some(27)),
        ("rw=rw\nverify=md5", None),
        ("rw=rw\nloops=3", None),
        ("rw=randrw\nverify=md5\ndo_verify=0\nloops=3", None),
        ("rw=write\nverify=md5\ndo_verify=0\nloops=3", None),
        ("rw=rw:8k\nverify=md5\ndo_verify=0\nloops=3", None),
        ("rw=rw\nverify=md5\ndo_verify=0\nloops=3\nbs=8k,4k", None),
        (
            "rw=rw\nverify=md5\ndo_verify=0\nloops=3\nio_size=250k",
            None,
        ),
        (
            "rw=rw\nverify=md5\ndo_verify=0\nloops=3\ntime_based\nruntime=1",
            None,
        ),
    ] {
        check(
            &format!("bs=8k\nsize=500k\n{options}"),
            |job| job.limits.ios,
            ios,
        );
    }
}

#[test]
fn limits_and_durability_reach_the_job() {
    check(
        "runtime=2m\nramp_time=5",
        |job| job.limits.warmup,
        Nanos::from_secs(5),
    );
    check(
        "timeout=2m",
        |job| job.limits.runtime,
        Some(Nanos::from_secs(120)),
    );
    check(
        "runtime=5min",
        |job| job.limits.runtime,
        Some(Nanos::from_micros(5)),
    );
    check("number_ios=7", |job| job.limits.ios, Some(7));
    check("number_ios=7\nloops=3", |job| job.limits.ios, Some(21));
    check(
        "number_ios=7\ntime_based\nruntime=1",
        |job| job.limits.ios,
        None,
    );
    check("io_size=8k", |job| job.limits.bytes, Some(Bytes::kib(8)));
    check("loops=3", |job| job.limits.loops, 3);
    check(
        "fsync=16\nend_fsync=1",
        |job| (job.sync.fsync_every, job.sync.at_end),
        (16, true),
    );
    check(
        "file_service_type=random",
        |job| job.file_choice,
        FileChoice::Random,
    );
    check(
        "bs=${BLOCK}",
        |job| job.block.largest(job.mix),
        Bytes::kib(16),
    );
    check(
        "bs=$pagesize",
        |job| job.block.largest(job.mix),
        Bytes::kib(4),
    );
    check(
        "bs=1k ; and a comment # more",
        |job| job.block.largest(job.mix),
        Bytes::kib(1),
    );
    check(
        "bs=1k\nbs=2k",
        |job| job.block.largest(job.mix),
        Bytes::kib(2),
    );
    check(
        "bs=1\nio_size=2*$pagesize+4096/$ncpus-1",
        |job| job.limits.bytes,
        Some(Bytes::new(8192 + 1365 - 1)),
    );
    check("offset=64k", |job| job.targets[0].offset, Bytes::kib(64));
}

#[test]
fn orders_of_offsets() {
    let random = |coverage, run| Access::Random { coverage, run };
    check(
        "rw=randread",
        |job| job.access,
        random(Coverage::EachBlockOnce, 1),
    );
    check(
        "rw=randread:8",
        |job| job.access,
        random(Coverage::EachBlockOnce, 8),
    );
    check(
        "rw=randread\nnorandommap",
        |job| job.access,
        random(Coverage::Independent, 1),
    );
    check(
        "rw=randread\nba=512",
        |job| job.access,
        random(Coverage::Independent, 1),
    );
    check(
        "rw=randread\nba=512",
        |job| job.block.alignment,
        Some(Bytes::new(512)),
    );
    let share = |job: &Job| job.features.placement.as_ref().map(|rules| rules.random[0]);
    check(
        "rw=randread\npercentage_random=30",
        share,
        Percent::whole(30),
    );
    check("rw=randread", share, None);
    check(
        "rw=randread\nnorandommap\nrandom_generator=lfsr",
        |job| job.access,
        random(Coverage::EachBlockOnce, 1),
    );
    let gap = |job: &Job| match job.access {
        Access::Sequential { gap, .. } => Some(gap),
        _ => None,
    };
    check("rw=read:512k", gap, Some(Bytes::kib(512)));
    check("rw=write", gap, Some(Bytes::ZERO));
}

#[test]
fn shares_of_sizes() {
    let sizes = |job: &Job| -> Vec<(u64, u32)> {
        job.block
            .read
            .iter()
            .map(|entry| (entry.size.get(), entry.weight))
            .collect()
    };
    for options in ["bssplit=4k/60:8k/40", "bssplit=4k/60:8k/40\nbs=16k"] {
        check(options, sizes, vec![(4096, 60), (8192, 40)]);
    }
    check(
        "bssplit=4k/50:64k/:8k/",
        sizes,
        vec![(4096, 50), (65536, 25), (8192, 25)],
    );
    let written = |job: &Job| -> Vec<u64> {
        let entries = job.block.write.iter();
        entries.map(|entry| entry.size.get()).collect()
    };
    check("rw=rw\nbssplit=,8k/50:16k", sizes, vec![(4096, 1)]);
    check("rw=rw\nbssplit=,8k/50:16k", written, vec![8192, 16384]);
    check("rw=rw\nbssplit=16k,", written, vec![4096]);
    check_error(
        "[j]\nsize=1m\nbssplit=,\n",
        &["`` is no list of 1 to 64 sizes for `bssplit`"],
    );
    check("bs=4k,8k\nrw=randrw", sizes, vec![(4096, 1)]);
    check(
        "bs=4k,8k\nrw=randrw",
        |job| job.block.largest(job.mix),
        Bytes::kib(8),
    );
}

#[test]
fn seeds() {
    let seed = |options: &str| {
        read_text(&format!("[j]\nsize=1m\n{options}"))
            .unwrap()
            .workload
            .seed
    };
    assert_eq!(seed("randseed=42"), 42);
    assert_eq!(seed("randrepeat=0"), 99, "from the context");
    assert_eq!(seed("randrepeat=0\nrandseed=7"), 7);
}
