//! Logs that servers send: files of the client, named after the log and the host that it is from.

use std::collections::BTreeSet;
use std::io::{Error, ErrorKind};

use super::logs::{add, begin, unwritten};
use super::wire::LogPiece;

/// The logs of one server.
#[derive(Debug)]
pub struct ReceivedLogs {
    /// What their names end in.
    ending: String,
    begun: BTreeSet<String>,
    problem: Option<String>,
}

impl ReceivedLogs {
    /// Of the server called `ending`.
    pub fn new(ending: &str) -> Self {
        Self {
            ending: ending.replace('/', "_"),
            begun: BTreeSet::new(),
            problem: None,
        }
    }

    /// Where the log goes that the server calls `path`.
    pub fn place_of(&self, path: &str) -> String {
        format!("{path}.{}", self.ending)
    }

    /// Writes a piece. The first of each log makes its file.
    pub fn take(&mut self, piece: &LogPiece) {
        let path = self.place_of(&piece.path);
        if let Err(error) = self.write(piece, &path) {
            self.problem.get_or_insert_with(|| unwritten(&path, &error));
        }
    }

    /// The first thing that could not be written, if any.
    pub fn finish(self) -> Option<String> {
        self.problem
    }

    fn write(&mut self, piece: &LogPiece, path: &str) -> std::io::Result<()> {
        if !is_log(&piece.path) {
            return Err(Error::new(ErrorKind::InvalidData, "no name of a log"));
        }
        if self.begun.insert(path.to_owned()) {
            begin(path, piece.append)?;
        }
        if piece.text.is_empty() {
            return Ok(());
        }
        add(path, &piece.text, piece.compressed)
    }
}

/// Whether fio calls a log so. A server names the files, and is to write no others.
fn is_log(path: &str) -> bool {
    [".log", ".log.fz"].iter().any(|end| path.ends_with(end))
}

/// What the names of each server's logs end in: its host, and behind that a number where one before it has the same.
pub fn endings(hosts: &[String]) -> Vec<String> {
    let mut endings = Vec::new();
    for (place, host) in hosts.iter().enumerate() {
        endings.push(
            match hosts[..place].iter().filter(|it| *it == host).count() {
                0 => host.clone(),
                others => format!("{host}.{}", others + 1),
            },
        );
    }
    endings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_one_host_have_names_of_their_own() {
        let hosts = ["a", "b", "a", "a"].map(str::to_owned);
        assert_eq!(endings(&hosts), ["a", "b", "a.2", "a.3"]);
    }

    #[test]
    fn a_server_writes_nothing_but_logs() {
        let folder = tempfile::tempdir().unwrap();
        let piece = |name: &str, text: &str| LogPiece {
            path: folder.path().join(name).display().to_string(),
            text: text.to_owned(),
            compressed: false,
            append: false,
        };
        let mut logs = ReceivedLogs::new("up/host");
        logs.take(&piece("x_bw.1.log", ""));
        logs.take(&piece("x_lat.1.log", "1, 2, 0\n"));
        logs.take(&piece("x_lat.1.log", "2, 2, 0\n"));
        logs.take(&piece(".profile", "rm\n"));
        assert!(logs.finish().unwrap().contains("no name of a log"));
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
        assert_eq!(text("x_bw.1.log.up_host").unwrap(), "");
        assert_eq!(text("x_lat.1.log.up_host").unwrap(), "1, 2, 0\n2, 2, 0\n");
        assert_eq!(text(".profile.up_host"), None);
    }
}
