//! Random addresses that crowd: hot bands, and `seekpct=poisson`.
//!
//! Both are given as what share of the I/Os falls below each place of the part that is used, and become zones that each get
//! the same share. Within a zone addresses are even. The shares are those of Vdbench 5.04: a hot band is a curve of hits by
//! bytes that runs to 10 TB whatever the band's size, folded into the band; `poisson` draws exponential distances with a
//! mean of the part divided by the midpoint, folded likewise. The words of a parameter file are found again from the zones.

use fathom_units::Bytes;
use fathom_workload::{Distribution, Zone};

/// Smallest hot band, as Vdbench has it.
pub(super) const BAND_LEAST: u64 = 1_000_000;

/// Share of the I/Os of each zone, in percent.
const ZONE_PERCENT: u32 = 2;
/// Zones at most.
const ZONES: u32 = 100 / ZONE_PERCENT;

/// What Vdbench hits below 16, 32, 64 … kB of a band, in percent; from there on each doubling adds 0.9 of what the last
/// one added, up to [`CURVE_STEPS`] doublings.
const CURVE_START: [f64; 11] = [
    0.0, 8.7, 10.1, 13.2, 16.0, 20.2, 26.3, 32.6, 36.7, 38.6, 43.7,
];
/// Bytes of the first point of the curve after 0.
const CURVE_UNIT: f64 = 16_000.0;
/// Percent that the first doubling after the start adds, and what part of it the next.
const CURVE_GROWTH: (f64, f64) = (4.57, 0.9);
/// Points of the curve, 0 included; one more at ten times the last has all.
const CURVE_STEPS: usize = 28;

/// How random addresses crowd, as a parameter file says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crowd {
    /// `hotband=` over all that is used.
    HotBand,
    /// `seekpct=(poisson,midpoint)`.
    Poisson(f64),
}

/// The words for where reads and writes fall within `length` bytes, for transfers of `block`; `None` stands for a direction
/// that is not used.
pub fn crowd_of(
    [reads, writes]: [Option<&Distribution>; 2],
    (length, block): (u64, u64),
) -> Option<Crowd> {
    let known = reads.or(writes)?;
    let is_band = |own: Option<&Distribution>, writes| {
        own.is_none_or(|own| *own == hot_band(length, block, writes))
    };
    if length >= BAND_LEAST && is_band(reads, false) && is_band(writes, true) {
        return Some(Crowd::HotBand);
    }
    let alike = writes.is_none_or(|writes| writes == known);
    let midpoint = midpoint_of(known, (length, block)).filter(|_| alike)?;
    Some(Crowd::Poisson(midpoint))
}

/// The midpoint with the fewest digits whose zones are these.
fn midpoint_of(distribution: &Distribution, (length, block): (u64, u64)) -> Option<f64> {
    let Distribution::ZonedAbsolute(zones) = distribution else {
        return None;
    };
    let (mut least, mut most) = MIDPOINTS;
    let (mut end, mut access) = (0, 0);
    let (_, inner) = zones.split_last()?;
    for zone in inner {
        end = zone.size.get().saturating_add(end);
        access += zone.access;
        // The share falls into the zone's last transfer. The larger the midpoint, the nearer it is to the start.
        let share = f64::from(access) / 100.0;
        least = least.max(midpoint_at(share, length, end as f64));
        most = most.min(midpoint_at(share, length, end.saturating_sub(block) as f64));
    }
    (0..=DIGITS_MAX).find_map(|digits| {
        let unit = 10_f64.powi(digits);
        let midpoint = (least * unit).ceil() / unit;
        (midpoint > 0.0 && midpoint <= most && poisson(length, block, midpoint) == *distribution)
            .then_some(midpoint)
    })
}

/// Midpoints that are looked for.
const MIDPOINTS: (f64, f64) = (1e-6, 1e15);
/// Digits behind the point of a midpoint that is looked for.
const DIGITS_MAX: i32 = 12;
/// Halvings of the logarithm of [`MIDPOINTS`], after which nothing is left between its bounds.
const HALVINGS: u32 = 80;

