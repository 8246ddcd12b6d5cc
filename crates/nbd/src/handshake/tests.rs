//! Handshakes as clients hold them, whole and byte by byte.

use super::*;
use crate::options::ExportFacts;

struct Two;

impl Exports for Two {
    fn each_name(&self, each: &mut dyn FnMut(&str)) {
        each("a");
        each("b");
    }

    fn find(&self, name: &str) -> Option<usize> {
        ["a", "b"].iter().position(|known| *known == name)
    }

    fn facts(&self, export: usize) -> ExportFacts {
        ExportFacts {
            size: 100 + export as u64,
        }
    }
}

fn option(number: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put64(OPTION_MAGIC);
    bytes.put32(number);
    bytes.put32(body.len() as u32);
    bytes.extend_from_slice(body);
    bytes
}

fn named(name: &str, rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    body.put32(name.len() as u32);
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(rest);
    body
}

/// Feeds a handshake whole and byte by byte; both must give the same. Gives kinds of replies and the outcome.
#[track_caller]
fn check(flags: u32, sent: &[Vec<u8>], expected: Result<(&[u32], Outcome), ProtocolError>) {
    let mut input = flags.to_be_bytes().to_vec();
    input.extend(sent.concat());
    let mut out = Vec::new();
    let whole = Handshake::new().take(&input, &Two, &mut out);
    let (mut bit_by_bit, mut answers, mut waiting) = (Handshake::new(), Vec::new(), Vec::new());
    let mut last = Ok(Outcome::More);
    for byte in &input {
        waiting.push(*byte);
        match bit_by_bit.take(&waiting, &Two, &mut answers) {
            Ok((taken, outcome)) => {
                waiting.drain(..taken);
                last = Ok(outcome);
            }
            Err(error) => last = Err(error),
        }
        if last != Ok(Outcome::More) {
            break;
        }
    }
    assert_eq!(whole.map(|(_, outcome)| outcome), last);
    assert_eq!(out, answers);
    match expected {
        Ok((kinds, outcome)) => {
            assert_eq!(last, Ok(outcome));
            assert_eq!(reply_kinds(&out), kinds);
        }
        Err(error) => assert_eq!(last, Err(error)),
    }
}

fn reply_kinds(out: &[u8]) -> Vec<u32> {
    let mut reader = Reader(out);
    let mut kinds = Vec::new();
    while let Some(magic) = reader.u64() {
        assert_eq!(magic, 0x0003_e889_0455_65a9);
        let _option = reader.u32();
        kinds.extend(reader.u32());
        let length = reader.u32().expect("a length follows");
        reader.take(length as usize).expect("the body is whole");
    }
    kinds
}

const ERROR: u32 = 1 << 31;

#[test]
fn a_client_chooses_an_export_with_go() {
    let session = |export, structured, allocation| {
        Outcome::Begin(Session {
            export,
            structured,
            allocation,
        })
    };
    let go = |name| option(OPT_GO, &named(name, &[0, 0]));
    check(3, &[go("b")], Ok((&[3, 3, 1], session(1, false, false))));
    let structured = option(OPT_STRUCTURED, &[]);
    let mut query = 1u32.to_be_bytes().to_vec();
    query.extend(named("base:allocation", &[]));
    let set = option(OPT_SET_CONTEXT, &named("a", &query));
    let sent = [structured.clone(), set.clone(), go("a")];
    check(3, &sent, Ok((&[1, 4, 1, 3, 3, 1], session(0, true, true))));
    // The context was chosen for another export.
    let sent = [structured, set, go("b")];
    check(3, &sent, Ok((&[1, 4, 1, 3, 3, 1], session(1, true, false))));
}

#[test]
fn what_is_not_served_is_refused_and_the_handshake_goes_on() {
    let unknown = option(OPT_GO, &named("c", &[0, 0]));
    let short = option(OPT_GO, &[0, 0, 0, 9, 1]);
    let miscounted = option(OPT_INFO, &named("a", &[0, 2, 0]));
    let future = option(11, &[]);
    let tls = option(OPT_STARTTLS, &[]);
    let huge = option(99, &vec![0; OPTION_MAX as usize + 1]);
    let early = option(OPT_SET_CONTEXT, &named("a", &0u32.to_be_bytes()));
    let list = option(OPT_LIST, &[]);
    let leave = option(OPT_ABORT, &[]);
    let sent = [
        unknown, short, miscounted, future, tls, huge, early, list, leave,
    ];
    let kinds = [6, 3, 3, 1, 1, 9, 3].map(|kind| ERROR | kind);
    let kinds: Vec<u32> = kinds.into_iter().chain([2, 2, 1, 1]).collect();
    check(1, &sent, Ok((&kinds, Outcome::Close)));
}

#[test]
fn what_cannot_be_answered_ends_the_connection() {
    check(4, &[], Err(ProtocolError::Flags));
    check(1, &[vec![7; 16]], Err(ProtocolError::Magic));
    let unknown = option(OPT_EXPORT_NAME, b"c");
    check(1, &[unknown], Err(ProtocolError::Unknown));
    let long = option(OPT_EXPORT_NAME, &vec![b'a'; OPTION_MAX as usize + 1]);
    check(1, &[long], Err(ProtocolError::Unknown));
    // There are two exports.
    let most = (OPTIONS_MOST + 2 * OPTIONS_OF_EXPORT) as usize;
    let endless = vec![option(99, &[]); most + 1];
    check(1, &endless, Err(ProtocolError::Endless));
    let refused = vec![ERROR | 1; most];
    check(1, &endless[..most], Ok((&refused, Outcome::More)));
    let endless = vec![option(OPT_LIST, &[]); LISTS_MOST as usize + 1];
    check(1, &endless, Err(ProtocolError::Endless));
}

