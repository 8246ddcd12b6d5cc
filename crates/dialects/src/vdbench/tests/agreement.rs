//! What contradicts itself is refused in Vdbench's words, and what it ends with an error is not run here.

use super::refused::check;
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
