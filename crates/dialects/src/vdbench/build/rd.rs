//! Run definitions.

use super::Builder;
use crate::vdbench::lexer::{Parameter, Word};
use crate::vdbench::outline::Kind;
use crate::vdbench::sections::{
    Fwd, Gaps, Loop, LoopKey, LoopValue, MaxData, Name, Rate, Rd, Seek, Varies,
};
use crate::vdbench::source::At;
use crate::vdbench::values::{Unit, looks_numeric, shown};

pub(super) const KEYWORDS: &[&str] = &[
    "wd",
    "sd",
    "hd",
    "fwd",
    "fsd",
    "iorate",
    "curve",
    "stopcurve",
    "fwdrate",
    "elapsed",
    "interval",
    "warmup",
    "pause",
    "maxdata",
    "maxdataread",
    "maxdatawritten",
    "maxdatawrite",
    "distribution",
    "openflags",
    "startcmd",
    "start_cmd",
    "endcmd",
    "end_cmd",
    "format",
    "operations",
    "operation",
    "replay",
    "mount",
    "threads",
    "xfersize",
    "rdpct",
    "rhpct",
    "whpct",
    "seekpct",
    "hitarea",
    "compratio",
    "compression",
    "depth",
    "width",
    "files",
    "sizes",
    "totalsize",
    "workingsetsize",
    "wss",
    "forxfersize",
    "forthreads",
    "forrdpct",
    "forrhpct",
    "forwhpct",
    "forseekpct",
    "forhitarea",
    "forcompratio",
    "forcompression",
    "fordepth",
    "forwidth",
    "forfiles",
    "forsizes",
    "fortotalsize",
    "forworkingsetsize",
    "forwss",
    "foroperations",
    "foroperation",
];

/// Default points of a curve, in percent.
const CURVE: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

/// Most RDs.
const RDS_MAX: usize = 10_000;
/// Longest time, s: ten years.
const SECONDS_MAX: u64 = 315_360_000;
/// Highest rate.
const RATE_MAX: f64 = 1e9;

/// An RD without a name.
pub(super) fn no_rd() -> Rd {
    Rd {
        name: String::new(),
        wds: Vec::new(),
        sds: Vec::new(),
        hosts: Vec::new(),
        fwds: Vec::new(),
        fsds: Vec::new(),
        rates: Vec::new(),
        curve: CURVE.to_vec(),
        stopcurve: None,
        fwd_rates: Vec::new(),
        elapsed: 30,
        interval: 1,
        warmup: 0,
        pause: 0,
        maxdata: MaxData::default(),
        gaps: Gaps::Exponential,
        varies: Varies::No,
        openflags: None,
        startcmd: Vec::new(),
        endcmd: Vec::new(),
        loops: Vec::new(),
        format: Vec::new(),
        operations: Vec::new(),
        at: At::default(),
    }
}

/// What a loop's keyword changes: with `for` before it or without.
fn is_loop_key(key: &str) -> Option<LoopKey> {
    let bare = key.strip_prefix("for").unwrap_or(key);
    let is_for = bare.len() < key.len();
    Some(match bare {
        "xfersize" => LoopKey::Xfersize,
        "threads" => LoopKey::Threads,
        "rdpct" => LoopKey::Rdpct,
        "rhpct" => LoopKey::Rhpct,
        "whpct" => LoopKey::Whpct,
        "seekpct" => LoopKey::Seekpct,
        "hitarea" => LoopKey::Hitarea,
        "compratio" | "compression" => LoopKey::Compratio,
        "depth" => LoopKey::Depth,
        "width" => LoopKey::Width,
        "files" => LoopKey::Files,
        "sizes" => LoopKey::Sizes,
        "totalsize" => LoopKey::Totalsize,
        "wss" | "workingsetsize" => LoopKey::Wss,
        "operations" | "operation" if is_for => LoopKey::Operations,
        _ => return None,
    })
}

/// Whether what a loop changes may be a fraction.
const fn is_fractional(key: LoopKey) -> bool {
    matches!(
        key,
        LoopKey::Rdpct | LoopKey::Rhpct | LoopKey::Whpct | LoopKey::Compratio
    )
}

