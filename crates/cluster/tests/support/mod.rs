//! Hosts on one machine: each process of `fathom-mpi` has a name and a monotonic clock of its own, by namespaces of Linux, and is
//! started by a real launcher. Needs root, Open MPI, and `unshare` of util-linux.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(dead_code, reason = "each test program uses a part of it")]

pub mod machines;
pub mod slurm;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_fathom-mpi");

/// Each host's clock is so many seconds ahead of the one before.
const CLOCKS_APART: u64 = 5_000;

/// Several hosts measure at once: no two tests do.
static ALONE: Mutex<()> = Mutex::new(());

/// Hosts that share a folder and a store of runs.
pub struct Hosts {
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// How a launcher ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Hosts {
    pub fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            folder: tempfile::tempdir().unwrap(),
            _alone: alone,
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A workload file of that name: reads and writes of fresh files for so long in each of two stages.
    pub fn workload(&self, name: &str, measure: &str) -> PathBuf {
        let folder = self.path().display();
        let text = format!(
            "[target]\npath = \"{folder}/\"\nsize = \"2MiB\"\n\n\
             [[stage]]\nname = \"first\"\nmeasure = \"{measure}\"\n[[stage.job]]\nname = \"reads\"\n\n\
             [[stage]]\nname = \"second\"\nmeasure = \"{measure}\"\n[[stage.job]]\nname = \"mix\"\n\
             mix = {{ read = \"50%\", write = \"50%\" }}\n"
        );
        self.file(name, &text)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A launcher of `count` processes; what they are is to be added.
    pub fn launcher(&self, count: usize) -> Command {
        self.launcher_by("self,vader,tcp", count)
    }

    /// One whose processes have these ways to each other.
    pub fn launcher_by(&self, ways: &str, count: usize) -> Command {
        let mut command = Command::new("mpirun");
        command
            .args([
                "--allow-run-as-root",
                "--oversubscribe",
                "--bind-to",
                "none",
            ])
            .args(["--mca", "btl", ways, "--mca", "btl_tcp_if_include", "lo"])
            .args(["-np", &count.to_string()])
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// A launcher of hosts `h0`, `h1` and so on, whose clocks are far apart, with these words behind `run`.
    pub fn hosts(&self, count: usize, words: &[&str]) -> Command {
        let script = format!(
            "exec unshare --uts --fork --kill-child --time --monotonic \
             $((OMPI_COMM_WORLD_RANK * {CLOCKS_APART})) sh -c 'hostname h$OMPI_COMM_WORLD_RANK; exec \"$@\"' sh \"$@\""
        );
        let mut command = self.launcher(count);
        command
            .args(["sh", "-c", &script, "sh", PROGRAM, "run"])
            .args(words);
        command
    }

    /// Records of the hosts' own runs, and the merged one.
    pub fn stored(&self) -> (Vec<Value>, Option<Value>) {
        let runs = self.path().join("data/fathom/runs");
        let folders = fs::read_dir(runs).map(|all| all.map(|it| it.unwrap().path()).collect());
        let folders: Vec<PathBuf> = folders.unwrap_or_default();
        let records = folders.iter().filter_map(|folder| {
            let text = fs::read(folder.join("record.json")).ok()?;
            Some(serde_json::from_slice::<Value>(&text).unwrap())
        });
        let (merged, own): (Vec<Value>, Vec<Value>) =
            records.partition(|record| record["stages"][0]["hosts"].is_object());
        assert!(merged.len() < 2, "{}", merged.len());
        (own, merged.into_iter().next())
    }

    /// The hosts' processes, with their ranks.
    pub fn processes(&self) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        for process in fs::read_dir("/proc").unwrap().map(|it| it.unwrap()) {
            let Ok(id) = process.file_name().to_string_lossy().parse::<u32>() else {
                continue;
            };
            let is_ours = fs::read_link(process.path().join("exe"))
                .is_ok_and(|program| program == Path::new(PROGRAM));
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let set = |name: &str| {
                let mut all = environment.split(|byte| *byte == 0);
                let found = all.find_map(|entry| {
                    std::str::from_utf8(entry)
                        .ok()?
                        .strip_prefix(name)?
                        .strip_prefix('=')
                });
                found.map(str::to_owned)
            };
            let data = self.path().join("data").display().to_string();
            if is_ours && set("XDG_DATA_HOME") == Some(data) {
                let rank = set("OMPI_COMM_WORLD_RANK").or_else(|| set("PMIX_RANK"));
                found.push((rank.unwrap().parse().unwrap(), id));
            }
        }
        found
    }

    /// Waits until all `count` hosts have begun to measure: each has a second of figures in its run folder.
    pub fn wait_for_figures(&self, count: usize) {
        let runs = self.path().join("data/fathom/runs");
        let measures = |folder: PathBuf| {
            let events = fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
            events.contains("\"interval\"")
        };
        for _ in 0..1_500 {
            let folders = fs::read_dir(&runs).into_iter().flatten();
            if folders
                .filter(|it| measures(it.as_ref().unwrap().path()))
                .count()
                == count
            {
                return;
            }
            sleep_until(Clock::now() + Nanos::from_millis(10));
        }
        panic!("no figures of {count} hosts");
    }
}

/// Starts it; its output is kept.
pub fn started(command: &mut Command) -> Child {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().unwrap()
}

/// Waits for it.
pub fn ended(child: Child) -> Ended {
    told(child.wait_with_output().unwrap())
}

/// Runs it to its end.
pub fn run(command: &mut Command) -> Ended {
    ended(started(command))
}

fn told(output: Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Sends a signal to a process.
pub fn signal(id: u32, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &id.to_string()])
        .status();
    assert!(status.unwrap().success());
}
