//! Disks of machines: those sold by formula, bursting, the operating system's, the temporary one.

use fathom_catalog::DiskKind;
use fathom_units::{Bytes, BytesPerSec, Iops};

use super::{check, good, read};
use crate::CreditRate;
use crate::design::{Burst, Credits, HostCaching, LatencyChoice, Media, Role, Volume};

/// A current machine with these lines of its own and one volume of these.
fn machine(size: &str, own: &str, volume: &str) -> String {
    format!(
        "[[vm]]\nname = 'a'\nsize = '{size}'\n{own}\n[[vm.volume]]\nname = 'd'\nmount = '/d'\n{volume}\n"
    )
}

fn on_d8s(volume: &str) -> String {
    machine(
        "Standard_D8s_v3",
        "",
        &format!("caching = 'none'\n{volume}"),
    )
}

#[track_caller]
fn volume(text: &str) -> Volume {
    good(text).vms[0].volumes[0].clone()
}

#[test]
fn disks_sold_by_formula_take_the_limits_they_are_given() {
    let v2 = volume(&on_d8s(
        "disks = { type = 'premium-v2', size = '1TiB', iops = 20000, bandwidth = '600MB/s', count = 2 }",
    ));
    assert_eq!(v2.disk.kind, DiskKind::PremiumSsdV2);
    assert_eq!(v2.disk.limits.iops, Some(Iops::new(20_000)));
    assert_eq!(v2.disk.limits.bandwidth, Some(BytesPerSec::mb(600)));
    assert_eq!((v2.capacity(), v2.burst), (Bytes::gib(2048), Burst::Off));
    let least = volume(&on_d8s("disks = { type = 'premium-v2', size = '8GiB' }"));
    assert_eq!(least.disk.limits.iops, Some(Iops::new(3_000)));
    assert_eq!(least.disk.limits.bandwidth, Some(BytesPerSec::mb(125)));
}

#[test]
fn disks_sold_by_formula_keep_to_it() {
    let case = |disks: &str| on_d8s(&format!("disks = {{ {disks} }}"));
    check(
        &case("type = 'premium-v2', size = '8GiB', iops = 4001"),
        &[
            "9: `premium-v2` of 8 GiB can be given 3,000 IOPS to 4,000 IOPS: at most 500 for each GiB, and 80,000 IOPS in all",
        ],
    );
    check(
        &case("type = 'premium-v2', size = '1TiB', iops = 4000, bandwidth = '1001MB/s'"),
        &[
            "9: `premium-v2` of 4,000 IOPS can be given 125 MB/s to 1,000 MB/s: at most 0.25 MB/s for each of its IOPS, and 2,000 MB/s in all",
        ],
    );
    check(
        &case("type = 'premium-v2', size = '65TiB'"),
        &["9: `premium-v2` is sold in whole GiB from 1 GiB to 64 TiB"],
    );
    check(
        &case("type = 'ultra', size = '64GiB'"),
        &["9: `disks` needs `iops`", "9: `disks` needs `bandwidth`"],
    );
    check(
        &case("type = 'ultra', size = '64GiB', iops = 99, bandwidth = '1MB/s'"),
        &[
            "9: `ultra` of 64 GiB can be given 100 IOPS to 64,000 IOPS: at most 1,000 for each GiB, and 400,000 IOPS in all",
        ],
    );
    for (disks, message, hint) in [
        (
            "type = 'premium-v2', size = '1GiB', iops = 2999",
            "`premium-v2` of 1 GiB can be given 3,000 IOPS alone: at most 500 for each GiB, and 80,000 IOPS in all",
            "set at least 3,000 IOPS",
        ),
        (
            "type = 'premium-v2', size = '1TiB', iops = 4000, bandwidth = '124MB/s'",
            "`premium-v2` of 4,000 IOPS can be given 125 MB/s to 1,000 MB/s: at most 0.25 MB/s for each of its IOPS, and 2,000 MB/s in all",
            "set at least 125 MB/s",
        ),
    ] {
        let complaints = read(&case(disks)).unwrap_err();
        let told = &complaints.0[0];
        assert_eq!(
            (told.message.as_str(), told.hint.as_deref()),
            (message, Some(hint))
        );
    }
    check(
        &case("type = 'P30', iops = 6000, size = '1TiB'"),
        &[
            "9: `iops` cannot be set: the limits of `P30` come with its name",
            "9: `size` cannot be set: the limits of `P30` come with its name",
        ],
    );
    let error = read(&case("type = 'premium-ssd-v2'")).unwrap_err();
    assert!(
        error.to_string().contains("did you mean `premium-v2`?"),
        "{error}"
    );
}

