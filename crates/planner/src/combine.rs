//! The cheapest combination of the volumes' choices on one machine.
//!
//! Of a volume's choice the machine feels its kind alone: over the network or on disks, cached or not, striped or a single
//! disk; and of disks the slots that they take. So each combination of kinds is judged once against the machine's limits, and
//! where they suffice, the cheapest of the choices of these kinds whose disks fit is found by adding volume after volume,
//! keeping for each number of disks the cheapest. Nothing is left out by this: choices of one kind and number differ in cost
//! alone, and costs add up.

use fathom_catalog::VmSize;
use fathom_model::HostCaching;

use crate::candidate::{Candidate, Storage};
use crate::choices::missing;
use crate::cost::Cost;
use crate::limits::{self, Figure, Meter, Terms};
use crate::need::Need;

/// The machine, and its part of the need.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    pub vm: &'static VmSize,
    pub machines: u32,
    pub part: &'a Need,
    pub terms: &'a Terms<'a>,
}

/// What a combination came to.
#[derive(Default)]
pub struct Combined {
    /// The cheapest that the machine's limits carry.
    pub best: Option<(Candidate, Cost)>,
    /// Of all combinations' worst limits of the machine, the one that misses least; kept while nothing carries.
    pub closest: Option<(Meter, Figure)>,
    /// Combinations of kinds that were judged.
    pub judged: u64,
}

/// What a machine feels of a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Network,
    Disks { cached: bool, striped: bool },
}

impl Kind {
    fn of(storage: &Storage) -> Self {
        storage.disks().map_or(Self::Network, |disks| Self::Disks {
            cached: disks.caching != HostCaching::None,
            striped: disks.count > 1,
        })
    }
}

/// Choices of one kind.
struct Group<'a> {
    kind: Kind,
    choices: Vec<&'a (Storage, Cost)>,
    /// The least that one costs.
    cost: Cost,
    /// The choice with fewest disks.
    fewest: &'a Storage,
}

/// Data disks of the machine that a choice takes.
fn slots(storage: &Storage) -> usize {
    storage.disks().map_or(0, |disks| disks.count as usize)
}

/// A volume's choices by kind, in the order in which the kinds come first.
fn groups(choices: &[(Storage, Cost)]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for choice in choices {
        let (storage, cost) = choice;
        let kind = Kind::of(storage);
        match groups.iter_mut().find(|group| group.kind == kind) {
            None => groups.push(Group {
                kind,
                choices: vec![choice],
                cost: *cost,
                fewest: storage,
            }),
            Some(group) => {
                group.choices.push(choice);
                group.cost = group.cost.min(*cost);
                if slots(storage) < slots(group.fewest) {
                    group.fewest = storage;
                }
            }
        }
    }
    groups
}

/// Combines each volume's choices; `fixed` is what the machines themselves cost.
pub fn combine(options: &[Vec<(Storage, Cost)>], fixed: Cost, machine: Machine<'_>) -> Combined {
    let groups: Vec<_> = options.iter().map(|choices| groups(choices)).collect();
    let mut least = vec![Cost::default(); groups.len() + 1];
    for (index, volume) in groups.iter().enumerate().rev() {
        let cheapest = volume.iter().map(|group| group.cost).min();
        least[index] = least[index + 1] + cheapest.unwrap_or_default();
    }
    let mut walk = Walk {
        groups: &groups,
        least,
        machine,
        combined: Combined::default(),
    };
    walk.volume(fixed, fixed, &mut Vec::new());
    walk.combined
}

struct Walk<'a> {
    groups: &'a [Vec<Group<'a>>],
    /// The least that the volumes from each on can cost.
    least: Vec<Cost>,
    machine: Machine<'a>,
    combined: Combined,
}

impl<'a> Walk<'a> {
    /// Chooses the kind of the next volume; `cost` is the least of those chosen.
    fn volume(&mut self, fixed: Cost, cost: Cost, chosen: &mut Vec<&'a Group<'a>>) {
        if self.is_beaten(cost + self.least[chosen.len()]) {
            return;
        }
        let groups = self.groups;
        let Some(kinds) = groups.get(chosen.len()) else {
            self.judge(fixed, chosen);
            return;
        };
        for group in kinds {
            chosen.push(group);
            self.volume(fixed, cost + group.cost, chosen);
            chosen.pop();
        }
    }

    fn is_beaten(&self, cost: Cost) -> bool {
        let best = self.combined.best.as_ref();
        best.is_some_and(|(_, best)| cost >= *best)
    }

    fn judge(&mut self, fixed: Cost, chosen: &[&'a Group<'a>]) {
        self.combined.judged += 1;
        let machine = self.machine;
        let least: Vec<_> = chosen.iter().map(|group| group.fewest).collect();
        let figures = limits::of_machine(machine.part, (machine.vm, &least), machine.terms);
        let failing = figures.into_iter().filter(|(_, figure)| !figure.carries());
        let worst = failing.max_by(|(_, one), (_, other)| missing(one).total_cmp(&missing(other)));
        if let Some(worst) = worst {
            let closest = self.combined.closest.as_ref();
            if closest.is_none_or(|known| missing(&worst.1) < missing(&known.1)) {
                self.combined.closest = Some(worst);
            }
            return;
        }
        let most = machine.vm.max_data_disks as usize;
        let Some((cost, volumes)) = cheapest(chosen, most) else {
            return;
        };
        if !self.is_beaten(fixed + cost) {
            let candidate = Candidate {
                vm: machine.vm,
                machines: machine.machines,
                volumes: volumes.into_iter().cloned().collect(),
            };
            self.combined.best = Some((candidate, fixed + cost));
        }
    }
}

