//! The script DiskPerformance.ps1 1.2, which runs SQLIO with more and more I/Os outstanding, and its table.
//!
//! Arguments are taken as PowerShell takes them: names in any case and short as long as they are clear, a dash of a web
//! page for `-`, values behind a blank or a colon. What is carried, and each deliberate difference, stands in
//! `docs/dialects/diskperformance.md`.
//!
//! ```
//! use fathom_dialects::diskperformance;
//! let arguments = ["-TestMode", "Get-LargeIO", "–TestFileSizeInGB", "1"].map(String::from);
//! let input = diskperformance::read(&arguments).unwrap();
//! assert_eq!(input.workload.stages.len(), 32);
//! ```

mod line;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use fathom_diagnostics::Diagnostics;
use fathom_record::StageResult;
use fathom_units::Nanos;
use fathom_workload::{Stage, SweepPoint, Workload};

use crate::sqlio;

/// Columns of a console that a table is laid out for.
const CONSOLE: usize = 120;
/// Names of the table's columns.
const COLUMNS: [&str; 7] = [
    "MBSec",
    "IOPS",
    "SizeIOKBytes",
    "LatencyMS",
    "OutStandingIOs",
    "Type",
    "Target",
];

/// What is measured (`-TestMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `Get-SmallIO`: IOPS.
    Small,
    /// `Get-LargeIO`: throughput.
    Large,
}

impl Mode {
    /// Each number of I/Os outstanding that is measured.
    pub fn depths(self) -> RangeInclusive<u32> {
        match self {
            Self::Small => 8..=64,
            Self::Large => 1..=32,
        }
    }

    fn block_kib(self) -> u32 {
        match self {
            Self::Small => 8,
            Self::Large => 512,
        }
    }

    fn order(self) -> (&'static str, sqlio::Order) {
        match self {
            Self::Small => ("random", sqlio::Order::Random),
            Self::Large => ("sequential", sqlio::Order::Sequential),
        }
    }

    fn threads(self) -> u32 {
        match self {
            Self::Small => 4,
            Self::Large => 1,
        }
    }
}

/// What becomes of a file that is there already (`-RemoveTestFile`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The script stops.
    Keep,
    /// It is removed.
    Remove,
}

/// Where the table goes (`-OutputFormat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// To a window.
    GridView,
    /// To the console.
    Table,
}

/// Every argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `-TestFileName`.
    pub file: String,
    /// `-TestFileSizeInGB`, GiB.
    pub size_gib: u64,
    /// `-TestFilepath`.
    pub folder: String,
    /// `-TestMode`.
    pub mode: Mode,
    /// Seconds of a point (`-FastMode`).
    pub seconds: u64,
    /// `-RemoveTestFile`.
    pub existing: Existing,
    /// `-OutputFormat`.
    pub output: Output,
    /// Parameters that were given.
    given: BTreeMap<&'static str, String>,
}

impl Settings {
    /// The test file, as the script names it: with Windows' separator where the folder has one, or a drive.
    pub fn path(&self) -> String {
        let windows = !self.folder.starts_with('/') && self.folder.contains(['\\', ':']);
        let separator = if windows { '\\' } else { '/' };
        let folder = self.folder.trim_end_matches(['/', '\\']);
        format!("{folder}{separator}{}", self.file)
    }
}

/// A command line that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskPerformanceInput {
    /// What to run: one stage a point. The last removes the file.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// Every argument.
    pub settings: Settings,
}

impl DiskPerformanceInput {
    /// Its points as those of a sweep over the depth.
    pub fn sweep(&self) -> Vec<SweepPoint> {
        let threads = self.settings.mode.threads();
        let depths = self.settings.mode.depths();
        let points = self.workload.stages.iter().zip(depths);
        points
            .map(|(stage, depth)| SweepPoint {
                stage: stage.name.clone(),
                depth: Some(depth),
                outstanding: u64::from(threads) * u64::from(depth),
                ..SweepPoint::default()
            })
            .collect()
    }
}

