//! TLS on the way to an export: what a URI names is read, and the server is held against it.
//!
//! Certificates are those of a directory with the names that QEMU, nbdkit and libnbd have: `ca-cert.pem`, and `client-cert.pem`
//! and `client-key.pem` where the server wants to know its clients.
//!
//! Invariants: a server is checked unless the URI says otherwise; what is in a directory and is not heeded is refused, not
//! passed over.

mod files;
mod pump;
mod verify;

pub use files::TlsFileError;
pub(super) use pump::carry;

use std::io;
use std::sync::Arc;

use fathom_nbd::{Peer, Security};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection};

/// What TLS 1.3 cannot do without a name, and nobody looks at where anybody is trusted.
const NOBODY: &str = "server.invalid";

/// What is to be done about servers that leave once TLS has begun.
pub(super) const WANTS_CERTIFICATE: &str = "it may want a certificate of the client: let `tls-certificates` have `client-cert.pem` and `client-key.pem`, signed by an \
     authority that the server trusts";

/// A connection that has not begun, to a server that must be who the URI says.
pub(super) fn connection(security: &Security) -> Result<ClientConnection, TlsFileError> {
    let name = match &security.peer {
        Peer::Named(name) => name.as_str(),
        Peer::Anybody => NOBODY,
    };
    let server = ServerName::try_from(name.to_owned());
    let server = server.map_err(|_| TlsFileError::Name(name.to_owned()))?;
    let config = config(security)?;
    ClientConnection::new(Arc::new(config), server).map_err(TlsFileError::Other)
}

fn config(security: &Security) -> Result<ClientConfig, TlsFileError> {
    let folder = security.certificates.as_deref().map(files::Folder::new);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(TlsFileError::Other)?;
    let builder = match (&security.peer, &folder) {
        (Peer::Named(_), Some(folder)) => builder.with_root_certificates(folder.authorities()?),
        (Peer::Named(_), None) => return Err(TlsFileError::NoAuthority),
        (Peer::Anybody, _) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verify::Anybody(provider))),
    };
    let own = folder.as_ref().map(files::Folder::own).transpose()?;
    let Some((chain, key, paths)) = own.flatten() else {
        return Ok(builder.with_no_client_auth());
    };
    let config = builder.with_client_auth_cert(chain, key);
    config.map_err(|error| TlsFileError::Pair {
        certificate: paths.0,
        key: paths.1,
        problem: error.to_string(),
    })
}

/// Why TLS came to nothing, and what to do; `None` where an error is not of TLS.
pub(super) fn told(error: &io::Error) -> Option<(String, &'static str)> {
    let cause = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match cause {
        rustls::Error::InvalidCertificate(why) => (untrusted(why), remedy(why)),
        rustls::Error::AlertReceived(alert) => (
            format!("the server does not go on ({alert:?})"),
            WANTS_CERTIFICATE,
        ),
        other => (other.to_string(), "look at what the server says of it"),
    })
}

fn untrusted(why: &CertificateError) -> String {
    let what = match why {
        // The second: of one with the same name.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "is of no authority in `ca-cert.pem`".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "is no longer valid".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet".to_owned()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } if presented.is_empty() => {
            let expected = expected.to_str();
            format!("has no names (`subjectAltName`), and is to be for `{expected}`")
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let (expected, names) = (expected.to_str(), presented.join(", "));
            format!("is for {names}, and not for `{expected}`")
        }
        // The types of these errors are in no interface that rustls shows; their names are.
        CertificateError::Other(other) => match other.0.to_string().as_str() {
            "UnsupportedCertVersion" => {
                "is of X.509 version 1 or 2, and TLS takes version 3 alone".to_owned()
            }
            "CaUsedAsEndEntity" => {
                "is that of an authority, which a server's must not be (`basicConstraints=CA:FALSE`)".to_owned()
            }
            name => format!("is not taken: {name}"),
        },
        other => format!("is not taken: {other}"),
    };
    let shown: String = what.chars().filter(|it| !it.is_control()).collect();
    format!("its certificate {shown}")
}

const fn remedy(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "name the server as its certificate does, or say which name stands there: `tls-hostname=NAME`"
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "name the directory with the `ca-cert.pem` that signed it: `tls-certificates=DIR`"
        }
        _ => "give the server another certificate; `tls-verify-peer=false` trusts anybody",
    }
}
