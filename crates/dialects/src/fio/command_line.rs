//! fio's command line, taken apart.
//!
//! Yields the same sections as a job file: options before any `--name` act as `[global]` of the first job file, `--name`
//! opens a job. Long options may stand behind one dash or two, with `=` or a blank, and be cut short where that is clear.

use fathom_diagnostics::{Diagnostic, Diagnostics, Location, nearest};
use fathom_units::Nanos;

use super::context::ReadContext;
use super::copy_tests;
use super::help;
use super::input::{Action, Debug, EtaMode, IdleProfile, Origin, OutputFormat, OutputOptions};
use super::lexer::{Lexer, RawOption, Section};
use super::option_names::{self, NoOption};
use super::self_tests::{self, Asked};
use super::table::{self, Kind};
use super::values::{self, BareTime};

/// An understood command line, job files included.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// Sections of the command line and the first file; then those of each further file, for which all defaults start
    /// anew.
    pub files: Vec<Vec<Section>>,
    /// How the run is shown.
    pub output: OutputOptions,
    /// What to do instead of a run.
    pub action: Option<Action>,
    /// Jobs that write are refused (`--readonly`).
    pub readonly: bool,
    /// Warnings refuse the input (`--warnings-fatal`).
    pub warnings_fatal: bool,
    /// The sections that are asked for (`--section`); empty: all.
    pub only: Vec<String>,
    /// Folder of files that runs leave behind (`--aux-path`).
    pub aux_path: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Required,
    /// Only behind `=`.
    Optional,
}

/// A value that had to be there is not, or one is there that may not be.
struct Unfit;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    Output,
    Format,
    Minimal,
    AppendTerse,
    TerseVersion,
    StatusInterval,
    EtaInterval,
    BandwidthLog,
    IdleProfile,
    InflateLog,
    ChecksumTest,
    CopyTest,
    CounterTest,
    MergeTraces,
    Debug,
    Version,
    Help,
    CommandHelp,
    EngineHelp,
    ShowCommand,
    ReadOnly,
    Eta,
    EtaNewline,
    ParseOnly,
    Section,
    WarningsFatal,
    AuxPath,
    Trigger,
    TriggerFile,
    TriggerTimeout,
    TriggerRemote,
    NoEffect,
    OfVerb,
    Withdrawn,
}

/// fio's options that are no options of a job.
#[rustfmt::skip]
const OWN: &[(&str, Takes, Own)] = &[
    ("output", Takes::Required, Own::Output),
    ("output-format", Takes::Required, Own::Format),
    ("minimal", Takes::Nothing, Own::Minimal),
    ("version", Takes::Nothing, Own::Version),
    ("help", Takes::Nothing, Own::Help),
    ("cmdhelp", Takes::Optional, Own::CommandHelp),
    ("enghelp", Takes::Optional, Own::EngineHelp),
    ("showcmd", Takes::Nothing, Own::ShowCommand),
    ("readonly", Takes::Nothing, Own::ReadOnly),
    ("eta", Takes::Required, Own::Eta),
    ("eta-newline", Takes::Required, Own::EtaNewline),
    ("eta-interval", Takes::Required, Own::EtaInterval),
    ("parse-only", Takes::Nothing, Own::ParseOnly),
    ("section", Takes::Required, Own::Section),
    ("warnings-fatal", Takes::Nothing, Own::WarningsFatal),
    // fio itself has had no use for it since its jobs are not counted ahead.
    ("max-jobs", Takes::Required, Own::NoEffect),
    ("alloc-size", Takes::Required, Own::NoEffect),
    ("terse-version", Takes::Required, Own::TerseVersion),
    ("aux-path", Takes::Required, Own::AuxPath),
    ("append-terse", Takes::Optional, Own::AppendTerse),
    ("latency-log", Takes::Required, Own::Withdrawn),
    ("bandwidth-log", Takes::Optional, Own::BandwidthLog),
    ("debug", Takes::Required, Own::Debug),
    ("inflate-log", Takes::Required, Own::InflateLog),
    ("server", Takes::Optional, Own::OfVerb),
    ("daemonize", Takes::Required, Own::OfVerb),
    ("client", Takes::Required, Own::OfVerb),
    ("remote-config", Takes::Required, Own::OfVerb),
    ("cpuclock-test", Takes::Nothing, Own::CounterTest),
    ("crctest", Takes::Optional, Own::ChecksumTest),
    ("memcpytest", Takes::Optional, Own::CopyTest),
    ("idle-prof", Takes::Required, Own::IdleProfile),
    ("status-interval", Takes::Required, Own::StatusInterval),
    ("trigger-file", Takes::Required, Own::TriggerFile),
    ("trigger-timeout", Takes::Required, Own::TriggerTimeout),
    ("trigger", Takes::Required, Own::Trigger),
    ("trigger-remote", Takes::Required, Own::TriggerRemote),
    ("merge-blktrace-only", Takes::Nothing, Own::MergeTraces),
];

