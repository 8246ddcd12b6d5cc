//! What is written says the workload, or tells what it does not say.

mod clones;
mod diskspd_profiles;
mod iometer_files;
mod vdbench_files;
mod workloads;

use fathom_diagnostics::Diagnostics;
use fathom_workload::{Workload, native, preset, validate};
use proptest::prelude::*;

use self::workloads::workloads;
use super::*;

/// A native file with one job of these keys.
fn one_job(keys: &str) -> Workload {
    let text = format!(
        "target = {{ path = \"/d/f\", size = \"1GiB\" }}\n[[stage]]\nname = \"a\"\nmeasure = \"10s\"\n\
         [[stage.job]]\nexisting = \"as-peer\"\n{keys}\n"
    );
    native::read(&text, "test")
        .unwrap_or_else(|errors| panic!("{errors}"))
        .0
}

/// The text without comments, on one line.
fn body(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with(['#', '*']) && !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

fn told(converted: &Converted) -> Vec<String> {
    converted.losses.iter().map(Loss::to_string).collect()
}

#[track_caller]
fn check(to: Dialect, keys: &str, says: &[&str], tells: &[&str]) {
    let converted = convert(&one_job(keys), to, "test");
    let text = body(&converted.text);
    for part in says {
        assert!(
            format!(" {text} ").contains(&format!(" {part} ")),
            "{keys}: no {part} in\n{}",
            converted.text
        );
    }
    let told = told(&converted);
    for part in tells {
        assert!(
            told.iter().any(|line| line.contains(part)),
            "{keys}: {part} is not told\n{}",
            converted.text
        );
        assert!(
            converted.text.contains(part),
            "{part} is no comment\n{}",
            converted.text
        );
    }
    let lost = told.iter().filter(|line| line.starts_with("lost:"));
    let expected = tells.iter().filter(|line| line.starts_with("lost:"));
    assert_eq!(
        lost.count(),
        expected.count(),
        "{keys}:\n{}",
        converted.text
    );
}

#[test]
fn fio_lays_out_or_lets_grow() {
    let check = |keys: &str, says: &str, tells: &[&str]| check(Dialect::Fio, keys, &[says], tells);
    check("mix = \"write\"", "overwrite=1", &[]);
    for (grows, says) in [
        ("nothing", "fallocate=none"),
        ("keep-size", "fallocate=keep"),
        ("truncate", "fallocate=truncate"),
        ("allocate", "rw=randwrite"),
    ] {
        let keys = format!("mix = \"write\"\nfiles = {{ grows = \"{grows}\" }}");
        check(&keys, says, &[]);
        let fio = convert(&one_job(&keys), Dialect::Fio, "test");
        assert!(!fio.text.contains("overwrite"), "{}", fio.text);
        let note = format!("note: job `a`: files.grows: `{grows}` becomes nothing");
        let diskspd = convert(&one_job(&keys), Dialect::Diskspd, "test");
        let told = told(&diskspd);
        assert!(told.iter().any(|line| line.starts_with(&note)), "{told:?}");
    }
    check(
        "mix = \"write\"\nfiles = { grows = true }",
        "fallocate=none",
        &["lost: job `a`: files.grows: `true` becomes `nothing`"],
    );
}

#[test]
fn fio_says_what_it_can() {
    let check = |keys, says: &[&str], tells: &[&str]| check(Dialect::Fio, keys, says, tells);
    check(
        "depth = 32\nblock = \"8KiB\"",
        &[
            "ioengine=io_uring",
            "iodepth=32",
            "bs=8k",
            "direct=1",
            "rw=randread",
            "filename=/d/f",
            "size=1g",
            "runtime=10s",
            "time_based=1",
        ],
        &["note: job `a`: salt"],
    );
    check(
        "mix = { read = \"70%\", write = \"30%\" }",
        &["rw=randrw", "rwmixread=70", "refill_buffers=1"],
        &[],
    );
    check(
        "mix = { read = \"70.5%\", write = \"29.5%\" }",
        &["rwmixread=71"],
        &["lost: job `a`: mix.read", "lost: job `a`: mix.write"],
    );
    check(
        "access = \"independent\"\ndrop_cache = false",
        &["norandommap=1", "invalidate=0"],
        &[],
    );
    check(
        "workers = 4\ncontents = \"zeroes\"\nmix = \"write\"",
        &["numjobs=4", "zero_buffers=1"],
        &["note: job `a`: workers"],
    );
    check(
        "arrival = { rate = \"200/s\", process = \"poisson\" }",
        &["rate_iops=200", "rate_process=poisson"],
        &[],
    );
    check(
        "access = { kind = \"sequential\", scope = \"shared\" }",
        &["rw=read"],
        &["lost: job `a`: access: jobs of fio share no position"],
    );
    check(
        "host = \"vm1\"",
        &[],
        &["lost: job `a`: host: `vm1` becomes nothing: fio runs a job file on another machine"],
    );
    check(
        "target = \"/d/a;b\"",
        &[],
        &["lost: job `a`: target: fio cannot name `/d/a;b`"],
    );
    check(
        "target = { directory = \"/d\", size = \"1MiB\" }",
        &["filename=/d/fathom-1-0-0.dat", "unlink=1"],
        &["note: job `a`: target: a fresh file"],
    );
    check(
        "verify = \"crc32c\"\nmix = \"write\"",
        &["verify=crc32c", "verify_state_save=0"],
        &[],
    );
}

/// Work in place of I/O is said without a word of I/O, and nothing of it is lost but parts of a percent.
#[test]
fn fio_says_what_keeps_processors_busy() {
    let check = |keys, says: &[&str], tells: &[&str]| check(Dialect::Fio, keys, says, tells);
    check(
        "backend = \"null\"\nprocessor_work = { share = \"30%\" }",
        &[
            "ioengine=cpuio",
            "cpuload=30",
            "cpuchunks=50000",
            "runtime=10s",
        ],
        &[],
    );
    check(
        "backend = \"null\"\nprocessor_work = { share = \"7%\", burst = \"2ms\", kind = \"sort\", \
         ends_with_io = true }",
        &[
            "cpuload=7",
            "cpuchunks=2000",
            "cpumode=qsort",
            "exit_on_io_done=1",
        ],
        &[],
    );
    check(
        "backend = \"null\"\nprocessor_work = { share = \"7.5%\" }",
        &["cpuload=8"],
        &["lost: job `a`: processor_work"],
    );
}

/// The traces are not there when the text is read back, which the last comment tells.
#[test]
fn fio_says_which_traces_are_merged() {
    let check = |merge: &str, says: &[&str]| {
        let keys = format!("trace = {{ path = \"/m\", merge = {merge}, pace = \"50%\" }}");
        let missing = "lost: workload: text: it would be refused: job `a`: trace `/a:1`, to be merged \
                       into `/m`: ";
        check(Dialect::Fio, &keys, says, &[missing]);
    };
    let common = "read_iolog=/a\\:1:/b";
    check(
        "[\"/a:1\", \"/b\"]",
        &["merge_blktrace_file=/m", common, "replay_time_scale=50"],
    );
    check(
        "[\"/a:1\", { path = \"/b\", scale = \"25%\", passes = 3 }]",
        &[
            "merge_blktrace_scalars=100:25",
            "merge_blktrace_iters=1:3",
            common,
        ],
    );
    // What is usual is not said.
    let usual =
        one_job("trace = { path = \"/m\", merge = [\"/a\", { path = \"/b\", passes = 2 }] }");
    let text = convert(&usual, Dialect::Fio, "test").text;
    assert!(
        text.contains("merge_blktrace_iters=1:2") && !text.contains("scalars"),
        "{text}"
    );
}

/// What fio does not heed of a binary trace is told where the trace is one.
#[test]
fn fio_loses_the_barriers_of_blktrace() {
    let path = std::env::temp_dir().join(format!("fathom-convert-{}", std::process::id()));
    let mut record = Vec::new();
    record.extend((0x6561_7400_u32 | 7).to_ne_bytes());
    record.extend([0; 20]);
    for number in [4096, 1 | 1 << 17, 0, 8 << 20, 0, 0_u32] {
        record.extend(number.to_ne_bytes());
    }
    let told_of = |bytes: &[u8], more: &str| {
        std::fs::write(&path, bytes).unwrap();
        let keys = format!("trace = {{ path = {path:?}, redirected = true{more} }}");
        let told = told(&convert(&one_job(&keys), Dialect::Fio, "test"));
        told.iter()
            .any(|line| line.contains("trace: fio heeds neither flushes before writes nor durable"))
    };
    let text = b"fio version 3 iolog\n0 /a add\n0 /a write 0 4096\n";
    let found = [
        told_of(&record, ""),
        told_of(&record, ", plain_writes = true"),
        told_of(text, ""),
    ];
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found, [true, false, false]);
}

