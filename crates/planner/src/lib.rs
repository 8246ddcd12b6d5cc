//! From what an application needs to the storage to buy.
//!
//! A profile's figures at one percentile, after growth ([`Need`]), are laid on every machine size and disk of the
//! catalogue; the cheapest design of each machine that carries them is ranked, explained limit by limit, and proven by
//! predicting the profile's own workload on it. A design that fails its proof is not offered.

mod candidate;
mod choices;
mod design;
mod limits;
mod need;
mod offer;
mod prices;
mod proof;
mod ruled_out;
mod search;
mod text;
mod workload;

use fathom_catalog::{Catalog, DiskKind, Era, VmSize};
use fathom_profile::{Level, Profile};

pub use candidate::{Candidate, Choice, Cost, Disks};
pub use choices::{recommended_caching, stripe_unit};
pub use limits::{Line, Unit, lines};
pub use need::{Load, Need, VolumeNeed};
pub use offer::Offer;
pub use prices::Prices;
pub use proof::{Proof, ProvenVolume};
pub use ruled_out::{Rule, RuledOut};
pub use search::{Found, search};

/// Products that are searched together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Premium SSD.
    Premium,
    /// Standard SSD and HDD.
    Standard,
    /// Premium SSD v2.
    V2,
    /// Ultra disks.
    Ultra,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 4] = [Self::Premium, Self::Standard, Self::V2, Self::Ultra];

    /// Its word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Premium => "premium",
            Self::Standard => "standard",
            Self::V2 => "v2",
            Self::Ultra => "ultra",
        }
    }

    /// The family of a product.
    pub const fn of(kind: DiskKind) -> Option<Self> {
        match kind {
            DiskKind::PremiumSsd => Some(Self::Premium),
            DiskKind::StandardSsd | DiskKind::StandardHdd => Some(Self::Standard),
            DiskKind::PremiumSsdV2 => Some(Self::V2),
            DiskKind::Ultra => Some(Self::Ultra),
            DiskKind::Temporary => None,
        }
    }
}

/// What is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Pages that machine sizes are taken from.
    pub era: Era,
    /// Series that machine sizes are taken from, without regard to case (`DS`, `DS-series`); none: all.
    pub series: Vec<String>,
    /// Products.
    pub families: Vec<Family>,
    /// The most a design may cost a month, in hundredths.
    pub max_price: Option<u64>,
    /// The percentile that is carried.
    pub level: Level,
    /// The most designs offered.
    pub offers: usize,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            era: Era::CURRENT,
            series: Vec::new(),
            families: Family::ALL.to_vec(),
            max_price: None,
            level: Level::P99,
            offers: 3,
        }
    }
}

impl Request {
    /// Whether a machine size is among those to search.
    pub fn admits(&self, vm: &VmSize) -> bool {
        let plain = |series: &str| {
            let lower = series.to_ascii_lowercase();
            lower.trim_end_matches("-series").to_owned()
        };
        let wanted = |series: &String| plain(series) == plain(vm.series);
        vm.era == self.era && (self.series.is_empty() || self.series.iter().any(wanted))
    }
}

/// What a profile can be carried by.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What was asked for.
    pub need: Need,
    /// Designs that carry it, cheapest first.
    pub offers: Vec<Offer>,
    /// Designs that carry it by their limits and fail their proof: what they are, and how they fail.
    pub unproven: Vec<String>,
    /// Machine sizes considered.
    pub machines: usize,
    /// Machine sizes that carry nothing, by rule.
    pub ruled_out: RuledOut,
    /// The price list, if there was one.
    pub prices: Option<Prices>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// More volumes than are searched together.
    #[error("the profile has {volumes} volumes; {most} at most are planned together")]
    TooManyVolumes {
        /// Volumes of the profile.
        volumes: usize,
        /// The most.
        most: usize,
    },
    /// Nothing says how much I/O there is.
    #[error(
        "`{volume}`, {period}: neither I/Os nor bytes a second are known at {level}, and nothing could be planned from the rest"
    )]
    Unknown {
        /// Name of the volume.
        volume: String,
        /// Name of the period.
        period: &'static str,
        /// The percentile.
        level: Level,
    },
    /// A design that was offered cannot be read or run: a fault of the planner.
    #[error("a planned design does not hold: {0}")]
    Broken(String),
}

/// Plans for `profile`.
///
/// # Errors
/// [`PlanError`]; that nothing carries the profile is no error but a plan without offers.
pub fn plan(
    profile: &Profile,
    request: &Request,
    prices: Option<Prices>,
    catalog: &'static Catalog,
) -> Result<Plan, PlanError> {
    let need = Need::of(profile, request.level)?;
    let found = search(&need, request, prices.as_ref(), catalog);
    let mut offers = Vec::new();
    let mut unproven = Vec::new();
    for (candidate, cost) in found.candidates {
        if offers.len() == request.offers {
            break;
        }
        let offer = Offer::new(&need, candidate, cost, catalog)?;
        match offer.proof.failure() {
            None => offers.push(offer),
            Some(failure) => unproven.push(format!("{}: {failure}", offer.title())),
        }
    }
    Ok(Plan {
        need,
        offers,
        unproven,
        machines: found.machines,
        ruled_out: found.ruled_out,
        prices,
    })
}
