//! What fio's tests of the machine itself print: the speed of checksums (`--crctest`), the processors' counters
//! (`--cpuclock-test`).

use std::fmt::Write as _;

use fathom_units::{Bytes, Nanos};
use fathom_workload::Checksum;

/// The checksums that are measured, in fio's order.
const MEASURED: [Checksum; 14] = [
    Checksum::Md5,
    Checksum::Crc64,
    Checksum::Crc32,
    Checksum::Crc32c,
    Checksum::Crc16,
    Checksum::Crc7,
    Checksum::Sha1,
    Checksum::Sha256,
    Checksum::Sha512,
    Checksum::XxHash,
    Checksum::Sha3_224,
    Checksum::Sha3_256,
    Checksum::Sha3_384,
    Checksum::Sha3_512,
];

/// Those that fio measures besides.
const OF_FIO_ALONE: [&str; 3] = ["murmur3", "jhash", "fnv"];

/// What a test of things that have names is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked<T> {
    /// The names of all.
    List,
    /// To measure these, in fio's order whatever that of the names; what the other names are.
    Measure(Vec<T>, Vec<String>),
}

/// Reads the value of `--crctest`.
pub(super) fn asked(value: Option<&str>) -> Asked<Checksum> {
    let names = match value {
        None => return Asked::Measure(MEASURED.to_vec(), Vec::new()),
        Some("help" | "list") => return Asked::List,
        Some(names) => names,
    };
    let names: Vec<_> = names.split(',').collect();
    let measured = MEASURED
        .into_iter()
        .filter(|checksum| names.contains(&checksum.name()))
        .collect();
    let others = names.iter().filter_map(|name| {
        if MEASURED.iter().any(|checksum| checksum.name() == *name) {
            return None;
        }
        Some(if OF_FIO_ALONE.contains(name) {
            format!("`--crctest` leaves `{name}` out: nothing is verified by it")
        } else {
            format!("`--crctest` knows no `{name}`")
        })
    });
    Asked::Measure(measured, others.collect())
}

/// What `--crctest=help` prints.
pub fn checksum_names() -> String {
    MEASURED
        .iter()
        .flat_map(|checksum| [checksum.name(), "\n"])
        .collect()
}

/// A line of `--crctest`: so much was summed up in that time.
pub fn checksum_speed(checksum: Checksum, summed: Bytes, time: Nanos) -> String {
    let name = checksum.name();
    let blanks = if name.len() >= 7 { "\t" } else { "\t\t" };
    format!("{name}:{}\n", speed(blanks, summed, time))
}

/// So much in that time, after `blanks` where that is a number.
pub(super) fn speed(blanks: &str, done: Bytes, time: Nanos) -> String {
    let micros = time.get() / 1_000;
    if micros == 0 {
        return "inf MiB/sec".to_owned();
    }
    let speed = done.get() as f64 / micros as f64 / (1.024 * 1.024);
    format!("{blanks}{speed:8.2} MiB/sec")
}

/// A processor's counter at a number of the sequence that all processors share.
#[derive(Debug, Clone, Copy)]
pub struct CounterAt {
    /// The processor.
    pub processor: u32,
    /// Its counter.
    pub counter: u64,
    /// The number.
    pub sequence: u32,
}

/// What the test of the counters saw.
#[derive(Debug)]
pub struct Counters<'a> {
    /// Whether the kernel keeps time by them.
    pub reliable: bool,
    /// The first and the last reading of each processor.
    pub seen: &'a [[CounterAt; 2]],
    /// Processors whose counter stood still.
    pub still: usize,
    /// Neighbours in the sequence that go back.
    pub back: &'a [[CounterAt; 2]],
}

/// What `--cpuclock-test` prints where there is no counter.
pub const NO_COUNTERS: &str = "cs: current platform does not support CPU clocks\n";

