//! `fathom explain`: the resolved workload, with where its values came from.

use std::fmt::Write as _;

use fathom_dialects::fio::FioInput;
use fathom_report::plain;
use fathom_session::{Code, Console, Failure, Input, Spoken, load, print_json};
use fathom_workload::native;

use crate::args::ExplainArgs;
use crate::terminal::TERMINAL;

/// Prints one of the guides' tables, or the workload as a native file that `fathom run` reads, and before it, as comments, every option in force.
pub fn explain(args: &ExplainArgs) -> Result<Code, Failure> {
    let words = &args.workload.workload;
    if let Some(table) = fathom_observe::explained_table(words, TERMINAL.width())? {
        if args.json {
            let message = format!("`--json` is for workloads, and `{}` is a table", words[0]);
            return Err(Failure::new(Code::Usage, message).hint("leave it out"));
        }
        TERMINAL.show(&table);
        return Ok(Code::Success);
    }
    let input = load(&args.workload.words(args.target.as_deref()), &TERMINAL);
    let input = input.map_err(|failure| fathom_observe::or_table(words, failure))?;
    if args.json {
        print_json(&native::to_json(&input.workload), &TERMINAL)?;
        return Ok(Code::Success);
    }
    crate::print(&explanation(&input));
    Ok(Code::Success)
}

/// The workload as a native file, and before it, as comments, every option in force and where it came from.
pub fn explanation(input: &Input) -> String {
    let origins = match &input.spoken {
        Spoken::Fio(fio) => origins(fio),
        Spoken::Diskspd(diskspd) => fathom_dialects::diskspd::origins(diskspd),
        Spoken::Vdbench(vdbench) => fathom_dialects::vdbench::origins(vdbench),
        Spoken::Iometer(iometer) => fathom_dialects::iometer::origins(iometer),
        Spoken::Sqlio(sqlio) => fathom_dialects::sqlio::origins(sqlio),
        Spoken::DiskPerformance(it) => fathom_dialects::diskperformance::origins(it),
        Spoken::Preset | Spoken::Native { .. } => String::new(),
    };
    plain(&origins) + &native::write_named(&input.workload)
}

fn origins(fio: &FioInput) -> String {
    let mut text = String::from("# options in force, and where each came from\n");
    let mut job = "";
    for entry in &fio.provenance {
        if entry.job != job {
            job = &entry.job;
            let _ = writeln!(text, "# [{job}]");
        }
        let assignment = format!("{}={}", entry.key, entry.value);
        let _ = writeln!(text, "#   {assignment:40} {}", entry.origin);
    }
    text.push('\n');
    text
}
