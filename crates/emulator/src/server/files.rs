//! Volumes as files: what the kernel's FUSE asks for, answered by the same loop as every client of the network.
//!
//! One read of the device brings one request, one write answers one; reads are answered straight out of the volume's
//! mapping. The kernel holds at most so many requests under way as it was told, so that what it makes the server keep is
//! bounded.

use std::collections::VecDeque;
use std::io;

use fathom_fuse::{
    self as fuse, Attributes, FileOp, NewAttributes, Request, Space, Tree, What, errno,
};
use fathom_model::Waits;
use fathom_nbd::{Command, NbdError};
use fathom_rawio::{Clock, Piece, write_pieces};
use fathom_units::Nanos;

use super::parts::{Parts, longest};
use super::times::Times;
use super::{Server, Starved};
use crate::allocation::BLOCK;
use crate::backing::Disk;
use crate::budget::Budget;
use crate::client::OWED_MOST;
use crate::in_flight::{Io, Sync};
use crate::mount::Mount;
use crate::pace::HandedOn;
use crate::punch::Hole;

/// The place of the kernel among the clients: none of theirs.
pub(super) const KERNEL: (u32, u32) = (u32::MAX, 0);
/// Requests that are taken in before others have their turn.
const REQUESTS_A_TURN: usize = 256;
/// Most pieces of one answer: a megabyte in which every other block is a hole, and its head.
const PIECES: usize = 600;

/// Whether there may be more requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mounted {
    /// There may.
    Yes,
    /// It was unmounted: none will come.
    No,
}

/// The mount, its tree, and what is on its way.
#[derive(Debug)]
pub(crate) struct Files {
    pub mount: Mount,
    pub(super) tree: Tree,
    buffer: Vec<u8>,
    /// Requests that wait for holes, and whether they may go on.
    pub(super) held: Vec<(Vec<u8>, Option<Starved>)>,
    pub(super) goes_on: bool,
    /// What the last answers hand on to the requests that follow them.
    handed_on: VecDeque<HandedOn>,
    times: Times,
    /// Ranges of which a part is under way.
    pub(super) parts: Parts,
}

impl Files {
    /// Files of `tree` on a mount.
    pub fn new(mount: Mount, tree: Tree) -> Self {
        let made = tree.attributes(fuse::ROOT).map_or(0, |root| root.time);
        Self {
            mount,
            tree,
            buffer: vec![0; fuse::REQUEST_MOST],
            held: Vec::new(),
            goes_on: false,
            handed_on: VecDeque::new(),
            times: Times::new(made),
            parts: Parts::default(),
        }
    }

    /// An answer hands something on to the request that will follow it.
    pub(super) fn hand_on(&mut self, handed_on: HandedOn) {
        if self.handed_on.len() >= OWED_MOST {
            self.handed_on.pop_front();
        }
        self.handed_on.push_back(handed_on);
    }

    /// Requests that had to wait and may go on.
    pub(super) fn take_held(&mut self) -> Option<Vec<(Vec<u8>, Option<Starved>)>> {
        std::mem::take(&mut self.goes_on).then(|| std::mem::take(&mut self.held))
    }

    /// The kernel may have asked no longer for what is answered: that is no failure.
    pub(super) fn say(&self, reply: &[u8]) {
        let _ = rustix::io::write(self.mount.device(), reply);
    }

    pub(super) fn fail(&self, unique: u64, error: i32) {
        self.say(fuse::failed(unique, error).bytes());
    }

