//! From the flat stream of parameters to sections: which keyword begins one, and which belongs to the one before.
//!
//! The order is general, HD, SD and FSD, WD and FWD, RD. A keyword that would begin an earlier section is a parameter of
//! the present one: an `hd=` behind an `sd=` is that SD's host.

use std::collections::BTreeSet;
use std::ops::Range;

use fathom_diagnostics::nearest;

use super::lexer::Parameter;
use super::values::Values;

/// What a section defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Before all others.
    General,
    /// `hd=`.
    Host,
    /// `sd=`.
    Sd,
    /// `fsd=`.
    Fsd,
    /// `wd=`.
    Wd,
    /// `fwd=`.
    Fwd,
    /// `rd=`.
    Rd,
}

impl Kind {
    /// Sections of one rank may alternate; one of a lower rank does not come again.
    const fn rank(self) -> u8 {
        match self {
            Self::General => 0,
            Self::Host => 1,
            Self::Sd | Self::Fsd => 2,
            Self::Wd | Self::Fwd => 3,
            Self::Rd => 4,
        }
    }

    /// Its keyword.
    pub const fn word(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Host => "hd",
            Self::Sd => "sd",
            Self::Fsd => "fsd",
            Self::Wd => "wd",
            Self::Fwd => "fwd",
            Self::Rd => "rd",
        }
    }

    fn begun_by(key: &str) -> Option<Self> {
        match key {
            "hd" | "host" => Some(Self::Host),
            "sd" => Some(Self::Sd),
            "fsd" => Some(Self::Fsd),
            "wd" => Some(Self::Wd),
            "fwd" => Some(Self::Fwd),
            "rd" => Some(Self::Rd),
            _ => None,
        }
    }
}

/// One section: indices into the stream of parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it defines.
    pub kind: Kind,
    /// The parameter that begins it; the general section has none.
    pub head: Option<usize>,
    /// Its parameters.
    pub body: Range<usize>,
}

/// Splits the stream into sections.
pub fn outline(parameters: &[Parameter], values: &mut Values<'_>) -> Vec<Section> {
    let mut sections = vec![Section {
        kind: Kind::General,
        head: None,
        body: 0..0,
    }];
    for (index, parameter) in parameters.iter().enumerate() {
        let present = sections
            .last()
            .map_or(Kind::General, |section| section.kind);
        let begun = Kind::begun_by(&parameter.key).filter(|kind| begins(*kind, present));
        if let Some(kind) = begun {
            sections.push(Section {
                kind,
                head: Some(index),
                body: index + 1..index + 1,
            });
            continue;
        }
        if parameter.key == "hd" && matches!(present, Kind::Sd | Kind::Fsd) && !parameter.continues
        {
            let message = "`hd=` behind an `sd=` is read as that SD's `host=`, not as a new host";
            values.warning(parameter.at, message, "define hosts before storage");
        }
        if let Some(last) = sections.last_mut() {
            last.body.end = index + 1;
        }
    }
    sections
}

/// Whether a keyword begins a section, or names something within the present one.
fn begins(kind: Kind, present: Kind) -> bool {
    match (present, kind) {
        // In a workload these name what it is for.
        (Kind::Wd, Kind::Sd | Kind::Host) | (Kind::Fwd, Kind::Fsd | Kind::Host) => false,
        (Kind::Rd, other) => other == Kind::Rd,
        _ => kind.rank() >= present.rank(),
    }
}

/// The keyword of `known` that is meant: the one of that name, or the first that begins so, with two letters at least.
pub fn meaning(key: &str, known: &'static [&'static str]) -> Option<&'static str> {
    if let Some(exact) = known.iter().find(|word| **word == key) {
        return Some(exact);
    }
    if key == "host" && known.contains(&"hd") {
        return Some("hd");
    }
    let mut begun = known
        .iter()
        .filter(|word| key.len() >= 2 && word.len() > 2 && word.starts_with(key));
    begun.next().copied()
}

/// Finds what a keyword of a section means, by its whole name or its first letters.
#[derive(Debug, Default)]
pub struct Keywords {
    abbreviated: BTreeSet<String>,
    /// Whether the last unknown keyword was one of storage, which stands too late.
    misplaced: bool,
}

impl Keywords {
    /// The keyword of `known` that `parameter` means: the one of that name, or the first that begins so, with two letters
    /// at least. Complains of unknown ones.
    pub fn resolve(
        &mut self,
        parameter: &Parameter,
        kind: Kind,
        known: &'static [&'static str],
        values: &mut Values<'_>,
    ) -> Option<&'static str> {
        let key = parameter.key.as_str();
        if let Some(found) = meaning(key, known) {
            let is_whole = found == key || key == "host";
            if !is_whole && self.abbreviated.insert(format!("{} {key}", kind.word())) {
                let message =
                    format!("`{key}=` is taken for `{found}=`, the first keyword that begins so");
                values.warning(parameter.at, message, "write keywords out");
            }
            return Some(found);
        }
        if values.complaints.is_full() {
            values.error(parameter.at, "Unknown keyword", String::new());
            return None;
        }
        if key.is_empty() {
            values.error(
                parameter.at,
                "there is no keyword before the `=`",
                "write `keyword=value`",
            );
            return None;
        }
        // The rest of a line whose beginning was misplaced is of one fault with that.
        let of_trees = kind == Kind::Fwd && TREES.contains(&key);
        let of_storage = of_trees || kind != Kind::Sd && STORAGE.contains(&key);
        let was_told = std::mem::replace(&mut self.misplaced, of_storage);
        if was_told && of_storage && parameter.continues {
            return None;
        }
        let hint = match (kind, nearest(key, known.iter().copied())) {
            _ if key == "rg" => {
                "it is of replays of Swat's traces, which are not read: use `fathom fio` with `--read_iolog=`"
                    .to_owned()
            }
            (Kind::Fwd, _) if of_trees => {
                "it belongs to an `fsd=`, and those come before `fwd=`; in an FWD, `fsd=` names what it works on"
                    .to_owned()
            }
            (_, Some(near)) => format!("did you mean `{near}`?"),
            (Kind::Wd | Kind::Fwd | Kind::Rd, None) if STORAGE.contains(&key) => {
                format!(
                    "it belongs to an `sd=`, and those come before `{}=`",
                    kind.word()
                )
            }
            (Kind::Sd | Kind::Fsd, None)
                if ["system", "user", "shell", "jvms", "vdbench", "clients"].contains(&key) =>
            {
                "it belongs to an `hd=`, and those come before `sd=`: general, hd, sd, wd, rd"
                    .to_owned()
            }
            (Kind::General, None) => {
                "no section begins with it; the order is general, hd, sd, wd, rd".to_owned()
            }
            _ => format!("known in `{}=` are {}", kind.word(), known.join(", ")),
        };
        values.error(parameter.at, format!("Unknown keyword: {key}"), hint);
        None
    }
}

/// Keywords of file systems alone.
const TREES: &[&str] = &[
    "anchor",
    "depth",
    "width",
    "sizes",
    "size",
    "totalsize",
    "workingsetsize",
    "wss",
];
/// Keywords of storage alone.
const STORAGE: &[&str] = &["lun", "size", "count", "offset", "align"];
