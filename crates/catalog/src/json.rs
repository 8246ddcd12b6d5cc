//! Rows of the catalogue as one JSON document (schema `fathom.catalog/1`).
//!
//! What the text of [`Catalog::show`] says, from the same rows. Keys end in their unit; what no page prints is `null`.

use fathom_units::{Bytes, BytesPerSec, Iops};
use serde_json::{Map, Value, json};

use crate::{
    AdjustableDisk, BurstMode, BurstOf, BurstScope, Catalog, CatalogError, Disk, Era,
    GenericDevice, Limits, Qos, ServiceLevel, ShareModel, Sold, Source, VmSize,
};

/// Of this document; a key keeps its meaning within a version.
const SCHEMA: &str = "fathom.catalog/1";

/// What a row is, its name and era, and what is known of it.
type Row = (&'static str, &'static str, Era, Value);

impl Catalog {
    /// Every row, in the order of [`Catalog::list`], with all that [`Catalog::show`] tells of it.
    pub fn list_json(&self) -> Value {
        document(self.rows())
    }

    /// Every era's row of this name (letter case does not matter).
    ///
    /// # Errors
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn show_json(&self, name: &str) -> Result<Value, CatalogError> {
        self.show(name)?;
        let rows = self.rows();
        Ok(document(
            rows.filter(|row| row.1.eq_ignore_ascii_case(name)),
        ))
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        let vms = self.vms().iter();
        let vms = vms.map(|row| ("machine size", row.name, row.era, vm(row)));
        let disks = self.disks().iter();
        let disks = disks.map(|row| ("disk", row.name, row.era, self.disk_json(row)));
        let current = |what, name, known| (what, name, Era::CURRENT, known);
        let adjustable = self.adjustable_disks().iter().map(move |row| {
            let known = self.adjustable_json(row);
            current("disk sold by formula", row.kind.design_name(), known)
        });
        let generic = self.generic_devices().iter();
        let generic = generic.map(move |row| current("device", row.name, self.generic_json(row)));
        let levels = self.service_levels().iter();
        let levels =
            levels.map(move |row| current("service level", row.name, self.level_json(row)));
        let shares = self.share_models().iter();
        let shares = shares.map(move |row| current("share model", row.name, self.share_json(row)));
        let fixed = vms.chain(disks);
        fixed
            .chain(adjustable)
            .chain(generic)
            .chain(levels)
            .chain(shares)
    }

    fn disk_json(&self, row: &Disk) -> Value {
        let burst = row.burst.map(|burst| {
            let mode = match burst.mode {
                BurstMode::Credits => "credits",
                BurstMode::OnDemand => "on-demand",
            };
            json!({ "mode": mode, "limits": limits(&burst.limits), "seconds": burst.seconds })
        });
        json!({
            "kind": row.kind.title(),
            "size_bytes": row.size.get(),
            "limits": limits(&row.limits),
            "burst": burst,
            "performance_plus": limits(&row.performance_plus),
            "provisioned": row.guaranteed,
            "host_cache": row.host_cacheable,
            "io_unit_bytes": self.io_unit(row.kind).map(Bytes::get),
            "media_latency": self.latency_json(row.kind.name()),
            "source": source(&row.source),
        })
    }

    fn adjustable_json(&self, row: &AdjustableDisk) -> Value {
        json!({
            "kind": row.kind.title(),
            "min_size_bytes": row.min_size.get(),
            "max_size_bytes": row.max_size.get(),
            "min_limits": limits(&row.min),
            "max_limits": limits(&row.max),
            "max_iops_per_gib": row.iops_per_gib,
            "max_bandwidth_bytes_per_sec_per_iops": row.bytes_per_io,
            "host_cache": false,
            "media_latency": self.latency_json(row.kind.name()),
            "source": source(&row.source),
        })
    }

    fn generic_json(&self, row: &GenericDevice) -> Value {
        let arrays = self.generic_arrays().iter();
        let arrays = arrays.filter(|array| array.disk == row.name);
        let arrays = arrays.map(
            |it| json!({ "raid": it.raid, "devices": it.disks, "random_iops": it.iops.get() }),
        );
        json!({
            "kind": row.title,
            "min_random_iops": row.iops_low.get(),
            "max_random_iops": row.iops_high.get(),
            "arrays": arrays.collect::<Vec<_>>(),
            "source": source(&row.source),
        })
    }

