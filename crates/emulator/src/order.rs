//! Orders to a running server: faults, changes, and what it is asked.
//!
//! An order is a list of words, as `fathom ctl` has them after its own options, and as fault scripts write them in one text.

use std::fmt;

use fathom_diagnostics::nearest;
use fathom_model::{Action, Change, Factor, NewLimit};
use fathom_units::{Bytes, Iops, Percent};

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

/// The first words of orders.
const ORDERS: [&str; 11] = [
    "crash", "detach", "attach", "slow", "stall", "resume", "eio", "limits", "restore", "warm",
    "stats",
];

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
    #[error("{}", no_order(.0))]
    Unknown(String),
    /// There are none.
    #[error("no order was given; orders are:\n{GRAMMAR}")]
    Empty,
    /// Words are missing, or too many.
    #[error("`{order}` takes {takes}{}", given(order, words))]
    Words {
        /// The order.
        order: String,
        /// What it takes.
        takes: &'static str,
        /// What it was given.
        words: Vec<String>,
    },
    /// A value cannot be read.
    #[error("{}", unless_told(word, why))]
    Value {
        /// As given.
        word: String,
        /// What is wrong with it, and what to write.
        why: String,
    },
}

/// That a word is no order, and what may be meant.
fn no_order(word: &str) -> String {
    let meant = if word.starts_with('-') {
        "\n  hint: options are `--control SOCKET` and `--help`, and stand before the order"
            .to_owned()
    } else if let Some(near) = nearest(&word.to_lowercase(), ORDERS) {
        format!("\n  hint: did you mean `{near}`?")
    } else {
        format!("; orders are:\n{GRAMMAR}")
    };
    format!("`{word}` is no order{meant}")
}

/// Why a word cannot be read. Most types of values name it themselves.
fn unless_told(word: &str, why: &str) -> String {
    if why.starts_with(&format!("`{word}`")) {
        why.to_owned()
    } else {
        format!("`{word}` cannot be read: {why}")
    }
}

/// That an order was given other words than it takes, and how it is written.
fn given(order: &str, words: &[String]) -> String {
    let is_ours = |word: &String| word == "--control" || word.starts_with("--control=");
    if words.iter().any(is_ours) {
        return "\n  hint: `--control` stands before the order".to_owned();
    }
    let was_given = match words {
        [] => String::new(),
        words => format!(", and was given `{}`", words.join(" ")),
    };
    let example = match order {
        "crash" => "crash --vm db1",
        "slow" => "slow data 10",
        "eio" => "eio data 5%",
        "limits" => "limits data iops=500 bandwidth=200MB/s",
        "stats" => "stats",
        _ => return format!("{was_given}\n  hint: write it as `{order} data`"),
    };
    format!("{was_given}\n  hint: write it as `{example}`")
}

impl Order {
    /// The order that words are.
    pub fn parse(words: &[String]) -> Result<Self, OrderError> {
        let (order, rest) = words.split_first().ok_or(OrderError::Empty)?;
        let takes = |takes| OrderError::Words {
            order: order.clone(),
            takes,
            words: rest.to_vec(),
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

/// In the words that [`Order::parse`] reads.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { vm, torn } => {
                let vm = vm.as_ref().map(|vm| format!(" --vm {vm}"));
                let torn = if *torn { " --torn" } else { "" };
                write!(f, "crash{}{torn}", vm.unwrap_or_default())
            }
            Self::Warm(volume) => write!(f, "warm {volume}"),
            Self::Stats => f.write_str("stats"),
            Self::Change(Change { part, action }) => match action {
                Action::Detach => write!(f, "detach {part}"),
                Action::Attach => write!(f, "attach {part}"),
                Action::Stall => write!(f, "stall {part}"),
                Action::Resume => write!(f, "resume {part}"),
                Action::Restore => write!(f, "restore {part}"),
                Action::Slow(factor) => write!(f, "slow {part} {factor}"),
                Action::Fail(share) => {
                    write!(f, "eio {part} {}", share.to_string().replace(' ', ""))
                }
                Action::Limits { iops, bandwidth } => {
                    write!(f, "limits {part}")?;
                    limit(f, "iops", iops, |iops| iops.get().to_string())?;
                    limit(f, "bandwidth", bandwidth, |rate| {
                        format!("{}B/s", rate.get())
                    })
                }
            },
        }
    }
}

fn limit<T>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    limit: &NewLimit<T>,
    words: impl Fn(&T) -> String,
) -> fmt::Result {
    match limit {
        NewLimit::Keep => Ok(()),
        NewLimit::Set(rate) => write!(f, " {name}={}", words(rate)),
        NewLimit::Lift => write!(f, " {name}=none"),
    }
}

fn share_of(word: &str) -> Result<Percent, OrderError> {
    let share = value::<Percent>(word)?;
    if share == Percent::ZERO && word.contains(|digit: char| matches!(digit, '1'..='9')) {
        return Err(unreadable(word, "the smallest share is `0.01%`"));
    }
    Ok(share)
}

