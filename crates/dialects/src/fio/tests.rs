//! Readings of whole inputs. `tests/real_fio.rs` sets many of the same beside fio's own.

use std::collections::BTreeMap;
use std::io;

use fathom_diagnostics::Severity;
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, Backend, Between, BufferContents, Caching, Coverage, FileChoice, Job, Mix,
    OpenSync, Pacing, Poisson,
};

use super::*;

mod files;
mod pacing;
mod placement;
mod process;
mod taken;

/// Job files by path, and what else is there.
#[derive(Default)]
struct Memory {
    texts: BTreeMap<String, String>,
    statuses: BTreeMap<String, FileStatus>,
}

impl Files for Memory {
    fn read_text(&self, path: &str) -> io::Result<String> {
        self.texts
            .get(path)
            .cloned()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn status(&self, path: &str) -> FileStatus {
        self.statuses
            .get(path)
            .copied()
            .unwrap_or(FileStatus::Missing)
    }

    fn list(&self, directory: &str, _: usize) -> io::Result<Vec<String>> {
        Ok(self.below(directory))
    }
}

impl Memory {
    fn below(&self, directory: &str) -> Vec<String> {
        let inside = |path: &&String| {
            path.strip_prefix(directory)
                .is_some_and(|it| it.starts_with('/'))
        };
        self.statuses.keys().filter(inside).cloned().collect()
    }
}

fn environment(name: &str) -> Option<String> {
    match name {
        "BLOCK" => Some("16k".to_owned()),
        _ => None,
    }
}

fn read_in(files: &Memory, arguments: &[&str]) -> Result<FioInput, Diagnostics> {
    let context = ReadContext {
        files,
        environment,
        entropy: 99,
        page_size: Bytes::kib(4),
        processors: 3,
        memory_mib: 1000,
    };
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    read(&arguments, &context)
}

fn read_text(text: &str) -> Result<FioInput, Diagnostics> {
    let mut files = Memory::default();
    files.texts.insert("job.fio".to_owned(), text.to_owned());
    read_in(&files, &["job.fio"])
}

/// The only job of a file with these options.
#[track_caller]
fn job(options: &str) -> Job {
    let text = format!("[j]\nsize=1m\n{options}\n");
    let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    input.workload.stages[0].jobs[0].clone()
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "calls are a table, and read better without `&`"
)]
fn check<T: PartialEq + std::fmt::Debug>(options: &str, of: impl Fn(&Job) -> T, expected: T) {
    assert_eq!(of(&job(options)), expected, "{options}");
}

/// The messages of all errors, in order.
#[track_caller]
fn errors_of(text: &str) -> Vec<String> {
    let found = read_text(text).expect_err("the input must be refused");
    let errors = found
        .0
        .into_iter()
        .filter(|it| it.severity == Severity::Error);
    errors.map(|error| error.message).collect()
}

#[track_caller]
fn check_error(text: &str, expected: &[&str]) {
    assert_eq!(errors_of(text), expected, "{text}");
}

