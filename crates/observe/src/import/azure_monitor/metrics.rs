//! Metrics by their names: which figure of which device each tells, and in which aggregation.
//!
//! Names, units and aggregations are those of the public lists "Supported metrics for Microsoft.Compute/virtualMachines"
//! (2023-11-09), "… microsoft.compute/disks" (2024-01-10) and "… Microsoft.NetApp/netAppAccounts/capacityPools/volumes".

/// What a metric is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    /// The data disks of a machine: one where it is split by `LUN`, all of them otherwise.
    DataDisk,
    /// The disk of the operating system.
    OsDisk,
    /// The machine's own temporary disk.
    TempDisk,
    /// All disks of a machine together.
    Disks,
    /// A managed disk, asked for itself.
    ManagedDisk,
    /// A volume of Azure NetApp Files.
    Volume,
    /// The machine.
    Machine,
}

/// What it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// I/Os or bytes a second, milliseconds, I/Os outstanding: one of [`RATES`], by its average.
    Rate(usize),
    /// The same, as what was moved in an interval: by its total.
    Total(usize),
    /// Percent of a limit, which it names; what was wanted beyond it is not in the figures.
    Limit(&'static str),
    /// Percent of burst credits, which it names, that are used up.
    Credits(&'static str),
    /// Percent of the machine's processors.
    Processors,
    /// Bytes of memory that are free.
    FreeMemory,
}

pub(super) const READS: usize = 0;
pub(super) const WRITES: usize = 1;
pub(super) const READ_BYTES: usize = 2;
pub(super) const WRITE_BYTES: usize = 3;
pub(super) const READ_MS: usize = 4;
pub(super) const WRITE_MS: usize = 5;
pub(super) const BOTH_MS: usize = 6;
pub(super) const QUEUE: usize = 7;
/// How many figures a device has.
pub(super) const RATES: usize = 8;

/// A metric that is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub name: &'static str,
    pub of: Of,
    pub figure: Figure,
    /// Units that it may have, in small letters.
    pub units: &'static [&'static str],
}

const A_SECOND: &[&str] = &["countpersecond"];
const BYTES_A_SECOND: &[&str] = &["bytespersecond"];
const BYTES: &[&str] = &["bytes"];
const MS: &[&str] = &["milliseconds", "ms/op"];
const COUNT: &[&str] = &["count"];
const PERCENT: &[&str] = &["percent"];

const fn rate(name: &'static str, of: Of, place: usize) -> Known {
    let units = match place {
        READS | WRITES => A_SECOND,
        READ_BYTES | WRITE_BYTES => BYTES_A_SECOND,
        QUEUE => COUNT,
        _ => MS,
    };
    let figure = Figure::Rate(place);
    Known {
        name,
        of,
        figure,
        units,
    }
}

const fn percent(name: &'static str, of: Of, figure: Figure) -> Known {
    Known {
        name,
        of,
        figure,
        units: PERCENT,
    }
}

const fn bytes(name: &'static str, of: Of, figure: Figure) -> Known {
    Known {
        name,
        of,
        figure,
        units: BYTES,
    }
}

const IOPS: Figure = Figure::Limit("IOPS");
const THROUGHPUT: Figure = Figure::Limit("throughput");
const IO_CREDITS: Figure = Figure::Credits("burst credits for IOPS");
const BYTE_CREDITS: Figure = Figure::Credits("burst credits for throughput");

