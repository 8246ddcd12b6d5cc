//! Volumes of a design as files and block devices: file systems on them, and what a killed server leaves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use fathom_rawio::Clock;
use fathom_units::Nanos;
use support::{expect_code, system, until};

const DESIGN: &str = r#"
[[device]]
name = "data"
mount = "/mnt/data"
size = "512MiB"
iops = 20000
latency = "none"

[[device]]
name = "log"
mount = "/mnt/log"
size = "512MiB"
latency = "none"
"#;

/// A server of the design with files and block devices.
struct Served {
    child: Child,
    /// By volume, in order of the design.
    devices: Vec<String>,
    files: PathBuf,
}

fn serve(home: &Path) -> Served {
    serve_with(home, &[])
}

fn serve_with(home: &Path, more: &[&str]) -> Served {
    serve_and_listen(home, more).0
}

/// Gives what it still says too, line by line.
fn serve_and_listen(home: &Path, more: &[&str]) -> (Served, Receiver<String>) {
    fs::write(home.join("two.design.toml"), DESIGN).unwrap();
    serve_design(home, 2, more)
}

/// The same with a design of so many volumes that is there.
fn serve_design(home: &Path, volumes: usize, more: &[&str]) -> (Served, Receiver<String>) {
    let files = home.join("files");
    fs::create_dir_all(&files).unwrap();
    let words = ["serve", "two.design.toml", "--attach", "--fuse"];
    let mut child = support::fathom_not_under_nohup(home)
        .args(words)
        .arg(&files)
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut devices = Vec::new();
    while devices.len() < volumes {
        let line = lines.next().expect("the server ended").unwrap();
        if line.starts_with("attached ") {
            devices.push(line.rsplit(' ').next().unwrap().to_owned());
        }
    }
    // Somebody takes what it still says, until it ends.
    let (said, told) = channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = said.send(line);
        }
    });
    let served = Served {
        child,
        devices,
        files,
    };
    (served, told)
}

/// A test that failed leaves no server behind.
impl Drop for Served {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let id = self.child.id().to_string();
            // Twice: a device may be mounted.
            for _ in 0..2 {
                let _ = Command::new("kill").args(["-INT", &id]).status();
                std::thread::park_timeout(std::time::Duration::from_millis(300));
            }
            let _ = self.child.wait();
        }
    }
}

impl Served {
    fn end(&mut self) {
        let id = self.child.id().to_string();
        system("kill", &["-INT", &id]);
        assert!(self.child.wait().unwrap().success());
        self.assert_gone();
    }

    #[track_caller]
    fn assert_gone(&self) {
        let files = self.files.display().to_string();
        assert!(
            !fs::read_to_string("/proc/self/mounts")
                .unwrap()
                .contains(&files)
        );
        let words = ["--list", "--noheadings", "--output", "BACK-FILE"];
        until("its devices are left", || {
            !system("losetup", &words).contains(&files)
        });
    }
}

/// Makes a file system on `device`, fills it, and compares what is read after it was mounted anew.
fn check_file_system(home: &Path, device: &str, make: &[&str], check: &[&str]) {
    let on = |words: &[&str]| {
        let mut words = words.to_vec();
        words.push(device);
        system(words[0], &words[1..]);
    };
    on(make);
    let place = home.join("mounted");
    fs::create_dir_all(&place).unwrap();
    let place = place.display().to_string();
    let source = support::root().join("crates/fuse");
    let source = source.display().to_string();
    system("mount", &[device, &place]);
    system("cp", &["-r", &source, &place]);
    system("umount", &[&place]);
    system("mount", &[device, &place]);
    system("diff", &["-r", &source, &format!("{place}/fuse")]);
    system("umount", &[&place]);
    on(check);
}

#[test]
fn file_systems_live_on_served_volumes() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    check_file_system(
        home,
        &served.devices[0],
        &["mkfs.ext4", "-q"],
        &["fsck.ext4", "-fn"],
    );
    check_file_system(
        home,
        &served.devices[1],
        &["mkfs.xfs", "-q"],
        &["xfs_repair", "-n"],
    );
    served.end();
    let (stdout, _) = expect_code(home, &["report", "--json", "last"], 0);
    let record: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(record["kind"], "serve");
    let total = &record["stages"][0]["total"];
    assert!(total["write"]["ios"].as_u64().unwrap() > 100, "{total}");
    assert!(total["trim"]["ios"].as_u64().unwrap() > 0, "{total}");
}

