//! Clients and servers that end in the middle of what they do: what was flushed is there, and every I/O is counted once.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;
mod nbd_client;
mod support;

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use live::{Mounted, Served, Shown, await_some, open_folder};
use nbd_client::{client, request};
use serde_json::Value;
use support::{expect_code, system};

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;
const BLOCK: u32 = 4096;

/// A server of one device, with so many I/Os a second where it has a limit.
fn serve(home: &Path, iops: Option<u32>, shown: Shown, more: &[&str]) -> Served {
    let limit = iops.map_or(String::new(), |iops| format!("iops = {iops}\n"));
    let design =
        "[[device]]\nname = 'd'\nmount = '/d'\nsize = '64MiB'\nlatency = 'none'\n".to_owned();
    let path = home.join("d.design.toml");
    std::fs::write(&path, design + &limit).unwrap();
    Served::start(home, &path, shown, more)
}

/// So many reads, each of its own block.
fn reads(count: u64) -> Vec<u8> {
    let each = |index| request(READ, index * u64::from(BLOCK), BLOCK);
    (0..count).flat_map(each).collect()
}

/// Takes answers to so many reads.
fn take_reads(stream: &mut UnixStream, count: usize) {
    let mut answer = vec![0; 16 + BLOCK as usize];
    for _ in 0..count {
        stream.read_exact(&mut answer).unwrap();
    }
}

/// Takes an answer without data.
fn answered(stream: &mut UnixStream) {
    let mut answer = [0; 16];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[4..8], [0; 4], "it failed");
}

fn write(stream: &mut UnixStream, offset: u64, byte: u8) {
    stream.write_all(&request(WRITE, offset, BLOCK)).unwrap();
    stream.write_all(&[byte; BLOCK as usize]).unwrap();
    answered(stream);
}

fn flush(stream: &mut UnixStream) {
    stream.write_all(&request(FLUSH, 0, 0)).unwrap();
    answered(stream);
}

/// I/Os of a kind in a record.
fn ios(record: &Value, kind: &str) -> u64 {
    let total = &record["stages"][0]["total"][kind];
    assert!(
        total.is_null() || total["errors"] == 0,
        "{kind} failed: {total}"
    );
    total["ios"].as_u64().unwrap_or(0)
}

#[test]
fn what_waits_when_serving_ends_is_told() {
    let folder = open_folder();
    let served = serve(folder.path(), Some(4), Shown::Exports, &[]);
    let mut one = client(&served.socket(), "d");
    one.write_all(&reads(200)).unwrap();
    take_reads(&mut one, 3);
    let record = served.stop();
    let done = ios(&record, "read");
    assert!((3..200).contains(&done), "{done}");
    let notes = record["stages"][0]["notes"].to_string();
    let expected = format!("{} I/Os were under way when serving ended", 200 - done);
    assert!(notes.contains(&expected), "{done} done: {notes}");
}

/// What a killed client had asked for is done, as a disk does it; a write of which a part came is none.
#[test]
fn clients_that_are_killed_are_counted_once() {
    let folder = open_folder();
    let served = serve(folder.path(), Some(100), Shown::Exports, &[]);
    let mut torn = client(&served.socket(), "d");
    torn.write_all(&request(WRITE, 0, 1 << 20)).unwrap();
    torn.write_all(&vec![1; 300_000]).unwrap();
    let mut half = client(&served.socket(), "d");
    half.write_all(&reads(1)[..11]).unwrap();
    let mut waits = client(&served.socket(), "d");
    waits.write_all(&reads(40)).unwrap();
    take_reads(&mut waits, 3);
    let mut flushes = client(&served.socket(), "d");
    write(&mut flushes, 8 << 20, 2);
    flushes.write_all(&request(FLUSH, 0, 0)).unwrap();
    drop((torn, waits, flushes));
    // Behind all that waits, and undisturbed.
    let mut other = client(&served.socket(), "d");
    other.write_all(&reads(1)).unwrap();
    take_reads(&mut other, 1);
    half.write_all(&reads(1)[11..]).unwrap();
    take_reads(&mut half, 1);
    flush(&mut half);
    let record = served.stop();
    let counts = ["read", "write", "sync"].map(|kind| ios(&record, kind));
    assert_eq!(counts, [42, 1, 2]);
    assert_eq!(record["stages"][0]["notes"], serde_json::json!([]));
}

#[test]
fn what_was_flushed_outlives_a_server_that_is_killed() {
    let folder = open_folder();
    let home = folder.path();
    std::fs::create_dir(home.join("store")).unwrap();
    let store = ["--backing", "store"];
    let mut next = 0;
    for round in 1..=3u8 {
        let mut served = serve(home, None, Shown::Exports, &store);
        let mut one = client(&served.socket(), "d");
        for _ in 0..16 {
            write(&mut one, next * u64::from(BLOCK), round);
            next += 1;
        }
        flush(&mut one);
        // What is written from here on may be there.
        let mut rest = request(WRITE, 32 << 20, 1 << 20);
        rest.extend(vec![round; 1 << 19]);
        one.write_all(&rest).unwrap();
        served.kill();
        // Its socket is left, and is in nobody's way.
        assert!(home.join("sockets/fathom.sock").exists());
    }
    let served = serve(home, None, Shown::Exports, &store);
    let mut one = client(&served.socket(), "d");
    for index in 0..next {
        let offset = index * u64::from(BLOCK);
        one.write_all(&request(READ, offset, BLOCK)).unwrap();
        let mut answer = vec![0; 16 + BLOCK as usize];
        one.read_exact(&mut answer).unwrap();
        let round = (index / 16) as u8 + 1;
        assert!(
            answer[16..].iter().all(|byte| *byte == round),
            "block {index}"
        );
    }
    served.stop();
}

/// A device that is mounted cannot go yet: what has to be done first is told, and once that is done nothing is left.
#[test]
fn a_mounted_device_of_a_killed_server_is_told_of() {
    let folder = open_folder();
    let home = folder.path();
    let mut served = serve(home, None, Shown::Devices, &[]);
    let device = served.devices[0].clone();
    system("mkfs.ext4", &["-q", &device]);
    let place = home.join("mounted");
    let mounted = Mounted::new(&device, &place, "rw").unwrap();
    served.kill();
    let (_, told) = expect_code(home, &["serve", "--clean"], 0);
    let umount = format!("`umount {}`", place.display());
    let expected = format!("detached {device}, which is still mounted: it is gone after {umount}");
    assert!(told.contains(&expected), "{told}");
    assert!(!told.contains("losetup -d"), "{told}");
    let (_, told) = expect_code(home, &["serve", "--clean"], 0);
    assert!(told.contains(&format!("{umount} frees")), "{told}");
    drop(mounted);
    await_some(60, "the device's end", || {
        let (_, told) = expect_code(home, &["serve", "--clean"], 0);
        (!told.contains(&device)).then_some(())
    });
}
