//! The design file, by example.

use fathom_catalog::Catalog;
use fathom_diagnostics::{Diagnostics, Severity};
use fathom_units::{Bytes, BytesPerSec, Nanos};

use super::{Design, HostCaching, LatencyChoice, LatencyOrigin, Mount, VolumeId};

mod arrays;
mod disks;
mod network;
mod shares;

const DS14: &str = r#"
[[vm]]
name = "ds14"
size = "Standard_DS14"
era = "2016"

[[vm.volume]]
name = "nocache"
mount = "/mnt/nocache"
disks = { type = "P30", count = 10 }
stripe_unit = "64KiB"
caching = "none"

[[vm.volume]]
name = "readcache"
mount = "/mnt/readcache"
disks = { type = "P30", count = 1 }
caching = "read-only"
cache = "warm"
"#;

/// Reads a text without a mistake.
#[track_caller]
fn good(text: &str) -> Design {
    match read(text) {
        Ok((design, _)) => design,
        Err(complaints) => panic!("{complaints}\n{text}"),
    }
}

fn read(text: &str) -> Result<(Design, Diagnostics), Diagnostics> {
    Design::read(text, "x.design.toml", Catalog::builtin())
}

/// A machine with one volume of these lines.
fn with_volume(lines: &str) -> String {
    format!(
        "[[vm]]\nname = \"a\"\nsize = \"Standard_DS14\"\nera = \"2016\"\n[[vm.volume]]\n{lines}\n"
    )
}

/// The messages of all errors, with line numbers.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = match read(text) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => diagnostics
            .0
            .iter()
            .filter(|one| one.severity == Severity::Error)
            .map(|one| {
                let line = one.location.as_ref().map_or(0, |location| location.line);
                format!("{line}: {}", one.message)
            })
            .collect(),
    };
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_design_is_resolved_against_the_catalogue() {
    let (design, warnings) = read(DS14).unwrap();
    assert!(warnings.0.is_empty());
    let vm = &design.vms[0];
    assert_eq!(vm.size.uncached.bandwidth, Some(BytesPerSec::mb(512)));
    let nocache = &vm.volumes[0];
    assert_eq!((nocache.columns, nocache.disk_count), (10, 10));
    assert_eq!(nocache.stripe_unit, Bytes::kib(64));
    assert_eq!(nocache.capacity(), Bytes::gib(10_240));
    assert_eq!(vm.volumes[1].caching, HostCaching::ReadOnly);
    assert!(design.starts_warm(VolumeId::new(1)) && !design.starts_warm(VolumeId::new(0)));
    assert_eq!(
        design.notes,
        ["media latency: assumed; no distribution has been published"]
    );
    let json = design.to_json();
    assert_eq!(json["vm"][0]["volume"][1]["cache"], "warm");
    assert_eq!(json["vm"][0]["volume"][0]["columns"], 10);
}

#[test]
fn devices_and_ranges_are_read() {
    let text = r#"
[[device]]
name = "san{1..3}"
mount = "/mnt/san{4..6}"
size = "2TiB"
iops = 3866
bandwidth = "500MB/s"
latency = { median = "2ms", p99 = "8ms" }

[[device]]
name = "e"
drive = "e:"
size = "1TiB"
latency = "none"
"#;
    let (design, _) = read(text).unwrap();
    let names: Vec<_> = design
        .devices
        .iter()
        .map(|device| device.name.as_str())
        .collect();
    assert_eq!(names, ["san1", "san2", "san3", "e"]);
    assert_eq!(design.devices[2].mount, Mount::Path("/mnt/san6".to_owned()));
    assert_eq!(design.devices[3].mount, Mount::Drive('E'));
    let expected = LatencyChoice::LogNormal {
        median: Nanos::from_millis(2),
        p99: Nanos::from_millis(8),
        origin: LatencyOrigin::Design,
    };
    assert_eq!(design.devices[0].latency, expected);
    assert_eq!(design.locate(None, "E:\\data\\f").unwrap().index(), 3);
    assert_eq!(design.capacity(VolumeId::new(3)), Bytes::gib(1024));
}

