//! A design that carries the need, with all that is to be said about it.

use fathom_catalog::{Catalog, VmSize};
use fathom_profile::PeriodKind;
use fathom_units::{Nanos, Percent};

use crate::advice;
use crate::candidate::Candidate;
use crate::design::{self, Spend};
use crate::drive::Drive;
use crate::limits::{self, Terms};
use crate::line::{Line, Unit};
use crate::machine::is_burstable;
use crate::need::Need;
use crate::proof::{self, Proof, ProvenVolume};
use crate::rounds::Headroom;
use crate::unloaded::Unloaded;
use crate::workload;
use crate::{Cost, PlanError, Prove, Request};

/// Operations a second that a prediction is taken to go through, on one core: the least of what was measured.
const OPERATIONS_PER_SEC: u64 = 1_000_000;
/// Seconds that are spent on proofs without being asked for.
const PROOF_SECONDS: u64 = 5;
/// Seconds that a peak on credits is predicted for at least.
const CREDITS_FOR: Nanos = Nanos::from_secs(5);

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
    /// The workload file that proves it, and will prove the real thing.
    pub workload: String,
    /// What was predicted.
    pub proof: Proven,
    /// Whether it has credits, and which the proof spent.
    pub credits: OnCredits,
    /// Headroom that it was planned with.
    pub headroom: Headroom,
    /// What to do with each volume, and why: one sentence each.
    pub advice: Vec<String>,
}

/// The credits of an offer, and what its proof spent of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCredits {
    /// It has none.
    Without,
    /// It has some, and the proof spent none.
    Unspent,
    /// The proof of the peak began with this share of full buckets, and was as long as that share of the peak.
    Share(Percent),
}

/// What is known of an offer from prediction.
#[derive(Debug, Clone, PartialEq)]
pub enum Proven {
    /// It was predicted.
    Yes(Proof),
    /// It was not; a prediction would take about so many seconds.
    No(u64),
}

impl Proven {
    /// The proof, where there is one.
    pub const fn proof(&self) -> Option<&Proof> {
        match self {
            Self::Yes(proof) => Some(proof),
            Self::No(_) => None,
        }
    }
}

/// Proofs of one plan: what they have cost, and whether they are still wanted.
#[derive(Clone, Copy)]
pub(crate) struct Budget<'s> {
    mode: Prove,
    /// Operations that were predicted.
    spent: u64,
    stop: &'s dyn Fn() -> bool,
}

impl<'s> Budget<'s> {
    /// Operations that are predicted without being asked for.
    pub(crate) const ALL: u64 = PROOF_SECONDS * OPERATIONS_PER_SEC;

    pub(crate) fn new(mode: Prove, stop: &'s dyn Fn() -> bool) -> Self {
        Self {
            mode,
            spent: 0,
            stop,
        }
    }

    /// # Errors
    /// [`PlanError::Stopped`] where the plan is not wanted any more.
    pub(crate) fn go_on(&self) -> Result<(), PlanError> {
        if (self.stop)() {
            return Err(PlanError::Stopped);
        }
        Ok(())
    }

    /// Operations that were predicted.
    pub(crate) const fn spent(&self) -> u64 {
        self.spent
    }

    /// Spends so many operations, if that many are left. What would take too long leaves the others their proofs.
    fn allows(&mut self, operations: u64) -> bool {
        let spent = self.spent.saturating_add(operations);
        let is_allowed = match self.mode {
            Prove::Always => true,
            Prove::Never => false,
            Prove::Soon => spent <= Self::ALL,
        };
        if is_allowed {
            self.spent = spent;
        }
        is_allowed
    }
}

impl Offer {
    /// Explains and proves a candidate. The proof spends no credits but those that were asked for.
    pub(crate) fn new(
        need: &Need,
        (candidate, cost): (Candidate, Cost),
        (request, terms): (&Request, &Terms<'_>),
        (budget, catalog): (&mut Budget<'_>, &'static Catalog),
    ) -> Result<Self, PlanError> {
        let lines = limits::lines(need, &candidate, terms);
        let drive = Drive::of(need, &candidate, terms);
        let periods: Vec<_> = need.periods().collect();
        let operations = drive.operations(need, &candidate, terms);
        let mut credits = if design::has_credits(&candidate) {
            OnCredits::Unspent
        } else {
            OnCredits::Without
        };
        let proof = if budget.allows(operations) {
            let spends = lines.iter().any(Line::spends_credits);
            let asked = request.burst.filter(|_| spends);
            let context = (request, terms);
            let means = (catalog, budget.stop);
            let (mut proof, share) = prove(need, (&candidate, drive), (asked, context), means)?;
            credits = share.map_or(credits, OnCredits::Share);
            for (volume, storage) in need.volumes.iter().zip(&candidate.volumes) {
                for load in &volume.loads {
                    let unloaded = Unloaded::of(load, storage, candidate.vm, terms);
                    let mean = unloaded.map(|it| it.mean);
                    proof.tell_unloaded((&volume.name, load.period), mean);
                }
            }
            Proven::Yes(proof)
        } else {
            Proven::No(operations.div_ceil(OPERATIONS_PER_SEC))
        };
        Ok(Self {
            lines,
            design: design::text(need, &candidate, Spend::Credits, (request, terms)),
            workload: workload::text(need, &candidate, &drive, (&periods, None)),
            advice: advice::of(need, &candidate, terms),
            candidate,
            cost,
            proof,
            credits,
            headroom: Headroom::of_all(0),
        })
    }

    /// The workload of one of its machines, from 1 on, as that machine itself runs it.
    pub fn workload_of(&self, need: &Need, machine: u32) -> String {
        let periods: Vec<_> = need.periods().collect();
        let of = (periods.as_slice(), Some(machine));
        workload::text(
            need,
            &self.candidate,
            &Drive::real(need, self.candidate.machines),
            of,
        )
    }

    /// The machines and their storage in one line.
    pub fn title(&self) -> String {
        self.candidate.title()
    }

    /// The limit that binds first when everything grows alike, and how many times the need it gives.
    pub fn first_to_bind(&self) -> Option<(&Line, f64)> {
        let bound = self.lines.iter();
        let bound = bound.filter(|line| line.unit != Unit::Disks);
        let bound = bound.filter_map(|line| Some((line, line.headroom()?)));
        bound.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// That a rate binds with next to no headroom, where one does.
    pub(crate) fn without_headroom(&self) -> Option<&'static str> {
        let rates = self.lines.iter().filter(|line| line.unit.is_rate());
        let mut headrooms = rates.filter_map(Line::headroom);
        headrooms.any(|ratio| ratio < 1.02).then_some(
            "with no headroom, I/Os that come in bursts wait for as long as the load lasts",
        )
    }

    /// What makes its machine doubtful, whatever is predicted: a sentence for each.
    pub(crate) fn of_machine(&self) -> impl Iterator<Item = &'static str> {
        doubts_of_machine(self.candidate.vm, &self.lines)
    }

