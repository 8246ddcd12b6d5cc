//! A file set: a tree of directories of equal depth and width, with files of given sizes in it.
//!
//! Names and their order are those of Vdbench 5.04.07: directories `vdbLEVEL_NUMBER.dir` with levels and numbers from 1,
//! files `vdb_fNUMBER.file` with at least four digits, numbered from 0 over the whole tree, directory after directory.
//! Directories are numbered level by level, so that each comes after its parent. Nothing is kept for a directory or a
//! file: names, places and sizes follow from numbers.
//!
//! The size of a file depends on its number alone, so that a tree made by one run is that of the next. Which file of a
//! weighted list has which size is Fathom's own draw, as is the choice of a part of the files.
//!
//! ```
//! use fathom_units::Bytes;
//! use fathom_workload::{FileSet, FileSizes};
//! let set = FileSet {
//!     depth: 2,
//!     width: 3,
//!     files: 5,
//!     sizes: FileSizes::uniform(Bytes::kib(64)),
//!     ..FileSet::at("/mnt/tree")
//! };
//! assert_eq!((set.directory_count(), set.file_count()), (12, 45));
//! assert_eq!(set.file_name(5), "vdb1_1.dir/vdb2_2.dir/vdb_f0005.file");
//! assert_eq!(set.bytes(), Bytes::kib(64) * 45);
//! ```

use std::ops::Range;

use fathom_units::Bytes;

use crate::WeightedSize;
use crate::generator::{below, mix};

/// Most directories of a set, and most files.
pub const SET_MAX: u64 = 10_000_000;
/// Most levels of directories.
pub const SET_DEPTH_MAX: u32 = 32;

/// Sets the draws of sizes apart from any other of the same numbers.
const SIZE_KEY: u64 = 0x6669_6c65_2d73_6574;

/// A tree of directories and files below a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileSet {
    /// The directory that the tree stands in. It belongs to the set alone.
    pub anchor: String,
    /// Levels of directories; at least 1.
    pub depth: u32,
    /// Directories in each directory above the last level; at least 1.
    pub width: u32,
    /// Files in each directory that has files; at least 1.
    pub files: u32,
    /// Which directories have files.
    pub spread: FileSpread,
    /// Sizes of the files.
    pub sizes: FileSizes,
    /// Use only so many of the files as have this size together, chosen at random.
    pub total: Option<Bytes>,
    /// Of the files in use, work only on so many as have this size together, chosen at random. Formatting heeds it not.
    pub working_set: Option<Bytes>,
}

/// Which directories of a set have files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum FileSpread {
    /// Those of the last level.
    #[default]
    Leaves,
    /// All.
    EveryDirectory,
}

/// Sizes of a set's files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileSizes {
    /// Sizes with their weights.
    Weighted(Vec<WeightedSize>),
    /// From half to one and a half times this size, evenly, rounded to 1 KiB; from 100 KiB on to 10 KiB, from 1 MiB on to
    /// 100 KiB, from 10 MiB on to 1 MiB (as Vdbench rounds).
    Around(Bytes),
}

impl FileSizes {
    /// One size for all.
    pub fn uniform(size: Bytes) -> Self {
        Self::Weighted(vec![WeightedSize { size, weight: 1 }])
    }

    /// The largest size that a file may have.
    pub fn largest(&self) -> Bytes {
        match self {
            Self::Weighted(sizes) => {
                let used = sizes.iter().filter(|entry| entry.weight > 0);
                used.map(|entry| entry.size).max().unwrap_or_default()
            }
            Self::Around(mean) => rounded(mean.get().saturating_add(mean.get() / 2)),
        }
    }

    /// Whether every size is a multiple of `unit`.
    pub fn are_multiples_of(&self, unit: Bytes) -> bool {
        match self {
            Self::Weighted(sizes) => {
                let mut used = sizes.iter().filter(|entry| entry.weight > 0);
                used.all(|entry| entry.size.get().is_multiple_of(unit.get()))
            }
            // Rounded to whole KiB.
            Self::Around(_) => 1024 % unit.get() == 0,
        }
    }

