//! What is written when a run is over: averages, histograms, how the I/O was spread, and how busy the processors were.

use std::fmt::Write as _;

use fathom_units::Nanos;

use super::parts::{Kind, Part};
use super::report::Report;
use super::row::{average_label, rounded};
use super::skew::Table;
use super::tally::Tally;
use super::{Pages, Rate, csv, histogram, set_row, skew};

/// Use of the processors in percent from which on it is warned.
const BUSY: f64 = 80.0;

/// An FWD's share of what a run on files was asked for, in percent.
struct ComparedFwd {
    fwd: usize,
    /// Operations a second.
    rate: f64,
    asked: f64,
    seen: f64,
}

impl Report {
    pub(super) fn write_averages(&mut self, pages: &mut dyn Pages, now: u64) {
        let run = self.run_layout().clone();
        let label = average_label(self.first_averaged(), self.interval);
        let has_average = |part: &Part| part.is_used || (run.on_files && part.has_rows());
        self.write_rows(pages, now, &label, has_average, Part::averaged);
        let of_day = self.of_day(now);
        if run.on_files {
            self.write_spreads(pages, &of_day, label.trim_start_matches("avg_"));
        }
        let total = self.parts[0].averaged();
        let mut totals = String::new();
        if self.totals_header != Some(run.on_files) {
            totals = self.header(now);
        }
        totals += &self.row(&of_day, &label, total);
        pages.append("totals.html", &totals);
        // In 5.04.07 an average's label has a blank before it.
        let what = (total, Some(&self.parts[0].spread));
        self.write_flat(pages, now, &format!(" {label}"), what);
        pages.append("percentiles.csv", &csv::lines(&run, &label, total));
        for part in self.parts.iter().filter(|part| part.is_used) {
            if let Some(page) = &part.histogram {
                let limits = &self.layout.response_limits;
                let tables = if run.on_files {
                    histogram::of_set(part.averaged(), limits)
                } else {
                    histogram::tables(part.averaged(), limits)
                };
                pages.append(&format!("{page}.html"), &tables);
            }
        }
        if run.on_files {
            self.write_set_skew(pages, &of_day);
        } else {
            self.write_skew(pages, &of_day);
        }
        self.warn_of_skew(pages, &of_day);
        self.warn_of_processors(pages, &of_day);
        self.totals_header = Some(run.on_files);
    }

    /// The rows below an average that only runs on files have.
    fn write_spreads(&self, pages: &mut dyn Pages, of_day: &str, label: &str) {
        for part in self.parts.iter().filter(|part| part.has_rows()) {
            let of = (&part.spread, part.averaged());
            let rows = set_row::spread_rows(of_day, label, of, &self.layout.operations);
            Self::write_line(pages, part, &rows);
        }
    }

