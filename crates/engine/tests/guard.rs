//! The write guard on real block devices: loop devices over files of their own. These tests need root.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{LoopDevice, Mounted, command, job, workload};
use fathom_engine::{
    EngineError, ExitClass, Overwrite, RunOptions, StopFlag, Writing, run, survey,
};
use fathom_rawio::{Access, OpenHow};
use fathom_record::Ignore;
use fathom_units::Bytes;
use fathom_workload::{Backend, ExistingFiles, Job, Mix, Replay, Workload};

/// An MBR with one partition from sector 2,048 of 8,192 sectors.
const PARTITION: [u8; 16] = [0, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 32, 0, 0];

fn writer(path: &str) -> Job {
    let mut job = job(std::path::Path::new(path), Bytes::mib(1));
    job.mix = Mix::WRITE;
    job.existing = ExistingFiles::AsPeer;
    job
}

fn try_write(planned: &Workload, names: &[&str]) -> Result<Vec<String>, EngineError> {
    let options = RunOptions {
        destroy_data: names.iter().map(|name| (*name).to_owned()).collect(),
        ..RunOptions::default()
    };
    let _alone = common::no_program_begins();
    run(planned, &options, &StopFlag::new(), &mut Ignore).map(|outcome| {
        assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
        outcome.notes
    })
}

/// Writing to `path` is refused with all of `expected` in the text, with and without the flag, and changes no byte.
#[track_caller]
fn check_refused(device: &LoopDevice, path: &str, expected: &[&str]) {
    let sum = || command(&format!("md5sum {}", device.image.path().display()));
    command("sync");
    let before = sum();
    let short = path.trim_start_matches("/dev/");
    for names in [&[][..], &[short][..]] {
        let error = try_write(&workload(vec![writer(path)]), names).unwrap_err();
        assert_eq!(error.exit_class(), ExitClass::Refused, "{error}");
        let text = error.to_string();
        for part in expected {
            assert!(text.contains(part), "`{part}` is missing from: {text}");
        }
        assert!(text.contains(&format!("--destroy-data={short}")), "{text}");
    }
    command("sync");
    assert_eq!(sum(), before);
}

/// Mounts `device` for reading: of one that is mounted for writing, the kernel itself changes bytes at times.
#[track_caller]
fn mounted(device: &str) -> Mounted {
    Mounted::new(&format!("-o ro {device}"))
}

#[track_caller]
fn partitioned() -> LoopDevice {
    use std::os::unix::fs::FileExt;
    let device = LoopDevice::new(Bytes::mib(8));
    let image = device.image.as_file();
    image.write_all_at(&PARTITION, 446).unwrap();
    image.write_all_at(&[0x55, 0xaa], 510).unwrap();
    command(&format!("blockdev --rereadpt {}", device.path));
    if !std::path::Path::new(&format!("{}p1", device.path)).exists() {
        // A kernel that reads no tables is told of the part.
        command(&format!("addpart {} 1 2048 8192", device.path));
    }
    device
}

/// A trace goes to its targets alone, and each of them passes the guard.
#[test]
fn what_a_trace_writes_to_is_guarded() {
    let device = LoopDevice::new(Bytes::mib(8));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace");
    let text = format!(
        "fio version 3 iolog\n0 {0} add\n9 {0} write 0 4096\n",
        device.path
    );
    std::fs::write(&path, text).unwrap();
    let mut replayed = writer(&device.path);
    replayed.features.replay = Some(Replay {
        path: path.display().to_string(),
        ..Replay::default()
    });
    let planned = workload(vec![replayed]);
    let error = try_write(&planned, &[]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Refused, "{error}");
    try_write(&planned, &[device.name()]).unwrap();
}

#[test]
fn a_free_device_is_written_when_it_is_named_and_only_then() {
    let device = LoopDevice::new(Bytes::mib(8));
    let planned = workload(vec![writer(&device.path)]);
    let error = try_write(&planned, &[]).unwrap_err();
    let text = error.to_string();
    let flag = format!("--destroy-data={}", device.name());
    assert!(
        text.contains("it is free") && text.contains(&flag),
        "{text}"
    );
    let error = try_write(&planned, &["loop", "", "loop99", "sda"]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Refused);
    assert!(
        error
            .to_string()
            .contains("`--destroy-data=loop99` does not name it")
    );
    let image = || std::fs::read(device.image.path()).unwrap();
    assert!(image().iter().all(|byte| *byte == 0));
    assert_eq!(try_write(&planned, &[device.name()]).unwrap(), [""; 0]);
    let image = image();
    assert!(
        image[..1 << 20]
            .chunks(4096)
            .all(|block| block.iter().any(|byte| *byte != 0))
    );
    assert!(image[1 << 20..].iter().all(|byte| *byte == 0));
}

