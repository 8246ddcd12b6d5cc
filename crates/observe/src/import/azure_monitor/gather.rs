//! The values of all answers, by device and interval: metrics stand after one another in an answer, and each interval needs
//! what all of them tell of it.
//!
//! A value that there is none of (`null`, or left out) stays none, which is not zero. Of one value that is told twice the
//! last counts.

use std::collections::{BTreeMap, BTreeSet};

use fathom_diagnostics::{Diagnostic, Diagnostics};
use fathom_units::Nanos;

use super::ask;
use super::document::{Answer, Metric, Point, Series, short};
use super::interval::{self, finest};
use super::metrics::{self, Figure, Known, Of, RATES, READS, WRITES};
use super::resource::Resource;

/// Percent of a limit from which on it holds demand back: a minute's average reaches 100 only where all of it was.
pub(super) const HELD_BACK: f64 = 95.0;
/// More than any device does a second.
const MOST: f64 = 1e15;
/// Names of metrics that are not used, as many as are kept.
const MOST_NAMES: usize = 100;

/// A device, in the order in which devices are told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub of: Of,
    /// Whether it is the mean of disks that were not split.
    pub is_mean: bool,
    lun: Option<u64>,
    pub name: String,
}

/// What is told of a device.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By the begin of each interval.
    pub by_begin: BTreeMap<i64, [Option<f64>; RATES]>,
    /// Of reads and of writes: the highest average of an interval, and the highest value within one.
    pub highest: [(f64, f64); 2],
    pub resource: Option<Resource>,
}

/// How far a limit was used.
#[derive(Debug, Default)]
pub(super) struct Used {
    pub all: usize,
    /// Intervals in which it held back, or credits were used up.
    pub over: usize,
    pub first: i64,
}

/// What answers tell.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub machine: Option<Resource>,
    pub devices: BTreeMap<Key, Rows>,
    /// Percent of the processors, and bytes of memory that are free, by the begin of each interval.
    pub host: BTreeMap<i64, [Option<f64>; 2]>,
    /// By device, which is empty for the machine, and metric.
    pub limits: BTreeMap<(String, &'static str), (Figure, Used)>,
    /// That all figures are of.
    pub interval: Option<Nanos>,
    /// Names of metrics that are not used.
    pub unused: BTreeSet<String>,
    /// Metrics that were asked for with another aggregation than they need, and that one.
    pub lacking: BTreeMap<&'static str, &'static str>,
    /// What the service says of metrics that it has no figures of.
    pub failed: BTreeSet<String>,
    /// Whether a figure is what was moved in an interval, by its total.
    pub by_total: bool,
    pub nulls: usize,
    pub negative: usize,
    pub twice: usize,
    pub changed: usize,
    /// The kind of resource of a metric that is not used.
    pub other_kind: Option<String>,
}

/// What of one answer is needed beside its metrics.
struct Context<'a> {
    file: &'a str,
    interval: Nanos,
}

impl Gathered {
    /// What all of `answers` tell; `file` is what messages call them.
    ///
    /// # Errors
    /// All that cannot be taken together: two machines, several lengths of intervals, units or dimensions that no metric
    /// has, answers that are none.
    pub fn of(answers: Vec<Answer>, file: &str) -> Result<Self, Diagnostics> {
        let mut gathered = Self::default();
        let mut complaints = Diagnostics::default();
        for answer in answers {
            if let Err(complaint) = gathered.answer(answer, file) {
                complaints.push(*complaint);
            }
            if complaints.is_full() {
                break;
            }
        }
        if complaints.has_errors() {
            return Err(complaints);
        }
        Ok(gathered)
    }

    fn answer(&mut self, answer: Answer, file: &str) -> Result<(), Box<Diagnostic>> {
        if let Some(error) = answer.error {
            let words = [error.code, error.message].into_iter().flatten();
            let words: Vec<String> = words.map(|word| short(&word)).collect();
            let message = format!("`{file}`: Azure answered an error: {}", words.join(": "));
            let hint = "put right what it says, and ask again";
            return Err(Box::new(Diagnostic::error(message).hint(hint)));
        }
        let Some(list) = answer.metrics else {
            let message = format!("`{file}`: an answer in it holds no metrics (`value`)");
            return Err(Box::new(Diagnostic::error(message).hint(ask::PLAIN)));
        };
        let told = match &answer.interval {
            Some(text) => Some(interval::read(text).ok_or_else(|| {
                let message = format!("`{file}`: `{}` is no length of intervals", short(text));
                Box::new(
                    Diagnostic::error(message).hint("it is written as `PT1M`, `PT1H` or `P1D`"),
                )
            })?),
            None => finest(&list),
        };
        let of_answer = answer.resource.as_deref().and_then(Resource::of);
        for metric in list {
            let resource = metric.id.as_deref().and_then(Resource::of);
            let resource = resource.or_else(|| of_answer.clone());
            self.metric(metric, resource.as_ref(), told, file)?;
        }
        Ok(())
    }

