//! Volumes over NFS: windows of sessions and connections, the machine's egress, the volume's limits, the round trip.

use fathom_catalog::Limits as CatalogLimits;
use fathom_units::{Bytes, BytesPerSec};

use super::super::VolumeKind;
use super::super::network::{ByMachine, NfsClient, NfsModel};
use super::{Builder, NONE, Raised, whole};
use crate::design::{Client, ClientId, Design, FigureOrigin, NfsVolume};
use crate::stage::StageKind;
use crate::storage::path::{DelayLaw, Step};
use crate::window::Bounds;
use fathom_units::Nanos;

/// 10^6 bits a second in bytes a second.
const MEGABIT: u64 = 1_000_000 / 8;

impl Builder<'_> {
    /// The network stage of each machine. What a machine sends is metered, what it receives is not (smb-performance.md,
    /// 15 January 2026), so only writes pass it.
    pub(super) fn networks(&mut self, design: &Design) {
        for vm in &design.vms {
            let stage = vm.size.network_mbps.map(|mbps| {
                let bandwidth = BytesPerSec::new(u64::from(mbps) * MEGABIT);
                let limits = Raised::steady(CatalogLimits {
                    iops: None,
                    bandwidth: Some(bandwidth),
                });
                self.stage(
                    format!("{}/network", vm.name),
                    StageKind::VmNetwork,
                    &limits,
                    None,
                )
            });
            self.networks.push(stage);
        }
    }

    /// Egress of a machine, as a step of writes.
    pub(super) fn egress(&self, client: ClientId) -> Option<Step> {
        let stage = client.index().and_then(|index| self.networks.get(index));
        stage.copied().flatten().map(Step::Rate)
    }

    /// The round trip of a client; none where it takes no time.
    pub(super) fn round_trip(&mut self, rtt: Nanos) -> Option<Step> {
        (rtt > Nanos::ZERO).then(|| Step::Delay {
            law: self.delay(DelayLaw::Constant(rtt)),
            inside: NONE,
        })
    }

    pub(super) fn nfs(&mut self, design: &Design, volume: &NfsVolume) {
        let limits = Raised::steady(volume.limits);
        let stage = self.stage(volume.name.clone(), StageKind::Volume, &limits, None);
        let media = self.choice(&volume.latency);
        let media = media.map(|law| Step::Delay { law, inside: stage });
        let mut clients = Vec::new();
        for client in clients_of(&volume.clients) {
            let round_trip = self.round_trip(client.rtt);
            let egress = self.egress(client.id);
            let session = volume.session_slots.map(|slots| {
                Step::Window(self.window(Bounds {
                    slots: Some(slots),
                    bytes: None,
                }))
            });
            let mut connections = Vec::new();
            for _ in 0..volume.connections.max(1) {
                let connection = Step::Window(self.window(Bounds {
                    slots: Some(volume.slots),
                    bytes: volume.window.map(Bytes::get),
                }));
                let path = |egress: Option<Step>| -> Vec<Step> {
                    let held = session.into_iter().chain([connection]).chain(egress);
                    let served = [Step::Rate(stage)].into_iter().chain(round_trip);
                    held.chain(served).chain(media).collect()
                };
                let read = self.path(&path(None));
                connections.push((read, self.path(&path(egress))));
            }
            clients.push(NfsClient::new(connections));
        }
        let model = NfsModel {
            clients,
            by_machine: ByMachine::new(design.vms.len(), &volume.clients),
            rsize: volume.rsize.get(),
            wsize: volume.wsize.get(),
            random_key: !self.random_key() ^ self.storage.volumes.len() as u64,
        };
        self.storage.nfs.push(model);
        let kind = VolumeKind::Nfs(self.storage.nfs.len() as u32 - 1);
        let name = (volume.name.clone(), "nfs");
        self.push_volume(kind, whole(volume.quota), NONE, name);
    }
}

/// The clients; where a design has no machines, one that is near.
pub(super) fn clients_of(clients: &[Client]) -> Vec<Client> {
    if clients.is_empty() {
        vec![Client {
            id: ClientId::NONE,
            rtt: Nanos::ZERO,
            rtt_origin: FigureOrigin::Design,
        }]
    } else {
        clients.to_vec()
    }
}
