//! pgbench on PostgreSQL on a served P10 and P30: transactions a second, the limit they met, what a ReadOnly cache changes,
//! and the prediction of the very I/O that was served.
//!
//! The volume's bytes are in files in memory (`/dev/shm`), so that the design alone is what takes time. The cluster is
//! loaded with the disk's limits lifted, and mounted anew for each run: nothing of it is in this machine's page cache then.
//! Needs root, and what `cargo xtask test` installs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a soak shows its table")]

mod live;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use live::postgres::Postgres;
use live::{Mounted, Served, Shown, soaking};
use serde_json::Value;
use support::{expect_code, system};

/// How long and how large: pgbench's seconds and its scale.
struct Size {
    seconds: u32,
    scale: u32,
}

/// A caching of the volume: its name, and its keys in a design.
#[derive(Clone, Copy)]
struct Caching(&'static str, &'static str);

const NONE: Caching = Caching("None", "caching = 'none'");
const READ_ONLY: Caching = Caching("ReadOnly, warm", "caching = 'read-only'\ncache = 'warm'");

/// What a run on a volume gave.
struct Row {
    transactions: f64,
    served: Io,
    predicted: Io,
    hits: Option<f64>,
}

/// What a record says of its I/O.
struct Io {
    ios: u64,
    /// Mean latencies in ns.
    read: f64,
    write: f64,
    /// The limit that was waited for longest.
    bound: String,
}

impl Io {
    fn of(record: &Value) -> Self {
        let total = &record["stages"][0]["total"];
        let shares = total["all"]["bound_by"].as_object();
        let most = shares.and_then(|shares| {
            let by_share = |share: &Value| share.as_f64().unwrap_or_default();
            let longest = |a: &(&String, &Value), b: &(&String, &Value)| {
                by_share(a.1).total_cmp(&by_share(b.1))
            };
            shares
                .iter()
                .max_by(longest)
                .map(|(limit, _)| limit.clone())
        });
        let mean = |way: &str| {
            total[way]["latency_ns"]["mean"]
                .as_f64()
                .unwrap_or_default()
        };
        Self {
            ios: total["all"]["ios"].as_u64().unwrap(),
            read: mean("read"),
            write: mean("write"),
            bound: most.unwrap_or_default(),
        }
    }
}

/// A database on a volume of one disk.
struct Bench {
    folder: tempfile::TempDir,
    postgres: Postgres,
    disk: &'static str,
    size: Size,
}

