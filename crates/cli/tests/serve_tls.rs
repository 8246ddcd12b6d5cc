//! TLS of served storage with real clients: libnbd's tools, its Python module, and QEMU's.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use support::{disk_folder, expect_code, fathom, system};

const RAM: &str = "[[device]]\nname = 'ram'\nmount = '/ram'\nsize = '256MiB'\nlatency = 'none'\n";

/// Makes `NAME-key.pem` and `NAME-cert.pem`, signed by `authority` or by itself.
fn certificate(folder: &Path, name: &str, authority: Option<&str>) {
    let subject = format!("/CN={name}");
    let (key, cert) = (format!("{name}-key.pem"), format!("{name}-cert.pem"));
    let mut words = vec!["req", "-x509", "-newkey", "ec", "-pkeyopt"];
    words.extend(["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]);
    words.extend(["-subj", &subject, "-keyout", &key, "-out", &cert]);
    let signer = authority.map(|by| (format!("{by}-cert.pem"), format!("{by}-key.pem")));
    if let Some((cert, key)) = &signer {
        words.extend(["-CA", cert, "-CAkey", key]);
        words.extend(["-addext", "basicConstraints=critical,CA:FALSE"]);
        words.extend(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    } else {
        words.extend(["-addext", "basicConstraints=critical,CA:TRUE"]);
        words.extend(["-addext", "keyUsage=keyCertSign"]);
    }
    openssl(folder, &words);
}

#[track_caller]
fn openssl(folder: &Path, words: &[&str]) {
    let mut command = Command::new("openssl");
    let made = command.args(words).current_dir(folder).output().unwrap();
    let told = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{told}");
}

/// Makes `NAME-cert.pem` of its key anew, by `openssl x509 -req` without extensions: version 1.
fn old_certificate(folder: &Path, name: &str, authority: &str) {
    let (key, cert) = (format!("{name}-key.pem"), format!("{name}-cert.pem"));
    let (by, its_key) = (
        format!("{authority}-cert.pem"),
        format!("{authority}-key.pem"),
    );
    let subject = format!("/CN={name}");
    let asked = ["req", "-new", "-key", &key, "-subj", &subject];
    let signed = ["x509", "-req", "-days", "2", "-in", "asked.pem"];
    let by = ["-CA", &by, "-CAkey", &its_key, "-CAcreateserial"];
    openssl(folder, &[&asked[..], &["-out", "asked.pem"]].concat());
    openssl(folder, &[&signed[..], &by, &["-out", &cert]].concat());
}

/// Certificates in a folder: those of the server and of a client, of one authority; in `stranger` those of a client of another
/// authority that trusts this one; in `nobody` none.
fn certificates(folder: &Path) {
    certificate(folder, "ca", None);
    certificate(folder, "server", Some("ca"));
    certificate(folder, "client", Some("ca"));
    for other in ["stranger", "nobody"] {
        std::fs::create_dir(folder.join(other)).unwrap();
    }
    certificate(&folder.join("stranger"), "ca", None);
    certificate(&folder.join("stranger"), "client", Some("ca"));
    for other in ["stranger", "nobody"] {
        std::fs::copy(
            folder.join("ca-cert.pem"),
            folder.join(other).join("ca-cert.pem"),
        )
        .unwrap();
    }
}

/// A server that speaks TLS, ended with its value.
struct Served {
    child: Child,
    home: PathBuf,
    port: u16,
    /// What it has told.
    told: Arc<Mutex<Vec<String>>>,
}

impl Served {
    fn start(home: &Path) -> Self {
        certificates(home);
        std::fs::write(home.join("d.design.toml"), RAM).unwrap();
        let words = ["serve", "d.design.toml", "--nbd", "tcp:127.0.0.1:0"];
        let more = [
            "--tls-certificates",
            ".",
            "--no-record",
            "--control",
            "orders",
        ];
        let mut child = fathom(home)
            .args(words)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = told.by_ref().find_map(|line| {
            let line = line.unwrap();
            let rest = line.strip_prefix("serving nbds://127.0.0.1:")?;
            rest.split('/').next()?.parse().ok()
        });
        // What it tells later is taken, so that it never waits to be read.
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        std::thread::spawn(move || {
            let keep = |line| kept.lock().unwrap().push(line);
            told.map_while(Result::ok).for_each(keep);
        });
        Self {
            child,
            home: home.to_owned(),
            port: port.unwrap(),
            told: lines,
        }
    }

    /// Waits until it has told a line that has a part.
    fn wait_told(&self, part: &str) {
        for _ in 0..400 {
            let told = self.told.lock().unwrap();
            if told.iter().any(|line| line.contains(part)) {
                return;
            }
            drop(told);
            std::thread::park_timeout(Duration::from_millis(50));
        }
        panic!("`{part}` is not in {:?}", self.told.lock().unwrap());
    }

    /// The export for clients with the certificates of a folder.
    fn uri(&self, certificates: &str) -> String {
        let folder = self.home.join(certificates);
        let (port, folder) = (self.port, folder.display());
        format!("nbds://localhost:{port}/ram?tls-certificates={folder}")
    }

    /// Runs Python with the export's address as `URI`.
    fn python(&self, text: &str) -> String {
        let head = "import nbd\ndef connect():\n  h = nbd.NBD()\n  h.set_uri_allow_local_file(True)\n  \
                    h.connect_uri(URI)\n  return h\n";
        let uri = format!("URI = '{}'\n", self.uri("."));
        system("/usr/bin/python3", &["-c", &format!("{uri}{head}{text}")])
    }

    /// A connection that has been greeted.
    fn raw(&self) -> TcpStream {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        socket.read_exact(&mut [0; 18]).unwrap();
        socket
    }

    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        let words = line.unwrap().split_whitespace().nth(1);
        words.unwrap().parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client's flags, and its wish for TLS.
const START_TLS: &[u8] = b"\0\0\0\x03IHAVEOPT\0\0\0\x05\0\0\0\0";

/// What a program that must fail says.
#[track_caller]
fn fails(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn qemu(served: &Served, certificates: &str) -> Vec<String> {
    let folder = served.home.join(certificates);
    vec![
        "--object".to_owned(),
        format!(
            "tls-creds-x509,id=t,endpoint=client,dir={}",
            folder.display()
        ),
        "--image-opts".to_owned(),
        format!(
            "driver=nbd,host=localhost,port={},export=ram,tls-creds=t",
            served.port
        ),
    ]
}

#[test]
fn clients_with_certificates_read_what_they_wrote() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let uri = served.uri(".");
    let about = system("nbdinfo", &[&uri]);
    for line in ["with TLS", "export-size: 268435456", "base:allocation"] {
        assert!(about.contains(line), "{about}");
    }
    assert!(system("nbdinfo", &["--list", &uri]).contains("export=\"ram\""));
    // Bytes that follow from their places, of no one length that buffers have.
    let (image, back) = (folder.path().join("image"), folder.path().join("back"));
    let words = (0..(48u32 << 20) / 4).map(|word| word.wrapping_mul(0x9E37_79B1).to_le_bytes());
    let mut bytes: Vec<u8> = words.flatten().collect();
    bytes.resize(256 << 20, 0);
    std::fs::write(&image, &bytes).unwrap();
    system("nbdcopy", &[image.to_str().unwrap(), &uri]);
    system("nbdcopy", &[&uri, back.to_str().unwrap()]);
    assert!(
        std::fs::read(&back).unwrap() == bytes,
        "another copy came back"
    );
    // QEMU compares it as well.
    let mut words = vec!["compare".to_owned()];
    words.extend(qemu(&served, "."));
    words.push(format!(
        "driver=raw,file.driver=file,file.filename={}",
        image.display()
    ));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(system("qemu-img", &words).contains("identical"));
}

#[test]
fn two_clients_at_once_have_their_own_answers() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let text = "\
import random, threading
def work(number):
  h = connect()
  draw = random.Random(number)
  for turn in range(60):
    size = draw.choice([512, 4096, 100000, 1 << 20, (4 << 20) + 512])
    place = number * (64 << 20) + draw.randrange(32 << 20)
    block = draw.randbytes(size)
    h.pwrite(block, place)
    assert h.pread(size, place) == block, (number, turn)
  h.flush(); h.shutdown(); done.append(number)
done = []
threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
for one in threads: one.start()
for one in threads: one.join()
print(sorted(done))
";
    assert_eq!(served.python(text), "[0, 1]");
}

#[test]
fn clients_without_a_certificate_of_the_authority_are_refused() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    for who in ["nobody", "stranger"] {
        fails("nbdinfo", &[&served.uri(who)]);
        let mut words = vec!["info".to_owned()];
        words.extend(qemu(&served, who));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        fails("qemu-img", &words);
    }
    served.wait_told("note: no TLS with 127.0.0.1:");
    served.wait_told("peer sent no certificates");
    let plain = format!("nbd://localhost:{}/ram", served.port);
    fails("nbdinfo", &[&plain]);
    let told = fails("qemu-img", &["info", &plain]);
    assert!(told.contains("this server wants TLS first"), "{told}");
    // A client that does not trust the server leaves.
    std::fs::rename(
        served.home.join("stranger/ca-cert.pem"),
        served.home.join("stranger/away"),
    )
    .unwrap();
    certificate(&served.home.join("stranger"), "ca", None);
    fails("nbdinfo", &[&served.uri("stranger")]);
    system("nbdinfo", &[&served.uri(".")]);
}

#[test]
fn bad_clients_end_their_own_connections() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let before = served.memory();
    // What is slipped in behind the wish for TLS is not taken for the client's.
    let mut slipped = START_TLS.to_vec();
    slipped.extend(b"IHAVEOPT\0\0\0\x03\0\0\0\0");
    let mut answer = Vec::new();
    let mut socket = served.raw();
    socket.write_all(&slipped).unwrap();
    let _ = socket.read_to_end(&mut answer);
    assert!(answer.len() <= 20, "{answer:?}");
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0xff; 16_000],
        &[22, 3, 1, 0xff, 0xff],
    ] {
        let mut socket = served.raw();
        socket.write_all(START_TLS).unwrap();
        let mut acknowledged = [0; 20];
        socket.read_exact(&mut acknowledged).unwrap();
        assert_eq!(acknowledged[12..16], [0, 0, 0, 1]);
        let _ = socket.write_all(garbage);
        // At once, or for want of the rest of the handshake after some seconds.
        let _ = socket.read_to_end(&mut Vec::new());
    }
    // Some ask for much and never take it.
    let text = "\
greedy = [connect() for _ in range(3)]
import os
block = os.urandom(1 << 20)
for place in range(32): greedy[0].pwrite(block, place << 20)
for one in greedy:
  for _ in range(12): one.aio_pread(nbd.Buffer(4 << 20), 0)
