//! Calls beside the I/O, treatment of files and errors, operations on files, and traces, in the native file.

use fathom_units::{Nanos, Percent};
use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{GROWTHS, KINDS, OPERATIONS, word};
use super::writer::{count, time};
use crate::{
    Calls, Direction, ErrorHandling, Features, FileHandling, Growth, Replay, ReplayPace, SyncRange,
    TracePart,
};

/// The word of a replay that heeds no times.
const AT_ONCE: &str = "at-once";

/// The keys of what is not as it is by default.
pub(super) fn keys(features: &Features) -> Vec<(&'static str, TomlValue)> {
    let mut keys = Vec::new();
    if features.calls != Calls::default() {
        keys.push(("calls", super::calls::value(&features.calls)));
    }
    if features.files != FileHandling::default() {
        keys.push(("files", TomlValue::Table(files(&features.files))));
    }
    if features.errors != ErrorHandling::default() {
        keys.push(("on_error", TomlValue::Table(errors(&features.errors))));
    }
    if let Some(operation) = &features.operation {
        keys.push(("operation", word(OPERATIONS, operation).into()));
    }
    if let Some(work) = &features.file_work {
        keys.push(("file_work", super::file_set::value(work)));
    }
    if let Some(work) = &features.processor_work {
        keys.push(("processor_work", super::processor_work::value(work)));
    }
    if let Some(replay) = &features.replay {
        keys.push(("trace", TomlValue::Table(trace(replay))));
    }
    if let Some(path) = &features.trace_to {
        keys.push(("trace_to", path.as_str().into()));
    }
    keys
}

fn files(files: &FileHandling) -> Table {
    let switches = [
        ("pre_read", files.pre_read),
        ("must_exist", files.must_exist),
        ("make_parents", files.make_parents),
        ("made_anew", files.made_anew),
        ("end_syncfs", files.end_syncfs),
    ];
    let on = switches.into_iter().filter(|(_, on)| *on);
    let mut table: Table = on.map(|(key, on)| (key.to_owned(), on.into())).collect();
    let grows = match files.grows {
        Growth::No => None,
        Growth::Whole => Some(true.into()),
        Growth::Reserved(_) => Some(word(GROWTHS, &files.grows).into()),
    };
    if let Some(grows) = grows {
        table.insert("grows".to_owned(), grows);
    }
    if let Some(range) = files.sync_range {
        let parts = [
            ("wait_before", range.wait_before),
            ("write", range.write),
            ("wait_after", range.wait_after),
        ];
        let parts = parts.map(|(key, on)| (key.to_owned(), TomlValue::from(on)));
        let mut keys: Table = parts.into_iter().collect();
        keys.insert("every".to_owned(), count(range.every));
        table.insert("sync_range".to_owned(), TomlValue::Table(keys));
    }
    table
}

fn errors(errors: &ErrorHandling) -> Table {
    let mut table = Table::new();
    let by_way = |of: &dyn Fn(usize) -> Option<TomlValue>| -> Table {
        let ways = Direction::ALL.into_iter();
        let found = ways.filter_map(|way| Some((way.name().to_owned(), of(way as usize)?)));
        found.collect()
    };
    let on = Direction::ALL.into_iter();
    let on = on.filter(|way| errors.go_on[*way as usize]);
    let go_on: Vec<TomlValue> = on.map(|way| way.name().into()).collect();
    let ignored = by_way(&|way| {
        let list = errors.ignored[way]
            .iter()
            .map(|number| i64::from(*number).into());
        let list: Vec<TomlValue> = list.collect();
        (!list.is_empty()).then_some(TomlValue::Array(list))
    });
    let limits = by_way(&|way| errors.latency_max[way].map(time));
    if !go_on.is_empty() {
        table.insert("go_on".to_owned(), TomlValue::Array(go_on));
    }
    for (key, part) in [("ignore", ignored), ("latency_max", limits)] {
        if !part.is_empty() {
            table.insert(key.to_owned(), TomlValue::Table(part));
        }
    }
    if errors.full_ends {
        table.insert("full_ends".to_owned(), true.into());
    }
    table
}

fn trace(replay: &Replay) -> Table {
    let mut table = Table::new();
    let mut add = |key: &str, value: TomlValue| drop(table.insert(key.to_owned(), value));
    add("path", replay.path.as_str().into());
    match replay.pace {
        ReplayPace::AtOnce => add("pace", AT_ONCE.into()),
        ReplayPace::Timed(percent) => add("pace", format!("{percent}%").into()),
    }
    if replay.scale != 0 {
        add("scale", count(replay.scale));
    }
    if replay.align > 0 {
        add("align", count(replay.align));
    }
    if !replay.files.is_empty() {
        let files = replay.files.iter().map(|name| name.as_str().into());
        add("files", TomlValue::Array(files.collect()));
    }
    if replay.redirected {
        add("redirected", true.into());
    }
    if replay.plain_writes {
        add("plain_writes", true.into());
    }
    let skipped = KINDS.iter().filter(|(_, kind)| replay.skip[*kind]);
    let skipped: Vec<TomlValue> = skipped.map(|(name, _)| (*name).into()).collect();
    if !skipped.is_empty() {
        add("skip", TomlValue::Array(skipped));
    }
    if !replay.merged.is_empty() {
        let parts = replay.merged.iter().map(trace_part);
        add("merge", TomlValue::Array(parts.collect()));
    }
    table
}

