//! A bare client of NBD, for tests that say what no library would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A client of that export past its handshake, with simple replies.
pub fn client(socket: &Path, export: &str) -> UnixStream {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.read_exact(&mut [0; 18]).unwrap();
    let mut hello = 3u32.to_be_bytes().to_vec();
    hello.extend(b"IHAVEOPT");
    // NBD_OPT_EXPORT_NAME
    hello.extend(1u32.to_be_bytes());
    hello.extend(u32::try_from(export.len()).unwrap().to_be_bytes());
    hello.extend(export.as_bytes());
    stream.write_all(&hello).unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    stream
}

/// A request as the wire has it, without data.
pub fn request(command: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend([0, 0]);
    bytes.extend(command.to_be_bytes());
    bytes.extend([9; 8]);
    bytes.extend(offset.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes
}
