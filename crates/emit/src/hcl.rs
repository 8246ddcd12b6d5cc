//! Terraform's language, laid out as its own formatter does.

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
        let apart = match (before, item) {
            (None | Some(Item::Comment(_)), _) => false,
            (Some(Item::Set(..)), Item::Set(..) | Item::Object(..)) => false,
            _ => true,
        };
        if apart {
            text.push('\n');
        }
        match item {
            Item::Comment(comment) => text.push_str(&format!("{margin}# {comment}\n")),
            Item::Set(name, value) => {
                let width = column(body, index);
                text.push_str(&format!("{margin}{name:width$} = {value}\n"));
            }
            Item::Block(header, inner) => {
                text.push_str(&format!("{margin}{header} {{\n"));
                write(text, inner, depth + 1);
                text.push_str(&format!("{margin}}}\n"));
            }
            Item::Object(head, inner, tail) => {
                text.push_str(&format!("{margin}{head}\n"));
                write(text, inner, depth + 1);
                text.push_str(&format!("{margin}{tail}\n"));
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
