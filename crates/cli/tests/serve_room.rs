//! Zeroes over bytes that a crash may bring back, with less memory than copies of those bytes need: they wait, over NBD and in
//! files, and nobody for ever.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;
mod support;

use std::path::Path;

use live::{BACKED_AND_PLAIN, Mounted, Served, Shown, await_some};
use support::{disk_folder, system};

/// A server of the design, over NBD and as files, with a folder for bytes in files.
fn serve(home: &Path, more: &[&str]) -> Served {
    let design = home.join("d.design.toml");
    std::fs::write(&design, BACKED_AND_PLAIN).unwrap();
    for made in ["bytes", "files"] {
        std::fs::create_dir_all(home.join(made)).unwrap();
    }
    let more = [&["--fuse", "files"], more].concat();
    Served::start(home, &design, Shown::Exports, &more)
}

/// Runs Python after [`HEAD`] with the folder of a server.
fn python(home: &Path, text: &str) -> String {
    let home = home.display().to_string();
    system("/usr/bin/python3", &["-c", &format!("{HEAD}{text}"), &home])
}

/// Connections, orders, and a file's zeroes.
const HEAD: &str = "\
import ctypes, json, nbd, os, re, socket, sys, time
from concurrent.futures import ThreadPoolExecutor
K, M = 1 << 10, 1 << 20
home = sys.argv[1]
pool = ThreadPoolExecutor(4)
libc = ctypes.CDLL(None, use_errno=True)
def order(*words):
  s = socket.socket(socket.AF_UNIX); s.connect(home + '/orders.sock')
  s.sendall(json.dumps(words).encode() + b'\\n')
  told = json.loads(s.makefile().readline())
  assert told['ok'], told
  return told['text']
def connect(volume):
  one = nbd.NBD(); one.connect_uri('nbd+unix:///' + volume + '?socket=' + home + '/sockets/fathom.sock')
  return one
def disks(what):
  for disk in ['backed/disk1', 'backed/disk2', 'plain/disk1']: order(what, 'db/' + disk)
def in_the_cache():
  found = re.search(r', (\\S+) (\\S+) not on a disk', order('stats'))
  return found and float(found[1]) * {'B': 1, 'KiB': K, 'MiB': M}[found[2]]
def is_taken_in(one):
  # What is refused behind it says so.
  one.set_strict_mode(0)
  try: one.pread(1, one.get_size())
  except nbd.Error: pass
def finish(*all):
  for one in all:
    while one.aio_in_flight() > 0: one.poll(-1)
def buffer(byte, length): return nbd.Buffer.from_bytearray(bytearray(byte * length))
def fill(one, byte, length, at=0):
  for place in range(0, length, M): one.pwrite(byte * M, at + place)
  one.flush()
def kinds(one, length, at=0):
  return {bytes([byte]) for place in range(0, length, M) for byte in set(one.pread(M, at + place))}
def opened(volume): return os.open(home + '/files/' + volume, os.O_RDWR)
def zero_file(file, length, at):
  if libc.fallocate(file, 16, ctypes.c_long(at), ctypes.c_long(length)) != 0:
    raise OSError(ctypes.get_errno(), 'fallocate')
";

/// Ranges that become zeroes wait while disks are stalled, and are zeroes afterwards: with less memory than what they were needs.
fn check_waits(more: &[&str], (size, ranges): (&str, &str)) {
    let folder = disk_folder();
    let served = serve(folder.path(), more);
    let text = "\
for volume in ['backed', 'plain']:
  h, other, file = connect(volume), connect(volume), opened(volume)
  for way in ['network', 'file']:
    fill(other, b'a', size)
    disks('stall')
    if way == 'network':
      for at, length in ranges: h.aio_zero(length, at)
      done = lambda: h.aio_in_flight() == 0
    else:
      tasks = [pool.submit(zero_file, file, length, at) for at, length in ranges]
      done = lambda: all([one.done() for one in tasks])
    until = time.monotonic() + 1
    while time.monotonic() < until:
      assert not done(), 'no room was needed'
      if way == 'network': h.poll(10)
      else: time.sleep(0.01)
    disks('resume')
    if way == 'network': finish(h)
    else: [one.result() for one in tasks]
    for place in range(0, size, M):
      found = other.pread(M, place)
      for at, length in ranges:
        if place <= at < place + M:
          end = min(at - place + length, M)
          assert found[at - place:end] == bytes(end - (at - place)), (volume, way, at)
  os.close(file)
  h.trim(size, 0)
print('zeroed')
";
    assert_eq!(
        python(
            folder.path(),
            &format!("size = {size}\nranges = {ranges}\n{text}")
        ),
        "zeroed"
    );
    let record = served.stop().to_string();
    assert!(record.contains("for room that copies had"), "{record}");
}

