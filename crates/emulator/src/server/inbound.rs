//! From what a socket has to requests, and from requests to I/Os.

use std::io;
use std::os::fd::AsFd;

use fathom_model::Waits;
use fathom_nbd::{
    Command, NbdError, Outcome, ProtocolError, REQUEST_BYTES, Request, Session, check, reply,
};
use fathom_rawio::{Clock, receive_into};
use fathom_units::Nanos;

use super::{BUFFER, Server};
use crate::client::{Client, Landing, Life, Outgoing, Phase, Refusal};
use crate::in_flight::{Io, Sync};
use crate::pace::{HandedOn, Spin};
use crate::punch::Hole;

/// Most extents that one answer tells of.
const EXTENTS_MOST: usize = 4096;
/// Data of a write that is still to come, and worth a call of its own that puts it where it belongs.
const DIRECT_LEAST: u32 = 8 << 10;
/// Buffers that one client may fill before others have their turn.
const READS_A_TURN: usize = 4;
/// Looks for the rest of a message before this thread sleeps: some microseconds.
const TRIES: usize = 16;

/// Whether a socket may be asked for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// It may.
    Yes,
    /// What was received already comes first.
    No,
}

/// How reading a socket went.
enum Got {
    /// So much, and there may be more.
    Full,
    /// There is no more now.
    Drained,
}

