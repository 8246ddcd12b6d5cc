//! What sysfs tells of a block device and of those that it is made of.
//!
//! Formats: `Documentation/ABI/stable/sysfs-block` of the kernel.

use std::path::Path;

use fathom_units::Bytes;

use crate::guard::{BlockDevice, all_devices, findings, whole_devices_under};

/// sysfs counts sizes in these, whatever the device's own.
const SECTOR: u64 = 512;
/// Deepest stack of devices that is looked into.
const DEEPEST: usize = 16;

/// What is known of a whole block device. What the kernel does not tell is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its kernel name, such as `nvme0n1`.
    pub name: String,
    /// Vendor and model, as it tells them.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Version of its firmware.
    pub firmware: Option<String>,
    /// What it is reached through, such as `NVMe` or `virtio`, or what makes it, such as `loop`.
    pub transport: Option<&'static str>,
    /// The file behind a loop device.
    pub file: Option<String>,
    /// Its size.
    pub size: Bytes,
    /// Whether it says that it has a rotating medium; virtual disks often do, whatever they lie on.
    pub rotational: Option<bool>,
    /// Smallest unit of I/O.
    pub logical_block: Option<Bytes>,
    /// Unit that it writes without reading first.
    pub physical_block: Option<Bytes>,
    /// Largest request that reaches it in one piece.
    pub request_max: Option<Bytes>,
    /// Requests that the kernel lets wait for each of its queues.
    pub requests: Option<u64>,
    /// The kernel's scheduler of its requests.
    pub scheduler: Option<String>,
    /// Whether it has a volatile cache: `write back` has, `write through` has not.
    pub write_cache: Option<String>,
    /// Largest trim; zero where it has none.
    pub trim_max: Option<Bytes>,
    /// Whether completions can be polled for.
    pub polls: Option<bool>,
    /// What uses it, or a part of it; empty where it is free.
    pub uses: Vec<String>,
}

/// All whole block devices that hold anything, by name.
pub fn block_devices() -> Vec<DeviceFacts> {
    let all = all_devices().into_iter().map(|device| facts(&device));
    all.filter(|device| device.size > Bytes::ZERO).collect()
}

/// The whole devices below what stands at `place`, the nearest first.
pub(super) fn below(place: &Path) -> Vec<DeviceFacts> {
    let found = stack_of(whole_devices_under(place));
    found.iter().map(facts).collect()
}

/// A whole device and those that it is made of, the nearest first.
pub(crate) fn stack(nearest: BlockDevice) -> Vec<BlockDevice> {
    stack_of(vec![nearest])
}

/// The same of several devices beside each other.
fn stack_of(nearest: Vec<BlockDevice>) -> Vec<BlockDevice> {
    let mut found: Vec<BlockDevice> = Vec::new();
    let mut next = nearest;
    for _ in 0..DEEPEST {
        let deeper = next.iter().flat_map(parts_of).collect();
        for device in next {
            if !found.iter().any(|known| known.name == device.name) {
                found.push(device);
            }
        }
        next = deeper;
    }
    found
}

/// Whether a device of these names is made of another of them, whose counters then hold its I/O too.
pub(crate) fn are_on_each_other(names: &[String]) -> bool {
    let found = names
        .iter()
        .filter_map(|name| BlockDevice::named(name).ok());
    // Of one name there is none below.
    let mut stacks = found.filter(|_| names.len() > 1).map(stack);
    stacks.any(|stack| (stack.iter().skip(1)).any(|device| names.contains(&device.name)))
}

/// The whole devices that `device` is made of, or that the file behind it lies on.
fn parts_of(device: &BlockDevice) -> Vec<BlockDevice> {
    match device.loop_file() {
        Some((file, _)) => whole_devices_under(&file),
        None => device.parts(),
    }
}

/// The device's size; zero where the kernel does not tell.
pub(super) fn size_of(device: &BlockDevice) -> Bytes {
    let sectors = device.attribute("size").and_then(|text| text.parse().ok());
    Bytes::new(sectors.unwrap_or(0_u64).saturating_mul(SECTOR))
}

fn facts(device: &BlockDevice) -> DeviceFacts {
    let text = |key: &str| device.attribute(key);
    let number = |key: &str| text(key)?.parse::<u64>().ok();
    let bytes = |key: &str| number(key).map(Bytes::new);
    let named = [text("device/vendor"), text("device/model")];
    let named: Vec<String> = (named.into_iter().flatten())
        // PCI's number of a virtual disk's maker is no name.
        .filter(|name| !name.starts_with("0x"))
        .collect();
    DeviceFacts {
        name: device.name.clone(),
        model: (!named.is_empty()).then(|| named.join(" ")),
        serial: device.serial(),
        firmware: text("device/firmware_rev").or_else(|| text("device/rev")),
        transport: transport(&device.place().to_string_lossy(), &device.name),
        file: device
            .loop_file()
            .map(|(file, _)| file.display().to_string()),
        size: size_of(device),
        rotational: number("queue/rotational").map(|says| says != 0),
        logical_block: bytes("queue/logical_block_size"),
        physical_block: bytes("queue/physical_block_size"),
        request_max: number("queue/max_sectors_kb").map(|kib| Bytes::new(kib.saturating_mul(1024))),
        requests: number("queue/nr_requests"),
        scheduler: text("queue/scheduler").map(|all| chosen(&all)),
        write_cache: text("queue/write_cache"),
        trim_max: bytes("queue/discard_max_bytes"),
        polls: number("queue/io_poll").map(|says| says != 0),
        uses: findings(device).0,
    }
}

