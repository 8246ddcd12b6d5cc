//! One run: an RD with one value of each of its loops and one rate.

use fathom_workload::RateFrom;

use super::sections::{LoopKey, LoopValue, MaxData, Seek, Xfersize, show_size};

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// The automatic `SD_format`: files are written in full before the first run.
    SdFormat,
    /// The automatic `journal_recovery`: all that a journal tells of is read and compared before the first run.
    Recovery,
    /// Workloads (WD) on storage (SD).
    Storage,
    /// Workloads (FWD) on trees of files (FSD).
    FileSystem,
}

/// How fast a run goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunRate {
    /// As fast as each SD goes.
    Uncontrolled,
    /// As fast as it goes with the shares that were asked for.
    Controlled,
    /// The first run of a curve: as fast as each SD goes.
    UncontrolledCurve,
    /// As the last, with shares.
    ControlledCurve,
    /// I/Os a second over all.
    Number(f64),
    /// Rates that follow one another, with the highest of them.
    Varying(u64),
    /// A percentage of what an earlier run reached. The rate is known when that run has ended.
    Of {
        /// Index in [`super::VdbenchInput::runs`] of the run that is measured.
        run: usize,
        /// Percent of its average rate.
        percent: f64,
    },
}

impl RunRate {
    /// As the line that starts a run says it (`I/O rate: …`); `resolved` is the rate of a run that depends on another.
    pub fn label(self, resolved: Option<u64>) -> String {
        match (self, resolved) {
            (Self::Uncontrolled, _) => "Uncontrolled MAX".to_owned(),
            (Self::Controlled, _) => "Controlled MAX".to_owned(),
            (Self::UncontrolledCurve, _) => "Uncontrolled curve".to_owned(),
            (Self::ControlledCurve, _) => "Controlled curve".to_owned(),
            // Halves are rounded up.
            (Self::Number(rate), _) => (rate + 0.5).floor().to_string(),
            (Self::Of { .. }, Some(rate)) => rate.to_string(),
            (Self::Varying(_), _) => "Variable".to_owned(),
            (Self::Of { percent, .. }, None) => format!("{percent}%"),
        }
    }
}

/// The value that a loop has in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopSetting {
    /// `threads`, `xfersize` and so on; `iorate` where an RD has several rates.
    pub name: &'static str,
    /// As Vdbench prints it.
    pub value: String,
}

impl LoopSetting {
    /// The setting of one loop.
    pub fn of(key: LoopKey, value: &LoopValue) -> Self {
        let is_size = matches!(
            key,
            LoopKey::Hitarea | LoopKey::Sizes | LoopKey::Totalsize | LoopKey::Wss
        );
        let value = match value {
            // A share of what the FSD says.
            LoopValue::Number(number) if is_size && *number < 0.0 => format!("{}%", -number),
            LoopValue::Number(number) if is_size && *number >= 0.0 => size_label(*number as u64),
            LoopValue::Number(number) => number.to_string(),
            LoopValue::Xfersize(Xfersize::One(size)) => size_label(*size),
            LoopValue::Xfersize(size) => size.to_string(),
            LoopValue::Seek(seek) => seek.to_string(),
            LoopValue::Word(word) => word.clone(),
        };
        Self {
            name: key.name(),
            value,
        }
    }
}

/// A size as Vdbench shows it in names of runs: in the largest unit that leaves a whole, `1.500m`.
fn size_label(size: u64) -> String {
    let units = [(40, 't'), (30, 'g'), (20, 'm'), (10, 'k')];
    match units.iter().find(|(bits, _)| size >> bits > 0) {
        Some((bits, letter)) if !size.is_multiple_of(1 << bits) => {
            format!("{:.3}{letter}", size as f64 / (1_u64 << bits) as f64)
        }
        _ => show_size(size),
    }
}

/// One job of a run's stage. Jobs stand in the order of the stage's jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunJob {
    /// Index of the SD (of the FSD in a run on file systems).
    pub sd: usize,
    /// Index of the WD (of the FWD in a run on file systems); `None` in `SD_format`, `journal_recovery` and in runs without a WD.
    pub wd: Option<usize>,
    /// Index of the host.
    pub host: usize,
    /// Number of the stream within the SD, from 0.
    pub stream: u32,
    /// I/Os outstanding.
    pub threads: u32,
}

