//! The verbs `completions` and `man`.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::aot::Shell;
use fathom_session::{Code, Console, Failure, Mark, MarkedFile};

use crate::pages::{MARK, pages};

/// A page of ours is known by its first line.
const PAGE: Mark = Mark {
    begins: MARK,
    what: "no page of Fathom's",
};

/// `fathom completions`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Where shells look for completions:
  bash  ~/.local/share/bash-completion/completions/fathom
  zsh   a file `_fathom` in a folder of $fpath
  fish  ~/.config/fish/completions/fathom.fish

Example:
  fathom completions bash > ~/.local/share/bash-completion/completions/fathom")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

/// `fathom man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
One page for the program and one for each verb. Pages of another version are
replaced; any other file of such a name is left, and told.

Example:
  mkdir -p ~/.local/share/man/man1
  fathom man ~/.local/share/man/man1
  man fathom-run")]
pub struct ManArgs {
    /// The directory, such as ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completion script of `command`.
///
/// # Errors
/// [`Code::Usage`]: no such shell.
pub fn print_completions(
    args: &CompletionsArgs,
    command: Command,
    console: &dyn Console,
) -> Result<Code, Failure> {
    let shell: Shell = args
        .shell
        .parse()
        .map_err(|error| Failure::new(Code::Usage, error))?;
    console.print(&crate::completions(command, shell));
    Ok(Code::Success)
}

/// Writes the man pages of `command`.
///
/// # Errors
/// As of [`MarkedFile::at`], before any page is written, and of [`MarkedFile::write`].
pub fn man(args: &ManArgs, command: Command, console: &dyn Console) -> Result<Code, Failure> {
    let pages = pages(command);
    let files = pages
        .iter()
        .map(|page| MarkedFile::at(&args.folder.join(&page.name), PAGE));
    let files = files.collect::<Result<Vec<_>, Failure>>()?;
    for (file, page) in files.iter().zip(&pages) {
        file.write(&page.text)?;
    }
    let folder = args.folder.display();
    console.tell(&format!("{} pages are in `{folder}`", pages.len()));
    Ok(Code::Success)
}
