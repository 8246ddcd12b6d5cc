//! Hosts, and files that are short.

use fathom_workload::Growth;

use super::{Memory, memory, published, read, read_with};
use crate::vdbench::{RunKind, RunRate};

/// A machine called `here` with address 192.0.2.7.
pub(super) fn machine(sizes: &[(&str, u64)]) -> Memory {
    let routes = "  +-- 192.0.2.0/24\n     |-- 192.0.2.7\n        /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\n";
    Memory {
        sizes: sizes
            .iter()
            .map(|(path, size)| ((*path).to_owned(), *size))
            .collect(),
        ..memory(&[
            ("/proc/sys/kernel/hostname", "here.example\n"),
            ("/proc/net/fib_trie", routes),
        ])
    }
}

const RUN: &str = "wd=w,sd=*,rdpct=0,xfersize=64k\nrd=r,wd=w,iorate=curve,curve=(50)\n";

#[test]
fn hosts_are_this_machine_or_named_in_the_refusal() {
    for (host, is_here) in [
        ("hd=localhost", true),
        ("hd=here", true),
        ("hd=a,system=here.example", true),
        ("hd=a,system=127.0.0.1", true),
        ("hd=a,system=192.0.2.7", true),
        ("hd=a,system=192.0.2.255", false),
        ("hd=a,system=there", false),
    ] {
        let mut input = read(&format!("{host}\nsd=s,lun=/f,size=1m\n{RUN}"));
        let settled = input.settle(&machine(&[("/f", 1 << 20)]), 7);
        assert_eq!(settled.is_ok(), is_here, "{host}");
        if let Err(others) = settled {
            assert!(others.to_string().contains("of this one alone"), "{others}");
            let hint = others.hint();
            for words in [
                "--start-at TIME vdbench --here=a",
                "`fathom merge`",
                "fathom-mpi run vdbench",
            ] {
                assert!(hint.contains(words), "{hint}");
            }
        }
    }
}

#[test]
fn machines_that_run_together_have_each_its_own_share() {
    let text = "hd=vm1,system=here\nhd=vm2,system=there\nhd=idle,system=nowhere\nsd=s1,hd=vm1,lun=/f,size=1m\nsd=s2,hd=vm2,lun=/g,size=1m\n\
                wd=w1,sd=s1,hd=vm1\nwd=w2,sd=s2,hd=vm2\nrd=r,wd=w*,iorate=max,elapsed=2,interval=1\n";
    let check = |words: &str, own: &[&str], settles: bool| {
        let mut input = read_with(text, words).unwrap();
        let share = input.among_others(&machine(&[])).unwrap();
        assert_eq!(share.own, own, "{words}");
        assert_eq!(share.all, ["vm1", "vm2"], "{words}");
        let is_settled = input.settle(&machine(&[("/f", 1 << 20)]), 7).is_ok();
        assert_eq!(is_settled, settles, "{words}");
    };
    check("", &["vm1"], true);
    check("--here=vm2", &["vm2"], true);
    check("--here=none", &[], false);
    let mut alone = read(&format!("sd=s,lun=/f,size=1m\n{RUN}"));
    assert_eq!(alone.among_others(&machine(&[])), None);
}

#[test]
fn this_machine_stands_in_for_hosts_where_it_is_told_to() {
    let text = published(3, RUN);
    let mut all = read_with(&text, "--here=all").unwrap();
    assert!(all.settle(&machine(&[]), 7).unwrap().is_empty());
    assert_eq!(
        all.runs.len(),
        3,
        "SD_format, the run at full speed, and the point"
    );
    assert_eq!(all.workload.stages[1].jobs.len(), 18);
    assert!(all.workload.jobs().all(|(_, job)| job.host.is_none()));
    let mut part = read_with(&text, "--here=vm1,vm3").unwrap();
    let notes = part.settle(&machine(&[]), 7).unwrap();
    assert!(
        notes[0].contains("the part of vm1, vm3 alone: 12 jobs"),
        "{notes:?}"
    );
    assert_eq!(part.workload.stages[1].jobs.len(), 12);
    assert_eq!(part.runs[1].jobs.len(), 12);
}

