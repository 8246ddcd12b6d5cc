//! What is needed of the machine itself, besides its way to storage: processors and memory, as they were seen in use.

use fathom_catalog::VmSize;
use fathom_profile::{Level, Profile};
use fathom_units::Bytes;

use crate::limits::{Figure, Meter};
use crate::line::Unit;

/// From here processors count as always busy, so that more may have been wanted than was there.
const BUSY_BASIS_POINTS: u64 = 9_500;
/// Basis points in all.
const ALL: u64 = 10_000;

/// Processors and memory; 0 where nobody knows them: then none are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineNeed {
    /// Virtual processors, in hundredths of one.
    pub processors: u64,
    /// Memory.
    pub memory: Bytes,
}

impl MachineNeed {
    /// What `profile` saw in use at `level`, after growth: processors on average over a stretch of time, for work can wait a
    /// moment, and the most memory within one, for that cannot.
    pub(crate) fn of(profile: &Profile, level: Level, told: &mut Told<'_>) -> Self {
        let share = profile.processors.at(level);
        let share = share.map(|share| u64::from(share.basis_points()));
        let processors = match (share, profile.logical_processors) {
            (Some(share), Some(count)) => {
                told.assumed.push(format!(
                    "processors: a vCPU does as much as one of the {count} of which {} were in use",
                    hundredths(share.saturating_mul(count).div_ceil(ALL / 100))
                ));
                if share >= BUSY_BASIS_POINTS {
                    told.notes.push(
                        "processors: they were busy all the time, so that more may be needed than was there"
                            .to_owned(),
                    );
                }
                let used = profile.growth.of(share.saturating_mul(count));
                used.div_ceil(ALL / 100)
            }
            (Some(_), None) => {
                told.notes.push(
                    "processors: a share in use is known, but not of how many (`logical_processors`): none are asked for"
                        .to_owned(),
                );
                0
            }
            (None, _) => 0,
        };
        let memory = profile
            .peak_memory
            .at(level)
            .or(profile.memory.at(level))
            .unwrap_or_default();
        Self {
            processors,
            memory: Bytes::new(profile.growth.of(memory.get())),
        }
    }

    /// The part of each of so many machines, rounded up.
    pub(crate) fn part(self, machines: u64) -> Self {
        Self {
            processors: self.processors.div_ceil(machines),
            memory: Bytes::new(self.memory.get().div_ceil(machines)),
        }
    }

    /// What one machine is asked for and has, of what is known.
    pub(crate) fn of_each(self, vm: &VmSize) -> impl Iterator<Item = (Meter, Figure)> {
        let processors = u64::from(vm.vcpus).saturating_mul(100);
        let processors = Figure::lasting(Unit::Processors, self.processors, processors);
        let memory = Figure::lasting(Unit::Memory, self.memory.get(), vm.memory.get());
        [(Meter::Processors, processors), (Meter::Memory, memory)]
            .into_iter()
            .filter(|(_, figure)| figure.need > 0)
    }

    /// Whether work of processors is known, and those of the machine do it at full speed on credits alone.
    pub(crate) fn spends_credits_on(self, vm: &VmSize) -> bool {
        self.processors > 0 && is_burstable(vm)
    }

    /// The words about it; `None` where nothing is known.
    pub(crate) fn told(self) -> Option<String> {
        let processors = (self.processors > 0).then(|| Unit::Processors.figure(self.processors));
        let memory = (self.memory.get() > 0)
            .then(|| format!("{} of memory", Unit::Memory.figure(self.memory.get())));
        let told: Vec<_> = [processors, memory].into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

/// Whether a machine's processors are at full speed on credits alone: those of the series B (pages "sizes-b-series-burstable"
/// and "bsv2" of the catalogue).
pub(crate) fn is_burstable(vm: &VmSize) -> bool {
    vm.series.starts_with('B')
}

/// Where what was filled in, and what no design is held to, is told.
pub(crate) struct Told<'t> {
    pub(crate) assumed: &'t mut Vec<String>,
    pub(crate) notes: &'t mut Vec<String>,
}

/// A number of hundredths, without digits that say nothing.
pub(crate) fn hundredths(value: u64) -> String {
    let whole = fathom_units::group_digits(value / 100);
    match (value % 100, value % 10) {
        (0, _) => whole,
        (part, 0) => format!("{whole}.{}", part / 10),
        (part, _) => format!("{whole}.{part:02}"),
    }
}
