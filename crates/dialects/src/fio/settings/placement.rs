//! Settings of where I/Os fall and how large they are, beyond `rw`, `bs` and `bssplit`.

use fathom_units::Bytes;
use fathom_workload::{Distribution, FileChoice, ZONES_MAX, Zone};

use super::Settings;
use super::apply::{MAX_BLOCK, set, set_some};
use super::reader::{Counts, ValueReader};
use crate::fio::conditioning::ConditioningSettings;
use crate::fio::values;

/// fio's defaults of the numbers behind `zipf` and `pareto`.
const ZIPF_THETA: f64 = 1.1;
const PARETO_H: f64 = 0.2;

/// Placement in fio's terms, with fio's defaults.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of fio's own"
)]
pub struct PlacementSettings {
    /// By direction.
    pub distribution: [Distribution; 3],
    /// `random_sequence_stride`.
    pub stride: bool,
    /// `rw_sequencer=identical`.
    pub identical: bool,
    /// What stands behind `rw` of a sequential job, where it is below 0.
    pub backwards: i64,
    /// `bsrange`, by direction.
    pub ranges: [Option<(u64, u64)>; 3],
    /// `bs_unaligned`.
    pub unaligned: bool,
    /// `bs_is_seq_rand`.
    pub by_order: bool,
    /// `random_generator=lfsr`.
    pub lfsr: bool,
    /// `zonemode`; `None`: not given.
    pub zone_mode: Option<ZoneMode>,
    /// `zonesize`.
    pub zone_size: u64,
    /// `zonerange`.
    pub zone_range: u64,
    /// `zoneskip`; below zero it leads backwards, which asks for nothing where there are no zones.
    pub zone_skip: i64,
    /// `offset_align`.
    pub offset_align: Option<u64>,
    /// `file_append`.
    pub append: bool,
    /// `fill_device`.
    pub fill: bool,
    /// How a random file is drawn.
    pub file_distribution: Distribution,
    /// I/Os that a picked file gets.
    pub ios_per_file: u32,
    /// `openfiles`; 0: all.
    pub open_files: u32,
    /// `sprandom`.
    pub conditioning: ConditioningSettings,
}

/// How zones are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneMode {
    /// Not at all.
    None,
    /// One after another.
    Strided,
    /// Those of the device, which no job is run with.
    OfDevice,
}

impl Default for PlacementSettings {
    fn default() -> Self {
        Self {
            distribution: [const { Distribution::Uniform }; 3],
            stride: false,
            identical: false,
            backwards: 0,
            ranges: [None; 3],
            unaligned: false,
            by_order: false,
            lfsr: false,
            zone_mode: None,
            zone_size: 0,
            zone_range: 0,
            zone_skip: 0,
            offset_align: None,
            append: false,
            fill: false,
            file_distribution: Distribution::Uniform,
            ios_per_file: 1,
            open_files: 0,
            conditioning: ConditioningSettings::default(),
        }
    }
}

