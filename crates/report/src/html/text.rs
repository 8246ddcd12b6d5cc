//! Text for a page: nothing of a record may become markup.

/// `text` with what HTML would read as markup written as references; control characters become a replacement mark.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(character),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// A row of cells: the first names the row, the others are figures.
pub(super) fn row(name: &str, figures: &[String]) -> String {
    let mut row = format!("<tr><th scope=\"row\">{}</th>", escaped(name));
    for figure in figures {
        row.push_str("<td>");
        row.push_str(&escaped(figure));
        row.push_str("</td>");
    }
    row.push_str("</tr>\n");
    row
}

/// A table with a heading for each column; the first heads the names.
pub(crate) fn table(headings: &[&str], rows: &str) -> String {
    let cells = headings
        .iter()
        .map(|heading| format!("<th scope=\"col\">{}</th>", escaped(heading)));
    let cells: String = cells.collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(
            escaped("<script>\"a\" & 'b'\u{1b}[2J"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd}[2J"
        );
        assert!(row("<b>", &["<i>".to_owned()]).contains("&lt;b&gt;</th><td>&lt;i&gt;"));
    }
}
