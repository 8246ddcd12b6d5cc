//! Reading and writing of placements and of what buffers hold.

use fathom_units::{Bytes, Percent};
use toml::{Table, Value as Toml};

use super::fields::{Fields, Reader, Value};
use super::words::{BETWEEN, word};
use super::writer::{count, share, size, sizes};
use crate::{
    Conditioning, Dedupe, DedupeFrom, Direction, Distribution, Filling, Pattern, Placement,
    SizeDraw, SizeRange, ZoneStride,
};

impl Reader<'_> {
    /// A table of placement rules; what is left out is as in a plain walk.
    pub(super) fn placement(&mut self, value: &Value<'_>) -> Option<Box<Placement>> {
        let mut fields = self.fields(value, "a placement")?;
        let mut rules = Placement::default();
        self.random_rules(&mut fields, &mut rules);
        self.size_rules(&mut fields, &mut rules);
        if let Some(value) = fields.get("skip") {
            rules.skip = self.signed_size(value)?;
        }
        if let Some(value) = fields.get("between") {
            rules.between = self.word(value, BETWEEN)?;
        }
        if let Some(value) = fields.get("trim_then_write") {
            rules.trim_then_write = self.truth(value)?;
        }
        if let Some(value) = fields.get("zones") {
            rules.zones = Some(self.zones(value)?);
        }
        if let Some(value) = fields.get("target_distribution") {
            rules.target_distribution = self.distribution(value)?;
        }
        if let Some(value) = fields.get("ios_per_target") {
            rules.ios_per_target = self.count(value)?;
        }
        if let Some(value) = fields.get("targets_at_once") {
            rules.targets_at_once = Some(self.count(value)?);
        }
        if let Some(value) = fields.get("past_end") {
            rules.past_end = self.truth(value)?;
        }
        if let Some(value) = fields.get("joined") {
            rules.joined = self.truth(value)?;
        }
        if let Some(value) = fields.get("stride") {
            rules.stride = Some(self.quantity(value)?);
        }
        if let Some(value) = fields.get("conditioning") {
            rules.conditioning = Some(self.conditioning(value)?);
        }
        fields.finish(self);
        Some(Box::new(rules))
    }

    fn random_rules(&mut self, fields: &mut Fields<'_, '_>, rules: &mut Placement) {
        if let Some(value) = fields.get("distribution") {
            let read = |reader: &mut Self, value: &Value<'_>| reader.distribution(value);
            self.by_direction(value, &mut rules.distribution, read);
        }
        if let Some(value) = fields.get("random") {
            let read = |reader: &mut Self, value: &Value<'_>| reader.quantity(value);
            self.by_direction(value, &mut rules.random, read);
        }
        if let Some(value) = fields.get("alignment") {
            let read = |reader: &mut Self, value: &Value<'_>| reader.quantity(value).map(Some);
            self.by_direction(value, &mut rules.alignment, read);
        }
    }

    fn size_rules(&mut self, fields: &mut Fields<'_, '_>, rules: &mut Placement) {
        if let Some(value) = fields.get("ranges") {
            let read = |reader: &mut Self, value: &Value<'_>| reader.range(value).map(Some);
            self.by_direction(value, &mut rules.ranges, read);
        }
        if let Some(value) = fields.get("unaligned") {
            rules.unaligned = self.truth(value).unwrap_or_default();
        }
        let draws = ["sequential_sizes", "random_sizes"].map(|key| fields.get(key));
        match draws {
            [Some(sequential), Some(random)] => {
                let draws = [self.size_draw(sequential), self.size_draw(random)];
                if let [Some(sequential), Some(random)] = draws {
                    rules.by_order = Some([sequential, random]);
                }
            }
            [None, None] => {}
            [Some(one), None] | [None, Some(one)] => {
                let hint = "give both `sequential_sizes` and `random_sizes`, or neither";
                self.error(one.span(), "one of two lists of sizes is missing", hint);
            }
        }
    }

    /// One value for all directions, or a table of them.
    fn by_direction<T: Clone>(
        &mut self,
        value: &Value<'_>,
        places: &mut [T; 3],
        mut read: impl FnMut(&mut Self, &Value<'_>) -> Option<T>,
    ) {
        if !value.get_ref().is_table() {
            if let Some(all) = read(self, value) {
                places.fill(all);
            }
            return;
        }
        let Some(mut fields) = self.fields(value, "directions") else {
            return;
        };
        for way in Direction::ALL {
            let own = fields.get(way.name()).and_then(|value| read(self, value));
            if let Some(own) = own {
                places[way as usize] = own;
            }
        }
        fields.finish(self);
    }

    fn distribution(&mut self, value: &Value<'_>) -> Option<Distribution> {
        let text = self.text(value)?;
        match text.parse() {
            Ok(distribution) => Some(distribution),
            Err(error) => {
                let error: crate::DistributionError = error;
                let hint = "write it like \"zipf:1.1\", \"normal:20\" or \"zoned:60/10:40/90\"";
                self.error(value.span(), error.to_string(), hint);
                None
            }
        }
    }

    /// A size with a minus before it, or without.
    fn signed_size(&mut self, value: &Value<'_>) -> Option<i64> {
        let text = self.text(value)?;
        let size = text
            .strip_prefix('-')
            .unwrap_or(&text)
            .parse::<Bytes>()
            .ok();
        let size = size.and_then(|size| i64::try_from(size.get()).ok());
        let Some(size) = size else {
            let message = format!("`{text}` is no size with its unit");
            self.error(value.span(), message, "write it like \"8KiB\" or \"-8KiB\"");
            return None;
        };
        Some(if text.starts_with('-') { -size } else { size })
    }

    fn range(&mut self, value: &Value<'_>) -> Option<SizeRange> {
        let text = self.text(value)?;
        let bounds = text.split_once('-');
        let bounds =
            bounds.and_then(|(least, most)| Some((least.parse().ok()?, most.parse().ok()?)));
        let Some((least, most)) = bounds else {
            let message = format!("`{text}` is no range of sizes");
            self.error(value.span(), message, "write it like \"4KiB-64KiB\"");
            return None;
        };
        Some(SizeRange { least, most })
    }

    fn size_draw(&mut self, value: &Value<'_>) -> Option<SizeDraw> {
        let is_range = value
            .get_ref()
            .as_str()
            .is_some_and(|text| text.contains('-'));
        if is_range {
            self.range(value).map(SizeDraw::Range)
        } else {
            self.sizes(value).map(SizeDraw::List)
        }
    }

    fn zones(&mut self, value: &Value<'_>) -> Option<ZoneStride> {
        let mut fields = self.fields(value, "zones")?;
        let [size, range, skip] =
            ["size", "range", "skip"].map(|key| fields.get(key).map(|value| self.quantity(value)));
        let span = fields.span();
        fields.finish(self);
        let Some(size) = size else {
            self.error(
                span,
                "the zones have no size",
                "add `size`, such as \"64MiB\"",
            );
            return None;
        };
        let size: Bytes = size?;
        Some(ZoneStride {
            size,
            range: range.unwrap_or(Some(size))?,
            skip: skip.unwrap_or(Some(Bytes::ZERO))?,
        })
    }

    fn conditioning(&mut self, value: &Value<'_>) -> Option<Conditioning> {
        let mut fields = self.fields(value, "conditioning")?;
        let spare = fields.get("over_provisioning");
        let spare = spare.map(|value| self.quantity(value));
        let regions = fields.get("regions").map(|value| self.count(value));
        let cache = fields.get("cache").map(|value| self.quantity(value));
        fields.finish(self);
        Some(Conditioning {
            over_provisioning: spare.unwrap_or(Percent::whole(15))?,
            regions: regions.unwrap_or(Some(100))?,
            cache: cache.unwrap_or(Some(Bytes::ZERO))?,
        })
    }

    /// A table of what written buffers hold.
    pub(super) fn filling(&mut self, value: &Value<'_>) -> Option<Box<Filling>> {
        let mut fields = self.fields(value, "a filling")?;
        let pattern = fields.get("pattern").map(|value| self.pattern(value));
        let anywhere = fields.get("anywhere").map(|value| self.truth(value));
        let compress = fields
            .get("compress")
            .map(|value| self.whole_percent(value));
        let chunk = fields.get("chunk").map(|value| self.quantity(value));
        let dedupe = fields.get("dedupe").map(|value| self.dedupe(value));
        fields.finish(self);
        Some(Box::new(Filling {
            pattern: pattern.map_or(Some(None), |pattern| pattern.map(Some))?,
            anywhere: anywhere.unwrap_or(Some(false))?,
            compress: compress.unwrap_or(Some(0))?,
            chunk: chunk.map_or(Some(None), |chunk| chunk.map(Some))?,
            dedupe: dedupe.map_or(Some(None), |dedupe| dedupe.map(Some))?,
        }))
    }

    /// A pattern in its own grammar, without files: a workload stands by itself.
    pub(super) fn pattern(&mut self, value: &Value<'_>) -> Option<Pattern> {
        let text = self.text(value)?;
        let no_files = |_: &str| Err(std::io::Error::other("a workload file holds no file names"));
        match Pattern::parse(&text, &no_files) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let hint = "write it like '0xdeadbeef' or '\"text\"%o'";
                self.error(value.span(), error.to_string(), hint);
                None
            }
        }
    }

    fn whole_percent(&mut self, value: &Value<'_>) -> Option<u8> {
        let percent: Percent = self.quantity(value)?;
        if !percent.basis_points().is_multiple_of(100) {
            let message = "this is no whole number of percent";
            self.error(value.span(), message, "write it like \"30%\"");
            return None;
        }
        Some((percent.basis_points() / 100) as u8)
    }

    fn dedupe(&mut self, value: &Value<'_>) -> Option<Dedupe> {
        let mut fields = self.fields(value, "deduplication")?;
        let percent = fields.get("blocks").map(|value| self.whole_percent(value));
        let set = fields
            .get("working_set")
            .map(|value| self.whole_percent(value));
        let global = fields.get("global").map(|value| self.truth(value));
        let span = fields.span();
        fields.finish(self);
        let Some(percent) = percent else {
            let hint = "add `blocks`, the share of repeated blocks, such as \"30%\"";
            self.error(span, "the deduplication has no share", hint);
            return None;
        };
        let from = match set {
            Some(set) => DedupeFrom::WorkingSet {
                percent: set?,
                global: global.unwrap_or(Some(false))?,
            },
            None => DedupeFrom::Last,
        };
        let percent = percent?;
        Some(Dedupe { percent, from })
    }
}

