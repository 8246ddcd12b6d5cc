//! Counts of I/Os and bytes beside those of the real fio, which must be installed: for jobs whose counts follow from their
//! options alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use fathom_dialects::fio::{self, ReadContext, SystemFiles};
use fathom_workload::generator::{SharedCursor, StreamKey, TargetRange, WorkerStream};
use fathom_workload::{Job, Workload};

/// I/Os and bytes by direction.
type Counts = BTreeMap<&'static str, (u64, u64)>;

/// The jobs here end far below this.
const IOS_MAX: u64 = 100_000;

fn of_fio(arguments: &[&str]) -> Counts {
    // It leaves the states of its checks where it runs.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a folder");
    let run = Command::new("fio")
        .args(arguments)
        .arg("--output-format=json")
        .current_dir(folder.path())
        .output();
    let output = run.expect("these tests need fio: install the package `fio`");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let start = text
        .find('{')
        .unwrap_or_else(|| panic!("{arguments:?}: {text}"));
    let document: serde_json::Value =
        serde_json::from_str(&text[start..]).expect("fio's document is JSON");
    let mut counts = Counts::new();
    for job in document["jobs"].as_array().expect("there are jobs") {
        for way in ["read", "write", "trim"] {
            let number = |key: &str| job[way][key].as_u64().expect("counts are numbers");
            if number("total_ios") > 0 {
                let count = counts.entry(way).or_default();
                count.0 += number("total_ios");
                count.1 += number("io_bytes");
            }
        }
    }
    counts
}

fn read(arguments: &[&str]) -> Workload {
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    let read = fio::read(&arguments, &ReadContext::of_system(&SystemFiles));
    read.unwrap_or_else(|it| panic!("{arguments:?}\n{it}"))
        .workload
}

fn stream(job: &Job, index: usize) -> WorkerStream {
    let ranges: Vec<TargetRange> = job
        .targets
        .iter()
        .map(|target| TargetRange {
            offset: target.offset.get(),
            length: target.length.expect("every size is given").get(),
        })
        .collect();
    let key = StreamKey {
        job: index as u32,
        ..StreamKey::default()
    };
    let stream = WorkerStream::new(job, key, &ranges, &SharedCursor::new());
    stream.expect("the job has a stream")
}

fn count(job: &Job, index: usize, counts: &mut Counts) {
    let mut stream = stream(job, index);
    let mut done = 0;
    while let Some(io) = stream.next_io() {
        let count = counts.entry(io.direction.name()).or_default();
        count.0 += 1;
        count.1 += u64::from(io.length);
        done += 1;
        assert!(done < IOS_MAX, "the stream does not end");
    }
}

fn of_ours(arguments: &[&str]) -> Counts {
    let workload = read(arguments);
    let mut counts = Counts::new();
    for (index, (_, job)) in workload.jobs().enumerate() {
        count(job, index, &mut counts);
    }
    counts
}

#[track_caller]
fn check(engine: &[&str], options: &str) {
    let mut arguments = vec!["--name=j"];
    arguments.extend(engine);
    arguments.extend(options.split_whitespace());
    assert_eq!(of_ours(&arguments), of_fio(&arguments), "{arguments:?}");
}

