//! Latencies are those that fio says, of what is sampled too.

use std::fs;
use std::process::{Child, Command};

use fathom_observe::live::Options;
use fathom_rawio::{Clock, wall_clock};
use fathom_stats::Histogram;
use fathom_units::Nanos;

use super::agreement::{
    PERCENTILES, apart_in_time, check_latencies, latency_agrees, near, number, random_share, sum,
    until_agreed,
};
use super::alone;
use super::bench::Bench;

/// Keeps every processor from sleeping, with work that gives way to any other. Ended with its value.
struct Awake(Vec<Child>);

impl Awake {
    fn new() -> Self {
        let count = std::thread::available_parallelism().unwrap().get();
        let busy = ["--idle", "0", "sh", "-c", "while :; do :; done"];
        let start = |_| Command::new("chrt").args(busy).spawn().unwrap();
        Self((0..count).map(start).collect())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn latencies_are_those_of_fio() {
    let _alone = alone();
    let bench = Bench::new();
    // An idle processor's waking (some 20 µs in a virtual machine) is fio's time, and none of the device's.
    let _awake = Awake::new();
    // At this depth I/Os wait in the device longer than fio needs to take what is done and hand over more, small ones and
    // large ones.
    for block in ["16k", "256k"] {
        let job = format!(
            "[a]\nioengine=libaio\niodepth=8\nbs={block}\nrw=randrw\nrwmixread=70\nruntime=3\ntime_based=1\n"
        );
        check_latencies(&bench, &job);
    }
}

/// The percentiles of the I/Os of fio's log that began in one of `parts`.
fn logged_in(bench: &Bench, parts: &[(Nanos, Nanos)]) -> Histogram {
    let to_wall = wall_clock() - Clock::now().get();
    let log = fs::read_to_string(bench.folder.path().join("load_clat.1.log")).unwrap();
    let mut latencies = Histogram::new();
    for line in log.lines() {
        let mut words = line.split(", ").map(|word| word.parse::<u64>().unwrap());
        let (ended, took) = (words.next().unwrap(), words.next().unwrap());
        let begun = Nanos::new((ended * 1_000_000 - to_wall).saturating_sub(took));
        if parts.iter().any(|part| (part.0..part.1).contains(&begun)) {
            latencies.record(took);
        }
    }
    latencies
}

#[test]
fn sampled_latencies_are_those_of_fio_in_the_same_parts() {
    let _alone = alone();
    let bench = Bench::new();
    let _awake = Awake::new();
    let options = Options {
        use_most: 1e-5,
        ..bench.options()
    };
    let log = bench.folder.path().join("load");
    let job = format!(
        "[a]\nioengine=libaio\niodepth=8\nbs=256k\nrw=randrw\nrwmixread=70\nruntime=8\ntime_based=1\n\
         write_lat_log={}\nlog_unix_epoch=1\n",
        log.display()
    );
    until_agreed(&bench, &options, &job, |seen, _, late| {
        let device = &seen.observation.devices[0];
        let share = device.sampled.expect("sampled").basis_points();
        assert!((100..6_000).contains(&share), "{share}");
        let said = logged_in(&bench, &seen.traced);
        let traced = device.traced.as_ref().unwrap();
        let mut own = traced.read_latency.clone();
        own.merge(&traced.write_latency);
        // fio's log knows milliseconds: at the edges of a part some I/Os stand on the other side.
        let (count, expected) = (own.count() as f64, said.count() as f64);
        assert!(
            (count - expected).abs() <= expected * 0.03 + 20.0,
            "seen {count}, said {expected}"
        );
        for (percent, _) in PERCENTILES {
            let [seen, said] = [&own, &said].map(|it| it.percentile(percent) as f64);
            let waited = late.percentile(percent) as f64;
            latency_agrees(&format!("p{percent}"), seen, said, waited)
                .map_err(|what| apart_in_time(&what, late))?;
        }
        Ok(())
    });
}

#[test]
fn sampling_leaves_no_slow_io_out() {
    let _alone = alone();
    let bench = Bench::new();
    // So little that any load is too much.
    let options = Options {
        use_most: 1e-5,
        ..bench.options()
    };
    let job = "[a]\nioengine=libaio\niodepth=8\nbs=64k\nrw=randrw\nruntime=10\ntime_based=1\n";
    let (seen, said) = bench.watch(&options, job);
    let device = &seen.observation.devices[0];
    let sampled = device.sampled.expect("sampled").basis_points();
    assert!((100..6_000).contains(&sampled), "{sampled}");
    let told = seen
        .notes
        .iter()
        .any(|note| note.contains("tracing was sampled"));
    assert!(told, "{:?}", seen.notes);
    assert!(random_share(&seen) > 0.95);
    // Rates stay those of every I/O, of which only some were traced.
    let traced = device.traced.as_ref().unwrap();
    let all = sum(device, |it| it.reads).0 + sum(device, |it| it.writes).0;
    let said = ["read", "write"].map(|way| number(&said[0][way]["total_ios"]));
    near("I/Os", all, said[0] + said[1], 0.01, 0.0);
    let count = (traced.read_size.count() + traced.write_size.count()) as f64;
    assert!(count < all * 0.6, "{count} of {all}");
    // By Little's law the latencies of the I/Os that began in the traced parts add up to the depth over their time. If the
    // slow ones, which end behind a part's end, were left out, they would not.
    let depths = traced.depth.iter().enumerate();
    let weighted: f64 = depths
        .map(|(place, time)| place as f64 * *time as f64)
        .sum();
    let latencies = (traced.read_latency.sum() + traced.write_latency.sum()) as f64;
    near("latencies", latencies, weighted, 0.1, 0.0);
}
