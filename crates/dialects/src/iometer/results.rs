//! The results file of Iometer 1.1.0, and one of percentiles beside it.
//!
//! A file begins with the test's setup; the access specifications stand before the first test that uses them, and each test
//! has a table. Its columns are the 80 of 1.1.0, whatever they are good for: times in ms, raw times in ns (the "processor
//! speed" is the clock they are counted by), bins of latency at the end.

mod figures;
mod percentiles;

use std::fmt::Write as _;

use fathom_record::StageResult;

use super::{IometerInput, Record, Row, Test};

use figures::Figures;
pub use percentiles::{percentiles_header, write_percentiles};

/// Clock that raw times are counted by: ns.
const TICKS_PER_SEC: f64 = 1e9;

/// What Iometer writes where workers differ in a setting, or where it has none.
const AMBIGUOUS: &str = "-1";

/// Names of the columns but those of latency bins, in order.
const COLUMNS: [&str; 59] = [
    "'Target Type",
    "Target Name",
    "Access Specification Name",
    "# Managers",
    "# Workers",
    "# Disks",
    "IOps",
    "Read IOps",
    "Write IOps",
    "MiBps (Binary)",
    "Read MiBps (Binary)",
    "Write MiBps (Binary)",
    "MBps (Decimal)",
    "Read MBps (Decimal)",
    "Write MBps (Decimal)",
    "Transactions per Second",
    "Connections per Second",
    "Average Response Time",
    "Average Read Response Time",
    "Average Write Response Time",
    "Average Transaction Time",
    "Average Connection Time",
    "Maximum Response Time",
    "Maximum Read Response Time",
    "Maximum Write Response Time",
    "Maximum Transaction Time",
    "Maximum Connection Time",
    "Errors",
    "Read Errors",
    "Write Errors",
    "Bytes Read",
    "Bytes Written",
    "Read I/Os",
    "Write I/Os",
    "Connections",
    "Transactions per Connection",
    "Total Raw Read Response Time",
    "Total Raw Write Response Time",
    "Total Raw Transaction Time",
    "Total Raw Connection Time",
    "Maximum Raw Read Response Time",
    "Maximum Raw Write Response Time",
    "Maximum Raw Transaction Time",
    "Maximum Raw Connection Time",
    "Total Raw Run Time",
    "Starting Sector",
    "Maximum Size",
    "Queue Depth",
    "% CPU Utilization",
    "% User Time",
    "% Privileged Time",
    "% DPC Time",
    "% Interrupt Time",
    "Processor Speed",
    "Interrupts per Second",
    "CPU Effectiveness",
    "Packets/Second",
    "Packet Errors",
    "Segments Retransmitted/Second",
];

/// Use of one processor while a test was measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuTimes {
    /// Its number.
    pub cpu: u32,
    /// Shares of the time in percent: all that is not idle, programs, the kernel, deferred calls, interrupts.
    pub shares: [f64; 5],
    /// Interrupts a second.
    pub interrupts: f64,
}

/// What the machine did while a test was measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// Its processors.
    pub cpus: Vec<CpuTimes>,
    /// Packets a second on all network interfaces.
    pub packets: f64,
    /// Packets that were wrong.
    pub packet_errors: f64,
    /// TCP segments a second that were sent again.
    pub retransmitted: f64,
}

/// What `fathom iometer /?` prints.
pub fn usage() -> &'static str {
    "\
usage: fathom iometer /c FILE.icf [/r RESULTS.csv] [/t SECONDS] [OPTIONS]

  /c FILE             configuration to run (also -c FILE, or FILE alone)
  /r FILE             file that results are added to; without it they are printed
  /t SECONDS          taken without effect: managers need not log in here

  --spec NAME         access specification of every worker; repeated: one after another
  --target PATH       folder, file or device of every worker; repeated: all of them
  --qd N              I/Os outstanding of each worker on each target
  --time TIME         measured time of each test, such as 60s
  --ramp-up TIME      time before it
  --workers N         workers, where the file has none
  --size SIZE         how large to make a test file that does not exist
  --manager NAME      the one manager whose workers run
  --percentiles FILE  file that percentiles are added to
  --map FROM=TO       where a drive, folder or disk is here: --map 'D:=/mnt/d'
  --destroy-data=NAME allow writing to a block device
  --record            keep the run among those of `fathom runs`
