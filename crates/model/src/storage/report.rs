//! What the parts of a model report: statistics over a window of time, and gauges of a moment.

use std::collections::BTreeMap;

use fathom_units::Nanos;

use super::Storage;
use crate::design::VolumeId;
use crate::limiter::Levels;
use crate::statistics::{Gauge, PartStatistics};

impl Storage {
    /// Starts a new window of statistics at `now`.
    pub fn restart_statistics(&mut self, now: Nanos) {
        debug_assert!(now >= self.known_until(), "nobody looks before");
        for stage in &mut self.stages {
            stage.meter.restart(now);
        }
        for window in &mut self.windows {
            window.meter.restart(now);
        }
        for volume in &mut self.volumes {
            volume.meter.restart(now);
            (volume.reads, volume.hits, volume.memory_hits) = (0, 0, 0);
        }
    }

    /// What passed each part since the window began, by name: `VM/cached`, `VM/VOLUME`, `VM/VOLUME/disk1`, `DEVICE`.
    pub fn statistics(&self, now: Nanos) -> BTreeMap<String, PartStatistics> {
        debug_assert!(now >= self.known_until(), "nobody looks before");
        let mut rows = BTreeMap::new();
        for (stage, (name, limits)) in self.stages.iter().zip(&self.stage_names) {
            // Stages of single files have no names.
            if name.is_empty() {
                continue;
            }
            let row = PartStatistics {
                kind: stage.kind.name(),
                ios: stage.meter.ios,
                bytes: stage.meter.bytes,
                depth: stage.meter.depth(now),
                busy_share: stage.has_limits().then(|| stage.meter.busy_share(now)),
                cached_reads: None,
                hit_share: None,
                memory_share: None,
                limits: limits.clone(),
            };
            rows.insert(name.clone(), row);
        }
        for (volume, (name, kind)) in self.volumes.iter().zip(&self.volume_names) {
            // The stage of its limits is its row.
            if *kind != "volume" {
                continue;
            }
            let row = PartStatistics {
                kind,
                ios: volume.meter.ios,
                bytes: volume.meter.bytes,
                depth: volume.meter.depth(now),
                busy_share: None,
                cached_reads: volume.cache.map(|_| volume.reads),
                hit_share: share_of(volume.hits, volume.reads),
                memory_share: volume
                    .cache
                    .filter(|cache| self.caches[*cache as usize].has_memory())
                    .and_then(|_| share_of(volume.memory_hits, volume.reads)),
                limits: Vec::new(),
            };
            rows.insert(name.clone(), row);
        }
        rows
    }

    /// What every volume and every stage with credits holds at `now`; the same parts in the same order at each call.
    /// Counts begin with the window of statistics.
    pub fn gauges(&self, now: Nanos) -> impl Iterator<Item = Gauge<'_>> {
        let volumes = self.volumes.iter().zip(&self.volume_names).enumerate();
        let volumes = volumes.map(|(index, (volume, (name, _)))| Gauge {
            name,
            reads: volume.reads,
            hits: volume.hits,
            iops_credits: None,
            bytes_credits: None,
            dirty_bytes: self.dirty_bytes_of(VolumeId::new(index)),
        });
        let stages = self.stages.iter().zip(&self.stage_names);
        let stages = stages.filter_map(move |(stage, (name, _))| {
            let levels = stage.levels(now);
            (levels != Levels::default()).then_some(Gauge {
                name,
                reads: 0,
                hits: 0,
                iops_credits: levels.iops,
                bytes_credits: levels.bytes,
                dirty_bytes: None,
            })
        });
        volumes.chain(stages)
    }
}

fn share_of(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}
