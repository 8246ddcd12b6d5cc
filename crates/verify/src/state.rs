//! How far a job came, for a later job that checks what it wrote.
//!
//! A text of lines, `NAME VALUE`, in this order; numbers in decimal, lists with blanks between:
//!
//! ```text
//! fathom-verify-state 1
//! job NAME
//! writes 64268
//! unfinished 64260 64261
//! failed
//! crc32c 1a2b3c4d
//! ```
//!
//! `writes` counts the writes that the check may count on: all that were issued, or those before the last completed
//! sync. `unfinished` are numbers of writes that were issued and had not completed: the check ends before the first of
//! them, since what it would find there is unknown. `failed` writes are passed over. The last line is the CRC-32C of
//! everything before it, in hexadecimal.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// First line of the file.
const FIRST_LINE: &str = "fathom-verify-state 1";

/// How far a job came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedState {
    /// Name of the job.
    pub job: String,
    /// Writes that the check may count on.
    pub writes: u64,
    /// Numbers of writes that were issued and had not completed.
    pub unfinished: BTreeSet<u64>,
    /// Numbers of writes that failed.
    pub failed: BTreeSet<u64>,
}

/// Why a text is no saved state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Another kind of file.
    #[error(
        "it does not begin with `{FIRST_LINE}`: it is of another program (fio reads its own alone) or another release"
    )]
    FirstLine,
    /// A line that cannot be read.
    #[error("its line `{0}` is missing or cannot be read")]
    Line(&'static str),
    /// A checksum of other contents.
    #[error("its checksum is not that of its contents: it is damaged")]
    Checksum,
}

impl SavedState {
    /// As the text of a file.
    pub fn to_text(&self) -> String {
        // A job's name is one line of a job file, but nothing here shall depend on it.
        let job = self.job.replace(['\n', '\r'], " ");
        let list = |numbers: &BTreeSet<u64>| {
            numbers.iter().fold(String::new(), |mut text, number| {
                // Writing to a string does not fail.
                let _ = write!(text, " {number}");
                text
            })
        };
        let mut text = format!(
            "{FIRST_LINE}\njob {job}\nwrites {}\nunfinished{}\nfailed{}\n",
            self.writes,
            list(&self.unfinished),
            list(&self.failed)
        );
        let sum = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "crc32c {sum:08x}");
        text
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, StateError> {
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(StateError::FirstLine);
        }
        let mut value = |name: &'static str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name));
            line.map(|line| line.strip_prefix(' ').unwrap_or(line))
                .ok_or(StateError::Line(name))
        };
        let job = value("job")?.to_owned();
        let number = |text: &str, name| text.parse::<u64>().map_err(|_| StateError::Line(name));
        let list = |text: &str, name| -> Result<BTreeSet<u64>, StateError> {
            let numbers = text.split_whitespace();
            numbers.map(|text| number(text, name)).collect()
        };
        let writes = number(value("writes")?, "writes")?;
        let unfinished = list(value("unfinished")?, "unfinished")?;
        let failed = list(value("failed")?, "failed")?;
        let sum =
            u32::from_str_radix(value("crc32c")?, 16).map_err(|_| StateError::Line("crc32c"))?;
        let end = text.rfind("crc32c").unwrap_or(0);
        if sum != crc32c::crc32c(&text.as_bytes()[..end]) {
            return Err(StateError::Checksum);
        }
        Ok(Self {
            job,
            writes,
            unfinished,
            failed,
        })
    }

    /// Whether the check ends before the write of this number.
    pub fn ends_before(&self, number: u64) -> bool {
        number >= self.writes || self.unfinished.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SavedState {
        SavedState {
            job: "ver test".to_owned(),
            writes: 1000,
            unfinished: [990, 7].into(),
            failed: [3].into(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for state in [state(), SavedState::default()] {
            assert_eq!(SavedState::from_text(&state.to_text()), Ok(state));
        }
        assert!(state().ends_before(7) && state().ends_before(1000));
        assert!(!state().ends_before(8) && !state().ends_before(3));
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let text = state().to_text();
        let check = |text: &str, problem| assert_eq!(SavedState::from_text(text), Err(problem));
        check("", StateError::FirstLine);
        check(
            &text.replace("writes 1000", "writes 2000"),
            StateError::Checksum,
        );
        check(
            &text.replace("writes 1000", "writes many"),
            StateError::Line("writes"),
        );
        check(&text[..text.len() - 9], StateError::Line("crc32c"));
        check(&text[..40], StateError::Line("writes"));
    }
}
