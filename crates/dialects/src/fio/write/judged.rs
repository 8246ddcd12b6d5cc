//! What ended a job by its results: the latency target and the steady state, in fio's keys and lines.

use fathom_record::SteadyOutcome;
use fathom_stats::mean;
use fathom_workload::{LatencyTarget, SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState};

use super::entry::Entry;
use super::figures::{Prefixes, Unit, figure};
use super::json_text::{Json, object, pair};

/// The depth that a latency target is told with; `None` where the job was to do no I/O of its own, or never began, and fio
/// tells nothing of a target.
fn target_depth(entry: &Entry<'_>) -> Option<u32> {
    let last = &entry.last;
    (!last.no_own_io && entry.began).then(|| entry.found_depth.unwrap_or(last.depth))
}

/// fio's keys of the latency target, there for every job that does I/O.
pub(super) fn target_keys(
    target: Option<&LatencyTarget>,
    entry: &Entry<'_>,
) -> Vec<(String, Json)> {
    let Some(depth) = target_depth(entry) else {
        return Vec::new();
    };
    let nanos = target.map_or(0, |target| target.most.get());
    let (window, percentile) = entry.last.latency_target;
    let window = window.get() / 1000;
    vec![
        pair("latency_depth", Json::Whole(u64::from(depth))),
        pair("latency_target", Json::Whole(nanos)),
        pair("latency_target_ns", Json::Whole(nanos)),
        pair("latency_percentile", Json::Fraction(percentile)),
        pair("latency_window", Json::Whole(window)),
        pair("latency_window_us", Json::Whole(window)),
    ]
}

/// fio's line of the latency target, there for every job that does I/O.
pub(super) fn target_line(target: Option<&LatencyTarget>, entry: &Entry<'_>) -> String {
    let Some(depth) = target_depth(entry) else {
        return String::new();
    };
    let most = target.map_or(0, |target| target.most.get());
    let (window, percentile) = entry.last.latency_target;
    format!(
        "     latency   : target={}, window={}, percentile={percentile:.2}%, depth={depth}\n",
        time(most),
        time(window.get())
    )
}

/// A time in the largest unit in which it is at least two.
fn time(nanos: u64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
    let nanos = nanos as f64;
    let unit = units.iter().find(|(_, size)| nanos >= 2.0 * size);
    unit.map_or_else(
        || format!("{nanos:.2}ns"),
        |(name, size)| format!("{:.2}{name}", nanos / size),
    )
}

/// The criterion as fio writes it, such as `iops_slope:0.300000%`.
fn criterion(rules: &SteadyState) -> String {
    let metric = match rules.metric {
        SteadyMetric::Iops => "iops",
        SteadyMetric::Bandwidth => "bw",
        SteadyMetric::Latency => "lat",
    };
    let slope = match rules.judgement {
        SteadyJudgement::Slope => "_slope",
        SteadyJudgement::Deviation => "",
    };
    match rules.limit {
        SteadyLimit::Absolute(limit) => format!("{metric}{slope}:{limit:.6}"),
        SteadyLimit::Percent(limit) => format!("{metric}{slope}:{limit:.6}%"),
    }
}

fn is_percent(rules: &SteadyState) -> bool {
    matches!(rules.limit, SteadyLimit::Percent(_))
}

fn rounded_mean(values: &[f64]) -> Json {
    Json::Whole(mean(values).unwrap_or_default() as u64)
}

/// The window's values in their order; where the job ended before it was full, zeros follow them, as in fio: consumers rely
/// on `ss_dur` over `ss_interval` of them. Means leave those zeros out, which fio's do not.
fn whole(rules: &SteadyState, values: &[f64]) -> Json {
    let missing = (rules.values() as usize).saturating_sub(values.len());
    let values = values.iter().copied();
    Json::List(
        values
            .chain(std::iter::repeat_n(0.0, missing))
            .map(|value| Json::Whole(value as u64))
            .collect(),
    )
}

/// The key `steadystate`.
pub(super) fn steady_key(rules: &SteadyState, outcome: &SteadyOutcome) -> (String, Json) {
    let unit = if is_percent(rules) { "%" } else { "" };
    let mut data = vec![
        pair("bw_mean", rounded_mean(&outcome.bytes_per_sec)),
        pair("iops_mean", rounded_mean(&outcome.iops)),
    ];
    if rules.metric == SteadyMetric::Latency {
        data.push(pair("lat_mean", rounded_mean(&outcome.latency_ns)));
        data.push(pair("lat_ns", whole(rules, &outcome.latency_ns)));
    }
    data.push(pair("iops", whole(rules, &outcome.iops)));
    data.push(pair("bw", whole(rules, &outcome.bytes_per_sec)));
    let keys = object([
        ("ss", Json::Text(criterion(rules))),
        ("duration", Json::Whole(rules.window.get() / 1_000_000_000)),
        ("attained", Json::Whole(u64::from(outcome.attained))),
        (
            "criterion",
            Json::Text(format!("{:.6}{unit}", outcome.criterion)),
        ),
        ("max_deviation", Json::Fraction(outcome.max_deviation)),
        ("slope", Json::Fraction(outcome.slope)),
        ("data", Json::Object(data)),
    ]);
    ("steadystate".to_owned(), keys)
}

