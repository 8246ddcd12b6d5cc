//! The readers that are fed: one row each.

use std::io;

use fathom_catalog::Catalog;
use fathom_dialects::fio::{self, FileStatus, Files, ReadContext};
use fathom_dialects::{diskperformance, diskspd, iometer, sqlio, vdbench};
use fathom_fuse::{self as fuse, FileOp, Tree, What};
use fathom_model::Design;
use fathom_observe::Observation;
use fathom_observe::import::{self, Format};
use fathom_profile::Profile;
use fathom_units::{Bytes, Nanos};
use fathom_workload::trace::{TraceReader, TraceSummary};
use fathom_workload::{Distribution, Pattern, Replay, Sweep, native};

use crate::nbd;
use crate::outcome::Outcome;

/// A reader of inputs.
#[derive(Debug)]
pub struct Parser {
    /// Name of its folder.
    pub name: &'static str,
    /// Reads an input, and says what it made of it.
    pub read: fn(&[u8], &mut Outcome),
}

/// Every reader.
pub const PARSERS: &[Parser] = &[
    Parser {
        name: "fio-file",
        read: fio_file,
    },
    Parser {
        name: "fio-line",
        read: fio_line,
    },
    Parser {
        name: "native",
        read: native_file,
    },
    Parser {
        name: "design",
        read: design,
    },
    Parser {
        name: "profile",
        read: profile,
    },
    Parser {
        name: "diskspd-line",
        read: diskspd_line,
    },
    Parser {
        name: "diskspd-xml",
        read: diskspd_xml,
    },
    Parser {
        name: "sqlio",
        read: sqlio_parameters,
    },
    Parser {
        name: "diskperformance",
        read: diskperformance_line,
    },
    Parser {
        name: "vdbench",
        read: vdbench_file,
    },
    Parser {
        name: "iometer",
        read: iometer_file,
    },
    Parser {
        name: "trace",
        read: trace,
    },
    Parser {
        name: "nbd-handshake",
        read: nbd::handshake,
    },
    Parser {
        name: "nbd-requests",
        read: nbd::requests,
    },
    Parser {
        name: "nbd-answers",
        read: nbd::answers,
    },
    Parser {
        name: "nbd-uri",
        read: nbd::uri,
    },
    Parser {
        name: "fuse-requests",
        read: fuse_requests,
    },
    Parser {
        name: "values",
        read: values,
    },
    Parser {
        name: "perfmon",
        read: |bytes, outcome| imported(bytes, "log.csv", Format::PerfMon, outcome),
    },
    Parser {
        name: "iostat",
        read: |bytes, outcome| imported(bytes, "log", Format::Iostat, outcome),
    },
    Parser {
        name: "sysstat-json",
        read: |bytes, outcome| imported(bytes, "log.json", Format::SysstatJson, outcome),
    },
    Parser {
        name: "azure-monitor",
        read: |bytes, outcome| imported(bytes, "log.json", Format::AzureMonitor, outcome),
    },
    Parser {
        name: "sadf",
        read: |bytes, outcome| imported(bytes, "log", Format::Sadf, outcome),
    },
    Parser {
        name: "blktrace",
        read: |bytes, outcome| imported(bytes, "sda.blktrace.0", Format::Blktrace, outcome),
    },
    Parser {
        name: "observed",
        read: recognised,
    },
];

/// The reader of that name.
pub fn parser(name: &str) -> Option<&'static Parser> {
    PARSERS.iter().find(|parser| parser.name == name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every line of an input is one argument.
fn words(bytes: &[u8]) -> Vec<String> {
    text(bytes)
        .lines()
        .take(10_000)
        .map(str::to_owned)
        .collect()
}

/// One text under every name, so that `include` finds it as well; files of every kind.
struct OneText<'a>(&'a [u8]);