impl Bench {
    fn new(disk: &'static str, size: Size) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(folder.path().join("disk")).unwrap();
        let bench = Self {
            postgres: Postgres::new(folder.path()),
            folder,
            disk,
            size,
        };
        bench.load();
        bench
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn design(&self, Caching(_, caching): Caching) -> PathBuf {
        let path = self.home().join("db.design.toml");
        let text = format!(
            "[[vm]]\nname = 'db'\nsize = 'Standard_DS14'\nera = '2016'\n\n[[vm.volume]]\nname = 'data'\n\
             mount = '/data'\ndisks = {{ type = '{}', count = 1 }}\n{caching}\n",
            self.disk
        );
        fs::write(&path, text).unwrap();
        path
    }

    fn serve(&self, caching: Caching, more: &[&str]) -> Served {
        let more = [&["--backing", "disk"], more].concat();
        Served::start(self.home(), &self.design(caching), Shown::Devices, &more)
    }

    fn place(&self) -> PathBuf {
        self.home().join("mounted")
    }

    fn pgbench(&self, words: &[&str]) -> String {
        let told = self.postgres.program("pgbench").args(words).output();
        let told = told.unwrap();
        assert!(told.status.success(), "{told:?}");
        String::from_utf8(told.stdout).unwrap()
    }

    /// Makes the cluster, as fast as this machine can.
    fn load(&self) {
        let served = self.serve(NONE, &[]);
        served.order(&["limits", "data", "iops=none", "bandwidth=none"]);
        system("mkfs.ext4", &["-q", &served.devices[0], "4G"]);
        let mounted = Mounted::new(&served.devices[0], &self.place(), "defaults").unwrap();
        self.postgres.own(&self.place());
        let data = self.place().join("cluster");
        self.postgres.make(&data);
        let cluster = self.postgres.start(&data, &["fsync=off"]).unwrap();
        let scale = self.size.scale.to_string();
        self.pgbench(&["-i", "-q", "-s", &scale, "postgres"]);
        cluster.stop();
        drop(mounted);
        served.stop();
    }

    /// pgbench on the volume with such caching.
    fn run(&self, caching: Caching) -> Row {
        let trace = self.home().join("trace.csv");
        let _ = fs::remove_file(&trace);
        let trace = trace.display().to_string();
        let served = self.serve(caching, &["--trace", &trace]);
        let mounted = Mounted::new(&served.devices[0], &self.place(), "defaults").unwrap();
        let data = self.place().join("cluster");
        let cluster = self.postgres.start(&data, &["fsync=on"]).unwrap();
        let seconds = self.size.seconds.to_string();
        let told = self.pgbench(&["-n", "-c", "8", "-T", &seconds, "postgres"]);
        cluster.stop();
        drop(mounted);
        let record = served.stop();
        let design = self.design(caching).display().to_string();
        let words = ["predict", "--on", &design, "--replay", &trace];
        let words = [&words[..], &["--json", "--no-record"]].concat();
        let (predicted, _) = expect_code(self.home(), &words, 0);
        let predicted: Value = serde_json::from_str(&predicted).unwrap();
        let tps = told.lines().find_map(|line| line.strip_prefix("tps = "));
        let tps = tps.and_then(|tps| tps.split(' ').next()?.parse().ok());
        let storage = record["stages"][0]["storage"].as_object().unwrap();
        let hits = storage
            .get("db/data")
            .and_then(|part| part["hit_share"].as_f64());
        Row {
            transactions: tps.expect("pgbench's rate"),
            served: Io::of(&record),
            predicted: Io::of(&predicted),
            hits,
        }
    }

    fn row(&self, caching: Caching) -> Row {
        let row = self.run(caching);
        let (served, predicted) = (&row.served, &row.predicted);
        let hits = row
            .hits
            .map_or("–".to_owned(), |hits| format!("{:.0} %", hits * 100.0));
        println!(
            "| {} | {} | {:.0} | {} | {hits} | {:.2} / {:.2} ms | {:.2} / {:.2} ms | {} |",
            self.disk,
            caching.0,
            row.transactions,
            served.bound,
            served.read / 1e6,
            predicted.read / 1e6,
            served.write / 1e6,
            predicted.write / 1e6,
            predicted.bound,
        );
        row
    }
}

/// Every I/O of the trace is predicted, at about the latency it had: a machine with other work answers later than the model,
/// and what is written back later comes later.
#[track_caller]
fn agree(row: &Row, late: f64) {
    let Row {
        served, predicted, ..
    } = row;
    assert!(row.transactions > 0.0 && served.ios > 100);
    assert_eq!(predicted.ios, served.ios);
    for (what, served, predicted) in [
        ("reads", served.read, predicted.read),
        ("writes", served.write, predicted.write),
    ] {
        let near = predicted * 0.95..=predicted * 1.05 + late;
        assert!(near.contains(&served), "{what}: {served} ns, not {near:?}");
    }
}

#[test]
fn a_database_meets_the_limits_of_its_disk() {
    println!(
        "| disk | caching | transactions a second | bound by | cache hits | reads, served / predicted | \
         writes, served / predicted | predicted bound |\n|---|---|---|---|---|---|---|---|"
    );
    if !soaking() {
        let small = Bench::new(
            "P10",
            Size {
                seconds: 3,
                scale: 4,
            },
        );
        agree(&small.row(NONE), 20e6);
        return;
    }
    let rows = ["P10", "P30"].map(|disk| {
        let bench = Bench::new(
            disk,
            Size {
                seconds: 15,
                scale: 50,
            },
        );
        [NONE, READ_ONLY].map(|caching| bench.row(caching))
    });
    for row in rows.iter().flatten() {
        agree(row, 2e6);
    }
    let [[slow, slow_cached], [fast, _]] = rows;
    assert_eq!(slow.served.bound, "disk-iops");
    assert!(fast.transactions > 1.3 * slow.transactions);
    assert!(slow_cached.hits.unwrap() > 0.9);
    assert!(slow_cached.transactions > slow.transactions);
}
