//! The list of stored runs as a table of a page.

use std::fmt::Write as _;

use super::text::{escaped, table};
use crate::format::{mebibytes, rate, short_time};

/// One stored run, ready to be listed.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedRun {
    /// Its id, by which it is chosen.
    pub id: String,
    /// Where its page is.
    pub link: String,
    /// `run`, `predict` or `serve`.
    pub kind: String,
    /// When it began, in UTC.
    pub when: String,
    /// What was run.
    pub what: String,
    /// How it ended, in a few words.
    pub verdict: String,
    /// Whether that is a good end; `None` where it has none yet.
    pub is_good: Option<bool>,
    /// What else is to be told, such as why it cannot be read.
    pub note: Option<String>,
    /// Operations a second of each stage.
    pub iops: Vec<f64>,
    /// Bytes a second of each stage.
    pub bandwidth_bytes_per_sec: Vec<f64>,
    /// Median of latency of each stage.
    pub p50_ns: Vec<u64>,
    /// 99th percentile of latency of each stage.
    pub p99_ns: Vec<u64>,
}

/// Runs as a table, in the order given; each can be chosen as `run` of the form around it.
pub fn list_table(runs: &[ListedRun]) -> String {
    let headings = [
        "Run",
        "Verdict",
        "IOPS",
        "MiB/s",
        "p50",
        "p99",
        "Began (UTC)",
    ];
    let rows: String = runs.iter().map(row).collect();
    format!("<div class=\"runs\">\n{}</div>\n", table(&headings, &rows))
}

fn row(run: &ListedRun) -> String {
    let (id, what) = (escaped(&run.id), escaped(&run.what));
    let mut row = format!(
        "<tr><th scope=\"row\"><input type=\"checkbox\" name=\"run\" value=\"{id}\" aria-label=\"choose {what}, {id}\"> \
         <a href=\"{}\">{what}</a><br><span class=\"soft\">{} <span class=\"id\">{id}</span></span></th>",
        escaped(&run.link),
        escaped(&run.kind)
    );
    let class = match run.is_good {
        Some(true) => "good",
        Some(false) => "bad",
        None => "soft",
    };
    let _ = write!(
        row,
        "<td class=\"words\"><span class=\"{class}\">{}</span>",
        escaped(&run.verdict)
    );
    if let Some(note) = &run.note {
        let _ = write!(row, "<br><span class=\"soft\">{}</span>", escaped(note));
    }
    row.push_str("</td>");
    let figures = [
        span(&run.iops, |figure| rate(*figure)),
        span(&run.bandwidth_bytes_per_sec, |figure| mebibytes(*figure)),
        span(&run.p50_ns, |figure| short_time(*figure)),
        span(&run.p99_ns, |figure| short_time(*figure)),
        run.when.clone(),
    ];
    for figure in figures {
        let _ = write!(row, "<td>{}</td>", escaped(&figure));
    }
    row.push_str("</tr>\n");
    row
}

/// The figure of one stage, or the least and the most of several: stages are not added up.
fn span<T: PartialOrd>(figures: &[T], written: impl Fn(&T) -> String) -> String {
    let less = |a: &&T, b: &&T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
    let (least, most) = (figures.iter().min_by(less), figures.iter().max_by(less));
    let Some((least, most)) = least.zip(most) else {
        return "-".to_owned();
    };
    let (least, most) = (written(least), written(most));
    if least == most {
        least
    } else {
        format!("{least} – {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_a_span_and_never_an_average() {
        for (figures, expected) in [
            (&[][..], "-"),
            (&[85_123.0], "85,123"),
            (&[900.0, 12_000.0, 300.0], "300 – 12,000"),
            (&[300.1, 300.2], "300"),
        ] {
            assert_eq!(span(figures, |figure| rate(*figure)), expected);
        }
    }

    #[test]
    fn nothing_of_a_run_becomes_markup() {
        let run = ListedRun {
            id: "<i>\"".to_owned(),
            link: "runs/%3Ci%3E".to_owned(),
            kind: "<b>".to_owned(),
            when: "now".to_owned(),
            what: "<script>".to_owned(),
            verdict: "<u>".to_owned(),
            is_good: None,
            note: Some("<p>".to_owned()),
            iops: Vec::new(),
            bandwidth_bytes_per_sec: Vec::new(),
            p50_ns: Vec::new(),
            p99_ns: Vec::new(),
        };
        let html = list_table(&[run]);
        for markup in ["<i>", "<b>", "<script>", "<u>", "<p>"] {
            assert!(!html.contains(markup), "{markup}: {html}");
        }
        assert!(html.contains("value=\"&lt;i&gt;&quot;\""), "{html}");
    }
}
