//! Several machines as one environment.

use serde_json::{Map, Value};

use super::HostPart;

/// What all machines have in common, `null` for what differs, and in `hosts` each machine by itself.
pub(super) fn merged(parts: &[HostPart]) -> Value {
    let mut common = Map::new();
    for (index, part) in parts.iter().enumerate() {
        for (key, value) in part.record.environment.as_object().into_iter().flatten() {
            let known = common.get(key).cloned();
            let value = match known {
                Some(known) if known == *value => known,
                None if index == 0 => value.clone(),
                _ => Value::Null,
            };
            common.insert(key.clone(), value);
        }
    }
    let hosts = parts
        .iter()
        .map(|part| (part.host.clone(), part.record.environment.clone()));
    common.insert("hosts".to_owned(), Value::Object(hosts.collect()));
    Value::Object(common)
}
