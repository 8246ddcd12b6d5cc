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
    pub columns: u32,
    /// Bytes that go to one disk before the next.
    pub unit: u64,
    /// Bytes of one group of disks.
    pub group_size: u64,
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

    #[inline]
    fn part_at(self, at: u64, end: u64) -> StripePart {
        let group = at / self.group_size;
        let within = at % self.group_size;
        let rest = (self.group_size - within).min(end - at);
        if self.columns == 1 {
            return StripePart {
                disk: group as u32,
                offset: within,
                length: rest,
            };
        }
        let unit_index = within / self.unit;
        let into = within % self.unit;
        let columns = u64::from(self.columns);
        StripePart {
            disk: (group * columns + unit_index % columns) as u32,
            offset: unit_index / columns * self.unit + into,
            length: (self.unit - into).min(rest),
        }
    }

    /// Bytes of the disk number `disk` that the first `used` bytes of the volume can touch, rounded up to whole units.
    pub fn used_of_disk(self, disk: u32, used: u64) -> u64 {
        let group = u64::from(disk / self.columns);
        let used = used
            .saturating_sub(group * self.group_size)
            .min(self.group_size);
        if self.columns == 1 {
            return used;
        }
        used.div_ceil(self.unit * u64::from(self.columns)) * self.unit
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
    fn ios_are_split_where_they_cross_a_unit() {
        let three = Stripe {
            columns: 3,
            unit: 64,
            group_size: 64 * 3 * 10,
        };
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
        let pairs = Stripe {
            columns: 2,
            unit: 64,
            group_size: 1280,
        };
        check(pairs, 1216, 128, &[(1, 576, 64), (2, 0, 64)]);
        let single = Stripe {
            columns: 1,
            unit: 64,
            group_size: 1000,
        };
        check(single, 900, 200, &[(0, 900, 100), (1, 0, 100)]);
        check(single, 0, 512, &[(0, 0, 512)]);
    }

    #[test]
    fn used_bytes_bound_every_part() {
        let stripe = Stripe {
            columns: 3,
            unit: 64,
            group_size: 64 * 30,
        };
        for used in (1..64 * 60).step_by(37) {
            for part in stripe.parts(0, used) {
                let bound = stripe.used_of_disk(part.disk, used);
                assert!(part.offset + part.length <= bound, "{part:?} of {used}");
            }
        }
    }
}
