//! Block devices of the shown files: attached with `losetup`, and detached whatever happens.
//!
//! What is done to a file of our own mount must be done while the server serves, and by another process: it would wait for
//! itself otherwise.
//!
//! A file system that is no longer in the table of mounts may still be writing what it has. So the server ends when its
//! devices are gone, which they are once nobody has them open.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_session::Console;
use fathom_units::Nanos;
use serde_json::Value;

use crate::mount;

/// How often is looked whether a device is still mounted.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How often is looked whether a device that was detached is still open.
const SOON: Duration = Duration::from_millis(10);
/// How soon after the first signal another one is that one told again: `timeout` sends one to its command and another to the group
/// that it is of.
const TOLD_AGAIN: Nanos = Nanos::from_millis(100);

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
    /// Each with its file.
    devices: Vec<(String, PathBuf)>,
}

impl Loops {
    /// A block device for each file; says which.
    pub fn attach(files: &[PathBuf], console: &dyn Console) -> Result<Self, AttachError> {
        let mut loops = Self::default();
        for file in files {
            let device = attach(file)?;
            console.tell(&format!("attached {} as {device}", file.display()));
            loops.devices.push((device, file.clone()));
        }
        Ok(loops)
    }

    /// Where its devices, or partitions of them, are mounted.
    fn mounted(&self) -> Vec<String> {
        let devices = self.devices.iter().map(|(device, _)| device.as_str());
        let mounts = mounted(&devices.collect::<Vec<_>>());
        let tell = |(source, place)| format!("{source} on {place}");
        mounts.into_iter().map(tell).collect()
    }

    /// Those that are there. Where somebody has unmounted the files, the kernel tells their places in the mount alone.
    fn attached(&self) -> Vec<String> {
        let is_there = |(device, file): &&(String, PathBuf)| {
            let name = device.trim_start_matches("/dev/");
            let shown = file_of(&Path::new("/sys/block").join(name));
            shown.is_some_and(|shown| file.ends_with(shown.strip_prefix("/").unwrap_or(&shown)))
        };
        let devices = self.devices.iter().filter(is_there);
        devices.map(|(device, _)| device.clone()).collect()
    }

    /// Detaches them; those that somebody has open are there until they are closed.
    fn detach(&self) {
        // One that somebody else has detached is gone already, and may be another's now.
        for device in self.attached() {
            let _ = detach(&device);
        }
    }
}

impl Drop for Loops {
    fn drop(&mut self) {
        self.detach();
    }
}

/// Keeps block devices of `files` until the first signal, or until `length` has passed, and while they are mounted or open:
/// until a second signal. Then detaches them, and rings `stop`.
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
        let first = Clock::now();
        let mounted = |used: Vec<String>| {
            let used = used.join(", ");
            console.tell(&format!(
                "still mounted: {used}; unmount it, or interrupt again to end without"
            ));
        };
        let open = |used: Vec<String>| {
            let used = used.join(" ");
            console.tell(&format!(
                "still in use: {used}, by a file system that is being unmounted, or by a program (`fuser -v {used}`); let it \
                 end, or interrupt again to end without"
            ));
        };
        if wait_while((signals, first), LOOK_AGAIN, || loops.mounted(), mounted) {
            loops.detach();
            wait_while((signals, first), SOON, || loops.attached(), open);
        }
    }
    // While the server still serves: detaching may write.
    let kept = loops.map(drop);
    // Where the server has ended already, nobody listens.
    let _ = stop.write(&[1]);
    kept
}

/// Waits while some devices are in use, and tells of them if that takes longer than a moment; `false`: until a signal came, after
/// the one at `first`.
fn wait_while(
    (signals, first): (&UnixStream, Nanos),
    every: Duration,
    in_use: impl Fn() -> Vec<String>,
    tell: impl Fn(Vec<String>),
) -> bool {
    let mut waited = Duration::ZERO;
    let mut told = false;
    loop {
        let used = in_use();
        if used.is_empty() {
            return true;
        }
        if waited >= LOOK_AGAIN && !told {
            tell(used);
            told = true;
        }
        if wait(signals, Some(every)) {
            if Clock::now().saturating_sub(first) >= TOLD_AGAIN {
                return false;
            }
        } else {
            waited += every;
        }
    }
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
    let device = String::from_utf8_lossy(&made.stdout).trim().to_owned();
    let name = device.trim_start_matches("/dev/");
    if let Err(why) = pass_flushes_on(&Path::new("/sys/block").join(name)) {
        let _ = detach(&device);
        return Err(failed(format!("{device} passes no flushes on: {why}")));
    }
    Ok(device)
}

/// Has a device, by its folder of the kernel's, pass on what file systems flush: a loop device keeps what somebody set for the
/// file that it had before, and at `write through` nothing is ever flushed.
fn pass_flushes_on(device: &Path) -> io::Result<()> {
    const PASSES: &str = "write back";
    let setting = device.join("queue/write_cache");
    let passes = || Ok::<_, io::Error>(fs::read_to_string(&setting)?.trim() == PASSES);
    let is_read_only = fs::read_to_string(device.join("ro"))?.trim() == "1";
    if is_read_only || passes()? {
        return Ok(());
    }
    fs::write(&setting, PASSES)?;
    if passes()? {
        return Ok(());
    }
    let stays = format!("`{}` does not become `{PASSES}`", setting.display());
    Err(io::Error::other(stays))
}

