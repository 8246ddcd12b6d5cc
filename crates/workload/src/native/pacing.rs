//! What holds a job back and what ends it by its results, in the native file.
//!
//! ```toml
//! think = { pause = "10ms", every = 8, counts = "completed" }
//! think_cycles = 1000
//! warmup_bytes = "1GiB"
//! batches = { submit = 16, complete_min = 1, complete_max = 16 }
//! rates = { read = "1000/s", write = "5MB/s", process = "fixed" }
//! rates_min = { read = "500/s", write = "2MB/s", cycle = "1s" }
//! rate_steps = { steps = [{ rate = "1000/s", length = "10s" }, { length = "5s" }], together = false }
//! flow = { id = 1, weight = 8 }
//! latency_target = { most = "2ms", window = "5s", percentile = "99%" }
//! steady = { metric = "iops", judged = "slope", limit = "0.3%", window = "60s" }
//! overlaps = "serialized"
//! ```

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};
use toml::{Table, Value as TomlValue};

use super::fields::{Fields, Reader, Value};
use super::words::{PROCESSES, Words, word};
use super::writer::{count, size, time};
use crate::{
    AfterFound, Batches, Direction, DirectionRates, Flow, Job, LatencyTarget, MinimumRates,
    Overlaps, Pacing, RateStep, RateSteps, SteadyJudgement, SteadyLimit, SteadyMetric, SteadyState,
    ThinkCounts, ThinkTime,
};

const COUNTS: Words<ThinkCounts> = &[
    ("completed", ThinkCounts::Completed),
    ("issued", ThinkCounts::Issued),
];
const THEN: Words<AfterFound> = &[("end", AfterFound::Ends), ("go-on", AfterFound::GoesOn)];
const METRICS: Words<SteadyMetric> = &[
    ("iops", SteadyMetric::Iops),
    ("bandwidth", SteadyMetric::Bandwidth),
    ("latency", SteadyMetric::Latency),
];
const JUDGEMENTS: Words<SteadyJudgement> = &[
    ("deviation", SteadyJudgement::Deviation),
    ("slope", SteadyJudgement::Slope),
];
const OVERLAPS: Words<Overlaps> = &[
    ("allowed", Overlaps::Allowed),
    ("serialized", Overlaps::Serialized),
];

/// The keys of those that are on.
pub(super) fn keys(job: &Job) -> Vec<(&'static str, TomlValue)> {
    let features = &job.features;
    let mut keys = Vec::new();
    keys.extend(features.think.map(|it| ("think", think(it))));
    if features.think_cycles > 0 {
        keys.push(("think_cycles", count(features.think_cycles)));
    }
    if features.warmup_bytes > Bytes::ZERO {
        keys.push(("warmup_bytes", size(features.warmup_bytes)));
    }
    keys.extend(features.batches.map(|it| ("batches", batches(it))));
    keys.extend(features.rates.map(|it| ("rates", rates(&it))));
    keys.extend(features.minimum.map(|it| ("rates_min", minimum(&it))));
    let steps = features.rate_steps.as_deref();
    keys.extend(steps.map(|it| ("rate_steps", rate_steps(it))));
    keys.extend(features.flow.map(|it| ("flow", flow(it))));
    let target = features.latency_target;
    keys.extend(target.map(|it| ("latency_target", latency_target(it))));
    keys.extend(features.steady.map(|it| ("steady", steady(it))));
    if features.overlaps != Overlaps::Allowed {
        keys.push(("overlaps", word(OVERLAPS, &features.overlaps).into()));
    }
    keys
}