fn trace_part(part: &TracePart) -> TomlValue {
    let mut table = Table::new();
    table.insert("path".to_owned(), part.path.as_str().into());
    table.insert("scale".to_owned(), format!("{}%", part.scale).into());
    table.insert("passes".to_owned(), count(part.passes));
    TomlValue::Table(table)
}

impl Reader<'_> {
    /// `calls`, `files`, `on_error`, `operation`, `file_work`, `processor_work`, `trace` and `trace_to`.
    pub(super) fn handling(&mut self, fields: &mut Fields<'_, '_>, features: &mut Features) {
        features.calls = self.calls(fields);
        if let Some(value) = fields.get("files") {
            features.files = self.files(value).unwrap_or_default();
        }
        if let Some(value) = fields.get("on_error") {
            features.errors = self.errors(value).unwrap_or_default();
        }
        let operation = fields.get("operation");
        features.operation = operation.and_then(|value| self.word(value, OPERATIONS));
        let work = fields.get("file_work");
        features.file_work = work.and_then(|value| self.file_work(value)).map(Box::new);
        let work = fields.get("processor_work");
        features.processor_work = work.and_then(|value| self.processor_work(value));
        features.replay = fields.get("trace").and_then(|value| self.trace(value));
        let trace_to = fields.get("trace_to");
        features.trace_to = trace_to.and_then(|value| self.trace_path(value));
    }

    /// `{ pre_read = true, sync_range = { every = 8, write = true } }`.
    fn files(&mut self, value: &Value<'_>) -> Option<FileHandling> {
        let mut fields = self.fields(value, "a treatment of files")?;
        let mut truth = |fields: &mut Fields<'_, '_>, key| {
            let truth = fields.get(key).and_then(|value| self.truth(value));
            truth.unwrap_or_default()
        };
        let mut files = FileHandling {
            pre_read: truth(&mut fields, "pre_read"),
            must_exist: truth(&mut fields, "must_exist"),
            make_parents: truth(&mut fields, "make_parents"),
            grows: Growth::No,
            made_anew: truth(&mut fields, "made_anew"),
            end_syncfs: truth(&mut fields, "end_syncfs"),
            sync_range: None,
        };
        if let Some(value) = fields.get("grows") {
            files.grows = self.growth(value);
        }
        if let Some(value) = fields.get("sync_range") {
            let mut parts = self.fields(value, "a range to sync")?;
            let every = parts.get("every").and_then(|value| self.count(value));
            let mut truth = |key| {
                let truth = parts.get(key).and_then(|value| self.truth(value));
                truth.unwrap_or_default()
            };
            files.sync_range = Some(SyncRange {
                every: every.unwrap_or(1).max(1),
                wait_before: truth("wait_before"),
                write: truth("write"),
                wait_after: truth("wait_after"),
            });
            parts.finish(self);
        }
        fields.finish(self);
        Some(files)
    }

    /// `true`: the job writes all of the file; or a word for how its space is reserved.
    fn growth(&mut self, value: &Value<'_>) -> Growth {
        if value.get_ref().as_str().is_some() {
            return self.word(value, GROWTHS).unwrap_or_default();
        }
        match self.truth(value) {
            Some(true) => Growth::Whole,
            Some(false) | None => Growth::No,
        }
    }

    /// `{ go_on = ["read"], ignore = { write = [28] }, latency_max = { read = "50ms" } }`.
    fn errors(&mut self, value: &Value<'_>) -> Option<ErrorHandling> {
        let mut errors = ErrorHandling::default();
        let mut fields = self.fields(value, "a treatment of errors")?;
        if let Some(value) = fields.get("go_on") {
            for value in self.list(value)? {
                if let Some(way) = self.word(value, &KINDS[..3]) {
                    errors.go_on[way] = true;
                }
            }
        }
        if let Some(value) = fields.get("ignore") {
            let mut ways = self.fields(value, "a list of errors for each direction")?;
            for (name, way) in &KINDS[..3] {
                let Some(value) = ways.get(name) else {
                    continue;
                };
                let list = self.list(value)?.iter();
                let list = list.filter_map(|value| self.count::<u16>(value));
                errors.ignored[*way] = list.map(i32::from).collect();
            }
            ways.finish(self);
        }
        if let Some(value) = fields.get("full_ends") {
            errors.full_ends = self.truth(value)?;
        }
        if let Some(value) = fields.get("latency_max") {
            let mut ways = self.fields(value, "a time for each direction")?;
            for (name, way) in &KINDS[..3] {
                let limit = ways.get(name).and_then(|value| self.quantity(value));
                errors.latency_max[*way] = limit.filter(|limit| *limit > Nanos::ZERO);
            }
            ways.finish(self);
        }
        fields.finish(self);
        Some(errors)
    }

    /// A path, or a table with it.
    fn trace(&mut self, value: &Value<'_>) -> Option<Replay> {
        if value.get_ref().as_str().is_some() {
            return Some(Replay {
                path: self.trace_path(value)?,
                ..Replay::default()
            });
        }
        let mut replay = Replay::default();
        let mut fields = self.fields(value, "a trace")?;
        match fields.get("path").map(|value| self.trace_path(value)) {
            Some(path) => replay.path = path?,
            None => self.error(fields.span(), "the trace has no path", "add `path`"),
        }
        if let Some(value) = fields.get("pace") {
            replay.pace = self.pace(value)?;
        }
        let scale = fields.get("scale").and_then(|value| self.count(value));
        replay.scale = scale.unwrap_or_default();
        if let Some(value) = fields.get("align") {
            let align: u32 = self.count(value)?;
            if align > 0 && !align.is_power_of_two() {
                let hint = "write 512 or 4096";
                self.error(value.span(), "an alignment is a power of two", hint);
            }
            replay.align = align;
        }
        if let Some(value) = fields.get("files") {
            let names = self.list(value)?.iter().map(|name| self.text(name));
            replay.files = names.collect::<Option<_>>()?;
        }
        let redirected = fields.get("redirected").and_then(|value| self.truth(value));
        replay.redirected = redirected.unwrap_or_default();
        let plain = fields
            .get("plain_writes")
            .and_then(|value| self.truth(value));
        replay.plain_writes = plain.unwrap_or_default();
        if let Some(value) = fields.get("skip") {
            for value in self.list(value)? {
                if let Some(kind) = self.word(value, KINDS) {
                    replay.skip[kind] = true;
                }
            }
        }
        if let Some(value) = fields.get("merge") {
            let parts = self.list(value)?.iter().map(|part| self.trace_part(part));
            replay.merged = parts.collect::<Option<_>>()?;
        }
        fields.finish(self);
        Some(replay)
    }

    /// A path, or `{ path = "a", scale = "50%", passes = 2 }`.
    fn trace_part(&mut self, value: &Value<'_>) -> Option<TracePart> {
        let mut part = TracePart {
            path: String::new(),
            scale: 100,
            passes: 1,
        };
        if value.get_ref().as_str().is_some() {
            part.path = self.trace_path(value)?;
            return Some(part);
        }
        let mut fields = self.fields(value, "a trace to merge")?;
        match fields.get("path").map(|value| self.trace_path(value)) {
            Some(path) => part.path = path?,
            None => self.error(fields.span(), "the trace has no path", "add `path`"),
        }
        if let Some(value) = fields.get("scale") {
            part.scale = self.trace_scale(value)?;
        }
        if let Some(value) = fields.get("passes") {
            part.passes = self.count(value)?;
            if part.passes == 0 {
                let message = "a trace that never comes is not merged";
                self.error(value.span(), message, "write 1 or more, or leave it out");
            }
        }
        fields.finish(self);
        Some(part)
    }

    /// Where a trace stands, or is to stand.
    fn trace_path(&mut self, value: &Value<'_>) -> Option<String> {
        let path = self.text(value)?;
        if path.is_empty() {
            let hint = "name its file, or leave the key out";
            self.error(value.span(), "the path of the trace is empty", hint);
            return None;
        }
        Some(path)
    }

    /// Times of a trace, in percent of what they are.
    fn trace_scale(&mut self, value: &Value<'_>) -> Option<u32> {
        let text = self.text(value)?;
        let percent = text
            .strip_suffix('%')
            .and_then(|digits| digits.parse().ok());
        let percent = percent.filter(|percent| *percent > 0);
        if percent.is_none() {
            let message = format!("`{text}` is no share of a trace's times");
            let hint = "write how long they become, such as \"50%\"";
            self.error(value.span(), message, hint);
        }
        percent
    }

    /// `at-once`, or a percentage of the trace's own speed, which may exceed 100 %.
    fn pace(&mut self, value: &Value<'_>) -> Option<ReplayPace> {
        let text = self.text(value)?;
        if text == AT_ONCE {
            return Some(ReplayPace::AtOnce);
        }
        let percent = text
            .strip_suffix('%')
            .and_then(|digits| digits.parse().ok());
        let Some(percent) = percent.filter(|percent| *percent > 0) else {
            let example = Percent::ALL;
            let message = format!("`{text}` is no pace of a trace");
            let hint = format!("write \"{AT_ONCE}\", or its speed, such as \"{example}\"");
            self.error(value.span(), message, hint);
            return None;
        };
        Some(ReplayPace::Timed(percent))
    }
}
