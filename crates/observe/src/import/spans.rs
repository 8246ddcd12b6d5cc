//! What each report covers: from the report before to its own, without gaps, whatever the clock did.

use fathom_units::Nanos;

use super::collect::Report;
use super::pace::paces;
use super::when;
use crate::{Ops, Sample};

/// What a report covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub at: i64,
    pub length: Nanos,
}

/// The spans of the reports, where they have one.
pub(super) fn spans(
    reports: &[Report],
    resolution: Nanos,
    doubts: &mut Vec<String>,
) -> Vec<Option<Span>> {
    let mut covered: Vec<(i128, Option<i128>)> = Vec::with_capacity(reports.len());
    let mut back: Option<(usize, i128, i128)> = None;
    let (mut last, mut shift, mut step): (Option<i128>, i128, i128) = (None, 0, 0);
    for report in reports {
        let own = report.length.map(|length| i128::from(length.get()));
        let mut at = i128::from(report.at) + shift;
        let mut length = own;
        if let Some(last) = last {
            let equal = at == last && resolution >= Nanos::from_secs(1);
            if at < last || (at == last && !equal) {
                let next = last + own.unwrap_or(step).max(1);
                let (count, ..) = back.get_or_insert((0, last, next - at));
                *count += 1;
                shift += next - at;
                at = next;
                length = (own.is_some() || step > 0).then_some(next - last);
            } else if !report.fresh {
                let since = at - last;
                // What the source says it covers cannot reach back before the report before.
                length = Some(own.map_or(since, |own| {
                    if since > 0 && since + i128::from(resolution.get()) < own {
                        since
                    } else {
                        own
                    }
                }));
                step = since.max(own.unwrap_or(0));
            }
        }
        if report.fresh {
            length = own;
        }
        covered.push((at, length));
        last = Some(at);
    }
    if let Some((count, at, far)) = back {
        let often = match count {
            1 => "once,".to_owned(),
            _ => format!("{count} times, first"),
        };
        doubts.push(format!(
            "its clock goes back {often} by {} s after {}: what follows is moved on, so its hours are not the clock's",
            far / 1_000_000_000,
            when::show(at.clamp(0, i128::from(i64::MAX)) as i64),
        ));
    }
    without_gaps(covered, reports, resolution, doubts)
}

/// Of a gap only the length of an ordinary interval is kept; times in coarse steps get the length of the mean.
fn without_gaps(
    covered: Vec<(i128, Option<i128>)>,
    reports: &[Report],
    resolution: Nanos,
    doubts: &mut Vec<String>,
) -> Vec<Option<Span>> {
    let lengths: Vec<Option<i128>> = covered.iter().map(|(_, length)| *length).collect();
    let paces = paces(&lengths, reports, resolution);
    let mut run = 0;
    let mut gaps: Option<(usize, i128, i128)> = None;
    let (mut last, mut end): (Option<i128>, i128) = (None, i128::MIN);
    let mut spans = Vec::with_capacity(covered.len());
    for (report, (mut at, length)) in covered.into_iter().enumerate() {
        run += usize::from(reports[report].fresh && report > 0);
        let pace = paces[run];
        let span = length.and_then(|mut length| {
            if pace.is_gap(length) && !pace.given {
                let (count, ..) = gaps.get_or_insert((0, at - length, length));
                *count += 1;
                length = if pace.even { pace.mean } else { pace.median };
            } else if pace.even {
                length = pace.mean;
                at = last.map_or(at, |last| last + pace.mean);
            }
            // No interval reaches back into one before it, however odd the times are.
            let length = length.min(at.saturating_sub(end));
            let length = u64::try_from(length).ok().filter(|length| *length > 0)?;
            let span = Span {
                at: i64::try_from(at).ok()?,
                length: Nanos::new(length),
            };
            end = at;
            Some(span)
        });
        last = Some(at);
        spans.push(span);
    }
    if let Some((count, at, far)) = gaps {
        let (gaps, of_them) = match count {
            1 => ("a gap in its times, of".to_owned(), "it"),
            _ => (format!("{count} gaps in its times, the first of"), "them"),
        };
        doubts.push(format!(
            "{gaps} {} s after {}: nothing is known of {of_them}, or its clock was set on",
            far / 1_000_000_000,
            when::show(at.clamp(0, i128::from(i64::MAX)) as i64),
        ));
    }
    spans
}

/// Rates become counts of the spans they cover.
pub(super) fn cover(samples: &mut Vec<Sample>, span: impl Fn(&Sample) -> Option<Span>) {
    samples.retain_mut(|sample| {
        let Some(span) = span(sample) else {
            return false;
        };
        let seconds = span.length.as_secs_f64();
        let scaled = |ops: Option<Ops>| {
            ops.map(|ops| Ops {
                count: ops.count * seconds,
                bytes: ops.bytes.map(|bytes| bytes * seconds),
                time: ops
                    .time
                    .map(|time| Nanos::new((time.get() as f64 * seconds).round() as u64)),
                merged: ops.merged.map(|merged| merged * seconds),
            })
        };
        *sample = Sample {
            at_unix_ns: span.at,
            length: span.length,
            reads: scaled(sample.reads),
            writes: scaled(sample.writes),
            all: scaled(sample.all),
            ..*sample
        };
        true
    });
}

