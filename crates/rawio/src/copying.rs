//! Whether the kernel copies between the page cache and a registered buffer sooner than to or from an address.
//!
//! A copy to an address has to open and close the kernel's access to memory of programs; a copy to a registered buffer has
//! not, and the processor may begin with the next I/O while it goes on. But it is made page by page, by the kernel's `memcpy`
//! (`arch/x86/lib/memcpy_64.S` of Linux 6.18): one instruction where the processor is quick at short moves (FSRM), and a loop
//! elsewhere.

/// Largest blocks for which buffers are registered. With 64 in flight on a processor with FSRM (Zen 4, Linux 6.18) registered
/// buffers were 1.03 to 1.08 times as fast for blocks of 4 to 64 KiB (1.13 for those of 512 bytes), 1.01 at 128 KiB, 0.93 at
/// 256 KiB and 0.77 at 1 MiB: one copy of many pages is faster than many copies of one.
const LARGEST: u32 = 64 << 10;

/// Whether blocks of that many bytes are copied sooner between the page cache and registered buffers.
pub(crate) fn copies_sooner_if_registered(size: u32) -> bool {
    size <= LARGEST && has_fast_short_moves()
}

/// Whether the processor has "fast short `rep movsb`": bit 4 of EDX of leaf 7 (AMD64 Architecture Programmer's Manual,
/// volume 3, appendix E).
#[cfg(target_arch = "x86_64")]
fn has_fast_short_moves() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const LEAF: u32 = 7;
    const FSRM: u32 = 1 << 4;
    __cpuid(0).eax >= LEAF && __cpuid_count(LEAF, 0).edx & FSRM != 0
}

/// Of other processors it is not known.
#[cfg(not(target_arch = "x86_64"))]
fn has_fast_short_moves() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_blocks_are_registered_where_the_kernel_knows_of_fast_short_moves() {
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let known = processors.split_whitespace().any(|flag| flag == "fsrm");
        assert_eq!(copies_sooner_if_registered(4096), known);
        assert_eq!(copies_sooner_if_registered(LARGEST), known);
        assert!(!copies_sooner_if_registered(LARGEST + 1));
    }
}
