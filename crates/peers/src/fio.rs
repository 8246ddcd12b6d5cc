//! `fathom fio`: fio's command line, output and exit codes.
//!
//! Nothing goes to stderr that fio would not print there, unless stderr is a terminal or an input trap was met. Exit codes
//! are fio's own (0, 1), but 4 where the write guard refused.

mod address;
mod asking;
mod bandwidth;
mod client;
mod copy_tests;
mod inflate;
mod logs;
mod output;
mod progress;
mod received;
mod refusal;
mod run;
mod self_tests;
mod server;
mod spool;
mod start_line;
mod trigger;
mod watcher;
mod wire;

use fathom_dialects::fio::{self, Action, FioInput, ReadContext};
use fathom_rawio::Clock;
use fathom_session::{
    Code, Console, Failure, PatientFiles, engine_failure, read_context, tell_warnings,
};

use self::address::Address;
use self::client::Client;
use self::output::Output;
pub(crate) use self::output::results;

/// What stands among fio's arguments but is ours.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ours {
    destroy_data: Vec<String>,
    record: bool,
    /// Where to listen, where a server is asked for.
    server: Option<String>,
    /// Where a server in the background leaves its process id.
    pid_file: Option<String>,
    clients: Vec<Client>,
}

/// Does what fio would do with `arguments`.
pub fn fio(arguments: &[String], console: &dyn Console) -> Code {
    let (ours, theirs) = take_ours(arguments);
    let done = of_several(&ours, &theirs, console);
    let path = fio::output_file(&theirs).filter(|_| done.is_none());
    let done = done.unwrap_or_else(|| {
        // As with fio the file is there whatever becomes of the jobs.
        let output = Output::open(path.as_deref(), console)?;
        let files = PatientFiles(console);
        let context = ReadContext {
            files: &files,
            ..read_context()
        };
        let began = Clock::now();
        match fio::read_to_run(&theirs, &context) {
            Ok(input) => {
                tell_warnings(&input.warnings, console);
                act(&input, &ours, output, console)
            }
            Err(unready) => {
                // As with fio the options are shown, too, on standard output, where there are no jobs.
                if fio::lacks_jobs(&unready.complaints) {
                    console.print(&fio::general_help());
                }
                run::refuse_read(*unready, began, output, console)
            }
        }
    });
    done.unwrap_or_else(|Failure { code, message }| {
        console.tell(&message);
        if let Some(path) = path {
            output::note_failure(&path, &message);
        }
        match code {
            Code::Refused | Code::JobsFailed(_) => code,
            _ => Code::Unexpected,
        }
    })
}

/// Splits `--destroy-data`, `--record` and what makes a client or a server from fio's own words. What follows a client is
/// that client's own.
fn take_ours(arguments: &[String]) -> (Ours, Vec<String>) {
    let environment = std::env::var("FATHOM_DESTROY_DATA")
        .ok()
        .filter(|name| !name.is_empty());
    let mut ours = Ours {
        destroy_data: environment.into_iter().collect(),
        ..Ours::default()
    };
    let mut theirs = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let mut required = || value.clone().or_else(|| words.next().cloned());
        match name {
            "--record" => ours.record = true,
            "--destroy-data" => ours.destroy_data.extend(required()),
            "--server" => ours.server = Some(value.unwrap_or_default()),
            "--daemonize" => ours.pid_file = required(),
            "--client" => ours.clients.push(Client {
                address: required().unwrap_or_default(),
                words: Vec::new(),
            }),
            // A job file of the server's own.
            "--remote-config" => {
                let path = required();
                words_of(&mut ours, &mut theirs).extend(path);
            }
            _ => words_of(&mut ours, &mut theirs).push(word.clone()),
        }
    }
    (ours, theirs)
}

/// Where the next word belongs.
fn words_of<'a>(ours: &'a mut Ours, theirs: &'a mut Vec<String>) -> &'a mut Vec<String> {
    match ours.clients.last_mut() {
        Some(client) => &mut client.words,
        None => theirs,
    }
}