impl Settings {
    /// Applies an option of placement; whether it was one.
    pub(super) fn apply_placement(&mut self, reader: &mut ValueReader<'_>) -> bool {
        let most = 1 << 62;
        let bytes = |reader: &mut ValueReader<'_>| reader.number(Counts::Bytes, 0, most);
        let place = &mut self.placement;
        match reader.name() {
            "random_distribution" => place.read_distribution(reader),
            "random_sequence_stride" => set(&mut place.stride, reader.switch()),
            "rw_sequencer" => {
                let word = reader.word(&["sequential", "identical"]);
                set(&mut place.identical, word.map(|index| index == 1));
            }
            "sprandom" => set(&mut place.conditioning.is_on, reader.switch()),
            "spr_num_regions" => {
                let regions = reader.number(Counts::Things, 0, u64::from(u32::MAX));
                set(&mut place.conditioning.regions, regions);
            }
            "spr_op" => {
                let share = reader.first_decimal();
                set(&mut place.conditioning.over_provisioning, share);
            }
            "spr_cs" => set(&mut place.conditioning.cache, bytes(reader)),
            "random_generator" => {
                let word = reader.word(&["tausworthe", "tausworthe64", "lfsr"]);
                set(&mut place.lfsr, word.map(|index| index == 2));
            }
            "bsrange" => {
                let ranges = reader.size_ranges(MAX_BLOCK).unwrap_or_default();
                for (slot, range) in place.ranges.iter_mut().zip(ranges) {
                    set_some(slot, range);
                }
            }
            "bs_unaligned" => set(&mut place.unaligned, reader.switch()),
            "bs_is_seq_rand" => set(&mut place.by_order, reader.switch()),
            "zonemode" => match reader.word(&["none", "strided", "zbd"]) {
                Some(0) => place.zone_mode = Some(ZoneMode::None),
                Some(1) => place.zone_mode = Some(ZoneMode::Strided),
                Some(_) => {
                    place.zone_mode = Some(ZoneMode::OfDevice);
                    reader.refuse_at_run(
                        "zoned block devices (`zonemode=zbd`) are not carried",
                        Some("zonemode=strided has zones on any device".to_owned()),
                    );
                }
                None => {}
            },
            "zonesize" => set(&mut place.zone_size, reader.extent()),
            "zonerange" => set(&mut place.zone_range, reader.extent()),
            "zoneskip" if reader.counts_zones() => {}
            "zoneskip" => set(&mut place.zone_skip, reader.step()),
            "offset_align" => {
                let align = bytes(reader);
                place.offset_align = align.map(|align| align.max(1)).or(place.offset_align);
            }
            "fill_device" => set(&mut place.fill, reader.switch()),
            "file_append" => set(&mut place.append, reader.switch()),
            "openfiles" => {
                let most = u64::from(u32::MAX);
                let files = reader.number(Counts::Things, 0, most);
                set(&mut place.open_files, files.map(|files| files as u32));
            }
            "file_service_type" => self.read_file_choice(reader),
            _ => return false,
        }
        true
    }

    fn read_file_choice(&mut self, reader: &mut ValueReader<'_>) {
        const WORDS: [&str; 7] = [
            "random",
            "roundrobin",
            "sequential",
            "zipf",
            "pareto",
            "normal",
            "gauss",
        ];
        let Some(index) = reader.word(&WORDS) else {
            return;
        };
        self.file_choice = match index {
            1 => FileChoice::RoundRobin,
            2 => FileChoice::Sequential,
            _ => FileChoice::Random,
        };
        let place = &mut self.placement;
        place.file_distribution = Distribution::Uniform;
        place.ios_per_file = 1;
        let rest = reader.after_colon();
        if index <= 2 {
            // fio takes leading digits alone, and none as 0, which is one I/O a file.
            let rest = rest.unwrap_or("");
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            place.ios_per_file = rest[..digits].parse::<u32>().unwrap_or(0).max(1);
        } else if let Some(distribution) = centred(WORDS[index], rest, reader) {
            place.file_distribution = distribution;
        }
    }
}

impl PlacementSettings {
    fn read_distribution(&mut self, reader: &mut ValueReader<'_>) {
        const WORDS: [&str; 7] = [
            "random",
            "zipf",
            "pareto",
            "normal",
            "zoned",
            "zoned_abs",
            "sequence",
        ];
        let Some(index) = reader.word(&WORDS) else {
            return;
        };
        let word = WORDS[index];
        let rest = reader.after_colon();
        let distribution = match word {
            "random" => Some(Distribution::Uniform),
            "zoned" | "zoned_abs" => {
                if let Some(zones) = zones(word == "zoned_abs", rest.unwrap_or(""), reader) {
                    self.distribution = zones;
                }
                return;
            }
            "sequence" => sequence(rest.unwrap_or(""), reader),
            _ => centred(word, rest, reader),
        };
        if let Some(distribution) = distribution {
            self.distribution = [const { Distribution::Uniform }; 3].map(|_| distribution.clone());
        }
    }
}

/// Refuses a distribution with a number out of range.
fn checked(distribution: Distribution, reader: &mut ValueReader<'_>) -> Option<Distribution> {
    match distribution.check() {
        Ok(()) => Some(distribution),
        Err(error) => {
            let message = format!("`{}`: {error}", reader.name());
            reader.refuse(&message, None);
            None
        }
    }
}

