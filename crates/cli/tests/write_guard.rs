//! No verb writes to a block device in use, nor to a free one that was not named.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};

use support::{expect_code, system, until};

/// A loop device over a file of its own, detached with its value.
struct LoopDevice {
    image: PathBuf,
    device: String,
    mount: Option<PathBuf>,
}

impl LoopDevice {
    fn new(folder: &Path) -> Self {
        let image = folder.join("disk.img");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(64 << 20).unwrap();
        drop(file);
        let device = system(
            "losetup",
            &["--find", "--show", "--partscan", image.to_str().unwrap()],
        );
        Self {
            image,
            device,
            mount: None,
        }
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// For reading: for seconds after a mount for writing, ext4 itself fills the tables its `mkfs` left for later.
    fn mount(&mut self, part: &str, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        system("mount", &["-o", "ro", part, folder.to_str().unwrap()]);
        self.mount = Some(folder.to_owned());
    }

    fn bytes(&self) -> Vec<u8> {
        // Another opener of the device keeps what was written to it in the page cache: have it written out.
        system("sync", &[]);
        std::fs::read(&self.image).unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Some(mount) = &self.mount {
            let _ = std::process::Command::new("umount").arg(mount).status();
        }
        let _ = std::process::Command::new("losetup")
            .args(["--detach", &self.device])
            .status();
    }
}

fn write_arguments<'a>(filename: &'a str, allow: &'a str) -> Vec<&'a str> {
    let mut arguments = vec![
        "fio",
        "--name=x",
        "--rw=randwrite",
        "--bs=4k",
        "--size=1m",
        "--ioengine=psync",
    ];
    arguments.push(filename);
    if !allow.is_empty() {
        arguments.push(allow);
    }
    arguments
}

#[test]
fn a_mounted_device_is_refused_whatever_is_said() {
    let folder = support::disk_folder();
    let mut disk = LoopDevice::new(folder.path());
    system("mkfs.ext4", &["-q", &disk.device]);
    let device = disk.device.clone();
    disk.mount(&device, &folder.path().join("mnt"));
    let before = disk.bytes();
    let filename = format!("--filename={device}");
    let allow = format!("--destroy-data={}", disk.name());
    for allow in ["", &allow] {
        let (_, stderr) = expect_code(folder.path(), &write_arguments(&filename, allow), 4);
        assert!(stderr.contains("mounted"), "{stderr}");
        assert!(
            stderr.contains(folder.path().join("mnt").to_str().unwrap()),
            "{stderr}"
        );
    }
    assert!(before == disk.bytes(), "the device was written to");
}

/// Words of jobs on `FILE` that would change it, and what else is found of it.
const ON_FILES: [&str; 9] = [
    "fio --name=a --rw=randwrite --bs=4k --size=1m --filename=FILE",
    "fio --name=a --rw=read --bs=4k --size=80m --filename=FILE",
    "fio --name=a --rw=read --bs=4k --size=1m --filename=FILE --unlink=1",
    "fio --name=a --ioengine=filedelete --filesize=64m --filename=FILE",
    "run --no-record --overwrite fio --name=a --rw=write --bs=4k --size=1m --filename=FILE",
    "diskspd -w100 -b4K -d1 -W0 FILE",
    "diskspd -w0 -c65M -b4K -d1 -W0 FILE",
    "iometer --spec Database --target FILE --qd 1 --time 1s /r out.csv",
    "run --no-record --overwrite diskspd -w100 -b4K -d1 -W0 FILE",
];

/// Neither by its name nor by another, nor by one that is left of several; reading it is free.
#[test]
fn the_file_of_an_attached_loop_device_is_refused() {
    let folder = support::disk_folder();
    let mut disk = LoopDevice::new(folder.path());
    system("mkfs.ext4", &["-q", &disk.device]);
    std::fs::hard_link(&disk.image, folder.path().join("hard")).unwrap();
    std::os::unix::fs::symlink(&disk.image, folder.path().join("soft")).unwrap();
    let before = disk.bytes();
    let check = |name: &str, words: &[&str]| {
        // Of a link, the link alone would be removed.
        let is_link = name == "soft";
        let jobs = ON_FILES.iter();
        for job in jobs.filter(|job| !is_link || !job.contains("filedelete")) {
            let job = job.replace("FILE", name);
            let job: Vec<&str> = job.split(' ').collect();
            let (_, stderr) = expect_code(folder.path(), &job, 4);
            let told = format!("it is the storage of the block device {}", disk.name());
            let hint = format!("`losetup --detach {}` frees it", disk.device);
            for words in [&told[..], &hint].iter().chain(words) {
                assert!(stderr.contains(words), "{job:?}: {stderr}");
            }
        }
        let read = format!("fio --name=a --rw=read --bs=4k --size=1m --filename={name}");
        let read: Vec<&str> = read.split(' ').collect();
        expect_code(folder.path(), &read, 0);
    };
    for name in ["disk.img", "hard", "soft"] {
        check(name, &[]);
    }
    assert!(before == disk.bytes(), "the file was written to");
    // The kernel tells a name that leads nowhere then.
    std::fs::remove_file(&disk.image).unwrap();
    check("hard", &[]);
    std::fs::rename(folder.path().join("hard"), &disk.image).unwrap();
    let device = disk.device.clone();
    let place = folder.path().join("mnt");
    disk.mount(&device, &place);
    let told = format!("{} is mounted at {}", disk.name(), place.display());
    let job = ON_FILES[0].replace("FILE", "disk.img");
    let job: Vec<&str> = job.split(' ').collect();
    let (_, stderr) = expect_code(folder.path(), &job, 4);
    assert!(stderr.contains(&told), "{stderr}");
    assert!(before == disk.bytes(), "the file was written to");
}

/// It is nobody's storage any more.
#[test]
fn the_file_of_a_detached_loop_device_is_as_any_other() {
    let folder = support::disk_folder();
    let image = LoopDevice::new(folder.path()).image.clone();
    let path = image.to_str().unwrap();
    until("the loop device stays", || {
        system("losetup", &["--associated", path]).is_empty()
    });
    let job = ON_FILES[0].replace("FILE", path);
    let job: Vec<&str> = job.split(' ').collect();
    expect_code(folder.path(), &job, 0);
}

/// A swap file of its own, left when it is dropped.
struct Swap(PathBuf);

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = std::process::Command::new("swapoff").arg(&self.0).status();
    }
}

