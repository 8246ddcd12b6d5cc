//! Which designs are proven, in what order they are offered, and what is said where none is proven.

use fathom_catalog::Catalog;
use fathom_planner::{Family, Plan, Prices, Prove, Proven, Request, plan};
use fathom_profile::Profile;

#[track_caller]
fn planned(volume: &str, request: &Request, prices: Option<&str>) -> Plan {
    let text = format!("name = \"a\"\n[[volume]]\nname = \"data\"\n{volume}");
    let (profile, _) = Profile::read(&text, "a.profile.toml").expect("a profile");
    let prices = prices.map(|list| Prices::read(list, "prices.toml").expect("a price list"));
    plan(&profile, request, prices, Catalog::builtin()).expect("a plan")
}

/// A plan's text without the breaks of its lines.
fn unwrapped(plan: &Plan) -> String {
    let text = plan.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names of the machines that are offered, with a mark of those whose offer is proven.
fn offered(plan: &Plan) -> Vec<(&str, bool)> {
    let offers = plan.offers.iter();
    let offers = offers.map(|it| (it.candidate.vm.name, it.proof.proof().is_some()));
    offers.collect()
}

/// Reads so rare that each of three periods is predicted until it has done half a million I/Os: a stripe takes each in four
/// parts, so that its proof is of six million operations, and a single disk's of one and a half.
fn large() -> String {
    let period = |name| {
        format!(
            "[[volume.period]]\nname = \"{name}\"\niops = 1_850\nsize = \"1MiB\"\nreads = \"0.1%\"\n"
        )
    };
    ["normal", "peak", "off-hours"].map(period).concat()
}
const DISKS: &str = "currency = \"USD\"\n[[price]]\nitem = \"S30\"\nmonth = 1\n\
                     [[price]]\nitem = \"premium-v2\"\nper = \"MB/s\"\nmonth = 0.1\n";
/// It takes 64 disks, of which 33 are enough.
const MANY: &str = "[[price]]\nitem = \"Standard_E104is_v5\"\nmonth = 100\n";
/// It takes 32, so that one of another kind is bought.
const FEW: &str = "[[price]]\nitem = \"Standard_D96s_v5\"\nmonth = 200\n";

fn of_both(prove: Prove) -> Request {
    Request {
        families: vec![Family::Standard, Family::V2],
        prove,
        ..Request::default()
    }
}

/// A proof that takes too long leaves the others their own, and its design stands below those that are proven.
#[test]
fn what_is_proven_is_offered_first() {
    let list = format!("{DISKS}{MANY}{FEW}");
    let plan = planned(&large(), &of_both(Prove::Soon), Some(&list));
    let expected = [("Standard_D96s_v5", true), ("Standard_E104is_v5", false)];
    assert_eq!(offered(&plan), expected, "{plan}");
    let text = plan.to_string();
    assert!(text.starts_with("NEED"), "{text}");
    // Without proofs the price alone decides.
    let never = planned(&large(), &of_both(Prove::Never), Some(&list));
    let expected = [("Standard_E104is_v5", false), ("Standard_D96s_v5", false)];
    assert_eq!(offered(&never), expected, "{never}");
}

#[test]
fn where_no_offer_is_proven_the_first_lines_say_so() {
    let list = format!("{DISKS}{MANY}");
    let plan = planned(&large(), &of_both(Prove::Soon), Some(&list));
    assert_eq!(offered(&plan), [("Standard_E104is_v5", false)], "{plan}");
    let text = unwrapped(&plan);
    // 271 s of 4 × 1,850, three times, are 6.0 million operations.
    let says = "NOT PROVEN: none of the designs below was predicted under this load; the first alone takes about 7 s. \
                Ask for it with `--prove`, which offers none that fails NEED";
    assert!(text.starts_with(says), "{text}");
    // Who wants no proofs need not be told.
    let never = planned(&large(), &of_both(Prove::Never), Some(&list));
    assert!(never.to_string().starts_with("NEED"), "{never}");
}

/// Over NFS every call of an I/O is predicted: eight of each of these.
#[test]
fn the_time_of_a_proof_counts_calls() {
    #[track_caller]
    fn check(size: &str, expected: u64) {
        let figures = format!(
            "[[volume.period]]\nname = \"peak\"\niops = 2_000\nsize = \"{size}\"\nreads = \"0.1%\"\n"
        );
        let request = Request {
            families: vec![Family::Nfs],
            prove: Prove::Never,
            offers: 1,
            ..Request::default()
        };
        let plan = planned(&figures, &request, None);
        assert_eq!(plan.offers[0].proof, Proven::No(expected), "{plan}");
    }
    // Half a million I/Os take 250 s of virtual time, and one of warm-up.
    check("256KiB", 1);
    check("2MiB", 5);
}

/// Proofs are rationed by the calls of large I/Os too: 4,096 of each of these, in 300 s of virtual time and one of warm-up: none
/// is begun that nobody asks for.
#[test]
fn proofs_of_many_calls_are_not_begun_unless_they_are_asked_for() {
    let figures = "latency_goal = { p50 = \"700ms\" }\n[[volume.period]]\nname = \"peak\"\niops = 4\nsize = \"1GiB\"\n\
                   reads = \"100%\"\n[[volume.period]]\nname = \"normal\"\niops = 3\nsize = \"1GiB\"\nreads = \"100%\"\n";
    let request = Request {
        families: vec![Family::Nfs],
        offers: 1,
        ..Request::default()
    };
    let plan = planned(figures, &request, None);
    let operations: u64 = 301 * (4 + 3) * 4096;
    let seconds = operations.div_ceil(1_000_000);
    assert_eq!(plan.offers[0].proof, Proven::No(seconds), "{plan}");
    let says = format!(
        "NOT PROVEN: none of the designs below was predicted under this load; the first alone takes about {seconds} s."
    );
    let text = unwrapped(&plan);
    assert!(text.starts_with(&says), "{text}");
}

/// Stripes with little headroom miss the goal, and each proof takes a sixth of the time that there is; designs with more headroom
/// are proven before it is over.
#[test]
fn every_headroom_has_its_turn_while_there_is_time() {
    let figures = "latency_goal = \"25ms\"\n[[volume.period]]\nname = \"peak\"\niops = 14_500\nsize = \"8KiB\"\n\
                   reads = \"30%\"\n";
    let request = Request {
        families: vec![Family::Standard],
        only: vec!["E6".to_owned()],
        offers: 1,
        ..Request::default()
    };
    let plan = planned(figures, &request, None);
    let offer = plan.offers.first().expect("an offer");
    assert!(offer.proof.proof().is_some(), "{plan}");
    assert!(offer.headroom.percent > 0, "{plan}");
}

/// Of the designs that fail the first is told for each reason, and how many fail for the same.
#[test]
fn failures_are_told_by_their_reasons() {
    let volume = "latency_goal = { p50 = \"3.9ms\" }\n[[volume.period]]\nname = \"peak\"\niops = 2400\nsize = \"8KiB\"\n\
                  reads = \"50%\"\n";
    let request = Request {
        families: vec![Family::Standard],
        only: vec!["E30".to_owned(), "E40".to_owned(), "E60".to_owned()],
        ..Request::default()
    };
    let plan = planned(volume, &request, None);
    let text = unwrapped(&plan);
    let (all, first) = (plan.unproven.len(), &plan.unproven[0].failure);
    let alike = plan.unproven.iter();
    let alike = alike.filter(|it| it.failure.is_like(first)).count();
    assert!(alike > 1, "{text}");
    let says = format!("{first}; {} more fail so", alike - 1);
    assert!(text.contains(&says), "no `{says}` in {text}");
    let told = text
        .matches("not offered, though its limits suffice")
        .count();
    let different = plan.unproven.iter().enumerate().filter(|(index, it)| {
        let mut earlier = plan.unproven[..*index].iter();
        !earlier.any(|one| one.failure.is_like(&it.failure))
    });
    assert_eq!(told, different.count().min(3), "{all} fail: {text}");
}
