//! The output to the character.

use fathom_record::{LogChunk, LogWindow, OpStats, StageResult, WindowSums, WorkerStats};
use fathom_units::Nanos;

use super::*;
use crate::diskspd::{Tally, read, rows};
use crate::fio::SystemFiles;

fn worker(index: u32, reads: u64) -> WorkerStats {
    let mut read = OpStats::new(false, false);
    read.latency.record_many(2_000_000, reads);
    read.bytes = reads * 4096;
    WorkerStats {
        directions: [Some(read), None, None],
        ..WorkerStats::new(0, index)
    }
}

fn result(workers: Vec<WorkerStats>) -> StageResult {
    StageResult {
        measured: Nanos::from_secs(2),
        workers,
        ..StageResult::new("timespan 1", 0)
    }
}

fn output(line: &str, cpus: &[CpuUse], chunks: &[LogChunk]) -> String {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let input = read(&words, 0, &SystemFiles).unwrap();
    let result = result(vec![worker(0, 1024), worker(1, 512)]);
    let mut tallies = Tally::of_stage(&input, 0);
    for tally in &mut tallies {
        for chunk in chunks {
            tally.add(chunk);
        }
    }
    let span = SpanRun {
        span: 0,
        measured: result.measured,
        rows: rows(&input, &result, &tallies),
        cpus: cpus.to_vec(),
        sizes: vec![10 << 20],
    };
    let run = DiskspdRun {
        spans: &[span],
        system: &System {
            computer: "host".to_owned(),
            power: "performance".to_owned(),
            cpus: cpus.to_vec(),
        },
        started_unix_ns: 0,
        program: "diskspd",
    };
    write_results(&input, &run)
}

fn cpu(cpu: u32, core: u32) -> CpuUse {
    CpuUse {
        cpu,
        core,
        user: 30.0,
        kernel: 25.0,
        idle: 45.0,
        ..CpuUse::default()
    }
}

#[test]
fn the_plain_output_is_diskspds_to_the_character() {
    let expected = "
Command Line: diskspd -c10M -b4K -r -t2 -d2 -W0 x.dat

Input parameters:

\ttimespan:   1
\t-------------
\tduration: 2s
\twarm up time: 0s
\tcool down time: 0s
\trandom seed: 0
\tpath: 'x.dat'
\t\tthink time: 0ms
\t\tburst size: 0
\t\tusing software cache
\t\tusing hardware write cache, writethrough off
\t\tperforming read test
\t\tblock size: 4KiB
\t\tusing random I/O (alignment: 4KiB)
\t\tnumber of outstanding I/O operations per thread: 2
\t\tthreads per file: 2
\t\tusing I/O Completion Ports
\t\tIO priority: normal

System information:

\tcomputer name: host
\tstart time: 1970/01/01 00:00:00 UTC

\tcpu count:\t\t2
\tcore count:\t\t2
\tgroup count:\t\t1
\tnode count:\t\t1
\tsocket count:\t\t1
\theterogeneous cores:\tn

\tactive power scheme:\tperformance

Results for timespan 1:
*******************************************************************************

actual test time:\t2.00s
thread count:\t\t2

CPU |  Usage |  User  | Kernel |  Idle
----------------------------------------
   0|  55.00%|  30.00%|  25.00%|  45.00%
   1|  55.00%|  30.00%|  25.00%|  45.00%
----------------------------------------
avg.|  55.00%|  30.00%|  25.00%|  45.00%

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  file
------------------------------------------------------------------------------
     0 |         4194304 |         1024 |       2.00 |     512.00 | x.dat (10MiB)
     1 |         2097152 |          512 |       1.00 |     256.00 | x.dat (10MiB)
------------------------------------------------------------------------------
total:           6291456 |         1536 |       3.00 |     768.00

Read IO
";
    let text = output(
        "-c10M -b4K -r -t2 -d2 -W0 x.dat",
        &[cpu(0, 0), cpu(1, 1)],
        &[],
    );
    let (shown, expected) = (text.get(..expected.len()).unwrap_or(&text), expected);
    assert!(shown == expected, "{text}");
}