impl Server<'_> {
    /// Takes in what a client has sent; `false`: nothing was there.
    pub(super) fn inbound(&mut self, place: u32, more: More) -> bool {
        let slot = self.crowd.places.get_mut(place as usize);
        let Some(mut client) = slot.and_then(Option::take) else {
            return true;
        };
        let mut came = true;
        if client.life == Life::Open {
            let went = match more {
                More::Yes => self.receive(place, &mut client),
                More::No => self.resume(place, &mut client).map(|()| true),
            };
            came = went.unwrap_or_else(|_| {
                client.life = Life::Over;
                true
            });
        }
        self.crowd.places[place as usize] = Some(client);
        if came {
            self.dirty.push(place);
        }
        came
    }

    /// Understands what was received while too much was owed.
    fn resume(&mut self, place: u32, client: &mut Client) -> io::Result<()> {
        let stash = std::mem::take(&mut client.stash);
        let taken = self.understand(place, client, &stash, Clock::now())?;
        client.stash = stash;
        client.stash.drain(..taken);
        Ok(())
    }

    /// `false`: nothing was there.
    fn receive(&mut self, place: u32, client: &mut Client) -> io::Result<bool> {
        let (mut reads, mut tries) = (0, 0);
        while reads < READS_A_TURN {
            if client.is_full() || client.life != Life::Open {
                return Ok(true);
            }
            let got = match client.landing {
                Some(landing) if landing.left >= DIRECT_LEAST && client.stash.is_empty() => {
                    self.receive_data(place, client, landing)
                }
                _ => self.receive_messages(place, client),
            };
            match got {
                // The rest of a message that has begun to come is about to come. What can be answered is answered first.
                Ok(Got::Drained)
                    if client.is_between()
                        && self.ready.is_empty()
                        && self.outlook.spin == Spin::Yes => {}
                Ok(Got::Full) => {}
                Ok(Got::Drained) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    tries += 1;
                    if reads == 0 || tries == TRIES {
                        return Ok(reads > 0);
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            reads += 1;
        }
        Ok(true)
    }

    /// Receives data of a write where it belongs, if that can be done.
    fn receive_data(
        &mut self,
        place: u32,
        client: &mut Client,
        landing: Landing,
    ) -> io::Result<Got> {
        let region = self.disks[landing.export as usize].landing();
        let Some((region, number)) = region.zip(landing.io) else {
            return self.receive_messages(place, client);
        };
        let most = landing.left as usize;
        let count = receive_into(client.socket.as_fd(), region, landing.offset, most)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let landing = Landing {
            offset: landing.offset + count as u64,
            left: landing.left - count as u32,
            ..landing
        };
        client.landing = Some(landing);
        if landing.left == 0 {
            client.landing = None;
            self.landed(
                (number, landing),
                client,
                self.pace.left_at(Clock::now(), self.outlook.was),
            );
        }
        Ok(if count == most {
            Got::Full
        } else {
            Got::Drained
        })
    }

    fn receive_messages(&mut self, place: u32, client: &mut Client) -> io::Result<Got> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let kept = client.stash.len();
        if buffer.len() < kept + BUFFER {
            buffer.resize(kept + BUFFER, 0);
        }
        buffer[..kept].copy_from_slice(&client.stash);
        let flags = rustix::net::RecvFlags::DONTWAIT;
        let got = rustix::net::recv(&client.socket, &mut buffer[kept..], flags);
        let outcome = match got {
            Ok((0, _)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((count, _)) => {
                let now = self.pace.left_at(Clock::now(), self.outlook.was);
                let all = &buffer[..kept + count];
                client.stash.clear();
                let taken = self.understand(place, client, all, now);
                taken.map(|taken| {
                    client.stash.extend_from_slice(&all[taken..]);
                    if count == BUFFER {
                        Got::Full
                    } else {
                        Got::Drained
                    }
                })
            }
            Err(error) => Err(error.into()),
        };
        self.buffer = buffer;
        outcome
    }

    /// Understands messages; gives the bytes of those that are whole and were taken in.
    fn understand(
        &mut self,
        place: u32,
        client: &mut Client,
        bytes: &[u8],
        now: Nanos,
    ) -> io::Result<usize> {
        let mut taken = 0;
        client.held = false;
        while client.life == Life::Open {
            let rest = &bytes[taken..];
            if let Phase::Handshake(handshake) = &mut client.phase {
                let mut out = Vec::new();
                let step = handshake.take(rest, self.exports, &mut out);
                let (count, outcome) = step.map_err(cut)?;
                taken += count;
                if !out.is_empty() {
                    client.owe(Outgoing::Text(out));
                }
                match outcome {
                    Outcome::More => break,
                    Outcome::Begin(session) => client.phase = Phase::Requests(session),
                    Outcome::Close => client.life = Life::Leaving,
                    Outcome::Tls => {
                        self.secure(place, client, &bytes[taken..])?;
                        break;
                    }
                }
                continue;
            }
            let Phase::Requests(session) = client.phase else {
                break;
            };
            if let Some(landing) = client.landing {
                if rest.is_empty() {
                    break;
                }
                taken += self.land(client, landing, rest, now);
                continue;
            }
            if client.is_full() {
                client.held = true;
                break;
            }
            let Some(request) = Request::read(rest).map_err(cut)? else {
                break;
            };
            if self.must_wait(session.export, &request) {
                (client.held, client.waits) = (true, true);
                break;
            }
            if self.starves(session.export, &request, client, now) {
                client.held = true;
                break;
            }
            taken += REQUEST_BYTES;
            self.request(place, client, session, &request, now);
        }
        Ok(taken)
    }

    /// Puts data of a write where it belongs; gives the bytes that were its.
    fn land(&mut self, client: &mut Client, landing: Landing, rest: &[u8], now: Nanos) -> usize {
        let count = rest.len().min(landing.left as usize);
        if let Some(number) = landing.io {
            let written = self.disks[landing.export as usize].write(landing.offset, &rest[..count]);
            if let (Err(error), Some(io)) = (written, self.ios.get_mut(number)) {
                io.error = Some(error);
            }
        }
        let left = landing.left - count as u32;
        client.landing = (left > 0).then_some(Landing {
            offset: landing.offset + count as u64,
            left,
            ..landing
        });
        if left == 0 {
            match (landing.io, landing.refusal) {
                (Some(number), _) => self.landed((number, landing), client, now),
                (None, Some(refusal)) => client.owe(Outgoing::Head(refusal.head())),
                (None, None) => {}
            }
        }
        count
    }

    /// All data of a write is here: it begins.
    fn landed(&mut self, (number, landing): (u32, Landing), client: &mut Client, now: Nanos) {
        let Some(mut io) = self.ios.take(number) else {
            return;
        };
        let disk = &mut self.disks[io.export as usize];
        if disk.discards() != landing.discards {
            // Its room may have been given back while its data came.
            let (offset, length) = (io.offset, u64::from(io.length));
            let room = disk.reserve(&mut self.budget, offset, length);
            io.error = io.error.or(room.err());
        }
        io.asked = now.saturating_sub(io.held);
        self.begin(io, client, None);
    }

    fn request(
        &mut self,
        place: u32,
        client: &mut Client,
        session: Session,
        request: &Request,
        now: Nanos,
    ) {
        let export = session.export as u32;
        let starved = client.starved.take();
        let size = self.exports.exports[session.export].size;
        if request.command == Command::Disconnect {
            client.life = Life::Leaving;
            return;
        }
        let mut allowed = check(request, size, session.allocation);
        allowed = allowed.and_then(|()| self.there(session.export));
        let (offset, length) = (request.offset, u64::from(request.length));
        let in_parts =
            request.command == Command::WriteZeroes && self.zeroes_in_parts(session.export, length);
        let mut hole = None;
        let is_right = allowed.is_ok();
        if is_right {
            let disk = &mut self.disks[session.export];
            allowed = match request.command {
                Command::Write => self.make_room(session.export, offset, length),
                Command::Trim => disk
                    .discard(&mut self.budget, offset, length)
                    .map(|punched| hole = punched),
                Command::WriteZeroes if in_parts => Ok(()),
                Command::WriteZeroes => self
                    .zero(session.export, offset, length)
                    .map(|punched| hole = punched),
                _ => Ok(()),
            };
        }
        if let Err(error) = allowed {
            if is_right {
                let what = (request.command, offset);
                self.meter.could_not(session.export, what, error);
            } else {
                self.meter.refuse(session.export, request, error);
            }
            refuse(client, session, request, error);
            return;
        }
        if request.command == Command::BlockStatus {
            let most = if request.flags.request_one() {
                1
            } else {
                EXTENTS_MOST
            };
            let extents = self.disks[session.export].extents(offset, request.length, most);
            client.owe(Outgoing::Text(reply::status(request.cookie, &extents)));
            return;
        }
        let mut io = self.io((place, client.generation), session, request, now);
        io.held = self.fed(starved, now);
        client.in_flight += 1;
        client.in_flight_bytes += u64::from(io.length);
        if request.payload() > 0 {
            client.landing = Some(Landing {
                io: Some(self.ios.put(io)),
                refusal: None,
                export,
                offset,
                left: request.payload(),
                discards: self.disks[session.export].discards(),
            });
            return;
        }
        if in_parts {
            let handed_on = client.handed_on.pop_front();
            self.zero_in_parts(io, handed_on.unwrap_or(HandedOn::Nothing));
            return;
        }
        self.begin(io, client, hole);
    }

    fn io(&mut self, client: (u32, u32), session: Session, request: &Request, now: Nanos) -> Io {
        Io {
            client,
            structured: session.structured,
            export: session.export as u32,
            command: request.command,
            fua: request.flags.fua(),
            cookie: request.cookie,
            offset: request.offset,
            length: if request.command == Command::Flush {
                0
            } else {
                request.length
            },
            left: request.length,
            reached: request.length,
            index: self.meter.next_index(session.export),
            asked: now,
            sent: Nanos::ZERO,
            held: Nanos::ZERO,
            due: None,
            waits: Waits::NONE,
            sync: Sync::Done,
            cached: false,
            era: self.era(session.export),
            error: None,
        }
    }

    /// An I/O is whole: it comes into the model.
    fn begin(&mut self, mut io: Io, client: &mut Client, hole: Option<Hole>) {
        let handed_on = client.handed_on.pop_front();
        let handed_on = handed_on.unwrap_or(HandedOn::Nothing);
        io.sent = self.pace.sent_at(io.asked + io.held, handed_on);
        let durable = io.command == Command::Flush || (io.fua && io.command != Command::Read);
        if hole.is_some() {
            io.sync = Sync::Hole;
        } else if durable && self.disks[io.export as usize].durable_file().is_some() {
            io.sync = Sync::Pending;
        }
        if io.command == Command::Flush {
            io.left = 0;
        }
        self.enter(io, hole);
    }
}

/// A client that does not keep to the protocol is cut off.
fn cut(error: ProtocolError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Tells a client that a request is not done, once the data that follows it has been thrown away.
fn refuse(client: &mut Client, session: Session, request: &Request, error: NbdError) {
    let refusal = Refusal {
        structured: session.structured,
        cookie: request.cookie,
        error,
    };
    if request.payload() == 0 {
        client.owe(Outgoing::Head(refusal.head()));
    } else {
        client.landing = Some(Landing {
            io: None,
            refusal: Some(refusal),
            export: session.export as u32,
            offset: 0,
            left: request.payload(),
            discards: 0,
        });
    }
}
