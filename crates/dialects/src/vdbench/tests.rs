//! Tests of the reader: parameter files as people write them, and what becomes of them.

mod accepted;
mod agreement;
mod journal;
mod mapping;
mod not_done;
mod patterns;
mod place;
mod refused;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use fathom_diagnostics::Diagnostics;
use fathom_units::Bytes;

use super::VdbenchInput;
use crate::fio::{FileStatus, Files};

/// Files by their names.
#[derive(Default)]
struct Memory {
    texts: BTreeMap<String, String>,
    sizes: BTreeMap<String, u64>,
}

impl Files for Memory {
    fn read_text(&self, path: &str) -> io::Result<String> {
        let found = self.texts.get(path).cloned();
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn status(&self, path: &str) -> FileStatus {
        let size = self.sizes.get(path).copied();
        size.map_or(FileStatus::Missing, |size| {
            FileStatus::Regular(Bytes::new(size))
        })
    }
}

fn memory(files: &[(&str, &str)]) -> Memory {
    let texts = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Memory {
        texts: texts.collect(),
        sizes: BTreeMap::new(),
    }
}

/// Reads `text` as the file `p`, with more words on the command line.
fn read_with(text: &str, words: &str) -> Result<VdbenchInput, Diagnostics> {
    let words = format!("-f p {words}");
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    super::read(&words, &memory(&[("p", text)]))
}

#[track_caller]
fn read(text: &str) -> VdbenchInput {
    match read_with(text, "") {
        Ok(input) => input,
        Err(complaints) => panic!("{text}\n{complaints}"),
    }
}

/// What a file says before its runs.
const SD_WD: &str = "sd=sd1,lun=/f,size=1g\nwd=wd1,sd=sd1\n";

/// The published script's files for `hosts` machines of six volumes, in one text.
fn published(hosts: usize, pattern: &str) -> String {
    let mut text = String::from("hd=default,jvms=1,shell=ssh\n");
    for vm in 1..=hosts {
        let _ = writeln!(text, "hd=vm{vm},system=vdbench-vnet1-{vm},user=root");
    }
    text.push_str("sd=default,size=693g\n");
    for vm in 1..=hosts {
        for volume in 1..=6 {
            let _ = writeln!(
                text,
                "sd=sd-{vm}-{volume},host=vm{vm},lun=/mnt/vdb{volume}/file-{vm}-{volume},openflags=o_direct"
            );
        }
    }
    text + pattern
}
