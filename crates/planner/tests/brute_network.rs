//! The search over volumes and shares of the network, and over numbers of machines, against one that tries everything.
//!
//! What is sold is walked upwards GiB by GiB with the pages' formulas written out again; machines are added one by one.

use std::fmt::Write as _;

use fathom_catalog::{Catalog, VmSize};
use fathom_model::HostCaching;
use fathom_planner::{
    Candidate, Choice, Cost, Disks, Family, Need, NfsVolumes, Request, SmbShares, Storage, Terms,
    VolumeNeed, carries, recommended_caching, search, stripe_unit,
};
use fathom_profile::{Level, Profile};
use fathom_units::{Bytes, BytesPerSec, Iops};
use proptest::prelude::*;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

fn asked(volume: &VolumeNeed) -> (u64, u64) {
    let iops = volume.loads.iter().map(|load| load.iops.get()).max();
    let bytes = volume.loads.iter().map(|load| load.bandwidth.get()).max();
    (iops.unwrap_or(0), bytes.unwrap_or(0))
}

/// Every service level: the first quota, in GiB, whose bandwidth and space are enough.
fn volumes(need: &VolumeNeed, catalog: &'static Catalog) -> Vec<Storage> {
    let (_, bytes) = asked(need);
    let mut found = Vec::new();
    let kinds = [
        ("standard", 16),
        ("premium", 64),
        ("ultra", 128),
        ("flexible", 640),
    ];
    for (name, mib_per_tib) in kinds {
        let level = catalog.service_level(name).expect("a level");
        for (large, least, most, fastest) in [
            // No tool refuses 100 GiB.
            (false, 100, 100 << 10, 4500_u64),
            (true, 50 << 10, 1024 << 10, 12800),
        ] {
            // One is always enough: larger needs have tests of their own.
            let carries = |gib: &u64| {
                let rate = u128::from(*gib) * mib_per_tib * u128::from(MIB) / 1024;
                let assigned = u128::from(bytes.div_ceil(MIB).max(1) * MIB);
                let wanted = if name == "flexible" {
                    assigned
                } else {
                    u128::from(bytes)
                };
                rate >= wanted && gib * GIB >= need.capacity.get()
            };
            let Some(gib) = (least..=most).find(carries) else {
                continue;
            };
            let by_quota = (u128::from(gib) * mib_per_tib * u128::from(MIB) / 1024) as u64;
            let given = if name == "flexible" {
                bytes.div_ceil(MIB).max(1) * MIB
            } else {
                by_quota
            };
            for connections in [8, 16] {
                found.push(Storage::Nfs(NfsVolumes {
                    level,
                    large,
                    quota: Bytes::new(gib * GIB),
                    bandwidth: BytesPerSec::new(given.min(fastest * MIB)),
                    count: 1,
                    connections,
                }));
            }
        }
    }
    found
}

/// Every model: the first size whose limits are enough, with every number of channels.
fn shares(need: &VolumeNeed, catalog: &'static Catalog) -> Vec<Storage> {
    let (iops, bytes) = asked(need);
    let space = need.capacity.get().div_ceil(GIB);
    let mib = bytes.div_ceil(MIB);
    let v1 = (100_u64..=102_400)
        .filter(|gib| *gib >= space)
        .map(|gib| {
            let rate = 100 + (4 * gib).div_ceil(100) + (6 * gib).div_ceil(100);
            (gib, (3000 + gib).min(102_400), rate.min(10_340))
        })
        .find(|(_, given, rate)| *given >= iops && rate * MIB >= bytes);
    let kinds = [
        ("ssd-v1", v1),
        (
            "ssd-v2",
            Some((space.max(32), iops.max(3000), mib.max(100))),
        ),
        ("hdd-v2", Some((space.max(32), iops.max(500), mib.max(60)))),
        ("hdd-payg", Some((space.max(1), 20_000, 6400))),
    ];
    let mut found = Vec::new();
    for (name, given) in kinds {
        let model = catalog.share_model(name).expect("a model");
        let Some((gib, iops, rate)) = given else {
            continue;
        };
        if iops > model.max_iops.get() || rate > model.max_mibps {
            continue;
        }
        let most = if name.starts_with("ssd") { 4 } else { 1 };
        for channels in 1..=most {
            // More files cost nothing: 32 are more than any of these needs asks for.
            found.push(Storage::Smb(SmbShares {
                model,
                size: Bytes::new(gib * GIB),
                iops: Iops::new(iops),
                bandwidth: BytesPerSec::new(rate * MIB),
                count: 1,
                channels,
                files: 32,
            }));
        }
    }
    found
}

fn disks(
    need: &VolumeNeed,
    vm: &VmSize,
    names: &[&str],
    catalog: &'static Catalog,
) -> Vec<Storage> {
    let (recommended, _) = recommended_caching(need);
    let mut found = Vec::new();
    for name in names {
        let disk = catalog.disk(vm.era, name).expect("a disk");
        for count in 1..=vm.max_data_disks {
            for caching in [recommended, HostCaching::None] {
                found.push(Storage::Disks(Disks {
                    kind: Choice::Named(disk),
                    count,
                    stripe_unit: stripe_unit(need),
                    caching,
                    on_demand: false,
                }));
            }
        }
    }
    found
}

