//! `fathom ctl`: orders to a running server.

use std::path::PathBuf;

use clap::Args;
use fathom_session::{Code, Console, Failure};

use crate::control::{no_usual_place, running, send};
use crate::order::{GRAMMAR, Order};

/// `fathom ctl`.
#[derive(Debug, Clone, Args)]
#[command(after_help = help())]
pub struct CtlArgs {
    /// The server's control socket [default: that of the only server that runs]
    #[arg(long, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
    /// What it is to do
    #[arg(
        value_name = "ORDER",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub order: Vec<String>,
}

fn help() -> String {
    format!(
        "Orders:\n{GRAMMAR}\n\nA part is a volume (VM/VOLUME, or VOLUME where one machine has it), a machine,\n\
         one of its budgets (VM/cached), or a disk (VM/VOLUME/disk1).\n\nExample:\n  fathom ctl crash --vm db1"
    )
}

/// Gives an order to a server, and prints what came of it.
///
/// # Errors
/// No order, no server, or an order that the server refuses.
pub fn ctl(args: &CtlArgs, console: &dyn Console) -> Result<Code, Failure> {
    // What is no order is told without a server.
    Order::parse(&args.order).map_err(|error| Failure::new(Code::Usage, error))?;
    let socket = match &args.control {
        Some(socket) => socket.clone(),
        None => only(running())?,
    };
    let name = socket.display();
    let reply = send(&socket, &args.order).map_err(|error| {
        let message = format!("no server answers at `{name}`: {error}");
        Failure::new(Code::Target, message).hint("`fathom serve` says where its control socket is")
    })?;
    let text = reply.map_err(|why| Failure::new(Code::Input, why))?;
    console.print(&format!("{text}\n"));
    Ok(Code::Success)
}

fn only(mut sockets: Vec<PathBuf>) -> Result<PathBuf, Failure> {
    match (sockets.pop(), sockets.is_empty()) {
        (Some(socket), true) => Ok(socket),
        (None, _) => {
            let (message, hint) = match no_usual_place() {
                None => (
                    "no server of this user runs".to_owned(),
                    "start one with `fathom serve`, or name its socket with `--control`",
                ),
                Some(why) => (
                    format!("no server can be found: {why}, where servers have their sockets"),
                    "name a socket with `--control`, of `fathom serve` and here",
                ),
            };
            Err(Failure::new(Code::Target, message).hint(hint))
        }
        (Some(last), false) => {
            sockets.push(last);
            let names = sockets.iter().map(|socket| socket.display().to_string());
            let names = names.collect::<Vec<_>>().join(", ");
            let failure = Failure::new(Code::Usage, "several servers run");
            Err(failure.hint(format!("name one with `--control`: {names}")))
        }
    }
}
