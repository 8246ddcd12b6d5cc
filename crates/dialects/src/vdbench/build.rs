//! From sections to what they define: each keyword by its meaning, `=default` laid over what follows.

mod files;
mod general;
mod rd;
mod storage;
mod workload;

use std::collections::{HashMap, HashSet};

use super::lexer::Parameter;
use super::outline::{Keywords, Kind, Section, meaning};
use super::sections::{FormatWork, Fsd, Fwd, General, Host, Name, Rd, Sd, Wd, matches};
use super::source::{At, Complaints, Sources};
use super::values::Values;

/// Most names that a list in the place of a name defines.
const DEFINED_AT_ONCE_MAX: usize = 1000;
/// Most storage definitions.
pub(super) const SDS_MAX: usize = 100_000;
/// Most names that are compared to find workloads on files that no RD runs.
const LOOKS_MAX: usize = 1_000_000;
/// Most FSDs of a run.
pub(super) const FSDS_MAX: usize = 20_000;

/// Everything that the files define.
#[derive(Debug, Default)]
pub struct Built {
    /// Parameters before all sections.
    pub general: General,
    /// Hosts.
    pub hosts: Vec<Host>,
    /// Storage.
    pub sds: Vec<Sd>,
    /// Workloads on storage.
    pub wds: Vec<Wd>,
    /// Trees of files.
    pub fsds: Vec<Fsd>,
    /// Workloads on trees.
    pub fwds: Vec<Fwd>,
    /// `fwd=format`.
    pub format_work: FormatWork,
    /// Run definitions.
    pub rds: Vec<Rd>,
    /// `wd=default`, for RDs without a WD.
    pub default_wd: Option<Wd>,
}

/// What all builders use.
pub(super) struct Builder<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) values: Values<'a>,
    pub(super) keywords: Keywords,
    pub(super) built: Built,
    defaults: Defaults,
    /// `count=` of `sd=default`.
    default_count: Option<storage::Count>,
    /// Labels and wildcards that were looked for, and whether a host has them.
    known_hosts: HashMap<String, bool>,
    /// How many hosts' labels are among them.
    hosts_indexed: usize,
}

/// What entries of a kind start from.
struct Defaults {
    host: Host,
    sd: Sd,
    wd: Wd,
    fsd: Fsd,
    fwd: Fwd,
    rd: Rd,
}

/// What sections are made of.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// All parameters of the files.
    pub parameters: &'a [Parameter],
    /// Parameters that each RD gets beside its own.
    pub added: &'a [Parameter],
}

/// Builds all sections.
pub fn build(
    stream: Stream<'_>,
    sections: &[Section],
    sources: &Sources,
    complaints: &mut Complaints,
) -> Built {
    let mut builder = Builder {
        stream,
        values: Values {
            sources,
            complaints,
        },
        keywords: Keywords::default(),
        built: Built::default(),
        defaults: Defaults {
            host: storage::no_host(),
            sd: storage::no_sd(),
            wd: workload::no_wd(),
            fsd: files::no_fsd(),
            fwd: files::no_fwd(),
            rd: rd::no_rd(),
        },
        default_count: None,
        known_hosts: HashMap::new(),
        hosts_indexed: 0,
    };
    for section in sections {
        builder.section(section);
    }
    if builder.built.hosts.is_empty() {
        let localhost = Host {
            label: "localhost".to_owned(),
            system: "localhost".to_owned(),
            ..builder.defaults.host.clone()
        };
        builder.built.hosts.push(localhost);
    }
    builder.built.default_wd = Some(builder.defaults.wd.clone());
    builder.check_names();
    builder.warn_of_unused_fwds();
    builder.built
}

