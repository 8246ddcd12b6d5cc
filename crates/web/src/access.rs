//! Who may come: those who have the token, under a name that no page of another site can give this server.
//!
//! A page of another site can send a browser here, and by an own name for this machine's address even read what comes back
//! (DNS rebinding). The one it cannot do with the cookie, which browsers send for links of these pages alone; the other not
//! under the names that are let in.

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr};

use crate::request::Request;

/// Bytes of chance in a token.
const TOKEN_BYTES: usize = 16;

/// Who may come.
#[derive(Debug)]
pub(crate) struct Access {
    address: SocketAddr,
    token: String,
    /// What this machine calls itself.
    own_name: String,
}

/// How a client is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// By its cookie.
    Before,
    /// By the token in the address: it has no cookie yet.
    FromNow,
}

/// Why a client is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It believes to speak to another server.
    OtherHost,
    /// It has no token, or a wrong one.
    NoToken,
}

impl Access {
    /// Access to what is served at `address`, with a new token.
    pub(crate) fn new(address: SocketAddr) -> io::Result<Self> {
        let mut chance = [0; TOKEN_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut chance)?;
        let token = format!("{:032x}", u128::from_ne_bytes(chance));
        let own_name = std::fs::read_to_string("/proc/sys/kernel/hostname");
        Ok(Self {
            address,
            token,
            own_name: own_name.unwrap_or_default().trim().to_ascii_lowercase(),
        })
    }

    /// The address to open.
    pub(crate) fn link(&self) -> String {
        let address = match self.address.ip() {
            // All of this machine's.
            IpAddr::V4(all) if all.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V6(all) if all.is_unspecified() => "[::1]".to_owned(),
            IpAddr::V4(one) => one.to_string(),
            IpAddr::V6(one) => format!("[{one}]"),
        };
        let (port, token) = (self.address.port(), &self.token);
        format!("http://{address}:{port}/?token={token}")
    }

    /// What a client is told to come with from now on. Browsers tell servers apart by their names alone: the port is in the
    /// cookie's.
    pub(crate) fn cookie(&self) -> String {
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            self.token
        )
    }

    fn cookie_name(&self) -> String {
        format!("fathom-ui-{}", self.address.port())
    }

    /// Whether who asks may be answered.
    pub(crate) fn of(&self, request: &Request) -> Result<Known, Refused> {
        if !self.is_own(&request.host) {
            return Err(Refused::OtherHost);
        }
        let name = self.cookie_name();
        let mut cookies = request.cookies.iter();
        if cookies.any(|(own, value)| *own == name && self.is_token(value)) {
            return Ok(Known::Before);
        }
        if request.asked("token").any(|value| self.is_token(value)) {
            return Ok(Known::FromNow);
        }
        Err(Refused::NoToken)
    }

    /// Whether `host` is a name for this server that nobody else can give it. An address is nobody's to give.
    fn is_own(&self, host: &str) -> bool {
        if host == "localhost" {
            return true;
        }
        let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let address = inner.unwrap_or(host).parse::<IpAddr>().ok();
        if self.address.ip().is_loopback() {
            return address.is_some_and(|it| it.is_loopback());
        }
        address.is_some() || (!self.own_name.is_empty() && host == self.own_name)
    }

    /// Whether `text` is the token, in a time that does not tell how much of it is right.
    fn is_token(&self, text: &str) -> bool {
        let (own, text) = (self.token.as_bytes(), text.as_bytes());
        let pairs = own.iter().zip(text);
        let differ = pairs.fold(0, |differ, (one, other)| differ | (one ^ other));
        own.len() == text.len() && std::hint::black_box(differ) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str) -> Access {
        Access::new(address.parse().unwrap()).unwrap()
    }

    #[test]
    fn nobody_else_gives_this_server_a_name() {
        let (local, open) = (access("127.0.0.1:80"), access("0.0.0.0:80"));
        for (host, is_local, is_open) in [
            ("127.0.0.1", true, true),
            ("localhost", true, true),
            ("[::1]", true, true),
            ("192.0.2.7", false, true),
            ("example.org", false, false),
            ("localhost.example.org", false, false),
            ("127.0.0.1.example.org", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (local.is_own(host), open.is_own(host)),
                (is_local, is_open),
                "{host}"
            );
        }
        assert!(open.own_name.is_empty() || open.is_own(&open.own_name));
    }

    #[test]
    fn every_server_has_a_token_of_its_own() {
        let (one, other) = (access("127.0.0.1:80"), access("127.0.0.1:80"));
        assert_eq!(one.token.len(), 2 * TOKEN_BYTES);
        assert!(one.is_token(&one.token) && !one.is_token(&other.token));
        assert!(!one.is_token("") && !one.is_token(&one.token[1..]));
        assert!(!one.is_token(&format!("{}0", one.token)));
    }

    #[test]
    fn the_address_can_be_opened_on_this_machine() {
        for (address, expected) in [
            ("127.0.0.1:80", "http://127.0.0.1:80/?token="),
            ("0.0.0.0:81", "http://127.0.0.1:81/?token="),
            ("[::]:82", "http://[::1]:82/?token="),
            ("[2001:db8::1]:83", "http://[2001:db8::1]:83/?token="),
        ] {
            assert!(access(address).link().starts_with(expected), "{address}");
        }
    }
}
