//! Decisions of the published guides, made again.

use fathom_catalog::Catalog;
use fathom_model::HostCaching;
use fathom_planner::{
    Family, Per, Plan, Prices, Prove, Request, Rule, Storage, Unit, depth_for, plan,
};
use fathom_profile::{Level, Profile};
use fathom_report::Width;
use fathom_units::Nanos;

/// The guide's own prices a month (2016-02-20), P30 as its printed total needs it.
const PRICES: &str = "currency = \"USD\"\nas_of = \"2016-02-20\"\n\
    [[price]]\nitem = \"Standard_D14\"\nmonth = 1570.58\n\
    [[price]]\nitem = \"Standard_DS13\"\nmonth = 1003.66\n\
    [[price]]\nitem = \"S30\"\nmonth = 51.20\n\
    [[price]]\nitem = \"P30\"\nmonth = 135.17\n";

fn prices() -> Prices {
    Prices::read(PRICES, "prices.toml").expect("a price list")
}

fn request(series: &str) -> Request {
    let catalog = Catalog::builtin();
    Request {
        era: catalog.era("2016").expect("an era"),
        series: vec![series.to_owned()],
        families: vec![Family::Premium, Family::Standard],
        ..Request::default()
    }
}

#[track_caller]
fn planned(volumes: &str, request: &Request, prices: Option<Prices>) -> Plan {
    let text = format!("name = \"app\"\n{volumes}");
    let (profile, _) = Profile::read(&text, "app.profile.toml").expect("a profile");
    let plan = plan(&profile, request, prices, Catalog::builtin()).expect("a plan");
    for columns in [40, 60, 80] {
        let told = plan.to_text(Width::of_terminal(columns));
        // A word may be longer than the screen.
        let too_wide = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
        assert_eq!(told.lines().find(too_wide), None, "{columns}:\n{told}");
    }
    assert_eq!(plan.to_string(), plan.to_text(Width::PLAIN));
    plan
}

fn volume(name: &str, role: &str, figures: &str) -> String {
    format!(
        "[[volume]]\nname = \"{name}\"\nrole = \"{role}\"\n[[volume.period]]\nname = \"peak\"\n{figures}\n"
    )
}

fn titles(plan: &Plan) -> Vec<String> {
    plan.offers
        .iter()
        .map(fathom_planner::Offer::title)
        .collect()
}

