//! What is taken, with its traps warned about.

use fathom_units::Bytes;

use super::{SD_WD, published, read, read_with};
use crate::vdbench::{RunRate, Seek, VdbenchInput, looks_like_parameter_file};

/// The file is taken, and a warning about `line` has `message`.
#[track_caller]
fn warned(text: &str, line: usize, message: &str) {
    let input = read(text);
    let found = input
        .warnings
        .0
        .iter()
        .find(|one| one.message.contains(message));
    let found = found.unwrap_or_else(|| panic!("no `{message}` in\n{}", input.warnings));
    assert_eq!(
        found.location.as_ref().map(|place| place.line),
        Some(line),
        "{found}"
    );
}

#[test]
fn traps_are_warned_of() {
    let rd = "rd=rd1,wd=wd1,iorate=max";
    warned(
        &format!("{SD_WD}{rd}, elapsed=60"),
        3,
        "the blank ends the line: `elapsed=60`",
    );
    warned(
        "sd=sd1,lun=/f,size=1g\nwd=wd1,sd=sd1,xfersize=4k wrpct=50\nrd=r,wd=wd1,iorate=max",
        2,
        "`wrpct=50` is a comment",
    );
    warned(
        &format!("messagescan=no\n{SD_WD}{rd}"),
        1,
        "`messagescan=` changes nothing here",
    );
    warned(
        &format!("report_run_totals=yes\n{SD_WD}{rd}"),
        1,
        "`report_run_totals=` changes nothing here",
    );
    let plain =
        read("sd=sd1,lun=/f,size=1g   # the file\nwd=wd1,sd=sd1 fast\nrd=r,wd=wd1,iorate=max\n");
    assert!(plain.warnings.0.is_empty(), "{}", plain.warnings);
}

#[test]
fn failures_are_counted_up_to_a_limit() {
    for (line, limit) in [
        ("", None),
        ("data_errors=0\n", Some(1)),
        ("data_errors=5\n", Some(5)),
        ("data_errors=1k\n", Some(1024)),
        ("data_errors=stop\n", Some(1)),
    ] {
        let input = read(&format!("{line}{SD_WD}rd=rd1,wd=wd1,iorate=max"));
        let found = input.general.data_errors.map(std::num::NonZeroU64::get);
        assert_eq!(found, limit, "{line}");
        assert!(input.warnings.0.is_empty(), "{}", input.warnings);
    }
}

#[test]
fn words_of_report_may_be_short() {
    let text = format!("report=(host,slave_d,no_f)\n{SD_WD}rd=rd1,wd=wd1,iorate=max");
    let report = read(&text).general.report;
    assert_eq!(report, ["host_detail", "slave_detail", "no_fsd_detail"]);
}

#[test]
fn abbreviations_and_times_are_read() {
    let text = format!("{SD_WD}rd=rd1,wd=wd1,io=max,th=4,el=6,in=2,wa=4");
    warned(&text, 3, "`th=` is taken for `threads=`");
    let input = read(&text);
    let run = &input.runs[0];
    assert_eq!(
        (run.elapsed, run.interval, run.warmup, run.jobs[0].threads),
        (Some(6), 2, 4, 4)
    );
    let input = read(&format!(
        "{SD_WD}rd=rd1,wd=wd1,iorate=max,elapsed=5m,warmup=1m,pause=1h"
    ));
    let run = &input.runs[0];
    assert_eq!((run.elapsed, run.warmup, run.pause), (Some(300), 60, 3600));
    warned(
        &format!("{SD_WD}rd=rd1,wd=wd1,iorate=max,threads=0"),
        3,
        "Setting some threadcounts to a minimum of 1",
    );
}

/// As 5.04.07 showed them.
#[test]
fn labels_cut_fractions_off_and_sizes_have_three_decimals() {
    for (loops, expected) in [
        ("forrdpct=10.5,forseekpct=50.5", "rdpct=10 seekpct=50"),
        ("forhitarea=1.5m,forrhpct=10.55", "hitarea=1.500m rhpct=10"),
        (
            "forcompratio=1.5,forxfersize=1.5k",
            "comp=1 xfersize=1.500k",
        ),
        ("forxfersize=1025k", "xfersize=1.001m"),
        ("forxfersize=(4k)", "xfersize=4k"),
    ] {
        let input = read(&format!("{SD_WD}rd=rd1,wd=wd1,iorate=max,{loops}"));
        assert_eq!(input.runs[0].loops_label(), expected);
    }
    let input = read(&format!(
        "{SD_WD}rd=rd1,wd=wd1,iorate=max,forrdpct=(10.5,10.75)"
    ));
    let stages = input.workload.stages.iter();
    let stages: Vec<_> = stages.map(|stage| stage.name.as_str()).collect();
    assert_eq!(stages, ["rd1 rdpct=10.5", "rd1 rdpct=10.75"]);
}

