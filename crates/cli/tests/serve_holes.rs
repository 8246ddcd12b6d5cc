//! Large ranges that are trimmed or zeroed: beside the serving thread, and in order with what overlaps them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use support::{disk_folder, fathom, system};

const DESIGN: &str = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '512MiB'\nlatency = 'none'\n";

/// A server, ended with its value.
struct Served {
    child: Child,
    socket: PathBuf,
}

impl Served {
    fn start(home: &Path, more: &[&str]) -> Self {
        std::fs::write(home.join("d.design.toml"), DESIGN).unwrap();
        let words = [
            "serve",
            "d.design.toml",
            "-q",
            "--no-record",
            "--nbd",
            "unix:s",
        ];
        let mut command = fathom(home);
        command.args(words).args(more).stdout(Stdio::null());
        let mut served = Self {
            child: command.spawn().unwrap(),
            socket: home.join("s/fathom.sock"),
        };
        while UnixStream::connect(&served.socket).is_err() {
            assert_eq!(served.child.try_wait().unwrap(), None, "the server ended");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        served
    }

    fn python(&self, text: &str) -> String {
        let socket = self.socket.display();
        let head = format!(
            "import nbd\nM = 1 << 20\ndef connect():\n  h = nbd.NBD()\n  h.connect_uri('nbd+unix:///d?socket={socket}')\n  \
             return h\nh = connect()\n"
        );
        system("/usr/bin/python3", &["-c", &format!("{head}{text}")])
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What overlaps a hole that is on its way comes after it, by the same client and by another; what does not goes on.
const OVERLAPS: &str = "\
other = connect()
block = bytes(range(256)) * 4096
def buffer(data): return nbd.Buffer.from_bytearray(bytearray(data))
def finish(*handles):
  for one in handles:
    while one.aio_in_flight() > 0: one.poll(-1)
for place in range(256): h.pwrite(block, place * M)
for turn, discard in enumerate([h.aio_zero, h.aio_trim, h.aio_zero]):
  discard(256 * M - 5000, 1000, flags=nbd.CMD_FLAG_FUA if turn == 2 else 0)
  # The same connection: these come in after it.
  h.aio_pwrite(buffer(b'n' * 512), 7 * M + 100)
  h.aio_zero(64 * M, 100 * M)
  h.aio_pwrite(buffer(b'm' * M), 130 * M + 512)
  outside = other.pread(M, 256 * M - 4000)[:4000]
  assert outside == block[-4000:], 'what is outside is touched'
  finish(h)
  assert h.pread(1000, 0) == block[:1000]
  found = h.pread(512 + 200, 7 * M)
  assert found == b'\\0' * 100 + b'n' * 512 + b'\\0' * 100, (turn, found[:120])
  assert h.pread(M, 130 * M + 512) == b'm' * M
  assert h.pread(512, 130 * M) == b'\\0' * 512
  for place in range(1, 256):
    if place not in (7, 130, 131, 255): assert h.pread(M, place * M) == b'\\0' * M, (turn, place)
  for place in range(256): h.pwrite(block, place * M)
h.flush()
h.zero(256 * M, 0, flags=nbd.CMD_FLAG_FUA)
print('in order')
";

#[test]
fn a_large_hole_of_a_file_is_in_order_with_what_overlaps_it_and_gives_its_room_back() {
    let folder = disk_folder();
    std::fs::create_dir(folder.path().join("disks")).unwrap();
    let served = Served::start(folder.path(), &["--backing", "disks"]);
    assert_eq!(served.python(OVERLAPS), "in order");
    let left = std::fs::metadata(folder.path().join("disks/d.img")).unwrap();
    assert!(left.blocks() * 512 < 1 << 20, "{} blocks", left.blocks());
}

#[test]
fn a_large_hole_in_memory_is_in_order_and_its_memory_may_be_taken_again() {
    let folder = disk_folder();
    // Room for what is written, and little more: without what each hole gives back the next turn has none.
    let served = Served::start(folder.path(), &["--memory", "260MiB"]);
    assert_eq!(served.python(OVERLAPS), "in order");
}

/// Where a crash may bring back what is zeroed, that is copied first, a part at a time.
#[test]
fn what_is_zeroed_a_part_at_a_time_is_in_order_with_what_overlaps_it() {
    let folder = disk_folder();
    std::fs::create_dir(folder.path().join("disks")).unwrap();
    for more in [&["--memory", "262MiB"][..], &["--backing", "disks"]] {
        let served = Served::start(folder.path(), &[more, &["--tearable"]].concat());
        assert_eq!(served.python(OVERLAPS), "in order", "{more:?}");
    }
    let left = std::fs::metadata(folder.path().join("disks/d.img")).unwrap();
    assert!(left.blocks() * 512 < 1 << 20, "{} blocks", left.blocks());
}

#[test]
fn nobody_waits_for_what_another_zeroes() {
    let folder = disk_folder();
    let served = Served::start(folder.path(), &["--tearable"]);
    let text = "\
import time
other = connect()
for place in range(256): h.pwrite(b'x' * M, place * M)
other.pwrite(b'o' * 4096, 300 * M)
begun = time.monotonic()
h.aio_zero(256 * M, 0)
longest, reads = 0, 0
while h.aio_in_flight() > 0:
  at = time.monotonic()
  assert other.pread(4096, 300 * M) == b'o' * 4096
  longest, reads = max(longest, time.monotonic() - at), reads + 1
  h.poll(0)
taken = time.monotonic() - begun
assert longest < taken / 4, (longest, taken, reads)
assert h.pread(M, 255 * M) == bytes(M)
print('served')
";
    assert_eq!(served.python(text), "served");
}

#[test]
fn zeroes_that_were_flushed_outlive_the_server() {
    let folder = disk_folder();
    std::fs::create_dir(folder.path().join("disks")).unwrap();
    let served = Served::start(folder.path(), &["--backing", "disks"]);
    let text = "\
for place in range(200): h.pwrite(b'x' * M, place * M)
h.zero(200 * M, 0)
h.flush()
";
    served.python(text);
    drop(served);
    let again = Served::start(folder.path(), &["--backing", "disks"]);
    let text = "\
for place in range(200): assert h.pread(M, place * M) == b'\\0' * M, place
print('zeroes')
";
    assert_eq!(again.python(text), "zeroes");
}

/// One client's write comes in two halves, and another trims its range in between: the acknowledged bytes that came after the
/// trim are there, for those who read and for those who ask where data is.
#[test]
fn data_that_comes_after_a_trim_is_there() {
    let folder = disk_folder();
    let served = Served::start(folder.path(), &[]);
    let socket = served.socket.display();
    let text = format!(
        "import socket, struct\n\
         s = socket.socket(socket.AF_UNIX); s.connect('{socket}')\n\
         def take(n):\n  b = b''\n  while len(b) < n:\n    b += s.recv(n - len(b))\n  return b\n\
         take(18)\n\
         s.sendall(struct.pack('>I8sIIc', 3, b'IHAVEOPT', 1, 1, b'd'))\n\
         take(10)\n\
         h.pwrite(b'o' * 8192, 0)\n\
         s.sendall(struct.pack('>IHHQQI', 0x25609513, 0, 1, 7, 0, 8192) + b'x' * 4096)\n\
         import time\n\
         for _ in range(200):\n  if h.pread(1, 0) == b'x': break\n  time.sleep(0.01)\n\
         h.trim(8192, 0)\n\
         s.sendall(b'x' * 4096)\n\
         print(take(16)[4:8] == bytes(4))\n\
         print(h.pread(8192, 0)[4096:] == b'x' * 4096)\n\
         g = nbd.NBD(); g.add_meta_context('base:allocation'); g.connect_uri('nbd+unix:///d?socket={socket}')\n\
         found = []\n\
         g.block_status(4096, 4096, lambda name, offset, entries, error: found.extend(entries))\n\
         print(found[1])\n"
    );
    assert_eq!(served.python(&text), "True\nTrue\n0");
}
