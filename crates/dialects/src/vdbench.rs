//! Vdbench's parameter files and command line, as 5.04.07 reads them.
//!
//! A parameter file is a flat stream of `keyword=value` in sections: hosts (HD), storage (SD, FSD), workloads (WD, FWD) and
//! runs (RD). It becomes one stage of the workload for each run, and one job for each workload on each piece of storage
//! and host. What is taken, and each deliberate difference, stands in `docs/dialects/vdbench.md`.

mod blocks;
mod budget;
mod build;
mod contents;
mod contradictions;
mod expand;
mod explain;
mod filesystem;
mod jobs;
mod lexer;
mod options;
mod outline;
pub mod output;
mod place;
mod priorities;
mod recovery;
mod run;
mod sections;
mod shares;
mod source;
#[cfg(test)]
mod tests;
mod validation;
mod values;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, Subject};
use fathom_workload::Workload;

use crate::fio::Files;

pub use explain::origins;
pub use jobs::{Crowd, crowd_of};
pub use options::{Demo, Here, Options};
pub use place::{HostShare, OtherHosts};
pub use run::{LoopSetting, Run, RunFacts, RunJob, RunKind, RunRate};
pub use sections::{
    FileIo, FileSelect, FileSizes, FormatSds, FormatWork, Fsd, Fwd, Gaps, General, Host, Loop,
    LoopKey, LoopValue, LunPath, MaxData, Name, OpenFlags, Range, Rate, Rd, Repeat, Sd, Seek,
    StopAfter, Wd, Xfersize, matches, show_size,
};
pub use source::{At, Source, Sources};
pub use validation::Validation;

use self::jobs::Storage;
use self::lexer::Parameter;
use self::outline::Section;
use self::source::Complaints;
use self::values::Values;

/// Most pairs of SDs and hosts.
const PATHS_MAX: usize = 1_000_000;

/// What `-t` runs, as Vdbench's own demonstration: 4 KiB for half reads, half writes on a file of 40 MiB.
const DEMO: &str = "sd=sd1,lun=/var/tmp/quick_vdbench_test,size=40m\nwd=wd1,sd=sd1,xfersize=1k,rdpct=50\n\
                    rd=rd1,wd=wd1,iorate=100,elapsed=5,interval=1\n";
/// What `-tf` runs.
const DEMO_FILES: &str = "fsd=fsd1,anchor=/var/tmp/fsd1,depth=1,width=1,files=100,sizes=128k\n\
                          fwd=default,xfersize=4k,fileio=random,fileselect=random,threads=8,stopafter=100\n\
                          fwd=fwd1,fsd=fsd1,operation=read\nfwd=fwd2,fsd=fsd1,operation=write\n\
                          rd=rd1,fwd=fwd*,fwdrate=100,format=yes,elapsed=5,interval=1\n";

/// A command line and its parameter files, read.
#[derive(Debug, Clone, PartialEq)]
pub struct VdbenchInput {
    /// The command line.
    pub options: Options,
    /// Parameters before all sections.
    pub general: General,
    /// Hosts; where the file names none, `localhost`.
    pub hosts: Vec<Host>,
    /// Storage.
    pub sds: Vec<Sd>,
    /// Workloads on storage.
    pub wds: Vec<Wd>,
    /// Trees of files.
    pub fsds: Vec<Fsd>,
    /// Workloads on trees of files.
    pub fwds: Vec<Fwd>,
    /// `fwd=format`.
    pub format_work: FormatWork,
    /// Run definitions.
    pub rds: Vec<Rd>,
    /// All runs in order: each RD with each combination of its loops and rates.
    pub runs: Vec<Run>,
    /// One stage for each run.
    pub workload: Workload,
    /// What was read otherwise than its writer may have meant.
    pub warnings: Diagnostics,
    /// The files with substitutions made: what parmfile.html shows.
    pub sources: Sources,
    /// One line for each keyword in the order in which they were read, as parmscan.html shows.
    pub scan: Vec<String>,
    /// The stream of parameters and its sections, for `explain`.
    pub(crate) outline: (Vec<Parameter>, Vec<Section>),
}

