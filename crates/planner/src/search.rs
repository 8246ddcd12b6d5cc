//! The search for the cheapest design of each machine size.
//!
//! It is exhaustive: for each machine, every combination of its volumes' choices is considered ([`crate::combine`]), but for
//! those that cannot beat the best one found so far. Only choices that another beats in cost and number of disks, with the same load on the
//! machine, are left out beforehand. Of disks that are sold by name, more than the fewest that carry a volume cost more and help
//! nothing; of those whose limits the buyer sets every number is considered, since I/O that is included with each disk makes
//! several cheaper than one. Volumes and shares over the network all load a machine alike, so that of them the cheapest is
//! enough.
//!
//! Machines: the fewest with which any size carries the need. A machine's part of the I/O only shrinks with their number, so
//! that what so many carry, more do too; the fewest are found by doubling and halving. Under a highest price what so many carry for
//! it more may not, so that numbers are tried one after another, as long as the machines alone cost less.

use fathom_catalog::{Catalog, VmSize};

use crate::candidate::{Candidate, Storage};
use crate::choices::{self, Products};
use crate::combine::{Machine, combine};
use crate::goal::Slow;
use crate::limits::{Figure, Meter, Terms};
use crate::line::Line;
use crate::need::Need;
use crate::ruled_out::{Rule, RuledOut};
use crate::{Cost, PlanError, Prices, Request, network};

/// Most machines of a design.
pub const MOST_MACHINES: u32 = 64;

/// What the search found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
    /// Combinations of kinds of storage that were judged against a machine's limits, for every number of machines tried.
    pub judged: u64,
}

