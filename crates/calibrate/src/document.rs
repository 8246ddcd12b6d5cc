//! The text of a design, and the places in it where latencies stand.
//!
//! Each table of a volume is an entry; names with ranges make one entry several volumes. Which volumes an entry makes is
//! found by reading the design once with a latency of its own in every entry.

use std::ops::Range;

use fathom_catalog::Catalog;
use fathom_diagnostics::Diagnostics;
use fathom_model::{Design, LatencyChoice, VolumeId};
use fathom_units::Nanos;
use toml::de::{DeTable, DeValue};

use crate::CalibrateError;

/// How lines begin that a calibration writes, and that the next one replaces.
const MARK: &str = "# fathom calibrate:";

/// A latency: median and 99th percentile.
pub(crate) type Latency = (Nanos, Nanos);

/// A design's text with its entries.
pub(crate) struct Document<'a> {
    text: &'a str,
    file: &'a str,
    catalog: &'a Catalog,
    entries: Vec<Entry>,
    /// By the index of the volume; `None` for volumes that no entry made.
    entry_of: Vec<Option<usize>>,
}

struct Entry {
    name: String,
    /// Where its latency's value stands, or where a line with it can be put in.
    place: Place,
}

enum Place {
    Value(Range<usize>),
    NewLineAt(usize),
    /// Keys of their own, such as `latency.median`.
    Spread,
}

impl<'a> Document<'a> {
    /// # Errors
    ///
    /// What is wrong with the design.
    pub fn read(text: &'a str, file: &'a str, catalog: &'a Catalog) -> Result<Self, Diagnostics> {
        let (design, _) = Design::read(text, file, catalog)?;
        let mut document = Self {
            text,
            file,
            catalog,
            entries: Vec::new(),
            entry_of: Vec::new(),
        };
        if let Ok(parsed) = DeTable::parse(text) {
            document.entries = entries_of(text, parsed.get_ref());
        }
        document.entry_of = document.find_volumes(&design);
        Ok(document)
    }

    /// The entry that made a volume.
    pub fn entry_of(&self, volume: VolumeId) -> Option<usize> {
        self.entry_of.get(volume.index()).copied().flatten()
    }

    /// The design with these latencies of entries.
    ///
    /// # Errors
    ///
    /// What is wrong with it; nothing, where the places are those of [`Self::read`].
    pub fn design(&self, latencies: &[(usize, Latency)]) -> Result<Design, CalibrateError> {
        let changes = latencies
            .iter()
            .map(|(entry, latency)| (*entry, *latency, String::new()));
        let text = self.with_fits(&changes.collect::<Vec<_>>())?;
        Ok(Design::read(&text, self.file, self.catalog)?.0)
    }

    /// The text with these latencies of entries, each with its comment (none where it is empty).
    ///
    /// # Errors
    ///
    /// [`CalibrateError::Spread`].
    pub fn with_fits(
        &self,
        changes: &[(usize, Latency, String)],
    ) -> Result<String, CalibrateError> {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (entry, latency, comment) in changes {
            let value = in_toml(*latency);
            let comment = if comment.is_empty() {
                String::new()
            } else {
                format!("{MARK} {comment}\n")
            };
            match &self.entries[*entry].place {
                Place::Value(span) => {
                    edits.push((span.clone(), value));
                    if !comment.is_empty() {
                        edits.push((self.comment_before(span.start), comment));
                    }
                }
                Place::NewLineAt(at) => {
                    edits.push((*at..*at, format!("{comment}latency = {value}\n")));
                }
                Place::Spread => {
                    let entry = self.entries[*entry].name.clone();
                    return Err(CalibrateError::Spread { entry });
                }
            }
        }
        edits.sort_by_key(|(span, _)| (span.start, span.end));
        let mut text = String::with_capacity(self.text.len() + 200 * edits.len());
        let mut done = 0;
        for (span, new) in edits {
            text.push_str(&self.text[done..span.start]);
            // A last line without its end must not swallow the new one.
            if new.ends_with('\n') && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&new);
            done = span.end;
        }
        text.push_str(&self.text[done..]);
        Ok(text)
    }

    /// The comment that an earlier calibration left before the line of `at`; an empty range at its start where none did.
    fn comment_before(&self, at: usize) -> Range<usize> {
        let line = line_start(self.text, at);
        let mut start = line;
        while start > 0 {
            let before = line_start(self.text, start - 1);
            if !self.text[before..start].trim_start().starts_with(MARK) {
                break;
            }
            start = before;
        }
        start..line
    }

    /// For each volume its entry, told by latencies that name it.
    fn find_volumes(&self, design: &Design) -> Vec<Option<usize>> {
        let none = vec![None; design.volume_count()];
        let open = self.entries.iter().enumerate();
        let open = open.filter(|(_, entry)| !matches!(entry.place, Place::Spread));
        let marks: Vec<(usize, Latency)> = open
            .map(|(index, _)| (index, (mark_of(index), mark_of(index))))
            .collect();
        let Ok(marked) = self.design(&marks) else {
            return none;
        };
        let entries = marked.volumes().map(|volume| match volume.latency() {
            LatencyChoice::LogNormal { median, p99, .. } if median == p99 => {
                marks.iter().find(|(_, mark)| mark.0 == *median)
            }
            _ => None,
        });
        entries
            .map(|found| found.map(|(entry, _)| *entry))
            .collect()
    }
}

