//! The volumes of a design as exports: names, sizes, and what the model must be told of their I/O.

use std::collections::BTreeMap;

use fathom_diagnostics::nearest;
use fathom_model::{
    AnyVolume, ClientId, Design, FileId, HostCaching, LatencyChoice, Layout, OverfullVolume,
    Storage, VolumeId,
};

/// Most names in a message.
const NAMED_MOST: usize = 20;
/// Most exports of one server: a handshake names them all.
pub(crate) const EXPORTS_MOST: usize = 4096;

/// A volume as clients see it.
#[derive(Debug, Clone)]
pub(crate) struct Export {
    /// The volume's name, after its machine's where another volume has the same.
    pub name: String,
    /// Its name after its machine's in any case, as parts of the storage are called.
    pub part: String,
    pub volume: VolumeId,
    pub client: ClientId,
    pub file: FileId,
    pub size: u64,
    /// Whether writes to it end in its host's cache, from which they are lost when the host fails.
    pub write_back: bool,
    /// Whether its I/O takes no time at all in the model.
    pub instant: bool,
    /// Whether nothing but limits takes time: it has no latency.
    pub limits_alone: bool,
}

/// Every volume of a design, in its order.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExportTable {
    pub exports: Vec<Export>,
    /// Machines by name.
    pub machines: Vec<(String, ClientId)>,
    by_name: BTreeMap<String, usize>,
}

impl ExportTable {
    /// The exports of `design`, each one file as large as its volume, and where those lie.
    pub fn new(design: &Design) -> Result<(Self, Layout), Vec<OverfullVolume>> {
        let names: Vec<&str> = design.volumes().map(AnyVolume::name).collect();
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &names {
            *uses.entry(name).or_default() += 1;
        }
        let mut found = Vec::new();
        for (volume, name) in design.volume_ids().zip(&names) {
            let name = if uses[name] > 1 {
                design.volume_name(volume)
            } else {
                (*name).to_owned()
            };
            found.push((volume, name, design.capacity(volume)));
        }
        let files = found
            .iter()
            .map(|(volume, name, size)| (*volume, name.clone(), *size));
        let layout = Layout::new(design, files)?;
        let mut table = Self {
            machines: machines(design),
            ..Self::default()
        };
        for (volume, name, size) in found {
            let file = layout.file_id(volume, &name).unwrap_or(FileId::NONE);
            table.by_name.insert(name.clone(), table.exports.len());
            table.exports.push(Export {
                client: client(design, volume),
                write_back: matches!(
                    design.volume(volume),
                    Some(AnyVolume::Disks(_, disks)) if disks.caching == HostCaching::ReadWrite
                ),
                instant: design.is_instant(volume),
                limits_alone: matches!(
                    design.volume(volume),
                    Some(AnyVolume::Device(device)) if device.latency == LatencyChoice::None
                ),
                size: size.get(),
                part: design.volume_name(volume),
                name,
                volume,
                file,
            });
        }
        Ok((table, layout))
    }
}

impl ExportTable {
    /// The volume of that name, with or without its machine's.
    pub fn volume(&self, name: &str) -> Result<&Export, String> {
        let mut exports = self.exports.iter();
        let found = exports.find(|export| export.name == name || export.part == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.exports.iter().map(|it| it.name.as_str()).collect();
            let parts = self.exports.iter().map(|it| it.part.as_str());
            let meant = meant(name, ("there are", &names), parts);
            format!("no volume is called `{name}`{meant}")
        })
    }

    /// The same of a volume that has a host cache.
    pub fn cached(&self, name: &str, storage: &Storage) -> Result<&Export, String> {
        let export = self.volume(name)?;
        if storage.is_cached(export.volume) {
            Ok(export)
        } else {
            Err(format!(
                "`{name}` has no host cache, so nothing of it can be warm"
            ))
        }
    }

    /// The machine of that name.
    pub fn machine(&self, name: &str) -> Result<ClientId, String> {
        let found = self.machines.iter().find(|(machine, _)| machine == name);
        found.map(|(_, id)| *id).ok_or_else(|| {
            let names: Vec<&str> = self
                .machines
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            match names.as_slice() {
                [] => format!(
                    "there is no machine `{name}`: the design has none with disks of its own"
                ),
                names => {
                    let meant = meant(name, ("it has", names), []);
                    format!("the design has no machine `{name}`{meant}")
                }
            }
        })
    }
}

/// What may be meant by a name that is none of `names`: the nearest of those and `others`, or else any of the first.
fn meant<'a>(
    name: &str,
    (they_are, names): (&str, &[&'a str]),
    others: impl IntoIterator<Item = &'a str>,
) -> String {
    if let Some(near) = nearest(name, names.iter().copied().chain(others)) {
        return format!("\n  hint: did you mean `{near}`?");
    }
    let first = &names[..names.len().min(NAMED_MOST)];
    let more = if first.len() < names.len() {
        ", more"
    } else {
        ""
    };
    format!("; {they_are} {}{more}", first.join(", "))
}

/// The design's machines, by the names that orders have for them.
fn machines(design: &Design) -> Vec<(String, ClientId)> {
    let mut machines: Vec<(String, ClientId)> = Vec::new();
    for volume in design.volumes() {
        if let AnyVolume::Disks(client, _) = volume
            && let Some(vm) = client.index().and_then(|index| design.vms.get(index))
            && machines.iter().all(|(name, _)| *name != vm.name)
        {
            machines.push((vm.name.clone(), client));
        }
    }
    machines
}

/// The machine whose I/O it is: a volume's own, or the first that mounts it over a network.
fn client(design: &Design, volume: VolumeId) -> ClientId {
    match design.volume(volume) {
        Some(AnyVolume::Disks(client, _)) => client,
        Some(other) => {
            let clients = other.network_clients();
            clients.first().map_or(ClientId::NONE, |client| client.id)
        }
        None => ClientId::NONE,
    }
}

impl fathom_nbd::Exports for ExportTable {
    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        for export in &self.exports {
            each(&export.name);
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        if name.is_empty() {
            return (self.exports.len() == 1).then_some(0);
        }
        self.by_name.get(name).copied()
    }

    fn facts(&self, export: usize) -> fathom_nbd::ExportFacts {
        let size = self.exports.get(export).map_or(0, |export| export.size);
        fathom_nbd::ExportFacts { size }
    }
}