/// A percentage of a rate, as Vdbench takes it: without what is behind the point.
fn whole_percent(percent: f64) -> f64 {
    if percent < 1.0 {
        percent
    } else {
        percent.floor()
    }
}

/// Values of all lists of an RD.
fn values_of(rd: &Rd) -> usize {
    let names = [&rd.wds, &rd.sds, &rd.hosts, &rd.fwds, &rd.fsds, &rd.format].map(Vec::len);
    let words = [&rd.startcmd, &rd.endcmd, &rd.operations].map(Vec::len);
    let rates = rd.rates.len() + rd.fwd_rates.len() + rd.curve.len();
    let loops: usize = rd.loops.iter().map(|one| one.values.len()).sum();
    names.iter().chain(&words).sum::<usize>() + rates + loops
}

impl Builder<'_> {
    pub(super) fn rd(&mut self, name: &str, at: At, body: &[Parameter]) {
        let lists = values_of(&self.defaults.rd);
        if !self.values.complaints.has_room_for(lists) {
            return;
        }
        let mut rd = Rd {
            name: name.to_owned(),
            at,
            ..self.defaults.rd.clone()
        };
        let (mut workload_given, mut has_unknown) = (false, false);
        let added = self.stream.added.iter().filter(|_| name != "default");
        for parameter in body.iter().chain(added) {
            let found = self
                .keywords
                .resolve(parameter, Kind::Rd, KEYWORDS, &mut self.values);
            let Some(key) = found else {
                has_unknown = true;
                continue;
            };
            if key == "wd" && std::mem::replace(&mut workload_given, true) {
                let message =
                    format!("rd={name}: the 'wd=' parameter may be specified only once per RD");
                let hint =
                    "name several in one list, `wd=(a,b)`; workloads are defined before all `rd=`";
                self.values.error(parameter.at, message, hint);
                continue;
            }
            match is_loop_key(key) {
                Some(loop_key) => self.add_loop(loop_key, parameter, &mut rd),
                None => self.rd_value(key, parameter, &mut rd),
            }
        }
        // The keyword that is not known may have been that of the rate.
        if has_unknown && rd.rates.is_empty() && rd.fwd_rates.is_empty() {
            if rd.fwds.is_empty() && rd.fsds.is_empty() {
                rd.rates = vec![Rate::Max];
            } else {
                rd.fwd_rates = vec![Rate::Max];
            }
        }
        if name == "default" {
            self.defaults.rd = rd;
            return;
        }
        if rd.fwds.is_empty() && !rd.fsds.is_empty() {
            rd.fwds = self.default_fwd(at);
        }
        if self.built.rds.len() == RDS_MAX {
            self.values.error(
                at,
                format!("over {RDS_MAX} RDs are defined"),
                "define fewer",
            );
        }
        if self.built.rds.len() <= RDS_MAX {
            self.built.rds.push(rd);
        }
    }

    /// What an RD with FSDs and no FWD does: `fwd=default`, which becomes an FWD of that name.
    fn default_fwd(&mut self, at: At) -> Vec<Name> {
        let text = "default".to_owned();
        if self.built.fwds.iter().all(|fwd| fwd.name != text) {
            self.built.fwds.push(Fwd {
                name: text.clone(),
                ..self.defaults.fwd.clone()
            });
        }
        vec![Name { text, at }]
    }

    fn rd_value(&mut self, key: &str, parameter: &Parameter, rd: &mut Rd) {
        let words = || parameter.values.iter().map(|word| word.text.clone());
        match key {
            "wd" => rd.wds = self.values.names(parameter),
            "sd" => rd.sds = self.values.names(parameter),
            "fwd" => rd.fwds = self.values.names(parameter),
            "fsd" => rd.fsds = self.values.names(parameter),
            "hd" => {
                rd.hosts = self.values.names(parameter);
                self.check_host_names(&rd.hosts, &format!("rd={}", rd.name));
            }
            "iorate" => rd.rates = self.rates_with_max(parameter),
            "fwdrate" => rd.fwd_rates = self.rates(parameter),
            "curve" => self.curve(parameter, rd),
            "stopcurve" => {
                rd.stopcurve = self
                    .values
                    .number(parameter, Unit::Size)
                    .filter(|time| *time > 0.0);
            }
            "elapsed" => rd.elapsed = self.seconds(parameter, 1).unwrap_or(rd.elapsed),
            "interval" => rd.interval = self.interval(parameter).unwrap_or(rd.interval),
            "warmup" => rd.warmup = self.seconds(parameter, 0).unwrap_or(rd.warmup),
            "pause" => rd.pause = self.seconds(parameter, 0).unwrap_or(rd.pause),
            "maxdata" => rd.maxdata.both = self.amount(parameter),
            "maxdataread" => rd.maxdata.read = self.amount(parameter),
            "maxdatawritten" | "maxdatawrite" => rd.maxdata.written = self.amount(parameter),
            "distribution" => (rd.gaps, rd.varies) = self.gaps(parameter),
            "openflags" => rd.openflags = Some(self.values.openflags(parameter)),
            "startcmd" | "start_cmd" => rd.startcmd = words().collect(),
            "endcmd" | "end_cmd" => rd.endcmd = words().collect(),
            "format" => {
                if rd.name == "default" {
                    self.refuse(
                        parameter,
                        "not possible in `rd=default`",
                        "write it in each `rd=`",
                    );
                } else {
                    let words = parameter.values.iter();
                    let lower = words.map(|word| Name {
                        text: word.text.to_ascii_lowercase(),
                        at: word.at,
                    });
                    rd.format = lower.collect();
                }
            }
            "operations" | "operation" => {
                rd.operations = self.operations(parameter);
            }
            "mount" => self.no_effect(parameter, "file systems are mounted by whoever runs it"),
            _ => self.refuse(
                parameter,
                "traces of Swat are not read",
                "use `fathom fio` with `--read_iolog=`",
            ),
        }
    }

    fn curve(&mut self, parameter: &Parameter, rd: &mut Rd) {
        let Some(points) = self.values.numbers(parameter, Unit::Size) else {
            return;
        };
        let points = points.into_iter().map(f64::abs).map(whole_percent);
        let points: Vec<f64> = points.collect();
        let is_point = |point: &f64| *point > 0.0 && *point <= 10_000.0;
        if points.iter().all(is_point) {
            rd.curve = points;
            return;
        }
        let message = format!(
            "`curve={}` has points that are no percentages",
            shown(parameter)
        );
        self.values
            .error(parameter.at, message, "give percentages above 0");
    }

    fn seconds(&mut self, parameter: &Parameter, least: u64) -> Option<u64> {
        let seconds = self.values.count(parameter, Unit::Time, least)?;
        if seconds <= SECONDS_MAX {
            return Some(seconds);
        }
        let message = format!("`{}={}` is too long", parameter.key, shown(parameter));
        self.values
            .error(parameter.at, message, "give at most ten years");
        None
    }

    /// Whole seconds; 0 stands for half of `elapsed=`, as in Vdbench, which drops what is behind the point.
    fn interval(&mut self, parameter: &Parameter) -> Option<u64> {
        let seconds = self.values.number(parameter, Unit::Time)?;
        if !(0.0..1.0).contains(&seconds) {
            return self.seconds(parameter, 1);
        }
        let message = format!(
            "`interval={}` is taken as half of `elapsed=`, and 60 s at most, as Vdbench does",
            shown(parameter)
        );
        let hint = "give whole seconds";
        self.values.warning(parameter.at, message, hint);
        Some(0)
    }

    fn amount(&mut self, parameter: &Parameter) -> Option<f64> {
        let amount = self.values.number(parameter, Unit::Size)?;
        if amount >= 0.0 {
            return Some(amount).filter(|amount| *amount > 0.0);
        }
        let message = format!("`{}={}`: not possible", parameter.key, shown(parameter));
        let hint = "give bytes, or a number below 100 for so many times the size of all SDs";
        self.values.error(parameter.at, message, hint);
        None
    }

    fn gaps(&mut self, parameter: &Parameter) -> (Gaps, Varies) {
        let (mut gaps, mut varies) = (Gaps::Exponential, Varies::No);
        for word in &parameter.values {
            gaps = match word.text.as_bytes().first().map(u8::to_ascii_lowercase) {
                Some(b'e') => Gaps::Exponential,
                Some(b'd') => Gaps::Deterministic,
                Some(b'u') => Gaps::Uniform,
                Some(b'v') => {
                    varies = varies.max(Varies::Steps);
                    gaps
                }
                Some(b's') => {
                    varies = Varies::Spikes;
                    gaps
                }
                _ => {
                    let message = format!("`distribution={}` is not done here", shown(parameter));
                    let hint = "write `exponential`, `uniform` or `deterministic`, with `variable` or `spike` where the rate changes";
                    self.values.error(word.at, message, hint);
                    gaps
                }
            };
        }
        (gaps, varies)
    }

    /// Rates of SDs, among whose numbers `max` may stand, as in `(1000,2000,max)`.
    fn rates_with_max(&mut self, parameter: &Parameter) -> Vec<Rate> {
        let is_max = |word: &Word| word.text.eq_ignore_ascii_case("max");
        if parameter.values.len() < 2 || !parameter.values.iter().any(is_max) {
            return self.rates(parameter);
        }
        let mut rates = Vec::new();
        for (position, words) in parameter.values.split(is_max).enumerate() {
            rates.extend((position > 0).then_some(Rate::Max));
            if !words.is_empty() {
                rates.extend(self.rates(&Parameter {
                    values: words.to_vec(),
                    ..parameter.clone()
                }));
            }
        }
        rates
    }

    /// `max`, `curve`, numbers, ranges and percentages of the last rate.
    fn rates(&mut self, parameter: &Parameter) -> Vec<Rate> {
        let word_of = |word: &Word| match word.text.to_ascii_lowercase().as_str() {
            "max" => Some(Rate::Max),
            "curve" => Some(Rate::Curve),
            _ => None,
        };
        if let [word] = parameter.values.as_slice()
            && let Some(rate) = word_of(word)
        {
            return vec![rate];
        }
        // Stands for a rate that is wrong: that none is given would be said beside it otherwise.
        let wrong = vec![Rate::Max];
        let negative = |word: &&Word| word.text.starts_with('-') && !word.text.ends_with('%');
        if let Some(word) = parameter.values.iter().find(negative) {
            let message = format!("`{}={}`: a rate is not below 0", parameter.key, word.text);
            let hint = "give I/Os a second, `max`, `curve`, or a percentage of the last rate such as `50%`";
            self.values.error(word.at, message, hint);
            return wrong;
        }
        let Some(numbers) = self.values.numbers(parameter, Unit::Size) else {
            return wrong;
        };
        let mut rates = Vec::new();
        for number in numbers {
            // A rate of 0 may stand among those of `distribution=variable`, which is known later.
            let is_zero = number == 0.0 && parameter.values.len() < 2;
            if is_zero || !(-10_000.0..=RATE_MAX).contains(&number) {
                // Percentages are kept as numbers below 0.
                let told = if number < 0.0 {
                    format!("{}%", -number)
                } else {
                    number.to_string()
                };
                let message = format!(
                    "`{}={}`: {told} is no rate",
                    parameter.key,
                    shown(parameter)
                );
                self.values.error(
                    parameter.at,
                    message,
                    "give I/Os a second, `max` or `curve`",
                );
                return wrong;
            }
            rates.push(if number < 0.0 {
                Rate::OfLast(whole_percent(-number))
            } else {
                Rate::Number(number)
            });
        }
        rates
    }

    fn add_loop(&mut self, key: LoopKey, parameter: &Parameter, rd: &mut Rd) {
        let values: Vec<LoopValue> = match key {
            LoopKey::Xfersize => self.xfersizes(parameter),
            LoopKey::Seekpct => self.seeks(parameter),
            LoopKey::Operations => {
                let words = self.operations(parameter).into_iter();
                words.map(LoopValue::Word).collect()
            }
            _ => {
                let mut numbers = self
                    .values
                    .numbers(parameter, Unit::Size)
                    .unwrap_or_default();
                // The percentage that is left, to three digits of the factor.
                if parameter.key.contains("compre") {
                    let factor = |percent: f64| (100_000.0 / percent).round() / 1000.0;
                    numbers = numbers.into_iter().map(factor).collect();
                }
                if !is_fractional(key) {
                    let whole = |number: f64| self.values.whole_part(parameter, number);
                    numbers = numbers.into_iter().map(whole).collect();
                }
                self.check_loop(key, parameter, &numbers);
                numbers.into_iter().map(LoopValue::Number).collect()
            }
        };
        if values.is_empty() {
            return;
        }
        let entry = Loop {
            key,
            values,
            at: parameter.at,
        };
        // The last word on a loop says its values and its place, also where the first was in `rd=default`.
        rd.loops.retain(|other| other.key != key);
        rd.loops.push(entry);
    }

    fn check_loop(&mut self, key: LoopKey, parameter: &Parameter, numbers: &[f64]) {
        let (least, most, fractions) = match key {
            LoopKey::Rdpct | LoopKey::Rhpct | LoopKey::Whpct | LoopKey::Seekpct => {
                (0.0, 100.0, true)
            }
            LoopKey::Compratio => (1.0, 100.0, true),
            LoopKey::Threads => (0.0, f64::from(fathom_workload::DEPTH_MAX), false),
            LoopKey::Depth | LoopKey::Width => (1.0, 1e6, false),
            LoopKey::Files | LoopKey::Sizes | LoopKey::Wss | LoopKey::Totalsize => {
                (1.0, 9e15, false)
            }
            _ => (0.0, 9e15, false),
        };
        let is_share = |number: &f64| {
            matches!(key, LoopKey::Wss | LoopKey::Totalsize) && (-100.0..0.0).contains(number)
        };
        let is_whole = |number: &f64| fractions || number.fract() == 0.0;
        let is_good =
            |number: &f64| (least..=most).contains(number) && is_whole(number) || is_share(number);
        if let Some(bad) = numbers.iter().find(|number| !is_good(number)) {
            let text = shown(parameter);
            // Percentages are kept as numbers below 0.
            let bad = if text.contains('%') && *bad < 0.0 {
                format!("{}%", -bad)
            } else {
                bad.to_string()
            };
            let message = format!("`{}={text}`: {bad} is not possible", parameter.key);
            self.values
                .error(parameter.at, message, format!("give {least} to {most}"));
        }
        if key == LoopKey::Threads && numbers.contains(&0.0) {
            let message = "Setting some threadcounts to a minimum of 1";
            self.values
                .warning(parameter.at, message, "give at least 1 thread");
        }
    }

    /// Each value of the list is a transfer size of its own.
    fn xfersizes(&mut self, parameter: &Parameter) -> Vec<LoopValue> {
        let numbers = self
            .values
            .numbers(parameter, Unit::Size)
            .unwrap_or_default();
        let sizes = numbers.into_iter().filter_map(|number| {
            let word = Word {
                text: number.to_string(),
                quoted: false,
                at: parameter
                    .values
                    .first()
                    .map_or(parameter.at, |word| word.at),
            };
            let one = Parameter {
                values: vec![word],
                ..parameter.clone()
            };
            // Runs on file systems take transfers of any one size; on SDs Vdbench refuses these here.
            let size = if self.built.wds.is_empty() {
                self.any_xfersize(&one)
            } else {
                self.xfersize(&one)
            };
            size.map(LoopValue::Xfersize)
        });
        sizes.collect()
    }

    /// Numbers, and beyond Vdbench, words.
    fn seeks(&mut self, parameter: &Parameter) -> Vec<LoopValue> {
        let mut all = Vec::new();
        let is_crowd = |word: &Word| word.text.to_ascii_lowercase().starts_with('p');
        if parameter.values.len() == 2 && parameter.values.first().is_some_and(is_crowd) {
            return self
                .seek(parameter)
                .map(LoopValue::Seek)
                .into_iter()
                .collect();
        }
        let is_range = |word: &Word| looks_numeric(&word.text) && word.text.rfind('-') > Some(0);
        if parameter.values.iter().any(is_range) {
            let numbers = self.values.numbers(parameter, Unit::Size);
            let numbers = numbers.unwrap_or_default();
            self.check_loop(LoopKey::Seekpct, parameter, &numbers);
            let seeks = numbers.into_iter().map(Seek::Percent);
            return seeks.map(LoopValue::Seek).collect();
        }
        for word in &parameter.values {
            let one = Parameter {
                values: vec![word.clone()],
                ..parameter.clone()
            };
            all.extend(self.seek(&one).map(LoopValue::Seek));
        }
        all
    }
}
