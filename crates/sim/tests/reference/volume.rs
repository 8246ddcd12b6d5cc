//! Volumes of every kind, and what an I/O on each becomes: parts, each with the steps it takes.

use std::collections::BTreeMap;

use super::queue::Row;
use super::share::Share;
use super::stripe::Stripe;

/// One step of a path.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Wait in this queue until its limits let the part go.
    Queue(usize),
    /// Wait until this window has room, and hold a place in it until the part is done.
    Window(usize),
    /// Stay on media for a time drawn from this law; the depth counts in this queue's row.
    Media { law: usize, row: usize },
    /// Nothing for so many ns.
    Pause(u64),
}

/// A volume or device.
#[derive(Debug)]
pub struct Volume {
    /// `None`: it has no row of its own.
    pub name: Option<String>,
    pub kind: Kind,
    /// Its disks among all of the design: the first, and how many.
    pub first_disk: usize,
    pub disk_count: usize,
    /// Index of the cache, where it is cached.
    pub cache: Option<usize>,
    pub row: Row,
}

/// How a volume's I/Os become parts.
#[derive(Debug)]
pub enum Kind {
    Disks(Stripe),
    Array(Array),
    Nfs(Nfs),
    Share(Share),
}

/// Paths of one disk.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    pub read: Vec<Step>,
    pub read_hit: Vec<Step>,
    /// Of a read that the host's memory serves.
    pub read_memory: Vec<Step>,
    pub write: Vec<Step>,
    /// Of a write that completes in the cache, and of what the cache writes later; empty where there is no such thing.
    pub into_cache: Vec<Step>,
    pub flush: Vec<Step>,
    /// Background writes begun so far.
    pub flushed: u64,
}

/// Disks of which each stripe has one unit of parity.
#[derive(Debug)]
pub struct Array {
    pub unit: u64,
    pub members: Vec<Member>,
}

/// Paths of a disk of an array: of data and of parity, done once or read and then written.
#[derive(Debug)]
pub struct Member {
    pub data: Vec<Step>,
    pub data_twice: Vec<Step>,
    pub parity: Vec<Step>,
    pub parity_twice: Vec<Step>,
}

/// What a disk of an array does for an I/O.
#[derive(Debug)]
pub struct Work {
    pub disk: usize,
    pub path: Vec<Step>,
    pub bytes: u64,
}

impl Array {
    /// Stripe by stripe: each unit of data that the I/O touches, then for a write the parity. A write of less than a stripe
    /// must read what it replaces first.
    pub fn works(&self, write: bool, offset: u64, length: u64) -> Vec<Work> {
        let disks = self.members.len() as u64;
        let columns = disks - 1;
        let mut works = Vec::new();
        let mut at = offset;
        while at < offset + length {
            let stripe = at / (self.unit * columns);
            let stripe_end = (stripe + 1) * self.unit * columns;
            let end = stripe_end.min(offset + length);
            let whole = end - at == self.unit * columns;
            // Parity goes back by one disk each stripe; data begin on the disk after it.
            let parity = columns - stripe % disks;
            let touched = end - at;
            while at < end {
                let column = at / self.unit % columns;
                let unit_end = ((at / self.unit + 1) * self.unit).min(end);
                let disk = ((parity + 1 + column) % disks) as usize;
                let member = &self.members[disk];
                let twice = write && !whole;
                works.push(Work {
                    disk,
                    path: if twice {
                        &member.data_twice
                    } else {
                        &member.data
                    }
                    .clone(),
                    bytes: unit_end - at,
                });
                at = unit_end;
            }
            if write {
                let member = &self.members[parity as usize];
                works.push(Work {
                    disk: parity as usize,
                    path: if whole {
                        &member.parity
                    } else {
                        &member.parity_twice
                    }
                    .clone(),
                    bytes: touched.min(self.unit),
                });
            }
        }
        works
    }
}

/// A volume over NFS.
#[derive(Debug)]
pub struct Nfs {
    pub largest_read: u64,
    pub largest_write: u64,
    /// By machine (where the design has none, the only one): paths of reads and of writes of each connection.
    pub connections: BTreeMap<Option<usize>, Vec<[Vec<Step>; 2]>>,
    /// Calls of each machine so far; they go round its connections.
    pub calls: BTreeMap<Option<usize>, usize>,
    pub key: u64,
}

impl Nfs {
    /// How many calls an I/O becomes.
    pub fn count(&self, write: bool, length: u64) -> usize {
        length.div_ceil(self.largest(write)) as usize
    }

    fn largest(&self, write: bool) -> u64 {
        if write {
            self.largest_write
        } else {
            self.largest_read
        }
    }

    /// Path and bytes of one call of an I/O of a machine; it takes the machine's next connection.
    pub fn call(
        &mut self,
        client: Option<usize>,
        write: bool,
        length: u64,
        part: usize,
    ) -> (Vec<Step>, u64) {
        let largest = self.largest(write);
        let turn = self.calls.entry(client).or_default();
        let connections = &self.connections[&client];
        let paths = &connections[*turn % connections.len()];
        *turn += 1;
        let bytes = (length - part as u64 * largest).min(largest);
        (paths[usize::from(write)].clone(), bytes)
    }
}
