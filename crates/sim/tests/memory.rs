//! The largest machine's cache, full, in less than 1 GiB.
//!
//! A test binary of its own, since the most memory that a process ever had is what is measured.

use fathom_catalog::Catalog;
use fathom_model::Design;
use fathom_record::Ignore;
use fathom_sim::predict;
use fathom_workload::native;

/// 4,224 GiB of cache over files of 4,500 GiB, with write-back, which keeps the most state.
const DESIGN: &str = r#"
[[vm]]
name = "gs5"
size = "Standard_GS5"
[[vm.volume]]
name = "v"
mount = "/v"
disks = { type = "P30", count = 5 }
stripe_unit = "64MiB"
caching = "read-write"
cache = "warm"
"#;

const WORKLOAD: &str = r#"
[[stage]]
measure = "1s"
[[stage.job]]
name = "j"
target = { path = "/v/f", size = "4500GiB" }
mix = { read = "70%", write = "30%" }
access = "independent"
block = "64KiB"
depth = 256
"#;

/// The most resident memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.trim().parse().ok())
        .expect("the line is `VmHWM: N kB`")
}

#[test]
fn the_largest_cache_full_of_files_takes_less_than_a_gib() {
    let (design, _) = Design::read(DESIGN, "gs5", Catalog::builtin()).expect("the design is right");
    let (workload, _) = native::read(WORKLOAD, "gs5").expect("the workload is right");
    let before = peak_kib();
    let prediction = predict(&workload, &design, &mut Ignore, &|| false).expect("it can be built");
    let taken = peak_kib() - before;
    let hits = prediction.results[0].storage["gs5/v"].hit_share;
    assert!(hits.is_some_and(|hits| hits > 0.9), "{hits:?} of reads hit");
    // What 72 million lines need; less would mean that the cache was not full.
    assert!((200_000..1 << 20).contains(&taken), "{taken} KiB");
}
