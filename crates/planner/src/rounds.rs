//! Rounds of the search: where designs fail their proofs, others with more headroom are tried.
//!
//! First the whole need is raised by a few percent at a time. Only where nothing at all is left to offer are the volumes whose
//! proofs failed raised by much more, each alone, and by what their latency goals ask for ([`crate::split`]).

use std::collections::{BTreeMap, BTreeSet};

use fathom_catalog::Catalog;

use crate::candidate::Candidate;
use crate::goal;
use crate::limits::{self, Terms};
use crate::need::Need;
use crate::offer::{Budget, Offer, doubts_of_machine};
use crate::proof::{Failure, Proof};
use crate::ranking::{self, Cheaper};
use crate::search::{Found, search};
use crate::split;
use crate::{Cost, PlanError, Prices, Prove, Request};

/// Headroom that is planned with, one after another, where designs fail their proof and too few are left: stripes whose disks
/// are wholly used fall short of their sum by a little, and queues that are nearly full miss goals.
const HEADROOM_PERCENT: [u64; 5] = [0, 5, 10, 20, 40];

/// What a round may try.
#[derive(Debug, Clone, Copy)]
struct Most {
    /// Designs that may fail their proofs, or let their I/Os wait.
    failures: usize,
    /// Operations that proofs may spend before the last of them begins.
    operations: u64,
    /// Whether offers are only to be filled up, with doubtful ones too.
    fill: bool,
}

impl Most {
    /// As long as there is time for proofs.
    const WITHOUT: Self = Self {
        failures: usize::MAX,
        operations: u64::MAX,
        fill: true,
    };

    /// Before designs with more headroom are tried.
    const A_ROUND: Self = Self {
        failures: 6,
        operations: u64::MAX,
        fill: false,
    };

    /// The same where time is short: where proofs are long, few fail before each headroom has had one.
    const SOON: Self = Self {
        operations: Budget::ALL / HEADROOM_PERCENT.len() as u64,
        ..Self::A_ROUND
    };

    /// The same of what is tried last.
    const LAST_SOON: Self = Self {
        operations: Budget::ALL / LAST.len() as u64,
        ..Self::A_ROUND
    };

    /// What was passed over, where all are proven: hundreds of designs may fail for one reason.
    const PASSED_OVER: Self = Self {
        failures: usize::MAX,
        operations: Budget::ALL,
        fill: true,
    };
}

/// A design that carries the need by its limits and fails its proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unproven {
    /// What it is, in one line.
    pub title: String,
    /// How it fails.
    pub failure: Failure,
}

/// What is tried last, one after another, until there is something to offer: headroom of the volumes that failed, in percent.
const LAST: [(u64, Basis); 8] = [
    (10, Basis::Goals),
    (40, Basis::Goals),
    (80, Basis::Rates),
    (80, Basis::Goals),
    (160, Basis::Rates),
    (160, Basis::Goals),
    (320, Basis::Rates),
    (320, Basis::Goals),
];

/// The same without the kinds of storage that failed: there is less to it, for what is left is faster by itself.
const OTHERS: [(u64, Basis); 4] = [
    (0, Basis::Rates),
    (40, Basis::Goals),
    (160, Basis::Goals),
    (320, Basis::Goals),
];

/// Kinds of storage with which a volume failed, by its name.
type Failing = BTreeMap<String, BTreeSet<&'static str>>;

/// What headroom is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The rates that are needed.
    Rates,
    /// Those, or the rates at which an I/O goes through within its latency goal, where these are higher.
    Goals,
}

/// What a design was planned with beyond the need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// Percent of the rates.
    pub percent: u64,
    /// What it is added to.
    pub basis: Basis,
    /// Names of the volumes that have it; `None`: all.
    pub volumes: Option<Vec<String>>,
}

impl Headroom {
    pub(crate) const fn of_all(percent: u64) -> Self {
        Self {
            percent,
            basis: Basis::Rates,
            volumes: None,
        }
    }

    /// The need with this headroom, and without the kinds of storage that are left out.
    fn on(&self, need: &Need, left_out: &Failing) -> Need {
        let mut raised = need.raised(self.percent);
        let pairs = raised.volumes.iter_mut().zip(&need.volumes);
        for (volume, plain) in pairs {
            let is_raised = self
                .volumes
                .as_ref()
                .is_none_or(|names| names.contains(&plain.name));
            if !is_raised {
                volume.clone_from(plain);
            } else if self.basis == Basis::Goals {
                volume.by_goals = split::goals_ask(plain, self.percent);
            }
            let tiers = left_out.get(&plain.name).into_iter().flatten();
            volume.left_out = tiers.copied().collect();
        }
        raised
    }
}

/// The best design of each machine size, planned with some headroom.
type Round = (Headroom, Vec<(Candidate, Cost)>);

/// What all rounds have in common.
pub(crate) struct Asked<'a> {
    pub need: &'a Need,
    pub request: &'a Request,
    pub terms: &'a Terms<'a>,
    pub prices: Option<&'a Prices>,
    pub catalog: &'static Catalog,
    /// Whether the plan is not wanted any more.
    pub stop: &'a dyn Fn() -> bool,
}

