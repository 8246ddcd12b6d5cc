//! Trees of files and workloads on them.

use super::workload::XFERSIZE_MAX;
use super::{Builder, FSDS_MAX};
use crate::vdbench::lexer::Parameter;
use crate::vdbench::outline::Kind;
use crate::vdbench::sections::{
    FileIo, FileSelect, FileSizes, FormatWork, Fsd, Fwd, OpenFlags, StopAfter, Xfersize,
};
use crate::vdbench::source::At;
use crate::vdbench::values::{Unit, parse_number, shown};

pub(super) const FSD_KEYWORDS: &[&str] = &[
    "anchor",
    "depth",
    "width",
    "files",
    "sizes",
    "size",
    "totalsize",
    "workingsetsize",
    "wss",
    "distribution",
    "shared",
    "openflags",
    "count",
    "journal",
    "mask",
    "cleanup",
    "streams",
    "dedupratio",
    "dedupunit",
    "dedupsets",
];

pub(super) const FWD_KEYWORDS: &[&str] = &[
    "fsd",
    "hd",
    "fileio",
    "fileselect",
    "xfersizes",
    "xfersize",
    "operation",
    "operations",
    "threads",
    "skew",
    "stopafter",
    "readpct",
    "rdpct",
    "target",
    "openflags",
    "logfile",
];

const OPERATIONS: &[&str] = &[
    "mkdir", "rmdir", "create", "delete", "open", "close", "read", "write", "access", "getattr",
    "setattr", "copy", "move",
];

/// An FSD without a name.
pub(super) fn no_fsd() -> Fsd {
    Fsd {
        name: String::new(),
        anchor: String::new(),
        depth: 1,
        width: 1,
        files: 10,
        sizes: FileSizes::Mix(vec![(4096, 100.0)]),
        totalsize: None,
        working_set: None,
        files_everywhere: false,
        shared: false,
        openflags: OpenFlags::default(),
        at: At::default(),
    }
}

/// An FWD without a name.
pub(super) fn no_fwd() -> Fwd {
    Fwd {
        name: String::new(),
        fsds: Vec::new(),
        hosts: Vec::new(),
        operation: "read".to_owned(),
        operation_given: false,
        rdpct: None,
        fileio: FileIo::Sequential,
        fileselect: FileSelect::Random,
        xfersize: Xfersize::One(4096),
        threads: 1,
        skew: None,
        stopafter: None,
        openflags: None,
        target: None,
        at: At::default(),
    }
}

