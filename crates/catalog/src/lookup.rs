//! The catalogue and how rows are found in it.

use fathom_diagnostics::nearest;
use fathom_units::Bytes;

use crate::lookup_network::{SERVICES, Services};
use crate::tables::{
    ACCOUNTING, ADJUSTABLE, DISKS, HOST_CACHE, IO_UNITS, LATENCY_TARGETS, MEDIA_LATENCIES, PRICES,
    VM_SIZES,
};
use crate::{
    Accounting, AccountingMode, AdjustableDisk, Budget, CacheAccess, Disk, DiskKind, Era,
    HostCacheRules, IoUnit, LatencyTarget, MediaLatency, Price, VmSize,
};

/// Why a row is not in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// No era has a row of this name.
    #[error("the catalogue has no {what} `{name}`")]
    UnknownName {
        /// `machine size`, `disk` or `row`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The nearest name, where one is near enough to be meant.
        nearest: Option<&'static str>,
    },
    /// The name exists, but not in this era (for disks: not so early).
    #[error("the catalogue has no {what} `{name}` of era `{era}`; it has it of {}", quoted(.known))]
    UnknownEra {
        /// `machine size` or `disk`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The era as given.
        era: String,
        /// Eras that have the name.
        known: Vec<&'static str>,
    },
}

impl CatalogError {
    /// What to do about it, in one sentence, where something helps.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownName { nearest, .. } => {
                nearest.map(|nearest| format!("did you mean `{nearest}`?"))
            }
            Self::UnknownEra { known, .. } => known
                .first()
                .map(|era| format!("write `era = \"{era}\"` in the machine")),
        }
    }
}

fn quoted(eras: &[&str]) -> String {
    let names: Vec<_> = eras.iter().map(|era| format!("`{era}`")).collect();
    names.join(", ")
}

/// All facts. Holds references to constants alone.
#[derive(Debug)]
pub struct Catalog {
    vms: &'static [VmSize],
    disks: &'static [Disk],
    adjustable: &'static [AdjustableDisk],
    accounting: &'static [Accounting],
    host_cache: &'static HostCacheRules,
    io_units: &'static [IoUnit],
    latency_targets: &'static [LatencyTarget],
    media_latencies: &'static [MediaLatency],
    prices: &'static [Price],
    pub(crate) services: &'static Services,
}

static BUILTIN: Catalog = Catalog {
    vms: VM_SIZES,
    disks: DISKS,
    adjustable: ADJUSTABLE,
    accounting: ACCOUNTING,
    host_cache: &HOST_CACHE,
    io_units: IO_UNITS,
    latency_targets: LATENCY_TARGETS,
    media_latencies: MEDIA_LATENCIES,
    prices: PRICES,
    services: &SERVICES,
};

