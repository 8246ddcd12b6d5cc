//! PostgreSQL on served volumes whose machine fails at random moments: what was acknowledged is there again, or is not.
//!
//! A file system and a cluster live on a block device of the design. Clients insert numbers and note each that was
//! acknowledged. The machine is stopped, `crash` takes what no disk has, and after a mount and the database's recovery each
//! noted number is looked for, with what was stored beside it. Needs root, and what `cargo xtask test` installs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a soak shows its table")]

mod live;
mod support;

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fathom_rawio::Clock;
use fathom_units::Nanos;
use live::postgres::{Cluster, Postgres};
use live::{Mounted, Served, Shown, await_some, open_folder, soaking};
use support::system;

/// Clients at once.
const CLIENTS: usize = 4;

/// How a series of crashes is set up.
struct Case {
    what: &'static str,
    caching: &'static str,
    /// How the file system is mounted.
    mount: &'static str,
    /// `fsync=on` or `fsync=off`.
    fsync: &'static str,
    /// Crashes of the long form, and of the short one.
    crashes: (u32, u32),
}

/// What came of it.
#[derive(Debug, Default)]
struct Outcome {
    acknowledged: usize,
    lost: usize,
    /// Crashes after which the file system or the cluster could not be used.
    broken: u32,
    /// Crashes after which something was missing.
    with_loss: u32,
}

/// A served volume, and the place where it is mounted.
struct Machine<'a> {
    case: &'a Case,
    /// Before the server, which ends after it.
    mounted: Option<Mounted>,
    served: Served,
    place: PathBuf,
    postgres: &'a Postgres,
}

impl<'a> Machine<'a> {
    fn new(home: &Path, case: &'a Case, postgres: &'a Postgres) -> Self {
        let design = format!(
            "[[vm]]\nname = 'db'\nsize = 'Standard_DS14'\nera = '2016'\n\n[[vm.volume]]\nname = 'data'\n\
             mount = '/data'\ndisks = {{ type = 'P30', count = 1 }}\ncaching = '{}'\n",
            case.caching
        );
        let path = home.join("db.design.toml");
        std::fs::write(&path, design).unwrap();
        Self {
            case,
            mounted: None,
            served: Served::start(home, &path, Shown::Devices, &[]),
            place: home.join("mounted"),
            postgres,
        }
    }

    fn device(&self) -> &str {
        &self.served.devices[0]
    }

    fn mount(&mut self) -> Result<(), String> {
        let mounted = Mounted::new(self.device(), &self.place, self.case.mount)?;
        self.mounted = Some(mounted);
        Ok(())
    }

    /// A new file system with a new cluster on it, all of it on the disk.
    fn fill(&mut self, template: &Path) {
        self.mounted = None;
        // Of the volume so much is used as the clusters need.
        system("mkfs.ext4", &["-q", "-F", self.device(), "2G"]);
        self.mount().unwrap();
        let from = template.display().to_string();
        system("cp", &["-a", &from, &self.data().display().to_string()]);
        self.start().unwrap().ask(TABLE).unwrap();
        system("sync", &["-f", &self.place.display().to_string()]);
        // Without barriers nothing but an order of the volume's own says that all of it is on the disk.
        let flush = format!("h.connect_uri('{}'); h.flush()", self.served.uri("data"));
        let flush = format!("import nbd; h = nbd.NBD(); {flush}");
        system("/usr/bin/python3", &["-c", &flush]);
    }

    fn data(&self) -> PathBuf {
        self.place.join("cluster")
    }

    fn start(&self) -> Result<Cluster<'a>, String> {
        let options = [self.case.fsync, "max_wal_size=48MB", "min_wal_size=32MB"];
        self.postgres.start(&self.data(), &options)
    }

    /// The machine stands still, loses what a dead host loses, and is gone; then all that ran on it ends.
    fn crash(&mut self, cluster: Cluster<'_>, dead: &AtomicBool) {
        self.served.order(&["stall", "db"]);
        // What is acknowledged from here on is not noted.
        dead.store(true, Ordering::SeqCst);
        self.served.order(&["crash", "--vm", "db"]);
        self.served.order(&["detach", "db"]);
        drop(cluster);
        self.mounted = None;
        self.served.order(&["attach", "db"]);
        self.served.order(&["resume", "db"]);
    }
}

const TABLE: &str = "CREATE TABLE done (n bigint PRIMARY KEY, fill text NOT NULL)";
/// The numbers that are there with what belongs to them.
const LOOK: &str = "SELECT n FROM done WHERE fill = repeat(md5(n::text), 16)";

/// Inserts numbers one after another and notes what is acknowledged, until the machine is dead.
fn insert(postgres: &Postgres, next: &AtomicU64, dead: &AtomicBool) -> Vec<u64> {
    let mut psql = postgres.client();
    psql.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut psql = psql.stderr(Stdio::null()).spawn().unwrap();
    let mut noted = Vec::new();
    let mut answers = BufReader::new(psql.stdout.take().unwrap()).lines();
    let mut asks = psql.stdin.take().unwrap();
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        let row = format!("INSERT INTO done VALUES ({n}, repeat(md5('{n}'), 16)) RETURNING n;");
        if writeln!(asks, "{row}").is_err() {
            break;
        }
        let Some(Ok(answer)) = answers.next() else {
            break;
        };
        assert_eq!(answer, n.to_string());
        if dead.load(Ordering::SeqCst) {
            break;
        }
        noted.push(n);
    }
    let _ = psql.kill();
    let _ = psql.wait();
    noted
}

