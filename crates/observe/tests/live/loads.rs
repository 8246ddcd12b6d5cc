//! Rates, sizes, mixes and depths of loads are those that fio says.

use fathom_observe::live::Seen;
use fathom_observe::{About, Checklist, page};
use fathom_profile::{Level, Period, Profile};
use fathom_units::Bytes;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::agreement::{Apart, check_amounts, near, number, random_share, sum, until_agreed};
use super::alone;
use super::bench::Bench;

#[test]
fn a_mixed_load_is_seen_as_fio_says() {
    let _alone = alone();
    let bench = Bench::new();
    let job = "[a]\nioengine=psync\nbs=8k\nrw=randrw\nrwmixread=70\nrate_iops=700,300\nrandrepeat=0\n\
               runtime=5\ntime_based=1\n";
    until_agreed(&bench, &bench.options(), job, |seen, said, _| {
        let list = check_mixed(&bench, seen, said);
        let agrees = mixed_rates_agree(&list.profile.volumes[0].periods[0], said);
        agrees.map_err(|what| {
            // fio's own samples of half a second: where it could not keep its rate, it made up for it later.
            let unsteady = ["read", "write"].map(|way| {
                let of = |key: &str| number(&said[0][way][key]);
                of("iops_stddev") > of("iops_mean") * 0.005
            });
            let disturbed = unsteady.contains(&true);
            Apart { what, disturbed }
        })
    });
}

/// What does not depend on when fio ran.
fn check_mixed(bench: &Bench, seen: &Seen, said: &Value) -> Checklist {
    let device = &seen.observation.devices[0];
    check_amounts(device, said);
    let share = random_share(seen);
    assert!(share > 0.99, "{share}");
    let traced = device.traced.as_ref().unwrap();
    assert_eq!(
        traced.processes.first().map(|it| it.0.as_str()),
        Some("fio"),
        "{:?}",
        traced.processes
    );
    assert_eq!((traced.lost, device.sampled), (0, None));
    let about = About {
        name: "mixed".to_owned(),
        ..About::default()
    };
    let list = Checklist::of(&seen.observation, &about, TimeZone::UTC).unwrap();
    let period = &list.profile.volumes[0].periods[0];
    assert_eq!(period.size.same(), Some(Bytes::kib(8)), "{period:?}");
    assert!(
        period.minimum_latency.p50 <= period.latency.p50,
        "{period:?}"
    );
    let text = list.profile.to_toml();
    let read = Profile::read(&text, "x").map(|it| it.0);
    assert_eq!(read.map_err(|it| it.to_string()), Ok(list.profile.clone()));
    let page = page(&seen.observation, &list, fathom_report::Width::PLAIN);
    for part in [
        bench.name(),
        "% random",
        "fio 100 %",
        "rule `one-period`",
        "latency: fine",
    ] {
        assert!(page.contains(part), "`{part}` is not in\n{page}");
    }
    list
}

/// The profile's rates, sizes and mix are those of fio, whose rate was the same in every interval.
fn mixed_rates_agree(period: &Period, said: &Value) -> Result<(), String> {
    let [reads, writes] = ["read", "write"].map(|way| number(&said[0][way]["iops"]));
    let all = reads + writes;
    let within = |what: &str, seen: f64, said: f64, share: f64| {
        let is_near = (seen - said).abs() <= said * share;
        is_near
            .then_some(())
            .ok_or_else(|| format!("{what}: seen {seen}, said {said}"))
    };
    for level in [Level::P50, Level::P90] {
        let iops = period.iops.at(level).unwrap().get() as f64;
        within(&format!("I/Os a second at {level}"), iops, all, 0.01)?;
        let bytes = period.throughput.at(level).unwrap().get() as f64;
        within(
            &format!("bytes a second at {level}"),
            bytes,
            all * 8192.0,
            0.01,
        )?;
        let share = f64::from(period.reads.at(level).unwrap().basis_points()) / 10_000.0;
        within(&format!("reads at {level}"), share, reads / all, 0.01)?;
    }
    Ok(())
}

#[test]
fn sequential_and_half_random_loads_are_told_apart() {
    let _alone = alone();
    let bench = Bench::new();
    let job = |more: &str| {
        format!(
            "[a]\nioengine=libaio\niodepth=1\nrate_iops=1500\nrandrepeat=0\nruntime=3\ntime_based=1\n{more}\n"
        )
    };
    for (more, expected) in [
        ("rw=write\nbs=64k", 0.0),
        ("rw=randread\nbs=4k\npercentage_random=30", 0.3),
    ] {
        let (seen, said) = bench.watch(&bench.options(), &job(more));
        check_amounts(&seen.observation.devices[0], &said);
        let share = random_share(&seen);
        assert!((share - expected).abs() < 0.03, "{more}: {share}");
    }
}

#[test]
fn depth_is_what_fio_keeps() {
    let _alone = alone();
    let bench = Bench::new();
    let job = "[a]\nioengine=libaio\niodepth=8\nbs=256k\nrw=randread\nruntime=3\ntime_based=1\n\
               [b]\nioengine=libaio\niodepth=4\nbs=256k\nrw=randwrite\nruntime=3\ntime_based=1\n";
    let (seen, said) = bench.watch(&bench.options(), job);
    let device = &seen.observation.devices[0];
    check_amounts(device, &said);
    let depth = &device.traced.as_ref().unwrap().depth;
    assert!(depth.len() <= 13, "{depth:?}");
    // Little: the mean depth is the sum of latencies over the time in which there was any I/O.
    let weighted: f64 = depth
        .iter()
        .enumerate()
        .map(|(place, time)| place as f64 * *time as f64)
        .sum();
    let latencies = device
        .traced
        .as_ref()
        .map(|it| it.read_latency.sum() + it.write_latency.sum());
    near(
        "depth × time",
        weighted,
        latencies.unwrap() as f64,
        0.01,
        0.0,
    );
}

/// The kernel tells the end of a flush as that of a write without data, of which there was no beginning.
#[test]
fn flushes_are_no_part_of_the_depth() {
    let _alone = alone();
    let bench = Bench::new();
    let job = "[a]\nioengine=psync\nbs=4k\nrw=randwrite\nfdatasync=1\nrate_iops=300\nruntime=2\ntime_based=1\n";
    let (seen, said) = bench.watch(&bench.options(), job);
    let traced = seen.observation.devices[0].traced.as_ref().unwrap();
    let written = number(&said[0]["write"]["total_ios"]);
    near(
        "writes",
        traced.write_latency.count() as f64,
        written,
        0.0,
        0.0,
    );
    assert!(written > 300.0 && traced.depth.len() <= 2, "{traced:?}");
    // Among the counters' writes they are, and that is told.
    near("flushes", traced.flushes as f64, written, 0.02, 2.0);
    let counted = sum(&seen.observation.devices[0], |it| it.writes).0;
    near("writes with flushes", counted, 2.0 * written, 0.02, 4.0);
    let told = seen.notes.iter().any(|note| note.contains("are flushes"));
    assert!(told, "{:?}", seen.notes);
}
