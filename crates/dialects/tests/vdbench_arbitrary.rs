//! Whatever is fed to the reader of Vdbench's parameter files, it answers; it never panics, and never takes long.

use std::io;

use fathom_dialects::fio::{FileStatus, Files};
use fathom_dialects::vdbench::{looks_like_parameter_file, origins, read};
use fathom_units::Bytes;
use proptest::prelude::*;

struct OneFile(String);

impl Files for OneFile {
    fn read_text(&self, path: &str) -> io::Result<String> {
        // The same text under every name, so that `include` finds it as well.
        if path.contains("absent") {
            Err(io::ErrorKind::NotFound.into())
        } else {
            Ok(self.0.clone())
        }
    }

    fn status(&self, path: &str) -> FileStatus {
        match path.len() % 4 {
            0 => FileStatus::Regular(Bytes::mib(1)),
            1 => FileStatus::Special(None),
            2 => FileStatus::Directory,
            _ => FileStatus::Missing,
        }
    }
}

/// Reads `text`; what is taken is consistent, and what is refused is told.
fn read_all(text: String, words: &[&str]) {
    let _ = looks_like_parameter_file(&text);
    let words: Vec<String> = ["-f", "p"]
        .iter()
        .chain(words)
        .map(ToString::to_string)
        .collect();
    let files = OneFile(text);
    match read(&words, &files) {
        Ok(mut input) => {
            assert!(!input.warnings.has_errors());
            assert_eq!(input.runs.len(), input.workload.stages.len());
            for run in &input.runs {
                assert_eq!(run.jobs.len(), input.workload.stages[run.stage].jobs.len());
            }
            let _ = origins(&input);
            let _ = input.settle(&files, 1);
            input.with_layout();
        }
        Err(complaints) => {
            assert!(complaints.has_errors());
            let _ = complaints.to_string();
        }
    }
}

fn key() -> impl Strategy<Value = String> {
    let keys = [
        "hd",
        "sd",
        "wd",
        "rd",
        "fsd",
        "fwd",
        "lun",
        "size",
        "threads",
        "host",
        "count",
        "xfersize",
        "rdpct",
        "seekpct",
        "skew",
        "iorate",
        "curve",
        "elapsed",
        "interval",
        "warmup",
        "forthreads",
        "forxfersize",
        "range",
        "hitarea",
        "rhpct",
        "streams",
        "stride",
        "openflags",
        "offset",
        "align",
        "maxdata",
        "include",
        "clients",
        "system",
        "anchor",
        "compratio",
        "el",
        "th",
        "distribution",
        "pause",
        "loop",
        "fwdrate",
        "format",
        "",
    ];
    proptest::sample::select(keys.to_vec()).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    let values = [
        "a",
        "b",
        "a*",
        "*",
        "default",
        "1",
        "0",
        "4k",
        "1g",
        "100",
        "50%",
        "max",
        "curve",
        "(1,2)",
        "(4k,50,8k,50)",
        "(1-8,d)",
        "(8-1,2)",
        "(a1-a3)",
        "(a-1-1)",
        "\"a b\"",
        "/dev/x",
        "o_direct",
        "seq",
        "eof",
        "(10,120)",
        "-5",
        "9e99",
        "99999999999999999999",
        "(",
        ")",
        "(4k,64k,4k)",
        "$x",
        "!host",
        "#hosts",
        "localhost",
        "1m",
        "(1,100000)",
        "é",
    ];
    prop_oneof![
        4 => proptest::sample::select(values.to_vec()).prop_map(str::to_owned),
        1 => ".{0,6}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    let pair = (
        key(),
        value(),
        proptest::sample::select(vec![",", ",", ", ", "\n", ""]),
    );
    let pairs = proptest::collection::vec(pair, 1..6);
    pairs.prop_map(|pairs| {
        pairs
            .into_iter()
            .map(|(key, value, end)| format!("{key}={value}{end}"))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_in_a_parameter_file(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        read_all(String::from_utf8_lossy(&bytes).into_owned(), &[]);
    }

    #[test]
    fn parameters_in_a_file(lines in proptest::collection::vec(line(), 0..8)) {
        read_all(lines.join("\n"), &[]);
    }

    #[test]
    fn parameters_where_they_may_be_taken(sd in line(), wd in line(), rd in line()) {
        let text = format!("hd=a\nsd=s,lun=/f,size=1g,{sd}\nwd=w,sd=s,{wd}\nrd=r,wd=w,iorate=max,{rd}\n");
        read_all(text, &["--here=all"]);
    }

    #[test]
    fn words(words in proptest::collection::vec("-?-?[a-z+]{0,3}(=[a-z0-9,]{0,3})?", 0..5)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        read_all("sd=s,lun=/f,size=1g\nwd=w,sd=s\nrd=r,wd=w,iorate=max\n".to_owned(), &words);
    }
}

#[test]
fn a_mebibyte_of_anything_is_answered() {
    let good = "sd=sd1,lun=/f,size=1g\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max\n";
    for line in [
        "sd=a,lun=/x\n",
        "a=b,",
        "hd=a\n",
        "((((,",
        "sd=(a1-a9999)\n",
        "rd=a,iorate=max\n",
        "wd=w,sd=*\n",
        "\"",
        "x=(1-9,",
        "sd=$host,lun=/x\nhd=a\n",
        "include=p\n",
        "th=4,",
        "é",
    ] {
        let text = line.repeat((1 << 20) / line.len());
        read_all(text.clone(), &[]);
        read_all(format!("{good}{text}"), &[]);
    }
    // As many entries as a mebibyte holds, each different and each meant by a wildcard.
    let many = |kind: &str| {
        (0..40_000)
            .map(|n| format!("{kind}=e{n},lun=/x{n}\n"))
            .collect::<String>()
    };
    read_all(
        format!(
            "{}wd=w,sd=*\nrd=r,wd=w,iorate=max\nrd=q,wd=w,iorate=(1-3,1)\n",
            many("sd")
        ),
        &[],
    );
}
