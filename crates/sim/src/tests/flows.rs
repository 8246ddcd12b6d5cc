//! Jobs that are held to their shares of a flow.

use fathom_units::Nanos;
use fathom_workload::{Flow, Job, Mix};

use super::{design, iops, iops_of, job, run, within, workload};

/// Two premium disks of 5,000 IOPS each on a machine that holds neither back.
const DESIGN: &str = "
[[vm]]
name = \"vm\"
size = \"Standard_D64s_v3\"
[[vm.volume]]
name = \"a\"
mount = \"/a\"
disks = { type = \"P30\" }
caching = \"none\"
latency = \"none\"
burst = \"off\"
[[vm.volume]]
name = \"b\"
mount = \"/b\"
disks = { type = \"P20\" }
caching = \"none\"
latency = \"none\"
burst = \"off\"
";

fn in_flow(name: &str, directory: &str, weight: u32) -> Job {
    let mut job = job(name, directory, Mix::READ, fathom_units::Bytes::kib(4), 16);
    job.limits.time_based = true;
    job.features.flow = Some(Flow {
        id: 1,
        weight,
        pause: Nanos::ZERO,
    });
    job
}

/// The P20 gives 2,300 IOPS: with three quarters of the I/O there, the P30 may have a third of that.
#[test]
fn the_slowest_share_holds_all_back() {
    let jobs = vec![in_flow("x", "/a/", 25), in_flow("y", "/b/", 75)];
    let result = run(&workload(jobs), &design(DESIGN)).results.remove(0);
    within(iops_of(&result, 1), 2300.0, 0.002);
    within(iops_of(&result, 0), 2300.0 / 3.0, 0.002);
}

/// Where the other way round is asked for, the P30 is full first.
#[test]
fn shares_are_kept_where_the_other_is_full() {
    let jobs = vec![in_flow("x", "/a/", 75), in_flow("y", "/b/", 25)];
    let result = run(&workload(jobs), &design(DESIGN)).results.remove(0);
    within(iops_of(&result, 0), 5000.0, 0.002);
    within(iops_of(&result, 1), 5000.0 / 3.0, 0.002);
}

/// One that ends leaves the rest to the others.
#[test]
fn what_ends_holds_nobody_back() {
    let mut short = in_flow("y", "/b/", 50);
    short.limits.runtime = Some(Nanos::from_secs(10));
    let jobs = vec![in_flow("x", "/a/", 50), short];
    let result = run(&workload(jobs), &design(DESIGN)).results.remove(0);
    // 10 s at 2,300 and 20 s at 5,000.
    within(iops_of(&result, 0), (23_000.0 + 100_000.0) / 30.0, 0.01);
    within(iops(&result) - iops_of(&result, 0), 2300.0, 0.002);
}
