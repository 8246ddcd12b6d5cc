//! Messages through MPI, from the one thread that may call it.
//!
//! Nothing here waits for another host: a send is begun, and what has come is looked for. A host that has died can thus hold
//! nobody up; a buffered send (`MPI_Bsend`) of Open MPI can, which waits where the way to the receiver has to be made anew. Long
//! messages go in parts that MPI sends without asking the receiver first, so that a part that is seen is there whole; the receiver
//! says how many it has taken, so that no more than so many wait on its side.

use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::{Request, StaticScope};
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
/// Messages there and back to learn of a host's clock.
const EXCHANGES: usize = 100;
/// How long an answer to one of them is waited for.
const ANSWER_WITHIN: Nanos = Nanos::from_secs(2);

/// What a launcher has to take what was printed: much less than the second after which Open MPI's kills a process.
const PRINTED: Nanos = Nanos::from_millis(100);

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
    waiting: VecDeque<(Tag, &'static [u8])>,
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

/// A part that MPI may still read. Of a host that has died it is never known when that ends.
type Begun = Request<'static, [u8], StaticScope>;

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
    begun: Vec<Begun>,
    /// When a clock was asked for last.
    asked: Nanos,
}

impl Link {
    /// Joins the others; `None` where MPI cannot be used from a program with threads.
    pub fn join() -> Option<Self> {
        let (universe, provided) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        (provided >= Threading::Funneled).then_some(Self {
            universe,
            world,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            begun: Vec::new(),
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
        let text = text(message);
        let parts = text.chunks(PART).count();
        let outgoing = self.outgoing.entry(to).or_default();
        for (index, part) in text.chunks(PART).enumerate() {
            let tag = if index + 1 == parts { LAST } else { MORE };
            outgoing.waiting.push_back((tag, part));
        }
        self.push(to);
    }

    /// Sends what there is room for.
    fn push(&mut self, to: usize) {
        let Some(outgoing) = self.outgoing.get_mut(&to) else {
            return;
        };
        let room = PARTS_MOST.saturating_sub(outgoing.on_the_way);
        let parts: Vec<_> = outgoing
            .waiting
            .drain(..room.min(outgoing.waiting.len()))
            .collect();
        outgoing.on_the_way += parts.len();
        for (tag, part) in parts {
            self.begin(to, part, tag);
        }
    }

    /// Begins to send it.
    fn begin(&mut self, to: usize, part: &'static [u8], tag: Tag) {
        let receiver = self.world.process_at_rank(as_rank(to));
        let request = receiver.immediate_send_with_tag(StaticScope, part, tag);
        self.begun.push(request);
        self.let_go();
    }

    /// Forgets what has been sent.
    fn let_go(&mut self) {
        let begun = std::mem::take(&mut self.begun);
        self.begun = begun
            .into_iter()
            .filter_map(|request| request.test().err())
            .collect();
    }

    /// The next whole message that has come, and from whom. Questions for the clock are answered on the way.
    pub fn poll(&mut self) -> Option<(usize, Message)> {
        self.let_go();
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
                self.begin(from, &[], TAKEN);
            }
            if tag == LAST {
                let incoming = self.incoming.entry(from).or_default();
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
        self.begin(to, Box::leak(Box::new(now.get().to_le_bytes())), CLOCK);
    }

    /// Whether another host asks for this one's clock at present, and waits for each answer.
    pub fn is_asked(&self) -> bool {
        const ASKS_ON: Nanos = Nanos::from_millis(2);
        Clock::now().saturating_sub(self.asked) < ASKS_ON
    }

    /// How far the clock of `other` is ahead, and how long a message there and back takes at best; `None` where it does not
    /// answer.
    pub fn offset_of(&mut self, other: usize) -> Option<Offset> {
        let world = self.universe.world();
        let process = world.process_at_rank(as_rank(other));
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
            self.begin(other, &[], ASK_CLOCK);
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

    /// Ends all hosts at once, with this exit code: what is left where one of them does not answer any more. Before, the launcher
    /// has the time to take what was printed, which some (Slurm 22.05) let go together with the processes.
    pub fn abort(&self, code: u8) -> ! {
        sleep_until(Clock::now() + PRINTED);
        self.world.abort(i32::from(code))
    }

    /// Leaves when all others do.
    pub fn leave(mut self) {
        while !self.begun.is_empty() {
            self.let_go();
            std::thread::yield_now();
        }
        drop(self.universe);
    }
}

/// A message as it is sent, which stays in memory: MPI may read it as long as the program runs. A host sends a few short ones a
/// stage, signs of life, which are all one, and its record.
fn text(message: &Message) -> &'static [u8] {
    static ALIVE: OnceLock<Vec<u8>> = OnceLock::new();
    // Every message has a form in JSON: its maps have names as keys.
    let written = || serde_json::to_vec(message).unwrap_or_default();
    match message {
        Message::Alive => ALIVE.get_or_init(written),
        _ => written().leak(),
    }
}
