//! Handshakes with our own server, whole and byte by byte, and with servers that are old or mad.

use super::*;
use crate::{ExportFacts, Exports, GREETING, Handshake};

struct Two;

impl Exports for Two {
    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        each("a");
        each("b\u{7}");
    }

    fn find(&self, name: &str) -> Option<usize> {
        (name == "a").then_some(0)
    }

    fn facts(&self, _: usize) -> ExportFacts {
        ExportFacts { size: 100 }
    }
}

/// Holds a handshake with our server, each side told at most `step` bytes at a time.
fn with_server(export: &str, purpose: Purpose, step: usize) -> Result<Step, HelloError> {
    let (mut hello, mut server) = (Hello::new(export, purpose), Handshake::new());
    let (mut to_client, mut to_server) = (GREETING.to_vec(), Vec::new());
    loop {
        let mut shown = 0;
        loop {
            shown = (shown + step).min(to_client.len());
            let (taken, went) = hello.take(&to_client[..shown], &mut to_server)?;
            to_client.drain(..taken);
            shown -= taken;
            if went != Step::More {
                assert!(to_client.is_empty());
                return Ok(went);
            }
            if shown == to_client.len() {
                break;
            }
        }
        let (taken, _) = server.take(&to_server, &Two, &mut to_client).unwrap();
        assert!(taken > 0, "both wait");
        to_server.drain(..taken);
    }
}

#[test]
fn a_server_offers_its_exports() {
    let blocks = BlockLimits {
        minimum: 1,
        preferred: 4096,
        maximum: 32 << 20,
        told: true,
    };
    for step in [1, 7, 1000] {
        for purpose in [Purpose::Use, Purpose::Look, Purpose::Survey] {
            let (offer, is_use) = match with_server("a", purpose, step).unwrap() {
                Step::Begin(offer) => (offer, true),
                Step::Seen(offer) => (offer, false),
                Step::More | Step::Secure | Step::Listed => panic!("it is not over"),
            };
            assert_eq!(is_use, purpose == Purpose::Use);
            assert_eq!((offer.size, offer.blocks), (100, blocks));
            let flags = offer.flags;
            assert!(flags.has_flush() && flags.has_fua() && flags.has_trim());
            assert!(flags.has_write_zeroes() && flags.has_multi_conn());
            assert!(!flags.is_read_only() && !flags.is_rotational());
        }
        let error = with_server("c", Purpose::Use, step).unwrap_err();
        assert_eq!(
            error,
            HelloError::Unknown(vec!["a".to_owned(), "b".to_owned()])
        );
    }
}

fn greeting(flags: u16) -> Vec<u8> {
    let mut bytes = GREETING[..16].to_vec();
    bytes.put16(flags);
    bytes
}

fn told(option: u32, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put64(REPLY_MAGIC);
    bytes.put32(option);
    bytes.put32(kind);
    bytes.put32(body.len() as u32);
    bytes.extend_from_slice(body);
    bytes
}

/// What becomes of all of a server's bytes, and what it is sent.
fn after(bytes: &[u8]) -> (Result<(usize, Step), HelloError>, Vec<u8>) {
    let mut out = Vec::new();
    let went = Hello::new("a", Purpose::Use).take(bytes, &mut out);
    (went, out)
}

#[test]
fn old_servers_are_asked_in_the_oldest_way() {
    let mut facts = Vec::new();
    facts.put64(4096);
    facts.put16(3);
    // Without fixed newstyle at once; with it after a refusal, and without zeroes where both agree on that.
    let refusal = told(OPT_GO, ERROR | 1, &[]);
    let zeroes = vec![0; ZEROES];
    for parts in [
        vec![greeting(0), facts.clone(), zeroes.clone()],
        vec![greeting(1), refusal.clone(), facts.clone(), zeroes],
        vec![greeting(3), refusal, facts],
    ] {
        let bytes = parts.concat();
        let (went, out) = after(&bytes);
        let (taken, Step::Begin(offer)) = went.unwrap() else {
            panic!("it is not over");
        };
        assert_eq!(
            (taken, offer.size, offer.blocks.told),
            (bytes.len(), 4096, false)
        );
        assert!(offer.flags.is_read_only());
        assert!(out.ends_with(b"\0\0\0\x01\0\0\0\x01a"));
        let (short, _) = after(&bytes[..bytes.len() - 1]);
        assert_eq!(short.unwrap().1, Step::More);
    }
}

