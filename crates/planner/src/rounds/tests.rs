//! What becomes of designs that are offered on trust, and how much a round may try.

use fathom_profile::{Level, Profile};

use super::*;
use crate::Family;
use crate::offer::Proven;
use crate::proof::{Misses, ProvenVolume};

fn need() -> Need {
    let text = "name = \"a\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\niops = 1_000\nsize = \"8KiB\"\n";
    let (profile, _) = Profile::read(text, "x").expect("a profile");
    Need::of(&profile, Level::P99).expect("a need")
}

/// Designs that carry the need, each on a machine of its own, none of them proven.
fn on_trust(need: &Need, percents: &[u64]) -> Vec<Offer> {
    let request = Request {
        families: vec![Family::Premium],
        ..Request::default()
    };
    let catalog = Catalog::builtin();
    let terms = Terms::of(&request, catalog).expect("terms");
    let found = search(need, &request, None, catalog).expect("a search");
    let wanted = || false;
    let mut budget = Budget::new(Prove::Never, &wanted);
    let offers = found.candidates.into_iter().zip(percents);
    let offers = offers.map(|(priced, percent)| {
        let context = (&request, &terms);
        let offer = Offer::new(need, priced, context, (&mut budget, catalog));
        let mut offer = offer.expect("an offer");
        offer.headroom = Headroom::of_all(*percent);
        offer
    });
    offers.collect()
}

/// The proof of one volume that came to so many I/Os a second of 1,000.
fn proof(iops: f64) -> Proven {
    let proven = ProvenVolume {
        volume: "d".to_owned(),
        period: fathom_profile::PeriodKind::Peak,
        iops_needed: 1_000,
        iops,
        response: Vec::new(),
        goal: Vec::new(),
        unloaded: None,
    };
    Proven::Yes(Proof {
        volumes: vec![proven],
    })
}

fn percents(judged: &Judged) -> Vec<u64> {
    let offers = judged.offers.iter();
    offers.map(|offer| offer.headroom.percent).collect()
}

/// What is offered on trust stands until a design with as much headroom fails; what is proven stands anyway.
#[test]
fn offers_on_trust_give_way_to_failures_with_as_much_headroom() {
    #[track_caller]
    fn check(failed_with: Option<u64>, left: &[u64], untried: usize) {
        let need = need();
        let mut offers = on_trust(&need, &[0, 5, 10, 5]);
        offers[3].proof = proof(1_000.0);
        let mut judged = Judged {
            offers,
            failed_with,
            ..Judged::default()
        };
        judged.trust();
        assert_eq!(percents(&judged), left, "{failed_with:?}");
        assert_eq!(judged.untried, untried, "{failed_with:?}");
        assert!(judged.has_proof());
    }
    check(None, &[0, 5, 10, 5], 0);
    check(Some(0), &[5, 10, 5], 1);
    check(Some(5), &[10, 5], 2);
    check(Some(10), &[5], 3);
}

#[test]
fn what_is_like_designs_that_failed_is_not_offered_on_trust() {
    let need = need();
    let mut offers = on_trust(&need, &[0, 5, 5, 10, 0]).into_iter();
    let mut next = || offers.next().expect("an offer");
    let mut judged = Judged::default();
    judged.judge(&need, next());
    assert_eq!((percents(&judged), judged.untried), (vec![0], 0));
    assert!(!judged.has_proof());
    // A proof that fails, with 5 % of headroom: less and as much is not trusted any more, more is.
    let mut failing = next();
    failing.proof = proof(900.0);
    judged.judge(&need, failing);
    assert_eq!(judged.failed.len(), 1);
    assert_eq!(judged.failed[0].failure.misses, Misses::Rate);
    assert_eq!(judged.failed_with, Some(5));
    assert!(judged.falls_short);
    let tiers: Vec<_> = judged.failing["d"].iter().copied().collect();
    assert_eq!(tiers, ["premium_ssd"]);
    judged.judge(&need, next());
    assert_eq!((percents(&judged), judged.untried), (vec![0], 1));
    judged.judge(&need, next());
    assert_eq!((percents(&judged), judged.untried), (vec![0, 10], 1));
    // What is proven is offered with whatever headroom.
    let mut proven = next();
    proven.proof = proof(1_000.0);
    judged.judge(&need, proven);
    assert_eq!((percents(&judged), judged.untried), (vec![0, 10, 0], 1));
    assert!(judged.has_proof());
    assert_eq!(judged.failed_with, Some(5));
}

