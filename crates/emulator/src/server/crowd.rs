//! Who is there: the places of clients, who gives way where there are too many, and who has taken too long to choose.
//!
//! Invariants: there are never more clients than places; who has chosen an export keeps its place for as long as it likes;
//! nobody else does for longer than [`HANDSHAKE_MOST`], and the oldest of those gives way to who comes.

use std::os::fd::OwnedFd;

use fathom_nbd::Handshake;
use fathom_units::Nanos;

use crate::client::{Client, Phase};
use crate::listen::Greeting;

/// Longest time from coming to the choice of an export. Programs take milliseconds; one whose TLS takes all of its ten seconds,
/// or a person who types options into a shell, still gets there.
pub(super) const HANDSHAKE_MOST: Nanos = Nanos::from_secs(30);
/// How often is looked for those that take longer.
const LOOK_AGAIN: Nanos = Nanos::from_secs(1);

/// Whether there is a place for one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// There is.
    Free,
    /// Where this client leaves.
    After(u32),
    /// There is none: all have chosen an export.
    Nowhere,
}

/// The clients that are there.
#[derive(Debug)]
pub(super) struct Crowd {
    pub places: Vec<Option<Box<Client>>>,
    most: usize,
    alive: usize,
    generation: u32,
    next_look: Nanos,
}

impl Crowd {
    /// Nobody, with places for `most` clients.
    pub fn new(most: usize) -> Self {
        Self {
            places: Vec::new(),
            most,
            alive: 0,
            generation: 0,
            next_look: Nanos::ZERO,
        }
    }

    /// How many there are.
    #[inline]
    pub fn alive(&self) -> usize {
        self.alive
    }

    /// Whether one more may come.
    pub fn place(&self) -> Place {
        if self.alive < self.most {
            return Place::Free;
        }
        self.oldest_undecided().map_or(Place::Nowhere, Place::After)
    }

    /// The client that has been in its handshake for longest. Who connects and says nothing would otherwise keep out
    /// everybody else.
    pub fn oldest_undecided(&self) -> Option<u32> {
        let undecided = self.undecided();
        let oldest = undecided.min_by_key(|(_, client)| client.came);
        oldest.map(|(place, _)| place)
    }

    /// A client that has come at `now` takes the place that this gives.
    pub fn enter(&mut self, socket: OwnedFd, greeting: Greeting, now: Nanos) -> u32 {
        self.generation = self.generation.wrapping_add(1);
        let mut client = Box::new(Client::new(socket, self.generation, now));
        if greeting == Greeting::Tls {
            client.phase = Phase::Handshake(Handshake::before_tls());
        }
        self.alive += 1;
        let free = self.places.iter().position(Option::is_none);
        let place = free.unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(client);
        place as u32
    }

    /// A client leaves its place.
    pub fn leave(&mut self, place: u32) -> Option<Box<Client>> {
        let left = self.places.get_mut(place as usize)?.take();
        self.alive -= usize::from(left.is_some());
        left
    }

    /// Those that have not chosen an export in their time; nobody between two looks.
    pub fn late(&mut self, now: Nanos) -> Vec<u32> {
        if now < self.next_look {
            return Vec::new();
        }
        self.next_look = now + LOOK_AGAIN;
        let undecided = self.undecided();
        let late = undecided.filter(|(_, client)| now >= client.came + HANDSHAKE_MOST);
        late.map(|(place, _)| place).collect()
    }

    fn undecided(&self) -> impl Iterator<Item = (u32, &Client)> {
        let clients = (0..).zip(&self.places);
        let there = clients.filter_map(|(place, client)| Some((place, client.as_deref()?)));
        there.filter(|(_, client)| matches!(client.phase, Phase::Handshake(_)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use fathom_nbd::Session;

    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);
    const CHOSEN: Phase = Phase::Requests(Session {
        export: 0,
        structured: false,
        allocation: false,
    });

    /// A full crowd; each has come a second after the one before it.
    fn full(most: u64) -> Crowd {
        let mut crowd = Crowd::new(most as usize);
        for second in 0..most {
            assert_eq!(crowd.place(), Place::Free);
            let place = come(&mut crowd, Nanos::from_secs(second));
            assert_eq!(u64::from(place), second);
        }
        crowd
    }

    fn come(crowd: &mut Crowd, now: Nanos) -> u32 {
        let (here, _) = UnixStream::pair().unwrap();
        crowd.enter(here.into(), Greeting::Plain, now)
    }

    fn choose(crowd: &mut Crowd, place: usize) {
        crowd.places[place].as_mut().unwrap().phase = CHOSEN;
    }

    #[test]
    fn the_oldest_that_has_chosen_nothing_gives_way() {
        let mut crowd = full(4);
        choose(&mut crowd, 0);
        assert_eq!(crowd.place(), Place::After(1));
        assert!(crowd.leave(1).is_some());
        assert!(crowd.leave(1).is_none(), "it leaves once");
        assert_eq!((crowd.alive(), crowd.place()), (3, Place::Free));
        // Who comes has the place that was left, and is the youngest nevertheless.
        assert_eq!(come(&mut crowd, Nanos::from_secs(9)), 1);
        for expected in [2, 3, 1] {
            assert_eq!(crowd.place(), Place::After(expected));
            choose(&mut crowd, expected as usize);
        }
        // Nobody who uses an export gives way.
        assert_eq!(crowd.place(), Place::Nowhere);
        assert_eq!((crowd.alive(), crowd.oldest_undecided()), (4, None));
        let _ = crowd.leave(0);
        assert_eq!(crowd.place(), Place::Free);
    }

    #[test]
    fn who_takes_too_long_to_choose_is_told_from_others() {
        let mut crowd = full(4);
        choose(&mut crowd, 1);
        let just_before = HANDSHAKE_MOST.saturating_sub(Nanos::new(1));
        assert_eq!(crowd.late(just_before), [0_u32; 0]);
        // Between two looks nobody is looked for.
        assert_eq!(crowd.late(HANDSHAKE_MOST), [0_u32; 0]);
        assert_eq!(crowd.late(just_before + SECOND), [0]);
        let _ = crowd.leave(0);
        assert_eq!(crowd.late(HANDSHAKE_MOST + Nanos::from_secs(60)), [2, 3]);
    }

    #[test]
    fn who_comes_in_place_of_a_late_one_has_all_of_its_time() {
        let mut crowd = full(1);
        let _ = crowd.leave(0);
        assert_eq!(come(&mut crowd, HANDSHAKE_MOST), 0);
        assert_eq!(crowd.late(HANDSHAKE_MOST), [0_u32; 0]);
        assert_eq!(crowd.late(HANDSHAKE_MOST + HANDSHAKE_MOST), [0]);
    }
}
