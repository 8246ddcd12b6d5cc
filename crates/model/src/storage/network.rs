//! I/O over the network: which connection or channel of its machine an I/O takes, and what it is split into.
//!
//! A client's I/Os go round its connections (channels) one after another. An I/O on a share passes the limits of its file,
//! which the token bears, since a share may have 100,000 files.

use fathom_units::Nanos;

use super::Storage;
use super::path::{NONE, PathId};
use super::token::{Effect, Parent, Token, Waited};
use crate::design::{Client, ClientId};
use crate::limit::Waits;
use crate::network::handles::Handles;
use crate::network::nfs::calls;
use crate::network::smb::{Pattern, Penalty};
use crate::random::draw;
use crate::request::{Completed, IoError, IoKind, MetadataOp, Request};

/// Which of a volume's clients a machine is.
#[derive(Debug)]
pub(super) struct ByMachine {
    places: Vec<u32>,
    clients: Vec<ClientId>,
}

impl ByMachine {
    pub fn new(machines: usize, clients: &[Client]) -> Self {
        let mut places = vec![0; machines];
        for (place, client) in clients.iter().enumerate() {
            if let Some(machine) = client.id.index().and_then(|index| places.get_mut(index)) {
                *machine = place as u32;
            }
        }
        Self {
            places,
            clients: clients.iter().map(|client| client.id).collect(),
        }
    }

    /// Whether a machine is a client.
    fn has(&self, client: ClientId) -> bool {
        self.clients.contains(&client)
    }

    /// The place of a client. Where the design has no machines there is one, which is the first.
    fn place(&self, client: ClientId) -> usize {
        let place = client.index().and_then(|index| self.places.get(index));
        place.map_or(0, |place| *place as usize)
    }
}

/// A volume over NFS.
#[derive(Debug)]
pub(super) struct NfsModel {
    pub clients: Vec<NfsClient>,
    pub by_machine: ByMachine,
    pub rsize: u64,
    pub wsize: u64,
    pub random_key: u64,
}

impl NfsModel {
    /// The path of one request of a client.
    pub fn next_path(&mut self, client: ClientId, write: bool) -> PathId {
        let place = self.by_machine.place(client);
        let (reads, writes) = self.clients[place].next();
        if write { writes } else { reads }
    }

    /// Whether this is a path of a client.
    pub fn is_path_of(&self, client: ClientId, path: PathId) -> bool {
        self.by_machine.has(client) && {
            let mut paths = self.clients[self.by_machine.place(client)]
                .connections
                .iter();
            paths.any(|(reads, writes)| *reads == path || *writes == path)
        }
    }
}

impl ShareModel {
    /// The path of one request of a client, on its next channel and without what several channels may cost.
    pub fn next_path(&mut self, client: ClientId, write: bool) -> PathId {
        let place = self.by_machine.place(client);
        let channel = self.clients[place].next();
        let paths = if write { channel.write } else { channel.read };
        paths[Penalty::None as usize]
    }

    /// Whether this is a path of a client.
    pub fn is_path_of(&self, client: ClientId, path: PathId) -> bool {
        self.by_machine.has(client) && {
            let client = &self.clients[self.by_machine.place(client)];
            let mut channels = client.channels.iter();
            let metadata = [client.metadata, client.cached_metadata].contains(&path);
            metadata || channels.any(|one| one.read.contains(&path) || one.write.contains(&path))
        }
    }
}

/// A machine that mounts it: paths of (reads, writes) of each connection.
#[derive(Debug)]
pub(super) struct NfsClient {
    connections: Vec<(PathId, PathId)>,
    next: usize,
}

impl NfsClient {
    pub fn new(connections: Vec<(PathId, PathId)>) -> Self {
        Self {
            connections,
            next: 0,
        }
    }

    fn next(&mut self) -> (PathId, PathId) {
        let paths = self.connections[self.next];
        self.next = (self.next + 1) % self.connections.len();
        paths
    }
}

/// A share over SMB.
#[derive(Debug)]
pub(super) struct ShareModel {
    pub clients: Vec<ShareClient>,
    pub by_machine: ByMachine,
    pub handles: Handles,
    /// The stage of each file, by its number; [`NONE`]: a file of another volume.
    pub files: Vec<u32>,
    /// I/Os up to this many bytes are small.
    pub small_io: u64,
    pub random_key: u64,
}

/// A machine that mounts it.
#[derive(Debug)]
pub(super) struct ShareClient {
    pub channels: Vec<Channel>,
    pub next: usize,
    pub pattern: Pattern,
    pub metadata: PathId,
    /// Of the operations that the metadata cache makes faster.
    pub cached_metadata: PathId,
}

