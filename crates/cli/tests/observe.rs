//! From a running application to a predicted design: pgbench on PostgreSQL is observed, planned for and predicted.
//!
//! Needs root, and what `cargo xtask test` installs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_profile::{Level, Profile};
use fathom_units::Nanos;
use serde_json::Value;
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
        // What is left for later would be written while the test watches the disk.
        let at_once = "lazy_itable_init=0,lazy_journal_init=0";
        system("mkfs.ext4", &["-q", "-E", at_once, image.to_str().unwrap()]);
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

/// A terminal that is closed ends an observation as Ctrl-C does: what was seen is written.
#[test]
fn a_closed_terminal_leaves_the_profile() {
    let folder = support::disk_folder();
    let data = Disk::new(folder.path(), "data");
    let profile = folder.path().join("closed.profile.toml");
    // A busy machine may take long until the first interval is over.
    for rounds in [10, 20, 40, 80, 160, 320] {
        let mut observer = support::fathom_not_under_nohup(folder.path());
        observer.args(["observe", "--no-trace", "--interval", "100ms"]);
        observer.args(["--duration", "10min", "--device", &data.device, "-o"]);
        observer.arg(&profile).stdout(Stdio::null());
        let mut observer = observer.spawn().unwrap();
        let status = format!("/proc/{}/status", observer.id());
        while !catches_signals(&fs::read_to_string(&status).unwrap()) {
            assert_eq!(observer.try_wait().unwrap(), None, "it ended early");
            system("sleep", &["0.02"]);
        }
        let from = format!("if={}", data.device);
        for _ in 0..rounds {
            let read = [
                "of=/dev/null",
                "iflag=direct",
                "bs=4k",
                "count=50",
                "status=none",
            ];
            system("dd", &[&[from.as_str()], &read[..]].concat());
            system("sleep", &["0.1"]);
        }
        system("kill", &["-HUP", &observer.id().to_string()]);
        let ended = observer.wait().unwrap();
        let code = ended.code().expect("no signal ends it");
        if code == 130 {
            let written = fs::read_to_string(&profile).unwrap();
            assert!(written.contains("iops"), "{written}");
            return;
        }
        // 3: no I/O was seen yet.
        assert_eq!(code, 3, "after {rounds} rounds");
    }
    panic!("nothing was seen in 320 rounds");
}

/// Whether a process catches SIGTERM, the last that it asks for, by the kernel's account of it.
fn catches_signals(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = u64::from_str_radix(mask.unwrap_or_default().trim(), 16);
    mask.is_ok_and(|mask| mask & (1 << 14) != 0)
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
    let words = "predict -q --on shop.design.toml --need shop.profile.toml --html shop.html shop.workload.toml";
    let (told, _) = expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 0);
    let (record, _) = expect_code(home.path(), &["report", "last", "--json"], 0);
    let record: Value = serde_json::from_str(&record).unwrap();
    let html = fs::read_to_string(home.path().join("shop.html")).unwrap();
    let profile = Profile::read(&profile, "shop.profile.toml").unwrap().0;
    check_need(&told, &profile, &record);
    check_html(&told, &html);
    // The stored run stands beside the need later too.
    let words = "report last --need shop.profile.toml";
    let (again, _) = expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 0);
    let beside = |text: &str| text[text.find("Need of").unwrap()..].to_owned();
    assert_eq!(beside(&again), beside(&told));
    // What no storage does is no pass.
    let wish = profile
        .to_toml()
        .replace("role = \"data\"", "role = \"data\"\nlatency_goal = \"1us\"");
    fs::write(home.path().join("wish.profile.toml"), wish).unwrap();
    let words = "report last --need wish.profile.toml";
    let (wished, _) = expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 6);
    assert!(
        wished.contains("NOT MET: ") && wished.contains("times the goal"),
        "{wished}"
    );
}

/// A line of the need's table: figure, need, what was predicted, outcome.
type Row = [String; 4];

/// The rows below `heading`, whose outcome may go on in further lines.
fn rows(text: &str, heading: &str) -> Vec<Row> {
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with(heading))
        .skip(1);
    let mut rows: Vec<Row> = Vec::new();
    for line in lines.take_while(|line| line.starts_with("  ")) {
        let letters: Vec<char> = line.chars().collect();
        let part = |from: usize, to: usize| {
            let part = letters.get(from..to.min(letters.len())).unwrap_or_default();
            part.iter().collect::<String>().trim().to_owned()
        };
        let row = [
            part(2, 22),
            part(22, 36),
            part(36, 50),
            part(50, letters.len()),
        ];
        match rows.last_mut() {
            Some(last) if row[0].is_empty() => last[3] = format!("{} {}", last[3], row[3]),
            _ => rows.push(row),
        }
    }
    rows
}

