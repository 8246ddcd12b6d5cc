//! The search for the cheapest design of each machine size.
//!
//! It is exhaustive: for each machine, every combination of its volumes' choices is considered, but for those that cannot
//! beat the best one found so far. Only choices that another beats in cost and number of disks, with the same load on the
//! machine, are left out beforehand; more disks than the fewest that carry a volume cost more and help nothing. Volumes and
//! shares over the network all load a machine alike, so that of them the cheapest is enough.
//!
//! Machines: the fewest with which any size carries the need. A machine's part of the I/O only shrinks with their number, so
//! that what so many carry, more do too; the fewest are found by doubling and halving.

use fathom_catalog::VmSize;

use crate::candidate::{Candidate, Storage};
use crate::choices::{self, missing};
use crate::limits::{self, Figure, Terms};
use crate::line::Line;
use crate::need::Need;
use crate::ruled_out::{Rule, RuledOut};
use crate::{Cost, PlanError, Prices, Request, network};

/// Most machines of a design.
pub const MOST_MACHINES: u32 = 64;

/// What the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The cheapest design of each machine size that has any, cheapest first.
    pub candidates: Vec<(Candidate, Cost)>,
    /// How many machines each has.
    pub machines: u32,
    /// Machine sizes considered.
    pub sizes: usize,
    /// Machine sizes that carry nothing, by the rule that told.
    pub ruled_out: RuledOut,
    /// Why fewer machines do not carry the need, where fewer were tried: the limit of a single one that misses least.
    pub single: Option<Line>,
}

/// Searches every machine size that `request` admits.
///
/// # Errors
/// A distance that the catalogue does not have.
pub fn search(
    need: &Need,
    request: &Request,
    prices: Option<&Prices>,
    catalog: &fathom_catalog::Catalog,
) -> Result<Found, PlanError> {
    let terms = Terms::of(request, catalog)?;
    let with = |machines| of_machines(need, machines, request, prices, &terms);
    if let Some(machines) = request.machines {
        return Ok(with(machines));
    }
    let first = with(1);
    // Of what is too dear, more machines are no cheaper.
    if !first.candidates.is_empty() || first.ruled_out.rules.contains_key(&Rule::TooDear) {
        return Ok(first);
    }
    let single = first.ruled_out.closest.clone();
    let mut fails = 1;
    let mut best = loop {
        let next = fails * 2;
        let found = with(next);
        if !found.candidates.is_empty() {
            break found;
        }
        if next >= MOST_MACHINES {
            return Ok(found);
        }
        fails = next;
    };
    while best.machines - fails > 1 {
        let middle = u32::midpoint(fails, best.machines);
        let found = with(middle);
        if found.candidates.is_empty() {
            fails = middle;
        } else {
            best = found;
        }
    }
    Ok(Found { single, ..best })
}

/// What a search with a number of machines has in common for every size.
struct Search<'a> {
    need: &'a Need,
    /// What each machine does of it.
    part: Need,
    machines: u32,
    request: &'a Request,
    prices: Option<&'a Prices>,
    terms: &'a Terms<'a>,
    /// The cheapest volumes or shares over the network of each volume.
    network: Vec<Option<(Storage, Cost)>>,
}

/// A rule that left a machine size out, an example of it, and the limit that was missed.
type Left = (Rule, String, Option<Line>);

fn of_machines(
    need: &Need,
    machines: u32,
    request: &Request,
    prices: Option<&Prices>,
    terms: &Terms<'_>,
) -> Found {
    let mut found = Found {
        candidates: Vec::new(),
        machines,
        sizes: 0,
        ruled_out: RuledOut::default(),
        single: None,
    };
    let mut search = Search {
        need,
        part: need.part(machines),
        machines,
        request,
        prices,
        terms,
        network: Vec::new(),
    };
    for vm in terms.catalog.vms() {
        if !request.admits(vm) {
            continue;
        }
        if found.sizes == 0 {
            search.network = search.over_network(vm);
        }
        found.sizes += 1;
        match search.on(vm) {
            Ok(best) => found.candidates.push(best),
            Err((rule, example, missed)) => found.ruled_out.add(rule, example, missed),
        }
    }
    let rank = |(candidate, cost): &(Candidate, Cost)| (*cost, candidate.vm.name);
    found.candidates.sort_by_key(rank);
    found
}