#[test]
fn an_active_swap_file_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let folder = support::disk_folder();
    let file = folder.path().join("my swap");
    std::fs::write(&file, vec![0; 1 << 20]).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    system("mkswap", &[file.to_str().unwrap()]);
    std::fs::hard_link(&file, folder.path().join("hard")).unwrap();
    std::os::unix::fs::symlink(&file, folder.path().join("soft")).unwrap();
    let swap = Swap(file);
    let on = std::process::Command::new("swapon").arg(&swap.0).status();
    if !on.unwrap().success() {
        // Some file systems, and containers, have no such files.
        return;
    }
    for job in ON_FILES {
        let job = job.replace("FILE", "hard");
        let job: Vec<&str> = job.split(' ').collect();
        let (_, stderr) = expect_code(folder.path(), &job, 4);
        assert!(stderr.contains("it is in use as swap"), "{job:?}: {stderr}");
        assert!(stderr.contains("`swapoff` frees it"), "{job:?}: {stderr}");
    }
    let output = "fio --name=a --rw=write --size=64k --output=soft";
    let output: Vec<&str> = output.split(' ').collect();
    let (_, stderr) = expect_code(folder.path(), &output, 4);
    assert!(stderr.contains("it is in use as swap"), "{stderr}");
    drop(swap);
    let job = ON_FILES[0].replace("FILE", "soft");
    let job: Vec<&str> = job.split(' ').collect();
    expect_code(folder.path(), &job, 0);
}

/// A volume's file is no other's storage.
#[test]
fn nothing_is_served_from_the_file_of_a_loop_device() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    std::fs::write(folder.path().join("d.design.toml"), RAM).unwrap();
    std::fs::File::options()
        .write(true)
        .open(&disk.image)
        .unwrap();
    std::fs::hard_link(&disk.image, folder.path().join("ram.img")).unwrap();
    let words = "serve d.design.toml --nbd unix:n --no-record --backing .";
    let words: Vec<&str> = words.split(' ').collect();
    let (_, stderr) = expect_code(folder.path(), &words, 4);
    let told = "`./ram.img` cannot back a volume: it is the storage of the block device";
    assert!(stderr.contains(told), "{stderr}");
}

#[test]
fn a_partition_table_is_refused() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let script = folder.path().join("table");
    std::fs::write(&script, "label: dos\n2048,65536,L\n").unwrap();
    let line = format!(
        "sfdisk --quiet --no-reread --no-tell-kernel {} < {}",
        disk.device,
        script.display()
    );
    system("sh", &["-c", &line]);
    let before = disk.bytes();
    let filename = format!("--filename={}", disk.device);
    let allow = format!("--destroy-data={}", disk.name());
    let (_, stderr) = expect_code(folder.path(), &write_arguments(&filename, &allow), 4);
    assert!(stderr.contains("partition"), "{stderr}");
    assert!(before == disk.bytes(), "the device was written to");
}

