//! The names of targets, and where they are.
//!
//! Iometer names a volume by its drive and label (`D: "data"`), a mount point by its path and a disk by its number
//! (`PHYSICALDRIVE:1`) or device. On a volume it works on one file in the root.

/// The file that is used on a volume.
pub const TEST_FILE: &str = "iobw.tst";

/// The path of a target: the file of a drive or folder, or the device itself.
pub(super) fn path(name: &str) -> String {
    let name = name.trim();
    if let Some(drive) = drive(name) {
        return format!("{drive}:\\{TEST_FILE}");
    }
    let is_disk = name
        .get(..13)
        .is_some_and(|start| start.eq_ignore_ascii_case("PHYSICALDRIVE"));
    let is_device = name.starts_with("/dev/") || name.starts_with("\\\\.\\") || is_disk;
    if is_device || !(name.starts_with('/') || name.starts_with('.')) {
        return name.to_owned();
    }
    format!("{}/{TEST_FILE}", name.trim_end_matches('/'))
}

/// The letter of a drive, whatever its label.
fn drive(name: &str) -> Option<char> {
    let mut letters = name.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    (letters.next() == Some(':')).then_some(letter)
}

/// What `--map` is to replace for a target by its whole name: the label of a drive says nothing.
pub fn mapped_name(from: &str) -> &str {
    let labelled = drive(from).is_some() && from[2..].trim_start().starts_with('"');
    if labelled { &from[..2] } else { from }
}
