//! What a record says of one volume of a need in one period.

use fathom_profile::{Level, PeriodKind, Profile};
use fathom_record::{DirectionRecord, JobRecord, LatencyRecord, Record, StageRecord};
use fathom_stats::{Histogram, from_hdr_base64};

use crate::repeats::stages_with_repeats;

/// Reads and writes of the jobs of one volume, over all machines and repeats.
pub(super) struct Found<'r> {
    /// Stages they were measured in: one for each repeat.
    repeats: usize,
    jobs: Vec<&'r JobRecord>,
}

/// The way I/Os go.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Reads,
    Writes,
}

impl Way {
    pub(super) const ALL: [Self; 2] = [Self::Reads, Self::Writes];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

impl<'r> Found<'r> {
    fn directions(&self, way: Way) -> impl Iterator<Item = &'r DirectionRecord> {
        let jobs = self.jobs.iter();
        let of = move |job: &&'r JobRecord| match way {
            Way::Reads => job.read.as_ref(),
            Way::Writes => job.write.as_ref(),
        };
        jobs.filter_map(of).filter(|figures| figures.ios > 0)
    }

    fn both(&self) -> Vec<&'r DirectionRecord> {
        let ways = Way::ALL.into_iter();
        ways.flat_map(|way| self.directions(way)).collect()
    }

    fn per_repeat(&self, sum: f64) -> f64 {
        sum / self.repeats.max(1) as f64
    }

    /// I/Os a second.
    pub(super) fn iops(&self) -> f64 {
        self.per_repeat(self.both().iter().map(|it| it.iops).sum())
    }

    /// Bytes a second.
    pub(super) fn bandwidth(&self) -> f64 {
        let rates = self.both();
        self.per_repeat(rates.iter().map(|it| it.bandwidth_bytes_per_sec).sum())
    }

    /// I/Os of all jobs.
    pub(super) fn ios(&self) -> u64 {
        self.both().iter().map(|it| it.ios).sum()
    }

    /// Mean bytes of an I/O; `None` without any.
    pub(super) fn size(&self) -> Option<f64> {
        let all = self.both();
        let ios = self.ios();
        let bytes: u64 = all.iter().map(|it| it.bytes).sum();
        (ios > 0).then(|| bytes as f64 / ios as f64)
    }

    /// Share of reads, 0 to 1; `None` without any I/O.
    pub(super) fn reads(&self) -> Option<f64> {
        let all = self.ios();
        let reads: u64 = self.directions(Way::Reads).map(|it| it.ios).sum();
        (all > 0).then(|| reads as f64 / all as f64)
    }

    /// I/Os a second that the jobs asked for; `None` where one of them is no open loop.
    pub(super) fn asked(&self) -> Option<f64> {
        let rates = self.jobs.iter().map(|job| job.iops_wanted);
        let sum = rates.sum::<Option<f64>>()?;
        Some(self.per_repeat(sum))
    }

    /// Mean of I/Os outstanding.
    pub(super) fn depth(&self) -> f64 {
        let depths = self.jobs.iter();
        self.per_repeat(
            depths
                .map(|job| job.depth_achieved * f64::from(job.workers))
                .sum(),
        )
    }

    /// Failed reads and writes.
    pub(super) fn errors(&self) -> u64 {
        let jobs = self.jobs.iter();
        let figures = jobs.flat_map(|job| [&job.read, &job.write]);
        figures.flatten().map(|it| it.errors).sum()
    }

    pub(super) fn has(&self, way: Way) -> bool {
        self.directions(way).next().is_some()
    }

    /// A percentile of the time that I/Os took, of one way or of both: from the intended start where there is one.
    pub(super) fn time(&self, way: Option<Way>, level: Level) -> Option<u64> {
        let figures = way.map_or_else(|| self.both(), |way| self.directions(way).collect());
        let times = figures.iter().map(|it| times_of(it));
        if let [one] = figures.as_slice() {
            let times = times_of(one);
            return Some(match level {
                Level::P50 => times.p50,
                Level::P90 => times.p90,
                Level::P99 => times.p99,
            });
        }
        let mut merged = Histogram::new();
        for one in times.clone() {
            merged.merge(&from_hdr_base64(&one.histogram).ok()?);
        }
        let percent = match level {
            Level::P50 => 50.0,
            Level::P90 => 90.0,
            Level::P99 => 99.0,
        };
        let most = times.clone().map(|one| one.max).max()?;
        let least = times.map(|one| one.min).min()?;
        Some(merged.percentile(percent).clamp(least, most))
    }
}

