//! Workloads on storage.

use super::Builder;
use crate::vdbench::lexer::Parameter;
use crate::vdbench::outline::Kind;
use crate::vdbench::sections::{Seek, Wd, Xfersize};
use crate::vdbench::source::At;
use crate::vdbench::values::{Unit, looks_numeric, parse_number, shown};

pub(super) const KEYWORDS: &[&str] = &[
    "sd",
    "hd",
    "xfersize",
    "skew",
    "rdpct",
    "readpct",
    "wrpct",
    "writepct",
    "rhpct",
    "whpct",
    "seekpct",
    "stride",
    "range",
    "hotband",
    "threads",
    "iorate",
    "priority",
    "streams",
    "openflags",
    "user",
];

/// Largest transfer size, which the engine has buffers for.
pub(super) const XFERSIZE_MAX: u64 = 1 << 30;
/// Midpoint of `seekpct=poisson` where none is given.
const CROWD_MIDPOINT: f64 = 3.0;
/// Most sizes of a list.
const SIZES_MAX: usize = 1024;

/// A WD without a name.
pub(super) fn no_wd() -> Wd {
    Wd {
        name: String::new(),
        sds: Vec::new(),
        hosts: Vec::new(),
        xfersize: Xfersize::One(4096),
        rdpct: 100.0,
        seek: Seek::Percent(100.0),
        skew: None,
        iorate: None,
        priority: None,
        rhpct: 0.0,
        whpct: 0.0,
        range: None,
        hotband: None,
        stride: None,
        streams: 0,
        threads: None,
        openflags: None,
        at: At::default(),
    }
}

