//! Figures that rules hang on, looked up by what they are of, and what is told of a row where it holds and where it does not.

use fathom_catalog::{BurstScope, Catalog, DiskKind, ShareMedia};
use fathom_units::{Bytes, Iops};

#[test]
fn ios_are_counted_in_units_at_the_kinds_that_have_one() {
    let unit = |kind| Catalog::builtin().io_unit(kind);
    assert_eq!(unit(DiskKind::PremiumSsd), Some(Bytes::kib(256)));
    assert_eq!(unit(DiskKind::StandardSsd), Some(Bytes::kib(256)));
    for whole in [
        DiskKind::StandardHdd,
        DiskKind::PremiumSsdV2,
        DiskKind::Ultra,
        DiskKind::Temporary,
    ] {
        assert_eq!(unit(whole), None, "{}", whole.name());
    }
}

#[test]
fn a_file_has_the_limits_of_its_share_s_media() {
    let iops = |media| {
        let row = Catalog::builtin().share_file(media);
        row.and_then(|row| row.limits.iops)
    };
    assert_eq!(iops(ShareMedia::Ssd), Some(Iops::new(8_000)));
    assert_eq!(iops(ShareMedia::Hdd), Some(Iops::new(1_000)));
}

/// 30 minutes at the highest rate, of shares an hour.
#[test]
fn a_full_bucket_lasts_as_long_as_its_page_says() {
    let seconds = |what| Catalog::builtin().bucket_seconds(what);
    assert_eq!(seconds(BurstScope::Vm), 1_800);
    assert_eq!(seconds(BurstScope::Share), 3_600);
}

#[test]
fn what_is_possible_is_told_of_each_row() {
    #[track_caller]
    fn check(name: &str, era: &str, key: &str, expected: Option<&str>) {
        let rows = Catalog::builtin().show(name).expect("rows");
        let row = rows.iter().find(|row| row.era == era).expect("the era");
        let mut fields = row.fields.iter();
        let found = fields.find(|(own, _)| *own == key);
        let found = found.map(|(_, value)| value.as_str());
        assert_eq!(found, expected, "{name}, {key}");
    }
    let now = "current";
    check("P30", now, "figures", Some("provisioned"));
    check("S30", now, "figures", Some("up to"));
    check("P30", now, "host cache", Some("possible"));
    check("P60", now, "host cache", Some("not possible"));
    check("P30", now, "counts as one I/O", Some("up to 256 KiB"));
    check("S30", now, "counts as one I/O", None);
    check("Standard_D8s_v3", now, "premium disks", Some("supported"));
    check(
        "Standard_D14",
        "2016",
        "premium disks",
        Some("not supported"),
    );
    // A page that is kept by no revision has none to read it at.
    let revision = "MicrosoftDocs/azure-docs@1d25717f1a22291b7eb95f47321b70e81cec4841";
    check("P30", now, "read at", Some(revision));
    check("E30", now, "read at", None);
}

#[test]
fn a_list_tells_megabytes_a_second() {
    let list = Catalog::builtin().list();
    let told = |name: &str, figures: &str| {
        let mut rows = list.iter().filter(|row| row.name == name);
        let row = rows.find(|row| row.era == "current").expect("a row");
        assert!(row.summary.contains(figures), "{name}: {}", row.summary);
    };
    told("P30", "5,000 IOPS, 200 MB/s");
    told("Standard_D8s_v3", "12,800 / 192");
    // Burst-able sizes have half megabytes.
    told("Standard_B2ms", "1,920 / 22.5");
}
