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