/// What `--cpuclock-test` prints.
pub fn counters(test: &Counters<'_>) -> String {
    let reliable = if test.reliable { "yes" } else { "no" };
    let mut text = format!("cs: reliable_tsc: {reliable}\n");
    let _ = writeln!(text, "cs: Testing {} CPUs", test.seen.len());
    for [first, last] in test.seen {
        let clocks = last.counter.wrapping_sub(first.counter);
        let (processor, first) = (first.processor, first.counter);
        let _ = writeln!(
            text,
            "cs: cpu{processor:3}: {clocks} clocks seen, first {first}"
        );
    }
    if test.still > 0 {
        let _ = writeln!(text, "Clocksource test: {} threads failed", test.still);
        return text;
    }
    for pair in test.back {
        let apart = pair[0].counter.wrapping_sub(pair[1].counter);
        let _ = writeln!(text, "cs: CPU clock mismatch (diff={apart}):");
        for at in pair {
            let _ = writeln!(
                text,
                "\t CPU{:3}: TSC={}, SEQ={}",
                at.processor, at.counter, at.sequence
            );
        }
    }
    match test.back.len() {
        0 => text.push_str("cs: Pass!\n"),
        count => {
            let _ = writeln!(text, "cs: Failed: {count}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_in_fios_order() {
        #[track_caller]
        fn check(value: Option<&str>, measured: &[&str], others: usize) {
            let Asked::Measure(checksums, unknown) = asked(value) else {
                panic!("{value:?} lists");
            };
            let names: Vec<_> = checksums.iter().map(|it| it.name()).collect();
            assert_eq!((names.as_slice(), unknown.len()), (measured, others));
        }
        check(Some("crc7,md5"), &["md5", "crc7"], 0);
        check(Some("sha3-512"), &["sha3-512"], 0);
        check(Some("nix,crc16,fnv"), &["crc16"], 2);
        check(Some(""), &[], 1);
        check(Some("crc32c-intel"), &[], 1);
        assert_eq!(asked(Some("help")), Asked::List);
        assert_eq!(asked(Some("list")), Asked::List);
        assert!(matches!(asked(None), Asked::Measure(all, _) if all.len() == 14));
        assert!(checksum_names().starts_with("md5\ncrc64\ncrc32\n"));
    }

    #[test]
    fn lines_are_fios() {
        let line = |checksum, micros| {
            checksum_speed(checksum, Bytes::mib(256), Nanos::from_micros(micros))
        };
        assert_eq!(line(Checksum::Md5, 562_600), "md5:\t\t  455.03 MiB/sec\n");
        assert_eq!(
            line(Checksum::XxHash, 38_762),
            "xxhash:\t\t 6604.41 MiB/sec\n"
        );
        assert_eq!(
            line(Checksum::Sha3_224, 2_560_000),
            "sha3-224:\t  100.00 MiB/sec\n"
        );
        assert_eq!(line(Checksum::Crc7, 0), "crc7:inf MiB/sec\n");
    }

    #[test]
    fn counters_are_told_in_fios_words() {
        let at = |processor, counter, sequence| CounterAt {
            processor,
            counter,
            sequence,
        };
        let seen = [
            [at(0, 1_000, 0), at(0, 1_500, 9)],
            [at(11, 900, 1), at(11, 1_600, 8)],
        ];
        let test = |back, still| {
            counters(&Counters {
                reliable: true,
                seen: &seen,
                still,
                back,
            })
        };
        let head = "cs: reliable_tsc: yes\ncs: Testing 2 CPUs\n\
            cs: cpu  0: 500 clocks seen, first 1000\ncs: cpu 11: 700 clocks seen, first 900\n";
        assert_eq!(test(&[], 0), format!("{head}cs: Pass!\n"));
        let mismatch = "cs: CPU clock mismatch (diff=100):\n\t CPU  0: TSC=1000, SEQ=0\n\
            \t CPU 11: TSC=900, SEQ=1\ncs: Failed: 1\n";
        let back = [[seen[0][0], seen[1][0]]];
        assert_eq!(test(&back, 0), format!("{head}{mismatch}"));
        let failed = format!("{head}Clocksource test: 1 threads failed\n");
        assert_eq!(test(&[], 1), failed);
    }
}
