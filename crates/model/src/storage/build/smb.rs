//! Shares over SMB: single files, the machine's egress, channels, the share's limits and credits, the round trip, metadata.

use fathom_catalog::Limits as CatalogLimits;
use fathom_units::Nanos;

use super::super::VolumeKind;
use super::super::network::{ByMachine, Channel, ShareClient, ShareModel};
use super::nfs::clients_of;
use super::{Builder, NONE, Raised, whole};
use crate::design::{Burst, Client, Design, SmbShare, VolumeId};
use crate::network::handles::Handles;
use crate::network::smb::{
    Pattern, Penalty, cached_metadata, channel_reads, channel_writes, least, left, part_of,
};
use crate::stage::StageKind;
use crate::storage::path::{PathId, Step};

/// Stages that all clients of a share pass.
struct Shared {
    share: u32,
    /// Bytes written, where they have a limit of their own.
    writes: Option<u32>,
    metadata: u32,
}

impl Builder<'_> {
    pub(super) fn smb(&mut self, design: &Design, share: &SmbShare) {
        let shared = self.share_stages(share);
        let mut clients = Vec::new();
        for client in clients_of(&share.clients) {
            let name = client.id.index().and_then(|index| design.vms.get(index));
            let name = match name {
                Some(vm) => format!("{}/{}", share.name, vm.name),
                None => share.name.clone(),
            };
            clients.push(self.share_client(share, &shared, &client, &name));
        }
        let files = self.file_stages(share);
        let model = ShareModel {
            clients,
            by_machine: ByMachine::new(design.vms.len(), &share.clients),
            handles: Handles::new(files.len(), share.handles_per_file, share.handles_root),
            files,
            small_io: share.channel.small_io.get(),
            random_key: !self.random_key() ^ self.storage.volumes.len() as u64,
        };
        self.storage.shares.push(model);
        let kind = VolumeKind::Share(self.storage.shares.len() as u32 - 1);
        let name = (share.name.clone(), "share");
        self.push_volume(kind, whole(share.size), NONE, name);
    }

    fn share_stages(&mut self, share: &SmbShare) -> Shared {
        let burst = share.burst_iops.filter(|_| share.burst != Burst::Off);
        let limits = Raised {
            base: share.limits,
            burst: CatalogLimits {
                iops: burst,
                bandwidth: None,
            },
            bucket: match share.burst {
                Burst::Credits => Some((u64::from(share.bucket_seconds), share.credits.share())),
                Burst::Off | Burst::OnDemand => None,
            },
        };
        let bytes = |bandwidth| {
            Raised::steady(CatalogLimits {
                iops: None,
                bandwidth: Some(bandwidth),
            })
        };
        let metadata = Raised::steady(CatalogLimits {
            iops: Some(share.metadata_iops),
            bandwidth: None,
        });
        Shared {
            share: self.stage(share.name.clone(), StageKind::Share, &limits, None),
            writes: share.write_bandwidth.map(|bandwidth| {
                let name = format!("{}/writes", share.name);
                self.stage(name, StageKind::Share, &bytes(bandwidth), None)
            }),
            metadata: {
                let name = format!("{}/metadata", share.name);
                self.stage(name, StageKind::Metadata, &metadata, None)
            },
        }
    }

    /// A stage for each file of the share, by the file's number; without names, since there may be 100,000.
    fn file_stages(&mut self, share: &SmbShare) -> Vec<u32> {
        let volume = VolumeId::new(self.storage.volumes.len());
        let limits = Raised::steady(share.file_limits);
        let of_files: Vec<_> = self.layout.volumes().collect();
        let stage = |of: VolumeId| {
            if of == volume {
                self.stage(String::new(), StageKind::File, &limits, None)
            } else {
                NONE
            }
        };
        of_files.into_iter().map(stage).collect()
    }

    fn share_client(
        &mut self,
        share: &SmbShare,
        shared: &Shared,
        client: &Client,
        name: &str,
    ) -> ShareClient {
        let penalties = [Penalty::None, Penalty::OneThread, Penalty::OneFile];
        let held = penalties.map(|penalty| self.held(share, penalty));
        let egress = self.egress(client.id);
        let mut channels = Vec::new();
        for number in 1..=share.channels.max(1) {
            let reads = Raised::steady(channel_reads(share.channel, share.channels));
            let writes = Raised::steady(channel_writes(share.channel));
            let channel_name = format!("{name}/channel{number}");
            let [reads, writes] = [("reads", reads), ("writes", writes)].map(|(way, limits)| {
                self.stage(
                    format!("{channel_name}/{way}"),
                    StageKind::Channel,
                    &limits,
                    None,
                )
            });
            let mut paths = |egress: Option<Step>, channel, writes: Option<u32>| {
                std::array::from_fn::<PathId, 3, _>(|index| {
                    let first = held[index].map(|[read, write]| {
                        Step::Rate(if channel == reads { read } else { write })
                    });
                    let steps = first.into_iter().chain([Step::File]).chain(egress);
                    let shared = [channel, shared.share].into_iter().chain(writes);
                    let steps: Vec<_> = steps.chain(shared.map(Step::Rate)).collect();
                    let delays =
                        self.share_delays(share, client, penalties[index], stage_of(&steps));
                    self.path(&[steps, delays].concat())
                })
            };
            channels.push(Channel {
                read: paths(None, reads, None),
                write: paths(egress, writes, shared.writes),
            });
        }
        let [metadata, cached] = [false, share.metadata_cache].map(|cached| {
            let steps = vec![Step::Rate(shared.metadata), Step::Rate(shared.share)];
            let delays = self.metadata_delays(share, client, (cached, shared.metadata));
            self.path(&[steps, delays].concat())
        });
        ShareClient {
            channels,
            next: 0,
            pattern: Pattern::default(),
            metadata,
            cached_metadata: cached,
        }
    }

    /// The stages (reads, writes) that hold I/O which several channels cost something; `None`: nothing holds it.
    fn held(&mut self, share: &SmbShare, penalty: Penalty) -> Option<[u32; 2]> {
        if share.channels <= 1 || penalty == Penalty::None {
            return None;
        }
        let stages = [share.channel.read, share.channel.write].map(|channel| {
            let alone = match penalty {
                Penalty::OneFile => least(&channel, &share.file_limits),
                Penalty::None | Penalty::OneThread => channel,
            };
            let limits = Raised::steady(part_of(&alone, left(share.channel, penalty)));
            self.stage(String::new(), StageKind::Channel, &limits, None)
        });
        Some(stages)
    }

    /// Round trip and media; longer by what several channels cost.
    fn share_delays(
        &mut self,
        share: &SmbShare,
        client: &Client,
        penalty: Penalty,
        inside: u32,
    ) -> Vec<Step> {
        let (numerator, denominator) = left(share.channel, penalty);
        let scale = |time: Nanos| Nanos::new(time.get() * denominator / numerator.max(1));
        let round_trip = self.round_trip(scale(client.rtt));
        let media = self.scaled_choice(&share.latency, scale);
        let media = media.map(|law| Step::Delay { law, inside });
        round_trip.into_iter().chain(media).collect()
    }

    fn metadata_delays(
        &mut self,
        share: &SmbShare,
        client: &Client,
        (cached, inside): (bool, u32),
    ) -> Vec<Step> {
        let scale = |time| if cached { cached_metadata(time) } else { time };
        let round_trip = self.round_trip(scale(client.rtt));
        let media = self.scaled_choice(&share.latency, scale);
        let media = media.map(|law| Step::Delay { law, inside });
        round_trip.into_iter().chain(media).collect()
    }
}

/// The last stage of a path.
fn stage_of(steps: &[Step]) -> u32 {
    match steps.last() {
        Some(Step::Rate(stage)) => *stage,
        _ => NONE,
    }
}
