//! Faults of served storage: what a failing host takes with it, and changes under a running program.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;
mod support;

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_units::Nanos;
use live::BACKED_AND_PLAIN;
use support::{disk_folder, expect_code, fathom, system};

/// A server of the design, ended with its value.
struct Served {
    child: Child,
    home: PathBuf,
}

impl Served {
    fn start(home: &Path) -> Self {
        Self::start_with(home, &[])
    }

    fn start_with(home: &Path, more: &[&str]) -> Self {
        std::fs::write(home.join("d.design.toml"), BACKED_AND_PLAIN).unwrap();
        let words = [
            "serve",
            "d.design.toml",
            "-q",
            "--nbd",
            "unix:sockets",
            "--control",
            "orders.sock",
        ];
        let mut command = fathom(home);
        command
            .args(words)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::inherit());
        let served = Self {
            child: command.spawn().unwrap(),
            home: home.to_owned(),
        };
        let started = Clock::now();
        let answers = |socket: &str| UnixStream::connect(home.join(socket)).is_ok();
        while !(answers("sockets/fathom.sock") && answers("orders.sock")) {
            assert!(Clock::now() - started < Nanos::from_secs(60), "no server");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        served
    }

    fn ctl(&self, order: &[&str], code: i32) -> (String, String) {
        let words = [&["ctl", "--control", "orders.sock"], order].concat();
        expect_code(&self.home, &words, code)
    }

    /// Runs Python on a connection `h` to an export.
    fn python(&self, export: &str, text: &str) -> String {
        self.python_with(export, text, &[])
    }

    fn python_with(&self, export: &str, text: &str, words: &[&str]) -> String {
        let socket = self.home.join("sockets/fathom.sock");
        let uri = format!("nbd+unix:///{export}?socket={}", socket.display());
        let script = format!("import nbd, sys\nh = nbd.NBD()\nh.connect_uri({uri:?})\n{text}");
        system("/usr/bin/python3", &[&["-c", &script], words].concat())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status();
        let _ = self.child.wait();
    }
}

/// The bytes at the first block of a volume, as one letter each.
const LOOK: &str = "print(h.pread(8192, 0)[::4096].decode())";

#[test]
fn a_crash_takes_what_was_not_flushed_and_nothing_else() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    // The second write is acknowledged, and not flushed.
    let writes = "h.pwrite(b'a' * 8192, 0); h.flush(); h.pwrite(b'b' * 4096, 4096); ";
    for volume in ["backed", "plain"] {
        served.python(volume, &format!("{writes}print('done')"));
        assert_eq!(served.python(volume, LOOK).trim(), "ab");
    }
    let (told, _) = served.ctl(&["crash", "--vm", "db"], 0);
    assert!(told.contains("4 KiB that no disk had are lost"), "{told}");
    assert_eq!(served.python("backed", LOOK).trim(), "aa");
    assert_eq!(served.python("plain", LOOK).trim(), "ab");

    // What is forced to the disk by its own flag stays.
    served.python("backed", "h.pwrite(b'c' * 4096, 4096, nbd.CMD_FLAG_FUA)");
    let (told, _) = served.ctl(&["crash"], 0);
    assert!(told.contains("0 B that no disk had"), "{told}");
    assert_eq!(served.python("backed", LOOK).trim(), "ac");
}

#[test]
fn a_crash_cuts_connections_and_the_server_goes_on() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let control = folder.path().join("orders.sock").display().to_string();
    let text = format!(
        "import json, socket\n\
         s = socket.socket(socket.AF_UNIX); s.connect({control:?})\n\
         s.sendall(json.dumps(['crash', '--vm', 'db']).encode() + b'\\n'); s.recv(1000)\n\
         try:\n    h.pread(4096, 0)\n    print('alive')\nexcept nbd.Error:\n    print('cut')\n"
    );
    assert_eq!(served.python("plain", &text).trim(), "cut");
    assert_eq!(
        served.python("plain", "print(h.get_size() > 0)").trim(),
        "True"
    );
}

