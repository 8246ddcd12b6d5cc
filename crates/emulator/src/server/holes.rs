//! I/Os whose holes are punched beside this thread.

use std::io;

use fathom_nbd::{Command, Request};

use super::Server;
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
        let (offset, length) = (request.offset, u64::from(request.length));
        changes
            && (self.puncher.touches(export, offset, length)
                || self.zeroings.touches(export, offset, length))
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
        for (place, client) in self.clients.iter_mut().enumerate() {
            if let Some(client) = client
                && std::mem::take(&mut client.waits)
            {
                self.dirty.push(place as u32);
            }
        }
    }
}
