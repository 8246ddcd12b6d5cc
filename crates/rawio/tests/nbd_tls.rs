//! Exports of real servers that speak TLS: nbdkit and qemu-nbd, with certificates of openssl.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fathom_nbd::Uri;
use fathom_rawio::{
    Clock, NbdQueue, NbdWrites, Operation, Queue as _, Request, connect_to_export, list_exports,
    look_at_export, sleep_until, survey_export,
};
use fathom_units::Nanos;

const SIZE: u64 = 16 << 20;
/// How long a server may take to begin: far longer than any does.
const BEGIN_MOST: Nanos = Nanos::from_secs(60);

/// Makes `NAME-key.pem` and `NAME-cert.pem`, signed by `authority` or by itself; that of a server is for `localhost`.
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
        words.extend(["-addext", "subjectAltName=DNS:localhost"]);
    } else {
        words.extend(["-addext", "basicConstraints=critical,CA:TRUE"]);
        words.extend(["-addext", "keyUsage=keyCertSign"]);
    }
    let mut command = Command::new("openssl");
    let made = command.args(words).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{made:?}");
}

/// A folder for the server, and those of clients: `own` with a certificate, `nobody` without one, `stranger` who trusts another
/// authority.
fn certificates(folder: &Path) {
    certificate(folder, "ca", None);
    certificate(folder, "server", Some("ca"));
    certificate(folder, "client", Some("ca"));
    for who in ["own", "nobody", "stranger"] {
        std::fs::create_dir(folder.join(who)).unwrap();
    }
    let copy = |name: &str, who: &str| {
        std::fs::copy(folder.join(name), folder.join(who).join(name)).unwrap();
    };
    for name in ["ca-cert.pem", "client-cert.pem", "client-key.pem"] {
        copy(name, "own");
    }
    copy("ca-cert.pem", "nobody");
    certificate(&folder.join("stranger"), "ca", None);
}

/// A server at a socket of a folder, ended when it is dropped.
struct Server {
    child: Child,
    folder: PathBuf,
}

impl Server {
    fn start(folder: &Path, command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let until = Clock::now() + BEGIN_MOST;
        while UnixStream::connect(folder.join("socket")).is_err() {
            assert_eq!(child.try_wait().unwrap(), None, "it has ended");
            assert!(Clock::now() < until, "it does not begin");
            sleep_until(Clock::now() + Nanos::from_millis(5));
        }
        let folder = folder.to_owned();
        Self { child, folder }
    }

    fn nbdkit(folder: &Path, more: &[&str]) -> Self {
        certificates(folder);
        let mut command = Command::new("nbdkit");
        command
            .args(["--foreground", "--unix"])
            .arg(folder.join("socket"));
        command.arg(format!("--tls-certificates={}", folder.display()));
        command.args(more).args(["memory", "16M"]);
        Self::start(folder, &mut command)
    }

    fn qemu(folder: &Path) -> Self {
        certificates(folder);
        let image = folder.join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(SIZE)
            .unwrap();
        let mut command = Command::new("qemu-nbd");
        let dir = folder.display();
        command.arg("--object").arg(format!(
            "tls-creds-x509,id=t,endpoint=server,verify-peer=yes,dir={dir}"
        ));
        command.args([
            "--tls-creds=t",
            "--persistent",
            "--shared=0",
            "--format=raw",
            "-x",
            "disk",
        ]);
        command.arg("-k").arg(folder.join("socket")).arg(&image);
        Self::start(folder, &mut command)
    }

