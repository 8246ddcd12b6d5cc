//! TLS for clients that come over TCP: its arguments, its certificates, and the thread that starts a pump for each client.
//!
//! The thread that serves knows nothing of ciphers. A client that asks for TLS has its socket taken to a [`pump`], which
//! speaks TLS with it and plain bytes with the server, over a pair of sockets; the server goes on with its end of
//! that pair as with any client. So encryption delays its own client alone.
//!
//! Invariants: nothing that came before TLS is believed inside it; keys are read once, at the start, and never shown; there
//! are never more than [`PUMPS_MOST`] pumps.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use clap::Args;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig, ServerConnection};

mod pump;
mod refusals;
mod version;

pub(crate) use refusals::Refusals;

/// Most pumps at once: every client that may be let in, and as many that are still being sent their last answers.
const PUMPS_MOST: usize = 2048;
/// Stack of a pump: what a handshake needs, and room.
const STACK: usize = 512 << 10;

/// TLS on the command line of `fathom serve`.
#[derive(Debug, Clone, Default, Args)]
pub struct TlsArgs {
    /// Speak TLS, and nothing else, over TCP: the server's certificate, and those between it and its authority (PEM)
    #[arg(
        id = "tls-certificate",
        long = "tls-certificate",
        value_name = "FILE",
        requires = "tls-key"
    )]
    pub certificate: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(
        id = "tls-key",
        long = "tls-key",
        value_name = "FILE",
        requires = "tls-certificate"
    )]
    pub key: Option<PathBuf>,
    /// Let in clients alone whose certificate one of these authorities has signed (PEM)
    #[arg(
        id = "tls-clients",
        long = "tls-clients",
        value_name = "FILE",
        requires = "tls-certificate"
    )]
    pub clients: Option<PathBuf>,
    /// All three from a directory, by the names that QEMU and nbdkit have for them: server-cert.pem, server-key.pem,
    /// ca-cert.pem
    #[arg(id = "tls-certificates", long = "tls-certificates", value_name = "DIR",
        conflicts_with_all = ["tls-certificate", "tls-key", "tls-clients"])]
    pub directory: Option<PathBuf>,
}

/// TLS cannot be spoken with what was given.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error(
        "`{path}` should hold {what} and holds {problem}\n  hint: it stands between lines of `-----BEGIN …-----` (PEM)"
    )]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What it does instead.
        problem: String,
    },
    /// An authority's certificate is of no use as one.
    #[error(
        "`{path}` cannot say which clients are let in: {problem}\n  hint: name the certificate of the authority that signed theirs"
    )]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A certificate is older than TLS takes.
    #[error("the certificate `{path}` {what}\n  hint: {remedy}", what = version::WHAT, remedy = version::REMEDY)]
    Old {
        /// The certificate.
        path: PathBuf,
    },
    /// Certificate and key are of no use together.
    #[error(
        "the key `{key}` and the certificate `{certificate}` cannot be used together: {problem}\n  hint: name a certificate and its own key"
    )]
    Pair {
        /// The key.
        key: PathBuf,
        /// The certificate.
        certificate: PathBuf,
        /// Why.
        problem: String,
    },
}

/// Whether whoever comes by TLS must show a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// Those with one that is trusted alone.
    Certified,
    /// Anybody.
    Anybody,
}

/// How TLS is spoken.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    config: Arc<ServerConfig>,
    clients: Clients,
    refusals: Refusals,
}

impl Tls {
    /// What the command line asks for, if it asks for TLS; every complaint at once.
    pub fn new(args: &TlsArgs) -> Result<Option<Self>, Vec<TlsError>> {
        let (certificate, key, clients) = match (&args.directory, &args.certificate, &args.key) {
            (Some(directory), ..) => (
                directory.join("server-cert.pem"),
                directory.join("server-key.pem"),
                Some(directory.join("ca-cert.pem")),
            ),
            (None, Some(certificate), Some(key)) => {
                (certificate.clone(), key.clone(), args.clients.clone())
            }
            _ => return Ok(None),
        };
        Self::of_files(certificate, key, clients.as_deref()).map(Some)
    }

