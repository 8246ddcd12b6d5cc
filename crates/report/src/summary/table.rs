//! The table: rate, throughput and latency of each job and direction.

use std::fmt::Write as _;

use fathom_record::{
    DirectionRecord, IntervalDirection, IntervalRecord, JobRecord, LatencyRecord, Record,
    StageRecord, jobs_in_words, merged_latency, merged_response,
};
use fathom_stats::confidence_95;
use fathom_units::{Nanos, counted_ios, per_second};

use super::{merged, names_of, stage_of_repeats};
use crate::cells::{columns_of, padded};
use crate::format::{mebibytes, rate, short_mean, short_time, shortened};
use crate::lines::Lines;
use crate::repeats::stages_with_repeats;

/// Figures of one line: one for each repeat of its stage.
pub(crate) struct Row {
    pub(crate) name: String,
    /// Its stage, where `name` begins with that.
    stage: Option<String>,
    /// Whether it moves bytes; operations on names have none of their own.
    pub(crate) moves: bool,
    pub(crate) repeats: Vec<DirectionRecord>,
}

impl Row {
    pub(crate) fn mean_of(&self, figure: fn(&DirectionRecord) -> f64) -> f64 {
        self.repeats.iter().map(figure).sum::<f64>() / self.repeats.len() as f64
    }

    /// Latency over all repeats: percentiles of the merged histograms, the mean over all I/Os.
    pub(crate) fn latency(&self) -> LatencyRecord {
        let repeats: Vec<&DirectionRecord> = self.repeats.iter().collect();
        merged_latency(&repeats).unwrap_or_else(|| self.repeats[0].latency_ns.clone())
    }

    /// Response time from intended start over all repeats, where there is one.
    pub(crate) fn response(&self) -> Option<LatencyRecord> {
        let repeats = self.repeats.iter().filter(|repeat| repeat.ios > 0);
        merged_response(&repeats.collect::<Vec<_>>())
    }

    /// Its name below a line that says its stage.
    fn name_in_stage(&self) -> &str {
        let stage = self.stage.as_ref().map_or(0, |stage| stage.len() + 2);
        &self.name[stage..]
    }

    /// Its figures as text, in the order of the table's columns.
    fn figures(&self, repeated: bool) -> [String; 7] {
        let latency = self.latency();
        let bandwidth = if self.moves {
            mebibytes(self.mean_of(|repeat| repeat.bandwidth_bytes_per_sec))
        } else {
            "-".to_owned()
        };
        [
            rate(self.mean_of(|repeat| repeat.iops)),
            self.second_column(repeated),
            bandwidth,
            short_time(latency.p50),
            short_time(latency.p99),
            short_time(latency.p99_9),
            short_time(latency.max),
        ]
    }

    /// The spread over the repeats where there are any in the table, the mean latency otherwise.
    pub(crate) fn second_column(&self, repeated: bool) -> String {
        let rates: Vec<f64> = self.repeats.iter().map(|repeat| repeat.iops).collect();
        match confidence_95(&rates) {
            Some(interval) if interval.mean > 0.0 => {
                format!("{:.1}%", interval.half_width / interval.mean * 100.0)
            }
            _ if repeated => "-".to_owned(),
            _ => short_mean(self.latency().mean),
        }
    }
}

/// A line for each stage (repeats together), job name and direction; a total where a stage has several.
pub(crate) fn rows_of(record: &Record) -> Vec<Row> {
    let stages = stages_with_repeats(record);
    // A run that was cut short in its first stage is not known by that alone.
    let planned = record.workload["stage"].as_array().map_or(0, Vec::len);
    let several = stages.len() > 1 || (record.interrupted && planned > 1);
    let mut rows: Vec<Row> = Vec::new();
    for (base, repeats) in &stages {
        let words = stage_of_repeats(base, repeats);
        // Lines of one name belong together within a stage alone.
        let begin = rows.len();
        for line in repeats.iter().flat_map(|stage| stage_lines(stage)) {
            let (name, direction, figures) = line;
            let moves = ["read", "write", "trim", "together"].contains(&direction);
            let stage = (several && name != words).then(|| words.clone());
            let said = name.split(' ').any(|word| word.ends_with(direction));
            let direction = if said {
                String::new()
            } else {
                format!(" {direction}")
            };
            // Of a stage that was cut off the jobs are not known.
            let own = format!("{name}{direction}").trim_start().to_owned();
            let row = Row {
                name: match &stage {
                    Some(stage) => format!("{stage}: {own}"),
                    None => own,
                },
                stage,
                moves,
                repeats: vec![figures],
            };
            add(&mut rows, begin, row);
        }
    }
    rows
}

/// Adds the figures of `row` to the row of its name among those from `begin` on.
fn add(rows: &mut Vec<Row>, begin: usize, row: Row) {
    match rows[begin..].iter_mut().find(|it| it.name == row.name) {
        Some(same) => same.repeats.extend(row.repeats),
        None => rows.push(row),
    }
}

