//! From a profile's text to a checked profile.

use std::str::FromStr;

use fathom_diagnostics::Diagnostics;
use fathom_tables::{Complaints, Entry, document};
use fathom_units::{Bytes, BytesPerSec, Iops, ParseUnitError};
use toml::de::DeValue;

use crate::{Growth, Level, Levels, Period, PeriodKind, Profile, Role, SECTOR, Volume};

/// Largest profile.
const LARGEST: Bytes = Bytes::mib(1);
/// Most volumes.
const MOST_VOLUMES: usize = 64;
/// Most I/Os a second, I/Os outstanding and transactions a second.
const MOST: u64 = 1_000_000_000;
/// Most bytes a second: far more than any cloud sells, and with any growth and headroom still a number.
const MOST_RATE: BytesPerSec = BytesPerSec::new(1_000_000_000_000_000);
/// Most space, and memory: the same.
const MOST_SPACE: Bytes = Bytes::new(100 << 50);
/// Most logical processors: no kernel takes more.
const MOST_PROCESSORS: u64 = 65_536;
/// Largest I/O: operating systems do none of 2 GiB.
const LARGEST_IO: Bytes = Bytes::gib(1);

impl Profile {
    /// Reads a profile. `file` names it in complaints.
    ///
    /// Gives the profile and its warnings.
    ///
    /// # Errors
    /// All complaints at once, at least one of them an error.
    pub fn read(text: &str, file: &str) -> Result<(Self, Diagnostics), Diagnostics> {
        let parsed = document(text, file, ("profile", LARGEST))?;
        let mut complaints = Complaints::new(file, text);
        let span = parsed.span();
        let top = Entry::new("a profile", parsed.get_ref(), &span);
        let profile = read_profile(&top, &mut complaints);
        if complaints.found.has_errors() {
            return Err(complaints.in_order());
        }
        Ok((profile, complaints.in_order()))
    }
}

fn read_profile(top: &Entry<'_>, complaints: &mut Complaints<'_>) -> Profile {
    let known = [
        "name",
        "origin",
        "transactions_per_sec",
        "growth",
        "logical_processors",
        "processors",
        "peak_processors",
        "memory",
        "peak_memory",
        "volume",
    ];
    top.check_keys(&known, complaints);
    let name = top.required_text("name", "name = \"shop\"", complaints);
    let origin = top.text("origin", complaints);
    let transactions = top.number("transactions_per_sec", 1..=MOST, complaints);
    let growth = read_growth(top, complaints);
    let logical_processors = top.number("logical_processors", 1..=MOST_PROCESSORS, complaints);
    let processors = quantities(top, "processors", complaints);
    let peak_processors = quantities(top, "peak_processors", complaints);
    let memory = quantities(top, "memory", complaints);
    let peak_memory = quantities(top, "peak_memory", complaints);
    let tables = top.tables("volume", "a volume", complaints);
    if !top.has("volume") {
        top.missing("volume", "[[volume]]", complaints);
    }
    if let Some(beyond) = tables.get(MOST_VOLUMES) {
        let message = format!("a profile has at most {MOST_VOLUMES} volumes");
        complaints.error(&beyond.span(), message, "split the application");
    }
    let mut volumes: Vec<Volume> = Vec::new();
    for entry in tables.iter().take(MOST_VOLUMES) {
        let Some(volume) = read_volume(entry, complaints) else {
            continue;
        };
        if volumes.iter().any(|other| other.name == volume.name) {
            let message = format!("the name `{}` is taken", volume.name);
            complaints.error(&entry.span_of("name"), message, "names are unique");
        }
        volumes.push(volume);
    }
    Profile {
        name: name.map_or_else(String::new, |name| name.value.to_owned()),
        origin: origin.map(|origin| origin.value.to_owned()),
        transactions_per_sec: transactions.map(|rate| rate.value),
        growth,
        logical_processors: logical_processors.map(|count| count.value),
        processors,
        peak_processors,
        memory,
        peak_memory,
        volumes,
    }
}

fn read_growth(top: &Entry<'_>, complaints: &mut Complaints<'_>) -> Growth {
    let Some(text) = top.text("growth", complaints) else {
        return Growth::NONE;
    };
    text.value
        .parse()
        .unwrap_or_else(|error: crate::GrowthError| {
            complaints.error(&text.span, error.to_string(), "");
            Growth::NONE
        })
}

