//! Which machines mount an NFS volume or a share, and how far they are from it.

use fathom_catalog::Catalog;
use fathom_diagnostics::nearest;
use fathom_units::Nanos;

use super::globs::{is_pattern, matches};
use super::names::expand;
use super::values::{mount_of, origin_of};
use super::{check_name, too_many};
use crate::design::{AnyVolume, Client, ClientId, Design, FigureOrigin, Mount};
use fathom_tables::{At, Complaints, Entry};

/// Longest round trip.
const LONGEST: Nanos = Nanos::from_secs(10);
/// Most mounts of NFS volumes and shares in a design, over all machines.
const MOST_MOUNTS: usize = 100_000;

/// A round trip and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RoundTrip {
    time: Nanos,
    origin: FigureOrigin,
}

/// The round trip of the machines whose names a pattern describes.
struct Rule {
    pattern: String,
    rtt: RoundTrip,
}

/// What `rtt` says.
enum Distance {
    /// The same for all.
    All(RoundTrip),
    /// One for each of a set of names.
    Rules(Vec<Rule>),
}

/// Reads `on` and `rtt`: the machines that mount the entry's volume.
pub(super) fn read(
    entry: &Entry<'_>,
    design: &Design,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Vec<Client> {
    let ids = read_machines(entry, design, complaints);
    let Some(distance) = read_distance(entry, catalog, complaints) else {
        return Vec::new();
    };
    let name = |id: &ClientId| id.index().map_or("", |index| &design.vms[index].name);
    if let Distance::Rules(rules) = &distance {
        let names: Vec<_> = ids.iter().map(name).collect();
        check_rules(entry, rules, &names, complaints);
    }
    let clients = ids.iter().filter_map(|id| {
        let rtt = match &distance {
            Distance::All(rtt) => *rtt,
            Distance::Rules(rules) => rule_for(entry, rules, name(id), complaints)?,
        };
        Some(Client {
            id: *id,
            rtt: rtt.time,
            rtt_origin: rtt.origin,
        })
    });
    clients.collect()
}

/// The machines of `on`, in the order of the design; all of them where it is absent.
fn read_machines(
    entry: &Entry<'_>,
    design: &Design,
    complaints: &mut Complaints<'_>,
) -> Vec<ClientId> {
    let all = || (0..design.vms.len()).map(|index| ClientId::new(index as u32));
    if !entry.has("on") {
        return all().collect();
    }
    let Some(texts) = entry.texts("on", complaints) else {
        return Vec::new();
    };
    let mut named = vec![false; design.vms.len()];
    for text in &texts {
        for [pattern] in expand([text], complaints) {
            let mut found = false;
            for (index, vm) in design.vms.iter().enumerate() {
                if matches(&pattern, &vm.name) {
                    (named[index], found) = (true, true);
                }
            }
            if !found {
                let message =
                    format!("`on` has `{pattern}`, but no machine of the design is named so");
                let names = design.vms.iter().map(|vm| vm.name.as_str());
                let hint = nearest(&pattern, names).map_or_else(
                    || "name machines of the design, or patterns such as `vm*`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                complaints.error(&text.span, message, &hint);
            }
        }
    }
    all()
        .zip(named)
        .filter_map(|(id, named)| named.then_some(id))
        .collect()
}

/// `rtt = "0.5ms"`, `rtt = "far"`, or `rtt = { "vm*" = "near", vm9 = "2ms" }`; near where it is absent, `None` where it is
/// wrong.
fn read_distance(
    entry: &Entry<'_>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<Distance> {
    let Some(value) = entry.table.get("rtt") else {
        let row = catalog.round_trip("near").ok()?;
        return Some(Distance::All(RoundTrip {
            time: row.rtt,
            origin: origin_of(row.assumed),
        }));
    };
    if value.get_ref().is_str() {
        let text = entry.text("rtt", complaints)?;
        return round_trip(&text, catalog, complaints).map(Distance::All);
    }
    let table = entry.table("rtt", "round trips by machine", complaints)?;
    let mut rules = Vec::new();
    for key in table.table.keys() {
        let at = At {
            value: key.get_ref().as_ref(),
            span: key.span(),
        };
        let text = table.text(at.value, complaints)?;
        let rtt = round_trip(&text, catalog, complaints)?;
        let patterns = expand([&at], complaints).into_iter();
        rules.extend(patterns.map(|[pattern]| Rule { pattern, rtt }));
    }
    Some(Distance::Rules(rules))
}

fn round_trip(
    text: &At<&str>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<RoundTrip> {
    if let Ok(row) = catalog.round_trip(text.value) {
        return Some(RoundTrip {
            time: row.rtt,
            origin: origin_of(row.assumed),
        });
    }
    match text.value.parse::<Nanos>() {
        Ok(time) if time <= LONGEST => Some(RoundTrip {
            time,
            origin: FigureOrigin::Design,
        }),
        Ok(_) => {
            let message = format!("a round trip of more than {LONGEST}");
            let hint =
                "write the time from request to answer of one small packet, as `ping` shows it";
            complaints.error(&text.span, message, hint);
            None
        }
        Err(_) => {
            let message = format!("`{}` is no round trip", text.value);
            let hint = "write a time such as `0.5ms`, `near` or `far`";
            complaints.error(&text.span, message, hint);
            None
        }
    }
}

/// Every rule is for some machine.
fn check_rules(entry: &Entry<'_>, rules: &[Rule], names: &[&str], complaints: &mut Complaints<'_>) {
    for rule in rules {
        if !names.iter().any(|name| matches(&rule.pattern, name)) {
            let message = format!(
                "`rtt` has `{}`, which none of its machines is named",
                rule.pattern
            );
            complaints.error(&entry.span_of("rtt"), message, "leave it out");
        }
    }
}

/// The rule for a machine: that of its own name before patterns, which must agree.
fn rule_for(
    entry: &Entry<'_>,
    rules: &[Rule],
    name: &str,
    complaints: &mut Complaints<'_>,
) -> Option<RoundTrip> {
    if let Some(own) = rules.iter().find(|rule| rule.pattern == name) {
        return Some(own.rtt);
    }
    let mut fitting = rules
        .iter()
        .filter(|rule| is_pattern(&rule.pattern) && matches(&rule.pattern, name));
    let first = fitting.next();
    let problem = match first {
        None => format!("`rtt` says nothing of `{name}`"),
        Some(first) if fitting.any(|rule| rule.rtt != first.rtt) => {
            format!("`rtt` has several patterns for `{name}`, which do not agree")
        }
        Some(first) => return Some(first.rtt),
    };
    let hint = "name the machine itself, or add `\"*\" = \"near\"`";
    complaints.error(&entry.span_of("rtt"), problem, hint);
    None
}

/// The mount of one volume or share, with complaints about its name, its mount and the number of them.
///
/// `None` where the mount is none; nothing more goes in where `complaints` are full.
pub(super) fn place(
    entry: &Entry<'_>,
    (name, mount): (&str, &str),
    clients: &[Client],
    design: &Design,
    complaints: &mut Complaints<'_>,
) -> Option<Mount> {
    if too_many(design.volume_count() + 1, entry, complaints) {
        return None;
    }
    let mount = mount_of(mount, entry, complaints)?;
    check_name(entry, name, design, complaints);
    check_mount(entry, &mount, clients, design, complaints);
    Some(mount)
}

/// Complains where the mount of a volume or share is another's on one of its machines, or where there are too many
/// mounts.
fn check_mount(
    entry: &Entry<'_>,
    mount: &Mount,
    clients: &[Client],
    design: &Design,
    complaints: &mut Complaints<'_>,
) {
    let mounts = |volume: AnyVolume<'_>| volume.network_clients().len();
    let before: usize = design.volumes().map(mounts).sum();
    if before + clients.len() > MOST_MOUNTS && !complaints.full {
        complaints.full = true;
        let message =
            format!("the machines of the design have more than {MOST_MOUNTS} network mounts");
        complaints.error(&entry.span(), message, "name fewer machines in `on`");
    }
    let has = |id: ClientId| clients.iter().any(|client| client.id == id);
    let taken = design.volumes().find(|other| {
        other.mount() == mount
            && match other {
                AnyVolume::Disks(at, _) => has(*at),
                AnyVolume::Device(_) => true,
                network => {
                    let others = network.network_clients();
                    let nobody = clients.is_empty() && others.is_empty();
                    nobody || others.iter().any(|client| has(client.id))
                }
            }
    });
    if let Some(other) = taken {
        let message = format!("the mount `{mount}` is that of `{}` already", other.name());
        complaints.error(&entry.span(), message, "mounts are unique on each machine");
    }
}
