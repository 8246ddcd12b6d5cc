//! Journals of data validation: what is asked for, and the run that reads what they tell of.

use fathom_units::Bytes;
use fathom_workload::{Journal, Mix};

use super::refused::names;
use super::{SD_WD, read_with};
use crate::vdbench::RunKind;

const RD: &str = "rd=rd1,wd=wd1,iorate=max";

/// The journals that the jobs of all runs have.
fn journals(text: &str, words: &str) -> Vec<Option<Journal>> {
    let input = read_with(text, words).unwrap();
    let jobs = input.workload.jobs();
    jobs.map(|(_, job)| job.features.validate.as_ref()?.journal.clone())
        .collect()
}

#[test]
fn words_and_letters_ask_for_the_same() {
    let plain = Journal {
        path: "sd1.jnl".to_owned(),
        recovers: false,
        flushes: true,
        ignores_pending: false,
    };
    for (words, letters, expected) in [
        ("yes", "-j", plain.clone()),
        (
            "recover",
            "-jr",
            Journal {
                recovers: true,
                ..plain.clone()
            },
        ),
        (
            "(only,ignore_pending)",
            "-joi",
            Journal {
                recovers: true,
                ignores_pending: true,
                ..plain.clone()
            },
        ),
        (
            "(nof,rec)",
            "-jrn",
            Journal {
                recovers: true,
                flushes: false,
                ..plain.clone()
            },
        ),
    ] {
        let expected = [Some(expected)];
        assert_eq!(
            journals(&format!("journal={words}\n{SD_WD}{RD}"), ""),
            expected
        );
        assert_eq!(journals(&format!("{SD_WD}{RD}"), letters), expected);
        // Both ways, and beside data validation.
        let all = format!("validate=(no_preread)\njournal={words}\n{SD_WD}{RD}");
        assert_eq!(journals(&all, "-vr"), expected);
    }
    assert_eq!(journals(&format!("journal=no\n{SD_WD}{RD}"), ""), [None]);
    let elsewhere = SD_WD.replacen("sd=sd1,", "sd=sd1,journal=/logs/,", 1);
    let found = journals(&format!("{elsewhere}{RD}"), "-j");
    assert_eq!(found[0].as_ref().unwrap().path, "/logs/sd1.jnl");
}

#[test]
fn what_is_recovered_is_read_before_all_runs() {
    let text = "sd=sd1,lun=/a,size=1m,threads=3\nsd=sd2,lun=/b,size=4m\nwd=w,sd=sd*,xfersize=(4k,50,12k,50)\nwd=v,sd=sd1,xfersize=2k\n\
                rd=r,wd=w,iorate=max,elapsed=9,interval=1\nrd=q,wd=v,iorate=curve,curve=(50),elapsed=9,interval=1\n";
    for (words, kinds) in [
        ("-j", &[RunKind::Storage; 3][..]),
        ("-jrs", &[RunKind::Storage; 3]),
        ("-jro", &[RunKind::Recovery]),
        (
            "-jr",
            &[
                RunKind::Recovery,
                RunKind::Storage,
                RunKind::Storage,
                RunKind::Storage,
            ],
        ),
    ] {
        let mut input = read_with(text, words).unwrap();
        let told = crate::vdbench::origins(&input).contains("RD=journal_recovery");
        assert_eq!(told, kinds[0] == RunKind::Recovery, "{words}");
        let sizes = [("/a", 1 << 20), ("/b", 4 << 20)];
        input.settle(&super::place::machine(&sizes), 7).unwrap();
        let found: Vec<RunKind> = input.runs.iter().map(|run| run.kind).collect();
        assert_eq!(found, kinds, "{words}");
        assert_eq!(input.workload.stages.len(), kinds.len(), "{words}");
        if kinds[0] != RunKind::Recovery {
            continue;
        }
        assert_eq!(input.runs[0].name, "journal_recovery");
        let read: Vec<_> = input.workload.stages[0]
            .jobs
            .iter()
            .map(|job| {
                let target = &job.targets[0];
                assert_eq!((job.mix, job.limits.runtime), (Mix::READ, None));
                assert!(job.features.validate.as_ref().unwrap().known_only);
                let size = job.block.largest(Mix::READ);
                (target.place.path(), target.length, size, job.depth)
            })
            .collect();
        let whole = |size| Some(Bytes::mib(size));
        assert_eq!(
            read,
            [
                ("/a", whole(1), Bytes::kib(2), 3),
                ("/b", whole(4), Bytes::kib(4), 8)
            ]
        );
    }
}

#[test]
fn what_no_journal_does_is_told() {
    let text = format!("{SD_WD}{RD}");
    for (words, part) in [
        ("-jm", "the map alone"),
        ("-jx", "`-jx` is nothing that a journal can do"),
        (
            "-jr -l 2",
            "from a journal (`-jr`, `journal=recover`) in a loop",
        ),
    ] {
        let told = read_with(&text, words).unwrap_err().to_string();
        assert!(told.contains(part), "{told}");
    }
    for (word, named, remedy) in [
        ("maponly", "`journal=maponly` is not done here", "noflush"),
        ("often", "`journal=often`", "skip_read_all"),
    ] {
        names(&format!("journal={word}\n{text}"), named, 1, remedy);
    }
    let files = "fsd=f,anchor=/a,depth=1,width=1,files=9,size=4k,journal=/x\nfwd=w,fsd=f,operation=read\n\
                 rd=r,fwd=w,fwdrate=max,elapsed=9";
    names(
        files,
        "data validation is not done on file systems",
        1,
        "lun=FILE",
    );
    let elsewhere = SD_WD.replacen("sd=sd1,", "sd=sd1,journal=/logs,", 1);
    let input = read_with(&format!("{elsewhere}{RD}"), "-v").unwrap();
    let told = input.warnings.to_string();
    assert!(
        told.contains("says where its journal is, and none is kept"),
        "{told}"
    );
    let input = read_with(&format!("journal=(yes,max=10m)\n{text}"), "").unwrap();
    assert!(input.warnings.to_string().contains("`max=` of `journal=`"));
}
