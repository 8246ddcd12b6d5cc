//! How fast a trace's time goes.

use std::str::FromStr;

/// A multiple of the trace's own speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    percent: u32,
}

impl Speed {
    /// In percent of the trace's own speed; at least 1.
    pub fn percent(self) -> u32 {
        self.percent
    }
}

impl FromStr for Speed {
    type Err = String;

    /// `2x`, `0.5x`, `2` or `200%`.
    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "`{text}` is no speed from 0.01x to 10000x: write one such as `2x`, `0.5x` or `150%`"
            )
        };
        let (number, one) = match (text.strip_suffix('x'), text.strip_suffix('%')) {
            (Some(number), _) => (number, 100.0),
            (None, Some(number)) => (number, 1.0),
            (None, None) => (text, 100.0),
        };
        let known = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let factor = number.parse::<f64>().ok();
        let factor = factor.filter(|_| number.bytes().all(known));
        let percent = (factor.ok_or_else(refused)? * one).round();
        if !(1.0..=1e6).contains(&percent) {
            return Err(refused());
        }
        Ok(Self {
            percent: percent as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_factors_or_percentages() {
        for (text, percent) in [
            ("1x", 100),
            ("2", 200),
            ("0.5x", 50),
            ("150%", 150),
            (".25x", 25),
            ("10000x", 1_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Speed { percent }), "{text}");
        }
        for wrong in [
            "", "x", "-1x", "0x", "0.001x", "1e3", "nan", "inf", "2x2", "1e9x",
        ] {
            let why = wrong.parse::<Speed>().unwrap_err();
            assert!(why.starts_with(&format!("`{wrong}` is no speed")), "{why}");
        }
    }
}
