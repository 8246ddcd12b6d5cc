//! An answer of Azure Monitor as it stands in its JSON: of "Metrics - List" (`az monitor metrics list`, `az rest`), of
//! "Metrics Batch", a list of them, or several after one another.
//!
//! The form is that of the REST reference ("Metrics - List", 2018-01-01 to 2024-02-01). Names are taken from `name.value`,
//! which is the same in every language; keys that are not used are skipped, whatever they hold.

use std::fmt;
use std::io::{self, BufReader, Read};

use fathom_diagnostics::{Diagnostic, Diagnostics};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::input::Text;
use super::super::json;

/// Most bytes of answers: a month of minutes of about twenty disks as the command-line tool writes it.
const MOST_BYTES: u64 = 256 << 20;
const TOO_LONG: &str = "ask for a part of the time, for longer intervals (`--interval PT5M`), or for fewer metrics, and give each answer a file of its own";
const HOW: &str = "write it anew with `az monitor metrics list … -o json > FILE.json`";

/// What was asked about one resource.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The resource, where the answer as a whole names it.
    pub resource: Option<String>,
    /// `PT1M`, or `0:01:00` as older command-line tools write it.
    pub interval: Option<String>,
    /// The metrics; none where this is no answer about metrics.
    pub metrics: Option<Vec<Metric>>,
    /// What is answered in place of metrics.
    pub error: Option<Refusal>,
}

/// An error in place of an answer.
#[derive(Debug, Deserialize)]
pub(super) struct Refusal {
    pub code: Option<String>,
    pub message: Option<String>,
}

/// One metric.
#[derive(Debug, Deserialize)]
pub(super) struct Metric {
    pub id: Option<String>,
    pub name: Option<Name>,
    pub unit: Option<String>,
    /// None in a list of what metrics there are.
    pub timeseries: Option<Vec<Series>>,
    #[serde(rename = "errorMessage")]
    pub error_message: Option<String>,
}

/// A name in the words of the service, the same in every language.
#[derive(Debug, Deserialize)]
pub(super) struct Name {
    pub value: Option<String>,
}

/// The values of one metric, for one value of each dimension that it is split by.
#[derive(Debug, Deserialize)]
pub(super) struct Series {
    #[serde(rename = "metadatavalues")]
    pub dimensions: Option<Vec<Dimension>>,
    #[serde(rename = "data")]
    pub points: Option<Vec<Point>>,
}

/// A dimension and its value: `lun` and `0`.
#[derive(Debug, Deserialize)]
pub(super) struct Dimension {
    pub name: Option<Name>,
    pub value: Option<String>,
}

/// What is told of one interval; `None` is a value that there is none of, which is not zero.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Written")]
pub(super) struct Point {
    /// The interval's begin, as nanoseconds of the Unix epoch.
    pub begin: i64,
    pub average: Option<f64>,
    pub total: Option<f64>,
    pub maximum: Option<f64>,
    /// Whether any aggregation has a value.
    pub is_told: bool,
}

#[derive(Deserialize)]
struct Written {
    #[serde(rename = "timeStamp")]
    at: String,
    average: Option<f64>,
    total: Option<f64>,
    maximum: Option<f64>,
    minimum: Option<f64>,
    count: Option<f64>,
}

impl TryFrom<Written> for Point {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let at: Timestamp = written
            .at
            .parse()
            .map_err(|_| format!("`{}` is no moment with its zone", short(&written.at)))?;
        let begin = i64::try_from(at.as_nanosecond());
        Ok(Self {
            begin: begin.map_err(|_| format!("`{}` is too far away", short(&written.at)))?,
            average: written.average,
            total: written.total,
            maximum: written.maximum,
            is_told: written.average.is_some()
                || written.total.is_some()
                || written.maximum.is_some()
                || written.minimum.is_some()
                || written.count.is_some_and(|count| count > 0.0),
        })
    }
}

