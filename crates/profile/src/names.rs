//! Names of applications and volumes where letters, digits, `-` and `_` alone will do: in paths, jobs and scripts.

use crate::Profile;

/// Longest name in paths.
const LONGEST: usize = 32;

/// `text` with letters, digits, `-` and `_` alone.
pub fn slug(text: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' || letter == '_' {
            letter
        } else {
            '-'
        }
    };
    let slug: String = text.chars().map(plain).take(LONGEST).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() {
        "volume".to_owned()
    } else {
        slug.to_owned()
    }
}

impl Profile {
    /// A [`slug`] for each volume, none twice: what a plan calls the volume in its paths and jobs.
    pub fn slugs(&self) -> Vec<String> {
        let mut slugs: Vec<String> = Vec::new();
        for volume in &self.volumes {
            let own = slug(&volume.name);
            let numbered = (2..).map(|number| format!("{own}-{number}"));
            let mut names = std::iter::once(own.clone()).chain(numbered);
            let free = names.find(|name| !slugs.contains(name));
            slugs.push(free.unwrap_or(own));
        }
        slugs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart_and_plain() {
        let text = "name = \"x\"\n[[volume]]\nname = \"db:1\"\n[[volume.period]]\nname = \"peak\"\niops = 1\n\
                    [[volume]]\nname = \"db 1\"\n[[volume.period]]\nname = \"peak\"\niops = 1\n";
        let profile = Profile::read(text, "x").map(|it| it.0).unwrap();
        assert_eq!(profile.slugs(), ["db-1", "db-1-2"]);
        assert_eq!(slug("---"), "volume");
    }
}