impl Builder<'_> {
    fn section(&mut self, section: &Section) {
        let all = self.stream.parameters;
        let body = &all[section.body.clone()];
        let head = section.head.and_then(|head| all.get(head));
        let Some(head) = head else {
            self.general(body);
            return;
        };
        for Name { text: name, at } in self.names_of(head) {
            match section.kind {
                Kind::General => {}
                Kind::Host => self.host(&name, at, body),
                Kind::Sd => self.sd(&name, at, body),
                Kind::Wd => self.wd(&name, at, body),
                Kind::Fsd => self.fsd(&name, at, body),
                Kind::Fwd => self.fwd(&name, at, body),
                Kind::Rd => self.rd(&name, at, body),
            }
        }
    }

    /// What a section defines: one name, also one in quotes or in parentheses. Of several it is told, and all are defined, so
    /// that those who name them are not told that they are missing.
    fn names_of(&mut self, head: &Parameter) -> Vec<Name> {
        let several = head.is_list.then(|| self.values.names(head));
        let Some([first, _, ..]) = several.as_deref() else {
            let text = self.values.text(head);
            let at = head.values.first().map_or(head.at, |word| word.at);
            return text.map(|text| Name { text, at }).into_iter().collect();
        };
        let (kind, name) = (&head.key, &first.text);
        let message = format!(
            "`{kind}={}` names several, and a definition is of one: Vdbench defines {kind}={name} alone",
            super::values::shown(head)
        );
        let hint = match kind.as_str() {
            "sd" | "fsd" => "write a line for each, or `count=(1,3)` for as many that are numbered",
            _ => "write a line for each",
        };
        self.values.error(head.at, message, hint);
        several
            .unwrap_or_default()
            .into_iter()
            .take(DEFINED_AT_ONCE_MAX)
            .collect()
    }

    /// Each name has one meaning: reports are called after it.
    fn check_names(&mut self) {
        let mut seen: HashMap<&str, &str> = HashMap::new();
        let Built {
            hosts,
            sds,
            wds,
            fsds,
            fwds,
            rds,
            ..
        } = &self.built;
        let hosts = hosts
            .iter()
            .filter(|host| host.given)
            .map(|host| ("hd", host.label.as_str(), host.at));
        let sds = sds.iter().map(|sd| ("sd", sd.name.as_str(), sd.at));
        let wds = wds.iter().map(|wd| ("wd", wd.name.as_str(), wd.at));
        let fsds = fsds.iter().map(|fsd| ("fsd", fsd.name.as_str(), fsd.at));
        let fwds = fwds.iter().map(|fwd| ("fwd", fwd.name.as_str(), fwd.at));
        let all: Vec<(&str, &str, At)> = hosts
            .chain(sds)
            .chain(wds)
            .chain(fsds)
            .chain(fwds)
            .collect();
        let mut found = Vec::new();
        for (kind, name, at) in all {
            match seen.insert(name, kind) {
                Some(former) if former != kind => {
                    let message = format!(
                        "Trying to add report name twice: `{name}` names both an {former} and a {kind}"
                    );
                    found.push((at, message, "give each its own name"));
                }
                Some(_) => {
                    let upper = kind.to_ascii_uppercase();
                    let message = format!("An {upper} can only be defined once: {kind}={name}");
                    found.push((at, message, "give each its own name, or remove one"));
                }
                None => {}
            }
        }
        // Runs are told apart from each other alone: a workload's name may be theirs.
        let mut runs = HashSet::new();
        for rd in rds.iter().filter(|rd| !runs.insert(rd.name.as_str())) {
            let message = format!("Duplicate RD names not allowed: {}", rd.name);
            found.push((rd.at, message, "give each its own name, or remove one"));
        }
        for (at, message, hint) in found {
            self.values.error(at, message, hint);
        }
    }

    /// A workload on files that no RD runs may name what is not there, as in Vdbench. That of one that is run is an error, which is
    /// told where its RD is.
    fn warn_of_unused_fwds(&mut self) {
        let Built {
            fsds, fwds, rds, ..
        } = &self.built;
        let mut looks = 0;
        let mut found = Vec::new();
        for fwd in fwds {
            looks +=
                rds.iter().map(|rd| rd.fwds.len()).sum::<usize>() + fwd.fsds.len() * fsds.len();
            if looks > LOOKS_MAX {
                break;
            }
            let mut used = rds.iter().flat_map(|rd| &rd.fwds);
            if used.any(|name| matches(&name.text, &fwd.name)) {
                continue;
            }
            let missing = |name: &&Name| !fsds.iter().any(|fsd| matches(&name.text, &fsd.name));
            found.extend(fwd.fsds.iter().filter(missing).map(|name| {
                let message = format!("Could not find fsd={} for fwd={}", name.text, fwd.name);
                (name.at, format!("{message}, which no `rd=` runs"))
            }));
        }
        for (at, message) in found {
            let hint = "define it with `fsd=` before all `fwd=`, or remove the `fwd=`";
            self.values.warning(at, message, hint);
        }
    }

    /// Refuses a keyword that is known and not done here.
    pub(super) fn refuse(&mut self, parameter: &Parameter, what: &str, hint: &str) {
        let message = format!("`{}=`: {what}", parameter.key);
        self.values.error(parameter.at, message, hint);
    }

    /// Says of a keyword that it changes nothing here.
    pub(super) fn no_effect(&mut self, parameter: &Parameter, why: &str) {
        let message = format!("`{}=` changes nothing here: {why}", parameter.key);
        self.values
            .warning(parameter.at, message, "leave it or remove it");
        let text = format!("{}={}", parameter.key, super::values::shown(parameter));
        self.built.general.without_effect.push(text);
    }
}

/// The keyword that a section of a kind takes `key` for; of several names of one thing the one that its default stands under.
pub(super) fn meant(kind: Kind, key: &str) -> Option<&'static str> {
    let known = match kind {
        Kind::General => general::KEYWORDS,
        Kind::Host => storage::HOST_KEYWORDS,
        Kind::Sd => storage::SD_KEYWORDS,
        Kind::Fsd => files::FSD_KEYWORDS,
        Kind::Wd => workload::KEYWORDS,
        Kind::Fwd => files::FWD_KEYWORDS,
        Kind::Rd => rd::KEYWORDS,
    };
    Some(match (kind, meaning(key, known)?) {
        (Kind::Wd | Kind::Fwd, "readpct" | "wrpct" | "writepct") => "rdpct",
        (Kind::Fsd, "size") => "sizes",
        (Kind::Fwd, "operations") => "operation",
        (Kind::Fwd, "xfersizes") => "xfersize",
        (_, found) => found,
    })
}
