//! The events of blktrace's files, one at a time: as they stand in a file, and those of all files in order of time.
//!
//! A file of one processor is in order of time; what `blktrace -o -` wrote is not. How far events come late is known from a
//! first look, so that those of the second can be held back as long as needed, and no longer.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io::{self, BufReader, Read};

use fathom_diagnostics::{Diagnostic, Diagnostics};

use super::super::input::File;
use super::category;

const MAGIC: u32 = 0x6561_7400;

/// Whether bytes begin as a trace does.
pub(in super::super) fn looks_like(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first: &[u8; 4]| {
        let known = |word: u32| word & 0xffff_ff00 == MAGIC;
        known(u32::from_le_bytes(*first)) || known(u32::from_be_bytes(*first))
    })
}

/// One event.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    // Events are ordered by these three.
    pub time: u64,
    /// The number of its file.
    pub file: u32,
    /// Where in it it begins.
    at: u64,
    pub sequence: u32,
    pub sector: u64,
    pub bytes: u32,
    pub action: u64,
    pub pid: u32,
    pub device: u32,
    pub cpu: u32,
    /// Whether its bytes are in that order.
    pub big: bool,
    /// What follows it, where it is a note.
    pub payload: Vec<u8>,
}

/// Bytes in a file's own order.
pub(super) struct Bytes<'a> {
    pub bytes: &'a [u8],
    pub big: bool,
}

impl Bytes<'_> {
    fn part<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let mut part: [u8; N] = *self.bytes.get(at..)?.first_chunk()?;
        if !self.big {
            part.reverse();
        }
        Some(part)
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.part(at).unwrap_or_default())
    }

    pub fn u32(&self, at: usize) -> Option<u32> {
        self.part(at).map(u32::from_be_bytes)
    }

    fn word(&self, at: usize) -> u32 {
        self.u32(at).unwrap_or_default()
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_be_bytes(self.part(at).unwrap_or_default())
    }
}

/// Latest time that is believed: a century.
const LAST: u64 = 1 << 62;

/// Bytes before what follows an event, of versions 7 and 8.
const NARROW: usize = 48;
const WIDE: usize = 64;

/// Why there is no event.
enum Stop {
    End,
    Cut,
    Magic,
    Version(u32),
    Unread(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            Self::Cut
        } else {
            Self::Unread(error)
        }
    }
}

/// The events of one file as they stand there.
struct Source<'a> {
    input: BufReader<Box<dyn Read + 'a>>,
    index: u32,
    at: u64,
    big: bool,
}

impl<'a> Source<'a> {
    fn new(file: &'a File, index: usize) -> Result<Self, Diagnostics> {
        let big = file.head()?.first() == Some(&0x65);
        Ok(Self {
            input: BufReader::with_capacity(1 << 18, file.reader()?),
            index: index as u32,
            at: 0,
            big,
        })
    }

    fn next(&mut self) -> Result<Event, Stop> {
        let mut head = [0; WIDE];
        let mut known = 0;
        while known < 4 {
            match self.input.read(&mut head[known..4])? {
                0 if known == 0 => return Err(Stop::End),
                0 => return Err(Stop::Cut),
                more => known += more,
            }
        }
        let big = self.big;
        let magic = Bytes { bytes: &head, big }.word(0);
        let length = match (magic & 0xffff_ff00, magic & 0xff) {
            (MAGIC, 7) => NARROW,
            (MAGIC, 8) => WIDE,
            (MAGIC, other) => return Err(Stop::Version(other)),
            _ => return Err(Stop::Magic),
        };
        self.input.read_exact(&mut head[4..length])?;
        let part = Bytes { bytes: &head, big };
        let is_wide = length == WIDE;
        let payload = part.u16(if is_wide { 50 } else { 46 });
        let [pid, device, cpu] = if is_wide { [28, 40, 44] } else { [32, 36, 40] };
        let mut event = Event {
            time: part.u64(8).min(LAST),
            file: self.index,
            at: self.at,
            sequence: part.word(4),
            sector: part.u64(16),
            bytes: part.word(24),
            action: if is_wide {
                part.u64(32)
            } else {
                u64::from(part.word(28))
            },
            pid: part.word(pid),
            device: part.word(device),
            cpu: part.word(cpu),
            big,
            payload: Vec::new(),
        };
        let payload = u64::from(payload);
        if event.action & category::NOTIFY != 0 {
            event.payload.resize(payload as usize, 0);
            self.input.read_exact(&mut event.payload)?;
        } else if io::copy(&mut (&mut self.input).take(payload), &mut io::sink())? < payload {
            return Err(Stop::Cut);
        }
        self.at += length as u64 + payload;
        Ok(event)
    }
}

