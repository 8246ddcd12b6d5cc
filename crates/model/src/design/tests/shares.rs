//! SMB shares.

use fathom_catalog::ShareMedia;
use fathom_units::{Bytes, BytesPerSec, Iops};

use super::{check, good};
use crate::design::{Burst, Mount, SmbShare};

fn share(lines: &str) -> String {
    format!(
        "[[vm]]\nname = 'client'\nsize = 'Standard_D32s_v3'\n[[smb]]\nname = 's'\ndrive = 'z:'\n{lines}\n"
    )
}

#[track_caller]
fn one(lines: &str) -> SmbShare {
    good(&share(lines)).smb[0].clone()
}

#[test]
fn the_size_gives_the_limits_of_the_first_version() {
    let share = one("model = 'ssd-v1'\nsize = '1TiB'\nchannels = 4\nmetadata_cache = true");
    assert_eq!(share.mount, Mount::Drive('Z'));
    assert_eq!(share.limits.iops, Some(Iops::new(4_024)));
    assert_eq!(share.limits.bandwidth, Some(BytesPerSec::new(203 << 20)));
    assert_eq!(share.burst_iops, Some(Iops::new(10_000)));
    assert_eq!((share.burst, share.bucket_seconds), (Burst::Credits, 3600));
    assert_eq!(share.file_limits.iops, Some(Iops::new(8_000)));
    assert_eq!(
        (share.channels, share.metadata_iops),
        (4, Iops::new(35_000))
    );
    assert_eq!(
        (share.handles_per_file, share.handles_root),
        (2_000, 10_000)
    );
    let full = one("model = 'ssd-v1'\nsize = '100TiB'");
    assert_eq!((full.burst_iops, full.burst), (None, Burst::Off));
    assert_eq!((full.channels, full.metadata_iops), (1, Iops::new(12_000)));
}

#[test]
fn the_buyer_gives_the_limits_of_the_second_version() {
    let set = one(
        "model = 'ssd-v2'\nsize = '1TiB'\niops = 20000\nbandwidth = '800MiB/s'\ncredits = '25%'",
    );
    assert_eq!(set.limits.iops, Some(Iops::new(20_000)));
    assert_eq!(set.limits.bandwidth, Some(BytesPerSec::new(800 << 20)));
    assert_eq!(set.burst_iops, Some(Iops::new(60_000)));
    let default = one("model = 'hdd-v2'\nsize = '1TiB'\nhandles = 10000");
    assert_eq!(default.limits.iops, Some(Iops::new(1_205)));
    assert_eq!(default.model.media, ShareMedia::Hdd);
    assert_eq!(
        default.file_limits.bandwidth,
        Some(BytesPerSec::new(60 << 20))
    );
    assert_eq!(default.handles_per_file, 10_000);
}

#[test]
fn a_share_that_is_paid_as_used_needs_no_size() {
    let share = one("model = 'hdd-payg'");
    assert_eq!(share.size, Bytes::gib(100 << 10));
    assert_eq!(share.limits.iops, Some(Iops::new(20_000)));
    assert_eq!(share.write_bandwidth, Some(BytesPerSec::new(3200 << 20)));
    assert_eq!((share.burst_iops, share.burst), (None, Burst::Off));
}

#[test]
fn mistakes_name_the_rule() {
    check(
        &share("model = 'hdd-v2'\nsize = '1TiB'\nchannels = 2\nmetadata_cache = true"),
        &[
            "9: a share `hdd-v2` has one channel: SMB multichannel is for SSD shares",
            "10: a share `hdd-v2` has no metadata caching: it is for SSD shares",
        ],
    );
    check(
        &share("model = 'ssd-v1'\nsize = '1TiB'\nchannels = 5"),
        &["9: `channels` must be a whole number from 1 to 4"],
    );
    check(
        &share("model = 'ssd-v1'\nsize = '1TiB'\niops = 9000"),
        &["9: `iops` cannot be set: the size gives the limits of such a share"],
    );
    check(
        &share("model = 'ssd-v1'\nsize = '99GiB'"),
        &["8: a share `ssd-v1` has a size in whole GiB from 100 GiB to 100 TiB"],
    );
    check(
        &share("model = 'ssd-v2'\nsize = '1TiB'\niops = 2999\nbandwidth = '99MiB/s'"),
        &[
            "9: a share `ssd-v2` can be given 3,000 IOPS to 102,400 IOPS",
            "10: a share `ssd-v2` can be given whole MiB/s from 100 to 10340",
        ],
    );
    check(
        &share("model = 'hdd-payg'\nburst = 'credits'"),
        &["8: a share with these limits does not burst"],
    );
    check(
        &share("model = 'ssd-v1'\nsize = '1TiB'\nhandles = 3000"),
        &["9: one file has 2000 handles, or 10000 where the larger limit is on"],
    );
    check(
        &share("model = 'ssd'\nsize = '1TiB'\nmetadata_cache = 'on'"),
        &[
            "7: the catalogue has no share model `ssd`",
            "9: `metadata_cache` must be true or false, not string",
        ],
    );
}
