//! I/Os whose holes are punched beside this thread.

use std::io;

use fathom_fuse::{FileOp, Request as FileRequest};
use fathom_nbd::{Command, Request};

use super::files::Files;
use super::{Server, Starved};
use crate::backing::told;
use crate::in_flight::Sync;
use crate::punch::{Hole, Punch};

impl Server<'_> {
    /// Whether a request changes bytes that are being punched or zeroed: it would be undone, so it is taken in later.
    #[inline]
    pub(super) fn must_wait(&self, export: usize, request: &Request) -> bool {
        let changes = matches!(
            request.command,
            Command::Write | Command::Trim | Command::WriteZeroes
        );
        changes && self.is_becoming_zeroes(export, request.offset, u64::from(request.length))
    }

    #[inline]
    fn is_becoming_zeroes(&self, export: usize, offset: u64, length: u64) -> bool {
        self.puncher.touches(export, offset, length)
            || self.zeroings.touches(export, offset, length)
    }

    /// The same for a request of a file, which is kept.
    pub(super) fn file_must_wait(
        &self,
        files: &mut Files,
        (request, bytes): (&FileRequest<'_>, &[u8]),
        operation: &FileOp<'_>,
        starved: Option<Starved>,
    ) -> bool {
        let (offset, length) = match operation {
            FileOp::Write(range, _) => (range.offset, u64::from(range.size)),
            FileOp::Allocate(range) if !range.allocates() => (range.offset, range.length),
            _ => return false,
        };
        let export = files.tree.file(request.node);
        let waits = export.is_some_and(|export| self.is_becoming_zeroes(export, offset, length));
        if waits {
            files.held.push((bytes.to_vec(), starved));
        }
        waits
    }

    /// Takes in requests of files that had to wait for holes and may go on.
    pub(super) fn take_held_files(&mut self) {
        let files = self.files.as_mut();
        let Some(held) = files.and_then(Files::take_held) else {
            return;
        };
        let Some(mut files) = self.files.take() else {
            return;
        };
        for (bytes, starved) in held {
            self.take_file(&mut files, &bytes, starved);
        }
        self.files = Some(files);
    }

    /// Has the hole of an I/O punched, which is answered afterwards.
    pub(super) fn punch(&mut self, number: u32, export: usize, hole: Hole) {
        let punch = Punch {
            io: number,
            export,
            hole,
        };
        self.puncher.ask(self.disks[export].file(), punch);
    }

    /// Holes have been punched.
    pub(super) fn punched(&mut self) {
        self.puncher.heard();
        while let Some(done) = self.puncher.next() {
            self.hole_is_done(done);
        }
        self.go_on();
    }

    /// Waits until every hole has been punched.
    pub(super) fn punch_all(&mut self) {
        while let Some(done) = self.puncher.wait() {
            self.hole_is_done(done);
        }
        self.go_on();
    }

    fn hole_is_done(&mut self, (punch, went): (Punch, io::Result<()>)) {
        self.budget.give_back(punch.hole.blocks);
        self.hole_of(punch.io, went);
    }

    /// All of the hole of an I/O is there.
    pub(super) fn hole_of(&mut self, number: u32, went: io::Result<()>) {
        let Some(io) = self.ios.get_mut(number) else {
            return;
        };
        io.sync = Sync::Done;
        match (went, self.disks[io.export as usize].durable_file()) {
            (Err(error), _) => io.error = Some(told(&error)),
            (Ok(()), Some(file)) if io.fua => {
                io.sync = Sync::Pending;
                self.syncer.ask((number, io.identity()), file);
            }
            _ => {}
        }
        if io.sync == Sync::Done && io.due.is_some() {
            self.answer(number);
        }
    }

    /// Clients that had to wait may go on.
    pub(super) fn go_on(&mut self) {
        if let Some(files) = &mut self.files {
            files.goes_on = true;
        }
        for (place, client) in self.crowd.places.iter_mut().enumerate() {
            if let Some(client) = client
                && std::mem::take(&mut client.waits)
            {
                self.dirty.push(place as u32);
            }
        }
    }
}
