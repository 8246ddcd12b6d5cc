//! What is said where nothing carries a need: what comes closest, and what can be done.

use fathom_catalog::Catalog;
use fathom_report::Lines;

use crate::ruled_out::Rule;
use crate::text::sentence;
use crate::{Plan, family_of};

impl Plan {
    /// That nothing carries the need, and what comes closest.
    pub(crate) fn write_nothing(&self, text: &mut Lines) {
        let mut margin = "";
        text.push_str("\n");
        for words in self.nothing() {
            sentence(text, margin, &words);
            margin = "  ";
        }
    }

    /// The same as sentences, the first of which says it.
    pub(crate) fn nothing(&self) -> Vec<String> {
        let proof = if self.unproven.is_empty() {
            ""
        } else {
            " and passes its proof"
        };
        let words = format!("NOTHING in the catalogue, as it was searched, carries this{proof}.");
        let mut told = vec![words];
        if let Some(words) = self.unpriced() {
            told.push(words);
            return told;
        }
        // Where limits suffice and proofs fail, no limit is in the way.
        let closest = self.ruled_out.closest.as_ref();
        if let Some(line) = closest.filter(|_| self.unproven.is_empty()) {
            told.push(format!(
                "closest: {} gives {}, {} are needed: {:.2} times as much",
                line.owner,
                line.unit.figure(line.have),
                line.unit.figure(line.need),
                line.missing()
            ));
        }
        if let Some(((price, title), prices)) =
            self.ruled_out.dear.as_ref().zip(self.prices.as_ref())
        {
            let price = prices.amount(*price);
            told.push(format!(
                "the cheapest that carries it: {title}, {price} a month"
            ));
        }
        if let Some((volume, slow)) = &self.ruled_out.slow {
            told.push(format!("closest: `{volume}`: {slow}"));
        }
        if self.ruled_out.slow.is_some() || !self.unproven.is_empty() {
            told.push(self.of_goals());
        }
        told.push(match self.machines {
            1 => "tried with 1 machine".to_owned(),
            several => format!("tried with up to {several} machines"),
        });
        told
    }

    /// What can be done where storage, or a design by its proof, is too slow.
    fn of_goals(&self) -> String {
        let names: Vec<_> = self.unsearched.iter().map(|it| it.name()).collect();
        let others = if names.is_empty() {
            String::new()
        } else {
            format!(
                ", or search other storage too (not searched: --family {})",
                names.join(", ")
            )
        };
        format!(
            "what can be done: allow more latency (`latency_goal`), ask for smaller I/Os or fewer{others}"
        )
    }

    /// That the price list has no price of any machine, or of any storage, that was searched: then nothing else is in the way.
    fn unpriced(&self) -> Option<String> {
        let prices = self.prices.as_ref()?;
        let of_storage = |item: &str| {
            let family = family_of(item, Catalog::builtin());
            family.is_some_and(|family| !self.unsearched.contains(&family))
        };
        let (what, example) = if self.ruled_out.rules.keys().eq([&Rule::NoPrice]) {
            ("machine size", "Standard_D8s_v5")
        } else if prices
            .items()
            .any(|item| of_storage(item) && prices.has(item))
        {
            return None;
        } else {
            ("storage", "P30")
        };
        Some(format!(
            "the price list has no price of any {what} that was searched, and what is on no list is not offered: add prices of what \
             you may buy by the catalogue's names, such as `item = \"{example}\"`, or plan without `--prices`"
        ))
    }
}
