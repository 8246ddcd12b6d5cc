//! What is to be carried: a profile's figures at one percentile, after growth, with every gap filled by a named rule.

use fathom_profile::{Growth, Level, Period, PeriodKind, Profile, Role, SECTOR, Volume};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};

use crate::PlanError;
use crate::line::Unit;
use crate::machine::{MachineNeed, Told};
use crate::split::ByGoals;

/// Most volumes of one plan: their combinations are searched in full.
const MOST_VOLUMES: usize = 4;
/// Size of an I/O that nobody knows: that of databases that process transactions (guide on premium storage, "nature of I/O
/// requests").
const ASSUMED_SIZE: Bytes = Bytes::kib(8);
/// The part of a rate by which what two figures give may differ from the third, for rounding.
const SAME: u64 = 100;

/// What a design has to carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Name of the application.
    pub name: String,
    /// The percentile it was read at.
    pub level: Level,
    /// What its figures were multiplied by.
    pub growth: Growth,
    /// Processors and memory.
    pub machine: MachineNeed,
    /// Volumes in the order of the profile.
    pub volumes: Vec<VolumeNeed>,
    /// What was filled in, one sentence each.
    pub assumed: Vec<String>,
    /// What the profile knows and no design is held to, one sentence each.
    pub notes: Vec<String>,
}

/// What one volume has to carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VolumeNeed {
    /// Its name.
    pub name: String,
    /// Its name in paths, designs and scripts: letters, digits, `-` and `_` alone, unique.
    pub slug: String,
    /// What lies on it.
    pub role: Role,
    /// Space; 0 where nobody knows.
    pub capacity: Bytes,
    /// Latency that I/Os must keep below, at the percentiles that have a goal.
    pub goal: Vec<(Level, Nanos)>,
    /// Its load in each period.
    pub loads: Vec<Load>,
    /// Where designs failed their proofs: what its goals ask of limits by themselves.
    pub by_goals: Option<ByGoals>,
    /// Kinds of storage that are left out because designs of them failed, by their names in the catalogue of latencies.
    pub left_out: Vec<&'static str>,
}

/// I/O of one volume in one period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// When.
    pub period: PeriodKind,
    /// I/Os a second.
    pub iops: Iops,
    /// Bytes a second.
    pub bandwidth: BytesPerSec,
    /// Size of an I/O.
    pub size: Bytes,
    /// Share of reads; `None` where nobody knows: then all count as writes, which no cache serves.
    pub reads: Option<Percent>,
    /// Share of random I/O.
    pub random: Percent,
}

impl VolumeNeed {
    /// The load of that period, if the volume has one.
    pub fn load(&self, period: PeriodKind) -> Option<&Load> {
        self.loads.iter().find(|load| load.period == period)
    }

    /// The words about it behind its name and a colon, of which a drive's name brings its own: `1 D:`.
    pub(crate) fn told(&self, words: &str) -> String {
        let name = self.name.strip_suffix(':').unwrap_or(&self.name);
        format!("{name}: {words}")
    }
}