    /// Answers an I/O that is over.
    pub(super) fn answer(&self, io: &Io, disks: &[Disk]) {
        let unique = io.cookie;
        match (io.error, io.command) {
            (Some(error), _) => self.fail(unique, number_of(error)),
            (None, Command::Read) => {
                let head = fuse::head(unique, io.length);
                let mut pieces = vec![Piece::Bytes(head.bytes())];
                let end = io.offset + u64::from(io.length);
                disks[io.export as usize].pieces(io.offset, end, PIECES, &mut pieces);
                match write_pieces(self.mount.device(), &pieces) {
                    // A mapped page that cannot be read is an error of this read.
                    Err(error)
                        if error.raw_os_error()
                            == Some(rustix::io::Errno::FAULT.raw_os_error()) =>
                    {
                        self.fail(unique, errno::IO);
                    }
                    _ => {}
                }
            }
            (None, Command::Write) => self.say(&fuse::written(unique, io.length)),
            (None, _) => self.say(fuse::head(unique, 0).bytes()),
        }
    }

    /// Attributes of a node as they are now: with what of it takes room, and when it was changed.
    fn present(&mut self, found: Attributes, disks: &[Disk]) -> Attributes {
        let Some(export) = self.tree.file(found.node) else {
            return found;
        };
        Attributes {
            held: disks[export].held(),
            time: self.times.look(export, disks),
            ..found
        }
    }

    /// New attributes for a node: what changes nothing but a time is done, as copying programs ask for it.
    fn set(&mut self, unique: u64, found: Attributes, wished: &NewAttributes, disks: &[Disk]) {
        if !found.satisfy(wished) {
            return self.fail(unique, errno::PERM);
        }
        if let (Some(time), Some(export)) = (wished.time, self.tree.file(found.node)) {
            self.times.set(export, disks, time);
        }
        let now = self.present(found, disks);
        self.say(&fuse::attributes(unique, &now));
    }

    /// Answers what is about names and attributes; gives back what is about bytes.
    fn names<'r>(
        &mut self,
        request: &Request<'r>,
        (disks, budget): (&[Disk], &Budget),
    ) -> Option<FileOp<'r>> {
        let (unique, node) = (request.unique, request.node);
        match request.what {
            What::File(operation) => return Some(operation),
            What::Init(init) => match fuse::initialised(unique, &init) {
                Some(reply) => self.say(&reply),
                None => self.fail(unique, errno::NOT_SUPPORTED),
            },
            What::Lookup(name) => match self.tree.lookup(node, name) {
                Some(found) => {
                    let found = self.present(found, disks);
                    self.say(&fuse::entry(unique, &found));
                }
                None => self.fail(unique, errno::NO_ENTRY),
            },
            What::GetAttributes => match self.tree.attributes(node) {
                Some(found) => {
                    let found = self.present(found, disks);
                    self.say(&fuse::attributes(unique, &found));
                }
                None => self.fail(unique, errno::NO_ENTRY),
            },
            What::SetAttributes(wished) => match self.tree.attributes(node) {
                Some(found) => self.set(unique, found, &wished, disks),
                None => self.fail(unique, errno::NO_ENTRY),
            },
            What::ChangeName => self.fail(unique, errno::PERM),
            What::Open | What::OpenDirectory => self.say(&fuse::opened(unique)),
            What::ReadDirectory { offset, size } => {
                match self.tree.list(unique, node, (offset, size)) {
                    Some(reply) => self.say(&reply),
                    None => self.fail(unique, errno::NO_ENTRY),
                }
            }
            What::Space => {
                let (files, bytes) = self.tree.totals();
                self.say(&fuse::space(
                    unique,
                    &Space {
                        files,
                        bytes,
                        held: disks.iter().map(Disk::held).sum(),
                        available: room_beneath(disks, budget),
                    },
                ));
            }
            What::Done | What::Destroy => self.say(fuse::head(unique, 0).bytes()),
            What::Interrupt(unique) => self.parts.interrupt(unique),
            What::Forget => {}
            What::Other(_) => self.fail(unique, errno::NO_SYSTEM_CALL),
        }
        None
    }
}

/// Bytes that still find room in memory, or in the file system with the files beneath.
fn room_beneath(disks: &[Disk], budget: &Budget) -> u64 {
    match disks.first().and_then(Disk::durable_file) {
        // Copies for a crash go by themselves, and a write waits for their room.
        None => (budget.for_data().max(0).cast_unsigned()).saturating_mul(BLOCK),
        Some(file) => rustix::fs::fstatvfs(&**file).map_or(0, |beneath| {
            beneath.f_bavail.saturating_mul(beneath.f_frsize)
        }),
    }
}