#[test]
fn counts_are_those_of_fio() {
    for options in [
        "--rw=read --size=30k",
        "--rw=randread --size=30k",
        "--rw=randread --size=30k --norandommap",
        "--rw=read --size=1m --io_size=10k",
        "--rw=write --bs=4k,8k --size=96k --io_size=50k",
        "--rw=read --bs=8k,4k --size=96k --io_size=200k --loops=2",
        "--rw=write --bs=4k,16k --size=96k --io_size=40k --loops=3",
        "--rw=read --size=1m --io_size=10k --loops=2",
        "--rw=randread --size=1m --io_size=10k --loops=3",
        "--rw=read --size=8k --io_size=30k",
        "--rw=write --size=8k --io_size=30k",
        "--rw=read:8k --size=1m",
        "--rw=read:4k --size=1m",
        "--rw=read:-8k --size=1m",
        "--rw=read:8k --size=1m --io_size=1m",
        "--rw=read:8k --size=1m --loops=2",
        "--rw=write:12k --size=1m --io_size=3m",
        "--rw=read:4k --size=1m --offset=512k",
        "--rw=read:-8k --size=1m --offset=512k",
        "--rw=randread:4 --size=1m",
        "--rw=randread:4 --size=1m --norandommap",
        "--rw=randread:3 --rw_sequencer=identical --size=1m",
        "--rw=randread --size=1m --percentage_random=50",
        "--rw=randread --size=1m --percentage_random=0",
        "--rw=randread --size=1m --random_distribution=zipf:1.1",
        "--rw=randread --size=1m --random_distribution=pareto:0.3",
        "--rw=randread --size=1m --random_distribution=normal:20",
        "--rw=randread --size=1m --random_distribution=zoned:60/10:40/90",
        "--rw=randread --size=1m --random_distribution=zoned_abs:60/100k:40/900k",
        "--rw=randread --size=1m --nrfiles=3",
        "--rw=read --size=1m --nrfiles=3",
        "--rw=read --size=1m --nrfiles=3 --file_service_type=random:4",
        "--rw=randread --size=1m --nrfiles=3 --file_service_type=roundrobin:5",
        "--rw=randread --bs=4k --ba=512 --size=1m",
        "--rw=read --zonemode=strided --zonesize=64k --zonerange=128k --zoneskip=64k --size=1m",
        "--rw=randread --zonemode=strided --zonesize=64k --zonerange=128k --size=1m",
        "--rw=write --zonemode=strided --zonesize=64k --zoneskip=64k --size=1m --bs=16k",
        "--rw=read --bs_is_seq_rand=1 --bs=4k,16k --size=1m",
        "--rw=randread --norandommap --random_generator=lfsr --size=1m",
        "--rw=randwrite --size=1m --bssplit=4k/50:6k/50",
        "--rw=randread --size=1m --number_ios=7 --loops=3",
        "--rw=read --filesize=1m --size=2m --nrfiles=4",
        "--rw=randwrite --filesize=64k --nrfiles=4 --io_size=1000k",
        "--rw=read --size=1m --io_size=2500k --bs=48k",
        "--rw=randread --size=1m --io_size=2500k --bs=48k",
        "--rw=write --size=1m --io_size=2500k --bs=48k",
        "--rw=randread --size=33k --io_size=200k --bs=16k",
        "--rw=randread --size=80k --io_size=200k --bs=16k",
        "--rw=read --size=33k --io_size=200k --bs=16k",
        "--rw=write --size=33k --io_size=200k --bs=16k",
        "--rw=randread --size=33k --io_size=100k --loops=2 --bs=16k",
        "--rw=randwrite --size=66k --nrfiles=2 --io_size=200k --bs=16k",
        "--rw=randread --size=33k --io_size=200k --bs=16k --norandommap",
        "--rw=randread --size=33k --io_size=20k --bs=16k",
        "--rw=read --size=33k --io_size=42k --bs=16k",
        "--rw=read:4k --size=33k --io_size=50000",
        "--rw=read:4k --size=33k --io_size=52000",
        "--rw=read:4k --size=33k --io_size=2000",
        "--rw=write:4k --size=33k --io_size=50000",
        "--rw=read:-4k --size=33k --io_size=50000",
    ] {
        check(&["--ioengine=null"], options);
    }
}

/// Passes of what `verify` stands beside, and nothing checks.
#[test]
fn passes_that_are_not_checked_are_those_of_fio() {
    for options in [
        "--rw=read --size=100k --io_size=300k --verify=md5 --do_verify=0",
        "--rw=randread --size=100k --io_size=300k --verify=md5 --do_verify=0",
        "--rw=trim --size=100k --io_size=300k --verify=md5 --do_verify=0",
        "--rw=read --size=100k --io_size=60k --verify=md5 --do_verify=0",
        "--rw=write:4k --size=64k --io_size=300k --verify=md5 --do_verify=0",
        "--rw=write --zonemode=strided --zonesize=16k --zoneskip=16k --size=64k --io_size=300k \
         --verify=md5 --do_verify=0",
        "--rw=randwrite --norandommap --size=64k --io_size=300k --verify=md5 --do_verify=0",
        "--rw=randwrite --norandommap --size=1m --io_size=2m --loops=2 --bs=8k --iodepth=4 \
         --verify=md5 --do_verify=0",
    ] {
        check(&["--ioengine=null"], options);
    }
}

