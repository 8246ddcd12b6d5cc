//! Lines, parameter files and output of SQLIO.

use std::io;

use fathom_record::{OpStats, StageResult, WorkerStats};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{Access, Backend, Caching, OpenSync, SequentialScope};

use super::*;
use crate::fio::FileStatus;

/// One parameter file, `param.txt`.
struct Param(&'static str);

impl Files for Param {
    fn read_text(&self, path: &str) -> io::Result<String> {
        match path {
            "param.txt" => Ok(self.0.to_owned()),
            _ => Err(io::Error::other("not there")),
        }
    }

    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }
}

const PARAM: &str = "# a comment\nc:\\testfile.dat 4 0x0 2000\n\nd:\\x.dat 2 0x3 # more\n";

#[track_caller]
fn accepted(line: &[&str]) -> SqlioInput {
    let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
    read(&words, &Param(PARAM)).unwrap_or_else(|errors| panic!("{line:?}\n{errors}"))
}

#[track_caller]
fn refused(line: &[&str], part: &str) {
    let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
    let errors = match read(
        &words,
        &Param("x.dat\ny.dat 300\nz.dat 1 0xg\nz.dat 1 0 0\n"),
    ) {
        Ok(_) => panic!("{line:?} is taken"),
        Err(errors) => errors.to_string(),
    };
    assert!(
        errors.contains(part) && errors.contains("hint:"),
        "{line:?}\n{errors}"
    );
}

#[test]
fn defaults_are_sqlios() {
    let input = accepted(&[]);
    let job = &input.workload.stages[0].jobs[0];
    assert_eq!(job.targets[0].place.path(), "testfile.dat");
    assert_eq!((job.workers, job.depth, job.backend), (1, 1, Backend::Sync));
    assert_eq!(
        (job.caching, job.sync.open),
        (Caching::Direct, OpenSync::Dsync)
    );
    assert_eq!(job.limits.runtime, Some(Nanos::from_secs(30)));
    assert_eq!(job.limits.warmup, Nanos::ZERO);
    let gap = Bytes::kib(126);
    let scope = SequentialScope::PerWorker;
    assert_eq!(job.access, Access::Sequential { gap, scope });
    assert!(!job.mix.changes_data() && job.features.files.must_exist);
}

#[test]
fn published_lines_are_read() {
    // The value may stand behind a blank, as scripts of PowerShell write it.
    let small = [
        "-s10",
        "-kR",
        "-frandom",
        "-b8",
        "-o 64",
        "-t4",
        "-LS",
        "-BN",
        "C:\\Test\\test.dat",
    ];
    let job = &accepted(&small).workload.stages[0].jobs[0];
    assert_eq!((job.workers, job.depth), (4, 64));
    assert_eq!(job.block.read[0].size, Bytes::kib(8));
    assert!(matches!(job.access, Access::Random { .. }));
    let input = accepted(&[
        "-kW",
        "-t32",
        "-s30",
        "-dEF",
        "-o1",
        "-fsequential",
        "-b8",
        "-BH",
        "-LS",
        "Testfile.dat",
    ]);
    let jobs = &input.workload.stages[0].jobs;
    let paths: Vec<&str> = jobs.iter().map(|job| job.targets[0].place.path()).collect();
    assert_eq!(paths, ["E:Testfile.dat", "F:Testfile.dat"]);
    assert_eq!(
        (jobs[0].caching, jobs[0].sync.open),
        (Caching::Direct, OpenSync::None)
    );
    assert_eq!((jobs[0].depth, jobs[0].backend), (1, Backend::IoUring));
    let input = accepted(&[
        "-kW",
        "-s60",
        "-o8",
        "-frandom",
        "-b8",
        "-BS",
        "-LS",
        "-Fparam.txt",
    ]);
    let jobs = &input.workload.stages[0].jobs;
    assert_eq!((jobs.len(), jobs[0].workers, jobs[1].workers), (2, 4, 2));
    assert_eq!(jobs[0].targets[0].length, Some(Bytes::mib(2000)));
    assert!(!jobs[0].features.files.must_exist && jobs[1].features.files.must_exist);
    assert_eq!(jobs[1].features.process.processors, [0, 1]);
    assert_eq!(
        (jobs[1].caching, jobs[1].sync.open),
        (Caching::Buffered, OpenSync::Dsync)
    );
    // Without a queue a thread goes from file to file.
    let job = &accepted(&["-t2", "-S4", "-b64", "-aR0x5", "a", "b"])
        .workload
        .stages[0]
        .jobs[0];
    assert_eq!((job.targets.len(), job.workers), (2, 2));
    assert_eq!(job.targets[1].offset, Bytes::kib(256));
    assert_eq!(job.features.process.processors, [0, 2]);
    assert_eq!(accepted(&["-o0", "-R1,E"]).settings.targets[1].path, "E:");
    for word in ["-U", "-v1.1.1", "-64", "-p0", "-pI1", "-LP", "-LSi", "-D1"] {
        accepted(&[word, "x"]);
    }
}

