//! A workload resolved against a design: where each target lies, and what cannot be predicted.
//!
//! Everything that can be wrong is found here, before anything runs, and reported at once.

use std::collections::BTreeSet;

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_model::{
    AnyVolume, ClientId, Design, FileId, Layout, LocateError, ModelError, VolumeId,
};
use fathom_units::Bytes;
use fathom_workload::generator::TargetRange;
use fathom_workload::{
    Arrival, Backend, Caching, Direction, EndsOthers, FileSet, Job, Overlaps, Place, Target,
    Workload,
};

/// Most workers of one stage.
const MOST_WORKERS: u64 = 10_000;

/// Most files of a set: each is kept with its name.
const MOST_FILES: u64 = 1_000_000;

/// Why a workload cannot be predicted on a design.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The two do not fit each other; all complaints at once.
    #[error(transparent)]
    Input(#[from] Diagnostics),
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A job and where its targets lie.
pub(crate) struct PlannedJob<'a> {
    pub job: &'a Job,
    /// Index over the whole workload, for the generator.
    pub number: u32,
    pub targets: Vec<PlannedTarget>,
}

/// Where a target lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedTarget {
    pub volume: VolumeId,
    pub client: ClientId,
    pub file: FileId,
    /// Where the file starts on the volume.
    pub start: u64,
    pub range: TargetRange,
}

/// Jobs by stage, and the layout of their files.
pub(crate) struct Plan<'a> {
    pub stages: Vec<Vec<PlannedJob<'a>>>,
    pub layout: Layout,
    pub notes: Vec<String>,
}

/// A target's file before it is laid out.
struct File {
    volume: VolumeId,
    client: ClientId,
    name: String,
    range: TargetRange,
}

impl<'a> Plan<'a> {
    pub fn new(workload: &'a Workload, design: &Design) -> Result<Self, PredictError> {
        let mut complaints = Diagnostics::default();
        let mut files: Vec<Vec<File>> = Vec::new();
        for (_, job) in workload.jobs() {
            let mut of_job = Vec::new();
            for target in &job.targets {
                match target.place.file_set() {
                    Some(set) => of_job.extend(files_of_set(job, set, design, &mut complaints)),
                    None => of_job.extend(resolve(job, target, design, &mut complaints)),
                }
            }
            check_progress(job, &of_job, design, &mut complaints);
            check_features(job, &mut complaints);
            files.push(of_job);
        }
        check_workers(workload, &mut complaints);
        check_stages(workload, &mut complaints);
        if complaints.has_errors() {
            return Err(complaints.into());
        }
        let layout = lay_out(design, files.iter().flatten())?;
        let mut stages: Vec<Vec<PlannedJob<'a>>> = Vec::new();
        stages.resize_with(workload.stages.len(), Vec::new);
        for ((number, (stage, job)), files) in workload.jobs().enumerate().zip(&files) {
            let targets = files.iter().map(|file| {
                let start = layout.start_of(file.volume, &file.name);
                let id = layout.file_id(file.volume, &file.name);
                PlannedTarget {
                    volume: file.volume,
                    client: file.client,
                    file: id.unwrap_or(FileId::NONE),
                    start: start.unwrap_or_default().get(),
                    range: file.range,
                }
            });
            let targets = targets.collect();
            stages[stage].push(PlannedJob {
                job,
                number: number as u32,
                targets,
            });
        }
        let mut notes = notes(workload, design);
        let free = stages.iter().flatten().any(|planned| {
            let mut targets = planned.targets.iter();
            planned.job.features.file_work.is_some()
                && targets.any(|target| !is_network(design, target.volume))
        });
        if free {
            let text = "operations on directories and files are predicted to take no time on disks and devices";
            notes.push(text.to_owned());
        }
        notes.extend(unused(design, files.iter().flatten()));
        Ok(Self {
            stages,
            layout,
            notes,
        })
    }
}