/// Where nothing is checked and nothing loops, fio does not forget which files it is done with: no pass follows one that went
/// through all of them, whatever `io_size` says.
#[test]
fn files_that_are_done_are_so_for_good_where_nothing_is_checked() {
    for rw in [
        "read",
        "write",
        "randread",
        "randwrite",
        "trim",
        "trimwrite",
        "randtrimwrite",
    ] {
        for size in ["64k", "126k --nrfiles=2"] {
            for engine in ["--iodepth=1", "--iodepth=4", "--iodepth=1 --verify=md5"] {
                let options = format!("--rw={rw} --size={size} --io_size=300k {engine}");
                check(&["--ioengine=null", "--do_verify=0"], &options);
            }
        }
    }
    // fio 3.33 ends behind a pass here; 3.42 goes on.
    let queued =
        "--name=j --ioengine=null --iodepth=4 --rw=write --size=64k --io_size=300k --verify=md5";
    let mut arguments: Vec<&str> = queued.split(' ').collect();
    arguments.push("--do_verify=0");
    assert_eq!(of_ours(&arguments)["write"], (75, 300 << 10));
    for options in [
        "--rw=read:4k --size=500k --nrfiles=2 --io_size=2m",
        "--rw=read:4k --size=64k --io_size=300k",
        "--rw=read:-2k --size=62k --io_size=300k",
        "--rw=write:2k --size=62k --io_size=300k",
        "--rw=randread:4 --size=64k --io_size=300k",
        "--rw=randread:3 --size=64k --io_size=300k",
        "--rw=randwrite --norandommap --size=62k --io_size=300k",
        "--rw=randread --percentage_random=0 --size=62k --io_size=300k",
        "--rw=write --bs=4k,8k --size=64k --io_size=300k",
        "--rw=read --zonemode=strided --zonesize=8k --zonerange=16k --size=64k --io_size=300k",
        "--rw=read --size=62k --io_size=300k --loops=2",
        "--rw=read --size=62k --io_size=40k",
    ] {
        for engine in ["--iodepth=1", "--iodepth=4"] {
            check(&["--ioengine=null", "--do_verify=0", engine], options);
        }
    }
}

/// Reads and trims beside a `verify` go on for as long as `size` leaves room for a block, as in 3.42: bytes of each. 3.33 does not.
#[test]
fn passes_beside_a_check_go_on_while_there_is_room() {
    for (options, bytes) in [
        ("--rw=randread --nrfiles=2 --size=500k", 500 << 10),
        ("--rw=read --nrfiles=2 --size=500k", 500 << 10),
        ("--rw=read --nrfiles=2 --size=500k --do_verify=0", 496 << 10),
        ("--rw=randread --nrfiles=2 --size=500k --loops=2", 992 << 10),
        ("--rw=read --nrfiles=2 --size=500k --bs=64k", 512 << 10),
        (
            "--rw=randread --nrfiles=3 --size=500k --bs=64k --number_ios=7",
            448 << 10,
        ),
        ("--rw=trim --nrfiles=2 --size=500k --bs=64k", 512 << 10),
        (
            "--rw=read --nrfiles=2 --filesize=250k --offset=8k",
            484 << 10,
        ),
        ("--rw=read:4k --nrfiles=2 --size=500k", 500 << 10),
        // What ends a run ends no pass here, which has room for all four of each block.
        (
            "--rw=randread:4 --nrfiles=2 --size=500k --loops=2",
            1000 << 10,
        ),
        (
            "--rw=randread --nrfiles=2 --size=500k --bsrange=4k-8k",
            496 << 10,
        ),
        (
            "--rw=read --zonemode=strided --zonesize=20k --zonerange=40k --zoneskip=20k --size=500k",
            500 << 10,
        ),
    ] {
        for depth in ["1", "4"] {
            let depth = format!("--iodepth={depth}");
            let mut arguments = vec!["--name=j", "--ioengine=null", "--verify=null", &depth];
            arguments.extend(options.split_whitespace());
            let moved: u64 = of_ours(&arguments).values().map(|(_, bytes)| bytes).sum();
            assert_eq!(moved, bytes, "{arguments:?}");
        }
    }
}

/// `size` below that of the files says how much is done in all, and the I/O that reaches it is still done whole.
#[test]
fn parts_of_files_are_those_of_fio() {
    for options in [
        "--rw=write --filesize=128k --size=100k --bs=5000",
        "--rw=write --filesize=128k --size=100k --bs=3k --loops=4",
        "--rw=randread --filesize=128k --size=100k --bs=5000 --loops=3",
        "--rw=write --filesize=64k --nrfiles=3 --size=100k --bs=3k --loops=2",
        "--rw=write:4k --filesize=128k --size=99k",
        "--rw=read --filesize=250k --offset=8k --nrfiles=2",
        "--rw=read --filesize=250k --size=1m --offset=8k --nrfiles=2 --loops=2",
    ] {
        check(&["--ioengine=null"], options);
    }
}