    fn of(&self, number: u32) -> Bytes {
        let draw = mix(SIZE_KEY ^ u64::from(number));
        match self {
            Self::Weighted(sizes) => {
                let [only] = sizes.as_slice() else {
                    let total = sizes.iter().map(|entry| u64::from(entry.weight)).sum();
                    let mut left = below(draw, total);
                    for entry in sizes {
                        match left.checked_sub(u64::from(entry.weight)) {
                            Some(rest) => left = rest,
                            None => return entry.size,
                        }
                    }
                    return Bytes::ZERO;
                };
                only.size
            }
            Self::Around(mean) => rounded(mean.get() / 2 + below(draw, mean.get())),
        }
    }
}

/// To the unit of [`FileSizes::Around`]; never nothing.
fn rounded(size: u64) -> Bytes {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    let unit = match size {
        size if size >= 10 * MIB => MIB,
        size if size >= MIB => 100 * KIB,
        size if size >= 100 * KIB => 10 * KIB,
        _ => KIB,
    };
    let units = size.saturating_add(unit / 2) / unit;
    Bytes::new(units.max(1).saturating_mul(unit))
}

impl FileSet {
    /// The set of one directory with ten files of 4 KiB: what Vdbench has by default.
    pub fn at(anchor: impl Into<String>) -> Self {
        Self {
            anchor: anchor.into(),
            depth: 1,
            width: 1,
            files: 10,
            spread: FileSpread::default(),
            sizes: FileSizes::uniform(Bytes::kib(4)),
            total: None,
            working_set: None,
        }
    }

    /// Directories of the last level.
    fn leaf_count(&self) -> u64 {
        u64::from(self.width).saturating_pow(self.depth)
    }

    /// Directories above `level`, levels counted from 1.
    fn above(&self, level: u32) -> u64 {
        let levels = (1..level).map(|level| u64::from(self.width).saturating_pow(level));
        levels.fold(0, u64::saturating_add)
    }

    /// Directories of all levels; saturates, for sets past [`SET_MAX`].
    pub fn directory_count(&self) -> u64 {
        self.above(self.depth).saturating_add(self.leaf_count())
    }

    /// Files of the whole tree; saturates, for sets past [`SET_MAX`].
    pub fn file_count(&self) -> u64 {
        let holders = match self.spread {
            FileSpread::Leaves => self.leaf_count(),
            FileSpread::EveryDirectory => self.directory_count(),
        };
        holders.saturating_mul(u64::from(self.files))
    }

    /// The level of a directory, from 1, and its place among those of the level.
    fn place(&self, directory: u32) -> (u32, u64) {
        let (mut level, mut before) = (1, 0u64);
        let mut here = u64::from(self.width);
        while u64::from(directory) >= before + here && level < self.depth {
            before += here;
            here = here.saturating_mul(u64::from(self.width));
            level += 1;
        }
        (level, u64::from(directory) - before)
    }

    /// The directory that holds `directory`; `None` where the anchor does.
    pub fn parent(&self, directory: u32) -> Option<u32> {
        let (level, place) = self.place(directory);
        let above = level.checked_sub(1).filter(|level| *level > 0)?;
        Some((self.above(above) + place / u64::from(self.width)) as u32)
    }

    /// The directory of a file.
    pub fn directory_of(&self, file: u32) -> u32 {
        let holder = file / self.files.max(1);
        match self.spread {
            FileSpread::Leaves => self.above(self.depth) as u32 + holder,
            FileSpread::EveryDirectory => holder,
        }
    }

    /// The files of a directory.
    pub fn files_in(&self, directory: u32) -> Range<u32> {
        let first = match self.spread {
            FileSpread::Leaves => u64::from(directory).checked_sub(self.above(self.depth)),
            FileSpread::EveryDirectory => Some(u64::from(directory)),
        };
        let first = first.map(|first| first as u32 * self.files);
        first.map_or(0..0, |first| first..first + self.files)
    }

    /// The directories of a directory, or, for `None`, of the anchor.
    pub fn directories_in(&self, directory: Option<u32>) -> Range<u32> {
        let Some(directory) = directory else {
            return 0..self.width;
        };
        let (level, place) = self.place(directory);
        if level == self.depth {
            return 0..0;
        }
        let first = (self.above(level + 1) + place * u64::from(self.width)) as u32;
        first..first + self.width
    }

    /// Name of a directory within the one that holds it.
    pub fn directory_name(&self, directory: u32) -> String {
        let (level, place) = self.place(directory);
        format!("vdb{level}_{}.dir", place % u64::from(self.width) + 1)
    }

