//! Azure Monitor's answers, in the forms that its public reference documents: of the command-line tool (`azure-vm.json`), of
//! REST (`azure-disks.json`, `azure-volume.json`, `azure-machine.json`), of a batch (`azure-batch.json`).

use fathom_observe::import::Options;
use fathom_observe::{About, Checklist, Observation};
use fathom_units::{Bytes, Nanos};
use jiff::tz::TimeZone;

use crate::{device, in_order, near, only, read, read_text, refused, sample, says, total};

const MACHINE: &str =
    "/subscriptions/0/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/db1";
const DISK: &str = "/subscriptions/0/resourceGroups/r/providers/Microsoft.Compute/disks/d1";
const BEGIN: i64 = 1_795_330_800_000_000_000;
const MINUTE: Nanos = Nanos::from_secs(60);

fn text(name: &str) -> String {
    std::fs::read_to_string(sample(name)).unwrap()
}

/// A metric with values of one minute after another from 07:00, `null` where there is none.
struct Metric<'a> {
    of: &'a str,
    name: &'a str,
    unit: &'a str,
    lun: Option<&'a str>,
    aggregation: &'a str,
    values: &'a [&'a str],
}

/// Of the machine's data disks, not split.
const PLAIN: Metric<'static> = Metric {
    of: MACHINE,
    name: "Data Disk Read Operations/Sec",
    unit: "CountPerSecond",
    lun: None,
    aggregation: "average",
    values: &["100", "200"],
};

impl Metric<'_> {
    fn json(&self) -> String {
        let points = self.values.iter().enumerate().map(|(minute, value)| {
            let at = format!("2026-11-22T07:{minute:02}:00Z");
            format!(
                "{{\"timeStamp\": \"{at}\", \"{}\": {value}}}",
                self.aggregation
            )
        });
        let lun = self
            .lun
            .map(|lun| format!("{{\"name\": {{\"value\": \"LUN\"}}, \"value\": \"{lun}\"}}"));
        format!(
            "{{\"id\": \"{}/providers/Microsoft.Insights/metrics/{name}\", \"name\": {{\"value\": \"{name}\"}}, \
             \"unit\": \"{}\", \"timeseries\": [{{\"metadatavalues\": [{}], \"data\": [{}]}}]}}",
            self.of,
            self.unit,
            lun.unwrap_or_default(),
            points.collect::<Vec<_>>().join(", "),
            name = self.name,
        )
    }
}

/// The reads and the writes of data disks.
fn pair<'a>(of: &'a str, lun: Option<&'a str>, values: &'a [&'a str]) -> [String; 2] {
    [
        "Data Disk Read Operations/Sec",
        "Data Disk Write Operations/Sec",
    ]
    .map(|name| {
        let metric = Metric {
            of,
            name,
            lun,
            values,
            ..PLAIN
        };
        metric.json()
    })
}

fn answer(interval: &str, metrics: &[String]) -> String {
    format!(
        "{{\"interval\": \"{interval}\", \"value\": [{}]}}\n",
        metrics.join(", ")
    )
}

#[track_caller]
fn check(answers: &str, parts: &[&str]) {
    let error = refused(answers.as_bytes(), "a.json", &Options::default());
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in {error}");
    }
}

fn names(observation: &Observation) -> Vec<&str> {
    observation
        .devices
        .iter()
        .map(|it| it.name.as_str())
        .collect()
}

#[track_caller]
fn is_silent(observation: &Observation, part: &str) {
    let said = observation.doubts.iter().any(|doubt| doubt.contains(part));
    assert!(!said, "`{part}` is said: {:#?}", observation.doubts);
}