    fn level_json(&self, row: &ServiceLevel) -> Value {
        let (rules, nfs) = (self.netapp_volume(), self.nfs());
        let qos = match row.qos {
            Qos::Auto => "auto",
            Qos::Manual => "manual",
            Qos::Shared => "shared",
        };
        let volume = |min: Bytes, max: Bytes, most: BytesPerSec| {
            json!({
                "min_size_bytes": min.get(),
                "max_size_bytes": max.get(),
                "max_bandwidth_bytes_per_sec": most.get(),
            })
        };
        let regular = volume(rules.min_size, rules.max_size, rules.max_bandwidth);
        let (least, largest) = (rules.large_min_size, rules.large_max_size);
        let rate = |it: Option<BytesPerSec>| it.map(BytesPerSec::get);
        json!({
            "title": row.title,
            "qos": qos,
            "bandwidth_bytes_per_sec_per_tib": rate(row.bandwidth_per_tib),
            "max_bandwidth_bytes_per_sec_per_tib_of_pool": rate(row.pool_max_bandwidth_per_tib),
            "regular_volume": regular,
            "large_volume": volume(least, largest, rules.large_max_bandwidth),
            "min_pool_bytes": rules.min_pool.get(),
            "max_pool_bytes": rules.max_pool.get(),
            "max_file_bytes": rules.max_file.get(),
            "slots_per_connection": nfs.slots_per_connection,
            "max_connections_per_client": nfs.max_connections,
            "media_latency": self.latency_json("netapp_files"),
            "source": source(&row.source),
        })
    }

    fn share_json(&self, row: &ShareModel) -> Value {
        let limits_are = match row.sold {
            Sold::BySize => "by-size",
            Sold::AsBought => "as-bought",
            Sold::AsUsed => "of-the-account",
        };
        let burst = row.burst.map(|burst| {
            let of = match burst.of {
                BurstOf::Gib => "gib",
                BurstOf::Iops => "iops",
            };
            json!({
                "factor": burst.factor,
                "of": of,
                "min_iops": burst.floor.get(),
                "seconds": self.bucket_seconds(BurstScope::Share),
            })
        });
        let file = self.share_file(row.media);
        let handles = self.share_handles();
        let mibps = |count: u64| count << 20;
        // Thousandths of the pages' MiB/s for each GiB, in bytes.
        let per_gib = row.milli_mibps_per_gib.iter().sum::<u64>() as f64 * 1_048_576.0 / 1000.0;
        json!({
            "title": row.title,
            "limits_are": limits_are,
            "min_size_bytes": row.min_size.get(),
            "max_size_bytes": row.max_size.get(),
            "base_iops": row.base_iops,
            "iops_per_gib": row.milli_iops_per_gib as f64 / 1000.0,
            "min_iops": row.min_iops.map(Iops::get),
            "max_iops": row.max_iops.get(),
            "base_bandwidth_bytes_per_sec": mibps(row.base_mibps),
            "bandwidth_bytes_per_sec_per_gib": per_gib,
            "min_bandwidth_bytes_per_sec": row.min_mibps.map(mibps),
            "max_bandwidth_bytes_per_sec": mibps(row.max_mibps),
            "write_bandwidth_bytes_per_sec": row.write_bandwidth.map(BytesPerSec::get),
            "burst": burst,
            "file": file.map(|it| json!({
                "max_size_bytes": it.max_size.get(),
                "limits": limits(&it.limits),
            })),
            "max_handles_of_file": handles.file,
            "max_handles_of_root": handles.root,
            "source": source(&row.source),
        })
    }

    fn latency_json(&self, tier: &str) -> Value {
        let known = self.media_latency(tier);
        known.map_or(Value::Null, |it| {
            json!({
                "p50_ns": it.median.get(),
                "p99_ns": it.p99.get(),
                "assumed": it.assumed,
                "source": source(&it.source),
            })
        })
    }
}

fn document(rows: impl Iterator<Item = Row>) -> Value {
    let rows = rows.map(|(what, name, era, known)| {
        let mut object: Map<_, _> = [("what", what), ("name", name), ("era", era.name())]
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .into_iter()
            .collect();
        if let Value::Object(known) = known {
            object.extend(known);
        }
        Value::Object(object)
    });
    json!({ "schema": SCHEMA, "rows": rows.collect::<Vec<_>>() })
}

