//! `fathom fio --client=…`: has other machines run jobs, and shows what all of them report.

use std::cell::RefCell;

use fathom_dialects::fio::{
    self, Action, FileStatus, Files, FioInput, Host, ReadContext, Report, SystemFiles,
};
use fathom_engine::{StopFlag, refuse_results};
use fathom_session::{Code, Console, Failure, engine_failure, read_context, tell_warnings};

use super::address::Address;
use super::asking::{Answer, ask_all};
use super::output::Output;
use super::received::{ReceivedLogs, endings};
use super::wire::{PROTOCOL, Request};

/// One server, and the words for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Client {
    /// Where it is, as it was written.
    pub address: String,
    /// fio's words behind it: its job files and options.
    pub words: Vec<String>,
}

/// Runs `clients`, each with `common` words before its own.
///
/// # Errors
/// Complaints about the words; servers that cannot be reached are told, and the others' results shown.
pub fn run(common: &[String], clients: &[Client], console: &dyn Console) -> Result<Code, Failure> {
    let clients = with_shared_words(with_lists(clients)?);
    let mut requests = Vec::new();
    let mut first: Option<FioInput> = None;
    let mut logs = Vec::new();
    let shown = shared_output(common, &clients);
    for client in &clients {
        let address = Address::parse(&client.address).map_err(|problem| {
            Failure::new(
                Code::Usage,
                format!("`--client={}`: {problem}", client.address),
            )
        })?;
        let words = common.iter().chain(&client.words).chain(&shown);
        let words: Vec<String> = words.cloned().collect();
        let (input, request) = prepare(words)?;
        tell_warnings(&input.warnings, console);
        logs.push(log_paths(&request.arguments));
        first.get_or_insert(input);
        requests.push((address, request));
    }
    let Some(input) = first else {
        return Err(Failure::new(Code::Usage, "no client"));
    };
    refuse_results(received_logs(&requests, &logs)).map_err(|error| engine_failure(&error))?;
    let mut output = Output::open(input.output.file.as_deref(), console)?;
    let stop = StopFlag::new();
    stop.install_signal_handlers()
        .map_err(|error| Failure::new(Code::Unexpected, error))?;
    let replies = ask_all(&requests, &stop);
    let mut code = Code::Success;
    let mut reports: Vec<(Host, Report)> = Vec::new();
    for ((address, _), reply) in requests.iter().zip(replies) {
        match reply {
            Ok(Answer { report, problem }) => {
                if report.failed || problem.is_some() {
                    code = Code::Unexpected;
                }
                if let Some(problem) = problem {
                    console.tell(&format!("<{address}> {problem}"));
                }
                reports.push((address.host(), report));
            }
            Err(problem) => {
                console.tell(&format!("<{address}> {problem}"));
                code = Code::Unexpected;
            }
        }
    }
    if !reports.is_empty() {
        let now = fathom_rawio::wall_clock() / 1_000_000;
        let pid = std::process::id();
        output.write(&fio::write_clients(
            &input.output.formats,
            &reports,
            now,
            pid,
        ));
    }
    output.close()?;
    Ok(match stop.signal() {
        Some(_) => Code::PeerStopped,
        None => code,
    })
}

/// Names of the logs that a server has of the jobs of `words`, as far as they can be told on this machine, which need not have
/// the jobs' files: of others the server tells later.
fn log_paths(words: &[String]) -> Vec<String> {
    let Ok(input) = fio::read(words, &read_context()) else {
        return Vec::new();
    };
    let files = input.jobs.iter().flat_map(|job| &job.logs.files);
    files.map(|file| file.path.clone()).collect()
}

/// Where the logs of all servers are written; `logs` are each one's own names.
fn received_logs(requests: &[(Address, Request)], logs: &[Vec<String>]) -> Vec<String> {
    let hosts: Vec<_> = (requests.iter().map(|(address, _)| address.host().name)).collect();
    let all = endings(&hosts).into_iter().zip(logs);
    all.flat_map(|(ending, logs)| {
        let received = ReceivedLogs::new(&ending);
        logs.iter().map(move |path| received.place_of(path))
    })
    .collect()
}