#[test]
fn what_is_detached_keeps_its_bytes() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    for volume in ["backed", "plain"] {
        served.python(volume, "h.pwrite(b'a' * 8192, 0); h.flush()");
        served.ctl(&["detach", volume], 0);
        let refused = "for one in (lambda: h.pwrite(b'b' * 8192, 0), lambda: h.zero(4096, 0), lambda: h.trim(4096, 4096),\n\
                       \x20           lambda: h.pread(512, 0), lambda: h.flush()):\n    try:\n        one()\n        \
                       print('done')\n    except nbd.Error as e:\n        print(e.errno)";
        let told = served.python(volume, refused);
        assert_eq!(told.trim(), "EIO\nEIO\nEIO\nEIO\nEIO", "{volume}");
        served.ctl(&["attach", volume], 0);
        assert_eq!(served.python(volume, LOOK).trim(), "aa", "{volume}");
    }
}

/// A flush is no read, also where it fails: while its volume is gone, and by a fault.
#[test]
fn failed_flushes_are_counted_as_what_they_are() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let fails =
        "try:\n    h.flush()\n    print('flushed')\nexcept nbd.Error as e:\n    print(e.errno)";
    for (begin, end) in [
        (["detach", "plain"], ["attach", "plain"]),
        (["eio", "plain"], ["restore", "plain"]),
    ] {
        served.ctl(&begin, 0);
        assert_eq!(served.python("plain", fails), "EIO");
        served.ctl(&end, 0);
    }
    served.python("plain", "h.pread(4096, 0)");
    drop(served);
    let (record, _) = expect_code(folder.path(), &["report", "--json", "last"], 0);
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let stage = &record["stages"][0];
    let job = &stage["jobs"][0];
    let count = |of: &serde_json::Value| of["errors"].as_u64();
    assert_eq!(
        (count(&job["sync"]), count(&job["read"])),
        (Some(2), Some(0))
    );
    assert_eq!(count(&stage["total"]["sync"]), Some(2));
    let error = &job["errors"][0];
    assert_eq!(
        (error["direction"].as_str(), error["errno"].as_i64()),
        (Some("sync"), Some(5))
    );
}

#[test]
fn limits_faults_and_questions_are_obeyed() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    served.ctl(&["limits", "plain", "iops=100"], 0);
    let timed = "import time\nt = time.time()\nfor i in range(60): h.pread(4096, 4096 * i)\nprint(time.time() - t)";
    let seconds: f64 = served.python("plain", timed).trim().parse().unwrap();
    assert!(seconds > 0.5, "60 reads at 100 a second took {seconds} s");
    let (told, _) = served.ctl(&["stats"], 0);
    assert!(
        told.contains("db/plain") && told.contains("100 IOPS"),
        "{told}"
    );
    served.ctl(&["restore", "plain"], 0);
    served.ctl(&["eio", "plain", "5%"], 0);
    served.ctl(&["detach", "backed"], 0);
    let (told, _) = served.ctl(&["stats"], 0);
    for expected in [", 5 % fail", ", detached"] {
        assert!(told.contains(expected), "{told}");
    }
    served.ctl(&["restore", "backed"], 0);
    served.ctl(&["eio", "plain"], 0);
    let fails =
        "try:\n    h.pread(4096, 0)\n    print('read')\nexcept nbd.Error as e:\n    print(e.errno)";
    assert_eq!(served.python("plain", fails).trim(), "EIO");
    served.ctl(&["eio", "plain", "0%"], 0);
    assert_eq!(served.python("plain", fails).trim(), "read");
    for (order, code, expected) in [
        (&["explode"][..], 2, "is no order"),
        (&["stall", "nothing"], 3, "no part `nothing`"),
        (&["crash", "--vm", "web"], 3, "it has db"),
        (&["warm", "web"], 3, "there are backed, plain"),
        (&["warm", "plain"], 3, "`plain` has no host cache"),
    ] {
        let (_, told) = served.ctl(order, code);
        assert!(told.contains(expected), "{told}");
    }
    drop(served);
    // Whoever reads the figures later is told what else there was than the design.
    let (shown, _) = expect_code(folder.path(), &["report", "last", "--json"], 0);
    let record: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let note = record["stages"][0]["notes"].to_string();
    for expected in [
        "these figures are not of the design alone: `limits plain iops=100` at ",
        "`eio plain 100%` at ",
    ] {
        assert!(note.contains(expected), "{note}");
    }
    // What was refused or only asked is not named, and times are from the start of serving.
    for other in ["stats", "stall", "warm", " min"] {
        assert!(!note.contains(other), "{note}");
    }
}