#[test]
fn an_interval_below_a_second_is_half_of_elapsed() {
    for (times, expected) in [
        ("elapsed=2,interval=0.5", 1),
        ("elapsed=30,interval=0.5", 15),
        ("interval=0,elapsed=300", 60),
        ("elapsed=3,interval=1.5", 1),
    ] {
        let text = format!("{SD_WD}rd=rd1,wd=wd1,iorate=max,{times}");
        assert_eq!(read(&text).runs[0].interval, expected, "{times}");
    }
}

#[test]
fn loops_nest_in_their_order_and_rates_are_innermost() {
    let text =
        format!("{SD_WD}rd=rd1,wd=wd1,iorate=(100-300,100),forthreads=(1-8,d),forxfersize=(4k,8k)");
    let input = read(&text);
    let labels: Vec<String> = input
        .runs
        .iter()
        .map(super::super::Run::loops_label)
        .collect();
    assert_eq!(labels.len(), 24);
    assert_eq!(labels[0], "threads=1 xfersize=4k iorate=100");
    assert_eq!(labels[1], "threads=1 xfersize=4k iorate=200");
    assert_eq!(labels[3], "threads=1 xfersize=8k iorate=100");
    assert_eq!(labels[23], "threads=8 xfersize=8k iorate=300");
    let input = read(&format!(
        "{SD_WD}rd=rd1,wd=wd1,iorate=max,forseekpct=(0,100)"
    ));
    let seeks = |input: &VdbenchInput| -> Vec<Option<Seek>> {
        input.runs.iter().map(|run| run.facts.seek).collect()
    };
    let [least, middle, most] = [0.0, 50.0, 100.0].map(|share| Some(Seek::Percent(share)));
    assert_eq!(seeks(&input), [least, most]);
    let input = read(&format!(
        "{SD_WD}rd=rd1,wd=wd1,iorate=max,forseekpct=(0-100,50)"
    ));
    assert_eq!(seeks(&input), [least, middle, most]);
}

#[test]
fn a_loop_that_is_given_again_takes_its_last_place() {
    let labels = |text: &str| -> Vec<String> {
        let input = read(&format!("{SD_WD}{text}"));
        input
            .runs
            .iter()
            .map(crate::vdbench::Run::loops_label)
            .collect()
    };
    assert_eq!(
        labels("rd=r,wd=wd1,iorate=max,forthreads=9,forxfersize=(8k,16k),threads=(3,5)"),
        [
            "xfersize=8k threads=3",
            "xfersize=8k threads=5",
            "xfersize=16k threads=3",
            "xfersize=16k threads=5"
        ]
    );
    assert_eq!(
        labels(
            "rd=default,iorate=max,rdpct=70,threads=6\nrd=a,wd=wd1,rdpct=30\nrd=b,wd=wd1,threads=2"
        ),
        ["threads=6 rdpct=30", "rdpct=70 threads=2"]
    );
}

#[test]
fn a_list_of_rates_may_have_the_highest() {
    let rates = |list: &str| -> Vec<(RunRate, String)> {
        let input = read(&format!("{SD_WD}rd=r,wd=wd1,iorate={list}"));
        let runs = input.runs.iter();
        runs.map(|run| (run.rate, run.loops_label())).collect()
    };
    let number = |rate: u32| (RunRate::Number(rate.into()), format!("iorate={rate}"));
    let max = (RunRate::Uncontrolled, "iorate=max".to_owned());
    assert_eq!(
        rates("(50,70-90,20,max)"),
        [number(50), number(70), number(90), max.clone()]
    );
    assert_eq!(rates("(Max,30)"), [max, number(30)]);
}

