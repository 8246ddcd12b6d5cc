//! What `--memcpytest` prints: the speed of copying memory, by the way it is done and by how much is copied at a time.

use fathom_units::{Bytes, Nanos};

use super::self_tests::{Asked, speed};

/// A way to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    /// The system's, between memory that does not overlap.
    Memcpy,
    /// The system's, between memory that may.
    Memmove,
    /// A loop over single bytes, as the compiler makes it.
    Simple,
    /// The system's below 64 bytes, the loop from there on.
    Hybrid,
}

/// Bytes that are copied at a time, in fio's order.
pub const COPY_SIZES: [usize; 11] = [
    8, 16, 96, 128, 256, 512, 2_048, 8_192, 131_072, 262_144, 524_288,
];

/// Where [`CopyKind::Hybrid`] changes over.
const HYBRID_LOOPS_FROM: usize = 64;

impl CopyKind {
    /// All, in fio's order.
    const ALL: [Self; 4] = [Self::Memcpy, Self::Memmove, Self::Simple, Self::Hybrid];

    /// fio's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memcpy => "memcpy",
            Self::Memmove => "memmove",
            Self::Simple => "simple",
            Self::Hybrid => "hybrid",
        }
    }

    /// The way that copies `size` bytes at a time.
    #[must_use]
    pub const fn at(self, size: usize) -> Self {
        match self {
            Self::Hybrid if size >= HYBRID_LOOPS_FROM => Self::Simple,
            Self::Hybrid => Self::Memcpy,
            other => other,
        }
    }
}

/// Reads the value of `--memcpytest`.
pub(super) fn asked(value: Option<&str>) -> Asked<CopyKind> {
    let names: Vec<_> = match value {
        None => return Asked::Measure(CopyKind::ALL.to_vec(), Vec::new()),
        Some("help" | "list") => return Asked::List,
        Some(names) => names.split(',').collect(),
    };
    let is_known = |name: &str| CopyKind::ALL.iter().any(|kind| kind.name() == name);
    let kinds = CopyKind::ALL.into_iter();
    let others = names.iter().filter(|name| !is_known(name));
    Asked::Measure(
        kinds.filter(|kind| names.contains(&kind.name())).collect(),
        others
            .map(|name| format!("`--memcpytest` knows no `{name}`"))
            .collect(),
    )
}

/// What `--memcpytest=help` prints.
pub fn copy_names() -> String {
    let kinds = CopyKind::ALL.iter();
    kinds.flat_map(|kind| [kind.name(), "\n"]).collect()
}

/// A line of `--memcpytest`: so much was copied in that time, `size` bytes at a time.
pub fn copy_speed(size: usize, copied: Bytes, time: Nanos) -> String {
    format!("\t{size} bytes:{}\n", speed("\t", copied, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_in_fios_order() {
        #[track_caller]
        fn check(value: Option<&str>, measured: &[CopyKind], others: usize) {
            let Asked::Measure(kinds, unknown) = asked(value) else {
                panic!("{value:?} lists");
            };
            assert_eq!((kinds.as_slice(), unknown.len()), (measured, others));
        }
        check(None, &CopyKind::ALL, 0);
        check(
            Some("simple,memcpy"),
            &[CopyKind::Memcpy, CopyKind::Simple],
            0,
        );
        check(Some("nix,hybrid"), &[CopyKind::Hybrid], 1);
        check(Some(""), &[], 1);
        assert_eq!(asked(Some("list")), Asked::List);
        assert_eq!(copy_names(), "memcpy\nmemmove\nsimple\nhybrid\n");
    }

    #[test]
    fn lines_are_fios() {
        let line = |size, micros| copy_speed(size, Bytes::gib(2), Nanos::from_micros(micros));
        assert_eq!(line(8, 2_322_842), "\t8 bytes:\t  881.68 MiB/sec\n");
        assert_eq!(line(524_288, 0), "\t524288 bytes:inf MiB/sec\n");
        assert_eq!(CopyKind::Hybrid.at(16), CopyKind::Memcpy);
        assert_eq!(CopyKind::Hybrid.at(96), CopyKind::Simple);
    }
}
