//! The queue against servers that behave, are slow, die, and talk nonsense.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use fathom_nbd::client::{BlockLimits, Offer, OfferFlags};
use fathom_nbd::{Command, REQUEST_BYTES, reply};

use super::*;

const SIZE: usize = 16 << 20;
const FLUSH_AND_FUA: u16 = 1 | 1 << 2 | 1 << 3;

/// A client's end of a connection whose other end `serve` has.
fn export<R: Send + 'static>(
    flags: u16,
    serve: impl FnOnce(UnixStream) -> R + Send + 'static,
) -> (NbdExport, JoinHandle<R>) {
    let (here, there) = UnixStream::pair().unwrap();
    let export = NbdExport {
        socket: File::from(OwnedFd::from(here)),
        offer: Offer {
            size: SIZE as u64,
            flags: OfferFlags(flags),
            blocks: BlockLimits::default(),
        },
    };
    (export, std::thread::spawn(move || serve(there)))
}

/// The next request with its data; `None` where the client is gone or leaves.
fn next(stream: &mut UnixStream) -> Option<(fathom_nbd::Request, Vec<u8>)> {
    let mut head = [0; REQUEST_BYTES];
    stream.read_exact(&mut head).ok()?;
    let request = fathom_nbd::Request::read(&head).unwrap().unwrap();
    let mut data = vec![0; request.payload() as usize];
    stream.read_exact(&mut data).ok()?;
    (request.command != Command::Disconnect).then_some((request, data))
}

/// A server that does one request after another, waits in its calls, and sends `step` bytes at a time. Gives the flushes and
/// durable writes it was asked for.
fn memory(step: usize) -> impl FnOnce(UnixStream) -> (u32, u32) {
    move |mut stream| {
        let mut bytes = vec![0; SIZE];
        let (mut flushes, mut through) = (0, 0);
        while let Some((request, data)) = next(&mut stream) {
            let range = request.offset as usize..request.offset as usize + request.length as usize;
            let error = fathom_nbd::check(&request, SIZE as u64, false).err();
            let mut answer = reply::simple(request.cookie, error).bytes().to_vec();
            match request.command {
                _ if error.is_some() => {}
                Command::Read => answer.extend_from_slice(&bytes[range]),
                Command::Trim => bytes[range].fill(0),
                Command::Write => {
                    through += u32::from(request.flags.fua());
                    bytes[range].copy_from_slice(&data);
                }
                _ => flushes += 1,
            }
            for piece in answer.chunks(step) {
                stream.write_all(piece).unwrap();
            }
        }
        (flushes, through)
    }
}

fn queue(export: NbdExport, slots: u32, size: u32) -> NbdQueue<'static> {
    NbdQueue::new(vec![export], slots, size, NbdWrites::Cached).unwrap()
}

fn request(slot: u32, operation: Operation, offset: u64, length: u32) -> Request {
    Request {
        slot,
        file: 0,
        operation,
        offset,
        length,
    }
}

/// All of them, and what became of them by slot.
fn run(queue: &mut NbdQueue<'_>, requests: &[Request], least: u32) -> Vec<Result<u32, i32>> {
    for request in requests {
        queue.push(*request);
    }
    let mut done = Vec::new();
    while queue.in_flight() > 0 {
        queue.submit_and_wait(least, None).unwrap();
        assert!(queue.arrived() >= least.min(queue.in_flight()));
        queue.take(usize::MAX, &mut done);
    }
    done.sort_by_key(|completion| completion.slot);
    done.iter().map(|completion| completion.result).collect()
}

