//! Numbers of things in words: `1 I/O`, `1,234 I/Os`.

use crate::group_digits;

/// So many of what is called `one` where it is one, and `several` otherwise: `1 job is`, `1,234 jobs are`.
///
/// ```
/// use fathom_units::counted;
/// assert_eq!(counted(1, ("job", "jobs")), "1 job");
/// assert_eq!(counted(1_234, ("job", "jobs")), "1,234 jobs");
/// ```
pub fn counted(count: u64, (one, several): (&str, &str)) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {several}", group_digits(count)),
    }
}

/// So many I/Os.
pub fn counted_ios(count: u64) -> String {
    counted(count, ("I/O", "I/Os"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_as_one() {
        let told = [0, 1, 1_234].map(counted_ios);
        assert_eq!(told, ["0 I/Os", "1 I/O", "1,234 I/Os"]);
    }
}
