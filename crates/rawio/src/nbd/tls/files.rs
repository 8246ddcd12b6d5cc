//! The files of a directory of certificates.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// TLS cannot be spoken with what a URI names.
#[derive(Debug, thiserror::Error)]
pub enum TlsFileError {
    /// A file cannot be read.
    #[error("`{path}` cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("`{path}` should hold {what} and holds {problem}")]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What it does instead.
        problem: String,
    },
    /// One of certificate and key is there without the other.
    #[error("`{there}` is there and `{missing}` is not")]
    Half {
        /// The file that is there.
        there: PathBuf,
        /// The one that is not.
        missing: PathBuf,
    },
    /// An authority's certificate is of no use as one.
    #[error("`{path}` cannot say which servers are trusted: {problem}")]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A list of certificates that do not count any more.
    #[error("`{0}` lists certificates that are revoked, and such lists are not read")]
    Revoked(PathBuf),
    /// Certificate and key are of no use together.
    #[error(
        "the key `{key}` and the certificate `{certificate}` cannot be used together: {problem}"
    )]
    Pair {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
        /// Why.
        problem: String,
    },
    /// A name that no certificate can have.
    #[error("`{0}` is no name of a host, and no address")]
    Name(String),
    /// Nothing says who is trusted.
    #[error("no authority is named")]
    NoAuthority,
    /// What should not be.
    #[error("{0}")]
    Other(rustls::Error),
}

impl TlsFileError {
    /// What to do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Read { .. } | Self::NoAuthority => {
                "let `tls-certificates` name a directory with `ca-cert.pem`, the authority that signed the server's certificate"
            }
            Self::Pem { .. } => {
                "it stands between lines of `-----BEGIN …-----` (PEM); keys have no password"
            }
            Self::Half { .. } => {
                "put both `client-cert.pem` and `client-key.pem` there, or neither where the server asks for none"
            }
            Self::Authority { .. } => {
                "put the certificate of the authority there that signed the server's"
            }
            Self::Revoked(_) => {
                "name a directory without it, once it is sure that the server's certificate is not listed"
            }
            Self::Pair { .. } => "put a certificate there and its own key",
            Self::Name(_) => {
                "say which name stands in the server's certificate: `tls-hostname=NAME`"
            }
            Self::Other(_) => "make the certificates anew",
        }
    }
}

/// The client's certificate and those between it and its authority, its key, and where both were read.
pub(super) type Own = (
    Vec<CertificateDer<'static>>,
    PrivateKeyDer<'static>,
    (PathBuf, PathBuf),
);

/// A directory of certificates.
pub(super) struct Folder<'a>(&'a Path);

impl<'a> Folder<'a> {
    pub(super) fn new(path: &'a [u8]) -> Self {
        Self(Path::new(OsStr::from_bytes(path)))
    }

    /// Those that sign the certificates of servers.
    pub(super) fn authorities(&self) -> Result<RootCertStore, TlsFileError> {
        let revoked = self.0.join("ca-crl.pem");
        if is_there(&revoked) {
            return Err(TlsFileError::Revoked(revoked));
        }
        let path = self.0.join("ca-cert.pem");
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&path)? {
            roots.add(certificate).map_err(|error| {
                let (path, problem) = (path.clone(), error.to_string());
                TlsFileError::Authority { path, problem }
            })?;
        }
        Ok(roots)
    }

    /// What the client shows of itself, if it has anything to show.
    pub(super) fn own(&self) -> Result<Option<Own>, TlsFileError> {
        let paths = ["client-cert.pem", "client-key.pem"].map(|name| self.0.join(name));
        let [certificate, key] = paths;
        match (is_there(&certificate), is_there(&key)) {
            (false, false) => return Ok(None),
            (true, true) => {}
            (true, false) => {
                let (there, missing) = (certificate, key);
                return Err(TlsFileError::Half { there, missing });
            }
            (false, true) => {
                let (there, missing) = (key, certificate);
                return Err(TlsFileError::Half { there, missing });
            }
        }
        let chain = certificates(&certificate)?;
        let secret = PrivateKeyDer::from_pem_file(&key);
        let secret = secret.map_err(failed(&key, "a private key without a password"))?;
        Ok(Some((chain, secret, (certificate, key))))
    }
}

/// Whether something bears that name, whatever it is: reading it tells the rest.
fn is_there(path: &Path) -> bool {
    !matches!(std::fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let failed = failed(path, "a certificate");
    let items = CertificateDer::pem_file_iter(path).map_err(&failed)?;
    let all = items.collect::<Result<Vec<_>, _>>().map_err(&failed)?;
    if all.is_empty() {
        return Err(failed(pem::Error::NoItemsFound));
    }
    Ok(all)
}

fn failed(path: &Path, what: &'static str) -> impl Fn(pem::Error) -> TlsFileError {
    let path = path.to_owned();
    move |error| {
        let path = path.clone();
        let problem = match error {
            pem::Error::Io(source) => return TlsFileError::Read { path, source },
            pem::Error::NoItemsFound => "none".to_owned(),
            other => format!("something else ({other})"),
        };
        TlsFileError::Pem {
            path,
            what,
            problem,
        }
    }
}
