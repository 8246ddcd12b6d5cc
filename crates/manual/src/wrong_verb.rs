//! A first word that is no verb: what its writer likely meant.
//!
//! People come from other programs and type their verbs, or the name of a file without one. Each such word has one thing to do
//! here, which is told in place of a list.

use clap::error::{Error, ErrorKind};
use fathom_catalog::Catalog;
use fathom_diagnostics::nearest;
use fathom_session::is_dialect;
use fathom_workload::preset_names;

/// Verbs of other programs, and what does here what they do there.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (
        &[
            "bench",
            "benchmark",
            "exec",
            "go",
            "measure",
            "perf",
            "speed",
            "start",
            "stress",
            "test",
        ],
        "`fathom run quick` measures the disk under this folder, `fathom run FILE` runs a workload",
    ),
    (
        &[
            "emulate", "estimate", "forecast", "model", "sim", "simulate", "whatif", "what-if",
        ],
        "`fathom predict --on DESIGN WORKLOAD` runs a workload on modelled storage, `fathom serve DESIGN` gives that storage to \
         any program",
    ),
    (
        &["blkreplay", "btreplay", "play", "playback"],
        "`fathom replay TRACE --to TARGET` plays a recorded trace on real storage, `fathom predict --on DESIGN --replay TRACE` on a \
         design",
    ),
    (
        &[
            "capture", "collect", "iostat", "monitor", "record", "sar", "stat", "stats", "top",
            "trace", "watch",
        ],
        "`fathom observe` watches what is done to this machine's disks, `fathom run quick` measures one",
    ),
    (
        &["chart", "charts", "graph", "html", "plot"],
        "`fathom report last --html page.html` writes a page with charts, `fathom ui` shows all stored runs in a browser",
    ),
    (
        &["browser", "dashboard", "gui", "http", "page", "web"],
        "`fathom ui` shows the stored runs in a browser, `fathom report last --html page.html` writes one as a page",
    ),
    (
        &["device", "devices", "disk", "env", "lsblk", "machine"],
        "`fathom probe` tells this machine's disks, and what a run could do with a path",
    ),
    (
        &["cluster", "hosts", "join", "mpi"],
        "`fathom merge` makes one record of several hosts' runs, `mpirun fathom-mpi` runs a workload on all at once",
    ),
    (
        &["history", "jobs", "list", "log", "ls", "results"],
        "`fathom runs` lists stored runs, `fathom catalog list` machine sizes and disks",
    ),
    (
        &[
            "cat", "get", "info", "open", "result", "show", "summary", "view",
        ],
        "`fathom report last` shows the newest run again, `fathom catalog show NAME` a machine size or disk",
    ),
    (
        &["delete", "prune", "purge", "rm"],
        "the oldest runs go by themselves: `FATHOM_RUNS_KEEP` and `FATHOM_RUNS_SIZE` say when; a run is a folder that may be \
         removed",
    ),
    (
        &["csv", "json"],
        "`fathom report last --json` prints the newest record, `--csv` its rows",
    ),
    (
        &["diff", "versus", "vs"],
        "`fathom compare last~1 last` lays the newest two runs beside each other",
    ),
    (
        &["curve", "sweep"],
        "`fathom run --sweep depth=1..64x2 WORKLOAD` measures at each depth",
    ),
    (
        &[
            "check", "describe", "dry-run", "lint", "parse", "print", "validate",
        ],
        "`fathom explain WORKLOAD` prints what a workload says, `fathom run --dry-run WORKLOAD` checks all and does nothing",
    ),
    (
        &["attach", "export", "mount", "nbd"],
        "`fathom serve DESIGN` gives a design's volumes to any program",
    ),
    (
        &["crash", "detach", "fail", "fault", "inject", "stall"],
        "`fathom ctl --help` tells the orders that a running `fathom serve` takes",
    ),
    (
        &["clean", "cleanup", "umount", "unmount"],
        "`fathom serve --clean` removes mounts that killed servers have left",
    ),
    (
        &["advise", "recommend", "size", "sizing"],
        "`fathom plan PROFILE` finds the cheapest storage that carries a need",
    ),
    (
        &["fit", "tune"],
        "`fathom calibrate RUN --on DESIGN -o NEW` fits a design to a measured run",
    ),
    (
        &["import", "translate"],
        "`fathom observe --from LOG` reads what other tools logged, `fathom convert --to DIALECT FILE` translates a workload",
    ),
    (
        &["disks", "sizes", "vm", "vms"],
        "`fathom catalog list` prints every machine size and disk",
    ),
    (&["version"], "`fathom --version` prints it"),
    (
        &["dialects", "tools"],
        "`fathom fio`, `diskspd`, `iometer`, `vdbench`, `sqlio` and `diskperformance` take those tools' places; `fathom convert` \
         translates between them",
    ),
    (
        &["presets"],
        "`quick` is the preset there is: `fathom run quick`",
    ),
    (
        &["codes", "examples", "exit", "exit-codes"],
        "`fathom --help` ends with them",
    ),
    (
        &["environment", "files", "variables"],
        "`fathom man DIR` writes man pages, which tell them",
    ),
];

