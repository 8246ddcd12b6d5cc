//! The search against a search that tries everything.

use std::fmt::Write as _;

use fathom_catalog::{Catalog, Disk, VmSize};
use fathom_model::HostCaching;
use fathom_planner::{
    Candidate, Choice, Cost, Disks, Family, Line, Need, Request, Storage, Terms, lines,
    recommended_caching, search, stripe_unit,
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
            if lines(need, &candidate, &terms).iter().all(Line::carries) {
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
