//! 24 exports with 128 connections under load, while other clients do what no client should: everybody else has what the
//! design gives, and memory stays bounded.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod live;
mod nbd_client;
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use live::{Served, Shown, open_folder, soaking};
use nbd_client::{client, request};
use serde_json::Value;

/// Volumes of each machine.
const VOLUMES: usize = 12;
/// What a P10 gives, times the scale.
const SCALE: &str = "0.2";
const RATE: f64 = 100.0;
/// Clients that ask for much and take no answer.
const DEAF: usize = 4;
/// KiB that the server may hold beyond what it had: 24 MiB of volumes that are written, and of 128 connections and deaf
/// clients what they may be owed.
const GROWTH_MOST: u64 = 64 << 10;

fn design() -> String {
    let mut text = String::new();
    // The last one's volume is for those who misbehave: on the others they would take turns with everybody else.
    for (machine, volumes) in [("a", VOLUMES), ("b", VOLUMES), ("bad", 1)] {
        writeln!(
            text,
            "[[vm]]\nname = '{machine}'\nsize = 'Standard_DS14'\nera = '2016'\n"
        )
        .unwrap();
        for index in 0..volumes {
            let name = format!("{machine}{index}");
            writeln!(
                text,
                "[[vm.volume]]\nname = '{name}'\nmount = '/{name}'\ncaching = 'none'\n\
                 disks = {{ type = 'P10', count = 1 }}\n"
            )
            .unwrap();
        }
    }
    text
}

/// A job for each export: 128 connections on 24 of them.
fn jobs(served: &Served, seconds: u32) -> String {
    let times = format!("time_based\nruntime={seconds}\nramp_time=2");
    let kind =
        "ioengine=nbd\nrw=randrw\nbs=4k\niodepth=4\nsize=1m\nnorandommap\nthread\ngroup_reporting";
    let mut text = format!("[global]\n{kind}\n{times}\n");
    for (index, name) in names().enumerate() {
        let connections = if index < 8 { 6 } else { 5 };
        let uri = served.uri(&name);
        writeln!(
            text,
            "[{name}]\nnew_group\nnumjobs={connections}\nuri={uri}"
        )
        .unwrap();
    }
    text
}

fn names() -> impl Iterator<Item = String> {
    let machines = ["a", "b"].into_iter();
    machines.flat_map(|machine| (0..VOLUMES).map(move |index| format!("{machine}{index}")))
}

/// One after another: garbage before and after the handshake, a length that is a lie, a write broken off.
fn misbehave(socket: &Path, round: u64) {
    let garbage: Vec<u8> = (0..5000u64)
        .map(|index| (index.wrapping_mul(round | 1) >> 3) as u8)
        .collect();
    // The server may hang up in the middle of any of these.
    let _ = UnixStream::connect(socket).unwrap().write_all(&garbage);
    let _ = client(socket, "bad0").write_all(&garbage);
    let mut liar = client(socket, "bad0");
    let _ = liar.write_all(&request(1, 0, u32::MAX));
    assert_eq!(liar.read(&mut [0; 1]).unwrap_or(0), 0, "it is cut off");
    let mut leaver = client(socket, "bad0");
    let _ = leaver.write_all(&request(1, 1 << 30, 1 << 20));
    let _ = leaver.write_all(&garbage);
}

/// KiB of memory that a process has.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let words = line.unwrap().split_whitespace();
    { words }.nth(1).unwrap().parse().unwrap()
}

/// I/Os a second of each export, by fio.
fn rates(text: &str) -> BTreeMap<String, f64> {
    let json = text.find('{').map(|start| &text[start..]);
    let document: Value = serde_json::from_str(json.expect("fio's results")).unwrap();
    let jobs = document["jobs"].as_array().unwrap().iter();
    let rate = |job: &Value| {
        let ways = ["read", "write"].map(|way| job[way]["iops"].as_f64().unwrap());
        ways.into_iter().sum::<f64>()
    };
    jobs.map(|job| (job["jobname"].as_str().unwrap().to_owned(), rate(job)))
        .collect()
}

#[test]
fn a_crowd_has_what_the_design_gives_whatever_others_do() {
    let folder = open_folder();
    let home = folder.path();
    let path = home.join("crowd.design.toml");
    std::fs::write(&path, design()).unwrap();
    let served = Served::start(home, &path, Shown::Exports, &["--scale", SCALE]);
    let (seconds, short_of) = if soaking() { (55, 0.01) } else { (3, 0.25) };
    std::fs::write(home.join("crowd.ini"), jobs(&served, seconds)).unwrap();
    let before = resident(served.process());
    let asks: Vec<u8> = (0..2000).flat_map(|_| request(0, 0, 32 << 20)).collect();
    let deaf: Vec<UnixStream> = (0..DEAF)
        .map(|_| {
            let mut stream = client(&served.socket(), "bad0");
            stream.set_nonblocking(true).unwrap();
            while stream.write(&asks).is_ok_and(|count| count > 0) {}
            stream
        })
        .collect();
    let mut fio = Command::new("fio");
    fio.args(["crowd.ini", "--output-format=json"])
        .current_dir(home);
    let fio = fio.stdout(Stdio::piped()).spawn().unwrap();
    let (over, rounds, most) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let told = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                misbehave(&served.socket(), rounds.fetch_add(1, Ordering::Relaxed));
                most.fetch_max(resident(served.process()), Ordering::Relaxed);
                std::thread::park_timeout(Duration::from_millis(50));
            }
        });
        let told = fio.wait_with_output();
        over.store(true, Ordering::Relaxed);
        told.unwrap()
    });
    assert!(told.status.success(), "{told:?}");
    drop(deaf);
    let rates = rates(&String::from_utf8_lossy(&told.stdout));
    let grown = most.into_inner().saturating_sub(before);
    let record = served.stop();
    let rounds = rounds.into_inner();
    println!(
        "24 exports, 128 connections, {seconds} s: {:.1} to {:.1} IOPS each of {RATE}; {rounds} rounds of bad clients, \
         {grown} KiB more memory at most; error p99 {} µs",
        rates.values().copied().fold(f64::INFINITY, f64::min),
        rates.values().copied().fold(0.0, f64::max),
        record["stages"][0]["emulation"]["error_ns"]["p99"]
            .as_u64()
            .unwrap()
            / 1000,
    );
    assert_eq!(rates.len(), 24);
    assert!(rounds > 5, "{rounds} rounds");
    assert!(grown < GROWTH_MOST, "grew by {grown} KiB");
    for (name, rate) in &rates {
        let near = RATE * (1.0 - short_of)..=RATE * 1.02;
        assert!(near.contains(rate), "{name}: {rate} IOPS");
    }
}
