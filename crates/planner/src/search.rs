//! The search for the cheapest design of each machine size.
//!
//! It is exhaustive: for each machine, every combination of its volumes' choices of disks is considered, but for those
//! that cannot beat the best one found so far. Only choices that another beats in cost and number of disks, with the same
//! load on the machine, are left out beforehand; more disks than the fewest that carry a volume cost more and help nothing.

use fathom_catalog::{Catalog, VmSize};

use crate::candidate::{Candidate, Cost, Disks};
use crate::limits::{self, Line};
use crate::need::Need;
use crate::ruled_out::{Rule, RuledOut};
use crate::{Prices, Request, choices};

/// What the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The cheapest design of each machine size that has any, cheapest first.
    pub candidates: Vec<(Candidate, Cost)>,
    /// Machine sizes considered.
    pub machines: usize,
    /// Machine sizes that carry nothing, by the rule that told.
    pub ruled_out: RuledOut,
}

/// Searches every machine size that `request` admits.
pub fn search(need: &Need, request: &Request, prices: Option<&Prices>, catalog: &Catalog) -> Found {
    let mut found = Found {
        candidates: Vec::new(),
        machines: 0,
        ruled_out: RuledOut::default(),
    };
    for vm in catalog.vms() {
        if !request.admits(vm) {
            continue;
        }
        found.machines += 1;
        match of_machine(need, vm, request, prices, catalog) {
            Ok(best) => found.candidates.push(best),
            Err((rule, example)) => found.ruled_out.add(rule, example),
        }
    }
    let rank = |(candidate, cost): &(Candidate, Cost)| (*cost, candidate.vm.name);
    found.candidates.sort_by_key(rank);
    found
}

/// The cheapest design on one machine, or the rule that leaves none.
fn of_machine(
    need: &Need,
    vm: &'static VmSize,
    request: &Request,
    prices: Option<&Prices>,
    catalog: &Catalog,
) -> Result<(Candidate, Cost), (Rule, String)> {
    let Some(machine) = Cost::of_machine(vm, prices) else {
        return Err((Rule::NoPrice, vm.name.to_owned()));
    };
    if vm.uncached.is_empty() && vm.data_disk_iops_each.is_none() {
        return Err((Rule::NoLimitsPrinted, vm.name.to_owned()));
    }
    let mut options = Vec::new();
    for volume in &need.volumes {
        let choices = choices::of_volume(volume, vm, request, prices, catalog);
        if choices.is_empty() {
            let why = format!("{}: `{}`", vm.name, volume.name);
            return Err((Rule::NoDisks, why));
        }
        options.push(choices);
    }
    let mut walk = Walk {
        need,
        vm,
        options: &options,
        least: least_of_rest(&options),
        best: None,
        tightest: None,
    };
    walk.volume(0, machine, &mut Vec::new());
    match (walk.best, walk.tightest) {
        (Some((candidate, cost)), _) if request.max_price.is_none_or(|most| cost.price <= most) => {
            Ok((candidate, cost))
        }
        (Some(_), _) => Err((Rule::TooDear, vm.name.to_owned())),
        (None, Some(line)) => {
            let example = format!(
                "{} gives {}, {} are needed",
                line.owner,
                line.unit.figure(line.have),
                line.unit.figure(line.need)
            );
            Err((Rule::Machine, example))
        }
        (None, None) => Err((Rule::Machine, vm.name.to_owned())),
    }
}

/// The least that the volumes from each on can cost.
fn least_of_rest(options: &[Vec<(Disks, Cost)>]) -> Vec<Cost> {
    let mut least = vec![Cost::default(); options.len() + 1];
    for (index, choices) in options.iter().enumerate().rev() {
        let cheapest = choices.iter().map(|(_, cost)| *cost).min();
        least[index] = least[index + 1] + cheapest.unwrap_or_default();
    }
    least
}

struct Walk<'a> {
    need: &'a Need,
    vm: &'static VmSize,
    options: &'a [Vec<(Disks, Cost)>],
    least: Vec<Cost>,
    best: Option<(Candidate, Cost)>,
    /// The limit of the machine that the first failing combination met.
    tightest: Option<Line>,
}

impl Walk<'_> {
    fn volume(&mut self, index: usize, cost: Cost, chosen: &mut Vec<Disks>) {
        let beaten = |best: &(Candidate, Cost)| cost + self.least[index] >= best.1;
        if self.best.as_ref().is_some_and(beaten) {
            return;
        }
        let Some(choices) = self.options.get(index) else {
            self.judge(cost, chosen);
            return;
        };
        for (disks, more) in choices {
            chosen.push(disks.clone());
            self.volume(index + 1, cost + *more, chosen);
            chosen.pop();
        }
    }

    fn judge(&mut self, cost: Cost, chosen: &[Disks]) {
        let candidate = Candidate {
            vm: self.vm,
            volumes: chosen.to_vec(),
        };
        let lines = limits::of_machine(self.need, &candidate);
        match lines.into_iter().find(|line| !line.carries()) {
            None => self.best = Some((candidate, cost)),
            Some(line) if self.tightest.is_none() => self.tightest = Some(line),
            Some(_) => {}
        }
    }
}