/// What the rounds came to.
#[derive(Default)]
pub(crate) struct Judged {
    pub offers: Vec<Offer>,
    /// What is cheaper than the first offer, and doubtful.
    pub cheaper: Option<Cheaper>,
    /// Designs that failed their proofs, and how.
    pub failed: Vec<Unproven>,
    /// Designs that were not proven, while others with as much headroom failed.
    pub untried: usize,
    /// What the search without headroom found, but for its designs.
    pub first: Found,
    /// Combinations that were judged in all rounds.
    pub combinations: u64,
    /// The most machines that a round's cheapest design has.
    pub machines: u32,
    /// Designs that were looked at.
    seen: Vec<Candidate>,
    /// Volumes that failed in some proof.
    failing: Failing,
    /// Designs whose I/Os wait for each other.
    waiting: usize,
    /// Which designs are proven.
    prove: Prove,
    /// Whether one failed of late, or was found to let its I/Os wait.
    falls_short: bool,
    /// The most headroom with which one failed.
    failed_with: Option<u64>,
}

/// Searches and proves, round after round.
///
/// # Errors
/// A distance that the catalogue does not have, [`PlanError::Stopped`], [`PlanError::Broken`].
pub(crate) fn all(asked: &Asked<'_>) -> Result<Judged, PlanError> {
    let mut judged = Judged {
        prove: asked.request.prove,
        ..Judged::default()
    };
    let mut budget = Budget::new(asked.request.prove, asked.stop);
    let mut rounds: Vec<Round> = Vec::new();
    let (most, passed_over) = match asked.request.prove {
        Prove::Always => (Most::A_ROUND, Most::PASSED_OVER),
        Prove::Soon | Prove::Never => (Most::SOON, Most::WITHOUT),
    };
    for (index, percent) in HEADROOM_PERCENT.into_iter().enumerate() {
        if index > 0 && !judged.falls_short {
            break;
        }
        let round = judged.search(asked, Headroom::of_all(percent), &Failing::new())?;
        judged.look_at(asked, &round, most, &mut budget)?;
        rounds.push(round);
    }
    // What was passed over for the sake of designs with more headroom has its turn.
    for round in &rounds {
        judged.look_at(asked, round, passed_over, &mut budget)?;
    }
    judged.trust();
    if !judged.has_proof() && !judged.failing.is_empty() {
        judged.last(asked)?;
    }
    if judged.offers.is_empty() && asked.request.prove == Prove::Always {
        for round in &rounds {
            judged.look_at(asked, round, Most::WITHOUT, &mut budget)?;
        }
    }
    let found = std::mem::take(&mut judged.offers);
    let most = asked.request.offers;
    (judged.offers, judged.cheaper) = ranking::ranked(found, most, asked.request.prove);
    Ok(judged)
}

impl Judged {
    /// Designs with a round's headroom.
    fn search(
        &mut self,
        asked: &Asked<'_>,
        headroom: Headroom,
        left_out: &Failing,
    ) -> Result<Round, PlanError> {
        let need = headroom.on(asked.need, left_out);
        let mut found = search(&need, asked.request, asked.prices, asked.catalog)?;
        self.combinations += found.judged;
        let candidates = std::mem::take(&mut found.candidates);
        let machines = candidates.first().map_or(0, |(it, _)| it.machines);
        self.machines = self.machines.max(machines);
        if self.first.sizes == 0 {
            self.first = found;
        }
        Ok((headroom, candidates))
    }

    /// Leaves out what was offered on trust before designs with as much headroom failed.
    fn trust(&mut self) {
        let (offered, failed_with) = (self.offers.len(), self.failed_with);
        let is_like_failed = |offer: &Offer| failed_with >= Some(offer.headroom.percent);
        self.offers
            .retain(|offer| offer.proof.proof().is_some() || !is_like_failed(offer));
        self.untried += offered - self.offers.len();
    }

    /// Whether any offer is proven.
    fn has_proof(&self) -> bool {
        let mut offers = self.offers.iter();
        offers.any(|offer| offer.proof.proof().is_some())
    }

    /// Raises the volumes that failed alone, until there is something to offer; then does without what they failed on. What is
    /// offered on trust gives way to what is proven.
    fn last(&mut self, asked: &Asked<'_>) -> Result<(), PlanError> {
        let on_trust = std::mem::take(&mut self.offers);
        // Time for proofs that the rounds before left nothing of.
        let mut budget = Budget::new(asked.request.prove, asked.stop);
        self.raise(asked, &LAST, &Failing::new(), &mut budget)?;
        let mut left_out = Failing::new();
        while self.offers.is_empty() && left_out != self.failing {
            left_out.clone_from(&self.failing);
            self.raise(asked, &OTHERS, &left_out, &mut budget)?;
        }
        if self.offers.is_empty() {
            self.offers = on_trust;
        } else {
            self.untried += on_trust.len();
        }
        Ok(())
    }

