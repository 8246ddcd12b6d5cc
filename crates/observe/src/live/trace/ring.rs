//! Pages of the kernel's trace ring buffer, as `trace_pipe_raw` gives them.
//!
//! A page begins with its time, a word with the number of bytes that follow and two flags, and then events: a word with a
//! type or length (5 bits) and the time since the event before (27 bits), then the event's own bytes. Sources: the
//! `events/header_page` and `events/header_event` files of tracefs and the kernel's Documentation/trace/ring-buffer-design.
//!
//! Invariant: whatever the bytes, reading ends and stays within the page.

/// Bytes before a page's events where the kernel's word has 64 bits.
pub const HEADER: usize = 16;
/// Events before this page were lost.
const MISSED: u64 = 1 << 31;
/// How many were, stands behind the last event.
const MISSED_STORED: u64 = 1 << 30;
/// Type or length of an event: everything up to 28 is a length in words.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;
/// An absolute time has 59 bits; the page's time gives the others.
const STAMP_BITS: u32 = 59;

/// A page: its events one after another.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    events: &'a [u8],
    place: usize,
    time: u64,
    /// Events that were lost before it, at least 1 where it is not known how many.
    pub lost: u64,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

impl<'a> Page<'a> {
    /// A page as it was read; `None` for one without a header.
    pub fn new(page: &'a [u8]) -> Option<Self> {
        let (time, commit) = (long(page, 0)?, long(page, 8)?);
        let used = ((commit & (MISSED_STORED - 1)) as usize).min(page.len() - HEADER);
        let lost = match commit & MISSED {
            0 => 0,
            _ if commit & MISSED_STORED == 0 => 1,
            _ => long(page, HEADER + used).unwrap_or(1).max(1),
        };
        Some(Self {
            events: &page[HEADER..HEADER + used],
            place: 0,
            time,
            lost,
        })
    }
}

impl<'a> Iterator for Page<'a> {
    /// Time in nanoseconds of the trace's clock, and the event's bytes.
    type Item = (u64, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let head = word(self.events, self.place)?;
            let (kind, delta) = (head & 0x1f, u64::from(head >> 5));
            let body = self.place + 4;
            match kind {
                PADDING => {
                    let length = word(self.events, body)? as usize;
                    if delta == 0 {
                        return None;
                    }
                    self.place = body.checked_add(length.max(4))?;
                }
                TIME_EXTEND => {
                    self.time += delta + (u64::from(word(self.events, body)?) << DELTA_BITS);
                    self.place = body + 4;
                }
                TIME_STAMP => {
                    let low = delta | u64::from(word(self.events, body)?) << DELTA_BITS;
                    let high = self.time >> STAMP_BITS << STAMP_BITS;
                    self.time = high | (low & ((1 << STAMP_BITS) - 1));
                    self.place = body + 4;
                }
                0 => {
                    // The length, which counts its own word, stands before the event.
                    let length = word(self.events, body)? as usize;
                    self.time += delta;
                    let end = body.checked_add(length.max(4))?;
                    self.place = end.next_multiple_of(4);
                    return Some((self.time, self.events.get(body + 4..end)?));
                }
                words => {
                    self.time += delta;
                    self.place = body + words as usize * 4;
                    return Some((self.time, self.events.get(body..self.place)?));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(time: u64, commit: u64, words: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(time.to_ne_bytes());
        bytes.extend(commit.to_ne_bytes());
        for word in words {
            bytes.extend(word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn events_have_their_times() {
        let words = [
            100 << 5 | 2,
            7,
            8, // two words, 100 ns after the page's time
            5 << 5 | TIME_EXTEND,
            1, // 2^27 + 5 ns later
            1 << 5,
            8,
            9, // the length in front: one word
            9 << 5 | PADDING,
            8,
            0, // discarded
            3 << 5 | TIME_STAMP,
            16, // 16 × 2^27 + 3
            1,
            10,
            PADDING,
            0, // the rest is unused
            1 << 5 | 1,
            11,
        ];
        let bytes = page(1000, words.len() as u64 * 4, &words);
        let found: Vec<_> = Page::new(&bytes)
            .unwrap()
            .map(|(time, event)| (time, event[0]))
            .collect();
        let extended = 1100 + (1 << 27) + 5 + 1;
        assert_eq!(found, [(1100, 7), (extended, 9), ((16 << 27) + 3, 10)]);
    }

    #[test]
    fn losses_are_told() {
        let lost = |commit, words: &[u32]| Page::new(&page(0, commit, words)).unwrap().lost;
        assert_eq!(lost(8, &[1, 0]), 0);
        assert_eq!(lost(MISSED | 8, &[1, 0]), 1);
        assert_eq!(lost(MISSED | MISSED_STORED | 8, &[1, 0, 42, 0]), 42);
    }

    #[test]
    fn any_bytes_end() {
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..2000 {
            let words: Vec<u32> = (0..random() % 64)
                .map(|_| random() as u32 >> (random() % 32))
                .collect();
            let bytes = page(random() >> 8, random() % 300, &words);
            let count = Page::new(&bytes).map_or(0, Iterator::count);
            assert!(count <= words.len());
        }
        assert!(Page::new(&[0; 15]).is_none());
    }
}
