//! Where the servers of one client wait for each other: no jobs begin before all servers have what theirs need.

use std::sync::{Condvar, Mutex, PoisonError};

/// Where servers are expected.
#[derive(Debug)]
pub struct StartLine {
    missing: Mutex<usize>,
    complete: Condvar,
}

impl StartLine {
    /// Of so many servers.
    pub fn of(servers: usize) -> Self {
        Self {
            missing: Mutex::new(servers),
            complete: Condvar::new(),
        }
    }

    /// The place of one server.
    pub fn place(&self) -> Place<'_> {
        Place { line: Some(self) }
    }

    fn arrive(&self) {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.complete.notify_all();
    }
}

/// The place of one server: nobody waits for it any more once it is dropped.
#[derive(Debug)]
pub struct Place<'a> {
    /// `None` once it was taken.
    line: Option<&'a StartLine>,
}

impl Place<'_> {
    /// Takes it, and waits until nobody is missing.
    pub fn take(&mut self) {
        let Some(line) = self.line.take() else {
            return;
        };
        line.arrive();
        let missing = line.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let all = line.complete.wait_while(missing, |missing| *missing > 0);
        drop(all);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(line) = self.line {
            line.arrive();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn nobody_goes_before_all_are_there_or_gone() {
        let line = StartLine::of(3);
        let gone = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let mut place = line.place();
                let gone = &gone;
                scope.spawn(move || {
                    place.take();
                    assert!(gone.load(Ordering::SeqCst));
                    // A second word changes nothing.
                    place.take();
                });
            }
            let last = line.place();
            std::thread::park_timeout(std::time::Duration::from_millis(50));
            gone.store(true, Ordering::SeqCst);
            drop(last);
        });
        assert_eq!(*line.missing.lock().unwrap(), 0);
    }
}
