//! What is written when a run is over: averages, histograms, how the I/O was spread, and how busy the processors were.

use std::fmt::Write as _;

use fathom_units::Nanos;

use super::parts::{Kind, Part};
use super::report::Report;
use super::row::{average_label, header, rounded, row};
use super::skew::Table;
use super::tally::Tally;
use super::{Pages, Rate, csv, flatfile, histogram, moment, skew};

/// Use of the processors in percent from which on it is warned.
const BUSY: f64 = 80.0;

impl Report {
    pub(super) fn write_averages(&mut self, pages: &mut dyn Pages, now: u64) {
        let run = self.run_layout().clone();
        let label = average_label(self.first_averaged(), self.interval);
        self.write_rows(pages, now, &label, |part| part.is_used, Part::averaged);
        let of_day = self.of_day(now);
        let total = self.parts[0].averaged();
        let figures = total.figures(self.layout.decimal_megabytes);
        let mut totals = String::new();
        if !self.has_averages {
            let day = moment::day(now, &self.layout.zone);
            totals = header(&day, self.has_processors, self.layout.decimal_megabytes);
        }
        totals += &(row(&of_day, &label, &figures) + "\n");
        pages.append("totals.html", &totals);
        let stamp = moment::stamp(now, &self.layout.zone);
        // In 5.04.07 an average's label has a blank before it.
        let line = flatfile::line((&of_day, &stamp), &run, &format!(" {label}"), &figures);
        pages.append("flatfile.html", &line);
        pages.append("percentiles.csv", &csv::lines(&run, &label, total));
        for part in self.parts.iter().filter(|part| part.is_used) {
            if let Some(page) = &part.histogram {
                let tables = histogram::tables(part.averaged());
                pages.append(&format!("{page}.html"), &tables);
            }
        }
        self.write_skew(pages, &of_day);
        self.warn_of_processors(pages, &of_day);
        self.has_averages = true;
    }

    /// Number of the first interval of the average.
    fn first_averaged(&self) -> u64 {
        if self.parts[0].average.length == Nanos::ZERO {
            return 1;
        }
        let run = self.run_layout();
        match run.warmup.get() / run.interval.get().max(1) {
            0 => 2,
            warm => warm + 1,
        }
    }

    fn write_skew(&self, pages: &mut dyn Pages, of_day: &str) {
        let layout = &self.layout;
        let names = layout.hosts.iter().map(|host| host.chars().count() + 2);
        let others = layout.sds.iter().chain(&layout.wds);
        let width = names.chain(others.map(|name| name.chars().count()));
        let width = width.max().unwrap_or(0).max("Slave:".len());
        let mut lines = Vec::new();
        if !self.has_averages {
            lines.extend([String::new(), "Warm-up is not counted below.".to_owned()]);
        }
        let hosts = self.used(|kind| match kind {
            Kind::Host(host) => Some(host),
            _ => None,
        });
        let slaves: Vec<String> = hosts
            .iter()
            .map(|(host, _)| format!("{}-0", layout.hosts[*host]))
            .collect();
        if layout.hosts.len() > 1 {
            for (slave, (_, tally)) in slaves.iter().zip(&hosts) {
                let rows = vec![(slave.as_str(), *tally)];
                lines.extend(self.table("Slave:", rows, width));
            }
            let rows = hosts
                .iter()
                .map(|(host, tally)| (layout.hosts[*host].as_str(), *tally));
            let table = Table {
                title: "Host:",
                rows: rows.collect(),
                with_processors: self.has_processors,
                requested: None,
            };
            lines.push(String::new());
            lines.extend(skew::lines(&table, width, layout.decimal_megabytes));
        }
        let sds = self.parts.iter().filter_map(|part| match part.kind {
            Kind::Sd(sd) => Some((layout.sds[sd].as_str(), part.averaged())),
            _ => None,
        });
        lines.extend(self.table("SD:", sds.collect(), width));
        lines.extend(self.wd_table(width));
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{of_day} {line}");
        }
        pages.append("skew.html", &text);
    }

    fn used(&self, which: impl Fn(Kind) -> Option<usize>) -> Vec<(usize, &Tally)> {
        let used = self.parts.iter().filter(|part| part.is_used);
        used.filter_map(|part| Some((which(part.kind)?, part.averaged())))
            .collect()
    }

    fn table(&self, title: &str, rows: Vec<(&str, &Tally)>, width: usize) -> Vec<String> {
        let table = Table {
            title,
            rows,
            with_processors: false,
            requested: None,
        };
        let mut lines = vec![String::new()];
        lines.extend(skew::lines(&table, width, self.layout.decimal_megabytes));
        lines
    }

    /// Requested and observed skew, where the run has several WDs.
    fn wd_table(&self, width: usize) -> Vec<String> {
        let run = self.run_layout();
        let wds = self.used(|kind| match kind {
            Kind::Wd(wd) => Some(wd),
            _ => None,
        });
        if wds.len() < 2 {
            return Vec::new();
        }
        let equal = 100.0 / wds.len() as f64;
        let requested = wds.iter().map(|(wd, _)| {
            let asked = run.skews.iter().find(|(other, _)| other == wd);
            asked.map_or(equal, |(_, percent)| *percent)
        });
        let table = Table {
            title: "WD:",
            requested: Some(requested.collect()),
            rows: wds
                .iter()
                .map(|(wd, tally)| (self.layout.wds[*wd].as_str(), *tally))
                .collect(),
            with_processors: false,
        };
        let mut lines = vec![String::new(), "Skew asked for and observed.".to_owned()];
        if matches!(run.rate, Rate::Max | Rate::Curve) {
            lines.push("Nothing holds the skew in an uncontrolled run.".to_owned());
        }
        lines.push(String::new());
        lines.extend(skew::lines(&table, width, self.layout.decimal_megabytes));
        lines
    }

    /// A box around what is said of hosts whose processors were busy.
    fn warn_of_processors(&self, pages: &mut dyn Pages, of_day: &str) {
        let hosts = self.used(|kind| match kind {
            Kind::Host(host) => Some(host),
            _ => None,
        });
        let busy = hosts.iter().filter_map(|(host, tally)| {
            let [user, system, ..] = tally.processors?.percent();
            (user + system > BUSY).then_some((*host, user + system))
        });
        let mut lines = Vec::new();
        for (host, percent) in busy {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!(
                "Warning for host={}: average processor utilization {}% ",
                self.layout.hosts[host],
                rounded(percent, 1)
            ));
            lines.push("Over 80% the processors may be what limits the rate.".to_owned());
        }
        let Some(width) = lines.iter().map(|line| line.chars().count()).max() else {
            return;
        };
        let stars = "*".repeat(width + 4);
        let mut text = format!("{of_day} *\n{of_day} {stars}\n");
        for line in lines {
            let _ = writeln!(text, "{of_day} * {line:width$} *");
        }
        let _ = writeln!(text, "{of_day} {stars}\n{of_day} *");
        pages.append("summary.html", &text);
        pages.append("logfile.html", &text);
        pages.show(&text);
    }
}
