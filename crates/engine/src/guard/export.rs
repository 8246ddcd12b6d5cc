//! Whether an export of an NBD server may be written to.
//!
//! What uses it, and what it holds to others, only its server knows: so it is to be named by the very URI that the workload
//! has, which nobody gives by mistake for something else.

use crate::Refusal;

/// Judges the export with this URI, given the names of `--destroy-data`.
///
/// # Errors
/// Where nobody asked for it.
pub(crate) fn judge_export(uri: &str, destroy_data: &[String]) -> Result<(), Refusal> {
    if destroy_data.iter().any(|name| name == uri) {
        return Ok(());
    }
    let mut found = vec![
        "it is an export of an NBD server: writing to it destroys what it holds, and nobody asked for that"
            .to_owned(),
    ];
    for other in destroy_data {
        found.push(format!("`--destroy-data={other}` does not name it"));
    }
    Err(Refusal {
        path: uri.to_owned(),
        found,
        remedy: format!("to destroy all data of the export, add `--destroy-data='{uri}'`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_named_by_its_whole_uri() {
        let uri = "nbd+unix:///data?socket=/run/s";
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert!(judge_export(uri, &names(&["sda", uri])).is_ok());
        let refusal = judge_export(uri, &names(&["nbd+unix:///data"])).unwrap_err();
        assert_eq!(
            refusal.remedy,
            "to destroy all data of the export, add `--destroy-data='nbd+unix:///data?socket=/run/s'`"
        );
        assert_eq!(
            refusal.found[1],
            "`--destroy-data=nbd+unix:///data` does not name it"
        );
    }
}
