//! How long the ordinary intervals of a log are, of each run of the tool: one that was started anew may have had another
//! interval. Runs that are too short to tell are taken together with others like them.

use fathom_units::Nanos;

use super::collect::Report;

/// Intervals from which on a run tells its own mean, though its times are in whole seconds.
const ENOUGH: usize = 10;

/// The ordinary intervals of a run, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    pub median: i128,
    /// Of those that are no gaps.
    pub mean: i128,
    /// Whether each is taken to be as long as the mean: its times are too coarse to tell one from another.
    pub even: bool,
    /// Whether the source says how long each is.
    pub given: bool,
    coarse: i128,
}

impl Pace {
    fn of(lengths: &mut [i128], coarse: i128, given: bool) -> Self {
        lengths.sort_unstable();
        // Of two, the shorter: an interval may be too long, by a gap, and none is too short.
        let middle = lengths.len().saturating_sub(1) / 2;
        let median = lengths.get(middle).copied().unwrap_or(0);
        let pace = Self {
            median,
            given,
            coarse,
            ..Self::default()
        };
        let ordinary = lengths.iter().filter(|length| !pace.is_gap(**length));
        let (count, sum) = ordinary
            .clone()
            .fold((0, 0), |(count, sum), length| (count + 1, sum + length));
        let mean = if count > 0 { sum / count } else { 0 };
        let mut differences = ordinary.map(|length| (length - mean).abs());
        let even = coarse >= 1_000_000_000 && !given && differences.all(|it| it <= 2 * coarse);
        Self { mean, even, ..pace }
    }

    /// Whether an interval of that length is none of those that the tool was told to make.
    pub fn is_gap(&self, length: i128) -> bool {
        let Self { median, coarse, .. } = *self;
        length > median.max(coarse) * 3 / 2 && length > median + 2 * coarse
    }
}

/// The pace of each run; a run begins with a report that is fresh.
pub(super) fn paces(lengths: &[Option<i128>], reports: &[Report], resolution: Nanos) -> Vec<Pace> {
    let coarse = i128::from(resolution.get());
    let given = reports.iter().any(|report| report.length.is_some());
    let mut runs: Vec<Vec<i128>> = vec![Vec::new()];
    for (index, (length, report)) in lengths.iter().zip(reports).enumerate() {
        if report.fresh && index > 0 {
            runs.push(Vec::new());
        }
        if let Some(run) = runs.last_mut() {
            run.extend(length);
        }
    }
    let mut paces: Vec<Pace> = runs
        .iter_mut()
        .map(|lengths| Pace::of(lengths, coarse, given))
        .collect();
    let mut short: Vec<usize> = (0..runs.len())
        .filter(|run| runs[*run].len() < ENOUGH)
        .collect();
    short.sort_by_key(|run| paces[*run].median);
    let medians: Vec<i128> = paces.iter().map(|pace| pace.median).collect();
    for alike in short.chunk_by(|one, other| medians[*other] <= medians[*one] + 2 * coarse) {
        let together = alike.iter().flat_map(|run| &runs[*run]);
        let mut together: Vec<i128> = together.copied().collect();
        let pace = Pace::of(&mut together, coarse, given);
        for run in alike {
            paces[*run] = pace;
        }
    }
    paces
}
