//! Clients that go on in TLS.

use std::io;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{self, EventData};

use super::{CLIENTS, Server};
use crate::client::{Client, Phase};
use crate::tls::{Pumps, Tls};

impl Server<'_> {
    /// Lets clients of sockets that are greeted so speak TLS.
    pub fn speak_tls(&mut self, tls: &Tls) -> io::Result<()> {
        self.pumps = Some(Pumps::new(tls)?);
        Ok(())
    }

    /// A client has asked for TLS: what it sends from now on comes through a pump.
    ///
    /// `rest` is what has come after its request. It cannot be of TLS, since that waits for the answer, and must not count
    /// inside it, since anybody on the way may have put it there.
    pub(super) fn secure(
        &mut self,
        place: u32,
        client: &mut Client,
        rest: &[u8],
    ) -> io::Result<()> {
        let (Some(pumps), Phase::Handshake(handshake), []) = (&self.pumps, &client.phase, rest)
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let secured = handshake.secured();
        epoll::delete(&self.epoll, &client.socket)?;
        // What stands here meanwhile is nobody's.
        let (nobody, _) = UnixStream::pair()?;
        let network = std::mem::replace(&mut client.socket, nobody.into());
        let (inside, farewell) = pumps.secure(network, client.take_owed())?;
        let name = EventData::new_u64(CLIENTS + u64::from(place));
        epoll::add(&self.epoll, &inside, name, client.asked)?;
        client.socket = inside;
        client.farewell = Some(farewell);
        client.phase = Phase::Handshake(secured);
        Ok(())
    }
}