/// No file is made among those of the volumes; what is said to do about it works.
#[test]
fn a_folder_is_mapped_to_a_volumes_file() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    let job = "[x]\nioengine=psync\ndirectory=/data/x\nrw=read\nbs=64k\nsize=1m\n";
    fs::write(home.join("job.fio"), job).unwrap();
    let run = |map: &str, code| {
        let words = ["run", "--no-record", "--dialect", "fio", "--map", map];
        expect_code(home, &[&words[..], &["job.fio"]].concat(), code).1
    };
    let files = served.files.display().to_string();
    let told = run(&format!("/data/x={files}"), 3);
    let problem = format!("`{files}` has the volumes that `fathom serve` shows, and no other file");
    assert!(told.contains(&problem), "{told}");
    let map = format!("/data/x/x.0.0={files}/data");
    assert!(told.contains(&format!("`--map '{map}'`")), "{told}");
    run(&map, 0);
    served.end();
}

/// The kernel has a device open until what was unmounted is written, as a program has. Until then the server serves.
#[test]
fn a_device_in_use_is_served_until_it_is_closed() {
    let folder = support::disk_folder();
    let home = folder.path();
    fs::create_dir(home.join("bytes")).unwrap();
    let (mut served, told) = serve_and_listen(home, &["--backing", "bytes"]);
    let (device, id) = (served.devices[1].clone(), served.child.id().to_string());
    let opened = fs::File::options().write(true).open(&device).unwrap();
    system("kill", &["-INT", &id]);
    let waits = told.iter().find(|line| line.starts_with("still in use"));
    assert!(waits.unwrap().contains(&device));
    opened.write_all_at(&vec![7; 1 << 20], 0).unwrap();
    opened.sync_all().unwrap();
    drop(opened);
    assert!(served.child.wait().unwrap().success());
    served.assert_gone();
    let kept = fs::read(home.join("bytes/log.img")).unwrap();
    assert!(kept[..1 << 20].iter().all(|byte| *byte == 7));

    // A second interrupt ends it whatever is open.
    let (mut served, told) = serve_and_listen(home, &["--backing", "bytes"]);
    let id = served.child.id().to_string();
    let opened = fs::File::options()
        .write(true)
        .open(&served.devices[1])
        .unwrap();
    system("kill", &["-INT", &id]);
    assert!(told.iter().any(|line| line.starts_with("still in use")));
    system("kill", &["-INT", &id]);
    assert!(served.child.wait().unwrap().success());
    drop(opened);
}

/// A terminal that is closed ends the server as an interrupt does, unless it was started to outlive that.
#[test]
fn a_closed_terminal_ends_the_server() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    let id = served.child.id().to_string();
    system("kill", &["-HUP", &id]);
    assert!(served.child.wait().unwrap().success());
    served.assert_gone();

    let words = ["serve", "two.design.toml", "--nbd", "unix:sockets", "--for"];
    let program = support::fathom_binary();
    let mut command = Command::new("nohup");
    command.arg(program).args(words).args(["1h", "--no-record"]);
    command.current_dir(home).stdin(Stdio::null());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("serving nbd")));
    let id = child.id().to_string();
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    system("kill", &["-TERM", &id]);
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    assert_eq!(ignored & 1, 1, "{status}");
}

/// What somebody else has unmounted leaves no device behind either.
#[test]
fn devices_of_unmounted_files_are_detached() {
    let folder = support::disk_folder();
    let mut served = serve(folder.path());
    let files = served.files.display().to_string();
    system("umount", &["--lazy", &files]);
    let shown = |device: &str| {
        let told = Command::new("losetup").arg(device).output().unwrap();
        told.status.success()
    };
    assert!(served.devices.iter().all(|device| shown(device)));
    served.end();
    for device in &served.devices {
        until(&format!("{device} is left"), || !shown(device));
    }
}

#[test]
fn what_a_killed_server_leaves_can_be_removed() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    // What the kernel has been told of the mount it goes on telling.
    assert!(fs::metadata(&served.files).unwrap().is_dir());
    assert_eq!(fs::read_dir(&served.files).unwrap().count(), 2);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let files = served.files.display().to_string();
    let again = ["serve", "two.design.toml", "--fuse", files.as_str()];
    let (_, complaint) = expect_code(home, &again, 5);
    assert!(complaint.contains("--clean"), "{complaint}");
    let (_, told) = expect_code(home, &["serve", "--clean"], 0);
    for device in &served.devices {
        assert!(told.contains(device.as_str()), "{told}");
    }
    served.assert_gone();
}