impl Catalog {
    /// The facts that the program was built with.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// Every machine size of every era.
    pub fn vms(&self) -> &'static [VmSize] {
        self.vms
    }

    /// Every disk of every era.
    pub fn disks(&self) -> &'static [Disk] {
        self.disks
    }

    /// Disks whose limits the buyer sets.
    pub fn adjustable_disks(&self) -> &'static [AdjustableDisk] {
        self.adjustable
    }

    /// Media latency of every tier.
    pub fn media_latencies(&self) -> &'static [MediaLatency] {
        self.media_latencies
    }

    /// Printed latency targets.
    pub fn latency_targets(&self) -> &'static [LatencyTarget] {
        self.latency_targets
    }

    /// Printed prices.
    pub fn prices(&self) -> &'static [Price] {
        self.prices
    }

    /// Which disks the host cache takes.
    pub fn host_cache(&self) -> &'static HostCacheRules {
        self.host_cache
    }

    /// The era of this name, if any row has it.
    pub fn era(&self, name: &str) -> Option<Era> {
        self.eras().find(|era| era.name() == name)
    }

    /// What to write where an era is unknown: all that there are, the latest first.
    pub fn era_hint(&self) -> String {
        let mut eras: Vec<_> = self.eras().collect();
        eras.sort_by_key(|era| (std::cmp::Reverse(era.year()), era.name()));
        eras.dedup();
        let names: Vec<_> = eras.iter().map(|era| format!("`{era}`")).collect();
        format!("eras are {}", names.join(", "))
    }

    /// The eras of all rows, with repetitions.
    fn eras(&self) -> impl Iterator<Item = Era> {
        let vms = self.vms.iter().map(|row| row.era);
        vms.chain(self.disks.iter().map(|row| row.era))
    }

    /// The machine size `name` of exactly this era.
    pub fn vm(&self, era: Era, name: &str) -> Result<&'static VmSize, CatalogError> {
        let named = || self.vms.iter().filter(|row| row.name == name);
        if let Some(row) = named().find(|row| row.era == era) {
            return Ok(row);
        }
        let known: Vec<_> = named().map(|row| row.era.name()).collect();
        let nearest = || meant(name, self.vms.iter().map(|row| row.name));
        Err(missing("machine size", name, era, known, nearest))
    }

    /// The disk `name` as a machine of `era` finds it: the newest row that is not later than the machine.
    pub fn disk(&self, era: Era, name: &str) -> Result<&'static Disk, CatalogError> {
        let named = || self.disks.iter().filter(|row| row.name == name);
        let fitting = named().filter(|row| row.era.year() <= era.year());
        if let Some(row) = fitting.max_by_key(|row| row.era.year()) {
            return Ok(row);
        }
        let known: Vec<_> = named().map(|row| row.era.name()).collect();
        let nearest = || nearest(name, self.disks.iter().map(|row| row.name));
        Err(missing("disk", name, era, known, nearest))
    }

    /// The budgets that an I/O counts against before it completes, in order; empty where the table has no such row.
    pub fn budgets(&self, mode: AccountingMode, access: CacheAccess) -> &'static [Budget] {
        let row = self
            .accounting
            .iter()
            .find(|row| row.mode == mode && row.access == access);
        row.map_or(&[], |row| row.counts)
    }

    /// Size above which an I/O counts as several at disks of this kind; `None`: every I/O counts once.
    pub fn io_unit(&self, kind: DiskKind) -> Option<Bytes> {
        self.io_units
            .iter()
            .find(|row| row.kind == kind)
            .map(|row| row.unit)
    }

    /// Media latency of a tier: a disk kind's name, or `host_cache`.
    pub fn media_latency(&self, tier: &str) -> Option<&'static MediaLatency> {
        self.media_latencies.iter().find(|row| row.tier == tier)
    }
}

/// The name that is meant by a misspelt one: also a machine size without the `Standard_` that the guides leave out.
pub(crate) fn meant(
    name: &str,
    names: impl IntoIterator<Item = &'static str, IntoIter: Clone>,
) -> Option<&'static str> {
    let mut names = names.into_iter();
    let is_short = |full: &&str| {
        let short = full.strip_prefix("Standard_");
        short.is_some_and(|short| short.eq_ignore_ascii_case(name))
    };
    names
        .clone()
        .find(is_short)
        .or_else(|| nearest(name, names.by_ref()))
}