/// fio's line of the steady state.
pub(super) fn steady_line(
    rules: &SteadyState,
    outcome: &SteadyOutcome,
    digits: usize,
    (own, other): (Prefixes, Prefixes),
    rate: &dyn Fn(u64, Prefixes) -> String,
) -> String {
    let text = criterion(rules);
    let metric = text.split(['_', ':']).next().unwrap_or_default();
    let judged = match rules.judgement {
        SteadyJudgement::Slope => " slope",
        SteadyJudgement::Deviation => " mean dev",
    };
    let unit = if is_percent(rules) { "%" } else { "" };
    let rounded = |values: &[f64]| mean(values).unwrap_or_default() as u64;
    let bandwidth = rounded(&outcome.bytes_per_sec);
    let plain = |number| figure(number, digits, Prefixes::Decimal, Unit::None);
    // fio gives nanoseconds a prefix as it does numbers: `237knsec`.
    let latency = if rules.metric == SteadyMetric::Latency {
        format!(", lat={}nsec", plain(rounded(&outcome.latency_ns)))
    } else {
        String::new()
    };
    format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}{latency}, {metric}{judged}={:.3}{unit}\n",
        if outcome.attained { "yes" } else { "no" },
        rate(bandwidth, own),
        rate(bandwidth, other),
        plain(rounded(&outcome.iops)),
        outcome.criterion,
    )
}

#[cfg(test)]
mod tests {
    use fathom_units::Nanos;

    use super::*;

    /// Lines as fio 3.42 prints them.
    #[track_caller]
    fn check(metric: SteadyMetric, limit: SteadyLimit, expected: &str) {
        let rules = SteadyState {
            metric,
            judgement: SteadyJudgement::Deviation,
            limit,
            window: Nanos::from_secs(2),
            ramp: Nanos::ZERO,
            interval: Nanos::from_secs(1),
        };
        let outcome = SteadyOutcome {
            attained: true,
            bytes_per_sec: vec![118_489_088.0; 2],
            iops: vec![28_976.5; 2],
            latency_ns: vec![237_102.0; 2],
            criterion: 0.744,
            ..SteadyOutcome::default()
        };
        let prefixes = (Prefixes::Binary, Prefixes::Decimal);
        let rate = |bandwidth, prefixes| figure(bandwidth, 4, prefixes, Unit::BytesPerSecond);
        let line = steady_line(&rules, &outcome, 4, prefixes, &rate);
        assert_eq!(
            line,
            format!("  steadystate  : attained=yes, bw=113MiB/s (118MB/s), iops=29.0k{expected}\n")
        );
    }

    #[test]
    fn latencies_stand_between_means_and_lists() {
        let rules = SteadyState {
            metric: SteadyMetric::Latency,
            judgement: SteadyJudgement::Deviation,
            limit: SteadyLimit::Percent(50.0),
            window: Nanos::from_secs(2),
            ramp: Nanos::ZERO,
            interval: Nanos::from_secs(1),
        };
        let (_, keys) = steady_key(&rules, &SteadyOutcome::default());
        let text = keys.to_string();
        let place = |key: &str| text.find(&format!("\"{key}\"")).unwrap();
        let keys = ["bw_mean", "iops_mean", "lat_mean", "lat_ns", "iops", "bw"];
        assert!(keys.map(place).is_sorted(), "{text}");
    }

    /// The lists are as long as the window, the means are of what there is.
    #[test]
    fn each_key_of_a_steady_state_has_its_figure() {
        let rules = SteadyState {
            metric: SteadyMetric::Latency,
            judgement: SteadyJudgement::Slope,
            limit: SteadyLimit::Absolute(7.0),
            window: Nanos::from_secs(6),
            ramp: Nanos::ZERO,
            interval: Nanos::from_secs(2),
        };
        let outcome = SteadyOutcome {
            attained: true,
            bytes_per_sec: vec![100.0, 300.0],
            iops: vec![10.0, 20.0],
            latency_ns: vec![5.0, 7.0],
            criterion: 0.5,
            max_deviation: 0.25,
            slope: 0.125,
        };
        let (name, keys) = steady_key(&rules, &outcome);
        assert_eq!(name, "steadystate");
        let text = keys.to_string().replace(['\n', ' '], "");
        let expected = r#"{"ss":"lat_slope:7.000000","duration":6,"attained":1,"criterion":"0.500000","max_deviation":0.250000,"slope":0.125000,"data":{"bw_mean":200,"iops_mean":15,"lat_mean":6,"lat_ns":[5,7,0],"iops":[10,20,0],"bw":[100,300,0]}}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn the_line_of_a_steady_state_has_the_figures_of_fio() {
        let half = SteadyLimit::Percent(50.0);
        check(SteadyMetric::Iops, half, ", iops mean dev=0.744%");
        check(
            SteadyMetric::Latency,
            half,
            ", lat=237knsec, lat mean dev=0.744%",
        );
        check(
            SteadyMetric::Bandwidth,
            SteadyLimit::Absolute(50.0),
            ", bw mean dev=0.744",
        );
    }
}
