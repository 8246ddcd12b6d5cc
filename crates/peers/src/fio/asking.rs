//! The conversations of a client with its servers, at the same time.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fathom_dialects::fio::Report;
use fathom_engine::StopFlag;
use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;

use super::address::{Address, Connection};
use super::received::{ReceivedLogs, endings};
use super::start_line::{Place, StartLine};
use super::wire::{self, Reply, Request, Word};

/// How soon servers hear of a signal.
const LOOK_EVERY: Nanos = Nanos::from_millis(20);

/// What a server reported, and why it ran nothing, or what of the logs before it could not be written.
#[derive(Debug)]
pub struct Answer {
    pub report: Report,
    pub problem: Option<String>,
}

/// Asks all servers, whose jobs begin together and end when `stop` says so; of each its answer, or why there is none.
pub fn ask_all(requests: &[(Address, Request)], stop: &StopFlag) -> Vec<Result<Answer, String>> {
    let asking = Asking {
        stop,
        line: StartLine::of(requests.len()),
        open: Mutex::default(),
    };
    let hosts: Vec<_> = (requests.iter().map(|(address, _)| address.host().name)).collect();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if stop.is_requested() {
                    asking.stop_all();
                    break;
                }
                sleep_until(Clock::now() + LOOK_EVERY);
            }
        });
        let threads: Vec<_> = (requests.iter().zip(endings(&hosts)))
            .map(|((address, request), ending)| {
                let (asking, place) = (&asking, asking.line.place());
                let logs = ReceivedLogs::new(&ending);
                scope.spawn(move || asking.ask(address, request, place, logs))
            })
            .collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|answer| answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Says so when all conversations are over, however they ended: whoever looks for signals meanwhile is waited for.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What the conversations share.
struct Asking<'a> {
    stop: &'a StopFlag,
    line: StartLine,
    /// To say one word more by.
    open: Mutex<Vec<Box<dyn Connection>>>,
}

impl Asking<'_> {
    fn ask(
        &self,
        address: &Address,
        request: &Request,
        mut place: Place<'_>,
        mut logs: ReceivedLogs,
    ) -> Result<Answer, String> {
        let mut connection = address.connect().map_err(|error| {
            format!("nobody answers: {error}; start one with `fathom fio --server`")
        })?;
        let sending = |error: std::io::Error| format!("sending: {error}");
        let again = connection.again().map_err(sending)?;
        wire::send(&mut *connection, request).map_err(sending)?;
        let open = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open().push(again);
        if self.stop.is_requested() {
            // The others may have heard of it before this one was among them.
            let _ = wire::send(&mut *connection, &Word::Stop);
        }
        loop {
            match wire::receive(&mut *connection).map_err(|error| gone(&error))? {
                Reply::Ready => {
                    place.take();
                    wire::send(&mut *connection, &Word::Go).map_err(sending)?;
                }
                Reply::Log(piece) => logs.take(&piece),
                Reply::Report(report) => {
                    return Ok(Answer {
                        report: *report,
                        problem: logs.finish().map(|problem| format!("fio: {problem}")),
                    });
                }
                Reply::Refused(message, None) => return Err(message),
                Reply::Refused(message, Some(report)) => {
                    return Ok(Answer {
                        report: *report,
                        problem: Some(message),
                    });
                }
            }
        }
    }

    fn stop_all(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for connection in open.iter_mut() {
            // One that is gone has stopped.
            let _ = wire::send(&mut **connection, &Word::Stop);
        }
    }
}

/// What is said of a server that ends the conversation.
fn gone(error: &std::io::Error) -> String {
    let how = match error.kind() {
        ErrorKind::UnexpectedEof => "it ended".to_owned(),
        _ => error.to_string(),
    };
    format!("no report came ({how}): its jobs are in no figure")
}