#[test]
fn what_is_switched_off_is_taken() {
    for line in ["validate=no", "validate=(yes,n)", "showlba=no"] {
        let input = read(&format!("{line}\n{SD_WD}rd=rd1,wd=wd1,iorate=max"));
        assert_eq!(input.runs.len(), 1, "{line}");
    }
}

#[test]
fn a_curve_is_a_run_at_full_speed_and_one_for_each_point() {
    let text = format!(
        "{SD_WD}rd=default,curve=(50,100),iorate=curve,warmup=2,elapsed=4,iorate=curve\nrd=R,wd=wd1,threads=25\nrd=M,wd=wd1,iorate=max\n"
    );
    let input = read(&text);
    let names: Vec<&str> = input.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["R", "R_(50%)", "R_(100%)", "M"]);
    assert_eq!(input.runs[0].rate.label(None), "Uncontrolled curve");
    assert_eq!(
        input.runs[2].rate,
        RunRate::Of {
            run: 0,
            percent: 100.0
        }
    );
    assert_eq!(input.runs[2].rate.label(Some(62_500)), "62500");
    assert_eq!(input.runs[3].rate.label(None), "Uncontrolled MAX");
    assert_eq!(input.runs[0].loops_label(), "threads=25");
    let from = input.workload.stages[1].rate_from.unwrap();
    assert_eq!((from.stage, from.total(62_481.3)), (0, 31_300));
    // Each thread count has a curve of its own.
    let input = read(&format!(
        "{SD_WD}rd=R,wd=wd1,iorate=curve,forthreads=(1,2),curve=(10)"
    ));
    let of: Vec<RunRate> = input.runs.iter().map(|run| run.rate).collect();
    assert_eq!(
        of[3],
        RunRate::Of {
            run: 2,
            percent: 10.0
        }
    );
}

#[test]
fn one_line_may_hold_several_entries_and_lines_may_be_joined() {
    let text = "sd=sd1,\n lun=/f,size=1g\nwd=wd1,sd=sd1\nrd=default,elapsed=60,iorate=max,rd=a,wd=wd1,rd=b,wd=wd1\n* end\neof\nnonsense\n";
    let input = read(text);
    assert_eq!(input.runs.len(), 2);
    assert_eq!(input.runs[1].elapsed, Some(60));
    assert_eq!(input.sds[0].paths[0].lun, "/f");
}

#[test]
fn defaults_hold_for_what_follows_and_the_command_line_for_all() {
    let text = "sd=a,lun=/a\nsd=default,size=2g,threads=3\nsd=b,lun=/b\nsd=default,size=1g\nsd=c,lun=/c\nwd=w,sd=*\nrd=r,wd=w,iorate=max,elapsed=99\n";
    let input = read_with(text, "-e 10 -w 2 -i 2").unwrap();
    let sizes: Vec<Option<u64>> = input.sds.iter().map(|sd| sd.size).collect();
    assert_eq!(sizes, [None, Some(2 << 30), Some(1 << 30)]);
    assert_eq!([input.sds[0].threads, input.sds[2].threads], [8, 3]);
    let run = &input.runs[0];
    assert_eq!((run.elapsed, run.warmup, run.interval), (Some(10), 2, 2));
}

#[test]
fn counts_and_hosts_repeat_lines() {
    let text = "hd=vm1\nhd=vm2\nsd=sd$host-1,lun=/m/file#host-*,size=1g,host=$host,count=(1,3)\nwd=w,sd=*\nrd=r,wd=w,iorate=max\n";
    let input = read(text);
    let names: Vec<(&str, &str)> = input
        .sds
        .iter()
        .map(|sd| (sd.name.as_str(), sd.paths[0].lun.as_str()))
        .collect();
    assert_eq!(names.len(), 6);
    assert_eq!(names[0], ("sdvm1-11", "/m/file0-1"));
    assert_eq!(names[5], ("sdvm2-13", "/m/file1-3"));
    assert_eq!(input.runs[0].jobs[5].host, 1);
    let input = read("hd=h,clients=3\nsd=s,lun=/x,size=1g\nwd=w,sd=s\nrd=r,wd=w,iorate=max\n");
    let labels: Vec<&str> = input.hosts.iter().map(|host| host.label.as_str()).collect();
    assert_eq!(labels, ["h_cl0", "h_cl1", "h_cl2"]);
}

