//! `fathom probe` tells what stands at a path and what a run could do there, and writes nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

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
    let (shown, told) = expect_code(Path::new("/"), &["probe", "/dev/null"], 5);
    assert_eq!(shown, "");
    assert!(told.contains("`/dev/null`"), "{told}");
}
