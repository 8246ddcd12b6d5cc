//! What the first host tells in the end: what all measured together, and who is missing.

use std::sync::mpsc::{Receiver, Sender};

use fathom_record::Record;
use fathom_runs::{RunStart, RunWriter, Store};
use fathom_session::{Code, Console, Failure, Keep, Needed, Page, Show, finish, not_stored};

use crate::agree::{listed, names, tell_complaints, tell_together};
use crate::args::RunArgs;
use crate::console::HostConsole;
use crate::launcher::one_each;
use crate::lead::{Known, Lead, Why};
use crate::link::Link;
use crate::merged::merged;
use crate::message::{Message, Refused};
use crate::pace::Asked;

/// How the process ends.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    /// Its exit code.
    pub code: u8,
    /// Whether all hosts are there to leave together.
    pub all_leave: bool,
}

impl Told {
    /// Others cannot be waited for.
    pub fn alone(code: u8) -> Self {
        Self {
            code,
            all_leave: false,
        }
    }
}

/// Leads all hosts through the run, and tells what comes of it.
pub fn lead_to_end(
    link: &mut Link,
    ways: (&Receiver<Message>, &Sender<Message>),
    asked: &Asked,
    args: &RunArgs,
    console: &HostConsole,
) -> Told {
    let died = Told::alone(Code::Unexpected.number());
    let mut lead = Lead::new(link, ways, asked, args.lost_after);
    if lead.hear_all().is_err() {
        return died;
    }
    let names = names(lead.hosts());
    tell_notes(lead.hosts(), &names, console);
    let refused = tell_complaints(&mut lead, &names, console);
    let prepared = prepared(args, console);
    let need = match (refused, prepared) {
        (Some(code), _) => return refuse(&mut lead, code),
        (None, Err(failure)) => {
            console.tell(&failure.message);
            return refuse(&mut lead, failure.code.number());
        }
        (None, Ok(need)) => need,
    };
    if args.output.dry_run {
        let ready = lead.hosts().first().and_then(|host| host.ready.as_ref());
        console.print(ready.map_or("", |ready| &ready.workload));
        return refuse(&mut lead, 0);
    }
    if args.output.show() != Show::Nothing {
        tell_whose_progress(&names, console);
    }
    if lead.run().is_err() {
        return died;
    }
    // What is told comes before anything that a host which is gone could hold up.
    let code = conclude(&lead, &names, args, need.as_ref(), console);
    let code = if console.is_output_lost() {
        Code::Target.number()
    } else {
        code
    };
    let all_leave = lead.hosts().iter().all(|host| host.ended.is_some());
    lead.let_leave(all_leave);
    Told { code, all_leave }
}

/// Lets all hosts leave without a run.
fn refuse(lead: &mut Lead<'_>, code: u8) -> Told {
    let all_leave = lead.hosts().iter().all(Known::has_answered);
    lead.let_leave(all_leave);
    Told { code, all_leave }
}

/// What the result is to be laid beside and written to, looked at before anything is run.
fn prepared(args: &RunArgs, console: &HostConsole) -> Result<Option<Needed>, Failure> {
    args.output.html.as_deref().map(Page::at).transpose()?;
    args.output.need.read(console)
}

/// Tells what the hosts would, and what a reader of figures should know of the hosts.
fn tell_notes(hosts: &[Known], names: &[String], console: &HostConsole) {
    console.tell_from_now_on();
    let told = |(rank, host): (usize, &Known)| {
        let told = host.ready.as_ref().map(|ready| ready.told.clone());
        let told = told.unwrap_or_default().into_iter();
        told.map(move |line| (rank, line)).collect::<Vec<_>>()
    };
    let lines: Vec<_> = hosts.iter().enumerate().flat_map(told).collect();
    tell_together(&lines, names, console);
    let shared: Vec<&str> = names
        .iter()
        .filter_map(|name| name.strip_suffix("#1"))
        .collect();
    if !shared.is_empty() {
        let option = one_each(|name| std::env::var(name).ok());
        let how = option.map_or_else(String::new, |option| format!(": `{option}`"));
        console.tell(&format!(
            "note: several processes run on {}, and share its storage; one on each host is meant{how}",
            listed(&shared)
        ));
    }
}