fn vm(row: &VmSize) -> Value {
    let size = |it: Option<Bytes>| it.map(Bytes::get);
    json!({
        "series": row.series,
        "vcpus": row.vcpus,
        "memory_bytes": row.memory.get(),
        "max_data_disks": row.max_data_disks,
        "host_cache_bytes": size(row.cache),
        "cached": limits(&row.cached),
        "uncached": limits(&row.uncached),
        "cached_burst": limits(&row.burst_cached),
        "uncached_burst": limits(&row.burst_uncached),
        "temporary_disk_bytes": size(row.temporary_disk),
        "temporary_disk": limits(&row.temporary),
        "temporary_disk_write_bytes_per_sec": row.temporary_write.map(BytesPerSec::get),
        "nvme_disks": row.nvme_disks,
        "nvme_read": limits(&row.nvme_read),
        "standard_disk_iops_each": row.data_disk_iops_each.map(Iops::get),
        "article_cache_limit": limits(&row.article_cache_limit),
        "network_bits_per_sec": row.network_mbps.map(|mbps| u64::from(mbps) * 1_000_000),
        "network_cards": row.network_cards,
        "premium_disks": row.premium,
        "premium_disk_caching": row.premium_caching,
        "source": source(&row.source),
    })
}

/// `null` where no page prints either.
fn limits(limits: &Limits) -> Value {
    if limits.is_empty() {
        return Value::Null;
    }
    json!({
        "iops": limits.iops.map(Iops::get),
        "bandwidth_bytes_per_sec": limits.bandwidth.map(BytesPerSec::get),
    })
}

fn source(source: &Source) -> Value {
    let revision = Some(source.revision).filter(|it| !it.is_empty());
    json!({ "page": source.page, "date": source.date, "read_at": revision })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(document: &Value) -> &[Value] {
        assert_eq!(document["schema"], SCHEMA);
        document["rows"].as_array().unwrap()
    }

    #[test]
    fn the_document_has_the_rows_of_the_list_in_its_order() {
        let catalog = Catalog::builtin();
        let document = catalog.list_json();
        let found = rows(&document).iter().map(|row| {
            let word = |key: &str| row[key].as_str().unwrap().to_owned();
            [word("what"), word("name"), word("era")]
        });
        let list = catalog.list();
        let listed = list
            .iter()
            .map(|row| [row.what, row.name, row.era].map(str::to_owned));
        assert_eq!(found.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
        for row in rows(&document) {
            assert!(!row["source"]["page"].as_str().unwrap().is_empty(), "{row}");
        }
    }

    #[test]
    fn figures_are_those_of_the_text() {
        #[track_caller]
        fn check(name: &str, era: &str, path: &str, expected: &Value) {
            let document = Catalog::builtin().show_json(name).unwrap();
            let mut rows = rows(&document).iter();
            let row = rows.find(|row| row["era"] == era).unwrap();
            assert_eq!(row.pointer(path), Some(expected), "{name} {path}: {row}");
        }
        check("standard_ds14", "2016", "/max_data_disks", &json!(32));
        check("Standard_DS14", "current", "/max_data_disks", &json!(64));
        check(
            "Standard_DS14",
            "2016-article",
            "/article_cache_limit/iops",
            &json!(4_000),
        );
        check(
            "Standard_DS14",
            "current",
            "/network_bits_per_sec",
            &json!(8_000_000_000u64),
        );
        check(
            "Standard_DS14",
            "current",
            "/memory_bytes",
            &json!(112u64 << 30),
        );
        check("Standard_DS14", "current", "/nvme_disks", &Value::Null);
        check("P30", "current", "/performance_plus/iops", &json!(8_000));
        check(
            "P30",
            "current",
            "/limits/bandwidth_bytes_per_sec",
            &json!(200_000_000),
        );
        check("P30", "current", "/burst/mode", &json!("on-demand"));
        check("P30", "2016", "/burst", &Value::Null);
        check("P3", "current", "/burst/seconds", &json!(1_800));
        check("P30", "current", "/media_latency/p50_ns", &json!(2_200_000));
        check("premium-v2", "current", "/max_iops_per_gib", &json!(500));
        check(
            "Ultra",
            "current",
            "/max_bandwidth_bytes_per_sec_per_iops",
            &json!(250_000),
        );
        check("10k", "current", "/arrays/0/random_iops", &json!(1_000));
        check("10k", "current", "/min_random_iops", &json!(125));
        check(
            "premium",
            "current",
            "/bandwidth_bytes_per_sec_per_tib",
            &json!(64u64 << 20),
        );
        check("flexible", "current", "/qos", &json!("manual"));
        check("hdd-v2", "current", "/iops_per_gib", &json!(0.2));
        check(
            "hdd-payg",
            "current",
            "/max_bandwidth_bytes_per_sec",
            &json!(6_400u64 << 20),
        );
        check("ssd-v1", "current", "/max_handles_of_file", &json!(2_000));
    }

    #[test]
    fn an_unknown_name_is_told_as_in_the_text() {
        let catalog = Catalog::builtin();
        let (document, text) = (catalog.show_json("P31"), catalog.show("P31"));
        assert_eq!(
            document.unwrap_err().to_string(),
            text.unwrap_err().to_string()
        );
    }
}
