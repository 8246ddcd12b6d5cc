//! Every limit that a design's I/O meets: what is needed of it, and what it gives.
//!
//! The accounting is that of the model (docs/model.md, "Which limits an I/O meets"), with a host cache that is cold: a read
//! passes the cached budget, the disk and the uncached budget. Credits are left out: they run out.

use fathom_catalog::Catalog;
use fathom_model::HostCaching;
use fathom_profile::PeriodKind;
use fathom_units::{Bytes, BytesPerSec, Iops};

use crate::candidate::{Candidate, Disks};
use crate::need::{Load, Need, VolumeNeed};

/// One limit of a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whose limit it is.
    pub owner: String,
    /// What is limited.
    pub unit: Unit,
    /// What is asked of it, in the period that asks most.
    pub need: u64,
    /// What it gives; `u64::MAX` where there is no limit.
    pub have: u64,
    /// The period that asks most; `None` for what does not change over the day.
    pub period: Option<PeriodKind>,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// Bytes.
    Capacity,
    /// Data disks.
    Disks,
}

impl Unit {
    /// Whether it is used up by I/O, and not by what lies there.
    pub const fn is_rate(self) -> bool {
        matches!(self, Self::Iops | Self::Bandwidth)
    }

    /// A figure of this unit.
    pub fn figure(self, value: u64) -> String {
        match (self, value) {
            (_, u64::MAX) => "no limit".to_owned(),
            (Self::Iops, value) => Iops::new(value).to_string(),
            (Self::Bandwidth, value) => rate(value),
            (Self::Capacity, value) => Bytes::new(value).to_string(),
            (Self::Disks, 1) => "1 disk".to_owned(),
            (Self::Disks, value) => format!("{value} disks"),
        }
    }
}

/// A rate in the clouds' unit, to a tenth.
fn rate(bytes_per_sec: u64) -> String {
    if bytes_per_sec.is_multiple_of(1_000_000) {
        BytesPerSec::new(bytes_per_sec).to_string()
    } else {
        format!("{:.1} MB/s", bytes_per_sec as f64 / 1e6)
    }
}

impl Line {
    /// Whether the limit is enough.
    pub fn carries(&self) -> bool {
        self.need <= self.have
    }

    /// How many times the need the limit gives; `None` where it has no limit, or nothing is asked of it.
    pub fn headroom(&self) -> Option<f64> {
        (self.need > 0 && self.have != u64::MAX).then(|| self.have as f64 / self.need as f64)
    }
}

/// Parts that an I/O of a load is split into: one for each stripe unit begun, where there are several disks.
///
/// I/Os are taken as aligned to their size.
pub fn parts(size: Bytes, count: u32, stripe_unit: Bytes) -> u64 {
    if count < 2 {
        return 1;
    }
    size.get().div_ceil(stripe_unit.get().max(1)).max(1)
}

/// What the disks of a volume count one I/O of a load as.
fn cost_at_disks(size: Bytes, disks: &Disks, catalog: &Catalog) -> u64 {
    let parts = parts(size, disks.count, disks.stripe_unit);
    let part = size.get().div_ceil(parts);
    let unit = catalog.io_unit(disks.kind.kind());
    parts * unit.map_or(1, |unit| part.div_ceil(unit.get()).max(1))
}

/// What a volume's own disks are asked for and give: I/Os, bytes, space.
pub fn of_volume(
    need: &VolumeNeed,
    disks: &Disks,
    vm: &fathom_catalog::VmSize,
    catalog: &Catalog,
) -> [Line; 3] {
    let count = u64::from(disks.count);
    let owner = format!("{}: {} × {}", need.name, disks.count, disks.kind.name());
    let most = |ask: &dyn Fn(&Load) -> u64| {
        let loads = need.loads.iter();
        let asked = loads.map(|load| (ask(load), load.period));
        asked.max_by_key(|(asked, _)| *asked)
    };
    let line = |unit, asked: Option<(u64, PeriodKind)>, have: u64| Line {
        owner: owner.clone(),
        unit,
        need: asked.map_or(0, |(need, _)| need),
        have,
        period: asked.map(|(_, period)| period),
    };
    let iops = most(&|load| {
        let cost = cost_at_disks(load.size, disks, catalog);
        load.iops.get().saturating_mul(cost)
    });
    let bandwidth = most(&|load| load.bandwidth.get());
    let space = Line {
        owner: owner.clone(),
        unit: Unit::Capacity,
        need: need.capacity.get(),
        have: disks.kind.size().get().saturating_mul(count),
        period: None,
    };
    let iops_given = disks.kind.iops(vm).saturating_mul(count);
    let bandwidth_given = disks.kind.bandwidth().saturating_mul(count);
    [
        line(Unit::Iops, iops, iops_given),
        line(Unit::Bandwidth, bandwidth, bandwidth_given),
        space,
    ]
}

/// What the machine's budgets are asked for and give.
pub fn of_machine(need: &Need, candidate: &Candidate) -> Vec<Line> {
    let vm = candidate.vm;
    let disks: u64 = candidate.volumes.iter().map(|it| u64::from(it.count)).sum();
    let mut lines = vec![Line {
        owner: vm.name.to_owned(),
        unit: Unit::Disks,
        need: disks,
        have: u64::from(vm.max_data_disks),
        period: None,
    }];
    let cached = |disks: &Disks| disks.caching != HostCaching::None;
    for (name, limits, is_met) in [
        (
            "uncached",
            vm.uncached,
            &(|_: &Disks| true) as &dyn Fn(&Disks) -> bool,
        ),
        ("cached", vm.cached, &cached),
    ] {
        if !candidate.volumes.iter().any(is_met) {
            continue;
        }
        let asked = |unit: Unit| {
            let of_period = |period: PeriodKind| {
                let volumes = need.volumes.iter().zip(&candidate.volumes);
                let met = volumes.filter(|(_, disks)| is_met(disks));
                let loads = met.filter_map(|(volume, disks)| Some((volume.load(period)?, disks)));
                loads.fold(0_u64, |sum, (load, disks)| {
                    sum.saturating_add(ask(load, disks, unit))
                })
            };
            let asked = need.periods().map(|period| (of_period(period), period));
            asked.max_by_key(|(asked, _)| *asked)
        };
        let given = [
            (Unit::Iops, limits.iops.map(Iops::get)),
            (Unit::Bandwidth, limits.bandwidth.map(BytesPerSec::get)),
        ];
        for (unit, have) in given {
            let asked = asked(unit);
            lines.push(Line {
                owner: format!("{} {name}", vm.name),
                unit,
                need: asked.map_or(0, |(need, _)| need),
                have: have.unwrap_or(u64::MAX),
                period: asked.map(|(_, period)| period),
            });
        }
    }
    lines
}

fn ask(load: &Load, disks: &Disks, unit: Unit) -> u64 {
    match unit {
        Unit::Iops => {
            let parts = parts(load.size, disks.count, disks.stripe_unit);
            load.iops.get().saturating_mul(parts)
        }
        _ => load.bandwidth.get(),
    }
}

/// Every limit of a design.
pub fn lines(need: &Need, candidate: &Candidate, catalog: &Catalog) -> Vec<Line> {
    let volumes = need.volumes.iter().zip(&candidate.volumes);
    let mut lines: Vec<Line> = volumes
        .flat_map(|(volume, disks)| of_volume(volume, disks, candidate.vm, catalog))
        .collect();
    lines.extend(of_machine(need, candidate));
    lines
}
