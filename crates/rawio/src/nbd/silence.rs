//! How long a queue waits for servers that say nothing.
//!
//! A server that is stopped, or whose network is gone, leaves its connections open: nothing but time tells it from one that is
//! slow. What counts is that nothing comes at all; a server that answers one request after another may take as long as it
//! likes for each.

use std::fmt;

use fathom_units::Nanos;

/// How long a call waits before the time is looked at.
pub(super) const STEP: Nanos = Nanos::from_millis(100);

/// When a queue gives up on servers that say nothing while they owe answers.
pub struct Silence<'a> {
    /// Longest silence; the requests then end with `ETIMEDOUT`.
    pub most: Nanos,
    /// The same while a flush is not answered, which may have much to write.
    pub most_of_flush: Nanos,
    /// The same where nobody needs the answers; the requests then end with `ECANCELED`.
    pub most_when_called_off: Nanos,
    /// Whether nobody needs the answers any more.
    pub is_called_off: Box<dyn Fn() -> bool + Send + 'a>,
    since: Option<Nanos>,
}

impl<'a> Silence<'a> {
    /// Those times, in the order of the fields.
    pub fn new(
        [most, most_of_flush, most_when_called_off]: [Nanos; 3],
        is_called_off: Box<dyn Fn() -> bool + Send + 'a>,
    ) -> Self {
        Self {
            most,
            most_of_flush,
            most_when_called_off,
            is_called_off,
            since: None,
        }
    }

    /// Something came.
    pub(super) fn broken(&mut self) {
        self.since = None;
    }

    /// Nothing came until `now`: the error number of what is waited for, once that has been too long. `has_flush`: whether a
    /// flush is among it.
    pub(super) fn judge(&mut self, now: Nanos, has_flush: impl Fn() -> bool) -> Option<i32> {
        let silent = now.saturating_sub(*self.since.get_or_insert(now));
        let errno = if silent >= self.most_when_called_off && (self.is_called_off)() {
            libc::ECANCELED
        } else if silent >= self.most && (silent >= self.most_of_flush || !has_flush()) {
            libc::ETIMEDOUT
        } else {
            return None;
        };
        self.since = None;
        Some(errno)
    }
}

impl fmt::Debug for Silence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silence")
            .field("most", &self.most)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silence_without_end_is_given_up_on() {
        let times = [60, 600, 1].map(Nanos::from_secs);
        let called_off = std::sync::atomic::AtomicBool::new(false);
        let is_called_off = || called_off.load(std::sync::atomic::Ordering::Relaxed);
        let mut silence = Silence::new(times, Box::new(is_called_off));
        let mut at =
            |seconds: u64, has_flush: bool| silence.judge(Nanos::from_secs(seconds), || has_flush);
        assert_eq!(at(100, false), None);
        assert_eq!(at(159, false), None);
        assert_eq!(at(160, true), None);
        assert_eq!(at(160, false), Some(libc::ETIMEDOUT));
        assert_eq!(at(200, true), None);
        assert_eq!(at(799, true), None);
        assert_eq!(at(800, true), Some(libc::ETIMEDOUT));
        assert_eq!(at(900, false), None);
        called_off.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(at(900, false), None);
        assert_eq!(at(901, true), Some(libc::ECANCELED));
    }
}
