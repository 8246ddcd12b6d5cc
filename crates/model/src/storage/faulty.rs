//! Volumes that fail, or are gone.
//!
//! Such a volume is of a kind of its own, so that no I/O of another asks whether it fails. An I/O that fails is charged as
//! the first of its parts, and takes its time; whether it does follows from its numbers alone, and not from those before it.

use fathom_units::{Nanos, Percent};

use super::path::{NONE, PathId};
use super::token::{Effect, Token, Waited};
use super::{Storage, VolumeKind};
use crate::design::VolumeId;
use crate::limit::Waits;
use crate::network::nfs::calls;
use crate::random::{draw, mix};
use crate::request::{Completed, IoError, IoKind, Request};

/// What is wrong with a volume.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    /// What it is otherwise.
    pub beneath: VolumeKind,
    /// How much of its I/O fails.
    pub failing: Percent,
    pub detached: bool,
}

impl Fault {
    /// Nothing.
    pub const fn none(beneath: VolumeKind) -> Self {
        Self {
            beneath,
            failing: Percent::ZERO,
            detached: false,
        }
    }
}

/// Keeps what fails apart from what has which latency.
const FAILS: u64 = 0x6661_6973;

impl Storage {
    /// Changes what is wrong with a volume.
    pub(super) fn set_fault(&mut self, volume: usize, change: impl FnOnce(&mut Fault)) {
        let model = &mut self.volumes[volume];
        let place = if let VolumeKind::Faulty(place) = model.kind {
            place
        } else {
            // Places are kept: each volume takes one at most once.
            let known = self.faults.places.get(&volume).copied();
            known.unwrap_or_else(|| {
                self.faults.volumes.push(Fault::none(model.kind));
                let place = self.faults.volumes.len() as u32 - 1;
                self.faults.places.insert(volume, place);
                place
            })
        };
        let fault = &mut self.faults.volumes[place as usize];
        change(fault);
        model.kind = if fault.detached || fault.failing > Percent::ZERO {
            VolumeKind::Faulty(place)
        } else {
            fault.beneath
        };
    }

    /// Whether a volume is gone: whatever comes for it fails, and leaves its bytes as they are.
    pub fn is_detached(&self, volume: VolumeId) -> bool {
        match self.volumes[volume.index()].kind {
            VolumeKind::Faulty(fault) => self.faults.volumes[fault as usize].detached,
            _ => false,
        }
    }

    /// What is wrong with the volume or device of this name: `detached`, or `5 % fail`.
    pub fn fault_in_words(&self, name: &str) -> Option<String> {
        let mut names = self.volume_names.iter();
        let volume = names.position(|(other, _)| other == name)?;
        let VolumeKind::Faulty(fault) = self.volumes[volume].kind else {
            return None;
        };
        let fault = &self.faults.volumes[fault as usize];
        Some(if fault.detached {
            "detached".to_owned()
        } else {
            format!("{} fail", fault.failing)
        })
    }

    /// Whether this request to a volume fails.
    pub(super) fn fails(&self, fault: u32, request: &Request) -> bool {
        let Fault {
            failing, detached, ..
        } = self.faults.volumes[fault as usize];
        let key = mix(FAILS ^ u64::from(fault));
        let number = draw(key, request.stream, request.index, 0);
        // The high bits, in parts of ten thousand.
        let point = (u128::from(number) * 10_000) >> 64;
        detached || point < u128::from(failing.basis_points())
    }

    /// A flush or an operation on a file of a volume that fails, at once if at all. It has been counted as inside.
    pub(super) fn at_once(
        &mut self,
        now: Nanos,
        fault: u32,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let error = if self.faults.volumes[fault as usize].detached {
            IoError::Gone
        } else {
            IoError::Io
        };
        let volume = request.volume.index() as u32;
        let what = (Waits::NONE, Some(error));
        self.complete(now, (request.tag, volume), what, completed);
    }

    /// Starts a read, write or trim of a volume that fails.
    pub(super) fn on_faulty(
        &mut self,
        now: Nanos,
        fault: u32,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let Fault {
            beneath, detached, ..
        } = self.faults.volumes[fault as usize];
        if detached {
            self.at_once(now, fault, request, completed);
        } else if self.fails(fault, request) {
            let (path, bytes, key) = self.first_part(beneath, request);
            let token = Token {
                draw: draw(key, request.stream, request.index, 0),
                tag: request.tag,
                io: NONE,
                volume: request.volume.index() as u32,
                path,
                bytes: bytes as u32,
                file: NONE,
                effect: Effect::Failed(IoError::Io),
                step: path,
                waited: Waited::NOT,
            };
            self.launch(now, token, completed);
        } else if request.kind == IoKind::Trim {
            self.trim_beneath(now, beneath, request, completed);
        } else {
            self.transfer_elsewhere(now, beneath, request, completed);
        }
    }

    /// Path, bytes and key of the latency of an I/O's first part, where it goes past the host cache.
    fn first_part(&mut self, beneath: VolumeKind, request: &Request) -> (PathId, u64, u64) {
        let (offset, length) = (request.offset, u64::from(request.length.max(1)));
        let read = request.kind == IoKind::Read;
        let bytes = |bytes: u64| {
            if request.kind == IoKind::Trim {
                0
            } else {
                bytes
            }
        };
        match beneath {
            VolumeKind::Disks | VolumeKind::Faulty(_) => {
                let volume = &self.volumes[request.volume.index()];
                let part = volume.stripe.first_part(offset, length);
                let disk = &self.disks[(volume.first_disk + part.disk) as usize];
                let path = if read { disk.read } else { disk.write };
                (path, bytes(part.length), disk.random_key)
            }
            VolumeKind::Array(array) => {
                let array = &self.arrays[array as usize];
                let (disk, path, part) = array.first(request.kind, offset, length);
                let key = self.disks[disk as usize].random_key;
                (path, bytes(part), key)
            }
            VolumeKind::Nfs(volume) => {
                let nfs = &mut self.nfs[volume as usize];
                let most = if read { nfs.rsize } else { nfs.wsize };
                let part = calls(offset, length, most).next();
                let path = nfs.next_path(request.client, !read);
                (
                    path,
                    bytes(part.map_or(0, |(_, part)| part)),
                    nfs.random_key,
                )
            }
            VolumeKind::Share(share) => {
                let share = &mut self.shares[share as usize];
                let path = share.next_path(request.client, !read);
                (path, bytes(length), share.random_key)
            }
        }
    }
}
