//! Writing of a Vdbench parameter file.
//!
//! Each job is a workload (WD) on storage of its own (SD), and each stage a run (RD) of its jobs' workloads. Vdbench's threads
//! on a piece of storage share its position, which is what one worker with as many I/Os outstanding does.

use std::fmt::Write as _;
use std::io;

use fathom_diagnostics::Diagnostics;
use fathom_dialects::fio::{FileStatus, Files};
use fathom_dialects::vdbench;
use fathom_units::{Bytes, Nanos, Percent};
use fathom_workload::{
    Access, Arrival, BlockSizes, Caching, Features, Job, Limits, OpenSync, Pacing, Place, Poisson,
    SequentialScope, Stage, SyncPolicy, Workload,
};

use crate::Converted;
use crate::back::{Reasons, header, losses};
use crate::draft::Draft;

const REASONS: Reasons = &[
    (
        "access",
        "Vdbench draws random addresses independently, or goes in order",
    ),
    ("backend", "Vdbench has threads; here they are one queue"),
    ("block", "Vdbench has the same sizes for reads and writes"),
    ("contents", "Vdbench writes data of its own"),
    ("discard", "Vdbench reports every run"),
    ("drop_cache", "Vdbench leaves the cache as it is"),
    ("existing", "Vdbench writes to any file that is there"),
    ("group", "Vdbench reports each SD"),
    ("measure", "Vdbench runs for `elapsed=`, in whole seconds"),
    ("mix", "Vdbench reads and writes alone"),
    ("name", "names are letters, digits and `_`"),
    ("repeats", "give the RD that often"),
    ("salt", "Vdbench draws by its own seeds"),
    ("seed", "Vdbench draws by its own seeds"),
    (
        "warmup",
        "Vdbench leaves its first interval out, or whole seconds of `warmup=`",
    ),
];

/// The workload as a parameter file.
pub fn convert(workload: &Workload, source: &str) -> Converted {
    let Workload {
        stages,
        // Runs are drawn by Vdbench's own seeds.
        seed: _,
    } = workload;
    let mut draft = Draft::default();
    let (mut storage, mut work, mut runs) = (String::new(), String::new(), String::new());
    let mut hosts: Vec<&str> = Vec::new();
    let mut number = 0;
    for (index, stage) in stages.iter().enumerate() {
        draft.stages.push(vec![index]);
        let mut names = Vec::new();
        let mut place = 0;
        let Stage {
            name,
            jobs,
            // Both stand with the RD; the others show when the text is read back.
            cooldown: _,
            rate_from: _,
            repeats: _,
            discard: _,
        } = stage;
        for job in jobs {
            decided(job);
            let mut became = Vec::new();
            if job.workers > 1 {
                let message = format!(
                    "{} workers become one queue of as many I/Os outstanding",
                    job.workers
                );
                draft.lost(number, "workers", message.clone());
                draft.lost(number, "depth", message);
            }
            for (part, target) in job.targets.iter().enumerate() {
                let (wd, sd) = names_of(job, number, part, jobs.len() > 1);
                let path = path_of(&target.place, number, part, &mut draft);
                let _ = writeln!(
                    storage,
                    "sd={sd},lun={path}{}",
                    of_storage(job, target.offset, target.length)
                );
                let _ = writeln!(work, "wd={wd},sd={sd}{}", of_work(job, number, &mut draft));
                names.push(wd);
                became.push((index, place));
                place += 1;
            }
            if became.len() > 1 {
                draft.lost(
                    number,
                    "target",
                    "Vdbench keeps its threads on each SD, not on all together",
                );
            }
            hosts.extend(job.host.as_deref());
            draft.jobs.push(became);
            number += 1;
        }
        let _ = writeln!(runs, "rd={},{}", safe(name, index), of_run(stage, &names));
    }
    let body = format!("{}{storage}{work}{runs}", host_lines(hosts));
    let losses = losses(workload, &draft, read(&body), REASONS);
    Converted {
        text: format!("{}\n{body}", header("*", source, &losses)),
        losses,
    }
}

/// A line for each machine that a job names.
fn host_lines(mut hosts: Vec<&str>) -> String {
    hosts.sort_unstable();
    hosts.dedup();
    let mut text = String::new();
    for host in hosts {
        let _ = writeln!(text, "hd={host},system={host}");
    }
    text
}

