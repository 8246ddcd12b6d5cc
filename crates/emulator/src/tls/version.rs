//! Certificates of X.509 version 1 or 2, as `openssl x509 -req` makes them where it is given no extensions: TLS takes them
//! from nobody but an authority, and its own word for that says neither why nor what to do.

use std::error::Error;

use rustls::CertificateError;

/// What such a certificate is told to be.
pub(super) const WHAT: &str = "is of X.509 version 1 or 2, and TLS takes version 3 alone";
/// What to do about it.
pub(super) const REMEDY: &str = "make it anew with extensions, such as `subjectAltName=DNS:NAME` (`openssl x509 -req -extfile FILE`, or \
     `openssl req -x509`, which makes version 3)";

/// Whether TLS failed since a certificate is of another version.
pub(super) fn is_old(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = error else {
        return false;
    };
    // The type of this error is in no interface that rustls shows; its name is.
    let cause: &dyn Error = &*other.0;
    cause.to_string() == "UnsupportedCertVersion"
}
