//! What a plan buys is what is sold: in the steps that the provider sells, at the price of those.

use fathom_catalog::Catalog;
use fathom_planner::{Bought, Choice, Plan, Prices, Prove, Request, plan};
use fathom_profile::Profile;

/// The plan for one volume in one period, of one product at given prices, on machines at 1 a month.
#[track_caller]
fn planned(only: &str, figures: &str, machines: u32, prices: &str) -> Plan {
    planned_of("", only, figures, machines, prices)
}

/// The same with a line of the volume's own.
#[track_caller]
fn planned_of(volume: &str, only: &str, figures: &str, machines: u32, prices: &str) -> Plan {
    let text = format!(
        "name = \"a\"\n[[volume]]\nname = \"data\"\n{volume}\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
    );
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    let list =
        format!("currency = \"USD\"\n[[price]]\nitem = \"Standard_D64s_v3\"\nmonth = 1\n{prices}");
    let prices = Prices::read(&list, "prices.toml").expect("a price list");
    let request = Request {
        series: vec!["Dsv3".to_owned()],
        only: vec![only.to_owned()],
        machines: Some(machines),
        prove: Prove::Never,
        ..Request::default()
    };
    plan(&profile, &request, Some(prices), Catalog::builtin()).expect("a plan")
}

/// A disk whose limits the buyer sets: its I/Os and bytes a second, and what it costs beside the machine, in millionths.
#[track_caller]
fn check_set(only: &str, figures: &str, given: (u64, u64), expected: u64) {
    check_each((1, only), figures, given, expected);
}

/// The same on several machines: what the disk of each costs.
#[track_caller]
fn check_each(
    (machines, only): (u32, &str),
    figures: &str,
    (iops, bandwidth): (u64, u64),
    expected: u64,
) {
    let prices = format!("[[price]]\nitem = \"{only}\"\nper = \"MB/s\"\nmonth = 2\n");
    let plan = planned(only, figures, machines, &prices);
    let offer = plan.offers.first().expect("an offer");
    let disks = offer.candidate.volumes[0].disks().expect("disks");
    let Choice::Set {
        iops: given,
        bandwidth: rate,
        ..
    } = disks.kind
    else {
        panic!("{plan}");
    };
    assert_eq!(disks.count, 1, "{plan}");
    assert_eq!((given.get(), rate.get()), (iops, bandwidth), "{plan}");
    let price = u64::from(machines) * (1_000_000 + expected);
    assert_eq!(offer.cost.price, price, "{plan}");
}

#[test]
fn bandwidth_of_disks_is_bought_by_the_whole_mb_a_second() {
    let mb = 1_000_000;
    // 38 × 65,536 bytes are 2,490,368 a second.
    let figures = "iops = 38\nsize = \"64KiB\"";
    check_set("ultra", figures, (100, 3 * mb), 6 * mb);
    // 50 × 524,288 bytes are 26.2 MB: 27 MB/s hang on 108 I/Os a second, 250 kB/s for each.
    let figures = "iops = 50\nsize = \"512KiB\"";
    check_set("ultra", figures, (108, 27 * mb), 54 * mb);
    // What is whole stays.
    let figures = "throughput = \"40MB/s\"\nsize = \"8KiB\"";
    check_set("ultra", figures, (4_883, 40 * mb), 80 * mb);
    let figures = "iops = 2_000\nsize = \"64KiB\"";
    check_set("premium-v2", figures, (3_000, 132 * mb), 264 * mb);
}

/// No page says that these disks count large I/Os as several, as Premium and Standard SSDs do: what is bought is what is needed,
/// and what the bandwidth hangs on.
#[test]
fn a_large_io_is_bought_as_one() {
    let mb = 1_000_000;
    // 3,500 × 307,200 bytes are 1,075.2 MB: 1,076 MB/s hang on 4,304 I/Os a second.
    let figures = "iops = 3_500\nsize = \"300KiB\"";
    check_set("premium-v2", figures, (4_304, 1_076 * mb), 2_152 * mb);
    let figures = "iops = 104\nsize = \"264KiB\"";
    check_set("ultra", figures, (116, 29 * mb), 58 * mb);
}

/// Every machine does its part, rounded up: of 6,000,001 bytes a second each of two does 3,000,001.
#[test]
fn the_parts_of_machines_are_rounded_up() {
    let figures = "throughput = \"6000001B/s\"\nsize = \"64KiB\"";
    check_each((2, "ultra"), figures, (100, 4_000_000), 8_000_000);
    let figures = "throughput = \"6000000B/s\"\nsize = \"64KiB\"";
    check_each((2, "ultra"), figures, (100, 3_000_000), 6_000_000);
    let figures = "iops = 2_001\nsize = \"8KiB\"";
    check_each((2, "ultra"), figures, (1_001, 9_000_000), 18_000_000);
}

#[test]
fn space_of_disks_is_bought_by_the_whole_gib() {
    #[track_caller]
    fn check(capacity: u64, machines: u32, gib: u64) {
        let capacity = format!("capacity = \"{capacity}B\"");
        let prices = "[[price]]\nitem = \"ultra\"\nper = \"GiB\"\nmonth = 2\n";
        let plan = planned_of(
            &capacity,
            "ultra",
            "iops = 100\nsize = \"8KiB\"",
            machines,
            prices,
        );
        let offer = plan.offers.first().expect("an offer");
        let price = u64::from(machines) * (1_000_000 + gib * 2_000_000);
        assert_eq!(offer.cost.price, price, "{plan}");
    }
    let gib = 1 << 30;
    check(10 * gib, 1, 10);
    check(10 * gib + 512, 1, 11);
    // Half of it lies on each machine.
    check(10 * gib, 2, 5);
    check(10 * gib + 512, 2, 6);
}

