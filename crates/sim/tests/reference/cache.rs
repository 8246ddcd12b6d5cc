//! A host cache, as a list of blocks.
//!
//! Blocks of 4 KiB are there or not, and used or not. When there are as many as fit, a hand goes round the lines of 16 blocks
//! by their positions: what was used in a line since the hand last came by is spared once, the rest of the line goes.

use std::collections::BTreeMap;

use super::write_back::WriteBack;

pub const LINE: u64 = 64 << 10;
pub const BLOCK: u64 = 4 << 10;
pub const BLOCKS: usize = (LINE / BLOCK) as usize;

/// A line of a disk: (disk, number of the line).
pub type Name = (usize, u64);

/// What is known of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Block {
    #[default]
    Absent,
    /// It was there when the hand came by, or before the run, and nobody asked for it since.
    Idle,
    Used,
}

/// The host cache of one machine.
#[derive(Debug, Clone)]
pub struct Cache {
    most_blocks: u64,
    count: u64,
    lines: BTreeMap<Name, [Block; BLOCKS]>,
    /// The hand looks at no line before this one.
    hand: Name,
    /// Blocks that were given up.
    pub given_up: u64,
    /// What is not yet on a disk; it is not given up.
    pub write_back: WriteBack,
    /// What lies in the host's memory too, where that has a size of its own.
    pub memory: Option<Box<Cache>>,
}

/// The cache has no room for more.
#[derive(Debug)]
pub struct Full;

impl Cache {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            most_blocks: capacity_bytes / BLOCK,
            count: 0,
            lines: BTreeMap::new(),
            hand: (0, 0),
            given_up: 0,
            write_back: WriteBack::new(capacity_bytes),
            memory: None,
        }
    }

    /// Whether all of a range is there. If so, its blocks have been used.
    pub fn read(&mut self, disk: usize, offset: u64, length: u64) -> bool {
        let all = lines(offset, length)
            .iter()
            .all(|(line, blocks)| self.missing((disk, *line), blocks) == 0);
        if all {
            for (line, blocks) in lines(offset, length) {
                self.put((disk, line), &blocks, Block::Used);
            }
        }
        all
    }

    /// Whether a range that is there is in memory. If not, it is from now on.
    pub fn recalls(&mut self, disk: usize, offset: u64, length: u64) -> bool {
        let Some(memory) = &mut self.memory else {
            return false;
        };
        if memory.read(disk, offset, length) {
            return true;
        }
        memory.fill(disk, offset, length);
        false
    }

    /// Takes in a range. What finds no room is left out.
    pub fn fill(&mut self, disk: usize, offset: u64, length: u64) {
        if let Some(memory) = &mut self.memory {
            memory.fill(disk, offset, length);
        }
        for (line, blocks) in lines(offset, length) {
            let name = (disk, line);
            if self.missing(name, &blocks) > self.most_blocks {
                return;
            }
            while self.count + self.missing(name, &blocks) > self.most_blocks {
                self.turn();
            }
            self.put(name, &blocks, Block::Used);
        }
    }

    /// Takes in a range before a run, while there is room. Gives up at the first line without room.
    pub fn warm(&mut self, disk: usize, offset: u64, length: u64) -> Result<(), Full> {
        if let Some(memory) = &mut self.memory {
            // What does not fit there is on the SSD alone.
            let _ = memory.warm(disk, offset, length);
        }
        for (line, blocks) in lines(offset, length) {
            let name = (disk, line);
            if self.count + self.missing(name, &blocks) > self.most_blocks {
                return Err(Full);
            }
            self.put(name, &blocks, Block::Idle);
        }
        Ok(())
    }

    fn missing(&self, name: Name, blocks: &[usize]) -> u64 {
        let Some(line) = self.lines.get(&name) else {
            return blocks.len() as u64;
        };
        let absent = blocks.iter().filter(|block| line[**block] == Block::Absent);
        absent.count() as u64
    }

    /// Makes blocks present; `Idle` leaves those that are as they were.
    fn put(&mut self, name: Name, blocks: &[usize], state: Block) {
        self.count += self.missing(name, blocks);
        let line = self.lines.entry(name).or_default();
        for block in blocks {
            if state == Block::Used || line[*block] == Block::Absent {
                line[*block] = state;
            }
        }
    }

    /// The hand goes on by one line.
    fn turn(&mut self) {
        let next = self.lines.range(self.hand..).next();
        let next = next.or_else(|| self.lines.iter().next());
        let name = *next.expect("something is there").0;
        let line = self.lines.get_mut(&name).expect("it was just found");
        let mut left = 0;
        for (number, block) in line.iter_mut().enumerate() {
            match *block {
                Block::Absent => {}
                Block::Idle if self.write_back.is_dirty(name, number) => left += 1,
                Block::Idle => {
                    *block = Block::Absent;
                    self.count -= 1;
                    self.given_up += 1;
                }
                Block::Used => {
                    *block = Block::Idle;
                    left += 1;
                }
            }
        }
        if left == 0 {
            self.lines.remove(&name);
        }
        self.hand = (name.0, name.1 + 1);
    }
}

/// The lines that a range touches, each with the blocks that it touches there.
pub fn lines(offset: u64, length: u64) -> BTreeMap<u64, Vec<usize>> {
    let last = (offset + length.max(1) - 1) / BLOCK;
    let mut lines: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for block in offset / BLOCK..=last {
        let at = block * BLOCK;
        let blocks = lines.entry(at / LINE).or_default();
        blocks.push((at % LINE / BLOCK) as usize);
    }
    lines
}
