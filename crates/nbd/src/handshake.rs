//! The fixed newstyle handshake, from the greeting to the choice of an export.

use crate::bytes::{Put, Reader};
use crate::options::{
    self, Exports, OPT_ABORT, OPT_EXPORT_NAME, OPT_GO, OPT_INFO, OPT_LIST, OPT_LIST_CONTEXT,
    OPT_SET_CONTEXT, OPT_STARTTLS, OPT_STRUCTURED, OPTION_MAX, Refusal,
};

pub(crate) const NBD_MAGIC: u64 = 0x4e42_444d_4147_4943;
pub(crate) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub(crate) const FIXED_NEWSTYLE: u32 = 1;
pub(crate) const NO_ZEROES: u32 = 2;
/// Bytes of an option before its body.
const OPTION_HEAD: usize = 16;
/// Most options of one handshake, beside those about each export: a client that asks more is not trying to connect.
const OPTIONS_MOST: u32 = 1024;
/// Most options about each export: who lists them all asks two or three of each on one connection.
const OPTIONS_OF_EXPORT: u32 = 8;
/// Most times that one handshake is told every export.
const LISTS_MOST: u32 = 16;

/// What a server sends first.
pub const GREETING: [u8; 18] = greeting();

const fn greeting() -> [u8; 18] {
    let mut bytes = [0; 18];
    let (magic, option) = (NBD_MAGIC.to_be_bytes(), OPTION_MAGIC.to_be_bytes());
    let mut index = 0;
    while index < 8 {
        bytes[index] = magic[index];
        bytes[index + 8] = option[index];
        index += 1;
    }
    bytes[17] = (FIXED_NEWSTYLE | NO_ZEROES) as u8;
    bytes
}

/// What was agreed on with a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// Index of the export.
    pub export: usize,
    /// Whether replies are structured.
    pub structured: bool,
    /// Whether `base:allocation` may be asked for.
    pub allocation: bool,
}

/// How a handshake goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// More has to come from the client.
    More,
    /// Requests follow.
    Begin(Session),
    /// TLS follows, and then a handshake from its options on: [`Handshake::secured`].
    Tls,
    /// The client is leaving.
    Close,
}

/// Why a connection has to be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// What was sent is no NBD.
    #[error("the client does not speak NBD")]
    Magic,
    /// Flags of the client that this server did not offer.
    #[error("the client sets flags that were not offered")]
    Flags,
    /// An export that does not exist, asked for in the way that knows no refusal.
    #[error("the client asks for an export that does not exist")]
    Unknown,
    /// Endless options.
    #[error("the client sends options without end")]
    Endless,
    /// A write whose data is longer than was said to be possible.
    #[error("the client sends more data in one request than was agreed on")]
    TooLong,
}

/// What TLS means to a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tls {
    /// The server has none.
    #[default]
    None,
    /// It has to come before anything else.
    Required,
    /// It is spoken already.
    Spoken,
}

/// A handshake under way.
#[derive(Debug, Clone, Default)]
pub struct Handshake {
    greeted: bool,
    tls: Tls,
    no_zeroes: bool,
    structured: bool,
    /// The export that `base:allocation` was chosen for.
    allocation: Option<usize>,
    /// Bytes of an option's body that are thrown away.
    skip: u64,
    options: u32,
    lists: u32,
}

impl Handshake {
    /// A handshake that waits for the client's flags.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, in which nothing but TLS may be asked for.
    pub fn before_tls() -> Self {
        Self {
            tls: Tls::Required,
            ..Self::default()
        }
    }

    /// The handshake as it goes on inside TLS: nothing agreed on before counts but the client's flags.
    #[must_use]
    pub fn secured(&self) -> Self {
        Self {
            greeted: self.greeted,
            no_zeroes: self.no_zeroes,
            tls: Tls::Spoken,
            ..Self::default()
        }
    }

    /// Takes what it can from `input`, appends answers to `out`, and gives the bytes taken.
    ///
    /// # Errors
    ///
    /// What ends the connection.
    pub fn take(
        &mut self,
        input: &[u8],
        exports: &dyn Exports,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Outcome), ProtocolError> {
        let mut taken = 0;
        if !self.greeted {
            let Some(flags) = Reader(input).u32() else {
                return Ok((0, Outcome::More));
            };
            if flags & !(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
                return Err(ProtocolError::Flags);
            }
            self.no_zeroes = flags & NO_ZEROES != 0;
            self.greeted = true;
            taken = 4;
        }
        loop {
            let rest = &input[taken..];
            if self.skip > 0 {
                let skipped = self.skip.min(rest.len() as u64);
                self.skip -= skipped;
                taken += skipped as usize;
                if self.skip > 0 {
                    return Ok((taken, Outcome::More));
                }
                continue;
            }
            let Some((option, length)) = option_head(rest)? else {
                return Ok((taken, Outcome::More));
            };
            if length > OPTION_MAX {
                if option == OPT_EXPORT_NAME {
                    return Err(ProtocolError::Unknown);
                }
                self.count(exports)?;
                options::refuse(out, option, Refusal::TooBig);
                self.skip = u64::from(length);
                taken += OPTION_HEAD;
                continue;
            }
            let end = OPTION_HEAD + length as usize;
            let Some(body) = rest.get(OPTION_HEAD..end) else {
                return Ok((taken, Outcome::More));
            };
            self.count(exports)?;
            taken += end;
            match self.option(option, body, exports, out)? {
                Outcome::More => {}
                other => return Ok((taken, other)),
            }
        }
    }