/// Writes as many blocks as there are slots, and reads them back into others.
#[track_caller]
fn check(slots: u32, size: u32, step: usize, least: u32) {
    let (export, server) = export(FLUSH_AND_FUA, memory(step));
    let mut queue = queue(export, slots, size);
    let place = |slot: u32| u64::from(slot) * u64::from(size);
    for slot in 0..slots {
        queue.buffer(slot).fill(slot as u8 + 1);
    }
    let all = vec![Ok(size); slots as usize];
    let writes: Vec<_> = (0..slots)
        .map(|slot| request(slot, Operation::Write, place(slot), size))
        .collect();
    assert_eq!(run(&mut queue, &writes, least), all);
    assert_eq!(
        run(&mut queue, &[request(0, Operation::Fsync, 0, 0)], 1),
        [Ok(0)]
    );
    // Reads and writes at once: of what the first half holds, and anew of the other.
    let mixed: Vec<_> = (0..slots)
        .map(|slot| match slot % 2 {
            0 => request(slot, Operation::Read, place(slots - 1 - slot), size),
            _ => request(slot, Operation::Write, place(slots - 1 - slot), size),
        })
        .collect();
    assert_eq!(run(&mut queue, &mixed, least), all);
    for slot in (0..slots).step_by(2) {
        let expected = (slots - slot) as u8;
        assert!(queue.buffer(slot).iter().all(|byte| *byte == expected));
    }
    let past = request(0, Operation::Read, SIZE as u64 - 1, size);
    assert_eq!(run(&mut queue, &[past], 1), [Err(libc::EINVAL)]);
    drop(queue);
    assert_eq!(server.join().unwrap(), (1, 0));
}

#[test]
fn what_is_written_is_read_back() {
    check(1, 4096, usize::MAX, 1);
    check(32, 4096, usize::MAX, 1);
    check(32, 512, 7, 8);
    check(2, 4096, 1, 2);
}

#[test]
fn large_blocks_at_once_do_not_block_each_other() {
    check(4, 3 << 20, usize::MAX, 1);
    check(16, 1 << 20, 100_000, 16);
    check(16, 64 << 10, usize::MAX, 4);
}

#[test]
fn writes_can_be_durable_when_they_are_answered() {
    let (export, server) = export(FLUSH_AND_FUA, memory(usize::MAX));
    let mut queue = NbdQueue::new(vec![export], 1, 512, NbdWrites::Through).unwrap();
    run(&mut queue, &[request(0, Operation::Write, 0, 512)], 1);
    run(&mut queue, &[request(0, Operation::Read, 0, 512)], 1);
    drop(queue);
    assert_eq!(server.join().unwrap(), (0, 1));
}

/// One durable write among others, on servers that have such writes, flushes alone, or neither.
#[test]
fn one_write_can_be_durable_when_it_ends() {
    for (flags, expected) in [(FLUSH_AND_FUA, (0, 1)), (1 | 1 << 2, (1, 0)), (1, (0, 0))] {
        let (export, server) = export(flags, memory(3));
        let mut queue = queue(export, 4, 512);
        for slot in 0..4 {
            queue.buffer(slot).fill(slot as u8 + 1);
        }
        let writes = [0, 1, 2, 3].map(|slot| {
            let operation = match slot {
                1 => Operation::WriteThrough,
                _ => Operation::Write,
            };
            request(slot, operation, u64::from(slot) * 512, 512)
        });
        assert_eq!(run(&mut queue, &writes, 1), [Ok(512); 4], "{flags}");
        let read = request(0, Operation::Read, 512, 512);
        assert_eq!(run(&mut queue, &[read], 1), [Ok(512)]);
        assert!(queue.buffer(0).iter().all(|byte| *byte == 2));
        drop(queue);
        assert_eq!(server.join().unwrap(), expected, "{flags}");
    }
}

#[test]
fn a_server_without_flush_is_not_asked_for_one() {
    let (export, server) = export(1, memory(usize::MAX));
    let mut queue = queue(export, 1, 512);
    assert_eq!(
        run(&mut queue, &[request(0, Operation::Fdatasync, 0, 0)], 1),
        [Ok(0)]
    );
    drop(queue);
    assert_eq!(server.join().unwrap(), (0, 0));
}

