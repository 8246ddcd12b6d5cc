//! From the text of a design file to a checked design.
//!
//! One file reads one kind of table; `values` holds what they share. Reading goes on after a mistake, so that
//! all of them come out at once, each pointing to its place.

mod clients;
mod device;
mod disks;
mod globs;
mod host_cache;
mod names;
mod nfs;
mod rules;
mod seen;
mod share_limits;
mod smb;
mod values;
mod vm;
mod volume;

use fathom_catalog::Catalog;
use fathom_diagnostics::Diagnostics;
use fathom_tables::{Complaints, Entry, document};
use fathom_units::Bytes;

pub use rules::{CachedDisk, Obstacle, caching_obstacle};

use super::{AnyVolume, Design, notes};

/// Largest design file.
const LARGEST: Bytes = Bytes::mib(4);
/// Most machines and most volumes (devices counted), so that ranges of names within ranges cannot fill the memory.
const MOST_PARTS: usize = 10_000;

impl Design {
    /// Reads a design. `file` names it in complaints.
    ///
    /// Gives the design and its warnings.
    ///
    /// # Errors
    ///
    /// All complaints at once, at least one of them an error.
    pub fn read(
        text: &str,
        file: &str,
        catalog: &Catalog,
    ) -> Result<(Self, Diagnostics), Diagnostics> {
        let parsed = document(text, file, ("design", LARGEST))?;
        let mut complaints = Complaints::new(file, text);
        let span = parsed.span();
        let top = Entry::new("a design", parsed.get_ref(), &span);
        top.check_keys(&["vm", "device", "nfs", "smb"], &mut complaints);
        let mut design = Self::default();
        for entry in top.tables("vm", "a machine", &mut complaints) {
            vm::read(&entry, catalog, &mut design, &mut complaints);
        }
        for entry in top.tables("device", "a device", &mut complaints) {
            device::read(&entry, catalog, &mut design, &mut complaints);
        }
        for entry in top.tables("nfs", "an NFS volume", &mut complaints) {
            nfs::read(&entry, catalog, &mut design, &mut complaints);
        }
        for entry in top.tables("smb", "a share", &mut complaints) {
            smb::read(&entry, catalog, &mut design, &mut complaints);
        }
        if design.volume_count() == 0 && !complaints.found.has_errors() {
            let message = "the design has no volume, no device and no share";
            complaints.error(&(0..0), message, "add a `[[vm]]` with a `[[vm.volume]]`");
        }
        if complaints.found.has_errors() {
            return Err(complaints.in_order());
        }
        design.notes = notes::notes(&design, &complaints.notes);
        Ok((design, complaints.found))
    }
}

/// Complains where `parts` are more than a design may have; once is enough.
fn too_many(parts: usize, entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> bool {
    let over = parts > MOST_PARTS;
    if over && !complaints.full {
        complaints.full = true;
        let message = format!("the design has more than {MOST_PARTS} machines or volumes");
        complaints.error(
            &entry.span(),
            message,
            "shorten the ranges in names, or split the design",
        );
    }
    over
}

/// Complains of a name that another part of the design has.
fn check_name(entry: &Entry<'_>, name: &str, design: &Design, complaints: &mut Complaints<'_>) {
    if is_taken(design, name) {
        let message = format!("the name `{name}` is taken");
        complaints.error(&entry.span(), message, "names are unique within a design");
    }
}

fn is_taken(design: &Design, name: &str) -> bool {
    let mut vms = design.vms.iter().map(|vm| &vm.name);
    let others = || {
        design
            .volumes()
            .skip_while(|one| matches!(one, AnyVolume::Disks(..)))
    };
    vms.any(|taken| taken == name) || others().any(|one| one.name() == name)
}
