//! Tokens: the parts of I/Os under way, and the I/Os of several parts.
//!
//! Invariant: a slot is used by one token at a time, and given back once.

use std::hint::black_box;

use fathom_units::Nanos;

use crate::limit::{Limit, Wait, Waits};
use crate::request::IoError;

use super::path::{NONE, PathId};

/// What happens when a token completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing else.
    None,
    /// Its blocks go into the host cache with this index, from this offset of the cache's space.
    Fill(u32, u64),
    /// Its blocks become dirty in the cache of the flusher with this index, from this offset of the cache's space.
    Dirty(u32, u64),
    /// It was the background write in this slot.
    Written(u32),
    /// It fails.
    Failed(IoError),
}

/// The part of an I/O that takes one path. What most I/Os need of it is a line of a processor's cache, and the first of its
/// waits is the last in that; what is behind it, few need.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Token {
    /// Chooses its delays.
    pub draw: u64,
    /// Of an I/O in one part: its tag.
    pub tag: u64,
    pub effect: Effect,
    /// The I/O of several parts that it is one of; [`super::path::NONE`]: it is a whole I/O.
    pub io: u32,
    /// The volume whose I/O it is; [`super::path::NONE`]: the model started it by itself.
    pub volume: u32,
    pub path: PathId,
    pub bytes: u32,
    /// The stage of its file; [`super::path::NONE`]: files of its volume have no limits.
    pub file: u32,
    /// The place of its present step; of a new token that of the path.
    pub step: u32,
    pub waited: Waited,
}

/// What a token has waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waited(pub Waits);

impl Waited {
    /// A token that has not begun.
    pub const NOT: Self = Self(Waits::NONE);
}

impl Token {
    /// It waited at its present step from `since` until `now`.
    #[inline]
    pub fn waited(&mut self, (since, now): (Nanos, Nanos), limit: Limit) {
        let time = now - since;
        self.waited.0.add(Wait { limit, time });
    }
}

/// An I/O of several parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parent {
    pub tag: u64,
    pub volume: u32,
    pub parts_left: u32,
}

/// Things in numbered slots, which are used again.
#[derive(Debug)]
pub(super) struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    /// Puts `value` into a free slot, or a new one.
    #[inline]
    pub fn put(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            slot
        } else {
            self.slots.push(value);
            self.slots.len() as u32 - 1
        }
    }

    /// Gives a slot back.
    #[inline]
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    #[inline]
    pub fn get(&self, slot: u32) -> &T {
        &self.slots[slot as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize]
    }
}

/// Tokens in numbered slots.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    slots: Vec<Token>,
    free: Vec<u32>,
}

impl Tokens {
    /// Half a megabyte of them.
    pub const MANY: u32 = 4096;

    /// What a slot holds that was never used.
    const UNUSED: Token = Token {
        draw: 0,
        tag: 0,
        io: NONE,
        volume: NONE,
        path: 0,
        bytes: 0,
        file: NONE,
        effect: Effect::None,
        step: 0,
        waited: Waited::NOT,
    };

    /// A slot for a token: a free one, in which an older token may still stand, or a new one.
    #[inline]
    pub fn open(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        self.slots.push(Self::UNUSED);
        self.slots.len() as u32 - 1
    }

    /// Gives a slot back.
    #[inline]
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    #[inline]
    pub fn get(&self, slot: u32) -> &Token {
        &self.slots[slot as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut Token {
        &mut self.slots[slot as usize]
    }

    /// Whether there are more than the nearest caches of a processor hold.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.slots.len() > Self::MANY as usize
    }

    /// The slots that are in use, in order. Looks at all of them.
    pub fn live(&self) -> Vec<u32> {
        let mut live = vec![true; self.slots.len()];
        for slot in &self.free {
            live[*slot as usize] = false;
        }
        let slots = (0..).zip(live);
        slots
            .filter_map(|(slot, live)| live.then_some(slot))
            .collect()
    }

    /// Has the processor bring a token near; gives the cache that it fills, and where.
    #[inline]
    pub fn touch(&self, slot: u32) -> Option<(u32, u64)> {
        let token = self.slots.get(slot as usize)?;
        black_box(token.waited.0.is_empty());
        match token.effect {
            Effect::Fill(cache, offset) => Some((cache, offset)),
            _ => None,
        }
    }
}
