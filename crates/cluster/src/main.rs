//! `fathom-mpi`: one workload on many hosts at once, started by a launcher of MPI.
//!
//! Every host runs the same program: the first leads and tells the result, the others are led. The run itself goes on in a thread
//! of its own, as `fathom run` has it; the main thread alone speaks to MPI, and never waits in it, since waiting in MPI takes a
//! whole processor.
//!
//! Invariants: only the main thread calls MPI; nothing is written anywhere before all hosts are ready; after the first stage has
//! begun nothing waits for a host without an end.

mod agree;
mod args;
mod console;
mod end;
mod follow;
mod host;
mod launcher;
mod lead;
mod link;
mod merged;
mod message;
mod offset;
mod order;
mod pace;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc::channel;

use clap::Parser;
use fathom_session::{Code, Console, Failure};

use crate::args::{Cli, RunArgs, Verb};
use crate::console::HostConsole;
use crate::end::{Told, lead_to_end};
use crate::follow::{FIRST, Followed, follow};
use crate::host::Host;
use crate::launcher::Launcher;
use crate::link::Link;
use crate::pace::Asked;

fn main() -> ExitCode {
    let Verb::Run(args) = Cli::parse().verb;
    let name = host_name();
    let launched = Launcher::of(|name| std::env::var(name).ok());
    let launcher = match launched.and_then(|launcher| args.check().map(|()| launcher)) {
        Ok(launcher) => launcher,
        Err(failure) => return tell(&name, &failure),
    };
    let Some(mut link) = Link::join() else {
        let message = "this MPI cannot be used from a program with threads";
        let failure = Failure::new(Code::Unsupported, message);
        return tell(
            &name,
            &failure.hint("use one that gives `MPI_THREAD_FUNNELED`"),
        );
    };
    if let Err(failure) = launcher.check(link.size() as u64) {
        return tell(&name, &failure);
    }
    // What unwinds through MPI's end would wait there for the others.
    let told = catch_unwind(AssertUnwindSafe(|| run(&mut link, &args, &name)));
    match told {
        Ok(Told {
            code,
            all_leave: true,
        }) => {
            link.leave();
            ExitCode::from(code)
        }
        Ok(Told { code, .. }) => link.abort(code),
        Err(_) => link.abort(Code::Unexpected.number()),
    }
}

/// Tells of a failure before anybody knows which host is the first.
fn tell(host: &str, failure: &Failure) -> ExitCode {
    let console = HostConsole::new(host, true);
    console.tell_from_now_on();
    console.tell(&failure.message);
    failure.code.into()
}

/// This machine's name, as the kernel has it.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

fn run(link: &mut Link, args: &RunArgs, name: &str) -> Told {
    let is_first = link.rank() == FIRST;
    let console = HostConsole::new(name, is_first);
    let asked = match Asked::install() {
        Ok(asked) => asked,
        Err(error) => {
            console.tell_from_now_on();
            console.tell(&format!("error: signals cannot be taken: {error}"));
            return Told::alone(Code::Unexpected.number());
        }
    };
    let (tell, from_run) = channel();
    let (to_run, told) = channel();
    let host = Host {
        name,
        number: link.rank() as u32,
        is_first,
        args,
        console: &console,
        stop: &asked.stop,
        tell,
        told,
    };
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new()
            .name("run".to_owned())
            .spawn_scoped(scope, move || host.run());
        if let Err(error) = spawned {
            console.tell_from_now_on();
            console.tell(&format!("error: no thread can be started: {error}"));
            return Told::alone(Code::Unexpected.number());
        }
        let ways = (&from_run, &to_run);
        let told = if is_first {
            lead_to_end(link, ways, &asked, args, &console)
        } else {
            let followed = follow(link, ways, &asked, args.lost_after);
            end_of_led(followed, &console)
        };
        if !told.all_leave {
            // The own run may still wait for I/O that never comes back.
            link.abort(told.code);
        }
        drop(to_run);
        told
    })
}

/// How a host ends that was led.
fn end_of_led(followed: Followed, console: &HostConsole) -> Told {
    let code = Code::Unexpected.number();
    console.tell_from_now_on();
    match followed {
        // The first host says by its own code how all ended.
        Followed::Left => Told {
            code: 0,
            all_leave: true,
        },
        Followed::FirstLost(own) => {
            let stored = own.and_then(|own| own.stored);
            let rest = stored.map_or_else(String::new, |id| {
                format!("; what was measured here is stored as `{id}` on this host")
            });
            console.tell(&format!("error: the first host is lost{rest}"));
            Told::alone(code)
        }
        Followed::RunDied => Told::alone(code),
    }
}