/// Where bytes are in files, what is kept of them is in memory.
#[test]
fn long_zeroes_wait_where_memory_has_no_room_for_copies() {
    let more = ["--backing", "bytes", "--memory", "8MiB", "--tearable"];
    check_waits(&more, ("32 * M", "[(0, size)]"));
}

#[test]
fn short_zeroes_wait_where_memory_has_no_room_for_copies() {
    let more = ["--backing", "bytes", "--memory", "8MiB", "--tearable"];
    check_waits(
        &more,
        ("32 * M", "[(at, 64 * K) for at in range(0, size, 64 * K)]"),
    );
}

/// Zeroes of parts of blocks give back no memory, and their blocks are kept as a whole.
#[test]
fn zeroes_of_parts_of_blocks_wait_in_memory_too() {
    let more = ["--memory", "10MiB", "--tearable"];
    check_waits(
        &more,
        ("8 * M", "[(at + 8, 512) for at in range(0, size, 4 * K)]"),
    );
}

/// What was not acknowledged and no disk has is undone, however far it had come into the cache.
#[test]
fn a_crash_undoes_zeroes_that_wait_for_room() {
    let folder = disk_folder();
    let more = ["--backing", "bytes", "--memory", "8MiB"];
    let _served = serve(folder.path(), &more);
    let text = "\
def connected(): return connect('backed')
fill(connected(), b'a', 32 * M)
file = opened('backed')
for way in ['network', 'file']:
  h = connected()
  disks('stall')
  if way == 'network': cookie = h.aio_zero(32 * M, 0); is_taken_in(h)
  else: task = pool.submit(zero_file, file, 32 * M, 0)
  # It waits: what there was room for is in the cache.
  while (in_the_cache() or 0) < 4 * M:
    if way == 'network': h.poll(10); assert h.aio_in_flight() > 0
    else: time.sleep(0.01); assert not task.done()
  assert in_the_cache() < 16 * M
  order('crash'); disks('resume')
  if way == 'network':
    try:
      while not h.aio_command_completed(cookie): h.poll(-1)
      print('acknowledged')
    except nbd.Error as error: print(error.errno)
  else:
    try: task.result(); print('acknowledged')
    except OSError as error: print(error.errno)
  print(kinds(connected(), 32 * M))
  # All room is there again.
  h = connected()
  h.zero(8 * M, 0); h.flush(); fill(h, b'a', 8 * M)
";
    let told = python(folder.path(), text);
    assert_eq!(told, "ENOTCONN\n{b'a'}\n5\n{b'a'}");
}

/// Zeroes and writes of several clients, each of which needs room that another's copies have, and what comes after them on
/// the same bytes.
#[test]
fn zeroes_and_writes_that_lack_room_let_each_other_go_on() {
    let folder = disk_folder();
    let more = ["--backing", "bytes", "--memory", "8MiB", "--tearable"];
    let _served = serve(folder.path(), &more);
    let text = "\
for volume in ['backed', 'plain']:
  zeroes, writes, others, file = connect(volume), connect(volume), connect(volume), opened(volume)
  for turn in range(3):
    fill(others, b'a', 96 * M)
    disks('stall')
    zeroes.aio_zero(32 * M, 0)
    for place in range(16): writes.aio_pwrite(buffer(b'b', 2 * M), (32 + 2 * place) * M)
    for place in range(32): others.aio_zero(64 * K, 64 * M + place * 512 * K)
    is_taken_in(zeroes)
    # These touch what becomes zeroes, and come after it.
    tasks = [pool.submit(os.pwrite, file, b'n' * 4096, 20 * M)]
    zeroes.aio_pwrite(buffer(b'm', 4096), 24 * M)
    tasks.append(pool.submit(zero_file, file, 16 * M, 80 * M))
    if turn > 0: time.sleep(0.2)
    disks('resume')
    finish(zeroes, writes, others)
    for one in tasks: one.result()
    assert others.pread(4096, 20 * M) == b'n' * 4096, 'a write to a file was lost'
    assert others.pread(4096, 24 * M) == b'm' * 4096, 'a write was lost'
    assert kinds(others, 20 * M) == {b'\\0'} == kinds(others, 7 * M, 25 * M) == kinds(others, 16 * M, 80 * M)
    assert kinds(others, 32 * M, 32 * M) == {b'b'}
  os.close(file)
print('done')
";
    assert_eq!(python(folder.path(), text), "done");
}

