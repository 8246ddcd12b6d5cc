//! Debian packages that the tests need: the real peers and tools, never mocked.

use std::path::Path;
use std::process::Command;

use crate::command;

/// A program the tests call and the package that brings it.
const NEEDED: &[(&str, &str)] = &[
    ("fio", "fio"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("losetup", "mount"),
    ("sfdisk", "fdisk"),
    ("mkswap", "util-linux"),
    ("addpart", "util-linux"),
    ("pvcreate", "lvm2"),
    ("swapon", "mount"),
    ("dmsetup", "dmsetup"),
    ("fsfreeze", "util-linux"),
    ("valgrind", "valgrind"),
    ("chrt", "util-linux"),
    ("time", "time"),
    ("pgbench", "postgresql"),
    ("iostat", "sysstat"),
    ("shellcheck", "shellcheck"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("mandoc", "mandoc"),
    ("nbdinfo", "libnbd-bin"),
    ("nbdkit", "nbdkit"),
    ("nbdsh", "python3-libnbd"),
    ("qemu-img", "qemu-utils"),
    ("qemu-storage-daemon", "qemu-system-common"),
    ("openssl", "openssl"),
    ("ip", "iproute2"),
    ("srun", "slurm-client"),
    ("slurmctld", "slurmctld"),
    ("slurmd", "slurmd"),
    ("munged", "munge"),
];

/// The same for what one crate is built with: MPI, and libclang, which reads its header.
const NEEDED_TO_BUILD: &[(&str, &str)] = &[
    ("mpirun", "openmpi-bin"),
    ("mpicc", "libopenmpi-dev"),
    ("clang", "clang"),
];

/// What packages are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    ToBuild,
    ToTest,
}

/// Installs what is missing of them, where this user may.
pub fn install(needed: Needed) -> Result<(), String> {
    let all = match needed {
        Needed::ToBuild => NEEDED_TO_BUILD,
        Needed::ToTest => NEEDED,
    };
    let missing = all.iter().filter(|(program, _)| !on_path(program));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    let may_install = command::output("id", &["-u"])?.trim() == "0" && on_path("apt-get");
    if !may_install {
        return Err(format!(
            "the tests need {list}: install them (on Debian: `apt-get install {list}` as root)"
        ));
    }
    let quiet = [("DEBIAN_FRONTEND", "noninteractive")];
    command::run("apt-get", &["update", "-qq"], &quiet)?;
    let arguments: Vec<&str> = ["install", "-y", "-qq"]
        .into_iter()
        .chain(missing)
        .collect();
    command::run("apt-get", &arguments, &quiet)
}

fn on_path(program: &str) -> bool {
    let places = std::env::var("PATH").unwrap_or_default();
    let places = places.split(':').chain(["/usr/sbin", "/sbin"]);
    places
        .map(Path::new)
        .any(|place| place.join(program).is_file())
        || Command::new(program).arg("--version").output().is_ok()
}
