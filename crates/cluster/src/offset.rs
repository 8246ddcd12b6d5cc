//! How far apart two hosts' clocks are, from messages there and back.
//!
//! Of many exchanges the one that took the shortest says the most: the other clock was read between sending and receiving, so
//! that the middle of both is wrong by half the time that the exchange took at most, whatever the two ways took.

use fathom_units::Nanos;

/// One message there and back: when it was sent, what the other clock said, and when the answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// By the own clock.
    pub sent: Nanos,
    /// By the other.
    pub read: Nanos,
    /// By the own clock.
    pub received: Nanos,
}

impl Exchange {
    fn took(self) -> Nanos {
        self.received.saturating_sub(self.sent)
    }
}

/// How far another clock is ahead of the own one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offset {
    /// In ns; negative where it is behind.
    pub ahead_ns: i64,
    /// By how much that is wrong at most.
    pub bound: Nanos,
}

impl Offset {
    /// What the exchanges come to; `None` without any.
    pub fn of(exchanges: &[Exchange]) -> Option<Self> {
        let best = exchanges.iter().min_by_key(|exchange| exchange.took())?;
        let took = best.took().get();
        let middle = best.sent.get() + took / 2;
        let ahead = i128::from(best.read.get()) - i128::from(middle);
        Some(Self {
            ahead_ns: i64::try_from(ahead).ok()?,
            bound: Nanos::new(took.div_ceil(2)),
        })
    }

    /// What the other clock says at the moment `own` of the own one.
    pub fn theirs(self, own: Nanos) -> Nanos {
        Nanos::new(own.get().saturating_add_signed(self.ahead_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(sent: u64, read: u64, received: u64) -> Exchange {
        let [sent, read, received] = [sent, read, received].map(Nanos::new);
        Exchange {
            sent,
            read,
            received,
        }
    }

    #[test]
    fn the_shortest_exchange_counts() {
        // Ways of 10 and 10, of 10 and 90, of 60 and 10; the other clock is ahead by 5,000.
        let all = [
            exchange(100, 5_110, 200),
            exchange(300, 5_310, 320),
            exchange(400, 5_460, 470),
        ];
        let offset = Offset::of(&all).unwrap();
        assert_eq!((offset.ahead_ns, offset.bound), (5_000, Nanos::new(10)));
        assert_eq!(offset.theirs(Nanos::new(1_000)), Nanos::new(6_000));
        assert_eq!(Offset::of(&[]), None);
    }

    #[test]
    fn the_truth_is_within_the_bound_whatever_the_ways_took() {
        for there in [0, 3, 40, 1_000] {
            for back in [0, 7, 90, 1_000] {
                let (sent, behind) = (50_000, 20_000);
                let one = exchange(sent, sent + there - behind, sent + there + back);
                let offset = Offset::of(&[one]).unwrap();
                let wrong = (offset.ahead_ns + behind.cast_signed()).unsigned_abs();
                assert!(wrong <= offset.bound.get(), "{there} {back}: {offset:?}");
            }
        }
    }
}