#[test]
fn performance_plus_is_for_the_disks_that_print_it() {
    let plus = volume(&on_d8s("disks = { type = 'P40', performance_plus = true }"));
    assert_eq!(plus.disk.limits.iops, Some(Iops::new(16_000)));
    assert!(plus.disk.burst_limits.is_empty());
    check(
        &on_d8s("disks = { type = 'P20', performance_plus = true }"),
        &[
            "9: `P20` of era `current` has no performance plus: it is for premium and standard SSDs above 512 GiB",
        ],
    );
    check(
        &on_d8s("disks = { type = 'P40', performance_plus = true }\nburst = 'on-demand'"),
        &["10: `P40` with performance plus does not burst"],
    );
}

#[test]
fn bursting_is_on_where_the_provider_has_it_on() {
    let credits = volume(&on_d8s("disks = { type = 'P10' }"));
    assert_eq!(
        (credits.burst, credits.credits),
        (Burst::Credits, Credits::FULL)
    );
    assert_eq!(credits.disk.burst_limits.iops, Some(Iops::new(3_500)));
    assert_eq!(credits.disk.bucket_seconds, Some(1800));
    let paid = volume(&on_d8s("disks = { type = 'P30' }"));
    assert_eq!((paid.burst, paid.disk.bucket_seconds), (Burst::Off, None));
    let paid = volume(&on_d8s("disks = { type = 'P30' }\nburst = 'on-demand'"));
    assert_eq!(paid.burst, Burst::OnDemand);
    assert_eq!(
        paid.disk.burst_limits.bandwidth,
        Some(BytesPerSec::mb(1_000))
    );
    let off = volume(&on_d8s("disks = { type = 'P10' }\nburst = 'off'"));
    assert_eq!(off.burst, Burst::Off);
    let some = volume(&on_d8s("disks = { type = 'P10' }\ncredits = '40%'"));
    assert!((some.credits.share() - 0.4).abs() < 1e-12);
    let vm = &good(&machine(
        "Standard_D8s_v3",
        "credits = 'empty'",
        "disks = { type = 'P30' }\ncaching = 'none'",
    ))
    .vms[0];
    assert_eq!((vm.burst, vm.credits), (Burst::Credits, Credits::EMPTY));
}

#[test]
fn bursting_that_is_not_offered_is_refused() {
    check(
        &on_d8s("disks = { type = 'S30' }\nburst = 'credits'"),
        &["10: `S30` does not burst"],
    );
    check(
        &on_d8s("disks = { type = 'P10' }\nburst = 'on-demand'"),
        &["10: `P10` bursts from credits alone, not on demand"],
    );
    check(
        &on_d8s("disks = { type = 'P30' }\nburst = 'credits'"),
        &["10: `P30` bursts on demand alone, not from credits"],
    );
    check(
        &on_d8s("disks = { type = 'P30' }\ncredits = 'full'"),
        &["10: `credits` says how full credit buckets are, but nothing here bursts from credits"],
    );
    check(
        &on_d8s("disks = { type = 'P10' }\ncredits = 'half'\nburst = 'yes'"),
        &[
            "10: `half` is no value of `credits`",
            "11: `yes` is no value of `burst`",
        ],
    );
    let ds14 = machine(
        "Standard_DS14",
        "era = '2016'\nburst = 'credits'",
        "disks = { type = 'P30' }\ncaching = 'none'",
    );
    check(&ds14, &["5: `Standard_DS14` does not burst"]);
    for (keys, complaint) in [
        ("burst = 'credits'", "9: `P20` of era `2016` does not burst"),
        (
            "credits = '50%'",
            "9: `credits` says how full credit buckets are, but `P20` of era `2016` does not burst",
        ),
    ] {
        let disks = format!("disks = {{ type = 'P20' }}\n{keys}\ncaching = 'none'");
        check(
            &machine("Standard_DS14", "era = '2016'", &disks),
            &[complaint],
        );
    }
}