#[test]
fn fio_says_what_a_worker_is() {
    let lost = "lost: job `a`: trace_to: a job of fio that reads a trace writes none";
    check(
        Dialect::Fio,
        "trace = \"/t\"\ntrace_to = \"/u\"",
        &["read_iolog=/t"],
        &[
            lost,
            "lost: workload: text: it would be refused: job `a`: trace `/t`",
        ],
    );
    check(
        Dialect::Fio,
        "warmup_bytes = \"1MiB\"\nprocess = { locked_memory = \"4MiB\", user = 7, user_group = 0, scheduler = \"bfq\" }",
        &[
            "ramp_size=1m",
            "lockmem=4m",
            "uid=7",
            "gid=0",
            "ioscheduler=bfq",
        ],
        &[],
    );
}

#[test]
fn fio_says_numa_nodes() {
    let check = |keys, says: &[&str], tells: &[&str]| check(Dialect::Fio, keys, says, tells);
    check(
        "process = { nodes = { all_but = [1] }, memory = { interleave = \"all\" } }",
        &["numa_cpu_nodes=!1", "numa_mem_policy=interleave:all"],
        &[],
    );
    check(
        "process = { nodes = [0, 2], memory = \"local\" }",
        &["numa_cpu_nodes=0,2", "numa_mem_policy=local"],
        &[],
    );
}

