//! A plan in words.

use std::fmt::{self, Write as _};

use fathom_profile::{Growth, Level, PeriodKind};
use fathom_report::{Lines, Width};
use fathom_units::{Nanos, counted, group_digits};

use crate::bought::Bought;
use crate::candidate::{Candidate, Storage};
use crate::line::{Line, Unit};
use crate::offer::{Offer, OnCredits, Proven};
use crate::proof::ProvenVolume;
use crate::rounds::{Basis, Headroom, Unproven};
use crate::{Cheaper, Cost, Plan, Prove};

/// Most reasons that designs fail their proofs for which are told.
const MOST_FAILURES: usize = 3;

/// How often peaks come back.
const DAY: Nanos = Nanos::from_secs(24 * 3600);

/// A time in whole minutes, or in hours to a tenth.
fn hours(time: Nanos) -> String {
    let minutes = time.get().div_ceil(60_000_000_000);
    if minutes < 120 {
        format!("{minutes} min")
    } else {
        format!("{:.1} h", minutes as f64 / 60.0)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(Width::PLAIN))
    }
}

impl Plan {
    /// The plan for a screen of a width: as it is displayed, or narrower.
    pub fn to_text(&self, width: Width) -> String {
        let mut text = Lines::new(width);
        self.write_unproven(&mut text);
        self.write_need(&mut text);
        self.write_cheaper(&mut text);
        for (index, offer) in self.offers.iter().enumerate() {
            self.write_offer(&mut text, index + 1, offer);
        }
        self.write_rest(&mut text);
        text.finish()
    }

    /// Where proofs were wanted and no offer has one: that, and what gives more.
    fn write_unproven(&self, text: &mut Lines) {
        let seconds = self.offers.iter().map(|offer| match offer.proof {
            Proven::Yes(_) => None,
            Proven::No(seconds) => Some(seconds),
        });
        let seconds: Option<Vec<_>> = seconds.collect();
        let first = seconds.as_ref().and_then(|each| each.first());
        let Some(first) = first.filter(|_| self.prove != Prove::Never) else {
            return;
        };
        let failed = match self.unproven.len() {
            0 => String::new(),
            1 => "1 other failed its proof, and ".to_owned(),
            several => format!("{several} others failed their proofs, and "),
        };
        let words = format!(
            "NOT PROVEN: none of the designs below was predicted under this load; {failed}the first alone takes about {first} s. \
             Ask for it with `--prove`, which offers none that fails"
        );
        sentence(text, "", &words);
        text.push_str("\n");
    }

    fn write_need(&self, text: &mut Lines) {
        let growth = match self.need.growth {
            Growth::NONE => String::new(),
            growth => format!(" after growth of {growth}"),
        };
        let _ = writeln!(text, "NEED at {}{growth}", self.need.level);
        let names = self.need.volumes.iter();
        let names = widest(names.map(|volume| volume.name.as_str()));
        for volume in &self.need.volumes {
            for load in &volume.loads {
                let reads = load
                    .reads
                    .map_or("reads unknown".to_owned(), |it| format!("{it} reads"));
                let words = format!(
                    "{:names$} {:9} {} of {}, {}, {reads}, {} random",
                    volume.name,
                    load.period.name(),
                    load.iops,
                    load.size,
                    Unit::Bandwidth.figure(load.bandwidth.get()),
                    load.random,
                );
                sentence(text, "  ", &words);
            }
        }
        if let Some(words) = self.need.machine.told() {
            sentence(text, "  ", &words);
        }
        for assumed in &self.need.assumed {
            sentence(text, "  ", &format!("assumed: {assumed}"));
        }
        for note in &self.need.notes {
            sentence(text, "  ", &format!("note: {note}"));
        }
    }

    /// That a design is cheaper than the first offer, and why it is not the first.
    fn write_cheaper(&self, text: &mut Lines) {
        let Some(cheaper) = &self.cheaper else {
            return;
        };
        let less = if self.prices.is_some() {
            "a cheaper design"
        } else {
            "a design with less to provision"
        };
        let place = match cheaper.offer {
            Some(place) => format!("it is {place}. below"),
            None => "`--offers 2` shows it".to_owned(),
        };
        let Cheaper { title, why, .. } = cheaper;
        let cost = self.cost(&cheaper.cost);
        let words = format!(
            "{less} is not the first, for it is DOUBTFUL: {title}: {cost}: {why} ({place})"
        );
        text.push_str("\n");
        sentence(text, "", &words);
    }

