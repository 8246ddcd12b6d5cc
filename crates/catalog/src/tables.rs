//! The constant tables written when the crate is built, from the files under `data`.
#![expect(
    clippy::unreadable_literal,
    reason = "written by a program, read by none"
)]

use fathom_units::{Bytes, BytesPerSec, Iops, Nanos};

use crate::{
    Accounting, AccountingMode, AdjustableDisk, Budget, Burst, BurstBucket, BurstMode, BurstOf,
    BurstScope, CacheAccess, ChannelLimits, Disk, DiskKind, Era, GenericArray, GenericDevice,
    HandleLimits, HostCacheRules, IoUnit, LatencyTarget, Limits, MediaLatency, MetadataLimits,
    NfsRules, OnDemandRules, Price, Qos, Raid5Rules, RoundTrip, ServiceLevel, ShareBurst,
    ShareFile, ShareMedia, ShareModel, Sold, Source, VmSize, VolumeRules,
};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));
