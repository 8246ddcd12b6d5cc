//! Rows of formula disks, generic devices, service levels and share models as pairs of words.

use fathom_units::{BytesPerSec, Iops, group_digits};

use crate::show::{Fields, limit_words};
use crate::{
    AdjustableDisk, BurstOf, BurstScope, Catalog, DiskKind, Era, GenericDevice, Qos, ServiceLevel,
    ShareModel, ShownRow, Sold, SummaryRow,
};

/// A row of a family that has one era alone.
struct Named {
    what: &'static str,
    columns: &'static str,
    name: &'static str,
    summary: String,
    fields: Fields,
}

impl Catalog {
    /// These rows in short.
    pub(crate) fn list_services(&self) -> impl Iterator<Item = SummaryRow> {
        self.services_rows().map(|row| SummaryRow {
            what: row.what,
            era: Era::CURRENT.name(),
            name: row.name,
            columns: row.columns,
            summary: row.summary,
        })
    }

    /// Those of this name (letter case does not matter).
    pub(crate) fn show_services(&self, name: &str) -> impl Iterator<Item = ShownRow> {
        self.services_rows()
            .filter(move |row| row.name.eq_ignore_ascii_case(name))
            .map(|row| ShownRow {
                what: row.what,
                name: row.name,
                era: Era::CURRENT.name(),
                fields: row.fields.0,
            })
    }

    fn services_rows(&self) -> impl Iterator<Item = Named> {
        let disks = self.adjustable_disks().iter();
        let disks = disks.map(|row| self.adjustable_row(row));
        let generic = self.generic_devices().iter();
        let generic = generic.map(|row| self.generic_row(row));
        let levels = self.service_levels().iter();
        let levels = levels.map(|row| self.level_row(row));
        let shares = self.share_models().iter();
        let shares = shares.map(|row| self.share_row(row));
        disks.chain(generic).chain(levels).chain(shares)
    }

    fn adjustable_row(&self, row: &AdjustableDisk) -> Named {
        let mut fields = Fields::default();
        fields.put("kind", row.kind.title());
        fields.put("size", format!("{} to {}", row.min_size, row.max_size));
        fields.limits("limits at least", &row.min);
        fields.limits("limits at most", &row.max);
        let by_size = format!("at most {} for each GiB", group_digits(row.iops_per_gib));
        fields.put("IOPS by size", by_size);
        let by_iops = BytesPerSec::new(row.bytes_per_io * 1000);
        fields.put(
            "bandwidth by IOPS",
            format!("at most {by_iops} for each 1,000 IOPS"),
        );
        fields.put("host cache", "not possible");
        if let Some(latency) = self.media_latency(row.kind.name()) {
            fields.latency(latency);
        }
        fields.source(&row.source);
        Named {
            what: "disk sold by formula",
            columns: "SIZES; LIMITS",
            name: row.kind.design_name(),
            summary: format!(
                "{} to {}; up to {}",
                row.min_size,
                row.max_size,
                limit_words(&row.max)
            ),
            fields,
        }
    }

    fn generic_row(&self, row: &'static GenericDevice) -> Named {
        let range = if row.iops_low == row.iops_high {
            row.iops_high.to_string()
        } else {
            let low = group_digits(row.iops_low.get());
            format!("{low} to {}", row.iops_high)
        };
        let mut fields = Fields::default();
        fields.put("kind", row.title);
        fields.put("random I/O", &range);
        let arrays = self.generic_arrays().iter();
        for array in arrays.filter(|array| array.disk == row.name) {
            fields.put(
                "array, as printed",
                format!("RAID-{} of {}: {}", array.raid, array.disks, array.iops),
            );
        }
        fields.source(&row.source);
        Named {
            what: "device",
            columns: "KIND; RANDOM I/O",
            name: row.name,
            summary: format!("{}; {range}", row.title),
            fields,
        }
    }

