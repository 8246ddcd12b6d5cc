//! A trace buffer of our own in tracefs, and what is written into its files.
//!
//! Invariants: nothing of the machine's own trace buffer is touched; the instance is removed when this is dropped, and
//! those of programs that were killed are removed by the next.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_rawio::{Clock, open_nonblocking};
use fathom_units::Nanos;

use super::super::devices::Watched;

/// Before the process's number in an instance's name.
const PREFIX: &str = "fathom-";
/// Instances that this program made so far.
static MADE: AtomicU32 = AtomicU32::new(0);
/// Each processor's buffer in KiB: about 16,000 I/Os, read ten times a second.
const BUFFER_KIB: u32 = 2048;
/// Bytes that one read gives where the kernel lets us choose, in KiB: fewer reads.
const PAGE_KIB: u32 = 32;
/// More devices than this are told apart by us instead of in the kernel.
const FILTERED_MOST: usize = 32;
/// Marks written to measure what an event costs, in rounds.
const MARKS: u32 = 2_000;
const ROUNDS: usize = 5;
/// Bytes of a mark: about those of an event.
const MARK: usize = 64;

/// The kinds of events that are asked for.
pub const EVENTS: [&str; 4] = [
    "block_rq_issue",
    "block_rq_complete",
    "block_rq_requeue",
    "block_split",
];

/// Our own buffer.
#[derive(Debug)]
pub struct Instance {
    place: PathBuf,
}

/// Where tracefs is mounted, with a right to use it.
///
/// # Errors
/// Why it cannot be used and what to do, in one sentence.
pub fn tracefs(mounts: &str) -> Result<PathBuf, String> {
    let mounted = |kind: &str, below: &str| {
        let line = mounts
            .lines()
            .find(|line| line.split(' ').nth(2) == Some(kind))?;
        let place = line.split(' ').nth(1)?.replace("\\040", " ");
        Some(PathBuf::from(place).join(below))
    };
    let Some(place) = mounted("tracefs", "").or_else(|| mounted("debugfs", "tracing")) else {
        return Err(
            "tracefs is not mounted: `mount -t tracefs none /sys/kernel/tracing` as root does it"
                .to_owned(),
        );
    };
    let name = place.display();
    match fs::metadata(place.join("instances")) {
        Ok(_) => Ok(place),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(format!("there is no right to `{name}`: root has it"))
        }
        Err(error) => Err(format!("`{name}/instances` cannot be used: {error}")),
    }
}