#[test]
fn names_with_a_dash_are_found_where_they_are_quoted() {
    let text = "sd=sd-1-1,lun=/x,size=1g\nsd=sd-1-2,lun=/y,size=1g\nwd=w,sd=(\"sd-1-1\",\"sd-1-2\")\nrd=r,wd=w,sd=(\"sd*\"),iorate=max\n";
    assert_eq!(read(text).runs[0].jobs.len(), 2);
    let numbered = "sd=s1,lun=/1,size=1g\nsd=s2,lun=/2,size=1g\nsd=s3,lun=/3,size=1g\nwd=w,sd=(s2-s3)\nrd=r,wd=w,iorate=max\n";
    assert_eq!(read(numbered).runs[0].jobs.len(), 2);
}

#[test]
fn an_rd_without_workload_takes_the_defaults() {
    let text = "sd=sd1,lun=/f,size=1g\nrd=default,sd=sd*,xfersize=8k,elapsed=60,seekpct=100,iorate=max,threads=8,hitarea=400m\n\
                rd=70_30_80%_Hit_8K,rdpct=70,rhpct=80,whpct=72\n";
    let input = read(text);
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!(job.mix.read.basis_points(), 7000);
    assert_eq!(job.block.read[0].size.get(), 8192);
    assert_eq!(input.runs[0].jobs[0].wd, None);
    let placed = job.features.placement.as_ref().unwrap();
    assert_eq!(
        placed.distribution[0].to_string(),
        "zoned_abs:80/419430400B:20/654311424B"
    );
}

#[test]
fn the_published_script_is_144_pieces_of_storage() {
    let pattern = "wd=RndRead,sd=sd*,rdpct=100,seekpct=100,xfersize=8k\n* Run Defaults\n\
                   rd=default,curve=(50,100),iorate=curve,warmup=60,elapsed=600,iorate=curve\n\
                   rd=RndRead,wd=RndRead,sd=(\"sd*\"),threads=25\n";
    let input = read(&published(24, pattern));
    assert_eq!(
        (input.hosts.len(), input.sds.len(), input.runs.len()),
        (24, 144, 3)
    );
    let outstanding: u32 = input.runs[0].jobs.iter().map(|job| job.threads).sum();
    assert_eq!(outstanding, 3600);
    assert_eq!(input.runs[0].first_averaged_interval(), 61);
    assert_eq!(
        input.workload.stages[0].jobs[143].host.as_deref(),
        Some("vm24")
    );
    assert!(input.warnings.0.is_empty(), "{}", input.warnings);
    let text = super::super::origins(&input);
    for line in [
        "RD=RndRead_(50%); I/O rate: 50%; elapsed=600 warmup=60; For loops: threads=25",
        "sd=default, p:26",
        "Vdbench's default",
    ] {
        assert!(text.contains(line), "no {line} in\n{}", &text[..2000]);
    }
}

#[test]
fn one_job_is_told_as_one() {
    let text = format!("{SD_WD}rd=rd1,wd=wd1,iorate=max,threads=(1,2)");
    let told = super::super::origins(&read(&text));
    assert!(told.contains("; 1 job, 1 I/O outstanding\n"), "{told}");
    assert!(told.contains("; 1 job, 2 I/Os outstanding\n"), "{told}");
}

/// A keyword by its first letters or another of its names stands in its default's place.
#[test]
fn what_is_given_by_another_name_is_no_default() {
    let text = "sd=sd1,lun=/x,size=1g,th=4\nwd=default,xf=8k\nwd=wd1,sd=sd1,wrpct=30\n\
                rd=rd1,wd=wd1,iorate=max,el=9,int=3";
    let told = super::super::origins(&read(text));
    for hidden in [
        "threads=8",
        "xfersize=4k",
        "rdpct=100",
        "elapsed=30",
        "interval=1",
    ] {
        assert!(
            !told.contains(&format!(" {hidden} ")),
            "{hidden} in\n{told}"
        );
    }
    let told = super::super::origins(&read_with(text, "-e 6").unwrap());
    assert!(
        told.contains(" elapsed=6 ") && !told.contains(" el=9 "),
        "{told}"
    );
}