/// What to say of words whose verb `command` has not, with what is likely meant; `None` where another word is not known.
pub fn unknown_verb(words: &[String], command: &clap::Command) -> Option<Error> {
    let verbs = command.get_subcommands().map(clap::Command::get_name);
    let verbs: Vec<&str> = verbs.chain(["help"]).collect();
    let (word, message, hint) = match words.get(1..)? {
        [catalog, row, ..] if catalog == "catalog" => (row, "nothing to do with it", of_row(row)?),
        [help, topic, ..] if help == "help" && !verbs.contains(&topic.as_str()) => {
            let near = || nearest(topic, verbs.iter().copied());
            let hint = elsewhere(topic)
                .or_else(|| Some(format!("did you mean `fathom help {}`?", near()?)));
            (topic, "no verb of Fathom", hint.unwrap_or_else(all_verbs))
        }
        [word, ..] if !verbs.contains(&word.as_str()) => {
            (word, "no verb of Fathom", of_word(word, &verbs))
        }
        _ => return None,
    };
    if word.starts_with('-') {
        return None;
    }
    let text = format!("`{word}` is {message}\n  hint: {hint}\n");
    Some(Error::raw(ErrorKind::InvalidSubcommand, text))
}

/// What to say of a word that a verb takes none of, where it is clear what is meant by it.
pub fn surplus_word(words: &[String]) -> Option<Error> {
    // Whether as a document or not, the words beside it are what was meant.
    let own: Vec<String> = words.iter().skip(1).cloned().collect();
    let lists = own
        .first()
        .is_some_and(|verb| verb == "runs" || verb == "catalog");
    let is_meant = |word: &String| !(lists && word == "--json");
    let own: Vec<String> = own.into_iter().filter(is_meant).collect();
    let (word, hint) = match own.as_slice() {
        [observe, log, ..] if observe == "observe" => (
            log,
            format!(
                "`fathom observe --from {log}` reads what another tool logged, `--device` names a disk to watch"
            ),
        ),
        [runs, show, run] if runs == "runs" && !show.starts_with('-') => {
            (show, format!("`fathom report {run}` shows a run again"))
        }
        [runs, list] if runs == "runs" && ["list", "ls"].contains(&list.as_str()) => {
            (list, "`fathom runs` lists them".to_owned())
        }
        [runs, run] if runs == "runs" => (run, format!("`fathom report {run}` shows a run again")),
        [catalog, list, row] if catalog == "catalog" && list == "list" => (row, of_row(row)?),
        [ui, port, ..] if ui == "ui" && port.parse::<u16>().is_ok() => {
            (port, format!("`fathom ui --port {port}` serves there"))
        }
        [ui, run, ..] if ui == "ui" => (
            run,
            format!(
                "`fathom ui` shows all stored runs, `fathom report {run} --html FILE` makes a page of one"
            ),
        ),
        _ => return None,
    };
    if word.starts_with('-') {
        return None;
    }
    let text = format!("unexpected argument `{word}`\n  hint: {hint}\n");
    Some(Error::raw(ErrorKind::UnknownArgument, text))
}