/// The file of a block device that stands in a folder of the kernel's; `None`: it is no loop device with a file.
fn file_of(device: &Path) -> Option<PathBuf> {
    let mut file = fs::read(device.join("loop/backing_file")).ok()?;
    file.pop_if(|last| *last == b'\n');
    Some(OsString::from_vec(file).into())
}

/// What of `devices`, or of their partitions, is mounted, and where.
pub(crate) fn mounted(devices: &[&str]) -> Vec<(String, String)> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounts = table.lines().filter_map(|line| {
        let (fields, rest) = line.split_once(" - ")?;
        let source = rest.split(' ').nth(1)?;
        let is_of = |device: &&str| {
            let part = source.strip_prefix(device);
            part.is_some_and(|part| part.is_empty() || part.starts_with('p'))
        };
        let place = fields.split(' ').nth(4)?;
        let ours = devices.iter().any(is_of);
        ours.then(|| (source.to_owned(), mount::unescaped(place)))
    });
    mounts.collect()
}

/// Whether a loop device has been detached already, and is there only until nobody has it open.
pub(crate) fn goes_by_itself(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    let flag = Path::new("/sys/block").join(name).join("loop/autoclear");
    fs::read_to_string(flag).is_ok_and(|flag| flag.trim() == "1")
}

/// Loop devices whose files lay below `folder`.
pub(crate) fn below(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/sys/block")? {
        let entry = entry?;
        if file_of(&entry.path()).is_some_and(|file| file.starts_with(folder)) {
            found.push(format!("/dev/{}", entry.file_name().to_string_lossy()));
        }
    }
    Ok(found)
}

/// Loop devices whose files answer nothing and may be ours, with what the kernel has for the name of the file: where its mount
/// is gone, its place in there alone; but for `told`, which are known of. No other device is asked anything: what lies beneath
/// it may not answer at all.
pub(crate) fn dead(told: &[String]) -> io::Result<Vec<(String, String)>> {
    let mounts = mount::places()?;
    let mut dead = Vec::new();
    for entry in fs::read_dir("/sys/block")? {
        let entry = entry?;
        let Some(file) = file_of(&entry.path()).filter(|file| is_place_of_no_mount(file, &mounts))
        else {
            continue;
        };
        let device = format!("/dev/{}", entry.file_name().to_string_lossy());
        if !told.contains(&device) && answers_nothing(&device)? {
            dead.push((device, file.display().to_string()));
        }
    }
    dead.sort();
    Ok(dead)
}

/// Whether the name of a device's file is one in a mount that is gone: it lies in none of `mounts` but the root, where nothing
/// has it, and nobody has removed the file.
fn is_place_of_no_mount(file: &Path, mounts: &[PathBuf]) -> bool {
    let mut others = mounts
        .iter()
        .filter(|place| place.as_path() != Path::new("/"));
    let is_deleted = file.as_os_str().as_bytes().ends_with(b" (deleted)");
    !is_deleted
        && !others.any(|place| file.starts_with(place))
        && fs::symlink_metadata(file).is_err()
}

/// Whether nobody answers for the file of a loop device.
fn answers_nothing(device: &str) -> io::Result<bool> {
    let words = ["--list", "--json", "--output", "BACK-INO", device];
    let listed = Command::new("losetup").args(words).output()?;
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
    // The number of a file's inode is what is asked of the file itself; it is not told to who may not open the device.
    let told = listed["loopdevices"]
        .get(0)
        .map(|device| &device["back-ino"]);
    Ok(told.is_some_and(Value::is_null) && fs::File::open(device).is_ok())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_flushed_is_passed_on() {
        for (read_only, before, after) in [
            ("0\n", "write through\n", "write back"),
            ("0\n", "write back\n", "write back\n"),
            ("1\n", "write through\n", "write through\n"),
        ] {
            let device = tempfile::tempdir().unwrap();
            let setting = device.path().join("queue/write_cache");
            fs::create_dir(device.path().join("queue")).unwrap();
            fs::write(&setting, before).unwrap();
            fs::write(device.path().join("ro"), read_only).unwrap();
            pass_flushes_on(device.path()).unwrap();
            assert_eq!(fs::read_to_string(&setting).unwrap(), after);
        }
        assert!(pass_flushes_on(Path::new("/sys/block/none")).is_err());
    }

    #[test]
    fn an_interrupt_that_is_told_again_ends_no_wait() {
        let is_waited_for = |first: Nanos| {
            let (signals, mut bell) = UnixStream::pair().unwrap();
            bell.write_all(&[1]).unwrap();
            let looks = std::cell::Cell::new(0);
            let in_use = || {
                looks.set(looks.get() + 1);
                let used = (looks.get() < 3).then(|| "/mnt/data".to_owned());
                used.into_iter().collect()
            };
            wait_while((&signals, first), SOON, in_use, |_| ())
        };
        let now = Clock::now();
        assert!(is_waited_for(now + Nanos::from_secs(3600)));
        assert!(!is_waited_for(now.saturating_sub(TOLD_AGAIN)));
    }

    #[test]
    fn devices_that_cannot_be_ours_are_asked_nothing() {
        let mounts = ["/", "/srv/images", "/run"].map(PathBuf::from);
        let here = tempfile::NamedTempFile::new_in("/").unwrap();
        let root = here.path().display().to_string();
        for (file, expected) in [
            ("/data", true),
            ("/db1/data", true),
            ("/srv/images/disk.img", false),
            ("/run/data", false),
            ("/running/data", true),
            ("/data (deleted)", false),
            (&root, false),
        ] {
            assert_eq!(
                is_place_of_no_mount(Path::new(file), &mounts),
                expected,
                "{file}"
            );
        }
    }
}