#[test]
fn a_script_stalls_a_volume_and_lets_it_go_on() {
    let folder = disk_folder();
    let script =
        "[[fault]]\nat = '3s'\ndo = 'stall plain'\n\n[[fault]]\nat = '5s'\ndo = 'resume plain'\n";
    std::fs::write(folder.path().join("stall.faults.toml"), script).unwrap();
    let served = Served::start_with(folder.path(), &["--faults", "stall.faults.toml"]);
    // Reads one after another over seven seconds: the longest is the stall.
    let timed = "import time\nend = time.time() + 7\nlongest = 0\nwhile time.time() < end:\n    \
                 t = time.time()\n    h.pread(4096, 0)\n    longest = max(longest, time.time() - t)\nprint(longest)";
    let longest: f64 = served.python("plain", timed).trim().parse().unwrap();
    assert!((1.0..3.0).contains(&longest), "{longest} s");
    std::fs::write(
        folder.path().join("bad.faults.toml"),
        "[[fault]]\nat = '1s'\ndo = 'explode'\n",
    )
    .unwrap();
    let words = [
        "serve",
        "d.design.toml",
        "--nbd",
        "unix:other",
        "--faults",
        "bad.faults.toml",
    ];
    let (_, told) = expect_code(folder.path(), &words, 3);
    assert!(
        told.contains("`do`: `explode` is no order") && told.contains("bad.faults.toml:3:6"),
        "{told}"
    );
    // What could not be carried out is told before anybody is served.
    let orders = [
        "stall nowhere",
        "crash --vm web",
        "warm db/none",
        "detach db/cached",
        "warm db/backed",
    ];
    let faults: Vec<String> = orders
        .iter()
        .map(|order| format!("[[fault]]\nat = '1h'\ndo = '{order}'\n"))
        .collect();
    std::fs::write(folder.path().join("bad.faults.toml"), faults.concat()).unwrap();
    let (_, told) = expect_code(folder.path(), &words, 3);
    for wrong in [
        "`do`: the storage has no part `nowhere`; it has",
        "bad.faults.toml:3:6",
        "`do`: the design has no machine `web`; it has db",
        "bad.faults.toml:6:6",
        "`do`: no volume is called `db/none`; there are",
        "bad.faults.toml:9:6",
        "`do`: `db/cached` is a part of a volume or machine",
        "bad.faults.toml:12:6",
    ] {
        assert!(told.contains(wrong), "{wrong}: {told}");
    }
    assert!(!told.contains("bad.faults.toml:15:6"), "{told}");
    served.ctl(&["warm", "db/backed"], 0);
}

/// A write that was under way when a host failed: whole as it was before, or torn between sectors, without any cache too.
#[test]
fn a_write_under_way_is_torn_on_a_volume_without_a_cache() {
    let folder = disk_folder();
    let served = Served::start_with(folder.path(), &["--no-record", "--tearable"]);
    let program = support::fathom_binary().display().to_string();
    let text = "\
import subprocess
def order(*words):
  subprocess.run([PROGRAM, 'ctl', '--control', HOME + '/orders.sock', *words], check=True, stdout=subprocess.DEVNULL)
def sectors(*crash):
  global h
  size = 1 << 20
  h.pwrite(b'a' * size, 4096); h.flush()
  order('stall', 'plain')
  cookie = h.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(b'b' * size)), 4096)
  # Its data is there when what follows it on the same connection is answered.
  h.block_status(512, 0, lambda *_: 0)
  order(*crash); order('resume', 'plain')
  h = connect()
  found = h.pread(size, 4096)
  kinds = {bytes(found[at:at + 512]) for at in range(0, size, 512)}
  assert kinds <= {b'a' * 512, b'b' * 512}, 'a sector is of neither'
  return len(kinds)
print(sectors('crash', '--torn'), sectors('crash'))
";
    let socket = folder.path().join("sockets/fathom.sock");
    let head = format!(
        "PROGRAM = {program:?}\nHOME = {:?}\ndef connect():\n  h = nbd.NBD()\n  h.add_meta_context('base:allocation')\n  \
         h.connect_uri('nbd+unix:///plain?socket={}')\n  return h\nh = connect()\n",
        folder.path().display().to_string(),
        socket.display(),
    );
    assert_eq!(served.python("plain", &format!("{head}{text}")), "2 1");
}

