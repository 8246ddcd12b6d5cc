//! What stands under the targets of a run, looked at before the first stage and after the last.
//!
//! What another program changes meanwhile (a device's size or scheduler, the options of a mount, a file put in another's place)
//! makes figures of two states one. What the run itself does to its targets is no change: files that it makes anew, removes or
//! cuts, and a scheduler that it sets, are not looked at.
//!
//! Invariant: nothing is opened and nothing is read but the kernel's own words.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_units::Bytes;
use fathom_workload::Workload;

use crate::guard::{BlockDevice, DeviceNumber, Mount, mount_over, whole_device_under};
use crate::survey::{chosen, stack};
use crate::targets::{Kind, Object, Targets};

/// Files of a device in sysfs that say what it is like. Formats: `Documentation/ABI/stable/sysfs-block` and
/// `Documentation/admin-guide/md.rst` of the kernel.
const KEYS: [&str; 15] = [
    "size",
    "ro",
    "diskseq",
    "queue/scheduler",
    "queue/nr_requests",
    "queue/write_cache",
    "queue/read_ahead_kb",
    "queue/max_sectors_kb",
    "queue/rotational",
    "queue/nomerges",
    "queue/logical_block_size",
    "queue/physical_block_size",
    "loop/dio",
    "md/degraded",
    "md/sync_action",
];

/// Those that another scheduler brings with it.
const OF_SCHEDULER: [&str; 2] = ["queue/scheduler", "queue/nr_requests"];

/// sysfs counts sizes in these.
const SECTOR: u64 = 512;

/// All targets of a run at a moment.
#[derive(Debug)]
pub(crate) struct Standing {
    /// By object.
    objects: Vec<Option<Stand>>,
}

/// One target, and what it lies on unless an earlier one told that already.
#[derive(Debug)]
struct Stand {
    path: String,
    leads_to: LeadsTo,
    mount: Option<(PathBuf, Mount)>,
    devices: Vec<DeviceState>,
}

/// What a path leads to, where that is not the run's own doing.
#[derive(Debug, Clone, Copy)]
enum LeadsTo {
    File { device: u64, inode: u64, size: u64 },
    Device(DeviceNumber),
    Unjudged,
}

#[derive(Debug)]
struct DeviceState {
    device: BlockDevice,
    /// By key; `None`: it does not say.
    words: Vec<(&'static str, Option<String>)>,
}

impl Standing {
    /// What is there now.
    pub(crate) fn now(workload: &Workload, targets: &Targets) -> Self {
        let own = own_doing(workload, targets);
        let sets_scheduler =
            (workload.jobs()).any(|(_, job)| job.features.process.scheduler.is_some());
        let keys: Vec<&'static str> = (KEYS.into_iter())
            .filter(|key| !(sets_scheduler && OF_SCHEDULER.contains(key)))
            .collect();
        let mut known = Known::default();
        let objects = targets.objects.iter().enumerate();
        let stands = objects.map(|(index, object)| {
            let is_own = own.contains(&index);
            Stand::of(object, is_own, &keys, &mut known)
        });
        Self {
            objects: stands.collect(),
        }
    }

