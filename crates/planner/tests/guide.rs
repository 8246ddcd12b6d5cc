//! Decisions of the published guides, made again.

use fathom_catalog::Catalog;
use fathom_model::HostCaching;
use fathom_planner::{Family, Plan, Prices, Request, Rule, Unit, plan};
use fathom_profile::Profile;

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
    plan(&profile, request, prices, Catalog::builtin()).expect("a plan")
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

#[test]
fn sixteen_thousand_iops_are_cheaper_on_premium_storage() {
    let need = volume("data", "data", "iops = 16000\nsize = \"8KiB\"");
    let premium = planned(&need, &request("DS"), Some(prices()));
    assert_eq!(titles(&premium), ["Standard_DS13 with 4 × P30"]);
    // 1,003.66 + 4 × 135.17; the guide's own disk line, 544.34, is a misprint of 540.68: its total is 1,544.34.
    assert_eq!(premium.offers[0].cost.price, 154_434);
    // No page of 2016 lists the standard disks by name; later pages do, with the limits that the guide has.
    let current = Request {
        era: fathom_catalog::Era::CURRENT,
        ..request("D")
    };
    let standard = planned(&need, &current, Some(prices()));
    assert_eq!(titles(&standard), ["Standard_D14 with 32 × S30"]);
    assert_eq!(standard.offers[0].cost.price, 320_898);
}

#[test]
fn three_disks_are_not_enough_for_sixteen_thousand() {
    let fifteen = volume("data", "data", "iops = 15000\nsize = \"8KiB\"");
    let titles = titles(&planned(&fifteen, &request("DS"), Some(prices())));
    assert_eq!(titles, ["Standard_DS13 with 3 × P30"]);
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
    let (count, example) = &larger.ruled_out.0[&Rule::Machine];
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
        .map(|it| it.caching)
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
    assert!(
        plan.unproven[0].contains("above the goal of 1 µs"),
        "{:?}",
        plan.unproven
    );
}

#[test]
fn what_nothing_carries_says_which_limit() {
    let need = volume("data", "data", "iops = 200000\nsize = \"8KiB\"");
    let plan = planned(&need, &request("DS"), None);
    assert!(plan.offers.is_empty());
    let text = plan.to_string();
    assert!(text.contains("NOTHING"), "{text}");
    assert!(text.contains("ruled out"), "{text}");
}