fn times_of(figures: &DirectionRecord) -> &LatencyRecord {
    figures.response_ns.as_ref().unwrap_or(&figures.latency_ns)
}

/// Which stages and jobs of a record are of which period and volume of a need.
pub(super) struct Pairing<'r> {
    record: &'r Record,
    /// Stages with their repeats.
    stages: Vec<(&'r str, Vec<&'r StageRecord>)>,
    slugs: Vec<String>,
    /// Where names tell nothing: the only stage is the only period.
    only_period: bool,
    /// The same of jobs: all of them are the only volume.
    only_volume: bool,
}

impl<'r> Pairing<'r> {
    pub(super) fn of(profile: &Profile, record: &'r Record) -> Self {
        let slugs = profile.slugs();
        let mut kinds: Vec<PeriodKind> = Vec::new();
        for period in profile.volumes.iter().flat_map(|it| &it.periods) {
            if !kinds.contains(&period.kind) {
                kinds.push(period.kind);
            }
        }
        let stages = stages_with_repeats(record);
        let named = |stage: &(&str, _)| PeriodKind::ALL.iter().any(|kind| kind.name() == stage.0);
        let mut jobs = record.stages.iter().flat_map(|stage| &stage.jobs);
        Self {
            only_period: kinds.len() == 1 && stages.len() == 1 && !stages.iter().any(named),
            only_volume: slugs.len() == 1 && !jobs.any(|job| head(&job.name) == slugs[0]),
            record,
            stages,
            slugs,
        }
    }

    /// What is said of taking one for the other without a name.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.only_period {
            notes.push("the record's only stage is taken as the need's only period".to_owned());
        }
        if self.only_volume {
            notes.push("all jobs of the record are taken as the need's only volume".to_owned());
        }
        notes
    }

    /// What was measured of the volume of that number in a period; `None` where nothing was.
    pub(super) fn find(&self, volume: usize, period: PeriodKind) -> Option<Found<'r>> {
        let own = self.stages.iter();
        let own = own.filter(|(name, _)| self.only_period || *name == period.name());
        let stages: Vec<&StageRecord> = own.flat_map(|(_, repeats)| repeats).copied().collect();
        let jobs = stages.iter().flat_map(|stage| &stage.jobs);
        let jobs = jobs.filter(|job| self.only_volume || head(&job.name) == self.slugs[volume]);
        let jobs: Vec<&JobRecord> = jobs.collect();
        (!jobs.is_empty()).then_some(Found {
            repeats: stages.len(),
            jobs,
        })
    }

    /// Jobs of the record that are of no volume of the need.
    pub(super) fn strangers(&self) -> Vec<&'r str> {
        let mut names: Vec<&str> = Vec::new();
        for job in self.record.stages.iter().flat_map(|stage| &stage.jobs) {
            let own = self.slugs.iter().any(|slug| head(&job.name) == *slug);
            if !own && !self.only_volume && !names.contains(&job.name.as_str()) {
                names.push(&job.name);
            }
        }
        names
    }

    /// A job's name for each volume and a stage's for each period, as the record would need them.
    pub(super) fn wanted(&self) -> String {
        let slugs: Vec<String> = self.slugs.iter().map(|it| format!("`{it}`")).collect();
        slugs.join(", ")
    }
}

/// The volume that a planned job's name begins with: `data` of `data #2` and of `data file 1`.
fn head(job: &str) -> &str {
    job.split(' ').next().unwrap_or(job)
}
