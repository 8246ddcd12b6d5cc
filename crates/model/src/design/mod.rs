//! The design: machines, volumes and devices, as the design file describes them.
//!
//! Reading resolves every name against the catalogue and checks every rule at once, so that whatever holds a [`Design`]
//! need not ask again.
//!
//! Invariants: names are unique; mounts are unique within a machine; a cached volume's disks can be cached and its
//! machine has a cache; columns divide the disks of a volume.

mod entry;
mod json;
mod names;
mod read;
mod rules;
mod volume;

use fathom_catalog::{Disk, Limits, VmSize};
use fathom_units::{Bytes, Nanos};

/// A storage system.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Machines, in order.
    pub vms: Vec<Vm>,
    /// Devices known by their figures alone.
    pub devices: Vec<Device>,
    /// What a reader of predictions should know about this design, one sentence each.
    pub notes: Vec<String>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Vm {
    /// Unique among machines and devices.
    pub name: String,
    /// Its size, with limits.
    pub size: &'static VmSize,
    /// Its data volumes.
    pub volumes: Vec<Volume>,
}

/// A volume of equal disks.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    /// Unique within its machine.
    pub name: String,
    /// How paths find it.
    pub mount: Mount,
    /// The disks it is made of.
    pub disk: &'static Disk,
    /// How many of them; at least 1.
    pub disk_count: u32,
    /// Disks that stripe units alternate over; divides `disk_count`.
    pub columns: u32,
    /// Bytes that go to one disk before the next.
    pub stripe_unit: Bytes,
    /// Host caching of its disks.
    pub caching: HostCaching,
    /// What the host cache holds at the start.
    pub cache_start: CacheStart,
    /// What it is for.
    pub role: Role,
    /// Latency of its disks' media.
    pub latency: LatencyChoice,
}

/// Anything known by its figures alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Unique among machines and devices.
    pub name: String,
    /// How paths find it.
    pub mount: Mount,
    /// Capacity.
    pub size: Bytes,
    /// Its limits; an absent one is no limit.
    pub limits: Limits,
    /// Latency of its media.
    pub latency: LatencyChoice,
}

/// How paths find a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    /// A directory (or a device file): serves it and everything under it.
    Path(String),
    /// A drive letter such as `E:`.
    Drive(char),
}

/// Host-cache modes that the model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostCaching {
    /// None.
    None,
    /// Reads are cached; writes go to cache and disk.
    ReadOnly,
}

/// What a host cache holds at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheStart {
    /// Nothing.
    #[default]
    Cold,
    /// The workload's target blocks in order of first mention, up to capacity.
    Warm,
}

/// What a volume is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The operating system.
    Os,
    /// Data.
    #[default]
    Data,
    /// A log.
    Log,
}

/// Latency that media add by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LatencyChoice {
    /// None at all.
    None,
    /// Log-normal through two quantiles.
    LogNormal {
        /// Half of the I/Os take no longer.
        median: Nanos,
        /// 99 % of the I/Os take no longer.
        p99: Nanos,
        /// Where the figures come from.
        origin: LatencyOrigin,
    },
}

/// Where latency figures come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyOrigin {
    /// The design says them.
    Design,
    /// The catalogue assumes them from hints.
    Assumed,
    /// The catalogue has them as published.
    Published,
}

/// A volume or device of a design: volumes of machines in order, then devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeId(usize);

impl VolumeId {
    pub(crate) const fn new(index: usize) -> Self {
        Self(index)
    }

    /// Its index among all volumes and devices of the design.
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Why no single volume serves a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// No mount is a prefix of the path.
    #[error("nothing in the design serves `{path}`; it has {}", mounts.join(", "))]
    Unserved {
        /// The path.
        path: String,
        /// Every mount, with its machine.
        mounts: Vec<String>,
        /// A mount that could serve it, for a `--map` line.
        candidate: Option<String>,
    },
    /// Several machines serve it.
    #[error("`{path}` is served by the machines {}", hosts.join(", "))]
    Ambiguous {
        /// The path.
        path: String,
        /// Machines that serve it.
        hosts: Vec<String>,
    },
    /// No machine has this name.
    #[error("the design has no machine `{host}`; it has {}", known.join(", "))]
    UnknownHost {
        /// The name as given.
        host: String,
        /// Machines of the design.
        known: Vec<String>,
    },
}

impl LocateError {
    /// What to do, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Unserved {
                path, candidate, ..
            } => match candidate {
                Some(mount) => format!("map it with `--map {}={mount}`", parent_of(path)),
                None => "add a volume to the design".to_owned(),
            },
            Self::Ambiguous { .. } => "name the machine as the job's host".to_owned(),
            Self::UnknownHost { .. } => "name one of them as the job's host".to_owned(),
        }
    }
}

impl Mount {
    /// Length of the mount where it is a prefix of `path` at a component's end; `None` where it is not.
    fn serves(&self, path: &str) -> Option<usize> {
        match self {
            Self::Path(mount) => {
                let rest = path.strip_prefix(mount.trim_end_matches('/'))?;
                (rest.is_empty() || rest.starts_with('/')).then_some(mount.len())
            }
            Self::Drive(letter) => {
                let mut characters = path.chars();
                let first = characters.next()?;
                let colon = characters.next()? == ':';
                (colon && first.eq_ignore_ascii_case(letter)).then_some(2)
            }
        }
    }
}

impl std::fmt::Display for Mount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => f.write_str(path),
            Self::Drive(letter) => write!(f, "{letter}:"),
        }
    }
}

