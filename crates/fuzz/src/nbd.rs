//! The NBD protocol, as a server reads it from clients and a client from servers.

use fathom_nbd::client::{
    Hello, HelloError, LISTED_MAX, NAMES_MAX, Purpose, REPLY_BYTES, Reply, Step,
};
use fathom_nbd::{ExportFacts, Exports, Handshake, REQUEST_BYTES, Request, Uri};

use crate::outcome::Outcome;

/// Two exports.
struct TwoExports;

impl Exports for TwoExports {
    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        each("data");
        each("vm/log");
    }

    fn find(&self, name: &str) -> Option<usize> {
        ["data", "vm/log"].iter().position(|known| *known == name)
    }

    fn facts(&self, _export: usize) -> ExportFacts {
        ExportFacts { size: 1 << 30 }
    }
}

/// What a client sends first; requests may follow. All at once and in two pieces, it must mean the same.
pub fn handshake(bytes: &[u8], outcome: &mut Outcome) {
    let bytes = &bytes[..bytes.len().min(64 << 10)];
    let mut handshake = Handshake::new();
    let mut out = Vec::new();
    let whole = handshake.take(bytes, &TwoExports, &mut out);
    let mut pieces = Handshake::new();
    let mut answers = Vec::new();
    let first = &bytes[..bytes.len() / 2];
    let halves = pieces.take(first, &TwoExports, &mut answers);
    let halves = halves.and_then(|(taken, went)| {
        if went == fathom_nbd::Outcome::More {
            let rest = pieces.take(&bytes[taken..], &TwoExports, &mut answers)?;
            return Ok((taken + rest.0, rest.1));
        }
        Ok((taken, went))
    });
    assert_eq!(whole, halves, "the same in pieces");
    if whole.is_ok() {
        assert_eq!(out, answers, "the same answers in pieces");
    }
    match whole {
        Ok((taken, went)) => {
            assert!(taken <= bytes.len(), "takes what is there");
            outcome.add(&format!("{went:?}"));
            if let fathom_nbd::Outcome::Begin(_) = went {
                requests(&bytes[taken..], outcome);
            }
        }
        Err(error) => outcome.add(&error.to_string()),
    }
    for kind in out.chunks(20).take(64) {
        outcome.add(&format!("{:?}", kind.get(12..16)));
    }
}

/// Requests and their data.
pub fn requests(bytes: &[u8], outcome: &mut Outcome) {
    let mut rest = bytes;
    for _ in 0..1000 {
        match Request::read(rest) {
            Ok(Some(request)) => {
                let allowed = fathom_nbd::check(&request, 1 << 30, true);
                outcome.add(&format!("{:?} {allowed:?}", request.command));
                let next = REQUEST_BYTES.saturating_add(request.payload() as usize);
                rest = rest.get(next..).unwrap_or_default();
            }
            Ok(None) => return,
            Err(error) => return outcome.add(&error.to_string()),
        }
    }
}

/// The longest answer to an option with its head: what a client may have to keep of a server.
const ANSWER_MAX: usize = 20 + (16 << 10);

/// What a server sends to a client: the first byte says what the client wants and whether in TLS, the handshake follows, and replies after it. All
/// at once and no more at a time than the client asks for, it must mean the same.
pub fn answers(bytes: &[u8], outcome: &mut Outcome) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    let purpose = match first & 3 {
        0 => Purpose::Use,
        1 => Purpose::Look,
        2 => Purpose::Survey,
        _ => Purpose::List,
    };
    let export = ["data", ""][usize::from(first & 4 != 0)];
    let begin = || match first & 8 {
        0 => Hello::new(export, purpose),
        _ => Hello::new(export, purpose).in_tls(),
    };
    let mut hello = begin();
    let mut out = Vec::new();
    let whole = hello.take(bytes, &mut out);
    let mut careful = begin();
    let mut said = Vec::new();
    let pieces = as_asked_for(&mut careful, bytes, &mut said);
    assert_eq!(whole, pieces, "the same in pieces");
    assert_eq!(out, said, "the same answers in pieces");
    assert_eq!(hello.names(), careful.names(), "the same names in pieces");
    assert!(out.len() < 8 << 10, "a client has little to say");
    assert!(hello.names().len() <= LISTED_MAX, "names are bounded");
    for option in out.get(4..).unwrap_or_default().chunks(16).take(8) {
        outcome.add(&format!("{:?}", option.get(8..12)));
    }
    outcome.add(&format!(
        "{:?} {}",
        hello.has_structured(),
        hello.names().len().min(2)
    ));
    match whole {
        Ok((taken, step)) => {
            outcome.add(&format!("{purpose:?} {step:?}"));
            if let Step::Begin(offer) | Step::Seen(offer) = step {
                let blocks = offer.blocks;
                assert!(blocks.minimum > 0 && blocks.minimum <= blocks.maximum);
            }
            if let Step::Begin(_) = step {
                replies(&bytes[taken..], outcome);
            }
        }
        Err(error) => {
            if let HelloError::Unknown(names) = &error {
                assert!(names.len() <= NAMES_MAX, "names are bounded");
            }
            let text = error.to_string();
            assert!(!text.contains(char::is_control), "it can be shown");
            // A server's own words are no ways through.
            let is_words = matches!(error, HelloError::Refused(_) | HelloError::NoTls(_));
            outcome.add(if is_words { "refused" } else { &text });
        }
    }
}

/// Gives a client what it asks for, as a connection does.
fn as_asked_for(
    hello: &mut Hello,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(usize, Step), HelloError> {
    let (mut start, mut shown) = (0, 0);
    loop {
        let (taken, step) = hello.take(&bytes[start..shown], out)?;
        start += taken;
        if step != Step::More {
            return Ok((start, step));
        }
        let wanted = hello.wanted(&bytes[start..shown]);
        assert!(wanted <= ANSWER_MAX, "memory is bounded");
        assert!(start + wanted > shown, "it asks for more");
        if start + wanted > bytes.len() {
            // The rest, of which an error may show already.
            let (taken, step) = hello.take(&bytes[start..], out)?;
            return Ok((start + taken, step));
        }
        shown = start + wanted;
    }
}

/// Replies to reads of 100 bytes.
fn replies(bytes: &[u8], outcome: &mut Outcome) {
    let mut rest = bytes;
    for _ in 0..1000 {
        match Reply::read(rest) {
            Ok(Some(reply)) => {
                outcome.add(&format!("{:?}", reply.result));
                let data = if reply.result.is_ok() { 100 } else { 0 };
                rest = rest.get(REPLY_BYTES + data..).unwrap_or_default();
            }
            Ok(None) => return,
            Err(error) => return outcome.add(&error.to_string()),
        }
    }
}

/// The URI of an export.
pub fn uri(bytes: &[u8], outcome: &mut Outcome) {
    let text = String::from_utf8_lossy(bytes);
    match Uri::parse(&text) {
        Ok(uri) => {
            let _ = uri.address.to_string();
            let kind = std::mem::discriminant(&uri.address);
            outcome.add(&format!("{kind:?} {}", uri.export.len().min(1)));
        }
        Err(error) => {
            let text = error.to_string();
            outcome.add(text.split('`').next().unwrap_or_default());
            outcome.add(error.remedy());
        }
    }
}
