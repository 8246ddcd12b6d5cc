//! Links the program with packed relocations where the machine that builds it can load them.
//!
//! A position-independent program has a relocation for each pointer in its constants: 24 bytes each, all of them read at the
//! start. Packed (DT_RELR), they take a bit or so each, which makes a job half a megabyte smaller. glibc loads them since 2.36.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if loads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the program is built for this very machine, and its C library is new enough.
fn loads_packed_relocations() -> bool {
    let for_here = std::env::var("TARGET").ok() == std::env::var("HOST").ok();
    let target_is_gnu = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "gnu");
    for_here && target_is_gnu && c_library().is_some_and(|version| version >= (2, 36))
}

/// The version of this machine's C library, as `glibc 2.41` says it.
fn c_library() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