    /// The export, for clients with the certificates of a folder and what else is asked for.
    fn uri(&self, export: &str, who: &str, more: &str) -> Uri {
        let (socket, folder) = (self.folder.join("socket"), self.folder.join(who));
        let (socket, folder) = (socket.display(), folder.display());
        let text = format!("nbds+unix:///{export}?socket={socket}&tls-certificates={folder}{more}");
        Uri::parse(&text).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const LOCAL: &str = "&tls-hostname=localhost";

/// Writes blocks of `size` at that depth, makes them durable, and reads them back over another connection.
#[track_caller]
fn check(uri: &Uri, depth: u32, size: u32) {
    assert_eq!(look_at_export(uri).unwrap().size, SIZE);
    for operations in [
        &[Operation::Write, Operation::Fdatasync][..],
        &[Operation::Read],
    ] {
        let export = connect_to_export(uri).unwrap();
        let mut queue = NbdQueue::new(vec![export], depth, size, NbdWrites::Cached).unwrap();
        for operation in operations {
            for slot in 0..depth {
                let byte = u8::from(*operation == Operation::Write) * (slot as u8 + 1);
                if *operation != Operation::Fdatasync {
                    queue.buffer(slot).fill(byte);
                }
                let is_sync = *operation == Operation::Fdatasync;
                let length = if is_sync { 0 } else { size };
                let offset = u64::from(slot) * u64::from(size);
                let (file, operation) = (0, *operation);
                queue.push(Request {
                    slot,
                    file,
                    operation,
                    offset,
                    length,
                });
            }
            let mut done = Vec::new();
            while queue.in_flight() > 0 {
                queue.submit_and_wait(1, None).unwrap();
                queue.take(usize::MAX, &mut done);
            }
            assert!(done.iter().all(|it| it.result.is_ok()), "{done:?}");
        }
        if operations == [Operation::Read] {
            for slot in 0..depth {
                assert!(queue.buffer(slot).iter().all(|it| *it == slot as u8 + 1));
            }
        }
    }
}

#[test]
fn real_servers_keep_what_is_written_through_tls() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::nbdkit(folder.path(), &["--tls=require", "--tls-verify-peer"]);
    let uri = server.uri("", "own", LOCAL);
    check(&uri, 1, 4096);
    check(&uri, 32, 4096);
    check(&uri, 16, 1 << 20);
    assert_eq!(list_exports(&uri).unwrap(), [""]);
    let (_, has_structured) = survey_export(&uri).unwrap();
    assert_eq!(has_structured, Some(true));

    let folder = tempfile::tempdir().unwrap();
    let server = Server::qemu(folder.path());
    let uri = server.uri("disk", "own", LOCAL);
    check(&uri, 1, 4096);
    check(&uri, 64, 64 << 10);
    check(&uri, 16, 1 << 20);
    assert_eq!(list_exports(&uri).unwrap(), ["disk"]);
}

/// What a server is told that anybody is trusted is not looked at.
#[test]
fn anybody_is_trusted_where_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::nbdkit(folder.path(), &["--tls=require"]);
    check(
        &server.uri("", "stranger", "&tls-verify-peer=false"),
        8,
        4096,
    );
}

#[track_caller]
fn refused(uri: &Uri, words: &[&str]) {
    let error = connect_to_export(uri).err().unwrap();
    let told = format!("{error}\n{}", error.remedy());
    assert!(words.iter().all(|word| told.contains(word)), "{told}");
}

#[test]
fn servers_that_are_not_who_they_should_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::nbdkit(folder.path(), &["--tls=require", "--tls-verify-peer"]);
    refused(
        &server.uri("", "own", "&tls-hostname=example.com"),
        &[
            "no TLS with the server",
            "is for ",
            "localhost",
            "not for `example.com`",
            "tls-hostname=NAME",
        ],
    );
    refused(
        &server.uri("", "stranger", LOCAL),
        &[
            "its certificate is of no authority in `ca-cert.pem`",
            "tls-certificates=DIR",
        ],
    );
    let plain = format!(
        "nbd+unix:///?socket={}",
        folder.path().join("socket").display()
    );
    refused(
        &Uri::parse(&plain).unwrap(),
        &["it wants TLS", "nbds+unix://"],
    );
    // The server finds it out once the client has done its part.
    refused(
        &server.uri("", "nobody", LOCAL),
        &["no TLS with", "`client-cert.pem`"],
    );
    check(&server.uri("", "own", LOCAL), 2, 4096);
}

#[test]
fn a_server_that_asks_for_a_certificate_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::qemu(folder.path());
    refused(
        &server.uri("disk", "nobody", LOCAL),
        &[
            "no TLS with",
            "it closed the connection",
            "`client-cert.pem` and `client-key.pem`",
        ],
    );
}

#[test]
fn a_server_without_tls_is_not_spoken_to_in_the_clear() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::nbdkit(folder.path(), &["--tls=off"]);
    refused(
        &server.uri("", "own", LOCAL),
        &[
            "it has no TLS, which is asked of it",
            "name it with `nbd://`",
        ],
    );
}

#[test]
fn what_makes_no_tls_is_told_before_anybody_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    certificates(home);
    let uri = |who: &str, name: &str| {
        let dir = home.join(who);
        let text = format!(
            "nbds+unix:///?socket=/nowhere&tls-certificates={}&tls-hostname={name}",
            dir.display()
        );
        Uri::parse(&text).unwrap()
    };
    refused(
        &uri("none", "a"),
        &["none/ca-cert.pem` cannot be read: No such file"],
    );
    refused(
        &uri("own", "a b"),
        &["`a b` is no name of a host, and no address", "tls-hostname"],
    );
    refused(&uri("own", "a"), &["`/nowhere` cannot be reached"]);
    let own = |name: &str| home.join("own").join(name);
    std::fs::write(own("ca-crl.pem"), "x").unwrap();
    refused(
        &uri("own", "a"),
        &["ca-crl.pem` lists certificates that are revoked"],
    );
    std::fs::remove_file(own("ca-crl.pem")).unwrap();
    std::fs::rename(own("client-key.pem"), own("away")).unwrap();
    refused(
        &uri("own", "a"),
        &["client-cert.pem` is there and", "client-key.pem` is not"],
    );
    std::fs::copy(home.join("server-key.pem"), own("client-key.pem")).unwrap();
    refused(&uri("own", "a"), &["cannot be used together"]);
    std::fs::write(own("client-key.pem"), "x").unwrap();
    refused(
        &uri("own", "a"),
        &["should hold a private key without a password and holds none"],
    );
}
