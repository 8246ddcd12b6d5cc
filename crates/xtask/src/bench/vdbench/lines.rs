//! The average lines of Vdbench's report, as both programs print them.

/// Which columns the lines have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// Of SDs: rate, MiB/s, length, share of reads, response time, that of reads and of writes, the largest of each, its
    /// deviation, depth, processors, of which system.
    Disks,
    /// Of FWDs: rate, response time, processors, of which system, and what follows.
    Files,
}

impl Columns {
    /// Where response time and the share of busy processors stand behind the rate.
    const fn places(self) -> (usize, usize) {
        match self {
            Self::Disks => (4, 11),
            Self::Files => (1, 2),
        }
    }
}

/// A run's average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Average {
    /// I/Os or operations a second.
    pub rate: f64,
    pub response_ms: f64,
    /// Share of the machine's processors that were busy, per cent.
    busy: f64,
}

impl Average {
    /// Processor time of an I/O on the whole machine, ns.
    pub fn processor_ns(&self) -> f64 {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.busy / 100.0 * processors as f64 * 1e9 / self.rate.max(1.0)
    }
}

/// The last average of a report; none where it has none that can be read.
pub fn last_average(report: &str, columns: Columns) -> Option<Average> {
    let line = report.lines().rev().find(|line| line.contains(" avg_"))?;
    let (_, figures) = line.split_once(" avg_")?;
    // The intervals that are averaged come first: `2-4`.
    let figures = figures.split_whitespace().skip(1);
    let figures: Option<Vec<f64>> = figures.map(|figure| figure.parse().ok()).collect();
    let figures = figures?;
    let (response, busy) = columns.places();
    Some(Average {
        rate: *figures.first()?,
        response_ms: *figures.get(response)?,
        busy: *figures.get(busy)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Average, Columns, last_average};

    #[test]
    fn averages_of_disks_are_read() {
        let report = "\
11:25:05.020           5    61215.0   239.12    4096   0.00    0.014    0.000    0.014     0.00     0.42    0.005    0.9  53.5  45.2
11:25:06.080     avg_2-3    58505.3   228.54    4096   0.00    0.015    0.000    0.015     0.00     9.58    0.031    0.9  53.8  45.5
11:25:07.001 Starting RD=rd2
";
        let expected = Average {
            rate: 58_505.3,
            response_ms: 0.015,
            busy: 53.8,
        };
        assert_eq!(last_average(report, Columns::Disks), Some(expected));
    }

    #[test]
    fn averages_of_files_are_read_from_the_last_run() {
        let report = "\
11:25:50.045      avg_2-2     20  0.311  12.6  2.4   0.0      0  0.000     20  0.311  0.00  20.0   20.0  1048576
11:25:51.045      avg_2-4 910892  0.001  97.6 32.4 100.0 910892  0.001    0.0  0.000  3558  0.00 3558.1    4095
";
        let expected = Average {
            rate: 910_892.0,
            response_ms: 0.001,
            busy: 97.6,
        };
        assert_eq!(last_average(report, Columns::Files), Some(expected));
    }

    #[test]
    fn what_is_no_average_is_none() {
        assert_eq!(last_average("no lines", Columns::Disks), None);
        assert_eq!(last_average("x avg_2-3 1.0 words", Columns::Disks), None);
        assert_eq!(last_average("x avg_2-3 1.0 2.0", Columns::Disks), None);
    }
}