#[track_caller]
fn check_warning(options: &str, expected: &[&str]) {
    let text = format!("[j]\nsize=1m\n{options}\n");
    let input = read_text(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let warnings: Vec<_> = input
        .warnings
        .0
        .iter()
        .map(|it| it.message.as_str())
        .collect();
    assert_eq!(warnings, expected, "{options}");
}

#[track_caller]
fn paths(text: &str) -> Vec<String> {
    let input = read_text(text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    let targets = input.workload.jobs().flat_map(|(_, job)| &job.targets);
    targets
        .map(|target| target.place.path().to_owned())
        .collect()
}

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
    check("bssplit=4k/60:8k/40", sizes, vec![(4096, 60), (8192, 40)]);
    check(
        "bssplit=4k/50:64k/:8k/",
        sizes,
        vec![(4096, 50), (65536, 25), (8192, 25)],
    );
    check("bs=4k,8k\nrw=randrw", sizes, vec![(4096, 1)]);
    check(
        "bs=4k,8k\nrw=randrw",
        |job| job.block.largest(job.mix),
        Bytes::kib(8),
    );
}

#[test]
fn names_and_sizes_of_files() {
    let path = |options: &str| paths(&format!("[j]\nsize=1m\n{options}\n"));
    assert_eq!(path("directory=/mnt"), ["/mnt/j.0.0"]);
    assert_eq!(path("nrfiles=2"), ["j.0.0", "j.0.1"]);
    assert_eq!(
        path("filename=a:b\ndirectory=/mnt:/other"),
        ["/mnt/a", "/mnt/b"]
    );
    assert_eq!(path("filename_format=$jobname-$jobnum.$filenum"), ["j-0.0"]);
    // Clones stand in fio's order, the last one first after the first.
    assert_eq!(path("numjobs=4"), ["j.0.0", "j.3.0", "j.2.0", "j.1.0"]);
    assert_eq!(path("numjobs=2\ndirectory=/a:/b"), ["/a/j.0.0", "/b/j.1.0"]);
    assert_eq!(path("numjobs=2\nfilename=/dev/x"), ["/dev/x", "/dev/x"]);
    let lengths = |job: &Job| -> Vec<_> {
        job.targets
            .iter()
            .map(|target| target.length.map(Bytes::get))
            .collect()
    };
    check("nrfiles=2", lengths, vec![Some(524_288); 2]);
    check(
        "filename=a:b:c\nsize=40k",
        lengths,
        vec![Some(13_653), Some(13_653), Some(13_653)],
    );
    check(
        "nrfiles=3\nsize=44k",
        lengths,
        vec![Some(15_018), Some(15_018), Some(15_018)],
    );
    check("nrfiles=2\nfilesize=64k", lengths, vec![Some(65_536); 2]);
    let drawn = job("nrfiles=3\nfilesize=64k-1m");
    let sizes: Vec<_> = lengths(&drawn).into_iter().flatten().collect();
    assert!(sizes.iter().all(|size| (65_536..=1_048_576).contains(size)));
    assert!(sizes.iter().any(|size| *size != sizes[0]), "{sizes:?}");
    check("nrfiles=3\nfilesize=64k,1m", lengths, lengths(&drawn));
    check("nrfiles=2\nfilesize=64k,", lengths, vec![Some(65_536); 2]);
    check(
        "nrfiles=2\nfilesize=64k\nsize=96k",
        |job| job.limits.bytes,
        Some(Bytes::kib(96)),
    );
}

#[test]
fn parts_of_files_that_exist() {
    let mut files = Memory::default();
    files
        .statuses
        .insert("big".to_owned(), FileStatus::Regular(Bytes::mib(10)));
    files.statuses.insert(
        "/dev/here".to_owned(),
        FileStatus::Special(Some(Bytes::gib(1))),
    );
    let target = |arguments: &[&str]| {
        let input = read_in(&files, arguments).unwrap_or_else(|errors| panic!("{errors}"));
        input.workload.stages[0].jobs[0].targets[0].clone()
    };
    assert_eq!(target(&["--name=a", "--filename=big"]).length, None);
    let half = target(&["--name=a", "--filename=big", "--size=50%"]);
    assert_eq!(half.length, Some(Bytes::mib(5)));
    // A file in the range of sizes keeps its own; one outside it gets another.
    let within = target(&["--name=a", "--filename=big", "--filesize=8m-12m"]);
    assert_eq!(within.length, Some(Bytes::mib(10)));
    let outside = target(&["--name=a", "--filename=big", "--filesize=64k-1m"]);
    assert!(outside.length.unwrap() <= Bytes::mib(1));
    let end = target(&["--name=a", "--filename=big", "--offset=50%", "--size=100%"]);
    assert_eq!((end.offset, end.length), (Bytes::mib(5), None));
    assert_eq!(target(&["--name=/dev/here"]).place.path(), "/dev/here");
    // A device of a design need not exist on this machine.
    assert_eq!(target(&["--name=a", "--filename=/dev/sdz"]).length, None);
}

#[test]
fn sections_inherit_and_group() {
    let text = "[global]\nsize=1m\niodepth=4\nioengine=io_uring\n[a]\nnumjobs=2\n[b]\nstonewall\n\
                [c]\niodepth=8\n[global]\nbs=8k\n[d]\nnew_group\ngroup_reporting\n[a]\nstonewall";
    let input = read_text(text).unwrap();
    let stages: Vec<_> = input
        .workload
        .stages
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(stages, ["a", "b", "a (2)"]);
    let shape = input.workload.jobs().map(|(stage, job)| {
        (
            stage,
            job.name.as_str(),
            job.group.id,
            job.depth,
            job.block.largest(job.mix).get(),
        )
    });
    let expected = [
        (0, "a", 0, 4, 4096),
        (0, "a", 0, 4, 4096),
        (1, "b", 1, 4, 4096),
        (1, "c", 1, 8, 4096),
        (1, "d", 2, 4, 8192),
        (2, "a", 3, 4, 8192),
    ];
    assert_eq!(shape.collect::<Vec<_>>(), expected);
    let mut salts: Vec<_> = input.workload.jobs().map(|(_, job)| job.salt).collect();
    salts.sort_unstable();
    salts.dedup();
    assert_eq!(salts.len(), 6, "no two jobs draw alike");
    assert_eq!(input.workload.seed, 0x89);
}

#[test]
fn command_lines() {
    let mut files = Memory::default();
    files.texts.insert(
        "job.fio".to_owned(),
        "[j]\nsize=1m\nbs=2k\n[k]\nsize=2m\n".to_owned(),
    );
    files
        .texts
        .insert("more.fio".to_owned(), "[m]\nsize=1m\n".to_owned());
    let shape = |arguments: &[&str]| -> Vec<(usize, String, u64)> {
        let input = read_in(&files, arguments).unwrap_or_else(|errors| panic!("{errors}"));
        let jobs = input.workload.jobs();
        jobs.map(|(stage, job)| (stage, job.name.clone(), job.block.largest(job.mix).get()))
            .collect()
    };
    let expected = vec![(0, "j".to_owned(), 2048), (0, "k".to_owned(), 8192)];
    assert_eq!(shape(&["--bs=8k", "job.fio"]), expected);
    assert_eq!(shape(&["job.fio", "--bs", "8k"]), expected);
    assert_eq!(shape(&["-bs=8k", "--section=k", "job.fio"]), expected[1..]);
    let files_apart = shape(&["--bs=8k", "job.fio", "more.fio"]);
    assert_eq!(
        files_apart[2],
        (1, "m".to_owned(), 4096),
        "a second file starts from defaults"
    );
    let jobs = shape(&["--size=1m", "--name=x", "--bs=1k", "--name=y"]);
    assert_eq!(jobs, [(0, "x".to_owned(), 1024), (0, "y".to_owned(), 4096)]);
    let input = read_in(
        &files,
        &["--output-form=json,normal", "--output", "o", "job.fio"],
    )
    .unwrap();
    assert_eq!(
        input.output.formats,
        [OutputFormat::Json, OutputFormat::Normal]
    );
    assert_eq!(input.output.file.as_deref(), Some("o"));
    for (arguments, action) in [
        (&["--version"][..], Action::Version),
        (&["--parse-only", "job.fio"], Action::ParseOnly),
        (
            &["--enghelp=libaio"],
            Action::EngineHelp(Some("libaio".to_owned())),
        ),
        (&["--cmdhelp"], Action::CommandHelp(None)),
        (
            &["--showcmd", "job.fio"],
            Action::ShowCommand("fio --name=j --size=1m --bs=2k --name=k --size=2m \n".to_owned()),
        ),
        // A command line that is one already is not shown, and above all not run.
        (
            &["--name=x", "--size=1m", "--showcmd"],
            Action::ShowCommand(String::new()),
        ),
        // fio has no use for it any more, whatever is written there.
        (
            &["--max-jobs=1", "--name=x", "--size=1m", "--numjobs=3"],
            Action::Run,
        ),
        (&["--max-jobs=0", "--name=x", "--size=1m"], Action::Run),
    ] {
        assert_eq!(
            read_in(&files, arguments).unwrap().action,
            action,
            "{arguments:?}"
        );
    }
}

#[test]
fn traps_are_told() {
    check_warning("bs=4k", &[]);
    check_warning(
        "bs=4KiB",
        &["`bs=4KiB` is read as 4,000 bytes, as fio does"],
    );
    check_warning(
        "bs = 512k",
        &["`bs= 512k` is read as 512 bytes, as fio does"],
    );
    check_warning(
        "runtime=5min",
        &["`runtime=5min` is read as 5 µs, as fio does"],
    );
    check_warning(
        "runtime=00:01",
        &["`runtime=00:01` is read as 0 ns, as fio does"],
    );
    check_warning(
        "rw=write\nthinktime=5-7",
        &["`thinktime=5-7` is read as 5 µs, as fio does"],
    );
    for (option, expected) in [
        (
            "log_entries=1023",
            "`log_entries=1023` is out of range: 1024 to 1,048,576",
        ),
        (
            "log_compression=0",
            "`log_compression=0` is out of range: 1024 to 536,870,912",
        ),
    ] {
        check_error(&format!("[j]\nsize=1m\n{option}\n"), &[expected]);
    }
    check_warning("log_entries=1024\nlog_compression=512m", &[]);
    let drawn = "job `j`: `blockalign` other than the block size turns off the random map";
    check_warning("rw=randread\nba=8k", &[drawn]);
    check_warning("rw=randread\nba=4k", &[]);
    check_warning("rw=randread\nba=8k\nnorandommap", &[]);
    check_warning("rw=read\nba=8k", &[]);
    check_warning("block=8k", &["`block` has no effect in a job, in fio too"]);
    check_warning("kb_base=1000\nbs=4KiB", &[]);
    check_warning("iodepth=8\nioengine=null", &[]);
    check_warning(
        "iodepth=8",
        &["job `j`: `iodepth=8` has no effect with the synchronous engine `psync`"],
    );
    check_warning(
        "time_based",
        &["job `j`: `time_based` requires a runtime, and has no effect without one"],
    );
}

#[test]
fn all_errors_come_at_once_with_their_place() {
    let text = "[j]\nrw=randreed\nfrobnicate=1\niodepth=many\ngpu_dev_id=1\nmmap=1\n";
    let found = read_text(text).unwrap_err();
    let shown: Vec<_> = found
        .0
        .iter()
        .map(|it| {
            let place = it.location.as_ref().unwrap();
            (
                it.message.as_str(),
                place.line,
                &place.text[place.span.clone()],
            )
        })
        .collect();
    let expected = [
        ("`randreed` is no value of `rw`", 2, "randreed"),
        ("fio has no option `frobnicate`", 3, "frobnicate=1"),
        ("`many` is no number for `iodepth`", 4, "many"),
        (
            "option `gpu_dev_id` is known to fio, but not built yet",
            5,
            "1",
        ),
        ("fio has no option `mmap`", 6, "mmap=1"),
    ];
    assert_eq!(shown, expected);
    assert_eq!(found.0[0].hint.as_deref(), Some("did you mean `randread`?"));
}

#[test]
fn numbers_that_fio_refuses_are_refused() {
    check_error(
        "[j]\nsize=1m\ndirect=0x10\n",
        &["`direct=0x10` is out of range: 0 or 1"],
    );
    for option in [
        "bs=8z",
        "iodepth=1z",
        "runtime=1z",
        "startdelay=1z",
        "nice=1z",
    ] {
        let text = format!("[j]\nsize=1m\n{option}\n");
        let expected = format!("`{option}`: `z` counts zones, which this option has none of");
        check_error(&text, &[&expected]);
    }
}

#[test]
fn what_fio_refuses_is_refused() {
    check_error(
        "bs=4k\n[j]\nsize=1m\n",
        &["option `bs=4k` stands outside of a [section]"],
    );
    check_error(
        "\u{feff}[j]\nsize=1m\n",
        &["the file begins with a byte order mark, which is part of its first line"],
    );
    check_error("[j]\nrw=read\n", &["job `j`: you need to specify size="]);
    check_error(
        "[j]\nfilesize=8k-4k\n",
        &["`filesize` ends below its beginning"],
    );
    check_error(
        "[j]\nioengine=null\n",
        &["job `j`: you need to specify size="],
    );
    check_error(
        "[j]\nsize=1k\n",
        &["job `j`: size too small: 1024 bytes, less than one block of 4096"],
    );
    check_error(
        "[j]\nsize=1m\nbs=${UNSET}\n",
        &["option `bs` has an empty value"],
    );
    check_error(
        "[j]\nsize=1m\ndirect\n",
        &["option `direct` requires a value"],
    );
    check_error(
        "[j]\nsize=1m\ndirect=2\n",
        &["`direct=2` is out of range: 0 or 1"],
    );
    check_error("[j]\nsize=1m\nRW=read\n", &["fio has no option `RW`"]);
    check_error(
        "[j]\nsize=1m\nrwmixread=101\n",
        &["`rwmixread=101` is out of range: 0 to 100"],
    );
    check_error(
        "[j]\nsize=1m\nrate=1m\nrate_iops=9\n",
        &["job `j`: `rate` and `rate_iops` are mutually exclusive"],
    );
    check_error(
        "[j]\nsize=1m\nioengine=libaio\nfixedbufs=1\n",
        &["engine `libaio` has no option `fixedbufs`"],
    );
    check_error(
        "[j]\nsize=1m\nioengine=nbd\nuri=nbd://host\n",
        &[
            "engine `nbd` is not carried: it needs libnbd; attach the export with nbd-client and name the device",
        ],
    );
    check_error(
        "[j]\nsize=1m\nioengine=nul\n",
        &["`nul` is no value of `ioengine`"],
    );
    check_error(
        "[j]\nsize=1m\nnumjobs=5000\n",
        &["more than 4096 jobs, clones counted"],
    );
    check_error("[global]\nrw=read\n", &["no jobs defined"]);
    check_error(
        "[j]\nsize=1m\ninclude absent\n",
        &["unable to open included file `absent`: entity not found"],
    );
    let long = format!("[j]\nsize=1m\n{}\n", "a".repeat(9000));
    check_error(&long, &["the line is longer than 8 KiB"]);
}

#[test]
fn defaults_of_options_that_are_not_built_are_taken() {
    for options in [
        "verify=0",
        "zonemode=none",
        "thinktime=0",
        "mem=malloc",
        "io_submit_mode=inline",
    ] {
        check(options, |job| job.depth, 1);
    }
}

#[test]
fn readonly_refuses_writes() {
    let files = Memory::default();
    let refused = read_in(
        &files,
        &["--readonly", "--name=a", "--size=1m", "--rw=write"],
    );
    assert!(refused.unwrap_err().0[0].message.contains("--readonly"));
    // As in fio, whether anything is to be run or not.
    let words = ["--readonly", "--name=a", "--size=1m", "--parse-only"];
    assert!(read_in(&files, &words).is_ok());
    let refused = read_in(&files, &[&words[..], &["--rw=trim"]].concat());
    assert!(refused.unwrap_err().0[0].message.contains("--readonly"));
}

#[test]
fn includes_are_found_beside_the_including_file() {
    let mut files = Memory::default();
    files.texts.insert(
        "dir/a.fio".to_owned(),
        "[j]\ninclude b.inc\nbs=2k\n".to_owned(),
    );
    files.texts.insert(
        "dir/b.inc".to_owned(),
        "# shared\nsize=1m\nrw=write\n".to_owned(),
    );
    let input = read_in(&files, &["dir/a.fio"]).unwrap();
    assert_eq!(input.workload.stages[0].jobs[0].mix, Mix::WRITE);
    let rw = input.provenance.iter().find(|it| it.key == "rw").unwrap();
    assert_eq!(rw.origin.to_string(), "dir/b.inc:3");
    files
        .texts
        .insert("loop.fio".to_owned(), "[j]\ninclude loop.inc\n".to_owned());
    files
        .texts
        .insert("loop.inc".to_owned(), "include loop.inc\n".to_owned());
    let endless = read_in(&files, &["loop.fio"]).unwrap_err();
    assert_eq!(
        endless.0[0].message,
        "`include` is nested more than 16 deep"
    );
}

#[test]
fn meta_keeps_what_was_typed() {
    let text =
        "[global]\nioengine=null\nsize=64m\n[a]\nreadwrite=randread\ntime_based\nruntime=2\n";
    let input = read_text(text).unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        input.global_options,
        [pair("ioengine", "null"), pair("size", "64m")]
    );
    let expected = [
        pair("rw", "randread"),
        pair("time_based", ""),
        pair("runtime", "2"),
    ];
    assert_eq!(input.jobs[0].options, expected);
    assert_eq!(input.jobs.len(), input.workload.jobs().count());
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

#[test]
fn job_files_are_told_by_content() {
    for text in [
        "[global]\nsize=30g\ndirect=1\n[a]\nrw=randread\n",
        "; comment\n\n[j]\nrw=randreed\nfrobnicate=1\niodepth=many\n",
        "[j]\nrw=read # why not\n",
    ] {
        assert!(looks_like_job_file(text), "{text}");
    }
    for text in [
        "",
        "[target]\npath = \"/mnt\"\nsize = \"20GiB\"\n",
        "[[stage]]\nname = \"a\"\n",
        "wd=w1,sd=sd*,rdpct=100\n",
        "[settings]\ncolor=red\nfont=mono\n",
    ] {
        assert!(!looks_like_job_file(text), "{text}");
    }
}

/// A row that says "built" and that nothing reads would panic.
#[test]
fn every_built_option_is_read() {
    let built = table::rows().filter(|row| row.support == table::Support::Built);
    let mut count = 0;
    for row in built {
        for value in ["1", "none", "4k/50:8k"] {
            let text = format!("[j]\nsize=1m\n{}={value}\n", row.name);
            let unknown = |it: &Diagnostics| it.to_string().contains("fio has no option");
            assert!(!read_text(&text).is_err_and(|it| unknown(&it)), "{text}");
        }
        count += 1;
    }
    assert!(count >= 55, "{count} options are built");
}

#[test]
fn files_may_add_up_to_more_than_can_be_counted() {
    let options = ["--name=a", "--filesize=4000p", "--nrfiles=9", "--size=1g"];
    let input = read_in(&Memory::default(), &options).unwrap();
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!(job.targets.len(), 9);
    assert_eq!(job.limits.bytes, Some(Bytes::gib(1)));
}