/// Every metric that is used.
pub(super) const KNOWN: &[Known] = &[
    rate("Data Disk Read Operations/Sec", Of::DataDisk, READS),
    rate("Data Disk Write Operations/Sec", Of::DataDisk, WRITES),
    rate("Data Disk Read Bytes/sec", Of::DataDisk, READ_BYTES),
    rate("Data Disk Write Bytes/sec", Of::DataDisk, WRITE_BYTES),
    rate("Data Disk Latency", Of::DataDisk, BOTH_MS),
    rate("Data Disk Queue Depth", Of::DataDisk, QUEUE),
    rate("OS Disk Read Operations/Sec", Of::OsDisk, READS),
    rate("OS Disk Write Operations/Sec", Of::OsDisk, WRITES),
    rate("OS Disk Read Bytes/sec", Of::OsDisk, READ_BYTES),
    rate("OS Disk Write Bytes/sec", Of::OsDisk, WRITE_BYTES),
    rate("OS Disk Latency", Of::OsDisk, BOTH_MS),
    rate("OS Disk Queue Depth", Of::OsDisk, QUEUE),
    rate("Temp Disk Read Operations/Sec", Of::TempDisk, READS),
    rate("Temp Disk Write Operations/Sec", Of::TempDisk, WRITES),
    rate("Temp Disk Read Bytes/sec", Of::TempDisk, READ_BYTES),
    rate("Temp Disk Write Bytes/sec", Of::TempDisk, WRITE_BYTES),
    rate("Temp Disk Latency", Of::TempDisk, BOTH_MS),
    rate("Temp Disk Queue Depth", Of::TempDisk, QUEUE),
    rate("Disk Read Operations/Sec", Of::Disks, READS),
    rate("Disk Write Operations/Sec", Of::Disks, WRITES),
    bytes("Disk Read Bytes", Of::Disks, Figure::Total(READ_BYTES)),
    bytes("Disk Write Bytes", Of::Disks, Figure::Total(WRITE_BYTES)),
    rate("Composite Disk Read Operations/sec", Of::ManagedDisk, READS),
    rate(
        "Composite Disk Write Operations/sec",
        Of::ManagedDisk,
        WRITES,
    ),
    rate("Composite Disk Read Bytes/sec", Of::ManagedDisk, READ_BYTES),
    rate(
        "Composite Disk Write Bytes/sec",
        Of::ManagedDisk,
        WRITE_BYTES,
    ),
    rate("ReadIops", Of::Volume, READS),
    rate("WriteIops", Of::Volume, WRITES),
    rate("ReadThroughput", Of::Volume, READ_BYTES),
    rate("WriteThroughput", Of::Volume, WRITE_BYTES),
    rate("AverageReadLatency", Of::Volume, READ_MS),
    rate("AverageWriteLatency", Of::Volume, WRITE_MS),
    percent("Data Disk IOPS Consumed Percentage", Of::DataDisk, IOPS),
    percent(
        "Data Disk Bandwidth Consumed Percentage",
        Of::DataDisk,
        THROUGHPUT,
    ),
    percent(
        "Data Disk Used Burst IO Credits Percentage",
        Of::DataDisk,
        IO_CREDITS,
    ),
    percent(
        "Data Disk Used Burst BPS Credits Percentage",
        Of::DataDisk,
        BYTE_CREDITS,
    ),
    percent("OS Disk IOPS Consumed Percentage", Of::OsDisk, IOPS),
    percent(
        "OS Disk Bandwidth Consumed Percentage",
        Of::OsDisk,
        THROUGHPUT,
    ),
    percent(
        "OS Disk Used Burst IO Credits Percentage",
        Of::OsDisk,
        IO_CREDITS,
    ),
    percent(
        "OS Disk Used Burst BPS Credits Percentage",
        Of::OsDisk,
        BYTE_CREDITS,
    ),
    percent(
        "VM Cached IOPS Consumed Percentage",
        Of::Machine,
        Figure::Limit("cached IOPS"),
    ),
    percent(
        "VM Cached Bandwidth Consumed Percentage",
        Of::Machine,
        Figure::Limit("cached throughput"),
    ),
    percent(
        "VM Uncached IOPS Consumed Percentage",
        Of::Machine,
        Figure::Limit("uncached IOPS"),
    ),
    percent(
        "VM Uncached Bandwidth Consumed Percentage",
        Of::Machine,
        Figure::Limit("uncached throughput"),
    ),
    percent(
        "VM Local Used Burst IO Credits Percentage",
        Of::Machine,
        Figure::Credits("burst credits for cached IOPS"),
    ),
    percent(
        "VM Local Used Burst BPS Credits Percentage",
        Of::Machine,
        Figure::Credits("burst credits for cached throughput"),
    ),
    percent(
        "VM Remote Used Burst IO Credits Percentage",
        Of::Machine,
        Figure::Credits("burst credits for uncached IOPS"),
    ),
    percent(
        "VM Remote Used Burst BPS Credits Percentage",
        Of::Machine,
        Figure::Credits("burst credits for uncached throughput"),
    ),
    percent("Percentage CPU", Of::Machine, Figure::Processors),
    bytes("Available Memory Bytes", Of::Machine, Figure::FreeMemory),
];

/// The metric of that name, whatever its letters' case: the service takes and gives both.
pub(super) fn known(name: &str) -> Option<&'static Known> {
    KNOWN
        .iter()
        .find(|known| known.name.eq_ignore_ascii_case(name))
}

/// The name of the metric that tells this figure of that.
pub(super) fn name_of(of: Of, place: usize) -> &'static str {
    let is = |known: &&Known| {
        known.of == of && [Figure::Rate(place), Figure::Total(place)].contains(&known.figure)
    };
    KNOWN.iter().find(is).map_or("", |known| known.name)
}

/// The metrics that tell I/Os and bytes of that.
pub(super) fn needed(of: Of) -> [&'static str; 4] {
    [READS, WRITES, READ_BYTES, WRITE_BYTES].map(|place| name_of(of, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_known_once_and_has_its_own_figure() {
        for (place, known) in KNOWN.iter().enumerate() {
            for other in &KNOWN[place + 1..] {
                assert!(
                    !known.name.eq_ignore_ascii_case(other.name),
                    "{}",
                    known.name
                );
                let is_same = known.of == other.of && known.figure == other.figure;
                assert!(!is_same, "{} and {}", known.name, other.name);
            }
        }
        assert_eq!(
            known("data disk read bytes/SEC").unwrap().name,
            "Data Disk Read Bytes/sec"
        );
        assert!(known("Datenträgerlesevorgänge").is_none());
    }

    #[test]
    fn what_has_disks_tells_ios_and_bytes() {
        for of in [
            Of::DataDisk,
            Of::OsDisk,
            Of::TempDisk,
            Of::Disks,
            Of::ManagedDisk,
            Of::Volume,
        ] {
            assert!(needed(of).iter().all(|name| !name.is_empty()), "{of:?}");
        }
        assert_eq!(name_of(Of::Disks, WRITE_BYTES), "Disk Write Bytes");
    }
}
