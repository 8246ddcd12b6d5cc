//! `fathom probe` tells what stands at a path and what a run could do there, and writes nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use serde_json::Value;
use support::{expect_code, fathom_binary, system};

fn probed(targets: &[&str]) -> Value {
    let arguments = [&["probe", "--json"], targets].concat();
    let (told, errors) = expect_code(Path::new("/"), &arguments, 0);
    assert_eq!(errors, "");
    serde_json::from_str(&told).unwrap()
}

/// A loop device over a file, detached with its value.
struct Loop(String);

impl Loop {
    fn over(image: &Path) -> Self {
        fs::File::create(image).unwrap().set_len(64 << 20).unwrap();
        let image = image.to_str().unwrap();
        Self(system("losetup", &["--find", "--show", image]))
    }

    fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        system("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn a_device_is_told_with_what_uses_it_and_what_writing_needs() {
    let folder = support::disk_folder();
    let image = folder.path().join("disk.img");
    let disk = Loop::over(&image);
    let target = |found: &Value| found["targets"][0].clone();

    let free = target(&probed(&[&disk.0]));
    assert_eq!(
        (&free["kind"], &free["size_bytes"]),
        (&"device".into(), &(64 << 20).into())
    );
    let needed = format!("--destroy-data={}", disk.name());
    assert_eq!(free["writing"]["option"], needed);
    assert_eq!(free["writing"]["destroys"], Value::Null);
    assert_eq!(free["direct_io"], true);
    assert_eq!(free["in_memory"], disk.name());
    let devices: Vec<_> = free["devices"].as_array().unwrap().iter().collect();
    assert!(
        devices.len() > 1,
        "the file of a loop device lies on another: {devices:?}"
    );
    assert_eq!(devices[0]["transport"], "loop");
    assert_eq!(devices[0]["file"], image.to_str().unwrap());

    system("mkfs.ext4", &["-q", &disk.0]);
    let holds = target(&probed(&[&disk.0]));
    assert_eq!(holds["writing"]["destroys"], "ext2, ext3 or ext4");
    let mount = folder.path().join("mount");
    fs::create_dir(&mount).unwrap();
    let place = mount.to_str().unwrap();
    system("mount", &[&disk.0, place]);
    let used = probed(&[&disk.0, place, image.to_str().unwrap()]);
    let all = probed(&[]);
    system("umount", &[place]);

    let found = used["targets"][0]["writing"]["found"].to_string();
    assert!(found.contains(&format!("mounted at {place}")), "{found}");
    let directory = &used["targets"][1];
    assert_eq!(directory["file_system"]["kind"], "ext4");
    assert_eq!(directory["file_system"]["mounted_at"], place);
    assert_eq!(directory["writing"]["allowed"], "new-file");
    assert_eq!(directory["devices"][0]["name"], disk.name());
    let found = used["targets"][2]["writing"]["found"].to_string();
    assert!(
        found.contains(&format!("storage of the block device {}", disk.name())),
        "{found}"
    );

    let listed = all["devices"].as_array().unwrap();
    let own = listed.iter().find(|device| device["name"] == disk.name());
    let uses = own.unwrap()["uses"].to_string();
    assert!(uses.contains("is mounted at"), "{uses}");
}

#[test]
fn the_next_words_run() {
    let folder = support::disk_folder();
    let holes = folder.path().join("holes of a file");
    fs::File::create(&holes).unwrap().set_len(1 << 20).unwrap();
    let data = folder.path().join("data of a file");
    fs::write(&data, vec![7; 1 << 20]).unwrap();
    fs::File::open(&data).unwrap().sync_all().unwrap();
    let shown = |path: &Path| {
        let arguments = ["probe", path.to_str().unwrap()];
        expect_code(folder.path(), &arguments, 0).0
    };
    let text = shown(&holes);
    assert!(text.contains("100 % of it holes"), "{text}");
    assert!(!text.contains("  next "), "{text}");

    let text = shown(&data);
    let (_, next) = text.split_once("  next ").unwrap();
    let words = next.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = words.split('`').nth(1).unwrap();
    let line = line.replace("--runtime=30", "--runtime=1");
    let line = line.replacen("fathom", fathom_binary().to_str().unwrap(), 1);
    let runs = folder.path().join("runs");
    let output = std::process::Command::new("sh")
        .args(["-c", &line])
        .env("XDG_DATA_HOME", &runs)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    assert_eq!(fs::read(&data).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn what_is_no_storage_is_refused_with_a_hint() {
    let (shown, told) = expect_code(Path::new("/"), &["probe", "/dev/null"], 3);
    assert_eq!(shown, "");
    assert!(told.contains("`/dev/null`"), "{told}");
    assert!(told.contains("hint: name one of these"), "{told}");
}

/// A target that cannot be is the same to a probe and to a run.
#[test]
fn a_run_ends_as_the_probe_of_its_target_does() {
    let folder = support::disk_folder();
    fs::write(folder.path().join("file"), "x").unwrap();
    for (target, why) in [
        ("/dev/no-such-device", "there is no such device"),
        ("/dev/null", "no"),
        ("file/below", "file"),
    ] {
        let (_, told) = expect_code(folder.path(), &["probe", target], 3);
        assert!(told.contains(why), "{target}: {told}");
        let text = format!(
            "[[stage]]\nmeasure = \"1s\"\n[[stage.job]]\ntarget = {{ path = \"{target}\", size = \"1MiB\" }}\n"
        );
        fs::write(folder.path().join("w.workload.toml"), text).unwrap();
        let (_, told) = expect_code(folder.path(), &["run", "w.workload.toml"], 3);
        assert!(told.contains(why), "{target}: {told}");
    }
}

#[test]
fn what_cannot_be_looked_at_hides_nothing_else() {
    let folder = support::disk_folder();
    let good = folder.path().to_str().unwrap();
    let words = ["/dev/null", good, "nbd+unix:///?socket=/nowhere"];
    let (shown, told) = expect_code(Path::new("/"), &[&["probe"], &words[..]].concat(), 5);
    assert!(
        shown.starts_with(&format!("{good}: a directory")),
        "{shown}"
    );
    assert!(told.contains("`/dev/null`"), "{told}");
    assert!(told.contains("`/nowhere` cannot be reached"), "{told}");
    let (shown, _) = expect_code(
        Path::new("/"),
        &[&["probe", "--json"], &words[..]].concat(),
        5,
    );
    let document: Value = serde_json::from_str(&shown).unwrap();
    let targets = document["targets"].as_array().unwrap();
    let of = |key: &str| targets.iter().map(|it| it[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("kind"), [Value::Null, "directory".into(), Value::Null]);
    assert_eq!(of("path"), words);
    let failed: Vec<_> = of("error").iter().map(Value::is_string).collect();
    assert_eq!(failed, [true, false, true]);
}

/// An NBD server in `folder`, ended when it is dropped.
struct Server(std::process::Child);

impl Server {
    fn start(folder: &Path, program: &str, words: &[&str]) -> Self {
        let child = std::process::Command::new(program).args(words).spawn();
        let server = Self(child.unwrap());
        let until = Clock::now() + Nanos::from_secs(60);
        // The socket is there before anybody listens on it.
        while std::os::unix::net::UnixStream::connect(folder.join("socket")).is_err() {
            assert!(Clock::now() < until, "{program} {words:?} does not start");
            sleep_until(Clock::now() + Nanos::from_millis(5));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_export_is_told_as_its_server_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let (image, socket) = (folder.path().join("image"), folder.path().join("socket"));
    fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let (image, socket) = (image.to_str().unwrap(), socket.to_str().unwrap());
    let words = [
        "--persistent",
        "--shared=0",
        "--format=raw",
        "-x",
        "disk",
        "-k",
        socket,
        image,
    ];
    let server = Server::start(folder.path(), "qemu-nbd", &words);
    let uri = format!("nbd+unix:///disk?socket={socket}");
    let found = &probed(&[&uri])["targets"][0];
    assert_eq!(
        (&found["kind"], &found["size_bytes"]),
        (&"export".into(), &(16 << 20).into())
    );
    let export = &found["export"];
    for (key, expected) in [
        ("flush", true),
        ("fua", true),
        ("multi_conn", true),
        ("write_zeroes", true),
        ("structured_replies", true),
        ("block_sizes_told", true),
        ("read_only", false),
    ] {
        assert_eq!(export[key], expected, "{key}: {export}");
    }
    assert_eq!(export["request_max_bytes"], 32 << 20);
    assert_eq!(found["writing"]["option"], format!("--destroy-data={uri}"));
    let shown = expect_code(Path::new("/"), &["probe", &uri], 0).0;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        &format!("{uri}: an export of 16 MiB of an NBD server"),
        &format!("server {socket}, export `disk`"),
        "multiples of 1 B, best of 4 KiB; requests up to 32 MiB",
        "several see the same data (multi-conn)",
        "can be structured",
        &format!("needs `--destroy-data='{uri}'`"),
    ] {
        assert!(words.contains(part), "{part}: {shown}");
    }
    // Without a name the server is asked for what it has.
    let all = format!("nbd+unix:///?socket={socket}");
    let found = &probed(&[&all])["targets"][0];
    assert_eq!(found["kind"], "nbd-server");
    assert_eq!(found["server"]["exports"], serde_json::json!(["disk"]));
    // The words that measure it run.
    let (_, next) = words.split_once(" next ").unwrap();
    let line = next
        .split('`')
        .nth(1)
        .unwrap()
        .replace("--runtime=30", "--runtime=1");
    let line = line.replacen("fathom", fathom_binary().to_str().unwrap(), 1);
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &line])
        .env("XDG_DATA_HOME", folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    drop(server);
}

#[test]
fn an_export_of_little_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let socket = socket.to_str().unwrap();
    let words = [
        "-f",
        "-r",
        "--no-sr",
        "-U",
        socket,
        "--filter=multi-conn",
        "memory",
        "1M",
        "multi-conn-mode=disable",
    ];
    let _server = Server::start(folder.path(), "nbdkit", &words);
    let shown = expect_code(
        Path::new("/"),
        &["probe", &format!("nbd+unix:///?socket={socket}")],
        0,
    )
    .0;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "an export of 1 MiB of an NBD server",
        "its default export",
        "sizes are not told; requests up to 32 MiB are sent to such servers",
        "not: write,",
        "(no multi-conn): write over one",
        "replies simple ones alone",
        "writing not possible: its server offers it for reading alone",
    ] {
        assert!(words.contains(part), "{part}: {shown}");
    }
}
