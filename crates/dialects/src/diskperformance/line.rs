//! Arguments as PowerShell binds them to the script's parameters.

use std::collections::BTreeMap;
use std::ops::Range;

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, nearest};

use super::{Existing, Mode, Output, Settings};

/// The script's parameters, in the order of words without a name.
const PARAMETERS: [&str; 7] = [
    "TestFileName",
    "TestFileSizeInGB",
    "TestFilepath",
    "TestMode",
    "FastMode",
    "RemoveTestFile",
    "OutputFormat",
];
/// Longest line: more than all values together may have.
const LINE_MAX: usize = 4096;

/// Dashes that PowerShell takes for `-`.
const DASHES: [char; 4] = ['-', '–', '—', '―'];

struct Line {
    text: String,
    spans: Vec<Range<usize>>,
    complaints: Diagnostics,
    values: BTreeMap<&'static str, (usize, String)>,
}

/// Reads `arguments`.
pub fn read(arguments: &[String]) -> Result<(Settings, Diagnostics), Diagnostics> {
    let mut line = Line {
        text: "DiskPerformance.ps1".to_owned(),
        spans: Vec::new(),
        complaints: Diagnostics::default(),
        values: BTreeMap::new(),
    };
    for word in arguments {
        if line.text.len() + word.len() > LINE_MAX {
            let message = format!("the line is longer than {LINE_MAX} bytes");
            line.error(0, message, "the script has seven arguments");
            return Err(line.complaints);
        }
        line.text.push(' ');
        let start = line.text.len();
        line.text.push_str(word);
        line.spans.push(start..line.text.len());
    }
    line.bind(arguments);
    let settings = line.settings();
    match settings {
        Some(settings) if !line.complaints.has_errors() => Ok((settings, line.complaints)),
        _ => Err(line.complaints),
    }
}

