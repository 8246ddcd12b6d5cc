//! From a running application to a predicted design: pgbench on PostgreSQL is observed, planned for and predicted.
//!
//! Needs root, and what `cargo xtask test` installs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{expect_code, fathom, system};

/// A loop device with a file system, mounted for the database's user.
struct Disk {
    device: String,
    place: PathBuf,
}

impl Disk {
    fn new(folder: &Path, name: &str) -> Self {
        let image = folder.join(format!("{name}.img"));
        fs::File::create(&image).unwrap().set_len(1 << 30).unwrap();
        system("mkfs.ext4", &["-q", image.to_str().unwrap()]);
        let device = system("losetup", &["-f", "--show", image.to_str().unwrap()]);
        let device = device.trim().to_owned();
        let place = folder.join(name);
        fs::create_dir(&place).unwrap();
        let disk = Self { device, place };
        system("mount", &[&disk.device, disk.place.to_str().unwrap()]);
        system("chown", &["postgres", disk.place.to_str().unwrap()]);
        disk
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.place).status();
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

/// A server of its own, on a unix socket.
struct Server<'a> {
    programs: PathBuf,
    data: &'a Disk,
}

impl<'a> Server<'a> {
    fn new(data: &'a Disk, log: &Disk) -> Self {
        let versions =
            fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL (see `cargo xtask test`)");
        let newest = versions
            .flatten()
            .map(|it| it.path())
            .max()
            .expect("a version of PostgreSQL");
        let server = Self {
            programs: newest.join("bin"),
            data,
        };
        let (data, log) = (server.directory(), log.place.join("wal"));
        server.act(
            "initdb",
            &["-D", &data, "-A", "trust", "-X", log.to_str().unwrap()],
        );
        let options = format!(
            "-c listen_addresses='' -k {} -c shared_buffers=16MB",
            server.socket()
        );
        let told = format!("{}/told", server.socket());
        server.act(
            "pg_ctl",
            &["-D", &data, "-l", &told, "-o", &options, "-w", "start"],
        );
        server.act(
            "pgbench",
            &["-h", &server.socket(), "-i", "-q", "-s", "10", "postgres"],
        );
        server
    }

    fn directory(&self) -> String {
        self.data.place.join("data").display().to_string()
    }

    fn socket(&self) -> String {
        self.data.place.display().to_string()
    }

    #[track_caller]
    fn act(&self, program: &str, arguments: &[&str]) -> String {
        let program = self.programs.join(program);
        let mut words = vec!["-u", "postgres", "--", program.to_str().unwrap()];
        words.extend(arguments);
        system("runuser", &words)
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let stop = self.programs.join("pg_ctl");
        let mut words = Command::new("runuser");
        words.args(["-u", "postgres", "--"]).arg(stop);
        words.args(["-D", &self.directory(), "-m", "immediate", "stop"]);
        let _ = words.output();
    }
}

/// tracefs, where the machine has it mounted nowhere.
struct Tracing(Option<PathBuf>);

impl Tracing {
    fn new(folder: &Path) -> Self {
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        if mounts
            .lines()
            .any(|line| line.split(' ').nth(2) == Some("tracefs"))
        {
            return Self(None);
        }
        let place = folder.join("tracing");
        fs::create_dir(&place).unwrap();
        system("mount", &["-t", "tracefs", "none", place.to_str().unwrap()]);
        Self(Some(place))
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        if let Some(place) = &self.0 {
            let _ = Command::new("umount").arg(place).status();
        }
    }
}

/// Observes the disks while pgbench runs, until Ctrl-C, which still prints and writes: the page and the profile.
fn observe(home: &Path, server: &Server<'_>, data: &Disk, log: &Disk) -> (String, String) {
    let devices = format!("{},{}", data.device, log.device);
    let words = "--transactions 200/s --interval 500ms --duration 2min -o shop.profile.toml";
    let mut observer = fathom(home);
    observer.args(["observe", "--device", &devices, "--log", log.name()]);
    observer
        .args(words.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let observer = observer.spawn().unwrap();
    let load = "-c 4 -R 200 -T 8 -n postgres";
    let socket = server.socket();
    let mut pgbench = vec!["-h", &socket];
    pgbench.extend(load.split(' '));
    server.act("pgbench", &pgbench);
    system("kill", &["-INT", &observer.id().to_string()]);
    let done = observer.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let page = text(&done.stdout) + &text(&done.stderr);
    assert_eq!(done.status.code(), Some(130), "{page}");
    let profile = fs::read_to_string(home.join("shop.profile.toml")).unwrap();
    (page, profile)
}

#[test]
fn a_running_database_becomes_a_predicted_design() {
    let folder = support::disk_folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let home = tempfile::tempdir().unwrap();
    let _tracing = Tracing::new(folder.path());
    let data = Disk::new(folder.path(), "data");
    let log = Disk::new(folder.path(), "log");
    let server = Server::new(&data, &log);
    let (page, profile) = observe(home.path(), &server, &data, &log);
    let data_head = format!("{} (data), peak", data.name());
    let log_head = format!("{} (log), peak", log.name());
    for part in [
        "transactions a second              200",
        "postgres",
        "latency, each I/O",
        &data_head,
        &log_head,
    ] {
        assert!(page.contains(part), "`{part}` is not in\n{page}");
    }
    for part in [
        "role = \"log\"",
        "transactions_per_sec = 200",
        "minimum_latency",
        "random",
        "peak_throughput",
    ] {
        assert!(profile.contains(part), "`{part}` is not in\n{profile}");
    }
    let words = "plan shop.profile.toml --era 2016 --series DS -o shop";
    let (plan, _) = expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 0);
    assert!(plan.contains(log.name()), "{plan}");
    let words = "predict --no-record -q --on shop.design.toml shop.workload.toml";
    expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 0);
}

#[test]
fn what_cannot_be_is_told_at_once() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("there.toml"), "").unwrap();
    let words = "observe --interval 1ms --duration 1ms --peak 09:00-12:00 --off-hours 11:00-13:00 -o there.toml";
    let (_, told) = expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 2);
    for part in [
        "`--interval` is 1 ms",
        "overlap",
        "`there.toml` exists, and nothing is written over",
    ] {
        assert!(told.contains(part), "`{part}` is not in {told}");
    }
    let (_, told) = expect_code(home.path(), &["observe", "--device", "nothing,less"], 3);
    assert!(
        told.contains("`nothing`, `less` is no block device here"),
        "{told}"
    );
    let (_, told) = expect_code(home.path(), &["observe", "--log", "nothing"], 3);
    assert!(
        told.contains("`--log nothing` is none of the devices"),
        "{told}"
    );
    assert_eq!(
        fs::read_to_string(home.path().join("there.toml")).unwrap(),
        ""
    );
}

#[test]
fn the_guides_tables_are_explained() {
    let home = tempfile::tempdir().unwrap();
    let (counters, _) = expect_code(home.path(), &["explain", "counters"], 0);
    assert!(
        counters.contains("Current Disk Queue Length") && counters.contains("avgqu-sz"),
        "{counters}"
    );
    let (factors, _) = expect_code(home.path(), &["explain", "factors"], 0);
    assert!(
        factors.contains("best throughput") && factors.contains("stripe size"),
        "{factors}"
    );
}
