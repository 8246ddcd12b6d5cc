//! Two network namespaces with a cable (a pair of `veth`) between them, in which processes have another name and clock each.
//!
//! Open MPI starts its daemon on the second as it does on any machine: by a program like ssh, which is a script here that enters
//! the namespaces. Needs root, `ip` of iproute2 and `unshare` of util-linux.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;

use super::{Hosts, PROGRAM};

/// Addresses of the two: of a private network that is nowhere but on the cable.
const ADDRESSES: [&str; 2] = ["10.213.77.1", "10.213.77.2"];
const NETWORK: &str = "10.213.77.0/24";

/// Two machines, gone with their value.
pub struct Machines {
    pub hosts: Hosts,
    namespaces: [String; 2],
}

impl Machines {
    pub fn new() -> Self {
        let id = std::process::id();
        let machines = Self {
            hosts: Hosts::new(),
            namespaces: [0, 1].map(|number| format!("fathom-{id}-{number}")),
        };
        let [first, second] = &machines.namespaces;
        ip(&["netns", "add", first]);
        ip(&["netns", "add", second]);
        let ends = ["link", "add", "cable", "netns", first, "type", "veth"];
        ip(&[&ends[..], &["peer", "name", "cable", "netns", second]].concat());
        for (namespace, address) in machines.namespaces.iter().zip(ADDRESSES) {
            let address = format!("{address}/24");
            ip(&["-n", namespace, "address", "add", &address, "dev", "cable"]);
            ip(&["-n", namespace, "link", "set", "cable", "up"]);
            ip(&["-n", namespace, "link", "set", "lo", "up"]);
        }
        let script = machines.script();
        let enter = |number: usize| {
            format!(
                "exec ip netns exec {} unshare --uts --time --monotonic {} --fork --kill-child \\\n  \
                 sh -c 'hostname m{number}; exec sh -c \"$1\"' sh \"$*\"",
                machines.namespaces[number],
                number * 5_000
            )
        };
        let text = format!(
            "#!/bin/sh\nhost=$1\nshift\ncase $host in\n{}) {} ;;\n*) {} ;;\nesac\n",
            ADDRESSES[1],
            enter(1),
            enter(0)
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        machines
    }

    /// Runs its second word and the rest on the machine of that address, as ssh does.
    fn script(&self) -> PathBuf {
        self.hosts.path().join("as-ssh")
    }

    /// A launcher on the first machine of a process on each, with these words behind `run`.
    pub fn launcher(&self, words: &[&str]) -> Command {
        let script = self.script().display().to_string();
        let data = self.hosts.path().join("data").display().to_string();
        let by_cable = ["btl_tcp_if_include", "oob_tcp_if_include"];
        let hosts = format!("m0,{}", ADDRESSES[1]);
        let mut all: Vec<&str> = vec!["mpirun", "--allow-run-as-root", "--bind-to", "none"];
        all.extend([
            "--mca",
            "plm_rsh_agent",
            &script,
            "--mca",
            "btl",
            "self,tcp",
        ]);
        all.extend(by_cable.iter().flat_map(|key| ["--mca", key, NETWORK]));
        all.extend(["--host", &hosts, "-np", "2", "--map-by", "ppr:1:node"]);
        all.extend(["-x", "XDG_DATA_HOME", PROGRAM, "run"]);
        all.extend(words);
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.namespaces[0]])
            .args(["unshare", "--uts", "--fork", "--kill-child"])
            .args(["sh", "-c", "hostname m0; exec \"$@\"", "sh"])
            .args(&all)
            .env("XDG_DATA_HOME", data)
            .current_dir(self.hosts.path())
            .stdin(Stdio::null());
        command
    }

    /// Bytes that came over the cable to the first machine.
    pub fn received(&self) -> u64 {
        let counter = "/sys/class/net/cable/statistics/rx_bytes";
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespaces[0], "cat", counter]);
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap()
    }

    /// Nothing comes through from now on.
    pub fn pull_cable(&self) {
        ip(&["-n", &self.namespaces[1], "link", "set", "cable", "down"]);
    }
}

impl Machines {
    /// Waits until the process of the first host has ended, then ends what is left: without a cable Open MPI's daemons, and so
    /// `mpirun`, wait for each other until TCP gives the connection up.
    pub fn end_after_first(&self) {
        while self.hosts.processes().iter().any(|(rank, _)| *rank == 0) {
            sleep_until(Clock::now() + Nanos::from_millis(50));
        }
        self.end_all();
    }

    fn end_all(&self) {
        for namespace in &self.namespaces {
            let listed = Command::new("ip")
                .args(["netns", "pids", namespace])
                .output();
            let listed = listed.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
            for id in listed.unwrap_or_default().split_whitespace() {
                let _ = Command::new("kill").args(["-s", "KILL", id]).status();
            }
        }
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        self.end_all();
        for namespace in &self.namespaces {
            let _ = Command::new("ip")
                .args(["netns", "delete", namespace])
                .status();
        }
    }
}

fn ip(words: &[&str]) {
    let status = Command::new("ip").args(words).status().unwrap();
    assert!(status.success(), "ip {}", words.join(" "));
}
