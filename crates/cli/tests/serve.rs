//! Served storage with real clients: libnbd's tools, its Python module, QEMU's and fio.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod nbd_client;
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use fathom_rawio::Clock;
use fathom_units::Nanos;
use nbd_client::{client, request};
use serde_json::Value;
use support::{disk_folder, expect_code, fathom, names_in, system};

/// A device without limits, and one with them.
const RAM: &str = "[[device]]\nname = 'ram'\nmount = '/ram'\nsize = '256MiB'\nlatency = 'none'\n";

/// A server, ended with its value.
struct Served {
    child: Child,
    home: PathBuf,
    told: Option<Output>,
}

impl Served {
    fn start(home: &Path, design: &str, more: &[&str]) -> Self {
        std::fs::write(home.join("d.design.toml"), design).unwrap();
        let mut command = fathom(home);
        command
            .args(["serve", "d.design.toml", "--nbd", "unix:sockets", "--json"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut served = Self {
            child: command.spawn().unwrap(),
            home: home.to_owned(),
            told: None,
        };
        let started = Clock::now();
        while UnixStream::connect(served.socket()).is_err() {
            assert!(Clock::now() - started < Nanos::from_secs(60), "no server");
            assert_eq!(served.child.try_wait().unwrap(), None, "the server ended");
            std::thread::park_timeout(Duration::from_millis(20));
        }
        served
    }

    fn socket(&self) -> PathBuf {
        self.home.join("sockets/fathom.sock")
    }

    fn uri(&self, export: &str) -> String {
        format!("nbd+unix:///{export}?socket={}", self.socket().display())
    }

    /// Interrupts it and gives its record.
    fn stop(self) -> Value {
        self.stop_and_listen().0
    }

    /// Interrupts it and gives its record, and all that it told.
    fn stop_and_listen(mut self) -> (Value, String) {
        system("kill", &["-TERM", &self.child.id().to_string()]);
        let mut text = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        let mut told = String::new();
        let stderr = self.child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut told).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert!(!self.socket().exists(), "the socket is left");
        (serde_json::from_str(&text).unwrap(), told)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.told = None;
    }
}

/// Runs a Python text with libnbd's module, `h` being a handle with base:allocation wanted.
#[track_caller]
fn python(uri: &str, text: &str) -> String {
    let head = "import nbd, sys\nh = nbd.NBD()\nh.add_meta_context('base:allocation')\n";
    let connect = format!("h.connect_uri('{uri}')\n");
    system(
        "/usr/bin/python3",
        &["-c", &format!("{head}{connect}{text}")],
    )
}

#[test]
fn tools_of_libnbd_and_qemu_see_what_is_allocated() {
    let folder = disk_folder();
    let served = Served::start(folder.path(), RAM, &["--no-record", "-q"]);
    let uri = served.uri("ram");
    let about = system("nbdinfo", &[&uri]);
    for line in [
        "export-size: 268435456",
        "can_multi_conn: true",
        "can_zero: true",
    ] {
        assert!(about.contains(line), "{about}");
    }
    // A design's only volume answers to the empty name.
    assert!(system("nbdinfo", &["--list", &served.uri("")]).contains("\"ram\""));
    let patterns = [
        "write -P 0x5a 1M 3M",
        "read -P 0x5a 1M 3M",
        "write -z 2M 64k",
        "read -P 0 2M 64k",
        "discard 3M 512k",
        "read -P 0 3M 512k",
        "write -f -P 7 12345 777",
        "read -P 7 12345 777",
        "flush",
    ];
    let mut words = vec!["-f", "raw"];
    words.extend(patterns.iter().flat_map(|one| ["-c", one]));
    words.push(&uri);
    let told = system("qemu-io", &words);
    assert!(!told.contains("failed"), "{told}");
    let map = system("nbdinfo", &["--map", &uri]);
    let spans: Vec<String> = map
        .lines()
        .map(|line| {
            line.split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    let expected = [
        "0 12288 3",
        "12288 4096 0",
        "16384 1032192 3",
        "1048576 1048576 0",
        "2097152 65536 3",
        "2162688 983040 0",
        "3145728 524288 3",
        "3670016 524288 0",
        "4194304 264241152 3",
    ];
    assert_eq!(spans, expected);
    served.stop();
}

#[test]
fn copies_by_libnbd_and_qemu_are_the_same_bytes() {
    let folder = disk_folder();
    let served = Served::start(folder.path(), RAM, &["--no-record", "-q"]);
    let uri = served.uri("ram");
    let (there, back) = (folder.path().join("there"), folder.path().join("back"));
    let (there, back) = (there.display().to_string(), back.display().to_string());
    let mut bytes = vec![0u8; 256 << 20];
    for (index, byte) in bytes[..20 << 20].iter_mut().enumerate() {
        *byte = (index * 31 / 7) as u8;
    }
    std::fs::write(&there, &bytes).unwrap();
    system("nbdcopy", &[&there, &uri]);
    system("nbdcopy", &[&uri, &back]);
    assert!(std::fs::read(&back).unwrap() == bytes);
    system(
        "qemu-img",
        &["compare", "-f", "raw", "-F", "raw", &there, &uri],
    );
    system(
        "qemu-img",
        &["convert", "-f", "raw", "-O", "raw", &uri, &back],
    );
    assert!(std::fs::read(&back).unwrap() == bytes);
    assert!(
        system("qemu-img", &["map", "--output=json", "-f", "raw", &uri]).contains("\"data\": true")
    );
    let record = served.stop();
    assert_eq!(record["kind"], "serve");
    assert!(
        record["stages"][0]["total"]["write"]["bytes"]
            .as_u64()
            .unwrap()
            > 20 << 20
    );
}

#[test]
fn python_sees_both_kinds_of_replies_and_every_refusal() {
    let folder = disk_folder();
    let served = Served::start(folder.path(), RAM, &["--no-record", "-q"]);
    let text = "\
size = h.get_size()
h.pwrite(b'a' * 5000, 100)
assert h.pread(5000, 100) == b'a' * 5000 and h.pread(0 + 100, 0) == bytes(100)
h.trim(4096, 4096); h.zero(1000, 200, nbd.CMD_FLAG_FUA); h.flush()
assert h.pread(1000, 200) == bytes(1000) and h.pread(905, 4096) == bytes(905)
h.set_strict_mode(0)
for call in (lambda: h.pread(1, size), lambda: h.pwrite(b'x', size), lambda: h.trim(1, size),
             lambda: h.pread(4096, 2**63 - 1), lambda: h.cache(1, 0)):
    try:
        call()
    except nbd.Error as error:
        assert error.errnum in (22, 28), error
    else:
        raise AssertionError('not refused')
assert h.pread(1, 100) == b'a'
plain = nbd.NBD(); plain.set_request_structured_replies(False)
plain.connect_uri(URI)
assert not plain.get_structured_replies_negotiated()
assert plain.pread(100, 100) == b'a' * 100
other = nbd.NBD(); other.connect_uri(URI)
h.pwrite(b'b' * 512, 8192); h.flush()
assert other.pread(512, 8192) == b'b' * 512
print('all well')
";
    let uri = served.uri("ram");
    let text = text.replace("URI", &format!("'{uri}'"));
    assert_eq!(python(&uri, &text), "all well");
    served.stop();
}

#[test]
fn fio_verifies_what_it_wrote_on_files_and_it_is_there_again() {
    let folder = disk_folder();
    std::fs::create_dir(folder.path().join("disks")).unwrap();
    let more = ["--no-record", "-q", "--backing", "disks"];
    let served = Served::start(folder.path(), RAM, &more);
    let uri = served.uri("ram");
    let uri_word = format!("--uri={uri}");
    let job = [
        "--name=v",
        "--ioengine=nbd",
        &uri_word,
        "--size=32m",
        "--bsrange=512-64k",
        "--rw=randwrite",
        "--iodepth=16",
        "--verify=crc32c",
        "--output-format=terse",
        "--fsync=64",
        "--randseed=5",
        "--verify_state_save=0",
    ];
    let told = system("fio", &job);
    assert!(told.contains(";v;0;0;"), "{told}");
    python(&uri, "h.pwrite(b'kept' * 128, 40 << 20)\nh.flush()");
    let record = served.stop();
    assert!(
        record["stages"][0]["total"]["sync"]["ios"]
            .as_u64()
            .unwrap()
            > 10
    );
    assert_eq!(names_in(&folder.path().join("disks")), ["ram.img"]);
    let again = Served::start(folder.path(), RAM, &more);
    python(
        &again.uri("ram"),
        "assert h.pread(512, 40 << 20) == b'kept' * 128",
    );
    again.stop();
    // A file of another size is of another design.
    std::fs::write(
        folder.path().join("d.design.toml"),
        RAM.replace("256", "128"),
    )
    .unwrap();
    let line = [
        "serve",
        "d.design.toml",
        "--nbd",
        "unix:sockets",
        "--backing",
        "disks",
        "--no-record",
    ];
    let (_, told) = expect_code(folder.path(), &line, 5);
    assert!(told.contains("another design"), "{told}");
}

/// I/Os a second of 4 KiB reads for some seconds, with so many outstanding.
fn rate(uri: &str, depth: u32, seconds: u32) -> f64 {
    let words = [
        "--name=r".to_owned(),
        "--ioengine=nbd".to_owned(),
        format!("--uri={uri}"),
        "--size=64m".to_owned(),
        "--rw=randread".to_owned(),
        "--bs=4k".to_owned(),
        format!("--iodepth={depth}"),
        "--time_based".to_owned(),
        format!("--runtime={seconds}"),
        "--output-format=json".to_owned(),
        "--norandommap".to_owned(),
    ];
    let output = Command::new("fio").args(words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let json = &text[text.find('{').unwrap()..];
    let told: Value = serde_json::from_str(json).unwrap();
    told["jobs"][0]["read"]["iops"].as_f64().unwrap()
}

/// Holes are charged like data, and the record tells of the limit and of how far all was from the model.
#[test]
fn a_limit_holds_for_holes_and_stands_in_the_record() {
    let folder = disk_folder();
    let design = RAM.replace("latency", "iops = 2000\nlatency");
    let more = [
        "-q",
        "--trace",
        "trace.csv",
        "--max-error",
        "1h",
        "--strict",
    ];
    let served = Served::start(folder.path(), &design, &more);
    let found = rate(&served.uri("ram"), 16, 3);
    // A machine with other work lets clients be late, and nobody makes that good; the limit is never exceeded.
    assert!((1000.0..2010.0).contains(&found), "{found}");
    let record = served.stop();
    let stage = &record["stages"][0];
    let read = &stage["total"]["read"];
    assert!(
        read["bound_by"]["device-iops"].as_f64().unwrap() > 0.99,
        "{read}"
    );
    let emulation = &stage["emulation"];
    assert_eq!(
        emulation["error_ns"]["p50"]
            .as_u64()
            .map(|ns| ns < 50_000_000),
        Some(true)
    );
    assert_eq!(emulation["error_bound_ns"], 3_600_000_000_000u64);
    assert_eq!(record["checks"][0]["id"], "emulation-error");
    assert!(!stage["intervals"].as_array().unwrap().is_empty());
    let trace = std::fs::read_to_string(folder.path().join("trace.csv")).unwrap();
    let mut lines = trace.lines();
    let header = "arrival_ns,volume,op,offset,length,due_ns,done_ns,limit";
    assert_eq!(lines.next(), Some(header));
    let mut count = 0;
    for line in lines {
        let words: Vec<&str> = line.split(',').collect();
        let time = |index: usize| words[index].parse::<u64>().unwrap();
        assert!(time(0) <= time(5) && time(5) <= time(6), "{line}");
        assert_eq!((words[1], words[2], words[4]), ("ram", "read", "4096"));
        count += 1;
    }
    assert_eq!(read["ios"], count);
    let (shown, _) = expect_code(folder.path(), &["report", "last"], 0);
    assert!(shown.contains("device-iops"), "{shown}");
}

/// Its record is one of many: another run may have been stored since it began.
#[test]
fn a_server_names_its_own_run() {
    let folder = disk_folder();
    let home = folder.path();
    let served = Served::start(home, RAM, &[]);
    let predict = "predict --on d.design.toml fio --name=a --filename=/ram/x --size=1m";
    let words: Vec<&str> = predict.split(' ').collect();
    expect_code(home, &words, 0);
    python(&served.uri("ram"), "h.pwrite(b'a' * 512, 0); print('done')");
    let (record, told) = served.stop_and_listen();
    assert_eq!(record["kind"], "serve");
    let own = told.lines().find_map(|line| {
        let own = line.strip_prefix("the run is stored: `fathom report ")?;
        own.strip_suffix("` shows it")
    });
    let own = own.unwrap_or_else(|| panic!("{told}"));
    let (shown, _) = expect_code(home, &["report", own], 0);
    assert!(shown.starts_with("d.design.toml served"), "{own}: {shown}");
    let (last, _) = expect_code(home, &["report", "last"], 0);
    assert!(!last.starts_with("d.design.toml served"), "{last}");
}

/// A range that enters the model in steps waits in each of them.
#[test]
fn what_is_done_in_steps_tells_all_it_waited_for() {
    let folder = disk_folder();
    let design = RAM.replace("latency", "bandwidth = '100MB/s'\nlatency");
    let served = Served::start(folder.path(), &design, &["-q"]);
    python(&served.uri("ram"), "h.zero(128 << 20, 0); print('done')");
    let record = served.stop();
    let write = &record["stages"][0]["total"]["write"];
    assert!(write["waited_share"].as_f64().unwrap() > 0.9, "{write}");
}

#[test]
fn what_is_told_to_serve_can_be_connected_to() {
    let folder = disk_folder();
    let design = RAM.replace("name = 'ram'", "name = 'a b%20?#ä'");
    std::fs::write(folder.path().join("d.design.toml"), design).unwrap();
    let mut command = fathom(folder.path());
    command.args([
        "serve",
        "d.design.toml",
        "--no-record",
        "--nbd",
        "unix:my {} disks+#%41",
    ]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.find_map(|line| Some(line.ok()?.strip_prefix("serving ")?.to_owned()));
    let uri = line.unwrap();
    let (uri, _) = uri.rsplit_once(" (").unwrap();
    let size = system("nbdinfo", &["--size", uri]);
    let seen = system("qemu-img", &["info", uri]);
    system("kill", &["-TERM", &child.id().to_string()]);
    child.wait().unwrap();
    assert_eq!(size, (256 << 20).to_string());
    assert!(seen.contains("256 MiB"), "{seen}");
}

#[test]
fn volumes_of_one_name_are_told_apart_by_their_machines() {
    let folder = disk_folder();
    let volume = "\n[[vm.volume]]\nname = 'NAME'\nmount = '/NAME'\ndisks = { type = 'P10', count = 1 }\ncaching = 'none'\n";
    let vm =
        |name: &str| format!("[[vm]]\nname = '{name}'\nsize = 'Standard_DS14'\nera = '2016'\n");
    let mut design = String::new();
    for machine in ["a", "b"] {
        design += &vm(machine);
        for index in 0..11 {
            design += &volume.replace("NAME", &format!("v{index}"));
        }
        design += &volume.replace("NAME", &format!("only-{machine}"));
    }
    let served = Served::start(folder.path(), &design, &["--no-record", "-q"]);
    let list = system("nbdinfo", &["--list", &served.uri("")]);
    assert_eq!(list.matches("export=").count(), 24, "{list}");
    for name in ["\"a/v10\"", "\"b/v0\"", "\"only-a\"", "\"only-b\""] {
        assert!(list.contains(name), "{name}: {list}");
    }
    // All at once.
    let text = "\
handles = []
for name in ['a/v%d' % i for i in range(11)] + ['b/v%d' % i for i in range(11)] + ['only-a', 'only-b']:
    one = nbd.NBD(); one.connect_uri(URI.replace('NAME', name)); handles.append(one)
for index, one in enumerate(handles): one.pwrite(bytes([index + 1]) * 4096, 8192)
for index, one in enumerate(handles): assert one.pread(4096, 8192) == bytes([index + 1]) * 4096
print(len(handles))
";
    let text = text.replace("URI", &format!("'{}'", served.uri("NAME")));
    assert_eq!(python(&served.uri("only-a"), &text), "24");
    served.stop();
}

/// A client that lists them asks about each of them on one connection.
#[test]
fn a_design_of_many_volumes_is_listed_whole() {
    let folder = disk_folder();
    let names = (0..600).map(|index| format!("d{index}"));
    let design: String = names.map(|name| RAM.replace("ram", &name)).collect();
    let served = Served::start(folder.path(), &design, &["--no-record", "-q"]);
    let list = system("nbdinfo", &["--list", &served.uri("")]);
    assert_eq!(list.matches("export-size:").count(), 600);
    assert!(list.contains("export=\"d599\""));
    served.stop();
}

/// Memory that a process has, in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn bad_clients_neither_stop_nor_fill_the_server() {
    let folder = disk_folder();
    let served = Served::start(folder.path(), RAM, &["--no-record", "-q"]);
    python(&served.uri("ram"), "h.pwrite(b'd' * (32 << 20), 0)");
    let before = resident(served.child.id());
    // Some ask for the largest reads without end and never take an answer.
    let mut deaf: Vec<UnixStream> = (0..4).map(|_| client(&served.socket(), "ram")).collect();
    let asks: Vec<u8> = (0..2000).flat_map(|_| request(0, 0, 32 << 20)).collect();
    for socket in &mut deaf {
        socket.set_nonblocking(true).unwrap();
        while socket.write(&asks).is_ok_and(|count| count > 0) {}
    }
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 4000], &[0; 10_000]] {
        let mut socket = UnixStream::connect(served.socket()).unwrap();
        let _ = socket.write_all(garbage);
        let mut socket = client(&served.socket(), "ram");
        let _ = socket.write_all(garbage);
    }
    // One lies about the length of its write, one leaves in the middle of it.
    let mut liar = client(&served.socket(), "ram");
    let _ = liar.write_all(&request(1, 0, u32::MAX));
    assert_eq!(liar.read(&mut [0; 1]).unwrap_or(0), 0, "it is cut off");
    let mut leaver = client(&served.socket(), "ram");
    leaver.write_all(&request(1, 1 << 20, 1 << 20)).unwrap();
    leaver.write_all(&[b'd'; 5000]).unwrap();
    drop(leaver);
    let crowd: Vec<UnixStream> = (0..128).map(|_| client(&served.socket(), "ram")).collect();
    let text = "assert h.pread(32 << 20, 0) == b'd' * (32 << 20)\nprint('served')";
    assert_eq!(python(&served.uri("ram"), text), "served");
    drop(crowd);
    let grown = resident(served.child.id()) - before;
    // What the volume itself holds is not counted twice: its pages were there before, mapped or not.
    assert!(grown < 64 << 10, "grew by {grown} KiB");
    drop(deaf);
    served.stop();
}

/// What is asked for beside a design, the exit code, and a part of what is said.
const NOT_SERVED: &[(&[&str], i32, &str)] = &[
    (&[], 2, "nothing says where clients come"),
    (&["--nbd", "unix:"], 2, "is no place to serve at"),
    (
        &["--nbd", "tcp:127.0.0.1:99999"],
        2,
        "is no place to serve at",
    ),
    (
        &["--nbd", "unix:s", "--nbd", "unix:s"],
        2,
        "`unix:s` was asked for twice",
    ),
    (
        &["--nbd", "unix:s", "--memory", "100"],
        2,
        "`--memory` of 100 B holds no block",
    ),
    (&["--nbd", "tcp:0.0.0.0:0"], 4, "--insecure"),
    (
        &["--nbd", "unix:s", "--backing", "none"],
        3,
        "is no directory",
    ),
    (
        &["--nbd", "unix:s", "--control", "d.design.toml"],
        5,
        "something that is no socket has that name",
    ),
    (
        &["--nbd", "unix:s", "--backing", "taken"],
        5,
        "hint: name a directory with `--backing` in which",
    ),
    (
        &["--nbd", "unix:s", "--trace", "none/t.csv"],
        5,
        "make its folder first",
    ),
    (
        &["--nbd", "unix:s", "--trace", "d.design.toml"],
        4,
        "name another file",
    ),
];

#[test]
fn what_cannot_be_served_is_told() {
    let folder = disk_folder();
    std::fs::write(folder.path().join("d.design.toml"), RAM).unwrap();
    std::fs::create_dir_all(folder.path().join("taken/ram.img")).unwrap();
    let long = format!("unix:{}", "x".repeat(120));
    let too_long: (&[&str], i32, &str) = (&["--nbd", &long], 5, "107 bytes at most");
    for (more, code, words) in NOT_SERVED.iter().copied().chain([too_long]) {
        let mut line = vec!["serve", "d.design.toml", "--no-record"];
        line.extend(more);
        let (_, told) = expect_code(folder.path(), &line, code);
        assert!(told.contains(words), "{told}");
    }
    std::fs::remove_dir_all(folder.path().join("taken")).unwrap();
    let served = Served::start(folder.path(), RAM, &["--no-record", "-q"]);
    let line = [
        "serve",
        "d.design.toml",
        "--no-record",
        "--nbd",
        "unix:sockets",
    ];
    let (_, told) = expect_code(folder.path(), &line, 5);
    assert!(told.contains("another server"), "{told}");
    served.stop();
    let left = names_in(folder.path());
    assert_eq!(
        left,
        ["d.design.toml"],
        "what was made for the socket goes with it"
    );
}

/// Any number of bytes is a volume.
#[test]
fn the_smallest_volumes_are_served() {
    let folder = disk_folder();
    for size in [1, 1000, 4097] {
        let design = RAM.replace("256MiB", &format!("{size}B"));
        let served = Served::start(folder.path(), &design, &["--no-record", "-q"]);
        let text = "\
size = h.get_size()
h.pwrite(b'x' * size, 0)
print(size, h.pread(size, 0) == b'x' * size)
";
        let told = python(&served.uri("ram"), text);
        assert_eq!(told, format!("{size} True"));
        let record = served.stop();
        let total = &record["stages"][0]["total"];
        assert_eq!(total["read"]["bytes"], size, "{total}");
    }
}

/// The protocol leaves open what no bytes are; behind the last byte they must not be the end of the server.
#[test]
fn io_of_no_bytes_is_answered_wherever_it_is() {
    const SIZE: u64 = 256 << 20;
    let folder = disk_folder();
    let served = Served::start(folder.path(), RAM, &["--no-record", "-q"]);
    let mut socket = client(&served.socket(), "ram");
    for (command, offset) in [0, 1, 3, 4, 6]
        .iter()
        .flat_map(|it| [(*it, 0), (*it, SIZE)])
    {
        socket.write_all(&request(command, offset, 0)).unwrap();
        let mut reply = [0; 16];
        let told = socket.read_exact(&mut reply);
        assert!(told.is_ok(), "command {command} at {offset}: {told:?}");
        assert_eq!(reply[4..8], [0; 4], "command {command} at {offset}");
    }
    served.stop();
}

#[test]
fn a_socket_is_inherited_and_tcp_serves_this_machine() {
    let folder = disk_folder();
    std::fs::write(folder.path().join("d.design.toml"), RAM).unwrap();
    let program = support::fathom_binary().display().to_string();
    let text = "\
import nbd
h = nbd.NBD()
h.connect_systemd_socket_activation(['PROGRAM', 'serve', 'd.design.toml', '--no-record', '-q', '--json',
    '--nbd', 'tcp:127.0.0.1:0'])
h.pwrite(b'x' * 512, 0)
assert h.pread(512, 0) == b'x' * 512
print(h.get_size())
";
    let output = Command::new("/usr/bin/python3")
        .args(["-c", &text.replace("PROGRAM", &program)])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).lines().next(),
        Some("268435456")
    );
}