/// What all jobs of a run have in common; `None` where they differ. For the columns of flatfile.html.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFacts {
    /// Transfer size.
    pub xfersize: Option<Xfersize>,
    /// I/Os outstanding at each SD.
    pub threads: Option<u32>,
    /// Percent of reads.
    pub rdpct: Option<f64>,
    /// Percent of reads that hit.
    pub rhpct: Option<f64>,
    /// Percent of writes that hit.
    pub whpct: Option<f64>,
    /// Order of addresses.
    pub seek: Option<Seek>,
    /// Bytes of all SDs that are used.
    pub lun_bytes: u64,
}

/// One run, in the order in which they are done. It is the stage `stage` of the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// As `RD=` shows it: the RD's name, with `_(50%)` on points of a curve; `SD_format`, `journal_recovery`.
    pub name: String,
    /// Index of the RD; `None` for `SD_format` and `journal_recovery`.
    pub rd: Option<usize>,
    /// What it is.
    pub kind: RunKind,
    /// Index of its stage in the workload.
    pub stage: usize,
    /// How fast it goes.
    pub rate: RunRate,
    /// The values of its loops, outermost first.
    pub loops: Vec<LoopSetting>,
    /// `elapsed=`, s; `None`: until it is done.
    pub elapsed: Option<u64>,
    /// `warmup=`, s, before that.
    pub warmup: u64,
    /// `interval=`, s.
    pub interval: u64,
    /// `pause=`, s, after it.
    pub pause: u64,
    /// What ends it early.
    pub maxdata: MaxData,
    /// The average response time in ms that ends a curve after this run.
    pub stopcurve: Option<f64>,
    /// Whether it ends when all its sequential workloads reached their end.
    pub until_eof: bool,
    /// The jobs of its stage.
    pub jobs: Vec<RunJob>,
    /// What they have in common.
    pub facts: RunFacts,
}

impl Run {
    /// One of no RD that goes before all others, as fast as it can, until all of it is done.
    pub(super) fn before_all(
        (name, kind): (&str, RunKind),
        jobs: Vec<RunJob>,
        facts: RunFacts,
    ) -> Self {
        Self {
            name: name.to_owned(),
            rd: None,
            kind,
            stage: 0,
            rate: RunRate::Uncontrolled,
            loops: Vec::new(),
            elapsed: None,
            warmup: 0,
            interval: 1,
            pause: 0,
            maxdata: MaxData::default(),
            stopcurve: None,
            until_eof: true,
            jobs,
            facts,
        }
    }

    /// As Vdbench shows it behind `For loops: `: `threads=25 xfersize=4k`, or `None`. Of numbers it shows what is before
    /// their point, so that different ones may look alike.
    pub fn loops_label(&self) -> String {
        if self.loops.is_empty() {
            return "None".to_owned();
        }
        let settings = self.loops.iter();
        let whole = |setting: &LoopSetting| {
            let number = setting.value.parse::<f64>().ok()?;
            Some(number.trunc().to_string())
        };
        let settings = settings.map(|setting| {
            let whole = whole(setting);
            format!(
                "{}={}",
                setting.name,
                whole.as_deref().unwrap_or(&setting.value)
            )
        });
        settings.collect::<Vec<_>>().join(" ")
    }

    /// Whether it is the format of trees before another.
    pub fn is_format(&self) -> bool {
        self.kind == RunKind::FileSystem && self.jobs.iter().all(|job| job.wd.is_none())
    }

    /// First interval of the average: the first without a warm-up is left out.
    pub fn first_averaged_interval(&self) -> u64 {
        self.warmup / self.interval.max(1) + u64::from(self.warmup == 0) + 1
    }

    /// How the rate follows from an earlier stage, where it does.
    pub fn rate_from<'w>(&self, workload: &'w fathom_workload::Workload) -> Option<&'w RateFrom> {
        workload.stages.get(self.stage)?.rate_from.as_ref()
    }
}
