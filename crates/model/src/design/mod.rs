//! The design: machines, volumes, devices, NFS volumes and shares, as the design file describes them.
//!
//! Reading resolves every name against the catalogue and checks every rule at once, so that whatever holds a [`Design`]
//! need not ask again.
//!
//! - `types` holds the parts of a design;
//! - `read` makes them from the text of a file, with complaints that point into it;
//! - `notes` are what a reader of predictions should know about it;
//! - `locate` finds the volume that serves a path, and `json` is a design as it stands in a record.
//!
//! Invariants: names are unique; mounts are unique on each machine; a cached volume's disks can be cached and its
//! machine has a cache; columns divide the disks of a volume; a client of an NFS volume or share is a machine of the
//! design.

pub mod figures;
mod json;
mod locate;
mod notes;
mod read;
mod types;

use fathom_diagnostics::Location;
use fathom_units::Bytes;

use crate::factor::Factor;

pub use locate::LocateError;
pub use read::{CachedDisk, Obstacle, caching_obstacle};
pub use types::{
    Burst, CacheStart, Client, ClientId, Credits, Device, DiskSpec, FigureOrigin, HostCacheTiers,
    HostCaching, LatencyChoice, LatencyOrigin, Media, MemoryTier, Mount, NfsVersion, NfsVolume,
    Raid5, Role, SmbShare, Vm, Volume, VolumeId,
};

/// A storage system.
///
/// [`VolumeId`]s count the volumes of its machines in order, then devices, NFS volumes and shares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Design {
    /// Machines, in order.
    pub vms: Vec<Vm>,
    /// Devices known by their figures alone.
    pub devices: Vec<Device>,
    /// Volumes over NFS.
    pub nfs: Vec<NfsVolume>,
    /// Shares over SMB.
    pub smb: Vec<SmbShare>,
    /// What a reader of predictions should know about this design, one sentence each.
    pub notes: Vec<String>,
    /// What every rate and every bucket of credits is multiplied by; see [`Design::scaled`].
    pub scale: Factor,
}

