//! Options that give a share of a job's I/O a priority of its own (`cmdprio_*`).

use fathom_units::Bytes;
use fathom_workload::{IoPriority, Priorities, PriorityShare};

use super::Settings;
use super::reader::{Counts, ValueReader};
use crate::fio::values;

/// fio's `cmdprio_*`, for reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrioritySettings {
    percentage: [u64; 2],
    class: [u64; 2],
    hint: [u64; 2],
    level: [u64; 2],
    /// Size, percent, and class, level and hint where they are given.
    split: [Vec<Split>; 2],
}

type Split = (u64, u32, Option<[u16; 3]>);

impl Default for PrioritySettings {
    fn default() -> Self {
        Self {
            percentage: [0; 2],
            // Real time is fio's default.
            class: [1; 2],
            hint: [0; 2],
            level: [0; 2],
            split: [Vec::new(), Vec::new()],
        }
    }
}

impl Settings {
    /// Applies an option of priorities; `false` where it is none.
    pub(super) fn apply_priority(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let priority = &mut self.priority;
        let (slots, most) = match reader.name() {
            "cmdprio_percentage" => (&mut priority.percentage, 100),
            "cmdprio_class" => (&mut priority.class, 3),
            "cmdprio_hint" => (&mut priority.hint, 1023),
            "cmdprio" => (&mut priority.level, 7),
            "cmdprio_bssplit" => {
                if let Some(split) = splits(reader) {
                    priority.split = split;
                }
                return true;
            }
            _ => return false,
        };
        if let Some(values) = reader.triple(Counts::Things, 0, most) {
            for (slot, value) in slots.iter_mut().zip(values) {
                *slot = value.unwrap_or(*slot);
            }
        }
        true
    }
}

/// `size/percent[/class/level[/hint]]:…` for reads, and after a comma for writes.
fn splits(reader: &mut ValueReader<'_>) -> Option<[Vec<Split>; 2]> {
    let text = reader.text()?;
    let (reads, writes) = text.split_once(',').unwrap_or((text, text));
    let list = |text: &str| -> Option<Vec<Split>> {
        let entries = text.split(':').filter(|entry| !entry.is_empty());
        entries.map(split).collect()
    };
    let lists = list(reads).zip(list(writes));
    if lists.is_none() {
        let message = format!("`{text}` is no list of sizes with shares and priorities");
        reader.refuse(
            &message,
            Some("such as `64k/25/1/1:64k/75/3/2`: size, percent, class, level".to_owned()),
        );
    }
    lists.map(|(reads, writes)| [reads, writes])
}

fn split(entry: &str) -> Option<Split> {
    let mut fields = entry.split('/');
    let size = values::number(fields.next()?, 1024)?;
    let size = u64::try_from(size.value).ok()?;
    let mut number = || match fields.next() {
        None => Some(None),
        Some(text) => text.parse::<u16>().ok().map(Some),
    };
    let percent = number()?.unwrap_or(0);
    let (class, level, hint) = (number()?, number()?, number()?);
    let own = class.map(|class| [class, level.unwrap_or(0), hint.unwrap_or(0)]);
    let [class, level, hint] = own.unwrap_or_default();
    let fits = percent <= 100 && IoPriority::new(class, hint, level).is_some();
    fits.then_some((size, u32::from(percent), own))
}

impl PrioritySettings {
    /// What is wrong with the options together, if anything: fio's own rule.
    pub fn problem(&self) -> Option<&'static str> {
        let both = (0..2).any(|way| self.percentage[way] > 0 && !self.split[way].is_empty());
        both.then_some("`cmdprio_percentage` and `cmdprio_bssplit` are mutually exclusive")
    }

    /// What the options ask for, if anything.
    pub fn priorities(&self) -> Option<Box<Priorities>> {
        let of = |way: usize| -> Vec<PriorityShare> {
            let whole = [self.class[way], self.level[way], self.hint[way]].map(|it| it as u16);
            let share = |size: Option<u64>, percent: u32, own: Option<[u16; 3]>| {
                let [class, level, hint] = own.unwrap_or(whole);
                PriorityShare {
                    size: size.map(Bytes::new),
                    percent,
                    priority: IoPriority::new(class, hint, level).unwrap_or_default(),
                }
            };
            if self.split[way].is_empty() {
                let percent = self.percentage[way] as u32;
                return (percent > 0)
                    .then(|| share(None, percent, None))
                    .into_iter()
                    .collect();
            }
            let splits = self.split[way]
                .iter()
                .filter(|(_, percent, _)| *percent > 0);
            splits
                .map(|(size, percent, own)| share(Some(*size), *percent, *own))
                .collect()
        };
        let priorities = Priorities {
            read: of(0),
            write: of(1),
        };
        let any = !priorities.read.is_empty() || !priorities.write.is_empty();
        any.then(|| Box::new(priorities))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::{ReadContext, SystemFiles, read};

    /// (size, percent, class, level, hint) of each share of reads.
    #[track_caller]
    fn check(options: &str, expected: &[(Option<u64>, u32, [u16; 3])]) {
        let line = format!("--name=a --ioengine=libaio --size=1m {options}");
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let input = read(&arguments, &ReadContext::of_system(&SystemFiles)).unwrap();
        let features = &input.workload.stages[0].jobs[0].features;
        let shares = features.priorities.as_ref().map(|it| it.read.clone());
        let parts = |share: &PriorityShare| {
            let priority = share.priority;
            let parts = [priority.class(), priority.level(), priority.hint()];
            (share.size.map(Bytes::get), share.percent, parts)
        };
        let shares: Vec<_> = shares.unwrap_or_default().iter().map(parts).collect();
        assert_eq!(shares, expected, "{options}");
        assert_eq!(features.io_log.each, !expected.is_empty(), "{options}");
    }

    #[test]
    fn shares_and_their_priorities() {
        check("--cmdprio_percentage=50", &[(None, 50, [1, 0, 0])]);
        check("--cmdprio_percentage=0", &[]);
        check(
            "--cmdprio_percentage=30 --cmdprio=3 --cmdprio_class=2 --cmdprio_hint=1",
            &[(None, 30, [2, 3, 1])],
        );
        check(
            "--cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0",
            &[(Some(65_536), 25, [1, 1, 0]), (Some(65_536), 75, [3, 2, 0])],
        );
        check(
            "--cmdprio_bssplit=4k/10 --cmdprio=5",
            &[(Some(4096), 10, [1, 5, 0])],
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for options in [
            "--cmdprio_bssplit=4k/x",
            "--cmdprio_bssplit=4k/10/9",
            "--cmdprio_percentage=5 --cmdprio_bssplit=4k/5",
        ] {
            let line = format!("--name=a --ioengine=libaio --size=1m {options}");
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let context = ReadContext::of_system(&SystemFiles);
            assert!(read(&arguments, &context).is_err(), "{options}");
        }
    }
}
