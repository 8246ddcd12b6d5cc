//! The first line of PerfMon's text: what each column holds.

use std::collections::{BTreeMap, BTreeSet};

use fathom_diagnostics::{Diagnostic, Diagnostics};

use super::super::collect::TwoMachines;
use super::super::devices::list;
use super::super::input::Line;
use super::super::{Disks, Options};
use super::names::{self, Meaning, Object, plain};

/// Where a column's values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// A disk, by its place in [`Header::disks`].
    Disk(usize, Meaning),
    /// All processors, or one of several.
    Processor,
    /// Free memory, in units of so many bytes.
    Available(u64),
    /// Nowhere.
    Nothing,
}

/// What the columns of a table hold.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// What parts the fields.
    pub separator: char,
    /// Minutes to add to a time to have Greenwich's, where said.
    pub bias: Option<i64>,
    /// Of each column but the first.
    pub targets: Vec<Target>,
    /// Names of the disks.
    pub disks: Vec<String>,
    /// The machine.
    pub host: Option<String>,
    /// Its logical processors, where each has a column.
    pub processors: Option<u64>,
    /// What of the choice must be said.
    pub doubts: Vec<String>,
}

/// A column's name in its parts: `\\HOST\Object(Instance)\Counter`.
struct Path<'a> {
    host: Option<&'a str>,
    object: &'a str,
    instance: Option<&'a str>,
    counter: &'a str,
}

fn path(name: &str) -> Option<Path<'_>> {
    let (host, rest) = match name.strip_prefix("\\\\") {
        Some(rest) => {
            let (host, rest) = rest.split_once('\\')?;
            (Some(host), rest)
        }
        None => (None, name.strip_prefix('\\').unwrap_or(name)),
    };
    let (place, counter) = rest.rsplit_once('\\')?;
    let (object, instance) = match place.split_once('(') {
        Some((object, instance)) => (object, Some(instance.trim_end_matches(')'))),
        None => (place, None),
    };
    Some(Path {
        host,
        object,
        instance,
        counter,
    })
}

/// A column whose meaning is known, before it is settled which disks count.
struct Column<'a> {
    index: usize,
    object: Object,
    instance: &'a str,
    meaning: Meaning,
}

/// Logical processors with a column each: `Processor(3)`, or `Processor Information(1,3)` with its group. A log may have both.
fn count_processors(columns: &[Column<'_>]) -> Option<u64> {
    let of = |parts: usize| {
        let instances = columns
            .iter()
            .filter(|column| column.meaning == Meaning::Processor)
            .map(|column| column.instance)
            .filter(|instance| {
                let mut numbers = instance.split(',');
                instance.split(',').count() == parts
                    && numbers.all(|number| number.parse::<u16>().is_ok())
            });
        instances.collect::<BTreeSet<_>>().len() as u64
    };
    Some(of(1).max(of(2))).filter(|count| *count > 0)
}

/// Fields of a line, each without its quotes.
pub(super) fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(one) = characters.next() {
        match one {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            _ if one == separator && !quoted => fields.push(std::mem::take(&mut field)),
            _ => field.push(one),
        }
    }
    fields.push(field);
    fields
}

fn separator(line: &str) -> char {
    let outside = |mark: char| fields(line, mark).len();
    let marks = [',', '\t', ';'];
    let best = marks
        .into_iter()
        .max_by_key(|mark| (outside(*mark), *mark == ','));
    best.unwrap_or(',')
}

/// The bias of `(PDH-CSV 4.0) (Pacific Standard Time)(480)`.
fn bias(field: &str) -> Option<i64> {
    let (_, last) = field.trim().trim_end_matches(')').rsplit_once('(')?;
    let minutes: i64 = last.trim().parse().ok()?;
    (-14 * 60..=14 * 60).contains(&minutes).then_some(minutes)
}

impl Header {
    /// Reads the line that names the columns.
    pub fn read(line: &Line<'_>, options: &Options) -> Result<Self, Diagnostics> {
        let separator = separator(line.text);
        let names = fields(line.text, separator);
        let mut header = Self {
            separator,
            bias: names.first().and_then(|first| bias(first)),
            targets: vec![Target::Nothing; names.len().saturating_sub(1)],
            ..Self::default()
        };
        let mut columns = Vec::new();
        let mut unknown = Unknown::default();
        for (index, name) in names.iter().enumerate().skip(1) {
            let Some(path) = path(name) else { continue };
            let mapped = options.counters.iter().find(|counter| {
                let whole = format!("{}\\{}", path.object, path.counter);
                [plain(path.counter), plain(&whole)].contains(&plain(&counter.name))
            });
            let object = names::object(&plain(path.object));
            let (object, meaning) = match (mapped, object) {
                (Some(mapped), object) => {
                    // An object without a name of its own is as physical as a disk can be said to be.
                    (object.unwrap_or(Object::PhysicalDisk), Some(mapped.meaning))
                }
                (None, Some(object)) => (object, names::meaning(object, &plain(path.counter))),
                (None, None) => {
                    unknown.other(&path);
                    continue;
                }
            };
            if let Some(host) = path.host.filter(|_| meaning != Some(Meaning::Ignore)) {
                header.of_host(host, line)?;
            }
            match meaning {
                Some(meaning) => columns.push(Column {
                    index: index - 1,
                    object,
                    instance: path.instance.unwrap_or(""),
                    meaning,
                }),
                None => unknown.of_disk(&path),
            }
        }
        header.settle(&columns, options.disks);
        refuse_absent(&columns, options.disks, line)?;
        header.judge(line, &unknown)?;
        Ok(header)
    }

