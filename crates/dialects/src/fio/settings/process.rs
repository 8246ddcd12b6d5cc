//! Options of where a job's threads run, when they begin, and what they end.

use std::collections::BTreeMap;

use fathom_diagnostics::Diagnostic;
use fathom_units::Bytes;
use fathom_workload::{
    EndsOthers, ErrorHandling, FileHandling, Process, ProcessorSharing, StatCall, ThreadPriority,
};

use super::handling::{MakingSettings, SurvivedErrors};
use super::processor::ProcessorSettings;
use super::reader::{Counts, ValueReader};
use super::replay::TraceSettings;
use super::{Settings, set, set_some};

/// Largest number of a processor, as in fio.
const PROCESSORS_MAX: u32 = 4096;

/// What a job asks of its threads, its files and its errors, and of traces.
#[derive(Debug, Clone, Default)]
pub struct ControlSettings {
    /// Where threads run and when; `exitall` is not in it yet.
    pub process: Process,
    /// `exitall`.
    pub exit_all: bool,
    /// `exitall_on_error`.
    pub exit_on_error: bool,
    /// `exit_what`; `None`: its group.
    pub exit_what: Option<EndsOthers>,
    /// How files are treated.
    pub handling: FileHandling,
    /// What is done to files that are missing or short.
    pub making: MakingSettings,
    /// What else is to become of errors.
    pub errors: ErrorHandling,
    /// Which errors are survived.
    pub survived: SurvivedErrors,
    /// `create_only`.
    pub create_only: bool,
    /// `opendir`.
    pub open_directory: Option<String>,
    /// `stat_type`.
    pub stat_call: StatCall,
    /// What it does in place of I/O, where its engine does none.
    pub processor: ProcessorSettings,
    /// `uri`.
    pub uri: Option<String>,
    /// Traces.
    pub trace: TraceSettings,
    /// What keeps the job from being run, by fio's name of the option.
    pub refused_at_run: BTreeMap<&'static str, Diagnostic>,
}

impl Settings {
    fn apply_mask(&mut self, reader: &mut ValueReader<'_>) {
        let Some(mask) = reader.number(Counts::Things, 0, u64::MAX >> 1) else {
            return;
        };
        self.control.process.processors = (0..63).filter(|bit| mask >> bit & 1 == 1).collect();
        if mask == 0 {
            let hint = "set a bit for each processor".to_owned();
            let message = "`cpumask=0` leaves no processor for the job to run on";
            reader.refuse_at_run(message, Some(hint));
        }
    }

    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_process(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "cpus_allowed" => {
                if let Some(list) = reader.text()
                    && let Some(processors) = list_of_processors(list, reader)
                {
                    self.control.process.processors = processors;
                }
            }
            "cpumask" => self.apply_mask(reader),
            "cpus_allowed_policy" => match reader.word(&["shared", "split"]) {
                Some(0) => self.control.process.sharing = ProcessorSharing::Shared,
                Some(_) => self.control.process.sharing = ProcessorSharing::Split,
                None => {}
            },
            "lockmem" => {
                let bytes = reader.number(Counts::Bytes, 0, 1 << 62).map(Bytes::new);
                set(&mut self.control.process.locked_memory, bytes);
            }
            "uid" => set_some(&mut self.control.process.user, number_of_user(reader)),
            "gid" => set_some(&mut self.control.process.user_group, number_of_user(reader)),
            "nice" => set(&mut self.control.process.nice, reader.signed(-20, 19)),
            "prio" => self.apply_thread_priority(reader, 7, |to, value| to.level = value as u8),
            "prioclass" => {
                self.apply_thread_priority(reader, 3, |to, value| to.class = value as u8);
            }
            "priohint" => self.apply_thread_priority(reader, 1023, |to, value| to.hint = value),
            "wait_for" => {
                let name = reader.text().map(|name| name.trim().to_owned());
                set_some(&mut self.control.process.after, name);
            }
            "exitall" => set(&mut self.control.exit_all, reader.switch()),
            "exitall_on_error" => set(&mut self.control.exit_on_error, reader.switch()),
            "exit_what" => match reader.word(&["group", "stonewall", "all"]) {
                Some(0) => self.control.exit_what = Some(EndsOthers::Group),
                Some(1) => self.control.exit_what = Some(EndsOthers::Stage),
                Some(_) => self.control.exit_what = Some(EndsOthers::Run),
                None => {}
            },
            "profile" => {
                if let Some(name) = reader.text() {
                    let message = format!("fio's built-in workload `{name}` is not carried");
                    let hint = "write its jobs into a job file".to_owned();
                    reader.refuse(&message, Some(hint));
                }
            }
            "ioscheduler" => {
                let name = reader.text().map(|name| name.trim().to_owned());
                set_some(&mut self.control.process.scheduler, name);
            }
            "exec_prerun" => {
                let command = reader.text().map(str::to_owned);
                set_some(&mut self.control.process.command_before, command);
            }
            "exec_postrun" => {
                let command = reader.text().map(str::to_owned);
                set_some(&mut self.control.process.command_after, command);
            }
            _ => return false,
        }
        true
    }

    fn apply_thread_priority(
        &mut self,
        reader: &mut ValueReader<'_>,
        most: u64,
        put: fn(&mut ThreadPriority, u16),
    ) {
        let Some(value) = reader.number(Counts::Things, 0, most) else {
            return;
        };
        let mut priority = self.control.process.io_priority.unwrap_or(ThreadPriority {
            class: 0,
            level: 0,
            hint: 0,
        });
        put(&mut priority, value as u16);
        self.control.process.io_priority = Some(priority);
    }
}

/// The number of a user or group. The largest stands for none in the kernel.
fn number_of_user(reader: &mut ValueReader<'_>) -> Option<u32> {
    let number = reader.number(Counts::Things, 0, u64::from(u32::MAX) - 1)?;
    u32::try_from(number).ok()
}

/// Numbers and ranges such as `0,2-5`. As in fio, the list ends at an empty entry and letters count as 0.
fn list_of_processors(text: &str, reader: &mut ValueReader<'_>) -> Option<Vec<u32>> {
    let number = |text: &str| {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit());
        text[..end.unwrap_or(text.len())]
            .parse::<u32>()
            .unwrap_or(0)
    };
    let mut processors = Vec::new();
    for entry in text.trim().split(',').take_while(|entry| !entry.is_empty()) {
        let ends: Vec<u32> = entry.split('-').map(number).collect();
        let first = ends.first().copied().unwrap_or(0);
        let last = ends.last().copied().unwrap_or(first);
        if last >= PROCESSORS_MAX || first >= PROCESSORS_MAX {
            let message = format!("`{entry}` is no processor below {PROCESSORS_MAX}");
            reader.refuse(&message, None);
            return None;
        }
        processors.extend(first..=last);
    }
    processors.sort_unstable();
    processors.dedup();
    Some(processors)
}
