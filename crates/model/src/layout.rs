//! Where a workload's files lie on a design's volumes.
//!
//! Files lie one after another in the order they are first mentioned, as on a fresh file system, so that offsets differ
//! from file to file and not every file starts on the first column of a stripe.

use std::collections::BTreeMap;

use fathom_units::Bytes;

use crate::design::{Design, VolumeId};
use crate::request::FileId;

/// Files start at multiples of this, as on file systems with 4 KiB blocks.
const ALIGNMENT: u64 = 4096;

/// Files placed on volumes.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    files: Vec<PlacedFile>,
    /// Index of each file by volume and name: workloads may have 100,000 files.
    by_name: BTreeMap<(VolumeId, String), usize>,
    used: Vec<Bytes>,
}

#[derive(Debug, Clone)]
struct PlacedFile {
    volume: VolumeId,
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
            by_name: BTreeMap::new(),
            used: vec![Bytes::ZERO; design.volume_count()],
        };
        for (volume, name, length) in files {
            let next = layout.files.len();
            let index = *layout.by_name.entry((volume, name)).or_insert(next);
            if index == next {
                let start = Bytes::ZERO;
                layout.files.push(PlacedFile {
                    volume,
                    start,
                    length,
                });
            } else {
                let file = &mut layout.files[index];
                file.length = file.length.max(length);
            }
        }
        for file in &mut layout.files {
            let used = &mut layout.used[file.volume.index()];
            let start = used.get().div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT);
            file.start = Bytes::new(start);
            // The last file need not fill its last block: a file as large as its device fits.
            *used = Bytes::new(start.saturating_add(file.length.get()));
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
        let index = *self.by_name.get(&(volume, name.to_owned()))?;
        Some(self.files[index].start)
    }

    /// The number of a file; `None` if it was never placed.
    pub fn file_id(&self, volume: VolumeId, name: &str) -> Option<FileId> {
        let index = self.by_name.get(&(volume, name.to_owned()))?;
        Some(FileId::new(*index))
    }

    /// The volume of each file, by the file's number.
    pub(crate) fn volumes(&self) -> impl Iterator<Item = VolumeId> {
        self.files.iter().map(|file| file.volume)
    }

    /// How many files there are.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Bytes of a volume that files take.
    pub fn used(&self, volume: VolumeId) -> Bytes {
        self.used.get(volume.index()).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_catalog::Catalog;

    #[test]
    fn files_lie_one_after_another_and_a_name_is_one_file() {
        let text = "[[device]]\nname = \"a\"\nmount = \"/a\"\nsize = \"1MiB\"\n\
                    [[device]]\nname = \"b\"\nmount = \"/b\"\nsize = \"1MiB\"\n";
        let (design, _) = Design::read(text, "d", Catalog::builtin()).unwrap();
        let (a, b) = (VolumeId::new(0), VolumeId::new(1));
        let file = |volume, name: &str, kib| (volume, name.to_owned(), Bytes::kib(kib));
        let files = [
            file(a, "x", 2),
            file(b, "x", 8),
            file(a, "y", 8),
            file(a, "x", 10),
        ];
        let layout = Layout::new(&design, files).unwrap();
        assert_eq!(layout.start_of(a, "x"), Some(Bytes::ZERO));
        assert_eq!(layout.start_of(a, "y"), Some(Bytes::kib(12)));
        assert_eq!(layout.start_of(b, "x"), Some(Bytes::ZERO));
        assert_eq!(layout.start_of(b, "y"), None);
        let index = |volume, name| layout.file_id(volume, name).and_then(FileId::index);
        assert_eq!(index(a, "x"), Some(0));
        assert_eq!(index(b, "x"), Some(1));
        assert_eq!(index(a, "y"), Some(2));
        assert_eq!((index(b, "y"), layout.file_count()), (None, 3));
        assert_eq!(layout.used(a), Bytes::kib(20));
        let files = [file(a, "x", 1000), file(b, "z", 1025), file(a, "y", 25)];
        let overfull = Layout::new(&design, files).unwrap_err();
        let found: Vec<_> = overfull
            .iter()
            .map(|one| (one.volume, one.needed))
            .collect();
        assert_eq!(found, [(a, Bytes::kib(1025)), (b, Bytes::kib(1025))]);
        let odd = [
            file(a, "x", 1024),
            (b, "y".to_owned(), Bytes::new(1_048_575)),
        ];
        assert!(Layout::new(&design, odd).is_ok());
    }
}
