//! What client and server say to each other: frames of JSON, each behind its length in four bytes, most significant first.
//!
//! This is not fio's own protocol, which demands the same version on both ends; both ends here are `fathom fio`. A client
//! sends one [`Request`]. The server answers with [`Reply::Ready`] when its jobs may begin and waits for [`Word::Go`]; when they
//! are over, with a reply for each piece of a log, and one that is the last. [`Word::Stop`] ends its jobs, whose results it then
//! reports; so does a client that goes away, which needs no report.

use std::io::{Error, ErrorKind, Read, Write};

use fathom_dialects::fio::Report;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Version of the protocol; both ends must have the same.
pub const PROTOCOL: u32 = 4;
/// Longest frame. A report of a thousand jobs with full histograms has some 100 MB.
const LONGEST: usize = 1 << 30;
/// Frames are read in pieces, so that a length alone takes no memory.
const PIECE: usize = 1 << 20;

/// What a client asks for.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// fio's own words, without those of client and server.
    pub arguments: Vec<String>,
    /// Path and text of the job files they name, and of the files these include.
    pub files: Vec<(String, String)>,
}

/// What a client says while its jobs are prepared or run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// All servers are ready: the jobs begin.
    Go,
    /// The jobs end, and what was measured is reported.
    Stop,
}

/// What a server answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// All that the first jobs need is there.
    Ready,
    /// A piece of a log; more follows.
    Log(LogPiece),
    /// The jobs ran.
    Report(Box<Report>),
    /// They did not: why, and what their results have of it, where they could be read.
    Refused(String, Option<Box<Report>>),
}

/// A piece of a log. The first of each log may be empty, so that a log without lines is there, too.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LogPiece {
    /// The log's path, as the jobs name it.
    pub path: String,
    /// Whole lines.
    pub text: String,
    /// They are stored as a zlib stream.
    pub compressed: bool,
    /// What the file had before stays.
    pub append: bool,
}

/// Sends one message.
///
/// # Errors
/// Where the other end is gone.
pub fn send(stream: &mut dyn Write, message: &impl Serialize) -> std::io::Result<()> {
    // One write, so that two threads may send.
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = frame.len() - 4;
    let length = u32::try_from(length).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    stream.write_all(&frame)?;
    stream.flush()
}

/// Waits for one message.
///
/// # Errors
/// Where the other end is gone, or speaks otherwise.
pub fn receive<T: DeserializeOwned>(stream: &mut dyn Read) -> std::io::Result<T> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > LONGEST {
        return Err(Error::new(
            ErrorKind::InvalidData,
            "a message longer than 1 GiB; is the other end `fathom fio`?",
        ));
    }
    let mut text = Vec::new();
    while text.len() < length {
        let begun = text.len();
        text.resize(length.min(begun + PIECE), 0);
        stream.read_exact(&mut text[begun..])?;
    }
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_whole() {
        let request = Request {
            protocol: PROTOCOL,
            arguments: vec!["--name=a".to_owned()],
            files: vec![("a.fio".to_owned(), "[a]\n".to_owned())],
        };
        let mut bytes = Vec::new();
        send(&mut bytes, &request).unwrap();
        let again: Request = receive(&mut bytes.as_slice()).unwrap();
        assert_eq!(again.arguments, request.arguments);
        assert_eq!(again.files, request.files);
    }

    #[test]
    fn foreign_and_broken_messages_are_errors() {
        for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 9, b'{'], &[0, 0]] {
            assert!(receive::<Request>(&mut &bytes[..]).is_err(), "{bytes:?}");
        }
    }
}
