//! Vdbench's workloads on file systems, as they become jobs on file sets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;

use fathom_dialects::fio::{FileStatus, Files};
use fathom_dialects::vdbench::{RunKind, VdbenchInput, read};
use fathom_units::{Bytes, Iops, Nanos, Percent};
use fathom_workload::{
    Access, Caching, FileSet, FileSizes, FileSpread, FileTask, Job, Mix, Poisson, SetChoice,
    SetFormat, StopAfter, WeightedSize,
};

/// One parameter file.
struct Text(String);

impl Files for Text {
    fn read_text(&self, _path: &str) -> io::Result<String> {
        Ok(self.0.clone())
    }

    fn status(&self, _path: &str) -> FileStatus {
        FileStatus::Missing
    }
}

const SETS: &str = "fsd=fsd1,anchor=/mnt/a,depth=2,width=3,files=5,size=64k\n\
                    fsd=fsd2,anchor=/mnt/b,depth=2,width=3,files=5,size=64k\n";

#[track_caller]
fn input(text: &str) -> VdbenchInput {
    let words = ["-f", "parm"].map(str::to_owned);
    read(&words, &Text(format!("{SETS}{text}"))).unwrap_or_else(|found| panic!("{found}"))
}

#[track_caller]
fn refuse(text: &str, expected: &str) {
    let words = ["-f", "parm"].map(str::to_owned);
    let refused = read(&words, &Text(format!("{SETS}{text}"))).unwrap_err();
    let messages: Vec<&str> = refused
        .0
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    assert!(
        messages.iter().any(|message| message.contains(expected)),
        "{messages:?}"
    );
    assert!(
        refused.0.iter().any(|found| found.location.is_some()),
        "{refused}"
    );
}

/// The only job of the last run.
fn job(text: &str) -> Job {
    let mut input = input(text);
    let stage = input.workload.stages.pop().unwrap();
    assert_eq!(stage.jobs.len(), 1);
    stage.jobs.into_iter().next().unwrap()
}

/// A job of an FWD with these parameters, as fast as it goes.
fn fwd(parameters: &str) -> Job {
    job(&format!(
        "fwd=fwd1,fsd=fsd1,{parameters}\nrd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1\n"
    ))
}

fn names(input: &VdbenchInput) -> Vec<(&str, usize)> {
    let runs = input.runs.iter();
    runs.map(|run| {
        (
            run.name.as_str(),
            input.workload.stages[run.stage].jobs.len(),
        )
    })
    .collect()
}

#[test]
fn the_sample_that_was_run_becomes_its_runs() {
    let input = input(
        "fwd=default,xfersize=4k,fileselect=random,fileio=random,threads=2\n\
         fwd=fwd1,fsd=fsd1,operation=read,skew=70\n\
         fwd=fwd2,fsd=fsd1,operation=getattr,skew=30\n\
         rd=rd1,fwd=fwd*,fwdrate=max,format=(clean,only)\n\
         rd=rd2,fwd=fwd*,fwdrate=max,format=yes,elapsed=4,interval=1\n",
    );
    assert_eq!(
        names(&input),
        [("format_for_rd1", 1), ("format_for_rd2", 1), ("rd2", 2)]
    );
    assert!(input.runs.iter().all(|run| run.kind == RunKind::FileSystem));
    let work = |stage: usize, job: usize| {
        let job = &input.workload.stages[stage].jobs[job];
        let work = job.features.file_work.as_deref().unwrap();
        (work.task, job.workers)
    };
    assert_eq!(work(0, 0), (FileTask::Format(SetFormat::Clean), 8));
    assert_eq!(work(1, 0), (FileTask::Format(SetFormat::Anew), 8));
    assert_eq!(work(2, 0), (FileTask::Read, 2));
    assert_eq!(work(2, 1), (FileTask::GetAttributes, 2));
    let format = &input.workload.stages[1].jobs[0];
    assert_eq!(format.block.write[0].size, Bytes::kib(128));
    assert_eq!((format.limits.runtime, format.mix), (None, Mix::WRITE));
    // Shares of 70 and 30 of 100, over two workers each.
    let weights = [0, 1].map(|job| {
        input.workload.stages[2].jobs[job]
            .features
            .flow
            .unwrap()
            .weight
    });
    assert_eq!(weights, [350_000, 150_000]);
    fathom_workload::validate(&input.workload).unwrap();
}

