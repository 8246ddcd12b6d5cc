//! Reading of the values that have several forms: a word or a table, one size or a list.

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use toml::de::DeValue;

use super::fields::{Reader, Value};
use super::words::{ACCESS_KINDS, AccessKind, OPEN_SYNCS, PROCESSES, SCOPES, WHEN_FULL};
use crate::{
    Access, Arrival, BlockSizes, Coverage, Direction, Limits, Mix, Pacing, Place, ReportGroup,
    SequentialScope, SyncPolicy, Target, WeightedSize,
};

/// How long a job is measured: the part of [`Limits`] that `measure` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Measure {
    runtime: Option<Nanos>,
    time_based: bool,
    bytes: Option<Bytes>,
    ios: Option<u64>,
    loops: u32,
}

impl Measure {
    pub(super) fn apply(self, limits: &mut Limits) {
        limits.runtime = self.runtime;
        limits.time_based = self.time_based;
        limits.bytes = self.bytes;
        limits.ios = self.ios;
        limits.loops = self.loops;
    }
}

/// The word for one pass over the targets, without any other limit.
pub(super) const ONE_PASS: &str = "one-pass";
/// What to do about a `measure` that is none.
const MEASURES: &str = "write it like \"60s\", \"10GiB\", \"one-pass\" or { ios = 1000 }";

/// A word or a table.
enum Form<'v, 'i> {
    Word,
    Table(super::fields::Fields<'v, 'i>),
}

/// What to write for a mix that is a share, with or without its sign.
fn mix_hint(text: &str) -> Option<String> {
    let share = text.trim().trim_end_matches('%').trim_end();
    let share: u32 = share.parse().ok().filter(|share| *share <= 100)?;
    let rest = 100 - share;
    Some(format!(
        "write both shares, such as {{ read = \"{share}%\", write = \"{rest}%\" }}"
    ))
}

/// What to write for an access that is a distribution.
fn distribution_hint(text: &str) -> Option<String> {
    let name = text.split(':').next()?;
    let example = match name {
        "zipf" => "zipf:1.1",
        "pareto" => "pareto:0.2",
        "normal" | "gauss" => "normal:20",
        "zoned" => "zoned:60/10:40/90",
        _ => return None,
    };
    Some(format!(
        "where random I/Os fall is said by `placement`, beside `access`: placement = {{ distribution = \"{example}\" }}"
    ))
}

/// What to write for an arrival that is a rate.
fn arrival_hint(text: &str) -> Option<String> {
    let is_rate = text.parse::<Iops>().is_ok() || text.parse::<BytesPerSec>().is_ok();
    is_rate.then(|| format!("write {{ rate = \"{text}\" }}"))
}

