//! Figures that the provider's documents print, predicted.
//!
//! Ids: `S0-*` is the article on premium storage performance of 2016, `S1-*` the article on benchmarking a disk of 2021,
//! `S2-*` the benchmark of network volumes of 2019, `S3-*` the page on the performance of shares, `S4-*` a set of notes on
//! measuring disks; names such as `cap-vm-1` stand for the worked examples of other pages. Each id has a case in a table of
//! one of the modules, or stands in `docs/model.md` with the reason why not.

mod azure_files;
mod bursting;
mod composition;
mod differing;
mod ids;
mod netapp;
mod readmes;
mod s0_advice;
mod s0_benchmarks;
mod s0_limits;
mod s0_prices;
mod s1;
mod s2;
mod s3;
mod s4;
mod support;

use std::collections::BTreeSet;

use support::{Vector, check_all};

/// Every table.
const TABLES: &[&[Vector]] = &[
    azure_files::VECTORS,
    bursting::VECTORS,
    composition::VECTORS,
    netapp::VECTORS,
    s0_advice::VECTORS,
    s0_benchmarks::VECTORS,
    s0_limits::VECTORS,
    s0_prices::VECTORS,
    s1::VECTORS,
    s2::VECTORS,
    s3::VECTORS,
    s4::VECTORS,
];

fn ids_of_cases() -> Vec<&'static str> {
    let vectors = TABLES.iter().flat_map(|table| table.iter());
    vectors.map(|(id, _)| *id).collect()
}

#[test]
fn every_id_is_a_case_or_left_out_with_its_reason() {
    let all = ids::all();
    let known: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    assert_eq!(ids::of_articles().len(), 138);
    assert_eq!(known.len(), all.len(), "an id is listed twice");
    let cases = ids_of_cases();
    let with_case: BTreeSet<&str> = cases.iter().copied().collect();
    assert_eq!(with_case.len(), cases.len(), "an id has two cases");
    let left_out = differing::left_out();
    let left_out: BTreeSet<&str> = left_out.iter().map(String::as_str).collect();
    let both: Vec<_> = with_case.intersection(&left_out).collect();
    assert!(both.is_empty(), "a case and left out: {both:?}");
    let found: BTreeSet<&str> = with_case.union(&left_out).copied().collect();
    let missing: Vec<_> = known.difference(&found).collect();
    assert!(
        missing.is_empty(),
        "neither a case nor in docs/model.md: {missing:?}"
    );
    let unknown: Vec<_> = found.difference(&known).collect();
    assert!(unknown.is_empty(), "no published figure: {unknown:?}");
    for id in differing::qualified() {
        assert!(
            with_case.contains(id.as_str()),
            "docs/model.md: {id} has no case"
        );
    }
}

#[test]
fn machines_disks_and_caches_compose() {
    check_all(composition::VECTORS);
}

#[test]
fn limits_of_2016_hold() {
    check_all(s0_limits::VECTORS);
}

#[test]
fn prices_of_2016_add_up() {
    check_all(s0_prices::VECTORS);
}

#[test]
fn advice_of_2016_shows() {
    check_all(s0_advice::VECTORS);
}

#[test]
fn benchmarks_of_2016_lie_just_above_the_limits() {
    check_all(s0_benchmarks::VECTORS);
}

#[test]
fn benchmarks_of_2021_lie_just_above_the_limits() {
    check_all(s1::VECTORS);
}

#[test]
fn notes_on_windows_hold() {
    check_all(s4::VECTORS);
}

#[test]
fn bursts_last_as_long_as_their_credits() {
    check_all(bursting::VECTORS);
}

#[test]
fn network_volumes_give_what_their_quota_buys() {
    check_all(netapp::VECTORS);
}

#[test]
fn the_benchmark_of_network_volumes_is_met() {
    check_all(s2::VECTORS);
}

#[test]
fn shares_give_what_is_provisioned() {
    check_all(azure_files::VECTORS);
}

#[test]
fn channels_and_metadata_caching_gain_what_is_printed() {
    check_all(s3::VECTORS);
}