/// fio takes a file that no one opens to have its share of `size`.
#[test]
fn offsets_in_percent_are_those_of_fio() {
    for options in [
        "--rw=read:4k --size=64k --offset=25%",
        "--rw=read:4k --size=64k --offset=25% --filesize=64k",
        "--rw=read --size=64k --offset=25% --filesize=128k",
        "--rw=write:8k --size=64k --offset=10% --nrfiles=3",
        "--rw=read:4k --size=64k --offset_increment=25% --numjobs=3",
    ] {
        check(&["--ioengine=null"], options);
    }
}

/// Files that `filesize` alone gives a size, and that no one opens, have no end: the last block of a walk in order counts whole.
#[test]
fn files_without_an_end_are_those_of_fio() {
    for options in [
        "--rw=read --filesize=10k",
        "--rw=write --filesize=200k --bs=16k",
        "--rw=read --filesize=30k --nrfiles=2",
        "--rw=read --filesize=10k --loops=2",
        "--rw=write --filesize=10k --loops=3 --nrfiles=3",
        "--rw=read --filesize=10k --size=10k",
        "--rw=read --filesize=10k --size=8k",
        "--rw=read --filesize=10k --size=20k",
        "--rw=read --filesize=10k --io_size=30k",
        "--rw=trimwrite --filesize=10k",
        "--rw=read:4k --filesize=10k",
        "--rw=read:4k --filesize=64k",
        "--rw=read:-4k --filesize=10k",
        "--rw=read:3 --filesize=9k",
        "--rw=randread --filesize=33k",
        "--rw=randread --filesize=10k --norandommap",
    ] {
        check(&["--ioengine=null"], options);
    }
}

#[test]
fn pairs_of_trim_and_write_are_those_of_fio() {
    for options in [
        "--rw=trimwrite --size=1m",
        "--rw=randtrimwrite --size=1m",
        "--rw=randtrimwrite --size=1m --norandommap",
        "--rw=trimwrite --size=1m --bs=4k,4k,16k",
        "--rw=trimwrite --size=1m --bs=4k,16k,4k",
        "--rw=trimwrite --size=1m --bs=4k,12k,16k --nrfiles=2",
        "--rw=trimwrite --size=1m --bs=4k,4k,16k --loops=2",
        "--rw=trimwrite --size=1m --bs=4k,8k,16k --io_size=512k",
        "--rw=trimwrite --size=1m --bs=4k,8k,16k --io_size=2m",
        "--rw=trimwrite --size=64k --io_size=300k",
        "--rw=trimwrite --size=1m --bs=4k,16k,4k --io_size=3m",
        "--rw=randtrimwrite --size=96k --io_size=256k",
        "--rw=trimwrite --size=64k --io_size=300k --verify=md5 --do_verify=0",
        "--rw=trimwrite --size=64k --io_size=131k",
        "--rw=trimwrite --size=64k --io_size=132k",
        "--rw=trimwrite:4k --size=64k --io_size=100k",
        "--rw=trimwrite --size=64k --io_size=300k --zonemode=strided --zonesize=16k --zoneskip=16k",
    ] {
        check(&["--ioengine=null"], options);
    }
}