impl Instance {
    /// A new buffer, with nothing recorded in it yet.
    ///
    /// # Errors
    /// What the kernel refused, in one sentence.
    pub fn new(tracefs: &Path) -> Result<Self, String> {
        remove_stale(tracefs);
        let place = tracefs.join("instances").join(format!(
            "{PREFIX}{}-{}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        ));
        fs::create_dir(&place).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                format!("there is no right to `{}`: root has it", tracefs.display())
            }
            _ => format!("`{}` cannot be made: {error}", place.display()),
        })?;
        let instance = Self { place };
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", "mono")?;
        instance.set("buffer_size_kb", &BUFFER_KIB.to_string())?;
        // Older kernels have no choice, and give pages of the processor.
        let _ = instance.set("buffer_subbuf_size_kb", &PAGE_KIB.to_string());
        Ok(instance)
    }

    /// A control file's new value.
    pub fn set(&self, file: &str, value: &str) -> Result<(), String> {
        let place = self.place.join(file);
        let written = OpenOptions::new()
            .write(true)
            .open(&place)
            .and_then(|mut it| it.write_all(value.as_bytes()));
        written.map_err(|error| format!("`{}` does not take `{value}`: {error}", place.display()))
    }

    /// A file's text.
    pub fn text(&self, file: &str) -> Result<String, String> {
        let place = self.place.join(file);
        fs::read_to_string(&place)
            .map_err(|error| format!("`{}` cannot be read: {error}", place.display()))
    }

    /// Lets the events of `devices` be recorded, once tracing is on.
    pub fn enable(&self, devices: &[Watched]) -> Result<(), String> {
        let mut numbers: Vec<_> = devices.iter().map(|device| device.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let terms: Vec<_> = numbers
            .iter()
            .map(|number| format!("dev == {number}"))
            .collect();
        for event in EVENTS {
            if numbers.len() <= FILTERED_MOST {
                self.set(&format!("events/block/{event}/filter"), &terms.join(" || "))?;
            }
            self.set(&format!("events/block/{event}/enable"), "1")?;
        }
        Ok(())
    }

    /// Bytes of a page of the buffer.
    pub fn page_size(&self) -> usize {
        let kib = self.text("buffer_subbuf_size_kb").ok();
        let kib = kib.and_then(|text| text.trim().parse::<usize>().ok());
        kib.filter(|kib| (1..=1024).contains(kib))
            .map_or(4096, |kib| kib * 1024)
    }

    /// Each processor's raw buffer, and the file that tells what it lost.
    pub fn buffers(&self) -> Result<Vec<(File, PathBuf)>, String> {
        let place = self.place.join("per_cpu");
        let wrong = |error: io::Error| format!("`{}` cannot be read: {error}", place.display());
        let mut found = Vec::new();
        for entry in fs::read_dir(&place).map_err(wrong)? {
            let processor = entry.map_err(wrong)?.path();
            let file = open_nonblocking(&processor.join("trace_pipe_raw")).map_err(wrong)?;
            found.push((file, processor.join("stats")));
        }
        Ok(found)
    }

    /// What recording one event costs the processor, measured on this machine: the time of marks of about an event's size
    /// with tracing on less that with tracing off. A tracepoint's own filter and fields come on top.
    pub fn cost_of_event(&self) -> Result<Nanos, String> {
        let place = self.place.join("trace_marker_raw");
        let mut marker = OpenOptions::new()
            .write(true)
            .open(&place)
            .map_err(|error| format!("`{}` cannot be written: {error}", place.display()))?;
        let mark = [0u8; MARK];
        let mut round = |on: &str| -> Result<u64, String> {
            self.set("tracing_on", on)?;
            let start = Clock::now();
            for _ in 0..MARKS {
                // With tracing off the kernel refuses each mark, which is what its call costs without recording.
                let _ = marker.write(&mark);
            }
            Ok(Clock::now().saturating_sub(start).get() / u64::from(MARKS))
        };
        // The least of each: whatever else the machine did made others longer, none shorter.
        let (mut least_off, mut least_on) = (u64::MAX, u64::MAX);
        for _ in 0..ROUNDS {
            least_off = least_off.min(round("0")?);
            least_on = least_on.min(round("1")?);
        }
        self.set("tracing_on", "0")?;
        // Opening for writing with truncation is how a buffer is emptied.
        let _ = File::create(self.place.join("trace"));
        Ok(Nanos::new(least_on.saturating_sub(least_off)))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.set("tracing_on", "0");
        let _ = fs::remove_dir(&self.place);
    }
}

/// Events that a processor's buffer lost so far, by its `stats` file.
pub fn lost(stats: &Path) -> u64 {
    let mut text = String::new();
    let read = File::open(stats).and_then(|mut file| file.read_to_string(&mut text));
    if read.is_err() {
        return 0;
    }
    let of = |key: &str| {
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        value.trim().parse::<u64>().ok()
    };
    ["overrun", "commit overrun", "dropped events"]
        .into_iter()
        .filter_map(of)
        .sum()
}

/// Removes the instances of programs that are no more.
fn remove_stale(tracefs: &Path) {
    for entry in fs::read_dir(tracefs.join("instances"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| {
            name.strip_prefix(PREFIX)?
                .split('-')
                .next()?
                .parse::<u32>()
                .ok()
        });
        if process.is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_found_or_the_command_told() {
        let none = tracefs("proc /proc proc rw 0 0\n").unwrap_err();
        assert!(none.contains("mount -t tracefs"), "{none}");
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("instances")).unwrap();
        let mounts = format!("none {} tracefs rw 0 0\n", place.path().display());
        assert_eq!(tracefs(&mounts).as_deref(), Ok(place.path()));
    }

    #[test]
    fn only_the_instances_of_the_dead_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let instances = place.path().join("instances");
        for name in ["fathom-1-0", "fathom-4294967294-3", "other-4294967294"] {
            fs::create_dir_all(instances.join(name)).unwrap();
        }
        remove_stale(place.path());
        let left = |name: &str| instances.join(name).exists();
        assert_eq!(
            [
                left("fathom-1-0"),
                left("fathom-4294967294-3"),
                left("other-4294967294")
            ],
            [true, false, true]
        );
    }
}