#[test]
fn every_loss_has_its_reason() {
    let advice = "lost: job `a`: calls.advice: `once` becomes nothing: `-fr` and `-fs` say random or sequential access";
    let buffered = "caching = \"buffered\"\ncalls = { advice = \"once\" }";
    let buffered = told(&convert(&one_job(buffered), Dialect::Diskspd, "test"));
    assert!(
        buffered.iter().any(|line| line.starts_with(advice)),
        "{buffered:?}"
    );
    // Of what no page cache heeds nothing is lost.
    let direct = "calls = { advice = \"random\" }";
    let note = "note: job `a`: calls.advice: `random` becomes nothing: `-fr` and `-fs` say";
    let direct = told(&convert(&one_job(direct), Dialect::Diskspd, "test"));
    assert!(
        direct.iter().any(|line| line.starts_with(note)),
        "{direct:?}"
    );
    let every = "calls = { async_every = 2 }";
    for (to, reason) in [
        (Dialect::Diskspd, "they are options of Linux's own calls"),
        (Dialect::Vdbench, "Vdbench cannot say it"),
        (Dialect::Iometer, "Iometer cannot say it"),
    ] {
        let told = told(&convert(&one_job(every), to, "test"));
        let told = told.iter().find(|line| line.contains("calls"));
        assert!(told.is_some_and(|line| line.ends_with(reason)), "{told:?}");
    }
}

