//! Why clients got no TLS, for whoever runs the server: noted by pumps, told by the thread that tells.
//!
//! Invariant: memory is bounded by [`MOST`] lines between two looks.

use std::sync::{Arc, Mutex, PoisonError};

/// Lines that are kept until somebody looks; of further ones, their number.
const MOST: usize = 8;

/// What is to be told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    lines: Vec<String>,
    more: u64,
}

impl Refusals {
    /// A client, from where it came, was refused for a reason.
    pub fn add(&self, whence: &str, why: &str) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.lines.len() < MOST {
            told.lines
                .push(format!("note: no TLS with {whence}: {why}"));
        } else {
            told.more += 1;
        }
    }

    /// What has come since the last look.
    pub fn take(&self) -> Vec<String> {
        let told = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut lines = told.lines;
        if told.more > 0 {
            lines.push(format!("note: no TLS with {} more clients", told.more));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_counted() {
        let refusals = Refusals::default();
        assert!(refusals.take().is_empty());
        for number in 0..MOST + 3 {
            refusals.add(&format!("host {number}"), "no certificate");
        }
        let lines = refusals.take();
        assert_eq!(lines[0], "note: no TLS with host 0: no certificate");
        assert_eq!(lines[MOST..], ["note: no TLS with 3 more clients"]);
        assert!(refusals.take().is_empty());
    }
}
