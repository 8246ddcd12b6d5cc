//! `rate_from` of a stage, read and written.

use toml::Value as Toml;

use super::fields::{Reader, Value};
use super::words::{Words, word};
use crate::{RateFrom, RateRounding, RateShares, Stage};

const ROUNDINGS: Words<RateRounding> = &[
    ("nearest", RateRounding::Nearest),
    ("up-to-hundreds", RateRounding::UpToHundreds),
];

const SHARES: Words<RateShares> = &[
    ("as-given", RateShares::AsGiven),
    ("as-measured", RateShares::AsMeasured),
];

impl Reader<'_> {
    /// `earlier`: the stages before this one.
    pub(super) fn rate_from(&mut self, value: &Value<'_>, earlier: &[Stage]) -> Option<RateFrom> {
        let mut fields = self.fields(value, "`rate_from`")?;
        let stage = fields.require("stage", self);
        let percent = fields.require("percent", self);
        let round = fields.get("round");
        let shares = fields.get("shares");
        fields.finish(self);
        let stage = stage.and_then(|value| {
            let name = self.text(value)?;
            let found = earlier.iter().position(|stage| stage.name == name);
            if found.is_none() {
                let message = format!("no stage before this one is called `{name}`");
                self.error(value.span(), message, "name the stage that is measured");
            }
            found
        });
        let percent = percent.and_then(|value| {
            let text = self.text(value)?;
            let number = text
                .strip_suffix('%')
                .and_then(|text| text.trim().parse().ok());
            if number.is_none() {
                let message = format!("`{text}` is no percentage");
                self.error(value.span(), message, "write it like \"50%\"");
            }
            number
        });
        let rounding = round.and_then(|value| self.word(value, ROUNDINGS));
        let shares = shares.and_then(|value| self.word(value, SHARES));
        Some(RateFrom {
            stage: stage?,
            percent: percent?,
            rounding: rounding.unwrap_or_default(),
            shares: shares.unwrap_or_default(),
        })
    }
}

/// As the reader takes it. A workload that was not validated may name a stage that is not there.
pub(super) fn rate_from(rate: &RateFrom, stages: &[Stage]) -> Toml {
    let stage = stages.get(rate.stage);
    let name = stage.map_or_else(String::new, |stage| stage.name.clone());
    let mut table = toml::Table::new();
    table.insert("stage".to_owned(), name.into());
    table.insert("percent".to_owned(), format!("{}%", rate.percent).into());
    table.insert("round".to_owned(), word(ROUNDINGS, &rate.rounding).into());
    table.insert("shares".to_owned(), word(SHARES, &rate.shares).into());
    Toml::Table(table)
}
