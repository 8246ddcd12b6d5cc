//! Rows as pairs of words, ready to be printed.

use fathom_units::{BytesPerSec, Iops, group_digits};

use crate::lookup::meant;
use crate::{BurstMode, Catalog, CatalogError, Disk, Limits, MediaLatency, Source, VmSize};

/// Everything known of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRow {
    /// What it is: `machine size`, `disk`, `share model` and so on.
    pub what: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its era.
    pub era: &'static str,
    /// What is known and how much, each value with its unit; the source comes last.
    pub fields: Vec<(&'static str, String)>,
}

/// One line of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRow {
    /// What it is: `machine size`, `disk`, `share model` and so on.
    pub what: &'static str,
    /// Its era.
    pub era: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What the summaries of its kind hold, in the same columns.
    pub columns: &'static str,
    /// Its main limits.
    pub summary: String,
}

impl Catalog {
    /// Every row in short: machine sizes, disks, then what else a design can name, in the order of the fact files.
    pub fn list(&self) -> Vec<SummaryRow> {
        let vms = self.vms().iter().map(|row| SummaryRow {
            what: "machine size",
            era: row.era.name(),
            name: row.name,
            columns: "CACHED: IOPS / MB/s         UNCACHED  DISKS",
            summary: format!(
                "{:>19}  {:>15}  {:>5}",
                limit_figures(&row.cached),
                limit_figures(&row.uncached),
                row.max_data_disks
            ),
        });
        let disks = self.disks().iter().map(|row| SummaryRow {
            what: "disk",
            era: row.era.name(),
            name: row.name,
            columns: "KIND, SIZE; LIMITS",
            summary: format!(
                "{} {}; {}",
                row.kind.title(),
                row.size,
                limit_words(&row.limits)
            ),
        });
        vms.chain(disks).chain(self.list_services()).collect()
    }

    /// Every era's row of this name (letter case does not matter), with its source.
    ///
    /// # Errors
    ///
    /// [`CatalogError::UnknownName`] with the nearest name.
    pub fn show(&self, name: &str) -> Result<Vec<ShownRow>, CatalogError> {
        let vms = self
            .vms()
            .iter()
            .filter(|row| row.name.eq_ignore_ascii_case(name))
            .map(show_vm);
        let disks = self
            .disks()
            .iter()
            .filter(|row| row.name.eq_ignore_ascii_case(name));
        let disks = disks.map(|disk| self.show_disk(disk));
        let rows: Vec<_> = vms.chain(disks).chain(self.show_services(name)).collect();
        if rows.is_empty() {
            let names: Vec<_> = self.list().iter().map(|row| row.name).collect();
            return Err(CatalogError::UnknownName {
                what: "row",
                name: name.to_owned(),
                nearest: meant(name, names),
            });
        }
        Ok(rows)
    }

    fn show_disk(&self, row: &'static Disk) -> ShownRow {
        let mut fields = Fields::default();
        fields.put("kind", row.kind.title());
        fields.put("size", row.size);
        fields.limits("limits", &row.limits);
        if let Some(burst) = &row.burst {
            let how = match (burst.mode, burst.seconds) {
                (BurstMode::Credits, Some(seconds)) => {
                    format!("credits for {} s", group_digits(u64::from(seconds)))
                }
                (BurstMode::Credits, None) => "credits".to_owned(),
                (BurstMode::OnDemand, _) => "on demand".to_owned(),
            };
            fields.put("burst", format!("{} ({how})", limit_words(&burst.limits)));
        }
        fields.limits("performance plus", &row.performance_plus);
        fields.put(
            "figures",
            if row.guaranteed {
                "provisioned"
            } else {
                "up to"
            },
        );
        fields.put(
            "host cache",
            if row.host_cacheable {
                "possible"
            } else {
                "not possible"
            },
        );
        if let Some(unit) = self.io_unit(row.kind) {
            fields.put("counts as one I/O", format!("up to {unit}"));
        }
        if let Some(latency) = self.media_latency(row.kind.name()) {
            fields.latency(latency);
        }
        fields.source(&row.source);
        ShownRow {
            what: "disk",
            name: row.name,
            era: row.era.name(),
            fields: fields.0,
        }
    }
}

