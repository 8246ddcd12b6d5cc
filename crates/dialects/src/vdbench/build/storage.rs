//! Hosts and storage definitions.

use super::{Builder, SDS_MAX};
use crate::vdbench::lexer::{Parameter, Word};
use crate::vdbench::outline::Kind;
use crate::vdbench::sections::matches;
use crate::vdbench::sections::{Host, LunPath, OpenFlags, Range, Sd};
use crate::vdbench::source::At;
use crate::vdbench::values::{Unit, shown};

pub(super) const HOST_KEYWORDS: &[&str] = &[
    "system", "vdbench", "jvms", "shell", "user", "clients", "mount", "master",
];

pub(super) const SD_KEYWORDS: &[&str] = &[
    "lun",
    "hd",
    "size",
    "threads",
    "openflags",
    "count",
    "range",
    "hitarea",
    "offset",
    "align",
    "streams",
    "journal",
    "replay",
    "dedupratio",
    "dedupunit",
    "dedupsets",
    "dedupflipflop",
    "deduphotsets",
    "resetlun",
    "resetbus",
    "instance",
    "kstat",
];

/// Most hosts of one `clients=`.
const CLIENTS_MAX: u64 = 1000;

/// A host without a name.
pub(super) fn no_host() -> Host {
    Host {
        label: String::new(),
        system: String::new(),
        user: None,
        shell: "rsh".to_owned(),
        vdbench: None,
        jvms: None,
        mount: None,
        master: None,
        given: false,
        at: At::default(),
    }
}

/// An SD without a name.
pub(super) fn no_sd() -> Sd {
    Sd {
        name: String::new(),
        paths: Vec::new(),
        size: None,
        threads: 8,
        openflags: OpenFlags::default(),
        range: None,
        hitarea: 1 << 20,
        offset: 0,
        align: 0,
        journal: None,
        at: At::default(),
    }
}

/// `count=(start,number)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    start: u64,
    number: u64,
}