fn table<const N: usize>(entries: [(&str, TomlValue); N]) -> TomlValue {
    let entries = entries.into_iter();
    TomlValue::Table(
        entries
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn think(think: ThinkTime) -> TomlValue {
    table([
        ("pause", time(think.pause)),
        ("spin", time(think.spin)),
        ("every", count(think.every)),
        ("counts", word(COUNTS, &think.counts).into()),
        ("after", time(think.after)),
        ("stops_rate", think.stops_rate.into()),
    ])
}

fn batches(batches: Batches) -> TomlValue {
    table([
        ("submit", count(batches.submit)),
        ("complete_min", count(batches.complete_min)),
        ("complete_max", count(batches.complete_max)),
        ("low", count(batches.low)),
    ])
}

fn by_way(rates: &[Option<Pacing>; 3]) -> Table {
    let rates = Direction::ALL.into_iter().zip(rates);
    let given = rates.filter_map(|(way, rate)| Some((way.name().to_owned(), pacing((*rate)?))));
    given.collect()
}

fn minimum(minimum: &MinimumRates) -> TomlValue {
    let mut keys = by_way(&minimum.rates);
    keys.insert("cycle".to_owned(), time(minimum.cycle));
    TomlValue::Table(keys)
}

fn rates(rates: &DirectionRates) -> TomlValue {
    let mut keys = by_way(&rates.rates);
    let process = word(PROCESSES, &rates.poisson);
    keys.insert("process".to_owned(), process.into());
    TomlValue::Table(keys)
}

fn pacing(rate: Pacing) -> TomlValue {
    match rate {
        Pacing::Iops(iops) => format!("{}/s", iops.get()).into(),
        Pacing::Bytes(bytes) => format!("{}B/s", bytes.get()).into(),
    }
}

fn rate_steps(steps: &RateSteps) -> TomlValue {
    let step = |step: &RateStep| {
        let mut keys = Table::new();
        if let Some(rate) = step.rate {
            keys.insert("rate".to_owned(), pacing(rate));
        }
        keys.insert("length".to_owned(), time(step.length));
        TomlValue::Table(keys)
    };
    table([
        (
            "steps",
            TomlValue::Array(steps.steps.iter().map(step).collect()),
        ),
        ("together", steps.together.into()),
    ])
}

fn flow(flow: Flow) -> TomlValue {
    table([
        ("id", count(flow.id)),
        ("weight", count(flow.weight)),
        ("pause", time(flow.pause)),
    ])
}

fn latency_target(target: LatencyTarget) -> TomlValue {
    table([
        ("most", time(target.most)),
        ("window", time(target.window)),
        ("percentile", format!("{}%", target.percentile).into()),
        ("then", word(THEN, &target.then).into()),
    ])
}

fn steady(steady: SteadyState) -> TomlValue {
    let limit = match steady.limit {
        SteadyLimit::Percent(percent) => TomlValue::from(format!("{percent}%")),
        SteadyLimit::Absolute(number) => TomlValue::from(number),
    };
    table([
        ("metric", word(METRICS, &steady.metric).into()),
        ("judged", word(JUDGEMENTS, &steady.judgement).into()),
        ("limit", limit),
        ("window", time(steady.window)),
        ("ramp", time(steady.ramp)),
        ("interval", time(steady.interval)),
    ])
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

impl Reader<'_> {
    /// Everything of a job that holds it back or ends it by its results.
    pub(super) fn pacing(&mut self, fields: &mut Fields<'_, '_>, job: &mut Job) {
        let features = &mut job.features;
        features.think = fields.get("think").and_then(|value| self.think(value));
        let cycles = fields.get("think_cycles");
        let cycles = cycles.and_then(|value| self.count(value));
        features.think_cycles = cycles.unwrap_or_default();
        let moved = fields.get("warmup_bytes");
        let moved = moved.and_then(|value| self.quantity(value));
        features.warmup_bytes = moved.unwrap_or_default();
        features.batches = fields.get("batches").and_then(|value| self.batches(value));
        features.rates = fields.get("rates").and_then(|value| self.rates(value));
        let minimum = fields.get("rates_min");
        features.minimum = minimum.and_then(|value| self.minimum(value));
        let steps = fields.get("rate_steps");
        features.rate_steps = steps.and_then(|value| self.rate_steps(value)).map(Box::new);
        features.flow = fields.get("flow").and_then(|value| self.flow(value));
        let target = fields.get("latency_target");
        features.latency_target = target.and_then(|value| self.latency_target(value));
        features.steady = fields.get("steady").and_then(|value| self.steady(value));
        let overlaps = fields.get("overlaps");
        let overlaps = overlaps.and_then(|value| self.word(value, OVERLAPS));
        features.overlaps = overlaps.unwrap_or_default();
    }

    pub(super) fn at_least_one(&mut self, value: &Value<'_>) -> Option<u32> {
        let number = self.count(value)?;
        if number == 0 {
            self.error(value.span(), "this must be at least 1", "write 1 or more");
            return None;
        }
        Some(number)
    }

    fn think(&mut self, value: &Value<'_>) -> Option<ThinkTime> {
        let mut fields = self.fields(value, "a think time")?;
        let mut think = ThinkTime {
            pause: Nanos::ZERO,
            spin: Nanos::ZERO,
            every: 1,
            counts: ThinkCounts::Completed,
            after: Nanos::ZERO,
            stops_rate: false,
        };
        set(
            &mut think.pause,
            fields.get("pause").and_then(|it| self.quantity(it)),
        );
        set(
            &mut think.spin,
            fields.get("spin").and_then(|it| self.quantity(it)),
        );
        let every = fields.get("every");
        set(&mut think.every, every.and_then(|it| self.at_least_one(it)));
        set(
            &mut think.counts,
            fields.get("counts").and_then(|it| self.word(it, COUNTS)),
        );
        set(
            &mut think.after,
            fields.get("after").and_then(|it| self.quantity(it)),
        );
        set(
            &mut think.stops_rate,
            fields.get("stops_rate").and_then(|it| self.truth(it)),
        );
        if every.is_none() && think.after > Nanos::ZERO {
            think.every = u32::MAX;
        }
        fields.finish(self);
        Some(think)
    }

    fn batches(&mut self, value: &Value<'_>) -> Option<Batches> {
        let mut fields = self.fields(value, "batches")?;
        let mut batches = Batches {
            submit: 1,
            complete_min: 1,
            complete_max: 1,
            low: 0,
        };
        set(
            &mut batches.submit,
            fields.get("submit").and_then(|it| self.at_least_one(it)),
        );
        set(
            &mut batches.complete_min,
            fields.get("complete_min").and_then(|it| self.count(it)),
        );
        let most = fields
            .get("complete_max")
            .and_then(|it| self.at_least_one(it));
        batches.complete_max = most.unwrap_or(batches.complete_min.max(1));
        set(
            &mut batches.low,
            fields.get("low").and_then(|it| self.count(it)),
        );
        fields.finish(self);
        Some(batches)
    }

    fn rates(&mut self, value: &Value<'_>) -> Option<DirectionRates> {
        let mut fields = self.fields(value, "rates by direction")?;
        let rates = self.rates_by_way(&mut fields);
        let process = fields
            .get("process")
            .and_then(|it| self.word(it, PROCESSES));
        fields.finish(self);
        Some(DirectionRates {
            rates,
            poisson: process.unwrap_or_default(),
        })
    }

    fn rates_by_way(&mut self, fields: &mut Fields<'_, '_>) -> [Option<Pacing>; 3] {
        Direction::ALL.map(|way| fields.get(way.name()).and_then(|it| self.rate_of(it)))
    }

    fn minimum(&mut self, value: &Value<'_>) -> Option<MinimumRates> {
        let mut fields = self.fields(value, "rates to keep up")?;
        let rates = self.rates_by_way(&mut fields);
        let cycle = fields.get("cycle").and_then(|it| self.quantity(it));
        fields.finish(self);
        Some(MinimumRates {
            rates,
            cycle: cycle.unwrap_or(MinimumRates::CYCLE),
        })
    }

    fn rate_of(&mut self, value: &Value<'_>) -> Option<Pacing> {
        let text = value.get_ref().as_str();
        if text.is_some_and(|text| text.contains('B')) {
            return self.quantity::<BytesPerSec>(value).map(Pacing::Bytes);
        }
        self.quantity::<Iops>(value).map(Pacing::Iops)
    }

    fn rate_steps(&mut self, value: &Value<'_>) -> Option<RateSteps> {
        let mut fields = self.fields(value, "rates that follow one another")?;
        let list = fields.get("steps");
        let together = fields.get("together").and_then(|value| self.truth(value));
        fields.finish(self);
        let Some(list) = list else {
            let hint = "write it like { steps = [{ rate = \"1000/s\", length = \"10s\" }] }";
            self.error(value.span(), "it has no `steps`", hint);
            return None;
        };
        let list = self.list(list)?;
        let steps: Option<Vec<RateStep>> = list.iter().map(|step| self.rate_step(step)).collect();
        Some(RateSteps {
            steps: steps?,
            together: together.unwrap_or_default(),
        })
    }

    fn rate_step(&mut self, value: &Value<'_>) -> Option<RateStep> {
        let mut fields = self.fields(value, "a step of a rate")?;
        let rate = fields.get("rate").and_then(|value| self.rate_of(value));
        let length = fields.get("length").and_then(|value| self.quantity(value));
        let span = fields.span();
        fields.finish(self);
        if length.is_none() {
            self.error(
                span,
                "a step has no length",
                "add one, such as `length = \"10s\"`",
            );
        }
        Some(RateStep {
            rate,
            length: length?,
        })
    }

    fn flow(&mut self, value: &Value<'_>) -> Option<Flow> {
        let mut fields = self.fields(value, "a flow")?;
        let mut flow = Flow {
            id: 0,
            weight: 1,
            pause: Nanos::ZERO,
        };
        set(&mut flow.id, fields.get("id").and_then(|it| self.count(it)));
        set(
            &mut flow.weight,
            fields.get("weight").and_then(|it| self.at_least_one(it)),
        );
        set(
            &mut flow.pause,
            fields.get("pause").and_then(|it| self.quantity(it)),
        );
        fields.finish(self);
        Some(flow)
    }

    /// A decimal number with `%` behind it.
    fn percentage(&mut self, value: &Value<'_>) -> Option<f64> {
        let text = value.get_ref().as_str().unwrap_or_default();
        let number = text
            .strip_suffix('%')
            .and_then(|digits| digits.trim().parse().ok());
        let number = number.filter(|number: &f64| *number > 0.0 && number.is_finite());
        if number.is_none() {
            let hint = "write it with its sign, such as \"99.9%\"";
            match value.get_ref().as_str() {
                Some(text) => {
                    let message = format!("`{text}` is no percentage above 0");
                    self.error(value.span(), message, hint);
                }
                None => self.mismatch(value, "a percentage above 0", hint),
            }
        }
        number
    }

    fn latency_target(&mut self, value: &Value<'_>) -> Option<LatencyTarget> {
        let mut fields = self.fields(value, "a latency target")?;
        let most = fields
            .require("most", self)
            .and_then(|it| self.quantity(it));
        let window = fields.get("window").and_then(|it| self.quantity(it));
        // Of none of the I/Os: each window is good.
        let percentile = fields.get("percentile").and_then(|it| {
            let is_none = it.get_ref().as_str() == Some("0%");
            if is_none {
                Some(0.0)
            } else {
                self.percentage(it)
            }
        });
        let then = fields.get("then").and_then(|it| self.word(it, THEN));
        if percentile.is_some_and(|share| share > 100.0)
            && let Some(value) = fields.get("percentile")
        {
            let message = "no more than 100 % of the I/Os can keep to a limit";
            self.error(value.span(), message, "write it like \"99.9%\"");
        }
        for (key, time) in [("most", most), ("window", window)] {
            if let (Some(Nanos::ZERO), Some(value)) = (time, fields.get(key)) {
                let message = format!("`{key}` is no time, and no I/O takes none");
                self.error(value.span(), message, "give a time such as \"2ms\"");
            }
        }
        fields.finish(self);
        Some(LatencyTarget {
            most: most?,
            window: window.unwrap_or(Nanos::from_secs(1)),
            percentile: percentile.unwrap_or(100.0).min(100.0),
            then: then.unwrap_or_default(),
        })
    }

    fn steady(&mut self, value: &Value<'_>) -> Option<SteadyState> {
        let mut fields = self.fields(value, "a steady state")?;
        let metric = fields
            .require("metric", self)
            .and_then(|it| self.word(it, METRICS));
        let judgement = fields
            .get("judged")
            .and_then(|it| self.word(it, JUDGEMENTS));
        let limit = fields
            .require("limit", self)
            .and_then(|it| match it.get_ref().as_str() {
                Some(_) => self.percentage(it).map(SteadyLimit::Percent),
                None => self.decimal(it).map(SteadyLimit::Absolute),
            });
        let window = fields
            .require("window", self)
            .and_then(|it| self.quantity(it));
        let ramp = fields.get("ramp").and_then(|it| self.quantity(it));
        let interval = fields.get("interval").and_then(|it| self.quantity(it));
        let span = fields.span();
        fields.finish(self);
        let steady = SteadyState {
            metric: metric?,
            judgement: judgement.unwrap_or(SteadyJudgement::Deviation),
            limit: limit?,
            window: window?,
            ramp: ramp.unwrap_or_default(),
            interval: interval.unwrap_or(Nanos::from_secs(1)),
        };
        if !(2..=SteadyState::VALUES_MAX).contains(&steady.values()) {
            let message = "a steady state is judged over 2 to 1,000,000 intervals";
            self.error(
                span,
                message,
                "make `window` twice the `interval` or longer, and no longer than a million of them",
            );
            return None;
        }
        Some(steady)
    }

    /// A number above 0, with or without decimals.
    fn decimal(&mut self, value: &Value<'_>) -> Option<f64> {
        let number = match value.get_ref() {
            toml::de::DeValue::Integer(number) => number.as_str().parse().ok(),
            toml::de::DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number: &f64| *number > 0.0 && number.is_finite());
        if number.is_none() {
            self.mismatch(value, "a number above 0", "write it like 250.0");
        }
        number
    }
}