impl Builder<'_> {
    pub(super) fn wd(&mut self, name: &str, at: At, body: &[Parameter]) {
        let inherited = &self.defaults.wd;
        let sizes = match &inherited.xfersize {
            Xfersize::Mix(sizes) => sizes.len(),
            Xfersize::One(_) | Xfersize::Range { .. } => 0,
        };
        let lists = inherited.sds.len() + inherited.hosts.len() + sizes;
        if !self.values.complaints.has_room_for(lists) {
            return;
        }
        let mut wd = Wd {
            name: name.to_owned(),
            at,
            ..self.defaults.wd.clone()
        };
        for parameter in body {
            let found = self
                .keywords
                .resolve(parameter, Kind::Wd, KEYWORDS, &mut self.values);
            if let Some(key) = found {
                self.wd_value(key, parameter, &mut wd);
            }
        }
        if name == "default" {
            self.defaults.wd = wd;
            return;
        }
        if wd.skew.is_some() && wd.iorate.is_some() {
            let message = format!("wd={name}: `skew=` and `iorate=` exclude each other");
            self.values.error(at, message, "leave one of them");
            (wd.skew, wd.iorate) = (None, None);
        }
        self.built.wds.push(wd);
    }

    fn wd_value(&mut self, key: &str, parameter: &Parameter, wd: &mut Wd) {
        match key {
            "sd" => wd.sds = self.values.names(parameter),
            "hd" => {
                wd.hosts = self.values.names(parameter);
                self.check_host_names(&wd.hosts, &format!("wd={}", wd.name));
            }
            "xfersize" => {
                wd.xfersize = self.any_xfersize(parameter).unwrap_or(wd.xfersize.clone());
            }
            "skew" => wd.skew = self.values.percent(parameter).filter(|skew| *skew > 0.0),
            "rdpct" | "readpct" => wd.rdpct = self.values.percent(parameter).unwrap_or(wd.rdpct),
            "wrpct" | "writepct" => {
                let writes = self.values.percent(parameter);
                wd.rdpct = writes.map_or(wd.rdpct, |writes| 100.0 - writes);
            }
            "rhpct" => wd.rhpct = self.values.percent(parameter).unwrap_or(wd.rhpct),
            "whpct" => wd.whpct = self.values.percent(parameter).unwrap_or(wd.whpct),
            "seekpct" => wd.seek = self.seek(parameter).unwrap_or(wd.seek),
            "stride" => wd.stride = self.stride(parameter),
            "range" => wd.range = self.range(parameter),
            "hotband" => wd.hotband = self.range(parameter),
            "threads" if !self.built.general.concatenatesds => {
                let message = "`threads=` of a WD means nothing without `concatenatesds=yes`, and Vdbench refuses it";
                let hint = "write it in the `sd=`, where each SD has its threads, or in the `rd=`";
                self.values.error(parameter.at, message, hint);
            }
            "threads" => wd.threads = self.threads(parameter),
            "iorate" => wd.iorate = self.values.count(parameter, Unit::Size, 1),
            "priority" => {
                wd.priority = self
                    .values
                    .count(parameter, Unit::Size, 1)
                    .map(|number| number as u32);
            }
            "streams" => wd.streams = self.streams(parameter).unwrap_or(wd.streams),
            "openflags" => wd.openflags = Some(self.values.openflags(parameter)),
            _ => self.refuse(
                parameter,
                "Java classes of users cannot be run",
                "remove it",
            ),
        }
    }

    /// How many streams; a size behind that counts for nothing.
    fn streams(&mut self, parameter: &Parameter) -> Option<u32> {
        let mut number = parameter.clone();
        if parameter.values.len() == 2 {
            let message = format!(
                "`streams={}`: Vdbench takes the number alone, and makes equal parts of the SD",
                shown(parameter)
            );
            let hint = "write `streams=n`, and choose the part that is worked on with `range=`";
            self.values.warning(parameter.at, message, hint);
            number.values.truncate(1);
        }
        let streams = self.values.count(&number, Unit::Size, 0).unwrap_or(0);
        if streams > 10_000 {
            let message = "over 10,000 streams are not possible";
            self.refuse(parameter, message, "give fewer");
            return None;
        }
        Some(streams as u32)
    }

    /// Every label or wildcard must mean a host.
    pub(super) fn check_host_names(&mut self, names: &[crate::vdbench::Name], what: &str) {
        for name in names {
            if !self.knows_host(&name.text) {
                let message = format!("Could not find host={} for {what}", name.text);
                self.values
                    .error(name.at, message, "define it with `hd=` before all `sd=`");
            }
        }
    }

    /// One size, pairs of size and share, or least, most and step.
    pub(super) fn xfersize(&mut self, parameter: &Parameter) -> Option<Xfersize> {
        let numbers = self.values.numbers(parameter, Unit::Size)?;
        let complain = |builder: &mut Self, message: String, hint: &str| {
            let text = format!("`{}={}`: {message}", parameter.key, shown(parameter));
            builder.values.error(parameter.at, text, hint);
            None
        };
        let is_size = |size: f64| {
            size.fract() == 0.0
                && size > 0.0
                && size <= XFERSIZE_MAX as f64
                && (size as u64).is_multiple_of(512)
        };
        let bad_size = "a transfer size is no multiple of 512 up to 1g";
        match numbers.as_slice() {
            [one] if is_size(*one) => Some(Xfersize::One(*one as u64)),
            [_] => {
                let hint = "give a multiple of 512; one size of any length may stand in a `wd=` or `fwd=`, without `forxfersize=`";
                complain(self, bad_size.to_owned(), hint)
            }
            [least, most, step] => {
                let [least, most, align] = [*least, *most, *step];
                if !(is_size(least) && is_size(most) && is_size(align) && least <= most) {
                    return complain(
                        self,
                        bad_size.to_owned(),
                        "write (least,most,step), each a multiple of 512",
                    );
                }
                Some(Xfersize::Range {
                    least: least as u64,
                    most: most as u64,
                    align: align as u64,
                })
            }
            pairs if pairs.len() % 2 == 0 && pairs.len() <= 2 * SIZES_MAX => {
                let pairs: Vec<(f64, f64)> = pairs
                    .chunks(2)
                    .map(|pair| (pair[0], pair[1].abs()))
                    .collect();
                if !pairs.iter().all(|(size, _)| is_size(*size)) {
                    return complain(
                        self,
                        bad_size.to_owned(),
                        "write (size,percent,size,percent,…)",
                    );
                }
                let sum: f64 = pairs.iter().map(|(_, share)| share).sum();
                if (sum - 100.0).abs() > 0.01 {
                    let message =
                        format!("Xfersize distribution percentages must total 100 and total {sum}");
                    return complain(self, message, "write (size,percent,size,percent,…)");
                }
                let sizes = pairs.into_iter().map(|(size, share)| (size as u64, share));
                Some(Xfersize::Mix(sizes.collect()))
            }
            _ => complain(
                self,
                "an odd number of values".to_owned(),
                "write one size, (size,percent,…) or (least,most,step)",
            ),
        }
    }

    /// `seekpct=`: a percentage or a word; raw, so that no rule of lists holds.
    pub(super) fn seek(&mut self, parameter: &Parameter) -> Option<Seek> {
        let word = parameter.values.first()?;
        let text = word.text.to_ascii_lowercase();
        let is_sequential = ["s", "se", "seq"].contains(&text.as_str())
            || (text.len() > 3 && "sequential".starts_with(&text));
        let seek = match text.as_str() {
            "eof" | "-1" => Some(Seek::Eof),
            "seqnz" | "sequentialnz" => Some(Seek::SequentialNonZero),
            _ if is_sequential => Some(Seek::Percent(0.0)),
            _ if text.starts_with('r') && "random".starts_with(&text) => Some(Seek::Percent(100.0)),
            _ if text.starts_with('p') && "poisson".starts_with(&text) => {
                return self.crowd(parameter);
            }
            _ if looks_numeric(&text) => {
                let number = parse_number(&text, Unit::Size).map(f64::abs);
                number.filter(|number| *number <= 100.0).map(Seek::Percent)
            }
            _ => None,
        };
        if seek.is_none() {
            let message = format!("`seekpct={}` is not known", shown(parameter));
            let hint = "write 0 to 100, `random`, `sequential`, `seqnz`, `eof` or `(poisson,3)`";
            self.values.error(word.at, message, hint);
        } else if parameter.values.len() > 1 {
            let message = format!(
                "For_loop(): `seekpct={}`: the list of NUMERIC values is empty.",
                shown(parameter)
            );
            self.values
                .error(parameter.at, message, "write `forseekpct=(…)` in the `rd=`");
            return None;
        }
        seek
    }

    /// `poisson` and `(poisson,midpoint)`.
    fn crowd(&mut self, parameter: &Parameter) -> Option<Seek> {
        let midpoint = match parameter.values.as_slice() {
            [_] => Some(CROWD_MIDPOINT),
            [_, midpoint] => midpoint.text.parse().ok(),
            _ => None,
        };
        let midpoint = midpoint.filter(|midpoint: &f64| *midpoint > 0.0 && midpoint.is_finite());
        if midpoint.is_none() {
            let message = format!("`seekpct={}` is no crowd", shown(parameter));
            let hint = "write `(poisson,3)`: the mean distance from the start is the part that is used, divided by 3";
            self.values.error(parameter.at, message, hint);
        }
        midpoint.map(Seek::Poisson)
    }

    fn stride(&mut self, parameter: &Parameter) -> Option<(u64, u64)> {
        let numbers = self.values.numbers(parameter, Unit::Size)?;
        let bytes: Vec<u64> = numbers.iter().map(|number| *number as u64).collect();
        match bytes.as_slice() {
            [least, most] if *least > 0 && least == most && least.is_multiple_of(512) => {
                Some((*least, *most))
            }
            [least, most] if least != most => {
                self.refuse(
                    parameter,
                    "strides of random length are not made",
                    "give the same number twice: `stride=(1m,1m)`",
                );
                None
            }
            _ => {
                let message = format!("`stride={}` is not possible", shown(parameter));
                self.values.error(
                    parameter.at,
                    message,
                    "write `stride=(bytes,bytes)`, multiples of 512",
                );
                None
            }
        }
    }
}