#[test]
fn disks_of_a_machine_by_their_luns() {
    let options = Options {
        memory: Some(Bytes::gib(16)),
        ..Options::default()
    };
    let seen = read(&["azure-vm.json"], &options);
    in_order(&seen);
    assert_eq!(names(&seen), ["lun0", "lun10"]);
    assert_eq!(seen.machine.name.as_deref(), Some("db1"));
    let disk = device(&seen, "lun0");
    // Of twelve minutes one has no value.
    assert_eq!(disk.samples.len(), 11);
    let first = disk.samples[0];
    // What is told of 07:00 holds for the minute that begins there.
    assert_eq!(
        (first.at_unix_ns, first.length),
        (BEGIN + 60_000_000_000, MINUTE)
    );
    near(first.reads.unwrap().count, 300.0 * 60.0, 1e-9);
    near(
        first.writes.unwrap().bytes.unwrap(),
        100.0 * 60.0 * 16_384.0,
        1e-9,
    );
    near(first.ios().unwrap(), 400.0 * 60.0, 1e-9);
    near(
        first.bytes().unwrap(),
        (300.0 * 8_192.0 + 100.0 * 16_384.0) * 60.0,
        1e-9,
    );
    near(first.time().unwrap(), 400.0 * 60.0 * 2e6, 1e-9);
    assert_eq!(first.queue, Some(1.0));
    assert_eq!(disk.samples[5].at_unix_ns, BEGIN + 7 * 60_000_000_000);
    let host = seen.machine.samples[0];
    assert_eq!(host.processors.unwrap().basis_points(), 4_000);
    assert_eq!(host.memory, Some(Bytes::gib(10)));
    let figures: Vec<_> = seen.unknown.iter().map(|it| it.figure).collect();
    assert!(figures.contains(&"latency of reads and of writes") && !figures.contains(&"CPU"));
}

#[test]
fn what_the_figures_of_a_machine_hide_is_said() {
    let seen = read(&["azure-vm.json"], &Options::default());
    says(
        &seen,
        "each figure is the `Average` of an interval of 60 s: what is higher or lower within one is evened out; Azure has none that are finer",
    );
    says(
        &seen,
        "`lun0` was at 95 % or more of its limit of IOPS in 3 of 12 intervals, first at 2026-11-22T07:08:00Z (`Data Disk IOPS Consumed Percentage`)",
    );
    says(
        &seen,
        "there is no value of the interval at 2026-11-22T07:05:00Z: nothing is known of it, which is not zero",
    );
    says(&seen, "12 values are `null` or empty");
    says(
        &seen,
        "left out are metrics that tell nothing here: `Network In Total`",
    );
    says(&seen, "its times are told in UTC");
    is_silent(&seen, "not split by LUN");
    is_silent(&seen, "uncached throughput");
    // The highest value within an interval is a tenth above its average.
    is_silent(&seen, "by the `Maximum`");
    is_silent(&seen, "Little's law");
}

#[test]
fn managed_disks_and_a_batch_of_them_tell_the_same() {
    let [after_another, batch] =
        ["azure-disks.json", "azure-batch.json"].map(|name| read(&[name], &Options::default()));
    for seen in [&after_another, &batch] {
        in_order(seen);
        assert_eq!(names(seen), ["db1-data", "db1-log"]);
        let (reads, writes, seconds) = total(device(seen, "db1-log"));
        near(seconds, 240.0, 1e-9);
        near(reads.count, 2.0 * 120.0 * 60.0, 1e-9);
        near(writes.count, 2.0 * 240.0, 1e-9);
        near(reads.bytes.unwrap() / reads.count, 4_096.0, 1e-9);
        assert!(seen.machine.name.is_none());
    }
    assert_eq!(
        format!("{:?}", after_another.devices),
        format!("{:?}", batch.devices)
    );
}

#[test]
fn a_volume_has_a_latency_for_each_direction() {
    let seen = read(&["azure-volume.json"], &Options::default());
    assert_eq!(names(&seen), ["oradata"]);
    let sample = device(&seen, "oradata").samples[1];
    assert_eq!(sample.length, Nanos::from_secs(3_600));
    let (reads, writes) = (sample.reads.unwrap(), sample.writes.unwrap());
    near(
        reads.time.unwrap().get() as f64 / reads.count,
        750_000.0,
        1e-9,
    );
    near(writes.time.unwrap().get() as f64 / writes.count, 1e6, 1e-9);
    near(
        sample.queue.unwrap(),
        2_000.0 * 0.000_75 + 500.0 * 0.001,
        1e-9,
    );
    says(&seen, "queue depth is made of rates and latencies");
    says(&seen, "`oradata` up to 8,000 reads a second (2,000)");
    // Of volumes there are no finer ones than five minutes.
    says(
        &seen,
        "an interval of 60 min: what is higher or lower within one is evened out; 300 s is told by `az monitor metrics list",
    );
    says(
        &seen,
        "--interval PT5M --start-time 2026-11-22T07:00:00Z --end-time 2026-11-22T09:00:00Z",
    );
}

#[test]
fn what_a_machine_moved_in_an_interval_is_a_rate() {
    let seen = read(&["azure-machine.json"], &Options::default());
    let sample = device(&seen, "disks").samples[1];
    near(sample.reads.unwrap().count, 60.0 * 300.0, 1e-9);
    near(
        sample.reads.unwrap().bytes.unwrap(),
        60.0 * 300.0 * 8_192.0,
        1e-9,
    );
    says(&seen, "bytes the `Total` of it");
    says(&seen, "`disks` are all disks of the machine together");
    says(&seen, "60 s is told by `az monitor metrics list");
}

