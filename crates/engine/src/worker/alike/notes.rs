//! What is known of the I/Os of rounds, by slot.
//!
//! A round touches some slots out of many: what it writes of each stands in 16 bytes.

use fathom_units::Nanos;

use super::Like;
use super::tally::Tally;
use crate::worker::{Kind, Slot};

/// What the I/Os in flight differ in, by slot.
#[derive(Debug)]
pub(in crate::worker) struct Notes {
    pub(super) of: Box<[Note]>,
    /// When the call had ended that submitted them, where that is timed apart.
    pub(super) submitted: Vec<Nanos>,
    /// Latencies of what completed.
    pub(super) tally: Tally,
}

/// What is known of an I/O.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    pub(super) offset: u64,
    pub(super) begun: Nanos,
}

impl Notes {
    pub(in crate::worker) fn new(slots: u32) -> Self {
        let nothing = Note {
            offset: 0,
            begun: Nanos::ZERO,
        };
        Self {
            of: vec![nothing; slots as usize].into_boxed_slice(),
            submitted: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Takes over what is in flight.
    #[cold]
    pub(super) fn read(&mut self, slots: &[Slot], split: bool) {
        for (note, slot) in self.of.iter_mut().zip(slots) {
            *note = Note {
                offset: slot.offset,
                begun: slot.begun,
            };
        }
        self.submitted.clear();
        if split {
            self.submitted
                .extend(slots.iter().map(|slot| slot.submitted));
        }
    }

    /// Gives it back; what is in no flight gets a meaning that nobody asks for.
    #[cold]
    pub(super) fn write(&self, like: Like, slots: &mut [Slot]) {
        for (index, (note, slot)) in self.of.iter().zip(slots).enumerate() {
            *slot = Slot {
                kind: Kind::Data(like.direction),
                target: like.target,
                offset: note.offset,
                length: like.length,
                begun: note.begun,
                submitted: self.submitted.get(index).copied().unwrap_or(note.begun),
                ..Slot::IDLE
            };
        }
    }

    /// What was submitted of these when the first of them was, which stand together: when that was, and how many those are.
    #[inline]
    pub(super) fn together(&self, slots: &[u32]) -> Option<(Nanos, usize)> {
        let notes = &*self.of;
        let begun = notes[*slots.first()? as usize].begun;
        let mut count = 1;
        while count < slots.len() && notes[slots[count] as usize].begun == begun {
            count += 1;
        }
        Some((begun, count))
    }
}
