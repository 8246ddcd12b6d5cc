//! Debian packages that the tests need: the real peers and tools, never mocked.

use std::path::Path;
use std::process::Command;

use crate::command;

/// A program the tests call and the package that brings it.
const NEEDED: &[(&str, &str)] = &[
    ("fio", "fio"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("losetup", "mount"),
    ("sfdisk", "fdisk"),
    ("mkswap", "util-linux"),
    ("addpart", "util-linux"),
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
    ("mpirun", "openmpi-bin"),
    ("mpicc", "libopenmpi-dev"),
    ("clang", "clang"),
];

/// Those without which one crate cannot even be built: MPI, and libclang, which reads its header.
const OF_MPI: &[&str] = &["openmpi-bin", "libopenmpi-dev", "clang"];

fn missing() -> impl Iterator<Item = &'static str> {
    let missing = NEEDED.iter().filter(|(program, _)| !on_path(program));
    missing.map(|(_, package)| *package)
}

/// Whether what is built on MPI can be built.
pub fn have_mpi() -> bool {
    missing().all(|package| !OF_MPI.contains(&package))
}

/// Installs what is missing, where this user may.
pub fn install() -> Result<(), String> {
    let missing: Vec<&str> = missing().collect();
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
