//! Threads that answer: a few for pages, and one for each client that follows a run, up to a bound.

use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_units::Nanos;

use crate::answer::{Answer, Kind, Part, Status};
use crate::events::Following;
use crate::request::{Method, Request, Wrong};
use crate::site::{Reply, Site};

/// Threads that make pages.
const THREADS: usize = 4;
/// Requests that wait for one of them. A browser has some six at a time.
const WAITING_MOST: usize = 64;
/// Clients that follow runs at a time.
const FOLLOWING_MOST: usize = 32;
/// How long a client may take for a part of an answer.
const STEP_TIME: Duration = Duration::from_secs(10);
/// How long, and for how many bytes, what a client still sends is taken after the answer: closed before, the connection would be
/// reset, and the answer lost.
const LINGER: (Nanos, usize) = (Nanos::from_millis(200), 64 << 10);

type Asked = (TcpStream, Result<Request, Wrong>);

/// The threads. They end with the program: they only read.
#[derive(Debug)]
pub(crate) struct Workers {
    queue: SyncSender<Asked>,
}

impl Workers {
    /// Starts them.
    ///
    /// # Errors
    /// The system has no room for a thread.
    pub(crate) fn start(site: &Arc<Site>) -> io::Result<Self> {
        let (queue, waiting) = sync_channel(WAITING_MOST);
        let waiting = Arc::new(Mutex::new(waiting));
        let following = Arc::new(AtomicUsize::new(0));
        for _ in 0..THREADS {
            let (site, waiting) = (Arc::clone(site), Arc::clone(&waiting));
            let following = Arc::clone(&following);
            let thread = std::thread::Builder::new().name("page".to_owned());
            thread.spawn(move || {
                while let Some((client, request)) = next(&waiting) {
                    // Whoever has gone gets nothing.
                    let _ = answer(&site, client, &request, &following);
                }
            })?;
        }
        Ok(Self { queue })
    }

    /// Has `request` answered. Who asks more than can wait gets nothing.
    pub(crate) fn give(&self, client: TcpStream, request: Result<Request, Wrong>) {
        let _ = self.queue.try_send((client, request));
    }
}

fn next(waiting: &Mutex<Receiver<Asked>>) -> Option<Asked> {
    let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.recv().ok()
}

fn answer(
    site: &Site,
    mut client: TcpStream,
    request: &Result<Request, Wrong>,
    following: &Arc<AtomicUsize>,
) -> io::Result<()> {
    client.set_nonblocking(false)?;
    client.set_write_timeout(Some(STEP_TIME))?;
    client.set_nodelay(true)?;
    let reply = catch_unwind(AssertUnwindSafe(|| site.reply(request)));
    let reply = reply.unwrap_or_else(|_| {
        let text = "The page could not be made: that is a fault of fathom.\n";
        Reply::Whole(Answer::new(Status::Broken, Kind::Text, text))
    });
    let part = match request {
        Ok(request) if request.method == Method::Head => Part::Head,
        _ => Part::Whole,
    };
    match reply {
        Reply::Whole(answer) => {
            answer.write(&mut client, part)?;
            leave(client)
        }
        Reply::Events(run) => follow(client, *run, following),
    }
}

/// Follows a run in a thread of its own, where there is one left.
fn follow(mut client: TcpStream, run: Following, following: &Arc<AtomicUsize>) -> io::Result<()> {
    if following.fetch_add(1, Ordering::SeqCst) >= FOLLOWING_MOST {
        following.fetch_sub(1, Ordering::SeqCst);
        let text =
            format!("Too many clients follow runs: {FOLLOWING_MOST} at a time are the most.\n");
        Answer::new(Status::Busy, Kind::Text, text).write(&mut client, Part::Whole)?;
        return leave(client);
    }
    let left = Arc::clone(following);
    let thread = std::thread::Builder::new().name("events".to_owned());
    let started = thread.spawn(move || {
        let _ = catch_unwind(AssertUnwindSafe(|| run.tell(client)));
        left.fetch_sub(1, Ordering::SeqCst);
    });
    if started.is_err() {
        following.fetch_sub(1, Ordering::SeqCst);
    }
    started.map(|_| ())
}

/// Closes the connection so that the client has all of the answer.
fn leave(mut client: TcpStream) -> io::Result<()> {
    client.shutdown(Shutdown::Write)?;
    let (time, most) = LINGER;
    let until = Clock::now() + time;
    client.set_read_timeout(Some(Duration::from_nanos(time.get())))?;
    let (mut piece, mut taken) = ([0; 4 << 10], 0);
    while taken < most && Clock::now() < until {
        match client.read(&mut piece)? {
            0 => break,
            count => taken += count,
        }
    }
    Ok(())
}
