//! The page that a run's record is written to where the user names a file for it.

use std::path::Path;

use fathom_record::Record;
use fathom_report::{NeedBeside, PAGE_MARK, html_page};

use crate::Failure;
use crate::marked::{Mark, MarkedFile};

/// A report is known by its first lines.
const REPORT: Mark = Mark {
    begins: PAGE_MARK,
    what: "no report of Fathom",
};

/// A file that a page can be written to.
#[derive(Debug)]
pub struct Page(MarkedFile);

impl Page {
    /// Looks whether a page can stand at `path`, before anything is run: a file there is replaced where it is such a page.
    ///
    /// # Errors
    /// As of [`MarkedFile::at`].
    pub fn at(path: &Path) -> Result<Self, Failure> {
        MarkedFile::at(path, REPORT).map(Self)
    }

    /// Writes the page whole or not at all, with the need that the record is laid beside.
    ///
    /// # Errors
    /// As of [`MarkedFile::write`].
    pub fn write(&self, record: &Record, need: Option<&NeedBeside>) -> Result<(), Failure> {
        self.0.write(&html_page(record, need))
    }
}
