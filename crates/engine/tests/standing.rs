//! What is changed under a run is told, and what it changes itself is not. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;

use common::{LoopDevice, Mounted, command, job, no_program_begins, workload};
use fathom_engine::{RunOptions, StopFlag, run};
use fathom_rawio::{Clock, sleep_until};
use fathom_record::{Event, EventSink};
use fathom_units::{Bytes, Nanos};
use fathom_workload::{ExistingFiles, FileOperation, Job, Mix};

const SIZE: Bytes = Bytes::mib(2);

/// Does something once, as the stage is about to begin or has just ended.
struct Meddler<F> {
    change: Option<F>,
    at_end: bool,
}

impl<F: FnOnce()> EventSink for Meddler<F> {
    fn event(&mut self, event: &Event<'_>) {
        let is_now = match event {
            Event::StageStarted { .. } => !self.at_end,
            Event::StageFinished { .. } => self.at_end,
            _ => false,
        };
        if let Some(change) = self.change.take_if(|_| is_now) {
            change();
        }
    }
}

/// What is told of the targets of `jobs` where `change` happens meanwhile.
#[track_caller]
fn told_of(jobs: Vec<Job>, at_end: bool, change: impl FnOnce()) -> Vec<String> {
    let mut meddler = Meddler {
        change: Some(change),
        at_end,
    };
    let (options, stop) = (RunOptions::default(), StopFlag::new());
    let outcome = run(&workload(jobs), &options, &stop, &mut meddler).unwrap();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    assert!(meddler.change.is_none(), "nothing was changed");
    let targets = outcome.facts.targets.into_iter();
    targets
        .flat_map(|target| target.changes.expect("it is looked at"))
        .collect()
}

/// What is told of reads of `path` before whose first I/O, or after whose last, `change` happens.
#[track_caller]
fn told(path: &Path, change: impl FnOnce()) -> Vec<String> {
    told_of(vec![job(path, SIZE)], false, change)
}

#[test]
fn a_device_of_another_size_is_told() {
    let device = LoopDevice::new(Bytes::mib(8));
    let path = Path::new(&device.path);
    assert_eq!(told(path, || {}), Vec::<String>::new());
    let found = told(path, || {
        device.image.as_file().set_len(16 << 20).unwrap();
        command(&format!("losetup --set-capacity {}", device.path));
    });
    let expected = format!("{}: size was 8 MiB, is 16 MiB", device.name());
    assert_eq!(found, [expected]);
}

/// The same name, number and size, and maybe another disk: the kernel counts attachments (`diskseq`).
#[test]
fn a_device_attached_anew_is_told() {
    let device = LoopDevice::new(Bytes::mib(8));
    let path = Path::new(&device.path);
    let sequence = || {
        let text = fs::read_to_string(format!("/sys/block/{}/diskseq", device.name()));
        text.unwrap().trim().to_owned()
    };
    let before = sequence();
    let found = told_of(vec![job(path, SIZE)], true, || {
        // Nobody else is to find it free meanwhile, and a program that begins just now may hold it for a moment.
        let _alone = no_program_begins();
        let losetup = |words: &[&OsStr]| Command::new("losetup").args(words).status().unwrap();
        assert!(losetup(&["-d".as_ref(), path.as_os_str()]).success());
        let words = [
            "--partscan".as_ref(),
            path.as_os_str(),
            device.image.path().as_os_str(),
        ];
        let is_attached = (0..100).any(|_| {
            sleep_until(Clock::now() + Nanos::from_millis(10));
            losetup(&words).success()
        });
        assert!(is_attached, "{}", device.path);
    });
    let (name, after) = (device.name(), sequence());
    assert_ne!(before, after);
    let expected = format!("{name}: diskseq was `{before}`, is `{after}`");
    assert_eq!(found, [expected]);
}