/// What a crash would bring back of zeroed bytes takes their room until a disk has the zeroes: others wait for it, on volumes
/// without a cache too.
#[test]
fn zeroing_gives_no_room_that_a_crash_may_need() {
    let folder = disk_folder();
    let served = Served::start_with(folder.path(), &["--memory", "40MiB"]);
    let text = "\
import json, socket
M = 1 << 20
home = sys.argv[1]
def order(*words):
  s = socket.socket(socket.AF_UNIX); s.connect(home + '/orders.sock')
  s.sendall(json.dumps(words).encode() + b'\\n')
  return json.loads(s.makefile().readline())['text']
def connect(volume):
  one = nbd.NBD(); one.connect_uri('nbd+unix:///' + volume + '?socket=' + home + '/sockets/fathom.sock')
  return one
def of_the_disk(): return order('stats').split('disk db/backed/disk1: ')[1].split(' I/Os')[0]
for other in ['backed', 'plain']:
  h.pwrite(b'a' * (20 * M), 0); h.pwrite(b'a' * (12 * M), 20 * M); h.flush()
  order('stall', 'db/backed/disk1')
  before = of_the_disk()
  h.zero(32 * M, 0)
  one = connect(other)
  cookie = one.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(b'b' * (32 * M))), 64 * M)
  # The server flushes for it, and nothing answers it before.
  while of_the_disk() == before:
    assert not one.aio_command_completed(cookie)
    one.poll(10)
  order('resume', 'db/backed/disk1')
  while not one.aio_command_completed(cookie): one.poll(-1)
  print(h.pread(32 * M, 0) == bytes(32 * M), one.pread(1, 64 * M))
  one.trim(32 * M, 64 * M)
";
    let home = folder.path().display().to_string();
    let told = served.python_with("backed", text, &[&home]);
    let each = "True bytearray(b'b')";
    assert_eq!(told.trim(), [each, each].join("\n"));
}

/// A machine fails, or a volume is gone, while a range of it becomes zeroes. A crash undoes all of what was not acknowledged;
/// what merely fails may have changed a part, and is not acknowledged when the volume is back.
#[test]
fn zeroing_that_is_cut_off_is_not_acknowledged() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let text = "\
import json, socket
M = 1 << 20
home = sys.argv[1]
def order(*words):
  s = socket.socket(socket.AF_UNIX); s.connect(home + '/orders.sock')
  s.sendall(json.dumps(words).encode() + b'\\n'); s.recv(1000)
def connect():
  h = nbd.NBD(); h.connect_uri('nbd+unix:///backed?socket=' + home + '/sockets/fathom.sock')
  return h
for words in [('crash', '--vm', 'db'), ('detach', 'backed')]:
  h = connect()
  for place in range(128): h.pwrite(b'a' * M, place * M)
  h.flush()
  # However fast it is zeroed: it is not over before the order comes.
  order('stall', 'backed')
  cookie = h.aio_zero(128 * M, 0)
  # What is refused behind it says that it has been taken in.
  h.set_strict_mode(0)
  try: h.pread(1, h.get_size())
  except nbd.Error: pass
  order(*words); order('attach', 'backed'); order('resume', 'backed')
  try:
    while not h.aio_command_completed(cookie): h.poll(-1)
    print('zeroed')
  except nbd.Error as error: print(error.errno)
  h = connect()
  found = {bytes(h.pread(1, place * M + 77)) for place in range(128)}
  print(found if words[0] == 'crash' else found <= {b'a', b'\\0'})
";
    let home = folder.path().display().to_string();
    let told = served.python_with("plain", text, &[&home]);
    assert_eq!(told, "ENOTCONN\n{b'a'}\nEIO\nTrue");
}

/// The server flushes by itself where a write waits for room: nobody asked for that I/O, and nobody loses it.
#[test]
fn a_crash_counts_no_flush_of_the_servers_own() {
    let folder = disk_folder();
    let served = Served::start_with(folder.path(), &["--memory", "8MiB"]);
    let text = "\
import json, socket
M = 1 << 20
def order(*words):
  s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1] + '/orders.sock')
  s.sendall(json.dumps(words).encode() + b'\\n')
  return json.loads(s.makefile().readline())['text']
h.pwrite(b'a' * (4 * M), 0); h.flush()
order('stall', 'db/backed/disk1')
h.pwrite(b'b' * (4 * M), 0)
def of_the_disk(): return order('stats').split('disk db/backed/disk1: ')[1].split(' I/Os')[0]
before = of_the_disk()
cookie = h.aio_pwrite(nbd.Buffer.from_bytearray(bytearray(4 * M)), 0)
while of_the_disk() == before: h.poll(10)
print(order('crash'))
";
    let home = folder.path().display().to_string();
    let told = served.python_with("backed", text, &[&home]);
    assert!(told.contains(" 0 I/Os were under way"), "{told}");
}

