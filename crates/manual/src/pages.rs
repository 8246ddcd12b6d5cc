//! Man pages: one for the program, one for each verb.
//!
//! Synopsis and options come from the definition of the command line, the rest from its help and from [`crate::facts`].

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::facts::{ENVIRONMENT, EXIT_CODES, FILES, Fact, examples, is_peer};

/// The first line of each page, by which it is known again.
pub const MARK: &str = ".\\\" Written by `fathom man`.\n";

/// A man page of section 1.
#[derive(Debug)]
pub struct Page {
    /// The name of its file, such as `fathom-run.1`.
    pub name: String,
    /// Its text in roff.
    pub text: String,
}

/// The pages of the program and of every verb that its help shows.
pub fn pages(command: Command) -> Vec<Page> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(&command, &mut pages);
    pages
}

fn add(command: &Command, pages: &mut Vec<Page>) {
    pages.push(page(command));
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        add(verb, pages);
    }
}

fn page(command: &Command) -> Page {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let help = command.get_after_help().map(ToString::to_string);
    let (notes, own_examples) = parted(&help.unwrap_or_default());
    let man = Man::new(command.clone());
    // `clap_mangen` leaves no place for a date that is not told, and what follows would be taken for it.
    let title = name.replace('-', "\\-").to_uppercase();
    let source = concat!("fathom ", env!("CARGO_PKG_VERSION"));
    let mut text = format!("{MARK}.TH {title} 1 \"\" \"{source}\" Fathom\n").into_bytes();
    let rendered = man
        .render_name_section(&mut text)
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text));
    rendered.expect("writing into memory does not fail");
    let mut roff = Roff::new();
    verbs(&mut roff, command);
    if !notes.is_empty() {
        as_it_stands(&mut roff, "NOTES", &notes);
    }
    let verb = verb_of(name);
    if is_peer(verb) {
        roff.control("SH", ["EXIT STATUS"]);
        let own = "That of the tool whose place is taken, where it has one of its own; else Fathom's, as fathom(1) lists them.";
        roff.text([roman(own)]);
    } else {
        listed(&mut roff, "EXIT STATUS", &EXIT_CODES, verb);
    }
    listed(&mut roff, "ENVIRONMENT", &ENVIRONMENT, verb);
    listed(&mut roff, "FILES", &FILES, verb);
    let examples = match own_examples.as_str() {
        "" => examples(name.strip_prefix("fathom-").unwrap_or_default()).unwrap_or_default(),
        own => own,
    };
    if !examples.is_empty() {
        as_it_stands(&mut roff, "EXAMPLES", examples);
    }
    see_also(&mut roff, command);
    text.extend_from_slice(roff.to_roff().as_bytes());
    Page {
        name: format!("{name}.1"),
        text: String::from_utf8_lossy(&text).into_owned(),
    }
}

/// The first verb of a page's name: `profile` of `fathom-profile-new`; empty: the program itself.
fn verb_of(name: &str) -> &str {
    name.split('-').nth(1).unwrap_or_default()
}

/// What stands behind the options in a help, without and with its examples. The exit codes in the program's own help have
/// a section of their own.
fn parted(help: &str) -> (String, String) {
    let (mut notes, mut examples) = (Vec::new(), Vec::new());
    for part in help.split("\n\n").filter(|part| !part.is_empty()) {
        match part.split_once('\n') {
            Some(("Example:" | "Examples:", lines)) => examples.push(lines),
            _ if part.starts_with("Exit codes:") => {}
            _ => notes.push(part),
        }
    }
    (notes.join("\n\n"), examples.join("\n"))
}

/// A section whose lines are not filled.
fn as_it_stands(roff: &mut Roff, title: &str, text: &str) {
    roff.control("SH", [title]).control("nf", []);
    for line in text.lines() {
        if line.is_empty() {
            roff.control("sp", []);
        } else {
            roff.text([roman(line)]);
        }
    }
    roff.control("fi", []);
}

/// A section of those facts that are about `verb`; all on the program's own page.
fn listed(roff: &mut Roff, title: &str, facts: &[Fact], verb: &str) {
    let mut fitting = facts.iter().filter(|fact| fact.is_about(verb)).peekable();
    if fitting.peek().is_none() {
        return;
    }
    roff.control("SH", [title]);
    for fact in fitting {
        roff.control("TP", []).text([bold(fact.name)]);
        roff.text([roman(fact.says)]);
    }
}

fn verbs(roff: &mut Roff, command: &Command) {
    if !command.has_subcommands() {
        return;
    }
    roff.control("SH", ["VERBS"]);
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = verb.get_display_name().unwrap_or(verb.get_name());
        let about = verb.get_about().map(ToString::to_string);
        roff.control("TP", []).text([bold(name), roman("(1)")]);
        roff.text([roman(about.unwrap_or_default())]);
    }
}

fn see_also(roff: &mut Roff, command: &Command) {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let Some((above, _)) = name.rsplit_once('-') else {
        return;
    };
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold(above), roman("(1)")]);
}
