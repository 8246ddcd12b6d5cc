//! I/Os under way, in numbered places.

use fathom_model::Waits;
use fathom_nbd::{Command, NbdError};
use fathom_units::Nanos;

/// What an I/O still waits for beside the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Nothing.
    Done,
    /// Its file is being made durable.
    Pending,
    /// Its hole is being punched, or its range becomes zeroes.
    Hole,
}

/// An I/O under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Io {
    /// Place and generation of the client that asked for it.
    pub client: (u32, u32),
    pub structured: bool,
    pub export: u32,
    pub command: Command,
    pub fua: bool,
    pub cookie: u64,
    pub offset: u64,
    pub length: u32,
    /// Bytes that the model has not been given yet: long ranges go in one after another.
    pub left: u32,
    /// Bytes of its range that it has come to: less than all while they become zeroes.
    pub reached: u32,
    /// Its index among the I/Os of its export.
    pub index: u64,
    /// When the client sent it, by the clock.
    pub asked: Nanos,
    /// When it came into the model.
    pub sent: Nanos,
    /// How long the model had to wait for it.
    pub held: Nanos,
    /// When the model was done with it; `None`: it is not yet.
    pub due: Option<Nanos>,
    pub waits: Waits,
    pub sync: Sync,
    /// Whether anything it wrote is in a host's cache and on no disk.
    pub cached: bool,
    /// How many times its host had failed when it came.
    pub era: u32,
    pub error: Option<NbdError>,
}

impl Io {
    /// What names it among all, in whatever place it is.
    pub fn identity(&self) -> (u32, u64) {
        (self.export, self.index)
    }

    /// Whether the model may get it in several steps, of so many bytes at most.
    #[inline]
    pub fn has_steps(&self, most: u32) -> bool {
        self.length > most || self.command == Command::WriteZeroes
    }

    /// Whether it changes bytes in a way that a failing host may take back.
    pub fn writes(&self) -> bool {
        matches!(self.command, Command::Write | Command::WriteZeroes)
    }
}

/// I/Os by number.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    places: Vec<Option<Io>>,
    free: Vec<u32>,
}

impl InFlight {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Io> {
        self.places.iter().flatten()
    }

    #[inline]
    pub fn put(&mut self, io: Io) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(io);
            place
        } else {
            self.places.push(Some(io));
            self.places.len() as u32 - 1
        }
    }

    #[inline]
    pub fn get_mut(&mut self, place: u32) -> Option<&mut Io> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// Takes one out; its number may be used again.
    #[inline]
    pub fn take(&mut self, place: u32) -> Option<Io> {
        let io = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(io)
    }
}
