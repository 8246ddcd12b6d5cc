//! Caches that are too small for their files: agreement where blocks are given up.
//!
//! No random case is as large, so these have a file of their own that is larger than the smallest cache.

use std::fmt::Write;

use super::agreement::differences;
use super::random_cases::Case;
use super::run::run;

/// A machine whose cache starts full of a part of one file, and jobs that read and write all of it.
fn case(seed: u64) -> Case {
    // Standard_F1s has 12 GiB of cache. Of 13 GiB, the first 12 are there.
    let design = "[[vm]]\nname = \"vm\"\nsize = \"Standard_F1s\"\n\
        [[vm.volume]]\nname = \"v\"\nmount = \"/v\"\ndisks = { type = \"P30\", count = 2 }\n\
        stripe_unit = \"1MiB\"\ncaching = \"read-only\"\ncache = \"warm\"\n";
    let mut workload = format!("seed = {seed}\n[[stage]]\n");
    for (job, way, block) in [
        ("a", "read", "64KiB"),
        ("b", "write", "20KiB"),
        ("c", "read", "4KiB"),
    ] {
        let _ = write!(
            workload,
            "[[stage.job]]\nname = \"{job}\"\nmix = \"{way}\"\nblock = \"{block}\"\ndepth = 8\n\
             target = {{ path = \"/v/f\", size = \"13GiB\" }}\naccess = \"independent\"\n\
             measure = {{ time = \"2s\", ios = 3000 }}\n"
        );
    }
    Case::new(seed, design, &workload)
}

#[test]
fn both_agree_where_blocks_are_given_up() {
    let case = case(1);
    let (_, storage) = run(&case.workload, &case.design);
    let given_up: u64 = storage.caches.iter().map(|cache| cache.given_up).sum();
    assert!(given_up > 100, "{given_up} blocks given up");
    let differences = differences(&case);
    assert!(differences.is_empty(), "{case}\n{}", differences.join("\n"));
}
