//! The names by which `--destroy-data` means a block device, and no other.
//!
//! A serial number is the first of them, where one device alone has it: the namespaces of an NVMe drive share that of their
//! controller, the boot areas of an eMMC that of its chip, and cheap boxes for USB all have the same. Such a number names no
//! device, and neither does a name under `/dev/disk/by-id` for which it is short: there the last one that was found has it.
//!
//! Invariant: a name that means a device means no other one that the kernel knows.

use std::fs;

use super::device::{BlockDevice, DeviceNumber, all_devices};

impl BlockDevice {
    /// Names that `--destroy-data` takes for it, the one to be shown first. Never empty.
    pub(crate) fn destroy_names(&self) -> Vec<String> {
        let parent = self.parent();
        let whole = parent.as_ref().unwrap_or(self);
        let serial = whole.serial();
        let is_shared = serial.is_some() && !whole.of_same_serial().is_empty();
        let mut names = Vec::new();
        if is_shared {
            let end = self.of_part(&serial.unwrap_or_default());
            let (moving, staying) =
                (self.by_id_names().into_iter()).partition::<Vec<_>, _>(|name| is_tail(name, &end));
            names.extend(staying);
            names.extend(whole.own_identifier().map(|name| self.of_part(&name)));
            names.extend(moving);
        } else {
            names.extend(serial.map(|serial| self.of_part(&serial)));
            names.extend(self.by_id_names());
        }
        if names.is_empty() {
            names.push(self.name.clone());
        }
        names
    }

    /// Whether `name` of `--destroy-data` means this device and no other.
    pub(crate) fn is_meant_by(&self, name: &str) -> bool {
        if self.destroy_names().iter().any(|full| full == name) {
            return true;
        }
        if !self.sharing(name).is_empty() {
            return false;
        }
        let devices = by_id_links()
            .filter(|(full, _)| is_tail(full, name))
            .map(|(_, number)| number);
        let mut devices: Vec<_> = devices.collect();
        devices.dedup();
        devices == [self.number]
    }

    /// The whole devices that `name` would mean as it would mean this one, since they all tell the same serial number; none where
    /// it does not mean this one, or means no other.
    pub(crate) fn sharing(&self, name: &str) -> Vec<String> {
        let parent = self.parent();
        let whole = parent.as_ref().unwrap_or(self);
        let serial = whole.serial();
        if serial.is_none_or(|serial| self.of_part(&serial) != name) {
            return Vec::new();
        }
        let mut sharing = whole.of_same_serial();
        if !sharing.is_empty() {
            sharing.push(whole.name.clone());
            sharing.sort();
        }
        sharing
    }

    /// Kernel names of the other whole devices that tell the same serial number.
    fn of_same_serial(&self) -> Vec<String> {
        let serial = self.serial();
        let others = all_devices().into_iter();
        let others = others.filter(|other| other.number != self.number);
        let same = others.filter(|other| serial.is_some() && other.serial() == serial);
        same.map(|other| other.name).collect()
    }

    /// The name that the kernel makes of what the device says of itself alone (`eui.…`, `uuid.…`, `naa.…`), where no other has
    /// it and nothing in it needs to be quoted.
    fn own_identifier(&self) -> Option<String> {
        let of = |device: &Self| {
            let own = device.attribute("wwid");
            own.or_else(|| device.attribute("device/wwid"))
        };
        let own = of(self).filter(|own| !own.contains(char::is_whitespace))?;
        let mut others = all_devices().into_iter();
        let is_shared =
            others.any(|other| other.number != self.number && of(&other).as_ref() == Some(&own));
        (!is_shared).then_some(own)
    }

    /// What a name of the whole device becomes for this one: of a partition, its own, so that naming a disk never means a part
    /// or the reverse.
    fn of_part(&self, name: &str) -> String {
        match self.partition_number() {
            None => name.to_owned(),
            Some(number) => format!("{name}-part{number}"),
        }
    }

    fn by_id_names(&self) -> Vec<String> {
        let own = by_id_links().filter(|(_, number)| *number == self.number);
        let mut names: Vec<_> = own.map(|(name, _)| name).collect();
        names.sort();
        names
    }
}

/// Every name under `/dev/disk/by-id` with the device that it leads to.
fn by_id_links() -> impl Iterator<Item = (String, DeviceNumber)> {
    let entries = fs::read_dir("/dev/disk/by-id")
        .into_iter()
        .flatten()
        .flatten();
    entries.filter_map(|entry| {
        let number = DeviceNumber::of_device(&entry.path())?;
        Some((entry.file_name().to_string_lossy().into_owned(), number))
    })
}