#[test]
fn dialects_without_numa_nodes_tell_so() {
    for place in ["nodes = [0]", "memory = \"local\""] {
        let job = one_job(&format!("process = {{ processors = [0], {place} }}"));
        let expected = [
            (
                Dialect::Diskspd,
                "lost: job `a`: process: DISKSPD knows no NUMA nodes",
            ),
            (Dialect::Vdbench, "lost: job `a`: process"),
            (Dialect::Iometer, "lost: job `a`: process"),
        ];
        for (dialect, expected) in expected {
            let told = told(&convert(&job, dialect, "test"));
            assert!(
                told.iter().any(|line| line.starts_with(expected)),
                "{told:?}"
            );
        }
    }
}

#[test]
fn diskspd_says_what_it_can() {
    let check = |keys, says: &[&str], tells: &[&str]| check(Dialect::Diskspd, keys, says, tells);
    check(
        "access = \"independent\"\ndepth = 32\nworkers = 4\nblock = \"8KiB\"\nmix = { read = \"70%\", write = \"30%\" }",
        &["diskspd -c1G -b8K -d10 -W0 -t4 -o32 -r8K -w30 -Su -Zr -z1 -L /d/f"],
        &[],
    );
    check(
        "depth = 8",
        &[],
        &["lost: job `a`: access.kind: `each-block-once` becomes `independent`"],
    );
    check(
        "access = \"sequential\"\nsync = { open = \"dsync\" }\ndepth = 8",
        &["-Sh"],
        &[],
    );
    check(
        "access = \"sequential\"\ndepth = 8\nmix = { read = \"50%\", write = \"25%\", trim = \"25%\" }",
        &["-w25"],
        &["lost: job `a`: mix: DISKSPD does not trim"],
    );
    check(
        "access = \"sequential\"\ndepth = 8\ntargets = [{ path = \"/d/a b\", size = \"1GiB\" }, { path = \"/d/b\", size = \"1GiB\" }]",
        &["'/d/a b'"],
        &["lost: job `a`: target: DISKSPD keeps 8 I/Os outstanding on each target"],
    );
    // A pool has no pauses.
    check(
        "access = \"independent\"\ndepth = 8\nthink = { pause = \"10ms\", every = 4, counts = \"issued\" }\nfile_choice = \"random\"\n\
         targets = [{ path = \"/d/a\", size = \"1GiB\" }, { path = \"/d/b\", size = \"1GiB\" }]",
        &["-t1 -o8", "/d/a /d/b"],
        &[
            "lost: job `a`: target: DISKSPD keeps 8 I/Os outstanding on each target",
            "lost: job `a`: file_choice: `random` becomes `round-robin`",
        ],
    );
}

/// Lines come back as they were: pools of threads, and threads that begin after each other.
#[test]
fn lines_of_diskspd_come_back() {
    for line in [
        "-c64M -b4K -d10 -W5 -F4 -O8 -r4K -w30 -L /d/t /d/u",
        "-c64M -b64K -d10 -W5 -F2 -O3 -w0 -L /d/t /d/u /d/v",
        "-c64M -b4K -d10 -W0 -t4 -T16M -o2 -s8K -w0 -L /d/t",
        "-c64M -B1M -b64K -d10 -W0 -t2 -T1M -o2 -w100 -Zr -L /d/t",
        "-c64M -b4K -d10 -W0 -t2 -o2 -r4K -w0 -L /d/t /d/u",
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let workload = diskspd::back::read(&[words]).unwrap();
        let converted = convert(&workload, Dialect::Diskspd, "x");
        assert_eq!(told(&converted), Vec::<String>::new(), "{}", converted.text);
        let lines = converted.text.lines();
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("diskspd")).collect();
        assert_eq!(lines, [format!("diskspd {line}")]);
    }
}

/// DISKSPD refuses `-r0`.
#[test]
fn diskspd_has_no_random_step_of_nothing() {
    check(
        Dialect::Diskspd,
        "depth = 8\naccess = { kind = \"mixed\", random = \"50%\" }\nplacement = { stride = \"0B\" }",
        &["-o8 -rs50 -w0"],
        &["lost: job `a`: placement"],
    );
}

