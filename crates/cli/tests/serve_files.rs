//! Volumes of a design as files and block devices: file systems on them, and what a killed server leaves.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use support::{expect_code, fathom, system};

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
    fs::write(home.join("two.design.toml"), DESIGN).unwrap();
    let files = home.join("files");
    fs::create_dir_all(&files).unwrap();
    let words = ["serve", "two.design.toml", "--attach", "--fuse"];
    let mut child = fathom(home)
        .args(words)
        .arg(&files)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut devices = Vec::new();
    while devices.len() < 2 {
        let line = lines.next().expect("the server ended").unwrap();
        if line.starts_with("attached ") {
            devices.push(line.rsplit(' ').next().unwrap().to_owned());
        }
    }
    // Somebody takes what it still says, until it ends.
    std::thread::spawn(move || lines.for_each(drop));
    Served {
        child,
        devices,
        files,
    }
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
        assert!(
            !system(
                "losetup",
                &["--list", "--noheadings", "--output", "BACK-FILE"]
            )
            .contains(&files)
        );
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