    fn of_files(
        certificate: PathBuf,
        key: PathBuf,
        clients: Option<&Path>,
    ) -> Result<Self, Vec<TlsError>> {
        let mut errors = Vec::new();
        let chain = certificates(&certificate).map_err(|error| errors.push(error));
        let secret = private_key(&key).map_err(|error| errors.push(error));
        let roots = clients.map(|path| authorities(path).map_err(|error| errors.push(error)));
        let (Ok(chain), Ok(secret), Ok(roots)) = (chain, secret, roots.transpose()) else {
            return Err(errors);
        };
        let pair = |error: rustls::Error| {
            if version::is_old(&error) {
                return vec![TlsError::Old { path: certificate }];
            }
            let problem = error.to_string();
            vec![TlsError::Pair {
                key,
                certificate,
                problem,
            }]
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = match builder.with_safe_default_protocol_versions() {
            Ok(builder) => builder,
            Err(error) => return Err(pair(error)),
        };
        let builder = match (roots, clients) {
            (Some(roots), Some(path)) => {
                let roots = Arc::new(roots);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| {
                    let (path, problem) = (path.to_owned(), error.to_string());
                    vec![TlsError::Authority { path, problem }]
                })?)
            }
            _ => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, secret).map_err(pair)?;
        // A connection lasts as long as its client: nobody has to come back sooner than by a whole handshake.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self {
            config: Arc::new(config),
            clients: if clients.is_some() {
                Clients::Certified
            } else {
                Clients::Anybody
            },
            refusals: Refusals::default(),
        })
    }

    /// Why clients were refused.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Who is let in.
    pub fn clients(&self) -> Clients {
        self.clients
    }
}

fn pem_error(path: &Path, what: &'static str) -> impl Fn(pem::Error) -> TlsError {
    let path = path.to_owned();
    move |error| match error {
        pem::Error::Io(source) => TlsError::Read {
            path: path.clone(),
            source,
        },
        pem::Error::NoItemsFound => TlsError::Pem {
            path: path.clone(),
            what,
            problem: "none".to_owned(),
        },
        other => TlsError::Pem {
            path: path.clone(),
            what,
            problem: format!("something else ({other})"),
        },
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = pem_error(path, "a certificate");
    let items = CertificateDer::pem_file_iter(path).map_err(&failed)?;
    let all = items.collect::<Result<Vec<_>, _>>().map_err(&failed)?;
    if all.is_empty() {
        return Err(failed(pem::Error::NoItemsFound));
    }
    Ok(all)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(pem_error(path, "a private key without a password"))
}

fn authorities(path: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| {
            let (path, problem) = (path.to_owned(), error.to_string());
            TlsError::Authority { path, problem }
        })?;
    }
    Ok(roots)
}

/// The server's side of a pump, in the hands of a client's connection.
///
/// A connection that ends without [`Farewell::say`] is cut: what was under way in its pump is lost, as on a network.
#[derive(Debug)]
pub(crate) struct Farewell(Arc<AtomicBool>);

impl Farewell {
    /// The connection ends in order: what is on its way still arrives.
    pub fn say(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A client on its way to a pump.
#[derive(Debug)]
struct Newcomer {
    network: OwnedFd,
    inside: UnixStream,
    /// What it is sent before TLS.
    first: Vec<u8>,
    orderly: Arc<AtomicBool>,
}

/// Takes clients to pumps of their own.
#[derive(Debug)]
pub(crate) struct Pumps {
    newcomers: Sender<Newcomer>,
}

impl Pumps {
    /// Starts the thread that starts pumps: it takes longer than the thread that serves has.
    pub fn new(tls: &Tls) -> io::Result<Self> {
        let (newcomers, coming) = channel();
        let tls = tls.clone();
        let thread = std::thread::Builder::new().name("tls".to_owned());
        // It ends with this value, and each pump with its client.
        thread.spawn(move || start_pumps(&coming, &tls))?;
        Ok(Self { newcomers })
    }

    /// Has a client sent `first`, and then speaks TLS with it; gives the plain end.
    pub fn secure(&self, network: OwnedFd, first: Vec<u8>) -> io::Result<(OwnedFd, Farewell)> {
        let (inside, here) = UnixStream::pair()?;
        inside.set_nonblocking(true)?;
        here.set_nonblocking(true)?;
        let orderly = Arc::new(AtomicBool::new(false));
        let farewell = Farewell(Arc::clone(&orderly));
        let newcomer = Newcomer {
            network,
            inside,
            first,
            orderly,
        };
        let sent = self.newcomers.send(newcomer);
        sent.map_err(|_| io::Error::other("the thread for TLS has ended"))?;
        Ok((here.into(), farewell))
    }
}

fn start_pumps(coming: &Receiver<Newcomer>, tls: &Tls) {
    let alive = Arc::new(());
    while let Ok(newcomer) = coming.recv() {
        if Arc::strong_count(&alive) > PUMPS_MOST {
            continue;
        }
        let (config, counted) = (Arc::clone(&tls.config), Arc::clone(&alive));
        let refusals = tls.refusals.clone();
        let thread = std::thread::Builder::new().name("tls-client".to_owned());
        // A client that gets no thread, or no memory, is cut off: its sockets close with what would have served it.
        let _ = thread.stack_size(STACK).spawn(move || {
            if let Ok(connection) = ServerConnection::new(config) {
                pump::carry(connection, newcomer, &refusals);
            }
            drop(counted);
        });
    }
}