#[test]
fn hosts_by_their_old_keyword_and_odd_transfers_are_taken() {
    let text = format!("host=h1,system=localhost\n{SD_WD}rd=r,wd=wd1,iorate=max");
    let input = read(&text);
    let host = &input.hosts[0];
    assert_eq!(
        (host.label.as_str(), host.system.as_str()),
        ("h1", "localhost")
    );
    for text in [
        "fsd=f,anchor=/a,files=1,size=64k\nfwd=w,fsd=f,operation=read,xfersize=1000\nrd=r,fwd=w,fwdrate=max",
        "sd=s,lun=/x,size=100k\nwd=w,sd=s,xfersize=1000\nrd=r,wd=w,iorate=max",
    ] {
        let job = &read(text).workload.stages[0].jobs[0];
        assert_eq!(job.block.largest(job.mix).get(), 1000);
    }
    let text = "sd=s,lun=/x,size=100k\nwd=w,sd=s,xfersize=1000\nrd=r,wd=w,iorate=max";
    let target = &read(text).workload.stages[0].jobs[0].targets[0];
    assert_eq!(target.length.map(Bytes::get), Some(102_000));
    let text = "fsd=f,anchor=/a,files=1,size=64k\nfwd=format,xfersize=100\nfwd=w,fsd=f,operation=read\n\
                rd=r,fwd=w,fwdrate=max,forxfersize=(1000,333)";
    let input = read(text);
    let jobs = input.workload.stages.iter().map(|stage| &stage.jobs[0]);
    let sizes: Vec<u64> = jobs.map(|job| job.block.largest(job.mix).get()).collect();
    assert_eq!(sizes, [1000, 333]);
}

/// A simulation shows runs once, however often they would be repeated.
#[test]
fn a_simulation_shows_no_repetitions() {
    let text = format!("loop=2\n{SD_WD}rd=rd1,wd=wd1,iorate=max\n");
    assert_eq!(read_with(&text, "").unwrap().runs.len(), 2);
    assert_eq!(read_with(&text, "-s").unwrap().runs.len(), 1);
}

#[test]
fn the_command_line_adds_to_every_run() {
    let text = format!("{SD_WD}rd=rd1,wd=wd1,iorate=max\nrd=rd2,wd=wd1,iorate=max\n");
    let input = read_with(&text, "-l 2 + elapsed=7").unwrap();
    assert_eq!(input.runs.len(), 4);
    assert!(input.runs.iter().all(|run| run.elapsed == Some(7)));
    assert_eq!(input.workload.stages[3].name, "rd2 loop=2");
    let input = read_with(&text, "-r rd2").unwrap();
    assert_eq!(input.runs.len(), 1);
}

#[test]
fn parameter_files_are_told_by_their_content() {
    for (text, expected) in [
        ("* x\nsd=sd1,lun=/x\n", true),
        ("include=a\n", true),
        ("messagescan=no\n\nhd=default\n", true),
        ("[global]\nrw=read\n", false),
        ("target = \"/x\"\n", false),
        ("", false),
    ] {
        assert_eq!(looks_like_parameter_file(text), expected, "{text}");
    }
}

#[test]
fn a_workload_that_no_run_names_is_told_of_an_fsd_that_is_not_there() {
    let text = "fsd=f,anchor=/a,files=1,sizes=4k\nfwd=w,fsd=f,operation=read\nfwd=other,fsd=(f,g*),operation=read\nrd=r,fwd=w,fwdrate=max";
    let input = read(text);
    let [told] = input.warnings.0.as_slice() else {
        panic!("{}", input.warnings);
    };
    assert_eq!(
        told.message,
        "Could not find fsd=g* for fwd=other, which no `rd=` runs"
    );
    let place = told.location.as_ref().unwrap();
    assert_eq!((place.line, place.span.start + 1), (3, 18), "{told}");
    assert!(told.hint.is_some(), "{told}");
}

/// Vdbench goes by the number of streams, whatever size is given with it.
#[test]
fn streams_of_a_size_are_equal_parts() {
    let text = |streams: &str| {
        format!(
            "sd=s,lun=/x,size=8m,threads=4\nwd=w,sd=s,seekpct=0,streams={streams}\nrd=r,wd=w,iorate=max"
        )
    };
    warned(&text("(4,1m)"), 2, "Vdbench takes the number alone");
    let (sized, plain) = (read(&text("(4,1m)")), read(&text("4")));
    assert_eq!(sized.workload, plain.workload);
    assert_eq!(sized.workload.stages[0].jobs.len(), 4);
}
