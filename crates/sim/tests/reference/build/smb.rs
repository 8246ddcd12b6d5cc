//! Shares over SMB.

use std::collections::BTreeMap;

use fathom_catalog::Limits;
use fathom_model::{Client as Mounted, Design, LatencyChoice, SmbShare};
use fathom_units::{BytesPerSec, Iops, Nanos};

use super::limits::{Bursting, raised, steady};
use super::nfs::clients_of;
use super::{Builder, path};
use crate::draw;
use crate::share::{Client, Cost, Share};
use crate::volume::{Kind, Step};

const CHANNEL: [&str; 2] = ["channel-iops", "channel-bytes"];
const SHARE: [&str; 2] = ["share-iops", "share-bytes"];

impl Builder {
    /// A share; `files` are volumes by the number of the file.
    pub fn smb(
        &mut self,
        design: &Design,
        share: &SmbShare,
        egress: &BTreeMap<Option<usize>, usize>,
        files: &[usize],
    ) {
        let bursting = Bursting {
            how: share.burst,
            highest: Limits {
                iops: share.burst_iops,
                bandwidth: None,
            },
            seconds: share.bucket_seconds.into(),
            start: share.credits,
        };
        let whole = raised(&share.limits, 0, bursting);
        let whole = self.queue(share.name.clone(), whole, SHARE, None);
        let writes = share.write_bandwidth.map(|bandwidth| {
            let limits = steady(&Limits {
                iops: None,
                bandwidth: Some(bandwidth),
            });
            self.queue(format!("{}/writes", share.name), limits, SHARE, None)
        });
        let metadata = steady(&Limits {
            iops: Some(share.metadata_iops),
            bandwidth: None,
        });
        let names = ["metadata-iops", "metadata-bytes"];
        self.queue(format!("{}/metadata", share.name), metadata, names, None);
        let mut clients = BTreeMap::new();
        for client in clients_of(&share.clients) {
            let machine = client.id.index();
            let name = match machine.and_then(|machine| design.vms.get(machine)) {
                Some(vm) => format!("{}/{}", share.name, vm.name),
                None => share.name.clone(),
            };
            let egress = egress.get(&machine).copied();
            let ends = [
                (None, vec![whole]),
                (egress, [whole].into_iter().chain(writes).collect()),
            ];
            clients.insert(machine, self.share_client(share, &client, &name, &ends));
        }
        let volume = self.storage.volumes.len();
        let of_share = files.iter().enumerate().filter(|(_, of)| **of == volume);
        let numbers: Vec<_> = of_share.map(|(number, _)| number).collect();
        let names = ["file-iops", "file-bytes"];
        let limits = || steady(&share.file_limits);
        let queues = numbers
            .into_iter()
            .map(|number| (number, self.queue(String::new(), limits(), names, None)));
        let files = queues.collect();
        let disks = self.storage.disks.len();
        let kind = Kind::Share(Share {
            clients,
            files,
            small: share.channel.small_io.get(),
            key: draw::network_key(self.storage.seed, disks, volume),
        });
        self.volume(None, kind, disks, None);
    }

    /// The channels of a machine. `ends`: of reads and of writes, the machine's network and what comes after the channel.
    fn share_client(
        &mut self,
        share: &SmbShare,
        client: &Mounted,
        name: &str,
        ends: &[(Option<usize>, Vec<usize>); 2],
    ) -> Client {
        let one = [share.channel.read, share.channel.write];
        let several = share.channels > 1;
        let percent = |cost| {
            100 - match cost {
                Cost::None => 0,
                Cost::OneThread => u64::from(share.channel.single_thread_penalty_percent),
                Cost::OneFile => u64::from(share.channel.small_io_penalty_percent),
            }
        };
        let mut held = BTreeMap::new();
        for cost in [Cost::OneThread, Cost::OneFile]
            .into_iter()
            .filter(|_| several)
        {
            for (write, alone) in [false, true].into_iter().zip(one) {
                let alone = match cost {
                    Cost::OneFile => least(&alone, &share.file_limits),
                    _ => alone,
                };
                let limits = steady(&part(&alone, percent(cost), 100));
                let queue = self.queue(String::new(), limits, CHANNEL, None);
                held.insert((write, cost), queue);
            }
        }
        let mut channels = Vec::new();
        let count = u64::from(share.channels.max(1));
        // Four channels carry three times the reads and four times the writes of one; between them it is linear.
        let carried = [part(&one[0], 1 + 2 * count, 3 * count), one[1]];
        for number in 1..=count {
            let mut paths = BTreeMap::new();
            let queues = [("reads", carried[0]), ("writes", carried[1])].map(|(way, limits)| {
                let name = format!("{name}/channel{number}/{way}");
                self.queue(name, steady(&limits), CHANNEL, None)
            });
            for (write, (egress, end)) in [false, true].into_iter().zip(ends) {
                for cost in [Cost::None, Cost::OneThread, Cost::OneFile] {
                    let held: Vec<_> = held.get(&(write, cost)).copied().into_iter().collect();
                    let queues: Vec<_> = (*egress)
                        .into_iter()
                        .chain([queues[usize::from(write)]])
                        .chain(end.iter().copied())
                        .collect();
                    let longer = |time: Nanos| Nanos::new(time.get() * 100 / percent(cost));
                    let round_trip = longer(client.rtt).get();
                    let mut after = path(&queues, None);
                    after.extend((round_trip > 0).then_some(Step::Pause(round_trip)));
                    let law = match &share.latency {
                        LatencyChoice::None => None,
                        LatencyChoice::LogNormal { median, p99, .. } => {
                            Some(self.law(longer(*median), longer(*p99)))
                        }
                    };
                    let row = queues[queues.len() - 1];
                    after.extend(law.map(|law| Step::Media { law, row }));
                    paths.insert((write, cost), [path(&held, None), after]);
                }
            }
            channels.push(paths);
        }
        Client::new(channels)
    }
}

/// A part of limits, rounded down.
fn part(limits: &Limits, of: u64, whole: u64) -> Limits {
    Limits {
        iops: limits.iops.map(|rate| Iops::new(rate.get() * of / whole)),
        bandwidth: limits
            .bandwidth
            .map(|rate| BytesPerSec::new(rate.get() * of / whole)),
    }
}

fn least(one: &Limits, other: &Limits) -> Limits {
    Limits {
        iops: one.iops.into_iter().chain(other.iops).min(),
        bandwidth: one.bandwidth.into_iter().chain(other.bandwidth).min(),
    }
}
