//! Files that a user names: texts that are read, and new files that are written.
//!
//! Every verb says alike what is wrong with one, why, and what to do. Invariant: a file that exists is never written over,
//! and one that cannot be written whole is not left behind.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_diagnostics::{nearest, why_unread};
use fathom_engine::refuse_results;

use crate::{Code, Failure, engine_failure};

/// What stands for the standard input in a file's place.
pub(crate) const STDIN: &str = "-";
/// Most bytes of a file that is read whole. A native workload may have as many, and all else needs fewer.
const BYTES_MOST: u64 = 256 << 20;
/// Whether the standard input was read: it gives its bytes once.
static STDIN_READ: AtomicBool = AtomicBool::new(false);

/// The text of the file at `path`, or of the standard input where that is `-`. It is called `what` with a space behind it, such
/// as `"the design "`, or nothing.
///
/// # Errors
/// [`Code::Input`]: it cannot be read, or is no text in UTF-8.
pub fn read_text(what: &str, path: &Path) -> Result<String, Failure> {
    let bytes = read_bytes(what, path)?;
    String::from_utf8(bytes).map_err(|error| no_text(what, path, error.as_bytes()))
}

/// The bytes of the file at `path`, which is called `what` as in [`read_text`].
pub(crate) fn read_bytes(what: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    let is_stdin = path == Path::new(STDIN);
    if is_stdin && STDIN_READ.swap(true, Ordering::Relaxed) {
        let message = format!("{what}`-` cannot be read: the standard input was read already");
        return Err(Failure::new(Code::Input, message).hint("name a file in one of the places"));
    }
    let most = BYTES_MOST + 1;
    let mut bytes = Vec::new();
    let read = if is_stdin {
        let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
        read.map(|read| read as u64)
    } else {
        read_file(path, most, &mut bytes)
    };
    let found = read.map_err(|error| unread(what, path, &error))?;
    if found >= most {
        let message = format!("{what}`{}` is larger than 256 MiB", path.display());
        return Err(Failure::new(Code::Input, message).hint("name another file"));
    }
    Ok(bytes)
}

/// Reads no more than `most` bytes of the file at `path`, and none of one that says that it has more. Gives how many there
/// are.
fn read_file(path: &Path, most: u64, bytes: &mut Vec<u8>) -> io::Result<u64> {
    let file = File::open(path)?;
    let told = file.metadata()?.len();
    if told >= most {
        return Ok(told);
    }
    file.take(most).read_to_end(bytes).map(|read| read as u64)
}

/// A file that cannot be read, which is called `what` as in [`read_text`]: why, and what to do.
pub fn unread(what: &str, path: &Path, error: &io::Error) -> Failure {
    let message = format!(
        "{what}`{}` cannot be read: {}",
        path.display(),
        why_unread(error)
    );
    Failure::new(Code::Input, message).hint(unread_hint(path, error.kind()))
}

/// A file whose bytes are no text.
pub(crate) fn no_text(what: &str, path: &Path, bytes: &[u8]) -> Failure {
    let name = path.display();
    // The mark that texts in UTF-16 begin with, as Windows writes them.
    if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        let message = format!("{what}`{name}` is in UTF-16, and UTF-8 alone is read here");
        let name = if path == Path::new(STDIN) {
            "FILE".to_owned()
        } else {
            name.to_string()
        };
        let hint = format!("save it as UTF-8, such as with `iconv -f UTF-16 -t UTF-8 {name}`");
        return Failure::new(Code::Input, message).hint(hint);
    }
    let message = format!("{what}`{name}` is no text: it holds bytes that are not UTF-8");
    Failure::new(Code::Input, message).hint("name a text file, or save it as UTF-8")
}

/// What to do about a file at `path` that cannot be read.
pub fn unread_hint(path: &Path, kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => match (fs::read_link(path), beside(path)) {
            (Ok(to), _) => format!("it is a link to `{}`, which is not there", to.display()),
            (_, Some(near)) => format!("did you mean `{}`?", near.display()),
            _ => "name a file that is there".to_owned(),
        },
        ErrorKind::IsADirectory => "name a file in that folder".to_owned(),
        ErrorKind::PermissionDenied => {
            "name a file that you may read, or run as a user who may".to_owned()
        }
        _ if is_in_a_circle(path) => "its links lead in a circle: name the file itself".to_owned(),
        _ => "name a file that can be read".to_owned(),
    }
}

/// Whether links keep the file from being found: the error's kind is not stable, its number is.
fn is_in_a_circle(path: &Path) -> bool {
    const ELOOP: i32 = 40;
    fs::metadata(path).is_err_and(|error| error.raw_os_error() == Some(ELOOP))
}