"
}

/// The head of the file.
pub fn write_setup(input: &IometerInput, started_unix_ns: u64) -> String {
    format!(
        "'Test Type,Test Description\n{},{}\n'Version\n1.1.0 \n'Time Stamp\n{}\n",
        input.test_type,
        input.description,
        time_stamp(started_unix_ns)
    )
}

/// The access specifications that begin with a test; nothing where none do.
pub fn write_specs(test: &Test) -> String {
    if test.specs.is_empty() {
        return String::new();
    }
    let mut text = "'Access specifications\n".to_owned();
    for spec in &test.specs {
        let _ = writeln!(
            text,
            "'Access specification name,default assignment\n{},{}",
            spec.name, spec.assigned
        );
        text.push_str("'size,% of size,% reads,% random,delay,burst,align,reply\n");
        for line in &spec.lines {
            for number in line {
                let _ = write!(text, "{number},");
            }
            text.push('\n');
        }
    }
    text + "'End access specifications\n"
}

/// The last line of a file whose tests all ran, or that of one whose run was stopped.
pub fn write_end(interrupted: bool) -> &'static str {
    if interrupted {
        "Aborted test\n"
    } else {
        "'End Test\n"
    }
}

/// The table of one test.
pub fn write_results(
    input: &IometerInput,
    test: &Test,
    result: &StageResult,
    machine: &Machine,
    finished_unix_ns: u64,
) -> String {
    let mut text = "'Results\n".to_owned();
    text.push_str(&COLUMNS.join(","));
    for (name, _) in figures::BINS {
        let _ = write!(text, ",{name}");
    }
    text.push('\n');
    let table = Table {
        input,
        test,
        result,
        machine,
    };
    table.write(&mut text);
    let _ = writeln!(text, "'Time Stamp\n{}", time_stamp(finished_unix_ns));
    text
}

struct Table<'a> {
    input: &'a IometerInput,
    test: &'a Test,
    result: &'a StageResult,
    machine: &'a Machine,
}

/// What a row says beside its figures.
struct Head<'a> {
    kind: &'a str,
    name: &'a str,
    spec: &'a str,
    /// Managers, workers, disks; `None`: blank.
    counts: [Option<usize>; 3],
    raw: bool,
    machine: bool,
    clock: bool,
}

