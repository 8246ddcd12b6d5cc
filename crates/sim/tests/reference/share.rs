//! A share over SMB: which way an I/O takes.

use std::collections::BTreeMap;

use super::volume::Step;

/// How long ago another thread or file must have been seen for it to count.
const MEMORY_NS: u64 = 1_000_000_000;

/// What several channels cost an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    None,
    /// Nine tenths of one channel.
    OneThread,
    /// Nine tenths of one channel to a single file.
    OneFile,
}

/// A share.
#[derive(Debug)]
pub struct Share {
    pub clients: BTreeMap<Option<usize>, Client>,
    /// The queue of each of its files.
    pub files: BTreeMap<usize, usize>,
    /// I/Os up to this many bytes are small.
    pub small: u64,
    pub key: u64,
}

/// A machine that mounts it.
#[derive(Debug)]
pub struct Client {
    channels: Channels,
    /// I/Os so far; they go round the channels.
    ios: usize,
    thread: Seen,
    file: Seen,
}

/// The last of something, and when it was not the one before.
#[derive(Debug, Default)]
struct Seen {
    last: Option<u64>,
    changed: Option<u64>,
}

impl Seen {
    fn is_single(&mut self, now: u64, this: u64) -> bool {
        if self.last.replace(this).is_some_and(|last| last != this) {
            self.changed = Some(now);
        }
        self.changed.is_none_or(|changed| now - changed > MEMORY_NS)
    }
}

/// Of each channel: what comes before the file's queue and after it, for reads and for writes, by what it costs.
type Channels = Vec<BTreeMap<(bool, Cost), [Vec<Step>; 2]>>;

impl Client {
    pub fn new(channels: Channels) -> Self {
        Self {
            channels,
            ios: 0,
            thread: Seen::default(),
            file: Seen::default(),
        }
    }
}

impl Share {
    /// The steps of an I/O of `thread` on `file`.
    pub fn path(
        &mut self,
        now: u64,
        (machine, thread, file): (Option<usize>, u64, usize),
        (write, length): (bool, u64),
    ) -> Vec<Step> {
        let client = self.clients.get_mut(&machine).expect("it mounts the share");
        let cost = if client.channels.len() > 1 {
            let one_thread = client.thread.is_single(now, thread);
            let one_file = client.file.is_single(now, file as u64);
            let small = length <= self.small;
            match (one_thread, one_file) {
                (true, true) => Cost::OneFile,
                (true, false) if small => Cost::OneThread,
                (false, true) if small => Cost::OneFile,
                _ => Cost::None,
            }
        } else {
            Cost::None
        };
        let channel = &client.channels[client.ios % client.channels.len()];
        client.ios += 1;
        let [before, after] = &channel[&(write, cost)];
        let file = Step::Queue(self.files[&file]);
        [before.as_slice(), &[file], after].concat()
    }
}
