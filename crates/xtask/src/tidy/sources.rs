//! Rules on the text of source files.

use std::path::Path;

use super::{Finding, read, tracked_files};

/// A text that may stand only in some places, and why.
struct Rule {
    pattern: &'static str,
    /// Beginnings of the paths where it may stand.
    allowed: &'static [&'static str],
    reason: &'static str,
}

const RULES: [Rule; 12] = [
    Rule {
        pattern: concat!("uns", "afe {"),
        allowed: &["crates/rawio/"],
        reason: "rawio is the only crate with unsafe code",
    },
    Rule {
        pattern: concat!("uns", "afe fn"),
        allowed: &["crates/rawio/"],
        reason: "rawio is the only crate with unsafe code",
    },
    Rule {
        pattern: concat!("print", "ln!("),
        allowed: PRINTERS,
        reason: "only the cli prints",
    },
    Rule {
        pattern: concat!("io::std", "out()"),
        allowed: PRINTERS,
        reason: "only the cli prints",
    },
    Rule {
        pattern: concat!("io::std", "err()"),
        allowed: PRINTERS,
        reason: "only the cli prints",
    },
    Rule {
        pattern: concat!("Instant::", "now"),
        allowed: CLOCKS,
        reason: "clocks are read through `rawio::Clock`",
    },
    Rule {
        pattern: concat!("SystemTime::", "now"),
        allowed: CLOCKS,
        reason: "clocks are read through `rawio::Clock`",
    },
    Rule {
        pattern: concat!("clock_get", "time"),
        allowed: CLOCKS,
        reason: "clocks are read through `rawio::Clock`",
    },
    Rule {
        pattern: concat!("to", "do!("),
        allowed: &[],
        reason: "nothing lands unfinished",
    },
    Rule {
        pattern: concat!("unimplem", "ented!("),
        allowed: &[],
        reason: "nothing lands unfinished",
    },
    Rule {
        pattern: concat!("#[ign", "ore"),
        allowed: &[],
        reason: "a test that does not run is none",
    },
    Rule {
        pattern: concat!("#[al", "low("),
        allowed: &[],
        reason: "use `#[expect(…, reason = \"…\")]`",
    },
];

/// A build script speaks to cargo in this way.
const PRINTERS: &[&str] = &[
    "crates/cli/",
    "crates/cluster/src/console.rs",
    "crates/xtask/",
    "crates/fuzz/src/main.rs",
    "crates/session/build.rs",
];
const CLOCKS: &[&str] = &[
    "crates/rawio/src/clock",
    "crates/cli/tests/",
    "crates/xtask/",
    "crates/fuzz/",
    "clippy.toml",
];
/// Longest file, tests left out.
const MOST_LINES: usize = 1000;
/// Most lines of the binary: it wires, it holds no logic.
const MOST_CLI_LINES: usize = 1500;

pub fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    let mut cli_lines = 0;
    for path in tracked_files(root, &["rs"])? {
        let text = read(&path)?;
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        findings.extend(check_text(&name, &text));
        let lines = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default()
            .lines()
            .count();
        if lines > MOST_LINES && !name.contains("/tests/") {
            findings.push(format!(
                "{name}: {lines} lines without tests; {MOST_LINES} is the most: split it"
            ));
        }
        if name.starts_with("crates/cli/src/") {
            cli_lines += lines;
        }
        if name.contains("/src/") && !text.starts_with("//!") {
            findings.push(format!("{name}: no module header"));
        }
    }
    if cli_lines > MOST_CLI_LINES {
        findings.push(format!(
            "crates/cli: {cli_lines} lines; {MOST_CLI_LINES} is the most: logic belongs elsewhere"
        ));
    }
    Ok(findings)
}

fn check_text(name: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for rule in &RULES {
            // What a test prints is for whoever reads its output, its own children among them.
            let test_prints = rule.allowed == PRINTERS && name.contains("/tests/");
            let allowed = test_prints || rule.allowed.iter().any(|place| name.starts_with(place));
            if !allowed && code.contains(rule.pattern) {
                findings.push(format!(
                    "{name}:{}: `{}`: {}",
                    index + 1,
                    rule.pattern,
                    rule.reason
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check_text;

    #[track_caller]
    fn check(name: &str, text: &str, findings: usize) {
        assert_eq!(check_text(name, text).len(), findings, "{name}: {text}");
    }

    #[test]
    fn rules_hold_in_their_places() {
        let printing = concat!("print", "ln!(\"x\");");
        check("crates/report/src/lib.rs", printing, 1);
        check("crates/cli/src/main.rs", printing, 0);
        check("crates/report/src/lib.rs", &format!("// {printing}"), 0);
        let clock = concat!("Instant::", "now()");
        check("crates/sim/src/lib.rs", clock, 1);
        check("crates/rawio/src/clock.rs", clock, 0);
    }
}