fn show_vm(row: &'static VmSize) -> ShownRow {
    let mut fields = Fields::default();
    fields.put("series", row.series);
    fields.put("processors", format!("{} vCPU", row.vcpus));
    fields.put("memory", row.memory);
    fields.put("data disks", format!("at most {}", row.max_data_disks));
    fields.optional("host cache", row.cache);
    fields.limits("cached limits", &row.cached);
    fields.limits("uncached limits", &row.uncached);
    fields.limits("cached burst", &row.burst_cached);
    fields.limits("uncached burst", &row.burst_uncached);
    fields.optional("temporary disk", row.temporary_disk);
    fields.limits("temporary disk limits", &row.temporary);
    fields.optional("temporary disk writes", row.temporary_write);
    fields.optional("NVMe disks", row.nvme_disks);
    fields.limits("NVMe reads", &row.nvme_read);
    fields.optional("each standard disk", row.data_disk_iops_each);
    fields.limits("cache limits of the article", &row.article_cache_limit);
    fields.optional(
        "network",
        row.network_mbps
            .map(|mbps| format!("{} Mbit/s", group_digits(u64::from(mbps)))),
    );
    fields.optional("network cards", row.network_cards);
    fields.put(
        "premium disks",
        if row.premium {
            "supported"
        } else {
            "not supported"
        },
    );
    let caching = if row.premium_caching {
        "supported"
    } else {
        "not supported"
    };
    fields.put("premium disk caching", caching);
    fields.source(&row.source);
    ShownRow {
        what: "machine size",
        name: row.name,
        era: row.era.name(),
        fields: fields.0,
    }
}

