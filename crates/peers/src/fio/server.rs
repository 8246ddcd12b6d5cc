//! `fathom fio --server`: runs what clients send, and reports.
//!
//! A client's jobs run with the rights of the server, and pass the same write guard: block devices are written only where
//! the server itself was started with `--destroy-data=NAME`. Jobs begin when the client says so, and end when it does or goes
//! away.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use fathom_dialects::fio::{
    self, Action, FileStatus, Files, FioInput, FioRun, ReadContext, Report, SystemFiles,
};
use fathom_engine::{ErrorPolicy, Overwrite, RunOptions, StopFlag};
use fathom_rawio::{Begin, Clock, open_results};
use fathom_record::{Event, EventSink};
use fathom_session::{Code, Console, Failure, engine_failure, read_context, refuse_device};
use fathom_workload::Job;

use crate::silent::Silent;

use super::address::{Address, Connection};
use super::logs::Place;
use super::output::{Output, run_of};
use super::refusal;
use super::spool::Spool;
use super::watcher::Watcher;
use super::wire::{self, PROTOCOL, Reply, Request, Word};

/// Listens at `address` until the process is ended.
///
/// # Errors
/// Where it cannot listen.
pub fn serve(
    address: &Address,
    destroy_data: &[String],
    console: &dyn Console,
) -> Result<Code, Failure> {
    let listener = address.listen().map_err(|error| {
        let message = format!("the server cannot listen on `{address}`: {error}");
        Failure::new(Code::Target, message).hint(address.other())
    })?;
    console.print(&format!("fio: server listening on {address}\n"));
    std::thread::scope(|scope| {
        loop {
            match listener.accept() {
                Ok(connection) => drop(scope.spawn(move || answer(connection, destroy_data))),
                // Out of descriptors, or a client that went away before it was seen: the next may do better.
                Err(error) => console.tell(&format!("fio: accept: {error}")),
            }
        }
    })
}

/// Serves one client.
fn answer(mut connection: Box<dyn Connection>, destroy_data: &[String]) {
    let Ok(request) = wire::receive::<Request>(&mut *connection) else {
        return;
    };
    let stop = StopFlag::new();
    // Where descriptors are used up, the client hears that the conversation ended.
    let (Ok(mut listened), Ok(mut spoken)) = (connection.again(), connection.again()) else {
        return;
    };
    let (go, begins) = channel();
    std::thread::scope(|scope| {
        let stopped = stop.clone();
        // What is read last is the client's end, or ours.
        scope.spawn(move || {
            while let Ok(Word::Go) = wire::receive(&mut *listened) {
                // The jobs may be over.
                let _ = go.send(());
            }
            stopped.request();
        });
        let wait = || {
            let _ = wire::send(&mut *spoken, &Reply::Ready);
            // An end in place of the word has ended the jobs.
            let _ = begins.recv();
        };
        let mut logs = Spool::default();
        let reply = match run(&request, destroy_data, &stop, wait, &mut logs) {
            Ok(report) => Reply::Report(Box::new(report)),
            Err(Refusal { message, report }) => Reply::Refused(message, report),
        };
        // A client that is gone needs no answer.
        let _ = (logs.send(&mut *connection)).and_then(|()| wire::send(&mut *connection, &reply));
        connection.end();
    });
}

/// Why a client's jobs were not run.
struct Refusal {
    message: String,
    /// Their results, in which each has its error.
    report: Option<Box<Report>>,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self {
            message,
            report: None,
        }
    }
}

/// Runs a client's jobs, the first of which wait for `wait`.
fn run(
    request: &Request,
    destroy_data: &[String],
    stop: &StopFlag,
    wait: impl FnOnce(),
    logs: &mut Spool,
) -> Result<Report, Refusal> {
    if request.protocol != PROTOCOL {
        let message = format!(
            "the client speaks version {} of the protocol, this server {PROTOCOL}",
            request.protocol
        );
        return Err(message.into());
    }
    let files = Sent(&request.files);
    let context = ReadContext {
        files: &files,
        ..read_context()
    };
    let began = Clock::now();
    let input = fio::read_to_run(&request.arguments, &context).map_err(|unready| Refusal {
        message: unready.complaints.to_string(),
        report: unready.refused.map(|refused| {
            let errno_of = |place: usize, _: &Job| refused.errnos.get(place).copied().unwrap_or(0);
            let results = fio::refused(&refused.input.workload, &errno_of);
            Box::new(Report::of_refused(&refused.input, &run_of(&results, began)))
        }),
    })?;
    if input.action != Action::Run {
        return Err("a server runs jobs and does nothing else".to_owned().into());
    }
    let options = RunOptions {
        destroy_data: destroy_data.to_vec(),
        overwrite: Overwrite::Allowed,
        on_error: ErrorPolicy::EndWorker,
        ..RunOptions::default()
    };
    measure(&input, &options, stop, wait, logs)
}

