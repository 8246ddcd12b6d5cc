//! The first lines of each file, and the links among them.

use std::fmt::Write as _;

use super::{Layout, RunLayout, moment};

/// Most links on one line.
const LINKS_PER_LINE: usize = 8;
/// Column at which links begin.
const LINK_COLUMN: usize = 33;

/// The line every file begins with.
pub fn title(layout: &Layout, page: &str) -> String {
    let directory = layout.directory.trim_end_matches('/');
    let last = directory.rsplit('/').next().unwrap_or(directory);
    format!("<title>Vdbench {last}/{page}</title><pre>\n")
}

/// A link with what it is a link to before it.
pub fn link(label: &str, page: &str, name: &str) -> String {
    format!("{label:LINK_COLUMN$}<A HREF=\"{page}.html\">{name}</A>\n")
}

/// Links to several files, each name padded to eight columns.
fn links(label: &str, names: &[String]) -> String {
    let mut text = String::new();
    for (index, line) in names.chunks(LINKS_PER_LINE).enumerate() {
        let items = line.iter().map(|name| {
            let padding = " ".repeat(8usize.saturating_sub(name.chars().count()));
            format!("<A HREF=\"{name}.html\">{name}</A>{padding}")
        });
        let label = if index == 0 { label } else { "" };
        let items: Vec<String> = items.collect();
        let _ = writeln!(text, "{label:LINK_COLUMN$}{}", items.join(" "));
    }
    text
}

fn by_name(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names
}

/// The beginning of `summary.html`, up to the links to runs.
pub fn summary(layout: &Layout, wds: &[String], now: u64) -> String {
    let created = moment::created(now, &layout.zone);
    let mut text = format!(
        "{}, in the layout of Vdbench 5.04.07\nVdbench summary report, created {created} ({created})\n\n",
        layout.program
    );
    for (label, page) in [
        ("Link to logfile:", "logfile"),
        ("Run totals:", "totals"),
        ("Vdbench status:", "status"),
        ("Copy of input parameter files:", "parmfile"),
        ("Copy of parameter scan detail:", "parmscan"),
        ("Link to errorlog:", "errorlog"),
        ("Link to flatfile:", "flatfile"),
    ] {
        text.push_str(&link(label, page, page));
    }
    text.push('\n');
    text.push_str(&links("Link to HOST reports:", &layout.hosts));
    let (sds, fsds) = layout.sds.split_at(layout.first_fsd.min(layout.sds.len()));
    let (wds, fwds) = wds.split_at(layout.first_fwd.min(wds.len()));
    let without = layout.detail.without;
    // Those of files stand here in the order of their names, those of storage further on in the order of the file.
    if !without.fsds && !fsds.is_empty() {
        text.push_str(&links("Link to FSD reports:", &by_name(fsds)));
    }
    if !fwds.is_empty() {
        text.push_str(&links("Link to FWD reports:", &by_name(fwds)));
    }
    text.push_str(&link(
        "Link to response time histogram:",
        "histogram",
        "histogram",
    ));
    text.push_str(&link("Link to workload skew report:", "skew", "skew"));
    if !without.sds && !sds.is_empty() {
        text.push_str(&links("Link to SD reports:", sds));
    }
    if !wds.is_empty() {
        text.push('\n');
        for wd in wds {
            text.push_str(&link("Link to workload report:", wd, wd));
        }
    }
    text
}

/// Links to all runs, as every file with runs has them: the name of an RD once, then its loops below each other.
pub fn run_links(layout: &Layout) -> String {
    let label = "Link to Run Definitions:";
    let mut text = String::from("\n");
    let mut before: Option<&RunLayout> = None;
    for (index, run) in layout.runs.iter().enumerate() {
        let loops = run.loops.as_deref().unwrap_or("None");
        let lead = format!("{} For loops: ", run.name);
        let is_same = before.is_some_and(|before| before.name == run.name);
        let label = if index == 0 { label } else { "" };
        let id = run_id(layout, index);
        let _ = if is_same {
            let column = LINK_COLUMN + lead.chars().count();
            writeln!(text, "{label:column$}<A HREF=\"#_{id}\">{loops}</A>")
        } else {
            writeln!(
                text,
                "{label:LINK_COLUMN$}<A HREF=\"#_{id}\">{lead}{loops}</A>"
            )
        };
        before = Some(run);
    }
    text.push('\n');
    text
}

/// The number a run's links go to (FNV-1a of its name and place, as any number would do).
pub fn run_id(layout: &Layout, index: usize) -> u32 {
    let name = layout.runs[index].name.bytes();
    let bytes = name.chain(index.to_le_bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    hash >> 1
}

/// What a run is about, without the clock time: `Starting RD=…`.
pub fn run_title(run: &RunLayout) -> String {
    let seconds = |time: fathom_units::Nanos| time.get() / 1_000_000_000;
    let elapsed = run
        .elapsed
        .map_or_else(|| "(none)".to_owned(), |it| seconds(it).to_string());
    let warmup = match seconds(run.warmup) {
        0 => String::new(),
        warmup => format!(" warmup={warmup}"),
    };
    if run.is_format {
        return format!("RD={}", run.name);
    }
    if run.on_files {
        // In 5.04.07 a point, not a semicolon, follows `max`.
        let rate = match run.rate {
            super::Rate::Number(rate) => format!("{rate:.0};"),
            super::Rate::Curve | super::Rate::ControlledCurve => "curve.".to_owned(),
            _ => "max.".to_owned(),
        };
        return format!(
            "RD={}; elapsed={elapsed}{warmup}; fwdrate={rate} For loops: {}",
            run.name,
            run.loops.as_deref().unwrap_or("None")
        );
    }
    format!(
        "RD={}; I/O rate: {}; elapsed={elapsed}{warmup}; For loops: {}",
        run.name,
        run.rate.title(),
        run.loops.as_deref().unwrap_or("None")
    )
}

/// The line that starts a run in a file, with the anchor that links go to.
pub fn run_start(layout: &Layout, index: usize, of_day: &str) -> String {
    let id = run_id(layout, index);
    let title = run_title(&layout.runs[index]);
    format!("\n<a name=\"_{id}\"></a><i><b>{of_day} Starting {title}</b></i>\n\n")
}