    /// What is another now than it was then, by object; `None` where nothing was looked at.
    pub(crate) fn changes(&self) -> Vec<Option<Vec<String>>> {
        let stands = self.objects.iter();
        stands
            .map(|stand| stand.as_ref().map(Stand::changes))
            .collect()
    }
}

/// Objects whose files the run itself, or a command of a job's own, may put in another's place, remove or cut.
fn own_doing(workload: &Workload, targets: &Targets) -> BTreeSet<usize> {
    let jobs = workload.jobs().zip(&targets.jobs);
    let replacing = jobs.filter(|((_, job), _)| {
        let features = &job.features;
        let (process, files) = (&features.process, &features.files);
        let has_command = process.command_before.is_some() || process.command_after.is_some();
        let works_on_names = features.operation.is_some() || features.file_work.is_some();
        works_on_names || files.made_anew || has_command
    });
    replacing
        .flat_map(|(_, of_job)| of_job.objects.iter().copied())
        .collect()
}

/// What earlier targets lie on.
#[derive(Debug, Default)]
struct Known {
    /// Numbers of their file systems.
    systems: BTreeSet<u64>,
    /// Names of their devices.
    devices: BTreeSet<String>,
}

impl Stand {
    /// `None` where nothing of it can be looked at, as of what does not exist yet.
    fn of(object: &Object, is_own: bool, keys: &[&'static str], known: &mut Known) -> Option<Self> {
        let path = PathBuf::from(&object.path);
        let (place, leads_to) = match &object.kind {
            Kind::File { full, .. } => {
                let found = fs::metadata(&path).ok().filter(Metadata::is_file);
                let leads_to = match found.filter(|_| !is_own) {
                    Some(found) => LeadsTo::File {
                        device: found.dev(),
                        inode: found.ino(),
                        size: found.len(),
                    },
                    None => LeadsTo::Unjudged,
                };
                // The directory stays, whatever becomes of the file.
                (full.parent()?.to_owned(), leads_to)
            }
            Kind::Directory { full, .. } | Kind::FileSet { full, .. } => {
                (full.parent()?.to_owned(), LeadsTo::Unjudged)
            }
            Kind::Fresh { directory } => (directory.clone(), LeadsTo::Unjudged),
            Kind::Device { number, .. } => (path, LeadsTo::Device(*number)),
            Kind::Character | Kind::Export(_) | Kind::Nothing { .. } => return None,
        };
        let found = fs::metadata(&place).ok()?;
        let is_device = matches!(leads_to, LeadsTo::Device(_));
        // Files by the thousand lie on one file system, which is looked at once.
        let is_new = is_device || known.systems.insert(found.dev());
        let mount = (is_new && !is_device).then(|| mount_over(&place)).flatten();
        let mut devices = if is_new {
            devices_at(&place)
        } else {
            Vec::new()
        };
        devices.retain(|device| known.devices.insert(device.name.clone()));
        Some(Self {
            path: object.path.clone(),
            leads_to,
            mount: mount.map(|mount| (place, mount)),
            devices: (devices.into_iter())
                .map(|device| DeviceState::now(device, keys))
                .collect(),
        })
    }

    fn changes(&self) -> Vec<String> {
        let mut found: Vec<String> = self.leads_elsewhere().into_iter().collect();
        if let Some((place, mount)) = &self.mount {
            found.extend(mount_changes(place, mount));
        }
        found.extend(self.devices.iter().flat_map(DeviceState::changes));
        found
    }

    fn leads_elsewhere(&self) -> Option<String> {
        let path = &self.path;
        match self.leads_to {
            LeadsTo::File {
                device,
                inode,
                size,
            } => match fs::metadata(path) {
                Ok(now) if (now.dev(), now.ino()) != (device, inode) => {
                    Some(format!("{path} leads to another file than at the start"))
                }
                Ok(now) if now.len() < size => {
                    let (was, is) = (Bytes::new(size), Bytes::new(now.len()));
                    Some(format!("{path} was {was} long, is {is}"))
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    Some(format!("{path} is gone"))
                }
                Ok(_) | Err(_) => None,
            },
            LeadsTo::Device(number) => {
                let now = DeviceNumber::of_device(Path::new(path));
                (now != Some(number)).then(|| match now {
                    Some(now) => format!("{path} led to device {number}, leads to {now}"),
                    None => format!("{path} led to device {number}, leads to none"),
                })
            }
            LeadsTo::Unjudged => None,
        }
    }
}

/// The block device at `place` where it is one, and the whole devices below.
fn devices_at(place: &Path) -> Vec<BlockDevice> {
    let number = DeviceNumber::of_device(place);
    let itself = number.and_then(|number| BlockDevice::find(number).ok());
    let below = whole_device_under(place).map(stack).unwrap_or_default();
    itself.into_iter().chain(below).collect()
}

fn mount_changes(place: &Path, was: &Mount) -> Vec<String> {
    let Some(is) = mount_over(place) else {
        return Vec::new();
    };
    if (&is.place, is.number) != (&was.place, was.number) {
        let place = place.display();
        return vec![format!(
            "{place} is on another file system than at the start ({} at {}, was {} at {})",
            is.kind, is.place, was.kind, was.place
        )];
    }
    let options = [
        ("mount options", &was.options, &is.options),
        (
            "options of the file system",
            &was.system_options,
            &is.system_options,
        ),
    ];
    let changed = options.into_iter().filter(|(_, was, is)| was != is);
    changed
        .map(|(what, before, after)| {
            let mounted_at = &was.place;
            format!("{mounted_at}: {what} were `{before}`, are `{after}`")
        })
        .collect()
}

impl DeviceState {
    fn now(device: BlockDevice, keys: &[&'static str]) -> Self {
        let words = keys.iter().map(|key| (*key, word(&device, key)));
        Self {
            words: words.collect(),
            device,
        }
    }

    fn changes(&self) -> Vec<String> {
        let name = &self.device.name;
        if !self.device.place().exists() {
            return vec![format!("{name} is gone")];
        }
        let now = self.words.iter().map(|(key, was)| {
            let is = word(&self.device, key);
            (*key, was, is)
        });
        let changed = now.filter(|(_, was, is)| *was != is);
        let nothing = || "nothing".to_owned();
        changed
            .map(|(key, was, is)| {
                let (was, is) = (
                    was.clone().unwrap_or_else(nothing),
                    is.unwrap_or_else(nothing),
                );
                let key = key.rsplit_once('/').map_or(key, |(_, last)| last);
                format!("{name}: {key} was {was}, is {is}")
            })
            .collect()
    }
}

/// What the device says of itself under `key`, as it is shown.
fn word(device: &BlockDevice, key: &str) -> Option<String> {
    let text = device.attribute(key)?;
    Some(match key {
        "size" => {
            let sectors = text.parse().unwrap_or(0_u64);
            Bytes::new(sectors.saturating_mul(SECTOR)).to_string()
        }
        "queue/scheduler" => format!("`{}`", chosen(&text)),
        _ => format!("`{text}`"),
    })
}

#[cfg(test)]
mod tests {
    use fathom_workload::{FileOperation, FileTask, FileWork, Job, preset};

