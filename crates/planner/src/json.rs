//! A plan as one JSON document (schema `fathom.plan/1`): what its text says, from the same structures.
//!
//! Keys end in their unit, and money stands beside its currency. Sentences are those of the text.

use fathom_profile::{Level, PeriodKind};
use fathom_units::{Bytes, BytesPerSec, Iops, Nanos, Percent};
use serde_json::{Map, Value, json};

use crate::bought::Bought;
use crate::line::{Line, Unit};
use crate::machine::MachineNeed;
use crate::need::{Load, Need, VolumeNeed};
use crate::offer::{Offer, OnCredits, Proven};
use crate::proof::{Misses, ProvenVolume};
use crate::rounds::{Basis, Headroom, Unproven};
use crate::ruled_out::{Rule, RuledOut};
use crate::text::not_proven;
use crate::{Cheaper, Cost, Family, Plan, Prices, Prove};

/// Of this document; a key keeps its meaning within a version.
const SCHEMA: &str = "fathom.plan/1";

impl Plan {
    /// The document. A plan that offers nothing has one too: `offers` is empty, and `nothing` says why.
    pub fn to_json(&self) -> Value {
        let offers = self.offers.iter().map(|offer| self.offer_json(offer));
        let nothing = if self.offers.is_empty() {
            self.nothing()
        } else {
            Vec::new()
        };
        let searched = json!({
            "machine_sizes": self.sizes,
            "combinations": self.combinations,
            "families": names(Family::ALL.into_iter().filter(|it| !self.unsearched.contains(it))),
            "families_left_out": names(self.unsearched.iter().copied()),
            "round_trip_ns": self.round_trip.get(),
            "burst_ns": self.burst.map(Nanos::get),
            "on_demand": self.on_demand,
            "performance_plus": self.performance_plus,
            "prove": match self.prove {
                Prove::Soon => "soon",
                Prove::Always => "always",
                Prove::Never => "never",
            },
        });
        let prices = self.prices.as_ref();
        json!({
            "schema": SCHEMA,
            "need": need_json(&self.need),
            "prices": prices.map(|it| json!({ "currency": it.currency, "as_of": it.as_of })),
            "offers": offers.collect::<Vec<_>>(),
            "cheaper_and_doubtful": self.cheaper.as_ref().map(|it| self.cheaper_json(it)),
            "machines": self.machines,
            "one_machine_misses": self.single.as_ref().map(line_json),
            "failed": self.unproven.iter().map(failed_json).collect::<Vec<_>>(),
            "untried": self.untried,
            "ruled_out": ruled_out_json(&self.ruled_out, prices),
            "nothing": nothing,
            "searched": searched,
        })
    }

    fn offer_json(&self, offer: &Offer) -> Value {
        let (candidate, prices) = (&offer.candidate, self.prices.as_ref());
        let cost = &offer.cost;
        let parts = Bought::of(&self.need, candidate, prices);
        let parts = parts.iter().map(|part| part_json(part, prices));
        let binds = offer.first_to_bind().map(|(line, ratio)| {
            json!({ "limit": line.owner, "unit": suffix(line.unit), "times_the_need": ratio, "raise": line.raise })
        });
        json!({
            "title": offer.title(),
            "era": candidate.vm.era.name(),
            "machine": candidate.vm.name,
            "machines": candidate.machines,
            "month": money(Some(cost.price), prices),
            "provisioned": provisioned_json(cost),
            "parts": parts.collect::<Vec<_>>(),
            "limits": offer.lines.iter().map(line_json).collect::<Vec<_>>(),
            "binds_first": binds,
            "headroom": headroom_json(&offer.headroom),
            "advice": offer.advice,
            "doubts": self.doubts(offer),
            "proof": self.proof_json(offer),
            "design_toml": offer.design,
            "workload_toml": offer.workload,
        })
    }

    /// What is cheaper than the first offer, and why it is not the first.
    fn cheaper_json(&self, cheaper: &Cheaper) -> Value {
        json!({
            "title": cheaper.title,
            "month": money(Some(cheaper.cost.price), self.prices.as_ref()),
            "provisioned": provisioned_json(&cheaper.cost),
            "offer": cheaper.offer,
            "why": cheaper.why,
        })
    }

    /// What is unsure of an offer, in the words of the text.
    fn doubts(&self, offer: &Offer) -> Vec<String> {
        let own = [
            offer.without_headroom().map(str::to_owned),
            self.on_credits(offer),
        ];
        let of_machine = offer.of_machine();
        let of_machine = of_machine.map(|words| format!("DOUBTFUL: {words}"));
        let of_proof = match &offer.proof {
            Proven::Yes(proof) => proof
                .volumes
                .iter()
                .filter_map(ProvenVolume::doubt)
                .collect(),
            Proven::No(seconds) => vec![not_proven(*seconds)],
        };
        own.into_iter()
            .flatten()
            .chain(of_machine)
            .chain(of_proof)
            .collect()
    }