#[test]
fn a_device_of_other_settings_is_told() {
    let device = LoopDevice::new(Bytes::mib(8));
    let queue = format!("/sys/block/{}/queue", device.name());
    let set = |key: &str, to: &str| fs::write(format!("{queue}/{key}"), to).unwrap();
    set("read_ahead_kb", "64");
    let found = told(Path::new(&device.path), || set("read_ahead_kb", "32"));
    let expected = format!("{}: read_ahead_kb was `64`, is `32`", device.name());
    assert_eq!(found, [expected]);

    let found = told(Path::new(&device.path), || {
        command(&format!("blockdev --setro {}", device.path));
    });
    // The kernel keeps that of a device that is detached, and the next to have it could not write.
    command(&format!("blockdev --setrw {}", device.path));
    assert_eq!(found, [format!("{}: ro was `0`, is `1`", device.name())]);

    let all = fs::read_to_string(format!("{queue}/scheduler")).unwrap();
    let mut others = all.split_whitespace().filter(|name| !name.starts_with('['));
    let Some(other) = others.next() else {
        return;
    };
    let found = told(Path::new(&device.path), || set("scheduler", other));
    let now = format!("is `{other}`");
    assert!(
        found[0].contains(": scheduler was `") && found[0].ends_with(&now),
        "{found:?}"
    );
    // What the run sets itself, it knows.
    let before = all.split(['[', ']']).nth(1).unwrap();
    let mut setting = job(Path::new(&device.path), SIZE);
    setting.features.process.scheduler = Some(before.to_owned());
    assert_eq!(told_of(vec![setting], false, || {}), Vec::<String>::new());
    assert!(
        fs::read_to_string(format!("{queue}/scheduler"))
            .unwrap()
            .contains(&format!("[{before}]"))
    );
}

/// Two paths to one device tell its changes once.
#[test]
fn a_path_to_another_device_is_told() {
    let [first, second] = [(); 2].map(|()| LoopDevice::new(Bytes::mib(8)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("disk");
    symlink(&first.path, &path).unwrap();
    let found = told_of(vec![job(&path, SIZE)], true, || {
        fs::remove_file(&path).unwrap();
        symlink(&second.path, &path).unwrap();
    });
    assert_eq!(found.len(), 1, "{found:?}");
    let start = format!("{} led to device 7:", path.display());
    assert!(found[0].starts_with(&start) && found[0].contains(", leads to 7:"));
}

#[test]
fn a_file_put_in_anothers_place_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let other = folder.path().join("other");
    let write = |path: &Path| fs::write(path, vec![1; SIZE.get() as usize]).unwrap();
    write(&other);
    let of = |what: &str| vec![format!("{} {what}", path.display())];
    assert_eq!(told(&path, || {}), Vec::<String>::new());
    let replaced = told(&path, || fs::rename(&other, &path).unwrap());
    assert_eq!(replaced, of("leads to another file than at the start"));
    let cut = || {
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(4096).unwrap();
    };
    let found = told_of(vec![job(&path, SIZE)], true, cut);
    assert_eq!(found, of("was 2 MiB long, is 4 KiB"));
    write(&path);
    let gone = told_of(vec![job(&path, SIZE)], true, || {
        fs::remove_file(&path).unwrap();
    });
    assert_eq!(gone, of("is gone"));
}

#[test]
fn a_file_system_mounted_otherwise_is_told() {
    let device = LoopDevice::new(Bytes::mib(16));
    command(&format!(
        "mkfs.ext4 -q -E lazy_itable_init=0 {}",
        device.path
    ));
    let mounted = Mounted::new(&device.path);
    let place = mounted.directory.path().display().to_string();
    let path = mounted.directory.path().join("file");
    // Of two files on it, it is told once.
    let both = ["file", "other"].map(|name| job(&mounted.directory.path().join(name), SIZE));
    let found = told_of(both.into(), false, || {
        command(&format!("mount -o remount,noatime,nobarrier {place}"));
    });
    assert_eq!(found.len(), 2, "{found:?}");
    let of_mount = format!("{place}: mount options were `rw,relatime`, are `rw,noatime`");
    assert_eq!(found[0], of_mount);
    assert!(
        found[1].contains("options of the file system were `"),
        "{found:?}"
    );
    assert!(found[1].contains("nobarrier"), "{found:?}");
    let found = told_of(vec![job(&path, SIZE)], true, || {
        command(&format!("mount -t tmpfs none {place}"));
    });
    command(&format!("umount {place}"));
    let elsewhere = format!(
        "{place} is on another file system than at the start (tmpfs at {place}, was ext4 at {place})"
    );
    assert_eq!(found, [format!("{} is gone", path.display()), elsewhere]);
}

/// Two file systems give their first files one number each, and it is the same.
#[test]
fn a_file_of_the_same_number_on_another_file_system_is_told() {
    let devices = [(); 2].map(|()| LoopDevice::new(Bytes::mib(16)));
    let make = |device: &LoopDevice| {
        command(&format!(
            "mkfs.ext4 -q -E lazy_itable_init=0 {}",
            device.path
        ));
        let mounted = Mounted::new(&device.path);
        let path = mounted.directory.path().join("file");
        fs::write(&path, vec![1; SIZE.get() as usize]).unwrap();
        let number = fs::metadata(&path).unwrap().ino();
        (mounted, path, number)
    };
    let (other, _, of_other) = make(&devices[1]);
    drop(other);
    let (mounted, path, number) = make(&devices[0]);
    assert_eq!(number, of_other);
    let place = mounted.directory.path().display();
    let found = told_of(vec![job(&path, SIZE)], true, || {
        command(&format!("mount {} {place}", devices[1].path));
    });
    command(&format!("umount {place}"));
    let file = format!("{} leads to another file than at the start", path.display());
    let system = format!(
        "{place} is on another file system than at the start (ext4 at {place}, was ext4 at {place})"
    );
    assert_eq!(found, [file, system]);
}

/// A partition, as the kernel forgets it.
#[test]
fn a_device_that_is_gone_is_told() {
    let device = LoopDevice::new(Bytes::mib(8));
    let part = format!("{}p1", device.path);
    command(&format!("addpart {} 1 2048 8192", device.path));
    let found = told_of(vec![job(Path::new(&part), SIZE)], true, || {
        command(&format!("delpart {} 1", device.path));
    });
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with(&format!("{part} led to device ")),
        "{found:?}"
    );
    assert!(found[0].ends_with(", leads to none"), "{found:?}");
    assert_eq!(found[1], format!("{}p1 is gone", device.name()));
}