/// A client that still sends the data of a write does not understand that it was refused.
#[test]
fn a_write_is_refused_once_its_data_has_come() {
    let folder = disk_folder();
    let served = Served::start_with(folder.path(), &["--memory", "40MiB"]);
    let socket = folder.path().join("sockets/fathom.sock");
    let socket = socket.display();
    // The second half of a write comes when its volume is gone: it changes nothing, and the connection lives.
    let text = format!(
        "import socket, struct, subprocess\n\
         h.pwrite(b'o' * 8192, 0)\n\
         s = socket.socket(socket.AF_UNIX); s.connect('{socket}')\n\
         def take(n):\n  b = b''\n  while len(b) < n:\n    b += s.recv(n - len(b))\n  return b\n\
         def begin(cookie, offset, length):\n  \
         s.sendall(struct.pack('>IHHQQI', 0x25609513, 0, 1, cookie, offset, length))\n\
         def quiet():\n  \
         s.settimeout(0.3)\n  \
         try: return not s.recv(1)\n  \
         except TimeoutError: return True\n  \
         finally: s.settimeout(None)\n\
         take(18)\n\
         s.sendall(struct.pack('>I8sII5s', 3, b'IHAVEOPT', 1, 5, b'plain'))\n\
         take(10)\n\
         begin(1, h.get_size() - 4096, 8192)\n\
         s.sendall(b'x' * 4096)\n\
         print(quiet())\n\
         s.sendall(b'x' * 4096)\n\
         print(struct.unpack('>IIQ', take(16))[1:])\n\
         begin(2, 0, 8192)\n\
         s.sendall(b'x' * 4096)\n\
         while h.pread(1, 0) != b'x': pass\n\
         subprocess.run(sys.argv[1:] + ['detach', 'db/plain'], check=True, stdout=sys.stderr)\n\
         print(quiet())\n\
         s.sendall(b'x' * 4096)\n\
         print(struct.unpack('>IIQ', take(16))[1:])\n\
         subprocess.run(sys.argv[1:] + ['attach', 'db/plain'], check=True, stdout=sys.stderr)\n\
         print(h.pread(8192, 0)[4096:] == b'o' * 4096)\n"
    );
    let program = support::fathom_binary();
    let control = folder.path().join("orders.sock");
    let words = [program.to_str().unwrap(), "ctl", "--control"];
    let words = [&words[..], &[control.to_str().unwrap()]].concat();
    let told = served.python_with("plain", &text, &words);
    assert_eq!(told, "True\n(28, 1)\nTrue\n(5, 2)\nTrue");
}

/// The room of new bytes is taken once, though a crash may take them back, and whatever of them a disk has by then.
#[test]
fn new_bytes_take_their_room_once() {
    let folder = disk_folder();
    let served = Served::start_with(folder.path(), &["--memory", "40MiB"]);
    let text = "\
M = 1 << 20
for place in range(40): h.pwrite(b'a' * M, place * M)
if sys.argv[1:]: h.flush()
print('room')
try:
    h.pwrite(b'a', 64 * M)
except nbd.Error as error:
    print(error.errno)
if not sys.argv[1:]: h.trim(20 * M, 20 * M)";
    for words in [&["flush"][..], &[], &[]] {
        assert_eq!(
            served.python_with("backed", text, words),
            "room\nENOSPC",
            "{words:?}"
        );
        served.ctl(&["crash"], 0);
    }
}

