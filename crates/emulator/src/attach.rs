//! Block devices of the shown files: attached with `losetup`, and detached whatever happens.
//!
//! What is done to a file of our own mount must be done while the server serves, and by another process: it would wait for
//! itself otherwise.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fathom_session::Console;
use fathom_units::Nanos;

/// How often is looked whether a device is still in use.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Why files cannot become block devices.
#[derive(Debug, thiserror::Error)]
#[error(
    "`losetup` cannot make a block device of `{file}`: {why}\n  hint: it needs root and the package util-linux"
)]
pub struct AttachError {
    file: String,
    why: String,
}

/// Loop devices of files. Detached when dropped.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    devices: Vec<String>,
}

impl Loops {
    /// A block device for each file; says which.
    pub fn attach(files: &[PathBuf], console: &dyn Console) -> Result<Self, AttachError> {
        let mut loops = Self::default();
        for file in files {
            let device = attach(file)?;
            console.tell(&format!("attached {} as {device}", file.display()));
            loops.devices.push(device);
        }
        Ok(loops)
    }

    /// Where its devices, or partitions of them, are mounted.
    pub fn in_use(&self) -> Vec<String> {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounts = table.lines().filter_map(|line| {
            let (fields, rest) = line.split_once(" - ")?;
            let source = rest.split(' ').nth(1)?;
            let ours = |device: &String| {
                source
                    .strip_prefix(device.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('p'))
            };
            let place = fields.split(' ').nth(4)?;
            self.devices
                .iter()
                .any(ours)
                .then(|| format!("{source} on {place}"))
        });
        mounts.collect()
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        for device in &self.devices {
            // One that somebody else has detached is gone already.
            let _ = Command::new("losetup").args(["-d", device]).output();
        }
    }
}

/// Keeps block devices of `files` until the first signal, or until `length` has passed, and while they are in use: until a
/// second signal. Then detaches them, and rings `stop`.
pub(crate) fn keep(
    files: &[PathBuf],
    signals: &UnixStream,
    length: Option<Nanos>,
    mut stop: &UnixStream,
    console: &dyn Console,
) -> Result<(), AttachError> {
    let loops = Loops::attach(files, console);
    if let Ok(loops) = &loops {
        wait(
            signals,
            length.map(|length| Duration::from_nanos(length.get())),
        );
        let mut told = false;
        loop {
            let used = loops.in_use();
            if used.is_empty() {
                break;
            }
            if !told {
                let used = used.join(", ");
                console.tell(&format!(
                    "still mounted: {used}; unmount it, or interrupt again to end without"
                ));
                told = true;
            }
            if wait(signals, Some(LOOK_AGAIN)) {
                break;
            }
        }
    }
    // While the server still serves: detaching may write.
    let kept = loops.map(drop);
    // Where the server has ended already, nobody listens.
    let _ = stop.write(&[1]);
    kept
}

/// Waits for a signal; `false`: the time has passed without one.
fn wait(mut signals: &UnixStream, longest: Option<Duration>) -> bool {
    // A wait of nothing at all is refused by the system.
    let longest = longest.map(|longest| longest.max(Duration::from_millis(1)));
    signals.set_read_timeout(longest).is_ok() && signals.read(&mut [0]).is_ok()
}

fn attach(file: &Path) -> Result<String, AttachError> {
    let failed = |why: String| AttachError {
        file: file.display().to_string(),
        why,
    };
    let made = Command::new("losetup")
        .args(["--find", "--show", "--direct-io=on", "--"])
        .arg(file)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !made.status.success() {
        let why = String::from_utf8_lossy(&made.stderr);
        return Err(failed(why.trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&made.stdout).trim().to_owned())
}

/// Loop devices whose files lay below `folder`.
pub(crate) fn below(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/sys/block")? {
        let entry = entry?;
        // Only a loop device with a file has this.
        let Ok(file) = fs::read_to_string(entry.path().join("loop/backing_file")) else {
            continue;
        };
        if Path::new(file.trim_end()).starts_with(folder) {
            found.push(format!("/dev/{}", entry.file_name().to_string_lossy()));
        }
    }
    Ok(found)
}

/// Detaches a loop device.
pub(crate) fn detach(device: &str) -> io::Result<()> {
    let done = Command::new("losetup").args(["-d", device]).output()?;
    if done.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Err(io::Error::other(why))
}
