//! `--inflate-log`: a compressed log as text.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use fathom_session::{Code, Failure, unread_hint};

use super::output::Output;
use flate2::bufread::ZlibDecoder;

/// Text is printed in pieces of this size.
const PIECE: usize = 1 << 16;

/// Writes the text of the log at `path`: zlib streams one after another.
///
/// # Errors
/// Where it cannot be read, or is no such log.
pub fn inflate(path: &str, output: &mut Output<'_>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
                "name a log that a job with `log_store_compressed=1` wrote (`.log.fz`)".to_owned()
            }
            kind => unread_hint(Path::new(path), kind),
        };
        Failure::new(Code::Input, format!("`{path}` cannot be inflated: {error}")).hint(hint)
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    let mut piece = vec![0; PIECE];
    while !reader.fill_buf().map_err(unreadable)?.is_empty() {
        let mut stream = ZlibDecoder::new(&mut reader);
        loop {
            let count = stream.read(&mut piece).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            // Logs are ASCII; a piece cannot end within a character.
            output.write(&String::from_utf8_lossy(&piece[..count]));
        }
    }
    Ok(())
}
