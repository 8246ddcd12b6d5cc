//! Waits against closed forms of queueing theory, at many loads: one server of constant time, of several times, of random time;
//! several servers; no limit at all.
//!
//! Poisson arrivals are those of open loops. A server is a limit of a device (an I/O passes at once, and the next waits for what
//! it costs), or a place of the queue depth (which an I/O holds for its latency).

use std::fmt::Write;

use fathom_record::{Ignore, StageResult};
use fathom_sim::predict;

use super::random_cases::Case;

/// A device with `lines` and open loops on it that ask for `rates`, of `lines` each, until they have done `ios`.
fn run(device: &str, jobs: &[(u64, &str)], ios: u64) -> StageResult {
    let design = format!("[[device]]\nname = \"d\"\nmount = \"/d\"\nsize = \"1TiB\"\n{device}\n");
    let all: u64 = jobs.iter().map(|(rate, _)| rate).sum();
    let mut workload = "[[stage]]\nname = \"all\"\n".to_owned();
    for (number, (rate, lines)) in jobs.iter().enumerate() {
        let time = ios / all;
        let _ = write!(
            workload,
            "[[stage.job]]\nname = \"j{number}\"\ntarget = {{ path = \"/d/{number}\", size = \"8GiB\" }}\n\
             access = \"independent\"\nmix = {{ read = \"100%\" }}\nmeasure = \"{time}s\"\n\
             arrival = {{ rate = \"{rate}/s\", process = \"poisson\" }}\n{lines}\n"
        );
    }
    let case = Case::new(1, &design, &workload);
    let prediction = predict(&case.workload, &case.design, &mut Ignore, &|| false);
    prediction.expect("it can be predicted").results.remove(0)
}

const DEEP: &str = "depth = 8192";

/// Mean time from when an I/O was to start until it was done, in ns.
fn mean_response(result: &StageResult, job: usize) -> f64 {
    let stats = result.workers[job].directions[0].as_ref();
    let stats = stats.expect("it reads");
    stats.response.as_ref().unwrap_or(&stats.latency).mean()
}

#[track_caller]
fn within(found: f64, expected: f64, share: f64) {
    let off = found / expected - 1.0;
    assert!(
        off.abs() < share,
        "{found} where {expected} is right ({off:+.4})"
    );
}

/// M/D/1: mean wait ρ / (2 (1 − ρ)) service times (Pollaczek–Khinchine), and its law (Erlang, 1909):
/// P(W ≤ t) = (1 − ρ) Σ (−λ (t − k D))^k / k! × e^(λ (t − k D)), k from 0 to ⌊t / D⌋.
#[test]
fn a_constant_server_has_the_mean_and_the_law_of_its_waits() {
    const SERVICE: f64 = 200_000.0;
    let law = |load: f64, wait: f64| {
        let (mut sum, mut factorial) = (0.0, 1.0);
        for k in 0..=(wait / SERVICE) as u32 {
            factorial *= f64::from(k.max(1));
            let rest = load * (wait / SERVICE - f64::from(k));
            sum += libm::pow(-rest, f64::from(k)) / factorial * libm::exp(rest);
        }
        (1.0 - load) * sum
    };
    for load_percent in [10, 30, 50, 65, 80, 88] {
        let load = load_percent as f64 / 100.0;
        let device = "iops = 5000\nlatency = \"none\"";
        let result = run(device, &[(50 * load_percent, DEEP)], 600_000);
        let mean = SERVICE * load / (2.0 * (1.0 - load));
        within(mean_response(&result, 0), mean, 0.04);
        let latency = &result.workers[0].directions[0].as_ref().unwrap().latency;
        for percent in [20.0, 50.0, 75.0, 90.0, 99.0] {
            let below = law(load, latency.percentile(percent) as f64);
            // Below the share that does not wait at all, every percentile is 0.
            let expected = (percent / 100.0_f64).max(1.0 - load);
            assert!(
                (below - expected).abs() < 0.01,
                "p{percent} at {load}: {below}"
            );
        }
    }
}

/// M/G/1: mean wait λ E[S²] / (2 (1 − ρ)), here of sizes at a limit of bytes.
#[test]
fn a_server_of_several_times_waits_by_their_second_moment() {
    #[track_caller]
    fn check(sizes: &[(u64, u64)], load: f64) {
        const BYTES_PER_SEC: f64 = 409_600_000.0;
        let weights: u64 = sizes.iter().map(|(_, weight)| weight).sum();
        let moment = |power: f64| -> f64 {
            let of = |(kib, weight): &(u64, u64)| {
                let time = (kib << 10) as f64 / BYTES_PER_SEC;
                libm::pow(time, power) * *weight as f64 / weights as f64
            };
            sizes.iter().map(of).sum()
        };
        let rate = (load / moment(1.0)).round();
        let sizes = sizes
            .iter()
            .map(|(kib, weight)| format!("{{ size = \"{kib}KiB\", weight = {weight} }}"));
        let block = format!("block = [{}]", sizes.collect::<Vec<_>>().join(", "));
        let device = "bandwidth = \"409600000B/s\"\nlatency = \"none\"";
        let result = run(
            device,
            &[(rate as u64, &format!("{DEEP}\n{block}"))],
            600_000,
        );
        let load = rate * moment(1.0);
        let mean = rate * moment(2.0) / (2.0 * (1.0 - load)) * 1e9;
        within(mean_response(&result, 0), mean, 0.04);
    }
    check(&[(4, 1), (64, 1)], 0.5);
    check(&[(4, 9), (256, 1)], 0.7);
    check(&[(8, 5), (16, 3), (128, 2)], 0.8);
    check(&[(4, 99), (1024, 1)], 0.3);
}