#[test]
fn a_free_device_must_be_named() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let before = disk.bytes();
    let filename = format!("--filename={}", disk.device);
    let allow = format!("--destroy-data={}", disk.name());
    let (_, stderr) = expect_code(folder.path(), &write_arguments(&filename, ""), 4);
    assert!(
        stderr.contains(&allow),
        "the flag needed is not named: {stderr}"
    );
    expect_code(
        folder.path(),
        &write_arguments(&filename, "--destroy-data=another"),
        4,
    );
    assert!(before == disk.bytes(), "the device was written to");
    expect_code(folder.path(), &write_arguments(&filename, &allow), 0);
    assert!(before != disk.bytes(), "nothing was written");
}

#[test]
fn reading_needs_no_permission() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let filename = format!("--filename={}", disk.device);
    let arguments = [
        "fio",
        "--name=x",
        "--rw=randread",
        "--bs=4k",
        "--size=1m",
        "--ioengine=psync",
        &filename,
    ];
    expect_code(folder.path(), &arguments, 0);
}

#[test]
fn run_is_guarded_as_fio_is() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let filename = format!("--filename={}", disk.device);
    let before = disk.bytes();
    let fio = [
        "run",
        "fio",
        "--name=x",
        "--rw=write",
        "--bs=4k",
        "--size=1m",
        &filename,
    ];
    expect_code(folder.path(), &fio, 4);
    let native = folder.path().join("x.workload.toml");
    let text = format!(
        "[[stage]]\nname = \"a\"\nmeasure = \"1s\"\n[[stage.job]]\nname = \"a\"\ntarget = {{ path = \"{}\" }}\nmix = {{ write = \"100%\" }}\nblock = \"4KiB\"\n",
        disk.device
    );
    std::fs::write(&native, text).unwrap();
    expect_code(folder.path(), &["run", native.to_str().unwrap()], 4);
    assert!(before == disk.bytes(), "the device was written to");
}

#[test]
fn a_name_that_is_of_no_use_is_told() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let on_device = format!("--filename={}", disk.device);
    let device_name = format!("--destroy-data={}", disk.name());
    for (filename, name, is_told) in [
        ("--filename=data", "--destroy-data=nvme7", true),
        ("--filename=data", "", false),
        (&on_device, &device_name, false),
    ] {
        let arguments = write_arguments(filename, name);
        let (_, stderr) = expect_code(folder.path(), &arguments, 0);
        let told = format!(
            "`{name}` changes nothing: no target of this workload is a block device or an export"
        );
        assert_eq!(stderr.contains(&told), is_told, "{arguments:?}: {stderr}");
    }
    // One that matches nothing beside one that does, with each verb that takes it.
    let fio = [
        write_arguments(&on_device, &device_name),
        vec!["--destroy-data=nvme7"],
    ]
    .concat();
    let run = [
        "run",
        "-q",
        "--no-record",
        "--destroy-data=nvme7",
        &device_name,
        "fio",
        "--name=x",
    ];
    let run = [&run[..], &["--rw=write", "--size=1m", &on_device]].concat();
    let diskspd = [
        "diskspd",
        "-d1",
        "-W0",
        "-w100",
        "--destroy-data=nvme7",
        &device_name,
    ];
    let diskspd = [&diskspd[..], &[&disk.device]].concat();
    for arguments in [fio, run, diskspd] {
        let (_, stderr) = expect_code(folder.path(), &arguments, 0);
        let told = "note: `--destroy-data=nvme7` changes nothing: no block device or export of this workload bears that name";
        assert!(stderr.contains(told), "{arguments:?}: {stderr}");
        assert_eq!(stderr.matches("changes nothing").count(), 1, "{stderr}");
    }
    // What holds for every run is no mistake of one.
    let mut command = support::fathom(folder.path());
    command
        .args(["run", "-q", "--no-record"])
        .args(write_arguments("--filename=data", ""));
    let output = command
        .env("FATHOM_DESTROY_DATA", "nvme7")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !stderr.contains("changes nothing"),
        "{stderr}"
    );
}

