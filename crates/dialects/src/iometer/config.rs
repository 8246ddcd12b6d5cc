//! What an .icf file says.

use std::collections::HashSet;

use super::source::Line;

/// Bytes of a sector, in which Iometer counts places on a disk.
pub(super) const SECTOR: u64 = 512;

/// A whole file. Sections that are absent leave their part as Iometer starts with it.
#[derive(Debug, Default)]
pub(super) struct Config<'t> {
    pub(super) version: Version,
    pub(super) setup: Setup<'t>,
    pub(super) specs: Vec<Spec>,
    /// Names, in lower case, of those that are wrong.
    pub(super) wrong_specs: HashSet<String>,
    pub(super) managers: Vec<Manager<'t>>,
}

/// The version that wrote a file, as a date: later numbers count as later than any date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u64);

impl Version {
    /// 1.1.0 and all after it.
    pub(super) const NUMBERED: Self = Self(99_999_999);
}

impl Default for Version {
    fn default() -> Self {
        Self::NUMBERED
    }
}

/// How steps of a cycle follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cycle {
    pub(super) start: u64,
    /// The last; counts for queue depths alone.
    pub(super) end: u64,
    pub(super) step: u64,
    pub(super) exponential: bool,
}

impl Cycle {
    const ONES: Self = Self {
        start: 1,
        end: u64::MAX,
        step: 1,
        exponential: false,
    };

    /// Its values. A step of 1 adds, whatever the kind.
    pub(super) fn values(self) -> impl Iterator<Item = u64> {
        let Self {
            start,
            end,
            step,
            exponential,
        } = self;
        let multiplies = exponential && step != 1;
        let next = move |value: &u64| {
            if multiplies {
                value.checked_mul(step)
            } else {
                value.checked_add(step)
            }
        };
        std::iter::successors(Some(start), next).take_while(move |value| *value <= end)
    }
}

/// What runs beside what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum TestType {
    #[default]
    Normal,
    Targets,
    Workers,
    IncreaseInParallel,
    IncreaseInTurn,
    WorkersAndTargets,
    Depths,
    DepthsAndTargets,
}

/// The words of [`TestType`] in the order of its numbers.
pub(super) const TEST_TYPES: [(&str, TestType); 8] = [
    ("NORMAL", TestType::Normal),
    ("CYCLE_TARGETS", TestType::Targets),
    ("CYCLE_WORKERS", TestType::Workers),
    ("INCREMENT_TARGETS_PARALLEL", TestType::IncreaseInParallel),
    ("INCREMENT_TARGETS_SERIAL", TestType::IncreaseInTurn),
    ("CYCLE_WORKERS_AND_TARGETS", TestType::WorkersAndTargets),
    ("CYCLE_OUTSTANDING_IOS", TestType::Depths),
    (
        "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
        TestType::DepthsAndTargets,
    ),
];

/// Which rows the results have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Record {
    /// No results at all.
    Nothing,
    /// The row of all managers alone.
    NoManagers,
    /// Without the rows of workers.
    NoWorkers,
    /// Without the rows of targets.
    NoTargets,
    /// Every row.
    #[default]
    All,
}

/// The words of [`Record`] in the order of Iometer's numbers.
pub(super) const RECORDS: [(&str, Record); 5] = [
    ("ALL", Record::All),
    ("NO_TARGETS", Record::NoTargets),
    ("NO_WORKERS", Record::NoWorkers),
    ("NO_MANAGERS", Record::NoManagers),
    ("NONE", Record::Nothing),
];

/// The section `TEST SETUP`.
#[derive(Debug)]
pub(super) struct Setup<'t> {
    pub(super) description: String,
    /// Seconds; 0: until it is stopped.
    pub(super) run_time: u64,
    /// Where that stands.
    pub(super) run_time_line: Option<Line<'t>>,
    pub(super) ramp_up: u64,
    /// Workers of a manager that has none; `None`: one for each processor.
    pub(super) workers: Option<u64>,
    pub(super) record: Record,
    pub(super) worker_cycle: Cycle,
    pub(super) target_cycle: Cycle,
    pub(super) depth_cycle: Cycle,
    /// Where that stands.
    pub(super) depth_cycle_line: Option<Line<'t>>,
    pub(super) test_type: TestType,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            description: String::new(),
            run_time: 0,
            run_time_line: None,
            ramp_up: 0,
            workers: None,
            record: Record::All,
            worker_cycle: Cycle::ONES,
            target_cycle: Cycle::ONES,
            depth_cycle: Cycle {
                start: 1,
                end: 32,
                step: 2,
                exponential: true,
            },
            depth_cycle_line: None,
            test_type: TestType::Normal,
        }
    }
}

/// Which workers have an access specification without being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assigned {
    Nowhere,
    Everywhere,
    Disks,
    Networks,
}

/// The words of [`Assigned`] in the order of Iometer's numbers.
pub(super) const ASSIGNMENTS: [(&str, Assigned); 4] = [
    ("NONE", Assigned::Nowhere),
    ("ALL", Assigned::Everywhere),
    ("DISK", Assigned::Disks),
    ("NET", Assigned::Networks),
];

/// An access specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) assigned: Assigned,
    /// None where it is idle.
    pub(super) lines: Vec<SpecLine>,
}

/// One line of it; sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpecLine {
    pub(super) size: u32,
    /// Percent.
    pub(super) share: u32,
    pub(super) reads: u32,
    pub(super) random: u32,
    pub(super) delay_ms: u32,
    pub(super) burst: u32,
    /// 0: to sectors.
    pub(super) align: u32,
    /// 0: none.
    pub(super) reply: u32,
}

/// One machine of the section `MANAGER LIST`.
#[derive(Debug)]
pub(super) struct Manager<'t> {
    pub(super) name: String,
    pub(super) line: Line<'t>,
    pub(super) workers: Vec<Worker<'t>>,
}

/// A worker that does I/O on disks.
#[derive(Debug)]
pub(super) struct Worker<'t> {
    pub(super) name: String,
    pub(super) line: Line<'t>,
    /// Its settings, where it has any.
    pub(super) settings: Settings,
    /// Names of its access specifications, where it names any.
    pub(super) specs: Option<Vec<Line<'t>>>,
    pub(super) targets: Vec<Line<'t>>,
}

/// The default target settings of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) depth: u32,
    /// Sectors; 0: the whole disk.
    pub(super) max_size: u64,
    pub(super) start: u64,
    /// 0 repeating bytes, 1 pseudo random, 2 full random; `None`: the file does not say.
    pub(super) pattern: Option<u8>,
    pub(super) seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            depth: 1,
            max_size: 0,
            start: 0,
            pattern: None,
            seed: None,
        }
    }
}
