//! Changes of storage while it is used: limits, slowness, stalls; failing and detached volumes.
//!
//! What a stage has of the design is noted when it is first changed, so that every change is relative to the design and
//! can be undone. Nothing of this is on the way of an I/O: a stage that is changed has other limits, a path that is slowed
//! other laws, a volume that fails another kind.
//!
//! Invariant: after a change each stage with tokens that wait has its departure at the time that its limits say.

use std::collections::BTreeMap;

use fathom_units::{BytesPerSec, Iops, Nanos};

use super::build::tolerance;
use super::faulty::Fault;
use super::parts::Part;
use super::{Storage, VolumeKind, VolumeModel};
use crate::change::{Action, Change, ChangeError, Lost, NewLimit};
use crate::factor::Factor;
use crate::limiter::Rate;
use crate::request::Completed;

/// What is not as the design says.
#[derive(Debug, Default)]
pub(super) struct Faults {
    stages: BTreeMap<u32, StageFault>,
    /// Of a stage and one of the design's laws: the law that stands in its place while the stage is slow.
    laws: BTreeMap<(u32, u32), u32>,
    /// The design's law of each delay that was changed, by its place.
    delays: BTreeMap<u32, u32>,
    /// What is wrong with volumes, and the place of each volume among them.
    pub volumes: Vec<Fault>,
    pub places: BTreeMap<usize, u32>,
}

/// The limits on I/Os and on bytes.
type Rates = (Option<Rate>, Option<Rate>);

/// What was changed of a stage.
#[derive(Debug)]
struct StageFault {
    /// Its limits, and those of the design.
    rates: Rates,
    design: Rates,
    /// The design's limits in words.
    words: Vec<String>,
    slow: Factor,
    stalled: bool,
}

impl VolumeModel {
    /// What it is when it does not fail.
    pub(super) fn kind_beneath(&self, faults: &Faults) -> VolumeKind {
        match self.kind {
            VolumeKind::Faulty(fault) => faults.volumes[fault as usize].beneath,
            kind => kind,
        }
    }
}

impl Storage {
    /// Changes a part of the storage at `now`, under whatever is under way. I/Os that fail by it are appended to
    /// `completed`. Gives what is lost, where a volume with read-write caching is detached.
    ///
    /// Everything that is due before `now` must have happened, as before [`Storage::submit`]. Afterwards
    /// [`Storage::next_due`] may be another.
    ///
    /// # Errors
    /// [`ChangeError`], and nothing is changed.
    pub fn change(
        &mut self,
        now: Nanos,
        change: &Change,
        completed: &mut Vec<Completed>,
    ) -> Result<Vec<Lost>, ChangeError> {
        assert!(!self.ahead.unchanging, "unchanging storage is not changed");
        self.check_change(change)?;
        let Change { part: name, action } = change;
        let part = self.part(name)?;
        let mut lost = Vec::new();
        match *action {
            Action::Limits { iops, bandwidth } => {
                self.set_limits(now, &part, (iops, bandwidth));
            }
            Action::Slow(factor) => self.each_stage(now, &part, |fault| fault.slow = factor),
            Action::Stall => self.each_stage(now, &part, |fault| fault.stalled = true),
            Action::Resume => self.each_stage(now, &part, |fault| fault.stalled = false),
            Action::Fail(share) => {
                for volume in self.faulty_volumes(name, &part)? {
                    self.set_fault(volume, |fault| fault.failing = share);
                }
            }
            Action::Detach => {
                for volume in self.faulty_volumes(name, &part)? {
                    self.set_fault(volume, |fault| fault.detached = true);
                    lost.extend(self.abandon(now, volume, completed));
                }
            }
            Action::Attach => {
                for volume in self.faulty_volumes(name, &part)? {
                    self.set_fault(volume, |fault| fault.detached = false);
                }
            }
            Action::Restore => self.restore(now, &part),
        }
        Ok(lost)
    }

    /// Whether a change could be made at any time: its part is there, and can be changed so.
    ///
    /// # Errors
    /// [`ChangeError`].
    pub fn check_change(&self, change: &Change) -> Result<(), ChangeError> {
        let Change { part: name, action } = change;
        let part = self.part(name)?;
        match *action {
            Action::Limits { iops, bandwidth } => self.check_limits(name, &part, (iops, bandwidth)),
            Action::Fail(_) | Action::Detach | Action::Attach => {
                self.faulty_volumes(name, &part).map(drop)
            }
            Action::Slow(_) | Action::Stall | Action::Resume | Action::Restore => Ok(()),
        }
    }

    /// The stages that a part is.
    fn stages_of_part(&self, part: &Part) -> Vec<u32> {
        match part {
            Part::Machine(machine) => self.budgets(*machine),
            Part::Volume(volume) => self.stages_of(*volume),
            Part::Stage(stage) => vec![*stage],
        }
    }

    /// The volumes that a part is.
    fn faulty_volumes(&self, name: &str, part: &Part) -> Result<Vec<usize>, ChangeError> {
        match part {
            Part::Machine(machine) => Ok(self.volumes_of(*machine)),
            Part::Volume(volume) => Ok(vec![*volume]),
            Part::Stage(_) => Err(ChangeError::NoVolume {
                part: name.to_owned(),
            }),
        }
    }

    fn check_limits(
        &self,
        name: &str,
        part: &Part,
        (iops, bandwidth): (NewLimit<Iops>, NewLimit<BytesPerSec>),
    ) -> Result<(), ChangeError> {
        if let Part::Machine(machine) = part {
            let budgets = self.budgets(*machine);
            let budgets = budgets
                .iter()
                .map(|stage| &self.stage_names[*stage as usize].0);
            return Err(ChangeError::Budgets {
                part: name.to_owned(),
                budgets: budgets.map(|name| format!("`{name}`")).collect(),
            });
        }
        let nothing = NewLimit::Set(Iops::new(0)) == iops;
        if nothing || NewLimit::Set(BytesPerSec::new(0)) == bandwidth {
            return Err(ChangeError::Zero {
                part: name.to_owned(),
            });
        }
        Ok(())
    }