#[test]
fn several_exports_are_waited_for_together() {
    let (first, _server) = export(1, memory(usize::MAX));
    let (second, _other) = export(1, memory(3));
    let mut queue = NbdQueue::new(vec![first, second], 4, 4096, NbdWrites::Cached).unwrap();
    for operation in [Operation::Write, Operation::Read] {
        let requests: Vec<_> = (0..4)
            .map(|slot| Request {
                file: slot % 2,
                ..request(slot, operation, 0, 4096)
            })
            .collect();
        assert_eq!(run(&mut queue, &requests, 4), [Ok(4096); 4]);
    }
}

/// What becomes of four reads, and of one after them, where the server does this once it has read one.
#[track_caller]
fn fails(serve: impl FnOnce(&mut UnixStream) + Send + 'static, expected: i32) {
    let (export, server) = export(1, move |mut stream| {
        next(&mut stream);
        serve(&mut stream);
    });
    let mut queue = queue(export, 4, 4096);
    let reads: Vec<_> = (0..4)
        .map(|slot| request(slot, Operation::Read, 0, 4096))
        .collect();
    let done = run(&mut queue, &reads, 1);
    assert!(done.iter().all(|it| *it == Err(expected)), "{done:?}");
    assert_eq!(run(&mut queue, &reads[..1], 1), [Err(expected)]);
    server.join().unwrap();
}

#[test]
fn a_connection_that_breaks_ends_all_that_is_asked_over_it() {
    fails(|_| {}, libc::ECONNRESET);
    let half = reply::simple(0, None).bytes()[..9].to_vec();
    fails(
        move |stream| {
            for _ in 0..3 {
                next(stream);
            }
            stream.write_all(&half).unwrap();
        },
        libc::ECONNRESET,
    );
}

#[test]
fn nonsense_ends_it_too() {
    let say = |bytes: Vec<u8>| move |stream: &mut UnixStream| stream.write_all(&bytes).unwrap();
    fails(say(vec![0; 16]), libc::EPROTO);
    fails(say(reply::done(0).bytes().to_vec()), libc::EPROTO);
    for cookie in [4, 1 << 33, u64::MAX] {
        fails(
            say(reply::simple(cookie, None).bytes().to_vec()),
            libc::EPROTO,
        );
    }
}

#[test]
fn random_bytes_end_it_in_some_way() {
    let mut seed = 7u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..200 {
        // Heads that are right, half of them, before what need not be.
        let mut bytes = Vec::new();
        for _ in 0..random() % 8 {
            let error = (random() % 2 == 0).then_some(fathom_nbd::NbdError::Io);
            bytes.extend_from_slice(reply::simple(random() % 5, error).bytes());
            bytes.extend((0..random() % 5000).map(|byte| byte as u8));
        }
        let (export, server) = export(1, move |mut stream| {
            next(&mut stream);
            let _ = stream.write_all(&bytes);
        });
        let mut queue = queue(export, 4, 4096);
        let reads: Vec<_> = (0..4)
            .map(|slot| request(slot, Operation::Read, 0, 4096))
            .collect();
        assert_eq!(run(&mut queue, &reads, 1).len(), 4);
        drop(queue);
        server.join().unwrap();
    }
}

#[test]
fn a_wait_for_a_silent_server_ends_in_time() {
    let (export, server) = export(1, |mut stream| while next(&mut stream).is_some() {});
    let mut queue = queue(export, 2, 4096);
    queue.push(request(0, Operation::Read, 0, 4096));
    let start = Clock::now();
    queue
        .submit_and_wait(1, Some(Nanos::from_millis(5)))
        .unwrap();
    assert!(Clock::now().saturating_sub(start) >= Nanos::from_millis(5));
    queue.submit_for(0).unwrap();
    assert_eq!((queue.arrived(), queue.in_flight()), (0, 1));
    // Dropped with a request in flight.
    drop(queue);
    server.join().unwrap();
}

