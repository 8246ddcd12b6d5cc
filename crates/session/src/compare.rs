//! `fathom compare`: records beside each other, and thresholds of what may change.

use clap::Args;
use fathom_diagnostics::nearest;
use fathom_record::Record;
use fathom_report::{Comparison, Figure, Summary, Threshold, failure_line};

use crate::{Code, Console, Failure};

/// `fathom compare`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct CompareArgs {
    /// Records, the baseline first: each the id of a run, a path, `last`, or `last~1` for the run before that, and so on
    #[arg(value_name = "RECORD", required = true, num_args = 2..)]
    pub records: Vec<String>,
    /// Exit with 7 where a figure changed by more than this and by more than its noise; may be repeated
    #[arg(long, value_name = "THRESHOLD")]
    pub fail_on: Vec<String>,
    /// Print the comparison as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print the comparison as CSV, one row a figure
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print every figure, every key that differs and every doubt
    #[arg(long, conflicts_with = "csv")]
    pub full: bool,
}

const HELP: &str = "\
A change is marked where it is more than the noise (95 %): IOPS and bandwidth
by the repeats of both records, or by the seconds of single runs; percentiles
by their ranks. Stages and jobs are matched by name.

Thresholds: FIGURE-N% where less is worse, FIGURE+N% where more is worse.
Figures are iops and bandwidth; p50, p99, p99.9, max of latency; response-p50,
response-p99, response-p99.9, response-max of response time. They hold for each
stage, job and direction that is matched. A crossed one ends with exit code 7.

Example:
  fathom compare last~1 last --fail-on iops-5% --fail-on p99+10%";

impl CompareArgs {
    /// Lays the records that `stored` gives for their names, with the names to show them by, beside each other and prints that.
    ///
    /// # Errors
    /// A threshold that is none; a record that `stored` cannot give; records of which nothing can be laid beside each other,
    /// or that have not the figure of a threshold.
    pub fn compare(
        &self,
        stored: impl Fn(&str) -> Result<(String, Record), Failure>,
        console: &dyn Console,
    ) -> Result<Code, Failure> {
        let thresholds = self.thresholds()?;
        if self.records.iter().filter(|name| *name == "-").count() > 1 {
            let message = "`-` (standard input) can be named once only";
            return Err(Failure::new(Code::Usage, message).hint("name the others by their files"));
        }
        let records = self.records.iter().map(|name| stored(name));
        let records = records.collect::<Result<Vec<_>, Failure>>()?;
        let how_much = if self.full || self.json {
            Summary::Full
        } else {
            Summary::Short
        };
        let comparison = Comparison::new(&records, how_much);
        if self.json {
            console.print(&format!("{}\n", comparison.to_json(&thresholds)));
        } else if self.csv {
            console.print(&comparison.to_csv());
        } else {
            console.show(&comparison.to_text(how_much, console.width()));
        }
        if comparison.is_empty() {
            let message = "nothing of the first record is in another";
            return Err(Failure::new(Code::Input, message)
                .hint("stages and jobs are matched by their names: compare runs of one workload"));
        }
        self.judge(&comparison, &thresholds, console)
    }

    fn thresholds(&self) -> Result<Vec<Threshold>, Failure> {
        let read = self.fail_on.iter().map(|text| {
            let read = text.parse::<Threshold>();
            read.map_err(|error| {
                let hint = threshold_hint(error.no_figure.as_deref());
                Failure::new(Code::Usage, format!("--fail-on: {error}")).hint(hint)
            })
        });
        read.collect()
    }

    /// Says which thresholds are crossed; on stderr where stdout is for a machine.
    fn judge(
        &self,
        comparison: &Comparison,
        thresholds: &[Threshold],
        console: &dyn Console,
    ) -> Result<Code, Failure> {
        let mut code = Code::Success;
        for threshold in thresholds {
            if !threshold.applies(comparison) {
                let figure = threshold.figure.name();
                let message = format!("`{threshold}`: the baseline has no `{figure}`");
                return Err(Failure::new(Code::Input, message)
                    .hint("`fathom compare … --full` shows what there is"));
            }
            for sentence in threshold.crossed(comparison) {
                code = Code::Threshold;
                if self.json || self.csv {
                    console.tell(&format!("FAIL {sentence}"));
                } else {
                    console.show(&failure_line(&sentence, console.width()));
                }
            }
        }
        Ok(code)
    }
}

/// What to write in place of a threshold that cannot be read; `no_figure` stands in it where a figure's name should.
fn threshold_hint(no_figure: Option<&str>) -> String {
    let figures: Vec<String> = Figure::all().map(Figure::name).collect();
    let near = no_figure.and_then(|name| nearest(name, figures.iter().map(String::as_str)));
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write FIGURE-N% or FIGURE+N%, as in `iops-5%` or `p99+10%`".to_owned(),
    }
}
