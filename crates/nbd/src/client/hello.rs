//! The fixed newstyle handshake, from the server's greeting to its offer.
//!
//! The export is asked for by `NBD_OPT_GO`, or looked at by `NBD_OPT_INFO`, after which the client leaves. Servers that know
//! neither are asked in the oldest way. Of a server that has no such export, the names of some of those it has are asked. Who
//! surveys an export asks for structured replies first, to know whether they are there; who lists asks for names alone. Who wants
//! TLS asks for it before anything else, and for nothing where there is none.

use crate::bytes::{Put, Reader};
use crate::client::{BlockLimits, Offer, OfferFlags};
use crate::handshake::{FIXED_NEWSTYLE, NBD_MAGIC, NO_ZEROES, OPTION_MAGIC};
use crate::options::{
    ERROR, INFO_BLOCK_SIZE, INFO_EXPORT, OPT_ABORT, OPT_EXPORT_NAME, OPT_GO, OPT_INFO, OPT_LIST,
    OPT_STARTTLS, OPT_STRUCTURED, REP_ACK, REP_INFO, REP_SERVER, REPLY_MAGIC,
};

/// Most names of exports that are asked of a server which does not have the one that was named.
pub const NAMES_MAX: usize = 20;
/// Most names of exports that are listed.
pub const LISTED_MAX: usize = 1000;
/// Longest answer to an option.
const ANSWER_MAX: u32 = 16 << 10;
/// Most answers of one handshake.
const ANSWERS_MOST: u32 = 1024;
/// Longest text of a server that is told.
const TEXT_MAX: usize = 200;
/// Bytes of the greeting: two magic numbers and the flags.
const GREETING_BYTES: usize = 18;
/// Bytes of an answer before what it holds.
const ANSWER_HEAD: usize = 20;
/// Bytes after size and flags in the oldest answer, if both sides want them.
const ZEROES: usize = 124;

/// Numbers of refusals.
const UNSUPPORTED: u32 = 1;
const TLS_REQUIRED: u32 = 5;
const UNKNOWN: u32 = 6;
/// What is said of servers that do not know the option; of an export they are asked in the oldest way.
const NO_LIST: &str = "it does not tell the names of its exports";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Requests follow.
    Use,
    /// The offer alone.
    Look,
    /// The offer, and whether replies can be structured.
    Survey,
    /// The names of a server's exports.
    List,
}

/// How a handshake goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// More has to come from the server.
    More,
    /// TLS begins with the next byte on either side; [`Hello::secured`] goes on once it is there.
    Secure,
    /// Requests may follow: [`Purpose::Use`], or a server that was asked in the oldest way.
    Begin(Offer),
    /// That was it; the client has said that it leaves.
    Seen(Offer),
    /// [`Hello::names`] holds all names, or [`LISTED_MAX`] of them; the client has said that it leaves.
    Listed,
}

/// Why there will be no requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    /// What was sent is no NBD, or none that makes sense.
    #[error("it does not speak NBD as it should: {0}")]
    Protocol(&'static str),
    /// A server from before 2012.
    #[error("it speaks the oldstyle handshake alone")]
    Oldstyle,
    /// It does not have the export; some of those it has.
    #[error("it has no such export")]
    Unknown(Vec<String>),
    /// It wants TLS first.
    #[error("it wants TLS")]
    Tls,
    /// It has no TLS, or none for this client.
    #[error("it has no TLS, which is asked of it ({0})")]
    NoTls(String),
    /// Anything else, in its words where it has any.
    #[error("it refuses: {0}")]
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Greeting,
    /// The answers to this option.
    Asked(u32),
    /// The answer in the oldest way, with zeroes after it or not.
    Named {
        zeroes: bool,
    },
}

/// A handshake under way.
#[derive(Debug, Clone)]
pub struct Hello {
    export: String,
    purpose: Purpose,
    /// Whether TLS comes first.
    is_secure: bool,
    state: State,
    no_zeroes: bool,
    answers: u32,
    /// Size and flags.
    facts: Option<(u64, u16)>,
    blocks: BlockLimits,
    has_structured: Option<bool>,
    names: Vec<String>,
}

