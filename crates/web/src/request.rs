//! The head of a request, from bytes that anybody may have sent.
//!
//! Invariant: no bytes make it panic, and no more of them are looked at than [`HEAD_MOST`].

/// Most bytes of a head. Browsers send some 700; a cookie of another program on the same address may have 4 KiB.
pub(crate) const HEAD_MOST: usize = 16 << 10;
/// Most lines of a head.
const LINES_MOST: usize = 64;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Path and query as they were sent.
    pub(crate) target: String,
    /// The path's names, without their escapes: `["runs", "ID"]`.
    pub(crate) path: Vec<String>,
    /// Names and values of the query, without their escapes.
    pub(crate) query: Vec<(String, String)>,
    /// The server that the client believes to speak to, without a port.
    pub(crate) host: String,
    /// Names and values of its cookies.
    pub(crate) cookies: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Other,
}

/// What is wrong with a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is no request.
    NoRequest,
    /// It is too long, or has too many lines.
    TooLong,
    /// It did not come in time.
    TooSlow,
}

impl Request {
    /// The request that `bytes` begin with; `None` where more of it is to come.
    pub(crate) fn read(bytes: &[u8]) -> Option<Result<Self, Wrong>> {
        let mut lines = [httparse::EMPTY_HEADER; LINES_MOST];
        let mut head = httparse::Request::new(&mut lines);
        match head.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => Some(Self::of(&head)),
            Ok(httparse::Status::Partial) if bytes.len() >= HEAD_MOST => Some(Err(Wrong::TooLong)),
            Ok(httparse::Status::Partial) => None,
            Err(httparse::Error::TooManyHeaders) => Some(Err(Wrong::TooLong)),
            Err(_) => Some(Err(Wrong::NoRequest)),
        }
    }

    fn of(head: &httparse::Request<'_, '_>) -> Result<Self, Wrong> {
        let method = match head.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            _ => Method::Other,
        };
        let target = head.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path.strip_prefix('/').ok_or(Wrong::NoRequest)?;
        let path = path.split('/').map(|name| unescaped(name, Plus::Itself));
        let path: Option<Vec<String>> = path.collect();
        let query = query.split('&').filter(|pair| !pair.is_empty());
        let query = query.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |text: &str| unescaped(text, Plus::Blank);
            Some((plain(name)?, plain(value)?))
        });
        let query: Option<Vec<(String, String)>> = query.collect();
        let named = |name: &'static str| {
            let lines = head.headers.iter();
            lines.filter(move |line| line.name.eq_ignore_ascii_case(name))
        };
        // Two of them would be read in two ways by two readers.
        let mut hosts = named("host");
        let host = hosts
            .next()
            .and_then(|line| str::from_utf8(line.value).ok());
        let host = host.filter(|_| hosts.next().is_none());
        Ok(Self {
            method,
            target: target.to_owned(),
            path: path.ok_or(Wrong::NoRequest)?,
            query: query.ok_or(Wrong::NoRequest)?,
            host: without_port(host.ok_or(Wrong::NoRequest)?).to_ascii_lowercase(),
            cookies: named("cookie")
                .flat_map(|line| cookies(line.value))
                .collect(),
        })
    }

    /// The values that the query has under `name`.
    pub(crate) fn asked<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        let pairs = self.query.iter();
        pairs.filter_map(move |(own, value)| (own == name).then_some(value.as_str()))
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

fn cookies(value: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(value);
    let pairs = text
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What a plus stands for: in a form's values, a blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plus {
    Itself,
    Blank,
}

/// `text` without its escapes; `None` where that is no text.
fn unescaped(text: &str, plus: Plus) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            }
            b'+' if plus == Plus::Blank => bytes.push(b' '),
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}

/// `text` as a part of a path or a value of a query.
pub(crate) fn escaped_in_address(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            for digit in [byte >> 4, byte & 15] {
                escaped.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn read(head: &str) -> Result<Request, Wrong> {
        Request::read(head.as_bytes()).unwrap()
    }

    #[test]
    fn a_request_is_read() {
        let request = read(
            "GET /runs/a%20b%2Fc?run=x+y&run=%C3%A4&view HTTP/1.1\r\nHost: LocalHost:81\r\n\
             cookie: a=1; fathom=2\r\n\r\n",
        );
        let request = request.unwrap();
        assert_eq!(request.path, ["runs", "a b/c"]);
        assert_eq!(request.asked("run").collect::<Vec<_>>(), ["x y", "ä"]);
        assert_eq!(request.asked("view").collect::<Vec<_>>(), [""]);
        assert_eq!(request.host, "localhost");
        assert_eq!(request.cookies[1], ("fathom".to_owned(), "2".to_owned()));
        assert_eq!(Request::read(b"GET / HTTP/1.1\r\nHost: x\r\n"), None);
    }

    #[test]
    fn what_is_no_request_is_told() {
        let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(HEAD_MOST));
        let many = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(LINES_MOST + 1)
        );
        for (head, expected) in [
            ("\0\r\n\r\n", Wrong::NoRequest),
            ("GET / HTTP/1.1\r\n\r\n", Wrong::NoRequest),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                Wrong::NoRequest,
            ),
            ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", Wrong::NoRequest),
            (
                "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
                Wrong::NoRequest,
            ),
            ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", Wrong::NoRequest),
            ("GET /%+1 HTTP/1.1\r\nHost: a\r\n\r\n", Wrong::NoRequest),
            ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", Wrong::NoRequest),
            ("GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", Wrong::NoRequest),
            (&long, Wrong::TooLong),
            (&many, Wrong::TooLong),
        ] {
            assert_eq!(read(head), Err(expected), "{head:?}");
        }
    }

    #[test]
    fn a_host_is_told_from_its_port() {
        for (host, expected) in [
            ("127.0.0.1:80", "127.0.0.1"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("a", "a"),
        ] {
            assert_eq!(without_port(host), expected);
        }
    }

    #[test]
    fn names_come_back_from_addresses() {
        let name = "a b/ä?&=#%+\"<";
        let escaped = escaped_in_address(name);
        assert!(escaped.bytes().all(|it| it.is_ascii_graphic()), "{escaped}");
        assert_eq!(unescaped(&escaped, Plus::Blank).as_deref(), Some(name));
        assert_eq!(unescaped(&escaped, Plus::Itself).as_deref(), Some(name));
    }
}
