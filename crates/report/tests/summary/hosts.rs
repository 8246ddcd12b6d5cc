//! Several hosts beside each other.

use fathom_record::{HostRecord, HostsRecord, Record, RunKind, StageRecord};
use fathom_report::Summary;

use crate::records::{check, direction, fits, job, record, stage};

/// A stage of so many hosts, of which each later one is slower.
fn stage_of(name: &str, hosts: u32) -> StageRecord {
    let all = direction(2_000.0 * f64::from(hosts), 0.37, &[]);
    let mut merged = stage(name, vec![job("db", &all, None)], &all);
    let each = (1..=hosts).map(|index| {
        let iops = 2_500.0 - 100.0 * f64::from(index);
        let writes = direction(iops, 0.2 * f64::from(index), &[]);
        HostRecord {
            host: format!("db{index}"),
            after_ns: (index != 2).then_some(u64::from(index - 1) * 1_200_000),
            measured_ns: 30_000_000_000,
            cut_off: false,
            total: stage("x", vec![], &writes).total,
        }
    });
    merged.hosts = Some(HostsRecord {
        start_skew_ns: Some(u64::from(hosts - 1) * 1_200_000),
        clock_bound_ns: None,
        together_ns: 29_990_000_000,
        each: each.collect(),
    });
    merged
}

fn merged(stages: Vec<StageRecord>) -> Record {
    let mut record = record(RunKind::Run, stages, vec![]);
    record.notes.clear();
    record
}

#[test]
fn each_host_stands_beside_the_others() {
    check(
        &merged(vec![stage_of("mix", 3)]),
        Summary::Short,
        "\
job.fio on ds14.design.toml
              IOPS    mean   MiB/s     p50     p99   p99.9     max
db write     6,000   370µs    23.4   333µs   740µs  1.11ms  1.48ms
hosts
              IOPS   MiB/s     p50     p99     max   began
  db1        2,400     9.4   180µs   400µs   800µs   first
  db2        2,300     9.0   360µs   800µs   1.6ms       ?
  db3        2,200     8.6   540µs   1.2ms   2.4ms  +2.4ms
  all        6,000    23.4   333µs   740µs  1.48ms
  hosts began within 2.4 ms; all were measuring for 30 s of 30 s
verdict  TRUSTWORTHY: 0 checks passed
next     `fathom report last --full` shows every check, device and job
",
    );
}

/// Jobs of all hosts have one name: which of them fell behind, the host tells.
#[test]
fn a_host_that_falls_behind_its_rate_is_named() {
    let mut stage = stage_of("mix", 2);
    stage.jobs = [("db1", 300.0), ("db2", 288.0)]
        .map(|(host, iops)| fathom_record::JobRecord {
            host: Some(host.to_owned()),
            ..job("log", &direction(iops, 0.37, &[]), Some(300.0))
        })
        .to_vec();
    let text = fits(&merged(vec![stage]), Summary::Short, 80);
    assert!(
        text.contains("\n  log on db2 asked for 300 IOPS and reached 288\n"),
        "{text}"
    );
}

#[test]
fn of_many_hosts_the_slowest_are_shown() {
    let record = merged(vec![stage_of("a", 15), stage_of("b", 2)]);
    for columns in [40, 47, 56, 66, 80] {
        let text = fits(&record, Summary::Short, columns);
        let has = |name: &str| {
            text.lines()
                .any(|line| line.trim().split(' ').next() == Some(name))
        };
        assert!(has("db15") && has("db4") && !has("db3"), "{text}");
        assert!(
            text.contains("3 hosts that did more are left out"),
            "{text}"
        );
        assert!(
            text.contains("\nhosts in a\n") && text.contains("\nhosts in b\n"),
            "{text}"
        );
        let whole = fits(&record, Summary::Full, columns);
        assert!(
            whole
                .lines()
                .any(|line| line.trim().split(' ').next() == Some("db3")),
            "{whole}"
        );
    }
}