    /// Path of a directory from the anchor.
    pub fn directory_path(&self, directory: u32) -> String {
        let mut path = self.directory_name(directory);
        let mut next = self.parent(directory);
        while let Some(above) = next {
            path.insert(0, '/');
            path.insert_str(0, &self.directory_name(above));
            next = self.parent(above);
        }
        path
    }

    /// Path of a file from the anchor.
    pub fn file_name(&self, file: u32) -> String {
        let directory = self.directory_path(self.directory_of(file));
        format!("{directory}/{}", Self::name_of_file(file))
    }

    /// Name of a file within its directory.
    pub fn name_of_file(file: u32) -> String {
        format!("vdb_f{file:04}.file")
    }

    /// Bytes that a file has when it is complete.
    pub fn size(&self, file: u32) -> Bytes {
        self.sizes.of(file)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> Bytes {
        let count = self.file_count().min(SET_MAX);
        if let FileSizes::Weighted(sizes) = &self.sizes
            && let [only] = sizes.as_slice()
        {
            return Bytes::new(only.size.get().saturating_mul(count));
        }
        let sizes = (0..count as u32).map(|file| self.size(file).get());
        Bytes::new(sizes.fold(0, u64::saturating_add))
    }

    /// Numbers of the files in use, in order; `None`: all.
    pub fn used(&self) -> Option<Vec<u32>> {
        let all: Vec<u32> = (0..self.file_count().min(SET_MAX) as u32).collect();
        self.total.map(|total| self.part(all, total, 1))
    }

    /// Numbers of the files that are worked on, in order; `None`: all.
    pub fn worked_on(&self) -> Option<Vec<u32>> {
        let used = self.used();
        let Some(bytes) = self.working_set else {
            return used;
        };
        let all = || (0..self.file_count().min(SET_MAX) as u32).collect();
        Some(self.part(used.unwrap_or_else(all), bytes, 2))
    }

    /// Files out of `files`, drawn without repeats until they have `bytes`; in order.
    fn part(&self, mut files: Vec<u32>, bytes: Bytes, draw: u64) -> Vec<u32> {
        let mut sum = 0u64;
        let mut chosen = 0;
        while chosen < files.len() && sum < bytes.get() {
            let left = (files.len() - chosen) as u64;
            let number = mix(SIZE_KEY.wrapping_mul(2 * draw + 1) ^ chosen as u64);
            files.swap(chosen, chosen + below(number, left) as usize);
            sum = sum.saturating_add(self.size(files[chosen]).get());
            chosen += 1;
        }
        files.truncate(chosen);
        files.sort_unstable();
        files
    }
}

/// Whether a name is one of a directory of some set: `vdb2_17.dir`.
pub fn is_set_directory(name: &str) -> bool {
    let inner = name
        .strip_prefix("vdb")
        .and_then(|rest| rest.strip_suffix(".dir"));
    let parts = inner.and_then(|inner| inner.split_once('_'));
    parts.is_some_and(|(level, number)| is_number(level) && is_number(number))
}

/// Whether a name is one of a file of some set: `vdb_f0017.file`.
pub fn is_set_file(name: &str) -> bool {
    let inner = name
        .strip_prefix("vdb_f")
        .and_then(|rest| rest.strip_suffix(".file"));
    inner.is_some_and(|number| number.len() >= 4 && is_number(number))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_those_of_vdbench() {
        let set = FileSet {
            depth: 2,
            width: 2,
            files: 2,
            ..FileSet::at("/a")
        };
        let directories: Vec<_> = (0..6).map(|number| set.directory_path(number)).collect();
        assert_eq!(
            directories,
            [
                "vdb1_1.dir",
                "vdb1_2.dir",
                "vdb1_1.dir/vdb2_1.dir",
                "vdb1_1.dir/vdb2_2.dir",
                "vdb1_2.dir/vdb2_1.dir",
                "vdb1_2.dir/vdb2_2.dir",
            ]
        );
        assert_eq!(set.file_name(0), "vdb1_1.dir/vdb2_1.dir/vdb_f0000.file");
        assert_eq!(set.file_name(7), "vdb1_2.dir/vdb2_2.dir/vdb_f0007.file");
        let every = FileSet {
            spread: FileSpread::EveryDirectory,
            ..set
        };
        assert_eq!(every.file_count(), 12);
        assert_eq!(every.file_name(2), "vdb1_2.dir/vdb_f0002.file");
        assert_eq!(every.file_name(4), "vdb1_1.dir/vdb2_1.dir/vdb_f0004.file");
    }

    #[test]
    fn names_of_others_are_told_apart() {
        let directories = ["vdb1_1.dir", "vdb12_340.dir"];
        assert!(directories.into_iter().all(is_set_directory));
        let others = [
            "vdb_1.dir",
            "vdb1_.dir",
            "vdb1_1",
            "xvdb1_1.dir",
            "vdb1_1a.dir",
        ];
        assert!(!others.into_iter().any(is_set_directory));
        assert!(
            ["vdb_f0000.file", "vdb_f123456.file"]
                .into_iter()
                .all(is_set_file)
        );
        let others = [
            "vdb_f.file",
            "vdb_f001.file",
            "vdb_f0001.file.gz",
            "vdb_control.file",
        ];
        assert!(!others.into_iter().any(is_set_file));
    }

    #[test]
    fn sizes_follow_their_weights() {
        let weighted = |kib, weight| WeightedSize {
            size: Bytes::kib(kib),
            weight,
        };
        let sizes = FileSizes::Weighted(vec![weighted(4, 75), weighted(64, 25)]);
        let large = (0..100_000).filter(|file| sizes.of(*file) == Bytes::kib(64));
        // Standard deviation 137.
        assert!(large.count().abs_diff(25_000) < 700);
        let around = FileSizes::Around(Bytes::kib(100));
        let drawn: Vec<u64> = (0..10_000)
            .map(|file| around.of(file).get() / 1024)
            .collect();
        assert!(drawn.iter().all(|kib| (50..=150).contains(kib)));
        let mean = drawn.iter().sum::<u64>() as f64 / 10_000.0;
        assert!((mean - 100.0).abs() < 2.0, "{mean}");
        assert_eq!(around.largest(), Bytes::kib(150));
    }

    fn sets() -> impl Strategy<Value = FileSet> {
        let spread = prop_oneof![Just(FileSpread::Leaves), Just(FileSpread::EveryDirectory)];
        (1u32..4, 1u32..5, 1u32..6, spread, 1u64..40, any::<bool>()).prop_map(
            |(depth, width, files, spread, kib, around)| FileSet {
                depth,
                width,
                files,
                spread,
                sizes: if around {
                    FileSizes::Around(Bytes::kib(kib))
                } else {
                    FileSizes::uniform(Bytes::kib(kib))
                },
                ..FileSet::at("/a")
            },
        )
    }

    proptest! {
        #[test]
        fn numbers_places_and_names_agree(set in sets()) {
            let directories = set.directory_count() as u32;
            let mut below_any = 0;
            for number in 0..directories {
                let parent = set.parent(number);
                prop_assert!(parent.is_none_or(|parent| parent < number));
                prop_assert!(set.directories_in(parent).contains(&number));
                prop_assert!(set.files_in(number).all(|file| set.directory_of(file) == number));
                below_any += set.files_in(number).len() as u64;
                prop_assert!(is_set_directory(&set.directory_name(number)));
            }
            prop_assert_eq!(below_any, set.file_count());
            let names: std::collections::BTreeSet<String> =
                (0..set.file_count() as u32).map(|file| set.file_name(file)).collect();
            prop_assert_eq!(names.len() as u64, set.file_count());
            let sum = (0..set.file_count() as u32).map(|file| set.size(file).get()).sum::<u64>();
            prop_assert_eq!(sum, set.bytes().get());
        }

        #[test]
        fn a_part_has_the_bytes_asked_for_and_is_always_the_same(set in sets(), percent in 1u64..=100) {
            let wanted = Bytes::new((set.bytes().get() * percent / 100).max(1));
            let part = FileSet { total: Some(wanted), ..set.clone() };
            let used = part.used().unwrap_or_default();
            let bytes = |files: &[u32]| files.iter().map(|file| set.size(*file).get()).sum::<u64>();
            prop_assert!(bytes(&used) >= wanted.get());
            prop_assert!(bytes(&used) < wanted.get() + set.sizes.largest().get());
            prop_assert!(used.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(part.used(), Some(used.clone()));
            let half = FileSet { working_set: Some(Bytes::new(wanted.get().div_ceil(2))), ..part };
            let worked_on = half.worked_on().unwrap_or_default();
            prop_assert!(worked_on.iter().all(|file| used.contains(file)));
        }
    }
}