/// `None`: words that it does not take. A machine is named once: the last of two would fail alone.
fn crash(words: &[String]) -> Option<Order> {
    let (mut vm, mut torn) = (None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = match word.as_str() {
            "--torn" => {
                torn = true;
                continue;
            }
            "--vm" => words.next()?,
            other => other.strip_prefix("--vm=")?,
        };
        if vm.replace(name.to_owned()).is_some() {
            return None;
        }
    }
    Some(Order::Crash { vm, torn })
}

fn new_limits(words: &[String]) -> Result<Action, OrderError> {
    let (mut iops, mut bandwidth) = (NewLimit::Keep, NewLimit::Keep);
    for word in words {
        let (name, limit) = word.split_once('=').unwrap_or((word, ""));
        let is_there = match name {
            "iops" => iops != NewLimit::Keep,
            "bandwidth" => bandwidth != NewLimit::Keep,
            _ => false,
        };
        if is_there {
            return Err(unreadable(word, "this limit has been given before it"));
        }
        match (name, limit) {
            ("iops", "none") => iops = NewLimit::Lift,
            ("iops", rate) => iops = NewLimit::Set(new_iops(rate).ok_or_else(|| {
                unreadable(word, "write I/Os a second as a whole number, such as `iops=500`, or `iops=none`")
            })?),
            ("bandwidth", "none") => bandwidth = NewLimit::Lift,
            ("bandwidth", rate) => bandwidth = NewLimit::Set(rate.parse().map_err(|_| {
                unreadable(word, "write bytes a second with their unit, such as `bandwidth=200MB/s`, or `bandwidth=none`")
            })?),
            _ => {
                return Err(unreadable(
                    word,
                    "a limit is `iops=N` or `bandwidth=RATE`, such as `bandwidth=200MB/s`",
                ));
            }
        }
    }
    Ok(Action::Limits { iops, bandwidth })
}

/// A bare number is I/Os a second, as in a design; a rate as elsewhere is understood too.
fn new_iops(text: &str) -> Option<Iops> {
    let bare = text.parse().ok().map(Iops::new);
    bare.or_else(|| text.parse().ok())
}

/// A value whose type says of what it cannot read what to write.
fn value<T: std::str::FromStr<Err: fmt::Display>>(word: &str) -> Result<T, OrderError> {
    word.parse()
        .map_err(|error: T::Err| unreadable(word, &error.to_string()))
}

fn unreadable(word: &str, why: &str) -> OrderError {
    OrderError::Value {
        word: word.to_owned(),
        why: why.to_owned(),
    }
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
    fn orders_are_written_as_they_are_read() {
        for line in [
            "crash",
            "crash --vm db --torn",
            "detach data",
            "attach data",
            "stall vm/cached",
            "resume vm/cached",
            "restore data",
            "warm vm/data",
            "slow data 2.5",
            "eio data 100%",
            "eio data 0.05%",
            "limits data iops=100 bandwidth=none",
            "limits data bandwidth=1500000B/s",
            "stats",
        ] {
            assert_eq!(parsed(line).unwrap().to_string(), line);
        }
    }

    #[test]
    fn what_is_no_order_is_told() {
        for (line, expected) in [
            ("", "no order was given"),
            ("explode", "`explode` is no order; orders are:\n  crash"),
            ("crsh", "`crsh` is no order\n  hint: did you mean `crash`?"),
            (
                "STATS",
                "`STATS` is no order\n  hint: did you mean `stats`?",
            ),
            (
                "--contrl x stats",
                "`--contrl` is no order\n  hint: options are `--control SOCKET`",
            ),
            (
                "stats --control=x",
                "`stats` takes nothing\n  hint: `--control` stands before",
            ),
            (
                "crash db",
                "`crash` takes `--vm VM`, `--torn`, or nothing, and was given `db`",
            ),
            ("crash --vm", "`crash` takes"),
            ("crash --vm a --vm=b", "`crash` takes"),
            ("detach", "`detach` takes one part of the storage"),
            (
                "detach data log",
                "`detach` takes one part of the storage, and was given `data log`",
            ),
            (
                "slow data",
                "`slow` takes a part of the storage and a factor, and was given `data`\n  hint: write it as `slow data 10`",
            ),
            ("slow data fast", "`fast` is no factor"),
            ("eio data 500%", "`500%` is more than 100%"),
            ("eio data 5", "`5` has no unit; expected a percentage"),
            ("eio data 0.001%", "`0.001%` cannot be read: the smallest"),
            (
                "limits data",
                "`limits` takes a part of the storage, and `iops=N`, `bandwidth=RATE` or both, and was given `data`\n  \
                 hint: write it as `limits data iops=500",
            ),
            ("limits data size=3", "`size=3` cannot be read: a limit is"),
            (
                "limits data iops",
                "`iops` cannot be read: write I/Os a second",
            ),
            (
                "limits data iops=x",
                "`iops=x` cannot be read: write I/Os a second as a whole number, such as `iops=500`",
            ),
            ("limits data iops=-5", "`iops=-5` cannot be read: write"),
            (
                "limits data bandwidth=5",
                "`bandwidth=5` cannot be read: write bytes a second with their unit",
            ),
            (
                "limits data iops=3 iops=4",
                "`iops=4` cannot be read: this limit has been given",
            ),
            ("stats all", "`stats` takes nothing, and was given `all`"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
