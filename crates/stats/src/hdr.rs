//! Histograms in the exchange format of HdrHistogram (V2), which other tools read.
//!
//! Format: <https://github.com/HdrHistogram/HdrHistogram>, "V2 encoding". The bucket layout of [`Histogram`] is the one
//! of two significant digits, so no count moves to another bucket.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{
    Deserializer, Serializer as _, V2DeflateSerializer, V2Serializer,
};

use crate::Histogram;

/// A histogram could not be written in the exchange format.
#[derive(Debug, thiserror::Error)]
pub enum HdrError {
    /// The library refused the bounds.
    #[error("histogram bounds were refused: {0}")]
    Create(#[from] hdrhistogram::CreationError),
    /// A value lay outside the bounds.
    #[error("histogram value was refused: {0}")]
    Record(#[from] hdrhistogram::RecordError),
    /// The encoder failed.
    #[error("histogram was not encoded: {0}")]
    Encode(#[from] hdrhistogram::serialization::V2SerializeError),
    /// The compressing encoder failed.
    #[error("histogram was not compressed: {0}")]
    Compress(#[from] hdrhistogram::serialization::V2DeflateSerializeError),
    /// The text is no base64.
    #[error("histogram is no base64: {0}")]
    Text(#[from] base64::DecodeError),
    /// The bytes are no histogram.
    #[error("histogram was not decoded: {0}")]
    Decode(#[from] hdrhistogram::serialization::DeserializeError),
}

/// The same counts as an `hdrhistogram` value (two significant digits, 1 ns to 2^44 ns).
pub fn to_hdr(histogram: &Histogram) -> Result<hdrhistogram::Histogram<u64>, HdrError> {
    let mut hdr = hdrhistogram::Histogram::new_with_bounds(1, 1 << 44, 2)?;
    for (value, count) in histogram.nonzero() {
        hdr.record_n(value, count)?;
    }
    Ok(hdr)
}

/// The histogram as base64 of its uncompressed V2 encoding.
pub fn to_hdr_base64(histogram: &Histogram) -> Result<String, HdrError> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&to_hdr(histogram)?, &mut bytes)?;
    Ok(STANDARD.encode(bytes))
}

/// Reads the text of [`to_hdr_base64`] or [`to_hdr_log_base64`] back. Counts are exact; values are the mid-points of their buckets.
pub fn from_hdr_base64(text: &str) -> Result<Histogram, HdrError> {
    let bytes = STANDARD.decode(text)?;
    let hdr: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes.as_slice())?;
    let mut histogram = Histogram::new();
    for bucket in hdr.iter_recorded() {
        let middle = hdr.median_equivalent(bucket.value_iterated_to());
        histogram.record_many(middle, bucket.count_at_value());
    }
    Ok(histogram)
}

/// The histogram as base64 of its compressed V2 encoding, as lines of an interval log hold it.
pub fn to_hdr_log_base64(histogram: &Histogram) -> Result<String, HdrError> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&to_hdr(histogram)?, &mut bytes)?;
    Ok(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_finds_the_same_percentiles() {
        let mut histogram = Histogram::new();
        for value in 1..=100_000u64 {
            histogram.record(value * 37);
        }
        let text = to_hdr_base64(&histogram).unwrap();
        let ours: Vec<_> = histogram.nonzero().collect();
        assert_eq!(
            from_hdr_base64(&text)
                .unwrap()
                .nonzero()
                .collect::<Vec<_>>(),
            ours
        );
        let logged = to_hdr_log_base64(&histogram).unwrap();
        let ours_logged = from_hdr_base64(&logged).unwrap();
        assert_eq!(ours_logged.nonzero().collect::<Vec<_>>(), ours);
        assert!(from_hdr_base64("AAAA").is_err());
        assert!(from_hdr_base64(&logged[..logged.len() / 2]).is_err());
        let bytes = STANDARD.decode(text).unwrap();
        let hdr: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .unwrap();
        assert_eq!(hdr.len(), histogram.count());
        for percent in [1.0, 50.0, 99.0, 99.99] {
            let (ours, theirs) = (
                histogram.percentile(percent),
                hdr.value_at_percentile(percent),
            );
            assert!(
                (ours as f64 / theirs as f64 - 1.0).abs() < 0.01,
                "p{percent}: {ours} {theirs}"
            );
        }
    }
}