/// What a first look at the files tells.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub count: u64,
    /// Time of the first event and of the last.
    pub first: Option<u64>,
    pub last: u64,
    /// Numbers of the devices.
    pub devices: BTreeSet<u32>,
    /// Of each file, by how much an event comes later at most than one that was before it.
    late: Vec<u64>,
    pub doubts: Vec<String>,
}

/// Devices that are counted before it is enough.
const COUNTED: usize = 4_096;

/// Looks the files through: what is no trace is refused.
pub(super) fn look(files: &[File]) -> Result<Look, Diagnostics> {
    let mut look = Look::default();
    let mut complaints = Diagnostics::default();
    for (index, file) in files.iter().enumerate() {
        let mut source = Source::new(file, index)?;
        let (mut latest, mut late) = (0, 0);
        let stop = loop {
            let event = match source.next() {
                Ok(event) => event,
                Err(stop) => break stop,
            };
            look.count += 1;
            latest = event.time.max(latest);
            late = late.max(latest - event.time);
            let first = look.first.get_or_insert(event.time);
            *first = event.time.min(*first);
            if event.action & category::NOTIFY == 0 && look.devices.len() < COUNTED {
                look.devices.insert(event.device);
            }
        };
        look.last = look.last.max(latest);
        look.late.push(late);
        let at = source.at;
        let (message, hint) = match stop {
            Stop::End => continue,
            Stop::Cut => {
                look.doubts.push(format!(
                    "`{}` ends within an event, at byte {at}: the event is left out",
                    file.name
                ));
                continue;
            }
            Stop::Unread(error) => return Err(file.unread(&error)),
            Stop::Magic => (
                format!("at byte {at} no event begins: the file is damaged"),
                "copy it anew, in binary mode",
            ),
            Stop::Version(version) => (
                format!("at byte {at} stands an event of version {version}: 7 and 8 are known"),
                "trace with blktrace 1.0 or later",
            ),
        };
        let message = format!("{}: {message}", file.name);
        complaints.push(Diagnostic::error(message).hint(hint));
    }
    if complaints.has_errors() {
        return Err(complaints);
    }
    Ok(look)
}

/// Most events of a file that are held back until those before them have come.
const MOST_HELD: usize = 2_000_000;

/// The events of one file in order of time.
struct Sorted<'a> {
    source: Source<'a>,
    late: u64,
    latest: u64,
    held: BinaryHeap<Reverse<Event>>,
    ended: bool,
}

impl Sorted<'_> {
    fn next(&mut self, file: &File) -> Result<Option<Event>, Diagnostics> {
        let is_due = |held: &Event, latest: u64, late| held.time + late <= latest;
        while !self.ended {
            if let Some(Reverse(first)) = self.held.peek()
                && is_due(first, self.latest, self.late)
            {
                break;
            }
            match self.source.next() {
                Ok(event) => {
                    self.latest = self.latest.max(event.time);
                    // In a file that is in order nothing is held.
                    if self.held.is_empty() && is_due(&event, self.latest, self.late) {
                        return Ok(Some(event));
                    }
                    self.held.push(Reverse(event));
                }
                Err(Stop::Unread(error)) => return Err(file.unread(&error)),
                // What else is wrong with it the first look said.
                Err(_) => self.ended = true,
            }
            if self.held.len() > MOST_HELD {
                let message = format!(
                    "{}: its events are out of order by more than {MOST_HELD}",
                    file.name
                );
                let hint =
                    "put them in order first: `blkparse -i TRACE -O -d SORTED`, and read SORTED";
                return Err(Diagnostics(vec![Diagnostic::error(message).hint(hint)]));
            }
        }
        Ok(self.held.pop().map(|Reverse(event)| event))
    }
}

/// Hands over the events of all files in order of time.
pub(super) fn each(
    files: &[File],
    look: &Look,
    mut take: impl FnMut(&Event),
) -> Result<(), Diagnostics> {
    let mut sources = Vec::new();
    let mut next = BinaryHeap::new();
    for (index, file) in files.iter().enumerate() {
        let mut sorted = Sorted {
            source: Source::new(file, index)?,
            late: look.late.get(index).copied().unwrap_or(0),
            latest: 0,
            held: BinaryHeap::new(),
            ended: false,
        };
        next.extend(sorted.next(file)?.map(Reverse));
        sources.push(sorted);
    }
    while let Some(Reverse(event)) = next.pop() {
        take(&event);
        let index = event.file as usize;
        next.extend(sources[index].next(&files[index])?.map(Reverse));
    }
    Ok(())
}
