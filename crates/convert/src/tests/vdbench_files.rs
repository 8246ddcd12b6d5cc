//! Vdbench's parameter files, read, written and read again.

use fathom_units::Iops;
use fathom_workload::{Arrival, Pacing, Stage};

use super::{Dialect, convert, normal_form, one_job, told, vdbench};

/// The file comes back as it was, with nothing told; its text says these.
#[track_caller]
fn comes_back(text: &str, says: &[&str]) {
    let workload = vdbench::read(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let converted = convert(&workload, Dialect::Vdbench, "x");
    assert_eq!(told(&converted), Vec::<String>::new(), "{}", converted.text);
    for part in says {
        assert!(
            converted.text.contains(part),
            "no {part} in\n{}",
            converted.text
        );
    }
    let read = vdbench::read(&converted.text).unwrap();
    assert_eq!(
        normal_form(&read),
        normal_form(&workload),
        "{}",
        converted.text
    );
}

/// What the file becomes, of which nothing but names is told.
#[track_caller]
fn comes_back_as(text: &str) -> String {
    let workload = vdbench::read(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let converted = convert(&workload, Dialect::Vdbench, "x");
    let told = told(&converted);
    let of_names = told.iter().filter(|told| told.contains(": name: "));
    assert_eq!(of_names.count(), told.len(), "{told:?}\n{}", converted.text);
    converted.text
}

/// Blanks, commas and the like in paths and machines' names: in quotes, as they are.
#[test]
fn odd_names_come_back() {
    for odd in [
        "a b",
        " lead",
        "trail ",
        "a,b",
        "x, y, z",
        "a=b",
        "(x)",
        "tab\tin",
        "ümläut 漢字",
        "hash # x",
        "$x `y`",
        "[x]",
        "*",
        "a,",
    ] {
        comes_back(
            &format!(
                "sd=sd1,lun=\"/d/{odd}\",size=1g,threads=4\nwd=w,sd=sd1,xfersize=8k\nrd=r,wd=w,iorate=max,elapsed=10\n"
            ),
            &[&format!("/d/{odd}")],
        );
        comes_back(
            &format!(
                "fsd=f1,anchor=\"/d/{odd}\",depth=1,width=2,files=5,size=64k\nfwd=w,fsd=f1,operation=read,xfersize=4k,threads=2\n\
                 rd=r,fwd=w,fwdrate=max,elapsed=3\n"
            ),
            &[&format!("/d/{odd}")],
        );
    }
}

#[test]
fn runs_on_storage_come_back() {
    comes_back(
        "sd=sd1,lun=/d/f,size=1g,threads=4\nwd=w,sd=sd1,xfersize=8k,rdpct=70,seekpct=100\n\
         rd=one,wd=w,iorate=max,elapsed=10,interval=1\nrd=two,wd=w,iorate=500,elapsed=10,interval=1\n",
        &["rd=one,wd=", "rd=two,wd=", "iorate=500"],
    );
    // Data that compresses and repeats; a run that compresses otherwise.
    comes_back(
        "compratio=2\ndedupratio=4\ndedupunit=8k\ndedupsets=10%\nsd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1,xfersize=8k,rdpct=0\n\
         rd=one,wd=w,iorate=max,elapsed=10\nrd=two,wd=w,iorate=max,elapsed=10,compratio=4\n",
        &[
            "compratio=2\n",
            "dedupratio=4\n",
            "dedupunit=8k\n",
            "dedupsets=10%\n",
            ",compratio=4\n",
        ],
    );
    comes_back(
        "sd=sd1,lun=/d/f,size=1g,hitarea=16m\nwd=w,sd=sd1,xfersize=8k,rdpct=70,seekpct=100,rhpct=80,whpct=20\n\
         rd=one,wd=w,iorate=max,elapsed=10\n",
        &["hitarea=16m", "rhpct=80,whpct=20"],
    );
    comes_back(
        "sd=sd1,lun=/d/f,size=1g,threads=8\nwd=w,sd=sd1,xfersize=64k,seekpct=0,streams=4\nrd=one,wd=w,iorate=max,elapsed=10\n",
        &["sd=sd1,lun=/d/f,size=1g,", "threads=8", "streams=4"],
    );
    comes_back(
        "sd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1,xfersize=8k,seekpct=100,stride=(1m,1m)\nrd=one,wd=w,iorate=max,elapsed=10\n",
        &["seekpct=100,stride=(1m,1m)"],
    );
    // The first block of a device is left alone.
    comes_back(
        "sd=sd1,lun=/dev/sdb,size=1g,openflags=o_direct\nwd=w,sd=sd1,xfersize=8k\nrd=one,wd=w,iorate=max,elapsed=10\n",
        &["lun=/dev/sdb,size=1g,threads"],
    );
    // What lies behind an offset ends where `size=` does.
    comes_back(
        "sd=sd1,lun=/d/f,size=6m,offset=2m\nwd=w,sd=sd1,xfersize=8k\nrd=one,wd=w,iorate=max,elapsed=10\n",
        &["lun=/d/f,size=6m,offset=2m,"],
    );
    // Two workloads, whose storage is the same in every run.
    comes_back(
        "sd=sd1,lun=/d/f,size=1g,threads=4\nsd=sd2,lun=/d/g,size=1g,threads=4\nwd=a,sd=sd1,xfersize=8k\nwd=b,sd=sd2,xfersize=4k,rdpct=0\n\
         rd=one,wd=(a,b),iorate=max,elapsed=10\nrd=two,wd=(a,b),iorate=max,elapsed=20\n",
        &["sd=sd2,lun=/d/g", "rd=two,wd=(a,b)"],
    );
}

#[test]
fn curves_come_back() {
    let storage = "sd=sd1,lun=/d/f,size=1g,threads=4\nsd=sd2,lun=/d/g,size=1g,threads=4\n\
         wd=a,sd=sd1,xfersize=8k,rdpct=70\nwd=b,sd=sd2,xfersize=4k\n";
    for runs in [
        "rd=r,wd=a,iorate=curve,curve=(50,100),elapsed=10\nrd=s,wd=a,iorate=500,elapsed=10\n",
        "rd=r,wd=(a,b),iorate=curve,curve=(50,100),warmup=5,elapsed=10,pause=3\n",
        "rd=r,wd=a,iorate=curve,curve=(50,100),elapsed=10,distribution=deterministic\n",
        "rd=r,wd=a,iorate=curve,curve=(50,100),elapsed=10\nrd=s,wd=a,iorate=curve,curve=(10,20.5),elapsed=9\n",
    ] {
        comes_back(
            &format!("{storage}{runs}"),
            &["rd=r,wd=", "iorate=curve,curve=(50,100)"],
        );
    }
}

#[test]
fn shares_of_runs_at_full_speed_come_back() {
    let storage = "sd=sd1,lun=/d/f,size=1g,threads=4\nsd=sd2,lun=/d/g,size=1g,threads=4\nsd=sd3,lun=/d/h,size=1g,threads=4\n";
    let run = "rd=r,wd=(a,b),iorate=max,elapsed=10\n";
    comes_back(
        &format!(
            "{storage}wd=a,sd=sd1,xfersize=8k,rdpct=70,skew=40\nwd=b,sd=sd2,xfersize=4k\n{run}"
        ),
        &["skew=40", "skew=60"],
    );
    // Each piece of storage has a workload of its own, with its part of the share.
    let text = format!(
        "{storage}wd=a,sd=(sd1,sd2),xfersize=8k,skew=70\nwd=b,sd=sd3,xfersize=4k,skew=30\n{run}"
    );
    let converted = convert(&vdbench::read(&text).unwrap(), Dialect::Vdbench, "x");
    assert!(!converted.is_lossy(), "{:?}", told(&converted));
    assert_eq!(converted.text.matches("skew=35").count(), 2);
}

#[test]
fn addresses_that_crowd_come_back() {
    for (work, says) in [
        (
            "rdpct=70,seekpct=100,hotband=(10,60)",
            "seekpct=100,hotband=(0,100)",
        ),
        ("rdpct=100,seekpct=100,hotband=(10,60)", "hotband=(0,100)"),
        ("rdpct=0,seekpct=100,hotband=(10,60)", "hotband=(0,100)"),
        ("rdpct=70,seekpct=poisson", "seekpct=(poisson,3)"),
        ("rdpct=0,seekpct=(poisson,7.25)", "seekpct=(poisson,7.25)"),
    ] {
        comes_back(
            &format!(
                "sd=sd1,lun=/d/f,size=1g,threads=4\nwd=w,sd=sd1,xfersize=8k,{work}\nrd=r,wd=w,iorate=max,elapsed=10\n"
            ),
            &[says],
        );
    }
    // Zones that Vdbench has no word for are told.
    let mut workload = vdbench::read(
        "sd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1,xfersize=8k,seekpct=poisson\nrd=r,wd=w,iorate=max,elapsed=10\n",
    )
    .unwrap();
    let rules = workload.stages[0].jobs[0].features.placement.as_mut();
    rules.unwrap().distribution = ["zoned:60/10:40/90"; 3].map(|text| text.parse().unwrap());
    let converted = convert(&workload, Dialect::Vdbench, "x");
    assert!(told(&converted).join("\n").contains("hot band"));
}

#[test]
fn joined_storage_comes_back() {
    let storage = "concatenatesds=yes\nsd=sd1,lun=/d/f,size=3g\nsd=sd2,lun=/d/g,size=1g\nsd=sd3,lun=/d/h,size=2g\n";
    for (work, says) in [
        ("threads=12,rdpct=50", ",threads=12"),
        ("threads=3,seekpct=0,rdpct=0", "seekpct=0,threads=3"),
        ("threads=8,rhpct=80,whpct=20,rdpct=70", "rhpct=80,whpct=20"),
        ("threads=8,hotband=(0,90),rdpct=70", "hotband=(0,100)"),
        (
            "threads=8,seekpct=poisson,range=(50,90),rdpct=0",
            "seekpct=(poisson,3)",
        ),
    ] {
        comes_back(
            &format!(
                "{storage}wd=w,sd=(sd1,sd2),xfersize=8k,{work}\nrd=r,wd=w,iorate=max,elapsed=10\n"
            ),
            &["concatenatesds=yes\n", ",sd=(sd1,", "lun=/d/g,", says],
        );
    }
    // Beside each other, with SDs of their own, at shares of a rate, and as a curve.
    for run in [
        "rd=r,wd=(v,w),iorate=max,elapsed=10",
        "rd=r,wd=(v,w),iorate=curve,curve=(50,100),elapsed=10",
    ] {
        comes_back(
            &format!(
                "{storage}wd=v,sd=(sd1,sd2),xfersize=8k,threads=4,rdpct=70\nwd=w,sd=sd3,xfersize=64k,threads=2,seekpct=0,rdpct=0\n{run}\n"
            ),
            &["concatenatesds=yes\n", "threads=4", "threads=2"],
        );
    }
}

/// Vdbench refuses joined SDs that no workload of the file writes to.
#[test]
fn joined_storage_that_is_only_read_is_told() {
    #[track_caller]
    fn check(share: u32, writer: &str, told_of: bool) {
        let text = format!(
            "concatenatesds=yes\nsd=sd1,lun=/d/f,size=3g\nsd=sd2,lun=/d/g,size=1g\n\
             wd=w,sd=(sd1,sd2),xfersize=8k,threads=4,rdpct={share}\n{writer}rd=r,wd=*,iorate=max,elapsed=10\n"
        );
        let workload = vdbench::read(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        let told = told(&convert(&workload, Dialect::Vdbench, "x")).join("\n");
        let found = told.contains("placement.joined: Vdbench refuses SDs");
        assert_eq!(found, told_of, "{text}\n{told}");
    }
    check(100, "", true);
    check(99, "", false);
    let both = "wd=x,sd=(sd1,sd2),xfersize=8k,threads=2,rdpct=0\n";
    check(100, both, false);
}

/// Vdbench refuses a file or device that joined SDs have twice.
#[test]
fn workloads_of_one_run_have_their_joined_storage_in_common() {
    let converted = comes_back_as(
        "concatenatesds=yes\nsd=sd1,lun=/d/f,size=3g\nsd=sd2,lun=/d/g,size=1g\n\
         wd=v,sd=(sd1,sd2),xfersize=8k,threads=4,iorate=100,priority=1,rdpct=70\nwd=w,sd=(sd1,sd2),xfersize=64k,threads=2,priority=2\n\
         rd=r,wd=(v,w),iorate=max,elapsed=10\n",
    );
    for lun in ["lun=/d/f", "lun=/d/g"] {
        assert_eq!(converted.matches(lun).count(), 1, "{converted}");
    }
}

/// Vdbench refuses streams beside other workloads, with a rate of the run, or of different numbers of threads.
#[test]
fn streams_that_vdbench_refuses_are_workloads() {
    let streams = "sd=sd1,lun=/d/f,size=1g,threads=8\nsd=sd2,lun=/d/g,size=1g,threads=10\n\
                   wd=v,sd=sd1,xfersize=64k,seekpct=0,streams=4\nwd=w,sd=sd2,xfersize=4k\n\
                   wd=x,sd=sd2,xfersize=64k,seekpct=0,streams=4\n";
    for (run, is_one) in [
        ("rd=r,wd=v,iorate=max,elapsed=10", true),
        ("rd=r,wd=(v,w),iorate=max,elapsed=10", false),
        ("rd=r,wd=x,iorate=max,elapsed=10", false),
        (
            "rd=r,wd=v,iorate=(10,5,20,4),distribution=variable,elapsed=10",
            false,
        ),
    ] {
        let converted = comes_back_as(&format!("{streams}{run}\n"));
        assert_eq!(
            converted.contains("streams=4"),
            is_one,
            "{run}\n{converted}"
        );
        let runs = converted.lines().filter(|line| line.starts_with("rd="));
        assert_eq!(runs.count(), 1, "{converted}");
    }
}

/// Vdbench takes rates of workloads with priorities alone.
#[test]
fn rates_of_workloads_come_back_with_priorities() {
    comes_back(
        "sd=sd1,lun=/d/f,size=1g\nsd=sd2,lun=/d/g,size=1g\nsd=sd3,lun=/d/h,size=1g\n\
         wd=a,sd=sd1,xfersize=8k,priority=3\nwd=b,sd=sd2,xfersize=4k,iorate=200,priority=1\n\
         wd=c,sd=sd3,xfersize=4k,iorate=90,priority=2\n\
         rd=r,wd=(a,b,c),iorate=max,elapsed=10\nrd=s,wd=b,iorate=max,elapsed=10\n",
        &[
            "wd=a,sd=sd1,xfersize=8k,rdpct=100,seekpct=100,priority=3\n",
            ",iorate=200,priority=1\n",
            ",iorate=90,priority=2\n",
        ],
    );
}

#[test]
fn rates_that_change_come_back() {
    let storage = "sd=sd1,lun=/d/f,size=1g,threads=4\nsd=sd2,lun=/d/g,size=1g,threads=4\n";
    let one = "wd=a,sd=sd1,xfersize=8k,rdpct=70\n";
    for (run, says) in [
        (
            "rd=r,wd=a,iorate=(100,2,1000,3,0,1),elapsed=10,distribution=variable",
            "iorate=(100,2,1000,3,0,1),interval=1,",
        ),
        (
            "rd=r,wd=a,iorate=(100,2,1000,3),warmup=5,elapsed=10,distribution=(deterministic,spike)",
            "distribution=(deterministic,spike)",
        ),
    ] {
        comes_back(&format!("{storage}{one}{run}\n"), &[says]);
    }
    let two = "wd=a,sd=sd1,xfersize=8k,rdpct=70,skew=70\nwd=b,sd=sd2,xfersize=4k\n";
    comes_back(
        &format!(
            "{storage}{two}rd=r,wd=(a,b),iorate=(101,2,5003,3),elapsed=10,distribution=variable\n"
        ),
        &[
            "iorate=(101,2,5003,3)",
            "skew=",
            "distribution=(exponential,variable)",
        ],
    );
    // A list that is longer than its run is none of Vdbench's.
    let mut workload = vdbench::read(&format!(
        "{storage}{one}rd=r,wd=a,iorate=(100,2,1000,3),elapsed=10,distribution=variable\n"
    ))
    .unwrap();
    let steps = workload.stages[0].jobs[0].features.rate_steps.as_mut();
    steps.unwrap().steps[0].length = fathom_units::Nanos::from_secs(30);
    let converted = convert(&workload, Dialect::Vdbench, "x");
    let told = told(&converted).join("\n");
    assert!(told.contains("no longer than the run"), "{told}");
}

/// A rate that follows from a run that is not right before it cannot be said, and the loss tells why.
#[test]
fn rates_that_follow_from_elsewhere_are_told() {
    let text = "sd=sd1,lun=/d/f,size=1g,threads=4\nwd=a,sd=sd1,xfersize=8k\n\
         rd=r,wd=a,iorate=max,elapsed=10\nrd=s,wd=a,iorate=50%,elapsed=10\n";
    comes_back(text, &["rd=s,", "iorate=50%"]);
    let files = "fsd=f,anchor=/a,files=4,size=64k\nfwd=w,fsd=f,operation=read\n\
         rd=r,fwd=w,fwdrate=max,elapsed=10,format=yes\nrd=s,fwd=w,fwdrate=50%,elapsed=10,format=yes\n";
    comes_back(files, &["rd=s,", "fwdrate=50%"]);
    let mut workload = vdbench::read(text).unwrap();
    // What stands in the rate's place until it is known is no rate.
    if let Arrival::Open { rate, .. } = &mut workload.stages[1].jobs[0].arrival {
        *rate = Pacing::Iops(Iops::new(1_000));
    }
    let converted = convert(&workload, Dialect::Vdbench, "x");
    let lost = told(&converted);
    assert!(
        lost.iter().all(|loss| !loss.contains("arrival")),
        "{lost:?}"
    );
    let again = workload.stages[1].clone();
    workload.stages.push(Stage {
        name: "again".to_owned(),
        ..again
    });
    let converted = convert(&workload, Dialect::Vdbench, "x");
    let told = told(&converted).join("\n");
    assert!(told.contains("the run right before it"), "{told}");
}

/// No two RDs have one name, as Vdbench demands: also where a stage becomes two.
#[test]
fn runs_have_names_of_their_own() {
    let mut workload = vdbench::read(
        "sd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1\nrd=r,wd=w,iorate=max,elapsed=10\nrd=rd1,wd=w,iorate=9,elapsed=10\n",
    )
    .unwrap();
    let files = vdbench::read(
        "fsd=f,anchor=/a,files=4,size=64k\nfwd=x,fsd=f,operation=read\nrd=r,fwd=x,fwdrate=max,elapsed=10\n",
    )
    .unwrap();
    workload.stages[0].jobs.extend(files.stages[0].jobs.clone());
    let converted = convert(&workload, Dialect::Vdbench, "x");
    let runs = converted
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("rd="));
    let names: Vec<&str> = runs.filter_map(|run| run.split(',').next()).collect();
    assert_eq!(names, ["r", "rd1", "rd2"], "{}", converted.text);
    let told = told(&converted).join("\n");
    assert!(!told.contains("would be refused"), "{told}");
}

/// Two intervals are the least that Vdbench runs for, of which the first is the warm-up.
#[test]
fn short_runs_come_back() {
    for times in ["elapsed=2", "elapsed=3", "warmup=2,elapsed=2"] {
        comes_back(
            &format!(
                "sd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1,xfersize=8k\nrd=r,wd=w,iorate=max,interval=1,{times}\n"
            ),
            &["rd=r,wd="],
        );
    }
}

/// One queue with the rate of all workers is no other rate.
#[test]
fn the_rate_of_several_workers_is_that_of_their_queue() {
    let mut workload = vdbench::read(
        "sd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1,xfersize=8k\nrd=r,wd=w,iorate=500,elapsed=10\n",
    )
    .unwrap();
    workload.stages[0].jobs[0].workers = 2;
    let converted = convert(&workload, Dialect::Vdbench, "x");
    assert!(converted.text.contains("iorate=1000"), "{}", converted.text);
    let told = told(&converted).join("\n");
    assert_eq!(told.matches("2 workers become one queue").count(), 1);
    assert!(!told.contains("arrival"), "{told}");
}

/// Weights of Vdbench's shares are larger than fio takes; in proportion they are not.
#[test]
fn shares_become_weights_that_fio_takes() {
    let fwd = |number: u32, skew: u32| {
        format!("fwd=f{number},fsd=fsd1,operation=read,xfersize=4k,skew={skew}\n")
    };
    let text = format!(
        "fsd=fsd1,anchor=/d/a,depth=1,width=1,files=10,size=64k\n{}{}{}rd=r,fwd=f*,fwdrate=max,format=no,elapsed=10\n",
        fwd(1, 30),
        fwd(2, 50),
        fwd(3, 20)
    );
    let workload = vdbench::read(&text).unwrap();
    let converted = convert(&workload, Dialect::Fio, "x");
    let told = told(&converted).join("\n");
    assert!(!told.contains("refused"), "{told}");
    assert!(!told.contains("flow"), "{told}");
    let lines = converted.text.lines();
    let weights: Vec<&str> = lines.filter(|line| line.starts_with("flow=")).collect();
    assert_eq!(
        weights,
        ["flow=3", "flow=5", "flow=2"],
        "{}",
        converted.text
    );
}

#[test]
fn storage_stands_once() {
    let text = "sd=sd1,lun=/d/f,size=1g\nwd=w,sd=sd1,xfersize=8k,rdpct=100\nrd=run,wd=w,iorate=max,elapsed=10,forthreads=(1,2,2,4)\n";
    let workload = vdbench::read(text).unwrap();
    let converted = convert(&workload, Dialect::Vdbench, "x");
    // Three numbers of threads, and so three SDs; names of SDs are told where they could not stay.
    assert_eq!(
        converted.text.matches("\nsd=").count(),
        3,
        "{}",
        converted.text
    );
    assert!(!converted.is_lossy(), "{:?}", told(&converted));
    assert_eq!(vdbench::read(&converted.text).unwrap().stages.len(), 4);
}

const TREE: &str = "fsd=fsd1,anchor=/d/tree,depth=2,width=3,files=5,sizes=(4k,50,64k,50)\n";

#[test]
fn runs_on_file_systems_come_back() {
    comes_back(
        &format!(
            "create_anchors=yes\n{TREE}fwd=fwd1,fsd=fsd1,operation=read,fileio=random,fileselect=random,xfersize=4k,threads=8\nrd=rd1,fwd=fwd1,fwdrate=100,format=yes,elapsed=10,interval=1\n"
        ),
        &[
            "create_anchors=yes\n",
            "fsd=fsd1,anchor=/d/tree,depth=2,width=3,files=5,sizes=(4k,50,64k,50)",
            "operation=read,fileio=random,fileselect=random,xfersize=4k,threads=8",
            "fwdrate=100,format=yes",
        ],
    );
    comes_back(
        &format!(
            "{TREE}fwd=format,threads=4,xfersize=64k\nfwd=fwd1,fsd=fsd1,operation=read\nrd=rd1,fwd=fwd1,fwdrate=max,format=(only,restart),elapsed=10\n"
        ),
        &["fwd=format,threads=4,xfersize=64k", "format=(restart,only)"],
    );
    comes_back(
        &format!("{TREE}fwd=fwd1,fsd=fsd1\nrd=rd1,fwd=fwd1,fwdrate=max,format=clean,elapsed=10\n"),
        &["format=clean"],
    );
    // Several workloads on one tree, with shares of a rate, or held to each other.
    let three = format!(
        "{TREE}fsd=fsd2,anchor=/d/other,depth=1,width=1,files=100,sizes=(64k,0),totalsize=1m,wss=512k,distribution=all\n\
         fwd=a,fsd=fsd1,operation=read,rdpct=70,fileio=(random,shared),threads=4,skew=50,stopafter=10\n\
         fwd=b,fsd=fsd2,operation=write,fileio=(seq,delete),fileselect=(seq,once),skew=30,stopafter=25%,openflags=o_direct\n\
         fwd=c,fsd=fsd1,operation=getattr,fileselect=(poisson,5),threads=2,skew=20\n"
    );
    for rate in ["fwdrate=1000", "fwdrate=max"] {
        comes_back(
            &format!("{three}rd=rd1,fwd=(a,b,c),{rate},elapsed=10,warmup=5,pause=3\n")
                .replace("rdpct=70,", "rdpct=70,xfersize=4k,"),
            &[
                "skew=50",
                "fileio=(random,shared)",
                "(sequential,once)",
                "(poisson,5)",
                "workingsetsize=512k",
                rate,
            ],
        );
    }
    for (workloads, run) in [
        (
            "fwd=a,fsd=fsd1,operation=read,threads=4",
            "fwd=a,fwdrate=curve,curve=(50,100),elapsed=10",
        ),
        (
            "fwd=a,fsd=fsd1,operation=read,threads=4,skew=70\nfwd=b,fsd=fsd1,operation=getattr,skew=30",
            "fwd=(a,b),fwdrate=curve,curve=(50,100),format=yes,elapsed=10,distribution=deterministic",
        ),
        (
            "fwd=a,fsd=fsd1,operation=read\nfwd=b,fsd=fsd1,operation=getattr\nfwd=c,fsd=fsd1,operation=write",
            "fwd=(a,b,c),fwdrate=curve,curve=(50,100),elapsed=10",
        ),
    ] {
        comes_back(
            &format!("{TREE}{workloads}\nrd=rd1,{run}\n"),
            &["fwdrate=curve,curve=(50,100)"],
        );
    }
    comes_back(
        &format!(
            "{TREE}fsd=to,anchor=/d/to,depth=2,width=3,files=5,sizes=(4k,50,64k,50)\nfwd=m,fsd=fsd1,target=to,operation=copy\nrd=rd1,fwd=m,fwdrate=max,elapsed=10\n"
        ),
        &["operation=copy", "target="],
    );
}

/// `iorate=` counts whole I/Os of all workers together: what is rounded is told, and what is not is no loss of its own.
#[test]
fn a_rate_of_bytes_that_is_rounded_is_told() {
    let keys = |rate: &str| {
        format!(
            "workers = 3\ndepth = 4\naccess = \"independent\"\narrival = {{ rate = \"{rate}\" }}"
        )
    };
    let of_rate = |rate: &str| {
        let converted = convert(&one_job(&keys(rate)), Dialect::Vdbench, "test");
        let told = told(&converted).into_iter();
        let told: Vec<String> = told
            .filter(|told| told.contains(": arrival.rate: "))
            .collect();
        (converted.text, told)
    };
    let (text, told) = of_rate("5000B/s");
    assert!(text.contains("iorate=3"), "{text}");
    assert_eq!(
        told,
        [
            "lost: job `a`: arrival.rate: 4.88 KiB/s of each of 3 workers become 3 I/Os a second of all: Vdbench's `iorate` counts whole I/Os"
        ]
    );
    assert!(text.contains(&told[0]), "{text}");
    let (text, told) = of_rate("8KiB/s");
    assert!(text.contains("iorate=6"), "{text}");
    assert_eq!(told, Vec::<String>::new());
    let (text, told) = of_rate("100/s");
    assert!(text.contains("iorate=300"), "{text}");
    assert_eq!(told, Vec::<String>::new());
}

/// The operations of a run make jobs of one FWD, which are called by them: they work on one file set, under its own name.
#[test]
fn the_operations_of_a_run_share_their_file_set() {
    let text = comes_back_as(
        "fsd=f1,anchor=/d/a,depth=1,width=2,files=5,size=64k\nfwd=w,fsd=f1,operation=read,xfersize=4k,threads=4\n\
         rd=r,fwd=w,fwdrate=100,format=yes,elapsed=3,interval=1,operations=(read,write,getattr,open)\n",
    );
    assert_eq!(text.matches("anchor=").count(), 1, "{text}");
    assert_eq!(text.matches(",fsd=f1,").count(), 4, "{text}");
}
