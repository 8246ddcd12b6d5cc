//! What Vdbench's files say of hosts (`hd=`) beyond their names, which is all that a workload knows of them.

use std::collections::BTreeSet;

use fathom_dialects::vdbench::Host;

use crate::Dialect;
use crate::loss::{Loss, Place, Weight};

/// What of these hosts no text says: how they are reached, and what runs there. A parameter file that is written anew reaches
/// other machines than before, or none; other dialects name hosts at most.
pub fn untold(hosts: &[Host], to: Dialect) -> Vec<Loss> {
    let said: Vec<(&str, BTreeSet<&str>)> = hosts
        .iter()
        .map(|host| (host.label.as_str(), said_of(host)))
        .filter(|(_, keys)| !keys.is_empty())
        .collect();
    let Some((first, _)) = said.first() else {
        return Vec::new();
    };
    let keys: BTreeSet<&str> = said.iter().flat_map(|(_, keys)| keys).copied().collect();
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}=`")).collect();
    let more = match said.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let weight = match to {
        Dialect::Vdbench => Weight::Lost,
        _ => Weight::Differs,
    };
    vec![Loss {
        weight,
        place: Place::Workload,
        key: "host".to_owned(),
        message: format!(
            "{} of `hd={first}`{more} become nothing: a workload knows hosts by their names alone",
            keys.join(", ")
        ),
    }]
}

/// The keywords of a host that were given and say more than its name.
fn said_of(host: &Host) -> BTreeSet<&'static str> {
    let Host {
        label,
        system,
        user,
        shell,
        vdbench,
        jvms,
        mount,
        master,
        given: _,
        at: _,
    } = host;
    let said = [
        ("system", system != label),
        ("user", user.is_some()),
        // What is taken where nothing is said.
        ("shell", shell != "rsh"),
        ("vdbench", vdbench.is_some()),
        ("jvms", jvms.is_some()),
        ("mount", mount.is_some()),
        ("master", master.is_some()),
    ];
    said.into_iter()
        .filter_map(|(key, is_said)| is_said.then_some(key))
        .collect()
}