#[test]
fn bad_lines_are_refused_with_a_remedy() {
    for (line, part) in [
        (&["-kX"][..], "no kind"),
        (&["-t0"], "1 to 256"),
        (&["-t257"], "1 to 256"),
        (&["-s0"], "no number"),
        (&["-b"], "no number"),
        (&["-b4K"], "no number"),
        (&["-fzigzag"], "no number"),
        (&["-BX"], "no way of buffering"),
        (&["-L"], "no clock"),
        (&["-a0xg"], "no mask"),
        (&["-d1"], "no drive"),
        (&["-R"], "no disk"),
        (&["-mS4"], "not built yet"),
        (&["-mS4", "-o8"], "have no queue"),
        (&["-F"], "no parameter file"),
        (&["-Fabsent.txt"], "cannot be read"),
        (&["-Fparam.txt"], "param.txt:1:1"),
        (&["-Fparam.txt"], "`300` is no number from 1 to 256"),
        (
            &["-o", "8", "x.dat"],
            "no number stands behind it; it takes one from 0 to 65536",
        ),
        (&["-Fparam.txt"], "`0xg` is no mask"),
        (&["-Fparam.txt", "x"], "named on the line"),
        (&["-q"], "no option of SQLIO"),
        (&["-"], "alone"),
        (&["–b8"], "no keyboard has"),
    ] {
        refused(line, part);
    }
}

/// No letter stands before the numbers of a parameter file.
#[test]
fn a_number_of_a_parameter_file_is_told_what_its_line_is_made_of() {
    for line in ["x.dat two 0x0 16", "x.dat 2 0x0 lots"] {
        let words = ["-Fparam.txt".to_owned()];
        let errors = read(&words, &Param(line)).unwrap_err().to_string();
        let told = errors.contains("hint: write a file, its threads, a mask and MB");
        assert!(told && errors.contains("param.txt:1:1"), "{errors}");
    }
}

/// Who writes `-frnd` or `-b4K` does not lack digits alone.
#[test]
fn what_is_no_number_is_told_what_stands_there() {
    for (word, expected) in [
        ("-t300", "hint: give 1 to 256\n"),
        ("-s0", "hint: give 1 to 4294967295\n"),
        ("-tx", "hint: write digits behind the option's letter\n"),
        (
            "-frnd",
            "hint: write -frandom, -fsequential, or how many blocks",
        ),
        ("-f0", "hint: give 1 to 4294967295\n"),
        ("-b4K", "hint: write KiB in digits alone, such as `-b8`\n"),
        ("-b0", "hint: give 1 to 4194303\n"),
    ] {
        let errors = read(&[word.to_owned()], &Param("")).unwrap_err();
        let told = format!("{errors}\n");
        assert!(told.contains(expected), "{word}\n{told}");
    }
}

/// One parameter file of any bytes.
struct Bytewise(Vec<u8>);
impl Files for Bytewise {
    fn read_text(&self, _: &str) -> io::Result<String> {
        Err(io::Error::other("it is read as bytes"))
    }
    fn read_bytes(&self, _: &str) -> io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }
    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }
}

#[test]
fn a_parameter_file_of_powershell_is_read() {
    let words = ["-Fparam.txt".to_owned()];
    let text = "é.dat 2 0x0 16\r\nb.dat 1\r\n";
    let little = text.encode_utf16().flat_map(u16::to_le_bytes);
    let big = text.encode_utf16().flat_map(u16::to_be_bytes);
    for bytes in [
        [0xff, 0xfe].into_iter().chain(little).collect(),
        [0xfe, 0xff].into_iter().chain(big).collect(),
        [0xef, 0xbb, 0xbf].into_iter().chain(text.bytes()).collect(),
        text.as_bytes().to_vec(),
    ] {
        let input = read(&words, &Bytewise(bytes)).unwrap();
        let jobs = input.workload.jobs();
        let paths: Vec<_> = jobs.map(|(_, job)| job.targets[0].place.path()).collect();
        assert_eq!(paths, ["é.dat", "b.dat"]);
    }
    let errors = read(&words, &Bytewise(b"a\0\0b 2".to_vec())).unwrap_err();
    let told = "`param.txt` is no text: it holds zero bytes";
    assert_eq!(errors.0.len(), 1);
    assert_eq!(errors.0[0].message, told);
}

