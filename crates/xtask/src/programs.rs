//! The workspace's test programs: built by cargo, run from here, since cargo runs them one after another only.

#![expect(
    clippy::disallowed_methods,
    reason = "how long a test program took is the chore's own time, not an I/O's"
)]

use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::command;

/// Test programs that measure no time and whose programs wait for much of theirs, by folder of the crate and name, the longest
/// first: these run side by side. The others are alone on the machine, each in turn.
const SIDE_BY_SIDE: &[(&str, &str)] = &[
    ("dialects", "real_fio"),
    ("planner", "brute_force"),
    ("cli", "consumers"),
    ("cli", "serve_tls"),
    ("cli", "fio_growth"),
    ("engine", "exports"),
    ("cli", "fio_verify"),
    ("cli", "serve_room"),
    ("cluster", "failures"),
    ("cluster", "slurm"),
    ("cli", "vdbench_output"),
    ("cli", "fio_output"),
    ("cli", "serve_guide"),
    ("cli", "diskspd"),
    ("cli", "new_user"),
    ("cli", "serve_files"),
    ("dialects", "vdbench_arbitrary"),
    ("dialects", "fio_counts"),
    ("cli", "fio_errors"),
    ("cli", "instructions"),
    ("observe", "import"),
    ("planner", "brute_network"),
    ("cli", "fio_characters"),
    ("cli", "merge"),
    ("sim", "published_vectors"),
    ("sim", "properties"),
    ("sim", "reference"),
    ("cli", "serve_holes"),
    ("cli", "serve_faults"),
    ("cli", "vdbench_patterns"),
    ("cli", "vdbench"),
    ("cli", "vdbench_validation"),
    ("emit", "scripts"),
    ("cli", "observe_import"),
    ("cli", "ui"),
    ("cli", "screen"),
    ("cluster", "refusals"),
    ("cli", "fio_traces"),
    ("cli", "fio_directories"),
    ("cli", "iometer"),
];

/// How many run side by side for each processor.
const PROGRAMS_A_PROCESSOR: usize = 2;

/// A test program that cargo has built.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    /// The folder of its crate, where it runs.
    folder: PathBuf,
    /// Of its target: the crate's for its own tests.
    name: String,
    executable: PathBuf,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tests of crates/{}: {}", self.crate_name(), self.name)
    }
}

impl Program {
    fn crate_name(&self) -> &str {
        let name = self.folder.file_name();
        name.and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Its place among those that run side by side.
    fn place_side_by_side(&self) -> Option<usize> {
        let own = (self.crate_name(), self.name.as_str());
        SIDE_BY_SIDE.iter().position(|named| *named == own)
    }

    fn command(&self, environment: &[(&str, &str)]) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.folder)
            .envs(environment.iter().copied());
        command
    }
}

/// Has cargo build all of them.
pub fn build() -> Result<Vec<Program>, String> {
    let messages = command::output_of(Command::new("cargo").args([
        "test",
        "--workspace",
        "--no-run",
        "--quiet",
        "--message-format=json-render-diagnostics",
    ]))?;
    let mut programs = named_in(&messages)?;
    programs.sort();
    let there = |named: &(&str, &str)| {
        let own = |program: &Program| (program.crate_name(), program.name.as_str()) == *named;
        programs.iter().any(own)
    };
    match SIDE_BY_SIDE.iter().find(|named| !there(named)) {
        None => Ok(programs),
        Some((folder, name)) => Err(format!(
            "crates/{folder}/tests: no `{name}`, which crates/xtask/src/programs.rs names"
        )),
    }
}

/// The test programs among cargo's messages, one of which is on each line
/// (<https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages>).
fn named_in(messages: &str) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for line in messages.lines() {
        let message: serde_json::Value = serde_json::from_str(line)
            .map_err(|error| format!("cargo printed no message: {error}: {line}"))?;
        let Some(executable) = message["executable"].as_str() else {
            continue;
        };
        if message["profile"]["test"] != true {
            continue;
        }
        let manifest = message["manifest_path"].as_str().map(Path::new);
        let folder = manifest.and_then(Path::parent);
        let (Some(folder), Some(name)) = (folder, message["target"]["name"].as_str()) else {
            return Err(format!("cargo tells no folder of a test program: {line}"));
        };
        programs.push(Program {
            folder: folder.to_owned(),
            name: name.to_owned(),
            executable: executable.into(),
        });
    }
    Ok(programs)
}