    fn raise(
        &mut self,
        asked: &Asked<'_>,
        steps: &[(u64, Basis)],
        left_out: &Failing,
        budget: &mut Budget<'_>,
    ) -> Result<(), PlanError> {
        let most = match asked.request.prove {
            Prove::Always => Most::A_ROUND,
            Prove::Soon | Prove::Never => Most::LAST_SOON,
        };
        for &(percent, basis) in steps {
            // Volumes that were met by chance with less may fail beside those that are raised.
            let mut raised = 0;
            while self.offers.is_empty() && raised < self.failing.len() {
                raised = self.failing.len();
                let headroom = Headroom {
                    percent,
                    basis,
                    volumes: Some(self.failing.keys().cloned().collect()),
                };
                let round = self.search(asked, headroom, left_out)?;
                // None of these is offered on trust.
                self.failed_with = self.failed_with.max(Some(percent));
                self.look_at(asked, &round, most, budget)?;
            }
        }
        Ok(())
    }

    /// Explains and proves candidates until there are enough offers, one of each machine size.
    fn look_at(
        &mut self,
        asked: &Asked<'_>,
        (headroom, candidates): &Round,
        most: Most,
        budget: &mut Budget<'_>,
    ) -> Result<(), PlanError> {
        let (fallen_before, spent_before) = (self.fallen_short(), budget.spent());
        self.falls_short = false;
        for (candidate, cost) in candidates {
            budget.go_on()?;
            let failures = self.fallen_short() - fallen_before;
            let is_over = failures >= most.failures
                || (failures > 0 && budget.spent() - spent_before >= most.operations);
            if self.has_enough(*cost, asked.request.offers, most.fill) || is_over {
                break;
            }
            // Waiting is a doubt; another machine to pay for is certain.
            let waits_on_fewer = |offer: &Offer| {
                offer.candidate.machines < candidate.machines && offer.waits(self.prove).is_some()
            };
            if self.offers.iter().any(waits_on_fewer) {
                break;
            }
            if self.is_settled(candidate, asked) {
                continue;
            }
            if self.seen.contains(candidate) {
                // It has failed or waited, and does so again.
                self.falls_short = true;
                continue;
            }
            self.seen.push(candidate.clone());
            let priced = (candidate.clone(), *cost);
            let context = (asked.request, asked.terms);
            let mut offer = Offer::new(asked.need, priced, context, (budget, asked.catalog))?;
            offer.headroom = headroom.clone();
            self.judge(asked.need, offer);
        }
        Ok(())
    }

    /// Designs that failed their proofs, or let their I/Os wait.
    const fn fallen_short(&self) -> usize {
        self.failed.len() + self.waiting
    }

    /// Whether so many offers are found that what costs as much as `cost` is not looked at. Doubtful ones count where offers
    /// are only to be filled up; otherwise others are looked for, and what is cheaper than the dearest of those found.
    fn has_enough(&self, cost: Cost, wanted: usize, fill: bool) -> bool {
        if fill {
            return self.offers.len() >= wanted;
        }
        let sound = self.offers.iter();
        let sound = sound.filter(|offer| offer.doubt(self.prove).is_none());
        let mut costs: Vec<_> = sound.map(|offer| offer.cost).collect();
        costs.sort_unstable();
        wanted == 0
            || costs
                .get(wanted - 1)
                .is_some_and(|dearest| cost >= *dearest)
    }

    /// Whether more of a design's machine size changes nothing: it is offered, and its I/Os do not wait; or as many offers as are
    /// wanted are doubtful for what their machines are, as this would be.
    fn is_settled(&self, candidate: &Candidate, asked: &Asked<'_>) -> bool {
        let is_offered =
            |offer: &Offer| offer.candidate.vm == candidate.vm && offer.waits(self.prove).is_none();
        if self.offers.iter().any(is_offered) {
            return true;
        }
        let of_machine = |offer: &&Offer| offer.of_machine().next().is_some();
        self.offers.iter().filter(of_machine).count() >= asked.request.offers && {
            let lines = limits::lines(asked.need, candidate, asked.terms);
            doubts_of_machine(candidate.vm, &lines).next().is_some()
        }
    }

    /// Takes an offer, or notes how it fails.
    fn judge(&mut self, need: &Need, offer: Offer) {
        let percent = offer.headroom.percent;
        let proof = offer.proof.proof();
        match proof.and_then(Proof::failure) {
            // What is like designs that failed is not offered on trust.
            None if proof.is_none() && self.failed_with >= Some(percent) => self.untried += 1,
            None => {
                if offer.waits(self.prove).is_some() {
                    self.falls_short = true;
                    self.waiting += 1;
                }
                self.offers.push(offer);
            }
            Some(failure) => {
                self.falls_short = true;
                self.failed_with = self.failed_with.max(Some(percent));
                let volumes = need.volumes.iter().zip(&offer.candidate.volumes);
                for (volume, storage) in volumes {
                    if proof.is_some_and(|it| it.is_failing(&volume.name)) {
                        let tiers = self.failing.entry(volume.name.clone()).or_default();
                        tiers.insert(goal::tier(storage));
                    }
                }
                let title = offer.title();
                self.failed.push(Unproven { title, failure });
            }
        }
    }
}

#[cfg(test)]
mod tests;
