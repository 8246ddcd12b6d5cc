//! The project's own chores: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask bench`, `cargo xtask fuzz`, `cargo xtask soak`,
//! `cargo xtask order`.
//!
//! Not needed by anyone who uses Fathom.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the developer who runs it"
)]

mod bench;
mod command;
mod fuzz;
mod order;
mod packages;
mod soak;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <chore>
  test    install what the tests need, then run every check and test
  tidy    check the invariants of ARCHITECTURE.md that a program can check
  bench   measure Fathom against fio, interleaved; raw data under benches/runs/; `bench sim`: the simulator's speed; `bench serve`, as root: served storage beside its peers
  fuzz    feed the readers of inputs with damaged ones: `fuzz --minutes 10 fio-file native`; all where none is named
  soak    the long forms of tests of served storage, as root: `soak guide crashes database crowd`; all where none is named
  order   note anew which functions small jobs call: they stand together in releases (crates/cli/order.txt)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["test"] => test::run(),
        ["tidy"] => tidy::run(),
        ["bench", options @ ..] => bench::run(options),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["soak", names @ ..] => soak::run(names),
        ["order"] => order::run(),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