fn read_volume(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<Volume> {
    let known = ["name", "role", "capacity", "latency_goal", "period"];
    entry.check_keys(&known, complaints);
    let name = entry.required_name("name = \"data\"", complaints);
    let roles = [Role::Data, Role::Log].map(|role| (role.name(), role));
    let role = entry.word("role", &roles, complaints);
    let capacity = entry.quantity("capacity", complaints);
    let asked = capacity.as_ref().map(|at| at.value);
    no_more_than(entry, ("capacity", asked), MOST_SPACE, complaints);
    let latency_goal = quantities(entry, "latency_goal", complaints);
    let none = |level: &Level| latency_goal.at(*level) == Some(fathom_units::Nanos::ZERO);
    if Level::ALL.iter().any(none) {
        let message = "`latency_goal` is 0, which no storage reaches";
        let hint = "give the latency that is needed, such as \"10ms\", or leave it out";
        complaints.error(&entry.span_of("latency_goal"), message, hint);
    }
    let tables = entry.tables("period", "a period", complaints);
    if !entry.has("period") {
        entry.missing("period", "[[volume.period]]", complaints);
    }
    let mut periods: Vec<Period> = Vec::new();
    for table in &tables {
        let Some(period) = read_period(table, complaints) else {
            continue;
        };
        if periods.iter().any(|other| other.kind == period.kind) {
            let message = format!("the period `{}` is there twice", period.kind.name());
            complaints.error(&table.span_of("name"), message, "put both into one");
        }
        periods.push(period);
    }
    Some(Volume {
        name: name?.value.to_owned(),
        role: role.map_or(Role::Data, |role| role.value),
        capacity: capacity.map(|capacity| capacity.value),
        latency_goal,
        periods,
    })
}

fn read_period(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<Period> {
    let known = [
        "name",
        "iops",
        "reads",
        "random",
        "size",
        "throughput",
        "average_throughput",
        "peak_throughput",
        "latency",
        "average_latency",
        "minimum_latency",
        "queue_depth",
    ];
    entry.check_keys(&known, complaints);
    if !entry.has("name") {
        entry.missing("name", "name = \"peak\"", complaints);
    }
    let kinds = PeriodKind::ALL.map(|kind| (kind.name(), kind));
    let kind = entry.word("name", &kinds, complaints);
    let iops = numbers(entry, "iops", complaints);
    let mut period = Period {
        kind: kind.as_ref().map_or(PeriodKind::Peak, |kind| kind.value),
        iops: Levels {
            p50: iops.p50.map(Iops::new),
            p90: iops.p90.map(Iops::new),
            p99: iops.p99.map(Iops::new),
        },
        reads: quantities(entry, "reads", complaints),
        random: quantities(entry, "random", complaints),
        size: quantities(entry, "size", complaints),
        throughput: quantities(entry, "throughput", complaints),
        average_throughput: quantities(entry, "average_throughput", complaints),
        peak_throughput: quantities(entry, "peak_throughput", complaints),
        latency: quantities(entry, "latency", complaints),
        average_latency: quantities(entry, "average_latency", complaints),
        minimum_latency: quantities(entry, "minimum_latency", complaints),
        queue_depth: numbers(entry, "queue_depth", complaints),
    };
    whole_sectors(entry, &mut period, complaints);
    check_most(entry, &period, complaints);
    check_rates(entry, &period, complaints);
    kind.map(|_| period)
}

/// Sizes are whole sectors, as every I/O to a device is: a mean that is none is taken as the next larger.
fn whole_sectors(entry: &Entry<'_>, period: &mut Period, complaints: &mut Complaints<'_>) {
    let mut raised: Vec<String> = Vec::new();
    for level in Level::ALL {
        let Some(size) = period.size.at(level).map(Bytes::get) else {
            continue;
        };
        if size == 0 {
            let message = format!("`size` at {level} is 0, and every I/O has a size");
            let hint = "leave it out where it is unknown; leave out a period without I/O";
            return complaints.error(&entry.span_of("size"), message, hint);
        }
        let whole = size.checked_next_multiple_of(SECTOR).unwrap_or(size);
        if whole != size {
            raised.push(format!("{size} bytes at {level} as {whole}"));
            period.size.set(level, Some(Bytes::new(whole)));
        }
    }
    if !raised.is_empty() {
        let raised = raised.join(", ");
        let message = format!(
            "an I/O to a device is of whole sectors of {SECTOR} bytes: `size` is taken up, {raised}"
        );
        complaints.note(&entry.span_of("size"), message);
    }
}

/// Complains of what is larger than anything that is planned.
fn no_more_than<T: PartialOrd + Copy + std::fmt::Display>(
    entry: &Entry<'_>,
    (key, value): (&str, Option<T>),
    most: T,
    complaints: &mut Complaints<'_>,
) {
    if value.is_some_and(|value| value > most) {
        let message = format!("`{key}` is more than {most}, the most that is planned");
        let hint = "look at its unit, or plan parts of the application apart";
        complaints.error(&entry.span_of(key), message, hint);
    }
}

/// Rates and sizes of which nothing could be planned, and whose products would be no numbers any more.
fn check_most(entry: &Entry<'_>, period: &Period, complaints: &mut Complaints<'_>) {
    let highest = |levels: &Levels<BytesPerSec>| {
        let all = Level::ALL.into_iter();
        all.filter_map(|level| levels.at(level)).max()
    };
    let rates = [
        ("throughput", &period.throughput),
        ("average_throughput", &period.average_throughput),
        ("peak_throughput", &period.peak_throughput),
    ];
    for (key, levels) in rates {
        no_more_than(entry, (key, highest(levels)), MOST_RATE, complaints);
    }
    let largest = Level::ALL.into_iter();
    let largest = largest.filter_map(|level| period.size.at(level)).max();
    no_more_than(entry, ("size", largest), LARGEST_IO, complaints);
    let together = Level::ALL.into_iter().filter_map(|level| {
        let (iops, size) = (period.iops.at(level)?, period.size.at(level)?);
        Some(iops.get().saturating_mul(size.get()))
    });
    let together = together.max().map(BytesPerSec::new);
    if together > Some(MOST_RATE) && largest <= Some(LARGEST_IO) {
        let message =
            format!("`iops` of that `size` are more than {MOST_RATE}, the most that is planned");
        let hint = "one of `iops` and `size` has another unit than its figure is meant in";
        complaints.error(&entry.span_of("size"), message, hint);
    }
}

/// A rate that is nothing even at its highest is no load, and neither are I/Os that are smaller than any.
fn check_rates(entry: &Entry<'_>, period: &Period, complaints: &mut Complaints<'_>) {
    let rates = [
        ("iops", period.iops.p99.map(Iops::get)),
        ("throughput", period.throughput.p99.map(BytesPerSec::get)),
    ];
    for (key, rate) in rates {
        if rate == Some(0) {
            let hint = "leave it out where it is unknown; leave out a period without I/O";
            let message = format!("`{key}` at p99 must be more than 0");
            complaints.error(&entry.span_of(key), message, hint);
        }
    }
    for level in Level::ALL {
        let (Some(iops), Some(bytes)) = (period.iops.at(level), period.throughput.at(level)) else {
            continue;
        };
        // Rates are whole numbers: the last I/O may be a part of one.
        let least = iops.get().saturating_sub(1).saturating_mul(SECTOR);
        if bytes.get() < least && rates.iter().all(|(_, rate)| *rate != Some(0)) {
            let message = format!(
                "{} bytes a second at {level} are less than {SECTOR} for each of {} I/Os, and no I/O to a device is smaller",
                bytes.get(),
                iops.get()
            );
            let hint =
                "one of `iops` and `throughput` has another unit than its figure is meant in";
            return complaints.error(&entry.span_of("throughput"), message, hint);
        }
    }
}

/// What I/Os are while the load is at a percentile: more of them may be smaller.
const OF_THE_LOAD: [&str; 3] = ["size", "reads", "random"];

/// `key = VALUE`, which holds at every percentile, or `key = { p50 = VALUE, p90 = VALUE, p99 = VALUE }`.
fn levels<T: Copy + PartialOrd>(
    entry: &Entry<'_>,
    key: &str,
    complaints: &mut Complaints<'_>,
    read: impl Fn(&Entry<'_>, &str, &mut Complaints<'_>) -> Option<T>,
) -> Levels<T> {
    let is_table = entry
        .table
        .get(key)
        .is_some_and(|value| value.get_ref().is_table());
    if !is_table {
        return read(entry, key, complaints).map_or_else(Levels::default, Levels::all);
    }
    let mut found = Levels::default();
    if let Some(table) = entry.table(key, "percentiles", complaints) {
        table.check_keys(&Level::ALL.map(Level::name), complaints);
        for level in Level::ALL {
            found.set(level, read(&table, level.name(), complaints));
        }
        if let Some((lower, higher)) = found.falls()
            && !OF_THE_LOAD.contains(&key)
        {
            let message = format!(
                "`{key}` is less at {higher} than at {lower}, and a percentile is never below a lower one"
            );
            let hint = "sort the figures: p50 is what half of the time stays at or below, p99 nearly all of it";
            complaints.error(&table.span_of(higher.name()), message, hint);
        }
    }
    found
}

fn quantities<T>(entry: &Entry<'_>, key: &str, complaints: &mut Complaints<'_>) -> Levels<T>
where
    T: FromStr<Err = ParseUnitError> + Copy + PartialOrd,
{
    levels(entry, key, complaints, |entry, key, complaints| {
        entry.quantity(key, complaints).map(|at| at.value)
    })
}

fn numbers(entry: &Entry<'_>, key: &str, complaints: &mut Complaints<'_>) -> Levels<u64> {
    levels(entry, key, complaints, |entry, level, complaints| {
        // Half of the time there may be no I/O at all. That the highest rate is 0 has a complaint of its own.
        let is_highest = level == key || level == Level::P99.name();
        let is_zero = entry.table.get(level).is_some_and(
            |value| matches!(value.get_ref(), DeValue::Integer(number) if number.as_str() == "0"),
        );
        let least = u64::from(key == "iops" && is_highest && !is_zero);
        let number = entry.number(level, least..=MOST, complaints);
        number.map(|at| at.value)
    })
}
