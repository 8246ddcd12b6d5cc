//! Which of a source's devices count: those named, otherwise disks, the lowest layer once.
//!
//! A name that begins with a blank is that of a group, as iostat writes the sums of its option `-g` below their disks.

use fathom_diagnostics::{Diagnostic, nearest};

use crate::Device;

/// Keeps the devices that count; says which do not.
pub(super) fn choose(
    devices: &mut Vec<Device>,
    wanted: &[String],
    doubts: &mut Vec<String>,
) -> Result<(), Box<Diagnostic>> {
    leave_groups(devices, wanted, doubts);
    let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
    if !wanted.is_empty() {
        let plain = |name: &str| name.trim_start_matches("/dev/").to_owned();
        for want in wanted {
            if !names.iter().any(|name| plain(name) == plain(want)) {
                let mut error =
                    Diagnostic::error(format!("no device `{want}` is in what was read"));
                error = error.hint(
                    match nearest(&plain(want), names.iter().map(String::as_str)) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there are {}", list(&names)),
                    },
                );
                return Err(Box::new(error));
            }
        }
        devices.retain(|device| wanted.iter().any(|want| plain(want) == plain(&device.name)));
        return Ok(());
    }
    let (left, kept): (Vec<_>, Vec<_>) =
        names.iter().cloned().partition(|name| above(name, &names));
    if kept.is_empty() || left.is_empty() {
        return Ok(());
    }
    devices.retain(|device| kept.contains(&device.name));
    doubts.push(format!(
        "left out are {}: partitions, loop and memory disks, and volumes that lie on other disks; name one with `--device` to have it",
        list(&left)
    ));
    Ok(())
}

/// Leaves groups out whose disks are there by themselves, unless they are named; those that stay lose their mark.
fn leave_groups(devices: &mut Vec<Device>, wanted: &[String], doubts: &mut Vec<String>) {
    let is_group = |device: &Device| device.name.starts_with(' ');
    if devices.iter().any(|device| !is_group(device)) {
        let is_left = |device: &Device| {
            is_group(device) && !wanted.iter().any(|name| name == device.name.trim())
        };
        let left: Vec<String> = (devices.iter())
            .filter(|device| is_left(device))
            .map(|device| device.name.trim().to_owned())
            .collect();
        devices.retain(|device| !is_left(device));
        if !left.is_empty() && wanted.is_empty() {
            doubts.push(format!(
                "left out are {}: groups (`iostat -g`), whose disks are there by themselves; name one with `--device` to have it",
                list(&left)
            ));
        }
    }
    for device in devices {
        device.name = device.name.trim().to_owned();
    }
}

/// Names in quotes, the first of many.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.len().saturating_sub(SHOWN);
    let end = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{end}", shown.join(", "))
}

/// Whether a device of Linux is a part of another one, lies on others, or is no disk.
fn above(name: &str, names: &[String]) -> bool {
    let numbered = |stem: &str| {
        let digits = name.strip_prefix(stem).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    if ["loop", "ram", "zram", "dm-", "md", "sr", "fd"]
        .iter()
        .any(|stem| numbered(stem))
    {
        return true;
    }
    // Volumes under names of their own (`iostat -N`, `sadf` with persistent names) beside disks under those of the kernel.
    if !is_kernels(name) && names.iter().any(|name| is_kernels(name)) {
        return true;
    }
    let whole = name.trim_end_matches(|one: char| one.is_ascii_digit());
    if whole.len() == name.len() || whole.is_empty() {
        return false;
    }
    let parent = match whole.strip_suffix('p') {
        Some(parent) if parent.ends_with(|one: char| one.is_ascii_digit()) => parent,
        _ => whole,
    };
    names.iter().any(|other| other == parent)
}

/// Whether the kernel names disks, which lie on no others, in this way.
fn is_kernels(name: &str) -> bool {
    const LETTERED: [&str; 6] = ["sd", "hd", "vd", "xvd", "dasd", "scini"];
    const NUMBERED: [&str; 9] = [
        "nvme", "mmcblk", "pmem", "rbd", "nbd", "ublkb", "rsxx", "rssd", "skd",
    ];
    let rest = |stem: &&str| name.strip_prefix(stem).filter(|rest| !rest.is_empty());
    let lettered = LETTERED.iter().filter_map(rest).any(|rest| {
        let letters = rest.trim_end_matches(|one: char| one.is_ascii_digit());
        (1..=4).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    let numbered = NUMBERED.iter().filter_map(rest).any(|rest| {
        rest.starts_with(|one: char| one.is_ascii_digit())
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    lettered || numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], wanted: &[&str], expected: &[&str]) {
        let mut devices: Vec<Device> = names
            .iter()
            .map(|name| Device {
                name: (*name).to_owned(),
                ..Device::default()
            })
            .collect();
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let mut doubts = Vec::new();
        choose(&mut devices, &wanted, &mut doubts)
            .map_err(|error| error.to_string())
            .unwrap();
        let kept: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        assert_eq!(kept, expected);
        assert_eq!(
            doubts.is_empty(),
            !wanted.is_empty() || names.len() == expected.len()
        );
    }

    #[test]
    fn the_lowest_layer_counts_once() {
        check(
            &["sda", "sda1", "sdb", "dm-0", "loop3"],
            &[],
            &["sda", "sdb"],
        );
        check(&["nvme0n1", "nvme0n1p2", "md127"], &[], &["nvme0n1"]);
        check(&["mmcblk0", "mmcblk0p1"], &[], &["mmcblk0"]);
        check(&["xvda1"], &[], &["xvda1"]);
        check(&["dm-0", "dm-1"], &[], &["dm-0", "dm-1"]);
        check(&["sda", "loop0"], &["/dev/loop0"], &["loop0"]);
        check(&["0 C:", "1 D:"], &[], &["0 C:", "1 D:"]);
        check(&["sda", "vg0-root", "cryptswap"], &[], &["sda"]);
        check(&["vg0-root", "mpatha"], &[], &["vg0-root", "mpatha"]);
        check(&["sda", "vg0-root"], &["vg0-root"], &["vg0-root"]);
        check(
            &["dasda", "scinib", "nvme0n1"],
            &[],
            &["dasda", "scinib", "nvme0n1"],
        );
    }

    #[test]
    fn groups_count_where_their_disks_do_not() {
        check(&["sda", "sdb", " all"], &[], &["sda", "sdb"]);
        check(&[" all"], &[], &["all"]);
        check(&["sda", "sdb", " all"], &["all"], &["all"]);
        check(&["sda", "sdb", " all"], &["sda"], &["sda"]);
        check(&["sda", " sda"], &[], &["sda"]);
    }
}