/// The text's rows hold the profile's figures and the record's.
fn check_need(text: &str, profile: &Profile, record: &Value) {
    for volume in &profile.volumes {
        let period = &volume.periods[0];
        let heading = format!("{} ({}), peak", volume.name, volume.role.name());
        let rows = rows(text, &heading);
        let row = |figure: &str| {
            let row = rows.iter().find(|row| row[0] == figure);
            row.unwrap_or_else(|| panic!("no {figure} of {heading} in\n{text}"))
        };
        let jobs = record["stages"][0]["jobs"].as_array().unwrap();
        let own = jobs.iter().filter(|job| job["name"] == *volume.name);
        let ways: Vec<&Value> = own
            .flat_map(|job| [&job["read"], &job["write"]])
            .filter(|it| it.is_object())
            .collect();
        assert!(!ways.is_empty(), "{record}");
        let sum = |key: &str| {
            ways.iter()
                .map(|way| way[key].as_f64().unwrap())
                .sum::<f64>()
        };
        let number = |text: &str| text.replace(',', "").parse::<f64>().unwrap();
        let near = |text: &str, expected: f64, share: f64| {
            let shown = number(text);
            assert!(
                (shown - expected).abs() <= expected * share + 0.06,
                "{shown} for {expected} in\n{text}"
            );
        };
        let [_, need, found, outcome] = row("I/Os a second");
        near(need, period.iops.p99.unwrap().get() as f64, 0.001);
        near(found, sum("iops"), 0.01);
        assert_eq!(outcome, "pass", "{text}");
        let [_, need, found, _] = row("MiB/s");
        near(
            need,
            period.throughput.p99.unwrap().get() as f64 / 1_048_576.0,
            0.01,
        );
        near(found, sum("bandwidth_bytes_per_sec") / 1_048_576.0, 0.01);
        let [_, need, found, outcome] = row("I/O size, mean");
        assert_eq!(
            (need, outcome.as_str()),
            (&period.size.p99.unwrap().to_string(), "pass")
        );
        assert_eq!(need, found);
        for level in Level::ALL {
            let times = ways.iter().map(|way| &way["response_ns"][level.name()]);
            let times: Vec<u64> = times.map(|time| time.as_u64().unwrap()).collect();
            let seen = period.latency.at(level).unwrap();
            check_latency(row(&format!("latency {level}")), seen, &times);
        }
    }
    let verdict = text
        .lines()
        .find(|line| line.starts_with("need     "))
        .unwrap();
    assert!(verdict.contains(": "), "{text}");
}

/// A percentile of all I/Os lies between those of reads and of writes; slower than seen is said.
fn check_latency(row: &Row, seen: Nanos, times: &[u64]) {
    let [_, need, found, outcome] = row;
    assert_eq!(need, &format!("seen {}", seen.to_string().replace(' ', "")));
    let found = found.parse::<Nanos>().unwrap().get() as f64;
    let least = *times.iter().min().unwrap() as f64 * 0.995;
    let most = *times.iter().max().unwrap() as f64 * 1.005;
    assert!((least..=most).contains(&found), "{row:?}, {times:?}");
    let slower = found > seen.get() as f64 * 1.02;
    assert!(
        !slower || outcome.contains("times what was seen"),
        "{row:?}"
    );
}

/// The page holds the same rows as the text.
fn check_html(text: &str, html: &str) {
    let begin = text.find("Need of").unwrap();
    let headings = text[begin..]
        .lines()
        .filter(|line| line.ends_with("predicted"));
    let mut count = 0;
    for heading in headings {
        for [figure, need, found, outcome] in rows(&text[begin..], heading) {
            let row = format!("<th scope=\"row\">{figure}</th><td>{need}</td><td>{found}</td>");
            let place = html
                .find(&row)
                .unwrap_or_else(|| panic!("{row} is not in the page"));
            let rest = &html[place..];
            assert!(
                rest[..rest.find("</tr>").unwrap()].contains(&outcome),
                "{outcome}"
            );
            count += 1;
        }
    }
    assert!(count >= 16, "{text}");
}

#[test]
fn what_cannot_be_is_told_at_once() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("there.toml"), "").unwrap();
    let words = "observe --interval 1ms --duration 1ms --peak 09:00-12:00 --off-hours 11:00-13:00";
    let (_, told) = expect_code(home.path(), &words.split(' ').collect::<Vec<_>>(), 2);
    for part in ["`--interval` is 1 ms", "overlap"] {
        assert!(told.contains(part), "`{part}` is not in {told}");
    }
    let dump = "   8       0 sda 9 0 72 9 9 0 72 9 0 9 9\n";
    let moments = [1, 2, 3, 4].map(|second| format!("176412340{second}.0\n{dump}"));
    let log = moments.concat();
    fs::write(home.path().join("idle.log"), log).unwrap();
    let (_, told) = expect_code(home.path(), &["observe", "--from", "idle.log"], 3);
    assert!(
        told.contains("no I/O was seen on it") && told.contains("hint: observe while"),
        "{told}"
    );
    // Before anything is watched: an hour would be too long to wait for these.
    for (output, code, says) in [
        (
            "there.toml",
            4,
            "`there.toml` exists, and nothing is written over",
        ),
        ("none/new.toml", 5, "make its folder first"),
    ] {
        let words = ["observe", "--duration", "1h", "-o", output];
        let (_, told) = expect_code(home.path(), &words, code);
        assert!(told.contains(says), "{told}");
    }
    let (_, told) = expect_code(home.path(), &["observe", "--device", "nothing,less"], 3);
    assert!(
        told.contains("`nothing`, `less` are no block devices here"),
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