/// Reads the words after the program's name and the files that they name.
///
/// # Errors
/// Every complaint at once, each with its file and line. At least one of them is an error.
pub fn read(words: &[String], files: &dyn Files) -> Result<VdbenchInput, Diagnostics> {
    let (options, warnings) = options::read(words)?;
    read_with(options, warnings, files)
}

/// Reads one parameter file without a command line.
///
/// # Errors
/// As [`read`].
pub fn read_file(path: &str, files: &dyn Files) -> Result<VdbenchInput, Diagnostics> {
    let options = Options {
        files: vec![path.to_owned()],
        ..Options::default()
    };
    read_with(options, Diagnostics::default(), files)
}

/// Whether a text looks like a parameter file: its first line of parameters begins with a section, or includes a file.
pub fn looks_like_parameter_file(text: &str) -> bool {
    let lines = text.lines().take(1000).map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '*', '/']));
    let begins = |line: &str, keywords: &[&str]| {
        let key = line
            .split('=')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        line.contains('=') && keywords.contains(&key.as_str())
    };
    let sections = ["hd", "sd", "fsd", "wd", "fwd", "rd"];
    let Some(first) = lines.next() else {
        return false;
    };
    if first.starts_with('[') {
        return false;
    }
    begins(
        first,
        &[
            "include",
            "messagescan",
            "compratio",
            "dedupratio",
            "create_anchors",
            "concatenatesds",
            "formatsds",
            "report",
            "data_errors",
            "histogram",
        ],
    ) || std::iter::once(first)
        .chain(lines)
        .any(|line| begins(line, &sections))
}

fn read_with(
    options: Options,
    warnings: Diagnostics,
    files: &dyn Files,
) -> Result<VdbenchInput, Diagnostics> {
    let mut complaints = Complaints::default();
    warnings
        .0
        .into_iter()
        .for_each(|warning| complaints.plain(warning));
    if options.files.is_empty() && options.demo.is_none() {
        let complaint = Diagnostic::error("no parameter file is named");
        complaints.plain(complaint.hint("name one with `-f FILE`, or try `-t`"));
        return Err(complaints.into_diagnostics());
    }
    let lexed = lexer::lex(&options, demonstration(&options), files, &mut complaints);
    let lexer::Lexed {
        parameters,
        added,
        sources,
    } = lexed;
    let sections = outline::outline(
        &parameters,
        &mut Values {
            sources: &sources,
            complaints: &mut complaints,
        },
    );
    let stream = build::Stream {
        parameters: &parameters,
        added: &added,
    };
    let built = build::build(stream, &sections, &sources, &mut complaints);
    // What is wrong in a section would only be told again by the runs.
    if complaints.has_errors() && built.rds.is_empty() {
        return Err(complaints.into_diagnostics());
    }
    if built.rds.is_empty() {
        let complaint = Diagnostic::error("the files define no run");
        complaints.plain(complaint.hint("add an `rd=`"));
    }
    let (runs, workload) = runs_of(&built, &options, files, (&sources, &mut complaints));
    if complaints.has_errors() {
        return Err(complaints.into_diagnostics());
    }
    let scan = scan(&parameters, &sources);
    let build::Built {
        general,
        hosts,
        sds,
        wds,
        fsds,
        fwds,
        format_work,
        rds,
        ..
    } = built;
    Ok(VdbenchInput {
        options,
        general,
        hosts,
        sds,
        wds,
        fsds,
        fwds,
        format_work,
        rds,
        runs,
        workload,
        warnings: complaints.into_diagnostics(),
        sources,
        scan,
        outline: (parameters, sections),
    })
}

/// The text of `-t` or `-tf`.
fn demonstration(options: &Options) -> Option<&'static str> {
    options.demo.map(|demo| match demo {
        Demo::Raw => DEMO,
        Demo::FileSystem => DEMO_FILES,
    })
}