pub(super) fn number_of(error: NbdError) -> i32 {
    match error {
        NbdError::NoSpace => errno::NO_SPACE,
        NbdError::Invalid => errno::INVALID,
        _ => errno::IO,
    }
}

impl Server<'_> {
    /// Takes in what the kernel asks for.
    pub(super) fn take_files(&mut self) -> io::Result<Mounted> {
        let Some(mut files) = self.files.take() else {
            return Ok(Mounted::No);
        };
        let mut buffer = std::mem::take(&mut files.buffer);
        let mut mounted = Ok(Mounted::Yes);
        for _ in 0..REQUESTS_A_TURN {
            match rustix::io::read(files.mount.device(), &mut *buffer) {
                Ok(count) => {
                    Request::parse(&buffer[..count]).map_err(io::Error::other)?;
                    self.take_file(&mut files, &buffer[..count], None);
                }
                // A request that was taken back before it was read.
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::NODEV) => {
                    mounted = Ok(Mounted::No);
                    break;
                }
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => {
                    mounted = Err(error.into());
                    break;
                }
            }
        }
        files.buffer = buffer;
        self.files = Some(files);
        mounted
    }

    /// Takes in a request, which may have waited for room.
    pub(super) fn take_file(&mut self, files: &mut Files, bytes: &[u8], starved: Option<Starved>) {
        let Ok(request) = Request::parse(bytes) else {
            return;
        };
        if let Some(operation) = files.names(&request, (&self.disks, &self.budget))
            && !self.file_must_wait(files, (&request, bytes), &operation, starved)
            && !self.file_starves(files, (&request, bytes), &operation, starved)
        {
            let held = self.fed(starved, Clock::now());
            self.operate(files, (&request, bytes), operation, held);
        }
    }

    /// The I/O that an operation is, on a volume that is there.
    fn wanted(&self, export: usize, operation: FileOp<'_>) -> Result<Option<Wanted>, i32> {
        self.there(export).map_err(number_of)?;
        as_io(operation, self.exports.exports[export].size)
    }

    /// Something with a file's bytes: an I/O of its volume, where it can be one.
    fn operate(
        &mut self,
        files: &mut Files,
        (request, bytes): (&Request<'_>, &[u8]),
        operation: FileOp<'_>,
        held: Nanos,
    ) {
        let unique = request.unique;
        let Some(export) = files.tree.file(request.node) else {
            // A directory is durable as it is.
            return match operation {
                FileOp::Sync => files.say(fuse::head(unique, 0).bytes()),
                _ => files.fail(unique, errno::IS_DIRECTORY),
            };
        };
        if let FileOp::Seek(seek) = operation {
            return self.seek(files, (unique, export), seek);
        }
        let wanted = match self.wanted(export, operation) {
            Ok(Some(wanted)) => wanted,
            Ok(None) => return files.say(fuse::head(unique, 0).bytes()),
            Err(error) => return files.fail(unique, error),
        };
        let (offset, length) = (wanted.offset, u64::from(wanted.length));
        let in_parts =
            wanted.command == Command::WriteZeroes && self.zeroes_in_parts(export, length);
        let done = match (wanted.command, operation) {
            (Command::Write, FileOp::Write(_, data)) => self
                .make_room(export, offset, length)
                .and_then(|()| {
                    let written = self.disks[export].write(offset, data);
                    written.inspect_err(|_| self.has_written(export, offset, length))
                })
                .map(|()| None),
            (Command::Trim, _) => self.disks[export].discard(&mut self.budget, offset, length),
            (Command::WriteZeroes, _) if in_parts => Ok(None),
            (Command::WriteZeroes, _) => self.zero(export, offset, length),
            _ => Ok(None),
        };
        let hole = match done {
            Ok(hole) => hole,
            Err(error) => return self.could_not(files, unique, (export, &wanted), error),
        };
        if wanted.has_rest {
            files.parts.begin(unique, bytes, wanted.length);
        }
        let handed_on = files.handed_on.pop_front().unwrap_or(HandedOn::Nothing);
        let asked = self.pace.left_at(Clock::now(), self.outlook.was);
        let durable = wanted.command == Command::Flush || wanted.durable;
        let io = Io {
            client: KERNEL,
            structured: false,
            export: export as u32,
            command: wanted.command,
            fua: wanted.durable,
            cookie: unique,
            offset,
            length: wanted.length,
            left: wanted.length,
            reached: wanted.length,
            index: self.meter.next_index(export),
            asked: asked.saturating_sub(held),
            held,
            sent: self.pace.sent_at(asked, handed_on),
            due: None,
            waits: Waits::NONE,
            sync: self.waits_for(export, durable, hole.as_ref()),
            cached: false,
            era: self.era(export),
            error: None,
        };
        if in_parts {
            self.zero_in_parts(io, handed_on);
        } else {
            self.enter(io, hole);
        }
    }

    /// An I/O that was right is not done.
    fn could_not(
        &mut self,
        files: &mut Files,
        unique: u64,
        (export, wanted): (usize, &Wanted),
        error: NbdError,
    ) {
        let what = (wanted.command, wanted.offset);
        self.meter.could_not(export, what, error);
        files.fail(unique, number_of(error));
    }

    /// What an I/O waits for beside the model.
    fn waits_for(&self, export: usize, durable: bool, hole: Option<&Hole>) -> Sync {
        match (hole, self.disks[export].durable_file()) {
            (Some(_), _) => Sync::Hole,
            (None, Some(_)) if durable => Sync::Pending,
            _ => Sync::Done,
        }
    }

    /// Answers I/Os of files that are over.
    pub(super) fn answer_files(&mut self) {
        if let Some(files) = &mut self.files {
            for io in &self.files_ready {
                if !files.goes_on_behind(io) {
                    files.answer(io, &self.disks);
                }
            }
        }
        self.answered.append(&mut self.files_ready);
    }
}

