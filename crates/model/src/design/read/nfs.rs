//! `[[nfs]]`: a volume of NetApp Files over NFS.

use fathom_catalog::{Catalog, Limits, NfsRules, Qos, ServiceLevel};
use fathom_units::{Bytes, BytesPerSec, group_digits};

use super::clients;
use super::names::expand;
use super::values::{catalog_latency, read_bandwidth, read_iops, read_latency, read_mount, row_of};
use crate::design::{Design, NfsVersion, NfsVolume, figures};
use fathom_tables::{At, Complaints, Entry};

const KNOWN: [&str; 19] = [
    "name",
    "mount",
    "drive",
    "level",
    "quota",
    "iops",
    "bandwidth",
    "qos",
    "pool",
    "large",
    "version",
    "connections",
    "slots",
    "window",
    "rsize",
    "wsize",
    "on",
    "rtt",
    "latency",
];

/// Smallest `rsize` and `wsize`, as the Linux client takes them.
const LEAST_IO: Bytes = Bytes::kib(1);

/// What the protocol allows in flight.
struct InFlight {
    version: NfsVersion,
    connections: u32,
    slots: u32,
    session_slots: Option<u32>,
    window: Option<Bytes>,
    rsize: Bytes,
    wsize: Bytes,
}

/// Reads one volume (several, where its name has a range) into `design`.
pub(super) fn read(
    entry: &Entry<'_>,
    catalog: &Catalog,
    design: &mut Design,
    complaints: &mut Complaints<'_>,
) {
    entry.check_keys(&KNOWN, complaints);
    let name = entry.required_name("name = \"vol1\"", complaints);
    let mount = read_mount(entry, complaints);
    let level = read_level(entry, catalog, complaints);
    if !entry.has("quota") {
        entry.missing("quota", "quota = \"4TiB\"", complaints);
    }
    let quota = entry.quantity::<Bytes>("quota", complaints);
    let iops = read_iops(entry, complaints).map(|iops| iops.value);
    let provisioned = Provisioned::read(entry, complaints);
    let in_flight = read_in_flight(entry, catalog.nfs(), complaints);
    let latency = read_latency(entry, complaints);
    let clients = clients::read(entry, design, catalog, complaints);
    let (Some(level), Some(quota)) = (level, quota) else {
        return;
    };
    let bandwidth = provisioned.bandwidth(entry, level, &quota, catalog, complaints);
    let (Some(name), Some(mount), Some(bandwidth)) = (name, mount, bandwidth) else {
        return;
    };
    let bandwidth = Some(bandwidth);
    let limits = Limits { iops, bandwidth };
    let place = complaints.location(&entry.span());
    for [name, mount] in expand([&name, &mount], complaints) {
        let named = (name.as_str(), mount.as_str());
        let placed = clients::place(entry, named, &clients, design, complaints);
        if complaints.full {
            return;
        }
        let Some(mount) = placed else {
            continue;
        };
        design.nfs.push(NfsVolume {
            name,
            mount,
            level,
            quota: quota.value,
            limits,
            largest_file: catalog.netapp_volume().max_file,
            version: in_flight.version,
            connections: in_flight.connections,
            slots: in_flight.slots,
            session_slots: in_flight.session_slots,
            window: in_flight.window,
            rsize: in_flight.rsize,
            wsize: in_flight.wsize,
            clients: clients.clone(),
            latency: latency
                .clone()
                .unwrap_or_else(|| catalog_latency("netapp_files", catalog)),
            place: place.clone(),
        });
    }
}

fn read_level(
    entry: &Entry<'_>,
    catalog: &Catalog,
    complaints: &mut Complaints<'_>,
) -> Option<&'static ServiceLevel> {
    let level = entry.required_text("level", "level = \"premium\"", complaints)?;
    let names = catalog.service_levels().iter().map(|row| row.name);
    row_of(
        &level,
        catalog.service_level(level.value),
        names,
        complaints,
    )
}

