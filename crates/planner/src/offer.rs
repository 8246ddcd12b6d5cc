//! A design that carries the need, with all that is to be said about it.

use fathom_catalog::Catalog;

use crate::candidate::{Candidate, Cost};
use crate::design::{self, Spend};
use crate::limits::{self, Line};
use crate::need::Need;
use crate::proof::{self, Proof};
use crate::{PlanError, workload};

/// A design that carries the need.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Its parts.
    pub candidate: Candidate,
    /// What it is ranked by.
    pub cost: Cost,
    /// Every limit.
    pub lines: Vec<Line>,
    /// The design file.
    pub design: String,
    /// The workload file that proved it, and will prove the real thing.
    pub workload: String,
    /// What was predicted.
    pub proof: Proof,
}

impl Offer {
    /// Explains and proves a candidate. The proof spends no credits.
    pub(crate) fn new(
        need: &Need,
        candidate: Candidate,
        cost: Cost,
        catalog: &'static Catalog,
    ) -> Result<Self, PlanError> {
        let lines = limits::lines(need, &candidate, catalog);
        let rates = lines.iter().filter(|line| line.unit.is_rate());
        let headroom = rates.filter_map(Line::headroom);
        let headroom = headroom.fold(f64::INFINITY, f64::min);
        let workload = workload::text(need, &candidate, headroom);
        let steady = design::text(need, &candidate, Spend::Nothing);
        let proof = proof::prove(need, &steady, &workload, catalog)?;
        Ok(Self {
            lines,
            design: design::text(need, &candidate, Spend::Credits),
            workload,
            candidate,
            cost,
            proof,
        })
    }

    /// The machine and its disks in one line.
    pub fn title(&self) -> String {
        let disks = self.candidate.volumes.iter();
        let disks = disks.map(|disks| format!("{} × {}", disks.count, disks.kind.name()));
        let disks: Vec<_> = disks.collect();
        format!("{} with {}", self.candidate.vm.name, disks.join(" and "))
    }

    /// The limit that binds first when everything grows alike, and how many times the need it gives.
    pub fn first_to_bind(&self) -> Option<(&Line, f64)> {
        let bound = self.lines.iter();
        let bound = bound.filter(|line| line.unit != limits::Unit::Disks);
        let bound = bound.filter_map(|line| Some((line, line.headroom()?)));
        bound.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}