/// What is known of a row, as it grows.
#[derive(Default)]
pub(crate) struct Fields(pub(crate) Vec<(&'static str, String)>);

impl Fields {
    pub(crate) fn put(&mut self, key: &'static str, value: impl std::fmt::Display) {
        self.0.push((key, value.to_string()));
    }

    fn optional(&mut self, key: &'static str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    pub(crate) fn limits(&mut self, key: &'static str, limits: &Limits) {
        if !limits.is_empty() {
            self.put(key, limit_words(limits));
        }
    }

    pub(crate) fn latency(&mut self, latency: &MediaLatency) {
        let how = if latency.assumed {
            "assumed"
        } else {
            "published"
        };
        self.put(
            "media latency",
            format!(
                "median {}, p99 {} ({how}: {})",
                latency.median, latency.p99, latency.source
            ),
        );
    }

    pub(crate) fn source(&mut self, source: &Source) {
        self.put("source", source);
        if !source.revision.is_empty() {
            self.put("read at", source.revision);
        }
    }
}

/// `5,000 / 200`: IOPS and MB/s, `-` for what was not printed.
fn limit_figures(limits: &Limits) -> String {
    let iops = limits
        .iops
        .map_or("-".to_owned(), |iops| group_digits(iops.get()));
    let bandwidth = limits
        .bandwidth
        .map(|rate| megabytes(rate).unwrap_or_else(|| group_digits(rate.get() / 1_000_000)));
    format!("{iops} / {}", bandwidth.as_deref().unwrap_or("-"))
}

/// A rate as the pages of disks and machines print it, in 10^6 bytes a second with at most one decimal; `None` where it is
/// no such number.
fn megabytes(rate: BytesPerSec) -> Option<String> {
    let (whole, tenths) = (rate.get() / 1_000_000, rate.get() % 1_000_000 / 100_000);
    rate.get().is_multiple_of(100_000).then(|| match tenths {
        0 => group_digits(whole),
        tenths => format!("{}.{tenths}", group_digits(whole)),
    })
}

/// `5,000 IOPS, 200 MB/s`, or `not printed`.
pub(crate) fn limit_words(limits: &Limits) -> String {
    let iops = limits.iops.map(|iops: Iops| iops.to_string());
    let bandwidth = limits.bandwidth.map(|rate: BytesPerSec| {
        let printed = megabytes(rate).map(|number| format!("{number} MB/s"));
        printed.unwrap_or_else(|| rate.to_string())
    });
    let words: Vec<_> = iops.into_iter().chain(bandwidth).collect();
    if words.is_empty() {
        "not printed".to_owned()
    } else {
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_listed_as_its_page_prints_it() {
        let list = Catalog::builtin().list();
        let summary = |name: &str| {
            let mut rows = list.iter().filter(|row| row.name == name);
            rows.next().map(|row| row.summary.as_str())
        };
        let small = summary("Standard_B2ms").unwrap();
        assert!(small.contains("1,920 / 22.5"), "{small}");
        let large = summary("Standard_GS5").unwrap();
        assert!(large.contains("80,000 / 2,000"), "{large}");
    }

    #[test]
    fn all_eras_of_a_name_are_shown_with_their_sources() {
        let rows = Catalog::builtin().show("standard_ds14").unwrap();
        let eras: Vec<_> = rows.iter().map(|row| row.era).collect();
        assert_eq!(eras, ["current", "2016", "2016-article"]);
        for row in rows {
            assert!(
                row.fields
                    .iter()
                    .any(|(key, value)| *key == "source" && !value.is_empty())
            );
        }
        let disk = &Catalog::builtin().show("P30").unwrap()[1];
        assert_eq!(
            disk.fields[2],
            ("limits", "5,000 IOPS, 200 MB/s".to_owned())
        );
        assert!(Catalog::builtin().show("P31").is_err());
        for (name, key, value) in [
            ("premium-v2", "IOPS by size", "at most 500 for each GiB"),
            ("Standard_DS14", "network", "8,000 Mbit/s"),
            ("P3", "burst", "3,500 IOPS, 170 MB/s (credits for 1,800 s)"),
            ("ssd-v1", "handles", "2,000 of a file, 10,000 of the root"),
            ("Standard_B2ms", "uncached limits", "1,920 IOPS, 22.5 MB/s"),
            (
                "Ultra",
                "bandwidth by IOPS",
                "at most 250 MB/s for each 1,000 IOPS",
            ),
            ("10k", "random I/O", "125 to 150 IOPS"),
            ("10k", "array, as printed", "RAID-5 of 6: 1,000 IOPS"),
            ("premium", "bandwidth", "64 MiB/s for each TiB of quota"),
            ("premium", "capacity pool", "1 TiB to 2 PiB"),
            (
                "flexible",
                "bandwidth",
                "assigned, 640 MiB/s for each TiB of the pool at most",
            ),
            ("hdd-v2", "IOPS", "1,000 + 0.2 × GiB, at most 50,000 IOPS"),
            ("hdd-payg", "IOPS", "20,000 IOPS"),
            ("hdd-payg", "bandwidth", "6,400 MiB/s"),
            (
                "ssd-v1",
                "bandwidth",
                "100 + 0.04 × GiB + 0.06 × GiB MiB/s, at most 10,340 MiB/s",
            ),
        ] {
            let rows = Catalog::builtin().show(name).unwrap();
            let found = rows.iter().flat_map(|row| &row.fields);
            let found = found
                .filter(|(found, _)| *found == key)
                .map(|(_, value)| value);
            assert!(
                found.clone().any(|found| found == value),
                "{name}: {:?}",
                found.collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn the_list_holds_every_row() {
        let catalog = Catalog::builtin();
        let rows = [
            catalog.vms().len(),
            catalog.disks().len(),
            catalog.adjustable_disks().len(),
            catalog.generic_devices().len(),
            catalog.service_levels().len(),
            catalog.share_models().len(),
        ];
        assert_eq!(catalog.list().len(), rows.iter().sum::<usize>());
        assert!(rows.iter().all(|rows| *rows > 0));
        assert!(catalog.list().iter().all(|row| !row.summary.is_empty()));
    }
}
