//! Links the program with packed relocations where the machine that builds it can load them.
//!
//! A position-independent program has a relocation for each pointer in its constants: 24 bytes each, all of them read at the
//! start. Packed (DT_RELR), they take a bit or so each, which makes a job half a megabyte smaller. glibc loads them since 2.36.
//!
//! In releases, the functions that a small job calls stand together: the kernel maps 64 KiB of a program around each page that
//! is touched, and strewn over the whole program half a megabyte of functions takes more than four. `order.txt` names them
//! (`cargo xtask order` writes it); a name that the program no longer has does nothing.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

const ORDER: &str = "order.txt";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={ORDER}");
    if loads_packed_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if orders_functions() {
        match order_of_functions() {
            Ok(script) => println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display()),
            Err(error) => println!("cargo::error={ORDER} became no linker script: {error}"),
        }
    }
}

/// Whether this is a release, by a linker that reads scripts as those of GNU and LLVM do.
fn orders_functions() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let reads_scripts = !flags.contains("mold") && !flags.contains("wild");
    reads_scripts && is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux")
}

/// A linker script that puts the functions of `order.txt` before all others.
fn order_of_functions() -> std::io::Result<PathBuf> {
    let names = std::fs::read_to_string(ORDER)?;
    let names = names.lines().filter(|line| !line.starts_with('#'));
    // First by their whole names, and then all of one name: another compiler gives other hashes.
    let loose: BTreeSet<String> = names.clone().map(without_hashes).collect();
    let mut script = String::from("SECTIONS { .text.first : {\n");
    for name in names.map(str::to_owned).chain(loose) {
        for part in ["*(.text.", &name, "* .text.unlikely.", &name, "*)\n"] {
            script += part;
        }
    }
    script += "} } INSERT BEFORE .text;\n";
    let folder = std::env::var_os("OUT_DIR").unwrap_or_default();
    let path = PathBuf::from(folder).join("order.ld");
    std::fs::write(&path, script)?;
    Ok(path)
}

/// A pattern for a function whatever its hashes: `17h` and 16 digits at the end of a name of the older kind, the letters
/// between `Cs` and `_` before a crate in one of the newer.
fn without_hashes(name: &str) -> String {
    if let Some((head, _)) = name.rsplit_once("17h") {
        return format!("{head}17h");
    }
    let mut parts = name.split("Cs");
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find('_').map_or(part, |end| &part[end..]);
        pattern += "Cs*";
        pattern += rest;
    }
    pattern
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
