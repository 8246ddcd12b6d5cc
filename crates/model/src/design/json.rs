//! A design as it stands in a record, with everything that the file left to defaults.
//!
//! Keys are those of the design file, but with their unit; each figure that comes from the catalogue has its source, and
//! each that may be assumed says so (`origin`).

use fathom_catalog::{Limits, Source};
use fathom_units::{Bytes, BytesPerSec, Iops};
use serde_json::{Map, Value, json};

use crate::factor::Factor;

use super::{
    Burst, CacheStart, Client, Credits, Design, Device, DiskSpec, FigureOrigin, HostCacheTiers,
    HostCaching, LatencyChoice, Media, Mount, NfsVersion, NfsVolume, Role, SmbShare, Vm, Volume,
};

impl Design {
    /// The whole design, keys as in the design file but with their unit.
    pub fn to_json(&self) -> Value {
        let mut design = json!({
            "vm": self.vms.iter().map(vm).collect::<Vec<_>>(),
            "device": self.devices.iter().map(device).collect::<Vec<_>>(),
            "nfs": self.nfs.iter().map(|volume| nfs(volume, &self.vms)).collect::<Vec<_>>(),
            "smb": self.smb.iter().map(|share| smb(share, &self.vms)).collect::<Vec<_>>(),
        });
        if let (true, Some(keys)) = (self.scale != Factor::ONE, design.as_object_mut()) {
            // Figures below are those of the file.
            keys.insert("scale".to_owned(), json!(self.scale.as_f64()));
        }
        design
    }
}

/// An object that grows by keys.
#[derive(Default)]
struct Row(Map<String, Value>);

