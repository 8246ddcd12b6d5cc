//! Option names of fio's command line that are cut short.
//!
//! fio leaves them to `getopt_long_only`: a name may be cut short as long as one option alone begins with what is left. Which
//! options there are then follows from its `init.c`: its own, those of every job, those of its built-in workloads, and those of
//! an I/O engine only behind the `--ioengine` that names it.

use super::table;

/// Names that a built-in workload has besides every job (`size` of `tiobench`): cut short, they are ambiguous by themselves.
const TWICE: [&str; 1] = ["size"];

/// Letters that stand for fio's own options behind a single dash, though its manual tells none of them.
#[rustfmt::skip]
const LETTERS: &[(char, &str)] = &[
    ('o', "output"), ('F', "output-format"), ('m', "minimal"), ('f', "append-terse"), ('V', "terse-version"),
    ('v', "version"), ('h', "help"), ('c', "cmdhelp"), ('i', "enghelp"), ('s', "showcmd"), ('P', "parse-only"),
    ('r', "readonly"), ('w', "warnings-fatal"), ('x', "section"), ('j', "max-jobs"), ('a', "alloc-size"),
    ('e', "eta"), ('E', "eta-newline"), ('O', "eta-interval"), ('L', "status-interval"), ('d', "debug"),
    ('l', "latency-log"), ('b', "bandwidth-log"), ('X', "inflate-log"), ('I', "idle-prof"), ('K', "aux-path"),
    ('W', "trigger-file"), ('B', "trigger-timeout"), ('H', "trigger"), ('J', "trigger-remote"),
    ('S', "server"), ('D', "daemonize"), ('C', "client"), ('R', "remote-config"), ('A', "merge-blktrace-only"),
    ('T', "cpuclock-test"), ('G', "crctest"), ('M', "memcpytest"),
];

/// The option that a letter stands for.
pub fn of_letter(letter: char) -> Option<&'static str> {
    let row = LETTERS.iter().find(|(own, _)| *own == letter);
    row.map(|(_, name)| *name)
}

/// Why a typed name is that of no option.
#[derive(Debug, PartialEq, Eq)]
pub enum NoOption {
    /// No option begins with it.
    Unknown,
    /// These options begin with it.
    Ambiguous(Vec<&'static str>),
}

/// The full name of an option from what was typed of it; `own` are the options that are none of a job, `engine` is the I/O
/// engine that was named before.
///
/// # Errors
/// No option has that name, or begins with it, or several do.
pub fn complete(
    typed: &str,
    own: impl Iterator<Item = &'static str>,
    engine: Option<&str>,
) -> Result<&'static str, NoOption> {
    match typed {
        "h" => return Ok("help"),
        "v" => return Ok("version"),
        "" => return Err(NoOption::Unknown),
        _ => {}
    }
    let own: Vec<&'static str> = own.collect();
    let mut every = own.iter().copied().chain(table::names());
    if let Some(exact) = every.find(|name| *name == typed) {
        return Ok(exact);
    }
    let is_here = |row: &&table::OptionRow| {
        row.engines.is_empty() || engine.is_some_and(|engine| row.engines.contains(&engine))
    };
    let of_jobs = table::rows()
        .filter(is_here)
        .flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()));
    let found: Vec<_> = own
        .into_iter()
        .chain(of_jobs)
        .filter(|name| name.starts_with(typed))
        .collect();
    match found.as_slice() {
        [] => Err(NoOption::Unknown),
        [one] if !TWICE.contains(one) => Ok(one),
        _ => Err(NoOption::Ambiguous(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, engine: Option<&str>, expected: Option<&str>) {
        let own = ["output", "output-format", "section", "cmdhelp"];
        let found = complete(typed, own.into_iter(), engine);
        assert_eq!(found.ok(), expected, "{typed}");
    }

    /// What fio 3.42 makes of each.
    #[test]
    fn names_cut_short_are_those_of_fio() {
        check("na", None, Some("name"));
        check("runt", None, Some("runtime"));
        check("con", None, Some("continue_on_error"));
        check("cmd", None, Some("cmdhelp"));
        check("cmd", Some("libaio"), None);
        check("cmdprio_p", None, None);
        check("cmdprio_p", Some("libaio"), Some("cmdprio_percentage"));
        check("output", None, Some("output"));
        check("outp", None, None);
        check("siz", None, None);
        check("size", None, Some("size"));
        check("num", None, None);
        check("hipri", None, Some("hipri"));
    }

    #[test]
    fn what_it_may_be_is_told() {
        let found = complete("thr", std::iter::empty(), None);
        let names = vec!["thread", "threads", "threads-per-queue"];
        assert_eq!(found, Err(NoOption::Ambiguous(names)));
        let found = complete("zzz", std::iter::empty(), None);
        assert_eq!(found, Err(NoOption::Unknown));
    }
}
