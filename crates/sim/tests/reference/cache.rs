//! A host cache, as a list of blocks.
//!
//! Blocks of 4 KiB are there or not, and used or not. When there are as many as fit, a hand goes round the lines of 16 blocks
//! by their positions: what was used in a line since the hand last came by is spared once, the rest of the line goes.

use std::collections::BTreeMap;

const LINE: u64 = 64 << 10;
const BLOCK: u64 = 4 << 10;

/// A line of a disk: (disk, number of the line).
type Name = (usize, u64);

/// The host cache of one machine.
#[derive(Debug, Clone)]
pub struct Cache {
    most_blocks: usize,
    count: usize,
    /// The blocks that are there, by line; true: used.
    lines: BTreeMap<Name, BTreeMap<u64, bool>>,
    /// The hand looks at no line before this one.
    hand: Name,
}

impl Cache {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            most_blocks: (capacity_bytes / BLOCK) as usize,
            count: 0,
            lines: BTreeMap::new(),
            hand: (0, 0),
        }
    }

    /// Whether all of a range is there. If so, its blocks have been used.
    pub fn read(&mut self, disk: usize, offset: u64, length: u64) -> bool {
        let lines = lines(offset, length);
        let held = |(line, block): (u64, u64)| {
            let line = self.lines.get(&(disk, line));
            line.is_some_and(|line| line.contains_key(&block))
        };
        let all = lines
            .iter()
            .flat_map(|(line, blocks)| blocks.iter().map(|block| (*line, *block)))
            .all(held);
        if all {
            for (line, blocks) in lines {
                for block in blocks {
                    self.put((disk, line), block, true);
                }
            }
        }
        all
    }

    /// Takes in a range.
    pub fn fill(&mut self, disk: usize, offset: u64, length: u64) {
        for (line, blocks) in lines(offset, length) {
            let name = (disk, line);
            if self.missing(name, &blocks) > self.most_blocks {
                return;
            }
            while self.count + self.missing(name, &blocks) > self.most_blocks {
                self.turn();
            }
            for block in blocks {
                self.put(name, block, true);
            }
        }
    }

    /// Takes in a range before a run, while there is room. Gives up at the first line without room.
    pub fn warm(&mut self, disk: usize, offset: u64, length: u64) -> Result<(), Full> {
        for (line, blocks) in lines(offset, length) {
            let name = (disk, line);
            if self.count + self.missing(name, &blocks) > self.most_blocks {
                return Err(Full);
            }
            for block in blocks {
                let used = self.lines.get(&name).and_then(|line| line.get(&block));
                let used = used.copied().unwrap_or(false);
                self.put(name, block, used);
            }
        }
        Ok(())
    }

    fn missing(&self, name: Name, blocks: &[u64]) -> usize {
        let held = |block: &u64| {
            let line = self.lines.get(&name);
            line.is_some_and(|line| line.contains_key(block))
        };
        blocks.iter().filter(|block| !held(block)).count()
    }

    fn put(&mut self, name: Name, block: u64, used: bool) {
        let before = self.lines.entry(name).or_default().insert(block, used);
        self.count += usize::from(before.is_none());
    }

    /// The hand goes on by one line.
    fn turn(&mut self) {
        let next = self.lines.range(self.hand..).next();
        let next = next.or_else(|| self.lines.iter().next());
        let name = *next.expect("something is there").0;
        let line = self.lines.get_mut(&name).expect("it was just found");
        let before = line.len();
        line.retain(|_, used| *used);
        self.count -= before - line.len();
        line.values_mut().for_each(|used| *used = false);
        if line.is_empty() {
            self.lines.remove(&name);
        }
        self.hand = (name.0, name.1 + 1);
    }
}

/// The cache has no room for more.
#[derive(Debug)]
pub struct Full;

/// The lines that a range touches, each with the blocks that it touches there.
fn lines(offset: u64, length: u64) -> BTreeMap<u64, Vec<u64>> {
    let last = (offset + length.max(1) - 1) / BLOCK;
    let mut lines: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for block in offset / BLOCK..=last {
        let line = block * BLOCK / LINE;
        lines.entry(line).or_default().push(block);
    }
    lines
}