impl Need {
    /// Reads the needs of `profile` at `level`.
    ///
    /// # Errors
    /// Too many volumes, or a volume of which neither I/Os nor bytes a second are known.
    pub fn of(profile: &Profile, level: Level) -> Result<Self, PlanError> {
        if profile.volumes.len() > MOST_VOLUMES {
            return Err(PlanError::TooManyVolumes {
                volumes: profile.volumes.len(),
                most: MOST_VOLUMES,
            });
        }
        let (mut assumed, mut notes) = (Vec::new(), Vec::new());
        let mut told = Told {
            assumed: &mut assumed,
            notes: &mut notes,
        };
        let machine = MachineNeed::of(profile, level, &mut told);
        let seen = profile.volumes.iter();
        notes.extend(seen.flat_map(|volume| no_goals(volume, level)));
        let volumes = profile.volumes.iter().map(|volume| {
            if volume.capacity.is_none() {
                assumed.push(format!(
                    "`{}`: no capacity is known, so none is asked for",
                    volume.name
                ));
            }
            let loads = volume.periods.iter();
            let loads = loads.map(|period| load(profile, volume, period, level, &mut assumed));
            let goal = Level::ALL.iter();
            let goal = goal.filter_map(|at| Some((*at, volume.latency_goal.at(*at)?)));
            Ok(VolumeNeed {
                name: volume.name.clone(),
                slug: String::new(),
                role: volume.role,
                capacity: Bytes::new(profile.growth.of(volume.capacity.unwrap_or_default().get())),
                goal: goal.collect(),
                loads: loads.collect::<Result<_, PlanError>>()?,
                by_goals: None,
                left_out: Vec::new(),
            })
        });
        let mut volumes = volumes.collect::<Result<Vec<VolumeNeed>, PlanError>>()?;
        for (volume, slug) in volumes.iter_mut().zip(profile.slugs()) {
            volume.slug = slug;
        }
        assumed.dedup();
        Ok(Self {
            name: profile.name.clone(),
            level,
            growth: profile.growth,
            machine,
            volumes,
            assumed,
            notes,
        })
    }

    /// The part that each of so many machines does, rounded up.
    #[must_use]
    pub fn part(&self, machines: u32) -> Self {
        let machines = u64::from(machines.max(1));
        let mut part = self.clone();
        part.machine = self.machine.part(machines);
        for volume in &mut part.volumes {
            volume.capacity = Bytes::new(volume.capacity.get().div_ceil(machines));
            for load in &mut volume.loads {
                let iops = load.iops.get().div_ceil(machines);
                let bandwidth = load.bandwidth.get().div_ceil(machines);
                let bandwidth = of_whole(iops, bandwidth, load.size.get());
                load.iops = Iops::new(iops);
                load.bandwidth = BytesPerSec::new(bandwidth);
            }
        }
        part
    }

    /// The same with every rate larger by so many percent.
    #[must_use]
    pub fn raised(&self, percent: u64) -> Self {
        let more = |rate: u64| {
            let rate = u128::from(rate) * u128::from(100 + percent);
            u64::try_from(rate.div_ceil(100)).unwrap_or(u64::MAX)
        };
        let mut raised = self.clone();
        for load in raised.volumes.iter_mut().flat_map(|it| &mut it.loads) {
            load.iops = Iops::new(more(load.iops.get()));
            load.bandwidth = BytesPerSec::new(more(load.bandwidth.get()));
        }
        raised
    }

    /// The same with the rates that goals ask for by themselves, where that is searched, of so many machines.
    #[must_use]
    pub(crate) fn asked_by_goals(&self, machines: u32) -> Self {
        let mut asked = self.clone();
        for volume in &mut asked.volumes {
            if let Some(by_goals) = volume.by_goals {
                for load in &mut volume.loads {
                    by_goals.raise(load, machines);
                }
            }
        }
        asked
    }

    /// Periods that any volume has a load in.
    pub fn periods(&self) -> impl Iterator<Item = PeriodKind> {
        let has = |kind: &PeriodKind| self.volumes.iter().any(|it| it.load(*kind).is_some());
        PeriodKind::ALL.into_iter().filter(has)
    }
}

/// That the latencies seen on a volume without a goal are none.
fn no_goals(volume: &Volume, level: Level) -> Vec<String> {
    if !volume.latency_goal.is_unknown() {
        return Vec::new();
    }
    let told = volume.periods.iter().filter_map(|period| {
        let (of_all, of_each) = (period.average_latency.at(level), period.latency.at(level));
        let figures = [("a mean latency", of_all), ("a latency", of_each)];
        let mut figures = figures.into_iter();
        let (what, seen) = figures.find_map(|(what, it)| Some((what, it?)))?;
        Some(format!(
            "`{}`, {}: {what} of {seen} was seen, which is no goal: `latency_goal` of the volume sets one",
            volume.name,
            period.kind.name()
        ))
    });
    told.collect()
}

