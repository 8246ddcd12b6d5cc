//! Instructions an I/O: the price of the generator, the queue and the recorder, without the noise of a clock.
//!
//! Times differ from machine to machine and from minute to minute; the number of instructions of the same program does
//! not. The null engine does nothing, so what is left is ours.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

/// By how much a count may exceed the one that is kept: a tenth in the program as users have it, which `cargo xtask test`
/// builds and names; a test build is optimised less.
fn slack() -> f64 {
    match std::env::var_os("FATHOM_RELEASE_BIN") {
        Some(_) => 1.10,
        None => 6.0,
    }
}

/// Instructions of the whole program for so many I/Os.
fn instructions(folder: &Path, arguments: &[&str], ios: u64) -> u64 {
    let program = support::fathom_binary().display().to_string();
    let out = format!("--callgrind-out-file={}", folder.join("out").display());
    let number = format!("--number_ios={ios}");
    let mut words = vec!["--tool=callgrind", out.as_str(), program.as_str(), "fio"];
    words.extend(["--name=n", "--ioengine=null", "--bs=4k", "--size=4g"]);
    words.extend(["--output-format=json", number.as_str()]);
    words.extend(arguments);
    let output = std::process::Command::new("valgrind").args(&words).output();
    let output =
        output.unwrap_or_else(|error| panic!("valgrind (see `cargo xtask test`): {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "valgrind {}: {stderr}",
        words.join(" ")
    );
    let collected = stderr
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    let (_, number) = collected.unwrap_or_else(|| panic!("no count in {stderr}"));
    number
        .trim()
        .parse()
        .unwrap_or_else(|error| panic!("`{number}`: {error}"))
}

/// What one more I/O costs: the difference of two runs leaves out all that is done once.
fn per_io(folder: &Path, arguments: &[&str]) -> f64 {
    const IOS: u64 = 100_000;
    let few = instructions(folder, arguments, IOS);
    let many = instructions(folder, arguments, 3 * IOS);
    (many - few) as f64 / (2 * IOS) as f64
}

#[test]
fn an_io_takes_no_more_instructions_than_before() {
    let kept = std::fs::read_to_string(support::root().join("benches/instructions.toml")).unwrap();
    let kept: BTreeMap<String, u64> = toml::from_str(&kept).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut grown = Vec::new();
    for (name, arguments) in [
        ("random_read_depth_64", ["--rw=randread", "--iodepth=64"]),
        ("random_read_depth_1", ["--rw=randread", "--iodepth=1"]),
        ("sequential_read_depth_64", ["--rw=read", "--iodepth=64"]),
        ("random_mix_depth_64", ["--rw=randrw", "--iodepth=64"]),
    ] {
        let now = per_io(folder.path(), &arguments);
        let before = kept[name] as f64;
        println!("{name}: {now:.1} instructions an I/O, {before} kept");
        if now > before * slack() {
            grown.push(format!(
                "{name}: {now:.1} instructions an I/O, not {before}"
            ));
        }
    }
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}
