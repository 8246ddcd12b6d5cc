//! Parameters before all sections.

use std::num::NonZeroU64;

use super::Builder;
use crate::vdbench::lexer::Parameter;
use crate::vdbench::options::parse_repeat;
use crate::vdbench::outline::Kind;
use crate::vdbench::sections::FormatSds;
use crate::vdbench::validation::{Journaling, Validation};
use crate::vdbench::values::{Unit, shown};

pub(super) const KEYWORDS: &[&str] = &[
    "compratio",
    "compressionratio",
    "compressionseed",
    "dedupratio",
    "dedupunit",
    "dedupsets",
    "deduphotsets",
    "dedupflipflop",
    "dedupseed",
    "pattern",
    "pattern_buffer",
    "data_errors",
    "validate",
    "journal",
    "histogram",
    "report",
    "report_run_totals",
    "startcmd",
    "start_cmd",
    "endcmd",
    "end_cmd",
    "formatsds",
    "formatxfersize",
    "concatenatesds",
    "messagescan",
    "monitor",
    "loop",
    "port",
    "create_anchors",
    "abort_failed_skew",
    "auxreport",
    "showlba",
    "debug",
    "misc",
    "ios_per_jvm",
    "fwd_thread_adjust",
    "timeout",
    "psrset",
    "swat",
    "patterns",
    "include",
];

/// Words of `report=`.
const REPORTS: &[&str] = &[
    "slave_detail",
    "host_detail",
    "no_sd_detail",
    "no_fsd_detail",
];

/// Keywords that are for what Fathom does otherwise or not at all, and why nothing is lost.
const NO_EFFECT: &[(&str, &str)] = &[
    ("messagescan", "the system's message log is not read"),
    ("port", "no other host connects to this one"),
    ("ios_per_jvm", "there are no Java processes"),
    ("psrset", "there are no Java processes"),
    ("debug", "it is for debugging Vdbench"),
    ("misc", "it is for debugging Vdbench"),
    ("timeout", "an I/O that does not end is waited for"),
    (
        "fwd_thread_adjust",
        "threads are shared out as they are given",
    ),
    (
        "abort_failed_skew",
        "a skew that is missed by over 1 % is told at the run's end, and nothing is aborted",
    ),
    ("compressionseed", "the workload's seed is used"),
    ("dedupseed", "the workload's seed is used"),
];

/// Keywords that would change what is measured.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "pattern_buffer",
        "patterns of buffers are not read",
        "use `pattern=FILE`",
    ),
    (
        "patterns",
        "patterns of buffers are not read",
        "use `pattern=FILE`",
    ),
    (
        "deduphotsets",
        "sets of hot duplicates are not made",
        "use `dedupratio=` and `dedupsets=` alone",
    ),
    (
        "dedupflipflop",
        "duplicates do not change from pass to pass",
        "use `dedupratio=` and `dedupsets=` alone",
    ),
    (
        "auxreport",
        "auxiliary reports run code of their own",
        "remove it",
    ),
    (
        "showlba",
        "traces for Vdbench's own viewer are not written",
        "use `fathom fio` with `--write_iolog=`",
    ),
    ("swat", "Swat is gone, in Vdbench 5.04.07 too", "remove it"),
];

/// Whether a keyword that is refused says that what it is about is not to be done.
fn is_off(key: &str, parameter: &Parameter) -> bool {
    let mut words = parameter
        .values
        .iter()
        .map(|word| word.text.to_ascii_lowercase());
    match key {
        // Vdbench takes `no` anywhere in the list.
        "validate" => words.any(|word| !word.is_empty() && "no".starts_with(word.as_str())),
        "journal" => words.any(|word| word == "no"),
        "showlba" => words.next().is_some_and(|word| !word.starts_with('y')),
        _ => false,
    }
}