#[test]
fn reading_needs_no_flag() {
    let device = LoopDevice::new(Bytes::mib(8));
    command(&format!("mkfs.ext4 -q {}", device.path));
    let mounted = mounted(&device.path);
    let mut reader = writer(&device.path);
    reader.mix = Mix::READ;
    let outcome = common::run_jobs(vec![reader]).unwrap();
    assert_eq!(outcome.results[0].workers[0].ios(), 256);
    drop(mounted);
}

#[test]
fn a_mounted_device_is_refused() {
    let device = LoopDevice::new(Bytes::mib(8));
    command(&format!("mkfs.ext4 -q {}", device.path));
    let mounted = mounted(&device.path);
    let place = mounted.directory.path().display().to_string();
    check_refused(
        &device,
        &device.path,
        &[&format!("it is mounted at {place}")],
    );
    drop(mounted);
    // Unmounted, its file system may go, and that is said.
    let notes = try_write(&workload(vec![writer(&device.path)]), &[device.name()]).unwrap();
    assert!(notes[0].contains("ext2, ext3 or ext4"), "{notes:?}");
}

#[test]
fn a_device_by_a_link_is_the_device() {
    let device = LoopDevice::new(Bytes::mib(8));
    command(&format!("mkfs.ext4 -q {}", device.path));
    let mounted = mounted(&device.path);
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("innocent");
    std::os::unix::fs::symlink(&device.path, &link).unwrap();
    let planned = workload(vec![writer(link.to_str().unwrap())]);
    let error = try_write(&planned, &[device.name()]).unwrap_err();
    assert!(error.to_string().contains("it is mounted at"), "{error}");
    drop(mounted);
}

#[test]
fn a_partitioned_device_and_a_mounted_part_are_refused() {
    let device = partitioned();
    let part = format!("{}p1", device.path);
    let partitioned = format!("it is partitioned ({}p1)", device.name());
    let table = "an MBR partition table";
    check_refused(&device, &device.path, &[&partitioned, table]);
    command(&format!("mkfs.ext4 -q {part}"));
    let mounted = mounted(&part);
    let place = mounted.directory.path().display();
    let whole = format!("its partition {}p1 is mounted at {place}", device.name());
    check_refused(&device, &device.path, &[&whole, &partitioned]);
    check_refused(&device, &part, &[&format!("it is mounted at {place}")]);
    drop(mounted);
    let name = format!("{}p1", device.name());
    let error = try_write(&workload(vec![writer(&part)]), &[device.name()]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Refused);
    try_write(&workload(vec![writer(&part)]), &[&name]).unwrap();
}

#[test]
fn swap_and_its_signature_are_refused() {
    let device = LoopDevice::new(Bytes::mib(8));
    command(&format!("mkswap {}", device.path));
    check_refused(
        &device,
        &device.path,
        &["it bears the signature of a swap area"],
    );
    command(&format!("swapon {}", device.path));
    let found = std::panic::catch_unwind(|| {
        check_refused(&device, &device.path, &["it is in use as swap"]);
    });
    command(&format!("swapoff {}", device.path));
    found.unwrap();
}

/// What tells of a member of a RAID set of firmware: the name that `blkid` has for it, what ours is called, and bytes so far from
/// the end of the device.
type Member = (&'static str, &'static str, &'static [(u64, &'static [u8])]);

