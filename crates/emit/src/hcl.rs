//! Terraform's language, laid out as its own formatter does.

use std::fmt::Write as _;

/// A line or a block of a body.
pub enum Item {
    /// `name = value`; neighbours have their `=` in one column.
    Set(String, String),
    /// A block with its header.
    Block(String, Vec<Item>),
    /// A value of several lines, such as an object: what stands before it, its body, what stands after it.
    Object(String, Vec<Item>, &'static str),
    /// A comment.
    Comment(String),
}

/// `name = value`.
pub fn set(name: &str, value: impl Into<String>) -> Item {
    Item::Set(name.to_owned(), value.into())
}

/// A block.
pub fn block(header: &str, body: Vec<Item>) -> Item {
    Item::Block(header.to_owned(), body)
}

/// Writes a body at a depth of indentation.
pub fn write(text: &mut String, body: &[Item], depth: usize) {
    let margin = "  ".repeat(depth);
    for (index, item) in body.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| body.get(before));
        let close = matches!(
            (before, item),
            (None | Some(Item::Comment(_)), _)
                | (Some(Item::Set(..)), Item::Set(..) | Item::Object(..))
        );
        if !close {
            text.push('\n');
        }
        match item {
            Item::Comment(comment) => {
                let _ = writeln!(text, "{margin}# {comment}");
            }
            Item::Set(name, value) => {
                let width = column(body, index);
                let _ = writeln!(text, "{margin}{name:width$} = {value}");
            }
            Item::Block(header, inner) => {
                let _ = writeln!(text, "{margin}{header} {{");
                write(text, inner, depth + 1);
                let _ = writeln!(text, "{margin}}}");
            }
            Item::Object(head, inner, tail) => {
                let _ = writeln!(text, "{margin}{head}");
                write(text, inner, depth + 1);
                let _ = writeln!(text, "{margin}{tail}");
            }
        }
    }
}

/// Width of the names of the run of settings that one stands in.
fn column(body: &[Item], index: usize) -> usize {
    let width = |item: &Item| match item {
        Item::Set(name, _) => Some(name.chars().count()),
        _ => None,
    };
    let after = body[index..].iter().map_while(width);
    let before = body[..index].iter().rev().map_while(width);
    before.chain(after).max().unwrap_or(0)
}
