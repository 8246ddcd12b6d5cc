//! Where a workload's files lie on a design's volumes.
//!
//! Files lie one after another in the order they are first mentioned, as on a fresh file system, so that offsets differ
//! from file to file and not every file starts on the first column of a stripe.

use fathom_units::Bytes;

use crate::design::{Design, VolumeId};

/// Files start at multiples of this, as on file systems with 4 KiB blocks.
const ALIGNMENT: u64 = 4096;

/// Files placed on volumes.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    files: Vec<PlacedFile>,
    used: Vec<Bytes>,
}

#[derive(Debug, Clone)]
struct PlacedFile {
    volume: VolumeId,
    name: String,
    start: Bytes,
    length: Bytes,
}

/// A volume that its files do not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverfullVolume {
    /// The volume.
    pub volume: VolumeId,
    /// Bytes of the files on it.
    pub needed: Bytes,
    /// Bytes it has.
    pub capacity: Bytes,
}

impl Layout {
    /// Places every file of `files` (volume, name, length): a file named twice is one file of the larger length.
    ///
    /// # Errors
    ///
    /// Every volume that is too small.
    pub fn new(
        design: &Design,
        files: impl IntoIterator<Item = (VolumeId, String, Bytes)>,
    ) -> Result<Self, Vec<OverfullVolume>> {
        let mut layout = Self {
            files: Vec::new(),
            used: vec![Bytes::ZERO; design.volume_count()],
        };
        for (volume, name, length) in files {
            let same = |file: &&mut PlacedFile| file.volume == volume && file.name == name;
            if let Some(file) = layout.files.iter_mut().find(same) {
                file.length = file.length.max(length);
            } else {
                layout.files.push(PlacedFile {
                    volume,
                    name,
                    start: Bytes::ZERO,
                    length,
                });
            }
        }
        for file in &mut layout.files {
            let used = &mut layout.used[file.volume.index()];
            file.start = *used;
            let length = file
                .length
                .get()
                .div_ceil(ALIGNMENT)
                .saturating_mul(ALIGNMENT);
            *used = Bytes::new(used.get().saturating_add(length));
        }
        let overfull = layout
            .used
            .iter()
            .enumerate()
            .filter_map(|(index, needed)| {
                let volume = VolumeId::new(index);
                let capacity = design.capacity(volume);
                (*needed > capacity).then_some(OverfullVolume {
                    volume,
                    needed: *needed,
                    capacity,
                })
            });
        let overfull: Vec<_> = overfull.collect();
        if overfull.is_empty() {
            Ok(layout)
        } else {
            Err(overfull)
        }
    }

    /// Where a file starts on its volume; `None` if it was never placed.
    pub fn start_of(&self, volume: VolumeId, name: &str) -> Option<Bytes> {
        let same = |file: &&PlacedFile| file.volume == volume && file.name == name;
        self.files.iter().find(same).map(|file| file.start)
    }

    /// Bytes of a volume that files take.
    pub fn used(&self, volume: VolumeId) -> Bytes {
        self.used.get(volume.index()).copied().unwrap_or_default()
    }
}
