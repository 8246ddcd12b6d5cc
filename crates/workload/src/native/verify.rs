//! What a job checks of its data, in the native file.
//!
//! `verify = "crc32c"`, or a table: `verify = { checksum = "crc32c", interval = "512B", backlog = 16 }`.

use fathom_units::Bytes;
use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{Words, word};
use super::writer::{count, share, size};
use crate::{
    Access, Backlog, Checksum, Coverage, HeaderCheck, Job, OnMismatch, TrimmedData, Verify,
    VerifyPhase, VerifyRepeats, VerifyTrims, VerifyTrust,
};

pub(super) const CHECKSUMS: Words<Checksum> = &[
    ("null", Checksum::Null),
    ("meta", Checksum::Meta),
    ("pattern", Checksum::Pattern),
    ("pattern_hdr", Checksum::PatternHeader),
    ("crc7", Checksum::Crc7),
    ("crc16", Checksum::Crc16),
    ("crc32", Checksum::Crc32),
    ("crc32c", Checksum::Crc32c),
    ("crc64", Checksum::Crc64),
    ("xxhash", Checksum::XxHash),
    ("md5", Checksum::Md5),
    ("sha1", Checksum::Sha1),
    ("sha256", Checksum::Sha256),
    ("sha512", Checksum::Sha512),
    ("sha3-224", Checksum::Sha3_224),
    ("sha3-256", Checksum::Sha3_256),
    ("sha3-384", Checksum::Sha3_384),
    ("sha3-512", Checksum::Sha3_512),
];

const PHASES: Words<VerifyPhase> = &[
    ("after-pass", VerifyPhase::AfterPass),
    ("never", VerifyPhase::Never),
    ("only", VerifyPhase::Only),
    ("nothing", VerifyPhase::Nothing),
];

const REPEATS: Words<VerifyRepeats> = &[
    ("last-write", VerifyRepeats::LastWrite),
    ("each-write", VerifyRepeats::EachWrite),
];

const HEADER_CHECKS: Words<HeaderCheck> = &[
    ("compared", HeaderCheck::Compared),
    ("ignored", HeaderCheck::Ignored),
];

const ON_MISMATCH: Words<OnMismatch> = &[
    ("end-job", OnMismatch::EndJob),
    ("end-at-once", OnMismatch::EndAtOnce),
    ("go-on", OnMismatch::GoOn),
];

const TRUSTS: Words<VerifyTrust> = &[
    ("completed", VerifyTrust::Completed),
    ("synced", VerifyTrust::Synced),
];

const TRIMMED: Words<TrimmedData> = &[
    ("zeroes", TrimmedData::Zeroes),
    ("anything", TrimmedData::Anything),
];

/// The value of `verify`, with everything that is not left out written in full.
pub(super) fn value(verify: &Verify) -> TomlValue {
    let mut table = Table::new();
    let mut add = |key: &str, value: TomlValue| table.insert(key.to_owned(), value);
    add("checksum", verify.checksum.name().into());
    if let Some(interval) = verify.interval {
        add("interval", size(interval));
    }
    add("header_offset", count(verify.header_offset));
    if let Some(pattern) = &verify.pattern {
        add("pattern", pattern.to_string().into());
    }
    if let Some(interval) = verify.pattern_interval {
        add("pattern_interval", size(interval));
    }
    add("phase", word(PHASES, &verify.phase).into());
    if let Some(Backlog { writes, batch }) = verify.backlog {
        add("backlog", count(writes));
        add("batch", count(batch));
    }
    add("repeats", word(REPEATS, &verify.repeats).into());
    add("sequence", word(HEADER_CHECKS, &verify.sequence).into());
    add("seed", word(HEADER_CHECKS, &verify.seed).into());
    add("on_mismatch", word(ON_MISMATCH, &verify.on_mismatch).into());
    add("trust", word(TRUSTS, &verify.trust).into());
    let paths = [
        ("dump", &verify.dump),
        ("save_state", &verify.save_state),
        ("load_state", &verify.load_state),
    ];
    for (key, path) in paths {
        if let Some(path) = path {
            add(key, path.as_str().into());
        }
    }
    if let Some(trims) = verify.trims {
        let mut keys = Table::new();
        keys.insert("share".to_owned(), share(trims.share));
        keys.insert("writes".to_owned(), count(trims.writes));
        keys.insert("batch".to_owned(), count(trims.batch));
        keys.insert("data".to_owned(), word(TRIMMED, &trims.zero).into());
        add("trims", TomlValue::Table(keys));
    }
    TomlValue::Table(table)
}

