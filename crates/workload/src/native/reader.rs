//! Reading of the native file into a workload.

use std::ops::Range;

use fathom_diagnostics::{Diagnostic, Diagnostics, Severity, another_kind, nothing_in};
use fathom_units::{Bytes, Nanos};
use toml::Spanned;
use toml::de::DeTable;

use super::fields::{Fields, Reader, Value};
use super::values::Measure;
use super::words::{BACKENDS, CACHINGS, CONTENTS, EXISTING, FILE_CHOICES};
use crate::validate::problems;
use crate::{
    Access, Arrival, Backend, BlockSizes, BufferContents, Caching, Coverage, ExistingFiles,
    Features, FileChoice, Job, Limits, Mix, ReportGroup, Stage, SyncPolicy, Target, Workload,
};

/// Largest file that is read; a workload by hand has a few KiB, one of 100,000 jobs some 100 MiB.
const TEXT_MAX: usize = 256 << 20;

/// Seed of a file that names none, so that two runs of it do the same.
const SEED: u64 = 1;

/// Where the parts of the file stand, for complaints about the finished workload.
struct Places {
    keys: Vec<(String, Range<usize>)>,
    stages: Vec<StagePlaces>,
}

struct StagePlaces {
    header: Range<usize>,
    keys: Vec<(String, Range<usize>)>,
    jobs: Vec<JobPlaces>,
}

struct JobPlaces {
    header: Range<usize>,
    keys: Vec<(String, Range<usize>)>,
}

/// What jobs take from the file and their stage where they say nothing themselves.
struct Defaults<'d> {
    targets: Option<&'d [Target]>,
    stage: &'d str,
    warmup: Option<Nanos>,
    measure: Option<Measure>,
    /// Jobs of the workload before this stage's.
    jobs_before: usize,
    /// Other jobs of its stage.
    siblings: usize,
}

/// Reads a native workload file; `file_name` is what complaints call it.
///
/// # Errors
/// All complaints at once, each with its line; the same kinds of complaint that do not refuse the file come back beside
/// the workload as warnings.
pub fn read(text: &str, file_name: &str) -> Result<(Workload, Diagnostics), Diagnostics> {
    read_file(Reader::new(file_name, text), file_name, None)
}

/// Reads what [`super::write`] gave, whatever the names of its jobs: those of another tool's file may be empty.
///
/// # Errors
/// As of [`read`].
pub fn read_written(text: &str, file_name: &str) -> Result<(Workload, Diagnostics), Diagnostics> {
    let mut reader = Reader::new(file_name, text);
    reader.is_written = true;
    read_file(reader, file_name, None)
}

/// Reads a file whose jobs have `targets` where neither they nor the file name any.
pub(crate) fn read_with_targets(
    text: &str,
    file_name: &str,
    targets: Vec<Target>,
) -> Result<(Workload, Diagnostics), Diagnostics> {
    read_file(Reader::new(file_name, text), file_name, Some(targets))
}

fn read_file(
    mut reader: Reader<'_>,
    file_name: &str,
    targets: Option<Vec<Target>>,
) -> Result<(Workload, Diagnostics), Diagnostics> {
    let text = reader.whole();
    if text.len() > TEXT_MAX {
        let message = format!(
            "the file has {} bytes; at most 256 MiB are read",
            text.len()
        );
        reader.error(0..0, message, "split it, or give jobs more workers");
        return Err(reader.diagnostics);
    }
    let Some(document) = reader.document() else {
        return Err(reader.in_order());
    };
    if document.get_ref().is_empty() {
        let complaint = Diagnostic::error(format!("`{file_name}` {}", nothing_in(text)));
        let hint = "name a file with a workload in it";
        return Err(Diagnostics(vec![complaint.hint(hint)]));
    }
    let keys = document.get_ref().keys().map(|key| key.get_ref().as_ref());
    if let Some(complaint) = another_kind(file_name, "workload", keys) {
        return Err(complaint);
    }
    let (workload, places) = reader.workload(document.get_ref(), targets);
    if reader.diagnostics.has_errors() {
        return Err(reader.in_order());
    }
    for problem in problems(&workload) {
        let span = places.find(problem.stage, problem.job, problem.key);
        let diagnostic = problem.into_diagnostic();
        let diagnostic = diagnostic.at(reader.location(span));
        reader.diagnostics.push(diagnostic);
    }
    if reader.diagnostics.has_errors() {
        return Err(reader.in_order());
    }
    let warnings = reader.in_order();
    debug_assert!(
        warnings
            .0
            .iter()
            .all(|found| found.severity == Severity::Warning)
    );
    Ok((workload, warnings))
}