#[test]
fn a_profile_is_made_of_it() {
    let seen = read(&["azure-vm.json"], &only(&["lun0"]));
    let list = Checklist::of(&seen, &About::default(), TimeZone::UTC).unwrap();
    let [volume] = list.profile.volumes.as_slice() else {
        panic!("{:?}", list.profile.volumes);
    };
    assert_eq!(volume.name, "lun0");
    let iops = volume.periods[0].iops;
    assert_eq!(iops.p99.unwrap().get(), 510);
    assert_eq!(
        volume.periods[0].average_latency.p50,
        Some(Nanos::from_millis(2))
    );
}

#[test]
fn data_disks_that_are_not_split_are_a_mean() {
    let seen = read_text(
        &answer("PT1M", &pair(MACHINE, None, &["100", "200"])),
        &Options::default(),
    );
    assert_eq!(names(&seen), ["data-disks"]);
    says(
        &seen,
        "`data-disks` is not split by LUN: each figure is the mean of the machine's data disks (`Average` over all of them), not their sum",
    );
    says(
        &seen,
        &format!(
            "az monitor metrics list --resource '{MACHINE}' --metrics \"Data Disk Read Operations/Sec\""
        ),
    );
    says(
        &seen,
        "--filter \"LUN eq '*'\" --top 64 --aggregation Average Maximum --interval PT1M --start-time 2026-11-22T07:00:00Z --end-time 2026-11-22T07:02:00Z",
    );
    let both = [
        pair(MACHINE, None, &["100"]),
        pair(MACHINE, Some("3"), &["100"]),
    ]
    .concat();
    let seen = read_text(&answer("PT1M", &both), &Options::default());
    assert_eq!(names(&seen), ["lun3"]);
    says(&seen, "the mean is left out");
}

/// `--filter` without `--top` answers ten series.
#[test]
fn ten_disks_may_be_some_of_more() {
    let luns: Vec<String> = (0..11).map(|lun| lun.to_string()).collect();
    let of = |count: usize| {
        let metrics: Vec<String> = luns[..count]
            .iter()
            .flat_map(|lun| pair(MACHINE, Some(lun), &["1"]))
            .collect();
        read_text(&answer("PT1M", &metrics), &Options::default())
    };
    says(
        &of(10),
        "10 data disks are told, and no more are answered unless `--top 64`",
    );
    is_silent(&of(9), "--top 64` stands beside");
    let eleven = of(11);
    is_silent(&eleven, "--top 64` stands beside");
    assert_eq!(names(&eleven).last(), Some(&"lun10"));
}

#[test]
fn no_value_is_no_zero() {
    let metrics = pair(MACHINE, Some("0"), &["100", "null", "null", "0"]);
    let seen = read_text(&answer("PT1M", &metrics), &Options::default());
    let counts: Vec<f64> = device(&seen, "lun0")
        .samples
        .iter()
        .map(|it| it.ios().unwrap())
        .collect();
    assert_eq!(counts, [200.0 * 60.0, 0.0]);
    says(
        &seen,
        "there is no value of 2 intervals, the first at 2026-11-22T07:01:00Z",
    );
    says(&seen, "4 values are `null` or empty");
    // One direction alone tells no number of I/Os.
    let [reads, _] = pair(MACHINE, Some("0"), &["100", "100", "100"]);
    let [_, writes] = pair(MACHINE, Some("0"), &["100", "null", "100"]);
    let seen = read_text(&answer("PT1M", &[reads, writes]), &Options::default());
    assert_eq!(device(&seen, "lun0").samples.len(), 2);
}

#[test]
fn a_value_that_is_told_again_counts_once() {
    let once = answer("PT1M", &pair(MACHINE, Some("0"), &["100", "200"]));
    let seen = read_text(&format!("{once}{once}"), &Options::default());
    assert_eq!(device(&seen, "lun0").samples.len(), 2);
    says(&seen, "4 values are told twice: they count once");
    let later = answer("PT1M", &pair(MACHINE, Some("0"), &["100", "300"]));
    let seen = read_text(&format!("{once}{later}"), &Options::default());
    near(
        device(&seen, "lun0").samples[1].ios().unwrap(),
        600.0 * 60.0,
        1e-9,
    );
    says(&seen, "2 values are told twice and differ: the last counts");
}