impl Hello {
    /// A handshake about that export, which waits for the server's greeting.
    pub fn new(export: &str, purpose: Purpose) -> Self {
        Self {
            export: export.to_owned(),
            purpose,
            is_secure: false,
            state: State::Greeting,
            no_zeroes: false,
            answers: 0,
            facts: None,
            blocks: BlockLimits::default(),
            has_structured: None,
            names: Vec::new(),
        }
    }

    /// The same, which goes on in TLS once the server has greeted.
    #[must_use]
    pub const fn in_tls(mut self) -> Self {
        self.is_secure = true;
        self
    }

    /// TLS is there, after [`Step::Secure`]: appends what is asked in it to `out`.
    pub fn secured(&mut self, out: &mut Vec<u8>) {
        self.ask_for_purpose(out);
    }

    /// Whether the server can structure its replies; `None` where it was not asked, as by all but [`Purpose::Survey`].
    pub const fn has_structured(&self) -> Option<bool> {
        self.has_structured
    }

    /// The names that a server has told, as they can be shown.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Bytes that are needed before [`Hello::take`] can go on: a caller that reads no more than these reads nothing that comes
    /// after the handshake.
    pub fn wanted(&self, input: &[u8]) -> usize {
        match self.state {
            State::Greeting => GREETING_BYTES,
            State::Named { zeroes } => 10 + if zeroes { ZEROES } else { 0 },
            State::Asked(_) => {
                let length = answer(input).ok().flatten().map_or(0, |it| it.length);
                ANSWER_HEAD + length as usize
            }
        }
    }

    /// Takes what it can from `input`, appends what is to be sent to `out`, and gives the bytes taken.
    ///
    /// # Errors
    /// Why there will be no requests.
    pub fn take(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, Step), HelloError> {
        let mut taken = 0;
        loop {
            let rest = &input[taken..];
            let answered = match self.state {
                State::Asked(_) => answer(rest)?,
                _ => None,
            };
            let wanted = self.wanted(rest);
            let Some(whole) = rest.get(..wanted) else {
                return Ok((taken, Step::More));
            };
            taken += wanted;
            let step = match (self.state, answered) {
                (State::Greeting, _) => self.greeted(whole, out)?,
                (State::Named { .. }, _) => return Ok((taken, self.named(whole)?)),
                (State::Asked(option), Some(answer)) => {
                    self.answered(option, answer, &whole[ANSWER_HEAD..], out)?
                }
                (State::Asked(_), None) => Step::More,
            };
            if step != Step::More {
                return Ok((taken, step));
            }
        }
    }

    fn greeted(&mut self, greeting: &[u8], out: &mut Vec<u8>) -> Result<Step, HelloError> {
        let mut reader = Reader(greeting);
        let (magic, style, flags) = (reader.u64(), reader.u64(), reader.u16());
        if magic != Some(NBD_MAGIC) {
            return Err(HelloError::Protocol("its first bytes are others"));
        }
        if style != Some(OPTION_MAGIC) {
            return Err(HelloError::Oldstyle);
        }
        let flags = u32::from(flags.unwrap_or(0)) & (FIXED_NEWSTYLE | NO_ZEROES);
        self.no_zeroes = flags & NO_ZEROES != 0;
        out.put32(flags);
        let is_fixed = flags & FIXED_NEWSTYLE != 0;
        match self.purpose {
            _ if self.is_secure && !is_fixed => {
                return Err(HelloError::NoTls("it knows no options".to_owned()));
            }
            _ if self.is_secure => self.ask(OPT_STARTTLS, &[], out),
            Purpose::List if !is_fixed => return Err(HelloError::Refused(NO_LIST.to_owned())),
            _ if !is_fixed => self.ask_by_name(out),
            _ => self.ask_for_purpose(out),
        }
        Ok(Step::More)
    }

    fn ask_for_purpose(&mut self, out: &mut Vec<u8>) {
        match self.purpose {
            Purpose::Use => self.ask_for_export(OPT_GO, out),
            Purpose::Look => self.ask_for_export(OPT_INFO, out),
            Purpose::Survey => self.ask(OPT_STRUCTURED, &[], out),
            Purpose::List => self.ask(OPT_LIST, &[], out),
        }
    }