fn resolve(
    job: &Job,
    target: &Target,
    design: &Design,
    complaints: &mut Diagnostics,
) -> Option<File> {
    let path = target.place.path();
    let located_at = design.locate(job.host.as_deref(), path);
    let located_at = located_at.and_then(|volume| {
        let client = design.client_of(job.host.as_deref(), volume)?;
        Ok((volume, client))
    });
    let (volume, client) = match located_at {
        Ok(found) => found,
        Err(error) => {
            let complaint = located(job, path, &error);
            // One line serves all files of a directory; clones of a job need not repeat it.
            if !complaints
                .0
                .iter()
                .any(|other| other.hint == complaint.hint)
            {
                complaints.push(complaint);
            }
            return None;
        }
    };
    let rest = |whole: Bytes| whole.saturating_sub(target.offset);
    let whole = || design.device_size(volume, path).map(rest);
    let Some(length) = target.length.or_else(whole) else {
        let message = format!("job `{}`: the size of `{path}` is not known", job.name);
        let complaint = Diagnostic::error(message).about(&job.name, path);
        complaints.push(complaint.hint("give the job a size"));
        return None;
    };
    if length == Bytes::ZERO {
        let message = format!("job `{}`: `{path}` has a length of zero", job.name);
        complaints.push(Diagnostic::error(message).hint("give the job a size"));
        return None;
    }
    if target
        .offset
        .checked_add(length)
        .is_none_or(|end| end.get() > i64::MAX as u64)
    {
        let message = format!("job `{}`: `{path}` ends past 2^63 bytes", job.name);
        complaints.push(Diagnostic::error(message).hint("use a smaller offset or size"));
        return None;
    }
    let end = target.offset + length;
    if let Some(most) = design.largest_file(volume).filter(|most| end > *most) {
        let on = design.volume_name(volume);
        let message = format!(
            "job `{}`: `{path}` takes {end}, but a file on `{on}` has at most {most}",
            job.name
        );
        let complaint = Diagnostic::error(message).about(&job.name, path);
        complaints.push(complaint.hint("use more and smaller files"));
        return None;
    }
    let name = match &target.place {
        Place::Path(path) => path.clone(),
        // A run makes one fresh file in a directory, which all jobs share; no path has a NUL.
        Place::FreshFileIn(path) => format!("{path}\0"),
        Place::FileSet(set) => format!("{}\0", set.anchor),
    };
    let range = TargetRange {
        offset: target.offset.get(),
        length: length.get(),
    };
    Some(File {
        volume,
        client,
        name,
        range,
    })
}

/// The files of a set, in the order of their numbers.
fn files_of_set(
    job: &Job,
    set: &FileSet,
    design: &Design,
    complaints: &mut Diagnostics,
) -> Vec<File> {
    let count = set.file_count();
    if count > MOST_FILES {
        let message = format!(
            "job `{}`: `{}` has {count} files; at most {MOST_FILES} can be predicted",
            job.name, set.anchor
        );
        complaints.push(Diagnostic::error(message).hint("use fewer files"));
        return Vec::new();
    }
    // One for all: where its directory lies.
    let whole = Target {
        place: Place::Path(set.anchor.clone()),
        offset: Bytes::ZERO,
        length: Some(set.sizes.largest()),
    };
    let Some(first) = resolve(job, &whole, design, complaints) else {
        return Vec::new();
    };
    let files = (0..count as u32).map(|number| File {
        volume: first.volume,
        client: first.client,
        name: format!("{}/{}", set.anchor, set.file_name(number)),
        range: TargetRange {
            offset: 0,
            length: set.size(number).get(),
        },
    });
    files.collect()
}

fn located(job: &Job, path: &str, error: &LocateError) -> Diagnostic {
    let about = match error {
        LocateError::UnknownHost { host, .. } | LocateError::NotMounted { host, .. } => host,
        _ => path,
    };
    Diagnostic::error(format!("job `{}`: {error}", job.name))
        .about(&job.name, about)
        .hint(error.hint())
}

