//! The published measurements of the guides, predicted.

use fathom_units::Bytes;
use fathom_workload::{Job, Mix};

use super::{
    bound_by, bytes_per_sec, design, iops, iops_of, job, mean_latency, paced, run, within, workload,
};

const DS14: &str = include_str!("../../../../examples/guide-2016/ds14.design.toml");
const D8DS_V4: &str = include_str!("../../../../examples/guide-2021/d8ds_v4.design.toml");

fn readers(block: Bytes, depth: u32) -> Vec<Job> {
    let name = |number| format!("reader{number}");
    (1..=4)
        .map(|n| job(&name(n), "/mnt/readcache", Mix::READ, block, depth))
        .collect()
}

fn writers(block: Bytes, depth: u32) -> Vec<Job> {
    let name = |number| format!("writer{number}");
    (1..=4)
        .map(|n| job(&name(n), "/mnt/nocache", Mix::WRITE, block, depth))
        .collect()
}

fn paced_writers(rate: u64) -> Vec<Job> {
    let writers = writers(Bytes::kib(4), 128).into_iter();
    writers
        .map(|job| Job {
            arrival: paced(rate),
            ..job
        })
        .collect()
}

#[test]
fn writes_of_2016_are_bound_by_the_disks() {
    let prediction = run(&workload(writers(Bytes::kib(8), 256)), &design(DS14));
    let result = &prediction.results[0];
    assert!(
        (49_500.0..=50_050.0).contains(&iops(result)),
        "{}",
        iops(result)
    );
    within(mean_latency(result), 20.5e6, 0.02);
    assert!(bound_by(result, "disk-iops") > 0.99);
}

#[test]
fn reads_of_2016_are_bound_by_the_cached_bytes() {
    let prediction = run(&workload(readers(Bytes::kib(8), 256)), &design(DS14));
    let result = &prediction.results[0];
    // 512 MB/s in blocks of 8 KiB; the machine's release tolerance makes up for the first and the last latency.
    assert!(
        (62_500.0..=62_562.5).contains(&iops(result)),
        "{}",
        iops(result)
    );
    assert!(bound_by(result, "vm-cached-bytes") > 0.99);
    assert!(result.storage["ds14/readcache"].hit_share.unwrap() > 0.9999);
}

#[test]
fn reads_and_writes_of_2016_add_up() {
    let mut jobs = readers(Bytes::kib(4), 128);
    jobs.extend(paced_writers(12_500));
    let prediction_workload = workload(jobs);
    let prediction = run(&prediction_workload, &design(DS14));
    let result = &prediction.results[0];
    assert!(iops(result) > 100_000.0, "{}", iops(result));
    for writer in 4..8 {
        within(iops_of(result, writer), 12_350.0, 0.01);
    }
    // The record says what was asked for and what was reached; a note would say it again.
    assert!(result.notes.is_empty(), "{:?}", result.notes);
    let stage = &prediction_workload.stages[0];
    let record = fathom_record::stage_record(stage, result);
    let writer = &record.jobs[4];
    assert_eq!(writer.iops_wanted, Some(12_500.0));
    let writes = writer.write.as_ref().unwrap();
    assert!(writes.iops < 12_500.0 && writes.bound_by["disk-iops"] > 0.5);
}

#[test]
fn throughput_of_2016_is_both_limits_of_the_machine() {
    let mut jobs = readers(Bytes::kib(64), 128);
    jobs.extend(writers(Bytes::kib(64), 128));
    let prediction = run(&workload(jobs), &design(DS14));
    within(bytes_per_sec(&prediction.results[0]), 1.024e9, 0.01);
}

#[test]
fn figures_of_2021_are_the_limits_of_the_machine() {
    let machine = design(D8DS_V4);
    let result = |jobs: Vec<Job>| run(&workload(jobs), &machine).results.remove(0);
    let writes = result(writers(Bytes::kib(4), 256));
    within(iops(&writes), 12_800.0, 0.01);
    assert!(bound_by(&writes, "vm-uncached-iops") > 0.5);
    let reads = result(readers(Bytes::kib(4), 256));
    within(iops(&reads), 77_000.0, 0.01);
    assert!(bound_by(&reads, "vm-cached-iops") > 0.99);
    let mut both = readers(Bytes::kib(4), 128);
    both.extend(paced_writers(3_200));
    within(iops(&result(both)), 89_800.0, 0.01);
    let mut throughput = readers(Bytes::kib(64), 128);
    throughput.extend(writers(Bytes::kib(64), 128));
    within(bytes_per_sec(&result(throughput)), 677e6, 0.01);
}
