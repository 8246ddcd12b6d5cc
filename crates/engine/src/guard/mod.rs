//! The write guard: decides whether a target may be written to, before anything is.
//!
//! Reading is always allowed. Writing to a block device must be asked for by a name that no other device has, and is
//! refused even then while anything uses the device, a part of it, or the whole that it is a part of. An export of an NBD
//! server is asked for by its URI. A guard descriptor
//! opened with `O_EXCL` is then kept for the whole run, so that nothing can begin to use the device meanwhile.
//!
//! A regular file that is the storage of something else (an active swap file, the file of a loop device that is attached, be it
//! used or not, the image that a file system is mounted from) is neither written to nor removed: it is freed first.
//!
//! Results, which is all that a run writes beside its I/O, go to no block device and to no such file at all
//! ([`refuse_results`]).
//!
//! What the kernel says of devices also tells which targets are no storage at all ([`memory_under`]).
//!
//! Invariants: nothing here writes; there is no way around it but to free the device.

mod below;
mod device;
mod export;
mod firmware_raid;
mod kernel;
mod memory;
mod mounts;
mod names;
mod reducing;
mod results;
mod signature;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use fathom_rawio::{self as rawio, Access, Caching, Durability, FileUse, FilesInUse, OpenHow};

pub(crate) use below::Below;
pub(crate) use device::{BlockDevice, DeviceNumber, all_devices};
pub(crate) use export::judge_export;
#[cfg(test)]
pub(crate) use kernel::made;
pub(crate) use memory::memory_under;
pub(crate) use mounts::{Mount, Pool, mount_over};
pub(crate) use reducing::{reducing_file, reducing_under};
pub use results::refuse_results;
pub(crate) use results::{judge_results_of, unwritten};

use fathom_workload::Place;

use crate::{EngineError, Refusal};

/// A block device that may be written to, held for this run alone.
#[derive(Debug)]
pub(crate) struct HeldDevice {
    _descriptor: File,
}

/// A block device that nothing uses.
#[derive(Debug)]
pub(crate) struct FreeDevice {
    /// What `--destroy-data` takes for it.
    pub(crate) name: String,
    /// The file system on it.
    pub(crate) file_system: Option<&'static str>,
    device: BlockDevice,
}

/// The block device at `path`, where nothing forbids writing to it but that nobody asked for it.
///
/// # Errors
/// What was found that forbids it.
pub(crate) fn free_device(path: &str, number: DeviceNumber) -> Result<FreeDevice, Refusal> {
    let refuse = |found: Vec<String>, remedy: String| Refusal {
        path: path.to_owned(),
        found,
        remedy,
    };
    let device = BlockDevice::find(number).map_err(|error| {
        let found = format!("the kernel tells nothing of device {number}: {error}");
        refuse(vec![found], "use a device that sysfs knows".to_owned())
    })?;
    let (mut found, file_system) = findings(&device);
    let name = device.destroy_names().swap_remove(0);
    if !found.is_empty() {
        found.dedup();
        let remedy = format!(
            "nothing was written; were it free, writing to it would need `--destroy-data={name}`"
        );
        return Err(refuse(found, remedy));
    }
    Ok(FreeDevice {
        name,
        file_system,
        device,
    })
}

/// Whether the block device at `path` may be written to, given the names of `--destroy-data`; yields what should be said
/// about it.
///
/// # Errors
/// What was found that forbids it.
pub(crate) fn judge_device(
    path: &str,
    number: DeviceNumber,
    destroy_data: &[String],
) -> Result<Option<String>, Refusal> {
    let FreeDevice {
        name,
        file_system,
        device,
    } = free_device(path, number)?;
    let asked = destroy_data.iter().any(|name| device.is_meant_by(name));
    if !asked {
        let mut found = vec![
            "it is free, but writing to it destroys what it holds, and nobody asked for that"
                .to_owned(),
        ];
        found.extend(file_system.map(|kind| format!("it holds a file system ({kind})")));
        found.extend(destroy_data.iter().map(|other| unnamed(&device, other)));
        return Err(Refusal {
            path: path.to_owned(),
            found,
            remedy: format!("to destroy all data of `{path}`, add `--destroy-data={name}`"),
        });
    }
    Ok(file_system.map(|kind| {
        format!("`{path}` held a file system ({kind}), which the run destroys, as asked for")
    }))
}

/// Why `name` of `--destroy-data` allows nothing on a device.
fn unnamed(device: &BlockDevice, name: &str) -> String {
    let sharing = device.sharing(name);
    if sharing.is_empty() {
        return format!("`--destroy-data={name}` does not name it");
    }
    format!(
        "`--destroy-data={name}` names no device: it is the serial number of {}",
        sharing.join(", ")
    )
}