    fn ask_for_export(&mut self, option: u32, out: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(8 + self.export.len());
        body.put32(self.export.len() as u32);
        body.extend_from_slice(self.export.as_bytes());
        body.put16(1);
        body.put16(INFO_BLOCK_SIZE);
        self.ask(option, &body, out);
    }

    fn ask(&mut self, option: u32, body: &[u8], out: &mut Vec<u8>) {
        out.put64(OPTION_MAGIC);
        out.put32(option);
        out.put32(body.len() as u32);
        out.extend_from_slice(body);
        self.state = State::Asked(option);
    }

    /// The oldest way, which knows no refusal: a server that has no such export cuts the connection.
    fn ask_by_name(&mut self, out: &mut Vec<u8>) {
        let export = std::mem::take(&mut self.export);
        self.ask(OPT_EXPORT_NAME, export.as_bytes(), out);
        self.state = State::Named {
            zeroes: !self.no_zeroes,
        };
    }

    fn named(&self, whole: &[u8]) -> Result<Step, HelloError> {
        let mut reader = Reader(whole);
        let facts = reader.u64().zip(reader.u16());
        let (size, flags) = facts.ok_or(HelloError::Protocol("its answer is too short"))?;
        Ok(Step::Begin(Offer {
            size,
            flags: OfferFlags(flags),
            blocks: self.blocks,
        }))
    }

