//! Messages through MPI, from the one thread that may call it.
//!
//! Nothing here waits for another host: a send leaves its message in a buffer, and what has come is looked for. A host that has
//! died can thus hold nobody up. Long messages go in parts that MPI sends without asking the receiver first, so that a part that
//! is seen is there whole; the receiver says how many it has taken, so that the buffer does not run over.

use std::collections::{BTreeMap, VecDeque};

use fathom_rawio::Clock;
use fathom_units::Nanos;
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use mpi::{Rank, Tag, Threading};

use crate::message::Message;
use crate::offset::{Exchange, Offset};

/// Bytes of a part: MPIs send messages of up to 4 KiB at once by all their ways, headers included.
const PART: usize = 3 << 10;
/// Parts on their way to one host at most.
const PARTS_MOST: usize = 256;
/// Taken parts that are told of together.
const TAKEN_EACH: usize = PARTS_MOST / 4;
/// Room for what is sent and not yet gone: parts to one host with MPI's own words on each, and short messages to many.
const ROOM: usize = 8 << 20;
/// Messages there and back to learn of a host's clock.
const EXCHANGES: usize = 100;
/// How long an answer to one of them is waited for.
const ANSWER_WITHIN: Nanos = Nanos::from_secs(2);

/// A part of a message that goes on.
const MORE: Tag = 1;
/// The last part of a message.
const LAST: Tag = 2;
/// So many parts were taken.
const TAKEN: Tag = 3;
/// What is your clock?
const ASK_CLOCK: Tag = 4;
/// It is this.
const CLOCK: Tag = 5;

/// What goes to one host.
#[derive(Debug, Default)]
struct Outgoing {
    waiting: VecDeque<(Tag, Vec<u8>)>,
    /// Sent and not told as taken.
    on_the_way: usize,
}

/// What comes from one host.
#[derive(Debug, Default)]
struct Incoming {
    text: Vec<u8>,
    /// Taken and not yet told as such.
    untold: usize,
}

/// As MPI counts, which never has as many.
fn as_rank(number: usize) -> Rank {
    Rank::try_from(number).unwrap_or(Rank::MAX)
}

/// The way to all other hosts.
pub struct Link {
    universe: Universe,
    world: SimpleCommunicator,
    outgoing: BTreeMap<usize, Outgoing>,
    incoming: BTreeMap<usize, Incoming>,
    /// When a clock was asked for last.
    asked: Nanos,
}

impl Link {
    /// Joins the others; `None` where MPI cannot be used from a program with threads.
    pub fn join() -> Option<Self> {
        let (mut universe, provided) = mpi::initialize_with_threading(Threading::Funneled)?;
        universe.set_buffer_size(ROOM);
        let world = universe.world();
        (provided >= Threading::Funneled).then_some(Self {
            universe,
            world,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            asked: Nanos::ZERO,
        })
    }

    /// This host's rank.
    pub fn rank(&self) -> usize {
        usize::try_from(self.world.rank()).unwrap_or_default()
    }

    /// Hosts in all.
    pub fn size(&self) -> usize {
        usize::try_from(self.world.size()).unwrap_or_default()
    }

    /// Sends `message` on its way.
    pub fn send(&mut self, to: usize, message: &Message) {
        // Every message has a form in JSON: its maps have names as keys.
        let text = serde_json::to_vec(message).unwrap_or_default();
        let parts = text.chunks(PART).count();
        let outgoing = self.outgoing.entry(to).or_default();
        for (index, part) in text.chunks(PART).enumerate() {
            let tag = if index + 1 == parts { LAST } else { MORE };
            outgoing.waiting.push_back((tag, part.to_vec()));
        }
        self.push(to);
    }

    /// Sends what there is room for.
    fn push(&mut self, to: usize) {
        let Some(outgoing) = self.outgoing.get_mut(&to) else {
            return;
        };
        while outgoing.on_the_way < PARTS_MOST
            && let Some((tag, part)) = outgoing.waiting.pop_front()
        {
            let receiver = self.world.process_at_rank(as_rank(to));
            receiver.buffered_send_with_tag(part.as_slice(), tag);
            outgoing.on_the_way += 1;
        }
    }

    /// The next whole message that has come, and from whom. Questions for the clock are answered on the way.
    pub fn poll(&mut self) -> Option<(usize, Message)> {
        loop {
            let (message, status) = self.world.any_process().immediate_matched_probe()?;
            let from = usize::try_from(status.source_rank()).unwrap_or_default();
            let tag = status.tag();
            let (bytes, _) = (message, status).matched_receive_vec::<u8>();
            match tag {
                ASK_CLOCK => {
                    self.answer(from);
                    continue;
                }
                TAKEN => {
                    let outgoing = self.outgoing.entry(from).or_default();
                    outgoing.on_the_way = outgoing.on_the_way.saturating_sub(TAKEN_EACH);
                    self.push(from);
                    continue;
                }
                MORE | LAST => {}
                // An answer that came after nobody waited for it any more.
                _ => continue,
            }
            let incoming = self.incoming.entry(from).or_default();
            incoming.text.extend(bytes);
            incoming.untold += 1;
            if incoming.untold == TAKEN_EACH {
                incoming.untold = 0;
                let sender = self.world.process_at_rank(as_rank(from));
                sender.buffered_send_with_tag(&[0_u8; 0][..], TAKEN);
            }
            if tag == LAST {
                let text = std::mem::take(&mut incoming.text);
                // All run one program, which wrote it; what it cannot read is of another version, and is let be.
                if let Ok(message) = serde_json::from_slice(&text) {
                    return Some((from, message));
                }
            }
        }
    }

    fn answer(&mut self, to: usize) {
        let now = Clock::now();
        self.asked = now;
        let asker = self.world.process_at_rank(as_rank(to));
        asker.buffered_send_with_tag(&now.get().to_le_bytes()[..], CLOCK);
    }

    /// Whether another host asks for this one's clock at present, and waits for each answer.
    pub fn is_asked(&self) -> bool {
        const ASKS_ON: Nanos = Nanos::from_millis(2);
        Clock::now().saturating_sub(self.asked) < ASKS_ON
    }

    /// How far the clock of `other` is ahead, and how long a message there and back takes at best; `None` where it does not
    /// answer.
    pub fn offset_of(&self, other: usize) -> Option<Offset> {
        let process = self.world.process_at_rank(as_rank(other));
        let mut exchanges = Vec::with_capacity(EXCHANGES);
        while process
            .immediate_matched_probe_with_tag(CLOCK)
            .is_some_and(|late| {
                late.matched_receive_vec::<u8>();
                true
            })
        {}
        for _ in 0..EXCHANGES {
            let sent = Clock::now();
            process.buffered_send_with_tag(&[0_u8; 0][..], ASK_CLOCK);
            let (bytes, received) = loop {
                if let Some(answer) = process.immediate_matched_probe_with_tag(CLOCK) {
                    let received = Clock::now();
                    break (answer.matched_receive_vec::<u8>().0, received);
                }
                if Clock::now().saturating_sub(sent) > ANSWER_WITHIN {
                    return None;
                }
                std::thread::yield_now();
            };
            let read = u64::from_le_bytes(bytes.try_into().ok()?);
            exchanges.push(Exchange {
                sent,
                read: Nanos::new(read),
                received,
            });
        }
        Offset::of(&exchanges)
    }

    /// Ends all hosts at once, with this exit code: what is left where one of them does not answer any more.
    pub fn abort(&self, code: u8) -> ! {
        self.world.abort(i32::from(code))
    }

    /// Leaves when all others do.
    pub fn leave(self) {
        drop(self.universe);
    }
}