#[test]
fn the_disk_of_the_operating_system_is_cached_read_write_by_default() {
    let case = |lines: &str| {
        machine(
            "Standard_DS14",
            "era = '2016'",
            &format!("disks = {{ type = 'P30' }}\nrole = 'os'\n{lines}"),
        )
    };
    assert_eq!(volume(&case("")).caching, HostCaching::ReadWrite);
    assert_eq!(
        volume(&case("caching = 'read-only'")).caching,
        HostCaching::ReadOnly
    );
    let (design, warnings) = read(&case("caching = 'none'")).unwrap();
    assert_eq!(design.vms[0].volumes[0].caching, HostCaching::ReadOnly);
    let note = "the disk of the operating system is cached read-only: the provider takes `none` so";
    assert_eq!(warnings.0[0].message, note);
    assert_eq!(design.notes[0], note);
    let uncacheable = machine(
        "Standard_D8s_v3",
        "",
        "disks = { type = 'P50' }\nrole = 'os'",
    );
    let design = good(&uncacheable);
    assert_eq!(design.vms[0].volumes[0].caching, HostCaching::None);
    assert_eq!(
        design.notes[0],
        "the disk of the operating system is predicted without a host cache: `P50` holds 4 TiB; \
         disks of 4 TiB and more cannot use the host cache"
    );
    check(
        &machine(
            "Standard_D8s_v3",
            "",
            "role = 'os'\ndisks = { type = 'premium-v2', size = '8GiB', count = 2 }",
        ),
        &[
            "9: the operating system lies on one disk, not on 2",
            "9: a premium SSD v2 cannot hold the operating system",
        ],
    );
}

#[test]
fn the_disk_of_the_operating_system_is_no_data_disk() {
    let system = "[[vm.volume]]\nname = 'os'\nmount = '/'\nrole = 'os'\ndisks = { type = 'P10' }\n";
    let full = machine(
        "Standard_DS14",
        "era = '2016'",
        "disks = { type = 'P30', count = 32 }\ncaching = 'none'",
    );
    let design = good(&format!("{full}{system}"));
    assert_eq!(design.vms[0].volumes[1].role, Role::Os);
    let second = system.replace("'os'\nmount = '/'", "'os2'\nmount = '/os2'");
    check(
        &format!("{full}{system}{second}"),
        &["1: a machine has one volume with `role = \"os\"`"],
    );
}

#[test]
fn uncacheable_disks_are_refused_with_the_rule() {
    check(
        &machine(
            "Standard_D8s_v3",
            "",
            "disks = { type = 'premium-v2', size = '8GiB' }\ncaching = 'read-only'",
        ),
        &["9: a premium SSD v2 cannot use the host cache"],
    );
    check(
        &machine(
            "Standard_D8s_v3",
            "",
            "disks = { type = 'ultra', size = '8GiB', iops = 100, bandwidth = '1MB/s' }\ncaching = 'read-write'",
        ),
        &["9: an ultra disk cannot use the host cache"],
    );
}

#[test]
fn the_temporary_disk_has_the_size_of_its_machine() {
    let text = "[[vm]]\nname = 'a'\nsize = 'Standard_DS14'\nera = '2016'\n[[vm.temp]]\nmount = '/mnt/resource'\n";
    let temp = volume(text);
    assert_eq!((temp.name.as_str(), temp.media()), ("temp", Media::Temp));
    assert_eq!(
        (temp.capacity(), temp.caching),
        (Bytes::gib(224), HostCaching::None)
    );
    assert!(temp.disk.limits.is_empty());
    assert_eq!(
        good(text).to_json()["vm"][0]["temp"][0]["size_bytes"],
        224_u64 << 30
    );
    let own = volume(
        "[[vm]]\nname = 'a'\nsize = 'Standard_F4'\n[[vm.temp]]\nmount = '/t'\nname = 'local'\n",
    );
    assert_eq!(own.disk.limits.iops, Some(Iops::new(12_000)));
    assert_eq!(own.disk.write_bandwidth, Some(BytesPerSec::mb(93)));
    check(
        "[[vm]]\nname = 'a'\nsize = 'Standard_D8s_v4'\n[[vm.temp]]\nmount = '/t'\n",
        &["4: `Standard_D8s_v4` has no temporary disk"],
    );
    check(
        "[[vm]]\nname = 'a'\nsize = 'Standard_F4'\n[[vm.temp]]\nmount = '/t'\n[[vm.temp]]\nmount = '/u'\ncaching = 'none'\n",
        &["6: a machine has one temporary disk"],
    );
}

