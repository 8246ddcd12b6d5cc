//! Running other programs.

use std::path::PathBuf;
use std::process::Command;

/// The root of the checkout.
pub fn root() -> PathBuf {
    // Where cargo runs it from: a folder of builds that two checkouts share may hold the other's.
    let here = std::env::var_os("CARGO_MANIFEST_DIR");
    let here = here.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let here = PathBuf::from(here);
    here.ancestors().nth(2).map(PathBuf::from).unwrap_or(here)
}

/// The program as users build it, or the one that `FATHOM_RELEASE_BIN` names.
pub fn release_binary() -> Result<PathBuf, String> {
    if let Some(built) = std::env::var_os("FATHOM_RELEASE_BIN") {
        return Ok(built.into());
    }
    run("cargo", &BUILD_RELEASE, &[])?;
    Ok(built_release())
}

/// What `cargo` is told to build the program as users do.
pub const BUILD_RELEASE: [&str; 4] = ["build", "--release", "--package", "fathom"];

/// Where that puts it.
pub fn built_release() -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
    folder.join("release/fathom")
}

/// Runs `program` with `arguments` in the checkout's root and lets it print; an error names the whole command.
pub fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let shown = format!("{program} {}", arguments.join(" "));
    println!("\n== {shown}");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(root())
        .envs(environment.iter().copied());
    let status = command
        .status()
        .map_err(|error| format!("`{shown}` did not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{shown}` failed: {status}"))
    }
}

/// What `program` prints on stdout; its stderr is shown only in the error.
pub fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    output_of(Command::new(program).args(arguments))
}

/// What a program prints on stdout, begun in the checkout's root; its stderr is shown only in the error.
pub fn output_of(command: &mut Command) -> Result<String, String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let shown = words.join(" ");
    let output = command.current_dir(root()).output();
    let output = output.map_err(|error| format!("`{shown}` did not start: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` failed: {}\n{stderr}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("`{shown}` printed no text: {error}"))
}
