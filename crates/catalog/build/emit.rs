//! Fact rows as Rust constants of the crate's own types.
//!
//! Runs after validation: every required key is there and has a sensible value.

use std::collections::HashMap;
use std::fmt::Write as _;

use toml::{Table, Value};

/// The constant tables of one fact file.
pub fn tables(facts: &Table) -> String {
    let sources = facts
        .get("sources")
        .and_then(Value::as_table)
        .cloned()
        .unwrap_or_default();
    let sources: HashMap<String, String> = sources
        .iter()
        .map(|(name, row)| (name.clone(), source(name, row)))
        .collect();
    let mut code = String::new();
    for (table, rows) in facts {
        let (constant, row_type, render): (&str, &str, fn(&Row<'_>) -> String) =
            match table.as_str() {
                "vm_size" => ("VM_SIZES", "VmSize", vm_size),
                "disk" => ("DISKS", "Disk", disk),
                "adjustable" => ("ADJUSTABLE", "AdjustableDisk", adjustable),
                "accounting" => ("ACCOUNTING", "Accounting", accounting),
                "io_unit" => ("IO_UNITS", "IoUnit", io_unit),
                "latency_target" => ("LATENCY_TARGETS", "LatencyTarget", latency_target),
                "media_latency" => ("MEDIA_LATENCIES", "MediaLatency", media_latency),
                "price" => ("PRICES", "Price", price),
                "host_cache" => {
                    let row = rows.as_table().cloned().unwrap_or_default();
                    let row = Row {
                        row: &row,
                        sources: &sources,
                    };
                    code.push_str(&host_cache(&row));
                    continue;
                }
                _ => continue,
            };
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(code, "pub(crate) static {constant}: &[{row_type}] = &[");
        for row in rows.as_array().map_or(&[][..], Vec::as_slice) {
            if let Some(row) = row.as_table() {
                let _ = writeln!(
                    code,
                    "    {},",
                    render(&Row {
                        row,
                        sources: &sources
                    })
                );
            }
        }
        code.push_str("];\n");
    }
    code
}

fn source(name: &str, row: &Value) -> String {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    format!(
        "Source {{ key: {name:?}, page: {:?}, date: {:?}, revision: {:?} }}",
        text("page"),
        text("date"),
        text("revision")
    )
}

/// A row and the sources it may name.
struct Row<'a> {
    row: &'a Table,
    sources: &'a HashMap<String, String>,
}

impl Row<'_> {
    fn text(&self, key: &str) -> &str {
        self.row
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.row.get(key).and_then(Value::as_integer)
    }

    fn plain(&self, key: &str) -> i64 {
        self.number(key).unwrap_or_default()
    }

    fn truth(&self, key: &str) -> bool {
        self.row
            .get(key)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// A number that may have a fraction, in thousandths.
    fn thousandths(&self, key: &str) -> i64 {
        match self.row.get(key) {
            Some(Value::Float(number)) => (number * 1000.0).round() as i64,
            Some(Value::Integer(number)) => number * 1000,
            _ => 0,
        }
    }

    fn optional(&self, key: &str, wrap: &str) -> String {
        self.number(key).map_or_else(
            || "None".to_owned(),
            |number| format!("Some({wrap}({number}))"),
        )
    }

    fn integer(&self, key: &str) -> String {
        self.number(key)
            .map_or_else(|| "None".to_owned(), |number| format!("Some({number})"))
    }

    /// A rate in 10^6 bytes/s, which may have a fraction.
    fn rate(&self, key: &str) -> String {
        match self.thousandths(key) {
            0 => "None".to_owned(),
            thousandths => format!("Some(BytesPerSec::new({}))", thousandths * 1000),
        }
    }

    fn limits(&self, prefix: &str) -> String {
        format!(
            "Limits {{ iops: {}, bandwidth: {} }}",
            self.optional(&format!("{prefix}iops"), "Iops::new"),
            self.rate(&format!("{prefix}mbps"))
        )
    }

    fn source(&self) -> &str {
        self.sources
            .get(self.text("source"))
            .map_or("", String::as_str)
    }

    fn words(&self, key: &str, of: &str) -> String {
        let list = self.row.get(key).and_then(Value::as_array);
        let list = list.map_or(&[][..], Vec::as_slice).iter();
        let names = list
            .filter_map(Value::as_str)
            .map(|word| format!("{of}::{}", camel(word)));
        format!("&[{}]", names.collect::<Vec<_>>().join(", "))
    }
}

/// `premium_ssd_v2` or `read-hit` as the name of an enum's variant.
fn camel(word: &str) -> String {
    let parts = word.split(['_', '-']);
    parts
        .map(|part| {
            part.chars().next().map_or_else(String::new, |first| {
                first.to_uppercase().collect::<String>() + &part[first.len_utf8()..]
            })
        })
        .collect()
}

fn vm_size(row: &Row<'_>) -> String {
    format!(
        "VmSize {{ era: Era::new({:?}), name: {:?}, series: {:?}, vcpus: {}, memory: Bytes::mib({}), \
         max_data_disks: {}, cache: {}, cached: {}, uncached: {}, burst_cached: {}, \
         burst_uncached: {}, temporary_disk: {}, temporary: {}, temporary_write: {}, \
         nvme_disks: {}, nvme_read: {}, data_disk_iops_each: {}, article_cache_limit: {}, \
         network_cards: {}, network_mbps: {}, premium: {}, premium_caching: {}, source: {} }}",
        row.text("era"),
        row.text("name"),
        row.text("series"),
        row.plain("vcpus"),
        row.thousandths("memory_gib") * 1024 / 1000,
        row.plain("max_data_disks"),
        row.optional("cache_gib", "Bytes::gib"),
        row.limits("cached_"),
        row.limits("uncached_"),
        row.limits("burst_cached_"),
        row.limits("burst_uncached_"),
        row.optional("temp_storage_gib", "Bytes::gib"),
        row.limits("temp_"),
        row.rate("temp_write_mbps"),
        row.integer("nvme_disks"),
        row.limits("nvme_read_"),
        row.optional("data_disk_iops_each", "Iops::new"),
        row.limits("article_cache_io_limit_"),
        row.integer("max_nics"),
        row.integer("network_mbps"),
        row.truth("premium"),
        row.truth("premium_caching"),
        row.source()
    )
}

fn disk(row: &Row<'_>) -> String {
    let burst = if row.text("burst").is_empty() {
        "None".to_owned()
    } else {
        format!(
            "Some(Burst {{ mode: BurstMode::{}, limits: {}, seconds: {} }})",
            camel(row.text("burst")),
            row.limits("burst_"),
            row.integer("burst_seconds")
        )
    };
    format!(
        "Disk {{ era: Era::new({:?}), name: {:?}, kind: DiskKind::{}, size: Bytes::gib({}), \
         limits: {}, burst: {burst}, performance_plus: {}, guaranteed: {}, host_cacheable: {}, \
         source: {} }}",
        row.text("era"),
        row.text("name"),
        camel(row.text("kind")),
        row.plain("size_gib"),
        row.limits(""),
        row.limits("performance_plus_"),
        row.truth("guaranteed"),
        row.truth("host_cacheable"),
        row.source()
    )
}

fn adjustable(row: &Row<'_>) -> String {
    format!(
        "AdjustableDisk {{ kind: DiskKind::{}, min_size: Bytes::gib({}), max_size: Bytes::gib({}), \
         min: Limits {{ iops: Some(Iops::new({})), bandwidth: Some(BytesPerSec::mb({})) }}, \
         max: Limits {{ iops: Some(Iops::new({})), bandwidth: Some(BytesPerSec::mb({})) }}, \
         iops_per_gib: {}, bytes_per_io: {}, source: {} }}",
        camel(row.text("kind")),
        row.plain("min_size_gib"),
        row.plain("max_size_gib"),
        row.plain("min_iops"),
        row.plain("min_mbps"),
        row.plain("max_iops"),
        row.plain("max_mbps"),
        row.plain("iops_per_gib"),
        row.plain("kbps_per_iops") * 1000,
        row.source()
    )
}

fn accounting(row: &Row<'_>) -> String {
    format!(
        "Accounting {{ mode: AccountingMode::{}, access: CacheAccess::{}, counts: {}, later: {}, \
         source: {} }}",
        camel(row.text("mode")),
        camel(row.text("access")),
        row.words("counts", "Budget"),
        row.words("later", "Budget"),
        row.source()
    )
}

fn host_cache(row: &Row<'_>) -> String {
    format!(
        "pub(crate) static HOST_CACHE: HostCacheRules = HostCacheRules {{ kinds: {}, \
         max_disk: Bytes::gib({}), source: {} }};\n",
        row.words("kinds", "DiskKind"),
        row.plain("max_disk_gib"),
        row.source()
    )
}

fn io_unit(row: &Row<'_>) -> String {
    format!(
        "IoUnit {{ kind: DiskKind::{}, unit: Bytes::kib({}), source: {} }}",
        camel(row.text("kind")),
        row.plain("unit_kib"),
        row.source()
    )
}

fn latency_target(row: &Row<'_>) -> String {
    let share = row.thousandths("share_percent") / 10;
    let share = if share == 0 {
        "None".to_owned()
    } else {
        format!("Some({share})")
    };
    format!(
        "LatencyTarget {{ kind: DiskKind::{}, below: Nanos::from_millis({}), \
         share_basis_points: {share}, source: {} }}",
        camel(row.text("kind")),
        row.plain("below_ms"),
        row.source()
    )
}

fn media_latency(row: &Row<'_>) -> String {
    format!(
        "MediaLatency {{ tier: {:?}, median: Nanos::from_micros({}), p99: Nanos::from_micros({}), \
         assumed: {}, source: {} }}",
        row.text("tier"),
        row.plain("median_us"),
        row.plain("p99_us"),
        row.truth("assumed"),
        row.source()
    )
}

fn price(row: &Row<'_>) -> String {
    format!(
        "Price {{ item: {:?}, count: {}, usd_cents_month: {}, source: {} }}",
        row.text("item"),
        row.plain("count"),
        row.plain("usd_cents_month"),
        row.source()
    )
}
