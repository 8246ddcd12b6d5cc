//! A plan in words.

use std::fmt::{self, Write as _};

use fathom_model::HostCaching;
use fathom_profile::Level;
use fathom_units::{Nanos, group_digits};

use crate::candidate::Disks;
use crate::need::VolumeNeed;
use crate::offer::Offer;
use crate::proof::{ProvenVolume, at};
use crate::{Plan, choices};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write_need(&mut text);
        for (index, offer) in self.offers.iter().enumerate() {
            self.write_offer(&mut text, index + 1, offer);
        }
        self.write_rest(&mut text);
        f.write_str(text.trim_end())?;
        f.write_char('\n')
    }
}

impl Plan {
    fn write_need(&self, text: &mut String) {
        let _ = writeln!(text, "NEED at {} after growth", self.need.level);
        for volume in &self.need.volumes {
            for load in &volume.loads {
                let reads = load
                    .reads
                    .map_or("reads unknown".to_owned(), |it| format!("{it} reads"));
                let _ = writeln!(
                    text,
                    "  {:10} {:9} {} of {}, {}, {reads}, {} random",
                    volume.name,
                    load.period.name(),
                    load.iops,
                    load.size,
                    crate::Unit::Bandwidth.figure(load.bandwidth.get()),
                    load.random,
                );
            }
        }
        for assumed in &self.need.assumed {
            let _ = writeln!(text, "  assumed: {assumed}");
        }
    }

    fn write_offer(&self, text: &mut String, number: usize, offer: &Offer) {
        let price = match &self.prices {
            Some(prices) => format!("{} a month", prices.amount(offer.cost.price)),
            None => format!(
                "{} vCPU, {} provisioned at disks",
                offer.cost.vcpus,
                fathom_units::Iops::new(offer.cost.iops)
            ),
        };
        let vm = offer.candidate.vm;
        let _ = writeln!(
            text,
            "\n{number}. {}: {price} (era {})",
            offer.title(),
            vm.era
        );
        let _ = writeln!(
            text,
            "   {:40} {:>16} {:>16}  headroom",
            "limit", "need", "have"
        );
        for line in &offer.lines {
            let headroom = line.headroom().map_or_else(
                || "-".to_owned(),
                |ratio| format!("{:.0} %", (ratio - 1.0) * 100.0),
            );
            let _ = writeln!(
                text,
                "   {:40} {:>16} {:>16}  {headroom}",
                line.owner,
                line.unit.figure(line.need),
                line.unit.figure(line.have),
            );
        }
        if let Some((line, ratio)) = offer.first_to_bind() {
            let _ = writeln!(
                text,
                "   binds first: {}, at {ratio:.2} times the need; to grow beyond, raise that",
                line.owner
            );
            if ratio < 1.02 && line.unit.is_rate() {
                text.push_str(
                    "   with no headroom, response times grow for as long as the load lasts\n",
                );
            }
        }
        let volumes = self.need.volumes.iter().zip(&offer.candidate.volumes);
        for (volume, disks) in volumes {
            write_advice(text, volume, disks, offer);
        }
        for proven in &offer.proof.volumes {
            write_proof(text, proven);
        }
    }

    fn write_rest(&self, text: &mut String) {
        if self.offers.is_empty() {
            let _ = writeln!(
                text,
                "\nNOTHING in the catalogue, as it was searched, carries this."
            );
        }
        for failure in &self.unproven {
            let _ = writeln!(text, "\nnot offered, though its limits suffice: {failure}");
        }
        let _ = writeln!(text, "\nsearched in full: {} machine sizes", self.machines);
        for (rule, (count, example)) in &self.ruled_out.0 {
            let _ = writeln!(
                text,
                "  {count} ruled out: {} (such as {example})",
                rule.words()
            );
        }
        let ranked = match &self.prices {
            Some(prices) => {
                let as_of = prices.as_of.as_deref();
                let as_of = as_of.map_or(String::new(), |as_of| format!(" of {as_of}"));
                format!("ranked by the price list{as_of}")
            }
            None => {
                "no prices were given: ranked by what is provisioned (vCPU, then memory, then the \
                     disks' IOPS and space)"
                    .to_owned()
            }
        };
        let _ = writeln!(text, "  {ranked}; credits are left out, for they run out");
    }
}

fn write_advice(text: &mut String, volume: &VolumeNeed, disks: &Disks, offer: &Offer) {
    let caching = match disks.caching {
        HostCaching::None => "none",
        HostCaching::ReadOnly => "read-only",
        HostCaching::ReadWrite => "read-write",
    };
    let (recommended, why) = choices::recommended_caching(volume);
    let why = if recommended == disks.caching {
        why
    } else {
        "the machine or the disk cannot cache it, or its cached limits are too low"
    };
    let stripe = if disks.count > 1 {
        format!("{} columns of {}, ", disks.count, disks.stripe_unit)
    } else {
        String::new()
    };
    let _ = writeln!(text, "   {}: {stripe}caching {caching}: {why}", volume.name);
    let proven = offer.proof.volumes.iter();
    let outstanding = proven.filter(|proven| proven.volume == volume.name);
    let most = outstanding.map(outstanding_of).fold(0.0, f64::max);
    if most > 0.0 {
        let depth = most.ceil().max(1.0);
        let _ = writeln!(
            text,
            "   {}: {depth:.0} I/Os outstanding drive it ({:.1} a column), or as many threads that wait for each I/O",
            volume.name,
            depth / f64::from(disks.count.max(1))
        );
    }
}

/// I/Os outstanding by Little's law: rate × mean response time.
fn outstanding_of(proven: &ProvenVolume) -> f64 {
    let ways = proven.response.iter();
    let means = ways.map(|(_, latency)| latency.mean);
    proven.iops * means.fold(0.0, f64::max) / 1e9
}

fn write_proof(text: &mut String, proven: &ProvenVolume) {
    let _ = write!(
        text,
        "   predicted {}, {}: {} IOPS",
        proven.volume,
        proven.period.name(),
        group_digits(proven.iops.round() as u64)
    );
    for (name, latency) in &proven.response {
        let figures = Level::ALL.map(|level| format!("{level} {}", at(latency, level)));
        let _ = write!(
            text,
            "; {name} {}, max {}",
            figures.join(", "),
            Nanos::new(latency.max)
        );
    }
    for (level, goal) in &proven.goal {
        let _ = write!(text, "; goal {level} {goal}: met");
    }
    text.push('\n');
}
