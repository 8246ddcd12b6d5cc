//! What is served: the design as it is read, its exports, the storage model of it, and what holds their bytes.

use std::path::Path;

use fathom_catalog::Catalog;
use fathom_model::{Design, Layout, Storage};
use fathom_session::{Code, Console, Failure, read_text, tell_warnings};
use fathom_units::Bytes;

use crate::args::ServeArgs;
use crate::backing::{BackingError, Disk, Medium};
use crate::budget::Budget;
use crate::exports::{EXPORTS_MOST, ExportTable};

pub(super) fn read(path: &Path, console: &dyn Console) -> Result<(Design, String), Failure> {
    let name = path.display().to_string();
    let text = read_text("the design ", path)?;
    let (design, warnings) = Design::read(&text, &name, Catalog::builtin())?;
    tell_warnings(&warnings, console);
    Ok((design, text))
}

pub(super) fn tables(design: &Design) -> Result<(ExportTable, Layout), Failure> {
    let count = design.volume_count();
    if count == 0 || count > EXPORTS_MOST {
        let message = format!("the design has {count} volumes; 1 to {EXPORTS_MOST} can be served");
        return Err(Failure::new(Code::Input, message));
    }
    ExportTable::new(design).map_err(|overfull| {
        let names = overfull.iter().map(|one| design.volume_name(one.volume));
        let names = names.collect::<Vec<_>>().join(", ");
        Failure::new(Code::Input, format!("these volumes have no room: {names}"))
    })
}

pub(super) fn model(design: &Design, layout: &Layout, seed: u64) -> Result<Storage, Failure> {
    let storage = Storage::new(design, layout, seed);
    let mut storage = storage.map_err(|error| Failure::new(Code::Input, error))?;
    for volume in design.volume_ids() {
        if design.starts_warm(volume) {
            storage.warm(volume, 0, design.capacity(volume).get());
        }
    }
    Ok(storage)
}

pub(super) fn disks(
    args: &ServeArgs,
    exports: &ExportTable,
) -> Result<(Vec<Disk>, Budget), Failure> {
    let medium = if args.backing == "mem" {
        Medium::Memory
    } else {
        let directory = Path::new(&args.backing);
        if !directory.is_dir() {
            let message = format!("the backing `{}` is no directory", args.backing);
            return Err(Failure::new(Code::Input, message)
                .hint("make it, or serve from memory with `--backing mem`"));
        }
        Medium::Directory(directory.to_owned())
    };
    let disks = exports.exports.iter().map(|export| {
        let disk = Disk::new(&medium, &export.name, export.size);
        disk.map_err(|error| no_bytes(error, &medium))
    });
    let disks = disks.collect::<Result<Vec<_>, _>>()?;
    let memory = args.memory.unwrap_or_else(available_memory);
    if memory.get() < crate::allocation::BLOCK {
        let message = format!("`--memory` of {memory} holds no block of a volume, which has 4 KiB");
        return Err(Failure::new(Code::Usage, message)
            .hint("give so much as clients are to write, such as `--memory 4GiB`"));
    }
    Ok((disks, Budget::new(memory.get() / crate::allocation::BLOCK)))
}

/// A volume that could not be given its bytes, and what to do about it.
fn no_bytes(error: BackingError, medium: &Medium) -> Failure {
    let hint = match (&error, medium) {
        (BackingError::File { .. }, Medium::Memory) => {
            Some("give the volume less capacity, or serve from files with `--backing DIR`")
        }
        (BackingError::File { source, .. }, _)
            if source.kind() == std::io::ErrorKind::FileTooLarge =>
        {
            Some(
                "name a directory whose file system has such large files, or give the volume less capacity",
            )
        }
        (BackingError::File { .. }, _) => Some(
            "name a directory with `--backing` in which files of this user can be made and written",
        ),
        _ => None,
    };
    let code = match error {
        BackingError::Storage { .. } => Code::Refused,
        _ => Code::Target,
    };
    let failure = Failure::new(code, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Three quarters of the memory that is available.
fn available_memory() -> Bytes {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    // Where the kernel does not tell: so much that small designs work.
    Bytes::kib(kib.unwrap_or(4 << 20) / 4 * 3)
}
