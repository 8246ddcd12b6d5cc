//! The profile file: what it takes, what it refuses, and that it reads back.

use fathom_profile::{Growth, Level, Levels, Period, PeriodKind, Profile, Role, Volume};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use proptest::prelude::*;

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let found = match Profile::read(text, "x.profile.toml") {
        Ok(_) => Vec::new(),
        Err(found) => found
            .0
            .iter()
            .map(|one| {
                let line = one.location.as_ref().map_or(0, |at| at.line);
                format!("{line}: {}", one.message)
            })
            .collect(),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn every_mistake_is_told_with_its_line() {
    refused("", &["0: `x.profile.toml` is empty"]);
    refused(
        "growth = \"2x\"\n",
        &["1: a profile needs `name`", "1: a profile needs `volume`"],
    );
    refused(
        "name = \"a\"\ngrowth = \"0.5x\"\n[[volume]]\nname = \"d\"\nrole = \"dta\"\ncapacity = \"5\"\n\
         [[volume.period]]\nname = \"peek\"\niops = 0\nreads = \"101%\"\nsize = { p50 = \"8k\", p95 = \"9k\" }\n",
        &[
            "2: `0.5x` is no growth: a factor from 1x to 100x, such as `1.5x`",
            "5: `dta` is no value of `role`",
            "8: `peek` is no value of `name`",
            "9: `iops` at p99 must be more than 0",
            "10: `reads`: `101%` is more than 100%",
            "11: unknown key `p95` in percentiles",
        ],
    );
    refused(
        "name = \"a\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\n\
         [[volume.period]]\nname = \"peak\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"normal\"\n",
        &[
            "7: the period `peak` is there twice",
            "9: the name `d` is taken",
        ],
    );
    refused(
        "name = ",
        &["1: string values must be quoted, expected literal string"],
    );
}

/// Figures of which each is known or not.
fn levels<T>(figure: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Levels<T>>
where
    T: Copy + PartialEq + std::fmt::Debug,
{
    let known = || proptest::option::of(figure.clone());
    (known(), known(), known()).prop_map(|(p50, p90, p99)| Levels { p50, p90, p99 })
}

/// The same, none of which is below one of a lower percentile.
fn rising<T>(figure: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Levels<T>>
where
    T: Copy + Ord + std::fmt::Debug,
{
    levels(figure).prop_map(|figures| {
        let figures = Level::ALL.map(|level| figures.at(level));
        let mut sorted: Vec<T> = figures.into_iter().flatten().collect();
        sorted.sort_unstable();
        let mut sorted = sorted.into_iter();
        let [p50, p90, p99] = figures.map(|figure| figure.and_then(|_| sorted.next()));
        Levels { p50, p90, p99 }
    })
}

fn percent() -> impl Strategy<Value = Percent> + Clone {
    (0u32..=10_000).prop_map(|points| Percent::from_basis_points(points).unwrap_or(Percent::ALL))
}

fn rates() -> impl Strategy<Value = Levels<BytesPerSec>> {
    // As much as the most I/Os of a sector take, or more.
    rising((1u64 << 39..1 << 40).prop_map(BytesPerSec::new))
}

fn times() -> impl Strategy<Value = Levels<Nanos>> {
    rising((0u64..1 << 40).prop_map(Nanos::new))
}

fn period(kind: PeriodKind) -> impl Strategy<Value = Period> {
    let count = || 1u64..=1_000_000_000;
    (
        rising(count().prop_map(Iops::new)),
        levels(percent()),
        levels(percent()),
        // A thousand million of the largest a second are just below the most bytes a second that are planned.
        levels((1u64..=1950).prop_map(|sectors| Bytes::new(sectors * 512))),
        rates(),
        (rates(), rates()),
        (times(), times(), times()),
        rising(0u64..=1_000_000_000),
    )
        .prop_map(
            move |(iops, reads, random, size, throughput, throughputs, latencies, queue_depth)| {
                Period {
                    kind,
                    iops,
                    reads,
                    random,
                    size,
                    throughput,
                    average_throughput: throughputs.0,
                    peak_throughput: throughputs.1,
                    latency: latencies.0,
                    average_latency: latencies.1,
                    minimum_latency: latencies.2,
                    queue_depth,
                }
            },
        )
}

fn volume() -> impl Strategy<Value = Volume> {
    let periods = PeriodKind::ALL.map(|kind| proptest::option::of(period(kind)));
    (
        proptest::option::of((0u64..1 << 50).prop_map(Bytes::new)),
        rising((0u64..1 << 40).prop_map(Nanos::new)),
        periods,
        period(PeriodKind::Peak),
        any::<bool>(),
    )
        .prop_map(|(capacity, latency_goal, periods, peak, is_log)| {
            let mut periods: Vec<Period> = periods.into_iter().flatten().collect();
            if periods.is_empty() {
                periods.push(peak);
            }
            Volume {
                name: "v \"1\"".to_owned(),
                role: if is_log { Role::Log } else { Role::Data },
                capacity,
                latency_goal,
                periods,
            }
        })
}

proptest! {
    #[test]
    fn a_profile_reads_back_as_it_was(
        name in "[a-z\"\\\\é]{1,8}",
        origin in proptest::option::of("[ -~]{1,20}"),
        transactions in proptest::option::of(1u64..=1_000_000_000),
        growth in 100u32..=10_000,
        processors in rising(percent()),
        volume in volume(),
    ) {
        let growth = format!("{}.{:02}x", growth / 100, growth % 100);
        let profile = Profile {
            name,
            origin,
            transactions_per_sec: transactions,
            growth: growth.parse::<Growth>().expect("a growth"),
            logical_processors: transactions.map(|count| count.min(65_536)),
            processors,
            peak_processors: processors,
            memory: Levels::all(Bytes::gib(3)),
            peak_memory: Levels::all(Bytes::gib(4)),
            volumes: vec![volume],
        };
        let text = profile.to_toml();
        let read = Profile::read(&text, "x").map(|(read, _)| read);
        prop_assert_eq!(read.map_err(|found| found.to_string()), Ok(profile), "{}", text);
    }
}

#[test]
fn a_figure_has_its_percentile() {
    let text = "name = \"a\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\n\
                iops = { p50 = 100, p99 = 900 }\nreads = \"70%\"\n";
    let (profile, _) = Profile::read(text, "x").expect("a profile");
    let period = &profile.volumes[0].periods[0];
    let iops = Level::ALL.map(|level| period.iops.at(level).map(Iops::get));
    assert_eq!(iops, [Some(100), None, Some(900)]);
    assert_eq!(period.reads.same(), Percent::whole(70));
}

/// What is said of a period's figures, and the sizes that they are read as.
fn said_of(figures: &str) -> (String, Option<Levels<Bytes>>) {
    let text = format!(
        "name = \"a\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
    );
    match Profile::read(&text, "x") {
        Ok((profile, warnings)) => (
            warnings.to_string(),
            Some(profile.volumes[0].periods[0].size),
        ),
        Err(found) => (found.to_string(), None),
    }
}

#[test]
fn figures_of_no_load_are_refused_in_words() {
    let check = |figures: &str, parts: &[&str]| {
        let (said, read) = said_of(figures);
        assert!(read.is_none(), "{figures}");
        for part in parts {
            assert!(said.contains(part), "`{part}` is not in {said}");
        }
    };
    let all = "iops = 0\nthroughput = \"0B/s\"\nsize = \"0B\"";
    check(
        all,
        &["`iops` at p99", "`throughput` at p99", "`size` at p50 is 0"],
    );
    check(
        "throughput = \"0B/s\"",
        &["`throughput` at p99 must be more than 0"],
    );
    check(
        "iops = 5\nsize = { p50 = \"8KiB\", p90 = \"0B\" }",
        &["`size` at p90 is 0"],
    );
    check(
        "iops = 100\nthroughput = \"3B/s\"",
        &["3 bytes a second", "another unit"],
    );
}

#[test]
fn a_latency_goal_of_nothing_is_refused() {
    for goal in ["\"0ms\"", "{ p50 = \"1ms\", p99 = \"0s\" }"] {
        let text = format!(
            "name = \"a\"\n[[volume]]\nname = \"v\"\nlatency_goal = {goal}\n\
             [[volume.period]]\nname = \"peak\"\niops = 5\n"
        );
        let told = Profile::read(&text, "p.toml").unwrap_err().to_string();
        assert!(told.contains("`latency_goal` is 0"), "{told}");
        assert!(
            told.contains("p.toml:4:") && told.contains("hint: give the latency"),
            "{told}"
        );
    }
}

#[test]
fn percentiles_that_fall_are_refused() {
    #[track_caller]
    fn check(figures: &str, told: &str) {
        let (said, read) = said_of(figures);
        assert_eq!(read.is_none(), !told.is_empty(), "{figures}: {said}");
        assert!(said.contains(told), "{figures}: {said}");
    }
    check("iops = { p50 = 5, p90 = 5, p99 = 5 }", "");
    check("iops = { p50 = 1, p99 = 5 }", "");
    check(
        "iops = { p50 = 9, p99 = 5 }",
        "`iops` is less at p99 than at p50",
    );
    check(
        "iops = { p50 = 1, p90 = 9, p99 = 5 }",
        "`iops` is less at p99 than at p90",
    );
    // I/Os of a busier time may be smaller, and others.
    check("iops = 5\nsize = { p50 = \"64KiB\", p90 = \"8KiB\" }", "");
    check("iops = 5\nreads = { p50 = \"70%\", p99 = \"7%\" }", "");
    check(
        "iops = 5\nlatency = { p50 = \"2ms\", p99 = \"1ms\" }",
        "`latency` is less at p99 than at p50, and a percentile is never below a lower one",
    );
}

#[test]
fn a_mean_size_becomes_whole_sectors() {
    let (said, read) =
        said_of("iops = 5\nsize = { p50 = \"8231B\", p90 = \"8KiB\", p99 = \"1B\" }");
    let sizes = read.map(|size| Level::ALL.map(|level| size.at(level).map(Bytes::get)));
    assert_eq!(sizes, Some([Some(8704), Some(8192), Some(512)]));
    assert!(
        said.contains("8231 bytes at p50 as 8704, 1 bytes at p99 as 512"),
        "{said}"
    );
    // Few and small I/Os: whole numbers of them hide how few.
    let (said, read) = said_of("iops = 1\nthroughput = \"100B/s\"");
    assert!(read.is_some() && said.is_empty(), "{said}");
}

#[test]
fn what_is_larger_than_anything_that_is_planned_is_refused() {
    #[track_caller]
    fn check(volume: &str, figures: &str, says: &str) {
        let text = format!(
            "name = \"a\"\n[[volume]]\nname = \"d\"\n{volume}\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
        );
        let said = Profile::read(&text, "x.profile.toml").err();
        let said = said.map_or_else(String::new, |found| found.to_string());
        if says.is_empty() {
            assert_eq!(said, "", "{figures}");
        } else {
            assert!(said.contains(says), "`{says}` is not in {said}");
        }
    }
    // A rate that is nothing at its highest is refused, so that the range begins with 1; half of the time may be idle.
    let range = "`iops` must be a whole number from 1 to 1000000000";
    check("", "iops = 100_000_000_000", range);
    check("", "iops = 1_000_000_000\nsize = \"512B\"", "");
    let of_p99 = "`p99` must be a whole number from 1 to 1000000000";
    check("", "iops = { p50 = 0, p99 = 100_000_000_000 }", of_p99);
    let of_p50 = "`p50` must be a whole number from 0 to 1000000000";
    check("", "iops = { p50 = 100_000_000_000 }", of_p50);
    check("", "iops = { p50 = 0, p99 = 5 }", "");
    let depth = "iops = 5\nqueue_depth = 0";
    check("", depth, "");
    let rate = "`throughput` is more than 1,000,000,000 MB/s, the most that is planned";
    check("", "throughput = \"1000001GB/s\"", rate);
    check("", "throughput = \"1000000GB/s\"", "");
    let average = "iops = 5\naverage_throughput = { p99 = \"1000001GB/s\" }";
    check("", average, "`average_throughput` is more than");
    let peak = "iops = 5\npeak_throughput = \"1000001GB/s\"";
    check("", peak, "`peak_throughput` is more than");
    check(
        "",
        "iops = 5\nsize = \"1025MiB\"",
        "`size` is more than 1 GiB",
    );
    check("", "iops = 5\nsize = \"1GiB\"", "");
    let both = "iops = 1_000_000_000\nsize = \"1MiB\"";
    check("", both, "`iops` of that `size` are more than");
    check(
        "capacity = \"101PiB\"",
        "iops = 5",
        "`capacity` is more than 100 PiB",
    );
    check("capacity = \"100PiB\"", "iops = 5", "");
    // A sector for each but the last, which may be a part of one: 999 × 512.
    check("", "iops = 1000\nthroughput = \"511488B/s\"", "");
    let sectors = "511487 bytes a second at p50 are less than 512 for each of 1000 I/Os";
    check("", "iops = 1000\nthroughput = \"511487B/s\"", sectors);
}
