//! Storage, file systems and workloads on them, each once under a name of its own.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::is_name;

/// What a section defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Fsd,
    Sd,
    Wd,
    Fwd,
}

impl Kind {
    const fn key(self) -> &'static str {
        match self {
            Self::Fsd => "fsd",
            Self::Sd => "sd",
            Self::Wd => "wd",
            Self::Fwd => "fwd",
        }
    }
}

/// Where a section stands, and the last run that uses it.
#[derive(Debug)]
struct Known {
    name: String,
    run: usize,
}

/// All sections, in the order in which Vdbench takes them.
#[derive(Debug)]
pub(super) struct Sections {
    texts: BTreeMap<Kind, String>,
    known: HashMap<(Kind, String), Vec<Known>>,
    /// Names of all kinds: reports are called by them.
    taken: HashMap<String, (Kind, String)>,
    /// How formats write.
    format: Option<String>,
    /// Whether SDs are joined: then each file or device is one SD, however many workloads of a run use it.
    is_joined: bool,
}

impl Sections {
    pub(super) fn new(is_joined: bool) -> Self {
        Self {
            texts: BTreeMap::new(),
            known: HashMap::new(),
            taken: HashMap::new(),
            format: None,
            is_joined,
        }
    }

    /// The name of a section with that body, for the run of that number: one that is there and has no part in the run yet, or
    /// a new one with the name that is wished for where it is free.
    pub(super) fn place(
        &mut self,
        kind: Kind,
        wish: Option<&str>,
        fallback: &str,
        body: String,
        run: usize,
    ) -> String {
        let key = (kind, body);
        let free = wish.filter(|wish| is_name(wish) && !self.taken.contains_key(*wish));
        let known = self.known.entry(key.clone()).or_default();
        let is_wished = |one: &Known| wish.is_none_or(|wish| one.name == wish) || free.is_none();
        // A tree is one however many workloads of a run use it.
        let shares = kind == Kind::Fsd || kind == Kind::Sd && self.is_joined;
        let found = known
            .iter_mut()
            .find(|one| (one.run != run || shares) && is_wished(one));
        if let Some(one) = found {
            one.run = run;
            return one.name.clone();
        }
        let mut name = free.unwrap_or(fallback).to_owned();
        while self.taken.contains_key(&name) {
            name.push('_');
        }
        known.push(Known {
            name: name.clone(),
            run,
        });
        self.taken.insert(name.clone(), key.clone());
        let text = self.texts.entry(kind).or_default();
        let _ = writeln!(text, "{}={name}{}", kind.key(), key.1);
        name
    }

    /// How all formats write, as the first of them does.
    pub(super) fn format_work(&mut self, body: String) {
        self.format.get_or_insert(body);
    }

    pub(super) fn text(&self) -> String {
        let format = self.format.as_ref();
        let format = format.map(|body| format!("fwd=format{body}\n"));
        let texts = self.texts.values().map(String::as_str);
        texts.chain(format.as_deref()).collect()
    }
}
