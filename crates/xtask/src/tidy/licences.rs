//! Licences of everything that is linked in, held against the list in `deny.toml`.

use std::path::Path;

use serde_json::Value;

use super::{Finding, read};
use crate::command::output;

pub fn check(root: &Path) -> Result<Vec<Finding>, String> {
    let deny: toml::Table = toml::from_str(&read(&root.join("deny.toml"))?)
        .map_err(|error| format!("deny.toml: {error}"))?;
    let allowed = deny
        .get("licenses")
        .and_then(|licences| licences.get("allow"))
        .and_then(toml::Value::as_array);
    let allowed: Vec<&str> = allowed
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .collect();
    let metadata = output("cargo", &["metadata", "--format-version", "1", "--locked"])?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata: no packages")?;
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let foreign = packages
        .iter()
        .filter(|package| !package["source"].is_null());
    let refused = foreign.filter(|package| !is_allowed(&text(package, "license"), &allowed));
    Ok(refused
        .map(|package| {
            let (name, licence) = (text(package, "name"), text(package, "license"));
            format!("{name}: licence `{licence}` is not allowed by deny.toml")
        })
        .collect())
}

/// Whether an SPDX expression can be met with the allowed licences: each term joined by AND needs one of its OR terms.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let every_part = |part: &str| {
        part.split(" OR ")
            .any(|licence| allowed.contains(&licence.trim()))
    };
    !plain.trim().is_empty() && plain.split(" AND ").all(every_part)
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn expressions_are_judged() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"];
        assert!(is_allowed("MIT OR Apache-2.0", &allowed));
        assert!(is_allowed("GPL-3.0 OR MIT", &allowed));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0", &allowed));
        assert!(is_allowed("MIT/Apache-2.0", &allowed));
        assert!(!is_allowed("GPL-3.0", &allowed));
        assert!(!is_allowed("MIT AND GPL-3.0", &allowed));
        assert!(!is_allowed("", &allowed));
    }
}
