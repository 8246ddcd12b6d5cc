//! Options of the handshake: what each asks for and how it is answered.

use crate::bytes::{Put, Reader};
use crate::request::{BLOCK_MAX, BLOCK_MIN, BLOCK_PREFERRED};

/// Most bytes of one option that are read; longer ones are skipped and refused.
pub const OPTION_MAX: u32 = 64 << 10;
/// Longest name of an export, as the protocol has it.
pub(crate) const NAME_MAX: usize = 4096;

/// The one metadata context that is served.
pub(crate) const ALLOCATION: &str = "base:allocation";

pub(crate) const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

pub(crate) const OPT_EXPORT_NAME: u32 = 1;
pub(crate) const OPT_ABORT: u32 = 2;
pub(crate) const OPT_LIST: u32 = 3;
pub(crate) const OPT_STARTTLS: u32 = 5;
pub(crate) const OPT_INFO: u32 = 6;
pub(crate) const OPT_GO: u32 = 7;
pub(crate) const OPT_STRUCTURED: u32 = 8;
pub(crate) const OPT_LIST_CONTEXT: u32 = 9;
pub(crate) const OPT_SET_CONTEXT: u32 = 10;

pub(crate) const REP_ACK: u32 = 1;
pub(crate) const REP_SERVER: u32 = 2;
pub(crate) const REP_INFO: u32 = 3;
const REP_CONTEXT: u32 = 4;
pub(crate) const ERROR: u32 = 1 << 31;

pub(crate) const INFO_EXPORT: u16 = 0;
pub(crate) const INFO_BLOCK_SIZE: u16 = 3;

/// Why an option is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Unsupported = 1,
    Invalid = 3,
    TlsRequired = 5,
    Unknown = 6,
    TooBig = 9,
}

impl Refusal {
    const fn words(self) -> &'static str {
        match self {
            Self::Unsupported => "this server does not have that option",
            Self::Invalid => "the option is malformed, or comes too early or twice",
            Self::TlsRequired => "this server wants TLS first",
            Self::Unknown => "no export has that name",
            Self::TooBig => "the option is too long",
        }
    }
}

/// What a client is told of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportFacts {
    /// Its bytes.
    pub size: u64,
}

/// The exports of a server, by index.
pub trait Exports {
    /// Calls `each` with every name.
    fn each_name(&self, each: &mut dyn FnMut(&str));
    /// The export of that name; the empty name asks for the default.
    fn find(&self, name: &str) -> Option<usize>;
    /// What is told of an export that [`Exports::find`] gave.
    fn facts(&self, export: usize) -> ExportFacts;
}

/// Begins the reply to an option; [`finish`] fills in its length.
fn begin(out: &mut Vec<u8>, option: u32, kind: u32) -> usize {
    out.put64(REPLY_MAGIC);
    out.put32(option);
    out.put32(kind);
    out.put32(0);
    out.len()
}

fn finish(out: &mut [u8], start: usize) {
    let length = (out.len() - start) as u32;
    out[start - 4..start].copy_from_slice(&length.to_be_bytes());
}

pub(crate) fn acknowledge(out: &mut Vec<u8>, option: u32) {
    begin(out, option, REP_ACK);
}

pub(crate) fn refuse(out: &mut Vec<u8>, option: u32, refusal: Refusal) {
    let start = begin(out, option, ERROR | refusal as u32);
    out.extend_from_slice(refusal.words().as_bytes());
    finish(out, start);
}

pub(crate) fn list(out: &mut Vec<u8>, exports: &dyn Exports) {
    exports.each_name(&mut |name| {
        let start = begin(out, OPT_LIST, REP_SERVER);
        out.put32(name.len() as u32);
        out.extend_from_slice(name.as_bytes());
        finish(out, start);
    });
    acknowledge(out, OPT_LIST);
}

/// Flags of an export, as they are sent before requests begin.
pub(crate) const fn transmission_flags(structured: bool) -> u16 {
    const HAS_FLAGS: u16 = 1;
    const SEND_FLUSH: u16 = 1 << 2;
    const SEND_FUA: u16 = 1 << 3;
    const SEND_TRIM: u16 = 1 << 5;
    const SEND_WRITE_ZEROES: u16 = 1 << 6;
    const SEND_DF: u16 = 1 << 7;
    const CAN_MULTI_CONN: u16 = 1 << 8;
    let flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN;
    if structured { flags | SEND_DF } else { flags }
}

/// An `INFO` or `GO`: the export's name. What else the client would like to know is told it unasked.
pub(crate) fn wanted_export(body: &[u8]) -> Option<&str> {
    let mut reader = Reader(body);
    let name = reader.text().filter(|name| name.len() <= NAME_MAX)?;
    let count = usize::from(reader.u16()?);
    (reader.0.len() == count * 2).then_some(name)
}

/// Tells of an export, in the answer to `INFO` or `GO`.
pub(crate) fn describe(out: &mut Vec<u8>, option: u32, facts: ExportFacts, structured: bool) {
    let start = begin(out, option, REP_INFO);
    out.put16(INFO_EXPORT);
    out.put64(facts.size);
    out.put16(transmission_flags(structured));
    finish(out, start);
    let start = begin(out, option, REP_INFO);
    out.put16(INFO_BLOCK_SIZE);
    out.put32(BLOCK_MIN);
    out.put32(BLOCK_PREFERRED);
    out.put32(BLOCK_MAX);
    finish(out, start);
    acknowledge(out, option);
}

/// Contexts that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contexts<'a> {
    pub export: &'a str,
    /// Whether a query asks for [`ALLOCATION`] itself.
    pub exact: bool,
    /// Whether a query would list it: no query at all, its namespace, or itself.
    pub listed: bool,
}

pub(crate) fn contexts(body: &[u8]) -> Option<Contexts<'_>> {
    let mut reader = Reader(body);
    let export = reader.text().filter(|name| name.len() <= NAME_MAX)?;
    let count = reader.u32()?;
    let (mut exact, mut listed) = (false, count == 0);
    for _ in 0..count {
        let query = reader.text()?;
        exact |= query == ALLOCATION;
        listed |= query == ALLOCATION || query == "base:";
    }
    reader.0.is_empty().then_some(Contexts {
        export,
        exact,
        listed,
    })
}

/// Number of [`ALLOCATION`] in replies.
pub(crate) const ALLOCATION_ID: u32 = 1;

pub(crate) fn offer_context(out: &mut Vec<u8>, option: u32) {
    let start = begin(out, option, REP_CONTEXT);
    out.put32(ALLOCATION_ID);
    out.extend_from_slice(ALLOCATION.as_bytes());
    finish(out, start);
}
