//! Striped disks on Linux.

use std::fmt::Write as _;

use crate::build::{Build, DiskSet};
use crate::quote::sh;

const HEAD: [&str; 6] = [
    "Run it as root on each machine, once its disks are attached. A disk that holds anything is refused; what was made",
    "before is left as it is.",
    "",
    "Barriers of the file system stay on: with caching None or ReadOnly a write is on the disk when it completes, and",
    "they cost next to nothing.",
    "",
];

const FUNCTIONS: &str = r#"set -euo pipefail

if [ "$(id -u)" != 0 ]; then
    echo "run it as root" >&2
    exit 1
fi

# lun N: the device of the data disk with that logical unit number
lun() {
    local link
    for link in "/dev/disk/azure/data/by-lun/$1" "/dev/disk/azure/scsi1/lun$1"; do
        if [ -e "$link" ]; then
            readlink -f "$link"
            return
        fi
    done
    echo "no data disk with LUN $1 is attached" >&2
    return 1
}

# empty DEVICE: refuses a disk that holds anything
empty() {
    if [ -n "$(wipefs --noheadings "$1")" ]; then
        echo "$1 holds something; nothing is written over" >&2
        return 1
    fi
}

# mounted DEVICE DIRECTORY SU_KIB COLUMNS: makes a file system, mounts it, now and at every start
mounted() {
    local device="$1" directory="$2" uuid
    empty "$device"
    if [ "$4" -gt 1 ]; then
        mkfs.xfs -q -d "su=${3}k,sw=$4" "$device"
    else
        mkfs.xfs -q "$device"
    fi
    uuid="$(blkid --match-tag UUID --output value "$device")"
    mkdir -p "$directory"
    printf 'UUID=%s %s xfs noatime,nofail 0 2\n' "$uuid" "$directory" >>/etc/fstab
    mount "$directory"
}
"#;

/// Stripes by the md driver.
pub fn mdadm(build: &Build<'_>) -> Result<String, String> {
    script(build, "mdadm", |text, set| {
        let name = &set.volume.slug;
        let (array, label) = (sh(&format!("/dev/md/{name}")), sh(name));
        let _ = writeln!(
            text,
            "    mdadm --create {array} --name={label} --level=0 --raid-devices={} --chunk={} \"${{devices[@]}}\"\n    \
             mdadm --detail --brief {array} >>/etc/mdadm/mdadm.conf",
            set.disks.count,
            set.chunk()
        );
        array
    })
}

/// Stripes by the logical volume manager.
pub fn lvm(build: &Build<'_>) -> Result<String, String> {
    script(build, "lvcreate", |text, set| {
        let name = &set.volume.slug;
        let (group, label) = (sh(&format!("vg_{name}")), sh(name));
        let _ = writeln!(
            text,
            "    pvcreate --quiet \"${{devices[@]}}\"\n    \
             vgcreate {group} \"${{devices[@]}}\"\n    \
             lvcreate --type striped --stripes {} --stripesize {}k --extents 100%FREE --name {label} {group}",
            set.disks.count,
            set.chunk()
        );
        sh(&format!("/dev/vg_{name}/{name}"))
    })
}

/// A script that calls `stripe` for each volume of several disks; it gives the device that the stripe is.
fn script(
    build: &Build<'_>,
    program: &str,
    stripe: impl Fn(&mut String, &DiskSet<'_>) -> String,
) -> Result<String, String> {
    let sets = build.disks();
    if sets.is_empty() {
        return Err("the design has no disks to stripe: its volumes are on the network".to_owned());
    }
    let mut text = String::from("#!/usr/bin/env bash\n");
    text.push_str(&build.head("#", &HEAD));
    text.push_str(FUNCTIONS);
    let _ = write!(
        text,
        "\nfor program in {program} mkfs.xfs wipefs blkid; do\n    \
         command -v \"$program\" >/dev/null || {{ echo \"$program is not installed\" >&2; exit 1; }}\n\
         done\n"
    );
    for set in &sets {
        let name = &set.volume.slug;
        let directory = sh(&format!("/mnt/{name}"));
        let luns: Vec<_> = set.luns().map(|lun| lun.to_string()).collect();
        let _ = write!(
            text,
            "\n# {name}: {}\n\
             if findmnt --noheadings {directory} >/dev/null; then\n    \
             echo {directory} is mounted and left as it is\n\
             else\n    \
             luns=({})\n    \
             devices=()\n    \
             for number in \"${{luns[@]}}\"; do\n        \
             device=\"$(lun \"$number\")\"\n        \
             empty \"$device\"\n        \
             devices+=(\"$device\")\n    \
             done\n",
            set.told(),
            luns.join(" ")
        );
        let device = if set.disks.count > 1 {
            stripe(&mut text, set)
        } else {
            "\"${devices[0]}\"".to_owned()
        };
        let _ = writeln!(
            text,
            "    mounted {device} {directory} {} {}\nfi",
            set.chunk(),
            set.disks.count
        );
    }
    Ok(text)
}