/// Whether a word is the name of a parameter, as long as it is or cut short.
fn is_parameter(word: &str) -> bool {
    let Some(name) = word.strip_prefix(DASHES) else {
        return false;
    };
    let name = name.split(':').next().unwrap_or(name);
    let begins = |known: &&str| {
        let start = known.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    !name.is_empty() && PARAMETERS.iter().any(begins)
}

impl Line {
    fn error(&mut self, index: usize, message: impl Into<String>, hint: impl Into<String>) {
        let span = self.spans.get(index).cloned().unwrap_or(0..0);
        let place = Location::in_text("command line", &self.text, span);
        let error = Diagnostic::error(message).at(place).hint(hint);
        self.complaints.push(error);
    }

    /// Words to parameters: named ones first, then the others in order.
    fn bind(&mut self, arguments: &[String]) {
        let mut others = Vec::new();
        let mut words = arguments.iter().enumerate().peekable();
        while let Some((index, word)) = words.next() {
            let Some(name) = word.strip_prefix(DASHES) else {
                others.push((index, word.clone()));
                continue;
            };
            let (name, value) = match name.split_once(':') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let Some(parameter) = self.parameter(index, name) else {
                if value.is_none() {
                    words.next();
                }
                continue;
            };
            // A name in place of a value leaves the parameter without one, as in PowerShell.
            let mut next = || words.next_if(|(_, word)| !is_parameter(word));
            let value = value.or_else(|| next().map(|(_, word)| word.clone()));
            let Some(value) = value else {
                let message = format!("`-{parameter}` has no value");
                self.error(index, message, "write one behind a blank");
                continue;
            };
            if self.values.contains_key(parameter) {
                let message = format!("`-{parameter}` is given twice");
                self.error(index, message, "leave one of them out");
                continue;
            }
            self.values.insert(parameter, (index, value));
        }
        let free = PARAMETERS
            .into_iter()
            .filter(|it| !self.values.contains_key(it));
        let mut free = free.collect::<Vec<_>>().into_iter();
        for (index, word) in others {
            match free.next() {
                Some(parameter) => {
                    self.values.insert(parameter, (index, word));
                }
                None => self.error(
                    index,
                    format!("`{word}` is one value too many"),
                    "leave it out",
                ),
            }
        }
    }

    /// The parameter of that name, or the only one that begins so; letters of any case.
    fn parameter(&mut self, index: usize, name: &str) -> Option<&'static str> {
        let begins = |known: &&&str| {
            let start = known.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let exact = PARAMETERS
            .iter()
            .find(|known| known.eq_ignore_ascii_case(name));
        let found: Vec<&&'static str> = PARAMETERS.iter().filter(begins).collect();
        match (exact, found.as_slice()) {
            (Some(exact), _) => Some(exact),
            (None, [one]) if !name.is_empty() => Some(one),
            (None, []) => {
                let near = nearest(name, PARAMETERS);
                let hint = near.map_or_else(
                    || format!("the parameters are {}", PARAMETERS.join(", ")),
                    |near| format!("did you mean `-{near}`?"),
                );
                self.error(
                    index,
                    format!("`{name}` is no parameter of the script"),
                    hint,
                );
                None
            }
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|name| **name).collect();
                let message = format!("`-{name}` may be {}", names.join(" or "));
                self.error(index, message, "write more of it");
                None
            }
        }
    }

    /// The value of a parameter that takes one of `known`, in any case: its index there.
    fn choice(&mut self, parameter: &'static str, known: &[&str], default: usize) -> usize {
        let Some((index, value)) = self.values.get(parameter).cloned() else {
            return default;
        };
        // `$True` is a value of PowerShell's own, whose text is `True`.
        let plain = value.trim_start_matches('$');
        let found = known.iter().position(|one| one.eq_ignore_ascii_case(plain));
        found.unwrap_or_else(|| {
            let message = format!("`{value}` is no value of `-{parameter}`");
            self.error(index, message, format!("write one of {}", known.join(", ")));
            default
        })
    }

    /// A text of `least` to `most` characters.
    fn name(
        &mut self,
        parameter: &'static str,
        (least, most): (usize, usize),
        default: &str,
    ) -> String {
        let Some((index, value)) = self.values.get(parameter).cloned() else {
            return default.to_owned();
        };
        if !(least..=most).contains(&value.chars().count()) {
            let message = match value.chars().count() {
                1 => format!("`-{parameter}` has one character"),
                count => format!("`-{parameter}` has {count} characters"),
            };
            self.error(index, message, format!("give {least} to {most}"));
        }
        value
    }

    fn settings(&mut self) -> Option<Settings> {
        const SIZES: [&str; 7] = ["1", "5", "10", "50", "100", "500", "1000"];
        const FLAGS: [&str; 2] = ["True", "False"];
        let file = self.name("TestFileName", (2, 30), "test.dat");
        let size = self.choice("TestFileSizeInGB", &SIZES, 0);
        let folder = self.name("TestFilepath", (3, 254), "C:\\Test");
        let modes = ["Get-SmallIO", "Get-LargeIO"];
        let mode = self.choice("TestMode", &modes, 0);
        if !self.values.contains_key("TestMode") {
            let hint = "write `-TestMode Get-SmallIO` for IOPS, `-TestMode Get-LargeIO` for MB/s";
            self.error(0, "`-TestMode` is needed", hint);
        }
        let fast = self.choice("FastMode", &FLAGS, 0);
        let remove = self.choice("RemoveTestFile", &FLAGS, 1);
        let output = self.choice("OutputFormat", &["Out-GridView", "Format-Table"], 0);
        let given = self.values.keys();
        Some(Settings {
            file,
            size_gib: SIZES[size].parse().ok()?,
            folder,
            mode: [Mode::Small, Mode::Large][mode],
            seconds: [10, 60][fast],
            existing: [Existing::Remove, Existing::Keep][remove],
            output: [Output::GridView, Output::Table][output],
            given: given
                .map(|name| (*name, "command line".to_owned()))
                .collect(),
        })
    }
}
