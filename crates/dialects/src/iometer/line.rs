//! The command line: Iometer's own switches, and ours for files that say only what I/O to do.

use std::str::FromStr;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, nearest};
use fathom_units::{Bytes, Nanos};

/// Most values of one option.
const VALUES_MAX: usize = 256;

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// `/c`: the file to read.
    pub config: Option<String>,
    /// `/r`: the file that results are added to.
    pub results: Option<String>,
    /// `--percentiles`: the file that percentiles are added to.
    pub percentiles: Option<String>,
    /// `--spec`: access specifications of every worker, in order, in place of those in the file.
    pub specs: Vec<String>,
    /// `--target`: targets of every worker, in place of those in the file.
    pub targets: Vec<String>,
    /// `--qd`: I/Os outstanding of each worker on each target.
    pub depth: Option<u32>,
    /// `--time`: how long each test is measured.
    pub time: Option<Nanos>,
    /// `--ramp-up`: how long each test runs before.
    pub ramp_up: Option<Nanos>,
    /// `--workers`: workers, where the file has none.
    pub workers: Option<u32>,
    /// `--size`: Maximum Disk Size.
    pub size: Option<Bytes>,
    /// `--manager`: the one manager whose workers run.
    pub manager: Option<String>,
    /// `/?`.
    pub help: bool,
}

/// Our options with a value.
const OURS: [&str; 10] = [
    "--spec",
    "--target",
    "--qd",
    "--time",
    "--ramp-up",
    "--workers",
    "--size",
    "--manager",
    "--percentiles",
    "--config",
];

/// Words being read.
struct Words<'a> {
    arguments: &'a [String],
    at: usize,
    diagnostics: Diagnostics,
}

/// Reads the words after the program's name.
pub(super) fn read(arguments: &[String]) -> (Options, Diagnostics) {
    let mut words = Words {
        arguments,
        at: 0,
        diagnostics: Diagnostics::default(),
    };
    let mut options = Options::default();
    while let Some(word) = arguments.get(words.at) {
        words.word(word, &mut options);
        words.at += 1;
    }
    (options, words.diagnostics)
}

impl Words<'_> {
    fn word(&mut self, word: &str, options: &mut Options) {
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "/c" | "-c" => set(&mut options.config, self.next_value(word)),
            "/r" | "-r" => set(&mut options.results, self.next_value(word)),
            // How long to wait for managers elsewhere, their port and their number: here they are this process.
            "/t" | "-t" | "/p" | "-p" | "/m" | "-m" => {
                self.next_value(word);
            }
            "/?" | "-?" | "-h" | "--help" => options.help = true,
            _ if word.starts_with("--") => self.ours(word, options),
            _ if word.starts_with('-') && word.len() > 1 => {
                let hint = "see `fathom iometer /?` for what there is";
                self.error(format!("`{word}` is no option"), hint);
            }
            _ if is_switch(word) => {
                let hint = format!(
                    "see `fathom iometer /?` for what there is; a file of that name is `/c {word}`"
                );
                self.error(format!("`{word}` is no option"), hint);
            }
            _ if options.config.is_none() => options.config = Some(word.to_owned()),
            _ => {
                let message = format!("`{word}` is one file too many");
                self.error(message, "name one .icf file");
            }
        }
    }

    fn ours(&mut self, word: &str, options: &mut Options) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        if !OURS.contains(&name) {
            let near = nearest(name, OURS);
            let hint = near.map_or_else(
                || format!("known are {}", OURS.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            self.error(format!("`{name}` is no option"), hint);
            return;
        }
        let Some(value) = value.or_else(|| self.next_value(name)) else {
            return;
        };
        match name {
            "--spec" => self.list(&mut options.specs, value),
            "--target" => self.list(&mut options.targets, value),
            "--qd" => options.depth = self.count(&value, fathom_workload::DEPTH_MAX),
            "--workers" => options.workers = self.count(&value, 4096),
            "--time" => options.time = self.time(&value),
            "--ramp-up" => options.ramp_up = self.time(&value),
            "--size" => options.size = self.size(&value),
            "--manager" => options.manager = Some(value),
            "--percentiles" => options.percentiles = Some(value),
            _ => options.config = Some(value),
        }
    }

    fn list(&mut self, list: &mut Vec<String>, value: String) {
        if list.len() < VALUES_MAX {
            list.push(value);
        } else {
            self.error(format!("more than {VALUES_MAX} values"), "give fewer");
        }
    }

    fn count(&mut self, text: &str, most: u32) -> Option<u32> {
        let found = u32::from_str(text).ok();
        let found = found.filter(|count| (1..=most).contains(count));
        if found.is_none() {
            let message = format!("`{text}` is no number from 1 to {most}");
            if text.bytes().all(|one| one.is_ascii_digit()) && !text.is_empty() {
                self.error(message, format!("give 1 to {most}"));
            } else {
                self.error(message, "write digits alone");
            }
        }
        found
    }

    /// With its unit, or in seconds.
    fn time(&mut self, text: &str) -> Option<Nanos> {
        let seconds = text.parse().ok().filter(|seconds| *seconds < 1 << 32);
        let found = seconds.map(Nanos::from_secs).or_else(|| text.parse().ok());
        if found.is_none() {
            self.error(format!("`{text}` is no time"), "write it like `30s`");
        }
        found
    }

    fn size(&mut self, text: &str) -> Option<Bytes> {
        let found: Option<Bytes> = text.parse().ok();
        let sectors =
            |size: &Bytes| size.get() > 0 && size.get().is_multiple_of(super::config::SECTOR);
        let found = found.filter(sectors);
        if found.is_none() {
            let message = format!("`{text}` is no size in whole sectors");
            self.error(message, "write it like `10GiB`");
        }
        found
    }

    fn next_value(&mut self, option: &str) -> Option<String> {
        let value = self.arguments.get(self.at + 1).cloned();
        match &value {
            Some(_) => self.at += 1,
            None => self.error(
                format!("`{option}` needs a value"),
                "write it behind the option",
            ),
        }
        value
    }

    fn error(&mut self, message: String, hint: impl Into<String>) {
        let mut text = "iometer".to_owned();
        let mut span = 0..0;
        for (index, word) in self.arguments.iter().enumerate() {
            text.push(' ');
            if index == self.at.min(self.arguments.len() - 1) {
                span = text.len()..text.len() + word.len();
            }
            text.push_str(word);
        }
        let place = Location::in_text("command line", &text, span);
        let error = Diagnostic::error(message).at(place).hint(hint);
        self.diagnostics.push(error);
    }
}

/// Whether a word looks like a switch of Windows rather than like a path: `/q`, `/quiet`, not `/a.icf` or `/tmp/a`.
fn is_switch(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn set(place: &mut Option<String>, value: Option<String>) {
    if value.is_some() {
        *place = value;
    }
}
