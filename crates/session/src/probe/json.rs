//! What `fathom probe --json` prints.

use fathom_engine::{DeviceFacts, FileSystem, Survey, TargetKind, Writing};
use fathom_record::InMemory;
use fathom_units::Bytes;
use serde_json::{Value, json};

use super::{Found, Machine};

/// Of this document; a key keeps its meaning within a version.
const SCHEMA: &str = "fathom.probe/1";

pub(super) fn document(machine: &Machine, found: &Found) -> Value {
    let (devices, targets): (Vec<_>, Vec<_>) = match found {
        Found::Devices(devices) => (devices.iter().map(device).collect(), Vec::new()),
        Found::Targets(targets) => (Vec::new(), targets.iter().map(target).collect()),
    };
    json!({
        "schema": SCHEMA,
        "machine": machine.environment,
        "io_uring": { "usable": machine.no_uring.is_none(), "why_not": machine.no_uring },
        "devices": devices,
        "targets": targets,
    })
}

fn bytes(of: Option<Bytes>) -> Option<u64> {
    of.map(Bytes::get)
}

fn device(device: &DeviceFacts) -> Value {
    json!({
        "name": device.name,
        "model": device.model,
        "serial": device.serial,
        "firmware": device.firmware,
        "transport": device.transport,
        "file": device.file,
        "size_bytes": device.size.get(),
        "rotational": device.rotational,
        "logical_block_bytes": bytes(device.logical_block),
        "physical_block_bytes": bytes(device.physical_block),
        "request_max_bytes": bytes(device.request_max),
        "requests": device.requests,
        "scheduler": device.scheduler,
        "write_cache": device.write_cache,
        "trim_max_bytes": bytes(device.trim_max),
        "polls": device.polls,
        "uses": device.uses,
    })
}

fn target(target: &Survey) -> Value {
    let (kind, size, without_data) = match &target.kind {
        TargetKind::Directory => ("directory", None, None),
        TargetKind::File { size, without_data } => ("file", Some(*size), *without_data),
        TargetKind::Device { size } => ("device", Some(*size), None),
        TargetKind::Nothing(_) => ("nothing", None, None),
    };
    let direct = target.direct.as_ref();
    json!({
        "path": target.path,
        "kind": kind,
        "size_bytes": bytes(size),
        "without_data_bytes": bytes(without_data),
        "file_system": target.file_system.as_ref().map(file_system),
        "devices": target.devices.iter().map(device).collect::<Vec<_>>(),
        "in_memory": target.in_memory.as_ref().map(in_memory),
        "direct_io": direct.map(Result::is_ok),
        "no_direct_io_because": direct.and_then(|direct| direct.as_ref().err()),
        "writing": writing(&target.writing),
    })
}

fn file_system(on: &FileSystem) -> Value {
    json!({
        "kind": on.kind,
        "mounted_at": on.mounted_at,
        "options": on.options,
        "free_bytes": bytes(on.free),
    })
}

fn in_memory(by: &InMemory) -> &str {
    match by {
        InMemory::FileSystem(kind) => kind,
        InMemory::Device(name) | InMemory::PageCache { device: name, .. } => name,
    }
}

fn writing(writing: &Writing) -> Value {
    match writing {
        Writing::NewFile => json!({ "allowed": "new-file" }),
        Writing::OwnFile => json!({ "allowed": "own-file" }),
        Writing::WithOverwrite => json!({ "allowed": "with-option", "option": "--overwrite" }),
        Writing::WithName { name, file_system } => json!({
            "allowed": "with-option",
            "option": format!("--destroy-data={name}"),
            "destroys": file_system,
        }),
        Writing::Refused(refusal) => json!({ "allowed": "no", "found": refusal.found }),
        Writing::Denied(why) => json!({ "allowed": "no", "found": [why] }),
    }
}
