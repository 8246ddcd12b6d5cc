//! A histogram on its way to another machine: its buckets, and its exact sum, minimum and maximum.

use fathom_stats::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The sum is in two halves, since JSON numbers end at 64 bits.
#[derive(Serialize, Deserialize)]
struct Wire {
    buckets: Vec<(u64, u64)>,
    sum: (u64, u64),
    min: u64,
    max: u64,
}

#[expect(clippy::ref_option, reason = "serde hands the field as it is")]
pub fn serialize<S: Serializer>(
    histogram: &Option<Histogram>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let wire = histogram.as_ref().map(|histogram| Wire {
        buckets: histogram.nonzero().collect(),
        sum: ((histogram.sum() >> 64) as u64, histogram.sum() as u64),
        min: histogram.min(),
        max: histogram.max(),
    });
    wire.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Histogram>, D::Error> {
    let Some(wire) = Option::<Wire>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let sum = u128::from(wire.sum.0) << 64 | u128::from(wire.sum.1);
    let histogram = Histogram::from_buckets(&wire.buckets, sum, wire.min, wire.max);
    let broken = || D::Error::custom("a histogram whose parts do not belong together");
    histogram.map(Some).ok_or_else(broken)
}
