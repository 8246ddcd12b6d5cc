//! A limit in exact arithmetic.
//!
//! The generic cell rate algorithm keeps the moment at which the next unit would arrive if all had come at exactly the
//! rate. Here that moment is a whole number of `rate`-ths of a nanosecond, so nothing is ever rounded but the answer.

const NANOS_PER_SEC: i128 = 1_000_000_000;

/// One limit: units (I/Os or bytes) a second.
#[derive(Debug, Clone)]
pub struct Allowance {
    rate: i128,
    /// How far ahead of the rate units may leave, in ns.
    tolerance: i128,
    /// Theoretical arrival of the next unit, in `rate`-ths of a nanosecond.
    arrival: i128,
}

impl Allowance {
    /// A limit that has served nothing yet.
    pub fn new(rate: u64, tolerance_ns: u64) -> Self {
        Self {
            rate: i128::from(rate.max(1)),
            tolerance: i128::from(tolerance_ns),
            arrival: 0,
        }
    }

    /// Credits: units above `base` come from a bucket that lasts `seconds` at `highest`, of which the share `start` (0 to 1) is
    /// there. It is the base rate, of which a whole bucket may leave ahead, in whole nanoseconds.
    pub fn bucket(base: u64, highest: u64, seconds: u64, start: f64) -> Self {
        let units = i128::from(highest.saturating_sub(base)) * i128::from(seconds);
        let tolerance = units * NANOS_PER_SEC / i128::from(base.max(1));
        let spent = (tolerance as f64 * (1.0 - start)).round() as i128;
        let rate = i128::from(base.max(1));
        Self {
            rate,
            tolerance,
            arrival: spent * rate,
        }
    }

    /// Whether more than a moment's worth may leave ahead.
    pub fn is_bucket(&self) -> bool {
        self.tolerance > NANOS_PER_SEC
    }

    /// First whole nanosecond in which a unit may leave: the theoretical arrival is reached within it.
    pub fn earliest(&self) -> u64 {
        let at = self.arrival.div_euclid(self.rate) - self.tolerance;
        u64::try_from(at.max(0)).expect("runs end long before 2^64 ns")
    }

    /// Units a second.
    pub fn rate(&self) -> i128 {
        self.rate
    }

    /// How far ahead of the rate units may leave, in ns.
    pub fn tolerance(&self) -> i128 {
        self.tolerance
    }

    /// `units` leave at `now`.
    pub fn take(&mut self, now: u64, units: u64) {
        let now = i128::from(now) * self.rate;
        self.arrival = self.arrival.max(now) + i128::from(units) * NANOS_PER_SEC;
    }
}