/// A latency that no design has by chance, and no two entries share; exact where it is written.
fn mark_of(entry: usize) -> Nanos {
    Nanos::new(1_234_567_800 + 100 * entry as u64)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Exact to a tenth of a microsecond; below 100 µs to a nanosecond.
fn in_toml((median, p99): Latency) -> String {
    let word = |time: Nanos| {
        let ns = time.get();
        if ns < 100_000 {
            format!("{ns}ns")
        } else {
            format!("{}.{}us", ns / 1000, ns % 1000 / 100)
        }
    };
    format!(
        "{{ median = \"{}\", p99 = \"{}\" }}",
        word(median),
        word(p99)
    )
}

fn entries_of(text: &str, top: &DeTable<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for vm in tables(top, "vm") {
        for kind in ["volume", "temp"] {
            entries.extend(tables(vm, kind).filter_map(|table| entry(text, table)));
        }
    }
    for kind in ["device", "nfs", "smb"] {
        entries.extend(tables(top, kind).filter_map(|table| entry(text, table)));
    }
    entries
}

fn tables<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> impl Iterator<Item = &'t DeTable<'i>> {
    let list = table.get(key).map(toml::Spanned::get_ref);
    let list = match list {
        Some(DeValue::Array(list)) => Some(list),
        _ => None,
    };
    let entries = list.into_iter().flat_map(|list| list.iter());
    entries.filter_map(|entry| entry.get_ref().as_table())
}

fn entry(text: &str, table: &DeTable<'_>) -> Option<Entry> {
    // A temporary disk need not have a name.
    let mut anchors = ["name", "mount", "drive"].into_iter();
    let name = anchors.find_map(|key| table.get(key))?;
    let place = match table.get("latency") {
        Some(value) if text[value.span()].starts_with(['{', '"', '\'']) => {
            Place::Value(value.span())
        }
        Some(_) => Place::Spread,
        None => {
            let line_end = text[name.span().end..].find('\n');
            let at = line_end.map_or(text.len(), |end| name.span().end + end + 1);
            Place::NewLineAt(at)
        }
    };
    Some(Entry {
        name: name.get_ref().as_str().unwrap_or_default().to_owned(),
        place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# my storage
[[device]]
name = \"a{1..2}\"    # two of them
mount = \"/a{1..2}\"
size = \"1GiB\"
[[device]]
name = \"b\"
  # fathom calibrate: an older one
  latency = { median = \"1ms\", p99 = \"2ms\" } # by hand
mount = \"/b\"
size = \"1GiB\"
[[device]]
mount = \"/c\"
size = \"1GiB\"
name = \"c\"";

    fn change(entry: usize, micros: u64, comment: &str) -> (usize, Latency, String) {
        let median = Nanos::from_micros(micros);
        (entry, (median, median * 2), comment.to_owned())
    }

    #[test]
    fn only_latencies_change() {
        let document = Document::read(TEXT, "d", Catalog::builtin()).unwrap();
        let changes = [
            change(0, 250, "new"),
            change(1, 50, "newer"),
            change(2, 300, ""),
        ];
        let text = document.with_fits(&changes).unwrap();
        let expected = TEXT
            .replace(
                "two of them\n",
                "two of them\n# fathom calibrate: new\nlatency = { median = \"250.0us\", p99 = \"500.0us\" }\n",
            )
            .replace("  # fathom calibrate: an older one\n", "# fathom calibrate: newer\n")
            .replace(
                "{ median = \"1ms\", p99 = \"2ms\" }",
                "{ median = \"50000ns\", p99 = \"100.0us\" }",
            )
            + "\nlatency = { median = \"300.0us\", p99 = \"600.0us\" }\n";
        assert_eq!(text, expected);
        assert!(Design::read(&text, "d", Catalog::builtin()).is_ok());
    }

    #[test]
    fn an_entry_knows_its_volumes() {
        let document = Document::read(TEXT, "d", Catalog::builtin()).unwrap();
        assert_eq!(document.entry_of, [Some(0), Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn every_kind_of_volume_is_an_entry() {
        let text = "\
[[vm]]
name = \"vm{1..2}\"
size = \"Standard_DS14\"
era = \"2016\"
[[vm.temp]]
mount = \"/t\"
[[vm.volume]]
name = \"d\"
mount = \"/d\"
disks = { type = \"P30\", count = 2 }
caching = \"none\"
[[nfs]]
name = \"n\"
mount = \"/n\"
level = \"premium\"
quota = \"4TiB\"
rtt = \"0.5ms\"
on = [\"vm*\"]
[[smb]]
name = \"s\"
mount = \"/s\"
model = \"ssd-v1\"
size = \"10TiB\"
rtt = \"0.5ms\"
on = [\"vm1\"]
";
        let document = Document::read(text, "d", Catalog::builtin());
        let document = document.unwrap_or_else(|errors| panic!("{errors}"));
        let mut found: Vec<_> = document.entry_of.iter().flatten().copied().collect();
        assert_eq!(found.len(), 6, "{:?}", document.entry_of);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn latencies_in_several_keys_are_not_touched() {
        let text = "[[device]]\nname = \"a\"\nmount = \"/a\"\nsize = \"1GiB\"\nlatency.median = \"1ms\"\nlatency.p99 = \"2ms\"\n";
        let document = Document::read(text, "d", Catalog::builtin()).unwrap();
        assert_eq!(document.entry_of, [None]);
        let refused = document.with_fits(&[change(0, 1, "")]);
        assert!(matches!(refused, Err(CalibrateError::Spread { .. })));
    }
}