/// Whether `name` of `--destroy-data` means the block device at `path`, or the export with that URI.
pub fn means_device(name: &str, path: &Path) -> bool {
    if path.to_str() == Some(name) && Place::Path(name.to_owned()).is_export() {
        return true;
    }
    let number = DeviceNumber::of_device(path);
    let device = number.and_then(|number| BlockDevice::find(number).ok());
    device.is_some_and(|device| device.is_meant_by(name))
}

/// Everything that forbids writing to a device, and the file system on it.
pub(crate) fn findings(device: &BlockDevice) -> (Vec<String>, Option<&'static str>) {
    let mounts = mounts::mounts();
    let swaps = rawio::active_swap_areas();
    let mut found = in_use(device, "it", &mounts, &swaps);
    let partitions = device.partitions();
    for part in &partitions {
        let subject = format!("its partition {}", part.name);
        found.extend(in_use(part, &subject, &mounts, &swaps));
        found.extend(signatures_of(part, &subject).unwrap_or_default().0);
    }
    if !partitions.is_empty() {
        let names: Vec<_> = partitions.iter().map(|part| part.name.as_str()).collect();
        found.push(format!("it is partitioned ({})", names.join(", ")));
    }
    if let Some(parent) = device.parent() {
        let subject = format!("its disk {}", parent.name);
        found.extend(in_use(&parent, &subject, &mounts, &swaps));
    }
    let mut file_system = None;
    match signatures_of(device, "it") {
        Ok((grave, kind)) => {
            found.extend(grave);
            file_system = kind;
        }
        Err(error) => found.push(format!("it cannot be read to see what it holds: {error}")),
    }
    (found, file_system)
}

fn in_use(
    device: &BlockDevice,
    subject: &str,
    mounts: &[Mount],
    swaps: &[std::path::PathBuf],
) -> Vec<String> {
    let mounted = mounts.iter().filter(|mount| mount.is_on(device.number));
    let mut found: Vec<_> = mounted
        .map(|mount| format!("{subject} is mounted at {}", mount.place))
        .collect();
    if found.is_empty() {
        let pools = mounts::pools().into_iter();
        let pools = pools.filter(|pool| pool.devices.contains(&device.number));
        found.extend(pools.map(|Pool { id, .. }| {
            format!("{subject} holds a part of the Btrfs {id}, which is mounted")
        }));
    }
    let is_swap = |area: &std::path::PathBuf| {
        DeviceNumber::of_device(area).is_some_and(|number| number == device.number)
    };
    if swaps.iter().any(is_swap) {
        found.push(format!("{subject} is in use as swap"));
    }
    for holder in device.holders() {
        found.push(format!("{subject} is held by {holder}"));
    }
    found
}

fn signatures_of(
    device: &BlockDevice,
    subject: &str,
) -> io::Result<(Vec<String>, Option<&'static str>)> {
    let file = rawio::open(&device.special_file(), OpenHow::LOOK)?;
    if number_of(&file)? != device.number {
        return Err(io::Error::other(
            "its special file belongs to another device",
        ));
    }
    let size = rawio::size_of(&file)?.get();
    let found = signature::find(&file, size)?;
    let grave = found.grave.iter();
    let grave = grave.map(|what| format!("{subject} bears the signature of {what}"));
    Ok((grave.collect(), found.file_system))
}

/// What is said of a device that somebody has for himself without a trace in sysfs or in what is mounted here.
const HELD: &str = "the kernel says that it is in use (a mount elsewhere, RAID, or another run)";
/// What to do about that.
const FREE_IT: &str = "free it first; `lsblk` and `fuser -v` show what uses it";

/// Why the device at `path` cannot be taken for a run alone, if so; it is not kept, and not opened for writing.
///
/// For that moment nobody else can take it: a `mount` that comes just then is told that the device is busy. It is asked all the
/// same, as the last thing, of a device that nothing else forbids to use: what another container has mounted, another run
/// holds, or a pool of ZFS has is in neither sysfs nor the mounts and swap areas of this process's view, and to say of that
/// device that a run may write there would be wrong.
pub(crate) fn refuse_held(path: &str) -> Option<Refusal> {
    let how = OpenHow {
        access: Access::ExclusiveLook,
        ..OpenHow::LOOK
    };
    let error = rawio::open(Path::new(path), how).err()?;
    (error.kind() == io::ErrorKind::ResourceBusy).then(|| Refusal {
        path: path.to_owned(),
        found: vec![HELD.to_owned()],
        remedy: FREE_IT.to_owned(),
    })
}

