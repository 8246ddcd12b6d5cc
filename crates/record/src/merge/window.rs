//! When hosts measured a stage: on one clock, from the first start on.

use fathom_units::Nanos;

use super::HostPart;
use crate::StageRecord;

/// A host's part of a stage.
pub(super) struct HostStage<'a> {
    pub(super) host: &'a str,
    pub(super) stage: &'a StageRecord,
    /// When it began, after the first host; `None` where that is not known.
    pub(super) after: Option<Nanos>,
}

impl HostStage<'_> {
    pub(super) fn measured(&self) -> Nanos {
        Nanos::new(self.stage.measured_ns)
    }

    /// When it began; a host of which that is not known is taken to have begun with the first.
    pub(super) fn start(&self) -> Nanos {
        self.after.unwrap_or_default()
    }

    pub(super) fn end(&self) -> Nanos {
        self.start() + self.measured()
    }
}

/// How hosts' measurements of a stage lie beside each other.
pub(super) struct Window {
    /// First start to last end.
    pub(super) span: Nanos,
    /// First start to last start, where two or more are known.
    pub(super) skew: Option<Nanos>,
    /// Last start to first end.
    pub(super) together: Nanos,
    /// Start of the first by the common monotonic clock, where there is one.
    pub(super) first_ns: Option<u64>,
    /// Start of the first by its wall clock.
    pub(super) first_unix_ns: Option<u64>,
}

/// The hosts that have stage `index`, and when each of them measured it.
pub(super) fn hosts_of(parts: &[HostPart], index: usize) -> (Vec<HostStage<'_>>, Window) {
    let has_clocks = parts.iter().all(|part| part.clock.is_some());
    let start_of = |part: &HostPart, stage: &StageRecord| -> Option<i128> {
        if !has_clocks {
            return stage.started_unix_ns.map(i128::from);
        }
        let ahead = part.clock.map_or(0, |clock| clock.ahead_ns);
        stage
            .started_ns
            .map(|at| i128::from(at) - i128::from(ahead))
    };
    let found = parts.iter().filter_map(|part| {
        let stage = part.record.stages.get(index)?;
        Some((part, stage, start_of(part, stage)))
    });
    let found: Vec<_> = found.collect();
    let first = found.iter().filter_map(|(.., start)| *start).min();
    let first_unix_ns = found
        .iter()
        .filter(|(.., start)| start.is_some() && *start == first)
        .find_map(|(_, stage, _)| stage.started_unix_ns);
    let hosts = found.into_iter().map(|(part, stage, start)| HostStage {
        host: &part.host,
        stage,
        after: (start.zip(first))
            .and_then(|(start, first)| u64::try_from(start - first).ok())
            .map(Nanos::new),
    });
    let hosts: Vec<HostStage<'_>> = hosts.collect();
    let mut window = window(&hosts);
    window.first_unix_ns = first_unix_ns;
    window.first_ns = first
        .filter(|_| has_clocks)
        .and_then(|first| u64::try_from(first).ok());
    (hosts, window)
}

/// Hosts that measured nothing have no part in it.
fn window(hosts: &[HostStage<'_>]) -> Window {
    let measured = || hosts.iter().filter(|host| host.measured() > Nanos::ZERO);
    let known = measured().filter_map(|host| host.after);
    let last_start = measured().map(HostStage::start).max().unwrap_or_default();
    let first_end = measured().map(HostStage::end).min().unwrap_or_default();
    let first_start = known.clone().min().unwrap_or_default();
    Window {
        span: measured().map(HostStage::end).max().unwrap_or_default(),
        skew: (known.clone().count() > 1)
            .then(|| known.max().unwrap_or_default().saturating_sub(first_start)),
        together: first_end.saturating_sub(last_start),
        first_ns: None,
        first_unix_ns: None,
    }
}