/// A prediction has no processors: its table had a use of 100 %.
#[test]
fn processors_that_are_not_known_have_no_figures() {
    let text = output("-c10M -b4K -r -t2 -d2 -W0 x.dat", &[], &[]);
    let row = "\navg.|     N/A|     N/A|     N/A|     N/A\n";
    assert!(text.contains(row), "{text}");
    let text = output("-c10M -b4K -r -t2 -d2 -W0 -Rxml x.dat", &[], &[]);
    assert!(!text.contains("<Average>"), "{text}");
    assert!(!text.contains("-0.00"), "{text}");
}

#[test]
fn latencies_and_deviations_have_their_columns() {
    let window = |second, ios| LogWindow {
        end: Nanos::from_secs(second),
        length: Nanos::from_secs(1),
        directions: [
            WindowSums {
                ios,
                ..WindowSums::default()
            },
            WindowSums::default(),
            WindowSums::default(),
        ],
    };
    let chunk = LogChunk {
        windows: vec![window(1, 100), window(2, 300), window(3, 9)],
        ..LogChunk::default()
    };
    // Two threads of one core.
    let cpus = [cpu(0, 0), cpu(1, 0)];
    let text = output("-c10M -b4K -r -t2 -d2 -W0 -L -D x.dat", &cpus, &[chunk]);
    for part in [
        "\n\tmeasuring latency\n\tgathering IOPS at intervals of 1000ms\n",
        "\nCore | CPU |  Usage |  User  | Kernel |  Idle\n-----------------------------------------------\n    0|    0|  55.00%|",
        "\n       avg.|  55.00%|",
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | IopsStdDev | LatStdDev |  file\n",
        "     0 |         4194304 |         1024 |       2.00 |     512.00 |    2.000 |     100.00 |     0.000 | x.dat (10MiB)\n",
        "total:           6291456 |         1536 |       3.00 |     768.00 |    2.000 |     200.00 |     0.000\n",
        "total:                 0 |            0 |       0.00 |       0.00 |    0.000 |       0.00 |       N/A\n",
        "\nTotal latency distribution:\n  %-ile |  Read (ms) | Write (ms) | Total (ms)\n----------------------------------------------\n    min |      2.000 |        N/A |      2.000\n",
        "\n9-nines |      2.000 |        N/A |      2.000\n    max |      2.000 |        N/A |      2.000\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let rule = text
        .lines()
        .find(|line| line.len() > 100 && line.starts_with("---"));
    assert_eq!(rule.map(str::len), Some(114));
}

#[test]
fn effective_distributions_are_told() {
    let text = output(
        "-c10M -b4K -r -rdpct10/10:10/10:0/10 -t2 -d2 -W0 x.dat",
        &[cpu(0, 0)],
        &[],
    );
    let expected = "
Effective IO Distributions
--------------------------
target: x.dat [thread: 0 1]
    10% of IO => [     0    -      1MiB)
    10% of IO => [     1MiB -      2MiB)
    80% of IO => [     3MiB -     10MiB)

Total IO
";
    assert!(text.contains(expected), "{text}");
    let xml = output(
        "-Rxml -c10M -b4K -r -rdpct10/10:10/10:0/10 -t2 -d2 -W0 x.dat",
        &[cpu(0, 0)],
        &[],
    );
    let ranges = xml.matches("<Range IO=\"0\">1048576</Range>").count();
    // One in each thread's target; the profile has percent.
    assert_eq!(ranges, 2, "{xml}");
    let plain = output("-c10M -b4K -r -t2 -d2 -W0 x.dat", &[cpu(0, 0)], &[]);
    assert!(!plain.contains("Effective"));
}
