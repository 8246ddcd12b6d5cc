//! Whatever is fed to the reader of fio's input, it answers; it never panics, and never takes long.

use std::io;

use fathom_dialects::fio::{
    self, FileStatus, Files, FioRun, ReadContext, looks_like_job_file, write_json, write_normal,
    write_start,
};
use fathom_units::{Bytes, Nanos};
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
        match path.len() % 5 {
            0 => FileStatus::Regular(Bytes::mib(1)),
            1 => FileStatus::Special(None),
            2 => FileStatus::Special(Some(Bytes::gib(1))),
            3 => FileStatus::Directory,
            _ => FileStatus::Missing,
        }
    }
}

fn read_all(text: String, arguments: &[String]) {
    let _ = looks_like_job_file(&text);
    let files = OneFile(text);
    let context = ReadContext {
        files: &files,
        environment: |name| (name.len() > 2).then(|| name.to_owned()),
        entropy: 1,
        page_size: Bytes::kib(4),
        processors: 2,
        memory_mib: 100,
        clock: |_| None,
    };
    match fio::read(arguments, &context) {
        Ok(input) => {
            assert_eq!(input.jobs.len(), input.workload.jobs().count());
            assert!(!input.warnings.has_errors());
            let run = FioRun {
                results: &[],
                finished_unix_ms: 0,
                elapsed: Nanos::ZERO,
                priorities: None,
                idle: &[],
                pid: 1,
            };
            let _ = (write_start(&input), write_normal(&input, &run));
            let json = serde_json::from_str::<serde_json::Value>(&write_json(&input, &run));
            assert!(json.is_ok(), "{json:?}");
            let _ = input.warnings.to_string();
        }
        Err(diagnostics) => {
            assert!(diagnostics.has_errors());
            let _ = diagnostics.to_string();
        }
    }
}

/// Names of options, a few of each kind, and some that are none.
fn name() -> impl Strategy<Value = String> {
    let names = [
        "rw",
        "bs",
        "size",
        "filesize",
        "offset",
        "offset_increment",
        "io_size",
        "numjobs",
        "nrfiles",
        "filename",
        "directory",
        "filename_format",
        "bssplit",
        "ba",
        "rate",
        "rate_iops",
        "runtime",
        "startdelay",
        "percentile_list",
        "ioengine",
        "iodepth",
        "kb_base",
        "direct",
        "time_based",
        "randseed",
        "rwmixread",
        "percentage_random",
        "name",
        "description",
        "stonewall",
        "group_reporting",
        "verify",
        "thinktime",
        "fixedbufs",
        "loops",
        "include x",
        "sync",
        "significant_figures",
        "file_service_type",
        "frobnicate",
        "",
        " ",
        "[x]",
        "[global]",
        "[",
    ];
    prop_oneof![
        8 => proptest::sample::select(names.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+ ]{0,2}[0-9x]{0,25}[.,:/%-]{0,2}[kKmMgGtTpPiIbBzZsSuUdDhH%]{0,4}[,:/-]{0,2}[0-9]{0,5}",
        "[0-9]{1,5}[kmgt]",
        "(rand)?(read|write|rw|trim)(:[0-9a-z]{0,4})?",
        "(io_uring|libaio|null|psync|mmap|nul)",
        "\\$\\{[A-Z=]{0,5}\\}?",
        "[0-9]{0,3}[-+*/%]{0,3}\\$(ncpus|pagesize|mb_memory)[-+*/%]{0,2}[0-9]{0,3}",
        "[a-z/:\\\\$]{0,20}",
        "\\PC{0,20}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    (name(), proptest::option::of(value())).prop_map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_in_a_job_file(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        read_all(String::from_utf8_lossy(&bytes).into_owned(), &["job.fio".to_owned()]);
    }

    #[test]
    fn options_in_a_job_file(lines in proptest::collection::vec(line(), 0..8)) {
        let text = format!("[job]\nsize=1m\n{}\n", lines.join("\n"));
        read_all(text, &["job.fio".to_owned()]);
    }

    #[test]
    fn one_option_that_may_be_taken(line in line()) {
        read_all(format!("[job]\nsize=1m\nioengine=null\n{line}\n"), &["job.fio".to_owned()]);
    }

    #[test]
    fn arguments(
        lines in proptest::collection::vec(line(), 0..6),
        dashes in proptest::sample::select(vec!["", "-", "--"]),
    ) {
        let arguments: Vec<String> = lines.iter().map(|line| format!("{dashes}{line}")).collect();
        read_all("[job]\nsize=1m\n".to_owned(), &arguments);
    }
}

#[test]
fn numbers_at_the_edges_are_answered() {
    let names = [
        "bs", "size", "offset", "numjobs", "nrfiles", "runtime", "rate", "iodepth", "loops",
    ];
    let values = [
        "0",
        "-1",
        "9223372036854775807",
        "9223372036854775807p",
        "18446744073709551616",
        "0x",
        "0xffffffffffffffff",
        "1p",
        "8192p",
        "100%",
        "101%",
        "0%",
        "-5%",
        ",",
        ",,,",
        ":",
        "-",
    ];
    for name in names {
        for value in values {
            let text = format!("[a]\nioengine=null\nsize=1m\n{name}={value}\n[b]\nsize={value}\n");
            read_all(text, &["job.fio".to_owned()]);
        }
    }
    let many = "[a]\nsize=1m\nnumjobs=100\n".repeat(100);
    read_all(many, &["job.fio".to_owned()]);
    read_all(
        "[a]\nsize=1m\nnrfiles=65536\nnumjobs=4096\n".to_owned(),
        &["job.fio".to_owned()],
    );
    read_all(
        format!("[a]\n{}", "x=1\n".repeat(30_000)),
        &["job.fio".to_owned()],
    );
}
