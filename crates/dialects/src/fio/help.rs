//! Help texts that fio prints: usage, options, engines, and a job file as a command line.

use std::fmt::Write as _;

use super::lexer::{RawOption, Section};
use super::settings::place_in_section;
use super::table::{self, Kind, OptionRow, Support};
use super::write::VERSION;

/// What `--help` prints.
pub fn general_help() -> String {
    format!(
        "{VERSION}\n\
fio [options] [job options] <job file(s)>
  --parse-only\t\tRead everything, run nothing
  --output=FILE\t\tWrite results to FILE
  --output-format=LIST\tnormal, json, json+, terse (separated by commas)
  --minimal\t\tTerse output alone
  --append-terse\tTerse output, too
  --terse-version=N\tVersion of terse output: 2, 3, 4 or 5
  --status-interval=TIME\tPrint results after each TIME, too
  --bandwidth-log\tWrite logs of the bandwidth of all jobs
  --inflate-log=FILE\tPrint a compressed log
  --debug=LIST\t\tTell of random, io (separated by commas)
  --version\t\tPrint the version
  --help\t\tPrint this page
  --crctest[=LIST]\tMeasure the speed of checksums (separated by commas)
  --memcpytest[=LIST]\tMeasure ways to copy memory (separated by commas)
  --cpuclock-test\tTest whether the processors' counters are in step
  --merge-blktrace-only\tMerge the traces of jobs with merge_blktrace_file, run nothing
  --cmdhelp=OPTION\tPrint help of a job option, or of `all`
  --enghelp=ENGINE\tPrint an engine's options, or list the engines
  --enghelp=ENGINE,OPTION\tPrint help of an engine's option
  --showcmd\t\tPrint a job file as a command line
  --eta=WHEN\t\tShow progress: always, never or auto
  --eta-newline=TIME\tStart a new progress line after each TIME
  --eta-interval=TIME\tTime between two looks at the progress
  --readonly\t\tRefuse jobs that write
  --section=NAME\tOnly this section of a job file; may be repeated
  --warnings-fatal\tTreat warnings as errors
  --max-jobs=COUNT\tMost jobs that are run
  --server[=ADDRESS]\tRun what clients send; listens on 127.0.0.1,8765 where no other is given
  --daemonize=PIDFILE\tPut the server into the background
  --client=ADDRESS\tHave the server there run the job files that follow
  --remote-config=FILE\tA job file on the server
  --idle-prof=LIST\tTell how idle the processors were: system, percpu
  --trigger-file=FILE\tEnd all jobs when there is such a file
  --trigger-timeout=TIME\tEnd all jobs after this time
  --trigger=COMMAND\tRun this when a trigger ends all jobs
  --aux-path=FOLDER\tWhere states and wrong data are left
"
    )
}

/// What `--cmdhelp[=OPTION]` prints.
///
/// # Errors
/// What fio prints where there is no such option.
pub fn command_help(option: Option<&str>) -> Result<String, String> {
    let name = match option {
        None | Some("all" | "") => {
            return Ok(list(table::rows().filter(|row| row.engines.is_empty())));
        }
        Some(name) => name,
    };
    if let Some(row) = table::find(name) {
        return Ok(describe(row));
    }
    let near = fathom_diagnostics::nearest(name, table::names()).and_then(table::find);
    let closest = near
        .map(|row| format!(" - showing closest match\n{}", describe(row)))
        .unwrap_or_default();
    Err(format!("No such command: {name}{closest}\n"))
}

/// What `--enghelp[=ENGINE[,OPTION]]` prints. The list of engines holds those that are built.
///
/// # Errors
/// What fio prints where there is no such engine or option, and of an engine without options, which fails too.
pub fn engine_help(asked: Option<&str>) -> Result<String, String> {
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
        let mut text = "Available IO engines:\n".to_owned();
        for engine in table::ENGINES.iter().filter(|it| it.backend().is_some()) {
            let _ = writeln!(text, "\t{}", engine.name);
        }
        return Ok(text);
    };
    let (name, option) = asked.split_once(',').unwrap_or((asked, ""));
    if table::find_engine(name).is_none() {
        return Err(format!("IO engine {name} not found\n"));
    }
    let mut options = table::rows().filter(|row| row.engines.contains(&name));
    if option.is_empty() {
        let text = list(options);
        if text.is_empty() {
            return Err(format!("IO engine {name} has no options\n"));
        }
        return Ok(text);
    }
    match options.find(|row| row.name == option) {
        Some(row) => Ok(describe(row)),
        None => Err(format!("IO engine {name} has no option {option}\n")),
    }
}

