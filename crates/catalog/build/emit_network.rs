//! Rows of generic devices, of volumes over NFS and of shares over SMB as Rust constants.

use super::emit::{Render, render};
use super::row::{Row, camel};

/// The tables of this file.
pub const OTHERS: [Render; 13] = [
    render(
        "generic_device",
        "GENERIC_DEVICES",
        "GenericDevice",
        generic_device,
    ),
    render(
        "generic_array",
        "GENERIC_ARRAYS",
        "GenericArray",
        generic_array,
    ),
    render("raid5", "RAID5", "Raid5Rules", raid5),
    render(
        "on_demand_bursting",
        "ON_DEMAND",
        "OnDemandRules",
        on_demand,
    ),
    render(
        "service_level",
        "SERVICE_LEVELS",
        "ServiceLevel",
        service_level,
    ),
    render(
        "netapp_volume",
        "NETAPP_VOLUME",
        "VolumeRules",
        netapp_volume,
    ),
    render("nfs", "NFS", "NfsRules", nfs),
    render("share_model", "SHARE_MODELS", "ShareModel", share_model),
    render("share_file", "SHARE_FILES", "ShareFile", share_file),
    render("share_handles", "SHARE_HANDLES", "HandleLimits", handles),
    render(
        "share_metadata",
        "SHARE_METADATA",
        "MetadataLimits",
        metadata,
    ),
    render("share_channel", "SHARE_CHANNEL", "ChannelLimits", channel),
    render("round_trip", "ROUND_TRIPS", "RoundTrip", round_trip),
];

fn generic_device(row: &Row<'_>) -> String {
    format!(
        "GenericDevice {{ name: {:?}, title: {:?}, iops_low: Iops::new({}), \
         iops_high: Iops::new({}), source: {} }}",
        row.text("name"),
        row.text("title"),
        row.plain("iops_low"),
        row.plain("iops_high"),
        row.source()
    )
}

fn generic_array(row: &Row<'_>) -> String {
    format!(
        "GenericArray {{ disk: {:?}, disks: {}, raid: {}, iops: Iops::new({}), source: {} }}",
        row.text("disk"),
        row.plain("disks"),
        row.plain("raid"),
        row.plain("printed_iops"),
        row.source()
    )
}

fn raid5(row: &Row<'_>) -> String {
    format!(
        "Raid5Rules {{ small_write_ios: {}, min_disks: {}, source: {} }}",
        row.plain("small_write_ios"),
        row.plain("min_disks"),
        row.source()
    )
}

fn on_demand(row: &Row<'_>) -> String {
    format!(
        "OnDemandRules {{ unit: Bytes::kib({}), billed_transactions: {}, min_hours: {}, source: {} }}",
        row.plain("unit_kib"),
        row.plain("billed_transactions"),
        row.plain("min_hours"),
        row.source()
    )
}

fn service_level(row: &Row<'_>) -> String {
    format!(
        "ServiceLevel {{ name: {:?}, title: {:?}, qos: Qos::{}, bandwidth_per_tib: {}, \
         pool_bandwidth: {}, pool_max_bandwidth_per_tib: {}, source: {} }}",
        row.text("name"),
        row.text("title"),
        camel(row.text("qos")),
        row.rate_mib("mibps_per_tib"),
        row.rate_mib("pool_mibps"),
        row.rate_mib("pool_max_mibps_per_tib"),
        row.source()
    )
}

fn netapp_volume(row: &Row<'_>) -> String {
    format!(
        "VolumeRules {{ min_size: Bytes::gib({}), min_pool: Bytes::gib({}), max_pool: Bytes::gib({}), max_size: Bytes::gib({}), max_bandwidth: {}, \
         min_bandwidth: {}, large_min_size: Bytes::gib({}), large_max_size: Bytes::gib({}), \
         large_max_bandwidth: {}, max_file: Bytes::gib({}), source: {} }}",
        row.plain("min_gib"),
        row.plain("pool_min_tib") << 10,
        row.plain("pool_max_tib") << 10,
        row.plain("max_tib") << 10,
        required_rate(row, "max_mibps"),
        required_rate(row, "min_mibps"),
        row.plain("large_min_tib") << 10,
        row.plain("large_max_tib") << 10,
        required_rate(row, "large_max_mibps"),
        row.plain("max_file_tib") << 10,
        row.source()
    )
}