    /// How a run on files was spread over hosts, FSDs and FWDs.
    fn write_set_skew(&self, pages: &mut dyn Pages, of_day: &str) {
        let layout = &self.layout;
        let named = |which: &dyn Fn(Kind) -> Option<String>| -> Vec<(String, &Tally)> {
            let used = self.parts.iter().filter(|part| part.is_used);
            used.filter_map(|part| Some((which(part.kind)?, part.averaged())))
                .collect()
        };
        let hosts = named(&|kind| match kind {
            Kind::Host(host) => Some(layout.hosts[host].clone()),
            _ => None,
        });
        let fsds = named(&|kind| match kind {
            Kind::Sd(sd) => Some(layout.sds[sd].clone()),
            _ => None,
        });
        let fwds = named(&|kind| match kind {
            Kind::Wd(wd) => Some(layout.wds[wd].clone()),
            _ => None,
        });
        let mut lines = Vec::new();
        // A format is no FWD there.
        let fwds = if self.run_layout().is_format {
            Vec::new()
        } else {
            fwds
        };
        // Of FSDs there is a total where the file has several, whichever a run uses.
        let several_fsds = layout.sds.len() > layout.first_fsd + 1;
        for (title, rows, total) in [
            ("Host:", hosts, false),
            ("FSD:", fsds, several_fsds),
            ("FWD:", fwds, false),
        ] {
            if !rows.is_empty() {
                let total = total || rows.len() > 1;
                let rows = rows.iter().map(|(name, tally)| (name.as_str(), *tally));
                let rows: Vec<(&str, &Tally)> = rows.collect();
                lines.push(String::new());
                lines.extend(set_row::table((title, total), &rows, self.shown()));
            }
        }
        lines.extend(self.set_shares());
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{of_day} {line}");
        }
        pages.append("skew.html", &text);
    }

    /// Requested and observed shares of FWDs, where some ask for one.
    fn compared_fwds(&self) -> Vec<ComparedFwd> {
        let run = self.run_layout();
        let fwds = self.used(|kind| match kind {
            Kind::Wd(wd) => Some(wd),
            _ => None,
        });
        if fwds.len() < 2 || run.skews.is_empty() || run.is_format {
            return Vec::new();
        }
        let rate = |tally: &Tally| {
            let figures = tally.set_figures(false);
            figures.rate(figures.requested)
        };
        let total: f64 = fwds.iter().map(|(_, tally)| rate(tally)).sum();
        if total <= 0.0 {
            return Vec::new();
        }
        let compared = fwds.iter().map(|(fwd, tally)| {
            let asked = run.skews.iter().find(|(other, _)| other == fwd);
            ComparedFwd {
                fwd: *fwd,
                rate: rate(tally),
                asked: asked.map_or(0.0, |(_, percent)| *percent),
                seen: rate(tally) * 100.0 / total,
            }
        });
        compared.collect()
    }

    /// The table of them.
    fn set_shares(&self) -> Vec<String> {
        let compared = self.compared_fwds();
        if compared.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![
            String::new(),
            "Skew asked for and observed.".to_owned(),
            "FWD          ops/sec  requested  actual   delta".to_owned(),
        ];
        for one in compared {
            lines.push(format!(
                "{:11} {:>8} {:>9}% {:>6}% {:>+6.2}%",
                self.layout.wds[one.fwd],
                rounded(one.rate, 0),
                rounded(one.asked, 2),
                rounded(one.seen, 2),
                one.seen - one.asked
            ));
        }
        lines
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
        if self.totals_header.is_none() {
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
        put_in_a_box(pages, &lines, of_day);
    }

    /// A box around a workload whose share is over 1 % off what was asked for, where shares are held.
    fn warn_of_skew(&self, pages: &mut dyn Pages, of_day: &str) {
        let run = self.run_layout();
        let wds = self.used(|kind| match kind {
            Kind::Wd(wd) => Some(wd),
            _ => None,
        });
        if run.on_files {
            self.warn_of_set_skew(pages, of_day);
            return;
        }
        let all: u64 = wds.iter().map(|(_, tally)| tally.ios()).sum();
        if all == 0 || matches!(run.rate, Rate::Max | Rate::Curve) {
            return;
        }
        let off = wds.iter().rev().filter_map(|(wd, tally)| {
            let (_, asked) = run.skews.iter().find(|(other, _)| other == wd)?;
            let seen = tally.ios() as f64 * 100.0 / all as f64;
            // A rate of its own is no share of a run as fast as it can be.
            (*asked > 0.0).then_some((*wd, (seen - asked).abs()))
        });
        let most = off.max_by(|(_, one), (_, other)| one.total_cmp(other));
        if let Some((wd, off)) = most {
            self.tell_skew(pages, of_day, ("wd", wd, off));
        }
    }

    /// The same for FWDs, which are held to their shares at any rate.
    fn warn_of_set_skew(&self, pages: &mut dyn Pages, of_day: &str) {
        let off = self.compared_fwds().into_iter();
        let off = off.map(|one| (one.fwd, (one.seen - one.asked).abs()));
        if let Some((fwd, off)) = off.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
            self.tell_skew(pages, of_day, ("fwd", fwd, off));
        }
    }

    fn tell_skew(&self, pages: &mut dyn Pages, of_day: &str, told: (&str, usize, f64)) {
        let (kind, wd, off) = told;
        if off <= 1.0 {
            return;
        }
        let line = format!(
            "Observed Workload skew for {kind}={} delta greater than 1% ({}). See skew.html for details",
            self.layout.wds[wd],
            rounded(off, 2)
        );
        put_in_a_box(pages, &[line], of_day);
    }
}

/// Shows lines within stars, on all pages that tell of a run.
fn put_in_a_box(pages: &mut dyn Pages, lines: &[String], of_day: &str) {
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
