//! Percentiles of latency, which Iometer's own results have no place for.

use std::fmt::Write as _;

use fathom_record::StageResult;
use fathom_stats::Histogram;
use fathom_workload::Direction;

use super::super::{IometerInput, Row, Test};
use super::{common_spec, plain};

const PERCENTILES: [f64; 7] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// The first line of a file of percentiles.
pub fn percentiles_header() -> &'static str {
    "'Test,Target Type,Target Name,Access Specification Name,Queue Depth,Direction,I/Os,Minimum (ms),Average (ms),\
     50% (ms),90% (ms),95% (ms),99% (ms),99.9% (ms),99.99% (ms),99.999% (ms),Maximum (ms)\n"
}

/// The lines of one test: of all I/O, and of each worker on each target.
pub fn write_percentiles(input: &IometerInput, test: &Test, result: &StageResult) -> String {
    let mut text = String::new();
    let rows: Vec<&Row> = test.rows.iter().collect();
    let lines = std::iter::once(("ALL", "All".to_owned(), rows.as_slice()));
    let single = rows.chunks(1).map(|row| {
        let row_of = row.first();
        let manager = row_of.and_then(|row| input.managers.get(row.manager));
        let manager = manager.map_or("", String::as_str);
        let name = row_of.map_or_else(String::new, |row| {
            plain(format!("{manager} {} {}", row.worker_name, row.target).trim_start())
        });
        ("DISK", name, row)
    });
    for (kind, name, rows) in lines.chain(single) {
        let depth: u64 = rows.iter().map(|row| u64::from(row.depth)).sum();
        let ways = [
            ("all", Direction::ALL.as_slice()),
            ("read", &[Direction::Read]),
            ("write", &[Direction::Write]),
        ];
        for (way, directions) in ways {
            let latency = latency(result, rows, directions);
            if latency.count() == 0 {
                continue;
            }
            let spec = common_spec(rows);
            let stage = plain(&result.name);
            let count = latency.count();
            let _ = write!(text, "{stage},{kind},{name},{spec},{depth},{way},{count}");
            let ms = |ns: f64| ns / 1e6;
            let _ = write!(
                text,
                ",{:.6},{:.6}",
                ms(latency.min() as f64),
                ms(latency.mean())
            );
            for percent in PERCENTILES {
                let _ = write!(text, ",{:.6}", ms(latency.percentile(percent) as f64));
            }
            let _ = writeln!(text, ",{:.6}", ms(latency.max() as f64));
        }
    }
    text
}

fn latency(result: &StageResult, rows: &[&Row], directions: &[Direction]) -> Histogram {
    let mut all = Histogram::new();
    let of_rows = |job: usize| rows.iter().any(|row| row.job == job);
    for worker in result.workers.iter().filter(|worker| of_rows(worker.job)) {
        for direction in directions {
            if let Some(stats) = &worker.directions[*direction as usize] {
                all.merge(&stats.latency);
            }
        }
    }
    all
}
