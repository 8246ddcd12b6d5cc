//! fio's `sprandom`: a pass of writes that brings flash to its steady state.
//!
//! What does not go with it is refused: by fio itself, or because fio would then write less than it promises, and say nothing.

use fathom_units::{Bytes, Percent};
use fathom_workload::{Conditioning, Distribution};

use super::blocks::{block_range, is_aligned};
use super::settings::Settings;

/// fio's defaults.
const OVER_PROVISIONING: f64 = 0.15;
const REGIONS: u64 = 100;

/// `sprandom` in fio's terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditioningSettings {
    /// `sprandom`.
    pub is_on: bool,
    /// `spr_op`.
    pub over_provisioning: f64,
    /// `spr_num_regions`.
    pub regions: u64,
    /// `spr_cs`.
    pub cache: u64,
}

impl Default for ConditioningSettings {
    fn default() -> Self {
        Self {
            is_on: false,
            over_provisioning: OVER_PROVISIONING,
            regions: REGIONS,
            cache: 0,
        }
    }
}

/// What the settings have a job do to flash; `None`: nothing, or what [`problems`] refuses.
pub fn conditioning(settings: &Settings) -> Option<Conditioning> {
    let given = &settings.placement.conditioning;
    let points = (given.over_provisioning * 10_000.0).round();
    // A share outside 0 to 100 % comes out as no share.
    let over_provisioning = Percent::from_basis_points(points.max(0.0) as u32)?;
    given.is_on.then(|| Conditioning {
        over_provisioning,
        regions: u32::try_from(given.regions).unwrap_or(u32::MAX),
        cache: Bytes::new(given.cache),
    })
}

/// What does not go together: the option at fault, what is wrong, and what to do.
pub fn problems(settings: &Settings) -> Vec<(&'static str, String, &'static str)> {
    if !settings.placement.conditioning.is_on {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut refuse = |option, message: &str, hint| found.push((option, message.to_owned(), hint));
    let pattern = settings.pattern;
    let writes_alone = pattern.directions == [false, true, false];
    if !pattern.random || !writes_alone {
        refuse(
            "rw",
            "`sprandom` writes at random, and nothing else",
            "write rw=randwrite",
        );
    } else if settings.pattern_number.is_some_and(|run| run > 1) {
        refuse("rw", "`sprandom` has no runs", "write rw=randwrite");
    }
    let given = |option: &str| settings.sources.contains_key(option);
    if given("random_generator") && !settings.placement.lfsr {
        let hint = "write random_generator=lfsr, or leave it out";
        refuse(
            "random_generator",
            "`sprandom` requires random_generator=lfsr",
            hint,
        );
    }
    if given("norandommap") && !settings.independent {
        let hint = "write norandommap=1, or leave it out";
        refuse("norandommap", "`sprandom` requires norandommap=1", hint);
    }
    let uniform = settings
        .placement
        .distribution
        .iter()
        .all(Distribution::is_uniform);
    let place = &settings.placement;
    let others = [
        ("random_distribution", !uniform),
        ("percentage_random", settings.percentage_random[1] < 100),
        ("zonemode", super::placement::zones(settings).is_some()),
        ("file_append", place.append),
        ("fill_device", place.fill),
    ];
    for (option, _) in others.into_iter().filter(|(_, is_set)| *is_set) {
        let message =
            format!("`sprandom` says by itself where writes fall, and `{option}` does too");
        refuse(option, &message, "leave one of them out");
    }
    numbers(settings, &mut refuse);
    found
}

/// What is wrong with numbers, sizes and files.
fn numbers(settings: &Settings, refuse: &mut impl FnMut(&'static str, &str, &'static str)) {
    let (least, most) = block_range(settings)[1];
    let sized = if settings.splits[1].is_empty() {
        "bsrange"
    } else {
        "bssplit"
    };
    if least != most {
        let message = "`sprandom` writes blocks of one size";
        refuse(sized, message, "write bs= alone");
    } else if !most.is_power_of_two() {
        let message =
            format!("`sprandom` needs blocks whose size is a power of two, not {most} bytes");
        refuse("bs", &message, "write bs=4k, for example");
    }
    if !is_aligned(settings) {
        let message = "`sprandom` writes each block at a multiple of its size";
        refuse("ba", message, "leave it out");
    }
    let files = settings.listed_files.unwrap_or(settings.file_count);
    if files != 1 || settings.control.open_directory.is_some() {
        let message = "`sprandom` supports only one file";
        refuse("nrfiles", message, "give each file a job of its own");
    }
    let given = &settings.placement.conditioning;
    if !(0.0..=1.0).contains(&given.over_provisioning) {
        let message = format!(
            "`spr_op={}` is out of range: 0 to 1, a share of what can be addressed",
            given.over_provisioning
        );
        refuse("spr_op", &message, "write 0.15 for 15 %");
    }
    let most = u64::from(Conditioning::REGIONS_MAX);
    if !(1..=most).contains(&given.regions) {
        let message = format!(
            "`spr_num_regions={}` is out of range: 1 to 1,048,576",
            given.regions
        );
        refuse("spr_num_regions", &message, "write 100, or leave it out");
    }
}
