//! From what an application needs to the storage to buy.
//!
//! A profile's figures at one percentile, after growth ([`Need`]), are laid on every machine size and disk of the
//! catalogue; the cheapest design of each machine that carries them is ranked, explained limit by limit, and proven by
//! predicting the profile's own workload on it. A design that fails its proof is not offered.

mod advice;
mod bought;
mod burst;
mod candidate;
mod choices;
mod combine;
mod cost;
mod design;
mod drive;
mod goal;
mod grow;
mod json;
mod limits;
mod line;
mod machine;
mod need;
mod network;
mod nothing;
mod offer;
mod prices;
mod proof;
mod ranking;
mod rounds;
mod ruled_out;
mod search;
mod split;
mod text;
mod unloaded;
mod workload;

use fathom_catalog::{Catalog, DiskKind, Era, VmSize};
use fathom_profile::{Level, Profile};
use fathom_units::Nanos;

pub use bought::{Bought, Provisioned};
pub use burst::Credits;
pub use candidate::{Candidate, Choice, Disks, Storage};
pub use choices::{recommended_caching, stripe_unit};
pub use cost::Cost;
pub use design::mounts;
pub use goal::Slow;
pub use limits::{Terms, carries, depth_for, lines};
pub use line::{Line, Unit};
pub use machine::MachineNeed;
pub use need::{Load, Need, VolumeNeed};
pub use network::{NfsVolumes, SmbShares};
pub use offer::{Offer, OnCredits, Proven};
pub use prices::{Per, Prices};
pub use proof::{Failure, Misses, Proof, ProvenVolume, Response};
pub use ranking::Cheaper;
pub use rounds::{Basis, Headroom, Unproven};
pub use ruled_out::{Rule, RuledOut};
pub use search::{Found, MOST_MACHINES, search};
pub use split::ByGoals;

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
    /// Whether disks may burst on demand, which is paid for.
    pub on_demand: bool,
    /// Whether disks may have the option "performance plus".
    pub performance_plus: bool,
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
            on_demand: false,
            performance_plus: false,
            prove: Prove::Soon,
            level: Level::P99,
            offers: 3,
        }
    }
}

/// Items of a price list that the catalogue does not have.
pub fn unknown_items(prices: &Prices, catalog: &Catalog) -> Vec<String> {
    let request = |item: &str| Request {
        only: vec![item.to_owned()],
        ..Request::default()
    };
    let is_known = |item: &str| {
        let is_machine = catalog.vms().iter().any(|vm| vm.name == item);
        is_machine || request(item).unknown_product(catalog).is_none()
    };
    let unknown = prices.items().filter(|item| !is_known(item));
    unknown.map(str::to_owned).collect()
}

/// The product whose name is nearest to `name`, where one is near.
pub fn nearest_product(name: &str, catalog: &Catalog) -> Option<String> {
    let products = products(catalog);
    let near = fathom_diagnostics::nearest(name, products.iter().map(String::as_str));
    near.map(str::to_owned)
}

/// Names of all products, as on price lists.
fn products(catalog: &Catalog) -> Vec<String> {
    let disks = catalog.disks().iter().map(|disk| disk.name);
    let named = disks.chain(choices::set_names()).map(str::to_owned);
    named.chain(network::items(catalog)).collect()
}

/// The family of a product by its name on price lists.
fn family_of(name: &str, catalog: &Catalog) -> Option<Family> {
    let mut disks = catalog.disks().iter();
    let kind = disks.find(|disk| disk.name == name).map(|disk| disk.kind);
    let set = choices::set_names()
        .into_iter()
        .zip([Family::V2, Family::Ultra]);
    let mut set = set.filter(|(own, _)| *own == name);
    let mut models = catalog.share_models().iter();
    let over_network = || {
        let is_share = models.any(|model| model.name == name);
        let item = network::items(catalog)
            .into_iter()
            .find(|item| item == name);
        item.map(|_| if is_share { Family::Smb } else { Family::Nfs })
    };
    let of_disks = kind.and_then(Family::of);
    of_disks
        .or_else(|| Some(set.next()?.1))
        .or_else(over_network)
}

/// Longest round trip, as of designs.
const LONGEST_ROUND_TRIP: Nanos = Nanos::from_secs(10);