    fn write_offer(&self, text: &mut Lines, number: usize, offer: &Offer) {
        let vm = offer.candidate.vm;
        let (title, cost) = (offer.title(), self.cost(&offer.cost));
        text.push_str("\n");
        sentence(
            text,
            "",
            &format!("{number}. {title}: {cost} (era {})", vm.era),
        );
        self.write_bought(text, offer);
        write_limits(text, &offer.lines);
        if let Some(words) = of_each_machine(&offer.candidate) {
            sentence(text, "   ", &words);
        }
        if let Some((line, ratio)) = offer.first_to_bind() {
            let words = format!(
                "binds first: {}, at {ratio:.2} times the need; to grow beyond: {}",
                line.owner, line.raise
            );
            sentence(text, "   ", &words);
        }
        if let Some(words) = offer.without_headroom() {
            sentence(text, "   ", words);
        }
        if let Some(words) = self.on_credits(offer) {
            sentence(text, "   ", &words);
        }
        for words in offer.of_machine() {
            sentence(text, "   ", &format!("DOUBTFUL: {words}"));
        }
        if offer.headroom.percent > 0 {
            sentence(text, "   ", &self.with_headroom(&offer.headroom));
        }
        for words in &offer.advice {
            sentence(text, "   ", words);
        }
        match &offer.proof {
            Proven::Yes(proof) => {
                for proven in &proof.volumes {
                    write_proof(text, proven);
                }
                if let Some(words) = self.proven_on(offer.credits) {
                    sentence(text, "   ", &words);
                }
            }
            Proven::No(seconds) => sentence(text, "   ", &not_proven(*seconds)),
        }
    }

