//! What was seen beside what fio says.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use fathom_observe::live::{Options, Seen};
use fathom_observe::{Device, Ops, Traced};
use fathom_rawio::{Clock, sleep_until};
use fathom_stats::Histogram;
use fathom_units::Nanos;
use serde_json::Value;

use super::bench::Bench;
use super::output;

/// All samples of a direction as one.
pub fn sum(device: &Device, of: impl Fn(&fathom_observe::Sample) -> Option<Ops>) -> (f64, f64) {
    let ops = device.samples.iter().filter_map(of);
    ops.fold((0.0, 0.0), |sum, ops| {
        (sum.0 + ops.count, sum.1 + ops.bytes.unwrap_or(0.0))
    })
}

pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
pub fn near(what: &str, seen: f64, said: f64, share: f64, more: f64) {
    assert!(
        (seen - said).abs() <= said * share + more,
        "{what}: seen {seen}, said {said}"
    );
}

/// Rates, bytes and sizes within 1 %.
#[track_caller]
pub fn check_amounts(device: &Device, said: &Value) {
    let traced = device.traced.as_ref().expect("traced");
    let sizes = |histogram: &Histogram| (histogram.count() as f64, histogram.sum() as f64);
    for (way, counted, traced) in [
        ("read", sum(device, |it| it.reads), sizes(&traced.read_size)),
        (
            "write",
            sum(device, |it| it.writes),
            sizes(&traced.write_size),
        ),
    ] {
        let jobs = said.as_array().unwrap();
        let all = |key: &str| jobs.iter().map(|job| number(&job[way][key])).sum::<f64>();
        let (ios, bytes) = (all("total_ios"), all("io_bytes"));
        near(&format!("{way}s counted"), counted.0, ios, 0.01, 0.0);
        near(
            &format!("bytes of {way}s counted"),
            counted.1,
            bytes,
            0.01,
            0.0,
        );
        near(&format!("{way}s traced"), traced.0, ios, 0.01, 0.0);
        near(
            &format!("bytes of {way}s traced"),
            traced.1,
            bytes,
            0.01,
            0.0,
        );
    }
}

/// From the device to fio: a system call and a wake-up.
pub const DISTANCE_NS: f64 = 20_000.0;
/// The same as a part of what fio says.
pub const DISTANCE: f64 = 0.03;

pub const PERCENTILES: [(f64, &str); 3] = [
    (50.0, "50.000000"),
    (90.0, "90.000000"),
    (99.0, "99.000000"),
];

/// What was seen is not what fio says.
pub struct Apart {
    pub what: String,
    /// Whether the machine did something else meanwhile, by a measure that knows nothing of what was seen.
    pub disturbed: bool,
}

/// At most so large a part of what fio says is its own waiting on a disturbed machine.
pub const WAITING: f64 = 0.25;

/// `late` is how late the machine woke a witness at the same percentile: so much of what fio says may be its own waiting
/// for a processor, which the device does not see.
pub fn latency_agrees(what: &str, seen: f64, said: f64, late: f64) -> Result<(), String> {
    let distance = said * DISTANCE + DISTANCE_NS;
    let waited = late.min(said * WAITING);
    if seen <= said + distance && seen >= said - distance - waited {
        return Ok(());
    }
    Err(format!("{what}: seen {seen} ns, said {said} ns"))
}

/// Percentiles of each way against what fio says of its own.
pub fn latencies_agree(traced: &Traced, said: &Value, late: &Histogram) -> Result<(), String> {
    for (way, histogram) in [
        ("read", &traced.read_latency),
        ("write", &traced.write_latency),
    ] {
        for (percent, key) in PERCENTILES {
            if histogram.count() == 0 {
                continue;
            }
            let said = number(&said[0][way]["clat_ns"]["percentile"][key]);
            let seen = histogram.percentile(percent) as f64;
            let late = late.percentile(percent) as f64;
            latency_agrees(&format!("{way} p{percent}"), seen, said, late)?;
        }
    }
    Ok(())
}

/// How late a thread wakes that nothing on this machine goes before: what waits between the device and fio, whatever the
/// device does. It sleeps and wakes until its end.
pub struct Witness {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Histogram>,
}

impl Witness {
    pub fn new() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            let own = fs::read_link("/proc/thread-self").unwrap();
            let own = own.file_name().unwrap().to_string_lossy().into_owned();
            output("chrt", &["-f", "-p", "21", &own]);
            let mut late = Histogram::new();
            while !told.load(Ordering::Relaxed) {
                let at = Clock::now() + Nanos::from_millis(1);
                sleep_until(at);
                late.record(Clock::now().saturating_sub(at).get());
            }
            late
        });
        Self { ended, thread }
    }

    pub fn end(self) -> Histogram {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Runs `job` until what was seen agrees with what fio says. A machine that does other things too lets fio wait at the wrong
/// moment, which the device does not see: what is apart while the machine was disturbed is no evidence, and the load is run
/// again. Of runs that were not disturbed, three that are apart are the end.
pub fn until_agreed(
    bench: &Bench,
    options: &Options,
    job: &str,
    agrees: impl Fn(&Seen, &Value, &Histogram) -> Result<(), Apart>,
) {
    const MOST: usize = 12;
    let mut complaints = Vec::new();
    let mut quiet = 0;
    while complaints.len() < MOST && quiet < 3 {
        let witness = Witness::new();
        let (seen, said) = bench.watch(options, job);
        match agrees(&seen, &said, &witness.end()) {
            Ok(()) => return,
            Err(Apart { what, disturbed }) => {
                quiet += usize::from(!disturbed);
                complaints.push(format!("{what} (disturbed: {disturbed})"));
            }
        }
    }
    panic!("{complaints:#?}");
}

/// Apart in latency: disturbed where even the witness waited as long as may lie between the device and fio.
pub fn apart_in_time(what: &str, late: &Histogram) -> Apart {
    let late = late.percentile(99.0);
    Apart {
        what: format!("{what}, while a witness was {late} ns late at p99"),
        disturbed: late as f64 >= DISTANCE_NS,
    }
}

/// Amounts, which no other work on the machine changes as long as none is lost, and latencies.
pub fn check_latencies(bench: &Bench, job: &str) {
    until_agreed(bench, &bench.options(), job, |seen, said, late| {
        let device = &seen.observation.devices[0];
        let traced = device.traced.as_ref().expect("traced");
        // Whoever empties the kernel's buffers was held up: what is told as lost cannot be among what was seen.
        if traced.lost > 0 {
            return Err(Apart {
                what: format!("{} I/Os were lost, and told so", traced.lost),
                disturbed: true,
            });
        }
        check_amounts(device, said);
        let agrees = latencies_agree(traced, said, late);
        agrees.map_err(|what| apart_in_time(&what, late))
    });
}

pub fn random_share(seen: &Seen) -> f64 {
    let traced = seen.observation.devices[0].traced.as_ref().expect("traced");
    traced.random as f64 / traced.judged as f64
}