/// Nothing is sent while I/O is measured, so that the sum of all hosts is not known before the end.
fn tell_whose_progress(names: &[String], console: &HostConsole) {
    if let [first, _, ..] = names {
        let all = names.len();
        console.tell(&format!(
            "note: progress is that of {first} alone, one of {all} hosts; the summary is that of all"
        ));
    }
}

/// Merges what hosts measured, stores and shows it, and says who is missing; gives the exit code.
fn conclude(
    lead: &Lead<'_>,
    names: &[String],
    args: &RunArgs,
    need: Option<&Needed>,
    console: &HostConsole,
) -> u8 {
    let hosts = lead.hosts();
    let ended = |host: &Known| host.ended.as_ref().and_then(|ended| ended.failed.clone());
    let failed: Vec<(usize, Refused)> = (hosts.iter().enumerate())
        .filter_map(|(rank, host)| Some((rank, ended(host)?)))
        .collect();
    let shown = shown(lead, names, args, need, console);
    if let Some(why) = stopped(lead, names) {
        console.tell(&format!("note: all hosts were stopped, since {why}"));
    }
    let lines = failed
        .iter()
        .map(|(rank, failed)| (*rank, failed.message.clone()));
    tell_together(&lines.collect::<Vec<_>>(), names, console);
    let missing: Vec<&str> = (hosts.iter().zip(names))
        .filter(|(host, _)| host.ended.is_none())
        .map(|(_, name)| name.as_str())
        .collect();
    if !missing.is_empty() {
        console.tell(&format!(
            "error: nothing was heard of {} to the end: the result is partial; what was measured there is on that host, as \
             `fathom runs` shows it there",
            listed(&missing)
        ));
    }
    let code = shown.unwrap_or_else(|failure| {
        console.tell(&failure.message);
        failure.code.number()
    });
    match (failed.first(), missing.is_empty()) {
        (Some((_, failed)), _) => failed.code,
        (None, false) => Code::Unexpected.number(),
        (None, true) => code,
    }
}

/// Why all were stopped, where nobody asked for it.
fn stopped(lead: &Lead<'_>, names: &[String]) -> Option<String> {
    match lead.stopped()? {
        Why::Asked => None,
        Why::Failed(rank) => Some(format!("the run of {} failed", names[rank])),
        Why::EndedEarly(rank) => Some(format!("{} ended before the others", names[rank])),
        Why::Lost(rank) => Some(format!("nothing was heard of {} any more", names[rank])),
    }
}

/// Shows and stores the record of all; gives the exit code that it stands for.
fn shown(
    lead: &Lead<'_>,
    names: &[String],
    args: &RunArgs,
    need: Option<&Needed>,
    console: &HostConsole,
) -> Result<u8, Failure> {
    let Some(record) = merged(lead.hosts(), names, lead.order()) else {
        return Ok(Code::Unexpected.number());
    };
    let mut record = record?;
    // One host's own run is stored as it is.
    let stores = names.len() > 1 && args.output.keep() == Keep::Run;
    let writer = stores.then(|| store(&record, lead, console)).flatten();
    record.stored |= writer.is_some();
    let code = finish(&mut record, writer, &args.output, (need, None), console)?;
    Ok(code.number())
}

/// A run folder for the record of all; a store that cannot be used is told and does without.
fn store(record: &Record, lead: &Lead<'_>, console: &HostConsole) -> Option<RunWriter> {
    let ready = lead.hosts().first().and_then(|host| host.ready.as_ref());
    let start = RunStart {
        kind: "run",
        what: &record.title,
        started_unix_ns: record.started_unix_ns,
        workload: ready.map_or("", |ready| &ready.workload),
        design: None,
        environment: &record.environment,
    };
    let store = Store::of_user(|name| std::env::var(name).ok());
    let writer = store.and_then(|store| store.begin(&start));
    writer
        .map_err(|error| console.tell(&not_stored(&error)))
        .ok()
}
