//! What stands first: a design that is cheaper because it is doubtful does not.

use fathom_catalog::Catalog;
use fathom_planner::{Family, Plan, Prices, Prove, Request, plan};
use fathom_profile::Profile;

#[track_caller]
fn planned(application: &str, figures: &str, request: &Request, prices: Option<&str>) -> Plan {
    let text = format!(
        "name = \"a\"\n{application}[[volume]]\nname = \"data\"\n[[volume.period]]\nname = \"peak\"\n{figures}"
    );
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    let prices = prices.map(|list| Prices::read(list, "prices.toml").expect("a price list"));
    plan(&profile, request, prices, Catalog::builtin()).expect("a plan")
}

/// A plan's text without the breaks of its lines.
fn unwrapped(plan: &Plan) -> String {
    let text = plan.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn titles(plan: &Plan) -> Vec<String> {
    plan.offers
        .iter()
        .map(fathom_planner::Offer::title)
        .collect()
}

fn of(only: &str, family: Family, series: &[&str], offers: usize) -> Request {
    Request {
        families: vec![family],
        only: vec![only.to_owned()],
        series: series.iter().map(|&name| name.to_owned()).collect(),
        offers,
        ..Request::default()
    }
}

/// Four have exactly what is asked for: the I/Os come, and wait.
const EXACT: &str = "iops = 20_000\nsize = \"8KiB\"\nreads = \"50%\"\n";

#[test]
fn what_waits_stands_behind_what_does_not() {
    let plan = planned("", EXACT, &of("P30", Family::Premium, &["Dsv3"], 3), None);
    let expected = ["5 × P30", "5 × P30", "4 × P30"];
    let found = titles(&plan);
    assert_eq!(found.len(), 3, "{plan}");
    for (title, storage) in found.iter().zip(expected) {
        assert!(title.ends_with(storage), "{found:?}");
    }
    assert_ne!(found[0], found[1], "{plan}");
    let cheaper = plan.cheaper.as_ref().expect("a cheaper one");
    assert_eq!(
        (&cheaper.title, cheaper.offer),
        (&found[2], Some(3)),
        "{plan}"
    );
    let text = unwrapped(&plan);
    let says = format!(
        "a design with less to provision is not the first, for it is DOUBTFUL: {}: 16 vCPU, 20,000 IOPS provisioned: half of the",
        found[2]
    );
    assert!(text.contains(&says), "no `{says}` in {text}");
    assert!(
        text.contains("of its storage by itself (it is 3. below)"),
        "{text}"
    );
    assert!(
        text.contains("since the I/Os of designs with less wait for each other"),
        "{text}"
    );
    let document = plan.to_json();
    let told = &document["cheaper_and_doubtful"];
    assert_eq!(
        (&told["title"], &told["offer"]),
        (&found[2].as_str().into(), &3.into())
    );
    assert_eq!(told["provisioned"], document["offers"][2]["provisioned"]);
    assert_eq!(told["why"].as_str(), Some(cheaper.why.as_str()));
}

#[test]
fn a_single_offer_leaves_the_cheaper_one_to_be_told() {
    let prices = "currency = \"USD\"\n[[price]]\nitem = \"P30\"\nmonth = 100\n[[price]]\nitem = \"Standard_D16s_v3\"\nmonth = 500\n";
    let request = of("P30", Family::Premium, &["Dsv3"], 1);
    let plan = planned("", EXACT, &request, Some(prices));
    assert_eq!(titles(&plan), ["Standard_D16s_v3 with 5 × P30"], "{plan}");
    let text = unwrapped(&plan);
    let says = "a cheaper design is not the first, for it is DOUBTFUL: Standard_D16s_v3 with 4 × P30: $900.00 a month: half of the";
    assert!(text.contains(says), "no `{says}` in {text}");
    assert!(text.contains("(`--offers 2` shows it)"), "{text}");
    assert!(plan.to_json()["cheaper_and_doubtful"]["offer"].is_null());
    // Who wants no proofs is not told of waiting.
    let never = Request {
        prove: Prove::Never,
        ..request.clone()
    };
    let plan = planned("", EXACT, &never, Some(prices));
    assert_eq!(titles(&plan), ["Standard_D16s_v3 with 4 × P30"], "{plan}");
    assert_eq!(plan.cheaper, None);
}

/// What is doubtful is shown where there is nothing else: more headroom would take another machine.
#[test]
fn what_is_doubtful_is_offered_where_it_is_all_there_is() {
    let figures = "iops = 3_000\nsize = \"8KiB\"\nreads = \"50%\"\n";
    let request = Request {
        machines: None,
        ..of("P4", Family::Premium, &["Dsv3"], 1)
    };
    let plan = planned("", figures, &request, None);
    let offer = &plan.offers[0];
    assert_eq!(offer.candidate.machines, 1, "{plan}");
    assert_eq!(plan.cheaper, None, "{plan}");
    assert!(
        unwrapped(&plan).contains("DOUBTFUL: half of these"),
        "{plan}"
    );
}

/// Machines whose processors nobody vouches for are cheaper, and last.
#[test]
fn doubtful_machines_stand_behind_others() {
    let figures = "iops = 400\nsize = \"8KiB\"\nreads = \"50%\"\n";
    let used = "logical_processors = 4\nprocessors = \"40%\"\n";
    let request = of("P10", Family::Premium, &["Bv1", "Dsv3"], 3);
    let plan = planned(used, figures, &request, None);
    let machines: Vec<_> = plan
        .offers
        .iter()
        .map(|it| it.candidate.vm.series)
        .collect();
    assert_eq!(
        machines,
        ["Dsv3-series", "Dsv3-series", "Bv1-series"],
        "{plan}"
    );
    let cheaper = plan.cheaper.as_ref().expect("a cheaper one");
    assert!(
        cheaper
            .why
            .starts_with("its processors are at full speed on credits alone"),
        "{cheaper:?}"
    );
    let alone = planned(
        used,
        figures,
        &of("P10", Family::Premium, &["Bv1"], 3),
        None,
    );
    assert_eq!((alone.offers.len(), &alone.cheaper), (3, &None), "{alone}");
}
