//! From two lines to a change, and whether it is more than the noise.

use fathom_stats::{Difference95, welch_95};

use super::figure::Figure;
use super::lines::Line;

/// How the noise of a change was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Welch's interval over the repeats of both.
    Repeats,
    /// Welch's interval over the seconds of both: seconds follow from each other, which understates the noise.
    Seconds,
    /// Intervals of the percentile by ranks, which must not overlap.
    Ranks,
    /// Not at all.
    Nothing,
}

/// A figure of another record beside the baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// In percent of the baseline's; `None` where either is unknown or the baseline's alone is 0.
    pub percent: Option<f64>,
    /// Whether it is more than the noise; `None` where the noise is not known.
    pub more_than_noise: Option<bool>,
    /// How that was judged.
    pub basis: Basis,
    /// The difference of means where that is what was judged, in the figure's unit.
    pub difference_95: Option<Difference95>,
}

impl Change {
    pub(super) fn of(figure: Figure, base: &Line, other: &Line) -> Self {
        let values = base.value(figure).zip(other.value(figure));
        let percent = values.and_then(|(base, other)| match base {
            0.0 => (other == 0.0).then_some(0.0),
            _ => Some((other / base - 1.0) * 100.0),
        });
        let (mut more_than_noise, basis, difference_95) = match figure {
            Figure::Iops => by_means(base, other, 0),
            Figure::Bandwidth => by_means(base, other, 1),
            Figure::Latency(_) | Figure::Response(_) => by_ranks(figure, base, other),
        };
        match values {
            // Of what cannot be told apart nothing has changed.
            Some((base, other)) if (base - other).abs() <= base.abs() * 1e-9 => {
                more_than_noise = Some(false);
            }
            Some(_) => {}
            None => more_than_noise = None,
        }
        Self {
            percent,
            more_than_noise,
            basis,
            difference_95,
        }
    }
}

type Judged = (Option<bool>, Basis, Option<Difference95>);

fn by_means(base: &Line, other: &Line, index: usize) -> Judged {
    let of = |values: &[[f64; 2]]| values.iter().map(|one| one[index]).collect::<Vec<_>>();
    let repeated = base.repeats.len() > 1 && other.repeats.len() > 1;
    let (basis, found) = if repeated {
        let found = welch_95(&of(&base.repeats), &of(&other.repeats));
        (Basis::Repeats, found)
    } else {
        let found = welch_95(&of(&base.seconds), &of(&other.seconds));
        (Basis::Seconds, found)
    };
    match found {
        Some(found) => (Some(found.is_more_than_noise()), basis, Some(found)),
        None => (None, Basis::Nothing, None),
    }
}

fn by_ranks(figure: Figure, base: &Line, other: &Line) -> Judged {
    let intervals = base.interval(figure).zip(other.interval(figure));
    let Some(((low, high), (other_low, other_high))) = intervals else {
        return (None, Basis::Nothing, None);
    };
    let is_below = |high: Option<u64>, low: Option<u64>| high.zip(low).is_some_and(|(a, b)| a < b);
    let apart = is_below(high, other_low) || is_below(other_high, low);
    // Between intervals without bounds nothing can be told.
    let known = apart
        || [low, high, other_low, other_high]
            .iter()
            .all(Option::is_some);
    (known.then_some(apart), Basis::Ranks, None)
}