type Line<'a> = (String, &'a str, DirectionRecord);
type OfInterval = fn(&IntervalRecord) -> Option<&IntervalDirection>;
type OfJob = fn(&JobRecord) -> &Option<DirectionRecord>;

fn stage_lines(stage: &StageRecord) -> Vec<Line<'_>> {
    let mut lines: Vec<Line> = Vec::new();
    let total = &stage.total;
    let directions: [(&str, _, OfJob); 4] = [
        ("read", &total.read, |job| &job.read),
        ("write", &total.write, |job| &job.write),
        ("trim", &total.trim, |job| &job.trim),
        ("sync", &total.sync, |job| &job.sync),
    ];
    // What all directions come to has no syncs.
    let used = directions[..3]
        .iter()
        .filter(|(_, figures, _)| figures.as_ref().is_some_and(|f| f.ios > 0))
        .count();
    if used > 1 {
        let all = total.all.clone();
        lines.extend(all.map(|figures| ("all".to_owned(), "together", figures)));
    }
    for (direction, figures, of_job) in directions {
        let Some(figures) = figures.as_ref().filter(|figures| has_figures(figures)) else {
            continue;
        };
        // A job counts for the directions it used, not for those of its neighbours.
        let names = names_of(&stage.jobs, |job| {
            of_job(job).as_ref().is_some_and(has_figures)
        });
        let mut doing = stage.jobs.iter().filter_map(|job| of_job(job).as_ref());
        let only = doing.find(|figures| has_figures(figures));
        // What one job did is told over its own time, which may be shorter than the stage's.
        let figures = only.filter(|_| !doing.any(has_figures)).unwrap_or(figures);
        lines.push((together(&names), direction, figures.clone()));
    }
    let operations = merged::operations(stage).into_iter();
    lines.extend(
        operations.map(|(operation, names, figures)| (together(&names), operation, figures)),
    );
    lines
}

/// Jobs on one line: their name where they share one, otherwise their number.
fn together(names: &[&str]) -> String {
    match names {
        [first, rest @ ..] if rest.iter().any(|name| name != first) => {
            format!("{} jobs", names.len())
        }
        same => jobs_in_words(same),
    }
}

fn has_figures(figures: &DirectionRecord) -> bool {
    figures.ios > 0 || figures.errors > 0
}

/// Adds the table, no wider than the screen: a stage whose lines would be too long has a line of its own above them. For
/// names that are longer still the columns give way first, down to what their figures need; then they are shortened. Where
/// repeats show their spread, the mean gives way. On a narrow screen names stand above their figures. A stage that was cut
/// off stands below it with what is known of it.
pub(super) fn write_table(text: &mut Lines, record: &Record) {
    let rows = rows_of(record);
    if !rows.is_empty() {
        write_rows(text, &rows);
    }
    for stage in record.stages.iter().filter(|stage| stage.jobs.is_empty()) {
        write_cut_off(text, stage);
    }
}

/// Columns of a figure behind the first.
const FIGURE: usize = 7;

fn write_rows(text: &mut Lines, rows: &[Row]) {
    const BESIDE: usize = 6 * (FIGURE + 1);
    let repeated = rows.iter().any(|row| row.repeats.len() > 1);
    let figures: Vec<[String; 7]> = rows.iter().map(|row| row.figures(repeated)).collect();
    let widest = figures.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let widest = widest.max(9);
    let room = text.columns().saturating_sub(BESIDE + 1 + widest);
    let names = names_in(rows, room);
    let longest = longest_of(&names);
    let second = if repeated { "±95%" } else { "mean" };
    let titles = ["IOPS", second, "MiB/s", "p50", "p99", "p99.9", "max"];
    let titles = titles.map(str::to_owned);
    if text.is_narrow() && longest > room {
        return write_below(text, (rows, &titles), &figures, widest);
    }
    let (widths, names, room) = if longest > room {
        let widths = needed(&titles, &figures);
        let beside: usize = widths.iter().map(|width| width + 1).sum();
        let room = text.columns().saturating_sub(beside);
        (widths, names_in(rows, room), room)
    } else {
        let widths = std::array::from_fn(|at| if at == 0 { widest } else { FIGURE });
        (widths, names, room)
    };
    let width = longest_of(&names).min(room);
    let line = |text: &mut Lines, name: &str, figures: &[String; 7]| {
        let mut beside = String::new();
        for (figure, width) in figures.iter().zip(widths) {
            let _ = write!(beside, " {figure:>width$}");
        }
        let name = padded(&shortened(name, width), width);
        let _ = writeln!(text, "{name}{beside}");
    };
    line(text, "", &titles);
    for ((row, figures), (heading, name)) in rows.iter().zip(&figures).zip(&names) {
        if let Some(stage) = heading {
            let _ = writeln!(text, "{}", shortened(stage, text.columns()));
        }
        line(text, name, figures);
        write_errors(text, row);
    }
}