/// Runs clients until the machine fails at a random moment; gives what they were told is stored.
fn run_and_crash(machine: &mut Machine<'_>, cluster: Cluster<'_>, next: &AtomicU64) -> Vec<u64> {
    let dead = AtomicBool::new(false);
    let postgres = machine.postgres;
    // Later than this from the first rows on.
    let moment = Nanos::from_micros(Clock::now().get() / 1000 % 1_500_000);
    let begun = next.load(Ordering::Relaxed) + 2 * CLIENTS as u64;
    std::thread::scope(|scope| {
        let client = || insert(postgres, next, &dead);
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        await_some(60, "the first rows", || {
            (next.load(Ordering::Relaxed) > begun).then_some(())
        });
        let end = Clock::now() + moment;
        await_some(60, "the moment", || (Clock::now() >= end).then_some(()));
        machine.crash(cluster, &dead);
        let noted = clients.into_iter().map(|client| client.join().unwrap());
        noted.flatten().collect()
    })
}

/// What is stored after a crash, or why nothing can be read any more.
fn recover<'a>(machine: &mut Machine<'a>) -> Result<(Cluster<'a>, HashSet<u64>), String> {
    machine.mount()?;
    let cluster = machine.start()?;
    let rows = cluster.ask(LOOK)?;
    let numbers = rows.lines().map(|line| line.parse().unwrap()).collect();
    Ok((cluster, numbers))
}

/// A series of crashes. Where nothing is lost, the same cluster goes on through all of them.
fn series(case: &Case) -> Outcome {
    let home = open_folder();
    let postgres = Postgres::new(home.path());
    let template = home.path().join("pg/template");
    postgres.make(&template);
    let mut machine = Machine::new(home.path(), case, &postgres);
    machine.fill(&template);
    let (mut outcome, next) = (Outcome::default(), AtomicU64::new(1));
    let mut cluster = machine.start().unwrap();
    let mut noted: Vec<u64> = Vec::new();
    let crashes = if soaking() {
        case.crashes.0
    } else {
        case.crashes.1
    };
    for _ in 0..crashes {
        let more = run_and_crash(&mut machine, cluster, &next);
        assert!(!more.is_empty(), "nothing was stored");
        outcome.acknowledged += more.len();
        noted.extend(more);
        let recovered = recover(&mut machine);
        let there = recovered.as_ref().map(|(_, there)| there);
        let gone = |n: &&u64| there.map_or(true, |there| !there.contains(n));
        let lost = noted.iter().filter(gone).count();
        outcome.lost += lost;
        outcome.with_loss += u32::from(lost > 0);
        outcome.broken += u32::from(recovered.is_err());
        cluster = match recovered {
            Ok((cluster, _)) if lost == 0 => cluster,
            other => {
                drop(other);
                noted.clear();
                machine.fill(&template);
                machine.start().unwrap()
            }
        };
    }
    drop(cluster);
    println!(
        "| {} | {crashes} | {} | {} | {} | {} |",
        case.what, outcome.acknowledged, outcome.lost, outcome.with_loss, outcome.broken
    );
    outcome
}

#[test]
fn a_database_that_flushes_loses_nothing_by_write_back() {
    let outcome = series(&Case {
        what: "ReadWrite, barriers, `fsync=on`",
        caching: "read-write",
        mount: "barrier=1",
        fsync: "fsync=on",
        crashes: (50, 3),
    });
    assert_eq!((outcome.lost, outcome.broken), (0, 0), "{outcome:?}");
}

#[test]
fn a_database_that_does_not_flush_loses_what_it_had_acknowledged() {
    let outcome = series(&Case {
        what: "ReadWrite, barriers, `fsync=off`",
        caching: "read-write",
        mount: "barrier=1",
        fsync: "fsync=off",
        crashes: (10, 1),
    });
    assert!(outcome.lost > 0, "{outcome:?}");
}

/// The guide's rule for barriers: they may be off where the host does not write back, and must be on where it does.
#[test]
fn without_barriers_a_cache_that_writes_back_loses_and_none_does_not() {
    let mut case = Case {
        what: "ReadWrite, no barriers, `fsync=on`",
        caching: "read-write",
        mount: "barrier=0",
        fsync: "fsync=on",
        crashes: (10, 1),
    };
    let outcome = series(&case);
    assert!(outcome.lost > 0, "{outcome:?}");
    case.what = "no caching, no barriers, `fsync=on`";
    case.caching = "none";
    let outcome = series(&case);
    assert_eq!((outcome.lost, outcome.broken), (0, 0), "{outcome:?}");
}