    /// Whether its I/Os wait for each other, and how that is known: by its proof, or without one because it has no headroom.
    pub(crate) fn waits(&self, prove: Prove) -> Option<String> {
        match &self.proof {
            Proven::Yes(proof) => proof.volumes.iter().find_map(ProvenVolume::waits),
            Proven::No(_) if prove == Prove::Never => None,
            Proven::No(_) => {
                let words = self.without_headroom()?;
                Some(format!("it is not proven, and {words}"))
            }
        }
    }

    /// Why it stands behind offers that nothing makes doubtful.
    pub(crate) fn doubt(&self, prove: Prove) -> Option<String> {
        let of_machine = self.of_machine().next().map(str::to_owned);
        of_machine.or_else(|| self.waits(prove))
    }
}

/// What makes a machine doubtful by its limits: that one is printed by no page, and that its processors are at full speed on
/// credits alone, where processors are asked for.
pub(crate) fn doubts_of_machine(
    vm: &VmSize,
    lines: &[Line],
) -> impl Iterator<Item = &'static str> + use<> {
    let is_blank = |line: &Line| line.owner.starts_with(vm.name) && line.have == u64::MAX;
    let unprinted = lines.iter().any(is_blank).then_some(
        "no page prints a limit that is marked so, and nothing says that the machine carries this",
    );
    let asks = lines.iter().any(|line| line.unit == Unit::Processors);
    let burstable = (asks && is_burstable(vm)).then_some(
        "its processors are at full speed on credits alone, and no page in the catalogue prints what they do without",
    );
    unprinted.into_iter().chain(burstable)
}

/// Predicts the need on a candidate; a peak that spends credits by itself, on so much of them as is its share of the time
/// that they are to last, which is told.
fn prove(
    need: &Need,
    (candidate, drive): (&Candidate, Drive),
    (credits_for, context): (Option<Nanos>, (&Request, &Terms<'_>)),
    means: (&'static Catalog, &dyn Fn() -> bool),
) -> Result<(Proof, Option<Percent>), PlanError> {
    let one = |periods: &[PeriodKind], drive: &Drive, spend| {
        let design = design::text(need, candidate, spend, context);
        let workload = workload::text(need, candidate, drive, (periods, None));
        proof::prove(need, periods, (&design, &workload), means)
    };
    let Some(peak) = credits_for else {
        let periods: Vec<_> = need.periods().collect();
        return Ok((one(&periods, &drive, Spend::Nothing)?, None));
    };
    let (spending, steady): (Vec<_>, Vec<_>) = need
        .periods()
        .partition(|period| *period == PeriodKind::Peak);
    let mut proof = if steady.is_empty() {
        Proof::default()
    } else {
        one(&steady, &drive, Spend::Nothing)?
    };
    // Credits of a design are given in hundredths of a percent.
    let point = (peak.get() / 10_000).max(1);
    let points = CREDITS_FOR.get().max(drive.lasts(PeriodKind::Peak).get());
    let points = points.div_ceil(point);
    let points = u32::try_from(points.min(10_000)).unwrap_or(10_000);
    let share = Percent::from_basis_points(points).unwrap_or(Percent::ALL);
    let drive = drive.lasting(Nanos::new(point * u64::from(points)));
    let spent = one(&spending, &drive, Spend::Share(share))?;
    proof.volumes.extend(spent.volumes);
    Ok((proof, Some(share)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_that_is_too_long_spends_nothing() {
        let wanted = || false;
        let mut soon = Budget::new(Prove::Soon, &wanted);
        let found = [Budget::ALL + 1, 1, Budget::ALL, Budget::ALL - 1, 1];
        let found = found.map(|operations| soon.allows(operations));
        assert_eq!(found, [false, true, false, true, false]);
        assert_eq!(soon.spent(), Budget::ALL);
        let mut always = Budget::new(Prove::Always, &wanted);
        assert!(always.allows(Budget::ALL) && always.allows(1));
        assert_eq!(always.spent(), Budget::ALL + 1);
        let mut never = Budget::new(Prove::Never, &wanted);
        assert!(!never.allows(1));
    }
}
