//! Arguments of `fathom ui`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

/// `fathom ui`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct UiArgs {
    /// Port to serve at [default: one that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = port)]
    pub port: u16,
    /// Address of this machine to serve at; with another than 127.0.0.1 or ::1, other machines can come
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = address)]
    pub listen: IpAddr,
}

const HELP: &str = "\
Prints an address to open in a browser on this machine. Whoever has it can read
the stored runs until Ctrl-C ends it; nothing can be changed there.

Example:
  fathom ui
  fathom ui --port 8080       then from your desk, for a machine behind SSH:
  ssh -L 8080:127.0.0.1:8080 HOST";

fn port(text: &str) -> Result<u16, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = digits.then(|| text.parse().ok()).flatten();
    read.ok_or_else(|| {
        format!("`{text}` is no port: write a number up to 65535, such as `8080`; without it, one that is free is taken")
    })
}

fn address(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    inner.unwrap_or(text).parse().map_err(|_| {
        format!(
            "`{text}` is no IP address: write one of this machine, such as `127.0.0.1`, or `0.0.0.0` for all of them; \
             `--port` has the port"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_number() {
        for (text, expected) in [("0", Some(0)), ("65535", Some(65_535)), ("65536", None)] {
            assert_eq!(port(text).ok(), expected, "{text}");
        }
        assert!(
            ["", "+1", "-1", "http"]
                .into_iter()
                .all(|text| port(text).is_err())
        );
    }

    #[test]
    fn an_address_is_one_of_a_machine() {
        for (text, expected) in [
            ("127.0.0.1", Some("127.0.0.1")),
            ("localhost", Some("127.0.0.1")),
            ("::1", Some("::1")),
            ("[::1]", Some("::1")),
            ("0.0.0.0", Some("0.0.0.0")),
            ("127.0.0.1:80", None),
            ("example.org", None),
            ("", None),
        ] {
            let read = address(text).ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
