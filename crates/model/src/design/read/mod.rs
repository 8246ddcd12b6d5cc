//! From the text of a design file to a checked design.

mod entry;
mod names;
mod rules;
mod volume;

use fathom_catalog::{Catalog, Era, Limits};
use fathom_diagnostics::{Diagnostic, Diagnostics, Location};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use toml::de::DeTable;

use super::{Burst, Credits, Design, Device, LatencyChoice, LatencyOrigin, Mount, Vm, notes};
use entry::{At, Complaints, Entry, not_built};
use names::expand;

/// Largest design file.
const MOST_BYTES: usize = 4 << 20;
/// Most machines and most volumes (devices counted), so that ranges of names within ranges cannot fill the memory.
const MOST_PARTS: usize = 10_000;

impl Design {
    /// Reads a design. `file` names it in complaints.
    ///
    /// Gives the design and its warnings.
    ///
    /// # Errors
    ///
    /// All complaints at once, at least one of them an error.
    pub fn read(
        text: &str,
        file: &str,
        catalog: &Catalog,
    ) -> Result<(Self, Diagnostics), Diagnostics> {
        if text.len() > MOST_BYTES {
            let message = format!("`{file}` is larger than 4 MiB, which no design needs");
            return Err(Diagnostics(vec![Diagnostic::error(message)]));
        }
        let parsed = DeTable::parse(text).map_err(|error| syntax(file, text, &error))?;
        let mut complaints = Complaints::new(file, text);
        let span = parsed.span();
        let top = Entry::new("a design", parsed.get_ref(), &span);
        top.check_keys(&["vm", "device"], &["nfs", "smb"], &mut complaints);
        let mut design = Self::default();
        for entry in top.tables("vm", "a machine", &mut complaints) {
            read_vm(entry, catalog, &mut design, &mut complaints);
        }
        for entry in top.tables("device", "a device", &mut complaints) {
            read_device(entry, &mut design, &mut complaints);
        }
        if design.volume_count() == 0 && !complaints.found.has_errors() {
            let message = "the design has no volume and no device";
            complaints.error(&(0..0), message, "add a `[[vm]]` with a `[[vm.volume]]`");
        }
        if complaints.found.has_errors() {
            return Err(complaints.found);
        }
        design.notes = notes::notes(&design);
        Ok((design, complaints.found))
    }
}

fn syntax(file: &str, text: &str, error: &toml::de::Error) -> Diagnostics {
    let mut diagnostic = Diagnostic::error(error.message().to_owned());
    if let Some(span) = error.span() {
        diagnostic = diagnostic.at(Location::in_text(file, text, span));
    }
    Diagnostics(vec![diagnostic.hint("a design is written in TOML")])
}

fn read_vm(
    entry: Entry<'_>,
    catalog: &Catalog,
    design: &mut Design,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(
        &["name", "size", "era", "burst", "volume"],
        &["temp"],
        complaints,
    );
    entry.word("burst", &[("off", ())], &["credits"], complaints);
    let name = entry.required_text("name", "name = \"vm1\"", complaints);
    let size = entry.required_text("size", "size = \"Standard_DS14\"", complaints);
    let era = match entry.text("era", complaints) {
        None => Some(Era::CURRENT),
        Some(era) => {
            let known = catalog.era(era.value);
            if known.is_none() {
                let message = format!("the catalogue has no era `{}`", era.value);
                complaints.error(
                    &era.span,
                    message,
                    "eras are `current`, `2020`, `2016` and others",
                );
            }
            known
        }
    };
    let size = match (size, era) {
        (Some(size), Some(era)) => match catalog.vm(era, size.value) {
            Ok(found) => Some(found),
            Err(error) => {
                let hint = error.hint().unwrap_or_default();
                complaints.error(&size.span, error.to_string(), &hint);
                None
            }
        },
        _ => None,
    };
    let mut volumes = Vec::new();
    for entry in entry.tables("volume", "a volume", complaints) {
        volume::read(entry, size, catalog, &mut volumes, complaints);
    }
    if let Some(size) = size {
        rules::check_vm(&entry, size, &volumes, complaints);
    }
    let (Some(name), Some(size)) = (name, size) else {
        return;
    };
    for [name] in expand([&name], complaints) {
        let parts = design.volume_count() + volumes.len();
        if too_many(parts.max(design.vms.len() + 1), &entry, complaints) {
            return;
        }
        if is_taken(design, &name) {
            let message = format!("the name `{name}` is taken");
            complaints.error(&entry.span(), message, "names are unique within a design");
        }
        design.vms.push(Vm {
            name,
            size,
            burst: if size.burst_uncached.is_empty() && size.burst_cached.is_empty() {
                Burst::Off
            } else {
                Burst::Credits
            },
            credits: Credits::FULL,
            volumes: volumes.clone(),
        });
    }
}