/// Searches every machine size that `request` admits.
///
/// # Errors
/// A distance that the catalogue does not have.
pub fn search(
    need: &Need,
    request: &Request,
    prices: Option<&Prices>,
    catalog: &Catalog,
) -> Result<Found, PlanError> {
    let terms = Terms::of(request, catalog)?;
    let mut judged = 0;
    let mut with = |machines| {
        let found = of_machines(need, machines, request, prices, &terms);
        judged += found.judged;
        Found { judged, ..found }
    };
    if let Some(machines) = request.machines {
        return Ok(with(machines));
    }
    let first = with(1);
    let has_no_price = first.ruled_out.rules.keys().eq([&Rule::NoPrice]);
    if !first.candidates.is_empty() || has_no_price {
        return Ok(first);
    }
    if let Some(most) = request.max_price {
        let least = least_price(request, prices, catalog);
        let numbers = (2..=MOST_MACHINES).take_while(|number| {
            let machines = least.saturating_mul(u64::from(*number));
            machines <= most
        });
        let found = within_price(first, numbers.map(&mut with));
        let found = Found { judged, ..found };
        if found.candidates.is_empty() && found.ruled_out.dear.is_none() {
            return above_price(found, need, request, (prices, catalog));
        }
        return Ok(found);
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
    Ok(Found {
        single,
        judged,
        ..best
    })
}

/// The first of `more` that has a design; without any, `first` or that of `more` which is too dear by least, if one carries
/// the need at all.
fn within_price(first: Found, more: impl Iterator<Item = Found>) -> Found {
    let single = first.ruled_out.closest.clone();
    let mut nearest = first;
    for found in more {
        if !found.candidates.is_empty() {
            return Found { single, ..found };
        }
        let price = |found: &Found| found.ruled_out.dear.as_ref().map(|(price, _)| *price);
        let is_nearer = match (price(&found), price(&nearest)) {
            (Some(own), Some(known)) => own < known,
            (own, None) => own.is_some() || nearest.ruled_out.dear.is_none(),
            (None, Some(_)) => false,
        };
        if is_nearer {
            nearest = found;
        }
    }
    nearest
}

/// `found`, where nothing that costs no more than the highest price carries the need, with what carries it at any price: the
/// cheapest of the fewest machines.
fn above_price(
    mut found: Found,
    need: &Need,
    request: &Request,
    (prices, catalog): (Option<&Prices>, &Catalog),
) -> Result<Found, PlanError> {
    let at_any_price = Request {
        max_price: None,
        ..request.clone()
    };
    let above = search(need, &at_any_price, prices, catalog)?;
    found.judged += above.judged;
    found.machines = above.machines;
    let cheapest = above.candidates.first();
    found.ruled_out.dear = cheapest.map(|(candidate, cost)| (cost.price, candidate.title()));
    Ok(found)
}

/// What the cheapest machine costs a month, in millionths.
fn least_price(request: &Request, prices: Option<&Prices>, catalog: &Catalog) -> u64 {
    let admitted = catalog.vms().iter().filter(|vm| request.admits(vm));
    let priced = admitted.filter_map(|vm| Cost::of_machine(vm, prices));
    priced.map(|cost| cost.price).min().unwrap_or(u64::MAX)
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
    /// Disks that are searched.
    products: Products,
    /// The cheapest volumes or shares over the network of each volume.
    network: Vec<OverNetwork>,
}

/// Volumes or shares over the network for one volume of the profile.
type OverNetwork = (Option<(Storage, Cost)>, Option<Slow>);

/// A machine size that was left out.
struct Left {
    rule: Rule,
    /// The size, with what it misses.
    example: String,
    /// The limit that was missed.
    missed: Option<Box<Line>>,
    /// The price and name of what carries the need and is too dear.
    dear: Option<(u64, String)>,
    /// A volume and what is too slow for it by itself.
    slow: Option<Box<(String, Slow)>>,
}

impl Left {
    fn new(rule: Rule, example: String, missed: Option<Line>) -> Self {
        Self {
            rule,
            example,
            missed: missed.map(Box::new),
            dear: None,
            slow: None,
        }
    }
}

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
        judged: 0,
    };
    let need = need.asked_by_goals(machines);
    let mut search = Search {
        part: need.part(machines),
        need: &need,
        machines,
        request,
        prices,
        terms,
        products: Products::of(request, terms.catalog),
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
        match search.on(vm, &mut found.judged) {
            Ok(best) => found.candidates.push(best),
            Err(left) => {
                found
                    .ruled_out
                    .add(left.rule, left.example, left.missed.map(|line| *line));
                found.ruled_out.add_dear(left.dear);
                found.ruled_out.add_slow(left.slow.map(|slow| *slow));
            }
        }
    }
    let rank = |(candidate, cost): &(Candidate, Cost)| (*cost, candidate.vm.name);
    found.candidates.sort_by_key(rank);
    found
}

