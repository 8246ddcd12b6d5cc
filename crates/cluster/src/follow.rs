//! A host that is led: passes on what its run says and is told, until the first host has all.

use std::sync::mpsc::{Receiver, Sender};

use fathom_rawio::Clock;
use fathom_units::Nanos;

use crate::link::Link;
use crate::message::{Ended, Message};
use crate::pace::{Asked, Pace, next};

/// The first host's rank.
pub const FIRST: usize = 0;
/// How long a run that is to end has to do so where nobody waits for it any more.
const ENDS_WITHIN: Nanos = Nanos::from_secs(5);

/// How it ended.
#[derive(Debug)]
pub enum Followed {
    /// The first host has all, and says to leave.
    Left,
    /// Nothing was heard of the first host; what the own run came to, if it ended.
    FirstLost(Option<Box<Ended>>),
    /// The own run's thread has died.
    RunDied,
}

/// Serves the run on this host until it is told to leave.
pub fn follow(
    link: &mut Link,
    (from_run, to_run): (&Receiver<Message>, &Sender<Message>),
    asked: &Asked,
    lost_after: Nanos,
) -> Followed {
    let mut pace = Pace::new();
    let mut heard = Clock::now();
    let (mut is_over, mut ended) = (false, None);
    loop {
        while let Some((_, message)) = link.poll() {
            heard = Clock::now();
            match message {
                Message::Leave => return Followed::Left,
                Message::Stop => asked.stop.request(),
                Message::Go | Message::Begin(_) => {
                    pace.rest();
                    // A run that is over needs no more.
                    let _ = to_run.send(message);
                }
                _ => {}
            }
        }
        if link.is_asked() {
            std::thread::yield_now();
            continue;
        }
        match next(from_run, pace.nap(), is_over) {
            Ok(Some(message)) => {
                pace.watch();
                link.send(FIRST, &message);
                is_over |= matches!(message, Message::Refused(_));
                if let Message::Ended(own) = message {
                    is_over = true;
                    ended = Some(own);
                }
            }
            Ok(None) => {}
            Err(_) => return Followed::RunDied,
        }
        asked.heed();
        if pace.is_time_to_tell() {
            link.send(FIRST, &Message::Alive);
        }
        if Clock::now().saturating_sub(heard) > lost_after {
            asked.stop.request();
            return Followed::FirstLost(ended.or_else(|| last_words(from_run)));
        }
    }
}

/// What a run comes to that was told to end.
fn last_words(from_run: &Receiver<Message>) -> Option<Box<Ended>> {
    let until = Clock::now() + ENDS_WITHIN;
    while Clock::now() < until {
        match next(from_run, Nanos::from_millis(20), false) {
            Ok(Some(Message::Ended(own))) => return Some(own),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}