#[track_caller]
fn refused(bytes: &[u8], expected: &str) {
    assert_eq!(after(bytes).0.unwrap_err().to_string(), expected);
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(
        &[b'x'; 18],
        "it does not speak NBD as it should: its first bytes are others",
    );
    let mut old = GREETING;
    old[15] ^= 1;
    refused(&old, "it speaks the oldstyle handshake alone");
    let then = |bytes: Vec<u8>| [greeting(3), bytes].concat();
    refused(
        &then(vec![1; 20]),
        "it does not speak NBD as it should: its answers begin with other bytes",
    );
    refused(
        &then(told(OPT_LIST, REP_ACK, &[])),
        "it does not speak NBD as it should: it answers what was not asked",
    );
    let mut long = told(OPT_GO, REP_INFO, &[]);
    long[16..].copy_from_slice(&u32::MAX.to_be_bytes());
    refused(
        &then(long),
        "it does not speak NBD as it should: its answers are too long",
    );
    refused(
        &then(told(OPT_GO, REP_INFO, &[0, 0, 1])),
        "it does not speak NBD as it should: what it tells of the export is too short",
    );
    let zero = [&[0, 3][..], &[0; 12]].concat();
    refused(
        &then(told(OPT_GO, REP_INFO, &zero)),
        "it does not speak NBD as it should: its block sizes contradict each other",
    );
    refused(
        &then(told(OPT_GO, REP_ACK, &[])),
        "it does not speak NBD as it should: it does not tell how large the export is",
    );
    let endless = told(OPT_GO, REP_INFO, &[0, 9]).repeat(2000);
    refused(
        &then(endless),
        "it does not speak NBD as it should: its answers have no end",
    );
    refused(&then(told(OPT_GO, ERROR | 5, &[])), "it wants TLS");
    refused(
        &then(told(OPT_GO, ERROR | 2, b"go\naway")),
        "it refuses: goaway",
    );
    refused(
        &then(told(OPT_GO, ERROR | 2, &[])),
        "it refuses: its policy forbids it",
    );
    refused(
        &then(told(OPT_GO, ERROR | 0x4d, &[])),
        "it refuses: its error 77",
    );
}

/// What becomes of a server's bytes where TLS is wanted, and what it is sent.
#[track_caller]
fn in_tls(bytes: &[u8], expected: Result<Step, &str>) -> Vec<u8> {
    let mut out = Vec::new();
    let went = Hello::new("a", Purpose::Use).in_tls().take(bytes, &mut out);
    let went = went.map(|(_, step)| step);
    let went = went.as_ref().map_err(ToString::to_string);
    assert_eq!(
        went.map_err(|it| it.as_str().to_owned()).copied(),
        expected.map_err(str::to_owned)
    );
    out
}

#[test]
fn tls_comes_before_anything_else() {
    let out = in_tls(&greeting(3), Ok(Step::More));
    assert_eq!(out, b"\0\0\0\x03IHAVEOPT\0\0\0\x05\0\0\0\0");
    let then = |kind, body: &[u8]| [greeting(3), told(OPT_STARTTLS, kind, body)].concat();
    let out = in_tls(&then(REP_ACK, &[]), Ok(Step::Secure));
    assert!(!out.ends_with(b"a"), "the export is not named before TLS");
    for (bytes, why) in [
        (greeting(0), "it knows no options"),
        (then(ERROR | 1, &[]), "it does not know the option"),
        (then(ERROR | 2, &[]), "its policy forbids it"),
        (then(ERROR | 2, b"not\nhere"), "nothere"),
    ] {
        in_tls(
            &bytes,
            Err(&format!("it has no TLS, which is asked of it ({why})")),
        );
    }
    let mut hello = Hello::new("a", Purpose::Use).in_tls();
    let mut out = Vec::new();
    hello.take(&then(REP_ACK, &[]), &mut out).unwrap();
    out.clear();
    hello.secured(&mut out);
    assert!(out.starts_with(b"IHAVEOPT\0\0\0\x07"), "{out:?}");
}

