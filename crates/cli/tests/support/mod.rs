//! Running the program as a user does.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(dead_code, reason = "each test file uses its own part of the support")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program as users build it where `cargo xtask test` built it, the test build otherwise.
pub fn fathom_binary() -> PathBuf {
    std::env::var_os("FATHOM_RELEASE_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_fathom")),
        PathBuf::from,
    )
}

/// The program with its run store inside `home`.
pub fn fathom(home: &Path) -> Command {
    let mut command = Command::new(fathom_binary());
    command
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_STATE_HOME", home.join("state"))
        // What is printed does not depend on who runs the tests.
        .env("LC_ALL", "C.UTF-8");
    command.env_remove("FATHOM_DESTROY_DATA").current_dir(home);
    command
}

/// The same, ended by a terminal that is closed although these tests are run by `nohup`.
pub fn fathom_not_under_nohup(home: &Path) -> Command {
    let inner = fathom(home);
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(inner.get_program());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(home);
    command
}

/// What `fathom WORDS` prints on a terminal that `stty` made with `size`, where `before` stands before the program.
pub fn on_a_terminal(home: &Path, (size, before): (&str, &str), words: &str) -> String {
    let mut command = fathom(home);
    let program = command.get_program().display().to_string();
    let inside = format!("stty {size}; exec {before} '{program}' {words}");
    let mut screen = Command::new("script");
    screen
        .args(["-qec", &inside, "/dev/null"])
        .stdin(Stdio::null());
    screen.current_dir(home).envs(
        command
            .env("SHELL", "/bin/sh")
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))),
    );
    let output = screen.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(output.status.success(), "{text}");
    text
}

/// Debian's fio, or this program in its place, with `folder` as its folder.
pub fn fio(folder: &Path, theirs: bool) -> Command {
    let mut command = if theirs {
        // One that hangs is no reason to wait for ever.
        let mut limited = Command::new("timeout");
        limited.args(["--kill-after=5", "120", "fio"]);
        limited
    } else {
        fathom(folder)
    };
    if !theirs {
        command.arg("fio");
    }
    command.current_dir(folder);
    command
}

/// Runs `fathom ARGUMENTS` with `home` as its folder.
pub fn run(home: &Path, arguments: &[&str]) -> Output {
    let output = fathom(home).args(arguments).output();
    output.unwrap_or_else(|error| panic!("fathom {}: {error}", arguments.join(" ")))
}

/// Runs it and asks for exit code `code`; shows the whole output where it differs.
#[track_caller]
pub fn expect_code(home: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let output = run(home, arguments);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown = arguments.join(" ");
    assert_eq!(
        output.status.code(),
        Some(code),
        "fathom {shown}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
    );
    (stdout, stderr)
}

/// The checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

/// A file of the project's `examples` folder.
pub fn example(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

/// A folder on the real file system (the build's own), gone with its value: memory-backed ones take no direct I/O on
/// older kernels.
pub fn disk_folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Everything in a folder, by name.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().filter_map(Result::ok);
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Runs a system program; its failure is the test's.
#[track_caller]
pub fn system(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output =
        output.unwrap_or_else(|error| panic!("{program} (see `cargo xtask test`): {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {}: {stderr}",
        arguments.join(" ")
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Waits for what comes late: a device that somebody else just looks at is detached when they close it.
#[track_caller]
pub fn until(otherwise: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(100));
    }
    panic!("{otherwise} after a minute");
}