/// Reads the words after the script's name.
///
/// # Errors
/// Every complaint about the line at once. At least one of them is an error.
pub fn read(arguments: &[String]) -> Result<DiskPerformanceInput, Diagnostics> {
    let (settings, warnings) = line::read(arguments)?;
    let workload = build(&settings);
    fathom_workload::validate(&workload)?;
    Ok(DiskPerformanceInput {
        workload,
        warnings,
        settings,
    })
}

/// Each point is a run of SQLIO, with five seconds to the next.
fn build(settings: &Settings) -> Workload {
    let mode = settings.mode;
    let target = sqlio::Target {
        path: settings.path(),
        threads: mode.threads(),
        mask: 0,
        size_mib: Some(settings.size_gib << 10),
    };
    let last = *mode.depths().end();
    let stages = mode.depths().map(|depth| {
        let of_sqlio = sqlio::Settings {
            seconds: settings.seconds,
            order: mode.order().1,
            outstanding: Some(depth),
            block_kib: mode.block_kib(),
            latency: true,
            ..sqlio::Settings::default()
        };
        let mut job = sqlio::job(&of_sqlio, std::slice::from_ref(&target));
        job.unlink = depth == last;
        Stage {
            name: format!("outstanding {depth}"),
            jobs: vec![job],
            cooldown: Nanos::from_secs(5),
            repeats: 1,
            discard: false,
            rate_from: None,
        }
    });
    Workload {
        stages: stages.collect(),
        seed: 0,
    }
}

/// The table, as `Format-Table` prints it: columns of equal width, values as SQLIO printed them.
pub fn write_table(settings: &Settings, results: &[StageResult]) -> String {
    let mode = settings.mode;
    let rows = results.iter().filter_map(|result| {
        let depth = mode.depths().nth(result.stage)?;
        Some([
            sqlio::mib_per_sec(result),
            sqlio::ios_per_sec(result),
            mode.block_kib().to_string(),
            sqlio::average_ms(result).to_string(),
            depth.to_string(),
            mode.order().0.to_owned(),
            settings.path(),
        ])
    });
    let mut text = String::from("\n");
    row(&mut text, &COLUMNS.map(str::to_owned));
    row(&mut text, &COLUMNS.map(|name| "-".repeat(name.len())));
    rows.for_each(|values| row(&mut text, &values));
    text.push_str("\n\n");
    text
}

fn row(text: &mut String, values: &[String; 7]) {
    let width = (CONSOLE - (COLUMNS.len() - 1)) / COLUMNS.len();
    let mut line = String::new();
    for value in values {
        let _ = write!(line, "{value:width$} ");
    }
    let _ = writeln!(text, "{}", line.trim_end());
}

/// One comment line an argument, for `fathom explain`.
pub fn origins(input: &DiskPerformanceInput) -> String {
    let it = &input.settings;
    let mode = match it.mode {
        Mode::Small => "Get-SmallIO",
        Mode::Large => "Get-LargeIO",
    };
    let values = [
        ("TestFileName", it.file.clone()),
        ("TestFileSizeInGB", it.size_gib.to_string()),
        ("TestFilepath", it.folder.clone()),
        ("TestMode", mode.to_owned()),
        ("FastMode", format!("{} s a point", it.seconds)),
        (
            "RemoveTestFile",
            format!("{:?} a file that is there", it.existing),
        ),
        ("OutputFormat", format!("{:?}", it.output)),
    ];
    let mut text = String::from("# arguments in force, and where each came from\n");
    for (name, value) in values {
        let option = format!("-{name} {value}");
        let origin = it.given.get(name);
        let origin = origin.map_or("the script's default", String::as_str);
        let _ = writeln!(text, "#   {option:40} {origin}");
    }
    let (order, _) = it.mode.order();
    let depths = it.mode.depths();
    let _ = writeln!(
        text,
        "#   sqlio -s{} -kR -f{order} -b{} -o{} to {} -t{} -LS -BN {}\n",
        it.seconds,
        it.mode.block_kib(),
        depths.start(),
        depths.end(),
        it.mode.threads(),
        it.path()
    );
    text
}
