//! Hosts that die, hang or are stopped: what the others measured is kept.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use support::{Ended, Hosts, PROGRAM, ended, signal, started};

/// Starts two hosts of one stage that takes long, does `act` when both measure, and waits for the end.
fn disturbed(hosts: &Hosts, words: &[&str], act: impl Fn(&[(usize, u32)], u32)) -> Ended {
    let workload = hosts.workload("w.toml", "20s");
    // Between machines there is the network alone, and what is sent on it to a process that has died may hold up the sender.
    let mut launcher = hosts.launcher_by("self,tcp", 2);
    launcher.args([PROGRAM, "run", "--quiet"]).args(words);
    let child = started(launcher.arg(&workload));
    hosts.wait_for_figures(2);
    act(&hosts.processes(), child.id());
    ended(child)
}

fn id_of(processes: &[(usize, u32)], rank: usize) -> u32 {
    let found = processes.iter().find(|(of, _)| *of == rank);
    found.unwrap().1
}

/// The first host, one of two, tells what it has without the other.
#[track_caller]
fn check_partial(hosts: &Hosts, ended: &Ended) {
    let told = &ended.stderr;
    assert!(
        told.contains("nothing was heard of ") && told.contains("is partial"),
        "{told}"
    );
    assert!(ended.stdout.contains("FAIL all-hosts"), "{}", ended.stdout);
    // A host that hangs may come to and store its run before it is killed.
    let (own, merged) = hosts.stored();
    let ios = |record: &Value| record["stages"][0]["total"]["all"]["ios"].clone();
    let merged = ios(&merged.unwrap());
    assert!(own.iter().any(|own| ios(own) == merged), "{merged}");
}

#[test]
fn what_is_left_of_a_run_with_a_dead_host_is_told() {
    let hosts = Hosts::new();
    let ended = disturbed(&hosts, &[], |processes, _| {
        signal(id_of(processes, 1), "KILL");
    });
    // Open MPI's own code for a process that was killed.
    assert_eq!(ended.code, Some(137), "{}", ended.stderr);
    check_partial(&hosts, &ended);
}

#[test]
fn a_host_that_hangs_is_given_up() {
    let hosts = Hosts::new();
    let ended = disturbed(&hosts, &["--lost-after", "1500ms"], |processes, _| {
        signal(id_of(processes, 1), "STOP");
    });
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    check_partial(&hosts, &ended);
}

#[test]
fn a_dead_first_host_leaves_the_others_their_own_runs() {
    let hosts = Hosts::new();
    disturbed(&hosts, &[], |processes, _| {
        signal(id_of(processes, 0), "KILL");
    });
    let (own, merged) = hosts.stored();
    assert!(own.len() == 1 && merged.is_none(), "{own:?}");
    assert!(own[0]["stages"][0]["total"]["all"]["ios"].as_u64() > Some(0));
}

#[test]
fn an_io_that_fails_on_one_host_ends_the_run_of_all() {
    let hosts = Hosts::new();
    let bytes = "x".repeat(2 << 20);
    let (one, other) = (hosts.file("one", &bytes), hosts.file("other", &bytes));
    let text = format!(
        "[[stage]]\nmeasure = \"20s\"\n[[stage.job]]\ntarget = {{ path = \"{}\" }}\n",
        one.display()
    );
    let workload = hosts.file("w.toml", &text);
    let map = format!("{}={}", one.display(), other.display());
    let mut launcher = hosts.launcher_by("self,tcp", 1);
    launcher.args([PROGRAM, "run", "--quiet"]).arg(&workload);
    launcher.args([":", "-np", "1", PROGRAM, "run", "--quiet", "--map", &map]);
    let child = started(launcher.arg(&workload));
    hosts.wait_for_figures(2);
    let shortened = std::fs::File::options().write(true).open(other).unwrap();
    shortened.set_len(4096).unwrap();
    let ended = ended(child);
    assert_eq!(ended.code, Some(5), "{}", ended.stderr);
    let told = &ended.stderr;
    assert!(told.contains("#2: error: job"), "{told}");
    assert!(
        told.contains("all hosts were stopped, since the run of "),
        "{told}"
    );
    assert_eq!(hosts.stored().0.len(), 2);
}

#[test]
fn a_run_that_is_asked_to_end_tells_what_all_measured() {
    for (name, code) in [("USR1", 130), ("TERM", 1)] {
        let hosts = Hosts::new();
        let ended = disturbed(&hosts, &[], |_, launcher| signal(launcher, name));
        assert_eq!(ended.code, Some(code), "{name}: {}", ended.stderr);
        let (own, merged) = hosts.stored();
        assert_eq!(own.len(), 2, "{name}");
        let sum: u64 = own
            .iter()
            .map(|own| own["stages"][0]["total"]["all"]["ios"].as_u64().unwrap())
            .sum();
        let merged = merged.unwrap();
        assert_eq!(merged["stages"][0]["total"]["all"]["ios"], sum, "{name}");
        assert_eq!(merged["interrupted"], true, "{name}");
        assert!(
            !ended.stderr.contains("is partial"),
            "{name}: {}",
            ended.stderr
        );
    }
}
