//! Every parameter in force, and where it came from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_units::{counted, counted_ios};

use super::VdbenchInput;
use super::build::meant;
use super::lexer::Parameter;
use super::outline::Kind;
use super::source::At;
use super::validation;
use super::values::shown;

/// What holds where neither an entry nor a `=default` says otherwise.
const DEFAULTS: &[(Kind, &[(&str, &str)])] = &[
    (Kind::Host, &[("shell", "rsh")]),
    (
        Kind::Sd,
        &[("threads", "8"), ("hitarea", "1m"), ("offset", "0")],
    ),
    (
        Kind::Wd,
        &[
            ("xfersize", "4k"),
            ("rdpct", "100"),
            ("seekpct", "100"),
            ("rhpct", "0"),
            ("whpct", "0"),
        ],
    ),
    (
        Kind::Rd,
        &[
            ("elapsed", "30"),
            ("interval", "1"),
            ("warmup", "0"),
            ("pause", "0"),
            ("distribution", "exponential"),
        ],
    ),
    (
        Kind::Fsd,
        &[
            ("depth", "1"),
            ("width", "1"),
            ("files", "10"),
            ("sizes", "4k"),
            ("distribution", "bottom"),
        ],
    ),
    (
        Kind::Fwd,
        &[
            ("operation", "read"),
            ("fileio", "sequential"),
            ("fileselect", "random"),
            ("xfersize", "4k"),
            ("threads", "1"),
        ],
    ),
];

/// Keywords that the command line replaces in every RD.
type Overrides = Vec<(&'static str, u64, &'static str)>;

/// What is done before the runs where journals are gone on with.
fn recovery(input: &VdbenchInput) -> &'static str {
    let asked = validation::asked(&input.general, &input.options);
    match asked.and_then(|asked| asked.journal) {
        Some(journal) if journal.only => {
            "#   RD=journal_recovery: all that the journals tell of is read; none of the others is run\n"
        }
        Some(journal) if journal.recovers && journal.reads_all => {
            "#   RD=journal_recovery: all that the journals tell of is read\n"
        }
        _ => "",
    }
}

/// Comment lines with all runs and every parameter of every entry, for `fathom explain`.
pub fn origins(input: &VdbenchInput) -> String {
    let mut text = String::from("# runs, in order\n");
    text.push_str(recovery(input));
    for run in &input.runs {
        let time = run
            .elapsed
            .map_or("until it is done".to_owned(), |elapsed| {
                format!("elapsed={elapsed}")
            });
        let warmup = if run.warmup > 0 {
            format!(" warmup={}", run.warmup)
        } else {
            String::new()
        };
        let threads: u64 = run.jobs.iter().map(|job| u64::from(job.threads)).sum();
        let _ = writeln!(
            text,
            "#   RD={}; I/O rate: {}; {time}{warmup}; For loops: {}; {}, {} outstanding",
            run.name,
            run.rate.label(None),
            run.loops_label(),
            counted(run.jobs.len() as u64, ("job", "jobs")),
            counted_ios(threads),
        );
    }
    text.push_str("# parameters in force, and where each came from\n");
    let overrides: Overrides = [
        ("elapsed", input.options.elapsed, "-e"),
        ("interval", input.options.interval, "-i"),
        ("warmup", input.options.warmup, "-w"),
    ]
    .into_iter()
    .filter_map(|(key, value, option)| Some((key, value?, option)))
    .collect();
    let (parameters, sections) = &input.outline;
    let mut defaults: BTreeMap<Kind, BTreeMap<&str, (String, At)>> = BTreeMap::new();
    for section in sections {
        let body = parameters.get(section.body.clone()).unwrap_or_default();
        let name = section
            .head
            .and_then(|head| parameters.get(head))
            .map(shown);
        let own = body
            .iter()
            .map(|parameter| (parameter.key.as_str(), (shown(parameter), parameter.at)));
        match name.as_deref() {
            Some("default") => defaults.entry(section.kind).or_default().extend(own),
            Some(name) => {
                let _ = writeln!(text, "# {}={name}", section.kind.word());
                let by_default = defaults.get(&section.kind);
                entry(&mut text, input, section.kind, body, by_default, &overrides);
            }
            None => {
                for parameter in body {
                    line(
                        &mut text,
                        &parameter.key,
                        &shown(parameter),
                        &input.sources.show(parameter.at),
                    );
                }
            }
        }
    }
    text.push('\n');
    text
}

fn entry(
    text: &mut String,
    input: &VdbenchInput,
    kind: Kind,
    body: &[Parameter],
    by_default: Option<&BTreeMap<&str, (String, At)>>,
    overrides: &Overrides,
) {
    let overridden = |key: &str| {
        let found = overrides.iter().find(|(name, ..)| *name == key);
        found.filter(|_| kind == Kind::Rd)
    };
    let means = |given: &str, key: &str| meant(kind, given).unwrap_or(given) == key;
    for (position, parameter) in body.iter().enumerate() {
        let meaning = meant(kind, &parameter.key).unwrap_or(&parameter.key);
        // Of a keyword that stands twice, the last counts.
        let again = body
            .iter()
            .skip(position + 1)
            .any(|later| means(&later.key, meaning) && kind != Kind::Sd);
        if !again && overridden(meaning).is_none() {
            line(
                text,
                &parameter.key,
                &shown(parameter),
                &input.sources.show(parameter.at),
            );
        }
    }
    let has = |key: &str| body.iter().any(|parameter| means(&parameter.key, key));
    for (key, (value, at)) in by_default.into_iter().flatten() {
        let meaning = meant(kind, key).unwrap_or(key);
        if !has(meaning) && overridden(meaning).is_none() {
            let origin = format!("{}=default, {}", kind.word(), input.sources.show(*at));
            line(text, key, value, &origin);
        }
    }
    for (key, value, option) in overrides.iter().filter(|_| kind == Kind::Rd) {
        line(
            text,
            key,
            &value.to_string(),
            &format!("command line, {option}"),
        );
    }
    let defaults = DEFAULTS
        .iter()
        .find(|(of, _)| *of == kind)
        .map_or(&[][..], |(_, list)| list);
    for (key, value) in defaults {
        let given =
            has(key) || by_default.is_some_and(|given| given.keys().any(|given| means(given, key)));
        if !given && overridden(key).is_none() {
            line(text, key, value, "Vdbench's default");
        }
    }
}

fn line(text: &mut String, key: &str, value: &str, origin: &str) {
    let assignment = format!("{key}={value}");
    let _ = writeln!(text, "#   {assignment:40} {origin}");
}
