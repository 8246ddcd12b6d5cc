//! Hosts that Slurm starts.

mod support;

use fathom_rawio::Clock;
use fathom_units::Nanos;
use serde_json::Value;
use support::slurm::{SECOND, Slurm};
use support::{ended, run, signal, started};

#[test]
fn nodes_measure_together() {
    let slurm = Slurm::new();
    let workload = slurm.hosts.workload("w.toml", "600ms");
    let words = ["--quiet", "--json", workload.to_str().unwrap()];
    let ended = run(&mut slurm.launcher(&["-K1"], &words));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let record: Value = serde_json::from_str(&ended.stdout).unwrap();
    for stage in record["stages"].as_array().unwrap() {
        let each = stage["hosts"]["each"].as_array().unwrap();
        assert_eq!(each.len(), 2);
        assert!(each.iter().any(|host| host["host"] == SECOND), "{stage}");
        let ios = |of: &Value| of["total"]["all"]["ios"].as_u64().unwrap();
        assert!(ios(&each[0]) > 0 && ios(&each[1]) > 0, "{stage}");
        assert_eq!(ios(stage), ios(&each[0]) + ios(&each[1]));
    }
}

#[test]
fn what_is_left_of_a_run_with_a_dead_node_is_told_at_once() {
    let slurm = Slurm::new();
    let workload = slurm.hosts.workload("w.toml", "20s");
    let words = ["--quiet", workload.to_str().unwrap()];
    let child = started(&mut slurm.launcher(&["-K1"], &words));
    slurm.hosts.wait_for_figures(2);
    let processes = slurm.hosts.processes();
    let second = processes.iter().find(|(rank, _)| *rank == 1);
    let killed = Clock::now();
    signal(second.unwrap().1, "KILL");
    let ended = ended(child);
    // Slurm kills what has not ended half a minute after it asked.
    assert!(Clock::now().saturating_sub(killed) < Nanos::from_secs(10));
    let told = &ended.stderr;
    assert!(
        told.contains("nothing was heard of second") && told.contains("is partial"),
        "{told}"
    );
    assert!(ended.stdout.contains("FAIL all-hosts"), "{}", ended.stdout);
    // `srun` takes the highest code: of the killed process, or of the one that told so.
    assert!(matches!(ended.code, Some(1 | 137)), "{told}");
    let (own, merged) = slurm.hosts.stored();
    let ios = |record: &Value| record["stages"][0]["total"]["all"]["ios"].clone();
    let merged = ios(&merged.unwrap());
    assert!(own.iter().any(|own| ios(own) == merged), "{merged}");
}