#[test]
fn vdbench_says_what_it_can() {
    check(
        Dialect::Vdbench,
        "access = \"independent\"\ndepth = 32\nblock = \"8KiB\"\nmix = { read = \"70%\", write = \"30%\" }\nwarmup = \"5s\"\n\
         contents = \"random-stamped\"",
        &[
            "sd=a,lun=/d/f,size=1g,threads=32,openflags=o_direct",
            "wd=wd1,sd=a,xfersize=8k,rdpct=70,seekpct=100",
            "rd=a,wd=wd1,iorate=max,interval=1,warmup=5,elapsed=10",
        ],
        &[],
    );
}

#[test]
fn jobs_that_share_options_are_written_once() {
    let text = "target = { path = \"/d/f\", size = \"1GiB\" }\n[[stage]]\nname = \"a\"\nmeasure = \"10s\"\n\
        [[stage.job]]\nname = \"one\"\ndepth = 4\n[[stage.job]]\nname = \"two\"\ndepth = 8\n";
    let (workload, _) = native::read(text, "test").unwrap();
    let converted = convert(&workload, Dialect::Fio, "two.workload.toml");
    let (global, jobs) = converted.text.split_once("[one]").unwrap();
    assert!(
        global.contains("from two.workload.toml") && global.contains("filename=/d/f"),
        "{global}"
    );
    assert_eq!(jobs, "\niodepth=4\n\n[two]\niodepth=8\nnew_group=1\n");
    let converted = convert(&workload, Dialect::Diskspd, "x");
    assert_eq!(body(&converted.text).matches("diskspd ").count(), 2);
    assert!(
        told(&converted)
            .iter()
            .any(|line| line.contains("runs by itself"))
    );
}

/// Latency that fio does not measure misses no target.
#[test]
fn a_target_that_nothing_misses_comes_back() {
    let keys = "latency_target = { most = \"1ms\", percentile = \"0%\" }";
    check(
        Dialect::Fio,
        keys,
        &["latency_target=1ms", "disable_lat=1"],
        &[],
    );
    let workload = one_job(keys);
    let of_fio = told(&convert(&workload, Dialect::Fio, "test"));
    assert!(
        !of_fio.iter().any(|line| line.contains("latency_target")),
        "{of_fio:?}"
    );
    let converted = convert(&workload, Dialect::Native, "test");
    let (again, _) = native::read(&converted.text, "test").unwrap();
    assert_eq!(again, workload);
}

#[test]
fn native_loses_nothing() {
    let workload = preset("quick", "/mnt/data").unwrap();
    let converted = convert(&workload, Dialect::Native, "quick");
    assert_eq!(native::read(&converted.text, "x").unwrap().0, workload);
    assert!(converted.losses.is_empty() && !converted.is_lossy());
}

/// Published job files come back as they were.
#[test]
fn examples_come_back() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut count = 0;
    for guide in ["guide-2016", "guide-2021"] {
        for entry in std::fs::read_dir(format!("{folder}/{guide}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "ini") {
                let workload = fio::back::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let converted = convert(&workload, Dialect::Fio, "x");
                assert!(
                    converted.losses.is_empty(),
                    "{}: {:?}",
                    path.display(),
                    told(&converted)
                );
                assert_eq!(fio::back::read(&converted.text).unwrap(), workload);
                count += 1;
            }
        }
    }
    assert_eq!(count, 8);
}

