//! The line that tells of an I/O as it failed, which scripts look for in the logs.

use fathom_record::{IoFailure, WRONG_DATA};

use super::{Pages, Report};
use crate::errno;

impl Report {
    /// An I/O failed: the time of the line, the slave, the time of the failure, and what failed where and why.
    pub fn io_failed(&self, pages: &mut dyn Pages, now: u64, failure: &IoFailure) {
        let job = self.run_layout().jobs.get(failure.job);
        let host = job.and_then(|job| self.layout.hosts.get(job.host));
        let host = host.map_or("localhost", String::as_str);
        let at = self.of_day(failure.at_unix_ns);
        for line in failure.wrong.iter().map(String::as_str) {
            self.error(pages, now, &format!("{host}-0: {at} {line}"));
        }
        let text = format!("{host}-0: {at} {}", text(failure));
        self.error(pages, now, &text);
    }
}

/// What failed, where and why. Operations that move no data have no place within their file.
fn text(failure: &IoFailure) -> String {
    let IoFailure {
        operation,
        path,
        length,
        errno,
        ..
    } = failure;
    let place = failure.offset.map(|offset| {
        let lba = format!("lba: {offset:>12} 0x{offset:08X}");
        format!("{lba} xfer: {length:>8} ")
    });
    format!(
        "op: {operation:<6} lun: {path:<30} {}errno: {}",
        place.unwrap_or_default(),
        reason(*errno)
    )
}

/// The name of an error number, and its meaning between quotes.
fn reason(number: i32) -> String {
    // These are in Vdbench's words: what reads its logs looks for them.
    match number {
        WRONG_DATA => "60003: 'A Data Validation error was discovered'".to_owned(),
        0 => "INCORRECT_SIZE: 'transfer shorter than asked for'".to_owned(),
        5 => "EIO: 'I/O error'".to_owned(),
        number => {
            let text = std::io::Error::from_raw_os_error(number).to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let name = errno::name(number).map_or_else(|| number.to_string(), str::to_owned);
            format!("{name}: '{text}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(operation: &'static str, offset: Option<u64>, errno: i32, expected: &str) {
        let failure = IoFailure {
            at_unix_ns: 0,
            job: 0,
            operation,
            path: "/dev/sdd".to_owned(),
            offset,
            length: 8192,
            errno,
            wrong: Vec::new(),
        };
        assert_eq!(text(&failure), expected);
    }

    /// The first is a line of Vdbench's own, as a public reader of its logs cites it.
    #[test]
    fn failures_are_told_in_vdbench_s_columns() {
        let pad = " ".repeat(22);
        check(
            "write",
            Some(15_229_894_656),
            5,
            &format!(
                "op: write  lun: /dev/sdd{pad} lba:  15229894656 0x38BC5C000 xfer:     8192 errno: EIO: 'I/O error'"
            ),
        );
        check(
            "read",
            Some(4096),
            0,
            &format!(
                "op: read   lun: /dev/sdd{pad} lba:         4096 0x00001000 xfer:     8192 \
                 errno: INCORRECT_SIZE: 'transfer shorter than asked for'"
            ),
        );
        check(
            "mkdir",
            None,
            28,
            &format!("op: mkdir  lun: /dev/sdd{pad} errno: ENOSPC: 'No space left on device'"),
        );
        check(
            "read",
            None,
            4000,
            &format!("op: read   lun: /dev/sdd{pad} errno: 4000: 'Unknown error 4000'"),
        );
    }
}