/// `zipf`, `pareto` or `normal` with a number and a centre behind it, or without.
fn centred(word: &str, rest: Option<&str>, reader: &mut ValueReader<'_>) -> Option<Distribution> {
    let typed = rest.into_iter().flat_map(|rest| rest.splitn(2, ':'));
    let mut parts = typed.map(str::trim);
    let mut number = |default: Option<f64>| match parts.next() {
        None => Ok(default),
        Some(text) => reader.decimal(text).map(Some).ok_or(text),
    };
    let default = match word {
        "zipf" => ZIPF_THETA,
        "pareto" => PARETO_H,
        _ => 0.0,
    };
    let (value, center) = match (number(Some(default)), number(None)) {
        (Ok(value), Ok(center)) => (value.unwrap_or(default), center),
        (Err(text), _) | (_, Err(text)) => {
            let message = format!("`{text}` is no number for `{}`", reader.name());
            reader.refuse(
                &message,
                Some(format!("write `{word}:1.2` or `{word}:1.2:0.25`")),
            );
            return None;
        }
    };
    let distribution = match word {
        "zipf" => Distribution::Zipf {
            theta: value,
            center,
        },
        "pareto" => Distribution::Pareto { h: value, center },
        _ => Distribution::Normal {
            deviation: value,
            center,
        },
    };
    checked(distribution, reader)
}

fn sequence(text: &str, reader: &mut ValueReader<'_>) -> Option<Distribution> {
    let mut blocks = Vec::new();
    for part in text.split(',') {
        let Ok(block) = part.trim().parse() else {
            let message = format!("`{part}` is no block number for `{}`", reader.name());
            reader.refuse(&message, Some("write `sequence:2,0,1`".to_owned()));
            return None;
        };
        blocks.push(block);
    }
    let stride = false;
    checked(Distribution::Sequence { blocks, stride }, reader)
}

/// `access/size:access/size,…` for reads, writes and trims.
fn zones(absolute: bool, text: &str, reader: &mut ValueReader<'_>) -> Option<[Distribution; 3]> {
    let mut lists = Vec::new();
    for part in text.split(',').take(3) {
        lists.push(zone_list(absolute, part, reader)?);
    }
    // Directions that are left out have the zones of the last one given.
    let last = lists.last()?.clone();
    let mut lists = lists.into_iter();
    Some(std::array::from_fn(|_| {
        lists.next().unwrap_or_else(|| last.clone())
    }))
}

fn zone_list(absolute: bool, text: &str, reader: &mut ValueReader<'_>) -> Option<Distribution> {
    let kb_base = reader.kb_base();
    let mut zones: Vec<(u32, Option<u64>)> = Vec::new();
    for entry in text.split(':').filter(|entry| !entry.is_empty()) {
        let (access, size) = entry.split_once('/').unwrap_or((entry, ""));
        let size = match (size, absolute) {
            ("", _) => Some(None),
            (size, true) => values::number(size, kb_base)
                .and_then(|number| values::bytes(number.value))
                .map(|bytes| Some(bytes.get())),
            (size, false) => size.trim_end_matches('%').parse().ok().map(Some),
        };
        let (Ok(access), Some(size)) = (access.trim_end_matches('%').parse::<u32>(), size) else {
            let message = format!("`{entry}` is no zone for `{}`", reader.name());
            reader.refuse(&message, Some("write `zoned:60/10:40/90`".to_owned()));
            return None;
        };
        zones.push((access.min(100), size));
    }
    if zones.is_empty() || zones.len() > ZONES_MAX {
        let message = format!(
            "`{}` has {} zones, not 1 to {ZONES_MAX}",
            reader.name(),
            zones.len()
        );
        reader.refuse(&message, None);
        return None;
    }
    let given: u64 = zones
        .iter()
        .filter_map(|(_, size)| *size)
        .fold(0, u64::saturating_add);
    let distribution = if absolute {
        let zone = |(access, size): (u32, Option<u64>)| Zone {
            access,
            size: Bytes::new(size.unwrap_or(0)),
        };
        Distribution::ZonedAbsolute(zones.into_iter().map(zone).collect())
    } else {
        let blanks = zones.iter().filter(|(_, size)| size.is_none()).count() as u64;
        let rest = 100u64.saturating_sub(given);
        let each = rest.checked_div(blanks).unwrap_or(0);
        let mut sizes: Vec<Zone<u32>> = zones
            .into_iter()
            .map(|(access, size)| Zone {
                access,
                size: size.unwrap_or(each).min(u64::from(u32::MAX)) as u32,
            })
            .collect();
        // What the sizes leave over belongs to the last zone.
        let sum: u32 = sizes
            .iter()
            .map(|zone| zone.size)
            .fold(0, u32::saturating_add);
        if let Some(last) = sizes.last_mut() {
            last.size += 100u32.saturating_sub(sum);
        }
        Distribution::Zoned(sizes)
    };
    checked(distribution, reader)
}