const MEMBERS: [Member; 12] = [
    (
        "isw_raid_member",
        "an Intel firmware RAID member",
        &[(1024, b"Intel Raid ISM Cfg Sig. 1.3.00")],
    ),
    (
        "ddf_raid_member",
        "a DDF RAID member",
        &[(512, &[0xde, 0x11, 0xde, 0x11])],
    ),
    (
        "ddf_raid_member",
        "a DDF RAID member",
        &[(257 * 512, &[0x11, 0xde, 0x11, 0xde])],
    ),
    (
        "adaptec_raid_member",
        "an Adaptec firmware RAID member",
        &[(512, &[0x37, 0xfc, 0x4d, 0x1e]), (256, b"DPTM")],
    ),
    (
        "promise_fasttrack_raid_member",
        "a Promise firmware RAID member",
        &[(63 * 512, b"Promise Technology, Inc.")],
    ),
    (
        "nvidia_raid_member",
        "an NVIDIA firmware RAID member",
        &[(1024, b"NVIDIA  ")],
    ),
    (
        "lsi_mega_raid_member",
        "an LSI firmware RAID member",
        &[(512, b"$XIDE$")],
    ),
    (
        "hpt45x_raid_member",
        "a HighPoint firmware RAID member",
        &[(11 * 512, &[0xf3, 0x16, 0x78, 0x5a])],
    ),
    (
        "hpt37x_raid_member",
        "a HighPoint firmware RAID member",
        &[(FIRMWARE_SIZE - 4640, &[0xf0, 0x16, 0x78, 0x5a])],
    ),
    // Their sums: 0x2f00 and a checksum of 0xd100; 0x55 + 0xaa; 0x4d4a and what makes it nothing.
    (
        "silicon_medley_raid_member",
        "a Silicon Image firmware RAID member",
        &[(512 - 0x60, &[0, 0, 0, 0x2f]), (512 - 0x13e, &[0, 0xd1])],
    ),
    (
        "via_raid_member",
        "a VIA firmware RAID member",
        &[(512, &[0x55, 0xaa]), (462, &[0xff])],
    ),
    (
        "jmicron_raid_member",
        "a JMicron firmware RAID member",
        &[(512, b"JM"), (508, &[0xb6, 0xb2])],
    ),
];
const FIRMWARE_SIZE: u64 = 8 << 20;

/// The members that `blkid` knows are those that the guard knows, and what `wipefs` took away is no member to either.
#[test]
fn members_of_firmware_raid_are_refused() {
    use std::os::unix::fs::FileExt;
    for (theirs, ours, marks) in MEMBERS {
        let device = LoopDevice::new(Bytes::new(FIRMWARE_SIZE));
        let alone = common::no_program_begins();
        let writable = std::fs::File::options().write(true).open(&device.path);
        let writable = writable.unwrap();
        for (from_end, bytes) in marks {
            writable
                .write_all_at(bytes, FIRMWARE_SIZE - from_end)
                .unwrap();
        }
        drop((writable, alone));
        let told = command(&format!("blkid -p -o value -s TYPE {}", device.path));
        assert_eq!(told.trim(), theirs);
        let signature = format!("it bears the signature of {ours}");
        check_refused(&device, &device.path, &[&signature]);
        command(&format!("wipefs --quiet --all {}", device.path));
        try_write(&workload(vec![writer(&device.path)]), &[device.name()]).unwrap();
    }
}

#[test]
fn a_volume_of_lvm_is_refused_until_its_label_is_wiped() {
    let device = LoopDevice::new(Bytes::mib(8));
    command(&format!("pvcreate --yes --quiet {}", device.path));
    let signature = "it bears the signature of an LVM physical volume";
    check_refused(&device, &device.path, &[signature]);
    command(&format!("wipefs --quiet --all {}", device.path));
    try_write(&workload(vec![writer(&device.path)]), &[device.name()]).unwrap();
}

#[test]
fn what_holds_a_device_is_named() {
    let device = LoopDevice::new(Bytes::mib(8));
    let name = format!("fathom-test-{}", std::process::id());
    let table = format!("0 8192 linear {} 0", device.path);
    let made = std::process::Command::new("dmsetup")
        .args(["create", &name, "--table", &table])
        .output()
        .unwrap();
    if !made.status.success() {
        // A kernel without the device mapper: an exclusive opening stands for it.
        let held = fathom_rawio::open(
            std::path::Path::new(&device.path),
            OpenHow {
                access: Access::ExclusiveDevice,
                caching: fathom_rawio::Caching::Buffered,
                durability: fathom_rawio::Durability::None,
            },
        );
        let planned = workload(vec![writer(&device.path)]);
        let error = try_write(&planned, &[device.name()]).unwrap_err();
        assert_eq!(error.exit_class(), ExitClass::Refused);
        assert!(error.to_string().contains("it is in use"), "{error}");
        drop(held);
        return;
    }
    let found = std::panic::catch_unwind(|| {
        check_refused(&device, &device.path, &["it is held by dm-"]);
    });
    command(&format!("dmsetup remove {name}"));
    found.unwrap();
}

#[test]
fn the_file_under_a_loop_device_is_refused() {
    let device = LoopDevice::new(Bytes::mib(8));
    let path = device.image.path().display().to_string();
    let error = try_write(&workload(vec![writer(&path)]), &[]).unwrap_err();
    let expected = format!("it is the storage of the block device {}", device.name());
    assert!(error.to_string().contains(&expected), "{error}");
    assert_eq!(error.exit_class(), ExitClass::Refused);
}

