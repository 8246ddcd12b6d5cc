//! XML as DISKSPD writes it: two blanks a level, no declaration, every element on a line.

mod profile;
mod read;

use std::fmt::{Display, Write as _};

pub use profile::write as write_profile;
pub use read::{Substitutes, decode, read};

/// Lines of XML.
#[derive(Debug, Default)]
pub struct Xml {
    text: String,
    indent: usize,
}

impl Xml {
    /// Nothing yet, `indent` blanks in.
    pub fn at(indent: usize) -> Self {
        Self {
            text: String::new(),
            indent,
        }
    }

    /// What was written.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The start tag of `name`, which may hold attributes; what follows stands within.
    pub fn open(&mut self, name: impl Display) {
        let _ = writeln!(self.text, "{:1$}<{name}>", "", self.indent);
        self.indent += 2;
    }

    /// Its end tag.
    pub fn close(&mut self, name: &str) {
        self.indent = self.indent.saturating_sub(2);
        let _ = writeln!(self.text, "{:1$}</{name}>", "", self.indent);
    }

    /// An element with a value alone.
    pub fn leaf(&mut self, name: &str, value: impl Display) {
        self.open_leaf(name, name, value);
    }

    /// The same, with attributes in its start tag.
    pub fn open_leaf(&mut self, tag: impl Display, name: &str, value: impl Display) {
        let value = escape(&value.to_string());
        let _ = writeln!(self.text, "{:1$}<{tag}>{value}</{name}>", "", self.indent);
    }

    /// An element that is empty but for attributes.
    pub fn empty(&mut self, tag: impl Display) {
        let _ = writeln!(self.text, "{:1$}<{tag}/>", "", self.indent);
    }

    /// Lines that are indented already.
    pub fn lines(&mut self, lines: &str) {
        self.text.push_str(lines);
    }
}

/// `text` within an element or an attribute. Characters that XML has no place for become question marks.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(one),
            one if one.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&one) => {
                escaped.push('?');
            }
            one => escaped.push(one),
        }
    }
    escaped
}