    /// Columns that count are of one machine: a disk's name tells it only on that.
    pub fn of_host(&mut self, host: &str, line: &Line<'_>) -> Result<(), Diagnostics> {
        let known = self.host.get_or_insert_with(|| host.to_owned());
        if known.eq_ignore_ascii_case(host) {
            return Ok(());
        }
        let hint = format!(
            "one machine is observed: write a log of each, `relog LOG -c \"\\\\{known}\\PhysicalDisk(*)\\*\" -f CSV -o {known}.csv`"
        );
        let start = line.text.find(&format!("\\\\{host}\\"));
        let part = start.and_then(|start| line.text.get(start + 2..start + 2 + host.len()));
        Err(TwoMachines::new(known, host).refuse(line, part.unwrap_or(""), &hint))
    }

    fn settle(&mut self, columns: &[Column<'_>], disks: Disks) {
        let chosen = self.choose(columns, disks);
        let total = |instance: &str| instance.eq_ignore_ascii_case("_total");
        let only_total = columns
            .iter()
            .filter(|column| column.object == chosen && column.meaning.of_disk())
            .all(|column| total(column.instance));
        let all_processors = columns
            .iter()
            .any(|column| column.meaning == Meaning::Processor && total(column.instance));
        self.processors = count_processors(columns);
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for column in columns {
            let target = match column.meaning {
                Meaning::Ignore => Target::Nothing,
                Meaning::Processor if all_processors && !total(column.instance) => Target::Nothing,
                Meaning::Processor => Target::Processor,
                Meaning::AvailableBytes => Target::Available(1),
                Meaning::AvailableKib => Target::Available(1 << 10),
                Meaning::AvailableMib => Target::Available(1 << 20),
                _ if column.object != chosen || (total(column.instance) && !only_total) => {
                    Target::Nothing
                }
                meaning => {
                    let next = places.len();
                    let place = *places.entry(column.instance).or_insert(next);
                    if place == next {
                        self.disks.push(column.instance.to_owned());
                    }
                    Target::Disk(place, meaning)
                }
            };
            self.targets[column.index] = target;
        }
        if only_total && !self.disks.is_empty() {
            let doubt = "only `_Total` is in it, the sum of all disks: it is taken as one disk";
            self.doubts.push(doubt.to_owned());
        }
    }

    /// The object that counts: physical disks where each holds one volume, volumes otherwise.
    fn choose(&mut self, columns: &[Column<'_>], disks: Disks) -> Object {
        let instances = |object: Object| {
            let mut names: Vec<&str> = columns
                .iter()
                .filter(|column| column.object == object && column.meaning.of_disk())
                .map(|column| column.instance)
                .filter(|instance| !instance.eq_ignore_ascii_case("_total"))
                .collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let has = |object: Object| {
            columns
                .iter()
                .any(|column| column.object == object && column.meaning.of_disk())
        };
        match (has(Object::PhysicalDisk), has(Object::LogicalDisk), disks) {
            (_, false, Disks::Suited | Disks::Physical) | (_, _, Disks::Physical) => {
                return Object::PhysicalDisk;
            }
            (false, true, Disks::Suited) | (_, _, Disks::Logical) => return Object::LogicalDisk,
            (true, true, Disks::Suited) => {}
        }
        let physical = instances(Object::PhysicalDisk);
        let volumes = |instance: &str| instance.split_whitespace().skip(1).count();
        let shared: Vec<String> = physical
            .iter()
            .filter(|instance| volumes(instance) > 1)
            .map(|instance| (*instance).to_owned())
            .collect();
        // A volume that no physical disk is named after spans several (or is mounted without a letter, which tells nothing).
        let lettered = |instance: &&&str| instance.len() == 2 && instance.ends_with(':');
        let logical = instances(Object::LogicalDisk);
        let homeless: Vec<String> = logical
            .iter()
            .filter(lettered)
            .filter(|volume| {
                !physical
                    .iter()
                    .any(|disk| disk.split_whitespace().skip(1).any(|one| one == **volume))
            })
            .map(|volume| (*volume).to_owned())
            .collect();
        if shared.is_empty() && homeless.is_empty() {
            let doubt = "each physical disk holds one volume: PhysicalDisk's counters are taken, LogicalDisk's left out";
            self.doubts.push(doubt.to_owned());
            return Object::PhysicalDisk;
        }
        let why = if shared.is_empty() { homeless } else { shared };
        self.doubts.push(format!(
            "physical and logical disks do not map one to one ({}): LogicalDisk's counters are taken, PhysicalDisk's left out",
            list(&why)
        ));
        Object::LogicalDisk
    }

    /// Whether the columns say enough.
    fn judge(&mut self, line: &Line<'_>, unknown: &Unknown) -> Result<(), Diagnostics> {
        let counts = |meaning: Meaning| {
            let found = |target: &Target| matches!(target, Target::Disk(_, one) if *one == meaning);
            self.targets.iter().any(found)
        };
        let machine = self
            .targets
            .iter()
            .any(|target| matches!(target, Target::Processor | Target::Available(_)));
        let enough =
            counts(Meaning::Transfers) || (counts(Meaning::Reads) && counts(Meaning::Writes));
        if enough || (self.disks.is_empty() && unknown.disk.is_empty() && machine) {
            if !unknown.disk.is_empty() {
                self.doubts.push(format!(
                    "its disk counters {} are not known and left out; `--counter 'NAME=MEANING'` says what one means",
                    list(&unknown.disk)
                ));
            }
            return Ok(());
        }
        let mut complaints = Diagnostics::default();
        let found = if unknown.disk.is_empty() {
            &unknown.other
        } else {
            &unknown.disk
        };
        let message = if found.is_empty() {
            "no column counts a disk's I/O (`Disk Reads/sec` and `Disk Writes/sec`, or `Disk Transfers/sec`)".to_owned()
        } else {
            format!(
                "no column is known to count a disk's I/O; columns of other names are {}",
                list(found)
            )
        };
        let words: Vec<&str> = Meaning::words().collect();
        let hint = format!(
            "log \\PhysicalDisk(*)\\*, or say what a counter means: `--counter 'NAME=MEANING'`, of {}",
            words.join(", ")
        );
        complaints.push(line.error("", message).hint(hint));
        Err(complaints)
    }
}

/// Names that mean nothing yet, each once.
#[derive(Debug, Default)]
struct Unknown {
    disk: Vec<String>,
    other: Vec<String>,
}

impl Unknown {
    fn of_disk(&mut self, path: &Path<'_>) {
        let name = path.counter.to_owned();
        if !self.disk.contains(&name) && self.disk.len() < 64 {
            self.disk.push(name);
        }
    }

    fn other(&mut self, path: &Path<'_>) {
        let name = format!("{}\\{}", path.object, path.counter);
        if !self.other.contains(&name) && self.other.len() < 64 {
            self.other.push(name);
        }
    }
}

/// A header is refused as a whole.
/// The object that was asked for has no counter, and the other has.
fn refuse_absent(columns: &[Column<'_>], disks: Disks, line: &Line<'_>) -> Result<(), Diagnostics> {
    let (wanted, wanted_name, other_name, other_word) = match disks {
        Disks::Suited => return Ok(()),
        Disks::Physical => (
            Object::PhysicalDisk,
            "PhysicalDisk",
            "LogicalDisk",
            "logical",
        ),
        Disks::Logical => (
            Object::LogicalDisk,
            "LogicalDisk",
            "PhysicalDisk",
            "physical",
        ),
    };
    let mut of_disks = columns
        .iter()
        .filter(|column| column.meaning.of_disk())
        .peekable();
    if of_disks.peek().is_none() || of_disks.any(|column| column.object == wanted) {
        return Ok(());
    }
    let message = format!("the log has counters of {other_name} alone, none of {wanted_name}");
    let hint = format!("say `--disks {other_word}`, or leave it out");
    Err(refuse(line.error("", message).hint(hint)))
}

pub(super) fn refuse(diagnostic: Diagnostic) -> Diagnostics {
    let mut complaints = Diagnostics::default();
    complaints.push(diagnostic);
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_s_parts() {
        let path = path("\\\\WS1\\Physikalischer Datenträger(0 C:)\\Leerlaufzeit (%)").unwrap();
        assert_eq!(path.host, Some("WS1"));
        assert_eq!(path.object, "Physikalischer Datenträger");
        assert_eq!(path.instance, Some("0 C:"));
        assert_eq!(path.counter, "Leerlaufzeit (%)");
    }

    #[test]
    fn separators_and_quotes() {
        assert_eq!(fields("\"a,b\",\"c\"\"d\",", ','), ["a,b", "c\"d", ""]);
        assert_eq!(separator("\"(PDH-CSV 4.0)\";\"a,b\""), ';');
        assert_eq!(separator("(PDH-TSV 4.0)\ta\tb"), '\t');
        assert_eq!(
            bias("(PDH-CSV 4.0) (Pacific Daylight Time)(420)"),
            Some(420)
        );
        assert_eq!(bias("(PDH-CSV 4.0)"), None);
    }
}