/// What a dialect's reader gives, it can say: written and read again, it is the same, and nothing is told.
fn comes_back(
    workload: &Workload,
    to: Dialect,
    read: impl Fn(&str) -> Result<Workload, Diagnostics>,
) -> Result<(), TestCaseError> {
    let first = convert(workload, to, "a test");
    for loss in &first.losses {
        let reason = loss.message.split_once("` becomes ");
        let has_reason = reason.is_none_or(|(_, reason)| reason.contains(": "));
        prop_assert!(has_reason, "{}", loss);
    }
    let sayable = read(&first.text);
    prop_assert!(
        sayable.is_ok(),
        "refused: {}\n{}",
        sayable.unwrap_err(),
        first.text
    );
    let sayable = sayable.unwrap();
    let again = convert(&sayable, to, "a test");
    // Our reader takes joined SDs that are only read.
    let mut losses = again.losses.iter();
    prop_assert!(
        losses.all(|loss| loss.message.starts_with("Vdbench refuses SDs of")),
        "{:?}\n{}",
        told(&again),
        again.text
    );
    let read = read(&again.text);
    prop_assert!(read.is_ok(), "{:?}\n{}", read, again.text);
    prop_assert_eq!(
        normal_form(&read.unwrap()),
        normal_form(&sayable),
        "{}",
        again.text
    );
    // What is not told is said.
    if first.losses.is_empty() {
        prop_assert_eq!(
            normal_form(&sayable),
            normal_form(workload),
            "{}",
            first.text
        );
    }
    Ok(())
}

fn read_script(text: &str) -> Result<Workload, Diagnostics> {
    let words = |line: &str| -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quote = None;
        let mut characters = line.chars();
        while let Some(character) = characters.next() {
            match (quote, character) {
                (None, '\'' | '"') => quote = Some(character),
                (Some(open), close) if open == close => quote = None,
                (None, ' ') => words.push(String::new()),
                (None, '\\') if characters.as_str().starts_with('\'') => {
                    words.last_mut().unwrap().extend(characters.next());
                }
                (_, other) => words.last_mut().unwrap().push(other),
            }
        }
        words
    };
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("diskspd "));
    diskspd::back::read(&lines.map(words).collect::<Vec<_>>())
}

#[test]
fn every_dialect_names_the_verb_that_wrote_it() {
    let workload = preset("quick", "/mnt/data").unwrap();
    let verb = "`fathom plan` for";
    for dialect in Dialect::ALL {
        let source = "an app";
        let beyond = &[];
        let origin = Origin {
            verb,
            source,
            beyond,
        };
        let written = write(&workload, dialect, origin).text;
        assert!(written.contains("Written by `fathom plan` for an app."));
        assert!(!written.contains("fathom convert"), "{written}");
        let converted = convert(&workload, dialect, source).text;
        assert!(converted.contains("Written by `fathom convert` from an app."));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_global_rejects: 200, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn native_to_fio_and_back(workload in workloads()) {
        prop_assume!(validate(&workload).is_ok());
        comes_back(&workload, Dialect::Fio, fio::back::read)?;
    }

    #[test]
    fn native_to_vdbench_and_back(workload in workloads()) {
        prop_assume!(validate(&workload).is_ok());
        let first = convert(&workload, Dialect::Vdbench, "a test");
        // Not every path and name is one of a parameter file: what is refused is told.
        if vdbench::read(&first.text).is_err() {
            prop_assert!(first.is_lossy());
        } else {
            comes_back(&workload, Dialect::Vdbench, vdbench::read)?;
        }
    }

    #[test]
    fn native_to_iometer_and_back(workload in workloads()) {
        prop_assume!(validate(&workload).is_ok());
        comes_back(&workload, Dialect::Iometer, iometer::read)?;
    }

    #[test]
    fn native_to_diskspd_and_back(workload in workloads()) {
        prop_assume!(validate(&workload).is_ok());
        comes_back(&workload, Dialect::Diskspd, read_script)?;
    }
}

/// What is said by one word of a dialect is told once, whichever keys it stands for.
#[test]
fn a_share_of_random_places_is_noted_once() {
    let converted = convert(
        &one_job("access = { kind = \"mixed\", random = \"50%\" }"),
        Dialect::Fio,
        "test",
    );
    let told = told(&converted);
    let of_share = |line: &&String| line.contains("percentage_random");
    assert_eq!(told.iter().filter(of_share).count(), 1, "{told:?}");
}