/// The scheduler in force, which stands in brackets where there is a choice.
pub(crate) fn chosen(all: &str) -> String {
    let marked = all
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    marked.map_or(all, |(name, _)| name).to_owned()
}

/// What a device is reached through, by its place in sysfs and its name.
fn transport(place: &str, name: &str) -> Option<&'static str> {
    const PLACES: [(&str, &str); 9] = [
        ("/nvme", "NVMe"),
        ("/virtio", "virtio"),
        ("/usb", "USB"),
        ("/ata", "SATA"),
        ("/vmbus", "Hyper-V"),
        ("/VMBUS", "Hyper-V"),
        ("/vbd-", "Xen"),
        ("/mmc", "MMC"),
        ("/host", "SCSI"),
    ];
    const NAMES: [(&str, &str); 7] = [
        ("loop", "loop"),
        ("dm-", "device mapper"),
        ("md", "RAID"),
        ("zram", "compressed memory"),
        ("ram", "memory"),
        ("nbd", "NBD"),
        ("nullb", "null"),
    ];
    let by_place = PLACES.iter().find(|(part, _)| place.contains(part));
    let by_name = || NAMES.iter().find(|(start, _)| name.starts_with(start));
    by_place.or_else(by_name).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::DeviceNumber;
    use crate::guard::made::Kernel;

    /// A volume on a partition and a loop device, whose file is on another disk.
    fn kernel() -> Kernel {
        let kernel = Kernel::new("ext4");
        let number = |text: &str| DeviceNumber::parse(text).unwrap();
        kernel.device("dm-0", number("4001:100"));
        let disk = kernel.device("vda", number("4001:0"));
        kernel.part(&disk, "vda1", number("4001:1"));
        kernel.device("loop3", number("4001:3"));
        kernel.attach("loop3", &kernel.file("image"), "0");
        kernel.device("vdb", kernel.number_of_files());
        kernel.made_of("dm-0", "loop3");
        kernel.made_of("dm-0", "vda1");
        kernel
    }

    #[test]
    fn a_stack_goes_on_below_parts_and_files() {
        let kernel = kernel();
        let names = |name: &str| {
            let found = stack(BlockDevice::named(name).unwrap()).into_iter();
            found.map(|device| device.name).collect::<Vec<_>>()
        };
        assert_eq!(names("dm-0"), ["dm-0", "loop3", "vda", "vdb"]);
        assert_eq!(names("loop3"), ["loop3", "vdb"]);
        assert_eq!(names("vdb"), ["vdb"]);
        // Below both, and counted once.
        kernel.made_of("dm-0", "vdb");
        assert_eq!(names("dm-0"), ["dm-0", "loop3", "vda", "vdb"]);
        // No kernel has a loop device on itself.
        let own = kernel.file("image");
        kernel.attach("vdb", &own, "1");
        assert_eq!(names("vdb"), ["vdb"]);
    }

    #[test]
    fn devices_on_each_other_are_known() {
        let _kernel = kernel();
        let check = |names: &[&str], expected: bool| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(are_on_each_other(&names), expected, "{names:?}");
        };
        check(&["dm-0", "loop3"], true);
        check(&["vda", "dm-0"], true);
        check(&["loop3", "vdb"], true);
        check(&["dm-0", "vdb"], true);
        check(&["vda", "vdb"], false);
        check(&["loop3", "vda"], false);
        check(&["dm-0"], false);
        check(&[], false);
        check(&["dm-0", "gone"], false);
    }

    #[test]
    fn the_way_to_a_device_is_told_by_its_place() {
        for (place, name, expected) in [
            (
                "/sys/devices/pci0000:00/0000:00:1f.0/nvme/nvme1/nvme1n1",
                "nvme1n1",
                Some("NVMe"),
            ),
            (
                "/sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda",
                "vda",
                Some("virtio"),
            ),
            (
                "/sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda",
                "sda",
                Some("SATA"),
            ),
            (
                "/sys/devices/pci0000:00/host0/target0:2:0/0:2:0:0/block/sdb",
                "sdb",
                Some("SCSI"),
            ),
            (
                "/sys/devices/virtual/block/dm-0",
                "dm-0",
                Some("device mapper"),
            ),
            ("/sys/devices/virtual/block/md127", "md127", Some("RAID")),
            ("/sys/devices/virtual/block/odd", "odd", None),
        ] {
            assert_eq!(transport(place, name), expected, "{place}");
        }
    }

    #[test]
    fn the_scheduler_in_force_stands_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }
}