/// Whose a device was cannot be told any more where the mount is gone too: it is named, and left.
#[test]
fn devices_of_a_killed_server_whose_files_were_unmounted_are_named() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let files = served.files.display().to_string();
    system("umount", &["--lazy", &files]);
    let (_, told) = expect_code(home, &["serve", "--clean"], 0);
    for device in &served.devices {
        assert!(told.contains(&format!("`losetup -d {device}`")), "{told}");
        system("losetup", &["-d", device]);
    }
    for device in &served.devices {
        until(&format!("{device} is named"), || {
            let (_, told) = expect_code(home, &["serve", "--clean"], 0);
            !told.contains(&format!("{device}`"))
        });
    }
}

#[test]
fn files_have_the_size_of_their_volume_and_never_another() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    let file = served.files.join("data");
    assert_eq!(fs::metadata(&file).unwrap().len(), 512 << 20);
    let opened = fs::File::options().write(true).open(&file).unwrap();
    assert!(opened.set_len(0).is_err());
    let end = 512 << 20;
    assert_eq!(
        opened.write_at(&[1; 4096], end).unwrap_err().raw_os_error(),
        Some(28)
    );
    opened.write_all_at(&[7; 4096], end - 4096).unwrap();
    let read = fs::File::open(&file).unwrap();
    let mut bytes = vec![0; 8192];
    assert_eq!(read.read_at(&mut bytes, end - 4096).unwrap(), 4096);
    assert_eq!(bytes[..4096], [7; 4096]);
    let missing = Command::new("cat")
        .arg(served.files.join("none"))
        .output()
        .unwrap();
    assert!(!missing.status.success());
    drop((opened, read));
    served.end();
}

/// Where data of a file is, by `lseek`.
fn extents(file: &str) -> Vec<(u64, u64)> {
    let text = "\
import errno, json, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
def seek(at, what):
  try: return os.lseek(file, at, what)
  except OSError as error: return -error.errno
at, size, found = 0, os.lseek(file, 0, os.SEEK_END), []
while at < size and (start := seek(at, os.SEEK_DATA)) >= 0:
  # The next hole is where one is already, and else behind the data.
  end = seek(start, os.SEEK_HOLE)
  assert seek(at, os.SEEK_HOLE) == (at if start > at else end)
  found.append((start, end))
  at = end
assert at == size or start == -errno.ENXIO
for what in os.SEEK_DATA, os.SEEK_HOLE: assert seek(size, what) == -errno.ENXIO
print(json.dumps(found))
";
    serde_json::from_str(&system("/usr/bin/python3", &["-c", text, file])).unwrap()
}

const MIB: u64 = 1 << 20;

/// A copy takes what the file takes, whatever program makes it.
fn check_copies(home: &Path, name: &str) {
    let copy = home.join("copy");
    let copied = copy.display().to_string();
    let convert = [
        "qemu-img", "convert", "-f", "raw", "-O", "raw", name, &copied,
    ];
    for words in [&["cp", "--sparse=auto", name, &copied][..], &convert] {
        system(words[0], &words[1..]);
        system("cmp", &[name, &copied]);
        let blocks = fs::metadata(&copy).unwrap().blocks();
        assert!(blocks * 512 <= MIB, "{words:?}: {blocks} blocks");
        fs::remove_file(&copy).unwrap();
    }
}

/// Programs that copy what is sparse find data and holes, and what room a file takes.
#[test]
fn holes_of_files_are_known() {
    let folder = support::disk_folder();
    let home = folder.path();
    fs::create_dir(home.join("bytes")).unwrap();
    for more in [&[][..], &["--backing", "bytes"]] {
        let mut served = serve_with(home, more);
        let path = served.files.join("data");
        let name = path.display().to_string();
        let file = fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let blocks = || fs::metadata(&path).unwrap().blocks() * 512;
        assert_eq!((extents(&name), blocks()), (Vec::new(), 0));
        file.write_all_at(&[7; 8192], 100 * MIB + 4096).unwrap();
        file.write_all_at(&[8; 512], 200 * MIB - 512).unwrap();
        file.write_all_at(&[9; 4096], 512 * MIB - 4096).unwrap();
        let (first, second) = (
            (100 * MIB + 4096, 100 * MIB + 12288),
            (200 * MIB - 4096, 200 * MIB),
        );
        let last = (512 * MIB - 4096, 512 * MIB);
        assert_eq!(extents(&name), [first, second, last]);
        assert_eq!(blocks(), 16384);
        // What is there by another way is known too.
        system(
            "dd",
            &[
                "if=/etc/passwd",
                &format!("of={}", served.devices[0]),
                "conv=notrunc,fsync",
                "bs=512",
                "count=1",
            ],
        );
        assert_eq!((extents(&name).len(), blocks()), (4, 20480));

        check_copies(home, &name);
        let map = system("qemu-img", &["map", "-f", "raw", "--output=json", &name]);
        let map: serde_json::Value = serde_json::from_str(&map).unwrap();
        let data = map
            .as_array()
            .unwrap()
            .iter()
            .filter(|part| part["data"] == true);
        assert_eq!(
            data.map(|part| part["start"].as_u64().unwrap())
                .collect::<Vec<_>>(),
            [0, first.0, second.0, last.0]
        );

        // Holes come by punching.
        system(
            "fallocate",
            &["--punch-hole", "--offset=100MiB", "--length=100MiB", &name],
        );
        assert_eq!(extents(&name).len(), 2);
        assert_eq!(blocks(), 8192);
        drop(file);
        served.end();
    }
}