    fn proof_json(&self, offer: &Offer) -> Value {
        let share = match offer.credits {
            OnCredits::Without | OnCredits::Unspent => None,
            OnCredits::Share(share) => Some(share),
        };
        let (volumes, seconds) = match &offer.proof {
            Proven::Yes(proof) => (proof.volumes.as_slice(), None),
            Proven::No(seconds) => (&[][..], Some(*seconds)),
        };
        json!({
            "proven": offer.proof.proof().is_some(),
            "would_take_s": seconds,
            "credits": offer.proof.proof().and_then(|_| self.proven_on(offer.credits)),
            "credits_percent": share.map(percent),
            "volumes": volumes.iter().map(proven_json).collect::<Vec<_>>(),
        })
    }
}

/// What a design is ranked by without prices.
fn provisioned_json(cost: &Cost) -> Value {
    json!({
        "vcpus": cost.vcpus,
        "memory_bytes": cost.memory,
        "iops": cost.iops,
        "network_bandwidth_bytes_per_sec": cost.bandwidth,
        "capacity_bytes": cost.capacity,
    })
}

fn names(families: impl Iterator<Item = Family>) -> Vec<&'static str> {
    families.map(Family::name).collect()
}

fn percent(share: Percent) -> f64 {
    f64::from(share.basis_points()) / 100.0
}

/// An amount of money beside its currency; nothing without a price list.
fn money(millionths: Option<u64>, prices: Option<&Prices>) -> Value {
    let amount = millionths.zip(prices);
    amount.map_or(Value::Null, |(millionths, prices)| {
        json!({ "amount": millionths as f64 / 1e6, "currency": prices.currency })
    })
}

fn need_json(need: &Need) -> Value {
    json!({
        "name": need.name,
        "percentile": need.level.name(),
        "growth": f64::from(need.growth.hundredths()) / 100.0,
        "machine": machine_json(need.machine),
        "volumes": need.volumes.iter().map(volume_json).collect::<Vec<_>>(),
        "assumed": need.assumed,
        "notes": need.notes,
    })
}

fn machine_json(machine: MachineNeed) -> Value {
    let known = |figure: u64| Some(figure).filter(|figure| *figure > 0);
    json!({
        "vcpus": known(machine.processors).map(|hundredths| hundredths as f64 / 100.0),
        "memory_bytes": known(machine.memory.get()),
    })
}

fn volume_json(volume: &VolumeNeed) -> Value {
    let capacity = Some(volume.capacity).filter(|it| *it != Bytes::ZERO);
    json!({
        "volume": volume.name,
        "role": volume.role.name(),
        "capacity_bytes": capacity.map(Bytes::get),
        "latency_goal": goals_json(&volume.goal),
        "periods": volume.loads.iter().map(load_json).collect::<Vec<_>>(),
    })
}

fn load_json(load: &Load) -> Value {
    json!({
        "period": load.period.name(),
        "iops": load.iops.get(),
        "bandwidth_bytes_per_sec": load.bandwidth.get(),
        "size_bytes": load.size.get(),
        "reads_percent": load.reads.map(percent),
        "random_percent": percent(load.random),
    })
}

/// `{"p99_ns": 5000000}`.
fn goals_json(goals: &[(Level, Nanos)]) -> Value {
    let goals = goals.iter();
    goals
        .map(|(level, goal)| (format!("{}_ns", level.name()), json!(goal.get())))
        .collect::<Map<_, _>>()
        .into()
}

fn part_json(part: &Bought, prices: Option<&Prices>) -> Value {
    let each = part.each.map(|each| {
        json!({
            "size_bytes": each.size.get(),
            "iops": each.iops.map(Iops::get),
            "bandwidth_bytes_per_sec": each.bandwidth.map(|(_, rate)| BytesPerSec::get(rate)),
            "bursts_on_demand": each.on_demand,
            "performance_plus": each.performance_plus,
            "pool_bytes": each.pool.map(Bytes::get),
        })
    });
    json!({
        "to_buy": part.what,
        "volume": part.volume,
        "item": part.item,
        "count": part.count,
        "each": each,
        "month": money(part.price, prices),
    })
}