/// Areas that fio's `--debug` knows besides those told here.
const DEBUG_AREAS: [&str; 18] = [
    "process",
    "file",
    "mem",
    "blktrace",
    "verify",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
    "sprandom",
];

/// Reads a command line and the job files it names.
pub fn read(arguments: &[String], context: &ReadContext<'_>) -> (CommandLine, Diagnostics) {
    Reader::of(arguments).finish(context)
}

/// Words for what a command line says of where its output goes and how it is laid out, whatever else is wrong with it.
pub fn output_words(arguments: &[String]) -> Vec<String> {
    let output = Reader::of(arguments).line.output;
    let formats = output.formats.iter().map(|format| match format {
        OutputFormat::Normal => "normal",
        OutputFormat::Json => "json",
        OutputFormat::JsonPlus => "json+",
        OutputFormat::Terse => "terse",
    });
    let formats: Vec<_> = formats.collect();
    let mut words = vec![
        format!("--output-format={}", formats.join(",")),
        format!("--terse-version={}", output.terse_version),
    ];
    words.extend(output.file.map(|file| format!("--output={file}")));
    words
}

/// The file that a command line sends its output to, whatever else is wrong with it.
pub fn output_file(arguments: &[String]) -> Option<String> {
    Reader::of(arguments).line.output.file
}

struct Reader<'a> {
    arguments: &'a [String],
    joined: String,
    next: usize,
    line: CommandLine,
    sections: Vec<Section>,
    /// Which of `sections` are taken.
    kept: Vec<bool>,
    /// The last `--ioengine`.
    engine: Option<String>,
    paths: Vec<String>,
    only: Vec<String>,
    show_command: bool,
    diagnostics: Diagnostics,
}

impl<'a> Reader<'a> {
    /// Takes all of `arguments`; the job files among them are yet to be read.
    fn of(arguments: &'a [String]) -> Self {
        let mut reader = Self {
            arguments,
            joined: arguments.join(" ").replace('\n', " "),
            next: 0,
            line: CommandLine::default(),
            sections: Vec::new(),
            kept: Vec::new(),
            engine: None,
            paths: Vec::new(),
            only: Vec::new(),
            show_command: false,
            diagnostics: Diagnostics::default(),
        };
        reader.arguments();
        reader
    }

