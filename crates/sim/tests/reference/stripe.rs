//! Where a byte of a volume lies on its disks.

/// Geometry of one volume.
#[derive(Debug, Clone, Copy)]
pub struct Stripe {
    pub columns: u64,
    pub unit: u64,
    pub disk_bytes: u64,
}

/// A piece of an I/O on one disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Index of the disk within the volume.
    pub disk: usize,
    /// Offset on the disk.
    pub offset: u64,
    pub length: u64,
}

impl Stripe {
    /// The pieces of a range, in order: it is cut at every stripe unit, or without stripes where a disk ends.
    pub fn pieces(&self, offset: u64, length: u64) -> Vec<Piece> {
        let cut = if self.columns == 1 {
            self.disk_bytes
        } else {
            self.unit
        };
        let mut pieces = Vec::new();
        let mut at = offset;
        while at < offset + length {
            let end = ((at / cut + 1) * cut).min(offset + length);
            let (disk, on_disk) = self.locate(at);
            pieces.push(Piece {
                disk,
                offset: on_disk,
                length: end - at,
            });
            at = end;
        }
        pieces
    }

    /// Disks stand in groups of as many as there are columns. A group is filled row by row, a row being one unit on each
    /// of its disks, before the next group begins.
    fn locate(&self, at: u64) -> (usize, u64) {
        if self.columns == 1 {
            return ((at / self.disk_bytes) as usize, at % self.disk_bytes);
        }
        let rows = self.disk_bytes / self.unit;
        let number = at / self.unit;
        let (group, in_group) = (
            number / (rows * self.columns),
            number % (rows * self.columns),
        );
        let (row, column) = (in_group / self.columns, in_group % self.columns);
        let disk = group * self.columns + column;
        (disk as usize, row * self.unit + at % self.unit)
    }
}

#[test]
fn pieces_lie_where_the_definition_says() {
    let stripe = Stripe {
        columns: 2,
        unit: 64,
        disk_bytes: 650,
    };
    let piece = |disk, offset, length| Piece {
        disk,
        offset,
        length,
    };
    assert_eq!(stripe.pieces(100, 60), [piece(1, 36, 28), piece(0, 64, 32)]);
    // Ten whole rows of 128 bytes make a group of two disks.
    assert_eq!(
        stripe.pieces(1216, 128),
        [piece(1, 576, 64), piece(2, 0, 64)]
    );
}
