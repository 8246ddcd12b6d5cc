//! The arguments of `fathom observe` that are about files of other tools.

use std::path::PathBuf;

use fathom_units::{Bytes, Nanos};

use super::{Disks, Format, NamedCounter, Options};

/// What is said of other tools' files.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Logs of other tools")]
pub struct ImportArgs {
    /// Read what another tool wrote in place of watching this machine: PerfMon's CSV, iostat, sadf, Azure Monitor's
    /// JSON, vmstat, dumps of /proc/diskstats, blktrace, fio's logs; several files as one, `-` the standard input
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub from: Vec<PathBuf>,
    /// Format of the files, where they do not show it (perfmon, iostat, sysstat-json, azure-monitor, sadf, vmstat, diskstats,
    /// blktrace, fio-log)
    #[arg(long, value_name = "NAME", requires = "from")]
    pub format: Option<Format>,
    /// What a PerfMon counter means whose name is not known: `Odczyty/s=reads`; may be repeated
    #[arg(long, value_name = "NAME=MEANING", requires = "from")]
    pub counter: Vec<NamedCounter>,
    /// Code page of the text, where it does not show: windows-1252, cp850, shift_jis and others
    #[arg(long, value_name = "NAME", requires = "from")]
    pub encoding: Option<String>,
    /// The machine's memory, where a log tells only what is free
    #[arg(long, value_name = "SIZE", requires = "from")]
    pub memory: Option<Bytes>,
    /// Which of PerfMon's disk objects counts: suited, physical or logical
    #[arg(
        long,
        value_name = "WHICH",
        requires = "from",
        default_value = "suited"
    )]
    pub disks: Disks,
}

impl ImportArgs {
    /// What is wrong where something is said of logs and none is named. `requires` alone does not see it beside an option
    /// that conflicts with `--from`.
    pub fn without_logs(&self) -> Option<String> {
        let said = [
            ("--format", self.format.is_some()),
            ("--counter", !self.counter.is_empty()),
            ("--encoding", self.encoding.is_some()),
            ("--memory", self.memory.is_some()),
            ("--disks", self.disks != Disks::default()),
        ];
        let said = said.iter().filter(|(_, is_said)| *is_said);
        let said: Vec<_> = said.map(|(name, _)| format!("`{name}`")).collect();
        let (names, is) = (said.join(", "), if said.len() == 1 { "is" } else { "are" });
        let is_wrong = self.from.is_empty() && !said.is_empty();
        is_wrong.then(|| format!("{names} {is} for logs: name one with `--from`, or leave it out"))
    }

    /// Options of the readers. `interval` is given where reports bear no times.
    pub fn options(&self, devices: &[String], interval: Option<Nanos>) -> Options {
        Options {
            format: self.format,
            counters: self.counter.clone(),
            encoding: self.encoding.clone(),
            interval,
            memory: self.memory,
            devices: devices.to_vec(),
            disks: self.disks,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        import: ImportArgs,
    }

    #[test]
    fn a_line_becomes_options() {
        let line = "x --from a.csv b.csv --counter q=queue-now --memory 8GiB --disks logical";
        let read = Line::try_parse_from(line.split(' ')).map_err(|error| error.to_string());
        let read = read.unwrap().import;
        assert_eq!(read.from, ["a.csv", "b.csv"].map(PathBuf::from));
        let options = read.options(&["sda".to_owned()], None);
        assert_eq!(
            (options.memory, options.disks),
            (Some(Bytes::gib(8)), Disks::Logical)
        );
        assert_eq!(options.counters.len(), 1);
        for wrong in [
            "x --from a --counter q=quue",
            "x --memory 8GiB",
            "x --from a --disks all",
        ] {
            assert!(Line::try_parse_from(wrong.split(' ')).is_err(), "{wrong}");
        }
        assert!(Line::try_parse_from(["x"]).unwrap().import.from.is_empty());
    }

    #[test]
    fn what_is_said_of_logs_needs_one() {
        #[track_caller]
        fn check(import: &ImportArgs, expected: Option<&str>) {
            assert_eq!(import.without_logs().as_deref(), expected);
        }
        let nothing = ImportArgs::default();
        check(&nothing, None);
        let memory = ImportArgs {
            memory: Some(Bytes::gib(8)),
            disks: Disks::Logical,
            ..nothing
        };
        let told = "`--memory`, `--disks` are for logs: name one with `--from`, or leave it out";
        check(&memory, Some(told));
        let of_log = ImportArgs {
            from: vec![PathBuf::from("a.csv")],
            ..memory
        };
        check(&of_log, None);
    }
}