/// At offsets that may repeat nothing ends a pass but its limits, of which engines that queue their I/Os have one more.
#[test]
fn pairs_that_may_repeat_are_those_of_fio() {
    for options in [
        "--size=1m --io_size=2m",
        "--size=1m --io_size=1500k",
        "--size=1m --io_size=2m --loops=2",
        "--size=1m --io_size=2m --iodepth=4",
        "--size=1m --io_size=2m --iodepth=4 --loops=3",
        "--size=1m --loops=2 --iodepth=4",
        "--size=96k --bs=16k --loops=2",
        "--size=30k --io_size=50k --bs=3k",
        "--size=96k --io_size=32k --loops=3 --bs=16k",
        "--size=1m --io_size=2m --number_ios=5",
        "--size=96k --io_size=150k --loops=2 --bs=3k",
        "--size=25k --iodepth=4",
        "--size=27k --iodepth=4",
        "--size=1m --filesize=64k --nrfiles=2 --iodepth=4",
        "--size=64k --io_size=300k --loops=2 --verify=md5 --do_verify=0",
        "--size=64k --io_size=100k --iodepth=4 --verify=md5 --do_verify=0",
        "--size=128k --io_size=300k --loops=2 --iodepth=4",
        "--size=100k --io_size=50k --loops=3 --iodepth=4",
        "--size=102k --io_size=300k",
        "--size=102k --io_size=302k --iodepth=4",
        "--size=101k --io_size=50k --loops=3",
    ] {
        let options = format!("--rw=randtrimwrite --norandommap {options}");
        check(&["--ioengine=null"], &options);
    }
    for options in [
        "--rw=randtrimwrite --size=64k --io_size=50k --loops=2",
        "--rw=trimwrite --size=64k --io_size=50k --loops=2",
        "--rw=randtrimwrite --size=96k --bs=3k --io_size=2m --percentage_random=0",
        "--rw=randtrimwrite --size=100k --bs=3k --io_size=200k --loops=3 --percentage_random=0",
    ] {
        check(&["--ioengine=null"], options);
    }
    for depth in ["", " --iodepth=4"] {
        let options = "--rw=randtrimwrite --size=1m --random_distribution=zipf:1.1 --io_size=2m";
        check(&["--ioengine=null"], &format!("{options}{depth}"));
    }
}

/// As many are written where it is checked; how many of them the checks read follows from the draws.
#[test]
fn checked_pairs_that_may_repeat_are_those_of_fio() {
    for options in [
        "--size=128k --io_size=300k",
        "--size=128k --io_size=302k --iodepth=4",
        "--size=128k --io_size=50k --loops=2",
        "--size=128k --io_size=300k --iodepth=4",
        "--size=128k --io_size=300k --loops=2 --iodepth=4",
        "--size=100k --io_size=128k --loops=2",
        "--size=100k --loops=2",
        "--size=100k",
    ] {
        let options = format!("--rw=randtrimwrite --norandommap --verify=crc32c {options}");
        let mut arguments = vec!["--name=j", "--ioengine=null"];
        arguments.extend(options.split_whitespace());
        let [ours, of_fio] = [of_ours(&arguments), of_fio(&arguments)];
        assert_eq!(ours["write"], of_fio["write"], "{options}");
    }
}

/// Sizes are other random draws, but all bytes are moved, and none twice.
#[test]
fn differing_sizes_move_the_bytes_that_fio_moves() {
    for options in [
        "--rw=randread --size=1m --bssplit=4k/50:16k/50",
        "--rw=randread --size=1m --bsrange=4k-64k",
        "--rw=randtrimwrite --size=1m --bsrange=512-4k",
        "--rw=trimwrite --size=1m --bssplit=512/25:1k/:2k/:4k/",
        "--rw=randread --size=1m --loops=3 --bssplit=4k/50:8k/50",
    ] {
        let mut arguments = vec!["--name=j", "--ioengine=null"];
        arguments.extend(options.split_whitespace());
        let bytes = |counts: Counts| -> BTreeMap<&str, u64> {
            let bytes = counts.into_iter();
            bytes.map(|(way, (_, bytes))| (way, bytes)).collect()
        };
        assert_eq!(
            bytes(of_ours(&arguments)),
            bytes(of_fio(&arguments)),
            "{options}"
        );
    }
}

/// In a file that is larger than the job, the last block may end past `size`.
#[test]
fn larger_files_give_their_last_block_whole() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("counts.{}", std::process::id()));
    let name = format!("--filename={}", path.display());
    for options in [
        "--rw=read --size=30k",
        "--rw=randread --size=30k",
        "--rw=randread --size=30k --norandommap",
        "--rw=read:8k --size=1m",
        "--rw=read:4k --size=1m",
        "--rw=read:-8k --size=1m",
        "--rw=read --size=1m --offset=512k",
        "--rw=read:4k --size=1m --offset=512k",
        "--rw=write --size=1m --io_size=2500k",
    ] {
        std::fs::write(&path, vec![0; 8 << 20]).expect("the temporary directory is writable");
        check(&["--ioengine=psync", &name], options);
    }
    std::fs::remove_file(&path).expect("the file is there");
}

