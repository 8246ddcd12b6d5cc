//! Numbers as people's locales write them, one way through a whole file.

/// The decimal mark of a file, once a number has shown it.
#[derive(Debug, Default)]
pub(super) struct Decimals {
    mark: Option<(char, usize)>,
}

/// Why a number is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotANumber {
    /// It is no number at all.
    Other,
    /// It has marks between its thousands, or two marks.
    Marks,
    /// Its mark is not that of the line.
    Mixed(char, usize),
    /// No disk does that much.
    Large,
}

/// Larger than anything that is counted a second.
const LARGEST: f64 = 1e18;

impl NotANumber {
    /// What is wrong with `token`, for an error.
    pub fn message(&self, token: &str) -> String {
        match self {
            Self::Other => format!("`{token}` is no number"),
            Self::Marks => {
                format!("`{token}` has more than one mark, of which one parts thousands")
            }
            Self::Mixed(mark, line) => format!(
                "`{token}` has another decimal mark than line {line}, where it is `{mark}`: two locales are mixed"
            ),
            Self::Large => format!("`{token}` is more than can be"),
        }
    }
}

impl Decimals {
    /// A finite number; the first mark met is that of the file.
    pub fn number(&mut self, token: &str, line: usize) -> Result<f64, NotANumber> {
        let token = token.trim();
        let known = |byte: u8| byte.is_ascii_digit() || b"+-.,eE".contains(&byte);
        if token.is_empty() || !token.bytes().all(known) {
            return Err(NotANumber::Other);
        }
        let mut marks = token.chars().filter(|one| matches!(one, '.' | ','));
        let mark = marks.next();
        if marks.next().is_some() {
            return Err(NotANumber::Marks);
        }
        if let Some(mark) = mark {
            let (first, at) = *self.mark.get_or_insert((mark, line));
            if first != mark {
                return Err(NotANumber::Mixed(first, at));
            }
        }
        let parsed = if mark == Some(',') {
            token.replace(',', ".").parse::<f64>()
        } else {
            token.parse()
        };
        let number = parsed.map_err(|_| NotANumber::Other)?;
        if !number.is_finite() || number.abs() > LARGEST {
            return Err(NotANumber::Large);
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tokens: &[&str], expected: &Result<f64, NotANumber>) {
        let mut decimals = Decimals::default();
        let last = tokens
            .iter()
            .enumerate()
            .map(|(index, token)| decimals.number(token, index + 1));
        assert_eq!(&last.last().unwrap(), expected);
    }

    #[test]
    fn one_mark_a_file() {
        check(&["1", "1.5"], &Ok(1.5));
        check(&["2,5", "3", "1,5"], &Ok(1.5));
        check(&["8.8E-05"], &Ok(8.8e-5));
        check(&["1", "2,5", "1.5"], &Err(NotANumber::Mixed(',', 2)));
        check(&["1.234,5"], &Err(NotANumber::Marks));
        check(&["inf"], &Err(NotANumber::Other));
        check(&["1e300"], &Err(NotANumber::Large));
        check(&[""], &Err(NotANumber::Other));
    }
}
