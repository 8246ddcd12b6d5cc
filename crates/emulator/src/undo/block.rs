//! A block that is kept: what its disk has, and what is on the way there.

use std::ops::Range;

use super::content::Content;
use crate::budget::Budget;

/// A block whose bytes are not durable as they are.
#[derive(Debug)]
pub(super) struct Block {
    /// The write with which it began: none that came before has pending bytes here.
    pub first: u64,
    /// What its disk has.
    pub durable: Content,
    /// Bytes of writes that have come and are not in the cache yet, and what the cache has meanwhile.
    pub pending: u64,
    pub cached: Option<Content>,
    /// Background writes under way in the order in which they began, and what each took: `None`, what is there now.
    pub taken: Vec<(u32, Option<Content>)>,
    /// Blocks of memory that are counted as taken for it.
    pub counted: i64,
}

impl Block {
    /// Counts the memory that it takes now.
    pub fn count(&mut self, budget: &mut Budget) {
        let places = || {
            let taken = self
                .taken
                .iter()
                .filter_map(|(_, content)| content.as_ref());
            let all = [&self.durable].into_iter().chain(&self.cached).chain(taken);
            all.filter_map(Content::place)
        };
        let is_first = |(index, place): &(usize, _)| !places().take(*index).any(|it| it == *place);
        let count = places().enumerate().filter(is_first).count();
        let count = (count as u64).cast_signed();
        budget.keep(count - self.counted);
        self.counted = count;
    }

    /// A write of `part` is over, of a block that is `now` like this, and its bytes alone: those of others that are under way
    /// are there too, and may never be acknowledged. Says whether all of the block is durable.
    pub fn ended(&mut self, now: &[u8], part: &Range<usize>, cached: bool) -> bool {
        let bytes = &now[part.clone()];
        let copy = |content: &mut Content| content.put(part, bytes);
        if self.pending == 0 {
            self.cached = None;
        }
        self.cached.iter_mut().for_each(copy);
        if cached {
            return false;
        }
        copy(&mut self.durable);
        // What was taken before must not take these bytes back.
        let taken = self.taken.iter_mut();
        taken
            .filter_map(|(_, content)| content.as_mut())
            .for_each(copy);
        self.pending == 0 && self.durable.is(now)
    }
}
