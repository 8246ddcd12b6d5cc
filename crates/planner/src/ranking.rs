//! In which order designs are offered.
//!
//! What is proven stands first, for the first offer is the one that is built; then what nothing makes doubtful; then what costs
//! less. A design whose I/Os wait for each other, or whose machine nobody vouches for, is cheaper for a reason: it stands behind
//! what is not doubtful, and the plan says so. Where all is doubtful, it is offered all the same.

use crate::offer::Offer;
use crate::{Cost, Prove};

/// A design that costs less than the first offer, and is doubtful.
#[derive(Debug, Clone, PartialEq)]
pub struct Cheaper {
    /// What it is, in one line.
    pub title: String,
    /// What it costs.
    pub cost: Cost,
    /// Which of the offers it is, from 1 on; `None`: it is not among as many as were asked for.
    pub offer: Option<usize>,
    /// What makes it doubtful: a sentence.
    pub why: String,
}

/// The offers of a plan in their order, no more than `most`, and the cheapest design that is cheaper than the first of them
/// because it is doubtful. That one is among the offers where there is room for two.
pub(crate) fn ranked(
    mut found: Vec<Offer>,
    most: usize,
    prove: Prove,
) -> (Vec<Offer>, Option<Cheaper>) {
    found.sort_by_key(|offer| rank(offer, prove));
    let mut doubtful = Vec::new();
    found.retain(|offer| {
        // Of a machine size with several headrooms the cheapest that is doubtful, once.
        let is_new = !doubtful.contains(&offer.candidate.vm);
        let is_doubtful = offer.doubt(prove).is_some();
        if is_doubtful && is_new {
            doubtful.push(offer.candidate.vm);
        }
        is_new || !is_doubtful
    });
    let Some(first) = found.first().filter(|offer| offer.doubt(prove).is_none()) else {
        found.truncate(most);
        return (found, None);
    };
    let costs_less = |offer: &&Offer| offer.doubt(prove).is_some() && offer.cost < first.cost;
    let cheaper = found.iter().filter(costs_less);
    let Some(cheaper) = cheaper.min_by_key(|offer| offer.cost).cloned() else {
        found.truncate(most);
        return (found, None);
    };
    let place = found.iter().position(|offer| *offer == cheaper);
    let why = cheaper.doubt(prove).unwrap_or_default();
    let mut told = Cheaper {
        title: cheaper.title(),
        cost: cheaper.cost,
        offer: place.map(|place| place + 1),
        why,
    };
    if place.is_some_and(|place| place >= most) {
        found.truncate(most);
        told.offer = (most > 1).then_some(most);
        if most > 1 {
            found.truncate(most - 1);
            found.push(cheaper);
        }
    }
    (found, Some(told))
}

/// What is offered first: proven, not doubtful, cheap.
fn rank(offer: &Offer, prove: Prove) -> (bool, bool, Cost) {
    let is_doubtful = offer.doubt(prove).is_some();
    (offer.proof.proof().is_none(), is_doubtful, offer.cost)
}