    use super::*;
    use crate::growth::Making;
    use crate::guard::made::Kernel;
    use crate::targets::{Existing, JobTargets};

    /// A workload of one job on one target, a file that is there.
    struct Run {
        workload: Workload,
        targets: Targets,
    }

    impl Run {
        fn of(path: &Path) -> Self {
            let mut workload = preset("quick", "/unused").unwrap();
            workload.stages.truncate(1);
            workload.stages[0].jobs.truncate(1);
            let existing = Some(Existing {
                size: 8,
                ours: true,
            });
            let kind = Kind::File {
                full: path.to_owned(),
                existing,
            };
            let object = Object {
                path: path.display().to_string(),
                needed: 8,
                written: true,
                afterwards: crate::targets::Afterwards::Stays,
                only_ours: true,
                direct: true,
                making: Making::new(&kind),
                kind,
            };
            let of_job = JobTargets {
                objects: vec![0],
                ranges: Vec::new(),
            };
            let targets = Targets {
                objects: vec![object],
                jobs: vec![of_job],
            };
            Self { workload, targets }
        }

        fn job(&mut self) -> &mut Job {
            &mut self.workload.stages[0].jobs[0]
        }

        /// What is told of it where `change` happens meanwhile.
        fn told(&self, change: impl FnOnce()) -> Vec<String> {
            let before = Standing::now(&self.workload, &self.targets);
            change();
            let mut changes = before.changes();
            assert_eq!(changes.len(), 1);
            changes.remove(0).expect("it is looked at")
        }
    }

    /// What each of these files of sysfs says decides how fast a device is, or which one it is.
    const SETTINGS: [(&str, &str); 15] = [
        ("size", "size was 8 KiB, is 4 KiB"),
        ("ro", "ro was `16`, is `8`"),
        ("diskseq", "diskseq was `16`, is `8`"),
        ("queue/scheduler", "scheduler was `16`, is `8`"),
        ("queue/nr_requests", "nr_requests was `16`, is `8`"),
        ("queue/write_cache", "write_cache was `16`, is `8`"),
        ("queue/read_ahead_kb", "read_ahead_kb was `16`, is `8`"),
        ("queue/max_sectors_kb", "max_sectors_kb was `16`, is `8`"),
        ("queue/rotational", "rotational was `16`, is `8`"),
        ("queue/nomerges", "nomerges was `16`, is `8`"),
        (
            "queue/logical_block_size",
            "logical_block_size was `16`, is `8`",
        ),
        (
            "queue/physical_block_size",
            "physical_block_size was `16`, is `8`",
        ),
        ("loop/dio", "dio was `16`, is `8`"),
        ("md/degraded", "degraded was `16`, is `8`"),
        ("md/sync_action", "sync_action was `16`, is `8`"),
    ];

