//! NFS: how an I/O is split, and what bounds a client.
//!
//! A client sends no more than `rsize` or `wsize` bytes in one call; a larger I/O becomes several calls. A call takes a slot
//! of its session (4.1) and of its connection until it is answered, and its bytes of the connection's window; so a client
//! does at most `slots ÷ latency` calls a second, and at most `window × connections ÷ latency` bytes
//! (performance-linux-concurrency-session-slots.md, 2 August 2021).

/// The calls of an I/O: (offset, bytes) of each, in order, none larger than `most`.
pub(crate) fn calls(offset: u64, length: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    let most = most.max(1);
    let count = length.max(1).div_ceil(most);
    (0..count).map(move |index| {
        let start = index * most;
        (offset + start, most.min(length - start.min(length)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_cover_an_io_and_none_is_too_large() {
        #[track_caller]
        fn check(offset: u64, length: u64, most: u64, expected: &[(u64, u64)]) {
            let found: Vec<_> = calls(offset, length, most).collect();
            assert_eq!(found, expected, "{length} bytes by {most}");
        }
        check(100, 8192, 65536, &[(100, 8192)]);
        check(0, 65536, 65536, &[(0, 65536)]);
        check(10, 65537, 65536, &[(10, 65536), (65546, 1)]);
        check(0, 10, 4, &[(0, 4), (4, 4), (8, 2)]);
        check(0, 0, 4, &[(0, 0)]);
    }
}
