//! Trims: what says that the data of a range is not needed any more.
//!
//! No provider prints how they are charged. A trim carries no data, so it is charged as one I/O of no bytes at each disk
//! that its range touches, on the way of a write that goes through to its disk; over a network it is one request. The host
//! cache stays as it is: what is dirty there is still written.

use fathom_units::Nanos;

use super::path::NONE;
use super::token::{Effect, Parent, Token, Waited};
use super::{PathId, Storage, VolumeKind};
use crate::limit::Waits;
use crate::random::draw;
use crate::request::{Completed, Request};

impl Storage {
    /// A trim comes in.
    pub(super) fn trim(&mut self, now: Nanos, request: &Request, completed: &mut Vec<Completed>) {
        let volume = &mut self.volumes[request.volume.index()];
        volume.meter.count(0);
        volume.meter.enter(now);
        match volume.kind {
            VolumeKind::Faulty(fault) => self.on_faulty(now, fault, request, completed),
            kind => self.trim_beneath(now, kind, request, completed),
        }
    }

    /// The same of a volume that does not fail.
    pub(super) fn trim_beneath(
        &mut self,
        now: Nanos,
        kind: VolumeKind,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let targets = self.trimmed(kind, request);
        let parent = self.parents.put(Parent {
            tag: request.tag,
            volume: request.volume.index() as u32,
            parts_left: 1 + targets.len() as u32,
        });
        for (number, (path, key)) in (0..).zip(targets) {
            let token = Token {
                draw: draw(key, request.stream, request.index, number),
                tag: request.tag,
                io: parent,
                volume: request.volume.index() as u32,
                path,
                bytes: 0,
                file: NONE,
                effect: Effect::None,
                step: path,
                waited: Waited::NOT,
            };
            self.launch(now, token, completed);
        }
        self.close_part(now, parent, Waits::NONE, completed);
    }

    /// Path and key of the latency of each disk that a trim touches, in the order of its bytes.
    fn trimmed(&mut self, kind: VolumeKind, request: &Request) -> Vec<(PathId, u64)> {
        let (offset, length) = (request.offset, u64::from(request.length));
        match kind {
            VolumeKind::Disks => {
                let volume = &self.volumes[request.volume.index()];
                let mut touched: Vec<u32> = Vec::new();
                for part in volume.stripe.parts(offset, length) {
                    if touched.len() == volume.disk_count as usize {
                        break;
                    }
                    if !touched.contains(&part.disk) {
                        touched.push(part.disk);
                    }
                }
                let disks = touched.into_iter();
                let disks = disks.map(|disk| &self.disks[(volume.first_disk + disk) as usize]);
                disks.map(|disk| (disk.write, disk.random_key)).collect()
            }
            VolumeKind::Array(array) => {
                let array = &self.arrays[array as usize];
                let disks = array.trimmed(offset, length).into_iter();
                let key = |disk: u32| self.disks[disk as usize].random_key;
                disks.map(|(disk, path)| (path, key(disk))).collect()
            }
            VolumeKind::Nfs(volume) => {
                let nfs = &mut self.nfs[volume as usize];
                vec![(nfs.next_path(request.client, true), nfs.random_key)]
            }
            VolumeKind::Share(share) => {
                let share = &mut self.shares[share as usize];
                vec![(share.next_path(request.client, true), share.random_key)]
            }
            VolumeKind::Faulty(_) => Vec::new(),
        }
    }
}
