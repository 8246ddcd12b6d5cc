//! The whole output of an execution, written as it goes.

use fathom_record::{OpStats, SetStats};
use fathom_units::Nanos;

use super::histogram::thousands;
use super::parts::{Kind, Part, parts, wd_pages};
use super::row::{ROWS_PER_HEADER, header, row};
use super::set_row::Shown;
use super::tally::{Processors, Tally};
use super::{JobPlace, Layout, Pages, Rate, RunLayout, csv, files, flatfile, moment};
use super::{set_flat, set_row};

/// What ends later than an interval by less than this still belongs to it: the last I/Os are waited for.
const SLACK: Nanos = Nanos::from_millis(100);

/// I/Os that may wait for one SD in Vdbench before it stops all workloads until there are fewer.
const QUEUE: f64 = 2000.0;

/// What one job did in a second.
#[derive(Debug, Clone, Copy)]
pub struct JobSecond<'a> {
    /// Index of the job in its stage.
    pub job: usize,
    /// By [`fathom_workload::Direction`].
    pub directions: &'a [Option<OpStats>; 3],
    /// What it did to directories and files of a file set.
    pub set: &'a SetStats,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// As it should.
    Over,
    /// All that was to be done in one pass was done.
    EndOfFile,
    /// What it was to move was moved, which is found where an interval ends.
    Enough,
    /// The user stopped it.
    Interrupted,
}

/// The output of one execution.
#[derive(Debug)]
pub struct Report {
    pub(super) layout: Layout,
    pub(super) parts: Vec<Part>,
    /// Parts of each job of the present run.
    pub(super) parts_of_job: Vec<Vec<usize>>,
    /// Index of the present run.
    pub(super) run: usize,
    /// End of the last interval, from the start of the run.
    pub(super) closed: Nanos,
    /// Number of the last interval; 0: none.
    pub(super) interval: u64,
    pub(super) is_warm: bool,
    pub(super) has_processors: bool,
    /// Whether `totals.html` has the header of runs on files, or of others; `None`: no run has averages yet.
    pub(super) totals_header: Option<bool>,
    /// The run of which it was told that Vdbench would have been slower.
    stalled_run: Option<usize>,
    /// Whether the last names of columns in `flatfile.html` are those of runs on files.
    flat_on_files: bool,
    /// What becomes of the present interval.
    rows: Rows,
    /// Which blocks of rows have headers in the present run: up to this one; `None`: it has no rows yet.
    headed: Option<u64>,
}

/// Whether an interval has rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// What was done in it is known.
    Written,
    /// Nothing is known of it.
    LeftOut,
}

impl Report {
    /// Begins every file. `parmfile` and `parmscan` are the parameters and how they were read.
    pub fn new(layout: Layout, pages: &mut dyn Pages, now: u64) -> Self {
        let parts = parts(&layout);
        let mut report = Self {
            layout,
            parts,
            parts_of_job: Vec::new(),
            run: 0,
            closed: Nanos::ZERO,
            interval: 0,
            is_warm: false,
            has_processors: false,
            totals_header: None,
            stalled_run: None,
            flat_on_files: false,
            rows: Rows::Written,
            headed: None,
        };
        report.begin_common(pages, now);
        report.begin_parts(pages);
        report
    }

