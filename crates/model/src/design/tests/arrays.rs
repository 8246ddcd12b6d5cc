//! Devices of generic disks.

use fathom_units::{Bytes, Iops};

use super::{check, good};

fn array(lines: &str) -> String {
    format!("[[device]]\nname = 'array'\nmount = '/array'\nsize = '1TiB'\n{lines}\n")
}

#[test]
fn an_array_has_the_figures_of_its_disks() {
    let design = good(&array(
        "type = '10k'\ndisks = 6\nraid = '5'\nstripe_unit = '128KiB'",
    ));
    let device = &design.devices[0];
    assert_eq!(device.disk_limits.iops, Some(Iops::new(150)));
    assert_eq!((device.disk_count, device.data_disks()), (6, 5));
    assert_eq!(device.raid.unwrap().small_write_ios, 4);
    assert_eq!(device.stripe_unit, Bytes::kib(128));
    assert!(device.limits.is_empty());
    assert_eq!(
        design.notes[0],
        "a 10,000 rpm disk is printed with 125 IOPS to 150 IOPS; the upper end is taken"
    );
    let json = &design.to_json()["device"][0];
    assert_eq!((&json["raid"], &json["disks"]), (&"5".into(), &6.into()));
    let single = good(&array("type = 'ssd-slc'"));
    assert_eq!(single.devices[0].disk_count, 1);
    assert_eq!(single.notes, Vec::<String>::new());
    assert!(!single.is_instant(crate::VolumeId::new(0)));
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    check(
        &array("type = '5k'"),
        &["5: the catalogue has no kind of disk `5k`"],
    );
    check(
        &array("disks = 6\nraid = '5'"),
        &[
            "5: `disks` says how the device is made of disks, but `type` does not say of which",
            "6: `raid` says how the device is made of disks, but `type` does not say of which",
        ],
    );
    check(
        &array("raid = '5'"),
        &["5: `raid` says how the device is made of disks, but `type` does not say of which"],
    );
    check(
        &array("type = '10k'\ndisks = 2\nraid = '5'"),
        &["7: RAID-5 takes at least 3 disks"],
    );
    check(
        &array("type = '10k'\ndisks = 2\nraid = '6'"),
        &["7: `6` is no value of `raid`"],
    );
}

#[test]
fn offsets_on_a_device_have_63_bits() {
    let device = |size: &str| format!("[[device]]\nname = 'd'\nmount = '/d'\nsize = '{size}'\n");
    check(&device("7EiB"), &[]);
    for size in ["0", "8EiB"] {
        check(
            &device(size),
            &["4: `size` must be more than 0 and less than 8 EiB"],
        );
        let told = super::read(&device(size)).unwrap_err().to_string();
        assert!(told.contains("hint: write what the device holds"), "{told}");
    }
}
