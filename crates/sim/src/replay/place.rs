//! Where in a design the I/O of a trace goes: a volume for each name of the trace.
//!
//! A name may be that of a volume, as `VM/VOLUME` or `VOLUME`, and then an offset is one of the volume. It may be a path under a
//! volume's mount, as in traces of files: then the files lie one behind the other, in the order in which the trace names them.
//! And where a trace has one name and a design one volume, they belong together whatever the name.

use fathom_model::{AnyVolume, ClientId, Design, Mount, VolumeId};
use fathom_units::Bytes;
use fathom_workload::trace::ServedEntry;

use super::Replayed;
use super::volume::Counts;

/// Where files begin.
const ALIGNMENT: u64 = 4096;
/// Most volumes that are told.
const MOST_NAMED: usize = 20;

/// Where the I/O of one name of a trace goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Which of the volumes found.
    pub volume: usize,
    /// Where its first byte lies in the volume.
    pub start: u64,
    /// End of its farthest byte, from its own first one.
    pub end: u64,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    /// Every volume that is used.
    pub volumes: Vec<Replayed>,
    /// By each name of the trace.
    pub places: Vec<Place>,
}

/// A name of the trace so far.
struct Named {
    /// `None`: nothing in the design is meant, which was told.
    volume: Option<usize>,
    is_file: bool,
    end: u64,
}

/// What is found while a trace is read.
pub(super) struct Places<'a> {
    design: &'a Design,
    volumes: Vec<Replayed>,
    names: Vec<Named>,
    /// A name that no volume has, of which it is not known yet whether it is the only one.
    alone: Option<String>,
}

impl<'a> Places<'a> {
    pub fn new(design: &'a Design) -> Self {
        Self {
            design,
            volumes: Vec::new(),
            names: Vec::new(),
            alone: None,
        }
    }

    /// How many names were looked for.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Looks for the next name of the trace.
    ///
    /// # Errors
    /// A sentence on why no volume is meant.
    pub fn look_for(&mut self, name: &str) -> Result<(), String> {
        let only_volume = self.design.volume_count() == 1;
        let (found, told) = match located(name, self.design) {
            Ok((id, is_file)) => (Some((id, is_file)), Ok(())),
            Err(_) if only_volume && self.names.is_empty() => {
                self.alone = Some(name.to_owned());
                (
                    self.design.volume_ids().next().map(|id| (id, false)),
                    Ok(()),
                )
            }
            Err(message) => (None, Err(message)),
        };
        let volume = found.map(|(id, _)| self.place_among(id));
        self.names.push(Named {
            volume,
            is_file: found.is_some_and(|(_, is_file)| is_file),
            end: 0,
        });
        match self.alone.take_if(|_| self.names.len() > 1) {
            Some(first) => Err(located(&first, self.design).err().unwrap_or_default()),
            None => told,
        }
    }

    /// Another I/O of the trace, whose name was looked for.
    ///
    /// # Errors
    /// A sentence on why the volume does not hold it.
    pub fn add(&mut self, entry: &ServedEntry) -> Result<(), String> {
        let named = &mut self.names[entry.volume as usize];
        let Some(replayed) = named.volume.and_then(|place| self.volumes.get_mut(place)) else {
            return Ok(());
        };
        let end = entry.offset + u64::from(entry.length);
        named.end = named.end.max(end);
        let capacity = self.design.capacity(replayed.volume);
        replayed.counts.add(entry, capacity)
    }

    /// Every name in its place.
    ///
    /// # Errors
    /// A sentence on a volume that does not hold the files on it together.
    pub fn placed(mut self) -> Result<Found, String> {
        let mut used = vec![0_u64; self.volumes.len()];
        let mut places = Vec::with_capacity(self.names.len());
        for named in &self.names {
            let Some(volume) = named.volume else {
                continue;
            };
            let mut start = 0;
            if named.is_file {
                start = used[volume];
                let end = start.saturating_add(named.end);
                used[volume] = end.div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT);
                let replayed = &mut self.volumes[volume];
                replayed.counts.end = replayed.counts.end.max(end);
            }
            places.push(Place {
                volume,
                start,
                end: named.end,
            });
        }
        for replayed in &self.volumes {
            let capacity = self.design.capacity(replayed.volume);
            if replayed.counts.end > capacity.get() {
                let needed = Bytes::new(replayed.counts.end);
                let name = &replayed.name;
                return Err(format!(
                    "its files on `{name}` have {needed} together, and the volume has {capacity}"
                ));
            }
        }
        Ok(Found {
            volumes: self.volumes,
            places,
        })
    }

    /// Where a volume stands among those found so far, which it joins if it is new.
    fn place_among(&mut self, volume: VolumeId) -> usize {
        let known = self.volumes.iter().position(|one| one.volume == volume);
        known.unwrap_or_else(|| {
            let design = self.design;
            // Of several machines that mount it the first stands for whoever it was.
            let client = design.client_of(None, volume).ok().or_else(|| {
                let clients = design.volume(volume)?.network_clients();
                clients.first().map(|client| client.id)
            });
            self.volumes.push(Replayed {
                volume,
                client: client.unwrap_or(ClientId::NONE),
                name: design.volume_name(volume),
                counts: Counts::default(),
            });
            self.volumes.len() - 1
        })
    }
}

/// The volume of a design that a trace calls `name`, and whether the name is that of a file on it.
fn located(name: &str, design: &Design) -> Result<(VolumeId, bool), String> {
    let volumes: Vec<VolumeId> = design.volume_ids().collect();
    let whole = volumes.iter().find(|id| design.volume_name(**id) == name);
    let mut alone = volumes
        .iter()
        .filter(|id| design.volume(**id).map(AnyVolume::name) == Some(name));
    match (whole, alone.next(), alone.next()) {
        (Some(volume), _, _) | (None, Some(volume), None) => return Ok((*volume, false)),
        (None, Some(_), Some(_)) => {
            return Err(format!(
                "several machines have a volume `{name}`; the trace must say whose (`VM/{name}`)"
            ));
        }
        (None, None, _) => {}
    }
    if let Ok(volume) = design.locate(None, name) {
        let mount = design.volume(volume).map(AnyVolume::mount);
        let is_mount = matches!(mount, Some(Mount::Path(mount)) if mount == name);
        return Ok((volume, !is_mount));
    }
    let names = volumes.iter().take(MOST_NAMED);
    let names: Vec<_> = names
        .map(|id| format!("`{}`", design.volume_name(*id)))
        .collect();
    let names = names.join(", ");
    Err(format!("the design has no volume `{name}`; it has {names}"))
}