impl Search<'_> {
    fn over_network(&self, vm: &VmSize) -> Vec<Option<(Storage, Cost)>> {
        let volumes = self.need.volumes.iter().zip(&self.part.volumes);
        let cheapest = volumes.map(|(total, part)| {
            let choices = network::choices(total, part, self.request, self.terms).into_iter();
            let priced = choices.filter_map(|storage| {
                let cost = Cost::of_storage(&storage, vm, self.prices)?;
                Some((storage, cost))
            });
            priced.min_by_key(|(_, cost)| *cost)
        });
        cheapest.collect()
    }

    /// The cheapest design on one machine size, or the rule that leaves none.
    fn on(&self, vm: &'static VmSize) -> Result<(Candidate, Cost), Left> {
        let left = |rule| (rule, vm.name.to_owned(), None);
        let machine = Cost::of_machine(vm, self.prices).ok_or_else(|| left(Rule::NoPrice))?;
        let families = &self.request.families;
        let takes_disks = (!vm.uncached.is_empty() || vm.data_disk_iops_each.is_some())
            && families.iter().any(|family| !family.is_network());
        let takes_network =
            vm.network_mbps.is_some() && families.iter().any(|family| family.is_network());
        if !takes_disks && !takes_network {
            return Err(left(Rule::NoLimitsPrinted));
        }
        let mut options = Vec::new();
        for (index, part) in self.part.volumes.iter().enumerate() {
            let mut choices = Vec::new();
            if takes_disks {
                let disks = choices::of_volume(part, vm, self.request, self.prices, self.terms);
                let times = |(storage, cost): (Storage, Cost)| (storage, cost.times(self.machines));
                choices.extend(disks.into_iter().map(times));
            }
            if takes_network {
                choices.extend(self.network.get(index).cloned().flatten());
            }
            if choices.is_empty() {
                let why = format!("{}: `{}`", vm.name, part.name);
                let alone = Need {
                    volumes: vec![part.clone()],
                    ..self.part.clone()
                };
                let total = &self.need.volumes[index];
                let missed = if takes_disks {
                    choices::closest(&alone, vm, self.request, self.terms)
                } else {
                    network::closest(total, self.request, self.terms)
                };
                return Err((Rule::NoStorage, why, missed));
            }
            options.push(choices);
        }
        let mut walk = Walk {
            search: self,
            vm,
            options: &options,
            least: least_of_rest(&options),
            best: None,
            closest: None,
        };
        walk.volume(0, machine.times(self.machines), &mut Vec::new());
        let most = self.request.max_price;
        match (walk.best, walk.closest) {
            (Some((candidate, cost)), _) if most.is_none_or(|most| cost.price <= most) => {
                Ok((candidate, cost))
            }
            (Some(_), _) => Err(left(Rule::TooDear)),
            (None, Some((owner, figure))) => {
                let line = figure.owned(owner);
                let example = format!(
                    "{} gives {}, {} are needed",
                    line.owner,
                    line.unit.figure(line.have),
                    line.unit.figure(line.need)
                );
                Err((Rule::Machine, example, Some(line)))
            }
            (None, None) => Err(left(Rule::Machine)),
        }
    }
}

/// The least that the volumes from each on can cost.
fn least_of_rest(options: &[Vec<(Storage, Cost)>]) -> Vec<Cost> {
    let mut least = vec![Cost::default(); options.len() + 1];
    for (index, choices) in options.iter().enumerate().rev() {
        let cheapest = choices.iter().map(|(_, cost)| *cost).min();
        least[index] = least[index + 1] + cheapest.unwrap_or_default();
    }
    least
}

struct Walk<'a> {
    search: &'a Search<'a>,
    vm: &'static VmSize,
    options: &'a [Vec<(Storage, Cost)>],
    least: Vec<Cost>,
    best: Option<(Candidate, Cost)>,
    /// Of all combinations' worst limits of the machine, the one that misses least.
    closest: Option<(String, Figure)>,
}

impl Walk<'_> {
    fn volume(&mut self, index: usize, cost: Cost, chosen: &mut Vec<Storage>) {
        let beaten = |best: &(Candidate, Cost)| cost + self.least[index] >= best.1;
        if self.best.as_ref().is_some_and(beaten) {
            return;
        }
        let Some(choices) = self.options.get(index) else {
            self.judge(cost, chosen);
            return;
        };
        for (storage, more) in choices {
            chosen.push(storage.clone());
            self.volume(index + 1, cost + *more, chosen);
            chosen.pop();
        }
    }

    fn judge(&mut self, cost: Cost, chosen: &[Storage]) {
        let candidate = Candidate {
            vm: self.vm,
            machines: self.search.machines,
            volumes: chosen.to_vec(),
        };
        let lines = limits::of_machine(&self.search.part, &candidate, self.search.terms);
        let failing = lines.into_iter().filter(|(_, figure)| !figure.carries());
        let worst = failing.max_by(|(_, one), (_, other)| missing(one).total_cmp(&missing(other)));
        match worst {
            None => self.best = Some((candidate, cost)),
            Some(worst) => {
                let is_closer = |known: &(String, Figure)| missing(&worst.1) < missing(&known.1);
                if self.closest.as_ref().is_none_or(is_closer) {
                    self.closest = Some(worst);
                }
            }
        }
    }
}