/// A need that standard SSDs carry by their limits, with a median that half of their I/Os miss, as only a proof tells; and its
/// designs, one of each machine size. `reads` says how rare the writes are, of which a proof needs enough.
fn failing(iops: u64, reads: &str) -> (Need, Request, Round) {
    let text = format!(
        "name = \"a\"\n[[volume]]\nname = \"d\"\nlatency_goal = {{ p50 = \"3.9ms\" }}\n[[volume.period]]\n\
         name = \"peak\"\niops = {iops}\nsize = \"8KiB\"\nreads = \"{reads}\"\n"
    );
    let (profile, _) = Profile::read(&text, "x").expect("a profile");
    let need = Need::of(&profile, Level::P99).expect("a need");
    let request = Request {
        families: vec![Family::Standard],
        only: vec!["E30".to_owned()],
        offers: 100,
        ..Request::default()
    };
    let found = search(&need, &request, None, Catalog::builtin()).expect("a search");
    (need, request, (Headroom::of_all(0), found.candidates))
}

/// What a round comes to: designs that fail their proofs, that are looked at, and operations spent, of how many there are.
#[track_caller]
fn round((need, request, round): &(Need, Request, Round), prove: Prove, most: Most) -> [u64; 3] {
    let catalog = Catalog::builtin();
    let terms = Terms::of(request, catalog).expect("terms");
    let wanted = || false;
    let asked = Asked {
        need,
        request,
        terms: &terms,
        prices: None,
        catalog,
        stop: &wanted,
    };
    let mut judged = Judged::default();
    let mut budget = Budget::new(prove, &wanted);
    let looked = judged.look_at(&asked, round, most, &mut budget);
    looked.expect("a round");
    assert!(judged.offers.is_empty());
    let counts = [judged.failed.len(), judged.seen.len()];
    let [failed, seen] = counts.map(|count| count as u64);
    [failed, seen, budget.spent()]
}

/// Rounds end by what they have spent, never by the clock.
#[test]
fn a_round_ends_with_its_failures_or_its_operations() {
    // Eight seconds of 300 I/Os, until the 1,100 writes that p99 takes have come; and one of warm-up.
    let short = failing(300, "50%");
    let all = short.2.1.len() as u64;
    assert!(all > 20, "{all}");
    let of_each = 9 * 300;
    let check = |most: Most, expected: u64| {
        let found = round(&short, Prove::Always, most);
        assert_eq!(found, [expected, expected, expected * of_each], "{most:?}");
    };
    check(Most::A_ROUND, 6);
    let of = |failures, operations| Most {
        failures,
        operations,
        fill: true,
    };
    check(of(3, u64::MAX), 3);
    // The last begins before so many are spent.
    check(of(usize::MAX, 4 * of_each), 4);
    check(of(usize::MAX, 4 * of_each + 1), 5);
    // One is tried in any case.
    check(of(usize::MAX, 0), 1);
    check(of(6, 2 * of_each), 2);
}

/// Proofs of half a million I/Os: where nobody asks for all, five million are predicted, and each kind of round has its part.
/// What is passed by is looked at all the same, so that the round ends.
#[test]
fn proofs_that_nobody_asks_for_end_with_their_operations() {
    let long = failing(2400, "99.9%");
    let all = long.2.1.len() as u64;
    // 500,000 I/Os are 208 s of 2,400; and one of warm-up.
    let of_each = 209 * 2400;
    let most = Budget::ALL / of_each;
    let found = round(&long, Prove::Soon, Most::WITHOUT);
    assert_eq!(found, [most, all, most * of_each]);
    assert_eq!(round(&long, Prove::Soon, Most::SOON), [2, 2, 2 * of_each]);
    let last = round(&long, Prove::Soon, Most::LAST_SOON);
    assert_eq!(last, [2, 2, 2 * of_each]);
}