#[test]
fn trims_stand_in_line_with_others() {
    let (export, server) = export(1 | 1 << 5, memory(usize::MAX));
    let mut queue = queue(export, 4, 4096);
    queue.buffer(0).fill(7);
    let write = request(0, Operation::Write, 8192, 4096);
    assert_eq!(run(&mut queue, &[write], 1), [Ok(4096)]);
    // Longer than a buffer, since no data goes with it.
    let trim = request(1, Operation::Read, 4096, 1 << 20);
    assert_eq!(queue.push_trim(trim), Trims::InLine);
    assert_eq!(run(&mut queue, &[], 1), [Ok(1 << 20)]);
    let read = request(2, Operation::Read, 8192, 4096);
    assert_eq!(run(&mut queue, &[read], 1), [Ok(4096)]);
    assert!(queue.buffer(2).iter().all(|byte| *byte == 0));
    drop(queue);
    server.join().unwrap();
}

/// What becomes of requests to servers that answer nothing, and how long that takes: `links` connections that never read, with
/// writes so large that not all can be sent, or reads.
#[track_caller]
fn given_up(links: usize, operation: Operation, times: [u64; 3], is_called_off: bool, errno: i32) {
    let size = 1 << 20;
    let mut exports = Vec::new();
    let mut there = Vec::new();
    for _ in 0..links {
        let (export, server) = export(FLUSH_AND_FUA, |stream| stream);
        exports.push(export);
        there.push(server.join().unwrap());
    }
    let silence = Silence::new(
        times.map(Nanos::from_millis),
        Box::new(move || is_called_off),
    );
    let queue = NbdQueue::new(exports, 4, size, NbdWrites::Cached).unwrap();
    let mut queue = queue.heeding(silence).unwrap();
    let requests: Vec<_> = (0..4)
        .map(|slot| Request {
            file: slot % links as u32,
            ..request(slot, operation, 0, size)
        })
        .collect();
    let start = Clock::now();
    let done = run(&mut queue, &requests, 1);
    let took = Clock::now().saturating_sub(start);
    assert_eq!(done, [Err(errno); 4]);
    assert!(
        took >= Nanos::from_millis(300) && took < Nanos::from_secs(5),
        "{took}"
    );
    // It stays given up.
    assert_eq!(run(&mut queue, &requests[..1], 1), [Err(errno)]);
}

#[test]
fn servers_that_say_nothing_are_given_up() {
    for links in [1, 2] {
        for operation in [Operation::Read, Operation::Write] {
            given_up(links, operation, [300, 300, 60_000], false, libc::ETIMEDOUT);
            given_up(
                links,
                operation,
                [60_000, 60_000, 300],
                true,
                libc::ECANCELED,
            );
        }
        given_up(
            links,
            Operation::Fsync,
            [0, 300, 60_000],
            false,
            libc::ETIMEDOUT,
        );
    }
}

#[test]
fn a_slow_server_is_not_given_up() {
    let (export, server) = export(1, |mut stream| {
        for _ in 0..4 {
            next(&mut stream).unwrap();
        }
        // Each answer comes in time, all of them together do not.
        for slot in 0..4 {
            crate::sleep_until(Clock::now() + Nanos::from_millis(250));
            stream.write_all(reply::simple(slot, None).bytes()).unwrap();
        }
        while next(&mut stream).is_some() {}
    });
    let times = [600, 600, 600].map(Nanos::from_millis);
    let silence = Silence::new(times, Box::new(|| true));
    let mut queue = queue(export, 4, 4096).heeding(silence).unwrap();
    let writes: Vec<_> = (0..4)
        .map(|slot| request(slot, Operation::Write, 0, 4096))
        .collect();
    assert_eq!(run(&mut queue, &writes, 4), [Ok(4096); 4]);
    drop(queue);
    server.join().unwrap();
}