/// A client that is a file is a list of clients, one a line.
fn with_lists(clients: &[Client]) -> Result<Vec<Client>, Failure> {
    let mut all = Vec::new();
    for client in clients {
        if !std::path::Path::new(&client.address).is_file() {
            all.push(client.clone());
            continue;
        }
        let text = std::fs::read_to_string(&client.address).map_err(|error| {
            let message = format!("the list `{}` cannot be read: {error}", client.address);
            Failure::new(Code::Input, message)
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        all.extend(lines.map(|line| Client {
            address: line.to_owned(),
            words: client.words.clone(),
        }));
    }
    Ok(all)
}

/// Clients without words of their own have those of the next that has some: `--client=a --client=b job.fio`.
fn with_shared_words(mut clients: Vec<Client>) -> Vec<Client> {
    let mut words: Vec<String> = Vec::new();
    for client in clients.iter_mut().rev() {
        if client.words.is_empty() {
            client.words.clone_from(&words);
        } else {
            words.clone_from(&client.words);
        }
    }
    clients
}

/// Words for the one output that several clients have: as in fio it is as the last of all words about it say, behind whichever
/// client they stand.
fn shared_output(common: &[String], clients: &[Client]) -> Vec<String> {
    if clients.len() < 2 {
        return Vec::new();
    }
    let all = common.iter().chain(clients.iter().flat_map(|it| &it.words));
    fio::output_words(&all.cloned().collect::<Vec<_>>())
}

/// Reads what a client's words name, without a look at this machine's storage: the jobs run on another.
fn prepare(words: Vec<String>) -> Result<(FioInput, Request), Failure> {
    let files = Recorded(RefCell::new(Vec::new()));
    let context = ReadContext {
        files: &files,
        ..read_context()
    };
    let parse_only = words.iter().cloned().chain(["--parse-only".to_owned()]);
    let input = fio::read(&parse_only.collect::<Vec<_>>(), &context)?;
    if input.action != Action::ParseOnly {
        let message = "this option makes fio print something instead of running";
        return Err(Failure::new(Code::Usage, message).hint("leave `--client` out"));
    }
    if input.output.trigger.is_set() {
        let message = "`--trigger-file` and `--trigger-timeout` end jobs of this machine alone";
        return Err(Failure::new(Code::Usage, message).hint("leave `--client` out, or them"));
    }
    let request = Request {
        protocol: PROTOCOL,
        arguments: words,
        files: files.0.into_inner(),
    };
    Ok((input, request))
}

/// This machine's files, with what was read of them.
struct Recorded(RefCell<Vec<(String, String)>>);

impl Files for Recorded {
    fn read_text(&self, path: &str) -> std::io::Result<String> {
        let text = SystemFiles.read_text(path)?;
        self.0.borrow_mut().push((path.to_owned(), text.clone()));
        Ok(text)
    }

    fn status(&self, path: &str) -> FileStatus {
        SystemFiles.status(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_several_clients_is_one() {
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect();
        let client = |own: &[&str]| Client {
            address: "a".to_owned(),
            words: words(own),
        };
        let first = client(&["x.fio", "--output-format=terse"]);
        let last = client(&["y.fio", "--output-format=json+", "--output=z"]);
        let common: Vec<String> = words(&["--minimal"]);
        let shown = shared_output(&common, &[first.clone(), last]);
        let expected = ["--output-format=json+", "--terse-version=3", "--output=z"];
        assert_eq!(shown, expected);
        assert_eq!(shared_output(&common, &[first]), [""; 0]);
    }

    #[test]
    fn words_behind_several_clients_are_for_all_of_them() {
        let client = |address: &str, words: &[&str]| Client {
            address: address.to_owned(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        let clients = vec![
            client("a", &[]),
            client("b", &["x.fio"]),
            client("c", &["y.fio"]),
        ];
        let shared = with_shared_words(clients);
        let words: Vec<_> = shared.iter().map(|it| it.words[0].as_str()).collect();
        assert_eq!(words, ["x.fio", "x.fio", "y.fio"]);
    }
}
