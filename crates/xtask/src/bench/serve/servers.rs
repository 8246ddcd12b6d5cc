//! The servers that are compared: how each is started, filled with data, reached and ended.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::place::{Place, text};
use crate::command;

/// A server and what it serves.
#[derive(Clone, Copy)]
pub enum Server {
    /// Fathom on this design, as NBD exports, filled with data or not.
    Fathom { design: &'static str, fill: bool },
    /// Fathom on this design, its only volume as a block device.
    FathomDevice { design: &'static str },
    /// nbdkit with all memory, filled.
    NbdkitMemory,
    /// nbdkit on the image with a filter.
    NbdkitFilter {
        filter: &'static str,
        value: &'static str,
    },
    /// qemu-nbd on the image.
    QemuNbd,
    /// qemu-storage-daemon on the image behind a throttle group of so many I/Os a second.
    QemuThrottled { iops: u32 },
    /// qemu-storage-daemon's FUSE export of the image, as a block device.
    QemuDevice,
}

/// Where clients come.
enum Way {
    Socket(PathBuf),
    Device(String),
}

/// A server that serves. Ended when dropped.
pub struct Running {
    child: Child,
    way: Way,
    /// A block device that was made here, and not by the server.
    attached: Option<String>,
}

/// How long a server may take to be there, or to end, in tenths of a second.
const PATIENCE: u32 = 300;

impl Server {
    /// Starts it, waits until it serves, and fills it.
    pub fn start(self, name: &str, fathom: &Path, place: &Place) -> Result<Running, String> {
        // Files are called by the party's name, which has blanks in no row.
        let socket = match self {
            Self::Fathom { .. } => place.at("fathom.sock"),
            _ => place.at(&format!("{name}.sock")),
        };
        // Not every server removes its own at the end.
        let _ = std::fs::remove_file(&socket);
        let mut command = self.command(fathom, place, &socket)?;
        let log = place.at(&format!("{name}.log"));
        let open = || File::create(&log).map_err(|error| format!("{}: {error}", log.display()));
        let said = open()?;
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(said).env_remove("XDG_RUNTIME_DIR");
        let child = command
            .spawn()
            .map_err(|error| format!("{command:?} did not start: {error}"))?;
        let mut running = Running {
            child,
            way: Way::Socket(socket.clone()),
            attached: None,
        };
        place.note(&running.child)?;
        let look = || match self {
            Self::FathomDevice { .. } => attached_by(&text(&log)).map(Way::Device),
            Self::QemuDevice => export_is_there(place).then(|| Way::Socket(socket.clone())),
            _ => UnixStream::connect(&socket)
                .ok()
                .map(|_| Way::Socket(socket.clone())),
        };
        running.way = running
            .until(look)
            .map_err(|why| format!("{command:?} {why}:\n{}", text(&log)))?;
        self.ready(&mut running, place)?;
        Ok(running)
    }

    fn command(self, fathom: &Path, place: &Place, socket: &Path) -> Result<Command, String> {
        let (image, shown) = (place.image(), socket.display());
        let mut command = Command::new(match self {
            Self::Fathom { .. } | Self::FathomDevice { .. } => fathom,
            Self::NbdkitMemory | Self::NbdkitFilter { .. } => Path::new("nbdkit"),
            Self::QemuNbd => Path::new("qemu-nbd"),
            Self::QemuThrottled { .. } | Self::QemuDevice => Path::new("qemu-storage-daemon"),
        });
        let file = format!("driver=file,filename={},node-name=f", image.display());
        match self {
            Self::Fathom { design, .. } | Self::FathomDevice { design } => {
                let path = place.at("served.design.toml");
                let written = std::fs::write(&path, design);
                written.map_err(|error| format!("{}: {error}", path.display()))?;
                command.arg("serve").arg(&path);
                command.args(["--quiet", "--no-record"]);
                if let Self::Fathom { .. } = self {
                    let folder = place.at("");
                    command
                        .arg("--nbd")
                        .arg(format!("unix:{}", folder.display()));
                } else {
                    let folder = place.at("files");
                    std::fs::create_dir_all(&folder)
                        .map_err(|error| format!("{}: {error}", folder.display()))?;
                    command.arg("--fuse").arg(folder).arg("--attach");
                }
            }
            Self::NbdkitMemory => {
                command.args(["-f", "-U"]).arg(socket);
                command.args(["memory", "1G"]);
            }
            Self::NbdkitFilter { filter, value } => {
                command.args(["-f", "-U"]).arg(socket);
                command.arg(format!("--filter={filter}")).arg("file");
                command.arg(image).arg(value);
            }
            Self::QemuNbd => {
                command.args(["-t", "-f", "raw", "-k"]).arg(socket);
                command.arg(image);
            }
            Self::QemuThrottled { iops } => {
                let group = format!("throttle-group,id=g,limits.iops-total={iops}");
                let server = format!("addr.type=unix,addr.path={shown}");
                let throttle = "driver=throttle,throttle-group=g,file=f,node-name=t";
                command.args(["--object", &group, "--blockdev", &file]);
                command.args(["--blockdev", throttle, "--nbd-server", &server]);
                command.args(["--export", "type=nbd,id=e,node-name=t,name=,writable=on"]);
            }
            Self::QemuDevice => {
                let point = place.at("export");
                File::create(&point).map_err(|error| format!("{}: {error}", point.display()))?;
                let export = format!(
                    "type=fuse,id=e,node-name=f,mountpoint={},writable=on,growable=off",
                    point.display()
                );
                command.args(["--blockdev", &file, "--export", &export]);
            }
        }
        Ok(command)
    }

    /// What is to be done once it serves.
    fn ready(self, running: &mut Running, place: &Place) -> Result<(), String> {
        let image = place.image().display().to_string();
        match self {
            Self::Fathom { fill: true, .. } | Self::NbdkitMemory => {
                command::output("nbdcopy", &[&image, &running.uri("")])?;
            }
            Self::FathomDevice { .. } => {
                let Way::Device(device) = &running.way else {
                    return Err("no block device".to_owned());
                };
                let (from, to) = (format!("if={image}"), format!("of={device}"));
                let words = [&from, &to, "bs=1M", "oflag=direct", "conv=fsync,notrunc"];
                command::output("dd", &words)?;
            }
            Self::QemuDevice => {
                let file = place.at("export").display().to_string();
                let words = ["--find", "--show", "--direct-io=on", &file];
                let device = command::output("losetup", &words)?.trim().to_owned();
                running.attached = Some(device.clone());
                running.way = Way::Device(device);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The device that `fathom serve --attach` names.
fn attached_by(log: &str) -> Option<String> {
    let line = log.lines().find(|line| line.starts_with("attached "))?;
    line.rsplit(' ').next().map(str::to_owned)
}

/// Whether the file that is exported over is as large as the image already.
fn export_is_there(place: &Place) -> bool {
    let size = |path: PathBuf| std::fs::metadata(path).map(|file| file.len()).ok();
    size(place.at("export")) == size(place.image())
}

impl Running {
    fn uri(&self, export: &str) -> String {
        match &self.way {
            Way::Socket(socket) => format!("nbd+unix:///{export}?socket={}", socket.display()),
            Way::Device(device) => device.clone(),
        }
    }

    /// fio's words for where an export is.
    pub fn target(&self, export: &str) -> Vec<String> {
        match &self.way {
            Way::Socket(_) => vec![
                "--ioengine=nbd".to_owned(),
                format!("--uri={}", self.uri(export)),
            ],
            Way::Device(device) => vec![
                "--ioengine=io_uring".to_owned(),
                "--direct=1".to_owned(),
                format!("--filename={device}"),
            ],
        }
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Waits until something is found; why not, where the server has ended or is not there in time.
    fn until<T>(&mut self, look: impl Fn() -> Option<T>) -> Result<T, String> {
        for _ in 0..PATIENCE {
            if let Some(found) = look() {
                return Ok(found);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("ended at once ({status})"));
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
        Err("does not serve".to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(device) = &self.attached {
            let _ = command::output("losetup", &["--detach", device]);
        }
        let id = self.child.id().to_string();
        if let Ok(None) = self.child.try_wait() {
            let _ = command::output("kill", &["-TERM", &id]);
        }
        for _ in 0..PATIENCE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::attached_by;

    #[test]
    fn the_device_is_read_from_what_the_server_says() {
        let said = "serving nothing\nattached /dev/shm/x/files/ram as /dev/loop7\n";
        assert_eq!(attached_by(said).as_deref(), Some("/dev/loop7"));
        assert_eq!(attached_by("attached"), None);
    }
}