/// Paths of one channel, by [`Penalty`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Channel {
    pub read: [PathId; 3],
    pub write: [PathId; 3],
}

impl ShareClient {
    fn next(&mut self) -> Channel {
        let channel = self.channels[self.next];
        self.next = (self.next + 1) % self.channels.len();
        channel
    }
}

/// One token of an I/O over the network.
#[derive(Debug, Clone, Copy)]
struct Call {
    path: PathId,
    bytes: u64,
    file: u32,
    effect: Effect,
}

impl Storage {
    /// Starts a read, write or metadata operation of a volume over NFS.
    pub(super) fn on_nfs(
        &mut self,
        now: Nanos,
        index: u32,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let model = &mut self.nfs[index as usize];
        let key = model.random_key;
        let place = model.by_machine.place(request.client);
        let client = &mut model.clients[place];
        let write = request.kind == IoKind::Write;
        let most = if write { model.wsize } else { model.rsize };
        let mut call = |bytes| {
            let (reads, writes) = client.next();
            Call {
                path: if write { writes } else { reads },
                bytes,
                file: NONE,
                effect: Effect::None,
            }
        };
        let length = u64::from(request.length);
        if length <= most {
            let call = call(length);
            self.one_call(now, key, request, call, completed);
            return;
        }
        let calls: Vec<_> = calls(request.offset, length, most)
            .map(|(_, bytes)| call(bytes))
            .collect();
        let parent = self.parents.put(Parent {
            tag: request.tag,
            volume: request.volume.index() as u32,
            parts_left: 1 + calls.len() as u32,
        });
        for (number, call) in calls.into_iter().enumerate() {
            let token = token_of(key, request, (parent, number as u64), call);
            self.launch(now, token, completed);
        }
        self.close_part(now, parent, Waits::NONE, completed);
    }

    /// Starts a read or write of a share.
    pub(super) fn on_share(
        &mut self,
        now: Nanos,
        index: u32,
        request: &Request,
        completed: &mut Vec<Completed>,
    ) {
        let share = &mut self.shares[index as usize];
        let key = share.random_key;
        let place = share.by_machine.place(request.client);
        let client = &mut share.clients[place];
        let bytes = u64::from(request.length);
        let number = request.file.index();
        let penalty = if client.channels.len() > 1 {
            let file = number.map_or(u64::MAX, |number| number as u64);
            let small = bytes <= share.small_io;
            client.pattern.penalty(now, request.stream, file, small)
        } else {
            Penalty::None
        };
        let channel = client.next();
        let paths = match request.kind {
            IoKind::Write => channel.write,
            _ => channel.read,
        };
        let file = number.and_then(|number| share.files.get(number));
        let call = Call {
            path: paths[penalty as usize],
            bytes,
            file: file.copied().unwrap_or(NONE),
            effect: Effect::None,
        };
        self.one_call(now, key, request, call, completed);
    }

    /// Starts a metadata operation of a share. An open beyond the handles that a file may have fails when it is answered.
    pub(super) fn share_metadata(
        &mut self,
        now: Nanos,
        index: u32,
        (operation, request): (MetadataOp, &Request),
        completed: &mut Vec<Completed>,
    ) {
        let share = &mut self.shares[index as usize];
        let key = share.random_key;
        let place = share.by_machine.place(request.client);
        let client = &share.clients[place];
        let file = request.file.index();
        let granted = match operation {
            MetadataOp::Create | MetadataOp::Open => share.handles.open(file),
            MetadataOp::Close => {
                share.handles.close(file);
                true
            }
            MetadataOp::Delete | MetadataOp::Stat => true,
        };
        let path = match operation {
            MetadataOp::Stat => client.metadata,
            _ => client.cached_metadata,
        };
        let effect = if granted {
            Effect::None
        } else {
            Effect::Failed(IoError::TooManyHandles)
        };
        let call = Call {
            path,
            bytes: 0,
            file: NONE,
            effect,
        };
        self.one_call(now, key, request, call, completed);
    }

    fn one_call(
        &mut self,
        now: Nanos,
        key: u64,
        request: &Request,
        call: Call,
        completed: &mut Vec<Completed>,
    ) {
        let token = token_of(key, request, (NONE, 0), call);
        self.launch(now, token, completed);
    }
}

fn token_of(key: u64, request: &Request, (io, number): (u32, u64), call: Call) -> Token {
    Token {
        draw: draw(key, request.stream, request.index, number),
        tag: request.tag,
        io,
        volume: request.volume.index() as u32,
        path: call.path,
        bytes: call.bytes as u32,
        file: call.file,
        effect: call.effect,
        step: call.path,
        waited: Waited::NOT,
    }
}
