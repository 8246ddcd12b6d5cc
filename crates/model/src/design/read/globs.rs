//! Patterns in lists of machines: `*` stands for any text, `?` for one character.

/// Whether `text` is what `pattern` describes.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // Where to go on when the rest fails to match: the last `*`, taking one character more.
    let mut retry: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                retry = Some((at, place));
                at += 1;
            }
            Some(one) if *one == '?' || *one == text[place] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((star, taken)) = retry else {
                    return false;
                };
                retry = Some((star, taken + 1));
                (at, place) = (star + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Whether it is more than a plain name.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        #[track_caller]
        fn check(pattern: &str, text: &str, expected: bool) {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
        check("vm1", "vm1", true);
        check("vm1", "vm12", false);
        check("vm*", "vm", true);
        check("*", "", true);
        check("*b*d", "abcbd", true);
        check("*b*d", "abcb", false);
        check("vm?", "vm9", true);
        check("vm?", "vm", false);
        check("a*a*a*b", &"a".repeat(200), false);
    }
}
