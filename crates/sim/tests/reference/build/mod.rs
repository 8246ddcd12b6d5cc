//! From a design to queues and paths.

mod device;
mod limits;
mod machine;
mod nfs;
mod smb;

use std::collections::BTreeMap;

use fathom_model::{Design, LatencyChoice, LatencyTable};
use fathom_units::Nanos;

use super::queue::{Limit, Queue, Row};
use super::storage::Storage;
use super::volume::{Kind, Step, Volume};

/// The storage of `design` for `files` (volumes by the number of the file); media latencies come from `seed`.
pub fn build(design: &Design, files: &[usize], seed: u64) -> Storage {
    let mut builder = Builder {
        storage: Storage::new(seed),
        laws: BTreeMap::new(),
    };
    for vm in &design.vms {
        builder.vm(vm);
    }
    for device in &design.devices {
        builder.device(device);
    }
    builder.network(design, files);
    builder.storage
}

struct Builder {
    storage: Storage,
    /// Laws by their median and 99th percentile in ns.
    laws: BTreeMap<(u64, u64), usize>,
}

impl Builder {
    fn queue(
        &mut self,
        name: String,
        limits: Vec<Limit>,
        limit_names: [&'static str; 2],
        unit: Option<u64>,
    ) -> usize {
        self.storage.queues.push(Queue {
            name,
            limits,
            limit_names,
            unit,
            waiting: Vec::new(),
            row: Row::default(),
            left: Vec::new(),
        });
        self.storage.queues.len() - 1
    }

    /// A volume of the disks from `first_disk` on.
    fn volume(
        &mut self,
        name: Option<String>,
        kind: Kind,
        first_disk: usize,
        cache: Option<usize>,
    ) {
        self.storage.volumes.push(Volume {
            name,
            kind,
            first_disk,
            disk_count: self.storage.disks.len() - first_disk,
            cache,
            row: Row::default(),
        });
    }

    fn choice(&mut self, choice: &LatencyChoice) -> Option<usize> {
        match choice {
            LatencyChoice::None => None,
            LatencyChoice::LogNormal { median, p99, .. } => Some(self.law(*median, *p99)),
        }
    }

    fn law(&mut self, median: Nanos, p99: Nanos) -> usize {
        let storage = &mut self.storage;
        *self
            .laws
            .entry((median.get(), p99.get()))
            .or_insert_with(|| {
                storage.laws.push(LatencyTable::log_normal(median, p99));
                storage.laws.len() - 1
            })
    }
}

/// Queues one after another, then media.
fn path(queues: &[usize], media: Option<(usize, usize)>) -> Vec<Step> {
    let queues = queues.iter().map(|queue| Step::Queue(*queue));
    let media = media.map(|(law, row)| Step::Media { law, row });
    queues.chain(media).collect()
}