other = connect()
for place in range(32): assert other.pread(1 << 20, place << 20) == block
print('served')
";
    assert_eq!(served.python(text), "served");
    let grown = served.memory().saturating_sub(before);
    assert!(grown < (32 + 64) << 10, "grew by {grown} KiB");
    system("nbdinfo", &[&served.uri(".")]);
}

/// Whoever says half of a handshake, before TLS or inside it, is parted with; whoever has chosen an export is not.
#[test]
fn handshakes_have_their_time() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let mut half = served.raw();
    half.write_all(&START_TLS[..9]).unwrap();
    let text = "\
import select
used = connect()
idle = nbd.NBD()
idle.set_opt_mode(True); idle.set_uri_allow_local_file(True); idle.connect_uri(URI)
poll = select.poll()
poll.register(idle.aio_get_fd(), select.POLLIN)
print(len(poll.poll(120_000)))
try: idle.opt_info(); print('there')
except nbd.Error: print('gone')
used.pwrite(b'a' * 512, 0)
print(used.pread(512, 0)[:1].decode())
";
    assert_eq!(served.python(text), "1\ngone\na");
    // It came before that one did.
    let mut more = Vec::new();
    let ended = half.read_to_end(&mut more);
    let cut = ended.err().map(|error| error.kind());
    assert!(
        matches!(cut, None | Some(ErrorKind::ConnectionReset)),
        "{cut:?}"
    );
    assert!(more.is_empty(), "{more:?}");
    system("nbdinfo", &[&served.uri(".")]);
}