/// Where a target is for Vdbench, which makes no fresh files.
fn path_of(place: &Place, number: usize, part: usize, draft: &mut Draft) -> String {
    match place {
        Place::Path(path) => path.clone(),
        Place::FileSet(set) => {
            let path = format!("{}/fathom-{number}-{part}.dat", set.anchor);
            let message =
                "file sets are not written as FSDs yet; one file is read or written instead";
            draft.lost(number, "file_work", message);
            path
        }
        Place::FreshFileIn(folder) => {
            let path = format!("{folder}/fathom-{number}-{part}.dat");
            let message =
                format!("a fresh file in `{folder}` is `{path}`, which Vdbench leaves there");
            draft.lost(number, "target", message);
            path
        }
    }
}

/// Everything that a job has, named so that a new field is decided about here. What no line above or below takes up shows when
/// the text is read back.
fn decided(job: &Job) {
    let Job {
        name: _,
        group: _,
        host: _,
        targets: _,
        file_choice: _,
        workers: _,
        depth: _,
        mix: _,
        access: _,
        block: _,
        arrival: _,
        limits,
        sync: _,
        contents: _,
        backend: _,
        caching: _,
        existing: _,
        split_latency: _,
        drop_cache: _,
        unlink: _,
        salt: _,
        features,
    } = job;
    let Limits {
        start_delay: _,
        warmup: _,
        runtime: _,
        time_based: _,
        bytes: _,
        ios: _,
        loops: _,
    } = limits;
    let Features {
        think: _,
        batches: _,
        verify: _,
        rates: _,
        flow: _,
        latency_target: _,
        steady: _,
        overlaps: _,
        placement: _,
        lines: _,
        file_work: _,
        filling: _,
        io_log: _,
        priorities: _,
        process: _,
        files: _,
        errors: _,
        operation: _,
        replay: _,
        trace_to: _,
    } = features;
}

/// Names of a job's WD and SD: those that it is called by where it came from such a file.
fn names_of(job: &Job, number: usize, part: usize, several: bool) -> (String, String) {
    let split = job.name.split_once('/').filter(|_| several);
    match split {
        Some((wd, sd)) if is_name(wd) && is_name(sd) && part == 0 => (wd.to_owned(), sd.to_owned()),
        _ if !several && part == 0 && is_name(&job.name) => {
            (format!("wd{}", number + 1), job.name.clone())
        }
        _ => (
            format!("wd{}_{part}", number + 1),
            format!("sd{}_{part}", number + 1),
        ),
    }
}

fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !matches!(name, "default" | "format")
}

/// A stage's name as an RD can have it.
fn safe(name: &str, index: usize) -> String {
    if is_name(name) {
        name.to_owned()
    } else {
        format!("rd{}", index + 1)
    }
}

/// A size with the largest of Vdbench's letters that is exact.
fn size(bytes: u64) -> String {
    let units = [("t", 40), ("g", 30), ("m", 20), ("k", 10)];
    let exact = units
        .iter()
        .find(|(_, bits)| bytes > 0 && bytes.trailing_zeros() >= *bits);
    exact.map_or_else(
        || bytes.to_string(),
        |(unit, bits)| format!("{}{unit}", bytes >> bits),
    )
}

fn of_storage(job: &Job, offset: Bytes, length: Option<Bytes>) -> String {
    let mut text = String::new();
    if let Some(length) = length {
        let _ = write!(text, ",size={}", size(length.get()));
    }
    if offset > Bytes::ZERO {
        let _ = write!(text, ",offset={}", size(offset.get()));
    }
    if let Some(alignment) = job.block.alignment {
        let _ = write!(text, ",align={}", size(alignment.get()));
    }
    let threads = job.effective_depth().saturating_mul(job.workers);
    let _ = write!(text, ",threads={threads}");
    let SyncPolicy {
        open,
        // Vdbench flushes when it closes, or never.
        fsync_every: _,
        fdatasync_every: _,
        at_end: _,
        on_close,
    } = job.sync;
    let flags = [
        (job.caching == Caching::Direct, "o_direct"),
        (open != OpenSync::None, "o_dsync"),
        (on_close, "fsync"),
    ];
    let flags: Vec<&str> = flags
        .into_iter()
        .filter_map(|(used, flag)| used.then_some(flag))
        .collect();
    match flags.as_slice() {
        [] => {}
        [one] => {
            let _ = write!(text, ",openflags={one}");
        }
        several => {
            let _ = write!(text, ",openflags=({})", several.join(","));
        }
    }
    text
}

/// A share in percent with as many decimals as it has.
fn percent(share: Percent) -> String {
    (f64::from(share.basis_points()) / 100.0).to_string()
}