#[test]
fn names_without_end_are_left() {
    let mut name = Vec::new();
    name.put32(1);
    name.push(b'x');
    let names = told(OPT_LIST, REP_SERVER, &name).repeat(500);
    let bytes = [greeting(3), told(OPT_GO, ERROR | 6, &[]), names].concat();
    let HelloError::Unknown(names) = after(&bytes).0.unwrap_err() else {
        panic!("it is unknown");
    };
    assert_eq!(names, vec!["x".to_owned(); NAMES_MAX]);
}

/// What a client that wants `purpose` knows after all of a server's bytes, and what it has said.
fn known(purpose: Purpose, bytes: &[u8]) -> (Result<Step, HelloError>, Hello, Vec<u8>) {
    let (mut hello, mut out) = (Hello::new("a", purpose), Vec::new());
    let went = hello.take(bytes, &mut out).map(|(_, step)| step);
    (went, hello, out)
}

#[test]
fn a_survey_learns_whether_replies_can_be_structured() {
    let mut facts = Vec::new();
    facts.put16(INFO_EXPORT);
    facts.put64(4096);
    facts.put16(1);
    for (kind, expected) in [(REP_ACK, Some(true)), (ERROR | 1, Some(false))] {
        let bytes = [
            greeting(3),
            told(OPT_STRUCTURED, kind, &[]),
            told(OPT_INFO, REP_INFO, &facts),
            told(OPT_INFO, REP_ACK, &[]),
        ];
        let (went, hello, out) = known(Purpose::Survey, &bytes.concat());
        assert!(matches!(went, Ok(Step::Seen(_))), "{went:?}");
        assert_eq!(hello.has_structured(), expected);
        let options = [OPT_STRUCTURED, OPT_INFO, OPT_ABORT];
        let asked = options.map(|option| out.windows(12).any(|it| it[8..] == option.to_be_bytes()));
        assert_eq!(asked, [true; 3]);
    }
    let wants_tls = [greeting(3), told(OPT_STRUCTURED, ERROR | 5, &[])].concat();
    assert_eq!(known(Purpose::Survey, &wants_tls).0, Err(HelloError::Tls));
    // A server that knows no options is asked in the oldest way.
    let (went, hello, _) = known(Purpose::Survey, &greeting(0));
    assert_eq!((went, hello.has_structured()), (Ok(Step::More), None));
}

#[test]
fn names_are_listed_up_to_a_limit() {
    let name = |text: &[u8]| {
        let mut body = Vec::new();
        body.put32(text.len() as u32);
        body.extend_from_slice(text);
        told(OPT_LIST, REP_SERVER, &body)
    };
    let whole = [
        greeting(3),
        name(b"a"),
        name(b"b\x07"),
        told(OPT_LIST, REP_ACK, &[]),
    ]
    .concat();
    let (went, hello, out) = known(Purpose::List, &whole);
    assert_eq!(
        (went, hello.names()),
        (Ok(Step::Listed), &["a".to_owned(), "b".to_owned()][..])
    );
    assert!(out.ends_with(&[0, 0, 0, 2, 0, 0, 0, 0]), "it leaves");
    let many = [greeting(3), name(b"x").repeat(1020)].concat();
    let (went, hello, _) = known(Purpose::List, &many);
    assert_eq!((went, hello.names().len()), (Ok(Step::Listed), LISTED_MAX));
    for (kind, expected) in [
        (
            ERROR | 1,
            "it refuses: it does not tell the names of its exports",
        ),
        (ERROR | 2, "it refuses: its policy forbids it"),
        (ERROR | 5, "it wants TLS"),
    ] {
        let bytes = [greeting(3), told(OPT_LIST, kind, &[])].concat();
        assert_eq!(
            known(Purpose::List, &bytes).0.unwrap_err().to_string(),
            expected
        );
    }
    let old = known(Purpose::List, &greeting(0)).0;
    assert_eq!(
        old.unwrap_err().to_string(),
        "it refuses: it does not tell the names of its exports"
    );
}