impl Reader<'_> {
    fn form<'v, 'i>(&mut self, value: &'v Value<'i>, what: &'static str) -> Option<Form<'v, 'i>> {
        match value.get_ref() {
            DeValue::String(_) => Some(Form::Word),
            _ => self.fields(value, what).map(Form::Table),
        }
    }

    /// `"/mnt/file"`, or a table of `path` or `directory`, `offset` and `size`.
    pub(super) fn target(&mut self, value: &Value<'_>) -> Option<Target> {
        let mut fields = match self.form(value, "a target")? {
            Form::Table(fields) => fields,
            Form::Word => {
                return Some(Target {
                    place: Place::Path(self.text(value)?),
                    offset: Bytes::ZERO,
                    length: None,
                });
            }
        };
        if let Some(tree) = fields.get("tree") {
            return self.file_set(tree, fields);
        }
        let path = fields.get("path").map(|value| self.text(value));
        let directory = fields.get("directory").map(|value| self.text(value));
        let offset = fields.get("offset").and_then(|value| self.quantity(value));
        let length = fields.get("size").map(|value| self.quantity(value));
        let span = fields.span();
        fields.finish(self);
        let place = match (path, directory) {
            (Some(path), None) => Place::Path(path?),
            (None, Some(directory)) => Place::FreshFileIn(directory?),
            (found, _) => {
                let number = if found.is_some() { "both" } else { "neither" };
                let message = format!("the target has {number} `path` and `directory`");
                let hint = "give `path` for what exists, or `directory` for a fresh file in it";
                self.error(
                    span,
                    message.replace("neither `path` and", "neither `path` nor"),
                    hint,
                );
                return None;
            }
        };
        Some(Target {
            place,
            offset: offset.unwrap_or_default(),
            // A size read with a complaint counts as given, so that it is not called missing too.
            length: length.map(Option::unwrap_or_default),
        })
    }

    /// A list of targets.
    pub(super) fn targets(&mut self, value: &Value<'_>) -> Option<Vec<Target>> {
        let list = self.list(value)?;
        if list.is_empty() {
            self.error(
                value.span(),
                "the list of targets is empty",
                "name at least one",
            );
        }
        let targets: Vec<Target> = list.iter().filter_map(|value| self.target(value)).collect();
        (targets.len() == list.len()).then_some(targets)
    }

    /// `"read"`, or a table of shares; those left out are 0 %.
    pub(super) fn mix(&mut self, value: &Value<'_>) -> Option<Mix> {
        const PURE: &[(&str, Mix)] = &[
            ("read", Mix::READ),
            ("write", Mix::WRITE),
            ("trim", Mix::TRIM),
        ];
        let mut fields = match self.form(value, "a mix")? {
            Form::Word => return self.word_but(value, PURE, mix_hint),
            Form::Table(fields) => fields,
        };
        let mut whole = true;
        let mut share = |key| {
            let value = fields.get(key)?;
            let share: Option<Percent> = self.quantity(value);
            whole &= share.is_some();
            share
        };
        let [read, write, trim] =
            ["read", "write", "trim"].map(|key| share(key).unwrap_or_default());
        fields.finish(self);
        whole.then_some(Mix { read, write, trim })
    }

    /// A kind, or a table of `kind` and what belongs to it.
    pub(super) fn access(&mut self, value: &Value<'_>) -> Option<Access> {
        let mut fields = match self.form(value, "an access")? {
            Form::Word => {
                let kind = self.word_but(value, ACCESS_KINDS, distribution_hint)?;
                return self.access_of(value, kind, None, None, None, None);
            }
            Form::Table(fields) => fields,
        };
        let kind = fields
            .get("kind")
            .map(|value| self.word_but(value, ACCESS_KINDS, distribution_hint));
        let keys = ["run", "gap", "scope", "random"];
        let [run, gap, scope, random] = keys.map(|key| fields.get(key));
        let span = fields.span();
        fields.finish(self);
        let Some(kind) = kind else {
            let random = random.and_then(|value| value.get_ref().as_str());
            let hint = match random.map(distribution_hint) {
                Some(Some(hint)) => hint,
                Some(None) => {
                    "`random` is a share of I/Os: write { kind = \"mixed\", random = \"30%\" }"
                        .to_owned()
                }
                None => "add `kind`, such as \"random\" or \"sequential\"".to_owned(),
            };
            self.error(span, "the access has no kind", hint);
            return None;
        };
        self.access_of(value, kind?, run, gap, scope, random)
    }

    fn access_of(
        &mut self,
        value: &Value<'_>,
        kind: AccessKind,
        run: Option<&Value<'_>>,
        gap: Option<&Value<'_>>,
        scope: Option<&Value<'_>>,
        random: Option<&Value<'_>>,
    ) -> Option<Access> {
        let foreign = match kind {
            AccessKind::EachBlockOnce | AccessKind::Independent => {
                [("gap", gap), ("scope", scope), ("random", random)]
            }
            AccessKind::Sequential => [("run", run), ("random", random), ("", None)],
            AccessKind::Mixed => [("run", run), ("gap", gap), ("scope", scope)],
        };
        for (key, value) in foreign {
            if let Some(value) = value {
                let message = format!("`{key}` does not belong to this kind of access");
                self.error(value.span(), message, "remove it, or change `kind`");
            }
        }
        let random_access = |coverage, run| Access::Random { coverage, run };
        match kind {
            AccessKind::EachBlockOnce | AccessKind::Independent => {
                let coverage = if kind == AccessKind::Independent {
                    Coverage::Independent
                } else {
                    Coverage::EachBlockOnce
                };
                let run = run.map_or(Some(1), |value| self.count(value))?;
                Some(random_access(coverage, run))
            }
            AccessKind::Sequential => {
                let gap = gap.map_or(Some(Bytes::ZERO), |value| self.quantity(value));
                let default = Some(SequentialScope::default());
                let scope = scope.map_or(default, |value| self.word(value, SCOPES));
                Some(Access::Sequential {
                    gap: gap?,
                    scope: scope?,
                })
            }
            AccessKind::Mixed => {
                let Some(random) = random else {
                    let hint = "write `access = { kind = \"mixed\", random = \"30%\" }`";
                    self.error(
                        value.span(),
                        "the mixed access has no share of random I/Os",
                        hint,
                    );
                    return None;
                };
                self.quantity(random).map(|random| Access::Mixed { random })
            }
        }
    }

    /// One size, a weighted list, or a table of these by direction. Directions left out are like reads (reads like
    /// writes, if only those are given).
    pub(super) fn block(&mut self, value: &Value<'_>) -> Option<BlockSizes> {
        if !value.get_ref().is_table() {
            let sizes = self.sizes(value)?;
            return Some(BlockSizes {
                read: sizes.clone(),
                write: sizes.clone(),
                trim: sizes,
                alignment: None,
            });
        }
        let mut fields = self.fields(value, "a block")?;
        let lists = Direction::ALL.map(|way| fields.get(way.name()));
        let lists = lists.map(|value| value.map(|value| self.sizes(value)));
        let alignment = fields.get("alignment").map(|value| self.quantity(value));
        let span = fields.span();
        fields.finish(self);
        let Some(first) = lists.iter().find_map(Clone::clone) else {
            let hint = "give `read`, `write` or `trim`, or write the size alone";
            self.error(span, "the block has no size", hint);
            return None;
        };
        let first = first?;
        let [read, write, trim] = lists.map(|list| list.unwrap_or_else(|| Some(first.clone())));
        Some(BlockSizes {
            read: read?,
            write: write?,
            trim: trim?,
            alignment: alignment.flatten(),
        })
    }

    /// One size, or a list of sizes with weights.
    pub(super) fn sizes(&mut self, value: &Value<'_>) -> Option<Vec<WeightedSize>> {
        if !value.get_ref().is_array() {
            let size = self.quantity(value)?;
            return Some(vec![WeightedSize { size, weight: 1 }]);
        }
        let list = self.list(value)?;
        let sizes: Vec<WeightedSize> = list
            .iter()
            .filter_map(|entry| self.weighted_size(entry))
            .collect();
        (sizes.len() == list.len()).then_some(sizes)
    }

    fn weighted_size(&mut self, value: &Value<'_>) -> Option<WeightedSize> {
        let mut fields = match self.form(value, "a weighted size")? {
            Form::Word => {
                let size = self.quantity(value)?;
                return Some(WeightedSize { size, weight: 1 });
            }
            Form::Table(fields) => fields,
        };
        let size = fields.get("size").map(|value| self.quantity(value));
        let weight = fields.get("weight").map(|value| self.count(value));
        let span = fields.span();
        fields.finish(self);
        if size.is_none() {
            let hint = "write `{ size = \"4KiB\", weight = 3 }`";
            self.error(span, "the entry has no size", hint);
        }
        Some(WeightedSize {
            size: size??,
            weight: weight.unwrap_or(Some(1))?,
        })
    }

    /// `"closed"`, or a table of `rate`, `process` and `when_full`.
    pub(super) fn arrival(&mut self, value: &Value<'_>) -> Option<Arrival> {
        const CLOSED: &[(&str, Arrival)] = &[("closed", Arrival::Closed)];
        let mut fields = match self.form(value, "an arrival")? {
            Form::Word => return self.word_but(value, CLOSED, arrival_hint),
            Form::Table(fields) => fields,
        };
        let rate = fields.get("rate").map(|value| self.rate(value));
        let process = fields
            .get("process")
            .map(|value| self.word(value, PROCESSES));
        let when_full = fields
            .get("when_full")
            .map(|value| self.word(value, WHEN_FULL));
        let span = fields.span();
        fields.finish(self);
        if rate.is_none() {
            let hint = "add `rate`, such as \"20000/s\", or write \"closed\"";
            self.error(span, "the arrival has no rate", hint);
        }
        Some(Arrival::Open {
            rate: rate??,
            poisson: process.unwrap_or(Some(crate::Poisson::default()))?,
            when_full: when_full.unwrap_or(Some(crate::WhenFull::default()))?,
        })
    }

    /// I/Os or bytes a second, told apart by the B of bytes: `20k/s` would also be 20 KiB a second, and `1.5/s` a byte.
    fn rate(&mut self, value: &Value<'_>) -> Option<Pacing> {
        let text = value.get_ref().as_str().unwrap_or_default();
        let bytes = text.trim().strip_suffix("/s").map(str::trim_end);
        if bytes.is_some_and(|bytes| bytes.ends_with(['B', 'b'])) {
            self.quantity(value).map(Pacing::Bytes)
        } else {
            self.quantity(value).map(Pacing::Iops)
        }
    }

    /// A time, a size, `"one-pass"`, or a table of these. A time alone starts over until it is over.
    pub(super) fn measure(&mut self, value: &Value<'_>) -> Option<Measure> {
        if value.get_ref().as_integer().is_some() || value.get_ref().as_float().is_some() {
            self.mismatch(value, "a time or a size", MEASURES);
            return None;
        }
        let mut fields = match self.form(value, "a measure")? {
            Form::Word => return self.measure_word(value),
            Form::Table(fields) => fields,
        };
        let time = fields.get("time").map(|value| self.quantity(value));
        let bytes = fields.get("bytes").map(|value| self.quantity(value));
        let ios = fields.get("ios").map(|value| self.count(value));
        let passes = fields.get("passes").map(|value| self.count(value));
        let over = fields.get("start_over").map(|value| self.truth(value));
        if fields.is_empty() {
            self.error(value.span(), "the measure says nothing", MEASURES);
        }
        fields.finish(self);
        let time_alone = time.is_some() && bytes.is_none() && ios.is_none() && passes.is_none();
        Some(Measure {
            runtime: time.map_or(Some(None), |time| time.map(Some))?,
            time_based: over.unwrap_or(Some(time_alone))?,
            bytes: bytes.map_or(Some(None), |bytes| bytes.map(Some))?,
            ios: ios.map_or(Some(None), |ios| ios.map(Some))?,
            loops: passes.unwrap_or(Some(0))?,
        })
    }

    fn measure_word(&mut self, value: &Value<'_>) -> Option<Measure> {
        let text = value.get_ref().as_str()?;
        if text == ONE_PASS {
            return Some(Measure::default());
        }
        let time = text.parse::<Nanos>();
        if let Ok(time) = time {
            return Some(Measure {
                runtime: Some(time),
                time_based: true,
                ..Measure::default()
            });
        }
        // `5m` is a time and `5M` would be a size: a size must end in B to be taken for one.
        let size = text.parse::<Bytes>();
        if let Some(bytes) = size.as_ref().ok().filter(|_| text.ends_with('B')) {
            return Some(Measure {
                bytes: Some(*bytes),
                ..Measure::default()
            });
        }
        let message = match (time, size) {
            (Err(time), Err(_)) if time.is_too_large() => time.to_string(),
            (_, Err(size)) if size.is_too_large() => size.to_string(),
            (_, Ok(_)) if text.ends_with(|last: char| last.is_ascii_digit()) => {
                format!("`{text}` has no unit")
            }
            (_, Ok(_)) => format!("`{text}` is no time, and a size ends in `B` here"),
            _ => format!("`{text}` is neither a time nor a size"),
        };
        self.error(value.span(), message, MEASURES);
        None
    }

    /// A table of what is synchronised when.
    pub(super) fn sync(&mut self, value: &Value<'_>) -> Option<SyncPolicy> {
        let mut fields = self.fields(value, "a sync policy")?;
        let open = fields.get("open").map(|value| self.word(value, OPEN_SYNCS));
        let fsync = fields.get("fsync_every").map(|value| self.count(value));
        let fdatasync = fields.get("fdatasync_every").map(|value| self.count(value));
        let at_end = fields.get("at_end").map(|value| self.truth(value));
        let on_close = fields.get("on_close").map(|value| self.truth(value));
        fields.finish(self);
        Some(SyncPolicy {
            open: open.flatten().unwrap_or_default(),
            fsync_every: fsync.flatten().unwrap_or_default(),
            fdatasync_every: fdatasync.flatten().unwrap_or_default(),
            at_end: at_end.flatten().unwrap_or_default(),
            on_close: on_close.flatten().unwrap_or_default(),
        })
    }

    /// A table of `id` and `together`.
    pub(super) fn group(&mut self, value: &Value<'_>) -> Option<ReportGroup> {
        let mut fields = self.fields(value, "a group")?;
        let id = fields.get("id").map(|value| self.count(value));
        let together = fields.get("together").map(|value| self.truth(value));
        fields.finish(self);
        Some(ReportGroup {
            id: id.flatten().unwrap_or_default(),
            together: together.flatten().unwrap_or_default(),
        })
    }
}