/// Bytes of a mount as `df` tells them: all, used, and available.
#[track_caller]
fn check_space(mount: &Path, expected: [u64; 3]) {
    let mount = mount.display().to_string();
    let told = system(
        "df",
        &["--block-size=1", "--output=size,used,avail", &mount],
    );
    let numbers = told.lines().last().unwrap().split_whitespace();
    let numbers: Vec<u64> = numbers.map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers, expected);
}

/// A mount is as large as its volumes, and as full as what they hold and what keeps them.
#[test]
fn space_of_a_mount_is_that_of_its_volumes() {
    let folder = support::disk_folder();
    let home = folder.path();
    fs::create_dir(home.join("bytes")).unwrap();
    let bounded = ["--memory", "64MiB"];
    for (more, room) in [
        (&[][..], 1024 * MIB),
        (&["--backing", "bytes"], 1024 * MIB),
        (&bounded, 64 * MIB),
    ] {
        let mut served = serve_with(home, more);
        let open = |name| {
            let mut options = fs::File::options();
            options.write(true).open(served.files.join(name)).unwrap()
        };
        check_space(&served.files, [1024 * MIB, 0, room]);
        let bytes = vec![7; 1 << 20];
        open("data").write_all_at(&bytes, 100 * MIB).unwrap();
        open("log").write_all_at(&bytes, 0).unwrap();
        let used = 2 * MIB;
        check_space(&served.files, [1024 * MIB, used, room - used]);
        let name = served.files.join("data").display().to_string();
        system(
            "fallocate",
            &["--punch-hole", "--offset=100MiB", "--length=1MiB", &name],
        );
        check_space(&served.files, [1024 * MIB, MIB, room - MIB]);
        served.end();
    }
}

/// Who is interrupted waits for the part under way alone: 2 s of the 20 minutes that this takes.
#[test]
fn zeroing_that_is_interrupted_ends_soon() {
    let folder = support::disk_folder();
    let home = folder.path();
    let text = "[[device]]\nname = 'slow'\nmount = '/s'\nsize = '20GiB'\nlatency = 'none'\nbandwidth = '16MiB/s'\n";
    fs::write(home.join("two.design.toml"), text.to_owned() + DESIGN).unwrap();
    let mut served = serve_design(home, 3, &[]).0;
    let name = served.files.join("slow").display().to_string();
    let mut zeroing = Command::new("fallocate");
    zeroing.args(["--zero-range", "--length=20GiB", &name]);
    let mut zeroing = zeroing.spawn().unwrap();
    // It sleeps for nothing but this.
    let state = format!("/proc/{}/stat", zeroing.id());
    while !fs::read_to_string(&state)
        .unwrap()
        .contains("(fallocate) S ")
    {
        std::thread::yield_now();
    }
    let started = Clock::now();
    system("kill", &["-INT", &zeroing.id().to_string()]);
    assert!(!zeroing.wait().unwrap().success());
    // A part of 2 GiB takes 128 s.
    assert!(Clock::now() - started < Nanos::from_secs(60));
    served.end();
}

