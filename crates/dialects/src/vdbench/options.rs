//! Vdbench's command line, and the options of ours that stand in it.

use std::collections::BTreeMap;

use fathom_diagnostics::{Diagnostic, Diagnostics, nearest};

use super::sections::Repeat;
use super::validation::{Journaling, Validation};

/// A command line that was read.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// `-f`: parameter files, in order.
    pub files: Vec<String>,
    /// `-o`: the output directory as written, with its `+` or `.tod`; `None`: `output`.
    pub output: Option<String>,
    /// `-s`: say what would be done.
    pub simulate: bool,
    /// `-e`: s, in place of every `elapsed=`.
    pub elapsed: Option<u64>,
    /// `-i`: s, in place of every `interval=`.
    pub interval: Option<u64>,
    /// `-w`: s, in place of every `warmup=`.
    pub warmup: Option<u64>,
    /// `-m`: processes on each host; threads count here.
    pub jvms: Option<u32>,
    /// `-mb`: MB are millions of bytes.
    pub decimal_megabytes: bool,
    /// `-t` or `-tf`: a demonstration run.
    pub demo: Option<Demo>,
    /// `-v…`: data validation.
    pub validation: Option<Validation>,
    /// `-l`: all runs again and again.
    pub repeat: Option<Repeat>,
    /// `-r`: the RD to begin with.
    pub restart: Option<String>,
    /// `-p`: the port that other hosts would connect to.
    pub port: Option<u16>,
    /// `-k`: progress on the screen.
    pub progress: bool,
    /// `-c…`: format of file systems in place of what RDs say: `y`, `n`, `o` and the like.
    pub format: Option<String>,
    /// `key=value`: substitutions of `$key` and `!key`.
    pub substitutions: BTreeMap<String, String>,
    /// `+ …`: parameters that are added to each RD.
    pub added: Vec<String>,
    /// `--here=LABEL,…|all`: hosts of the file that this machine stands in for.
    pub here: Here,
    /// `--run-commands`: commands of the file may be run.
    pub run_commands: bool,
}

/// Demonstration runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// `-t`: on a file.
    Raw,
    /// `-tf`: on a file system.
    FileSystem,
}

/// Which hosts this machine stands in for, beside those that are this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Here {
    /// None.
    #[default]
    ThisMachine,
    /// These labels; a `*` at the end of one stands for any end.
    Labels(Vec<String>),
    /// All.
    All,
}

/// What each option that is known does not do here, where it does nothing.
const WITHOUT_EFFECT: &[(&str, &str)] = &[("-d", "debugging")];

/// Reads the words after the program's name. Warnings come with the options.
pub fn read(words: &[String]) -> Result<(Options, Diagnostics), Diagnostics> {
    let mut reader = LineReader {
        words: words.iter().peekable(),
        options: Options::default(),
        complaints: Diagnostics::default(),
    };
    reader.read();
    let LineReader {
        options,
        complaints,
        ..
    } = reader;
    if complaints.has_errors() {
        return Err(complaints);
    }
    Ok((options, complaints))
}

struct LineReader<'w> {
    words: std::iter::Peekable<std::slice::Iter<'w, String>>,
    options: Options,
    complaints: Diagnostics,
}

/// Utilities that Vdbench is called by the first word for, and what does the same here.
const UTILITIES: &[(&str, &str)] = &[
    (
        "compare",
        "`fathom compare A B` lays two records beside each other: the `fathom.json` of two outputs",
    ),
    (
        "parse",
        "columns of `flatfile.html` are known by its first line without a star; `percentiles.csv` and `fathom.json` have more",
    ),
    ("rsh", "no other host connects to this one"),
    ("jstack", "there are no Java processes"),
    ("sds", "write an `sd=` for each disk of `lsblk`"),
    ("edit", "use an editor"),
    ("print", "use `hexdump`"),
    ("csim", "use Vdbench's own"),
    ("dsim", "use Vdbench's own"),
    ("printjournal", "journals are not kept"),
    ("showlba", "use `fathom fio` with `--write_iolog=`"),
];

