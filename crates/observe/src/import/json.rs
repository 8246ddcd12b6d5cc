//! What kind of JSON a file is, by the first key at its top that tells it; and where in it a reader could not go on.

use std::cell::Cell;
use std::fmt;

use fathom_diagnostics::{Diagnostic, Location};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::detect::Format;
use super::input::Text;

/// What a key at the top of a JSON text tells.
#[derive(Debug, Clone, Copy)]
enum Told {
    /// A format that is read.
    Read(Format),
    /// What it is that is not read, and what to do.
    Other(&'static str, &'static str),
}

/// The kinds that are read, for a hint.
const KINDS: &str = "JSON is read of sysstat (`iostat -x -t -o JSON 1 60`, `sadf -j FILE -- -d -u -r`) and of Azure Monitor (`az monitor metrics list … -o json`)";

const KEYS: &[(&str, Told)] = &[
    ("sysstat", Told::Read(Format::SysstatJson)),
    ("value", Told::Read(Format::AzureMonitor)),
    ("values", Told::Read(Format::AzureMonitor)),
    ("timespan", Told::Read(Format::AzureMonitor)),
    ("resourceregion", Told::Read(Format::AzureMonitor)),
    (
        "timeseries",
        Told::Other(
            "it is a part of an answer of Azure Monitor, without the interval that its figures are of",
            "give the whole answer: `az monitor metrics list … -o json`, without `--query`",
        ),
    ),
    (
        "error",
        Told::Other(
            "it is an error that a service answered in place of figures",
            "read its `message`, and ask again",
        ),
    ),
    (
        "fio version",
        Told::Other(
            "it is fio's result, which tells of one job as a whole",
            "name the logs that fio wrote beside it (`write_lat_log`, `write_iops_log`)",
        ),
    ),
    ("Datapoints", Told::Other(CLOUD_WATCH, IN_THE_MACHINE)),
    (
        "MetricDataResults",
        Told::Other(CLOUD_WATCH, IN_THE_MACHINE),
    ),
    (
        "timeSeries",
        Told::Other(
            "it is of Google Cloud's monitor, whose metrics are not read",
            IN_THE_MACHINE,
        ),
    ),
];

const CLOUD_WATCH: &str = "it is of CloudWatch, whose metrics are not read";
const IN_THE_MACHINE: &str =
    "log in the machine itself: `iostat -x -t -o JSON 60 > FILE.json`, or PerfMon";

/// The format of a JSON text that begins with `head`. `name` is what messages call it.
///
/// # Errors
/// It is of a kind that is not read: what it is where that is known, and which kinds are read.
pub(super) fn kind(head: &str, name: &str) -> Result<Format, Box<Diagnostic>> {
    let found = Cell::new(None);
    let mut json = serde_json::Deserializer::from_str(head.trim_start_matches('\u{feff}'));
    let searched = Top(&found).deserialize(&mut json);
    let (what, hint) = match (found.get(), searched) {
        (Some(Told::Read(format)), _) => return Ok(format),
        (Some(Told::Other(what, hint)), _) => (what, hint),
        (None, Err(error)) if error.is_syntax() => {
            let line = head.lines().nth(error.line().saturating_sub(1));
            let at = place(name, line.unwrap_or_default(), &error);
            let message = format!("it begins as JSON does, and is none: {}", plain(&error));
            return Err(Box::new(Diagnostic::error(message).at(at).hint(KINDS)));
        }
        (None, _) => ("it is JSON of a kind that is not read", KINDS),
    };
    let message = format!("`{name}`: {what}");
    Err(Box::new(Diagnostic::error(message).hint(hint)))
}

/// Looks at the keys at the top, of the first element where it is a list, up to the first that tells.
struct Top<'a>(&'a Cell<Option<Told>>);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if let Some((_, told)) = KEYS.iter().find(|(known, _)| *known == key) {
                self.0.set(Some(*told));
                return Err(M::Error::custom("no more is wanted"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        match list.next_element_seed(Top(self.0))? {
            Some(()) => Err(S::Error::custom("no more is wanted")),
            None => Ok(()),
        }
    }
}

/// The refusal of a text at the place of `error`, with what it is not.
pub(super) fn refusal(
    text: &Text,
    error: &serde_json::Error,
    what: &str,
    hint: &str,
) -> Diagnostic {
    let line = line_of(text, error.line());
    let at = place(&text.name, line.as_deref().unwrap_or_default(), error);
    Diagnostic::error(format!("{what}: {}", plain(error)))
        .at(at)
        .hint(hint)
}

/// An error's words without its place.
fn plain(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    if let Some(place) = message.rfind(" at line ") {
        message.truncate(place);
    }
    message
}

/// Where an error is, in that line of the file `name`.
fn place(name: &str, line: &str, error: &serde_json::Error) -> Location {
    let column = error.column().saturating_sub(1).min(line.len());
    let column = (0..=column)
        .rev()
        .find(|at| line.is_char_boundary(*at))
        .unwrap_or(0);
    Location::in_line(name, error.line().max(1), line, column..column)
}

/// The line of that number, where it can be had.
fn line_of(text: &Text, number: usize) -> Option<String> {
    let mut lines = text.lines().ok()?;
    while let Some(line) = lines.next().ok()? {
        if line.number == number {
            return Some(line.text.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: Result<Format, &str>) {
        match (kind(head, "log.json"), expected) {
            (Ok(found), Ok(format)) => assert_eq!(found, format),
            (Err(error), Err(part)) => {
                let told = error.to_string();
                assert!(told.contains(part), "`{part}` is not in {told}");
                assert!(error.hint.is_some(), "{told}");
            }
            (found, expected) => panic!("{head}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn the_first_key_that_tells_counts() {
        let azure = Ok(Format::AzureMonitor);
        check("{\"sysstat\": {\"hosts\"", Ok(Format::SysstatJson));
        check(
            "{\"cost\": 59, \"interval\": \"PT1M\", \"namespace\": \"x\", \"value\": [",
            azure,
        );
        check("[{\"cost\": 0, \"timespan\": \"", azure);
        check(" [ [ {\"values\": [{}]}]]", azure);
        check("{\"value\": [{\"timeseries\": []", azure);
        check(
            "{\"deep\": {\"sysstat\": 1}}",
            Err("of a kind that is not read"),
        );
        check("{}", Err("`az monitor metrics list … -o json`"));
        check("[]", Err("`sadf -j FILE -- -d -u -r`"));
        check("[[[[[[", Err("of a kind that is not read"));
        check(
            "[{\"id\": \"/a\", \"name\": {}, \"timeseries\": [",
            Err("without `--query`"),
        );
        check(
            "{\"error\": {\"code\": \"AuthorizationFailed\"",
            Err("an error that a service"),
        );
        check("{\"fio version\" : \"fio-3.33\"", Err("write_lat_log"));
        check(
            "{\"Label\": \"VolumeReadOps\", \"Datapoints\": []}",
            Err("CloudWatch"),
        );
        check("{\"a\": 1,\n \"b\" 2}", Err("log.json:2:"));
    }

    /// More levels than a reader can go down are an error as others are.
    #[test]
    fn a_list_in_lists_has_an_end() {
        let deep = "[".repeat(100_000);
        check(&deep, Err("JSON"));
        let deep = format!("{{\"a\": {}", "[".repeat(100_000));
        check(&deep, Err("JSON"));
    }
}