impl Table<'_> {
    fn write(&self, text: &mut String) {
        let rows: Vec<&Row> = self.test.rows.iter().collect();
        let managers: Vec<&[&Row]> = rows.chunk_by(|a, b| a.manager == b.manager).collect();
        let workers = |rows: &[&Row]| rows.chunk_by(|a, b| a.worker == b.worker).count();
        let all = Head {
            kind: "ALL",
            name: "All",
            spec: common_spec(&rows),
            counts: [Some(managers.len()), Some(workers(&rows)), Some(rows.len())],
            raw: false,
            machine: true,
            clock: false,
        };
        self.row(text, &all, &rows);
        if self.input.record < Record::NoWorkers {
            return;
        }
        for of_manager in managers {
            let index = of_manager.first().map_or(0, |row| row.manager);
            let name = self.input.managers.get(index).map_or("", String::as_str);
            let head = Head {
                kind: "MANAGER",
                name: &plain(if name.is_empty() { "localhost" } else { name }),
                spec: common_spec(of_manager),
                counts: [None, Some(workers(of_manager)), Some(of_manager.len())],
                raw: true,
                machine: true,
                clock: true,
            };
            self.row(text, &head, of_manager);
            self.processors(text);
            if self.input.record >= Record::NoTargets {
                self.workers(text, of_manager);
            }
        }
    }

    fn workers(&self, text: &mut String, rows: &[&Row]) {
        for of_worker in rows.chunk_by(|a, b| a.worker == b.worker) {
            let Some(first) = of_worker.first() else {
                continue;
            };
            let head = Head {
                kind: "WORKER",
                name: &plain(&first.worker_name),
                spec: common_spec(of_worker),
                counts: [None, None, Some(of_worker.len())],
                raw: true,
                machine: false,
                clock: true,
            };
            self.row(text, &head, of_worker);
            if self.input.record < Record::All {
                continue;
            }
            for row in of_worker {
                let disk = Head {
                    kind: "DISK",
                    name: &plain(&row.target),
                    spec: "",
                    counts: [None; 3],
                    ..head
                };
                self.row(text, &disk, &[row]);
            }
        }
    }

    fn processors(&self, text: &mut String) {
        for one in &self.machine.cpus {
            let _ = write!(text, "PROCESSOR,CPU {}{}", one.cpu, ",".repeat(46));
            numbers(text, &one.shares);
            numbers(text, &[TICKS_PER_SEC, one.interrupts]);
            text.push_str(",,,,\n");
        }
    }

    fn row(&self, text: &mut String, head: &Head<'_>, rows: &[&Row]) {
        let figures = Figures::of(self.result, rows);
        let _ = write!(text, "{},{},{}", head.kind, head.name, head.spec);
        for count in head.counts {
            let _ = match count {
                Some(count) => write!(text, ",{count}"),
                None => write!(text, ","),
            };
        }
        numbers(text, &figures.rates());
        numbers(text, &figures.times_ms());
        for count in figures.counts() {
            let _ = write!(text, ",{count}");
        }
        let _ = write!(text, ",{AMBIGUOUS}");
        if head.raw {
            for raw in figures.raw() {
                let _ = write!(text, ",{raw}");
            }
        } else {
            text.push_str(&",".repeat(9));
        }
        let settings = [
            common(rows, |row| row.start),
            common(rows, |row| row.max_size),
            common(rows, |row| row.depth.into()),
        ];
        for setting in settings {
            let _ = match setting {
                Some(value) => write!(text, ",{value}"),
                None => write!(text, ",{AMBIGUOUS}"),
            };
        }
        self.machine_part(text, head, figures.iops());
        for count in figures.bins() {
            let _ = write!(text, ",{count}");
        }
        text.push('\n');
    }

    fn machine_part(&self, text: &mut String, head: &Head<'_>, iops: f64) {
        let cpus = &self.machine.cpus;
        let count = cpus.len().max(1) as f64;
        let mean = |index: usize| cpus.iter().map(|cpu| cpu.shares[index]).sum::<f64>() / count;
        let shares: [f64; 5] = std::array::from_fn(mean);
        if head.machine {
            numbers(text, &shares);
        } else {
            text.push_str(&",".repeat(5));
        }
        if head.clock {
            numbers(text, &[TICKS_PER_SEC]);
        } else {
            text.push(',');
        }
        if !head.machine {
            text.push_str(&",".repeat(5));
            return;
        }
        let interrupts = cpus.iter().map(|cpu| cpu.interrupts).sum();
        let effectiveness = if shares[0] > 0.0 {
            iops / shares[0]
        } else {
            0.0
        };
        numbers(text, &[interrupts, effectiveness]);
        let machine = self.machine;
        numbers(
            text,
            &[
                machine.packets,
                machine.packet_errors,
                machine.retransmitted,
            ],
        );
    }
}

fn numbers(text: &mut String, numbers: &[f64]) {
    for number in numbers {
        let _ = write!(text, ",{number:.6}");
    }
}

/// The name of the access specification that all rows have, or nothing.
fn common_spec<'r>(rows: &[&'r Row]) -> &'r str {
    let first = rows.first().map_or("", |row| row.spec.as_str());
    let same = rows.iter().all(|row| row.spec == first);
    if same { first } else { "" }
}

fn common(rows: &[&Row], value: impl Fn(&Row) -> u64) -> Option<u64> {
    let first = rows.first().map(|row| value(row))?;
    rows.iter().all(|row| value(row) == first).then_some(first)
}

/// A name that cannot break the columns.
fn plain(name: &str) -> String {
    name.replace(", ", " ").replace([',', '\n', '\r'], " ")
}

/// `2026-09-03 10:00:00:123`, in UTC.
fn time_stamp(unix_ns: u64) -> String {
    let date = crate::diskspd::date(unix_ns);
    let date = date.trim_end_matches(" UTC").replace('/', "-");
    format!("{date}:{:03}", unix_ns / 1_000_000 % 1000)
}