    /// What the execution is made of.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn of_day(&self, now: u64) -> String {
        moment::of_day(now, &self.layout.zone)
    }

    fn begin(&self, pages: &mut dyn Pages, page: &str, text: &str) {
        let page = format!("{page}.html");
        let title = files::title(&self.layout, &page);
        pages.append(&page, &(title + text));
    }

    fn flat_preamble(&self) -> String {
        if self.flat_on_files {
            set_flat::preamble()
        } else {
            flatfile::preamble()
        }
    }

    /// How rows of runs on files are shown.
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            operations: &self.layout.operations,
            decimal_megabytes: self.layout.decimal_megabytes,
        }
    }

    fn begin_common(&mut self, pages: &mut dyn Pages, now: u64) {
        let first = self.layout.runs.first();
        self.flat_on_files = first.is_some_and(|run| run.on_files);
        let layout = &self.layout;
        let links = files::run_links(layout);
        let wds = wd_pages(layout);
        let summary = files::summary(layout, wds, now);
        self.begin(pages, "summary", &(summary + &links));
        self.begin(pages, "totals", &format!("Run totals\n\n{links}"));
        let program = format!("{}, in the layout of Vdbench 5.04.07\n\n", layout.program);
        self.begin(pages, "logfile", &program);
        pages.show(&program);
        self.begin(pages, "flatfile", &self.flat_preamble());
        let histogram = format!("Total response time histogram.\n\n{links}");
        self.begin(pages, "histogram", &histogram);
        let skew = format!("Workload skew report\n\n{links}");
        self.begin(pages, "skew", &skew);
        let status = "* Vdbench status\n\n* One line for each change of state, written at once; its fields are separated by tabs.\n\n";
        self.begin(pages, "status", status);
        let created = moment::created(now, &layout.zone);
        let errors = format!(
            "Vdbench error log, created {created} \nWithout a line below this one there was no I/O error and no wrong data.\n"
        );
        self.begin(pages, "errorlog", &errors);
        self.begin(pages, "parmfile", "");
        self.begin(pages, "parmscan", "");
        pages.append("percentiles.csv", &csv::header());
        self.status(pages, now, &["Starting slaves"]);
        for host in &layout.hosts {
            let line = format!(
                "Slave {host}-0 (pid {:>6}) connected to master {}",
                layout.process, layout.process
            );
            self.status(pages, now, &[&line]);
        }
        self.status(pages, now, &["Slaves connected"]);
        self.status(pages, now, &["Query host configuration started"]);
        self.status(pages, now, &["Query host configuration completed"]);
    }

    fn begin_parts(&self, pages: &mut dyn Pages) {
        let layout = &self.layout;
        let links = files::run_links(layout);
        for part in &self.parts {
            let to_histogram = part
                .histogram
                .as_ref()
                .map(|page| files::link(histogram_label(part.kind, layout), page, "histogram"));
            let to_histogram = to_histogram.unwrap_or_default();
            let title = match part.kind {
                Kind::Total => continue,
                Kind::Host(host) => {
                    self.begin_host(pages, host, &to_histogram, &links);
                    "Host response time histogram.".to_owned()
                }
                Kind::Sd(_) | Kind::Wd(_) => {
                    let (of_rows, of_histogram) = titles(part.kind, layout);
                    for page in &part.pages {
                        let text = format!("{of_rows}\n\n{to_histogram}{links}");
                        self.begin(pages, page, &text);
                    }
                    of_histogram
                }
                Kind::HostSd(host, sd) => {
                    let (host, sd) = (&layout.hosts[host], &layout.sds[sd]);
                    for page in &part.pages {
                        let text = format!("SD report for host={host},sd={sd}\n{links}");
                        self.begin(pages, page, &text);
                    }
                    continue;
                }
            };
            if let Some(page) = &part.histogram {
                self.begin(pages, page, &format!("{title}\n\n{links}"));
            }
        }
    }

    fn begin_host(&self, pages: &mut dyn Pages, host: usize, to_histogram: &str, links: &str) {
        let host = &self.layout.hosts[host];
        let slave = format!("{host}-0");
        let text = format!(
            "Host summary report(s) for host={host}\n\n{to_histogram}\
             Link to slave summary report:    <A HREF=\"{slave}.html\">{slave} summary</A>   \
             <A HREF=\"{slave}.stdout.html\">{slave} stdout</A>\n\
             Link to /var/adm/messages:       <A HREF=\"{host}.var_adm_msgs.html\">messages</A>\n{links}"
        );
        self.begin(pages, host, &text);
        let to_stdout = files::link(
            "Console log:",
            &format!("{slave}.stdout"),
            "Slave stdout/stderr",
        );
        let text = format!("Slave summary report for slave={slave}\n\n{to_stdout}{links}");
        self.begin(pages, &slave, &text);
        let text =
            format!("stdout/stderr for slave={slave}\n\nThere is no process of its own.\n{links}");
        self.begin(pages, &format!("{slave}.stdout"), &text);
        let text = "The system's messages are not copied.\n";
        self.begin(pages, &format!("{host}.var_adm_msgs"), text);
    }

    /// One line of `status.html`.
    fn status(&self, pages: &mut dyn Pages, now: u64, fields: &[&str]) {
        let stamp = moment::stamp(now, &self.layout.zone);
        pages.append("status.html", &format!("{stamp} \t{}\n", fields.join("\t")));
    }

    fn run_status(&self, pages: &mut dyn Pages, now: u64, state: &str) {
        let run = self.run_layout();
        let loops = run.loops.as_deref().unwrap_or("None");
        let (name, loops) = (format!("rd={}", run.name), format!("For loops: {loops}"));
        self.status(pages, now, &[state, &name, &loops]);
    }

    pub(super) fn run_layout(&self) -> &RunLayout {
        &self.layout.runs[self.run]
    }

    /// A line of `parmscan.html`.
    pub fn scanned(&self, pages: &mut dyn Pages, now: u64, line: &str) {
        let line = format!("{} {line}\n", self.of_day(now));
        pages.append("parmscan.html", &line);
    }

    /// A line for the log and the user.
    pub fn note(&self, pages: &mut dyn Pages, now: u64, text: &str) {
        let line = format!("{} {text}\n", self.of_day(now));
        pages.append("logfile.html", &line);
        pages.show(&line);
    }

    /// How large the file or device of an SD is.
    pub fn note_size(&self, pages: &mut dyn Pages, now: u64, what: &str, bytes: u64) {
        let size = bytes as f64;
        let text = format!(
            "{what} {} bytes; {:.4} GB (1024**3); {:.4} GB (1000**3)",
            thousands(bytes),
            size / f64::from(1 << 30),
            size / 1e9
        );
        self.note(pages, now, &text);
    }

    /// A line for the log, the user and `errorlog.html`.
    pub fn error(&self, pages: &mut dyn Pages, now: u64, text: &str) {
        self.note(pages, now, text);
        pages.append("errorlog.html", &format!("{} {text}\n", self.of_day(now)));
    }

    /// Run `index` begins; `rate` is what it is to reach, where that was not known before.
    pub fn run_starts(
        &mut self,
        pages: &mut dyn Pages,
        index: usize,
        rate: Option<Rate>,
        now: u64,
    ) {
        self.run = index;
        if let Some(rate) = rate {
            self.layout.runs[index].rate = rate;
        }
        (self.closed, self.interval, self.is_warm) = (Nanos::ZERO, 0, false);
        self.headed = None;
        let places = self.run_layout().jobs.clone();
        for part in &mut self.parts {
            part.is_used = places.iter().any(|place| part.holds(*place));
            (part.interval, part.before, part.average) = Default::default();
            part.spread = set_row::Spread::default();
        }
        let parts_of = |place: &JobPlace| {
            let parts = self.parts.iter().enumerate();
            let held = parts.filter(|(_, part)| part.holds(*place));
            held.map(|(index, _)| index).collect()
        };
        self.parts_of_job = places.iter().map(parts_of).collect();
        if self.flat_on_files != self.run_layout().on_files {
            self.flat_on_files = !self.flat_on_files;
            pages.append("flatfile.html", &self.flat_preamble());
        }
        let of_day = self.of_day(now);
        let start = files::run_start(&self.layout, index, &of_day);
        for part in &self.parts {
            for page in part.pages.iter().chain(&part.histogram) {
                pages.append(&format!("{page}.html"), &start);
            }
        }
        for page in ["logfile", "totals", "skew"] {
            pages.append(&format!("{page}.html"), &start);
        }
        let title = files::run_title(self.run_layout());
        pages.show(&format!("{of_day} Starting {title}\n\n"));
        self.run_status(pages, now, "Starting");
    }

    /// A second of the present run is over, or what was left of its last one.
    pub fn second(
        &mut self,
        pages: &mut dyn Pages,
        (now, length): (u64, Nanos),
        jobs: &[JobSecond<'_>],
        processors: Option<Processors>,
    ) {
        let run = &self.layout.runs[self.run];
        for job in jobs {
            let asks = run
                .jobs
                .get(job.job)
                .map_or_else(Default::default, |it| it.asks);
            for part in self.parts_of_job.get(job.job).into_iter().flatten() {
                self.parts[*part].interval.count(job, asks);
            }
        }
        for part in &mut self.parts {
            let only_time = Tally {
                length,
                processors,
                ..Tally::new()
            };
            part.interval.append(&only_time);
        }
        if self.parts[0].interval.length + SLACK >= self.run_layout().interval {
            self.close(pages, now);
        }
    }

    /// The same of a second that nothing is known of, which has no rows: predictions tell nothing of their warm-up.
    pub fn unknown_second(&mut self, pages: &mut dyn Pages, (now, length): (u64, Nanos)) {
        self.rows = Rows::LeftOut;
        self.second(pages, (now, length), &[], None);
    }

    /// Writes the rows of the interval that is over.
    fn close(&mut self, pages: &mut dyn Pages, now: u64) {
        let length = self.parts[0].interval.length;
        if length == Nanos::ZERO {
            return;
        }
        let run = self.layout.runs[self.run].clone();
        self.closed += length;
        let step = run.interval.get().max(1);
        // Where seconds come in twos, so do intervals; a short one at the end is one too.
        let number = (self.closed + Nanos::new(step / 2)).get() / step;
        let last = self.interval;
        self.interval = number.max(last + 1);
        let is_warm = if run.warmup > Nanos::ZERO {
            self.closed > run.warmup + SLACK
        } else {
            last > 0
        };
        self.has_processors = self.parts[0].interval.processors.is_some();
        if std::mem::replace(&mut self.rows, Rows::Written) == Rows::Written {
            self.write_interval(pages, now);
        }
        for part in &mut self.parts {
            let interval = std::mem::take(&mut part.interval);
            if is_warm {
                if run.on_files {
                    part.spread.add(&interval);
                }
                part.average.append(&interval);
            } else {
                part.before.append(&interval);
            }
        }
        if !self.is_warm && self.closed + SLACK >= run.warmup {
            self.is_warm = true;
            self.run_status(pages, now, "Warmup done");
        }
    }

    /// The rows of the interval that is over.
    fn write_interval(&mut self, pages: &mut dyn Pages, now: u64) {
        let block = Some((self.interval - 1) / ROWS_PER_HEADER);
        if block > self.headed {
            self.write_header(pages, now);
            self.headed = block;
        }
        let label = self.interval.to_string();
        self.write_rows(pages, now, &label, Part::has_rows, |part| &part.interval);
        self.write_flat(pages, now, &label, (&self.parts[0].interval, None));
        let lines = csv::lines(self.run_layout(), &label, &self.parts[0].interval);
        pages.append("percentiles.csv", &lines);
        self.tell_stall(pages, now);
    }

    /// Tells once in a run where so many I/Os wait for one SD that Vdbench would hold back all workloads.
    fn tell_stall(&mut self, pages: &mut dyn Pages, now: u64) {
        if self.stalled_run == Some(self.run) {
            return;
        }
        let mut of_sds = self.parts.iter().filter_map(|part| match part.kind {
            Kind::Sd(sd) => Some((sd, part.interval.waiting())),
            _ => None,
        });
        let Some((sd, waiting)) = of_sds.find(|(_, waiting)| *waiting > QUEUE) else {
            return;
        };
        let text = format!(
            "sd={}: some {waiting:.0} I/Os wait for a thread. Where {QUEUE} wait for one SD, Vdbench starts no more on any; here the others go on at their rates.",
            self.layout.sds[sd]
        );
        self.note(pages, now, &text);
        self.stalled_run = Some(self.run);
    }

    /// Without a warm-up the first interval is left out of the average, which would say little where there is hardly more: then all
    /// of the run is averaged.
    fn average_all(&mut self) {
        let run = self.run_layout();
        let is_short = self.parts[0].average.length.get() < run.interval.get() / 2;
        if run.warmup > Nanos::ZERO || run.on_files || !is_short {
            return;
        }
        for part in &mut self.parts {
            let average = std::mem::take(&mut part.average);
            part.before.append(&average);
        }
    }

    /// Leaves out what completed after the last interval, too short a time for a row: an average is one of rows.
    fn drop_rest(&mut self) {
        for part in &mut self.parts {
            part.interval = Tally::new();
        }
    }

    /// A line of `flatfile.html`.
    pub(super) fn write_flat(
        &self,
        pages: &mut dyn Pages,
        now: u64,
        label: &str,
        (tally, spread): (&Tally, Option<&set_row::Spread>),
    ) {
        let run = self.run_layout();
        let (of_day, stamp) = (self.of_day(now), moment::stamp(now, &self.layout.zone));
        let at = (of_day.as_str(), stamp.as_str());
        let line = if run.on_files {
            set_flat::line(at, run, label, tally, spread)
        } else {
            let figures = tally.figures(self.layout.decimal_megabytes);
            flatfile::line(at, run, label, &figures)
        };
        pages.append("flatfile.html", &line);
    }

    /// The header of the present run's rows.
    pub(super) fn header(&self, now: u64) -> String {
        let day = moment::day(now, &self.layout.zone);
        if self.run_layout().on_files {
            return set_row::header(&day, self.has_processors, &self.layout.operations);
        }
        header(&day, self.has_processors, self.layout.decimal_megabytes)
    }

    /// A row of the present run.
    pub(super) fn row(&self, of_day: &str, label: &str, tally: &Tally) -> String {
        if self.run_layout().on_files {
            return set_row::row(of_day, label, tally, self.shown()) + "\n";
        }
        let figures = tally.figures(self.layout.decimal_megabytes);
        row(of_day, label, &figures) + "\n"
    }

    fn write_header(&self, pages: &mut dyn Pages, now: u64) {
        let header = self.header(now);
        for part in self.parts.iter().filter(|part| part.has_rows()) {
            for page in &part.pages {
                pages.append(&format!("{page}.html"), &header);
            }
        }
        pages.append("logfile.html", &header);
        pages.show(&header);
    }

    pub(super) fn write_rows(
        &self,
        pages: &mut dyn Pages,
        now: u64,
        label: &str,
        which: impl Fn(&Part) -> bool,
        what: impl Fn(&Part) -> &Tally,
    ) {
        let of_day = self.of_day(now);
        for part in self.parts.iter().filter(|part| which(part)) {
            let line = self.row(&of_day, label, what(part));
            Self::write_line(pages, part, &line);
        }
    }

    /// What a part's files get; of all parts together the log and the user too.
    pub(super) fn write_line(pages: &mut dyn Pages, part: &Part, line: &str) {
        for page in &part.pages {
            pages.append(&format!("{page}.html"), line);
        }
        if part.kind == Kind::Total {
            pages.append("logfile.html", line);
            pages.show(line);
        }
    }

    /// Bytes read and written that `maxdata=` counts in the present run: those of its average, or all without a warm-up.
    pub fn counted_bytes(&self) -> [u64; 2] {
        let total = &self.parts[0];
        let [mut read, mut written] = total.average.bytes();
        if self.run_layout().warmup == Nanos::ZERO {
            let before = total.before.bytes();
            (read, written) = (read + before[0], written + before[1]);
        }
        [read, written]
    }

    /// How long the present run went, up to its last interval.
    pub fn reported(&self) -> Nanos {
        self.closed
    }

    /// The present run is over: writes its averages, and gives that of all its I/O.
    pub fn run_ends(&mut self, pages: &mut dyn Pages, end: RunEnd, now: u64) -> Tally {
        let rest = self.parts[0].interval.length;
        if self.interval > 0 && end == RunEnd::Enough {
            // It ended with the last interval: the moment until all workers knew is none.
            self.drop_rest();
        } else if self.interval > 0 && rest < SLACK {
            self.closed += rest;
            self.drop_rest();
        }
        self.close(pages, now);
        self.average_all();
        match end {
            RunEnd::EndOfFile => {
                self.note(
                    pages,
                    now,
                    "All sequential workloads on all slaves are done.",
                );
            }
            RunEnd::Interrupted => self.note(pages, now, "The run was stopped."),
            RunEnd::Over | RunEnd::Enough => {}
        }
        self.run_status(pages, now, "Workload done");
        if self.interval > 0 {
            self.write_averages(pages, now);
        } else if end != RunEnd::Interrupted {
            self.note(pages, now, self.why_nothing());
        }
        self.run_status(pages, now, "Slaves done");
        self.parts[0].averaged().clone()
    }

    /// What is said of a run that ended without a single operation.
    fn why_nothing(&self) -> &'static str {
        let run = self.run_layout();
        if run.on_files && !run.is_format {
            "No operation was done, and there is no average: no file or directory is as the operations of the FWDs need it (what `create` or `copy` would make is there already, what the others use is missing or not complete)."
        } else {
            "Nothing was to be done, and there is no average."
        }
    }

    /// What a simulation says of a run.
    pub fn simulate(&self, pages: &mut dyn Pages, index: usize, now: u64) {
        let title = files::run_title(&self.layout.runs[index]);
        let line = format!("{} Simulating {title}\n", self.of_day(now));
        pages.append("summary.html", &line);
        pages.append("logfile.html", &line);
        pages.show(&line);
    }

    /// The execution is over. `what`: `execution` or `simulation`.
    pub fn complete(&self, pages: &mut dyn Pages, what: &str, now: u64) {
        self.status(pages, now, &["Shutting down slaves"]);
        let of_day = self.of_day(now);
        let line = format!("{of_day} Vdbench {what} completed successfully");
        pages.append("summary.html", &format!("{line}\n"));
        let line = match self.layout.directory.as_str() {
            "" => line + "\n",
            directory => format!("{line}. Output directory: {directory} \n"),
        };
        pages.append("logfile.html", &line);
        pages.show(&line);
        self.status(pages, now, &["Vdbench complete"]);
    }
}