fn required_rate(row: &Row<'_>, key: &str) -> String {
    format!("BytesPerSec::new({})", row.plain(key) << 20)
}

fn nfs(row: &Row<'_>) -> String {
    format!(
        "NfsRules {{ max_connections: {}, best_connections: {}, slots_per_connection: {}, \
         max_session_slots: {}, default_session_slots: {}, default_io: Bytes::kib({}), \
         recommended_io: Bytes::kib({}), max_io: Bytes::kib({}), source: {} }}",
        row.plain("max_connections"),
        row.plain("best_connections"),
        row.plain("slots_per_connection"),
        row.plain("max_session_slots"),
        row.plain("default_session_slots"),
        row.plain("default_io_kib"),
        row.plain("recommended_io_kib"),
        row.plain("max_io_kib"),
        row.source()
    )
}

fn share_model(row: &Row<'_>) -> String {
    let burst = match row.text("burst_of") {
        "" => "None".to_owned(),
        of => format!(
            "Some(ShareBurst {{ of: BurstOf::{}, factor: {}, floor: Iops::new({}) }})",
            camel(of),
            row.plain("burst_factor"),
            row.plain("burst_floor_iops")
        ),
    };
    format!(
        "ShareModel {{ name: {:?}, title: {:?}, media: ShareMedia::{}, sold: Sold::{}, \
         min_size: Bytes::gib({}), max_size: Bytes::gib({}), base_iops: {}, \
         milli_iops_per_gib: {}, min_iops: {}, max_iops: Iops::new({}), base_mibps: {}, \
         milli_mibps_per_gib: {}, min_mibps: {}, max_mibps: {}, write_bandwidth: {}, burst: {burst}, \
         source: {} }}",
        row.text("name"),
        row.text("title"),
        camel(row.text("media")),
        camel(row.text("sold")),
        row.plain("min_gib"),
        row.plain("max_tib") << 10,
        row.plain("base_iops"),
        row.thousandths("iops_per_gib"),
        row.optional("min_iops", "Iops::new"),
        row.plain("max_iops"),
        row.plain("base_mibps"),
        row.thousandths_of_all("mibps_per_gib"),
        row.integer("min_mibps"),
        row.plain("max_mibps"),
        row.rate_mib("write_mibps"),
        row.source()
    )
}

fn share_file(row: &Row<'_>) -> String {
    format!(
        "ShareFile {{ media: ShareMedia::{}, max_size: Bytes::gib({}), limits: {}, source: {} }}",
        camel(row.text("media")),
        row.plain("max_tib") << 10,
        row.limits_mib("file_"),
        row.source()
    )
}

fn handles(row: &Row<'_>) -> String {
    format!(
        "HandleLimits {{ root: {}, file: {}, file_preview: {}, source: {} }}",
        row.plain("root"),
        row.plain("file"),
        row.plain("file_preview"),
        row.source()
    )
}

fn metadata(row: &Row<'_>) -> String {
    format!(
        "MetadataLimits {{ iops: Iops::new({}), cached_iops: Iops::new({}), \
         cached_latency_reduction_percent: {}, cached_iops_gain_percent: {}, source: {} }}",
        row.plain("plain_iops"),
        row.plain("with_cache_iops"),
        row.plain("cached_latency_reduction_percent"),
        row.plain("cached_iops_gain_percent"),
        row.source()
    )
}

fn channel(row: &Row<'_>) -> String {
    format!(
        "ChannelLimits {{ max_channels: {}, read: {}, write: {}, small_io: Bytes::kib({}), \
         small_io_penalty_percent: {}, single_thread_penalty_percent: {}, source: {} }}",
        row.plain("max_channels"),
        row.limits_mib("read_"),
        row.limits_mib("write_"),
        row.plain("small_io_kib"),
        row.plain("small_io_penalty_percent"),
        row.plain("single_thread_penalty_percent"),
        row.source()
    )
}

fn round_trip(row: &Row<'_>) -> String {
    format!(
        "RoundTrip {{ name: {:?}, rtt: Nanos::from_micros({}), assumed: {}, source: {} }}",
        row.text("name"),
        row.plain("rtt_us"),
        row.truth("assumed"),
        row.source()
    )
}