    /// What an offer was planned with beyond the need, and why.
    fn with_headroom(&self, headroom: &Headroom) -> String {
        let of = match &headroom.volumes {
            None => String::new(),
            Some(names) => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                format!(" for {}", names.join(" and "))
            }
        };
        let beyond = match headroom.basis {
            Basis::Rates => "",
            Basis::Goals => " beyond its rates and what its latency goal asks for",
        };
        let waits = |offer: &Offer| offer.waits(self.prove).is_some();
        let some_wait = self.cheaper.is_some() || self.offers.iter().any(waits);
        let why = match (self.unproven.is_empty(), some_wait) {
            (true, _) => "since the I/Os of designs with less wait for each other",
            (false, true) => {
                "since designs with less fail their proof, or their I/Os wait for each other"
            }
            (false, false) => "since designs with less fail their proof",
        };
        format!(
            "planned with {} % of headroom{of}{beyond}, {why}",
            headroom.percent
        )
    }

    /// What is ordered, and what each part of it costs.
    fn write_bought(&self, text: &mut Lines, offer: &Offer) {
        let prices = self.prices.as_ref();
        for part in Bought::of(&self.need, &offer.candidate, prices) {
            let price = prices.zip(part.price);
            let price = price.map(|(prices, price)| format!(": {}", prices.amount(price)));
            let words = format!("to buy: {}{}", part.what, price.unwrap_or_default());
            sentence(text, "   ", &words);
        }
    }

    /// How long credits last, and when they are back, where a peak spends any.
    pub(crate) fn on_credits(&self, offer: &Offer) -> Option<String> {
        let spends = offer.lines.iter().any(Line::spends_credits);
        let peak = self.burst.filter(|_| spends)?;
        let credits = || offer.lines.iter().filter_map(|line| line.credits);
        let slowest = credits().map(|it| it.refill(peak));
        // Never is later than any time.
        let slowest = slowest.max_by_key(|it| it.map_or((1, Nanos::ZERO), |time| (0, time)));
        let has_others = self.need.periods().any(|it| it != PeriodKind::Peak);
        let while_saving = if has_others {
            "the busiest other period"
        } else {
            "no I/O at all, for the profile has no other period"
        };
        let refill = match slowest.flatten() {
            None => "and not all are ever full again, since another period needs all that is given without credits: \
                     they carry one peak alone"
                .to_owned(),
            Some(time) if time.saturating_add(peak) > DAY => format!(
                "which are full again after {} of {while_saving}: TOO LATE for a peak every day",
                hours(time)
            ),
            Some(time) => format!("which are full again after {} of {while_saving}", hours(time)),
        };
        Some(format!(
            "on credits: the lines with * hold in the peak, for {peak} from full buckets, {refill}"
        ))
    }

    /// Which credits the predictions of an offer spent, where it has any: its design file has full buckets.
    pub(crate) fn proven_on(&self, credits: OnCredits) -> Option<String> {
        const FULL: &str = "the design file starts with full buckets, so that `fathom predict` on it may be faster until they are empty \
             (`burst = \"off\"` in it: as without)";
        match credits {
            OnCredits::Without => None,
            OnCredits::Unspent => Some(format!("predicted without credits; {FULL}")),
            OnCredits::Share(share) => {
                let peak = self.burst.unwrap_or_default();
                Some(format!(
                    "the peak is predicted on {share} of full buckets, for as much of its {peak}, and other periods without credits; {FULL}"
                ))
            }
        }
    }

    /// What an offer is ranked by.
    fn cost(&self, cost: &Cost) -> String {
        if let Some(prices) = &self.prices {
            return format!("{} a month", prices.amount(cost.price));
        }
        let mut parts = vec![format!("{} vCPU", cost.vcpus)];
        if cost.iops > 0 {
            parts.push(format!(
                "{} provisioned",
                fathom_units::Iops::new(cost.iops)
            ));
        }
        if cost.bandwidth > 0 {
            let rate = Unit::BinaryBandwidth.figure(cost.bandwidth);
            parts.push(format!("{rate} provisioned over the network"));
        }
        parts.join(", ")
    }

    /// Designs that failed their proofs: the first for each reason.
    fn write_failures(&self, text: &mut Lines) {
        let mut reasons: Vec<(&Unproven, usize)> = Vec::new();
        for failed in &self.unproven {
            let mut known = reasons.iter_mut();
            match known.find(|(first, _)| first.failure.is_like(&failed.failure)) {
                Some((_, count)) => *count += 1,
                None => reasons.push((failed, 1)),
            }
        }
        for (first, count) in reasons.iter().take(MOST_FAILURES) {
            let others = match count {
                1 => String::new(),
                more => format!("; {} more fail so", more - 1),
            };
            let Unproven { title, failure } = first;
            let words =
                format!("not offered, though its limits suffice: {title}: {failure}{others}");
            text.push_str("\n");
            sentence(text, "", &words);
        }
        let more = reasons.iter().skip(MOST_FAILURES).map(|(_, count)| count);
        let more: usize = more.sum();
        if more > 0 {
            let _ = writeln!(text, "  and {more} more, for other reasons");
        }
    }

    fn write_rest(&self, text: &mut Lines) {
        if self.offers.is_empty() {
            self.write_nothing(text);
        }
        if let Some(line) = self.single.as_ref().filter(|_| !self.offers.is_empty()) {
            let words = format!(
                "one machine is not enough: at best, {} gives {}, {} are needed; {} machines are the fewest",
                line.owner,
                line.unit.figure(line.have),
                line.unit.figure(line.need),
                self.machines
            );
            text.push_str("\n");
            sentence(text, "", &words);
        }
        self.write_failures(text);
        if self.untried > 0 {
            let words = format!(
                "{} more with as little headroom are not offered, since predicting them takes too long: `--prove` tries them",
                self.untried
            );
            text.push_str("\n");
            sentence(text, "", &words);
        }
        let words = format!(
            "searched in full: {}, {} of kinds of storage",
            counted(self.sizes as u64, ("machine size", "machine sizes")),
            counted(self.combinations, ("combination", "combinations"))
        );
        text.push_str("\n");
        sentence(text, "", &words);
        for (rule, (count, example)) in &self.ruled_out.rules {
            let words = format!("{count} ruled out: {} (such as {example})", rule.words());
            sentence(text, "  ", &words);
        }
        let ranked = match &self.prices {
            Some(prices) => {
                let as_of = prices.as_of.as_deref();
                let as_of = as_of.map_or(String::new(), |as_of| format!(" of {as_of}"));
                format!("ranked by the price list{as_of}")
            }
            None => "no prices were given: ranked by what is provisioned (vCPU, then memory, then \
                     IOPS of disks and shares, bandwidth over the network, and space)"
                .to_owned(),
        };
        let credits = match self.burst {
            None => "credits are left out, for they run out".to_owned(),
            Some(peak) => format!("credits carry the peak for {peak}"),
        };
        let paid = if self.on_demand {
            "; bursting on demand is considered, and paid for"
        } else {
            ""
        };
        let plus = if self.performance_plus {
            "; performance plus is considered"
        } else {
            ""
        };
        sentence(text, "  ", &format!("{ranked}; {credits}{paid}{plus}"));
    }
}