/// Each part of an offer is told as it is ordered, with its price, and the parts' prices are that of the whole.
/// The service takes 50 GiB, and tools that build a volume do not all: 100 GiB are in the same pool, which is paid for.
#[test]
fn volumes_over_the_network_are_as_large_as_every_tool_takes() {
    for (capacity, expected) in [("10GiB", 100), ("99GiB", 100), ("101GiB", 101)] {
        let volume = format!("capacity = \"{capacity}\"");
        let prices = "[[price]]\nitem = \"nfs-premium\"\nper = \"TiB\"\nmonth = 300\n";
        let figures = "iops = 10\nsize = \"8KiB\"";
        let plan = planned_of(&volume, "nfs-premium", figures, 1, prices);
        let offer = plan.offers.first().expect("an offer");
        let quota = offer.candidate.volumes[0].size().get() >> 30;
        assert_eq!(quota, expected, "{plan}");
        assert_eq!(offer.cost.price, 301_000_000, "{plan}");
    }
}

#[test]
fn every_part_is_told_as_it_is_ordered() {
    #[track_caller]
    fn check(only: &str, (volume, figures): (&str, &str), machines: u32, prices: &str, says: &str) {
        let prices = format!("[[price]]\nitem = \"{only}\"\n{prices}\n");
        let plan = planned_of(volume, only, figures, machines, &prices);
        let offer = plan.offers.first().expect("an offer");
        let bought = Bought::of(&plan.need, &offer.candidate, plan.prices.as_ref());
        let sum: Option<u64> = bought.iter().map(|part| part.price).sum();
        assert_eq!(sum, Some(offer.cost.price), "{plan}");
        let text = plan.to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let computers = format!("to buy: {machines} × Standard_D64s_v3: ${machines}.00 to buy: ");
        assert!(text.contains(&computers), "{text}");
        let says = format!("to buy: {says} limit need");
        assert!(text.contains(&says), "no {says} in {text}");
        // Without prices, the same without theirs.
        let unpriced = Bought::of(&plan.need, &offer.candidate, None);
        assert!(unpriced.iter().all(|part| part.price.is_none()));
        assert!(
            unpriced
                .iter()
                .zip(&bought)
                .all(|(one, other)| one.what == other.what)
        );
    }
    let large = "capacity = \"1536GiB\"";
    let of_16k = (large, "iops = 9_500\nsize = \"16KiB\"");
    let by_gib = "per = \"GiB\"\nmonth = 0.1";
    let says = "data: 1 × premium-v2, of 1,536 GiB, 9,500 IOPS, 156 MB/s: $153.60";
    check("premium-v2", of_16k, 1, by_gib, says);
    // 1,000 I/Os a second hang on each GiB.
    let of_16k_alone = ("", of_16k.1);
    let says = "data: 1 × ultra, of 10 GiB, 9,500 IOPS, 156 MB/s: $1.00";
    check("ultra", of_16k_alone, 1, by_gib, says);
    let says = "data: 1 × premium-v2, of 768 GiB, 4,750 IOPS, 125 MB/s on each machine: $153.60";
    check("premium-v2", of_16k, 2, by_gib, says);
    let says = "data: 2 × P30, each of 1 TiB, 5,000 IOPS, 200 MB/s: $270.00";
    check("P30", of_16k, 1, "month = 135", says);
    let of_1m = (
        "",
        "throughput = \"800MiB/s\"\nsize = \"1MiB\"\nreads = \"50%\"",
    );
    let says =
        "data: 1 × nfs-premium, of 12,800 GiB, 800 MiB/s, in a capacity pool of 13 TiB: $3,900.00";
    check("nfs-premium", of_1m, 2, "per = \"TiB\"\nmonth = 300", says);
    let by_mib = "per = \"MiB/s\"\nmonth = 2";
    let says = "data: 1 × ssd-v2, of 1,536 GiB, 9,500 IOPS, 149 MiB/s: $298.00";
    check("ssd-v2", of_16k, 2, by_mib, says);
    // The most that one share does.
    let of_most = (
        "",
        "throughput = \"10340MiB/s\"\nsize = \"1MiB\"\nreads = \"100%\"",
    );
    let says = "data: 1 × ssd-v2, of 32 GiB, 10,340 IOPS, 10,340 MiB/s: $3.20";
    check("ssd-v2", of_most, 8, by_gib, says);
    let says = "data: 1 × ssd-v2, of 1,536 GiB, 9,500 IOPS, 149 MiB/s: $153.60";
    check("ssd-v2", of_16k, 2, by_gib, says);
}

/// Several disks are cheaper where each includes some I/O; but the slowest of four parts of an I/O takes longer than one whole.
#[test]
fn a_stripe_that_misses_a_goal_by_itself_gives_way_to_a_single_disk() {
    #[track_caller]
    fn check(goal: &str, is_striped: bool) {
        let figures = "iops = 1_000\nsize = \"1MiB\"\nreads = \"0%\"";
        let prices = "[[price]]\nitem = \"premium-v2\"\nper = \"IOPS\"\nabove = 3000\nmonth = 1\n";
        let plan = planned_of(goal, "premium-v2", figures, 1, prices);
        let offer = plan.offers.first().expect("an offer");
        assert_eq!(offer.candidate.volumes[0].count() > 1, is_striped, "{plan}");
    }
    check("", true);
    // Of one p99 is 1 ms; of the slowest of four 1.15 ms, and a twentieth is allowed.
    check("latency_goal = \"1.05ms\"", false);
    check("latency_goal = \"1.2ms\"", true);
}