#[test]
fn the_longest_mount_serves_a_path() {
    let text = r#"
[[vm]]
name = "db{1..2}"
size = "Standard_DS14"
era = "2016"
[[vm.volume]]
name = "all"
mount = "/mnt"
disks = { type = "P30" }
caching = "none"
[[vm.volume]]
name = "data"
mount = "/mnt/data"
disks = { type = "P30", count = 2 }
caching = "none"
"#;
    let (design, _) = read(text).unwrap();
    let found = |host, path| design.locate(host, path).map(VolumeId::index);
    assert_eq!(found(Some("db1"), "/mnt/data/x"), Ok(1));
    assert_eq!(found(Some("db2"), "/mnt/data"), Ok(3));
    assert_eq!(found(Some("db1"), "/mnt/database/x"), Ok(0));
    let error = design.locate(None, "/mnt/data/x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`/mnt/data/x` is served by the machines `db1`, `db2`"
    );
    let error = design.locate(Some("db1"), "/var/f").unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing in the design serves `/var/f`; it has `/mnt` on `db1`, `/mnt/data` on `db1`"
    );
    assert_eq!(error.hint(), "map it with `--map /var=/mnt`");
    for (path, hint) in [
        ("j.0.0", "map it with `--map .=/mnt`"),
        ("d/j.0.0", "map it with `--map d=/mnt`"),
        ("E:", "map it with `--map E:=/mnt`"),
        ("#1", "map it with `--map #1=/mnt`"),
    ] {
        assert_eq!(design.locate(Some("db1"), path).unwrap_err().hint(), hint);
    }
    let export = "nbd+unix:///d?socket=/run/x/fathom.sock";
    let error = design.locate(Some("db1"), export).unwrap_err();
    assert_eq!(
        error.hint(),
        format!("map it with `--map '{export}=/mnt/export'`")
    );
    assert!(design.locate(Some("db3"), "/mnt/x").is_err());
}

#[test]
fn one_mistake_hides_no_other() {
    let text = "[[vm]]\nname = \"a\"\nsize = \"Standard_DS14\"\n\
                [[vm.volume]]\nname = \"d\"\nmount = \"/d\"\n\
                disks = { type = \"P31\", count = 65 }\ncolumns = 70\ncaching = \"read-only\"\n\
                burst = \"sideways\"\n\
                [[vm.volume]]\nname = \"d\"\nmount = \"/e\"\ndisks = { type = \"P50\" }\n\
                caching = \"read-only\"\n";
    let of_volumes = [
        "7: the catalogue has no disk `P31`",
        "8: `columns` must be a whole number from 1 to 65",
        "10: `sideways` is no value of `burst`",
        "11: the name `d` or the mount `/e` is taken",
    ];
    let mut expected = of_volumes.to_vec();
    expected.insert(
        0,
        "4: 65 data disks with this, but `Standard_DS14` takes at most 64",
    );
    expected.push("15: `P50` holds 4 TiB; disks of 4 TiB and more cannot use the host cache");
    check(text, &expected);
    // Of an unknown machine, what does not depend on it is still told.
    expected = of_volumes.to_vec();
    expected.insert(0, "3: the catalogue has no machine size `Standard_DS99`");
    check(&text.replace("DS14", "DS99"), &expected);
}

#[test]
fn rules_of_the_provider_are_enforced() {
    let volume = "name = \"d\"\nmount = \"/d\"\n";
    let case = |lines: &str| with_volume(&format!("{volume}{lines}"));
    check(
        &case("disks = { type = \"P30\", count = 33 }\ncaching = \"none\""),
        &["5: 33 data disks with this, but `Standard_DS14` takes at most 32"],
    );
    check(
        &case("disks = { type = \"P30\", count = 4 }"),
        &["5: a volume needs `caching`: the provider's own documents disagree on the default"],
    );
    check(
        &case("disks = { type = \"P30\", count = 4 }\ncolumns = 3\ncaching = \"none\""),
        &["9: 4 disks do not divide into 3 columns"],
    );
    check(
        &case("disks = { type = \"P31\" }\ncaching = \"none\"\nstripe_unit = \"5KiB\""),
        &[
            "8: the catalogue has no disk `P31`",
            "10: `stripe_unit` must be a power of two from 4 KiB to 64 MiB",
        ],
    );
    check(
        &case("disks = { type = \"P30\" }\ncaching = \"none\"\ncache = \"warm\""),
        &["10: `cache` says what a host cache holds, but `caching` is `none`"],
    );
    let current = |size: &str, disk: &str| {
        format!(
            "[[vm]]\nname = \"a\"\nsize = \"{size}\"\n[[vm.volume]]\n{volume}\
             disks = {{ type = \"{disk}\" }}\ncaching = \"read-only\"\n"
        )
    };
    check(
        &current("Standard_DS14", "P50"),
        &["8: `P50` holds 4 TiB; disks of 4 TiB and more cannot use the host cache"],
    );
    check(
        &current("Standard_D8ds_v4", "P30"),
        &["8: the pages of era `current` print no cache limits for `Standard_D8ds_v4`"],
    );
    // What was refused is complained of once.
    check(
        &(current("Standard_D8ds_v4", "P30") + "cache = \"warm\"\n"),
        &["8: the pages of era `current` print no cache limits for `Standard_D8ds_v4`"],
    );
    check(
        &current("Standard_F4", "P30"),
        &[
            "7: `P30` is a premium SSD, which `Standard_F4` does not support",
            "8: `Standard_F4` does not support caching of premium disks",
        ],
    );
}

