//! What fio can call a file or a job.

/// Words that fio replaces in a value.
const KEYWORDS: [&str; 4] = ["${", "$pagesize", "$mb_memory", "$ncpus"];
/// Longest name of a section, and of a line with room for its key.
const NAME_MAX: usize = 200;
const VALUE_MAX: usize = 8_000;

/// A list of paths for `filename`, or the path that cannot be written there.
pub fn paths<'a>(paths: impl Iterator<Item = &'a str>) -> Result<String, &'a str> {
    let mut list = Vec::new();
    for path in paths {
        // A backslash at the end would make the colon behind it part of the name.
        if !is_plain(path) || path.ends_with('\\') || path == "-" {
            return Err(path);
        }
        list.push(path.replace(':', "\\:"));
    }
    Ok(list.join(":"))
}

/// Whether fio takes a value as it is.
pub fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= VALUE_MAX
        && value.trim() == value
        && !value.contains([';', '#'])
        && !value.contains(char::is_control)
        && !KEYWORDS.iter().any(|word| value.contains(word))
}

/// A name that a section can have, as near as it can be.
pub fn section(name: &str) -> String {
    // Files may be called after it, so that it must be plain too.
    let mut safe: String = name
        .trim()
        .chars()
        .take(NAME_MAX)
        .map(|c| {
            if c.is_control() || matches!(c, ';' | '#' | '$') {
                '_'
            } else {
                c
            }
        })
        .collect();
    if safe.is_empty() {
        "job".clone_into(&mut safe);
    } else if safe.starts_with("global") {
        safe.insert_str(0, "job ");
    }
    safe
}
