//! What tests of served storage in use share: a server with its orders, a file system on a served volume, a database.
//!
//! Whatever a test ends by, values of these leave no process, mount or block device behind.
#![expect(dead_code, reason = "each test file uses its own part of this")]

pub mod postgres;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_units::Nanos;
use serde_json::{Value, json};

use crate::support::{disk_folder, fathom, system};

/// A machine with two volumes: writes to one get into its host's cache first, and those to the other do not.
pub const BACKED_AND_PLAIN: &str = r#"
[[vm]]
name = "db"
size = "Standard_DS14"
era = "2016"

[[vm.volume]]
name = "backed"
mount = "/mnt/backed"
disks = { type = "P30", count = 2 }
caching = "read-write"

[[vm.volume]]
name = "plain"
mount = "/mnt/plain"
disks = { type = "P30", count = 1 }
caching = "none"
"#;

/// Whether the long form is asked for, as `cargo xtask soak` does.
pub fn soaking() -> bool {
    std::env::var_os("FATHOM_SOAK").is_some()
}

/// A folder that other users may enter.
pub fn open_folder() -> tempfile::TempDir {
    let folder = disk_folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Looks again and again until something is there.
#[track_caller]
pub fn await_some<T>(seconds: u64, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Clock::now() + Nanos::from_secs(seconds);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Clock::now() < end, "{what} within {seconds} s");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// How volumes are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// As exports alone.
    Exports,
    /// As block devices too.
    Devices,
}

/// A server of a design.
pub struct Served {
    child: Child,
    home: PathBuf,
    /// Block devices of its volumes, in order of the design.
    pub devices: Vec<String>,
}

impl Served {
    /// Serves the design that stands in `design`.
    pub fn start(home: &Path, design: &Path, shown: Shown, more: &[&str]) -> Self {
        let mut command = fathom(home);
        command.arg("serve").arg(design).args(more);
        command.args(["--nbd", "unix:sockets", "--control", "orders.sock"]);
        command.args(["--json", "--no-record"]);
        if shown == Shown::Devices {
            fs::create_dir_all(home.join("files")).unwrap();
            command
                .arg("--fuse")
                .arg(home.join("files"))
                .arg("--attach");
        }
        let record = File::create(home.join("record.json")).unwrap();
        command.stdout(record).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut served = Self {
            child,
            home: home.to_owned(),
            devices: Vec::new(),
        };
        let mut lines = lines.map_while(Result::ok);
        let mut volumes = 0;
        while shown == Shown::Devices && (volumes == 0 || served.devices.len() < volumes) {
            let line = lines.next().expect("the server serves");
            volumes += usize::from(line.starts_with("serving nbd"));
            if line.starts_with("attached ") {
                let device = line.rsplit(' ').next().unwrap();
                served.devices.push(device.to_owned());
            }
        }
        // Somebody takes what it still says, until it ends.
        std::thread::spawn(move || lines.for_each(drop));
        for socket in [served.socket(), home.join("orders.sock")] {
            await_some(60, "a server", || UnixStream::connect(&socket).ok());
        }
        served
    }

    /// Where its NBD clients come.
    pub fn socket(&self) -> PathBuf {
        self.home.join("sockets/fathom.sock")
    }

    /// The place of an export.
    pub fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.socket().display())
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Gives an order as `fathom ctl` does, without the time that a program takes to start.
    #[track_caller]
    pub fn order(&self, words: &[&str]) -> String {
        let mut control = UnixStream::connect(self.home.join("orders.sock")).unwrap();
        writeln!(control, "{}", json!(words)).unwrap();
        let mut line = String::new();
        BufReader::new(&control).read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(reply["ok"], true, "{words:?}: {reply}");
        reply["text"].as_str().unwrap().to_owned()
    }

    /// Kills it, and waits until nothing of it is left but its files.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Interrupts it and gives its record.
    pub fn stop(mut self) -> Value {
        system("kill", &["-INT", &self.process().to_string()]);
        let ended = await_some(60, "the server's end", || self.child.try_wait().unwrap());
        assert!(ended.success());
        let text = fs::read_to_string(self.home.join("record.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
        for _ in 0..50 {
            if ended(&mut self.child) {
                return;
            }
            let id = self.child.id().to_string();
            let _ = Command::new("kill").args(["-INT", &id]).status();
            std::thread::park_timeout(Duration::from_millis(200));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fathom(&self.home).args(["serve", "--clean"]).output();
    }
}

/// A mounted file system.
pub struct Mounted(PathBuf);

impl Mounted {
    /// Mounts `device` at `place`; why not, where its file system is no longer one.
    pub fn new(device: &str, place: &Path, options: &str) -> Result<Self, String> {
        fs::create_dir_all(place).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-o", options, device]).arg(place);
        let told = mount.output().unwrap();
        if told.status.success() {
            return Ok(Self(place.to_owned()));
        }
        Err(String::from_utf8_lossy(&told.stderr).into_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // What used it may still be on its way out.
        for _ in 0..100 {
            let done = Command::new("umount").arg(&self.0).output();
            if done.is_ok_and(|done| done.status.success()) {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