/// Copies that a client keeps who stops in the middle of a write are more than there is room: what others ask for is done.
#[test]
fn who_stops_in_the_middle_of_a_write_keeps_nobody_waiting() {
    let folder = disk_folder();
    let more = ["--backing", "bytes", "--memory", "8MiB"];
    let _served = serve(folder.path(), &more);
    let text = "\
import struct
h, file = connect('backed'), opened('backed')
fill(h, b'a', 64 * M)
s = socket.socket(socket.AF_UNIX); s.connect(home + '/sockets/fathom.sock')
def take(count):
  taken = b''
  while len(taken) < count: taken += s.recv(count - len(taken))
  return taken
take(18)
s.sendall(struct.pack('>I8sII6s', 3, b'IHAVEOPT', 1, 6, b'backed'))
take(10)
s.sendall(struct.pack('>IHHQQI', 0x25609513, 0, 1, 1, 32 * M, 16 * M) + b'x' * M)
while h.pread(1, 33 * M - 1) != b'x': pass
h.zero(16 * M, 0)
h.zero(64 * K, 50 * M)
h.pwrite(b'b' * M, 52 * M)
zero_file(file, 8 * M, 16 * M)
os.pwrite(file, b'b' * M, 54 * M)
s.sendall(b'x' * (15 * M))
print(struct.unpack('>IIQ', take(16))[1:])
print(kinds(h, 24 * M), kinds(h, 16 * M, 32 * M), kinds(h, M, 52 * M), kinds(h, M, 54 * M))
";
    let told = python(folder.path(), text);
    assert_eq!(told, "(0, 1)\n{b'\\x00'} {b'x'} {b'b'} {b'b'}");
}

/// A small file system of its own, for the bytes of volumes.
struct Small {
    _mounted: Mounted,
}

impl Small {
    fn at(place: &Path, image: &Path) -> Self {
        let file = std::fs::File::create(image).unwrap();
        file.set_len(16 << 20).unwrap();
        drop(file);
        let image = image.display().to_string();
        system("mkfs.ext4", &["-q", "-m", "0", &image]);
        let mounted = Mounted::new(&image, place, "loop");
        Self {
            _mounted: mounted.unwrap(),
        }
    }
}

/// I/O that finds no room on this machine fails, is counted however it came, and makes the record doubtful; what finds room does
/// neither.
#[test]
fn what_finds_no_room_on_this_machine_is_counted() {
    for (turn, (writes, lacking)) in [("", false), (LACKING, true)].into_iter().enumerate() {
        let folder = disk_folder();
        let home = folder.path();
        let _small = Small::at(&home.join("bytes"), &home.join("small.img"));
        let served = serve(home, &["--backing", "bytes"]);
        let file = home.join("files/plain");
        await_some(60, "the volume's file", || file.metadata().ok());
        let text = format!(
            "h = connect('plain')\nh.pwrite(b'a' * M, 0); h.flush()\n{writes}print('written')"
        );
        assert_eq!(python(home, &text), "written", "turn {turn}");
        let record = served.stop();
        let mut checks = record["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["id"] == "backing-room").unwrap();
        assert_eq!(check["passed"], !lacking, "{check}");
        if lacking {
            assert_eq!(record["verdict"], "questionable");
            let evidence = check["evidence"].as_str().unwrap();
            let (count, rest) = evidence.split_once(' ').unwrap();
            assert!(
                rest.starts_with("I/Os found no room in `bytes` and failed"),
                "{evidence}"
            );
            // The kernel may write a file's pages in several I/Os.
            assert!(count.parse::<u64>().unwrap() >= 2, "{evidence}");
            let errors = &record["stages"][0]["total"]["write"]["errors"];
            assert_eq!(errors.to_string(), count);
            let remedy = check["remedy"].as_str().unwrap();
            assert!(remedy.contains("`--backing`"), "{remedy}");
        }
    }
}

/// Over NBD and as a file: each a write that all of the file system would not hold.
const LACKING: &str = "\
for at in range(M, 12 * M, M): h.pwrite(b'b' * M, at)
try: h.pwrite(b'c' * 16 * M, 32 * M); print('room')
except nbd.Error as error: assert error.errno == 'ENOSPC', error
file = opened('plain')
try:
  for at in range(64 * M, 96 * M, 128 * K): os.pwrite(file, b'd' * 128 * K, at); os.fsync(file)
  print('room')
except OSError as error: assert error.errno == 28, error
os.close(file)
";
