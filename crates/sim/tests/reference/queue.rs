//! What holds parts of I/Os back: queues with limits, and windows; and what is known of those that passed.

use super::allowance::Allowance;

/// A queue and its limits.
#[derive(Debug)]
pub struct Queue {
    pub name: String,
    pub limits: Vec<Limit>,
    /// What waits for limits of I/Os, and for those of bytes, are called.
    pub limit_names: [&'static str; 2],
    /// Bytes above which an I/O counts as several.
    pub unit: Option<u64>,
    pub waiting: Vec<usize>,
    pub row: Row,
    /// Every I/O that left.
    pub left: Vec<Departure>,
}

/// A limit, and what it counts.
#[derive(Debug)]
pub struct Limit {
    pub counts: Counts,
    pub allowance: Allowance,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Ios,
    Bytes,
}

/// An I/O that left a queue.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    pub at: u64,
    /// What it counted for the limit of I/Os.
    pub units: u64,
    pub bytes: u64,
    /// Index of the limit that held it longest; `None`: it did not wait.
    pub held_by: Option<usize>,
}

/// At most so many parts, and so many bytes, between a step and the end of their paths.
#[derive(Debug)]
pub struct Window {
    pub most_parts: Option<u64>,
    pub most_bytes: Option<u64>,
    /// Bytes of each part inside.
    pub inside: Vec<u64>,
    pub waiting: Vec<usize>,
    /// What last kept a part out.
    pub held_by: &'static str,
}

/// What passed a part of the storage.
#[derive(Debug, Default)]
pub struct Row {
    pub ios: u64,
    pub bytes: u64,
    pub reads: u64,
    pub hits: u64,
    /// Those of them that memory served.
    pub from_memory: u64,
    /// When each of those inside came and went.
    pub stays: Vec<(u64, Option<u64>)>,
}

impl Queue {
    /// First moment at which all limits let the head go.
    pub fn earliest(&self) -> u64 {
        let each = self.limits.iter().map(|limit| limit.allowance.earliest());
        each.max().unwrap_or(0)
    }

    /// Index of the first of those limits that let the head go last.
    pub fn last_limit(&self) -> Option<usize> {
        let last = self.earliest();
        let mut each = self.limits.iter();
        each.position(|limit| limit.allowance.earliest() == last)
    }

    /// What a wait for the head's last limit is called. Where limits of I/Os and of bytes let it go at once, I/Os do.
    pub fn wait_name(&self) -> &'static str {
        let last = self.earliest();
        let ios = self
            .limits
            .iter()
            .any(|limit| limit.counts == Counts::Ios && limit.allowance.earliest() == last);
        self.limit_names[usize::from(!ios)]
    }

    pub fn charge(&mut self, now: u64, bytes: u64, held_by: Option<usize>) {
        let units = self.unit.map_or(1, |unit| bytes.div_ceil(unit).max(1));
        for limit in &mut self.limits {
            let cost = match limit.counts {
                Counts::Ios => units,
                Counts::Bytes => bytes,
            };
            limit.allowance.take(now, cost);
        }
        self.left.push(Departure {
            at: now,
            units,
            bytes,
            held_by,
        });
    }
}

impl Window {
    pub fn new(most_parts: Option<u64>, most_bytes: Option<u64>) -> Self {
        Self {
            most_parts,
            most_bytes,
            inside: Vec::new(),
            waiting: Vec::new(),
            held_by: "connection-slots",
        }
    }

    /// Lets a part of so many bytes in, if there is room. One that is larger than all room enters alone.
    pub fn admit(&mut self, bytes: u64) -> bool {
        let parts = self.inside.len() as u64;
        let after = self.inside.iter().sum::<u64>() + bytes;
        if self.most_parts.is_some_and(|most| parts >= most) {
            self.held_by = "connection-slots";
            return false;
        }
        if parts > 0 && self.most_bytes.is_some_and(|most| after > most) {
            self.held_by = "connection-bytes";
            return false;
        }
        self.inside.push(bytes);
        true
    }

    /// A part of so many bytes leaves.
    pub fn leave(&mut self, bytes: u64) {
        let place = self.inside.iter().position(|inside| *inside == bytes);
        self.inside.remove(place.expect("it was inside"));
    }
}

impl Row {
    pub fn enter(&mut self, now: u64) -> usize {
        self.stays.push((now, None));
        self.stays.len() - 1
    }

    pub fn leave(&mut self, stay: usize, now: u64) {
        self.stays[stay].1 = Some(now);
    }

    pub fn count(&mut self, bytes: u64) {
        self.ios += 1;
        self.bytes += bytes;
    }

    /// Mean number inside from `start` to `end`.
    pub fn depth(&self, start: u64, end: u64) -> f64 {
        let inside = self.stays.iter().map(|(came, went)| {
            let went = went.unwrap_or(end).min(end);
            u128::from(went.saturating_sub((*came).max(start)))
        });
        let area: u128 = inside.sum();
        if end == start {
            return 0.0;
        }
        area as f64 / (end - start) as f64
    }
}
