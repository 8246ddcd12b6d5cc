//! What keeps a run on several hosts from beginning: told once, with the hosts that it is about, and nothing is written.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Ended, Hosts, PROGRAM, run};

#[test]
fn without_a_launcher_it_says_how_to_start() {
    let alone = || {
        let mut command = Command::new(PROGRAM);
        for name in ["OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK"] {
            command.env_remove(name);
        }
        command.args(["run", "quick"]);
        command
    };
    let ended = run(&mut alone());
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("`mpirun --hostfile HOSTS"),
        "{}",
        ended.stderr
    );
    let ended = run(alone().env("SLURM_STEP_NUM_TASKS", "3"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("`--mpi=pmix`"), "{}", ended.stderr);
}

#[test]
fn what_the_launcher_started_is_what_mpi_sees() {
    let hosts = Hosts::new();
    let workload = hosts.workload("w.toml", "300ms");
    let mut launcher = hosts.launcher(1);
    let script = "OMPI_COMM_WORLD_SIZE=4 exec \"$@\"";
    launcher.args(["sh", "-c", script, "sh", PROGRAM, "run"]);
    let ended = run(launcher.arg(&workload));
    assert_eq!(ended.code, Some(8), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("MPI sees 1 of them"),
        "{}",
        ended.stderr
    );
}

#[test]
fn hosts_with_another_workload_are_named() {
    let hosts = Hosts::new();
    let (one, other) = (
        hosts.workload("w.toml", "300ms"),
        hosts.workload("v.toml", "400ms"),
    );
    let mut launcher = hosts.launcher(1);
    launcher.args([PROGRAM, "run"]).arg(&one);
    launcher.args([":", "-np", "2", PROGRAM, "run"]).arg(&other);
    let ended = run(&mut launcher);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let told = &ended.stderr;
    assert!(
        told.contains("#2 and ") && told.contains("300ms") && told.contains("400ms"),
        "{told}"
    );
    assert_eq!(
        told.matches("its workload is not that of").count(),
        1,
        "{told}"
    );
    let (own, merged) = hosts.stored();
    assert!(own.is_empty() && merged.is_none());
}

/// Runs `workload` on two hosts, on the second with a `--map` of its own.
fn run_with_map_on_the_second(hosts: &Hosts, workload: &Path, map: &str) -> Ended {
    let mut launcher = hosts.launcher(1);
    launcher.args([PROGRAM, "run"]).arg(workload);
    launcher
        .args([":", "-np", "1", PROGRAM, "run", "--map", map])
        .arg(workload);
    run(&mut launcher)
}

#[test]
fn what_one_host_cannot_do_no_host_begins() {
    let hosts = Hosts::new();
    let text = format!(
        "[[stage]]\nmeasure = \"300ms\"\n[[stage.job]]\nmix = {{ write = \"100%\" }}\n[stage.job.target]\n\
         path = \"{}/file\"\nsize = \"2MiB\"\n",
        hosts.path().display()
    );
    let workload = hosts.file("w.toml", &text);
    // Paths may be others on each host: here one has a file that Fathom did not make.
    let foreign = hosts.file("foreign", "what somebody keeps");
    let map = format!("{}/file={}", hosts.path().display(), foreign.display());
    let ended = run_with_map_on_the_second(&hosts, &workload, &map);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    let told = &ended.stderr;
    assert!(told.contains("#2: error: writing to `"), "{told}");
    assert!(told.contains("nothing was run on any host"), "{told}");
    assert!(!hosts.path().join("file").exists());
    assert_eq!(
        std::fs::read_to_string(foreign).unwrap(),
        "what somebody keeps"
    );
}

/// What a host's own `--map` puts in a path's place is told of that one: a further one would not be asked.
#[test]
fn what_a_map_of_a_host_made_is_said_of_it() {
    let hosts = Hosts::new();
    let workload = hosts.workload("w.toml", "300ms");
    let map = format!("{}=E:\\new", hosts.path().display());
    let ended = run_with_map_on_the_second(&hosts, &workload, &map);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let told = &ended.stderr;
    assert!(told.contains("#2: error: `E:\\new"), "{told}");
    assert!(told.contains("is a path of Windows"), "{told}");
    assert!(
        told.contains("put it there, and no further one replaces it"),
        "{told}"
    );
    assert!(told.contains("nothing was run on any host"), "{told}");
}
