//! What `fathom probe --json` prints.

use fathom_engine::{
    DeviceFacts, EngineError, ExportFacts, FileSystem, Survey, TargetKind, Writing,
};
use fathom_record::InMemory;
use fathom_units::Bytes;
use serde_json::{Value, json};

use super::{Found, Machine};

/// Of this document; a key keeps its meaning within a version.
const SCHEMA: &str = "fathom.probe/1";

pub(super) fn document(machine: &Machine, found: &Found) -> Value {
    let (devices, targets): (Vec<_>, Vec<_>) = match found {
        Found::Devices(devices) => (devices.iter().map(device).collect(), Vec::new()),
        Found::Targets(targets) => {
            let all = targets.iter().map(|(path, found)| match found {
                Ok(found) => target(found),
                Err(error) => failed(path, error),
            });
            (Vec::new(), all.collect())
        }
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

/// A target that cannot be looked at.
fn failed(path: &str, error: &EngineError) -> Value {
    let error = error.to_string();
    json!({ "path": path, "kind": null, "error": error.trim_start_matches("error: ") })
}

fn target(target: &Survey) -> Value {
    let (export, server) = match &target.kind {
        TargetKind::Export(facts) => (Some(export(facts)), Some((&facts.server, &facts.others))),
        TargetKind::NbdServer { server, names } => (None, Some((server, names))),
        _ => (None, None),
    };
    let (kind, size, without_data) = match &target.kind {
        TargetKind::Directory => ("directory", None, None),
        TargetKind::File { size, without_data } => ("file", Some(*size), *without_data),
        TargetKind::Device { size } => ("device", Some(*size), None),
        TargetKind::Export(facts) => ("export", Some(Bytes::new(facts.offer.size)), None),
        TargetKind::NbdServer { .. } => ("nbd-server", None, None),
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
        "export": export,
        "server": server.map(|(address, names)| json!({ "address": address, "exports": names })),
        "writing": writing(&target.writing),
        "error": null,
    })
}

fn export(facts: &ExportFacts) -> Value {
    let (flags, blocks) = (facts.offer.flags, facts.offer.blocks);
    json!({
        "name": facts.name,
        "block_min_bytes": blocks.minimum,
        "block_preferred_bytes": blocks.preferred,
        "request_max_bytes": blocks.maximum,
        "block_sizes_told": blocks.told,
        "read_only": flags.is_read_only(),
        "rotational": flags.is_rotational(),
        "flush": flags.has_flush(),
        "fua": flags.has_fua(),
        "trim": flags.has_trim(),
        "write_zeroes": flags.has_write_zeroes(),
        "multi_conn": flags.has_multi_conn(),
        "structured_replies": facts.has_structured_replies,
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
