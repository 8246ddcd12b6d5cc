//! What the volumes of one machine take: names, mounts, and places for data disks.
//!
//! Volumes are counted here before it is known whether the rest of them is right, so that a mistake in one value of a
//! volume does not hide what is wrong with its name, its mount or the number of disks.

use fathom_catalog::VmSize;

use super::names::expand;
use super::too_many;
use super::values::mount_of;
use crate::design::Mount;
use fathom_tables::{At, Complaints, Entry};

/// What the volumes read so far take.
#[derive(Default)]
pub(super) struct Seen {
    places: Vec<(String, Mount)>,
    data_disks: u64,
}

impl Seen {
    /// The names and mounts that the two texts stand for; those that are taken are told.
    pub fn places(
        &mut self,
        entry: &Entry<'_>,
        name_and_mount: [&At<&str>; 2],
        complaints: &mut Complaints<'_>,
    ) -> Vec<(String, Mount)> {
        let before = self.places.len();
        for [name, mount] in expand(name_and_mount, complaints) {
            if too_many(self.places.len() + 1, entry, complaints) {
                break;
            }
            let Some(mount) = mount_of(&mount, entry, complaints) else {
                continue;
            };
            let mut others = self.places.iter();
            if others.any(|(taken, place)| *taken == name || *place == mount) {
                let message = format!("the name `{name}` or the mount `{mount}` is taken");
                complaints.error(&entry.span(), message, "both are unique within a machine");
            }
            self.places.push((name, mount));
        }
        self.places[before..].to_vec()
    }

    /// Counts the data disks of `entry`: the first that take them beyond what the machine has room for are told.
    pub fn add_data_disks(
        &mut self,
        entry: &Entry<'_>,
        disks: u64,
        size: Option<&VmSize>,
        complaints: &mut Complaints<'_>,
    ) {
        let already = self.data_disks;
        self.data_disks += disks;
        let Some(size) = size else { return };
        let most = u64::from(size.max_data_disks);
        if already > most || self.data_disks <= most {
            return;
        }
        let message = format!(
            "{} data disks with this, but `{}` takes at most {most}",
            self.data_disks, size.name
        );
        let hint = "use fewer disks or a larger machine";
        complaints.error(&entry.span(), message, hint);
    }
}
