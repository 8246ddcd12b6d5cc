//! Vdbench's data validation on real files: what is sound is found sound, and what was harmed is found and named.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use support::{disk_folder, expect_code, fathom};

/// `fill` and `again` write all blocks, `pass` reads them; `f1` holds each block with key 1 from its format, 2 and 3.
const PASSES: &str = "\
wd=write,sd=sd*,xfersize=16k,rdpct=0,seekpct=eof
wd=read,sd=sd*,xfersize=64k,rdpct=100,seekpct=eof
rd=default,iorate=max,elapsed=60,interval=1
rd=fill,wd=write
rd=again,wd=write,startcmd=./save
rd=pass,wd=read,startcmd=./harm
";

fn script(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    std::fs::write(&path, format!("#!/bin/sh\nset -e\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

fn page(home: &Path, name: &str) -> String {
    std::fs::read_to_string(home.join("out").join(name)).unwrap()
}

fn dd(more: &str) -> String {
    format!("dd {more} bs=16k count=1 conv=notrunc status=none")
}

/// Runs the passes with what happens before the second and the third, and looks for `expected` in the error log; each line of
/// it must be there, and nothing else may be wrong. `compared` blocks of the third were found right.
#[track_caller]
fn check(words: &str, (save, harm): (&str, &str), expected: &[&str], compared: u64) {
    let folder = disk_folder();
    let home = folder.path();
    script(home, "save", save);
    script(home, "harm", harm);
    let sd = "sd=sd1,lun=f1,size=4m,threads=4\n";
    std::fs::write(home.join("parm"), format!("{sd}{PASSES}")).unwrap();
    let mut arguments = vec!["vdbench", "-f", "parm", "-o", "out", "--run-commands"];
    arguments.extend(words.split_whitespace());
    let code = if expected.is_empty() { 0 } else { 157 };
    expect_code(home, &arguments, code);
    let log = page(home, "errorlog.html");
    for part in expected {
        assert!(log.contains(part), "no `{part}` in\n{log}");
    }
    let corrupted = log
        .matches("Corrupted data block for sd=sd1,lun=f1;")
        .count();
    assert_eq!(corrupted, usize::from(!expected.is_empty()), "{log}");
    let told = page(home, "logfile.html");
    let found = counts(&told);
    let bad = u64::from(!expected.is_empty());
    assert_eq!(found.last(), Some(&(compared, bad)), "{found:?}");
}

/// Key blocks that each run compared and found right, and those that were wrong by then.
fn counts(log: &str) -> Vec<(u64, u64)> {
    let number = |text: &str| text.trim().replace(',', "").parse().unwrap();
    let lines = (log.lines()).filter_map(|line| line.split_once("key blocks read and validated:"));
    lines
        .map(|(_, rest)| {
            let (compared, bad) = rest.split_once("; key blocks marked in error:").unwrap();
            (number(compared), number(bad))
        })
        .collect()
}

#[test]
fn what_nobody_harmed_is_sound() {
    for words in ["-v", "-vr", "-vw", "-vrw", "-vt"] {
        check(words, ("true", "true"), &[], 256);
    }
}

#[test]
fn a_byte_that_changed_is_found_where_it_is() {
    let harm = "printf X | dd of=f1 bs=1 seek=1048900 conv=notrunc status=none";
    check(
        "-v",
        ("true", harm),
        &[
            "lba: 1,048,576 (0x00100000) xfersize=65536: 1 of 4 key blocks",
            "Key block lba: 0x00100000 of 16384 bytes, written with key 0x03: 1 of 32 sectors are wrong, the first at \
             0x00100000: the pattern differs from byte 324 on; written ",
            "errno: 60003: 'A Data Validation error was discovered'",
        ],
        255,
    );
}

/// Old contents of the same place differ in their key alone.
#[test]
fn a_block_as_it_was_before_its_last_write_is_found() {
    let save = dd("if=f1 of=old skip=70");
    let harm = dd("if=old of=f1 seek=70");
    check(
        "-v",
        (&save, &harm),
        &["Data Validation Key miscompare. Expecting key=0x03 received key=0x02 (3/2)"],
        255,
    );
}

#[test]
fn a_block_of_another_place_is_found() {
    let harm = format!(
        "{}\n{}",
        dd("if=f1 of=old skip=9"),
        dd("if=old of=f1 seek=8")
    );
    let expected = "Logical byte address miscompare. Expecting 0x00020000, receiving 0x00024000";
    check("-vw", ("true", &harm), &[expected], 255);
}

/// What was harmed is found by the read before the next write, and is not written again.
#[test]
fn the_read_before_a_write_finds_what_is_wrong() {
    let harm = "printf X | dd of=f1 bs=1 seek=32800 conv=notrunc status=none";
    let expected = [
        "lba: 32,768 (0x00008000)",
        "found by the read before a write",
    ];
    // The transfer of the third run that holds it is left out as a whole: four blocks.
    check("-v", (harm, "true"), &expected, 252);
}

/// Mixes of reads and writes of several sizes by several workloads on the same storage, with and without a rate.
#[test]
fn workloads_that_share_storage_do_not_disturb_each_other() {
    let folder = disk_folder();
    let home = folder.path();
    let text = "\
validate=(yes,read_after_write)
sd=default,size=2m,threads=8
sd=sd1,lun=f1
sd=sd2,lun=f2,openflags=o_direct
wd=random,sd=sd*,xfersize=(4k,50,16k,50),rdpct=50,seekpct=100
wd=order,sd=sd1,xfersize=8k,rdpct=30,seekpct=0
wd=some,sd=sd2,xfersize=64k,rdpct=0,seekpct=20
rd=default,elapsed=2,interval=1
rd=fast,wd=*,iorate=max
rd=paced,wd=*,iorate=1500
rd=skewed,wd=random,iorate=max,threads=(1,16)
";
    std::fs::write(home.join("parm"), text).unwrap();
    expect_code(home, &["vdbench", "-f", "parm", "-o", "out"], 0);
    let log = page(home, "logfile.html");
    let found = counts(&log);
    // The format reads what it wrote, too.
    assert_eq!(found.len(), 5, "{log}");
    let sound = |(compared, bad): &(u64, u64)| *compared > 500 && *bad == 0;
    assert!(found.iter().all(sound), "{found:?}");
}

/// A read before each write is an I/O more, which is counted as a read.
#[test]
fn reads_before_writes_are_counted() {
    let folder = disk_folder();
    let home = folder.path();
    let text = "\
sd=sd1,lun=f1,size=4m,threads=2
wd=write,sd=sd1,xfersize=16k,rdpct=0,seekpct=eof
rd=fill,wd=write,iorate=max,elapsed=60,interval=1
";
    std::fs::write(home.join("parm"), text).unwrap();
    for (words, reads) in [("-v", "256"), ("-vw", "0"), ("-vr", "512")] {
        let _ = std::fs::remove_file(home.join("f1"));
        expect_code(home, &["vdbench", "-f", "parm", "-o", "out", words], 0);
        let text = page(home, "percentiles.csv");
        let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let found = rows
            .filter(|row| row[0] == "fill" && row[2].starts_with("avg_") && row[4] == "read")
            .map(|row| row[5].to_owned())
            .next();
        assert_eq!(found.as_deref().unwrap_or("0"), reads, "{words}\n{text}");
    }
}

/// So many errors end all.
#[test]
fn errors_have_their_limit() {
    let folder = disk_folder();
    let home = folder.path();
    script(home, "save", "true");
    script(
        home,
        "harm",
        "head -c 4194304 /dev/zero | dd of=f1 conv=notrunc status=none",
    );
    let text = format!("data_errors=3\nvalidate=yes\nsd=sd1,lun=f1,size=4m,threads=1\n{PASSES}");
    std::fs::write(home.join("parm"), text).unwrap();
    let arguments = ["vdbench", "-f", "parm", "-o", "out", "--run-commands"];
    expect_code(home, &arguments, 157);
    let log = page(home, "errorlog.html");
    assert_eq!(log.matches("Corrupted data block").count(), 3, "{log}");
}

/// The same as keys of a native file: `f1` is written, harmed or not, and read.
const NATIVE: &str = "\
[target]
path = \"f1\"
size = \"1MiB\"

[[stage]]
name = \"fill\"
[[stage.job]]
name = \"w\"
mix = \"write\"
access = \"sequential\"
block = \"16KiB\"
measure = \"one-pass\"
caching = \"buffered\"
validate = { name = \"sd1\" }

[[stage]]
name = \"pass\"
[[stage.job]]
name = \"r\"
access = \"sequential\"
block = \"64KiB\"
measure = \"one-pass\"
caching = \"buffered\"
run_before = \"./harm\"
validate = { name = \"sd1\" }
";

/// Runs the native file after `change`, with `harm` between its stages, as a file and from standard input.
#[track_caller]
fn check_native(change: (&str, &str), harm: &str, code: i32, expected: &[&str]) {
    let text = NATIVE.replace(change.0, change.1);
    for from_stdin in [false, true] {
        let folder = disk_folder();
        let home = folder.path();
        script(home, "harm", harm);
        std::fs::write(home.join("v.workload.toml"), &text).unwrap();
        let mut command = fathom(home);
        if from_stdin {
            command.args(["run", "--dialect", "native", "-"]);
            command.stdin(std::fs::File::open(home.join("v.workload.toml")).unwrap());
        } else {
            command.args(["run", "v.workload.toml"]);
        }
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        for part in expected {
            assert!(stderr.contains(part), "no `{part}` in\n{stderr}");
        }
    }
}

#[test]
fn native_files_validate_too() {
    let as_it_is = ("", "");
    let counted =
        "Total amount of key blocks read and validated:       64; key blocks marked in error:    0";
    check_native(as_it_is, "", 0, &[counted]);
    let harm = dd("if=/dev/zero of=f1 seek=2");
    let found = [
        "key blocks marked in error:    1",
        "error: job `r`: the 65536 bytes at offset 0 of `f1` are not what was written there",
        "hint: ",
    ];
    check_native(as_it_is, &harm, 5, &found);
    // Keys that are not known are told where they stand; nothing has run.
    let wrong = ("name = \"sd1\" }\n\n", "name = \"sd1\", pre = true }\n\n");
    let told = [":14:28", "`pre` is no key of a validation", "pre_read"];
    check_native(wrong, "", 3, &told);
    let unchecked = ("validate = { name = \"sd1\" }\n\n", "\n");
    check_native(unchecked, "", 3, &["give both checks, or neither"]);
}