impl LineReader<'_> {
    fn read(&mut self) {
        let first = self.words.peek().map_or("", |word| word.as_str());
        if let Some((name, hint)) = UTILITIES.iter().find(|(name, _)| *name == first) {
            let message = format!("`{name}` is a utility of Vdbench that is not done here");
            self.error(&message, hint);
            return;
        }
        while let Some(word) = self.words.next() {
            match word.as_str() {
                "-f" => self.files(),
                "+" => {
                    let rest: Vec<String> = self.words.by_ref().cloned().collect();
                    self.options.added = rest;
                }
                "-s" => self.options.simulate = true,
                "-k" => self.options.progress = true,
                "-mb" | "-MB" => self.options.decimal_megabytes = true,
                "-t" => self.options.demo = Some(Demo::Raw),
                "-tf" => self.options.demo = Some(Demo::FileSystem),
                "--run-commands" => self.options.run_commands = true,
                _ => self.other(word),
            }
        }
    }

    fn files(&mut self) {
        let before = self.options.files.len();
        while let Some(word) = self.words.peek() {
            if word.starts_with(['-', '+']) && word.len() > 1 || *word == "+" || is_assignment(word)
            {
                break;
            }
            self.options.files.push((*word).clone());
            self.words.next();
        }
        if self.options.files.len() == before {
            self.error("`-f` names no parameter file", "write `-f FILE`");
        }
    }

    fn other(&mut self, word: &str) {
        if let Some(list) = word.strip_prefix("--here=") {
            let labels = list.split(',').filter(|label| !label.is_empty());
            self.options.here = match list {
                "all" => Here::All,
                _ => Here::Labels(labels.map(str::to_owned).collect()),
            };
            return;
        }
        if let Some((key, value)) = word.split_once('=').filter(|_| is_assignment(word)) {
            let former = self
                .options
                .substitutions
                .insert(key.to_owned(), value.to_owned());
            if former.is_some() {
                let message = format!("`{key}=` is given twice; the last one counts");
                self.complaints
                    .push(Diagnostic::warning(message).hint("leave one out"));
            }
            return;
        }
        if let Some(letters) = word.strip_prefix("-v") {
            return self.validation(word, letters);
        }
        if word.starts_with("-j") {
            return self.journal(word);
        }
        if let Some(letters) = word.strip_prefix("-c") {
            self.options.format = Some(letters.to_owned());
            return;
        }
        for (option, what) in WITHOUT_EFFECT {
            if word.starts_with(option) {
                let message = format!("`{word}` is for {what}, and does nothing here");
                self.complaints
                    .push(Diagnostic::warning(message).hint("leave it out"));
                return;
            }
        }
        let letter = word.get(..2).unwrap_or(word);
        match letter {
            "-o" => self.options.output = self.argument(word, "a directory"),
            "-e" => self.options.elapsed = self.number(word, "-e", true),
            "-i" => self.options.interval = self.number(word, "-i", true),
            "-w" => self.options.warmup = self.number(word, "-w", false),
            "-m" => self.options.jvms = self.number(word, "-m", true).map(|number| number as u32),
            "-p" => self.options.port = self.number(word, "-p", true).map(|number| number as u16),
            "-r" => self.options.restart = self.argument(word, "the name of an RD"),
            "-l" => self.repeat(word),
            _ => self.unknown(word),
        }
    }

    /// `-v`, with letters in any order: `-vr`, `-vw`, `-vt`.
    fn validation(&mut self, word: &str, letters: &str) {
        if let Some(asked) = Validation::of_letters(letters) {
            let before = self.options.validation.unwrap_or(asked);
            self.options.validation = Some(before.with(asked));
        } else {
            let message = format!("`{word}` is no way of data validation that is known here");
            self.error(
                &message,
                "write `-v`, `-vr` (read after each write), `-vw` (no read before one), `-vt`",
            );
        }
    }

    /// `-j`, with letters in any order: `-jr`, `-jro`, `-jn`.
    fn journal(&mut self, word: &str) {
        let journal = Journaling::of_letters(word.strip_prefix("-j").unwrap_or_default());
        let Some(journal) = journal else {
            let message = if word.contains('m') {
                format!("`{word}` asks for the map alone, which is not done here")
            } else {
                format!("`{word}` is nothing that a journal can do")
            };
            let hint = "write `-j`, `-jr` (go on with the journal), `-jro` (read what it tells of, and no more), `-jn` (wait for \
                        nothing), `-jrs` (read nothing before the runs), `-jri` (ignore writes that may not have ended)";
            return self.error(&message, hint);
        };
        let asked = Validation {
            journal: Some(journal),
            ..Validation::YES
        };
        let before = self.options.validation.unwrap_or(asked);
        self.options.validation = Some(before.with(asked));
    }

    fn unknown(&mut self, word: &str) {
        let known = [
            "-f",
            "-o",
            "-s",
            "-e",
            "-i",
            "-w",
            "-m",
            "-mb",
            "-t",
            "-tf",
            "-l",
            "-r",
            "-p",
            "-k",
            "-c",
            "-v",
            "-j",
            "--here=all",
            "--run-commands",
        ];
        let message = if word.starts_with('-') {
            format!("`{word}` is no option of Vdbench that is known here")
        } else {
            format!("`{word}` is neither an option nor `key=value`")
        };
        let hint = match nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "parameter files stand behind `-f`".to_owned(),
        };
        self.error(&message, &hint);
    }

    /// What stands behind an option: in the same word, or in the next.
    fn argument(&mut self, word: &str, what: &str) -> Option<String> {
        let own = word.get(2..).filter(|rest| !rest.is_empty());
        let found = own.or_else(|| self.words.next().map(String::as_str));
        if found.is_none() {
            let option = word.get(..2).unwrap_or(word);
            let message = format!("`{option}` needs {what}");
            self.error(&message, &format!("write it behind `{option}`"));
        }
        found.map(str::to_owned)
    }

    fn number(&mut self, word: &str, option: &str, positive: bool) -> Option<u64> {
        let text = self.argument(word, "a number")?;
        // Ten years.
        let number = text
            .parse::<u64>()
            .ok()
            .filter(|number| *number <= 315_360_000);
        let number = number.filter(|number| *number > 0 || !positive);
        if number.is_none() {
            let message =
                format!("`{option} {text}`: `{text}` is no whole number that is possible here");
            self.error(&message, "write digits alone, without a unit");
        }
        number
    }

    /// `-l n`, or `-l n s|m|h` in one word or two.
    fn repeat(&mut self, word: &str) {
        let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        let follows = self.words.peek().is_some_and(|next| is_number(next));
        if word == "-l" && !follows {
            let message =
                "`-l` without a number goes on for ever in Vdbench, and nothing does so here";
            return self.error(
                message,
                "write `-l 3` for three times, or `-l 2h` for two hours",
            );
        }
        let Some(text) = self.argument(word, "how often, or for how long") else {
            return;
        };
        let unit_follows = self
            .words
            .peek()
            .is_some_and(|next| ["s", "m", "h"].contains(&next.as_str()));
        let unit = if unit_follows {
            self.words.next()
        } else {
            None
        };
        let text = text + unit.map_or("", String::as_str);
        if let Some(repeat) = parse_repeat(&text) {
            self.options.repeat = Some(repeat);
        } else {
            let message = format!("`-l {text}` is neither a number nor a time");
            self.error(&message, "write `-l 3`, or `-l 2h`");
        }
    }

    fn error(&mut self, message: &str, hint: &str) {
        self.complaints.push(Diagnostic::error(message).hint(hint));
    }
}

/// `3`, or a time with its unit: `90s`, `5m`, `2h`.
pub(super) fn parse_repeat(text: &str) -> Option<Repeat> {
    let seconds = |digits: &str, factor: u64| {
        digits
            .parse::<u64>()
            .ok()?
            .checked_mul(factor)
            .map(Repeat::Seconds)
    };
    match text.as_bytes().last()? {
        b's' => seconds(&text[..text.len() - 1], 1),
        b'm' => seconds(&text[..text.len() - 1], 60),
        b'h' => seconds(&text[..text.len() - 1], 3600),
        _ => text.parse().ok().map(Repeat::Times),
    }
}

/// Whether a word is `key=value` and no path.
fn is_assignment(word: &str) -> bool {
    let key = word.split_once('=').map(|(key, _)| key);
    key.is_some_and(|key| {
        !key.is_empty()
            && !key.starts_with('-')
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