/// Runs them all, and tells which failed.
///
/// One that failed is run once more, alone, when all others are done: only one that fails there too fails the chore. What
/// passes there was disturbed, by the others or by the machine, or its test has a race; it is named at the end, to be looked
/// into.
pub fn run(programs: Vec<Program>, environment: &[(&str, &str)]) -> Result<(), String> {
    let (mut together, alone): (Vec<_>, Vec<_>) = programs
        .into_iter()
        .partition(|program| program.place_side_by_side().is_some());
    // The last is taken first.
    together.sort_by_key(|program| std::cmp::Reverse(program.place_side_by_side()));
    let mut failed = run_side_by_side(together, environment);
    failed.extend(run_in_turn(alone, environment));
    if failed.is_empty() {
        return Ok(());
    }
    println!("\n== once more, alone:\n  {}", names(&failed));
    let again = run_in_turn(failed.clone(), environment);
    judge(failed, &again)
}

/// What is to be told of those that failed, some of them again when they ran alone.
fn judge(mut failed: Vec<Program>, again: &[Program]) -> Result<(), String> {
    failed.retain(|program| !again.contains(program));
    if !failed.is_empty() {
        println!(
            "\n== failed at first, and passed alone:\n  {}",
            names(&failed)
        );
    }
    if again.is_empty() {
        return Ok(());
    }
    Err(format!("failed, also alone:\n  {}", names(again)))
}

fn names(programs: &[Program]) -> String {
    let names: Vec<String> = programs.iter().map(Program::to_string).collect();
    names.join("\n  ")
}

/// Runs one after another; gives those that failed.
fn run_in_turn(programs: Vec<Program>, environment: &[(&str, &str)]) -> Vec<Program> {
    let passes = |program: &Program| {
        println!("\n== {program}");
        let began = Instant::now();
        let status = program.command(environment).status();
        println!("== {:.1} s", began.elapsed().as_secs_f64());
        status.is_ok_and(|status| status.success())
    };
    let mut failed = programs;
    failed.retain(|program| !passes(program));
    failed
}

/// Runs some of them at a time, and prints what each printed when it ends; gives those that failed.
fn run_side_by_side(programs: Vec<Program>, environment: &[(&str, &str)]) -> Vec<Program> {
    let waiting = Mutex::new(programs);
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop());
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..processors * PROGRAMS_A_PROCESSOR {
            scope.spawn(|| {
                while let Some(program) = next() {
                    let mut command = program.command(environment);
                    let began = Instant::now();
                    let output = command.stdin(Stdio::null()).output();
                    let took = began.elapsed().as_secs_f64();
                    // Held while it prints, so that outputs do not mix.
                    let Ok(mut failed) = failed.lock() else {
                        return;
                    };
                    println!("\n== {program} (beside others, {took:.1} s)");
                    match &output {
                        Ok(output) => {
                            print!("{}", String::from_utf8_lossy(&output.stdout));
                            eprint!("{}", String::from_utf8_lossy(&output.stderr));
                        }
                        Err(error) => println!("not started: {error}"),
                    }
                    if !output.is_ok_and(|output| output.status.success()) {
                        failed.push(program);
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_those_that_cargo_names() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/cli/Cargo.toml","target":{"name":"fathom"},"profile":{"test":false},"executable":"/w/t/fathom"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/dialects/Cargo.toml","target":{"name":"real_fio"},"profile":{"test":true},"executable":"/w/t/real_fio-1"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/units/Cargo.toml","target":{"name":"fathom_units"},"profile":{"test":false},"executable":null}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        let expected = Program {
            folder: "/w/crates/dialects".into(),
            name: "real_fio".into(),
            executable: "/w/t/real_fio-1".into(),
        };
        assert_eq!(expected.place_side_by_side(), Some(0));
        assert_eq!(named_in(messages), Ok(vec![expected]));
        assert!(named_in("no message").is_err());
    }

    fn program(name: &str) -> Program {
        Program {
            folder: "/".into(),
            name: name.to_owned(),
            executable: Path::new("/bin").join(name),
        }
    }

    #[test]
    fn who_fails_is_told() {
        let (good, bad, missing) = (program("true"), program("false"), program("not there"));
        assert_eq!(run_side_by_side(vec![good.clone()], &[]), []);
        let failed = run_side_by_side(vec![missing.clone(), good.clone(), bad.clone()], &[]);
        assert!(
            failed.len() == 2 && failed.contains(&bad) && failed.contains(&missing),
            "{failed:?}"
        );
        assert_eq!(run(vec![good.clone()], &[]), Ok(()));
        let told = run(vec![bad.clone(), good, missing.clone()], &[]);
        let both = format!("failed, also alone:\n  {bad}\n  {missing}");
        assert_eq!(told, Err(both));
    }

    #[test]
    fn what_passes_alone_fails_nothing() {
        let (unsteady, bad) = (program("unsteady"), program("bad"));
        assert_eq!(judge(vec![unsteady.clone()], &[]), Ok(()));
        let told = judge(vec![unsteady, bad.clone()], std::slice::from_ref(&bad));
        assert_eq!(told, Err(format!("failed, also alone:\n  {bad}")));
    }
}