/// One that is not as long gives whole blocks alone, and `size` is the most that all of them give.
#[test]
fn long_files_among_short_ones_give_their_last_block_whole() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = |name: &str| folder.join(format!("{name}.{}", std::process::id()));
    let paths = ["long.1", "long.2", "long.3", "short"].map(path);
    for (taken, options) in [
        (2..4, "--rw=read --size=20000"),
        (2..4, "--rw=write --size=20000 --loops=2"),
        (2..4, "--rw=read --filesize=10000"),
        (0..3, "--rw=read --filesize=10000 --offset=4096"),
        (0..3, "--rw=write --filesize=10000 --loops=2"),
        (0..4, "--rw=read --size=40000"),
        (0..4, "--rw=write --size=40000 --loops=2"),
        (0..3, "--rw=read --size=30000"),
        (0..3, "--rw=write --size=30000 --loops=2"),
        (0..3, "--rw=write --size=30000 --io_size=50000"),
        (0..1, "--rw=write --size=30000 --loops=2"),
        (0..4, "--rw=read:4k --size=40000"),
        (2..4, "--rw=randread --size=20000"),
    ] {
        for (path, bytes) in paths.iter().zip([40_960, 40_960, 40_960, 10_000]) {
            std::fs::write(path, vec![0; bytes]).expect("the temporary directory is writable");
        }
        let taken: Vec<String> = paths[taken]
            .iter()
            .map(|it| it.display().to_string())
            .collect();
        let name = format!("--filename={}", taken.join(":"));
        check(&["--ioengine=psync", &name], options);
    }
    for path in paths {
        std::fs::remove_file(path).expect("the file is there");
    }
}

/// Rounds over a file, and what is left of `io_size` after them, go by the direction.
#[test]
fn rounds_that_io_size_begins_are_those_of_fio() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("rounds.{}", std::process::id()));
    let name = format!("--filename={}", path.display());
    for rw in [
        "write",
        "read",
        "randwrite",
        "randread",
        "trimwrite",
        "write --nrfiles=3 --filesize=24k",
        "write --overwrite=1",
        "randwrite --percentage_random=0",
        "randread --percentage_random=0",
        "randwrite --percentage_random=0 --norandommap",
    ] {
        for (loops, io_size) in [(1, "65k"), (1, "96k"), (2, "96k"), (3, "200k")] {
            let options = format!("--size=64k --rw={rw} --io_size={io_size} --loops={loops}");
            let one = [name.as_str()];
            let of_one: &[&str] = if rw.contains("nrfiles") { &[] } else { &one };
            let engine = [&["--ioengine=null"], of_one].concat();
            check(&engine, &options);
        }
    }
}

/// Offsets that may repeat, and files drawn by rank, have rounds without an end: engines that queue I/Os end them at `size`.
#[test]
fn rounds_without_an_end_are_those_of_fio() {
    let queued = ["--ioengine=null", "--iodepth=4"];
    for options in [
        "--rw=randread --size=1m --nrfiles=2 --file_service_type=gauss --io_size=2m --loops=2",
        "--rw=randread --size=300k --nrfiles=3 --file_service_type=zipf --io_size=700k --loops=2",
        "--rw=randwrite --size=100k --nrfiles=3 --file_service_type=pareto --io_size=300k --loops=2",
        "--rw=randread --size=1m --norandommap --io_size=2m --loops=2",
        "--rw=randread --size=100k --norandommap --io_size=60k --loops=3",
        "--rw=randwrite --size=1m --norandommap --io_size=2m --loops=2",
        "--rw=randread --size=1m --random_distribution=zipf:1.2 --io_size=2m --loops=2",
        "--rw=randwrite --size=1m --random_distribution=zipf:1.2 --io_size=2500k --loops=2",
    ] {
        let options = format!("{options} --bs=8k");
        check(&queued[..1], &options);
        check(&queued, &options);
    }
    // Rounds of a single file, and of files drawn evenly, end.
    for options in [
        "--nrfiles=2 --file_service_type=random --io_size=2m",
        "--file_service_type=zipf --io_size=1500k",
    ] {
        let options = format!("--rw=randread --size=1m --bs=8k --loops=2 {options}");
        check(&queued, &options);
    }
}

