//! A hint to the processor that memory is about to be read.

/// Lets the processor fetch the first cache line of `value` while it goes on; does nothing where it has no such hint.
///
/// Between two batches of I/O the kernel, and other programs, take the caches. What a batch is about to look at one after
/// another, each look deciding what comes next, is then fetched at once.
#[inline]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which changes nothing that a program can see; the address is
    // that of a valid reference.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