impl Request {
    /// Whether a product is among those to search.
    pub fn takes(&self, item: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == item)
    }

    /// Families that are not among those to search.
    fn unsearched(&self) -> Vec<Family> {
        let all = Family::ALL.into_iter();
        all.filter(|family| !self.families.contains(family))
            .collect()
    }

    /// The first of `only` that the catalogue does not have.
    pub fn unknown_product(&self, catalog: &Catalog) -> Option<&str> {
        let products = products(catalog);
        let mut only = self.only.iter().map(String::as_str);
        only.find(|name| !products.iter().any(|product| product == name))
    }

    /// The first of `only` whose family is not searched, so that nothing of it can be offered.
    pub fn left_out_product(&self, catalog: &Catalog) -> Option<(&str, Family)> {
        let named = self.only.iter().filter_map(|name| {
            let family = family_of(name, catalog)?;
            Some((name.as_str(), family))
        });
        let mut left_out = named.filter(|(_, family)| !self.families.contains(family));
        left_out.next()
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
    /// Designs that carry it: those that are proven, then those that are not; of each those that nothing makes doubtful, then
    /// those that are; and of these the cheapest first.
    pub offers: Vec<Offer>,
    /// What is cheaper than the first offer, and doubtful.
    pub cheaper: Option<Cheaper>,
    /// Designs that carry it by their limits and fail their proof.
    pub unproven: Vec<Unproven>,
    /// How many that were not proven are not offered, because others with as much headroom fail.
    pub untried: usize,
    /// Headroom in percent that some offer was planned with, because designs with less fail their proof; 0 otherwise.
    pub headroom: u64,
    /// Which designs were to be proven.
    pub prove: Prove,
    /// Machine sizes considered.
    pub sizes: usize,
    /// Combinations of kinds of storage that were judged against their limits.
    pub combinations: u64,
    /// How many machines each design has.
    pub machines: u32,
    /// Where there are several because one is not enough: the limit of one that misses least.
    pub single: Option<Line>,
    /// Machine sizes that carry nothing, by rule.
    pub ruled_out: RuledOut,
    /// Families of products that were not searched.
    pub unsearched: Vec<Family>,
    /// How long credits carry the peak, where they were asked for.
    pub burst: Option<Nanos>,
    /// Whether bursting on demand was considered.
    pub on_demand: bool,
    /// Whether the option "performance plus" was considered.
    pub performance_plus: bool,
    /// Round trip to volumes and shares over the network.
    pub round_trip: Nanos,
    /// The price list, if there was one.
    pub prices: Option<Prices>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// More volumes than are searched together.
    #[error(
        "the profile has {volumes} volumes; {most} at most are planned together\n  hint: join volumes whose data may lie together (their I/Os a second, \
         bytes a second and capacities add up), or plan parts of the profile apart, each on machines of its own"
    )]
    TooManyVolumes {
        /// Volumes of the profile.
        volumes: usize,
        /// The most.
        most: usize,
    },
    /// Nothing says how much I/O there is.
    #[error(
        "`{volume}`, {period}: neither I/Os nor bytes a second are known at {level}, and nothing could be planned from the rest{}",
        known_at(known)
    )]
    Unknown {
        /// Name of the volume.
        volume: String,
        /// Name of the period.
        period: &'static str,
        /// The percentile.
        level: Level,
        /// Percentiles at which they are known.
        known: Vec<Level>,
    },
    /// A period without I/O.
    #[error(
        "`{volume}`, {period}: 0 I/Os or bytes a second at {level} ask for nothing\n  hint: leave out a period without I/O, or figures that nobody knows"
    )]
    Nothing {
        /// Name of the volume.
        volume: String,
        /// Name of the period.
        period: &'static str,
        /// The percentile.
        level: Level,
    },
    /// No round trip.
    #[error(
        "`{0}` is no distance\n  hint: say `near`, `far`, or a round trip such as `0.5ms`, of at most 10 s"
    )]
    Distance(String),
    /// Whoever asked for it has stopped it.
    #[error("stopped before the plan was complete: nothing is offered, and no file is written")]
    Stopped,
    /// A design that was offered cannot be read or run: a fault of the planner.
    #[error("a planned design does not hold: {0}")]
    Broken(String),
}

/// Where figures are known that were not found.
fn known_at(levels: &[Level]) -> String {
    let words: Vec<_> = levels.iter().map(Level::to_string).collect();
    if words.is_empty() {
        "\n  hint: add one of them, or observe the application".to_owned()
    } else {
        format!(
            "\n  hint: they are known at {}: choose it with --percentile, or add the figures",
            words.join(" and ")
        )
    }
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
    plan_until(profile, request, prices, (catalog, &|| false))
}

/// Plans for `profile` unless `stop`, which is asked now and then, says that the plan is not wanted any more.
///
/// # Errors
/// Those of [`plan`], and [`PlanError::Stopped`].
pub fn plan_until(
    profile: &Profile,
    request: &Request,
    prices: Option<Prices>,
    (catalog, stop): (&'static Catalog, &dyn Fn() -> bool),
) -> Result<Plan, PlanError> {
    let need = Need::of(profile, request.level)?;
    let terms = Terms::of(request, catalog)?;
    let judged = rounds::all(&rounds::Asked {
        need: &need,
        request,
        terms: &terms,
        prices: prices.as_ref(),
        catalog,
        stop,
    })?;
    let found = judged.first;
    let headrooms = judged.offers.iter().map(|it| it.headroom.percent);
    Ok(Plan {
        headroom: headrooms.max().unwrap_or(0),
        machines: if judged.offers.is_empty() {
            judged.machines.max(found.machines)
        } else {
            found.machines
        },
        need,
        offers: judged.offers,
        cheaper: judged.cheaper,
        unproven: judged.failed,
        untried: judged.untried,
        prove: request.prove,
        sizes: found.sizes,
        combinations: judged.combinations,
        single: found.single,
        ruled_out: found.ruled_out,
        unsearched: request.unsearched(),
        burst: request.burst,
        on_demand: request.on_demand,
        performance_plus: request.performance_plus,
        round_trip: terms.round_trip,
        prices,
    })
}
