//! Devices known by their figures alone, and arrays of disks.

use fathom_model::Device;

use super::limits::steady;
use super::{Builder, path};
use crate::stripe::Stripe;
use crate::volume::{Array, Disk, Kind, Member, Step};

impl Builder {
    pub fn device(&mut self, device: &Device) {
        let names = ["device-iops", "device-bytes"];
        let whole = self.queue(device.name.clone(), steady(&device.limits), names, None);
        let law = self.choice(&device.latency);
        let first_disk = self.storage.disks.len();
        if device.kind.is_none() {
            let path = path(&[whole], law.map(|law| (law, whole)));
            self.storage.disks.push(Disk {
                read: path.clone(),
                write: path,
                ..Disk::default()
            });
            let kind = Kind::Disks(stripe(1, device.size.get()));
            return self.volume(None, kind, first_disk, None);
        }
        let mut members = Vec::new();
        for disk in 1..=device.disk_count {
            let name = format!("{}/disk{disk}", device.name);
            let names = ["disk-iops", "disk-bytes"];
            let queue = self.queue(name, steady(&device.disk_limits), names, None);
            let once = path(&[queue], law.map(|law| (law, queue)));
            let twice = [once.clone(), once.clone()].concat();
            let enter = |path: &[Step]| [&[Step::Queue(whole)], path].concat();
            let data = enter(&once);
            self.storage.disks.push(Disk {
                read: data.clone(),
                write: data.clone(),
                ..Disk::default()
            });
            members.push(Member {
                data,
                data_twice: enter(&twice),
                parity: once,
                parity_twice: twice,
            });
        }
        let unit = device.stripe_unit.get();
        let kind = match device.raid {
            None => Kind::Disks(stripe(u64::from(device.disk_count), unit)),
            Some(_) => Kind::Array(Array { unit, members }),
        };
        self.volume(None, kind, first_disk, None);
    }
}

/// Disks without an end: the size of an array is that of the whole.
fn stripe(columns: u64, unit: u64) -> Stripe {
    Stripe {
        columns,
        unit,
        disk_bytes: (1 << 62) / columns / unit * unit,
    }
}
