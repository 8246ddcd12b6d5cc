//! What `fathom probe` shows of exports of NBD servers.

use fathom_engine::{ExportFacts, TargetKind};
use fathom_report::Lines;
use fathom_units::Bytes;

use super::text::row;

/// Most names of exports that are shown.
const NAMES_SHOWN: usize = 20;

/// The lines of an export, or of a server; none of other targets.
pub(super) fn write(lines: &mut Lines, kind: &TargetKind) {
    match kind {
        TargetKind::Export(facts) => of_export(lines, facts),
        TargetKind::NbdServer { server, names } => {
            row(lines, "server", server);
            row(lines, "exports", &listed(names));
        }
        _ => {}
    }
}

fn of_export(lines: &mut Lines, facts: &ExportFacts) {
    let name = match facts.name.as_str() {
        "" => "its default export".to_owned(),
        name => format!("export `{name}`"),
    };
    row(lines, "server", &format!("{}, {name}", facts.server));
    if facts.others.iter().any(|other| *other != facts.name) {
        row(lines, "exports", &listed(&facts.others));
    }
    row(lines, "blocks", &blocks(facts));
    let (has, lacks) = requests(facts);
    row(lines, "requests", &has);
    if !lacks.is_empty() {
        row(lines, "", &format!("not: {lacks}"));
    }
    let connections = if facts.offer.flags.has_multi_conn() {
        "several see the same data (multi-conn)"
    } else {
        "the server does not promise that several see the same data (no multi-conn): write over one"
    };
    row(lines, "connections", connections);
    let replies = match facts.has_structured_replies {
        Some(true) => "can be structured",
        Some(false) => "simple ones alone",
        None => "simple ones alone, of a server that is asked in the oldest way",
    };
    row(lines, "replies", replies);
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN);
    let shown: Vec<_> = shown.map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

fn blocks(facts: &ExportFacts) -> String {
    let blocks = facts.offer.blocks;
    let [least, best, most] =
        [blocks.minimum, blocks.preferred, blocks.maximum].map(|size| Bytes::new(size.into()));
    if blocks.told {
        format!("multiples of {least}, best of {best}; requests up to {most}")
    } else {
        format!("sizes are not told; requests up to {most} are sent to such servers")
    }
}

/// What can be asked of an export, and what cannot.
fn requests(facts: &ExportFacts) -> (String, String) {
    let flags = facts.offer.flags;
    let writes = !flags.is_read_only();
    let all = [
        ("read", true),
        ("write", writes),
        ("flush", flags.has_flush()),
        ("durable writes (FUA)", writes && flags.has_fua()),
        ("trim", writes && flags.has_trim()),
        ("write zeroes", writes && flags.has_write_zeroes()),
    ];
    let of = |wanted: bool| {
        let some = all.iter().filter(|(_, has)| *has == wanted);
        some.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    (of(true), of(false))
}

/// How a run that destroys nothing can be begun on an export; `uri` as a shell takes it.
pub(super) fn next(uri: &str) -> String {
    format!(
        "`fathom run fio --name=read --rw=randread --bs=4k --iodepth=32 --ioengine=nbd \
         --runtime=30 --time_based --uri={uri}`, which only reads"
    )
}