impl Files for OneText<'_> {
    fn read_text(&self, path: &str) -> io::Result<String> {
        match path {
            "job" => Ok(text(self.0)),
            // What is included may include again, but is short.
            "short" => Ok("bs=8k\ninclude short\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
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

fn read_fio(arguments: &[String], files: &OneText<'_>, outcome: &mut Outcome) {
    let context = ReadContext {
        files,
        environment: |name| (name.len() > 2).then(|| name.to_owned()),
        entropy: 1,
        page_size: Bytes::kib(4),
        processors: 2,
        memory_mib: 100,
        clock: |_| None,
    };
    match fio::read(arguments, &context) {
        Ok(input) => {
            outcome.complaints(&input.warnings);
            outcome.workload(&input.workload);
        }
        Err(complaints) => {
            assert!(complaints.has_errors(), "refused without an error");
            outcome.complaints(&complaints);
        }
    }
}

fn fio_file(bytes: &[u8], outcome: &mut Outcome) {
    let _ = fio::looks_like_job_file(&text(bytes));
    read_fio(&["job".to_owned()], &OneText(bytes), outcome);
}

fn fio_line(bytes: &[u8], outcome: &mut Outcome) {
    read_fio(&words(bytes), &OneText(b"[a]\nsize=1m\n"), outcome);
}

fn native_file(bytes: &[u8], outcome: &mut Outcome) {
    match native::read(&text(bytes), "fuzzed.workload.toml") {
        Ok((workload, warnings)) => {
            outcome.complaints(&warnings);
            outcome.workload(&workload);
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn design(bytes: &[u8], outcome: &mut Outcome) {
    match Design::read(&text(bytes), "fuzzed.design.toml", Catalog::builtin()) {
        Ok((design, warnings)) => {
            outcome.complaints(&warnings);
            let document = design.to_json().to_string();
            for part in document.split(',').take(200) {
                outcome.add(part);
            }
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn profile(bytes: &[u8], outcome: &mut Outcome) {
    match Profile::read(&text(bytes), "fuzzed.profile.toml") {
        Ok((profile, warnings)) => {
            outcome.complaints(&warnings);
            for part in format!("{profile:?}").split(',').take(200) {
                outcome.add(part);
            }
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn diskspd_line(bytes: &[u8], outcome: &mut Outcome) {
    read_diskspd(&words(bytes), b"a profile that is none", outcome);
}

fn diskspd_xml(bytes: &[u8], outcome: &mut Outcome) {
    read_diskspd(&["-Xjob".to_owned()], bytes, outcome);
}

fn read_diskspd(words: &[String], file: &[u8], outcome: &mut Outcome) {
    match diskspd::read(words, 1, &OneText(file)) {
        Ok(input) => {
            outcome.complaints(&input.warnings);
            outcome.workload(&input.workload);
            let _ = diskspd::origins(&input);
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

/// A parameter file; its first line is an argument beside it.
fn sqlio_parameters(bytes: &[u8], outcome: &mut Outcome) {
    let mut line: Vec<String> = words(bytes).into_iter().take(1).collect();
    line.push("-Fjob".to_owned());
    match sqlio::read(&line, &OneText(bytes)) {
        Ok(input) => {
            outcome.complaints(&input.warnings);
            outcome.workload(&input.workload);
            let _ = sqlio::origins(&input);
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn diskperformance_line(bytes: &[u8], outcome: &mut Outcome) {
    match diskperformance::read(&words(bytes)) {
        Ok(input) => {
            outcome.complaints(&input.warnings);
            outcome.workload(&input.workload);
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn vdbench_file(bytes: &[u8], outcome: &mut Outcome) {
    let _ = vdbench::looks_like_parameter_file(&text(bytes));
    match vdbench::read_file("job", &OneText(bytes)) {
        Ok(input) => {
            outcome.complaints(&input.warnings);
            outcome.workload(&input.workload);
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn iometer_file(bytes: &[u8], outcome: &mut Outcome) {
    match iometer::read_text("job", &text(bytes), 2) {
        Ok(input) => {
            outcome.complaints(&input.warnings);
            outcome.workload(&input.workload);
        }
        Err(complaints) => outcome.complaints(&complaints),
    }
}

fn trace(bytes: &[u8], outcome: &mut Outcome) {
    let input = Box::new(io::Cursor::new(bytes.to_vec()));
    let replay = Replay::default();
    let summary = TraceReader::new(input).and_then(|trace| TraceSummary::of(trace, &replay));
    match summary {
        Ok(summary) => outcome.add(&format!("{summary:?}")),
        Err(error) => outcome.add(&error.to_string()),
    }
}

/// Requests of the kernel's FUSE one after another, each as long as its head says, and what names of them are answered.
fn fuse_requests(bytes: &[u8], outcome: &mut Outcome) {
    let files = [("data", 1 << 40), ("db1/log", 4097), ("db1/temp", 0)];
    let tree = Tree::new(files.into_iter(), 1, (0, 0));
    let tree = tree.expect("these names can be files");
    let mut rest = bytes;
    for _ in 0..1000 {
        let Some(length) = rest.first_chunk() else {
            return;
        };
        let length = (u32::from_ne_bytes(*length) as usize).clamp(1, rest.len());
        let (one, others) = rest.split_at(length);
        rest = others;
        match fuse::Request::parse(one) {
            Ok(request) => fuse_answer(&tree, &request, one, outcome),
            Err(error) => outcome.add(&error.to_string()),
        }
    }
}

/// What is asked of names is answered within its room; what is asked of bytes is within the request.
fn fuse_answer(tree: &Tree, request: &fuse::Request<'_>, whole: &[u8], outcome: &mut Outcome) {
    let (unique, node) = (request.unique, request.node);
    let (kind, answer) = match request.what {
        What::Init(init) => ("init", fuse::initialised(unique, &init)),
        What::Lookup(name) => {
            let found = tree.lookup(node, name);
            ("lookup", found.map(|found| fuse::entry(unique, &found)))
        }
        What::GetAttributes | What::SetAttributes(_) => {
            let found = tree.attributes(node);
            (
                "attributes",
                found.map(|found| fuse::attributes(unique, &found)),
            )
        }
        What::ReadDirectory { offset, size } => {
            let list = tree.list(unique, node, (offset, size));
            let room = 16 + size as usize;
            assert!(list.as_ref().is_none_or(|list| list.len() <= room), "room");
            ("list", list)
        }
        What::File(operation) => {
            match operation {
                FileOp::Write(range, data) => {
                    assert_eq!(data.len(), range.size as usize, "the data is whole");
                    assert!(data.len() < whole.len(), "it is of the request");
                    outcome.add(if range.is_durable() { "durable" } else { "not" });
                }
                FileOp::Allocate(range) => {
                    let is = [range.punches(), range.zeroes(), range.allocates()];
                    let count = is.iter().filter(|is| **is).count();
                    assert!(count <= 1, "one meaning");
                    outcome.add(&format!("{is:?}"));
                }
                FileOp::Seek(seek) => outcome.add(&format!("{:?}", seek.for_data())),
                FileOp::Read(_) | FileOp::Sync => {}
            }
            ("file", tree.file(node).map(|_| Vec::new()))
        }
        _ => ("other", None),
    };
    outcome.add(&format!(
        "{kind} {:?} {}",
        std::mem::discriminant(&request.what),
        answer.is_some()
    ));
    if let Some(length) = answer.as_ref().and_then(|answer| answer.first_chunk()) {
        let length = u32::from_ne_bytes(*length) as usize;
        assert_eq!(
            Some(length),
            answer.map(|answer| answer.len()),
            "its length"
        );
    }
}

/// The short texts within other formats: distributions, patterns, sweeps.
fn values(bytes: &[u8], outcome: &mut Outcome) {
    let text = text(bytes);
    match text.parse::<Distribution>() {
        Ok(read) => outcome.add(read.to_string().split(':').next().unwrap_or_default()),
        Err(error) => outcome.add(&error.to_string()),
    }
    match Pattern::parse(&text, &|_| Ok(vec![1, 2, 3])) {
        Ok(read) => outcome.add(&read.to_string()[..1]),
        Err(error) => outcome.add(&error.to_string()),
    }
    match text.parse::<Sweep>() {
        Ok(read) => outcome.add(&format!("{} points", read.point_count().min(99))),
        Err(error) => outcome.add(&error.to_string()),
    }
}

/// A log of a named format. An even length of it stands for what the user may say beside it.
fn imported(bytes: &[u8], name: &str, format: Format, outcome: &mut Outcome) {
    let told = bytes.len().is_multiple_of(2);
    let options = import::Options {
        format: Some(format),
        interval: told.then_some(Nanos::from_secs(1)),
        memory: told.then_some(Bytes::gib(8)),
        ..import::Options::default()
    };
    read_log(bytes, name, &options, outcome);
}

/// A log of whatever format it shows, under a name that fio gives its own.
fn recognised(bytes: &[u8], outcome: &mut Outcome) {
    read_log(bytes, "job_lat.1.log", &import::Options::default(), outcome);
}

fn read_log(bytes: &[u8], name: &str, options: &import::Options, outcome: &mut Outcome) {
    match import::read(bytes, name, options) {
        Ok(observation) => {
            consistent(&observation);
            for doubt in observation.doubts.iter().take(40) {
                outcome.add(doubt);
            }
            for unknown in &observation.unknown {
                outcome.add(unknown.reason);
            }
        }
        Err(complaints) => {
            assert!(complaints.has_errors(), "refused without an error");
            outcome.complaints(&complaints);
        }
    }
}

/// Intervals are in order and apart, and no figure is out of this world.
fn consistent(observation: &Observation) {
    for device in &observation.devices {
        let mut last = i128::MIN;
        for sample in &device.samples {
            let end = i128::from(sample.at_unix_ns);
            assert!(
                end - i128::from(sample.length.get()) >= last,
                "intervals overlap"
            );
            assert!(sample.length > Nanos::ZERO, "an interval is empty");
            last = end;
            for ops in [sample.reads, sample.writes, sample.all].iter().flatten() {
                let figures = [Some(ops.count), ops.bytes, ops.merged];
                let sane = |figure: &f64| figure.is_finite() && *figure >= 0.0;
                assert!(figures.iter().flatten().all(sane), "a figure is none");
            }
        }
        if let Some(traced) = &device.traced {
            assert!(
                traced.random <= traced.judged,
                "more is random than was judged"
            );
        }
    }
}