#[test]
fn an_fsd_is_a_file_set() {
    let text = "fsd=fsd3,anchor=/mnt/c,depth=1,width=4,files=7,sizes=(4k,75,64k,25),distribution=all,\
                totalsize=100k,workingsetsize=60k\n\
                fsd=fsd4,anchor=/mnt/d,sizes=(1m,0)\n\
                fwd=fwd1,fsd=fsd3,operation=read\nfwd=fwd2,fsd=fsd4,operation=read\n\
                rd=rd1,fwd=fwd*,fwdrate=max,elapsed=10,interval=1\n";
    let input = input(text);
    let set = |job: usize| {
        let target = &input.workload.stages[0].jobs[job].targets[0];
        target.place.file_set().unwrap().clone()
    };
    let weighted = |kib, weight| WeightedSize {
        size: Bytes::kib(kib),
        weight,
    };
    let expected = FileSet {
        depth: 1,
        width: 4,
        files: 7,
        spread: FileSpread::EveryDirectory,
        sizes: FileSizes::Weighted(vec![weighted(4, 7500), weighted(64, 2500)]),
        total: Some(Bytes::kib(100)),
        working_set: Some(Bytes::kib(60)),
        ..FileSet::at("/mnt/c")
    };
    assert_eq!(set(0), expected);
    assert_eq!(set(1).sizes, FileSizes::Around(Bytes::mib(1)));
}

#[test]
fn an_fwd_is_work_on_it() {
    let of = |parameters: &str| {
        let job = fwd(parameters);
        (job.features.file_work.as_deref().unwrap().clone(), job)
    };
    let (work, job) =
        of("operation=read,fileio=random,fileselect=(poisson,5),stopafter=50,threads=6");
    assert_eq!(
        (work.task, work.choice),
        (FileTask::Read, SetChoice::Poisson(5))
    );
    assert_eq!(
        (work.stop_after, job.workers),
        (Some(StopAfter::Ios(50)), 6)
    );
    assert!(matches!(job.access, Access::Random { .. }) && job.caching == Caching::Buffered);
    assert_eq!(job.limits.runtime, Some(Nanos::from_secs(10)));
    assert!(!job.features.files.must_exist && job.features.flow.is_none());
    let (work, job) =
        of("operation=write,fileio=(seq,delete),fileselect=(seq,once),openflags=(o_direct,fsync)");
    assert!(work.delete_first && work.once && work.choice == SetChoice::Sequential);
    assert!(job.caching == Caching::Direct && job.sync.on_close);
    let (work, job) =
        of("operation=read,rdpct=70,fileio=(random,shared),fileselect=seq,xfersize=(4k,50,8k,50)");
    assert!(work.task == FileTask::ReadWrite && work.shared);
    assert_eq!(job.mix, Mix::reads(Percent::whole(70).unwrap()));
    assert_eq!(job.block.read.len(), 2);
    for (word, task) in [
        ("mkdir", FileTask::MakeDirectory),
        ("rmdir", FileTask::RemoveDirectory),
        ("create", FileTask::Create),
        ("delete", FileTask::Delete),
        ("open", FileTask::Open),
        ("close", FileTask::Close),
        ("write", FileTask::Write),
        ("access", FileTask::Access),
        ("setattr", FileTask::SetAttributes),
    ] {
        assert_eq!(of(&format!("operation={word}")).0.task, task);
    }
    let copy = fwd("operation=copy,target=fsd2");
    let anchors: Vec<&str> = copy
        .targets
        .iter()
        .map(|target| target.place.path())
        .collect();
    assert_eq!(anchors, ["/mnt/a", "/mnt/b"]);
}

#[test]
fn a_rate_is_shared_out_whole() {
    let input = input(
        "fwd=fwd1,fsd=fsd*,operation=read,skew=33,threads=5\nfwd=fwd2,fsd=fsd1,operation=getattr\n\
         rd=rd1,fwd=fwd*,fwdrate=(100,1000),elapsed=10,interval=1,distribution=deterministic\n",
    );
    assert_eq!(names(&input), [("rd1", 3), ("rd1", 3)]);
    assert_eq!(input.runs[1].loops_label(), "fwdrate=1000");
    let rates = |stage: usize| {
        let jobs = input.workload.stages[stage].jobs.iter();
        let rates = jobs.map(|job| job.features.file_work.as_deref().unwrap().rate.unwrap());
        rates
            .map(|rate| (rate.rate, rate.process))
            .collect::<Vec<_>>()
    };
    let fixed = |rate| (Iops::new(rate), Poisson::Fixed);
    assert_eq!(rates(0), [fixed(17), fixed(16), fixed(67)]);
    assert_eq!(rates(1), [fixed(165), fixed(165), fixed(670)]);
    let jobs = &input.workload.stages[0].jobs;
    let of_job = |job: &Job| (job.name.clone(), job.workers);
    let expected = [("fwd1/fsd1", 3), ("fwd1/fsd2", 2), ("fwd2", 1)];
    let expected = expected.map(|(name, workers)| (name.to_owned(), workers));
    assert_eq!(jobs.iter().map(of_job).collect::<Vec<_>>(), expected);
}

