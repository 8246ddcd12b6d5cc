//! Which part of the storage a name means.
//!
//! Parts have the names that statistics have. Machines and volumes stand for the stages behind them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fathom_diagnostics::nearest;

use super::{Storage, VolumeKind};
use crate::change::ChangeError;
use crate::stage::StageKind;

/// A part of the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A machine, by its index.
    Machine(usize),
    /// A volume, by its index.
    Volume(usize),
    /// A single stage.
    Stage(u32),
}

/// Most names in a message.
const MOST_NAMED: usize = 20;

/// The ending of the name of the stage that every machine has.
const CACHED: &str = "/cached";

impl Storage {
    /// The part called `name`.
    pub(super) fn part(&self, name: &str) -> Result<Part, ChangeError> {
        let mut machines = self.machines();
        if let Some(machine) = machines.position(|machine| machine == name) {
            return Ok(Part::Machine(machine));
        }
        let mut volumes = self.volume_names.iter();
        if let Some(volume) = volumes.position(|(volume, _)| volume == name) {
            return Ok(Part::Volume(volume));
        }
        let mut stages = self.stage_names.iter();
        let named = |(stage, _): &(String, Vec<String>)| !stage.is_empty() && stage == name;
        if let Some(stage) = stages.position(named) {
            return Ok(Part::Stage(stage as u32));
        }
        let volumes = self.volume_names.iter().enumerate();
        let alone = volumes.filter(|(_, (volume, _))| {
            let (_, last) = volume.rsplit_once('/').unwrap_or(("", volume));
            last == name
        });
        let alone: Vec<_> = alone.collect();
        match alone.as_slice() {
            [] => Err(ChangeError::Unknown {
                part: name.to_owned(),
                near: self.near_part(name),
                known: first_few(self.known_parts().iter()),
            }),
            [(volume, _)] => Ok(Part::Volume(*volume)),
            several => Err(ChangeError::Ambiguous {
                part: name.to_owned(),
                volumes: first_few(several.iter().map(|(_, (volume, _))| volume)),
            }),
        }
    }

    /// The part that a misspelt name is near to, with or without its machine.
    fn near_part(&self, name: &str) -> Option<String> {
        let known = self.known_parts();
        let spelt = |part: &str| part.to_lowercase();
        let alone = |part: &str| part.split_once('/').map(|(_, rest)| spelt(rest));
        let mut names: Vec<(String, &String)> = Vec::new();
        for part in &known {
            names.push((spelt(part), part));
            names.extend(alone(part).map(|rest| (rest, part)));
        }
        let found = nearest(&spelt(name), names.iter().map(|(spelt, _)| spelt.as_str()))?;
        let meant = names.iter().find(|(spelt, _)| spelt == found);
        meant.map(|(_, part)| (*part).clone())
    }

    fn known_parts(&self) -> Vec<String> {
        let machines = self.machines().map(str::to_owned);
        let volumes = self.volume_names.iter().map(|(name, _)| name.clone());
        let stages = self.stage_names.iter().map(|(name, _)| name.clone());
        // A device is a volume and a stage.
        let mut told = BTreeSet::new();
        let names = machines.chain(volumes).chain(stages);
        names
            .filter(|name| !name.is_empty() && told.insert(name.clone()))
            .collect()
    }

    /// Names of the machines, in order.
    pub(super) fn machines(&self) -> impl Iterator<Item = &str> {
        let stages = self.stages.iter().zip(&self.stage_names);
        let cached = stages.filter(|(stage, _)| stage.kind == StageKind::VmCached);
        cached.filter_map(|(_, (name, _))| name.strip_suffix(CACHED))
    }

    /// The budgets of a machine.
    pub(super) fn budgets(&self, machine: usize) -> Vec<u32> {
        let Some(name) = self.machines().nth(machine) else {
            return Vec::new();
        };
        self.stages_under(name, |kind| {
            matches!(
                kind,
                StageKind::VmCached | StageKind::VmUncached | StageKind::VmNetwork
            )
        })
    }

    /// The volumes of disks that a machine has.
    pub(super) fn volumes_of(&self, machine: usize) -> Vec<usize> {
        let Some(machine) = self.machines().nth(machine) else {
            return Vec::new();
        };
        let volumes = self.volume_names.iter().enumerate();
        let of_machine = volumes.filter(|(_, (name, kind))| {
            let on = name.rsplit_once('/').map(|(on, _)| on);
            *kind == "volume" && on == Some(machine)
        });
        of_machine.map(|(volume, _)| volume).collect()
    }

    /// The stages that are a volume: its disks, the device, the share with its metadata.
    pub(super) fn stages_of(&self, volume: usize) -> Vec<u32> {
        let (name, _) = &self.volume_names[volume];
        self.stages_under(name, |kind| {
            matches!(
                kind,
                StageKind::Disk
                    | StageKind::Device
                    | StageKind::Volume
                    | StageKind::Share
                    | StageKind::Metadata
            )
        })
    }

    /// The stages that a limit of a volume is divided among: its disks, or what stands for all of it.
    pub(super) fn limits_of(&self, volume: usize) -> Vec<u32> {
        let (name, _) = &self.volume_names[volume];
        let own = self.stages_under(name, |kind| kind != StageKind::Disk);
        let own = own
            .into_iter()
            .find(|stage| &self.stage_names[*stage as usize].0 == name);
        match own {
            Some(stage) => vec![stage],
            None => self.stages_under(name, |kind| kind == StageKind::Disk),
        }
    }

    /// The named stages called `name` or `name/…` whose kind `fits`.
    fn stages_under(&self, name: &str, fits: impl Fn(StageKind) -> bool) -> Vec<u32> {
        let stages = self.stages.iter().zip(&self.stage_names).enumerate();
        let under = stages.filter(|(_, (stage, (stage_name, _)))| {
            let rest = stage_name.strip_prefix(name);
            fits(stage.kind) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        under.map(|(index, _)| index as u32).collect()
    }

    /// The disks of a volume, by their index among all.
    pub(super) fn all_disks_of(&self, volume: usize) -> Range<usize> {
        let volume = &self.volumes[volume];
        if volume.kind_beneath(&self.faults) != VolumeKind::Disks {
            return 0..0;
        }
        let first = volume.first_disk as usize;
        first..first + volume.disk_count as usize
    }

    /// The volume and the number in it of each disk with write-back, by its flusher.
    pub(super) fn disks_by_flusher(&self) -> BTreeMap<u32, (usize, u32)> {
        let volumes = 0..self.volumes.len();
        let disks = volumes.flat_map(|volume| {
            let disks = self.all_disks_of(volume);
            let first = disks.start;
            disks.map(move |disk| (volume, disk, (disk - first) as u32))
        });
        let flushers =
            disks.map(|(volume, disk, number)| (self.disks[disk].flusher, (volume, number)));
        flushers
            .filter(|(flusher, _)| *flusher != super::path::NONE)
            .collect()
    }
}

fn first_few<'n>(names: impl Iterator<Item = &'n String>) -> Vec<String> {
    let mut names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.len() > MOST_NAMED {
        names.truncate(MOST_NAMED);
        names.push("more".to_owned());
    }
    names
}