/// Two streams at one server: both wait as though they were one (Poisson arrivals see time averages).
#[test]
fn streams_at_one_server_wait_as_their_sum() {
    for rates in [[500, 3_000], [1_750, 1_750]] {
        let jobs = rates.map(|rate| (rate, DEEP));
        let result = run("iops = 5000\nlatency = \"none\"", &jobs, 700_000);
        let load = 0.7;
        let mean = 200_000.0 * load / (2.0 * (1.0 - load));
        within(mean_response(&result, 0), mean, 0.04);
        within(mean_response(&result, 1), mean, 0.04);
    }
}

/// M/G/1 and M/D/c: the places of the queue depth are servers, and an I/O holds one for its latency.
#[test]
fn places_of_the_queue_depth_are_servers() {
    // A log-normal law of this median and 99th percentile: E[S] = m e^(σ²/2), E[S²] = m² e^(2σ²).
    let (median, p99) = (1e-3, 3e-3);
    let sigma = libm::log(p99 / median) / 2.326_347_874;
    let (first, second) = (
        median * libm::exp(sigma * sigma / 2.0),
        median * median * libm::exp(2.0 * sigma * sigma),
    );
    for rate in [200, 500, 650] {
        let device = "latency = { median = \"1ms\", p99 = \"3ms\" }";
        let result = run(device, &[(rate, "depth = 1")], 400_000);
        let load = rate as f64 * first;
        let mean = first + rate as f64 * second / (2.0 * (1.0 - load));
        within(mean_response(&result, 0), mean * 1e9, 0.03);
    }
    for (servers, load_percent) in [(1, 70), (2, 50), (2, 80), (4, 85), (8, 90)] {
        let device = "latency = { median = \"1ms\", p99 = \"1ms\" }";
        let offered = f64::from(servers) * f64::from(load_percent) / 100.0;
        let depth = format!("depth = {servers}");
        let rate = (offered * 1000.0).round() as u64;
        let result = run(device, &[(rate, &depth)], 400_000);
        let mean = 1e6 * (1.0 + crommelin(servers, offered));
        within(mean_response(&result, 0), mean, 0.03);
    }
}

/// Mean wait of M/D/c in service times, at `offered` servers' work (C. D. Crommelin, "Delay probability formulae when the
/// holding times are constant", 1932): Σ e^(−i a) (Σ (i a)^j / j!, j ≥ i c, − c / a × Σ (i a)^j / j!, j > i c), i ≥ 1.
fn crommelin(servers: u32, offered: f64) -> f64 {
    let servers = f64::from(servers);
    let mut mean = 0.0;
    for i in 1..2_000 {
        let (arrivals, least) = (f64::from(i) * offered, f64::from(i) * servers);
        // P(exactly so many), and P(that many or more), of a Poisson law.
        let exactly = libm::exp(least * libm::log(arrivals) - arrivals - libm::lgamma(least + 1.0));
        let (mut tail, mut one, mut count) = (0.0, exactly, least);
        while one > 1e-18 {
            tail += one;
            count += 1.0;
            one *= arrivals / count;
        }
        let more = tail - servers / offered * (tail - exactly);
        mean += more;
        if more < 1e-12 {
            break;
        }
    }
    mean
}

/// M/G/∞: nothing waits, and on average λ E[S] are outstanding.
#[test]
fn without_a_limit_nothing_waits_at_any_rate() {
    let sigma = libm::log(8.0) / 2.326_347_874;
    let mean = 500_000.0 * libm::exp(sigma * sigma / 2.0);
    for rate in [100, 3_000, 60_000] {
        let device = "latency = { median = \"500us\", p99 = \"4ms\" }";
        let result = run(device, &[(rate, DEEP)], 300_000);
        within(mean_response(&result, 0), mean, 0.01);
        let worker = &result.workers[0];
        let outstanding = worker.outstanding_ns as f64 / worker.measured.get() as f64;
        within(outstanding, rate as f64 * mean / 1e9, 0.02);
        assert_eq!(result.storage["d"].ios, worker.ios());
    }
}
