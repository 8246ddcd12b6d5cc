//! Answers to requests, with the headers that every one has.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::TcpStream;

use fathom_rawio::Clock;
use fathom_units::Nanos;

/// Bytes that are written at a time.
const AT_A_TIME: usize = 64 << 10;
/// How long a client may take to take all of an answer.
const TIME_MOST: Nanos = Nanos::from_secs(60);

/// What a browser may do with what comes from here: show it, run the script from here, ask here. No other site may show it in a
/// frame, and what is shown is not kept.
const HEADERS: &str = "\
Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; form-action 'self'; \
base-uri 'none'; frame-ancestors 'none'\r\n\
X-Content-Type-Options: nosniff\r\n\
Referrer-Policy: no-referrer\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cache-Control: no-store\r\n\
Connection: close\r\n";

/// How an answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    SeeOther,
    BadRequest,
    Forbidden,
    NotFound,
    NoMethod,
    TimeOut,
    TooLong,
    Broken,
    Busy,
}

impl Status {
    pub(crate) fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::SeeOther => "303 See Other",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::NoMethod => "405 Method Not Allowed",
            Self::TimeOut => "408 Request Timeout",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::Broken => "500 Internal Server Error",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

/// What the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Page,
    Json,
    Script,
    Events,
    Text,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Page => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::Script => "text/javascript; charset=utf-8",
            Self::Events => "text/event-stream",
            Self::Text => "text/plain; charset=utf-8",
        }
    }
}

/// One answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: Status,
    kind: Kind,
    /// Headers of its own, a line each.
    own: String,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: Status, kind: Kind, body: impl Into<Vec<u8>>) -> Self {
        let own = match status {
            Status::NoMethod => "Allow: GET, HEAD\r\n".to_owned(),
            _ => String::new(),
        };
        Self {
            status,
            kind,
            own,
            body: body.into(),
        }
    }

    /// Sends the client to another place of this server, with a cookie from now on.
    pub(crate) fn elsewhere(place: &str, cookie: &str) -> Self {
        let mut answer = Self::new(Status::SeeOther, Kind::Text, "");
        // What stands in a request line has no ends of lines: nothing else than this header can come of it.
        let _ = write!(answer.own, "Location: {place}\r\nSet-Cookie: {cookie}\r\n");
        answer
    }

    /// The head; `length`: bytes of the body where they are known.
    fn head(&self, length: Option<usize>) -> String {
        let length = length.map_or_else(String::new, |length| {
            format!("Content-Length: {length}\r\n")
        });
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\n{length}{}{HEADERS}\r\n",
            self.status.line(),
            self.kind.name(),
            self.own
        )
    }

    /// Writes all of it, or its head alone.
    pub(crate) fn write(&self, client: &mut TcpStream, part: Part) -> io::Result<()> {
        let mut bytes = self.head(Some(self.body.len())).into_bytes();
        if part == Part::Whole {
            bytes.extend_from_slice(&self.body);
        }
        let until = Clock::now() + TIME_MOST;
        for piece in bytes.chunks(AT_A_TIME) {
            if Clock::now() > until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            client.write_all(piece)?;
        }
        Ok(())
    }
}

/// How an answer of events begins, whose end is not known.
pub(crate) fn head_of_events() -> String {
    Answer::new(Status::Ok, Kind::Events, "").head(None)
}

/// How much of an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    Head,
}
