//! The verbs `completions` and `man`.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::aot::Shell;
use fathom_session::{Code, Console, Failure};

use crate::pages::{MARK, pages};

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
/// [`Code::Refused`]: a file that is no such page has the name of one, and nothing was written; [`Code::Target`]: a page
/// cannot be written.
pub fn man(args: &ManArgs, command: Command, console: &dyn Console) -> Result<Code, Failure> {
    let pages = pages(command);
    for page in &pages {
        let path = args.folder.join(&page.name);
        if is_foreign(&path) {
            let message = format!("`{}` is no page of Fathom's", path.display());
            return Err(Failure::new(Code::Refused, message)
                .hint("remove it first, or name another directory"));
        }
    }
    for page in &pages {
        let path = args.folder.join(&page.name);
        replace(&path, page.text.as_bytes()).map_err(|error| unwritten(&path, &error))?;
    }
    let folder = args.folder.display();
    console.tell(&format!("{} pages are in `{folder}`", pages.len()));
    Ok(Code::Success)
}

/// Whether something is there that `fathom man` did not write.
fn is_foreign(path: &Path) -> bool {
    match fs::read(path) {
        Ok(bytes) => !bytes.starts_with(MARK.as_bytes()),
        Err(error) => error.kind() != ErrorKind::NotFound && path.symlink_metadata().is_ok(),
    }
}

/// The file at `path` with these bytes: the old ones or the new ones, never a part.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = fs::File::create_new(&new)?;
    file.write_all(bytes)
        .and_then(|()| fs::rename(&new, path))
        .inspect_err(|_| {
            // It is ours, and of no use.
            let _ = fs::remove_file(&new);
        })
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        ErrorKind::NotFound => "make the directory first (`mkdir -p`)",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a directory that you may write to"
        }
        ErrorKind::AlreadyExists => "remove the `.new` file of that name, which a killed one left",
        _ => "name another directory",
    };
    let message = format!("`{}` cannot be written: {error}", path.display());
    Failure::new(Code::Target, message).hint(hint)
}
