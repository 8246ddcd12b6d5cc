//! Doubts, each told once with how often it came up.

use fathom_units::counted;

/// Most that are told apart.
const MOST: usize = 100;

/// What makes figures doubtful.
#[derive(Debug, Clone, Default)]
pub struct Doubts {
    found: Vec<(String, u64)>,
    more: u64,
}

impl Doubts {
    /// Adds one, or counts it again.
    pub fn add(&mut self, doubt: String) {
        if let Some(there) = self.found.iter_mut().find(|it| it.0 == doubt) {
            there.1 += 1;
        } else if self.found.len() < MOST {
            self.found.push((doubt, 1));
        } else {
            self.more += 1;
        }
    }

    /// Adds those.
    pub fn extend(&mut self, doubts: impl IntoIterator<Item = String>) {
        for doubt in doubts {
            self.add(doubt);
        }
    }

    /// One sentence each, in the order in which they first came up.
    pub fn told(&self) -> Vec<String> {
        let each = self.found.iter().map(|(doubt, times)| match times {
            1 => doubt.clone(),
            times => format!("{doubt} ({times} times)"),
        });
        let more = (self.more > 0).then(|| counted(self.more, ("more doubt", "more doubts")));
        each.chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubt_is_told_once() {
        let mut doubts = Doubts::default();
        for _ in 0..3 {
            doubts.add("the clock jumped".to_owned());
        }
        doubts.add("`sda` went away".to_owned());
        assert_eq!(
            doubts.told(),
            ["the clock jumped (3 times)", "`sda` went away"]
        );
        for number in 0..200 {
            doubts.add(number.to_string());
        }
        assert_eq!(
            doubts.told().last().map(String::as_str),
            Some("102 more doubts")
        );
    }
}
