//! A device to watch, and a load on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use fathom_observe::live::{LiveError, Options, Seen, Tracing, watch};
use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use serde_json::Value;

use super::output;

/// A loop device on a file in memory, and tracefs where the machine has it mounted nowhere.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub image: PathBuf,
    pub device: String,
    mounted: Option<PathBuf>,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory
        } else {
            folder.path()
        };
        let name = folder
            .path()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let image = parent.join(format!("fathom-observe{name}"));
        fs::File::create(&image)
            .unwrap()
            .set_len(512 << 20)
            .unwrap();
        let device = output("losetup", &["-f", "--show", image.to_str().unwrap()]);
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let is_there = mounts
            .lines()
            .any(|line| line.split(' ').nth(2) == Some("tracefs"));
        let mounted = (!is_there).then(|| {
            let place = folder.path().join("tracing");
            fs::create_dir(&place).unwrap();
            output("mount", &["-t", "tracefs", "none", place.to_str().unwrap()]);
            place
        });
        // Pages of the file are made now, so that no I/O waits for one.
        output(
            "dd",
            &[
                "if=/dev/zero",
                &format!("of={device}"),
                "bs=1M",
                "count=512",
                "status=none",
            ],
        );
        output("sync", &[]);
        Self {
            folder,
            image,
            device,
            mounted,
        }
    }

    pub fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    pub fn options(&self) -> Options {
        Options {
            devices: vec![self.device.clone()],
            processes: Vec::new(),
            duration: Nanos::from_secs(120),
            interval: Nanos::from_millis(500),
            tracing: Tracing::WherePossible,
            // However slow the test build is, all is traced.
            use_most: 1.0,
        }
    }

    /// Watches while fio runs `job`; fio waits for the processor no longer than it must.
    pub fn watch(&self, options: &Options, job: &str) -> (Seen, Value) {
        let stop = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&stop);
        let watching = watch_apart(options.clone(), stop);
        let file = self.folder.path().join("job.fio");
        fs::write(
            &file,
            format!(
                "[global]\nfilename={}\ndirect=1\nlat_percentiles=0\n{job}",
                self.device
            ),
        )
        .unwrap();
        let said = output(
            "chrt",
            &[
                "-f",
                "20",
                "fio",
                "--output-format=json",
                file.to_str().unwrap(),
            ],
        );
        sleep_until(Clock::now() + Nanos::from_millis(300));
        raised.store(true, Ordering::Relaxed);
        let seen = watching.join().unwrap().unwrap();
        let said: Value = serde_json::from_str(&said[said.find('{').unwrap()..]).unwrap();
        (seen, said["jobs"].clone())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(place) = &self.mounted {
            let _ = Command::new("umount").arg(place).status();
        }
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
        let _ = fs::remove_file(&self.image);
    }
}

/// Watches on a thread of its own until `stop` is raised; comes back once the first interval is over.
pub fn watch_apart(options: Options, stop: Arc<AtomicBool>) -> JoinHandle<Result<Seen, LiveError>> {
    let (begun, has_begun) = std::sync::mpsc::channel();
    let watching = std::thread::spawn(move || {
        watch(&options, &stop, &mut |_| {
            let _ = begun.send(());
        })
    });
    // What cannot begin ends, and its error stands in what the thread gives.
    let _ = has_begun.recv();
    watching
}
