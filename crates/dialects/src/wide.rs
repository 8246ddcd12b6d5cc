//! Texts in UTF-16 where a peer reads UTF-8 alone, and why they are refused.
//!
//! A lexer's text has another character in place of bytes that are no UTF-8, so the encoding is told by what is left.

use fathom_diagnostics::Diagnostic;

/// Stands for bytes that are no UTF-8, as the two of UTF-16's mark are.
const REPLACED: char = char::REPLACEMENT_CHARACTER;
/// Characters that are enough to tell an encoding by.
const LOOKED_AT: usize = 64;

/// What is wrong where `text`, which stands at `path`, is in UTF-16; `peer` reads UTF-8 alone.
pub(crate) fn refused(path: &str, text: &str, peer: &str) -> Option<Diagnostic> {
    let encoding = encoding_of(text)?;
    let message = format!("`{path}` is in UTF-16, and {peer} reads UTF-8 alone");
    let name = if path == "-" { "FILE" } else { path };
    let hint = format!("save it as UTF-8, such as with `iconv -f {encoding} -t UTF-8 {name}`");
    Some(Diagnostic::error(message).hint(hint))
}

/// What `iconv` calls the encoding of a text in UTF-16: it begins with its mark, or every other byte of it is zero.
fn encoding_of(text: &str) -> Option<&'static str> {
    let mut first = text.chars();
    if (first.next(), first.next()) == (Some(REPLACED), Some(REPLACED)) {
        return Some("UTF-16");
    }
    let zero_at = |parity: usize| {
        // Less is chance.
        if text.len() < 4 {
            return false;
        }
        let start = text.chars().take(LOOKED_AT);
        let mut start = start.enumerate();
        start.all(|(place, found)| (found == '\0') == (place % 2 == parity))
    };
    [(1, "UTF-16LE"), (0, "UTF-16BE")]
        .into_iter()
        .find_map(|(parity, name)| zero_at(parity).then_some(name))
}