fn read_device(entry: Entry<'_>, design: &mut Design, complaints: &mut Complaints<'_>) {
    let known = [
        "name",
        "mount",
        "drive",
        "size",
        "iops",
        "bandwidth",
        "latency",
    ];
    entry.check_keys(&known, &["raid", "burst"], complaints);
    let name = entry.required_text("name", "name = \"san\"", complaints);
    let mount = read_mount(&entry, complaints);
    if !entry.has("size") {
        entry.missing("size", "size = \"2TiB\"", complaints);
    }
    let size = entry.quantity("size", complaints);
    let iops = entry.number("iops", 1..=1_000_000_000, complaints);
    let bandwidth = entry.quantity::<BytesPerSec>("bandwidth", complaints);
    if let Some(rate) = bandwidth.as_ref().filter(|rate| rate.value.get() == 0) {
        complaints.error(&rate.span, "`bandwidth` must be more than 0", "");
    }
    let limits = Limits {
        iops: iops.map(|iops| Iops::new(iops.value)),
        bandwidth: bandwidth.map(|rate| rate.value),
    };
    let latency = read_latency(&entry, complaints).unwrap_or(LatencyChoice::None);
    let (Some(name), Some(mount), Some(size)) = (name, mount, size) else {
        return;
    };
    for [name, mount] in expand([&name, &mount], complaints) {
        if too_many(design.volume_count() + 1, &entry, complaints) {
            return;
        }
        let Some(mount) = mount_of(&mount, &entry, complaints) else {
            continue;
        };
        let doubled = design.devices.iter().any(|device| device.mount == mount);
        if is_taken(design, &name) || doubled {
            let message = format!("the name `{name}` or its mount `{mount}` is taken");
            complaints.error(&entry.span(), message, "names and mounts are unique");
        }
        let latency = latency.clone();
        design.devices.push(Device {
            name,
            mount,
            size: size.value,
            limits,
            kind: None,
            disk_count: 1,
            disk_limits: Limits::default(),
            stripe_unit: Bytes::kib(64),
            raid: None,
            latency,
        });
    }
}

/// Complains where `parts` are more than a design may have; once is enough.
fn too_many(parts: usize, entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> bool {
    let over = parts > MOST_PARTS;
    if over && !complaints.full {
        complaints.full = true;
        let message = format!("the design has more than {MOST_PARTS} machines or volumes");
        complaints.error(
            &entry.span(),
            message,
            "shorten the ranges in names, or split the design",
        );
    }
    over
}

fn is_taken(design: &Design, name: &str) -> bool {
    let vms = design.vms.iter().map(|vm| &vm.name);
    vms.chain(design.devices.iter().map(|device| &device.name))
        .any(|taken| taken == name)
}

/// `mount = "/mnt/data"` or `drive = "E:"`: one of them.
fn read_mount<'t>(entry: &Entry<'t>, complaints: &mut Complaints<'_>) -> Option<At<&'t str>> {
    let mount = entry.text("mount", complaints);
    let drive = entry.text("drive", complaints);
    match (mount, drive) {
        (Some(mount), None) => Some(mount),
        (None, Some(drive)) => Some(drive),
        (Some(_), Some(drive)) => {
            complaints.error(&drive.span, "`mount` and `drive` exclude each other", "");
            None
        }
        (None, None) => {
            if !entry.has("mount") && !entry.has("drive") {
                entry.missing("mount", "mount = \"/mnt/data\"", complaints);
            }
            None
        }
    }
}

fn mount_of(text: &str, entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<Mount> {
    let mut characters = text.chars();
    match (characters.next(), characters.next(), characters.as_str()) {
        (Some('/'), _, _) => {
            // `/mnt/data/` is the same place as `/mnt/data`, and must not count as another.
            let trimmed = text.trim_end_matches('/');
            let path = if trimmed.is_empty() { "/" } else { trimmed };
            Some(Mount::Path(path.to_owned()))
        }
        (Some(letter), Some(':'), "" | "\\" | "/") if letter.is_ascii_alphabetic() => {
            Some(Mount::Drive(letter.to_ascii_uppercase()))
        }
        _ => {
            let message = format!("`{text}` is neither an absolute path nor a drive such as `E:`");
            complaints.error(&entry.span(), message, "");
            None
        }
    }
}

/// `latency = "none"` or `latency = { median = "2ms", p99 = "8ms" }`; `None` where it is absent or wrong.
fn read_latency(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<LatencyChoice> {
    let value = entry.table.get("latency")?;
    if let Some(word) = value.get_ref().as_str() {
        if word == "none" {
            return Some(LatencyChoice::None);
        }
        let hint = "write `{ median = \"2ms\", p99 = \"8ms\" }` or `\"none\"`";
        complaints.error(&value.span(), format!("`{word}` is no latency"), hint);
        return None;
    }
    let table = entry.table("latency", "a latency", complaints)?;
    table.check_keys(&["median", "p99"], &["p50", "p90", "mean"], complaints);
    for key in ["median", "p99"] {
        if !table.has(key) {
            table.missing(key, &format!("{key} = \"2ms\""), complaints);
        }
    }
    let median = table.quantity::<Nanos>("median", complaints);
    let p99 = table.quantity::<Nanos>("p99", complaints);
    let (median, p99) = (median?, p99?);
    if median.value == Nanos::ZERO || median.value > p99.value {
        let message = "`median` must be more than 0 and at most `p99`";
        complaints.error(&median.span, message, "");
        return None;
    }
    if p99.value > Nanos::from_secs(3600) {
        complaints.error(&p99.span, "a media latency of more than an hour", "");
        return None;
    }
    let origin = LatencyOrigin::Design;
    Some(LatencyChoice::LogNormal {
        median: median.value,
        p99: p99.value,
        origin,
    })
}

/// Complains of keys whose value says `off` today and more later.
fn read_burst(entry: &Entry<'_>, complaints: &mut Complaints<'_>) {
    entry.word(
        "burst",
        &[("off", ())],
        &["credits", "on-demand"],
        complaints,
    );
    if let Some(value) = entry.table.get("credits") {
        not_built("credits", &value.span(), complaints);
    }
}