/// Takes the device for this run alone, and makes sure that it is still the one that was judged.
///
/// # Errors
/// [`EngineError::Refused`] where something uses it, or where the path leads to another device by now.
pub(crate) fn hold_device(path: &str, number: DeviceNumber) -> Result<HeldDevice, EngineError> {
    let how = OpenHow {
        access: Access::ExclusiveDevice,
        caching: Caching::Buffered,
        durability: Durability::None,
    };
    let refuse = |found: &str| {
        EngineError::Refused(vec![Refusal {
            path: path.to_owned(),
            found: vec![found.to_owned()],
            remedy: FREE_IT.to_owned(),
        }])
    };
    let file = rawio::open(Path::new(path), how).map_err(|error| {
        if error.kind() == io::ErrorKind::ResourceBusy {
            refuse(HELD)
        } else {
            EngineError::target(path, "opening it for writing", error)
        }
    })?;
    check_device(path, &file, number)?;
    Ok(HeldDevice { _descriptor: file })
}

/// Makes sure that an opened device is the one that was judged.
///
/// # Errors
/// [`EngineError::Refused`] where it is not.
pub(crate) fn check_device(
    path: &str,
    file: &File,
    number: DeviceNumber,
) -> Result<(), EngineError> {
    let found = number_of(file).map_err(|error| EngineError::target(path, "looking", error))?;
    if found == number {
        return Ok(());
    }
    Err(EngineError::Refused(vec![Refusal {
        path: path.to_owned(),
        found: vec![format!(
            "the path led to device {number} when it was checked, and leads to {found} now"
        )],
        remedy: "name the device by a path under /dev/disk/by-id, which does not move".to_owned(),
    }]))
}

fn number_of(file: &File) -> io::Result<DeviceNumber> {
    let metadata = file.metadata()?;
    if metadata.file_type().is_block_device() {
        Ok(DeviceNumber::from_packed(metadata.rdev()))
    } else {
        Err(io::Error::other("it is no block device"))
    }
}

/// Why the regular file at `path` may not be written to or removed, whoever made it: it is the storage of something else.
/// `remedy` is what is said besides how it becomes free.
pub(crate) fn file_in_use(
    path: &Path,
    named: &str,
    remedy: &str,
    in_use: &FilesInUse,
) -> Option<Refusal> {
    let uses = in_use.uses_of(&fs::metadata(path).ok()?);
    let mut found = Vec::new();
    for other in &uses {
        found.push(other.to_string());
        if let FileUse::LoopDevice(name) = other {
            found.extend(uses_of_loop_device(name));
        }
    }
    let mut remedies: Vec<_> = uses.iter().map(FileUse::remedy).collect();
    remedies.push(remedy.to_owned());
    (!uses.is_empty()).then(|| Refusal {
        path: named.to_owned(),
        found,
        remedy: remedies.join("; "),
    })
}

/// What uses a loop device and its partitions.
fn uses_of_loop_device(name: &str) -> Vec<String> {
    let Ok(device) = BlockDevice::named(name) else {
        return Vec::new();
    };
    let (mounts, swaps) = (mounts::mounts(), rawio::active_swap_areas());
    let mut found = Vec::new();
    for part in std::iter::once(&device).chain(&device.partitions()) {
        found.extend(in_use(part, &part.name, &mounts, &swaps));
    }
    found
}

/// The whole block device that holds the file system or device at `path`; `None` where no block device does, or several do.
pub(crate) fn whole_device_under(path: &Path) -> Option<BlockDevice> {
    let device = device_under(path, &fs::metadata(path).ok()?)?;
    Some(device.parent().unwrap_or(device))
}

/// The whole block devices that hold the file system or device at `path`; none where no block device does.
pub(crate) fn whole_devices_under(path: &Path) -> Vec<BlockDevice> {
    if let Some(device) = whole_device_under(path) {
        return vec![device];
    }
    let sources = mounts::sources_under(path).into_iter();
    let found = sources.filter_map(|number| BlockDevice::find(number).ok());
    found
        .map(|device| device.parent().unwrap_or(device))
        .collect()
}

/// The block device at `path`, or the one that the file or directory there is on.
fn device_under(path: &Path, found: &fs::Metadata) -> Option<BlockDevice> {
    if found.file_type().is_block_device() {
        return BlockDevice::find(DeviceNumber::from_packed(found.rdev())).ok();
    }
    let by_number = BlockDevice::find(DeviceNumber::from_packed(found.dev())).ok();
    by_number.or_else(|| BlockDevice::find(mounts::source_under(path)?).ok())
}