#[test]
fn formats_come_before_their_runs() {
    let formats = |format: &str, more: &str| {
        let text = format!(
            "fwd=fwd1,fsd=fsd1,operation=read\nfwd=format,threads=3,xfersize=64k\n\
             rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,format={format}{more}\n"
        );
        let input = input(&text);
        let stages = input.workload.stages.iter();
        let tasks = stages.map(|stage| {
            let job = &stage.jobs[0];
            (
                job.features.file_work.as_deref().unwrap().task,
                job.workers,
                job.limits.runtime,
            )
        });
        tasks.collect::<Vec<_>>()
    };
    let made = |what| (FileTask::Format(what), 3, None);
    let read = (FileTask::Read, 1, Some(Nanos::from_secs(10)));
    assert_eq!(formats("no", ""), [read]);
    assert_eq!(formats("yes", ""), [made(SetFormat::Anew), read]);
    assert_eq!(formats("restart", ""), [made(SetFormat::Complete), read]);
    assert_eq!(formats("(restart,only)", ""), [made(SetFormat::Complete)]);
    assert_eq!(formats("only", ""), [made(SetFormat::Anew)]);
    assert_eq!(formats("clean", ""), [made(SetFormat::Clean)]);
    assert_eq!(
        formats("(only,directories)", ""),
        [made(SetFormat::Directories)]
    );
    let limited = (
        FileTask::Format(SetFormat::Anew),
        3,
        Some(Nanos::from_secs(10)),
    );
    assert_eq!(formats("(only,limited)", ""), [limited]);
    // Once before both values of a loop, and before each of them.
    assert_eq!(formats("(yes,once)", ",forthreads=(1,1)").len(), 3);
    assert_eq!(formats("yes", ",forthreads=(1,1)").len(), 4);
}

#[test]
fn loops_change_sets_and_workloads() {
    let input = input(
        "fwd=fwd1,fsd=fsd1,operation=read\n\
         rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,format=yes,fordepth=(1,2),foroperations=(read,getattr)\n",
    );
    let labels: Vec<String> = input
        .runs
        .iter()
        .map(fathom_dialects::vdbench::Run::loops_label)
        .collect();
    let combinations = [
        "depth=1 operation=read",
        "depth=1 operation=getattr",
        "depth=2 operation=read",
        "depth=2 operation=getattr",
    ];
    let twice: Vec<&str> = combinations.iter().flat_map(|label| [*label; 2]).collect();
    assert_eq!(labels, twice);
    let last = &input.workload.stages[7].jobs[0];
    assert_eq!(last.targets[0].place.file_set().unwrap().depth, 2);
    assert_eq!(
        last.features.file_work.as_deref().unwrap().task,
        FileTask::GetAttributes
    );
    fathom_workload::validate(&input.workload).unwrap();
}

#[test]
fn operations_of_an_rd_are_done_at_once_and_share_the_threads() {
    let input = input(
        "fwd=fwd1,fsd=fsd1,operation=mkdir,threads=7\n\
         rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,operations=(read,getattr,write)\n",
    );
    assert_eq!(names(&input), [("rd1", 3)]);
    let jobs = input.workload.stages[0].jobs.iter();
    let jobs: Vec<(&str, FileTask, u32)> = jobs
        .map(|job| {
            let work = job.features.file_work.as_deref().unwrap();
            (job.name.as_str(), work.task, job.workers)
        })
        .collect();
    let expected = [
        ("fwd1/read", FileTask::Read, 3),
        ("fwd1/getattr", FileTask::GetAttributes, 2),
        ("fwd1/write", FileTask::Write, 2),
    ];
    assert_eq!(jobs, expected);
    assert_eq!(input.runs[0].loops_label(), "None");
    fathom_workload::validate(&input.workload).unwrap();
}

#[test]
fn one_operation_of_an_rd_counts_instead_of_the_workloads_own() {
    let one = job("fwd=fwd1,fsd=fsd1,operation=mkdir,threads=4\n\
         rd=rd1,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,operations=rmdir\n");
    assert_eq!((one.name.as_str(), one.workers), ("fwd1", 4));
    let work = one.features.file_work.as_deref().unwrap();
    assert_eq!(work.task, FileTask::RemoveDirectory);
}

