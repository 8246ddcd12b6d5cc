//! One thread that serves: the model, every connection, and the bytes of every volume.
//!
//! A turn of the loop lets everything happen in the model that is due, sends what came of it, and waits for the next due time
//! or the next request, whichever comes first. All that one read of a socket brings is understood in one go, and all that is
//! owed to a client leaves in one call, straight out of the volume's mapping. There are no locks, since there is one
//! thread; what may wait (making files durable, telling a person, writing a trace) has threads of its own.
//!
//! Invariants: an I/O is answered once, when the model is done with it and what it must wait for beside that is done too;
//! never before it is due; the order of answers is the model's.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use fathom_model::{Completed, Durability, IoKind, Request};
use fathom_nbd::{Command, NbdError, reply};
use fathom_rawio::Clock;
use fathom_units::Nanos;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::fcntl_dupfd_cloexec;

use crate::backing::Disk;
use crate::budget::Budget;
use crate::client::{Life, OWED_MOST, Outgoing};
use crate::control::Control;
use crate::exports::ExportTable;
use crate::in_flight::{InFlight, Io, Sync};
use crate::listen::Listener;
use crate::meter::Meter;
use crate::pace::{HandedOn, Pace};
use crate::path::Echo;
use crate::punch::{Hole, Puncher};
use crate::sync::Syncer;
use crate::tls::Pumps;
use crate::undo::Undo;

mod crowd;
mod files;
mod holes;
mod inbound;
mod kept;
mod obey;
mod parts;
mod rest;
mod room;
mod secure;
mod seek;
mod times;
mod waiting;
mod zeroing;

use crowd::{Crowd, Place};
pub(crate) use files::Files;
use rest::Rest;
use room::Room;
pub(crate) use room::{Starved, Turn};
use waiting::Outlook;
use zeroing::Zeroings;

/// Most clients at once.
const CLIENTS_MOST: usize = 1024;
/// Most I/Os under way with which a new client is let in: those of clients that have left count too.
const IN_FLIGHT_MOST: usize = 256 * OWED_MOST;
/// Bytes that one read of a socket brings at most. They stay in a processor's second cache until they are understood.
const BUFFER: usize = 256 << 10;
/// The longest range that enters the model as one I/O.
const STEP: u32 = fathom_nbd::BLOCK_MAX;

/// What the kernel tells of: the lowest numbers are not clients.
const STOP: u64 = 0;
const BELL: u64 = 1;
const ECHO: u64 = 2;
const FILES: u64 = 3;
const CONTROL: u64 = 4;
const HOLES: u64 = 5;
const LISTENERS: u64 = 6;
const CLIENTS: u64 = 1 << 32;

/// An answer to a client: place and generation, what is sent, and the bytes of the request.
type Ready = ((u32, u32), Outgoing, u32);

/// Everything that serves.
#[derive(Debug)]
pub(crate) struct Server<'a> {
    exports: &'a ExportTable,
    disks: Vec<Disk>,
    budget: Budget,
    pub pace: Pace,
    pub meter: Meter,
    listeners: Vec<Listener>,
    /// Where clients speak TLS, if any are to.
    pumps: Option<Pumps>,
    epoll: OwnedFd,
    /// A descriptor that is given up where there is no other.
    spare: Option<OwnedFd>,
    syncer: Syncer,
    puncher: Puncher,
    zeroings: Zeroings,
    room: Room,
    /// Volumes as files, where they are shown as such.
    files: Option<Files>,
    /// I/Os of files that are over.
    files_ready: Vec<Io>,
    /// Where orders come from.
    control: Option<Control>,
    /// What of each volume is in its host's cache alone, or under way; whether any volume may have such a cache; what the model
    /// has told of it.
    undo: Vec<Option<Undo>>,
    write_back: bool,
    told: Vec<Durability>,
    /// How many times hosts have failed.
    crashes: u64,
    carried_out: obey::CarriedOut,
    echo: Echo,
    outlook: Outlook,
    rest: Rest,
    crowd: Crowd,
    ios: InFlight,
    buffer: Vec<u8>,
    /// Filled by the model; empty between calls.
    completed: Vec<Completed>,
    ready: Vec<Ready>,
    answered: Vec<Io>,
    /// Clients that something is owed to, or whose life has changed.
    dirty: Vec<u32>,
    /// Clients that may go on with what they have sent already.
    resume: Vec<u32>,
}

