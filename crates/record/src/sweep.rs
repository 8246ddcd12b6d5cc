//! What a sweep found: its curves of rate and latency, and where each bends.
//!
//! A curve is what was measured at one block size of one stage; its points are ordered by the I/Os that may be outstanding.
//! Where block sizes alone are swept, they are points of one curve, which has no knee.
//!
//! The knee is the point of largest *power*, throughput over mean latency: Giessler, Haenle, König and Pade, "Free buffer
//! allocation: an investigation by simulation", Computer Networks 2 (1978); Kleinrock, "Power and deterministic rules of
//! thumb for probabilistic problems in computer communications", ICC 1979. Up to there more I/Os outstanding buy throughput
//! for little latency; past it they buy latency for little throughput. In a closed loop without variance it lies where the
//! I/Os outstanding are the limit's rate times the latency without a queue.

use fathom_stats::{Histogram, from_hdr_base64};
use fathom_workload::SweepPoint;
use serde::{Deserialize, Serialize};

use crate::{DirectionRecord, PlannedStage, StageRecord, planned_stages};

/// Below this share of the latency, I/Os hardly waited for limits: none binds.
pub const LEAST_WAITING: f64 = 0.01;

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// One for each stage swept and each block size.
    pub curves: Vec<CurveRecord>,
}

/// Points of one stage and block size, by I/Os outstanding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveRecord {
    /// What all its points have in common, in words; empty where nothing tells it from others.
    pub name: String,
    /// At least one.
    pub points: Vec<PointRecord>,
    /// Where it bends; `null` where fewer than three numbers of I/Os outstanding were measured.
    pub knee: Option<KneeRecord>,
}

/// One measured point: all jobs of its stage and all directions together, over all repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointRecord {
    /// Name of its stage in `stages`, without the number of a repeat.
    pub stage: String,
    /// I/Os outstanding per worker, where that was swept.
    pub depth: Option<u32>,
    /// Size of I/Os, where that was swept.
    pub block_bytes: Option<u64>,
    /// Workers of each job, where that was swept.
    pub threads: Option<u32>,
    /// I/Os that all jobs together may have outstanding.
    pub outstanding: u64,
    /// I/Os over all repeats.
    pub ios: u64,
    /// Mean over the repeats.
    pub iops: f64,
    /// Mean over the repeats.
    pub bandwidth_bytes_per_sec: f64,
    /// Over all I/Os.
    pub latency_mean_ns: f64,
    /// From the merged histograms.
    pub latency_p50_ns: u64,
    /// From the merged histograms.
    pub latency_p99_ns: u64,
    /// Predictions: the limit that I/Os waited for longest.
    pub bound_by: Option<String>,
    /// Predictions: how much of all latency I/Os waited for limits, from 0 to 1; `None` where none waited.
    #[serde(default)]
    pub waited_share: Option<f64>,
}

impl PointRecord {
    /// The limit that binds: none where I/Os hardly waited.
    pub fn binds(&self) -> Option<&str> {
        let hardly = self.waited_share.is_some_and(|share| share < LEAST_WAITING);
        self.bound_by.as_deref().filter(|_| !hardly)
    }
}

/// Where a curve bends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KneeRecord {
    /// Name of the point's stage.
    pub stage: String,
    /// Whether the curve was seen on both sides of it.
    pub lies: KneePlace,
}

/// Whether a knee is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KneePlace {
    /// Power is smaller on both sides.
    Inside,
    /// At the first point: the knee is there or below.
    First,
    /// At the last point: the knee is there or above.
    Last,
}

