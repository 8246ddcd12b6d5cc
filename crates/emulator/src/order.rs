//! Orders to a running server: faults, changes, and what it is asked.
//!
//! An order is a list of words, as `fathom ctl` has them after its own options, and as fault scripts write them in one text.

use fathom_model::{Action, Change, Factor, NewLimit};
use fathom_units::{Bytes, BytesPerSec, Iops, Percent};

/// What an order may be, for help and errors.
pub(crate) const GRAMMAR: &str =
    "  crash [--vm VM] [--torn]     hosts fail: unflushed cached writes are lost
  detach PART, attach PART     a volume (or all of a machine) is gone, is back
  slow PART FACTOR             everything there takes FACTOR times as long
  stall PART, resume PART      nothing leaves it, it goes on
  eio PART [SHARE]             I/Os fail (all, or such a share: 5%); 0% ends it
  limits PART [iops=N|none] [bandwidth=RATE|none]
  restore PART                 as the design says
  warm VOLUME                  its blocks are in the host cache
  stats                        depth, limits, hits and credits of every part";

/// Something that a server is told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// Hosts fail.
    Crash {
        /// This one; `None`: all.
        vm: Option<String>,
        /// Whether writes that were under way may be on their disks in part.
        torn: bool,
    },
    /// A part of the storage changes.
    Change(Change),
    /// A volume's blocks come into the host cache.
    Warm(String),
    /// What every part does.
    Stats,
}

