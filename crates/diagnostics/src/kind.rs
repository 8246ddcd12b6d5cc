//! Which of Fathom's TOML files a file is, where it stands in place of another.
//!
//! A profile given for a workload would be told key by key that it is none. Each kind has a table that no other has.

use crate::{Diagnostic, Diagnostics};

/// Tables, the kind of file that alone has them, and what takes such a file.
const KINDS: [(&[&str], &str, &str); 5] = [
    (
        &["stage"],
        "workload",
        "`fathom run` and `fathom predict` take workloads",
    ),
    (
        &["vm", "device", "nfs", "smb"],
        "design",
        "`fathom predict --on` and `fathom serve` take designs",
    ),
    (
        &["volume"],
        "profile",
        "`fathom plan` makes a design and a workload of a profile, and `--need` takes one",
    ),
    (
        &["price"],
        "price list",
        "`fathom plan --prices` takes price lists",
    ),
    (
        &["fault"],
        "fault script",
        "`fathom serve --faults` takes fault scripts",
    ),
];

/// The one complaint about `file`, whose top tables and keys are `keys`, where a `wanted` kind was asked for and it is
/// another; `None` where it may be of that kind.
pub fn another_kind<'a>(
    file: &str,
    wanted: &str,
    keys: impl IntoIterator<Item = &'a str>,
) -> Option<Diagnostics> {
    let keys: Vec<&str> = keys.into_iter().collect();
    let has = |kind: &(&[&str], &str, &str)| kind.0.iter().any(|table| keys.contains(table));
    let mut found = KINDS.iter().filter(|kind| has(kind));
    let (first, second) = (found.next()?, found.next());
    if first.1 == wanted || second.is_some() {
        return None;
    }
    let complaint = Diagnostic::error(format!("`{file}` is a {}, no {wanted}", first.1));
    Some(Diagnostics(vec![complaint.hint(first.2)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, keys: &[&str], expected: Option<&str>) {
        let found = another_kind("x.toml", wanted, keys.iter().copied());
        let found = found.map(|found| found.to_string());
        match (&found, expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => assert!(found.contains(expected), "{found}"),
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn a_file_of_another_kind_is_named() {
        check(
            "workload",
            &["name", "volume"],
            Some("`x.toml` is a profile, no workload"),
        );
        check("profile", &["vm"], Some("is a design, no profile"));
        check(
            "design",
            &["seed", "stage"],
            Some("`fathom run` and `fathom predict`"),
        );
        check(
            "price list",
            &["fault"],
            Some("is a fault script, no price list"),
        );
        check("design", &["device", "name"], None);
        // What is both, or neither, is told key by key.
        check("profile", &["volume", "vm"], None);
        check("design", &["stage", "price"], None);
        check("design", &["name"], None);
    }
}