fn list<'a>(rows: impl Iterator<Item = &'a OptionRow>) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{:<24}: {}", row.name, row.help);
    }
    text
}

fn describe(row: &OptionRow) -> String {
    let kind = match row.kind {
        Kind::Text | Kind::OptionalText => "string",
        Kind::Word => "word",
        Kind::Number => "integer with k/m/g postfix",
        Kind::Seconds => "time, bare numbers are seconds",
        Kind::Micros => "time, bare numbers are microseconds",
        Kind::Switch => "boolean (0 or 1)",
        Kind::Flag => "empty or boolean (0 or 1)",
        Kind::Decimals => "numbers separated by ':'",
        Kind::Range => "range (min-max)",
    };
    let support = match row.support {
        Support::Built => "carried",
        Support::NoEffect => "accepted, without effect",
        Support::AtRun(value) => &format!("only {value} is carried"),
        Support::NotYet => "not built yet",
        Support::WithEngine => "accepted, for engines and devices that are not carried",
        Support::Withdrawn => "withdrawn from fio",
        Support::ProfileOnly => "accepted, without effect outside of a built-in workload",
    };
    let mut text = format!("{:>20}: {}\n", row.name, row.help);
    for alias in row.aliases {
        let _ = writeln!(text, "{:>20}: {alias}", "alias");
    }
    let _ = writeln!(text, "{:>20}: {kind}", "type");
    // Options of engines have no rows among those of jobs.
    if row.engines.is_empty() {
        let (default, range) = table::usual(row.name);
        let range = range.or((row.kind == Kind::Switch).then_some("min=0, max=1"));
        let _ = writeln!(
            text,
            "{:>20}: {}",
            "default",
            default.unwrap_or("no default")
        );
        if let Some(range) = range {
            let _ = writeln!(text, "{:>20}: {range}", "range");
        }
        list_values(&mut text, row.name);
    }
    let _ = writeln!(text, "{:>20}: {support}", "support");
    text
}

/// The values of an option that takes some alone; of engines, those that are built.
fn list_values(text: &mut String, option: &str) {
    let engines = || table::ENGINES.iter().filter(|it| it.backend().is_some());
    let values: Vec<table::ValidValue> = match option {
        "ioengine" => engines().map(|it| (it.name, it.help)).collect(),
        _ => table::valid_values(option).to_vec(),
    };
    let mut title = "valid values";
    for (word, meaning) in values {
        let line = format!("{title:>20}: {word:<10} {meaning}");
        let _ = writeln!(text, "{}", line.trim_end());
        title = "";
    }
}

/// A job file's sections as one command line. As in fio, a further `[global]` is shown with all that those before it have, since
/// what follows it on a command line begins anew.
pub fn show_command(sections: &[Section]) -> String {
    let mut text = "fio ".to_owned();
    let mut globals = String::new();
    for section in sections {
        let shown = show_options(section);
        if section.global {
            globals.push_str(&shown);
            text.push_str(&globals);
        } else {
            let _ = write!(text, "--name={} {shown}", section.name);
        }
    }
    text.push('\n');
    text
}

fn show_options(section: &Section) -> String {
    let mut text = String::new();
    let name_of = |option: &RawOption| {
        table::find(&option.name).map_or(option.name.clone(), |row| row.name.to_owned())
    };
    let mut options: Vec<_> = section.options.iter().collect();
    options.sort_by_key(|option| place_in_section(option));
    for option in options {
        let name = name_of(option);
        let _ = match &option.value {
            Some(value) if name == "description" => write!(text, "--{name}=\"{value}\" "),
            Some(value) => write!(text, "--{name}={value} "),
            None => write!(text, "--{name} "),
        };
    }
    text
}