impl Builder<'_> {
    /// The operations on files that a parameter names, in lower case.
    pub(super) fn operations(&mut self, parameter: &Parameter) -> Vec<String> {
        let words = parameter.values.iter();
        let words: Vec<String> = words.map(|word| word.text.to_ascii_lowercase()).collect();
        for (word, place) in words.iter().zip(&parameter.values) {
            if !OPERATIONS.contains(&word.as_str()) {
                let message = format!("`{}={word}` is not known", parameter.key);
                let hint = format!("known are {}", OPERATIONS.join(", "));
                self.values.error(place.at, message, hint);
            }
        }
        words
    }

    pub(super) fn fsd(&mut self, name: &str, at: At, body: &[Parameter]) {
        let mut fsd = Fsd {
            name: name.to_owned(),
            at,
            ..self.defaults.fsd.clone()
        };
        let mut count = None;
        for parameter in body {
            let found = self
                .keywords
                .resolve(parameter, Kind::Fsd, FSD_KEYWORDS, &mut self.values);
            match found {
                Some("count") => {
                    let numbers = self.values.numbers(parameter, Unit::Size);
                    count = numbers
                        .filter(|numbers| numbers.len() == 2)
                        .map(|numbers| (numbers[0] as u64, numbers[1] as u64));
                    if count.is_none_or(|(_, number)| number == 0 || number > 10_000) {
                        let message = format!("`count={}` is not possible", shown(parameter));
                        self.values.error(
                            parameter.at,
                            message,
                            "write `count=(first,how many)`, at most 10,000",
                        );
                        count = None;
                    }
                }
                Some(key) => self.fsd_value(key, parameter, &mut fsd),
                None => {}
            }
        }
        if name == "default" {
            self.defaults.fsd = fsd;
            return;
        }
        if fsd.anchor.is_empty() {
            let message = format!("No anchor specified for fsd={name}");
            self.values.error(
                at,
                message,
                "add `anchor=` and the directory that the files stand in",
            );
        }
        match count {
            None => self.add_fsd(fsd),
            Some((start, number)) => {
                let numbered = |text: &str, number: u64| match text.split_once('*') {
                    Some((before, after)) => format!("{before}{number}{after}"),
                    None => format!("{text}{number}"),
                };
                for number in start..start.saturating_add(number) {
                    // One more than there may be says that there are too many.
                    if self.built.fsds.len() > FSDS_MAX {
                        return;
                    }
                    self.add_fsd(Fsd {
                        name: numbered(&fsd.name, number),
                        anchor: numbered(&fsd.anchor, number),
                        ..fsd.clone()
                    });
                }
            }
        }
    }

    fn add_fsd(&mut self, fsd: Fsd) {
        if self.built.fsds.len() == FSDS_MAX {
            let message = format!("over {FSDS_MAX} FSDs are defined");
            self.values.error(fsd.at, message, "define fewer");
        }
        if self.built.fsds.len() <= FSDS_MAX {
            self.built.fsds.push(fsd);
        }
    }

    fn fsd_value(&mut self, key: &str, parameter: &Parameter, fsd: &mut Fsd) {
        match key {
            "anchor" => fsd.anchor = self.values.text(parameter).unwrap_or_default(),
            "depth" => {
                fsd.depth = self
                    .values
                    .count(parameter, Unit::Size, 1)
                    .map_or(fsd.depth, |n| n.min(1 << 20) as u32);
            }
            "width" => {
                fsd.width = self
                    .values
                    .count(parameter, Unit::Size, 1)
                    .map_or(fsd.width, |n| n.min(1 << 20) as u32);
            }
            "files" => {
                fsd.files = self
                    .values
                    .count(parameter, Unit::Size, 1)
                    .unwrap_or(fsd.files);
            }
            "sizes" | "size" => fsd.sizes = self.file_sizes(parameter).unwrap_or(fsd.sizes.clone()),
            "totalsize" => fsd.totalsize = self.values.count(parameter, Unit::Size, 1),
            "workingsetsize" | "wss" => {
                fsd.working_set = self.values.count(parameter, Unit::Size, 1);
            }
            "distribution" => {
                let word = self.values.text(parameter).unwrap_or_default();
                match word.as_bytes().first() {
                    Some(b'a') => fsd.files_everywhere = true,
                    Some(b'b') => fsd.files_everywhere = false,
                    _ => self.refuse(
                        parameter,
                        "neither `bottom` nor `all`",
                        "write `bottom` or `all`",
                    ),
                }
            }
            "shared" => fsd.shared = self.values.truth(parameter).unwrap_or_default(),
            "openflags" => fsd.openflags = self.values.openflags(parameter),
            "journal" => self.refuse(
                parameter,
                "data validation is not done on file systems (`fsd=`, `fwd=`), and journals are for it",
                "check files as SDs (`sd=…,lun=FILE`), or remove it",
            ),
            _ => self.refuse(parameter, "not done here", "remove it"),
        }
    }

    /// Pairs of size and percent, one size, or `(average,0)`.
    fn file_sizes(&mut self, parameter: &Parameter) -> Option<FileSizes> {
        let numbers = self.values.numbers(parameter, Unit::Size)?;
        if numbers.as_slice() == [0.0] {
            let hint = "give at least 1; `operation=create` writes nothing into a file";
            self.refuse(parameter, "files of no bytes are not taken here", hint);
            return None;
        }
        let good = numbers
            .iter()
            .all(|number| number.fract() == 0.0 || *number <= 100.0);
        match numbers.as_slice() {
            [one] if good => Some(FileSizes::Mix(vec![(*one as u64, 100.0)])),
            [average, share] if good && *share == 0.0 => Some(FileSizes::Around(*average as u64)),
            pairs if good && pairs.len() % 2 == 0 => {
                let sizes: Vec<(u64, f64)> = pairs
                    .chunks(2)
                    .map(|pair| (pair[0] as u64, pair[1].abs()))
                    .collect();
                let sum: f64 = sizes.iter().map(|(_, share)| share).sum();
                if (sum - 100.0).abs() > 0.01 {
                    let message = format!(
                        "`sizes={}`: percentages total {sum}, not 100",
                        shown(parameter)
                    );
                    self.values
                        .error(parameter.at, message, "write (size,percent,size,percent,…)");
                    return None;
                }
                Some(FileSizes::Mix(sizes))
            }
            _ => {
                let message = format!("`sizes={}` is not known", shown(parameter));
                self.values.error(
                    parameter.at,
                    message,
                    "write a size, or (size,percent,size,percent,…)",
                );
                None
            }
        }
    }

    pub(super) fn fwd(&mut self, name: &str, at: At, body: &[Parameter]) {
        let inherited = &self.defaults.fwd;
        let lists = inherited.fsds.len() + inherited.hosts.len();
        if !self.values.complaints.has_room_for(lists) {
            return;
        }
        let mut fwd = Fwd {
            name: name.to_owned(),
            at,
            ..self.defaults.fwd.clone()
        };
        if name == "format" {
            self.format_work(body);
            return;
        }
        for parameter in body {
            let found = self
                .keywords
                .resolve(parameter, Kind::Fwd, FWD_KEYWORDS, &mut self.values);
            if let Some(key) = found {
                self.fwd_value(key, parameter, &mut fwd);
            }
        }
        if name == "default" {
            self.defaults.fwd = fwd;
        } else {
            self.built.fwds.push(fwd);
        }
    }

    /// `fwd=format` takes threads, transfer size and open flags alone.
    fn format_work(&mut self, body: &[Parameter]) {
        let mut work = FormatWork::default();
        for parameter in body {
            let found = self
                .keywords
                .resolve(parameter, Kind::Fwd, FWD_KEYWORDS, &mut self.values);
            match found {
                Some("threads") => work.threads = self.threads(parameter).unwrap_or(work.threads),
                Some("xfersize" | "xfersizes") => {
                    let size = self.values.count(parameter, Unit::Size, 1);
                    work.xfersize = size.unwrap_or(work.xfersize);
                }
                Some("openflags") => work.openflags = Some(self.values.openflags(parameter)),
                Some(_) => self.no_effect(
                    parameter,
                    "`fwd=format` takes threads, xfersize and openflags alone",
                ),
                None => {}
            }
        }
        self.built.format_work = work;
    }

    fn fwd_value(&mut self, key: &str, parameter: &Parameter, fwd: &mut Fwd) {
        match key {
            "fsd" => fwd.fsds = self.values.names(parameter),
            "hd" => {
                fwd.hosts = self.values.names(parameter);
                self.check_host_names(&fwd.hosts, &format!("fwd={}", fwd.name));
            }
            "fileio" => fwd.fileio = self.fileio(parameter).unwrap_or(fwd.fileio),
            "fileselect" => fwd.fileselect = self.fileselect(parameter).unwrap_or(fwd.fileselect),
            "xfersize" | "xfersizes" => {
                fwd.xfersize = self.any_xfersize(parameter).unwrap_or(fwd.xfersize.clone());
            }
            "operation" | "operations" => {
                if self.values.text(parameter).is_none() {
                    return;
                }
                if let Some(word) = self.operations(parameter).pop() {
                    fwd.operation = word;
                    fwd.operation_given = true;
                }
            }
            "threads" => fwd.threads = self.threads(parameter).unwrap_or(fwd.threads),
            "skew" => fwd.skew = self.values.percent(parameter).filter(|skew| *skew > 0.0),
            "stopafter" => {
                let number = self.values.number(parameter, Unit::Size);
                fwd.stopafter = number.map(|number| {
                    if number < 0.0 {
                        StopAfter::Percent(-number)
                    } else {
                        StopAfter::Ios(number as u64)
                    }
                });
            }
            "rdpct" | "readpct" => fwd.rdpct = self.values.percent(parameter),
            "target" => fwd.target = self.values.names(parameter).into_iter().next(),
            "openflags" => fwd.openflags = Some(self.values.openflags(parameter)),
            _ => self.refuse(parameter, "not done here", "remove it"),
        }
    }

    fn fileio(&mut self, parameter: &Parameter) -> Option<FileIo> {
        let words: Vec<String> = parameter
            .values
            .iter()
            .map(|word| word.text.to_ascii_lowercase())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let found = match words.as_slice() {
            [word] if word.starts_with('r') => Some(FileIo::Random),
            [word] if word.ends_with("nz") => Some(FileIo::SequentialNonZero),
            [word] if word.starts_with('s') => Some(FileIo::Sequential),
            [word, "shared"] if word.starts_with('r') => Some(FileIo::RandomShared),
            [word, "delete"] if word.starts_with('s') => Some(FileIo::SequentialDelete),
            _ => None,
        };
        if found.is_none() {
            let message = format!("`fileio={}` is not known", shown(parameter));
            let hint = "write random, sequential, seqnz, (random,shared) or (sequential,delete)";
            self.values.error(parameter.at, message, hint);
        }
        found
    }

    /// Transfers of a workload, which may be of any one size.
    pub(super) fn any_xfersize(&mut self, parameter: &Parameter) -> Option<Xfersize> {
        let one = match parameter.values.as_slice() {
            [word] => parse_number(&word.text, Unit::Size),
            _ => None,
        };
        let odd =
            one.filter(|size| size.fract() == 0.0 && (1.0..=XFERSIZE_MAX as f64).contains(size));
        match odd {
            Some(size) => Some(Xfersize::One(size as u64)),
            None => self.xfersize(parameter),
        }
    }

    fn fileselect(&mut self, parameter: &Parameter) -> Option<FileSelect> {
        if let [word] = parameter.values.as_slice()
            && word.text.to_ascii_lowercase().starts_with('e')
        {
            let hint =
                "select random or sequential; `operation=create` makes files that are missing";
            self.refuse(parameter, "empty files are not selected here", hint);
            return None;
        }
        let words: Vec<String> = parameter
            .values
            .iter()
            .map(|word| word.text.to_ascii_lowercase())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let found = match words.as_slice() {
            [word] if word.starts_with('r') => Some(FileSelect::Random),
            [word] if word.starts_with('s') && word.ends_with("nz") => {
                Some(FileSelect::SequentialNonZero)
            }
            [word] if word.starts_with('s') => Some(FileSelect::Sequential),
            [word, "once"] if word.starts_with('r') => Some(FileSelect::RandomOnce),
            ["once"] => Some(FileSelect::SequentialOnce),
            [word, "once"] if word.starts_with('s') => Some(FileSelect::SequentialOnce),
            [word] if word.starts_with('p') => Some(FileSelect::Poisson(3.0)),
            [word, midpoint] if word.starts_with('p') => {
                parse_number(midpoint, Unit::Size).map(FileSelect::Poisson)
            }
            _ => None,
        };
        if found.is_none() {
            let message = format!("`fileselect={}` is not known", shown(parameter));
            self.values.error(
                parameter.at,
                message,
                "write random, sequential, (random,once) or (poisson,3)",
            );
        }
        found
    }
}
