//! A host cache, as a list of lines.
//!
//! Lines of 64 KiB hold 16 blocks of 4 KiB, each there or not. When the list is full, a hand goes round it: a line used since
//! it last came by is spared once, the first one not used gives its place to the new line.

use std::collections::BTreeMap;

const LINE: u64 = 64 << 10;
const BLOCK: u64 = 4 << 10;

/// A line of a disk: (disk, number of the line).
type Name = (usize, u64);

#[derive(Debug, Default, Clone)]
struct Line {
    blocks: [bool; (LINE / BLOCK) as usize],
    used: bool,
}

/// The host cache of one machine.
#[derive(Debug, Clone)]
pub struct Cache {
    most_lines: u64,
    lines: BTreeMap<Name, Line>,
    /// The lines in the order in which the hand visits them.
    round: Vec<Name>,
    hand: usize,
}

impl Cache {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            most_lines: capacity_bytes / LINE,
            lines: BTreeMap::new(),
            round: Vec::new(),
            hand: 0,
        }
    }

    /// Whether all of a range is there. If so, its lines have been used.
    pub fn read(&mut self, disk: usize, offset: u64, length: u64) -> bool {
        let all = blocks(offset, length).all(|(line, block)| {
            let line = self.lines.get(&(disk, line));
            line.is_some_and(|line| line.blocks[block])
        });
        if all {
            for (line, _) in blocks(offset, length) {
                if let Some(line) = self.lines.get_mut(&(disk, line)) {
                    line.used = true;
                }
            }
        }
        all
    }

    /// Takes in a range.
    pub fn fill(&mut self, disk: usize, offset: u64, length: u64) {
        if self.most_lines == 0 {
            return;
        }
        for (line, block) in blocks(offset, length) {
            let name = (disk, line);
            if !self.lines.contains_key(&name) {
                self.admit(name);
            }
            self.lines.entry(name).or_default().blocks[block] = true;
        }
    }

    /// Takes in a range before a run, while there is room. Gives up at the first line without room.
    pub fn warm(&mut self, disk: usize, offset: u64, length: u64) -> Result<(), Full> {
        for (line, block) in blocks(offset, length) {
            let name = (disk, line);
            if !self.lines.contains_key(&name) {
                if self.round.len() as u64 >= self.most_lines {
                    return Err(Full);
                }
                self.round.push(name);
            }
            self.lines.entry(name).or_default().blocks[block] = true;
        }
        Ok(())
    }

    fn admit(&mut self, name: Name) {
        if (self.round.len() as u64) < self.most_lines {
            self.round.push(name);
            return;
        }
        loop {
            let here = self.hand;
            self.hand = (self.hand + 1) % self.round.len();
            let found = self.lines.get_mut(&self.round[here]);
            let line = found.expect("every line of the round is held");
            if line.used {
                line.used = false;
            } else {
                self.lines.remove(&self.round[here]);
                self.round[here] = name;
                return;
            }
        }
    }
}

/// The cache has no room for more.
#[derive(Debug)]
pub struct Full;

/// Every block that a range touches, as (line, block within the line).
fn blocks(offset: u64, length: u64) -> impl Iterator<Item = (u64, usize)> {
    let last = (offset + length.max(1) - 1) / BLOCK;
    (offset / BLOCK..=last).map(|block| {
        let at = block * BLOCK;
        (at / LINE, (at % LINE / BLOCK) as usize)
    })
}
