//! Tests of buffers that compress and repeat: with a real compressor, and by counting equal blocks.

use std::collections::BTreeSet;

use fathom_units::Bytes;

use super::stream_tests::{EACH_ONCE, KEY, job};
use super::{BufferFill, Io, StreamKey};
use crate::{Dedupe, DedupeFrom, Direction, Filling, Pattern};

fn fills(filling: Filling, key: StreamKey) -> BufferFill {
    let mut job = job(EACH_ONCE, 4096);
    job.targets[0].length = Some(Bytes::mib(4));
    job.features.filling = Some(Box::new(filling));
    BufferFill::for_job(&job, key)
}

/// The contents of `count` writes of 4 KiB.
fn written(filling: Filling, count: u64, key: StreamKey) -> Vec<Vec<u8>> {
    let mut fill = fills(filling, key);
    let write = |index| {
        let mut buffer = vec![0x55; 4096];
        fill.prepare(&mut buffer);
        let io = Io {
            index,
            direction: Direction::Write,
            target: 0,
            offset: index * 4096,
            length: 4096,
        };
        fill.refill(&io, &mut buffer);
        buffer
    };
    (0..count).map(write).collect()
}

/// Share of the bytes that a compressor leaves, in percent.
fn compressed(blocks: &[Vec<u8>]) -> f64 {
    let all: Vec<u8> = blocks.concat();
    let small = miniz_oxide::deflate::compress_to_vec(&all, 6);
    small.len() as f64 * 100.0 / all.len() as f64
}

#[test]
fn buffers_compress_as_much_as_asked() {
    for (compress, chunk) in [
        (0, 512),
        (20, 512),
        (50, 512),
        (50, 4096),
        (80, 4096),
        (100, 512),
    ] {
        let filling = Filling {
            compress,
            chunk: Some(Bytes::new(chunk)),
            ..Filling::default()
        };
        let left = compressed(&written(filling, 200, KEY));
        let expected = 100.0 - f64::from(compress);
        assert!(
            (left - expected).abs() < 3.0,
            "{compress} % in pieces of {chunk}: {left} % are left"
        );
    }
}

#[test]
fn the_compressible_part_holds_the_pattern() {
    let pattern = Pattern::new(vec![0xab, 0xcd], Vec::new());
    let filling = Filling {
        pattern,
        compress: 50,
        chunk: Some(Bytes::new(512)),
        ..Filling::default()
    };
    let block = &written(filling, 1, KEY)[0];
    for piece in block.chunks(512) {
        assert!(piece[256..].chunks(2).all(|pair| pair == [0xab, 0xcd]));
        assert!(piece[..256].iter().collect::<BTreeSet<_>>().len() > 100);
    }
}

#[test]
fn a_pattern_alone_fills_the_buffer() {
    let pattern = Pattern::parse("\"abcd\"-120xdeadface", &|_| unreachable!()).unwrap();
    let bytes = pattern.bytes().to_vec();
    let filling = Filling {
        pattern: Some(pattern),
        ..Filling::default()
    };
    let block = &written(filling, 1, KEY)[0];
    assert!(block.chunks(12).all(|piece| *piece == bytes[..piece.len()]));
}

fn deduped(percent: u8, from: DedupeFrom) -> Filling {
    Filling {
        dedupe: Some(Dedupe { percent, from }),
        ..Filling::default()
    }
}

#[test]
fn as_many_blocks_repeat_the_last_as_asked() {
    for percent in [0, 25, 80, 100] {
        let blocks = written(deduped(percent, DedupeFrom::Last), 1000, KEY);
        let distinct: BTreeSet<_> = blocks.iter().collect();
        let expected = (1000 - 10 * u32::from(percent)).max(1);
        let off = (distinct.len() as f64 - f64::from(expected)).abs();
        assert!(off < 60.0, "{percent} %: {} distinct", distinct.len());
        // What repeats the last new block stands right behind it.
        let mut sorted = blocks.clone();
        let mut in_runs = blocks;
        in_runs.dedup();
        sorted.sort();
        sorted.dedup();
        assert_eq!(in_runs.len(), sorted.len());
    }
}

#[test]
fn a_working_set_is_shared_where_it_is_global() {
    // 2 % of 4 MiB are 20 blocks.
    let set = |global| deduped(50, DedupeFrom::WorkingSet { percent: 2, global });
    let other = StreamKey { worker: 9, ..KEY };
    for (global, common) in [(false, 0), (true, 20)] {
        let first: BTreeSet<_> = written(set(global), 1000, KEY).into_iter().collect();
        let second: BTreeSet<_> = written(set(global), 1000, other).into_iter().collect();
        // About 500 new blocks, and the set.
        assert!(first.len().abs_diff(520) < 60, "{}", first.len());
        assert_eq!(
            first.intersection(&second).count(),
            common,
            "global: {global}"
        );
    }
}

#[test]
fn duplicates_compress_like_their_original() {
    let filling = Filling {
        compress: 50,
        chunk: Some(Bytes::new(512)),
        ..deduped(50, DedupeFrom::Last)
    };
    let blocks = written(filling.clone(), 100, KEY);
    assert_eq!(
        written(filling, 100, KEY),
        blocks,
        "equal keys write the same"
    );
    for block in blocks {
        assert!(
            block
                .chunks(512)
                .all(|piece| piece[256..].iter().all(|byte| *byte == 0))
        );
    }
}

#[test]
fn a_pattern_may_begin_anywhere() {
    // Blocks of 512 bytes that tell their number in the pattern.
    let bytes: Vec<u8> = (0..16u8).flat_map(|one| vec![one; 512]).collect();
    let filling = Filling {
        pattern: Pattern::new(bytes, Vec::new()),
        anywhere: true,
        ..Filling::default()
    };
    let blocks = written(filling, 400, KEY);
    let firsts: BTreeSet<u8> = blocks.iter().map(|block| block[0]).collect();
    assert_eq!(firsts.len(), 16);
    for block in &blocks {
        for (index, piece) in block.chunks(512).enumerate() {
            let expected = (block[0] + index as u8) % 16;
            assert!(piece.iter().all(|byte| *byte == expected));
        }
    }
}