#[test]
fn each_rate_of_a_list_has_its_own_format() {
    let runs = |format: &str, rates: &str| -> Vec<String> {
        let text = format!(
            "fwd=fwd1,fsd=fsd1,operation=read\n\
             rd=r,fwd=fwd1,fwdrate={rates},elapsed=10,interval=1,format={format}\n"
        );
        let input = input(&text);
        input.runs.iter().map(|run| run.name.clone()).collect()
    };
    assert_eq!(
        runs("yes", "(50,70)"),
        ["format_for_r", "r", "format_for_r", "r"]
    );
    assert_eq!(
        runs("(restart,once)", "(50,70)"),
        ["format_for_r", "r", "r"]
    );
    assert_eq!(runs("yes", "50"), ["format_for_r", "r"]);
    assert_eq!(runs("no", "(50,70)"), ["r", "r"]);
}

#[test]
fn loops_that_files_do_not_have_are_gone_through_with_a_warning() {
    let rd = "rd=r,fwd=fwd1,fwdrate=max,elapsed=10,interval=1";
    for key in ["forseekpct", "forhitarea", "forrhpct", "forwhpct"] {
        let input = input(&format!(
            "fwd=fwd1,fsd=fsd1,operation=read\n{rd},{key}=(10,20)\n"
        ));
        assert_eq!(input.runs.len(), 2, "{key}");
        let told = input.warnings.to_string();
        let name = key.strip_prefix("for").unwrap();
        assert!(
            told.contains(&format!("`{name}=` changes nothing on files")),
            "{told}"
        );
    }
}

#[test]
fn compression_may_be_looped_over_on_files() {
    let compress = |loops: &str| -> Vec<u8> {
        let input = input(&format!(
            "fwd=fwd1,fsd=fsd1,operation=write\n\
             rd=r,fwd=fwd1,fwdrate=max,elapsed=10,interval=1,format=yes,{loops}\n"
        ));
        let stages = input.workload.stages.iter();
        let fillings = stages.map(|stage| stage.jobs[0].features.filling.as_ref());
        fillings
            .map(|filling| filling.map_or(0, |filling| filling.compress))
            .collect()
    };
    assert_eq!(compress("forcompratio=(2,4)"), [50, 50, 75, 75]);
    assert_eq!(compress("forcompression=(50,25)"), [50, 50, 75, 75]);
}

#[test]
fn an_rd_of_fsds_without_an_fwd_does_what_fwd_default_says() {
    let only = job("fwd=default,operation=getattr,threads=3\n\
         rd=r,fsd=fsd2,fwdrate=max,elapsed=10,interval=1\n");
    assert_eq!((only.name.as_str(), only.workers), ("default", 3));
    let work = only.features.file_work.as_deref().unwrap();
    assert_eq!(work.task, FileTask::GetAttributes);
    let places = only.targets[0].place.file_set().unwrap();
    assert_eq!(places.anchor, "/mnt/b");
}

#[test]
fn older_spellings_of_workloads_are_taken() {
    assert_eq!(
        fwd("readpct=70,fileio=random").mix,
        fwd("rdpct=70,fileio=random").mix
    );
    let once = fwd("operation=read,fileselect=once");
    let work = once.features.file_work.as_deref().unwrap();
    assert_eq!((work.choice, work.once), (SetChoice::Sequential, true));
}

#[test]
fn what_cannot_be_is_told_with_its_place() {
    let rd = "rd=rd1,fwd=fwd*,fwdrate=max,elapsed=10,interval=1\n";
    let with = |fwd: &str| format!("{fwd}\n{rd}");
    refuse(
        &with("fwd=fwd1,fsd=fsd9,operation=read"),
        "Could not find fsd=fsd9 for fwd=fwd1",
    );
    refuse(
        "fwd=fwd1,fsd=fsd1,operation=read\nrd=rd1,fwd=fwd2,fwdrate=max\n",
        "Could not find fwd=fwd2",
    );
    refuse(
        &with("fwd=fwd1,fsd=fsd1,operation=read,skew=70"),
        "must add up to 100: 70",
    );
    refuse(
        &with("fwd=fwd1,fsd=fsd1,operation=copy"),
        "'target=' must name the FSD",
    );
    refuse(
        "fwd=fwd1,fsd=fsd1,operation=read\nrd=rd1,fwd=fwd1,elapsed=10,interval=1,format=no\n",
        "No fwdrate= specified for rd=rd1",
    );
}
