//! What workers issue: I/Os as requests of storage, syncs, and operations on names.

use fathom_model::{Completed, IoKind, MetadataOp, Request, Waits};
use fathom_workload::generator::Io;
use fathom_workload::{Backend, Direction, FileOperation};

use super::{Route, Run, UNWATCHED};
use crate::agenda::Due;
use crate::worker::Step;

impl Run<'_, '_> {
    /// Lets a worker issue what it may.
    #[inline(never)]
    pub(super) fn pump(&mut self, index: u32) {
        loop {
            let worker = &mut self.workers[index as usize];
            if worker.rests() {
                return;
            }
            let looks_ahead = worker.is_to_look_ahead();
            if let Some((io, slot)) = worker.next_of_stretch(self.now) {
                if looks_ahead {
                    self.look_ahead(index);
                }
                self.issue(index, io, slot);
            } else if !self.pump_by_rules(index) {
                return;
            }
        }
    }

    /// Tells storage of the I/Os that a worker has drawn.
    fn look_ahead(&self, index: u32) {
        let route = &self.routes[index as usize];
        if let [target, ..] = route.targets {
            for offset in self.workers[index as usize].upcoming() {
                self.storage.expect(target.volume, target.start + offset);
            }
        }
    }

    /// The same with a look at everything that a worker may do; `false`: there is nothing more to do now.
    #[inline(never)]
    fn pump_by_rules(&mut self, index: u32) -> bool {
        if self.flows.is_empty() {
            return self.pump_one(index);
        }
        if self.flows.holds(index) {
            return false;
        }
        let group = self.flows.group_of(index);
        let (before, goes_on) = (
            self.workers[index as usize].outstanding(),
            self.pump_one(index),
        );
        let worker = &self.workers[index as usize];
        if worker.is_closed() {
            self.flows.leave(index);
        } else if worker.outstanding() > before {
            self.flows.issued(index);
        }
        while let Some(other) = group.and_then(|group| self.flows.released(group)) {
            self.agenda.push(self.now, Due::Worker(other));
        }
        goes_on
    }

    /// One step of a worker; `false`: there is nothing more to do now.
    fn pump_one(&mut self, index: u32) -> bool {
        match self.workers[index as usize].step(self.now) {
            Step::Issue(io, slot) => self.issue(index, io, slot),
            Step::Sync(target, slot) => self.sync(index, target, slot),
            Step::WaitUntil(at) => {
                self.agenda.push(at, Due::Worker(index));
                return false;
            }
            Step::Rest => return false,
        }
        true
    }

    #[expect(
        clippy::inline_always,
        reason = "every I/O comes by here, and a call costs as much as the work"
    )]
    #[inline(always)]
    fn issue(&mut self, index: u32, io: Io, slot: u32) {
        let route = &self.routes[index as usize];
        if !route.plain {
            self.issue_other(index, &{ io }, slot);
            return;
        }
        let tag = u64::from(index) << 32 | u64::from(slot);
        let request = request_of(route, &io, kind_of(io.direction), tag);
        self.storage.submit(self.now, request, &mut self.completed);
    }

    /// The same for work that is not plain reads and writes.
    #[inline(never)]
    fn issue_other(&mut self, index: u32, io: &Io, slot: u32) {
        self.logs.issued(index, slot, io);
        let route = &self.routes[index as usize];
        let tag = u64::from(index) << 32 | u64::from(slot);
        if route.backend == Backend::Null {
            self.completed.push(done_at_once(tag));
            return;
        }
        let kind = match (route.operation, io.direction) {
            (Some(operation), _) => IoKind::Metadata(metadata_of(operation)),
            (None, Direction::Trim) => IoKind::Trim,
            (None, direction) => kind_of(direction),
        };
        let request = request_of(route, io, kind, tag);
        self.storage.submit(self.now, request, &mut self.completed);
        // What was created is open, and is closed again; the worker does not wait for that.
        if request.kind == IoKind::Metadata(MetadataOp::Create) {
            let close = Request {
                kind: IoKind::Metadata(MetadataOp::Close),
                tag: UNWATCHED,
                ..request
            };
            self.storage.submit(self.now, close, &mut self.completed);
        }
    }

    /// Makes what was written to a target's volume durable.
    fn sync(&mut self, index: u32, target: u32, slot: u32) {
        let route = &self.routes[index as usize];
        let tag = u64::from(index) << 32 | u64::from(slot);
        if route.backend == Backend::Null {
            self.completed.push(done_at_once(tag));
            return;
        }
        let target = &route.targets[target as usize];
        let request = Request {
            volume: target.volume,
            client: target.client,
            file: target.file,
            kind: IoKind::Flush,
            fua: false,
            offset: target.start,
            length: 0,
            stream: route.stream,
            index: route.first_draw,
            tag,
        };
        self.storage.submit(self.now, request, &mut self.completed);
    }
}

/// The completion of what no storage is asked for.
fn done_at_once(tag: u64) -> Completed {
    Completed {
        tag,
        waits: Waits::NONE,
        error: None,
    }
}

/// What an I/O is to storage that is read and written alone.
#[inline]
pub(super) fn kind_of(direction: Direction) -> IoKind {
    match direction {
        Direction::Read => IoKind::Read,
        Direction::Write | Direction::Trim => IoKind::Write,
    }
}

/// An I/O as storage takes it.
#[expect(
    clippy::inline_always,
    reason = "every I/O comes by here, and a call costs as much as the work"
)]
#[inline(always)]
pub(super) fn request_of(route: &Route<'_>, io: &Io, kind: IoKind, tag: u64) -> Request {
    let target = &route.targets[io.target as usize];
    Request {
        volume: target.volume,
        client: target.client,
        file: target.file,
        kind,
        fua: route.fua,
        offset: target.start + io.offset,
        length: io.length,
        stream: route.stream,
        index: io.index.wrapping_add(route.first_draw),
        tag,
    }
}

/// The operation on names of which a share knows.
fn metadata_of(operation: FileOperation) -> MetadataOp {
    match operation {
        FileOperation::Create | FileOperation::CreateDirectory => MetadataOp::Create,
        FileOperation::Delete | FileOperation::DeleteDirectory => MetadataOp::Delete,
        FileOperation::Stat(_)
        | FileOperation::StatDirectory(_)
        | FileOperation::Allocate
        | FileOperation::Truncate => MetadataOp::Stat,
    }
}
