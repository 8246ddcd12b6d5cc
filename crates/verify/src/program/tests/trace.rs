//! Traces that are read a second time, to check what they wrote.

use super::*;

/// A trace writes where it likes: what it wrote last to each place is read back.
#[test]
fn a_trace_is_read_a_second_time() {
    let job = Job {
        mix: half(),
        ..job()
    };
    let io = |index, direction, offset, length| Io {
        index,
        direction,
        target: 0,
        offset,
        length,
    };
    let ios = vec![
        io(0, Direction::Write, 0, 4096),
        io(1, Direction::Write, 8192, 8192),
        io(2, Direction::Read, 0, 4096),
        io(3, Direction::Write, 0, 4096),
        io(4, Direction::Write, 12288, 512),
        io(5, Direction::Write, 32768, 4096),
    ];
    let key = StreamKey::default();
    let walked = ios.clone();
    let walks = TraceWalks::new(move || Ok(Box::new(walked.clone().into_iter().map(Ok))));
    let program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
    let mut program = program.of_trace(walks);
    let mut disk = Disk::new(1);
    let mut left = ios.into_iter();
    let outcome = run_drawn(&mut program, (&job, &crc()), &mut disk, &mut |_| {
        left.next().map_or(Drawn::Over, Drawn::Io)
    });
    assert!(outcome.mismatches.is_empty(), "{:?}", outcome.mismatches);
    // Of the second write half was written again, so that it cannot be checked.
    assert_eq!(
        (outcome.writes, outcome.reads, outcome.settled),
        (5, 1 + 3, 1)
    );
}

/// What is read of a trace when it is read again.
type Second = Box<dyn Fn() -> Vec<std::io::Result<Io>> + Send + Sync>;

/// Nothing that was written stays unchecked without a word: a trace that cannot be read again, or that holds something else
/// by then, is a problem, and where later writes may be missing nothing of it is checked.
#[test]
fn a_trace_that_changed_before_its_check_is_a_problem() {
    let job = Job {
        mix: half(),
        ..job()
    };
    let write = |index: u64| Io {
        index,
        direction: Direction::Write,
        target: 0,
        offset: index * 4096,
        length: 4096,
    };
    let ios: Vec<Io> = (0..8).map(write).collect();
    let broken = || std::io::Error::other("line 9: it is no I/O");
    let part = |keep: usize| -> Second {
        let ios = ios.clone();
        Box::new(move || ios[..keep].iter().copied().map(Ok).collect())
    };
    let cases: [(Second, Result<u64, &str>); 5] = [
        (part(8), Ok(8)),
        (part(5), Err("it ends after 5 I/Os, where 8 were issued")),
        (part(0), Err("it ends after 0 I/Os, where 8 were issued")),
        (
            Box::new(move || vec![Ok(write(0)), Err(broken())]),
            Err("line 9: it is no I/O"),
        ),
        (
            Box::new(move || (0..8).map(|index| Ok(write(index / 2))).collect()),
            Err("its I/Os are not those that were issued"),
        ),
    ];
    let key = StreamKey::default();
    for (second, expected) in cases {
        let walks = TraceWalks::new(move || Ok(Box::new(second().into_iter())));
        let program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
        let mut program = program.of_trace(walks);
        let mut left = ios.clone().into_iter();
        let outcome = run_drawn(&mut program, (&job, &crc()), &mut Disk::new(1), &mut |_| {
            left.next().map_or(Drawn::Over, Drawn::Io)
        });
        assert!(outcome.mismatches.is_empty(), "{:?}", outcome.mismatches);
        let problem = program.take_problem().map(|problem| problem.to_string());
        assert_eq!(problem.as_deref(), expected.err());
        assert_eq!((outcome.writes, outcome.reads), (8, expected.unwrap_or(0)));
    }
    let walks = TraceWalks::new(|| Err(std::io::Error::other("it is gone")));
    let program = Program::new(&job, &crc(), (key, key), &[RANGE], None).unwrap();
    let mut program = program.of_trace(walks);
    let mut left = ios.into_iter();
    run_drawn(&mut program, (&job, &crc()), &mut Disk::new(1), &mut |_| {
        left.next().map_or(Drawn::Over, Drawn::Io)
    });
    assert_eq!(program.take_problem().unwrap().to_string(), "it is gone");
}
