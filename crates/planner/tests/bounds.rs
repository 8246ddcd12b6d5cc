//! How much the search looks at, at worst: every machine size, every product, four volumes, and a price list that makes as many
//! choices worth considering as there are.

use std::fmt::Write as _;

use fathom_catalog::Catalog;
use fathom_planner::{Family, Found, Need, Prices, Request, search};
use fathom_profile::{Level, Profile};

/// Larger disks cost more for each GiB than small ones, so that none beats another in both number and price.
fn prices() -> Prices {
    let catalog = Catalog::builtin();
    let mut text = "currency = \"USD\"\n".to_owned();
    let mut price = |item: &str, rest: &str| {
        let _ = write!(text, "[[price]]\nitem = \"{item}\"\n{rest}\n");
    };
    let mut names: Vec<_> = catalog.vms().iter().map(|vm| vm.name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        price(name, "month = 100");
    }
    let mut disks: Vec<_> = catalog
        .disks()
        .iter()
        .map(|disk| (disk.name, disk.size.get() >> 30))
        .collect();
    disks.sort_unstable();
    disks.dedup_by_key(|(name, _)| *name);
    for (name, gib) in disks {
        price(
            name,
            &format!("month = {:.4}", 0.001 * libm::pow(gib as f64, 1.2)),
        );
    }
    for name in [
        "premium-v2",
        "ultra",
        "ssd-v1",
        "ssd-v2",
        "hdd-v2",
        "hdd-payg",
    ] {
        price(name, "per = \"GiB\"\nmonth = 2");
    }
    for name in ["nfs-standard", "nfs-premium", "nfs-ultra", "nfs-flexible"] {
        price(name, "per = \"TiB\"\nmonth = 2000");
    }
    Prices::read(&text, "prices.toml").expect("a price list")
}

fn need(capacity: &str, iops: u32) -> Need {
    let mut text = "name = \"a\"\ngrowth = \"1.5x\"\n".to_owned();
    for name in ["a", "b", "c", "d"] {
        let _ = write!(
            text,
            "[[volume]]\nname = \"{name}\"\ncapacity = \"{capacity}\"\n"
        );
        for period in ["normal", "peak", "off-hours"] {
            let _ = write!(
                text,
                "[[volume.period]]\nname = \"{period}\"\niops = {iops}\nsize = \"8KiB\"\nreads = \"70%\"\n"
            );
        }
    }
    let (profile, _) = Profile::read(&text, "x").expect("a profile");
    Need::of(&profile, Level::P99).expect("a need")
}

fn found(need: &Need) -> Found {
    let request = Request {
        families: Family::ALL.to_vec(),
        on_demand: true,
        ..Request::default()
    };
    search(need, &request, Some(&prices()), Catalog::builtin()).expect("a search")
}

#[test]
fn the_worst_profiles_are_searched_with_few_combinations() {
    for (capacity, iops) in [
        ("1TiB", 100),
        ("4TiB", 100),
        ("8TiB", 3000),
        ("1TiB", 200_000),
    ] {
        let found = found(&need(capacity, iops));
        assert_eq!(found.sizes, 230, "every size of the era");
        // Five kinds at most of each of four volumes, for each size and each of up to thirteen numbers of machines; what
        // cannot be cheaper is left out, so that it comes to far fewer. Every choice by itself would be some 10^8.
        assert!(found.judged > 0);
        assert!(
            found.judged < 150_000,
            "{capacity}, {iops}: {}",
            found.judged
        );
    }
}