#[test]
fn the_interval_follows_from_the_moments_where_it_is_not_told() {
    let with = answer("PT1M", &pair(MACHINE, Some("0"), &["100", "200", "300"]));
    let without = with.replace("\"interval\": \"PT1M\", ", "");
    let [with, without] = [with, without].map(|it| read_text(&it, &Options::default()));
    assert_eq!(
        format!("{:?}", with.devices),
        format!("{:?}", without.devices)
    );
    let one = answer("", &pair(MACHINE, Some("0"), &["100"])).replace("\"interval\": \"\", ", "");
    check(
        &one,
        &[
            "does not tell how long its intervals are",
            "az monitor metrics list",
        ],
    );
    check(
        &answer("soon", &[]),
        &["`soon` is no length of intervals", "`PT1M`"],
    );
}

#[test]
fn burst_credits_that_run_out_are_said() {
    let credits = Metric {
        name: "Data Disk Used Burst IO Credits Percentage",
        unit: "Percent",
        lun: Some("0"),
        values: &["80", "95", "100"],
        ..PLAIN
    };
    let mut metrics = pair(MACHINE, Some("0"), &["100", "100", "100"]).to_vec();
    metrics.push(credits.json());
    let seen = read_text(&answer("PT1M", &metrics), &Options::default());
    says(
        &seen,
        "`lun0` had 95 % or more of its burst credits for IOPS used up in 2 of 3 intervals, first at 2026-11-22T07:01:00Z",
    );
    // Credits have intervals of their own.
    let apart = [
        answer("PT1M", &pair(MACHINE, Some("0"), &["100", "100"])),
        answer("PT5M", &[credits.json()]),
    ];
    says(
        &read_text(&apart.concat(), &Options::default()),
        "burst credits for IOPS",
    );
}

#[test]
fn answers_that_do_not_belong_together() {
    let one = answer("PT1M", &pair(MACHINE, Some("0"), &["100"]));
    let other = answer(
        "PT1M",
        &pair(&MACHINE.replace("db1", "db2"), Some("0"), &["100"]),
    );
    check(
        &format!("{one}{other}"),
        &[
            "`db1` and `db2` are two machines",
            "observe each of them alone",
        ],
    );
    let group = answer(
        "PT1M",
        &pair(&MACHINE.replace("/r/", "/s/"), Some("0"), &["100"]),
    );
    check(
        &format!("{one}{group}"),
        &["resourceGroups/r/", "resourceGroups/s/", "are two machines"],
    );
    let same = answer("PT1M", &pair(&MACHINE.to_uppercase(), Some("1"), &["100"]));
    assert_eq!(
        read_text(&format!("{one}{same}"), &Options::default())
            .devices
            .len(),
        2
    );
    let coarse = answer("PT1H", &pair(MACHINE, Some("1"), &["100"]));
    check(
        &format!("{one}{coarse}"),
        &[
            "some of its figures are of 60 s each, others of 60 min",
            "--interval PT1M",
        ],
    );
    let disk = [
        "Composite Disk Read Operations/sec",
        "Composite Disk Write Operations/sec",
    ]
    .map(|name| {
        let metric = Metric {
            of: DISK,
            name,
            ..PLAIN
        };
        metric.json()
    });
    let disk = answer("PT1M", &disk);
    check(
        &format!("{one}{disk}"),
        &["I/Os would be counted twice", "those of its disks"],
    );
    let twin = disk.replace("/r/", "/s/");
    check(
        &format!("{disk}{twin}"),
        &["two resources in it are called `d1`"],
    );
    let set = MACHINE.replace("virtualMachines/db1", "virtualMachineScaleSets/web");
    check(
        &answer("PT1M", &pair(&set, None, &["1"])),
        &["`web` is a scale set", "virtualMachines/0"],
    );
}

