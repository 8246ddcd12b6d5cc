//! The options of verification.

use fathom_workload::{Checksum, Pattern};

use super::Settings;
use super::apply::set;
use super::reader::{Counts, ValueReader};

/// Bytes of fio's own block header; what it refuses, it refuses by this size.
const FIO_HEADER: u64 = 48;

/// What verification options say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct VerifySettings {
    /// Whether `verify` was given at all.
    pub given: bool,
    /// `verify`; `None`: 0, the default.
    pub checksum: Option<Checksum>,
    pub do_verify: bool,
    pub only: bool,
    pub fsynced: bool,
    pub interval: u64,
    pub offset: u32,
    /// `verify_pattern` as typed.
    pub pattern: Option<String>,
    pub pattern_interval: u64,
    pub fatal: bool,
    pub dump: bool,
    pub backlog: u32,
    pub backlog_batch: u32,
    pub experimental: bool,
    pub load: bool,
    pub save: bool,
    pub write_sequence: Option<bool>,
    pub header_seed: Option<bool>,
    pub trim_percentage: u32,
    pub trim_zero: bool,
    pub trim_backlog: u32,
    pub trim_batch: u32,
}

impl Default for VerifySettings {
    fn default() -> Self {
        Self {
            given: false,
            checksum: None,
            do_verify: true,
            only: false,
            fsynced: false,
            interval: 0,
            offset: 0,
            pattern: None,
            pattern_interval: 0,
            fatal: false,
            dump: false,
            backlog: 0,
            backlog_batch: 0,
            experimental: false,
            load: false,
            save: true,
            write_sequence: None,
            header_seed: None,
            trim_percentage: 0,
            trim_zero: true,
            trim_backlog: 0,
            trim_batch: 0,
        }
    }
}

impl VerifySettings {
    /// What is checked with, if anything is: a pattern alone asks for a header and that pattern.
    pub fn kind(&self) -> Option<Checksum> {
        let pattern = self.pattern.as_ref().filter(|_| !self.given);
        self.checksum.or(pattern.map(|_| Checksum::PatternHeader))
    }
}

/// The values of `verify`.
const KINDS: [(&str, Option<Checksum>); 20] = [
    ("0", None),
    ("md5", Some(Checksum::Md5)),
    ("crc64", Some(Checksum::Crc64)),
    ("crc32", Some(Checksum::Crc32)),
    ("crc32c-intel", Some(Checksum::Crc32c)),
    ("crc32c", Some(Checksum::Crc32c)),
    ("crc16", Some(Checksum::Crc16)),
    ("crc7", Some(Checksum::Crc7)),
    ("sha1", Some(Checksum::Sha1)),
    ("sha256", Some(Checksum::Sha256)),
    ("sha512", Some(Checksum::Sha512)),
    ("sha3-224", Some(Checksum::Sha3_224)),
    ("sha3-256", Some(Checksum::Sha3_256)),
    ("sha3-384", Some(Checksum::Sha3_384)),
    ("sha3-512", Some(Checksum::Sha3_512)),
    ("xxhash", Some(Checksum::XxHash)),
    ("meta", Some(Checksum::Meta)),
    ("pattern", Some(Checksum::Pattern)),
    ("pattern_hdr", Some(Checksum::PatternHeader)),
    ("null", Some(Checksum::Null)),
];

fn count(reader: &mut ValueReader<'_>) -> Option<u32> {
    let most = u64::from(u32::MAX);
    let value = reader.number(Counts::Things, 0, most)?;
    u32::try_from(value).ok()
}

impl Settings {
    pub(super) fn apply_verify(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let verify = &mut self.verify;
        match reader.name() {
            "verify" => {
                if let Some(index) = reader.word(&KINDS.map(|(name, _)| name)) {
                    verify.given = true;
                    verify.checksum = KINDS[index].1;
                }
            }
            "do_verify" => set(&mut verify.do_verify, reader.switch()),
            "verify_only" => set(&mut verify.only, reader.switch()),
            "verify_policy" => set(&mut verify.fsynced, policy(reader)),
            "verify_interval" => set(
                &mut verify.interval,
                reader.number(Counts::Bytes, 2 * FIO_HEADER, 1 << 31),
            ),
            "verify_offset" => set(&mut verify.offset, offset(reader)),
            "verify_pattern" => {
                if let Some(pattern) = pattern(reader) {
                    verify.pattern = Some(pattern);
                }
            }
            "verify_pattern_interval" => set(
                &mut verify.pattern_interval,
                reader.number(Counts::Bytes, 0, 1 << 31),
            ),
            "verify_fatal" => set(&mut verify.fatal, reader.switch()),
            "verify_dump" => set(&mut verify.dump, reader.switch()),
            "verify_backlog" => set(&mut verify.backlog, count(reader)),
            "verify_backlog_batch" => set(&mut verify.backlog_batch, count(reader)),
            "experimental_verify" => set(&mut verify.experimental, reader.switch()),
            "verify_state_load" => set(&mut verify.load, reader.switch()),
            "verify_state_save" => set(&mut verify.save, reader.switch()),
            "verify_write_sequence" => set(&mut verify.write_sequence, reader.switch().map(Some)),
            "verify_header_seed" => set(&mut verify.header_seed, reader.switch().map(Some)),
            "trim_percentage" => {
                let percent = reader.number(Counts::Things, 0, 100);
                set(
                    &mut verify.trim_percentage,
                    percent.map(|percent| percent as u32),
                );
            }
            "trim_verify_zero" => set(&mut verify.trim_zero, reader.switch()),
            "trim_backlog" => set(&mut verify.trim_backlog, count(reader)),
            "trim_backlog_batch" => set(&mut verify.trim_batch, count(reader)),
            _ => return false,
        }
        true
    }
}

fn offset(reader: &mut ValueReader<'_>) -> Option<u32> {
    let value = reader.number(Counts::Bytes, FIO_HEADER, 1 << 31)?;
    u32::try_from(value).ok()
}

/// Whether the last of the words is or contains `fsynced`.
fn policy(reader: &mut ValueReader<'_>) -> Option<bool> {
    let text = reader.text()?;
    let mut fsynced = false;
    for word in text.split([',', ':']) {
        match word {
            "completed" => {}
            "fsynced" => fsynced = true,
            other => {
                let message = format!("`{other}` is no value of `verify_policy`");
                reader.refuse(&message, Some("one of completed, fsynced".to_owned()));
                return None;
            }
        }
    }
    Some(fsynced)
}

/// The text of a pattern that can be read. Files that it names are read when the job is built.
fn pattern(reader: &mut ValueReader<'_>) -> Option<String> {
    let text = reader.text()?;
    let some_file = |_: &str| Ok(vec![0]);
    match Pattern::parse(text, &some_file) {
        Ok(_) => Some(text.to_owned()),
        Err(error) => {
            let hint = error.hint().map(str::to_owned);
            reader.refuse(&format!("`verify_pattern`: {error}"), hint);
            None
        }
    }
}