/// Does what makes this process a client or a server; `None` where it is neither.
fn of_several(
    ours: &Ours,
    theirs: &[String],
    console: &dyn Console,
) -> Option<Result<Code, Failure>> {
    match (&ours.server, ours.clients.is_empty()) {
        (Some(_), false) => {
            let message = "`--server` and `--client` do not go together";
            Some(Err(Failure::new(Code::Usage, message)))
        }
        (Some(address), true) => Some(match &ours.pid_file {
            Some(pid_file) => server::daemonize(address, &ours.destroy_data, pid_file),
            None => Address::parse(address)
                .map_err(|problem| Failure::new(Code::Usage, format!("`--server`: {problem}")))
                .and_then(|address| server::serve(&address, &ours.destroy_data, console)),
        }),
        (None, false) => Some(client::run(theirs, &ours.clients, console)),
        (None, true) => None,
    }
}

fn act(
    input: &FioInput,
    ours: &Ours,
    mut output: Output<'_>,
    console: &dyn Console,
) -> Result<Code, Failure> {
    let mut code = Code::Success;
    match &input.action {
        Action::Run => return run::run(input, ours, output, console),
        Action::ParseOnly => {}
        Action::Version => output.write(&format!("{}\n", fio::VERSION)),
        Action::Help => output.write(&fio::general_help()),
        Action::CommandHelp(option) => {
            // fio finds it no failure that there is no such option, but says so beside what it shows in its place.
            match fio::command_help(option.as_deref()) {
                Ok(text) => output.write(&text),
                Err(text) => {
                    let (complaint, closest) = text.split_once('\n').unwrap_or((&text, ""));
                    console.tell(complaint);
                    output.write(closest);
                }
            }
        }
        Action::EngineHelp(engine) => {
            let text = fio::engine_help(engine.as_deref());
            if text.is_err() {
                code = Code::Unexpected;
            }
            let (Ok(text) | Err(text)) = text;
            output.write(&text);
        }
        Action::DebugHelp(areas) => {
            output.write(&format!("fio: dumping debug options:{areas}\n"));
        }
        Action::ShowCommand(line) => output.write(line),
        Action::ChecksumTest(checksums) => self_tests::checksums(checksums, &mut output),
        Action::ChecksumNames => {
            output.write(&fio::checksum_names());
            // So ends fio's list, too.
            code = Code::Unexpected;
        }
        Action::CopyTest(kinds) => copy_tests::copies(kinds, &mut output),
        Action::CopyKinds => {
            output.write(&fio::copy_names());
            code = Code::Unexpected;
        }
        Action::MergeTraces(merges) => {
            for one in merges {
                let merged = fathom_engine::merge_traces(&one.parts, &one.into);
                merged.map_err(|error| engine_failure(&error))?;
            }
            if merges.is_empty() {
                console.tell("note: nothing is merged: no job has `merge_blktrace_file`");
            }
        }
        Action::CounterTest => code = self_tests::counters(&mut output)?,
        Action::InflateLog(path) => inflate::inflate(path, &mut output)?,
    }
    output.close()?;
    Ok(code)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Heard {
        out: Mutex<String>,
        err: Mutex<String>,
    }

    impl Console for Heard {
        fn print(&self, text: &str) {
            self.out.lock().unwrap().push_str(text);
        }

        fn tell(&self, line: &str) {
            self.err.lock().unwrap().push_str(line);
        }

        fn draw(&self, _: &str) {}

        fn is_terminal(&self) -> bool {
            false
        }

        fn columns(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn options_are_shown_where_there_are_no_jobs() {
        for words in [&[][..], &["--bs=4k".to_owned()]] {
            let heard = Heard::default();
            assert_eq!(fio(words, &heard), Code::Unexpected);
            assert_eq!(heard.out.into_inner().unwrap(), fio::general_help());
            let told = heard.err.into_inner().unwrap();
            assert!(told.starts_with("error: no jobs defined"), "{told}");
        }
        let heard = Heard::default();
        let words = ["--name=a", "--rw=sideways"].map(str::to_owned);
        assert_eq!(fio(&words, &heard), Code::Unexpected);
        assert_eq!(heard.out.into_inner().unwrap(), "");
    }
}
