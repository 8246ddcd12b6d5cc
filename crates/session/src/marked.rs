//! A file of which Fathom writes every version: an old one is known by how it begins, and is replaced; any other is left.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::files::{refuse_dash, refuse_device, unwritten};
use crate::{Code, Failure};

/// How a file of a kind is known again.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    /// Its first bytes.
    pub begins: &'static str,
    /// What a file is that begins otherwise, such as `no report of Fathom`.
    pub what: &'static str,
}

/// A place where such a file can be written.
#[derive(Debug)]
pub struct MarkedFile {
    path: PathBuf,
}

impl MarkedFile {
    /// Looks whether a file can be written at `path`, before the work whose result it is to hold.
    ///
    /// # Errors
    /// [`Code::Refused`]: something else is there; [`Code::Target`]: its folder is not there, or no file can be made in it.
    pub fn at(path: &Path, mark: Mark) -> Result<Self, Failure> {
        refuse_dash(path)?;
        refuse_device(path)?;
        let name = path.display();
        match found_at(path, mark) {
            Ok(Found::Own(own)) => return Self { path: own }.if_writable(),
            Ok(Found::Other(what)) => return Err(refused(format!("`{name}` {what}"))),
            Ok(Found::Nothing) => {}
            Err(error) if is_of_folder(&error) => return Err(unwritten(path, &error)),
            Err(error) => return Err(refused(format!("`{name}` cannot be replaced: {error}"))),
        }
        let folder = path.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            let failure = Failure::new(
                Code::Target,
                format!("`{name}` cannot be written: its folder does not exist"),
            );
            return Err(failure.hint("make the folder first, or name another file"));
        }
        let path = path.to_owned();
        Self { path }.if_writable()
    }

    /// Whether a file can be made beside it, as writing does: told before hours of I/O, not after.
    fn if_writable(self) -> Result<Self, Failure> {
        part_beside(&self.path)
            .and_then(|(part, _)| fs::remove_file(part))
            .map_err(|error| unwritten(&self.path, &error))?;
        Ok(self)
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// [`Code::Target`]: it cannot be written.
    pub fn write(&self, text: &str) -> Result<(), Failure> {
        self.put(text.as_bytes())
            .map_err(|error| unwritten(&self.path, &error))
    }

    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let (part, mut file) = part_beside(&self.path)?;
        let written = file.write_all(bytes);
        written
            .and_then(|()| fs::rename(&part, &self.path))
            .inspect_err(|_| {
                // What is left of it is ours, and of no use.
                let _ = fs::remove_file(&part);
            })
    }
}

fn refused(what: String) -> Failure {
    let failure = Failure::new(Code::Refused, what);
    failure.hint("name another file, or remove that one first")
}

/// What stands where such a file is wanted.
enum Found {
    Nothing,
    /// One of ours, at this path once links are followed.
    Own(PathBuf),
    /// What is none, in words.
    Other(String),
}

/// Only what is a file by its metadata is opened: a pipe would wait for its writer.
fn found_at(path: &Path, mark: Mark) -> io::Result<Found> {
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) && fs::symlink_metadata(path).is_ok() => {
            return Ok(Found::Other("is a link that leads nowhere".to_owned()));
        }
        Err(error) if is_missing(&error) => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Ok(Found::Other("is there already, and is no file".to_owned()));
    }
    let mut begins = vec![0; mark.begins.len()];
    let is_ours = match File::open(path)?.read_exact(&mut begins) {
        Ok(()) => begins == mark.begins.as_bytes(),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(error),
    };
    Ok(if is_ours {
        Found::Own(fs::canonicalize(path)?)
    } else {
        Found::Other(format!("is there already, and is {}", mark.what))
    })
}

/// Whether the folder keeps a file from being made, and not what stands there.
fn is_of_folder(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, PermissionDenied};
    matches!(error.kind(), NotADirectory | PermissionDenied)
}

/// A new file in the folder of `path`, under a name that nothing there has.
fn part_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    const TRIES: u32 = 1000;
    let process = std::process::id();
    for number in 0..TRIES {
        let part = path.with_file_name(format!(".fathom-{process}-{number}.part"));
        match File::create_new(&part) {
            Ok(file) => return Ok((part, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGINS: &str = "<!-- ours -->\n";

    fn at(path: &Path) -> Result<MarkedFile, Failure> {
        let (begins, what) = (BEGINS, "not ours");
        MarkedFile::at(path, Mark { begins, what })
    }

    #[test]
    fn only_a_file_of_ours_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("notes.html");
        fs::write(&other, "<p>mine</p>").unwrap();
        assert!(at(&other).is_err());
        let page = folder.path().join("page.html");
        assert!(at(&page).is_ok());
        fs::write(&page, format!("{BEGINS}<html>")).unwrap();
        assert!(at(&page).is_ok());
        assert!(at(folder.path()).is_err());
        assert!(at(&folder.path().join("none/page.html")).is_err());
    }

    /// As root too: the kernel lets nobody make a file there.
    #[test]
    fn a_folder_that_takes_no_file_is_told_first() {
        let failure = at(Path::new("/proc/self/page.html")).unwrap_err();
        assert_eq!(failure.code, Code::Target, "{}", failure.message);
        assert!(failure.message.contains("hint: "), "{}", failure.message);
    }

    #[test]
    fn a_file_in_a_folders_place_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let failure = at(&file.join("page.html")).unwrap_err();
        assert_eq!(failure.code, Code::Target, "{}", failure.message);
        let told =
            "cannot be written: Not a directory (os error 20)\n  hint: make its folder first";
        assert!(failure.message.contains(told), "{}", failure.message);
    }

    #[test]
    fn what_is_no_file_is_refused_unopened() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.html");
        std::os::unix::fs::symlink(folder.path().join("none.html"), &link).unwrap();
        for path in [
            Path::new("/dev/null"),
            Path::new("/dev/stdout"),
            folder.path(),
            &link,
        ] {
            let failure = at(path).unwrap_err();
            assert_eq!(failure.code, Code::Refused, "{}", failure.message);
        }
    }

    #[test]
    fn only_the_page_itself_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let others = [
            folder.path().join("page.html.part"),
            folder
                .path()
                .join(format!(".fathom-{}-0.part", std::process::id())),
        ];
        for other in &others {
            fs::write(other, "mine").unwrap();
        }
        at(&path).unwrap().put(b"<html>").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"<html>");
        for other in &others {
            assert_eq!(fs::read(other).unwrap(), b"mine");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        // A page that is reached through a link stays where it is.
        fs::write(&path, BEGINS).unwrap();
        let link = folder.path().join("link.html");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        at(&link).unwrap().put(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // What fails leaves nothing.
        let taken = folder.path().join("taken.html");
        fs::create_dir(&taken).unwrap();
        let page = MarkedFile { path: taken };
        assert!(page.put(b"x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    }
}
