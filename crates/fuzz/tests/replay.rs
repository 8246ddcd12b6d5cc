//! The kept inputs are answered: no panic, within a second each, within the memory that any input may take.

use std::process::Command;

use fathom_fuzz::{INPUT_MAX, MEMORY_MAX_KIB, PARSERS};

/// The program, under the limit of memory.
fn limited(words: &str) -> Command {
    let script = format!("ulimit -d {MEMORY_MAX_KIB}; exec \"$0\" {words}");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_fathom-fuzz")])
        .env("MALLOC_ARENA_MAX", "1");
    command
}

#[test]
fn kept_inputs_are_answered_in_time_and_memory() {
    for parser in PARSERS {
        let output = limited(&format!("replay {}", parser.name))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{}: {}\n{told}",
            parser.name,
            output.status
        );
        let count = String::from_utf8_lossy(&output.stdout);
        assert!(!count.contains(": 0 inputs"), "{count}");
    }
}

/// Inputs too long to keep, each made of a start and a part that is repeated up to the longest input that is read. Each took
/// seconds or filled the memory once.
const LONG: &[(&str, &str, &str)] = &[
    ("fio-line", "--name=a\n", "-iengine=nu1-9flow1m\n"),
    ("fio-line", "--name=a\n--ioengi-", "ioengi-"),
    ("fio-line", "--name=a\n--size=1", "-size=1"),
    ("fio-file", "[a]\nsize=1m\n", "bufer_patern=1\n"),
    (
        "native",
        "stage = [",
        "{ mix = { read = \"50%\" }, a%\" }, ",
    ),
    ("native", "", "[[stage]]\n"),
    ("native", "", "[[[["),
    ("native", "", "m\n"),
    ("design", "", "[[vm]]\n"),
    ("design", "[[vm]]\nname = \"a\"\n", "[[vm.volume]]\n"),
    ("diskspd-line", "-b4K\n", "-q\n"),
    (
        "diskspd-line",
        "-b4K\n",
        "-f1:{1::]]\"1:{1::0\"1:{1::0\"1:{1::0\"1:{1::0\"1:{1::0\"1:{1\n",
    ),
    ("trace", "fio version 2 iolog\n", "/a add\n"),
];

/// Inputs of many entries: a start, a part for each number in the place of `#` so many times, and an end. Each asked for
/// hundreds of megabytes or took seconds once.
const NUMBERED: &[(&str, &str, &str, usize, &str)] = &[
    (
        "vdbench",
        "sd=s1,lun=/a,size=1g\n",
        "wd=w#,sd=s1,rdpct=70,seekpct=50,xfersize=(4k,50,8k,50)\n",
        17_000,
        "rd=r,wd=w*,iorate=(100-300,100),elapsed=10,interval=1,forthreads=(1-8,d)\n",
    ),
    (
        "vdbench",
        "sd=s1,lun=/a,size=1g\nwd=default,sd=s1,rdpct=70,rhpct=50\n",
        "wd=w#\n",
        33_000,
        "rd=r,wd=w*,iorate=max,elapsed=10,interval=1,forthreads=(1-3)\n",
    ),
    (
        "vdbench",
        "fsd=f,anchor=/a,depth=1,width=1,files=1,size=4k\nfwd=default,fsd=f,xfersize=(4k,4m,4k)\n",
        "fwd=w#\n",
        33_000,
        "rd=r,fwd=w*,fwdrate=max,elapsed=10,interval=1,forthreads=(1-3),format=yes\n",
    ),
    (
        "vdbench",
        "sd=default,size=1g\nsd=s,lun=/a*,count=(1,9000)\nwd=w,sd=*,xfersize=(4k,4m,4k)\n",
        "",
        0,
        "rd=r,wd=w,iorate=max,elapsed=10,interval=1,forthreads=(1-10)\n",
    ),
    (
        "vdbench",
        "sd=s,lun=/a*,size=1g,count=(1,49000)\nwd=w1,sd=*\nwd=w2,sd=*\n",
        "rd=r#,wd=w*,iorate=1000,elapsed=10,interval=1\n",
        800,
        "",
    ),
    (
        "vdbench",
        "sd=s,lun=/a*,size=1g,count=(1,100000)\nwd=w,sd=*\n",
        "",
        0,
        "rd=r,wd=w,sd=single,iorate=1000,elapsed=10,interval=1\n",
    ),
    (
        "vdbench",
        "",
        "hd=h#\n",
        9_000,
        "sd=s,lun=/a,size=1g\nwd=w,sd=s\nrd=r,wd=w,iorate=1000,elapsed=10,interval=1,forthreads=(1-10)\n",
    ),
];

#[test]
fn inputs_of_many_entries_are_answered_in_time_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (index, (parser, start, part, times, end)) in NUMBERED.iter().enumerate() {
        let path = folder.path().join(index.to_string());
        let parts = (0..*times).map(|number| part.replace('#', &number.to_string()));
        let text = format!("{start}{}{end}", parts.collect::<String>());
        assert!(text.len() <= INPUT_MAX, "{part:?}");
        std::fs::write(&path, text).unwrap();
        let words = format!("read {parser} {}", path.display());
        let output = limited(&words).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{parser}, {part:?}: {}\n{told}",
            output.status
        );
    }
}

#[test]
fn long_inputs_are_answered_in_time_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (index, (parser, start, part)) in LONG.iter().enumerate() {
        let path = folder.path().join(index.to_string());
        let times = (INPUT_MAX - start.len()) / part.len();
        std::fs::write(&path, format!("{start}{}", part.repeat(times))).unwrap();
        let words = format!("read {parser} {}", path.display());
        let output = limited(&words).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{parser}, {part:?}: {}\n{told}",
            output.status
        );
    }
}
