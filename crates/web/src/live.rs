//! How far a run under way is: what a page shows of it.
//!
//! Invariant: what is kept of a run has a bound, however long it goes.

use std::collections::VecDeque;

use fathom_record::IntervalRecord;
use fathom_report::{escaped, layout_line, live_section};
use fathom_runs::Told;
use fathom_units::{Bytes, Nanos};
use serde_json::Value;

/// Seconds of the present stage that are shown.
const SECONDS_MOST: usize = 600;
/// Notes that are shown.
const NOTES_MOST: usize = 20;

/// What has been told of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// What it does at present.
    doing: String,
    /// Which stage that is: `2 of 5: randread`.
    stage: String,
    name: String,
    seconds: VecDeque<IntervalRecord>,
    /// Measured time of the stage before the first of `seconds`.
    before_ns: u64,
    notes: VecDeque<String>,
}

impl Course {
    /// Takes what was told.
    pub(crate) fn take(&mut self, told: Told) {
        let event = &told.event;
        let number = |key: &str| event[key].as_u64().unwrap_or_default();
        match told.name() {
            "layout" => {
                let path = event["path"].as_str().unwrap_or_default();
                let (done, total) = (number("done_bytes"), number("total_bytes"));
                self.doing = layout_line(path, Bytes::new(done), Bytes::new(total));
            }
            "stage-started" => {
                // Runs of earlier versions have the name alone.
                let words = event["words"].as_str().or(event["name"].as_str());
                let name = words.unwrap_or_default();
                let (nth, count) = (number("index").saturating_add(1), number("count"));
                self.stage = format!("Stage {nth} of {count}: {name}");
                "begins".clone_into(&mut self.doing);
                name.clone_into(&mut self.name);
                self.seconds.clear();
                self.before_ns = 0;
            }
            "interval" => self.second(told.second),
            "stage-finished" => "is over".clone_into(&mut self.doing),
            "note" | "wrong-data" | "job-failed" => self.note(&event["text"]),
            _ => {}
        }
    }

    fn second(&mut self, second: Option<IntervalRecord>) {
        let Some(second) = second else {
            "warms up: nothing is measured yet".clone_into(&mut self.doing);
            return;
        };
        self.doing = format!("measured for {}", Nanos::new(second.at_ns));
        self.seconds.push_back(second);
        if self.seconds.len() > SECONDS_MOST
            && let Some(first) = self.seconds.pop_front()
        {
            self.before_ns = first.at_ns;
        }
    }

    fn note(&mut self, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        self.notes.push_back(text.to_owned());
        if self.notes.len() > NOTES_MOST {
            self.notes.pop_front();
        }
    }

    /// As a part of a page.
    pub(crate) fn html(&mut self) -> String {
        let doing = [self.stage.as_str(), self.doing.as_str()];
        let doing: Vec<&str> = doing.into_iter().filter(|it| !it.is_empty()).collect();
        let doing = match doing.join(", ") {
            none if none.is_empty() => "It has begun".to_owned(),
            doing => doing,
        };
        let notes = self.notes.iter();
        let notes = notes.map(|note| format!("<li>{}</li>\n", escaped(note)));
        let notes: String = notes.collect();
        let notes = if notes.is_empty() {
            notes
        } else {
            format!("<ul>\n{notes}</ul>\n")
        };
        let seconds = self.seconds.make_contiguous();
        format!(
            "<p class=\"verdict\">{}</p>\n{notes}{}",
            escaped(&doing),
            live_section(&self.name, self.before_ns, seconds)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fathom_record::IntervalDirection;
    use serde_json::json;

    use super::*;

    fn told(event: Value) -> Told {
        Told {
            event,
            second: None,
        }
    }

    fn second(at_secs: u64) -> Told {
        let figures = IntervalDirection {
            ios: 700,
            bytes: 700 << 10,
            p50_ns: Some(20_000),
            p99_ns: Some(90_000),
            max_ns: 95_000,
        };
        Told {
            event: json!({"event": "interval", "measured": true}),
            second: Some(IntervalRecord {
                at_ns: at_secs * 1_000_000_000,
                read: Some(figures),
                write: None,
                trim: None,
                meta: BTreeMap::new(),
            }),
        }
    }

    #[test]
    fn what_a_run_does_is_told_at_every_moment() {
        let mut course = Course::default();
        let mut after = |told: Told| {
            course.take(told);
            course.html()
        };
        let started = json!({"event": "run-started"});
        let layout = json!({"event": "layout", "path": "/a<b", "done_bytes": 1 << 20, "total_bytes": 4 << 20});
        let stage = json!({"event": "stage-started", "index": 1, "count": 5, "name": "first", "words": "<s>"});
        let warm = json!({"event": "interval", "measured": false});
        let note = json!({"event": "note", "text": "<n>"});
        for (told, expected) in [
            (told(started), ">It has begun<"),
            (told(layout), ">writing /a&lt;b: 1 MiB of 4 MiB (25 %)<"),
            (told(stage), ">Stage 2 of 5: &lt;s&gt;, begins<"),
            (
                told(warm),
                "Stage 2 of 5: &lt;s&gt;, warms up: nothing is measured yet<",
            ),
            (second(1), ", measured for 1 s<"),
            (second(2), "<td>700</td>"),
            (told(note), "<li>&lt;n&gt;</li>"),
            (told(json!({"event": "stage-finished"})), ", is over<"),
            (told(json!({"event": "unheard-of"})), ", is over<"),
        ] {
            let html = after(told);
            assert!(html.contains(expected), "{expected}: {html}");
        }
    }

    #[test]
    fn a_long_run_takes_no_more_room() {
        let mut course = Course::default();
        let seconds = 3 * SECONDS_MOST as u64;
        for at_secs in 1..=seconds {
            course.take(second(at_secs));
            course.take(told(json!({"event": "note", "text": "n"})));
        }
        assert_eq!(course.seconds.len(), SECONDS_MOST);
        assert_eq!(course.notes.len(), NOTES_MOST);
        assert_eq!(course.before_ns, 2 * SECONDS_MOST as u64 * 1_000_000_000);
        assert!(course.html().contains("<td>700</td>"));
        // The next stage begins anew.
        course.take(told(json!({"event": "stage-started"})));
        assert!(course.seconds.is_empty() && course.before_ns == 0);
    }
}
