//! `/events`: a run under way, told as it goes (server-sent events, <https://html.spec.whatwg.org/multipage/server-sent-events.html>).

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_runs::{Follower, RunEntry};
use fathom_units::Nanos;
use serde_json::json;

use crate::answer::head_of_events;
use crate::live::Course;

/// How often it is looked whether something was told. A run tells of each second once.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often a client is told that there is nothing, so that one which has gone is noticed.
const SIGN_EVERY: Nanos = Nanos::from_secs(15);

/// What a client gets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each line of its event log.
    Lines,
    /// What a page shows of it, made anew whenever something was told.
    View,
}

/// A run that a client follows.
#[derive(Debug)]
pub(crate) struct Following {
    follower: Follower,
    id: String,
    form: Form,
    course: Course,
}

impl Following {
    /// `run` from its beginning on.
    ///
    /// # Errors
    /// Its events cannot be read.
    pub(crate) fn new(run: RunEntry, form: Form) -> io::Result<Self> {
        Ok(Self {
            id: run.id.clone(),
            follower: Follower::new(run)?,
            form,
            course: Course::default(),
        })
    }

    /// Tells the client until the run ends or the client goes.
    pub(crate) fn tell(mut self, mut client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(LOOK_EVERY))?;
        client.write_all(head_of_events().as_bytes())?;
        let mut signed = Clock::now();
        loop {
            // Looked at first: what is told before the end is there when the end is seen.
            let is_over = self.follower.is_over();
            let text = self.more()?;
            if !text.is_empty() {
                client.write_all(text.as_bytes())?;
                signed = Clock::now();
            }
            if is_over {
                let end = json!({ "run": self.id });
                return client.write_all(format!("event: end\ndata: {end}\n\n").as_bytes());
            }
            if Clock::now().saturating_sub(signed) > SIGN_EVERY {
                client.write_all(b":\n\n")?;
                signed = Clock::now();
            }
            if has_gone(&mut client) {
                return Ok(());
            }
        }
    }

    /// What was told since the last time, as events.
    fn more(&mut self) -> io::Result<String> {
        let mut text = String::new();
        let mut is_new = false;
        loop {
            let told = self.follower.more()?;
            if told.is_empty() {
                break;
            }
            for one in told {
                if self.form == Form::Lines {
                    // A line of JSON has no ends of lines, nor have names of events.
                    let _ = write!(text, "event: {}\ndata: {}\n\n", one.name(), one.event);
                }
                self.course.take(one);
                is_new = true;
            }
            // The rest comes with the next look.
            if self.form == Form::Lines {
                break;
            }
        }
        if is_new && self.form == Form::View {
            let view = json!({ "html": self.course.html() });
            text = format!("event: view\ndata: {view}\n\n");
        }
        Ok(text)
    }
}

/// What a page shows of `run` at this moment.
pub(crate) fn view_of(run: RunEntry) -> io::Result<String> {
    let mut course = Course::default();
    let mut follower = Follower::new(run)?;
    loop {
        let told = follower.more()?;
        if told.is_empty() {
            return Ok(course.html());
        }
        for one in told {
            course.take(one);
        }
    }
}

/// Whether the client has closed the connection; waits a while for that.
fn has_gone(client: &mut TcpStream) -> bool {
    match client.read(&mut [0; 1 << 10]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => ![
            io::ErrorKind::WouldBlock,
            io::ErrorKind::TimedOut,
            io::ErrorKind::Interrupted,
        ]
        .contains(&error.kind()),
    }
}
