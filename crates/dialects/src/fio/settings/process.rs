//! Options of where a job's threads run, when they begin, and what they end.

use fathom_workload::{EndsOthers, IoPriority, ProcessorSharing};

use super::reader::{Counts, ValueReader};
use super::{Settings, set, set_some};

/// Largest number of a processor, as in fio.
const PROCESSORS_MAX: u32 = 4096;

impl Settings {
    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_process(&mut self, reader: &mut ValueReader<'_>) -> bool {
        match reader.name() {
            "cpus_allowed" => {
                if let Some(list) = reader.text()
                    && let Some(processors) = list_of_processors(list, reader)
                {
                    self.process.processors = processors;
                }
            }
            "cpumask" => {
                if let Some(mask) = reader.number(Counts::Things, 0, u64::MAX >> 1) {
                    self.process.processors = (0..63).filter(|bit| mask >> bit & 1 == 1).collect();
                }
            }
            "cpus_allowed_policy" => match reader.word(&["shared", "split"]) {
                Some(0) => self.process.sharing = ProcessorSharing::Shared,
                Some(_) => self.process.sharing = ProcessorSharing::Split,
                None => {}
            },
            "nice" => set(&mut self.process.nice, reader.signed(-20, 19)),
            "prio" => self.apply_priority(reader, 7, |to, value| to.level = value as u8),
            "prioclass" => self.apply_priority(reader, 3, |to, value| to.class = value as u8),
            "priohint" => self.apply_priority(reader, 1023, |to, value| to.hint = value),
            "wait_for" => {
                let name = reader.text().map(|name| name.trim().to_owned());
                set_some(&mut self.process.after, name);
            }
            "exitall" => set(&mut self.exit_all, reader.switch()),
            "exit_what" => match reader.word(&["group", "stonewall", "all"]) {
                Some(0) => self.exit_what = EndsOthers::Group,
                Some(1) => self.exit_what = EndsOthers::Stage,
                Some(_) => self.exit_what = EndsOthers::Run,
                None => {}
            },
            "exec_prerun" => {
                let command = reader.text().map(str::to_owned);
                set_some(&mut self.process.command_before, command);
            }
            "exec_postrun" => {
                let command = reader.text().map(str::to_owned);
                set_some(&mut self.process.command_after, command);
            }
            _ => return false,
        }
        true
    }

    fn apply_priority(
        &mut self,
        reader: &mut ValueReader<'_>,
        most: u64,
        put: fn(&mut IoPriority, u16),
    ) {
        let Some(value) = reader.number(Counts::Things, 0, most) else {
            return;
        };
        let mut priority = self.process.io_priority.unwrap_or(IoPriority {
            class: 0,
            level: 0,
            hint: 0,
        });
        put(&mut priority, value as u16);
        self.process.io_priority = Some(priority);
    }
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
        let mut ends = entry.split('-').map(number);
        let first = ends.next().unwrap_or(0);
        let last = ends.last().unwrap_or(first);
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