#[cfg(test)]
mod tests {
    use super::super::collect::{Collector, Flow};
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Seconds of the reports and whether each is fresh; the spans as (end, length) in milliseconds, and the doubts.
    #[track_caller]
    fn check(times: &[(f64, bool)], resolution: Nanos, expected: &[(i64, u64)], doubts: &[&str]) {
        let mut collector = Collector::default();
        for (at, fresh) in times {
            collector.report((at * SECOND as f64) as i64, None, *fresh);
            let reads = Flow {
                count: 10.0,
                ..Flow::default()
            };
            let sample = Sample {
                reads: Some(reads.ops()),
                ..Sample::default()
            };
            collector.sample("a", &sample).unwrap();
        }
        let collected = collector.finish(resolution);
        let found: Vec<(i64, u64)> = collected.devices[0]
            .samples
            .iter()
            .map(|sample| {
                (
                    sample.at_unix_ns / 1_000_000,
                    sample.length.get() / 1_000_000,
                )
            })
            .collect();
        assert_eq!(found, expected);
        for sample in &collected.devices[0].samples {
            let count = sample.reads.unwrap().count;
            assert!(
                (count - 10.0 * sample.length.as_secs_f64()).abs() < 1e-6,
                "{count}"
            );
        }
        assert_eq!(
            collected.doubts.len(),
            doubts.len(),
            "{:?}",
            collected.doubts
        );
        for (doubt, part) in collected.doubts.iter().zip(doubts) {
            assert!(doubt.contains(part), "{doubt}");
        }
    }

    const FINE: Nanos = Nanos::from_millis(1);
    const COARSE: Nanos = Nanos::from_secs(1);

    #[test]
    fn intervals_lie_between_reports() {
        let times = [(10.0, true), (11.0, false), (12.5, false)];
        check(&times, FINE, &[(11_000, 1_000), (12_500, 1_500)], &[]);
    }

    #[test]
    fn of_a_gap_only_its_last_interval_is_kept() {
        let times = [
            (0.0, true),
            (1.0, false),
            (2.0, false),
            (60.0, false),
            (61.0, false),
        ];
        let expected = [
            (1_000, 1_000),
            (2_000, 1_000),
            (60_000, 1_000),
            (61_000, 1_000),
        ];
        check(&times, FINE, &expected, &["a gap in its times, of 58 s"]);
    }

    #[test]
    fn a_gap_is_told_of_two_intervals_alone() {
        let times = [(0.0, true), (1.0, false), (61.0, false)];
        let expected = [(1_000, 1_000), (61_000, 1_000)];
        check(&times, FINE, &expected, &["a gap in its times, of 60 s"]);
    }

    #[test]
    fn a_clock_that_goes_back_is_moved_on() {
        let times = [
            (7_200.0, true),
            (7_201.0, false),
            (3_602.0, false),
            (3_603.0, false),
        ];
        let expected = [(7_201_000, 1_000), (7_202_000, 1_000), (7_203_000, 1_000)];
        check(&times, FINE, &expected, &["goes back once, by 3600 s"]);
    }

    #[test]
    fn whole_seconds_are_evened_out() {
        let times = [
            (0.0, true),
            (1.0, false),
            (1.0, false),
            (3.0, false),
            (4.0, false),
        ];
        let expected = [
            (1_000, 1_000),
            (2_000, 1_000),
            (3_000, 1_000),
            (4_000, 1_000),
        ];
        check(&times, COARSE, &expected, &[]);
    }

    #[test]
    fn runs_have_intervals_of_their_own() {
        let short = (0..=12).map(|second| (f64::from(second), second == 0));
        let long = (0..=12).map(|minute| (100.0 + 60.0 * f64::from(minute), minute == 0));
        let times: Vec<_> = short.chain(long).collect();
        let short = (1..=12).map(|second| (second * 1_000, 1_000));
        let long = (1..=12).map(|minute| (100_000 + minute * 60_000, 60_000));
        let expected: Vec<_> = short.chain(long).collect();
        check(&times, COARSE, &expected, &[]);
        check(&times, FINE, &expected, &[]);
    }

    #[test]
    fn short_runs_of_whole_seconds_are_evened_out_together() {
        // As `iostat -x -t 1 2` each minute: of some the seconds are the same or two apart.
        let seconds = [1.0, 0.0, 1.0, 2.0];
        let runs = (0..4).zip(seconds);
        let times: Vec<_> = runs
            .flat_map(|(run, after)| {
                let begin = f64::from(run) * 60.0;
                [(begin, true), (begin + after, false)]
            })
            .collect();
        let expected: Vec<_> = (0..4).map(|run| (run * 60_000 + 1_000, 1_000)).collect();
        check(&times, COARSE, &expected, &[]);
    }

    #[test]
    fn a_fresh_run_begins_anew() {
        let times = [(0.0, true), (1.0, false), (50.0, true), (51.0, false)];
        check(&times, FINE, &[(1_000, 1_000), (51_000, 1_000)], &[]);
    }
}
