//! What a help says behind the options, for a terminal of any width.
//!
//! It is written in lines of a plain terminal, as man pages have it. A help breaks its lines where its own terminal ends.

use clap::Command;

/// The same command line, where each paragraph behind the options is one line; examples and tables stand as they are.
pub fn with_flowing_notes(command: Command) -> Command {
    let help = command.get_after_help().map(ToString::to_string);
    let command = match help {
        Some(help) => command.after_help(flowing(&help)),
        None => command,
    };
    command.mut_subcommands(with_flowing_notes)
}

fn flowing(help: &str) -> String {
    let paragraphs = help.split("\n\n").map(|paragraph| {
        if paragraph.lines().any(|line| line.starts_with(' ')) {
            paragraph.to_owned()
        } else {
            paragraph.replace('\n', " ")
        }
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_lines_and_examples_stand() {
        let inner = Command::new("b").after_help("One\ntwo.\n\nExample:\n  a\n  b");
        let outer = with_flowing_notes(Command::new("a").subcommand(inner));
        let help = outer
            .find_subcommand("b")
            .unwrap()
            .get_after_help()
            .unwrap();
        assert_eq!(help.to_string(), "One two.\n\nExample:\n  a\n  b");
        assert_eq!(outer.get_after_help(), None);
    }
}
