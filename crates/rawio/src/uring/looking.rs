//! Looking for completions in memory before the thread sleeps.
//!
//! A file system that cannot say whether a write to the page cache would block has the kernel hand each to a worker of the
//! ring (ext4 on Linux 6.18 does), one after another for one file. Such a worker puts the completion in memory by itself, and
//! wakes the ring's thread if that sleeps, which takes as long as the write itself and delays the writes behind it. So the
//! thread stays awake for about as long as it takes to sleep and to be woken, where that has been worth it of late.

/// Looks before the thread sleeps: some 3 microseconds.
const LOOKS: u32 = 150;
/// Waits that pass at most before another look is tried.
const PASSES_MOST: u32 = 63;

/// When to look, by how it went before: each look in vain lets about twice as many waits pass as the one before it, and each that
/// was worth it half as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Looking {
    /// Waits that are to pass without a look.
    pass: u32,
    /// How many the last look let pass.
    next: u32,
}

impl Looking {
    /// Whether it is to be looked for before this wait.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.pass == 0;
        self.pass = self.pass.saturating_sub(1);
        is_due
    }

    /// Looks until `there` says that what is waited for has come, which is what it gives, or it has been long enough.
    pub(super) fn look(&mut self, mut there: impl FnMut() -> bool) -> bool {
        for _ in 0..LOOKS {
            if there() {
                self.next /= 2;
                self.pass = self.next;
                return true;
            }
            std::hint::spin_loop();
        }
        self.next = (2 * self.next + 1).min(PASSES_MOST);
        self.pass = self.next;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits, counted from 0, before which it is looked for in vain.
    fn looks_in_vain(looking: &mut Looking, waits: usize) -> Vec<usize> {
        let mut looks = Vec::new();
        for wait in 0..waits {
            if looking.is_due() {
                assert!(!looking.look(|| false));
                looks.push(wait);
            }
        }
        looks
    }

    #[test]
    fn what_never_comes_is_seldom_looked_for() {
        let mut looking = Looking::default();
        let looks = looks_in_vain(&mut looking, 250);
        assert_eq!(looks, [0, 2, 6, 14, 30, 62, 126, 190]);
    }

    #[test]
    fn what_comes_is_looked_for_each_time() {
        let mut looking = Looking::default();
        let mut until = 3;
        assert!(looking.is_due());
        assert!(looking.look(|| {
            until -= 1;
            until == 0
        }));
        for _ in 0..10 {
            assert!(looking.is_due());
            assert!(looking.look(|| true));
        }
        assert_eq!(looks_in_vain(&mut looking, 4), [0, 2]);
    }

    #[test]
    fn what_comes_now_and_then_is_seldom_looked_for() {
        let mut looking = Looking::default();
        looks_in_vain(&mut looking, 63);
        let mut looks = Vec::new();
        for wait in 0..160 {
            if looking.is_due() {
                looking.look(|| true);
                looks.push(wait);
            }
        }
        assert_eq!(looks[..7], [63, 95, 111, 119, 123, 125, 126]);
    }
}
