//! Sweeps: curves, plots and knees.

use fathom_record::{CurveRecord, KneePlace, KneeRecord, PointRecord, RunKind, SweepRecord};
use fathom_report::Summary;

use crate::records::{check, fits, record};

/// A disk of 1 ms that carries `limit` I/Os a second, at each of `depths`.
fn curve(name: &str, depths: &[u64], limit: f64) -> CurveRecord {
    let points = depths.iter().map(|depth| {
        let mean = (*depth as f64 / limit * 1e9).max(1e6);
        let block = if name.is_empty() {
            String::new()
        } else {
            format!(" {name}")
        };
        PointRecord {
            stage: format!("depth={depth}{block}"),
            depth: Some(*depth as u32),
            block_bytes: None,
            threads: None,
            outstanding: *depth,
            ios: 100_000,
            iops: *depth as f64 / mean * 1e9,
            bandwidth_bytes_per_sec: *depth as f64 / mean * 1e9 * 4096.0,
            latency_mean_ns: mean,
            latency_p50_ns: (mean * 0.9) as u64,
            latency_p99_ns: (mean * 2.0) as u64,
            bound_by: Some("vm-uncached-iops".to_owned()),
            waited_share: Some(1.0 - 1e6 / mean),
        }
    });
    CurveRecord {
        name: name.to_owned(),
        points: points.collect(),
        knee: None,
    }
}

fn knee(curve: CurveRecord, index: usize, lies: KneePlace) -> CurveRecord {
    let stage = curve.points[index].stage.clone();
    CurveRecord {
        knee: Some(KneeRecord { stage, lies }),
        ..curve
    }
}

#[test]
fn a_sweep_is_a_table_a_plot_and_a_knee() {
    let depths = [1, 2, 4, 8, 16, 32, 64];
    let mut record = record(RunKind::Predict, vec![], vec![]);
    let curve = curve("", &depths, 16_000.0);
    record.sweep = Some(SweepRecord {
        curves: vec![knee(curve, 4, KneePlace::Inside)],
    });
    check(&record, Summary::Short, include_str!("sweep.txt"));
    let narrow = fits(&record, Summary::Short, 40);
    assert_eq!(narrow, include_str!("sweep_narrow.txt"), "\n{narrow}");
}

#[test]
fn several_curves_have_letters() {
    let depths = [1, 4, 16, 64];
    let mut record = record(RunKind::Run, vec![], vec![]);
    let small = curve("block=4k", &depths, 16_000.0);
    let large = curve("block=64k", &depths, 2000.0);
    let none = curve("block=1m", &depths[..2], 100.0);
    let deep = curve("block=2k", &depths[..3], 90_000.0);
    record.sweep = Some(SweepRecord {
        curves: vec![
            knee(small, 2, KneePlace::Inside),
            knee(large, 0, KneePlace::First),
            none,
            knee(deep, 2, KneePlace::Last),
        ],
    });
    check(&record, Summary::Short, include_str!("sweep_curves.txt"));
}