/// The cheapest choice of each group whose disks together take `most` slots at most.
fn cheapest<'a>(groups: &[&Group<'a>], most: usize) -> Option<(Cost, Vec<&'a Storage>)> {
    let first = |group: &&Group<'a>| group.choices.iter().min_by_key(|(_, cost)| *cost).copied();
    let each: Option<Vec<_>> = groups.iter().map(first).collect();
    let each = each?;
    if each
        .iter()
        .map(|(storage, _)| slots(storage))
        .sum::<usize>()
        <= most
    {
        let cost = each.iter().fold(Cost::default(), |sum, it| sum + it.1);
        return Some((cost, each.into_iter().map(|(storage, _)| storage).collect()));
    }
    // By number of disks: the cost of the cheapest, and its last choice.
    let mut steps: Vec<Vec<Option<(Cost, usize)>>> = Vec::new();
    let mut sums: Vec<Option<Cost>> = vec![None; most + 1];
    sums[0] = Some(Cost::default());
    for group in groups {
        let mut next: Vec<Option<(Cost, usize)>> = vec![None; most + 1];
        for (number, (storage, cost)) in group.choices.iter().enumerate() {
            let own = slots(storage);
            for (taken, sum) in sums.iter().enumerate().take((most + 1).saturating_sub(own)) {
                let Some(sum) = sum else { continue };
                let place = &mut next[taken + own];
                let cost = *sum + *cost;
                if place.is_none_or(|(known, _)| cost < known) {
                    *place = Some((cost, number));
                }
            }
        }
        sums = next.iter().map(|it| it.map(|(cost, _)| cost)).collect();
        steps.push(next);
    }
    let reached = sums.iter().enumerate();
    let reached = reached.filter_map(|(taken, sum)| Some(((*sum)?, taken)));
    let (cost, mut taken) = reached.min()?;
    let mut volumes = Vec::new();
    for (group, step) in groups.iter().zip(&steps).rev() {
        let (_, number) = step[taken]?;
        let storage = &group.choices[number].0;
        taken -= slots(storage);
        volumes.push(storage);
    }
    volumes.reverse();
    Some((cost, volumes))
}

#[cfg(test)]
mod tests {
    use fathom_catalog::Catalog;
    use fathom_profile::{Level, Profile};

    use super::*;
    use crate::Request;
    use crate::candidate::{Choice, Disks};

    /// So many disks of a kind, at a price that a test chooses.
    fn choice(count: u32, caching: HostCaching, price: u64) -> (Storage, Cost) {
        let catalog = Catalog::builtin();
        let disk = catalog.disk(fathom_catalog::Era::CURRENT, "P30");
        let disks = Disks {
            kind: Choice::Named(disk.expect("a disk")),
            count,
            stripe_unit: fathom_units::Bytes::kib(64),
            caching,
            on_demand: false,
        };
        let cost = Cost {
            price,
            ..Cost::default()
        };
        (Storage::Disks(disks), cost)
    }

    /// The cheapest of a kind tells whether it may still be the best, however dear others of the kind are.
    #[test]
    fn a_kind_is_as_cheap_as_its_cheapest_choice() {
        let volume = |name| {
            format!(
                "[[volume]]\nname = \"{name}\"\n[[volume.period]]\nname = \"peak\"\niops = 1_000\nsize = \"64KiB\"\n"
            )
        };
        let text = format!("name = \"a\"\n{}{}", volume("v1"), volume("v2"));
        let (profile, _) = Profile::read(&text, "x").expect("a profile");
        let need = Need::of(&profile, Level::P99).expect("a need");
        let catalog = Catalog::builtin();
        let terms = Terms::of(&Request::default(), catalog).expect("terms");
        let vm = catalog.vm(fathom_catalog::Era::CURRENT, "Standard_D8s_v3");
        let machine = Machine {
            vm: vm.expect("a machine"),
            machines: 1,
            part: &need,
            terms: &terms,
        };
        let (cached, uncached) = (HostCaching::ReadOnly, HostCaching::None);
        // Both volumes are 131 MB/s: too much for the cache (128), and not for what passes it by (192).
        let first = vec![
            choice(1, cached, 10),
            choice(3, uncached, 20),
            choice(2, uncached, 100),
        ];
        let second = vec![choice(1, cached, 5), choice(1, uncached, 50)];
        let combined = combine(&[first, second], Cost::default(), machine);
        let (candidate, cost) = combined.best.expect("a design");
        assert_eq!(cost.price, 25);
        let counts: Vec<_> = candidate.volumes.iter().map(Storage::count).collect();
        assert_eq!(counts, [3, 1]);
        assert_eq!(combined.judged, 3, "what cannot be cheaper is not judged");
    }
}