/// Keys that bear on a volume's bandwidth.
struct Provisioned {
    bandwidth: Option<At<BytesPerSec>>,
    qos: Option<At<Qos>>,
    pool: Option<At<Bytes>>,
    large: Option<At<bool>>,
}

impl Provisioned {
    fn read(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Self {
        let kinds = [("auto", Qos::Auto), ("manual", Qos::Manual)];
        Self {
            bandwidth: read_bandwidth(entry, complaints),
            qos: entry.word("qos", &kinds, complaints),
            pool: entry.quantity("pool", complaints),
            large: entry.truth("large", complaints),
        }
    }

    /// What the volume may do: what it is given, within what one volume can.
    fn bandwidth(
        &self,
        entry: &Entry<'_>,
        level: &ServiceLevel,
        quota: &At<Bytes>,
        catalog: &Catalog,
        complaints: &mut Complaints<'_>,
    ) -> Option<BytesPerSec> {
        let most = self.ceiling(quota, catalog, complaints)?;
        let qos = self.settled_qos(level, complaints)?;
        if let Some(pool) = self.pool.as_ref().filter(|_| qos == Qos::Auto) {
            let message = "`pool` has no meaning here: the volume's own quota gives its bandwidth";
            complaints.error(
                &pool.span,
                message,
                "leave it out, or write `qos = \"manual\"`",
            );
        }
        if let Some(pool) = self.pool.as_ref().filter(|pool| pool.value < quota.value) {
            let message = format!("a volume of {} does not fit its pool", quota.value);
            complaints.error(
                &pool.span,
                message,
                "the pool holds the quotas of its volumes",
            );
        }
        let pool = self.pool.as_ref().map_or(quota.value, |pool| pool.value);
        let given = match qos {
            Qos::Manual => return self.assigned(entry, level, pool, most, complaints),
            Qos::Auto => figures::quota_bandwidth(level, quota.value)?,
            Qos::Shared => figures::quota_bandwidth(level, pool)?,
        };
        if given > most {
            let message = format!("one volume does at most {}, whatever its quota", mib(most));
            complaints.note(&quota.span, message);
        }
        // A bandwidth beside a quota is what was measured.
        let measured = self.bandwidth.as_ref().map_or(most, |rate| rate.value);
        Some(given.min(most).min(measured))
    }

    /// The most that one volume of this quota can do.
    fn ceiling(
        &self,
        quota: &At<Bytes>,
        catalog: &Catalog,
        complaints: &mut Complaints<'_>,
    ) -> Option<BytesPerSec> {
        let rules = catalog.netapp_volume();
        let large = match &self.large {
            Some(large) => large.value,
            None => quota.value > rules.max_size,
        };
        let (what, least, size, most) = if large {
            let (least, size) = (rules.large_min_size, rules.large_max_size);
            ("a large volume", least, size, rules.large_max_bandwidth)
        } else {
            let (least, size) = (rules.min_size, rules.max_size);
            ("a regular volume", least, size, rules.max_bandwidth)
        };
        if quota.value < least || quota.value > size {
            let message = format!("{what} has a quota from {least} to {size}");
            complaints.error(&quota.span, message, "choose such a quota");
            return None;
        }
        Some(most)
    }

    fn settled_qos(&self, level: &ServiceLevel, complaints: &mut Complaints<'_>) -> Option<Qos> {
        let Some(said) = &self.qos else {
            return Some(level.qos);
        };
        let fits = match level.qos {
            Qos::Auto => true,
            own => said.value == own,
        };
        if !fits {
            let how = match level.qos {
                Qos::Shared => "shares the bandwidth of its pool",
                Qos::Manual | Qos::Auto => "has its bandwidth assigned",
            };
            let message = format!("a volume of service level `{}` {how}", level.name);
            complaints.error(&said.span, message, "leave `qos` out");
            return None;
        }
        Some(said.value)
    }

    /// Bandwidth that is assigned out of the pool's.
    fn assigned(
        &self,
        entry: &Entry<'_>,
        level: &ServiceLevel,
        pool: Bytes,
        most: BytesPerSec,
        complaints: &mut Complaints<'_>,
    ) -> Option<BytesPerSec> {
        let Some(rate) = &self.bandwidth else {
            if !entry.has("bandwidth") {
                entry.missing("bandwidth", "bandwidth = \"256MiB/s\"", complaints);
            }
            return None;
        };
        let of_pool = figures::pool_bandwidth(level, pool)
            .or_else(|| figures::quota_bandwidth(level, pool))
            .unwrap_or(most);
        if rate.value > most || rate.value > of_pool {
            let message = format!(
                "a volume can be assigned at most {}: one volume does {}, and a pool of {pool} has {} to give",
                mib(most.min(of_pool)),
                mib(most),
                mib(of_pool)
            );
            complaints.error(
                &rate.span,
                message,
                "assign less, or give the pool's size as `pool`",
            );
            return None;
        }
        Some(rate.value)
    }
}

/// A rate in the unit that the pages of the service use.
fn mib(rate: BytesPerSec) -> String {
    format!("{} MiB/s", group_digits(rate.get() >> 20))
}

fn read_in_flight(
    entry: &Entry<'_>,
    rules: &NfsRules,
    complaints: &mut Complaints<'_>,
) -> InFlight {
    let versions = [("3", NfsVersion::V3), ("4.1", NfsVersion::V41)];
    let version = entry.word("version", &versions, complaints);
    let version = version.map_or(NfsVersion::V3, |version| version.value);
    let connections = entry.number(
        "connections",
        1..=u64::from(rules.max_connections),
        complaints,
    );
    let most_slots = match version {
        NfsVersion::V3 => rules.slots_per_connection,
        NfsVersion::V41 => rules.max_session_slots,
    };
    let slots = entry.number("slots", 1..=u64::from(most_slots), complaints);
    let slots = slots.map(|slots| slots.value as u32);
    let (slots, session_slots) = match version {
        NfsVersion::V3 => (slots.unwrap_or(rules.slots_per_connection), None),
        NfsVersion::V41 => (
            rules.slots_per_connection,
            Some(slots.unwrap_or(rules.default_session_slots)),
        ),
    };
    InFlight {
        version,
        connections: connections.map_or(1, |connections| connections.value as u32),
        slots,
        session_slots,
        window: read_window(entry, complaints),
        rsize: read_io_size(entry, "rsize", rules, complaints),
        wsize: read_io_size(entry, "wsize", rules, complaints),
    }
}

/// `window = "4MiB"`: bytes in flight on one connection.
fn read_window(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<Bytes> {
    let window = entry.quantity::<Bytes>("window", complaints)?;
    let (least, most) = (Bytes::kib(4), Bytes::gib(1));
    if window.value < least || window.value > most {
        let message = format!("`window` must be from {least} to {most}");
        complaints.error(&window.span, message, "leave it out where it is not known");
        return None;
    }
    Some(window.value)
}

fn read_io_size(
    entry: &Entry<'_>,
    key: &str,
    rules: &NfsRules,
    complaints: &mut Complaints<'_>,
) -> Bytes {
    let Some(size) = entry.quantity::<Bytes>(key, complaints) else {
        return rules.default_io;
    };
    let whole = size.value.get().is_multiple_of(LEAST_IO.get());
    if !whole || size.value < LEAST_IO || size.value > rules.max_io {
        let message = format!(
            "`{key}` must be whole KiB from {LEAST_IO} to {}",
            rules.max_io
        );
        let hint = format!("up to {} are recommended", rules.recommended_io);
        complaints.error(&size.span, message, &hint);
        return rules.default_io;
    }
    size.value
}
