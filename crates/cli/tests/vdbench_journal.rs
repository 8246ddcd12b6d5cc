//! Vdbench's journals: what a run wrote is known to the next one, whatever ended the first.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;
mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use live::{Served, Shown};
use support::{disk_folder, expect_code, fathom, until};

const MIXED: &str = "\
wd=mixed,sd=sd*,xfersize=4k,rdpct=30,seekpct=random
rd=mixed,wd=mixed,iorate=max,elapsed=2,interval=1
";

fn parameters(home: &Path, sd: &str, rest: &str) {
    fs::write(home.join("parm"), format!("sd=sd1,{sd}\n{rest}")).unwrap();
}

/// Runs Vdbench's parameters with more words; what it says.
#[track_caller]
fn vdbench(home: &Path, words: &str, code: i32) -> String {
    let mut arguments = vec!["vdbench", "-f", "parm", "-o", "out"];
    arguments.extend(words.split_whitespace());
    expect_code(home, &arguments, code).0
}

/// Begins them, to be ended from outside.
fn begin(home: &Path, words: &str) -> Child {
    let mut command = fathom(home);
    command.args(["vdbench", "-f", "parm", "-o", "out"]);
    command.args(words.split_whitespace());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// The blocks that a run compared and found right, and those that were wrong, of its first line about them.
#[track_caller]
fn compared(told: &str) -> (u64, u64) {
    let counts = told.lines().find_map(|line| {
        let (_, counts) = line.split_once("key blocks read and validated:")?;
        counts.split_once("; key blocks marked in error:")
    });
    let (right, wrong) = counts.unwrap_or_else(|| panic!("no counts in\n{told}"));
    let number = |text: &str| text.trim().replace(',', "").parse().unwrap();
    (number(right), number(wrong))
}

/// Waits until a journal tells of so many changes, of 24 bytes each.
fn until_it_tells(journal: &Path, changes: u64) {
    until("the journal grows", || {
        fs::metadata(journal).is_ok_and(|facts| facts.len() > changes * 24)
    });
}

#[test]
fn what_one_run_wrote_the_next_one_checks() {
    let folder = disk_folder();
    let home = folder.path();
    parameters(home, "lun=f1,size=4m,threads=4", MIXED);
    vdbench(home, "-j", 0);
    // Nothing of how it came to be, at its end: a head, a key for each block, and two records.
    let length = fs::metadata(home.join("sd1.jnl")).unwrap().len();
    assert_eq!(length, 48 + 1024 + 2 * 24);
    // Written in full before the run, so that all is known.
    let told = vdbench(home, "-jro", 0);
    assert_eq!(compared(&told), (1024, 0), "{told}");
    assert!(
        told.contains("journal `sd1.jnl`: 1,024 key blocks known"),
        "{told}"
    );
    assert!(told.contains("Starting RD=journal_recovery;"), "{told}");
    assert!(!told.contains("Starting RD=mixed;"), "{told}");
    // Whoever reads alone changes nothing.
    let journal = fs::read(home.join("sd1.jnl")).unwrap();
    vdbench(home, "-jro", 0);
    assert_eq!(fs::read(home.join("sd1.jnl")).unwrap(), journal);
    let told = vdbench(home, "-jr", 0);
    assert!(told.contains("Starting RD=mixed;"), "{told}");
    assert_ne!(fs::read(home.join("sd1.jnl")).unwrap(), journal);
    assert_eq!(compared(&vdbench(home, "-jro", 0)), (1024, 0));
    let told = vdbench(home, "-jrs", 0);
    assert!(!told.contains("journal_recovery"), "{told}");
    // Begun anew, it tells of what was written since alone.
    let once = "wd=few,sd=sd1,xfersize=4k,rdpct=0,seekpct=eof,range=(0,25)\nrd=few,wd=few,iorate=max,elapsed=9,interval=1\n";
    parameters(home, "lun=f1,size=4m,threads=4", once);
    vdbench(home, "-jn", 0);
    let told = vdbench(home, "-jro", 0);
    assert_eq!(compared(&told), (256, 0), "{told}");
}

#[test]
fn what_changed_meanwhile_is_found_each_time() {
    let folder = disk_folder();
    let home = folder.path();
    parameters(home, "lun=f1,size=4m", MIXED);
    vdbench(home, "-j", 0);
    let mut bytes = fs::read(home.join("f1")).unwrap();
    bytes[2_000_000] ^= 1;
    fs::write(home.join("f1"), bytes).unwrap();
    for _ in 0..2 {
        let told = vdbench(home, "-jro", 157);
        assert_eq!(compared(&told), (1023, 1), "{told}");
        assert!(told.contains("lba: 1998848"), "{told}");
    }
    // It is never used again, also by those who go on.
    let told = vdbench(home, "-jr", 157);
    assert_eq!(compared(&told), (1023, 1), "{told}");
    let told = vdbench(home, "-jro", 0);
    assert!(compared(&told).0 >= 1023, "{told}");
}

/// The program is killed while it writes: of each block it is known what it may hold.
#[test]
fn a_run_that_was_killed_is_gone_on_with() {
    let folder = disk_folder();
    let home = folder.path();
    let rest = MIXED.replace("elapsed=2,", "elapsed=60,");
    parameters(home, "lun=f1,size=16m,threads=16", &rest);
    for words in ["-jn", "-jrn", "-jrn -vw"] {
        // What it begins with comes first.
        fs::write(home.join("sd1.jnl.new"), "from before").unwrap();
        let before = fs::metadata(home.join("sd1.jnl")).map_or(0, |facts| facts.len() / 24);
        let mut killed = begin(home, words);
        until_it_tells(&home.join("sd1.jnl"), before + 2000);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let told = vdbench(home, "-jro", 0);
        assert_eq!(compared(&told).1, 0, "{told}");
    }
}

/// Writes that a failing host had acknowledged and lost are found, and those that were to be durable are there.
#[test]
fn what_a_crash_took_is_found() {
    const DESIGN: &str = "[[vm]]\nname = 'db'\nsize = 'Standard_DS14'\nera = '2016'\n\n[[vm.volume]]\nname = 'data'\n\
                          mount = '/data'\ndisks = { type = 'P30', count = 1 }\ncaching = 'read-write'\n";
    let folder = disk_folder();
    let home = folder.path();
    let design = home.join("db.design.toml");
    fs::write(&design, DESIGN).unwrap();
    fs::create_dir(home.join("files")).unwrap();
    let served = Served::start(home, &design, Shown::Exports, &["--fuse", "files"]);
    until("the volume is shown", || home.join("files/data").exists());
    for (flags, is_lost) in [("o_direct", true), ("(o_direct,o_dsync)", false)] {
        let text = format!(
            "data_errors=100000\nsd=sd1,lun=files/data,size=64m,threads=4,openflags={flags}\n\
             wd=w,sd=sd1,xfersize=4k,rdpct=0,seekpct=random\nrd=r,wd=w,iorate=100,elapsed=60,interval=1\n"
        );
        fs::write(home.join("parm"), text).unwrap();
        let _ = fs::remove_file(home.join("sd1.jnl"));
        let mut run = begin(home, "-j");
        until_it_tells(&home.join("sd1.jnl"), 200);
        served.order(&["crash", "--vm", "db"]);
        run.kill().unwrap();
        run.wait().unwrap();
        let told = vdbench(home, "-jro", if is_lost { 157 } else { 0 });
        let (right, wrong) = compared(&told);
        assert_eq!(wrong > 0, is_lost, "{told}");
        assert!(right > 0 || is_lost, "{told}");
    }
}

#[test]
fn a_journal_that_does_not_fit_is_refused_before_anything_is_written() {
    let folder = disk_folder();
    let home = folder.path();
    let refused = |words: &str, parts: &[&str]| {
        let arguments = [
            &["vdbench", "-f", "parm", "-o", "out"],
            &*words.split(' ').collect::<Vec<_>>(),
        ];
        let (out, told) = expect_code(home, &arguments.concat(), 157);
        for part in parts {
            assert!(told.contains(part), "no `{part}` in\n{told}{out}");
        }
    };
    parameters(home, "lun=f1,size=4m", MIXED);
    refused("-jr", &["there is no journal `sd1.jnl`", "-j`"]);
    assert!(!home.join("f1").exists());
    fs::write(home.join("sd1.jnl"), "something else").unwrap();
    refused(
        "-j",
        &["`sd1.jnl` is not replaced by a journal", "remove it"],
    );
    refused("-jr", &["cannot be gone on with: it is no journal"]);
    assert_eq!(fs::read(home.join("sd1.jnl")).unwrap(), b"something else");
    assert!(!home.join("f1").exists());
    fs::remove_file(home.join("sd1.jnl")).unwrap();
    vdbench(home, "-j", 0);
    // Transfers of whole key blocks fit, others do not.
    parameters(home, "lun=f1,size=4m", &MIXED.replace("4k", "8k"));
    vdbench(home, "-jr", 0);
    parameters(home, "lun=f1,size=4m", &MIXED.replace("4k", "2k"));
    refused(
        "-jr",
        &["1024 key blocks of 4096 bytes of `sd1`", "2048 bytes"],
    );
    parameters(home, "lun=f1,size=4m", MIXED);
    let whole = fs::read(home.join("f1")).unwrap();
    fs::write(home.join("f1"), &whole[..1 << 20]).unwrap();
    refused("-jro", &["is missing or too short"]);
    assert_eq!(fs::metadata(home.join("f1")).unwrap().len(), 1 << 20);
    fs::write(home.join("f1"), &whole).unwrap();
    let mut journal = fs::read(home.join("sd1.jnl")).unwrap();
    journal[100] ^= 1;
    fs::write(home.join("sd1.jnl"), journal).unwrap();
    refused("-jro", &["the keys it begins with are not whole"]);
}
