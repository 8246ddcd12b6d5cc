//! Whose a terminal is for now.

use std::os::fd::AsFd;

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

/// Whether this process is of the group that `terminal` takes keys for; what a shell runs behind its prompt, or `timeout` runs,
/// is not. True as well where that is not told: of a terminal that does not control this process, or of what is none.
pub fn is_in_foreground(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_terminal_hides_nobody() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(is_in_foreground(&file));
    }
}
