//! Volumes over NFS, and what all network storage shares.

use std::collections::BTreeMap;

use fathom_catalog::Limits;
use fathom_model::{Client, ClientId, Design, FigureOrigin, NfsVolume};
use fathom_units::{Bytes, BytesPerSec, Nanos};

use super::Builder;
use super::limits::steady;
use crate::draw;
use crate::queue::Window;
use crate::volume::{Kind, Nfs, Step};

/// 10^6 bits a second in bytes a second.
const MEGABIT: u64 = 125_000;

impl Builder {
    /// Everything that is reached over the network.
    pub fn network(&mut self, design: &Design, files: &[usize]) {
        if design.nfs.is_empty() && design.smb.is_empty() {
            return;
        }
        let mut egress = BTreeMap::new();
        for (index, vm) in design.vms.iter().enumerate() {
            let Some(mbps) = vm.size.network_mbps else {
                continue;
            };
            let limits = steady(&Limits {
                iops: None,
                bandwidth: Some(BytesPerSec::new(u64::from(mbps) * MEGABIT)),
            });
            let names = ["vm-network-iops", "vm-network-bytes"];
            let queue = self.queue(format!("{}/network", vm.name), limits, names, None);
            egress.insert(Some(index), queue);
        }
        for volume in &design.nfs {
            self.nfs(volume, &egress);
        }
        for share in &design.smb {
            self.smb(design, share, &egress, files);
        }
    }

    /// A call waits for a slot of its session, then of its connection, passes its machine's network if it writes, then the
    /// volume's limits; then come the round trip and the media.
    fn nfs(&mut self, volume: &NfsVolume, egress: &BTreeMap<Option<usize>, usize>) {
        let names = ["volume-iops", "volume-bytes"];
        let limits = steady(&volume.limits);
        let queue = self.queue(volume.name.clone(), limits, names, None);
        let law = self.choice(&volume.latency);
        let mut connections: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for client in clients_of(&volume.clients) {
            let machine = client.id.index();
            let session = volume
                .session_slots
                .map(|slots| self.window(Some(slots), None));
            for _ in 0..volume.connections.max(1) {
                let window = volume.window.map(Bytes::get);
                let connection = self.window(Some(volume.slots), window);
                let round_trip = client.rtt.get();
                let path = |egress: Option<Step>| {
                    let mut path: Vec<Step> = session.into_iter().collect();
                    path.push(connection);
                    path.extend(egress);
                    path.push(Step::Queue(queue));
                    path.extend((round_trip > 0).then_some(Step::Pause(round_trip)));
                    path.extend(law.map(|law| Step::Media { law, row: queue }));
                    path
                };
                let egress = egress.get(&machine).copied().map(Step::Queue);
                let paths = [path(None), path(egress)];
                connections.entry(machine).or_default().push(paths);
            }
        }
        let (disks, volumes) = (self.storage.disks.len(), self.storage.volumes.len());
        let kind = Kind::Nfs(Nfs {
            largest_read: volume.rsize.get(),
            largest_write: volume.wsize.get(),
            connections,
            calls: BTreeMap::new(),
            key: draw::network_key(self.storage.seed, disks, volumes),
        });
        self.volume(None, kind, disks, None);
    }

    fn window(&mut self, parts: Option<u32>, bytes: Option<u64>) -> Step {
        let window = Window::new(parts.map(u64::from), bytes);
        self.storage.windows.push(window);
        Step::Window(self.storage.windows.len() - 1)
    }
}

/// The machines that mount something; where a design has none, one that is near.
pub fn clients_of(clients: &[Client]) -> Vec<Client> {
    let near = Client {
        id: ClientId::NONE,
        rtt: Nanos::ZERO,
        rtt_origin: FigureOrigin::Design,
    };
    if clients.is_empty() {
        vec![near]
    } else {
        clients.to_vec()
    }
}
