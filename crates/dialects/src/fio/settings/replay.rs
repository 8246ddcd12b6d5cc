//! Options of traces: replaying one, and writing one.

use super::reader::{Counts, ValueReader};
use super::{Settings, set, set_some};

/// What a job asks of traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSettings {
    /// `read_iolog`, as typed.
    pub read: Option<String>,
    /// `write_iolog`.
    pub write: Option<String>,
    /// `replay_no_stall`.
    pub no_stall: bool,
    /// `replay_time_scale`, in percent.
    pub time_scale: u32,
    /// `replay_redirect`.
    pub redirect: Option<String>,
    /// `replay_scale`.
    pub scale: u32,
    /// `replay_align`.
    pub align: u32,
    /// `replay_skip`: reads, writes, trims, syncs.
    pub skip: [bool; 4],
    /// `merge_blktrace_file`.
    pub merge_into: Option<String>,
    /// `merge_blktrace_scalars`, in percent; empty: each as it is.
    pub merge_scales: Vec<u32>,
    /// `merge_blktrace_iters`; empty: each once.
    pub merge_passes: Vec<u32>,
}

/// Most traces of a job that are merged, as in fio.
const MERGED_MAX: usize = 20;

/// Numbers of 1 and more, one for each trace; of what stands behind the point fio takes no notice.
fn counts(reader: &mut ValueReader<'_>) -> Option<Vec<u32>> {
    let mut list = Vec::new();
    for part in reader.text()?.split(':') {
        let number = part.trim().parse::<f64>().ok();
        let Some(number) = number.filter(|it| (1.0..=1e6).contains(it)) else {
            let hint = "write one of 1 to 1000000 for each trace of `read_iolog`, as in `50:100`";
            reader.refuse(
                &format!("`{part}` is no such number"),
                Some(hint.to_owned()),
            );
            return None;
        };
        list.push(number as u32);
    }
    if list.len() > MERGED_MAX {
        let hint = format!("merge {MERGED_MAX} at a time");
        reader.refuse(
            "there are more of them than traces that can be merged",
            Some(hint),
        );
        return None;
    }
    Some(list)
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self {
            read: None,
            write: None,
            no_stall: false,
            time_scale: 100,
            redirect: None,
            scale: 1,
            align: 0,
            skip: [false; 4],
            merge_into: None,
            merge_scales: Vec::new(),
            merge_passes: Vec::new(),
        }
    }
}

impl Settings {
    /// Applies an option of this kind; `false` where it is none.
    pub(super) fn apply_replay(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let count = |reader: &mut ValueReader<'_>, least| {
            let value = reader.number(Counts::Things, least, u64::from(u32::MAX));
            value.map(|value| value as u32)
        };
        match reader.name() {
            "read_iolog" => set_some(
                &mut self.control.trace.read,
                reader.text().map(str::to_owned),
            ),
            "write_iolog" => set_some(
                &mut self.control.trace.write,
                reader.text().map(str::to_owned),
            ),
            "replay_no_stall" => set(&mut self.control.trace.no_stall, reader.switch()),
            "replay_time_scale" => set(&mut self.control.trace.time_scale, count(reader, 1)),
            "replay_redirect" => {
                set_some(
                    &mut self.control.trace.redirect,
                    reader.text().map(str::to_owned),
                );
            }
            "replay_scale" => set(&mut self.control.trace.scale, count(reader, 0)),
            "replay_align" => {
                let align = count(reader, 0);
                if align.is_some_and(|align| !align.is_power_of_two()) {
                    let hint = "write 512 or 4096".to_owned();
                    reader.refuse("`replay_align` must be a power of two", Some(hint));
                } else {
                    set(&mut self.control.trace.align, align);
                }
            }
            "replay_skip" => self.apply_skip(reader),
            "merge_blktrace_file" => set_some(
                &mut self.control.trace.merge_into,
                reader.text().map(str::to_owned),
            ),
            "merge_blktrace_scalars" => set(&mut self.control.trace.merge_scales, counts(reader)),
            "merge_blktrace_iters" => set(&mut self.control.trace.merge_passes, counts(reader)),
            _ => return false,
        }
        true
    }

    fn apply_skip(&mut self, reader: &mut ValueReader<'_>) {
        let Some(text) = reader.text() else { return };
        for word in text.trim().split(',') {
            let kinds = ["read", "write", "trim", "sync"];
            let Some(kind) = kinds.iter().position(|kind| *kind == word) else {
                let hint = "write read, write, trim or sync".to_owned();
                return reader.refuse(&format!("`{word}` is no kind of I/O"), Some(hint));
            };
            self.control.trace.skip[kind] = true;
        }
    }
}
