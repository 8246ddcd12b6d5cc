//! Names of a job's files.
//!
//! They are made as fio makes them, so that a run finds what a run of fio left behind, and the other way round.

use super::context::{FileStatus, Files};
use super::errno::EINVAL;
use super::exports;
use super::late::Complaints;
use super::targets::Clone;

/// Most files that `opendir` finds.
const MAX_LISTED: usize = 65_536;

impl Clone<'_> {
    /// Every regular file of `opendir`, and those of `filename` behind them.
    pub(super) fn listed(
        &self,
        directory: &str,
        files: &dyn Files,
        diagnostics: &mut Complaints<'_>,
    ) -> Option<Vec<String>> {
        let found = files.list(directory, MAX_LISTED);
        let (errno, problem) = match &found {
            Ok(paths) if paths.is_empty() => (Some(EINVAL), "it holds no regular file".to_owned()),
            Ok(_) => {
                let most = self.settings.listed_files.unwrap_or(u64::MAX);
                let mut paths = found.ok()?;
                if !self.settings.named_files.is_empty() {
                    paths.append(&mut self.paths(files));
                }
                paths.truncate(usize::try_from(most).unwrap_or(usize::MAX));
                return Some(paths);
            }
            Err(error) => (None, error.to_string()),
        };
        let message = format!("`opendir={directory}`: {problem}");
        let error = self.error(&message, "name a directory with files in it");
        diagnostics.refuse(errno, error);
        None
    }

    /// Those that it names, or is given by its name.
    pub(super) fn paths(&self, files: &dyn Files) -> Vec<String> {
        let settings = self.settings;
        if let Some(uri) = exports::uri(settings) {
            return vec![uri.to_owned()];
        }
        let named = &settings.named_files;
        if !named.is_empty() {
            let count = settings.listed_files.unwrap_or(u64::MAX);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            return named.iter().take(count).cloned().collect();
        }
        let folders = settings
            .directory
            .as_deref()
            .map(split_list)
            .unwrap_or_default();
        let within = |folder: u64, name: &str| match folders.len() as u64 {
            0 => name.to_owned(),
            count => format!("{}/{name}", folders[(folder % count) as usize]),
        };
        let count = settings.file_count;
        // A job named after a device or a directory uses that.
        if count == 1
            && matches!(
                files.status(self.called),
                FileStatus::Special(_) | FileStatus::Directory
            )
        {
            return vec![within(self.number, self.called)];
        }
        (0..count)
            .map(|file| within(self.number, &self.made_up_name(file)))
            .collect()
    }

    fn made_up_name(&self, file: u64) -> String {
        let numbers = [("$jobnum", self.number), ("$filenum", file)];
        let mut name =
            replace_ignoring_case(&self.settings.filename_format, "$jobname", self.called);
        for (word, number) in numbers {
            name = replace_ignoring_case(&name, word, &number.to_string());
        }
        // The client's address, which a job of this machine has none of.
        replace_ignoring_case(&name, "$clientuid", "")
    }
}

/// The entries of a list separated by `:`, where `\:` stands for a colon within an entry.
pub fn split_list(text: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let last = entries.len() - 1;
        match character {
            '\\' if characters.peek() == Some(&':') => {
                characters.next();
                entries[last].push(':');
            }
            ':' => entries.push(String::new()),
            other => entries[last].push(other),
        }
    }
    entries.retain(|entry| !entry.is_empty());
    if entries.is_empty() {
        entries.push(text.to_owned());
    }
    entries
}

fn replace_ignoring_case(text: &str, word: &str, with: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    // Lowering ASCII letters alone keeps every byte in its place.
    while let Some(start) = rest.to_ascii_lowercase().find(word) {
        out.push_str(&rest[..start]);
        out.push_str(with);
        rest = &rest[start + word.len()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split_list(text), expected, "{text}");
    }

    #[test]
    fn lists_are_split_at_colons() {
        check("/dev/sda", &["/dev/sda"]);
        check("/a:/b", &["/a", "/b"]);
        check(r"/dev/dsk/foo@3,0\:c:b", &["/dev/dsk/foo@3,0:c", "b"]);
        check(":a::b:", &["a", "b"]);
        check(":", &[":"]);
    }

    #[test]
    fn formats_are_filled_in() {
        assert_eq!(replace_ignoring_case("$JobName.x", "$jobname", "é"), "é.x");
    }
}