/// Any file, as large as it is.
struct Large(String);
impl Files for Large {
    fn read_text(&self, _: &str) -> io::Result<String> {
        Ok(self.0.clone())
    }
    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }
}

#[test]
fn inputs_of_a_mib_are_answered() {
    const SIZE: usize = 1 << 20;
    for word in ["-b8", "x", "-q", "-dEF", "-", "-R1,"] {
        let count = SIZE / (word.len() + 1);
        let _ = read(&vec![word.to_owned(); count], &Param(""));
        let _ = read(&[word.repeat(count)], &Param(""));
    }
    for row in ["x\n", "x 1\n", "x ", "#", "x 1 0 0\n", "\n"] {
        let files = Large(row.repeat(SIZE / row.len()));
        let _ = read(&["-Fp".to_owned()], &files);
    }
}

fn result(latencies: &[(u64, u64)]) -> StageResult {
    let mut stats = OpStats::new(false, false);
    for (millis, count) in latencies {
        stats.latency.record_many(millis * 1_000_000 + 1000, *count);
        stats.bytes += count * 8192;
    }
    StageResult {
        measured: Nanos::from_secs(10),
        workers: vec![WorkerStats {
            directions: [Some(stats), None, None],
            ..WorkerStats::new(0, 0)
        }],
        ..StageResult::new("sqlio", 0)
    }
}

#[test]
fn the_output_is_sqlios_to_the_character() {
    let input = accepted(&[
        "-kR", "-t2", "-s10", "-o8", "-frandom", "-b8", "-BH", "-LS", "x.dat",
    ]);
    let run = SqlioRun {
        result: &result(&[(0, 50), (1, 30), (9, 17), (40, 3)]),
        sizes: &[100 << 20],
    };
    let expected = "\
sqlio v1.5.SG
using system counter for latency timings, 1000000000 counts per second
2 threads reading for 10 secs from file x.dat
\tusing 8KB random IOs
\tenabling multiple I/Os per thread with 8 outstanding
\tbuffering set to use hardware disk cache (but not file cache)
using current size: 100 MB for file: x.dat
initialization done
CUMULATIVE DATA:
throughput metrics:
IOs/sec:    10.00
MBs/sec:     0.08
latency metrics:
Min_Latency(ms): 0
Avg_Latency(ms): 3
Max_Latency(ms): 40
histogram:
ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+
%: 50 30  0  0  0  0  0  0  0 17  0  0  0  0  0  0  0  0  0  0  0  0  0  0  3
";
    let text = write_text(&input.settings, &run);
    assert!(text == expected, "{text}");
}

#[test]
fn a_parameter_file_has_two_lines_more() {
    let input = accepted(&["-kW", "-s10", "-b8", "-Fparam.txt"]);
    let run = SqlioRun {
        result: &result(&[(0, 50)]),
        sizes: &[0, 5 << 20],
    };
    let expected = "\
sqlio v1.5.SG
parameter file used: param.txt
\tfile c:\\testfile.dat with 4 threads (0-3) using mask 0x0 (0)
\tfile d:\\x.dat with 2 threads (4-5) using mask 0x3 (3)
6 threads writing for 10 secs to files c:\\testfile.dat, d:\\x.dat
\tusing 8KB IOs over 512KB stripes with 64 IOs per run
using specified size: 2000 MB for file: c:\\testfile.dat
using current size: 5 MB for file: d:\\x.dat
initialization done
CUMULATIVE DATA:
throughput metrics:
IOs/sec:     5.00
MBs/sec:     0.04
";
    let text = write_text(&input.settings, &run);
    assert!(text == expected, "{text}");
}

#[test]
fn values_are_explained() {
    let text = origins(&accepted(&["-b8", "-Fparam.txt"]));
    for (option, origin) in [
        ("-b 8 KiB", "command line"),
        ("-s 30 s", "SQLIO's default"),
        ("file d:\\x.dat, 2 threads", "param.txt"),
    ] {
        let found = text
            .lines()
            .any(|line| line.contains(option) && line.ends_with(origin));
        assert!(found, "no {option} in\n{text}");
    }
}
