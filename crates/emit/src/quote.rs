//! Values as literals of the languages that scripts are written in.
//!
//! Invariant: whatever a value holds, it stays a value: no quote ends it, nothing in it is expanded.

use std::fmt::Write as _;

/// A word of a POSIX shell.
pub fn sh(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A string of PowerShell, which ends single quotes by any of five characters.
pub fn powershell(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        if matches!(letter, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(letter);
        }
        quoted.push(letter);
    }
    quoted.push('\'');
    quoted
}

/// A string of Terraform's language, where `${` and `%{` begin templates.
pub fn hcl(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '$' | '%' if letters.peek() == Some(&'{') => quoted.extend([letter, letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// A string of Bicep, where `${` begins an expression.
pub fn bicep(text: &str) -> String {
    let mut quoted = String::from("'");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            '$' if letters.peek() == Some(&'{') => quoted.push_str("\\$"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{{{:x}}}", u32::from(control));
            }
            plain => quoted.push(plain),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORST: &str = "a'b\"c$(id)`id`${x}%{x}\\\n\u{2019}$";

    #[test]
    fn every_language_keeps_a_value_a_value() {
        assert_eq!(sh(WORST), "'a'\\''b\"c$(id)`id`${x}%{x}\\\n\u{2019}$'");
        assert_eq!(
            powershell(WORST),
            "'a''b\"c$(id)`id`${x}%{x}\\\n\u{2019}\u{2019}$'"
        );
        assert_eq!(
            hcl(WORST),
            "\"a'b\\\"c$(id)`id`$${x}%%{x}\\\\\\n\u{2019}$\""
        );
        assert_eq!(
            bicep(WORST),
            "'a\\'b\"c$(id)`id`\\${x}%{x}\\\\\\n\u{2019}$'"
        );
    }

    #[test]
    fn a_shell_gives_the_value_back() {
        let script = format!("printf %s {}", sh(WORST));
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .output();
        let output = output.expect("bash runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), WORST);
    }
}
