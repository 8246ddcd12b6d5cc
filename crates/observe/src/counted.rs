//! Numbers of things in words: `1 I/O`, `1,234 I/Os`.

use fathom_units::group_digits;

/// So many of what is called `one` where it is one, and `several` otherwise.
pub fn counted(count: u64, (one, several): (&str, &str)) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {several}", group_digits(count)),
    }
}

/// So many I/Os.
pub fn ios(count: u64) -> String {
    counted(count, ("I/O", "I/Os"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_as_one() {
        assert_eq!([0, 1, 1_234].map(ios), ["0 I/Os", "1 I/O", "1,234 I/Os"]);
    }
}