/// A loop device whose file is on a file system on another.
#[test]
fn a_device_below_the_file_of_a_loop_device_is_told() {
    let below = LoopDevice::new(Bytes::mib(32));
    command(&format!(
        "mkfs.ext4 -q -E lazy_itable_init=0 {}",
        below.path
    ));
    let mounted = Mounted::new(&below.path);
    let image = mounted.directory.path().join("image");
    fs::write(&image, vec![1; 8 << 20]).unwrap();
    let above = command(&format!("losetup --find --show {}", image.display()));
    let setting = format!("/sys/block/{}/queue/read_ahead_kb", below.name());
    let before = fs::read_to_string(&setting).unwrap();
    let found = std::panic::catch_unwind(|| {
        told_of(vec![job(Path::new(&above), SIZE)], true, || {
            fs::write(&setting, "12").unwrap();
        })
    });
    fs::write(&setting, &before).unwrap();
    command(&format!("losetup -d {above}"));
    let (name, before) = (below.name(), before.trim());
    let expected = format!("{name}: read_ahead_kb was `{before}`, is `12`");
    assert_eq!(found.unwrap(), [expected]);
}

/// Files that are made, made anew, written longer and removed by the run.
#[test]
fn what_the_run_changes_itself_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let writes = |name: &str, change: &dyn Fn(&mut Job)| {
        let mut job = job(&path(name), SIZE);
        job.mix = Mix::WRITE;
        change(&mut job);
        job
    };
    let command_removes = path("removed by a command");
    fs::write(&command_removes, vec![1; SIZE.get() as usize]).unwrap();
    fs::write(path("there and anew"), vec![1; SIZE.get() as usize]).unwrap();
    // A second name keeps the inode from being given away again.
    fs::hard_link(path("there and anew"), path("kept")).unwrap();
    let mut commanded = job(&command_removes, SIZE);
    commanded.name = format!("standing-{}", std::process::id());
    let printed = format!("{}.postrun.txt", commanded.name);
    let line = format!("rm '{}'", command_removes.display());
    commanded.features.process.command_after = Some(line);
    let jobs = vec![
        commanded,
        writes("made", &|_| {}),
        writes("anew", &|job| job.features.files.made_anew = true),
        writes("there and anew", &|job| {
            job.features.files.made_anew = true;
            job.existing = ExistingFiles::AsPeer;
        }),
        writes("longer", &|job| {
            job.features.files.grows = fathom_workload::Growth::Whole;
        }),
        writes("removed", &|job| job.unlink = true),
        writes("cut", &|job| {
            job.features.operation = Some(FileOperation::Truncate);
            job.backend = fathom_workload::Backend::Sync;
        }),
        job(folder.path(), SIZE),
    ];
    assert_eq!(told_of(jobs, false, || {}), Vec::<String>::new());
    // What the command printed.
    fs::remove_file(printed).unwrap();
}