/// What is written over is kept in memory until a disk has what replaced it: writes wait where it has no room. `how` gives the
/// functions `put` and `get`.
fn check_writing_over(more: &[&str], how: &str) {
    let folder = disk_folder();
    for made in ["bytes", "files"] {
        std::fs::create_dir(folder.path().join(made)).unwrap();
    }
    let more = [more, &["--memory", "8MiB"]].concat();
    let served = Served::start_with(folder.path(), &more);
    let text = format!("{how}\n{}", "\
from concurrent.futures import ThreadPoolExecutor
def fill(byte):
  with ThreadPoolExecutor(4) as pool: list(pool.map(lambda place: put(byte * M, place * M), range(64)))
fill(b'a'); h.flush()
fill(b'b')
print({bytes(get(1, place * M)) for place in range(64)})");
    let home = folder.path().display().to_string();
    let head = "import os, mmap\nM = 1 << 20\nhome = sys.argv[1]";
    let told = served.python_with("backed", &format!("{head}\n{text}"), &[&home]);
    assert_eq!(told, "{b'b'}");
    let (told, _) = served.ctl(&["crash"], 0);
    let lost = told.split(" failed: ").nth(1).unwrap();
    let (lost, _) = lost.split_once(" that no disk had").unwrap();
    let (number, unit) = lost.split_once(' ').unwrap();
    let is_less = ["KiB", "B"].contains(&unit);
    let number: f64 = number.parse().unwrap();
    assert!(is_less || unit == "MiB" && number <= 12.0, "{told}");
    drop(served);
    let (record, _) = expect_code(folder.path(), &["report", "--json", "last"], 0);
    assert!(record.contains("for room that copies had"), "{record}");
}

#[test]
fn what_is_kept_of_writes_stays_within_memory() {
    check_writing_over(&["--backing", "bytes"], "put, get = h.pwrite, h.pread");
}

#[test]
fn what_is_kept_of_writes_to_files_stays_within_memory() {
    check_writing_over(
        &["--backing", "bytes", "--fuse", "files"],
        "f = os.open(home + '/files/backed', os.O_RDWR)\n\
         def put(bytes, at): assert os.pwrite(f, bytes, at) == len(bytes)\n\
         def get(count, at): return os.pread(f, 4096, at)[:count]",
    );
}

/// Those who connect and say nothing keep no order waiting, however many they are.
#[test]
fn silent_clients_of_the_control_socket_keep_nobody_waiting() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let place = folder.path().join("orders.sock");
    let silent: Vec<UnixStream> = (0..20)
        .map(|_| UnixStream::connect(&place).unwrap())
        .collect();
    let started = Clock::now();
    served.ctl(&["stats"], 0);
    // One after another they would be waited for for 5 s each, 100 s in all.
    assert!(Clock::now() - started < Nanos::from_secs(30));
    drop(silent);
}

/// Who comes when the process may have no more descriptors is turned away; the others are served. Those who only connect give way.
#[test]
fn clients_beyond_the_descriptors_are_turned_away() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let limit = ["--nofile=40:40", "--pid", &served.child.id().to_string()].map(str::to_owned);
    system("prlimit", &limit.each_ref().map(String::as_str));
    let text = "\
import socket
home = sys.argv[1]
chosen = bytes([0, 0, 0, 3]) + b'IHAVEOPT' + bytes([0, 0, 0, 1, 0, 0, 0, 5]) + b'plain'
def told(says=chosen):
  s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(home + '/sockets/fathom.sock')
  clients.append(s)
  greeting = len(s.recv(18))
  if greeting and says:
    s.sendall(says)
    assert len(s.recv(10)) == 10
  return greeting
clients = []
found = {told() for _ in range(60)}
h.pwrite(b'a' * 512, 0)
for s in clients: s.close()
h.flush()
silent = {told(says=b'') for _ in range(60)}
print(found, silent, told())
h.flush()
";
    let home = folder.path().display().to_string();
    assert_eq!(
        served.python_with("plain", text, &[&home]),
        "{0, 18} {18} 18"
    );
}

/// 1,024 clients are there at most: who says nothing gives way to who comes, the oldest first, and who has chosen an export
/// does not.
#[test]
fn clients_beyond_the_places_are_turned_away() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let text = "\
import resource, select, socket
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, hard)))
chosen = bytes([0, 0, 0, 3]) + b'IHAVEOPT' + bytes([0, 0, 0, 1, 0, 0, 0, 5]) + b'plain'
def come(says):
  s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1] + '/sockets/fathom.sock')
  if len(s.recv(18)) == 0: return None
  if says:
    s.sendall(says)
    assert len(s.recv(10)) == 10
  return s
def is_gone(s):
  poll = select.poll(); poll.register(s, select.POLLIN)
  return len(poll.poll(0)) > 0
