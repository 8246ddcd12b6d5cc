//! How job files, their sections and the command line come together.

use super::*;

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

/// As fio lists them: an engine reads its own options when all others are known.
#[test]
fn options_of_engines_come_last_in_a_section() {
    let text = "[a]\nioengine=io_uring\nforce_async=4\nfilename=f\nsize=4k\nname=x\n";
    let input = read_text(text).unwrap();
    let names: Vec<_> = (input.jobs[0].options.iter().map(|(name, _)| name.as_str())).collect();
    assert_eq!(
        names,
        ["ioengine", "size", "name", "filename", "force_async"]
    );
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