/// What is appended is so once, whatever says how often, unless offsets may repeat or go backwards.
#[test]
fn bytes_are_appended_once() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("appended.{}", std::process::id()));
    let name = format!("--filename={}", path.display());
    for options in [
        "--rw=write --size=64k --loops=3",
        "--rw=write --size=64k --io_size=256k",
        "--rw=write --size=64k --time_based --runtime=10",
        "--rw=write --size=100k --bs=16k --loops=2",
        "--rw=write --size=128k --io_size=32k --loops=2",
        "--rw=write:4k --size=128k --bs=16k --loops=3",
        // A walk backwards begins again at the end of what it wrote.
        "--rw=write:-8k --size=64k --loops=3",
        "--rw=write:-4k --size=64k --io_size=256k --loops=2",
        "--rw=write:-8k --size=64k --loops=3 --zonemode=strided --zonesize=16k --zonerange=32k",
        "--rw=randwrite --size=64k --loops=2",
        "--rw=randwrite --size=64k --io_size=128k",
        "--rw=randwrite:4 --size=64k --loops=3",
        "--rw=randwrite:4 --size=64k --io_size=128k",
        "--rw=randwrite --norandommap --size=64k --loops=2",
        "--rw=randwrite --norandommap --size=64k --io_size=128k",
    ] {
        std::fs::write(&path, vec![0; 65_536]).expect("the temporary directory is writable");
        // fio's own run comes second.
        check(&["--ioengine=psync", "--file_append=1", &name], options);
    }
    std::fs::remove_file(path).expect("the file is there");
}

/// No I/O begins behind the end of a file that the part in use is not all of.
#[test]
fn zones_end_with_their_files() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let paths =
        ["zoned.1", "zoned.2"].map(|it| folder.join(format!("{it}.{}", std::process::id())));
    for path in &paths {
        std::fs::write(path, vec![0; 1_000_000]).expect("the temporary directory is writable");
    }
    let names = paths.each_ref().map(|it| it.display().to_string());
    let name = format!("--filename={}", names.join(":"));
    for rw in ["read", "randwrite"] {
        let rw = format!("--rw={rw}");
        let zones = "--zonemode=strided --zonesize=20k --zonerange=40k --zoneskip=20k --size=500k";
        let mut arguments = vec!["--name=j", "--ioengine=psync", &name, &rw, "--offset=300k"];
        arguments.extend(zones.split_whitespace());
        let workload = read(&arguments);
        let job = &workload.stages[0].jobs[0];
        let mut stream = stream(job, 0);
        let mut done = 0;
        while let Some(io) = stream.next_io() {
            assert!(
                io.offset + u64::from(io.length) <= 1_000_000,
                "{rw}: {io:?}"
            );
            done += 1;
            assert!(done < IOS_MAX, "the stream does not end");
        }
        assert!(done > 0, "{rw}");
    }
    for path in paths {
        std::fs::remove_file(path).expect("the file is there");
    }
}

/// Passes by zones end within a zone that reaches past the end, and go round for ever where there is none.
#[test]
fn passes_by_zones_are_those_of_fio() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("zones.{}", std::process::id()));
    let name = format!("--filename={}", path.display());
    for options in [
        "--rw=read --size=96k --zonesize=20k --zoneskip=8k --io_size=400k --loops=2",
        "--rw=write --size=200k --zonesize=20k --io_size=400k --loops=2 --offset=16k",
        "--rw=read --size=70k --zonesize=8k --zonerange=32k --io_size=150k --loops=3",
        "--rw=write --size=20k --zonesize=16k --zonerange=8k --io_size=100k",
    ] {
        let options = format!("{options} --zonemode=strided");
        for engine in ["psync", "libaio"] {
            check(&[&format!("--ioengine={engine}"), &name], &options);
            std::fs::remove_file(&path).expect("fio made the file");
        }
    }
}

