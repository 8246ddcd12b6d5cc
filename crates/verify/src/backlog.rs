//! Writes that are to be read back while the job still writes.
//!
//! It never holds more than the number of writes it was asked for: when it is full, nothing more is written until some
//! of them were read.

use std::collections::BTreeMap;

use fathom_workload::Backlog as Asked;
use fathom_workload::generator::Io;

/// A write that waits to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) io: Io,
    /// Whether it, or its discard, has not completed yet.
    pub(crate) in_flight: bool,
    pub(crate) trimmed: bool,
}

/// The waiting writes: in the order they were written, or, where writes may overlap, in that of their places.
#[derive(Debug)]
pub(crate) struct Waiting {
    entries: BTreeMap<u64, Entry>,
    most: usize,
    batch: u32,
    batch_left: u32,
    overlaps: bool,
}

/// What the backlog has to give.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// This one is to be checked now.
    Check(Entry),
    /// Something must complete first.
    Wait,
    /// Nothing: the job may write.
    Nothing,
}

impl Waiting {
    pub(crate) fn new(asked: Asked, overlaps: bool) -> Self {
        Self {
            entries: BTreeMap::new(),
            most: asked.writes.max(1) as usize,
            batch: asked.batch.max(1),
            batch_left: 0,
            overlaps,
        }
    }

    /// The same, empty, of writes that may overlap.
    pub(crate) fn of_overlapping(mut self) -> Self {
        self.overlaps = true;
        self.entries.clear();
        self
    }

    fn key(&self, number: u64, position: u64) -> u64 {
        if self.overlaps { position } else { number }
    }

    /// Adds a write that begins at `position`; what it overlaps is forgotten, and given to `forgotten` by its number.
    pub(crate) fn add(
        &mut self,
        number: u64,
        io: Io,
        position: u64,
        mut forgotten: impl FnMut(u64),
    ) {
        if self.overlaps {
            let end = position + u64::from(io.length);
            let before = self.entries.range(..position).next_back();
            let before = before.filter(|(at, entry)| *at + u64::from(entry.io.length) > position);
            let mut gone: Vec<u64> = before.map(|(at, _)| *at).into_iter().collect();
            gone.extend(self.entries.range(position..end).map(|(at, _)| *at));
            for at in gone {
                if let Some(entry) = self.entries.remove(&at) {
                    forgotten(entry.number);
                }
            }
        }
        let entry = Entry {
            number,
            io,
            in_flight: true,
            trimmed: false,
        };
        self.entries.insert(self.key(number, position), entry);
    }

    /// Changes the entry of a write, if it still waits.
    pub(crate) fn change(&mut self, number: u64, position: u64, change: impl FnOnce(&mut Entry)) {
        let key = self.key(number, position);
        if let Some(entry) = self.entries.get_mut(&key)
            && entry.number == number
        {
            change(entry);
        }
    }

    /// Forgets a write that failed.
    pub(crate) fn remove(&mut self, number: u64, position: u64) {
        let key = self.key(number, position);
        if self
            .entries
            .get(&key)
            .is_some_and(|entry| entry.number == number)
        {
            self.entries.remove(&key);
        }
    }

    /// What is to be done before the next write.
    pub(crate) fn due(&mut self) -> Due {
        if self.entries.is_empty() {
            return Due::Nothing;
        }
        if self.batch_left == 0 {
            if self.entries.len() < self.most {
                return Due::Nothing;
            }
            self.batch_left = self.batch;
        }
        let due = self.take();
        if matches!(due, Due::Check(_)) {
            self.batch_left -= 1;
        }
        due
    }

    /// Writes that wait.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The first that has completed, whatever the batch.
    pub(crate) fn take(&mut self) -> Due {
        if self.entries.is_empty() {
            return Due::Nothing;
        }
        let ready = self.entries.iter().find(|(_, entry)| !entry.in_flight);
        let Some((key, entry)) = ready.map(|(key, entry)| (*key, *entry)) else {
            return Due::Wait;
        };
        self.entries.remove(&key);
        Due::Check(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Direction;

    fn write(offset: u64) -> Io {
        Io {
            index: 0,
            direction: Direction::Write,
            target: 0,
            offset,
            length: 4096,
        }
    }

    fn waiting(writes: u32, batch: u32, overlaps: bool) -> Waiting {
        Waiting::new(Asked { writes, batch }, overlaps)
    }

    #[test]
    fn a_full_backlog_gives_one_batch() {
        let mut waiting = waiting(3, 2, false);
        for number in 0..3 {
            assert_eq!(waiting.due(), Due::Nothing);
            waiting.add(number, write(number * 4096), number * 4096, |_| {});
        }
        assert_eq!(waiting.due(), Due::Wait, "none has completed");
        for number in [1, 2, 0] {
            waiting.change(number, 0, |entry| entry.in_flight = false);
        }
        let checked = |due| match due {
            Due::Check(entry) => entry.number,
            other => panic!("{other:?}"),
        };
        assert_eq!(checked(waiting.due()), 0);
        assert_eq!(checked(waiting.due()), 1);
        assert_eq!(waiting.due(), Due::Nothing, "the batch is done");
        assert_eq!(checked(waiting.take()), 2);
        assert_eq!(waiting.take(), Due::Nothing);
    }

    #[test]
    fn a_later_write_takes_the_place_of_those_it_overlaps() {
        let mut waiting = waiting(100, 100, true);
        let mut gone = Vec::new();
        for (number, offset) in [(0, 0), (1, 8192), (2, 20480), (3, 6144), (4, 0)] {
            waiting.add(number, write(offset), offset, |number| gone.push(number));
        }
        assert_eq!(gone, [1, 0]);
        waiting.change(0, 0, |_| panic!("write 0 is gone"));
        assert_eq!(waiting.entries.len(), 3);
    }
}