    fn count(&mut self, exports: &dyn Exports) -> Result<(), ProtocolError> {
        self.options += 1;
        if self.options > OPTIONS_MOST {
            let mut most = OPTIONS_MOST;
            exports.each_name(&mut |_| most = most.saturating_add(OPTIONS_OF_EXPORT));
            if self.options > most {
                return Err(ProtocolError::Endless);
            }
        }
        Ok(())
    }

    fn option(
        &mut self,
        option: u32,
        body: &[u8],
        exports: &dyn Exports,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ProtocolError> {
        if self.tls == Tls::Required && !matches!(option, OPT_ABORT | OPT_STARTTLS) {
            if option == OPT_EXPORT_NAME {
                return Err(ProtocolError::Unknown);
            }
            options::refuse(out, option, Refusal::TlsRequired);
            return Ok(Outcome::More);
        }
        match option {
            OPT_EXPORT_NAME => return self.export_name(body, exports, out),
            OPT_ABORT => {
                options::acknowledge(out, option);
                return Ok(Outcome::Close);
            }
            OPT_STARTTLS if self.tls == Tls::Required && body.is_empty() => {
                options::acknowledge(out, option);
                return Ok(Outcome::Tls);
            }
            OPT_LIST if body.is_empty() => {
                self.lists += 1;
                if self.lists > LISTS_MOST {
                    return Err(ProtocolError::Endless);
                }
                options::list(out, exports);
            }
            OPT_INFO | OPT_GO => return Ok(self.info(option, body, exports, out)),
            OPT_STRUCTURED if body.is_empty() && !self.structured => {
                self.structured = true;
                options::acknowledge(out, option);
            }
            OPT_LIST_CONTEXT | OPT_SET_CONTEXT => self.context(option, body, exports, out),
            OPT_STARTTLS if self.tls != Tls::None => {
                options::refuse(out, option, Refusal::Invalid);
            }
            OPT_LIST | OPT_STRUCTURED => options::refuse(out, option, Refusal::Invalid),
            _ => options::refuse(out, option, Refusal::Unsupported),
        }
        Ok(Outcome::More)
    }

    fn session(&self, export: usize) -> Session {
        Session {
            export,
            structured: self.structured,
            allocation: self.allocation == Some(export),
        }
    }

    /// The oldest way to choose an export, which knows no refusal.
    fn export_name(
        &self,
        body: &[u8],
        exports: &dyn Exports,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, ProtocolError> {
        let name = std::str::from_utf8(body).map_err(|_| ProtocolError::Unknown)?;
        let export = exports.find(name).ok_or(ProtocolError::Unknown)?;
        out.put64(exports.facts(export).size);
        out.put16(options::transmission_flags(self.structured));
        if !self.no_zeroes {
            out.extend_from_slice(&[0; 124]);
        }
        Ok(Outcome::Begin(self.session(export)))
    }

    fn info(&self, option: u32, body: &[u8], exports: &dyn Exports, out: &mut Vec<u8>) -> Outcome {
        let Some(name) = options::wanted_export(body) else {
            options::refuse(out, option, Refusal::Invalid);
            return Outcome::More;
        };
        let Some(export) = exports.find(name) else {
            options::refuse(out, option, Refusal::Unknown);
            return Outcome::More;
        };
        options::describe(out, option, exports.facts(export), self.structured);
        if option == OPT_GO {
            Outcome::Begin(self.session(export))
        } else {
            Outcome::More
        }
    }

    fn context(&mut self, option: u32, body: &[u8], exports: &dyn Exports, out: &mut Vec<u8>) {
        if option == OPT_SET_CONTEXT {
            // A new choice takes the place of the old one, even where it fails.
            self.allocation = None;
        }
        let asked = options::contexts(body).filter(|_| self.structured);
        let Some(asked) = asked else {
            return options::refuse(out, option, Refusal::Invalid);
        };
        let Some(export) = exports.find(asked.export) else {
            return options::refuse(out, option, Refusal::Unknown);
        };
        let offered = if option == OPT_SET_CONTEXT {
            self.allocation = asked.exact.then_some(export);
            asked.exact
        } else {
            asked.listed
        };
        if offered {
            options::offer_context(out, option);
        }
        options::acknowledge(out, option);
    }
}

/// Number and length of the next option; `None` where its head is not whole yet.
fn option_head(input: &[u8]) -> Result<Option<(u32, u32)>, ProtocolError> {
    let mut reader = Reader(input);
    let Some(magic) = reader.u64() else {
        return Ok(None);
    };
    if magic != OPTION_MAGIC {
        return Err(ProtocolError::Magic);
    }
    Ok(reader.u32().zip(reader.u32()))
}

#[cfg(test)]
mod tests;