#[test]
fn a_crash_cuts_connections_of_tls() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let order = format!(
        "import subprocess\nh = connect()\nh.pwrite(b'a' * 512, 0)\n\
         subprocess.run([{:?}, 'ctl', '--control', 'orders', 'crash'], cwd={:?}, check=True, stdout=subprocess.DEVNULL)\n",
        support::fathom_binary().display().to_string(),
        served.home.display().to_string(),
    );
    let text = "\
try: h.pread(512, 0)
except nbd.Error as error: print('cut')
again = connect()
assert again.pread(512, 0) == b'a' * 512
";
    assert_eq!(served.python(&format!("{order}{text}")), "cut");
}

#[test]
fn what_makes_no_tls_is_told_at_once() {
    let folder = disk_folder();
    let home = folder.path();
    certificates(home);
    std::fs::write(home.join("d.design.toml"), RAM).unwrap();
    let pair = |certificate, key| ["--tls-certificate", certificate, "--tls-key", key];
    let own = pair("server-cert.pem", "server-key.pem");
    let swapped = pair("server-key.pem", "server-cert.pem");
    let foreign = pair("server-cert.pem", "client-key.pem");
    let tcp = ["--nbd", "tcp:127.0.0.1:0"];
    let none = ["--tls-certificates", "stranger"];
    for (more, code, words) in [
        ([&own[..2], &tcp].concat(), 2, &["--tls-key"][..]),
        (
            [&own[..], &["--nbd", "unix:s"]].concat(),
            2,
            &["TLS is spoken over TCP"],
        ),
        // Who comes without a certificate may still do anything.
        (
            [&own[..], &["--nbd", "tcp:0.0.0.0:0"]].concat(),
            4,
            &["--tls-clients", "\n  hint: serve at 127.0.0.1"],
        ),
        (
            // Of an address that is nobody's: the certificates are enough, the address is not there.
            [
                &own[..],
                &["--tls-clients", "ca-cert.pem", "--nbd", "tcp:192.0.2.1:1"],
            ]
            .concat(),
            5,
            &["cannot be served at", "\n  hint: name another place"],
        ),
        (
            [&swapped[..], &tcp].concat(),
            3,
            &[
                "`server-key.pem` should hold a certificate and holds none",
                "`server-cert.pem` should hold a private key",
                "\n  hint: it stands between lines",
            ],
        ),
        (
            [&foreign[..], &tcp].concat(),
            3,
            &[
                "cannot be used together",
                "hint: name a certificate and its own",
            ],
        ),
        (
            [&none[..], &tcp].concat(),
            3,
            &[
                "`stranger/server-cert.pem` cannot be read",
                "`stranger/server-key.pem` cannot be read",
                "hint: name a file that is there",
            ],
        ),
    ] {
        let mut line = vec!["serve", "d.design.toml", "--no-record", "-q"];
        line.extend(&more);
        let (_, told) = expect_code(home, &line, code);
        assert!(words.iter().all(|word| told.contains(word)), "{told}");
    }
}

