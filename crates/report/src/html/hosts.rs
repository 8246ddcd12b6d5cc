//! Hosts of a merged record: each by itself, and all together.

use fathom_record::{HostsRecord, Record, StageRecord};

use super::text::{escaped, row, table};
use crate::summary::hosts::{TITLES, beside_each_other, figures_of, figures_of_all};
use crate::summary::stage_or_repeat;

/// A table for each of the first `most` stages; nothing where a record is of one host.
pub(super) fn section(record: &Record, most: usize) -> String {
    let stages = record.stages.iter().take(most);
    let tables = stages.filter_map(|stage| {
        let hosts = stage.hosts.as_ref()?;
        Some(of_stage(&stage_or_repeat(record, stage), stage, hosts))
    });
    let tables: String = tables.collect();
    if tables.is_empty() {
        return tables;
    }
    format!("<h2>Hosts</h2>\n{tables}")
}

fn of_stage(name: &str, stage: &StageRecord, hosts: &HostsRecord) -> String {
    let headings: Vec<&str> = [""].into_iter().chain(TITLES).collect();
    let each = hosts.each.iter();
    let mut rows: String = each
        .map(|host| row(&host.host, &figures_of(host)))
        .collect();
    rows.push_str(&row("all", &figures_of_all(stage)));
    format!(
        "<h3>{}</h3>\n{}<p class=\"soft\">{}</p>\n",
        escaped(name),
        table(&headings, &rows),
        escaped(&beside_each_other(stage, hosts))
    )
}
