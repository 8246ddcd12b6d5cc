//! A PostgreSQL cluster that belongs to the test, run by the user `postgres`.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::await_some;
use crate::support::system;

/// Where a cluster's programs and sockets are, and who runs it.
pub struct Postgres {
    programs: PathBuf,
    user: (u32, u32),
    /// The directory of its socket, on no served volume.
    pub sockets: PathBuf,
}

impl Postgres {
    /// What Debian has installed, with a directory for sockets in `home`.
    pub fn new(home: &Path) -> Self {
        let versions =
            fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL (see `cargo xtask test`)");
        let newest = versions.flatten().map(|version| version.path()).max();
        let id = |which| system("id", &[which, "postgres"]).parse().unwrap();
        let postgres = Self {
            programs: newest.expect("a version of PostgreSQL").join("bin"),
            user: (id("-u"), id("-g")),
            sockets: home.join("pg"),
        };
        fs::create_dir(&postgres.sockets).unwrap();
        postgres.own(&postgres.sockets);
        postgres
    }

    /// Makes the user the owner of `path`.
    pub fn own(&self, path: &Path) {
        chown(path, Some(self.user.0), Some(self.user.1)).unwrap();
    }

    /// A program, to be run by the user.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.uid(self.user.0).gid(self.user.1).current_dir("/");
        command.env("PGHOST", &self.sockets).env("TZ", "UTC");
        command
    }

    /// `psql`, which gives a line for each row.
    pub fn client(&self) -> Command {
        let mut psql = self.program("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "postgres"]);
        psql.stdin(Stdio::null()).stderr(Stdio::piped());
        psql
    }

    /// A new cluster's files in `place`; what they hold is not yet on a disk.
    pub fn make(&self, place: &Path) {
        let mut initdb = self.program("initdb");
        initdb.args(["--no-sync", "-A", "trust", "-D"]).arg(place);
        let told = initdb.output().unwrap();
        assert!(told.status.success(), "initdb: {told:?}");
    }

    /// Starts the cluster in `place`. Why not, where its files are no longer a cluster.
    pub fn start(&self, place: &Path, options: &[&str]) -> Result<Cluster<'_>, String> {
        let log = self.sockets.join("log");
        let told = fs::File::create(&log).unwrap();
        let mut command = self.program("postgres");
        command.arg("-D").arg(place).arg("-k").arg(&self.sockets);
        command.args(["-c", "listen_addresses=", "-c", "shared_buffers=32MB"]);
        for option in options {
            command.args(["-c", option]);
        }
        command
            .stdin(Stdio::null())
            .stdout(told.try_clone().unwrap());
        let mut cluster = Cluster {
            postgres: self,
            server: command.stderr(told).spawn().unwrap(),
        };
        let up = await_some(120, "an answer of PostgreSQL", || {
            let ready = self.program("pg_isready").arg("-q").status().unwrap();
            if ready.success() {
                return Some(true);
            }
            cluster.server.try_wait().unwrap().map(|_| false)
        });
        if up {
            Ok(cluster)
        } else {
            Err(fs::read_to_string(log).unwrap())
        }
    }
}

/// A cluster that runs.
pub struct Cluster<'a> {
    postgres: &'a Postgres,
    server: Child,
}

impl Cluster<'_> {
    /// What statements give, without ornament.
    pub fn ask(&self, statements: &str) -> Result<String, String> {
        let mut psql = self.postgres.client();
        let told = psql.args(["-c", statements]).output().unwrap();
        if told.status.success() {
            Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&told.stderr).into_owned())
        }
    }

    /// Ends it in good order.
    pub fn stop(mut self) {
        self.signal("-INT");
        await_some(120, "PostgreSQL's end", || self.server.try_wait().unwrap());
    }

    fn signal(&self, signal: &str) {
        let id = self.server.id().to_string();
        let _ = Command::new("kill").args([signal, &id]).status();
    }
}

/// It ends at once and writes nothing more: its processes are told, and killed by it where they do not listen.
impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        if matches!(self.server.try_wait(), Ok(None)) {
            self.signal("-QUIT");
            let _ = self.server.wait();
        }
    }
}