/// Columns of the longest of these names, and some for tables of short ones.
fn longest_of(names: &[(Option<&str>, String)]) -> usize {
    let longest = names.iter().map(|(_, name)| columns_of(name)).max();
    longest.unwrap_or(0).max(8)
}

/// Columns that the titles and figures need.
fn needed(titles: &[String; 7], figures: &[[String; 7]]) -> [usize; 7] {
    std::array::from_fn(|at| {
        let cells = figures
            .iter()
            .chain([titles])
            .map(|row| row[at].chars().count());
        cells.max().unwrap_or(0)
    })
}

/// The table of a narrow screen: each name with its figures on the lines below it, rates and latencies apart where they do
/// not fit beside each other.
fn write_below(
    text: &mut Lines,
    (rows, titles): (&[Row], &[String; 7]),
    figures: &[[String; 7]],
    widest: usize,
) {
    let add = |text: &mut Lines, figures: &[String; 7]| {
        let (rates, latencies) = figures.split_at(3);
        text.figures(&[rates, latencies], [widest, FIGURE]);
    };
    add(text, titles);
    let columns = text.columns();
    let names = names_in(rows, columns);
    for ((row, figures), (heading, name)) in rows.iter().zip(figures).zip(&names) {
        for name in heading.iter().copied().chain([name.as_str()]) {
            let _ = writeln!(text, "{}", shortened(name, columns));
        }
        add(text, figures);
        write_errors(text, row);
    }
}

fn write_errors(text: &mut Lines, row: &Row) {
    let errors: u64 = row.repeats.iter().map(|repeat| repeat.errors).sum();
    if errors > 0 {
        let _ = writeln!(text, "  {} failed", counted_ios(errors));
    }
}

/// The name of each row in `room` columns, with the line to write above it where its stage begins there and has rows that
/// are too long beside its own name.
fn names_in(rows: &[Row], room: usize) -> Vec<(Option<&str>, String)> {
    let mut names = Vec::new();
    for rows in rows.chunk_by(|a, b| a.stage.is_some() && a.stage == b.stage) {
        let too_long = rows.iter().any(|row| columns_of(&row.name) > room);
        match rows[0].stage.as_deref().filter(|_| too_long) {
            Some(stage) => names.extend(rows.iter().enumerate().map(|(at, row)| {
                let heading = (at == 0).then_some(stage);
                (heading, format!("  {}", row.name_in_stage()))
            })),
            None => names.extend(rows.iter().map(|row| (None, row.name.clone()))),
        }
    }
    names
}

/// What is known of a stage that never ended: its seconds. Percentiles of seconds make no percentile of the stage.
fn write_cut_off(text: &mut Lines, stage: &StageRecord) {
    let time = Nanos::new(stage.measured_ns);
    let heading = format!("{}, cut off after {time} of measuring:", stage.name);
    text.line("", &heading, 2);
    let directions: [(&str, OfInterval); 3] = [
        ("read", |interval| interval.read.as_ref()),
        ("write", |interval| interval.write.as_ref()),
        ("trim", |interval| interval.trim.as_ref()),
    ];
    for (direction, of_interval) in directions {
        let seconds = || stage.intervals.iter().filter_map(of_interval);
        let ios = seconds().map(|second| second.ios).sum::<u64>();
        if ios > 0 {
            let bytes = seconds().map(|second| second.bytes).sum::<u64>();
            let max = seconds().map(|second| second.max_ns).max().unwrap_or(0);
            let line = format!(
                "{direction} {} IOPS, {} MiB/s, max {}",
                rate(per_second(ios, time)),
                mebibytes(per_second(bytes, time)),
                short_time(max)
            );
            text.line("  ", &line, 4);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, names_in};

    fn row(stage: Option<&str>, own: &str) -> Row {
        Row {
            name: match stage {
                Some(stage) => format!("{stage}: {own}"),
                None => own.to_owned(),
            },
            stage: stage.map(str::to_owned),
            moves: true,
            repeats: Vec::new(),
        }
    }

    #[test]
    fn a_stage_whose_rows_are_too_long_stands_above_them() {
        let long = Some("RandomReads_8K + RandomWrites_8K");
        let rows = [
            row(Some("warm"), "3 jobs read"),
            row(long, "3 jobs read"),
            row(long, "all together"),
            row(None, "a job of a rather long name"),
        ];
        let names = names_in(&rows, 20);
        let expected = [
            (None, "warm: 3 jobs read"),
            (long, "  3 jobs read"),
            (None, "  all together"),
            (None, "a job of a rather long name"),
        ];
        let names: Vec<_> = names
            .iter()
            .map(|(it, name)| (*it, name.as_str()))
            .collect();
        assert_eq!(names, expected);
    }
}
