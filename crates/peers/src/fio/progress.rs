//! fio's progress line while a run goes.
//!
//! On a terminal it is drawn on standard error and written over. Asked for with `--eta=always`, it goes to standard output
//! as fio's does, unless results in a format for programs go there.

use fathom_dialects::fio::{self, Eta, EtaMode, FioInput, OutputFormat};
use fathom_record::{IntervalStats, Phase};
use fathom_session::Console;
use fathom_units::{Bytes, Nanos};
use fathom_workload::Job;

/// Where the line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Stderr,
    Stdout,
}

/// The line, and what it is made of.
pub struct ProgressLine<'a> {
    input: &'a FioInput,
    console: &'a dyn Console,
    place: Place,
    eta: Eta,
    /// Bytes and I/Os measured in the stage so far.
    done: (u64, u64),
    open_width: usize,
    /// When the line was last begun anew, from the start of the stage.
    begun: Nanos,
    /// When it was last drawn, from the start of the stage.
    drawn: Nanos,
}

/// Share of `--eta-interval`, in percent, that has to be over for the next line, as in fio: an interval of the measurement may
/// come a little early.
const ENOUGH: u64 = 95;

impl<'a> ProgressLine<'a> {
    pub fn new(input: &'a FioInput, console: &'a dyn Console) -> Self {
        let output = &input.output;
        let for_people = output.formats.contains(&OutputFormat::Normal) || output.file.is_some();
        let place = match output.eta {
            EtaMode::Always if for_people => Place::Stdout,
            EtaMode::Auto if console.is_terminal() => Place::Stderr,
            _ => Place::Nowhere,
        };
        Self {
            input,
            console,
            place,
            eta: Eta::default(),
            done: (0, 0),
            open_width: 0,
            begun: Nanos::ZERO,
            drawn: Nanos::ZERO,
        }
    }

    /// A stage begins.
    pub fn stage(&mut self, index: usize) {
        self.eta.stage = index;
        self.done = (0, 0);
        self.begun = Nanos::ZERO;
        self.drawn = Nanos::ZERO;
    }

    /// An interval is over.
    pub fn interval(&mut self, phase: Phase, interval: &IntervalStats) {
        if self.place == Place::Nowhere {
            return;
        }
        let length = interval.length.get().max(1);
        let a_second = |count: u64| {
            let rate = u128::from(count) * 1_000_000_000 / u128::from(length);
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        for (rate, stats) in self.eta.rates.iter_mut().zip(&interval.directions) {
            let (bytes, ios) = stats.as_ref().map_or((0, 0), |it| (it.bytes, it.ios()));
            *rate = (a_second(bytes), a_second(ios));
            if phase == Phase::Measure {
                self.done = (self.done.0 + bytes, self.done.1 + ios);
            }
        }
        self.eta.ramping = phase == Phase::Warmup;
        self.estimate(interval.at);
        let every = u128::from(self.input.output.eta_interval.get()) * u128::from(ENOUGH) / 100;
        if u128::from(interval.at.saturating_sub(self.drawn).get()) > every {
            self.drawn = interval.at;
            self.draw(interval.at);
        }
    }

    /// How far the run is, by time where that ends it, by what was moved otherwise; later stages count by their time.
    fn estimate(&mut self, at: Nanos) {
        let stages = &self.input.workload.stages;
        let jobs = stages
            .get(self.eta.stage)
            .map_or(&[][..], |stage| &stage.jobs);
        let left = jobs
            .iter()
            .map(|job| time_of(job).map(|time| time.saturating_sub(at)));
        let by_time = left
            .max()
            .flatten()
            .filter(|_| jobs.iter().all(|job| time_of(job).is_some()));
        let left = by_time.or_else(|| {
            let whole: u64 = jobs.iter().map(bytes_of).sum();
            let share = self.done.0 as f64 / whole as f64;
            let known = share > 0.0 && share.is_finite();
            known.then(|| Nanos::new((at.get() as f64 * (1.0 / share - 1.0).max(0.0)) as u64))
        });
        let later = stages.iter().skip(self.eta.stage + 1);
        let later = later.filter_map(|stage| stage.jobs.iter().filter_map(time_of).max());
        let later = later.fold(Nanos::ZERO, Nanos::saturating_add);
        let left = left.map(|left| left.saturating_add(later));
        self.eta.left_s = left.map(|left| left.get().div_ceil(1_000_000_000));
        self.eta.done = left.map(|left| at.get() as f64 / (at.get() + left.get()).max(1) as f64);
    }

    fn draw(&mut self, at: Nanos) {
        let line = fio::eta_line(self.input, &self.eta);
        let width = line.chars().count();
        let padding = " ".repeat(self.open_width.saturating_sub(width));
        let newline = self.input.output.eta_newline;
        let anew = newline.is_some_and(|every| at.saturating_sub(self.begun) >= every);
        if anew {
            self.begun = at;
        }
        let begin = if anew && self.open_width > 0 {
            "\n"
        } else {
            ""
        };
        let text = format!("{begin}{line}{padding}\r");
        match self.place {
            Place::Stderr => self.console.draw(&text),
            Place::Stdout => self.console.print(&text),
            Place::Nowhere => {}
        }
        self.open_width = width;
    }

    /// Ends the line: on a terminal it goes away, elsewhere it stays.
    pub fn close(&mut self) {
        if self.open_width > 0 && self.place == Place::Stderr {
            let blank = " ".repeat(self.open_width);
            self.console.draw(&format!("{blank}\r"));
        }
        self.open_width = 0;
    }

    /// Whether a person watches standard error.
    pub fn is_on_terminal(&self) -> bool {
        self.place == Place::Stderr
    }
}

/// How long a job takes, where time ends it.
fn time_of(job: &Job) -> Option<Nanos> {
    let limits = &job.limits;
    let runtime = limits.runtime.filter(|_| limits.time_based)?;
    Some(limits.start_delay + limits.warmup + runtime)
}

/// Bytes that a job moves; 0 where that is not known.
fn bytes_of(job: &Job) -> u64 {
    let of_targets = || {
        job.targets
            .iter()
            .map(|target| target.length.map_or(0, Bytes::get))
    };
    let pass = job
        .limits
        .bytes
        .map_or_else(|| of_targets().sum(), Bytes::get);
    pass.saturating_mul(u64::from(job.limits.loops.max(1)))
}