#[test]
fn what_is_as_long_or_as_often_as_may_be_is_answered() {
    use crate::options::NAME_MAX;

    let lists = vec![option(OPT_LIST, &[]); LISTS_MOST as usize];
    let told = [2, 2, 1].repeat(LISTS_MOST as usize);
    check(1, &lists, Ok((&told, Outcome::More)));
    let longest = option(99, &vec![0; OPTION_MAX as usize]);
    check(1, &[longest], Ok((&[ERROR | 1], Outcome::More)));
    // A name may be so long, and is of no export here; a longer one is none.
    for (length, kind) in [(NAME_MAX, 6), (NAME_MAX + 1, 3)] {
        let name = "a".repeat(length);
        let sent = [
            option(OPT_INFO, &named(&name, &[0, 0])),
            option(OPT_STRUCTURED, &[]),
            option(OPT_SET_CONTEXT, &named(&name, &0u32.to_be_bytes())),
        ];
        let kinds = [ERROR | kind, 1, ERROR | kind];
        check(1, &sent, Ok((&kinds, Outcome::More)));
    }
}

/// Only another choice takes a choice back, and one that fails does too.
#[test]
fn a_chosen_context_stays_until_another_choice() {
    let mut query = 1u32.to_be_bytes().to_vec();
    query.extend(named("base:allocation", &[]));
    let structured = option(OPT_STRUCTURED, &[]);
    let set = |name| option(OPT_SET_CONTEXT, &named(name, &query));
    let go = option(OPT_GO, &named("a", &[0, 0]));
    for (next, kinds, allocation) in [
        (
            option(OPT_LIST_CONTEXT, &named("a", &query)),
            &[4, 1][..],
            true,
        ),
        (
            option(OPT_LIST_CONTEXT, &named("c", &query)),
            &[ERROR | 6],
            true,
        ),
        (set("c"), &[ERROR | 6], false),
        (option(OPT_SET_CONTEXT, &[]), &[ERROR | 3], false),
        (set("b"), &[4, 1], false),
    ] {
        let session = Session {
            export: 0,
            structured: true,
            allocation,
        };
        let sent = [structured.clone(), set("a"), next, go.clone()];
        let kinds = [&[1, 4, 1], kinds, &[3, 3, 1]].concat();
        check(3, &sent, Ok((&kinds, Outcome::Begin(session))));
    }
}

#[test]
fn the_oldest_way_to_an_export_has_its_zeroes() {
    for (flags, length) in [(1u32, 8 + 2 + 124), (3, 8 + 2)] {
        let mut input = flags.to_be_bytes().to_vec();
        input.extend(option(OPT_EXPORT_NAME, b"b"));
        let mut out = Vec::new();
        let (taken, outcome) = Handshake::new().take(&input, &Two, &mut out).unwrap();
        assert_eq!((taken, out.len()), (input.len(), length));
        assert!(matches!(outcome, Outcome::Begin(session) if session.export == 1));
        assert_eq!(out[..8], 101u64.to_be_bytes());
    }
}

#[test]
fn nothing_but_tls_is_spoken_before_it_and_nothing_of_before_counts_in_it() {
    let go = option(OPT_GO, &named("a", &[0, 0]));
    let start = option(OPT_STARTTLS, &[]);
    let mut input = 3u32.to_be_bytes().to_vec();
    let early = [
        option(OPT_LIST, &[]),
        option(OPT_STRUCTURED, &[]),
        go.clone(),
        option(OPT_STARTTLS, &[1]),
        start.clone(),
    ];
    input.extend(early.concat());
    let plain = input.len();
    // What follows in one piece is not taken: nobody knows who sent it.
    input.extend(&go);
    let (mut handshake, mut out) = (Handshake::before_tls(), Vec::new());
    let went = handshake.take(&input, &Two, &mut out);
    assert_eq!(went, Ok((plain, Outcome::Tls)));
    let refused = ERROR | 5;
    assert_eq!(reply_kinds(&out), [refused, refused, refused, ERROR | 3, 1]);
    // No flags are sent again; what was asked for before was not agreed on.
    let (mut secured, mut out) = (handshake.secured(), Vec::new());
    let inside = [start, go].concat();
    let session = Session {
        export: 0,
        structured: false,
        allocation: false,
    };
    let went = secured.take(&inside, &Two, &mut out);
    assert_eq!(went, Ok((inside.len(), Outcome::Begin(session))));
    assert_eq!(reply_kinds(&out), [ERROR | 3, 3, 3, 1]);
    // The way to an export that knows no refusal ends the connection; leaving needs no TLS.
    for (last, expected) in [
        (option(OPT_EXPORT_NAME, b"a"), Err(ProtocolError::Unknown)),
        (option(OPT_ABORT, &[]), Ok(Outcome::Close)),
    ] {
        let input = [1u32.to_be_bytes().to_vec(), last].concat();
        let went = Handshake::before_tls().take(&input, &Two, &mut Vec::new());
        assert_eq!(went.map(|(_, outcome)| outcome), expected);
    }
}
