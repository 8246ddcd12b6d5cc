//! Devices known by their figures alone, and arrays of disks.

use super::super::array::{Array, Member};
use super::super::{NONE, VolumeKind};
use super::{Builder, Raised, whole};
use crate::design::Device;
use crate::stage::StageKind;
use crate::storage::path::Step;
use crate::stripe::Stripe;

impl Builder<'_> {
    pub(super) fn device(&mut self, device: &Device) {
        let limits = Raised::steady(device.limits);
        let stage = self.stage(device.name.clone(), StageKind::Device, &limits, None);
        let latency = self.choice(&device.latency);
        let name = (device.name.clone(), "device");
        let first_disk = self.storage.disks.len() as u32;
        if device.kind.is_none() {
            let delay = latency.map(|law| Step::Delay { law, inside: stage });
            let steps: Vec<_> = [Step::Rate(stage)].into_iter().chain(delay).collect();
            let path = self.path(&steps);
            self.push_disk(path, path);
            self.push_volume(VolumeKind::Disks, whole(device.size), first_disk, name);
            return;
        }
        let mut members = Vec::new();
        for disk in 0..device.disk_count {
            let disk_name = format!("{}/disk{}", device.name, disk + 1);
            let limits = Raised::steady(device.disk_limits);
            let disk = self.stage(disk_name, StageKind::Disk, &limits, None);
            let delay = latency.map(|law| Step::Delay { law, inside: disk });
            let once: Vec<_> = [Step::Rate(disk)].into_iter().chain(delay).collect();
            let twice = [once.clone(), once.clone()].concat();
            let whole = |steps: &[Step]| [&[Step::Rate(stage)], steps].concat();
            let path = self.path(&whole(&once));
            members.push(Member {
                data: path,
                rewrite: self.path(&whole(&twice)),
                parity: self.path(&once),
                reparity: self.path(&twice),
            });
            self.push_disk(path, path);
        }
        let unit = device.stripe_unit.get();
        if device.raid.is_none() {
            // One group, whatever the size.
            let stripe = Stripe::new(device.disk_count, unit, u64::MAX);
            self.push_volume(VolumeKind::Disks, stripe, first_disk, name);
            return;
        }
        let array = self.storage.arrays.len() as u32;
        self.storage.arrays.push(Array {
            members,
            unit,
            first_disk,
        });
        self.push_volume(VolumeKind::Array(array), whole(device.size), NONE, name);
    }
}