    fn level_row(&self, row: &'static ServiceLevel) -> Named {
        let rules = self.netapp_volume();
        let mut fields = Fields::default();
        fields.put(
            "kind",
            format!("service level {} of NetApp Files", row.title),
        );
        let gives = match (row.qos, row.bandwidth_per_tib) {
            (Qos::Manual, _) | (_, None) => {
                let most = row.pool_max_bandwidth_per_tib.map(mib);
                let most = most.unwrap_or_default();
                format!("assigned, {most} for each TiB of the pool at most")
            }
            (Qos::Shared, Some(rate)) => format!("{} for each TiB of the pool", mib(rate)),
            (Qos::Auto, Some(rate)) => format!("{} for each TiB of quota", mib(rate)),
        };
        fields.put("bandwidth", &gives);
        let size = format!("{} to {}", rules.min_size, rules.max_size);
        let most = mib(rules.max_bandwidth);
        fields.put("regular volume", format!("{size}, {most} at most"));
        let size = format!("{} to {}", rules.large_min_size, rules.large_max_size);
        let most = mib(rules.large_max_bandwidth);
        fields.put("large volume", format!("{size}, {most} at most"));
        let pool = format!("{} to {}", rules.min_pool, rules.max_pool);
        fields.put("capacity pool", pool);
        fields.put("largest file", rules.max_file);
        let nfs = self.nfs();
        let slots = nfs.slots_per_connection;
        fields.put("slots", format!("{slots} on each connection"));
        let most = format!("1 to {} of each client", nfs.max_connections);
        fields.put("connections", most);
        if let Some(latency) = self.media_latency("netapp_files") {
            fields.latency(latency);
        }
        fields.source(&row.source);
        Named {
            what: "service level",
            columns: "BANDWIDTH",
            name: row.name,
            summary: gives,
            fields,
        }
    }

    fn share_row(&self, row: &'static ShareModel) -> Named {
        let mut fields = Fields::default();
        fields.put("kind", format!("share of Azure Files: {}", row.title));
        fields.put("size", format!("{} to {}", row.min_size, row.max_size));
        let limits = match row.sold {
            Sold::BySize => "given by the size",
            Sold::AsBought => "as bought; by default recommended for the size",
            Sold::AsUsed => "those of the storage account",
        };
        fields.put("limits", limits);
        fields.put("IOPS", iops_formula(row));
        fields.put("bandwidth", bandwidth_formula(row));
        if let Some(write) = row.write_bandwidth {
            fields.put("writes", mib(write));
        }
        if let Some(burst) = row.burst {
            let of = match burst.of {
                BurstOf::Gib => "GiB",
                BurstOf::Iops => "IOPS",
            };
            let (factor, floor) = (burst.factor, burst.floor);
            let most = row.max_iops;
            let seconds = group_digits(u64::from(self.bucket_seconds(BurstScope::Share)));
            fields.put(
                "burst",
                format!(
                    "{factor} × {of}, at least {floor}, at most {most} (credits for {seconds} s)"
                ),
            );
        }
        if let Some(file) = self.share_file(row.media) {
            let words = limit_words(&file.limits);
            fields.put("one file", format!("{}, {words}", file.max_size));
        }
        let handles = self.share_handles();
        let [file, root] = [handles.file, handles.root].map(|count| group_digits(count.into()));
        fields.put("handles", format!("{file} of a file, {root} of the root"));
        fields.source(&row.source);
        Named {
            what: "share model",
            columns: "SIZES; IOPS",
            name: row.name,
            summary: format!(
                "{} to {}; {}",
                row.min_size,
                row.max_size,
                iops_formula(row)
            ),
            fields,
        }
    }
}

impl DiskKind {
    /// The name of a disk sold by formula in design files; of other kinds, their title.
    pub const fn design_name(self) -> &'static str {
        match self {
            Self::PremiumSsdV2 => "premium-v2",
            Self::Ultra => "ultra",
            _ => self.title(),
        }
    }
}

fn mib(rate: BytesPerSec) -> String {
    format!("{} MiB/s", group_digits(rate.get() >> 20))
}

/// A number of thousandths, without trailing zeros.
fn from_milli(milli: u64) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn iops_formula(row: &ShareModel) -> String {
    let base = group_digits(row.base_iops);
    if row.milli_iops_per_gib == 0 {
        return Iops::new(row.base_iops).to_string();
    }
    let (each, most) = (from_milli(row.milli_iops_per_gib), row.max_iops);
    format!("{base} + {each} × GiB, at most {most}")
}

fn bandwidth_formula(row: &ShareModel) -> String {
    if row.milli_mibps_per_gib.iter().all(|milli| *milli == 0) {
        return mib(BytesPerSec::new(row.base_mibps << 20));
    }
    let terms = row.milli_mibps_per_gib.iter();
    let terms = terms.map(|milli| format!(" + {} × GiB", from_milli(*milli)));
    let text = group_digits(row.base_mibps) + &terms.collect::<String>();
    format!(
        "{text} MiB/s, at most {} MiB/s",
        group_digits(row.max_mibps)
    )
}