#[test]
fn runs_without_a_job_here_are_left_out_and_the_others_renumbered() {
    let text = "hd=a\nhd=b\nsd=s,host=a,lun=/s,size=1m\nsd=t,host=b,lun=/t,size=1m\nwd=w,sd=s\nwd=v,sd=t\n\
                rd=r,wd=w,iorate=max\nrd=q,wd=v,iorate=curve,curve=(50)\n";
    let mut input = read_with(text, "--here=b").unwrap();
    let notes = input.settle(&machine(&[("/t", 1 << 20)]), 7).unwrap();
    assert!(
        notes[0].contains("the part of b alone: 1 job of another host is left out"),
        "{notes:?}"
    );
    let names: Vec<&str> = input.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["q", "q_(50%)"]);
    assert_eq!(
        input.runs[1].rate,
        RunRate::Of {
            run: 0,
            percent: 50.0
        }
    );
    assert_eq!(input.workload.stages[1].rate_from.unwrap().stage, 0);
}

#[test]
fn short_files_are_written_first_and_from_where_they_end() {
    let text = format!(
        "sd=a,lun=/a,size=8m,openflags=o_direct\nsd=b,lun=/b,size=8m\nsd=c,lun=/c,size=8m\nsd=d,lun=/dev/x,size=8m,openflags=o_direct\n{RUN}"
    );
    let mut input = read(&text);
    input
        .settle(&machine(&[("/a", 8 << 20), ("/b", (5 << 20) + 77)]), 7)
        .unwrap();
    let run = &input.runs[0];
    assert_eq!(
        (run.name.as_str(), run.kind, run.stage, run.elapsed),
        ("SD_format", RunKind::SdFormat, 0, None)
    );
    let stage = &input.workload.stages[0];
    let parts: Vec<(&str, u64, u64)> = stage
        .jobs
        .iter()
        .map(|job| {
            (
                job.name.as_str(),
                job.targets[0].offset.get(),
                job.targets[0].length.unwrap().get(),
            )
        })
        .collect();
    assert_eq!(parts, [("b", 5 << 20, 3 << 20), ("c", 0, 8 << 20)]);
    let job = &stage.jobs[0];
    assert_eq!((job.depth, job.block.write[0].size.get()), (2, 128 << 10));
    assert_eq!(job.features.files.grows, Growth::Whole);
    assert!(!job.limits.time_based);
    // The points of the curve follow the run at full speed, which has moved.
    assert_eq!(input.workload.stages[2].rate_from.unwrap().stage, 1);
    assert_eq!(input.workload.seed, 7);

    let mut full = read(&text);
    let sizes = [("/a", 8 << 20), ("/b", 9 << 20), ("/c", 8 << 20)];
    full.settle(&machine(&sizes), 7).unwrap();
    assert_eq!(full.runs[0].name, "r");
    for (word, formats) in [("yes", true), ("no", false)] {
        let mut forced = read(&format!("formatsds={word}\n{text}"));
        let sizes = if formats { &sizes[..] } else { &[] };
        forced.settle(&machine(sizes), 7).unwrap();
        assert_eq!(forced.runs[0].kind == RunKind::SdFormat, formats);
    }
    let mut predicted = read(&text);
    predicted.with_layout();
    assert_eq!(
        predicted.workload.stages[0].jobs.len(),
        3,
        "no device is written so"
    );
}

#[test]
fn without_a_size_a_file_is_used_to_its_last_whole_transfer() {
    let mut input = read(&format!("sd=a,lun=/a\n{RUN}"));
    input
        .settle(&machine(&[("/a", (3 << 20) + 5000)]), 7)
        .unwrap();
    assert_eq!(
        input.workload.stages[0].jobs[0].targets[0]
            .length
            .unwrap()
            .get(),
        3 << 20
    );
}
