//! Where a run of the bench keeps its sockets, files and images, and how nothing of it is left behind.
//!
//! A shell stands by as the janitor. It is told the processes that were started, and waits for the end of its input, which
//! comes however this process ends, killed or not. Then it detaches block devices of files of the place, ends what still runs
//! of those processes, and removes the place. In an ordinary run values have ended all of that themselves before.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::command;

/// Bytes of every image, in MiB.
pub const IMAGE_MIB: u64 = 1024;

/// Ends what is left. A process counts as one of ours where the place stands in its arguments, so that a number that another
/// process has taken since ends nothing.
const JANITOR: &str = r#"
dir=$1
trap '' INT TERM HUP
pids=
while read -r pid; do pids="$pid $pids"; done
ours() { tr '\0' '\n' < "/proc/$1/cmdline" 2> /dev/null | grep -qF "$dir"; }
detach() {
    losetup --list --noheadings --output NAME,BACK-FILE | grep -F " $dir/" |
        while read -r device file; do losetup --detach "$device"; done
}
detach
for pid in $pids; do ours "$pid" && kill -TERM "$pid"; done
for tenth in $(seq 100); do
    left=
    for pid in $pids; do ours "$pid" && left="$pid $left"; done
    [ -z "$left" ] && break
    sleep 0.1
done
for pid in $left; do ours "$pid" && kill -KILL "$pid"; done
detach
grep -F " $dir/" /proc/self/mounts | while read -r source where rest; do umount --lazy "$where"; done
rm -rf --one-file-system "$dir"
"#;

/// Where files are in memory.
const MEMORY: &str = "/dev/shm";

/// A directory in memory, removed at the end.
pub struct Place {
    path: PathBuf,
    janitor: Child,
}

impl Place {
    /// A new one, with an image full of random bytes.
    pub fn new() -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("fathom-bench-serve.")
            .tempdir_in(MEMORY);
        // The janitor removes it, whatever becomes of this process.
        let path = folder.map_err(|error| format!("{MEMORY}: {error}"))?.keep();
        let mut janitor = Command::new("sh");
        janitor.args(["-c", JANITOR, "janitor"]).arg(&path);
        // A group of its own: a signal to this process's group does not reach it.
        janitor.process_group(0);
        janitor.stdin(Stdio::piped());
        janitor.stdout(Stdio::null()).stderr(Stdio::null());
        let janitor = janitor.spawn().map_err(|error| format!("sh: {error}"))?;
        let place = Self { path, janitor };
        let (image, count) = (place.image(), format!("count={IMAGE_MIB}"));
        let image = format!("of={}", image.display());
        command::output("dd", &["if=/dev/urandom", &image, "bs=1M", &count])?;
        Ok(place)
    }

    /// A path inside.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The image that servers of a file serve, and that others are filled with.
    pub fn image(&self) -> PathBuf {
        self.at("image")
    }

    /// A process that is to be ended with this run.
    pub fn note(&self, process: &Child) -> Result<(), String> {
        let mut janitor = self.janitor.stdin.as_ref().ok_or("no janitor")?;
        writeln!(janitor, "{}", process.id()).map_err(|error| format!("the janitor: {error}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.janitor.stdin.take());
        let _ = self.janitor.wait();
    }
}

/// The text of a small file, empty where there is none.
pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
