//! The command that asks Azure Monitor for what an answer does not hold, ready to be run.

use fathom_units::Nanos;
use jiff::Timestamp;

use super::interval;
use super::metrics::{Of, needed};
use super::resource::Resource;

/// Where nothing of the resource is known.
pub(super) const PLAIN: &str = "take what this writes: `az monitor metrics list --resource ID --metrics NAME… --aggregation Average --interval PT1M -o json > FILE.json`";

/// How many data disks a machine has at most; without `--top` ten are answered.
const TOP: &str = "--top 64";

/// What of a resource is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask<'a> {
    pub resource: Option<&'a Resource>,
    pub of: Of,
    /// Begin of the first interval and end of the last, as nanoseconds of the Unix epoch.
    pub span: Option<(i64, i64)>,
}

impl Ask<'_> {
    /// The command, in backticks. Nothing of a file stands in it but an id without letters that a shell takes for its own.
    pub fn command(&self) -> String {
        let resource = self.resource.map_or("ID", Resource::word);
        let names: Vec<String> = needed(self.of)
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        let split = match self.of {
            Of::DataDisk => format!(" --filter \"LUN eq '*'\" {TOP}"),
            _ => String::new(),
        };
        let aggregation = if self.of == Of::Disks {
            "Average Total"
        } else {
            "Average Maximum"
        };
        // Volumes have no finer intervals.
        let finest = Nanos::from_secs(if self.of == Of::Volume { 300 } else { 60 });
        let span = match self.span {
            Some((begin, end)) => {
                format!(" --start-time {} --end-time {}", moment(begin), moment(end))
            }
            None => String::new(),
        };
        format!(
            "`az monitor metrics list --resource '{resource}' --metrics {}{split} --aggregation {aggregation} --interval {}{span} -o json > FILE.json`",
            names.join(" "),
            interval::written(finest)
        )
    }
}

/// A moment as it is written in UTC.
pub(super) fn moment(unix_ns: i64) -> String {
    let whole = unix_ns.div_euclid(1_000_000_000);
    Timestamp::from_second(whole)
        .unwrap_or_default()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_asks_for_each_data_disk() {
        let resource = Resource::of(
            "/subscriptions/0/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/db1",
        );
        let ask = Ask {
            resource: resource.as_ref(),
            of: Of::DataDisk,
            span: Some((1_795_330_800_000_000_000, 1_795_334_400_000_000_000)),
        };
        assert_eq!(
            ask.command(),
            "`az monitor metrics list --resource '/subscriptions/0/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/db1' \
             --metrics \"Data Disk Read Operations/Sec\" \"Data Disk Write Operations/Sec\" \"Data Disk Read Bytes/sec\" \
             \"Data Disk Write Bytes/sec\" --filter \"LUN eq '*'\" --top 64 --aggregation Average Maximum --interval PT1M \
             --start-time 2026-11-22T07:00:00Z --end-time 2026-11-22T08:00:00Z -o json > FILE.json`"
        );
        let unnamed = Ask {
            resource: None,
            of: Of::Disks,
            span: None,
        };
        assert!(
            unnamed.command().contains("--resource 'ID'")
                && unnamed.command().contains("Average Total")
        );
    }
}