#[test]
fn answers_that_lack_what_is_needed() {
    let [reads, writes] = pair(MACHINE, Some("0"), &["100"]);
    check(
        &answer("PT1M", std::slice::from_ref(&reads)),
        &[
            "`Data Disk Write Operations/Sec` of `lun0` is not in it",
            "--filter \"LUN eq '*'\"",
        ],
    );
    let os = Metric {
        name: "OS Disk Read Operations/Sec",
        ..PLAIN
    };
    let seen = read_text(
        &answer("PT1M", &[reads.clone(), writes, os.json()]),
        &Options::default(),
    );
    assert_eq!(names(&seen), ["lun0"]);
    says(
        &seen,
        "`OS Disk Write Operations/Sec` of `os-disk` is not in it",
    );
    let greatest = Metric {
        aggregation: "maximum",
        ..PLAIN
    };
    check(
        &answer("PT1M", &[greatest.json()]),
        &["is told without its Average", "--aggregation Average"],
    );
    let other = Metric {
        name: "Network In Total",
        ..PLAIN
    };
    check(
        &answer("PT1M", &[other.json()]),
        &[
            "it holds `Network In Total`",
            "ask for the disks of a machine",
        ],
    );
    let unit = Metric {
        unit: "Percent",
        ..PLAIN
    };
    check(&answer("PT1M", &[unit.json()]), &["is told in `Percent`"]);
    let split = reads.replace("LUN", "Tier");
    check(&answer("PT1M", &[split]), &["is split by `Tier`"]);
    let much = reads.replace("100", "1e300");
    check(&answer("PT1M", &[much]), &["more than can be"]);
    check(&answer("PT1M", &[]), &["holds no values"]);
    check(
        &answer("PT1M", &pair(MACHINE, Some("0"), &["null"])),
        &["holds no values", MACHINE],
    );
}

#[test]
fn other_json_is_named() {
    let share = Metric {
        of: "/subscriptions/0/resourceGroups/r/providers/Microsoft.Storage/storageAccounts/a/fileServices/default",
        name: "Transactions",
        unit: "Count",
        aggregation: "total",
        ..PLAIN
    };
    check(
        &answer("PT1M", &[share.json()]),
        &[
            "storage account, which counts transactions",
            "`fathom observe`",
        ],
    );
    check(
        "{\"value\": [{\"name\": {\"value\": \"Percentage CPU\"}, \"unit\": \"Percent\"}]}",
        &["names the metric `Percentage CPU` without its values"],
    );
    check(
        "{\"value\": [{\"id\": \"/x\", \"name\": \"db1\"}]}",
        &["not JSON as Azure Monitor writes it", "a.json:1:"],
    );
    check(
        "{\"interval\": \"PT1M\", \"timespan\": \"x\"}",
        &["holds no metrics (`value`)"],
    );
    check(
        "{\"cost\": 1, \"timespan\": \"\", \"error\": {\"code\": \"BadRequest\", \"message\": \"no\"}}",
        &["Azure answered an error: BadRequest: no"],
    );
    check(
        "{\"error\": {\"code\": \"AuthorizationFailed\"}}",
        &["an error that a service answered"],
    );
    let failed = "{\"value\": [{\"name\": {\"value\": \"OS Disk Latency\"}, \"timeseries\": [], \"errorMessage\": \"no such sampling\"}]}";
    check(
        failed,
        &["Azure has no figures of `OS Disk Latency`: no such sampling"],
    );
    let good = text("azure-vm.json");
    check(
        &good[..good.len() / 2],
        &["ends within an answer of Azure Monitor"],
    );
}

/// Values below 0 are none; a volume's name from a file is no command.
#[test]
fn odd_values_are_left_out() {
    let seen = read_text(
        &answer("PT1M", &pair(MACHINE, Some("0"), &["100", "-1", "100"])),
        &Options::default(),
    );
    assert_eq!(device(&seen, "lun0").samples.len(), 2);
    says(&seen, "2 values are below 0");
    let evil = MACHINE.replace("db1", "db1'; reboot; '");
    let seen = read_text(
        &answer("PT1M", &pair(&evil, None, &["100", "100"])),
        &Options::default(),
    );
    says(&seen, "--resource 'ID'");
    is_silent(&seen, "reboot");
}

/// A machine's metrics go beside a log of its disks, and two parts of the time after one another.
#[test]
fn answers_beside_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let first = answer("PT1M", &pair(MACHINE, Some("0"), &["100", "200"]));
    let paths = ["07:", "09:"].map(|hour| {
        let path = folder.path().join(format!("{}.json", &hour[..2]));
        std::fs::write(&path, first.replace("T07:", &format!("T{hour}"))).unwrap();
        path
    });
    let seen = fathom_observe::import::read_files(&paths, &Options::default()).unwrap();
    assert_eq!(device(&seen, "lun0").samples.len(), 4);
    let processors = Metric {
        name: "Percentage CPU",
        unit: "Percent",
        ..PLAIN
    };
    let seen = read_text(&answer("PT1M", &[processors.json()]), &Options::default());
    assert_eq!(seen.machine.samples.len(), 2);
    assert!(seen.devices.is_empty());
}
