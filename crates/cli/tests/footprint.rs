//! Memory of a trivial job: what someone pays who measures many small things, or beside a full machine.

mod support;

/// Most MB of it: in the program as users have it, which `cargo xtask test` builds and names; a test build is larger, and its
/// functions stand as they come.
fn most_megabytes() -> f64 {
    match std::env::var_os("FATHOM_RELEASE_BIN") {
        Some(_) => 8.0,
        None => 40.0,
    }
}

/// GNU `time` tells KiB resident at most. Linux counts to a program that of the one that started it, so a small one does.
#[test]
fn a_trivial_job_is_small() {
    let program = support::fathom_binary().display().to_string();
    let words = ["-f", "%M", &program, "fio"];
    let job = ["--name=t", "--ioengine=null", "--size=4k"];
    let output = std::process::Command::new("time")
        .args(words.iter().chain(&job))
        .output();
    let output = output.unwrap_or_else(|error| panic!("time (see `cargo xtask test`): {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let kib = stderr
        .lines()
        .last()
        .and_then(|kib| kib.trim().parse().ok());
    let kib: f64 = kib.unwrap_or_else(|| panic!("no KiB in {stderr}"));
    let megabytes = kib * 1024.0 / 1e6;
    println!("{megabytes:.2} MB");
    assert!(megabytes < most_megabytes(), "{megabytes:.2} MB");
}