/// The cheapest of everything, with the fewest machines that any size needs.
fn brute(need: &Need, request: &Request, names: &[&str]) -> Option<(u32, Cost)> {
    let catalog = Catalog::builtin();
    let terms = Terms::of(request, catalog).expect("a distance");
    for machines in 1..=64 {
        let mut best: Option<Cost> = None;
        for vm in catalog.vms().iter().filter(|vm| request.admits(vm)) {
            let part = need.part(machines);
            let mut combinations: Vec<Vec<Storage>> = vec![Vec::new()];
            for (volume, part) in need.volumes.iter().zip(&part.volumes) {
                let mut all = Vec::new();
                if request.families.contains(&Family::Nfs) {
                    all.extend(volumes(volume, catalog));
                }
                if request.families.contains(&Family::Smb) {
                    all.extend(shares(volume, catalog));
                }
                all.extend(disks(part, vm, names, catalog));
                // What fails by itself fails in every combination.
                all.retain(|storage| {
                    let alone = Need {
                        volumes: vec![volume.clone()],
                        ..need.clone()
                    };
                    let candidate = Candidate {
                        vm,
                        machines,
                        volumes: vec![storage.clone()],
                    };
                    carries(&alone, &candidate, &terms)
                });
                combinations = combinations
                    .iter()
                    .flat_map(|first| {
                        all.iter()
                            .map(|next| [first.as_slice(), std::slice::from_ref(next)].concat())
                    })
                    .collect();
            }
            for volumes in combinations {
                let candidate = Candidate {
                    vm,
                    machines,
                    volumes,
                };
                if carries(need, &candidate, &terms) {
                    let cost = Cost::of(&candidate, None).expect("no price is asked for");
                    best = Some(best.map_or(cost, |best| best.min(cost)));
                }
            }
        }
        if let Some(best) = best {
            return Some((machines, best));
        }
    }
    None
}

type Figures = (u64, usize, Option<u32>, u64);

fn need_of(figures: &[Figures]) -> Need {
    const SIZES: [&str; 4] = ["4KiB", "8KiB", "64KiB", "512KiB"];
    let mut text = "name = \"a\"\n".to_owned();
    for (index, (iops, size, reads, gib)) in figures.iter().enumerate() {
        let iops = (iops >> (2 * size)).max(1);
        let _ = write!(
            text,
            "[[volume]]\nname = \"v{index}\"\ncapacity = \"{gib}GiB\"\n\
             [[volume.period]]\nname = \"peak\"\niops = {iops}\nsize = \"{}\"\n",
            SIZES[*size]
        );
        if let Some(reads) = reads {
            let _ = writeln!(text, "reads = \"{reads}%\"");
        }
    }
    let (profile, _) = Profile::read(&text, "x").expect("a profile");
    Need::of(&profile, Level::P99).expect("a need")
}

fn request(families: &[Family], series: &str, distance: &str) -> Request {
    Request {
        series: vec![series.to_owned()],
        families: families.to_vec(),
        distance: distance.to_owned(),
        ..Request::default()
    }
}

fn agree(need: &Need, request: &Request, names: &[&str]) -> Result<(), TestCaseError> {
    let found = search(need, request, None, Catalog::builtin()).expect("a search");
    let planned = found.candidates.first();
    let planned = planned.map(|(candidate, cost)| (candidate.machines, *cost));
    prop_assert_eq!(planned, brute(need, request, names), "{:?}", need);
    Ok(())
}

fn figures() -> impl Strategy<Value = Figures> {
    (
        1u64..30_000,
        0usize..4,
        proptest::option::of(0u32..=100),
        0u64..3000,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn volumes_over_nfs_and_shares_over_smb(
        figures in proptest::collection::vec(figures(), 1..=2),
        family in 0usize..2,
        far in any::<bool>(),
    ) {
        let family = [Family::Nfs, Family::Smb][family];
        let distance = if far { "8ms" } else { "near" };
        agree(&need_of(&figures), &request(&[family], "DS", distance), &[])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn disks_beside_the_network_and_several_machines(
        figures in figures(),
        network in any::<bool>(),
    ) {
        let names = ["P10", "P30"];
        let nfs: &[_] = if network { &[Family::Premium, Family::Nfs] } else { &[Family::Premium] };
        let mut request = request(nfs, "DS", "near");
        request.only = names.iter().map(|name| (*name).to_owned()).collect();
        request.only.extend(["standard", "premium", "ultra", "flexible"].map(|it| format!("nfs-{it}")));
        let (iops, size, reads, gib) = figures;
        // Now and then more than any machine of the series carries.
        agree(&need_of(&[(iops * 12, size, reads, gib)]), &request, &names)?;
    }
}