impl<'a> Server<'a> {
    /// A server of `exports`, which have their bytes in `disks`.
    pub fn new(
        exports: &'a ExportTable,
        (disks, budget): (Vec<Disk>, Budget),
        (mut pace, echo): (Pace, Echo),
        meter: Meter,
        listeners: Vec<Listener>,
    ) -> io::Result<Self> {
        let undo = exports
            .exports
            .iter()
            .map(|export| export.write_back.then(Undo::default));
        let undo: Vec<Option<Undo>> = undo.collect();
        let write_back = undo.iter().any(Option::is_some);
        if write_back {
            pace.storage.watch_durability();
        }
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (number, listener) in listeners.iter().enumerate() {
            let place = EventData::new_u64(LISTENERS + number as u64);
            epoll::add(&epoll, listener, place, EventFlags::IN)?;
        }
        let (syncer, puncher) = (Syncer::new()?, Puncher::new()?);
        let outlook = Outlook::new(pace.spin());
        epoll::add(&epoll, &echo, EventData::new_u64(ECHO), EventFlags::IN)?;
        let place = EventData::new_u64(HOLES);
        epoll::add(&epoll, puncher.bell(), place, EventFlags::IN)?;
        epoll::add(
            &epoll,
            syncer.bell(),
            EventData::new_u64(BELL),
            EventFlags::IN,
        )?;
        Ok(Self {
            exports,
            disks,
            budget,
            pace,
            meter,
            listeners,
            pumps: None,
            spare: fcntl_dupfd_cloexec(&epoll, 0).ok(),
            epoll,
            syncer,
            puncher,
            zeroings: Zeroings::default(),
            room: Room::default(),
            files: None,
            files_ready: Vec::new(),
            control: None,
            undo,
            write_back,
            told: Vec::new(),
            crashes: 0,
            carried_out: obey::CarriedOut::default(),
            echo,
            outlook,
            rest: Rest::new(),
            crowd: Crowd::new(CLIENTS_MOST),
            ios: InFlight::default(),
            buffer: vec![0; BUFFER],
            completed: Vec::new(),
            ready: Vec::new(),
            answered: Vec::new(),
            dirty: Vec::new(),
            resume: Vec::new(),
        })
    }

    /// Shows volumes as files too.
    pub fn show(&mut self, files: Files) -> io::Result<()> {
        let place = EventData::new_u64(FILES);
        epoll::add(&self.epoll, files.mount.device(), place, EventFlags::IN)?;
        self.files = Some(files);
        Ok(())
    }

    /// Takes orders too.
    pub fn take_orders(&mut self, control: Control) -> io::Result<()> {
        let place = EventData::new_u64(CONTROL);
        epoll::add(&self.epoll, control.bell(), place, EventFlags::IN)?;
        self.control = Some(control);
        Ok(())
    }

    /// Shows no files any more, so that what still waits for one fails, and takes no orders.
    pub fn close(&mut self) {
        self.files = None;
        self.control = None;
    }

    /// What a reader of the figures should know.
    pub fn notes(&self) -> Vec<String> {
        let notes = [self.room.note(), self.carried_out.note(), self.unanswered()];
        notes.into_iter().flatten().collect()
    }

    /// How many I/Os of others were whole and had no answer yet, for whoever counts what clients sent.
    fn unanswered(&self) -> Option<String> {
        let landing = self.crowd.places.iter().flatten();
        let landing = landing.filter_map(|client| client.landing?.io).count();
        let of_others = self.ios.iter().filter(|io| io.client != room::NOBODY);
        let ready = self.answered.len() + self.files_ready.len();
        let count = (of_others.count() + ready).saturating_sub(landing);
        let (was, it) = if count == 1 {
            (" was", "it has")
        } else {
            ("s were", "they have")
        };
        (count > 0).then(|| {
            format!(
                "{count} I/O{was} under way when serving ended: {it} no answer and no part in these figures"
            )
        })
    }