/// The keys of a placement, all but what is left to the block's own lists.
pub(super) fn placement(rules: &Placement) -> Toml {
    let mut keys = Table::new();
    let mut add = |key: &str, value: Toml| keys.insert(key.to_owned(), value);
    add("distribution", directions(&rules.distribution, text));
    add(
        "random",
        directions(&rules.random, |percent| share(*percent)),
    );
    let skip = Bytes::new(rules.skip.unsigned_abs());
    let sign = if rules.skip < 0 { "-" } else { "" };
    let skip = size(skip).as_str().map(|size| format!("{sign}{size}"));
    add("skip", skip.unwrap_or_default().into());
    add("between", word(BETWEEN, &rules.between).into());
    add("trim_then_write", rules.trim_then_write.into());
    if let Some(ranges) = some_of(&rules.ranges, |given| range(*given)) {
        add("ranges", ranges);
    }
    add("unaligned", rules.unaligned.into());
    if let Some(draws) = &rules.by_order {
        let [sequential, random] = draws.each_ref().map(|draw| match draw {
            SizeDraw::List(list) => sizes(list),
            SizeDraw::Range(given) => range(*given),
        });
        add("sequential_sizes", sequential);
        add("random_sizes", random);
    }
    if let Some(alignment) = some_of(&rules.alignment, |given| size(*given)) {
        add("alignment", alignment);
    }
    if let Some(zones) = rules.zones {
        let entries = [
            ("size", size(zones.size)),
            ("range", size(zones.range)),
            ("skip", size(zones.skip)),
        ];
        let entries = entries.map(|(key, value)| (key.to_owned(), value));
        add("zones", Toml::Table(entries.into_iter().collect()));
    }
    add("target_distribution", text(&rules.target_distribution));
    add("ios_per_target", count(rules.ios_per_target));
    if let Some(targets) = rules.targets_at_once {
        add("targets_at_once", count(targets));
    }
    add("past_end", rules.past_end.into());
    if rules.joined {
        add("joined", true.into());
    }
    if let Some(stride) = rules.stride {
        add("stride", size(stride));
    }
    if let Some(rules) = rules.conditioning {
        let entries = [
            ("over_provisioning", share(rules.over_provisioning)),
            ("regions", count(rules.regions)),
            ("cache", size(rules.cache)),
        ];
        let entries = entries.map(|(key, value)| (key.to_owned(), value));
        add("conditioning", Toml::Table(entries.into_iter().collect()));
    }
    Toml::Table(keys)
}

