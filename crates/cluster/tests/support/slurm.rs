//! A cluster of Slurm with two nodes on this machine, of which the second has another name: what is sent between them goes by
//! TCP on loopback. Needs root, Slurm's and MUNGE's daemons, and `unshare` of util-linux.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use fathom_rawio::{Clock, sleep_until};
use fathom_units::Nanos;

use super::{Hosts, PROGRAM};

/// The name of the second node's machine.
pub const SECOND: &str = "second";

/// A cluster, gone with its value.
pub struct Slurm {
    pub hosts: Hosts,
    daemons: Vec<Child>,
}

impl Slurm {
    pub fn new() -> Self {
        let mut slurm = Self {
            hosts: Hosts::new(),
            daemons: Vec::new(),
        };
        let folder = slurm.hosts.path();
        for name in ["state", "spool-1", "spool-2", "pmix", "munge"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        fs::write(folder.join("munge/key"), [7; 64]).unwrap();
        fs::write(slurm.configuration(), slurm.settings()).unwrap();
        let pmix = format!("PMIxCliTmpDirBase={}/pmix\n", folder.display());
        fs::write(folder.join("mpi.conf"), pmix).unwrap();
        let folder = folder.display();
        let munge = format!(
            "cd {folder}/munge && chmod 700 . && chmod 400 key && exec munged --foreground --force --key-file=$PWD/key \
             --socket=$PWD/socket --pid-file=$PWD/pid --log-file=$PWD/log --seed-file=$PWD/seed"
        );
        let conf = slurm.configuration().display().to_string();
        let second = format!(
            "hostname {SECOND} && mount -t tmpfs none {folder}/pmix && exec slurmd -D -N n2 -f {conf}"
        );
        slurm.start(&["sh", "-c", &munge]);
        slurm.wait_for("munge/socket");
        slurm.start(&["slurmctld", "-D", "-f", &conf]);
        slurm.start(&["slurmd", "-D", "-N", "n1", "-f", &conf]);
        slurm.start(&["unshare", "--mount", "--uts", "sh", "-c", &second]);
        slurm.wait_for_nodes();
        slurm
    }

    fn configuration(&self) -> PathBuf {
        self.hosts.path().join("slurm.conf")
    }

    fn settings(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let (host, folder) = (host.trim(), self.hosts.path().display());
        let [control, first, second] = free_ports();
        format!(
            "ClusterName=c\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={control}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={folder}/munge/socket\nCryptoType=crypto/munge\nMpiDefault=none\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool-%n\nProctrackType=proctrack/linuxproc\n\
             SlurmctldPidFile={folder}/control.pid\nSlurmdPidFile={folder}/%n.pid\nTaskPlugin=task/none\n\
             SlurmctldLogFile={folder}/control.log\nSlurmdLogFile={folder}/%n.log\nSelectType=select/linear\n\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=2\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=2\n\
             PartitionName=all Nodes=n1,n2 Default=YES State=UP\n"
        )
    }

    fn start(&mut self, words: &[&str]) {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    fn wait_for(&self, name: &str) {
        let path = self.hosts.path().join(name);
        wait_until(|| path.exists());
    }

    fn wait_for_nodes(&self) {
        wait_until(|| {
            let mut command = Command::new("sinfo");
            command.args(["--noheader", "--format=%T %D"]);
            let output = command.env("SLURM_CONF", self.configuration()).output();
            output.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).trim() == "idle 2")
        });
    }

    /// `srun` of a process on each node, with these words of its own and those behind `run`.
    pub fn launcher(&self, own: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new("srun");
        command
            .args(["--mpi=pmix", "--nodes=2", "--ntasks-per-node=1"])
            .args(own)
            .args([PROGRAM, "run"])
            .args(words)
            .env("SLURM_CONF", self.configuration())
            .env("OMPI_MCA_btl", "self,tcp")
            .env("OMPI_MCA_btl_tcp_if_include", "lo")
            .env("XDG_DATA_HOME", self.hosts.path().join("data"))
            .current_dir(self.hosts.path())
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // The controller and the nodes before what they ask who speaks.
        for daemon in self.daemons.iter_mut().rev() {
            let id = daemon.id().to_string();
            let _ = Command::new("kill").args(["-s", "TERM", &id]).status();
            let _ = daemon.wait();
        }
    }
}

/// Ports of loopback that nobody had a moment ago.
fn free_ports() -> [u16; 3] {
    let bound = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    bound.map(|it| it.local_addr().unwrap().port())
}

fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        sleep_until(Clock::now() + Nanos::from_millis(50));
    }
    panic!("Slurm does not come up");
}