    /// A kernel with the disk `vdb`, on which the file of the run lies.
    fn kernel() -> (Kernel, Run) {
        let kernel = Kernel::new("ext4");
        kernel.device("vdb", kernel.number_of_files());
        for (key, _) in SETTINGS {
            kernel.says("vdb", key, "16");
        }
        let run = Run::of(&kernel.file("a"));
        (kernel, run)
    }

    #[test]
    fn each_setting_of_a_device_is_told() {
        let (kernel, run) = kernel();
        assert_eq!(run.told(|| {}), Vec::<String>::new());
        for (key, expected) in SETTINGS {
            let told = run.told(|| kernel.says("vdb", key, "8"));
            assert_eq!(told, [format!("vdb: {expected}")]);
            kernel.says("vdb", key, "16");
        }
        let of_others = run.told(|| kernel.says("vdb", "queue/stable_writes", "1"));
        assert_eq!(of_others, Vec::<String>::new());
        let silent = run.told(|| kernel.says("vdb", "queue/nomerges", ""));
        assert_eq!(silent, ["vdb: nomerges was `16`, is nothing"]);
        let spoken = run.told(|| kernel.says("vdb", "queue/nomerges", "2"));
        assert_eq!(spoken, ["vdb: nomerges was nothing, is `2`"]);
        // Of the schedulers that there are, one is in force.
        kernel.says("vdb", "queue/scheduler", "[none] mq-deadline");
        let chosen = run.told(|| kernel.says("vdb", "queue/scheduler", "none [mq-deadline]"));
        assert_eq!(chosen, ["vdb: scheduler was `none`, is `mq-deadline`"]);
    }

    /// A queue of another scheduler has another length.
    #[test]
    fn what_a_scheduler_of_the_runs_own_brings_is_no_change() {
        let (kernel, mut run) = kernel();
        run.job().features.process.scheduler = Some("none".to_owned());
        for (key, expected) in SETTINGS {
            let told = run.told(|| kernel.says("vdb", key, "8"));
            let is_own = ["queue/scheduler", "queue/nr_requests"].contains(&key);
            let expected = (!is_own).then(|| format!("vdb: {expected}"));
            assert_eq!(told, Vec::from_iter(expected));
            kernel.says("vdb", key, "16");
        }
    }

    #[test]
    fn a_device_that_is_gone_is_told_as_that_alone() {
        let (kernel, run) = kernel();
        assert_eq!(run.told(|| kernel.remove("vdb")), ["vdb is gone"]);
    }

    /// A volume of two disks, one of them through a partition, and a third that is none of it.
    #[test]
    fn the_devices_below_are_looked_at_once() {
        let kernel = Kernel::new("ext4");
        let number = |text: &str| DeviceNumber::parse(text).unwrap();
        kernel.device("dm-0", kernel.number_of_files());
        let vda = kernel.device("vda", number("4001:0"));
        kernel.part(&vda, "vda1", number("4001:1"));
        kernel.device("vdb", number("4001:16"));
        kernel.device("vdc", number("4001:32"));
        kernel.made_of("dm-0", "vda1");
        kernel.made_of("dm-0", "vdb");
        let mut run = Run::of(&kernel.file("a"));
        let other = Run::of(&kernel.file("b"));
        run.targets.objects.extend(other.targets.objects);
        let before = Standing::now(&run.workload, &run.targets);
        for device in ["dm-0", "vda", "vda1", "vdb", "vdc"] {
            kernel.says(device, "ro", "1");
        }
        let told = ["dm-0", "vda", "vdb"].map(|name| format!("{name}: ro was nothing, is `1`"));
        // Two files that lie on them tell it once.
        assert_eq!(before.changes(), [Some(told.to_vec()), Some(Vec::new())]);
    }

    /// One file is on a partition, and another on a file system of its own, such as that of `/proc` here.
    #[test]
    fn each_file_system_and_the_whole_of_a_partition_are_looked_at() {
        let kernel = Kernel::new("ext4");
        let there = fs::metadata("/proc/version").unwrap().dev();
        let disk = kernel.device("vda", DeviceNumber::parse("4001:0").unwrap());
        kernel.part(&disk, "vda1", kernel.number_of_files());
        kernel.device("vdb", DeviceNumber::from_packed(there));
        let mut run = Run::of(&kernel.file("a"));
        let other = Run::of(Path::new("/proc/version"));
        run.targets.objects.extend(other.targets.objects);
        let before = Standing::now(&run.workload, &run.targets);
        kernel.says("vda", "ro", "1");
        kernel.says("vdb", "ro", "1");
        let told = ["vda", "vdb"].map(|name| Some(vec![format!("{name}: ro was nothing, is `1`")]));
        assert_eq!(before.changes(), told);
    }