    fn metric(
        &mut self,
        metric: Metric,
        resource: Option<&Resource>,
        interval: Option<Nanos>,
        file: &str,
    ) -> Result<(), Box<Diagnostic>> {
        let refuse = |message: String, hint: &str| {
            let message = format!("`{file}`: {message}");
            Err(Box::new(Diagnostic::error(message).hint(hint)))
        };
        let name = metric.name.and_then(|name| name.value);
        let Some(name) = name else {
            return refuse("a metric in it has no name".to_owned(), ask::PLAIN);
        };
        let Some(series) = metric.timeseries else {
            let message = format!("it names the metric `{}` without its values", short(&name));
            return refuse(message, ask::PLAIN);
        };
        if series.is_empty()
            && let Some(message) = metric.error_message
        {
            self.failed
                .insert(format!("`{}`: {}", short(&name), short(&message)));
        }
        let Some(known) = metrics::known(&name) else {
            if self.unused.len() < MOST_NAMES {
                self.unused.insert(short(&name));
            }
            self.other_kind = resource.map(|it| it.kind.clone());
            return Ok(());
        };
        if let Some(unit) = &metric.unit
            && !known.units.contains(&unit.to_ascii_lowercase().as_str())
        {
            let message = format!("`{}` is told in `{}`", known.name, short(unit));
            let hint =
                "it is not what Azure Monitor tells under this name: give its answer as it came";
            return refuse(message, hint);
        }
        self.of_machine(known, resource, file)?;
        let Some(interval) = interval.filter(|_| !series.is_empty()) else {
            if series
                .iter()
                .all(|it| it.points.as_deref().is_none_or(<[Point]>::is_empty))
            {
                return Ok(());
            }
            let message = "it does not tell how long its intervals are".to_owned();
            return refuse(message, ask::PLAIN);
        };
        let is_limit = matches!(known.figure, Figure::Limit(_) | Figure::Credits(_));
        if let Some(first) = self.interval
            && first != interval
            && !is_limit
        {
            let message = format!("some of its figures are of {first} each, others of {interval}");
            return refuse(
                message,
                "ask for all of them with one `--interval`, best of 1 min: `--interval PT1M`",
            );
        }
        if !is_limit {
            self.interval = Some(interval);
        }
        let context = Context { file, interval };
        for series in series {
            self.series(known, series, resource, &context)?;
        }
        Ok(())
    }

    /// Keeps the machine that a metric is of; there is one.
    fn of_machine(
        &mut self,
        known: &Known,
        resource: Option<&Resource>,
        file: &str,
    ) -> Result<(), Box<Diagnostic>> {
        let Some(resource) = resource.filter(|_| !matches!(known.of, Of::ManagedDisk | Of::Volume))
        else {
            return Ok(());
        };
        let refuse = |message: String, hint: &str| {
            let message = format!("`{file}`: {message}");
            Err(Box::new(Diagnostic::error(message).hint(hint)))
        };
        if resource.kind == "microsoft.compute/virtualmachinescalesets" {
            let message = format!(
                "`{}` is a scale set, whose figures are means over its machines",
                short(&resource.name)
            );
            return refuse(
                message,
                "ask for one of its machines: `…/virtualMachineScaleSets/SET/virtualMachines/0`",
            );
        }
        let first = self.machine.get_or_insert_with(|| resource.clone());
        if first.is(resource) {
            return Ok(());
        }
        let names = if first.name.eq_ignore_ascii_case(&resource.name) {
            [&first.id, &resource.id]
        } else {
            [&first.name, &resource.name]
        };
        let [one, other] = names.map(String::as_str);
        let message = format!(
            "`{one}` and `{other}` are two machines: their figures would be added up or lost"
        );
        refuse(
            message,
            "observe each of them alone, from an answer of its own",
        )
    }