/// The file in the folder of `path` that is called most like it.
fn beside(path: &Path) -> Option<PathBuf> {
    /// More than anybody looks through, and quickly read.
    const ENTRIES_MOST: usize = 10_000;
    let name = path.file_name()?.to_str()?;
    let files = fs::read_dir(folder_of(path)).ok()?;
    let names: Vec<String> = files
        .take(ENTRIES_MOST)
        .filter_map(Result::ok)
        .filter(|entry| fs::metadata(entry.path()).is_ok_and(|it| it.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let near = nearest(name, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near))
}

fn folder_of(path: &Path) -> &Path {
    let parent = path.parent();
    parent
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A file that is to be written, and that did not exist when it was named.
#[derive(Debug)]
pub struct NewFile<'a> {
    path: &'a Path,
}

impl<'a> NewFile<'a> {
    /// Looks whether a file can be made at `path`, before the work whose result it is to hold. None is left there.
    ///
    /// # Errors
    /// [`Code::Refused`]: something is there; [`Code::Target`]: none can be made.
    pub fn at(path: &'a Path) -> Result<Self, Failure> {
        refuse_dash(path)?;
        File::create_new(path)
            .and_then(|_| fs::remove_file(path))
            .map_err(|error| unwritten(path, &error))?;
        Ok(Self { path })
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// As of [`NewFile::at`], and where it cannot be written to its end.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        self.put(text.as_bytes())
            .map_err(|error| unwritten(self.path, &error))
    }

    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(self.path)?;
        file.write_all(bytes).inspect_err(|_| {
            // It is ours, and what stands in it is of no use.
            let _ = fs::remove_file(self.path);
        })
    }

    /// Takes it away again, where another that belongs to it could not be written.
    pub fn remove(&self) {
        // What cannot be removed stays, and the failure that led here is told.
        let _ = fs::remove_file(self.path);
    }
}

/// Refuses `-` where a file is to be written: who has it for the standard output would find nothing there, and a file of that
/// name later.
pub(crate) fn refuse_dash(path: &Path) -> Result<(), Failure> {
    if path != Path::new(STDIN) {
        return Ok(());
    }
    let message = "`-` is the standard input, and no file to write";
    let hint = "name a file (`./-` is one of that name); what a verb prints without the option goes to stdout";
    Err(Failure::new(Code::Usage, message).hint(hint))
}

/// Refuses a block device where results are to be written, whatever opening it would say.
///
/// # Errors
/// [`Code::Refused`]: a block device is there.
pub fn refuse_device(path: &Path) -> Result<(), Failure> {
    refuse_results([path]).map_err(|error| engine_failure(&error))
}

/// A file that cannot be written: why, and what to do.
pub fn unwritten(path: &Path, error: &io::Error) -> Failure {
    if let Err(failure) = refuse_device(path) {
        return failure;
    }
    let name = path.display();
    if error.kind() == ErrorKind::AlreadyExists {
        let message = format!("`{name}` exists, and nothing is written over");
        return Failure::new(Code::Refused, message)
            .hint("name another file, or remove that one first");
    }
    let hint = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "make its folder first, or name another",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "name a file in a folder that you may write to"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free space, or name another folder",
        _ => "name another file",
    };
    let message = format!("`{name}` cannot be written: {error}");
    Failure::new(Code::Target, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(got: Result<T, Failure>, code: Code, words: &[&str]) {
        let failure = got.unwrap_err();
        assert_eq!(failure.code, code, "{}", failure.message);
        assert!(
            failure.message.contains("\n  hint: "),
            "{}",
            failure.message
        );
        for word in words {
            assert!(failure.message.contains(word), "{}", failure.message);
        }
    }

    #[test]
    fn a_dash_is_no_file_to_write() {
        let name = Path::new("-");
        check(
            NewFile::at(name),
            Code::Usage,
            &["`./-` is one of that name"],
        );
        assert!(!name.exists());
    }

    #[test]
    fn what_cannot_be_read_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("fiowrite.ini"), "x").unwrap();
        fs::write(at("bytes.toml"), [0xff, 0xff]).unwrap();
        fs::create_dir(at("fiowrit.ini")).unwrap();
        assert_eq!(read_text("", &at("fiowrite.ini")).unwrap(), "x");
        let near = format!("did you mean `{}`?", at("fiowrite.ini").display());
        check(read_text("", &at("fiowrte.ini")), Code::Input, &[&near]);
        std::os::unix::fs::symlink("gone.ini", at("fiowrites.ini")).unwrap();
        check(
            read_text("", &at("fiowrites.ini")),
            Code::Input,
            &["a link to `gone.ini`, which is not there"],
        );
        std::os::unix::fs::symlink("round.ini", at("round.ini")).unwrap();
        check(
            read_text("", &at("round.ini")),
            Code::Input,
            &["lead in a circle"],
        );
        let none = at("none/at/all");
        check(
            read_text("", &none),
            Code::Input,
            &["name a file that is there"],
        );
        let what = "the design `";
        check(
            read_text("the design ", folder.path()),
            Code::Input,
            &[what, "it is a folder, no file", "in that folder"],
        );
        check(
            read_text("", &at("bytes.toml")),
            Code::Input,
            &["is no text", "UTF-8"],
        );
        fs::write(at("wide.toml"), b"\xff\xfes\0e\0e\0d\0").unwrap();
        check(
            read_text("", &at("wide.toml")),
            Code::Input,
            &["is in UTF-16", "iconv -f UTF-16 -t UTF-8"],
        );
    }

    #[test]
    fn a_new_file_is_written_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.toml");
        let file = NewFile::at(&path).unwrap();
        assert!(!path.exists(), "looking makes nothing");
        file.write("text").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        let exists = ["exists, and nothing is written over"];
        check(file.write("other"), Code::Refused, &exists);
        check(NewFile::at(&path), Code::Refused, &exists);
        check(NewFile::at(folder.path()), Code::Refused, &exists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        let nowhere = folder.path().join("none/new.toml");
        check(
            NewFile::at(&nowhere),
            Code::Target,
            &["make its folder first"],
        );
    }
}