    fn answered(
        &mut self,
        option: u32,
        answer: Answer,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Step, HelloError> {
        self.answers += 1;
        if self.answers > ANSWERS_MOST {
            return Err(HelloError::Protocol("its answers have no end"));
        }
        if answer.option != option {
            return Err(HelloError::Protocol("it answers what was not asked"));
        }
        match option {
            OPT_LIST if self.purpose == Purpose::List => return self.all_listed(answer, body, out),
            OPT_LIST => return self.listed(answer, body),
            OPT_STRUCTURED => return self.structured(answer, out),
            OPT_STARTTLS => return starts(answer, body),
            _ => {}
        }
        match answer.kind {
            REP_INFO => self.informed(body),
            REP_ACK => self.agreed(option, out),
            kind if kind & ERROR != 0 => self.refused(kind & !ERROR, body, out),
            // Others may come some day, and tell what was not asked.
            _ => Ok(Step::More),
        }
    }

    fn informed(&mut self, body: &[u8]) -> Result<Step, HelloError> {
        let short = HelloError::Protocol("what it tells of the export is too short");
        let mut reader = Reader(body);
        match reader.u16().ok_or(short.clone())? {
            INFO_EXPORT => {
                self.facts = Some(reader.u64().zip(reader.u16()).ok_or(short)?);
            }
            INFO_BLOCK_SIZE => {
                let sizes = reader.u32().zip(reader.u32()).zip(reader.u32());
                let ((minimum, preferred), maximum) = sizes.ok_or(short)?;
                if minimum == 0 || maximum < minimum {
                    return Err(HelloError::Protocol(
                        "its block sizes contradict each other",
                    ));
                }
                self.blocks = BlockLimits {
                    minimum,
                    preferred,
                    maximum,
                    told: true,
                };
            }
            _ => {}
        }
        Ok(Step::More)
    }

    fn agreed(&mut self, option: u32, out: &mut Vec<u8>) -> Result<Step, HelloError> {
        let untold = HelloError::Protocol("it does not tell how large the export is");
        let (size, flags) = self.facts.ok_or(untold)?;
        let offer = Offer {
            size,
            flags: OfferFlags(flags),
            blocks: self.blocks,
        };
        if option == OPT_GO {
            return Ok(Step::Begin(offer));
        }
        self.ask(OPT_ABORT, &[], out);
        Ok(Step::Seen(offer))
    }

    /// What is done about a refusal of `GO` or `INFO`.
    fn refused(&mut self, why: u32, body: &[u8], out: &mut Vec<u8>) -> Result<Step, HelloError> {
        match why {
            UNSUPPORTED => self.ask_by_name(out),
            TLS_REQUIRED => return Err(HelloError::Tls),
            UNKNOWN => self.ask(OPT_LIST, &[], out),
            _ => return Err(HelloError::Refused(refusal(why, body))),
        }
        Ok(Step::More)
    }

    /// Structured replies are there, or not; the export is asked for after that.
    fn structured(&mut self, answer: Answer, out: &mut Vec<u8>) -> Result<Step, HelloError> {
        match answer.kind {
            REP_ACK => self.has_structured = Some(true),
            kind if kind & !ERROR == TLS_REQUIRED && kind & ERROR != 0 => {
                return Err(HelloError::Tls);
            }
            kind if kind & ERROR != 0 => self.has_structured = Some(false),
            _ => return Ok(Step::More),
        }
        self.ask_for_export(OPT_INFO, out);
        Ok(Step::More)
    }

    /// Takes note of a name that is listed, or of the end of the list.
    fn all_listed(
        &mut self,
        answer: Answer,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Step, HelloError> {
        match answer.kind {
            REP_SERVER if self.names.len() < LISTED_MAX => {
                self.names.extend(Reader(body).text().map(printable));
                Ok(Step::More)
            }
            kind if kind & ERROR != 0 => Err(match kind & !ERROR {
                TLS_REQUIRED => HelloError::Tls,
                why => HelloError::Refused(refusal(why, body)),
            }),
            REP_SERVER | REP_ACK => {
                self.ask(OPT_ABORT, &[], out);
                Ok(Step::Listed)
            }
            _ => Ok(Step::More),
        }
    }

    /// Takes note of a name; gives what follows from all of them at their end.
    fn listed(&mut self, answer: Answer, body: &[u8]) -> Result<Step, HelloError> {
        if answer.kind == REP_SERVER && self.names.len() < NAMES_MAX {
            self.names.extend(Reader(body).text().map(printable));
            return Ok(Step::More);
        }
        Err(HelloError::Unknown(std::mem::take(&mut self.names)))
    }
}

/// The head of an answer to an option.
#[derive(Debug, Clone, Copy)]
struct Answer {
    option: u32,
    kind: u32,
    length: u32,
}

/// The head at the front of `input`; `None` where it is not whole yet.
fn answer(input: &[u8]) -> Result<Option<Answer>, HelloError> {
    let mut reader = Reader(input);
    let Some(magic) = reader.u64() else {
        return Ok(None);
    };
    if magic != REPLY_MAGIC {
        return Err(HelloError::Protocol("its answers begin with other bytes"));
    }
    let (Some(option), Some(kind), Some(length)) = (reader.u32(), reader.u32(), reader.u32())
    else {
        return Ok(None);
    };
    if length > ANSWER_MAX {
        return Err(HelloError::Protocol("its answers are too long"));
    }
    Ok(Some(Answer {
        option,
        kind,
        length,
    }))
}

/// Whether TLS begins.
fn starts(answer: Answer, body: &[u8]) -> Result<Step, HelloError> {
    match answer.kind {
        REP_ACK => Ok(Step::Secure),
        kind if kind & ERROR != 0 => {
            let words = words(body);
            let told = match kind & !ERROR {
                _ if !words.is_empty() => words,
                UNSUPPORTED => "it does not know the option".to_owned(),
                why => refusal(why, body),
            };
            Err(HelloError::NoTls(told))
        }
        _ => Ok(Step::More),
    }
}

/// What a server says of a refusal, or what its number means.
fn refusal(why: u32, body: &[u8]) -> String {
    let words = words(body);
    match (words.is_empty(), why) {
        (false, _) => words,
        (true, UNSUPPORTED) => NO_LIST.to_owned(),
        (true, 2) => "its policy forbids it".to_owned(),
        (true, 7) => "it is shutting down".to_owned(),
        (true, _) => format!("its error {why}"),
    }
}

/// What a server says of a refusal, as it can be shown.
fn words(body: &[u8]) -> String {
    printable(&String::from_utf8_lossy(body))
}

fn printable(text: &str) -> String {
    let shown = text.chars().filter(|it| !it.is_control());
    shown.take(TEXT_MAX).collect()
}

#[cfg(test)]
mod tests;