    /// Serves until `stop` becomes readable, or until `end`.
    pub fn run(&mut self, stop: impl AsFd, end: Option<Nanos>) -> io::Result<()> {
        epoll::add(&self.epoll, stop, EventData::new_u64(STOP), EventFlags::IN)?;
        let mut events: Vec<Event> = Vec::with_capacity(256);
        loop {
            let now = Clock::now();
            self.let_happen(self.pace.at(now));
            self.feed_where_there_is_room();
            self.take_held_files();
            self.feed_files();
            self.deliver();
            self.meter.roll(now, &self.pace);
            self.part_with_late(now);
            self.echo.call(now)?;
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            self.wait(now, end, &mut events)?;
            let mut listening = false;
            for event in events.drain(..) {
                match event.data.u64() {
                    STOP => return Ok(()),
                    BELL => self.hear(),
                    HOLES => self.punched(),
                    FILES if self.take_files()? == files::Mounted::No => {
                        // Somebody has unmounted it: its device goes with it.
                        self.files = None;
                    }
                    FILES => {}
                    CONTROL => self.obey(),
                    ECHO => {
                        if let Some(ways) = self.echo.heard(self.outlook.was)? {
                            self.pace.set_ways(ways);
                        }
                    }
                    client if client >= CLIENTS => {
                        self.attend((client - CLIENTS) as u32, event.flags);
                    }
                    _ => listening = true,
                }
            }
            if listening {
                self.accept();
            }
            self.zero_on();
            for client in std::mem::take(&mut self.resume) {
                self.inbound(client, inbound::More::No);
            }
        }
    }

    /// The next client that waits. One for whom there is no descriptor takes the place of another that has not chosen an export, or
    /// is turned away: the kernel would tell of it for ever.
    fn next_client(&mut self, listener: usize) -> Option<OwnedFd> {
        loop {
            let listener = &self.listeners[listener];
            if let Ok(client) = listener.accept() {
                return client;
            }
            let more = || fcntl_dupfd_cloexec(&self.epoll, 0).ok();
            drop(self.spare.take().or_else(more)?);
            // Only now it is known whether anybody waits.
            let waits = listener.accept().ok().flatten();
            let client = waits.map(|client| self.make_place().then_some(client));
            self.spare = fcntl_dupfd_cloexec(&self.epoll, 0).ok();
            match client {
                // It is turned away, and the next looked at.
                Some(None) => {}
                None => return None,
                Some(client) => return client,
            }
        }
    }

    /// Parts with the client that has been in its handshake for longest; `false`: all have chosen an export.
    fn make_place(&mut self) -> bool {
        let oldest = self.crowd.oldest_undecided();
        oldest.map(|place| self.drop_client(place)).is_some()
    }

    /// Takes in every client that waits.
    fn accept(&mut self) {
        for number in 0..self.listeners.len() {
            while let Some(socket) = self.next_client(number) {
                if self.ios.len() >= IN_FLIGHT_MOST {
                    continue;
                }
                match self.crowd.place() {
                    Place::Free => {}
                    Place::After(other) => self.drop_client(other),
                    Place::Nowhere => continue,
                }
                let greeting = self.listeners[number].greeting();
                let place = self.crowd.enter(socket, greeting, Clock::now());
                self.dirty.push(place);
                let name = EventData::new_u64(CLIENTS + u64::from(place));
                let client = self.crowd.places[place as usize].as_ref();
                let heard = client
                    .map(|client| epoll::add(&self.epoll, &client.socket, name, client.asked));
                if heard.is_none_or(|heard| heard.is_err()) {
                    self.drop_client(place);
                }
            }
        }
    }

    /// Parts with clients that have had their time and have not chosen an export.
    fn part_with_late(&mut self, now: Nanos) {
        for place in self.crowd.late(now) {
            let client = self.crowd.places[place as usize].as_ref();
            if let Some(farewell) = client.and_then(|client| client.farewell.as_ref()) {
                farewell.say();
            }
            self.drop_client(place);
        }
    }

    /// A client's socket has something, takes something, or is gone.
    fn attend(&mut self, client: u32, flags: EventFlags) {
        if flags.intersects(EventFlags::OUT) {
            self.dirty.push(client);
        }
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        if let Some(Some(one)) = self.crowd.places.get_mut(client as usize)
            && gone
            && (one.life != Life::Open || one.is_full())
        {
            // Nothing of it will be read any more, and no answer can reach it.
            one.life = Life::Over;
            self.dirty.push(client);
        } else if gone || flags.intersects(EventFlags::IN) {
            self.inbound(client, inbound::More::Yes);
        }
    }