/// Neither a rate nor a throughput is known at `level`.
fn unknown(volume: &Volume, period: &Period, level: Level) -> PlanError {
    let is_known =
        |at: &&Level| period.iops.at(**at).is_some() || period.throughput.at(**at).is_some();
    PlanError::Unknown {
        volume: volume.name.clone(),
        period: period.kind.name(),
        level,
        known: Level::ALL.iter().filter(is_known).copied().collect(),
    }
}

/// I/Os a second, bytes a second and a size of which each is known by itself, as one load that has both rates at least.
/// `mean` is given where they contradict each other.
fn all_three(
    place: &str,
    (iops, bandwidth, size): (u64, u64, u64),
    mean: Option<Bytes>,
    assumed: &mut Vec<String>,
) -> (u64, u64, u64) {
    let known = || {
        let (size, bytes) = (Bytes::new(size), Unit::Bandwidth.figure(bandwidth));
        format!(
            "{place}: {} of {size} and {bytes} are not of one hour",
            Iops::new(iops)
        )
    };
    if let Some(mean) = mean {
        assumed.push(format!(
            "{}; planned together as I/Os of {mean} on average, which have both rates",
            known()
        ));
        let bytes = iops.saturating_mul(mean.get());
        return (iops, bandwidth.max(bytes), mean.get());
    }
    let bytes = iops.saturating_mul(size);
    if bandwidth.abs_diff(bytes) <= bytes.max(bandwidth) / SAME {
        return (iops, bandwidth, size);
    }
    let raised = if bandwidth > bytes {
        (bandwidth.div_ceil(size), bandwidth, size)
    } else {
        (iops, bytes, size)
    };
    assumed.push(format!(
        "{}; planned as {} of that size, {}",
        known(),
        Iops::new(raised.0),
        Unit::Bandwidth.figure(raised.1)
    ));
    raised
}

/// Bytes a second of a load whose I/Os a second were rounded up: those of that many whole I/Os, where these are more by more
/// than a hundredth. 10.5 I/Os of 4 MiB are 11, and what carries 44 MB/s does not carry them.
fn of_whole(iops: u64, bandwidth: u64, size: u64) -> u64 {
    let whole = iops.saturating_mul(size);
    if whole.saturating_sub(bandwidth) > bandwidth / SAME {
        whole
    } else {
        bandwidth
    }
}

/// I/Os and bytes a second as [`of_whole`] has them; that it changes them is told.
fn in_whole_ios(
    place: &str,
    [iops, bandwidth]: [u64; 2],
    size: u64,
    assumed: &mut Vec<String>,
) -> [u64; 2] {
    let whole = of_whole(iops, bandwidth, size);
    if whole > bandwidth {
        let [before, after] = [bandwidth, whole].map(|rate| Unit::Bandwidth.figure(rate));
        let (iops, size) = (Iops::new(iops), Bytes::new(size));
        assumed.push(format!(
            "{place}: {before} are planned as {iops} of {size}, {after}, for I/Os are whole"
        ));
    }
    [iops, whole]
}

