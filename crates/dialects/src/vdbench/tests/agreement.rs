//! What contradicts itself is refused in Vdbench's words, and what it ends with an error is not run here.

use fathom_units::{Bytes, BytesPerSec};
use fathom_workload::{Arrival, Pacing, Place};

use super::refused::{check, once};
use super::{SD_WD, read};

/// What a file says before its runs on files.
const FSD_FWD: &str = "fsd=f,anchor=/a,files=4,sizes=64k\nfwd=w,fsd=f,operation=read\n";

#[test]
fn a_name_is_of_one_rd() {
    let twice = "Duplicate RD names not allowed: r";
    for runs in [
        "rd=r,wd=wd1,iorate=10\nrd=r,wd=wd1,iorate=20",
        "rd=r,wd=wd1,iorate=10\nrd=r,sd=sd1,iorate=10",
    ] {
        check(&format!("{SD_WD}{runs}"), twice, (4, 4));
    }
    let on_files = format!("{FSD_FWD}rd=r,fwd=w,fwdrate=10\nrd=r,fwd=w,fwdrate=20");
    check(&on_files, twice, (4, 4));
    // Defaults have no name, case tells names apart, and a workload's may be a run's.
    for runs in [
        "rd=default,iorate=10\nrd=default,elapsed=9\nrd=r,wd=wd1",
        "rd=r,wd=wd1,iorate=10\nrd=R,wd=wd1,iorate=20",
        "rd=wd1,wd=wd1,iorate=10",
    ] {
        read(&format!("{SD_WD}{runs}"));
    }
}

#[test]
fn a_rate_is_in_the_keyword_of_what_it_is_of() {
    let of_files = "Specifying 'iorate=' for a File System workload. Use 'fwdrate=' instead.";
    for run in [
        "rd=r,fwd=w,iorate=10",
        "rd=r,fwd=w,iorate=10,fwdrate=20",
        "rd=r,fsd=f,iorate=10",
    ] {
        check(&format!("{FSD_FWD}{run}"), of_files, (3, 4));
    }
    let default = format!("{FSD_FWD}rd=default,iorate=10\nrd=r,fwd=w,fwdrate=max");
    check(&default, of_files, (4, 4));
    let of_storage = "Specifying 'fwdrate=' for a raw workload. Use 'iorate=' instead.";
    for run in ["rd=r,wd=wd1,fwdrate=10", "rd=r,sd=sd1,iorate=5,fwdrate=10"] {
        check(&format!("{SD_WD}{run}"), of_storage, (3, 4));
    }
    let default = format!("{SD_WD}rd=default,fwdrate=max\nrd=r,wd=wd1,iorate=5");
    check(&default, of_storage, (4, 4));
    let none = format!("{FSD_FWD}rd=r,fwd=w");
    check(&none, "No fwdrate= specified for rd=r", (3, 4));
}

#[test]
fn operations_are_done_at_once_or_one_after_another() {
    let message = "rd=r: 'operations' and 'foroperations' parameters are mutually exclusive";
    let each = "foroperations=(read,getattr)";
    let both = format!("{FSD_FWD}rd=r,fwd=w,fwdrate=9,operations=read,{each}");
    check(&both, message, (3, 38));
    let default = format!("{FSD_FWD}rd=default,operations=read\nrd=r,fwd=w,fwdrate=9,{each}");
    check(&default, message, (4, 22));
    read(&format!("{FSD_FWD}rd=r,fwd=w,fwdrate=9,{each}"));
}

/// What is of files alone is read over in an RD on SDs, and told.
#[test]
fn formats_and_operations_change_nothing_on_sds() {
    for (words, named) in [
        ("format=yes", "`format=`"),
        ("operations=read", "`operations=`"),
    ] {
        let input = read(&format!("{SD_WD}rd=r,wd=wd1,iorate=5,{words}"));
        assert_eq!(input.runs.len(), 1, "{words}");
        let told = input.warnings.to_string();
        assert!(told.contains(named), "{told}");
    }
}

/// Vdbench would define the first of several alone; those who name the others are not told besides.
#[test]
fn a_definition_is_of_one_name() {
    let rd = "rd=r,wd=w*,iorate=9";
    for (text, named, place) in [
        (
            format!("sd=(a,b),lun=/x,size=1g\nwd=w,sd=b\n{rd}"),
            "`sd=(a,b)` names several, and a definition is of one: Vdbench defines sd=a alone",
            (1, 1),
        ),
        (
            format!("sd=(a1-a3),lun=/x,size=1g\nwd=w,sd=a3\n{rd}"),
            "`sd=(a1-a3)` names several",
            (1, 1),
        ),
        (
            format!("sd=a,lun=/x,size=1g\nwd=(w1,w2),sd=a\n{rd}"),
            "`wd=(w1,w2)` names several",
            (2, 1),
        ),
    ] {
        once(&text, named, place, "a line for each");
    }
    let input = read(&format!("sd=(a),lun=/x,size=1g\nwd=w,sd=a\n{rd}"));
    assert_eq!(input.sds[0].name, "a");
}