/// Why words are no order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The first word is none of the orders.
    #[error("`{0}` is no order; orders are:\n{GRAMMAR}")]
    Unknown(String),
    /// There are none.
    #[error("no order was given; orders are:\n{GRAMMAR}")]
    Empty,
    /// Words are missing, or too many.
    #[error("`{order}` takes {takes}")]
    Words {
        /// The order.
        order: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A value cannot be read.
    #[error("`{value}` cannot be read: {why}")]
    Value {
        /// As given.
        value: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Order {
    /// The order that words are.
    pub fn parse(words: &[String]) -> Result<Self, OrderError> {
        let (order, rest) = words.split_first().ok_or(OrderError::Empty)?;
        let takes = |takes| OrderError::Words {
            order: order.clone(),
            takes,
        };
        let part = || match rest {
            [part] => Ok(part.clone()),
            _ => Err(takes("one part of the storage")),
        };
        let change = |part: String, action| Self::Change(Change { part, action });
        Ok(match order.as_str() {
            "crash" => crash(rest).ok_or_else(|| takes("`--vm VM`, `--torn`, or nothing"))?,
            "stats" if rest.is_empty() => Self::Stats,
            "stats" => return Err(takes("nothing")),
            "warm" => Self::Warm(part()?),
            "detach" => change(part()?, Action::Detach),
            "attach" => change(part()?, Action::Attach),
            "stall" => change(part()?, Action::Stall),
            "resume" => change(part()?, Action::Resume),
            "restore" => change(part()?, Action::Restore),
            "slow" => match rest {
                [part, factor] => change(part.clone(), Action::Slow(value::<Factor>(factor)?)),
                _ => return Err(takes("a part of the storage and a factor")),
            },
            "eio" => match rest {
                [part] => change(part.clone(), Action::Fail(value::<Percent>("100%")?)),
                [part, share] => change(part.clone(), Action::Fail(share_of(share)?)),
                _ => return Err(takes("a part of the storage and a share")),
            },
            "limits" => match rest {
                [part, limits @ ..] if !limits.is_empty() => {
                    change(part.clone(), new_limits(limits)?)
                }
                _ => {
                    return Err(takes(
                        "a part of the storage, and `iops=N`, `bandwidth=RATE` or both",
                    ));
                }
            },
            _ => return Err(OrderError::Unknown(order.clone())),
        })
    }
}

fn share_of(words: &str) -> Result<Percent, OrderError> {
    let share = value::<Percent>(words)?;
    if share == Percent::ZERO && words.contains(|digit: char| matches!(digit, '1'..='9')) {
        return Err(OrderError::Value {
            value: words.to_owned(),
            why: "the smallest share is `0.01%`".to_owned(),
        });
    }
    Ok(share)
}

fn crash(words: &[String]) -> Option<Order> {
    let (mut vm, mut torn) = (None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--torn" => torn = true,
            "--vm" => vm = Some(words.next()?.clone()),
            other => vm = Some(other.strip_prefix("--vm=")?.to_owned()),
        }
    }
    Some(Order::Crash { vm, torn })
}

fn new_limits(words: &[String]) -> Result<Action, OrderError> {
    let (mut iops, mut bandwidth) = (NewLimit::Keep, NewLimit::Keep);
    for word in words {
        let is_there = match word.split_once('=') {
            Some(("iops", _)) => iops != NewLimit::Keep,
            Some(("bandwidth", _)) => bandwidth != NewLimit::Keep,
            _ => false,
        };
        if is_there {
            return Err(OrderError::Value {
                value: word.clone(),
                why: "this limit has been given before it".to_owned(),
            });
        }
        match word.split_once('=') {
            Some(("iops", "none")) => iops = NewLimit::Lift,
            Some(("iops", rate)) => {
                let rate = whole(rate).map_or_else(|| value::<Iops>(rate), Ok);
                iops = NewLimit::Set(rate?);
            }
            Some(("bandwidth", "none")) => bandwidth = NewLimit::Lift,
            Some(("bandwidth", rate)) => bandwidth = NewLimit::Set(value::<BytesPerSec>(rate)?),
            _ => {
                return Err(OrderError::Value {
                    value: word.clone(),
                    why: "a limit is `iops=N` or `bandwidth=RATE`, such as `bandwidth=200MB/s`"
                        .to_owned(),
                });
            }
        }
    }
    Ok(Action::Limits { iops, bandwidth })
}

/// A bare number is I/Os a second, as in a design.
fn whole(text: &str) -> Option<Iops> {
    text.parse().ok().map(Iops::new)
}

fn value<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, OrderError> {
    text.parse().map_err(|error: T::Err| OrderError::Value {
        value: text.to_owned(),
        why: error.to_string(),
    })
}

/// Bytes in words, for replies.
pub(crate) fn bytes(count: u64) -> String {
    Bytes::new(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Order, OrderError> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Order::parse(&words)
    }

    #[track_caller]
    fn check(line: &str, part: &str, action: Action) {
        let part = part.to_owned();
        assert_eq!(parsed(line), Ok(Order::Change(Change { part, action })));
    }

    #[test]
    fn orders_are_understood() {
        let crash = |vm: Option<&str>, torn| Order::Crash {
            vm: vm.map(str::to_owned),
            torn,
        };
        assert_eq!(parsed("crash"), Ok(crash(None, false)));
        assert_eq!(parsed("crash --torn --vm db"), Ok(crash(Some("db"), true)));
        assert_eq!(parsed("crash --vm=db"), Ok(crash(Some("db"), false)));
        check("detach data", "data", Action::Detach);
        check(
            "slow vm/data 2.5",
            "vm/data",
            Action::Slow("2.5".parse().unwrap()),
        );
        check("eio data", "data", Action::Fail("100%".parse().unwrap()));
        check("eio data 5%", "data", Action::Fail("5%".parse().unwrap()));
        let limits = Action::Limits {
            iops: NewLimit::Set(Iops::new(100)),
            bandwidth: NewLimit::Lift,
        };
        check("limits data iops=100 bandwidth=none", "data", limits);
        assert_eq!(parsed("stats"), Ok(Order::Stats));
    }

    #[test]
    fn what_is_no_order_is_told() {
        for (line, expected) in [
            ("", "no order was given"),
            ("explode", "`explode` is no order"),
            ("crash db", "`crash` takes"),
            ("crash --vm", "`crash` takes"),
            ("slow data", "`slow` takes"),
            ("slow data fast", "`fast` cannot be read"),
            ("eio data 500%", "`500%` cannot be read"),
            ("eio data 0.001%", "`0.001%` cannot be read"),
            ("limits data", "`limits` takes"),
            ("limits data size=3", "`size=3` cannot be read"),
            (
                "limits data iops=3 iops=4",
                "`iops=4` cannot be read: this limit has been given",
            ),
            ("stats all", "`stats` takes nothing"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