    /// Files have become durable.
    fn hear(&mut self) {
        self.syncer.heard();
        while let Some(((number, identity), failed)) = self.syncer.next() {
            // One that a crash has ended may have left its number to another.
            let io = self.ios.get_mut(number);
            if let Some(io) = io.filter(|io| io.identity() == identity) {
                io.sync = Sync::Done;
                io.error = failed.or(io.error);
                if io.due.is_some() {
                    self.answer(number);
                }
            }
        }
    }

    /// Lets everything happen in the model that is due at `time`.
    #[inline]
    fn let_happen(&mut self, time: Nanos) {
        while let Some(due) = self.pace.advance(time, &mut self.completed) {
            self.settle(due);
        }
        self.hear_durability();
    }

    /// Takes what the model has completed at `due`.
    fn settle(&mut self, due: Nanos) {
        self.hear_durability();
        while let Some(completed) = self.completed.pop() {
            let number = completed.tag as u32;
            let Some(io) = self.ios.get_mut(number) else {
                continue;
            };
            io.waits = if io.has_steps(STEP) {
                io.waits.then(&completed.waits)
            } else {
                completed.waits
            };
            if completed.error.is_some() {
                io.error = Some(NbdError::Io);
                io.left = 0;
                self.zeroings.look_again();
            }
            if io.left > 0 && self.zeroings.holds(number, io, due) {
                continue;
            }
            if io.left > 0 {
                let request = next_step(io, number, self.exports);
                self.pace.submit(due, request, &mut self.completed);
                continue;
            }
            io.due = Some(due);
            if io.sync == Sync::Done {
                self.answer(number);
            }
        }
    }

    /// An I/O comes into the model at the time it was sent, and a hole of it to where it is punched.
    fn enter(&mut self, io: Io, hole: Option<Hole>) {
        let number = self.ios.put(io);
        if let Some(hole) = hole {
            self.punch(number, io.export as usize, hole);
        }
        if io.sync == Sync::Pending
            && let Some(file) = self.disks[io.export as usize].durable_file()
        {
            self.syncer.ask((number, io.identity()), file);
        }
        self.admit(number);
    }

    /// The same for one that has its number.
    fn admit(&mut self, number: u32) {
        let Some(io) = self.ios.get_mut(number) else {
            return;
        };
        let sent = io.sent;
        self.let_happen(sent);
        let Some(io) = self.ios.get_mut(number) else {
            return;
        };
        let request = next_step(io, number, self.exports);
        self.pace.submit(sent, request, &mut self.completed);
        self.settle(sent);
    }

    /// An I/O is over: its answer is ready.
    fn answer(&mut self, number: u32) {
        let Some(io) = self.ios.take(number) else {
            return;
        };
        self.landed_on_disk(&io);
        if io.client == room::NOBODY {
            return self.flushed_for_room();
        }
        if io.client == files::KERNEL {
            self.files_ready.push(io);
            return;
        }
        let outgoing = self.outgoing(&io);
        self.ready.push((io.client, outgoing, io.length));
        self.answered.push(io);
    }

    fn outgoing(&self, io: &Io) -> Outgoing {
        let (cookie, offset, length) = (io.cookie, io.offset, io.length);
        match (io.error, io.structured) {
            (Some(error), false) => Outgoing::Head(reply::simple(cookie, Some(error))),
            (Some(error), true) => Outgoing::Head(reply::failed(cookie, error)),
            (None, false) if io.command == Command::Read => Outgoing::Bytes {
                head: reply::simple(cookie, None),
                export: io.export,
                offset,
                length,
            },
            (None, true) if io.command == Command::Read && length > 0 => {
                if self.disks[io.export as usize].is_hole(offset, length) {
                    return Outgoing::Head(reply::hole(cookie, offset, length));
                }
                Outgoing::Bytes {
                    head: reply::data(cookie, offset, length),
                    export: io.export,
                    offset,
                    length,
                }
            }
            (None, true) if io.command == Command::Read => Outgoing::Head(reply::done(cookie)),
            (None, _) => Outgoing::Head(reply::simple(cookie, None)),
        }
    }

