//! What has rows of its own: everything together, hosts, SDs, WDs, and pairs of them.

use fathom_units::Nanos;

use super::set_row::Spread;
use super::tally::Tally;
use super::{JobPlace, Layout, RunLayout};

/// What something with rows of its own is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Total,
    Host(usize),
    Sd(usize),
    Wd(usize),
    HostSd(usize, usize),
}

/// Something with rows of its own.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// Files that its rows go to, without `.html`.
    pub(super) pages: Vec<String>,
    /// File of its histogram, without `.html`.
    pub(super) histogram: Option<String>,
    /// Whether a job of the present run belongs to it.
    pub(super) is_used: bool,
    pub(super) interval: Tally,
    /// Intervals that the average leaves out: warm-up, or the first.
    pub(super) before: Tally,
    pub(super) average: Tally,
    /// The rates of its intervals, in a run on files.
    pub(super) spread: Spread,
}

impl Part {
    fn new(kind: Kind, pages: Vec<String>, histogram: Option<String>) -> Self {
        Self {
            kind,
            pages,
            histogram,
            is_used: false,
            interval: Tally::new(),
            before: Tally::new(),
            average: Tally::new(),
            spread: Spread::default(),
        }
    }

    pub(super) fn holds(&self, place: JobPlace) -> bool {
        match self.kind {
            Kind::Total => true,
            Kind::Host(host) => host == place.host,
            Kind::Sd(sd) => sd == place.sd,
            Kind::Wd(wd) => Some(wd) == place.wd,
            Kind::HostSd(host, sd) => (host, sd) == (place.host, place.sd),
        }
    }

    /// Whether it has rows in a run that does not use it: 5.04.07 gives those of SDs and WDs, all zero.
    pub(super) fn has_rows(&self) -> bool {
        self.is_used || matches!(self.kind, Kind::Sd(_) | Kind::Wd(_))
    }

    /// What its average is over: everything, where the run ended before what should be averaged.
    pub(super) fn averaged(&self) -> &Tally {
        if self.average.length == Nanos::ZERO {
            &self.before
        } else {
            &self.average
        }
    }
}

/// WDs have files of their own where a run has several, or is on file systems.
pub(super) fn wd_pages(layout: &Layout) -> &[String] {
    let has_several = |run: &RunLayout| {
        let mut wds = run.jobs.iter().filter_map(|place| place.wd);
        let first = wds.next();
        run.on_files || wds.any(|wd| Some(wd) != first)
    };
    if layout.runs.iter().any(has_several) {
        &layout.wds
    } else {
        &[]
    }
}

/// Everything that has rows in some run.
pub(super) fn parts(layout: &Layout) -> Vec<Part> {
    let mut parts = vec![Part::new(
        Kind::Total,
        vec!["summary".to_owned()],
        Some("histogram".to_owned()),
    )];
    let histogram = |name: &str| Some(format!("{name}.histogram"));
    let several = layout.hosts.len() > 1;
    for (index, host) in layout.hosts.iter().enumerate() {
        let pages = vec![host.clone(), format!("{host}-0")];
        let histogram = histogram(host).filter(|_| several);
        parts.push(Part::new(Kind::Host(index), pages, histogram));
    }
    for (index, sd) in layout.sds.iter().enumerate() {
        let without = layout.detail.without;
        let has_page = if index < layout.first_fsd {
            !without.sds
        } else {
            !without.fsds
        };
        let pages = has_page.then(|| sd.clone()).into_iter().collect();
        let histogram = histogram(sd).filter(|_| has_page);
        parts.push(Part::new(Kind::Sd(index), pages, histogram));
    }
    let wds = wd_pages(layout);
    for (index, wd) in wds.iter().enumerate() {
        parts.push(Part::new(Kind::Wd(index), vec![wd.clone()], histogram(wd)));
    }
    parts.extend(detail_parts(layout));
    parts
}

/// Files for each host, or slave, and SD that a run puts together.
fn detail_parts(layout: &Layout) -> Vec<Part> {
    let mut parts = Vec::new();
    if !layout.detail.by_host && !layout.detail.by_slave {
        return parts;
    }
    let places = layout.runs.iter().flat_map(|run| &run.jobs);
    let mut pairs: Vec<_> = places.map(|place| (place.host, place.sd)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (host, sd) in pairs {
        let (host_name, sd_name) = (&layout.hosts[host], &layout.sds[sd]);
        let mut pages = Vec::new();
        if layout.detail.by_host {
            pages.push(format!("{host_name}.{sd_name}"));
        }
        if layout.detail.by_slave {
            pages.push(format!("{host_name}-0.{sd_name}"));
        }
        parts.push(Part::new(Kind::HostSd(host, sd), pages, None));
    }
    parts
}
