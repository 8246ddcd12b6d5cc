//! The page that a run's record is written to where the user names a file for it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fathom_record::Record;
use fathom_report::{NeedBeside, PAGE_MARK, html_page};

use crate::{Code, Failure};

/// A file that a page can be written to.
#[derive(Debug)]
pub struct Page {
    path: PathBuf,
}

impl Page {
    /// Looks whether a page can stand at `path`, before anything is run: a file there is replaced where it is such a page.
    pub fn at(path: &Path) -> Result<Self, Failure> {
        let refused = |what: String| {
            let failure = Failure::new(Code::Refused, what);
            failure.hint("name another file, or remove that one first")
        };
        let name = path.display();
        match is_page(path) {
            Ok(true) => {}
            Ok(false) => {
                return Err(refused(format!(
                    "`{name}` is there already, and is no report of Fathom"
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                if folder.is_some_and(|folder| !folder.is_dir()) {
                    let failure = Failure::new(
                        Code::Usage,
                        format!("`{name}` cannot be written: its folder does not exist"),
                    );
                    return Err(failure.hint("make the folder first, or name another file"));
                }
            }
            Err(error) => return Err(refused(format!("`{name}` cannot be replaced: {error}"))),
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Writes the page whole or not at all, with the need that the record is laid beside.
    pub fn write(&self, record: &Record, need: Option<&NeedBeside>) -> Result<(), Failure> {
        let mut part = self.path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let written =
            fs::write(&part, html_page(record, need)).and_then(|()| fs::rename(&part, &self.path));
        written.map_err(|error| {
            // What is left of it is ours, and of no use.
            let _ = fs::remove_file(&part);
            let name = self.path.display();
            Failure::new(Code::Target, format!("`{name}` cannot be written: {error}"))
        })
    }
}

fn is_page(path: &Path) -> io::Result<bool> {
    let mut begins = vec![0; PAGE_MARK.len()];
    match File::open(path)?.read_exact(&mut begins) {
        Ok(()) => Ok(begins == PAGE_MARK.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("notes.html");
        fs::write(&other, "<p>mine</p>").unwrap();
        assert!(Page::at(&other).is_err());
        let page = folder.path().join("page.html");
        assert!(Page::at(&page).is_ok());
        fs::write(&page, format!("{PAGE_MARK}<html>")).unwrap();
        assert!(Page::at(&page).is_ok());
        assert!(Page::at(folder.path()).is_err());
        assert!(Page::at(&folder.path().join("none/page.html")).is_err());
    }
}
