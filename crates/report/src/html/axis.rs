//! Axes of a chart: from figures to places, and the figures worth a tick.

/// How figures are laid along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// From zero, in equal steps.
    FromZero,
    /// In equal ratios; figures that are not above zero have no place.
    Log,
}

/// One axis, made for the figures that it will show.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    scale: Scale,
    least: f64,
    most: f64,
}

/// Most ticks of an axis.
const TICKS_MAX: usize = 8;
/// Fewest of an axis of ratios, which could not be read by fewer.
const TICKS_MIN: usize = 3;

impl Axis {
    /// An axis that holds every one of `figures`; `None` where none of them has a place.
    pub(super) fn holding(scale: Scale, figures: impl Iterator<Item = f64>) -> Option<Self> {
        let placed = |figure: &f64| figure.is_finite() && (scale != Scale::Log || *figure > 0.0);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for figure in figures.filter(placed) {
            (least, most) = (least.min(figure), most.max(figure));
        }
        if least > most {
            return None;
        }
        match scale {
            Scale::FromZero => (least, most) = (0.0, if most > 0.0 { most * 1.05 } else { 1.0 }),
            Scale::Log => (least, most) = (least / 1.2, most * 1.2),
        }
        Some(Self { scale, least, most })
    }

    /// Where `figure` lies: 0 at the beginning of the axis, 1 at its end; `None` where it has no place.
    pub(super) fn place(&self, figure: f64) -> Option<f64> {
        let share = match self.scale {
            Scale::Log if figure <= 0.0 => return None,
            Scale::Log => libm::log(figure / self.least) / libm::log(self.most / self.least),
            Scale::FromZero => (figure - self.least) / (self.most - self.least),
        };
        share.is_finite().then_some(share.clamp(0.0, 1.0))
    }

    /// Round figures along it.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Log => {
                let ticks = self.log_ticks();
                // Within a decade there may be none.
                if ticks.len() < TICKS_MIN {
                    self.even_ticks()
                } else {
                    ticks
                }
            }
            Scale::FromZero => self.even_ticks(),
        }
    }

    fn even_ticks(&self) -> Vec<f64> {
        let step = round_step((self.most - self.least) / (TICKS_MAX - 2) as f64);
        let first = (self.least / step).ceil();
        let steps = (0..TICKS_MAX).map(|index| (first + index as f64) * step);
        steps.take_while(|figure| *figure <= self.most).collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let (low, high) = (
            libm::log10(self.least).floor() as i32,
            libm::log10(self.most).ceil() as i32,
        );
        let within = |figure: &f64| *figure >= self.least && *figure <= self.most;
        let all = |of: &[f64]| -> Vec<f64> {
            let decades = (low..=high).map(|exponent| 10f64.powi(exponent));
            let ticks = decades.flat_map(|decade| of.iter().map(move |figure| figure * decade));
            ticks.filter(within).collect()
        };
        let ticks = [all(&[1.0, 2.0, 5.0]), all(&[1.0])]
            .into_iter()
            .find(|ticks| ticks.len() <= TICKS_MAX);
        ticks.unwrap_or_else(|| {
            let decades = all(&[1.0]);
            let every = decades.len().div_ceil(TICKS_MAX);
            decades.into_iter().step_by(every).collect()
        })
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(step).floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|round| round * power);
    steps
        .into_iter()
        .find(|round| *round >= step * 0.999)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (scale, least, most, expected) in [
            (
                Scale::FromZero,
                3.0,
                50_000.0,
                vec![0.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0],
            ),
            (
                Scale::Log,
                1_000.0,
                9_000.0,
                vec![1_000.0, 2_000.0, 5_000.0, 10_000.0],
            ),
            (
                Scale::Log,
                7_800.0,
                14_300.0,
                vec![8_000.0, 10_000.0, 12_000.0, 14_000.0, 16_000.0],
            ),
            (
                Scale::Log,
                300.0,
                300.0,
                vec![260.0, 280.0, 300.0, 320.0, 340.0, 360.0],
            ),
        ] {
            let axis = Axis::holding(scale, [least, most].into_iter()).unwrap();
            assert_eq!(axis.ticks(), expected, "{scale:?}");
        }
    }

    #[test]
    fn every_range_has_places_and_at_most_so_many_ticks() {
        for exponent in -12..=15 {
            for factor in [1.0, 1.5, 9.9, 1e3, 1e9] {
                for scale in [Scale::FromZero, Scale::Log] {
                    let least = 10f64.powi(exponent);
                    let axis = Axis::holding(scale, [least, least * factor].into_iter()).unwrap();
                    assert!(
                        axis.ticks().len() <= TICKS_MAX,
                        "{scale:?} {least} × {factor}"
                    );
                    let place = axis.place(least).unwrap();
                    assert!((0.0..=1.0).contains(&place), "{scale:?} {least} × {factor}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        assert!(Axis::holding(Scale::Log, [0.0, -1.0].into_iter()).is_none());
        assert!(Axis::holding(Scale::FromZero, std::iter::empty()).is_none());
        assert!(Axis::holding(Scale::FromZero, [f64::NAN].into_iter()).is_none());
        let zeros = Axis::holding(Scale::FromZero, [0.0].into_iter()).unwrap();
        assert_eq!(zeros.place(0.0), Some(0.0));
    }
}
