//! What a URI says of TLS: whose servers are trusted, and what the client shows of itself.
//!
//! Files are named here and read elsewhere. Invariant: whoever does not say otherwise has the server's certificate checked.

use super::{Address, UriError, decoded, text_of};

/// The parameter that says whether the server is checked.
pub(super) const VERIFY: &str = "tls-verify-peer";
/// The one that names a directory of certificates.
const CERTIFICATES: &str = "tls-certificates";
/// The one that names the server as its certificate has it.
const NAME: &str = "tls-hostname";

/// How TLS is spoken to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Security {
    /// Bytes of the path of a directory with `ca-cert.pem`, and `client-cert.pem` and `client-key.pem` where the server asks for
    /// them, as QEMU, nbdkit and libnbd name them.
    pub certificates: Option<Vec<u8>>,
    /// Who the server has to be.
    pub peer: Peer,
}

/// Who a server has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// One whose certificate is of an authority in [`Security::certificates`], and for this name or address.
    Named(String),
    /// Anybody.
    Anybody,
}

/// What the parameters of a URI say, before it is known what they belong to.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    certificates: Option<Vec<u8>>,
    verify: Option<bool>,
    name: Option<String>,
    /// The first parameter that was given.
    first: Option<String>,
}

impl Wishes {
    /// Takes note of a parameter whose name begins with `tls-`.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Result<(), UriError> {
        let wrong = |parameter| UriError::Value(value.to_owned(), parameter);
        match name {
            CERTIFICATES => {
                let path = decoded(value)?;
                if path.is_empty() || path.contains(&0) {
                    return Err(wrong(CERTIFICATES));
                }
                self.certificates = Some(path);
            }
            VERIFY => self.verify = Some(truth(value).ok_or_else(|| wrong(VERIFY))?),
            NAME => {
                let text = text_of(value)?;
                if text.is_empty() || text.contains('\0') {
                    return Err(wrong(NAME));
                }
                self.name = Some(text);
            }
            "tls-psk-file" => return Err(UriError::PreSharedKey),
            _ => return Err(UriError::Parameter(name.to_owned())),
        }
        self.first.get_or_insert_with(|| name.to_owned());
        Ok(())
    }

    /// How TLS is spoken to a server at that address.
    pub(super) fn of(
        self,
        address: &Address,
        is_secure: bool,
    ) -> Result<Option<Security>, UriError> {
        if !is_secure {
            return match self.first {
                Some(name) => Err(UriError::Insecure(name)),
                None => Ok(None),
            };
        }
        let peer = match (self.verify, self.name, address) {
            (Some(false), ..) => Peer::Anybody,
            _ if self.certificates.is_none() => return Err(UriError::NoAuthority),
            (_, Some(name), _) => Peer::Named(name),
            (_, None, Address::Tcp { host, .. }) => Peer::Named(host.clone()),
            (_, None, Address::Unix { .. }) => return Err(UriError::NoName),
        };
        let certificates = self.certificates;
        Ok(Some(Security { certificates, peer }))
    }
}

/// The words for yes and no that libnbd takes.
fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" | "t" | "yes" | "y" | "on" => Some(true),
        "0" | "false" | "f" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}
