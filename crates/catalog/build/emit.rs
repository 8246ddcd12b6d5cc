//! Fact rows as Rust constants of the crate's own types.
//!
//! Runs after validation: every required key is there and has a sensible value.

use std::collections::HashMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use super::emit_network::OTHERS;
use super::row::{Row, camel};

/// How the rows of one table become constants.
pub struct Render {
    /// Name of the table in the fact files.
    pub table: &'static str,
    /// Name of the constant.
    pub constant: &'static str,
    /// Type of a row.
    pub row_type: &'static str,
    /// A row as an expression of that type.
    pub expression: fn(&Row<'_>) -> String,
}

const DISK_AND_VM: [Render; 10] = [
    render("vm_size", "VM_SIZES", "VmSize", vm_size),
    render("disk", "DISKS", "Disk", disk),
    render("adjustable", "ADJUSTABLE", "AdjustableDisk", adjustable),
    render("accounting", "ACCOUNTING", "Accounting", accounting),
    render("io_unit", "IO_UNITS", "IoUnit", io_unit),
    render(
        "latency_target",
        "LATENCY_TARGETS",
        "LatencyTarget",
        latency_target,
    ),
    render(
        "media_latency",
        "MEDIA_LATENCIES",
        "MediaLatency",
        media_latency,
    ),
    render("price", "PRICES", "Price", price),
    render("host_cache", "HOST_CACHE", "HostCacheRules", host_cache),
    render("bursting", "BURSTING", "BurstBucket", bursting),
];

/// One entry of a list of renders.
pub const fn render(
    table: &'static str,
    constant: &'static str,
    row_type: &'static str,
    expression: fn(&Row<'_>) -> String,
) -> Render {
    Render {
        table,
        constant,
        row_type,
        expression,
    }
}

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
    for render in DISK_AND_VM.iter().chain(&OTHERS) {
        let Some(rows) = facts.get(render.table) else {
            continue;
        };
        let (constant, row_type) = (render.constant, render.row_type);
        let expression = |row: &Table| {
            let sources = &sources;
            (render.expression)(&Row { row, sources })
        };
        // Writing to a String cannot fail, here and below.
        if let Some(row) = rows.as_table() {
            let row = expression(row);
            let _ = writeln!(code, "pub(crate) static {constant}: {row_type} = {row};");
            continue;
        }
        let _ = writeln!(code, "pub(crate) static {constant}: &[{row_type}] = &[");
        let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
        for row in rows.iter().filter_map(Value::as_table) {
            let _ = writeln!(code, "    {},", expression(row));
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
        "HostCacheRules {{ kinds: {}, max_disk: Bytes::gib({}), source: {} }}",
        row.words("kinds", "DiskKind"),
        row.plain("max_disk_gib"),
        row.source()
    )
}

fn bursting(row: &Row<'_>) -> String {
    format!(
        "BurstBucket {{ what: BurstScope::{}, seconds: {}, source: {} }}",
        camel(row.text("what")),
        row.plain("seconds"),
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