/// Rates keep what is behind the point; whole numbers lose it, as there.
#[test]
fn fractions_are_as_there() {
    let run = |words: &str| {
        let input = read(&format!("{SD_WD}rd=r,wd=wd1,{words}"));
        let jobs = input.workload.stages[0].jobs.clone();
        (input, jobs)
    };
    let (input, jobs) = run("iorate=2.5");
    assert_eq!(input.runs[0].rate.label(None), "3");
    let Arrival::Open { rate, .. } = jobs[0].arrival else {
        panic!("{:?}", jobs[0].arrival);
    };
    assert_eq!(rate, Pacing::Bytes(BytesPerSec::new(10_240)));
    let (input, _) = run("iorate=(1.5,2.5)");
    assert_eq!(input.runs[0].loops_label(), "iorate=1");
    let (input, _) = run("iorate=9,elapsed=9.5,warmup=1.5,forthreads=(2.5,3)");
    let told = input.warnings.to_string();
    assert_eq!((input.runs[0].elapsed, input.runs[0].warmup), (Some(9), 1));
    assert_eq!(input.runs[0].loops_label(), "threads=2");
    for told_of in [
        "9.5 is taken as 9",
        "1.5 is taken as 1",
        "2.5 is taken as 2",
    ] {
        assert!(told.contains(told_of), "{told}");
    }
    let (input, _) = run("iorate=curve,curve=(10.5,50)");
    assert_eq!(input.runs[1].name, "r_(10%)");
    let sized = read("sd=a,lun=/x,size=1.3g\nwd=w,sd=a\nrd=r,wd=w,iorate=9");
    assert_eq!(sized.sds[0].size, Some(1_395_864_371));
    assert_eq!(sized.warnings.0.len(), 0, "{}", sized.warnings);
}

/// A percentage of the run before has it in its name, and is rounded up like a point of a curve. On files, Vdbench means the
/// same and takes 10,000 in the place of what was reached.
#[test]
fn rates_in_percent_are_of_the_run_before() {
    let storage = format!("{SD_WD}rd=a,wd=wd1,iorate=max\nrd=b,wd=wd1,iorate=(50%,80%)");
    let files = format!("{FSD_FWD}rd=a,fwd=w,fwdrate=max\nrd=b,fwd=w,fwdrate=(50%,80%),format=yes");
    for (text, names, of) in [
        (storage, &["a", "b_(50%)", "b_(80%)"][..], [0, 1]),
        (
            files,
            &["a", "format_for_b", "b_(50%)", "format_for_b", "b_(80%)"],
            [0, 2],
        ),
    ] {
        let input = read(&text);
        let found: Vec<&str> = input.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(found, names);
        let stages = input.workload.stages.iter();
        let from: Vec<_> = stages.filter_map(|stage| stage.rate_from).collect();
        assert_eq!(from.iter().map(|from| from.stage).collect::<Vec<_>>(), of);
        assert_eq!(from[1].total(63.0), 50, "63 x 80 % is 50.4");
        assert_eq!(from[0].total(126.0), 70);
    }
}

#[test]
fn loops_over_shares_of_a_set() {
    let sets = |fsd: &str, words: &str| {
        let text = format!(
            "fsd=f,anchor=/a,files=40,size=64k{fsd}\nfwd=w,fsd=f,operation=read\nrd=r,fwd=w,fwdrate=9,{words}"
        );
        let input = read(&text);
        let stages = input.workload.stages.iter().zip(&input.runs);
        let parts = stages.map(|(stage, run)| {
            let Place::FileSet(set) = &stage.jobs[0].targets[0].place else {
                panic!("{:?}", stage.jobs[0].targets);
            };
            let kib = |size: Option<Bytes>| size.map(|size| size.get() >> 10);
            (run.loops_label(), kib(set.total), kib(set.working_set))
        });
        parts.collect::<Vec<_>>()
    };
    let label = |text: &str| text.to_owned();
    assert_eq!(
        sets(",totalsize=1m", "fortotalsize=(50%,100%,256k)"),
        [
            (label("totalsize=50%"), Some(512), None),
            (label("totalsize=100%"), Some(1024), None),
            (label("totalsize=256k"), Some(256), None)
        ]
    );
    assert_eq!(
        sets("", "forwss=(50%,10%)"),
        [
            (label("wss=50%"), None, Some(1280)),
            (label("wss=10%"), None, Some(256))
        ]
    );
    let both = sets(",totalsize=1m", "forwss=50%,fortotalsize=50%");
    assert_eq!((both[0].1, both[0].2), (Some(512), Some(256)));
    let none =
        "fsd=f,anchor=/a,files=40,size=64k\nfwd=w,fsd=f\nrd=r,fwd=w,fwdrate=9,fortotalsize=50%";
    let message = "Specifying 'totalsize=50%' without a totalsize= value specified for the FSD";
    check(none, message, (1, 5));
}

/// Each of several operations has its FWD's share, and all make 100.
#[test]
fn shares_count_for_each_of_several_operations() {
    let text = |[first, second]: [u32; 2]| {
        format!(
            "fsd=f,anchor=/a,files=4,sizes=64k\nfwd=a,fsd=f,threads=4,skew={first}\n\
             fwd=b,fsd=f,threads=4,skew={second}\nrd=r,fwd=*,fwdrate=1000,operations=(read,getattr)"
        )
    };
    let message = "Total skew must add up to 100: 200";
    once(
        &text([70, 30]),
        message,
        (4, 4),
        "each of the `operations=`",
    );
    let input = read(&text([35, 15]));
    let jobs = input.workload.stages[0].jobs.iter();
    let rates = jobs.filter_map(|job| Some(job.features.file_work.as_deref()?.rate?.rate.get()));
    assert_eq!(rates.collect::<Vec<_>>(), [350, 350, 150, 150]);
}

#[test]
fn a_range_that_goes_down_is_all_its_values_and_told() {
    let input = read(&format!("{SD_WD}rd=r,wd=wd1,iorate=9,forrdpct=(100-0,50)"));
    assert_eq!(input.runs.len(), 3);
    let told = input.warnings.to_string();
    assert!(told.contains("5.04.07 takes 100 alone"), "{told}");
    // Halves are gone through there as well.
    let input = read(&format!("{SD_WD}rd=r,wd=wd1,iorate=(100-25,d)"));
    assert_eq!((input.runs.len(), input.warnings.0.len()), (3, 0));
}