/// Work on file sets and other I/O are predicted by different means.
fn check_stages(workload: &Workload, complaints: &mut Diagnostics) {
    for stage in &workload.stages {
        let on_sets = |job: &&Job| job.features.file_work.is_some();
        let count = stage.jobs.iter().filter(on_sets).count();
        if count > 0 && count < stage.jobs.len() {
            let message = format!(
                "stage `{}` has work on file sets and other I/O, which cannot be predicted together yet",
                stage.name
            );
            complaints.push(Diagnostic::error(message).hint("give each a stage of its own"));
        }
    }
}

/// Each worker keeps histograms of some 100 kB.
fn check_workers(workload: &Workload, complaints: &mut Diagnostics) {
    for stage in &workload.stages {
        let workers: u64 = stage.jobs.iter().map(|job| u64::from(job.workers)).sum();
        if workers > MOST_WORKERS {
            let message = format!(
                "stage `{}` has {workers} workers; at most {MOST_WORKERS} can be predicted together",
                stage.name
            );
            complaints.push(Diagnostic::error(message).hint("use fewer workers with more depth"));
        }
    }
}

/// What the simulator does not know yet must not be left out of a prediction in silence.
fn check_features(job: &Job, complaints: &mut Diagnostics) {
    let features = &job.features;
    let partly_rated = features.rates.is_some() && job.arrival == Arrival::Closed;
    let unknown = [
        (features.think.is_some(), "pauses between I/Os (think time)"),
        (features.think_cycles > 0, "work between I/Os"),
        (features.minimum.is_some(), "rates that it must keep up"),
        (partly_rated, "a rate for some of its directions"),
        (
            features.overlaps != Overlaps::Allowed,
            "I/Os that wait for those they overlap",
        ),
        (features.priorities.is_some(), "priorities of single I/Os"),
        (
            features.verify.is_some(),
            "checks of what was written (verify)",
        ),
        (
            features.validate.is_some(),
            "checks of all blocks, with the reads that they add (validate)",
        ),
        (
            features.latency_target.is_some(),
            "a search for the depth that keeps a latency",
        ),
        (
            features.steady.is_some(),
            "an end when its results are steady",
        ),
        (features.processor_work.is_some(), "work in place of I/O"),
        (features.replay.is_some(), "I/O that comes from a trace"),
        (
            features
                .operation
                .is_some_and(|operation| !operation.is_of_names()),
            "operations on ranges of files in place of I/O",
        ),
        (features.files.made_anew, "files that each pass makes anew"),
        (
            features.process.after.is_some(),
            "a wait for the end of another job",
        ),
        (
            features.process.ends != EndsOthers::Nothing,
            "an end that ends other jobs",
        ),
    ];
    let mut refuse = |what, hint| {
        let message = format!(
            "job `{}` has {what}, which cannot be predicted yet",
            job.name
        );
        complaints.push(Diagnostic::error(message).hint(hint));
    };
    for (_, what) in unknown.into_iter().filter(|(asked, _)| *asked) {
        refuse(what, "leave it out for the prediction; a real run has it");
    }
    if features.warmup_bytes > Bytes::ZERO {
        refuse(
            "a warm-up that ends when so many bytes were moved (`warmup_bytes`; fio: `ramp_size`)",
            "a predicted warm-up ends by time: give `warmup` (fio: `ramp_time`) in its place, or leave it out",
        );
    }
}

