//! From what an application needs to the storage to buy.
//!
//! A profile's figures at one percentile, after growth ([`Need`]), are laid on every machine size and disk of the
//! catalogue; the cheapest design of each machine that carries them is ranked, explained limit by limit, and proven by
//! predicting the profile's own workload on it. A design that fails its proof is not offered.

mod advice;
mod burst;
mod candidate;
mod choices;
mod cost;
mod design;
mod grow;
mod limits;
mod line;
mod need;
mod network;
mod offer;
mod prices;
mod proof;
mod ruled_out;
mod search;
mod text;
mod workload;

use fathom_catalog::{Catalog, DiskKind, Era, VmSize};
use fathom_profile::{Level, Profile};
use fathom_units::Nanos;

pub use candidate::{Candidate, Choice, Disks, Storage};
pub use choices::{recommended_caching, stripe_unit};
pub use cost::Cost;
pub use design::mounts;
pub use limits::{Terms, depth_for, lines};
pub use line::{Line, Unit};
pub use need::{Load, Need, VolumeNeed};
pub use network::{NfsVolumes, SmbShares};
pub use offer::{Offer, Proven};
pub use prices::{Per, Prices};
pub use proof::{Proof, ProvenVolume, Response};
pub use ruled_out::{Rule, RuledOut};
pub use search::{Found, MOST_MACHINES, search};

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
    /// Volumes of NetApp Files over NFS.
    Nfs,
    /// Shares of Azure Files over SMB.
    Smb,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 6] = [
        Self::Premium,
        Self::Standard,
        Self::V2,
        Self::Ultra,
        Self::Nfs,
        Self::Smb,
    ];

    /// Its word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Premium => "premium",
            Self::Standard => "standard",
            Self::V2 => "v2",
            Self::Ultra => "ultra",
            Self::Nfs => "nfs",
            Self::Smb => "smb",
        }
    }

    /// Whether machines reach it over the network.
    pub const fn is_network(self) -> bool {
        matches!(self, Self::Nfs | Self::Smb)
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

/// Which designs are predicted before they are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prove {
    /// Those whose predictions take a few seconds together.
    #[default]
    Soon,
    /// All.
    Always,
    /// None.
    Never,
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
    /// The most a design may cost a month, in millionths.
    pub max_price: Option<u64>,
    /// Products by their names on price lists (`P30`, `nfs-premium`); none: all of the families.
    pub only: Vec<String>,
    /// How many machines; `None`: the fewest that carry the need.
    pub machines: Option<u32>,
    /// Round trip to volumes and shares over the network: `near`, `far`, or a time.
    pub distance: String,
    /// How long credits are to carry the peak; `None`: credits are left out.
    pub burst: Option<Nanos>,
    /// Which designs are proven.
    pub prove: Prove,
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
            only: Vec::new(),
            machines: None,
            distance: "near".to_owned(),
            burst: None,
            prove: Prove::Soon,
            level: Level::P99,
            offers: 3,
        }
    }
}

/// Longest round trip, as of designs.
const LONGEST_ROUND_TRIP: Nanos = Nanos::from_secs(10);

impl Request {
    /// Whether a product is among those to search.
    pub fn takes(&self, item: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == item)
    }

    /// The first of `only` that the catalogue does not have.
    pub fn unknown_product(&self, catalog: &Catalog) -> Option<&str> {
        let items = network::items(catalog);
        let is_known = |name: &str| {
            catalog.disks().iter().any(|disk| disk.name == name)
                || choices::set_names().contains(&name)
                || items.iter().any(|item| item == name)
        };
        let mut only = self.only.iter().map(String::as_str);
        only.find(|name| !is_known(name))
    }

    /// The round trip to volumes and shares over the network.
    ///
    /// # Errors
    /// [`PlanError::Distance`] where it is neither a distance of the catalogue nor a time.
    pub fn round_trip(&self, catalog: &Catalog) -> Result<Nanos, PlanError> {
        if let Ok(row) = catalog.round_trip(&self.distance) {
            return Ok(row.rtt);
        }
        let parsed = self.distance.parse::<Nanos>().ok();
        let parsed = parsed.filter(|rtt| *rtt <= LONGEST_ROUND_TRIP);
        parsed.ok_or_else(|| PlanError::Distance(self.distance.clone()))
    }

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
    /// Headroom in percent that was planned with, because designs without any fail their proof; 0 otherwise.
    pub headroom: u64,
    /// Machine sizes considered.
    pub sizes: usize,
    /// How many machines each design has.
    pub machines: u32,
    /// Where there are several because one is not enough: the limit of one that misses least.
    pub single: Option<Line>,
    /// Machine sizes that carry nothing, by rule.
    pub ruled_out: RuledOut,
    /// How long credits carry the peak, where they were asked for.
    pub burst: Option<Nanos>,
    /// Round trip to volumes and shares over the network.
    pub round_trip: Nanos,
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
    /// No round trip.
    #[error(
        "`{0}` is no distance: `near`, `far`, or a round trip such as `0.5ms`, of at most 10 s"
    )]
    Distance(String),
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
    let terms = Terms::of(request, catalog)?;
    let mut budget = offer::Budget::new(request.prove);
    let mut found = search(&need, request, prices.as_ref(), catalog)?;
    let candidates = std::mem::take(&mut found.candidates);
    let context = (request, &terms);
    let mut proven = offers(&need, candidates, context, (&mut budget, catalog))?;
    let mut headroom = 0;
    if proven.offers.is_empty() && proven.falls_short {
        // Stripes whose disks are wholly used fall short of their sum by a little.
        headroom = HEADROOM_PERCENT;
        let raised = need.raised(headroom);
        found = search(&raised, request, prices.as_ref(), catalog)?;
        let candidates = std::mem::take(&mut found.candidates);
        let failed = std::mem::take(&mut proven.failed);
        proven = offers(&need, candidates, context, (&mut budget, catalog))?;
        proven.failed.splice(0..0, failed);
    }
    Ok(Plan {
        need,
        offers: proven.offers,
        unproven: proven.failed,
        headroom,
        sizes: found.sizes,
        machines: found.machines,
        single: found.single,
        ruled_out: found.ruled_out,
        burst: request.burst,
        round_trip: terms.round_trip,
        prices,
    })
}

/// Headroom that is planned with where designs without any fail their proof.
const HEADROOM_PERCENT: u64 = 5;

/// Candidates that were looked at.
struct Judged {
    offers: Vec<Offer>,
    failed: Vec<String>,
    /// Whether one failed for too few I/Os a second.
    falls_short: bool,
}

/// Explains and proves candidates until there are enough offers.
fn offers(
    need: &Need,
    candidates: Vec<(Candidate, Cost)>,
    context: (&Request, &Terms<'_>),
    (budget, catalog): (&mut offer::Budget, &'static Catalog),
) -> Result<Judged, PlanError> {
    let mut judged = Judged {
        offers: Vec::new(),
        failed: Vec::new(),
        falls_short: false,
    };
    for priced in candidates {
        if judged.offers.len() == context.0.offers {
            break;
        }
        let offer = Offer::new(need, priced, context, (&mut *budget, catalog))?;
        match offer.proof.proof().and_then(Proof::failure) {
            None => judged.offers.push(offer),
            Some(failure) => {
                let keeps_up = offer.proof.proof().is_some_and(Proof::keeps_up);
                judged.falls_short |= !keeps_up;
                judged.failed.push(format!("{}: {failure}", offer.title()));
            }
        }
    }
    Ok(judged)
}
