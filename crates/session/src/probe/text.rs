//! What `fathom probe` shows.

use fathom_engine::{DeviceFacts, Survey, TargetKind, Writing};
use fathom_record::InMemory;
use fathom_report::{Lines, shell_word};
use fathom_units::{Bytes, group_digits};

use super::{Found, Machine, export};

/// Columns of what a line is about.
const HEAD: usize = 12;

pub(super) fn write(lines: &mut Lines, machine: &Machine, found: &Found) {
    match found {
        Found::Devices(devices) => {
            write_machine(lines, machine);
            lines.push_str("\n");
            write_devices(lines, devices);
        }
        Found::Targets(targets) => {
            let looked_at = targets.iter().filter_map(|(_, found)| found.as_ref().ok());
            let is_any_local = looked_at.clone().any(is_local);
            for (index, target) in looked_at.enumerate() {
                if index > 0 {
                    lines.push_str("\n");
                }
                write_target(lines, target);
            }
            if let Some(why) = machine.no_uring.as_ref().filter(|_| is_any_local) {
                row(lines, "io_uring", &format!("cannot be used here: {why}"));
            }
        }
    }
}

/// Whether it is of this machine, as far as can be told.
fn is_local(target: &Survey) -> bool {
    let kind = &target.kind;
    !matches!(kind, TargetKind::Export(_) | TargetKind::NbdServer { .. })
}

pub(super) fn row(lines: &mut Lines, head: &str, body: &str) {
    lines.wrap(&format!("  {head:HEAD$} "), body, HEAD + 3);
}

fn write_machine(lines: &mut Lines, machine: &Machine) {
    let text = |key: &str| machine.environment[key].as_str().unwrap_or("not known");
    let number = |key: &str| machine.environment[key].as_u64();
    let mut processors = text("cpu_model").to_owned();
    if let Some(count) = number("cpu_count") {
        processors = format!("{count} × {processors}");
    }
    lines.line("", text("hostname"), 2);
    row(lines, "processors", &processors);
    if let Some(memory) = number("memory_bytes") {
        row(lines, "memory", &Bytes::new(memory).to_string());
    }
    row(lines, "kernel", text("kernel"));
    row(lines, "clock", text("clock_source"));
    let uring = match &machine.no_uring {
        None => "can be used".to_owned(),
        Some(why) => format!("cannot be used here: {why}"),
    };
    row(lines, "io_uring", &uring);
}

fn write_devices(lines: &mut Lines, devices: &[DeviceFacts]) {
    if devices.is_empty() {
        lines.line("", "no block device is known here", 2);
        return;
    }
    for device in devices {
        lines.line(
            &format!("{:HEAD$} ", device.name),
            &identity(device),
            HEAD + 1,
        );
        let uses = match device.uses.as_slice() {
            [] => "free: nothing is known to use it".to_owned(),
            uses => uses.join("; "),
        };
        row(lines, "used", &uses);
    }
    let first = &devices[0].name;
    lines.push_str("\n");
    let next = format!("`fathom probe /dev/{first}` says more of one");
    lines.wrap("", &next, 2);
}