impl Search<'_> {
    fn over_network(&self, vm: &VmSize) -> Vec<OverNetwork> {
        let volumes = self.need.volumes.iter().zip(&self.part.volumes);
        let cheapest = volumes.map(|(total, part)| {
            let (choices, slow) = network::choices(total, part, self.request, self.terms);
            let priced = choices.into_iter().filter_map(|storage| {
                let cost = Cost::of_storage(&storage, vm, self.prices)?;
                Some((storage, cost))
            });
            (priced.min_by_key(|(_, cost)| *cost), slow)
        });
        cheapest.collect()
    }

    /// A limit of one of the machines as such.
    fn of_each(&self, line: Line) -> Line {
        match self.machines {
            1 => line,
            several => Line {
                owner: format!("each of {several} × {}", line.owner),
                ..line
            },
        }
    }

    /// Every volume's choices on one machine size, or the rule that leaves one without any.
    fn options(
        &self,
        vm: &'static VmSize,
        (takes_disks, takes_network): (bool, bool),
    ) -> Result<Vec<Vec<(Storage, Cost)>>, Left> {
        let mut options = Vec::new();
        for (index, part) in self.part.volumes.iter().enumerate() {
            let mut choices = Vec::new();
            let mut slow = None;
            if takes_disks {
                let (disks, slow_disks) =
                    choices::of_volume(part, vm, &self.products, self.prices, self.terms);
                let times = |(storage, cost): (Storage, Cost)| (storage, cost.times(self.machines));
                choices.extend(disks.into_iter().map(times));
                slow = slow_disks;
            }
            if takes_network && let Some((cheapest, slow_network)) = self.network.get(index) {
                choices.extend(cheapest.clone());
                slow = Slow::faster(slow, slow_network.clone());
            }
            if let (true, Some(slow)) = (choices.is_empty(), slow) {
                let why = format!("{}: `{}`: {slow}", vm.name, part.name);
                return Err(Left {
                    slow: Some(Box::new((part.name.clone(), slow))),
                    ..Left::new(Rule::TooSlow, why, None)
                });
            }
            if choices.is_empty() {
                let why = format!("{}: `{}`", vm.name, part.name);
                let alone = Need {
                    volumes: vec![part.clone()],
                    ..self.part.clone()
                };
                let total = &self.need.volumes[index];
                let missed = if takes_disks {
                    let (products, prices) = (&self.products, self.prices);
                    let missed = choices::closest(&alone, vm, products, prices, self.terms);
                    missed.map(|line| self.of_each(line))
                } else {
                    network::closest(total, self.request, self.prices, self.terms)
                };
                return Err(Left::new(Rule::NoStorage, why, missed));
            }
            options.push(choices);
        }
        Ok(options)
    }

    /// One of a machine's own limits is too low.
    fn missed(&self, vm: &VmSize, (meter, figure): (Meter, Figure)) -> Left {
        let line = figure.owned(meter.owner(vm));
        let example = format!(
            "{} gives {}, {} are needed",
            line.owner,
            line.unit.figure(line.have),
            line.unit.figure(line.need)
        );
        Left::new(Rule::Machine, example, Some(self.of_each(line)))
    }

    /// Whether a machine's traffic to disks has limits to judge by. Of some sizes no page prints a throughput: nothing says
    /// what they carry, so that only who names their series is offered them.
    fn judges_disks_of(&self, vm: &VmSize) -> bool {
        let prints_some = !vm.uncached.is_empty() || vm.data_disk_iops_each.is_some();
        let prints_all = vm.uncached.iops.is_some() && vm.uncached.bandwidth.is_some();
        prints_all || (prints_some && !self.request.series.is_empty())
    }

    /// The cheapest design on one machine size, or the rule that leaves none.
    fn on(&self, vm: &'static VmSize, judged: &mut u64) -> Result<(Candidate, Cost), Left> {
        let left = |rule| Left::new(rule, vm.name.to_owned(), None);
        let machine = Cost::of_machine(vm, self.prices).ok_or_else(|| left(Rule::NoPrice))?;
        let families = &self.request.families;
        let takes_disks = self.judges_disks_of(vm) && families.iter().any(|it| !it.is_network());
        let takes_network =
            vm.network_mbps.is_some() && families.iter().any(|family| family.is_network());
        if !takes_disks && !takes_network {
            return Err(left(Rule::NoLimitsPrinted));
        }
        let mut itself = self.part.machine.of_each(vm);
        if let Some(missed) = itself.find(|(_, figure)| !figure.carries()) {
            return Err(self.missed(vm, missed));
        }
        if self.part.machine.spends_credits_on(vm) && self.request.series.is_empty() {
            return Err(left(Rule::BurstableProcessors));
        }
        let options = self.options(vm, (takes_disks, takes_network))?;
        let together = combine(
            &options,
            machine.times(self.machines),
            Machine {
                vm,
                machines: self.machines,
                part: &self.part,
                terms: self.terms,
            },
        );
        *judged += together.judged;
        let most = self.request.max_price;
        match (together.best, together.closest) {
            (Some((candidate, cost)), _) if most.is_none_or(|most| cost.price <= most) => {
                Ok((candidate, cost))
            }
            (Some((candidate, cost)), _) => Err(Left {
                dear: Some((cost.price, candidate.title())),
                ..left(Rule::TooDear)
            }),
            (None, Some(missed)) => Err(self.missed(vm, missed)),
            (None, None) => Err(left(Rule::Machine)),
        }
    }
}