/// The runs and their workload; complaints where they contradict themselves.
fn runs_of(
    built: &build::Built,
    options: &Options,
    files: &dyn Files,
    (sources, complaints): (&Sources, &mut Complaints),
) -> (Vec<Run>, Workload) {
    let storage = Storage {
        hosts: hosts_of_sds(built, complaints),
        devices: built.sds.iter().map(Sd::is_device).collect(),
        filling: contents::filling(&built.general, files, (sources, complaints)),
        total: sum(built.sds.iter().filter_map(|sd| sd.size)),
    };
    let mut values = Values {
        sources,
        complaints,
    };
    refuse_commands(built, options, &mut values);
    let (runs, mut workload) = expand::expand(built, options, storage, values);
    let place = (sources, &mut *complaints);
    validation::apply((built, options), (&runs, &mut workload), place);
    if !complaints.has_errors() {
        contradictions::tell(built, (&runs, &workload), (sources, complaints));
    }
    (runs, workload)
}

impl VdbenchInput {
    /// Where in the files a job, a path or a host stands that is complained about.
    pub fn place_of(&self, subject: &Subject) -> Option<Location> {
        let hosts = self.hosts.iter().filter(|host| host.given);
        let mut host = hosts
            .filter(|host| host.label == subject.value)
            .map(|host| host.at);
        let of_path = |sd: &&Sd| sd.paths.iter().any(|path| path.lun == subject.value);
        let by_path = self.sds.iter().find(of_path);
        let by_name = || {
            let name = subject.owner.rsplit('/').next().unwrap_or_default();
            let name = name.split(['@', '#', '+']).next().unwrap_or_default();
            self.sds.iter().find(|sd| sd.name == name)
        };
        let at = host
            .next_back()
            .or_else(|| by_path.or_else(by_name).map(|sd| sd.at))?;
        self.sources.location(at)
    }
}

/// Commands of the whole run, which nobody allowed.
fn refuse_commands(built: &build::Built, options: &Options, values: &mut Values<'_>) {
    if let Some(at) = built.general.commands_at
        && !options.run_commands
        && !options.simulate
    {
        let message = "`startcmd=` and `endcmd=` are run where `--run-commands` allows it";
        let hint = "look at them, then add `--run-commands`, or remove them";
        values.error(at, message, hint);
    }
}

/// A sum of sizes, which may be more than there is.
fn sum(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// For each SD the hosts that have a path to it, each with the number of the first such path.
fn hosts_of_sds(built: &build::Built, complaints: &mut Complaints) -> Vec<Vec<(usize, usize)>> {
    let labels = built.hosts.iter().enumerate();
    let by_label: std::collections::HashMap<&str, usize> = labels
        .map(|(index, host)| (host.label.as_str(), index))
        .collect();
    let mut total = 0;
    let mut all = Vec::with_capacity(built.sds.len());
    for sd in &built.sds {
        let mut hosts = Vec::new();
        for (number, path) in sd.paths.iter().enumerate() {
            let labels = path.hosts.iter().map(String::as_str);
            let everywhere = path.hosts.is_empty().then_some("*");
            for label in labels.chain(everywhere) {
                if !label.ends_with('*') {
                    hosts.extend(by_label.get(label).map(|host| (*host, number)));
                    continue;
                }
                total += built.hosts.len();
                if total > PATHS_MAX {
                    let message = format!("over {PATHS_MAX} paths from hosts to SDs");
                    complaints.plain(
                        Diagnostic::error(message)
                            .hint("use fewer hosts or SDs, or name hosts with `host=`"),
                    );
                    return Vec::new();
                }
                let known = built.hosts.iter().enumerate();
                let found = known.filter(|(_, host)| matches(label, &host.label));
                hosts.extend(found.map(|(host, _)| (host, number)));
            }
        }
        hosts.sort_unstable();
        hosts.dedup_by_key(|(host, _)| *host);
        all.push(hosts);
    }
    all
}

/// One line for each keyword, as parmscan.html shows.
fn scan(parameters: &[Parameter], sources: &Sources) -> Vec<String> {
    let lines = parameters.iter().map(|parameter| {
        let value = values::shown(parameter);
        format!("{}: {}={value}", sources.show(parameter.at), parameter.key)
    });
    lines.collect()
}