/// What the link from rows to their histogram says.
fn histogram_label(kind: Kind, layout: &Layout) -> &'static str {
    let on_files = match kind {
        Kind::Sd(sd) => sd >= layout.first_fsd,
        Kind::Wd(wd) => wd >= layout.first_fwd,
        Kind::Total | Kind::Host(_) | Kind::HostSd(..) => false,
    };
    if on_files {
        "Link to Performance histogram:"
    } else {
        "Link to response time histogram:"
    }
}

/// The first lines of the files of an SD, WD, FSD or FWD: of its rows, and of its histogram.
fn titles(kind: Kind, layout: &Layout) -> (String, String) {
    match kind {
        Kind::Sd(sd) if sd >= layout.first_fsd => {
            let name = &layout.sds[sd];
            (
                format!("Report for fsd {name}"),
                format!("Performance histogram for FSD={name}"),
            )
        }
        Kind::Sd(sd) => (
            format!("SD report for sd={}", layout.sds[sd]),
            "SD response time histogram.".to_owned(),
        ),
        Kind::Wd(wd) if wd >= layout.first_fwd => {
            let name = &layout.wds[wd];
            (
                format!("Report for fwd {name}"),
                format!("Performance histogram for FWD={name}"),
            )
        }
        Kind::Wd(wd) => {
            let name = &layout.wds[wd];
            (
                format!("Workload Report for wd={name}"),
                format!("wd={name} response time histogram."),
            )
        }
        Kind::Total | Kind::Host(_) | Kind::HostSd(..) => Default::default(),
    }
}