impl Design {
    /// Number of volumes and devices.
    pub fn volume_count(&self) -> usize {
        self.vms.iter().map(|vm| vm.volumes.len()).sum::<usize>() + self.devices.len()
    }

    /// Every volume and device, in order.
    pub fn volumes(&self) -> impl Iterator<Item = VolumeId> + use<> {
        (0..self.volume_count()).map(VolumeId)
    }

    /// `` `VM/VOLUME` (`/mnt/data`) ``: a volume and how paths find it.
    pub fn mount_in_words(&self, volume: VolumeId) -> String {
        let mount = self.served().nth(volume.0).map(|served| served.mount);
        let mount = mount.map_or_else(String::new, ToString::to_string);
        format!("`{}` (`{mount}`)", self.volume_name(volume))
    }

    /// Bytes that a volume or device holds.
    pub fn capacity(&self, volume: VolumeId) -> Bytes {
        let volumes = self.vms.iter().flat_map(|vm| vm.volumes.iter());
        let volumes = volumes.map(Volume::capacity);
        let mut all = volumes.chain(self.devices.iter().map(|device| device.size));
        all.nth(volume.0).unwrap_or_default()
    }

    /// `VM/VOLUME` or `DEVICE`.
    pub fn volume_name(&self, volume: VolumeId) -> String {
        self.served()
            .nth(volume.0)
            .map_or_else(String::new, |served| match served.host {
                Some(host) => format!("{host}/{}", served.name),
                None => served.name.to_owned(),
            })
    }

    /// Whether a volume's cache starts with the workload's blocks in it.
    pub fn starts_warm(&self, volume: VolumeId) -> bool {
        let mut volumes = self.vms.iter().flat_map(|vm| vm.volumes.iter());
        volumes.nth(volume.0).is_some_and(|volume| {
            volume.caching == HostCaching::ReadOnly && volume.cache_start == CacheStart::Warm
        })
    }

    /// Whether I/O on a device takes no time at all: it has no limit and no latency.
    pub fn is_instant(&self, volume: VolumeId) -> bool {
        let volumes = self.volume_count() - self.devices.len();
        let device = volume
            .0
            .checked_sub(volumes)
            .and_then(|index| self.devices.get(index));
        device
            .is_some_and(|device| device.limits.is_empty() && device.latency == LatencyChoice::None)
    }

    /// The volume or device that serves `path`: the longest mount that is a prefix of it. `host` limits the search to one
    /// machine (and to devices, which every machine sees).
    ///
    /// # Errors
    ///
    /// [`LocateError`] where none or several do.
    pub fn locate(&self, host: Option<&str>, path: &str) -> Result<VolumeId, LocateError> {
        if let Some(host) = host
            && !self.vms.iter().any(|vm| vm.name == host)
        {
            let known = self.vms.iter().map(|vm| format!("`{}`", vm.name)).collect();
            return Err(LocateError::UnknownHost {
                host: host.to_owned(),
                known,
            });
        }
        let visible =
            |served: &Served<'_>| served.host.is_none_or(|at| host.is_none_or(|h| h == at));
        let serving = self
            .served()
            .enumerate()
            .filter(|(_, served)| visible(served));
        let serving: Vec<_> = serving
            .filter_map(|(index, served)| Some((served.mount.serves(path)?, index, served)))
            .collect();
        let Some(longest) = serving.iter().map(|(length, _, _)| *length).max() else {
            return Err(self.unserved(path, &visible));
        };
        let best: Vec<_> = serving
            .iter()
            .filter(|(length, _, _)| *length == longest)
            .collect();
        match best.as_slice() {
            [(_, index, _)] => Ok(VolumeId(*index)),
            several => Err(LocateError::Ambiguous {
                path: path.to_owned(),
                hosts: several
                    .iter()
                    .map(|(_, _, served)| format!("`{}`", served.host.unwrap_or(served.name)))
                    .collect(),
            }),
        }
    }

    fn unserved(&self, path: &str, visible: &dyn Fn(&Served<'_>) -> bool) -> LocateError {
        let served: Vec<_> = self.served().filter(visible).collect();
        let mounts = served.iter().map(|served| match served.host {
            Some(host) => format!("`{}` on `{host}`", served.mount),
            None => format!("`{}`", served.mount),
        });
        LocateError::Unserved {
            path: path.to_owned(),
            mounts: mounts.collect(),
            candidate: served.first().map(|served| served.mount.to_string()),
        }
    }

    fn served(&self) -> impl Iterator<Item = Served<'_>> {
        let volumes = self.vms.iter().flat_map(|vm| {
            vm.volumes.iter().map(|volume| Served {
                host: Some(&vm.name),
                name: &volume.name,
                mount: &volume.mount,
            })
        });
        volumes.chain(self.devices.iter().map(|device| Served {
            host: None,
            name: &device.name,
            mount: &device.mount,
        }))
    }
}

impl Volume {
    /// Bytes it holds: with stripes, whole stripe units alone.
    pub fn capacity(&self) -> Bytes {
        let unit = if self.columns > 1 {
            self.stripe_unit.get()
        } else {
            1
        };
        let per_disk = self.disk.size.get() / unit * unit;
        Bytes::new(per_disk * u64::from(self.disk_count))
    }
}

struct Served<'a> {
    host: Option<&'a str>,
    name: &'a str,
    mount: &'a Mount,
}

/// The directory of a path, for a `--map` line.
fn parent_of(path: &str) -> &str {
    match path.rfind(['/', '\\']) {
        Some(0) | None => path,
        Some(end) => &path[..end],
    }
}

#[cfg(test)]
mod tests;
