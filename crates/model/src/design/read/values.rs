//! Values that several kinds of entry have: mounts, limits, latencies, bursting.

use fathom_catalog::{Catalog, CatalogError, Limits};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};

use crate::design::{Burst, Credits, FigureOrigin, LatencyChoice, LatencyOrigin, Mount};
use fathom_tables::{At, Complaints, Entry};

/// Most I/Os a second of anything.
const MOST_IOPS: u64 = 1_000_000_000;

/// `mount = "/mnt/data"` or `drive = "E:"`: one of them.
pub(super) fn read_mount<'t>(
    entry: &Entry<'t>,
    complaints: &mut Complaints<'_>,
) -> Option<At<&'t str>> {
    let mount = entry.text("mount", complaints);
    let drive = entry.text("drive", complaints);
    match (mount, drive) {
        (Some(mount), None) => Some(mount),
        (None, Some(drive)) => Some(drive),
        (Some(_), Some(drive)) => {
            complaints.error(
                &drive.span,
                "`mount` and `drive` exclude each other",
                "leave one out",
            );
            None
        }
        (None, None) => {
            if !entry.has("mount") && !entry.has("drive") {
                entry.missing("mount", "mount = \"/mnt/data\"", complaints);
            }
            None
        }
    }
}

/// The mount that a text names.
pub(super) fn mount_of(
    text: &str,
    entry: &Entry<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<Mount> {
    let mut characters = text.chars();
    match (characters.next(), characters.next(), characters.as_str()) {
        (Some('/'), _, _) => {
            // `/mnt/data/` is the same place as `/mnt/data`, and must not count as another.
            let trimmed = text.trim_end_matches('/');
            let path = if trimmed.is_empty() { "/" } else { trimmed };
            Some(Mount::Path(path.to_owned()))
        }
        (Some(letter), Some(':'), "" | "\\" | "/") if letter.is_ascii_alphabetic() => {
            Some(Mount::Drive(letter.to_ascii_uppercase()))
        }
        _ => {
            let message = format!("`{text}` is neither an absolute path nor a drive such as `E:`");
            complaints.error(&entry.span(), message, "write it like `/mnt/data` or `E:`");
            None
        }
    }
}

/// The row of the catalogue that `name` was looked up for; where there is none like it, `names` are those that there are.
pub(super) fn row_of<R>(
    name: &At<&str>,
    found: Result<R, CatalogError>,
    names: impl Iterator<Item = &'static str>,
    complaints: &mut Complaints<'_>,
) -> Option<R> {
    found
        .map_err(|error| {
            let all = || format!("one of {}", names.collect::<Vec<_>>().join(", "));
            let hint = error.hint().unwrap_or_else(all);
            complaints.error(&name.span, error.to_string(), &hint);
        })
        .ok()
}

/// `iops = 3866`, at least 1.
pub(super) fn read_iops(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<At<Iops>> {
    let iops = entry.number("iops", 1..=MOST_IOPS, complaints)?;
    Some(At {
        value: Iops::new(iops.value),
        span: iops.span,
    })
}

/// `bandwidth = "500MB/s"`, more than 0.
pub(super) fn read_bandwidth(
    entry: &Entry<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<At<BytesPerSec>> {
    let rate = entry.quantity::<BytesPerSec>("bandwidth", complaints)?;
    if rate.value.get() == 0 {
        complaints.error(
            &rate.span,
            "`bandwidth` must be more than 0",
            "give more, or leave it out",
        );
        return None;
    }
    Some(rate)
}

/// `iops` and `bandwidth`, both as they please.
pub(super) fn read_limits(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Limits {
    Limits {
        iops: read_iops(entry, complaints).map(|iops| iops.value),
        bandwidth: read_bandwidth(entry, complaints).map(|rate| rate.value),
    }
}

/// `latency = "none"` or `latency = { median = "2ms", p99 = "8ms" }`; `None` where it is absent or wrong.
pub(super) fn read_latency(
    entry: &Entry<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<LatencyChoice> {
    latency_at(entry, "latency", complaints)
}

/// The same under another key.
pub(super) fn latency_at(
    entry: &Entry<'_>,
    key: &str,
    complaints: &mut Complaints<'_>,
) -> Option<LatencyChoice> {
    let value = entry.table.get(key)?;
    if let Some(word) = value.get_ref().as_str() {
        if word == "none" {
            return Some(LatencyChoice::None);
        }
        let hint = "write `{ median = \"2ms\", p99 = \"8ms\" }` or `\"none\"`";
        complaints.error(&value.span(), format!("`{word}` is no latency"), hint);
        return None;
    }
    let table = entry.table(key, "a latency", complaints)?;
    table.check_keys(&["median", "p99"], complaints);
    for key in ["median", "p99"] {
        if !table.has(key) {
            table.missing(key, &format!("{key} = \"2ms\""), complaints);
        }
    }
    let median = table.quantity::<Nanos>("median", complaints);
    let p99 = table.quantity::<Nanos>("p99", complaints);
    let (median, p99) = (median?, p99?);
    if median.value == Nanos::ZERO || median.value > p99.value {
        let message = "`median` must be more than 0 and at most `p99`";
        complaints.error(&median.span, message, "write `\"none\"` for no latency");
        return None;
    }
    if p99.value > Nanos::from_secs(3600) {
        complaints.error(
            &p99.span,
            "a media latency of more than an hour",
            "give less",
        );
        return None;
    }
    let origin = LatencyOrigin::Design;
    Some(LatencyChoice::LogNormal {
        median: median.value,
        p99: p99.value,
        origin,
    })
}

/// The catalogue's latency of a tier.
pub(super) fn catalog_latency(tier: &str, catalog: &Catalog) -> LatencyChoice {
    catalog
        .media_latency(tier)
        .map_or(LatencyChoice::None, |row| LatencyChoice::LogNormal {
            median: row.median,
            p99: row.p99,
            origin: origin_of(row.assumed),
        })
}

/// Origin of a figure of the catalogue.
pub(super) fn origin_of(assumed: bool) -> FigureOrigin {
    if assumed {
        FigureOrigin::Assumed
    } else {
        FigureOrigin::Published
    }
}

/// What bursting an entry may have.
pub(super) struct Offer {
    /// What bursts, with its backquotes: `` `P10` ``.
    pub what: String,
    /// The mode that it has; [`Burst::Off`]: none.
    pub mode: Burst,
}

/// `burst` and `credits`. Where the file says nothing, credits are on where they are offered, since the provider has them
/// on, and what costs extra is off.
///
/// `offer` is `None` where what it is about could not be read; then the words alone are checked.
pub(super) fn read_burst(
    entry: &Entry<'_>,
    offer: Option<&Offer>,
    complaints: &mut Complaints<'_>,
) -> (Burst, Credits) {
    let modes = [
        ("off", Burst::Off),
        ("credits", Burst::Credits),
        ("on-demand", Burst::OnDemand),
    ];
    let wanted = entry.word("burst", &modes, complaints);
    let credits = read_credits(entry, complaints);
    let Some(offer) = offer else {
        return (Burst::Off, Credits::FULL);
    };
    let burst = match &wanted {
        None if offer.mode == Burst::Credits => Burst::Credits,
        None => Burst::Off,
        Some(wanted) => {
            if wanted.value != Burst::Off && wanted.value != offer.mode {
                refuse_burst(offer, wanted, complaints);
            }
            wanted.value
        }
    };
    if let Some(credits) = credits.as_ref().filter(|_| burst != Burst::Credits) {
        let message = match offer.mode {
            Burst::Off => format!(
                "`credits` says how full credit buckets are, but {} does not burst",
                offer.what
            ),
            _ => "`credits` says how full credit buckets are, but nothing here bursts from credits"
                .to_owned(),
        };
        complaints.error(&credits.span, message, "leave `credits` out");
    }
    (
        burst,
        credits.map_or(Credits::FULL, |credits| credits.value),
    )
}

fn refuse_burst(offer: &Offer, wanted: &At<Burst>, complaints: &mut Complaints<'_>) {
    let what = &offer.what;
    let (message, hint) = match offer.mode {
        Burst::Off => (format!("{what} does not burst"), "leave `burst` out"),
        Burst::Credits => (
            format!("{what} bursts from credits alone, not on demand"),
            "write `burst = \"credits\"` or leave it out",
        ),
        Burst::OnDemand => (
            format!("{what} bursts on demand alone, not from credits"),
            "write `burst = \"on-demand\"`, which is paid for, or leave it out",
        ),
    };
    complaints.error(&wanted.span, message, hint);
}

/// `credits = "full"`, `"empty"` or `"40%"`.
fn read_credits(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Option<At<Credits>> {
    let text = entry.text("credits", complaints)?;
    let value = match text.value {
        "full" => Credits::FULL,
        "empty" => Credits::EMPTY,
        share => {
            let Ok(share) = share.parse::<Percent>() else {
                let message = format!("`{share}` is no value of `credits`");
                complaints.error(
                    &text.span,
                    message,
                    "write `full`, `empty` or such as `40%`",
                );
                return None;
            };
            Credits::new(share)
        }
    };
    Some(At {
        value,
        span: text.span,
    })
}

/// `stripe_unit = "64KiB"`, which is the default.
pub(super) fn read_stripe_unit(entry: &Entry<'_>, complaints: &mut Complaints<'_>) -> Bytes {
    let default = Bytes::kib(64);
    let Some(unit) = entry.quantity::<Bytes>("stripe_unit", complaints) else {
        return default;
    };
    if unit.value < Bytes::kib(4)
        || unit.value > Bytes::mib(64)
        || !unit.value.get().is_power_of_two()
    {
        let message = "`stripe_unit` must be a power of two from 4 KiB to 64 MiB";
        complaints.error(&unit.span, message, "64KiB suits databases");
        return default;
    }
    unit.value
}