/// What a limit's figures end in.
const fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Iops => "iops",
        Unit::Bandwidth | Unit::BinaryBandwidth => "bandwidth_bytes_per_sec",
        Unit::BinaryBandwidthWritten => "written_bytes_per_sec",
        Unit::Capacity => "bytes",
        Unit::Disks => "disks",
        Unit::Processors => "vcpus",
        Unit::Memory => "memory_bytes",
        Unit::Outstanding => "ios_outstanding",
    }
}

fn line_json(line: &Line) -> Value {
    let unit = suffix(line.unit);
    let value = |value: u64| match line.unit {
        Unit::Processors => json!(value as f64 / 100.0),
        _ => json!(value),
    };
    let printed = |limit: u64| Some(limit).filter(|limit| *limit != u64::MAX).map(value);
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("limit", json!(line.owner));
    put("unit", json!(unit));
    put(&format!("need_{unit}"), value(line.need));
    put(&format!("have_{unit}"), json!(printed(line.have)));
    put(&format!("steady_{unit}"), json!(printed(line.steady)));
    let headroom = line.headroom().map(|ratio| (ratio - 1.0) * 100.0);
    put("headroom_percent", json!(headroom));
    put("period", json!(line.period.map(PeriodKind::name)));
    let credits = line.credits.map(|credits| {
        let pairs = [("spent", credits.spent), ("saved", credits.saved)];
        let keyed = pairs.map(|(key, value)| (format!("{key}_{unit}"), json!(value)));
        Value::Object(keyed.into_iter().collect())
    });
    put("credits", credits.unwrap_or_default());
    put("raise", json!(line.raise));
    Value::Object(object)
}

fn headroom_json(headroom: &Headroom) -> Value {
    json!({
        "percent": headroom.percent,
        "beyond": match headroom.basis {
            Basis::Rates => "rates",
            Basis::Goals => "rates-and-goals",
        },
        "volumes": headroom.volumes,
    })
}

fn proven_json(proven: &ProvenVolume) -> Value {
    let response = proven.response.iter().map(|(name, times)| {
        let times = json!({
            "mean": times.mean,
            "p50": times.p50.get(),
            "p90": times.p90.get(),
            "p99": times.p99.get(),
            "max": times.max.get(),
        });
        ((*name).to_owned(), json!({ "response_ns": times }))
    });
    let mut object: Map<_, _> = response.collect();
    object.insert("volume".to_owned(), json!(proven.volume));
    object.insert("period".to_owned(), json!(proven.period.name()));
    object.insert("iops".to_owned(), json!(proven.iops));
    object.insert("needed_iops".to_owned(), json!(proven.iops_needed));
    object.insert("latency_goal".to_owned(), goals_json(&proven.goal));
    let unloaded = proven.unloaded.map(Nanos::get);
    object.insert("unloaded_mean_ns".to_owned(), json!(unloaded));
    Value::Object(object)
}

/// A design whose limits suffice, and how it fails its proof.
fn failed_json(failed: &Unproven) -> Value {
    let failure = &failed.failure;
    let misses = match failure.misses {
        Misses::Rate => "rate".to_owned(),
        Misses::Goal(level, way) => format!("{} of {way}", level.name()),
    };
    json!({
        "title": failed.title,
        "volume": failure.volume,
        "period": failure.period.name(),
        "misses": misses,
        "why": failure.to_string(),
    })
}

/// What carries nothing: machine sizes by rule, and what comes closest.
fn ruled_out_json(ruled_out: &RuledOut, prices: Option<&Prices>) -> Value {
    let rules = ruled_out.rules.iter().map(|(rule, (count, example))| {
        json!({
            "rule": rule_name(*rule),
            "machine_sizes": count,
            "such_as": example,
            "why": rule.words(),
        })
    });
    let slow = ruled_out.slow.as_ref().map(|(volume, slow)| {
        json!({
            "volume": volume,
            "item": slow.item,
            "percentile": slow.level.name(),
            "parts_of_an_io": slow.parts,
            "alone_ns": slow.alone.get(),
            "goal_ns": slow.goal.get(),
            "why": slow.to_string(),
        })
    });
    let dear = ruled_out
        .dear
        .as_ref()
        .map(|(price, title)| json!({ "title": title, "month": money(Some(*price), prices) }));
    json!({
        "rules": rules.collect::<Vec<_>>(),
        "closest": ruled_out.closest.as_ref().map(line_json),
        "too_slow": slow,
        "too_dear": dear,
    })
}

const fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::NoStorage => "no-storage",
        Rule::TooSlow => "too-slow",
        Rule::Machine => "machine-limits",
        Rule::BurstableProcessors => "burstable-processors",
        Rule::NoLimitsPrinted => "no-limits-printed",
        Rule::NoPrice => "no-price",
        Rule::TooDear => "too-dear",
    }
}
