//! Rules of thumb, for who has measured nothing.

use fathom_units::{Iops, group_digits};

use crate::{Growth, Level, Levels, Period, PeriodKind, Profile, Role, Volume};

/// A rule that gives I/Os a second for an application of some size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it counts: `users` or `transactions a second`.
    pub counts: &'static str,
    /// The sentence it rests on, and where that was read.
    pub source: &'static str,
    rule: Rule,
}

/// How I/Os a second follow from a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// So many I/Os a second for so many of what is counted.
    Ratio { iops: u64, of: u64 },
    /// On the line between two printed points; nothing is printed beyond the second.
    Line { from: (u64, u64), to: (u64, u64) },
}

/// Why a template gives no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Nothing is counted, or more than anybody has.
    #[error("the template `{template}` takes from 1 to {} {counts}", group_digits(*most))]
    OutOfRange {
        /// Name of the template.
        template: &'static str,
        /// What it counts.
        counts: &'static str,
        /// The most it takes.
        most: u64,
    },
}

/// "How to measure disk performance on Windows", the table of recommendations at its end.
const TEMPLATES: [Template; 3] = [
    Template {
        name: "exchange-2010",
        counts: "users",
        source: "Exchange 2010: 5,000 users who each receive 75 and send 30 mails a day need at least 3,750 IOPS \
                 (guide to measuring IOPS on Windows, recommendations at its end)",
        rule: Rule::Ratio {
            iops: 3750,
            of: 5000,
        },
    },
    Template {
        name: "sql-server",
        counts: "transactions a second",
        source: "SQL Server 2008: 3,500 transactions a second need 28,000 IOPS \
                 (guide to measuring IOPS on Windows, recommendations at its end)",
        rule: Rule::Ratio {
            iops: 28_000,
            of: 3500,
        },
    },
    Template {
        name: "app-server",
        counts: "users",
        source: "a Windows application server for 10 to 100 users needs 10 to 40 IOPS \
                 (guide to measuring IOPS on Windows, recommendations at its end)",
        rule: Rule::Line {
            from: (10, 10),
            to: (100, 40),
        },
    },
];

impl Template {
    /// The names of all.
    pub fn names() -> [&'static str; TEMPLATES.len()] {
        TEMPLATES.map(|template| template.name)
    }

    /// The template of that name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// The most of what it counts.
    pub const fn most(&self) -> u64 {
        match self.rule {
            Rule::Ratio { .. } => 10_000_000,
            Rule::Line { to, .. } => to.0,
        }
    }

    /// What an application with `count` of what is counted needs; all but its I/Os a second is unknown.
    ///
    /// # Errors
    /// A count of 0, or one that the rule says nothing about.
    pub fn profile(&self, count: u64) -> Result<Profile, TemplateError> {
        if count == 0 || count > self.most() {
            return Err(TemplateError::OutOfRange {
                template: self.name,
                counts: self.counts,
                most: self.most(),
            });
        }
        let iops = match self.rule {
            Rule::Ratio { iops, of } => (count * iops).div_ceil(of),
            Rule::Line { from, to } => {
                let steps = count.saturating_sub(from.0);
                from.1 + (steps * (to.1 - from.1)).div_ceil(to.0 - from.0)
            }
        };
        let period = Period {
            iops: Levels::all(Iops::new(iops)),
            ..Period::unknown(PeriodKind::Peak)
        };
        let counts_transactions = self.counts.starts_with("transactions");
        Ok(Profile {
            name: self.name.to_owned(),
            origin: Some(format!(
                "template {} for {} {}: {}",
                self.name,
                group_digits(count),
                self.counts,
                self.source
            )),
            transactions_per_sec: counts_transactions.then_some(count),
            growth: Growth::NONE,
            volumes: vec![Volume {
                name: "data".to_owned(),
                role: Role::Data,
                capacity: None,
                latency_goal: Levels::default(),
                periods: vec![period],
            }],
            ..Profile::default()
        })
    }
}

/// The percentile that needs are read at where nobody says another.
impl Default for Level {
    fn default() -> Self {
        Self::P99
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, count: u64, expected: Option<u64>) {
        let template = Template::by_name(name).expect("a template");
        let profile = template.profile(count).ok();
        let iops = profile.and_then(|profile| profile.volumes[0].periods[0].iops.p99);
        assert_eq!(iops.map(Iops::get), expected, "{name} {count}");
    }

    #[test]
    fn rules_give_the_printed_figures() {
        check("exchange-2010", 5000, Some(3750));
        check("exchange-2010", 1, Some(1));
        check("sql-server", 3500, Some(28_000));
        check("app-server", 1, Some(10));
        check("app-server", 10, Some(10));
        check("app-server", 55, Some(25));
        check("app-server", 100, Some(40));
        check("app-server", 101, None);
        check("sql-server", 0, None);
        check("sql-server", u64::MAX, None);
        let large = TEMPLATES[0].profile(u64::MAX).unwrap_err();
        let small = TEMPLATES[0].profile(0).unwrap_err();
        assert_eq!(large, small);
        let told = "the template `exchange-2010` takes from 1 to 10,000,000 users";
        assert_eq!(large.to_string(), told);
    }
}
