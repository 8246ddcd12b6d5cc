//! Options of the engine that burns processors.

use fathom_units::Nanos;
use fathom_workload::WorkKind;

use super::reader::{Counts, ValueReader};
use super::{Settings, set};

/// What the engine is asked for, with fio's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorSettings {
    /// `cpuload`, in percent, 0 to 100; 0: not given.
    pub load: u32,
    /// `cpuchunks`.
    pub burst: Nanos,
    /// `cpumode`.
    pub kind: WorkKind,
    /// `exit_on_io_done`.
    pub ends_with_io: bool,
}

impl Default for ProcessorSettings {
    fn default() -> Self {
        Self {
            load: 0,
            burst: Nanos::from_millis(50),
            kind: WorkKind::Spin,
            ends_with_io: false,
        }
    }
}

impl Settings {
    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_processor(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let work = &mut self.control.processor;
        let most = u64::from(u32::MAX);
        match reader.name() {
            // As in fio, more than all of a processor is all of it.
            "cpuload" => {
                let load = reader.number(Counts::Things, 0, most);
                set(&mut work.load, load.map(|load| load.min(100) as u32));
            }
            "cpuchunks" => {
                let micros = reader.number(Counts::Time, 0, most);
                set(&mut work.burst, micros.map(Nanos::from_micros));
            }
            "cpumode" => {
                let kinds = [WorkKind::Spin, WorkKind::Sort];
                let word = reader.word(&["noop", "qsort"]);
                set(&mut work.kind, word.map(|index| kinds[index]));
            }
            "exit_on_io_done" => set(&mut work.ends_with_io, reader.switch()),
            _ => return false,
        }
        true
    }
}
