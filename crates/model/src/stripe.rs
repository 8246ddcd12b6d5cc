//! Stripes: where a byte of a volume lies on its disks.
//!
//! A volume of several disks is striped in the guest. With `columns` equal to the number of disks, one stripe unit after
//! another goes to the next disk. With fewer columns, disks form groups of `columns`, filled one after another: so a
//! small file meets the limits of one group alone, which is the cost that guides warn of.
//!
//! Invariant: the parts of an I/O cover it exactly, in order, and none crosses a stripe unit (where there are stripes).

/// Geometry of one volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stripe {
    /// Disks that stripe units alternate over.
    columns: Divisor,
    /// Bytes that go to one disk before the next.
    unit: Divisor,
    /// Bytes of one group of disks.
    group_size: u64,
}

/// Division by a number that stays the same, as a multiplication by its reciprocal (Granlund, Montgomery: "Division by
/// invariant integers using multiplication", PLDI 1994): a division costs more than the rest of splitting an I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Divisor {
    value: u64,
    /// 2^64 / value, rounded up.
    reciprocal: u64,
    /// Below this the product's high half is the quotient: rounding adds less than value / 2^64 each.
    exact_below: u64,
}

impl Divisor {
    /// `value` must not be zero.
    const fn new(value: u64) -> Self {
        let one = value == 1;
        Self {
            value,
            reciprocal: if one { 0 } else { u64::MAX / value + 1 },
            exact_below: if one { 0 } else { u64::MAX / value },
        }
    }

    /// Quotient and remainder.
    #[inline]
    const fn divide(self, number: u64) -> (u64, u64) {
        if number < self.exact_below {
            let quotient = ((number as u128 * self.reciprocal as u128) >> 64) as u64;
            (quotient, number - quotient * self.value)
        } else {
            (number / self.value, number % self.value)
        }
    }
}