    fn arguments(&mut self) {
        while let Some(argument) = self.arguments.get(self.next) {
            let index = self.next;
            self.next += 1;
            if argument == "--" {
                self.paths
                    .extend(self.arguments[self.next..].iter().cloned());
                return;
            }
            let Some(option) = argument.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
                self.paths.push(argument.clone());
                continue;
            };
            if self.is_of_letters(option) {
                self.letters(index, option);
                continue;
            }
            let option = option.strip_prefix('-').unwrap_or(option);
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            self.option(index, name, value);
        }
    }

    /// Whether what stands behind a single dash is letters of options: a known one alone, or one that begins no name of an option.
    fn is_of_letters(&self, typed: &str) -> bool {
        let mut letters = typed.chars();
        if letters.next().and_then(option_names::of_letter).is_none() {
            return false;
        }
        let own = OWN.iter().map(|(name, ..)| *name);
        let name = typed.split('=').next().unwrap_or_default();
        letters.next().is_none()
            || option_names::complete(name, own, self.engine.as_deref()) == Err(NoOption::Unknown)
    }

    /// Options by their letters: the last of them may have its value behind it, or in the next argument.
    fn letters(&mut self, index: usize, typed: &str) {
        for (place, letter) in typed.char_indices() {
            let name = option_names::of_letter(letter);
            let row = OWN.iter().find(|(own, ..)| Some(*own) == name);
            let Some((name, takes, own)) = row else {
                return self.no_option(index, &letter.to_string(), &NoOption::Unknown);
            };
            let rest = &typed[place + letter.len_utf8()..];
            let value = (*takes != Takes::Nothing && !rest.is_empty()).then(|| rest.to_owned());
            if let Ok(value) = self.value_of(index, name, value, *takes) {
                self.own(index, *own, name, value);
            }
            if *takes != Takes::Nothing {
                return;
            }
        }
    }

    fn option(&mut self, index: usize, typed: &str, value: Option<String>) {
        let own = OWN.iter().map(|(name, ..)| *name);
        let name = match option_names::complete(typed, own, self.engine.as_deref()) {
            Ok(name) => name,
            Err(problem) => return self.no_option(index, typed, &problem),
        };
        if let Some((_, takes, own)) = OWN.iter().find(|(own, ..)| *own == name) {
            if let Ok(value) = self.value_of(index, name, value, *takes) {
                self.own(index, *own, name, value);
            }
            return;
        }
        let kind = table::find(name).map(|row| row.kind);
        let takes = match kind {
            Some(Kind::Flag) => Takes::Optional,
            _ => Takes::Required,
        };
        let Ok(value) = self.value_of(index, name, value, takes) else {
            return;
        };
        if value.as_deref() == Some("") && kind == Some(Kind::OptionalText) {
            // fio's command line takes no empty value, though its job files do.
            let message = format!("option `--{name}` has an empty value");
            let hint = "give one; a job file may leave it out, and the job's name counts then";
            let error = Diagnostic::error(message).at(self.location(index));
            self.diagnostics.push(error.hint(hint));
            return;
        }
        if name == "name" {
            self.open(value.clone().unwrap_or_default());
        }
        if name == "ioengine" {
            self.engine.clone_from(&value);
        }
        if self.sections.is_empty() {
            self.push(section(String::new(), IsGlobal::Yes));
        }
        let (location, origin) = (self.location(index), Origin::CommandLine);
        let option = RawOption {
            name: name.to_owned(),
            value,
            location,
            origin,
        };
        if let Some(section) = self.sections.last_mut() {
            section.options.push(option);
        }
    }

    /// Says that no option bears the name `typed`.
    fn no_option(&mut self, index: usize, typed: &str, problem: &NoOption) {
        // The nearest name is looked for among all options.
        if self.diagnostics.is_full() {
            return;
        }
        let message = format!("unrecognized option `--{typed}`");
        let error = Diagnostic::error(message).at(self.location(index));
        self.diagnostics.push(match problem {
            NoOption::Ambiguous(names) => {
                let hint = format!("it is ambiguous: --{}", names.join(", --"));
                error.hint(hint)
            }
            NoOption::Unknown if typed.split('=').next() == Some("sweep") => {
                error.hint("fio has none: `fathom run --sweep depth=1..64x2 fio …` measures one")
            }
            NoOption::Unknown => match nearest(typed, known_names()) {
                Some(near) => error.hint(format!("did you mean `--{near}`?")),
                None => error.hint("`fio --help` and `fio --cmdhelp=all` list every option"),
            },
        });
    }

    fn open(&mut self, name: String) {
        let global = name.starts_with("global");
        self.push(section(
            name,
            if global { IsGlobal::Yes } else { IsGlobal::No },
        ));
    }

    /// Takes a section in, unless a `--section` before it leaves it out; one behind it is about job files alone, as in fio.
    fn push(&mut self, section: Section) {
        let kept = section.global || self.only.is_empty() || self.only.contains(&section.name);
        self.sections.push(section);
        self.kept.push(kept);
    }

    /// Takes the value from the next argument where it must be there.
    ///
    /// # Errors
    /// Nothing is left to take, or the option takes none, which is said.
    fn value_of(
        &mut self,
        index: usize,
        name: &str,
        value: Option<String>,
        takes: Takes,
    ) -> Result<Option<String>, Unfit> {
        if takes == Takes::Nothing && value.is_some() {
            self.refuse(index, &format!("option `--{name}` takes no value"));
            return Err(Unfit);
        }
        if takes != Takes::Required || value.is_some() {
            return Ok(value);
        }
        let next = self.arguments.get(self.next).cloned();
        if next.is_some() {
            self.next += 1;
            return Ok(next);
        }
        self.refuse(index, &format!("option `--{name}` requires a value"));
        Err(Unfit)
    }

    fn own(&mut self, index: usize, own: Own, name: &str, value: Option<String>) {
        let text = value.clone().unwrap_or_default();
        match own {
            Own::Output => self.line.output.file = Some(text),
            Own::Format => self.formats(index, &text),
            Own::Minimal => self.line.output.formats = vec![OutputFormat::Terse],
            Own::AppendTerse => self.add_format(OutputFormat::Terse),
            Own::TerseVersion => match text.parse() {
                Ok(version @ 2..=5) => self.line.output.terse_version = version,
                _ => self.refuse(index, "`--terse-version` is 2, 3, 4 or 5"),
            },
            Own::Version => self.action(Action::Version),
            Own::Help => self.action(Action::Help),
            Own::CommandHelp => self.action(Action::CommandHelp(value)),
            Own::EngineHelp => self.action(Action::EngineHelp(value)),
            Own::ParseOnly => self.action(Action::ParseOnly),
            Own::ShowCommand => self.show_command = true,
            Own::ReadOnly => self.line.readonly = true,
            Own::WarningsFatal => self.line.warnings_fatal = true,
            Own::Section => self.only.push(text),
            Own::Eta => match text.as_str() {
                "always" => self.line.output.eta = EtaMode::Always,
                "never" => self.line.output.eta = EtaMode::Never,
                // fio takes any other word too, for this one.
                _ => self.line.output.eta = EtaMode::Auto,
            },
            Own::EtaNewline => {
                let time = self.time(index, name, &text, 1);
                self.line.output.eta_newline = time.or(self.line.output.eta_newline);
            }
            Own::AuxPath => self.line.aux_path = Some(text),
            Own::Trigger => self.line.output.trigger.command = Some(text),
            Own::TriggerFile => self.line.output.trigger.file = Some(text),
            Own::TriggerTimeout => {
                let time = self.time(index, name, &text, 1_000);
                self.line.output.trigger.after = time.or(self.line.output.trigger.after);
            }
            Own::EtaInterval => {
                let time = self.time(index, name, &text, 250);
                self.line.output.eta_interval = time.unwrap_or(self.line.output.eta_interval);
            }
            Own::StatusInterval => {
                let time = self.time(index, name, &text, 1);
                self.line.output.status_interval = time.or(self.line.output.status_interval);
            }
            Own::BandwidthLog => {
                self.line.output.bandwidth_log = Some(value.unwrap_or_else(|| "agg".to_owned()));
            }
            Own::IdleProfile => match text.as_str() {
                "system" => self.line.output.idle = Some(IdleProfile::System),
                "percpu" => self.line.output.idle = Some(IdleProfile::PerProcessor),
                "calibrate" => {
                    let message = "`--idle-prof=calibrate` has nothing to calibrate: idle time is the kernel's own count";
                    self.refuse(index, message);
                }
                _ => self.refuse(index, "`--idle-prof` is `system` or `percpu`"),
            },
            Own::InflateLog => self.action(Action::InflateLog(text)),
            Own::ChecksumTest => self.checksum_test(index, value.as_deref()),
            Own::CopyTest => self.copy_test(index, value.as_deref()),
            Own::CounterTest => self.action(Action::CounterTest),
            Own::MergeTraces => self.action(Action::MergeTraces(Vec::new())),
            Own::Debug => self.debug(index, &text),
            Own::NoEffect => {}
            Own::OfVerb => {
                let message = format!("`--{name}` has its place in `fathom fio …` alone");
                self.refuse(index, &message);
            }
            Own::TriggerRemote | Own::Withdrawn => self.without_effect(index, own, name),
        }
    }

    /// The first thing asked for instead of a run is done.
    fn action(&mut self, action: Action) {
        self.line.action.get_or_insert(action);
    }

    fn formats(&mut self, index: usize, text: &str) {
        let mut formats = Vec::new();
        for name in text.split(',') {
            match name {
                "normal" => formats.push(OutputFormat::Normal),
                "json" => formats.push(OutputFormat::Json),
                "json+" => formats.push(OutputFormat::JsonPlus),
                "terse" | "minimal" => formats.push(OutputFormat::Terse),
                _ => self.refuse(
                    index,
                    "an output format is `normal`, `json`, `json+` or `terse`",
                ),
            }
        }
        if !formats.is_empty() {
            self.line.output.formats = formats;
            self.order_formats();
        }
    }

    fn add_format(&mut self, format: OutputFormat) {
        self.line.output.formats.push(format);
        self.order_formats();
    }

    /// fio prints terse lines first, then one JSON document at most, then text.
    fn order_formats(&mut self) {
        let formats = &mut self.line.output.formats;
        if formats.contains(&OutputFormat::JsonPlus) {
            formats.retain(|format| *format != OutputFormat::Json);
        }
        formats.sort_by_key(|format| match format {
            OutputFormat::Terse => 0,
            OutputFormat::Json | OutputFormat::JsonPlus => 1,
            OutputFormat::Normal => 2,
        });
        formats.dedup();
    }

    /// A time of at least `least_ms`; seconds where it has no unit.
    fn time(&mut self, index: usize, name: &str, text: &str, least_ms: u64) -> Option<Nanos> {
        let time = values::time(text, BareTime::Seconds).and_then(|time| values::span(time.value));
        let time = time.filter(|time| *time >= Nanos::from_millis(least_ms));
        if time.is_none() {
            let message = format!("`--{name}` is a time of at least {least_ms}ms, such as `10s`");
            self.refuse(index, &message);
        }
        time
    }

    /// Checksums to measure; names of others among them are told, and refused where there is none to measure.
    fn checksum_test(&mut self, index: usize, value: Option<&str>) {
        let (checksums, others) = match self_tests::asked(value) {
            Asked::List => return self.action(Action::ChecksumNames),
            Asked::Measure(checksums, others) => (checksums, others),
        };
        let hint = "`--crctest=help` lists what can be measured";
        self.left_out(index, (others, hint), checksums.is_empty());
        self.action(Action::ChecksumTest(checksums));
    }

    /// The same for ways to copy memory.
    fn copy_test(&mut self, index: usize, value: Option<&str>) {
        let (kinds, others) = match copy_tests::asked(value) {
            Asked::List => return self.action(Action::CopyKinds),
            Asked::Measure(kinds, others) => (kinds, others),
        };
        let hint = "`--memcpytest=help` lists what can be measured";
        self.left_out(index, (others, hint), kinds.is_empty());
        self.action(Action::CopyTest(kinds));
    }

    /// Tells what of a test is not measured: an error where that is all of it.
    fn left_out(&mut self, index: usize, (messages, hint): (Vec<String>, &str), all: bool) {
        for message in messages {
            let problem = if all {
                Diagnostic::error(message)
            } else {
                Diagnostic::warning(message)
            };
            let problem = problem.at(self.location(index));
            self.diagnostics.push(problem.hint(hint));
        }
    }

    /// Areas of fio's inner workings, of which two are told here; the others have nothing to tell.
    fn debug(&mut self, index: usize, text: &str) {
        if matches!(text, "help" | "?") {
            let areas = format!("random,io,{},all", DEBUG_AREAS.join(","));
            return self.action(Action::DebugHelp(areas));
        }
        for area in text.split(',') {
            let name = area.split(':').next().unwrap_or_default();
            match name {
                "random" => self.line.output.debug.random = true,
                "io" => self.line.output.debug.io = true,
                "all" => {
                    self.line.output.debug = Debug {
                        random: true,
                        io: true,
                    }
                }
                _ if DEBUG_AREAS.contains(&name) => {}
                // fio goes on without it.
                _ => {
                    let message = format!("`--debug` knows no `{name}`");
                    let hint = format!("it knows random, io, all, {}", DEBUG_AREAS.join(", "));
                    let warning = Diagnostic::warning(message).at(self.location(index));
                    self.diagnostics.push(warning.hint(hint));
                }
            }
        }
    }

    /// What does nothing here, or nowhere any more.
    fn without_effect(&mut self, index: usize, own: Own, name: &str) {
        let (told, hint) = if own == Own::Withdrawn {
            let message = format!("`--{name}` is withdrawn from fio");
            let hint = "each job has logs of its own: `write_lat_log`";
            (Diagnostic::error(message), hint)
        } else {
            let message = format!("`--{name}` is run by servers alone, and does nothing here");
            let hint = "`--trigger` names the command of this machine";
            (Diagnostic::warning(message), hint)
        };
        let location = self.location(index);
        self.diagnostics.push(told.at(location).hint(hint));
    }

    fn refuse(&mut self, index: usize, message: &str) {
        let location = self.location(index);
        self.diagnostics
            .push(Diagnostic::error(message).at(location));
    }

    /// The arguments as one line, pointing at one of them; that one alone where the line would be too long to show.
    fn location(&self, index: usize) -> Location {
        let argument = &self.arguments[index];
        if self.joined.len() > 2_000 {
            let text = argument.replace('\n', " ");
            return Location::in_line("command line", 1, &text, 0..text.len());
        }
        let start: usize = self.arguments[..index]
            .iter()
            .map(|before| before.len() + 1)
            .sum();
        let span = start..start + argument.len();
        Location::in_line("command line", 1, &self.joined, span)
    }

    fn finish(mut self, context: &ReadContext<'_>) -> (CommandLine, Diagnostics) {
        let only = std::mem::take(&mut self.only);
        let mut kept = std::mem::take(&mut self.kept).into_iter();
        let mut first = std::mem::take(&mut self.sections);
        first.retain(|_| kept.next().unwrap_or(true));
        let help_only = self
            .line
            .action
            .as_ref()
            .is_some_and(|it| !matches!(it, Action::ParseOnly | Action::MergeTraces(_)));
        if help_only {
            self.paths.clear();
        }
        if self.show_command && !help_only {
            // Jobs of the command line are one already: fio shows nothing of them, and runs none.
            self.line.action = Some(Action::ShowCommand(String::new()));
        }
        let alone = self.line.action.is_none() && self.paths.len() == 1 && first.is_empty();
        for (index, path) in self.paths.iter().enumerate() {
            let lexer = Lexer::new(context, &only).must_hold_something(alone);
            let mut sections = lexer.read(path, &mut self.diagnostics);
            if self.show_command {
                let text = help::show_command(&sections);
                if let Some(Action::ShowCommand(shown)) = &mut self.line.action {
                    shown.push_str(&text);
                }
            }
            if index == 0 {
                first.append(&mut sections);
                continue;
            }
            if let Some(section) = sections.iter_mut().find(|section| !section.global) {
                section.after_file = true;
            }
            if index == 1 {
                self.line.files.push(std::mem::take(&mut first));
            }
            self.line.files.push(sections);
        }
        if self.line.files.is_empty() {
            self.line.files.push(first);
        }
        self.line.only = only;
        (self.line, self.diagnostics)
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum IsGlobal {
    Yes,
    No,
}

fn section(name: String, global: IsGlobal) -> Section {
    let global = global == IsGlobal::Yes;
    Section {
        name,
        global,
        after_file: false,
        options: Vec::new(),
    }
}

fn known_names() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|(name, ..)| *name).chain(table::names())
}