#[test]
fn misspelt_and_misshapen_input_is_refused() {
    check("[[vmm]]\n", &["1: unknown key `vmm` in a design"]);
    check("", &["0: `x.design.toml` is empty"]);
    let machine = "[[vm]]\nname = \"a\"\nsize = \"Standard_DS14\"\n";
    let nothing = "1: the design has no volume, no device and no share";
    check(machine, &[nothing]);
    check("vm = 3\n", &["1: `vm` must be tables, written as `[[vm]]`"]);
    check(
        "[[device]]\nname = \"x\"\nsize = \"2TB\"\nmount = \"relative\"\niops = 0\n",
        &[
            "1: `relative` is neither an absolute path nor a drive such as `E:`",
            "5: `iops` must be a whole number from 1 to 1000000000",
        ],
    );
    check(
        "[[device]]\nname = \"a{1..3}\"\nsize = \"2\"\nmount = \"/m{1..4}\"\n",
        &["4: the ranges of one entry have different lengths"],
    );
    check(
        "[[device]]\nname = 3\nsize = 4\n",
        &[
            "1: a device needs `mount`",
            "2: `name` must be a text in quotes, not integer",
            "3: `size` must be a text in quotes, not integer",
        ],
    );
    check(
        "[[vm]]\nname = \"a\"\nsize = \"Standard_DS41\"\n",
        &["3: the catalogue has no machine size `Standard_DS41`"],
    );
    let error = read("[[vm]\n").unwrap_err().to_string();
    assert!(
        error.starts_with("error: ") && error.contains("x.design.toml:1"),
        "{error}"
    );
    let error = read("[[vm]]\nname = \"a\"\nsizes = \"Standard_DS14\"\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("did you mean `size`?"), "{error}");
}

#[test]
fn ranges_within_ranges_end_at_a_limit() {
    let text = r#"
[[vm]]
name = "vm{1..1000}"
size = "Standard_DS14"
[[vm.volume]]
name = "v{1..32}"
mount = "/v{1..32}"
disks = { type = "P30" }
caching = "none"
"#;
    let too_many = ": the design has more than 10000 machines or volumes";
    check(text, &[&format!("2{too_many}")]);
    let devices = ('a'..='z').map(|name| {
        let range = format!("{name}{{1..999}}");
        format!("[[device]]\nname = '{range}'\nmount = '/{range}'\nsize = '1g'\n")
    });
    let devices = devices.collect::<Vec<_>>().concat();
    check(&devices, &[&format!("41{too_many}")]);
}

/// The share stands where there are credits, and nowhere else.
#[test]
fn credits_stand_in_the_record_where_there_are_some() {
    for (burst, share) in [
        ("burst = 'credits'\ncredits = '25%'", Some("0.25")),
        ("burst = 'credits'", Some("1.00")),
        ("burst = 'off'", None),
    ] {
        let text = format!(
            "[[vm]]\nname = 'm'\nsize = 'Standard_D8s_v5'\n[[vm.volume]]\nname = 'v'\nmount = '/v'\n\
             disks = {{ type = 'P10' }}\ncaching = 'none'\n{burst}\n"
        );
        let json = good(&text).to_json();
        let found = json["vm"][0]["volume"][0]["credits_share"].as_f64();
        let found = found.map(|share| format!("{share:.2}"));
        assert_eq!(found.as_deref(), share, "{burst}: {json}");
    }
}

#[test]
fn a_slash_at_the_end_of_a_mount_makes_no_other_mount() {
    let device = |name: &str, mount: &str| {
        format!("[[device]]\nname = '{name}'\nmount = '{mount}'\nsize = '1g'\n")
    };
    let (design, _) = read(&device("a", "/mnt/")).unwrap();
    assert_eq!(design.devices[0].mount, Mount::Path("/mnt".to_owned()));
    assert_eq!(design.locate(None, "/mnt/f").unwrap().index(), 0);
    let (design, _) = read(&(device("a", "/mnt/a//") + &device("root", "/"))).unwrap();
    assert_eq!(design.locate(None, "/mnt/a/f").unwrap().index(), 0);
    assert_eq!(design.locate(None, "/mnt/b").unwrap().index(), 1);
    check(
        &(device("a", "/mnt") + &device("b", "/mnt/")),
        &["5: the name `b` or its mount `/mnt` is taken"],
    );
}

/// Two parts of one name would share a row of a record.
#[test]
fn names_are_those_of_one_row_of_a_record() {
    let device = |name: &str| format!("[[device]]\nname = '{name}'\nmount = '/a'\nsize = '1g'\n");
    check(&device("a b"), &[]);
    check(
        &device("a/disk1"),
        &["2: the name \"a/disk1\" has a `/` or a control character"],
    );
    let volume = |name: &str| {
        let lines = "mount = '/a'\ndisks = { type = 'P30' }\ncaching = 'none'";
        with_volume(&format!("name = '{name}'\n{lines}"))
    };
    check(&volume("disk1"), &[]);
    for budget in ["cached", "uncached", "network"] {
        let complaint = format!("6: `{budget}` is the name of a budget of every machine");
        check(&volume(budget), &[&complaint]);
    }
}

/// A closed loop on storage without any limit would never end: sizes of the L series print no figures of their local SSD.
#[test]
fn a_temporary_disk_without_figures_is_instant_without_a_latency() {
    #[track_caller]
    fn check(size: &str, latency: &str, expected: bool) {
        let text =
            format!("[[vm]]\nname = 'a'\nsize = '{size}'\n[[vm.temp]]\nmount = '/t'\n{latency}\n");
        assert_eq!(good(&text).is_instant(VolumeId::new(0)), expected, "{text}");
    }
    check("Standard_L8s_v2", "latency = 'none'", true);
    check("Standard_L8s_v2", "", false);
    check("Standard_F4", "latency = 'none'", false);
}

#[test]
fn damaged_designs_are_refused_without_panic() {
    // The example of the page on designs has every kind of table.
    let (_, page) = include_str!("../../../../docs/design.md")
        .split_once("```toml\n")
        .unwrap();
    let (example, _) = page.split_once("```").unwrap();
    for (design, step) in [(DS14, 1), (example, 5)] {
        for cut in (0..design.len()).step_by(step) {
            let _ = read(&design[..cut]);
            let without = format!("{}{}", &design[..cut], &design[cut + 1..]);
            // What is still taken must describe itself; what is not must say where.
            match read(&without) {
                Ok((design, _)) => assert!(design.to_json()["vm"].is_array()),
                Err(complaints) => assert!(complaints.has_errors(), "{without}"),
            }
            let _ = read(&format!("{}é{}", &design[..cut], &design[cut..]));
        }
    }
}

/// Values of another kind than is wanted are told what to write.
#[test]
fn values_of_another_kind_are_told_what_to_write() {
    let told = |keys: &str| {
        let text = format!("[[device]]\nname = \"x\"\nmount = \"/x\"\nsize = \"1TiB\"\n{keys}\n");
        let complaints = read(&text).unwrap_err();
        complaints.0[0].hint.clone().unwrap_or_default()
    };
    for (keys, hint) in [
        ("iops = \"5000\"", "write it without quotes"),
        (
            "iops = \"many\"",
            "write digits alone and no quotes, such as `iops = 5000`",
        ),
        (
            "iops = \"5k\"",
            "write digits alone and no quotes, such as `iops = 5000`",
        ),
        (
            "bandwidth = 500",
            "write it between quotes, a rate of bytes such as `500MB/s` or `64MiB/s`",
        ),
        ("bandwidth = \"0MB/s\"", "give more, or leave it out"),
        ("type = \"15k\"\nraid = \"6\"", "one of 0, 5"),
        ("drive = \"E:\"", "leave one out"),
    ] {
        assert_eq!(told(keys), hint, "{keys}");
    }
}