/// What an operation is to the volume.
struct Wanted {
    command: Command,
    offset: u64,
    length: u32,
    durable: bool,
    /// It is the first part of something longer.
    has_rest: bool,
}

/// What `operation` on a file of `size` bytes is to its volume; `None`: nothing is to be done.
fn as_io(operation: FileOp<'_>, size: u64) -> Result<Option<Wanted>, i32> {
    let wanted = |command, offset, length, durable| Wanted {
        command,
        offset,
        length,
        durable,
        has_rest: false,
    };
    let part = |command, offset, length: u64| Wanted {
        has_rest: length > longest(command),
        ..wanted(command, offset, length.min(longest(command)) as u32, false)
    };
    Ok(match operation {
        // It is no I/O of a disk.
        FileOp::Seek(_) => None,
        FileOp::Sync => Some(wanted(Command::Flush, 0, 0, false)),
        FileOp::Read(range) => {
            let left = size.saturating_sub(range.offset);
            let length = u64::from(range.size).min(left) as u32;
            // At the end of a file there is nothing to read, and nothing to charge.
            (length > 0).then(|| wanted(Command::Read, range.offset, length, false))
        }
        FileOp::Write(range, _) => {
            let end = range.offset.checked_add(u64::from(range.size));
            if end.is_none_or(|end| end > size) {
                return Err(errno::NO_SPACE);
            }
            let durable = range.is_durable();
            (range.size > 0).then(|| wanted(Command::Write, range.offset, range.size, durable))
        }
        // Behind the end there is nothing to be taken back.
        FileOp::Allocate(range) if range.punches() => {
            let length = range.length.min(size.saturating_sub(range.offset));
            (length > 0).then(|| part(Command::Trim, range.offset, length))
        }
        FileOp::Allocate(range) => {
            let end = range.offset.checked_add(range.length);
            if end.is_none_or(|end| end > size) {
                return Err(errno::NO_SPACE);
            }
            if range.zeroes() {
                Some(part(Command::WriteZeroes, range.offset, range.length))
            } else if range.allocates() {
                None
            } else {
                return Err(errno::NOT_SUPPORTED);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use fathom_fuse::{Fallocate, Transfer};

    use super::*;

    const SIZE: u64 = 1 << 20;

    fn range(offset: u64, size: u32) -> Transfer {
        Transfer {
            offset,
            size,
            flags: 0,
        }
    }

    #[track_caller]
    fn check(operation: FileOp<'_>, expected: Result<Option<(Command, u64, u32)>, i32>) {
        let found = as_io(operation, SIZE);
        let found = found.map(|io| io.map(|io| (io.command, io.offset, io.length)));
        assert_eq!(found, expected, "{operation:?}");
    }

    #[test]
    fn ranges_end_with_the_file() {
        let read = |offset, size| FileOp::Read(range(offset, size));
        let write = |offset, size| FileOp::Write(range(offset, size), &[]);
        check(read(0, 4096), Ok(Some((Command::Read, 0, 4096))));
        check(
            read(SIZE - 512, 4096),
            Ok(Some((Command::Read, SIZE - 512, 512))),
        );
        check(read(SIZE, 4096), Ok(None));
        check(read(u64::MAX, 4096), Ok(None));
        check(
            write(SIZE - 512, 512),
            Ok(Some((Command::Write, SIZE - 512, 512))),
        );
        check(write(SIZE - 511, 512), Err(errno::NO_SPACE));
        check(write(u64::MAX, 512), Err(errno::NO_SPACE));
    }

    #[test]
    fn space_is_taken_back_and_zeroed() {
        let allocate = |offset, length, mode| {
            FileOp::Allocate(Fallocate {
                offset,
                length,
                mode,
            })
        };
        check(
            allocate(4096, 8192, 3),
            Ok(Some((Command::Trim, 4096, 8192))),
        );
        check(
            allocate(0, 4096, 16),
            Ok(Some((Command::WriteZeroes, 0, 4096))),
        );
        check(
            allocate(0, 4096, 17),
            Ok(Some((Command::WriteZeroes, 0, 4096))),
        );
        check(allocate(0, 4096, 0), Ok(None));
        check(allocate(0, 4096, 8), Err(errno::NOT_SUPPORTED));
        check(allocate(0, SIZE + 1, 0), Err(errno::NO_SPACE));
        check(allocate(0, SIZE + 1, 16), Err(errno::NO_SPACE));
        check(allocate(u64::MAX, 2, 16), Err(errno::NO_SPACE));
        // As on other files, what lies behind the end is not there to be taken back.
        check(
            allocate(4096, SIZE, 3),
            Ok(Some((Command::Trim, 4096, SIZE as u32 - 4096))),
        );
        check(allocate(SIZE, 2, 3), Ok(None));
        check(allocate(u64::MAX, 2, 3), Ok(None));
    }

    #[test]
    fn long_ranges_begin_with_a_part() {
        let allocate = |length, mode| {
            let range = Fallocate {
                offset: 4096,
                length,
                mode,
            };
            let io = as_io(FileOp::Allocate(range), 1 << 40).unwrap();
            io.map(|io| (io.command, io.length, io.has_rest))
        };
        for (mode, command) in [(3, Command::Trim), (16, Command::WriteZeroes)] {
            let part = longest(command);
            let begins = |has_rest| Some((command, part as u32, has_rest));
            assert_eq!(allocate(part, mode), begins(false));
            assert_eq!(allocate(part + 1, mode), begins(true));
            assert_eq!(allocate(1 << 39, mode), begins(true));
        }
        assert_eq!(allocate(1 << 39, 0), None);
    }
}