impl Builder<'_> {
    pub(super) fn host(&mut self, name: &str, at: At, body: &[Parameter]) {
        let mut host = Host {
            label: name.to_owned(),
            given: true,
            at,
            ..self.defaults.host.clone()
        };
        let mut clients = None;
        for parameter in body {
            let found =
                self.keywords
                    .resolve(parameter, Kind::Host, HOST_KEYWORDS, &mut self.values);
            match found {
                Some("system") => host.system = self.values.text(parameter).unwrap_or_default(),
                Some("vdbench") => host.vdbench = self.values.text(parameter),
                Some("jvms") => {
                    host.jvms = self
                        .values
                        .count(parameter, Unit::Size, 1)
                        .map(|jvms| jvms as u32);
                }
                Some("shell") => host.shell = self.values.text(parameter).unwrap_or_default(),
                Some("user") => host.user = self.values.text(parameter),
                Some("mount") => {
                    host.mount = self.values.text(parameter);
                    self.no_effect(parameter, "file systems are mounted by whoever runs it");
                }
                Some("master") => host.master = self.values.text(parameter),
                Some("clients") => clients = self.values.count(parameter, Unit::Size, 1),
                _ => {}
            }
        }
        if name == "default" {
            host.given = false;
            self.defaults.host = host;
            return;
        }
        if host.system.is_empty() {
            host.system.clone_from(&host.label);
        }
        match clients {
            None => self.built.hosts.push(host),
            Some(count) if count > CLIENTS_MAX => {
                let message = format!("`clients={count}` is too many");
                self.values
                    .error(at, message, format!("give at most {CLIENTS_MAX}"));
            }
            Some(count) => self.built.hosts.extend((0..count).map(|client| Host {
                label: format!("{}_cl{client}", host.label),
                ..host.clone()
            })),
        }
        if self.built.hosts.len() > 10_000 {
            self.built.hosts.truncate(10_000);
            self.values
                .error(at, "over 10,000 hosts are defined", "define fewer");
        }
    }

    pub(super) fn sd(&mut self, name: &str, at: At, body: &[Parameter]) {
        let mut sd = Sd {
            name: name.to_owned(),
            at,
            ..self.defaults.sd.clone()
        };
        let mut count = None;
        let mut hosts: Option<Vec<String>> = None;
        let mut is_host = false;
        for parameter in body {
            let found = self
                .keywords
                .resolve(parameter, Kind::Sd, SD_KEYWORDS, &mut self.values);
            match found {
                Some("hd") => {
                    let names = self.values.names(parameter);
                    hosts = Some(names.into_iter().map(|name| name.text).collect());
                }
                Some("lun") => {
                    if name == "default" {
                        self.refuse(
                            parameter,
                            "not possible in `sd=default`",
                            "give each SD its own",
                        );
                        continue;
                    }
                    if let Some(lun) = self.values.text(parameter) {
                        let hosts = hosts.take().unwrap_or_default();
                        sd.paths.push(LunPath { hosts, lun });
                    }
                }
                Some("count") => count = self.count(parameter),
                Some(other) => self.sd_value(other, parameter, &mut sd),
                None => is_host |= HOST_KEYWORDS.contains(&parameter.key.as_str()),
            }
        }
        // A host that stands behind the only path is meant for it.
        if let (Some(hosts), [path]) = (hosts, sd.paths.as_mut_slice()) {
            path.hosts = hosts;
        }
        // What was meant to define a host names none, of which it was told.
        if is_host {
            sd.paths.iter_mut().for_each(|path| path.hosts.clear());
        }
        if name == "default" {
            self.default_count = count.or(self.default_count);
            self.defaults.sd = sd;
            return;
        }
        self.check_hosts(&sd);
        match count.or(self.default_count) {
            None => self.add_sd(sd),
            Some(count) => {
                for number in count.start..count.start.saturating_add(count.number) {
                    // One more than there may be says that there are too many.
                    if self.built.sds.len() > SDS_MAX {
                        return;
                    }
                    self.add_sd(numbered(&sd, number));
                }
            }
        }
    }

    fn sd_value(&mut self, key: &str, parameter: &Parameter, sd: &mut Sd) {
        match key {
            "size" => sd.size = self.values.count(parameter, Unit::Size, 512).or(sd.size),
            "threads" => sd.threads = self.threads(parameter).unwrap_or(sd.threads),
            "openflags" => sd.openflags = self.values.openflags(parameter),
            "range" => sd.range = self.range(parameter),
            "hitarea" => {
                let area = self.values.count(parameter, Unit::Size, 512);
                sd.hitarea = area.unwrap_or(sd.hitarea);
            }
            "offset" => sd.offset = self.sectors(parameter).unwrap_or(sd.offset),
            "align" => sd.align = self.sectors(parameter).unwrap_or(sd.align),
            "resetlun" | "resetbus" | "instance" | "kstat" => {
                self.no_effect(parameter, "it is for Solaris");
            }
            "streams" => self.refuse(
                parameter,
                "belongs to the workload",
                "write it in the `wd=`",
            ),
            "replay" => self.refuse(
                parameter,
                "traces of Swat are not read",
                "use `fathom fio` with `--read_iolog=`",
            ),
            "journal" => sd.journal = self.values.text(parameter),
            "deduphotsets" | "dedupflipflop" => {
                self.refuse(parameter, "not done here", "remove it");
            }
            _ => self.refuse(
                parameter,
                "not done for a single SD",
                "write it before all sections, or remove it",
            ),
        }
    }

    /// Threads; none become one, as Vdbench has it.
    pub(super) fn threads(&mut self, parameter: &Parameter) -> Option<u32> {
        let count = self.values.count(parameter, Unit::Size, 0)?;
        if count == 0 {
            let message = "Setting some threadcounts to a minimum of 1";
            self.values
                .warning(parameter.at, message, "give at least 1 thread");
        }
        let most = u64::from(fathom_workload::DEPTH_MAX);
        if count > most {
            let message = format!("`{}={}` is too many", parameter.key, shown(parameter));
            self.values
                .error(parameter.at, message, format!("give at most {most}"));
            return None;
        }
        Some(count.max(1) as u32)
    }

    /// A multiple of 512 bytes.
    fn sectors(&mut self, parameter: &Parameter) -> Option<u64> {
        let bytes = self.values.count(parameter, Unit::Size, 0)?;
        if bytes.is_multiple_of(512) {
            return Some(bytes);
        }
        let message = format!(
            "`{}={}` is no multiple of 512",
            parameter.key,
            shown(parameter)
        );
        self.values
            .error(parameter.at, message, "give whole sectors of 512 bytes");
        None
    }

    /// `(low,high)`: percent where both are at most 200, otherwise bytes.
    pub(super) fn range(&mut self, parameter: &Parameter) -> Option<Range> {
        let words: Vec<Word> = parameter
            .values
            .iter()
            .flat_map(|word| {
                let parts = word.text.split_once('-').filter(|_| !word.quoted);
                let parts = parts.map_or(vec![word.text.as_str()], |(low, high)| vec![low, high]);
                parts
                    .into_iter()
                    .map(|text| Word {
                        text: text.to_owned(),
                        ..word.clone()
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        let two = Parameter {
            values: words,
            ..parameter.clone()
        };
        let numbers = self.values.numbers(&two, Unit::Size)?;
        if let [low, high] = numbers.as_slice() {
            let (low, high) = (low.abs(), high.abs());
            if low >= high {
                let message = format!(
                    "`{}={}` ends before it begins",
                    parameter.key,
                    shown(parameter)
                );
                self.values
                    .error(parameter.at, message, "give the lower end first");
                return None;
            }
            if low <= 200.0 && high <= 200.0 {
                return Some(Range::Percent(low, high));
            }
            Some(Range::Bytes(low as u64, high as u64))
        } else {
            let message = format!("`{}={}` has not two ends", parameter.key, shown(parameter));
            self.values.error(
                parameter.at,
                message,
                "write it like `(10,20)`, in percent or in bytes",
            );
            None
        }
    }

    fn count(&mut self, parameter: &Parameter) -> Option<Count> {
        let numbers = self.values.numbers(parameter, Unit::Size)?;
        match numbers.as_slice() {
            [start, number] if *start >= 0.0 && *number >= 1.0 && *number <= SDS_MAX as f64 => {
                Some(Count {
                    start: *start as u64,
                    number: *number as u64,
                })
            }
            _ => {
                let message = format!("`count={}` is not possible", shown(parameter));
                let hint = format!("write `count=(first,how many)`, at most {SDS_MAX}");
                self.values.error(parameter.at, message, hint);
                None
            }
        }
    }

    fn add_sd(&mut self, sd: Sd) {
        if sd.paths.is_empty() {
            let message = format!("No lun name specified for sd={}", sd.name);
            let hint = "add `lun=` behind a `,` and without a blank";
            self.values.lacking(sd.at, message, hint);
        }
        if self.built.sds.len() == SDS_MAX {
            let message = format!("over {SDS_MAX} SDs are defined");
            self.values.error(sd.at, message, "define fewer");
        }
        if self.built.sds.len() <= SDS_MAX {
            self.built.sds.push(sd);
        }
    }

    /// Every host that an SD names must be there.
    fn check_hosts(&mut self, sd: &Sd) {
        let patterns = sd.paths.iter().flat_map(|path| &path.hosts);
        for pattern in patterns {
            let known = self.knows_host(pattern);
            if !known {
                let message = format!("Could not find host={pattern} for sd={}", sd.name);
                self.values
                    .error(sd.at, message, "define it with `hd=` before all `sd=`");
            }
        }
    }

    /// Whether a label or wildcard means any host.
    pub(super) fn knows_host(&mut self, pattern: &str) -> bool {
        let hosts = &self.built.hosts;
        for host in hosts.iter().skip(self.hosts_indexed) {
            self.known_hosts.insert(host.label.clone(), true);
        }
        self.hosts_indexed = hosts.len();
        if let Some(known) = self.known_hosts.get(pattern) {
            return *known;
        }
        let mut labels = hosts.iter().map(|host| host.label.as_str());
        let known = if hosts.is_empty() {
            matches(pattern, "localhost")
        } else {
            labels.any(|label| matches(pattern, label))
        };
        self.known_hosts.insert(pattern.to_owned(), known);
        known
    }
}

/// The SD of one number: it stands for `*` or `%d` in the name and the path, or behind a name without these.
fn numbered(sd: &Sd, number: u64) -> Sd {
    let fill = |text: &str, appended: bool| match (filled(text, number), appended) {
        (Some(text), _) => text,
        (None, true) => format!("{text}{number}"),
        (None, false) => text.to_owned(),
    };
    let path = |path: &LunPath| LunPath {
        lun: fill(&path.lun, true),
        ..path.clone()
    };
    Sd {
        name: fill(&sd.name, true),
        paths: sd.paths.iter().map(path).collect(),
        ..sd.clone()
    }
}

/// `*` or a mask such as `%d` or `%02d`, replaced.
fn filled(text: &str, number: u64) -> Option<String> {
    if let Some((before, after)) = text.split_once('*') {
        return Some(format!("{before}{number}{after}"));
    }
    let (before, mask) = text.split_once('%')?;
    let (width, after) = mask.split_once('d')?;
    if width.is_empty() {
        return Some(format!("{before}{number}{after}"));
    }
    let digits: usize = width.parse().ok().filter(|digits| *digits <= 20)?;
    Some(if width.starts_with('0') {
        format!("{before}{number:0digits$}{after}")
    } else {
        format!("{before}{number:digits$}{after}")
    })
}