/// Volumes are larger than any I/O of them.
#[test]
fn ranges_of_any_length_are_taken_back_and_zeroed() {
    let folder = support::disk_folder();
    let home = folder.path();
    let text = "[[device]]\nname = 'large'\nmount = '/l'\nsize = '20GiB'\nlatency = 'none'\nbandwidth = '40GB/s'\n";
    fs::write(home.join("two.design.toml"), text.to_owned() + DESIGN).unwrap();
    let mut served = serve_design(home, 3, &[]).0;
    let path = served.files.join("large");
    let name = path.display().to_string();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let places = [0, 3 << 30, 6 << 30, (20 << 30) - MIB];
    let blocks = || fs::metadata(&path).unwrap().blocks() * 512;
    for zeroes in ["--punch-hole", "--zero-range"] {
        for at in places {
            file.write_all_at(&vec![7; 1 << 20], at).unwrap();
        }
        assert_eq!(blocks(), 4 * MIB);
        let ranges = [("1GiB", "8GiB", 2), ("0", "20GiB", 0)];
        for (offset, length, left) in ranges {
            system("fallocate", &[zeroes, "-o", offset, "-l", length, &name]);
            assert_eq!(blocks(), left * MIB);
        }
    }
    system("fallocate", &["--length", "20GiB", &name]);
    system(
        "fallocate",
        &["--punch-hole", "-o", "19GiB", "-l", "90GiB", &name],
    );
    drop(file);
    served.end();
    let (stdout, _) = expect_code(home, &["report", "--json", "last"], 0);
    let record: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    // 8 and 20 GiB of zeroes, and what was written.
    let written = record["stages"][0]["total"]["write"]["bytes"].as_u64();
    assert_eq!(written, Some((28 << 30) + 8 * MIB));
}

/// What copies changed files alone takes those that were changed since, by whichever way, and no others.
#[test]
fn the_time_of_a_file_is_that_of_its_last_change() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    let path = served.files.join("data");
    let name = path.display().to_string();
    let time = || fs::metadata(&path).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let mut last = time();
    let changes: [&dyn Fn(); 3] = [
        &|| file.write_all_at(&[7; 512], 0).unwrap(),
        // By way of the device, behind the file's back.
        &|| {
            let mut device = fs::File::options();
            let device = device.write(true).open(&served.devices[0]).unwrap();
            device.write_all_at(&[7; 4096], 1 << 20).unwrap();
            device.sync_all().unwrap();
        },
        &|| {
            let punch = ["--punch-hole", "--offset=0", "--length=4096", &name];
            system("fallocate", &punch);
        },
    ];
    for change in changes {
        change();
        let now = time();
        assert!(now > last, "{now:?} {last:?}");
        // Reading changes nothing.
        let mut bytes = [0; 512];
        fs::File::open(&path)
            .unwrap()
            .read_at(&mut bytes, 0)
            .unwrap();
        assert_eq!(time(), now);
        last = now;
    }
    // It can be set, as copies do, and a change comes after it.
    let then = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 123_456_789);
    file.set_modified(then).unwrap();
    assert_eq!(time(), then);
    file.write_all_at(&[8; 512], 0).unwrap();
    assert!(time() > last);
    file.set_modified(then).unwrap();
    system("touch", &[&name]);
    assert!(time() > last);
    drop(file);
    served.end();
}

/// Programs say what went wrong: a tree of fixed files permits it to nobody.
#[test]
fn names_and_attributes_of_files_never_change() {
    let folder = support::disk_folder();
    let home = folder.path();
    let mut served = serve(home);
    let place = |name: &str| served.files.join(name).display().to_string();
    let (data, log, new) = (place("data"), place("log"), place("new"));
    let refused: &[&[&str]] = &[
        &["rm", &data],
        &["mv", &data, &new],
        &["mv", &data, &log],
        &["touch", &new],
        &["mkdir", &new],
        &["mkfifo", &new],
        &["ln", "-s", "data", &new],
        &["ln", &data, &new],
        &["chmod", "644", &data],
        &["chown", "1", &data],
        &["chgrp", "1", &data],
        &["truncate", "--size=1M", &data],
        &["cp", "/etc/passwd", &data],
    ];
    for words in refused {
        let told = Command::new(words[0]).args(&words[1..]).output().unwrap();
        let complaint = String::from_utf8_lossy(&told.stderr);
        assert!(!told.status.success(), "{words:?}");
        assert!(
            complaint.contains("Operation not permitted"),
            "{words:?}: {complaint}"
        );
    }
    // What leaves them as they are is done.
    system("chmod", &["600", &data]);
    system("chown", &["0:0", &data]);
    system("truncate", &["--size=512M", &data]);
    system("touch", &[&data]);
    system(
        "dd",
        &[
            "if=/etc/passwd",
            &format!("of={data}"),
            "conv=notrunc,fsync",
        ],
    );
    let bytes = fs::read("/etc/passwd").unwrap();
    let mut read = vec![0; bytes.len()];
    let file = fs::File::open(&data).unwrap();
    file.read_exact_at(&mut read, 0).unwrap();
    assert_eq!(read, bytes);
    drop(file);
    assert_eq!(fs::read_dir(&served.files).unwrap().count(), 2);
    served.end();
}