    fn series(
        &mut self,
        known: &'static Known,
        series: Series,
        resource: Option<&Resource>,
        context: &Context<'_>,
    ) -> Result<(), Box<Diagnostic>> {
        let mut lun = None;
        for dimension in series.dimensions.into_iter().flatten() {
            let name = dimension
                .name
                .and_then(|name| name.value)
                .unwrap_or_default();
            if name.eq_ignore_ascii_case("lun") {
                lun = dimension.value;
            } else if !name.eq_ignore_ascii_case("microsoft.resourceid") {
                let message = format!(
                    "`{}`: `{}` is split by `{}`, which is not read",
                    context.file,
                    known.name,
                    short(&name)
                );
                let hint =
                    "ask for it as a whole, and for data disks with `--filter \"LUN eq '*'\"`";
                return Err(Box::new(Diagnostic::error(message).hint(hint)));
            }
        }
        let key = Key::of(known.of, lun.as_deref(), resource);
        let mut is_used = false;
        let mut others = None;
        for point in series.points.into_iter().flatten() {
            let value = known.figure.value(&point, context.interval);
            let Some(value) = value else {
                self.nulls += usize::from(!point.is_told);
                others = others.or(point.is_told.then_some(known.figure.aggregation()));
                continue;
            };
            is_used = true;
            if value < 0.0 {
                self.negative += 1;
                continue;
            }
            if value > MOST {
                let message = format!(
                    "`{}`: {value:e} of `{}` is more than can be",
                    context.file, known.name
                );
                return Err(Box::new(
                    Diagnostic::error(message).hint("give Azure Monitor's answer as it came"),
                ));
            }
            self.value(known, &key, &point, value);
        }
        if let Some(needed) = others.filter(|_| !is_used) {
            self.lacking.insert(known.name, needed);
        }
        if is_used && let Some(rows) = self.devices.get_mut(&key) {
            let first = rows
                .resource
                .get_or_insert_with(|| resource.cloned().unwrap_or_else(Resource::unnamed));
            if resource.is_some_and(|it| !first.is(it)) {
                let message = format!(
                    "`{}`: two resources in it are called `{}`",
                    context.file, key.name
                );
                return Err(Box::new(
                    Diagnostic::error(message).hint("observe each of them alone"),
                ));
            }
        }
        Ok(())
    }

    /// Keeps one value.
    fn value(&mut self, known: &'static Known, key: &Key, point: &Point, value: f64) {
        let place = match known.figure {
            Figure::Rate(place) => place,
            Figure::Total(place) => {
                self.by_total = true;
                place
            }
            Figure::Limit(_) | Figure::Credits(_) => {
                let device = if known.of == Of::Machine {
                    ""
                } else {
                    &key.name
                };
                let entry = self.limits.entry((device.to_owned(), known.name));
                let (_, used) = entry.or_insert_with(|| (known.figure, Used::default()));
                used.all += 1;
                if value.max(point.maximum.unwrap_or(0.0)) >= HELD_BACK {
                    used.first = if used.over == 0 {
                        point.begin
                    } else {
                        used.first.min(point.begin)
                    };
                    used.over += 1;
                }
                return;
            }
            Figure::Processors | Figure::FreeMemory => {
                let place = usize::from(known.figure == Figure::FreeMemory);
                let before = self.host.entry(point.begin).or_default()[place].replace(value);
                return self.again(before, value);
            }
        };
        let rows = self.devices.entry(key.clone()).or_default();
        let before = rows.by_begin.entry(point.begin).or_default()[place].replace(value);
        if [READS, WRITES].contains(&place) {
            let (average, maximum) = &mut rows.highest[place];
            *average = average.max(value);
            *maximum = maximum.max(point.maximum.unwrap_or(0.0));
        }
        self.again(before, value);
    }

    /// Counts a value that was told before.
    fn again(&mut self, before: Option<f64>, value: f64) {
        if let Some(before) = before {
            let is_same = (before - value).abs() <= before.abs() * 1e-9;
            self.twice += usize::from(is_same);
            self.changed += usize::from(!is_same);
        }
    }
}

impl Figure {
    /// Its value of an interval, where the aggregation that it needs is told.
    fn value(self, point: &Point, interval: Nanos) -> Option<f64> {
        match self {
            Self::Total(_) => Some(point.total? / interval.as_secs_f64()),
            _ => point.average,
        }
    }

    /// The aggregation that it needs.
    fn aggregation(self) -> &'static str {
        if matches!(self, Self::Total(_)) {
            "Total"
        } else {
            "Average"
        }
    }
}

impl Key {
    fn of(of: Of, lun: Option<&str>, resource: Option<&Resource>) -> Self {
        let own = |word: &str| resource.map_or_else(|| word.to_owned(), |it| short(&it.name));
        let lun = lun.filter(|_| of == Of::DataDisk);
        let name = match of {
            Of::DataDisk => lun.map_or_else(
                || "data-disks".to_owned(),
                |lun| format!("lun{}", short(lun)),
            ),
            Of::OsDisk => "os-disk".to_owned(),
            Of::TempDisk => "temp-disk".to_owned(),
            Of::Disks => "disks".to_owned(),
            Of::ManagedDisk => own("disk"),
            Of::Volume => own("volume"),
            Of::Machine => String::new(),
        };
        Self {
            of,
            is_mean: of == Of::DataDisk && lun.is_none(),
            lun: lun.and_then(|lun| lun.parse().ok()),
            name,
        }
    }
}