/// The midpoint with which a share of the I/Os falls below a byte.
fn midpoint_at(share: f64, length: u64, byte: f64) -> f64 {
    let (mut low, mut high) = (libm::log(MIDPOINTS.0), libm::log(MIDPOINTS.1));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if poisson_place(length, libm::exp(middle), share) > byte {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(high)
}

/// The distribution of a hot band of `length` bytes for transfers of `block`. Vdbench moves writes on by 1 % of the band.
pub(super) fn hot_band(length: u64, block: u64, writes: bool) -> Distribution {
    let folded = Folded::new(length as f64);
    let mut zones = zones(length, block, |share| folded.place(share));
    if writes {
        move_on(&mut zones, length / 100 / block.max(1) * block.max(1));
    }
    Distribution::ZonedAbsolute(zones)
}

/// Moves zones on by so many bytes. What comes round from their end has hardly any I/O, and gets none.
fn move_on(zones: &mut Vec<Zone<Bytes>>, bytes: u64) {
    if bytes == 0 {
        return;
    }
    let (mut left, mut access) = (bytes, 0);
    while let Some(last) = zones.last_mut() {
        last.access += std::mem::take(&mut access);
        if last.size.get() > left {
            last.size = Bytes::new(last.size.get() - left);
            break;
        }
        left -= last.size.get();
        access = last.access;
        zones.pop();
    }
    let size = Bytes::new(bytes);
    zones.insert(0, Zone { access, size });
}

/// The distribution of `seekpct=(poisson,midpoint)`.
pub(super) fn poisson(length: u64, block: u64, midpoint: f64) -> Distribution {
    let place = |share: f64| poisson_place(length, midpoint, share);
    Distribution::ZonedAbsolute(zones(length, block, place))
}

/// The byte below which a share of the I/Os of [`poisson`] falls.
fn poisson_place(length: u64, midpoint: f64, share: f64) -> f64 {
    let within = 1.0 - libm::exp(-midpoint);
    let mean = length as f64 / midpoint;
    -mean * libm::log(1.0 - share * within)
}

/// Zones of equal shares from `place`, which says below which byte a share of the I/Os falls. Zones end with the transfer
/// that this byte lies in; a share that ends within the one before counts there.
fn zones(length: u64, block: u64, place: impl Fn(f64) -> f64) -> Vec<Zone<Bytes>> {
    let block = block.max(1);
    let blocks = length / block;
    let mut zones: Vec<Zone<Bytes>> = Vec::new();
    let (mut start, mut access) = (0, 0);
    for number in 1..=ZONES {
        access += ZONE_PERCENT;
        let end = if number == ZONES {
            blocks
        } else {
            let share = f64::from(number * ZONE_PERCENT) / 100.0;
            ((place(share) / block as f64).ceil() as u64).min(blocks)
        };
        if end > start {
            let size = Bytes::new((end - start) * block);
            zones.push(Zone { access, size });
            (start, access) = (end, 0);
        } else if let Some(last) = zones.last_mut() {
            last.access += std::mem::take(&mut access);
        }
    }
    zones.shrink_to_fit();
    zones
}

/// The curve of hits, folded into a band: shares below each of its places.
struct Folded {
    /// Places in order with the share below each; even between them.
    points: Vec<(f64, f64)>,
}

impl Folded {
    fn new(length: f64) -> Self {
        // Each part of the curve is so many times round the band, and a rest that ends where it began plus its length.
        let mut even = 0.0;
        // Where the density changes, and by how much.
        let mut changes: Vec<(f64, f64)> = Vec::new();
        for (from, to, share) in curve() {
            let density = share / (to - from);
            let rounds = ((to - from) / length).floor();
            even += rounds * density;
            let rest = to - from - rounds * length;
            let begin = from % length;
            let end = (begin + rest).min(length);
            let past = begin + rest - end;
            changes.extend([(begin, density), (end, -density)]);
            if past > 0.0 {
                changes.extend([(0.0, density), (past, -density)]);
            }
        }
        changes.sort_by(|one, other| one.0.total_cmp(&other.0));
        changes.push((length, 0.0));
        let (mut at, mut below, mut density) = (0.0, 0.0, even);
        let mut points = vec![(0.0, 0.0)];
        for (place, change) in changes {
            if place > at {
                below += density * (place - at);
                points.push((place, below));
                at = place;
            }
            density += change;
        }
        Self { points }
    }

    /// The place below which this share of the I/Os falls.
    fn place(&self, share: f64) -> f64 {
        let index = self.points.partition_point(|(_, below)| *below < share);
        let (Some((to, above)), Some((from, below))) = (
            self.points.get(index),
            self.points.get(index.saturating_sub(1)),
        ) else {
            return self.points.last().map_or(0.0, |(place, _)| *place);
        };
        if above > below {
            from + (to - from) * (share - below) / (above - below)
        } else {
            *to
        }
    }
}

/// Parts of the curve: from which byte to which, with their share of the I/Os.
fn curve() -> Vec<(f64, f64, f64)> {
    let mut below: Vec<f64> = CURVE_START.to_vec();
    let mut growth = CURVE_GROWTH.0;
    while below.len() < CURVE_STEPS {
        let last = below[below.len() - 1];
        below.push(last + growth);
        growth *= CURVE_GROWTH.1;
    }
    let place = |number: usize| match number {
        0 => 0.0,
        number => CURVE_UNIT * (1u64 << (number - 1)) as f64,
    };
    let mut parts: Vec<(f64, f64, f64)> = (1..below.len())
        .map(|number| {
            let share = (below[number] - below[number - 1]) / 100.0;
            (place(number - 1), place(number), share)
        })
        .collect();
    let last = place(below.len() - 1);
    parts.push((last, 10.0 * last, 1.0 - below[below.len() - 1] / 100.0));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of the accesses that fall below `place`.
    fn below(distribution: &Distribution, place: u64) -> f64 {
        let Distribution::ZonedAbsolute(zones) = distribution else {
            panic!("{distribution:?}");
        };
        let (mut start, mut share) = (0, 0.0);
        for zone in zones {
            let size = zone.size.get();
            let part = place.saturating_sub(start).min(size) as f64 / size as f64;
            share += f64::from(zone.access) * part;
            start += size;
        }
        share / 100.0
    }

    #[track_caller]
    fn check(distribution: &Distribution, length: u64, place: u64, expected: f64) {
        distribution.check().unwrap();
        let Distribution::ZonedAbsolute(zones) = distribution else {
            panic!("{distribution:?}");
        };
        let all: u64 = zones.iter().map(|zone| zone.size.get()).sum();
        assert_eq!(all, length, "{distribution}");
        let found = below(distribution, place);
        assert!((found - expected).abs() < 0.015, "{found} of {expected}");
    }

    /// -ln(u) / 3 of the part, folded: half of it lies below 0.215 of the part.
    #[test]
    fn poisson_crowds_at_the_start() {
        let length = 1 << 30;
        let crowd = |midpoint| poisson(length, 4096, midpoint);
        check(&crowd(3.0), length, (0.2156 * length as f64) as u64, 0.5);
        check(&crowd(3.0), length, length / 3, 0.6653);
        check(&crowd(0.001), length, length / 2, 0.5);
        check(&crowd(100.0), length, length / 100, 0.632);
        // A midpoint past all bounds leaves one block with nearly everything.
        check(&crowd(1e12), length, 4096, 0.98);
    }

    #[test]
    fn crowds_are_called_by_their_words() {
        let of = |reads: &Distribution, writes: &Distribution, block| {
            crowd_of([Some(reads), Some(writes)], (1 << 30, block))
        };
        for midpoint in [3.0, 0.5, 12.25, 0.001, 100.0, 7.123_456] {
            let crowd = poisson(1 << 30, 4096, midpoint);
            let Some(Crowd::Poisson(found)) = of(&crowd, &crowd, 4096) else {
                panic!("no crowd of {midpoint}");
            };
            assert_eq!(poisson(1 << 30, 4096, found), crowd, "{midpoint}: {found}");
        }
        let three = poisson(1 << 30, 4096, 3.0);
        assert_eq!(of(&three, &three, 4096), Some(Crowd::Poisson(3.0)));
        let band = |writes| hot_band(1 << 30, 8192, writes);
        let (reads, writes) = (band(false), band(true));
        assert_eq!(of(&reads, &writes, 8192), Some(Crowd::HotBand));
        let only = crowd_of([None, Some(&writes)], (1 << 30, 8192));
        assert_eq!(only, Some(Crowd::HotBand));
        // Writes where reads should be, another transfer size, and no crowd at all.
        assert_eq!(of(&writes, &reads, 8192), None);
        assert_eq!(of(&reads, &writes, 4096), None);
        assert_eq!(of(&three, &Distribution::Uniform, 4096), None);
        // Zones that are larger than any storage.
        let huge = "zoned_abs:30/15EiB:30/15EiB:40/1GiB".parse().unwrap();
        assert_eq!(of(&huge, &huge, 4096), None);
        assert_eq!(
            of(&Distribution::Uniform, &Distribution::Uniform, 4096),
            None
        );
    }

    /// A share of 56 to 60 % falls below 64 to 128 MB whatever the band; what lies past the band comes round evenly.
    #[test]
    fn hot_bands_are_hit_at_their_start() {
        let length = 100 * 1024 * 1024 * 1024;
        let reads = hot_band(length, 4096, false);
        // 8.7 % of the curve lie below 16 kB, and nearly a quarter of all comes round.
        check(&reads, length, 16_384, 0.087);
        check(&reads, length, 64_000_000, 0.561);
        let writes = hot_band(length, 4096, true);
        check(&writes, length, length / 100, 0.003);
        check(&writes, length, length / 100 + 64_000_000, 0.561);
    }

    #[test]
    fn small_bands_have_zones_of_whole_transfers() {
        for (length, block) in [(BAND_LEAST - BAND_LEAST % 512, 512), (4 << 20, 1 << 20)] {
            for writes in [false, true] {
                check(&hot_band(length, block, writes), length, length, 1.0);
            }
        }
    }
}
