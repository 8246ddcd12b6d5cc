//! Which volume serves a path, and which machine an I/O on it comes from.

use super::{AnyVolume, ClientId, Design, VolumeId};

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
    /// Several machines mount the volume, and the job does not say from which its I/O comes.
    #[error("`{volume}` is mounted by the machines {}; the job says none of them", hosts.join(", "))]
    UnnamedClient {
        /// The volume's name.
        volume: String,
        /// Machines that mount it.
        hosts: Vec<String>,
    },
    /// The machine does not have the volume.
    #[error("the machine `{host}` does not mount `{volume}`; {} do", hosts.join(", "))]
    NotMounted {
        /// The machine as given.
        host: String,
        /// The volume's name.
        volume: String,
        /// Machines that mount it.
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
                // An export is one file, wherever its server's socket stands.
                Some(mount) if path.contains("://") => {
                    format!("map it with `--map '{path}={mount}/export'`")
                }
                Some(mount) => format!("map it with `--map {}={mount}`", parent_of(path)),
                None => "add a volume to the design".to_owned(),
            },
            Self::Ambiguous { .. } | Self::UnnamedClient { .. } => {
                "name the machine as the job's host".to_owned()
            }
            Self::NotMounted { .. } | Self::UnknownHost { .. } => {
                "name one of them as the job's host".to_owned()
            }
        }
    }
}

impl Design {
    /// The volume that serves `path`: the longest mount that is a prefix of it. `host` limits the search to what one
    /// machine has: its own volumes, what it mounts, and devices, which every machine sees.
    ///
    /// # Errors
    ///
    /// [`LocateError`] where none or several do.
    pub fn locate(&self, host: Option<&str>, path: &str) -> Result<VolumeId, LocateError> {
        let host = host.map(|host| self.host(host)).transpose()?;
        let visible = |volume: &AnyVolume<'_>| {
            host.is_none_or(|host| match volume {
                AnyVolume::Disks(at, _) => *at == host,
                AnyVolume::Device(_) => true,
                network => has_client(*network, host),
            })
        };
        let serving = self.volumes().enumerate().filter(|(_, one)| visible(one));
        let serving: Vec<_> = serving
            .filter_map(|(index, one)| Some((one.mount().serves(path)?, index, one)))
            .collect();
        let Some(longest) = serving.iter().map(|(length, _, _)| *length).max() else {
            return Err(self.unserved(path, &visible));
        };
        let best: Vec<_> = serving
            .iter()
            .filter(|(length, _, _)| *length == longest)
            .collect();
        match best.as_slice() {
            [(_, index, _)] => Ok(VolumeId::new(*index)),
            several => {
                let hosts = several.iter().map(|(_, _, one)| match one {
                    AnyVolume::Disks(at, _) => self.quoted_host(*at),
                    other => format!("`{}`", other.name()),
                });
                Err(LocateError::Ambiguous {
                    path: path.to_owned(),
                    hosts: hosts.collect(),
                })
            }
        }
    }

    /// The machine that I/O on `volume` comes from, where a job names `host` or no host.
    ///
    /// For a volume of disks it is the machine that has them. For an NFS volume or a share it is the host, which must
    /// mount it; a single client need not be named. On a device, and in a design without machines, it is the host or
    /// [`ClientId::NONE`].
    ///
    /// # Errors
    ///
    /// [`LocateError`] where the host does not have the volume, or is needed and not named.
    pub fn client_of(&self, host: Option<&str>, volume: VolumeId) -> Result<ClientId, LocateError> {
        let host = host.map(|host| self.host(host)).transpose()?;
        match self.volume(volume) {
            None | Some(AnyVolume::Device(_)) => Ok(host.unwrap_or(ClientId::NONE)),
            Some(AnyVolume::Disks(at, volume)) => match host {
                Some(host) if host != at => {
                    Err(self.not_mounted(host, &volume.name, std::iter::once(at)))
                }
                _ => Ok(at),
            },
            Some(network) => self.network_client(host, network),
        }
    }

    fn network_client(
        &self,
        host: Option<ClientId>,
        volume: AnyVolume<'_>,
    ) -> Result<ClientId, LocateError> {
        let clients = || volume.network_clients().iter().map(|client| client.id);
        match host {
            Some(host) if has_client(volume, host) => Ok(host),
            Some(host) => Err(self.not_mounted(host, volume.name(), clients())),
            None if clients().count() > 1 => Err(LocateError::UnnamedClient {
                volume: volume.name().to_owned(),
                hosts: self.first_hosts(clients()),
            }),
            None => Ok(clients().next().unwrap_or(ClientId::NONE)),
        }
    }

    fn not_mounted(
        &self,
        host: ClientId,
        volume: &str,
        clients: impl Iterator<Item = ClientId>,
    ) -> LocateError {
        LocateError::NotMounted {
            host: self.host_name(host).to_owned(),
            volume: volume.to_owned(),
            hosts: self.first_hosts(clients),
        }
    }

    fn host(&self, name: &str) -> Result<ClientId, LocateError> {
        let index = self.vms.iter().position(|vm| vm.name == name);
        index
            .map(|index| ClientId::new(index as u32))
            .ok_or_else(|| LocateError::UnknownHost {
                host: name.to_owned(),
                known: self.first_hosts((0..self.vms.len() as u32).map(ClientId::new)),
            })
    }

    /// Name of a machine; empty for none.
    fn host_name(&self, host: ClientId) -> &str {
        let vm = host.index().and_then(|index| self.vms.get(index));
        vm.map_or("", |vm| &vm.name)
    }

    fn quoted_host(&self, host: ClientId) -> String {
        format!("`{}`", self.host_name(host))
    }

    /// The first few machines, for a message of readable length.
    fn first_hosts(&self, hosts: impl Iterator<Item = ClientId>) -> Vec<String> {
        first_few(hosts.map(|host| self.quoted_host(host)))
    }

    fn unserved(&self, path: &str, visible: &dyn Fn(&AnyVolume<'_>) -> bool) -> LocateError {
        let served: Vec<_> = self.volumes().filter(visible).collect();
        let mounts = served.iter().map(|one| match one {
            AnyVolume::Disks(at, volume) => {
                format!("`{}` on {}", volume.mount, self.quoted_host(*at))
            }
            other => format!("`{}`", other.mount()),
        });
        LocateError::Unserved {
            path: path.to_owned(),
            mounts: first_few(mounts),
            candidate: served.first().map(|one| one.mount().to_string()),
        }
    }
}

fn has_client(volume: AnyVolume<'_>, host: ClientId) -> bool {
    let mut clients = volume.network_clients().iter();
    clients.any(|client| client.id == host)
}

/// At most twenty of them, and how many more there are.
fn first_few(all: impl Iterator<Item = String>) -> Vec<String> {
    const MOST: usize = 20;
    let mut all: Vec<_> = all.collect();
    if all.len() > MOST {
        let more = all.len() - MOST;
        all.truncate(MOST);
        all.push(format!("and {more} more"));
    }
    all
}

/// The directory of a path, for a `--map` line.
fn parent_of(path: &str) -> &str {
    match path.rfind(['/', '\\']) {
        // A name without a folder is in the program's own; a drive, and a disk by its number, are in none.
        None if !path.contains(':') && !path.starts_with('#') => ".",
        Some(0) | None => path,
        Some(end) => &path[..end],
    }
}