/// That an offer was not predicted.
pub fn not_proven(seconds: u64) -> String {
    format!(
        "NOT PROVEN: its limits suffice; a prediction takes about {seconds} s: ask for it with --prove"
    )
}

/// Where there are several machines: which of the limits are one machine's, for its part of the need.
fn of_each_machine(candidate: &Candidate) -> Option<String> {
    let machines = candidate.machines;
    let of = |storage: &Storage| match storage {
        Storage::Disks(_) => "disks",
        Storage::Nfs(_) => "connections",
        Storage::Smb(_) => "channels",
    };
    let mut limits: Vec<_> = candidate.volumes.iter().map(of).collect();
    limits.sort_unstable();
    limits.dedup();
    let limits = limits.join(", ");
    (machines > 1).then(|| {
        format!(
            "each of the {machines} machines does an equal part: limits of {limits} and machines are one machine's, beside its part \
             of the need"
        )
    })
}

/// Columns of the longest.
fn widest<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    let columns = words.map(|word| word.chars().count());
    columns.max().unwrap_or(0)
}

/// The table of limits, as wide as what stands in it; on a screen that is narrower, figures stand below each limit.
fn write_limits(text: &mut Lines, lines: &[Line]) {
    let titles = ["limit", "need", "have", "headroom"].map(str::to_owned);
    let rows: Vec<[String; 4]> = [titles].into_iter().chain(lines.iter().map(row)).collect();
    let [owners, needs, haves] =
        [0, 1, 2].map(|column| widest(rows.iter().map(|row| row[column].as_str())));
    let headrooms = widest(rows.iter().map(|row| row[3].as_str()));
    // A volume's name makes it as wide as it likes: a plain terminal may be too narrow for it, too.
    if 3 + owners + 2 + needs + 2 + haves + 2 + headrooms > text.longest() {
        for [owner, need, have, headroom] in &rows[1..] {
            sentence(text, "   ", owner);
            let words = format!("need {need}, have {have}, headroom {headroom}");
            sentence(text, "     ", &words);
        }
        return;
    }
    for [owner, need, have, headroom] in &rows {
        let _ = writeln!(
            text,
            "   {owner:owners$}  {need:>needs$}  {have:>haves$}  {headroom}"
        );
    }
}

/// A limit, what is needed of it, what it gives, and what is left.
fn row(line: &Line) -> [String; 4] {
    let headroom = line.headroom().map_or_else(
        || "-".to_owned(),
        |ratio| match ratio {
            ..10.0 => format!("{:.0} %", (ratio - 1.0) * 100.0),
            _ => format!("{} times", group_digits(ratio as u64)),
        },
    );
    let credits = if line.spends_credits() { " *" } else { "" };
    [
        line.owner.clone(),
        line.unit.figure(line.need),
        line.unit.figure(line.have),
        headroom + credits,
    ]
}

fn write_proof(text: &mut Lines, proven: &ProvenVolume) {
    let mut words = format!(
        "predicted {}, {}: {} of {} IOPS",
        proven.volume,
        proven.period.name(),
        group_digits(proven.iops.round() as u64),
        group_digits(proven.iops_needed)
    );
    for (name, latency) in &proven.response {
        let figures = Level::ALL.map(|level| format!("{level} {}", latency.at(level)));
        let _ = write!(
            words,
            "; {name} {}, max {}",
            figures.join(", "),
            latency.max
        );
    }
    for (level, goal) in &proven.goal {
        let _ = write!(words, "; goal {level} {goal}: met");
    }
    sentence(text, "   ", &words);
    if let Some(doubt) = proven.doubt() {
        sentence(text, "   ", &doubt);
    }
}

/// Writes a sentence behind a margin, broken between words, with what goes on a little further in.
pub fn sentence(text: &mut Lines, margin: &str, words: &str) {
    text.wrap(margin, words, margin.len() + 4);
}
