//! The figures that are compared, each with its name, its unit and the way it is written.

use crate::format::{mebibytes, rate, short_time};

/// A figure of a job and direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// A percentile of latency.
    Latency(Point),
    /// A percentile of response time, from intended start to completion.
    Response(Point),
}

/// A point of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Median.
    P50,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// The largest value.
    Max,
}

impl Point {
    const ALL: [Self; 4] = [Self::P50, Self::P99, Self::P999, Self::Max];

    /// The percentile (0 to 100); `None`: the largest value, of which no interval is known.
    pub(super) fn percent(self) -> Option<f64> {
        match self {
            Self::P50 => Some(50.0),
            Self::P99 => Some(99.0),
            Self::P999 => Some(99.9),
            Self::Max => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
        }
    }
}

impl Figure {
    /// Every figure, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> {
        let rates = [Self::Iops, Self::Bandwidth].into_iter();
        let latencies = Point::ALL.map(Self::Latency);
        rates.chain(latencies).chain(Point::ALL.map(Self::Response))
    }

    /// As it is called in thresholds, in JSON and in CSV: `iops`, `p99`, `response-p99`.
    pub fn name(self) -> String {
        match self {
            Self::Iops => "iops".to_owned(),
            Self::Bandwidth => "bandwidth".to_owned(),
            Self::Latency(point) => point.name().to_owned(),
            Self::Response(point) => format!("response-{}", point.name()),
        }
    }

    /// Whether an interval of it can be known: of all but the largest value.
    pub(super) fn has_interval(self) -> bool {
        match self {
            Self::Iops | Self::Bandwidth => true,
            Self::Latency(point) | Self::Response(point) => point.percent().is_some(),
        }
    }

    /// Unit of its values, as keys end in it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bytes_per_sec",
            Self::Latency(_) | Self::Response(_) => "ns",
        }
    }

    /// At the head of its line on the screen.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Bandwidth => "MiB/s",
            Self::Latency(point) | Self::Response(point) => point.name(),
        }
    }

    /// In a sentence.
    pub(super) fn words(self) -> String {
        match self {
            Self::Iops => "IOPS".to_owned(),
            Self::Bandwidth => "bandwidth".to_owned(),
            Self::Latency(point) => point.name().to_owned(),
            Self::Response(point) => format!("response time's {}", point.name()),
        }
    }

    /// A value in no more than 9 columns, without its unit where the label has it.
    pub(super) fn written(self, value: f64) -> String {
        match self {
            Self::Iops if value >= 9_999_999.5 => format!("{:.1}M", value / 1e6),
            Self::Iops => rate(value),
            Self::Bandwidth => mebibytes(value),
            Self::Latency(_) | Self::Response(_) => short_time(value.round() as u64),
        }
    }

    /// A value in a sentence.
    pub(super) fn with_unit(self, value: f64) -> String {
        match self {
            Self::Iops => format!("{} IOPS", self.written(value)),
            Self::Bandwidth => format!("{} MiB/s", self.written(value)),
            Self::Latency(_) | Self::Response(_) => self.written(value),
        }
    }
}
