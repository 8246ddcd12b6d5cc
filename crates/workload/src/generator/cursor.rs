//! A position that all workers of a job share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The next position of a sequential access that the workers of a job go through together
/// ([`crate::SequentialScope::Shared`]). Clones share the position.
#[derive(Debug, Clone, Default)]
pub struct SharedCursor(Arc<Padded>);

/// Two cache lines: adjacent-line prefetching would otherwise let a neighbour's writes slow this one down.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded(AtomicU64);

impl SharedCursor {
    /// A cursor at the start.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next step. The order among workers is whatever time makes it; that no step is given twice is what
    /// matters, so no ordering with other memory is asked for.
    #[inline]
    pub(crate) fn take(&self) -> u64 {
        self.0.0.fetch_add(1, Ordering::Relaxed)
    }

    /// Moves from the present position to what `next` makes of it, and returns the position before; `None`, without a
    /// move, where `next` gives none.
    pub(crate) fn take_with(&self, next: impl FnMut(u64) -> Option<u64>) -> Option<u64> {
        let order = Ordering::Relaxed;
        self.0.0.fetch_update(order, order, next).ok()
    }
}
