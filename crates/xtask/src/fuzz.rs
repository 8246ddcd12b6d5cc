//! `cargo xtask fuzz [--minutes N] [--seed N] [PARSER…]`: campaigns of `fathom-fuzz`, two at a time.
//!
//! Each runs in a process of its own under a limit of memory, so that a reader that takes too much, overflows its stack or
//! never ends is caught with its input: that is kept in the reader's folder, and the campaign goes on with another seed.
//! The program is built with its assertions and overflow checks (the profile `fuzz`).
#![expect(
    clippy::disallowed_methods,
    reason = "child processes are waited for; `rawio` has no part in it"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::Failure;
use crate::command::{self, output, root};

/// Campaigns at the same time.
const AT_ONCE: usize = 2;
/// After this long on one input, a reader hangs.
const HANG: Duration = Duration::from_secs(10);
/// As `fathom_fuzz::MEMORY_MAX_KIB`, which this crate does not know.
const MEMORY_MAX_KIB: u64 = (256 + 24) << 10;

struct Options {
    length: Duration,
    seed: u64,
    parsers: Vec<String>,
}

/// Runs the campaigns of `options`; ten minutes for every reader by default.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let mut options = parse(options).map_err(Failure::Usage)?;
    command::run(
        "cargo",
        &[
            "build",
            "--quiet",
            "--profile",
            "fuzz",
            "--package",
            "fathom-fuzz",
        ],
        &[],
    )?;
    let folder = root().join("target");
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or(folder, PathBuf::from);
    let program = folder.join("fuzz/fathom-fuzz");
    let known = output(&program.display().to_string(), &["list"])?;
    let known: Vec<String> = known.lines().map(str::to_owned).collect();
    if let Some(name) = options.parsers.iter().find(|name| !known.contains(name)) {
        let message = format!("`{name}` is no reader; known: {}", known.join(", "));
        return Err(Failure::Usage(message));
    }
    if options.parsers.is_empty() {
        options.parsers = known;
    }
    let queue = std::sync::Mutex::new(options.parsers.clone());
    let failures = std::sync::Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.pop());
                    let Some(parser) = next else { return };
                    if let Err(message) = campaign(&program, &folder, &parser, &options)
                        && let Ok(mut failures) = failures.lock()
                    {
                        failures.push(message);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_default();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}

/// The options and the names of readers, which only the program knows.
fn parse(options: &[&str]) -> Result<Options, String> {
    let mut parsed = Options {
        length: Duration::from_secs(600),
        seed: 1,
        parsers: Vec::new(),
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut number = || {
            let value = options.next().and_then(|value| value.parse::<f64>().ok());
            value
                .filter(|value| (0.0..1e6).contains(value))
                .ok_or_else(|| format!("{option} needs a number"))
        };
        match *option {
            "--minutes" => parsed.length = Duration::from_secs_f64(number()? * 60.0),
            "--seed" => parsed.seed = number()? as u64,
            other if other.starts_with('-') => {
                return Err(format!(
                    "unknown option `{other}`; known: --minutes N, --seed N"
                ));
            }
            name => parsed.parsers.push(name.to_owned()),
        }
    }
    Ok(parsed)
}

/// One reader's campaign, started again where its process dies.
fn campaign(program: &Path, folder: &Path, parser: &str, options: &Options) -> Result<(), String> {
    let current = folder.join(format!("fuzz-{parser}.current"));
    let end = Instant::now() + options.length;
    let mut seed = options.seed;
    let mut failures = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now()).as_secs();
        if left == 0 && seed != options.seed {
            break;
        }
        let script = format!(
            "ulimit -d {MEMORY_MAX_KIB}; exec \"$0\" run {parser} {} {seed} \"$1\"",
            left.max(1)
        );
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .args([program, current.as_path()])
            .env("MALLOC_ARENA_MAX", "1")
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        match wait(&mut child, &current)? {
            Ended::Well => break,
            Ended::WithFindings => {
                failures.push(format!("{parser}: findings, see above"));
                break;
            }
            Ended::Badly(how) => {
                let kept = keep(parser, &current)?;
                failures.push(format!("{parser}: {how}, by {}", kept.display()));
                println!("{}", failures[failures.len() - 1]);
                seed += 1_000;
            }
        }
    }
    let _ = std::fs::remove_file(&current);
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n"))
    }
}

enum Ended {
    Well,
    WithFindings,
    Badly(String),
}

/// Waits for a campaign to end, and ends it where one input takes too long.
fn wait(child: &mut Child, current: &Path) -> Result<Ended, String> {
    let tell = |error: std::io::Error| format!("fathom-fuzz: {error}");
    let begun = SystemTime::now();
    loop {
        if let Some(status) = child.try_wait().map_err(tell)? {
            return Ok(match status.code() {
                Some(0) => Ended::Well,
                Some(1) => Ended::WithFindings,
                _ => Ended::Badly(format!("its process ended by {status}")),
            });
        }
        let changed = std::fs::metadata(current).and_then(|found| found.modified());
        let since = SystemTime::now().duration_since(changed.unwrap_or(begun).max(begun));
        if since.is_ok_and(|since| since > HANG) {
            child.kill().map_err(tell)?;
            child.wait().map_err(tell)?;
            return Ok(Ended::Badly(format!("over {HANG:?} on one input")));
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// Moves the input that was being read into the reader's folder.
fn keep(parser: &str, current: &Path) -> Result<PathBuf, String> {
    let folder = root().join("crates/fuzz/corpora").join(parser);
    let name = (0..).map(|number| folder.join(format!("ended-{number}")));
    let path = name
        .into_iter()
        .find(|path| !path.exists())
        .unwrap_or_default();
    let tell = |error: std::io::Error| format!("{}: {error}", path.display());
    let held = std::fs::read(current).map_err(tell)?;
    // Its length comes first: the file may still hold more of a longer one.
    let (length, rest) = held.split_at_checked(8).unwrap_or((&[0; 8], &[]));
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
    let input = rest.get(..length as usize).unwrap_or(rest);
    std::fs::write(&path, input).map_err(tell)?;
    Ok(path)
}