impl Places {
    /// Where `key` of a job or a stage stands, or else they themselves; what is of neither stands at the file's start.
    fn find(&self, stage: Option<usize>, job: Option<usize>, key: &str) -> Range<usize> {
        let Some(stage) = stage.and_then(|stage| self.stages.get(stage)) else {
            return 0..0;
        };
        let of_stage = find_key(&stage.keys, key);
        let Some(job) = job.and_then(|job| stage.jobs.get(job)) else {
            return of_stage.unwrap_or_else(|| stage.header.clone());
        };
        find_key(&job.keys, key)
            .or_else(|| match key {
                // `measure` may stand with the job or with its stage, and `target` with the job or with the file.
                "measure" => of_stage,
                "target" => find_key(&self.keys, key),
                _ => None,
            })
            .unwrap_or_else(|| job.header.clone())
    }
}

fn find_key(keys: &[(String, Range<usize>)], key: &str) -> Option<Range<usize>> {
    let found = keys.iter().find(|(name, _)| {
        // A job's target may be written as a list.
        name == key || (key == "target" && name == "targets")
    });
    found.map(|(_, span)| span.clone())
}

impl Reader<'_> {
    fn workload(
        &mut self,
        document: &DeTable<'_>,
        targets: Option<Vec<Target>>,
    ) -> (Workload, Places) {
        let mut fields = Fields::new(document, 0..0, "a workload");
        let seed = fields.get("seed").and_then(|value| self.count(value));
        let targets = self.own_targets(&mut fields).or(targets);
        let stage_list = fields.get("stage");
        let mut places = Places {
            keys: fields.places(),
            stages: Vec::new(),
        };
        fields.finish(self);
        let mut stages = Vec::new();
        let mut jobs_before = 0;
        let list = stage_list.and_then(|value| self.tables(value, "stage"));
        for value in list.into_iter().flatten() {
            let default_targets = targets.as_deref();
            let found = self.stage(value, &stages, jobs_before, default_targets);
            let Some((stage, place)) = found else {
                continue;
            };
            jobs_before += stage.jobs.len();
            stages.push(stage);
            places.stages.push(place);
        }
        let seed = seed.unwrap_or(SEED);
        (Workload { stages, seed }, places)
    }

    /// The elements of `[[name]]`, or of a list of tables.
    fn tables<'v, 'i>(&mut self, value: &'v Value<'i>, name: &str) -> Option<&'v [Value<'i>]> {
        if value.get_ref().is_array() {
            return self.list(value);
        }
        let hint = format!("write `[[{name}]]` with two brackets");
        self.mismatch(value, "a list of tables", hint);
        None
    }

    /// `target` or `targets`.
    fn own_targets(&mut self, fields: &mut Fields<'_, '_>) -> Option<Vec<Target>> {
        let one = fields.get("target");
        let several = fields.get("targets");
        if let (Some(_), Some(value)) = (one, several) {
            let message = "`target` and `targets` are both given";
            self.error(value.span(), message, "move the target into the list");
        }
        let one = one.map(|value| self.target(value).map(|target| vec![target]));
        let several = several.map(|value| self.targets(value));
        // A target that was read with complaints counts as given, so that it is not called missing too.
        one.or(several).map(Option::unwrap_or_default)
    }

    fn stage(
        &mut self,
        value: &Value<'_>,
        earlier: &[Stage],
        jobs_before: usize,
        targets: Option<&[Target]>,
    ) -> Option<(Stage, StagePlaces)> {
        let mut fields = self.fields(value, "a stage")?;
        let header = fields
            .get("name")
            .map_or_else(|| fields.span(), Spanned::span);
        let name = fields.get("name").and_then(|value| self.name(value));
        let name = name.unwrap_or_else(|| format!("stage {}", earlier.len() + 1));
        let warmup = fields.get("warmup").and_then(|value| self.quantity(value));
        let measure = fields.get("measure").map(|value| self.measure(value));
        let cooldown = fields
            .get("cooldown")
            .and_then(|value| self.quantity(value));
        let repeats = fields.get("repeats").and_then(|value| self.count(value));
        let discard = fields.get("discard").and_then(|value| self.truth(value));
        let rate_from = fields.get("rate_from");
        let rate_from = rate_from.and_then(|value| self.rate_from(value, earlier));
        let job_list = fields.get("job");
        let mut places = StagePlaces {
            header,
            keys: fields.places(),
            jobs: Vec::new(),
        };
        fields.finish(self);
        let list = job_list.and_then(|value| self.tables(value, "stage.job"));
        let list = list.unwrap_or_default();
        let mut jobs = Vec::new();
        for (job_index, value) in list.iter().enumerate() {
            let defaults = Defaults {
                targets,
                stage: &name,
                warmup,
                // A measure that was read with complaints counts as given, so that it is not called missing too.
                measure: measure.map(Option::unwrap_or_default),
                jobs_before: jobs_before + job_index,
                siblings: list.len() - 1,
            };
            let Some((job, place)) = self.job(value, &defaults) else {
                continue;
            };
            jobs.push(job);
            places.jobs.push(place);
        }
        let stage = Stage {
            name,
            jobs,
            cooldown: cooldown.unwrap_or_default(),
            repeats: repeats.unwrap_or(1),
            discard: discard.unwrap_or_default(),
            rate_from,
        };
        Some((stage, places))
    }

    fn job(&mut self, value: &Value<'_>, defaults: &Defaults<'_>) -> Option<(Job, JobPlaces)> {
        let mut fields = self.fields(value, "a job")?;
        let header = fields
            .get("name")
            .map_or_else(|| fields.span(), Spanned::span);
        let mut job = default_job(defaults);
        self.who_and_where(&mut fields, &mut job, defaults);
        self.what(&mut fields, &mut job);
        self.how(&mut fields, &mut job);
        self.limits(&mut fields, &mut job, defaults);
        self.features(&mut fields, &mut job);
        let places = JobPlaces {
            header: header.clone(),
            keys: fields.places(),
        };
        fields.finish(self);
        if job.backend == Backend::Sync && job.depth > 1 && job.arrival == Arrival::Closed {
            let depth = job.depth;
            let message = format!("`depth` is {depth}, but the backend `sync` has 1 outstanding");
            let span = find_key(&places.keys, "depth").unwrap_or(header);
            self.warning(span, message, "use more workers, or another backend");
        }
        Some((job, places))
    }

    fn who_and_where(
        &mut self,
        fields: &mut Fields<'_, '_>,
        job: &mut Job,
        defaults: &Defaults<'_>,
    ) {
        let name = fields.get("name").and_then(|value| self.name(value));
        set(&mut job.name, name);
        set(
            &mut job.group,
            fields.get("group").and_then(|value| self.group(value)),
        );
        job.host = fields.get("host").and_then(|value| self.name(value));
        match (self.own_targets(fields), defaults.targets) {
            (Some(targets), _) => job.targets = targets,
            (None, Some(targets)) => job.targets = targets.to_vec(),
            (None, None) => {
                let message = format!("job `{}` has no target", job.name);
                let hint = "add `target` to it, or `[target]` at the start of the file";
                self.error(fields.span(), message, hint);
            }
        }
        let choice = fields.get("file_choice");
        let choice = choice.and_then(|value| self.word(value, FILE_CHOICES));
        set(&mut job.file_choice, choice);
        set(
            &mut job.workers,
            fields.get("workers").and_then(|value| self.count(value)),
        );
        set(
            &mut job.depth,
            fields.get("depth").and_then(|value| self.count(value)),
        );
    }

    fn what(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job) {
        set(
            &mut job.mix,
            fields.get("mix").and_then(|value| self.mix(value)),
        );
        set(
            &mut job.access,
            fields.get("access").and_then(|value| self.access(value)),
        );
        set(
            &mut job.block,
            fields.get("block").and_then(|value| self.block(value)),
        );
        set(
            &mut job.arrival,
            fields.get("arrival").and_then(|value| self.arrival(value)),
        );
        let contents = fields.get("contents");
        let contents = contents.and_then(|value| self.word(value, CONTENTS));
        set(&mut job.contents, contents);
        let placement = fields.get("placement");
        job.features.placement = placement.and_then(|value| self.placement(value));
        self.lines(fields, job);
        let filling = fields.get("filling");
        job.features.filling = filling.and_then(|value| self.filling(value));
        set(
            &mut job.salt,
            fields.get("salt").and_then(|value| self.count(value)),
        );
    }

    fn how(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job) {
        set(
            &mut job.sync,
            fields.get("sync").and_then(|value| self.sync(value)),
        );
        let backend = fields.get("backend");
        if job
            .targets
            .iter()
            .any(|target| target.place.file_set().is_some())
        {
            // A worker on a file set does one thing at a time.
            job.backend = Backend::Sync;
        }
        if job.targets.iter().any(|target| target.place.is_export()) {
            job.backend = Backend::Nbd;
        }
        set(
            &mut job.backend,
            backend.and_then(|value| self.word(value, BACKENDS)),
        );
        let caching = fields.get("caching");
        set(
            &mut job.caching,
            caching.and_then(|value| self.word(value, CACHINGS)),
        );
        let existing = fields.get("existing");
        set(
            &mut job.existing,
            existing.and_then(|value| self.word(value, EXISTING)),
        );
        let split = fields.get("split_latency");
        set(
            &mut job.split_latency,
            split.and_then(|value| self.truth(value)),
        );
        let drop = fields.get("drop_cache");
        set(
            &mut job.drop_cache,
            drop.and_then(|value| self.truth(value)),
        );
        set(
            &mut job.unlink,
            fields.get("unlink").and_then(|value| self.truth(value)),
        );
    }

    fn limits(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job, defaults: &Defaults<'_>) {
        let delay = fields.get("start_delay");
        let delay = delay.and_then(|value| self.quantity(value));
        let warmup = fields.get("warmup").and_then(|value| self.quantity(value));
        let measure = fields.get("measure").map(|value| self.measure(value));
        let measure = measure.map(Option::unwrap_or_default).or(defaults.measure);
        job.limits.start_delay = delay.unwrap_or_default();
        job.limits.warmup = warmup.or(defaults.warmup).unwrap_or_default();
        if let Some(measure) = measure {
            measure.apply(&mut job.limits);
        } else if (job.targets.iter())
            .any(|target| target.length.is_none() && target.place.file_set().is_none())
        {
            let message = format!("job `{}` has no end", job.name);
            let hint = "add `measure`, such as \"60s\", or \"one-pass\" for all of the target once";
            self.error(fields.span(), message, hint);
        }
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A job of which only the name of its stage is known.
fn default_job(defaults: &Defaults<'_>) -> Job {
    let name = if defaults.siblings == 0 {
        defaults.stage.to_owned()
    } else {
        format!("job {}", defaults.jobs_before + 1)
    };
    Job {
        name,
        group: ReportGroup {
            id: defaults.jobs_before as u32,
            together: false,
        },
        host: None,
        targets: Vec::new(),
        file_choice: FileChoice::default(),
        workers: 1,
        depth: 1,
        mix: Mix::READ,
        access: Access::Random {
            coverage: Coverage::EachBlockOnce,
            run: 1,
        },
        block: BlockSizes::uniform(Bytes::kib(4)),
        arrival: Arrival::Closed,
        limits: Limits::default(),
        sync: SyncPolicy::default(),
        contents: BufferContents::default(),
        backend: Backend::default(),
        caching: Caching::default(),
        existing: ExistingFiles::default(),
        split_latency: false,
        drop_cache: true,
        unlink: false,
        salt: 0,
        features: Features::default(),
    }
}