# One place is the connection's that this began with.
silent = [come(b'') for _ in range(1100)]
print([is_gone(s) for s in silent] == [True] * 77 + [False] * 1023)
for s in silent: s.close()
used = [come(chosen) for _ in range(1023)]
print(None in used, come(chosen))
used[7].close(); h.flush()
print(come(chosen) is None)
";
    let home = folder.path().display().to_string();
    assert_eq!(
        served.python_with("plain", text, &[&home]),
        "True\nFalse None\nFalse"
    );
}

/// A killed server leaves its socket for orders, which stays until it is removed; those of servers that run stay.
#[test]
fn sockets_of_killed_servers_can_be_removed() {
    let folder = disk_folder();
    let home = folder.path();
    std::fs::write(home.join("d.design.toml"), BACKED_AND_PLAIN).unwrap();
    let mut children = Vec::new();
    for name in ["killed", "running"] {
        let words = ["serve", "d.design.toml", "--no-record", "-q", "--nbd"];
        let mut command = fathom(home);
        command.args(words).arg(format!("unix:{name}"));
        command.env("XDG_RUNTIME_DIR", home).stdout(Stdio::null());
        children.push(command.spawn().unwrap());
    }
    let of = |child: &Child| home.join(format!("fathom-serve-{}.sock", child.id()));
    let sockets: Vec<PathBuf> = children.iter().map(of).collect();
    while !sockets.iter().all(|one| UnixStream::connect(one).is_ok()) {
        let ended = children
            .iter_mut()
            .any(|one| one.try_wait().unwrap().is_some());
        assert!(!ended, "a server ended");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    children[0].kill().unwrap();
    children[0].wait().unwrap();
    let mut clean = fathom(home);
    clean
        .args(["serve", "--clean"])
        .env("XDG_RUNTIME_DIR", home);
    let told = clean.output().unwrap();
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        told.contains(&format!("removed {}", sockets[0].display())),
        "{told}"
    );
    let there: Vec<bool> = sockets.iter().map(|one| one.exists()).collect();
    let _ = Command::new("kill")
        .args(["-INT", &children[1].id().to_string()])
        .status();
    children[1].wait().unwrap();
    assert_eq!(there, [false, true]);
}

/// Nothing is said of servers that cannot be seen.
#[test]
fn without_a_folder_for_sockets_orders_are_said_to_need_one() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let missing = home.join("missing");
    for (runtime, says) in [
        (None, "no server can be found: `XDG_RUNTIME_DIR` is not set"),
        (Some(missing.as_path()), "`XDG_RUNTIME_DIR` names no folder"),
        (Some(home), "no server of this user runs"),
    ] {
        let mut ctl = fathom(home);
        ctl.args(["ctl", "stats"]).env_remove("XDG_RUNTIME_DIR");
        if let Some(runtime) = runtime {
            ctl.env("XDG_RUNTIME_DIR", runtime);
        }
        let told = ctl.output().unwrap();
        let errors = String::from_utf8_lossy(&told.stderr).into_owned();
        assert_eq!(told.status.code(), Some(5), "{errors}");
        assert!(errors.contains(says), "{errors}");
        assert!(errors.contains("hint: "), "{errors}");
    }
}

/// A pipe that nobody writes to is waited for, until an interrupt.
#[test]
fn a_script_that_does_not_come_keeps_nobody_from_ending() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let pipe = home.join("script").display().to_string();
    system("mkfifo", &[&pipe]);
    let design = "[[device]]\nname = 'd'\nmount = '/d'\nsize = '1MiB'\nlatency = 'none'\n";
    std::fs::write(home.join("d.design.toml"), design).unwrap();
    let words = "serve d.design.toml --nbd unix:s --no-record --faults script";
    let mut server = fathom(home);
    let mut server = server.args(words.split(' ')).spawn().unwrap();
    // Asleep in `openat`, by which everything before is over.
    let place = format!("/proc/{}/syscall", server.id());
    let opens = format!("{} ", number_of_openat());
    while !std::fs::read_to_string(&place).is_ok_and(|call| call.starts_with(&opens)) {
        assert!(server.try_wait().unwrap().is_none(), "it ended");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    system("kill", &["-INT", &server.id().to_string()]);
    let asked = Clock::now();
    while server.try_wait().unwrap().is_none() {
        if Clock::now() - asked > Nanos::from_secs(20) {
            server.kill().unwrap();
            panic!("it goes on waiting");
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Number of the call that opens files (`asm/unistd.h`).
const fn number_of_openat() -> u32 {
    if cfg!(target_arch = "x86_64") {
        257
    } else {
        56
    }
}
