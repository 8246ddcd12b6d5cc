//! Settings of what written buffers hold.

use fathom_workload::{Pattern, PatternError};

use super::Settings;
use super::apply::{set, set_some};
use super::reader::{Counts, ValueReader};

/// Contents in fio's terms, with fio's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentSettings {
    /// `buffer_pattern` as typed.
    pub pattern: Option<String>,
    /// `buffer_compress_percentage`.
    pub compress: u8,
    /// `buffer_compress_chunk`; 0: the whole of the smallest write.
    pub chunk: u64,
    /// `dedupe_percentage`.
    pub dedupe: u8,
    /// `dedupe_mode=working_set`.
    pub working_set: bool,
    /// `dedupe_working_set_percentage`.
    pub set_share: u8,
    /// `dedupe_global`.
    pub global: bool,
}

impl Default for ContentSettings {
    fn default() -> Self {
        Self {
            pattern: None,
            compress: 0,
            chunk: 512,
            dedupe: 0,
            working_set: false,
            set_share: 5,
            global: false,
        }
    }
}

impl Settings {
    /// Applies an option of contents; whether it was one.
    pub(super) fn apply_contents(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let percent = |reader: &mut ValueReader<'_>| {
            let percent = reader.number(Counts::Things, 0, 100);
            percent.map(|percent| percent as u8)
        };
        let contents = &mut self.contents;
        match reader.name() {
            "buffer_pattern" => set_some(&mut contents.pattern, checked_pattern(reader)),
            "buffer_compress_percentage" => set(&mut contents.compress, percent(reader)),
            "buffer_compress_chunk" => {
                let chunk = reader.number(Counts::Bytes, 0, 1 << 30);
                set(&mut contents.chunk, chunk);
            }
            "dedupe_percentage" => set(&mut contents.dedupe, percent(reader)),
            "dedupe_mode" => {
                let word = reader.word(&["repeat", "working_set"]);
                set(&mut contents.working_set, word.map(|index| index == 1));
            }
            "dedupe_working_set_percentage" => set(&mut contents.set_share, percent(reader)),
            "dedupe_global" => set(&mut contents.global, reader.switch()),
            _ => return false,
        }
        true
    }
}

/// The text of a pattern that can be read. Files that it names are read when the job is built.
fn checked_pattern(reader: &mut ValueReader<'_>) -> Option<String> {
    let text = reader.text()?;
    let some_file = |_: &str| Ok(vec![0]);
    let error = match Pattern::parse(text, &some_file) {
        Ok(pattern) if pattern.has_offsets() => PatternError::Part("%o".to_owned()),
        Ok(_) => return Some(text.to_owned()),
        Err(error) => error,
    };
    let message = format!("`{}`: {error}", reader.name());
    let hint = match error {
        // Offsets stand in patterns that are verified alone.
        PatternError::Part(_) => Some("write a number, \"text\" or 'file'"),
        _ => error.hint(),
    };
    reader.refuse(&message, hint.map(str::to_owned));
    None
}