/// What a run writes beside its I/O, as words in which `DEVICE` is a block device, and as names in the folder that lead to it.
const RESULTS: [(&str, &[&str]); 29] = [
    ("fio --name=a --rw=write --size=64k --output=DEVICE", &[]),
    (
        "fio --name=a --rw=write --size=64k --output=r.json",
        &["r.json"],
    ),
    (
        "fio --name=a --rw=write --size=64k --output=DEVICE --parse-only",
        &[],
    ),
    ("fio --output=DEVICE --name=a --rw=sideways", &[]),
    ("fio --output=DEVICE --cmdhelp", &[]),
    (
        "fio --name=a --rw=write --size=64k --write_iolog=DEVICE",
        &[],
    ),
    (
        "run --no-record fio --name=a --rw=write --size=64k --write_iolog=DEVICE",
        &[],
    ),
    (
        "fio --name=a --rw=write --size=64k --write_bw_log=x",
        &["x_bw.1.log"],
    ),
    (
        "fio --name=a --rw=write --size=64k --write_lat_log=x",
        &["x_clat.1.log"],
    ),
    (
        "fio --name=a --rw=write --size=64k --write_iops_log=x",
        &["x_iops.1.log"],
    ),
    (
        "fio --name=a --rw=write --size=64k --write_hist_log=x --log_hist_msec=100",
        &["x_clat_hist.1.log"],
    ),
    (
        "fio --name=a --rw=write --size=64k --bandwidth-log=x",
        &["x-trim_bw.log"],
    ),
    (
        "fio --name=a --rw=write --size=64k --exec_prerun=true",
        &["a.prerun.txt"],
    ),
    (
        "run --no-record fio --name=a --rw=write --size=64k --exec_postrun=true",
        &["a.postrun.txt"],
    ),
    (
        "fio --name=a --rw=write --size=64k --verify=md5 --aux-path=.",
        &["./local-a-0-verify.state"],
    ),
    (
        "fio --name=a --rw=write --size=64k --verify=md5",
        &["local-a-0-verify.state.new"],
    ),
    (
        "fio --name=a --read_iolog=b1:b2 --merge_blktrace_file=DEVICE --replay_redirect=x",
        &[],
    ),
    (
        "fio --name=a --read_iolog=b1:b2 --merge_blktrace_file=DEVICE --merge-blktrace-only",
        &[],
    ),
    (
        "fio --name=a --rw=write --size=64k --trigger-file=DEVICE",
        &[],
    ),
    ("fio --server=sock:s --daemonize=DEVICE", &[]),
    (
        "fio --client=sock:none --name=a --rw=write --size=64k --write_bw_log=x",
        &["x_bw.1.log.none"],
    ),
    (
        "fio --client=sock:none --name=a --rw=write --size=64k --output=DEVICE",
        &[],
    ),
    (
        "iometer --spec Database --target . --qd 1 --size 1MiB --time 1s /r DEVICE",
        &[],
    ),
    ("vdbench -f parm -o DEVICE", &[]),
    (
        "serve d.design.toml --nbd unix:n --no-record --trace DEVICE",
        &[],
    ),
    ("observe --from log -o DEVICE", &[]),
    ("convert --to fio -o DEVICE fio --name=a --size=1m", &[]),
    ("profile new --app exchange-2010 --users 50 -o DEVICE", &[]),
    (
        "predict --html DEVICE --on d.design.toml fio --name=a --size=1m --filename=/ram/x",
        &[],
    ),
];

/// Neither a byte of the device nor its node is lost, whatever names it, and the run does not begin.
#[test]
fn results_are_never_written_over_a_block_device() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    std::fs::write(&disk.device, vec![0x5a; 1 << 20]).unwrap();
    check_results(folder.path(), &disk, &disk.device);
}

/// Nor is its file, which is as much.
#[test]
fn results_are_never_written_over_the_file_of_a_loop_device() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    std::fs::write(&disk.device, vec![0x5a; 1 << 20]).unwrap();
    check_results(folder.path(), &disk, disk.image.to_str().unwrap());
}

/// Nothing is written over `taken`, which is the device or its file.
fn check_results(folder: &Path, disk: &LoopDevice, taken: &str) {
    use std::os::unix::fs::symlink;

    let before = disk.bytes();
    let kind_before = std::fs::symlink_metadata(taken).unwrap().file_type();
    for (words, names) in RESULTS {
        let place = tempfile::tempdir_in(folder).unwrap();
        let place = place.path();
        std::fs::write(place.join("d.design.toml"), RAM).unwrap();
        std::fs::write(place.join("parm"), PARAMETERS).unwrap();
        std::fs::write(place.join("log"), IOSTAT).unwrap();
        for trace in ["b1", "b2"] {
            std::fs::write(place.join(trace), BLKTRACE).unwrap();
        }
        for name in names {
            symlink(taken, place.join(name)).unwrap();
        }
        let words = words.replace("DEVICE", taken);
        let words: Vec<&str> = words.split(' ').collect();
        let (_, stderr) = expect_code(place, &words, 4);
        let named = names.first().map_or(taken, |name| {
            name.trim_start_matches("./").trim_end_matches(".none")
        });
        assert!(stderr.contains(named), "{words:?}: {stderr}");
        assert!(stderr.contains("device"), "{words:?}: {stderr}");
        assert!(stderr.contains("hint: name a"), "{words:?}: {stderr}");
        assert!(!place.join("a.0.0").exists(), "{words:?}: the job began");
        let kind = std::fs::symlink_metadata(taken).unwrap().file_type();
        assert_eq!(kind, kind_before, "{words:?}");
        assert!(
            before == disk.bytes(),
            "{words:?}: `{taken}` was written to"
        );
    }
}