impl Row {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    fn optional(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// `PREFIXiops` and `PREFIXbandwidth_bytes_per_sec`, each where it is a limit.
    fn limits(&mut self, prefix: &str, limits: &Limits) {
        self.optional(&format!("{prefix}iops"), limits.iops.map(Iops::get));
        let key = format!("{prefix}bandwidth_bytes_per_sec");
        self.optional(&key, limits.bandwidth.map(BytesPerSec::get));
    }

    fn mount(&mut self, mount: &Mount) {
        let key = match mount {
            Mount::Path(_) => "mount",
            Mount::Drive(_) => "drive",
        };
        self.put(key, mount.to_string());
    }

    fn burst(&mut self, burst: Burst, credits: Credits) {
        let word = match burst {
            Burst::Off => "off",
            Burst::Credits => "credits",
            Burst::OnDemand => "on-demand",
        };
        self.put("burst", word);
        if burst == Burst::Credits {
            self.put("credits_share", credits.share());
        }
    }

    fn source(&mut self, source: &Source) {
        self.put("source", source.to_string());
    }
}

fn vm(vm: &Vm) -> Value {
    let mut row = Row::default();
    row.put("name", vm.name.as_str());
    row.put("size", vm.size.name);
    row.put("era", vm.era().name());
    row.limits("cached_", &vm.size.cached);
    row.limits("uncached_", &vm.size.uncached);
    row.optional("cache_bytes", vm.size.cache.map(Bytes::get));
    row.put("host_cache", host_cache(&vm.cache));
    row.optional("network_mbit_per_sec", vm.size.network_mbps);
    row.burst(vm.burst, vm.credits);
    if vm.burst != Burst::Off {
        row.limits("burst_cached_", &vm.size.burst_cached);
        row.limits("burst_uncached_", &vm.size.burst_uncached);
    }
    row.source(&vm.size.source);
    let volumes = vm.volumes.iter().filter(|one| one.media() == Media::Disks);
    row.put("volume", volumes.map(volume).collect::<Vec<_>>());
    let temporary = vm.volumes.iter().filter(|one| one.media() == Media::Temp);
    row.put("temp", temporary.map(temp).collect::<Vec<_>>());
    Value::Object(row.0)
}

fn host_cache(tiers: &HostCacheTiers) -> Value {
    let mut row = Row::default();
    row.put("latency", latency(&tiers.latency));
    if let Some(memory) = &tiers.memory {
        row.put("memory_bytes", memory.size.get());
        row.put("memory_latency", latency(&memory.latency));
    }
    Value::Object(row.0)
}

fn volume(volume: &Volume) -> Value {
    let mut row = Row::default();
    row.put("name", volume.name.as_str());
    row.mount(&volume.mount);
    row.put("disks", disks(&volume.disk, volume.disk_count));
    row.put("columns", volume.columns);
    row.put("stripe_unit_bytes", volume.stripe_unit.get());
    let caching = match volume.caching {
        HostCaching::None => "none",
        HostCaching::ReadOnly => "read-only",
        HostCaching::ReadWrite => "read-write",
    };
    row.put("caching", caching);
    if volume.caching != HostCaching::None {
        let start = match volume.cache_start {
            CacheStart::Cold => "cold",
            CacheStart::Warm => "warm",
        };
        row.put("cache", start);
    }
    let role = match volume.role {
        Role::Os => "os",
        Role::Data => "data",
        Role::Log => "log",
    };
    row.put("role", role);
    row.burst(volume.burst, volume.credits);
    row.put("latency", latency(&volume.latency));
    Value::Object(row.0)
}

fn disks(disk: &DiskSpec, count: u32) -> Value {
    let mut row = Row::default();
    row.put("type", disk.name.as_str());
    row.put("count", count);
    row.put("era", disk.era.name());
    row.put("size_bytes", disk.size.get());
    row.limits("", &disk.limits);
    if !disk.burst_limits.is_empty() {
        row.limits("burst_", &disk.burst_limits);
        row.optional("bucket_seconds", disk.bucket_seconds);
    }
    row.optional("io_unit_bytes", disk.io_unit.map(Bytes::get));
    row.put("performance_plus", disk.performance_plus);
    row.source(disk.source);
    Value::Object(row.0)
}

fn temp(volume: &Volume) -> Value {
    let mut row = Row::default();
    row.put("name", volume.name.as_str());
    row.mount(&volume.mount);
    row.put("size_bytes", volume.disk.size.get());
    row.limits("", &volume.disk.limits);
    let write = volume.disk.write_bandwidth.map(BytesPerSec::get);
    row.optional("write_bandwidth_bytes_per_sec", write);
    row.put("latency", latency(&volume.latency));
    Value::Object(row.0)
}

fn device(device: &Device) -> Value {
    let mut row = Row::default();
    row.put("name", device.name.as_str());
    row.mount(&device.mount);
    row.put("size_bytes", device.size.get());
    row.limits("", &device.limits);
    if let Some(kind) = device.kind {
        row.put("type", kind.name);
        row.put("disks", device.disk_count);
        row.limits("disk_", &device.disk_limits);
        row.put("stripe_unit_bytes", device.stripe_unit.get());
        row.put("raid", if device.raid.is_some() { "5" } else { "0" });
        let small_write = device.raid.map(|raid| raid.small_write_ios);
        row.optional("small_write_ios", small_write);
        row.source(&kind.source);
    }
    row.put("latency", latency(&device.latency));
    Value::Object(row.0)
}

fn nfs(volume: &NfsVolume, vms: &[Vm]) -> Value {
    let mut row = Row::default();
    row.put("name", volume.name.as_str());
    row.mount(&volume.mount);
    row.put("level", volume.level.name);
    row.put("quota_bytes", volume.quota.get());
    row.limits("", &volume.limits);
    let version = match volume.version {
        NfsVersion::V3 => "3",
        NfsVersion::V41 => "4.1",
    };
    row.put("largest_file_bytes", volume.largest_file.get());
    row.put("version", version);
    row.put("connections", volume.connections);
    row.put("connection_slots", volume.slots);
    row.optional("session_slots", volume.session_slots);
    row.optional("window_bytes", volume.window.map(Bytes::get));
    row.put("rsize_bytes", volume.rsize.get());
    row.put("wsize_bytes", volume.wsize.get());
    row.put("on", clients(&volume.clients, vms));
    row.put("latency", latency(&volume.latency));
    row.source(&volume.level.source);
    Value::Object(row.0)
}

fn smb(share: &SmbShare, vms: &[Vm]) -> Value {
    let mut row = Row::default();
    row.put("name", share.name.as_str());
    row.mount(&share.mount);
    row.put("model", share.model.name);
    row.put("size_bytes", share.size.get());
    row.limits("", &share.limits);
    let write = share.write_bandwidth.map(BytesPerSec::get);
    row.optional("write_bandwidth_bytes_per_sec", write);
    row.burst(share.burst, share.credits);
    if share.burst == Burst::Credits {
        row.optional("burst_iops", share.burst_iops.map(Iops::get));
        row.put("bucket_seconds", share.bucket_seconds);
    }
    row.limits("file_", &share.file_limits);
    row.put("largest_file_bytes", share.largest_file.get());
    row.put("channels", share.channels);
    row.limits("channel_read_", &share.channel.read);
    row.limits("channel_write_", &share.channel.write);
    row.put("metadata_cache", share.metadata_cache);
    row.put("metadata_iops", share.metadata_iops.get());
    row.put("handles", share.handles_per_file);
    row.put("handles_root", share.handles_root);
    row.put("on", clients(&share.clients, vms));
    row.put("latency", latency(&share.latency));
    row.source(&share.model.source);
    Value::Object(row.0)
}

fn clients(clients: &[Client], vms: &[Vm]) -> Value {
    let rows = clients.iter().map(|client| {
        let vm = client.id.index().and_then(|index| vms.get(index));
        json!({
            "vm": vm.map_or("", |vm| vm.name.as_str()),
            "rtt_ns": client.rtt.get(),
            "origin": origin(client.rtt_origin),
        })
    });
    rows.collect()
}

fn latency(choice: &LatencyChoice) -> Value {
    match choice {
        LatencyChoice::None => json!("none"),
        LatencyChoice::LogNormal {
            median,
            p99,
            origin: from,
        } => {
            json!({ "median_ns": median.get(), "p99_ns": p99.get(), "origin": origin(*from) })
        }
    }
}

fn origin(origin: FigureOrigin) -> &'static str {
    match origin {
        FigureOrigin::Design => "design",
        FigureOrigin::Assumed => "assumed",
        FigureOrigin::Published => "published",
    }
}