#[test]
fn sizes_that_limit_each_data_disk_hold_disks_to_it() {
    let text = machine(
        "Standard_F4",
        "",
        "disks = { type = 'S80' }\ncaching = 'none'",
    );
    let (design, _) = read(&text).unwrap();
    assert_eq!(
        design.vms[0].volumes[0].disk.limits.iops,
        Some(Iops::new(500))
    );
    assert_eq!(
        design.notes[0],
        "`Standard_F4` holds each data disk to 500 IOPS"
    );
}

#[test]
fn buckets_hold_thirty_minutes_at_the_highest_rate() {
    // Units of a full bucket, and seconds until an empty one is full without any use; rates in units a second.
    #[track_caller]
    fn check(base: u64, burst: u64, seconds: u32, bucket: u64, refill_ms: u64) {
        let rate = CreditRate::for_seconds(base, burst, u64::from(seconds));
        assert_eq!(rate.bucket, bucket);
        assert_eq!(rate.refills(0).unwrap().get() / 1_000_000, refill_ms);
    }
    let disk = |name: &str| {
        let disk = volume(&on_d8s(&format!("disks = {{ type = '{name}' }}"))).disk;
        let iops = |limits: fathom_catalog::Limits| limits.iops.unwrap().get();
        let mbps = |limits: fathom_catalog::Limits| limits.bandwidth.unwrap().get() / 1_000_000;
        (
            [iops(disk.limits), iops(disk.burst_limits)],
            [mbps(disk.limits), mbps(disk.burst_limits)],
            disk.bucket_seconds.unwrap(),
        )
    };
    let ([base, burst], _, seconds) = disk("P1");
    check(base, burst, seconds, 6_084_000, 50_700_000);
    let ([base, burst], _, seconds) = disk("P20");
    check(base, burst, seconds, 2_160_000, 939_130);
    let (_, [base, burst], seconds) = disk("P4");
    check(base, burst, seconds, 261_000, 10_440_000);
}

#[test]
fn a_host_cache_has_the_tiers_it_is_given() {
    let volume = "caching = 'read-only'\ndisks = { type = 'P30' }";
    let with = |own: &str| machine("Standard_D8s_v3", own, volume);
    let one = good(&with("")).vms[0].cache.clone();
    assert_eq!(one.memory, None);
    let own = "host_cache = { memory = '16GiB', memory_latency = 'none', latency = { median = '300us', p99 = '2ms' } }";
    let two = good(&with(own)).vms[0].cache.clone();
    assert_ne!(one.latency, two.latency);
    let memory = two.memory.unwrap();
    assert_eq!(memory.size, Bytes::gib(16));
    assert_eq!(memory.latency, LatencyChoice::None);
}

#[test]
fn tiers_of_a_host_cache_that_cannot_be_are_told() {
    let volume = "caching = 'none'\ndisks = { type = 'P30' }";
    let with = |size: &str, own: &str| machine(size, own, volume);
    let size = "Standard_D8s_v3";
    check(
        &with(size, "host_cache = { memory = '16GiB' }"),
        &["4: a host cache needs `memory_latency`"],
    );
    check(
        &with(size, "host_cache = { memory_latency = 'none' }"),
        &["4: a host cache needs `memory`"],
    );
    check(
        &with(
            size,
            "host_cache = { memory = '201GiB', memory_latency = 'none' }",
        ),
        &["4: `memory` of 201 GiB in a cache of 200 GiB"],
    );
    check(
        &with(size, "host_cache = { ram = '1GiB' }"),
        &["4: unknown key `ram` in a host cache"],
    );
}
