//! The search against a search that tries everything.

use std::fmt::Write as _;

use fathom_catalog::{Catalog, Disk, VmSize};
use fathom_model::HostCaching;
use fathom_planner::{
    Candidate, Choice, Cost, Disks, Family, Need, Prices, Request, Storage, Terms, VolumeNeed,
    carries, recommended_caching, search, stripe_unit,
};
use fathom_profile::{Level, Profile};
use proptest::prelude::*;

const MACHINES: [&str; 2] = ["Standard_DS1", "Standard_DS2"];
const SIZES: [&str; 4] = ["4KiB", "8KiB", "64KiB", "512KiB"];

/// The cheapest of every machine, disk, count and caching, without a thought.
fn brute(
    need: &Need,
    request: &Request,
    vms: &[&'static VmSize],
    disks: &[&'static Disk],
) -> Option<Cost> {
    let catalog = Catalog::builtin();
    let terms = Terms::of(request, catalog).expect("a distance");
    let mut best: Option<Cost> = None;
    for vm in vms.iter().filter(|vm| vm.era == request.era) {
        let mut combinations: Vec<Vec<Storage>> = vec![Vec::new()];
        for volume in &need.volumes {
            let (recommended, _) = recommended_caching(volume);
            let mut longer = Vec::new();
            for combination in &combinations {
                for disk in disks {
                    for count in 1..=vm.max_data_disks {
                        for caching in [recommended, HostCaching::None] {
                            let mut next = combination.clone();
                            next.push(Storage::Disks(Disks {
                                kind: Choice::Named(disk),
                                count,
                                stripe_unit: stripe_unit(volume),
                                caching,
                                on_demand: false,
                            }));
                            longer.push(next);
                        }
                    }
                }
            }
            combinations = longer;
        }
        for volumes in combinations {
            let candidate = Candidate {
                vm,
                machines: 1,
                volumes,
            };
            if carries(need, &candidate, &terms) {
                let cost = Cost::of(&candidate, None).expect("no price is asked for");
                best = Some(best.map_or(cost, |best| best.min(cost)));
            }
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn the_planner_finds_the_cheapest_of_all(
        figures in proptest::collection::vec(
            (1u64..9000, 0usize..SIZES.len(), proptest::option::of(0u32..=100), 0u64..3000, any::<bool>()),
            1..=2,
        ),
    ) {
        let catalog = Catalog::builtin();
        let mut text = "name = \"a\"\n".to_owned();
        for (index, (iops, size, reads, gib, is_log)) in figures.iter().enumerate() {
            // Larger I/Os come less often, so that some needs of each size can be carried.
            let iops = (iops >> (2 * size)).max(1);
            let role = if *is_log { "log" } else { "data" };
            let _ = write!(
                text,
                "[[volume]]\nname = \"v{index}\"\nrole = \"{role}\"\ncapacity = \"{gib}GiB\"\n\
                 [[volume.period]]\nname = \"peak\"\niops = {iops}\nsize = \"{}\"\n", SIZES[*size]
            );
            if let Some(reads) = reads {
                let _ = writeln!(text, "reads = \"{reads}%\"");
            }
        }
        let (profile, _) = Profile::read(&text, "x").expect("a profile");
        let need = Need::of(&profile, Level::P99).expect("a need");
        let era = catalog.era("2016").expect("an era");
        let request = Request {
            era,
            series: vec!["DS".to_owned()],
            families: vec![Family::Premium],
            machines: Some(1),
            ..Request::default()
        };
        let vms: Vec<_> = MACHINES.iter().map(|name| catalog.vm(era, name).expect("a size")).collect();
        let disks = ["P10", "P20", "P30"].map(|name| catalog.disk(era, name).expect("a disk"));
        let found = search(&need, &request, None, catalog).expect("a search");
        let planned = found.candidates.iter().filter(|(it, _)| MACHINES.contains(&it.vm.name));
        let planned = planned.map(|(_, cost)| *cost).min();
        prop_assert_eq!(planned, brute(&need, &request, &vms, &disks), "{}", text);
    }
}

/// Every disk of `names`, in every number and caching, on demand and not.
fn every_storage(volume: &VolumeNeed, vm: &VmSize, names: &[&str]) -> Vec<Storage> {
    let (recommended, _) = recommended_caching(volume);
    let mut found = Vec::new();
    for name in names {
        let disk = Catalog::builtin().disk(vm.era, name).expect("a disk");
        let raised: &[bool] = if disk.size.get() > 512 << 30 {
            &[false, true]
        } else {
            &[false]
        };
        for count in 1..=vm.max_data_disks {
            for caching in [recommended, HostCaching::None] {
                found.extend(raised.iter().map(|on_demand| {
                    Storage::Disks(Disks {
                        kind: Choice::Named(disk),
                        count,
                        stripe_unit: stripe_unit(volume),
                        caching,
                        on_demand: *on_demand,
                    })
                }));
            }
        }
    }
    found
}

/// The cheapest of everything on each machine.
fn brute_by_price(need: &Need, request: &Request, prices: &Prices, names: &[&str]) -> Option<Cost> {
    let catalog = Catalog::builtin();
    let terms = Terms::of(request, catalog).expect("a distance");
    let mut best: Option<Cost> = None;
    for vm in MACHINES_OF_NOW.map(|name| catalog.vm(request.era, name).expect("a size")) {
        let mut combinations: Vec<Vec<Storage>> = vec![Vec::new()];
        for volume in &need.volumes {
            // What fails by itself fails in every combination.
            let mut alone = every_storage(volume, vm, names);
            alone.retain(|storage| {
                let part = Need {
                    volumes: vec![volume.clone()],
                    ..need.clone()
                };
                let candidate = Candidate {
                    vm,
                    machines: 1,
                    volumes: vec![storage.clone()],
                };
                carries(&part, &candidate, &terms)
            });
            let longer = combinations.iter().flat_map(|first| {
                let add = |next: &Storage| [first.as_slice(), std::slice::from_ref(next)].concat();
                alone.iter().map(add)
            });
            combinations = longer.collect();
        }
        for volumes in combinations {
            let candidate = Candidate {
                vm,
                machines: 1,
                volumes,
            };
            let Some(cost) = Cost::of(&candidate, Some(prices)) else {
                continue;
            };
            let is_cheaper = best.is_none_or(|best| cost < best);
            if is_cheaper && carries(need, &candidate, &terms) {
                best = Some(cost);
            }
        }
    }
    best
}

const MACHINES_OF_NOW: [&str; 2] = ["Standard_DS1_v2", "Standard_DS2_v2"];
const DISKS_OF_NOW: [&str; 4] = ["P6", "P20", "P30", "P40"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn price_lists_and_bursting_on_demand(
        figures in proptest::collection::vec((1u64..6000, 0usize..3, 0u32..=100, 0u64..4000), 1..=3),
        months in proptest::array::uniform6(1u64..400),
        raised in proptest::option::of(1u64..100),
    ) {
        let catalog = Catalog::builtin();
        let mut text = "name = \"a\"\n".to_owned();
        for (index, (iops, size, reads, gib)) in figures.iter().enumerate() {
            let _ = write!(
                text,
                "[[volume]]\nname = \"v{index}\"\ncapacity = \"{gib}GiB\"\n[[volume.period]]\nname = \"peak\"\n\
                 iops = {}\nsize = \"{}\"\nreads = \"{reads}%\"\n", (iops >> (2 * size)).max(1), SIZES[*size]
            );
        }
        let (profile, _) = Profile::read(&text, "x").expect("a profile");
        let need = Need::of(&profile, Level::P99).expect("a need");
        let mut list = "currency = \"USD\"\n".to_owned();
        let items = MACHINES_OF_NOW.iter().chain(&DISKS_OF_NOW);
        for (item, month) in items.zip(months) {
            let _ = write!(list, "[[price]]\nitem = \"{item}\"\nmonth = {month}\n");
        }
        for item in ["P30", "P40"] {
            // Without a price for it no disk bursts on demand.
            if let Some(month) = raised {
                let _ = write!(list, "[[price]]\nitem = \"{item}\"\nper = \"on-demand\"\nmonth = {month}\n");
            }
        }
        let prices = Prices::read(&list, "prices.toml").expect("a price list");
        let request = Request {
            series: vec!["DSv2".to_owned()],
            families: vec![Family::Premium],
            machines: Some(1),
            on_demand: true,
            ..Request::default()
        };
        let found = search(&need, &request, Some(&prices), catalog).expect("a search");
        let planned = found.candidates.first().map(|(_, cost)| *cost);
        let expected = brute_by_price(&need, &request, &prices, &DISKS_OF_NOW);
        prop_assert_eq!(planned, expected, "{}\n{}", text, list);
    }
}