/// A plan's text without the breaks of its lines.
fn unwrapped(plan: &Plan) -> String {
    let text = plan.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn sixteen_thousand_iops_are_cheaper_on_premium_storage() {
    let need = volume("data", "data", "iops = 16000\nsize = \"8KiB\"");
    let premium = planned(&need, &request("DS"), Some(prices()));
    assert_eq!(titles(&premium), ["Standard_DS13 with 4 × P30"]);
    // 1,003.66 + 4 × 135.17; the guide's own disk line, 544.34, is a misprint of 540.68: its total is 1,544.34.
    assert_eq!(premium.offers[0].cost.price, 1_544_340_000);
    // No page of 2016 lists the standard disks by name; later pages do, with the limits that the guide has.
    let current = Request {
        era: fathom_catalog::Era::CURRENT,
        ..request("D")
    };
    let standard = planned(&need, &current, Some(prices()));
    assert_eq!(titles(&standard), ["Standard_D14 with 32 × S30"]);
    assert_eq!(standard.offers[0].cost.price, 3_208_980_000);
}

#[test]
fn three_disks_are_not_enough_for_sixteen_thousand() {
    let fifteen = volume("data", "data", "iops = 15000\nsize = \"8KiB\"");
    let titles = titles(&planned(&fifteen, &request("DS"), Some(prices())));
    // 15,000 are all that three have: their I/Os come, and wait, so that four stand first.
    let both = ["Standard_DS13 with 4 × P30", "Standard_DS13 with 3 × P30"];
    assert_eq!(titles, both);
}

#[test]
fn the_machine_holds_a_small_one_to_its_own_limit() {
    // DS1 with one P30 is held to 3,200: for 4,000 it is ruled out.
    let of = |iops: u32| {
        let need = volume("data", "data", &format!("iops = {iops}\nsize = \"8KiB\""));
        planned(&need, &request("DS"), None)
    };
    let machine = |plan: &Plan| plan.offers[0].candidate.vm.name;
    assert_eq!(machine(&of(3200)), "Standard_DS1");
    let larger = of(4000);
    assert_ne!(machine(&larger), "Standard_DS1");
    let (count, example) = &larger.ruled_out.rules[&Rule::Machine];
    assert_eq!(*count, 1);
    assert_eq!(
        example,
        "Standard_DS1 uncached gives 3,200 IOPS, 4,000 IOPS are needed"
    );
}

#[test]
fn bytes_need_a_second_disk_where_one_is_too_slow() {
    let need = volume(
        "data",
        "data",
        "throughput = \"250MB/s\"\nsize = \"256KiB\"",
    );
    let plan = planned(&need, &request("DS"), Some(prices_of_ds4()));
    assert_eq!(titles(&plan), ["Standard_DS4 with 2 × P30"]);
    let (line, headroom) = plan.offers[0].first_to_bind().expect("a limit");
    assert_eq!(
        (line.owner.as_str(), line.unit),
        ("Standard_DS4 uncached", Unit::Bandwidth)
    );
    assert!((1.0..1.1).contains(&headroom), "{headroom}");
}

fn prices_of_ds4() -> Prices {
    let text = "currency = \"USD\"\n[[price]]\nitem = \"Standard_DS4\"\nmonth = 700\n\
                [[price]]\nitem = \"P30\"\nmonth = 135.17\n";
    Prices::read(text, "prices.toml").expect("a price list")
}

#[test]
fn data_is_cached_and_logs_are_not() {
    let need = volume(
        "data",
        "data",
        "iops = 9000\nreads = \"70%\"\nsize = \"8KiB\"",
    ) + &volume(
        "log",
        "log",
        "iops = 1500\nreads = \"0%\"\nrandom = \"0%\"\nsize = \"8KiB\"",
    );
    let plan = planned(&need, &request("DS"), None);
    let caching: Vec<_> = plan.offers[0]
        .candidate
        .volumes
        .iter()
        .map(|it| it.disks().expect("disks").caching)
        .collect();
    assert_eq!(caching, [HostCaching::ReadOnly, HostCaching::None]);
}

#[test]
fn growth_and_percentiles_are_carried() {
    let figures = "iops = { p50 = 3000, p99 = 8000 }\nsize = \"8KiB\"";
    let need = format!("growth = \"2x\"\n{}", volume("data", "data", figures));
    let plan = planned(&need, &request("DS"), Some(prices()));
    assert_eq!(titles(&plan), ["Standard_DS13 with 4 × P30"]);
}

#[test]
fn a_goal_that_no_disk_meets_is_told() {
    let need = volume("data", "data", "iops = 1000\nsize = \"8KiB\"").replace(
        "[[volume.period]]",
        "latency_goal = { p50 = \"1us\" }\n[[volume.period]]",
    );
    let plan = planned(&need, &request("DS"), Some(prices()));
    assert!(plan.offers.is_empty());
    let text = unwrapped(&plan);
    assert!(text.contains("the goal is 1 µs"), "{text}");
    assert!(text.contains("the latency alone is above a goal"), "{text}");
}

#[test]
fn what_nothing_carries_says_which_limit_and_by_how_much() {
    let need = volume("data", "data", "iops = 200000\nsize = \"8KiB\"");
    let one = Request {
        machines: Some(1),
        ..request("DS")
    };
    let plan = planned(&need, &one, None);
    assert!(plan.offers.is_empty());
    let text = unwrapped(&plan);
    assert!(text.contains("NOTHING"), "{text}");
    // 8 KiB × 200,000 are 1,638.4 MB/s; the largest of the series carries 512 MB/s of them, or 51,200 IOPS.
    let closest = "closest: Standard_DS14 uncached gives 51,200 IOPS, 200,000 IOPS are needed: 3.91 times as much";
    assert!(text.contains(closest), "{text}");
    assert!(text.contains("no storage carries the volume"), "{text}");
}

#[test]
fn what_comes_closest_can_be_bought() {
    #[track_caller]
    fn check(item: &str, family: Family, figures: &str, closest: Option<&str>) {
        let list = format!(
            "currency = \"USD\"\n[[price]]\nitem = \"Standard_DS1\"\nmonth = 10\n\
             [[price]]\nitem = \"{item}\"\nmonth = 5\n"
        );
        let one = Request {
            machines: Some(1),
            families: vec![family],
            ..Request::default()
        };
        let prices = Prices::read(&list, "prices.toml").expect("a price list");
        let text = unwrapped(&planned(
            &volume("data", "data", figures),
            &one,
            Some(prices),
        ));
        let found = text.split("closest: ").nth(1);
        let found = found.map(|rest| rest.split(" are needed").next().unwrap_or_default());
        assert_eq!(found, closest, "{text}");
    }
    // Four P30 would carry it, and the machine's 3,200 I/Os a second be closest: but they have no price.
    let small = "iops = 16000\nsize = \"8KiB\"";
    let disks = "Standard_DS1 with 4 × P4 gives 480 IOPS, 16,000 IOPS";
    check("P4", Family::Premium, small, Some(disks));
    let fast = "throughput = \"400GB/s\"\nsize = \"1MiB\"";
    let nfs = "data: 16 volumes over NFS in a capacity pool gives 131,072 MiB/s, 381,469.7 MiB/s";
    check("nfs-premium", Family::Nfs, fast, Some(nfs));
    check("P4", Family::Nfs, fast, None);
}

#[test]
fn several_machines_come_where_one_is_not_enough() {
    let need = volume("data", "data", "iops = 200000\nsize = \"8KiB\"");
    let plan = planned(&need, &request("DS"), None);
    assert_eq!(titles(&plan)[0], "4 × Standard_DS14 with 10 × P30 each");
    assert!(unwrapped(&plan).contains("4 machines are the fewest"));
}

/// A design over the network on current machines.
fn network(only: &str) -> Request {
    Request {
        families: vec![Family::Nfs, Family::Smb],
        only: vec![only.to_owned()],
        offers: 1,
        ..Request::default()
    }
}

#[test]
fn premium_volumes_need_70_31_tib_for_4500_mib() {
    let figures = "throughput = \"4500MiB/s\"\nsize = \"64KiB\"\nreads = \"100%\"\nrandom = \"0%\"";
    let plan = planned(
        &volume("data", "data", figures),
        &network("nfs-premium"),
        None,
    );
    let Storage::Nfs(volumes) = &plan.offers[0].candidate.volumes[0] else {
        panic!("{plan}")
    };
    // 4,500 ÷ 64 = 70.3125 TiB.
    assert_eq!((volumes.quota.get() * 10_000) >> 40, 703_125);
    assert_eq!((volumes.count, volumes.large), (1, false));
    let proof = plan.offers[0].proof.proof().expect("a proof");
    assert!(proof.volumes[0].iops >= 71_900.0, "{proof:?}");
}

#[test]
fn one_volume_is_not_enough_beyond_4500_mib() {
    let figures = "throughput = \"9000MiB/s\"\nsize = \"256KiB\"\nreads = \"100%\"";
    let plan = planned(
        &volume("data", "data", figures),
        &network("nfs-ultra"),
        None,
    );
    let Storage::Nfs(volumes) = &plan.offers[0].candidate.volumes[0] else {
        panic!("{plan}")
    };
    assert_eq!((volumes.count, volumes.large), (1, true), "{plan}");
    assert_eq!(volumes.quota.get() >> 40, 70);
}

/// Shares that limit what is written apart from all are asked for what writes alone.
#[test]
fn what_is_written_to_shares_is_the_writes() {
    let figures = "throughput = \"300MiB/s\"\nsize = \"64KiB\"\nreads = \"75%\"";
    let request = Request {
        prove: Prove::Never,
        ..network("hdd-payg")
    };
    let plan = planned(&volume("data", "data", figures), &request, None);
    let of = |unit: Unit| {
        let mut lines = plan.offers[0].lines.iter();
        let line = lines.find(|line| line.unit == unit);
        line.map(|line| (line.need >> 20, line.have >> 20))
    };
    assert_eq!(of(Unit::BinaryBandwidth), Some((300, 6400)), "{plan}");
    assert_eq!(of(Unit::BinaryBandwidthWritten), Some((75, 3200)), "{plan}");
}

/// 16,000 Mbps are 2,000 MB/s of what is sent. Of what is received 1.45 times that was measured, and no more is planned with.
#[test]
fn reads_over_the_network_are_planned_with_what_was_measured() {
    #[track_caller]
    fn check(mb: u64, machine: &str, have: u64) {
        let figures = format!("throughput = \"{mb}MB/s\"\nsize = \"256KiB\"\nreads = \"100%\"");
        let request = Request {
            series: vec!["Dsv3".to_owned()],
            prove: Prove::Never,
            ..network("nfs-ultra")
        };
        let plan = planned(&volume("data", "data", &figures), &request, None);
        let mut lines = plan.offers[0].lines.iter();
        let owner = format!("{machine} network, reads");
        let line = lines.find(|line| line.owner == owner);
        assert_eq!(line.map(|line| line.have), Some(have), "{plan}");
    }
    check(2_900, "Standard_D32s_v3", 2_900_000_000);
    check(2_901, "Standard_D48s_v3", 4_350_000_000);
}

#[test]
fn writes_over_the_network_need_several_machines() {
    // A machine's network meters what it sends: 80 Gbit/s and more have few sizes; D32s_v3 has 16,000 Mbit/s.
    let figures = "throughput = \"4000MB/s\"\nsize = \"256KiB\"\nreads = \"0%\"";
    let need = volume("data", "data", figures);
    let request = Request {
        series: vec!["Dsv3".to_owned()],
        ..network("nfs-ultra")
    };
    let plan = planned(&need, &request, None);
    let least = plan.offers[0].candidate.machines;
    let fastest = Catalog::builtin()
        .vms()
        .iter()
        .filter(|vm| request.admits(vm))
        .filter_map(|vm| vm.network_mbps)
        .max()
        .expect("a network");
    assert_eq!(u64::from(least), 32_000_u64.div_ceil(u64::from(fastest)));
    assert!(least > 1, "{plan}");
    // Reads are not metered, and 1.45 times the limit were measured: one machine is enough.
    let reads = planned(&need.replace("\"0%\"", "\"100%\""), &request, None);
    assert_eq!(reads.offers[0].candidate.machines, 1);
    let vm = reads.offers[0].candidate.vm;
    assert!(
        vm.network_mbps
            .is_some_and(|mbps| mbps * 145 >= 32_000 * 100),
        "{reads}"
    );
}

#[test]
fn a_share_of_v1_is_as_large_as_its_iops_need() {
    let need = volume(
        "data",
        "data",
        "iops = 16000\nsize = \"8KiB\"\nreads = \"70%\"",
    );
    let plan = planned(&need, &network("ssd-v1"), None);
    let Storage::Smb(shares) = &plan.offers[0].candidate.volumes[0] else {
        panic!("{plan}")
    };
    // 3,000 + one for each GiB; two files, since one does 8,000.
    assert_eq!(shares.size.get() >> 30, 13_000);
    assert_eq!((shares.count, shares.files, shares.channels), (1, 2, 1));
    assert!(plan.offers[0].proof.proof().is_some());
}

#[test]
fn channels_and_shares_are_added_where_one_is_not_enough() {
    let need = volume(
        "data",
        "data",
        "iops = 50000\nsize = \"8KiB\"\nreads = \"100%\"",
    );
    let plan = planned(&need, &network("ssd-v2"), None);
    let Storage::Smb(shares) = &plan.offers[0].candidate.volumes[0] else {
        panic!("{plan}")
    };
    // One channel reads 20,000 a second, k channels (1 + 2k) ÷ 3 of that.
    assert_eq!((shares.count, shares.channels, shares.files), (1, 4, 7));
    // A file would do, which several channels are not used for by a single thread.
    let few = "iops = 1500\nsize = \"512KiB\"\nreads = \"0%\"";
    let plan = planned(&volume("data", "data", few), &network("ssd-v2"), None);
    let Storage::Smb(shares) = &plan.offers[0].candidate.volumes[0] else {
        panic!("{plan}")
    };
    assert_eq!((shares.channels, shares.files), (3, 2), "{plan}");
    let need = volume(
        "data",
        "data",
        "iops = 150000\nsize = \"4KiB\"\nreads = \"100%\"",
    );
    let plan = planned(&need, &network("ssd-v2"), None);
    let Storage::Smb(shares) = &plan.offers[0].candidate.volumes[0] else {
        panic!("{plan}")
    };
    // 102,400 are the most of a share; two have eight channels, which read 120,000 a second for one machine.
    assert_eq!(shares.count, 3, "{plan}");
    let two = Request {
        machines: Some(2),
        ..network("ssd-v2")
    };
    let plan = planned(&need, &two, None);
    assert_eq!(plan.offers[0].candidate.volumes[0].count(), 2, "{plan}");
}

#[test]
fn a_millisecond_at_5000_iops_is_a_depth_of_5() {
    assert_eq!(depth_for(5000, Nanos::from_millis(1)), 5);
    let need = volume("data", "data", "iops = 5000\nsize = \"8KiB\"").replace(
        "[[volume.period]]",
        "latency_goal = { p50 = \"1ms\", p99 = \"20ms\" }\n[[volume.period]]",
    );
    let premium = Request {
        families: vec![Family::Ultra],
        offers: 1,
        ..Request::default()
    };
    let plan = planned(&need, &premium, None);
    let advice = plan.offers[0].advice.join("\n");
    assert!(
        advice.contains("5,000 IOPS at 1 ms (p50) are 5 I/Os outstanding"),
        "{advice}"
    );
}

#[test]
fn credits_are_used_only_where_asked_for() {
    // P4 has 120 IOPS, and 3,500 for half an hour.
    let need = volume(
        "data",
        "data",
        "iops = 3000\nsize = \"8KiB\"\nreads = \"50%\"",
    );
    let of = |burst| Request {
        series: vec!["Dsv3".to_owned()],
        only: vec!["P4".to_owned()],
        families: vec![Family::Premium],
        burst,
        offers: 1,
        ..Request::default()
    };
    let steady = planned(&need, &of(None), None);
    // 25 × 120 are 3,000, which random I/O on a stripe does not quite reach: 5 % more are 27 disks.
    assert_eq!(
        steady.offers[0].candidate.volumes[0].count(),
        27,
        "{steady}"
    );
    assert_eq!(steady.headroom, 5);
    let half_an_hour = planned(&need, &of(Some(Nanos::from_secs(1800))), None);
    let offer = &half_an_hour.offers[0];
    assert_eq!(offer.candidate.volumes[0].count(), 1, "{half_an_hour}");
    assert!(half_an_hour.to_string().contains("on credits"));
    let proof = offer.proof.proof().expect("a proof");
    assert!(proof.volumes[0].iops > 2970.0, "{proof:?}");
    // Twice as long leaves half of what credits add: 120 + 1,690 of one disk.
    let an_hour = planned(&need, &of(Some(Nanos::from_secs(3600))), None);
    assert_eq!(an_hour.offers[0].candidate.volumes[0].count(), 2);
}

#[test]
fn what_would_take_long_to_prove_is_said_to_be_unproven() {
    let need = volume("data", "data", "iops = 45000\nsize = \"8KiB\"");
    let of = |prove| Request {
        prove,
        offers: 1,
        ..request("DS")
    };
    let never = planned(&need, &of(Prove::Never), None);
    assert!(never.to_string().contains("NOT PROVEN"), "{never}");
    let soon = planned(&need, &of(Prove::Soon), None);
    assert!(soon.offers[0].proof.proof().is_some(), "{soon}");
    let more = Request {
        offers: 100,
        ..of(Prove::Soon)
    };
    let much = planned(&need.replace("45000", "450000"), &more, None);
    let proven = much.offers.iter().filter(|it| it.proof.proof().is_some());
    assert!(proven.count() < much.offers.len(), "{much}");
}

#[test]
fn names_that_are_code_elsewhere_are_plain_in_designs() {
    let need = volume("$(reboot) '{1..3}'", "data", "iops = 100\nsize = \"8KiB\"");
    let plan = planned(&need, &request("DS"), None);
    assert!(!plan.offers[0].design.contains('$'), "{plan}");
    assert!(plan.offers[0].design.contains("/mnt/reboot----1--3"));
}

#[test]
fn price_lists_count_space_and_iops() {
    let text = "currency = \"USD\"\n[[price]]\nitem = \"a\"\nper = \"TiB\"\nmonth = 300\n\
                [[price]]\nitem = \"a\"\nper = \"IOPS\"\nmonth = 0.005\nabove = 3000\n";
    let prices = Prices::read(text, "prices.toml").expect("a price list");
    let amounts = [(Per::Gib, 512 << 30), (Per::Iops, 5000)];
    assert_eq!(prices.of("a", &amounts), Some(160_000_000));
    assert_eq!(prices.of("a", &[(Per::Gib, 512 << 30)]), None);
    assert_eq!(prices.amount(160_000_000), "$160.00");
}

#[test]
fn the_smallest_volume_pays_for_a_pool_of_a_tebibyte() {
    let prices = "currency = \"USD\"\n[[price]]\nitem = \"nfs-premium\"\nper = \"TiB\"\nmonth = 300\n\
                  [[price]]\nitem = \"Standard_D2s_v3\"\nmonth = 70\n";
    let prices = || Prices::read(prices, "prices.toml").expect("a price list");
    let of = |mib: u32| {
        let figures = format!("throughput = \"{mib}MiB/s\"\nsize = \"64KiB\"");
        let need = volume("data", "data", &figures);
        let plan = planned(&need, &network("nfs-premium"), Some(prices()));
        let Storage::Nfs(volumes) = &plan.offers[0].candidate.volumes[0] else {
            panic!("{plan}")
        };
        let quota = volumes.quota.get() >> 30;
        (quota, volumes.pool().get() >> 40, plan.offers[0].cost.price)
    };
    // 64 MiB/s for each TiB: 2 MiB/s are 32 GiB, of which the smallest volume has 100; its pool has 1 TiB all the same.
    assert_eq!(of(2), (100, 1, 370_000_000));
    assert_eq!(of(64), (1024, 1, 370_000_000));
    // A GiB more, and the pool grows by a whole TiB.
    assert_eq!(of(65), (1040, 2, 670_000_000));
}

/// Volumes of a profile's volume lie in one pool of 2 PiB at most, and a file of theirs holds 16 TiB.
#[test]
fn space_over_nfs_ends_with_the_pool_and_takes_several_files() {
    let of = |tib: u64, iops: u32| {
        let need = format!(
            "[[volume]]\nname = \"data\"\ncapacity = \"{tib}TiB\"\n[[volume.period]]\nname = \"peak\"\n\
             iops = {iops}\nsize = \"256KiB\"\n"
        );
        planned(&need, &network("nfs-standard"), None)
    };
    let largest = of(2048, 100);
    let Storage::Nfs(volumes) = &largest.offers[0].candidate.volumes[0] else {
        panic!("{largest}")
    };
    let pool = volumes.pool().get() >> 50;
    assert_eq!((volumes.count, pool), (2, 2), "{largest}");
    let advice = |plan: &Plan| plan.offers[0].advice.join("\n");
    let files =
        "data: a file holds 16 TiB at most: the space takes 64 files of each volume at least";
    assert!(advice(&largest).contains(files), "{largest}");
    let several = advice(&of(17, 100));
    assert!(
        several.contains("the space takes 2 files at least"),
        "{several}"
    );
    let one = advice(&of(16, 100));
    assert!(!one.contains("a file holds"), "{one}");
    // 2,048 TiB of the level Standard have 32,768 MiB/s.
    for (tib, iops, closest) in [
        (
            3072,
            100,
            "16 volumes over NFS in a capacity pool gives 2 PiB, 3 PiB are needed",
        ),
        (1, 140_000, "gives 32,768 MiB/s, 35,000 MiB/s are needed"),
    ] {
        let refused = of(tib, iops);
        assert!(refused.offers.is_empty(), "{refused}");
        let text = unwrapped(&refused);
        assert!(text.contains(closest), "{text}");
    }
}

/// A P30 has 5,000 IOPS and 200 MB/s, with performance plus 8,000 and 300.
#[test]
fn performance_plus_is_considered_only_where_asked_for_and_priced() {
    let with = |iops: u32, series: &str, performance_plus, month: Option<&str>| {
        let prices = "currency = \"USD\"\n[[price]]\nitem = \"P30\"\nmonth = 135.17\n\
                          [[price]]\nitem = \"P20\"\nmonth = 73.22\n\
                          [[price]]\nitem = \"Standard_D64s_v3\"\nmonth = 2000\n";
        let option = month.map(|month| {
            format!("[[price]]\nitem = \"P30\"\nper = \"performance-plus\"\nmonth = {month}\n")
        });
        let prices = format!("{prices}{}", option.unwrap_or_default());
        let request = Request {
            series: vec![series.to_owned()],
            families: vec![Family::Premium],
            performance_plus,
            offers: 1,
            ..Request::default()
        };
        let figures = format!("iops = {iops}\nsize = \"8KiB\"\nreads = \"50%\"");
        let need = volume("data", "data", &figures);
        let prices = Prices::read(&prices, "prices.toml").expect("a price list");
        planned(&need, &request, Some(prices))
    };
    let of = |asked, month| with(7_900, "Dsv3", asked, month);
    let plain = ["Standard_D64s_v3 with 2 × P30"];
    let plus = ["Standard_D64s_v3 with 1 × P30 with performance plus"];
    assert_eq!(titles(&of(false, Some("0"))), plain);
    assert_eq!(titles(&of(true, None)), plain);
    let found = of(true, Some("20.50"));
    assert_eq!(titles(&found), plus, "{found}");
    let offer = &found.offers[0];
    assert_eq!(offer.cost.price, 2_155_670_000);
    assert!(offer.design.contains("performance_plus = true"));
    let proof = offer.proof.proof().expect("a proof");
    assert!(proof.volumes[0].iops > 7_821.0, "{proof:?}");
    let text = unwrapped(&found);
    for says in [
        "1 × P30 with performance plus, of 1 TiB, 8,000 IOPS, 300 MB/s: $155.67",
        "performance plus can be had only as a disk is created",
        "P40 in place of P30, with performance plus",
        "performance plus is considered",
    ] {
        assert!(text.contains(says), "no `{says}` in {text}");
    }
    // Where the option costs more than another disk, another disk is bought.
    assert_eq!(titles(&of(true, Some("140"))), plain);
    // 8,001 take two, and pay for two.
    let two = with(8_001, "Dsv3", true, Some("0"));
    assert_eq!(titles(&two), plain, "{two}");
}

#[test]
fn disks_burst_on_demand_only_where_asked_for_and_paid_for() {
    // P30: 5,000 IOPS and 200 MB/s; on demand 30,000 and 1,000 for as long as it is paid for.
    let load = |iops: u32| {
        let figures = format!("iops = {iops}\nsize = \"8KiB\"\nreads = \"50%\"");
        volume("data", "data", &figures)
    };
    let with = |iops: u32, on_demand, paid: bool| {
        let mut prices = "currency = \"USD\"\n[[price]]\nitem = \"P30\"\nmonth = 135.17\n\
                          [[price]]\nitem = \"Standard_D64s_v3\"\nmonth = 2000\n"
            .to_owned();
        if paid {
            prices.push_str("[[price]]\nitem = \"P30\"\nper = \"on-demand\"\nmonth = 25.50\n");
        }
        let request = Request {
            series: vec!["Dsv3".to_owned()],
            families: vec![Family::Premium],
            on_demand,
            offers: 1,
            ..Request::default()
        };
        let prices = Prices::read(&prices, "prices.toml").expect("a price list");
        planned(&load(iops), &request, Some(prices))
    };
    let of = |on_demand, paid| with(24_000, on_demand, paid);
    let plain = of(false, true);
    assert!(plain.offers[0].candidate.volumes[0].count() >= 5, "{plain}");
    let raised = of(true, true);
    assert_eq!(
        titles(&raised),
        ["Standard_D64s_v3 with 1 × P30 bursting on demand"]
    );
    assert_eq!(raised.offers[0].cost.price, 2_160_670_000);
    assert!(raised.offers[0].design.contains("burst = \"on-demand\""));
    let proof = raised.offers[0].proof.proof().expect("a proof");
    assert!(proof.volumes[0].iops > 23_760.0, "{proof:?}");
    // 19,000 transactions a second above the base of 5,000 are 68,400,000 an hour.
    let advice = raised.offers[0].advice.join("\n");
    assert!(advice.contains("68,400,000 transactions"), "{advice}");
    // Of two disks each does its part, rounded up: 15,001 a second above the base.
    let two = with(40_001, true, true);
    assert_eq!(two.offers[0].candidate.volumes[0].count(), 2, "{two}");
    let advice = two.offers[0].advice.join("\n");
    assert!(advice.contains("108,007,200 transactions"), "{advice}");
    // A price list that does not say what it costs offers none.
    assert_eq!(titles(&of(true, false)), titles(&plain));
}

/// What is billed by use is that of all disks of all machines: in each second the larger of the I/Os above the base, and of the
/// bytes above it in units of 256 KiB.
#[test]
fn transactions_above_the_base_are_those_of_all_disks() {
    #[track_caller]
    fn check(machines: u32, figures: &str, disks: u32, says: &str) {
        let request = Request {
            series: vec!["Dsv3".to_owned()],
            only: vec!["P30".to_owned()],
            families: vec![Family::Premium],
            machines: Some(machines),
            on_demand: true,
            prove: Prove::Never,
            offers: 1,
            ..Request::default()
        };
        let prices = "currency = \"USD\"\n[[price]]\nitem = \"P30\"\nmonth = 100\n\
                      [[price]]\nitem = \"P30\"\nper = \"on-demand\"\nmonth = 1\n\
                      [[price]]\nitem = \"Standard_D64s_v3\"\nmonth = 2000\n";
        let prices = Prices::read(prices, "prices.toml").expect("a price list");
        let plan = planned(&volume("data", "data", figures), &request, Some(prices));
        let offer = &plan.offers[0];
        assert_eq!(offer.candidate.volumes[0].count(), disks, "{plan}");
        let advice = offer.advice.join("\n");
        assert!(advice.contains(says), "no `{says}` in {advice}");
    }
    // Each of four disks does 20,001 a second, 15,001 above its base.
    let figures = "iops = 80_002\nsize = \"8KiB\"\nreads = \"0%\"";
    check(2, figures, 2, ": 216,014,400 transactions");
    // 573 I/Os a second, and 400 MB/s above the base of 200, which are 1,526 units.
    let figures = "throughput = \"600MB/s\"\nsize = \"1MiB\"\nreads = \"0%\"";
    check(1, figures, 1, ": 5,493,600 transactions");
}

#[test]
fn a_goal_that_disks_miss_by_themselves_leads_to_others() {
    let need = volume(
        "data",
        "data",
        "iops = 1000\nsize = \"8KiB\"\nreads = \"50%\"",
    )
    .replace(
        "[[volume.period]]",
        "latency_goal = { p50 = \"1ms\" }\n[[volume.period]]",
    );
    let of = |families: &[Family]| {
        let request = Request {
            series: vec!["Dsv3".to_owned()],
            families: families.to_vec(),
            offers: 2,
            ..Request::default()
        };
        planned(&need, &request, None)
    };
    let none = of(&[Family::Premium]);
    assert!(none.offers.is_empty(), "{none}");
    assert!(none.unproven.is_empty(), "{none}");
    assert!(none.ruled_out.rules.contains_key(&Rule::TooSlow), "{none}");
    let some = of(&[Family::Premium, Family::Ultra]);
    assert_eq!(some.offers.len(), 2, "{some}");
    assert!(some.to_string().contains("× ultra"), "{some}");
}

#[test]
fn as_many_designs_are_offered_as_were_asked_for_where_the_cheapest_fail() {
    // 16,000 are all that 32 × 500 give: such stripes fall short, and larger ones take their place.
    let need = volume("data", "data", "iops = 16000\nsize = \"8KiB\"");
    let request = Request {
        families: vec![Family::Standard],
        only: vec!["E6".to_owned()],
        offers: 3,
        ..Request::default()
    };
    let plan = planned(&need, &request, None);
    assert_eq!(plan.offers.len(), 3, "{plan}");
    for offer in &plan.offers {
        assert_eq!(
            offer.proof.proof().and_then(fathom_planner::Proof::failure),
            None
        );
    }
    let text = plan.to_string();
    assert_eq!(
        text.matches("the figures of E6 are an upper bound").count(),
        3,
        "{text}"
    );
    // The last is cheaper than the others, and doubtful.
    let costs: Vec<_> = plan.offers.iter().map(|offer| offer.cost).collect();
    assert!(costs[..2].is_sorted() && costs[2] < costs[0], "{plan}");
    let mut machines: Vec<_> = plan.offers.iter().map(|it| it.candidate.vm.name).collect();
    machines.dedup();
    assert_eq!(machines.len(), 3, "one design of each size: {plan}");
}

#[test]
fn a_need_of_nothing_is_told() {
    let error_at = |level, figures: &str| {
        let text = format!("name = \"app\"\n{}", volume("data", "data", figures));
        let (profile, _) = Profile::read(&text, "app.profile.toml").expect("a profile");
        let request = Request {
            level,
            ..request("DS")
        };
        let error = plan(&profile, &request, None, Catalog::builtin());
        error.expect_err("nothing to plan").to_string()
    };
    let error = |figures| error_at(Level::P99, figures);
    let idle = "throughput = { p50 = \"0MB/s\", p99 = \"1MB/s\" }";
    assert!(error_at(Level::P50, idle).contains("ask for nothing"));
    let known = error("iops = { p50 = 100 }");
    assert!(
        known.contains("known at p50: choose it with --percentile"),
        "{known}"
    );
    let unknown = error("reads = \"70%\"");
    let hint = "planned from the rest\n  hint: add one of them, or observe the application";
    assert!(unknown.ends_with(hint), "{unknown}");
}

#[test]
fn space_that_no_volume_has_is_named() {
    let need = volume("data", "data", "iops = 900\nsize = \"8KiB\"")
        .replace("role", "capacity = \"90PiB\"\nrole");
    let request = Request {
        families: vec![Family::Nfs],
        ..Request::default()
    };
    let text = unwrapped(&planned(&need, &request, None));
    let closest =
        "closest: data: 16 volumes over NFS in a capacity pool gives 2 PiB, 90 PiB are needed";
    assert!(text.contains(closest), "{text}");
}

#[test]
fn what_is_like_designs_that_failed_is_not_offered_on_trust() {
    // Half of the I/Os of such disks take 4 ms and more, so that none meets 3.9 ms, which only a prediction tells.
    let figures = "iops = 2400\nsize = \"8KiB\"\nreads = \"50%\"";
    let need = volume("data", "data", figures).replace(
        "[[volume.period]]",
        "latency_goal = { p50 = \"3.9ms\" }\n[[volume.period]]",
    );
    let request = Request {
        families: vec![Family::Standard],
        only: vec!["E30".to_owned(), "E40".to_owned(), "E60".to_owned()],
        ..Request::default()
    };
    let plan = planned(&need, &request, None);
    assert!(plan.offers.is_empty(), "{plan}");
    assert!(plan.unproven.len() > 6, "{plan}");
    assert!(plan.untried > 0, "{plan}");
    let text = unwrapped(&plan);
    assert!(
        text.contains("since predicting them takes too long: `--prove` tries them"),
        "{text}"
    );
}