/// The keys of what buffers hold.
pub(super) fn filling(rules: &Filling) -> Toml {
    let mut keys = Table::new();
    let percent = |percent: u8| Toml::from(format!("{percent}%"));
    let mut add = |key: &str, value: Toml| keys.insert(key.to_owned(), value);
    if let Some(pattern) = &rules.pattern {
        add("pattern", text(pattern));
    }
    if rules.anywhere {
        add("anywhere", true.into());
    }
    add("compress", percent(rules.compress));
    if let Some(chunk) = rules.chunk {
        add("chunk", size(chunk));
    }
    if let Some(dedupe) = rules.dedupe {
        let mut entries = vec![("blocks", percent(dedupe.percent))];
        if let DedupeFrom::WorkingSet {
            percent: set,
            global,
        } = dedupe.from
        {
            entries.push(("working_set", percent(set)));
            entries.push(("global", global.into()));
        }
        let entries = entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        add("dedupe", Toml::Table(entries.collect()));
    }
    Toml::Table(keys)
}

fn text(value: &impl ToString) -> Toml {
    value.to_string().into()
}

fn range(range: SizeRange) -> Toml {
    format!("{}B-{}B", range.least.get(), range.most.get()).into()
}

/// One value where all directions have the same, or a table.
fn directions<T: PartialEq>(values: &[T; 3], write: impl Fn(&T) -> Toml) -> Toml {
    if values.iter().all(|value| *value == values[0]) {
        return write(&values[0]);
    }
    let entries = Direction::ALL.map(|way| (way.name().to_owned(), write(&values[way as usize])));
    Toml::Table(entries.into_iter().collect())
}

/// A table of the directions that have a value; `None` where none has.
fn some_of<T>(values: &[Option<T>; 3], write: impl Fn(&T) -> Toml) -> Option<Toml> {
    let given = |way: Direction| {
        let value = values[way as usize].as_ref()?;
        Some((way.name().to_owned(), write(value)))
    };
    let table: Table = Direction::ALL.into_iter().filter_map(given).collect();
    (!table.is_empty()).then_some(Toml::Table(table))
}