impl Builder<'_> {
    pub(super) fn general(&mut self, body: &[Parameter]) {
        for parameter in body {
            let found = self
                .keywords
                .resolve(parameter, Kind::General, KEYWORDS, &mut self.values);
            let Some(key) = found.filter(|key| !is_off(key, parameter)) else {
                continue;
            };
            if let Some((_, why)) = NO_EFFECT.iter().find(|(name, _)| *name == key) {
                self.no_effect(parameter, why);
            } else if let Some((_, what, hint)) = REFUSED.iter().find(|(name, ..)| *name == key) {
                self.refuse(parameter, what, hint);
            } else {
                self.general_value(key, parameter);
            }
        }
    }

    fn general_value(&mut self, key: &str, parameter: &Parameter) {
        let words = || parameter.values.iter().map(|word| word.text.clone());
        match key {
            "compratio" | "compressionratio" => {
                self.built.general.compratio = self.ratio(parameter);
            }
            "dedupratio" => self.built.general.dedupratio = self.ratio(parameter),
            "dedupunit" => {
                self.built.general.dedupunit = self.values.count(parameter, Unit::Size, 512);
            }
            "dedupsets" => self.built.general.dedupsets = self.values.text(parameter),
            "pattern" => {
                self.built.general.pattern = self.values.text(parameter);
                self.built.general.pattern_at = parameter.at;
            }
            "data_errors" => self.data_errors(parameter),
            "validate" => self.validation(parameter),
            "journal" => self.journal(parameter),
            "histogram" => self.histogram(parameter),
            "report" => self.report(parameter),
            "report_run_totals" => {
                if self.values.truth(parameter) == Some(true) {
                    let why = "there is no `totals_optional.html`; `totals.html` has each run, and `fathom.json` what all of them did";
                    self.no_effect(parameter, why);
                }
            }
            "startcmd" | "start_cmd" | "endcmd" | "end_cmd" => {
                let general = &mut self.built.general;
                general.commands_at.get_or_insert(parameter.at);
                if key.starts_with("start") {
                    general.startcmd.extend(words());
                } else {
                    general.endcmd.extend(words());
                }
            }
            "formatsds" => {
                self.built.general.formatsds = match self.values.truth(parameter) {
                    Some(true) => FormatSds::Always,
                    Some(false) => FormatSds::Never,
                    None => FormatSds::WhereShort,
                };
            }
            "formatxfersize" => {
                self.built.general.formatxfersize = self.values.count(parameter, Unit::Size, 512);
            }
            "concatenatesds" => {
                self.built.general.concatenatesds =
                    self.values.truth(parameter).unwrap_or_default();
            }
            "monitor" => self.built.general.monitor = self.values.text(parameter),
            "loop" => self.repeat(parameter),
            "create_anchors" => {
                self.built.general.create_anchors =
                    self.values.truth(parameter).unwrap_or_default();
            }
            other => self.refuse(
                parameter,
                &format!("`{other}` is not done here"),
                "remove it",
            ),
        }
    }

    fn ratio(&mut self, parameter: &Parameter) -> Option<f64> {
        let ratio = self.values.number(parameter, Unit::Size)?;
        if (1.0..=100.0).contains(&ratio) {
            return Some(ratio);
        }
        let message = format!("`{}={}` is no ratio", parameter.key, shown(parameter));
        self.values.error(
            parameter.at,
            message,
            "give 1 to 100: 2 is two bytes for one",
        );
        None
    }

    /// A number, or `stop`, the first word of which counts in Vdbench. Any other word is a command there, which is run once,
    /// as all ends at the first error.
    fn data_errors(&mut self, parameter: &Parameter) {
        let word = parameter.values.first().map(|word| word.text.as_str());
        let count = match word {
            Some(word) if word.starts_with("stop") => Some(1),
            // A command beside a number is run by nobody: Vdbench refuses lists of both.
            Some(word) if word.starts_with(|first: char| first.is_ascii_digit()) => {
                self.values.count(parameter, Unit::Size, 0)
            }
            _ => {
                return self.refuse(
                    parameter,
                    "commands on errors are not run, and no device is left out after one",
                    "give a number of errors, or `stop` to end at the first, and run the command behind `fathom vdbench`",
                );
            }
        };
        if let Some(count) = count {
            self.built.general.data_errors = NonZeroU64::new(count).or(Some(NonZeroU64::MIN));
        }
    }

    /// `validate=`: its words may be as short as one likes, and any of them turns it on.
    fn validation(&mut self, parameter: &Parameter) {
        let mut asked = Validation {
            at: Some(parameter.at),
            ..Validation::YES
        };
        for word in &parameter.values {
            let is = |name: &str| !word.text.is_empty() && name.starts_with(&word.text);
            if is("read_after_write") {
                asked.read_after_write = true;
            } else if is("no_preread") {
                asked.pre_read = false;
            } else if word.text == "time" {
                asked.time = true;
            } else if is("ignore_zero_reads") || is("continue_old_map") {
                let message = format!("`validate={}` is not done here", word.text);
                let hint = "remove it: a block that reads as zeroes after it was written is wrong";
                self.values.error(word.at, message, hint);
            } else if !is("yes") {
                let message = format!("`validate={}` is no way of data validation", word.text);
                let hint = "write yes, read_after_write, no_preread, time, or no";
                self.values.error(word.at, message, hint);
            }
        }
        self.ask_validation(asked);
    }

    /// `journal=`, which implies `validate=yes`: its words may be as short as one likes, but for two of them.
    fn journal(&mut self, parameter: &Parameter) {
        let mut journal = Journaling::YES;
        for word in &parameter.values {
            let is = |name: &str| !word.text.is_empty() && name.starts_with(&word.text);
            if is("recover") {
                journal.recovers = true;
            } else if is("noflush") {
                journal.flushes = false;
            } else if word.text == "only" {
                (journal.recovers, journal.only) = (true, true);
            } else if is("skip_read_all") {
                journal.reads_all = false;
            } else if is("ignore_pending") {
                journal.ignores_pending = true;
            } else if word.text.starts_with("max=") {
                let message = "`max=` of `journal=` changes nothing here: a journal that has grown by 64 MiB is made anew, without \
                               the changes it had";
                self.values
                    .warning(word.at, message, "leave it or remove it");
            } else if word.text == "maponly" {
                let message = "`journal=maponly` is not done here";
                let hint = "write `noflush`: changes are written, and nothing waits for them";
                self.values.error(word.at, message, hint);
            } else if !is("yes") {
                let message = format!("`journal={}` is nothing that a journal can do", word.text);
                let hint =
                    "write yes, recover, only, noflush, skip_read_all, ignore_pending, or no";
                self.values.error(word.at, message, hint);
            }
        }
        self.ask_validation(Validation {
            at: Some(parameter.at),
            journal: Some(journal),
            ..Validation::YES
        });
    }

    /// `validate=` and `journal=` may both be given.
    fn ask_validation(&mut self, asked: Validation) {
        let general = &mut self.built.general;
        let before = general.validation.take();
        general.validation = Some(before.map_or(asked, |before| before.with(asked)));
    }

    /// `report=`: its words may be as short as one likes, and the first that begins so is meant.
    fn report(&mut self, parameter: &Parameter) {
        for word in &parameter.values {
            let mut known = REPORTS.iter();
            if let Some(name) = known.find(|name| name.starts_with(&word.text)) {
                self.built.general.report.push((*name).to_owned());
            } else {
                let message = format!("`report={}` names no report", word.text);
                let hint = format!("write some of {}", REPORTS.join(", "));
                self.values.error(word.at, message, hint);
            }
        }
    }

    fn histogram(&mut self, parameter: &Parameter) {
        let times = parameter
            .values
            .iter()
            .filter(|word| word.text != "default");
        let mut buckets = Vec::new();
        for word in times {
            let lower = word.text.to_ascii_lowercase();
            let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let factor = match &lower[digits.len()..] {
                "" | "u" | "us" => 1,
                "m" | "ms" => 1000,
                "s" => 1_000_000,
                _ => 0,
            };
            match digits
                .parse::<u64>()
                .ok()
                .and_then(|number| number.checked_mul(factor))
            {
                Some(micros) if micros > 0 => buckets.push(micros),
                _ if lower == "max" => {}
                _ => {
                    let message = format!("`{}` is no end of a class of response times", word.text);
                    self.values.error(
                        word.at,
                        message,
                        "write µs as digits, or `5m` for ms, `1s` for seconds",
                    );
                }
            }
        }
        if buckets.len() > 64 {
            let message = "`histogram=` has more than 64 classes";
            self.values.error(parameter.at, message, "give fewer");
        }
        if !buckets.is_sorted_by(|before, after| before < after) {
            let message = "the classes of `histogram=` do not ascend";
            let hint = "write their ends from the shortest response time to the longest";
            self.values.error(parameter.at, message, hint);
        }
        self.built.general.histogram = buckets;
    }

    fn repeat(&mut self, parameter: &Parameter) {
        let Some(text) = self.values.text(parameter) else {
            return;
        };
        if let Some(repeat) = parse_repeat(&text) {
            self.built.general.repeat = Some(repeat);
        } else {
            let message = format!("`loop={text}` is neither a number nor a time");
            self.values
                .error(parameter.at, message, "write `loop=3`, or `loop=2h`");
        }
    }
}