/// The curves of `points`, as `stages` measured them; `planned` are the stages of the workload. `None` without a
/// sweep.
pub fn sweep_record(
    points: &[SweepPoint],
    planned: &[PlannedStage<'_>],
    stages: &[StageRecord],
) -> Option<SweepRecord> {
    let found = planned_stages(planned, stages.iter().map(|stage| stage.name.as_str()));
    let mut curves: Vec<CurveRecord> = Vec::new();
    for point in points {
        let is_repeat =
            |index: &Option<usize>| index.is_some_and(|index| planned[index].name == point.stage);
        let repeats: Vec<&StageRecord> = stages
            .iter()
            .zip(&found)
            .filter(|(_, index)| is_repeat(index))
            .map(|(stage, _)| stage)
            .collect();
        let Some(measured) = measured(point, &repeats) else {
            continue;
        };
        let name = curve_name(point);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(measured),
            None => curves.push(CurveRecord {
                name,
                points: vec![measured],
                knee: None,
            }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by_key(|point| point.outstanding);
        curve.knee = knee(&curve.points);
    }
    (!points.is_empty()).then_some(SweepRecord { curves })
}

/// The curves of `swept`, which each of `hosts` hosts measured, from the stages of all.
pub(crate) fn sweep_of_hosts(
    swept: &SweepRecord,
    planned: &[PlannedStage<'_>],
    stages: &[StageRecord],
    hosts: usize,
) -> SweepRecord {
    let curves = swept.curves.iter().map(|curve| {
        let points = curve.points.iter().map(|point| SweepPoint {
            stage: point.stage.clone(),
            base: None,
            depth: point.depth,
            block: point.block_bytes.map(fathom_units::Bytes::new),
            threads: point.threads,
            outstanding: point.outstanding * hosts as u64,
        });
        let points: Vec<SweepPoint> = points.collect();
        let measured = sweep_record(&points, planned, stages).into_iter();
        let points = measured.flat_map(|sweep| sweep.curves);
        let mut points: Vec<_> = points.flat_map(|curve| curve.points).collect();
        points.sort_by_key(|point| point.outstanding);
        CurveRecord {
            name: curve.name.clone(),
            knee: knee(&points),
            points,
        }
    });
    SweepRecord {
        curves: curves.collect(),
    }
}

/// What points of one curve share.
fn curve_name(point: &SweepPoint) -> String {
    let base = point.base.clone();
    // A stage's name holds its block as it was swept.
    let loads = point.depth.is_some() || point.threads.is_some();
    let block = point.block.filter(|_| loads).and_then(|_| {
        let mut words = point.stage.split(' ').rev();
        words
            .find(|word| word.starts_with("block="))
            .map(str::to_owned)
    });
    let words: Vec<String> = base.into_iter().chain(block).collect();
    words.join(" ")
}

/// `None` where no repeat finished.
fn measured(point: &SweepPoint, repeats: &[&StageRecord]) -> Option<PointRecord> {
    let totals = repeats.iter().filter_map(|stage| stage.total.all.as_ref());
    let totals: Vec<&DirectionRecord> = totals.collect();
    let count = totals.len();
    if count == 0 {
        return None;
    }
    let mean = |figure: fn(&DirectionRecord) -> f64| {
        totals.iter().map(|total| figure(total)).sum::<f64>() / count as f64
    };
    let ios: u64 = totals.iter().map(|total| total.ios).sum();
    let time: f64 = totals
        .iter()
        .map(|total| total.latency_ns.mean * total.ios as f64)
        .sum();
    let mut merged = Histogram::new();
    for total in &totals {
        if let Ok(histogram) = from_hdr_base64(&total.latency_ns.histogram) {
            merged.merge(&histogram);
        }
    }
    let longest = totals[0].bound_by.iter().max_by(|a, b| a.1.total_cmp(b.1));
    Some(PointRecord {
        stage: point.stage.clone(),
        depth: point.depth,
        block_bytes: point.block.map(fathom_units::Bytes::get),
        threads: point.threads,
        outstanding: point.outstanding,
        ios,
        iops: mean(|total| total.iops),
        bandwidth_bytes_per_sec: mean(|total| total.bandwidth_bytes_per_sec),
        latency_mean_ns: if ios == 0 { 0.0 } else { time / ios as f64 },
        latency_p50_ns: merged.percentile(50.0),
        latency_p99_ns: merged.percentile(99.0),
        bound_by: longest.map(|(limit, _)| limit.clone()),
        waited_share: totals[0].waited_share,
    })
}

/// The point of largest power among those that measured anything; the one with fewer outstanding where two are equal.
fn knee(points: &[PointRecord]) -> Option<KneeRecord> {
    let judged = points.iter().filter(|point| point.latency_mean_ns > 0.0);
    let judged: Vec<&PointRecord> = judged.collect();
    let steps = judged
        .windows(2)
        .filter(|pair| pair[0].outstanding < pair[1].outstanding)
        .count();
    if steps < 2 {
        return None;
    }
    let power = |point: &PointRecord| point.iops / point.latency_mean_ns;
    let mut best = 0;
    for index in 1..judged.len() {
        if power(judged[index]) > power(judged[best]) {
            best = index;
        }
    }
    let lies = match best {
        0 => KneePlace::First,
        last if last + 1 == judged.len() => KneePlace::Last,
        _ => KneePlace::Inside,
    };
    Some(KneeRecord {
        stage: judged[best].stage.clone(),
        lies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed loop on storage of 1 ms that carries `limit` I/Os a second: the asymptotes of queueing theory.
    fn point(outstanding: u64, limit: f64) -> PointRecord {
        let latency_ns = (outstanding as f64 / limit * 1e9).max(1e6);
        PointRecord {
            stage: format!("depth={outstanding}"),
            depth: None,
            block_bytes: None,
            threads: None,
            outstanding,
            ios: 1000,
            iops: outstanding as f64 / latency_ns * 1e9,
            bandwidth_bytes_per_sec: 0.0,
            latency_mean_ns: latency_ns,
            latency_p50_ns: 0,
            latency_p99_ns: 0,
            bound_by: None,
            waited_share: None,
        }
    }

    #[test]
    fn a_limit_binds_where_it_is_waited_for() {
        for (waited_share, expected) in [
            (Some(0.002), None),
            (Some(0.31), Some("volume-iops")),
            // Of a record that does not tell it.
            (None, Some("volume-iops")),
        ] {
            let point = PointRecord {
                bound_by: Some("volume-iops".to_owned()),
                waited_share,
                ..point(1, 1.0)
            };
            assert_eq!(point.binds(), expected);
        }
    }

    #[track_caller]
    fn check(outstanding: &[u64], expected: Option<(&str, KneePlace)>) {
        let points: Vec<_> = outstanding.iter().map(|n| point(*n, 16_000.0)).collect();
        let expected = expected.map(|(stage, lies)| KneeRecord {
            stage: stage.to_owned(),
            lies,
        });
        assert_eq!(knee(&points), expected);
    }

    #[test]
    fn the_knee_is_where_the_asymptotes_meet() {
        check(
            &[1, 2, 4, 8, 16, 32, 64],
            Some(("depth=16", KneePlace::Inside)),
        );
        check(&[1, 2, 4, 8], Some(("depth=8", KneePlace::Last)));
        check(&[32, 64, 128], Some(("depth=32", KneePlace::First)));
        check(&[8, 16], None);
        check(&[8, 8, 8, 16], None);
    }

    #[test]
    fn points_of_one_block_make_a_curve() {
        let of = |stage: &str, base: Option<&str>, block: Option<u64>| SweepPoint {
            stage: stage.to_owned(),
            base: base.map(str::to_owned),
            block: block.map(fathom_units::Bytes::new),
            depth: stage.contains("depth").then_some(1),
            ..SweepPoint::default()
        };
        assert_eq!(curve_name(&of("depth=1", None, None)), "");
        assert_eq!(curve_name(&of("block=4k", None, Some(4096))), "");
        assert_eq!(
            curve_name(&of("a depth=1 block=4k threads=2", Some("a"), Some(4096))),
            "a block=4k"
        );
    }
}