/// A volume of a design, whatever it is.
#[derive(Debug, Clone, Copy)]
pub enum AnyVolume<'a> {
    /// Of disks, on a machine.
    Disks(ClientId, &'a Volume),
    /// A device.
    Device(&'a Device),
    /// Over NFS.
    Nfs(&'a NfsVolume),
    /// Over SMB.
    Smb(&'a SmbShare),
}

impl Design {
    /// The same storage with every rate and every bucket of credits multiplied: those of disks, machines, networks, shares
    /// and volumes. Latencies, sizes, caches, and what may be in flight stay as they are, so that a limit that binds gives
    /// `factor` times as much, and I/O that no limit holds takes as long as before.
    #[must_use]
    pub fn scaled(mut self, factor: Factor) -> Self {
        self.scale = factor;
        if factor != Factor::ONE {
            let text = format!(
                "every rate and every bucket of credits of the design is multiplied by {factor}"
            );
            self.notes.push(text);
        }
        self
    }

    /// Number of volumes, devices, NFS volumes and shares.
    pub fn volume_count(&self) -> usize {
        let volumes = self.vms.iter().map(|vm| vm.volumes.len()).sum::<usize>();
        volumes + self.devices.len() + self.nfs.len() + self.smb.len()
    }

    /// All volumes, in the order of their [`VolumeId`]s.
    pub fn volumes(&self) -> impl Iterator<Item = AnyVolume<'_>> {
        let disks = self.vms.iter().enumerate().flat_map(|(index, vm)| {
            let client = ClientId::new(index as u32);
            let volumes = vm.volumes.iter();
            volumes.map(move |volume| AnyVolume::Disks(client, volume))
        });
        disks
            .chain(self.devices.iter().map(AnyVolume::Device))
            .chain(self.nfs.iter().map(AnyVolume::Nfs))
            .chain(self.smb.iter().map(AnyVolume::Smb))
    }

    /// The numbers of all volumes, in the order of [`Self::volumes`].
    pub fn volume_ids(&self) -> impl Iterator<Item = VolumeId> + use<> {
        (0..self.volume_count()).map(VolumeId::new)
    }

    /// One of its volumes; `None` for an index of another design.
    pub fn volume(&self, volume: VolumeId) -> Option<AnyVolume<'_>> {
        self.volumes().nth(volume.index())
    }

    /// Bytes that a volume holds.
    pub fn capacity(&self, volume: VolumeId) -> Bytes {
        match self.volume(volume) {
            Some(AnyVolume::Disks(_, volume)) => volume.capacity(),
            Some(AnyVolume::Device(device)) => device.size,
            Some(AnyVolume::Nfs(nfs)) => nfs.quota,
            Some(AnyVolume::Smb(share)) => share.size,
            None => Bytes::ZERO,
        }
    }

    /// Bytes of `path` where it is the device file that a volume is: all that the volume holds.
    pub fn device_size(&self, volume: VolumeId, path: &str) -> Option<Bytes> {
        let is_it = match self.volume(volume)?.mount() {
            Mount::Path(mount) => mount.starts_with("/dev/") && mount == path,
            Mount::Drive(_) => false,
        };
        is_it.then(|| self.capacity(volume))
    }

    /// Bytes that one file on a volume can have; `None` where its service has no such limit.
    pub fn largest_file(&self, volume: VolumeId) -> Option<Bytes> {
        match self.volume(volume)? {
            AnyVolume::Disks(..) | AnyVolume::Device(_) => None,
            AnyVolume::Nfs(nfs) => Some(nfs.largest_file),
            AnyVolume::Smb(share) => Some(share.largest_file),
        }
    }

    /// `VM/VOLUME`, or the name of a device, NFS volume or share.
    pub fn volume_name(&self, volume: VolumeId) -> String {
        match self.volume(volume) {
            Some(AnyVolume::Disks(client, volume)) => {
                let vm = client.index().and_then(|index| self.vms.get(index));
                let vm = vm.map_or("", |vm| &vm.name);
                format!("{vm}/{}", volume.name)
            }
            Some(other) => other.name().to_owned(),
            None => String::new(),
        }
    }

    /// Whether a volume's cache starts with the workload's blocks in it.
    pub fn starts_warm(&self, volume: VolumeId) -> bool {
        let Some(AnyVolume::Disks(_, volume)) = self.volume(volume) else {
            return false;
        };
        volume.caching != HostCaching::None && volume.cache_start == CacheStart::Warm
    }

    /// Whether I/O on a volume takes no time at all: nothing on its way has a limit, and it has no latency.
    pub fn is_instant(&self, volume: VolumeId) -> bool {
        let limits = match self.volume(volume) {
            Some(AnyVolume::Device(device)) => [device.limits, device.disk_limits],
            // Sizes whose pages print no figures of their local SSD have temporary disks without limits.
            Some(AnyVolume::Disks(client, volume)) => {
                let vm = client.index().and_then(|index| self.vms.get(index));
                [
                    volume.disk.limits,
                    vm.map_or_else(Default::default, |vm| vm.size.cached),
                ]
            }
            // Their bandwidth always has a limit.
            Some(AnyVolume::Nfs(_) | AnyVolume::Smb(_)) | None => return false,
        };
        let latency = self.volume(volume).map(AnyVolume::latency);
        limits.iter().all(fathom_catalog::Limits::is_empty) && latency == Some(&LatencyChoice::None)
    }
}

impl<'a> AnyVolume<'a> {
    /// Its name, without its machine's.
    pub fn name(self) -> &'a str {
        match self {
            Self::Disks(_, volume) => &volume.name,
            Self::Device(device) => &device.name,
            Self::Nfs(nfs) => &nfs.name,
            Self::Smb(share) => &share.name,
        }
    }

    /// How paths find it.
    pub fn mount(self) -> &'a Mount {
        match self {
            Self::Disks(_, volume) => &volume.mount,
            Self::Device(device) => &device.mount,
            Self::Nfs(nfs) => &nfs.mount,
            Self::Smb(share) => &share.mount,
        }
    }

    /// Machines that mount it over a network; empty for disks and devices.
    pub fn network_clients(self) -> &'a [Client] {
        match self {
            Self::Disks(..) | Self::Device(_) => &[],
            Self::Nfs(nfs) => &nfs.clients,
            Self::Smb(share) => &share.clients,
        }
    }

    /// Where the design file describes it.
    pub fn place(self) -> &'a Location {
        match self {
            Self::Disks(_, volume) => &volume.place,
            Self::Device(device) => &device.place,
            Self::Nfs(nfs) => &nfs.place,
            Self::Smb(share) => &share.place,
        }
    }

    /// Latency of its media.
    pub fn latency(self) -> &'a LatencyChoice {
        match self {
            Self::Disks(_, volume) => &volume.latency,
            Self::Device(device) => &device.latency,
            Self::Nfs(nfs) => &nfs.latency,
            Self::Smb(share) => &share.latency,
        }
    }
}

#[cfg(test)]
mod tests;