    #[test]
    fn another_mount_over_the_same_place_is_told() {
        let kernel = Kernel::new("ext4");
        let number = kernel.number_of_files();
        let file = kernel.file("a");
        let place = fs::canonicalize(file.parent().unwrap()).unwrap();
        let (run, place) = (Run::of(&file), place.display());
        let line = |number: &str, place: &str, options: &str, system: &str| {
            format!("1 0 {number} / {place} {options} - ext4 none {system}")
        };
        let own = number.to_string();
        let first = line(&own, "/", "rw", "rw");
        let check = |now: String, expected: Option<String>| {
            kernel.mounts(&first);
            let told = run.told(|| kernel.mounts(&now));
            assert_eq!(told, Vec::from_iter(expected));
        };
        let elsewhere = |at: &str| {
            Some(format!(
                "{place} is on another file system than at the start (ext4 at {at}, was ext4 at /)"
            ))
        };
        check(first.clone(), None);
        check(line("4001:7", "/", "rw", "rw"), elsewhere("/"));
        let over = place.to_string();
        check(line(&own, &over, "rw", "rw"), elsewhere(&over));
        let told = |what: &str| Some(format!("/: {what} were `rw`, are `ro`"));
        check(line(&own, "/", "ro", "rw"), told("mount options"));
        check(
            line(&own, "/", "rw", "ro"),
            told("options of the file system"),
        );
        // What nobody tells is no finding.
        check(String::new(), None);
    }

    #[test]
    fn a_file_of_the_same_number_elsewhere_is_another() {
        let kernel = Kernel::new("ext4");
        let run = Run::of(&kernel.file("a"));
        let mut before = Standing::now(&run.workload, &run.targets);
        let mut told_with = |change: fn(&mut u64, &mut u64, &mut u64)| {
            let stand = before.objects[0].as_mut().unwrap();
            let kept = stand.leads_to;
            if let LeadsTo::File {
                device,
                inode,
                size,
            } = &mut stand.leads_to
            {
                change(device, inode, size);
            }
            let told = stand.changes();
            stand.leads_to = kept;
            told.len()
        };
        assert_eq!(told_with(|_, _, _| {}), 0);
        assert_eq!(told_with(|device, _, _| *device += 1), 1);
        assert_eq!(told_with(|_, inode, _| *inode += 1), 1);
        assert_eq!(told_with(|_, _, size| *size += 1), 1);
        // Others may write to it and make it longer.
        assert_eq!(told_with(|_, _, size| *size -= 1), 0);
    }

    /// Whether a file that is put in another's place is told, of a job that is changed so.
    fn is_told(change: fn(&mut Job)) -> bool {
        let kernel = Kernel::new("ext4");
        let (path, other) = (kernel.file("a"), kernel.file("b"));
        let mut run = Run::of(&path);
        change(run.job());
        !run.told(|| fs::rename(&other, &path).unwrap()).is_empty()
    }

    #[test]
    fn files_that_a_job_may_replace_are_not_looked_at() {
        assert!(is_told(|_| {}));
        assert!(!is_told(|job| job.features.files.made_anew = true));
        assert!(!is_told(|job| {
            job.features.operation = Some(FileOperation::Delete);
        }));
        assert!(!is_told(|job| {
            let work = FileWork::new(FileTask::Create);
            job.features.file_work = Some(Box::new(work));
        }));
        assert!(!is_told(|job| {
            job.features.process.command_before = Some("true".to_owned());
        }));
        assert!(!is_told(|job| {
            job.features.process.command_after = Some("true".to_owned());
        }));
        // What another job does with its own files says nothing of these.
        let kernel = Kernel::new("ext4");
        let (path, other) = (kernel.file("a"), kernel.file("b"));
        let mut run = Run::of(&path);
        let mut second = run.job().clone();
        second.features.process.command_after = Some("true".to_owned());
        run.workload.stages[0].jobs.push(second);
        run.targets.jobs.push(JobTargets {
            objects: Vec::new(),
            ranges: Vec::new(),
        });
        let told = run.told(|| fs::rename(&other, &path).unwrap());
        assert_eq!(told.len(), 1, "{told:?}");
    }
}
