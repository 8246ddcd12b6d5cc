//! Notes of several hosts.

use fathom_units::Nanos;

use super::HostPart;
use super::window::HostStage;
use crate::StageRecord;

/// Notes of all records, and what is to be known of the hosts' clocks.
pub(super) fn merged(parts: &[HostPart], stages: &[StageRecord]) -> Vec<String> {
    let notes = parts
        .iter()
        .map(|part| (part.host.as_str(), part.record.notes.as_slice()));
    let mut notes = of_hosts(&notes.collect::<Vec<_>>());
    notes.extend(of_clocks(stages));
    notes
}

/// Notes of a stage.
pub(super) fn of_stage(hosts: &[HostStage<'_>]) -> Vec<String> {
    let notes = hosts
        .iter()
        .map(|host| (host.host, host.stage.notes.as_slice()));
    of_hosts(&notes.collect::<Vec<_>>())
}

/// A note that all hosts have once, others with their host.
fn of_hosts(hosts: &[(&str, &[String])]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for (host, notes) in hosts {
        for note in *notes {
            let by_all = hosts.iter().all(|(_, others)| others.contains(note));
            let words = if by_all {
                note.clone()
            } else {
                format!("{host}: {note}")
            };
            if !told.contains(&words) {
                told.push(words);
            }
        }
    }
    told
}

/// How well starts on several hosts can be compared.
fn of_clocks(stages: &[StageRecord]) -> Vec<String> {
    let hosts = || stages.iter().filter_map(|stage| stage.hosts.as_ref());
    let bound = hosts().filter_map(|hosts| hosts.clock_bound_ns).max();
    let mut notes = Vec::new();
    if let Some(bound) = bound {
        let bound = Nanos::new(bound);
        notes.push(format!(
            "the hosts' starts are compared to within ± {bound}"
        ));
    } else if hosts().any(|hosts| hosts.start_skew_ns.is_some()) {
        notes.push(
            "the hosts' starts are compared by their wall clocks, which are as good as what keeps them together (NTP: mostly \
             within a few milliseconds)"
                .to_owned(),
        );
    }
    let unknown = stages.iter().filter_map(|stage| {
        let each = &stage.hosts.as_ref()?.each;
        let host = each.iter().find(|host| host.after_ns.is_none())?;
        Some(format!(
            "when `{}` began `{}` is not known; it is taken to have begun with the first host",
            host.host, stage.name
        ))
    });
    notes.extend(unknown);
    notes
}