    /// Sends all that is ready, and counts it.
    fn deliver(&mut self) {
        if self.ready.is_empty() && self.dirty.is_empty() && self.files_ready.is_empty() {
            return;
        }
        let now = Clock::now();
        let time = self.pace.at(now);
        for ((place, generation), outgoing, length) in self.ready.drain(..) {
            let client = self.crowd.places.get_mut(place as usize);
            let Some(client) = client.and_then(Option::as_mut) else {
                continue;
            };
            if client.generation == generation {
                client.in_flight -= 1;
                client.in_flight_bytes -= u64::from(length);
                client.owe(outgoing);
                self.dirty.push(place);
            }
        }
        self.answer_files();
        for io in &self.answered {
            let due = io.due.unwrap_or(time);
            let handed_on = if io.waits.iter().next().is_none() {
                HandedOn::Nothing
            } else if self.exports.exports[io.export as usize].limits_alone {
                HandedOn::Due(due)
            } else {
                HandedOn::Late(time.saturating_sub(due))
            };
            if io.client == files::KERNEL {
                if let Some(files) = &mut self.files {
                    files.hand_on(handed_on);
                }
            } else if let Some(Some(client)) = self.crowd.places.get_mut(io.client.0 as usize)
                && client.generation == io.client.1
            {
                client.hand_on(handed_on);
            }
            self.meter.count(io, now, time);
        }
        self.outlook.expected = match (self.answered.as_slice(), self.ios.len()) {
            ([only], 0) => Some(only.client.0),
            _ => None,
        };
        self.rest.answered(&self.answered, self.under_way());
        self.answered.clear();
        self.send_dirty();
    }

    /// I/Os under way, without one whose data has begun to come from the client that was answered last.
    fn under_way(&self) -> usize {
        let last = self.answered.last().map(|io| io.client.0 as usize);
        let client = last.and_then(|place| self.crowd.places.get(place)?.as_ref());
        let landing = client.and_then(|client| client.landing?.io);
        self.ios.len() - usize::from(landing.is_some())
    }

    fn send_dirty(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        if dirty.len() > 1 {
            dirty.sort_unstable();
            dirty.dedup();
        }
        for place in dirty.drain(..) {
            let Some(Some(client)) = self.crowd.places.get_mut(place as usize) else {
                continue;
            };
            if client.life == Life::Over || client.send(&self.disks).is_err() {
                client.life = Life::Over;
            }
            if client.life == Life::Over {
                self.drop_client(place);
                continue;
            }
            if client.life == Life::Open && client.held && !client.is_full() {
                self.resume.push(place);
            }
            let interest = client.interest();
            if interest != client.asked {
                client.asked = interest;
                let name = EventData::new_u64(CLIENTS + u64::from(place));
                if epoll::modify(&self.epoll, &client.socket, name, interest).is_err() {
                    self.drop_client(place);
                }
            }
        }
        self.dirty = dirty;
    }

    fn drop_client(&mut self, place: u32) {
        let Some(client) = self.crowd.leave(place) else {
            return;
        };
        let landing = client.landing.and_then(|landing| landing.io);
        if let Some(io) = landing.and_then(|io| self.ios.take(io)) {
            // As much of it as came is there.
            self.landed_on_disk(&io);
        }
    }
}

/// The next part of an I/O as the model takes it.
///
/// Reads, writes and zeroes are charged in full, whether or not anything is stored there; a trim is a trim.
fn next_step(io: &mut Io, number: u32, exports: &ExportTable) -> Request {
    let export = &exports.exports[io.export as usize];
    let kind = match io.command {
        Command::Read => IoKind::Read,
        Command::Flush => IoKind::Flush,
        Command::Trim => IoKind::Trim,
        _ => IoKind::Write,
    };
    let (offset, length) = match io.command {
        Command::Flush => (0, 0),
        Command::Trim => {
            io.left = 0;
            (io.offset, io.length)
        }
        _ => {
            let begun = io.length - io.left;
            // Of what becomes zeroes, no more than is.
            let length = io.left.min(STEP).min(io.reached - begun);
            let offset = io.offset + u64::from(begun);
            io.left -= length;
            (offset, length)
        }
    };
    Request {
        volume: export.volume,
        client: export.client,
        file: export.file,
        kind,
        fua: io.fua,
        // No bytes at the end of a volume are behind its last disk; they count as an I/O of that one.
        offset: offset.min(export.size.saturating_sub(1)),
        length,
        stream: u64::from(io.export),
        index: io.index,
        tag: u64::from(number),
    }
}