/// Whether `name` is the end of the by-id name `full`, from a separator on. A partition's number alone names no device.
fn is_tail(full: &str, name: &str) -> bool {
    let digits = name.strip_prefix("part").unwrap_or(name);
    let is_number = digits.chars().all(|c| c.is_ascii_digit()) && digits.len() < 4;
    let rest = full.strip_suffix(name);
    !is_number && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::made::Kernel;
    use crate::guard::unnamed;

    #[test]
    fn the_end_of_a_name_is_enough_but_not_a_number_of_a_part() {
        let disk = "nvme-Samsung_SSD_980_S64DNX0R";
        let part = "nvme-Samsung_SSD_980_S64DNX0R-part1";
        assert!(is_tail(disk, "S64DNX0R") && is_tail(disk, disk));
        assert!(is_tail(part, "S64DNX0R-part1"));
        assert!(!is_tail(part, "S64DNX0R"));
        for short in ["", "X0R", "R", "980_S64", "part1"] {
            assert!(!is_tail(disk, short) && !is_tail(part, short), "{short}");
        }
        assert!(!is_tail(part, "1") && !is_tail("scsi-0_12", "12"));
    }

    /// Two namespaces with a part each, of these serial numbers and identifiers.
    fn namespaces(serials: [&str; 2], identifiers: [&str; 2]) -> (Kernel, [BlockDevice; 4]) {
        let kernel = Kernel::new("ext4");
        let number = |minor: u64| DeviceNumber::parse(&format!("4001:{minor}")).unwrap();
        let mut found = Vec::new();
        for (index, name) in (0..).zip(["nvme0n1", "nvme0n2"]) {
            let disk = kernel.device(name, number(index * 16));
            kernel.is_listed(name);
            kernel.says(name, "device/serial", serials[index as usize]);
            kernel.says(name, "wwid", identifiers[index as usize]);
            kernel.part(&disk, &format!("{name}p1"), number(index * 16 + 1));
            found.push(disk);
            found.push(BlockDevice::find(number(index * 16 + 1)).unwrap());
        }
        (kernel, found.try_into().unwrap())
    }

    /// Names of the first namespace and of its part, and whether the serial number means the first and its part.
    #[track_caller]
    fn check(serials: [&str; 2], identifiers: [&str; 2], expected: [&str; 2], means: bool) {
        let (_kernel, [disk, part, other, _]) = namespaces(serials, identifiers);
        assert_eq!(disk.destroy_names(), [expected[0]]);
        assert_eq!(part.destroy_names(), [expected[1]]);
        assert!(disk.is_meant_by(expected[0]) && part.is_meant_by(expected[1]));
        assert!(!other.is_meant_by(expected[0]) && !part.is_meant_by(expected[0]));
        assert_eq!(disk.is_meant_by("S3R1AL"), means);
        assert_eq!(part.is_meant_by("S3R1AL-part1"), means);
    }

    #[test]
    fn a_serial_number_of_several_devices_names_none() {
        let identifiers = ["eui.01", "eui.02"];
        let own = ["S3R1AL", "S3R1AL-part1"];
        check(["S3R1AL", "OTHER"], identifiers, own, true);
        let shared = ["S3R1AL", "S3R1AL"];
        check(shared, identifiers, ["eui.01", "eui.01-part1"], false);
        // Two ways to one namespace have all in common.
        let kernel_names = ["nvme0n1", "nvme0n1p1"];
        check(shared, ["eui.01", "eui.01"], kernel_names, false);
        check(shared, ["", ""], kernel_names, false);
        check(shared, ["t10.A  B", ""], kernel_names, false);
    }

    #[test]
    fn what_is_wrong_with_a_shared_serial_number_is_told() {
        let (_kernel, [disk, ..]) = namespaces(["S3R1AL", "S3R1AL"], ["eui.01", "eui.02"]);
        assert_eq!(
            unnamed(&disk, "S3R1AL"),
            "`--destroy-data=S3R1AL` names no device: it is the serial number of nvme0n1, nvme0n2"
        );
        let others = unnamed(&disk, "eui.02");
        assert_eq!(others, "`--destroy-data=eui.02` does not name it");
    }
}
