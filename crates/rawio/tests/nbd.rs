//! Exports of a real server.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use fathom_nbd::Uri;
use fathom_rawio::{
    Clock, NbdQueue, NbdWrites, Operation, Queue as _, Request, connect_to_export, list_exports,
    look_at_export, sleep_until, survey_export,
};
use fathom_units::Nanos;

const SIZE: u64 = 8 << 20;

/// A qemu-nbd on a file, ended when it is dropped.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let image = folder.join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(SIZE)
            .unwrap();
        let socket = folder.join("socket");
        let mut command = Command::new("qemu-nbd");
        command.args(["--persistent", "--shared=0", "--format=raw", "-x", "disk"]);
        command.arg("-k").arg(&socket).args(more).arg(&image);
        let child = command.spawn().unwrap();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            sleep_until(Clock::now() + Nanos::from_millis(5));
        }
        Self { child, socket }
    }

    fn uri(&self, export: &str) -> Uri {
        let socket = self.socket.display();
        Uri::parse(&format!("nbd+unix:///{export}?socket={socket}")).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes blocks of `size` at that depth, makes them durable, and reads them back.
#[track_caller]
fn check(uri: &Uri, depth: u32, size: u32, writes: NbdWrites) {
    let export = connect_to_export(uri).unwrap();
    assert_eq!(export.offer.size, SIZE);
    let mut queue = NbdQueue::new(vec![export], depth, size, writes).unwrap();
    for operation in [Operation::Write, Operation::Fdatasync, Operation::Read] {
        for slot in 0..depth {
            if operation != Operation::Fdatasync {
                let byte = u8::from(operation == Operation::Write);
                queue.buffer(slot).fill(byte * (slot as u8 + 1));
            }
            queue.push(Request {
                slot,
                file: 0,
                operation,
                offset: u64::from(slot) * u64::from(size),
                length: if operation == Operation::Fdatasync {
                    0
                } else {
                    size
                },
            });
        }
        let mut done = Vec::new();
        while queue.in_flight() > 0 {
            queue.submit_and_wait(1, None).unwrap();
            queue.take(usize::MAX, &mut done);
        }
        assert!(done.iter().all(|it| it.result.is_ok()), "{done:?}");
    }
    for slot in 0..depth {
        assert!(queue.buffer(slot).iter().all(|it| *it == slot as u8 + 1));
    }
}

#[test]
fn a_real_server_keeps_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let uri = server.uri("disk");
    assert_eq!(look_at_export(&uri).unwrap().size, SIZE);
    check(&uri, 1, 4096, NbdWrites::Cached);
    check(&uri, 32, 4096, NbdWrites::Through);
    check(&uri, 8, 1 << 20, NbdWrites::Cached);
    let error = look_at_export(&server.uri("other")).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("it has no such export; it has `disk`"),
        "{error}"
    );
}

#[test]
fn a_real_server_says_what_may_not_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--read-only"]);
    let offer = look_at_export(&server.uri("disk")).unwrap();
    assert!(offer.flags.is_read_only());
}

#[test]
fn a_server_that_is_not_there_is_not_waited_for() {
    let nowhere = Uri::parse("nbd+unix:///?socket=/nowhere/at/all").unwrap();
    let error = connect_to_export(&nowhere).unwrap_err().to_string();
    assert!(
        error.starts_with("`/nowhere/at/all` cannot be reached: No such file"),
        "{error}"
    );
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let closed = Uri::parse(&format!("nbd://127.0.0.1:{port}/")).unwrap();
    let error = connect_to_export(&closed).unwrap_err().to_string();
    assert!(
        error.contains("cannot be reached: Connection refused"),
        "{error}"
    );
}

#[test]
fn a_real_server_is_asked_for_all_that_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--discard=unmap"]);
    assert_eq!(list_exports(&server.uri("")).unwrap(), ["disk"]);
    let (offer, has_structured) = survey_export(&server.uri("disk")).unwrap();
    assert_eq!((offer.size, has_structured), (SIZE, Some(true)));
    assert!(offer.flags.has_trim() && offer.flags.has_write_zeroes());
    assert!(survey_export(&server.uri("other")).is_err());
}