    fn set_limits(
        &mut self,
        now: Nanos,
        part: &Part,
        (iops, bandwidth): (NewLimit<Iops>, NewLimit<BytesPerSec>),
    ) {
        let stages = match part {
            Part::Volume(volume) => self.limits_of(*volume),
            other => self.stages_of_part(other),
        };
        let count = stages.len() as u64;
        for (index, stage) in (0..).zip(stages) {
            // The first disks have what does not divide evenly.
            let part_of = |units: u64| (units / count + u64::from(index < units % count)).max(1);
            self.change_stage(now, stage, |fault| {
                new_limit(&mut fault.rates.0, iops, |iops| part_of(iops.get()));
                new_limit(&mut fault.rates.1, bandwidth, |rate| part_of(rate.get()));
            });
        }
        self.depart_anew(now);
    }

    fn each_stage(&mut self, now: Nanos, part: &Part, change: impl Fn(&mut StageFault)) {
        for stage in self.stages_of_part(part) {
            self.change_stage(now, stage, &change);
        }
        self.depart_anew(now);
    }

    fn restore(&mut self, now: Nanos, part: &Part) {
        let mut stages = self.stages_of_part(part);
        let volumes = match part {
            Part::Machine(machine) => self.volumes_of(*machine),
            Part::Volume(volume) => vec![*volume],
            Part::Stage(_) => Vec::new(),
        };
        for volume in volumes {
            stages.extend(self.stages_of(volume));
            self.set_fault(volume, |fault| {
                *fault = Fault::none(fault.beneath);
            });
        }
        stages.sort_unstable();
        stages.dedup();
        stages.retain(|stage| self.faults.stages.contains_key(stage));
        for stage in stages {
            self.change_stage(now, stage, |fault| {
                (fault.rates, fault.slow, fault.stalled) = (fault.design, Factor::ONE, false);
            });
        }
        self.depart_anew(now);
    }

    /// A stage is changed; its departure is not yet in its new place.
    fn change_stage(&mut self, now: Nanos, index: u32, change: impl FnOnce(&mut StageFault)) {
        let stage = &mut self.stages[index as usize];
        let (_, words) = &mut self.stage_names[index as usize];
        let fault = self.faults.stages.entry(index).or_insert_with(|| {
            let rates = stage.rates();
            StageFault {
                rates,
                design: rates,
                words: words.clone(),
                slow: Factor::ONE,
                stalled: false,
            }
        });
        change(fault);
        let slow = fault.slow;
        let slowed = |rate: Rate| rate.changed(|units| slow.divides(units), |bucket| bucket);
        let rates = (fault.rates.0.map(slowed), fault.rates.1.map(slowed));
        stage.change(now, rates, (tolerance(stage.kind), fault.stalled));
        *words = words_of(fault, rates);
        self.slow_delays(index, slow);
    }

    /// The delays whose tokens count to a stage take `factor` times as long as the design says.
    fn slow_delays(&mut self, stage: u32, factor: Factor) {
        for (place, law) in self.paths.delays_inside(stage) {
            let design = *self.faults.delays.entry(place).or_insert(law);
            let law = if factor == Factor::ONE {
                design
            } else {
                let slowed = self.delays[design as usize].slowed(factor);
                if let Some(law) = self.faults.laws.get(&(stage, design)) {
                    self.delays[*law as usize] = slowed;
                    *law
                } else {
                    self.delays.push(slowed);
                    let law = self.delays.len() as u32 - 1;
                    self.faults.laws.insert((stage, design), law);
                    law
                }
            };
            self.paths.set_law(place, law);
        }
    }

    /// Puts the departures of all stages that were ever changed where they belong now.
    fn depart_anew(&mut self, now: Nanos) {
        let stages: Vec<u32> = self.faults.stages.keys().copied().collect();
        self.depart_anew_from(now, &stages);
    }

    /// The same of some stages.
    pub(super) fn depart_anew_from(&mut self, now: Nanos, stages: &[u32]) {
        for index in stages {
            let at = self.stages[*index as usize].next_departure();
            self.agenda.departs(at.map(|at| at.max(now)), *index);
        }
    }
}

fn new_limit<T: Copy>(rate: &mut Option<Rate>, new: NewLimit<T>, units: impl Fn(T) -> u64) {
    match new {
        NewLimit::Keep => {}
        NewLimit::Set(limit) => *rate = Some(Rate::Steady(units(limit))),
        NewLimit::Lift => *rate = None,
    }
}

/// The limits of a stage that was changed, in words with units.
fn words_of(fault: &StageFault, (iops, bytes): Rates) -> Vec<String> {
    let mut words = if fault.rates == fault.design && fault.slow == Factor::ONE {
        fault.words.clone()
    } else {
        let iops = iops.map(|rate| in_words(rate, |units| Iops::new(units).to_string()));
        let bytes = bytes.map(|rate| in_words(rate, |units| BytesPerSec::new(units).to_string()));
        iops.into_iter().chain(bytes).collect()
    };
    if fault.slow != Factor::ONE {
        words.push(format!("slowed {} times", fault.slow));
    }
    if fault.stalled {
        words.push("stalled".to_owned());
    }
    words
}

fn in_words(rate: Rate, text: impl Fn(u64) -> String) -> String {
    match rate {
        Rate::Steady(units) => text(units),
        Rate::Credits(rate) => format!("{}, bursts to {}", text(rate.base), text(rate.burst)),
    }
}
