//! Jobs whose I/O comes from weighted lines: what is predicted has their shares, and waits for their delays.

use fathom_record::StageResult;
use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{AccessLine, Direction, Job, Limits, Mix};

use super::{bytes_per_sec, design, iops, job, run, within, workload};

const DEVICE: &str = "[[device]]\nname = \"d\"\nmount = \"/d\"\nsize = \"1TiB\"\niops = 20000\nlatency = { median = \"1ms\", p99 = \"2ms\" }\n";

fn percent(share: u32) -> Percent {
    Percent::whole(share).unwrap()
}

fn predicted(lines: Vec<AccessLine>, depth: u32) -> StageResult {
    let mut job = Job {
        limits: Limits {
            runtime: Some(Nanos::from_secs(10)),
            time_based: true,
            ..Limits::default()
        },
        ..job("j", "/d", Mix::READ, Bytes::kib(4), depth)
    };
    job.set_lines(lines);
    run(&workload(vec![job]), &design(DEVICE)).results.remove(0)
}

#[test]
fn the_predicted_mix_has_the_shares_of_the_lines() {
    let small = AccessLine {
        weight: 70,
        read: percent(80),
        ..AccessLine::of_size(Bytes::kib(4))
    };
    let large = AccessLine {
        weight: 30,
        read: percent(40),
        random: percent(0),
        ..AccessLine::of_size(Bytes::kib(64))
    };
    let result = predicted(vec![small, large], 64);
    within(iops(&result), 20_000.0, 0.01);
    // 200,000 I/Os: the shares' standard deviations are below 0.2 %.
    within(
        bytes_per_sec(&result) / iops(&result),
        (0.7 * 4.0 + 0.3 * 64.0) * 1024.0,
        0.01,
    );
    let worker = &result.workers[0];
    let [read, write] = [Direction::Read, Direction::Write].map(|way| {
        let stats = worker.directions[way as usize].as_ref();
        stats.map_or(0, fathom_record::OpStats::ios) as f64
    });
    within(read / (read + write), 0.7 * 0.8 + 0.3 * 0.4, 0.01);
    let bytes = worker.directions[0].as_ref().map_or(0, |stats| stats.bytes) as f64;
    within(
        bytes / read,
        (0.56 * 4.0 + 0.12 * 64.0) / 0.68 * 1024.0,
        0.01,
    );
}

#[test]
fn bursts_come_at_their_delays() {
    let line = AccessLine {
        burst: 20,
        delay: Nanos::from_millis(10),
        ..AccessLine::of_size(Bytes::kib(4))
    };
    // The queue has room for two bursts, so that nothing but the delay holds them back.
    within(iops(&predicted(vec![line], 64)), 2_000.0, 0.01);
    let shallow = iops(&predicted(vec![line], 4));
    assert!((1_000.0..1_500.0).contains(&shallow), "{shallow}");
}