#[test]
fn all_refusals_come_at_once_and_nothing_is_laid_out() {
    let (first, second) = (
        LoopDevice::new(Bytes::mib(8)),
        LoopDevice::new(Bytes::mib(8)),
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let jobs = vec![
        job(&file, Bytes::mib(1)),
        writer(&first.path),
        writer(&second.path),
    ];
    let error = try_write(&workload(jobs), &[]).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(&first.path) && text.contains(&second.path),
        "{text}"
    );
    assert!(!file.exists());
}

#[test]
fn the_null_backend_touches_no_device() {
    let device = LoopDevice::new(Bytes::mib(8));
    let mut null = writer(&device.path);
    null.backend = Backend::Null;
    assert_eq!(try_write(&workload(vec![null]), &[]).unwrap(), [""; 0]);
}

#[test]
fn a_device_is_trimmed_when_it_is_named() {
    let device = LoopDevice::new(Bytes::mib(8));
    try_write(&workload(vec![writer(&device.path)]), &[device.name()]).unwrap();
    let mut trimmer = writer(&device.path);
    trimmer.mix = Mix::TRIM;
    let error = try_write(&workload(vec![trimmer.clone()]), &[]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Refused);
    try_write(&workload(vec![trimmer]), &[device.name()]).unwrap();
    let image = std::fs::read(device.image.path()).unwrap();
    assert!(image.iter().all(|byte| *byte == 0));
}

#[test]
fn others_files_are_written_with_leave_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("precious");
    let write = |existing, overwrite| {
        let mut job = job(&path, Bytes::mib(1));
        (job.mix, job.existing) = (Mix::WRITE, existing);
        let options = RunOptions {
            overwrite,
            ..RunOptions::default()
        };
        run(
            &workload(vec![job]),
            &options,
            &StopFlag::new(),
            &mut Ignore,
        )
        .map(drop)
    };
    let make = || std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let is_kept = || std::fs::read(&path).unwrap() == vec![7; 1 << 20];
    make();
    let error = write(ExistingFiles::OnlyOurs, Overwrite::Refuse).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Refused);
    assert!(error.to_string().contains("--overwrite"), "{error}");
    assert!(is_kept());
    write(ExistingFiles::OnlyOurs, Overwrite::Allowed).unwrap();
    assert!(!is_kept());
    make();
    write(ExistingFiles::AsPeer, Overwrite::Refuse).unwrap();
    assert!(!is_kept());
    // One that we laid out is ours, also in the next run.
    std::fs::remove_file(&path).unwrap();
    write(ExistingFiles::OnlyOurs, Overwrite::Refuse).unwrap();
    write(ExistingFiles::OnlyOurs, Overwrite::Refuse).unwrap();
}

/// Of a file system on several devices one is named when it is mounted, and all hold it.
#[test]
fn each_device_of_a_file_system_on_several_is_in_use() {
    let devices = [0, 1].map(|_| LoopDevice::new(Bytes::mib(128)));
    let [first, second] = devices.each_ref().map(|device| device.path.as_str());
    command(&format!("mkfs.btrfs -q -m raid1 {first} {second}"));
    let mounted = Mounted::new(&format!("-o ro {first}"));
    for device in &devices[1..] {
        let expected = ["it holds a part of the Btrfs ", ", which is mounted"];
        check_refused(device, &device.path, &expected);
    }
    let Writing::Refused(refusal) = survey(second).unwrap().writing else {
        panic!("it may be written to");
    };
    assert!(refusal.found[0].contains("Btrfs"), "{refusal:?}");
    let below = survey(&mounted.directory.path().display().to_string());
    let below = below.unwrap().devices;
    let mut names: Vec<_> = below.iter().map(|it| it.name.as_str()).collect();
    names.truncate(2);
    names.sort_unstable();
    let mut expected: Vec<_> = devices.iter().map(LoopDevice::name).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

/// Who has a device for himself may leave no trace in what is mounted here.
#[test]
fn a_device_that_somebody_holds_is_told_before_a_run() {
    let device = LoopDevice::new(Bytes::mib(8));
    assert!(matches!(
        survey(&device.path).unwrap().writing,
        Writing::WithName { .. }
    ));
    let how = OpenHow {
        access: Access::ExclusiveDevice,
        ..OpenHow::LOOK
    };
    let held = fathom_rawio::open(std::path::Path::new(&device.path), how).unwrap();
    let Writing::Refused(refusal) = survey(&device.path).unwrap().writing else {
        panic!("it may be written to");
    };
    assert!(refusal.found[0].contains("in use"), "{refusal:?}");
    drop(held);
    assert!(matches!(
        survey(&device.path).unwrap().writing,
        Writing::WithName { .. }
    ));
}
