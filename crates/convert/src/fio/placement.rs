//! Distributions, zones and shares of random I/O.

use fathom_units::{Bytes, Percent};
use fathom_workload::{Between, Conditioning, Distribution, Placement, ZoneStride};

use super::section::Section;
use super::{size, triple};
use crate::zones;

/// Adds the options of a placement that are none of order, sizes and files.
pub fn put(rules: &Placement, random: bool, length: Option<Bytes>, section: &mut Section) {
    let Placement {
        distribution,
        random: shares,
        // Stands behind `rw`.
        skip: _,
        between,
        // A word of `rw`.
        trim_then_write: _,
        // Said by `bsrange`.
        ranges: _,
        unaligned,
        by_order,
        // Said by `ba`.
        alignment: _,
        zones,
        // Said by `file_service_type`.
        target_distribution: _,
        ios_per_target: _,
        targets_at_once,
        // Follows from the files that are there.
        past_end: _,
        joined: _,
        stride: _,
        conditioning,
    } = rules;
    if let Some(rules) = conditioning {
        condition(*rules, section);
    }
    if random {
        if let Some(text) = distributions(distribution, length) {
            section.put("random_distribution", text);
        }
        let stride =
            |one: &Distribution| matches!(one, Distribution::Sequence { stride: true, .. });
        section.put_if(
            distribution.iter().any(stride),
            "random_sequence_stride",
            "1",
        );
        if *shares != [Percent::ALL; 3] {
            let whole = shares.map(|share| ((share.basis_points() + 50) / 100).to_string());
            section.put("percentage_random", triple(whole));
        }
        section.put_if(*between == Between::Identical, "rw_sequencer", "identical");
    }
    if let Some(targets) = targets_at_once {
        section.put("openfiles", targets.to_string());
    }
    section.put_if(*unaligned, "bs_unaligned", "1");
    section.put_if(by_order.is_some(), "bs_is_seq_rand", "1");
    if let Some(ZoneStride {
        size: bytes,
        range,
        skip,
    }) = zones
    {
        section.put("zonemode", "strided");
        section.put("zonesize", size(bytes.get()));
        section.put_if(range != bytes, "zonerange", size(range.get()));
        section.put_if(skip.get() > 0, "zoneskip", size(skip.get()));
    }
}

/// Flash that is brought to its steady state.
fn condition(rules: Conditioning, section: &mut Section) {
    let Conditioning {
        over_provisioning,
        regions,
        cache,
    } = rules;
    section.put("sprandom", "1");
    let points = over_provisioning.basis_points();
    let share = format!("{}.{:04}", points / 10_000, points % 10_000);
    section.put("spr_op", share);
    section.put("spr_num_regions", regions.to_string());
    section.put_if(cache.get() > 0, "spr_cs", size(cache.get()));
}

/// fio has lists of its own for reads, writes and trims where these are zones of one kind; else one for all. It ends where
/// zones exceed the file, of `length`: none are written that do.
pub fn distributions(of: &[Distribution; 3], length: Option<Bytes>) -> Option<String> {
    let of = of.clone().map(|one| match one {
        Distribution::ZonedAbsolute(own) => {
            Distribution::ZonedAbsolute(zones::within(&own, length))
        }
        other => other,
    });
    let exceeds = |one: &Distribution| match one {
        Distribution::ZonedAbsolute(own) => !zones::fit(own, length),
        _ => false,
    };
    if of.iter().any(exceeds) {
        return None;
    }
    let [first, second, third] = &of;
    let text = match first {
        Distribution::Uniform => return None,
        // fio's numbers are without a stride, which is another option.
        Distribution::Sequence { blocks, stride: _ } => {
            let numbers: Vec<String> = blocks.iter().map(u32::to_string).collect();
            format!("sequence:{}", numbers.join(","))
        }
        Distribution::ZonedAbsolute(_) | Distribution::Zoned(_) => {
            let lists = [first, second, third].map(|one| match one {
                Distribution::Zoned(zones) => {
                    let zones = zones
                        .iter()
                        .map(|zone| format!("{}/{}", zone.access, zone.size));
                    zones.collect::<Vec<_>>().join(":")
                }
                Distribution::ZonedAbsolute(zones) => {
                    let zones = zones
                        .iter()
                        .map(|zone| format!("{}/{}", zone.access, size(zone.size.get())));
                    zones.collect::<Vec<_>>().join(":")
                }
                _ => String::new(),
            });
            let kind = if matches!(first, Distribution::Zoned(_)) {
                "zoned"
            } else {
                "zoned_abs"
            };
            let same_kind =
                |one: &Distribution| std::mem::discriminant(one) == std::mem::discriminant(first);
            let lists = if of.iter().all(same_kind) {
                triple(lists)
            } else {
                lists.into_iter().next().unwrap_or_default()
            };
            format!("{kind}:{lists}")
        }
        Distribution::Zipf { .. } | Distribution::Pareto { .. } | Distribution::Normal { .. } => {
            first.to_string()
        }
    };
    Some(text)
}