const RAM: &str = "[[device]]\nname = 'ram'\nmount = '/ram'\nsize = '1MiB'\nlatency = 'none'\n";
const PARAMETERS: &str =
    "sd=s,lun=x,size=1m\nwd=w,sd=s\nrd=r,wd=w,iorate=max,elapsed=2,interval=1\n";
const IOSTAT: &str = "Linux 6.1.0 (db1) \t11/20/2026 \t_x86_64_\t(4 CPU)\n\n\
    11/20/2026 09:00:00 AM\nDevice r/s w/s rkB/s wkB/s\nsda 5.00 5.00 40.00 40.00\n\n\
    11/20/2026 09:01:00 AM\nDevice r/s w/s rkB/s wkB/s\nsda 5.00 5.00 40.00 40.00\n";
/// A record of a read that was queued at once, as `blktrace` of a little-endian machine writes it.
const BLKTRACE: [u8; 48] = {
    let mut record = [0; 48];
    [record[0], record[1], record[2], record[3]] = [0x07, 0x74, 0x61, 0x65];
    [record[25], record[28], record[30], record[38]] = [0x10, 1, 1, 0x80];
    record
};

/// Data that was found wrong is saved under names that are known only then.
#[test]
fn what_was_found_wrong_is_not_saved_over_a_block_device() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let before = disk.bytes();
    let job = "fio --name=a --filename=data --rw=write --bs=4k --size=64k --verify=md5";
    let write: Vec<&str> = job.split(' ').chain(["--do_verify=0"]).collect();
    expect_code(folder.path(), &write, 0);
    let data = folder.path().join("data");
    let mut bytes = std::fs::read(&data).unwrap();
    bytes[8192 + 100] ^= 1;
    std::fs::write(&data, bytes).unwrap();
    let saved = folder.path().join("data.8192.received");
    std::os::unix::fs::symlink(&disk.device, &saved).unwrap();
    let check: Vec<&str> = job
        .split(' ')
        .chain(["--verify_only", "--verify_dump=1"])
        .collect();
    let (_, stderr) = expect_code(folder.path(), &check, 1);
    let told = "`./data.8192.received` cannot be written: it is a block device";
    assert!(stderr.contains(told), "{stderr}");
    assert!(before == disk.bytes(), "the device was written to");
}

/// A server's socket takes the place of one that a dead server left, and of nothing else.
#[test]
fn a_socket_takes_the_place_of_no_device() {
    use std::os::unix::fs::FileTypeExt;

    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    for words in [
        format!("fio --server=sock:{}", disk.device),
        format!("fio --server=sock:{} --daemonize=pid", disk.device),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        expect_code(folder.path(), &words, 1);
        let node = std::fs::symlink_metadata(&disk.device).unwrap();
        assert!(node.file_type().is_block_device(), "{words:?}");
    }
}

/// A job whose writes an earlier run did, and that only checks them, writes nothing and needs no leave.
#[test]
fn a_check_of_what_was_written_needs_no_leave() {
    let folder = support::disk_folder();
    let disk = LoopDevice::new(folder.path());
    let filename = format!("--filename={}", disk.device);
    let allow = format!("--destroy-data={}", disk.name());
    let check = "--verify=crc32c";
    let mut arguments = write_arguments(&filename, check);
    arguments.push(&allow);
    expect_code(folder.path(), &arguments, 0);
    let written = disk.bytes();
    for only in [&["--verify_only"][..], &["--verify_only", "--do_verify=0"]] {
        let mut arguments = write_arguments(&filename, check);
        arguments.extend(only);
        expect_code(folder.path(), &arguments, 0);
        assert!(
            written == disk.bytes(),
            "{only:?}: the device was written to"
        );
    }
    // Without the option the same job writes; trims are done with it, too.
    expect_code(folder.path(), &write_arguments(&filename, check), 4);
    let mut arguments = write_arguments(&filename, check);
    arguments.extend(["--rw=randtrim", "--verify_only"]);
    expect_code(folder.path(), &arguments, 4);
}