/// The begin of a text for a message.
pub(super) fn short(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// All answers of a text, in order.
///
/// # Errors
/// It is no JSON of that form, with the place; or it is longer than [`MOST_BYTES`].
pub(super) fn answers(text: &Text) -> Result<Vec<Answer>, Diagnostics> {
    let input = Limited {
        left: MOST_BYTES,
        input: text.reader()?,
    };
    let reader = BufReader::with_capacity(1 << 18, input);
    let mut found = Vec::new();
    for document in serde_json::Deserializer::from_reader(reader).into_iter::<Document>() {
        match document {
            Ok(Document(answers)) => found.extend(answers),
            Err(error) => return Err(Diagnostics(vec![refusal(text, &error)])),
        }
    }
    Ok(found)
}

fn refusal(text: &Text, error: &serde_json::Error) -> Diagnostic {
    if error.is_io() {
        let message = format!("`{}` cannot be read on: {error}", text.name);
        return Diagnostic::error(message).hint(TOO_LONG);
    }
    let what = if error.is_eof() {
        "it ends within an answer of Azure Monitor"
    } else {
        "this is not JSON as Azure Monitor writes it"
    };
    json::refusal(text, error, what, HOW)
}

/// Bytes up to a limit.
struct Limited<R> {
    left: u64,
    input: R,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| {
            io::Error::other(format!(
                "its answers have more than {} MiB",
                MOST_BYTES >> 20
            ))
        })?;
        Ok(count)
    }
}

/// What stands in one JSON value: one answer, or a list of such.
struct Document(Vec<Answer>);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer of Azure Monitor, or a list of them")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Document, M::Error> {
        let mut answer = Answer::default();
        let mut batch: Option<Document> = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "values" => batch = map.next_value()?,
                "value" => answer.metrics = map.next_value()?,
                "interval" => answer.interval = map.next_value()?,
                "resourceid" => answer.resource = map.next_value()?,
                "error" => answer.error = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(batch.unwrap_or_else(|| Document(vec![answer])))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Document, S::Error> {
        let mut found = Vec::new();
        while let Some(Document(answers)) = list.next_element()? {
            found.extend(answers);
        }
        Ok(Document(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: &str = "{\"data\": [{\"timeStamp\": \"2026-11-22T07:00:00Z\", \"average\": 3}]}";

    fn answer(interval: &str) -> String {
        format!(
            "{{\"value\": [{{\"timeseries\": [{POINTS}], \"name\": {{\"value\": \"x\"}}}}], \"interval\": \"{interval}\"}}"
        )
    }

    #[track_caller]
    fn check(text: &str, intervals: &[&str]) {
        let found = answers(&Text::of("a.json", text)).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|it| it.interval.as_deref().unwrap())
            .collect();
        assert_eq!(told, intervals, "{text}");
        for answer in &found {
            let metric = &answer.metrics.as_deref().unwrap()[0];
            let series = &metric.timeseries.as_deref().unwrap()[0];
            let point = series.points.as_deref().unwrap()[0];
            assert_eq!(point.begin, 1_795_330_800_000_000_000);
            assert_eq!((point.average, point.total), (Some(3.0), None));
            assert!(point.is_told);
        }
    }

    #[test]
    fn one_answer_a_list_a_batch_or_one_after_another() {
        let (one, other) = (answer("PT1M"), answer("PT1H"));
        check(&one, &["PT1M"]);
        check(&format!("[{one},\n{other}]"), &["PT1M", "PT1H"]);
        check(&format!("{one}\n{other}\n"), &["PT1M", "PT1H"]);
        check(
            &format!("{{\"values\": [{one}, {other}]}}"),
            &["PT1M", "PT1H"],
        );
    }

    #[track_caller]
    fn refused(text: &str, parts: &[&str]) {
        let told = answers(&Text::of("a.json", text)).unwrap_err();
        for part in parts {
            assert!(told.to_string().contains(part), "`{part}` is not in {told}");
        }
        assert!(told.0.iter().all(|it| it.hint.is_some()), "{told}");
    }

    #[test]
    fn what_is_no_answer_is_told_with_its_place() {
        let good = answer("PT1M");
        refused(
            &good[..good.len() - 20],
            &["ends within an answer", "a.json:1:"],
        );
        let odd = good.replace("2026-11-22T07:00:00Z", "22.11.2026 07:00");
        refused(
            &odd,
            &["`22.11.2026 07:00` is no moment with its zone", "a.json:1:"],
        );
        refused(&good.replace(": 3}", ": \"3\"}"), &["expected f64"]);
        refused(
            &good.replace(": 3}", ": NaN}"),
            &["not JSON as Azure Monitor writes it"],
        );
        refused("7", &["expected an answer of Azure Monitor"]);
    }

    #[test]
    fn a_stream_without_end_has_one() {
        let mut limited = Limited {
            left: 10,
            input: io::repeat(b' '),
        };
        let told = limited.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(told.to_string().contains("256 MiB"), "{told}");
    }
}