/// A closed loop over time on storage that takes no time would never end.
fn check_progress(job: &Job, files: &[File], design: &Design, complaints: &mut Diagnostics) {
    let closed = matches!(job.arrival, Arrival::Closed);
    let moves = Direction::ALL.into_iter().any(|way| job.moves(way));
    let work = job.features.file_work.as_deref();
    let takes_no_time = |file: &File| match (job.features.operation, work) {
        (None, Some(_)) if !moves => !is_network(design, file.volume),
        (None, _) => design.is_instant(file.volume),
        (Some(_), _) => !is_network(design, file.volume),
    };
    if work.is_some_and(|work| work.rate.is_some()) {
        return;
    }
    let instant =
        job.backend == Backend::Null || (!files.is_empty() && files.iter().all(takes_no_time));
    if closed && job.limits.time_based && instant {
        let message = format!(
            "job `{}` runs for a time, but its I/O takes none: nothing in the design limits it",
            job.name
        );
        let hint = "give the device a limit or a latency, or the job a size or a rate";
        complaints.push(Diagnostic::error(message).hint(hint));
    }
}

/// Whether operations on files take time: over the network alone.
fn is_network(design: &Design, volume: VolumeId) -> bool {
    matches!(
        design.volume(volume),
        Some(AnyVolume::Nfs(_) | AnyVolume::Smb(_))
    )
}

fn lay_out<'f>(
    design: &Design,
    files: impl Iterator<Item = &'f File>,
) -> Result<Layout, PredictError> {
    let files = files.map(|file| {
        let end = Bytes::new(file.range.offset + file.range.length);
        (file.volume, file.name.clone(), end)
    });
    Layout::new(design, files).map_err(|overfull| {
        let complaints = overfull.iter().map(|volume| {
            let message = format!(
                "the files on `{}` take {}, which is {} more than it holds",
                design.volume_name(volume.volume),
                volume.needed,
                volume.needed.saturating_sub(volume.capacity)
            );
            let complaint = Diagnostic::error(message);
            let complaint = match design.volume(volume.volume) {
                Some(found) => complaint.at(found.place().clone()),
                None => complaint,
            };
            complaint.hint("use smaller files, or more or larger disks")
        });
        PredictError::Input(Diagnostics(complaints.collect()))
    })
}

/// A sentence naming the volumes that no file lies on, if there are any: a mount may be misspelt on either side.
fn unused<'f>(design: &Design, files: impl Iterator<Item = &'f File>) -> Option<String> {
    const MOST_NAMED: usize = 3;
    let used: BTreeSet<VolumeId> = files.map(|file| file.volume).collect();
    let used: BTreeSet<usize> = used.into_iter().map(VolumeId::index).collect();
    let volumes = design.volumes().enumerate();
    let unused = volumes.filter(|(index, _)| !used.contains(index));
    let unused = unused.map(|(_, volume)| {
        let machine = match volume {
            AnyVolume::Disks(client, _) => client.index().and_then(|index| design.vms.get(index)),
            _ => None,
        };
        let machine = machine.map_or_else(String::new, |vm| format!("{}/", vm.name));
        let (name, mount, place) = (volume.name(), volume.mount(), volume.place());
        let file = place.file.rsplit('/').next().unwrap_or_default();
        format!("`{machine}{name}` (`{mount}`, {file}:{})", place.line)
    });
    let unused: Vec<String> = unused.collect();
    let more = match unused.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = &unused[..unused.len().min(MOST_NAMED)];
    (!unused.is_empty()).then(|| format!("no job uses {}{more}", named.join(", ")))
}

fn notes(workload: &Workload, design: &Design) -> Vec<String> {
    let mut notes = design.notes.clone();
    let mut note = |applies: bool, text: &str| {
        if applies {
            notes.push(text.to_owned());
        }
    };
    let any = |applies: fn(&Job) -> bool| workload.jobs().any(|(_, job)| applies(job));
    let synced_at_end = any(|job| job.sync.at_end || job.sync.on_close);
    note(
        synced_at_end,
        "fsync at the end of a job is predicted to cost nothing",
    );
    let buffered = any(|job| job.caching == Caching::Buffered);
    note(
        buffered,
        "buffered I/O is predicted as direct: no page cache is modelled",
    );
    let trims = any(|job| job.mix.share(Direction::Trim).basis_points() > 0);
    note(
        trims,
        "trims are charged as one I/O of no bytes each, which is assumed",
    );
    notes
}