fn measure(
    input: &FioInput,
    options: &RunOptions,
    stop: &StopFlag,
    wait: impl FnOnce(),
    logs: &mut Spool,
) -> Result<Report, Refusal> {
    let began = Clock::now();
    let mut watcher = Watcher::new(
        input,
        Output::nowhere(&Silent),
        Place::Client(logs),
        began,
        &Silent,
    );
    let mut held = Held {
        watcher: &mut watcher,
        wait: Some(wait),
    };
    let ran = fathom_engine::run(&input.workload, options, stop, &mut held);
    let ran = ran.map_err(|error| Refusal {
        message: engine_failure(&error).message,
        report: Some(Box::new(refusal::report(input, &error, began))),
    })?;
    let (problems, priorities) = watcher.abandon();
    if let Some(error) = &ran.failure {
        return Err(engine_failure(error).message.into());
    }
    if let Some(problem) = problems.first() {
        return Err(format!("fio: {problem}").into());
    }
    let run = FioRun {
        priorities: Some(&priorities),
        ..run_of(&ran.results, began)
    };
    Ok(Report::new(input, &run))
}

/// The consumer of a run's events, whose first stage waits.
struct Held<'a, 'w, W> {
    watcher: &'a mut Watcher<'w>,
    wait: Option<W>,
}

impl<W: FnOnce()> EventSink for Held<'_, '_, W> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::StageStarted { .. } = event
            && let Some(wait) = self.wait.take()
        {
            wait();
        }
        self.watcher.event(event);
    }
}

/// The files that a client sent; all others are this machine's.
struct Sent<'a>(&'a [(String, String)]);

impl Files for Sent<'_> {
    fn read_text(&self, path: &str) -> std::io::Result<String> {
        match self.0.iter().find(|(sent, _)| sent == path) {
            Some((_, text)) => Ok(text.clone()),
            None => SystemFiles.read_text(path),
        }
    }

    fn status(&self, path: &str) -> FileStatus {
        SystemFiles.status(path)
    }
}

/// Starts a server of its own as another process, writes that one's id to `pid_file`, and leaves it alone.
///
/// # Errors
/// Where `pid_file` is a block device, and where the server does not come to listen.
pub fn daemonize(address: &str, destroy_data: &[String], pid_file: &str) -> Result<Code, Failure> {
    let unable = |what: &str, error: std::io::Error| {
        Failure::new(Code::Unexpected, format!("{what}: {error}"))
    };
    refuse_device(Path::new(pid_file))?;
    let program = std::env::current_exe().map_err(|error| unable("this program", error))?;
    let mut server = Command::new(program);
    // Whatever name this program was called by, the server is called by its own.
    server
        .arg0("fathom")
        .args(["fio", &format!("--server={address}")]);
    server.args(
        destroy_data
            .iter()
            .map(|name| format!("--destroy-data={name}")),
    );
    server.stdin(Stdio::null()).stdout(Stdio::piped());
    server.stderr(Stdio::piped()).process_group(0);
    let mut server = server
        .spawn()
        .map_err(|error| unable("the server", error))?;
    let mut line = String::new();
    if let Some(stdout) = server.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    if line.is_empty() {
        let mut told = String::new();
        if let Some(mut stderr) = server.stderr.take() {
            let _ = stderr.read_to_string(&mut told);
        }
        let _ = server.wait();
        return Err(Failure {
            code: Code::Unexpected,
            message: told.trim_end().to_owned(),
        });
    }
    let opened = open_results(Path::new(pid_file), Begin::Emptied);
    let written = opened.and_then(|mut file| writeln!(file, "{}", server.id()));
    written.map_err(|error| {
        let _ = server.kill();
        unable(pid_file, error)
    })?;
    Ok(Code::Success)
}
