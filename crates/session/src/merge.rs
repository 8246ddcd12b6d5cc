//! `fathom merge`: one record of the same workload's runs on several hosts.

use std::path::{Path, PathBuf};

use clap::Args;
use fathom_record::{HostPart, Record, host_of, merge};
use fathom_report::{Summary, stored_summary};

use crate::{Code, Console, Failure, NewFile, Page, tool};

/// `fathom merge`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct MergeArgs {
    /// A record of each host, as `report` takes them, or HOST=RECORD to say what the host is called
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<String>,
    /// Write the record of all hosts to this file; a file that exists is never written over
    #[arg(short, long, value_name = "NEW", required_unless_present = "json")]
    pub output: Option<PathBuf>,
    /// Print the record of all hosts as one JSON document on stdout and nothing else
    #[arg(long)]
    pub json: bool,
    /// Print every check, device, host and job
    #[arg(long, conflicts_with = "json")]
    pub full: bool,
    /// Write a page with charts to this file as well
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

const HELP: &str = "\
Records are those of one workload: run folders or their record.json, copied
from each host, or stored runs. A run that was killed counts as far as it came.
Counts are added up, histograms merged; rates are over the time from the first
host's start to the last one's end.

Example, with runs that began at one time:
  at=@$(( $(date +%s) + 20 ))
  pdsh -w db1,db2 fathom run --start-at $at --json w.toml \\> /tmp/r.json
  scp db1:/tmp/r.json db1.json; scp db2:/tmp/r.json db2.json
  fathom merge db1.json db2.json -o both.json";

impl MergeArgs {
    /// Makes one record of those that `stored` gives for their names, prints it and writes it.
    ///
    /// # Errors
    /// A record that `stored` cannot give or that does not fit to the others; a file that cannot be written.
    pub fn merge(
        &self,
        stored: impl Fn(&str) -> Result<(String, Record), Failure>,
        console: &dyn Console,
    ) -> Result<Code, Failure> {
        let new = self.output.as_deref().map(NewFile::at).transpose()?;
        let page = self.html.as_deref().map(Page::at).transpose()?;
        let parts = self.records.iter().map(|word| part(word, &stored));
        let parts = parts.collect::<Result<Vec<_>, Failure>>()?;
        let mut record = merge(parts, &[])
            .map_err(|error| Failure::new(Code::Input, &error).hint(error.hint()))?;
        record.tool = tool();
        let document = serde_json::to_string(&record)
            .map_err(|error| Failure::new(Code::Unexpected, error))?;
        if let Some(new) = new {
            new.write(&format!("{document}\n"))?;
        }
        if let Some(page) = page {
            page.write(&record, None)?;
        }
        if self.json {
            console.print(&format!("{document}\n"));
        } else {
            let how_much = if self.full {
                Summary::Full
            } else {
                Summary::Short
            };
            let name = self.output.as_deref().unwrap_or(Path::new("NEW"));
            let name = name.display().to_string();
            console.show(&stored_summary(&record, how_much, console.width(), &name));
        }
        Ok(Code::Success)
    }
}

/// The host and record that `word` names: `HOST=RECORD`, or a record that says its host.
fn part(
    word: &str,
    stored: impl Fn(&str) -> Result<(String, Record), Failure>,
) -> Result<HostPart, Failure> {
    let named = word
        .split_once('=')
        .filter(|(host, _)| !host.is_empty() && !host.contains('/') && !Path::new(word).exists());
    let (_, record) = stored(named.map_or(word, |(_, record)| record))?;
    let host = named.map(|(host, _)| host).or(host_of(&record));
    let Some(host) = host.map(str::to_owned) else {
        let message = format!("the record `{word}` does not say on which host it was made");
        let hint = format!("say it: `HOST={word}`");
        return Err(Failure::new(Code::Input, message).hint(hint));
    };
    Ok(HostPart {
        host,
        record,
        clock: None,
    })
}