/// Size, kind and name of a device, on one line.
fn identity(device: &DeviceFacts) -> String {
    let medium = device.rotational.filter(|_| device.file.is_none());
    let parts = [
        Some(device.size.to_string()),
        device.transport.map(str::to_owned),
        medium.map(|rotates| {
            if rotates {
                "says that it rotates"
            } else {
                "solid state"
            }
            .to_owned()
        }),
        device.model.clone(),
        device
            .serial
            .as_ref()
            .map(|serial| format!("serial {serial}")),
        device
            .firmware
            .as_ref()
            .map(|version| format!("firmware {version}")),
        device.file.as_ref().map(|file| format!("over `{file}`")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn write_target(lines: &mut Lines, target: &Survey) {
    lines.line("", &format!("{}: {}", target.path, kind(&target.kind)), 2);
    if let Some(on) = &target.file_system {
        let mounted = format!("{} mounted at {} ({})", on.kind, on.mounted_at, on.options);
        row(lines, "file system", &mounted);
        if let Some(free) = on.free {
            row(lines, "free", &free.to_string());
        }
    }
    for device in &target.devices {
        row(
            lines,
            "device",
            &format!("{}: {}", device.name, identity(device)),
        );
        row(lines, "", &limits(device));
    }
    export::write(lines, &target.kind);
    let by_itself = matches!(target.in_memory, Some(InMemory::FileSystem(_)));
    if target.devices.is_empty() && !by_itself && is_local(target) {
        row(
            lines,
            "device",
            "none is known below it, as with network storage",
        );
    }
    if let Some(by) = &target.in_memory {
        row(lines, "memory", &in_memory(by));
    }
    match &target.direct {
        Some(Ok(())) => row(lines, "direct I/O", "can be used"),
        Some(Err(why)) => row(lines, "direct I/O", &format!("cannot be used: {why}")),
        None => {}
    }
    row(lines, "writing", &writing(&target.writing));
    if let Some(next) = next(target) {
        row(lines, "next", &next);
    }
}

fn kind(kind: &TargetKind) -> String {
    match kind {
        TargetKind::Directory => "a directory".to_owned(),
        TargetKind::Device { size } => format!("a block device of {size}"),
        TargetKind::Export(facts) => {
            let size = Bytes::new(facts.offer.size);
            format!("an export of {size} of an NBD server")
        }
        TargetKind::NbdServer { names, .. } => match names.len() {
            1 => "an NBD server with one export".to_owned(),
            count => format!("an NBD server with {count} exports"),
        },
        TargetKind::Nothing(above) => {
            format!("nothing is there; what follows is of `{}`", above.display())
        }
        TargetKind::File { size, without_data } => {
            let share = without_data.filter(|without| without.get() > 0 && size.get() > 0);
            let share = share.map(|without| {
                let percent = without.get() as f64 / size.get() as f64 * 100.0;
                format!(
                    ", {percent:.0} % of it holes or unwritten extents: reading there reaches no device"
                )
            });
            format!("a file of {size}{}", share.unwrap_or_default())
        }
    }
}

/// What requests to a device can be, and how they wait.
fn limits(device: &DeviceFacts) -> String {
    let blocks = [
        (device.logical_block, "logical"),
        (device.physical_block, "physical"),
    ];
    let blocks = blocks
        .into_iter()
        .filter_map(|(size, what)| Some(format!("{} {what}", size?)));
    let blocks = blocks.collect::<Vec<_>>().join(", ");
    let parts = [
        (!blocks.is_empty()).then(|| format!("blocks {blocks}")),
        device
            .request_max
            .map(|most| format!("requests up to {most}")),
        device
            .requests
            .map(|count| format!("{} a queue", group_digits(count))),
        device
            .scheduler
            .as_ref()
            .map(|name| format!("scheduler {name}")),
        device
            .write_cache
            .as_ref()
            .map(|kind| format!("write cache: {kind}")),
        device.trim_max.map(|most| match most.get() {
            0 => "no trim".to_owned(),
            _ => format!("trims up to {most}"),
        }),
        device
            .polls
            .filter(|polls| *polls)
            .map(|_| "can be polled".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn in_memory(by: &InMemory) -> String {
    match by {
        InMemory::FileSystem(kind) => {
            format!("{kind} keeps its files in memory: no storage is measured there")
        }
        InMemory::Device(name) => {
            format!("{name} keeps its data in memory: no storage is measured there")
        }
        InMemory::PageCache { device, file } => format!(
            "{device} goes through the page cache of `{file}`, also for direct I/O; \
             `losetup --direct-io=on` makes it not"
        ),
    }
}

fn writing(writing: &Writing) -> String {
    match writing {
        Writing::NewFile => "to a file that the run makes".to_owned(),
        Writing::OwnFile => "allowed: an earlier run made this file".to_owned(),
        Writing::WithOverwrite => {
            "needs `--overwrite`: no run made this file, and what it holds is lost".to_owned()
        }
        Writing::WithName { name, file_system } => {
            let holds = file_system.map(|kind| format!(" a file system ({kind}) and"));
            let holds = holds.unwrap_or_default();
            let word = shell_word(name);
            format!("needs `--destroy-data={word}`, and destroys{holds} all it holds")
        }
        Writing::Refused(refusal) => format!("refused: {}", refusal.found.join("; ")),
        Writing::Denied(why) => format!("not possible: {why}"),
    }
}

/// How a run that destroys nothing can be begun there; `None` where it would tell of no storage.
fn next(target: &Survey) -> Option<String> {
    let path = shell_word(&target.path);
    match (&target.kind, &target.writing) {
        _ if target.in_memory.is_some() => None,
        (TargetKind::Export(_), _) => Some(export::next(&path)),
        (TargetKind::Directory, Writing::NewFile) => {
            Some(format!("`fathom run quick --target {path}`"))
        }
        (TargetKind::File { without_data, .. }, _)
            if without_data.is_some_and(|bytes| bytes > Bytes::ZERO) =>
        {
            None
        }
        (TargetKind::Device { .. } | TargetKind::File { .. }, _)
            if matches!(target.direct, Some(Ok(()))) =>
        {
            Some(format!(
                "`fathom run fio --name=read --rw=randread --bs=4k --iodepth=32 \
                 --ioengine=io_uring --direct=1 --runtime=30 --time_based --filename={path}`, \
                 which only reads"
            ))
        }
        _ => None,
    }
}