fn missing(
    what: &'static str,
    name: &str,
    era: Era,
    known: Vec<&'static str>,
    nearest: impl FnOnce() -> Option<&'static str>,
) -> CatalogError {
    let name = name.to_owned();
    if known.is_empty() {
        let nearest = nearest();
        CatalogError::UnknownName {
            what,
            name,
            nearest,
        }
    } else {
        let era = era.name().to_owned();
        CatalogError::UnknownEra {
            what,
            name,
            era,
            known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::complaints;
    use fathom_units::{BytesPerSec, Iops};

    #[test]
    fn the_hint_for_an_unknown_era_names_every_one() {
        let hint = Catalog::builtin().era_hint();
        assert_eq!(
            hint,
            "eras are `current`, `2020`, `2019`, `2016`, `2016-article`"
        );
    }

    #[test]
    fn a_disk_takes_the_newest_row_that_is_not_later_than_its_machine() {
        #[track_caller]
        fn check(era: &'static str, disk: &str, found: Result<&str, &str>) {
            let row = Catalog::builtin().disk(Era::new(era), disk);
            let row = row
                .map(|row| row.era.name())
                .map_err(|error| error.to_string());
            assert_eq!(row, found.map_err(str::to_owned), "{era} {disk}");
        }
        check("2016", "P30", Ok("2016"));
        check("2020", "P30", Ok("2016"));
        check("current", "P30", Ok("current"));
        check("2020", "E30", Ok("2019"));
        check(
            "2016",
            "P4",
            Err("the catalogue has no disk `P4` of era `2016`; it has it of `current`"),
        );
        check("2016", "Q4", Err("the catalogue has no disk `Q4`"));
    }

    #[test]
    fn machines_are_found_by_era() {
        let catalog = Catalog::builtin();
        let vm = catalog.vm(Era::new("2020"), "Standard_D8ds_v4").unwrap();
        assert_eq!(vm.cached.iops, Some(Iops::new(77_000)));
        assert_eq!(vm.uncached.bandwidth, Some(BytesPerSec::mb(192)));
        assert_eq!(vm.cache, Some(Bytes::gib(200)));
        let later = catalog.vm(Era::CURRENT, "Standard_D8ds_v4").unwrap();
        assert!(later.cached.is_empty());
        let error = catalog.vm(Era::CURRENT, "ds14").unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `Standard_DS14`?");
        let error = catalog.vm(Era::CURRENT, "Standard_D8dsv4").unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `Standard_D8ds_v4`?");
        let error = catalog
            .vm(Era::new("2016"), "Standard_D8ds_v4")
            .unwrap_err();
        assert!(error.to_string().contains("`current`, `2020`"), "{error}");
    }

    #[test]
    fn the_accounting_table_gives_paths() {
        let catalog = Catalog::builtin();
        let budgets = |mode, access| catalog.budgets(mode, access);
        assert_eq!(
            budgets(AccountingMode::None, CacheAccess::Write),
            [Budget::Disk, Budget::VmUncached]
        );
        assert_eq!(
            budgets(AccountingMode::ReadOnly, CacheAccess::ReadHit),
            [Budget::VmCached]
        );
        assert_eq!(
            budgets(AccountingMode::ReadOnly, CacheAccess::Write),
            [Budget::VmCached, Budget::Disk, Budget::VmUncached]
        );
    }

    #[test]
    fn every_disk_kind_has_a_latency_and_cacheable_disks_obey_the_rule() {
        let catalog = Catalog::builtin();
        for disk in catalog.disks() {
            assert!(
                catalog.media_latency(disk.kind.name()).is_some(),
                "{}",
                disk.name
            );
            let rules = catalog.host_cache();
            let by_rule = rules.kinds.contains(&disk.kind) && disk.size <= rules.max_disk;
            assert_eq!(disk.host_cacheable, by_rule, "{}", disk.name);
        }
        assert!(catalog.media_latency("host_cache").is_some());
    }

    #[test]
    fn no_row_is_lost() {
        let catalog = Catalog::builtin();
        let vms = |era: &str| {
            catalog
                .vms()
                .iter()
                .filter(|row| row.era.name() == era)
                .count()
        };
        let eras = ["current", "2020", "2016", "2016-article"].map(vms);
        assert_eq!(
            (eras.iter().sum::<usize>(), catalog.vms().len()),
            (287, 287)
        );
        assert_eq!(eras, [230, 15, 40, 2]);
        let disks = |era: &str| {
            catalog
                .disks()
                .iter()
                .filter(|row| row.era.name() == era)
                .count()
        };
        assert_eq!(["current", "2019", "2016"].map(disks), [39, 14, 4]);
    }

    #[test]
    fn wrong_facts_are_named() {
        #[track_caller]
        fn check(facts: &str, complaint: &str) {
            let found = complaints(&facts.parse().unwrap());
            assert!(found.iter().any(|one| one == complaint), "{found:#?}");
        }
        let sources = "[sources]\ns = { page = 'p', date = '2020', revision = '' }\n";
        let unit = |text: &str| format!("[[io_unit]]\n{text}\n{sources}");
        check(
            &unit("kind = 'ultra'\nunit_kib = 0\nsource = 's'"),
            "io_unit `ultra`: `unit_kib` is not positive or empty",
        );
        check(
            &unit("kind = 'ultra'\nsource = 's'"),
            "io_unit `ultra`: `unit_kib` is missing",
        );
        check(
            &unit("kind = 'ultra'\nunit_kib = 1"),
            "io_unit `ultra`: `source` is missing",
        );
        check(
            &unit("kind = 'ultra'\nunit_kib = 1\nsource = 't'"),
            "io_unit `ultra`: the source `t` is not listed",
        );
        check(
            &unit("kind = 'u'\nunit = 1\nsource = 's'"),
            "io_unit `u`: unknown key `unit`",
        );
        let row = "[[io_unit]]\nkind = 'u'\nunit_kib = 1\nsource = 's'\n";
        check(&format!("{row}{row}{sources}"), "io_unit `u`: given twice");
        check("[[frob]]\nx = 1", "unknown table `frob`");
        check(
            &format!("[host_cache]\nkinds = ['ultra']\nsource = 's'\n{sources}"),
            "host_cache: `max_disk_gib` is missing",
        );
        check(
            "[sources]\ns = { page = 'p', revision = '' }",
            "source `s`: no date (`2020-06-01`, `2020` or `undated`)",
        );
    }
}