impl Reader<'_> {
    /// `"crc32c"`, or a table. The defaults of what is compared depend on `job`.
    pub(super) fn verify(&mut self, value: &Value<'_>, job: &Job) -> Option<Verify> {
        if value.get_ref().is_str() {
            let checksum = self.word(value, CHECKSUMS)?;
            return Some(unsure(Verify::new(checksum), job));
        }
        let mut fields = self.fields(value, "a check")?;
        let checksum = fields.get("checksum");
        if checksum.is_none() {
            let hint = "add `checksum`, such as \"crc32c\"";
            self.error(fields.span(), "the check has no checksum", hint);
        }
        let checksum = checksum.and_then(|value| self.word(value, CHECKSUMS));
        let phase = fields.get("phase");
        let phase = phase.and_then(|value| self.word(value, PHASES));
        let mut verify = unsure(
            Verify {
                phase: phase.unwrap_or_default(),
                ..Verify::new(checksum.unwrap_or(Checksum::Meta))
            },
            job,
        );
        self.verify_layout(&mut fields, &mut verify);
        self.verify_rules(&mut fields, &mut verify);
        fields.finish(self);
        checksum.map(|_| verify)
    }

    fn verify_layout(&mut self, fields: &mut Fields<'_, '_>, verify: &mut Verify) {
        let interval = fields.get("interval");
        verify.interval = interval.and_then(|value| self.quantity(value));
        let offset = fields.get("header_offset");
        set(
            &mut verify.header_offset,
            offset.and_then(|value| self.count(value)),
        );
        let pattern = fields.get("pattern");
        verify.pattern = pattern.and_then(|value| self.pattern(value));
        let interval = fields.get("pattern_interval");
        verify.pattern_interval = interval.and_then(|value| self.quantity(value));
        let backlog = fields.get("backlog");
        let batch = fields.get("batch");
        let writes: Option<u32> = backlog.and_then(|value| self.count(value));
        let size: Option<u32> = batch.and_then(|value| self.count(value));
        verify.backlog = writes.filter(|writes| *writes > 0).map(|writes| Backlog {
            writes,
            batch: size.filter(|size| *size > 0).unwrap_or(writes),
        });
        if let (Some(batch), None) = (batch, backlog) {
            let hint = "add `backlog`, the number of writes after which checks begin";
            self.error(batch.span(), "there is a batch without a backlog", hint);
        }
        verify.trims = fields.get("trims").and_then(|value| self.trims(value));
    }

    fn verify_rules(&mut self, fields: &mut Fields<'_, '_>, verify: &mut Verify) {
        let mut ruled = |key| fields.get(key);
        let [repeats, sequence, seed] = ["repeats", "sequence", "seed"].map(&mut ruled);
        let [mismatch, trust] = ["on_mismatch", "trust"].map(&mut ruled);
        let [dump, save, load] = ["dump", "save_state", "load_state"].map(&mut ruled);
        set(
            &mut verify.repeats,
            repeats.and_then(|value| self.word(value, REPEATS)),
        );
        set(
            &mut verify.sequence,
            sequence.and_then(|value| self.word(value, HEADER_CHECKS)),
        );
        set(
            &mut verify.seed,
            seed.and_then(|value| self.word(value, HEADER_CHECKS)),
        );
        set(
            &mut verify.on_mismatch,
            mismatch.and_then(|value| self.word(value, ON_MISMATCH)),
        );
        set(
            &mut verify.trust,
            trust.and_then(|value| self.word(value, TRUSTS)),
        );
        verify.dump = dump.and_then(|value| self.text(value));
        verify.save_state = save.and_then(|value| self.text(value));
        verify.load_state = load.and_then(|value| self.text(value));
    }

    /// `{ share = "50%", writes = 16 }`.
    fn trims(&mut self, value: &Value<'_>) -> Option<VerifyTrims> {
        let mut fields = self.fields(value, "the trims of a check")?;
        let [share, writes, batch, data] =
            ["share", "writes", "batch", "data"].map(|key| fields.get(key));
        fields.finish(self);
        let (Some(share), Some(writes)) = (share, writes) else {
            let hint = "write `{ share = \"50%\", writes = 16 }`";
            self.error(value.span(), "trims need `share` and `writes`", hint);
            return None;
        };
        let share = self.quantity(share)?;
        let writes: u32 = self.count(writes)?;
        let batch: Option<u32> = batch.and_then(|value| self.count(value));
        let data = data.and_then(|value| self.word(value, TRIMMED));
        Some(VerifyTrims {
            share,
            writes: writes.max(1),
            batch: batch.filter(|batch| *batch > 0).unwrap_or(writes.max(1)),
            zero: data.unwrap_or_default(),
        })
    }
}

/// Leaves out the comparisons for which a job does not know the right value: of seeds and numbers where it does not
/// write, of numbers where several writes may be on their way to one block.
fn unsure(verify: Verify, job: &Job) -> Verify {
    let writes = job.mix.changes_data() && verify.phase != VerifyPhase::Only;
    let each_once = Access::Random {
        coverage: Coverage::EachBlockOnce,
        run: 1,
    };
    let in_order = matches!(
        job.access,
        Access::Sequential {
            gap: Bytes::ZERO,
            ..
        }
    );
    let overwrites = job.access != each_once && !in_order;
    let check = |sure| {
        if sure {
            HeaderCheck::Compared
        } else {
            HeaderCheck::Ignored
        }
    };
    Verify {
        sequence: check(writes && !(overwrites && job.depth > 1)),
        seed: check(writes && !overwrites),
        ..verify
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One name for a checksum, in files and in messages.
    #[test]
    fn checksums_have_one_name() {
        let names: Vec<_> = CHECKSUMS
            .iter()
            .map(|(name, kind)| (*name, *kind))
            .collect();
        assert_eq!(names, Checksum::ALL.map(|kind| (kind.name(), kind)));
    }
}