/// The load of `period`: of I/Os a second, bytes a second and size, two give the third.
fn load(
    profile: &Profile,
    volume: &Volume,
    period: &Period,
    level: Level,
    assumed: &mut Vec<String>,
) -> Result<Load, PlanError> {
    let place = format!("`{}`, {}", volume.name, period.kind.name());
    let iops = period.iops.at(level).map(Iops::get);
    let bandwidth = period.throughput.at(level).map(BytesPerSec::get);
    let size = period
        .size
        .at(level)
        .map(Bytes::get)
        .filter(|size| *size > 0);
    let unknown_size = |assumed: &mut Vec<String>| {
        assumed.push(format!(
            "{place}: I/Os of {ASSUMED_SIZE}, as of a database of transactions"
        ));
        ASSUMED_SIZE.get()
    };
    let (iops, bandwidth, size) = match (iops, bandwidth, size) {
        (Some(iops), Some(bandwidth), Some(size)) => {
            let rates = (iops, bandwidth, size);
            all_three(&place, rates, period.mean_size(level), assumed)
        }
        (Some(iops), Some(bandwidth), None) => {
            let mean = bandwidth.div_ceil(iops.max(1)).max(1);
            let whole = mean.next_multiple_of(SECTOR);
            if whole != mean {
                assumed.push(format!(
                    "{place}: I/Os of {mean} bytes on average are planned as {whole}, whole sectors"
                ));
            }
            (iops, bandwidth, whole)
        }
        (Some(iops), None, size) => {
            let size = size.unwrap_or_else(|| unknown_size(assumed));
            (iops, iops.saturating_mul(size), size)
        }
        (None, Some(bandwidth), size) => {
            let size = size.unwrap_or_else(|| unknown_size(assumed));
            (bandwidth.div_ceil(size), bandwidth, size)
        }
        (None, None, _) => return Err(unknown(volume, period, level)),
    };
    if iops == 0 || bandwidth == 0 {
        return Err(PlanError::Nothing {
            volume: volume.name.clone(),
            period: period.kind.name(),
            level,
        });
    }
    let reads = period.reads.at(level);
    if reads.is_none() {
        assumed.push(format!(
            "{place}: no share of reads is known; every I/O counts as a write"
        ));
    }
    let random = period.random.at(level);
    if random.is_none() {
        assumed.push(format!("{place}: all I/O is random"));
    }
    let rates = [iops, bandwidth].map(|rate| profile.growth.of(rate));
    let [iops, bandwidth] = in_whole_ios(&place, rates, size, assumed);
    Ok(Load {
        period: period.kind,
        iops: Iops::new(iops),
        bandwidth: BytesPerSec::new(bandwidth),
        size: Bytes::new(size),
        reads,
        random: random.unwrap_or(Percent::ALL),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first load of a profile of one volume and period.
    #[track_caller]
    fn first(figures: &str) -> (Load, String) {
        let text = format!(
            "name = \"a\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\nreads = \"50%\"\n{figures}"
        );
        let profile = Profile::read(&text, "x").map(|it| it.0).unwrap();
        let need = Need::of(&profile, Level::P99).unwrap();
        (need.volumes[0].loads[0].clone(), need.assumed.join("\n"))
    }

    #[test]
    fn figures_that_contradict_each_other_are_one_load_with_both_rates() {
        #[track_caller]
        fn check(figures: &str, (iops, bandwidth, size): (u64, u64, u64), says: &str) {
            let (load, assumed) = first(figures);
            let found = (load.iops.get(), load.bandwidth.get(), load.size.get());
            assert_eq!(found, (iops, bandwidth, size), "{figures}");
            assert_eq!(assumed.contains("not of one hour"), !says.is_empty());
            assert!(assumed.contains(says), "{assumed}");
        }
        let all = "iops = 10_000\nsize = \"8KiB\"\nthroughput = ";
        let eight = 8192;
        check(
            &format!("{all}\"81.92MB/s\""),
            (10_000, 81_920_000, eight),
            "",
        );
        check(
            &format!("{all}\"82.5MB/s\""),
            (10_000, 82_500_000, eight),
            "",
        );
        // Near: the larger of the two rates with that size.
        let says = "planned as 10,743 IOPS of that size, 88 MB/s";
        check(
            &format!("{all}\"88MB/s\""),
            (10_743, 88_000_000, eight),
            says,
        );
        let says = "planned as 10,000 IOPS of that size, 81.9 MB/s";
        check(
            &format!("{all}\"76MB/s\""),
            (10_000, 81_920_000, eight),
            says,
        );
        // A backup's bytes and a day's transactions.
        let says = "planned together as I/Os of 29.5 KiB on average";
        check(
            &format!("{all}\"300MB/s\""),
            (10_000, 302_080_000, 30_208),
            says,
        );
        let large = "iops = 10_000\nsize = \"1MiB\"\nthroughput = \"500MB/s\"";
        let says = "planned together as I/Os of 49 KiB on average";
        check(large, (10_000, 501_760_000, 50_176), says);
    }

    /// Growth and machines give fractions of I/Os, which are rounded up: their bytes are those of whole I/Os too.
    #[test]
    fn large_ios_that_are_rounded_up_have_all_their_bytes() {
        let of = |growth: &str, figures: &str| {
            let text = format!(
                "name = \"a\"\n{growth}\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\n{figures}"
            );
            let profile = Profile::read(&text, "x").map(|it| it.0).unwrap();
            Need::of(&profile, Level::P99).unwrap()
        };
        let rates = |need: &Need| {
            let load = &need.volumes[0].loads[0];
            (load.iops.get(), load.bandwidth.get())
        };
        let large = "iops = 10\nsize = \"4MiB\"";
        let grown = of("growth = \"1.05x\"", large);
        assert_eq!(rates(&grown), (11, 11 << 22));
        let told =
            "`d`, peak: 44.0 MB/s are planned as 11 IOPS of 4 MiB, 46.1 MB/s, for I/Os are whole";
        assert!(
            grown.assumed.iter().any(|it| it == told),
            "{:?}",
            grown.assumed
        );
        assert_eq!(rates(&grown.part(3)), (4, 4 << 22));
        // Where it is less than a hundredth, what was said stands.
        let many = of("", "throughput = \"3GB/s\"\nsize = \"1MiB\"");
        assert_eq!(rates(&many), (2862, 3_000_000_000));
        assert_eq!(rates(&many.part(2)), (1431, 1_500_000_000));
        assert!(!many.assumed.iter().any(|it| it.contains("are whole")));
        let few = of("", "throughput = \"10MB/s\"\nsize = \"4MiB\"");
        assert_eq!(rates(&few), (3, 3 << 22));
    }

    /// The need of a volume of that name and goal, which was seen with these latencies.
    #[track_caller]
    fn seen(name: &str, goal: &str, latencies: &str) -> Need {
        let text = format!(
            "name = \"a\"\n[[volume]]\nname = \"{name}\"\n{goal}\n[[volume.period]]\nname = \"peak\"\niops = 100\n{latencies}\n"
        );
        let profile = Profile::read(&text, "x").map(|it| it.0).unwrap();
        Need::of(&profile, Level::P99).unwrap()
    }

    #[test]
    fn a_latency_that_was_seen_is_told_to_be_no_goal() {
        #[track_caller]
        fn check(goal: &str, latencies: &str, expected: &[&str]) {
            assert_eq!(seen("d", goal, latencies).notes, expected);
        }
        let mean = "average_latency = \"30ms\"";
        let told = "was seen, which is no goal: `latency_goal` of the volume sets one";
        let of_mean = format!("`d`, peak: a mean latency of 30 ms {told}");
        check("", mean, &[&of_mean]);
        check("", &format!("{mean}\nlatency = \"90ms\""), &[&of_mean]);
        let of_each = format!("`d`, peak: a latency of 90 ms {told}");
        check("", "latency = \"90ms\"", &[&of_each]);
        check("", "", &[]);
        // Known at another percentile than the one that is planned for.
        check("", "average_latency = { p50 = \"30ms\" }", &[]);
        check("latency_goal = \"40ms\"", mean, &[]);
    }

    #[test]
    fn a_name_that_ends_in_a_colon_is_followed_by_one() {
        for (name, expected) in [("data", "data: x"), ("1 D:", "1 D: x"), (":", ": x")] {
            let need = seen(name, "", "");
            assert_eq!(need.volumes[0].told("x"), expected);
        }
    }

    #[test]
    fn a_mean_size_is_planned_as_whole_sectors() {
        let text = "name = \"a\"\n[[volume]]\nname = \"d\"\n[[volume.period]]\nname = \"peak\"\n\
                    iops = 100\nthroughput = \"823100B/s\"\n";
        let profile = Profile::read(text, "x").map(|it| it.0).unwrap();
        let need = Need::of(&profile, Level::P99).unwrap();
        assert_eq!(need.volumes[0].loads[0].size, Bytes::new(8704));
        let told = need.assumed.join("\n");
        assert!(
            told.contains("8231 bytes on average are planned as 8704"),
            "{told}"
        );
    }
}