/// Passes with gaps, or that go back over some bytes, end where no file has a place for the next I/O; `loops` and `io_size` say
/// how many there are, and both how much they move at most.
#[test]
fn passes_with_gaps_are_those_of_fio() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("gaps.{}", std::process::id()));
    let name = format!("--filename={}", path.display());
    for (there, options) in [
        (
            0,
            "--rw=write:12k --bs=16k --size=33k --io_size=300k --loops=3",
        ),
        (
            64,
            "--rw=write:16k --bs=16k --size=100k --io_size=300k --loops=3",
        ),
        (
            0,
            "--rw=write:16k --bs=4k --size=60k --io_size=96k --loops=2 --offset=32k --overwrite=1",
        ),
        (
            0,
            "--rw=write:-4k --bs=8k --size=128k --io_size=300k --loops=3",
        ),
        (
            64,
            "--rw=read:-8k --bs=16k --size=64k --io_size=256k --loops=2",
        ),
        (64, "--rw=read:-8k --bs=16k --size=64k --loops=2"),
        (256, "--rw=write:-4k --bs=16k --size=33k --loops=3"),
        (256, "--rw=read:12k --bs=8k --size=100k"),
        (256, "--rw=read:4k --bs=16k --size=33k --loops=2"),
        (64, "--rw=read:2k --bs=16k --size=60k --loops=3"),
        (
            0,
            "--rw=write:12k --bs=4k --size=60k --io_size=48k --loops=2 --file_append=1",
        ),
        (
            0,
            "--rw=write:4k --bs=8k --size=33k --io_size=128k --loops=3 --file_append=1",
        ),
        (
            256,
            "--rw=write:8k --bs=4k --size=60k --io_size=32k --file_append=1",
        ),
        (
            64,
            "--rw=write:2k --bs=4k --size=64k --io_size=64k --loops=3 --file_append=1",
        ),
        (
            64,
            "--rw=write:16k --bs=16k --size=64k --io_size=64k --loops=3 --file_append=1",
        ),
        (
            256,
            "--rw=write:16k --bs=16k --size=128k --io_size=128k --file_append=1",
        ),
    ] {
        for engine in ["psync", "libaio"] {
            std::fs::write(&path, vec![0; there << 10])
                .expect("the temporary directory is writable");
            if there == 0 {
                std::fs::remove_file(&path).expect("the file is there");
            }
            check(&[&format!("--ioengine={engine}"), &name], options);
        }
    }
    std::fs::remove_file(&path).expect("the file is there");
}

/// File and offset of each I/O, as fio's `write_iolog` has them.
fn order_of_fio(arguments: &[&str], log: &Path) -> Vec<(u32, u64)> {
    let run = Command::new("fio")
        .args(arguments)
        .arg(format!("--write_iolog={}", log.display()))
        .output();
    let output = run.expect("these tests need fio: install the package `fio`");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = std::fs::read_to_string(log).expect("fio wrote its log");
    let line = |line: &str| {
        let [_, name, "read" | "write", offset, _] =
            line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let number = name.rsplit('.').next()?.parse();
        Some((number.ok()?, offset.parse().ok()?))
    };
    // fio would add its next log to this one.
    std::fs::remove_file(log).expect("the log is there");
    text.lines().filter_map(line).collect()
}

/// Which file comes next, and where in it, follows from the options alone for jobs that read or write in order.
#[test]
fn files_take_turns_as_in_fio() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let log = folder.join(format!("order.{}.log", std::process::id()));
    for options in [
        "--rw=read --size=48k --nrfiles=4",
        "--rw=read --size=48k --nrfiles=4 --openfiles=2",
        "--rw=read --size=52k --nrfiles=4 --openfiles=2",
        "--rw=read --size=80k --nrfiles=5 --openfiles=3",
        "--rw=read --size=48k --nrfiles=4 --openfiles=1 --loops=2",
        "--rw=read --size=48k --nrfiles=4 --openfiles=9",
        "--rw=read --size=48k --nrfiles=4 --openfiles=2 --file_service_type=roundrobin:2",
        "--rw=read --size=48k --nrfiles=4 --openfiles=3 --file_service_type=roundrobin:5",
        "--rw=read --size=48k --nrfiles=4 --openfiles=2 --file_service_type=sequential",
        "--rw=read --size=48k --nrfiles=4 --openfiles=2 --io_size=96k",
        "--rw=read:4k --size=96k --nrfiles=4 --openfiles=2",
        "--rw=read --size=96k --nrfiles=4 --zonemode=strided --zonesize=8k --zoneskip=4k",
        "--rw=read --size=96k --nrfiles=4 --openfiles=2 --zonemode=strided --zonesize=8k",
        "--rw=read --size=96k --nrfiles=4 --openfiles=1 --zonemode=strided --zonesize=8k --zoneskip=4k",
    ] {
        let mut arguments = vec!["--name=j", "--ioengine=null"];
        arguments.extend(options.split_whitespace());
        let workload = read(&arguments);
        let (_, job) = workload.jobs().next().expect("there is a job");
        let mut stream = stream(job, 0);
        let ours = std::iter::from_fn(|| stream.next_io()).take(IOS_MAX as usize);
        let ours: Vec<(u32, u64)> = ours.map(|io| (io.target, io.offset)).collect();
        assert_eq!(ours, order_of_fio(&arguments, &log), "{options}");
    }
}