fn all_verbs() -> String {
    "`fathom --help` lists the verbs".to_owned()
}

fn elsewhere(word: &str) -> Option<String> {
    let known = ELSEWHERE.iter().find(|(words, _)| words.contains(&word));
    known.map(|(_, hint)| (*hint).to_owned())
}

/// A row of the catalogue in place of what to do with it.
fn of_row(word: &str) -> Option<String> {
    let rows = Catalog::builtin().show(word).ok()?;
    Some(format!("`fathom catalog show {}`", rows.first()?.name))
}

fn of_word(word: &str, verbs: &[&str]) -> String {
    if let Some(name) = dialect_meant(word) {
        return format!("`fathom {name}` takes its place");
    }
    if word.ends_with(".profile.toml") {
        return format!("a verb comes first: `fathom plan {word}`");
    }
    if word.ends_with(".design.toml") {
        return format!(
            "a verb comes first: `fathom predict --on {word} WORKLOAD` or `fathom serve {word}`"
        );
    }
    if word.contains(['.', '/']) || preset_names().any(|preset| preset == word) {
        return format!("a verb comes before a workload: `fathom run {word}`");
    }
    let near = || nearest(word, verbs.iter().copied());
    let hint = elsewhere(word).or_else(|| of_row(word));
    let hint = hint.or_else(|| Some(format!("did you mean `fathom {}`?", near()?)));
    hint.unwrap_or_else(all_verbs)
}

/// The dialect of a program's name as the guides have it: `diskspd.exe`, `.\DiskPerformance.ps1`.
pub fn dialect_meant(word: &str) -> Option<String> {
    let file = word.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let (name, end) = file.rsplit_once('.')?;
    (["exe", "ps1", "sh"].contains(&end) && is_dialect(name)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_of_other_programs_stands_twice() {
        let mut words: Vec<&str> = ELSEWHERE
            .iter()
            .flat_map(|(words, _)| *words)
            .copied()
            .collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }

    #[test]
    fn a_word_behind_ui_is_a_run_or_a_port() {
        let told = |word: &str| {
            let words = ["fathom", "ui", word].map(str::to_owned);
            surplus_word(&words).map(|error| error.to_string())
        };
        for (word, hint) in [
            ("last", "`fathom report last --html FILE`"),
            ("8080", "`fathom ui --port 8080`"),
        ] {
            let told = told(word).unwrap_or_default();
            assert!(
                told.contains(&format!("unexpected argument `{word}`")),
                "{told}"
            );
            assert!(told.contains(hint), "{told}");
        }
        assert_eq!(told("--jsn"), None);
    }

    /// `--json` beside it makes a word no other one.
    #[test]
    fn a_word_behind_a_list_is_what_was_meant() {
        let told = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            surplus_word(&words).map(|error| error.to_string())
        };
        for (line, word, hint) in [
            ("fathom runs list", "list", "`fathom runs` lists them"),
            (
                "fathom runs list --json",
                "list",
                "`fathom runs` lists them",
            ),
            ("fathom runs --json ls", "ls", "`fathom runs` lists them"),
            ("fathom runs last --json", "last", "`fathom report last`"),
            (
                "fathom runs show last --json",
                "show",
                "`fathom report last`",
            ),
        ] {
            let told = told(line).unwrap_or_default();
            assert!(
                told.contains(&format!("unexpected argument `{word}`")),
                "{line}: {told}"
            );
            assert!(told.contains(hint), "{line}: {told}");
        }
        assert_eq!(told("fathom runs --json --jsn"), None);
    }

    #[test]
    fn programs_are_known_by_their_files() {
        let meant = [r".\DiskPerformance.ps1", "bin/vdbench.sh", "a.sh", "fio"].map(dialect_meant);
        assert_eq!(
            meant,
            [
                Some("diskperformance".to_owned()),
                Some("vdbench".to_owned()),
                None,
                None
            ]
        );
    }
}