/// What `openssl x509 -req` makes without extensions is told what it is, of the server and of a client.
#[test]
fn certificates_of_an_old_version_are_told() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    old_certificate(folder.path(), "client", "ca");
    fails("nbdinfo", &[&served.uri(".")]);
    served.wait_told("its certificate is of X.509 version 1 or 2");
    old_certificate(folder.path(), "server", "ca");
    let mut line = vec!["serve", "d.design.toml", "--no-record", "-q", "--nbd"];
    line.extend(["tcp:127.0.0.1:0", "--tls-certificates", "."]);
    let (_, told) = expect_code(folder.path(), &line, 3);
    let is_said = told.contains("`./server-cert.pem` is of X.509 version 1 or 2");
    assert!(is_said && told.contains("\n  hint: make it anew"), "{told}");
}

/// A run of our own on a served volume, through TLS.
#[test]
fn runs_write_and_check_what_is_served_through_tls() {
    let folder = disk_folder();
    let served = Served::start(folder.path());
    let uri = served.uri(".");
    let (probed, _) = expect_code(folder.path(), &["probe", &uri], 0);
    for part in ["localhost:", "export `ram`", "256 MiB"] {
        assert!(probed.contains(part), "{probed}");
    }
    let asked = format!("--uri={uri}");
    let allowed = format!("--destroy-data={uri}");
    let mut words = vec![
        "run",
        "--no-record",
        "fio",
        "--name=w",
        "--ioengine=nbd",
        &asked,
    ];
    words.extend(["--rw=randwrite", "--bs=16k", "--size=32m", "--iodepth=16"]);
    words.push("--verify=crc32c");
    let (_, told) = expect_code(folder.path(), &words, 4);
    assert!(told.contains("--destroy-data="), "{told}");
    words.insert(1, &allowed);
    expect_code(folder.path(), &words, 0);
    let plain = format!("nbd://localhost:{}/ram", served.port);
    let (_, told) = expect_code(folder.path(), &["probe", &plain], 5);
    assert!(
        told.contains("it wants TLS") && told.contains("nbds://"),
        "{told}"
    );
}
