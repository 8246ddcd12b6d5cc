//! Job files that are no text, and why one cannot be read.
//!
//! Bytes that are no UTF-8 may stand in a job file, in comments above all, so a lexer's text has another character in their
//! place. A zero byte stands in none: with it every line would be wrong, and one error says it all.

use std::io::{self, ErrorKind};

use fathom_diagnostics::Diagnostic;

use crate::wide;

/// The kernel's number of links in a circle, whose `ErrorKind` is not stable.
const ELOOP: i32 = 40;

/// What is wrong where `text`, which stands at `path`, is no text in one byte a character.
pub(super) fn is_none(path: &str, text: &str) -> Option<Diagnostic> {
    let at = text.find('\0')?;
    if let Some(wide) = wide::refused(path, text, "fio") {
        return Some(wide);
    }
    let line = text[..at].matches('\n').count() + 1;
    let message = format!("`{path}` is no text: its line {line} holds a zero byte");
    Some(Diagnostic::error(message).hint("name a job file"))
}

/// What to do about a job file that cannot be read.
pub(super) fn unread_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::FileTooLarge => {
            "name another file if it is no job file; otherwise share its jobs among several: `fio ONE.fio TWO.fio`"
        }
        ErrorKind::IsADirectory => "name a file in that folder",
        ErrorKind::PermissionDenied => "name a file that you may read, or run as a user who may",
        _ if error.raw_os_error() == Some(ELOOP) => {
            "its links lead in a circle: name the file itself"
        }
        _ => "name an existing job file, or `-` for the standard input",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], message: &str, hint: &str) {
        let found = is_none("a.fio", &String::from_utf8_lossy(bytes)).unwrap();
        let told = found.to_string();
        assert!(told.contains(message), "{told}");
        assert!(told.contains(hint), "{told}");
    }

    fn units(text: &str, of: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(of).collect()
    }

    #[test]
    fn what_is_no_text_is_told_once() {
        let job = "[a]\nsize=1m\n; für später\n";
        let marked = format!("\u{feff}{job}");
        let utf16 = "`a.fio` is in UTF-16";
        let little = |text: &str| units(text, u16::to_le_bytes);
        let big = |text: &str| units(text, u16::to_be_bytes);
        check(&little(&marked), utf16, "`iconv -f UTF-16 -t UTF-8 a.fio`");
        check(&big(&marked), utf16, "`iconv -f UTF-16 -t UTF-8 a.fio`");
        check(&little("[a]\nsize=1m\n"), utf16, "-f UTF-16LE");
        check(&big("[a]\nsize=1m\n"), utf16, "-f UTF-16BE");
        let program = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\x02\0>\0";
        check(program, "its line 1 holds a zero byte", "name a job file");
        check(
            b"[a]\n\0",
            "its line 2 holds a zero byte",
            "name a job file",
        );
        assert!(is_none("a.fio", job).is_none());
        let latin = String::from_utf8_lossy(b"[a]\n; f\xfcr\n").into_owned();
        assert!(is_none("a.fio", &latin).is_none());
    }

    #[test]
    fn what_cannot_be_read_says_what_to_do() {
        let check = |error: io::Error, hint: &str| {
            assert!(unread_hint(&error).contains(hint), "{error}");
        };
        check(ErrorKind::FileTooLarge.into(), "share its jobs");
        check(io::Error::from_raw_os_error(ELOOP), "in a circle");
        check(ErrorKind::NotFound.into(), "name an existing job file");
    }
}
