//! A design as it stands in a record, with everything that the file left to defaults.

use serde_json::{Map, Value, json};

use super::{
    CacheStart, Design, Device, HostCaching, LatencyChoice, LatencyOrigin, Mount, Role, Vm, Volume,
};

impl Design {
    /// The whole design, keys as in the design file but with their unit.
    pub fn to_json(&self) -> Value {
        json!({
            "vm": self.vms.iter().map(vm).collect::<Vec<_>>(),
            "device": self.devices.iter().map(device).collect::<Vec<_>>(),
        })
    }
}

fn vm(vm: &Vm) -> Value {
    json!({
        "name": vm.name,
        "size": vm.size.name,
        "era": vm.size.era.name(),
        "burst": "off",
        "source": vm.size.source.to_string(),
        "volume": vm.volumes.iter().map(volume).collect::<Vec<_>>(),
    })
}

fn volume(volume: &Volume) -> Value {
    let mut row = Map::new();
    row.insert("name".to_owned(), json!(volume.name));
    mount(&volume.mount, &mut row);
    row.insert(
        "disks".to_owned(),
        json!({
            "type": volume.disk.name,
            "count": volume.disk_count,
            "era": volume.disk.era.name(),
            "source": volume.disk.source.to_string(),
        }),
    );
    row.insert("columns".to_owned(), json!(volume.columns));
    row.insert(
        "stripe_unit_bytes".to_owned(),
        json!(volume.stripe_unit.get()),
    );
    let caching = match volume.caching {
        HostCaching::None => "none",
        HostCaching::ReadOnly => "read-only",
        HostCaching::ReadWrite => "read-write",
    };
    row.insert("caching".to_owned(), json!(caching));
    if volume.caching != HostCaching::None {
        let start = match volume.cache_start {
            CacheStart::Cold => "cold",
            CacheStart::Warm => "warm",
        };
        row.insert("cache".to_owned(), json!(start));
    }
    let role = match volume.role {
        Role::Os => "os",
        Role::Data => "data",
        Role::Log => "log",
    };
    row.insert("role".to_owned(), json!(role));
    row.insert("burst".to_owned(), json!("off"));
    row.insert("latency".to_owned(), latency(&volume.latency));
    Value::Object(row)
}

fn device(device: &Device) -> Value {
    let mut row = Map::new();
    row.insert("name".to_owned(), json!(device.name));
    mount(&device.mount, &mut row);
    row.insert("size_bytes".to_owned(), json!(device.size.get()));
    if let Some(iops) = device.limits.iops {
        row.insert("iops".to_owned(), json!(iops.get()));
    }
    if let Some(rate) = device.limits.bandwidth {
        row.insert("bandwidth_bytes_per_sec".to_owned(), json!(rate.get()));
    }
    row.insert("latency".to_owned(), latency(&device.latency));
    Value::Object(row)
}

fn mount(mount: &Mount, row: &mut Map<String, Value>) {
    let key = match mount {
        Mount::Path(_) => "mount",
        Mount::Drive(_) => "drive",
    };
    row.insert(key.to_owned(), json!(mount.to_string()));
}

fn latency(choice: &LatencyChoice) -> Value {
    match choice {
        LatencyChoice::None => json!("none"),
        LatencyChoice::LogNormal {
            median,
            p99,
            origin,
        } => {
            let origin = match origin {
                LatencyOrigin::Design => "design",
                LatencyOrigin::Assumed => "assumed",
                LatencyOrigin::Published => "published",
            };
            json!({ "median_ns": median.get(), "p99_ns": p99.get(), "origin": origin })
        }
    }
}