fn of_work(job: &Job, number: usize, draft: &mut Draft) -> String {
    let mut text = format!(
        ",{},rdpct={}",
        sizes(&job.block, job),
        percent(job.mix.read)
    );
    if job.mix.trim > Percent::ZERO {
        draft.lost(
            number,
            "mix",
            "Vdbench does not trim; the trims are written as writes",
        );
    }
    match job.access {
        Access::Random {
            coverage: _,
            run: _,
        } => text.push_str(",seekpct=100"),
        Access::Mixed { random } => {
            let _ = write!(text, ",seekpct={}", percent(random));
        }
        Access::Sequential {
            gap: _,
            scope: SequentialScope::PerWorker | SequentialScope::Shared,
        } => {
            let ends = !job.limits.time_based && job.limits.bytes.is_none();
            text.push_str(if ends { ",seekpct=eof" } else { ",seekpct=0" });
        }
    }
    if let Some(host) = &job.host {
        let _ = write!(text, ",host={host}");
    }
    if let Arrival::Open {
        rate,
        poisson: _,
        when_full: _,
    } = job.arrival
    {
        let of_all = |rate: u64| rate.saturating_mul(job.workers.into()).max(1);
        let ios = match rate {
            Pacing::Iops(iops) => of_all(iops.get()),
            Pacing::Bytes(bytes) => of_all(bytes.get() / job.block.largest(job.mix).get().max(1)),
        };
        let _ = write!(text, ",iorate={ios}");
    }
    text
}

fn sizes(block: &BlockSizes, job: &Job) -> String {
    let BlockSizes {
        read,
        write,
        trim: _,
        // Stands with the SD.
        alignment: _,
    } = block;
    let list = if job.mix.read > Percent::ZERO {
        read
    } else {
        write
    };
    let total: u64 = list.iter().map(|entry| u64::from(entry.weight)).sum();
    if let [only] = list.as_slice() {
        return format!("xfersize={}", size(only.size.get()));
    }
    let mut left = 10_000;
    let mut parts = Vec::new();
    for (place, entry) in list.iter().enumerate() {
        let points = u64::from(entry.weight) * 10_000 / total.max(1);
        let points = if place + 1 == list.len() {
            left
        } else {
            points.min(left)
        };
        left -= points;
        parts.push(format!(
            "{},{}",
            size(entry.size.get()),
            points as f64 / 100.0
        ));
    }
    format!("xfersize=({})", parts.join(","))
}

/// The times of a run are those of its longest job.
fn of_run(stage: &Stage, names: &[String]) -> String {
    let whole = |time: Nanos| time.get().div_ceil(1_000_000_000);
    let limits = |of: fn(&Limits) -> u64| {
        stage
            .jobs
            .iter()
            .map(|job| of(&job.limits))
            .max()
            .unwrap_or(0)
    };
    let warmup = limits(|limits| limits.warmup.get().div_ceil(1_000_000_000));
    let elapsed = limits(|limits| {
        limits
            .runtime
            .map_or(30, |time| time.get().div_ceil(1_000_000_000))
    })
    .max(2);
    let work = match names {
        [only] => only.clone(),
        several => format!("({})", several.join(",")),
    };
    let mut text = format!("wd={work},iorate=max,interval=1");
    if warmup > 0 {
        let _ = write!(text, ",warmup={warmup},elapsed={elapsed}");
    } else {
        // The first interval is left out of what is measured.
        let _ = write!(text, ",elapsed={}", elapsed + 1);
    }
    if stage.cooldown > Nanos::ZERO {
        let _ = write!(text, ",pause={}", whole(stage.cooldown));
    }
    let paced = stage.jobs.iter().find_map(|job| match job.arrival {
        Arrival::Open {
            rate: _,
            poisson,
            when_full: _,
        } => Some(poisson),
        Arrival::Closed => None,
    });
    match paced {
        Some(Poisson::Fixed) => text.push_str(",distribution=deterministic"),
        Some(Poisson::Uniform) => text.push_str(",distribution=uniform"),
        Some(Poisson::Exponential) => text.push_str(",distribution=exponential"),
        None => {}
    }
    if let [job] = stage.jobs.as_slice()
        && let Some(bytes) = job.limits.bytes
    {
        let _ = write!(text, ",maxdata={}", size(bytes.get()));
    }
    text
}

struct OneText<'a>(&'a str);

impl Files for OneText<'_> {
    fn read_text(&self, path: &str) -> io::Result<String> {
        match path {
            "written" => Ok(self.0.to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn status(&self, _: &str) -> FileStatus {
        FileStatus::Missing
    }
}

/// What Vdbench's reader makes of a text.
pub fn read(text: &str) -> Result<Workload, Diagnostics> {
    vdbench::read_file("written", &OneText(text)).map(|input| input.workload)
}