/// The part of an I/O that goes to one disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StripePart {
    /// Index of the disk within the volume.
    pub disk: u32,
    /// Offset on the disk.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Stripe {
    /// `columns` disks that units of `unit` bytes alternate over, in groups of `group_size` bytes. None may be zero.
    pub const fn new(columns: u32, unit: u64, group_size: u64) -> Self {
        Self {
            columns: Divisor::new(columns as u64),
            unit: Divisor::new(unit),
            group_size,
        }
    }

    /// The parts of `length` bytes at `offset`, in order.
    #[inline]
    pub fn parts(self, offset: u64, length: u64) -> impl Iterator<Item = StripePart> {
        let end = offset + length;
        let mut at = offset;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let part = self.part_at(at, end);
            at += part.length;
            Some(part)
        })
    }

    /// The first of these parts, where there are bytes.
    #[inline]
    pub fn first_part(&self, offset: u64, length: u64) -> StripePart {
        self.part_at(offset, offset + length)
    }

    #[inline]
    fn part_at(self, at: u64, end: u64) -> StripePart {
        let (group, within) = if at < self.group_size {
            (0, at)
        } else {
            (at / self.group_size, at % self.group_size)
        };
        let rest = (self.group_size - within).min(end - at);
        if self.columns.value == 1 {
            return StripePart {
                disk: group as u32,
                offset: within,
                length: rest,
            };
        }
        let (unit_index, into) = self.unit.divide(within);
        let (row, column) = self.columns.divide(unit_index);
        StripePart {
            disk: (group * self.columns.value + column) as u32,
            offset: row * self.unit.value + into,
            length: (self.unit.value - into).min(rest),
        }
    }

    /// The ranges (offset, length) of the volume that a range of one of its disks is, in order.
    pub fn volume_ranges(self, disk: u32, offset: u64, length: u64) -> Vec<(u64, u64)> {
        let columns = self.columns.value;
        let (group, column) = (u64::from(disk) / columns, u64::from(disk) % columns);
        let start = group * self.group_size;
        if columns == 1 {
            return vec![(start + offset, length)];
        }
        let unit = self.unit.value;
        let (mut at, end) = (offset, offset + length);
        let mut ranges = Vec::new();
        while at < end {
            let (row, into) = (at / unit, at % unit);
            let part = (unit - into).min(end - at);
            ranges.push((start + (row * columns + column) * unit + into, part));
            at += part;
        }
        ranges
    }

    /// Bytes of the disk number `disk` that the first `used` bytes of the volume can touch, rounded up to whole units.
    pub fn used_of_disk(self, disk: u32, used: u64) -> u64 {
        let columns = self.columns.value;
        let group = u64::from(disk) / columns;
        let used = used
            .saturating_sub(group * self.group_size)
            .min(self.group_size);
        if columns == 1 {
            return used;
        }
        let unit = self.unit.value;
        used.div_ceil(unit * columns) * unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stripe: Stripe, offset: u64, length: u64, expected: &[(u32, u64, u64)]) {
        let parts: Vec<_> = stripe
            .parts(offset, length)
            .map(|part| (part.disk, part.offset, part.length))
            .collect();
        assert_eq!(parts, expected, "{length} bytes at {offset}");
    }

    #[test]
    fn reciprocals_divide_exactly() {
        let edges = [0, 1, 2, u64::MAX - 1, u64::MAX, 1 << 32, (1 << 32) - 1];
        for value in [1, 2, 3, 7, 10, 64, 65_536, 1_000_003, 1 << 40, u64::MAX] {
            let divisor = Divisor::new(value);
            let near = [value, divisor.exact_below].map(|edge| {
                let around = (0..3).map(move |step| edge.saturating_add(step).wrapping_sub(1));
                around.collect::<Vec<_>>()
            });
            let random = (0..2_000).map(crate::random::mix);
            let random = random.flat_map(|number| [number, number >> 20, number >> 40]);
            for number in edges.into_iter().chain(near.concat()).chain(random) {
                let expected = (number / value, number % value);
                assert_eq!(divisor.divide(number), expected, "{number} / {value}");
            }
        }
    }

    #[test]
    fn ios_are_split_where_they_cross_a_unit() {
        let three = Stripe::new(3, 64, 64 * 3 * 10);
        check(three, 0, 64, &[(0, 0, 64)]);
        check(three, 64, 64, &[(1, 0, 64)]);
        check(three, 32, 64, &[(0, 32, 32), (1, 0, 32)]);
        check(three, 192, 8, &[(0, 64, 8)]);
        check(
            three,
            100,
            200,
            &[(1, 36, 28), (2, 0, 64), (0, 64, 64), (1, 64, 44)],
        );
    }

    #[test]
    fn fewer_columns_than_disks_fill_groups_in_turn() {
        let pairs = Stripe::new(2, 64, 1280);
        check(pairs, 1216, 128, &[(1, 576, 64), (2, 0, 64)]);
        let single = Stripe::new(1, 64, 1000);
        check(single, 900, 200, &[(0, 900, 100), (1, 0, 100)]);
        check(single, 0, 512, &[(0, 0, 512)]);
    }

    #[test]
    fn what_lies_on_a_disk_is_found_again_on_the_volume() {
        for (columns, disks) in [(1, 1), (1, 3), (3, 3), (2, 6)] {
            let group = 64 * 40 * columns;
            let stripe = Stripe::new(columns as u32, 64, group);
            for offset in (0..group * disks / columns - 500).step_by(97) {
                for part in stripe.parts(offset, 333) {
                    let ranges = stripe.volume_ranges(part.disk, part.offset, part.length);
                    let back = ranges
                        .iter()
                        .flat_map(|(at, length)| stripe.parts(*at, *length));
                    assert_eq!(back.collect::<Vec<_>>(), [part], "{columns} of {disks}");
                }
            }
        }
        let three = Stripe::new(3, 64, 64 * 30);
        let found = three.volume_ranges(1, 100, 100);
        assert_eq!(found, [(64 * 4 + 36, 28), (64 * 7, 64), (64 * 10, 8)]);
    }

    #[test]
    fn used_bytes_bound_every_part() {
        let stripe = Stripe::new(3, 64, 64 * 30);
        for used in (1..64 * 60).step_by(37) {
            for part in stripe.parts(0, used) {
                let bound = stripe.used_of_disk(part.disk, used);
                assert!(part.offset + part.length <= bound, "{part:?} of {used}");
            }
        }
    }

    /// Groups are filled in turn: a later one has what those before it leave.
    #[test]
    fn disks_of_a_later_group_are_used_after_those_before_it() {
        let (columns, group) = (2, 64 * 10);
        let stripe = Stripe::new(columns, 64, group);
        let used = |used| [0, 1, 2, 3].map(|disk| stripe.used_of_disk(disk, used));
        assert_eq!(used(group / 2), [192, 192, 0, 0]);
        assert_eq!(used(group), [320, 320, 0, 0]);
        assert_eq!(used(group + 64), [320, 320, 64, 64]);
        assert_eq!(used(group * 2), [320; 4]);
    }
}
